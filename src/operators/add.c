/* ADD and SUB, with a fused activation.
 *
 * Quantized inputs are brought to a common scale, twice the larger of theirs, with `guard` bits
 * below the point (20 for 8-bit types, 15 for int16), added, and brought to the output's. That is
 * TFLM's reference scheme, also for int16; each of the three steps rounds. Source: TensorFlow Lite
 * quantization specification; tflite-micro's add and sub kernels.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

typedef struct add {
  int32_t left_zero, right_zero, output_zero;
  berth_multiplier_t left, right, output;
  int32_t min, max;           /* also of int32 */
  float float_min, float_max; /* of float32 */
} add_t;

static bool is_sub(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_SUB;
}

static int32_t activation_of(const berth_call_t *call) {
  return is_sub(call) ? berth_option_byte(call->op.options, BERTH_SUB_ACTIVATION, 0)
                      : berth_option_byte(call->op.options, BERTH_ADD_ACTIVATION, 0);
}

static add_t parameters(const berth_call_t *call, const berth_value_t *inputs,
                        const berth_value_t *output) {
  add_t add = {.left_zero = inputs[0].zero_point,
               .right_zero = inputs[1].zero_point,
               .output_zero = output->zero_point};
  berth_activation_range_float(activation_of(call), &add.float_min, &add.float_max);
  if (!berth_is_quantized_type(output->type)) {
    add.min = add.float_min < -1.0f ? INT32_MIN : (int32_t)add.float_min;
    add.max = add.float_max > 6.0f ? INT32_MAX : (int32_t)add.float_max;
    return add;
  }
  berth_activation_range(output, activation_of(call), &add.min, &add.max);
  float larger = inputs[0].scale > inputs[1].scale ? inputs[0].scale : inputs[1].scale;
  float left = inputs[0].scale, right = inputs[1].scale, scale = output->scale;
  float unit = output->type == BERTH_TYPE_INT16 ? 0x1p15f : 0x1p20f, common = 2.0f * larger;
  if (is_sub(call) && output->type != BERTH_TYPE_UINT8) { /* TFLM's SUB divides floats */
    add.left = berth_quantize_multiplier((double)(left / common));
    add.right = berth_quantize_multiplier((double)(right / common));
    add.output = berth_quantize_multiplier((double)(common / (unit * scale)));
  } else {
    add.left = berth_quantize_multiplier((double)left / (double)common);
    add.right = berth_quantize_multiplier((double)right / (double)common);
    add.output = berth_quantize_multiplier((double)common / ((double)unit * (double)scale));
  }
  return add;
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
    add_t add = parameters(call, inputs, &output);
    if (add.output.shift > 0) return berth_refuse(call, "the output's scale is too small");
    return BERTH_OK;
  }
  if (output.type != BERTH_TYPE_FLOAT32 && output.type != BERTH_TYPE_INT32 &&
      output.type != BERTH_TYPE_INT64)
    return berth_refuse(call, "cannot take this type");
  return BERTH_OK;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* A number in the common units, with the guard bits: of int16. */
static inline int32_t rescale_16(int32_t x, int32_t zero, berth_multiplier_t by) {
  return berth_multiply_small((int32_t)((uint32_t)(x - zero) << 15), by);
}

/* The same for 8-bit numbers and 20 bits of guard, without 64-bit products: of the high product
 * floor((x 2^20 m + 2^30) / 2^31), the upper half of m contributes x (m >> 16) 2^5, which is whole,
 * and the lower half floor((x (m mod 2^16) + 2^10) / 2^11). */
static inline int32_t rescale_8(int32_t x, int32_t zero, berth_multiplier_t by) {
  int32_t centred = x - zero;
  int32_t high = centred * (by.multiplier >> 16), low = centred * (by.multiplier & 0xffff);
  return berth_divide_by_power(high * 32 + ((low + 1024) >> 11), -by.shift);
}

