/* FULLY_CONNECTED for float activations and int8 weights (hybrid): each vector is quantized by
 * itself, and is not needed any more when its units are computed. */
#include "operators/fully_connected.h"
#include "operators/hybrid.h"
#include "operators/matmul_int8.h"

enum { QUANTIZED }; /* scratch */

#define BLOCK 8u /* units at a time */

berth_status_t berth_fully_connected_hybrid_prepare(berth_call_t *call,
                                                    const berth_fully_connected_t *layer,
                                                    berth_contract_t *contract) {
  uint32_t scales = layer->filter.scales.count;
  if (layer->bias.present && layer->bias.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs a float32 bias");
  }
  if (scales == 0 || (scales > 1 && scales != layer->units)) {
    return berth_refuse(call, "needs one filter scale, or one for each unit");
  }
  contract->scratch[QUANTIZED] = layer->depth;
  contract->in_step = 1;
  return BERTH_OK;
}

berth_status_t berth_fully_connected_hybrid_eval(berth_call_t *call,
                                                 const berth_fully_connected_t *layer,
                                                 const uint8_t *in, uint8_t *out, uint32_t count) {
  bool asymmetric =
      berth_option_byte(call->op.options, BERTH_FULLY_CONNECTED_ASYMMETRIC_INPUTS, 0) != 0;
  berth_matmul_int8_t matmul = {
      .filter = layer->filter.data, .depth = layer->depth, .channels = layer->units};
  float least, most;
  berth_activation_range_float(layer->activation, &least, &most);
  const float *values = (const float *)(const void *)in;
  float *to = (float *)(void *)out;
  for (uint32_t batch = 0; batch < count; batch++, values += layer->depth, to += layer->units) {
    float min = 0.0f, max = 0.0f;
    berth_hybrid_span(values, layer->depth, &min, &max);
    berth_hybrid_t hybrid = berth_hybrid_of(min, max, asymmetric);
    matmul.input_zero = hybrid.zero_point;
    berth_hybrid_quantize(hybrid, values, layer->depth, call->scratch[QUANTIZED]);
    for (uint32_t first = 0; first < layer->units; first += BLOCK) {
      uint32_t size = layer->units - first < BLOCK ? layer->units - first : BLOCK;
      int32_t sums[BLOCK];
      berth_matmul_int8_sums(&matmul, call->cpu, first, size, 0, layer->depth,
                             call->scratch[QUANTIZED], sums);
      for (uint32_t i = 0; i < size; i++) {
        float scale = berth_channel_scale(&layer->filter, first + i) * hybrid.scale;
        float value = (float)sums[i] * scale;
        if (layer->bias.present) value += berth_load_float(layer->bias.data, first + i);
        to[first + i] = fminf(fmaxf(value, least), most);
      }
    }
  }
  return BERTH_OK;
}
