/* UNIDIRECTIONAL_SEQUENCE_LSTM: a long short-term memory over the steps of a sequence.
 *
 * Hidden and cell state are variable tensors. Each unit computes its four gates from the input and
 * the old hidden state, updates its cell and writes its output; the hidden state becomes the output
 * when all units have read it. So there is no scratch, and rows (one step of one batch) can be made
 * one after the other: the operator is row-local, as long as rows come in order, each once.
 *
 * For int8 with an int16 cell, results equal TFLM's reference kernel to the bit: gates in units of
 * 2^-12 before and 2^-15 after their functions, which come from a table. Plain cells only: no
 * peepholes, projection, coupled input gate or layer normalization.
 * Source: Hochreiter & Schmidhuber, Long Short-Term Memory (1997); Gers et al., Learning to Forget
 * (2000).
 */
#include "operators/dot.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/sigmoid_table.h"

/* Positions of inputs: for each gate one, in the order of the gates, where it says "first". */
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
  FIRST_NORM = 20,
  LAST_NORM = 23
};

enum { INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE, GATES };

/* The three rows of constants of a gate, each for all units. */
typedef struct gate {
  const uint8_t *weights, *hidden_weights, *bias;
  float weights_scale, hidden_scale;
} gate_t;

typedef struct lstm {
  berth_value_t input, hidden, cell, output;
  gate_t gates[GATES];
  uint32_t batches, steps, depth, units;
  bool time_major;
  float clip; /* of the cell; 0: none */
} lstm_t;

/* ---- Reading the operator -------------------------------------------------------------------- */

static bool is_matrix(const berth_value_t *value, uint32_t rows, uint32_t columns) {
  return value->present && value->rank == 2 && (uint32_t)value->dims[0] == rows &&
         (uint32_t)value->dims[1] == columns;
}

static berth_status_t read_gate(berth_call_t *call, lstm_t *lstm, uint32_t index) {
  bool is_float = lstm->input.type == BERTH_TYPE_FLOAT32;
  berth_tensor_type_t weight_type = is_float ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT8;
  berth_tensor_type_t bias_type = is_float ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT32;
  berth_value_t weights = berth_input(call, FIRST_INPUT_WEIGHTS + index);
  berth_value_t hidden = berth_input(call, FIRST_HIDDEN_WEIGHTS + index);
  berth_value_t bias = berth_input(call, FIRST_BIAS + index);
  lstm->gates[index] = (gate_t){.weights = weights.data,
                                .hidden_weights = hidden.data,
                                .bias = bias.present ? bias.data : NULL,
                                .weights_scale = weights.scale,
                                .hidden_scale = hidden.scale};
  if (!is_matrix(&weights, lstm->units, lstm->depth) ||
      !is_matrix(&hidden, lstm->units, lstm->units) ||
      (bias.present && bias.elements != lstm->units)) {
    return berth_refuse(call, "has a gate without weights, or of another size");
  }
  if (weights.type != weight_type || hidden.type != weight_type ||
      (bias.present && bias.type != bias_type)) {
    return berth_refuse(call, "does not take this combination of types");
  }
  if (!is_float && (weights.zero_point != 0 || hidden.zero_point != 0)) {
    return berth_refuse(call, "has weights with a zero point");
  }
  return BERTH_OK;
}

