/* AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D against the definition, for every padding, type and
 * shape. */
#include "operators/case.h"
#include <math.h>

typedef struct pool {
  int32_t dims[4];
  int32_t filter[2], stride[2]; /* height, width */
  int32_t same;
  int32_t activation;
} pool_t;

static const pool_t pools[] = {
    {{1, 6, 7, 3}, {2, 2}, {2, 2}, 0, 0},  {{1, 6, 7, 3}, {3, 2}, {2, 1}, 1, 0},
    {{1, 5, 5, 70}, {3, 3}, {1, 1}, 1, 0}, {{2, 5, 4, 2}, {2, 3}, {1, 2}, 1, 3},
    {{1, 4, 4, 5}, {4, 4}, {4, 4}, 0, 1},  {{1, 3, 3, 2}, {5, 5}, {1, 1}, 1, 0},
    {{1, 9, 2, 1}, {1, 1}, {3, 2}, 0, 2},  {{1, 2, 2, 1}, {3, 3}, {1, 1}, 0, 0},
    {{1, 4, 4, 0}, {4, 4}, {4, 4}, 0, 0},  {{1, 1, 9, 5}, {1, 3}, {1, 2}, 1, 0},
    {{1, 1, 9, 5}, {3, 2}, {2, 1}, 1, 1},  {{1, 1, 9, 5}, {1, 9}, {1, 1}, 0, 0},
    {{2, 1, 9, 5}, {1, 2}, {1, 2}, 0, 3},  {{1, 4, 7, 5}, {4, 2}, {1, 2}, 0, 0},
    {{2, 4, 7, 5}, {4, 2}, {1, 2}, 0, 0},  {{1, 4, 1, 5}, {3, 1}, {1, 1}, 0, 0},
};

static double element(const void *data, berth_tensor_type_t type, uint32_t i) {
  float real;
  int16_t wide;
  if (type == BERTH_TYPE_INT8) return ((const int8_t *)data)[i];
  if (type == BERTH_TYPE_UINT8) return ((const uint8_t *)data)[i];
  if (type == BERTH_TYPE_INT16) {
    memcpy(&wide, (const uint8_t *)data + 2 * i, 2);
    return wide;
  }
  memcpy(&real, (const uint8_t *)data + 4 * i, 4);
  return (double)real;
}

static void check(const pool_t *p, berth_tensor_type_t type, const berth_kernel_t *kernel) {
  uint8_t data[4 * 1750];
  bool real = type == BERTH_TYPE_FLOAT32, max = kernel == &berth_kernel_max_pool_2d;
  bool l2 = kernel == &berth_kernel_l2_pool_2d;
  case_t c;
  if (real)
    case_random_floats((float *)(void *)data, 1750, 9, 5);
  else
    case_random_bytes(data, sizeof data, 6);
  case_begin(&c, kernel);
  case_option_byte(&c, BERTH_POOL_2D_PADDING, p->same ? BERTH_PADDING_SAME : BERTH_PADDING_VALID);
  case_option_int(&c, BERTH_POOL_2D_FILTER_H, p->filter[0]);
  case_option_int(&c, BERTH_POOL_2D_FILTER_W, p->filter[1]);
  case_option_int(&c, BERTH_POOL_2D_STRIDE_H, p->stride[0]);
  case_option_int(&c, BERTH_POOL_2D_STRIDE_W, p->stride[1]);
  case_option_byte(&c, BERTH_POOL_2D_ACTIVATION, p->activation);
  case_input(&c, type, 4, p->dims, data, real ? 0 : 0.5f, real ? 0 : 3);
  case_output(&c, type, real ? 0 : 0.5f, real ? 0 : 3);
  assert_int_equal(case_run(&c), BERTH_OK);
  berth_value_t result = case_result(&c, 0);
  uint32_t row = p->dims[1] == 1 && result.dims[1] == 1 ? 2 : 1; /* the rows' dimension */
  assert_int_equal(c.contract.kind, p->dims[0] != 1                             ? BERTH_WHOLE
                                    : result.dims[row] == 1 && p->dims[row] > 1 ? BERTH_ACCUMULATING
                                                                                : BERTH_ROW_LOCAL);
  int32_t before[2];
  for (uint32_t d = 0; d < 2; d++) {
    int32_t length = p->dims[1 + d];
    int32_t out = p->same                 ? (length + p->stride[d] - 1) / p->stride[d]
                  : length < p->filter[d] ? 0
                                          : (length - p->filter[d]) / p->stride[d] + 1;
    int32_t padding = (out - 1) * p->stride[d] + p->filter[d] - length;
    assert_int_equal(result.dims[1 + d], out);
    before[d] = p->same && padding > 0 ? padding / 2 : 0;
  }
  double low = -INFINITY, high = INFINITY, unit = real ? 1 : 2, zero = real ? 0 : 3;
  if (p->activation > 0) low = zero - (p->activation == 2 ? unit : 0);
  if (p->activation == 2) high = zero + unit;
  if (p->activation == 3) high = zero + 6 * unit;
  uint32_t i = 0;
  double expected[1750];
  for (int32_t n = 0; n < result.dims[0]; n++)
    for (int32_t y = 0; y < result.dims[1]; y++)
      for (int32_t x = 0; x < result.dims[2]; x++)
        for (int32_t k = 0; k < result.dims[3]; k++, i++) {
          double sum = 0, most = -INFINITY, count = 0;
          for (int32_t dy = 0; dy < p->filter[0]; dy++)
            for (int32_t dx = 0; dx < p->filter[1]; dx++) {
              int32_t from_y = y * p->stride[0] + dy - before[0];
              int32_t from_x = x * p->stride[1] + dx - before[1];
              if (from_y < 0 || from_y >= p->dims[1] || from_x < 0 || from_x >= p->dims[2])
                continue;
              int32_t at = ((n * p->dims[1] + from_y) * p->dims[2] + from_x) * p->dims[3] + k;
              double value = element(data, type, (uint32_t)at);
              sum += l2 ? value * value : value;
              most = fmax(most, value);
              count++;
            }
          expected[i] = max ? most : real ? sum / count : round(sum / count);
          if (l2) expected[i] = sqrt(expected[i]);
          expected[i] = fmin(fmax(expected[i], low), high);
          if (!real) assert_int_equal(element(result.data, type, i), expected[i]);
        }
  if (real) case_expect_floats(result.data, expected, i);
  case_end(&c);
}

