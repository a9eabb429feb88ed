/* Runs of the skyline search, one after the other, until a question is answered.
 *
 * Used by the exact planner to minimise or to fit, and by whoever has to know whether some buffers
 * fit into a memory.
 */
#ifndef BERTH_SRC_PLAN_EXACT_RUNS_H
#define BERTH_SRC_PLAN_EXACT_RUNS_H

#include "plan/exact_sections.h"

typedef struct berth_runs {
  berth_sections_t sections;
  const berth_plan_options_t *options;
  uint64_t work_limit; /* in units of work, of all runs together */
  uint64_t work;       /* spent before the first run */
  uint64_t best;       /* smallest peak known, for the progress callback */
  uint64_t lower_bound;
  bool stopped; /* by the progress callback or the limit */
} berth_runs_t;

/* One question: a capacity, and how far the search for it has got. */
typedef struct berth_question {
  int32_t capacity; /* in units */
  uint32_t *elite;  /* ranks of the order that got furthest */
  uint32_t depth;   /* how far that was, or 0 */
  uint32_t orders;  /* drawn so far */
  uint32_t round;   /* runs since the round began */
  uint32_t stalls;  /* runs since an order got further than all before it in the round */
  uint32_t rounds;  /* completed without an answer */
  uint64_t nodes;   /* choices made so far */
  uint64_t random;  /* state of the generator */
} berth_question_t;

/* Asks for another capacity; what was learnt about orders stays. */
void berth_question_ask(berth_question_t *question, int32_t capacity);

/* Makes the next run. OK: the skyline's offsets are a plan, pushed down. INFEASIBLE: there is none.
 * UNDECIDED: try again, unless `stopped`. */
berth_status_t berth_runs_next(berth_runs_t *runs, berth_question_t *question);

/* The peak of the skyline's plan, in units. */
int32_t berth_runs_peak(const berth_runs_t *runs);

/* Do the `count` buffers of `subset` (NULL: the first `count`), without any pairs, fit into
 * `capacity` bytes? OK: yes, and their placements in `plan` say how. INFEASIBLE: no. UNDECIDED: not
 * within options->work_limit. Adds to plan->work. UNSUPPORTED: beyond the search. */
berth_status_t berth_exact_fits(const berth_problem_t *problem, const uint32_t *subset,
                                uint32_t count, uint64_t capacity,
                                const berth_plan_options_t *options, void *workspace,
                                size_t workspace_bytes, berth_plan_t *plan);
berth_status_t berth_exact_fits_workspace(const berth_problem_t *problem, const uint32_t *subset,
                                          uint32_t count, size_t *bytes);

/* Writes the skyline's offsets into the plan. */
void berth_runs_write(const berth_runs_t *runs, berth_plan_t *plan);

#endif
