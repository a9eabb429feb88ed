/* Products of 8-bit rows with AVX2, straight from where rows and weights lie: for few rows, where
 * unpacking the weights first (conv_int8_avx2.c) would not pay, above all for FULLY_CONNECTED.
 *
 * One row of input by eight channels, or three by four: 16 elements of depth at a time are spread
 * out to 16 bits, zero points taken off, multiplied and added in pairs, into a register for each
 * row and channel. Three rows share the weights that are spread out, which makes up for most of
 * what unpacking saves.
 */
#include "operators/matmul_int8.h"
#include "operators/rescale_avx2.h"

#if BERTH_HAS_AVX2

#define CHANNELS 8
#define LANES    16u /* elements of depth at a time */
#define ROWS     3   /* of a tile */
#define QUAD     4   /* channels of a tile */

BERTH_AVX2_INLINE __m256i widen(const uint8_t *from, bool is_unsigned) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
  return is_unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}

/* Adds the products of 16 elements at `at` to each channel's sums; of those, only the ones in
 * `keep` if `masked`. */
BERTH_AVX2_INLINE void step(const uint8_t *in, const uint8_t *const filter[CHANNELS], size_t at,
                            bool is_unsigned, __m256i input_zero, __m256i filter_zero, bool masked,
                            __m256i keep, __m256i sums[CHANNELS]) {
  __m256i x = _mm256_sub_epi16(widen(in + at, is_unsigned), input_zero);
  if (masked) x = _mm256_and_si256(x, keep);
  for (int c = 0; c < CHANNELS; c++) {
    __m256i w = widen(filter[c] + at, is_unsigned);
    if (is_unsigned) w = _mm256_sub_epi16(w, filter_zero);
    sums[c] = _mm256_add_epi32(sums[c], _mm256_madd_epi16(x, w));
  }
}

/* The sums of eight channels, in order. */
BERTH_AVX2_INLINE __m256i sum_row(const uint8_t *in, const uint8_t *const filter[CHANNELS],
                                  uint32_t depth, bool is_unsigned, __m256i input_zero,
                                  __m256i filter_zero) {
  __m256i sums[CHANNELS];
  for (int c = 0; c < CHANNELS; c++) sums[c] = _mm256_setzero_si256();
  uint32_t at = 0, left = depth % LANES;
  for (; at + LANES <= depth; at += LANES) {
    step(in, filter, at, is_unsigned, input_zero, filter_zero, false, input_zero, sums);
  }
  if (left != 0) { /* the last 16 once more without those counted already, or a padded copy */
    __m256i index = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    if (depth >= LANES) {
      __m256i keep = _mm256_cmpgt_epi16(index, _mm256_set1_epi16((int16_t)(LANES - left - 1)));
      step(in, filter, depth - LANES, is_unsigned, input_zero, filter_zero, true, keep, sums);
    } else {
      __m256i keep = _mm256_cmpgt_epi16(_mm256_set1_epi16((int16_t)left), index);
      uint8_t copies[CHANNELS + 1][LANES] = {{0}};
      const uint8_t *short_filter[CHANNELS];
      for (int c = 0; c < CHANNELS; c++) {
        memcpy(copies[c], filter[c], left);
        short_filter[c] = copies[c];
      }
      memcpy(copies[CHANNELS], in, left);
      step(copies[CHANNELS], short_filter, 0, is_unsigned, input_zero, filter_zero, true, keep,
           sums);
    }
  }
  __m256i low = berth_add_quads_avx2(sums[0], sums[1], sums[2], sums[3]);
  __m256i high = berth_add_quads_avx2(sums[4], sums[5], sums[6], sums[7]);
  return _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                          _mm256_permute2x128_si256(low, high, 0x31));
}

/* Adds the products of 16 elements at `at` to the sums of a tile. */
BERTH_AVX2_INLINE void step_tile(const uint8_t *const in[ROWS], const uint8_t *const filter[QUAD],
                                 size_t at, bool is_unsigned, __m256i input_zero,
                                 __m256i filter_zero, bool masked, __m256i keep,
                                 __m256i sums[ROWS * QUAD]) {
  __m256i x[ROWS];
  for (int r = 0; r < ROWS; r++) {
    x[r] = _mm256_sub_epi16(widen(in[r] + at, is_unsigned), input_zero);
    if (masked) x[r] = _mm256_and_si256(x[r], keep);
  }
  for (int c = 0; c < QUAD; c++) {
    __m256i w = widen(filter[c] + at, is_unsigned);
    if (is_unsigned) w = _mm256_sub_epi16(w, filter_zero);
    for (int r = 0; r < ROWS; r++) {
      __m256i sum = _mm256_add_epi32(sums[r * QUAD + c], _mm256_madd_epi16(x[r], w));
      __asm__("" : "+x"(sum)); /* no regrouping, which would need more registers than there are */
      sums[r * QUAD + c] = sum;
    }
  }
}

