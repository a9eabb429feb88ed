/* berth check, and what is built on it: the CMake function and the GitHub Action. */
#include "program.h"

#define MODEL "models/mobilenet_v1_0.25_96_int8.tflite"

static void a_model_fits_up_to_its_peak_and_not_a_byte_less(void **state) {
  (void)state;
  assert_status("berth check " MODEL " --max-arena 55296", 0);
  assert_says(out, "0 bytes are left");
  assert_status("berth check " MODEL " --max-arena 55295", 3);
  assert_says(out, "1 bytes over\nThe largest causes:\n          36,864  tensor 9 ");
  assert_says(out, "\n          18,432  tensor 6 block1/depthwise: made by operator 1 "
                   "DEPTHWISE_CONV_2D; read here for the last time\n");
}

static void each_runtimes_need_is_what_its_own_command_says(void **state) {
  (void)state;
  assert_status("berth run " MODEL " --planner best --json | grep '\"total_bytes\"' | "
                "tr -dc 0-9 >$dir/total; berth check " MODEL
                " --max-arena 1K --runtime berth --json "
                "| grep '\"arena_bytes\"' | tr -dc 0-9 | cmp - $dir/total",
                0);
  assert_status("berth check " MODEL " --max-arena 1K --runtime tflm --json", 3);
  assert_says(out, "\"runtime\": \"tflm\"");
  assert_says(out, "\"verdict\": \"over\"");
}

static void stock_tflms_need_is_the_measured_one(void **state) {
  (void)state;
  if (run("test -f \"${BERTH_SHARED:-../shared}/corpus/manifest.json\"") != 0) {
    print_message("skipped: there is no corpus in ../shared\n");
    skip();
  }
  assert_status("python3 -B tests/cli/check_tflm_limit.py \"$berth\" "
                "\"${BERTH_SHARED:-../shared}/corpus\"",
                0);
}

static void stock_tflites_need_is_its_forecast(void **state) {
  (void)state;
  assert_status("for m in models/*.tflite; do n=$(berth inspect $m --runtime tflite --json | "
                "grep -m 1 arena_used_bytes | tr -dc 0-9); "
                "berth check $m --runtime tflite --max-arena $n >/dev/null; case $? in 0|4) ;; "
                "*) exit 1;; esac; "
                "berth check $m --runtime tflite --max-arena $((n - 1)) >$dir/over; "
                "test $? = 3 && test $(wc -l <$dir/over) = 5 || exit 1; done",
                0);
  assert_status("berth check models/svdf_keyword_int8.tflite --max-arena 100 --runtime tflite", 3);
  assert_says(out, "the persistent arena: variables, and weights that are decompressed once\n");
}

static void a_plan_in_another_way_has_a_limit_too(void **state) {
  (void)state;
  static const char *const ways[] = {"--stream auto", "--stream-input", "--overlap diagonal",
                                     "--order best --overlap inplace"};
  for (size_t i = 0; i < 4; i++) {
    char command[1024];
    snprintf(command, sizeof command,
             "n=$(berth plan " MODEL " %s --json | grep -m 1 '\"peak_bytes\"' | tr -dc 0-9); "
             "berth check " MODEL " %s --max-arena $n && "
             "! berth check " MODEL " %s --max-arena $((n - 1)) && test $n -lt 55297",
             ways[i], ways[i], ways[i]);
    assert_status(command, 0);
  }
  assert_status("berth run " MODEL
                " --planner best --stream auto --json | grep '\"total_bytes\"' | "
                "tr -dc 0-9 >$dir/total; berth check " MODEL
                " --max-arena 1K --stream auto --runtime berth --json | grep '\"arena_bytes\"' | "
                "tr -dc 0-9 | cmp - $dir/total",
                0);
  assert_refused("berth check " MODEL " --max-arena 1K --runtime tflm --stream auto", 2,
                 "--stream");
  assert_refused("berth check " MODEL " --max-arena 1K --runtime berth --order best", 2, "--order");
}

