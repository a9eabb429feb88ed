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

/* Of TFLM's numbered models, which are alike, the first of each kind. */
static void every_line_of_advice_is_kept_on_the_corpus(void **state) {
  (void)state;
  if (run("test -d \"${BERTH_SHARED:-../shared}/corpus\"") != 0) {
    print_message("skipped: there is no corpus in ../shared\n");
    skip();
  }
  assert_status("python3 -B tests/cli/check_advice.py \"$berth\" "
                "$(find \"${BERTH_SHARED:-../shared}/corpus/\" -name model.tflite | "
                "grep -vE '/tflm/[a-z_]+([2468]|[1-3][02468])/')",
                0);
  assert_says(out, "outputs");
  assert_says(out, "shape");
  assert_says(out, "diagonal");
  assert_says(out, "stream");
  assert_says(out, "stream-ends");
  assert_says(out, "clean");
}

static void advice_names_the_change_the_options_and_the_next_limit(void **state) {
  (void)state;
  assert_status("berth inspect models/resnet8_int8.tflite", 0);
  assert_says(out,
              "36,864  75.0 %     12,288  - images of 16x16 instead of 32x32; then the limit is "
              "operator 2 CONV_2D\n");
  assert_says(out, "  berth plan models/resnet8_int8.tflite --set-shape image=1,16,16,3\n");
  assert_status("berth inspect models/ds_cnn_kws_int8.tflite --drop-unused --overlap diagonal", 0);
  assert_says(out, "Nothing that was tried lowers the peak.");
}

static void what_changes_nothing_comes_first(void **state) {
  (void)state;
  assert_status("berth inspect models/resnet8_int8.tflite --json >$dir/advice.json && "
                "python3 -c \"import json; print(*(line['topic'] + ':' + line['kind'] for line in "
                "json.load(open('$dir/advice.json'))['advice']))\"",
                0);
  assert_says(out, "stream:free diagonal:free stream-ends:interface shape:network\n");
}

static void streamed_pages_have_advice_too(void **state) {
  (void)state;
  assert_status("berth report models/resnet8_int8.tflite --stream auto -o $dir/streamed.html", 0);
  assert_status("tr '\\n' ' ' <$dir/streamed.html", 0);
  assert_says(out, "berth plan models/resnet8_int8.tflite --stream auto --stream-input");
}

static void commands_are_quoted_for_a_shell(void **state) {
  (void)state;
  assert_status("cp models/resnet8_int8.tflite \"$dir/it's a model.tflite\" && "
                "python3 -B tests/cli/check_advice.py \"$berth\" \"$dir/it's a model.tflite\" -- "
                "--reserve \"my frame:4096:0-2\" --align 32 --no-fold --drop-unused",
                0);
  assert_says(out, "lines tried: ");
  assert_says(out, "shape");
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
  assert_says(out, "do without the 19 outputs that the model itself reads on; then the limit is");
  assert_says(out, "kept.tflite --drop-output inner\n");
}

static void clean_plans_what_optimize_leaves(void **state) {
  (void)state;
  assert_status("for m in models/*.tflite; do "
                "berth optimize $m --no-plan --no-verify --order file -o $dir/clean.tflite "
                ">$dir/said && for o in '' '--overlap inplace' '--stream auto'; do "
                "berth plan $dir/clean.tflite $o --json | grep -m 1 '\"peak_bytes\"' >$dir/a; "
                "berth plan $m --clean $o --json | grep -m 1 '\"peak_bytes\"' | cmp - $dir/a || "
                "exit 1; done; done",
                0);
  assert_refused("berth plan models/resnet8_int8.tflite --clean -o $dir/no.json", 2, "--clean");
  assert_status("berth report models/resnet8_int8.tflite --clean -o $dir/clean.html", 0);
  assert_refused("berth plan docs/worked_example.csv --clean", 1, "only a model");
  if (run("test -d \"${BERTH_SHARED:-../shared}/corpus\"") != 0) return;
  assert_status("m=${BERTH_SHARED:-../shared}/corpus/mediapipe/selfie_segmentation/model.tflite; "
                "berth plan $m --clean; berth plan $m",
                0);
  assert_says(out, "3,145,792 bytes"); /* 22 activations less */
  assert_says(out, "3,670,016 bytes");
}

static void a_custom_operator_is_needed_whatever_becomes_of_its_result(void **state) {
  (void)state;
  assert_status("berth plan models/custom_op.tflite --drop-output 0", 0);
  assert_says(out, ": 5 buffers in 8 steps"); /* input, and all that leads to the custom operator */
  assert_status("berth plan models/resnet8_int8.tflite --drop-output 0", 0);
  assert_says(out, ": 1 buffer in 16 steps"); /* nothing but the input is needed any more */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_line_of_advice_is_kept_on_the_shipped_models),
      cmocka_unit_test(every_line_of_advice_is_kept_on_the_corpus),
      cmocka_unit_test(outputs_that_a_conversion_kept_and_unused_operators_are_found),
      cmocka_unit_test(clean_plans_what_optimize_leaves),
      cmocka_unit_test(a_custom_operator_is_needed_whatever_becomes_of_its_result),
      cmocka_unit_test(what_changes_nothing_comes_first),
      cmocka_unit_test(streamed_pages_have_advice_too),
      cmocka_unit_test(commands_are_quoted_for_a_shell),
      cmocka_unit_test(advice_names_the_change_the_options_and_the_next_limit),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
