/* Folding a PAD into the VALID convolution behind it, where SAME padding does the same.
 *
 * SAME adds max((ceil(in / stride) - 1) x stride + extent - in, 0) elements, half of them (rounded
 * down) in front. If a PAD puts as many in front, and the outputs are as many, then every window
 * sees the same elements at the same places; how many there are behind does not matter, since what
 * no window reaches is not read. (TensorFlow: padding.h, ComputePadding.)
 *
 * Why the bits are the same: PAD writes zero, quantized the output's zero point; SAME leaves those
 * products out, which are zero (of floats: +0 or -0, which added to a sum that began with +0 change
 * nothing). The order of the others does not change. Zero times an infinity or NaN is no zero, so
 * float weights must be constant, and finite.
 */
#include "model/flatbuffer.h"
#include "optimize/cleanup.h"
#include "optimize/uses.h"

/* A convolution's geometry in one dimension. */
typedef struct axis {
  int64_t in; /* elements before padding */
  int64_t out;
  int64_t before; /* padding */
  int64_t after;
  int64_t stride;
  int64_t extent; /* of the filter, dilated */
} axis_t;

static bool same_equals(const axis_t *axis) {
  if (axis->stride < 1 || axis->extent < 1 || axis->in < 1) return false;
  int64_t padded = axis->in + axis->before + axis->after;
  if (padded < axis->extent) return false;
  int64_t valid_out = (padded - axis->extent) / axis->stride + 1;
  int64_t same_out = (axis->in + axis->stride - 1) / axis->stride;
  int64_t total = (same_out - 1) * axis->stride + axis->extent - axis->in;
  if (total < 0) total = 0;
  return valid_out == same_out && axis->out == same_out && axis->before == total / 2;
}

typedef struct fields {
  uint32_t padding, stride_h, stride_w, dilation_h, dilation_w;
} fields_t;

static bool fields_of(berth_builtin_t code, fields_t *fields) {
  if (code == BERTH_BUILTIN_CONV_2D) {
    *fields = (fields_t){BERTH_CONV_2D_PADDING, BERTH_CONV_2D_STRIDE_H, BERTH_CONV_2D_STRIDE_W,
                         BERTH_CONV_2D_DILATION_H, BERTH_CONV_2D_DILATION_W};
    return true;
  }
  if (code != BERTH_BUILTIN_DEPTHWISE_CONV_2D) return false;
  *fields = (fields_t){BERTH_DEPTHWISE_CONV_2D_PADDING, BERTH_DEPTHWISE_CONV_2D_STRIDE_H,
                       BERTH_DEPTHWISE_CONV_2D_STRIDE_W, BERTH_DEPTHWISE_CONV_2D_DILATION_H,
                       BERTH_DEPTHWISE_CONV_2D_DILATION_W};
  return true;
}

/* Four dimensions, of which height and width are known. */
static bool is_image(const berth_tensor_t *tensor) {
  if (tensor->shape.count != 4) return false;
  return tensor->signature.count != 4 || (berth_vector_int(tensor->signature, 1) >= 0 &&
                                          berth_vector_int(tensor->signature, 2) >= 0);
}

/* The paddings of height and width, if those are all there are. */
static bool read_paddings(const berth_edit_t *edit, uint32_t s, int32_t tensor, int64_t pads[4]) {
  if (tensor < 0) return false;
  berth_tensor_t info = berth_edit_tensor(edit, s, (uint32_t)tensor);
  berth_bytes_t data = berth_edit_data(edit, s, (uint32_t)tensor);
  bool wide = info.type == BERTH_TYPE_INT64;
  if (!wide && info.type != BERTH_TYPE_INT32) return false;
  if (data.size != (wide ? 64 : 32)) return false;
  berth_vector_t numbers = {data.data, 8};
  for (uint32_t i = 0; i < 8; i++) {
    int64_t pad = wide ? berth_vector_long(numbers, i) : berth_vector_int(numbers, i);
    if (pad < 0 || pad > INT32_MAX) return false;
    if (i >= 2 && i < 6) {
      pads[i - 2] = pad;
    } else if (pad != 0) {
      return false;
    }
  }
  return true;
}

