/* ARG_MAX and ARG_MIN: where along an axis the largest or smallest element is; the first of
 * several. Row-local where the axis lies within rows and they stay rows. */
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

static berth_status_t find_axis(berth_call_t *call, const berth_value_t *input, uint32_t *axis) {
  berth_value_t where = berth_input(call, 1);
  if (!berth_shape_is_int(&where) || where.elements != 1)
    return berth_refuse(call, "the axis must be one integer");
  if (!berth_shape_axis(berth_shape_int(&where, 0), input->rank, axis))
    return berth_refuse(call, "the axis does not exist");
  return BERTH_OK;
}

static uint32_t drop(const berth_value_t *input, uint32_t axis, int32_t *dims) {
  uint32_t rank = 0;
  for (uint32_t d = 0; d < input->rank; d++)
    if (d != axis) dims[rank++] = input->dims[d];
  return rank;
}

static bool is_row_local(const berth_value_t *input, uint32_t axis) {
  int32_t dims[BERTH_RANK_MAX];
  uint32_t rank = drop(input, axis, dims);
  return rank >= 3 && axis > berth_row_dimension(input->rank, input->dims) &&
         berth_shape_rows_match(input->dims, input->rank, dims, rank);
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t where = berth_input(call, 1);
  if (!input.present || !where.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (input.type != BERTH_TYPE_FLOAT32 && input.type != BERTH_TYPE_INT32 &&
      input.type != BERTH_TYPE_BOOL && !berth_is_quantized_type(input.type))
    return berth_refuse(call, "cannot take this type");
  if (!berth_shape_is_int(&output)) return berth_refuse(call, "gives int32 and int64 only");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  if (!where.constant) return berth_set_unknown(call, 0);
  uint32_t axis;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = find_axis(call, &input, &axis);
  if (status != BERTH_OK) return status;
  uint32_t rank = drop(&input, axis, dims);
  if (input.dims[axis] == 0) return berth_refuse(call, "the axis is empty");
  if (is_row_local(&input, axis)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] = berth_window_same();
    contract->windows[1] = berth_window_all();
  }
  return berth_set_shape(call, 0, rank, dims);
}

/* Which of `length` elements, `stride` apart, is the most extreme. */
#define DEFINE_FIND(name, type)                                                                    \
  static uint32_t find_##name(const void *from, uint32_t length, size_t stride, bool max) {        \
    const type *x = from;                                                                          \
    type best = x[0];                                                                              \
    uint32_t at = 0;                                                                               \
    for (uint32_t i = 1; i < length; i++) {                                                        \
      type now = x[i * stride];                                                                    \
      bool better = max ? now > best : now < best;                                                 \
      best = better ? now : best;                                                                  \
      at = better ? i : at;                                                                        \
    }                                                                                              \
    return at;                                                                                     \
  }

DEFINE_FIND(int8, int8_t)
DEFINE_FIND(uint8, uint8_t)
DEFINE_FIND(int16, int16_t)
DEFINE_FIND(int32, int32_t)
DEFINE_FIND(float, float)

static void find_all(const berth_call_t *call, const berth_value_t *input,
                     const berth_value_t *output, const uint8_t *from, uint8_t *to, uint32_t outer,
                     uint32_t length, uint32_t inner) {
  bool max = call->op.code == BERTH_BUILTIN_ARG_MAX;
  uint32_t element = berth_element_bytes(input->type);
  uint32_t (*find)(const void *, uint32_t, size_t, bool) =
      input->type == BERTH_TYPE_INT8      ? find_int8
      : input->type == BERTH_TYPE_INT16   ? find_int16
      : input->type == BERTH_TYPE_INT32   ? find_int32
      : input->type == BERTH_TYPE_FLOAT32 ? find_float
                                          : find_uint8;
  for (uint32_t o = 0; o < outer; o++, from += (size_t)length * inner * element)
    for (uint32_t i = 0; i < inner; i++) {
      uint32_t at = find(from + (size_t)i * element, length, inner, max);
      int64_t wide = at;
      size_t bytes = output->type == BERTH_TYPE_INT64 ? sizeof wide : sizeof at;
      memcpy(to, output->type == BERTH_TYPE_INT64 ? (void *)&wide : (void *)&at, bytes);
      to += bytes;
    }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0);
  bool computed = !berth_input(call, 1).constant;
  uint32_t axis;
  berth_status_t status = find_axis(call, &input, &axis);
  if (status == BERTH_OK && computed) {
    int32_t dims[BERTH_RANK_MAX];
    if (input.dims[axis] == 0) return berth_refuse(call, "the axis is empty");
    uint32_t rank = drop(&input, axis, dims);
    status = berth_set_shape(call, 0, rank, dims);
  }
  berth_value_t output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;
  bool by_rows = !computed && is_row_local(&input, axis);
  uint32_t inner_dim = by_rows ? berth_row_dimension(input.rank, input.dims) + 1 : 0;
  uint32_t outer = berth_shape_product(input.dims, inner_dim, axis);
  uint32_t inner = berth_shape_product(input.dims, axis + 1, input.rank);
  uint32_t length = (uint32_t)input.dims[axis];
  if (!by_rows) {
    find_all(call, &input, &output, input.data, output.data, outer, length, inner);
    return BERTH_OK;
  }
  for (uint32_t row = call->first_row; row < call->last_row; row++)
    find_all(call, &input, &output, berth_row(&input, row), berth_row(&output, row), outer, length,
             inner);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_arg_max = {
    .code = BERTH_BUILTIN_ARG_MAX, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_arg_min = {
    .code = BERTH_BUILTIN_ARG_MIN, .prepare = prepare, .eval = eval};
