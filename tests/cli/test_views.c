/* berth trace and berth graph. */
#include "program.h"

static void traces_and_graphs_of_the_shipped_models_say_what_inspect_says(void **state) {
  (void)state;
  assert_status(
      "for model in models/*.tflite; do timed=; "
      "[ $model = models/custom_op.tflite ] && timed=--untimed; "
      "berth inspect $model --json >$dir/i && "
      "berth trace $model $timed -o $dir/t >$dir/said && "
      "berth graph $model -o $dir/g.dot && berth graph $model --json >$dir/g && "
      "berth graph $model | cmp - $dir/g.dot && "
      "python3 -B tests/cli/check_views.py $dir/i $dir/t $dir/g.dot $dir/g || exit 1; done",
      0);
}

static void an_untimed_trace_is_the_same_every_time(void **state) {
  (void)state;
  assert_status("berth trace models/resnet8_int8.tflite --untimed -o $dir/a && "
                "berth trace models/resnet8_int8.tflite --untimed -o $dir/b --json && "
                "cmp $dir/a $dir/b",
                0);
  assert_says(out, "\"timed\": false");
}

static void graphviz_draws_the_graph(void **state) {
  (void)state;
  if (run("command -v dot") != 0) {
    print_message("skipped: GraphViz is not installed\n");
    skip();
  }
  assert_status(
      "for model in models/*.tflite; do berth graph $model | dot -Tsvg | grep -q '</svg>' "
      "|| exit 1; done",
      0);
}

static void bad_input_leaves_no_file(void **state) {
  (void)state;
  assert_refused("berth trace models/resnet8_int8.tflite", 2, "-o");
  assert_refused("berth trace models/custom_op.tflite -o $dir/left", 1, "custom_op.tflite");
  assert_refused("berth trace docs/worked_example.csv -o $dir/left", 1, "not a model");
  assert_refused("berth graph docs/worked_example.csv -o $dir/left", 1, "not a model");
  assert_refused("berth graph $dir/none.tflite -o $dir/left", 1, "none.tflite");
  assert_refused("berth graph models/resnet8_int8.tflite -o $dir/none/x.dot", 1, "none/x.dot");
  assert_status("test -e $dir/left", 1);
  assert_status("berth trace --help", 0);
  assert_says(out, "--untimed");
  assert_status("berth graph --help", 0);
  assert_says(out, "GraphViz");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(traces_and_graphs_of_the_shipped_models_say_what_inspect_says),
      cmocka_unit_test(an_untimed_trace_is_the_same_every_time),
      cmocka_unit_test(graphviz_draws_the_graph),
      cmocka_unit_test(bad_input_leaves_no_file),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
