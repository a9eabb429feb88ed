/* BATCH_MATMUL, L2_NORMALIZATION, ADD_N, CUMSUM and TOPK_V2 against their definitions. */
#include "operators/case.h"
#include <math.h>

/* ---- BATCH_MATMUL --------------------------------------------------------------------------- */

#define ROWS    4
#define INNER   5
#define COLUMNS 70 /* more than a block */

/* Element (row, inner) of matrix `batch`, which may be stored turned. */
static uint32_t at(uint32_t batch, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns,
                   bool turned) {
  uint32_t start = batch * rows * columns;
  return start + (turned ? column * rows + row : row * columns + column);
}

static void check_matmul(bool turn_left, bool turn_right, bool int8) {
  case_t c;
  float left[2 * ROWS * INNER], right[3 * INNER * COLUMNS];
  int8_t small_left[2 * ROWS * INNER], small_right[3 * INNER * COLUMNS];
  static double expected[6 * ROWS * COLUMNS];
  case_random_floats(left, 2 * ROWS * INNER, 2, 5);
  case_random_floats(right, 3 * INNER * COLUMNS, 2, 6);
  case_random_bytes(small_left, sizeof small_left, 7);
  case_random_bytes(small_right, sizeof small_right, 8);
  int32_t left_dims[4] = {2, 1, ROWS, INNER}, right_dims[3] = {3, INNER, COLUMNS};
  if (turn_left) left_dims[2] = INNER, left_dims[3] = ROWS;
  if (turn_right) right_dims[1] = COLUMNS, right_dims[2] = INNER;
  berth_tensor_type_t type = int8 ? BERTH_TYPE_INT8 : BERTH_TYPE_FLOAT32;
  case_begin(&c, &berth_kernel_batch_matmul);
  case_option_byte(&c, BERTH_BATCH_MATMUL_ADJ_X, turn_left);
  case_option_byte(&c, BERTH_BATCH_MATMUL_ADJ_Y, turn_right);
  case_input(&c, type, 4, left_dims, int8 ? (void *)small_left : (void *)left, int8 ? 0.1f : 0,
             3 * int8);
  case_constant(&c, type, 3, right_dims, int8 ? (void *)small_right : (void *)right,
                int8 ? 0.02f : 0, -5 * int8);
  case_output(&c, type, int8 ? 0.4f : 0, 7 * int8);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 4, (int32_t[]){2, 3, ROWS, COLUMNS});
  uint32_t n = 0;
  for (uint32_t b = 0; b < 6; b++)
    for (uint32_t row = 0; row < ROWS; row++)
      for (uint32_t column = 0; column < COLUMNS; column++, n++) {
        double sum = 0;
        for (uint32_t k = 0; k < INNER; k++) {
          uint32_t l = at(b / 3, row, k, ROWS, INNER, turn_left);
          uint32_t r = at(b % 3, k, column, INNER, COLUMNS, turn_right);
          sum += int8 ? (double)0.1f * (small_left[l] - 3) * (double)0.02f * (small_right[r] + 5)
                      : (double)left[l] * (double)right[r];
        }
        expected[n] = sum;
        if (!int8) continue;
        double real = fmin(fmax(sum / (double)0.4f + 7, -128), 127);
        assert_true(fabs(((int8_t *)case_result(&c, 0).data)[n] - real) <= 0.76);
      }
  if (!int8) case_expect_floats(case_result(&c, 0).data, expected, n);
  case_end(&c);
}

static void matrices_are_multiplied_turned_and_broadcast(void **state) {
  (void)state;
  for (uint32_t mask = 0; mask < 8; mask++) check_matmul(mask & 1, mask >> 1 & 1, mask >> 2);
}

/* ---- L2_NORMALIZATION ----------------------------------------------------------------------- */

static void lines_are_normalized(void **state) {
  (void)state;
  float data[60];
  uint8_t bytes[60];
  double expected[60];
  case_random_floats(data, 60, 3, 5);
  case_random_bytes(bytes, 60, 6);
  for (uint32_t i = 0; i < 60; i++) {
    double sum = 0;
    for (uint32_t k = 0; k < 6; k++) sum += pow((double)data[i / 6 * 6 + k], 2);
    expected[i] = (double)data[i] / sqrt(sum);
  }
  case_t c;
  case_begin(&c, &berth_kernel_l2_normalization);
  case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){2, 5, 6}, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, BERTH_ROW_LOCAL);
  case_expect_floats(case_result(&c, 0).data, expected, 60);
  case_end(&c);
  for (int is_signed = 0; is_signed < 2; is_signed++) {
    int32_t zero = is_signed ? 4 : 130, middle = is_signed ? 0 : 128;
    case_begin(&c, &berth_kernel_l2_normalization);
    case_input(&c, is_signed ? BERTH_TYPE_INT8 : BERTH_TYPE_UINT8, 3, (int32_t[]){2, 5, 6}, bytes,
               0.3f, zero);
    case_output(&c, is_signed ? BERTH_TYPE_INT8 : BERTH_TYPE_UINT8, 1.0f / 128, middle);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < 60; i++) {
      double sum = 0, x = (is_signed ? (int8_t)bytes[i] : bytes[i]) - zero;
      for (uint32_t k = i / 6 * 6; k < i / 6 * 6 + 6; k++)
        sum += pow((is_signed ? (int8_t)bytes[k] : bytes[k]) - zero, 2);
      double real = fmin(x / sqrt(sum) * 128, 127) + middle;
      uint8_t byte = case_result(&c, 0).data[i];
      assert_true(fabs((is_signed ? (int8_t)byte : byte) - real) <= 0.76);
    }
    case_end(&c);
  }
}

