/* berth plan and berth inspect on the shipped models and small problems. */
#include "program.h"

static void every_planners_plan_of_every_shipped_model_is_right(void **state) {
  (void)state;
  assert_status("for model in models/*.tflite; do"
                "  for planner in none linear tflm tflite size breadth best; do"
                "    berth plan $model --json --planner $planner"
                "      >$dir/$(basename $model)-$planner.json || exit 1;"
                "  done;"
                "  berth plan $model --json --keep-inputs --no-fold --align 64 --reserve own:777"
                "    >$dir/$(basename $model)-options.json || exit 1;"
                "done; python3 -B tests/cli/check_plan.py $dir/*.json",
                0);
  assert_says(out, "96 plans checked");
}

static void planner_all_shows_each_planner_and_the_best_plan(void **state) {
  (void)state;
  assert_status("berth plan models/resnet8_int8.tflite --planner all", 0);
  assert_says(out, "planner best");
  for (const char *const *name = (const char *const[]){"none", "linear", "tflm", "tflite", "size",
                                                       "breadth", "best", NULL};
       *name != NULL; name++) {
    char line[32];
    snprintf(line, sizeof line, "\n  %-8s", *name);
    assert_says(out, line);
  }
  assert_status("berth plan models/resnet8_int8.tflite --planner all --json >$dir/all.json; "
                "python3 -B tests/cli/check_plan.py $dir/all.json",
                0);
  assert_status("cat $dir/all.json", 0);
  assert_says(out, "{\"planner\": \"none\", \"status\": \"planned\", \"peak_bytes\": 117920");
}

static const char example[] = "id,lower,upper,size\n"
                              "t0,0,1,602112\nt1,0,2,802816\nt2,1,3,401408\nt3,2,3,200704\n";

static void the_worked_example_takes_1404928_bytes(void **state) {
  (void)state;
  write_file("example.csv", example);
  assert_status("berth plan $dir/example.csv --json", 0);
  assert_says(out, "\"peak_bytes\": 1404928,");
  assert_says(out, "\"lower_bound_bytes\": 1404928,");
  assert_says(out, "\"sum_bytes\": 2007040,");
  assert_says(out, "\"optimal\": true,");
  assert_says(out, "{\"id\": \"t0\", \"name\": \"t0\", \"subgraph\": null, \"tensor\": null,");
}

static void a_capacity_ends_with_0_3_or_4(void **state) {
  (void)state;
  write_file("example.csv", example);
  assert_status("berth plan $dir/example.csv --capacity 1372K", 0);
  assert_says(out, "It fits into 1,404,928 bytes.");
  assert_status("berth plan $dir/example.csv --capacity 1404927 -o $dir/none.csv", 3);
  assert_says(out, "It does not fit");
  assert_says(out, "Step 0 needs 1,404,928 bytes, 1 too many");
  assert_says(out, "t1");
  assert_status("berth plan $dir/example.csv --capacity 1404927 --json", 3);
  assert_says(out, "\"status\": \"infeasible\"");
  assert_says(out, "\"peak_bytes\": null");
  assert_says(out, "\"obstacle\": {\"reason\": \"step\", \"step\": 0, \"a\": null, \"b\": null, "
                   "\"needed_bytes\": 1404928, \"available_bytes\": 1404927}");

  /* c could take a's place, but linear falls back only past topmost buffers. */
  write_file("stack.csv", "id,lower,upper,size\na,0,2,10\nb,1,3,10\nc,2,4,10\n");
  assert_status("berth plan $dir/stack.csv --planner linear --capacity 20 -o $dir/none.csv", 4);
  assert_says(out, "Undecided");
  assert_status("berth plan $dir/stack.csv --planner size --capacity 20", 0);
  assert_status("test -e $dir/none.csv", 1);
}

static void what_makes_a_plan_impossible_is_named(void **state) {
  (void)state;
  write_file("p.csv", "id,lower,upper,size\nin,0,2,100\nout,1,3,80\nbig,1,2,200\n");
  assert_status("berth plan $dir/p.csv --region a=150 --region b=150", 3);
  assert_says(out, "Buffer big alone needs 200 bytes, 50 too many");
  assert_status("berth plan $dir/p.csv --region a=200 --region b=150 | tail -n +5", 0);
  assert_says(out, "Step 1 needs 380 bytes in a and b, 30 too many");
  write_file("r.csv", "id,lower,upper,size,region\nin,0,2,100,a\nout,1,3,80,a\nbig,1,2,200,b\n");
  assert_status("berth plan $dir/r.csv --region a=150 --region b=1K", 3);
  assert_says(out, "Step 1 needs 180 bytes in a, 30 too many");
  assert_null(strstr(out, "big"));
  write_file("q.csv", "a,b,relation\nin,out,share\nin,out,apart\n");
  assert_status("berth plan $dir/p.csv --pairs $dir/q.csv --region a=1K --region b=1K", 3);
  assert_says(out, "What is asked of in and of out contradicts itself");
}

