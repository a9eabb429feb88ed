/* CONV_2D of float images with AVX2, in one of two ways, by the shape of the convolution alone:
 *
 * Deep filters: sums along the depth, eight elements at a time, three pixels by four channels; see
 * float_avx2.h. The weights are used where they lie. Adding up the registers at the end costs what
 * fifteen steps cost, too much where the depth is small.
 *
 * Shallow filters (at most 64 taps x channels), images of some size: sixteen (or eight) channels'
 * weights are transposed into a panel, such that the channels lie side by side in a register, and
 * each pixel's inputs are broadcast. Sums start at the bias and go along the depth one by one. As
 * many panels are packed as the scratch holds, so that the image is read once for all of them; a
 * panel of eight always fits on the stack.
 *
 * Padding counts as zeros, which leaves a sum as it is to the bit: no sum here is ever -0.
 */
#include "operators/conv_float.h"
#include "operators/float_avx2.h"
#include "operators/matmul_float.h"

#define PANEL_DEPTH    BERTH_CONV_FLOAT_PANEL_DEPTH
#define PANEL_PIXELS   24u /* images with fewer, and filters with as few channels, are not worth */
#define PANEL_CHANNELS 4u  /*   packing weights */
#define WISH_MAX       65536u

static uint32_t depth_of(const berth_conv_t *conv) {
  return conv->filter_h * conv->filter_w * conv->filter_c;
}

static bool uses_panels(const berth_conv_t *conv) {
  return depth_of(conv) <= PANEL_DEPTH && conv->pixels >= PANEL_PIXELS;
}

uint32_t berth_conv_float_avx2_wish(const berth_conv_t *conv) {
  if (!uses_panels(conv)) return 0;
  uint64_t channels = (conv->output_c / conv->groups + 7u) & ~7u;
  uint64_t bytes = channels * depth_of(conv) * sizeof(float);
  return bytes > WISH_MAX ? WISH_MAX : (uint32_t)bytes;
}

#if BERTH_HAS_AVX2

/* Output pixels of a convolution with 1x1 filters that read one input pixel after the other. */
static bool is_matrix(const berth_call_t *call, const berth_conv_t *conv) {
  return conv->filter_h == 1 && conv->filter_w == 1 && conv->pad_h == 0 && conv->pad_w == 0 &&
         conv->stride_h == 1 && conv->stride_w == 1 && berth_conv_rows_adjoin(call, conv);
}

/* The row of the image that row `i` of the filter reads, and what is common to an output row. */
typedef struct line {
  const berth_conv_t *conv;
  uint32_t batch, group;
  berth_taps_t v; /* rows of the filter inside the image */
  float *out;     /* the output row, from the group's first channel on */
} line_t;

static line_t line_at(const berth_conv_t *conv, uint32_t row, uint32_t group) {
  line_t line = {.conv = conv, .batch = row / conv->output_h, .group = group};
  line.v = berth_taps(row % conv->output_h, conv->stride_h, conv->pad_h, conv->dilation_h,
                      conv->filter_h, conv->input_h);
  line.out = (float *)berth_row(&conv->output, row) + group * (conv->output_c / conv->groups);
  return line;
}

static const float *line_row(const line_t *line, uint32_t i) {
  const berth_conv_t *conv = line->conv;
  uint32_t y = line->v.at + (i - line->v.first) * conv->dilation_h;
  return (const float *)berth_row(&conv->input, line->batch * conv->input_h + y) +
         line->group * conv->filter_c;
}

/* The output columns [*first, *last) whose filters touch no padding at the sides. */
static void inner_columns(const berth_conv_t *conv, uint32_t *first, uint32_t *last) {
  uint32_t span = (conv->filter_w - 1) * conv->dilation_w + 1;
  *first = (conv->pad_w + conv->stride_w - 1) / conv->stride_w;
  uint64_t room = (uint64_t)conv->input_w + conv->pad_w;
  *last = room >= span ? (uint32_t)((room - span) / conv->stride_w) + 1 : 0;
  if (*last > conv->output_w) *last = conv->output_w;
  if (*first > *last) *first = *last;
}

