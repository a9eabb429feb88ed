/* Comparisons, logic, SELECT, and ARG_MAX and ARG_MIN. */
#include "operators/case.h"
#include <math.h>

static bool compare(berth_builtin_t code, double a, double b) {
  switch (code) {
  case BERTH_BUILTIN_EQUAL:
    return a >= b && a <= b;
  case BERTH_BUILTIN_NOT_EQUAL:
    return a < b || a > b;
  case BERTH_BUILTIN_LESS:
    return a < b;
  case BERTH_BUILTIN_LESS_EQUAL:
    return a <= b;
  case BERTH_BUILTIN_GREATER:
    return a > b;
  default:
    return a >= b;
  }
}

static const berth_kernel_t *const comparisons[] = {
    &berth_kernel_equal,      &berth_kernel_not_equal, &berth_kernel_less,
    &berth_kernel_less_equal, &berth_kernel_greater,   &berth_kernel_greater_equal};

static void numbers_are_compared(void **state) {
  (void)state;
  int32_t integers[60], row[5];
  float floats[60], float_row[5];
  int64_t wide[60], wide_row[5];
  uint32_t seed = 4;
  for (uint32_t i = 0; i < 60; i++) {
    integers[i] = (int32_t)(case_random(&seed) % 5);
    floats[i] = (float)integers[i];
    wide[i] = integers[i] * INT64_C(10000000000);
  }
  for (int32_t i = 0; i < 5; i++) {
    row[i] = i;
    float_row[i] = (float)i;
    wide_row[i] = i * INT64_C(10000000000);
  }
  const void *lefts[] = {integers, floats, wide}, *rights[] = {row, float_row, wide_row};
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT32, BERTH_TYPE_FLOAT32,
                                              BERTH_TYPE_INT64};
  for (uint32_t k = 0; k < 6; k++)
    for (uint32_t t = 0; t < 3; t++) {
      case_t c;
      case_begin(&c, comparisons[k]);
      case_input(&c, types[t], 4, (int32_t[]){1, 3, 4, 5}, lefts[t], 0, 0);
      case_constant(&c, types[t], 1, (int32_t[]){5}, rights[t], 0, 0);
      case_output(&c, BERTH_TYPE_BOOL, 0, 0);
      assert_int_equal(case_run(&c), BERTH_OK);
      for (uint32_t i = 0; i < 60; i++)
        assert_int_equal(case_result(&c, 0).data[i],
                         compare(comparisons[k]->code, integers[i], row[i % 5]));
      case_end(&c);
    }
}

static void quantized_numbers_are_compared_as_reals(void **state) {
  (void)state;
  int8_t left[60], right[60];
  case_random_bytes(left, 60, 5);
  case_random_bytes(right, 60, 6);
  for (uint32_t k = 0; k < 6; k++) {
    case_t c;
    case_begin(&c, comparisons[k]);
    case_input(&c, BERTH_TYPE_INT8, 4, (int32_t[]){1, 3, 4, 5}, left, 0.5f, 3);
    case_input(&c, BERTH_TYPE_INT8, 4, (int32_t[]){1, 3, 4, 5}, right, 0.25f, -4);
    case_output(&c, BERTH_TYPE_BOOL, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < 60; i++) {
      double a = 0.5 * (left[i] - 3), b = 0.25 * (right[i] + 4);
      assert_int_equal(case_result(&c, 0).data[i], compare(comparisons[k]->code, a, b));
    }
    case_end(&c);
  }
}

/* case_run lays the bools over the numbers; here with every number of elements. */
static void comparisons_go_in_step_with_their_inputs(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT16, BERTH_TYPE_INT32, BERTH_TYPE_INT64};
  uint8_t left[8 * 100], right[8 * 100];
  case_random_bytes(left, sizeof left, 7);
  memcpy(right, left, sizeof right);
  for (uint32_t i = 0; i < sizeof right; i += 24) right[i] ^= 1;
  for (int32_t count = 1; count <= 100; count++)
    for (uint32_t t = 0; t < 3; t++)
      for (uint32_t k = 0; k < 6; k++) {
        float scale = t == 0 ? 0.5f : 0;
        case_t c;
        case_begin(&c, comparisons[k]);
        case_input(&c, types[t], 1, &count, left, scale, 0);
        case_input(&c, types[t], 1, &count, right, scale, 0);
        case_output(&c, BERTH_TYPE_BOOL, 0, 0);
        assert_int_equal(case_run(&c), BERTH_OK);
        assert_int_equal(c.contract.in_step, 3);
        case_end(&c);
      }
}

