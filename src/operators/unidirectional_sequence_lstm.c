/* UNIDIRECTIONAL_SEQUENCE_LSTM: a long short-term memory over the steps of a sequence.
 *
 * Hidden and cell state are variable tensors. Each unit computes its four gates from the input and
 * the old hidden state, updates its cell and writes its output; the hidden state becomes the output
 * when all units have read it. So rows (one step of one batch) can be made one after the other: the
 * operator is row-local, as long as rows come in order, each once.
 *
 * For int8 (lstm_int8.c) plain cells; for float32 and float32 with int8 weights (lstm_float.c) also
 * peepholes, projection, coupled input gates and layer normalization.
 * Source: Hochreiter & Schmidhuber, Long Short-Term Memory (1997); Gers et al., Learning to Forget
 * (2000); Sak et al., Long Short-Term Memory Recurrent Neural Network Architectures (2014).
 */
#include "operators/kernels.h"
#include "operators/lstm.h"
#include "operators/shape.h"

/* Positions of inputs: for each gate one, in the order of the gates, where it says "first". The
 * cell gate has no peephole. */
enum {
  INPUT = 0,
  FIRST_INPUT_WEIGHTS = 1,
  FIRST_HIDDEN_WEIGHTS = 5,
  FIRST_PEEPHOLE = 9,
  FIRST_BIAS = 12,
  PROJECTION = 16,
  PROJECTION_BIAS = 17,
  HIDDEN = 18,
  CELL = 19,
  FIRST_NORM = 20
};

/* ---- Reading the operator -------------------------------------------------------------------- */

static bool is_matrix(const berth_value_t *value, uint32_t rows, uint32_t columns) {
  return value->present && value->rank == 2 && (uint32_t)value->dims[0] == rows &&
         (uint32_t)value->dims[1] == columns;
}

/* Is the value absent, or a vector of that size and type? */
static bool suits(const berth_value_t *value, uint32_t elements, berth_tensor_type_t type) {
  return !value->present || (value->elements == elements && value->type == type);
}

/* Weights of int8 need a scale and no zero point; a hybrid's have one scale. */
static bool has_weight_scale(const berth_value_t *value) {
  return value->type != BERTH_TYPE_INT8 ||
         (value->scales.count == 1 && value->scale > 0.0f && value->zero_point == 0);
}

static berth_status_t read_gate(berth_call_t *call, berth_lstm_t *lstm, uint32_t index,
                                berth_tensor_type_t weight_type) {
  bool is_float = lstm->input.type == BERTH_TYPE_FLOAT32;
  berth_tensor_type_t vector_type = is_float ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT32;
  uint32_t peephole_index = index == OUTPUT_GATE ? FIRST_PEEPHOLE + 2 : FIRST_PEEPHOLE + index;
  berth_value_t weights = berth_input(call, FIRST_INPUT_WEIGHTS + index);
  berth_value_t hidden = berth_input(call, FIRST_HIDDEN_WEIGHTS + index);
  berth_value_t bias = berth_input(call, FIRST_BIAS + index);
  berth_value_t norm = berth_input(call, FIRST_NORM + index);
  berth_value_t peephole = {.present = false};
  if (index != CELL_GATE) peephole = berth_input(call, peephole_index);
  lstm->gates[index] = (berth_lstm_gate_t){.weights = weights.data,
                                           .hidden_weights = hidden.data,
                                           .bias = bias.present ? bias.data : NULL,
                                           .peephole = peephole.present ? peephole.data : NULL,
                                           .norm = norm.present ? norm.data : NULL,
                                           .weights_scale = weights.scale,
                                           .hidden_scale = hidden.scale,
                                           .peephole_scale = peephole.scale};
  if (!is_matrix(&weights, lstm->units, lstm->depth) ||
      !is_matrix(&hidden, lstm->units, lstm->outputs)) {
    return berth_refuse(call, "has a gate without weights, or of another size");
  }
  if (weights.type != weight_type || hidden.type != weight_type ||
      !suits(&bias, lstm->units, vector_type) || !suits(&peephole, lstm->units, weight_type) ||
      (is_float && !suits(&norm, lstm->units, BERTH_TYPE_FLOAT32))) {
    return berth_refuse(call, "does not take this combination of types or sizes");
  }
  if (!has_weight_scale(&weights) || !has_weight_scale(&hidden) ||
      (peephole.present && !has_weight_scale(&peephole))) {
    return berth_refuse(call, "needs weights with one scale and no zero point");
  }
  if (norm.present != lstm->normalized) {
    return berth_refuse(call, "needs all gates normalized, or none");
  }
  return BERTH_OK;
}

