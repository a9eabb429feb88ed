/* The groups that SHARE pairs make: buffers of one group have one offset and never conflict. */
#ifndef BERTH_SRC_PLAN_SHARE_H
#define BERTH_SRC_PLAN_SHARE_H

#include "berth/plan.h"

/* Fills group[i] with the smallest index in buffer i's group. Near O(buffers + pairs). */
void berth_plan_share_groups(const berth_problem_t *problem, uint32_t *group);

#endif