/* The sums of three rows by four channels, in order; the depth is LANES at least. */
BERTH_AVX2_INLINE void sum_tile(const uint8_t *const in[ROWS], const uint8_t *const filter[QUAD],
                                uint32_t depth, bool is_unsigned, __m256i input_zero,
                                __m256i filter_zero, __m128i to[ROWS]) {
  __m256i sums[ROWS * QUAD];
  for (int i = 0; i < ROWS * QUAD; i++) sums[i] = _mm256_setzero_si256();
  uint32_t at = 0, left = depth % LANES;
  for (; at + LANES <= depth; at += LANES) {
    step_tile(in, filter, at, is_unsigned, input_zero, filter_zero, false, input_zero, sums);
  }
  if (left != 0) { /* the last 16 once more without those counted already */
    __m256i index = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m256i keep = _mm256_cmpgt_epi16(index, _mm256_set1_epi16((int16_t)(LANES - left - 1)));
    step_tile(in, filter, depth - LANES, is_unsigned, input_zero, filter_zero, true, keep, sums);
  }
  for (int r = 0; r < ROWS; r++) {
    const __m256i *of = sums + r * QUAD;
    __m256i quads = berth_add_quads_avx2(of[0], of[1], of[2], of[3]);
    to[r] = _mm_add_epi32(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
  }
}

/* The sums of `count` rows (at most three) by eight channels. */
BERTH_AVX2_INLINE void sum_rows(const uint8_t *in, size_t in_step, uint32_t count,
                                const uint8_t *const filter[CHANNELS], uint32_t depth,
                                bool is_unsigned, __m256i input_zero, __m256i filter_zero,
                                __m256i to[ROWS]) {
  if (count == 1 || depth < LANES) {
    for (uint32_t r = 0; r < count; r++) {
      to[r] = sum_row(in + r * in_step, filter, depth, is_unsigned, input_zero, filter_zero);
    }
    return;
  }
  const uint8_t *rows[ROWS]; /* missing ones repeat the last */
  for (uint32_t r = 0; r < ROWS; r++) rows[r] = in + (r < count ? r : count - 1) * in_step;
  __m128i low[ROWS], high[ROWS];
  sum_tile(rows, filter, depth, is_unsigned, input_zero, filter_zero, low);
  sum_tile(rows, filter + QUAD, depth, is_unsigned, input_zero, filter_zero, high);
  for (int r = 0; r < ROWS; r++) to[r] = _mm256_set_m128i(high[r], low[r]);
}

BERTH_AVX2_INLINE void block(const berth_matmul_int8_t *m, uint32_t first, uint32_t count,
                             bool is_unsigned, const int32_t *multipliers, const int32_t *shifts,
                             const uint8_t *in, size_t in_step, uint8_t *out, size_t out_step,
                             uint32_t rows) {
  const uint8_t *filter[CHANNELS];
  int32_t bias[CHANNELS] = {0};
  for (uint32_t i = 0; i < CHANNELS; i++) { /* missing channels repeat the last */
    uint32_t channel = first + (i < count ? i : count - 1);
    filter[i] = m->filter + (size_t)channel * m->depth;
    if (m->bias != NULL) bias[i] = berth_load_int32(m->bias, channel);
  }
  berth_rescale_avx2_t factors =
      berth_rescale_avx2_load(berth_load_avx2(multipliers), berth_load_avx2(shifts),
                              berth_sum_bound_avx2(m->depth, bias, CHANNELS), &m->rescale);
  __m256i biases = berth_load_avx2(bias);
  __m256i input_zero = _mm256_set1_epi16((int16_t)m->input_zero);
  __m256i filter_zero = _mm256_set1_epi16((int16_t)m->filter_zero);
  for (uint32_t row = 0; row < rows; row += ROWS) {
    uint32_t some = rows - row < ROWS ? rows - row : ROWS;
    __m256i all[ROWS];
    sum_rows(in + row * in_step, in_step, some, filter, m->depth, is_unsigned, input_zero,
             filter_zero, all);
    for (uint32_t r = 0; r < some; r++) {
      __m256i sums = berth_rescale_avx2_apply(&factors, _mm256_add_epi32(all[r], biases));
      __m128i bytes = berth_rescale_avx2_narrow(&factors, sums, sums, is_unsigned);
      uint64_t eight = (uint64_t)_mm_cvtsi128_si64(bytes);
      memcpy(out + (row + r) * out_step, &eight, count);
    }
  }
}

BERTH_AVX2 void berth_matmul_int8_avx2(const berth_matmul_int8_t *m, uint32_t group,
                                       const uint8_t *in, size_t in_step, uint8_t *out,
                                       size_t out_step, uint32_t rows) {
  for (uint32_t at = 0; at < m->channels; at += CHANNELS) {
    uint32_t first = group * m->channels + at;
    uint32_t count = m->channels - at < CHANNELS ? m->channels - at : CHANNELS;
    int32_t multipliers[CHANNELS] = {0}, shifts[CHANNELS] = {-1, -1, -1, -1, -1, -1, -1, -1};
    berth_rescale_avx2_factors(&m->rescale, first, count, multipliers, shifts);
    if (!berth_rescale_avx2_can(shifts, count)) {
      berth_matmul_int8_portable(m, first, count, in, in_step, out + at, out_step, rows);
    } else if (m->is_unsigned) {
      block(m, first, count, true, multipliers, shifts, in, in_step, out + at, out_step, rows);
    } else {
      block(m, first, count, false, multipliers, shifts, in, in_step, out + at, out_step, rows);
    }
  }
}

BERTH_AVX2 void berth_matmul_int8_sums_avx2(const berth_matmul_int8_t *m, uint32_t first,
                                            uint32_t count, uint32_t at, uint32_t span,
                                            const uint8_t *in, int32_t sums[8]) {
  const uint8_t *filter[CHANNELS];
  for (uint32_t i = 0; i < CHANNELS; i++) { /* missing channels repeat the last */
    filter[i] = m->filter + (size_t)(first + (i < count ? i : count - 1)) * m->depth + at;
  }
  __m256i input_zero = _mm256_set1_epi16((int16_t)m->input_zero);
  __m256i filter_zero = _mm256_set1_epi16((int16_t)m->filter_zero);
  __m256i all = m->is_unsigned ? sum_row(in, filter, span, true, input_zero, filter_zero)
                               : sum_row(in, filter, span, false, input_zero, filter_zero);
  _mm256_storeu_si256((__m256i *)(void *)sums, all);
}

#endif