static void a_line_of_zeros_stays_zero(void **state) {
  (void)state;
  case_t c;
  case_begin(&c, &berth_kernel_l2_normalization);
  case_input(&c, BERTH_TYPE_INT8, 1, (int32_t[]){3}, (int8_t[]){7, 7, 7}, 0.3f, 7);
  case_output(&c, BERTH_TYPE_INT8, 1.0f / 128, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((int8_t[]){0, 0, 0}), 3);
  case_end(&c);
}

/* ---- Sums ----------------------------------------------------------------------------------- */

static void tensors_are_added_up(void **state) {
  (void)state;
  float data[3][40];
  double expected[40] = {0};
  case_t c;
  case_begin(&c, &berth_kernel_add_n);
  for (uint32_t k = 0; k < 3; k++) {
    case_random_floats(data[k], 40, 3, 5 + k);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){2, 4, 5}, data[k], 0, 0);
    for (uint32_t i = 0; i < 40; i++) expected[i] += (double)data[k][i];
  }
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_floats(case_result(&c, 0).data, expected, 40);
  case_end(&c);
}

static void sums_run_along_an_axis_both_ways(void **state) {
  (void)state;
  int32_t data[24];
  for (int32_t i = 0; i < 24; i++) data[i] = i * i - 40;
  for (uint32_t mask = 0; mask < 4; mask++)
    for (int32_t axis = 0; axis < 3; axis++) {
      bool exclusive = mask & 1, reverse = mask >> 1;
      uint32_t inner = axis == 0   ? 12
                       : axis == 1 ? 4
                                   : 1,
               length = axis == 0   ? 2
                        : axis == 1 ? 3
                                    : 4;
      case_t c;
      case_begin(&c, &berth_kernel_cumsum);
      case_option_byte(&c, BERTH_CUMSUM_EXCLUSIVE, exclusive);
      case_option_byte(&c, BERTH_CUMSUM_REVERSE, reverse);
      case_input(&c, BERTH_TYPE_INT32, 3, (int32_t[]){2, 3, 4}, data, 0, 0);
      case_int(&c, axis);
      case_output(&c, BERTH_TYPE_INT32, 0, 0);
      assert_int_equal(case_run(&c), BERTH_OK);
      for (uint32_t i = 0; i < 24; i++) {
        uint32_t here = i / inner % length;
        int32_t expected = 0, result;
        for (uint32_t n = 0; n < length; n++)
          if (n == here ? !exclusive : (n < here) != reverse)
            expected += data[i + n * inner - here * inner];
        memcpy(&result, case_result(&c, 0).data + 4 * i, 4);
        assert_int_equal(result, expected);
      }
      case_end(&c);
    }
}

static void the_largest_come_first_and_equal_ones_in_order(void **state) {
  (void)state;
  static const float data[10] = {3, 9, 9, -1, 4, -2, -3, -2, -9, -5};
  for (int computed = 0; computed < 2; computed++) {
    case_t c;
    case_begin(&c, &berth_kernel_topk_v2);
    case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 5}, data, 0, 0);
    if (computed)
      case_input(&c, BERTH_TYPE_INT32, 0, NULL, &(int32_t){3}, 0, 0);
    else
      case_int(&c, 3);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    case_output(&c, BERTH_TYPE_INT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    case_expect_shape(&c, 2, (int32_t[]){2, 3});
    assert_memory_equal(case_result(&c, 0).data, ((float[]){9, 9, 4, -2, -2, -3}), 24);
    assert_memory_equal(case_result(&c, 1).data, ((int32_t[]){1, 2, 4, 0, 2, 1}), 24);
    case_end(&c);
  }
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  case_t c;
  float data[6] = {0};
  case_begin(&c, &berth_kernel_batch_matmul);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  case_refused(&c);
  for (int32_t k = -1; k <= 4; k += 5) {
    case_begin(&c, &berth_kernel_topk_v2);
    case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
    case_int(&c, k);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    case_output(&c, BERTH_TYPE_INT32, 0, 0);
    case_refused(&c);
  }
  case_begin(&c, &berth_kernel_add_n);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){3, 2}, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_cumsum);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){3, 2}, data, 0, 0);
  case_int(&c, 2);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_l2_normalization);
  case_input(&c, BERTH_TYPE_INT8, 1, (int32_t[]){1}, &(int8_t){0}, 1, 0);
  case_output(&c, BERTH_TYPE_INT8, 1, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_are_multiplied_turned_and_broadcast),
      cmocka_unit_test(lines_are_normalized),
      cmocka_unit_test(a_line_of_zeros_stays_zero),
      cmocka_unit_test(tensors_are_added_up),
      cmocka_unit_test(sums_run_along_an_axis_both_ways),
      cmocka_unit_test(the_largest_come_first_and_equal_ones_in_order),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
