/* Safe distances of TFLM's reference kernels.
 *
 * Output element number t (of `output_element` bytes) is written at time t, after what it reads. If
 * the input begins d bytes behind the output's start, input byte j lies where the output writes its
 * byte d + j; that must not be before the last read of j, at time T(j): d >= output_element x T(j)
 * - j. The distance is the largest of these over all bytes that are read at all. Time and place are
 * both sums of one term for each of batch, y, x and channel, so each is made as large as it can be
 * by itself; T grows evenly with the batch and the channel, of which only first and last matter.
 *
 * Loop orders are those of tensorflow/lite/kernels/internal/reference of tflite-micro, by reading:
 * conv.h, depthwiseconv_uint8.h and integer_ops (batch, y, x, output channel), pooling.h, pad.h
 * (copies elements in the output's order), and element by element for the rest.
 */
#include "stock/diagonal.h"
#include "berth/graph.h"
#include "stock/overlap.h"
#include <string.h>

/* One dimension of a stencil, rows or columns. */
typedef struct axis {
  uint32_t inputs, outputs;
  uint32_t pad, stride, dilation, filter;
} axis_t;

/* The last output row (or column) that reads an input row; -1: none does. The filter's first row
 * belongs to the last reader; which of its rows meet an output repeats after `stride` of them. */
static int64_t last_reader(const axis_t *axis, uint32_t input) {
  int64_t beyond = (int64_t)input + axis->pad - (int64_t)(axis->outputs - 1) * axis->stride;
  int64_t first = beyond > 0 ? (beyond + axis->dilation - 1) / axis->dilation : 0;
  for (int64_t i = first; i < axis->filter && i < first + axis->stride; i++) {
    int64_t start = (int64_t)input + axis->pad - i * axis->dilation;
    if (start < 0) break;
    if (start % axis->stride == 0) return start / axis->stride;
  }
  return -1;
}

/* The most that a row (or column) adds to the distance, whose outputs are `output_step` bytes apart
 * and whose inputs `input_step`; INT64_MIN: none is read. */
static int64_t most_of(const axis_t *axis, int64_t output_step, int64_t input_step) {
  int64_t most = INT64_MIN;
  for (uint32_t i = 0; i < axis->inputs; i++) {
    int64_t reader = last_reader(axis, i);
    if (reader < 0) continue;
    int64_t needed = reader * output_step - i * input_step;
    if (needed > most) most = needed;
  }
  return most;
}

/* The same of something that grows evenly, `step` bytes each. */
static int64_t most_of_even(uint32_t count, int64_t step) {
  return step > 0 ? (count - 1) * step : 0;
}

uint64_t berth_stencil_distance(const berth_stencil_t *s) {
  const axis_t rows = {s->input_h,  s->output_h,   s->pad_top,
                       s->stride_h, s->dilation_h, s->filter_h};
  const axis_t columns = {s->input_w,  s->output_w,   s->pad_left,
                          s->stride_w, s->dilation_w, s->filter_w};
  int64_t out_pixel = (int64_t)s->output_c * s->output_element;
  int64_t in_pixel = (int64_t)s->input_c * s->input_element;
  int64_t out_row = s->output_w * out_pixel, in_row = s->input_w * in_pixel;
  int64_t row = most_of(&rows, out_row, in_row), column = most_of(&columns, out_pixel, in_pixel);
  if (row == INT64_MIN || column == INT64_MIN) return 0; /* nothing is read at all */
  int64_t distance =
      row + column + most_of_even(s->batches, s->output_h * out_row - s->input_h * in_row);
  /* The last output element of a pixel that reads a channel. */
  int64_t each = (int64_t)s->multiplier * s->output_element;
  int64_t element = s->input_element;
  distance += (s->multiplier > 0 ? each : out_pixel) - s->output_element;
  distance += most_of_even(s->input_c, each - element);
  return distance > 0 ? (uint64_t)distance : 0;
}

