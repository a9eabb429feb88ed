/* berth run --plan with a plan that berth plan has saved, streamed or in another order: executed as
 * it is, and refused where anything in it is wrong. */
#include "program.h"

#define MODEL "models/mobilenet_v1_0.25_96_int8.tflite"

static void a_saved_plan_runs_as_it_is(void **state) {
  (void)state;
  static const char *const options[] = {"", "--stream-input", "--align 64", "--order best",
                                        "--stream auto"};
  assert_status("berth run " MODEL " --fill random:4 --output-dir $dir", 0);
  assert_status("mv $dir/out0.bin $dir/whole.bin", 0);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char command[1024];
    snprintf(
        command, sizeof command,
        "berth plan --stream max %s " MODEL " -o $dir/plan.json >/dev/null && "
        "berth run " MODEL " --plan $dir/plan.json --fill random:4 --output-dir $dir --guard && "
        "cmp $dir/out0.bin $dir/whole.bin && "
        "berth run " MODEL " --plan $dir/plan.json --json >$dir/a.json && "
        "grep -q '\"block_rows\"' $dir/a.json && "
        "for f in plan a; do grep -o '\"peak_bytes\": [0-9]*' $dir/$f.json | head -1 >$dir/$f; "
        "done && cmp $dir/plan $dir/a",
        options[i]);
    assert_status(command, 0);
  }
}

/* Layers that run alone leave their outputs below their inputs, or above them in reverse. */
static void runs_in_reverse_are_saved_and_followed(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/make_hybrid_model.py $dir/hybrid.tflite && "
                "berth run $dir/hybrid.tflite --fill random:4 --output-dir $dir && "
                "mv $dir/out0.bin $dir/whole.bin && "
                "berth plan $dir/hybrid.tflite --stream max -o $dir/plan.json >$dir/text && "
                "grep -q 'of the runs from the last row to the first' $dir/text && "
                "grep -q '\"reverse\": true' $dir/plan.json && "
                "grep -q '\"reverse\": false' $dir/plan.json",
                0);
  assert_status("berth run $dir/hybrid.tflite --plan $dir/plan.json --fill random:4 --guard "
                "--output-dir $dir && cmp $dir/out0.bin $dir/whole.bin && "
                "berth run $dir/hybrid.tflite --stream max --fill random:4 --guard=fast "
                "--output-dir $dir && cmp $dir/out0.bin $dir/whole.bin",
                0);
  static const char *const edits[] = {"s/\"reverse\": true/\"reverse\": false/",
                                      "s/\"reverse\": false/\"reverse\": true/"};
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    char command[256];
    snprintf(command, sizeof command, "sed '%s' $dir/plan.json >$dir/bad.json", edits[i]);
    assert_status(command, 0);
    assert_refused("berth run $dir/hybrid.tflite --plan $dir/bad.json", 1, "is overwritten");
  }
  assert_status("berth plan --stream max " MODEL " -o $dir/plan.json && "
                "sed 's/\"reverse\": false/\"reverse\": true/' $dir/plan.json >$dir/bad.json",
                0);
  assert_refused("berth run " MODEL " --plan $dir/bad.json", 1, "cannot be walked");
}

/* Steps of time may lie over those that are done, but not be made from the last one on. */
static void what_remembers_rows_only_goes_forward(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/make_lstm_model.py $dir/lstm.tflite && "
                "berth run $dir/lstm.tflite --no-reuse --fill random:4 --output-dir $dir && "
                "mv $dir/out0.bin $dir/whole.bin && "
                "berth plan $dir/lstm.tflite --stream max -o $dir/plan.json && "
                "grep -q '\"block_rows\"' $dir/plan.json && "
                "! grep -q '\"reverse\": true' $dir/plan.json && "
                "berth run $dir/lstm.tflite --stream max --fill random:4 --guard "
                "--output-dir $dir && cmp $dir/out0.bin $dir/whole.bin && "
                "sed 's/\"reverse\": false/\"reverse\": true/' $dir/plan.json >$dir/bad.json",
                0);
  assert_refused("berth run $dir/lstm.tflite --plan $dir/bad.json", 1, "cannot be walked");
}