/* Does nothing lie between the inputs of neighbouring taps? */
static bool taps_touch(const berth_conv_t *conv) {
  return conv->groups == 1 && (conv->dilation_w == 1 || conv->filter_w == 1);
}

/* ---- Deep filters --------------------------------------------------------------------------- */

#define ROWS        3 /* pixels */
#define CHANNELS    4
#define BLOCK_BYTES 16384u /* of input rows, about */

/* Some channels: where their weights start, and how many of them exist. */
typedef struct channels {
  const uint8_t *weights[2 * CHANNELS];
  __m128 bias[2];
  uint32_t first, count;
} channels_t;

BERTH_AVX2_INLINE channels_t channels_at(const berth_conv_float_t *f, uint32_t group,
                                         uint32_t first, uint32_t most) {
  const berth_conv_t *conv = f->conv;
  uint32_t all = conv->output_c / conv->groups, count = all - first < most ? all - first : most;
  channels_t channels = {.first = first, .count = count};
  size_t channel = (size_t)group * all + first;
  for (uint32_t i = 0; i < most; i++) {
    channels.weights[i] =
        berth_weight_at(&f->filter, (channel + (i < count ? i : 0)) * depth_of(conv));
  }
  for (uint32_t i = 0; i * CHANNELS < count; i++) {
    channels.bias[i] = berth_bias4_avx2(&f->bias, channel + i * CHANNELS, count - i * CHANNELS);
  }
  return channels;
}

/* `count` pixels (1..pixels) from x on, all of which have the filter columns [left, right) in the
 * image, by `quads` x 4 channels. `touch`: see taps_touch. */
BERTH_AVX2_INLINE void deep_tile(const berth_conv_float_t *f, const line_t *line,
                                 const channels_t *channels, bool half, bool touch, int pixels,
                                 int quads, uint32_t x, uint32_t count, uint32_t left,
                                 uint32_t right) {
  const berth_conv_t *conv = f->conv;
  __m256 sums[ROWS * CHANNELS];
  int columns = quads * CHANNELS;
  BERTH_UNROLL for (int i = 0; i < pixels * columns; i++) sums[i] = _mm256_setzero_ps();
  size_t pixel = (size_t)conv->stride_w * conv->input_c;
  size_t tap = (size_t)conv->dilation_w * conv->input_c;
  size_t start =
      ((size_t)x * conv->stride_w + (size_t)left * conv->dilation_w - conv->pad_w) * conv->input_c;
  uint32_t together = touch ? right - left : 1;
  for (uint32_t i = line->v.first; i < line->v.last; i++) {
    const float *row = line_row(line, i) + start;
    for (uint32_t j = left; j < right; j += together, row += tap) {
      const float *from[ROWS];
      const uint8_t *weights[2 * CHANNELS];
      BERTH_UNROLL for (int p = 0; p < pixels; p++) {
        from[p] = row + ((uint32_t)p < count ? (size_t)p : 0) * pixel;
      }
      size_t offset = ((size_t)i * conv->filter_w + j) * conv->filter_c << (half ? 1 : 2);
      BERTH_UNROLL for (int c = 0; c < columns; c++) weights[c] = channels->weights[c] + offset;
      berth_span_avx2(sums, pixels, columns, from, weights, half, together * conv->filter_c);
    }
  }
  float *out = line->out + (size_t)x * conv->output_c + channels->first;
  BERTH_UNROLL for (int p = 0; p < pixels; p++) {
    if ((uint32_t)p >= count) continue;
    BERTH_UNROLL for (int q = 0; q < quads; q++) {
      uint32_t at = (uint32_t)q * CHANNELS;
      if (at >= channels->count) continue;
      __m128 total = berth_add_up_avx2(&sums[p * columns + q * CHANNELS]);
      total = berth_clamp4_avx2(_mm_add_ps(total, channels->bias[q]), f->min, f->max);
      berth_store4_avx2(out + (size_t)p * conv->output_c + at, total, channels->count - at);
    }
  }
}