/* ---- From operators to stencils -------------------------------------------------------------- */

#define SIDE_MAX     65536     /* most rows, columns or channels */
#define ELEMENTS_MAX INT32_MAX /* of a tensor: products then stay far below 2^63 */

/* The tensor, if it has this rank, all of its dimensions are known and positive, and it is not
 * larger than an arena can be. */
static bool take(const berth_model_t *model, uint32_t subgraph, berth_vector_t list, uint32_t index,
                 uint32_t rank, berth_tensor_t *tensor, uint32_t *dims, uint32_t *element) {
  int32_t number = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (number == BERTH_NO_TENSOR) return false;
  *tensor = berth_model_tensor(model, subgraph, (uint32_t)number);
  *element = berth_tensor_type_bits(tensor->type) / 8;
  if (tensor->shape.count != rank || *element == 0) return false;
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; i++) {
    int32_t dim = berth_vector_int(tensor->shape, i);
    if (dim < 1 || dim > SIDE_MAX) return false;
    dims[i] = (uint32_t)dim;
    elements *= dims[i];
    if (elements > ELEMENTS_MAX) return false;
  }
  return true;
}

static uint32_t pad_before(uint32_t input, uint32_t output, uint32_t stride, uint32_t dilation,
                           uint32_t filter, bool same) {
  uint64_t needed = (uint64_t)(output - 1) * stride + (uint64_t)(filter - 1) * dilation + 1;
  return same && needed > input ? (uint32_t)((needed - input) / 2) : 0;
}

/* Fills in input, output and element sizes of an operator on images. */
static bool take_images(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                        berth_stencil_t *s) {
  berth_tensor_t tensor;
  uint32_t in[4], out[4];
  if (!take(model, subgraph, op->inputs, 0, 4, &tensor, in, &s->input_element) ||
      !take(model, subgraph, op->outputs, 0, 4, &tensor, out, &s->output_element) ||
      in[0] != out[0]) {
    return false;
  }
  s->batches = in[0];
  s->input_h = in[1], s->input_w = in[2], s->input_c = in[3];
  s->output_h = out[1], s->output_w = out[2], s->output_c = out[3];
  return true;
}

static bool take_steps(const berth_operator_t *op, uint32_t stride_w, uint32_t dilation_w,
                       berth_stencil_t *s) {
  int32_t steps[4] = {berth_option_int(op->options, stride_w, 0),
                      berth_option_int(op->options, stride_w + 1, 0), 1, 1};
  if (dilation_w != UINT32_MAX) {
    steps[2] = berth_option_int(op->options, dilation_w, 1);
    steps[3] = berth_option_int(op->options, dilation_w + 1, 1);
  }
  for (int i = 0; i < 4; i++) {
    if (steps[i] < 1 || steps[i] > SIDE_MAX) return false;
  }
  s->stride_w = (uint32_t)steps[0], s->stride_h = (uint32_t)steps[1];
  s->dilation_w = (uint32_t)steps[2], s->dilation_h = (uint32_t)steps[3];
  return true;
}

static void take_padding(const berth_operator_t *op, berth_stencil_t *s) {
  bool same = berth_option_byte(op->options, BERTH_CONV_2D_PADDING, 0) == BERTH_PADDING_SAME;
  s->pad_top = pad_before(s->input_h, s->output_h, s->stride_h, s->dilation_h, s->filter_h, same);
  s->pad_left = pad_before(s->input_w, s->output_w, s->stride_w, s->dilation_w, s->filter_w, same);
}

