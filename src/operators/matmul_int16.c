/* Products of int16 rows, portable: partial sums of 32 bits, which compilers turn into vector
 * multiplications of 16-bit pairs, added up in 64 bits. */
#include "operators/matmul_int16.h"

#define BLOCK 8u   /* channels whose factors are derived at a time */
#define CHUNK 128u /* terms, each within 2^23, that a 32-bit partial sum can hold */

static int64_t dot(const int16_t *a, const int8_t *b, uint32_t count, int32_t zero_b) {
  int64_t sum = 0;
  for (uint32_t at = 0; at < count; at += CHUNK) {
    uint32_t end = count - at < CHUNK ? count : at + CHUNK;
    int32_t part = 0;
    for (uint32_t i = at; i < end; i++) part += a[i] * (int16_t)(b[i] - zero_b);
    sum += part;
  }
  return sum;
}

static int64_t bias_of(const berth_matmul_int16_t *m, uint32_t channel) {
  if (m->bias == NULL) return 0;
  return m->is_short ? berth_load_int32(m->bias, channel) : berth_load_bias64(m->bias, channel);
}

void berth_matmul_int16(const berth_matmul_int16_t *m, uint32_t group, const uint8_t *in,
                        size_t in_step, uint8_t *out, size_t out_step, uint32_t rows) {
  uint32_t base = group * m->channels;
  for (uint32_t first = 0; first < m->channels; first += BLOCK) {
    uint32_t count = m->channels - first < BLOCK ? m->channels - first : BLOCK;
    int32_t multipliers[BLOCK], shifts[BLOCK];
    berth_rescale_factors(&m->rescale, base + first, count, multipliers, shifts);
    for (uint32_t row = 0; row < rows; row++) {
      const int16_t *a = (const int16_t *)(const void *)(in + row * in_step);
      int16_t *to = (int16_t *)(void *)(out + row * out_step);
      for (uint32_t i = 0; i < count; i++) {
        uint32_t channel = base + first + i;
        const int8_t *b = (const int8_t *)m->filter + (size_t)channel * m->depth;
        int64_t sum = dot(a, b, m->depth, m->filter_zero) + bias_of(m, channel);
        berth_multiplier_t factor = {multipliers[i], shifts[i]};
        to[first + i] = berth_int16_rescale(&m->rescale, sum, m->is_short, factor);
      }
    }
  }
}

void berth_matmul_int16_add(const berth_matmul_int16_t *m, uint32_t at, uint32_t count,
                            const uint8_t *in, int64_t *sums) {
  const int8_t *filter = (const int8_t *)m->filter + at;
  for (uint32_t c = 0; c < m->channels; c++, filter += m->depth) {
    sums[c] += dot((const int16_t *)(const void *)in, filter, count, m->filter_zero);
  }
}

void berth_matmul_int16_finish(const berth_matmul_int16_t *m, const int64_t *sums, uint8_t *out) {
  int16_t *to = (int16_t *)(void *)out;
  for (uint32_t first = 0; first < m->channels; first += BLOCK) {
    uint32_t count = m->channels - first < BLOCK ? m->channels - first : BLOCK;
    int32_t multipliers[BLOCK], shifts[BLOCK];
    berth_rescale_factors(&m->rescale, first, count, multipliers, shifts);
    for (uint32_t i = 0; i < count; i++) {
      int64_t sum = sums[first + i] + bias_of(m, first + i);
      berth_multiplier_t factor = {multipliers[i], shifts[i]};
      to[first + i] = berth_int16_rescale(&m->rescale, sum, m->is_short, factor);
    }
  }
}

berth_status_t berth_int16_check(berth_call_t *call, const berth_value_t *input,
                                 const berth_value_t *filter, const berth_value_t *bias,
                                 const berth_value_t *output, bool short_allowed) {
  if (bias->present && bias->type != BERTH_TYPE_INT64 &&
      !(short_allowed && bias->type == BERTH_TYPE_INT32)) {
    return berth_refuse(call, "needs an int64 bias");
  }
  if (input->zero_point != 0 || output->zero_point != 0) {
    return berth_refuse(call, "takes int16 with zero point 0 only");
  }
  for (uint32_t i = 0; i < filter->scales.count; i++) {
    if (berth_channel_multiplier(input, filter, output, i).shift > 14) {
      return berth_refuse(call, "has a filter scale that is out of range");
    }
  }
  return BERTH_OK;
}
