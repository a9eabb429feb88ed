/* No reuse: every buffer (every SHARE group) has bytes of its own, one above the other in the order
 * of the problem. The reference for what reuse saves. Cost: O(n k log n) like any greedy planner,
 * as fixed offsets have to be respected.
 */
#include "plan/greedy.h"

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  (void)options;
  berth_greedy_t greedy;
  berth_status_t status = berth_greedy_begin(&greedy, problem, workspace, workspace_bytes);
  uint64_t top = 0;
  for (uint32_t i = 0; status == BERTH_OK && i < problem->buffer_count; i++) {
    const berth_unit_t *unit = &greedy.unit[i];
    if (greedy.unit_of[i] == i && unit->fixed != BERTH_ANYWHERE && unit->size > 0 &&
        unit->offset + unit->size > top) {
      top = unit->offset + unit->size;
    }
  }
  for (uint32_t k = 0; status == BERTH_OK && k < greedy.unit_count; k++) {
    const berth_unit_t *unit = &greedy.unit[greedy.units[k]];
    status = berth_greedy_place(&greedy, greedy.units[k], top, BERTH_FIRST_FIT);
    if (unit->size > 0) top = unit->offset + unit->size;
  }
  if (status == BERTH_OK) berth_greedy_finish(&greedy, plan);
  return status;
}

const berth_planner_t berth_planner_none = {
    .name = "none",
    .summary = "every buffer its own space: what the others save is measured against it",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = berth_greedy_workspace,
    .make = make,
};
