/* The load lower bound with the problem's pairs taken into account. */
#ifndef BERTH_SRC_PLAN_LOAD_H
#define BERTH_SRC_PLAN_LOAD_H

#include "berth/plan.h"

/* The largest load of a step and the first step that has it. With `pairs`, a SHARE group counts
 * once with its largest live member and every HEAD and TAIL pair is credited with all it could
 * save. The workspace is that of berth_plan_load_bound. O(n log n). */
berth_status_t berth_plan_load(const berth_problem_t *problem, bool pairs, void *workspace,
                               size_t workspace_bytes, uint64_t *load, uint32_t *step);

/* A peak that no plan of `problem` in one region can beat: the largest load of a step,
 * with pairs, and no less than the end of any fixed buffer. O(n log n). */
berth_status_t berth_plan_load_bound(const berth_problem_t *problem, void *workspace,
                                     size_t workspace_bytes, uint64_t *bound);
berth_status_t berth_plan_load_bound_workspace(const berth_problem_t *problem, size_t *bytes);

#endif