/* Three pixels at a time, of those that touch no padding. */
BERTH_AVX2_INLINE void deep_inner(const berth_conv_float_t *f, const line_t *line,
                                  const channels_t *channels, bool half, bool touch, uint32_t first,
                                  uint32_t last) {
  for (uint32_t x = first; x < last; x += ROWS) {
    uint32_t count = last - x < ROWS ? last - x : ROWS;
    deep_tile(f, line, channels, half, touch, ROWS, 1, x, count, 0, f->conv->filter_w);
  }
}

/* One pixel at a time. */
BERTH_AVX2_INLINE void deep_single(const berth_conv_float_t *f, const line_t *line,
                                   const channels_t *channels, bool half, bool touch,
                                   uint32_t first, uint32_t last) {
  const berth_conv_t *conv = f->conv;
  for (uint32_t x = first; x < last; x++) {
    berth_taps_t h =
        berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
    deep_tile(f, line, channels, half, touch, 1, 2, x, 1, h.first, h.last);
  }
}

/* Rows [start, end) by all channels. */
BERTH_AVX2_INLINE void deep_block(const berth_conv_float_t *f, bool half, bool touch,
                                  uint32_t start, uint32_t end) {
  const berth_conv_t *conv = f->conv;
  uint32_t all = conv->output_c / conv->groups, first, last;
  inner_columns(conv, &first, &last);
  if ((last - first) % ROWS == 1) last--; /* a tile of one pixel is not worth it */
  for (uint32_t group = 0; group < conv->groups; group++) {
    for (uint32_t c = 0; c < all && first < last; c += CHANNELS) {
      channels_t channels = channels_at(f, group, c, CHANNELS);
      for (uint32_t row = start; row < end; row++) {
        line_t line = line_at(conv, row, group);
        deep_inner(f, &line, &channels, half, touch, first, last);
      }
    }
    if (first == 0 && last == conv->output_w) continue;
    for (uint32_t c = 0; c < all; c += 2 * CHANNELS) {
      channels_t channels = channels_at(f, group, c, 2 * CHANNELS);
      for (uint32_t row = start; row < end; row++) {
        line_t line = line_at(conv, row, group);
        deep_single(f, &line, &channels, half, touch, 0, first);
        deep_single(f, &line, &channels, half, touch, last, conv->output_w);
      }
    }
  }
}

/* Rows in blocks whose inputs stay in the cache while the channels pass by. */
BERTH_AVX2 static void deep(const berth_conv_float_t *f, uint32_t first_row, uint32_t last_row) {
  const berth_conv_t *conv = f->conv;
  bool touch = taps_touch(conv) && berth_conv_float_taps_join(conv);
  uint64_t row_bytes = (uint64_t)conv->input_w * conv->input_c * conv->stride_h * sizeof(float);
  uint32_t most = row_bytes < BLOCK_BYTES ? (uint32_t)(BLOCK_BYTES / row_bytes) : 1;
  for (uint32_t start = first_row; start < last_row; start += most) {
    uint32_t end = last_row - start < most ? last_row : start + most;
    if (f->filter.half && touch) {
      deep_block(f, true, true, start, end);
    } else if (f->filter.half) {
      deep_block(f, true, false, start, end);
    } else if (touch) {
      deep_block(f, false, true, start, end);
    } else {
      deep_block(f, false, false, start, end);
    }
  }
}

static void deep_matrix(const berth_conv_float_t *f, uint32_t first_row, uint32_t last_row) {
  const berth_conv_t *conv = f->conv;
  uint32_t channels = conv->output_c / conv->groups;
  const float *in = berth_row(&conv->input, first_row);
  float *out = berth_row(&conv->output, first_row);
  for (uint32_t group = 0; group < conv->groups; group++) {
    berth_matmul_float_t m = {.filter = f->filter,
                              .bias = f->bias,
                              .depth = conv->filter_c,
                              .first = group * channels,
                              .count = channels,
                              .min = f->min,
                              .max = f->max};
    berth_matmul_float_avx2(&m, in + group * conv->filter_c, conv->input_c, out + group * channels,
                            conv->output_c, (last_row - first_row) * conv->output_w);
  }
}

