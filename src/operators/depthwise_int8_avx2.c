/* DEPTHWISE_CONV_2D for int8 and uint8 with AVX2: sixteen channels of a pixel at a time.
 *
 * Taps are taken in pairs: the inputs of two taps, spread out to 16 bits, are interleaved channel
 * by channel, so that one multiply-add gives input x weight of both taps for eight channels. The
 * weights are interleaved the same way beforehand, for sixteen channels, in scratch. Interleaving
 * works within halves: one register has channels 0-3 and 8-11, the other 4-7 and 12-15, and
 * narrowing the results puts them in order again.
 *
 * A filter of 3x3 is paired so that neighbours share what was interleaved: each column's upper two
 * taps make a pair, and the bottom row is (0, 1) and (1, 2), where the middle one has weight 0 the
 * second time. With stride 1, two pixels are done together: eleven pairs instead of ten twice.
 *
 * The input's zero point is taken off the bias, and taps outside the image read zero points; rows
 * of the filter that lie outside have no weights. Fewer than sixteen channels at the end are done
 * by the sixteen that end there; where there are fewer in all, loads reach into the next pixel and
 * only the channels are stored. With eight channels and stride 1, two pixels side by side are done
 * like sixteen channels. With one input channel, its value is repeated instead of interleaved.
 */
#include "operators/depthwise_int8.h"
#include "operators/rescale_avx2.h"

#if BERTH_HAS_AVX2

#define LANES      16u
#define STRIP_MOST 65536u /* bytes of input that all blocks of channels pass over together */

/* What is derived from the model for sixteen channels, and may be kept. */
typedef struct ready {
  int32_t multipliers[LANES], shifts[LANES];
  int32_t bias[LANES];         /* as the model has it */
  uint64_t bound;              /* of a sum */
  __m256i low_bias, high_bias; /* corrected for all taps */
  __m256i packed[];            /* weights of all taps, if they are kept */
} ready_t;

