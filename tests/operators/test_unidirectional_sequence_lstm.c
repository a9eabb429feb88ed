/* UNIDIRECTIONAL_SEQUENCE_LSTM against its equations in double precision, and recorded runs. */
#include "operators/case.h"
#include "operators/recorded.h"
#include <math.h>

#define BATCHES 2
#define STEPS   4
#define DEPTH   5
#define UNITS   3
#define CALLS   3

enum { I, F, C, O }; /* gates, as inputs have them */

typedef struct numbers {
  float input[CALLS][BATCHES][STEPS][DEPTH];
  float weights[4][UNITS][DEPTH], recurrent[4][UNITS][UNITS], bias[4][UNITS];
} numbers_t;

typedef struct memory {
  double hidden[BATCHES][UNITS], cell[BATCHES][UNITS];
} memory_t;

static double logistic(double x) {
  return 1 / (1 + exp(-x));
}

/* One step of one batch, from the equations. */
static void step(const numbers_t *n, memory_t *m, int batch, const float *x, double clip) {
  double gates[4][UNITS];
  for (int g = 0; g < 4; g++) {
    for (int u = 0; u < UNITS; u++) {
      double sum = (double)n->bias[g][u];
      for (int k = 0; k < DEPTH; k++) sum += (double)n->weights[g][u][k] * (double)x[k];
      for (int k = 0; k < UNITS; k++) sum += (double)n->recurrent[g][u][k] * m->hidden[batch][k];
      gates[g][u] = g == C ? tanh(sum) : logistic(sum);
    }
  }
  for (int u = 0; u < UNITS; u++) {
    double cell = gates[F][u] * m->cell[batch][u] + gates[I][u] * gates[C][u];
    if (clip > 0) cell = fmin(fmax(cell, -clip), clip);
    m->cell[batch][u] = cell;
    m->hidden[batch][u] = gates[O][u] * tanh(cell);
  }
}

/* Position of a step in a tensor whose inner dimension is `width`. */
static int place(bool time_major, int batch, int t, int width) {
  return (time_major ? t * BATCHES + batch : batch * STEPS + t) * width;
}

static void begin(case_t *c, bool time_major, float clip) {
  case_begin(c, &berth_kernel_unidirectional_sequence_lstm);
  case_option_byte(c, BERTH_SEQUENCE_LSTM_ACTIVATION, BERTH_ACTIVATION_TANH);
  case_option_byte(c, BERTH_SEQUENCE_LSTM_TIME_MAJOR, time_major);
  case_option_float(c, BERTH_SEQUENCE_LSTM_CELL_CLIP, clip);
}

static const int32_t weight_dims[2] = {UNITS, DEPTH}, recurrent_dims[2] = {UNITS, UNITS},
                     bias_dims[1] = {UNITS}, state_dims[2] = {BATCHES, UNITS};

static void absent(case_t *c, int count) {
  for (int i = 0; i < count; i++) case_absent(c);
}

static void input_dims(bool time_major, int32_t *dims) {
  dims[0] = time_major ? STEPS : BATCHES;
  dims[1] = time_major ? BATCHES : STEPS;
  dims[2] = DEPTH;
}

static void check_float(bool time_major, float clip, uint32_t seed) {
  numbers_t n;
  memory_t m = {0};
  case_random_floats(&n.input[0][0][0][0], sizeof n / sizeof(float), 1.5f, seed);
  float input[CALLS][BATCHES * STEPS * DEPTH];
  for (int call = 0; call < CALLS; call++)
    for (int b = 0; b < BATCHES; b++)
      for (int t = 0; t < STEPS; t++)
        memcpy(&input[call][place(time_major, b, t, DEPTH)], n.input[call][b][t],
               sizeof n.input[call][b][t]);
  case_t c;
  int32_t dims[3];
  input_dims(time_major, dims);
  begin(&c, time_major, clip);
  case_input(&c, BERTH_TYPE_FLOAT32, 3, dims, input[0], 0, 0);
  for (int g = 0; g < 4; g++)
    case_constant(&c, BERTH_TYPE_FLOAT32, 2, weight_dims, n.weights[g], 0, 0);
  for (int g = 0; g < 4; g++)
    case_constant(&c, BERTH_TYPE_FLOAT32, 2, recurrent_dims, n.recurrent[g], 0, 0);
  absent(&c, 3);
  for (int g = 0; g < 4; g++) case_constant(&c, BERTH_TYPE_FLOAT32, 1, bias_dims, n.bias[g], 0, 0);
  absent(&c, 2);
  case_variable(&c, BERTH_TYPE_FLOAT32, 2, state_dims, 0, 0, 0);
  case_variable(&c, BERTH_TYPE_FLOAT32, 2, state_dims, 0, 0, 0);
  absent(&c, 4);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, input[call]), BERTH_OK);
    case_expect_shape(&c, 3, (int32_t[]){dims[0], dims[1], UNITS});
    double want[BATCHES * STEPS * UNITS];
    for (int b = 0; b < BATCHES; b++) {
      for (int t = 0; t < STEPS; t++) {
        step(&n, &m, b, n.input[call][b][t], (double)clip);
        memcpy(&want[place(time_major, b, t, UNITS)], m.hidden[b], sizeof m.hidden[b]);
      }
    }
    case_expect_floats(case_result(&c, 0).data, want, BATCHES * STEPS * UNITS);
  }
  /* The states are those of the equations, too. */
  case_expect_floats(c.tensors[c.inputs[18]].value.data, &m.hidden[0][0], BATCHES * UNITS);
  case_expect_floats(c.tensors[c.inputs[19]].value.data, &m.cell[0][0], BATCHES * UNITS);
  case_end(&c);
}

