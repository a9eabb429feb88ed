/* The exact planner: proves that its plan is the smallest, or that none fits.
 *
 * Greedy plans first, for they often meet the lower bound. Then branch and bound: the question
 * "does it fit into this capacity" is put to the skyline search (exact_skyline.h), run after run.
 * To minimise, runs for the lowest capacity not yet excluded take turns with runs for one between
 * that and the best plan; each answer moves one end, until they meet. The result depends on the
 * problem and the options only. Cost: exponential at worst, limited by the budget.
 */
#include "plan/exact_runs.h"
#include "plan/portfolio.h"
#include "plan/workspace.h"

/* Default budget in units of work. */
#define DEFAULT_WORK ((uint64_t)1 << 31)

static bool has_pairs(const berth_problem_t *problem) {
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    if (problem->pairs[k].relation != BERTH_APART) return true;
  }
  return false;
}

static berth_status_t workspace(const berth_problem_t *problem, const berth_plan_options_t *options,
                                size_t *bytes) {
  (void)options;
  size_t portfolio, fits = 0;
  berth_status_t status = berth_plan_portfolio_workspace(problem, &portfolio);
  if (status != BERTH_OK) return status;
  status = berth_exact_fits_workspace(problem, NULL, problem->buffer_count, &fits);
  if (status != BERTH_OK && status != BERTH_ERROR_UNSUPPORTED) return status;
  *bytes = portfolio > fits ? portfolio : fits;
  return BERTH_OK;
}

static void keep(const berth_runs_t *runs, berth_plan_t *plan) {
  berth_runs_write(runs, plan);
  for (uint32_t i = 0; i < runs->sections.problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &runs->sections.problem->buffers[i];
    if (buffer->size > 0) continue;
    plan->placements[i].offset = buffer->fixed != BERTH_ANYWHERE ? buffer->fixed : 0;
  }
  plan->peak = (uint64_t)berth_runs_peak(runs) * runs->sections.unit;
}

/* The least capacity of the form low + a power of two that has not been excluded, for fewer proofs
 * where many are easy. */
static int32_t lower_target(int32_t low, int32_t high, uint32_t excluded) {
  if (excluded == 0) return low;
  int32_t step = excluded < 30 ? (int32_t)1 << (excluded - 1) : INT32_MAX / 2;
  return step < (high - low) / 2 ? low + step : low + (high - low) / 2;
}

static void minimise(berth_runs_t *runs, berth_plan_t *plan) {
  uint64_t unit = runs->sections.unit;
  uint64_t bound = plan->lower_bound / unit + (plan->lower_bound % unit != 0);
  int32_t low = (int32_t)bound, high = (int32_t)(plan->peak / unit);
  berth_question_t proof = {low, 0}, improvement = {high, 0};
  uint32_t excluded = 0; /* how often the lower end has been excluded in a row */
  for (uint32_t turn = 0; low < high && !runs->stopped; turn++) {
    berth_question_t *question = turn % 2 == 0 ? &proof : &improvement;
    int32_t capacity =
        turn % 2 == 0 ? lower_target(low, high, excluded) : high - 1 - (high - low) / 8;
    if (question->capacity != capacity) question->runs = 0;
    question->capacity = capacity;
    berth_status_t status = berth_runs_next(runs, question);
    if (status == BERTH_OK) {
      high = berth_runs_peak(runs);
      keep(runs, plan);
      runs->best = plan->peak;
    } else if (status == BERTH_INFEASIBLE) {
      low = capacity + 1;
      plan->lower_bound = runs->lower_bound = (uint64_t)low * unit;
    }
    if (turn % 2 == 0) excluded = status == BERTH_INFEASIBLE ? excluded + 1 : 0;
  }
  plan->optimal = low >= high;
}

static berth_status_t fit(berth_runs_t *runs, uint64_t capacity, berth_plan_t *plan) {
  uint64_t unit = runs->sections.unit;
  berth_question_t question = {(int32_t)(capacity / unit), 0};
  berth_status_t status;
  do {
    status = berth_runs_next(runs, &question);
  } while (status == BERTH_UNDECIDED && !runs->stopped);
  if (status == BERTH_OK) keep(runs, plan);
  if (status == BERTH_INFEASIBLE) plan->lower_bound = (capacity / unit + 1) * unit;
  return status;
}

static berth_status_t search(const berth_problem_t *problem, const berth_plan_options_t *options,
                             uint64_t work_limit, void *memory_, size_t bytes, berth_plan_t *plan) {
  berth_runs_t runs = {.options = options,
                       .work_limit = work_limit,
                       .work = plan->work,
                       .best = plan->peak,
                       .lower_bound = plan->lower_bound};
  berth_workspace_t memory = berth_workspace_over(memory_, bytes);
  berth_status_t status =
      berth_sections_lay_out(&runs.sections, problem, NULL, problem->buffer_count, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status == BERTH_OK) {
    status = berth_sections_prepare(&runs.sections, NULL, problem->buffer_count);
  }
  if (status == BERTH_OK && plan->peak / runs.sections.unit >= (uint64_t)BERTH_SKYLINE_CAPACITY) {
    status = BERTH_ERROR_UNSUPPORTED;
  }
  if (status == BERTH_ERROR_UNSUPPORTED) return BERTH_OK; /* the greedy plan is all there is */
  if (status != BERTH_OK) return status;
  runs.sections.skyline.without = options->without;
  if (options->capacity != 0) {
    status = fit(&runs, options->capacity, plan);
  } else {
    minimise(&runs, plan);
  }
  plan->work += runs.sections.skyline.work;
  return status;
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *memory, size_t bytes, berth_plan_t *plan) {
  uint64_t work_limit = options->work_limit != 0 ? options->work_limit : DEFAULT_WORK;
  uint64_t enough = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
  berth_status_t status =
      berth_plan_portfolio(problem, options, enough, work_limit, memory, bytes, plan);
  if (status != BERTH_OK || plan->peak <= enough || has_pairs(problem)) return status;
  if (plan->work >= work_limit) return status;
  return search(problem, options, work_limit, memory, bytes, plan);
}

const berth_planner_t berth_planner_exact = {
    .name = "exact",
    .summary = "branch and bound: the smallest peak, proven",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = workspace,
    .make = make,
};
