/* The default planner: the best offsets where there is one region, the best regions where there are
 * several. See offsets.c and regions.c for how.
 */
#include "plan/offsets.h"

const berth_planner_t berth_planner_best = {
    .name = "best",
    .summary = "the default: bounds, then the best of all greedy orders",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = berth_plan_offsets_workspace,
    .make = berth_plan_offsets,
};
