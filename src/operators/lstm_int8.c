/* UNIDIRECTIONAL_SEQUENCE_LSTM for int8 with an int16 cell: results equal TFLM's reference kernel
 * to the bit. Gates are in units of 2^-12 before and 2^-15 after their functions, which come from a
 * table. */
#include "operators/dot.h"
#include "operators/lstm.h"
#include "operators/quantized.h"
#include "operators/sigmoid_table.h"

#define GATE_SCALE     (1.0f / 4096.0f)  /* before a gate's function */
#define FUNCTION_SCALE (1.0f / 32768.0f) /* after it */

static berth_multiplier_t product_factor(float a, float b, float result) {
  return berth_quantize_multiplier((double)a * (double)b / (double)result);
}

/* Powers of two only, as the reference takes them: rounds other scales to the nearest. */
static berth_sigmoid_scale_t cell_scale(float scale) {
  int32_t left = 12 + (int32_t)lround(log2((double)scale));
  if (left < 0) return (berth_sigmoid_scale_t){3, -left};
  return (berth_sigmoid_scale_t){INT32_C(3) << left, 0};
}

berth_lstm_factors_t berth_lstm_int8_factors(const berth_lstm_t *lstm) {
  float cell = lstm->cell.scale;
  berth_lstm_factors_t factors = {
      .keep = product_factor(FUNCTION_SCALE, cell, cell),
      .add = product_factor(FUNCTION_SCALE, FUNCTION_SCALE, cell),
      .output = product_factor(FUNCTION_SCALE, FUNCTION_SCALE, lstm->hidden.scale),
      .cell = cell_scale(cell),
      .clip = INT16_MAX};
  for (uint32_t i = 0; i < GATES; i++) {
    const berth_lstm_gate_t *gate = &lstm->gates[i];
    float input = lstm->input.scale * gate->weights_scale;
    float hidden = lstm->hidden.scale * gate->hidden_scale;
    factors.input[i] = berth_quantize_multiplier((double)input / (double)GATE_SCALE);
    factors.hidden[i] = berth_quantize_multiplier((double)hidden / (double)GATE_SCALE);
  }
  double clip = (double)lstm->clip / (double)cell;
  if (lstm->clip > 0.0f && clip < (double)INT16_MAX) factors.clip = (int16_t)clip;
  return factors;
}

berth_status_t berth_lstm_int8_prepare(berth_call_t *call, const berth_lstm_t *lstm) {
  const berth_value_t *cell = &lstm->cell;
  bool plain = !lstm->coupled && !lstm->normalized && !lstm->projection.present;
  for (uint32_t i = 0; i < GATES; i++) plain = plain && lstm->gates[i].peephole == NULL;
  if (!plain) {
    return berth_refuse(call, "takes peepholes, projection, normalization and coupled gates as "
                              "float32 only");
  }
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
  berth_lstm_factors_t factors = berth_lstm_int8_factors(lstm);
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
static int16_t gate_of(const berth_lstm_t *lstm, const berth_lstm_factors_t *factors,
                       uint32_t index, uint32_t unit, const int8_t *in, const int8_t *hidden) {
  const berth_lstm_gate_t *gate = &lstm->gates[index];
  const int8_t *weights = (const int8_t *)gate->weights + (size_t)unit * lstm->depth;
  const int8_t *recurrent = (const int8_t *)gate->hidden_weights + (size_t)unit * lstm->units;
  uint32_t a = berth_dot_int8(in, weights, lstm->depth, lstm->input.zero_point);
  uint32_t b = berth_dot_int8(hidden, recurrent, lstm->units, lstm->hidden.zero_point);
  if (gate->bias != NULL) a += (uint32_t)berth_load_int32(gate->bias, unit);
  return (int16_t)limit16(limit16(berth_multiply((int32_t)a, factors->input[index])) +
                          limit16(berth_multiply((int32_t)b, factors->hidden[index])));
}

void berth_lstm_int8_step(const berth_lstm_t *lstm, const berth_lstm_factors_t *factors,
                          const int8_t *in, const int8_t *hidden, int16_t *cell, int8_t *out) {
  const berth_sigmoid_scale_t unscaled = {3, 0}; /* gates have the table's scale */
  for (uint32_t unit = 0; unit < lstm->units; unit++) {
    int16_t gates[GATES];
    for (uint32_t i = 0; i < GATES; i++) {
      int16_t gate = gate_of(lstm, factors, i, unit, in, hidden);
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
