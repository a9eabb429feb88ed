/* The forecast of TFLM's memory on small networks, with every number derived by hand, and on the
 * models that are shipped. */
#include "test.h"

#include "graph/network.h"
#include "host/map.h"
#include "model/sample.h"
#include "stock/tflm_forecast.h"

#include <stdio.h>
#include <string.h>

static network_t net;

static berth_tflm_forecast_t forecast_with(const berth_tflm_settings_t *settings) {
  berth_model_t model = build(&net);
  berth_tflm_forecast_t forecast;
  berth_tflm_error_t error;
  if (berth_tflm_forecast(&model, settings, &forecast, &error) != BERTH_OK) {
    fail_msg("%s", error.what);
  }
  return forecast;
}

/* With this offline plan. */
static berth_tflm_forecast_t forecast_placed(const int32_t *offsets, uint32_t count) {
  berth_tflm_settings_t settings = {.offsets = offsets, .offset_count = count};
  return forecast_with(&settings);
}

/* Two float vectors of 64 bytes, added. */
static void make_add(void) {
  memset(&net, 0, sizeof net);
  for (int i = 0; i < 3; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x16", 0);
  op(&net, 0, BERTH_BUILTIN_ADD, "0 1", "2");
  net.subgraphs[0].inputs = "0 1";
  net.subgraphs[0].outputs = "2";
}

/* Three tensors of 64 bytes in a row: 0, made into 1, made into 2. */
static void make_chain(void) {
  memset(&net, 0, sizeof net);
  for (int i = 0; i < 3; i++) tensor(&net, 0, BERTH_TYPE_INT8, "1x64", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(&net, 0, BERTH_BUILTIN_RELU, "1", "2");
  net.subgraphs[0].inputs = "0";
  net.subgraphs[0].outputs = "2";
}

/* ---- The whole sum --------------------------------------------------------------------------- */

/* Tail: allocators 72 + 72 + 72 + 16 and one subgraph 16 = 248; 3 tensors of 24: 320; one operator
 * of 64: 384; its options 8: 392; OpDataAdd 60, aligned to 16: 464; two pointers 16: 480; two
 * tensors of 64: 608; one pointer, aligned: 624; one tensor: 688. Head: three buffers of 64 live at
 * once. Planning: requests 12 x 16 = 192; one offset 8: 200; 3 records of 32: 296; aligned: 304; 3
 * x 40 for the planner: 424; beside the tail of then, 464: 888, which is more than 192 + 688 = 880.
 */
static void an_add_in_64_bits_takes_what_its_structs_add_up_to(void **state) {
  (void)state;
  make_add();
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.head_bytes, 192);
  assert_int_equal(forecast.tail_bytes, 688);
  assert_int_equal(forecast.arena_used_bytes, 880);
  assert_int_equal(forecast.planning_bytes, 888);
  assert_int_equal(forecast.min_arena_bytes, 896);
  assert_int_equal(forecast.moment, BERTH_TFLM_AT_PLANNING);
  assert_int_equal(forecast.tail[BERTH_TFLM_ALLOCATOR].bytes, 248);
  assert_int_equal(forecast.tail[BERTH_TFLM_OP_DATA].requested, 60);
  assert_int_equal(forecast.tail[BERTH_TFLM_OP_DATA].bytes, 72);
  assert_int_equal(forecast.tail[BERTH_TFLM_PREPARED].count, 0);
  berth_tflm_forecast_free(&forecast);
}

/* The same for Arm: 36 + 44 + 36 + 8 + 8 = 132; 3 x 12: 168; 32: 200; 8: 208; 60: 272; 8: 288;
 * 2 x 40: 368; 4: 384; 40: 424. Planning: 144 + 4 + 72 = 220, aligned 224, + 120 + 272 = 616, just
 * what is used in the end. */
static void an_add_for_arm_takes_less(void **state) {
  (void)state;
  make_add();
  berth_tflm_settings_t settings = {.abi = BERTH_ABI_ARM};
  berth_tflm_forecast_t forecast = forecast_with(&settings);
  assert_int_equal(forecast.tail_bytes, 424);
  assert_int_equal(forecast.arena_used_bytes, 616);
  assert_int_equal(forecast.planning_bytes, 616);
  assert_int_equal(forecast.min_arena_bytes, 624);
  assert_int_equal(forecast.moment, BERTH_TFLM_AT_END);
  berth_tflm_forecast_free(&forecast);
}

/* QUANTIZE keeps { { int; double }; int x 3 }: 32 bytes, or 24 where a double may lie at 4. */
static void the_two_32_bit_targets_differ_where_a_kernel_keeps_doubles(void **state) {
  (void)state;
  make_chain();
  net.subgraphs[0].ops[0].code = BERTH_BUILTIN_QUANTIZE;
  berth_tflm_settings_t arm = {.abi = BERTH_ABI_ARM}, i386 = {.abi = BERTH_ABI_I386};
  berth_tflm_forecast_t a = forecast_with(&arm), b = forecast_with(&i386);
  assert_int_equal(a.operators[0].data_bytes, 32);
  assert_int_equal(b.operators[0].data_bytes, 24);
  berth_tflm_forecast_free(&a);
  berth_tflm_forecast_free(&b);
}

/* A convolution of one value with 256 channels. What Prepare borrows lies behind the requests, 192:
 * output and input with scale and zero point 64 + 24 + 8 each: 384; weights 64 + 24 + 4 x 257:
 * 1500; once more input (aligned, 1504): 1600, weights: 2716 and output: 2816. Tail: 248 + 3 x 24 +
 * 64 + 28 = 412; OpDataConv 72: 496; multipliers and shifts 2 x 1024: 2544. Together 5360. In the
 * end only 16 + 256 of head and 2544 + 16 + 96 + 16 + 96 of tail are used. */
static void preparing_many_channels_may_need_the_largest_arena(void **state) {
  (void)state;
  memset(&net, 0, sizeof net);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x1x1x1", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "256x1x1x1", CONSTANT);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x1x1x256", 0);
  net.subgraphs[0].tensors[0].scales = net.subgraphs[0].tensors[2].scales = 1;
  net.subgraphs[0].tensors[1].scales = net.constant_bytes = 256;
  op(&net, 0, BERTH_BUILTIN_CONV_2D, "0 1", "2");
  net.subgraphs[0].inputs = "0";
  net.subgraphs[0].outputs = "2";
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.arena_used_bytes, 272 + 2768);
  assert_int_equal(forecast.prepare_bytes, 5360);
  assert_int_equal(forecast.min_arena_bytes, 5360);
  assert_int_equal(forecast.moment, BERTH_TFLM_AT_PREPARE);
  assert_int_equal(forecast.moment_operator, 0);
  assert_int_equal(forecast.operators[0].temporary_bytes, 2816 - 192);
  assert_int_equal(forecast.operators[0].prepared_bytes, 2048);
  berth_tflm_forecast_free(&forecast);
}

