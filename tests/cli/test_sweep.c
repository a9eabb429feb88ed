/* --sweep and --instances. */
#include "program.h"

static void every_point_of_a_sweep_is_what_plan_says(void **state) {
  (void)state;
  static const char *const sweeps[] = {
      "mobilenet_v1_0.25_96_int8.tflite resolution", "segmentation_float16.tflite resolution",
      "resnet8_int8.tflite batch", "svdf_keyword_int8.tflite align", "resnet8_int8.tflite regions"};
  for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++) {
    char command[256];
    snprintf(command, sizeof command, "python3 -B tests/cli/check_sweep.py \"$berth\" models/%s",
             sweeps[i]);
    assert_status(command, 0);
  }
}

static void a_run_times_every_point(void **state) {
  (void)state;
  assert_status("berth run models/mobilenet_v1_0.25_96_int8.tflite --sweep resolution=64:96:32 "
                "--json | grep -c '\"min_ns\": [1-9]'",
                0);
  assert_string_equal(out, "2\n");
  assert_status("berth run models/mobilenet_v1_0.25_96_int8.tflite --sweep resolution=64:96:32", 0);
  assert_says(out, "              64         24,576 ");
}

static void a_sweep_that_cannot_be_is_refused(void **state) {
  (void)state;
  assert_refused("berth plan a --sweep speed", 2, "--sweep");
  assert_refused("berth plan a --sweep batch=1", 2, "--sweep");
  assert_refused("berth plan a --sweep batch=0:4", 2, "--sweep");
  assert_refused("berth plan a --sweep batch=4:1", 2, "--sweep");
  assert_refused("berth plan a --sweep align=3:9", 2, "--sweep");
  assert_refused("berth plan a --sweep batch=1:9:0", 2, "--sweep");
  assert_refused("berth inspect a --instances 0", 2, "--instances");
  assert_refused("berth plan docs/worked_example.csv --sweep batch", 1, "no input");
  assert_refused("berth plan models/svdf_keyword_int8.tflite --sweep resolution", 1, "no input");
  assert_refused("berth plan models/resnet8_int8.tflite --sweep batch=1:100", 1, "at most 64");
}

static void instances_share_the_weights_and_in_turn_the_activations(void **state) {
  (void)state;
  assert_status(
      "berth inspect models/svdf_keyword_int8.tflite --instances 3 --json >$dir/i.json && "
      "python3 -c \"import json,os,sys; r=json.load(open(sys.argv[1]))['running']; "
      "i=r['instances']; each=sum(r[k+'_bytes'] for k in "
      "('activation','persistent','metadata','interpreter')); "
      "assert each == r['total_bytes'] == i['private_bytes']; "
      "assert i['shared_bytes'] == os.path.getsize('models/svdf_keyword_int8.tflite'); "
      "assert i['at_once_bytes'] == 3*each; "
      "assert i['in_turn_bytes'] == 3*each - 2*r['activation_bytes']\" $dir/i.json",
      0);
  assert_status("berth run models/svdf_keyword_int8.tflite --planner best --json | "
                "grep '\"total_bytes\"' >$dir/a; grep '\"total_bytes\"' $dir/i.json | "
                "tr -d ' ' >$dir/b; tr -d ' ' <$dir/a | cmp - $dir/b",
                0);
  assert_status("berth inspect models/custom_op.tflite", 0);
  assert_says(out, "Berth itself cannot run it: operator 4 KeepConfident");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_point_of_a_sweep_is_what_plan_says),
      cmocka_unit_test(a_run_times_every_point),
      cmocka_unit_test(a_sweep_that_cannot_be_is_refused),
      cmocka_unit_test(instances_share_the_weights_and_in_turn_the_activations),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
