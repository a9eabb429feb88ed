/* Hybrid operators: float activations, int8 weights. Each input (each image of a convolution, each
 * vector of FULLY_CONNECTED) is brought to 8 bits while it is computed, with a scale of its own.
 *
 * As TFLite has it: symmetric (range -127...127) where the weights have one scale, asymmetric where
 * they have one for each channel or where the operator asks for it.
 */
#ifndef BERTH_OPERATORS_HYBRID_H
#define BERTH_OPERATORS_HYBRID_H

#include "operators/fixed_point.h"

/* real = (quantized - zero_point) x scale */
typedef struct berth_hybrid {
  float scale, inverse;
  int32_t zero_point, least;
} berth_hybrid_t;

/* Widens [*min, *max] to hold `count` more values. */
static inline void berth_hybrid_span(const float *values, uint32_t count, float *min, float *max) {
  for (uint32_t i = 0; i < count; i++) {
    *min = values[i] < *min ? values[i] : *min;
    *max = values[i] > *max ? values[i] : *max;
  }
}

/* For values in [min, max], where min <= 0 <= max. */
static inline berth_hybrid_t berth_hybrid_of(float min, float max, bool asymmetric) {
  if (!(max > min)) return (berth_hybrid_t){.scale = 1.0f, .inverse = 1.0f, .least = -127};
  if (!asymmetric) {
    float range = max > -min ? max : -min;
    return (berth_hybrid_t){.scale = range / 127.0f, .inverse = 127.0f / range, .least = -127};
  }
  double scale = ((double)max - (double)min) / 255.0;
  double from_min = -128.0 - (double)min / scale, from_max = 127.0 - (double)max / scale;
  double error_min = 128.0 + fabs((double)min / scale);
  double error_max = 127.0 + fabs((double)max / scale);
  double zero = error_min < error_max ? from_min : from_max;
  int32_t zero_point = zero <= -128.0 ? -128 : zero >= 127.0 ? 127 : (int32_t)round(zero);
  return (berth_hybrid_t){.scale = (float)scale,
                          .inverse = (float)(1.0 / scale),
                          .zero_point = zero_point,
                          .least = -128};
}

/* Writes `count` values as int8. */
static inline void berth_hybrid_quantize(berth_hybrid_t by, const float *values, uint32_t count,
                                         uint8_t *to) {
  for (uint32_t i = 0; i < count; i++) {
    float scaled = values[i] * by.inverse + (float)by.zero_point;
    /* Within int8 before the conversion, which could overflow; then to the nearest, ties away from
     * zero. */
    scaled = scaled < -129.0f ? -129.0f : scaled > 128.0f ? 128.0f : scaled;
    int32_t rounded = (int32_t)scaled;
    float rest = scaled - (float)rounded;
    rounded += (rest >= 0.5f) - (rest <= -0.5f);
    to[i] = (uint8_t)(int8_t)berth_clamp(rounded, by.least, 127);
  }
}

#endif