/* Sixteen channels, ready. */
typedef struct block {
  const berth_depthwise_int8_t *depthwise;
  bool is_repeated; /* there is one input channel only */
  uint32_t first;   /* channel */
  uint32_t count;   /* channels: 16 unless there are fewer in all */
  uint32_t pixels;  /* that a register holds: 2 with eight channels and stride 1 */
  uint32_t inside_first, inside_last; /* pixels of a row with all taps inside, side to side */
  uint32_t from, to;                  /* filter rows that are packed */
  const __m256i *packed;              /* their weights: two registers for each pair of taps */
  __m256i *room;                      /* for them, in scratch */
  const ready_t *all;                 /* where all filter rows are packed already, or NULL */
  uint8_t *copies;                    /* scratch for inputs of 16 bytes each, one for each tap */
  const uint8_t *zeros;               /* zero points */
  const uint8_t *end;                 /* of the input's memory */
  const int32_t *bias;                /* of sixteen */
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

/* The factors and biases of the block of channels from `first`. False: a factor is out of range. */
BERTH_AVX2_INLINE bool read_factors(const block_t *b, uint32_t first, ready_t *to) {
  const berth_conv_t *conv = b->depthwise->conv;
  for (uint32_t i = 0; i < LANES; i++) {
    to->multipliers[i] = to->bias[i] = 0;
    to->shifts[i] = -1;
  }
  berth_rescale_avx2_factors(&b->depthwise->rescale, first, b->count, to->multipliers, to->shifts);
  if (!berth_rescale_avx2_can(to->shifts, b->count)) return false;
  for (uint32_t i = 0; i < b->count && conv->bias.present; i++) {
    to->bias[i] = berth_load_int32(conv->bias.data, first + i);
  }
  if (b->pixels == 2) {
    memcpy(to->multipliers + 8, to->multipliers, 8 * sizeof *to->multipliers);
    memcpy(to->shifts + 8, to->shifts, 8 * sizeof *to->shifts);
    memcpy(to->bias + 8, to->bias, 8 * sizeof *to->bias);
  }
  to->bound = berth_sum_bound_avx2(conv->filter_h * conv->filter_w, to->bias, LANES);
  return true;
}

/* Makes the block of channels from `first` ready, but for its weights. */
BERTH_AVX2_INLINE void open_block(block_t *b, uint32_t first, const ready_t *from) {
  const berth_depthwise_int8_t *d = b->depthwise;
  b->first = first;
  b->from = b->to = 0;
  b->bias = from->bias;
  b->low = berth_rescale_avx2_load(quarters(from->multipliers), quarters(from->shifts), from->bound,
                                   &d->rescale);
  b->high = berth_rescale_avx2_load(quarters(from->multipliers + 4), quarters(from->shifts + 4),
                                    from->bound, &d->rescale);
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

/* The taps of a 3x3 filter in the order in which they are paired; the fourth pair's second tap is
 * the fifth's first, where it does not count. */
static const uint8_t square[10][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2},
                                      {1, 2}, {2, 0}, {2, 1}, {2, 1}, {2, 2}};
#define SQUARE_SLOTS 10u
#define SQUARE_IDLE  8u

static bool is_square(const berth_conv_t *conv) {
  return conv->filter_h == 3 && conv->filter_w == 3 && conv->input_c > 1;
}

/* How many taps are packed, in pairs; the last may be alone. */
static uint32_t slot_count(const block_t *b) {
  const berth_conv_t *conv = b->depthwise->conv;
  return is_square(conv) ? SQUARE_SLOTS : (b->to - b->from) * conv->filter_w;
}

/* Weights in slot `slot`; none for a tap that isn't there. */
BERTH_AVX2_INLINE __m256i slot_weights(const block_t *b, uint32_t slot, uint32_t slots,
                                       bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  if (slot >= slots) return _mm256_setzero_si256();
  if (!is_square(conv)) return weights_of(b, b->from * conv->filter_w + slot, is_unsigned);
  uint32_t row = square[slot][0];
  if (slot == SQUARE_IDLE || row < b->from || row >= b->to) return _mm256_setzero_si256();
  return weights_of(b, row * 3 + square[slot][1], is_unsigned);
}

/* Packs the weights of filter rows [from, to), unless they are packed already. */
BERTH_AVX2_INLINE void pack(block_t *b, uint32_t from, uint32_t to, bool is_unsigned) {
  if (b->from == from && b->to == to) return;
  b->from = from;
  b->to = to;
  if (b->all != NULL && from == 0 && to == b->depthwise->conv->filter_h) {
    b->packed = b->all->packed;
    b->low_bias = b->all->low_bias;
    b->high_bias = b->all->high_bias;
    return;
  }
  b->packed = b->room;
  uint32_t slots = slot_count(b);
  __m256i ones = _mm256_set1_epi16(1), low_sum = _mm256_setzero_si256(), high_sum = low_sum;
  for (uint32_t t = 0; t < slots; t += 2) {
    __m256i even = slot_weights(b, t, slots, is_unsigned);
    __m256i odd = slot_weights(b, t + 1, slots, is_unsigned);
    __m256i low = _mm256_unpacklo_epi16(even, odd), high = _mm256_unpackhi_epi16(even, odd);
    _mm256_storeu_si256(b->room + t, low);
    _mm256_storeu_si256(b->room + t + 1, high);
    low_sum = _mm256_add_epi32(low_sum, _mm256_madd_epi16(low, ones));
    high_sum = _mm256_add_epi32(high_sum, _mm256_madd_epi16(high, ones));
  }
  __m256i zero = _mm256_set1_epi32(b->depthwise->input_zero);
  b->low_bias = _mm256_sub_epi32(quarters(b->bias), _mm256_mullo_epi32(zero, low_sum));
  b->high_bias = _mm256_sub_epi32(quarters(b->bias + 4), _mm256_mullo_epi32(zero, high_sum));
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

/* The factors of a block, apart from what stores may change in the eyes of the compiler. */
typedef struct factors {
  berth_rescale_avx2_t low, high;
  __m256i low_bias, high_bias;
} factors_t;

BERTH_AVX2_INLINE factors_t factors_of(const block_t *b) {
  return (factors_t){b->low, b->high, b->low_bias, b->high_bias};
}

/* Stores the `store` first channels of a pixel whose rescaled sums these are. */
BERTH_AVX2_INLINE void put(const factors_t *f, __m256i low, __m256i high, bool is_unsigned,
                           uint32_t store, uint8_t *out) {
  __m256i words = _mm256_adds_epi16(_mm256_packs_epi32(low, high), f->low.zero_point);
  __m128i bytes = berth_rescale_avx2_bytes(&f->low, words, is_unsigned);
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

/* Rescales the sums of a pixel and stores `store` bytes. */
BERTH_AVX2_INLINE void finish(const factors_t *f, __m256i low, __m256i high, bool is_unsigned,
                              uint32_t store, uint8_t *out) {
  low = berth_rescale_avx2_apply(&f->low, low);
  high = berth_rescale_avx2_apply(&f->high, high);
  put(f, low, high, is_unsigned, store, out);
}

/* `count` pixels (or pairs of them), `step` bytes apart: slot t of the first at taps[t]. Stores
 * `store` bytes of each. */
BERTH_AVX2_INLINE void run(const block_t *b, const uint8_t *const *taps, uint32_t slots,
                           size_t step, uint32_t count, bool is_unsigned, bool is_repeated,
                           uint32_t store, uint8_t *out, size_t out_step) {
  factors_t f = factors_of(b);
  size_t at = 0;
  for (uint32_t p = 0; p < count; p++, at += step, out += out_step) {
    __m256i low = f.low_bias, high = f.high_bias;
    for (uint32_t t = 0; t < slots; t += 2) {
      const uint8_t *odd = t + 1 < slots ? taps[t + 1] + at : b->zeros; /* times 0 */
      add_pair(b->packed + t, taps[t] + at, odd, is_unsigned, is_repeated, &low, &high);
    }
    finish(&f, low, high, is_unsigned, store, out);
  }
}

/* One of two interleaved taps' halves, and their products. */
BERTH_AVX2_INLINE __m256i add_product(__m256i sum, __m256i x, const __m256i *weights) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(x, _mm256_loadu_si256(weights)));
}

/* A run of a 3x3 filter: rows[i] is where row i of the first pixel's taps starts, `tap` bytes lie
 * between two taps of a row. */
BERTH_AVX2_INLINE void run_square(const block_t *b, const uint8_t *const rows[3], size_t tap,
                                  size_t step, uint32_t count, bool is_unsigned, uint32_t store,
                                  uint8_t *out, size_t out_step) {
  const uint8_t *top = rows[0], *middle = rows[1], *bottom = rows[2];
  const __m256i *w = b->packed;
  factors_t f = factors_of(b);
  uint32_t p = 0;
  for (; step == tap && p + 2 <= count; p += 2) { /* two that share columns */
    __m256i low0 = f.low_bias, high0 = f.high_bias, low1 = low0, high1 = high0;
    __m256i before = _mm256_setzero_si256();
    for (uint32_t column = 0; column < 4; column++) {
      __m256i x = widen(top + column * tap, is_unsigned);
      __m256i y = widen(middle + column * tap, is_unsigned);
      __m256i low = _mm256_unpacklo_epi16(x, y), high = _mm256_unpackhi_epi16(x, y);
      if (column < 3) {
        low0 = add_product(low0, low, w + 2 * column);
        high0 = add_product(high0, high, w + 2 * column + 1);
      }
      if (column > 0) {
        low1 = add_product(low1, low, w + 2 * column - 2);
        high1 = add_product(high1, high, w + 2 * column - 1);
      }
      __m256i z = widen(bottom + column * tap, is_unsigned);
      low = _mm256_unpacklo_epi16(before, z);
      high = _mm256_unpackhi_epi16(before, z);
      if (column == 1 || column == 2) {
        low0 = add_product(low0, low, w + 4 + 2 * column);
        high0 = add_product(high0, high, w + 5 + 2 * column);
      }
      if (column > 1) {
        low1 = add_product(low1, low, w + 2 + 2 * column);
        high1 = add_product(high1, high, w + 3 + 2 * column);
      }
      before = z;
    }
    low0 = berth_rescale_avx2_apply(&f.low, low0);
    low1 = berth_rescale_avx2_apply(&f.low, low1);
    high0 = berth_rescale_avx2_apply(&f.high, high0);
    high1 = berth_rescale_avx2_apply(&f.high, high1);
    put(&f, low0, high0, is_unsigned, store, out);
    put(&f, low1, high1, is_unsigned, store, out + out_step);
    top += 2 * step;
    middle += 2 * step;
    bottom += 2 * step;
    out += 2 * out_step;
  }
  for (; p < count; p++) {
    __m256i low = f.low_bias, high = f.high_bias;
    for (uint32_t column = 0; column < 3; column++) {
      add_pair(w + 2 * column, top + column * tap, middle + column * tap, is_unsigned, false, &low,
               &high);
    }
    add_pair(w + 6, bottom, bottom + tap, is_unsigned, false, &low, &high);
    add_pair(w + 8, bottom + tap, bottom + 2 * tap, is_unsigned, false, &low, &high);
    finish(&f, low, high, is_unsigned, store, out);
    top += step;
    middle += step;
    bottom += step;
    out += out_step;
  }
}

/* An output row on its way. */
typedef struct row {
  const uint8_t *inputs[BERTH_DEPTHWISE_TAPS]; /* rows for the packed filter rows */
  uint8_t *out;
} row_t;

/* Where the taps of output pixel x are, for the block's channels, by slot. Those outside the image
 * read zero points. */
static void point(const block_t *b, const row_t *row, uint32_t x, const uint8_t **taps) {
  const berth_conv_t *conv = b->depthwise->conv;
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  size_t step = (size_t)conv->dilation_w * conv->input_c;
  size_t start = (size_t)h.at * conv->input_c + (b->is_repeated ? 0 : b->first);
  if (is_square(conv)) {
    for (uint32_t t = 0; t < SQUARE_SLOTS; t++) {
      uint32_t j = square[t][1];
      bool is_inside = j >= h.first && j < h.last;
      taps[t] = is_inside ? row->inputs[square[t][0]] + start + (j - h.first) * step : b->zeros;
    }
    return;
  }
  for (uint32_t i = 0; i < b->to - b->from; i++) {
    const uint8_t *from = row->inputs[i] + start;
    for (uint32_t j = 0; j < conv->filter_w; j++) {
      bool is_inside = j >= h.first && j < h.last;
      *taps++ = is_inside ? from : b->zeros;
      if (is_inside) from += step;
    }
  }
}

/* The same for a 3x3 filter, without looking up each tap; sixteen bytes may be read at all of
 * them. */
BERTH_AVX2_INLINE void single_square(const block_t *b, const row_t *row, uint32_t first,
                                     uint32_t last, bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  size_t tap = (size_t)conv->dilation_w * conv->input_c;
  __m256i outside = _mm256_set1_epi16((int16_t)b->depthwise->input_zero);
  factors_t f = factors_of(b);
  for (uint32_t p = first; p < last; p++) {
    berth_taps_t h = berth_taps(p, conv->stride_w, conv->pad_w, conv->dilation_w, 3, conv->input_w);
    size_t at = (size_t)h.at * conv->input_c + b->first;
    __m256i low = f.low_bias, high = f.high_bias, before = _mm256_setzero_si256();
    for (uint32_t column = 0; column < 3; column++) {
      __m256i x = outside, y = outside, z = outside;
      if (column >= h.first && column < h.last) {
        x = widen(row->inputs[0] + at, is_unsigned);
        y = widen(row->inputs[1] + at, is_unsigned);
        z = widen(row->inputs[2] + at, is_unsigned);
        at += tap;
      }
      const __m256i *w = b->packed + 2 * column;
      low = add_product(low, _mm256_unpacklo_epi16(x, y), w);
      high = add_product(high, _mm256_unpackhi_epi16(x, y), w + 1);
      if (column > 0) {
        low = add_product(low, _mm256_unpacklo_epi16(before, z), w + 4);
        high = add_product(high, _mm256_unpackhi_epi16(before, z), w + 5);
      }
      before = z;
    }
    finish(&f, low, high, is_unsigned, b->count, row->out + (size_t)p * conv->output_c);
  }
}

/* Output pixels [first, last), each by itself: at the border, or where sixteen bytes may reach
 * beyond the input's memory, which are copied then. */
BERTH_AVX2_INLINE void single(const block_t *b, const row_t *row, uint32_t first, uint32_t last,
                              bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  uint32_t slots = slot_count(b);
  const uint8_t *taps[BERTH_DEPTHWISE_TAPS];
  for (uint32_t x = first; x < last; x++) {
    point(b, row, x, taps);
    if (conv->input_c < LANES && !b->is_repeated) {
      for (uint32_t t = 0; t < slots; t++) {
        if (taps[t] == b->zeros || (size_t)(b->end - taps[t]) >= LANES) continue;
        memcpy(b->copies + t * LANES, taps[t], (size_t)(b->end - taps[t]));
        taps[t] = b->copies + t * LANES;
      }
    }
    uint8_t *out = row->out + (size_t)x * conv->output_c;
    if (b->is_repeated) {
      run(b, taps, slots, 0, 1, is_unsigned, true, b->count, out, 0);
    } else {
      run(b, taps, slots, 0, 1, is_unsigned, false, b->count, out, 0);
    }
  }
}

/* Output pixels from `first` to below `last`, all inside the image; returns where it stopped,
 * which is before `last` if sixteen bytes would reach beyond the input's memory. */
BERTH_AVX2_INLINE uint32_t together(const block_t *b, const row_t *row, uint32_t first,
                                    uint32_t last, bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  uint32_t slots = slot_count(b), count = (last - first) / b->pixels;
  const uint8_t *taps[BERTH_DEPTHWISE_TAPS];
  point(b, row, first, taps);
  size_t step = (size_t)conv->stride_w * conv->input_c * b->pixels;
  if (conv->input_c < LANES && !b->is_repeated) {
    for (uint32_t t = 0; t < slots; t++) {
      while (count > 0 && (size_t)(b->end - taps[t]) < (count - 1) * step + LANES) count--;
    }
  }
  uint32_t store = b->count * b->pixels;
  uint8_t *out = row->out + (size_t)first * conv->output_c;
  size_t out_step = (size_t)conv->output_c * b->pixels;
  if (b->is_repeated) {
    run(b, taps, slots, step, count, is_unsigned, true, store, out, out_step);
  } else if (is_square(conv)) {
    const uint8_t *rows[3] = {taps[0], taps[1], taps[6]};
    size_t tap = (size_t)conv->dilation_w * conv->input_c;
    if (store == LANES) {
      run_square(b, rows, tap, step, count, is_unsigned, LANES, out, out_step);
    } else {
      run_square(b, rows, tap, step, count, is_unsigned, store, out, out_step);
    }
  } else {
    run(b, taps, slots, step, count, is_unsigned, false, store, out, out_step);
  }
  return first + count * b->pixels;
}

/* One output row of the block. */
BERTH_AVX2_INLINE void one_row(block_t *b, uint32_t index, bool is_unsigned) {
  const berth_conv_t *conv = b->depthwise->conv;
  uint32_t batch = conv->batches > 1 ? index / conv->output_h : 0;
  uint32_t y = index - batch * conv->output_h;
  row_t row;
  row.out = (uint8_t *)berth_row(&conv->output, index) + b->first;
  berth_taps_t v =
      berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
  pack(b, v.first, v.last, is_unsigned);
  uint32_t first_row = is_square(conv) ? 0 : v.first, last_row = is_square(conv) ? 3 : v.last;
  for (uint32_t i = first_row; i < last_row; i++) {
    /* Rows outside the image have no weights; any other row does. */
    uint32_t inside = i >= v.first && i < v.last ? i - v.first : 0;
    row.inputs[i - first_row] =
        berth_row(&conv->input, batch * conv->input_h + v.at + inside * conv->dilation_h);
  }
  bool is_roomy = is_square(conv); /* may sixteen bytes be read at every tap? */
  for (uint32_t i = 0; i < 3 && is_roomy && conv->input_c < LANES; i++) {
    is_roomy = (size_t)(b->end - row.inputs[i]) >= (size_t)conv->input.row_bytes + LANES;
  }
  uint32_t first = b->inside_first, last = b->inside_last;
  if (is_roomy) {
    single_square(b, &row, 0, first, is_unsigned);
    if (first < last) first = together(b, &row, first, last, is_unsigned);
    single_square(b, &row, first, conv->output_w, is_unsigned);
  } else {
    single(b, &row, 0, first, is_unsigned);
    if (first < last) first = together(b, &row, first, last, is_unsigned);
    single(b, &row, first, conv->output_w, is_unsigned);
  }
}

/* Registers that all taps take. */
static uint32_t packed_count(const berth_conv_t *conv) {
  uint32_t taps = conv->filter_h * conv->filter_w;
  return (taps + 1) / 2 * 2; /* a 3x3 filter has ten slots */
}

static bool takes(const berth_conv_t *conv) {
  return conv->filter_h * conv->filter_w <= BERTH_DEPTHWISE_TAPS &&
         (conv->output_c == conv->input_c || conv->input_c == 1);
}

static size_t ready_bytes(const berth_conv_t *conv) {
  return sizeof(ready_t) + packed_count(conv) * sizeof(__m256i);
}

uint32_t berth_depthwise_kept_bytes(const berth_conv_t *conv) {
  if (!takes(conv)) return 0;
  uint64_t blocks = ((uint64_t)conv->output_c + LANES - 1) / LANES;
  uint64_t bytes = sizeof(berth_depthwise_kept_t) + blocks * ready_bytes(conv);
  return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

/* Reads the factors of a block and packs all of its filter, to be kept. */
BERTH_AVX2_INLINE bool make_ready(block_t *b, uint32_t first, ready_t *to) {
  if (!read_factors(b, first, to)) return false;
  __m256i *room = b->room;
  b->all = NULL;
  open_block(b, first, to);
  b->room = to->packed;
  if (b->depthwise->is_unsigned) {
    pack(b, 0, b->depthwise->conv->filter_h, true);
  } else {
    pack(b, 0, b->depthwise->conv->filter_h, false);
  }
  to->low_bias = b->low_bias;
  to->high_bias = b->high_bias;
  b->room = room;
  return true;
}

/* Rows [first_row, last_row) of all blocks. */
BERTH_AVX2_INLINE bool run_blocks(block_t *b, uint8_t *kept, uint32_t first_row,
                                  uint32_t last_row) {
  const berth_conv_t *conv = b->depthwise->conv;
  size_t step = ready_bytes(conv);
  ready_t own;
  for (uint32_t channel = 0; channel < conv->output_c; channel += LANES) {
    uint32_t rest = conv->output_c - channel;
    uint32_t first = rest < b->count ? conv->output_c - b->count : channel;
    if (kept != NULL) {
      b->all = (const ready_t *)(void *)(kept + channel / LANES * step);
      open_block(b, first, b->all);
    } else {
      if (!read_factors(b, first, &own)) return false;
      open_block(b, first, &own);
    }
    for (uint32_t r = first_row; r < last_row; r++) {
      if (b->depthwise->is_unsigned) {
        one_row(b, r, true);
      } else {
        one_row(b, r, false);
      }
    }
  }
  return true;
}

/* Fills what is kept; false: a factor is out of range. */
BERTH_AVX2_INLINE bool fill(block_t *b, uint8_t *kept) {
  const berth_conv_t *conv = b->depthwise->conv;
  for (uint32_t channel = 0; channel < conv->output_c; channel += LANES) {
    uint32_t rest = conv->output_c - channel;
    uint32_t first = rest < b->count ? conv->output_c - b->count : channel;
    if (!make_ready(b, first, (ready_t *)(void *)kept)) return false;
    kept += ready_bytes(conv);
  }
  return true;
}

BERTH_AVX2 bool berth_depthwise_int8_avx2(const berth_depthwise_int8_t *d, void *scratch,
                                          berth_depthwise_kept_t *kept, bool was_kept,
                                          uint32_t first_row, uint32_t last_row) {
  const berth_conv_t *conv = d->conv;
  if (!takes(conv) || (was_kept && !kept->is_ready)) return false;
  uintptr_t aligned = ((uintptr_t)scratch + 31) / 32 * 32;
  block_t b = {.depthwise = d,
               .is_repeated = conv->input_c == 1,
               .count = conv->output_c < LANES ? conv->output_c : LANES,
               .pixels = conv->input_c == 8 && conv->stride_w == 1 ? 2 : 1,
               .room = (__m256i *)aligned,
               .end = conv->input.data + (size_t)conv->input.ring * conv->input.row_bytes};
  berth_conv_inside(conv, &b.inside_first, &b.inside_last);
  if (b.inside_first == b.inside_last) b.inside_first = b.inside_last = 0;
  uint8_t *zeros = (uint8_t *)(b.room + packed_count(conv));
  memset(zeros, (uint8_t)d->input_zero, LANES);
  b.zeros = zeros;
  b.copies = zeros + LANES;
  uint8_t *blocks = kept != NULL ? (uint8_t *)(kept + 1) : NULL;
  if (kept != NULL && !was_kept) {
    kept->is_ready = fill(&b, blocks);
    if (!kept->is_ready) return false;
  }

  uint64_t bytes = (uint64_t)conv->input.row_bytes * conv->stride_h;
  uint32_t strip = bytes < STRIP_MOST ? STRIP_MOST / (uint32_t)bytes : 1;
  for (uint32_t row = first_row; row < last_row; row += strip) {
    uint32_t end = last_row - row < strip ? last_row : row + strip;
    if (!run_blocks(&b, blocks, row, end)) return false;
  }
  return true;
}

#endif
