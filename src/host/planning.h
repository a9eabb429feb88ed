/* Runs a planner for a person: memory from the heap, a time limit, progress on the terminal, and
 * Ctrl-C, which ends the search and keeps the best plan so far. */
#ifndef BERTH_SRC_HOST_PLANNING_H
#define BERTH_SRC_HOST_PLANNING_H

#include "berth/plan.h"
#include "host/complaint.h"

typedef struct berth_planning {
  uint64_t capacity;          /* as in berth_plan_options_t */
  uint64_t work_limit;        /* likewise */
  berth_techniques_t without; /* likewise */
  double seconds;             /* time limit; 0: none */
} berth_planning_t;

/* Watches a long search for a person: a line on the terminal, the time limit, Ctrl-C. */
typedef struct berth_watch {
  const char *what; /* is being done: "planning" */
  double start;     /* seconds, monotonic */
  double limit;     /* 0: none */
  double reported;  /* when the progress line was last written; 0: never */
  bool talks;       /* standard error is a terminal */
  bool stopped;     /* by the time limit or by the user */
} berth_watch_t;

/* From now on Ctrl-C doesn't end the program; after berth_watch_end it does again. */
berth_watch_t berth_watch_begin(const char *what, double limit);
void berth_watch_end(const berth_watch_t *watch);

/* To be given as progress callback, with the watch as user. */
bool berth_watch_progress(void *watch, uint64_t work, uint64_t best, uint64_t lower_bound);

typedef struct berth_outcome {
  const berth_planner_t *planner;
  berth_status_t status;        /* OK, INFEASIBLE, UNDECIDED, or an error */
  berth_plan_t plan;            /* placements on the heap */
  bool has_plan;                /* placements, peak and cost mean something */
  berth_explanation_t obstacle; /* INFEASIBLE: why, if there is a simple reason */
  bool stopped;                 /* by the time limit or by the user */
  double cpu_seconds;
} berth_outcome_t;

/* Plans. OK whatever the outcome's status, unless that is an error, which `complaint` then
 * explains; UNSUPPORTED needs no complaint where several planners are tried. */
berth_status_t berth_planning_run(const berth_planner_t *planner, const berth_problem_t *problem,
                                  const berth_planning_t *planning, berth_outcome_t *outcome,
                                  berth_complaint_t *complaint);
void berth_outcome_free(berth_outcome_t *outcome);

#endif
