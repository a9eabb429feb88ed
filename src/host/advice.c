/* The engine of advice: plans what advisers propose, finds the next limit, ranks. */
#include "host/advice.h"
#include "host/anatomy.h"
#include "host/output.h"
#include "host/runner.h"
#include "host/streaming_order.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONG_SEARCH 64u /* operators: searching how to stream so many takes a while */

const char *berth_advice_kind_name(berth_advice_kind_t kind) {
  static const char *const names[] = {"free", "interface", "network"};
  return names[kind];
}

/* Takes over the command. */
static berth_status_t add(berth_advising_t *advising, const berth_advice_t *advice) {
  berth_advices_t *advices = advising->advices;
  berth_advice_t *lines =
      realloc(advices->lines, ((size_t)advices->count + 1) * sizeof *advices->lines);
  if (lines == NULL) return BERTH_ERROR_MEMORY;
  advices->lines = lines;
  berth_advice_t *line = &lines[advices->count++];
  *line = *advice;
  line->topic = advising->topic;
  line->kind = advising->kind;
  line->saved = (int64_t)(advising->peak - advice->peak); /* both are below 2^63 */
  return BERTH_OK;
}

/* What limits the changed model: the step of its peak. */
static berth_status_t find_limit(const berth_subject_t *changed, const berth_plan_t *plan,
                                 berth_advice_t *advice) {
  berth_anatomy_t anatomy;
  if (plan->peak == 0) return BERTH_OK;
  berth_status_t status = berth_anatomy_of(changed, plan->placements, 0, plan->peak, &anatomy);
  if (status != BERTH_OK) return status;
  advice->has_limit = true;
  advice->limit_step = anatomy.step;
  if (changed->is_model && anatomy.step < berth_model_subgraph(&changed->model, 0).operator_count) {
    berth_runner_operator_text(&changed->model, 0, anatomy.step, advice->limit,
                               sizeof advice->limit);
  }
  free(anatomy.live);
  return BERTH_OK;
}

static berth_status_t note(berth_advising_t *advising, const berth_settings_t *settings,
                           const berth_subject_t *changed, const berth_plan_t *plan,
                           const char *what, const char *how) {
  berth_advice_t advice = {.peak = plan->peak, .optimal = plan->optimal};
  snprintf(advice.what, sizeof advice.what, "%s", what);
  snprintf(advice.options, sizeof advice.options, "%s", how);
  advice.command = berth_plan_command(changed->path, settings);
  berth_status_t status = advice.command != NULL ? BERTH_OK : BERTH_ERROR_MEMORY;
  if (status == BERTH_OK) status = find_limit(changed, plan, &advice);
  if (status == BERTH_OK) status = add(advising, &advice);
  if (status != BERTH_OK) free(advice.command);
  return status;
}

/* Says on a terminal what is being tried, once that takes long enough to be noticed. */
static void say(const berth_advising_t *advising, const berth_settings_t *settings,
                const char *what) {
  bool searches = settings->streaming.mode != BERTH_STREAMING_OFF;
  bool slow = searches && advising->subject->graph.step_count > LONG_SEARCH;
  if (!slow && difftime(time(NULL), advising->start) < 2) return; /* whole seconds: 1 at least */
  if (isatty(STDERR_FILENO) != 0) fprintf(stderr, "\rtrying: %.60s ...\033[K", what);
}

static void say_nothing_more(void) {
  if (isatty(STDERR_FILENO) != 0) fputs("\r\033[K", stderr);
}

/* Streamed plans are of the model as its file has it. */
static bool contradict(const berth_settings_t *settings) {
  return settings->streaming.mode != BERTH_STREAMING_OFF &&
         (berth_what_if_any(&settings->subject.what_if) || settings->subject.share ||
          settings->subject.kernels);
}