static berth_status_t read_lstm(berth_call_t *call, lstm_t *lstm) {
  berth_table_t options = call->op.options;
  *lstm = (lstm_t){.input = berth_input(call, INPUT),
                   .hidden = berth_input(call, HIDDEN),
                   .cell = berth_input(call, CELL),
                   .output = berth_output(call, 0),
                   .time_major = berth_option_byte(options, BERTH_SEQUENCE_LSTM_TIME_MAJOR, 0) != 0,
                   .clip = berth_option_float(options, BERTH_SEQUENCE_LSTM_CELL_CLIP, 0.0f)};
  const berth_value_t *input = &lstm->input, *hidden = &lstm->hidden, *cell = &lstm->cell;
  if (!input->present || input->rank != 3 || !lstm->output.present) {
    return berth_refuse(call, "needs an input of three dimensions and an output");
  }
  if (!hidden->present || !hidden->variable || hidden->constant || !cell->present ||
      !cell->variable || cell->constant || hidden->rank == 0) {
    return berth_refuse(call, "needs two variable tensors for its state");
  }
  lstm->batches = (uint32_t)input->dims[lstm->time_major ? 1 : 0];
  lstm->steps = (uint32_t)input->dims[lstm->time_major ? 0 : 1];
  lstm->depth = (uint32_t)input->dims[2];
  lstm->units = (uint32_t)hidden->dims[hidden->rank - 1];
  for (uint32_t i = 0; i < GATES; i++) {
    berth_status_t status = read_gate(call, lstm, i);
    if (status != BERTH_OK) return status;
  }
  uint64_t elements = (uint64_t)lstm->batches * lstm->units;
  if (elements != hidden->elements || elements != cell->elements) {
    return berth_refuse(call, "has a state of another size");
  }
  return BERTH_OK;
}

/* ---- int8 ------------------------------------------------------------------------------------ */

#define GATE_SCALE     (1.0f / 4096.0f)  /* before a gate's function */
#define FUNCTION_SCALE (1.0f / 32768.0f) /* after it */

/* All that follows from the scales. */
typedef struct factors {
  berth_multiplier_t input[GATES], hidden[GATES]; /* from products to gates */
  berth_multiplier_t keep, add;                   /* forget x cell, input x cell gate */
  berth_multiplier_t output;                      /* tanh(cell) x output gate */
  berth_sigmoid_scale_t cell;                     /* of the cell, for tanh */
  int16_t clip;
} factors_t;

static berth_multiplier_t product_factor(float a, float b, float result) {
  return berth_quantize_multiplier((double)a * (double)b / (double)result);
}

/* Powers of two only, as the reference takes them: rounds other scales to the nearest. */
static berth_sigmoid_scale_t cell_scale(float scale) {
  int32_t left = 12 + (int32_t)lround(log2((double)scale));
  if (left < 0) return (berth_sigmoid_scale_t){3, -left};
  return (berth_sigmoid_scale_t){INT32_C(3) << left, 0};
}

static factors_t factors_of(const lstm_t *lstm) {
  float cell = lstm->cell.scale;
  factors_t factors = {.keep = product_factor(FUNCTION_SCALE, cell, cell),
                       .add = product_factor(FUNCTION_SCALE, FUNCTION_SCALE, cell),
                       .output = product_factor(FUNCTION_SCALE, FUNCTION_SCALE, lstm->hidden.scale),
                       .cell = cell_scale(cell),
                       .clip = INT16_MAX};
  for (uint32_t i = 0; i < GATES; i++) {
    const gate_t *gate = &lstm->gates[i];
    float input = lstm->input.scale * gate->weights_scale;
    float hidden = lstm->hidden.scale * gate->hidden_scale;
    factors.input[i] = berth_quantize_multiplier((double)input / (double)GATE_SCALE);
    factors.hidden[i] = berth_quantize_multiplier((double)hidden / (double)GATE_SCALE);
  }
  double clip = (double)lstm->clip / (double)cell;
  if (lstm->clip > 0.0f && clip < (double)INT16_MAX) factors.clip = (int16_t)clip;
  return factors;
}

static berth_status_t prepare_int8(berth_call_t *call, const lstm_t *lstm) {
  const berth_value_t *cell = &lstm->cell;
  if (lstm->hidden.type != BERTH_TYPE_INT8 || lstm->output.type != BERTH_TYPE_INT8 ||
      cell->type != BERTH_TYPE_INT16) {
    return berth_refuse(call, "needs an int8 hidden state and output, and an int16 cell");
  }
  if (!berth_has_scale(&lstm->input) || !berth_has_scale(&lstm->hidden) || !berth_has_scale(cell) ||
      cell->zero_point != 0) {
    return berth_refuse(call, "needs the scales of its input and states, and a cell around zero");
  }
  if (!(cell->scale >= 0x1p-30f && cell->scale <= 1.0f)) {
    return berth_refuse(call, "has a cell scale that is out of range");
  }
  factors_t factors = factors_of(lstm);
  bool usable = berth_is_usable(factors.add) && berth_is_usable(factors.output);
  for (uint32_t i = 0; i < GATES && usable; i++) {
    usable = lstm->gates[i].weights_scale > 0.0f && lstm->gates[i].hidden_scale > 0.0f &&
             berth_is_usable(factors.input[i]) && berth_is_usable(factors.hidden[i]);
  }
  return usable ? BERTH_OK : berth_refuse(call, "has scales that are out of range");
}

