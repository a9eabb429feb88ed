/* What Prepare of TFLM's reference kernels asks for, where it depends on the operator's tensors.
 *
 * One function a kernel, named in the table of tflm_kernels.c; each says why. What a kernel refuses
 * is said as well where a converter does produce it (uint8 and hybrid models).
 */
#include "stock/tflm_call.h"

/* ---- Convolutions and matrix products -------------------------------------------------------- */

/* Weights of 4 bits are unpacked to one byte each, anew at each invocation. */
static void unpacked(berth_tflm_call_t *call, const berth_tensor_t *weights) {
  if (weights->type == BERTH_TYPE_INT4) scratch(call, elements(call, weights), 1);
}

static void convolution(berth_tflm_call_t *call, int32_t channel_dimension) {
  berth_tensor_t input, weights;
  if (!need_input(call, 0, &input) || !need_input(call, 1, &weights)) return;
  if (!weights_fit(call, &input, &weights)) return;
  keep_channels(call, extent(&weights, channel_dimension)); /* float models as well */
  unpacked(call, &weights);
}

BERTH_TFLM_RULE(conv) {
  convolution(call, 0);
}

BERTH_TFLM_RULE(depthwise_conv) {
  convolution(call, 3);
}

BERTH_TFLM_RULE(fully_connected) {
  berth_tensor_t input, weights;
  if (!need_input(call, 0, &input) || !need_input(call, 1, &weights)) return;
  if (!weights_fit(call, &input, &weights)) return;
  unpacked(call, &weights);
  bool per_channel = weights.scales.count > 1 && input.type != BERTH_TYPE_FLOAT32;
  if (per_channel) keep_channels(call, weights.scales.count);
}

BERTH_TFLM_RULE(transpose_conv) {
  berth_tensor_t weights, input, bias, output;
  if (!need_input(call, 1, &weights) || !need_input(call, 2, &input)) return;
  if (!need_output(call, 0, &output) || !weights_fit(call, &input, &weights)) return;
  keep_channels(call, extent(&weights, 0));
  /* Every input pixel adds to several output pixels: sums wait in accumulators. */
  if (input.type == BERTH_TYPE_INT8) scratch(call, elements(call, &output), 4);
  if (input.type == BERTH_TYPE_INT16) scratch(call, elements(call, &output), 8);
  bool widens = input.type == BERTH_TYPE_INT16 && tensor_of(call, call->op->inputs, 3, &bias) &&
                bias.type == BERTH_TYPE_INT16;
  if (widens) scratch(call, elements(call, &bias), 8); /* the kernel wants 64-bit biases */
}

/* A transposed copy of an operand: TfLiteEvalTensor, its shape and its data, all persistent. */
static void transposed(berth_tflm_call_t *call, const berth_tensor_t *tensor) {
  keep(call, 1, berth_layout("2pi", call->abi).size);
  keep(call, 1 + tensor->shape.count, 4);
  keep(call, elements(call, tensor), berth_tensor_align(tensor->type));
}

