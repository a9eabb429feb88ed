/* UNIDIRECTIONAL_SEQUENCE_LSTM for float32, and for float32 with int8 weights (hybrid): each vector
 * that is multiplied by a matrix is brought to 8 bits first.
 *
 * Plain cells need no scratch: each gate of a unit is computed when it is needed. Layer
 * normalization needs a gate of all units before it knows one, a projection all outputs.
 * Source: Ba et al., Layer Normalization (2016).
 */
#include "operators/dot.h"
#include "operators/float_functions.h"
#include "operators/hybrid.h"
#include "operators/lstm.h"

enum { SUMS, UNPROJECTED, BYTES }; /* scratch */

berth_status_t berth_lstm_float_prepare(berth_call_t *call, const berth_lstm_t *lstm,
                                        berth_contract_t *contract) {
  if (lstm->hidden.type != BERTH_TYPE_FLOAT32 || lstm->output.type != BERTH_TYPE_FLOAT32 ||
      lstm->cell.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "needs float32 states and a float32 output");
  }
  uint64_t floats = (uint64_t)lstm->units * sizeof(float);
  uint64_t bytes = (uint64_t)lstm->depth + lstm->outputs;
  if (lstm->projection.present) bytes += lstm->units;
  if (CELL_GATE * floats + floats > UINT32_MAX || bytes > UINT32_MAX) return BERTH_ERROR_OVERFLOW;
  if (lstm->normalized) contract->scratch[SUMS] = (uint32_t)floats * (CELL_GATE + 1);
  if (lstm->projection.present) contract->scratch[UNPROJECTED] = (uint32_t)floats;
  if (lstm->hybrid) contract->scratch[BYTES] = (uint32_t)bytes;
  return BERTH_OK;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* A vector that is multiplied by matrices. */
typedef struct factor {
  const float *values;
  const int8_t *bytes; /* hybrid: the same in 8 bits */
  berth_hybrid_t by;
  uint32_t count;
} factor_t;

static factor_t factor_of(const berth_lstm_t *lstm, const float *values, uint32_t count,
                          uint8_t *bytes) {
  factor_t factor = {.values = values, .count = count};
  if (!lstm->hybrid) return factor;
  float min = 0.0f, max = 0.0f;
  berth_hybrid_span(values, count, &min, &max);
  factor.by = berth_hybrid_of(min, max, lstm->asymmetric);
  berth_hybrid_quantize(factor.by, values, count, bytes);
  factor.bytes = (const int8_t *)bytes;
  return factor;
}

/* By row `row` of a matrix. */
static float product(const factor_t *factor, const uint8_t *matrix, float scale, uint32_t row) {
  size_t at = (size_t)row * factor->count;
  if (factor->bytes == NULL) {
    return berth_dot_float(factor->values, matrix + at * sizeof(float), factor->count);
  }
  const int8_t *weights = (const int8_t *)matrix + at;
  uint32_t sum = berth_dot_int8(factor->bytes, weights, factor->count, factor->by.zero_point);
  return (float)(int32_t)sum * (factor->by.scale * scale);
}

/* ---- Gates ----------------------------------------------------------------------------------- */

/* One step of one batch. */
typedef struct step {
  const berth_lstm_t *lstm;
  factor_t in, hidden;
  const float *cell;
  float *sums; /* layer normalization: of the gates in turn, `units` each */
} step_t;

static float bias_of(const berth_lstm_gate_t *gate, uint32_t unit) {
  return gate->bias != NULL ? berth_load_float(gate->bias, unit) : 0.0f;
}