static berth_status_t read_projection(berth_call_t *call, berth_lstm_t *lstm,
                                      berth_tensor_type_t weight_type) {
  lstm->projection = berth_input(call, PROJECTION);
  lstm->projection_bias = berth_input(call, PROJECTION_BIAS);
  const berth_value_t *weights = &lstm->projection, *bias = &lstm->projection_bias;
  if (!weights->present) {
    if (lstm->outputs == lstm->units && !bias->present) return BERTH_OK;
    return berth_refuse(call, "has a state of another size, without a projection");
  }
  if (!is_matrix(weights, lstm->outputs, lstm->units) || weights->type != weight_type ||
      !has_weight_scale(weights) || !suits(bias, lstm->outputs, BERTH_TYPE_FLOAT32)) {
    return berth_refuse(call, "has a projection of another size or type");
  }
  return BERTH_OK;
}

static berth_status_t read_lstm(berth_call_t *call, berth_lstm_t *lstm) {
  berth_table_t options = call->op.options;
  berth_value_t forget = berth_input(call, FIRST_INPUT_WEIGHTS + FORGET_GATE);
  *lstm = (berth_lstm_t){
      .input = berth_input(call, INPUT),
      .hidden = berth_input(call, HIDDEN),
      .cell = berth_input(call, CELL),
      .output = berth_output(call, 0),
      .coupled = !berth_input(call, FIRST_INPUT_WEIGHTS).present,
      .normalized = berth_input(call, FIRST_NORM + FORGET_GATE).present,
      .hybrid = forget.type == BERTH_TYPE_INT8,
      .asymmetric = berth_option_byte(options, BERTH_SEQUENCE_LSTM_ASYMMETRIC_INPUTS, 0) != 0,
      .time_major = berth_option_byte(options, BERTH_SEQUENCE_LSTM_TIME_MAJOR, 0) != 0,
      .clip = berth_option_float(options, BERTH_SEQUENCE_LSTM_CELL_CLIP, 0.0f),
      .projection_clip = berth_option_float(options, BERTH_SEQUENCE_LSTM_PROJ_CLIP, 0.0f)};
  const berth_value_t *input = &lstm->input, *hidden = &lstm->hidden, *cell = &lstm->cell;
  if (!input->present || input->rank != 3 || !lstm->output.present) {
    return berth_refuse(call, "needs an input of three dimensions and an output");
  }
  if (!berth_is_aligned(input)) return berth_refuse(call, "takes no unaligned constant");
  if (!hidden->present || !hidden->variable || hidden->constant || !cell->present ||
      !cell->variable || cell->constant || hidden->rank == 0 || cell->rank == 0) {
    return berth_refuse(call, "needs two variable tensors for its state");
  }
  lstm->hybrid = lstm->hybrid && input->type == BERTH_TYPE_FLOAT32;
  lstm->batches = (uint32_t)input->dims[lstm->time_major ? 1 : 0];
  lstm->steps = (uint32_t)input->dims[lstm->time_major ? 0 : 1];
  lstm->depth = (uint32_t)input->dims[2];
  lstm->outputs = (uint32_t)hidden->dims[hidden->rank - 1];
  lstm->units = (uint32_t)cell->dims[cell->rank - 1];
  bool is_float = input->type == BERTH_TYPE_FLOAT32;
  berth_tensor_type_t weight_type =
      is_float && !lstm->hybrid ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT8;
  for (uint32_t i = lstm->coupled ? FORGET_GATE : INPUT_GATE; i < GATES; i++) {
    berth_status_t status = read_gate(call, lstm, i, weight_type);
    if (status != BERTH_OK) return status;
  }
  if (lstm->coupled &&
      (berth_input(call, FIRST_HIDDEN_WEIGHTS).present || berth_input(call, FIRST_BIAS).present)) {
    return berth_refuse(call, "has half an input gate");
  }
  if ((uint64_t)lstm->batches * lstm->outputs != hidden->elements ||
      (uint64_t)lstm->batches * lstm->units != cell->elements) {
    return berth_refuse(call, "has a state of another size");
  }
  return read_projection(call, lstm, weight_type);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_table_t options = call->op.options;
  berth_lstm_t lstm;
  if (berth_option_byte(options, BERTH_SEQUENCE_LSTM_ACTIVATION, 0) != BERTH_ACTIVATION_TANH) {
    return berth_refuse(call, "needs tanh as its activation");
  }
  if (berth_option_byte(options, BERTH_SEQUENCE_LSTM_DIAGONAL_RECURRENT, 0)) {
    return berth_refuse(call, "does not support diagonal recurrent weights");
  }
  berth_status_t status = read_lstm(call, &lstm);
  if (status != BERTH_OK) return status;
  if (lstm.input.type == BERTH_TYPE_INT8) {
    status = berth_lstm_int8_prepare(call, &lstm);
  } else if (lstm.input.type == BERTH_TYPE_FLOAT32) {
    status = berth_lstm_float_prepare(call, &lstm, contract);
  } else {
    status = berth_refuse(call, "takes an int8 or float32 input only");
  }
  if (status != BERTH_OK) return status;
  contract->kind = BERTH_ROW_LOCAL;
  contract->windows[0] = (berth_window_t){.numerator = 1, .denominator = 1, .extent = 1};
  for (uint32_t i = 1; i < BERTH_WINDOWS_MAX; i++) {
    contract->windows[i] = (berth_window_t){.numerator = 1, .denominator = 1}; /* all of it */
  }
  int32_t dims[3] = {lstm.input.dims[0], lstm.input.dims[1], (int32_t)lstm.outputs};
  return berth_set_shape(call, 0, 3, dims);
}

