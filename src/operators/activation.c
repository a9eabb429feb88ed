/* RELU, RELU6, RELU_N1_TO_1, LEAKY_RELU and PRELU: piecewise linear functions.
 *
 * Quantized ones rescale from the input's units to the output's, with one factor on each side of 0,
 * and round as TFLM's reference kernels do.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

typedef struct linear {
  int32_t input_zero, alpha_zero, output_zero;
  berth_split_multiplier_t positive, negative;
  int32_t min, max;
  float alpha, float_min, float_max;
} linear_t;

static bool is_prelu(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_PRELU;
}

/* The fused activation that the operator is the same as. */
static int32_t activation_of(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_RELU           ? BERTH_ACTIVATION_RELU
         : call->op.code == BERTH_BUILTIN_RELU6        ? BERTH_ACTIVATION_RELU6
         : call->op.code == BERTH_BUILTIN_RELU_N1_TO_1 ? BERTH_ACTIVATION_RELU_N1_TO_1
                                                       : BERTH_ACTIVATION_NONE;
}

static berth_multiplier_t positive_factor(const berth_call_t *call, const berth_value_t *input,
                                          const berth_value_t *output) {
  if (call->op.code == BERTH_BUILTIN_LEAKY_RELU) /* here the reference divides floats */
    return berth_quantize_multiplier((double)(input->scale / output->scale));
  return berth_quantize_multiplier((double)input->scale / (double)output->scale);
}

static berth_multiplier_t negative_factor(const berth_call_t *call, const berth_value_t *input,
                                          const berth_value_t *output) {
  float alpha = berth_option_float(call->op.options, BERTH_LEAKY_RELU_ALPHA, 0);
  if (call->op.code == BERTH_BUILTIN_LEAKY_RELU)
    return berth_quantize_multiplier((double)(input->scale * alpha / output->scale));
  if (!is_prelu(call)) return positive_factor(call, input, output);
  berth_value_t slope = berth_input(call, 1);
  return berth_quantize_multiplier((double)input->scale * (double)slope.scale /
                                   (double)output->scale);
}

