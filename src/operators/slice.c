/* SLICE and STRIDED_SLICE: a box of a tensor, with steps.
 *
 * Both become one strided copy (strided.h). Row-local in height where the batch stays whole and the
 * step is forward: output row y needs input row begin + y x step.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include "operators/strided.h"

typedef struct box {
  uint32_t rank; /* of the input */
  int32_t begin[BERTH_RANK_MAX];
  int32_t step[BERTH_RANK_MAX];
  int32_t size[BERTH_RANK_MAX]; /* elements taken */
  uint32_t output_rank;
  int32_t output_dims[BERTH_RANK_MAX];
  bool same_axes; /* the output has the input's axes: none was dropped or made up */
} box_t;

static bool is_strided(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_STRIDED_SLICE;
}

static bool is_list(const berth_value_t *value, uint32_t count) {
  return berth_shape_is_int(value) && value->elements == count;
}

static berth_status_t read_slice(berth_call_t *call, const berth_value_t *input, box_t *box) {
  berth_value_t begin = berth_input(call, 1), size = berth_input(call, 2);
  if (!is_list(&begin, input->rank) || !is_list(&size, input->rank))
    return berth_refuse(call, "begin and size must be one integer for each dimension");
  box->rank = box->output_rank = input->rank;
  box->same_axes = true;
  for (uint32_t i = 0; i < input->rank; i++) {
    int64_t from = berth_shape_int(&begin, i), count = berth_shape_int(&size, i);
    if (from < 0 || from > input->dims[i]) return berth_refuse(call, "begin is out of range");
    if (count == -1) count = input->dims[i] - from;
    if (count < 0 || count > input->dims[i] - from)
      return berth_refuse(call, "size is out of range");
    box->begin[i] = (int32_t)from;
    box->step[i] = 1;
    box->size[i] = box->output_dims[i] = (int32_t)count;
  }
  return BERTH_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/* One dimension of a strided slice, as Python's x[begin:end:step] has it. */
static berth_status_t read_range(berth_call_t *call, int32_t dim, int64_t begin, int64_t end,
                                 int64_t step, bool any_begin, bool any_end, box_t *box,
                                 uint32_t axis) {
  if (step == 0 || step > INT32_MAX || step < -INT32_MAX)
    return berth_refuse(call, "a stride is 0 or too large");
  if (begin < 0) begin += dim;
  if (end < 0) end += dim;
  if (any_begin) begin = step > 0 ? 0 : dim - 1;
  if (any_end) end = step > 0 ? dim : -1;
  begin = step > 0 ? clamp(begin, 0, dim) : clamp(begin, -1, dim - 1);
  end = step > 0 ? clamp(end, 0, dim) : clamp(end, -1, dim - 1);
  int64_t span = step > 0 ? end - begin : begin - end, stride = step > 0 ? step : -step;
  box->begin[axis] = (int32_t)begin;
  box->step[axis] = (int32_t)step;
  box->size[axis] = span > 0 ? (int32_t)((span + stride - 1) / stride) : 0;
  return BERTH_OK;
}

static berth_status_t read_strided(berth_call_t *call, const berth_value_t *input, box_t *box) {
  berth_value_t begin = berth_input(call, 1), end = berth_input(call, 2);
  berth_value_t strides = berth_input(call, 3);
  uint32_t count = begin.elements;
  if (count > BERTH_RANK_MAX || !is_list(&begin, count) || !is_list(&end, count) ||
      !is_list(&strides, count))
    return berth_refuse(call, "begin, end and strides must be integers, as many each");
  berth_table_t options = call->op.options;
  uint32_t begin_mask = (uint32_t)berth_option_int(options, BERTH_STRIDED_SLICE_BEGIN_MASK, 0);
  uint32_t end_mask = (uint32_t)berth_option_int(options, BERTH_STRIDED_SLICE_END_MASK, 0);
  uint32_t ellipsis = (uint32_t)berth_option_int(options, BERTH_STRIDED_SLICE_ELLIPSIS_MASK, 0);
  uint32_t new_axis = (uint32_t)berth_option_int(options, BERTH_STRIDED_SLICE_NEW_AXIS_MASK, 0);
  uint32_t shrink = (uint32_t)berth_option_int(options, BERTH_STRIDED_SLICE_SHRINK_AXIS_MASK, 0);
  bool offset = berth_option_byte(options, BERTH_STRIDED_SLICE_OFFSET, 0) != 0;
  ellipsis &= (1u << count) - 1;
  if ((ellipsis & (ellipsis - 1)) != 0) return berth_refuse(call, "has two ellipses");

  uint32_t used = 0; /* input dimensions that the entries without ellipsis take */
  for (uint32_t i = 0; i < count; i++)
    if (!(ellipsis >> i & 1) && !(new_axis >> i & 1)) used++;
  if (used > input->rank) return berth_refuse(call, "slices more dimensions than there are");

  uint32_t axis = 0, rank = 0;
  box->rank = input->rank;
  box->same_axes = true;
  for (uint32_t i = 0; i <= count; i++) {
    /* An ellipsis, and the end of the list, stand for all dimensions that no entry takes. */
    bool rest = i == count ? ellipsis == 0 : (ellipsis >> i & 1) != 0;
    if (rest) {
      for (uint32_t n = input->rank - used; n > 0; n--, axis++) {
        box->begin[axis] = 0;
        box->step[axis] = 1;
        box->size[axis] = input->dims[axis];
        if (rank == BERTH_RANK_MAX) return berth_refuse(call, "too many dimensions");
        box->output_dims[rank++] = input->dims[axis];
      }
      continue;
    }
    if (i == count) break;
    if (rank == BERTH_RANK_MAX) return berth_refuse(call, "too many dimensions");
    if (new_axis >> i & 1) {
      box->output_dims[rank++] = 1;
      box->same_axes = false;
      continue;
    }
    int64_t first = berth_shape_int(&begin, i), last = berth_shape_int(&end, i);
    int64_t step = berth_shape_int(&strides, i);
    int32_t dim = input->dims[axis];
    if (shrink >> i & 1) {
      if ((begin_mask >> i & 1) != 0) first = 0;
      if (first < 0) first += dim;
      if (first < 0 || first >= dim) return berth_refuse(call, "an index is out of range");
      box->begin[axis] = (int32_t)first;
      box->step[axis] = box->size[axis] = 1;
      box->same_axes = false;
    } else {
      if (first < -INT32_MAX || first > INT32_MAX || last < -INT32_MAX || last > INT32_MAX)
        return berth_refuse(call, "begin or end is out of range");
      berth_status_t status =
          read_range(call, dim, first, offset ? first + last : last, step,
                     (begin_mask >> i & 1) != 0, (end_mask >> i & 1) != 0, box, axis);
      if (status != BERTH_OK) return status;
      box->output_dims[rank++] = box->size[axis];
    }
    axis++;
  }
  box->output_rank = rank;
  return BERTH_OK;
}

static berth_status_t read_box(berth_call_t *call, box_t *box) {
  berth_value_t input = berth_input(call, 0);
  return is_strided(call) ? read_strided(call, &input, box) : read_slice(call, &input, box);
}

static bool is_computed(const berth_call_t *call) {
  for (uint32_t i = 1; i < (is_strided(call) ? 4u : 3u); i++)
    if (!berth_input(call, i).constant) return true;
  return false;
}

/* One row of the input is left, and the output's rows lie within it: all of them need that row. */
static bool is_within_row(const box_t *box, uint32_t row) {
  return berth_row_dimension(box->rank, box->output_dims) > row;
}

/* Can the box be cut into rows: does output row r come from one row of the input, in order? `row`:
 * the dimension along which the input's rows lie. */
static bool is_row_local(const box_t *box, const int32_t *dims, uint32_t row) {
  if (box->rank < 3 || !box->same_axes || box->step[row] <= 0) return false;
  for (uint32_t i = 0; i < row; i++)
    if (box->size[i] == 0) return false;
  if (is_within_row(box, row)) return dims[0] == 1;
  return dims[0] == 1 || (box->begin[0] == 0 && box->step[0] == 1 && box->size[0] == dims[0] &&
                          box->size[row] == dims[row] && box->step[row] == 1);
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  for (uint32_t i = 1; i < (is_strided(call) ? 4u : 3u); i++)
    if (!berth_input(call, i).present) return berth_refuse(call, "an input is missing");
  if (is_computed(call)) return berth_set_unknown(call, 0);

  box_t box;
  berth_status_t status = read_box(call, &box);
  if (status != BERTH_OK) return status;
  uint32_t row_dim = berth_row_dimension(input.rank, input.dims);
  if (is_row_local(&box, input.dims, row_dim)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->ordered = true;
    int32_t step = is_within_row(&box, row_dim) ? 0 : box.step[row_dim];
    contract->windows[0] = (berth_window_t){step, 1, box.begin[row_dim], 1};
    for (uint32_t i = 1; i < BERTH_WINDOWS_MAX; i++) contract->windows[i] = berth_window_all();
  }
  return berth_set_shape(call, 0, box.output_rank, box.output_dims);
}

static berth_status_t eval(berth_call_t *call) {
  box_t box;
  berth_status_t status = read_box(call, &box);
  if (status == BERTH_OK && is_computed(call))
    status = berth_set_shape(call, 0, box.output_rank, box.output_dims);
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;

  uint32_t element = berth_element_bytes(input.type), from_dims[BERTH_RANK_MAX];
  berth_strided_t copy = {.rank = box.rank};
  for (uint32_t i = 0; i < box.rank; i++) {
    from_dims[i] = (uint32_t)input.dims[i];
    copy.dims[i] = (uint32_t)box.size[i];
  }
  ptrdiff_t strides[BERTH_RANK_MAX], start = 0;
  berth_strided_contiguous(from_dims, box.rank, element, strides);
  berth_strided_contiguous(copy.dims, box.rank, element, copy.to);
  uint32_t row_dim = berth_row_dimension(input.rank, input.dims);
  bool by_rows = !is_computed(call) && is_row_local(&box, input.dims, row_dim);
  for (uint32_t i = 0; i < box.rank; i++) {
    copy.from[i] = strides[i] * box.step[i];
    if (!by_rows || i > row_dim) start += strides[i] * box.begin[i];
  }
  if (!by_rows) {
    berth_strided_copy(output.data, input.data + start, &copy, element);
    return BERTH_OK;
  }
  if (is_within_row(&box, row_dim)) {
    uint32_t dim = berth_row_dimension(output.rank, output.dims);
    const uint8_t *from = (const uint8_t *)berth_row(&input, (uint32_t)box.begin[row_dim]) + start;
    for (uint32_t i = 0; i <= dim; i++) copy.dims[i] = 1;
    for (uint32_t row = call->first_row; row < call->last_row; row++)
      berth_strided_copy(berth_row(&output, row), from + (ptrdiff_t)row * copy.from[dim], &copy,
                         element);
    return BERTH_OK;
  }
  uint32_t height = (uint32_t)input.dims[row_dim], rows = (uint32_t)output.dims[row_dim];
  for (uint32_t i = 0; i <= row_dim; i++) copy.dims[i] = 1;
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t y = (uint32_t)(box.begin[row_dim] + (int32_t)(row % rows) * box.step[row_dim]);
    const uint8_t *from = berth_row(&input, row / rows * height + y);
    berth_strided_copy(berth_row(&output, row), from + start, &copy, element);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_slice = {
    .code = BERTH_BUILTIN_SLICE, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_strided_slice = {
    .code = BERTH_BUILTIN_STRIDED_SLICE, .prepare = prepare, .eval = eval};
