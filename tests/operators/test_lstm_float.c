/* UNIDIRECTIONAL_SEQUENCE_LSTM on float32, with float32 and int8 weights, in every variant, against
 * its equations in double precision. */
#include "operators/case.h"
#include <math.h>

#define BATCHES 2
#define STEPS   3
#define DEPTH   7
#define UNITS   5
#define OUTPUTS 4 /* with a projection */
#define CALLS   2

enum { I, F, C, O }; /* gates, as inputs have them */

/* What a variant has; bits of a number that counts through all of them. */
typedef struct variant {
  bool coupled, peepholes, projects, normalized, hybrid, asymmetric, clips;
  int outputs;
} variant_t;

/* Clipped vectors lie around zero just so that their zero point is a tie: not with asymmetric ones.
 */
static variant_t variant_of(int bits) {
  variant_t v = {.coupled = bits & 1,
                 .peepholes = bits & 2,
                 .projects = bits & 4,
                 .normalized = bits & 8,
                 .hybrid = bits & 16,
                 .asymmetric = bits & 32,
                 .clips = bits & 64 && !(bits & 32)};
  v.outputs = v.projects ? OUTPUTS : UNITS;
  return v;
}

#define VARIANTS 128

/* A constant: as floats, and in hybrid operators int8 whose meaning the floats are. */
typedef struct weights {
  float real[UNITS * DEPTH];
  int8_t bytes[UNITS * DEPTH];
  float scale;
} weights_t;

typedef struct numbers {
  float input[CALLS][BATCHES * STEPS * DEPTH];
  weights_t weights[4], recurrent[4], peephole[4], projection;
  float bias[4][UNITS], norm[4][UNITS], projection_bias[OUTPUTS];
} numbers_t;

static void random_weights(weights_t *w, bool hybrid, uint32_t *seed) {
  w->scale = 0.004f + 0.001f * (float)(case_random(seed) % 5);
  for (int i = 0; i < UNITS * DEPTH; i++) {
    w->bytes[i] = (int8_t)((int32_t)(case_random(seed) % 255) - 127);
    w->real[i] = (float)w->bytes[i] * w->scale;
    if (!hybrid) w->real[i] += 0.0007f * (float)(case_random(seed) % 7);
  }
}

static void random_numbers(numbers_t *n, bool hybrid, uint32_t seed) {
  case_random_floats(n->input[0], CALLS * BATCHES * STEPS * DEPTH, 1.5f, seed);
  case_random_floats(n->bias[0], 4 * UNITS, 0.5f, seed + 1);
  case_random_floats(n->norm[0], 4 * UNITS, 2, seed + 2);
  case_random_floats(n->projection_bias, OUTPUTS, 0.2f, seed + 3);
  seed += 4;
  for (int g = 0; g < 4; g++) {
    random_weights(&n->weights[g], hybrid, &seed);
    random_weights(&n->recurrent[g], hybrid, &seed);
    random_weights(&n->peephole[g], hybrid, &seed);
  }
  random_weights(&n->projection, hybrid, &seed);
}

/* ---- The equations --------------------------------------------------------------------------- */

static double logistic(double x) {
  return 1 / (1 + exp(-x));
}

/* What hybrid operators make of a vector before they multiply it: 255 levels around zero, or 256
 * between its extremes. */
static void round_vector(const variant_t *v, const double *x, int count, double *to) {
  double low = 0, high = 0;
  memcpy(to, x, (size_t)count * sizeof *to);
  if (!v->hybrid) return;
  for (int i = 0; i < count; i++) {
    low = fmin(low, x[i]);
    high = fmax(high, x[i]);
  }
  if (high <= low) return;
  double scale = v->asymmetric ? (high - low) / 255 : fmax(high, -low) / 127;
  double zero = v->asymmetric ? round(-128 - low / scale) : 0;
  for (int i = 0; i < count; i++) {
    double level = round(x[i] / scale + zero);
    to[i] = (fmin(fmax(level, v->asymmetric ? -128 : -127), 127) - zero) * scale;
  }
}

static double dot(const weights_t *w, int row, const double *x, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += (double)w->real[row * count + i] * x[i];
  return sum;
}

