/* CONV_2D for float activations and int8 weights (hybrid). The range of a whole image decides how
 * its values are quantized, so the operator is whole; they are quantized pixel by pixel, and no
 * 8-bit copy of the image is made. So, once the range of the only image is known, its output may
 * lie over what is done of it: row after row, or pixel after pixel where the filter has but one. */
#include "operators/conv.h"
#include "operators/hybrid.h"
#include "operators/matmul_int8.h"

enum { QUANTIZED, PATCHES }; /* scratch */

#define BLOCK 8u /* channels at a time */

berth_status_t berth_conv_hybrid_prepare(berth_call_t *call, const berth_conv_t *conv,
                                         berth_contract_t *contract) {
  uint32_t scales = conv->filter.scales.count;
  if (conv->bias.present && conv->bias.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs a float32 bias");
  }
  if (scales == 0 || (scales > 1 && scales != conv->output_c)) {
    return berth_refuse(call, "needs one filter scale, or one for each output channel");
  }
  contract->kind = BERTH_WHOLE;
  bool pixelwise = berth_conv_in_place(conv) && conv->stride_h == 1 && conv->stride_w == 1;
  if (conv->batches == 1 && conv->groups == 1) { /* groups may come one after the other */
    contract->ordered = true;
    if (pixelwise) contract->in_step = 1;
    if (pixelwise && conv->input_c == conv->output_c) contract->in_place = 1;
  }
  contract->scratch[QUANTIZED] = conv->filter_h * conv->filter_w * conv->filter_c;
  contract->scratch[PATCHES] = berth_conv_patch_bytes(conv, sizeof(float));
  return BERTH_OK;
}

typedef struct context {
  const berth_conv_t *conv;
  berth_matmul_int8_t matmul;
  berth_hybrid_t hybrid; /* of the image */
  uint32_t cpu;
  uint8_t *quantized; /* one pixel's inputs */
  float min, max;
} context_t;

static void product(const void *context, uint32_t group, const uint8_t *in, size_t in_step,
                    uint8_t *out, size_t out_step, uint32_t count) {
  const context_t *c = context;
  const berth_matmul_int8_t *m = &c->matmul;
  for (uint32_t row = 0; row < count; row++) {
    float *to = (float *)(void *)(out + row * out_step);
    berth_hybrid_quantize(c->hybrid, (const float *)(const void *)(in + row * in_step), m->depth,
                          c->quantized);
    for (uint32_t first = 0; first < m->channels; first += BLOCK) {
      uint32_t channel = group * m->channels + first;
      uint32_t size = m->channels - first < BLOCK ? m->channels - first : BLOCK;
      int32_t sums[BLOCK];
      berth_matmul_int8_sums(m, c->cpu, channel, size, 0, m->depth, c->quantized, sums);
      for (uint32_t i = 0; i < size; i++) {
        float scale = berth_channel_scale(&c->conv->filter, channel + i) * c->hybrid.scale;
        float value = (float)sums[i] * scale;
        if (m->bias != NULL) value += berth_load_float(m->bias, channel + i);
        to[first + i] = fminf(fmaxf(value, c->min), c->max);
      }
    }
  }
}

berth_status_t berth_conv_hybrid_eval(berth_call_t *call, const berth_conv_t *conv) {
  context_t context = {.conv = conv,
                       .matmul = {.filter = conv->filter.data,
                                  .bias = conv->bias.data,
                                  .depth = conv->filter_h * conv->filter_w * conv->filter_c,
                                  .channels = conv->output_c / conv->groups},
                       .cpu = call->cpu,
                       .quantized = call->scratch[QUANTIZED]};
  berth_activation_range_float(conv->activation, &context.min, &context.max);
  uint32_t image = conv->input.elements / conv->batches;
  berth_call_t part = *call;
  for (uint32_t batch = 0; batch < conv->batches; batch++) {
    const float *values = (const float *)(const void *)conv->input.data + (size_t)batch * image;
    float min = 0.0f, max = 0.0f;
    berth_hybrid_span(values, image, &min, &max);
    context.hybrid = berth_hybrid_of(min, max, conv->filter.scales.count > 1);
    context.matmul.input_zero = context.hybrid.zero_point;
    part.first_row = batch * conv->output_h;
    part.last_row = part.first_row + conv->output_h;
    berth_conv_room_t room;
    room.patches = call->scratch[PATCHES];
    room.patch_bytes = berth_conv_patch_bytes(conv, sizeof(float));
    berth_conv_run(&part, conv, sizeof(float), sizeof(float), 0, &room, product, &context);
  }
  return BERTH_OK;
}