/* No shipped model is streamed in another order than its file's. */
static void a_streamed_plan_is_checked_in_the_order_that_it_has(void **state) {
  (void)state;
  assert_status(
      "f=${BERTH_SHARED:-../shared}/corpus/mediapipe/face_detection_full_range/"
      "model.tflite; if [ ! -f $f ]; then echo skipped; exit; fi; "
      "berth plan $f --stream max --json >$dir/plan && grep -q '\"order\": ' $dir/plan && "
      "berth check $f --stream max --max-arena 1K --json >$dir/check; test $? = 3 && "
      "grep -m 1 '\"peak_bytes\"' $dir/plan | tr -dc 0-9 >$dir/peak && "
      "grep '\"arena_bytes\"' $dir/check | tr -dc 0-9 | cmp - $dir/peak",
      0);
  if (strcmp(out, "skipped\n") == 0) {
    print_message("skipped: there is no corpus in ../shared\n");
    skip();
  }
}

static void what_is_unknown_is_undecided_and_what_is_wrong_is_refused(void **state) {
  (void)state;
  assert_status("berth check models/custom_op.tflite --max-arena 1M", 4);
  assert_says(out, "undecided, since the size of 1 tensor is known only at run time");
  assert_status("berth check models/custom_op.tflite --max-arena 1K", 3);
  assert_refused("berth check " MODEL, 2, "--max-arena");
  assert_refused("berth check " MODEL " --max-arena 0", 2, "--max-arena");
  assert_refused("berth check " MODEL " --max-arena 64Q", 2, "64Q");
  assert_refused("berth check " MODEL " --max-arena 1K --runtime onnx", 2, "--runtime");
  assert_refused("berth check " MODEL " --max-arena 1K --runtime tflm --set-shape 0=1,64,64,1", 2,
                 "--set-shape");
  assert_refused("berth check " MODEL " --max-arena 1K --runtime berth --assume int8", 2,
                 "--assume");
  assert_refused("berth check $dir/none.tflite --max-arena 1K", 1, "none.tflite");
  assert_refused("berth check models/custom_op.tflite --max-arena 1K --runtime berth", 1,
                 "KeepConfident");
  assert_status("berth check --help", 0);
  assert_says(out, "--max-arena N");
}

static void the_cmake_function_makes_a_test_that_fails_over_the_limit(void **state) {
  (void)state;
  write_file("CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.22)\nproject(firmware NONE)\nenable_testing()\n"
             "include(${SOURCE}/cmake/BerthCheckModel.cmake)\n"
             "berth_check_model(NAME fits MODEL ${SOURCE}/" MODEL " MAX_ARENA 54K)\n"
             "berth_check_model(NAME over MODEL ${SOURCE}/" MODEL " MAX_ARENA 54K RUNTIME tflm "
             "OPTIONS --bits arm)\n");
  assert_status("cmake -S $dir -B $dir/b -DSOURCE=$PWD -DBERTH=$berth >/dev/null && "
                "ctest --test-dir $dir/b -R fits",
                0);
  assert_status("ctest --test-dir $dir/b -R over --output-on-failure", 8);
  assert_says(out, "bytes over");
  assert_says(out, "block1/pointwise");
  write_file("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\nproject(firmware NONE)\n"
                               "include(${SOURCE}/cmake/BerthCheckModel.cmake)\n"
                               "berth_check_model(NAME x MODEL nowhere.tflite MAX_ARENA 54K)\n");
  assert_status("cmake -S $dir -B $dir/c -DSOURCE=$PWD -DBERTH=$berth", 1);
  assert_says(err, "there is no");
}

/* The action's steps, as the runner would run them from a checkout elsewhere: configured for real,
 * but the program that is built already stands in for the one to be built, which would take minutes
 * (tools/check-action builds it). */
