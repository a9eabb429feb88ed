/* Clean-ups: each does what it says where the bits stay the same, and nothing where they might not.
 * Every result is run against its original. */
#include "small_model.h"

#include "optimize/cleanup.h"
#include "optimize/write.h"

#include <stdio.h>

enum { CONSTANTS, COPIES, ACTIVATIONS, PADS, DEAD };
enum { CONV = 1, DEPTHWISE = 2, POOL = 5, ADD = 11, RESHAPE = 17, MUL = 21, PAD = 22 };

/* A cleaned model, in memory of its own. */
typedef struct cleaned {
  uint32_t counts[BERTH_CLEANUPS_MAX];
  uint32_t tensors;
  uint8_t *data;
  berth_model_t model;
} cleaned_t;

static cleaned_t clean(const berth_model_t *model, uint32_t keep, bool grow) {
  cleaned_t result = {.tensors = 0};
  berth_edit_t edit;
  uint64_t size;
  assert_int_equal(berth_edit_open(model, &edit), BERTH_OK);
  assert_int_equal(berth_clean(&edit, keep, grow, result.counts), BERTH_OK);
  assert_int_equal(berth_drop_tensors(&edit, &result.tensors), BERTH_OK);
  assert_int_equal(berth_edit_bytes(&edit, NULL, &result.data, &size, NULL), BERTH_OK);
  assert_int_equal(berth_model_open(result.data, size, &result.model, NULL), BERTH_OK);
  berth_edit_close(&edit);
  return result;
}

static uint32_t operators(const berth_model_t *model) {
  return berth_model_subgraph(model, 0).operator_count;
}

/* Cleans all; expects that number `which` did something `times`, and equal results. */
static void expect(const berth_model_t *model, uint32_t which, uint32_t times) {
  cleaned_t result = clean(model, 0, false);
  assert_int_equal(result.counts[which], times);
  assert_runs_alike(model, &result.model);
  free(result.data);
  /* Switched off, it does nothing. */
  result = clean(model, 1u << which, false);
  assert_int_equal(result.counts[which], 0);
  assert_runs_alike(model, &result.model);
  free(result.data);
}

/* ---- Activations ----------------------------------------------------------------------------- */

/* 0 -> CONV_2D -> 3 -> activation -> 4, with weights 1 and bias 2. */
static void convolution(small_t *small, berth_tensor_type_t type, int activation,
                        float scale_before, const char *outputs, berth_model_t *model) {
  bool quantized = type != BERTH_TYPE_FLOAT32;
  small_begin(small);
  small_tensor(small, type, "1,5,5,2", quantized ? 0.5f : 0, quantized ? 3 : 0);
  small_constant(small, type, "3,3,3,2", quantized ? 0.02f : 0, 0);
  small_constant(small, quantized ? BERTH_TYPE_INT32 : type, "3", quantized ? 0.01f : 0, 0);
  small_tensor(small, type, "1,5,5,3", quantized ? scale_before : 0, quantized ? -5 : 0);
  small_tensor(small, type, "1,5,5,3", quantized ? 0.1f : 0, quantized ? -5 : 0);
  small_op(small, BERTH_BUILTIN_CONV_2D, CONV, "0 1 2", "3", "0:1:0 1:4:1 2:4:1");
  small_op(small, activation, 0, "3", "4", "");
  small_end(small, "0", outputs, model);
}

static void a_relu_is_fused_into_the_convolution_before_it(void **state) {
  (void)state;
  static small_t small;
  static const int activations[] = {BERTH_BUILTIN_RELU, BERTH_BUILTIN_RELU6};
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT8, BERTH_TYPE_FLOAT32};
  for (size_t i = 0; i < 4; i++) {
    berth_model_t model;
    convolution(&small, types[i / 2], activations[i % 2], 0.1f, "4", &model);
    expect(&model, ACTIVATIONS, 1);
    cleaned_t result = clean(&model, 0, false);
    assert_int_equal(operators(&result.model), 1);
    assert_int_equal(result.tensors, 1);
    free(result.data);
  }
}

