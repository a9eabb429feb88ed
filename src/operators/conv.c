/* Geometry of two-dimensional convolutions, and the choice of a variant by types: used by CONV_2D
 * and DEPTHWISE_CONV_2D. Padding is TensorFlow's: SAME puts the odd row or column at the end. */
#include "operators/conv.h"
#include "operators/shape.h"

#define TAPS_MAX (1u << 24) /* inputs of one output; keeps 32-bit sizes of patches in range */

/* Where each option is in the operator's table. */
typedef struct fields {
  uint32_t padding, stride_w, stride_h, activation, dilation_w, dilation_h;
} fields_t;

static const fields_t fields_of[] = {
    {BERTH_CONV_2D_PADDING, BERTH_CONV_2D_STRIDE_W, BERTH_CONV_2D_STRIDE_H,
     BERTH_CONV_2D_ACTIVATION, BERTH_CONV_2D_DILATION_W, BERTH_CONV_2D_DILATION_H},
    {BERTH_DEPTHWISE_CONV_2D_PADDING, BERTH_DEPTHWISE_CONV_2D_STRIDE_W,
     BERTH_DEPTHWISE_CONV_2D_STRIDE_H, BERTH_DEPTHWISE_CONV_2D_ACTIVATION,
     BERTH_DEPTHWISE_CONV_2D_DILATION_W, BERTH_DEPTHWISE_CONV_2D_DILATION_H},
};

/* Output extent along one axis, and the padding before it. False: nothing fits. */
static bool extent(int32_t padding, uint32_t input, uint32_t filter, uint32_t stride,
                   uint32_t dilation, uint32_t *output, uint32_t *pad) {
  int64_t span = (int64_t)(filter - 1) * dilation + 1;
  int64_t count = padding == BERTH_PADDING_SAME ? ((int64_t)input + stride - 1) / stride
                                                : ((int64_t)input + stride - span) / stride;
  if (count <= 0 || span > INT32_MAX) return false;
  int64_t missing = (count - 1) * stride + span - input;
  *output = (uint32_t)count;
  *pad = missing > 0 ? (uint32_t)(missing / 2) : 0;
  return true;
}

