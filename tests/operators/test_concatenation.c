/* CONCATENATION, PACK, SPLIT, SPLIT_V and UNPACK: joining and cutting along every axis. */
#include "operators/case.h"
#include <math.h>

/* Element i of part p is told apart from every other. */
static uint16_t mark(uint32_t part, uint32_t i) {
  return (uint16_t)(part * 1000 + i);
}

/* Joins three parts of lengths 2, 1, 3 along `axis` of {a, b, 3, 2} and compares one by one; then
 * the opposite. */
static void check_axis(uint32_t axis, int32_t option, int32_t a, int32_t b) {
  int32_t dims[4] = {a, b, 3, 2}, lengths[3] = {2, 1, 3};
  uint16_t parts[3][512], joined[512];
  uint32_t counts[3], outer = 1, inner = 1;
  for (uint32_t d = 0; d < axis; d++) outer *= (uint32_t)dims[d];
  for (uint32_t d = axis + 1; d < 4; d++) inner *= (uint32_t)dims[d];
  uint32_t total = outer * inner * 6;
  for (uint32_t p = 0; p < 3; p++) {
    counts[p] = outer * inner * (uint32_t)lengths[p];
    for (uint32_t i = 0; i < counts[p]; i++) parts[p][i] = mark(p, i);
  }
  for (uint32_t i = 0; i < total; i++) { /* position along the axis, and what is beside it */
    uint32_t at = i / inner % 6, part = at < 2 ? 0 : at < 3 ? 1 : 2;
    uint32_t start = part == 0 ? 0 : part == 1 ? 2 : 3;
    joined[i] =
        mark(part, (i / inner / 6 * (uint32_t)lengths[part] + at - start) * inner + i % inner);
  }

  case_t c;
  case_begin(&c, &berth_kernel_concatenation);
  case_option_int(&c, BERTH_CONCATENATION_AXIS, option);
  for (uint32_t p = 0; p < 3; p++) {
    dims[axis] = lengths[p];
    case_input(&c, BERTH_TYPE_INT16, 4, dims, parts[p], 0, 0);
  }
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  dims[axis] = 6;
  case_expect_shape(&c, 4, dims);
  assert_int_equal(c.contract.view == BERTH_VIEW_CONCAT, outer == 1);
  assert_int_equal(c.contract.kind == BERTH_ROW_LOCAL, axis > (b > 1 ? 1 : 2));
  assert_memory_equal(case_result(&c, 0).data, joined, total * 2);
  case_end(&c);

  case_begin(&c, &berth_kernel_split_v);
  case_input(&c, BERTH_TYPE_INT16, 4, dims, joined, 0, 0);
  case_ints(&c, 3, (int32_t[]){2, -1, 3});
  case_int(&c, option);
  for (uint32_t p = 0; p < 3; p++) case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.view == BERTH_VIEW_SPLIT, outer == 1);
  assert_int_equal(c.contract.kind == BERTH_ROW_LOCAL, axis > (b > 1 ? 1 : 2));
  for (uint32_t p = 0; p < 3; p++) {
    assert_int_equal(case_result(&c, p).dims[axis], lengths[p]);
    assert_memory_equal(case_result(&c, p).data, parts[p], counts[p] * 2);
  }
  case_end(&c);
}

static void joining_and_cutting_along_every_axis_are_opposites(void **state) {
  (void)state;
  check_axis(0, 0, 1, 4);
  check_axis(1, -3, 1, 4);
  check_axis(1, 1, 2, 4);
  check_axis(2, 2, 2, 4);
  check_axis(2, 2, 1, 1);
  check_axis(3, -1, 1, 4);
  check_axis(3, 3, 2, 1);
}

static void uint8_of_another_scale_is_requantized(void **state) {
  (void)state;
  case_t c;
  uint8_t a[4] = {0, 100, 200, 255}, b[4] = {0, 10, 128, 255};
  case_begin(&c, &berth_kernel_concatenation);
  case_option_int(&c, BERTH_CONCATENATION_AXIS, 3);
  case_input(&c, BERTH_TYPE_UINT8, 4, (int32_t[]){1, 2, 1, 2}, a, 0.1f, 10);
  case_input(&c, BERTH_TYPE_UINT8, 4, (int32_t[]){1, 2, 1, 2}, b, 0.25f, 128);
  case_output(&c, BERTH_TYPE_UINT8, 0.1f, 10);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.view, BERTH_VIEW_NONE);
  const uint8_t *result = case_result(&c, 0).data;
  for (uint32_t i = 0; i < 4; i++) {
    double real = round(((double)b[i] - 128) * 0.25 / 0.1) + 10;
    assert_int_equal(result[i / 2 * 4 + 2 + i % 2], real < 0 ? 0 : real > 255 ? 255 : real);
    assert_int_equal(result[i / 2 * 4 + i % 2], a[i]);
  }
  case_end(&c);
}

