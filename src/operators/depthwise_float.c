/* DEPTHWISE_CONV_2D for float32. */
#include "operators/conv.h"
#include "operators/fixed_point.h"

berth_status_t berth_depthwise_float_prepare(berth_call_t *call, const berth_conv_t *conv,
                                             berth_contract_t *contract) {
  (void)contract;
  if (conv->bias.present && conv->bias.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs a float32 bias");
  }
  return BERTH_OK;
}

/* One output channel of output pixel (x, row). */
static float sum_of(const berth_conv_t *conv, uint32_t row, uint32_t x, uint32_t channel) {
  uint32_t batch = row / conv->output_h, y = row % conv->output_h;
  uint32_t from = channel / (conv->output_c / conv->input_c);
  berth_taps_t v =
      berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  float sum = 0.0f;
  for (uint32_t i = v.first; i < v.last; i++) {
    uint32_t input_y = v.at + (i - v.first) * conv->dilation_h;
    const float *in = berth_row(&conv->input, batch * conv->input_h + input_y);
    for (uint32_t j = h.first; j < h.last; j++) {
      size_t input_x = h.at + (j - h.first) * conv->dilation_w;
      size_t weight = ((size_t)i * conv->filter_w + j) * conv->output_c + channel;
      sum += in[input_x * conv->input_c + from] * berth_load_float(conv->filter.data, weight);
    }
  }
  return sum;
}

berth_status_t berth_depthwise_float_eval(berth_call_t *call, const berth_conv_t *conv) {
  float min, max;
  berth_activation_range_float(conv->activation, &min, &max);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    float *out = berth_row(&conv->output, row);
    for (uint32_t x = 0; x < conv->output_w; x++) {
      for (uint32_t c = 0; c < conv->output_c; c++) {
        float sum = sum_of(conv, row, x, c);
        if (conv->bias.present) sum += berth_load_float(conv->bias.data, c);
        out[(size_t)x * conv->output_c + c] = fminf(fmaxf(sum, min), max);
      }
    }
  }
  return BERTH_OK;
}
