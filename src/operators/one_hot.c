/* ONE_HOT: each index becomes a vector, along a new axis, that has one value at the index and
 * another elsewhere. An index that is out of range marks nothing. */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

enum { INDICES, DEPTH, ON, OFF };

/* The output's shape, and the position of the new axis in it. */
static berth_status_t read_shape(berth_call_t *call, int32_t *dims, uint32_t *axis) {
  berth_value_t indices = berth_input(call, INDICES), depth = berth_input(call, DEPTH);
  int64_t length = berth_shape_int(&depth, 0);
  int32_t place = berth_option_int(call->op.options, BERTH_ONE_HOT_AXIS, 0);
  if (length < 0 || length > INT32_MAX) return berth_refuse(call, "the depth is out of range");
  if (indices.rank == BERTH_RANK_MAX) return berth_refuse(call, "has too many dimensions");
  if (!berth_shape_axis(place, indices.rank + 1, axis))
    return berth_refuse(call, "the axis is out of range");
  for (uint32_t i = 0; i <= indices.rank; i++)
    dims[i] = i < *axis ? indices.dims[i] : i == *axis ? (int32_t)length : indices.dims[i - 1];
  return BERTH_OK;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t indices = berth_input(call, INDICES), depth = berth_input(call, DEPTH);
  berth_value_t on = berth_input(call, ON), off = berth_input(call, OFF);
  berth_value_t output = berth_output(call, 0);
  if (!indices.present || !depth.present || !on.present || !off.present || !output.present)
    return berth_refuse(call, "needs four inputs and an output");
  if (!berth_shape_is_int(&indices) || depth.type != BERTH_TYPE_INT32)
    return berth_refuse(call, "the indices and the depth must be integers");
  if (on.type != output.type || off.type != output.type || berth_element_bytes(output.type) == 0)
    return berth_refuse(call, "cannot take these types");
  if (depth.elements != 1 || on.elements != 1 || off.elements != 1)
    return berth_refuse(call, "the depth and both values must be one number");
  if (!depth.constant) return berth_set_unknown(call, 0);
  int32_t dims[BERTH_RANK_MAX];
  uint32_t axis;
  berth_status_t status = read_shape(call, dims, &axis);
  return status == BERTH_OK ? berth_set_shape(call, 0, indices.rank + 1, dims) : status;
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t indices = berth_input(call, INDICES);
  int32_t dims[BERTH_RANK_MAX];
  uint32_t axis;
  berth_status_t status = read_shape(call, dims, &axis);
  if (status == BERTH_OK && !berth_input(call, DEPTH).constant)
    status = berth_set_shape(call, 0, indices.rank + 1, dims);
  berth_value_t on = berth_input(call, ON), off = berth_input(call, OFF);
  berth_value_t output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;
  uint32_t element = berth_element_bytes(output.type), length = (uint32_t)dims[axis];
  uint32_t inner = berth_shape_product(dims, axis + 1, indices.rank + 1);
  uint32_t outer = berth_shape_product(dims, 0, axis);
  uint8_t *to = output.data;
  for (uint32_t o = 0; o < outer; o++)
    for (uint32_t k = 0; k < length; k++)
      for (uint32_t i = 0; i < inner; i++, to += element) {
        bool hot = berth_shape_int(&indices, o * inner + i) == k;
        memcpy(to, hot ? on.data : off.data, element);
      }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_one_hot = {
    .code = BERTH_BUILTIN_ONE_HOT, .prepare = prepare, .eval = eval};
