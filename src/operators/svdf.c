/* SVDF: a layer over the last `memory` inputs whose weights are a sum of `rank` products of one
 * vector over features and one over time. Each filter keeps its last `memory` results in a variable
 * tensor: a call shifts them by one, appends the newest, and weighs them over time.
 *
 * Filter by filter, so there is no scratch; integers equal TFLM's reference kernel to the bit. In
 * the hybrid form (float activations, int8 weights) the input is quantized anew in each call.
 * Source: Nakkiran et al., Compressing Deep Neural Networks using a Rank-Constrained Topology
 * (2015).
 */
#include "operators/dot.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

typedef struct layer {
  berth_value_t input, feature, time, bias, state, output;
  uint32_t batches, depth, filters, memory, units, rank;
  int32_t activation;
} layer_t;

static bool is_2d(const berth_value_t *value, uint32_t rows, uint32_t columns) {
  return value->rank == 2 && (uint32_t)value->dims[0] == rows &&
         (uint32_t)value->dims[1] == columns;
}

static berth_status_t read_layer(berth_call_t *call, layer_t *layer) {
  berth_table_t options = call->op.options;
  *layer = (layer_t){.input = berth_input(call, 0),
                     .feature = berth_input(call, 1),
                     .time = berth_input(call, 2),
                     .bias = berth_input(call, 3),
                     .state = berth_input(call, 4),
                     .output = berth_output(call, 0),
                     .activation = berth_option_byte(options, BERTH_SVDF_ACTIVATION, 0),
                     .rank = 1};
  int32_t rank = berth_option_int(options, BERTH_SVDF_RANK, 0);
  const berth_value_t *input = &layer->input, *feature = &layer->feature, *time = &layer->time;
  if (!input->present || !feature->present || !time->present || !layer->output.present) {
    return berth_refuse(call, "needs an input, weights for features and time, and an output");
  }
  if (!layer->state.present || !layer->state.variable || layer->state.constant) {
    return berth_refuse(call, "needs a variable tensor for its state");
  }
  if (!berth_is_aligned(input)) return berth_refuse(call, "takes no unaligned constant");
  if (input->rank != 2 || feature->rank != 2 || time->rank != 2) {
    return berth_refuse(call, "needs an input and weights of two dimensions");
  }
  layer->batches = (uint32_t)input->dims[0];
  layer->depth = (uint32_t)input->dims[1];
  layer->filters = (uint32_t)feature->dims[0];
  layer->memory = (uint32_t)time->dims[1];
  if (rank < 1 || layer->memory == 0 || layer->filters % (uint32_t)rank != 0) {
    return berth_refuse(call, "has a rank that does not divide its filters, or no memory");
  }
  layer->rank = (uint32_t)rank;
  layer->units = layer->filters / layer->rank;
  if (!is_2d(feature, layer->filters, layer->depth) ||
      !is_2d(time, layer->filters, layer->memory) ||
      (uint64_t)layer->batches * layer->filters * layer->memory != layer->state.elements ||
      (layer->bias.present && layer->bias.elements != layer->units)) {
    return berth_refuse(call, "has weights, a bias or a state of the wrong size");
  }
  return BERTH_OK;
}

/* ---- int8 ------------------------------------------------------------------------------------ */

/* From feature products to the state, and from sums over time to the output. */
typedef struct factors {
  berth_multiplier_t state, output;
} factors_t;

static factors_t factors_of(const layer_t *layer) {
  /* As the reference: in float, from left to right. */
  float to_state = layer->input.scale * layer->feature.scale / layer->state.scale;
  float to_output = layer->state.scale * layer->time.scale / layer->output.scale;
  return (factors_t){berth_quantize_multiplier((double)to_state),
                     berth_quantize_multiplier((double)to_output)};
}

