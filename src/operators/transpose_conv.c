/* TRANSPOSE_CONV: the kernel, which reads the geometry and picks a variant by types.
 *
 * The output's shape is the first input. Where that is no constant, the shape in the file counts if
 * there is one, as in stock TFLM; otherwise it is known only when the operator runs.
 */
#include "operators/transpose_conv.h"
#include "operators/kernels.h"
#include "operators/shape.h"

#define TAPS_MAX   (1u << 24) /* inputs of one output */
#define EXTENT_MAX (1 << 24)  /* output rows, columns, channels */

enum { SHAPE, FILTER, INPUT, BIAS }; /* inputs */

berth_status_t berth_transpose_conv_measure(berth_call_t *call, berth_transpose_conv_t *conv) {
  const berth_value_t *input = &conv->input, *filter = &conv->filter;
  if (!input->present || !filter->present || !conv->output.present) {
    return berth_refuse(call, "needs an input, a filter and an output");
  }
  if (input->rank != 4 || filter->rank != 4) return berth_refuse(call, "takes rank 4 only");
  if (input->elements == 0 || filter->elements == 0) return berth_refuse(call, "has no elements");
  conv->batches = (uint32_t)input->dims[0];
  conv->input_h = (uint32_t)input->dims[1];
  conv->input_w = (uint32_t)input->dims[2];
  conv->input_c = (uint32_t)input->dims[3];
  conv->output_c = (uint32_t)filter->dims[0];
  conv->filter_h = (uint32_t)filter->dims[1];
  conv->filter_w = (uint32_t)filter->dims[2];
  if (filter->dims[3] != input->dims[3]) {
    return berth_refuse(call, "has a filter that does not fit the input's channels");
  }
  if ((uint64_t)conv->filter_h * conv->filter_w * conv->input_c > TAPS_MAX) {
    return berth_refuse(call, "has a filter that is too large");
  }
  if (conv->bias.present && conv->bias.elements != conv->output_c) {
    return berth_refuse(call, "needs one bias for each output channel");
  }
  return BERTH_OK;
}

void berth_transpose_conv_turn(berth_transpose_conv_t *conv) {
  if (conv->input_h != 1 || conv->output_h != 1 || conv->filter_h != 1) return;
  conv->turned = true;
  conv->input_h = conv->input_w;
  conv->output_h = conv->output_w;
  conv->filter_h = conv->filter_w;
  conv->stride_h = conv->stride_w;
  conv->pad_h = conv->pad_w;
  conv->input_w = conv->output_w = conv->filter_w = conv->stride_w = 1;
  conv->pad_w = 0;
}

/* Do the rows of input and output lie along what is the height here? */
static bool rows_are_high(const berth_transpose_conv_t *conv) {
  const int32_t output[4] = {1, (int32_t)conv->output_h, (int32_t)conv->output_w, 1};
  return conv->turned || berth_shape_rows_are_high(conv->input.dims, output);
}

void berth_transpose_conv_lay(berth_call_t *call, berth_transpose_conv_t *conv) {
  if (rows_are_high(conv)) return;
  conv->input = berth_with_rows(conv->input, conv->batches * conv->input_h);
  conv->output = berth_with_rows(conv->output, conv->batches * conv->output_h);
  call->first_row = 0;
  call->last_row = conv->output.rows;
}

void berth_transpose_conv_windows(const berth_transpose_conv_t *conv, uint32_t input,
                                  berth_contract_t *contract) {
  if (conv->batches != 1 || !rows_are_high(conv)) return;
  /* Output row r = q x stride + rest reads input rows up to (r + pad) / stride, from the first
   * whose last filter row reaches r: both differ from q by no more than this. */
  int64_t stride = conv->stride_h, pad = conv->pad_h, reach = (int64_t)conv->filter_h - 1 - pad;
  int64_t first = reach > 0 ? -(reach / stride) : (-reach + stride - 1) / stride;
  int64_t last = (stride - 1 + pad) / stride;
  if (last < first || stride > INT32_MAX) return;
  contract->kind = BERTH_ROW_LOCAL;
  for (uint32_t i = 0; i < BERTH_WINDOWS_MAX; i++) contract->windows[i] = berth_window_all();
  contract->windows[input] = (berth_window_t){.numerator = 1,
                                              .denominator = (int32_t)stride,
                                              .offset = (int32_t)first,
                                              .extent = (int32_t)(last - first + 1)};
}

