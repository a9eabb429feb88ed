/* FULLY_CONNECTED for float32. */
#include "operators/fixed_point.h"
#include "operators/fully_connected.h"

berth_status_t berth_fully_connected_float_prepare(berth_call_t *call,
                                                   const berth_fully_connected_t *layer,
                                                   berth_contract_t *contract) {
  (void)contract;
  if (layer->bias.present && layer->bias.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs a float32 bias");
  }
  return BERTH_OK;
}

berth_status_t berth_fully_connected_float_eval(berth_call_t *call,
                                                const berth_fully_connected_t *layer,
                                                const uint8_t *in, uint8_t *out, uint32_t count) {
  (void)call;
  float min, max;
  berth_activation_range_float(layer->activation, &min, &max);
  const float *a = (const float *)(const void *)in;
  float *to = (float *)(void *)out;
  for (uint32_t batch = 0; batch < count; batch++, a += layer->depth, to += layer->units) {
    for (uint32_t unit = 0; unit < layer->units; unit++) {
      float sum = 0.0f;
      for (uint32_t k = 0; k < layer->depth; k++) {
        sum += a[k] * berth_load_float(layer->filter.data, (size_t)unit * layer->depth + k);
      }
      if (layer->bias.present) sum += berth_load_float(layer->bias.data, unit);
      to[unit] = fminf(fmaxf(sum, min), max);
    }
  }
  return BERTH_OK;
}
