/* Factors of quantized products, from the scales in the model. */
#include "operators/rescale.h"

#define FACTOR_BYTES 8u /* a multiplier and a shift; all multipliers come first */

berth_status_t berth_rescale_check(berth_call_t *call, const berth_value_t *input,
                                   const berth_value_t *filter, const berth_value_t *output,
                                   uint32_t channels, int32_t dimension) {
  if (!(input->scale > 0.0f) || !(output->scale > 0.0f) || filter->scales.count == 0) {
    return berth_refuse(call, "needs the scales of its input, filter and output");
  }
  if (filter->scales.count > 1 &&
      (filter->scales.count != channels || filter->quantized_dimension != dimension)) {
    return berth_refuse(call, "needs one filter scale, or one for each output channel");
  }
  for (uint32_t i = 0; i < filter->scales.count; i++) {
    berth_multiplier_t factor = berth_channel_multiplier(input, filter, output, i);
    if (factor.multiplier < 0 || factor.shift > BERTH_SHIFT_MAX) {
      return berth_refuse(call, "has a filter scale that is out of range");
    }
  }
  return BERTH_OK;
}

berth_rescale_t berth_rescale_read(const berth_value_t *input, const berth_value_t *filter,
                                   const berth_value_t *output, int32_t activation,
                                   bool per_tensor_float) {
  berth_rescale_t rescale = {.input_scale = (double)input->scale,
                             .output_scale = (double)output->scale,
                             .zero_point = output->zero_point};
  if (berth_rescale_is_per_channel(filter)) {
    rescale.scales = filter->scales.data;
  } else {
    rescale.factor = per_tensor_float ? berth_tensor_multiplier(input, filter, output)
                                      : berth_channel_multiplier(input, filter, output, 0);
  }
  berth_activation_range(output, activation, &rescale.min, &rescale.max);
  return rescale;
}

void berth_rescale_factors(const berth_rescale_t *rescale, uint32_t first, uint32_t count,
                           int32_t *multipliers, int32_t *shifts) {
  if (rescale->multipliers != NULL) {
    memcpy(multipliers, rescale->multipliers + first, count * sizeof *multipliers);
    memcpy(shifts, rescale->shifts + first, count * sizeof *shifts);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    berth_multiplier_t factor = rescale->factor;
    if (rescale->scales != NULL) {
      double scale = (double)berth_load_float(rescale->scales, first + i);
      factor = berth_quantize_multiplier(rescale->input_scale * scale / rescale->output_scale);
    }
    multipliers[i] = factor.multiplier;
    shifts[i] = factor.shift;
  }
}

void berth_rescale_place(const berth_call_t *call, uint32_t channels, uint32_t *workspace) {
  if (channels > 1 && call->store_multipliers) *workspace = FACTOR_BYTES * channels;
}

uint32_t berth_rescale_bytes(const berth_call_t *call, uint32_t channels) {
  return channels > 1 && !call->store_multipliers ? FACTOR_BYTES * channels : 0;
}

void berth_rescale_init(const berth_call_t *call, const berth_rescale_t *rescale,
                        uint32_t channels) {
  if (rescale->scales == NULL || !call->store_multipliers) return;
  int32_t *multipliers = call->workspace;
  berth_rescale_factors(rescale, 0, channels, multipliers, multipliers + channels);
}

void berth_rescale_use(const berth_call_t *call, berth_rescale_t *rescale, uint32_t channels,
                       void *scratch) {
  if (rescale->scales == NULL) return;
  int32_t *multipliers = call->store_multipliers ? call->workspace : scratch;
  if (multipliers == NULL) return;
  int32_t *shifts = multipliers + channels;
  if (!call->store_multipliers) berth_rescale_factors(rescale, 0, channels, multipliers, shifts);
  rescale->multipliers = multipliers;
  rescale->shifts = shifts;
}
