/* Running a planner. The planner itself knows no clock and no terminal: it asks its progress
 * callback now and then, and everything that depends on this machine happens there. */
#include "host/planning.h"
#include "host/output.h"
#include "host/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return 0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The line is written anew from its first column, twice a second at most, and only after a while:
 * most plans are there at once. */
static void report(berth_watch_t *watch, double now, uint64_t best, uint64_t lower_bound) {
  if (!watch->talks || now - watch->start < 0.5 || now - watch->reported < 0.5) return;
  watch->reported = now;
  fprintf(stderr, "\r%s for %.0f s: %s, lower bound %s (Ctrl-C takes the best so far)\033[K",
          watch->what, now - watch->start,
          best == UINT64_MAX ? "no plan yet" : berth_human_bytes(best).text,
          berth_human_bytes(lower_bound).text);
  fflush(stderr);
}

berth_watch_t berth_watch_begin(const char *what, double limit) {
  berth_interrupt_tolerate(true);
  return (berth_watch_t){.what = what,
                         .start = seconds(CLOCK_MONOTONIC),
                         .limit = limit,
                         .talks = isatty(STDERR_FILENO) != 0};
}

bool berth_watch_progress(void *user, uint64_t work, uint64_t best, uint64_t lower_bound) {
  berth_watch_t *watch = user;
  (void)work;
  double now = seconds(CLOCK_MONOTONIC);
  report(watch, now, best, lower_bound);
  if (berth_interrupted() || (watch->limit > 0 && now - watch->start >= watch->limit)) {
    watch->stopped = true;
  }
  return !watch->stopped;
}

void berth_watch_end(const berth_watch_t *watch) {
  berth_interrupt_tolerate(false);
  if (watch->reported > 0) fputs("\r\033[K", stderr);
}

static berth_status_t fail(berth_outcome_t *outcome, berth_status_t status,
                           berth_complaint_t *complaint) {
  if (status == BERTH_ERROR_MEMORY) {
    berth_complain(complaint, "planner %s: out of memory", outcome->planner->name);
  } else if (status == BERTH_ERROR_UNSUPPORTED) {
    berth_complain(complaint,
                   "planner %s cannot handle this problem's fixed offsets, pairs or regions",
                   outcome->planner->name);
  } else {
    berth_complain(complaint, "planner %s: %s", outcome->planner->name, berth_status_text(status));
  }
  outcome->status = status;
  return status;
}

/* Looks for a simple reason why there is no plan; none if memory is short. */
static void explain(const berth_problem_t *problem, const berth_plan_options_t *options,
                    berth_explanation_t *obstacle) {
  size_t bytes;
  if (berth_plan_explain_workspace(problem, &bytes) != BERTH_OK) return;
  void *workspace = malloc(bytes > 0 ? bytes : 1);
  if (workspace == NULL) return;
  berth_plan_explain(problem, options, workspace, bytes, obstacle);
  free(workspace);
}

berth_status_t berth_planning_run(const berth_planner_t *planner, const berth_problem_t *problem,
                                  const berth_planning_t *planning, berth_outcome_t *outcome,
                                  berth_complaint_t *complaint) {
  *outcome = (berth_outcome_t){.planner = planner, .plan = {.peak = UINT64_MAX}};
  berth_watch_t watch;
  berth_plan_options_t options = {.capacity = planning->capacity,
                                  .work_limit = planning->work_limit,
                                  .without = planning->without,
                                  .progress = berth_watch_progress,
                                  .progress_user = &watch};
  size_t bytes = 0;
  berth_status_t status = berth_plan_workspace(planner, problem, &options, &bytes);
  if (status != BERTH_OK) return fail(outcome, status, complaint);

  void *workspace = malloc(bytes > 0 ? bytes : 1);
  outcome->plan.placements =
      calloc((size_t)problem->buffer_count + 1, sizeof *outcome->plan.placements);
  if (workspace == NULL || outcome->plan.placements == NULL) {
    free(workspace);
    return fail(outcome, BERTH_ERROR_MEMORY, complaint);
  }

  watch = berth_watch_begin("planning", planning->seconds);
  double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
  status = berth_plan_make(planner, problem, &options, workspace, bytes, &outcome->plan);
  outcome->cpu_seconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
  berth_watch_end(&watch);
  free(workspace);

  outcome->stopped = watch.stopped;
  if (status == BERTH_ERROR_CANCELLED) status = BERTH_UNDECIDED;
  if (status < 0) return fail(outcome, status, complaint);
  if (status == BERTH_INFEASIBLE) explain(problem, &options, &outcome->obstacle);
  outcome->status = status;
  outcome->has_plan = status != BERTH_INFEASIBLE && outcome->plan.peak != UINT64_MAX;
  return BERTH_OK;
}

void berth_outcome_free(berth_outcome_t *outcome) {
  free(outcome->plan.placements);
  outcome->plan.placements = NULL;
}
