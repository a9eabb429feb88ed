/* Convolutions and weighted sums from their definitions, one output element at a time: what the
 * kernels are compared with. Written from the TensorFlow Lite quantization specification; shares no
 * code with src/operators. */
#ifndef BERTH_TESTS_NAIVE_CONV_H
#define BERTH_TESTS_NAIVE_CONV_H

#include "operators/fake_call.h"
#include <math.h>

/* Element `index` of integer data. */
static inline int64_t naive_get(berth_tensor_type_t type, const void *data, size_t index) {
  switch (type) {
  case BERTH_TYPE_INT8:
    return ((const int8_t *)data)[index];
  case BERTH_TYPE_UINT8:
    return ((const uint8_t *)data)[index];
  case BERTH_TYPE_INT16:
    return ((const int16_t *)data)[index];
  case BERTH_TYPE_INT32:
    return ((const int32_t *)data)[index];
  default:
    return ((const int64_t *)data)[index];
  }
}

static inline void naive_put(berth_tensor_type_t type, void *data, size_t index, int64_t value) {
  switch (type) {
  case BERTH_TYPE_INT8:
    ((int8_t *)data)[index] = (int8_t)value;
    break;
  case BERTH_TYPE_UINT8:
    ((uint8_t *)data)[index] = (uint8_t)value;
    break;
  case BERTH_TYPE_INT16:
    ((int16_t *)data)[index] = (int16_t)value;
    break;
  case BERTH_TYPE_INT32:
    ((int32_t *)data)[index] = (int32_t)value;
    break;
  default:
    ((int64_t *)data)[index] = value;
    break;
  }
}

/* How sums are rounded on the way to the output. */
typedef enum naive_rounding { NAIVE_TWICE, NAIVE_UP, NAIVE_LONG } naive_rounding_t;

/* sum x real, in fixed point. */
static inline int64_t naive_scale(int64_t sum, double real, naive_rounding_t rounding) {
  int exponent;
  double fraction = frexp(real, &exponent);
  int64_t multiplier = (int64_t)round(fraction * 2147483648.0);
  if (multiplier == INT64_C(2147483648)) {
    multiplier /= 2;
    exponent++;
  }
  if (rounding == NAIVE_LONG) {
    int64_t reduced = multiplier < 0x7fff0000 ? (multiplier + 32768) / 65536 : 32767;
    double power = ldexp(1.0, 15 - exponent);
    return (int64_t)floor(((double)(sum * reduced) + power / 2) / power); /* within 2^53 */
  }
  int64_t left = exponent > 0 ? sum * (INT64_C(1) << exponent) : sum;
  int64_t product = left * multiplier;
  int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
  int64_t high = (product + nudge) / (INT64_C(1) << 31);
  if (exponent >= 0) return high;
  int64_t divisor = INT64_C(1) << -exponent;
  if (rounding == NAIVE_UP) { /* floor(high / divisor + 1/2) */
    return (int64_t)floor((double)high / (double)divisor + 0.5);
  }
  int64_t magnitude = ((high < 0 ? -high : high) + divisor / 2) / divisor; /* half away from 0 */
  return high < 0 ? -magnitude : magnitude;
}

/* The range of an activation in the units of a tensor. */
static inline void naive_range(const berth_value_t *output, int32_t activation, int64_t *min,
                               int64_t *max) {
  *min = output->type == BERTH_TYPE_INT8 ? -128 : output->type == BERTH_TYPE_UINT8 ? 0 : -32768;
  *max = output->type == BERTH_TYPE_INT8 ? 127 : output->type == BERTH_TYPE_UINT8 ? 255 : 32767;
  int64_t zero = output->zero_point, one = zero + (int64_t)roundf(1.0f / output->scale);
  int64_t minus_one = zero + (int64_t)roundf(-1.0f / output->scale);
  int64_t six = zero + (int64_t)roundf(6.0f / output->scale);
  int64_t low = activation == BERTH_ACTIVATION_NONE           ? *min
                : activation == BERTH_ACTIVATION_RELU_N1_TO_1 ? minus_one
                                                              : zero;
  int64_t high = activation == BERTH_ACTIVATION_RELU6          ? six
                 : activation == BERTH_ACTIVATION_RELU_N1_TO_1 ? one
                                                               : *max;
  if (low > *min) *min = low;
  if (high < *max) *max = high;
}

typedef struct naive_conv {
  berth_value_t input, filter, bias, output; /* bias.present: false: none */
  int32_t stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, activation;
  bool depthwise;
  naive_rounding_t rounding;
  bool float_product; /* the factor's scales are multiplied in float */
  bool filter_zero;   /* the filter's zero point counts */
} naive_conv_t;

/* The sum for output channel o at (y, x) of image b, before rescaling. */
static inline int64_t naive_sum(const naive_conv_t *c, int32_t b, int32_t y, int32_t x, int32_t o) {
  const int32_t *in = c->input.dims, *f = c->filter.dims;
  int32_t depth = c->depthwise ? 1 : f[3];
  int32_t outputs = c->depthwise ? f[3] : f[0];
  int32_t group = o / (outputs / (in[3] / depth));
  int64_t sum = c->bias.present ? naive_get(c->bias.type, c->bias.data, (size_t)o) : 0;
  for (int32_t i = 0; i < f[1]; i++) {
    for (int32_t j = 0; j < f[2]; j++) {
      int32_t v = y * c->stride_h - c->pad_h + i * c->dilation_h;
      int32_t h = x * c->stride_w - c->pad_w + j * c->dilation_w;
      if (v < 0 || h < 0 || v >= in[1] || h >= in[2]) continue;
      for (int32_t k = 0; k < depth; k++) {
        int32_t from = ((b * in[1] + v) * in[2] + h) * in[3] + group * depth + k;
        int32_t weight =
            c->depthwise ? (i * f[2] + j) * f[3] + o : ((o * f[1] + i) * f[2] + j) * f[3] + k;
        int64_t a = naive_get(c->input.type, c->input.data, (size_t)from) - c->input.zero_point;
        int64_t w = naive_get(c->filter.type, c->filter.data, (size_t)weight);
        sum += a * (c->filter_zero ? w - c->filter.zero_point : w);
      }
    }
  }
  return sum;
}

/* Writes all of the output, whose dims are set. */
static inline void naive_conv(const naive_conv_t *c) {
  int64_t min, max;
  naive_range(&c->output, c->activation, &min, &max);
  const int32_t *out = c->output.dims;
  size_t at = 0;
  for (int32_t b = 0; b < out[0]; b++) {
    for (int32_t y = 0; y < out[1]; y++) {
      for (int32_t x = 0; x < out[2]; x++) {
        for (int32_t o = 0; o < out[3]; o++) {
          float scale = c->filter.scale;
          if (c->filter.scales.count > 1) memcpy(&scale, c->filter.scales.data + 4 * o, 4);
          float product = c->input.scale * scale;
          double real = c->float_product ? (double)product : (double)c->input.scale * (double)scale;
          int64_t value =
              naive_scale(naive_sum(c, b, y, x, o), real / (double)c->output.scale, c->rounding) +
              c->output.zero_point;
          naive_put(c->output.type, c->output.data, at++,
                    value < min   ? min
                    : value > max ? max
                                  : value);
        }
      }
    }
  }
}

#endif
