/* Fixed-point arithmetic of quantized operators: used by every integer kernel.
 *
 * A real factor is kept as multiplier x 2^(shift - 31) with the multiplier in [2^30, 2^31), and is
 * applied to a 32-bit sum in two steps that each round: a high multiplication (ties upwards) and a
 * shift to the right (ties away from zero). TFLM's reference kernels do so, hence results equal
 * theirs to the bit only with both roundings in this order.
 *
 * Source: Jacob et al., Quantization and Training of Neural Networks for Efficient
 * Integer-Arithmetic-Only Inference (2018), appendix B; the TensorFlow Lite quantization
 * specification.
 */
#ifndef BERTH_OPERATORS_FIXED_POINT_H
#define BERTH_OPERATORS_FIXED_POINT_H

#include "berth/operator.h"
#include <math.h>
#include <string.h>

/* A factor: multiplier x 2^(shift - 31). */
typedef struct berth_multiplier {
  int32_t multiplier;
  int32_t shift; /* > 0: to the left, before the multiplication */
} berth_multiplier_t;

#define BERTH_SHIFT_MAX 30 /* larger factors can't be applied */

/* The factor nearest to `real` (ties away from zero); 0 below 2^-32. The shift may come out above
 * BERTH_SHIFT_MAX, which is for `prepare` to refuse; so it does if `real` is not finite. */
static inline berth_multiplier_t berth_quantize_multiplier(double real) {
  /* frexp and round, on the bits of the double: 53 bits of significand become 31. */
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  int32_t exponent = (int32_t)((bits >> 52) & 0x7ff) - 1022;
  uint64_t significand = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  int64_t rounded = (int64_t)((significand + 0x200000u) >> 22);
  if (rounded == INT64_C(1) << 31) {
    rounded >>= 1;
    exponent++;
  }
  if (exponent < -31) return (berth_multiplier_t){0, 0};
  return (berth_multiplier_t){(int32_t)(bits >> 63 ? -rounded : rounded), exponent};
}

