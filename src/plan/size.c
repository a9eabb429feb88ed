/* Greedy by size (Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference",
 * 2020): the largest buffer first, each at the lowest offset at which it fits. The paper takes the
 * smallest gap that is large enough; the lowest one gives smaller peaks on most problems, large
 * ones above all. Of equal sizes the one that begins first goes first. Cost: O(n k log n), where k
 * buffers are live together with one.
 */
#include "plan/greedy.h"

static bool goes_before(const void *context, uint32_t a, uint32_t b) {
  const berth_unit_t *unit = context;
  if (unit[a].size != unit[b].size) return unit[a].size > unit[b].size;
  return unit[a].first < unit[b].first;
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  (void)options;
  berth_greedy_t greedy;
  berth_status_t status = berth_greedy_begin(&greedy, problem, workspace, workspace_bytes);
  if (status == BERTH_OK)
    status = berth_greedy_place_all(&greedy, goes_before, greedy.unit, BERTH_FIRST_FIT);
  if (status == BERTH_OK) berth_greedy_finish(&greedy, plan);
  return status;
}

const berth_planner_t berth_planner_size = {
    .name = "size",
    .summary = "greedy by size, lowest offset (after Pisarchyk & Lee 2020)",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = berth_greedy_workspace,
    .make = make,
};