/* ---- Shallow filters ------------------------------------------------------------------------ */

#define WIDE        16u /* channels of a panel */
#define NARROW      8u
#define PIXELS_WIDE 6 /* pixels of a tile, by the panel's width */
#define PIXELS      8

/* Transposes eight rows of eight. */
BERTH_AVX2_INLINE void transpose8(__m256 r[8]) {
  __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
  __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
  __m256 e = _mm256_unpacklo_ps(r[4], r[5]), g = _mm256_unpackhi_ps(r[4], r[5]);
  __m256 h = _mm256_unpacklo_ps(r[6], r[7]), i = _mm256_unpackhi_ps(r[6], r[7]);
  __m256 ac = _mm256_shuffle_ps(a, c, 0x44), ca = _mm256_shuffle_ps(a, c, 0xee);
  __m256 bd = _mm256_shuffle_ps(b, d, 0x44), db = _mm256_shuffle_ps(b, d, 0xee);
  __m256 eh = _mm256_shuffle_ps(e, h, 0x44), he = _mm256_shuffle_ps(e, h, 0xee);
  __m256 gi = _mm256_shuffle_ps(g, i, 0x44), ig = _mm256_shuffle_ps(g, i, 0xee);
  r[0] = _mm256_permute2f128_ps(ac, eh, 0x20);
  r[1] = _mm256_permute2f128_ps(ca, he, 0x20);
  r[2] = _mm256_permute2f128_ps(bd, gi, 0x20);
  r[3] = _mm256_permute2f128_ps(db, ig, 0x20);
  r[4] = _mm256_permute2f128_ps(ac, eh, 0x31);
  r[5] = _mm256_permute2f128_ps(ca, he, 0x31);
  r[6] = _mm256_permute2f128_ps(bd, gi, 0x31);
  r[7] = _mm256_permute2f128_ps(db, ig, 0x31);
}

/* Writes the weights of eight channels from `channel` on (of which `count` > 0 exist) side by side,
 * one element of depth every `width` floats. */
BERTH_AVX2_INLINE void pack8(const berth_weights_t *filter, size_t channel, uint32_t count,
                             uint32_t depth, float *to, uint32_t width) {
  for (uint32_t k = 0; k < depth; k += NARROW) {
    uint32_t some = depth - k < NARROW ? depth - k : NARROW;
    __m256 rows[NARROW];
    BERTH_UNROLL for (uint32_t i = 0; i < NARROW; i++) {
      const uint8_t *at = berth_weight_at(filter, (channel + (i < count ? i : 0)) * depth + k);
      rows[i] = berth_weights_up_to_avx2(at, filter->half, some);
    }
    transpose8(rows);
    BERTH_UNROLL for (uint32_t i = 0; i < NARROW; i++) {
      if (i < some) _mm256_storeu_ps(to + (size_t)(k + i) * width, rows[i]);
    }
  }
}

/* Weights of up to sixteen channels, packed. */
typedef struct panel {
  const float *packed;
  __m256 bias[2];
  uint32_t first;    /* channel of the group */
  uint32_t channels; /* that exist */
  bool wide;
} panel_t;

/* The inputs and outputs of a tile. */
typedef struct patch {
  const float *rows[PANEL_DEPTH]; /* of the image, by filter row; where the first pixel begins */
  size_t in_step;                 /* from a pixel to the next */
  float *out[PIXELS];             /* where each pixel's output goes, to the panel's first channel */
  uint32_t count;                 /* pixels that exist; the others repeat the first */
  uint32_t first, last;           /* filter rows inside the image */
  uint32_t span;                  /* elements of one filter row */
} patch_t;

/* All pixels of a patch by `vectors` x 8 channels. `row`: the outputs are next to each other, and
 * only the first has its place in the patch. */
