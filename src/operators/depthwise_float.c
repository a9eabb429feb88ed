/* DEPTHWISE_CONV_2D for float32, with float32 or float16 weights: prepare, and the portable
 * evaluation, which sums a block of channels over the taps inside the image, channels innermost so
 * that compilers vectorise. */
#include "operators/depthwise_float.h"
#include "operators/avx2.h"
#include "operators/fixed_point.h"
#include "operators/matmul_float.h"

#define BLOCK 16u /* channels that are summed at a time */

berth_status_t berth_depthwise_float_prepare(berth_call_t *call, const berth_conv_t *conv,
                                             berth_contract_t *contract) {
  (void)contract;
  if (conv->bias.present && !berth_is_float(&conv->bias)) {
    return berth_refuse(call, "needs a float bias");
  }
  return BERTH_OK;
}

/* sums[i] += in[channel of i] x filter[i], for output channels from `first` on. */
static void add_tap(float *sums, uint32_t count, const float *in, uint32_t first,
                    uint32_t multiplier, const uint8_t *weights, bool half) {
  if (multiplier == 1 && half) {
    for (uint32_t i = 0; i < count; i++) {
      sums[i] += in[first + i] * berth_weight_load(weights, true, i);
    }
  } else if (multiplier == 1) {
    for (uint32_t i = 0; i < count; i++) {
      sums[i] += in[first + i] * berth_weight_load(weights, false, i);
    }
  } else {
    for (uint32_t i = 0; i < count; i++) {
      sums[i] += in[(first + i) / multiplier] * berth_weight_load(weights, half, i);
    }
  }
}

/* Channels [first, first + count) of output pixel (x, row). */
static void pixel(const berth_depthwise_float_t *d, uint32_t row, uint32_t x, uint32_t first,
                  uint32_t count, float *out) {
  const berth_conv_t *conv = d->conv;
  uint32_t batch = row / conv->output_h, y = row % conv->output_h;
  uint32_t multiplier = conv->output_c / conv->input_c;
  berth_taps_t v =
      berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  float sums[BLOCK] = {0.0f};
  for (uint32_t i = 0; d->bias.data != NULL && i < count; i++) {
    sums[i] = berth_weight(&d->bias, first + i);
  }
  for (uint32_t i = v.first; i < v.last; i++) {
    uint32_t input_y = v.at + (i - v.first) * conv->dilation_h;
    const float *in = berth_row(&conv->input, batch * conv->input_h + input_y);
    for (uint32_t j = h.first; j < h.last; j++) {
      size_t input_x = h.at + (size_t)(j - h.first) * conv->dilation_w;
      size_t weight = ((size_t)i * conv->filter_w + j) * conv->output_c + first;
      add_tap(sums, count, in + input_x * conv->input_c, first, multiplier,
              berth_weight_at(&d->filter, weight), d->filter.half);
    }
  }
  for (uint32_t i = 0; i < count; i++) out[first + i] = berth_clamp_float(sums[i], d->min, d->max);
}

static void depthwise_portable(const berth_depthwise_float_t *d, uint32_t first_row,
                               uint32_t last_row) {
  const berth_conv_t *conv = d->conv;
  for (uint32_t row = first_row; row < last_row; row++) {
    float *out = berth_row(&conv->output, row);
    for (uint32_t x = 0; x < conv->output_w; x++) {
      for (uint32_t first = 0; first < conv->output_c; first += BLOCK) {
        uint32_t count = conv->output_c - first < BLOCK ? conv->output_c - first : BLOCK;
        pixel(d, row, x, first, count, out + (size_t)x * conv->output_c);
      }
    }
  }
}

berth_status_t berth_depthwise_float_eval(berth_call_t *call, const berth_conv_t *conv) {
  berth_depthwise_float_t d = {
      .conv = conv, .filter = berth_weights(&conv->filter), .bias = berth_weights(&conv->bias)};
  berth_activation_range_float(conv->activation, &d.min, &d.max);
#if BERTH_HAS_AVX2
  if ((call->cpu & BERTH_CPU_AVX2) && berth_depthwise_float_avx2_takes(conv)) {
    berth_depthwise_float_avx2(&d, call->first_row, call->last_row);
    return BERTH_OK;
  }
#endif
  depthwise_portable(&d, call->first_row, call->last_row);
  return BERTH_OK;
}
