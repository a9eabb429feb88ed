/* Activations and functions of one input: floats against double precision, quantized ones against
 * the real function of the real numbers that they stand for, or the reference's rounding.
 */
#include "operators/case.h"
#include <math.h>

#define COUNT 600
static const int32_t shape[4] = {1, 5, 12, 10};

/* ---- Float ---------------------------------------------------------------------------------- */

static double relu(double x) {
  return fmax(x, 0);
}
static double relu6(double x) {
  return fmin(fmax(x, 0), 6);
}
static double relu1(double x) {
  return fmin(fmax(x, -1), 1);
}
static double leaky(double x) {
  return x > 0 ? x : x * (double)0.3f;
}
static double logistic(double x) {
  return 1 / (1 + exp(-x));
}
static double hard_swish(double x) {
  return x * relu6(x + 3) / 6;
}
static double elu(double x) {
  return x < 0 ? expm1(x) : x;
}
static double reciprocal_root(double x) {
  return 1 / sqrt(x);
}
static double square(double x) {
  return x * x;
}
static double negative(double x) {
  return -x;
}

static void check(const berth_kernel_t *kernel, double (*function)(double), float low, float high) {
  case_t c;
  float data[COUNT];
  double expected[COUNT];
  case_random_floats(data, COUNT, 1, 44);
  for (uint32_t i = 0; i < COUNT; i++) {
    data[i] = low + (data[i] + 1) / 2 * (high - low);
    expected[i] = function((double)data[i]);
  }
  case_begin(&c, kernel);
  case_option_float(&c, BERTH_LEAKY_RELU_ALPHA, 0.3f);
  case_input(&c, BERTH_TYPE_FLOAT32, 4, shape, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 4, shape);
  case_expect_floats(case_result(&c, 0).data, expected, COUNT);
  case_end(&c);
}

static void float_functions_agree_with_double_precision(void **state) {
  (void)state;
  check(&berth_kernel_relu, relu, -8, 8);
  check(&berth_kernel_relu6, relu6, -8, 8);
  check(&berth_kernel_relu_n1_to_1, relu1, -8, 8);
  check(&berth_kernel_leaky_relu, leaky, -8, 8);
  check(&berth_kernel_logistic, logistic, -30, 30);
  check(&berth_kernel_logistic, logistic, -80, -60); /* all results are tiny */
  check(&berth_kernel_tanh, tanh, -12, 12);
  check(&berth_kernel_tanh, tanh, -1e-3f, 1e-3f);
  check(&berth_kernel_hard_swish, hard_swish, -8, 8);
  check(&berth_kernel_elu, elu, -8, 8);
  check(&berth_kernel_exp, exp, -80, -70);
  check(&berth_kernel_exp, exp, -5, 20);
  check(&berth_kernel_exp, exp, 80, 88);
  check(&berth_kernel_log, log, 1e-3f, 90);
  check(&berth_kernel_sqrt, sqrt, 0, 90);
  check(&berth_kernel_rsqrt, reciprocal_root, 1e-3f, 90);
  check(&berth_kernel_square, square, -9, 9);
  check(&berth_kernel_abs, fabs, -9, 9);
  check(&berth_kernel_neg, negative, -9, 9);
  check(&berth_kernel_floor, floor, -9, 9);
  check(&berth_kernel_ceil, ceil, -9, 9);
  check(&berth_kernel_round, rint, -9, 9);
  check(&berth_kernel_sin, sin, -9, 9);
  check(&berth_kernel_cos, cos, -9, 9);
}

static void extreme_floats_do_what_they_should(void **state) {
  (void)state;
  static const float data[8] = {INFINITY, -INFINITY, NAN, 0, 1000, -1000, 0.5f, 2.5f};
  static const struct {
    const berth_kernel_t *kernel;
    float expected[8];
  } rows[] = {
      {&berth_kernel_logistic, {1, 0, NAN, 0.5f, 1, 0, 0.62245935f, 0.92414182f}},
      {&berth_kernel_tanh, {1, -1, NAN, 0, 1, -1, 0.46211717f, 0.98661429f}},
      {&berth_kernel_round, {INFINITY, -INFINITY, NAN, 0, 1000, -1000, 0, 2}},
      {&berth_kernel_relu6, {6, 0, NAN, 0, 6, 0, 0.5f, 2.5f}},
  };
  for (uint32_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    case_t c;
    case_begin(&c, rows[k].kernel);
    case_input(&c, BERTH_TYPE_FLOAT32, 1, (int32_t[]){8}, data, 0, 0);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < 8; i++) {
      float result, expected = rows[k].expected[i];
      memcpy(&result, case_result(&c, 0).data + 4 * i, 4);
      if (isnan(expected))
        assert_true(isnan(result));
      else if (isinf(expected))
        assert_memory_equal(&result, &expected, 4);
      else
        assert_true(fabsf(result - expected) < 1e-6f);
    }
    case_end(&c);
  }
}