/* ---- Offline plans --------------------------------------------------------------------------- */

static void without_a_plan_of_its_own_the_chain_takes_two_buffers(void **state) {
  (void)state;
  make_chain();
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.head_bytes, 128);
  assert_false(forecast.offline);
  berth_tflm_forecast_free(&forecast);
}

static void an_offline_plan_in_place_is_followed_though_it_overlaps(void **state) {
  (void)state;
  make_chain();
  static const int32_t offsets[] = {0, 0, 0};
  berth_tflm_forecast_t forecast = forecast_placed(offsets, 3);
  assert_int_equal(forecast.head_bytes, 64);
  assert_true(forecast.offline);
  assert_true(forecast.buffers[1].offline);
  berth_tflm_forecast_free(&forecast);
}

/* Tensor 1 at 128; 2 and 0, which TFLM places, fit below it, one after the other. */
static void what_the_plan_leaves_open_goes_into_its_gaps(void **state) {
  (void)state;
  make_chain();
  static const int32_t offsets[] = {-1, 128, -1};
  berth_tflm_forecast_t forecast = forecast_placed(offsets, 3);
  assert_int_equal(forecast.head_bytes, 192);
  assert_int_equal(forecast.buffers[0].offset, 0);
  assert_int_equal(forecast.buffers[1].offset, 128);
  assert_int_equal(forecast.buffers[2].offset, 0);
  berth_tflm_forecast_free(&forecast);
}

/* TFLM does not align what it places behind an odd offset of the plan: 8 + 64 = 72. */
static void offsets_that_are_no_multiple_of_16_stay_as_they_are(void **state) {
  (void)state;
  make_chain();
  static const int32_t offsets[] = {0, 8, -1};
  berth_tflm_forecast_t forecast = forecast_placed(offsets, 3);
  assert_int_equal(forecast.buffers[2].offset, 72);
  assert_int_equal(forecast.head_bytes, 136);
  berth_tflm_forecast_free(&forecast);
}

