/* DEPTHWISE_CONV_2D for int8 and uint8 with AVX2: sixteen channels of a pixel at a time.
 *
 * Taps are taken in pairs: the inputs of two taps, spread out to 16 bits, are interleaved channel
 * by channel, so that one multiply-add gives input x weight of both taps for eight channels. The
 * weights are interleaved the same way beforehand, for sixteen channels, in scratch. Interleaving
 * works within halves: one register has channels 0-3 and 8-11, the other 4-7 and 12-15, and
 * narrowing the results puts them in order again.
 *
 * The input's zero point is taken off the bias, and taps outside the image read zero points. Fewer
 * than sixteen channels at the end are done by the sixteen that end there; where there are fewer in
 * all, loads reach into the next pixel and only the channels are stored. With eight channels and
 * stride 1, two pixels side by side are done like sixteen channels. With one input channel, its
 * value is repeated instead of interleaved.
 */
#include "operators/depthwise_int8.h"
#include "operators/rescale_avx2.h"

#if BERTH_HAS_AVX2

#define LANES      16u
#define STRIP_MOST 65536u /* bytes of input that all blocks of channels pass over together */

/* Sixteen channels, ready. */
typedef struct block {
  const berth_depthwise_int8_t *depthwise;
  bool is_repeated;     /* there is one input channel only */
  uint32_t first;       /* channel */
  uint32_t count;       /* channels: 16 unless there are fewer in all */
  uint32_t pixels;      /* that a register holds: 2 with eight channels and stride 1 */
  uint32_t from, to;    /* filter rows that are packed */
  __m256i *packed;      /* their weights: two registers for each pair of taps */
  uint8_t *copies;      /* scratch for inputs of 16 bytes each, one for each tap */
  const uint8_t *zeros; /* zero points */
  const uint8_t *end;   /* of the input's memory */
  int32_t bias[LANES];  /* as the model has it */
  berth_rescale_avx2_t low, high;
  __m256i low_bias, high_bias; /* corrected for the packed taps */
} block_t;

BERTH_AVX2_INLINE __m256i widen(const uint8_t *from, bool is_unsigned) {
  __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
  return is_unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}

/* Channels 0-3 and 8-11 of sixteen numbers; from + 4: 4-7 and 12-15. */
BERTH_AVX2_INLINE __m256i quarters(const int32_t *from) {
  __m128i low = _mm_loadu_si128((const __m128i *)(const void *)from);
  __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(from + 8));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

/* Makes the block of channels from `first` ready, but for its weights. False: a factor is out of
 * range. */
BERTH_AVX2_INLINE bool open_block(block_t *b, uint32_t first) {
  const berth_depthwise_int8_t *d = b->depthwise;
  const berth_conv_t *conv = d->conv;
  int32_t multipliers[LANES] = {0}, shifts[LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    shifts[i] = -1;
    b->bias[i] = 0;
  }
  b->first = first;
  b->from = b->to = 0;
  berth_rescale_avx2_factors(&d->rescale, first, b->count, multipliers, shifts);
  if (!berth_rescale_avx2_can(shifts, b->count)) return false;
  for (uint32_t i = 0; i < b->count && conv->bias.present; i++) {
    b->bias[i] = berth_load_int32(conv->bias.data, first + i);
  }
  if (b->pixels == 2) {
    memcpy(multipliers + 8, multipliers, 8 * sizeof *multipliers);
    memcpy(shifts + 8, shifts, 8 * sizeof *shifts);
    memcpy(b->bias + 8, b->bias, 8 * sizeof *b->bias);
  }
  uint64_t bound = berth_sum_bound_avx2(conv->filter_h * conv->filter_w, b->bias, LANES);
  b->low = berth_rescale_avx2_load(quarters(multipliers), quarters(shifts), bound, &d->rescale);
  b->high =
      berth_rescale_avx2_load(quarters(multipliers + 4), quarters(shifts + 4), bound, &d->rescale);
  return true;
}

/* Weights of one tap for the block's channels. */
BERTH_AVX2_INLINE __m256i weights_of(const block_t *b, uint32_t tap, bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  const uint8_t *from = conv->filter.data + (size_t)tap * conv->output_c + b->first;
  uint8_t copy[LANES] = {0};
  if (b->count < LANES) {
    memcpy(copy, from, b->count);
    if (b->pixels == 2) memcpy(copy + 8, from, 8);
    from = copy;
  }
  return _mm256_sub_epi16(widen(from, is_unsigned),
                          _mm256_set1_epi16((int16_t)b->depthwise->filter_zero));
}

