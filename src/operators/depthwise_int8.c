/* DEPTHWISE_CONV_2D for int8 and uint8: prepare, and the portable evaluation, which sums a block of
 * channels over the taps inside the image, channels innermost so that compilers vectorise. */
#include "operators/depthwise_int8.h"
#include "operators/rescale_arm.h"
#include "operators/rescale_avx2.h"

#define BLOCK 32u /* channels that are summed at a time */

/* Scratch is only for AVX2; a usual filter's fits onto the stack where the plan has no room. */
#define STACK 768u

berth_status_t berth_depthwise_int8_prepare(berth_call_t *call, const berth_conv_t *conv,
                                            berth_contract_t *contract) {
  if (conv->bias.present && conv->bias.type != BERTH_TYPE_INT32) {
    return berth_refuse(call, "needs an int32 bias");
  }
  if (conv->input.type == BERTH_TYPE_UINT8 && berth_rescale_is_per_channel(&conv->filter)) {
    return berth_refuse(call, "takes uint8 with one filter scale only");
  }
  berth_status_t status =
      berth_rescale_check(call, &conv->input, &conv->filter, &conv->output, conv->output_c, 3);
  if (status != BERTH_OK) return status;
  berth_rescale_place(call, conv->filter.scales.count, &contract->workspace);
  contract->wish = berth_depthwise_scratch(conv->filter_h * conv->filter_w);
  return BERTH_OK;
}

static berth_rescale_t rescale_of(const berth_conv_t *conv) {
  return berth_rescale_read(&conv->input, &conv->filter, &conv->output, conv->activation,
                            conv->input.type == BERTH_TYPE_UINT8);
}

berth_status_t berth_depthwise_int8_init(berth_call_t *call, const berth_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_init(call, &rescale, conv->output_c);
  return BERTH_OK;
}

/* sums[i] += (in[channel of i] - input_zero) x (filter[i] - filter_zero). */
static void add_tap(uint32_t *sums, uint32_t count, const berth_depthwise_int8_t *d,
                    const uint8_t *in, const uint8_t *filter, uint32_t first) {
  int32_t input_zero = d->input_zero, filter_zero = d->filter_zero;
  uint32_t multiplier = d->conv->output_c / d->conv->input_c;
  if (multiplier == 1 && !d->is_unsigned) {
    const int8_t *a = (const int8_t *)in + first, *b = (const int8_t *)filter + first;
    for (uint32_t i = 0; i < count; i++) {
      sums[i] += (uint32_t)((int16_t)(a[i] - input_zero) * (int16_t)(b[i] - filter_zero));
    }
    return;
  }
  if (multiplier == 1) {
    const uint8_t *a = in + first, *b = filter + first;
    for (uint32_t i = 0; i < count; i++) {
      sums[i] += (uint32_t)((int16_t)(a[i] - input_zero) * (int16_t)(b[i] - filter_zero));
    }
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t from = (first + i) / multiplier;
    int32_t a = d->is_unsigned ? in[from] : (int8_t)in[from];
    int32_t b = d->is_unsigned ? filter[first + i] : (int8_t)filter[first + i];
    sums[i] += (uint32_t)((a - input_zero) * (b - filter_zero));
  }
}

/* The same for `taps` taps, which are `in_step` bytes apart in the input. */
static void add_taps(uint32_t *sums, uint32_t count, const berth_depthwise_int8_t *d,
                     const uint8_t *in, size_t in_step, const uint8_t *filter, uint32_t taps,
                     uint32_t first) {
  uint32_t channels = d->conv->output_c;
#if BERTH_HAS_ARM
  if (!d->is_unsigned && channels == d->conv->input_c) {
    berth_depthwise_taps_arm(sums, count, d->input_zero, (const int8_t *)in + first, in_step,
                             (const int8_t *)filter + first, channels, taps);
    return;
  }
#endif
  for (uint32_t i = 0; i < taps; i++, in += in_step, filter += channels) {
    add_tap(sums, count, d, in, filter, first);
  }
}

