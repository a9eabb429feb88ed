/* Opening and planning, with the reason told where there is no plan. */
#include "planned.h"
#include "commands.h"
#include "host/plan_open.h"
#include "host/streaming_order.h"

#include <stdlib.h>
#include <string.h>

void planned_close(planned_t *planned) {
  if (!planned->is_open) return;
  berth_advices_free(&planned->advices);
  berth_forecast_free(&planned->forecast);
  berth_outcome_free(&planned->outcome);
  berth_subject_close(&planned->subject);
  if (planned->report.streaming != NULL) berth_streaming_free(&planned->streaming);
  planned->is_open = false;
}

int planned_expect_model(const planned_t *planned) {
  if (planned->subject.is_model) return EXIT_DONE;
  berth_complaint_t complaint;
  berth_complain(&complaint, "%s: not a model", planned->subject.path);
  return failed(&complaint);
}

static bool is_saved_plan(const char *path) {
  size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

/* `--stream` is for a model: something else is streamed or not by itself. Another file that is
 * looked at along with it may be that model. */
static bool nothing_to_stream(const options_t *options, const planned_t *planned) {
  return options->streaming.mode != BERTH_STREAMING_OFF && !planned->subject.is_model &&
         (options->second == NULL ||
          (is_saved_plan(options->path) && is_saved_plan(options->second)));
}

/* Lets the subject be a streamed plan's, where that is asked for. */
static berth_status_t stream(const options_t *options, planned_t *planned,
                             berth_complaint_t *complaint) {
  if (options->streaming.mode == BERTH_STREAMING_OFF || !planned->subject.is_model) return BERTH_OK;
  berth_streaming_options_t wanted = settings_of(options).streaming;
  berth_status_t status =
      berth_streaming_make(&planned->subject, &wanted, &planned->streaming, complaint);
  if (status == BERTH_OK) planned->report.streaming = &planned->streaming;
  return status;
}

int planned_open(const options_t *options, const char *path, const char *purpose,
                 planned_t *planned) {
  berth_complaint_t complaint;
  if (options->planner == NULL) {
    berth_complain(&complaint, "%s: one planner at a time", path);
    return failed(&complaint);
  }
  bool saved = is_saved_plan(path);
  berth_subject_options_t subject = settings_of(options).subject;
  berth_streaming_options_t wanted = settings_of(options).streaming;
  berth_status_t status =
      saved ? berth_plan_open(path, &planned->subject, &planned->outcome, &complaint)
            : berth_streaming_subject_open(path, &subject, &wanted, &planned->subject, &complaint);
  if (status != BERTH_OK) return failed(&complaint);
  planned->is_open = true;
  if (nothing_to_stream(options, planned)) {
    berth_complain(&complaint, "%s: is %s, and --stream is for models", path,
                   saved ? "a plan that is shown as it is" : "no model");
    return failed(&complaint);
  }
  if (stream(options, planned, &complaint) != BERTH_OK) return failed(&complaint);
  const berth_streaming_t *streaming = planned->report.streaming;
  status = berth_plan_report_start(&planned->subject, &subject, &planned->report, &complaint);
  planned->report.streaming = streaming;
  if (status == BERTH_OK && !saved) {
    status =
        berth_streaming_plan(streaming != NULL ? &planned->streaming : NULL, &planned->subject,
                             options->planner, &options->planning, &planned->outcome, &complaint);
  }
  if (status != BERTH_OK) return failed(&complaint);
  planned->report.outcome = &planned->outcome;
  planned->report.outcomes = &planned->outcome;
  planned->report.outcome_count = 1;
  if (planned->outcome.has_plan) return EXIT_DONE;
  bool impossible = planned->outcome.status == BERTH_INFEASIBLE;
  berth_complain(&complaint, "%s: %s, so there is nothing to %s (berth plan says more)", path,
                 impossible ? "it is proven that no plan fits" : "no plan that fits was found",
                 purpose);
  failed(&complaint);
  return impossible ? EXIT_FINDING : EXIT_UNDECIDED;
}
