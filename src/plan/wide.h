/* Products of two 64-bit numbers, and ratios compared without rounding: the same on every machine,
 * where floating point might not be. */
#ifndef BERTH_SRC_PLAN_WIDE_H
#define BERTH_SRC_PLAN_WIDE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct berth_wide {
  uint64_t high, low;
} berth_wide_t;

static inline berth_wide_t berth_wide_product(uint64_t a, uint64_t b) {
  uint64_t a_low = a & UINT32_MAX, a_high = a >> 32, b_low = b & UINT32_MAX, b_high = b >> 32;
  uint64_t low = a_low * b_low;
  uint64_t middle = a_high * b_low + (low >> 32);
  uint64_t other = a_low * b_high + (middle & UINT32_MAX);
  berth_wide_t product = {a_high * b_high + (middle >> 32) + (other >> 32),
                          other << 32 | (low & UINT32_MAX)};
  return product;
}

static inline bool berth_wide_less(berth_wide_t a, berth_wide_t b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* a * b, or 2^64 - 1 if it is more. */
static inline uint64_t berth_wide_clamped(uint64_t a, uint64_t b) {
  berth_wide_t product = berth_wide_product(a, b);
  return product.high == 0 ? product.low : UINT64_MAX;
}

/* Is a / a_per less than b / b_per? Nothing per nothing is nothing. */
static inline bool berth_wide_ratio_less(uint64_t a, uint64_t a_per, uint64_t b, uint64_t b_per) {
  return berth_wide_less(berth_wide_product(a, b_per), berth_wide_product(b, a_per));
}

#endif