static void a_variable_with_an_offset_moves_from_the_tail_to_the_head(void **state) {
  (void)state;
  make_chain();
  tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x16", VARIABLE);
  berth_tflm_forecast_t kept = forecast_with(NULL);
  assert_int_equal(kept.tail[BERTH_TFLM_VARIABLES].requested, 64);
  assert_int_equal(kept.buffer_count, 3);
  static const int32_t offsets[] = {-1, -1, -1, 256};
  berth_tflm_forecast_t placed = forecast_placed(offsets, 4);
  assert_int_equal(placed.tail[BERTH_TFLM_VARIABLES].count, 0);
  assert_int_equal(placed.buffer_count, 4);
  assert_int_equal(placed.head_bytes, 256 + 64);
  berth_tflm_forecast_free(&kept);
  berth_tflm_forecast_free(&placed);
}

static void a_plan_for_another_number_of_tensors_is_refused(void **state) {
  (void)state;
  make_chain();
  berth_model_t model = build(&net);
  static const int32_t offsets[] = {0, 0, -2};
  berth_tflm_settings_t few = {.offsets = offsets, .offset_count = 2};
  berth_tflm_settings_t negative = {.offsets = offsets, .offset_count = 3};
  berth_tflm_forecast_t forecast = {.head_bytes = 7};
  assert_int_equal(berth_tflm_forecast(&model, &few, &forecast, NULL), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_tflm_forecast(&model, &negative, &forecast, NULL), BERTH_ERROR_ARGUMENT);

  static sample_t sample; /* its plan has two offsets for nine tensors */
  sample_build(&sample);
  berth_tflm_error_t error;
  assert_int_equal(berth_model_open(sample.file.bytes, sample.file.size, &model, NULL), BERTH_OK);
  assert_int_equal(berth_tflm_forecast(&model, NULL, &forecast, &error), BERTH_ERROR_FORMAT);
  assert_string_equal(error.what, "has not one offset for each tensor");
  assert_int_equal(forecast.head_bytes, 7);
}

/* ---- Tensors and time ------------------------------------------------------------------------ */

/* TFLM gives memory to whatever has no data, whether or not an operator uses it. */
static void a_tensor_that_nobody_uses_is_planned_all_the_same(void **state) {
  (void)state;
  make_chain();
  tensor(&net, 0, BERTH_TYPE_INT8, "4096", 0);
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.head_bytes, 4096);
  assert_int_equal(forecast.buffers[3].first, -1);
  assert_int_equal(forecast.buffers[3].offset, 0);
  berth_tflm_forecast_free(&forecast);
}

/* Time: 1 the IF; 2 entering its first branch, 3 its operator; 4 and 5 likewise; the IF's own
 * tensors live to 5. */
static void branches_are_entered_one_after_the_other(void **state) {
  (void)state;
  memset(&net, 0, sizeof net);
  tensor(&net, 0, BERTH_TYPE_BOOL, "1", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x64", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x64", 0);
  static const int branches[] = {1, 2};
  call(&net, 0, BERTH_BUILTIN_IF, "0 1", "2", branches, 2);
  net.subgraphs[0].inputs = "0 1";
  net.subgraphs[0].outputs = "2";
  for (uint32_t s = 1; s <= 2; s++) {
    tensor(&net, s, BERTH_TYPE_INT8, "1x64", 0);
    tensor(&net, s, BERTH_TYPE_INT8, "1x64", 0);
    op(&net, s, BERTH_BUILTIN_RELU, "0", "1");
    net.subgraphs[s].inputs = "0";
    net.subgraphs[s].outputs = "1";
  }
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  static const int32_t lives[7][2] = {{0, 5}, {0, 5}, {1, 5}, {2, 3}, {3, 3}, {4, 5}, {5, 5}};
  assert_int_equal(forecast.buffer_count, 7);
  for (uint32_t i = 0; i < 7; i++) {
    assert_int_equal(forecast.buffers[i].first, lives[i][0]);
    assert_int_equal(forecast.buffers[i].last, lives[i][1]);
    assert_int_equal(forecast.buffers[i].subgraph, i < 3 ? 0 : i < 5 ? 1 : 2);
  }
  /* An offline plan counts the tensors of all subgraphs through. */
  static const int32_t offsets[] = {0, 64, 128, 192, 256, 320, 384};
  berth_tflm_forecast_t placed = forecast_placed(offsets, 7);
  for (uint32_t i = 0; i < 7; i++) assert_int_equal(placed.buffers[i].offset, 64 * i);
  berth_tflm_forecast_free(&forecast);
  berth_tflm_forecast_free(&placed);
}