/* Packs the weights of filter rows [from, to), unless they are packed already. */
BERTH_AVX2_INLINE void pack(block_t *b, uint32_t from, uint32_t to, bool is_unsigned) {
  if (b->from == from && b->to == to) return;
  uint32_t width = b->depthwise->conv->filter_w, taps = (to - from) * width;
  __m256i ones = _mm256_set1_epi16(1), low_sum = _mm256_setzero_si256(), high_sum = low_sum;
  for (uint32_t t = 0; t < taps; t += 2) {
    __m256i even = weights_of(b, from * width + t, is_unsigned), odd = _mm256_setzero_si256();
    if (t + 1 < taps) odd = weights_of(b, from * width + t + 1, is_unsigned);
    __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
    _mm256_storeu_si256(b->packed + t, low);
    _mm256_storeu_si256(b->packed + t + 1, high);
    low_sum = _mm256_add_epi32(low_sum, _mm256_madd_epi16(low, ones));
    high_sum = _mm256_add_epi32(high_sum, _mm256_madd_epi16(high, ones));
  }
  __m256i zero = _mm256_set1_epi32(b->depthwise->input_zero);
  b->low_bias = _mm256_sub_epi32(quarters(b->bias), _mm256_mullo_epi32(zero, low_sum));
  b->high_bias = _mm256_sub_epi32(quarters(b->bias + 4), _mm256_mullo_epi32(zero, high_sum));
  b->from = from;
  b->to = to;
}

/* Adds the products of two taps. */
BERTH_AVX2_INLINE void add_pair(const __m256i *weights, const uint8_t *even, const uint8_t *odd,
                                bool is_unsigned, bool is_repeated, __m256i *low, __m256i *high) {
  __m256i a, b;
  if (is_repeated) { /* the same pair for all channels */
    int32_t x = is_unsigned ? *even : (int8_t)*even, y = is_unsigned ? *odd : (int8_t)*odd;
    a = b = _mm256_set1_epi32((int32_t)((uint32_t)y << 16 | (uint32_t)(x & 0xffff)));
  } else {
    __m256i x = widen(even, is_unsigned), y = widen(odd, is_unsigned);
    a = _mm256_unpacklo_epi16(x, y);
    b = _mm256_unpackhi_epi16(x, y);
  }
  *low = _mm256_add_epi32(*low, _mm256_madd_epi16(a, _mm256_loadu_si256(weights)));
  *high = _mm256_add_epi32(*high, _mm256_madd_epi16(b, _mm256_loadu_si256(weights + 1)));
}

/* `count` pixels, or pairs of pixels: tap t of the first at taps[t], `step` bytes apart. Stores
 * `store` bytes of each. */
BERTH_AVX2_INLINE void run(const block_t *b, const uint8_t *const *taps, uint32_t tap_count,
                           size_t step, uint32_t count, bool is_unsigned, bool is_repeated,
                           uint32_t store, uint8_t *out, size_t out_step) {
  size_t at = 0;
  for (uint32_t p = 0; p < count; p++, at += step, out += out_step) {
    __m256i low = b->low_bias, high = b->high_bias;
    for (uint32_t t = 0; t < tap_count; t += 2) {
      const uint8_t *odd = t + 1 < tap_count ? taps[t + 1] + at : b->zeros; /* times 0 */
      add_pair(b->packed + t, taps[t] + at, odd, is_unsigned, is_repeated, &low, &high);
    }
    low = berth_rescale_avx2_apply(&b->low, low);
    high = berth_rescale_avx2_apply(&b->high, high);
    __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(low, high), b->low.zero_point);
    __m128i bytes = berth_rescale_avx2_bytes(&b->low, words, is_unsigned);
    if (store == LANES) {
      _mm_storeu_si128((__m128i *)(void *)out, bytes);
    } else if (store == 8) {
      _mm_storel_epi64((__m128i *)(void *)out, bytes);
    } else {
      uint8_t copy[LANES];
      _mm_storeu_si128((__m128i *)(void *)copy, bytes);
      memcpy(out, copy, store);
    }
  }
}

/* The same, with the commonest filter unrolled. */
BERTH_AVX2_INLINE void run_taps(const block_t *b, const uint8_t *const *taps, uint32_t tap_count,
                                size_t step, uint32_t count, bool is_unsigned, uint32_t store,
                                uint8_t *out, size_t out_step) {
  if (b->is_repeated) {
    run(b, taps, tap_count, step, count, is_unsigned, true, store, out, out_step);
  } else if (tap_count == 9 && store == LANES) {
    run(b, taps, 9, step, count, is_unsigned, false, LANES, out, out_step);
  } else {
    run(b, taps, tap_count, step, count, is_unsigned, false, store, out, out_step);
  }
}

/* An output row on its way. */
typedef struct row {
  const uint8_t *inputs[BERTH_DEPTHWISE_TAPS]; /* rows for the packed filter rows */
  uint8_t *out;
} row_t;

/* Where the taps of output pixel x are, for the block's channels. Those outside the image read zero
 * points. */
static void point(const block_t *b, const row_t *row, uint32_t x, const uint8_t **taps) {
  const berth_conv_t *conv = b->depthwise->conv;
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  size_t step = (size_t)conv->dilation_w * conv->input_c;
  size_t start = (size_t)h.at * conv->input_c + (b->is_repeated ? 0 : b->first);
  for (uint32_t i = 0; i < b->to - b->from; i++) {
    const uint8_t *from = row->inputs[i] + start;
    for (uint32_t j = 0; j < conv->filter_w; j++) {
      bool is_inside = j >= h.first && j < h.last;
      *taps++ = is_inside ? from : b->zeros;
      if (is_inside) from += step;
    }
  }
}

