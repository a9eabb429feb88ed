/* FULLY_CONNECTED for int16 activations and int8 weights: a matrix product of int16 rows. */
#include "operators/fully_connected.h"
#include "operators/matmul_int16.h"

berth_status_t berth_fully_connected_int16_prepare(berth_call_t *call,
                                                   const berth_fully_connected_t *layer,
                                                   berth_contract_t *contract) {
  berth_status_t status =
      berth_rescale_check(call, &layer->input, &layer->filter, &layer->output, layer->units, 0);
  if (status != BERTH_OK) return status;
  berth_rescale_place(call, layer->filter.scales.count, &contract->workspace);
  return berth_int16_check(call, &layer->input, &layer->filter, &layer->bias, &layer->output,
                           false);
}

static berth_rescale_t rescale_of(const berth_fully_connected_t *layer) {
  return berth_rescale_read(&layer->input, &layer->filter, &layer->output, layer->activation, true);
}

berth_status_t berth_fully_connected_int16_init(berth_call_t *call,
                                                const berth_fully_connected_t *layer) {
  berth_rescale_t rescale = rescale_of(layer);
  berth_rescale_init(call, &rescale, layer->units);
  return BERTH_OK;
}

static berth_matmul_int16_t matmul_of(const berth_call_t *call,
                                      const berth_fully_connected_t *layer) {
  bool per_channel = berth_rescale_is_per_channel(&layer->filter);
  berth_matmul_int16_t matmul = {.filter = layer->filter.data,
                                 .bias = layer->bias.data,
                                 .depth = layer->depth,
                                 .channels = layer->units,
                                 .filter_zero = per_channel ? 0 : layer->filter.zero_point,
                                 .rescale = rescale_of(layer)};
  berth_rescale_use(call, &matmul.rescale, layer->units, NULL);
  return matmul;
}

berth_status_t berth_fully_connected_int16_eval(berth_call_t *call,
                                                const berth_fully_connected_t *layer,
                                                const uint8_t *in, uint8_t *out, uint32_t count) {
  berth_matmul_int16_t matmul = matmul_of(call, layer);
  berth_matmul_int16(&matmul, 0, in, 2 * (size_t)layer->depth, out, 2 * (size_t)layer->units,
                     count);
  return BERTH_OK;
}

void berth_fully_connected_int16_accumulate(const berth_call_t *call,
                                            const berth_fully_connected_t *layer, uint32_t at,
                                            const uint8_t *in, uint32_t count) {
  berth_matmul_int16_t matmul = matmul_of(call, layer);
  berth_matmul_int16_add(&matmul, at, count, in, call->scratch[0]);
}

void berth_fully_connected_int16_finish(const berth_call_t *call,
                                        const berth_fully_connected_t *layer, uint8_t *out) {
  berth_matmul_int16_t matmul = matmul_of(call, layer);
  berth_matmul_int16_finish(&matmul, call->scratch[0], out);
}
