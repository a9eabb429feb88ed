/* CONV_2D for int8 and uint8 with AVX2.
 *
 * The weights of eight channels are spread out to 16 bits, zero point taken off, in scratch. There
 * a register holds eight of channel j and eight of channel j + 4: for each 16 bytes of a span, [j:
 * 0-7 | j + 4: 8-15] for j = 0...3, then [j: 8-15 | j + 4: 0-7]. Thus 16 inputs, spread out by the
 * load and multiplied once as they are and once with their halves swapped, add up to four partial
 * sums for each channel, in four registers; two pixels are done at a time.
 *
 * The input's zero point is taken off the bias: sum (a - z) w = sum a w - z sum w. Where the length
 * of a span is not a multiple of 16, its last 16 bytes are read again with weights of 0 for what
 * was counted already; a span that is shorter is read beyond its end, with weights of 0 as well.
 */
#include "operators/conv_int8.h"
#include "operators/rescale_avx2.h"

#if BERTH_HAS_AVX2

#define PAIRS (BERTH_CONV_BLOCK / 2)
#define LANES 16u /* 16-bit numbers of a register */

/* 16 weights of a channel. */
BERTH_AVX2_INLINE __m256i weights_at(const uint8_t *from, bool is_unsigned, __m256i zero) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
  if (!is_unsigned) return _mm256_cvtepi8_epi16(bytes); /* symmetric */
  return _mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes), zero);
}

BERTH_AVX2_INLINE __m256i lanes_from(int first, int last) { /* all ones in lanes [first, last) */
  __m256i index = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m256i low = _mm256_cmpgt_epi16(index, _mm256_set1_epi16((int16_t)(first - 1)));
  __m256i high = _mm256_cmpgt_epi16(_mm256_set1_epi16((int16_t)last), index);
  return _mm256_and_si256(low, high);
}

BERTH_AVX2_INLINE __m256i add_pairs(__m256i sums, __m256i weights) {
  return _mm256_add_epi32(sums, _mm256_madd_epi16(weights, _mm256_set1_epi16(1)));
}

BERTH_AVX2_INLINE int32_t total(__m256i x) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

/* Stores one step of channels j and j + 4. */
BERTH_AVX2_INLINE void put_pair(__m256i *to, __m256i first, __m256i second) {
  _mm256_storeu_si256(to, _mm256_blend_epi32(first, second, 0xf0));
  _mm256_storeu_si256(to + PAIRS, _mm256_permute2x128_si256(first, second, 0x21));
}

/* Packs channels j and j + 4 of the block; adds up their weights. */
BERTH_AVX2_INLINE void pack_pair(const berth_conv_block_t *block, uint32_t j, bool is_unsigned,
                                 int32_t sums[2]) {
  const berth_matmul_int8_t *m = block->matmul;
  uint32_t last = block->count - 1; /* missing channels repeat the last */
  const uint8_t *a = m->filter + (size_t)(block->first + (j < last ? j : last)) * m->depth;
  const uint8_t *b =
      m->filter + (size_t)(block->first + (j + PAIRS < last ? j + PAIRS : last)) * m->depth;
  __m256i zero = _mm256_set1_epi16((int16_t)m->filter_zero);
  __m256i low = _mm256_setzero_si256(), high = low;
  __m256i *to = (__m256i *)(void *)block->packed + j;
  uint32_t left = block->span % LANES;
  for (uint32_t s = 0; s < block->spans; s++) {
    uint32_t at = 0;
    for (; at + LANES <= block->span; at += LANES, a += LANES, b += LANES, to += 2 * PAIRS) {
      __m256i first = weights_at(a, is_unsigned, zero), second = weights_at(b, is_unsigned, zero);
      put_pair(to, first, second);
      low = add_pairs(low, first);
      high = add_pairs(high, second);
    }
    if (left == 0) continue;
    /* The last 16 once more without those packed already, or a copy that is filled up. */
    uint8_t copies[2][LANES] = {{0}, {0}};
    const uint8_t *from_a = a + left - LANES, *from_b = b + left - LANES;
    if (at == 0) {
      memcpy(copies[0], a, left);
      memcpy(copies[1], b, left);
      from_a = copies[0];
      from_b = copies[1];
    }
    __m256i keep = at == 0 ? lanes_from(0, (int)left) : lanes_from((int)(LANES - left), LANES);
    __m256i first = _mm256_and_si256(weights_at(from_a, is_unsigned, zero), keep);
    __m256i second = _mm256_and_si256(weights_at(from_b, is_unsigned, zero), keep);
    put_pair(to, first, second);
    low = add_pairs(low, first);
    high = add_pairs(high, second);
    a += left;
    b += left;
    to += 2 * PAIRS;
  }
  sums[0] = total(low);
  sums[1] = total(high);
}