berth_status_t berth_conv_read(berth_call_t *call, bool depthwise, berth_conv_t *conv) {
  *conv = (berth_conv_t){.input = berth_input(call, 0),
                         .filter = berth_input(call, 1),
                         .bias = berth_input(call, 2),
                         .output = berth_output(call, 0)};
  const berth_value_t *input = &conv->input, *filter = &conv->filter;
  if (!input->present || !filter->present || !conv->output.present) {
    return berth_refuse(call, "needs an input, a filter and an output");
  }
  if (input->rank != 4 || filter->rank != 4) return berth_refuse(call, "takes rank 4 only");
  if (!berth_is_aligned(input)) return berth_refuse(call, "takes no unaligned constant");
  if (input->elements == 0 || filter->elements == 0) return berth_refuse(call, "has no elements");

  const fields_t *fields = &fields_of[depthwise];
  int32_t stride_h = berth_option_int(call->op.options, fields->stride_h, 0);
  int32_t stride_w = berth_option_int(call->op.options, fields->stride_w, 0);
  int32_t dilation_h = berth_option_int(call->op.options, fields->dilation_h, 1);
  int32_t dilation_w = berth_option_int(call->op.options, fields->dilation_w, 1);
  if (stride_h < 1 || stride_w < 1 || dilation_h < 1 || dilation_w < 1) {
    return berth_refuse(call, "needs strides and dilations of at least 1");
  }
  conv->stride_h = (uint32_t)stride_h;
  conv->stride_w = (uint32_t)stride_w;
  conv->dilation_h = (uint32_t)dilation_h;
  conv->dilation_w = (uint32_t)dilation_w;
  conv->activation = berth_option_byte(call->op.options, fields->activation, 0);
  if (conv->activation < 0 || conv->activation > BERTH_ACTIVATION_RELU6) {
    return berth_refuse(call, "has a fused activation that convolutions don't support");
  }

  conv->batches = (uint32_t)input->dims[0];
  conv->input_h = (uint32_t)input->dims[1];
  conv->input_w = (uint32_t)input->dims[2];
  conv->input_c = (uint32_t)input->dims[3];
  conv->filter_h = (uint32_t)filter->dims[1];
  conv->filter_w = (uint32_t)filter->dims[2];
  conv->output_c = (uint32_t)filter->dims[depthwise ? 3 : 0];
  conv->filter_c = depthwise ? 1 : (uint32_t)filter->dims[3];
  conv->groups = conv->input_c / conv->filter_c;
  if (depthwise && filter->dims[0] != 1) return berth_refuse(call, "has a filter of a wrong shape");
  if (conv->groups == 0 || conv->input_c % conv->filter_c != 0 ||
      conv->output_c % conv->groups != 0) {
    return berth_refuse(call, "has a filter that does not fit the input's channels");
  }
  if ((uint64_t)conv->filter_h * conv->filter_w * conv->filter_c > TAPS_MAX) {
    return berth_refuse(call, "has a filter that is too large");
  }
  if (conv->bias.present && conv->bias.elements != conv->output_c) {
    return berth_refuse(call, "needs one bias for each output channel");
  }
  int32_t padding = berth_option_byte(call->op.options, fields->padding, 0);
  if (!extent(padding, conv->input_h, conv->filter_h, conv->stride_h, conv->dilation_h,
              &conv->output_h, &conv->pad_h) ||
      !extent(padding, conv->input_w, conv->filter_w, conv->stride_w, conv->dilation_w,
              &conv->output_w, &conv->pad_w)) {
    return berth_refuse(call, "has an input that is smaller than the filter");
  }
  conv->pixels = (uint64_t)conv->output_h * conv->output_w;
  conv->columns =
      conv->input_h == 1 && conv->output_h == 1 && (conv->input_w > 1 || conv->output_w > 1);
  return BERTH_OK;
}

static void output_dims(const berth_conv_t *conv, int32_t dims[4]) {
  dims[0] = (int32_t)conv->batches;
  dims[1] = (int32_t)conv->output_h;
  dims[2] = (int32_t)conv->output_w;
  dims[3] = (int32_t)conv->output_c;
}

/* Rows of both tensors lie along the height. */
static bool rows_are_high(const berth_conv_t *conv) {
  int32_t dims[4];
  output_dims(conv, dims);
  return berth_shape_rows_are_high(conv->input.dims, dims);
}

static const berth_conv_variant_t *find(const berth_conv_t *conv,
                                        const berth_conv_variant_t *variants) {
  for (; variants->prepare != NULL; variants++) {
    if (variants->input == conv->input.type && variants->filter == conv->filter.type &&
        variants->output == conv->output.type) {
      return variants;
    }
  }
  return NULL;
}

/* The rows (columns) of the image that an output row (column) reads. */
static berth_window_t window(uint32_t stride, uint32_t pad, uint32_t taps, uint32_t dilation) {
  return (berth_window_t){.numerator = (int32_t)stride,
                          .denominator = 1,
                          .offset = -(int32_t)pad,
                          .extent = (int32_t)((taps - 1) * dilation + 1)};
}

berth_status_t berth_conv_prepare(berth_call_t *call, berth_contract_t *contract, bool depthwise,
                                  const berth_conv_variant_t *variants) {
  berth_conv_t conv;
  berth_status_t status = berth_conv_read(call, depthwise, &conv);
  if (status != BERTH_OK) return status;
  const berth_conv_variant_t *variant = find(&conv, variants);
  if (variant == NULL) return berth_refuse(call, "does not take this combination of types");
  bool local = conv.columns ? berth_conv_columns_are_local(&conv) : rows_are_high(&conv);
  if (conv.batches == 1 && local) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] = conv.columns
                               ? window(conv.stride_w, conv.pad_w, conv.filter_w, conv.dilation_w)
                               : window(conv.stride_h, conv.pad_h, conv.filter_h, conv.dilation_h);
    contract->windows[1] = contract->windows[2] = berth_window_all();
  }
  int32_t dims[4];
  output_dims(&conv, dims);
  status = berth_set_shape(call, 0, 4, dims);
  if (status == BERTH_OK) status = variant->prepare(call, &conv, contract);
  /* Groups may come one after the other within the row that all columns are. */
  if (conv.batches > 1 || !local || (conv.columns && conv.groups > 1)) contract->ordered = false;
  return status;
}