BERTH_AVX2_INLINE void panel_tile(const berth_conv_float_t *f, const panel_t *panel,
                                  const patch_t *patch, int pixels, int vectors, bool row) {
  size_t in_step = patch->in_step;
  uint32_t count = patch->count, span = patch->span;
  __m256 sums[PIXELS_WIDE * 2];
  BERTH_UNROLL for (int p = 0; p < pixels; p++) {
    BERTH_UNROLL for (int v = 0; v < vectors; v++) sums[p * vectors + v] = panel->bias[v];
  }
  uint32_t width = (uint32_t)vectors * NARROW;
  const float *weights = panel->packed + (size_t)patch->first * patch->span * width;
  for (uint32_t i = patch->first; i < patch->last; i++) {
    const float *in[PIXELS];
    BERTH_UNROLL for (int p = 0; p < pixels; p++) {
      in[p] = patch->rows[i] + ((uint32_t)p < count ? (size_t)p * in_step : 0);
    }
    for (uint32_t k = 0; k < span; k++) {
      __m256 w[2];
      BERTH_UNROLL for (int v = 0; v < vectors; v++) w[v] = _mm256_loadu_ps(weights + v * 8);
      weights += width;
      BERTH_UNROLL for (int p = 0; p < pixels; p++) {
        __m256 x = _mm256_broadcast_ss(in[p] + k);
        BERTH_UNROLL for (int v = 0; v < vectors; v++) {
          sums[p * vectors + v] = _mm256_fmadd_ps(x, w[v], sums[p * vectors + v]);
        }
      }
    }
  }
  if (row && panel->channels == width) { /* the commonest case */
    float *out = patch->out[0];
    BERTH_UNROLL for (int p = 0; p < pixels; p++, out += f->conv->output_c) {
      if ((uint32_t)p >= count) continue;
      BERTH_UNROLL for (int v = 0; v < vectors; v++) {
        _mm256_storeu_ps(out + v * 8, berth_clamp8_avx2(sums[p * vectors + v], f->min, f->max));
      }
    }
    return;
  }
  BERTH_UNROLL for (int p = 0; p < pixels; p++) {
    if ((uint32_t)p >= count) continue;
    float *out = row ? patch->out[0] + (size_t)p * f->conv->output_c : patch->out[p];
    BERTH_UNROLL for (int v = 0; v < vectors; v++) {
      uint32_t at = (uint32_t)v * NARROW;
      if (at >= panel->channels) continue;
      berth_store8_avx2(out + at, berth_clamp8_avx2(sums[p * vectors + v], f->min, f->max),
                        panel->channels - at);
    }
  }
}

BERTH_AVX2_INLINE void tile(const berth_conv_float_t *f, const panel_t *panel, const patch_t *patch,
                            bool row) {
  if (panel->wide) {
    panel_tile(f, panel, patch, PIXELS_WIDE, 2, row);
  } else {
    panel_tile(f, panel, patch, PIXELS, 1, row);
  }
}

/* Collects the inputs of output pixel x, with zeros for the padding. */
static void gather(const line_t *line, uint32_t x, float *to) {
  const berth_conv_t *conv = line->conv;
  size_t tap = conv->filter_c, span = conv->filter_w * tap;
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  uint32_t together = taps_touch(conv) ? h.last - h.first : 1;
  memset(to, 0, conv->filter_h * span * sizeof *to);
  for (uint32_t i = line->v.first; i < line->v.last; i++) {
    const float *from = line_row(line, i) + (size_t)h.at * conv->input_c;
    for (uint32_t j = h.first; j < h.last; j += together) {
      float *into = to + i * span + j * tap;
      for (size_t k = 0; k < together * tap; k++) into[k] = from[k];
      from += (size_t)conv->dilation_w * conv->input_c;
    }
  }
}