static void a_relu_that_rescales_or_whose_input_is_an_output_stays(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  convolution(&small, BERTH_TYPE_INT8, BERTH_BUILTIN_RELU, 0.2f, "4", &model);
  expect(&model, ACTIVATIONS, 0);
  convolution(&small, BERTH_TYPE_INT8, BERTH_BUILTIN_RELU, 0.1f, "3 4", &model);
  expect(&model, ACTIVATIONS, 0);
}

static void an_addition_and_a_pool_take_a_relu_as_well(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  small_begin(&small);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.1f, 1);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.1f, -7);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.1f, -7);
  small_tensor(&small, BERTH_TYPE_INT8, "1,2,2,2", 0.1f, -7);
  small_tensor(&small, BERTH_TYPE_INT8, "1,2,2,2", 0.1f, -7);
  small_op(&small, BERTH_BUILTIN_ADD, ADD, "0 0", "1", "");
  small_op(&small, BERTH_BUILTIN_RELU, 0, "1", "2", "");
  small_op(&small, BERTH_BUILTIN_MAX_POOL_2D, POOL, "2", "3", "0:1:1 1:4:2 2:4:2 3:4:2 4:4:2");
  small_op(&small, BERTH_BUILTIN_RELU6, 0, "3", "4", "");
  small_end(&small, "0", "4", &model);
  expect(&model, ACTIVATIONS, 2);
}

/* ---- Paddings -------------------------------------------------------------------------------- */

/* 0 -> PAD (1) -> 2 -> convolution with a 3 x 3 filter -> 4. */
static void padded(small_t *small, int code, berth_tensor_type_t type, int size, const char *pads,
                   int out_size, int stride, berth_model_t *model) {
  char dims[3][32], options[64];
  int64_t pad[8];
  bool quantized = type != BERTH_TYPE_FLOAT32;
  small_numbers(pads, pad);
  snprintf(dims[0], 32, "1,%d,%d,2", size, size);
  snprintf(dims[1], 32, "1,%d,%d,2", size + (int)(pad[2] + pad[3]), size + (int)(pad[4] + pad[5]));
  snprintf(dims[2], 32, "1,%d,%d,2", out_size, out_size);
  bool depthwise = code == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
  if (depthwise) {
    snprintf(options, sizeof options, "0:1:1 1:4:%d 2:4:%d 3:4:1", stride, stride);
  } else {
    snprintf(options, sizeof options, "0:1:1 1:4:%d 2:4:%d", stride, stride);
  }
  small_begin(small);
  small_tensor(small, type, dims[0], quantized ? 0.5f : 0, quantized ? 3 : 0);
  small_given(small, BERTH_TYPE_INT32, "4,2", pads);
  small_tensor(small, type, dims[1], quantized ? 0.5f : 0, quantized ? 3 : 0);
  small_constant(small, type, depthwise ? "1,3,3,2" : "2,3,3,2", quantized ? 0.02f : 0, 0);
  small_tensor(small, type, dims[2], quantized ? 0.1f : 0, quantized ? -5 : 0);
  small_constant(small, quantized ? BERTH_TYPE_INT32 : type, "2", quantized ? 0.01f : 0, 0);
  small_op(small, BERTH_BUILTIN_PAD, PAD, "0 1", "2", "");
  small_op(small, code, depthwise ? DEPTHWISE : CONV, "2 3 5", "4", options);
  small_end(small, "0", "4", model);
}

static void a_pad_that_same_padding_equals_is_folded(void **state) {
  (void)state;
  static small_t small;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT8, BERTH_TYPE_FLOAT32};
  static const int codes[] = {BERTH_BUILTIN_CONV_2D, BERTH_BUILTIN_DEPTHWISE_CONV_2D};
  for (size_t i = 0; i < 4; i++) {
    berth_model_t model;
    /* Stride 2 over an even size: SAME pads one element behind. */
    padded(&small, codes[i % 2], types[i / 2], 8, "0 0 0 1 0 1 0 0", 4, 2, &model);
    expect(&model, PADS, 1);
    padded(&small, codes[i % 2], types[i / 2], 5, "0 0 1 1 1 1 0 0", 5, 1, &model);
    expect(&model, PADS, 1);
  }
}

