/* Greedy by breadth (Pisarchyk & Lee, "Efficient Memory Management for Deep Neural Net Inference",
 * 2020): the step with the most live bytes first; of the buffers live in it that have no place yet,
 * the largest first, of equal sizes the one that begins first; each into the smallest gap that is
 * large enough.
 *
 * A buffer's turn thus comes with the broadest step it is live in. Only steps in which something
 * begins can be the broadest, so long timelines cost nothing: O(n k log n) for n buffers of which k
 * are live together with one.
 */
#include "plan/greedy.h"
#include <string.h>

typedef struct breadth {
  berth_greedy_t greedy;
  uint32_t step_count; /* steps in which a buffer begins */
  uint32_t leaves;     /* a power of two, at least step_count */
  uint32_t *steps;     /* these steps, ascending */
  uint64_t *load;      /* bytes live in each */
  uint32_t
      *broadest;  /* tree over them: of each node the broadest below it, the earliest of equals */
  uint32_t *turn; /* of each unit: the broadest step in which it is live, as an index */
} breadth_t;

static void lay_out(breadth_t *breadth, const berth_problem_t *problem, berth_workspace_t *memory) {
  size_t count = problem->buffer_count;
  berth_greedy_lay_out(&breadth->greedy, problem, memory);
  breadth->leaves = breadth->greedy.live.leaves;
  breadth->steps = berth_workspace_take(memory, count, sizeof(uint32_t));
  breadth->load = berth_workspace_take(memory, count + 1, sizeof(uint64_t));
  breadth->broadest = berth_workspace_take(memory, breadth->leaves, 2 * sizeof(uint32_t));
  breadth->turn = berth_workspace_take(memory, count, sizeof(uint32_t));
}

/* How many of the steps are not after `step`. */
static uint32_t steps_until(const breadth_t *breadth, uint32_t step) {
  uint32_t low = 0, high = breadth->step_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (breadth->steps[middle] <= step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void measure_steps(breadth_t *breadth) {
  const berth_problem_t *problem = breadth->greedy.problem;
  breadth->step_count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    uint32_t first = problem->buffers[breadth->greedy.live.order[i]].first;
    if (breadth->step_count == 0 || breadth->steps[breadth->step_count - 1] != first) {
      breadth->steps[breadth->step_count++] = first;
    }
  }
  memset(breadth->load, 0, ((size_t)breadth->step_count + 1) * sizeof *breadth->load);
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    breadth->load[steps_until(breadth, buffer->first) - 1] += buffer->size;
    breadth->load[steps_until(breadth, buffer->last)] -= buffer->size;
  }
  for (uint32_t i = 1; i < breadth->step_count; i++) breadth->load[i] += breadth->load[i - 1];
}

/* The broader of two steps (indices; UINT32_MAX: none), the earlier one of equals. */
static uint32_t broader(const breadth_t *breadth, uint32_t a, uint32_t b) {
  if (a == UINT32_MAX || b == UINT32_MAX) return a == UINT32_MAX ? b : a;
  if (breadth->load[a] != breadth->load[b]) return breadth->load[a] > breadth->load[b] ? a : b;
  return a < b ? a : b;
}

static void grow_tree(breadth_t *breadth) {
  uint32_t *tree = breadth->broadest;
  for (uint32_t i = 0; i < breadth->leaves; i++) {
    tree[breadth->leaves + i] = i < breadth->step_count ? i : UINT32_MAX;
  }
  for (uint32_t node = breadth->leaves; node-- > 1;) {
    tree[node] = broader(breadth, tree[2 * (size_t)node], tree[2 * (size_t)node + 1]);
  }
}

/* The broadest of the steps first..last. */
static uint32_t broadest(const breadth_t *breadth, uint32_t first, uint32_t last) {
  uint32_t best = UINT32_MAX;
  uint32_t low = breadth->leaves + steps_until(breadth, first) - 1;
  uint32_t high = breadth->leaves + steps_until(breadth, last);
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) best = broader(breadth, best, breadth->broadest[low++]);
    if (high % 2 == 1) best = broader(breadth, best, breadth->broadest[--high]);
  }
  return best;
}

static bool goes_before(const void *context, uint32_t a, uint32_t b) {
  const breadth_t *breadth = context;
  if (breadth->turn[a] != breadth->turn[b]) {
    return broader(breadth, breadth->turn[a], breadth->turn[b]) == breadth->turn[a];
  }
  const berth_unit_t *unit = breadth->greedy.unit;
  if (unit[a].size != unit[b].size) return unit[a].size > unit[b].size;
  return unit[a].first < unit[b].first;
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  (void)options;
  breadth_t breadth;
  berth_greedy_t *greedy = &breadth.greedy;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  lay_out(&breadth, problem, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  if (status == BERTH_OK) status = berth_greedy_prepare(greedy);
  if (status != BERTH_OK) return status;
  measure_steps(&breadth);
  grow_tree(&breadth);
  for (uint32_t k = 0; k < greedy->unit_count; k++) {
    const berth_unit_t *unit = &greedy->unit[greedy->units[k]];
    breadth.turn[greedy->units[k]] = broadest(&breadth, unit->first, unit->last);
  }
  status = berth_greedy_place_all(greedy, goes_before, &breadth, BERTH_BEST_FIT);
  if (status == BERTH_OK) berth_greedy_finish(greedy, plan);
  return status;
}

static berth_status_t workspace_bytes_for(const berth_problem_t *problem,
                                          const berth_plan_options_t *options, size_t *bytes) {
  (void)options;
  berth_workspace_t memory = berth_workspace_measure();
  breadth_t breadth;
  lay_out(&breadth, problem, &memory);
  return berth_workspace_needed(&memory, bytes);
}

const berth_planner_t berth_planner_breadth = {
    .name = "breadth",
    .summary = "greedy by breadth, smallest gap (Pisarchyk & Lee 2020)",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = workspace_bytes_for,
    .make = make,
};