static int32_t limit16(int32_t x) {
  return berth_clamp(x, INT16_MIN, INT16_MAX);
}

/* A gate of one unit, before its function. */
static int16_t gate_int8(const lstm_t *lstm, const factors_t *factors, uint32_t index,
                         uint32_t unit, const int8_t *in, const int8_t *hidden) {
  const gate_t *gate = &lstm->gates[index];
  const int8_t *weights = (const int8_t *)gate->weights + (size_t)unit * lstm->depth;
  const int8_t *recurrent = (const int8_t *)gate->hidden_weights + (size_t)unit * lstm->units;
  uint32_t a = berth_dot_int8(in, weights, lstm->depth, lstm->input.zero_point);
  uint32_t b = berth_dot_int8(hidden, recurrent, lstm->units, lstm->hidden.zero_point);
  if (gate->bias != NULL) a += (uint32_t)berth_load_int32(gate->bias, unit);
  return (int16_t)limit16(limit16(berth_multiply((int32_t)a, factors->input[index])) +
                          limit16(berth_multiply((int32_t)b, factors->hidden[index])));
}

static void step_int8(const lstm_t *lstm, const factors_t *factors, const int8_t *in,
                      const int8_t *hidden, int16_t *cell, int8_t *out) {
  const berth_sigmoid_scale_t unscaled = {3, 0}; /* gates have the table's scale */
  for (uint32_t unit = 0; unit < lstm->units; unit++) {
    int16_t gates[GATES];
    for (uint32_t i = 0; i < GATES; i++) {
      int16_t gate = gate_int8(lstm, factors, i, unit, in, hidden);
      gates[i] =
          i == CELL_GATE ? berth_tanh_int16(gate, unscaled) : berth_logistic_int16(gate, unscaled);
    }
    int32_t kept = limit16(berth_multiply(gates[FORGET_GATE] * cell[unit], factors->keep));
    int32_t added = limit16(berth_multiply(gates[INPUT_GATE] * gates[CELL_GATE], factors->add));
    int32_t sum = limit16(kept + added);
    if (factors->clip < INT16_MAX) sum = berth_clamp(sum, -factors->clip, factors->clip);
    cell[unit] = (int16_t)sum;
    int32_t product = berth_tanh_int16(cell[unit], factors->cell) * gates[OUTPUT_GATE];
    int64_t scaled = (int64_t)berth_multiply(product, factors->output) + lstm->hidden.zero_point;
    out[unit] = (int8_t)(scaled < INT8_MIN ? INT8_MIN : scaled > INT8_MAX ? INT8_MAX : scaled);
  }
}

/* ---- float ----------------------------------------------------------------------------------- */

static berth_status_t prepare_float(berth_call_t *call, const lstm_t *lstm) {
  if (lstm->hidden.type != BERTH_TYPE_FLOAT32 || lstm->output.type != BERTH_TYPE_FLOAT32 ||
      lstm->cell.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs float32 states and a float32 output");
  }
  return BERTH_OK;
}