static void float_equals_the_equations(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed < 20; seed++) {
    check_float(seed % 2, seed % 3 == 0 ? 0.3f : 0.0f, seed);
  }
}

/* int8 with scales so fine that only the functions' tables and the roundings of 8-bit results are
 * left of the difference: 2 units of the output. */
static void check_int8(bool time_major, float clip, uint32_t seed) {
  const float input_scale = 1.0f / 64, weight_scale = 1.0f / 128, hidden_scale = 1.0f / 120;
  const float cell_scale = 1.0f / 4096;
  const int32_t input_zero = 5, hidden_zero = -3;
  static numbers_t n;
  static int8_t input[CALLS][BATCHES * STEPS * DEPTH];
  static int8_t weights[4][UNITS][DEPTH], recurrent[4][UNITS][UNITS];
  int32_t bias[4][UNITS];
  memory_t m = {0};
  for (int i = 0; i < 4 * UNITS * DEPTH; i++) {
    (&weights[0][0][0])[i] = (int8_t)((int32_t)(case_random(&seed) % 255) - 127);
    (&n.weights[0][0][0])[i] = (float)(&weights[0][0][0])[i] * weight_scale;
  }
  for (int i = 0; i < 4 * UNITS * UNITS; i++) {
    (&recurrent[0][0][0])[i] = (int8_t)((int32_t)(case_random(&seed) % 255) - 127);
    (&n.recurrent[0][0][0])[i] = (float)(&recurrent[0][0][0])[i] * weight_scale;
  }
  for (int i = 0; i < 4 * UNITS; i++) {
    (&bias[0][0])[i] = (int32_t)(case_random(&seed) % 8193) - 4096;
    (&n.bias[0][0])[i] = (float)(&bias[0][0])[i] * (input_scale * weight_scale);
  }
  for (int call = 0; call < CALLS; call++) {
    for (int b = 0; b < BATCHES; b++) {
      for (int t = 0; t < STEPS; t++) {
        for (int k = 0; k < DEPTH; k++) {
          int8_t value = (int8_t)((int32_t)(case_random(&seed) % 256) - 128);
          input[call][place(time_major, b, t, DEPTH) + k] = value;
          n.input[call][b][t][k] = (float)(value - input_zero) * input_scale;
        }
      }
    }
  }
  case_t c;
  int32_t dims[3];
  input_dims(time_major, dims);
  begin(&c, time_major, clip);
  case_input(&c, BERTH_TYPE_INT8, 3, dims, input[0], input_scale, input_zero);
  for (int g = 0; g < 4; g++)
    case_constant(&c, BERTH_TYPE_INT8, 2, weight_dims, weights[g], weight_scale, 0);
  for (int g = 0; g < 4; g++)
    case_constant(&c, BERTH_TYPE_INT8, 2, recurrent_dims, recurrent[g], weight_scale, 0);
  absent(&c, 3);
  for (int g = 0; g < 4; g++) case_constant(&c, BERTH_TYPE_INT32, 1, bias_dims, bias[g], 0, 0);
  absent(&c, 2);
  case_variable(&c, BERTH_TYPE_INT8, 2, state_dims, hidden_scale, hidden_zero, hidden_zero);
  case_variable(&c, BERTH_TYPE_INT16, 2, state_dims, cell_scale, 0, 0);
  absent(&c, 4);
  case_output(&c, BERTH_TYPE_INT8, hidden_scale, hidden_zero);
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, input[call]), BERTH_OK);
    const int8_t *got = (const int8_t *)case_result(&c, 0).data;
    for (int b = 0; b < BATCHES; b++) {
      for (int t = 0; t < STEPS; t++) {
        step(&n, &m, b, n.input[call][b][t], (double)clip);
        for (int u = 0; u < UNITS; u++) {
          double want = m.hidden[b][u] / (double)hidden_scale + hidden_zero;
          assert_true(fabs(got[place(time_major, b, t, UNITS) + u] - want) < 2.5);
        }
      }
    }
  }
  case_end(&c);
}

