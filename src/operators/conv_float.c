/* CONV_2D for float32, with float32 or float16 weights: prepare, and the portable evaluation, which
 * sums straight over the taps that lie in the image, four channels at a time. */
#include "operators/conv_float.h"
#include "operators/avx2.h"
#include "operators/fixed_point.h"
#include "operators/matmul_float.h"

berth_status_t berth_conv_float_prepare(berth_call_t *call, const berth_conv_t *conv,
                                        berth_contract_t *contract) {
  if (conv->bias.present && !berth_is_float(&conv->bias)) {
    return berth_refuse(call, "needs a float bias");
  }
  contract->wish = berth_conv_float_avx2_wish(conv);
  return BERTH_OK;
}

/* What the channels of one output pixel have in common. */
typedef struct pixel {
  const berth_conv_t *conv;
  uint32_t batch;
  berth_taps_t v, h; /* rows and columns of the filter inside the image */
} pixel_t;

/* The sums of four channels of `group`; `weights` are where theirs start. */
static berth_float_sums_t sum_up(const pixel_t *p, uint32_t group,
                                 const uint8_t *const weights[BERTH_FLOAT_CHANNELS], bool half) {
  const berth_conv_t *conv = p->conv;
  /* Neighbouring taps are one span if nothing lies between their inputs. */
  uint32_t taps = p->h.last - p->h.first;
  uint32_t together = berth_conv_float_taps_join(conv) && conv->dilation_w == 1 ? taps : 1;
  berth_float_sums_t sums = {{{0}}};
  for (uint32_t i = p->v.first; i < p->v.last; i++) {
    uint32_t input_y = p->v.at + (i - p->v.first) * conv->dilation_h;
    const float *in = berth_row(&conv->input, p->batch * conv->input_h + input_y);
    for (uint32_t j = 0; j < taps; j += together) {
      size_t at = (size_t)(p->h.at + j * conv->dilation_w) * conv->input_c;
      size_t weight = ((size_t)i * conv->filter_w + p->h.first + j) * conv->filter_c;
      const uint8_t *from[BERTH_FLOAT_CHANNELS];
      for (uint32_t c = 0; c < BERTH_FLOAT_CHANNELS; c++) {
        from[c] = weights[c] + (weight << (half ? 1 : 2));
      }
      berth_float_span(&sums, in + at + (size_t)group * conv->filter_c, from, half,
                       together * conv->filter_c);
    }
  }
  return sums;
}

static void pixel_channels(const berth_conv_float_t *f, const pixel_t *p, float *out) {
  const berth_conv_t *conv = p->conv;
  uint32_t channels = conv->output_c / conv->groups;
  size_t depth = (size_t)conv->filter_h * conv->filter_w * conv->filter_c;
  for (uint32_t group = 0; group < conv->groups; group++) {
    for (uint32_t c = 0; c < channels; c += BERTH_FLOAT_CHANNELS) {
      uint32_t count = channels - c < BERTH_FLOAT_CHANNELS ? channels - c : BERTH_FLOAT_CHANNELS;
      size_t first = (size_t)group * channels + c;
      const uint8_t *weights[BERTH_FLOAT_CHANNELS];
      for (uint32_t i = 0; i < BERTH_FLOAT_CHANNELS; i++) {
        weights[i] = berth_weight_at(&f->filter, (first + (i < count ? i : 0)) * depth);
      }
      berth_float_sums_t sums = sum_up(p, group, weights, f->filter.half);
      for (uint32_t i = 0; i < count; i++) {
        float sum = berth_float_total(&sums, i);
        if (f->bias.data != NULL) sum += berth_weight(&f->bias, first + i);
        out[first + i] = berth_clamp_float(sum, f->min, f->max);
      }
    }
  }
}

static void conv_portable(const berth_conv_float_t *f, uint32_t first_row, uint32_t last_row) {
  const berth_conv_t *conv = f->conv;
  for (uint32_t row = first_row; row < last_row; row++) {
    pixel_t p = {.conv = conv, .batch = row / conv->output_h};
    p.v = berth_taps(row % conv->output_h, conv->stride_h, conv->pad_h, conv->dilation_h,
                     conv->filter_h, conv->input_h);
    float *out = berth_row(&conv->output, row);
    for (uint32_t x = 0; x < conv->output_w; x++) {
      p.h = berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w,
                       conv->input_w);
      pixel_channels(f, &p, out + (size_t)x * conv->output_c);
    }
  }
}

berth_status_t berth_conv_float_eval(berth_call_t *call, const berth_conv_t *conv) {
  berth_conv_float_t f = {
      .conv = conv, .filter = berth_weights(&conv->filter), .bias = berth_weights(&conv->bias)};
  berth_activation_range_float(conv->activation, &f.min, &f.max);
#if BERTH_HAS_AVX2
  if (call->cpu & BERTH_CPU_AVX2) {
    berth_conv_float_avx2(&f, call);
    return BERTH_OK;
  }
#endif
  conv_portable(&f, call->first_row, call->last_row);
  return BERTH_OK;
}