static double gelu(double x) {
  return x * (1 + erf(x / sqrt(2))) / 2;
}
static double gelu_tanh(double x) {
  return x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))) / 2;
}

static void gelu_is_exact_or_approximate(void **state) {
  (void)state;
  for (int approximate = 0; approximate < 2; approximate++) {
    for (int real = 0; real < 2; real++) {
      case_t c;
      float floats[256];
      uint8_t bytes[256];
      double expected[256];
      for (int i = 0; i < 256; i++) {
        floats[i] = 0.05f * (float)((int8_t)i - 3);
        bytes[i] = (uint8_t)i;
        expected[i] = (approximate ? gelu_tanh : gelu)((double)floats[i]);
      }
      case_begin(&c, &berth_kernel_gelu);
      case_option_byte(&c, BERTH_GELU_APPROXIMATE, approximate);
      case_input(&c, real ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT8, 2, (int32_t[]){2, 128},
                 real ? (void *)floats : (void *)bytes, real ? 0 : 0.05f, real ? 0 : 3);
      case_output(&c, real ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT8, real ? 0 : 0.03f,
                  real ? 0 : -100);
      assert_int_equal(case_run(&c), BERTH_OK);
      const int8_t *result = (const int8_t *)case_result(&c, 0).data;
      for (int i = 0; i < 256 && !real; i++) {
        double want = fmin(fmax(expected[i] / (double)0.03f - 100, -128), 127);
        assert_true(fabs(result[i] - want) < 0.501);
      }
      if (real) case_expect_floats(result, expected, 256);
      case_end(&c);
    }
  }
}

static void sign_is_one_zero_or_minus_one(void **state) {
  (void)state;
  case_t c;
  case_begin(&c, &berth_kernel_sign);
  case_input(&c, BERTH_TYPE_FLOAT32, 1, (int32_t[]){4}, ((float[]){-7, 0, 1e-30f, 9}), 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((float[]){-1, 0, 1, 1}), 16);
  case_end(&c);
}

/* ---- Quantized ------------------------------------------------------------------------------ */

static int32_t load(const void *data, berth_tensor_type_t type, uint32_t i) {
  int16_t wide;
  if (type == BERTH_TYPE_INT8) return ((const int8_t *)data)[i];
  if (type == BERTH_TYPE_UINT8) return ((const uint8_t *)data)[i];
  memcpy(&wide, (const uint8_t *)data + 2 * i, 2);
  return wide;
}

/* Every result is within `tolerance` units of the real one, clamped to the type. */
static void check_quantized(const berth_kernel_t *kernel, double (*function)(double),
                            berth_tensor_type_t type, float in, int32_t in_zero, float out,
                            int32_t out_zero, double tolerance, uint32_t workspace) {
  case_t c;
  uint8_t data[2 * COUNT];
  bool small = workspace == 0 && type != BERTH_TYPE_INT16;
  uint32_t count = small ? 200 : COUNT;
  case_random_bytes(data, sizeof data, 13);
  case_begin(&c, kernel);
  case_option_float(&c, BERTH_LEAKY_RELU_ALPHA, 0.3f);
  case_input(&c, type, 4, small ? (int32_t[]){1, 5, 4, 10} : shape, data, in, in_zero);
  case_output(&c, type, out, out_zero);
  assert_int_equal(case_run(&c), BERTH_OK);
  if (workspace != 1) assert_int_equal(c.contract.workspace, workspace);
  double low = type == BERTH_TYPE_INT8 ? -128 : type == BERTH_TYPE_UINT8 ? 0 : -32768;
  double high = type == BERTH_TYPE_INT8 ? 127 : type == BERTH_TYPE_UINT8 ? 255 : 32767;
  for (uint32_t i = 0; i < count; i++) {
    double x = (double)in * (load(data, type, i) - in_zero);
    double expected = fmin(fmax(function(x) / (double)out + out_zero, low), high);
    if (!(fabs(load(case_result(&c, 0).data, type, i) - expected) <= tolerance))
      fail_msg("%g gives %d, not %g", x, load(case_result(&c, 0).data, type, i), expected);
  }
  case_end(&c);
}

