/* Runs of the skyline search: see exact_runs.h.
 *
 * Run k uses order number k of the portfolio (exact_order.h) and makes 2^j times the shortest run's
 * choices, 2^j the largest power of two that divides k + 1: all lengths get the same share, as in
 * the universal strategy of Luby, Sinclair and Zuckerman (1993). A run that ends by itself has
 * answered the question for good.
 */
#include "plan/exact_runs.h"
#include "plan/exact_order.h"
#include "plan/sort.h"

#define SHORTEST_RUN ((uint64_t)2048) /* choices */
#define POLL         ((uint64_t)1024) /* choices between two looks at the budget */

static bool may_go_on(berth_runs_t *runs) {
  uint64_t work = runs->work + runs->sections.skyline.work;
  const berth_plan_options_t *options = runs->options;
  if (work >= runs->work_limit ||
      (options->progress != NULL &&
       !options->progress(options->progress_user, work, runs->best, runs->lower_bound))) {
    runs->stopped = true;
  }
  return !runs->stopped;
}

static bool lies_below(const void *context, uint32_t a, uint32_t b) {
  const berth_skyline_t *skyline = context;
  return skyline->offset[a] < skyline->offset[b];
}

/* Lets every buffer sink as far as the ones below it allow. O(n^2). */
static void push_down(berth_runs_t *runs) {
  berth_skyline_t *skyline = &runs->sections.skyline;
  uint32_t *order = runs->sections.order;
  for (uint32_t i = 0; i < skyline->count; i++) order[i] = i;
  berth_plan_sort(order, skyline->count, runs->sections.spare, lies_below, skyline);
  for (uint32_t i = 0; i < skyline->count; i++) {
    int32_t floor = 0;
    for (uint32_t j = 0; j < i; j++) {
      int32_t top = skyline->offset[order[j]] + skyline->size[order[j]];
      if (top > floor && berth_skyline_meet(skyline, order[i], order[j])) floor = top;
    }
    skyline->offset[order[i]] = berth_skyline_align(skyline, order[i], floor);
  }
}

berth_status_t berth_runs_next(berth_runs_t *runs, berth_question_t *question) {
  berth_sections_t *sections = &runs->sections;
  berth_skyline_t *skyline = &sections->skyline;
  uint32_t number = question->runs++;
  bool restart = berth_skyline_uses(skyline, BERTH_TECHNIQUE_RESTART);
  uint64_t limit = SHORTEST_RUN * (((uint64_t)number + 1) & (~(uint64_t)number));
  berth_exact_order(skyline, sections->length, number, sections->order, sections->spare);
  berth_skyline_start(skyline, question->capacity);
  uint64_t last = skyline->nodes + limit;
  while (may_go_on(runs)) {
    berth_status_t status = berth_skyline_search(skyline, POLL);
    if (status == BERTH_OK) push_down(runs);
    if (status != BERTH_UNDECIDED) return status;
    if (restart && skyline->nodes >= last) break;
  }
  return BERTH_UNDECIDED;
}

int32_t berth_runs_peak(const berth_runs_t *runs) {
  const berth_skyline_t *skyline = &runs->sections.skyline;
  int32_t peak = 0;
  for (uint32_t i = 0; i < skyline->count; i++) {
    if (skyline->offset[i] + skyline->size[i] > peak) peak = skyline->offset[i] + skyline->size[i];
  }
  return peak;
}

void berth_runs_write(const berth_runs_t *runs, berth_plan_t *plan) {
  const berth_sections_t *sections = &runs->sections;
  for (uint32_t i = 0; i < sections->count; i++) {
    plan->placements[sections->buffer[i]].offset =
        (uint64_t)sections->skyline.offset[i] * sections->unit;
  }
}

berth_status_t berth_exact_fits_workspace(const berth_problem_t *problem, const uint32_t *subset,
                                          uint32_t count, size_t *bytes) {
  berth_workspace_t memory = berth_workspace_measure();
  berth_sections_t sections;
  berth_status_t status = berth_sections_lay_out(&sections, problem, subset, count, &memory);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

berth_status_t berth_exact_fits(const berth_problem_t *problem, const uint32_t *subset,
                                uint32_t count, uint64_t capacity,
                                const berth_plan_options_t *options, void *workspace,
                                size_t workspace_bytes, berth_plan_t *plan) {
  berth_runs_t runs = {.options = options,
                       .work_limit = options->work_limit != 0 ? options->work_limit : UINT64_MAX,
                       .best = UINT64_MAX};
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_status_t status = berth_sections_lay_out(&runs.sections, problem, subset, count, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status == BERTH_OK) status = berth_sections_prepare(&runs.sections, subset, count);
  if (status != BERTH_OK) return status;

  berth_skyline_t *skyline = &runs.sections.skyline;
  skyline->without = options->without;
  uint64_t units = capacity / runs.sections.unit;
  int32_t most = BERTH_SKYLINE_CAPACITY - 1;
  berth_question_t question = {units < (uint64_t)most ? (int32_t)units : most, 0};
  for (uint32_t s = 0; s < skyline->section_count; s++) {
    if (skyline->load[s] > question.capacity) return BERTH_INFEASIBLE;
  }
  do {
    status = berth_runs_next(&runs, &question);
  } while (status == BERTH_UNDECIDED && !runs.stopped);
  plan->work += skyline->work;
  if (status == BERTH_OK) {
    for (uint32_t i = 0; i < count; i++) {
      uint32_t buffer = subset != NULL ? subset[i] : i;
      uint64_t fixed = problem->buffers[buffer].fixed;
      plan->placements[buffer].offset = fixed != BERTH_ANYWHERE ? fixed : 0;
    }
    berth_runs_write(&runs, plan);
  }
  return status;
}
