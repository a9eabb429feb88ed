/* Products of 8-bit rows with an 8-bit filter: used by CONV_2D and FULLY_CONNECTED.
 *
 *   out[r][c] = rescale(bias[c] + sum over k of (in[r][k] - input_zero) x
 *                                               (filter[c][k] - filter_zero))
 *
 * Sums are exact in 32 bits (they wrap as the reference's do), so their order is free and both
 * implementations give the same bytes.
 */
#ifndef BERTH_OPERATORS_MATMUL_INT8_H
#define BERTH_OPERATORS_MATMUL_INT8_H

#include "operators/rescale.h"

typedef struct berth_matmul_int8 {
  const uint8_t *filter; /* channel c's weights: `depth` bytes from filter + c x depth */
  const uint8_t *bias;   /* one int32 for each channel, at any address; NULL: none */
  uint32_t depth;
  uint32_t channels; /* of one group */
  bool is_unsigned;  /* uint8 instead of int8, on all sides */
  int32_t input_zero, filter_zero;
  berth_rescale_t rescale;
} berth_matmul_int8_t;

/* Rows of input start `in_step` bytes apart, of output `out_step`. Computes channels
 * [group x channels, + channels) of the filter into out[0...channels) of each row. */
void berth_matmul_int8(const berth_matmul_int8_t *matmul, uint32_t cpu, uint32_t group,
                       const uint8_t *in, size_t in_step, uint8_t *out, size_t out_step,
                       uint32_t rows);

/* The sums alone, without bias, over elements [at, at + span) of the depth, which lie at `in`, for
 * channels [first, first + count) of the filter, at most 8. */
void berth_matmul_int8_sums(const berth_matmul_int8_t *matmul, uint32_t cpu, uint32_t first,
                            uint32_t count, uint32_t at, uint32_t span, const uint8_t *in,
                            int32_t sums[8]);

/* The implementations behind it. Portable: channels [first, first + count) of the filter, at
 * most 8. AVX2 must be there; filter_zero must be 0 unless is_unsigned. */
void berth_matmul_int8_portable(const berth_matmul_int8_t *matmul, uint32_t first, uint32_t count,
                                const uint8_t *in, size_t in_step, uint8_t *out, size_t out_step,
                                uint32_t rows);
void berth_matmul_int8_avx2(const berth_matmul_int8_t *matmul, uint32_t group, const uint8_t *in,
                            size_t in_step, uint8_t *out, size_t out_step, uint32_t rows);
void berth_matmul_int8_sums_avx2(const berth_matmul_int8_t *matmul, uint32_t first, uint32_t count,
                                 uint32_t at, uint32_t span, const uint8_t *in, int32_t sums[8]);

/* Arm's DSP instructions or Helium (BERTH_HAS_ARM): int8 and a filter_zero of 0 only. */
static inline bool berth_matmul_int8_suits_arm(const berth_matmul_int8_t *matmul) {
  return !matmul->is_unsigned && matmul->filter_zero == 0;
}
void berth_matmul_int8_arm(const berth_matmul_int8_t *matmul, uint32_t group, const uint8_t *in,
                           size_t in_step, uint8_t *out, size_t out_step, uint32_t rows);
void berth_matmul_int8_sums_arm(const berth_matmul_int8_t *matmul, uint32_t first, uint32_t count,
                                uint32_t at, uint32_t span, const uint8_t *in, int32_t sums[8]);

#endif
