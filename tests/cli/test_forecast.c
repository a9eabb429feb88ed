/* berth inspect --runtime: what a stock runtime will need, for people and as JSON. */
#include "program.h"

#define MODEL "models/svdf_keyword_int8.tflite"

static void people_read_totals_shares_and_the_reason_for_a_larger_arena(void **state) {
  (void)state;
  assert_status("berth inspect " MODEL " --runtime tflm", 0);
  assert_says(out, "On stock TFLM, 64-bit, reference kernels");
  assert_says(out, "arena used");
  assert_says(out, "variables");
  assert_says(out, "smallest arena");
  assert_says(out, "because planning borrows memory");
  assert_says(out, "SVDF");
}

static void programs_read_the_same_in_json(void **state) {
  (void)state;
  if (run("python3 -c pass") != 0) skip();
  assert_status("berth inspect " MODEL " --runtime tflm --bits arm --json | python3 -c \""
                "import json, sys; f = json.load(sys.stdin)['forecast']; "
                "assert f['arena_used_bytes'] == f['head_bytes'] + f['tail_bytes']; "
                "assert f['min_arena_bytes'] > f['arena_used_bytes']; "
                "assert sum(f['tail'].values()) == f['tail_bytes']; "
                "assert f['unknown_operators'] == 0 and f['abi'] == '32-bit Arm'; "
                "assert {'SVDF', 'SOFTMAX'} <= {o['name'] for o in f['operators']}\"",
                0);
  assert_status("berth inspect " MODEL " --runtime tflite --json | python3 -c \""
                "import json, sys; f = json.load(sys.stdin)['forecast']; "
                "assert f['runtime'] == 'tflite' and f['head_bytes'] % 64 == 0\"",
                0);
}

static void a_target_can_be_given_in_any_order(void **state) {
  (void)state;
  assert_status("berth inspect " MODEL " --runtime tflm --abi i386", 0);
  assert_says(out, "32-bit i386");
  assert_status("berth inspect " MODEL " --abi i386 --bits 32 --runtime tflm", 0);
  assert_says(out, "32-bit i386");
  assert_status("berth inspect " MODEL " --bits 32 --runtime tflm", 0);
  assert_says(out, "32-bit i386");
  assert_status("berth inspect " MODEL " --abi arm --bits 32 --runtime tflm", 0);
  assert_says(out, "32-bit Arm");
}

static void another_kernel_set_takes_other_memory(void **state) {
  (void)state;
  assert_status("berth inspect models/resnet8_int8.tflite --runtime tflm --bits arm "
                "--kernel-set cmsis-nn",
                0);
  assert_says(out, "32-bit Arm, CMSIS-NN kernels");
  assert_says(out, "scratch");
  assert_status("berth check models/resnet8_int8.tflite --runtime tflm --bits arm "
                "--kernel-set cmsis-nn --max-arena 1M",
                0);
}

static void operators_without_a_kernel_are_named(void **state) {
  (void)state;
  assert_status("berth inspect models/custom_op.tflite --runtime tflm", 0);
  assert_says(out, "Not known");
  assert_status("berth inspect models/segmentation_float16.tflite --runtime tflm", 0);
  assert_says(out, "would not run this model");
  assert_says(out, "DEQUANTIZE");
}

static void wrong_usage_is_told(void **state) {
  (void)state;
  assert_refused("berth inspect " MODEL " --runtime onnx", 2, "onnx");
  assert_refused("berth inspect " MODEL " --runtime tflm --bits 16", 2, "16");
  assert_refused("berth inspect " MODEL " --runtime tflm --abi mips", 2, "mips");
  assert_refused("berth inspect " MODEL " --runtime tflm --kernel-set xnnpack", 2, "xnnpack");
  assert_refused("berth plan " MODEL " --runtime tflm", 2, "--runtime");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(people_read_totals_shares_and_the_reason_for_a_larger_arena),
      cmocka_unit_test(programs_read_the_same_in_json),
      cmocka_unit_test(a_target_can_be_given_in_any_order),
      cmocka_unit_test(another_kernel_set_takes_other_memory),
      cmocka_unit_test(operators_without_a_kernel_are_named),
      cmocka_unit_test(wrong_usage_is_told),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
