/* exp, logistic and tanh of float32 without branches or libm.
 *
 * Loops over them vectorise, and give the same bits with every compiler and C library. Errors are
 * below 2e-7 relative. Source: S. Moshier's Cephes library (expf, tanhf): argument reduction by
 * multiples of ln 2 in two parts, and a minimax polynomial.
 */
#ifndef BERTH_OPERATORS_FLOAT_FUNCTIONS_H
#define BERTH_OPERATORS_FLOAT_FUNCTIONS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float berth_float_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t berth_bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* e^x; 0 below -87.3, where the result would be subnormal, and at most e^88.3. */
static inline float berth_exp(float x) {
  float clamped = x > 88.3f ? 88.3f : x;
  clamped = clamped < -87.3f ? -87.3f : clamped;
  /* Adding and taking away 1.5 x 2^23 rounds to an integer. */
  float n = (clamped * 1.44269504f + 12582912.0f) - 12582912.0f;
  float r = clamped - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  float power = berth_float_of_bits((uint32_t)((int32_t)n + 127) << 23);
  float result = p * power;
  result = x < -87.3f ? 0.0f : result;
  return x != x ? x : result; // NOLINT: NaN
}

static inline float berth_logistic(float x) {
  return 1.0f / (1.0f + berth_exp(-x));
}

static inline float berth_tanh(float x) {
  float z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  float small = p * z * x + x;
  float large = 1.0f - 2.0f / (berth_exp(2.0f * fabsf(x)) + 1.0f);
  large = x < 0.0f ? -large : large;
  return fabsf(x) < 0.625f ? small : large;
}

#endif
