/* QUANTIZE and DEQUANTIZE: between real numbers and integers, or integers of two scales.
 *
 * A float is divided by the scale and rounded, ties away from zero; an integer is rescaled in two
 * roundings, as the reference kernels do. float16 is only widened.
 */
#include "operators/elementwise.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

typedef struct quantize {
  float scale; /* QUANTIZE: of the output; DEQUANTIZE: of the input */
  int32_t input_zero, output_zero;
  berth_split_multiplier_t factor;
} quantize_t;

static bool is_number(berth_tensor_type_t type) {
  return berth_is_quantized_type(type) || type == BERTH_TYPE_INT32;
}

static berth_multiplier_t factor_of(const berth_value_t *input, const berth_value_t *output) {
  return berth_quantize_multiplier((double)input->scale / (double)output->scale);
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (call->op.code == BERTH_BUILTIN_QUANTIZE) {
    if (!is_number(output.type)) return berth_refuse(call, "cannot give this type");
    if (output.scales.count > 1) return berth_refuse(call, "cannot quantize per channel");
    if (!berth_has_scale(&output)) return berth_refuse(call, "needs a scale and a zero point");
    if (input.type != BERTH_TYPE_FLOAT32) {
      if (!is_number(input.type) || !berth_has_scale(&input))
        return berth_refuse(call, "cannot take this type, or one without a scale");
      if (!berth_is_usable(factor_of(&input, &output)))
        return berth_refuse(call, "the output's scale is too small");
    }
  } else {
    if (output.type != BERTH_TYPE_FLOAT32) return berth_refuse(call, "gives float32 only");
    if (input.scales.count > 1) return berth_refuse(call, "cannot take a scale per channel");
    if (input.type != BERTH_TYPE_FLOAT16 && (!is_number(input.type) || !berth_has_scale(&input)))
      return berth_refuse(call, "cannot take this type, or one without a scale");
  }
  return berth_elementwise_prepare(call, contract, &input, 1);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* round(x / scale), ties away from zero, within the type's range. 0x1.fffffep-2 is the float before
 * 0.5: adding it and cutting off rounds every float as roundf does. */
static inline int32_t quantize(float x, float scale, float low, float high) {
  float y = x / scale;
  y = y > low ? y : low;
  y = y < high ? y : high;
  return (int32_t)(y + copysignf(0x1.fffffep-2f, y));
}

#define FROM_FLOAT(type, min, max)                                                                 \
  const quantize_t *q = params;                                                                    \
  const float scale = q->scale, low = (float)(min - q->output_zero);                               \
  const float high = (float)(max - q->output_zero);                                                \
  const int32_t zero = q->output_zero;                                                             \
  BERTH_UNARY_RUN(float, type, quantize(x, scale, low, high) + zero)

static inline int32_t requantize(const quantize_t *q, int32_t x, int32_t min, int32_t max) {
  int32_t centred = (int32_t)((uint32_t)x - (uint32_t)q->input_zero);
  uint32_t scaled = (uint32_t)berth_multiply_split(centred, q->factor);
  return berth_clamp((int32_t)(scaled + (uint32_t)q->output_zero), min, max);
}

#define REQUANTIZE(from_t, type, min, max)                                                         \
  const quantize_t q = *(const quantize_t *)params;                                                \
  BERTH_UNARY_RUN(from_t, type, requantize(&q, x, min, max))

#define DEFINE_TO(name, type, min, max)                                                            \
  BERTH_RUN(float_to_##name, FROM_FLOAT(type, min, max))                                           \
  BERTH_RUN(int8_to_##name, REQUANTIZE(int8_t, type, min, max))                                    \
  BERTH_RUN(uint8_to_##name, REQUANTIZE(uint8_t, type, min, max))                                  \
  BERTH_RUN(int16_to_##name, REQUANTIZE(int16_t, type, min, max))                                  \
  BERTH_RUN(int32_to_##name, REQUANTIZE(int32_t, type, min, max))                                  \
  static berth_run_t pick_##name(const berth_call_t *call, berth_tensor_type_t from) {             \
    return from == BERTH_TYPE_INT8    ? BERTH_RUN_FOR(call, int8_to_##name)                        \
           : from == BERTH_TYPE_UINT8 ? BERTH_RUN_FOR(call, uint8_to_##name)                       \
           : from == BERTH_TYPE_INT16 ? BERTH_RUN_FOR(call, int16_to_##name)                       \
           : from == BERTH_TYPE_INT32 ? BERTH_RUN_FOR(call, int32_to_##name)                       \
                                      : BERTH_RUN_FOR(call, float_to_##name);                      \
  }

DEFINE_TO(int8, int8_t, INT8_MIN, INT8_MAX)
DEFINE_TO(uint8, uint8_t, 0, UINT8_MAX)
DEFINE_TO(int16, int16_t, INT16_MIN, INT16_MAX)

/* Towards int32 the range of floats is kept to what converts exactly. */
static inline int32_t quantize_int32(float x, float scale, int32_t zero) {
  int64_t moved = (int64_t)quantize(x, scale, -2147483520.0f, 2147483520.0f) + zero;
  return moved < INT32_MIN ? INT32_MIN : moved > INT32_MAX ? INT32_MAX : (int32_t)moved;
}

#define FLOAT_TO_INT32                                                                             \
  const quantize_t *q = params;                                                                    \
  const float scale = q->scale;                                                                    \
  const int32_t zero = q->output_zero;                                                             \
  BERTH_UNARY_RUN(float, int32_t, quantize_int32(x, scale, zero))

BERTH_RUN(float_to_int32, FLOAT_TO_INT32)
BERTH_RUN(int8_to_int32, REQUANTIZE(int8_t, int32_t, INT32_MIN, INT32_MAX))
BERTH_RUN(uint8_to_int32, REQUANTIZE(uint8_t, int32_t, INT32_MIN, INT32_MAX))
BERTH_RUN(int16_to_int32, REQUANTIZE(int16_t, int32_t, INT32_MIN, INT32_MAX))
BERTH_RUN(int32_to_int32, REQUANTIZE(int32_t, int32_t, INT32_MIN, INT32_MAX))

static berth_run_t pick_int32(const berth_call_t *call, berth_tensor_type_t from) {
  return from == BERTH_TYPE_INT8    ? BERTH_RUN_FOR(call, int8_to_int32)
         : from == BERTH_TYPE_UINT8 ? BERTH_RUN_FOR(call, uint8_to_int32)
         : from == BERTH_TYPE_INT16 ? BERTH_RUN_FOR(call, int16_to_int32)
         : from == BERTH_TYPE_INT32 ? BERTH_RUN_FOR(call, int32_to_int32)
                                    : BERTH_RUN_FOR(call, float_to_int32);
}

/* The exponent's bias is changed by a multiplication, which also makes subnormals normal. */
static inline float widen(uint16_t half) {
  uint32_t size = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
  float normal = berth_float_of_bits(size) * 0x1p112f;
  uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0; /* infinity, NaN */
  return berth_float_of_bits(berth_bits_of_float(normal) | special | sign);
}

static inline float dequantize(int32_t x, int32_t zero, float scale) {
  return (float)(x - zero) * scale;
}

static inline float dequantize_int32(int32_t x, int32_t zero, float scale) {
  return (float)(((double)x - (double)zero) * (double)scale);
}

#define TO_FLOAT(type, function)                                                                   \
  const quantize_t *q = params;                                                                    \
  const float scale = q->scale;                                                                    \
  const int32_t zero = q->input_zero;                                                              \
  BERTH_UNARY_RUN(type, float, function(x, zero, scale))

BERTH_RUN(int8_to_float, TO_FLOAT(int8_t, dequantize))
BERTH_RUN(uint8_to_float, TO_FLOAT(uint8_t, dequantize))
BERTH_RUN(int16_to_float, TO_FLOAT(int16_t, dequantize))
BERTH_RUN(int32_to_float, TO_FLOAT(int32_t, dequantize_int32))
BERTH_RUN(half_to_float, BERTH_UNARY_RUN(uint16_t, float, widen(x)))

static berth_run_t pick_float(const berth_call_t *call, berth_tensor_type_t from) {
  return from == BERTH_TYPE_INT8    ? BERTH_RUN_FOR(call, int8_to_float)
         : from == BERTH_TYPE_UINT8 ? BERTH_RUN_FOR(call, uint8_to_float)
         : from == BERTH_TYPE_INT16 ? BERTH_RUN_FOR(call, int16_to_float)
         : from == BERTH_TYPE_INT32 ? BERTH_RUN_FOR(call, int32_to_float)
                                    : BERTH_RUN_FOR(call, half_to_float);
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  bool to_float = call->op.code == BERTH_BUILTIN_DEQUANTIZE;
  quantize_t q = {.scale = to_float ? input.scale : output.scale,
                  .input_zero = input.zero_point,
                  .output_zero = output.zero_point};
  if (!to_float && input.type != BERTH_TYPE_FLOAT32)
    q.factor = berth_split(factor_of(&input, &output));
  berth_run_t run = to_float                          ? pick_float(call, input.type)
                    : output.type == BERTH_TYPE_INT8  ? pick_int8(call, input.type)
                    : output.type == BERTH_TYPE_UINT8 ? pick_uint8(call, input.type)
                    : output.type == BERTH_TYPE_INT16 ? pick_int16(call, input.type)
                                                      : pick_int32(call, input.type);
  berth_elementwise_eval(call, &input, 1, run, &q);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_dequantize = {
    .code = BERTH_BUILTIN_DEQUANTIZE, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_quantize = {
    .code = BERTH_BUILTIN_QUANTIZE, .prepare = prepare, .eval = eval};
