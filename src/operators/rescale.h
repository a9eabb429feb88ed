/* From the sums of a quantized product to the output's units: used by the convolutions and
 * FULLY_CONNECTED.
 *
 * Each output channel has a factor that follows from the scales in the model. It is derived when
 * needed, for a block of channels at a time, or for all of them into scratch where many small
 * products share them; with call->store_multipliers all are kept in workspace from the start.
 */
#ifndef BERTH_OPERATORS_RESCALE_H
#define BERTH_OPERATORS_RESCALE_H

#include "operators/fixed_point.h"

typedef struct berth_rescale {
  double input_scale, output_scale;
  const uint8_t *scales;      /* one float for each channel; NULL: all have `factor` */
  const int32_t *multipliers; /* of all channels, ready; NULL: derive them */
  const int32_t *shifts;      /* likewise */
  berth_multiplier_t factor;
  bool ties_up;                 /* in both roundings, as in TFLite's matrix products for uint8 */
  int32_t zero_point, min, max; /* of the output */
} berth_rescale_t;

/* prepare: refuses scales that make no sense. The filter has `channels` output channels, along its
 * dimension `dimension`. */
berth_status_t berth_rescale_check(berth_call_t *call, const berth_value_t *input,
                                   const berth_value_t *filter, const berth_value_t *output,
                                   uint32_t channels, int32_t dimension);

/* Whether there is one factor for each channel. */
static inline bool berth_rescale_is_per_channel(const berth_value_t *filter) {
  return filter->scales.count > 1;
}

/* The rescaling of an operator. `per_tensor_float`: without per-channel scales the factor is
 * berth_tensor_multiplier. */
berth_rescale_t berth_rescale_read(const berth_value_t *input, const berth_value_t *filter,
                                   const berth_value_t *output, int32_t activation,
                                   bool per_tensor_float);

/* Writes the factors of channels [first, first + count) to two arrays. */
void berth_rescale_factors(const berth_rescale_t *rescale, uint32_t first, uint32_t count,
                           int32_t *multipliers, int32_t *shifts);

/* prepare: workspace for the factors of `channels` filter scales, if the call stores them and they
 * are not one for all. */
void berth_rescale_place(const berth_call_t *call, uint32_t channels, uint32_t *workspace);

/* Bytes that the factors of `channels` filter scales take outside of the workspace; 0 where there
 * is one for all, or where the call stores them. */
uint32_t berth_rescale_bytes(const berth_call_t *call, uint32_t channels);

/* init: fills the workspace, if that is where factors are kept. */
void berth_rescale_init(const berth_call_t *call, const berth_rescale_t *rescale,
                        uint32_t channels);

/* eval: takes factors from the workspace if they are kept there, else fills `scratch` with them,
 * unless it is NULL. */
void berth_rescale_use(const berth_call_t *call, berth_rescale_t *rescale, uint32_t channels,
                       void *scratch);

/* A sum, in the output's units and range. */
static inline int32_t berth_rescale_apply(const berth_rescale_t *rescale, int32_t sum,
                                          berth_multiplier_t by) {
  int32_t scaled = rescale->ties_up ? berth_multiply_up(sum, by) : berth_multiply(sum, by);
  int64_t moved = (int64_t)scaled + rescale->zero_point;
  return moved < rescale->min ? rescale->min : moved > rescale->max ? rescale->max : (int32_t)moved;
}

#endif
