/* Rounding sizes and offsets up to an alignment. */
#ifndef BERTH_SRC_PLAN_ROUND_H
#define BERTH_SRC_PLAN_ROUND_H

#include <stdint.h>

/* The smallest multiple of `align` (at least 1) that is not below `bytes`, which is at most
 * 2^64 - align: whoever has sizes from a file has checked them. */
static inline uint64_t berth_round_up(uint64_t bytes, uint64_t align) {
  return (bytes + align - 1) / align * align;
}

#endif
