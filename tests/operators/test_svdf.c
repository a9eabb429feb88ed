/* SVDF against its definition, which remembers all inputs instead of results, and recorded runs. */
#include "operators/case.h"
#include "operators/recorded.h"

#define BATCHES 2
#define DEPTH   5
#define FILTERS 6
#define MEMORY  4
#define CALLS   9

/* Everything in real numbers: what the operator computes, straight from the definition. */
typedef struct numbers {
  float input[CALLS][BATCHES][DEPTH];
  float feature[FILTERS][DEPTH], time[FILTERS][MEMORY], bias[FILTERS];
} numbers_t;

static double expected(const numbers_t *n, int call, int batch, int unit, int rank, bool bias) {
  double sum = bias ? (double)n->bias[unit] : 0.0;
  for (int filter = unit * rank; filter < (unit + 1) * rank; filter++) {
    for (int age = 0; age < MEMORY && age <= call; age++) {
      double product = 0;
      for (int k = 0; k < DEPTH; k++)
        product += (double)n->input[call - age][batch][k] * (double)n->feature[filter][k];
      sum += product * (double)n->time[filter][MEMORY - 1 - age];
    }
  }
  return sum;
}

static void begin(case_t *c, int rank, int activation) {
  case_begin(c, &berth_kernel_svdf);
  case_option_int(c, BERTH_SVDF_RANK, rank);
  case_option_byte(c, BERTH_SVDF_ACTIVATION, activation);
}

static const int32_t input_dims[2] = {BATCHES, DEPTH}, feature_dims[2] = {FILTERS, DEPTH},
                     time_dims[2] = {FILTERS, MEMORY}, state_dims[2] = {BATCHES, FILTERS *MEMORY};

static void check_float(int rank, bool bias) {
  numbers_t n;
  int32_t units = FILTERS / rank;
  case_random_floats(&n.input[0][0][0], sizeof n / sizeof(float), 2, (uint32_t)rank);
  case_t c;
  begin(&c, rank, BERTH_ACTIVATION_RELU);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, input_dims, n.input[0], 0, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 2, feature_dims, n.feature, 0, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 2, time_dims, n.time, 0, 0);
  if (bias) {
    case_constant(&c, BERTH_TYPE_FLOAT32, 1, &units, n.bias, 0, 0);
  } else {
    case_absent(&c);
  }
  case_variable(&c, BERTH_TYPE_FLOAT32, 2, state_dims, 0, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, n.input[call]), BERTH_OK);
    case_expect_shape(&c, 2, (int32_t[]){BATCHES, units});
    double want[BATCHES * FILTERS];
    for (int i = 0; i < BATCHES * units; i++) {
      want[i] = expected(&n, call, i / units, i % units, rank, bias);
      if (want[i] < 0) want[i] = 0;
    }
    case_expect_floats(case_result(&c, 0).data, want, (size_t)(BATCHES * units));
  }
  case_end(&c);
}

static void float_equals_the_definition(void **state) {
  (void)state;
  for (int rank = 1; rank <= 3; rank++) {
    check_float(rank, true);
    check_float(rank, false);
  }
}

/* Quantized with scales that are powers of two, a state without loss and even sums, every step but
 * the last is exact, so the result is the definition's, rounded. */
static void check_int8(berth_tensor_type_t type, int rank, int32_t input_zero) {
  numbers_t n;
  int32_t units = FILTERS / rank;
  int8_t input[CALLS][BATCHES][DEPTH], feature[FILTERS][DEPTH], time8[FILTERS][MEMORY];
  int16_t time16[FILTERS][MEMORY];
  int32_t bias[FILTERS];
  bool wide = type == BERTH_TYPE_INT16;
  uint32_t seed = 77;
  int32_t state_zero = wide ? 0 : 3;
  for (int i = 0; i < CALLS * BATCHES * DEPTH; i++) {
    int32_t real = (int32_t)(case_random(&seed) % 9) - 4;
    (&input[0][0][0])[i] = (int8_t)(real + input_zero);
    (&n.input[0][0][0])[i] = (float)real;
  }
  for (int i = 0; i < FILTERS * DEPTH; i++) {
    (&feature[0][0])[i] = (int8_t)((int32_t)(case_random(&seed) % 9) - 4);
    (&n.feature[0][0])[i] = (&feature[0][0])[i];
  }
  for (int i = 0; i < FILTERS * MEMORY; i++) {
    int32_t weight = 2 * ((int32_t)(case_random(&seed) % 101) - 50);
    (&time8[0][0])[i] = (int8_t)weight;
    (&time16[0][0])[i] = (int16_t)(wide ? weight * 100 : weight);
    (&n.time[0][0])[i] = (float)(&time16[0][0])[i];
  }
  for (int i = 0; i < FILTERS; i++) {
    bias[i] = 2 * ((int32_t)(case_random(&seed) % 1001) - 500);
    n.bias[i] = (float)bias[i];
  }
  float output_scale = wide ? 16384.0f : 128.0f;
  case_t c;
  begin(&c, rank, BERTH_ACTIVATION_RELU); /* which the quantized kernels leave to the scales */
  case_input(&c, BERTH_TYPE_INT8, 2, input_dims, input[0], 1, input_zero);
  case_constant(&c, BERTH_TYPE_INT8, 2, feature_dims, feature, 1, 0);
  case_constant(&c, type, 2, time_dims, wide ? (void *)time16 : (void *)time8, 1, 0);
  case_constant(&c, BERTH_TYPE_INT32, 1, &units, bias, 1, 0);
  case_variable(&c, type, 2, state_dims, 1, state_zero, state_zero);
  case_output(&c, BERTH_TYPE_INT8, output_scale, -5);
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, input[call]), BERTH_OK);
    for (int i = 0; i < BATCHES * units; i++) {
      double real = expected(&n, call, i / units, i % units, rank, true);
      double scaled = real / (double)output_scale;
      int32_t want = (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5) - 5;
      if (want < -128) want = -128;
      if (want > 127) want = 127;
      assert_int_equal(((int8_t *)case_result(&c, 0).data)[i], want);
    }
  }
  case_end(&c);
}