static void bools_are_combined(void **state) {
  (void)state;
  static const uint8_t left[4] = {0, 0, 1, 1}, right[4] = {0, 1, 0, 1};
  static const struct {
    const berth_kernel_t *kernel;
    uint8_t expected[4];
  } rows[] = {{&berth_kernel_logical_and, {0, 0, 0, 1}},
              {&berth_kernel_logical_or, {0, 1, 1, 1}},
              {&berth_kernel_logical_not, {1, 1, 0, 0}},
              {&berth_kernel_equal, {1, 0, 0, 1}},
              {&berth_kernel_not_equal, {0, 1, 1, 0}}};
  for (uint32_t k = 0; k < 5; k++) {
    case_t c;
    case_begin(&c, rows[k].kernel);
    case_input(&c, BERTH_TYPE_BOOL, 1, (int32_t[]){4}, left, 0, 0);
    if (k != 2) case_input(&c, BERTH_TYPE_BOOL, 1, (int32_t[]){4}, right, 0, 0);
    case_output(&c, BERTH_TYPE_BOOL, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    assert_memory_equal(case_result(&c, 0).data, rows[k].expected, 4);
    case_end(&c);
  }
}

static void select_picks_by_element_and_broadcasts(void **state) {
  (void)state;
  uint8_t condition[12];
  int16_t yes[12], no[3] = {-1, -2, -3};
  for (int16_t i = 0; i < 12; i++) {
    condition[i] = i * 7 % 3 == 0;
    yes[i] = i;
  }
  case_t c;
  case_begin(&c, &berth_kernel_select_v2);
  case_input(&c, BERTH_TYPE_BOOL, 4, (int32_t[]){1, 4, 1, 3}, condition, 0, 0);
  case_input(&c, BERTH_TYPE_INT16, 4, (int32_t[]){1, 4, 1, 3}, yes, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 1, (int32_t[]){3}, no, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  for (uint32_t i = 0; i < 12; i++) {
    int16_t expected = condition[i] ? yes[i] : no[i % 3];
    assert_memory_equal(case_result(&c, 0).data + 2 * i, &expected, 2);
  }
  case_end(&c);
}

static void select_picks_slices_by_a_list(void **state) {
  (void)state;
  static const float yes[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, no[12] = {-1, -2};
  case_t c;
  case_begin(&c, &berth_kernel_select);
  case_input(&c, BERTH_TYPE_BOOL, 1, (int32_t[]){3}, (uint8_t[]){1, 0, 1}, 0, 0);
  case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){3, 2, 2}, yes, 0, 0);
  case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){3, 2, 2}, no, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((float[]){0, 1, 2, 3, 0, 0, 0, 0, 8, 9, 10, 11}),
                      48);
  case_end(&c);
}

/* The first most extreme element along `axis` of 120; rows lie along dimension `row`. */
static void check_arg(const berth_kernel_t *kernel, const int32_t *dims, int32_t row, int32_t axis,
                      berth_tensor_type_t type, berth_tensor_type_t to) {
  int8_t small[120];
  float floats[120];
  case_t c;
  case_random_bytes(small, 120, 8);
  for (uint32_t i = 0; i < 120; i++) {
    small[i] %= 4; /* many are equal */
    floats[i] = (float)small[i];
  }
  case_begin(&c, kernel);
  case_input(&c, type, 4, dims, type == BERTH_TYPE_INT8 ? (void *)small : (void *)floats, 0, 0);
  case_int(&c, axis - 4);
  case_output(&c, to, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind == BERTH_ROW_LOCAL, axis > row);
  uint32_t inner = 1, length = (uint32_t)dims[axis];
  for (int32_t d = axis + 1; d < 4; d++) inner *= (uint32_t)dims[d];
  for (uint32_t i = 0; i < 120 / length; i++) {
    uint32_t start = i / inner * inner * length + i % inner, best = 0;
    for (uint32_t n = 1; n < length; n++) {
      int now = small[start + n * inner], then = small[start + best * inner];
      if (kernel == &berth_kernel_arg_max ? now > then : now < then) best = n;
    }
    int64_t number = 0;
    memcpy(&number, case_result(&c, 0).data + i * (to == BERTH_TYPE_INT64 ? 8 : 4),
           to == BERTH_TYPE_INT64 ? 8 : 4);
    assert_int_equal(number, best);
  }
  case_end(&c);
}

static void arg_max_and_arg_min_find_the_first_extreme(void **state) {
  (void)state;
  static const int32_t high[4] = {2, 3, 4, 5}, flat[4] = {6, 1, 4, 5};
  for (int32_t axis = 0; axis < 4; axis++) {
    check_arg(&berth_kernel_arg_max, high, 1, axis, BERTH_TYPE_INT8, BERTH_TYPE_INT32);
    check_arg(&berth_kernel_arg_max, high, 1, axis, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT64);
    check_arg(&berth_kernel_arg_min, high, 1, axis, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT32);
  }
  /* Without the channels, {6, 1, 4} has rows of 4. */
  for (int32_t axis = 0; axis < 4; axis++) {
    check_arg(&berth_kernel_arg_min, flat, 3, axis, BERTH_TYPE_INT8, BERTH_TYPE_INT32);
  }
}

static void what_has_no_order_is_refused(void **state) {
  (void)state;
  case_t c;
  case_begin(&c, &berth_kernel_less);
  case_input(&c, BERTH_TYPE_BOOL, 0, NULL, &(uint8_t){1}, 0, 0);
  case_input(&c, BERTH_TYPE_BOOL, 0, NULL, &(uint8_t){1}, 0, 0);
  case_output(&c, BERTH_TYPE_BOOL, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_less);
  case_input(&c, BERTH_TYPE_INT8, 0, NULL, &(uint8_t){1}, 2.0f, 0);
  case_input(&c, BERTH_TYPE_INT8, 0, NULL, &(uint8_t){1}, 0.5f, 0);
  case_output(&c, BERTH_TYPE_BOOL, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_arg_max);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){1, 0}, NULL, 0, 0);
  case_int(&c, 1);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_select);
  case_input(&c, BERTH_TYPE_BOOL, 1, (int32_t[]){2}, (uint8_t[]){1, 0}, 0, 0);
  case_input(&c, BERTH_TYPE_INT8, 1, (int32_t[]){3}, (int8_t[]){1, 2, 3}, 0, 0);
  case_input(&c, BERTH_TYPE_INT8, 1, (int32_t[]){3}, (int8_t[]){1, 2, 3}, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_compared),
      cmocka_unit_test(quantized_numbers_are_compared_as_reals),
      cmocka_unit_test(comparisons_go_in_step_with_their_inputs),
      cmocka_unit_test(bools_are_combined),
      cmocka_unit_test(select_picks_by_element_and_broadcasts),
      cmocka_unit_test(select_picks_slices_by_a_list),
      cmocka_unit_test(arg_max_and_arg_min_find_the_first_extreme),
      cmocka_unit_test(what_has_no_order_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