/* Wherever they stand: given row by row, or over what dies, the next invoke would not find them. */
static void variables_are_whole_and_by_themselves(void **state) {
  (void)state;
  assert_status("python3 -B tests/cli/make_variables_model.py $dir/model.tflite && "
                "berth run $dir/model.tflite --no-reuse --fill random:4 --output-dir $dir && "
                "mv $dir/out0.bin $dir/whole.bin && "
                "for o in '' --stream-input; do "
                "berth run $dir/model.tflite --stream max $o --fill random:4 --guard "
                "--output-dir $dir && cmp $dir/out0.bin $dir/whole.bin || exit 1; done",
                0);
}

/* Without a file in between: both place with the same budget. pose_landmark_full needs all of it.
 */
static void what_plan_promises_is_what_run_gives(void **state) {
  (void)state;
  assert_status(
      "full=${BERTH_SHARED:-../shared}/corpus/mediapipe/pose_landmark_full/model.tflite; "
      "streamed=0; "
      "for f in models/*.tflite $full; do [ -f $f ] || continue; "
      "case $f in */custom_op.*) continue;; " /* no kernel for it */
      "*/lstm_*) continue;; esac; "           /* run keeps variables apart from the plan */
      "for o in max 'max --stream-input --stream-output' auto; do "
      "[ \"$f $o\" = \"$full auto\" ] && continue; "
      "berth run --stream $o $f --json >$dir/run.json || exit 1; "
      "grep -q block_rows $dir/run.json || continue; streamed=$((streamed + 1)); "
      "berth plan --stream $o $f --json >$dir/plan.json || exit 1; "
      "for k in run plan; do grep -m 1 '\"peak_bytes\"' $dir/$k.json >$dir/$k; done; "
      "cmp $dir/run $dir/plan || { echo $f $o; exit 1; }; done; done; test $streamed -gt 12",
      0);
}

/* Where two tensors of one row have the same memory one after the other within a run, the guard
 * once took the second one for overwritten by the first. */
static void the_guard_lets_a_streamed_run_give_what_it_gives_without(void **state) {
  (void)state;
  assert_status(
      "lite=${BERTH_SHARED:-../shared}/corpus/mediapipe/pose_landmark_lite/model.tflite; "
      "for f in models/*.tflite $lite; do [ -f $f ] || continue; "
      "case $f in */custom_op.*) continue;; esac; " /* no kernel for it */
      "rm -rf $dir/plain $dir/guarded; mkdir $dir/plain $dir/guarded; "
      "berth run --fill random:1 --output-dir $dir/plain $f >$dir/said || exit 1; "
      "berth run --fill random:1 --stream auto --align 4 --guard=fast --output-dir $dir/guarded $f "
      ">$dir/said || exit 1; "
      "diff -r $dir/plain $dir/guarded || { echo $f; exit 1; }; done",
      0);
}