static void int8_equals_the_definition(void **state) {
  (void)state;
  for (int rank = 1; rank <= 3; rank++) {
    check_int8(BERTH_TYPE_INT16, rank, -7);
    check_int8(BERTH_TYPE_INT8, rank, 11);
  }
}

static void an_int8_state_saturates(void **state) {
  (void)state;
  case_t c;
  int32_t one[2] = {1, 1};
  begin(&c, 1, 0);
  case_input(&c, BERTH_TYPE_INT8, 2, one, (int8_t[]){100}, 1, 0);
  case_constant(&c, BERTH_TYPE_INT8, 2, one, (int8_t[]){100}, 1, 0);
  case_constant(&c, BERTH_TYPE_INT8, 2, one, (int8_t[]){1}, 1, 0);
  case_absent(&c);
  case_variable(&c, BERTH_TYPE_INT8, 2, one, 1, 3, 3);
  case_output(&c, BERTH_TYPE_INT8, 1, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(*(int8_t *)case_result(&c, 0).data, 127 - 3);
  case_end(&c);
}

/* The hybrid form rounds inputs to 7 bits, so results are near the definition's only. */
static void float_with_int8_weights_is_near_the_definition(void **state) {
  (void)state;
  numbers_t n;
  int8_t feature[FILTERS][DEPTH], time[FILTERS][MEMORY];
  case_random_floats(&n.input[0][0][0], sizeof n / sizeof(float), 2, 5);
  case_random_bytes(feature, sizeof feature, 6);
  case_random_bytes(time, sizeof time, 7);
  for (int i = 0; i < FILTERS * DEPTH; i++) (&n.feature[0][0])[i] = (float)(&feature[0][0])[i] / 64;
  for (int i = 0; i < FILTERS * MEMORY; i++) (&n.time[0][0])[i] = (float)(&time[0][0])[i] / 32;
  memset(n.input[3], 0, sizeof n.input[3]); /* nothing to take a scale from */
  int32_t units = FILTERS / 2;
  case_t c;
  begin(&c, 2, 0);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, input_dims, n.input[0], 0, 0);
  case_constant(&c, BERTH_TYPE_INT8, 2, feature_dims, feature, 1.0f / 64, 0);
  case_constant(&c, BERTH_TYPE_INT8, 2, time_dims, time, 1.0f / 32, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 1, &units, n.bias, 0, 0);
  case_variable(&c, BERTH_TYPE_FLOAT32, 2, state_dims, 0, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  for (int call = 0; call < CALLS; call++) {
    assert_int_equal(call == 0 ? case_run(&c) : case_again(&c, n.input[call]), BERTH_OK);
    for (int i = 0; i < BATCHES * units; i++) {
      double want = expected(&n, call, i / units, i % units, 2, true);
      double got = (double)((float *)(void *)case_result(&c, 0).data)[i];
      /* Half a step of 2/127, through 5 x 2 x 4 weights of at most 2 and 4. */
      assert_true(got - want < 1.0 / 127 * 320 && want - got < 1.0 / 127 * 320);
    }
  }
  case_end(&c);
}

static void refuse(int rank, int32_t feature_depth, int32_t state_size, bool variable,
                   berth_tensor_type_t type, float scale) {
  case_t c;
  int32_t input[2] = {1, 2}, feature[2] = {4, feature_depth}, time[2] = {4, 3};
  int32_t memory[2] = {1, state_size};
  uint8_t zeros[64] = {0};
  begin(&c, rank, 0);
  case_input(&c, type, 2, input, zeros, scale, 0);
  case_constant(&c, type, 2, feature, zeros, scale, 0);
  case_constant(&c, type, 2, time, zeros, scale, 0);
  case_absent(&c);
  if (variable) {
    case_variable(&c, type, 2, memory, scale, 0, 0);
  } else {
    case_input(&c, type, 2, memory, zeros, scale, 0);
  }
  case_output(&c, type, scale, 0);
  case_refused(&c);
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  refuse(0, 2, 12, true, BERTH_TYPE_INT8, 1);
  refuse(3, 2, 12, true, BERTH_TYPE_INT8, 1);
  refuse(1, 3, 12, true, BERTH_TYPE_INT8, 1);
  refuse(1, 2, 11, true, BERTH_TYPE_INT8, 1);
  refuse(1, 2, 12, false, BERTH_TYPE_INT8, 1);
  refuse(1, 2, 12, true, BERTH_TYPE_INT8, 0);
  refuse(1, 2, 12, true, BERTH_TYPE_INT8, 1e20f);
  refuse(1, 2, 12, true, BERTH_TYPE_UINT8, 1);
}

static void the_shipped_model_runs_as_recorded(void **state) {
  (void)state;
  recorded_shipped("svdf_keyword_int8", 0, 0);
}

static void keyword_scrambled_runs_as_recorded(void **state) {
  (void)state;
  recorded_reference("tflm/keyword_scrambled", "tflm", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(float_equals_the_definition),
      cmocka_unit_test(int8_equals_the_definition),
      cmocka_unit_test(an_int8_state_saturates),
      cmocka_unit_test(float_with_int8_weights_is_near_the_definition),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(the_shipped_model_runs_as_recorded),
      cmocka_unit_test(keyword_scrambled_runs_as_recorded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
