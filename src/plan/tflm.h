/* TFLM's planner as the runtime itself uses it.
 *
 * The planner `tflm` refuses fixed buffers that overlap while both are live, as every planner here
 * must. TFLM does not look, and plans in place rely on that: an output that overwrites an input is
 * an overlap in the step of its operator.
 */
#ifndef BERTH_SRC_PLAN_TFLM_H
#define BERTH_SRC_PLAN_TFLM_H

#include "berth/plan.h"

/* The offsets and the peak that TFLM gets, whatever the fixed offsets are. The workspace is that of
 * berth_planner_tflm. MEMORY, OVERFLOW. */
berth_status_t berth_plan_tflm_blindly(const berth_problem_t *problem, void *workspace,
                                       size_t workspace_bytes, berth_plan_t *plan);

#endif