typedef struct memory {
  double hidden[BATCHES][UNITS], cell[BATCHES][UNITS];
} memory_t;

static void gate(const variant_t *v, const numbers_t *n, int g, const double *x, const double *h,
                 const double *cell, double *to) {
  double mean = 0, variance = 0;
  for (int u = 0; u < UNITS; u++) {
    to[u] = dot(&n->weights[g], u, x, DEPTH) + dot(&n->recurrent[g], u, h, v->outputs);
    if (v->peepholes && g != C) to[u] += (double)n->peephole[g].real[u] * cell[u];
    mean += to[u] / UNITS;
  }
  for (int u = 0; u < UNITS; u++) variance += (to[u] - mean) * (to[u] - mean) / UNITS;
  for (int u = 0; u < UNITS; u++) {
    if (v->normalized) to[u] = (to[u] - mean) / sqrt(variance + 1e-8) * (double)n->norm[g][u];
    to[u] += (double)n->bias[g][u];
    to[u] = g == C ? tanh(to[u]) : logistic(to[u]);
  }
}

static double clip(double x, double limit) {
  return fmin(fmax(x, -limit), limit);
}

static void step(const variant_t *v, const numbers_t *n, const float *input, double *hidden,
                 double *cell) {
  double in[DEPTH], x[DEPTH], h[UNITS], gates[4][UNITS], all[UNITS], rounded[UNITS];
  for (int i = 0; i < DEPTH; i++) in[i] = (double)input[i];
  round_vector(v, in, DEPTH, x);
  round_vector(v, hidden, v->outputs, h);
  for (int g = I; g <= C; g++) gate(v, n, g, x, h, cell, gates[g]);
  for (int u = 0; u < UNITS; u++) {
    if (v->coupled) gates[I][u] = 1 - gates[F][u];
    cell[u] = gates[F][u] * cell[u] + gates[I][u] * gates[C][u];
    if (v->clips) cell[u] = clip(cell[u], 0.4);
  }
  gate(v, n, O, x, h, cell, gates[O]);
  for (int u = 0; u < UNITS; u++) all[u] = gates[O][u] * tanh(cell[u]);
  if (!v->projects) {
    memcpy(hidden, all, sizeof all);
    return;
  }
  round_vector(v, all, UNITS, rounded);
  for (int i = 0; i < OUTPUTS; i++) {
    hidden[i] = dot(&n->projection, i, rounded, UNITS) + (double)n->projection_bias[i];
    if (v->clips) hidden[i] = clip(hidden[i], 0.15);
  }
}

/* ---- The operator ---------------------------------------------------------------------------- */

static void matrix(case_t *c, const variant_t *v, const weights_t *w, int rows, int columns) {
  int32_t dims[2] = {rows, columns};
  if (v->hybrid) case_constant(c, BERTH_TYPE_INT8, 2, dims, w->bytes, w->scale, 0);
  if (!v->hybrid) case_constant(c, BERTH_TYPE_FLOAT32, 2, dims, w->real, 0, 0);
}

static void vector(case_t *c, bool present, const float *values, int32_t count) {
  if (present) case_constant(c, BERTH_TYPE_FLOAT32, 1, &count, values, 0, 0);
  if (!present) case_absent(c);
}