static bool conv(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                 berth_stencil_t *s) {
  berth_tensor_t tensor;
  uint32_t filter[4], element;
  bool depthwise = op->code == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
  uint32_t dilation = depthwise ? BERTH_DEPTHWISE_CONV_2D_DILATION_W : BERTH_CONV_2D_DILATION_W;
  if (!take_images(model, subgraph, op, s) ||
      !take_steps(op, BERTH_CONV_2D_STRIDE_W, dilation, s) ||
      !take(model, subgraph, op->inputs, 1, 4, &tensor, filter, &element)) {
    return false;
  }
  if (depthwise && s->output_c % s->input_c != 0) return false;
  s->filter_h = filter[1], s->filter_w = filter[2];
  s->multiplier = depthwise ? s->output_c / s->input_c : 0;
  take_padding(op, s);
  return true;
}

static bool pool(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                 berth_stencil_t *s) {
  int32_t w = berth_option_int(op->options, BERTH_POOL_2D_FILTER_W, 0);
  int32_t h = berth_option_int(op->options, BERTH_POOL_2D_FILTER_H, 0);
  if (!take_images(model, subgraph, op, s) ||
      !take_steps(op, BERTH_POOL_2D_STRIDE_W, UINT32_MAX, s) || w < 1 || h < 1 || w > SIDE_MAX ||
      h > SIDE_MAX || s->input_c != s->output_c) {
    return false;
  }
  s->filter_h = (uint32_t)h, s->filter_w = (uint32_t)w;
  s->multiplier = 1;
  take_padding(op, s);
  return true;
}

/* Every output of a row reads the whole row: a stencil of one pixel per batch. */
static bool fully_connected(const berth_model_t *model, uint32_t subgraph,
                            const berth_operator_t *op, berth_stencil_t *s) {
  berth_tensor_t tensor;
  uint32_t weights[2], element;
  if (!take(model, subgraph, op->inputs, 1, 2, &tensor, weights, &element)) return false;
  uint64_t bytes[2];
  const berth_vector_t lists[2] = {op->inputs, op->outputs};
  for (int i = 0; i < 2; i++) {
    int32_t number = lists[i].count > 0 ? berth_vector_int(lists[i], 0) : BERTH_NO_TENSOR;
    if (number == BERTH_NO_TENSOR) return false;
    tensor = berth_model_tensor(model, subgraph, (uint32_t)number);
    *(i == 0 ? &s->input_element : &s->output_element) = berth_tensor_type_bits(tensor.type) / 8;
    if (berth_tensor_type_bits(tensor.type) < 8 ||
        berth_tensor_bytes(tensor.type, tensor.shape, &bytes[i]) != BERTH_OK) {
      return false;
    }
  }
  uint64_t batches = bytes[0] / s->input_element / weights[1];
  if (batches < 1 || batches > SIDE_MAX || batches * weights[1] * s->input_element != bytes[0] ||
      batches * weights[0] * s->output_element != bytes[1]) {
    return false;
  }
  s->batches = (uint32_t)batches;
  s->input_c = weights[1], s->output_c = weights[0];
  return true;
}

/* Copies the input's elements in order, other elements before, between and behind them: the last
 * one has been moved furthest. */
static bool pad(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                uint64_t *distance) {
  berth_tensor_t input, output, amounts;
  uint32_t in[4], out[4], counts[2], element, same;
  if (!take(model, subgraph, op->inputs, 0, 4, &input, in, &element) ||
      !take(model, subgraph, op->outputs, 0, 4, &output, out, &same) ||
      !take(model, subgraph, op->inputs, 1, 2, &amounts, counts, &same) || counts[0] != 4 ||
      counts[1] != 2 || amounts.type != BERTH_TYPE_INT32) {
    return false;
  }
  berth_bytes_t data = berth_model_tensor_data(model, &amounts);
  if (data.size < 8 * sizeof(int32_t)) return false;
  berth_vector_t values = {data.data, 8};
  uint64_t from = 0, to = 0;
  for (uint32_t i = 0; i < 4; i++) {
    int32_t before = berth_vector_int(values, 2 * i);
    if (before < 0 || (uint64_t)before + in[i] > out[i]) return false;
    from = from * in[i] + in[i] - 1;
    to = to * out[i] + (uint32_t)before + in[i] - 1;
  }
  *distance = (to - from) * element;
  return true;
}