static void a_pad_that_same_padding_does_not_equal_stays(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  /* The element stands in front, as PyTorch does it. */
  padded(&small, BERTH_BUILTIN_CONV_2D, BERTH_TYPE_INT8, 8, "0 0 1 1 1 1 0 0", 4, 2, &model);
  expect(&model, PADS, 0);
  /* More outputs than SAME has. */
  padded(&small, BERTH_BUILTIN_CONV_2D, BERTH_TYPE_INT8, 5, "0 0 2 2 2 2 0 0", 7, 1, &model);
  expect(&model, PADS, 0);
  /* One dimension only. */
  padded(&small, BERTH_BUILTIN_CONV_2D, BERTH_TYPE_INT8, 8, "0 0 0 1 1 0 0 0", 4, 2, &model);
  expect(&model, PADS, 0);
}

/* Zero times infinity is no zero: such weights see the padding. */
static void a_pad_before_weights_that_are_not_finite_stays(void **state) {
  (void)state;
  static small_t small;
  static const uint32_t bits[] = {0x7f800000u, 0xff800000u, 0x7fc00000u};
  for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
    berth_model_t model;
    padded(&small, BERTH_BUILTIN_CONV_2D, BERTH_TYPE_FLOAT32, 5, "0 0 1 1 1 1 0 0", 5, 1, &model);
    berth_tensor_t filter = berth_model_tensor(&model, 0, 3);
    berth_bytes_t data = berth_model_tensor_data(&model, &filter);
    assert_true(data.size >= 16);
    memcpy((void *)(uintptr_t)(data.data + 12), &bits[i], 4);
    berth_edit_t edit;
    uint32_t counts[BERTH_CLEANUPS_MAX] = {0};
    assert_int_equal(berth_edit_open(&model, &edit), BERTH_OK);
    assert_int_equal(berth_clean(&edit, 0, false, counts), BERTH_OK);
    assert_int_equal(counts[PADS], 0);
    berth_edit_close(&edit);
  }
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static void reshapes_that_change_nothing_go_and_chains_shrink(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  small_begin(&small);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.5f, 3);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.5f, 3);
  small_given(&small, BERTH_TYPE_INT32, "4", "1 4 4 2");
  small_tensor(&small, BERTH_TYPE_INT8, "1,32", 0.5f, 3);
  small_given(&small, BERTH_TYPE_INT32, "2", "1 32");
  small_tensor(&small, BERTH_TYPE_INT8, "1,8,4", 0.5f, 3);
  small_given(&small, BERTH_TYPE_INT32, "3", "1 8 4");
  small_tensor(&small, BERTH_TYPE_INT8, "1,8,4", 0.5f, 3);
  small_op(&small, BERTH_BUILTIN_RESHAPE, RESHAPE, "0 2", "1", ""); /* changes nothing */
  small_op(&small, BERTH_BUILTIN_RESHAPE, RESHAPE, "1 4", "3", "");
  small_op(&small, BERTH_BUILTIN_RESHAPE, RESHAPE, "3 6", "5", ""); /* may read the input */
  small_op(&small, BERTH_BUILTIN_RELU, 0, "5", "7", "");
  small_end(&small, "0", "7", &model);
  expect(&model, COPIES, 2);
  cleaned_t result = clean(&model, 0, false);
  assert_int_equal(operators(&result.model), 2);
  free(result.data);
}

static void quantize_pairs_that_cancel_out_go(void **state) {
  (void)state;
  static small_t small;
  static const struct {
    berth_tensor_type_t middle;
    float scale;
    int zero, first;
    uint32_t changes;
  } cases[] = {
      {BERTH_TYPE_FLOAT32, 0, 0, BERTH_BUILTIN_DEQUANTIZE, 1},
      {BERTH_TYPE_UINT8, 0.05f, 131, BERTH_BUILTIN_QUANTIZE, 1},
      {BERTH_TYPE_UINT8, 0.05f, 130, BERTH_BUILTIN_QUANTIZE, 0}, /* saturates at one end */
      {BERTH_TYPE_UINT8, 0.06f, 131, BERTH_BUILTIN_QUANTIZE, 0},
      {BERTH_TYPE_INT8, 0.05f, 3, BERTH_BUILTIN_QUANTIZE, 2}, /* each of them changes nothing */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    berth_model_t model;
    small_begin(&small);
    small_tensor(&small, BERTH_TYPE_INT8, "1,300", 0.05f, 3);
    small_tensor(&small, cases[i].middle, "1,300", cases[i].scale, cases[i].zero);
    small_tensor(&small, BERTH_TYPE_INT8, "1,300", 0.05f, 3);
    small_tensor(&small, BERTH_TYPE_INT8, "1,300", 0.05f, 3);
    small_op(&small, cases[i].first, 0, "0", "1", "");
    small_op(&small, BERTH_BUILTIN_QUANTIZE, 0, "1", "2", "");
    small_op(&small, BERTH_BUILTIN_RELU, 0, "2", "3", "");
    small_end(&small, "0", "3", &model);
    expect(&model, COPIES, cases[i].changes);
  }
}

