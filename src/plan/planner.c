/* The one way into every planner: checks the problem, lets the planner work, has the verifier check
 * the result, and only then writes it into the caller's plan.
 *
 * Planners thus never see a malformed problem or one with constraints they don't handle, need not
 * know the lower bound or compare with capacities, and cannot hand out a wrong plan.
 */
#include "plan/planner.h"
#include "plan/bounds.h"
#include "plan/workspace.h"
#include <string.h>

bool berth_plan_has_regions(const berth_problem_t *problem) {
  if (problem->region_count > 1) return true;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    if (problem->pairs[k].relation == BERTH_APART) return true;
  }
  for (uint32_t i = 0; problem->region_count == 1 && i < problem->buffer_count; i++) {
    if (problem->buffers[i].constant) return true;
  }
  return false;
}

/* The BERTH_HANDLES_ bits that a planner needs for this problem. */
static uint32_t needs(const berth_problem_t *problem) {
  uint32_t bits = berth_plan_has_regions(problem) ? BERTH_HANDLES_REGIONS : 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (problem->buffers[i].fixed != BERTH_ANYWHERE) bits |= BERTH_HANDLES_FIXED;
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    if (problem->pairs[k].relation != BERTH_APART) bits |= BERTH_HANDLES_PAIRS;
  }
  return bits;
}

static berth_status_t check(const berth_planner_t *planner, const berth_problem_t *problem) {
  if (planner == NULL) return BERTH_ERROR_ARGUMENT;
  berth_status_t status = berth_problem_check(problem, NULL);
  if (status != BERTH_OK) return status;
  return (needs(problem) & ~planner->handles) == 0 ? BERTH_OK : BERTH_ERROR_UNSUPPORTED;
}

/* The work area is used by the lower bound, the planner and the verifier in turn. */
static berth_status_t lay_out(const berth_planner_t *planner, const berth_problem_t *problem,
                              const berth_plan_options_t *options, berth_workspace_t *memory,
                              berth_placement_t **placements, void **area, size_t *area_bytes) {
  size_t bytes[3] = {0, 0, 0};
  berth_status_t status = planner->workspace(problem, options, &bytes[0]);
  if (status == BERTH_OK) status = berth_plan_verify_workspace(problem, &bytes[1]);
  if (status == BERTH_OK) status = berth_plan_bound_workspace(problem, &bytes[2]);
  if (status != BERTH_OK) return status;
  size_t most = bytes[0];
  if (bytes[1] > most) most = bytes[1];
  if (bytes[2] > most) most = bytes[2];
  *placements = berth_workspace_take(memory, problem->buffer_count, sizeof **placements);
  *area = berth_workspace_take(memory, most, 1);
  *area_bytes = most;
  return BERTH_OK;
}

