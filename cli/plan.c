/* berth plan: places the buffers of a model or a problem, and says how good that is. */
#include "commands.h"
#include "host/output.h"
#include "host/plan_file.h"
#include "host/plan_text.h"
#include "host/streaming_order.h"
#include "host/streaming_verify.h"
#include "options.h"
#include "pictures.h"
#include "sweep.h"
#include "usage_subject.h"

#include <stdlib.h>
#include <string.h>

#define PLANNERS_MAX 16

static void print_help(void) {
  puts(
      "usage: berth plan [OPTION]... MODEL.tflite|PROBLEM.csv\n\n"
      "Finds where in memory each buffer goes so that those that are live in the same step do not\n"
      "overlap, and shows the peak, what makes it, and a drawing of the arena.\n");
  options_print(FOR_PLAN, stdout);
  puts("\nPlanners:");
  for (uint32_t i = 0; berth_planner_at(i) != NULL; i++) {
    printf("  %-8s %s\n", berth_planner_at(i)->name, berth_planner_at(i)->summary);
  }
  puts("\nTechniques of exact, for --without:");
  for (uint32_t i = 0; berth_technique_name(i) != NULL; i++) {
    printf("  %-12s %s\n", berth_technique_name(i), berth_technique_summary(i));
  }
}

/* Is a, of a later planner, at least as good an answer as b? A plan that fits, then the smaller
 * cost or peak; the default planner, which comes last, wins where they are equal. */
static bool as_good(const berth_outcome_t *a, const berth_outcome_t *b) {
  bool a_fits = a->status == BERTH_OK, b_fits = b->status == BERTH_OK;
  if (a_fits != b_fits) return a_fits;
  if (!a_fits && (a->status == BERTH_INFEASIBLE) != (b->status == BERTH_INFEASIBLE)) {
    return a->status == BERTH_INFEASIBLE;
  }
  if (a->has_plan != b->has_plan) return a->has_plan;
  if (!a->has_plan) return true;
  if (a->plan.cost != b->plan.cost) return a->plan.cost < b->plan.cost;
  if (a->plan.peak != b->plan.peak) return a->plan.peak < b->plan.peak;
  return true;
}

/* Runs the planner that was asked for, or all of them; which outcome is the best. A negative answer
 * is a failure that `complaint` tells. */
static int make_plans(const options_t *options, const berth_subject_t *subject,
                      berth_outcome_t *outcomes, uint32_t *count, berth_complaint_t *complaint) {
  int best = -1;
  for (uint32_t i = 0; i < PLANNERS_MAX; i++) {
    const berth_planner_t *planner = options->all_planners ? berth_planner_at(i)
                                     : i == 0              ? options->planner
                                                           : NULL;
    if (planner == NULL) break;
    berth_outcome_t *outcome = &outcomes[(*count)++];
    berth_status_t status =
        berth_planning_run(planner, &subject->problem, &options->planning, outcome, complaint);
    if (status == BERTH_ERROR_UNSUPPORTED && options->all_planners) continue;
    if (status != BERTH_OK) return -1;
    if (best < 0 || as_good(outcome, &outcomes[best])) best = (int)*count - 1;
    if (berth_interrupted()) break; /* Ctrl-C is meant for the ones to come, too */
  }
  return best;
}

/* What one planner has proven holds for the others' plans, too. */
static void share_bounds(berth_outcome_t *outcomes, uint32_t count) {
  uint64_t bound = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (outcomes[i].status >= 0 && outcomes[i].plan.lower_bound > bound) {
      bound = outcomes[i].plan.lower_bound;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    berth_plan_t *plan = &outcomes[i].plan;
    if (!outcomes[i].has_plan) continue;
    plan->lower_bound = bound;
    plan->optimal = plan->peak == bound;
  }
}

