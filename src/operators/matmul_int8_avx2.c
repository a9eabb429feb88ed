/* Products of 8-bit rows with AVX2: no packing, no scratch.
 *
 * A tile is three rows of input by eight channels of the filter. Eight elements of depth at a time,
 * two channels fill a register (as 16-bit numbers, zero point taken off), a row's eight inputs are
 * repeated in both halves, and one multiply-add gives four partial sums for each of the two
 * channels. The twelve registers of sums are reduced at the end. Filter rows are read where they
 * lie in the model, once for each three input rows.
 */
#include "operators/matmul_int8.h"
#include "operators/rescale_avx2.h"

#if BERTH_HAS_AVX2

#define ROWS     3 /* of a tile */
#define CHANNELS 8 /* of a tile */

/* Eight bytes from any address; `count` of them (less than 8), zeros beyond. */
BERTH_AVX2_INLINE __m128i load8(const uint8_t *from) {
  return _mm_loadl_epi64((const __m128i *)(const void *)from);
}

BERTH_AVX2_INLINE __m128i load_part(const uint8_t *from, uint32_t count) {
  uint64_t bytes = 0;
  memcpy(&bytes, from, count);
  return _mm_cvtsi64_si128((int64_t)bytes);
}

BERTH_AVX2_INLINE __m256i widen(__m128i bytes, bool is_unsigned, __m256i zero) {
  __m256i wide = is_unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
  return _mm256_sub_epi16(wide, zero);
}

/* What a tile is computed from, and with. */
typedef struct tile {
  const uint8_t *filter[CHANNELS];
  const uint8_t *in;
  size_t in_step;
  uint32_t depth;
  __m256i input_zero, filter_zero;
} tile_t;

/* Adds the products of eight elements of depth. `part` < 8: only so many, the last of the rows,
 * which end at `at` + part. */
BERTH_AVX2_INLINE void step(const tile_t *t, int rows, bool is_unsigned, uint32_t at, uint32_t part,
                            __m256i sums[ROWS][CHANNELS / 2]) {
  __m256i input[ROWS];
  for (int r = 0; r < rows; r++) {
    const uint8_t *from = t->in + (size_t)r * t->in_step + at;
    __m128i bytes = part == 8 ? load8(from) : load_part(from, part);
    input[r] = widen(_mm_unpacklo_epi64(bytes, bytes), is_unsigned, t->input_zero);
  }
  for (int c = 0; c < CHANNELS / 2; c++) {
    const uint8_t *low = t->filter[c] + at, *high = t->filter[c + CHANNELS / 2] + at;
    __m128i bytes = part == 8 ? _mm_unpacklo_epi64(load8(low), load8(high))
                              : _mm_unpacklo_epi64(load_part(low, part), load_part(high, part));
    __m256i weights =
        is_unsigned ? widen(bytes, true, t->filter_zero) : _mm256_cvtepi8_epi16(bytes);
    if (part < 8 && is_unsigned) {
      __m128i mask = _mm_cvtsi64_si128((int64_t)((UINT64_C(1) << (8 * part)) - 1));
      mask = _mm_unpacklo_epi64(mask, mask);
      weights = _mm256_and_si256(weights, _mm256_cvtepi8_epi16(mask));
    }
    for (int r = 0; r < rows; r++) {
      sums[r][c] = _mm256_add_epi32(sums[r][c], _mm256_madd_epi16(input[r], weights));
    }
  }
}

/* The sums of eight channels for each row, channels in order. */
BERTH_AVX2_INLINE void sum_tile(const tile_t *t, int rows, bool is_unsigned, __m256i out[ROWS]) {
  __m256i sums[ROWS][CHANNELS / 2];
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < CHANNELS / 2; c++) sums[r][c] = _mm256_setzero_si256();
  }
  uint32_t at = 0;
  for (; at + 8 <= t->depth; at += 8) step(t, rows, is_unsigned, at, 8, sums);
  if (at < t->depth) step(t, rows, is_unsigned, at, t->depth - at, sums);
  for (int r = 0; r < rows; r++) {
    __m256i front = _mm256_hadd_epi32(sums[r][0], sums[r][1]);
    __m256i back = _mm256_hadd_epi32(sums[r][2], sums[r][3]);
    out[r] = _mm256_hadd_epi32(front, back);
  }
}

typedef struct finish {
  berth_rescale_avx2_t factors;
  __m256i bias, zero_point, min, max;
} finish_t;

