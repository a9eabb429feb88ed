/* A portfolio of greedy orders: see portfolio.h.
 *
 * No order is best everywhere, and on most networks one of them meets the lower bound. They come in
 * the order of how often they win: by breadth and by size (Pisarchyk & Lee 2020), by area (size
 * times lifetime) and by lifetime (both after Sekiyama et al., "Profile-guided memory optimization
 * for deep neural networks", 2018), each with the lowest gap and with the smallest. Cost: that of a
 * greedy planner, eight times at most.
 */
#include "plan/portfolio.h"
#include "plan/greedy.h"
#include "plan/wide.h"
#include <string.h>

static bool by_size(const void *context, uint32_t a, uint32_t b) {
  const berth_unit_t *unit = context;
  if (unit[a].size != unit[b].size) return unit[a].size > unit[b].size;
  return unit[a].first < unit[b].first;
}

static uint64_t steps(const berth_unit_t *unit) {
  return (uint64_t)unit->last - unit->first + 1;
}

static bool by_lifetime(const void *context, uint32_t a, uint32_t b) {
  const berth_unit_t *unit = context;
  if (steps(&unit[a]) != steps(&unit[b])) return steps(&unit[a]) > steps(&unit[b]);
  return unit[a].size > unit[b].size;
}

static bool by_area(const void *context, uint32_t a, uint32_t b) {
  const berth_unit_t *unit = context;
  return berth_wide_less(berth_wide_product(unit[b].size, steps(&unit[b])),
                         berth_wide_product(unit[a].size, steps(&unit[a])));
}

static const struct {
  const berth_planner_t *planner; /* one that stands for itself, or else */
  berth_before_t before;          /* an order */
  berth_fit_t fit;                /* and where a unit goes */
} entries[] = {
    {&berth_planner_breadth, NULL, BERTH_BEST_FIT},
    {NULL, by_size, BERTH_FIRST_FIT},
    {NULL, by_size, BERTH_BEST_FIT},
    {NULL, by_area, BERTH_FIRST_FIT},
    {NULL, by_area, BERTH_BEST_FIT},
    {NULL, by_lifetime, BERTH_FIRST_FIT},
    {NULL, by_lifetime, BERTH_BEST_FIT},
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

/* The candidate's placements, then memory for whoever makes it. */
static berth_status_t lay_out(const berth_problem_t *problem, berth_workspace_t *memory,
                              berth_placement_t **placements, void **area, size_t *area_bytes) {
  size_t greedy, breadth;
  berth_status_t status = berth_greedy_workspace(problem, NULL, &greedy);
  if (status == BERTH_OK) {
    status = berth_planner_breadth.workspace(problem, NULL, &breadth);
  }
  if (status != BERTH_OK) return status;
  *placements = berth_workspace_take(memory, problem->buffer_count, sizeof **placements);
  *area_bytes = greedy > breadth ? greedy : breadth;
  *area = berth_workspace_take(memory, *area_bytes, 1);
  return BERTH_OK;
}

berth_status_t berth_plan_portfolio_workspace(const berth_problem_t *problem, size_t *bytes) {
  berth_workspace_t memory = berth_workspace_measure();
  berth_placement_t *placements;
  void *area;
  size_t area_bytes;
  berth_status_t status = lay_out(problem, &memory, &placements, &area, &area_bytes);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

static berth_status_t try_entry(uint32_t i, const berth_problem_t *problem,
                                const berth_plan_options_t *options, void *area, size_t area_bytes,
                                berth_plan_t *plan) {
  if (entries[i].planner != NULL) {
    return entries[i].planner->make(problem, options, area, area_bytes, plan);
  }
  berth_greedy_t greedy;
  berth_status_t status = berth_greedy_begin(&greedy, problem, area, area_bytes);
  if (status == BERTH_OK) {
    status = berth_greedy_place_all(&greedy, entries[i].before, greedy.unit, entries[i].fit);
  }
  if (status == BERTH_OK) berth_greedy_finish(&greedy, plan);
  return status;
}

berth_status_t berth_plan_portfolio(const berth_problem_t *problem,
                                    const berth_plan_options_t *options, uint64_t enough,
                                    uint64_t work_limit, void *workspace, size_t workspace_bytes,
                                    berth_plan_t *plan) {
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_plan_t candidate = {NULL, 0, 0, 0, plan->work, false};
  void *area;
  size_t area_bytes, bytes = (size_t)problem->buffer_count * sizeof *candidate.placements;
  berth_status_t status = lay_out(problem, &memory, &candidate.placements, &area, &area_bytes);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  if (bytes > 0) memset(candidate.placements, 0, bytes);
  for (uint32_t i = 0; i < ENTRY_COUNT; i++) {
    if (plan->peak != UINT64_MAX && (plan->peak <= enough || candidate.work >= work_limit)) break;
    status = try_entry(i, problem, options, area, area_bytes, &candidate);
    if (status != BERTH_OK) return status;
    plan->work = candidate.work;
    if (candidate.peak < plan->peak) {
      plan->peak = candidate.peak;
      if (bytes > 0) memcpy(plan->placements, candidate.placements, bytes);
    }
    if (options->progress != NULL &&
        !options->progress(options->progress_user, plan->work, plan->peak, plan->lower_bound)) {
      break;
    }
  }
  return BERTH_OK;
}