/* The same runs, with one thing changed: what is said of it. */
static void what_is_wrong_in_a_saved_plan_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *edit, *says;
  } bad[] = {
      {"s/\"rows\": 9,/\"rows\": 6,/", "row "},                          /* too small a ring */
      {"s/\"rows\": 9,/\"rows\": 900,/", "ring 1 of the streamed plan"}, /* rows it hasn't */
      {"s/\"rows\": 9,/\"rows\": 0,/", "ring 1 of the streamed plan"},   /* none */
      {"s/\"rows\": 9,/\"rows\": 9.5,/", "no whole number"},
      {"s/\"tensor\": 9, \"rows\"/\"tensor\": 900, \"rows\"/", "ring 1 of the streamed plan"},
      {"s/\"tensor\": 9, \"rows\"/\"tensor\": 18, \"rows\"/", "ring 1 of the streamed plan"},
      {"s/\"first\": 1, *\"last\": 3/\"first\": 3, \"last\": 1/", "run 1 of the streamed plan"},
      {"s/\"first\": 1, *\"last\": 3/\"first\": 0, \"last\": 3/", "run 1 of the streamed plan"},
      {"s/\"first\": 5, *\"last\": 6/\"first\": 5, \"last\": 99/", "run 2 of the streamed plan"},
      {"s/\"reverse\": false/\"reverse\": true/2", "run 1 of the streamed plan cannot be walked"},
      {"s/\"block_rows\": 4/\"block_rows\": 0/", "run 1 of the streamed plan"},
      {"s/\"block_rows\": 4/\"block_rows\": 48/", "is overwritten"}, /* more than rings have */
      {"s/\"offset\": 384/\"offset\": 0/", "is overwritten"},        /* the input over its output */
      {"s/\"offset\": 384/\"offset\": 8/", "misaligned"},
      {"s/\"offset\": 384/\"offset\": null/", "tensor 0 of the streamed plan has no offset"},
      {"s/\"offset\": 384/\"offset\": 2000000000/", "beyond a gigabyte"},
      {"s/\"streaming\": {/\"streaming\": {\"order\": [0, 1, 2],/",
       "the order of the plan is none"},
      {"s/\"streaming\": {/\"streaming\": {\"order\": [1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "
       "13,"
       " 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30],/",
       "the order of the plan is none"},
      {"s/\"runs\": \\[/\"runs\": [7,/", "a run of the streamed plan is no object"},
      {"s/\"runs\": \\[/\"runs\": [/; $d", "line "}, /* cut off */
  };
  assert_status("berth plan --stream max " MODEL " -o $dir/plan.json", 0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char command[1024];
    /* Runs are on lines of their own: joined first, so that an edit may span keys. */
    snprintf(command, sizeof command,
             "tr '\\n' ' ' <$dir/plan.json | sed 's/{\"id\"/\\n&/g' >$dir/flat.json; "
             "sed '%s' $dir/flat.json >$dir/bad.json; ! cmp -s $dir/flat.json $dir/bad.json",
             bad[i].edit);
    assert_status(command, 0);
    assert_refused("berth run " MODEL " --plan $dir/bad.json --output-dir $dir/none", 1,
                   bad[i].says);
    assert_says(err, "bad.json");
    assert_status("test -e $dir/none/out0.bin", 1);
  }
}

/* Whole tensors' offsets, and operators that cannot be prepared: one line says what and why. */
static void what_cannot_be_prepared_is_told_in_one_line(void **state) {
  (void)state;
  assert_status("berth plan " MODEL " -o $dir/plan.json && "
                "sed 's/\"offset\": [0-9]*/\"offset\": 0/' $dir/plan.json >$dir/bad.json",
                0);
  assert_refused("berth run " MODEL " --plan $dir/bad.json", 1,
                 "offsets that are given overlap while both tensors are live");
  assert_refused("berth run " MODEL " --plan $dir/bad.json --replay models/reference/"
                 "mobilenet_v1_0.25_96_int8",
                 1, "offsets that are given overlap");
  assert_refused("berth run models/custom_op.tflite", 1,
                 "operator 4 KeepConfident (float32, float32 -> float32): there is no kernel");
  assert_refused("berth run --guard models/custom_op.tflite", 1, "there is no kernel");
  assert_refused("berth trace models/custom_op.tflite -o $dir/trace.json", 1, "there is no kernel");
}

static void other_commands_say_that_a_plan_is_streamed(void **state) {
  (void)state;
  assert_status("berth plan --stream max " MODEL " -o $dir/plan.json", 0);
  assert_refused("berth check-plan " MODEL " $dir/plan.json", 1, "is a streamed plan");
  assert_refused("berth bisect " MODEL " --plan $dir/plan.json", 1, "is a streamed plan");
  assert_refused("berth run --compare none " MODEL " --plan $dir/plan.json", 1,
                 "is a streamed plan");
  assert_refused("berth run --keep-inputs " MODEL " --plan $dir/plan.json", 1, "inputs kept");
  assert_refused("berth run --set-shape 0=1,48,48,3 " MODEL " --plan $dir/plan.json", 1,
                 "other shapes");
}

