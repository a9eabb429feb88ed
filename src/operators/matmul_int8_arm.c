/* Products of int8 rows with Arm's DSP instructions or Helium: four channels at a time, which share
 * what is loaded of the input.
 *
 * Helium multiplies bytes as they are: the input's zero point, times the sum of the channel's
 * weights, is taken out of the bias beforehand. The DSP instructions multiply numbers of 16 bits,
 * which have room for it.
 */
#include "operators/conv_int8.h"
#include "operators/rescale_arm.h"

#if BERTH_HAS_ARM

#define BLOCK    8u /* channels whose factors are derived at a time */
#define TOGETHER 4u /* channels */

/* ---- Loops ----------------------------------------------------------------------------------- */

#if BERTH_HAS_HELIUM

/* What a sum starts with: -input_zero x the weights. */
static uint32_t start(const berth_matmul_int8_t *m, const int8_t *weights, uint32_t count) {
  int32_t sum = 0;
  for (uint32_t i = 0; i < count; i += 16) {
    sum = vaddvaq_s8(sum, vldrbq_z_s8(weights + i, vctp8q(count - i)));
  }
  return 0 - (uint32_t)m->input_zero * (uint32_t)sum;
}

/* sums[i] += sum of in x (filter + i x step). Vectors that would reach beyond the end are loaded
 * with zeros there. */
static inline void dots_4(const berth_matmul_int8_t *m, const int8_t *in, const int8_t *filter,
                          uint32_t count, int32_t *sums) {
  int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
  uint32_t step = m->depth;
  for (; count >= 16; count -= 16, in += 16, filter += 16) {
    int8x16_t x = vldrbq_s8(in);
    a = vmladavaq_s8(a, x, vldrbq_s8(filter));
    b = vmladavaq_s8(b, x, vldrbq_s8(filter + step));
    c = vmladavaq_s8(c, x, vldrbq_s8(filter + 2 * step));
    d = vmladavaq_s8(d, x, vldrbq_s8(filter + 3 * step));
  }
  if (count > 0) {
    mve_pred16_t some = vctp8q(count);
    int8x16_t x = vldrbq_z_s8(in, some);
    a = vmladavaq_s8(a, x, vldrbq_z_s8(filter, some));
    b = vmladavaq_s8(b, x, vldrbq_z_s8(filter + step, some));
    c = vmladavaq_s8(c, x, vldrbq_z_s8(filter + 2 * step, some));
    d = vmladavaq_s8(d, x, vldrbq_z_s8(filter + 3 * step, some));
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}

static inline void dots_1(const berth_matmul_int8_t *m, const int8_t *in, const int8_t *filter,
                          uint32_t count, int32_t *sum) {
  (void)m;
  for (uint32_t i = 0; i < count; i += 16) {
    mve_pred16_t some = vctp8q(count - i);
    *sum = vmladavaq_s8(*sum, vldrbq_z_s8(in + i, some), vldrbq_z_s8(filter + i, some));
  }
}

#else

static uint32_t start(const berth_matmul_int8_t *m, const int8_t *weights, uint32_t count) {
  (void)m, (void)weights, (void)count;
  return 0;
}

/* Four bytes of the input, without its zero point. */
typedef struct four {
  int16x2_t even, odd;
} four_t;

static inline four_t load_4(const int8_t *in, int16x2_t zero) {
  uint32_t word = berth_word(in);
  return (four_t){__ssub16(berth_even_bytes(word), zero), __ssub16(berth_odd_bytes(word), zero)};
}

/* sum + four products. */
static inline int32_t add_4(int32_t sum, four_t x, const int8_t *weights) {
  uint32_t word = berth_word(weights);
  return __smlad(x.odd, berth_odd_bytes(word), __smlad(x.even, berth_even_bytes(word), sum));
}

static inline int32_t add_1(int32_t sum, int32_t x, int8_t weight) {
  return (int32_t)((uint32_t)sum + (uint32_t)(x * weight));
}

/* sums[i] += sum of (in - input_zero) x (filter + i x step). */
static inline void dots_4(const berth_matmul_int8_t *m, const int8_t *in, const int8_t *filter,
                          uint32_t count, int32_t *sums) {
  int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
  uint32_t step = m->depth;
  int16x2_t zero = berth_pair(m->input_zero);
  const int8_t *end = in + (count & ~3u), *far = filter + 2 * step;
  for (; in != end; in += 4, filter += 4, far += 4) {
    four_t x = load_4(in, zero);
    a = add_4(a, x, filter);
    b = add_4(b, x, filter + step);
    c = add_4(c, x, far);
    d = add_4(d, x, far + step);
  }
  for (uint32_t left = count & 3; left > 0; left--, in++, filter++, far++) {
    int32_t x = *in - m->input_zero;
    a = add_1(a, x, *filter);
    b = add_1(b, x, filter[step]);
    c = add_1(c, x, *far);
    d = add_1(d, x, far[step]);
  }
  sums[0] = a, sums[1] = b, sums[2] = c, sums[3] = d;
}

static inline void dots_1(const berth_matmul_int8_t *m, const int8_t *in, const int8_t *filter,
                          uint32_t count, int32_t *sum) {
  uint32_t i = 0;
  int16x2_t zero = berth_pair(m->input_zero);
  for (; i + 4 <= count; i += 4) *sum = add_4(*sum, load_4(in + i, zero), filter + i);
  for (; i < count; i++) *sum = add_1(*sum, in[i] - m->input_zero, filter[i]);
}

#endif

/* Adds to `count` sums those over `span` elements of the input and of rows of the filter, the first
 * of which begins at `filter`. */
__attribute__((noinline)) static void dots(const berth_matmul_int8_t *m, const uint8_t *in,
                                           const uint8_t *filter, uint32_t count, uint32_t span,
                                           int32_t *sums) {
  const int8_t *a = (const int8_t *)in, *b = (const int8_t *)filter;
  uint32_t i = 0;
  for (; i + TOGETHER <= count; i += TOGETHER)
    dots_4(m, a, b + (size_t)i * m->depth, span, sums + i);
  for (; i < count; i++) dots_1(m, a, b + (size_t)i * m->depth, span, sums + i);
}

/* What the sums of channels [first, first + count) start with. */
static void bias_of(const berth_matmul_int8_t *m, uint32_t first, uint32_t count, int32_t *bias) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t sum = start(m, (const int8_t *)m->filter + (size_t)(first + i) * m->depth, m->depth);
    if (m->bias != NULL) sum += (uint32_t)berth_load_int32(m->bias, first + i);
    bias[i] = (int32_t)sum;
  }
}

