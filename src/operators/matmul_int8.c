/* Products of 8-bit rows, portable: a plain sum for each output, in a form that compilers turn into
 * vector multiplications of 16-bit pairs. */
#include "operators/arm.h"
#include "operators/conv_int8.h"
#include "operators/rescale_avx2.h"

#define BLOCK 8u /* channels whose factors are derived at a time */

/* Sum of (a - zero_a) x (b - zero_b), modulo 2^32. */
static uint32_t dot_int8(const int8_t *a, const int8_t *b, uint32_t count, int32_t zero_a,
                         int32_t zero_b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += (uint32_t)((int16_t)(a[i] - zero_a) * (int16_t)(b[i] - zero_b));
  }
  return sum;
}

static uint32_t dot_uint8(const uint8_t *a, const uint8_t *b, uint32_t count, int32_t zero_a,
                          int32_t zero_b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += (uint32_t)((int16_t)(a[i] - zero_a) * (int16_t)(b[i] - zero_b));
  }
  return sum;
}

static uint32_t dot(const berth_matmul_int8_t *m, const uint8_t *a, const uint8_t *b,
                    uint32_t count) {
  if (m->is_unsigned) return dot_uint8(a, b, count, m->input_zero, m->filter_zero);
  return dot_int8((const int8_t *)a, (const int8_t *)b, count, m->input_zero, m->filter_zero);
}

void berth_matmul_int8_portable(const berth_matmul_int8_t *m, uint32_t first, uint32_t count,
                                const uint8_t *in, size_t in_step, uint8_t *out, size_t out_step,
                                uint32_t rows) {
  int32_t multipliers[BLOCK], shifts[BLOCK];
  berth_rescale_factors(&m->rescale, first, count, multipliers, shifts);
  for (uint32_t row = 0; row < rows; row++) {
    const uint8_t *a = in + row * in_step;
    for (uint32_t i = 0; i < count; i++) {
      const uint8_t *b = m->filter + (size_t)(first + i) * m->depth;
      uint32_t sum = dot(m, a, b, m->depth);
      if (m->bias != NULL) sum += (uint32_t)berth_load_int32(m->bias, first + i);
      berth_multiplier_t factor = {multipliers[i], shifts[i]};
      out[row * out_step + i] = (uint8_t)berth_rescale_apply(&m->rescale, (int32_t)sum, factor);
    }
  }
}

void berth_matmul_int8(const berth_matmul_int8_t *m, uint32_t cpu, uint32_t group,
                       const uint8_t *in, size_t in_step, uint8_t *out, size_t out_step,
                       uint32_t rows) {
#if BERTH_HAS_AVX2
  if (cpu & BERTH_CPU_AVX2 && (m->is_unsigned || m->filter_zero == 0)) {
    berth_matmul_int8_avx2(m, group, in, in_step, out, out_step, rows);
    return;
  }
#elif BERTH_HAS_ARM
  if (berth_matmul_int8_suits_arm(m)) {
    berth_matmul_int8_arm(m, group, in, in_step, out, out_step, rows);
    return;
  }
#endif
  (void)cpu;
  for (uint32_t first = 0; first < m->channels; first += BLOCK) {
    uint32_t count = m->channels - first < BLOCK ? m->channels - first : BLOCK;
    berth_matmul_int8_portable(m, group * m->channels + first, count, in, in_step, out + first,
                               out_step, rows);
  }
}

void berth_matmul_int8_sums(const berth_matmul_int8_t *m, uint32_t cpu, uint32_t first,
                            uint32_t count, uint32_t at, uint32_t span, const uint8_t *in,
                            int32_t sums[8]) {
#if BERTH_HAS_AVX2
  if (cpu & BERTH_CPU_AVX2 && (m->is_unsigned || m->filter_zero == 0)) {
    berth_matmul_int8_sums_avx2(m, first, count, at, span, in, sums);
    return;
  }
#elif BERTH_HAS_ARM
  if (berth_matmul_int8_suits_arm(m)) {
    berth_matmul_int8_sums_arm(m, first, count, at, span, in, sums);
    return;
  }
#endif
  (void)cpu;
  for (uint32_t i = 0; i < count; i++) {
    sums[i] = (int32_t)dot(m, in, m->filter + (size_t)(first + i) * m->depth + at, span);
  }
}

void berth_conv_pixels_portable(const berth_conv_block_t *block,
                                const berth_conv_pixels_t *pixels) {
  const berth_matmul_int8_t *m = block->matmul;
  for (uint32_t p = 0; p < pixels->count; p++) {
    uint8_t *out = pixels->out + p * pixels->out_step;
    for (uint32_t i = 0; i < block->count; i++) {
      const uint8_t *weights = m->filter + (size_t)(block->first + i) * m->depth;
      uint32_t sum = (uint32_t)block->bias[i];
      for (uint32_t s = 0; s < block->spans; s++, weights += block->span) {
        sum += dot(m, pixels->from[s] + p * pixels->step[s], weights, block->span);
      }
      berth_multiplier_t factor = {block->multipliers[i], block->shifts[i]};
      out[i] = (uint8_t)berth_rescale_apply(&m->rescale, (int32_t)sum, factor);
    }
  }
}
