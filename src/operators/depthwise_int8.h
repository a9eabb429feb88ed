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

/* Computes output rows [first_row, last_row) with AVX2, which must be there. */
void berth_depthwise_int8_avx2(const berth_depthwise_int8_t *depthwise, uint32_t first_row,
                               uint32_t last_row);

#endif