static void pack_makes_an_axis_and_unpack_takes_it_away(void **state) {
  (void)state;
  float a[12], b[12];
  case_random_floats(a, 12, 1, 3);
  case_random_floats(b, 12, 1, 4);
  for (int32_t axis = 0; axis <= 3; axis++) {
    case_t c;
    int32_t dims[3] = {2, 3, 2}, packed[4];
    uint32_t inner = axis == 0 ? 12 : axis == 1 ? 6 : axis == 2 ? 2 : 1;
    for (int32_t d = 0, from = 0; d < 4; d++) packed[d] = d == axis ? 2 : dims[from++];
    case_begin(&c, &berth_kernel_pack);
    case_option_int(&c, BERTH_PACK_COUNT, 2);
    case_option_int(&c, BERTH_PACK_AXIS, axis);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, dims, a, 0, 0);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, dims, b, 0, 0);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    case_expect_shape(&c, 4, packed);
    float all[24];
    memcpy(all, case_result(&c, 0).data, sizeof all);
    for (uint32_t i = 0; i < 24; i++) {
      uint32_t at = i / inner / 2 * inner + i % inner;
      assert_memory_equal(&all[i], i / inner % 2 == 0 ? &a[at] : &b[at], 4);
    }
    case_end(&c);

    case_begin(&c, &berth_kernel_unpack);
    case_option_int(&c, BERTH_UNPACK_COUNT, 2);
    case_option_int(&c, BERTH_UNPACK_AXIS, axis - 4);
    case_input(&c, BERTH_TYPE_FLOAT32, 4, packed, all, 0, 0);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    case_expect_shape(&c, 3, dims);
    assert_memory_equal(case_result(&c, 0).data, a, sizeof a);
    assert_memory_equal(case_result(&c, 1).data, b, sizeof b);
    case_end(&c);
  }
}

static void split_cuts_into_equal_parts(void **state) {
  (void)state;
  case_t c;
  uint8_t data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  case_begin(&c, &berth_kernel_split);
  case_option_int(&c, BERTH_SPLIT_COUNT, 2);
  case_int(&c, -1);
  case_input(&c, BERTH_TYPE_UINT8, 3, (int32_t[]){1, 3, 4}, data, 0.1f, 3);
  case_output(&c, BERTH_TYPE_UINT8, 0.1f, 3);
  case_output(&c, BERTH_TYPE_UINT8, 0.1f, 3);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 3, (int32_t[]){1, 3, 2});
  assert_memory_equal(case_result(&c, 0).data, ((uint8_t[]){0, 1, 4, 5, 8, 9}), 6);
  assert_memory_equal(case_result(&c, 1).data, ((uint8_t[]){2, 3, 6, 7, 10, 11}), 6);
  case_end(&c);
}

static void split_by_computed_sizes_is_dynamic(void **state) {
  (void)state;
  case_t c;
  uint8_t data[6] = {0, 1, 2, 3, 4, 5};
  case_begin(&c, &berth_kernel_split_v);
  case_input(&c, BERTH_TYPE_UINT8, 3, (int32_t[]){1, 2, 3}, data, 0.1f, 3);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){2}, (int32_t[]){1, 2}, 0, 0);
  case_int(&c, 2);
  case_output(&c, BERTH_TYPE_UINT8, 0.1f, 3);
  case_output(&c, BERTH_TYPE_UINT8, 0.1f, 3);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 1).data, ((uint8_t[]){1, 2, 4, 5}), 4);
  case_end(&c);
}

static void split_refused(const int32_t *sizes, int32_t axis) {
  case_t c;
  uint8_t data[6] = {0};
  case_begin(&c, &berth_kernel_split_v);
  case_input(&c, BERTH_TYPE_UINT8, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_ints(&c, 2, sizes);
  case_int(&c, axis);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  case_refused(&c);
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  split_refused((int32_t[]){1, 1}, 1);
  split_refused((int32_t[]){-1, -1}, 1);
  split_refused((int32_t[]){4, -1}, 1);
  split_refused((int32_t[]){INT32_MAX, INT32_MAX}, 1);
  split_refused((int32_t[]){1, 2}, 2);
  split_refused((int32_t[]){-2, 5}, 1);

  case_t c;
  uint8_t data[6] = {0};
  case_begin(&c, &berth_kernel_split);
  case_int(&c, 1);
  case_input(&c, BERTH_TYPE_UINT8, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  case_refused(&c);

  case_begin(&c, &berth_kernel_concatenation);
  case_input(&c, BERTH_TYPE_UINT8, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_input(&c, BERTH_TYPE_UINT8, 2, (int32_t[]){3, 2}, data, 0, 0);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  case_refused(&c);

  case_begin(&c, &berth_kernel_concatenation);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joining_and_cutting_along_every_axis_are_opposites),
      cmocka_unit_test(uint8_of_another_scale_is_requantized),
      cmocka_unit_test(pack_makes_an_axis_and_unpack_takes_it_away),
      cmocka_unit_test(split_cuts_into_equal_parts),
      cmocka_unit_test(split_by_computed_sizes_is_dynamic),
      cmocka_unit_test(what_does_not_fit_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
