/* Transposed convolutions, in gather form: each output pixel adds up what the input pixels would
 * scatter to it. So there is no accumulator image (stock TFLM needs one of 32 or 64 bits for every
 * output element), rows can be made one after the other, and outputs are written once.
 */
#ifndef BERTH_OPERATORS_TRANSPOSE_CONV_H
#define BERTH_OPERATORS_TRANSPOSE_CONV_H

#include "berth/operator.h"

/* One transposed convolution. The filter is [output channels, h, w, input channels]. */
typedef struct berth_transpose_conv {
  berth_value_t input, filter, output;
  berth_value_t bias; /* may be absent */
  uint32_t batches;
  uint32_t input_h, input_w, input_c;
  uint32_t filter_h, filter_w;
  uint32_t output_h, output_w, output_c;
  uint32_t stride_h, stride_w; /* at least 1 */
  uint32_t pad_h, pad_w;       /* rows and columns cut off before the first one kept */
  int32_t activation;          /* berth_activation_t */
  bool turned;                 /* on its side: height and width have changed places */
} berth_transpose_conv_t;

/* Fills in the shapes of input, filter and bias, which are set, and checks that they fit together;
 * strides must be set as well. */
berth_status_t berth_transpose_conv_measure(berth_call_t *call, berth_transpose_conv_t *conv);

/* Takes images of height 1, with filters of that height, on their side, so that their columns are
 * rows; the filter's bytes are the same. When output_h and all others are set. */
void berth_transpose_conv_turn(berth_transpose_conv_t *conv);

/* eval: where rows don't lie along the height, and weren't turned, makes them do so and asks for
 * all. */
void berth_transpose_conv_lay(berth_call_t *call, berth_transpose_conv_t *conv);

/* Makes the contract row-local, if it can be. After berth_transpose_conv_turn. */
void berth_transpose_conv_windows(const berth_transpose_conv_t *conv, uint32_t input,
                                  berth_contract_t *contract);

/* Along one axis, the taps that contribute to an output: first, first + stride, ..., `count` of
 * them; the first is that of input `at`, the next that of at - 1, ... */
typedef struct berth_back_taps {
  uint32_t first, count, at;
} berth_back_taps_t;

static inline berth_back_taps_t berth_back_taps(uint32_t output, uint32_t stride, uint32_t pad,
                                                uint32_t taps, uint32_t input) {
  uint64_t position = (uint64_t)output + pad, at = position / stride;
  uint64_t first = position % stride;
  if (at >= input) {
    first += (at - (input - 1)) * stride;
    at = input - 1;
  }
  uint64_t count = first < taps ? (taps - first + stride - 1) / stride : 0;
  if (count > at + 1) count = at + 1;
  return (berth_back_taps_t){(uint32_t)first, (uint32_t)count, (uint32_t)at};
}

/* ---- Variants -------------------------------------------------------------------------------- */

berth_status_t berth_transpose_conv_float_prepare(berth_call_t *, const berth_transpose_conv_t *,
                                                  berth_contract_t *);
berth_status_t berth_transpose_conv_float_eval(berth_call_t *, const berth_transpose_conv_t *);
/* int8, uint8, and int16 with int8 weights */
berth_status_t berth_transpose_conv_quantized_prepare(berth_call_t *,
                                                      const berth_transpose_conv_t *,
                                                      berth_contract_t *);
berth_status_t berth_transpose_conv_quantized_init(berth_call_t *, const berth_transpose_conv_t *);
berth_status_t berth_transpose_conv_quantized_eval(berth_call_t *, const berth_transpose_conv_t *);

#endif
