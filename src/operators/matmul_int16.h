/* Products of int16 rows with an int8 filter: used by CONV_2D and FULLY_CONNECTED.
 *
 *   out[r][c] = rescale(bias[c] + sum over k of in[r][k] x (filter[c][k] - filter_zero))
 *
 * Sums are exact in 64 bits. Activations are symmetric: their zero points are 0.
 */
#ifndef BERTH_OPERATORS_MATMUL_INT16_H
#define BERTH_OPERATORS_MATMUL_INT16_H

#include "operators/rescale.h"

typedef struct berth_matmul_int16 {
  const uint8_t *filter; /* channel c's weights: `depth` int8 from filter + c x depth */
  const uint8_t *bias;   /* one int64 (int32 if `is_short`) for each channel; NULL: none */
  uint32_t depth;
  uint32_t channels; /* of one group */
  bool is_short;     /* sums wrap to 32 bits and are rescaled in two roundings */
  int32_t filter_zero;
  berth_rescale_t rescale;
} berth_matmul_int16_t;

/* Rows of input start `in_step` bytes apart, of output `out_step`. Computes channels
 * [group x channels, + channels) of the filter into out[0...channels) of each row. */
void berth_matmul_int16(const berth_matmul_int16_t *matmul, uint32_t group, const uint8_t *in,
                        size_t in_step, uint8_t *out, size_t out_step, uint32_t rows);

/* The same for one row that comes in pieces, with a sum for each channel: adds the products of
 * elements [at, at + count) of the depth, which lie at `in`; and makes the row of output. */
void berth_matmul_int16_add(const berth_matmul_int16_t *matmul, uint32_t at, uint32_t count,
                            const uint8_t *in, int64_t *sums);
void berth_matmul_int16_finish(const berth_matmul_int16_t *matmul, const int64_t *sums,
                               uint8_t *out);

/* prepare: refuses what int16 operators can't have: zero points, factors that are too large, a bias
 * of another type than int64 or (if `short_allowed`) int32. */
berth_status_t berth_int16_check(berth_call_t *call, const berth_value_t *input,
                                 const berth_value_t *filter, const berth_value_t *bias,
                                 const berth_value_t *output, bool short_allowed);

/* A sum of an int16 operator, in the output's units and range. */
static inline int16_t berth_int16_rescale(const berth_rescale_t *rescale, int64_t sum,
                                          bool is_short, berth_multiplier_t by) {
  int32_t scaled =
      is_short ? berth_multiply((int32_t)(uint32_t)sum, by) : berth_multiply_long(sum, by);
  return (int16_t)berth_clamp(scaled, rescale->min, rescale->max);
}

#endif
