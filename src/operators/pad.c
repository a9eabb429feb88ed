/* PAD, PADV2 and MIRROR_PAD: a tensor with a border around it.
 *
 * Row-local: output row y needs input row y - top, and rows of the border need none. The
 * border has the value of PADV2's third input or, for quantized tensors, the output's zero point:
 * real 0 (stock TFLite; MIRROR_PAD repeats the tensor's own values).
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

typedef struct pad {
  uint32_t rank;
  uint32_t before[BERTH_RANK_MAX]; /* elements of border before and after the tensor */
  uint32_t after[BERTH_RANK_MAX];
} pad_t;

static bool is_mirror(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_MIRROR_PAD;
}

/* Reads the paddings, which must be there, and finds the shape of the output. */
static berth_status_t read_paddings(berth_call_t *call, pad_t *pad, int32_t *dims) {
  berth_value_t input = berth_input(call, 0), paddings = berth_input(call, 1);
  if (!berth_shape_is_int(&paddings) || paddings.rank != 2 || paddings.dims[1] != 2 ||
      paddings.dims[0] != (int32_t)input.rank)
    return berth_refuse(call, "the paddings must be two integers for each dimension");
  /* A reflection cannot show the edge itself; a symmetric border can. */
  bool reflect = is_mirror(call) && berth_option_byte(call->op.options, BERTH_MIRROR_PAD_MODE, 0) ==
                                        BERTH_MIRROR_REFLECT;
  pad->rank = input.rank;
  for (uint32_t i = 0; i < input.rank; i++) {
    int64_t before = berth_shape_int(&paddings, 2 * i);
    int64_t after = berth_shape_int(&paddings, 2 * i + 1);
    if (before < 0 || after < 0) return berth_refuse(call, "a padding is negative");
    if (before > INT32_MAX || after > INT32_MAX || before + after > INT32_MAX - input.dims[i])
      return berth_refuse(call, "a padding is too large");
    int64_t limit = (int64_t)input.dims[i] - (reflect ? 1 : 0);
    if (is_mirror(call) && (before > limit || after > limit))
      return berth_refuse(call, "a mirrored border is larger than the tensor");
    pad->before[i] = (uint32_t)before;
    pad->after[i] = (uint32_t)after;
    dims[i] = (int32_t)(input.dims[i] + before + after);
  }
  return BERTH_OK;
}

/* Do the input's rows lie along dimension `row`, as the output's? Of a single one, they do. */
static bool has_rows_along(const berth_value_t *input, uint32_t row) {
  uint32_t own = berth_row_dimension(input->rank, input->dims);
  return own == row || input->dims[own] == 1;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), paddings = berth_input(call, 1);
  berth_value_t fill = berth_input(call, 2), output = berth_output(call, 0);
  if (!input.present || !paddings.present || !output.present)
    return berth_refuse(call, "needs an input, paddings and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  uint32_t element = berth_element_bytes(input.type);
  if (element == 0 || element > 8) return berth_refuse(call, "cannot take this type");
  if (fill.present && (fill.type != input.type || fill.elements != 1))
    return berth_refuse(call, "the padding value must be one number of the input's type");
  if (!paddings.constant) return berth_set_unknown(call, 0);

  pad_t pad;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_paddings(call, &pad, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 0, input.rank, dims);
  if (status != BERTH_OK) return status;
  if (input.rank < 3) return BERTH_OK;
  uint32_t row = berth_row_dimension(input.rank, dims);
  bool padded = pad.before[row] + pad.after[row] > 0;
  if (input.elements > 0 && pad.before[0] + pad.after[0] == 0 && has_rows_along(&input, row) &&
      !(is_mirror(call) && padded) && (input.dims[0] == 1 || !padded)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->ordered = true;
    contract->windows[0] = berth_window_same();
    contract->windows[0].offset = -(int32_t)pad.before[row];
    contract->windows[1] = contract->windows[2] = berth_window_all();
  }
  return BERTH_OK;
}

/* Which element of an unpadded dimension position `at` of the padded one shows; false: none. */
static bool source(uint32_t at, uint32_t before, uint32_t size, bool mirror, bool symmetric,
                   uint32_t *from) {
  uint32_t repeat = symmetric ? 1 : 0; /* is the edge itself repeated? */
  if (at >= before && at - before < size)
    *from = at - before;
  else if (!mirror)
    return false;
  else if (at < before)
    *from = before - at - repeat;
  else
    *from = size - 1 - (at - before - size + 1 - repeat);
  return true;
}

/* What fills the border and how it is repeated. */
typedef struct border {
  uint8_t value[8];
  uint32_t element;
  bool mirror;
  bool symmetric;
} border_t;

