/* MUL and SQUARED_DIFFERENCE.
 *
 * A quantized product has one factor: the product of the inputs' scales over the output's. A
 * squared difference first brings both inputs to a common scale with `guard` bits below the point.
 * Source: TensorFlow Lite quantization specification; tflite-micro's mul and squared_difference
 * kernels.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

typedef struct mul {
  int32_t left_zero, right_zero, output_zero;
  int32_t guard;
  berth_multiplier_t left, right; /* of a squared difference */
  berth_split_multiplier_t output;
  int32_t min, max;
  float float_min, float_max;
} mul_t;

static bool is_mul(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_MUL;
}

static int32_t activation_of(const berth_call_t *call) {
  return is_mul(call) ? berth_option_byte(call->op.options, BERTH_MUL_ACTIVATION, 0)
                      : BERTH_ACTIVATION_NONE;
}

static berth_multiplier_t output_factor(const berth_call_t *call, const berth_value_t *inputs,
                                        const berth_value_t *output, int32_t guard) {
  double left = (double)inputs[0].scale, right = (double)inputs[1].scale;
  if (is_mul(call)) return berth_quantize_multiplier(left * right / (double)output->scale);
  double common = 2 * (left > right ? left : right);
  return berth_quantize_multiplier(common * common /
                                   ((double)(1 << 2 * guard) * (double)output->scale));
}

