/* Sizes: the bytes of a tensor, and the buffers that a planner is given for a graph's tensors.
 *
 * Everything is checked before it is multiplied or rounded, since shapes come from a file.
 */
#include "berth/graph.h"
#include "plan/round.h"

static uint32_t element_bits(berth_tensor_type_t type) {
  /* Stock runtimes keep a resource as the 32-bit number by which its owner knows it. */
  return type == BERTH_TYPE_RESOURCE ? 32u : berth_tensor_type_bits(type);
}

uint32_t berth_tensor_align(berth_tensor_type_t type) {
  uint32_t bytes = element_bits(type) / 8;
  return bytes > 1 ? bytes : 1;
}

berth_status_t berth_tensor_bytes(berth_tensor_type_t type, berth_vector_t shape, uint64_t *bytes) {
  uint32_t bits = element_bits(type);
  if (bits == 0) return BERTH_ERROR_FORMAT;

  bool empty = false;
  for (uint32_t i = 0; i < shape.count; i++) {
    int32_t extent = berth_vector_int(shape, i);
    if (extent < 0) return BERTH_ERROR_FORMAT;
    if (extent == 0) empty = true;
  }
  uint64_t elements = empty ? 0 : 1;
  for (uint32_t i = 0; i < shape.count && !empty; i++) {
    uint64_t extent = (uint64_t)berth_vector_int(shape, i);
    if (elements > (uint64_t)INT64_MAX / extent) return BERTH_ERROR_OVERFLOW;
    elements *= extent;
  }

  if (bits < 8) {
    uint64_t each = 8 / bits;
    *bytes = elements / each + (elements % each != 0);
    return BERTH_OK;
  }
  if (elements > (uint64_t)INT64_MAX / (bits / 8)) return BERTH_ERROR_OVERFLOW;
  *bytes = elements * (bits / 8);
  return BERTH_OK;
}

berth_status_t berth_graph_buffers(const berth_graph_t *graph, uint32_t align,
                                   berth_buffer_t *buffers, uint32_t *tensors, uint32_t *count) {
  if (align == 0 || (align & (align - 1)) != 0) return BERTH_ERROR_ARGUMENT;

  uint32_t found = 0;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_ARENA_RW &&
        tensor->allocation != BERTH_ALLOCATION_PERSISTENT) {
      continue;
    }
    berth_tensor_t info = berth_model_tensor(graph->model, tensor->subgraph, tensor->tensor);
    uint64_t unit = berth_tensor_align(info.type);
    if (unit < align) unit = align;
    if (tensor->bytes > (uint64_t)INT64_MAX - unit) return BERTH_ERROR_OVERFLOW;

    berth_buffer_t buffer =
        berth_buffer(berth_round_up(tensor->bytes, unit), tensor->first, tensor->last);
    buffer.align = unit;
    uint64_t moves = 1 + (uint64_t)tensor->reader_count;
    if (tensor->bytes > UINT64_MAX / moves) return BERTH_ERROR_OVERFLOW;
    buffer.traffic = tensor->bytes * moves;
    buffers[found] = buffer;
    tensors[found] = i;
    found++;
  }
  *count = found;
  return BERTH_OK;
}
