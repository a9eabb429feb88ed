/* DEPTHWISE_CONV_2D for int16 activations and int8 weights; sums have 64 bits. */
#include "operators/conv.h"
#include "operators/matmul_int16.h"

#define BLOCK 16u /* channels that are summed at a time */

berth_status_t berth_depthwise_int16_prepare(berth_call_t *call, const berth_conv_t *conv,
                                             berth_contract_t *contract) {
  berth_status_t status =
      berth_rescale_check(call, &conv->input, &conv->filter, &conv->output, conv->output_c, 3);
  if (status != BERTH_OK) return status;
  status = berth_int16_check(call, &conv->input, &conv->filter, &conv->bias, &conv->output, false);
  if (status != BERTH_OK) return status;
  berth_rescale_place(call, conv->filter.scales.count, &contract->workspace);
  return BERTH_OK;
}

static berth_rescale_t rescale_of(const berth_conv_t *conv) {
  return berth_rescale_read(&conv->input, &conv->filter, &conv->output, conv->activation, false);
}

berth_status_t berth_depthwise_int16_init(berth_call_t *call, const berth_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_init(call, &rescale, conv->output_c);
  return BERTH_OK;
}

/* Channels [first, first + count) of output pixel (x, row). */
static void pixel(const berth_conv_t *conv, const berth_rescale_t *rescale, uint32_t row,
                  uint32_t x, uint32_t first, uint32_t count, const int32_t *multipliers,
                  const int32_t *shifts, int16_t *out) {
  uint32_t multiplier = conv->output_c / conv->input_c;
  uint32_t batch = row / conv->output_h, y = row % conv->output_h;
  berth_taps_t v =
      berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  int64_t sums[BLOCK];
  for (uint32_t i = 0; i < count; i++) {
    sums[i] = conv->bias.present ? berth_load_bias64(conv->bias.data, first + i) : 0;
  }
  for (uint32_t i = v.first; i < v.last; i++) {
    uint32_t input_y = v.at + (i - v.first) * conv->dilation_h;
    const int16_t *in = berth_row(&conv->input, batch * conv->input_h + input_y);
    for (uint32_t j = h.first; j < h.last; j++) {
      const int16_t *a = in + (size_t)(h.at + (j - h.first) * conv->dilation_w) * conv->input_c;
      const int8_t *b = (const int8_t *)conv->filter.data +
                        ((size_t)i * conv->filter_w + j) * conv->output_c + first;
      for (uint32_t k = 0; k < count; k++) {
        sums[k] += a[multiplier == 1 ? first + k : (first + k) / multiplier] * b[k];
      }
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    berth_multiplier_t factor = {multipliers[i], shifts[i]};
    out[first + i] = berth_int16_rescale(rescale, sums[i], false, factor);
  }
}

berth_status_t berth_depthwise_int16_eval(berth_call_t *call, const berth_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_use(call, &rescale, conv->output_c, NULL);
  for (uint32_t first = 0; first < conv->output_c; first += BLOCK) {
    uint32_t count = conv->output_c - first < BLOCK ? conv->output_c - first : BLOCK;
    int32_t multipliers[BLOCK], shifts[BLOCK];
    berth_rescale_factors(&rescale, first, count, multipliers, shifts);
    for (uint32_t row = call->first_row; row < call->last_row; row++) {
      int16_t *out = berth_row(&conv->output, row);
      for (uint32_t x = 0; x < conv->output_w; x++) {
        pixel(conv, &rescale, row, x, first, count, multipliers, shifts,
              out + (size_t)x * conv->output_c);
      }
    }
  }
  return BERTH_OK;
}
