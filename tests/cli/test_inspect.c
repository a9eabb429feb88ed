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
    assert_says(out, " -68,768\n");
  }
}

static void the_account_goes_on_to_what_a_device_needs(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/check_account.py \"$berth\" models/*.tflite", 0);
  assert_says(out, "11 accounts close");
  if (run("test -d \"${BERTH_SHARED:-../shared}/corpus\"") != 0) return;
  assert_status(
      "for m in mlperf_tiny/vww_96_int8 tflm/trained_lstm mediapipe/hand_landmark_lite; do "
      "echo ${BERTH_SHARED:-../shared}/corpus/$m/model.tflite; done | "
      "xargs python3 -B tests/cli/check_account.py \"$berth\"",
      0);
  assert_says(out, "3 accounts close");
  /* What is assumed is not in the file that would be run. */
  assert_status("berth inspect models/resnet8_int8.tflite --drop-unused", 0);
  assert_null(strstr(out, "RAM that a"));
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

static void a_run_tells_where_every_buffer_lies(void **state) {
  (void)state;
  assert_status(
      "for model in models/*.tflite; do [ $model = models/custom_op.tflite ] && continue; "
      "berth run $model --overlap none --print-allocations --json >$dir/r.json && "
      "berth plan $model --kernels --no-fold --json >$dir/p.json && "
      "python3 -B tests/cli/check_allocations.py $dir/r.json $dir/p.json || exit 1; done",
      0);
  static const char *const commands[] = {"plan --kernels", "inspect", "run"};
  for (size_t i = 0; i < 3; i++) {
    char command[160];
    snprintf(command, sizeof command,
             "berth %s models/lstm_sequence_int8.tflite --print-memory-usage --print-allocations",
             commands[i]);
    assert_status(command, 0);
    assert_says(out, "step  activations  scratch  workspace  live total  operator");
    assert_says(out, "tensor  class ");
  }
  /* A RESHAPE's output is its input, and the table says so. */
  assert_status("berth run models/resnet8_int8.tflite --print-allocations | grep '^  32 '", 0);
  assert_says(out, " 31 ");
  assert_status("berth run models/resnet8_int8.tflite --overlap none --print-allocations | "
                "grep -c 'shared with'",
                0);
  assert_string_equal(out, "1\n"); /* the heading */
}

static void other_shapes_are_planned_as_the_run_plans_them(void **state) {
  (void)state;
  static const char *const cases[] = {
      "models/mobilenet_v1_0.25_96_int8.tflite --set-shape 0=1,64,64,3",
      "models/resnet8_int8.tflite --set-shape 0=1,48,64,3",
      "models/mobilenet_v1_0.25_96_int8.tflite --set-shape 0=2,96,96,3"};
  for (size_t i = 0; i < 3; i++) {
    char command[512];
    snprintf(command, sizeof command,
             "berth run %s --overlap none --print-allocations --json >$dir/r.json && "
             "berth plan %s --kernels --no-fold --json >$dir/p.json && "
             "python3 -B tests/cli/check_allocations.py $dir/r.json $dir/p.json",
             cases[i], cases[i]);
    assert_status(command, 0);
  }
  assert_refused("berth plan models/resnet8_int8.tflite --set-shape nobody=1,2", 1, "nobody");
  assert_refused("berth plan docs/worked_example.csv --kernels", 1, "worked_example.csv");
  assert_refused("berth plan models/resnet8_int8.tflite --set-shape 0=1,32,32,4", 1, "operator 0");
}

static void what_nobody_needs_can_be_left_out(void **state) {
  (void)state;
  assert_status("berth plan models/svdf_keyword_int8.tflite --assume quantized-inputs "
                "--assume quantized-outputs --json",
                0);
  assert_says(out, "\"peak_bytes\": 6256,");
  assert_null(strstr(out, "\"name\": \"features\""));
  assert_null(strstr(out, "\"name\": \"probabilities\""));
  assert_status("berth plan models/detector_two_outputs_int8.tflite --drop-output 0 "
                "--drop-output 1 --json | grep -c '\"kind\": \"output\"'",
                1);
  assert_refused("berth plan models/resnet8_int8.tflite --drop-output 7", 1, "no output named 7");
  assert_refused("berth plan models/resnet8_int8.tflite --assume int8:nothing", 1, "nothing");
  assert_refused("berth plan models/resnet8_int8.tflite --assume bfloat", 2, "--assume");
}

static void what_is_not_tried_is_told(void **state) {
  (void)state;
  assert_status("berth inspect models/resnet8_int8.tflite --kernels", 0);
  assert_says(out, "Not tried: to run operators row by row");
  assert_status("berth inspect models/resnet8_int8.tflite | grep -c 'Not tried'", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_account_of_every_shipped_models_peak_adds_up),
      cmocka_unit_test(a_skip_connection_is_named_with_the_steps_it_costs),
      cmocka_unit_test(the_account_goes_on_to_what_a_device_needs),
      cmocka_unit_test(variables_and_inputs_that_are_kept_are_called_so),
      cmocka_unit_test(a_run_tells_where_every_buffer_lies),
      cmocka_unit_test(other_shapes_are_planned_as_the_run_plans_them),
      cmocka_unit_test(what_nobody_needs_can_be_left_out),
      cmocka_unit_test(a_problems_peak_has_an_account_but_no_operators),
      cmocka_unit_test(what_is_not_tried_is_told),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