/* A gate of a unit before its function; normalized ones get their bias later. */
static float sum_of(const step_t *step, uint32_t index, uint32_t unit) {
  const berth_lstm_gate_t *gate = &step->lstm->gates[index];
  float sum = product(&step->in, gate->weights, gate->weights_scale, unit);
  if (gate->norm == NULL) sum += bias_of(gate, unit);
  sum += product(&step->hidden, gate->hidden_weights, gate->hidden_scale, unit);
  if (gate->peephole == NULL) return sum;
  float weight = step->lstm->hybrid
                     ? (float)((const int8_t *)gate->peephole)[unit] * gate->peephole_scale
                     : berth_load_float(gate->peephole, unit);
  return sum + weight * step->cell[unit];
}

static float *sums_of(const step_t *step, uint32_t index) {
  return step->sums + (size_t)(index % (CELL_GATE + 1)) * step->lstm->units;
}

/* Computes and normalizes a gate of all units; the output gate takes the place of the input gate.
 */
static void normalize(const step_t *step, uint32_t index) {
  const berth_lstm_gate_t *gate = &step->lstm->gates[index];
  uint32_t units = step->lstm->units;
  float *sums = sums_of(step, index), mean = 0.0f, variance = 0.0f;
  for (uint32_t i = 0; i < units; i++) {
    sums[i] = sum_of(step, index, i);
    mean += sums[i];
  }
  mean /= (float)units;
  for (uint32_t i = 0; i < units; i++) variance += (sums[i] - mean) * (sums[i] - mean);
  float scale = 1.0f / sqrtf(variance / (float)units + 1e-8f);
  for (uint32_t i = 0; i < units; i++) {
    sums[i] = (sums[i] - mean) * scale * berth_load_float(gate->norm, i) + bias_of(gate, i);
  }
}

static float gate_of(const step_t *step, uint32_t index, uint32_t unit) {
  float sum = step->sums != NULL ? sums_of(step, index)[unit] : sum_of(step, index, unit);
  return index == CELL_GATE ? berth_tanh(sum) : berth_logistic(sum);
}

static float limit(float x, float clip) {
  return clip > 0.0f ? fminf(fmaxf(x, -clip), clip) : x;
}

void berth_lstm_float_step(const berth_call_t *call, const berth_lstm_t *lstm, const float *in,
                           const float *hidden, float *cell, float *out) {
  uint8_t *bytes = call->scratch[BYTES];
  bool projects = lstm->projection.present;
  float *results = projects ? call->scratch[UNPROJECTED] : out;
  step_t step = {.lstm = lstm,
                 .in = factor_of(lstm, in, lstm->depth, bytes),
                 .cell = cell,
                 .sums = lstm->normalized ? call->scratch[SUMS] : NULL};
  if (lstm->hybrid) bytes += lstm->depth;
  step.hidden = factor_of(lstm, hidden, lstm->outputs, bytes);
  for (uint32_t i = lstm->coupled ? FORGET_GATE : INPUT_GATE; lstm->normalized && i <= CELL_GATE;
       i++) {
    normalize(&step, i);
  }
  for (uint32_t unit = 0; unit < lstm->units; unit++) {
    float forget = gate_of(&step, FORGET_GATE, unit);
    float add = lstm->coupled ? 1.0f - forget : gate_of(&step, INPUT_GATE, unit);
    float sum = forget * cell[unit] + add * gate_of(&step, CELL_GATE, unit);
    cell[unit] = limit(sum, lstm->clip);
  }
  if (lstm->normalized) normalize(&step, OUTPUT_GATE);
  for (uint32_t unit = 0; unit < lstm->units; unit++) {
    results[unit] = berth_tanh(cell[unit]) * gate_of(&step, OUTPUT_GATE, unit);
  }
  if (!projects) return;
  if (lstm->hybrid) bytes += lstm->outputs;
  factor_t all = factor_of(lstm, results, lstm->units, bytes);
  for (uint32_t i = 0; i < lstm->outputs; i++) {
    float sum = product(&all, lstm->projection.data, lstm->projection.scale, i);
    if (lstm->projection_bias.present) sum += berth_load_float(lstm->projection_bias.data, i);
    out[i] = limit(sum, lstm->projection_clip);
  }
}
