/* What the rules of tflm_rules.c and tflm_cmsis.c are written with: an operator's tensors and the
 * memory that its Prepare asks for. */
#ifndef BERTH_SRC_STOCK_TFLM_CALL_H
#define BERTH_SRC_STOCK_TFLM_CALL_H

#include "berth/graph.h"
#include "stock/tflm_kernels.h"

#define TOO_LARGE                                                                                  \
  (UINT64_C(1) << 40) /* bytes: no arena of TFLM's is as large (it counts in int)                  \
                       */

/* ---- The operator's tensors ------------------------------------------------------------------ */

/* Input (or output) number `index`; false where it is left out. */
static inline bool tensor_of(const berth_tflm_call_t *call, berth_vector_t list, uint32_t index,
                             berth_tensor_t *tensor) {
  int32_t number = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (number == BERTH_NO_TENSOR) return false;
  *tensor = berth_model_tensor(call->model, call->subgraph, (uint32_t)number);
  return true;
}

/* The same, but it must be there: else the kernel refuses. */
static inline bool need(berth_tflm_call_t *call, berth_vector_t list, uint32_t index,
                        berth_tensor_t *tensor) {
  if (tensor_of(call, list, index, tensor)) return true;
  call->refusal = "an operand is missing";
  return false;
}

static inline bool need_input(berth_tflm_call_t *call, uint32_t index, berth_tensor_t *tensor) {
  return need(call, call->op->inputs, index, tensor);
}

static inline bool need_output(berth_tflm_call_t *call, uint32_t index, berth_tensor_t *tensor) {
  return need(call, call->op->outputs, index, tensor);
}

/* One extent; counted from the end where `index` is negative. 1 where there is no such dimension.
 */
static inline uint64_t extent(const berth_tensor_t *tensor, int32_t index) {
  int32_t rank = (int32_t)tensor->shape.count;
  if (index < 0) index += rank;
  if (index < 0 || index >= rank) return 1;
  return (uint64_t)berth_vector_int(tensor->shape, (uint32_t)index);
}

static inline uint64_t elements(berth_tflm_call_t *call, const berth_tensor_t *tensor) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < tensor->shape.count; i++) {
    uint64_t length = extent(tensor, (int32_t)i);
    if (length != 0 && count > TOO_LARGE / length) {
      call->overflow = true;
      return 0;
    }
    count *= length;
  }
  return count;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static inline uint64_t product(berth_tflm_call_t *call, uint64_t a, uint64_t b) {
  if (b != 0 && a > TOO_LARGE / b) {
    call->overflow = true;
    return 0;
  }
  return a * b;
}

static inline void scratch(berth_tflm_call_t *call, uint64_t count, uint64_t each) {
  if (call->scratch_count == BERTH_TFLM_SCRATCH_MAX) {
    call->refusal = "it requests more than 12 scratch buffers";
    return;
  }
  call->scratch[call->scratch_count++] = product(call, count, each);
}

static inline void keep(berth_tflm_call_t *call, uint64_t count, uint64_t each) {
  call->arrays[call->array_count++] = product(call, count, each);
}

/* Multiplier and shift of every output channel. */
static inline void keep_channels(berth_tflm_call_t *call, uint64_t channels) {
  keep(call, channels, 4);
  keep(call, channels, 4);
}

/* Is the pair of types one that the weighted kernels run? */
static inline bool weights_fit(berth_tflm_call_t *call, const berth_tensor_t *input,
                               const berth_tensor_t *weights) {
  bool fits = (input->type == BERTH_TYPE_FLOAT32 && weights->type == BERTH_TYPE_FLOAT32) ||
              (input->type == BERTH_TYPE_INT16 && weights->type == BERTH_TYPE_INT8) ||
              (input->type == BERTH_TYPE_INT8 &&
               (weights->type == BERTH_TYPE_INT8 || weights->type == BERTH_TYPE_INT4));
  if (fits) return true;
  bool hybrid = input->type == BERTH_TYPE_FLOAT32;
  call->refusal = hybrid ? "it runs no hybrid models (float activations, other weights)"
                         : "it takes no activations or weights of these types";
  return false;
}

#endif
