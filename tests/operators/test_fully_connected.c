/* FULLY_CONNECTED against the definition, which is that of a 1x1 convolution. */
#include "operators/kernels.h"
#include "operators/naive_conv.h"

/* Draws a layer of a type, and runs it in every way that must give the same bytes. */
static void check(berth_tensor_type_t type, uint64_t *seed) {
  bool is_unsigned = type == BERTH_TYPE_UINT8, is_long = type == BERTH_TYPE_INT16;
  int32_t low = is_long ? -32768 : is_unsigned ? 0 : -128;
  int32_t high = is_long ? 32767 : is_unsigned ? 255 : 127;
  int32_t depth = fake_between(seed, 1, 150), units = fake_between(seed, 1, 40);
  int32_t h = fake_between(seed, 1, 5), w = fake_between(seed, 1, 3);
  bool keep = fake_random(seed) % 2,
       per_channel = !is_unsigned && units > 1 && fake_random(seed) % 2;
  int32_t input_dims[4] = {1, h, w, depth}, filter_dims[4] = {units, 1, 1, depth};
  int32_t output_dims[4] = {1, h, w, units};

  float *scales = malloc(sizeof *scales * (size_t)units);
  assert_non_null(scales);
  for (int32_t i = 0; i < units; i++) {
    scales[i] = (float)fake_between(seed, 20, 200) / 100.0f / 70.0f / sqrtf((float)depth);
  }
  naive_conv_t naive = {
      .input = fake_tensor(type, 4, input_dims, 0.02f, is_long ? 0 : fake_between(seed, low, high)),
      .filter = fake_tensor(is_unsigned ? type : BERTH_TYPE_INT8, 4, filter_dims, scales[0],
                            is_long ? 0 : fake_between(seed, low, high)),
      .bias = fake_tensor(is_long ? BERTH_TYPE_INT64 : BERTH_TYPE_INT32, 1, &units, 0.0f, 0),
      .output =
          fake_tensor(type, 4, output_dims, 0.025f, is_long ? 0 : fake_between(seed, low, high)),
      .stride_h = 1,
      .stride_w = 1,
      .dilation_h = 1,
      .dilation_w = 1,
      .activation = fake_between(seed, 0, 3),
      .rounding = is_long       ? NAIVE_LONG
                  : is_unsigned ? NAIVE_UP
                                : NAIVE_TWICE,
      .float_product = !per_channel,
      .filter_zero = !per_channel};
  if (per_channel) fake_scales(&naive.filter, scales, (uint32_t)units, 0);
  naive.bias.present = fake_random(seed) % 4 != 0;
  berth_value_t *values[] = {&naive.input, &naive.filter, &naive.bias, &naive.output};
  for (int i = 0; i < 4; i++) {
    values[i]->data = malloc(values[i]->bytes);
    assert_non_null(values[i]->data);
    int32_t most = i == 2 ? 20000 : i == 1 && is_long ? 127 : high;
    int32_t least = i == 2 ? -20000 : i == 1 && is_long ? -128 : low;
    for (uint32_t k = 0; k < values[i]->elements; k++) {
      naive_put(values[i]->type, values[i]->data, k, fake_between(seed, least, most));
    }
  }
  naive_conv(&naive);

  for (int way = 0; way < 4; way++) {
    fake_t fake;
    fake_open(&fake, &berth_kernel_fully_connected);
    fake_input(&fake, naive.input, naive.input.data);
    berth_value_t filter = naive.filter;
    filter.rank = 2;
    filter.dims[1] = depth;
    fake_measure(&filter);
    fake_input(&fake, filter, naive.filter.data);
    if (naive.bias.present) fake_input(&fake, naive.bias, naive.bias.data);
    berth_value_t output = naive.output;
    output.data = NULL;
    fake_output(&fake, output);
    fake_option(&fake, BERTH_FULLY_CONNECTED_ACTIVATION, naive.activation);
    fake_option(&fake, BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS, keep);
    fake.call.cpu = way & 1 ? berth_cpu_detect() : 0;
    fake.call.store_multipliers = way & 2;
    assert_int_equal(fake_prepare(&fake), BERTH_OK);
    const berth_value_t *result = &fake.value[fake.output[0]];
    assert_int_equal(result->rank, keep ? 4 : 2);
    assert_int_equal(result->dims[0], keep ? 1 : h * w);
    assert_int_equal(result->dims[result->rank - 1], units);
    assert_int_equal(fake_eval(&fake), BERTH_OK);
    assert_memory_equal(result->data, naive.output.data, naive.output.bytes);
    if (keep) { /* the last row alone */
      assert_int_equal(fake.contract.kind, BERTH_ROW_LOCAL);
      memset(berth_row(result, result->rows - 1), 0x5a, result->row_bytes);
      assert_int_equal(fake_eval_rows(&fake, result->rows - 1, result->rows), BERTH_OK);
      assert_memory_equal(result->data, naive.output.data, naive.output.bytes);
    }
    fake_close(&fake);
  }
  for (int i = 0; i < 4; i++) free(values[i]->data);
  free(scales);
}

static void int8_equals_the_definition(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 200; i++) check(BERTH_TYPE_INT8, &seed);
}

static void uint8_equals_the_definition(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (int i = 0; i < 200; i++) check(BERTH_TYPE_UINT8, &seed);
}

static void int16_equals_the_definition(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int i = 0; i < 200; i++) check(BERTH_TYPE_INT16, &seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(int8_equals_the_definition),
      cmocka_unit_test(uint8_equals_the_definition),
      cmocka_unit_test(int16_equals_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
