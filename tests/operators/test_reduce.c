/* MEAN, SUM and the other reductions against one sum after the other, for every set of axes. */
#include "operators/case.h"
#include <math.h>

static int32_t dims[4] = {2, 3, 4, 5};

/* Which output element input element `i` goes to, when the axes in `mask` are reduced. */
static uint32_t target(uint32_t i, uint32_t mask) {
  uint32_t at[4], result = 0;
  for (uint32_t d = 4; d-- > 0; i /= (uint32_t)dims[d]) at[d] = i % (uint32_t)dims[d];
  for (uint32_t d = 0; d < 4; d++)
    if (!(mask >> d & 1)) result = result * (uint32_t)dims[d] + at[d];
  return result;
}

static uint32_t count_of(uint32_t mask) {
  uint32_t count = 1;
  for (uint32_t d = 0; d < 4; d++)
    if (mask >> d & 1) count *= (uint32_t)dims[d];
  return count;
}

static void begin(case_t *c, const berth_kernel_t *kernel, berth_tensor_type_t type,
                  const void *data, uint32_t mask, bool keep, float from, int32_t from_zero,
                  float to, int32_t to_zero) {
  int32_t axes[4];
  uint32_t count = 0;
  for (int32_t d = 3; d >= 0; d--)
    if (mask >> d & 1) axes[count++] = d % 2 ? d - 4 : d;
  case_begin(c, kernel);
  case_option_byte(c, BERTH_REDUCER_KEEP_DIMS, keep);
  case_input(c, type, 4, dims, data, from, from_zero);
  case_ints(c, count, axes);
  case_output(c, type, to, to_zero);
}

static void check_shape(const case_t *c, uint32_t mask, bool keep) {
  int32_t expected[4];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < 4; d++)
    if (keep || !(mask >> d & 1)) expected[rank++] = mask >> d & 1 ? 1 : dims[d];
  case_expect_shape(c, rank, expected);
}

static double combine(const berth_kernel_t *kernel, double a, double b) {
  switch (kernel->code) {
  case BERTH_BUILTIN_REDUCE_MAX:
    return fmax(a, b);
  case BERTH_BUILTIN_REDUCE_MIN:
    return fmin(a, b);
  case BERTH_BUILTIN_REDUCE_PROD:
    return a * b;
  default:
    return a + b;
  }
}

static void reduce_floats(uint32_t row) {
  static const berth_kernel_t *const kernels[] = {
      &berth_kernel_mean, &berth_kernel_sum, &berth_kernel_reduce_max, &berth_kernel_reduce_min,
      &berth_kernel_reduce_prod};
  float data[120];
  case_random_floats(data, 120, 2, 31);
  for (uint32_t k = 0; k < 5; k++)
    for (uint32_t mask = 0; mask < 16; mask++)
      for (int keep = 0; keep < 2; keep++) {
        double expected[120];
        bool seen[120] = {false};
        for (uint32_t i = 0; i < 120; i++) {
          uint32_t at = target(i, mask);
          double x = (double)data[i];
          expected[at] = seen[at] ? combine(kernels[k], expected[at], x) : x;
          seen[at] = true;
        }
        if (k == 0)
          for (uint32_t i = 0; i < 120 / count_of(mask); i++) expected[i] /= count_of(mask);
        case_t c;
        begin(&c, kernels[k], BERTH_TYPE_FLOAT32, data, mask, keep, 0, 0, 0, 0);
        assert_int_equal(case_run(&c), BERTH_OK);
        check_shape(&c, mask, keep);
        case_expect_floats(case_result(&c, 0).data, expected, 120 / count_of(mask));
        assert_int_equal(c.contract.kind == BERTH_ACCUMULATING, mask >> row & 1);
        case_end(&c);
      }
}

static void floats_are_reduced_over_every_set_of_axes(void **state) {
  (void)state;
  reduce_floats(1);
  dims[0] = 6;
  dims[1] = 1; /* rows along the width */
  reduce_floats(2);
  dims[0] = 2;
  dims[1] = 3;
}

/* x times multiplier x 2^(shift - 31) with a rounding of halves upwards, then one away from 0. */
static int64_t apply(int64_t x, int64_t multiplier, int shift) {
  x *= INT64_C(1) << (shift > 0 ? shift : 0);
  int64_t product = x * multiplier + (INT64_C(1) << 30), unit = INT64_C(1) << 31;
  int64_t high = product / unit - (product % unit < 0 ? 1 : 0);
  return shift >= 0 ? high : llround(ldexp((double)high, shift));
}

