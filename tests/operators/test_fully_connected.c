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

/* ---- One vector in pieces ------------------------------------------------------------------- */

/* The layers that can be accumulated. */
static const struct {
  berth_tensor_type_t type, filter, bias;
} types[] = {
    {BERTH_TYPE_INT8, BERTH_TYPE_INT8, BERTH_TYPE_INT32},
    {BERTH_TYPE_UINT8, BERTH_TYPE_UINT8, BERTH_TYPE_INT32},
    {BERTH_TYPE_INT16, BERTH_TYPE_INT8, BERTH_TYPE_INT64},
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32},
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT16, BERTH_TYPE_FLOAT32},
};

/* Numbers of a type: integers of any value, floats of magnitudes that differ widely, so that sums
 * in another order would differ. */
static void *draw_numbers(const berth_value_t *value, uint64_t *seed) {
  uint8_t *data = malloc(value->bytes);
  assert_non_null(data);
  for (uint32_t i = 0; i < value->elements; i++) {
    float real = (float)fake_between(seed, -9999, 9999) / (float)(1 << fake_between(seed, 0, 16));
    uint16_t half = (uint16_t)(fake_random(seed) & 0xbfffu); /* below infinity */
    uint64_t bits = fake_random(seed);
    if (value->type == BERTH_TYPE_INT32 || value->type == BERTH_TYPE_INT64)
      bits = (uint64_t)(int64_t)fake_between(seed, -9999, 9999);
    if (value->type == BERTH_TYPE_FLOAT32)
      memcpy(data + 4 * (size_t)i, &real, 4);
    else if (value->type == BERTH_TYPE_FLOAT16)
      memcpy(data + 2 * (size_t)i, &half, 2);
    else
      memcpy(data + (size_t)i * (value->bytes / value->elements), &bits,
             value->bytes / value->elements);
  }
  return data;
}

/* Feeds the rows that are `row` elements long, from a ring of `ring` of them. */
static void accumulate(fake_t *fake, uint32_t row, uint32_t ring) {
  const berth_kernel_t *kernel = &berth_kernel_fully_connected;
  berth_value_t *input = &fake->value[fake->input[0]], whole = *input;
  input->row_bytes = row * (whole.bytes / whole.elements);
  input->rows = whole.elements / row;
  input->ring = ring;
  input->data = fake_memory(ring * input->row_bytes);
  assert_int_equal(kernel->begin(&fake->call), BERTH_OK);
  for (uint32_t first = 0; first < input->rows; first = fake->call.last_row) {
    fake->call.first_row = first;
    fake->call.last_row =
        first + 1 + first % ring < input->rows ? first + 1 + first % ring : input->rows;
    for (uint32_t r = first; r < fake->call.last_row; r++)
      memcpy(berth_row(input, r), whole.data + (size_t)r * input->row_bytes, input->row_bytes);
    assert_int_equal(kernel->accumulate(&fake->call), BERTH_OK);
  }
  assert_int_equal(kernel->finish(&fake->call), BERTH_OK);
  free(input->data);
  *input = whole;
}

static void a_vector_that_comes_in_pieces_gives_the_same_bytes(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int i = 0; i < 400; i++) {
    size_t t = (size_t)i % (sizeof types / sizeof *types);
    bool real = types[t].type == BERTH_TYPE_FLOAT32, is_long = types[t].type == BERTH_TYPE_INT16;
    uint32_t row = (uint32_t)fake_between(&seed, 1, 40), rows = (uint32_t)fake_between(&seed, 1, 9);
    int32_t units = fake_between(&seed, 1, 40), depth = (int32_t)(row * rows);
    int32_t zero = real || is_long ? 0 : fake_between(&seed, 0, 100);
    fake_t fake;
    fake_open(&fake, &berth_kernel_fully_connected);
    berth_value_t values[3] = {
        fake_tensor(types[t].type, 2, (int32_t[]){1, depth}, real ? 0 : 0.02f, zero),
        fake_tensor(types[t].filter, 2, (int32_t[]){units, depth}, real ? 0 : 0.0003f,
                    types[t].type == BERTH_TYPE_UINT8 ? zero : 0),
        fake_tensor(types[t].bias, 1, &units, 0, 0)};
    for (int k = 0; k < 3; k++) {
      void *data = draw_numbers(&values[k], &seed);
      fake_input(&fake, values[k], data);
      free(data);
    }
    fake_output(&fake, fake_tensor(types[t].type, 0, NULL, real ? 0 : 0.025f, zero));
    fake_option(&fake, BERTH_FULLY_CONNECTED_ACTIVATION, fake_between(&seed, 0, 3));
    fake.call.cpu = fake_random(&seed) % 2 ? berth_cpu_detect() : 0;
    assert_int_equal(fake_prepare(&fake), BERTH_OK);
    assert_int_equal(fake.contract.kind, BERTH_ACCUMULATING);
    assert_true(fake.contract.any_rows);
    assert_int_equal(fake_eval(&fake), BERTH_OK);
    const berth_value_t *output = &fake.value[fake.output[0]];
    void *expected = malloc(output->bytes);
    assert_non_null(expected);
    memcpy(expected, output->data, output->bytes);
    free(fake.call.scratch[0]);
    fake.call.scratch[0] = fake_memory(fake.contract.accumulator);
    memset(output->data, 0xa5, output->bytes);
    accumulate(&fake, row, (uint32_t)fake_between(&seed, 1, (int32_t)rows));
    assert_memory_equal(output->data, expected, output->bytes);
    free(expected);
    fake_close(&fake);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(int8_equals_the_definition),
      cmocka_unit_test(uint8_equals_the_definition),
      cmocka_unit_test(int16_equals_the_definition),
      cmocka_unit_test(a_vector_that_comes_in_pieces_gives_the_same_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