BERTH_AVX2 bool berth_conv_open_avx2(berth_conv_block_t *block) {
  const berth_matmul_int8_t *m = block->matmul;
  berth_rescale_avx2_factors(&m->rescale, block->first, block->count, block->multipliers,
                             block->shifts);
  if (!berth_rescale_avx2_can(block->shifts, block->count)) return false;
  block->bound = berth_sum_bound_avx2(m->depth, block->bias, BERTH_CONV_BLOCK);
  for (uint32_t j = 0; j < PAIRS; j++) {
    int32_t sums[2];
    if (m->is_unsigned) {
      pack_pair(block, j, true, sums);
    } else {
      pack_pair(block, j, false, sums);
    }
    for (uint32_t i = 0; i < 2; i++) {
      uint32_t correction = (uint32_t)m->input_zero * (uint32_t)sums[i];
      block->bias[j + i * PAIRS] = (int32_t)((uint32_t)block->bias[j + i * PAIRS] - correction);
    }
  }
  return true;
}

BERTH_AVX2_INLINE __m256i inputs_at(const uint8_t *from, bool is_unsigned) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
  return is_unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}

/* sum += x . w, and no clever regrouping by the compiler, which would need more registers than
 * there are. */
BERTH_AVX2_INLINE __m256i add_product(__m256i sum, __m256i x, __m256i w) {
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, w));
  __asm__("" : "+x"(sum));
  return sum;
}

/* Adds what 16 bytes of a span contribute to the sums of a pixel (a) and the next (b). */
BERTH_AVX2_INLINE void step(__m256i a[PAIRS], __m256i b[PAIRS], const __m256i *w, const uint8_t *in,
                            size_t next, bool two, bool is_unsigned) {
  __m256i x = inputs_at(in, is_unsigned);
  __m256i y = two ? inputs_at(in + next, is_unsigned) : x;
  for (uint32_t half = 0; half < 2; half++) {
    for (uint32_t j = 0; j < PAIRS; j++) {
      __m256i weights = _mm256_loadu_si256(w + half * PAIRS + j);
      a[j] = add_product(a[j], x, weights);
      if (two) b[j] = add_product(b[j], y, weights);
    }
    if (half == 0) {
      x = _mm256_permute4x64_epi64(x, 0x4e);
      if (two) y = _mm256_permute4x64_epi64(y, 0x4e);
    }
  }
}

/* The sums of pixel p of a run (and the next, if `two`), channels in order. */
BERTH_AVX2_INLINE void sum_pixels(const __m256i *w, const berth_conv_pixels_t *pixels, uint32_t p,
                                  uint32_t spans, uint32_t span, bool two, bool is_unsigned,
                                  __m256i *first, __m256i *second) {
  __m256i a[PAIRS], b[PAIRS];
  for (uint32_t j = 0; j < PAIRS; j++) a[j] = b[j] = _mm256_setzero_si256();
  uint32_t whole = span / LANES * LANES;
  for (uint32_t s = 0; s < spans; s++) {
    size_t next = pixels->step[s];
    const uint8_t *in = pixels->from[s] + p * next;
    for (uint32_t at = 0; at < whole; at += LANES, w += 2 * PAIRS) {
      step(a, b, w, in + at, next, two, is_unsigned);
    }
    if (whole == span) continue;
    step(a, b, w, whole > 0 ? in + span - LANES : in, next, two, is_unsigned);
    w += 2 * PAIRS;
  }
  *first = berth_add_quads_avx2(a[0], a[1], a[2], a[3]);
  *second = two ? berth_add_quads_avx2(b[0], b[1], b[2], b[3]) : *first;
}