static void regions_are_filled_fastest_first(void **state) {
  (void)state;
  write_file("p.csv", "id,lower,upper,size,traffic,const\n"
                      "hot,0,2,100,1000,0\ncold,0,2,100,10,0\nweights,0,2,50,5,1\n");
  assert_status("berth plan $dir/p.csv --region fast=120@1 --region slow=1K@10 --json", 0);
  assert_says(out, "\"name\": \"hot\", \"subgraph\": null, \"tensor\": null, \"kind\": null, "
                   "\"size\": 100, \"first\": 0, \"last\": 1, \"offset\": 0, \"region\": \"fast\"");
  assert_says(out, "\"region\": \"slow\"");
  assert_says(out, "\"cost\": 1150,"); /* the weights cost 11 outside, 10 in the slow region */
  assert_status("berth plan $dir/p.csv --region fast=120@1 --region slow=1K@10 -o $dir/o.csv && "
                "cat $dir/o.csv",
                0);
  assert_says(out, "id,lower,upper,size,align,offset,region\nhot,0,2,100,1,0,fast\n");
}

static void a_plan_as_csv_is_a_problem_again(void **state) {
  (void)state;
  assert_status("berth plan models/lstm_sequence_int8.tflite --json -o $dir/plan.csv | "
                "grep -e peak_bytes -e sum_bytes -e lower_bound_bytes | head -n 3 >$dir/first; "
                "berth plan $dir/plan.csv --json | "
                "grep -e peak_bytes -e sum_bytes -e lower_bound_bytes | head -n 3 | "
                "cmp - $dir/first",
                0);
}

static void a_plan_as_json_is_what_is_printed(void **state) {
  (void)state;
  assert_status("berth plan models/lstm_sequence_int8.tflite --json -o $dir/file.json "
                ">$dir/printed && cmp $dir/printed $dir/file.json",
                0);
}

static void a_plan_as_header_compiles_and_says_the_arenas_size(void **state) {
  (void)state;
  assert_status("berth plan models/custom_op.tflite -o \"$dir/my-plan 2.h\"", 0);
  write_file("use.c", "#include \"my-plan 2.h\"\n#include <stdio.h>\n"
                      "int main(void) {\n"
                      "  for (unsigned i = 0; i < MY_PLAN_2_BUFFER_COUNT; i++)\n"
                      "    if (my_plan_2_offsets[i] % MY_PLAN_2_ARENA_ALIGN != 0) return 1;\n"
                      "  printf(\"arena %u\\n\", MY_PLAN_2_ARENA_BYTES);\n}\n");
  assert_status("cc -std=c11 -Wall -Wextra -Wpedantic -Werror -o $dir/use $dir/use.c && $dir/use",
                0);
  assert_says(out, "arena ");
  unsigned long arena = strtoul(out + strlen("arena "), NULL, 10);
  assert_status("berth plan models/custom_op.tflite --json", 0);
  char expected[96];
  snprintf(expected, sizeof expected, "\"peak_bytes\": %lu,", arena);
  assert_says(out, expected);
}

static void exact_proves_the_same_without_a_technique(void **state) {
  (void)state;
  write_file("example.csv", example);
  assert_status("berth plan --help | sed -n '/^Techniques/,$p' | awk 'NF > 1 && NR > 1 {print $1}'",
                0);
  char *names = strdup(out);
  unsigned count = 0;
  for (char *name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n"), count++) {
    char command[128];
    snprintf(command, sizeof command,
             "berth plan $dir/example.csv --planner exact --without %s --json", name);
    assert_status(command, 0);
    assert_says(out, "\"peak_bytes\": 1404928,");
    assert_says(out, "\"optimal\": true,");
  }
  free(names);
  assert_true(count > 0);
}