/* ---- Products -------------------------------------------------------------------------------- */

void berth_matmul_int8_arm(const berth_matmul_int8_t *m, uint32_t group, const uint8_t *in,
                           size_t in_step, uint8_t *out, size_t out_step, uint32_t rows) {
  for (uint32_t at = 0; at < m->channels; at += BLOCK) {
    uint32_t count = m->channels - at < BLOCK ? m->channels - at : BLOCK;
    uint32_t first = group * m->channels + at;
    int32_t multipliers[BLOCK], shifts[BLOCK], bias[BLOCK] = {0}, sums[BLOCK];
    berth_rescale_factors(&m->rescale, first, count, multipliers, shifts);
    bias_of(m, first, count, bias);
    for (uint32_t row = 0; row < rows; row++) {
      memcpy(sums, bias, sizeof sums);
      dots(m, in + row * in_step, m->filter + (size_t)first * m->depth, count, m->depth, sums);
      berth_rescale_arm(&m->rescale, sums, count, multipliers, shifts, out + row * out_step + at);
    }
  }
}

void berth_matmul_int8_sums_arm(const berth_matmul_int8_t *m, uint32_t first, uint32_t count,
                                uint32_t at, uint32_t span, const uint8_t *in, int32_t sums[8]) {
  const uint8_t *filter = m->filter + (size_t)first * m->depth + at;
  for (uint32_t i = 0; i < count; i++) {
    sums[i] = (int32_t)start(m, (const int8_t *)filter + (size_t)i * m->depth, span);
  }
  dots(m, in, filter, count, span, sums);
}

void berth_conv_open_arm(berth_conv_block_t *block) {
  const berth_matmul_int8_t *m = block->matmul;
  berth_rescale_factors(&m->rescale, block->first, block->count, block->multipliers, block->shifts);
  bias_of(m, block->first, block->count, block->bias);
}

void berth_conv_pixels_arm(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels) {
  const berth_matmul_int8_t *m = block->matmul;
  for (uint32_t p = 0; p < pixels->count; p++) {
    const uint8_t *filter = m->filter + (size_t)block->first * m->depth;
    int32_t sums[BERTH_CONV_BLOCK];
    memcpy(sums, block->bias, sizeof sums);
    for (uint32_t s = 0; s < block->spans; s++, filter += block->span) {
      dots(m, pixels->from[s] + p * pixels->step[s], filter, block->count, block->span, sums);
    }
    berth_rescale_arm(&m->rescale, sums, block->count, block->multipliers, block->shifts,
                      pixels->out + p * pixels->out_step);
  }
}

#endif
