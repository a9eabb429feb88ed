/* Inner products for kernels that work on one vector at a time (SVDF, LSTM).
 *
 * Integer sums wrap modulo 2^32, as the reference's do, so their order is free. Float sums are kept
 * in eight parts that are added in a fixed order: a processor with vectors of any width up to eight
 * can do them at once, and the result is the same without.
 */
#ifndef BERTH_OPERATORS_DOT_H
#define BERTH_OPERATORS_DOT_H

#include "operators/fixed_point.h"

/* Sum of (a - zero) x b. */
static inline uint32_t berth_dot_int8(const int8_t *a, const int8_t *b, uint32_t count,
                                      int32_t zero) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += (uint32_t)((int16_t)(a[i] - zero) * (int16_t)b[i]);
  return sum;
}

/* Sum of a x b; `b` may lie at any address. */
static inline float berth_dot_float(const float *a, const void *b, uint32_t count) {
  float parts[8] = {0};
  uint32_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (uint32_t k = 0; k < 8; k++) parts[k] += a[i + k] * berth_load_float(b, i + k);
  }
  for (uint32_t k = 0; i + k < count; k++) parts[k] += a[i + k] * berth_load_float(b, i + k);
  return ((parts[0] + parts[4]) + (parts[2] + parts[6])) +
         ((parts[1] + parts[5]) + (parts[3] + parts[7]));
}

#endif