static berth_status_t prepare_int8(berth_call_t *call, const layer_t *layer) {
  const berth_value_t *state = &layer->state, *time = &layer->time;
  if (layer->feature.type != BERTH_TYPE_INT8 || layer->output.type != BERTH_TYPE_INT8 ||
      state->type != time->type ||
      (state->type != BERTH_TYPE_INT16 && state->type != BERTH_TYPE_INT8)) {
    return berth_refuse(call, "does not take this combination of types");
  }
  if (layer->bias.present && layer->bias.type != BERTH_TYPE_INT32) {
    return berth_refuse(call, "needs an int32 bias");
  }
  if (!berth_has_scale(&layer->input) || !berth_has_scale(state) ||
      !berth_has_scale(&layer->output) || !(layer->feature.scale > 0.0f) || !(time->scale > 0.0f)) {
    return berth_refuse(call, "needs the scales of all its tensors");
  }
  factors_t factors = factors_of(layer);
  if (!berth_is_usable(factors.state) || !berth_is_usable(factors.output)) {
    return berth_refuse(call, "has scales that are out of range");
  }
  return BERTH_OK;
}

static int32_t limit(int64_t value, berth_tensor_type_t type) {
  int32_t min = berth_type_min(type), max = berth_type_max(type);
  return value < min ? min : value > max ? max : (int32_t)value;
}

/* Appends a result to a filter's memory and returns the sum over time. */
static uint32_t remember_int16(int16_t *memory, uint32_t count, int32_t newest, int32_t zero,
                               const uint8_t *weights) {
  memmove(memory, memory + 1, (count - 1) * sizeof *memory);
  memory[count - 1] = (int16_t)newest;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    int16_t weight;
    memcpy(&weight, weights + 2 * (size_t)i, sizeof weight);
    sum += (uint32_t)(memory[i] - zero) * (uint32_t)weight;
  }
  return sum;
}

static uint32_t remember_int8(int8_t *memory, uint32_t count, int32_t newest, int32_t zero,
                              const uint8_t *weights) {
  memmove(memory, memory + 1, count - 1);
  memory[count - 1] = (int8_t)newest;
  return berth_dot_int8(memory, (const int8_t *)weights, count, zero);
}

static void eval_int8(const layer_t *layer) {
  factors_t factors = factors_of(layer);
  const berth_value_t *state = &layer->state;
  uint32_t element = state->type == BERTH_TYPE_INT16 ? 2 : 1, span = layer->memory * element;
  const int8_t *in = (const int8_t *)layer->input.data;
  uint8_t *memory = state->data, *out = layer->output.data;
  for (uint32_t batch = 0; batch < layer->batches; batch++, in += layer->depth) {
    const int8_t *feature = (const int8_t *)layer->feature.data;
    const uint8_t *time = layer->time.data;
    for (uint32_t unit = 0; unit < layer->units; unit++) {
      uint32_t sum = layer->bias.present ? (uint32_t)berth_load_int32(layer->bias.data, unit) : 0;
      for (uint32_t r = 0; r < layer->rank; r++) {
        uint32_t product = berth_dot_int8(in, feature, layer->depth, layer->input.zero_point);
        int64_t moved = berth_multiply((int32_t)product, factors.state);
        int32_t newest = limit(moved + state->zero_point, state->type);
        sum += element == 2 ? remember_int16((int16_t *)(void *)memory, layer->memory, newest,
                                             state->zero_point, time)
                            : remember_int8((int8_t *)memory, layer->memory, newest,
                                            state->zero_point, time);
        feature += layer->depth;
        time += span;
        memory += span;
      }
      int64_t scaled = berth_multiply((int32_t)sum, factors.output);
      *out++ = (uint8_t)limit(scaled + layer->output.zero_point, BERTH_TYPE_INT8);
    }
  }
}

/* ---- float, and float with int8 weights ------------------------------------------------------ */

static bool is_hybrid(const layer_t *layer) {
  return layer->feature.type == BERTH_TYPE_INT8;
}

static berth_status_t prepare_float(berth_call_t *call, const layer_t *layer,
                                    berth_contract_t *contract) {
  if (layer->state.type != BERTH_TYPE_FLOAT32 || layer->output.type != BERTH_TYPE_FLOAT32 ||
      layer->feature.type != layer->time.type ||
      (layer->feature.type != BERTH_TYPE_FLOAT32 && !is_hybrid(layer))) {
    return berth_refuse(call, "does not take this combination of types");
  }
  if (layer->bias.present && layer->bias.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs a float32 bias");
  }
  if (layer->activation < 0 || layer->activation > BERTH_ACTIVATION_RELU6) {
    return berth_refuse(call, "has a fused activation that it doesn't support");
  }
  if (is_hybrid(layer)) {
    if (!(layer->feature.scale > 0.0f) || !(layer->time.scale > 0.0f)) {
      return berth_refuse(call, "needs the scales of its weights");
    }
    if (berth_option_byte(call->op.options, BERTH_SVDF_ASYMMETRIC_INPUTS, 0)) {
      return berth_refuse(call, "quantizes its input symmetrically only");
    }
    contract->scratch[0] = layer->depth;
  }
  return BERTH_OK;
}

