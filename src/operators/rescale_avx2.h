/* Rescaling eight sums at a time with AVX2: used by the *_avx2.c files, the same bits as
 * berth_rescale_apply.
 *
 * Both roundings are folded into one 64-bit addition and one shift. With e = -shift >= 1 the two
 * steps are floor((floor((x m + 2^30) / 2^31) + 2^(e-1) - [x < 0]) / 2^e), and nested floors of
 * integer steps combine: floor((x m + 2^30 + 2^(30+e) - 2^31 [x < 0]) / 2^(31+e)). Since 31 + e is
 * at least 32, only the high half of the 64-bit sum is needed. Factors of 1/2 and more (shift >= 0)
 * have one rounding only; x is shifted to the left beforehand.
 *
 * Most of the time it is simpler still. A negative x gives minus the result of |x|, but where |x| m
 * is an odd multiple of 2^30: for that, |x| must be a multiple of 2^30 / (lowest bit of m), which
 * the bound of a sum mostly excludes beforehand ("plain" factors).
 */
#ifndef BERTH_OPERATORS_RESCALE_AVX2_H
#define BERTH_OPERATORS_RESCALE_AVX2_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define BERTH_HAS_AVX2 1

#include "operators/rescale.h"
#include <immintrin.h>

#define BERTH_AVX2        __attribute__((target("avx2,fma,f16c")))
#define BERTH_AVX2_INLINE static inline __attribute__((always_inline, target("avx2,fma,f16c")))

/* Eight 32-bit numbers from memory. */
BERTH_AVX2_INLINE __m256i berth_load_avx2(const int32_t *from) {
  return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* The factors of eight channels, as the instructions want them: 64-bit things for the even and for
 * the odd channels. */
typedef struct berth_rescale_avx2 {
  __m256i multiplier[2];
  __m256i nudge[2];
  __m256i sign;  /* bit 31 where negative sums round the other way */
  __m256i right; /* shift of the high halves */
  __m256i left, most, least;
  bool is_plain;      /* see above; none of the factors is 1/2 or more */
  bool ties_up;       /* no sign counts; nor is any factor 1/2 or more */
  bool has_left;      /* some factor is */
  __m256i zero_point; /* 16 bits */
  __m128i min, max;   /* 8 bits */
} berth_rescale_avx2_t;

/* Larger shifts to the left must be left to the portable code. */
#define BERTH_AVX2_SHIFT_MAX 11

static inline bool berth_rescale_avx2_can(const int32_t *shifts, uint32_t count) {
  bool can = true;
  for (uint32_t i = 0; i < count; i++) can = can && shifts[i] <= BERTH_AVX2_SHIFT_MAX;
  return can;
}

/* berth_rescale_factors, four channels at a time. */
BERTH_AVX2_INLINE void berth_rescale_avx2_factors(const berth_rescale_t *rescale, uint32_t first,
                                                  uint32_t count, int32_t *multipliers,
                                                  int32_t *shifts) {
  uint32_t i = 0;
  if (rescale->multipliers == NULL && rescale->scales != NULL) {
    __m256d input = _mm256_set1_pd(rescale->input_scale);
    __m256d output = _mm256_set1_pd(rescale->output_scale);
    for (; i + 4 <= count; i += 4) {
      __m128i floats = _mm_loadu_si128(
          (const __m128i *)(const void *)(rescale->scales + 4 * (size_t)(first + i)));
      __m256d product = _mm256_mul_pd(input, _mm256_cvtps_pd(_mm_castsi128_ps(floats)));
      __m256i bits = _mm256_castpd_si256(_mm256_div_pd(product, output));
      __m256i exponent = _mm256_sub_epi64(_mm256_srli_epi64(bits, 52), _mm256_set1_epi64x(1022));
      __m256i hidden = _mm256_set1_epi64x(INT64_C(1) << 52);
      __m256i significand = _mm256_or_si256(
          _mm256_and_si256(bits, _mm256_set1_epi64x((INT64_C(1) << 52) - 1)), hidden);
      __m256i rounded =
          _mm256_srli_epi64(_mm256_add_epi64(significand, _mm256_set1_epi64x(0x200000)), 22);
      __m256i carry = _mm256_srli_epi64(rounded, 31); /* rounded up to 2^31 */
      rounded = _mm256_srlv_epi64(rounded, carry);
      exponent = _mm256_add_epi64(exponent, carry);
      __m256i kept = _mm256_cmpgt_epi64(exponent, _mm256_set1_epi64x(-32));
      rounded = _mm256_and_si256(rounded, kept);
      exponent = _mm256_and_si256(exponent, kept);
      __m256i evens = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
      _mm_storeu_si128((__m128i *)(void *)(multipliers + i),
                       _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(rounded, evens)));
      _mm_storeu_si128((__m128i *)(void *)(shifts + i),
                       _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(exponent, evens)));
    }
  }
  if (i < count) berth_rescale_factors(rescale, first + i, count - i, multipliers + i, shifts + i);
}

