/* Lower bounds on the peak: the load, and what alignments and fixed offsets add to it. */
#ifndef BERTH_SRC_PLAN_BOUNDS_H
#define BERTH_SRC_PLAN_BOUNDS_H

#include "berth/plan.h"

/* A peak that no plan of `problem` in one region can beat. O(n log n) for each different alignment
 * (the first 8 of them). */
berth_status_t berth_plan_bound(const berth_problem_t *problem, void *workspace,
                                size_t workspace_bytes, uint64_t *bound);
berth_status_t berth_plan_bound_workspace(const berth_problem_t *problem, size_t *bytes);

#endif
