/* The very offsets of TensorFlow Lite's ArenaPlanner over its SimpleMemoryArena.
 *
 * Tensors that are live from the first step to the last are placed first, in their order; the
 * others by decreasing size, of equal sizes the one that begins first. (Where both are equal,
 * TFLite's sort leaves the order open; here it is that of the problem.) Each takes the gap between
 * the placed tensors live together with it that leaves the smallest rest, or the end if it fits
 * into none. A tensor of size 0 lies at 0. The rest of the best gap so far is remembered without
 * the bytes that alignment skips, but compared with them: TFLite's way. Checked against the
 * recorded heights of the reference data. Cost: O(n k log n) with k buffers live together.
 */
#include "plan/sort.h"
#include "plan/stock.h"

typedef struct order {
  const berth_buffer_t *buffers;
  uint32_t end; /* the last step in which anything is live */
} order_t;

static bool is_whole(const order_t *order, uint32_t i) {
  return order->buffers[i].first == 0 && order->buffers[i].last == order->end;
}

static bool goes_before(const void *context, uint32_t a, uint32_t b) {
  const order_t *order = context;
  bool a_whole = is_whole(order, a), b_whole = is_whole(order, b);
  if (a_whole || b_whole) return a_whole && (!b_whole || a < b);
  const berth_buffer_t *buffers = order->buffers;
  if (buffers[a].size != buffers[b].size) return buffers[a].size > buffers[b].size;
  return buffers[a].first < buffers[b].first;
}

static uint64_t best_gap(berth_stock_t *stock, uint32_t i) {
  const berth_buffer_t *buffers = stock->problem->buffers;
  uint32_t count = berth_stock_find(stock, i);
  uint64_t best = UINT64_MAX, best_rest = UINT64_MAX, top = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t next = stock->found[k];
    uint64_t next_offset = stock->offsets[next], offset = berth_stock_align(stock, i, top);
    if (offset + buffers[i].size <= next_offset && next_offset - offset < best_rest) {
      best = offset;
      best_rest = next_offset - top;
    }
    if (next_offset + buffers[next].size > top) top = next_offset + buffers[next].size;
  }
  return best != UINT64_MAX ? best : berth_stock_align(stock, i, top);
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  (void)options;
  berth_stock_t stock;
  berth_status_t status = berth_stock_begin(&stock, problem, workspace, workspace_bytes);
  if (status != BERTH_OK) return status;
  order_t order = {problem->buffers, 0};
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (problem->buffers[i].last > order.end) order.end = problem->buffers[i].last;
  }
  berth_plan_sort(stock.order, problem->buffer_count, stock.spare, goes_before, &order);
  for (uint32_t k = 0; k < problem->buffer_count; k++) {
    uint32_t i = stock.order[k];
    bool empty = problem->buffers[i].size == 0;
    berth_stock_place(&stock, i, empty ? 0 : best_gap(&stock, i), !empty);
  }
  berth_stock_finish(&stock, plan);
  return BERTH_OK;
}

const berth_planner_t berth_planner_tflite = {
    .name = "tflite",
    .summary = "the very offsets of stock TFLite's ArenaPlanner",
    .handles = 0,
    .workspace = berth_stock_workspace,
    .make = make,
};