/* Element by element, of inputs that have as many elements as the output. */
static bool elementwise(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                        uint32_t input, uint64_t *distance) {
  uint64_t bytes[2];
  uint32_t elements[2];
  const berth_vector_t lists[2] = {op->inputs, op->outputs};
  for (int i = 0; i < 2; i++) {
    uint32_t index = i == 0 ? input : 0;
    int32_t number = index < lists[i].count ? berth_vector_int(lists[i], index) : BERTH_NO_TENSOR;
    if (number == BERTH_NO_TENSOR) return false;
    berth_tensor_t tensor = berth_model_tensor(model, subgraph, (uint32_t)number);
    elements[i] = berth_tensor_type_bits(tensor.type) / 8;
    if (elements[i] == 0 || berth_tensor_bytes(tensor.type, tensor.shape, &bytes[i]) != BERTH_OK) {
      return false;
    }
  }
  uint64_t count = bytes[0] / elements[0];
  if (count == 0 || count != bytes[1] / elements[1]) return false;
  *distance = elements[1] > elements[0] ? (elements[1] - elements[0]) * (count - 1) : 0;
  return true;
}

bool berth_stock_diagonal(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                          uint32_t input, uint64_t *distance) {
  berth_operator_t what = berth_model_operator(model, subgraph, op);
  berth_stencil_t stencil = {.input_h = 1,
                             .input_w = 1,
                             .output_h = 1,
                             .output_w = 1,
                             .filter_h = 1,
                             .filter_w = 1,
                             .stride_h = 1,
                             .stride_w = 1,
                             .dilation_h = 1,
                             .dilation_w = 1};
  bool known = false;
  switch (what.code) {
  case BERTH_BUILTIN_CONV_2D:
  case BERTH_BUILTIN_DEPTHWISE_CONV_2D:
    known = input == 0 && conv(model, subgraph, &what, &stencil);
    break;
  case BERTH_BUILTIN_AVERAGE_POOL_2D:
  case BERTH_BUILTIN_MAX_POOL_2D:
    known = input == 0 && pool(model, subgraph, &what, &stencil);
    break;
  case BERTH_BUILTIN_FULLY_CONNECTED:
    known = input == 0 && fully_connected(model, subgraph, &what, &stencil);
    break;
  case BERTH_BUILTIN_PAD:
  case BERTH_BUILTIN_PADV2:
    return input == 0 && pad(model, subgraph, &what, distance);
  case BERTH_BUILTIN_DEQUANTIZE:
    return input == 0 && elementwise(model, subgraph, &what, input, distance);
  default: {
    const berth_stock_overlap_t *entry = berth_stock_overlap(what.code);
    if (entry == NULL || entry->view != BERTH_VIEW_NONE || input >= 32) return false;
    return (entry->inputs >> input & 1u) && elementwise(model, subgraph, &what, input, distance);
  }
  }
  if (known) *distance = berth_stencil_distance(&stencil);
  return known;
}

const char *berth_stock_diagonal_reason(berth_builtin_t code) {
  switch (code) {
  case BERTH_BUILTIN_CONV_2D:
  case BERTH_BUILTIN_DEPTHWISE_CONV_2D:
  case BERTH_BUILTIN_AVERAGE_POOL_2D:
  case BERTH_BUILTIN_MAX_POOL_2D:
    return "makes pixels in order, each from its window: "
           "a byte is written after the last window that has it";
  case BERTH_BUILTIN_FULLY_CONNECTED:
    return "makes rows in order, each from one row of the input: "
           "a byte is written after its row was used";
  case BERTH_BUILTIN_PAD:
  case BERTH_BUILTIN_PADV2:
    return "copies elements in order: a byte is written after it was copied";
  default:
    return "makes elements in order, each from the one at its place: "
           "a byte is written after it was read";
  }
}