/* Rows (columns) cut off before the output, which is what a convolution of the output would pad. */
static uint32_t padding_of(int32_t padding, uint32_t output, uint32_t filter, uint32_t stride) {
  if (padding != BERTH_PADDING_SAME) return 0;
  int64_t count = ((int64_t)output + stride - 1) / stride;
  int64_t missing = (count - 1) * stride + filter - output;
  return missing > 0 ? (uint32_t)(missing / 2) : 0;
}

/* Takes the output's dimensions. */
static berth_status_t shape_of(berth_call_t *call, const berth_value_t *shape,
                               const berth_transpose_conv_t *conv, int32_t dims[4]) {
  if (shape->elements != 4 || !berth_shape_is_int(shape)) {
    return berth_refuse(call, "needs four integers as the output's shape");
  }
  for (uint32_t i = 0; i < 4; i++) {
    int64_t dim = berth_shape_int(shape, i);
    if (dim < 1 || dim > EXTENT_MAX) return berth_refuse(call, "has an output shape out of range");
    dims[i] = (int32_t)dim;
  }
  if ((uint32_t)dims[0] != conv->batches || (uint32_t)dims[3] != conv->output_c) {
    return berth_refuse(call, "has an output shape that does not fit its input and filter");
  }
  return BERTH_OK;
}

static void set_output(berth_call_t *call, berth_transpose_conv_t *conv, const int32_t dims[4]) {
  int32_t padding = berth_option_byte(call->op.options, BERTH_TRANSPOSE_CONV_PADDING, 0);
  conv->output_h = (uint32_t)dims[1];
  conv->output_w = (uint32_t)dims[2];
  conv->pad_h = padding_of(padding, conv->output_h, conv->filter_h, conv->stride_h);
  conv->pad_w = padding_of(padding, conv->output_w, conv->filter_w, conv->stride_w);
  berth_transpose_conv_turn(conv);
}

/* All but the output's extent and the padding, which follows from it. */
static berth_status_t read_conv(berth_call_t *call, berth_transpose_conv_t *conv) {
  berth_table_t options = call->op.options;
  int32_t stride_h = berth_option_int(options, BERTH_TRANSPOSE_CONV_STRIDE_H, 0);
  int32_t stride_w = berth_option_int(options, BERTH_TRANSPOSE_CONV_STRIDE_W, 0);
  *conv = (berth_transpose_conv_t){
      .input = berth_input(call, INPUT),
      .filter = berth_input(call, FILTER),
      .bias = berth_input(call, BIAS),
      .output = berth_output(call, 0),
      .stride_h = (uint32_t)stride_h,
      .stride_w = (uint32_t)stride_w,
      .activation = berth_option_byte(options, BERTH_TRANSPOSE_CONV_ACTIVATION, 0)};
  if (stride_h < 1 || stride_w < 1) return berth_refuse(call, "needs strides of at least 1");
  if (conv->activation < 0 || conv->activation > BERTH_ACTIVATION_RELU6) {
    return berth_refuse(call, "has a fused activation that convolutions don't support");
  }
  return berth_transpose_conv_measure(call, conv);
}

/* ---- Types ----------------------------------------------------------------------------------- */

typedef struct variant {
  berth_tensor_type_t input, filter;
  berth_status_t (*prepare)(berth_call_t *, const berth_transpose_conv_t *, berth_contract_t *);
  berth_status_t (*init)(berth_call_t *, const berth_transpose_conv_t *);
  berth_status_t (*eval)(berth_call_t *, const berth_transpose_conv_t *);
} variant_t;

