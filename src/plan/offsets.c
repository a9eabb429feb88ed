/* The best offsets in one region: bounds, then a portfolio of greedy orders, each stage only if the
 * one before left something to win.
 *
 * It stops at the first plan that meets the lower bound or the wanted capacity, when the budget is
 * spent, or when the caller's progress callback says so; from the first greedy order on, there is
 * always a plan at hand.
 */
#include "plan/offsets.h"
#include "plan/load.h"
#include "plan/portfolio.h"
#include "plan/workspace.h"

/* Default budget in units of work. */
#define DEFAULT_WORK ((uint64_t)1 << 30)

berth_status_t berth_plan_offsets_workspace(const berth_problem_t *problem,
                                            const berth_plan_options_t *options, size_t *bytes) {
  (void)options;
  size_t load, portfolio;
  berth_status_t status = berth_plan_load_bound_workspace(problem, &load);
  if (status == BERTH_OK) status = berth_plan_portfolio_workspace(problem, &portfolio);
  if (status == BERTH_OK) *bytes = load > portfolio ? load : portfolio;
  return status;
}

berth_status_t berth_plan_offsets(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_plan_t *plan) {
  uint64_t work_limit = options->work_limit != 0 ? options->work_limit : DEFAULT_WORK;
  uint64_t load;
  berth_status_t status = berth_plan_load_bound(problem, workspace, workspace_bytes, &load);
  if (status != BERTH_OK) return status;
  if (plan->lower_bound < load) plan->lower_bound = load;
  uint64_t enough = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
  return berth_plan_portfolio(problem, options, enough, work_limit, workspace, workspace_bytes,
                              plan);
}
