/* The plan that a model may carry in its metadata, as TFLM's loader reads it.
 *
 * An entry named OfflineMemoryAllocation: int32 numbers: format version, number of subgraphs,
 * number of offsets n, then n byte offsets, one for each tensor of all subgraphs one after the
 * other; -1: not planned. (TFLM: docs/memory_management.md, micro_allocation_info.cc.)
 */
#include "run.h"

#define HEADER 3u /* numbers before the offsets */

berth_status_t berth_run_model_plan(const berth_model_t *model, uint32_t tensor_count,
                                    berth_vector_t *offsets) {
  berth_bytes_t bytes = berth_model_metadata_named(model, "OfflineMemoryAllocation");
  offsets->data = NULL;
  offsets->count = 0;
  if (bytes.data == NULL) return BERTH_OK;
  if (bytes.size < HEADER * sizeof(int32_t)) return BERTH_ERROR_FORMAT;
  berth_vector_t numbers = {bytes.data, (uint32_t)(bytes.size / sizeof(int32_t))};
  int32_t subgraphs = berth_vector_int(numbers, 1), count = berth_vector_int(numbers, 2);
  if (subgraphs < 1 || (uint32_t)subgraphs != model->subgraph_count) return BERTH_ERROR_FORMAT;
  if (count < 0 || (uint32_t)count != tensor_count) return BERTH_ERROR_FORMAT;
  if (numbers.count - HEADER < (uint32_t)count) return BERTH_ERROR_FORMAT;
  offsets->data = bytes.data + HEADER * sizeof(int32_t);
  offsets->count = (uint32_t)count;
  return BERTH_OK;
}