static void make(case_t *c, const variant_t *v, const numbers_t *n) {
  case_begin(c, &berth_kernel_unidirectional_sequence_lstm);
  case_option_byte(c, BERTH_SEQUENCE_LSTM_ACTIVATION, BERTH_ACTIVATION_TANH);
  case_option_byte(c, BERTH_SEQUENCE_LSTM_ASYMMETRIC_INPUTS, v->asymmetric);
  case_option_float(c, BERTH_SEQUENCE_LSTM_CELL_CLIP, v->clips ? 0.4f : 0);
  case_option_float(c, BERTH_SEQUENCE_LSTM_PROJ_CLIP, v->clips ? 0.15f : 0);
  case_input(c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){BATCHES, STEPS, DEPTH}, n->input[0], 0, 0);
  for (int g = 0; g < 4; g++) {
    if (g == I && v->coupled)
      case_absent(c);
    else
      matrix(c, v, &n->weights[g], UNITS, DEPTH);
  }
  for (int g = 0; g < 4; g++) {
    if (g == I && v->coupled)
      case_absent(c);
    else
      matrix(c, v, &n->recurrent[g], UNITS, v->outputs);
  }
  for (int g = 0; g < 4; g++) {
    if (g == C) continue;
    int32_t units = UNITS;
    const weights_t *w = &n->peephole[g];
    if (!v->peepholes || (g == I && v->coupled))
      case_absent(c);
    else if (v->hybrid)
      case_constant(c, BERTH_TYPE_INT8, 1, &units, w->bytes, w->scale, 0);
    else
      case_constant(c, BERTH_TYPE_FLOAT32, 1, &units, w->real, 0, 0);
  }
  for (int g = 0; g < 4; g++) vector(c, !(g == I && v->coupled), n->bias[g], UNITS);
  if (v->projects) matrix(c, v, &n->projection, OUTPUTS, UNITS);
  if (!v->projects) case_absent(c);
  vector(c, v->projects, n->projection_bias, OUTPUTS);
  case_variable(c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){BATCHES, v->outputs}, 0, 0, 0);
  case_variable(c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){BATCHES, UNITS}, 0, 0, 0);
  for (int g = 0; g < 4; g++)
    vector(c, v->normalized && !(g == I && v->coupled), n->norm[g], UNITS);
  case_output(c, BERTH_TYPE_FLOAT32, 0, 0);
}

static void check(int bits) {
  static numbers_t n;
  variant_t v = variant_of(bits);
  memory_t m = {0};
  case_t c;
  random_numbers(&n, v.hybrid, (uint32_t)bits * 131 + 1);
  make(&c, &v, &n);
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, n.input[call]), BERTH_OK);
    case_expect_shape(&c, 3, (int32_t[]){BATCHES, STEPS, v.outputs});
    double want[BATCHES * STEPS * UNITS];
    for (int b = 0; b < BATCHES; b++) {
      for (int t = 0; t < STEPS; t++) {
        step(&v, &n, n.input[call] + (b * STEPS + t) * DEPTH, m.hidden[b], m.cell[b]);
        memcpy(want + (b * STEPS + t) * v.outputs, m.hidden[b], (size_t)v.outputs * sizeof *want);
      }
    }
    case_expect_floats(case_result(&c, 0).data, want, (size_t)(BATCHES * STEPS * v.outputs));
  }
  case_end(&c);
}

static void every_variant_equals_the_equations(void **state) {
  (void)state;
  for (int bits = 0; bits < VARIANTS; bits++) check(bits);
}

static void halves_of_a_variant_are_refused(void **state) {
  (void)state;
  static numbers_t n;
  /* Of a plain cell: an input gate without recurrent weights, a projection bias alone, one gate's
   * normalization; of a projection: none; a peephole of another type. */
  const int missing[] = {5, -1, -1, 16, -1}, extra[] = {-1, 17, 22, -1, 9};
  for (int i = 0; i < 5; i++) {
    variant_t v = variant_of(i == 3 ? 4 : 0);
    case_t c;
    random_numbers(&n, false, 1);
    make(&c, &v, &n);
    if (missing[i] >= 0) c.inputs[missing[i]] = BERTH_NO_TENSOR;
    if (extra[i] >= 0) {
      berth_tensor_type_t type = extra[i] == 9 ? BERTH_TYPE_INT8 : BERTH_TYPE_FLOAT32;
      c.inputs[extra[i]] = case_add(&c, type, 1, (int32_t[]){UNITS}, n.bias[0], 1, 0, true);
    }
    case_refused(&c);
  }
}

static void a_constant_input_that_is_not_aligned_is_refused(void **state) {
  (void)state;
  static numbers_t n;
  variant_t v = variant_of(0);
  case_t c;
  random_numbers(&n, false, 1);
  make(&c, &v, &n);
  const int32_t dims[3] = {BATCHES, STEPS, DEPTH};
  c.inputs[0] = case_add(&c, BERTH_TYPE_FLOAT32, 3, dims, n.input[0], 0, 0, true);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_variant_equals_the_equations),
      cmocka_unit_test(halves_of_a_variant_are_refused),
      cmocka_unit_test(a_constant_input_that_is_not_aligned_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