static void step_float(const lstm_t *lstm, const float *in, const float *hidden, float *cell,
                       float *out) {
  for (uint32_t unit = 0; unit < lstm->units; unit++) {
    float gates[GATES];
    for (uint32_t i = 0; i < GATES; i++) {
      const gate_t *gate = &lstm->gates[i];
      const uint8_t *weights = gate->weights + (size_t)unit * lstm->depth * sizeof(float);
      const uint8_t *recurrent = gate->hidden_weights + (size_t)unit * lstm->units * sizeof(float);
      float sum = berth_dot_float(in, weights, lstm->depth);
      if (gate->bias != NULL) sum += berth_load_float(gate->bias, unit);
      sum += berth_dot_float(hidden, recurrent, lstm->units);
      gates[i] = i == CELL_GATE ? berth_tanh(sum) : berth_logistic(sum);
    }
    float sum = gates[FORGET_GATE] * cell[unit] + gates[INPUT_GATE] * gates[CELL_GATE];
    if (lstm->clip > 0.0f) sum = fminf(fmaxf(sum, -lstm->clip), lstm->clip);
    cell[unit] = sum;
    out[unit] = berth_tanh(sum) * gates[OUTPUT_GATE];
  }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static bool has_any(const berth_call_t *call, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; i++) {
    if (berth_input(call, i).present) return true;
  }
  return false;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_table_t options = call->op.options;
  lstm_t lstm;
  if (has_any(call, FIRST_PEEPHOLE, FIRST_BIAS - 1) || has_any(call, PROJECTION, PROJECTION_BIAS) ||
      has_any(call, FIRST_NORM, LAST_NORM)) {
    return berth_refuse(call, "does not support peepholes, projection or layer normalization");
  }
  if (berth_option_byte(options, BERTH_SEQUENCE_LSTM_ACTIVATION, 0) != BERTH_ACTIVATION_TANH) {
    return berth_refuse(call, "needs tanh as its activation");
  }
  if (berth_option_byte(options, BERTH_SEQUENCE_LSTM_DIAGONAL_RECURRENT, 0)) {
    return berth_refuse(call, "does not support diagonal recurrent weights");
  }
  berth_status_t status = read_lstm(call, &lstm);
  if (status != BERTH_OK) return status;
  if (lstm.input.type == BERTH_TYPE_INT8) {
    status = prepare_int8(call, &lstm);
  } else if (lstm.input.type == BERTH_TYPE_FLOAT32) {
    status = prepare_float(call, &lstm);
  } else {
    status = berth_refuse(call, "takes an int8 or float32 input only");
  }
  if (status != BERTH_OK) return status;
  contract->kind = BERTH_ROW_LOCAL;
  contract->windows[0] = (berth_window_t){.numerator = 1, .denominator = 1, .extent = 1};
  for (uint32_t i = 1; i < BERTH_WINDOWS_MAX; i++) {
    contract->windows[i] = (berth_window_t){.numerator = 1, .denominator = 1}; /* all of it */
  }
  int32_t dims[3] = {lstm.input.dims[0], lstm.input.dims[1], (int32_t)lstm.units};
  return berth_set_shape(call, 0, 3, dims);
}

static berth_status_t eval(berth_call_t *call) {
  lstm_t lstm;
  berth_status_t status = read_lstm(call, &lstm);
  if (status != BERTH_OK || lstm.batches == 0 || lstm.steps == 0) return status;
  bool is_float = lstm.input.type == BERTH_TYPE_FLOAT32;
  factors_t factors = {.clip = 0};
  if (!is_float) factors = factors_of(&lstm);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    uint32_t batch = lstm.time_major ? row % lstm.batches : row / lstm.steps;
    const void *in = berth_row(&lstm.input, row);
    void *out = berth_row(&lstm.output, row);
    uint8_t *hidden = lstm.hidden.data + (size_t)batch * lstm.output.row_bytes;
    uint8_t *cell = lstm.cell.data + (size_t)batch * (lstm.cell.bytes / lstm.batches);
    if (is_float) {
      step_float(&lstm, in, (const float *)(void *)hidden, (float *)(void *)cell, out);
    } else {
      step_int8(&lstm, &factors, in, (const int8_t *)hidden, (int16_t *)(void *)cell, out);
    }
    memcpy(hidden, out, lstm.output.row_bytes);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_unidirectional_sequence_lstm = {
    .code = BERTH_BUILTIN_UNIDIRECTIONAL_SEQUENCE_LSTM, .prepare = prepare, .eval = eval};
