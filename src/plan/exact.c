/* The exact planner: proves that its plan is the smallest, or that none fits.
 *
 * Greedy plans first, for they often meet the lower bound. Then branch and bound: the question
 * "does it fit into this capacity" is put to the skyline search (exact_skyline.h), run after run.
 * With SHARE, HEAD or TAIL pairs, to another one (exact_pairs.h).
 *
 * To minimise, runs for the lowest capacity not yet excluded take turns with runs for one between
 * that and the best plan; each answer moves one end, until they meet. The result depends on the
 * problem and the options only. Cost: exponential at worst, limited by the budget.
 */
#include "plan/exact_pairs.h"
#include "plan/exact_runs.h"
#include "plan/portfolio.h"
#include "plan/workspace.h"

/* Default budget in units of work. */
#define DEFAULT_WORK ((uint64_t)1 << 31)

/* Once a round has not settled the lower end, only every so many runs are for it. */
enum { PROOF_SHARE = 8 };

/* Budget of the first try of a capacity, with pairs. */
#define PAIRS_SLICE ((uint64_t)1 << 16)

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
  if (!has_pairs(problem)) return BERTH_OK;
  berth_workspace_t memory = berth_workspace_measure();
  berth_pairs_t pairs;
  status = berth_pairs_lay_out(&pairs, problem, &memory);
  if (status != BERTH_OK) return status == BERTH_ERROR_UNSUPPORTED ? BERTH_OK : status;
  status = berth_workspace_needed(&memory, &fits);
  if (status == BERTH_OK && fits > *bytes) *bytes = fits;
  return status;
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

/* A capacity between what is excluded and what is reached, the closer to the latter the more often
 * nothing came of it. */
static int32_t upper_target(int32_t low, int32_t high, uint32_t failures) {
  uint32_t shift = failures < 29 ? 1 + failures : 30;
  return high - 1 - (high - low) / ((int32_t)1 << shift);
}

static void minimise(berth_runs_t *runs, berth_plan_t *plan) {
  uint64_t unit = runs->sections.unit;
  uint64_t bound = plan->lower_bound / unit + (plan->lower_bound % unit != 0);
  int32_t low = (int32_t)bound, high = (int32_t)(plan->peak / unit);
  berth_question_t proof = {.capacity = -1, .elite = runs->sections.elite[0]};
  berth_question_t improvement = {.capacity = -1, .elite = runs->sections.elite[1]};
  uint32_t excluded = 0; /* how often the lower end has been excluded in a row */
  for (uint32_t turn = 0; low < high && !runs->stopped; turn++) {
    bool lower = turn % (proof.rounds > 0 ? PROOF_SHARE : 2) == 0;
    berth_question_t *question = lower ? &proof : &improvement;
    int32_t capacity =
        lower ? lower_target(low, high, excluded) : upper_target(low, high, improvement.rounds);
    berth_question_ask(question, capacity);
    berth_status_t status = berth_runs_next(runs, question);
    if (status == BERTH_OK) {
      high = berth_runs_peak(runs);
      keep(runs, plan);
      runs->best = plan->peak;
      if (!lower && improvement.rounds > 0) improvement.rounds--;
    } else if (status == BERTH_INFEASIBLE) {
      low = capacity + 1;
      plan->lower_bound = runs->lower_bound = (uint64_t)low * unit;
    }
    if (lower) excluded = status == BERTH_INFEASIBLE ? excluded + 1 : 0;
  }
  plan->optimal = low >= high;
}

static berth_status_t fit(berth_runs_t *runs, uint64_t capacity, berth_plan_t *plan) {
  uint64_t unit = runs->sections.unit;
  berth_question_t question = {.capacity = (int32_t)(capacity / unit),
                               .elite = runs->sections.elite[0]};
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

/* With pairs: halves the range between what is excluded and what is reached. An undecided capacity
 * is tried again with twice the budget, after those closer to the best plan. */
static berth_status_t search_pairs(const berth_problem_t *problem,
                                   const berth_plan_options_t *options, uint64_t work_limit,
                                   void *memory_, size_t bytes, berth_plan_t *plan) {
  berth_pairs_t pairs;
  berth_workspace_t memory = berth_workspace_over(memory_, bytes);
  berth_status_t status = berth_pairs_lay_out(&pairs, problem, &memory);
  if (status == BERTH_ERROR_UNSUPPORTED) return BERTH_OK; /* the greedy plan is all there is */
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status == BERTH_OK) status = berth_pairs_prepare(&pairs);
  if (status != BERTH_OK) return status;

  uint64_t before = plan->work, slice = PAIRS_SLICE;
  uint64_t enough = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
  uint64_t capacity = enough; /* to be tried next */
  while (plan->peak > enough && plan->lower_bound <= enough) {
    status = berth_pairs_fit(&pairs, (int64_t)capacity, slice);
    plan->work = before + pairs.work;
    if (status == BERTH_OK) {
      berth_pairs_write(&pairs, plan);
    } else if (status == BERTH_INFEASIBLE) {
      plan->lower_bound = capacity + 1;
      if (options->capacity == 0) enough = plan->lower_bound;
    }
    if (plan->work >= work_limit ||
        (options->progress != NULL &&
         !options->progress(options->progress_user, plan->work, plan->peak, plan->lower_bound))) {
      break;
    }
    if (status != BERTH_UNDECIDED) {
      capacity = plan->lower_bound + (plan->peak - plan->lower_bound) / 2;
      slice = PAIRS_SLICE;
    } else if (capacity + 1 < plan->peak) {
      capacity += (plan->peak - capacity) / 2;
    } else {
      capacity = plan->lower_bound;
      slice *= 4;
    }
    if (slice > work_limit - plan->work) slice = work_limit - plan->work;
  }
  plan->optimal = plan->peak <= plan->lower_bound;
  return options->capacity != 0 && plan->lower_bound > options->capacity ? BERTH_INFEASIBLE
                                                                         : BERTH_OK;
}

static berth_status_t make(const berth_problem_t *problem, const berth_plan_options_t *options,
                           void *memory, size_t bytes, berth_plan_t *plan) {
  uint64_t work_limit = options->work_limit != 0 ? options->work_limit : DEFAULT_WORK;
  uint64_t enough = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
  berth_status_t status =
      berth_plan_portfolio(problem, options, enough, work_limit, memory, bytes, plan);
  if (status != BERTH_OK || plan->peak <= enough || plan->work >= work_limit) return status;
  if (has_pairs(problem)) {
    return search_pairs(problem, options, work_limit, memory, bytes, plan);
  }
  return search(problem, options, work_limit, memory, bytes, plan);
}

const berth_planner_t berth_planner_exact = {
    .name = "exact",
    .summary = "branch and bound: the smallest peak, proven",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = workspace,
    .make = make,
};
