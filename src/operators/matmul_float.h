/* Products of float rows: for FULLY_CONNECTED, and for convolutions with 1x1 filters and enough
 * channels. The weights are used where they lie; there is no scratch. */
#ifndef BERTH_OPERATORS_MATMUL_FLOAT_H
#define BERTH_OPERATORS_MATMUL_FLOAT_H

#include "operators/float_weights.h"

typedef struct berth_matmul_float {
  berth_weights_t filter; /* a row of `depth` for each output channel */
  berth_weights_t bias;   /* one for each, or none */
  uint32_t depth;
  uint32_t first, count; /* output channels to compute */
  float min, max;        /* of the fused activation */
} berth_matmul_float_t;

/* out[row][i] = activation(bias[first + i] + sum of in[row][k] x filter[first + i][k]). Rows of
 * floats start in_step and out_step floats apart. */
void berth_matmul_float(const berth_matmul_float_t *m, uint32_t cpu, const float *in,
                        size_t in_step, float *out, size_t out_step, uint32_t rows);

/* The same with AVX2, which must be there. */
void berth_matmul_float_avx2(const berth_matmul_float_t *m, const float *in, size_t in_step,
                             float *out, size_t out_step, uint32_t rows);

/* One row that comes in pieces. Sums are made of as many parts as the widest implementation needs,
 * and elements wait until there are that many, so that every number is added to the same part in
 * the same order as when all are there at once.
 *
 * `parts`: BERTH_FLOAT_LANES floats for each channel (rounded up to eight channels), then
 * BERTH_FLOAT_LANES for elements that wait; all zero at first. Adds elements [at, at + count) of
 * the depth, which lie at `in`; and makes the row of output. */
#define BERTH_FLOAT_LANES 8u
void berth_matmul_float_add(const berth_matmul_float_t *m, uint32_t cpu, uint32_t at,
                            uint32_t count, const float *in, float *parts);
void berth_matmul_float_finish(const berth_matmul_float_t *m, uint32_t cpu, float *parts,
                               float *out);

/* The same with AVX2: adds [at, at + count), both multiples of eight, or all there is to the end.
 */
void berth_matmul_float_add_avx2(const berth_matmul_float_t *m, uint32_t at, uint32_t count,
                                 const float *in, float *parts);
void berth_matmul_float_finish_avx2(const berth_matmul_float_t *m, const float *parts, float *out);

/* Portable: adds the products of four channels' weights, which start at `weights`, and a span of
 * `depth` inputs to `sums`, in the order of the depth, four partial sums a channel. */
#define BERTH_FLOAT_CHANNELS 4u
typedef struct berth_float_sums {
  float part[BERTH_FLOAT_CHANNELS][4];
} berth_float_sums_t;
void berth_float_span(berth_float_sums_t *sums, const float *in, const uint8_t *const *weights,
                      bool half, uint32_t depth);

/* The sum of a channel's partial sums. */
static inline float berth_float_total(const berth_float_sums_t *sums, uint32_t channel) {
  const float *part = sums->part[channel];
  return (part[0] + part[1]) + (part[2] + part[3]);
}

/* min(max(x, low), high); NaN becomes `low`. */
static inline float berth_clamp_float(float x, float low, float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

#endif
