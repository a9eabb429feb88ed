/* FULLY_CONNECTED for int8 and uint8: a matrix product of 8-bit rows. */
#include "operators/fully_connected.h"
#include "operators/matmul_int8.h"

#define BLOCK BERTH_FULLY_CONNECTED_UNITS

berth_status_t berth_fully_connected_int8_prepare(berth_call_t *call,
                                                  const berth_fully_connected_t *layer,
                                                  berth_contract_t *contract) {
  if (layer->bias.present && layer->bias.type != BERTH_TYPE_INT32) {
    return berth_refuse(call, "needs an int32 bias");
  }
  berth_rescale_place(call, layer->filter.scales.count, &contract->workspace);
  return berth_rescale_check(call, &layer->input, &layer->filter, &layer->output, layer->units, 0);
}

static berth_rescale_t rescale_of(const berth_fully_connected_t *layer) {
  berth_rescale_t rescale =
      berth_rescale_read(&layer->input, &layer->filter, &layer->output, layer->activation, true);
  rescale.ties_up = layer->input.type == BERTH_TYPE_UINT8;
  return rescale;
}

berth_status_t berth_fully_connected_int8_init(berth_call_t *call,
                                               const berth_fully_connected_t *layer) {
  berth_rescale_t rescale = rescale_of(layer);
  berth_rescale_init(call, &rescale, layer->units);
  return BERTH_OK;
}

static berth_matmul_int8_t matmul_of(const berth_call_t *call,
                                     const berth_fully_connected_t *layer) {
  bool per_channel = berth_rescale_is_per_channel(&layer->filter);
  berth_matmul_int8_t matmul = {.filter = layer->filter.data,
                                .bias = layer->bias.data,
                                .depth = layer->depth,
                                .channels = layer->units,
                                .is_unsigned = layer->input.type == BERTH_TYPE_UINT8,
                                .input_zero = layer->input.zero_point,
                                .filter_zero = per_channel ? 0 : layer->filter.zero_point,
                                .rescale = rescale_of(layer)};
  berth_rescale_use(call, &matmul.rescale, layer->units, NULL);
  return matmul;
}

berth_status_t berth_fully_connected_int8_eval(berth_call_t *call,
                                               const berth_fully_connected_t *layer,
                                               const uint8_t *in, uint8_t *out, uint32_t count) {
  berth_matmul_int8_t matmul = matmul_of(call, layer);
  berth_matmul_int8(&matmul, call->cpu, 0, in, layer->depth, out, layer->units, count);
  return BERTH_OK;
}

void berth_fully_connected_int8_accumulate(const berth_call_t *call,
                                           const berth_fully_connected_t *layer, uint32_t at,
                                           const uint8_t *in, uint32_t count) {
  berth_matmul_int8_t matmul = matmul_of(call, layer);
  int32_t *totals = call->scratch[0];
  for (uint32_t first = 0; first < layer->units; first += BLOCK) {
    uint32_t size = layer->units - first < BLOCK ? layer->units - first : BLOCK;
    int32_t sums[BLOCK];
    berth_matmul_int8_sums(&matmul, call->cpu, first, size, at, count, in, sums);
    for (uint32_t i = 0; i < size; i++) {
      totals[first + i] = (int32_t)((uint32_t)totals[first + i] + (uint32_t)sums[i]);
    }
  }
}

void berth_fully_connected_int8_finish(const berth_call_t *call,
                                       const berth_fully_connected_t *layer, uint8_t *out) {
  berth_matmul_int8_t matmul = matmul_of(call, layer);
  const int32_t *totals = call->scratch[0];
  for (uint32_t first = 0; first < layer->units; first += BLOCK) {
    uint32_t size = layer->units - first < BLOCK ? layer->units - first : BLOCK;
    int32_t multipliers[BLOCK], shifts[BLOCK];
    berth_rescale_factors(&matmul.rescale, first, size, multipliers, shifts);
    for (uint32_t i = 0; i < size; i++) {
      uint32_t sum = (uint32_t)totals[first + i];
      if (matmul.bias != NULL) sum += (uint32_t)berth_load_int32(matmul.bias, first + i);
      berth_multiplier_t factor = {multipliers[i], shifts[i]};
      out[first + i] = (uint8_t)berth_rescale_apply(&matmul.rescale, (int32_t)sum, factor);
    }
  }
}