static berth_status_t eval(berth_call_t *call) {
  berth_lstm_t lstm;
  berth_status_t status = read_lstm(call, &lstm);
  if (status != BERTH_OK || lstm.batches == 0 || lstm.steps == 0) return status;
  bool is_float = lstm.input.type == BERTH_TYPE_FLOAT32;
  berth_lstm_factors_t factors = {.clip = 0};
  if (!is_float) factors = berth_lstm_int8_factors(&lstm);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t batch = lstm.time_major ? row % lstm.batches : row / lstm.steps;
    const void *in = berth_row(&lstm.input, row);
    void *out = berth_row(&lstm.output, row);
    uint8_t *hidden = lstm.hidden.data + (size_t)batch * lstm.output.row_bytes;
    uint8_t *cell = lstm.cell.data + (size_t)batch * (lstm.cell.bytes / lstm.batches);
    if (is_float) {
      berth_lstm_float_step(call, &lstm, in, (const float *)(void *)hidden, (float *)(void *)cell,
                            out);
    } else {
      berth_lstm_int8_step(&lstm, &factors, in, (const int8_t *)hidden, (int16_t *)(void *)cell,
                           out);
    }
    memcpy(hidden, out, lstm.output.row_bytes);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_unidirectional_sequence_lstm = {
    .code = BERTH_BUILTIN_UNIDIRECTIONAL_SEQUENCE_LSTM, .prepare = prepare, .eval = eval};
