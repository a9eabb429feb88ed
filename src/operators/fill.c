/* FILL, ZEROS_LIKE, SHAPE, RANK and RANGE: tensors that are made, not computed from others. */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <math.h>
#include <string.h>

/* ---- FILL, ZEROS_LIKE ----------------------------------------------------------------------- */

static berth_status_t read_dims(berth_call_t *call, uint32_t *rank, int32_t *dims) {
  berth_value_t list = berth_input(call, 0);
  if (!berth_shape_is_int(&list) || list.rank > 1 || list.elements > BERTH_RANK_MAX)
    return berth_refuse(call, "the shape must be a list of integers");
  for (uint32_t i = 0; i < list.elements; i++) {
    int64_t dim = berth_shape_int(&list, i);
    if (dim < 0 || dim > INT32_MAX) return berth_refuse(call, "a dimension is out of range");
    dims[i] = (int32_t)dim;
  }
  *rank = list.elements;
  return BERTH_OK;
}

static berth_status_t prepare_fill(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t list = berth_input(call, 0), value = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (!list.present || !value.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (value.type != output.type || value.elements != 1)
    return berth_refuse(call, "the value must be one number of the output's type");
  if (berth_element_bytes(output.type) == 0) return berth_refuse(call, "cannot take this type");
  if (!list.constant) return berth_set_unknown(call, 0);
  uint32_t rank;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_dims(call, &rank, dims);
  return status == BERTH_OK ? berth_set_shape(call, 0, rank, dims) : status;
}

static berth_status_t eval_fill(berth_call_t *call) {
  if (!berth_input(call, 0).constant) {
    uint32_t rank;
    int32_t dims[BERTH_RANK_MAX];
    berth_status_t status = read_dims(call, &rank, dims);
    if (status == BERTH_OK) status = berth_set_shape(call, 0, rank, dims);
    if (status != BERTH_OK) return status;
  }
  berth_value_t value = berth_input(call, 1), output = berth_output(call, 0);
  uint32_t element = berth_element_bytes(output.type);
  for (uint32_t i = 0; i < output.elements; i++)
    memcpy(output.data + (size_t)i * element, value.data, element);
  return BERTH_OK;
}

static berth_status_t prepare_zeros(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  contract->in_place = 1;
  return berth_set_shape(call, 0, input.rank, input.dims);
}

static berth_status_t eval_zeros(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  if (output.bytes > 0) memset(output.data, 0, output.bytes);
  return BERTH_OK;
}

/* ---- SHAPE, RANK ---------------------------------------------------------------------------- */

static void store_int(const berth_value_t *output, uint32_t index, int32_t number) {
  int64_t wide = number;
  if (output->type == BERTH_TYPE_INT64)
    memcpy(output->data + index * sizeof wide, &wide, sizeof wide);
  else
    memcpy(output->data + index * sizeof number, &number, sizeof number);
}

static berth_status_t prepare_shape(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (!berth_shape_is_int(&output)) return berth_refuse(call, "gives integers only");
  int32_t rank = (int32_t)input.rank;
  return berth_set_shape(call, 0, call->op.code == BERTH_BUILTIN_SHAPE ? 1 : 0, &rank);
}

static berth_status_t eval_shape(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (call->op.code == BERTH_BUILTIN_RANK) {
    store_int(&output, 0, (int32_t)input.rank);
    return BERTH_OK;
  }
  for (uint32_t i = 0; i < input.rank; i++) store_int(&output, i, input.dims[i]);
  return BERTH_OK;
}

/* ---- RANGE ---------------------------------------------------------------------------------- */

static float load_float(const berth_value_t *value) {
  float number;
  memcpy(&number, value->data, sizeof number);
  return number;
}

/* How many numbers there are from start to limit (exclusive) in steps of delta. */
static berth_status_t count_range(berth_call_t *call, int32_t *count) {
  berth_value_t start = berth_input(call, 0), limit = berth_input(call, 1);
  berth_value_t delta = berth_input(call, 2);
  double steps;
  if (start.type == BERTH_TYPE_FLOAT32) {
    float from = load_float(&start), to = load_float(&limit), step = load_float(&delta);
    if (!(fabsf(step) > 0)) return berth_refuse(call, "the step is 0");
    steps = ceil(fabs((double)((to - from) / step)));
    if ((step > 0) != (from < to)) steps = 0;
  } else {
    int64_t from = berth_shape_int(&start, 0), to = berth_shape_int(&limit, 0);
    int64_t step = berth_shape_int(&delta, 0);
    if (step == 0) return berth_refuse(call, "the step is 0");
    bool up = step > 0;
    uint64_t span = up ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    uint64_t stride = up ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t whole = (span - 1) / stride + 1;
    steps = (up ? from < to : from > to) ? (double)whole : 0;
  }
  if (!(steps <= INT32_MAX)) return berth_refuse(call, "the range is too long");
  *count = (int32_t)steps;
  return BERTH_OK;
}

static bool is_range_computed(const berth_call_t *call) {
  return !berth_input(call, 0).constant || !berth_input(call, 1).constant ||
         !berth_input(call, 2).constant;
}

static berth_status_t prepare_range(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t output = berth_output(call, 0);
  if (!output.present) return berth_refuse(call, "needs an output");
  if (output.type != BERTH_TYPE_FLOAT32 && !berth_shape_is_int(&output))
    return berth_refuse(call, "cannot take this type");
  for (uint32_t i = 0; i < 3; i++) {
    berth_value_t input = berth_input(call, i);
    if (!input.present || input.type != output.type || input.elements != 1)
      return berth_refuse(call, "needs three numbers of the output's type");
  }
  if (is_range_computed(call)) return berth_set_unknown(call, 0);
  int32_t count;
  berth_status_t status = count_range(call, &count);
  return status == BERTH_OK ? berth_set_shape(call, 0, 1, &count) : status;
}

static berth_status_t eval_range(berth_call_t *call) {
  if (is_range_computed(call)) {
    int32_t count;
    berth_status_t status = count_range(call, &count);
    if (status == BERTH_OK) status = berth_set_shape(call, 0, 1, &count);
    if (status != BERTH_OK) return status;
  }
  berth_value_t start = berth_input(call, 0), delta = berth_input(call, 2);
  berth_value_t output = berth_output(call, 0);
  if (output.type == BERTH_TYPE_FLOAT32) {
    float number = load_float(&start), step = load_float(&delta);
    for (uint32_t i = 0; i < output.elements; i++, number += step)
      memcpy(output.data + i * sizeof number, &number, sizeof number);
    return BERTH_OK;
  }
  uint64_t number = (uint64_t)berth_shape_int(&start, 0);
  uint64_t step = (uint64_t)berth_shape_int(&delta, 0);
  for (uint32_t i = 0; i < output.elements; i++, number += step) {
    if (output.type == BERTH_TYPE_INT64)
      memcpy(output.data + i * sizeof number, &number, sizeof number);
    else
      store_int(&output, i, (int32_t)(int64_t)number);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_fill = {
    .code = BERTH_BUILTIN_FILL, .prepare = prepare_fill, .eval = eval_fill};
const berth_kernel_t berth_kernel_range = {
    .code = BERTH_BUILTIN_RANGE, .prepare = prepare_range, .eval = eval_range};
const berth_kernel_t berth_kernel_rank = {
    .code = BERTH_BUILTIN_RANK, .prepare = prepare_shape, .eval = eval_shape};
const berth_kernel_t berth_kernel_shape = {
    .code = BERTH_BUILTIN_SHAPE, .prepare = prepare_shape, .eval = eval_shape};
const berth_kernel_t berth_kernel_zeros_like = {
    .code = BERTH_BUILTIN_ZEROS_LIKE, .prepare = prepare_zeros, .eval = eval_zeros};
