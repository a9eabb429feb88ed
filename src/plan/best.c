/* The default planner: the best offsets where there is one region for everything, the best regions
 * where there is a choice. See offsets.c and regions.c for how.
 */
#include "plan/offsets.h"
#include "plan/planner.h"
#include "plan/regions.h"

static berth_status_t workspace_bytes_for(const berth_problem_t *problem,
                                          const berth_plan_options_t *options, size_t *bytes) {
  return berth_plan_has_regions(problem) ? berth_plan_regions_workspace(problem, options, bytes)
                                         : berth_plan_offsets_workspace(problem, options, bytes);
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  return berth_plan_has_regions(problem)
             ? berth_plan_regions(problem, options, workspace, workspace_bytes, plan)
             : berth_plan_offsets(problem, options, workspace, workspace_bytes, plan);
}

const berth_planner_t berth_planner_best = {
    .name = "best",
    .summary = "the default: greedy orders, then what it takes to prove or to improve",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS | BERTH_HANDLES_REGIONS,
    .workspace = workspace_bytes_for,
    .make = make,
};
