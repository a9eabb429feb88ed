/* CONV_2D of float images: what the variant hands to the portable and to the AVX2 implementation.
 *
 * Both compute each output in an order that depends on the shape of the convolution alone, so the
 * bits are the same for any scratch and however rows are cut; between the two, rounding differs.
 */
#ifndef BERTH_OPERATORS_CONV_FLOAT_H
#define BERTH_OPERATORS_CONV_FLOAT_H

#include "operators/conv.h"
#include "operators/float_weights.h"

typedef struct berth_conv_float {
  const berth_conv_t *conv;
  berth_weights_t filter, bias;
  float min, max;
} berth_conv_float_t;

/* May sums go over neighbouring taps of a filter row as over one span, if their inputs lie
 * together? Columns that are rows may lie apart, so there it must not make a difference to the
 * order of sums, which are kept in eight parts. */
static inline bool berth_conv_float_taps_join(const berth_conv_t *conv) {
  return conv->groups == 1 && (!conv->columns || conv->filter_c % 8 == 0);
}

/* Most taps x channels with which the AVX2 implementation repacks weights into panels. */
#define BERTH_CONV_FLOAT_PANEL_DEPTH 160u

/* Scratch that lets the AVX2 implementation pack all weights; 0: it has no use for any. */
uint32_t berth_conv_float_avx2_wish(const berth_conv_t *conv);

/* Computes the rows of the call with AVX2, which must be there. Of scratch, any number of bytes
 * will do. */
void berth_conv_float_avx2(const berth_conv_float_t *c, const berth_call_t *call);

#endif