/* Channels [first, first + count) of output pixel (x, row); `factors` are theirs. */
static void pixel(const berth_depthwise_int8_t *d, uint32_t row, uint32_t x, uint32_t first,
                  uint32_t count, const int32_t *multipliers, const int32_t *shifts, uint8_t *out) {
  const berth_conv_t *conv = d->conv;
  uint32_t batch = row / conv->output_h, y = row % conv->output_h;
  berth_taps_t v =
      berth_taps(y, conv->stride_h, conv->pad_h, conv->dilation_h, conv->filter_h, conv->input_h);
  berth_taps_t h =
      berth_taps(x, conv->stride_w, conv->pad_w, conv->dilation_w, conv->filter_w, conv->input_w);
  uint32_t sums[BLOCK];
  for (uint32_t i = 0; i < count; i++) {
    sums[i] = conv->bias.present ? (uint32_t)berth_load_int32(conv->bias.data, first + i) : 0;
  }
  for (uint32_t i = v.first; i < v.last; i++) {
    uint32_t input_y = v.at + (i - v.first) * conv->dilation_h;
    const uint8_t *in = (const uint8_t *)berth_row(&conv->input, batch * conv->input_h + input_y);
    add_taps(sums, count, d, in + (size_t)h.at * conv->input_c,
             (size_t)conv->dilation_w * conv->input_c,
             conv->filter.data + ((size_t)i * conv->filter_w + h.first) * conv->output_c,
             h.last - h.first, first);
  }
#if BERTH_HAS_ARM
  if (!d->is_unsigned) {
    berth_rescale_arm(&d->rescale, (const int32_t *)sums, count, multipliers, shifts, out + first);
    return;
  }
#endif
  for (uint32_t i = 0; i < count; i++) {
    berth_multiplier_t factor = {multipliers[i], shifts[i]};
    out[first + i] = (uint8_t)berth_rescale_apply(&d->rescale, (int32_t)sums[i], factor);
  }
}

static void depthwise_portable(const berth_depthwise_int8_t *d, uint32_t first_row,
                               uint32_t last_row) {
  const berth_conv_t *conv = d->conv;
  for (uint32_t first = 0; first < conv->output_c; first += BLOCK) {
    uint32_t count = conv->output_c - first < BLOCK ? conv->output_c - first : BLOCK;
    int32_t multipliers[BLOCK], shifts[BLOCK];
    berth_rescale_factors(&d->rescale, first, count, multipliers, shifts);
    for (uint32_t row = first_row; row < last_row; row++) {
      uint8_t *out = berth_row(&conv->output, row);
      for (uint32_t x = 0; x < conv->output_w; x++) {
        pixel(d, row, x, first, count, multipliers, shifts, out + (size_t)x * conv->output_c);
      }
    }
  }
}

static berth_depthwise_int8_t depthwise_of(const berth_call_t *call, const berth_conv_t *conv) {
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  berth_depthwise_int8_t depthwise = {.conv = conv,
                                      .is_unsigned = is_unsigned,
                                      .input_zero = conv->input.zero_point,
                                      .filter_zero = is_unsigned ? conv->filter.zero_point : 0,
                                      .rescale = rescale_of(conv)};
  berth_rescale_use(call, &depthwise.rescale, conv->output_c, NULL);
  return depthwise;
}

#if BERTH_HAS_AVX2
static bool run_avx2(const berth_call_t *call, const berth_conv_t *conv) {
  _Alignas(16) uint8_t stack[STACK];
  uint32_t wanted = berth_depthwise_scratch(conv->filter_h * conv->filter_w);
  void *scratch = call->scratch_bytes >= wanted ? call->scratch[0] : wanted <= STACK ? stack : NULL;
  if (!(call->cpu & BERTH_CPU_AVX2) || scratch == NULL) return false;
  berth_depthwise_kept_t *kept = NULL;
  bool was_kept = false;
  if (conv->keep != 0) {
    kept = berth_keep(call, conv->keep, berth_depthwise_kept_bytes(conv), &was_kept);
  }
  berth_depthwise_int8_t own, *depthwise = kept != NULL ? &kept->depthwise : &own;
  if (!was_kept) *depthwise = depthwise_of(call, conv);
  depthwise->conv = conv;
  return berth_depthwise_int8_avx2(depthwise, scratch, kept, was_kept, call->first_row,
                                   call->last_row);
}
#endif

berth_status_t berth_depthwise_int8_eval(berth_call_t *call, const berth_conv_t *conv) {
#if BERTH_HAS_AVX2
  if (run_avx2(call, conv)) return BERTH_OK;
#endif
  berth_depthwise_int8_t depthwise = depthwise_of(call, conv);
  depthwise_portable(&depthwise, call->first_row, call->last_row);
  return BERTH_OK;
}
