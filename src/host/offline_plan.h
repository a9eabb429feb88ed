/* A plan that stock TFLM follows: offsets for its tensors, such that with the scratch buffers that
 * its kernels will ask for the head is as small as can be.
 *
 * TFLM places scratch itself, around the plan: tensors and scratch are planned together, and the
 * forecast, which places scratch as TFLM does, says what becomes of it. A plan is never worse than
 * what TFLM makes of the same model alone: if the forecast says so, there is none.
 */
#ifndef BERTH_SRC_HOST_OFFLINE_PLAN_H
#define BERTH_SRC_HOST_OFFLINE_PLAN_H

#include "berth/model.h"
#include "host/complaint.h"

typedef struct berth_offline_plan {
  int32_t *offsets; /* of the tensors of all subgraphs, -1: TFLM's choice; heap; NULL: no plan */
  uint32_t count;
  uint64_t peak;        /* of what was planned */
  uint64_t lower_bound; /* of that */
  bool with_scratch;    /* scratch was planned along; else it isn't known what TFLM will need */
  bool worse;           /* there is none because TFLM's own is smaller */
} berth_offline_plan_t;

/* Plans `model`, whatever plan it carries. Errors: MEMORY, OVERFLOW, FORMAT (no lifetimes), and
 * those of planning, which `complaint` tells. */
berth_status_t berth_offline_plan_make(const berth_model_t *model, berth_offline_plan_t *plan,
                                       berth_complaint_t *complaint);
void berth_offline_plan_free(berth_offline_plan_t *plan);

/* Head that stock TFLM, with reference kernels, needs for the model with these offsets (all -1:
 * with its own plan). False: it would not run it, or an operator's scratch is not known. */
bool berth_offline_plan_head(const berth_model_t *model, const int32_t *offsets, uint32_t count,
                             uint64_t *head);

#endif
