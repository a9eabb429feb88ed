/* What a kernel asks of the operator it is called for, and what it answers.
 *
 * Thin: tensors and shapes belong to whoever made the berth_call_t (the interpreter, or a test),
 * and are reached through its two function pointers. Only argument checks live here.
 */
#include "berth/operator.h"

/* The tensor at position `index` of an operator's list; absent if the list is shorter or has
 * BERTH_NO_TENSOR there. */
static berth_value_t value_at(const berth_call_t *call, berth_vector_t list, uint32_t index) {
  int32_t tensor = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (tensor < 0) return (berth_value_t){.present = false, .ring = 1};
  return call->tensor(call, (uint32_t)tensor);
}

berth_value_t berth_input(const berth_call_t *call, uint32_t index) {
  return value_at(call, call->op.inputs, index);
}

berth_value_t berth_output(const berth_call_t *call, uint32_t index) {
  return value_at(call, call->op.outputs, index);
}

berth_value_t berth_intermediate(const berth_call_t *call, uint32_t index) {
  return value_at(call, call->op.intermediates, index);
}

/* The tensor of output number `output`, or BERTH_NO_TENSOR. */
static int32_t output_tensor(const berth_call_t *call, uint32_t output) {
  if (output >= call->op.outputs.count) return BERTH_NO_TENSOR;
  return berth_vector_int(call->op.outputs, output);
}

berth_status_t berth_set_shape(berth_call_t *call, uint32_t output, uint32_t rank,
                               const int32_t *dims) {
  int32_t tensor = output_tensor(call, output);
  if (tensor < 0 || rank > BERTH_RANK_MAX) return BERTH_ERROR_ARGUMENT;
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] < 0) return BERTH_ERROR_ARGUMENT;
    elements *= (uint32_t)dims[i];
    if (elements > UINT32_MAX) return BERTH_ERROR_OVERFLOW;
  }
  return call->shape(call, (uint32_t)tensor, rank, dims);
}

berth_status_t berth_set_unknown(berth_call_t *call, uint32_t output) {
  int32_t tensor = output_tensor(call, output);
  if (tensor < 0) return BERTH_ERROR_ARGUMENT;
  return call->shape(call, (uint32_t)tensor, BERTH_RANK_UNKNOWN, NULL);
}

berth_status_t berth_refuse(berth_call_t *call, const char *why) {
  call->why = why;
  return BERTH_ERROR_OPERATOR;
}

void berth_contract_elementwise(berth_contract_t *contract) {
  contract->kind = BERTH_ROW_LOCAL;
  contract->in_place = UINT32_MAX;
  for (uint32_t i = 0; i < BERTH_WINDOWS_MAX; i++) {
    contract->windows[i] = (berth_window_t){.numerator = 1, .denominator = 1, .extent = 1};
  }
}

void *berth_keep(const berth_call_t *call, uint32_t slot, uint32_t bytes, bool *kept) {
  *kept = false;
  return call->keep != NULL ? call->keep(call, slot, bytes, kept) : NULL;
}