berth_status_t berth_plan_workspace(const berth_planner_t *planner, const berth_problem_t *problem,
                                    const berth_plan_options_t *options, size_t *bytes) {
  static const berth_plan_options_t defaults = {0};
  berth_status_t status = check(planner, problem);
  if (status != BERTH_OK) return status;
  if (bytes == NULL) return BERTH_ERROR_ARGUMENT;
  berth_workspace_t memory = berth_workspace_measure();
  berth_placement_t *placements;
  void *area;
  size_t area_bytes;
  status = lay_out(planner, problem, options != NULL ? options : &defaults, &memory, &placements,
                   &area, &area_bytes);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

/* What the first region may hold at most, by the problem and by the options. */
static uint64_t capacity_of(const berth_problem_t *problem, const berth_plan_options_t *options) {
  uint64_t capacity = options->capacity != 0 ? options->capacity : BERTH_UNLIMITED;
  if (problem->region_count > 0 && problem->regions[0].capacity < capacity) {
    capacity = problem->regions[0].capacity;
  }
  return capacity;
}

static uint64_t cost_in_region_0(const berth_problem_t *problem) {
  uint64_t cost = 0;
  for (uint32_t i = 0; i < problem->buffer_count && problem->region_count > 0; i++) {
    cost += problem->buffers[i].traffic * problem->regions[0].cost;
  }
  return cost;
}

/* Verifies `plan`; one that is only too large for the region is right, too. */
static berth_status_t verify(const berth_problem_t *problem, bool too_large,
                             const berth_plan_t *plan, void *area, size_t area_bytes) {
  berth_problem_t roomy = *problem;
  berth_region_t region = {BERTH_UNLIMITED, 0};
  if (too_large && problem->region_count == 1) {
    region.cost = problem->regions[0].cost;
    roomy.regions = &region;
  }
  berth_status_t status = berth_plan_verify(&roomy, plan, area, area_bytes, NULL);
  return status == BERTH_INFEASIBLE ? BERTH_ERROR_INTERNAL : status;
}

/* Settles with one region what the planner's answer means for the capacity. */
static berth_status_t judge(berth_plan_t *plan, uint64_t bound, uint64_t capacity,
                            berth_status_t status) {
  if (plan->lower_bound < bound) plan->lower_bound = bound;
  if (status == BERTH_INFEASIBLE || plan->peak == UINT64_MAX) return status;
  if (plan->optimal) plan->lower_bound = plan->peak;
  if (plan->peak < plan->lower_bound) return BERTH_ERROR_INTERNAL;
  plan->optimal = plan->peak == plan->lower_bound;
  if (plan->peak <= capacity) return BERTH_OK;
  return plan->lower_bound > capacity ? BERTH_INFEASIBLE : BERTH_UNDECIDED;
}

static berth_status_t make(const berth_planner_t *planner, const berth_problem_t *problem,
                           const berth_plan_options_t *options, void *area, size_t area_bytes,
                           berth_plan_t *plan) {
  bool regions = berth_plan_has_regions(problem);
  uint64_t capacity = capacity_of(problem, options), bound = 0;
  if (!regions) {
    berth_status_t status = berth_plan_bound(problem, area, area_bytes, &bound);
    if (status != BERTH_OK) return status;
    if (bound > capacity) {
      plan->lower_bound = bound;
      return BERTH_INFEASIBLE;
    }
    plan->lower_bound = bound;
    plan->cost = cost_in_region_0(problem);
  }
  berth_status_t status = planner->make(problem, options, area, area_bytes, plan);
  if (status < 0) return status;
  if (status == BERTH_OK && plan->peak == UINT64_MAX) return BERTH_ERROR_INTERNAL;
  if (!regions) status = judge(plan, bound, capacity, status);
  if (status != BERTH_OK && (status != BERTH_UNDECIDED || plan->peak == UINT64_MAX)) return status;
  berth_status_t verdict = verify(problem, !regions, plan, area, area_bytes);
  return verdict == BERTH_OK ? status : verdict;
}

berth_status_t berth_plan_make(const berth_planner_t *planner, const berth_problem_t *problem,
                               const berth_plan_options_t *options, void *workspace,
                               size_t workspace_bytes, berth_plan_t *plan) {
  static const berth_plan_options_t defaults = {0};
  if (options == NULL) options = &defaults;
  berth_status_t status = check(planner, problem);
  if (status != BERTH_OK) return status;
  if (plan == NULL || (plan->placements == NULL && problem->buffer_count != 0)) {
    return BERTH_ERROR_ARGUMENT;
  }
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_plan_t made = {NULL, UINT64_MAX, 0, 0, 0, false};
  void *area;
  size_t area_bytes, placement_bytes = (size_t)problem->buffer_count * sizeof *made.placements;
  status = lay_out(planner, problem, options, &memory, &made.placements, &area, &area_bytes);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;

  if (placement_bytes > 0) memset(made.placements, 0, placement_bytes);
  status = make(planner, problem, options, area, area_bytes, &made);
  if (status < 0) return status;
  if (status == BERTH_INFEASIBLE) {
    plan->lower_bound = made.lower_bound;
    plan->work = made.work;
    return status;
  }
  if (made.peak != UINT64_MAX && placement_bytes > 0) {
    memcpy(plan->placements, made.placements, placement_bytes);
  }
  made.placements = plan->placements;
  *plan = made;
  return status;
}