static berth_status_t replan(berth_advising_t *advising, const berth_settings_t *settings,
                             const char *what, const char *how, bool always) {
  berth_complaint_t ignored;
  berth_subject_t changed;
  berth_streaming_t streaming;
  berth_outcome_t outcome = {0};
  if (contradict(settings) || berth_interrupted_ever()) return BERTH_OK;
  say(advising, settings, what);
  berth_streaming_options_t wanted = settings->streaming;
  wanted.align = settings->subject.align;
  berth_status_t status = berth_streaming_subject_open(advising->subject->path, &settings->subject,
                                                       &wanted, &changed, &ignored);
  if (status != BERTH_OK) return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
  bool streamed = wanted.mode != BERTH_STREAMING_OFF;
  if (streamed) status = berth_streaming_make(&changed, &wanted, &streaming, &ignored);
  streamed = streamed && status == BERTH_OK;
  if (status == BERTH_OK) {
    status = berth_streaming_plan(streamed ? &streaming : NULL, &changed, settings->planner,
                                  &settings->planning, &outcome, &ignored);
  }
  advising->searched = streamed ? streaming.result.work : 0;
  /* What was stopped early, by the user or a clock, is nothing that a command repeats. */
  bool good = status == BERTH_OK && outcome.has_plan && !outcome.stopped;
  if (good && (always || outcome.plan.peak < advising->peak)) {
    status = note(advising, settings, &changed, &outcome.plan, what, how);
  }
  berth_outcome_free(&outcome);
  berth_subject_close(&changed);
  if (streamed) berth_streaming_free(&streaming);
  return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
}

berth_status_t berth_advise_replan(berth_advising_t *advising, const berth_settings_t *changed,
                                   const char *what, const char *how) {
  return replan(advising, changed, what, how, false);
}

berth_status_t berth_advise_always(berth_advising_t *advising, const berth_settings_t *changed,
                                   const char *what, const char *how) {
  return replan(advising, changed, what, how, true);
}

/* Does a line belong before another? What asks for less comes first, then the larger saving.
 * Networks stay in the order in which they are proposed, from the mild to the extreme: the largest
 * saving would be that of the smallest network. */
static bool before(const berth_advice_t *a, const berth_advice_t *b) {
  if (a->kind != b->kind) return a->kind < b->kind;
  return a->kind != BERTH_ADVICE_NETWORK && a->saved > b->saved;
}

static void rank(berth_advices_t *advices) {
  for (uint32_t i = 1; i < advices->count; i++) {
    berth_advice_t line = advices->lines[i];
    uint32_t at = i;
    for (; at > 0 && before(&line, &advices->lines[at - 1]); at--) {
      advices->lines[at] = advices->lines[at - 1];
    }
    advices->lines[at] = line;
  }
}

berth_status_t berth_advise(const berth_subject_t *subject, const berth_settings_t *settings,
                            const berth_plan_t *plan, berth_advices_t *advices,
                            berth_complaint_t *complaint) {
  berth_advices_t made = {.lines = NULL};
  berth_anatomy_t anatomy = {0};
  if (plan->peak > 0 &&
      berth_anatomy_of(subject, plan->placements, 0, plan->peak, &anatomy) != BERTH_OK) {
    berth_complain(complaint, "%s: out of memory", subject->path);
    return BERTH_ERROR_MEMORY;
  }
  free(anatomy.live);
  berth_advising_t advising = {.subject = subject,
                               .settings = settings,
                               .peak = plan->peak,
                               .step = anatomy.step,
                               .start = time(NULL),
                               .advices = &made};
  berth_status_t status = BERTH_OK;
  for (size_t i = 0; berth_advisers[i].topic != NULL && status == BERTH_OK; i++) {
    advising.topic = berth_advisers[i].topic;
    advising.kind = berth_advisers[i].kind;
    status = berth_advisers[i].advise(&advising);
  }
  say_nothing_more();
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", subject->path, berth_status_text(status));
    berth_advices_free(&made);
    return status;
  }
  rank(&made);
  *advices = made;
  return BERTH_OK;
}

void berth_advices_free(berth_advices_t *advices) {
  for (uint32_t i = 0; i < advices->count; i++) free(advices->lines[i].command);
  free(advices->lines);
  *advices = (berth_advices_t){.lines = NULL};
}
