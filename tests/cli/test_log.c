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

static void every_figure_has_its_trend(void **state) {
  (void)state;
  write_file("t.csv", "date,label,model,peak_bytes,arena_bytes,latency_ns,accuracy\n"
                      "2026-01-01T00:00:00Z,a,m.tflite,800,0,4000000,90\n"
                      "2026-01-02T00:00:00Z,b,other.tflite,7,7,7,7\n"
                      "2026-01-02T00:00:00Z,c,m.tflite,100,1000,0,92.5\n"
                      "2026-01-03T00:00:00Z,d,m.tflite,450,1500,1000000,\n");
  assert_status("COLUMNS=100 LC_ALL=C berth log m.tflite --history $dir/t.csv --show", 0);
  assert_says(out, "\ntrend        lowest       highest  first   last   change\n");
  assert_says(out, "\npeak bytes      100  #_=      800    800    450  -43.8 %\n");
  assert_says(out, "\narena bytes   1,000   _#    1,500  1,000  1,500  +50.0 %\n");
  assert_says(out, "\nms            1.000  # _    4.000  4.000  1.000  -75.0 %\n");
  assert_says(out, "\naccuracy         90  _#      92.5     90   92.5   +2.8 %\n");
  assert_status("COLUMNS=100 LC_ALL=C.UTF-8 berth log m.tflite --history $dir/t.csv --show", 0);
  assert_says(out, "100  \u2588\u2581\u2585      800");
  /* The last lines, where there is no room for all. */
  assert_status("for i in $(seq 100); do echo 2026,x,m.tflite,$i,1,1,; done >>$dir/t.csv && "
                "COLUMNS=40 LC_ALL=C berth log m.tflite --history $dir/t.csv --show",
                0);
  assert_says(out, "peak bytes");
  /* One line is no trend. */
  assert_status("berth log other.tflite --history $dir/t.csv --show", 0);
  assert_null(strstr(out, "trend"));
}

static void what_a_history_holds_is_printed_with_care(void **state) {
  (void)state;
  write_file("c.csv", "date,label,model,peak_bytes,arena_bytes,latency_ns,accuracy\n"
                      "2026\x1b[1m,\x1b[2m,m.tflite,8,0,0,\x1b[3m\n");
  assert_status("berth log m.tflite --history $dir/c.csv --show", 0);
  assert_says(out, "\n2026?[1m  ?[2m ");
  assert_says(out, " ?[3m\n");
  assert_null(strchr(out, '\x1b'));
}

static void nothing_to_show_is_a_failure(void **state) {
  (void)state;
  assert_refused("berth log " MODEL " --history $dir/nowhere.csv --show", 1, "nowhere.csv: ");
  assert_status("test -e $dir/nowhere.csv", 1);
  write_file("e.csv", "date,label,model,peak_bytes,arena_bytes,latency_ns,accuracy\n");
  assert_refused("berth log " MODEL " --history $dir/e.csv --show", 1, "e.csv: has no lines yet");
  write_file("e.csv", "date,label,model,peak_bytes,arena_bytes,latency_ns,accuracy\n"
                      "2026,l,./else.tflite,1,1,1,\n");
  assert_refused("berth log " MODEL " --history $dir/e.csv --show --json", 1,
                 "has no line of " MODEL "; its last one is of ./else.tflite");
  assert_refused("berth log " MODEL " --history $dir/e.csv --show --label x", 2, "--label");
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
      cmocka_unit_test(every_figure_has_its_trend),
      cmocka_unit_test(what_a_history_holds_is_printed_with_care),
      cmocka_unit_test(nothing_to_show_is_a_failure),
      cmocka_unit_test(bad_input_leaves_the_history_alone),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