/* An output row: pixels that touch no padding straight from the image, the rest gathered. */
BERTH_AVX2 static void panel_line(const berth_conv_float_t *f, const line_t *line,
                                  const panel_t *panel) {
  const berth_conv_t *conv = f->conv;
  uint32_t most = panel->wide ? PIXELS_WIDE : PIXELS, depth = depth_of(conv);
  float gathered[PIXELS * PANEL_DEPTH];
  float *out = line->out + panel->first;
  uint32_t first = 0, last = 0;
  if (taps_touch(conv)) inner_columns(conv, &first, &last);
  patch_t patch = {.first = line->v.first,
                   .last = line->v.last,
                   .span = conv->filter_w * conv->filter_c,
                   .in_step = (size_t)conv->stride_w * conv->input_c};
  for (uint32_t x = first; x < last; x += most) {
    size_t at = (size_t)(x * conv->stride_w - conv->pad_w) * conv->input_c;
    for (uint32_t i = patch.first; i < patch.last; i++) patch.rows[i] = line_row(line, i) + at;
    patch.count = last - x < most ? last - x : most;
    patch.out[0] = out + (size_t)x * conv->output_c;
    tile(f, panel, &patch, true);
  }
  for (uint32_t i = patch.first; i < patch.last; i++) patch.rows[i] = gathered + i * patch.span;
  patch.in_step = depth;
  for (uint32_t x = first == 0 ? last : 0; x < conv->output_w;) {
    patch.count = 0;
    while (x < conv->output_w && patch.count < most) {
      gather(line, x, gathered + patch.count * depth);
      patch.out[patch.count++] = out + (size_t)x * conv->output_c;
      if (++x == first) x = last;
    }
    tile(f, panel, &patch, false);
  }
}

/* `pixels` that read one input pixel each, one after the other. */
BERTH_AVX2 static void panel_matrix(const berth_conv_float_t *f, const panel_t *panel,
                                    const float *in, float *out, uint32_t pixels) {
  const berth_conv_t *conv = f->conv;
  uint32_t most = panel->wide ? PIXELS_WIDE : PIXELS;
  patch_t patch = {.last = 1, .span = conv->filter_c, .in_step = conv->input_c};
  for (uint32_t x = 0; x < pixels; x += most) {
    patch.rows[0] = in + (size_t)x * conv->input_c;
    patch.count = pixels - x < most ? pixels - x : most;
    patch.out[0] = out + panel->first + (size_t)x * conv->output_c;
    tile(f, panel, &patch, true);
  }
}

/* Packs the panel that begins with channel `first` of the group into `room` floats; NULL if they
 * are too few. Returns where the next can go. */
BERTH_AVX2 static float *pack(const berth_conv_float_t *f, uint32_t group, uint32_t first,
                              float *to, size_t room, panel_t *panel) {
  const berth_conv_t *conv = f->conv;
  uint32_t depth = depth_of(conv), channels = conv->output_c / conv->groups;
  uint32_t width = channels - first > NARROW && room >= (size_t)WIDE * depth ? WIDE : NARROW;
  if (room < (size_t)width * depth) return NULL;
  size_t channel = (size_t)group * channels + first;
  *panel = (panel_t){.packed = to,
                     .first = first,
                     .channels = channels - first < width ? channels - first : width,
                     .wide = width == WIDE};
  for (uint32_t v = 0; v * NARROW < width; v++) {
    uint32_t at = v * NARROW, some = panel->channels - at;
    pack8(&f->filter, channel + at, some, depth, to + at, width);
    panel->bias[v] = _mm256_setzero_ps();
    if (f->bias.data != NULL) { /* + 0: no sum is ever -0 */
      const uint8_t *bias = berth_weight_at(&f->bias, channel + at);
      panel->bias[v] =
          _mm256_add_ps(panel->bias[v], berth_weights_up_to_avx2(bias, f->bias.half, some));
    }
  }
  return to + (size_t)width * depth;
}

#define PANELS 32u /* most panels in use at a time */