static void quantized_means_and_sums_round_as_the_reference(void **state) {
  (void)state;
  int8_t data[120];
  case_random_bytes(data, sizeof data, 9);
  for (uint32_t mask = 1; mask < 16; mask++)
    for (int mean = 0; mean < 2; mean++) {
      int64_t sums[120] = {0}, count = count_of(mask);
      for (uint32_t i = 0; i < 120; i++) sums[target(i, mask)] += data[i] + 7;
      float to = mean ? 0.08f : 0.9f;
      int shift, halvings = 0;
      int64_t multiplier = llround(ldexp(frexp((double)0.1f / (double)to, &shift), 31));
      if (mean) { /* the division by the count is part of the factor */
        while (count >> (halvings + 1) > 0) halvings++;
        multiplier = (multiplier << halvings) / count;
        shift -= halvings;
      }
      case_t c;
      begin(&c, mean ? &berth_kernel_mean : &berth_kernel_sum, BERTH_TYPE_INT8, data, mask, false,
            0.1f, -7, to, 3);
      assert_int_equal(case_run(&c), BERTH_OK);
      const int8_t *result = (int8_t *)case_result(&c, 0).data;
      for (uint32_t i = 0; i < 120 / count_of(mask); i++) {
        int64_t expected = apply(sums[i], multiplier, shift) + 3;
        expected = expected < -128 ? -128 : expected > 127 ? 127 : expected;
        assert_int_equal(result[i], expected);
      }
      case_end(&c);
    }
}

static void int32_and_int16_are_reduced(void **state) {
  (void)state;
  int32_t wide[120];
  int16_t narrow[120];
  uint32_t seed = 3;
  for (uint32_t i = 0; i < 120; i++) {
    wide[i] = (int32_t)(case_random(&seed) % 2000001) - 1000000;
    narrow[i] = (int16_t)case_random(&seed);
  }
  for (uint32_t mask = 0; mask < 16; mask++) {
    int64_t sums[120] = {0}, most[120];
    for (uint32_t i = 0; i < 120; i++) most[i] = INT16_MIN;
    for (uint32_t i = 0; i < 120; i++) {
      uint32_t at = target(i, mask);
      sums[at] += wide[i];
      if (narrow[i] > most[at]) most[at] = narrow[i];
    }
    case_t c;
    begin(&c, &berth_kernel_sum, BERTH_TYPE_INT32, wide, mask, true, 0, 0, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < 120 / count_of(mask); i++)
      assert_memory_equal(case_result(&c, 0).data + 4 * i, &(int32_t){(int32_t)sums[i]}, 4);
    case_end(&c);
    begin(&c, &berth_kernel_reduce_max, BERTH_TYPE_INT16, narrow, mask, true, 1, 0, 1, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < 120 / count_of(mask); i++)
      assert_memory_equal(case_result(&c, 0).data + 2 * i, &(int16_t){(int16_t)most[i]}, 2);
    case_end(&c);
  }
}

static void bools_are_joined(void **state) {
  (void)state;
  case_t c;
  uint8_t data[6] = {1, 0, 1, 1, 0, 0};
  const berth_kernel_t *kernels[] = {&berth_kernel_reduce_any, &berth_kernel_reduce_all};
  for (uint32_t k = 0; k < 2; k++) {
    case_begin(&c, kernels[k]);
    case_input(&c, BERTH_TYPE_BOOL, 2, (int32_t[]){3, 2}, data, 0, 0);
    case_int(&c, 1);
    case_output(&c, BERTH_TYPE_BOOL, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    const uint8_t *result = case_result(&c, 0).data;
    for (uint32_t i = 0; i < 3; i++) {
      int any = data[2 * i] | data[2 * i + 1], all = data[2 * i] & data[2 * i + 1];
      assert_int_equal(result[i], k == 0 ? any : all);
    }
    case_end(&c);
  }
}

static void computed_axes_make_a_dynamic_output(void **state) {
  (void)state;
  case_t c;
  float data[6] = {1, 2, 3, 4, 5, 6};
  case_begin(&c, &berth_kernel_sum);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){1}, (int32_t[]){0}, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 1, (int32_t[]){3});
  assert_memory_equal(case_result(&c, 0).data, ((float[]){5, 7, 9}), 12);
  case_end(&c);
}

static void bad_axes_and_scales_are_refused(void **state) {
  (void)state;
  for (int32_t axis = -4; axis <= 3; axis += 7) {
    case_t c;
    case_begin(&c, &berth_kernel_mean);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 1, 1}, &(float){1}, 0, 0);
    case_int(&c, axis);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    case_refused(&c);
  }
  case_t c;
  case_begin(&c, &berth_kernel_mean);
  case_input(&c, BERTH_TYPE_INT8, 1, (int32_t[]){1}, &(int8_t){1}, 1, 0);
  case_int(&c, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_are_reduced_over_every_set_of_axes),
      cmocka_unit_test(quantized_means_and_sums_round_as_the_reference),
      cmocka_unit_test(int32_and_int16_are_reduced),
      cmocka_unit_test(bools_are_joined),
      cmocka_unit_test(computed_axes_make_a_dynamic_output),
      cmocka_unit_test(bad_axes_and_scales_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
