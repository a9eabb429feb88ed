/* Resource variables: values keep between invokes, each interpreter has its own, a reset makes them
 * start anew; and the shipped model gives what stock TFLite recorded. */
#include "operators/recorded.h"

#include "operators/kernels.h"

static void the_shipped_model_runs_as_recorded(void **state) {
  (void)state;
  recorded_shipped("resource_variables", 1e-5, 0);
}

static void open_runner(berth_runner_t *runner) {
  berth_runner_options_t options;
  berth_complaint_t complaint;
  memset(&options, 0, sizeof options);
  options.interpreter.kernels = berth_kernels;
  assert_int_equal(berth_runner_open(BERTH_SOURCE_DIR "/models/resource_variables.tflite", &options,
                                     runner, &complaint),
                   BERTH_OK);
}

static int32_t count_runs(berth_runner_t *runner) {
  berth_value_t input = berth_interpreter_input(&runner->interpreter, 0);
  memset(input.data, 0, input.bytes);
  assert_int_equal(berth_interpreter_invoke(&runner->interpreter), BERTH_OK);
  int32_t runs;
  memcpy(&runs, berth_interpreter_output(&runner->interpreter, 1).data, sizeof runs);
  return runs;
}

static void every_interpreter_has_its_own_and_a_reset_starts_anew(void **state) {
  (void)state;
  berth_runner_t one, other;
  open_runner(&one);
  open_runner(&other);
  for (int32_t i = 1; i <= 3; i++) assert_int_equal(count_runs(&one), i);
  assert_int_equal(count_runs(&other), 1);
  assert_int_equal(count_runs(&one), 4);
  assert_int_equal(berth_interpreter_reset(&one.interpreter), BERTH_OK);
  assert_int_equal(count_runs(&one), 1);
  assert_int_equal(count_runs(&other), 2);
  berth_runner_close(&one);
  berth_runner_close(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_shipped_model_runs_as_recorded),
      cmocka_unit_test(every_interpreter_has_its_own_and_a_reset_starts_anew),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