berth_status_t berth_conv_init(berth_call_t *call, bool depthwise,
                               const berth_conv_variant_t *variants) {
  berth_conv_t conv;
  berth_status_t status = berth_conv_read(call, depthwise, &conv);
  if (status != BERTH_OK) return status;
  const berth_conv_variant_t *variant = find(&conv, variants);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  return variant->init != NULL ? variant->init(call, &conv) : BERTH_OK;
}

/* What eval has read, and may keep from one piece of a run to the next. */
typedef struct reading {
  berth_conv_t conv;
  const berth_conv_variant_t *variant;
  bool is_high; /* rows lie along the height */
} reading_t;

static berth_status_t read_all(berth_call_t *call, bool depthwise,
                               const berth_conv_variant_t *variants, reading_t *reading) {
  berth_conv_t *conv = &reading->conv;
  berth_status_t status = berth_conv_read(call, depthwise, conv);
  if (status != BERTH_OK) return status;
  reading->variant = find(conv, variants);
  reading->is_high = rows_are_high(conv);
  conv->keep = call->last_row - call->first_row < conv->output.rows ? 1 : 0;
  return reading->variant != NULL ? BERTH_OK : BERTH_ERROR_INTERNAL;
}

/* All of an image whose tensors' rows do not lie along its height. */
static berth_status_t eval_along_height(berth_call_t *call, const reading_t *reading) {
  berth_conv_t conv = reading->conv;
  conv.input = berth_with_rows(conv.input, conv.batches * conv.input_h);
  conv.output = berth_with_rows(conv.output, conv.batches * conv.output_h);
  call->first_row = 0;
  call->last_row = conv.output.rows;
  return reading->variant->eval(call, &conv);
}

berth_status_t berth_conv_eval(berth_call_t *call, bool depthwise,
                               const berth_conv_variant_t *variants) {
  reading_t own, *reading;
  bool kept;
  reading = berth_keep(call, 0, sizeof *reading, &kept);
  if (reading == NULL) reading = &own;
  if (!kept) {
    berth_status_t status = read_all(call, depthwise, variants, reading);
    if (status != BERTH_OK) return status;
  }
  const berth_conv_t *conv = &reading->conv;
  bool whole =
      conv->keep == 0 && berth_is_contiguous(&conv->input) && berth_is_contiguous(&conv->output);
  if (conv->columns && !whole) return berth_conv_columns_eval(call, conv, reading->variant);
  if (!reading->is_high) return eval_along_height(call, reading);
  return reading->variant->eval(call, conv);
}

bool berth_conv_rows_adjoin(const berth_call_t *call, const berth_conv_t *conv) {
  uint32_t count = call->last_row - call->first_row;
  return call->first_row % conv->input.ring + count <= conv->input.ring &&
         call->first_row % conv->output.ring + count <= conv->output.ring;
}

void berth_conv_inside(const berth_conv_t *conv, uint32_t *first, uint32_t *last) {
  uint32_t reach = (conv->filter_w - 1) * conv->dilation_w + 1;
  *first = (conv->pad_w + conv->stride_w - 1) / conv->stride_w;
  *last = conv->input_w + conv->pad_w >= reach
              ? (conv->input_w + conv->pad_w - reach) / conv->stride_w + 1
              : 0;
  if (*last > conv->output_w) *last = conv->output_w;
  if (*first > *last) *first = *last;
}