static void the_action_fails_if_one_of_its_models_is_over(void **state) {
  (void)state;
  static const char checkout[] =
      "mkdir \"$dir/a checkout\" $dir/bin $dir/work && cp " MODEL " $dir/work/good.tflite && "
      "tar -c --exclude='./build*' --exclude=./.git --exclude=node_modules . | "
      "tar -x -C \"$dir/a checkout\"";
  static const char cmake[] =
      "#!/bin/sh\n"
      "if [ \"$1\" != --build ]; then exec \"$REAL_CMAKE\" \"$@\"; fi\n"
      "[ \"$2 $3 $4\" = \"$RUNNER_TEMP/berth --target berth\" ] && [ -f \"$2/CMakeCache.txt\" ] && "
      "ln -sf \"$BERTH\" \"$2/berth\"\n";
  static const char action[] =
      "chmod +x $dir/bin/cmake && REAL_CMAKE=$(command -v cmake) BERTH=$berth PATH=$dir/bin:$PATH "
      "tools/run-action \"$dir/a checkout/action.yml\" $dir/work $dir/t %s";
  static const struct {
    const char *inputs;
    int status;
    const char *said;
  } cases[] = {
      {"model=good.tflite max-arena=54K", 0, "0 bytes are left"},
      {"model='good.tflite good.tflite' max-arena=50K", 1,
       "::error title=Berth memory check::good.tflite: its plan takes 55,296 bytes"},
      {"model=good.tflite max-arena=200K runtime=tflm 'options=--bits arm'", 0,
       "bytes (32-bit Arm); the limit is"},
      {"model='none.tflite good.tflite' max-arena=54K", 1, "none.tflite: No such file"},
      {"model=good.tflite max-arena=54Q", 1, "54Q"},
      {"model=good.tflite", 1, ""},
  };
  assert_status(checkout, 0);
  write_file("bin/cmake", cmake);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[1024];
    snprintf(command, sizeof command, action, cases[i].inputs);
    assert_status(command, cases[i].status);
    assert_says(out, cases[i].said);
    assert_null(strstr(err, "were not used"));
    if (cases[i].said[0] == '\0') assert_says(err, "input max-arena is required");
    if (i == 1) { /* both models are in the summary, as text that stays as it is */
      assert_status("grep -c '^```$' $dir/t/step_summary; grep -c '4,096 bytes over' "
                    "$dir/t/step_summary",
                    0);
      assert_string_equal(out, "4\n2\n");
    }
  }
}

static void the_readmes_example_of_the_action_has_its_inputs(void **state) {
  (void)state;
  assert_status("sed -n '/uses: OWNER\\/berth/,/^```/p' README.md | "
                "sed -n 's/^    \\([a-z-]*\\): .*/\\1/p' >$dir/example; "
                "sed -n '/^inputs:/,/^runs:/s/^  \\([a-z-]*\\):$/\\1/p' action.yml >$dir/inputs; "
                "test -s $dir/example && ! grep -vxFf $dir/inputs $dir/example",
                0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_fits_up_to_its_peak_and_not_a_byte_less),
      cmocka_unit_test(each_runtimes_need_is_what_its_own_command_says),
      cmocka_unit_test(stock_tflms_need_is_the_measured_one),
      cmocka_unit_test(stock_tflites_need_is_its_forecast),
      cmocka_unit_test(a_plan_in_another_way_has_a_limit_too),
      cmocka_unit_test(a_streamed_plan_is_checked_in_the_order_that_it_has),
      cmocka_unit_test(what_is_unknown_is_undecided_and_what_is_wrong_is_refused),
      cmocka_unit_test(the_cmake_function_makes_a_test_that_fails_over_the_limit),
      cmocka_unit_test(the_action_fails_if_one_of_its_models_is_over),
      cmocka_unit_test(the_readmes_example_of_the_action_has_its_inputs),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