static void a_copy_that_makes_a_graph_output_of_an_input_stays(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  small_begin(&small);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4", 0.5f, 3);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4", 0.5f, 3);
  small_given(&small, BERTH_TYPE_INT32, "2", "1 4");
  small_op(&small, BERTH_BUILTIN_RESHAPE, RESHAPE, "0 2", "1", "");
  small_end(&small, "0", "1", &model);
  expect(&model, COPIES, 0);
}

static void a_copy_that_makes_a_graph_output_lets_its_producer_write_it(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  small_begin(&small);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4", 0.5f, 3);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4", 0.5f, 3);
  small_given(&small, BERTH_TYPE_INT32, "2", "1 4");
  small_tensor(&small, BERTH_TYPE_INT8, "1,4", 0.5f, 3);
  small_tensor(&small, BERTH_TYPE_INT8, "1,4", 0.25f, 3);
  small_op(&small, BERTH_BUILTIN_RELU, 0, "0", "3", "");
  small_op(&small, BERTH_BUILTIN_RESHAPE, RESHAPE, "3 2", "1", "");
  small_op(&small, BERTH_BUILTIN_QUANTIZE, 0, "3", "4", ""); /* reads it as well */
  small_end(&small, "0", "1 4", &model);
  expect(&model, COPIES, 1);
}

/* ---- Constants, and what is dead ---------------------------------------------------------------
 */

