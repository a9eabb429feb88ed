/* TILE, BROADCAST_TO, BROADCAST_ARGS, FILL, ZEROS_LIKE, SHAPE, RANK and RANGE. */
#include "operators/case.h"

static void tile_repeats_along_every_axis(void **state) {
  (void)state;
  case_t c;
  int16_t data[12];
  for (int16_t i = 0; i < 12; i++) data[i] = i;
  case_begin(&c, &berth_kernel_tile);
  case_input(&c, BERTH_TYPE_INT16, 3, (int32_t[]){2, 3, 2}, data, 0, 0);
  case_ints(&c, 3, (int32_t[]){2, 1, 3});
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 3, (int32_t[]){4, 3, 6});
  int16_t result[72];
  memcpy(result, case_result(&c, 0).data, sizeof result);
  for (uint32_t i = 0; i < 72; i++)
    assert_int_equal(result[i], i / 18 % 2 * 6 + i / 6 % 3 * 2 + i % 2);
  case_end(&c);
}

static void broadcast_to_repeats_dimensions_of_one(void **state) {
  (void)state;
  case_t c;
  float data[3] = {1, 2, 3};
  for (int computed = 0; computed < 2; computed++) {
    int32_t to[4] = {2, 3, 1, 2}, rank = 4;
    case_begin(&c, &berth_kernel_broadcast_to);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){3, 1, 1}, data, 0, 0);
    if (computed)
      case_input(&c, BERTH_TYPE_INT32, 1, &rank, to, 0, 0);
    else
      case_ints(&c, 4, to);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    case_expect_shape(&c, 4, to);
    assert_memory_equal(case_result(&c, 0).data, ((float[]){1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}),
                        48);
    case_end(&c);
  }
}

static void check_args(uint32_t left, const int64_t *a, uint32_t right, const int64_t *b,
                       uint32_t count, const int64_t *expected) {
  case_t c;
  case_begin(&c, &berth_kernel_broadcast_args);
  case_input(&c, BERTH_TYPE_INT64, 1, (int32_t[]){(int32_t)left}, a, 0, 0);
  case_input(&c, BERTH_TYPE_INT64, 1, (int32_t[]){(int32_t)right}, b, 0, 0);
  case_output(&c, BERTH_TYPE_INT64, 0, 0);
  if (expected == NULL) {
    case_refused(&c);
    return;
  }
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 1, (int32_t[]){(int32_t)count});
  if (count > 0) assert_memory_equal(case_result(&c, 0).data, expected, 8 * count);
  case_end(&c);
}

static void broadcast_args_gives_the_common_shape(void **state) {
  (void)state;
  check_args(2, (int64_t[]){3, 1}, 3, (int64_t[]){2, 3, 4}, 3, (int64_t[]){2, 3, 4});
  check_args(3, (int64_t[]){5, 1, 7}, 1, (int64_t[]){1}, 3, (int64_t[]){5, 1, 7});
  check_args(1, (int64_t[]){0}, 2, (int64_t[]){2, 1}, 2, (int64_t[]){2, 0});
  check_args(2, (int64_t[]){3, 2}, 2, (int64_t[]){3, 4}, 2, NULL);
}

static void fill_repeats_a_value(void **state) {
  (void)state;
  case_t c;
  int64_t value = -5000000000;
  case_begin(&c, &berth_kernel_fill);
  case_ints(&c, 2, (int32_t[]){2, 2});
  case_input(&c, BERTH_TYPE_INT64, 0, NULL, &value, 0, 0);
  case_output(&c, BERTH_TYPE_INT64, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){2, 2});
  for (uint32_t i = 0; i < 4; i++) assert_memory_equal(case_result(&c, 0).data + 8 * i, &value, 8);
  case_end(&c);
}

static void zeros_like_has_the_shape_of_its_input(void **state) {
  (void)state;
  case_t c;
  case_begin(&c, &berth_kernel_zeros_like);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){1, 3}, (float[]){1, 2, 3}, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){1, 3});
  assert_memory_equal(case_result(&c, 0).data, ((float[3]){0}), 12);
  case_end(&c);
}

