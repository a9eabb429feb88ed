/* berth optimize, as a user runs it: what it writes is proven, atomic, and planned for TFLM. */
#include "program.h"

static void the_written_model_carries_the_smallest_plan_and_runs_alike(void **state) {
  (void)state;
  assert_status("berth optimize models/mobilenet_v1_0.25_96_int8.tflite -o $dir/m.tflite", 0);
  assert_says(out, "73,728");
  assert_says(out, "55,296");
  assert_says(out, "bytes of outputs equal");
  /* The plan is in the file: the runtime takes it, and it is no larger than promised. */
  assert_status("berth run $dir/m.tflite --compare none", 0);
  assert_status("berth run models/mobilenet_v1_0.25_96_int8.tflite --fill random:9 "
                "--output-dir $dir/ >/dev/null && mv $dir/out0.bin $dir/before.bin && "
                "berth run $dir/m.tflite --fill random:9 --output-dir $dir/ >/dev/null && "
                "cmp $dir/out0.bin $dir/before.bin",
                0);
}

static void optimizing_is_deterministic(void **state) {
  (void)state;
  assert_status("berth optimize models/resnet8_int8.tflite -o $dir/a.tflite && "
                "berth optimize models/resnet8_int8.tflite -o $dir/b.tflite && "
                "cmp $dir/a.tflite $dir/b.tflite",
                0);
}

static void with_everything_switched_off_the_file_stays_as_it_is(void **state) {
  (void)state;
  assert_status("for m in models/*.tflite; do "
                "berth optimize --no-plan --no-verify --keep all --order file $m -o "
                "$dir/same.tflite || exit 9; "
                "cmp $m $dir/same.tflite || exit 8; done",
                0);
}

static void a_model_that_cannot_be_run_is_not_written_unproven(void **state) {
  (void)state;
  assert_status("berth optimize models/custom_op.tflite -o $dir/c.tflite", 1);
  assert_says(err, "KeepConfident");
  assert_status("test ! -e $dir/c.tflite", 0);
  assert_status("berth optimize --no-verify models/custom_op.tflite -o $dir/c.tflite", 0);
  assert_status("berth inspect $dir/c.tflite", 0);
}

static void an_open_batch_is_fixed_with_all_shapes_that_follow(void **state) {
  (void)state;
  assert_status("berth optimize models/resnet8_int8.tflite --set-shape 0=1,32,32,3 "
                "-o $dir/s.tflite",
                0);
  assert_says(out, "17 tensors fixed, 0 still");
  assert_status("berth optimize models/resnet8_int8.tflite --set-shape 0=2,32,32,3 "
                "-o $dir/s.tflite",
                0);
  assert_refused("berth optimize models/resnet8_int8.tflite --set-shape 0=1,32,32,4 "
                 "-o $dir/t.tflite",
                 1, "operator");
  assert_refused("berth optimize models/resnet8_int8.tflite --set-shape nobody=1,32,32,3", 1,
                 "nobody");
}

static void json_names_the_sizes_and_the_proof(void **state) {
  (void)state;
  assert_status("berth optimize --json models/mobilenet_v1_0.25_96_int8.tflite -o $dir/j.tflite",
                0);
  assert_says(out, "\"head_bytes\": 73728");
  assert_says(out, "\"head_bytes\": 55296");
  assert_says(out, "\"lower_bound_bytes\": 55296");
  assert_says(out, "\"holds\": true");
}

static void an_output_that_cannot_be_written_is_a_failure(void **state) {
  (void)state;
  assert_refused("berth optimize models/resnet8_int8.tflite -o $dir/none/x.tflite", 1, "none");
  assert_refused("berth optimize models/README.md -o $dir/x.tflite", 1, "README");
  assert_status("test ! -e $dir/x.tflite", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_written_model_carries_the_smallest_plan_and_runs_alike),
      cmocka_unit_test(optimizing_is_deterministic),
      cmocka_unit_test(with_everything_switched_off_the_file_stays_as_it_is),
      cmocka_unit_test(a_model_that_cannot_be_run_is_not_written_unproven),
      cmocka_unit_test(an_open_batch_is_fixed_with_all_shapes_that_follow),
      cmocka_unit_test(json_names_the_sizes_and_the_proof),
      cmocka_unit_test(an_output_that_cannot_be_written_is_a_failure),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
