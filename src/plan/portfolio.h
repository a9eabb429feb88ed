/* A portfolio of greedy orders: the quick plans that `best` starts from. */
#ifndef BERTH_SRC_PLAN_PORTFOLIO_H
#define BERTH_SRC_PLAN_PORTFOLIO_H

#include "berth/plan.h"

/* Tries one greedy order after the other and keeps the lowest peak in `plan` (whose peak is
 * UINT64_MAX, or that of a plan it already holds). Stops as soon as the peak is at most `enough`,
 * when the work exceeds `work_limit` (checked between orders; one is always tried), or when
 * options->progress says so. INFEASIBLE: proven by the fixed offsets. */
berth_status_t berth_plan_portfolio(const berth_problem_t *problem,
                                    const berth_plan_options_t *options, uint64_t enough,
                                    uint64_t work_limit, void *workspace, size_t workspace_bytes,
                                    berth_plan_t *plan);
berth_status_t berth_plan_portfolio_workspace(const berth_problem_t *problem, size_t *bytes);

#endif
