/* Products of float rows with AVX2: three rows by four channels at a time (twelve registers of
 * partial sums), one row by eight channels where there is only one.
 *
 * Rows are taken in blocks that stay in the first-level cache while all channels pass by; within a
 * block, four channels' weights stay there while the rows pass by.
 */
#include "operators/float_avx2.h"
#include "operators/matmul_float.h"

#if BERTH_HAS_AVX2

#define ROWS        3
#define CHANNELS    4
#define BLOCK_BYTES 16384u /* of input rows, about */

/* `count` rows (1..ROWS) by `channels` channels (1..CHANNELS) from channel `c` of this product. */
BERTH_AVX2_INLINE void tile(const berth_matmul_float_t *m, bool half, const float *in,
                            size_t in_step, float *out, size_t out_step, uint32_t count,
                            const uint8_t *const *weights, __m128 bias, uint32_t channels) {
  __m256 sums[ROWS * CHANNELS];
  const float *from[ROWS];
  BERTH_UNROLL for (int i = 0; i < ROWS * CHANNELS; i++) sums[i] = _mm256_setzero_ps();
  BERTH_UNROLL for (uint32_t r = 0; r < ROWS; r++) from[r] = in + (r < count ? r : 0) * in_step;
  berth_span_avx2(sums, ROWS, CHANNELS, from, weights, half, m->depth);
  BERTH_UNROLL for (uint32_t r = 0; r < ROWS; r++) {
    __m128 total = _mm_add_ps(berth_add_up_avx2(&sums[r * CHANNELS]), bias);
    if (r < count)
      berth_store4_avx2(out + r * out_step, berth_clamp4_avx2(total, m->min, m->max), channels);
  }
}

/* One row by eight channels or fewer. */
BERTH_AVX2_INLINE void tile_one(const berth_matmul_float_t *m, bool half, const float *in,
                                float *out, uint32_t c) {
  __m256 sums[2 * CHANNELS];
  const uint8_t *weights[2 * CHANNELS];
  uint32_t channels = m->count - c;
  BERTH_UNROLL for (uint32_t i = 0; i < 2 * CHANNELS; i++) {
    sums[i] = _mm256_setzero_ps();
    size_t channel = (size_t)m->first + c + (i < channels ? i : 0);
    weights[i] = berth_weight_at(&m->filter, channel * m->depth);
  }
  berth_span_avx2(sums, 1, 2 * CHANNELS, &in, weights, half, m->depth);
  for (uint32_t i = 0; i < 2 && i * CHANNELS < channels; i++) {
    uint32_t at = c + i * CHANNELS, some = m->count - at;
    __m128 bias = berth_bias4_avx2(&m->bias, (size_t)m->first + at, some);
    __m128 total = _mm_add_ps(berth_add_up_avx2(&sums[i * CHANNELS]), bias);
    berth_store4_avx2(out + at, berth_clamp4_avx2(total, m->min, m->max), some);
  }
}

BERTH_AVX2_INLINE void block(const berth_matmul_float_t *m, bool half, const float *in,
                             size_t in_step, float *out, size_t out_step, uint32_t rows) {
  for (uint32_t c = 0; c < m->count; c += CHANNELS) {
    uint32_t channels = m->count - c < CHANNELS ? m->count - c : CHANNELS;
    const uint8_t *weights[CHANNELS];
    for (uint32_t i = 0; i < CHANNELS; i++) {
      size_t channel = (size_t)m->first + c + (i < channels ? i : 0);
      weights[i] = berth_weight_at(&m->filter, channel * m->depth);
    }
    __m128 bias = berth_bias4_avx2(&m->bias, (size_t)m->first + c, channels);
    for (uint32_t row = 0; row < rows; row += ROWS) {
      uint32_t count = rows - row < ROWS ? rows - row : ROWS;
      tile(m, half, in + row * in_step, in_step, out + row * out_step + c, out_step, count, weights,
           bias, channels);
    }
  }
}

BERTH_AVX2_INLINE void matmul(const berth_matmul_float_t *m, bool half, const float *in,
                              size_t in_step, float *out, size_t out_step, uint32_t rows) {
  uint32_t most = BLOCK_BYTES / 4 / m->depth;
  most = most < ROWS ? ROWS : most - most % ROWS;
  uint32_t row = 0;
  while (rows - row > 1) {
    uint32_t count = rows - row < most ? rows - row : most;
    if (count % ROWS == 1 && count > 1) count--; /* a single last row is done apart */
    block(m, half, in + row * in_step, in_step, out + row * out_step, out_step, count);
    row += count;
  }
  if (row == rows) return;
  for (uint32_t c = 0; c < m->count; c += 2 * CHANNELS) {
    tile_one(m, half, in + row * in_step, out + row * out_step, c);
  }
}

BERTH_AVX2 void berth_matmul_float_avx2(const berth_matmul_float_t *m, const float *in,
                                        size_t in_step, float *out, size_t out_step,
                                        uint32_t rows) {
  if (m->filter.half) {
    matmul(m, true, in, in_step, out, out_step, rows);
  } else {
    matmul(m, false, in, in_step, out, out_step, rows);
  }
}

/* ---- One row in pieces ---------------------------------------------------------------------- */

BERTH_AVX2_INLINE void add(const berth_matmul_float_t *m, bool half, uint32_t at, uint32_t count,
                           const float *in, float *parts) {
  for (uint32_t c = 0; c < m->count; c += 2 * CHANNELS) {
    __m256 sums[2 * CHANNELS];
    const uint8_t *weights[2 * CHANNELS];
    float *of = parts + (size_t)c * BERTH_LANES;
    BERTH_UNROLL for (uint32_t i = 0; i < 2 * CHANNELS; i++) {
      sums[i] = _mm256_loadu_ps(of + i * BERTH_LANES);
      size_t channel = (size_t)m->first + (c + i < m->count ? c + i : c);
      weights[i] = berth_weight_at(&m->filter, channel * m->depth + at);
    }
    berth_span_avx2(sums, 1, 2 * CHANNELS, &in, weights, half, count);
    BERTH_UNROLL for (uint32_t i = 0; i < 2 * CHANNELS; i++) {
      _mm256_storeu_ps(of + i * BERTH_LANES, sums[i]);
    }
  }
}

BERTH_AVX2 void berth_matmul_float_add_avx2(const berth_matmul_float_t *m, uint32_t at,
                                            uint32_t count, const float *in, float *parts) {
  if (m->filter.half) {
    add(m, true, at, count, in, parts);
  } else {
    add(m, false, at, count, in, parts);
  }
}

BERTH_AVX2 void berth_matmul_float_finish_avx2(const berth_matmul_float_t *m, const float *parts,
                                               float *out) {
  for (uint32_t c = 0; c < m->count; c += CHANNELS) {
    __m256 sums[CHANNELS];
    for (uint32_t i = 0; i < CHANNELS; i++) {
      sums[i] = _mm256_loadu_ps(parts + (size_t)(c + i) * BERTH_LANES);
    }
    __m128 bias = berth_bias4_avx2(&m->bias, (size_t)m->first + c, m->count - c);
    __m128 total = _mm_add_ps(berth_add_up_avx2(sums), bias);
    berth_store4_avx2(out + c, berth_clamp4_avx2(total, m->min, m->max), m->count - c);
  }
}

#else
typedef int berth_matmul_float_avx2_is_empty; /* ISO C wants a declaration */
#endif