/* All rows with a set of panels of a group. */
static void run_panels(const berth_conv_float_t *f, const berth_call_t *call, uint32_t group,
                       const panel_t *panels, uint32_t count) {
  const berth_conv_t *conv = f->conv;
  uint32_t first_row = call->first_row, last_row = call->last_row;
  if (!is_matrix(call, conv)) {
    for (uint32_t row = first_row; row < last_row; row++) {
      line_t line = line_at(conv, row, group);
      for (uint32_t i = 0; i < count; i++) panel_line(f, &line, &panels[i]);
    }
    return;
  }
  const uint32_t tiles = PIXELS_WIDE * PIXELS;
  uint32_t pixels = (last_row - first_row) * conv->output_w;
  uint32_t most = (BLOCK_BYTES / 4 / conv->input_c + 1) / tiles * tiles;
  if (most < tiles) most = tiles;
  const float *in = (const float *)berth_row(&conv->input, first_row) + group * conv->filter_c;
  float *out =
      (float *)berth_row(&conv->output, first_row) + group * (conv->output_c / conv->groups);
  for (uint32_t x = 0; x < pixels; x += most) {
    uint32_t some = pixels - x < most ? pixels - x : most;
    for (uint32_t i = 0; i < count; i++) {
      panel_matrix(f, &panels[i], in + (size_t)x * conv->input_c, out + (size_t)x * conv->output_c,
                   some);
    }
  }
}

/* Packs panels of a group from channel `*c` on, as many as there is room for. */
static uint32_t pack_panels(const berth_conv_float_t *f, uint32_t group, uint32_t *c, float *to,
                            size_t floats, panel_t *panels) {
  uint32_t channels = f->conv->output_c / f->conv->groups, count = 0;
  const float *end = to + floats;
  while (*c < channels && count < PANELS) {
    float *next = pack(f, group, *c, to, (size_t)(end - to), &panels[count]);
    if (next == NULL) break;
    to = next;
    *c += panels[count++].channels;
  }
  return count;
}

/* What is kept from one piece of a run to the next: all panels of the one group. */
typedef struct kept {
  uint32_t count;
  panel_t panels[]; /* then what is packed */
} kept_t;

/* NULL: nothing can be kept, or not all panels, or it is of no use. */
static const kept_t *keep(const berth_conv_float_t *f, const berth_call_t *call) {
  const berth_conv_t *conv = f->conv;
  uint64_t most = ((uint64_t)conv->output_c + NARROW - 1) / NARROW; /* panels */
  uint64_t floats = most * NARROW * depth_of(conv);
  if (conv->groups > 1 || conv->keep == 0 || most > PANELS) return NULL;
  size_t head = sizeof(kept_t) + (size_t)most * sizeof(panel_t);
  bool was_kept;
  kept_t *kept = berth_keep(call, conv->keep, (uint32_t)(head + floats * sizeof(float)), &was_kept);
  if (kept == NULL || was_kept) return kept;
  uint32_t c = 0;
  float *packed = (float *)(void *)((uint8_t *)kept + head);
  kept->count = pack_panels(f, 0, &c, packed, floats, kept->panels);
  return kept;
}

static void shallow(const berth_conv_float_t *f, const berth_call_t *call) {
  const berth_conv_t *conv = f->conv;
  const kept_t *kept = keep(f, call);
  if (kept != NULL) {
    run_panels(f, call, 0, kept->panels, kept->count);
    return;
  }
  float stack[NARROW * PANEL_DEPTH], *scratch = call->scratch[0];
  size_t floats = call->scratch_bytes / sizeof(float);
  if (floats < (size_t)NARROW * depth_of(conv)) {
    scratch = stack;
    floats = sizeof stack / sizeof *stack;
  }
  uint32_t channels = conv->output_c / conv->groups;
  for (uint32_t group = 0; group < conv->groups; group++) {
    for (uint32_t c = 0; c < channels;) {
      panel_t panels[PANELS];
      uint32_t count = pack_panels(f, group, &c, scratch, floats, panels);
      run_panels(f, call, group, panels, count);
    }
  }
}

void berth_conv_float_avx2(const berth_conv_float_t *f, const berth_call_t *call) {
  if (uses_panels(f->conv)) {
    shallow(f, call);
  } else if (is_matrix(call, f->conv)) {
    deep_matrix(f, call->first_row, call->last_row);
  } else {
    deep(f, call->first_row, call->last_row);
  }
}

#endif
