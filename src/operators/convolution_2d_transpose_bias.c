/* Convolution2DTransposeBias: MediaPipe's custom operator, a transposed convolution of float images
 * with a bias, whose output is as large as the input asks for.
 *
 * Its options are three 32-bit integers: padding (1: SAME, 2: VALID), stride along the width,
 * stride along the height. Source: mediapipe/util/tflite/operations/transpose_conv_bias.cc.
 */
#include "operators/kernels.h"
#include "operators/transpose_conv.h"
#include <string.h>

enum { INPUT, FILTER, BIAS }; /* inputs */
enum { SAME = 1, VALID = 2 }; /* padding */

/* The output's extent along one axis, and how much is cut off before it. False: out of range. */
static bool extent(int32_t padding, uint32_t input, uint32_t filter, uint32_t stride,
                   uint32_t *output, uint32_t *pad) {
  uint32_t overlap = (input - 1) % stride + 1; /* of the filter, that SAME keeps */
  uint32_t cut = padding == SAME && filter > overlap ? filter - overlap : 0;
  uint64_t all = (uint64_t)stride * (input - 1) + filter - cut;
  *pad = cut / 2;
  *output = (uint32_t)all;
  return all > 0 && all <= INT32_MAX;
}

static berth_status_t read_conv(berth_call_t *call, berth_transpose_conv_t *conv) {
  int32_t options[3];
  *conv = (berth_transpose_conv_t){.input = berth_input(call, INPUT),
                                   .filter = berth_input(call, FILTER),
                                   .bias = berth_input(call, BIAS),
                                   .output = berth_output(call, 0)};
  if (call->op.custom_options.size < sizeof options) return berth_refuse(call, "needs options");
  memcpy(options, call->op.custom_options.data, sizeof options);
  if (options[0] != SAME && options[0] != VALID) return berth_refuse(call, "has no such padding");
  if (options[1] < 1 || options[2] < 1) return berth_refuse(call, "needs strides of at least 1");
  conv->stride_w = (uint32_t)options[1];
  conv->stride_h = (uint32_t)options[2];
  berth_status_t status = berth_transpose_conv_measure(call, conv);
  if (status != BERTH_OK) return status;
  if (!extent(options[0], conv->input_h, conv->filter_h, conv->stride_h, &conv->output_h,
              &conv->pad_h) ||
      !extent(options[0], conv->input_w, conv->filter_w, conv->stride_w, &conv->output_w,
              &conv->pad_w)) {
    return berth_refuse(call, "has an output that is too large");
  }
  return BERTH_OK;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_transpose_conv_t conv;
  berth_status_t status = read_conv(call, &conv);
  if (status != BERTH_OK) return status;
  if (conv.input.type != BERTH_TYPE_FLOAT32 || conv.output.type != BERTH_TYPE_FLOAT32 ||
      (conv.filter.type != BERTH_TYPE_FLOAT32 && conv.filter.type != BERTH_TYPE_FLOAT16)) {
    return berth_refuse(call, "takes float32 only");
  }
  int32_t dims[4] = {(int32_t)conv.batches, (int32_t)conv.output_h, (int32_t)conv.output_w,
                     (int32_t)conv.output_c};
  status = berth_set_shape(call, 0, 4, dims);
  if (status != BERTH_OK) return status;
  berth_transpose_conv_turn(&conv);
  berth_transpose_conv_windows(&conv, INPUT, contract);
  return berth_transpose_conv_float_prepare(call, &conv, contract);
}

static berth_status_t eval(berth_call_t *call) {
  berth_transpose_conv_t conv;
  berth_status_t status = read_conv(call, &conv);
  if (status != BERTH_OK) return status;
  berth_transpose_conv_turn(&conv);
  berth_transpose_conv_lay(call, &conv);
  return berth_transpose_conv_float_eval(call, &conv);
}

const berth_kernel_t berth_kernel_convolution_2d_transpose_bias = {.code = BERTH_BUILTIN_CUSTOM,
                                                                   .custom_name =
                                                                       "Convolution2DTransposeBias",
                                                                   .float16_inputs = 0x6,
                                                                   .prepare = prepare,
                                                                   .eval = eval};