static void an_interrupt_or_a_time_limit_takes_the_best_plan_so_far(void **state) {
  (void)state;
  /* Large and irregular enough for the search to go on and on; if it doesn't, all the better. */
  assert_status("awk 'BEGIN { x = 1; print \"id,lower,upper,size\"; for (i = 0; i < 400; i++) {"
                " x = (x * 16807) % 2147483647; a = x % 900; x = (x * 16807) % 2147483647;"
                " b = x % 90 + 1; x = (x * 16807) % 2147483647;"
                " print i \",\" a \",\" a + b \",\" x % 9973 + 1 } }' >$dir/hard.csv",
                0);
  assert_status(
      "timeout --preserve-status -s INT 0.5 \"$berth\" plan $dir/hard.csv --planner exact "
      "--work-limit 1000G -o $dir/hard.json && "
      "berth plan $dir/hard.csv --planner exact --work-limit 1000G --time-limit 0.1 --json "
      ">$dir/timed.json && python3 -B tests/cli/check_plan.py $dir/hard.json $dir/timed.json",
      0);
}

static void reserved_buffers_are_planned_along(void **state) {
  (void)state;
  assert_status("berth plan models/resnet8_int8.tflite --reserve camera:10000 "
                "--reserve=boxes:1K:14-15 --json >$dir/r.json && "
                "python3 -B tests/cli/check_plan.py $dir/r.json && cat $dir/r.json",
                0);
  assert_says(out, "\"name\": \"camera\", \"subgraph\": null, \"tensor\": null, "
                   "\"kind\": \"reserved\", \"size\": 10000, \"first\": 0, \"last\": 15,");
  assert_says(out, "\"name\": \"boxes\", \"subgraph\": null, \"tensor\": null, "
                   "\"kind\": \"reserved\", \"size\": 1024, \"first\": 14, \"last\": 15,");
  assert_refused("berth plan models/resnet8_int8.tflite --reserve late:1:3-16", 1, "step 16");
}

static void a_streamed_plan_is_of_the_model_as_it_is_and_written_whole(void **state) {
  (void)state;
  static const char *const changes[] = {"--set-shape 0=1,64,64,3", "--assume int8",
                                        "--drop-output 0", "--sweep align", "-o $dir/streamed.csv"};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "berth plan models/mobilenet_v1_0.25_96_int8.tflite --stream max %s", changes[i]);
    assert_status(command, 2);
  }
  assert_status("berth plan models/mobilenet_v1_0.25_96_int8.tflite --stream-input", 0);
  /* Why rows, the frame that they come from and sums are there, though nobody reads them then. */
  assert_status("berth plan models/ds_cnn_kws_int8.tflite --stream max --stream-input", 0);
  assert_says(out, "made by operator 0 CONV_2D; needed while the steps of a run take turns");
  assert_says(out, "given by the caller; needed while the steps of a run take turns");
  assert_says(out, "an operator's own, needed while the steps of a run take turns");
  assert_says(out, "Streamed row by row");
}

static void like_sets_planner_alignment_and_input_rule(void **state) {
  (void)state;
  assert_status("berth plan models/resnet8_int8.tflite --like tflm --json >$dir/a; "
                "berth plan models/resnet8_int8.tflite --planner tflm --align 16 --json | "
                "cmp - $dir/a",
                0);
  assert_status("berth plan models/resnet8_int8.tflite --like tflite --json", 0);
  assert_says(out, "\"planner\": \"tflite\"");
  assert_says(out, "\"name\": \"image\", \"subgraph\": 0, \"tensor\": 0, \"kind\": \"input\", "
                   "\"size\": 3072, \"first\": 0, \"last\": 15,");
  assert_says(out, "\"name\": \"logits\", \"subgraph\": 0, \"tensor\": 36, "
                   "\"kind\": \"activation\", \"size\": 10,");
}

static void pairs_are_respected(void **state) {
  (void)state;
  write_file("p.csv", "id,lower,upper,size\nin,0,2,100\nout,1,3,80\nother,1,2,10\n");
  assert_status("berth plan $dir/p.csv --json", 0);
  assert_says(out, "\"peak_bytes\": 190,");
  write_file("q.csv", "relation,a,b\nshare,in,out\n");
  assert_status("berth plan $dir/p.csv --pairs $dir/q.csv --json", 0);
  assert_says(out, "\"peak_bytes\": 110,");
}

static void no_reuse_is_planner_none(void **state) {
  (void)state;
  assert_status("berth plan models/resnet8_int8.tflite --no-reuse --json >$dir/a; "
                "berth plan models/resnet8_int8.tflite --planner none --json | cmp - $dir/a",
                0);
  assert_status("grep peak_bytes $dir/a", 0);
  assert_says(out, "117920");
}

static void conflicts_are_shown_as_a_matrix_and_in_json(void **state) {
  (void)state;
  write_file("p.csv", "id,lower,upper,size\na,0,2,10\nb,1,3,10\nc,2,4,10\n");
  assert_status("berth plan $dir/p.csv --conflicts", 0);
  assert_says(out, "     0 \\#. a\n     1 #\\# b\n     2 .#\\ c\n");
  assert_status("berth plan $dir/p.csv --conflicts --json", 0);
  assert_says(out, "\"conflicts\": [\n    [0, 1],\n    [1, 2]\n  ]");
}

