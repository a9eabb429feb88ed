/* Writing the plan in a model's metadata that stock TFLM follows (BERTH_OFFLINE_PLAN). Its format
 * is told in src/model/offline_plan.c, which reads it.
 */
#ifndef BERTH_OPTIMIZE_OFFLINE_H
#define BERTH_OPTIMIZE_OFFLINE_H

#include "optimize/edit.h"

/* Puts the offsets of all tensors into the edit, instead of any plan that the file has. `count` is
 * the number of tensors of all subgraphs. Errors: MEMORY, OVERFLOW, UNSUPPORTED. */
berth_status_t berth_offline_put(berth_edit_t *edit, const int32_t *offsets, uint32_t count);

#endif
