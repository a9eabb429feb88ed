/* A bump pointer (the LinearMemoryPlanner idea, made to release): buffers are stacked in the order
 * in which they begin, and the pointer falls back only while the topmost buffer is dead. What lies
 * below a live buffer stays lost until that one dies. Cost: O(n k log n).
 */
#include "plan/greedy.h"

typedef struct linear {
  berth_greedy_t greedy;
  uint32_t *units; /* from the bottom up, with ascending offsets */
  uint32_t depth;
} linear_t;

static void lay_out(linear_t *stack, const berth_problem_t *problem, berth_workspace_t *memory) {
  berth_greedy_lay_out(&stack->greedy, problem, memory);
  stack->units = berth_workspace_take(memory, problem->buffer_count, sizeof(uint32_t));
  stack->depth = 0;
}

static berth_status_t workspace_bytes_for(const berth_problem_t *problem,
                                          const berth_plan_options_t *options, size_t *bytes) {
  (void)options;
  berth_workspace_t memory = berth_workspace_measure();
  linear_t stack;
  lay_out(&stack, problem, &memory);
  return berth_workspace_needed(&memory, bytes);
}

static bool begins_before(const void *context, uint32_t a, uint32_t b) {
  const berth_unit_t *unit = context;
  return unit[a].first < unit[b].first;
}

static berth_status_t push(linear_t *stack, uint32_t i) {
  const berth_unit_t *units = stack->greedy.unit;
  while (stack->depth > 0 && units[stack->units[stack->depth - 1]].last < units[i].first) {
    stack->depth--;
  }
  uint64_t top = 0;
  if (stack->depth > 0) {
    const berth_unit_t *topmost = &units[stack->units[stack->depth - 1]];
    top = topmost->offset + topmost->size;
  }
  berth_status_t status = berth_greedy_place(&stack->greedy, i, top, BERTH_FIRST_FIT);
  if (units[i].size > 0) stack->units[stack->depth++] = i;
  return status;
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  (void)options;
  linear_t stack;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  lay_out(&stack, problem, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  berth_greedy_t *greedy = &stack.greedy;
  status = berth_greedy_prepare(greedy);
  if (status != BERTH_OK) return status;
  berth_plan_sort(greedy->units, greedy->unit_count, greedy->found, begins_before, greedy->unit);
  for (uint32_t k = 0; status == BERTH_OK && k < greedy->unit_count; k++) {
    status = push(&stack, greedy->units[k]);
  }
  if (status == BERTH_OK) berth_greedy_finish(greedy, plan);
  return status;
}

const berth_planner_t berth_planner_linear = {
    .name = "linear",
    .summary = "a bump pointer that falls back only while the topmost buffer is dead",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = workspace_bytes_for,
    .make = make,
};