#define DETECTOR "models/detector_two_outputs_int8.tflite"

/* Rows of outputs that are never whole are written as they are made; the files have all of them. */
static void rows_of_an_output_are_written_as_they_come(void **state) {
  (void)state;
  assert_status(
      "mkdir $dir/whole && berth run " DETECTOR " --fill random:4 --output-dir $dir/whole", 0);
  assert_status("mkdir $dir/rows && berth run " DETECTOR " --stream max --stream-input "
                "--stream-output --fill random:4 --output-dir $dir/rows --guard",
                0);
  assert_says(out, "output rows were delivered in");
  assert_status("cmp $dir/rows/out0.bin $dir/whole/out0.bin && "
                "cmp $dir/rows/out1.bin $dir/whole/out1.bin",
                0);
  assert_status("berth plan " DETECTOR " --stream max --stream-input --stream-output "
                "-o $dir/plan.json && berth run " DETECTOR " --plan $dir/plan.json --fill random:4 "
                "--output-dir $dir/rows && cmp $dir/rows/out0.bin $dir/whole/out0.bin",
                0);
  assert_says(out, "output rows were delivered in");
  assert_refused("berth run " DETECTOR " --stream max --stream-input --stream-output "
                 "--output-dir $dir/none",
                 1, "/none/out");
}

/* What firmware includes: it compiles, and has the runs and the offsets of the plan. */
static void a_streamed_plan_is_written_as_a_header(void **state) {
  (void)state;
  static const char *const options[] = {"", "--order best --stream-input"};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char command[1024];
    snprintf(
        command, sizeof command,
        "berth plan --stream max %s models/ds_cnn_kws_int8.tflite -o $dir/my_plan.h && "
        "berth plan --stream max %s models/ds_cnn_kws_int8.tflite -o $dir/plan.json && "
        "runs=$(grep -c '\"block_rows\"' $dir/plan.json) && "
        "printf '#include \"my_plan.h\"\nint main(void) { return my_plan_stream.run_count == "
        "%%u && my_plan_offsets[0] == (uint32_t)my_plan_tensor_offsets[0] ? 0 : 1; }' $runs "
        ">$dir/main.c && cc -std=c11 -Wall -Werror -Iinclude -I$dir $dir/main.c -o $dir/main && "
        "$dir/main",
        options[i], options[i]);
    assert_status(command, 0);
  }
  assert_refused("berth plan --stream max " MODEL " -o $dir/plan.csv", 2, "mislead");
}

