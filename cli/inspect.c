/* berth inspect: what is in a model, and what each part of it needs. */
#include "commands.h"
#include "host/advice.h"
#include "host/model_print.h"
#include "host/running.h"
#include "options.h"
#include "sweep.h"
#include "usage_subject.h"

static int show(const options_t *options, const berth_plan_report_t *report) {
  bool good = options->json ? berth_model_write_json(report, stdout)
                            : berth_model_print(report, berth_terminal_of_stdout(), stdout);
  if (good) return EXIT_DONE;
  berth_complaint_t complaint;
  berth_complain(&complaint, "out of memory");
  return failed(&complaint);
}

/* With what would lower the peak. */
static int advise(const options_t *options, berth_plan_report_t *report) {
  berth_complaint_t complaint;
  berth_advices_t advices;
  if (!report->outcome->has_plan) return show(options, report);
  berth_settings_t settings = settings_of(options);
  if (berth_advise(report->subject, &settings, &report->outcome->plan, &advices, &complaint) !=
      BERTH_OK) {
    return failed(&complaint);
  }
  berth_running_t running =
      berth_running_of(report->subject, &options->subject, &options->streaming, options->planner);
  report->advices = &advices;
  report->running = &running;
  report->instances = options->instances;
  int status = show(options, report);
  report->advices = NULL;
  report->running = NULL;
  berth_advices_free(&advices);
  return status;
}

/* For people, a forecast is all that is shown; it needs no plan of Berth's. */
static int foretell(const berth_forecast_t *forecast, const berth_subject_t *subject) {
  if (berth_forecast_print(forecast, &subject->model, stdout)) return EXIT_DONE;
  berth_complaint_t complaint;
  berth_complain(&complaint, "out of memory");
  return failed(&complaint);
}

static int plan_and_show(const options_t *options, const berth_subject_t *subject,
                         const berth_forecast_t *forecast) {
  berth_complaint_t complaint;
  berth_plan_report_t report;
  berth_outcome_t outcome;
  if (berth_plan_report_start(subject, &options->subject, &report, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  report.conflicts = options->conflicts;
  report.forecast = forecast;
  berth_subject_t usage;
  if (!usage_open(options, &report, &usage, &complaint)) return failed(&complaint);
  int status = EXIT_FAILED;
  if (berth_planning_run(options->planner, &subject->problem, &options->planning, &outcome,
                         &complaint) == BERTH_OK) {
    report.outcome = &outcome;
    status = advise(options, &report);
  } else {
    failed(&complaint);
  }
  berth_outcome_free(&outcome);
  usage_close(&report, &usage);
  return status;
}

static int inspect(const options_t *options, const berth_subject_t *subject) {
  berth_complaint_t complaint;
  berth_forecast_t forecast;
  if (!subject->is_model) {
    berth_complain(&complaint, "%s: not a model", subject->path);
    return failed(&complaint);
  }
  if (options->stock_runtime == BERTH_RUNTIME_NONE) return plan_and_show(options, subject, NULL);
  berth_forecast_options_t wanted = {.runtime = options->stock_runtime, .tflm = options->stock};
  if (berth_forecast_make(&subject->model, subject->path, &wanted, &forecast, &complaint) !=
      BERTH_OK) {
    return failed(&complaint);
  }
  int status =
      options->json ? plan_and_show(options, subject, &forecast) : foretell(&forecast, subject);
  berth_forecast_free(&forecast);
  return status;
}

int command_inspect(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_INSPECT, &options)) {
    berth_complaint_t complaint;
    berth_subject_t subject;
    if (options.help) {
      puts("usage: berth inspect [OPTION]... MODEL.tflite\n\n"
           "Says what a model needs and what makes its peak, and lists its operators and tensors\n"
           "with types, shapes, bytes, lifetimes (steps are operators, from 0) and where TFLite "
           "would\nallocate them.\n");
      options_print(FOR_INSPECT, stdout);
      status = EXIT_DONE;
    } else if (options.sweep.kind != BERTH_SWEEP_NONE) {
      status = sweep_show(&options, false);
    } else if (berth_subject_open(options.path, &options.subject, &subject, &complaint) !=
               BERTH_OK) {
      status = failed(&complaint);
    } else {
      status = inspect(&options, &subject);
      berth_subject_close(&subject);
    }
  }
  options_free(&options);
  return status;
}
