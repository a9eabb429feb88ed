/* Where the output of an operator may lie over what is done of its input: what a contract that says
 * `ordered` or `in_step` permits. */
#ifndef BERTH_TESTS_OVER_ROWS_H
#define BERTH_TESTS_OVER_ROWS_H

#include "berth/operator.h"

/* Bytes that the input must begin behind the output, so that no row is written over which the row
 * that is written, or a later one, needs. A multiple of 16. */
static inline uint32_t over_rows_distance(const berth_value_t *from, const berth_value_t *to,
                                          berth_window_t window) {
  int64_t needed = (int64_t)from->rows * from->row_bytes, most = 0;
  for (uint32_t row = to->rows; row-- > 0;) {
    int64_t at = (int64_t)row * window.numerator;
    int64_t low = at / window.denominator - (at % window.denominator < 0 ? 1 : 0) + window.offset;
    int64_t first = low < 0 ? 0 : low * from->row_bytes;
    if (first < needed) needed = first;
    int64_t distance = (int64_t)(row + 1) * to->row_bytes - needed;
    if (distance > most) most = distance;
  }
  return (uint32_t)(most + 15) & ~15u;
}

/* The least bytes that the input must begin behind an output that is made in step with it. */
static inline uint32_t in_step_distance(const berth_value_t *from, const berth_value_t *to) {
  return to->bytes > from->bytes ? to->bytes - from->bytes : 0;
}

#endif