static void subgraphs_that_call_themselves_are_refused(void **state) {
  (void)state;
  make_chain();
  static const int self[] = {0, 0};
  call(&net, 0, BERTH_BUILTIN_WHILE, "0", "1", self, 2);
  berth_model_t model = build(&net);
  berth_tflm_forecast_t forecast;
  berth_tflm_error_t error;
  assert_int_equal(berth_tflm_forecast(&model, NULL, &forecast, &error), BERTH_ERROR_FORMAT);
  assert_int_equal(error.op, 2);
}

/* Four bits a weight in the file, a byte each in TFLM's scratch: 32 x 32 weights. */
static void weights_of_4_bits_are_unpacked_into_scratch(void **state) {
  (void)state;
  memset(&net, 0, sizeof net);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x32", 0);
  tensor(&net, 0, BERTH_TYPE_INT4, "32x32", CONSTANT);
  net.constant_bytes = 512;
  tensor(&net, 0, BERTH_TYPE_INT8, "1x32", 0);
  op(&net, 0, BERTH_BUILTIN_FULLY_CONNECTED, "0 1", "2");
  net.subgraphs[0].inputs = "0";
  net.subgraphs[0].outputs = "2";
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.operators[0].scratch_bytes, 1024);
  assert_int_equal(forecast.head_bytes, 32 + 32 + 1024);
  assert_int_equal(forecast.tail[BERTH_TFLM_HANDLES].bytes, 8);
  berth_tflm_forecast_free(&forecast);
}

/* ---- CMSIS-NN -------------------------------------------------------------------------------- */

static berth_tflm_forecast_t forecast_cmsis(berth_builtin_t code, const char *input,
                                            const char *weights, const char *output) {
  memset(&net, 0, sizeof net);
  tensor(&net, 0, BERTH_TYPE_INT8, input, 0);
  tensor(&net, 0, BERTH_TYPE_INT8, weights, CONSTANT);
  net.constant_bytes = 1024;
  tensor(&net, 0, BERTH_TYPE_INT8, output, 0);
  op(&net, 0, (int)code, "0 1", "2");
  net.subgraphs[0].inputs = "0";
  net.subgraphs[0].outputs = "2";
  berth_tflm_settings_t settings = {.abi = BERTH_ABI_ARM, .kernels = BERTH_TFLM_CMSIS_NN};
  return forecast_with(&settings);
}

/* Data: the reference's 56 and a number, 60. Scratch: two patches of 16-bit values, their lengths
 * rounded up to 4 (27 to 28: 112), but none for 1 x 1; depthwise one patch, 25 x 8 x 2, but none
 * for 3 x 3 nor where a channel makes several. All padded so that the size stays (no options:
 * SAME). */
