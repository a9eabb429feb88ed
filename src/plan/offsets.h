/* The best offsets in one region, by every means there is. */
#ifndef BERTH_SRC_PLAN_OFFSETS_H
#define BERTH_SRC_PLAN_OFFSETS_H

#include "berth/plan.h"

/* Like a planner's `workspace` and `make` (see berth_planner_t), for problems without APART pairs
 * in one region that everything has to be in. */
berth_status_t berth_plan_offsets_workspace(const berth_problem_t *problem,
                                            const berth_plan_options_t *options, size_t *bytes);
berth_status_t berth_plan_offsets(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_plan_t *plan);

#endif
