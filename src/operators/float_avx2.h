/* Sums of products of float rows with AVX2, eight elements of depth at a time: the inner part of
 * matmul_float_avx2.c and conv_float_avx2.c.
 *
 * The canonical order of such a sum: element k of a span is added to partial sum k mod 8, spans one
 * after the other; then partial sums 0+1, 2+3, ..., then the pairs, then the halves. It is the same
 * for each output whatever it is computed together with.
 */
#ifndef BERTH_OPERATORS_FLOAT_AVX2_H
#define BERTH_OPERATORS_FLOAT_AVX2_H

#include "operators/avx2.h"

#if BERTH_HAS_AVX2

#include "operators/float_weights.h"

#define BERTH_LANES 8u

/* Lanes [0, count) are all ones. */
BERTH_AVX2_INLINE __m256i berth_mask_avx2(uint32_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)count),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* Eight weights. */
BERTH_AVX2_INLINE __m256 berth_weights_avx2(const uint8_t *at, bool half) {
  if (half) return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)at));
  return _mm256_loadu_ps((const float *)(const void *)at);
}

/* The first `count` < 8 of them, then zeros; nothing beyond is read. */
BERTH_AVX2_INLINE __m256 berth_weights_some_avx2(const uint8_t *at, bool half, uint32_t count) {
  if (half) {
    uint16_t some[8] = {0};
    for (uint32_t i = 0; i < count; i++) memcpy(&some[i], at + 2 * (size_t)i, sizeof *some);
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)some));
  }
  return _mm256_maskload_ps((const float *)(const void *)at, berth_mask_avx2(count));
}

/* A number of weights that may be 0 (`count` >= 8: all eight). */
BERTH_AVX2_INLINE __m256 berth_weights_up_to_avx2(const uint8_t *at, bool half, uint32_t count) {
  if (count >= BERTH_LANES) return berth_weights_avx2(at, half);
  return berth_weights_some_avx2(at, half, count);
}

/* sums[r][c] += in[r] x weights[c] over a span. */
BERTH_AVX2_INLINE void berth_span_avx2(__m256 *sums, int rows, int columns, const float *const *in,
                                       const uint8_t *const *weights, bool half, uint32_t depth) {
  uint32_t k = 0;
  uint32_t shift = half ? 1 : 2;
  for (; k + BERTH_LANES <= depth; k += BERTH_LANES) {
    __m256 a[4];
    BERTH_UNROLL for (int r = 0; r < rows; r++) {
      a[r] = _mm256_loadu_ps(in[r] + k);
    }
    BERTH_UNROLL for (int c = 0; c < columns; c++) {
      __m256 b = berth_weights_avx2(weights[c] + ((size_t)k << shift), half);
      BERTH_UNROLL for (int r = 0; r < rows; r++) {
        sums[r * columns + c] = _mm256_fmadd_ps(a[r], b, sums[r * columns + c]);
      }
    }
  }
  if (k == depth) return;
  __m256i mask = berth_mask_avx2(depth - k);
  __m256 a[4];
  BERTH_UNROLL for (int r = 0; r < rows; r++) {
    a[r] = _mm256_maskload_ps(in[r] + k, mask);
  }
  BERTH_UNROLL for (int c = 0; c < columns; c++) {
    __m256 b = berth_weights_some_avx2(weights[c] + ((size_t)k << shift), half, depth - k);
    BERTH_UNROLL for (int r = 0; r < rows; r++) {
      sums[r * columns + c] = _mm256_fmadd_ps(a[r], b, sums[r * columns + c]);
    }
  }
}

/* Four sums from four registers of partial sums. */
BERTH_AVX2_INLINE __m128 berth_add_up_avx2(const __m256 *sums) {
  __m256 pairs = _mm256_hadd_ps(sums[0], sums[1]);
  __m256 more = _mm256_hadd_ps(sums[2], sums[3]);
  __m256 halves = _mm256_hadd_ps(pairs, more);
  return _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
}

/* Writes the first `count` of the floats; masked stores are slow on some processors. */
BERTH_AVX2_INLINE void berth_store4_avx2(float *to, __m128 values, uint32_t count) {
  if (count >= 4) {
    _mm_storeu_ps(to, values);
    return;
  }
  if (count & 2) {
    _mm_storel_pi((__m64 *)(void *)to, values);
    values = _mm_movehl_ps(values, values);
    to += 2;
  }
  if (count & 1) _mm_store_ss(to, values);
}
BERTH_AVX2_INLINE void berth_store8_avx2(float *to, __m256 values, uint32_t count) {
  __m128 low = _mm256_castps256_ps128(values);
  if (count >= 8) {
    _mm256_storeu_ps(to, values);
  } else if (count >= 4) {
    _mm_storeu_ps(to, low);
    berth_store4_avx2(to + 4, _mm256_extractf128_ps(values, 1), count - 4);
  } else {
    berth_store4_avx2(to, low, count);
  }
}

/* min(max(x, low), high); NaN becomes `low`. */
BERTH_AVX2_INLINE __m128 berth_clamp4_avx2(__m128 x, float low, float high) {
  return _mm_min_ps(_mm_max_ps(x, _mm_set1_ps(low)), _mm_set1_ps(high));
}
BERTH_AVX2_INLINE __m256 berth_clamp8_avx2(__m256 x, float low, float high) {
  return _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(low)), _mm256_set1_ps(high));
}

/* The biases of four channels from `channel` on, of which `count` exist. */
BERTH_AVX2_INLINE __m128 berth_bias4_avx2(const berth_weights_t *bias, size_t channel,
                                          uint32_t count) {
  if (bias->data == NULL) return _mm_setzero_ps();
  return _mm256_castps256_ps128(
      berth_weights_some_avx2(berth_weight_at(bias, channel), bias->half, count < 4 ? count : 4));
}

#endif
#endif
