/* CONCATENATION and PACK: tensors one after the other along one axis.
 *
 * Where everything outside the axis is 1, the inputs are the bytes of the output one after the
 * other: a planner places them inside it and nothing is copied. Where the axis lies within rows,
 * the operators are row-local. uint8 inputs of another scale than the output's are requantized in
 * float, as stock TFLite's kernel does; other quantized types must agree, as it demands.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <math.h>
#include <string.h>

static bool is_pack(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_PACK;
}

static berth_status_t find_axis(berth_call_t *call, uint32_t input_rank, uint32_t *axis) {
  int32_t option = is_pack(call) ? berth_option_int(call->op.options, BERTH_PACK_AXIS, 0)
                                 : berth_option_int(call->op.options, BERTH_CONCATENATION_AXIS, 0);
  if (!berth_shape_axis(option, input_rank + (is_pack(call) ? 1 : 0), axis))
    return berth_refuse(call, "the axis does not exist");
  return BERTH_OK;
}

/* Does the input go into the output as it is? */
static bool same_scale(const berth_value_t *input, const berth_value_t *output) {
  return output->type != BERTH_TYPE_UINT8 || (input->scale == output->scale && // NOLINT
                                              input->zero_point == output->zero_point);
}

/* Is the axis within the rows of the first input (and so of all), and are those of the output,
 * which has these dimensions, the same? */
static bool is_row_local(const berth_value_t *first, uint32_t axis, const int32_t *dims,
                         uint32_t rank) {
  return first->rank >= 3 && axis > berth_row_dimension(first->rank, first->dims) &&
         axis > berth_row_dimension(rank, dims) &&
         berth_shape_rows_match(first->dims, first->rank, dims, rank);
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t first = berth_input(call, 0), output = berth_output(call, 0);
  uint32_t count = call->op.inputs.count, axis;
  if (!first.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (!is_pack(call) && berth_option_byte(call->op.options, BERTH_CONCATENATION_ACTIVATION, 0) !=
                            BERTH_ACTIVATION_NONE)
    return berth_refuse(call, "cannot apply an activation");
  if (berth_element_bytes(first.type) == 0) return berth_refuse(call, "cannot take this type");
  berth_status_t status = find_axis(call, first.rank, &axis);
  if (status != BERTH_OK) return status;
  if (is_pack(call) && first.rank == BERTH_RANK_MAX)
    return berth_refuse(call, "too many dimensions");

  int64_t length = 0;
  bool as_is = true;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t input = berth_input(call, i);
    if (!input.present) return berth_refuse(call, "an input is missing");
    if (input.type != output.type) return berth_refuse(call, "all types must be the same");
    if (input.rank != first.rank) return berth_refuse(call, "the inputs' ranks differ");
    for (uint32_t d = 0; d < first.rank; d++)
      if ((d != axis || is_pack(call)) && input.dims[d] != first.dims[d])
        return berth_refuse(call, "the inputs' shapes differ beside the axis");
    length += is_pack(call) ? 1 : input.dims[axis];
    if (same_scale(&input, &output)) continue;
    as_is = false;
    if (!(input.scale > 0 && isfinite(input.scale) && output.scale > 0 && isfinite(output.scale)))
      return berth_refuse(call, "a scale is missing");
  }
  if (length > INT32_MAX) return berth_refuse(call, "the inputs are too long");

  int32_t dims[BERTH_RANK_MAX];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < first.rank; d++) {
    if (is_pack(call) && d == axis) dims[rank++] = (int32_t)length;
    dims[rank++] = d == axis && !is_pack(call) ? (int32_t)length : first.dims[d];
  }
  if (is_pack(call) && axis == first.rank) dims[rank++] = (int32_t)length;
  if (as_is && berth_shape_product(dims, 0, axis) == 1) contract->view = BERTH_VIEW_CONCAT;
  if (is_row_local(&first, axis, dims, rank)) {
    contract->kind = BERTH_ROW_LOCAL;
    for (uint32_t i = 0; i < BERTH_WINDOWS_MAX; i++) contract->windows[i] = berth_window_same();
  }
  return berth_set_shape(call, 0, rank, dims);
}

static void requantize(uint8_t *to, const uint8_t *from, uint32_t count, const berth_value_t *input,
                       const berth_value_t *output) {
  float scale = input->scale * (1.0f / output->scale);
  float bias = (float)-input->zero_point * scale;
  for (uint32_t i = 0; i < count; i++) {
    float value = roundf((float)from[i] * scale + bias) + (float)output->zero_point;
    to[i] = (uint8_t)fminf(fmaxf(value, 0.0f), 255.0f);
  }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input_0 = berth_input(call, 0), output = berth_output(call, 0);
  uint32_t axis, count = call->op.inputs.count;
  berth_status_t status = find_axis(call, input_0.rank, &axis);
  if (status != BERTH_OK || output.bytes == 0) return status;

  /* A slice is everything within the axis: one row has several, or the tensor has one or more. */
  bool by_rows = is_row_local(&input_0, axis, output.dims, output.rank);
  uint32_t outer = by_rows ? berth_row_dimension(output.rank, output.dims) + 1 : 0;
  uint32_t slices = berth_shape_product(output.dims, outer, axis);
  uint32_t first = by_rows ? call->first_row : 0, last = by_rows ? call->last_row : 1;
  size_t output_slice = (by_rows ? output.row_bytes : output.bytes) / slices;
  size_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t input = berth_input(call, i);
    size_t slice = (by_rows ? input.row_bytes : input.bytes) / slices;
    bool as_is = same_scale(&input, &output);
    for (uint32_t row = first; row < last && slice > 0; row++) {
      const uint8_t *from = by_rows ? berth_row(&input, row) : input.data;
      uint8_t *to = (by_rows ? (uint8_t *)berth_row(&output, row) : output.data) + start;
      for (uint32_t s = 0; s < slices; s++, from += slice, to += output_slice) {
        if (!as_is)
          requantize(to, from, (uint32_t)slice, &input, &output);
        else if (to != from)
          memmove(to, from, slice);
      }
    }
    start += slice;
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_concatenation = {
    .code = BERTH_BUILTIN_CONCATENATION, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_pack = {
    .code = BERTH_BUILTIN_PACK, .prepare = prepare, .eval = eval};
