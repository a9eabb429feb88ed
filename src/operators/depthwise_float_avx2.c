/* DEPTHWISE_CONV_2D of float images with AVX2: eight channels side by side in a register.
 *
 * An output row is cut into strips whose input stays in the first-level cache while the channels
 * pass by, eight at a time. For each eight, the weights are converted once for the strip; with 3x3
 * filters inside the image they stay in registers, otherwise they are shared by four pixels.
 */
#include "operators/depthwise_float.h"
#include "operators/float_avx2.h"

#if BERTH_HAS_AVX2

#define TAPS_MAX    64u /* larger filters are left to the portable code */
#define PIXELS      4   /* that share the loading of a weight */
#define STRIP_BYTES 16384u
#define STRIP_MIN   12u /* pixels */

bool berth_depthwise_float_avx2_takes(const berth_conv_t *conv) {
  return conv->output_c == conv->input_c && conv->filter_h * conv->filter_w <= TAPS_MAX;
}

/* Eight channels (or the last few) of one output row. */
typedef struct block {
  const float *rows[TAPS_MAX]; /* of the image, for each filter row in [first, last) */
  uint32_t first, last;        /* filter rows inside the image */
  float weights[TAPS_MAX * 8]; /* all taps */
  __m256 bias;
  uint32_t count; /* channels that exist */
  __m256i mask;   /* of them */
  float *out;     /* the output row, from the first channel on */
} block_t;

BERTH_AVX2_INLINE __m256 load(const float *from, __m256i mask, bool some) {
  return some ? _mm256_maskload_ps(from, mask) : _mm256_loadu_ps(from);
}

BERTH_AVX2_INLINE void store(const berth_depthwise_float_t *d, const block_t *block, uint32_t x,
                             __m256 sum, bool some) {
  float *to = block->out + (size_t)x * d->conv->output_c;
  sum = berth_clamp8_avx2(sum, d->min, d->max);
  if (some) {
    berth_store8_avx2(to, sum, block->count);
  } else {
    _mm256_storeu_ps(to, sum);
  }
}

/* `pixels` output pixels from x on, with filter columns [left, right), of which the first is at
 * column `at` of the image for the first pixel. */
BERTH_AVX2_INLINE void run(const berth_depthwise_float_t *d, const block_t *block, uint32_t x,
                           int pixels, uint32_t left, uint32_t right, size_t at, bool some) {
  const berth_conv_t *conv = d->conv;
  size_t tap = (size_t)conv->dilation_w * conv->input_c;
  size_t pixel = (size_t)conv->stride_w * conv->input_c;
  __m256 sums[PIXELS];
  BERTH_UNROLL for (int p = 0; p < pixels; p++) sums[p] = block->bias;
  for (uint32_t i = block->first; i < block->last; i++) {
    const float *in = block->rows[i] + at * conv->input_c;
    const float *weights = &block->weights[(i * conv->filter_w + left) * 8];
    for (uint32_t j = left; j < right; j++, in += tap, weights += 8) {
      __m256 w = _mm256_loadu_ps(weights);
      BERTH_UNROLL for (int p = 0; p < pixels; p++) {
        sums[p] = _mm256_fmadd_ps(load(in + (size_t)p * pixel, block->mask, some), w, sums[p]);
      }
    }
  }
  BERTH_UNROLL for (int p = 0; p < pixels; p++) store(d, block, x + (uint32_t)p, sums[p], some);
}

/* `count` output pixels from x on, with `rows` x `columns` taps of a 3x3 filter from column `left`
 * on, whose weights stay in registers. */
BERTH_AVX2_INLINE void run_small(const berth_depthwise_float_t *d, const block_t *block, uint32_t x,
                                 uint32_t count, int rows, int columns, uint32_t left, size_t at,
                                 bool some) {
  const berth_conv_t *conv = d->conv;
  size_t tap = (size_t)conv->dilation_w * conv->input_c;
  size_t pixel = (size_t)conv->stride_w * conv->input_c;
  const float *in[3];
  __m256 w[9];
  BERTH_UNROLL for (int i = 0; i < rows; i++) {
    uint32_t row = block->first + (uint32_t)i;
    in[i] = block->rows[row] + at * conv->input_c;
    BERTH_UNROLL for (int j = 0; j < columns; j++) {
      w[i * columns + j] = _mm256_loadu_ps(&block->weights[(row * 3 + left + (uint32_t)j) * 8]);
    }
  }
  for (uint32_t p = 0; p < count; p++) {
    __m256 sum = block->bias;
    BERTH_UNROLL for (int i = 0; i < rows; i++) {
      BERTH_UNROLL for (int j = 0; j < columns; j++) {
        sum = _mm256_fmadd_ps(load(in[i] + (size_t)j * tap, block->mask, some), w[i * columns + j],
                              sum);
      }
      in[i] += pixel;
    }
    store(d, block, x + p, sum, some);
  }
}

/* A strip of an output row, by one block of channels; a 3x3 filter of which `rows` are inside, or
 * any (0). */