BERTH_TFLM_RULE(batch_matmul) {
  berth_tensor_t left, right, output;
  if (!need_input(call, 0, &left) || !need_input(call, 1, &right)) return;
  if (!need_output(call, 0, &output)) return;
  if (left.type != right.type) {
    call->refusal = "it runs no hybrid models (operands of two types)";
    return;
  }
  if (left.type != BERTH_TYPE_FLOAT32) keep(call, 7, 4); /* multipliers and zero points */
  /* The inner loop runs along rows of both operands, so adj_y = false means a copy. */
  if (berth_option_byte(call->op->options, BERTH_BATCH_MATMUL_ADJ_X, 0)) transposed(call, &left);
  if (!berth_option_byte(call->op->options, BERTH_BATCH_MATMUL_ADJ_Y, 0)) transposed(call, &right);
  keep(call, 1 + output.shape.count, 4); /* a writable copy of the output's shape */
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* MEAN and SUM: 32-bit sums of all outputs, if quantized, and two lists to iterate with. */
BERTH_TFLM_RULE(mean) {
  berth_tensor_t input, axis, output;
  if (!need_input(call, 0, &input) || !need_input(call, 1, &axis)) return;
  if (!need_output(call, 0, &output)) return;
  bool quantized = input.type == BERTH_TYPE_INT8 || input.type == BERTH_TYPE_INT16;
  if (quantized) scratch(call, elements(call, &output), 4);
  scratch(call, input.shape.count, 4);
  scratch(call, elements(call, &axis), 4);
}

BERTH_TFLM_RULE(reduce_max) {
  berth_tensor_t input, axis;
  if (!need_input(call, 0, &input) || !need_input(call, 1, &axis)) return;
  scratch(call, input.shape.count, 4);
  scratch(call, elements(call, &axis), 4);
}

/* ---- Recurrent operators --------------------------------------------------------------------- */

/* Four gates of one time step. */
BERTH_TFLM_RULE(lstm) {
  berth_tensor_t input, hidden, cell;
  if (!need_input(call, 0, &input) || !need_input(call, 18, &hidden)) return;
  if (!need_input(call, 19, &cell)) return;
  bool time_major = berth_option_byte(call->op->options, BERTH_SEQUENCE_LSTM_TIME_MAJOR, 0) != 0;
  uint64_t batch = extent(&input, time_major ? 1 : 0), state = extent(&hidden, 1);
  uint64_t each = berth_tensor_align(cell.type);
  for (int gate = 0; gate < 4; gate++) scratch(call, product(call, batch, state), each);
}

/* Dot products over time, and (quantized only) 32-bit outputs before the rescaling. */
BERTH_TFLM_RULE(svdf) {
  berth_tensor_t input, feature;
  if (!need_input(call, 0, &input) || !need_input(call, 1, &feature)) return;
  uint64_t batch = extent(&input, 0), filters = extent(&feature, 0);
  int32_t rank = berth_option_int(call->op->options, BERTH_SVDF_RANK, 0);
  if (rank < 1) {
    call->refusal = "its rank is not positive";
    return;
  }
  scratch(call, product(call, batch, filters), 4);
  if (input.type == BERTH_TYPE_INT8)
    scratch(call, product(call, batch, filters / (uint64_t)rank), 4);
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* The list of the inputs' addresses; and, if quantized, the operator's data, which is allocated
 * here and not in Init. */
BERTH_TFLM_RULE(add_n) {
  berth_tensor_t output;
  if (!need_output(call, 0, &output)) return;
  if (output.type == BERTH_TYPE_INT8) keep(call, 10, 4);
  scratch(call, call->op->inputs.count, berth_abi_pointer(call->abi));
}

/* The same, without the list. */
BERTH_TFLM_RULE(cumsum) {
  berth_tensor_t output;
  if (need_output(call, 0, &output) && output.type == BERTH_TYPE_INT8) keep(call, 9, 4);
}

/* How many elements an index of each dimension stands for, in the output and in the input. */
BERTH_TFLM_RULE(mirror_pad) {
  berth_tensor_t input;
  if (!need_input(call, 0, &input)) return;
  scratch(call, input.shape.count, 4);
  scratch(call, input.shape.count, 4);
}

/* The output's shape, to be written anew: shapes in the file cannot be. */
BERTH_TFLM_RULE(writable_shape) {
  berth_tensor_t output;
  if (need_output(call, 0, &output)) keep(call, 1 + (uint64_t)output.shape.count, 4);
}

static bool has_type(berth_tensor_type_t type, const uint8_t *types, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (types[i] == type) return true;
  }
  return false;
}

static const uint8_t concatenable[] = {BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8,  BERTH_TYPE_INT16,
                                       BERTH_TYPE_INT32,   BERTH_TYPE_INT64, BERTH_TYPE_BOOL};
static const uint8_t dequantizable[] = {BERTH_TYPE_INT8, BERTH_TYPE_INT16, BERTH_TYPE_UINT8};

/* Nothing but a struct; float16 weights are not for TFLM. */
BERTH_TFLM_RULE(dequantize) {
  berth_tensor_t input;
  if (need_input(call, 0, &input) && !has_type(input.type, dequantizable, sizeof dequantizable)) {
    call->refusal = "it takes no tensors of this type";
  }
}

/* Scale and zero point of every input. */
BERTH_TFLM_RULE(concatenation) {
  berth_tensor_t output;
  if (!need_output(call, 0, &output)) return;
  if (call->op->inputs.count > 10) call->refusal = "it takes at most 10 inputs";
  if (!has_type(output.type, concatenable, sizeof concatenable)) {
    call->refusal = "it takes no tensors of this type";
  }
  if (output.type == BERTH_TYPE_INT8) {
    keep(call, call->op->inputs.count, 4);
    keep(call, call->op->inputs.count, 4);
  }
}

/* Two tables of 513 entries for exp(x) and 1 / (1 + x). */
BERTH_TFLM_RULE(softmax) {
  berth_tensor_t input;
  if (!need_input(call, 0, &input)) return;
  if (input.type == BERTH_TYPE_INT16) {
    keep(call, 513, 2);
    keep(call, 513, 2);
  }
}

BERTH_TFLM_RULE(log_softmax) {
  berth_tensor_t input;
  if (!need_input(call, 0, &input)) return;
  if (input.type == BERTH_TYPE_INT8) keep(call, 1, berth_layout("5i2z", call->abi).size);
}

/* ---- The audio front end --------------------------------------------------------------------- */

/* The state of a KISS FFT of half the length, complex, with the twiddles that make it a real one,
 * and (scratch) the input padded to the length. */
BERTH_TFLM_RULE(rfft) {
  berth_tensor_t output;
  if (!need_output(call, 0, &output)) return;
  uint64_t half = extent(&output, -1) / 2; /* complex numbers of the spectrum: length / 2 + 1 */
  if (half < 2) {
    call->refusal = "its output is too short for a spectrum";
    return;
  }
  half -= 1;
  uint64_t part = berth_tensor_align(output.type); /* real or imaginary */
  uint64_t twiddles = product(call, half + half * 3 / 2, 2 * part);
  keep(call, 1, 3 * berth_abi_pointer(call->abi) + 264 + twiddles);
  scratch(call, 2 * half, part);
}

/* 64-bit sums of all channels, and one that is thrown away. */
BERTH_TFLM_RULE(filter_bank) {
  berth_tensor_t output;
  if (!need_output(call, 0, &output)) return;
  keep(call, elements(call, &output) + 1, 8);
}

/* The noise estimate of every channel. */
BERTH_TFLM_RULE(spectral_subtraction) {
  berth_tensor_t output;
  if (!need_output(call, 0, &output)) return;
  keep(call, elements(call, &output), 4);
}
