/* Placed buffers by offset, for the planners that imitate stock runtimes: see stock.h. */
#include "plan/stock.h"
#include "plan/sort.h"

static void lay_out(berth_stock_t *stock, const berth_problem_t *problem,
                    berth_workspace_t *memory) {
  size_t count = problem->buffer_count;
  stock->problem = problem;
  stock->order = berth_workspace_take(memory, count, sizeof(uint32_t));
  stock->found = berth_workspace_take(memory, count, sizeof(uint32_t));
  stock->spare = berth_workspace_take(memory, count, sizeof(uint32_t));
  stock->offsets = berth_workspace_take(memory, count, sizeof(uint64_t));
  berth_live_lay_out(&stock->live, problem, memory);
}

berth_status_t berth_stock_workspace(const berth_problem_t *problem,
                                     const berth_plan_options_t *options, size_t *bytes) {
  (void)options;
  berth_workspace_t memory = berth_workspace_measure();
  berth_stock_t stock;
  lay_out(&stock, problem, &memory);
  return berth_workspace_needed(&memory, bytes);
}

berth_status_t berth_stock_begin(berth_stock_t *stock, const berth_problem_t *problem,
                                 void *workspace, size_t workspace_bytes) {
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  lay_out(stock, problem, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < problem->buffer_count; i++) stock->order[i] = i;
  berth_live_prepare(&stock->live, stock->spare);
  return BERTH_OK;
}

static bool lies_below(const void *context, uint32_t a, uint32_t b) {
  const uint64_t *offsets = context;
  return offsets[a] < offsets[b];
}

uint32_t berth_stock_find(berth_stock_t *stock, uint32_t i) {
  const berth_buffer_t *buffer = &stock->problem->buffers[i];
  uint32_t count = berth_live_collect(&stock->live, buffer->first, buffer->last, stock->found);
  berth_plan_sort(stock->found, count, stock->spare, lies_below, stock->offsets);
  return count;
}

void berth_stock_place(berth_stock_t *stock, uint32_t i, uint64_t offset, bool obstacle) {
  stock->offsets[i] = offset;
  if (obstacle) berth_live_place(&stock->live, i);
}

void berth_stock_finish(const berth_stock_t *stock, berth_plan_t *plan) {
  plan->peak = 0;
  for (uint32_t i = 0; i < stock->problem->buffer_count; i++) {
    uint64_t size = stock->problem->buffers[i].size, offset = stock->offsets[i];
    plan->placements[i].offset = offset;
    if (size > 0 && offset + size > plan->peak) plan->peak = offset + size;
  }
}

uint64_t berth_stock_align(const berth_stock_t *stock, uint32_t i, uint64_t offset) {
  uint64_t align = stock->problem->buffers[i].align;
  uint64_t rest = align > 1 ? offset % align : 0;
  return rest == 0 ? offset : offset + (align - rest);
}
