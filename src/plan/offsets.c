/* The best offsets in one region, by every means there is: each stage only if the one before left
 * something to win, and each starting from the best plan so far.
 *
 * Small problems: all greedy orders, then the exact planner, then the search. Large ones: the
 * search, whose start is greedy, then the exact planner, for what can be proven section by section.
 * It stops at the first plan that meets the lower bound or the wanted capacity, when the budget is
 * spent, or when the caller's progress callback says so.
 */
#include "plan/offsets.h"
#include "plan/bounds.h"
#include "plan/portfolio.h"
#include "plan/workspace.h"

#define DEFAULT_WORK ((uint64_t)1 << 30) /* budget in units of work */
#define WORTH        16                  /* by default: 2^16 units of search for each buffer */
#define SMALL        ((uint32_t)4096)    /* buffers for which every greedy order is tried */
#define EXACT        ((uint32_t)1 << 15) /* buffers up to which the exact planner is asked */

berth_status_t berth_plan_offsets_workspace(const berth_problem_t *problem,
                                            const berth_plan_options_t *options, size_t *bytes) {
  size_t most = 0, stage = 0;
  berth_status_t status = berth_plan_bound_workspace(problem, &most);
  if (status == BERTH_OK) status = berth_plan_portfolio_workspace(problem, &stage);
  if (status == BERTH_OK && stage > most) most = stage;
  if (status == BERTH_OK) status = berth_planner_search.workspace(problem, options, &stage);
  if (status == BERTH_OK && stage > most) most = stage;
  if (status == BERTH_OK && problem->buffer_count <= EXACT) {
    status = berth_planner_exact.workspace(problem, options, &stage);
    if (status == BERTH_OK && stage > most) most = stage;
  }
  if (status == BERTH_OK) *bytes = most;
  return status;
}

/* The caller's progress callback, which must not be asked again once it said stop. */
typedef struct watch {
  const berth_plan_options_t *options;
  bool stopped;
} watch_t;

static bool go_on(void *user, uint64_t work, uint64_t best, uint64_t lower_bound) {
  watch_t *watch = user;
  const berth_plan_options_t *options = watch->options;
  if (!watch->stopped && options->progress != NULL) {
    watch->stopped = !options->progress(options->progress_user, work, best, lower_bound);
  }
  return !watch->stopped;
}

/* One stage: `planner` with a budget of `work` units, from the plan at hand. */
static berth_status_t run(const berth_planner_t *planner, const berth_problem_t *problem,
                          const berth_plan_options_t *options, uint64_t work, void *workspace,
                          size_t workspace_bytes, berth_plan_t *plan) {
  berth_plan_options_t stage = *options;
  uint64_t before = plan->work;
  stage.work_limit = work > 0 ? work : 1;
  plan->work = 0;
  berth_status_t status = planner->make(problem, &stage, workspace, workspace_bytes, plan);
  plan->work += before;
  if (plan->optimal && plan->peak != UINT64_MAX) plan->lower_bound = plan->peak;
  return status;
}

static uint64_t left(uint64_t limit, const berth_plan_t *plan) {
  return limit > plan->work ? limit - plan->work : 0;
}

berth_status_t berth_plan_offsets(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_plan_t *plan) {
  uint64_t limit = options->work_limit != 0 ? options->work_limit : DEFAULT_WORK;
  watch_t watch = {options, false};
  berth_plan_options_t watched = *options;
  watched.progress = go_on;
  watched.progress_user = &watch;
  uint64_t bound;
  berth_status_t status = berth_plan_bound(problem, workspace, workspace_bytes, &bound);
  if (status != BERTH_OK) return status;
  if (plan->lower_bound < bound) plan->lower_bound = bound;

  bool small = problem->buffer_count <= SMALL;
  if (small) {
    uint64_t enough = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
    status = berth_plan_portfolio(problem, &watched, enough, limit / 8, workspace, workspace_bytes,
                                  plan);
    if (status != BERTH_OK) return status;
  }
  const berth_planner_t *const stages[2] = {small ? &berth_planner_exact : &berth_planner_search,
                                            small ? &berth_planner_search : &berth_planner_exact};
  for (uint32_t k = 0; k < 2; k++) {
    uint64_t enough = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
    if (plan->peak != UINT64_MAX &&
        (plan->peak <= enough || watch.stopped || left(limit, plan) == 0)) {
      break;
    }
    if (stages[k] == &berth_planner_exact && problem->buffer_count > EXACT) continue;
    uint64_t work = k == 0 ? left(limit, plan) / 4 * 3 : left(limit, plan);
    uint64_t worth = (uint64_t)problem->buffer_count << WORTH;
    if (stages[k] == &berth_planner_search && options->work_limit == 0 && worth < work) {
      work = worth;
    }
    status = run(stages[k], problem, &watched, work, workspace, workspace_bytes, plan);
    if (status < 0 || status == BERTH_INFEASIBLE) return status;
  }
  return BERTH_OK;
}
