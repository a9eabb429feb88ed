/* RESHAPE, SQUEEZE and EXPAND_DIMS: the same bytes under another shape.
 *
 * All three are views, so that a planner lays output and input over each other; only where it could
 * not do so (a constant input, a graph output) are the bytes copied.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

/* The new shape, with at most one -1 replaced. Old files have it in the options; a lone 0 there
 * means a scalar. */
static berth_status_t reshaped(berth_call_t *call, const berth_value_t *input, uint32_t *rank,
                               int32_t *dims) {
  berth_value_t shape = berth_input(call, 1);
  berth_vector_t option = berth_option_ints(call->op.options, BERTH_RESHAPE_SHAPE);
  uint32_t count = shape.present ? shape.elements : option.count;
  if (shape.present && (!berth_shape_is_int(&shape) || shape.rank > 1))
    return berth_refuse(call, "the new shape must be a list of integers");
  if (count > BERTH_RANK_MAX) return berth_refuse(call, "the new shape has too many dimensions");
  if (!shape.present && count == 1 && berth_vector_int(option, 0) == 0) count = 0;

  uint32_t wildcard = BERTH_RANK_MAX;
  for (uint32_t i = 0; i < count; i++) {
    int64_t dim = shape.present ? berth_shape_int(&shape, i) : berth_vector_int(option, i);
    if (dim == -1 && wildcard == BERTH_RANK_MAX) {
      wildcard = i;
      dim = 1;
    }
    if (dim < 0 || dim > INT32_MAX) return berth_refuse(call, "the new shape is negative");
    dims[i] = (int32_t)dim;
  }
  uint32_t product = berth_shape_product(dims, 0, count);
  if (wildcard < BERTH_RANK_MAX && product > 0 && input->elements % product == 0) {
    dims[wildcard] = (int32_t)(input->elements / product);
    product = input->elements;
  }
  if (product != input->elements)
    return berth_refuse(call, "the new shape has another number of elements");
  *rank = count;
  return BERTH_OK;
}

static berth_status_t squeezed(berth_call_t *call, const berth_value_t *input, uint32_t *rank,
                               int32_t *dims) {
  berth_vector_t option = berth_option_ints(call->op.options, BERTH_SQUEEZE_DIMENSIONS);
  bool drop[BERTH_RANK_MAX] = {false};
  for (uint32_t i = 0; i < option.count; i++) {
    uint32_t axis;
    if (!berth_shape_axis(berth_vector_int(option, i), input->rank, &axis))
      return berth_refuse(call, "a squeezed dimension does not exist");
    if (input->dims[axis] != 1) return berth_refuse(call, "a squeezed dimension is not 1");
    drop[axis] = true;
  }
  *rank = 0;
  for (uint32_t i = 0; i < input->rank; i++)
    if (!(option.count > 0 ? drop[i] : input->dims[i] == 1)) dims[(*rank)++] = input->dims[i];
  return BERTH_OK;
}

static berth_status_t expanded(berth_call_t *call, const berth_value_t *input, uint32_t *rank,
                               int32_t *dims) {
  berth_value_t where = berth_input(call, 1);
  uint32_t axis;
  if (!berth_shape_is_int(&where) || where.elements != 1)
    return berth_refuse(call, "the axis must be one integer");
  if (input->rank == BERTH_RANK_MAX) return berth_refuse(call, "too many dimensions");
  if (!berth_shape_axis(berth_shape_int(&where, 0), input->rank + 1, &axis))
    return berth_refuse(call, "the axis does not exist");
  for (uint32_t i = 0; i < axis; i++) dims[i] = input->dims[i];
  dims[axis] = 1;
  for (uint32_t i = axis; i < input->rank; i++) dims[i + 1] = input->dims[i];
  *rank = input->rank + 1;
  return BERTH_OK;
}

static berth_status_t set_shape(berth_call_t *call, uint32_t *rank, int32_t *dims) {
  berth_value_t input = berth_input(call, 0);
  berth_status_t status =
      call->op.code == BERTH_BUILTIN_RESHAPE   ? reshaped(call, &input, rank, dims)
      : call->op.code == BERTH_BUILTIN_SQUEEZE ? squeezed(call, &input, rank, dims)
                                               : expanded(call, &input, rank, dims);
  return status == BERTH_OK ? berth_set_shape(call, 0, *rank, dims) : status;
}

/* Is the shape given by a tensor that has to be computed first? */
static bool is_computed(const berth_call_t *call) {
  berth_value_t shape = berth_input(call, 1);
  return call->op.code != BERTH_BUILTIN_SQUEEZE && shape.present && !shape.constant;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  if (call->op.code == BERTH_BUILTIN_EXPAND_DIMS && !berth_input(call, 1).present)
    return berth_refuse(call, "needs an axis");
  if (is_computed(call)) return berth_set_unknown(call, 0);

  uint32_t rank;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = set_shape(call, &rank, dims);
  contract->view = BERTH_VIEW_SAME;
  contract->in_place = 1;
  if (status == BERTH_OK && berth_shape_rows_match(dims, rank, input.dims, input.rank)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] = berth_window_same();
    contract->windows[1] = berth_window_all();
  }
  return status;
}

static berth_status_t eval(berth_call_t *call) {
  uint32_t rank;
  int32_t dims[BERTH_RANK_MAX];
  bool computed = is_computed(call);
  berth_status_t status = computed ? set_shape(call, &rank, dims) : BERTH_OK;
  if (status != BERTH_OK) return status;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;
  bool all_rows = computed || (call->first_row == 0 && call->last_row == output.rows);
  if (all_rows && berth_is_contiguous(&input) && berth_is_contiguous(&output)) {
    if (output.data != input.data) memmove(output.data, input.data, output.bytes);
    return BERTH_OK;
  }
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    const void *from = berth_row(&input, row);
    void *to = berth_row(&output, row);
    if (to != from) memmove(to, from, output.row_bytes);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_reshape = {
    .code = BERTH_BUILTIN_RESHAPE, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_squeeze = {
    .code = BERTH_BUILTIN_SQUEEZE, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_expand_dims = {
    .code = BERTH_BUILTIN_EXPAND_DIMS, .prepare = prepare, .eval = eval};
