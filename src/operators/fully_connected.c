/* FULLY_CONNECTED: the kernel, which picks a variant by the types of its tensors.
 *
 * Where the output keeps the input's dimensions, rows map to rows and it is row-local; otherwise it
 * flattens whatever the input is. A single vector can be accumulated, in pieces of any length.
 */
#include "operators/fully_connected.h"
#include "operators/kernels.h"
#include "operators/matmul_float.h"
#include "operators/shape.h"
#include <string.h>

static const berth_fully_connected_variant_t variants[] = {
    {.input = BERTH_TYPE_FLOAT32,
     .filter = BERTH_TYPE_FLOAT32,
     .output = BERTH_TYPE_FLOAT32,
     .prepare = berth_fully_connected_float_prepare,
     .eval = berth_fully_connected_float_eval,
     .accumulate = berth_fully_connected_float_accumulate,
     .finish = berth_fully_connected_float_finish,
     .sum_bytes = BERTH_FLOAT_LANES * sizeof(float),
     .sum_extra = BERTH_FLOAT_LANES * sizeof(float)},
    {.input = BERTH_TYPE_FLOAT32,
     .filter = BERTH_TYPE_FLOAT16,
     .output = BERTH_TYPE_FLOAT32,
     .prepare = berth_fully_connected_float_prepare,
     .eval = berth_fully_connected_float_eval,
     .accumulate = berth_fully_connected_float_accumulate,
     .finish = berth_fully_connected_float_finish,
     .sum_bytes = BERTH_FLOAT_LANES * sizeof(float),
     .sum_extra = BERTH_FLOAT_LANES * sizeof(float)},
    {.input = BERTH_TYPE_FLOAT32,
     .filter = BERTH_TYPE_INT8,
     .output = BERTH_TYPE_FLOAT32,
     .prepare = berth_fully_connected_hybrid_prepare,
     .eval = berth_fully_connected_hybrid_eval},
    {.input = BERTH_TYPE_INT8,
     .filter = BERTH_TYPE_INT8,
     .output = BERTH_TYPE_INT8,
     .prepare = berth_fully_connected_int8_prepare,
     .init = berth_fully_connected_int8_init,
     .eval = berth_fully_connected_int8_eval,
     .accumulate = berth_fully_connected_int8_accumulate,
     .finish = berth_fully_connected_int8_finish,
     .sum_bytes = sizeof(int32_t)},
    {.input = BERTH_TYPE_UINT8,
     .filter = BERTH_TYPE_UINT8,
     .output = BERTH_TYPE_UINT8,
     .prepare = berth_fully_connected_int8_prepare,
     .init = berth_fully_connected_int8_init,
     .eval = berth_fully_connected_int8_eval,
     .accumulate = berth_fully_connected_int8_accumulate,
     .finish = berth_fully_connected_int8_finish,
     .sum_bytes = sizeof(int32_t)},
    {.input = BERTH_TYPE_INT16,
     .filter = BERTH_TYPE_INT8,
     .output = BERTH_TYPE_INT16,
     .prepare = berth_fully_connected_int16_prepare,
     .init = berth_fully_connected_int16_init,
     .eval = berth_fully_connected_int16_eval,
     .accumulate = berth_fully_connected_int16_accumulate,
     .finish = berth_fully_connected_int16_finish,
     .sum_bytes = sizeof(int64_t)},
};

static const berth_fully_connected_variant_t *find(const berth_fully_connected_t *layer) {
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
    const berth_fully_connected_variant_t *v = &variants[i];
    if (v->input == layer->input.type && v->filter == layer->filter.type &&
        v->output == layer->output.type) {
      return v;
    }
  }
  return NULL;
}

static berth_status_t read_layer(berth_call_t *call, berth_fully_connected_t *layer) {
  berth_table_t options = call->op.options;
  *layer = (berth_fully_connected_t){
      .input = berth_input(call, 0),
      .filter = berth_input(call, 1),
      .bias = berth_input(call, 2),
      .output = berth_output(call, 0),
      .keep_dims = berth_option_byte(options, BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS, 0) != 0,
      .activation = berth_option_byte(options, BERTH_FULLY_CONNECTED_ACTIVATION, 0)};
  const berth_value_t *input = &layer->input, *filter = &layer->filter;
  if (!input->present || !filter->present || !layer->output.present) {
    return berth_refuse(call, "needs an input, a filter and an output");
  }
  if (!berth_is_aligned(input)) return berth_refuse(call, "takes no unaligned constant");
  if (berth_option_byte(options, BERTH_FULLY_CONNECTED_WEIGHTS_FORMAT, 0) !=
      BERTH_WEIGHTS_DEFAULT) {
    return berth_refuse(call, "takes weights in the default format only");
  }
  if (layer->activation < 0 || layer->activation > BERTH_ACTIVATION_RELU6) {
    return berth_refuse(call, "has a fused activation that it doesn't support");
  }
  if (filter->rank != 2 || filter->elements == 0) return berth_refuse(call, "needs a 2-D filter");
  layer->units = (uint32_t)filter->dims[0];
  layer->depth = (uint32_t)filter->dims[1];
  if (input->elements % layer->depth != 0) {
    return berth_refuse(call, "has an input that does not fit the filter");
  }
  layer->batches = input->elements / layer->depth;
  if (layer->keep_dims &&
      (input->rank == 0 || (uint32_t)input->dims[input->rank - 1] != layer->depth)) {
    return berth_refuse(call, "has an input whose last dimension does not fit the filter");
  }
  if (layer->bias.present && layer->bias.elements != layer->units) {
    return berth_refuse(call, "needs one bias for each unit");
  }
  return BERTH_OK;
}

