/* The very offsets of TensorFlow Lite for Microcontrollers' GreedyMemoryPlanner.
 *
 * Buffers with a fixed offset (TFLM's offline plan) are placed first, where they must be. The
 * others follow by decreasing size; its sort is stable but starts from the reversed order, so of
 * equal sizes the one added last goes first. Each takes the lowest gap between the placed buffers
 * that are live together with it. A placed buffer of size 0 divides a gap there, so it does here.
 * TFLM rounds sizes (to 16) before it plans, which is the caller's business; where alignments are
 * given, offsets are rounded up to them. Checked against the recorded plans of the reference data.
 *
 * TFLM's own sort and search are O(n^2); these are O(n k log n) with k buffers live together.
 */
#include "plan/tflm.h"
#include "plan/sort.h"
#include "plan/stock.h"

static bool goes_before(const void *context, uint32_t a, uint32_t b) {
  const berth_buffer_t *buffers = context;
  bool a_fixed = buffers[a].fixed != BERTH_ANYWHERE, b_fixed = buffers[b].fixed != BERTH_ANYWHERE;
  if (a_fixed || b_fixed) return a_fixed && (!b_fixed || a < b);
  if (buffers[a].size != buffers[b].size) return buffers[a].size > buffers[b].size;
  return a > b;
}

static uint64_t lowest_gap(berth_stock_t *stock, uint32_t i) {
  const berth_buffer_t *buffers = stock->problem->buffers;
  uint32_t count = berth_stock_find(stock, i);
  uint64_t offset = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t next = stock->found[k];
    if (offset + buffers[i].size <= stock->offsets[next]) return offset;
    uint64_t end = berth_stock_align(stock, i, stock->offsets[next] + buffers[next].size);
    if (end > offset) offset = end;
  }
  return offset;
}

/* Does fixed buffer `i` hit none of those placed before? TFLM itself doesn't look. */
static bool fits(berth_stock_t *stock, uint32_t i) {
  const berth_buffer_t *buffers = stock->problem->buffers;
  uint64_t start = buffers[i].fixed, end = start + buffers[i].size;
  uint32_t count = berth_stock_find(stock, i);
  for (uint32_t k = 0; k < count && buffers[i].size > 0; k++) {
    uint32_t other = stock->found[k];
    uint64_t from = stock->offsets[other], to = from + buffers[other].size;
    if (buffers[other].size > 0 && from < end && start < to) return false;
  }
  return true;
}

static berth_status_t place(const berth_problem_t *problem, bool look, void *workspace,
                            size_t workspace_bytes, berth_plan_t *plan) {
  berth_stock_t stock;
  berth_status_t status = berth_stock_begin(&stock, problem, workspace, workspace_bytes);
  if (status != BERTH_OK) return status;
  berth_plan_sort(stock.order, problem->buffer_count, stock.spare, goes_before, problem->buffers);
  for (uint32_t k = 0; k < problem->buffer_count; k++) {
    uint32_t i = stock.order[k];
    bool fixed = problem->buffers[i].fixed != BERTH_ANYWHERE;
    if (fixed && look && !fits(&stock, i)) return BERTH_INFEASIBLE;
    berth_stock_place(&stock, i, fixed ? problem->buffers[i].fixed : lowest_gap(&stock, i), true);
  }
  berth_stock_finish(&stock, plan);
  return BERTH_OK;
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  (void)options;
  return place(problem, true, workspace, workspace_bytes, plan);
}

berth_status_t berth_plan_tflm_blindly(const berth_problem_t *problem, void *workspace,
                                       size_t workspace_bytes, berth_plan_t *plan) {
  return place(problem, false, workspace, workspace_bytes, plan);
}

const berth_planner_t berth_planner_tflm = {
    .name = "tflm",
    .summary = "the very offsets of stock TFLM's GreedyMemoryPlanner",
    .handles = BERTH_HANDLES_FIXED,
    .workspace = berth_stock_workspace,
    .make = make,
};