static void shape_and_rank_say_what_the_input_is(void **state) {
  (void)state;
  case_t c;
  case_begin(&c, &berth_kernel_shape);
  case_input(&c, BERTH_TYPE_INT8, 3, (int32_t[]){1, 3, 2}, (int8_t[6]){0}, 0, 0);
  case_output(&c, BERTH_TYPE_INT64, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 1, (int32_t[]){3});
  assert_memory_equal(case_result(&c, 0).data, ((int64_t[]){1, 3, 2}), 24);
  case_end(&c);
  case_begin(&c, &berth_kernel_rank);
  case_input(&c, BERTH_TYPE_INT8, 3, (int32_t[]){1, 3, 2}, (int8_t[6]){0}, 0, 0);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 0, NULL);
  assert_memory_equal(case_result(&c, 0).data, ((int32_t[]){3}), 4);
  case_end(&c);
}

static void check_range(int32_t start, int32_t limit, int32_t delta, bool computed) {
  case_t c;
  case_begin(&c, &berth_kernel_range);
  case_int(&c, start);
  if (computed)
    case_input(&c, BERTH_TYPE_INT32, 0, NULL, &limit, 0, 0);
  else
    case_int(&c, limit);
  case_int(&c, delta);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  uint32_t count = 0;
  for (int32_t i = start; delta > 0 ? i < limit : i > limit; i += delta, count++) {
    int32_t number;
    memcpy(&number, case_result(&c, 0).data + 4 * count, 4);
    assert_int_equal(number, i);
  }
  assert_int_equal(case_result(&c, 0).elements, count);
  case_end(&c);
}

static void range_counts_up_and_down(void **state) {
  (void)state;
  for (int computed = 0; computed < 2; computed++) {
    check_range(0, 7, 3, computed);
    check_range(5, -5, -2, computed);
    check_range(5, 5, 1, computed);
    check_range(5, 9, -1, computed);
  }
  case_t c;
  case_begin(&c, &berth_kernel_range);
  case_constant(&c, BERTH_TYPE_FLOAT32, 0, NULL, &(float){1}, 0, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 0, NULL, &(float){2.1f}, 0, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 0, NULL, &(float){0.5f}, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((float[]){1, 1.5f, 2}), 12);
  case_end(&c);
}

static void bad_numbers_are_refused(void **state) {
  (void)state;
  case_t c;
  static const int32_t ranges[][3] = {{0, 1, 0}, {INT32_MIN, INT32_MAX, 1}};
  for (uint32_t i = 0; i < 2; i++) {
    case_begin(&c, &berth_kernel_range);
    for (uint32_t k = 0; k < 3; k++) case_int(&c, ranges[i][k]);
    case_output(&c, BERTH_TYPE_INT32, 0, 0);
    case_refused(&c);
  }
  static const int32_t times[][2] = {{-1, 1}, {INT32_MAX, 1}, {INT32_MIN, 1}};
  for (uint32_t i = 0; i < 3; i++) {
    case_begin(&c, &berth_kernel_tile);
    case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 2}, (int8_t[4]){0}, 0, 0);
    case_ints(&c, 2, times[i]);
    case_output(&c, BERTH_TYPE_INT8, 0, 0);
    case_refused(&c);
  }
  case_begin(&c, &berth_kernel_broadcast_to);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 2}, (int8_t[4]){0}, 0, 0);
  case_ints(&c, 2, (int32_t[]){2, 3});
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_fill);
  case_ints(&c, 9, (int32_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1});
  case_input(&c, BERTH_TYPE_INT8, 0, NULL, (int8_t[]){1}, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tile_repeats_along_every_axis),
      cmocka_unit_test(broadcast_to_repeats_dimensions_of_one),
      cmocka_unit_test(broadcast_args_gives_the_common_shape),
      cmocka_unit_test(fill_repeats_a_value),
      cmocka_unit_test(zeros_like_has_the_shape_of_its_input),
      cmocka_unit_test(shape_and_rank_say_what_the_input_is),
      cmocka_unit_test(range_counts_up_and_down),
      cmocka_unit_test(bad_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