static linear_t parameters(const berth_call_t *call, const berth_value_t *input,
                           const berth_value_t *output) {
  linear_t linear = {.input_zero = input->zero_point,
                     .output_zero = output->zero_point,
                     .alpha = berth_option_float(call->op.options, BERTH_LEAKY_RELU_ALPHA, 0)};
  berth_activation_range_float(activation_of(call), &linear.float_min, &linear.float_max);
  if (!berth_is_quantized_type(output->type)) return linear;
  berth_activation_range(output, activation_of(call), &linear.min, &linear.max);
  linear.positive = berth_split(positive_factor(call, input, output));
  linear.negative = berth_split(negative_factor(call, input, output));
  if (is_prelu(call)) linear.alpha_zero = berth_input(call, 1).zero_point;
  return linear;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[2], output = berth_output(call, 0);
  uint32_t count = is_prelu(call) ? 2 : 1;
  berth_status_t status = berth_elementwise_same_type(call, contract, inputs, count);
  if (status != BERTH_OK) return status;
  if (output.type == BERTH_TYPE_FLOAT32) return BERTH_OK;
  if (!berth_is_quantized_type(output.type)) return berth_refuse(call, "cannot take this type");
  if (!berth_has_scale(&inputs[0]) || !berth_has_scale(&output) ||
      (is_prelu(call) && !berth_has_scale(&inputs[1])))
    return berth_refuse(call, "needs scales and zero points");
  if (positive_factor(call, &inputs[0], &output).shift > BERTH_SHIFT_MAX ||
      negative_factor(call, &inputs[0], &output).shift > BERTH_SHIFT_MAX)
    return berth_refuse(call, "the output's scale is too small");
  return BERTH_OK;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static inline int32_t move(const linear_t *linear, int32_t scaled) {
  int32_t moved = (int32_t)((uint32_t)scaled + (uint32_t)linear->output_zero);
  return berth_clamp(moved, linear->min, linear->max);
}

static inline int32_t relu_quantized(const linear_t *linear, int32_t x) {
  return move(linear, berth_multiply_split(x - linear->input_zero, linear->positive));
}

static inline int32_t leaky_quantized(const linear_t *linear, int32_t x) {
  int32_t centred = x - linear->input_zero;
  int32_t above = berth_multiply_split(centred, linear->positive);
  int32_t below = berth_multiply_split(centred, linear->negative);
  return move(linear, centred >= 0 ? above : below);
}

static inline int32_t prelu_quantized(const linear_t *linear, int32_t x, int32_t alpha) {
  int32_t centred = x - linear->input_zero;
  uint32_t sloped = (uint32_t)centred * (uint32_t)(alpha - linear->alpha_zero);
  int32_t above = berth_multiply_split(centred, linear->positive);
  int32_t below = berth_multiply_split((int32_t)sloped, linear->negative);
  return move(linear, centred >= 0 ? above : below);
}

static inline float clamp_float(float x, float min, float max) {
  return x < min ? min : x > max ? max : x;
}

#define QUANTIZED(type, function)                                                                  \
  const linear_t linear = *(const linear_t *)params;                                               \
  BERTH_UNARY_RUN(type, type, function(&linear, x))
#define PRELU(type)                                                                                \
  const linear_t linear = *(const linear_t *)params;                                               \
  BERTH_BINARY_RUN(type, type, prelu_quantized(&linear, a, b))
#define FLOAT(expression)                                                                          \
  const linear_t *linear = params;                                                                 \
  const float min = linear->float_min, max = linear->float_max, alpha = linear->alpha;             \
  (void)min, (void)max, (void)alpha;                                                               \
  BERTH_UNARY_RUN(float, float, expression)

BERTH_RUN(relu_int8, QUANTIZED(int8_t, relu_quantized))
BERTH_RUN(relu_uint8, QUANTIZED(uint8_t, relu_quantized))
BERTH_RUN(relu_int16, QUANTIZED(int16_t, relu_quantized))
BERTH_RUN(relu_float, FLOAT(clamp_float(x, min, max)))
BERTH_RUN(leaky_int8, QUANTIZED(int8_t, leaky_quantized))
BERTH_RUN(leaky_uint8, QUANTIZED(uint8_t, leaky_quantized))
BERTH_RUN(leaky_int16, QUANTIZED(int16_t, leaky_quantized))
BERTH_RUN(leaky_float, FLOAT(x > 0.0f ? x : x * alpha))
BERTH_RUN(prelu_int8, PRELU(int8_t))
BERTH_RUN(prelu_uint8, PRELU(uint8_t))
BERTH_RUN(prelu_int16, PRELU(int16_t))
BERTH_RUN(prelu_float, BERTH_BINARY_RUN(float, float, a >= 0.0f ? a : a * b))

#define PICK(call, name, type)                                                                     \
  (type == BERTH_TYPE_INT8    ? BERTH_RUN_FOR(call, name##_int8)                                   \
   : type == BERTH_TYPE_UINT8 ? BERTH_RUN_FOR(call, name##_uint8)                                  \
   : type == BERTH_TYPE_INT16 ? BERTH_RUN_FOR(call, name##_int16)                                  \
                              : BERTH_RUN_FOR(call, name##_float))

static berth_status_t eval(berth_call_t *call) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_value_t output = berth_output(call, 0);
  linear_t linear = parameters(call, &inputs[0], &output);
  berth_run_t run = is_prelu(call)                              ? PICK(call, prelu, output.type)
                    : call->op.code == BERTH_BUILTIN_LEAKY_RELU ? PICK(call, leaky, output.type)
                                                                : PICK(call, relu, output.type);
  berth_elementwise_eval(call, inputs, is_prelu(call) ? 2 : 1, run, &linear);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_leaky_relu = {
    .code = BERTH_BUILTIN_LEAKY_RELU, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_prelu = {
    .code = BERTH_BUILTIN_PRELU, .float16_inputs = 2, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_relu = {
    .code = BERTH_BUILTIN_RELU, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_relu6 = {
    .code = BERTH_BUILTIN_RELU6, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_relu_n1_to_1 = {
    .code = BERTH_BUILTIN_RELU_N1_TO_1, .prepare = prepare, .eval = eval};