static void cmsis_convolutions_copy_patches_of_the_input(void **state) {
  (void)state;
  static const struct {
    berth_builtin_t code;
    const char *input, *weights, *output;
    unsigned scratch;
  } cases[] = {
      {BERTH_BUILTIN_CONV_2D, "1x8x8x3", "16x3x3x3", "1x8x8x16", 112},
      {BERTH_BUILTIN_CONV_2D, "1x8x8x16", "16x1x1x16", "1x8x8x16", 0},
      {BERTH_BUILTIN_DEPTHWISE_CONV_2D, "1x8x8x8", "1x5x5x8", "1x8x8x8", 400},
      {BERTH_BUILTIN_DEPTHWISE_CONV_2D, "1x8x8x8", "1x3x3x8", "1x8x8x8", 0},
      {BERTH_BUILTIN_DEPTHWISE_CONV_2D, "1x8x8x4", "1x5x5x8", "1x8x8x8", 0},
      {BERTH_BUILTIN_DEPTHWISE_CONV_2D, "2x8x8x8", "1x5x5x8", "2x8x8x8", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    berth_tflm_forecast_t forecast =
        forecast_cmsis(cases[i].code, cases[i].input, cases[i].weights, cases[i].output);
    assert_int_equal(forecast.unknown_count, 0);
    assert_int_equal(forecast.operators[0].scratch_bytes, cases[i].scratch);
    assert_int_equal(forecast.operators[0].scratch_count, cases[i].scratch > 0);
    assert_int_equal(forecast.operators[0].data_bytes, 60);
    berth_tflm_forecast_free(&forecast);
  }
}

/* A batch in three dimensions is a convolution with 1 x 1 to it: two numbers for each channel. */
static void cmsis_takes_batches_of_vectors_for_convolutions(void **state) {
  (void)state;
  berth_tflm_forecast_t forecast =
      forecast_cmsis(BERTH_BUILTIN_FULLY_CONNECTED, "1x6x8", "16x8", "1x6x16");
  assert_int_equal(forecast.operators[0].prepared_bytes, 128);
  berth_tflm_forecast_free(&forecast);
  forecast = forecast_cmsis(BERTH_BUILTIN_FULLY_CONNECTED, "6x8", "16x8", "6x16");
  assert_int_equal(forecast.operators[0].prepared_bytes, 0);
  assert_int_equal(forecast.unknown_count, 0);
  berth_tflm_forecast_free(&forecast);
}

static void what_cmsis_kernels_take_is_unknown_unless_it_has_been_read(void **state) {
  (void)state;
  berth_tflm_forecast_t forecast =
      forecast_cmsis(BERTH_BUILTIN_BATCH_MATMUL, "1x8x8", "1x8x8", "1x8x8");
  assert_int_equal(forecast.unknown_count, 1);
  berth_tflm_forecast_free(&forecast);
  forecast = forecast_cmsis(BERTH_BUILTIN_MUL, "1x8", "1x8", "1x8");
  assert_int_equal(forecast.unknown_count, 0);
  berth_tflm_forecast_free(&forecast);
}

/* ---- Operators that are unknown, or refused -------------------------------------------------- */

static void an_unknown_operator_is_said_to_be_unknown(void **state) {
  (void)state;
  make_chain();
  net.subgraphs[0].ops[1].code = BERTH_BUILTIN_CUSTOM;
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.unknown_count, 1);
  assert_true(forecast.operators[0].known);
  assert_false(forecast.operators[1].known);
  assert_int_equal(forecast.refused_count, 0);
  berth_tflm_forecast_free(&forecast);
}

static void uint8_and_hybrid_models_are_said_to_be_refused(void **state) {
  (void)state;
  static const berth_tensor_type_t types[2][2] = {{BERTH_TYPE_UINT8, BERTH_TYPE_UINT8},
                                                  {BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8}};
  for (int i = 0; i < 2; i++) {
    memset(&net, 0, sizeof net);
    tensor(&net, 0, types[i][0], "1x4", 0);
    tensor(&net, 0, types[i][1], "4x4", CONSTANT);
    net.constant_bytes = 16;
    tensor(&net, 0, types[i][0], "1x4", 0);
    op(&net, 0, BERTH_BUILTIN_FULLY_CONNECTED, "0 1", "2");
    net.subgraphs[0].inputs = "0";
    net.subgraphs[0].outputs = "2";
    berth_tflm_forecast_t forecast = forecast_with(NULL);
    assert_int_equal(forecast.refused_count, 1);
    assert_non_null(forecast.operators[0].refusal);
    berth_tflm_forecast_free(&forecast);
  }
}

static void an_output_without_a_fixed_shape_is_said_to_be_refused(void **state) {
  (void)state;
  make_chain();
  net.subgraphs[0].tensors[1].shape = "0x64";
  berth_tflm_forecast_t forecast = forecast_with(NULL);
  assert_int_equal(forecast.refused_count, 1);
  berth_tflm_forecast_free(&forecast);
}

/* ---- Shipped models -------------------------------------------------------------------------- */

typedef struct shipped {
  berth_host_map_t map;
  berth_model_t model;
  berth_tflm_forecast_t forecast;
} shipped_t;

static void open_shipped(const char *name, berth_abi_t abi, shipped_t *shipped) {
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, name);
  if (berth_host_open_model(path, &shipped->map, &shipped->model, message) != BERTH_OK) {
    fail_msg("%s: %s", path, message);
  }
  berth_tflm_settings_t settings = {.abi = abi};
  assert_int_equal(berth_tflm_forecast(&shipped->model, &settings, &shipped->forecast, NULL),
                   BERTH_OK);
}

static void close_shipped(shipped_t *shipped) {
  berth_tflm_forecast_free(&shipped->forecast);
  berth_host_unmap(&shipped->map);
}

