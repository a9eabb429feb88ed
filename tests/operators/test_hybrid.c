/* Hybrid operators (float activations, int8 weights) against the definition, in double precision:
 * the input's range gives a scale, inputs are rounded to it, and the sums are exact. */
#include "operators/kernels.h"
#include "operators/naive_conv.h"
#include "operators/over_rows.h"

typedef struct quantized {
  double scale;
  int32_t zero_point;
  int32_t *values;
} quantized_t;

/* The definition of TFLite's quantization of one vector or image. */
static quantized_t quantize(const float *values, uint32_t count, bool asymmetric) {
  double min = 0.0, max = 0.0;
  quantized_t q = {1.0, 0, calloc(count, sizeof *q.values)};
  assert_non_null(q.values);
  for (uint32_t i = 0; i < count; i++) {
    min = fmin(min, (double)values[i]);
    max = fmax(max, (double)values[i]);
  }
  if (min == max) return q;
  q.scale = asymmetric ? (max - min) / 255.0 : fmax(max, -min) / 127.0;
  if (asymmetric) {
    double low = -128.0 - min / q.scale, high = 127.0 - max / q.scale;
    double best = 128.0 + fabs(min / q.scale) < 127.0 + fabs(max / q.scale) ? low : high;
    q.zero_point = (int32_t)fmin(fmax(round(best), -128.0), 127.0);
  }
  for (uint32_t i = 0; i < count; i++) {
    double real = round((double)values[i] / q.scale + q.zero_point);
    q.values[i] = (int32_t)fmin(fmax(real, asymmetric ? -128.0 : -127.0), 127.0);
  }
  return q;
}

/* Where the contract says that the output may lie, in steps of one float. */
static void check_overlaps(fake_t *fake) {
  const berth_value_t *input = &fake->value[fake->input[0]],
                      *output = &fake->value[fake->output[0]];
  const berth_contract_t *contract = &fake->contract;
  uint32_t distance = UINT32_MAX;
  if (contract->ordered) distance = over_rows_distance(input, output, contract->windows[0]);
  if (contract->in_step & 1u) distance = in_step_distance(input, output);
  for (uint32_t more = 0; more < 100 && distance != UINT32_MAX; more += 4) {
    fake_check_behind(fake, distance + more, output->data);
  }
  if (contract->in_place & 1u) fake_check_behind(fake, 0, output->data);
}

/* A FULLY_CONNECTED or 1x1 CONV_2D layer over `count` vectors of one image. `per_channel` weights
 * make a convolution asymmetric. Returns how often an input halfway between two units went the
 * other way by the last bit of a float, which may happen to a few. */
static int check(const berth_kernel_t *kernel, bool per_channel, uint64_t *seed) {
  bool conv = kernel == &berth_kernel_conv_2d;
  int32_t depth = fake_between(seed, 1, 70), units = fake_between(seed, 2, 20);
  int32_t count = fake_between(seed, 1, 6);
  int32_t input_dims[4] = {1, count, 1, depth}, filter_dims[4] = {units, 1, 1, depth};
  int32_t vector_dims[2] = {count, depth}, matrix_dims[2] = {units, depth};
  float input[6 * 70], bias[20], scales[20];
  int8_t filter[20 * 70];
  int flips = 0;
  for (int32_t i = 0; i < count * depth; i++) {
    input[i] = (float)fake_between(seed, -700, 1000) / 97.0f;
  }
  for (int32_t i = 0; i < units * depth; i++) filter[i] = (int8_t)fake_between(seed, -127, 127);
  for (int32_t i = 0; i < units; i++) {
    bias[i] = (float)fake_between(seed, -100, 100) / 9.0f;
    scales[i] = (float)fake_between(seed, 10, 100) / 3000.0f;
  }

  for (int vector = 0; vector < 2; vector++) {
    fake_t fake;
    fake_open(&fake, kernel);
    fake_input(
        &fake,
        fake_tensor(BERTH_TYPE_FLOAT32, conv ? 4 : 2, conv ? input_dims : vector_dims, 0.0f, 0),
        input);
    berth_value_t weights =
        fake_tensor(BERTH_TYPE_INT8, conv ? 4 : 2, conv ? filter_dims : matrix_dims, scales[0], 0);
    if (per_channel) fake_scales(&weights, scales, (uint32_t)units, 0);
    fake_input(&fake, weights, filter);
    fake_input(&fake, fake_tensor(BERTH_TYPE_FLOAT32, 1, &units, 0.0f, 0), bias);
    fake_output(&fake, fake_tensor(BERTH_TYPE_FLOAT32, 0, NULL, 0.0f, 0));
    if (conv) {
      fake_option(&fake, BERTH_CONV_2D_STRIDE_W, 1);
      fake_option(&fake, BERTH_CONV_2D_STRIDE_H, 1);
    }
    fake.call.cpu = vector ? berth_cpu_detect() : 0;
    assert_int_equal(fake_prepare(&fake), BERTH_OK);
    assert_int_equal(fake.contract.kind, BERTH_WHOLE); /* the range needs all of the input */
    assert_int_equal(fake.contract.in_step, 1);
    assert_int_equal(fake_eval(&fake), BERTH_OK);
    check_overlaps(&fake);

    const float *result = (const float *)(const void *)fake.value[fake.output[0]].data;
    double largest = 0.0, worst = 0.0, unit = 0.0;
    for (int32_t v = 0; v < count; v++) {
      quantized_t q = conv ? quantize(input, (uint32_t)(count * depth), per_channel)
                           : quantize(input + v * depth, (uint32_t)depth, false);
      const int32_t *x = conv ? q.values + v * depth : q.values;
      for (int32_t u = 0; u < units; u++) {
        int64_t sum = 0;
        for (int32_t k = 0; k < depth; k++) {
          sum += (int64_t)(x[k] - q.zero_point) * filter[u * depth + k];
        }
        double scale = q.scale * (double)scales[per_channel ? u : 0];
        unit = fmax(unit, 127.0 * scale); /* one input off by one */
        double expected = (double)sum * scale + (double)bias[u];
        largest = fmax(largest, fabs(expected));
        worst = fmax(worst, fabs(expected - (double)result[v * units + u]));
      }
      free(q.values);
    }
    assert_true(worst <= 1e-5 * largest + 2.0 * unit);
    if (worst > 1e-5 * largest) flips++;
    fake_close(&fake);
  }
  return flips;
}

