/* berth optimize, as a user runs it: what it writes is proven, atomic, and planned for TFLM. */
#include "program.h"

#include "graph/network.h"

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

static void operators_without_a_kernel_get_a_stand_in_for_the_proof(void **state) {
  (void)state;
  assert_status("berth optimize models/custom_op.tflite -o $dir/c.tflite", 0);
  assert_says(out, "1 operator without a kernel (KeepConfident)");
  assert_status("berth inspect $dir/c.tflite", 0);
  assert_status("berth optimize models/custom_op.tflite -o $dir/c.tflite --json", 0);
  assert_says(out, "\"stand_ins\": 1");
}

/* A kernel that refuses its operands is no missing one: nothing is proven, nothing written. */
static void a_model_that_cannot_be_run_is_not_written_unproven(void **state) {
  (void)state;
  static network_t net;
  tensor(&net, 0, BERTH_TYPE_STRING, "4", 0);
  tensor(&net, 0, BERTH_TYPE_STRING, "4", 0);
  op(&net, 0, BERTH_BUILTIN_SOFTMAX, "0", "1");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  build(&net);
  write_bytes("s.tflite", net.file.bytes, net.file.size);
  assert_status("berth optimize $dir/s.tflite -o $dir/r.tflite", 1);
  assert_says(err, "SOFTMAX");
  assert_says(err, "--no-verify");
  assert_status("test ! -e $dir/r.tflite", 0);
  assert_status("berth optimize --no-verify $dir/s.tflite -o $dir/r.tflite", 0);
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

static void diagonal_overlaps_are_proven_in_the_reference_order(void **state) {
  (void)state;
  assert_status("berth optimize models/mobilenet_v1_0.25_96_int8.tflite --overlap diagonal "
                "-o $dir/d.tflite",
                0);
  assert_says(out, "36,880");
  assert_says(out, "DEPTHWISE_CONV_2D: begins 832 bytes before tensor 27, 832 are enough");
  assert_says(out, "access by access, with the runs' bytes");
  assert_status("berth inspect $dir/d.tflite --runtime tflm", 0);
  assert_says(out, "following the model's offline plan");
  assert_says(out, "36,880");
  /* Berth's own kernels read in another order, and say so. */
  assert_status("berth run $dir/d.tflite", 1);
  assert_says(err, "--ignore-model-plan");
  assert_status("berth run $dir/d.tflite --ignore-model-plan", 0);
  assert_status("berth optimize models/resnet8_int8.tflite --overlap diagonal --json", 0);
  assert_says(out, "\"safe_distance\": ");
  assert_says(out, "\"reference_kernels_only\": true");
  assert_says(out, "\"with_bytes\": true");
  assert_refused(
      "berth optimize models/resnet8_int8.tflite --overlap diagonal --kernel-set cmsis-nn", 2,
      "reference kernels");
}

/* A convolution with a MUL and an ADD behind it: folded only where rounding is allowed, and the
 * proof says what it costs. */
static void folding_that_rounds_is_asked_for_and_proven(void **state) {
  (void)state;
  static network_t net = {.constant_bytes = 16};
  static const int conv[] = {BERTH_PADDING_VALID, 1, 1, 0, 1, 1};
  static const float values[4] = {0.1f, 0.7f, 1.3f, -0.3f};
  tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x1", 0);
  tensor(&net, 0, BERTH_TYPE_FLOAT32, "4x1x1x1", CONSTANT);
  for (int i = 0; i < 3; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x4", 0);
  for (int i = 0; i < 3; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "4", CONSTANT);
  call(&net, 0, BERTH_BUILTIN_CONV_2D, "0 1 5", "2", conv, 6);
  op(&net, 0, BERTH_BUILTIN_MUL, "2 6", "3");
  op(&net, 0, BERTH_BUILTIN_ADD, "3 7", "4");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "4";
  berth_model_t model = build(&net);
  berth_tensor_t constant = berth_model_tensor(&model, 0, 1);
  berth_bytes_t data = berth_model_tensor_data(&model, &constant);
  memcpy(net.file.bytes + (data.data - net.file.bytes), values, sizeof values);
  write_bytes("f.tflite", net.file.bytes, net.file.size);
  assert_status("berth optimize $dir/f.tflite -o $dir/g.tflite --json", 0);
  assert_says(out, "\"scales_folded\": 0");
  assert_says(out, "\"equal\": true");
  assert_status("berth optimize $dir/f.tflite -o $dir/g.tflite --allow-rounding --json", 0);
  assert_says(out, "\"scales_folded\": 2");
  assert_says(out, "\"holds\": true");
  assert_says(out, "\"equal\": false");
  assert_says(out, "\"largest_difference\": ");
  assert_status("berth optimize $dir/f.tflite -o $dir/g.tflite --allow-rounding", 0);
  assert_says(out, "equal but for rounding");
}

static void the_proofs_file_is_where_temporary_files_belong(void **state) {
  (void)state;
  assert_status("mkdir $dir/t && TMPDIR=$dir/t berth optimize models/resnet8_int8.tflite && "
                "test -z \"$(ls $dir/t)\"",
                0);
  assert_refused("TMPDIR=$dir/none berth optimize models/resnet8_int8.tflite", 1, "/none/");
}

/* BATCH_MATMUL of CMSIS-NN wants scratch, nobody knows how much: what is live beside it is left to
 * TFLM, the rest is planned. */
static void what_is_beside_scratch_of_unknown_size_is_not_planned(void **state) {
  (void)state;
  static network_t net;
  static const int pool[] = {BERTH_PADDING_VALID, 2, 2, 2, 2};
  for (int i = 0; i < 3; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x8x8x4", 0);
  for (int i = 0; i < 2; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x4", 0);
  op(&net, 0, BERTH_BUILTIN_ADD, "0 0", "1");
  op(&net, 0, BERTH_BUILTIN_ADD, "1 1", "2");
  call(&net, 0, BERTH_BUILTIN_MAX_POOL_2D, "2", "3", pool, 5);
  op(&net, 0, BERTH_BUILTIN_BATCH_MATMUL, "3 3", "4");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "4";
  build(&net);
  write_bytes("u.tflite", net.file.bytes, net.file.size);
  assert_status("berth optimize $dir/u.tflite -o $dir/v.tflite --kernel-set cmsis-nn", 0);
  assert_says(out, "an operator's kernel is not known");
  assert_says(out, "without 2 tensors that are left to TFLM");
  assert_says(out, "bytes of outputs equal");
  assert_status("berth optimize $dir/u.tflite -o $dir/v.tflite --kernel-set cmsis-nn --json", 0);
  assert_says(out, "\"left_to_tflm\": 2");
  assert_says(out, "\"with_scratch\": false");
  assert_status("berth optimize $dir/u.tflite -o $dir/w.tflite --json", 0);
  assert_says(out, "\"left_to_tflm\": 0");
  assert_says(out, "\"with_scratch\": true");
  assert_status("! cmp -s $dir/v.tflite $dir/w.tflite", 0);
  assert_status("berth optimize $dir/u.tflite -o $dir/other_name.tflite --kernels cmsis-nn", 0);
  assert_status("cmp $dir/v.tflite $dir/other_name.tflite", 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_written_model_carries_the_smallest_plan_and_runs_alike),
      cmocka_unit_test(optimizing_is_deterministic),
      cmocka_unit_test(with_everything_switched_off_the_file_stays_as_it_is),
      cmocka_unit_test(operators_without_a_kernel_get_a_stand_in_for_the_proof),
      cmocka_unit_test(a_model_that_cannot_be_run_is_not_written_unproven),
      cmocka_unit_test(an_open_batch_is_fixed_with_all_shapes_that_follow),
      cmocka_unit_test(json_names_the_sizes_and_the_proof),
      cmocka_unit_test(diagonal_overlaps_are_proven_in_the_reference_order),
      cmocka_unit_test(what_is_beside_scratch_of_unknown_size_is_not_planned),
      cmocka_unit_test(folding_that_rounds_is_asked_for_and_proven),
      cmocka_unit_test(the_proofs_file_is_where_temporary_files_belong),
      cmocka_unit_test(an_output_that_cannot_be_written_is_a_failure),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
