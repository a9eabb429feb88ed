/* Products of float rows, portable: four channels at a time, each with four partial sums, which
 * suits processors with 16 and with 32 registers, and lets compilers vectorise without reordering
 * any sum. */
#include "operators/matmul_float.h"
#include "operators/avx2.h"

#define PARTS 4u

static inline void span(berth_float_sums_t *sums, const float *in, const uint8_t *const *weights,
                        bool half, uint32_t depth) {
  berth_float_sums_t s = *sums;
  uint32_t k = 0;
  for (; k + PARTS <= depth; k += PARTS) {
    for (uint32_t c = 0; c < BERTH_FLOAT_CHANNELS; c++) {
      for (uint32_t p = 0; p < PARTS; p++) {
        s.part[c][p] += in[k + p] * berth_weight_load(weights[c], half, k + p);
      }
    }
  }
  for (uint32_t c = 0; c < BERTH_FLOAT_CHANNELS; c++) {
    for (uint32_t p = 0; k + p < depth; p++) {
      s.part[c][p] += in[k + p] * berth_weight_load(weights[c], half, k + p);
    }
  }
  *sums = s;
}

void berth_float_span(berth_float_sums_t *sums, const float *in, const uint8_t *const *weights,
                      bool half, uint32_t depth) {
  if (half) {
    span(sums, in, weights, true, depth);
  } else {
    span(sums, in, weights, false, depth);
  }
}

static void matmul_portable(const berth_matmul_float_t *m, const float *in, size_t in_step,
                            float *out, size_t out_step, uint32_t rows) {
  for (uint32_t c = 0; c < m->count; c += BERTH_FLOAT_CHANNELS) {
    uint32_t count = m->count - c < BERTH_FLOAT_CHANNELS ? m->count - c : BERTH_FLOAT_CHANNELS;
    const uint8_t *weights[BERTH_FLOAT_CHANNELS];
    for (uint32_t i = 0; i < BERTH_FLOAT_CHANNELS; i++) {
      size_t channel = (size_t)m->first + c + (i < count ? i : 0);
      weights[i] = berth_weight_at(&m->filter, channel * m->depth);
    }
    for (uint32_t row = 0; row < rows; row++) {
      berth_float_sums_t sums = {{{0}}};
      berth_float_span(&sums, in + row * in_step, weights, m->filter.half, m->depth);
      for (uint32_t i = 0; i < count; i++) {
        float sum = berth_float_total(&sums, i);
        if (m->bias.data != NULL) sum += berth_weight(&m->bias, (size_t)m->first + c + i);
        out[row * out_step + c + i] = berth_clamp_float(sum, m->min, m->max);
      }
    }
  }
}

void berth_matmul_float(const berth_matmul_float_t *m, uint32_t cpu, const float *in,
                        size_t in_step, float *out, size_t out_step, uint32_t rows) {
#if BERTH_HAS_AVX2
  if (cpu & BERTH_CPU_AVX2) {
    berth_matmul_float_avx2(m, in, in_step, out, out_step, rows);
    return;
  }
#endif
  (void)cpu;
  matmul_portable(m, in, in_step, out, out_step, rows);
}

/* ---- One row in pieces ---------------------------------------------------------------------- */

static void add_portable(const berth_matmul_float_t *m, uint32_t at, uint32_t count,
                         const float *in, float *parts) {
  for (uint32_t c = 0; c < m->count; c += BERTH_FLOAT_CHANNELS) {
    const uint8_t *weights[BERTH_FLOAT_CHANNELS];
    berth_float_sums_t sums;
    for (uint32_t i = 0; i < BERTH_FLOAT_CHANNELS; i++) {
      size_t channel = (size_t)m->first + (c + i < m->count ? c + i : c);
      weights[i] = berth_weight_at(&m->filter, channel * m->depth + at);
      memcpy(sums.part[i], parts + (size_t)(c + i) * BERTH_FLOAT_LANES, sizeof sums.part[i]);
    }
    berth_float_span(&sums, in, weights, m->filter.half, count);
    for (uint32_t i = 0; i < BERTH_FLOAT_CHANNELS; i++) {
      memcpy(parts + (size_t)(c + i) * BERTH_FLOAT_LANES, sums.part[i], sizeof sums.part[i]);
    }
  }
}

static void add(const berth_matmul_float_t *m, uint32_t cpu, uint32_t at, uint32_t count,
                const float *in, float *parts) {
#if BERTH_HAS_AVX2
  if (cpu & BERTH_CPU_AVX2) {
    berth_matmul_float_add_avx2(m, at, count, in, parts);
    return;
  }
#endif
  (void)cpu;
  add_portable(m, at, count, in, parts);
}

/* The elements that wait, behind the parts. */
static float *waiting_of(const berth_matmul_float_t *m, float *parts) {
  return parts + (size_t)(m->count + 7) / 8 * 8 * BERTH_FLOAT_LANES;
}

void berth_matmul_float_add(const berth_matmul_float_t *m, uint32_t cpu, uint32_t at,
                            uint32_t count, const float *in, float *parts) {
  float *waiting = waiting_of(m, parts);
  uint32_t there = at % BERTH_FLOAT_LANES;
  if (there > 0) {
    uint32_t wanted = BERTH_FLOAT_LANES - there, taken = wanted < count ? wanted : count;
    memcpy(waiting + there, in, taken * sizeof *in);
    if (taken < wanted) return;
    add(m, cpu, at - there, BERTH_FLOAT_LANES, waiting, parts);
    in += taken;
    at += taken;
    count -= taken;
  }
  uint32_t full = count - count % BERTH_FLOAT_LANES;
  if (full > 0) add(m, cpu, at, full, in, parts);
  if (count > full) memcpy(waiting, in + full, (count - full) * sizeof *in);
}

void berth_matmul_float_finish(const berth_matmul_float_t *m, uint32_t cpu, float *parts,
                               float *out) {
  uint32_t left = m->depth % BERTH_FLOAT_LANES;
  if (left > 0) add(m, cpu, m->depth - left, left, waiting_of(m, parts), parts);
#if BERTH_HAS_AVX2
  if (cpu & BERTH_CPU_AVX2) {
    berth_matmul_float_finish_avx2(m, parts, out);
    return;
  }
#endif
  for (uint32_t c = 0; c < m->count; c++) {
    const float *part = parts + (size_t)c * BERTH_FLOAT_LANES;
    float sum = (part[0] + part[1]) + (part[2] + part[3]);
    if (m->bias.data != NULL) sum += berth_weight(&m->bias, (size_t)m->first + c);
    out[c] = berth_clamp_float(sum, m->min, m->max);
  }
}