/* The order of berth plan --order best is saved, too, where nothing is streamed. */
static void a_plan_in_another_order_is_followed(void **state) {
  (void)state;
  static const char *const options[] = {"", "--keep-inputs", "--align 64"};
  assert_status("python3 -B tests/cli/make_forked_model.py $dir/forked.tflite && "
                "berth run $dir/forked.tflite --fill random:4 --output-dir $dir && "
                "mv $dir/out0.bin $dir/whole.bin && "
                "berth plan $dir/forked.tflite -o $dir/file.json >/dev/null && "
                "! grep -q '\"order\"' $dir/file.json",
                0);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char command[1024];
    snprintf(command, sizeof command,
             "m=$dir/forked.tflite; o='%s'; "
             "berth plan $m --order best $o -o $dir/plan.json >/dev/null && "
             "berth check-plan $m $dir/plan.json $o && "
             "berth run $m --plan $dir/plan.json $o --fill random:4 --output-dir $dir --guard && "
             "cmp $dir/out0.bin $dir/whole.bin && "
             "berth run $m --plan $dir/plan.json $o --json >$dir/a.json && "
             "for f in file plan a; do grep -m 1 -o '\"peak_bytes\": [0-9]*' $dir/$f.json | "
             "tr -dc 0-9 >$dir/$f; done && cmp $dir/plan $dir/a && "
             "test $(cat $dir/plan) -lt $(cat $dir/file)",
             options[i]);
    assert_status(command, 0);
  }
  assert_status("berth plan $dir/forked.tflite --order best --overlap inplace -o $dir/in.json && "
                "berth check-plan $dir/forked.tflite $dir/in.json && "
                "berth run $dir/forked.tflite --plan $dir/in.json --fill random:4 --output-dir "
                "$dir --guard && cmp $dir/out0.bin $dir/whole.bin",
                0);

  /* In the file's order, its offsets are wrong; an order that is none is refused. */
  static const struct {
    const char *edit, *says;
    int checked; /* exit status of check-plan */
  } bad[] = {
      {"s/\"order\"/\"no_order\"/", NULL, 3}, /* two lines */
      {"s/\"order\": \\[ *0,/\"order\": [/", "the order of the plan is none", 1},
      {"s/\"order\": \\[ *0,/\"order\": [7, 0,/", "the order of the plan is none", 1},
      {"s/\"order\": \\[ *0, *\\([0-9]*\\),/\"order\": [\\1, 0,/", "the order of the plan is none",
       1},
      {"s/\"order\": \\[/\"order\": [[],/", "no whole number", 1},
      {"s/\"order\": \\[/\"order\": [0.5,/", "no whole number", 1},
  };
  assert_status("berth plan $dir/forked.tflite --order best -o $dir/plan.json && "
                "tr '\\n' ' ' <$dir/plan.json >$dir/flat.json && "
                "berth check-plan $dir/forked.tflite $dir/flat.json",
                0);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char command[512];
    snprintf(command, sizeof command,
             "sed '%s' $dir/flat.json >$dir/bad.json; ! cmp -s $dir/flat.json $dir/bad.json",
             bad[i].edit);
    assert_status(command, 0);
    if (bad[i].says == NULL) {
      assert_status("berth run $dir/forked.tflite --plan $dir/bad.json", 1);
    } else {
      assert_refused("berth run $dir/forked.tflite --plan $dir/bad.json", 1, bad[i].says);
    }
    assert_status("berth check-plan $dir/forked.tflite $dir/bad.json", bad[i].checked);
  }
  /* What reads and writes a variable has its turn, wherever its tensors are. */
  assert_status("berth plan models/resource_variables.tflite --planner none -o $dir/none.json && "
                "sed '1s/{/{ \"order\": [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 6, 11, 12],/' "
                "$dir/none.json >$dir/bad.json && ! cmp -s $dir/none.json $dir/bad.json",
                0);
  assert_refused("berth run models/resource_variables.tflite --plan $dir/bad.json", 1,
                 "whose effects it sees");
  assert_refused("berth bisect $dir/forked.tflite --plan $dir/plan.json", 1, "another order");
  assert_status("berth plan $dir/forked.tflite --order best -o $dir/forked.h && "
                "printf '#include \"forked.h\"\nint main(void) { return forked_order[0] == 0 && "
                "forked_order[7] == 7 && forked_offsets[0] < FORKED_ARENA_BYTES ? 0 : 1; }' "
                ">$dir/main.c && cc -std=c11 -Wall -Werror -I$dir $dir/main.c -o $dir/main && "
                "$dir/main",
                0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_saved_plan_runs_as_it_is),
      cmocka_unit_test(runs_in_reverse_are_saved_and_followed),
      cmocka_unit_test(what_remembers_rows_only_goes_forward),
      cmocka_unit_test(variables_are_whole_and_by_themselves),
      cmocka_unit_test(what_plan_promises_is_what_run_gives),
      cmocka_unit_test(the_guard_lets_a_streamed_run_give_what_it_gives_without),
      cmocka_unit_test(a_plan_in_another_order_is_followed),
      cmocka_unit_test(what_is_wrong_in_a_saved_plan_is_refused),
      cmocka_unit_test(rows_of_an_output_are_written_as_they_come),
      cmocka_unit_test(a_streamed_plan_is_written_as_a_header),
      cmocka_unit_test(what_cannot_be_prepared_is_told_in_one_line),
      cmocka_unit_test(other_commands_say_that_a_plan_is_streamed),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