static void int8_is_within_two_units_of_the_equations(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed < 40; seed++) {
    check_int8(seed % 2, seed % 3 == 0 ? 0.3f : 0.0f, seed * 7919);
  }
}

/* Makes rows one at a time: as streaming does. */
static void steps_can_be_made_one_after_the_other(void **state) {
  (void)state;
  numbers_t n;
  case_random_floats(&n.input[0][0][0][0], sizeof n / sizeof(float), 1.5f, 3);
  float results[2][BATCHES * STEPS * UNITS];
  for (int way = 0; way < 2; way++) {
    case_t c;
    begin(&c, false, 0);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){BATCHES, STEPS, DEPTH}, n.input[0], 0, 0);
    for (int g = 0; g < 4; g++)
      case_constant(&c, BERTH_TYPE_FLOAT32, 2, weight_dims, n.weights[g], 0, 0);
    for (int g = 0; g < 4; g++)
      case_constant(&c, BERTH_TYPE_FLOAT32, 2, recurrent_dims, n.recurrent[g], 0, 0);
    absent(&c, 3);
    for (int g = 0; g < 4; g++)
      case_constant(&c, BERTH_TYPE_FLOAT32, 1, bias_dims, n.bias[g], 0, 0);
    absent(&c, 2);
    case_variable(&c, BERTH_TYPE_FLOAT32, 2, state_dims, 0, 0, 0);
    case_variable(&c, BERTH_TYPE_FLOAT32, 2, state_dims, 0, 0, 0);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    assert_int_equal(c.contract.kind, BERTH_ROW_LOCAL);
    if (way == 1) {
      memset(c.tensors[c.inputs[18]].value.data, 0, BATCHES * UNITS * sizeof(float));
      memset(c.tensors[c.inputs[19]].value.data, 0, BATCHES * UNITS * sizeof(float));
      assert_int_equal(case_by_rows(&c, 1), BERTH_OK);
    }
    memcpy(results[way], case_result(&c, 0).data, sizeof results[way]);
    case_end(&c);
  }
  assert_memory_equal(results[0], results[1], sizeof results[0]);
}

static void what_is_no_cell_is_refused(void **state) {
  (void)state;
  float zeros[UNITS * DEPTH] = {0};
  /* No weights of a gate, no recurrent ones, a plain input as state. */
  const int wrong[] = {2, 8, 18};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    case_t c;
    begin(&c, false, 0);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 1, DEPTH}, zeros, 0, 0);
    for (int k = 1; k < 24; k++) {
      bool is_wrong = k == wrong[i];
      if (k == 18 && is_wrong) {
        case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){1, UNITS}, zeros, 0, 0);
      } else if (k == 18 || k == 19) {
        case_variable(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){1, UNITS}, 0, 0, 0);
      } else if (k < 9 && !is_wrong) {
        case_constant(&c, BERTH_TYPE_FLOAT32, 2, k < 5 ? weight_dims : recurrent_dims, zeros, 0, 0);
      } else {
        case_absent(&c);
      }
    }
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    case_refused(&c);
  }
}

/* TensorFlow Lite has other functions for gates than TFLM (models/README.md). */
static void the_shipped_model_is_near_the_recording(void **state) {
  (void)state;
  recorded_shipped("lstm_sequence_int8", 0.03, 0);
}

static void keras_lstm_runs_as_recorded(void **state) {
  (void)state;
  recorded_reference("coral/keras_lstm_mnist_ptq", "tflm", 0);
}

static void trained_lstm_runs_as_recorded(void **state) {
  (void)state;
  recorded_reference("tflm/trained_lstm", "tflm", 1e-5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(float_equals_the_equations),
      cmocka_unit_test(int8_is_within_two_units_of_the_equations),
      cmocka_unit_test(steps_can_be_made_one_after_the_other),
      cmocka_unit_test(what_is_no_cell_is_refused),
      cmocka_unit_test(the_shipped_model_is_near_the_recording),
      cmocka_unit_test(keras_lstm_runs_as_recorded),
      cmocka_unit_test(trained_lstm_runs_as_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
