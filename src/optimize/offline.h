/* The plan in a model's metadata that stock TFLM follows.
 *
 * TFLM's loader looks for an entry named OfflineMemoryAllocation: int32 numbers: format version,
 * number of subgraphs, number of offsets n, then n byte offsets from the start of the head, one for
 * each tensor of all subgraphs one after the other; -1: TFLM places it itself. (TFLM:
 * docs/memory_management.md, micro_allocation_info.cc, which reads past the version.)
 */
#ifndef BERTH_OPTIMIZE_OFFLINE_H
#define BERTH_OPTIMIZE_OFFLINE_H

#include "optimize/edit.h"

#define BERTH_OFFLINE_NAME "OfflineMemoryAllocation"

/* Puts the offsets of all tensors into the edit, instead of any plan that the file has. `count` is
 * the number of tensors of all subgraphs. Errors: MEMORY, OVERFLOW, UNSUPPORTED. */
berth_status_t berth_offline_put(berth_edit_t *edit, const int32_t *offsets, uint32_t count);

#endif