/* Channels of its nine convolutions: 3 x 16, 3 x 32, 3 x 64 = 336, a multiplier and a shift each.
 * Its head: the first ADD needs three tensors of 32 x 32 x 16 at once. */
static void resnet8_keeps_8_bytes_for_each_channel(void **state) {
  (void)state;
  shipped_t shipped;
  open_shipped("resnet8_int8", BERTH_ABI_64, &shipped);
  assert_int_equal(shipped.forecast.tail[BERTH_TFLM_PREPARED].requested, 336 * 8);
  assert_int_equal(shipped.forecast.head_bytes, 3 * 16384);
  assert_int_equal(shipped.forecast.unknown_count, 0);
  close_shipped(&shipped);
}

static void the_shares_of_the_tail_make_up_the_tail(void **state) {
  (void)state;
  static const char *const names[] = {
      "control_flow",      "custom_op",          "detector_two_outputs_int8", "ds_cnn_kws_int8",
      "dynamic_shape",     "lstm_sequence_int8", "mobilenet_v1_0.25_96_int8", "resnet8_int8",
      "svdf_keyword_int8", "resource_variables", "segmentation_float16"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    for (int abi = BERTH_ABI_64; abi <= BERTH_ABI_I386; abi++) {
      shipped_t shipped;
      open_shipped(names[i], (berth_abi_t)abi, &shipped);
      const berth_tflm_forecast_t *forecast = &shipped.forecast;
      uint64_t sum = 0;
      for (int p = 0; p < BERTH_TFLM_PART_COUNT; p++) sum += forecast->tail[p].bytes;
      assert_int_equal(sum, forecast->tail_bytes);
      assert_int_equal(forecast->arena_used_bytes, forecast->head_bytes + forecast->tail_bytes);
      assert_true(forecast->min_arena_bytes >= forecast->arena_used_bytes);
      assert_int_equal(forecast->min_arena_bytes % 16, 0);
      close_shipped(&shipped);
    }
  }
}

static void whoever_has_no_kernel_in_tflm_is_found_in_the_shipped_models(void **state) {
  (void)state;
  shipped_t shipped;
  open_shipped("custom_op", BERTH_ABI_64, &shipped);
  assert_true(shipped.forecast.unknown_count > 0);
  close_shipped(&shipped);
  open_shipped("segmentation_float16", BERTH_ABI_64, &shipped); /* DEQUANTIZE of float16 */
  assert_true(shipped.forecast.refused_count > 0);
  close_shipped(&shipped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_add_in_64_bits_takes_what_its_structs_add_up_to),
      cmocka_unit_test(an_add_for_arm_takes_less),
      cmocka_unit_test(the_two_32_bit_targets_differ_where_a_kernel_keeps_doubles),
      cmocka_unit_test(preparing_many_channels_may_need_the_largest_arena),
      cmocka_unit_test(without_a_plan_of_its_own_the_chain_takes_two_buffers),
      cmocka_unit_test(an_offline_plan_in_place_is_followed_though_it_overlaps),
      cmocka_unit_test(what_the_plan_leaves_open_goes_into_its_gaps),
      cmocka_unit_test(offsets_that_are_no_multiple_of_16_stay_as_they_are),
      cmocka_unit_test(a_variable_with_an_offset_moves_from_the_tail_to_the_head),
      cmocka_unit_test(a_plan_for_another_number_of_tensors_is_refused),
      cmocka_unit_test(a_tensor_that_nobody_uses_is_planned_all_the_same),
      cmocka_unit_test(branches_are_entered_one_after_the_other),
      cmocka_unit_test(subgraphs_that_call_themselves_are_refused),
      cmocka_unit_test(weights_of_4_bits_are_unpacked_into_scratch),
      cmocka_unit_test(cmsis_convolutions_copy_patches_of_the_input),
      cmocka_unit_test(cmsis_takes_batches_of_vectors_for_convolutions),
      cmocka_unit_test(what_cmsis_kernels_take_is_unknown_unless_it_has_been_read),
      cmocka_unit_test(an_unknown_operator_is_said_to_be_unknown),
      cmocka_unit_test(uint8_and_hybrid_models_are_said_to_be_refused),
      cmocka_unit_test(an_output_without_a_fixed_shape_is_said_to_be_refused),
      cmocka_unit_test(resnet8_keeps_8_bytes_for_each_channel),
      cmocka_unit_test(the_shares_of_the_tail_make_up_the_tail),
      cmocka_unit_test(whoever_has_no_kernel_in_tflm_is_found_in_the_shipped_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
