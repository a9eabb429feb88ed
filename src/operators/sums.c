/* ADD_N, the sum of several tensors, and CUMSUM, running sums along one axis. float32 and int32. */
#include "operators/fixed_point.h"
#include "operators/kernels.h"
#include "operators/shape.h"

static bool is_summable(berth_tensor_type_t type) {
  return type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_INT32;
}

/* Adds as the type has it; integers wrap. */
static void add(berth_tensor_type_t type, void *sum, const void *number) {
  if (type == BERTH_TYPE_FLOAT32) {
    float result = berth_load_float(sum, 0) + berth_load_float(number, 0);
    memcpy(sum, &result, sizeof result);
  } else {
    uint32_t result = (uint32_t)berth_load_int32(sum, 0) + (uint32_t)berth_load_int32(number, 0);
    memcpy(sum, &result, sizeof result);
  }
}

/* ---- ADD_N ---------------------------------------------------------------------------------- */

static berth_status_t prepare_add_n(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t first = berth_input(call, 0), output = berth_output(call, 0);
  if (!first.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (!is_summable(output.type)) return berth_refuse(call, "cannot take this type");
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    berth_value_t input = berth_input(call, i);
    if (!input.present) return berth_refuse(call, "an input is missing");
    if (input.type != output.type) return berth_refuse(call, "all types must be the same");
    if (!berth_shape_equal(&input, &first)) return berth_refuse(call, "the shapes differ");
  }
  berth_contract_elementwise(contract);
  return berth_set_shape(call, 0, first.rank, first.dims);
}

static berth_status_t eval_add_n(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  enum { CHUNK = 64 }; /* bytes summed at a time, so that any input may be the output */
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint8_t *to = berth_row(&output, row);
    for (uint32_t at = 0; at < output.row_bytes; at += CHUNK) {
      uint32_t bytes = output.row_bytes - at < CHUNK ? output.row_bytes - at : CHUNK;
      uint8_t sums[CHUNK];
      for (uint32_t i = 0; i < call->op.inputs.count; i++) {
        berth_value_t input = berth_input(call, i);
        const uint8_t *from = (uint8_t *)berth_row(&input, row) + at;
        if (i == 0) memcpy(sums, from, bytes);
        for (uint32_t n = 0; n < bytes && i > 0; n += 4) add(output.type, sums + n, from + n);
      }
      memcpy(to + at, sums, bytes);
    }
  }
  return BERTH_OK;
}

/* ---- CUMSUM --------------------------------------------------------------------------------- */

static berth_status_t find_axis(berth_call_t *call, uint32_t rank, uint32_t *axis) {
  berth_value_t where = berth_input(call, 1);
  if (!berth_shape_is_int(&where) || where.elements != 1)
    return berth_refuse(call, "the axis must be one integer");
  return berth_shape_axis(berth_shape_int(&where, 0), rank, axis)
             ? BERTH_OK
             : berth_refuse(call, "the axis does not exist");
}

static berth_status_t prepare_cumsum(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), where = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (!input.present || !where.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (input.type != output.type || !is_summable(input.type))
    return berth_refuse(call, "cannot take or give this type");
  if (where.constant) {
    uint32_t axis;
    berth_status_t status = find_axis(call, input.rank, &axis);
    if (status != BERTH_OK) return status;
  }
  contract->in_place = 1;
  return berth_set_shape(call, 0, input.rank, input.dims);
}

static berth_status_t eval_cumsum(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  bool exclusive = berth_option_byte(call->op.options, BERTH_CUMSUM_EXCLUSIVE, 0) != 0;
  bool reverse = berth_option_byte(call->op.options, BERTH_CUMSUM_REVERSE, 0) != 0;
  uint32_t axis;
  berth_status_t status = find_axis(call, input.rank, &axis);
  if (status != BERTH_OK || output.bytes == 0) return status;
  uint32_t length = (uint32_t)input.dims[axis];
  uint32_t inner = berth_shape_product(input.dims, axis + 1, input.rank);
  for (uint32_t line = 0; line < input.elements / length; line++) {
    size_t start = (size_t)(line / inner) * length * inner + line % inner;
    uint8_t sum[4] = {0};
    for (uint32_t n = 0; n < length; n++) {
      size_t at = 4 * (start + (size_t)(reverse ? length - 1 - n : n) * inner);
      uint8_t number[4];
      memcpy(number, input.data + at, sizeof number);
      if (exclusive) memcpy(output.data + at, sum, sizeof sum);
      add(input.type, sum, number);
      if (!exclusive) memcpy(output.data + at, sum, sizeof sum);
    }
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_add_n = {
    .code = BERTH_BUILTIN_ADD_N, .prepare = prepare_add_n, .eval = eval_add_n};
const berth_kernel_t berth_kernel_cumsum = {
    .code = BERTH_BUILTIN_CUMSUM, .prepare = prepare_cumsum, .eval = eval_cumsum};