/* Stores the `count` channels of a pixel or two. */
BERTH_AVX2_INLINE void store(__m128i bytes, uint8_t *to, size_t step, bool two, uint32_t count) {
  if (count == BERTH_CONV_BLOCK) {
    _mm_storel_epi64((__m128i *)(void *)to, bytes);
    int64_t second = _mm_extract_epi64(bytes, 1);
    if (two) memcpy(to + step, &second, sizeof second); /* at any address */
  } else {
    uint8_t both[16];
    _mm_storeu_si128((__m128i *)(void *)both, bytes);
    memcpy(to, both, count);
    if (two) memcpy(to + step, both + 8, count);
  }
}

/* A run of pixels. Spans and their length are parameters, so that common ones become constants. */
BERTH_AVX2_INLINE void run(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels,
                           uint32_t spans, uint32_t span, bool is_unsigned) {
  berth_rescale_avx2_t factors =
      berth_rescale_avx2_load(berth_load_avx2(block->multipliers), berth_load_avx2(block->shifts),
                              block->bound, &block->matmul->rescale);
  __m256i bias = berth_load_avx2(block->bias);
  const __m256i *packed = (const __m256i *)(const void *)block->packed;
  uint32_t count = pixels->count, channels = block->count;
  size_t out_step = pixels->out_step;
  uint8_t *out = pixels->out;
  __m256i first, second;
  uint32_t p = 0;
  for (; p + 2 <= count; p += 2, out += 2 * out_step) {
    sum_pixels(packed, pixels, p, spans, span, true, is_unsigned, &first, &second);
    first = berth_rescale_avx2_apply(&factors, _mm256_add_epi32(first, bias));
    second = berth_rescale_avx2_apply(&factors, _mm256_add_epi32(second, bias));
    store(berth_rescale_avx2_narrow(&factors, first, second, is_unsigned), out, out_step, true,
          channels);
  }
  if (p < count) {
    sum_pixels(packed, pixels, p, spans, span, false, is_unsigned, &first, &second);
    first = berth_rescale_avx2_apply(&factors, _mm256_add_epi32(first, bias));
    store(berth_rescale_avx2_narrow(&factors, first, first, is_unsigned), out, out_step, false,
          channels);
  }
}

BERTH_AVX2_INLINE void run_any(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels,
                               bool is_unsigned) {
  if (block->spans == 1 && block->span <= LANES) { /* one step: no loops */
    run(block, pixels, 1, LANES, is_unsigned);
  } else if (block->spans == 1) {
    run(block, pixels, 1, block->span, is_unsigned);
  } else if (block->spans == 3 && block->span <= LANES) {
    run(block, pixels, 3, LANES, is_unsigned);
  } else {
    run(block, pixels, block->spans, block->span, is_unsigned);
  }
}

BERTH_AVX2 void berth_conv_pixels_avx2(const berth_conv_block_t *block,
                                       const berth_conv_pixels_t *pixels) {
  if (block->matmul->is_unsigned) {
    run_any(block, pixels, true);
  } else {
    run_any(block, pixels, false);
  }
}

BERTH_AVX2 void berth_conv_blocks_avx2(const berth_conv_block_t *blocks, uint32_t count,
                                       berth_conv_pixels_t *pixels) {
  for (uint32_t i = 0; i < count; i++) {
    berth_conv_pixels_avx2(&blocks[i], pixels);
    pixels->out += blocks[i].count;
  }
}

#endif
