/* Kernels of CMSIS-NN that replace TFLM's own, as far as it is known what they take.
 *
 * Meant are Cortex-M cores with the DSP extension and without Helium (M4, M7, M33): other cores get
 * other buffers. Read from tensorflow/lite/micro/kernels/cmsis_nn of tflite-micro and from
 * CMSIS-NN's arm_*_get_buffer_size; nothing of it is measured. Where versions differ or have not
 * been read, the operator is unknown. A kernel requests no scratch buffer of size 0.
 */
#include "stock/tflm_call.h"
#include <stddef.h>

#define RULE(name) static void cmsis_##name(berth_tflm_call_t *call)

/* ---- Convolutions ---------------------------------------------------------------------------- */

typedef struct convolution {
  berth_tensor_t input, weights, output;
  int32_t padding, stride_w, stride_h, dilation_w, dilation_h;
} convolution_t;

static bool is_8_or_16_bits(const berth_tensor_t *tensor) {
  return tensor->type == BERTH_TYPE_INT8 || tensor->type == BERTH_TYPE_INT16;
}

/* False: there is no scratch to compute, all else is said. */
static bool open_convolution(berth_tflm_call_t *call, int32_t channel_dimension,
                             uint32_t dilation_w, uint32_t dilation_h, convolution_t *conv) {
  if (!need_input(call, 0, &conv->input) || !need_input(call, 1, &conv->weights)) return false;
  if (!need_output(call, 0, &conv->output)) return false;
  if (!weights_fit(call, &conv->input, &conv->weights)) return false;
  /* Unlike the reference, nothing for floats. */
  if (is_8_or_16_bits(&conv->input)) keep_channels(call, extent(&conv->weights, channel_dimension));
  if (conv->input.type == BERTH_TYPE_FLOAT32) return false;
  /* Buffers for 16-bit activations and 4-bit weights changed between CMSIS-NN's versions. */
  call->unsure = conv->input.type == BERTH_TYPE_INT16 || conv->weights.type != BERTH_TYPE_INT8;
  /* Paddings and strides have the same numbers in both operators' options. */
  berth_table_t options = call->op->options;
  conv->padding = berth_option_byte(options, BERTH_CONV_2D_PADDING, 0);
  conv->stride_w = berth_option_int(options, BERTH_CONV_2D_STRIDE_W, 1);
  conv->stride_h = berth_option_int(options, BERTH_CONV_2D_STRIDE_H, 1);
  conv->dilation_w = berth_option_int(options, dilation_w, 1);
  conv->dilation_h = berth_option_int(options, dilation_h, 1);
  return !call->unsure;
}

/* Bytes of one patch of the input. */
static uint64_t patch(berth_tflm_call_t *call, const convolution_t *conv) {
  uint64_t area = product(call, extent(&conv->weights, 1), extent(&conv->weights, 2));
  return product(call, area, extent(&conv->input, 3));
}

/* Two patches of 16-bit values, to be multiplied with two rows of weights at a time; a convolution
 * with 1 x 1 reads its input as it is. */
RULE(conv) {
  convolution_t conv;
  if (!open_convolution(call, 0, BERTH_CONV_2D_DILATION_W, BERTH_CONV_2D_DILATION_H, &conv)) return;
  bool pointwise = extent(&conv.weights, 1) == 1 && extent(&conv.weights, 2) == 1 &&
                   conv.dilation_w == 1 && conv.dilation_h == 1;
  if (!pointwise) scratch(call, (patch(call, &conv) + 3) / 4 * 4, 4);
}

/* What is put before the first element, along one dimension. */
static uint64_t padding_before(const convolution_t *conv, int32_t dimension, int32_t stride) {
  if (conv->padding != BERTH_PADDING_SAME || stride < 1) return 0;
  uint64_t in = extent(&conv->input, dimension), out = extent(&conv->output, dimension);
  uint64_t covered = (out > 0 ? out - 1 : 0) * (uint64_t)stride + extent(&conv->weights, dimension);
  return covered > in ? (covered - in) / 2 : 0;
}