static void eight_bit_functions_use_a_table_only_where_it_pays(void **state) {
  (void)state;
  for (uint32_t workspace = 0; workspace <= 256; workspace += 256) {
    check_quantized(&berth_kernel_logistic, logistic, BERTH_TYPE_INT8, 0.07f, 5, 1.0f / 256, -128,
                    0.51, workspace);
    check_quantized(&berth_kernel_logistic, logistic, BERTH_TYPE_UINT8, 0.05f, 100, 1.0f / 256, 0,
                    0.51, workspace);
    check_quantized(&berth_kernel_tanh, tanh, BERTH_TYPE_INT8, 0.03f, -9, 1.0f / 128, 0, 0.51,
                    workspace);
    check_quantized(&berth_kernel_tanh, tanh, BERTH_TYPE_UINT8, 0.03f, 90, 1.0f / 128, 128, 0.51,
                    workspace);
    check_quantized(&berth_kernel_hard_swish, hard_swish, BERTH_TYPE_INT8, 0.05f, 3, 0.04f, -100,
                    1.0, workspace);
    check_quantized(&berth_kernel_hard_swish, hard_swish, BERTH_TYPE_INT8, 0.4f, 3, 0.4f, -10, 1.0,
                    workspace);
    check_quantized(&berth_kernel_elu, elu, BERTH_TYPE_INT8, 0.05f, 3, 0.04f, -100, 0.51,
                    workspace);
    check_quantized(&berth_kernel_abs, fabs, BERTH_TYPE_INT8, 0.05f, 3, 0.04f, -100, 0.51,
                    workspace);
  }
}

static void int16_functions_interpolate(void **state) {
  (void)state;
  check_quantized(&berth_kernel_logistic, logistic, BERTH_TYPE_INT16, 1.0f / 4096, 0, 1.0f / 32768,
                  0, 4, 1);
  check_quantized(&berth_kernel_logistic, logistic, BERTH_TYPE_INT16, 3.1e-4f, 0, 1.0f / 32768, 0,
                  4, 1);
  check_quantized(&berth_kernel_tanh, tanh, BERTH_TYPE_INT16, 1.0f / 4096, 0, 1.0f / 32768, 0, 8,
                  1);
  check_quantized(&berth_kernel_tanh, tanh, BERTH_TYPE_INT16, 1.0f / 2048, 0, 1.0f / 32768, 0, 8,
                  1);
  check_quantized(&berth_kernel_tanh, tanh, BERTH_TYPE_INT16, 2.3e-4f, 0, 1.0f / 32768, 0, 8, 1);
}

/* Two roundings: half a unit, after half a unit before a shift to the right by at least one. */
static void linear_functions_are_rounded_twice(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT8, BERTH_TYPE_UINT8, BERTH_TYPE_INT16};
  for (uint32_t t = 0; t < 3; t++) {
    int32_t zero = types[t] == BERTH_TYPE_UINT8 ? 120 : types[t] == BERTH_TYPE_INT8 ? -8 : 0;
    for (uint32_t k = 0; k < 2; k++) {
      float out = k == 0 ? 0.05f : 0.031f;
      check_quantized(&berth_kernel_relu, relu, types[t], 0.05f, zero, out, zero, 0.76, 1);
      check_quantized(&berth_kernel_relu6, relu6, types[t], 0.05f, zero, out, zero, 0.76, 1);
      check_quantized(&berth_kernel_relu_n1_to_1, relu1, types[t], 0.05f, zero, out, zero, 0.76, 1);
      check_quantized(&berth_kernel_leaky_relu, leaky, types[t], 0.05f, zero, out, zero, 0.76, 1);
    }
  }
}

