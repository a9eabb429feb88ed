/* SPLIT, SPLIT_V and UNPACK: one tensor cut along an axis into several outputs.
 *
 * The counterpart of concatenation.c: a view where everything outside the axis is 1, row-local
 * where the axis lies within rows.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

/* Which of the operator's inputs is the data: SPLIT has the axis first. */
static uint32_t data_input(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_SPLIT ? 1 : 0;
}

static berth_status_t find_axis(berth_call_t *call, uint32_t rank, uint32_t *axis) {
  int64_t number;
  if (call->op.code == BERTH_BUILTIN_UNPACK) {
    number = berth_option_int(call->op.options, BERTH_UNPACK_AXIS, 0);
  } else {
    berth_value_t where = berth_input(call, call->op.code == BERTH_BUILTIN_SPLIT ? 0 : 2);
    if (!berth_shape_is_int(&where) || where.elements != 1)
      return berth_refuse(call, "the axis must be one integer");
    number = berth_shape_int(&where, 0);
  }
  return berth_shape_axis(number, rank, axis) ? BERTH_OK
                                              : berth_refuse(call, "the axis does not exist");
}

/* The length along the axis of output `index`, of `length` in all; -1: it doesn't come out. */
static int64_t part(const berth_call_t *call, uint32_t index, int32_t length) {
  uint32_t count = call->op.outputs.count;
  if (call->op.code == BERTH_BUILTIN_UNPACK) return (uint32_t)length == count ? 1 : -1;
  if (call->op.code == BERTH_BUILTIN_SPLIT)
    return (uint32_t)length % count == 0 ? (int64_t)((uint32_t)length / count) : -1;

  berth_value_t sizes = berth_input(call, 1);
  int64_t sum = 0, wildcard = -1;
  for (uint32_t i = 0; i < count; i++) {
    int64_t size = berth_shape_int(&sizes, i);
    if (size == -1 && wildcard < 0) {
      wildcard = i;
      continue;
    }
    if (size < 0 || size > length) return -1;
    sum += size;
  }
  if (sum > length || (wildcard < 0 && sum != length)) return -1;
  return wildcard == (int64_t)index ? length - sum : berth_shape_int(&sizes, index);
}

/* Is the axis within the rows of the input, and are those of the outputs the same? */
static bool is_row_local(const berth_call_t *call, const berth_value_t *input, uint32_t axis) {
  uint32_t row = berth_row_dimension(input->rank, input->dims);
  if (input->rank < 3 || axis <= row) return false;
  /* Of a single row, an empty part would have none. */
  if (call->op.code != BERTH_BUILTIN_UNPACK)
    return input->dims[row] != 1 || axis + 1 == input->rank;
  int32_t dims[BERTH_RANK_MAX];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < input->rank; d++)
    if (d != axis) dims[rank++] = input->dims[d];
  return rank >= 3 && berth_shape_rows_match(dims, rank, input->dims, input->rank);
}

static berth_status_t set_shapes(berth_call_t *call, bool state, uint32_t *axis) {
  berth_value_t input = berth_input(call, data_input(call));
  berth_status_t status = find_axis(call, input.rank, axis);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    int64_t size = part(call, i, input.dims[*axis]);
    if (size < 0) return berth_refuse(call, "the parts do not make up the input");
    int32_t dims[BERTH_RANK_MAX];
    uint32_t rank = 0;
    for (uint32_t d = 0; d < input.rank; d++) {
      if (d == *axis && call->op.code == BERTH_BUILTIN_UNPACK) continue;
      dims[rank++] = d == *axis ? (int32_t)size : input.dims[d];
    }
    status = state ? berth_set_shape(call, i, rank, dims) : BERTH_OK;
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* Are the axis and sizes given by tensors that have to be computed first? */
static bool is_computed(const berth_call_t *call) {
  if (call->op.code == BERTH_BUILTIN_UNPACK) return false;
  if (call->op.code == BERTH_BUILTIN_SPLIT) return !berth_input(call, 0).constant;
  return !berth_input(call, 1).constant || !berth_input(call, 2).constant;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, data_input(call));
  uint32_t count = call->op.outputs.count, axis;
  if (!input.present || count == 0) return berth_refuse(call, "needs an input and an output");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  if (call->op.code == BERTH_BUILTIN_SPLIT && !berth_input(call, 0).present)
    return berth_refuse(call, "needs an axis");
  if (call->op.code == BERTH_BUILTIN_SPLIT_V) {
    berth_value_t sizes = berth_input(call, 1);
    if (!sizes.present || !berth_input(call, 2).present)
      return berth_refuse(call, "needs sizes and an axis");
    if (!berth_shape_is_int(&sizes) || sizes.elements != count)
      return berth_refuse(call, "the sizes must be one integer for each output");
  }
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t output = berth_output(call, i);
    if (!output.present) return berth_refuse(call, "an output is missing");
    if (output.type != input.type) return berth_refuse(call, "cannot change the type");
  }
  if (is_computed(call)) {
    for (uint32_t i = 0; i < count; i++) {
      berth_status_t status = berth_set_unknown(call, i);
      if (status != BERTH_OK) return status;
    }
    return BERTH_OK;
  }

  berth_status_t status = set_shapes(call, true, &axis);
  if (status != BERTH_OK) return status;
  if (berth_shape_product(input.dims, 0, axis) == 1) contract->view = BERTH_VIEW_SPLIT;
  if (is_row_local(call, &input, axis)) {
    contract->kind = BERTH_ROW_LOCAL;
    for (uint32_t i = 0; i < BERTH_WINDOWS_MAX; i++)
      contract->windows[i] = i == data_input(call) ? berth_window_same() : berth_window_all();
  }
  return BERTH_OK;
}

static berth_status_t eval(berth_call_t *call) {
  uint32_t axis;
  berth_status_t status = set_shapes(call, is_computed(call), &axis);
  berth_value_t input = berth_input(call, data_input(call));
  if (status != BERTH_OK || input.bytes == 0) return status;

  bool by_rows = !is_computed(call) && is_row_local(call, &input, axis);
  uint32_t outer = by_rows ? berth_row_dimension(input.rank, input.dims) + 1 : 0;
  uint32_t slices = berth_shape_product(input.dims, outer, axis);
  uint32_t first = by_rows ? call->first_row : 0, last = by_rows ? call->last_row : 1;
  size_t input_slice = (by_rows ? input.row_bytes : input.bytes) / slices;
  size_t start = 0;
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    size_t slice = (by_rows ? output.row_bytes : output.bytes) / slices;
    for (uint32_t row = first; row < last && slice > 0; row++) {
      const uint8_t *from = (by_rows ? (uint8_t *)berth_row(&input, row) : input.data) + start;
      uint8_t *to = by_rows ? berth_row(&output, row) : output.data;
      for (uint32_t s = 0; s < slices; s++, from += input_slice, to += slice)
        if (to != from) memmove(to, from, slice);
    }
    start += slice;
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_split = {
    .code = BERTH_BUILTIN_SPLIT, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_split_v = {
    .code = BERTH_BUILTIN_SPLIT_V, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_unpack = {
    .code = BERTH_BUILTIN_UNPACK, .prepare = prepare, .eval = eval};
