/* berth inspect: the peak taken apart, on the shipped models and small problems. */
#include "program.h"

static void the_account_of_every_shipped_models_peak_adds_up(void **state) {
  (void)state;
  assert_status("for model in models/*.tflite; do berth inspect $model --json "
                ">$dir/$(basename $model).json || exit 1; done; "
                "python3 -B tests/cli/check_peaks.py $dir/*.json",
                0);
}

static void a_skip_connection_is_named_with_the_steps_it_costs(void **state) {
  (void)state;
  static const char *const commands[] = {"berth inspect models/resnet8_int8.tflite",
                                         "berth plan models/resnet8_int8.tflite"};
  for (size_t i = 0; i < 2; i++) {
    assert_status(commands[i], 0);
    assert_says(out, "The peak is at step 2, operator CONV_2D, where 49,152 bytes are live:");
    assert_says(out, "A: made by operator 0 CONV_2D; kept 2 steps by the skip connection into "
                     "operator 3 ADD\n");
    assert_says(out, "B: made by operator 1 CONV_2D; read here for the last time\n");
    assert_says(out, "C: made here; kept 1 step for operator 3 ADD\n");
    assert_says(out, "saved by reuse                   -68,768\n");
  }
}

static void variables_and_inputs_that_are_kept_are_called_so(void **state) {
  (void)state;
  assert_status("berth inspect models/svdf_keyword_int8.tflite --keep-inputs", 0);
  assert_says(out, "a variable, kept from one invoke to the next\n");
  assert_status("berth inspect models/resnet8_int8.tflite --keep-inputs", 0);
  assert_says(out, "given by the caller; an input, kept to the end though nobody reads it after "
                   "operator 0 CONV_2D\n");
}

static void a_problems_peak_has_an_account_but_no_operators(void **state) {
  (void)state;
  assert_status("berth plan docs/worked_example.csv", 0);
  assert_says(out, "buffers               1,404,928  2,007,040\n");
  assert_null(strstr(out, "nearest"));
  assert_null(strstr(out, "made by"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_account_of_every_shipped_models_peak_adds_up),
      cmocka_unit_test(a_skip_connection_is_named_with_the_steps_it_costs),
      cmocka_unit_test(variables_and_inputs_that_are_kept_are_called_so),
      cmocka_unit_test(a_problems_peak_has_an_account_but_no_operators),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
