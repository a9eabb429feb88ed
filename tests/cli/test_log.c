/* berth log: a history that only grows, and survives bad input. */
#include "program.h"

#define MODEL "models/resnet8_int8.tflite"

static void each_call_appends_a_line_and_shows_the_trend(void **state) {
  (void)state;
  assert_status("berth log " MODEL " --history $dir/h.csv --label 'v1, \"first\"' --accuracy 87.10",
                0);
  assert_says(out, "v1, \"first\"      49,152");
  assert_status("berth log " MODEL " --history $dir/h.csv --label v2 --set-shape 0=1,16,16,3", 0);
  assert_says(out, "12,288  -36,864");
  assert_status("berth log models/svdf_keyword_int8.tflite --history $dir/h.csv --json", 0);
  assert_null(strstr(out, "49152")); /* another model's lines stay out */
  assert_status(
      "cut -d, -f1 $dir/h.csv | grep -c '^20..-..-..T..:..:..Z$'; "
      "head -n 2 $dir/h.csv | tail -n 1 | grep -o ',\"v1, \"\"first\"\"\",models.*,49152,'",
      0);
  assert_says(out, "3\n");
  assert_status("berth run " MODEL " --planner best --json | grep '\"total_bytes\"' | tr -dc 0-9 "
                ">$dir/n && grep -q \",$(cat $dir/n),\" $dir/h.csv",
                0);
  assert_status("cp $dir/h.csv $dir/k.csv && berth log " MODEL
                " --history $dir/h.csv --show --json "
                "&& cmp $dir/h.csv $dir/k.csv",
                0);
  assert_says(out, "\"label\": \"v1, \\\"first\\\"\", \"peak_bytes\": 49152");
  assert_says(out, "\"accuracy\": \"87.10\"");
}

static void a_model_that_cannot_be_run_is_noted_without_arena_and_latency(void **state) {
  (void)state;
  assert_status("berth log models/custom_op.tflite --history $dir/c.csv --json", 0);
  assert_says(out, "\"peak_bytes\": 5120, \"arena_bytes\": 0, \"latency_ns\": 0");
}

static void bad_input_leaves_the_history_alone(void **state) {
  (void)state;
  assert_refused("berth log " MODEL, 2, "--history");
  assert_refused("berth log " MODEL " --history $dir/x.csv --accuracy good", 2, "--accuracy");
  assert_refused("berth log $dir/none.tflite --history $dir/x.csv", 1, "none.tflite");
  assert_refused("berth log docs/worked_example.csv --history $dir/x.csv", 1, "not a model");
  assert_status("test -e $dir/x.csv", 1);
  write_file("x.csv", "a,b\n1,2\n");
  assert_refused("berth log " MODEL " --history $dir/x.csv", 1, "is no history");
  write_file("x.csv",
             "date,label,model,peak_bytes,arena_bytes,latency_ns,accuracy\nd,l,m,x,1,1,\n");
  assert_refused("berth log " MODEL " --history $dir/x.csv", 1, "x.csv:2");
  assert_status("grep -c . $dir/x.csv", 0);
  assert_string_equal(out, "2\n");
  assert_refused("berth log " MODEL " --history $dir/none/x.csv", 1, "none/x.csv");
  assert_status("berth log --help", 0);
  assert_says(out, "--accuracy NUMBER");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_call_appends_a_line_and_shows_the_trend),
      cmocka_unit_test(a_model_that_cannot_be_run_is_noted_without_arena_and_latency),
      cmocka_unit_test(bad_input_leaves_the_history_alone),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