static inline int32_t finish(const add_t *add, int32_t sum) {
  return berth_clamp(berth_multiply_small(sum, add->output) + add->output_zero, add->min, add->max);
}

static inline int32_t add_8(const add_t *add, int32_t a, int32_t b) {
  return finish(add, rescale_8(a, add->left_zero, add->left) +
                         rescale_8(b, add->right_zero, add->right));
}

static inline int32_t sub_8(const add_t *add, int32_t a, int32_t b) {
  return finish(add, rescale_8(a, add->left_zero, add->left) -
                         rescale_8(b, add->right_zero, add->right));
}

static inline int32_t add_16(const add_t *add, int32_t a, int32_t b) {
  return finish(add, rescale_16(a, add->left_zero, add->left) +
                         rescale_16(b, add->right_zero, add->right));
}

static inline int32_t sub_16(const add_t *add, int32_t a, int32_t b) {
  return finish(add, rescale_16(a, add->left_zero, add->left) -
                         rescale_16(b, add->right_zero, add->right));
}

static inline float clamp_float(float x, float min, float max) {
  return x < min ? min : x > max ? max : x;
}

#define QUANTIZED(type, function)                                                                  \
  const add_t add = *(const add_t *)params;                                                        \
  BERTH_BINARY_RUN(type, type, function(&add, a, b))

#define FLOAT(operation)                                                                           \
  const add_t *add = params;                                                                       \
  const float min = add->float_min, max = add->float_max;                                          \
  BERTH_BINARY_RUN(float, float, clamp_float(a operation b, min, max))

#define INT32(operation)                                                                           \
  const add_t *add = params;                                                                       \
  const int32_t min = add->min, max = add->max;                                                    \
  BERTH_BINARY_RUN(int32_t, int32_t,                                                               \
                   berth_clamp((int32_t)((uint32_t)a operation(uint32_t) b), min, max))

BERTH_RUN(add_int8, QUANTIZED(int8_t, add_8))
BERTH_RUN(add_uint8, QUANTIZED(uint8_t, add_8))
BERTH_RUN(add_int16, QUANTIZED(int16_t, add_16))
BERTH_RUN(sub_int8, QUANTIZED(int8_t, sub_8))
BERTH_RUN(sub_uint8, QUANTIZED(uint8_t, sub_8))
BERTH_RUN(sub_int16, QUANTIZED(int16_t, sub_16))
BERTH_RUN(add_float, FLOAT(+))
BERTH_RUN(sub_float, FLOAT(-))
BERTH_RUN(add_int32, INT32(+))
BERTH_RUN(sub_int32, INT32(-))
BERTH_RUN(add_int64, BERTH_BINARY_RUN(uint64_t, uint64_t, a + b))
BERTH_RUN(sub_int64, BERTH_BINARY_RUN(uint64_t, uint64_t, a - b))

#define PICK(call, type)                                                                           \
  (is_sub(call) ? BERTH_RUN_FOR(call, sub_##type) : BERTH_RUN_FOR(call, add_##type))

static berth_status_t eval(berth_call_t *call) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_value_t output = berth_output(call, 0);
  berth_run_t run = output.type == BERTH_TYPE_INT8    ? PICK(call, int8)
                    : output.type == BERTH_TYPE_UINT8 ? PICK(call, uint8)
                    : output.type == BERTH_TYPE_INT16 ? PICK(call, int16)
                    : output.type == BERTH_TYPE_INT32 ? PICK(call, int32)
                    : output.type == BERTH_TYPE_INT64 ? PICK(call, int64)
                                                      : PICK(call, float);
  add_t add = parameters(call, inputs, &output);
  berth_elementwise_eval(call, inputs, 2, run, &add);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_add = {
    .code = BERTH_BUILTIN_ADD, .float16_inputs = 3, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_sub = {
    .code = BERTH_BUILTIN_SUB, .float16_inputs = 3, .prepare = prepare, .eval = eval};