static void operators_on_constants_are_folded_unless_the_file_grows(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  small_begin(&small);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_constant(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_constant(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_constant(&small, BERTH_TYPE_INT8, "1,6", 0.5f, 1);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_op(&small, BERTH_BUILTIN_MUL, MUL, "1 2", "3", "");    /* smaller than both: folded */
  small_op(&small, BERTH_BUILTIN_DEQUANTIZE, 0, "4", "5", ""); /* four times as large: stays */
  small_op(&small, BERTH_BUILTIN_ADD, ADD, "0 3", "6", "");
  small_op(&small, BERTH_BUILTIN_ADD, ADD, "6 5", "7", "");
  small_end(&small, "0", "7", &model);
  expect(&model, CONSTANTS, 1);
  cleaned_t result = clean(&model, 0, true);
  assert_int_equal(result.counts[CONSTANTS], 2);
  assert_int_equal(operators(&result.model), 2);
  assert_runs_alike(&model, &result.model);
  free(result.data);
}

static void what_no_result_depends_on_is_dropped_with_its_tensors(void **state) {
  (void)state;
  static small_t small;
  berth_model_t model;
  small_begin(&small);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0); /* of nobody */
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_tensor(&small, BERTH_TYPE_FLOAT32, "1,6", 0, 0);
  small_op(&small, BERTH_BUILTIN_RELU, 0, "0", "2", "");
  small_op(&small, BERTH_BUILTIN_RELU6, 0, "2", "3", ""); /* read by nobody; then 2 isn't either */
  small_op(&small, BERTH_BUILTIN_RELU6, 0, "0", "4", "");
  small_end(&small, "0", "4", &model);
  expect(&model, DEAD, 2);
  cleaned_t result = clean(&model, 0, false);
  assert_int_equal(result.tensors, 3);
  assert_int_equal(berth_model_subgraph(&result.model, 0).tensor_count, 2);
  free(result.data);
}

/* ---- What rounds differently -------------------------------------------------------------------
 */

/* Convolution, MUL, ADD: a batch normalization and its RELU. */
static void normalized(small_t *small, int code, berth_model_t *model) {
  bool depthwise = code == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
  small_begin(small);
  small_tensor(small, BERTH_TYPE_FLOAT32, "1,5,5,2", 0, 0);
  small_constant(small, BERTH_TYPE_FLOAT32, depthwise ? "1,3,3,2" : "2,3,3,2", 0, 0);
  small_constant(small, BERTH_TYPE_FLOAT32, "2", 0, 0);
  small_tensor(small, BERTH_TYPE_FLOAT32, "1,5,5,2", 0, 0);
  small_constant(small, BERTH_TYPE_FLOAT32, "1,1,1,2", 0, 0);
  small_tensor(small, BERTH_TYPE_FLOAT32, "1,5,5,2", 0, 0);
  small_constant(small, BERTH_TYPE_FLOAT32, "2", 0, 0);
  small_tensor(small, BERTH_TYPE_FLOAT32, "1,5,5,2", 0, 0);
  small_op(small, code, depthwise ? DEPTHWISE : CONV, "0 1 2", "3",
           depthwise ? "0:1:0 1:4:1 2:4:1 3:4:1" : "0:1:0 1:4:1 2:4:1");
  small_op(small, BERTH_BUILTIN_MUL, MUL, "3 4", "5", "");
  small_op(small, BERTH_BUILTIN_ADD, ADD, "5 6", "7", "0:1:1");
  small_end(small, "0", "7", model);
}

static void batch_normalizations_are_folded_into_float_convolutions(void **state) {
  (void)state;
  static small_t small;
  static float x[64], y[64];
  static const int codes[] = {BERTH_BUILTIN_CONV_2D, BERTH_BUILTIN_DEPTHWISE_CONV_2D};
  for (size_t i = 0; i < 2; i++) {
    berth_model_t model, folded;
    berth_edit_t edit;
    uint32_t count = 0;
    uint8_t *data;
    uint64_t size;
    normalized(&small, codes[i], &model);
    assert_int_equal(berth_edit_open(&model, &edit), BERTH_OK);
    assert_int_equal(berth_fold_scales(&edit, &count), BERTH_OK);
    assert_int_equal(count, 2);
    assert_int_equal(berth_edit_bytes(&edit, NULL, &data, &size, NULL), BERTH_OK);
    assert_int_equal(berth_model_open(data, size, &folded, NULL), BERTH_OK);
    assert_int_equal(operators(&folded), 1);
    uint32_t bytes = small_run(&model, 3, (uint8_t *)x, sizeof x);
    assert_int_equal(small_run(&folded, 3, (uint8_t *)y, sizeof y), bytes);
    float most = 0;
    for (uint32_t k = 0; k < bytes / 4; k++) {
      if (x[k] > most) most = x[k];
      assert_true(y[k] >= 0); /* the RELU has come along */
      assert_true(x[k] - y[k] < 1e-5f && y[k] - x[k] < 1e-5f);
    }
    assert_true(most > 0);
    free(data);
    berth_edit_close(&edit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_relu_is_fused_into_the_convolution_before_it),
      cmocka_unit_test(a_relu_that_rescales_or_whose_input_is_an_output_stays),
      cmocka_unit_test(an_addition_and_a_pool_take_a_relu_as_well),
      cmocka_unit_test(a_pad_that_same_padding_equals_is_folded),
      cmocka_unit_test(a_pad_before_weights_that_are_not_finite_stays),
      cmocka_unit_test(a_pad_that_same_padding_does_not_equal_stays),
      cmocka_unit_test(reshapes_that_change_nothing_go_and_chains_shrink),
      cmocka_unit_test(quantize_pairs_that_cancel_out_go),
      cmocka_unit_test(a_copy_that_makes_a_graph_output_of_an_input_stays),
      cmocka_unit_test(a_copy_that_makes_a_graph_output_lets_its_producer_write_it),
      cmocka_unit_test(operators_on_constants_are_folded_unless_the_file_grows),
      cmocka_unit_test(batch_normalizations_are_folded_into_float_convolutions),
      cmocka_unit_test(what_no_result_depends_on_is_dropped_with_its_tensors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