/* The most that a sum of `depth` products of 8-bit numbers (zero points taken off) and one of these
 * biases can be. */
BERTH_AVX2_INLINE uint64_t berth_sum_bound_avx2(uint32_t depth, const int32_t *bias,
                                                uint32_t count) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t size = (uint64_t)(bias[i] < 0 ? -(int64_t)bias[i] : (int64_t)bias[i]);
    if (size > most) most = size;
  }
  return (uint64_t)depth * 255 * 255 + most;
}

/* From the factors of eight channels (where there are fewer, any that berth_rescale_avx2_can), for
 * sums of at most `bound`. */
BERTH_AVX2_INLINE berth_rescale_avx2_t berth_rescale_avx2_load(__m256i multipliers, __m256i shift,
                                                               uint64_t bound,
                                                               const berth_rescale_t *rescale) {
  berth_rescale_avx2_t to;
  __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
  __m256i is_left = _mm256_cmpgt_epi32(shift, _mm256_set1_epi32(-1));
  to.multiplier[0] = multipliers;
  to.multiplier[1] = _mm256_srli_epi64(to.multiplier[0], 32);
  /* right = e - 1, or 0 for factors of 1/2 and more */
  to.right = _mm256_max_epi32(_mm256_sub_epi32(_mm256_set1_epi32(-1), shift), zero);
  to.left = _mm256_and_si256(_mm256_add_epi32(shift, one), is_left);
  /* What exceeds this saturates anyway; a right-shifted channel has no limit. */
  __m256i shifted = _mm256_add_epi32(to.left, _mm256_and_si256(is_left, one));
  to.most = _mm256_srlv_epi32(_mm256_set1_epi32(INT32_MAX), shifted);
  to.least = _mm256_sub_epi32(_mm256_set1_epi32(-1), to.most);
  to.has_left = _mm256_movemask_epi8(is_left) != 0;
  /* nudge = 2^(31 + right) and, where that is the second rounding, 2^30 for the first */
  __m256i even = _mm256_and_si256(to.right, _mm256_set1_epi64x(0xffffffff));
  __m256i odd = _mm256_srli_epi64(to.right, 32);
  __m256i base = _mm256_set1_epi64x(INT64_C(1) << 31);
  __m256i first = _mm256_andnot_si256(is_left, _mm256_set1_epi32(1 << 30));
  to.nudge[0] = _mm256_add_epi64(_mm256_sllv_epi64(base, even),
                                 _mm256_and_si256(first, _mm256_set1_epi64x(0xffffffff)));
  to.nudge[1] = _mm256_add_epi64(_mm256_sllv_epi64(base, odd), _mm256_srli_epi64(first, 32));
  to.sign = rescale->ties_up ? zero : _mm256_slli_epi32(first, 1);
  to.ties_up = rescale->ties_up && !to.has_left;
  int32_t lowest_most = bound < 1 << 30 ? (int32_t)(((1 << 30) - 1) / (bound + 1)) : 0;
  __m256i lowest = _mm256_and_si256(multipliers, _mm256_sub_epi32(zero, multipliers));
  __m256i is_tie = _mm256_cmpgt_epi32(lowest, _mm256_set1_epi32(lowest_most));
  to.is_plain = !to.has_left && !rescale->ties_up && _mm256_testz_si256(is_tie, is_tie);
  to.zero_point = _mm256_set1_epi16((int16_t)rescale->zero_point);
  to.min = _mm_set1_epi8((char)rescale->min);
  to.max = _mm_set1_epi8((char)rescale->max);
  return to;
}