BERTH_AVX2_INLINE void strip(const berth_depthwise_float_t *d, const block_t *block, uint32_t x,
                             uint32_t end, int rows, bool some) {
  const berth_conv_t *conv = d->conv;
  while (x < end) {
    berth_taps_t h =
        berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
    if (h.first > 0 || h.last < conv->filter_w) {
      if (rows > 0 && h.last - h.first == 2) {
        run_small(d, block, x++, 1, rows, 2, h.first, h.at, some);
      } else {
        run(d, block, x++, 1, h.first, h.last, h.at, some);
      }
      continue;
    }
    /* Pixels until the filter's last column leaves the image. */
    uint32_t span = (conv->filter_w - 1) * conv->dilation_w + 1;
    uint32_t inner = (conv->input_w - span - h.at) / conv->stride_w + 1;
    if (inner > end - x) inner = end - x;
    if (rows > 0) {
      run_small(d, block, x, inner, rows, 3, 0, h.at, some);
    } else {
      uint32_t p = 0;
      for (; p + PIXELS <= inner; p += PIXELS) {
        run(d, block, x + p, PIXELS, 0, conv->filter_w, h.at + (size_t)p * conv->stride_w, some);
      }
      for (; p < inner; p++) {
        run(d, block, x + p, 1, 0, conv->filter_w, h.at + (size_t)p * conv->stride_w, some);
      }
    }
    x += inner;
  }
}

BERTH_AVX2 static void any_strip(const berth_depthwise_float_t *d, const block_t *block, uint32_t x,
                                 uint32_t end, bool some) {
  bool is_3x3 = d->conv->filter_h == 3 && d->conv->filter_w == 3;
  uint32_t rows = block->last - block->first;
  if (some) {
    strip(d, block, x, end, 0, true);
  } else if (is_3x3 && rows == 3) {
    strip(d, block, x, end, 3, false);
  } else if (is_3x3 && rows == 2) {
    strip(d, block, x, end, 2, false);
  } else {
    strip(d, block, x, end, 0, false);
  }
}

BERTH_AVX2_INLINE void load_weights(const berth_depthwise_float_t *d, block_t *block,
                                    uint32_t first, uint32_t count, bool half) {
  const berth_conv_t *conv = d->conv;
  uint32_t from = block->first * conv->filter_w, to = block->last * conv->filter_w;
  for (uint32_t i = from; i < to; i++) {
    const uint8_t *at = berth_weight_at(&d->filter, (size_t)i * conv->output_c + first);
    _mm256_storeu_ps(&block->weights[i * 8], berth_weights_up_to_avx2(at, half, count));
  }
  block->bias = _mm256_setzero_ps();
  if (d->bias.data != NULL) { /* + 0: a sum is never -0, so that padding could be added, too */
    const uint8_t *at = berth_weight_at(&d->bias, first);
    block->bias = _mm256_add_ps(block->bias, berth_weights_up_to_avx2(at, d->bias.half, count));
  }
}

BERTH_AVX2_INLINE void row_strip(const berth_depthwise_float_t *d, uint32_t row, uint32_t x,
                                 uint32_t end) {
  const berth_conv_t *conv = d->conv;
  uint32_t batch = row / conv->output_h;
  berth_taps_t v = berth_taps(row % conv->output_h, conv->stride_h, conv->pad_h, conv->dilation_h,
                              conv->filter_h, conv->input_h);
  block_t block;
  block.first = v.first;
  block.last = v.last;
  for (uint32_t i = v.first; i < v.last; i++) {
    uint32_t y = v.at + (i - v.first) * conv->dilation_h;
    block.rows[i] = berth_row(&conv->input, batch * conv->input_h + y);
  }
  block.out = berth_row(&conv->output, row);
  for (uint32_t c = 0; c < conv->output_c; c += 8) {
    uint32_t count = conv->output_c - c < 8 ? conv->output_c - c : 8;
    if (d->filter.half) {
      load_weights(d, &block, c, count, true);
    } else {
      load_weights(d, &block, c, count, false);
    }
    block.count = count;
    block.mask = berth_mask_avx2(count);
    any_strip(d, &block, x, end, count < 8);
    for (uint32_t i = v.first; i < v.last; i++) block.rows[i] += 8;
    block.out += 8;
  }
}

BERTH_AVX2 void berth_depthwise_float_avx2(const berth_depthwise_float_t *d, uint32_t first_row,
                                           uint32_t last_row) {
  const berth_conv_t *conv = d->conv;
  uint64_t pixel =
      (uint64_t)conv->filter_h * conv->stride_w * conv->input_c * (uint32_t)sizeof(float);
  uint32_t most = pixel < STRIP_BYTES / STRIP_MIN ? (uint32_t)(STRIP_BYTES / pixel) : STRIP_MIN;
  for (uint32_t row = first_row; row < last_row; row++) {
    for (uint32_t x = 0; x < conv->output_w; x += most) {
      uint32_t end = conv->output_w - x < most ? conv->output_w : x + most;
      row_strip(d, row, x, end);
    }
  }
}

#else
bool berth_depthwise_float_avx2_takes(const berth_conv_t *conv) {
  (void)conv;
  return false;
}
#endif