/* Rescales the sums of a tile and stores `count` channels of each row. */
BERTH_AVX2_INLINE void store_tile(const finish_t *f, int rows, bool is_unsigned,
                                  const __m256i sums[ROWS], uint8_t *out, size_t out_step,
                                  uint32_t count) {
  __m256i scaled[4];
  for (int r = 0; r < rows; r++) {
    scaled[r] = berth_rescale_avx2_apply(&f->factors, _mm256_add_epi32(sums[r], f->bias));
  }
  for (int r = rows; r < 4; r++) scaled[r] = scaled[rows - 1];
  __m256i front = _mm256_adds_epi16(_mm256_packs_epi32(scaled[0], scaled[1]), f->zero_point);
  __m256i back = _mm256_adds_epi16(_mm256_packs_epi32(scaled[2], scaled[3]), f->zero_point);
  __m256i bytes;
  if (is_unsigned) {
    bytes = _mm256_packus_epi16(front, back);
    bytes = _mm256_max_epu8(_mm256_min_epu8(bytes, f->max), f->min);
  } else {
    bytes = _mm256_packs_epi16(front, back);
    bytes = _mm256_max_epi8(_mm256_min_epi8(bytes, f->max), f->min);
  }
  /* Four channels of four rows in each half; bring each row's eight together. */
  __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
  __m128i together[2] = {_mm_unpacklo_epi32(low, high), _mm_unpackhi_epi32(low, high)};
  for (int r = 0; r < rows; r++) {
    __m128i row = r % 2 ? _mm_unpackhi_epi64(together[r / 2], together[r / 2]) : together[r / 2];
    if (count == CHANNELS) {
      _mm_storel_epi64((__m128i *)(void *)(out + (size_t)r * out_step), row);
    } else {
      uint64_t part = (uint64_t)_mm_cvtsi128_si64(row);
      memcpy(out + (size_t)r * out_step, &part, count);
    }
  }
}

/* All rows for one block of channels. */
BERTH_AVX2_INLINE void block(tile_t *t, const finish_t *f, bool is_unsigned, const uint8_t *in,
                             uint8_t *out, size_t out_step, uint32_t rows, uint32_t count) {
  __m256i sums[ROWS];
  uint32_t row = 0;
  for (; row + ROWS <= rows; row += ROWS) {
    t->in = in + row * t->in_step;
    sum_tile(t, ROWS, is_unsigned, sums);
    store_tile(f, ROWS, is_unsigned, sums, out + row * out_step, out_step, count);
  }
  t->in = in + row * t->in_step;
  if (rows - row == 2) {
    sum_tile(t, 2, is_unsigned, sums);
    store_tile(f, 2, is_unsigned, sums, out + row * out_step, out_step, count);
  } else if (rows - row == 1) {
    sum_tile(t, 1, is_unsigned, sums);
    store_tile(f, 1, is_unsigned, sums, out + row * out_step, out_step, count);
  }
}

BERTH_AVX2 void berth_matmul_int8_avx2(const berth_matmul_int8_t *m, uint32_t group,
                                       const uint8_t *in, size_t in_step, uint8_t *out,
                                       size_t out_step, uint32_t rows) {
  tile_t t = {.in_step = in_step,
              .depth = m->depth,
              .input_zero = _mm256_set1_epi16((int16_t)m->input_zero),
              .filter_zero = _mm256_set1_epi16((int16_t)m->filter_zero)};
  finish_t f = {.zero_point = _mm256_set1_epi16((int16_t)m->rescale.zero_point),
                .min = _mm256_set1_epi8((char)m->rescale.min),
                .max = _mm256_set1_epi8((char)m->rescale.max)};
  uint32_t base = group * m->channels;
  for (uint32_t first = 0; first < m->channels; first += CHANNELS) {
    uint32_t count = m->channels - first < CHANNELS ? m->channels - first : CHANNELS;
    if (!berth_rescale_avx2_load(&m->rescale, base + first, count, &f.factors)) {
      berth_matmul_int8_portable(m, base + first, count, in, in_step, out + first, out_step, rows);
      continue;
    }
    int32_t bias[CHANNELS] = {0};
    for (uint32_t i = 0; i < CHANNELS; i++) { /* missing channels repeat the last */
      uint32_t channel = base + first + (i < count ? i : count - 1);
      t.filter[i] = m->filter + (size_t)channel * m->depth;
      if (m->bias != NULL) bias[i] = berth_load_int32(m->bias, channel);
    }
    f.bias = _mm256_loadu_si256((const __m256i *)(const void *)bias);
    if (m->is_unsigned) {
      block(&t, &f, true, in, out + first, out_step, rows, count);
    } else {
      block(&t, &f, false, in, out + first, out_step, rows, count);
    }
  }
}

#endif
