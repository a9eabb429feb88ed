/* Rescaling eight sums at a time with AVX2: used by the *_avx2.c files, the same bits as
 * berth_rescale_apply.
 *
 * Both roundings are folded into one 64-bit addition and one shift. With e = -shift >= 1 the two
 * steps are floor((floor((x m + 2^30) / 2^31) + 2^(e-1) - [x < 0]) / 2^e), and nested floors of
 * integer steps combine: floor((x m + 2^30 + 2^(30+e) - 2^31 [x < 0]) / 2^(31+e)). Since 31 + e is
 * at least 32, only the high half of the 64-bit sum is needed. Factors of 1/2 and more (shift >= 0)
 * have one rounding only; x is shifted to the left beforehand.
 */
#ifndef BERTH_OPERATORS_RESCALE_AVX2_H
#define BERTH_OPERATORS_RESCALE_AVX2_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define BERTH_HAS_AVX2 1

#include "operators/rescale.h"
#include <immintrin.h>

#define BERTH_AVX2        __attribute__((target("avx2,fma,f16c")))
#define BERTH_AVX2_INLINE static inline __attribute__((always_inline, target("avx2,fma,f16c")))

/* Larger shifts to the left are left to the portable code. */
#define BERTH_AVX2_LEFT_MAX 12

/* The factors of eight channels, as the instructions want them: 64-bit things for the even and for
 * the odd channels. */
typedef struct berth_rescale_avx2 {
  __m256i multiplier[2];
  __m256i nudge[2];
  __m256i sign[2]; /* bit 31 where negative sums round the other way */
  __m256i right;   /* shift of the high halves */
  __m256i left, most, least;
  bool has_left; /* does any channel have left > 0? */
} berth_rescale_avx2_t;

/* False: a factor is out of this code's range. */
BERTH_AVX2_INLINE bool berth_rescale_avx2_load(const berth_rescale_t *rescale, uint32_t first,
                                               uint32_t count, berth_rescale_avx2_t *to) {
  int32_t multipliers[8] = {0}, shifts[8] = {0};
  berth_rescale_factors(rescale, first, count, multipliers, shifts);
  int64_t nudge[8], sign[8];
  int32_t left[8], right[8], most[8];
  to->has_left = false;
  for (uint32_t i = 0; i < 8; i++) {
    uint32_t at = i / 2 + 4 * (i % 2); /* evens first */
    bool is_left = shifts[i] >= 0;
    if (shifts[i] >= BERTH_AVX2_LEFT_MAX) return false;
    if (is_left && i < count && multipliers[i] != 0) to->has_left = true;
    int32_t e = -shifts[i];
    left[i] = is_left ? shifts[i] + 1 : 0;
    right[i] = is_left ? 0 : e - 1;
    most[i] = INT32_MAX >> (left[i] + (is_left ? 1 : 0));
    nudge[at] = is_left ? INT64_C(1) << 31
                        : (INT64_C(1) << (30 + e)) + (rescale->once ? 0 : INT64_C(1) << 30);
    sign[at] = is_left || rescale->once ? 0 : INT64_C(1) << 31;
  }
  to->multiplier[0] = _mm256_loadu_si256((const __m256i *)(const void *)multipliers);
  to->multiplier[1] = _mm256_srli_epi64(to->multiplier[0], 32);
  for (int i = 0; i < 2; i++) {
    to->nudge[i] = _mm256_loadu_si256((const __m256i *)(const void *)(nudge + 4 * i));
    to->sign[i] = _mm256_loadu_si256((const __m256i *)(const void *)(sign + 4 * i));
  }
  to->left = _mm256_loadu_si256((const __m256i *)(const void *)left);
  to->right = _mm256_loadu_si256((const __m256i *)(const void *)right);
  to->most = _mm256_loadu_si256((const __m256i *)(const void *)most);
  to->least = _mm256_sub_epi32(_mm256_setzero_si256(), to->most);
  return true;
}

/* Eight sums, scaled; the zero point and the range are still to come. */
BERTH_AVX2_INLINE __m256i berth_rescale_avx2_apply(const berth_rescale_avx2_t *by, __m256i x) {
  if (by->has_left) { /* what would overflow is far beyond any 8-bit range */
    __m256i inside = _mm256_max_epi32(_mm256_min_epi32(x, by->most), by->least);
    __m256i is_left = _mm256_cmpgt_epi32(by->left, _mm256_setzero_si256());
    x = _mm256_sllv_epi32(_mm256_blendv_epi8(x, inside, is_left), by->left);
  }
  __m256i y = _mm256_srli_epi64(x, 32);
  __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, by->multiplier[0]), by->nudge[0]);
  __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(y, by->multiplier[1]), by->nudge[1]);
  even = _mm256_sub_epi64(even, _mm256_and_si256(x, by->sign[0]));
  odd = _mm256_sub_epi64(odd, _mm256_and_si256(y, by->sign[1]));
  __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  return _mm256_srav_epi32(high, by->right);
}

#endif
#endif