/* A patch of 16-bit values, if every channel makes one channel; not for 3 x 3. */
RULE(depthwise_conv) {
  convolution_t conv;
  if (!open_convolution(call, 3, BERTH_DEPTHWISE_CONV_2D_DILATION_W,
                        BERTH_DEPTHWISE_CONV_2D_DILATION_H, &conv)) {
    return;
  }
  bool optimised = extent(&conv.input, 3) == extent(&conv.output, 3) && conv.dilation_w == 1 &&
                   conv.dilation_h == 1 && extent(&conv.input, 0) == 1;
  bool small = extent(&conv.weights, 1) == 3 && extent(&conv.weights, 2) == 3 &&
               padding_before(&conv, 1, conv.stride_h) <= 1 &&
               padding_before(&conv, 2, conv.stride_w) <= 1;
  if (optimised && !small) scratch(call, patch(call, &conv), 2);
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* More than two dimensions are taken for a convolution with 1 x 1, which wants a multiplier and
 * shift for each channel. */
RULE(fully_connected) {
  berth_tensor_t input, weights, output;
  if (!need_input(call, 0, &input) || !need_input(call, 1, &weights)) return;
  if (!need_output(call, 0, &output) || !weights_fit(call, &input, &weights)) return;
  bool per_channel = weights.scales.count > 1 && input.type != BERTH_TYPE_FLOAT32;
  call->unsure = per_channel || weights.type == BERTH_TYPE_INT4;
  bool pointwise =
      input.type == BERTH_TYPE_INT8 && output.shape.count > 2 && extent(&weights, -1) % 4 == 0;
  if (pointwise && !call->unsure) keep_channels(call, extent(&output, -1));
}

/* A 32-bit sum for each channel. */
RULE(average_pool) {
  berth_tensor_t input;
  if (!need_input(call, 0, &input)) return;
  if (input.type == BERTH_TYPE_INT8) scratch(call, extent(&input, 3), 4);
  call->unsure = input.type == BERTH_TYPE_INT16;
}

RULE(max_pool) {
  berth_tensor_t input;
  if (need_input(call, 0, &input)) call->unsure = input.type == BERTH_TYPE_INT16;
}

/* ---- The table ------------------------------------------------------------------------------- */

#define BUILTIN(name, options, data, temps, rule)                                                  \
  { BERTH_BUILTIN_##name, NULL, options, data, temps, rule, false }

/* The reference's data (tflm_kernels.c) with the number of a scratch buffer, and the like. */
static const berth_tflm_kernel_t kernels[] = {
    BUILTIN(CONV_2D, "7i", "(4i5i2p3i)i", "01A", cmsis_conv),
    BUILTIN(DEPTHWISE_CONV_2D, "7i", "(4i5i2p3i)i", "01A", cmsis_depthwise_conv),
    BUILTIN(FULLY_CONNECTED, "2i2bi", "(8ii2pb)2pip3i", "012A", cmsis_fully_connected),
    BUILTIN(SVDF, "2ib", "9ip", "01234A", berth_tflm_rule_svdf),
    BUILTIN(AVERAGE_POOL_2D, "6i4i", "(8i)i", "0A0A", cmsis_average_pool),
    BUILTIN(MAX_POOL_2D, "6i4i", "(8i)i", "0A", cmsis_max_pool),
    BUILTIN(SOFTMAX, "i", "(d7i5p)2i", "0A", berth_tflm_rule_softmax),
};

/* Replaced as well, by what has not been read. The others are TFLM's own, or (ADD, MUL, MAXIMUM,
 * MINIMUM, PAD, TRANSPOSE) take what those take. */
static const uint8_t unread[] = {BERTH_BUILTIN_BATCH_MATMUL, BERTH_BUILTIN_TRANSPOSE_CONV,
                                 BERTH_BUILTIN_UNIDIRECTIONAL_SEQUENCE_LSTM};

const berth_tflm_kernel_t *berth_tflm_cmsis_kernel(const berth_operator_t *op) {
  for (size_t i = 0; i < sizeof unread / sizeof *unread; i++) {
    if (op->code == (berth_builtin_t)unread[i]) return NULL;
  }
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    if (kernels[i].code == op->code) return &kernels[i];
  }
  return berth_tflm_kernel(op);
}