static mul_t parameters(const berth_call_t *call, const berth_value_t *inputs,
                        const berth_value_t *output) {
  mul_t mul = {.left_zero = inputs[0].zero_point,
               .right_zero = inputs[1].zero_point,
               .output_zero = output->zero_point,
               .guard = output->type == BERTH_TYPE_INT16 ? 0 : 7};
  berth_activation_range_float(activation_of(call), &mul.float_min, &mul.float_max);
  if (!berth_is_quantized_type(output->type)) {
    mul.min = mul.float_min < -1.0f ? INT32_MIN : (int32_t)mul.float_min;
    mul.max = mul.float_max > 6.0f ? INT32_MAX : (int32_t)mul.float_max;
    return mul;
  }
  berth_activation_range(output, activation_of(call), &mul.min, &mul.max);
  mul.output = berth_split(output_factor(call, inputs, output, mul.guard));
  double left = (double)inputs[0].scale, right = (double)inputs[1].scale;
  double common = 2 * (left > right ? left : right);
  mul.left = berth_quantize_multiplier(left / common);
  mul.right = berth_quantize_multiplier(right / common);
  return mul;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[2], output = berth_output(call, 0);
  berth_status_t status = berth_elementwise_same_type(call, contract, inputs, 2);
  if (status != BERTH_OK) return status;
  if (activation_of(call) < BERTH_ACTIVATION_NONE || activation_of(call) > BERTH_ACTIVATION_RELU6)
    return berth_refuse(call, "cannot apply this activation");
  if (berth_is_quantized_type(output.type)) {
    if (!berth_has_scale(&inputs[0]) || !berth_has_scale(&inputs[1]) || !berth_has_scale(&output))
      return berth_refuse(call, "needs scales and zero points");
    if (!berth_is_usable(output_factor(call, inputs, &output, 7)) ||
        !berth_is_usable(output_factor(call, inputs, &output, 0)))
      return berth_refuse(call, "the output's scale is too small");
    return BERTH_OK;
  }
  if (output.type != BERTH_TYPE_FLOAT32 && output.type != BERTH_TYPE_INT32 &&
      output.type != BERTH_TYPE_INT64)
    return berth_refuse(call, "cannot take this type");
  return BERTH_OK;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static inline int32_t finish(const mul_t *mul, uint32_t product) {
  uint32_t scaled = (uint32_t)berth_multiply_split((int32_t)product, mul->output);
  return berth_clamp((int32_t)(scaled + (uint32_t)mul->output_zero), mul->min, mul->max);
}

static inline int32_t mul_quantized(const mul_t *mul, int32_t a, int32_t b) {
  return finish(mul, (uint32_t)(a - mul->left_zero) * (uint32_t)(b - mul->right_zero));
}

static inline int32_t difference_quantized(const mul_t *mul, int32_t a, int32_t b) {
  int32_t left = berth_multiply_small((a - mul->left_zero) * (1 << mul->guard), mul->left);
  int32_t right = berth_multiply_small((b - mul->right_zero) * (1 << mul->guard), mul->right);
  uint32_t difference = (uint32_t)(left - right);
  return finish(mul, difference * difference);
}

static inline float clamp_float(float x, float min, float max) {
  return x < min ? min : x > max ? max : x;
}

static inline uint32_t square_int32(uint32_t x) {
  return x * x;
}
static inline uint64_t square_int64(uint64_t x) {
  return x * x;
}

#define QUANTIZED(type, function)                                                                  \
  const mul_t mul = *(const mul_t *)params;                                                        \
  BERTH_BINARY_RUN(type, type, function(&mul, a, b))

#define MUL_FLOAT                                                                                  \
  const mul_t *mul = params;                                                                       \
  const float min = mul->float_min, max = mul->float_max;                                          \
  BERTH_BINARY_RUN(float, float, clamp_float(a *b, min, max))

#define MUL_INT32                                                                                  \
  const mul_t *mul = params;                                                                       \
  const int32_t min = mul->min, max = mul->max;                                                    \
  BERTH_BINARY_RUN(uint32_t, int32_t, berth_clamp((int32_t)(a * b), min, max))

BERTH_RUN(mul_int8, QUANTIZED(int8_t, mul_quantized))
BERTH_RUN(mul_uint8, QUANTIZED(uint8_t, mul_quantized))
BERTH_RUN(mul_int16, QUANTIZED(int16_t, mul_quantized))
BERTH_RUN(mul_float, MUL_FLOAT)
BERTH_RUN(mul_int32, MUL_INT32)
BERTH_RUN(mul_int64, BERTH_BINARY_RUN(uint64_t, uint64_t, a *b))
BERTH_RUN(difference_int8, QUANTIZED(int8_t, difference_quantized))
BERTH_RUN(difference_uint8, QUANTIZED(uint8_t, difference_quantized))
BERTH_RUN(difference_int16, QUANTIZED(int16_t, difference_quantized))
BERTH_RUN(difference_float, BERTH_BINARY_RUN(float, float, (a - b) * (a - b)))
BERTH_RUN(difference_int32, BERTH_BINARY_RUN(uint32_t, uint32_t, square_int32(a - b)))
BERTH_RUN(difference_int64, BERTH_BINARY_RUN(uint64_t, uint64_t, square_int64(a - b)))

#define PICK(call, type)                                                                           \
  (is_mul(call) ? BERTH_RUN_FOR(call, mul_##type) : BERTH_RUN_FOR(call, difference_##type))

static berth_status_t eval(berth_call_t *call) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_value_t output = berth_output(call, 0);
  berth_run_t run = output.type == BERTH_TYPE_INT8    ? PICK(call, int8)
                    : output.type == BERTH_TYPE_UINT8 ? PICK(call, uint8)
                    : output.type == BERTH_TYPE_INT16 ? PICK(call, int16)
                    : output.type == BERTH_TYPE_INT32 ? PICK(call, int32)
                    : output.type == BERTH_TYPE_INT64 ? PICK(call, int64)
                                                      : PICK(call, float);
  mul_t mul = parameters(call, inputs, &output);
  berth_elementwise_eval(call, inputs, 2, run, &mul);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_mul = {
    .code = BERTH_BUILTIN_MUL, .float16_inputs = 3, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_squared_difference = {.code = BERTH_BUILTIN_SQUARED_DIFFERENCE,
                                                        .float16_inputs = 3,
                                                        .prepare = prepare,
                                                        .eval = eval};