static uint64_t accumulator_bytes(const berth_fully_connected_t *layer,
                                  const berth_fully_connected_variant_t *variant) {
  uint64_t blocks =
      ((uint64_t)layer->units + BERTH_FULLY_CONNECTED_UNITS - 1) / BERTH_FULLY_CONNECTED_UNITS;
  return blocks * BERTH_FULLY_CONNECTED_UNITS * variant->sum_bytes + variant->sum_extra;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_fully_connected_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  const berth_fully_connected_variant_t *variant = find(&layer);
  if (variant == NULL) return berth_refuse(call, "does not take this combination of types");
  if (layer.keep_dims) {
    int32_t dims[BERTH_RANK_MAX];
    memcpy(dims, layer.input.dims, sizeof dims);
    dims[layer.input.rank - 1] = (int32_t)layer.units;
    status = berth_set_shape(call, 0, layer.input.rank, dims);
  } else {
    int32_t dims[2] = {(int32_t)layer.batches, (int32_t)layer.units};
    status = berth_set_shape(call, 0, 2, dims);
  }
  if (status != BERTH_OK) return status;
  if (layer.keep_dims && layer.input.rank >= 3) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] = berth_window_same();
    contract->windows[1] = contract->windows[2] = berth_window_all();
  } else if (layer.batches == 1 && variant->accumulate != NULL) {
    uint64_t bytes = accumulator_bytes(&layer, variant);
    if (bytes <= UINT32_MAX) {
      contract->kind = BERTH_ACCUMULATING;
      contract->accumulator = (uint32_t)bytes;
      contract->any_rows = true;
      contract->windows[0] = berth_window_same();
      contract->windows[1] = contract->windows[2] = berth_window_all();
    }
  }
  return variant->prepare(call, &layer, contract);
}

static berth_status_t init(berth_call_t *call) {
  berth_fully_connected_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  const berth_fully_connected_variant_t *variant = find(&layer);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  return variant->init != NULL ? variant->init(call, &layer) : BERTH_OK;
}

static berth_status_t eval(berth_call_t *call) {
  berth_fully_connected_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  const berth_fully_connected_variant_t *variant = find(&layer);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  if (!layer.keep_dims || layer.input.rank < 3) {
    return variant->eval(call, &layer, layer.input.data, layer.output.data, layer.batches);
  }
  uint32_t count = layer.batches / layer.input.rows;
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    status = variant->eval(call, &layer, berth_row(&layer.input, row),
                           berth_row(&layer.output, row), count);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* ---- Piece by piece ------------------------------------------------------------------------- */

static berth_status_t begin(berth_call_t *call) {
  berth_fully_connected_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  const berth_fully_connected_variant_t *variant = find(&layer);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  memset(call->scratch[0], 0, (size_t)accumulator_bytes(&layer, variant));
  return BERTH_OK;
}

/* Rows that lie one after the other in the ring are one piece. */
static berth_status_t accumulate(berth_call_t *call) {
  berth_fully_connected_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  const berth_fully_connected_variant_t *variant = find(&layer);
  const berth_value_t *input = &layer.input;
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  uint32_t element = berth_element_bytes(input->type);
  for (uint32_t row = call->first_row; row < call->last_row;) {
    uint32_t count = call->last_row - row, left = input->ring - row % input->ring;
    if (count > left) count = left;
    variant->accumulate(call, &layer, row * (input->row_bytes / element), berth_row(input, row),
                        count * (input->row_bytes / element));
    row += count;
  }
  return BERTH_OK;
}

static berth_status_t finish(berth_call_t *call) {
  berth_fully_connected_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  const berth_fully_connected_variant_t *variant = find(&layer);
  if (variant == NULL) return BERTH_ERROR_INTERNAL;
  variant->finish(call, &layer, layer.output.data);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_fully_connected = {.code = BERTH_BUILTIN_FULLY_CONNECTED,
                                                     .float16_inputs = 0x6,
                                                     .prepare = prepare,
                                                     .init = init,
                                                     .eval = eval,
                                                     .begin = begin,
                                                     .accumulate = accumulate,
                                                     .finish = finish};