/* Output pixels [first, last), each by itself: at the border, or where sixteen bytes may reach
 * beyond the input's memory, which are copied then. */
BERTH_AVX2_INLINE void single(const block_t *b, const row_t *row, uint32_t first, uint32_t last,
                              bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  uint32_t tap_count = (b->to - b->from) * conv->filter_w;
  const uint8_t *taps[BERTH_DEPTHWISE_TAPS];
  for (uint32_t x = first; x < last; x++) {
    point(b, row, x, taps);
    if (conv->input_c < LANES && !b->is_repeated) {
      for (uint32_t t = 0; t < tap_count; t++) {
        if (taps[t] == b->zeros || (size_t)(b->end - taps[t]) >= LANES) continue;
        memcpy(b->copies + t * LANES, taps[t], (size_t)(b->end - taps[t]));
        taps[t] = b->copies + t * LANES;
      }
    }
    run_taps(b, taps, tap_count, 0, 1, is_unsigned, b->count, row->out + (size_t)x * conv->output_c,
             0);
  }
}

/* One output row of the block. */
BERTH_AVX2_INLINE void one_row(block_t *b, uint32_t index, bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  uint32_t batch = index / conv->output_h, y = index % conv->output_h;
  row_t row = {.out = (uint8_t *)berth_row(&conv->output, index) + b->first};
  berth_taps_t v =
      berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
  pack(b, v.first, v.last, is_unsigned);
  for (uint32_t i = 0; i < v.last - v.first; i++) {
    row.inputs[i] = berth_row(&conv->input, batch * conv->input_h + v.at + i * conv->dilation_h);
  }
  uint32_t tap_count = (v.last - v.first) * conv->filter_w;
  uint32_t first, last;
  berth_conv_inside(conv, &first, &last);
  if (first == last) last = first = 0;
  single(b, &row, 0, first, is_unsigned);
  if (first < last) {
    const uint8_t *taps[BERTH_DEPTHWISE_TAPS];
    point(b, &row, first, taps);
    size_t step = (size_t)conv->stride_w * conv->input_c * b->pixels;
    uint32_t count = (last - first) / b->pixels;
    if (conv->input_c < LANES && !b->is_repeated) {
      for (uint32_t t = 0; t < tap_count; t++) {
        while (count > 0 && (size_t)(b->end - taps[t]) < (count - 1) * step + LANES) count--;
      }
    }
    run_taps(b, taps, tap_count, step, count, is_unsigned, b->count * b->pixels,
             row.out + (size_t)first * conv->output_c, (size_t)conv->output_c * b->pixels);
    first += count * b->pixels;
  }
  single(b, &row, first, conv->output_w, is_unsigned);
}

BERTH_AVX2 bool berth_depthwise_int8_avx2(const berth_depthwise_int8_t *d, void *scratch,
                                          uint32_t first_row, uint32_t last_row) {
  const berth_conv_t *conv = d->conv;
  uint32_t taps = conv->filter_h * conv->filter_w;
  bool is_repeated = conv->input_c == 1;
  if (taps > BERTH_DEPTHWISE_TAPS || (conv->output_c != conv->input_c && !is_repeated)) {
    return false;
  }
  uintptr_t aligned = ((uintptr_t)scratch + 31) / 32 * 32;
  block_t b = {.depthwise = d,
               .is_repeated = is_repeated,
               .count = conv->output_c < LANES ? conv->output_c : LANES,
               .pixels = conv->input_c == 8 && conv->stride_w == 1 ? 2 : 1,
               .packed = (__m256i *)aligned,
               .end = conv->input.data + (size_t)conv->input.ring * conv->input.row_bytes};
  uint8_t *zeros = (uint8_t *)(b.packed + (taps + 1) / 2 * 2);
  memset(zeros, (uint8_t)d->input_zero, LANES);
  b.zeros = zeros;
  b.copies = zeros + LANES;

  uint64_t bytes = (uint64_t)conv->input.row_bytes * conv->stride_h;
  uint32_t strip = bytes < STRIP_MOST ? STRIP_MOST / (uint32_t)bytes : 1;
  for (uint32_t row = first_row; row < last_row; row += strip) {
    uint32_t end = last_row - row < strip ? last_row : row + strip;
    for (uint32_t channel = 0; channel < conv->output_c; channel += LANES) {
      uint32_t rest = conv->output_c - channel;
      if (!open_block(&b, rest < b.count ? conv->output_c - b.count : channel)) return false;
      for (uint32_t r = row; r < end; r++) {
        if (d->is_unsigned) {
          one_row(&b, r, true);
        } else {
          one_row(&b, r, false);
        }
      }
    }
  }
  return true;
}

#endif
