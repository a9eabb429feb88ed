/* Rounding sizes and offsets up to an alignment, or to several. */
#ifndef BERTH_SRC_PLAN_ROUND_H
#define BERTH_SRC_PLAN_ROUND_H

#include <stdint.h>

/* The smallest multiple of `align` (at least 1) that is not below `bytes`, which is at most
 * 2^64 - align: whoever has sizes from a file has checked them. */
static inline uint64_t berth_round_up(uint64_t bytes, uint64_t align) {
  return (bytes + align - 1) / align * align;
}

/* Least common multiple of two alignments of at least 1, or 0 if it is beyond 2^63 - 1. */
static inline uint64_t berth_common_multiple(uint64_t a, uint64_t b) {
  uint64_t x = a, y = b;
  while (y != 0) {
    uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return b / x > INT64_MAX / a ? 0 : a * (b / x);
}

#endif