/* Eight sums, scaled; the zero point and the range are still to come. */
BERTH_AVX2_INLINE __m256i berth_rescale_avx2_apply(const berth_rescale_avx2_t *by, __m256i x) {
  if (by->is_plain) {
    __m256i size = _mm256_abs_epi32(x);
    __m256i even = _mm256_mul_epi32(size, by->multiplier[0]);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(size, 32), by->multiplier[1]);
    even = _mm256_srli_epi64(_mm256_add_epi64(even, by->nudge[0]), 32);
    odd = _mm256_add_epi64(odd, by->nudge[1]);
    __m256i high = _mm256_blend_epi32(even, odd, 0xaa);
    return _mm256_sign_epi32(_mm256_srlv_epi32(high, by->right), x);
  }
  if (by->ties_up) {
    __m256i even = _mm256_mul_epi32(x, by->multiplier[0]);
    __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(x, 32), by->multiplier[1]);
    even = _mm256_srli_epi64(_mm256_add_epi64(even, by->nudge[0]), 32);
    odd = _mm256_add_epi64(odd, by->nudge[1]);
    return _mm256_srav_epi32(_mm256_blend_epi32(even, odd, 0xaa), by->right);
  }
  if (by->has_left) { /* what would overflow is far beyond any 8-bit range */
    x = _mm256_max_epi32(_mm256_min_epi32(x, by->most), by->least);
    x = _mm256_sllv_epi32(x, by->left);
  }
  __m256i y = _mm256_srli_epi64(x, 32);
  __m256i sign = _mm256_and_si256(x, by->sign);
  __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, by->multiplier[0]), by->nudge[0]);
  __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(y, by->multiplier[1]), by->nudge[1]);
  even = _mm256_sub_epi64(even, _mm256_and_si256(sign, _mm256_set1_epi64x(0xffffffff)));
  odd = _mm256_sub_epi64(odd, _mm256_srli_epi64(sign, 32));
  __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  return _mm256_srav_epi32(high, by->right);
}

/* Sixteen scaled sums of 16 bits, zero point added, as bytes within the range. */
BERTH_AVX2_INLINE __m128i berth_rescale_avx2_bytes(const berth_rescale_avx2_t *by, __m256i words,
                                                   bool is_unsigned) {
  __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
  if (is_unsigned) {
    return _mm_max_epu8(_mm_min_epu8(_mm_packus_epi16(low, high), by->max), by->min);
  }
  return _mm_max_epi8(_mm_min_epi8(_mm_packs_epi16(low, high), by->max), by->min);
}

/* Two times eight scaled sums as bytes, with zero point and range. */
BERTH_AVX2_INLINE __m128i berth_rescale_avx2_narrow(const berth_rescale_avx2_t *by, __m256i first,
                                                    __m256i second, bool is_unsigned) {
  /* [first 0-3, second 0-3 | first 4-7, second 4-7], then the middle quarters are swapped */
  __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(first, second), by->zero_point);
  return berth_rescale_avx2_bytes(by, _mm256_permute4x64_epi64(words, 0xd8), is_unsigned);
}

/* From four registers with four partial sums in each half, the four sums in each half. */
BERTH_AVX2_INLINE __m256i berth_add_quads_avx2(__m256i a, __m256i b, __m256i c, __m256i d) {
  __m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
  __m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
  return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

#endif
#endif