/* Rounds a vector to int8 around zero; returns the scale. */
static float quantize(const float *from, uint32_t count, int8_t *to) {
  float largest = 0.0f;
  for (uint32_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(from[i]));
  if (!(largest > 0.0f)) {
    memset(to, 0, count);
    return 1.0f;
  }
  float inverse = 127.0f / largest;
  for (uint32_t i = 0; i < count; i++) {
    to[i] = (int8_t)fminf(fmaxf(roundf(from[i] * inverse), -127.0f), 127.0f);
  }
  return largest / 127.0f;
}

static float over_time(const layer_t *layer, const float *memory, uint32_t filter) {
  size_t first = (size_t)filter * layer->memory;
  if (!is_hybrid(layer)) {
    return berth_dot_float(memory, layer->time.data + 4 * first, layer->memory);
  }
  const int8_t *weights = (const int8_t *)layer->time.data + first;
  float sum = 0.0f;
  for (uint32_t i = 0; i < layer->memory; i++) {
    sum += memory[i] * ((float)weights[i] * layer->time.scale);
  }
  return sum;
}

static void eval_float(const berth_call_t *call, const layer_t *layer) {
  float min, max;
  berth_activation_range_float(layer->activation, &min, &max);
  const float *in = (const float *)(const void *)layer->input.data;
  float *memory = (float *)(void *)layer->state.data;
  float *out = (float *)(void *)layer->output.data;
  int8_t *rounded = call->scratch[0];
  for (uint32_t batch = 0; batch < layer->batches; batch++, in += layer->depth) {
    float scale = 0.0f;
    if (is_hybrid(layer)) scale = quantize(in, layer->depth, rounded) * layer->feature.scale;
    for (uint32_t filter = 0; filter < layer->filters; filter++, memory += layer->memory) {
      size_t first = (size_t)filter * layer->depth;
      float newest;
      if (is_hybrid(layer)) {
        const int8_t *weights = (const int8_t *)layer->feature.data + first;
        newest = (float)(int32_t)berth_dot_int8(rounded, weights, layer->depth, 0) * scale;
      } else {
        newest = berth_dot_float(in, layer->feature.data + 4 * first, layer->depth);
      }
      memmove(memory, memory + 1, (layer->memory - 1) * sizeof *memory);
      memory[layer->memory - 1] = newest;
      uint32_t unit = filter / layer->rank;
      if (filter % layer->rank == 0) {
        out[unit] = layer->bias.present ? berth_load_float(layer->bias.data, unit) : 0.0f;
      }
      out[unit] += over_time(layer, memory, filter);
    }
    for (uint32_t unit = 0; unit < layer->units; unit++) {
      out[unit] = fminf(fmaxf(out[unit], min), max);
    }
    out += layer->units;
  }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  layer_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status == BERTH_OK) {
    int32_t dims[2] = {(int32_t)layer.batches, (int32_t)layer.units};
    status = berth_set_shape(call, 0, 2, dims);
  }
  if (status != BERTH_OK) return status;
  if (layer.input.type == BERTH_TYPE_INT8) return prepare_int8(call, &layer);
  if (layer.input.type == BERTH_TYPE_FLOAT32) return prepare_float(call, &layer, contract);
  return berth_refuse(call, "takes an int8 or float32 input only");
}

static berth_status_t eval(berth_call_t *call) {
  layer_t layer;
  berth_status_t status = read_layer(call, &layer);
  if (status != BERTH_OK) return status;
  if (layer.input.type == BERTH_TYPE_INT8) {
    eval_int8(&layer);
  } else {
    eval_float(call, &layer);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_svdf = {
    .code = BERTH_BUILTIN_SVDF, .prepare = prepare, .eval = eval};
