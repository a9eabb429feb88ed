/* Several memories: which region each buffer goes to, then where in it.
 *
 * Shared by the files regions*.c. A choice is a region for each unit (a buffer or a SHARE group,
 * see greedy.h); its cost is known without any offset, and what remains in each region is a problem
 * of offsets. The objective is the least cost, then the smallest peak of region 0.
 */
#ifndef BERTH_SRC_PLAN_REGIONS_H
#define BERTH_SRC_PLAN_REGIONS_H

#include "plan/greedy.h"

/* The exact search is for problems up to this size (regions_exact.c). */
#define BERTH_REGIONS_EXACT_BUFFERS 256u
#define BERTH_REGIONS_EXACT_UNITS   64u

/* Everything about a unit that matters here; it is named by its smallest buffer. */
typedef struct berth_candidate {
  uint64_t traffic; /* of all members */
  uint32_t allowed; /* bit r: may go to region r; bit `region_count`: may stay outside */
  uint32_t choice;  /* region; region_count: outside; BERTH_UNPLACED */
} berth_candidate_t;

#define BERTH_UNPLACED UINT32_MAX

typedef struct berth_regions {
  const berth_problem_t *problem;
  const berth_plan_options_t *options;
  uint32_t region_count;                        /* at least 1 */
  berth_region_t region[BERTH_REGIONS_MAX + 1]; /* behind the last: outside */
  uint64_t work, work_limit;
  bool stopped; /* by the caller's progress callback */

  berth_greedy_t greedy;        /* units and trial placements */
  uint32_t unit_count;          /* all units, */
  uint32_t *units;              /* those first that gain most per byte and step */
  berth_candidate_t *candidate; /* of buffer i, if i names a unit */

  /* The best plan so far: cost and peak are in `plan`, whose placements it fills. */
  berth_plan_t *plan;

  /* One region's problem of offsets, for berth_regions_solve. */
  berth_buffer_t *buffers;
  berth_pair_t *pairs;
  uint32_t *index;               /* buffer -> its index there */
  berth_placement_t *placements; /* of that problem */
  berth_placement_t *trial;      /* of the whole problem */
  void *area;                    /* workspace for the offsets */
  size_t area_bytes;

  uint64_t *load;    /* scratch of the heuristic: bytes live in a region, by step */
  uint32_t *starts;  /* steps in which something begins, ascending */
  uint32_t *queue;   /* scratch: units */
  uint64_t *exact;   /* scratch of the exact search */
  size_t exact_size; /* elements of it; 0: the problem is too large for it */
} berth_regions_t;

/* What the unit costs in a region (or outside). */
static inline uint64_t berth_regions_cost(const berth_regions_t *regions, uint32_t unit,
                                          uint32_t region) {
  return regions->candidate[unit].traffic * regions->region[region].cost;
}

/* The budget for one region's offsets: a share of the whole, and no more than pays for its size. */
static inline uint64_t berth_regions_share(const berth_regions_t *regions) {
  uint64_t share = regions->work_limit / 16 + 1;
  uint64_t count = (uint64_t)regions->problem->buffer_count + 1, worth = 256 * count * count;
  return share < worth ? share : worth;
}

/* May the unit go to `region`, as things stand with those it has to be apart from? */
bool berth_regions_allows(const berth_regions_t *regions, uint32_t unit, uint32_t region);

/* Fills `order` with what the unit may choose, the cheapest first and of equals the slowest, so
 * that the fast region stays free; returns how many. `order` has BERTH_REGIONS_MAX + 1 elements. */
uint32_t berth_regions_order(const berth_regions_t *regions, uint32_t unit, uint32_t *order);

/* Plans the offsets of all units whose choice is `region`, into regions->trial, with at most
 * `work_limit` units of work. OK: the peak is within `capacity` (`*peak`, `*optimal`); INFEASIBLE:
 * proven impossible; UNDECIDED. With `minimise`, the smallest peak is looked for. */
berth_status_t berth_regions_solve(berth_regions_t *regions, uint32_t region, uint64_t capacity,
                                   bool minimise, uint64_t work_limit, uint64_t *peak,
                                   bool *optimal);

/* Takes the choices and regions->trial as the best plan if they are better; says whether. */
bool berth_regions_keep(berth_regions_t *regions, uint64_t cost, uint64_t peak);

/* Asks the progress callback; false to stop. */
bool berth_regions_go_on(berth_regions_t *regions);

/* Good choices at any size. */
berth_status_t berth_regions_assign(berth_regions_t *regions);

/* The best choice, starting from what is known. OK: proven (`plan->optimal`, or INFEASIBLE if there
 * is no plan); UNDECIDED: the budget ended. */
berth_status_t berth_regions_search(berth_regions_t *regions);
size_t berth_regions_search_size(const berth_problem_t *problem);

/* Like a planner's `workspace` and `make`. */
berth_status_t berth_plan_regions_workspace(const berth_problem_t *problem,
                                            const berth_plan_options_t *options, size_t *bytes);
berth_status_t berth_plan_regions(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_plan_t *plan);

#endif
