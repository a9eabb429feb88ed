/* Exponential, logistic and hyperbolic tangent in 32-bit fixed point, for quantized operators.
 *
 * A Qm.n number has m integer bits and n = 31 - m fractional ones. Results equal those of TFLM's
 * reference kernels to the bit, which compute with gemmlowp's fixedpoint library: the exponential
 * by a Taylor polynomial around -1/8 and a product of tabulated powers, 1 / (1 + x) by three
 * Newton-Raphson steps from 48/17 - 32/17 x. Source: Jacob et al. (2018); gemmlowp,
 * fixedpoint/fixedpoint.h.
 */
#ifndef BERTH_OPERATORS_FIXED_FUNCTIONS_H
#define BERTH_OPERATORS_FIXED_FUNCTIONS_H

#include "operators/fixed_point.h"

/* x times 2^exponent, saturated. */
static inline int32_t berth_shift_saturated(int32_t x, int32_t exponent) {
  int64_t shifted = (int64_t)x * (INT64_C(1) << exponent);
  return shifted > INT32_MAX ? INT32_MAX : shifted < INT32_MIN ? INT32_MIN : (int32_t)shifted;
}

/* exp(x) in Q0.31 for x in [-1/4, 0) in Q0.31. */
static inline int32_t berth_exp_quarter(int32_t x) {
  const int32_t exp_eighth = 1895147668, third = 715827883; /* exp(-1/8), 1/3 */
  int32_t d = x + (1 << 28);
  int32_t d2 = berth_multiply_high(d, d), d3 = berth_multiply_high(d2, d);
  int32_t d4 = berth_multiply_high(d2, d2);
  int32_t tail = berth_multiply_high(berth_divide_by_power(d4, 2) + d3, third) + d2;
  tail = berth_divide_by_power(tail, 1);
  return exp_eighth + berth_multiply_high(exp_eighth, d + tail);
}

/* exp(x) in Q0.31 for x <= 0 with `integer_bits` integer bits, 5 at most. */
static inline int32_t berth_exp_negative(int32_t x, int32_t integer_bits) {
  /* exp(-2^k) for k = -2, ..., 4 */
  static const int32_t powers[7] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
  const int32_t fraction_bits = 31 - integer_bits, quarter = INT32_C(1) << (fraction_bits - 2);
  if (x == 0) return INT32_MAX;
  int32_t inner = (x & (quarter - 1)) - quarter; /* in [-1/4, 0), equal to x modulo 1/4 */
  int32_t result = berth_exp_quarter(berth_shift_saturated(inner, integer_bits));
  uint32_t rest = (uint32_t)inner - (uint32_t)x;
  for (int32_t k = -2; k < integer_bits; k++)
    if (rest >> (fraction_bits + k) & 1) result = berth_multiply_high(result, powers[k + 2]);
  return result;
}

/* Newton-Raphson for 2 / (1 + x) in Q2.29, x in [0, 1) in Q0.31. */
static inline int32_t berth_reciprocal_newton(int32_t x) {
  const int32_t c48_17 = 1515870810, c32_17 = -1010580540;    /* in Q2.29 */
  int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2); /* (1 + x) / 2, rounded */
  int32_t y = c48_17 + berth_multiply_high(half, c32_17);
  for (int i = 0; i < 3; i++) {
    int32_t error = (1 << 29) - berth_multiply_high(half, y);
    y += berth_shift_saturated(berth_multiply_high(y, error), 2);
  }
  return y;
}

/* 1 / (1 + x) and (1 - x) / (1 + x) in Q0.31, x in [0, 1] in Q0.31. */
static inline int32_t berth_reciprocal(int32_t x) {
  return berth_shift_saturated(berth_reciprocal_newton(x), 1);
}
static inline int32_t berth_reciprocal_minus(int32_t x) {
  return berth_shift_saturated(berth_reciprocal_newton(x) - (1 << 29), 2);
}

/* 1 / (1 + exp(-x)) in Q0.31, x in Q4.27. */
static inline int32_t berth_logistic_fixed(int32_t x) {
  if (x == 0) return INT32_C(1) << 30;
  int32_t positive = berth_reciprocal(berth_exp_negative(x > 0 ? -x : x, 4));
  return x > 0 ? positive : INT32_MAX - positive;
}

/* tanh(x) in Q0.31, x in Q4.27: the doubled argument is the same number in Q5.26. */
static inline int32_t berth_tanh_fixed(int32_t x) {
  if (x == 0) return 0;
  int32_t positive = berth_reciprocal_minus(berth_exp_negative(x > 0 ? -x : x, 5));
  return x > 0 ? positive : -positive;
}

/* 1 / x for x > 0 with `integer_bits` integer bits, as a Q0.31 number in [1/2, 1] that has to be
 * shifted to the right by *exponent. */
static inline int32_t berth_reciprocal_shifted(int32_t x, int32_t integer_bits, int32_t *exponent) {
  int32_t zeros = 0;
  while (zeros < 31 && !((uint32_t)x << zeros & 0x80000000u)) zeros++;
  *exponent = integer_bits - zeros;
  return berth_reciprocal((int32_t)(((uint32_t)x << zeros) - 0x80000000u));
}

/* The largest |x| that a function takes whose argument is rescaled by 2^shift into `integer_bits`
 * integer bits; beyond it, the result is saturated. */
static inline int32_t berth_input_radius(int32_t integer_bits, int32_t shift) {
  double radius = ldexp((double)((1 << integer_bits) - 1), 31 - integer_bits - shift);
  return radius >= (double)INT32_MAX ? INT32_MAX : (int32_t)radius;
}

#endif
