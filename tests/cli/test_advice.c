/* Advice of berth inspect: every line is kept by what a run with its options gives. */
#include "program.h"

static void every_line_of_advice_is_kept_on_the_shipped_models(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/check_advice.py \"$berth\" models/*.tflite", 0);
  assert_says(out, "boundary");
  assert_says(out, "dynamic");
  assert_status("python3 -B tests/cli/check_advice.py \"$berth\" models/*.tflite -- "
                "--keep-inputs --align 64",
                0);
  assert_says(out, "alignment");
  assert_says(out, "inputs");
  assert_status("python3 -B tests/cli/check_advice.py \"$berth\" models/*.tflite -- --like tflite",
                0);
}

static void every_line_of_advice_is_kept_on_the_corpus(void **state) {
  (void)state;
  if (run("test -d \"${BERTH_SHARED:-../shared}/corpus\"") != 0) {
    print_message("skipped: there is no corpus in ../shared\n");
    skip();
  }
  assert_status("python3 -B tests/cli/check_advice.py \"$berth\" "
                "$(find \"${BERTH_SHARED:-../shared}/corpus/\" -name model.tflite)",
                0);
  assert_says(out, "outputs");
  assert_says(out, "shape");
}

static void advice_names_the_change_the_options_and_the_next_limit(void **state) {
  (void)state;
  assert_status("berth inspect models/resnet8_int8.tflite", 0);
  assert_says(out, "36,864  75.0 %     12,288  images of 16x16 instead of 32x32\n");
  assert_says(out, "--set-shape 0=1,16,16,3; then the limit is operator 2 CONV_2D\n");
  assert_status("berth inspect models/detector_two_outputs_int8.tflite", 0);
  assert_says(out, "Nothing that was tried lowers the peak.");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_line_of_advice_is_kept_on_the_shipped_models),
      cmocka_unit_test(every_line_of_advice_is_kept_on_the_corpus),
      cmocka_unit_test(advice_names_the_change_the_options_and_the_next_limit),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