static void pools_give_what_the_definition_says(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8, BERTH_TYPE_UINT8,
                                              BERTH_TYPE_INT16};
  for (uint32_t p = 0; p < sizeof pools / sizeof *pools; p++) {
    for (uint32_t t = 0; t < 4; t++) {
      check(&pools[p], types[t], &berth_kernel_average_pool_2d);
      check(&pools[p], types[t], &berth_kernel_max_pool_2d);
    }
    check(&pools[p], BERTH_TYPE_FLOAT32, &berth_kernel_l2_pool_2d);
  }
}

static void refused(int32_t filter, int32_t stride, int32_t activation, berth_tensor_type_t type,
                    uint32_t rank) {
  case_t c;
  case_begin(&c, &berth_kernel_average_pool_2d);
  case_option_byte(&c, BERTH_POOL_2D_PADDING, BERTH_PADDING_VALID);
  case_option_int(&c, BERTH_POOL_2D_FILTER_H, filter);
  case_option_int(&c, BERTH_POOL_2D_FILTER_W, 1);
  case_option_int(&c, BERTH_POOL_2D_STRIDE_H, 1);
  case_option_int(&c, BERTH_POOL_2D_STRIDE_W, stride);
  case_option_byte(&c, BERTH_POOL_2D_ACTIVATION, activation);
  case_input(&c, type, rank, (int32_t[]){1, 1, 1, 1}, &(int64_t){0}, 0, 0);
  case_output(&c, type, 0, 0);
  case_refused(&c);
}

static void bad_options_are_refused(void **state) {
  (void)state;
  refused(0, 1, 0, BERTH_TYPE_INT8, 4);
  refused(-1, 1, 0, BERTH_TYPE_INT8, 4);
  refused(INT32_MAX, 1, 0, BERTH_TYPE_INT8, 4);
  refused(1, 0, 0, BERTH_TYPE_INT8, 4);
  refused(1, INT32_MIN, 0, BERTH_TYPE_INT8, 4);
  refused(1, 1, 4, BERTH_TYPE_FLOAT32, 4);
  refused(1, 1, -1, BERTH_TYPE_FLOAT32, 4);
  refused(1, 1, 1, BERTH_TYPE_INT8, 4);
  refused(1, 1, 0, BERTH_TYPE_INT64, 4);
  refused(1, 1, 0, BERTH_TYPE_FLOAT32, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pools_give_what_the_definition_says),
      cmocka_unit_test(bad_options_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
