/* The plan that a model may carry in its metadata, as TFLM's loader reads it.
 *
 * An entry named OfflineMemoryAllocation: int32 numbers: format version, number of subgraphs (older
 * writers: the number of one), number of offsets n, then n byte offsets, one for each tensor of all
 * subgraphs one after the other; -1: not planned. The loader looks at n alone, and so does this:
 * what TFLM takes must be taken here, too. (TFLM: docs/memory_management.md,
 * micro_allocation_info.cc.)
 *
 * The interpreter, the plan checker, the forecast of TFLM's memory and the optimizer all read it
 * here.
 */
#include "berth/model.h"

#define HEADER 3u /* numbers before the offsets */

static berth_status_t refuse(const char **fault, const char *text) {
  if (fault != NULL) *fault = text;
  return BERTH_ERROR_FORMAT;
}

berth_status_t berth_model_offline_plan(const berth_model_t *model, berth_vector_t *offsets,
                                        const char **fault) {
  berth_bytes_t bytes = berth_model_metadata_named(model, BERTH_OFFLINE_PLAN);
  if (bytes.data == NULL) {
    *offsets = (berth_vector_t){NULL, 0};
    return BERTH_OK;
  }
  if (bytes.size / sizeof(int32_t) < HEADER) return refuse(fault, "is too short");
  if (bytes.size / sizeof(int32_t) > INT32_MAX) return refuse(fault, "is too long");
  berth_vector_t numbers = {bytes.data, (uint32_t)(bytes.size / sizeof(int32_t))};
  uint64_t tensors = 0;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    tensors += berth_model_subgraph(model, s).tensor_count;
  }
  int32_t count = berth_vector_int(numbers, HEADER - 1);
  if (count < 0 || (uint64_t)count != tensors) {
    return refuse(fault, "has not one offset for each tensor");
  }
  if (numbers.count - HEADER < (uint32_t)count) {
    return refuse(fault, "ends before its last offset");
  }
  for (uint32_t i = 0; i < (uint32_t)count; i++) {
    if (berth_vector_int(numbers, HEADER + i) < -1) return refuse(fault, "has a negative offset");
  }
  *offsets = (berth_vector_t){bytes.data + HEADER * sizeof(int32_t), (uint32_t)count};
  return BERTH_OK;
}
