/* What kind of problem is it? */
#ifndef BERTH_SRC_PLAN_PLANNER_H
#define BERTH_SRC_PLAN_PLANNER_H

#include "berth/plan.h"

/* Is there more to decide than offsets: several regions, APART pairs, or constants that may stay
 * outside of one? */
bool berth_plan_has_regions(const berth_problem_t *problem);

#endif
