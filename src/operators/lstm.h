/* A long short-term memory as UNIDIRECTIONAL_SEQUENCE_LSTM has it: read from the operator, and the
 * step of one batch for each kind of numbers. */
#ifndef BERTH_OPERATORS_LSTM_H
#define BERTH_OPERATORS_LSTM_H

#include "operators/fixed_point.h"
#include "operators/sigmoid_table.h"

/* Gates, in the order in which the inputs have their constants. */
enum { INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE, GATES };

/* The constants of a gate: a row of the matrices, and an element of the vectors, for each unit. */
typedef struct berth_lstm_gate {
  const uint8_t *weights, *hidden_weights;
  const uint8_t *bias;     /* or NULL */
  const uint8_t *peephole; /* on the unit's own cell; or NULL */
  const uint8_t *norm;     /* of layer normalization; or NULL */
  float weights_scale, hidden_scale, peephole_scale;
} berth_lstm_gate_t;

typedef struct berth_lstm {
  berth_value_t input, hidden, cell, output;
  berth_lstm_gate_t gates[GATES];
  berth_value_t projection, projection_bias; /* may be absent */
  uint32_t batches, steps, depth;
  uint32_t units;   /* cells of a batch */
  uint32_t outputs; /* as many, unless there is a projection */
  bool time_major;
  bool coupled;                /* no input gate: 1 - forget gate */
  bool normalized;             /* by layer: all gates */
  bool hybrid;                 /* float32, weights int8 */
  bool asymmetric;             /* hybrid: inputs get a zero point */
  float clip, projection_clip; /* of the cell and of what is projected; 0: none */
} berth_lstm_t;

/* ---- int8, with an int16 cell ---------------------------------------------------------------- */

/* All that follows from the scales. */
typedef struct berth_lstm_factors {
  berth_multiplier_t input[GATES], hidden[GATES]; /* from products to gates */
  berth_multiplier_t keep, add;                   /* forget x cell, input x cell gate */
  berth_multiplier_t output;                      /* tanh(cell) x output gate */
  berth_sigmoid_scale_t cell;                     /* of the cell, for tanh */
  int16_t clip;
} berth_lstm_factors_t;

/* prepare: plain cells only. */
berth_status_t berth_lstm_int8_prepare(berth_call_t *call, const berth_lstm_t *lstm);
berth_lstm_factors_t berth_lstm_int8_factors(const berth_lstm_t *lstm);
void berth_lstm_int8_step(const berth_lstm_t *lstm, const berth_lstm_factors_t *factors,
                          const int8_t *in, const int8_t *hidden, int16_t *cell, int8_t *out);

/* ---- float32 and hybrid ---------------------------------------------------------------------- */

/* prepare: asks for scratch. */
berth_status_t berth_lstm_float_prepare(berth_call_t *call, const berth_lstm_t *lstm,
                                        berth_contract_t *contract);
void berth_lstm_float_step(const berth_call_t *call, const berth_lstm_t *lstm, const float *in,
                           const float *hidden, float *cell, float *out);

#endif