static void convolutions_equal_the_definition(void **state) {
  (void)state;
  uint64_t seed = 5;
  int flips = 0;
  for (int i = 0; i < 100; i++) flips += check(&berth_kernel_conv_2d, i % 2, &seed);
  assert_in_range(flips, 0, 20);
}

static void fully_connected_layers_equal_the_definition(void **state) {
  (void)state;
  uint64_t seed = 6;
  int flips = 0;
  for (int i = 0; i < 100; i++) flips += check(&berth_kernel_fully_connected, i % 2, &seed);
  assert_in_range(flips, 0, 20);
}

/* Filters of any size, strides, dilations and groups: the image is whole, its rows come in order.
 */
static void convolutions_make_rows_in_order(void **state) {
  (void)state;
  uint64_t seed = 7;
  uint32_t ordered = 0, over = 0;
  for (int i = 0; i < 300; i++) {
    int32_t batch = i % 10 == 0 ? 2 : 1, groups = i % 4 == 0 ? fake_between(&seed, 2, 3) : 1;
    int32_t taps_h = fake_between(&seed, 1, 4), taps_w = fake_between(&seed, 1, 3);
    int32_t depth = fake_between(&seed, 1, 9), units = groups * fake_between(&seed, 1, 5);
    int32_t input_dims[4] = {batch, fake_between(&seed, 8, 14), fake_between(&seed, 5, 9),
                             groups * depth};
    int32_t filter_dims[4] = {units, taps_h, taps_w, depth};
    float input[2 * 14 * 9 * 27];
    int8_t filter[15 * 12 * 9];
    for (size_t k = 0; k < sizeof input / sizeof *input; k++)
      input[k] = (float)fake_between(&seed, -700, 1000) / 97.0f;
    for (size_t k = 0; k < sizeof filter; k++) filter[k] = (int8_t)fake_between(&seed, -127, 127);

    fake_t fake;
    fake_open(&fake, &berth_kernel_conv_2d);
    fake_input(&fake, fake_tensor(BERTH_TYPE_FLOAT32, 4, input_dims, 0.0f, 0), input);
    fake_input(&fake, fake_tensor(BERTH_TYPE_INT8, 4, filter_dims, 0.01f, 0), filter);
    fake_output(&fake, fake_tensor(BERTH_TYPE_FLOAT32, 0, NULL, 0.0f, 0));
    fake_option(&fake, BERTH_CONV_2D_PADDING, i % 2);
    fake_option(&fake, BERTH_CONV_2D_STRIDE_W, fake_between(&seed, 1, 2));
    fake_option(&fake, BERTH_CONV_2D_STRIDE_H, fake_between(&seed, 1, 3));
    fake_option(&fake, BERTH_CONV_2D_DILATION_H, fake_between(&seed, 1, 2));
    fake.call.cpu = i & 4 ? berth_cpu_detect() : 0;
    assert_int_equal(fake_prepare(&fake), BERTH_OK);
    assert_int_equal(fake.contract.kind, BERTH_WHOLE);
    assert_true(batch == 1 || (!fake.contract.ordered && fake.contract.in_step == 0));
    ordered += fake.contract.ordered;
    assert_int_equal(fake_eval(&fake), BERTH_OK);
    const berth_value_t *from = &fake.value[fake.input[0]], *to = &fake.value[fake.output[0]];
    over +=
        fake.contract.ordered && over_rows_distance(from, to, fake.contract.windows[0]) < to->bytes;
    check_overlaps(&fake);
    fake_close(&fake);
  }
  assert_true(ordered > 150 && over > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions_equal_the_definition),
      cmocka_unit_test(fully_connected_layers_equal_the_definition),
      cmocka_unit_test(convolutions_make_rows_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