static const variant_t variants[] = {
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32, berth_transpose_conv_float_prepare, NULL,
     berth_transpose_conv_float_eval},
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT16, berth_transpose_conv_float_prepare, NULL,
     berth_transpose_conv_float_eval},
    {BERTH_TYPE_INT8, BERTH_TYPE_INT8, berth_transpose_conv_quantized_prepare,
     berth_transpose_conv_quantized_init, berth_transpose_conv_quantized_eval},
    {BERTH_TYPE_UINT8, BERTH_TYPE_UINT8, berth_transpose_conv_quantized_prepare,
     berth_transpose_conv_quantized_init, berth_transpose_conv_quantized_eval},
    {BERTH_TYPE_INT16, BERTH_TYPE_INT8, berth_transpose_conv_quantized_prepare,
     berth_transpose_conv_quantized_init, berth_transpose_conv_quantized_eval},
};

static const variant_t *find(const berth_transpose_conv_t *conv) {
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    if (variants[i].input == conv->input.type && variants[i].filter == conv->filter.type &&
        conv->output.type == conv->input.type) {
      return &variants[i];
    }
  }
  return NULL;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_transpose_conv_t conv;
  berth_status_t status = read_conv(call, &conv);
  if (status != BERTH_OK) return status;
  const variant_t *variant = find(&conv);
  if (variant == NULL) return berth_refuse(call, "does not take this combination of types");
  berth_value_t shape = berth_input(call, SHAPE);
  int32_t dims[4];
  if (shape.constant) {
    status = shape_of(call, &shape, &conv, dims);
    if (status != BERTH_OK) return status;
  } else if (conv.output.known && conv.output.rank == 4) {
    for (uint32_t i = 0; i < 4; i++) dims[i] = conv.output.dims[i];
    if ((uint32_t)dims[0] != conv.batches || (uint32_t)dims[3] != conv.output_c ||
        conv.output.elements == 0) {
      return berth_refuse(call, "has an output that does not fit its input and filter");
    }
  } else {
    status = berth_set_unknown(call, 0);
    return status != BERTH_OK ? status : variant->prepare(call, &conv, contract);
  }
  status = berth_set_shape(call, 0, 4, dims);
  if (status != BERTH_OK) return status;
  set_output(call, &conv, dims);
  berth_transpose_conv_windows(&conv, INPUT, contract);
  return variant->prepare(call, &conv, contract);
}

static berth_status_t init(berth_call_t *call) {
  berth_transpose_conv_t conv;
  berth_status_t status = read_conv(call, &conv);
  if (status != BERTH_OK) return status;
  const variant_t *variant = find(&conv);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  return variant->init != NULL ? variant->init(call, &conv) : BERTH_OK;
}

static berth_status_t eval(berth_call_t *call) {
  berth_transpose_conv_t conv;
  berth_status_t status = read_conv(call, &conv);
  if (status != BERTH_OK) return status;
  const variant_t *variant = find(&conv);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  if (!conv.output.known) {
    berth_value_t shape = berth_input(call, SHAPE);
    int32_t dims[4];
    if (!shape.present) return berth_refuse(call, "needs the output's shape");
    status = shape_of(call, &shape, &conv, dims);
    if (status == BERTH_OK) status = berth_set_shape(call, 0, 4, dims);
    if (status != BERTH_OK) return status;
    conv.output = berth_output(call, 0);
    call->first_row = 0;
    call->last_row = conv.output.rows;
  }
  set_output(call, &conv, conv.output.dims);
  berth_transpose_conv_lay(call, &conv);
  return variant->eval(call, &conv);
}

const berth_kernel_t berth_kernel_transpose_conv = {.code = BERTH_BUILTIN_TRANSPOSE_CONV,
                                                    .float16_inputs = 0xa,
                                                    .prepare = prepare,
                                                    .init = init,
                                                    .eval = eval};