static berth_status_t write_file(const berth_plan_report_t *report, const char *path,
                                 berth_complaint_t *complaint) {
  berth_output_t output;
  berth_status_t status = berth_output_open(path, &output, complaint);
  if (status != BERTH_OK) return status;
  const char *ending = strrchr(path, '.');
  if (strcmp(ending, ".json") == 0) {
    berth_plan_write_json(report, output.stream);
  } else if (strcmp(ending, ".csv") == 0) {
    berth_plan_write_csv(report, output.stream);
  } else if (!berth_plan_write_header(report, path, output.stream)) {
    berth_output_discard(&output);
    berth_complain(complaint, "%s: out of memory", path);
    return BERTH_ERROR_MEMORY;
  }
  return berth_output_commit(&output, complaint);
}

/* Shows and writes; the exit status. */
static int tell(const options_t *options, const berth_plan_report_t *report) {
  berth_complaint_t complaint;
  const berth_outcome_t *outcome = report->outcome;
  if (outcome->status == BERTH_OK && try_outputs(options, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->output != NULL && outcome->status == BERTH_OK &&
      write_file(report, options->output, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (outcome->status == BERTH_OK && write_pictures(options, report, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->json) {
    berth_plan_write_json(report, stdout);
  } else if (!berth_plan_print(report, berth_terminal_of_stdout(), stdout)) {
    berth_complain(&complaint, "out of memory");
    return failed(&complaint);
  }
  if (outcome->status == BERTH_INFEASIBLE) return EXIT_FINDING;
  return outcome->status == BERTH_UNDECIDED ? EXIT_UNDECIDED : EXIT_DONE;
}

static int plan(const options_t *options, const berth_subject_t *subject,
                berth_streaming_t *streaming) {
  berth_complaint_t complaint;
  berth_plan_report_t report;
  if (berth_plan_report_start(subject, &options->subject, &report, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  report.capacity = options->planning.capacity;
  report.conflicts = options->conflicts;
  report.streaming = streaming;
  berth_subject_t usage;
  if (!usage_open(options, &report, &usage, &complaint)) return failed(&complaint);

  berth_outcome_t outcomes[PLANNERS_MAX] = {0};
  uint32_t count = 0;
  int best = make_plans(options, subject, outcomes, &count, &complaint);
  int status = EXIT_FAILED;
  if (best >= 0) {
    if (subject->problem.region_count < 2) share_bounds(outcomes, count);
    report.outcome = &outcomes[best];
    report.outcomes = outcomes;
    report.outcome_count = count;
    bool right =
        streaming == NULL || !outcomes[best].has_plan ||
        berth_streaming_settle(streaming, outcomes[best].plan.placements, &complaint) == BERTH_OK;
    status = right ? tell(options, &report) : failed(&complaint);
  } else {
    failed(&complaint);
  }
  for (uint32_t i = 0; i < count; i++) berth_outcome_free(&outcomes[i]);
  usage_close(&report, &usage);
  return status;
}

/* Lets the subject be a streamed plan's first, if asked for. */
static int stream_and_plan(const options_t *options, berth_subject_t *subject) {
  if (options->streaming.mode == BERTH_STREAMING_OFF) return plan(options, subject, NULL);
  berth_streaming_options_t wanted = settings_of(options).streaming;
  berth_complaint_t complaint;
  berth_streaming_t streaming;
  if (berth_streaming_make(subject, &wanted, &streaming, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  options_t placing = *options;
  placing.planning = berth_streaming_planning(&options->planning);
  int status = plan(&placing, subject, &streaming);
  berth_streaming_free(&streaming);
  return status;
}

int command_plan(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_PLAN, &options)) {
    berth_complaint_t complaint;
    berth_subject_t subject;
    options.subject = settings_of(&options).subject;
    berth_streaming_options_t wanted = settings_of(&options).streaming;
    if (options.help) {
      print_help();
      status = EXIT_DONE;
    } else if (options.sweep.kind != BERTH_SWEEP_NONE) {
      status = sweep_show(&options, false);
    } else if (berth_streaming_subject_open(options.path, &options.subject, &wanted, &subject,
                                            &complaint) != BERTH_OK) {
      status = failed(&complaint);
    } else {
      status = stream_and_plan(&options, &subject);
      berth_subject_close(&subject);
    }
  }
  options_free(&options);
  return status;
}
