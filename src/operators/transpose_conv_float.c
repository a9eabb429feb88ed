/* Transposed convolution of float images, with float32 or float16 weights: four channels at a time,
 * along the depth of each tap. */
#include "operators/fixed_point.h"
#include "operators/matmul_float.h"
#include "operators/transpose_conv.h"

berth_status_t berth_transpose_conv_float_prepare(berth_call_t *call,
                                                  const berth_transpose_conv_t *conv,
                                                  berth_contract_t *contract) {
  (void)contract;
  if (conv->bias.present && !berth_is_float(&conv->bias)) {
    return berth_refuse(call, "needs a float bias");
  }
  return BERTH_OK;
}

/* The sums of up to four channels from `first` on, of output pixel (row, x). */
static berth_float_sums_t sum_up(const berth_transpose_conv_t *conv, const berth_weights_t *filter,
                                 uint32_t batch, const berth_back_taps_t *v,
                                 const berth_back_taps_t *h, uint32_t first, uint32_t count) {
  size_t tap = conv->input_c, line = conv->filter_w * tap, depth = conv->filter_h * line;
  berth_float_sums_t sums = {{{0}}};
  for (uint32_t i = 0; i < v->count; i++) {
    const float *in = berth_row(&conv->input, batch * conv->input_h + v->at - i);
    for (uint32_t j = 0; j < h->count; j++) {
      const uint8_t *weights[BERTH_FLOAT_CHANNELS];
      size_t at = (v->first + i * conv->stride_h) * line + (h->first + j * conv->stride_w) * tap;
      for (uint32_t c = 0; c < BERTH_FLOAT_CHANNELS; c++) {
        weights[c] = berth_weight_at(filter, (first + (c < count ? c : 0)) * depth + at);
      }
      berth_float_span(&sums, in + (h->at - j) * tap, weights, filter->half, conv->input_c);
    }
  }
  return sums;
}

berth_status_t berth_transpose_conv_float_eval(berth_call_t *call,
                                               const berth_transpose_conv_t *conv) {
  berth_weights_t filter = berth_weights(&conv->filter), bias = berth_weights(&conv->bias);
  float min, max;
  berth_activation_range_float(conv->activation, &min, &max);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t batch = row / conv->output_h;
    berth_back_taps_t v = berth_back_taps(row % conv->output_h, conv->stride_h, conv->pad_h,
                                          conv->filter_h, conv->input_h);
    float *out = berth_row(&conv->output, row);
    for (uint32_t x = 0; x < conv->output_w; x++, out += conv->output_c) {
      berth_back_taps_t h =
          berth_back_taps(x, conv->stride_w, conv->pad_w, conv->filter_w, conv->input_w);
      for (uint32_t c = 0; c < conv->output_c; c += BERTH_FLOAT_CHANNELS) {
        uint32_t count =
            conv->output_c - c < BERTH_FLOAT_CHANNELS ? conv->output_c - c : BERTH_FLOAT_CHANNELS;
        berth_float_sums_t sums = sum_up(conv, &filter, batch, &v, &h, c, count);
        for (uint32_t i = 0; i < count; i++) {
          float sum = berth_float_total(&sums, i);
          if (bias.data != NULL) sum += berth_weight(&bias, c + i);
          out[c + i] = berth_clamp_float(sum, min, max);
        }
      }
    }
  }
  return BERTH_OK;
}