static axis_t axis_of(const berth_tensor_t *input, const berth_tensor_t *filter,
                      const berth_tensor_t *output, uint32_t dimension, const int64_t *pads,
                      int64_t stride, int64_t dilation) {
  int64_t taps = berth_vector_int(filter->shape, dimension);
  return (axis_t){.in = berth_vector_int(input->shape, dimension),
                  .out = berth_vector_int(output->shape, dimension),
                  .before = pads[0],
                  .after = pads[1],
                  .stride = stride,
                  .extent = (taps - 1) * dilation + 1};
}

/* Is the convolution `op` with `pads` around `input` the same as with SAME padding? */
static bool is_same(const berth_edit_t *edit, uint32_t s, uint32_t op, uint32_t input,
                    const int64_t pads[4], const fields_t *fields) {
  const berth_edit_operator_t *conv = &edit->subgraphs[s].operators[op];
  if (conv->inputs.count < 2 || conv->inputs.values[1] < 0 || conv->outputs.count != 1 ||
      conv->outputs.values[0] < 0) {
    return false;
  }
  berth_table_t options = berth_edit_operator(edit, s, op).options;
  berth_tensor_t in = berth_edit_tensor(edit, s, input);
  berth_tensor_t filter = berth_edit_tensor(edit, s, (uint32_t)conv->inputs.values[1]);
  berth_tensor_t out = berth_edit_tensor(edit, s, (uint32_t)conv->outputs.values[0]);
  if (!is_image(&in) || !is_image(&out) || filter.shape.count != 4) return false;
  axis_t height =
      axis_of(&in, &filter, &out, 1, pads, berth_option_int(options, fields->stride_h, 0),
              berth_option_int(options, fields->dilation_h, 1));
  axis_t width =
      axis_of(&in, &filter, &out, 2, pads + 2, berth_option_int(options, fields->stride_w, 0),
              berth_option_int(options, fields->dilation_w, 1));
  return same_equals(&height) && same_equals(&width);
}

/* Is a product of any weight with zero a zero? */
static bool weights_are_finite(const berth_edit_t *edit, uint32_t s, uint32_t op) {
  uint32_t number = (uint32_t)edit->subgraphs[s].operators[op].inputs.values[1];
  berth_tensor_t filter = berth_edit_tensor(edit, s, number);
  if (filter.type != BERTH_TYPE_FLOAT32) return filter.type != BERTH_TYPE_FLOAT16;
  berth_bytes_t data = berth_edit_data(edit, s, number);
  if (data.size == 0 || filter.is_sparse) return false;
  for (uint64_t i = 0; i + 4 <= data.size; i += 4) {
    if ((flat_load32(data.data + i) & 0x7f800000u) == 0x7f800000u) return false;
  }
  return true;
}

static bool fold(berth_edit_t *edit, uint32_t s, uint32_t op, const berth_use_t *uses) {
  berth_edit_subgraph_t *subgraph = &edit->subgraphs[s];
  const berth_edit_operator_t *pad = &subgraph->operators[op];
  if (berth_edit_operator(edit, s, op).code != BERTH_BUILTIN_PAD) return false;
  if (pad->inputs.count != 2 || pad->outputs.count != 1) return false;
  int32_t input = pad->inputs.values[0], output = pad->outputs.values[0];
  if (input < 0 || output < 0 || !berth_use_is_private(&uses[output])) return false;
  if (uses[input].variable) return false;
  berth_tensor_t from = berth_edit_tensor(edit, s, (uint32_t)input);
  berth_tensor_t to = berth_edit_tensor(edit, s, (uint32_t)output);
  int64_t pads[4];
  if (!berth_same_numbers(&from, &to) || !read_paddings(edit, s, pad->inputs.values[1], pads)) {
    return false;
  }
  uint32_t reader = uses[output].reader;
  berth_edit_operator_t *conv = &subgraph->operators[reader];
  fields_t fields;
  if (!fields_of(berth_edit_operator(edit, s, reader).code, &fields)) return false;
  if (conv->inputs.values[0] != output) return false;
  if (berth_edit_option(edit, s, reader, fields.padding, 0) != BERTH_PADDING_VALID) return false;
  if (!is_same(edit, s, reader, (uint32_t)input, pads, &fields)) return false;
  if (!weights_are_finite(edit, s, reader)) return false;
  if (!berth_edit_set_option(edit, s, reader, fields.padding, BERTH_PADDING_SAME)) return false;
  conv->inputs.values[0] = input;
  berth_edit_drop_operator(edit, s, op);
  return true;
}

berth_status_t berth_clean_pads(berth_edit_t *edit, uint32_t *count) {
  return berth_clean_operators(edit, fold, count);
}