static void fill(uint8_t *to, uint32_t count, const border_t *border) {
  uint32_t element = border->element;
  bool uniform = true;
  for (uint32_t i = 1; i < element; i++) uniform = uniform && border->value[i] == border->value[0];
  if (uniform) {
    memset(to, border->value[0], (size_t)count * element);
    return;
  }
  for (uint32_t i = 0; i < count; i++) memcpy(to + (size_t)i * element, border->value, element);
}

/* Pads dimensions [dim, rank) of one slice: `from` is NULL in the border of an outer dimension. */
static void pad_slice(uint8_t *to, const uint8_t *from, const berth_value_t *input,
                      const berth_value_t *output, const pad_t *pad, uint32_t dim,
                      const border_t *border) {
  uint32_t to_inner = berth_shape_product(output->dims, dim + 1, output->rank);
  uint32_t from_inner = berth_shape_product(input->dims, dim + 1, input->rank);
  uint32_t size = (uint32_t)input->dims[dim], before = pad->before[dim];
  if (from == NULL) {
    fill(to, (uint32_t)output->dims[dim] * to_inner, border);
    return;
  }
  if (to_inner == from_inner && !border->mirror) { /* nothing to pad further in */
    size_t inner = (size_t)to_inner * border->element;
    fill(to, before * to_inner, border);
    memcpy(to + before * inner, from, size * inner);
    fill(to + (before + size) * inner, pad->after[dim] * to_inner, border);
    return;
  }
  for (uint32_t i = 0; i < (uint32_t)output->dims[dim]; i++) {
    uint32_t at = 0;
    bool inside = source(i, before, size, border->mirror, border->symmetric, &at);
    const uint8_t *slice = inside ? from + (size_t)at * from_inner * border->element : NULL;
    uint8_t *target = to + (size_t)i * to_inner * border->element;
    if (dim + 1 < output->rank)
      pad_slice(target, slice, input, output, pad, dim + 1, border);
    else if (inside)
      memcpy(target, slice, border->element);
    else
      memcpy(target, border->value, border->element);
  }
}

static void set_border(const berth_call_t *call, const berth_value_t *output, border_t *border) {
  berth_value_t value = berth_input(call, 2);
  memset(border, 0, sizeof *border);
  border->element = berth_element_bytes(output->type);
  border->mirror = is_mirror(call);
  border->symmetric =
      berth_option_byte(call->op.options, BERTH_MIRROR_PAD_MODE, 0) == BERTH_MIRROR_SYMMETRIC;
  if (value.present)
    memcpy(border->value, value.data, border->element);
  else if (output->type == BERTH_TYPE_INT8 || output->type == BERTH_TYPE_UINT8)
    border->value[0] = (uint8_t)output->zero_point;
  else if (output->type == BERTH_TYPE_INT16) {
    int16_t zero = (int16_t)output->zero_point;
    memcpy(border->value, &zero, sizeof zero);
  }
}

static berth_status_t eval(berth_call_t *call) {
  pad_t pad;
  int32_t dims[BERTH_RANK_MAX];
  border_t border;
  berth_status_t status = read_paddings(call, &pad, dims);
  bool computed = !berth_input(call, 1).constant;
  if (status == BERTH_OK && computed) status = berth_set_shape(call, 0, pad.rank, dims);
  if (status != BERTH_OK) return status;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  uint32_t first = computed ? 0 : call->first_row, last = computed ? output.rows : call->last_row;
  if (output.bytes == 0) return BERTH_OK;
  set_border(call, &output, &border);
  if (output.rank == 0) {
    memcpy(output.data, input.data, border.element);
    return BERTH_OK;
  }
  if (output.rank < 3 || input.bytes == 0) {
    pad_slice(output.data, input.bytes > 0 ? input.data : NULL, &input, &output, &pad, 0, &border);
    return BERTH_OK;
  }
  uint32_t dim = berth_row_dimension(output.rank, output.dims);
  uint32_t height = (uint32_t)input.dims[dim], padded = (uint32_t)output.dims[dim];
  if (!has_rows_along(&input, dim))
    input = berth_with_rows(input, (uint32_t)input.dims[0] * height);
  for (uint32_t row = first; row < last; row++) {
    uint32_t batch = 0, y = 0;
    const uint8_t *from = NULL;
    if (source(row / padded, pad.before[0], (uint32_t)input.dims[0], border.mirror,
               border.symmetric, &batch) &&
        source(row % padded, pad.before[dim], height, border.mirror, border.symmetric, &y))
      from = berth_row(&input, batch * height + y);
    pad_slice(berth_row(&output, row), from, &input, &output, &pad, dim + 1, &border);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_pad = {
    .code = BERTH_BUILTIN_PAD, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_padv2 = {
    .code = BERTH_BUILTIN_PADV2, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_mirror_pad = {
    .code = BERTH_BUILTIN_MIRROR_PAD, .prepare = prepare, .eval = eval};