static void dynamic_tensors_are_listed_with_their_cause(void **state) {
  (void)state;
  assert_status("berth plan models/custom_op.tflite", 0);
  assert_says(out, "its custom operator leaves it without a shape");
  assert_status("berth inspect models/dynamic_shape.tflite --json", 0);
  assert_says(out, "\"cause\": \"its shape depends on data\"");
  assert_says(out, "\"allocation\": \"dynamic\", \"bytes\": null");
}

static void figures_are_given_with_and_without_folding(void **state) {
  (void)state;
  assert_status("berth plan models/segmentation_float16.tflite --json | grep -A1 '\"folded\"'", 0);
  char folded[512] = "";
  assert_true(strlen(out) < sizeof folded);
  memcpy(folded, out, strlen(out));
  assert_status("berth plan models/segmentation_float16.tflite --no-fold --json | "
                "grep -A1 '\"folded\"'",
                0);
  assert_string_equal(out, folded);
  assert_status("berth plan models/segmentation_float16.tflite", 0);
  assert_says(out, "operators on constants count as folded");
}

static void inspect_json_lists_operators_and_tensors(void **state) {
  (void)state;
  assert_status("for model in models/*.tflite; do berth inspect $model --json >$dir/i.json && "
                "python3 -c \"import json,sys; d=json.load(open(sys.argv[1])); "
                "assert d['planner']=='best' and d['operators'] and d['tensors']; "
                "sizes=[b['size'] for b in d['buffers']]; assert sum(sizes)==d['sum_bytes']; "
                "assert max(o['live_bytes'] or 0 for o in d['operators'])==d['lower_bound_bytes']\""
                " $dir/i.json || exit 1; done",
                0);
}

static void the_drawing_is_as_wide_as_the_window_and_ascii_where_it_must_be(void **state) {
  (void)state;
  assert_status("COLUMNS=60 LC_ALL=C berth plan models/resnet8_int8.tflite | tail -n 24", 0);
  for (const char *c = out; *c != '\0'; c++) assert_true((unsigned char)*c < 0x80);
  for (char *line = strtok(out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    assert_true(strlen(line) <= 60);
  }
  assert_status("COLUMNS=60 LC_ALL=C.UTF-8 berth plan models/resnet8_int8.tflite", 0);
  assert_says(out, "\xe2\x96\x88");
  assert_null(strchr(out, '\033')); /* no colours, since this is no terminal */
}

static void the_same_file_gives_the_same_output(void **state) {
  (void)state;
  assert_status("berth plan models/detector_two_outputs_int8.tflite >$dir/a; "
                "berth plan models/detector_two_outputs_int8.tflite | cmp - $dir/a",
                0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_planners_plan_of_every_shipped_model_is_right),
      cmocka_unit_test(planner_all_shows_each_planner_and_the_best_plan),
      cmocka_unit_test(the_worked_example_takes_1404928_bytes),
      cmocka_unit_test(a_capacity_ends_with_0_3_or_4),
      cmocka_unit_test(what_makes_a_plan_impossible_is_named),
      cmocka_unit_test(regions_are_filled_fastest_first),
      cmocka_unit_test(a_plan_as_csv_is_a_problem_again),
      cmocka_unit_test(a_plan_as_json_is_what_is_printed),
      cmocka_unit_test(a_plan_as_header_compiles_and_says_the_arenas_size),
      cmocka_unit_test(exact_proves_the_same_without_a_technique),
      cmocka_unit_test(an_interrupt_or_a_time_limit_takes_the_best_plan_so_far),
      cmocka_unit_test(reserved_buffers_are_planned_along),
      cmocka_unit_test(a_streamed_plan_is_of_the_model_as_it_is_and_written_whole),
      cmocka_unit_test(like_sets_planner_alignment_and_input_rule),
      cmocka_unit_test(pairs_are_respected),
      cmocka_unit_test(no_reuse_is_planner_none),
      cmocka_unit_test(conflicts_are_shown_as_a_matrix_and_in_json),
      cmocka_unit_test(dynamic_tensors_are_listed_with_their_cause),
      cmocka_unit_test(figures_are_given_with_and_without_folding),
      cmocka_unit_test(inspect_json_lists_operators_and_tensors),
      cmocka_unit_test(the_drawing_is_as_wide_as_the_window_and_ascii_where_it_must_be),
      cmocka_unit_test(the_same_file_gives_the_same_output),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
