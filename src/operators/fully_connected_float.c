/* FULLY_CONNECTED for float32, with float32 or float16 weights. */
#include "operators/fixed_point.h"
#include "operators/fully_connected.h"
#include "operators/matmul_float.h"

berth_status_t berth_fully_connected_float_prepare(berth_call_t *call,
                                                   const berth_fully_connected_t *layer,
                                                   berth_contract_t *contract) {
  (void)contract;
  if (layer->bias.present && !berth_is_float(&layer->bias)) {
    return berth_refuse(call, "needs a float bias");
  }
  return BERTH_OK;
}

static berth_matmul_float_t matmul_of(const berth_fully_connected_t *layer) {
  berth_matmul_float_t m = {.filter = berth_weights(&layer->filter),
                            .bias = berth_weights(&layer->bias),
                            .depth = layer->depth,
                            .count = layer->units};
  berth_activation_range_float(layer->activation, &m.min, &m.max);
  return m;
}

berth_status_t berth_fully_connected_float_eval(berth_call_t *call,
                                                const berth_fully_connected_t *layer,
                                                const uint8_t *in, uint8_t *out, uint32_t count) {
  berth_matmul_float_t m = matmul_of(layer);
  berth_matmul_float(&m, call->cpu, (const float *)(const void *)in, layer->depth,
                     (float *)(void *)out, layer->units, count);
  return BERTH_OK;
}

void berth_fully_connected_float_accumulate(const berth_call_t *call,
                                            const berth_fully_connected_t *layer, uint32_t at,
                                            const uint8_t *in, uint32_t count) {
  berth_matmul_float_t m = matmul_of(layer);
  berth_matmul_float_add(&m, call->cpu, at, count, (const float *)(const void *)in,
                         call->scratch[0]);
}

void berth_fully_connected_float_finish(const berth_call_t *call,
                                        const berth_fully_connected_t *layer, uint8_t *out) {
  berth_matmul_float_t m = matmul_of(layer);
  berth_matmul_float_finish(&m, call->cpu, call->scratch[0], (float *)(void *)out);
}
