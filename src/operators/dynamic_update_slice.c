/* DYNAMIC_UPDATE_SLICE: a copy of a tensor in which a box, whose place is computed, is another. The
 * box is moved to where it fits. Over its input where it may, and then only the box is written. */
#include "operators/kernels.h"
#include "operators/shape.h"
#include "operators/strided.h"
#include <string.h>

enum { OPERAND, UPDATE, START };

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t operand = berth_input(call, OPERAND), update = berth_input(call, UPDATE);
  berth_value_t start = berth_input(call, START), output = berth_output(call, 0);
  if (!operand.present || !update.present || !start.present || !output.present)
    return berth_refuse(call, "needs three inputs and an output");
  if (operand.type != output.type || update.type != output.type)
    return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(output.type) == 0) return berth_refuse(call, "cannot take this type");
  if (!berth_shape_is_int(&start) || start.rank != 1 || start.elements != operand.rank)
    return berth_refuse(call, "the start must be one integer for each dimension");
  if (update.rank != operand.rank) return berth_refuse(call, "the update has another rank");
  for (uint32_t i = 0; i < operand.rank; i++)
    if (update.dims[i] > operand.dims[i]) return berth_refuse(call, "the update is too large");
  contract->in_place = 1u << OPERAND;
  return berth_set_shape(call, 0, operand.rank, operand.dims);
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t operand = berth_input(call, OPERAND), update = berth_input(call, UPDATE);
  berth_value_t start = berth_input(call, START), output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;
  if (output.data != operand.data) memcpy(output.data, operand.data, output.bytes);
  uint32_t element = berth_element_bytes(output.type), dims[BERTH_RANK_MAX];
  berth_strided_t copy = {.rank = output.rank};
  for (uint32_t i = 0; i < output.rank; i++) {
    dims[i] = (uint32_t)output.dims[i];
    copy.dims[i] = (uint32_t)update.dims[i];
  }
  berth_strided_contiguous(copy.dims, copy.rank, element, copy.from);
  berth_strided_contiguous(dims, copy.rank, element, copy.to);
  ptrdiff_t at = 0;
  for (uint32_t i = 0; i < output.rank; i++) {
    int64_t first = berth_shape_int(&start, i), last = output.dims[i] - update.dims[i];
    first = first < 0 ? 0 : first > last ? last : first;
    at += copy.to[i] * (ptrdiff_t)first;
  }
  if (update.bytes > 0) berth_strided_copy(output.data + at, update.data, &copy, element);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_dynamic_update_slice = {
    .code = BERTH_BUILTIN_DYNAMIC_UPDATE_SLICE, .prepare = prepare, .eval = eval};