static void prelu_has_a_slope_for_each_channel(void **state) {
  (void)state;
  case_t c;
  float data[COUNT], slopes[10];
  double expected[COUNT];
  int8_t small[COUNT], steps[10];
  case_random_floats(data, COUNT, 3, 4);
  case_random_floats(slopes, 10, 1, 5);
  for (uint32_t i = 0; i < COUNT; i++)
    expected[i] = (double)(data[i] >= 0 ? data[i] : data[i] * slopes[i % 10]);
  case_begin(&c, &berth_kernel_prelu);
  case_input(&c, BERTH_TYPE_FLOAT32, 4, shape, data, 0, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 1, 10}, slopes, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_floats(case_result(&c, 0).data, expected, COUNT);
  case_end(&c);

  case_random_bytes(small, COUNT, 6);
  case_random_bytes(steps, 10, 7);
  case_begin(&c, &berth_kernel_prelu);
  case_input(&c, BERTH_TYPE_INT8, 4, shape, small, 0.05f, -8);
  case_constant(&c, BERTH_TYPE_INT8, 3, (int32_t[]){1, 1, 10}, steps, 0.01f, 4);
  case_output(&c, BERTH_TYPE_INT8, 0.06f, 2);
  assert_int_equal(case_run(&c), BERTH_OK);
  for (uint32_t i = 0; i < COUNT; i++) {
    double x = (double)0.05f * (small[i] + 8), slope = (double)0.01f * (steps[i % 10] - 4);
    double real = (x >= 0 ? x : x * slope) / (double)0.06f + 2;
    real = fmin(fmax(real, -128), 127);
    assert_true(fabs(((int8_t *)case_result(&c, 0).data)[i] - real) <= 0.51);
  }
  case_end(&c);
}

static void integers_are_negated_and_made_positive(void **state) {
  (void)state;
  case_t c;
  static const int32_t data[3] = {5, -7, INT32_MIN};
  case_begin(&c, &berth_kernel_abs);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){3}, data, 0, 0);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((int32_t[]){5, 7, INT32_MIN}), 12);
  case_end(&c);
  case_begin(&c, &berth_kernel_neg);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){3}, data, 0, 0);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((int32_t[]){-5, 7, INT32_MIN}), 12);
  case_end(&c);
}

static void refused(const berth_kernel_t *kernel, berth_tensor_type_t type, float in, float out,
                    int32_t out_zero) {
  case_t c;
  case_begin(&c, kernel);
  case_input(&c, type, 0, NULL, &(int64_t){0}, in, 0);
  case_output(&c, type, out, out_zero);
  case_refused(&c);
}

static void types_and_scales_that_make_no_sense_are_refused(void **state) {
  (void)state;
  refused(&berth_kernel_logistic, BERTH_TYPE_INT8, 0.1f, 0.1f, -128);
  refused(&berth_kernel_logistic, BERTH_TYPE_INT8, 0.1f, 1.0f / 256, 0);
  refused(&berth_kernel_logistic, BERTH_TYPE_INT8, 0, 1.0f / 256, -128);
  refused(&berth_kernel_logistic, BERTH_TYPE_INT8, 1e30f, 1.0f / 256, -128);
  refused(&berth_kernel_tanh, BERTH_TYPE_INT16, 0.1f, 0.1f, 0);
  refused(&berth_kernel_hard_swish, BERTH_TYPE_INT8, 1e9f, 1e9f, 0);
  refused(&berth_kernel_hard_swish, BERTH_TYPE_INT8, 1, 1e-9f, 0);
  refused(&berth_kernel_relu, BERTH_TYPE_INT8, 1e20f, 1e-20f, 0);
  refused(&berth_kernel_leaky_relu, BERTH_TYPE_INT8, INFINITY, 1, 0);
  refused(&berth_kernel_sin, BERTH_TYPE_INT8, 1, 1, 0);
  refused(&berth_kernel_relu, BERTH_TYPE_INT64, 1, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gelu_is_exact_or_approximate),
      cmocka_unit_test(sign_is_one_zero_or_minus_one),
      cmocka_unit_test(float_functions_agree_with_double_precision),
      cmocka_unit_test(extreme_floats_do_what_they_should),
      cmocka_unit_test(eight_bit_functions_use_a_table_only_where_it_pays),
      cmocka_unit_test(int16_functions_interpolate),
      cmocka_unit_test(linear_functions_are_rounded_twice),
      cmocka_unit_test(prelu_has_a_slope_for_each_channel),
      cmocka_unit_test(integers_are_negated_and_made_positive),
      cmocka_unit_test(types_and_scales_that_make_no_sense_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
