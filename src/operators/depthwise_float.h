/* Depthwise convolution of float images: what DEPTHWISE_CONV_2D's float variant hands to the
 * portable and the AVX2 implementation. Both start at the bias and add the taps inside the image
 * one by one in the filter's order; only the latter fuses multiplication and addition. */
#ifndef BERTH_OPERATORS_DEPTHWISE_FLOAT_H
#define BERTH_OPERATORS_DEPTHWISE_FLOAT_H

#include "operators/conv.h"
#include "operators/float_weights.h"

typedef struct berth_depthwise_float {
  const berth_conv_t *conv;
  berth_weights_t filter, bias;
  float min, max; /* of the fused activation */
} berth_depthwise_float_t;

/* Can the AVX2 implementation take it? Where not, the portable one does. */
bool berth_depthwise_float_avx2_takes(const berth_conv_t *conv);

/* Computes output rows [first_row, last_row) with AVX2, which must be there. */
void berth_depthwise_float_avx2(const berth_depthwise_float_t *d, uint32_t first_row,
                                uint32_t last_row);

#endif
