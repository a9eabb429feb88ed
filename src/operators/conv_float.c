/* CONV_2D for float32. */
#include "operators/conv.h"
#include "operators/fixed_point.h"

enum { PATCHES }; /* scratch */

berth_status_t berth_conv_float_prepare(berth_call_t *call, const berth_conv_t *conv,
                                        berth_contract_t *contract) {
  if (conv->bias.present && conv->bias.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs a float32 bias");
  }
  contract->scratch[PATCHES] = berth_conv_patch_bytes(conv, sizeof(float));
  return BERTH_OK;
}

static void product(const void *context, uint32_t group, const uint8_t *in, size_t in_step,
                    uint8_t *out, size_t out_step, uint32_t count) {
  const berth_conv_t *conv = context;
  uint32_t depth = conv->filter_h * conv->filter_w * conv->filter_c;
  uint32_t channels = conv->output_c / conv->groups;
  float min, max;
  berth_activation_range_float(conv->activation, &min, &max);
  for (uint32_t row = 0; row < count; row++) {
    const float *a = (const float *)(const void *)(in + row * in_step);
    float *to = (float *)(void *)(out + row * out_step);
    for (uint32_t i = 0; i < channels; i++) {
      uint32_t channel = group * channels + i;
      float sum = 0.0f;
      for (uint32_t k = 0; k < depth; k++) {
        sum += a[k] * berth_load_float(conv->filter.data, (size_t)channel * depth + k);
      }
      if (conv->bias.present) sum += berth_load_float(conv->bias.data, channel);
      to[i] = fminf(fmaxf(sum, min), max);
    }
  }
}

berth_status_t berth_conv_float_eval(berth_call_t *call, const berth_conv_t *conv) {
  berth_conv_run(call, conv, sizeof(float), sizeof(float), 0, call->scratch[PATCHES], product,
                 conv);
  return BERTH_OK;
}
