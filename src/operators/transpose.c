/* TRANSPOSE and REVERSE_V2: the same elements in another order.
 *
 * One strided copy with the source's strides permuted or negated. Row-local where all
 * dimensions up to that of the rows stay what they are.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include "operators/strided.h"

typedef struct order {
  uint32_t axis[BERTH_RANK_MAX]; /* output dimension i is the input's axis[i] */
  bool reversed[BERTH_RANK_MAX]; /* and runs backwards */
} order_t;

static berth_status_t read_order(berth_call_t *call, order_t *order) {
  berth_value_t input = berth_input(call, 0), list = berth_input(call, 1);
  bool transpose = call->op.code == BERTH_BUILTIN_TRANSPOSE, seen[BERTH_RANK_MAX] = {false};
  if (!berth_shape_is_int(&list) || list.elements > input.rank ||
      (transpose && list.elements != input.rank))
    return berth_refuse(call, "needs integers that name dimensions");
  for (uint32_t i = 0; i < input.rank; i++) {
    order->axis[i] = i;
    order->reversed[i] = false;
  }
  for (uint32_t i = 0; i < list.elements; i++) {
    uint32_t axis;
    if (!berth_shape_axis(berth_shape_int(&list, i), input.rank, &axis))
      return berth_refuse(call, "a dimension does not exist");
    if (seen[axis]) return berth_refuse(call, "a dimension is named twice");
    seen[axis] = true;
    if (transpose)
      order->axis[i] = axis;
    else
      order->reversed[axis] = true;
  }
  return BERTH_OK;
}

static void permute(const order_t *order, const berth_value_t *input, int32_t *dims) {
  for (uint32_t i = 0; i < input->rank; i++) dims[i] = input->dims[order->axis[i]];
}

static bool is_row_local(const order_t *order, const berth_value_t *input) {
  if (input->rank < 3) return false;
  for (uint32_t i = 0; i <= berth_row_dimension(input->rank, input->dims); i++)
    if (order->axis[i] != i || order->reversed[i]) return false;
  int32_t dims[BERTH_RANK_MAX];
  permute(order, input, dims); /* of a single row, the channels may have become rows */
  return berth_shape_rows_match(input->dims, input->rank, dims, input->rank);
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), list = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (!input.present || !list.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  if (!list.constant)
    return call->op.code == BERTH_BUILTIN_TRANSPOSE
               ? berth_set_unknown(call, 0)
               : berth_set_shape(call, 0, input.rank, input.dims);
  order_t order;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_order(call, &order);
  if (status != BERTH_OK) return status;
  if (is_row_local(&order, &input)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] = berth_window_same();
    contract->windows[1] = berth_window_all();
  }
  permute(&order, &input, dims);
  return berth_set_shape(call, 0, input.rank, dims);
}

static berth_status_t eval(berth_call_t *call) {
  order_t order;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_order(call, &order);
  if (status != BERTH_OK) return status;
  berth_value_t input = berth_input(call, 0);
  if (!berth_input(call, 1).constant && call->op.code == BERTH_BUILTIN_TRANSPOSE) {
    permute(&order, &input, dims);
    status = berth_set_shape(call, 0, input.rank, dims);
    if (status != BERTH_OK) return status;
  }
  berth_value_t output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;

  uint32_t element = berth_element_bytes(input.type), from_dims[BERTH_RANK_MAX];
  berth_strided_t copy = {.rank = input.rank};
  for (uint32_t i = 0; i < input.rank; i++) {
    from_dims[i] = (uint32_t)input.dims[i];
    copy.dims[i] = (uint32_t)input.dims[order.axis[i]];
  }
  ptrdiff_t strides[BERTH_RANK_MAX], start = 0;
  berth_strided_contiguous(from_dims, input.rank, element, strides);
  berth_strided_contiguous(copy.dims, input.rank, element, copy.to);
  for (uint32_t i = 0; i < input.rank; i++) {
    uint32_t axis = order.axis[i];
    copy.from[i] = order.reversed[axis] ? -strides[axis] : strides[axis];
    if (order.reversed[axis]) start += strides[axis] * (ptrdiff_t)(from_dims[axis] - 1);
  }
  if (!berth_input(call, 1).constant || !is_row_local(&order, &input)) {
    berth_strided_copy(output.data, input.data + start, &copy, element);
    return BERTH_OK;
  }
  for (uint32_t i = 0; i <= berth_row_dimension(input.rank, input.dims); i++) copy.dims[i] = 1;
  for (uint32_t row = call->first_row; row < call->last_row; row++)
    berth_strided_copy(berth_row(&output, row), (uint8_t *)berth_row(&input, row) + start, &copy,
                       element);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_transpose = {
    .code = BERTH_BUILTIN_TRANSPOSE, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_reverse_v2 = {
    .code = BERTH_BUILTIN_REVERSE_V2, .prepare = prepare, .eval = eval};
