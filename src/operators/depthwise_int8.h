/* Depthwise convolution of 8-bit images: what DEPTHWISE_CONV_2D's int8 and uint8 variant hands to
 * the portable and the AVX2 implementation. Both give the same bytes. */
#ifndef BERTH_OPERATORS_DEPTHWISE_INT8_H
#define BERTH_OPERATORS_DEPTHWISE_INT8_H

#include "operators/conv.h"
#include "operators/rescale.h"

typedef struct berth_depthwise_int8 {
  const berth_conv_t *conv;
  bool is_unsigned;
  int32_t input_zero, filter_zero;
  berth_rescale_t rescale;
} berth_depthwise_int8_t;

#define BERTH_DEPTHWISE_TAPS 128u /* most taps of the AVX2 implementation */

/* Bytes of scratch that the AVX2 implementation uses for a filter of `taps` taps. */
static inline uint32_t berth_depthwise_scratch(uint32_t taps) {
  uint32_t packed = (taps + 1) / 2 * 64, copies = (taps + 2) * 16;
  return taps <= BERTH_DEPTHWISE_TAPS ? packed + copies + 16 : 0; /* 16 to align */
}

/* What pieces of a run keep for each other: this, and behind it what the AVX2 implementation has
 * made of factors and weights. */
typedef struct berth_depthwise_kept {
  _Alignas(32) berth_depthwise_int8_t depthwise;
  bool is_ready; /* the AVX2 implementation is for this shape and these factors */
} berth_depthwise_kept_t;

/* Bytes of it; 0: it is of no use. */
uint32_t berth_depthwise_kept_bytes(const berth_conv_t *conv);

/* Computes output rows [first_row, last_row), with berth_depthwise_scratch bytes of scratch. AVX2
 * must be there. `kept` may be NULL; `was_kept`: it has been filled by an earlier piece. False: it
 * is not for this shape or these factors, use the portable code. */
bool berth_depthwise_int8_avx2(const berth_depthwise_int8_t *depthwise, void *scratch,
                               berth_depthwise_kept_t *kept, bool was_kept, uint32_t first_row,
                               uint32_t last_row);

/* Arm (BERTH_HAS_ARM), int8 with as many output channels as input channels: for `taps` taps that
 * are `in_step` and `filter_step` bytes apart, adds
 *   sums[i] += (in[i] - input_zero) x filter[i]   for i < count. */
void berth_depthwise_taps_arm(uint32_t *sums, uint32_t count, int32_t input_zero, const int8_t *in,
                              size_t in_step, const int8_t *filter, size_t filter_step,
                              uint32_t taps);

#endif
