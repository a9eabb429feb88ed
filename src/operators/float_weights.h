/* Constants of float kernels: float32 or float16, at any address.
 *
 * Half of a model's size is saved by float16 weights; kernels take them as they are and convert
 * while they multiply, which is exact, so that the float32 copies never exist.
 */
#ifndef BERTH_OPERATORS_FLOAT_WEIGHTS_H
#define BERTH_OPERATORS_FLOAT_WEIGHTS_H

#include "berth/operator.h"
#include <string.h>

typedef struct berth_weights {
  const uint8_t *data; /* NULL: none */
  bool half;           /* float16 */
} berth_weights_t;

static inline bool berth_is_float(const berth_value_t *value) {
  return value->type == BERTH_TYPE_FLOAT32 || value->type == BERTH_TYPE_FLOAT16;
}

static inline berth_weights_t berth_weights(const berth_value_t *value) {
  return (berth_weights_t){.data = value->present ? value->data : NULL,
                           .half = value->type == BERTH_TYPE_FLOAT16};
}

/* Where weight number `index` is. */
static inline const uint8_t *berth_weight_at(const berth_weights_t *weights, size_t index) {
  return weights->data + (index << (weights->half ? 1 : 2));
}

/* An IEEE 754 binary16 number. */
static inline float berth_half(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 0x1fu;
  uint32_t fraction = half & 0x3ffu, bits;
  if (exponent == 0) { /* zero, or fraction x 2^-24 */
    float magnitude = (float)fraction * (1.0f / 16777216.0f);
    return sign ? -magnitude : magnitude;
  }
  bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Weight `index` from `at`. */
static inline float berth_weight_load(const uint8_t *at, bool half, size_t index) {
  if (half) {
    uint16_t bits;
    memcpy(&bits, at + 2 * index, sizeof bits);
    return berth_half(bits);
  }
  float value;
  memcpy(&value, at + 4 * index, sizeof value);
  return value;
}

static inline float berth_weight(const berth_weights_t *weights, size_t index) {
  return berth_weight_load(weights->data, weights->half, index);
}

#endif