/* round(a x b / 2^31), ties upwards; saturates in the one case that overflows. */
static inline int32_t berth_multiply_high(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  return (int32_t)(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

/* round(x / 2^exponent), ties away from zero; exponent in [0, 31]. */
static inline int32_t berth_divide_by_power(int32_t x, int32_t exponent) {
  int32_t mask = (int32_t)((UINT32_C(1) << exponent) - 1);
  int32_t threshold = (mask >> 1) + (x < 0);
  return (x >> exponent) + ((x & mask) > threshold);
}

/* x times 2^shift, for a shift to the left; saturates. */
static inline int32_t berth_shift_left(int32_t x, int32_t shift) {
  int64_t wide = (int64_t)x * (INT64_C(1) << shift);
  return wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

/* x times a factor, rounded twice. Saturates where the shift to the left overflows. */
static inline int32_t berth_multiply(int32_t x, berth_multiplier_t by) {
  int32_t left = by.shift > 0 ? by.shift : 0;
  int32_t right = by.shift > 0 ? 0 : -by.shift;
  return berth_divide_by_power(berth_multiply_high(berth_shift_left(x, left), by.multiplier),
                               right);
}

/* The same with ties upwards in both steps: what TFLite's matrix multiplication (ruy, on x86) does
 * for uint8. */
static inline int32_t berth_multiply_up(int32_t x, berth_multiplier_t by) {
  int32_t left = by.shift > 0 ? by.shift : 0;
  int32_t right = by.shift > 0 ? 0 : -by.shift;
  int64_t high = berth_multiply_high(berth_shift_left(x, left), by.multiplier);
  return (int32_t)((high + (right > 0 ? INT64_C(1) << (right - 1) : 0)) >> right);
}

/* A 64-bit sum (within 48 bits; what is larger wraps) times a factor whose multiplier is cut to 16
 * bits, rounded once with ties upwards: what the reference kernels do for int16 tensors. Shift
 * below 15. */
static inline int32_t berth_multiply_long(int64_t x, berth_multiplier_t by) {
  int32_t reduced =
      by.multiplier < 0x7fff0000 ? (by.multiplier + (INT32_C(1) << 15)) >> 16 : 0x7fff;
  int32_t shift = 15 - by.shift;
  uint64_t product = (uint64_t)x * (uint64_t)(int64_t)reduced + (UINT64_C(1) << (shift - 1));
  return (int32_t)((int64_t)product >> shift);
}

static inline int32_t berth_clamp(int32_t x, int32_t min, int32_t max) {
  return x < min ? min : x > max ? max : x;
}

/* ---- Factors of weighted sums ---------------------------------------------------------------- */

/* The scale of slice `channel` of a per-channel (or per-tensor) quantized value. */
static inline float berth_channel_scale(const berth_value_t *value, uint32_t channel) {
  return value->scales.count > 1 ? berth_vector_float(value->scales, channel) : value->scale;
}

/* From sums of input x filter to the output's units, for one output channel. */
static inline berth_multiplier_t berth_channel_multiplier(const berth_value_t *input,
                                                          const berth_value_t *filter,
                                                          const berth_value_t *output,
                                                          uint32_t channel) {
  double product = (double)input->scale * (double)berth_channel_scale(filter, channel);
  return berth_quantize_multiplier(product / (double)output->scale);
}

/* The same for operators that have one factor for the whole tensor (uint8, and FULLY_CONNECTED
 * without per-channel scales): there the product of the scales is rounded to a float. */
static inline berth_multiplier_t berth_tensor_multiplier(const berth_value_t *input,
                                                         const berth_value_t *filter,
                                                         const berth_value_t *output) {
  float product = input->scale * filter->scale;
  return berth_quantize_multiplier((double)product / (double)output->scale);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* The least and the largest value of an integer tensor type of at most 32 bits. */
static inline int32_t berth_type_min(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8    ? INT8_MIN
         : type == BERTH_TYPE_INT16 ? INT16_MIN
         : type == BERTH_TYPE_INT32 ? INT32_MIN
                                    : 0;
}

static inline int32_t berth_type_max(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8    ? INT8_MAX
         : type == BERTH_TYPE_UINT8 ? UINT8_MAX
         : type == BERTH_TYPE_INT16 ? INT16_MAX
                                    : INT32_MAX;
}

/* A real number in the units of a tensor: zero_point + round(real / scale), in float as the
 * reference has it, within 32 bits. */
static inline int32_t berth_quantize(float real, float scale, int32_t zero_point) {
  float rounded = roundf(real / scale);
  if (!(rounded < 1073741824.0f)) return INT32_MAX;
  if (rounded <= -1073741824.0f) return INT32_MIN;
  return zero_point + (int32_t)rounded;
}

/* The values that a quantized output may take under a fused activation. */
static inline void berth_activation_range(const berth_value_t *output, int32_t activation,
                                          int32_t *min, int32_t *max) {
  *min = berth_type_min(output->type);
  *max = berth_type_max(output->type);
  if (activation <= BERTH_ACTIVATION_NONE || activation > BERTH_ACTIVATION_RELU6) return;
  bool centred = activation == BERTH_ACTIVATION_RELU_N1_TO_1;
  int32_t low = berth_quantize(centred ? -1.0f : 0.0f, output->scale, output->zero_point);
  int32_t high = berth_quantize(centred ? 1.0f : 6.0f, output->scale, output->zero_point);
  if (low > *min) *min = low;
  if (activation != BERTH_ACTIVATION_RELU && high < *max) *max = high;
}

/* The same for float outputs. */
static inline void berth_activation_range_float(int32_t activation, float *min, float *max) {
  bool centred = activation == BERTH_ACTIVATION_RELU_N1_TO_1;
  bool six = activation == BERTH_ACTIVATION_RELU6;
  *min = centred ? -1.0f : six || activation == BERTH_ACTIVATION_RELU ? 0.0f : -INFINITY;
  *max = centred ? 1.0f : six ? 6.0f : INFINITY;
}

/* ---- Unaligned loads ------------------------------------------------------------------------- */

/* Element `index` of constant data that may lie at any address. */
static inline int32_t berth_load_int32(const void *data, size_t index) {
  int32_t value;
  memcpy(&value, (const uint8_t *)data + 4 * index, sizeof value);
  return value;
}

static inline int64_t berth_load_int64(const void *data, size_t index) {
  int64_t value;
  memcpy(&value, (const uint8_t *)data + 8 * index, sizeof value);
  return value;
}

/* A 64-bit bias, kept within the 48 bits that sums may have: no converter writes a larger one. */
static inline int64_t berth_load_bias64(const void *data, size_t index) {
  int64_t bias = berth_load_int64(data, index), most = INT64_C(1) << 47;
  return bias > most ? most : bias < -most ? -most : bias;
}

static inline float berth_load_float(const void *data, size_t index) {
  float value;
  memcpy(&value, (const uint8_t *)data + 4 * index, sizeof value);
  return value;
}

#endif
