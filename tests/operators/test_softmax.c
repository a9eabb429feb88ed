/* SOFTMAX and LOG_SOFTMAX against the definition in double precision, for every type. */
#include "operators/case.h"
#include <math.h>

static void softmax(const double *x, double *y, uint32_t depth, bool log_of) {
  double max = x[0], sum = 0;
  for (uint32_t i = 0; i < depth; i++) max = fmax(max, x[i]);
  for (uint32_t i = 0; i < depth; i++) sum += exp(x[i] - max);
  for (uint32_t i = 0; i < depth; i++)
    y[i] = log_of ? x[i] - max - log(sum) : exp(x[i] - max) / sum;
}

static void floats_agree_with_double_precision(void **state) {
  (void)state;
  for (int log_of = 0; log_of < 2; log_of++) {
    case_t c;
    float data[60];
    double x[60], y[60];
    case_random_floats(data, 60, 6, 2);
    for (uint32_t i = 0; i < 60; i++) x[i] = (double)data[i] * (log_of ? 1 : 1.5);
    for (uint32_t i = 0; i < 60; i += 5) softmax(x + i, y + i, 5, log_of);
    case_begin(&c, log_of ? &berth_kernel_log_softmax : &berth_kernel_softmax);
    case_option_float(&c, BERTH_SOFTMAX_BETA, 1.5f);
    case_input(&c, BERTH_TYPE_FLOAT32, 4, (int32_t[]){1, 3, 4, 5}, data, 0, 0);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    assert_int_equal(c.contract.kind, BERTH_ROW_LOCAL);
    case_expect_floats(case_result(&c, 0).data, y, 60);
    case_end(&c);
  }
}

static double number(const void *data, berth_tensor_type_t type, uint32_t i) {
  int16_t wide;
  if (type == BERTH_TYPE_INT8) return ((const int8_t *)data)[i];
  if (type == BERTH_TYPE_UINT8) return ((const uint8_t *)data)[i];
  memcpy(&wide, (const uint8_t *)data + 2 * i, 2);
  return wide;
}

static void check(const berth_kernel_t *kernel, berth_tensor_type_t from, berth_tensor_type_t to,
                  float in, float out, int32_t out_zero, double tolerance) {
  uint8_t data[2 * 120];
  double x[120], y[120];
  case_t c;
  case_random_bytes(data, sizeof data, 21);
  for (uint32_t i = 0; i < 120; i++) x[i] = number(data, from, i) * (double)in;
  for (uint32_t i = 0; i < 120; i += 12)
    softmax(x + i, y + i, 12, kernel->code == BERTH_BUILTIN_LOG_SOFTMAX);
  case_begin(&c, kernel);
  case_option_float(&c, BERTH_SOFTMAX_BETA, 1);
  case_input(&c, from, 3, (int32_t[]){2, 5, 12}, data, in, 3 * (from != BERTH_TYPE_INT16));
  case_output(&c, to, out, out_zero);
  assert_int_equal(case_run(&c), BERTH_OK);
  for (uint32_t i = 0; i < 120; i++) {
    double expected = y[i] / (double)out + out_zero;
    double high = to == BERTH_TYPE_INT8 ? 127 : to == BERTH_TYPE_UINT8 ? 255 : 32767;
    if (to == BERTH_TYPE_INT8) expected = fmax(expected, -128);
    expected = fmin(expected, high);
    if (!(fabs(number(case_result(&c, 0).data, to, i) - expected) <= tolerance))
      fail_msg("element %u is %g, not %g", i, number(case_result(&c, 0).data, to, i), expected);
  }
  case_end(&c);
}

static void quantized_results_are_within_their_resolution(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    float in = i == 0 ? 0.01f : i == 1 ? 0.1f : 0.7f;
    check(&berth_kernel_softmax, BERTH_TYPE_INT8, BERTH_TYPE_INT8, in, 1.0f / 256, -128, 0.6);
    check(&berth_kernel_softmax, BERTH_TYPE_INT8, BERTH_TYPE_INT16, in, 1.0f / 65536, -32768, 20);
    check(&berth_kernel_softmax, BERTH_TYPE_UINT8, BERTH_TYPE_UINT8, in, 1.0f / 256, 0, 0.51);
    /* Everything below exp(-10) counts as that. */
    check(&berth_kernel_softmax, BERTH_TYPE_INT16, BERTH_TYPE_INT16, in / 100, 1.0f / 32768, 0, 30);
    check(&berth_kernel_log_softmax, BERTH_TYPE_INT8, BERTH_TYPE_INT8, in, 1.0f / 16, 127, 0.51);
  }
}

static void equal_inputs_share_the_probability(void **state) {
  (void)state;
  case_t c;
  int8_t data[4] = {9, 9, 9, 9};
  case_begin(&c, &berth_kernel_softmax);
  case_option_float(&c, BERTH_SOFTMAX_BETA, 1);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){1, 4}, data, 0.1f, 0);
  case_output(&c, BERTH_TYPE_INT8, 1.0f / 256, -128);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((int8_t[]){-64, -64, -64, -64}), 4);
  case_end(&c);
}

static void refused(berth_tensor_type_t from, berth_tensor_type_t to, float in, float out,
                    int32_t zero, float beta, uint32_t rank) {
  case_t c;
  case_begin(&c, &berth_kernel_softmax);
  case_option_float(&c, BERTH_SOFTMAX_BETA, beta);
  case_input(&c, from, rank, (int32_t[]){1}, &(int64_t){0}, in, 0);
  case_output(&c, to, out, zero);
  case_refused(&c);
}

static void what_has_no_softmax_is_refused(void **state) {
  (void)state;
  refused(BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32, 0, 0, 0, 1, 0);
  refused(BERTH_TYPE_INT32, BERTH_TYPE_INT32, 1, 1, 0, 1, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_UINT8, 1, 1.0f / 256, 0, 1, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1, 0.1f, -128, 1, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1, 1.0f / 256, 0, 1, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1, 1.0f / 256, -128, 0, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1, 1.0f / 256, -128, NAN, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1e-20f, 1.0f / 256, -128, 1, 1);
  refused(BERTH_TYPE_INT8, BERTH_TYPE_INT8, 0, 1.0f / 256, -128, 1, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_agree_with_double_precision),
      cmocka_unit_test(quantized_results_are_within_their_resolution),
      cmocka_unit_test(equal_inputs_share_the_probability),
      cmocka_unit_test(what_has_no_softmax_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
