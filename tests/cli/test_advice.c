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

static void outputs_that_a_conversion_kept_and_unused_operators_are_found(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/make_kept_model.py $dir/good.tflite $dir/kept.tflite "
                "$dir/unused.tflite && python3 -B tests/cli/check_advice.py \"$berth\" "
                "$dir/good.tflite $dir/kept.tflite $dir/unused.tflite",
                0);
  assert_says(out, "outputs");
  assert_says(out, "unused");
  /* Without what nobody needs, they are the model as it should be. */
  assert_status(
      "berth plan $dir/good.tflite --json | grep '\"peak_bytes\"' | head -n 1 >$dir/good; "
      "berth plan $dir/kept.tflite --drop-output inner --json | grep '\"peak_bytes\"' | "
      "head -n 1 | cmp - $dir/good && "
      "berth plan $dir/unused.tflite --drop-unused --json | grep '\"peak_bytes\"' | "
      "head -n 1 | cmp - $dir/good",
      0);
  assert_status("berth inspect $dir/kept.tflite", 0);
  assert_says(out, "do without the 19 outputs that the model itself reads on\n");
  assert_says(out, "--drop-output inner; then the limit is");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_line_of_advice_is_kept_on_the_shipped_models),
      cmocka_unit_test(every_line_of_advice_is_kept_on_the_corpus),
      cmocka_unit_test(outputs_that_a_conversion_kept_and_unused_operators_are_found),
      cmocka_unit_test(advice_names_the_change_the_options_and_the_next_limit),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
