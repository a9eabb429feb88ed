/* SLICE and STRIDED_SLICE against an enumeration of Python's x[begin:end:step]. */
#include "operators/case.h"

#define NONE INT32_MIN /* an end or begin that the mask leaves out */

/* The indices of x[begin:end:step], one by one; what is left out or beyond the ends stops there. */
static uint32_t range(int32_t size, int32_t begin, int32_t end, int32_t step, int32_t *indices) {
  int32_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  int32_t first = begin == NONE ? (step > 0 ? low : high) : begin < 0 ? begin + size : begin;
  int32_t last = end == NONE ? (step > 0 ? high : low) : end < 0 ? end + size : end;
  first = first < low ? low : first > high ? high : first;
  last = last < low ? low : last > high ? high : last;
  uint32_t count = 0;
  for (int32_t at = first; step > 0 ? at < last : at > last; at += step) indices[count++] = at;
  return count;
}

static void check(const int32_t *dims, const int32_t *begin, const int32_t *end,
                  const int32_t *step, berth_kind_t kind) {
  case_t c;
  int8_t data[256];
  int32_t b[4], e[4], indices[4][64], begin_mask = 0, end_mask = 0;
  uint32_t counts[4];
  case_random_bytes(data, sizeof data, 5);
  for (uint32_t d = 0; d < 4; d++) {
    counts[d] = range(dims[d], begin[d], end[d], step[d], indices[d]);
    begin_mask |= (begin[d] == NONE ? 1 : 0) << d;
    end_mask |= (end[d] == NONE ? 1 : 0) << d;
    b[d] = begin[d] == NONE ? 99 : begin[d];
    e[d] = end[d] == NONE ? 99 : end[d];
  }
  case_begin(&c, &berth_kernel_strided_slice);
  case_option_int(&c, BERTH_STRIDED_SLICE_BEGIN_MASK, begin_mask);
  case_option_int(&c, BERTH_STRIDED_SLICE_END_MASK, end_mask);
  case_input(&c, BERTH_TYPE_INT8, 4, dims, data, 0.5f, 1);
  case_ints(&c, 4, b);
  case_ints(&c, 4, e);
  case_ints(&c, 4, step);
  case_output(&c, BERTH_TYPE_INT8, 0.5f, 1);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, kind);
  const int8_t *result = (int8_t *)case_result(&c, 0).data;
  for (uint32_t d = 0; d < 4; d++) assert_int_equal(case_result(&c, 0).dims[d], counts[d]);
  for (uint32_t n = 0; n < counts[0]; n++)
    for (uint32_t y = 0; y < counts[1]; y++)
      for (uint32_t x = 0; x < counts[2]; x++)
        for (uint32_t k = 0; k < counts[3]; k++) {
          int32_t from =
              ((indices[0][n] * dims[1] + indices[1][y]) * dims[2] + indices[2][x]) * dims[3] +
              indices[3][k];
          assert_int_equal(*result++, data[from]);
        }
  case_end(&c);
}

static void strided_slice_takes_what_python_takes(void **state) {
  (void)state;
  int32_t image[4] = {1, 6, 5, 4}, batch[4] = {2, 5, 3, 4}, one[4] = {1, 1, 1, 1};
  check(image, (int32_t[]){0, 1, 1, 1}, (int32_t[]){1, 6, -1, NONE}, (int32_t[]){1, 2, 1, 2},
        BERTH_ROW_LOCAL);
  check(image, (int32_t[]){NONE, -4, NONE, -9}, (int32_t[]){NONE, 99, 2, 3}, one, BERTH_ROW_LOCAL);
  check(image, (int32_t[]){NONE, NONE, 3, NONE}, (int32_t[]){NONE, NONE, NONE, NONE},
        (int32_t[]){1, -1, -2, -1}, BERTH_WHOLE);
  check(image, (int32_t[]){NONE, 99, 4, NONE}, (int32_t[]){NONE, -5, 1, NONE},
        (int32_t[]){1, -2, -1, 1}, BERTH_WHOLE);
  check(batch, (int32_t[]){NONE, NONE, 1, 0}, (int32_t[]){NONE, NONE, 3, -1}, one, BERTH_ROW_LOCAL);
  check(batch, (int32_t[]){1, 2, 0, 0}, (int32_t[]){2, 5, 3, 4}, one, BERTH_WHOLE);
  check(image, (int32_t[]){0, 3, 0, 0}, (int32_t[]){1, 3, 5, 4}, one, BERTH_ROW_LOCAL); /* empty */
  check(image, (int32_t[]){0, 0, 0, 0}, (int32_t[]){1, 6, 5, 4}, (int32_t[]){1, 4, 7, 3},
        BERTH_ROW_LOCAL);
  int32_t flat[4] = {1, 1, 6, 5}, flats[4] = {2, 1, 6, 5};
  check(flat, (int32_t[]){0, 0, 1, 0}, (int32_t[]){1, 1, 6, 4}, (int32_t[]){1, 1, 2, 3},
        BERTH_ROW_LOCAL);
  check(flats, (int32_t[]){0, 0, 0, 1}, (int32_t[]){2, 1, 6, 4}, one, BERTH_ROW_LOCAL);
  check(flats, (int32_t[]){0, 0, 1, 1}, (int32_t[]){2, 1, 6, 4}, one, BERTH_WHOLE);
  check(flat, (int32_t[]){0, 0, 2, 1}, (int32_t[]){1, 1, 3, 4}, one, BERTH_ROW_LOCAL);
  check(image, (int32_t[]){0, 2, 0, 0}, (int32_t[]){1, 3, 5, 4}, one,
        BERTH_ROW_LOCAL); /* one row */
  check(image, (int32_t[]){0, 2, NONE, 1}, (int32_t[]){1, 3, NONE, 4}, (int32_t[]){1, 1, -2, 2},
        BERTH_ROW_LOCAL);
  check(image, (int32_t[]){0, 2, 3, 0}, (int32_t[]){1, 3, 4, 4}, one, BERTH_ROW_LOCAL);
}

static void masks_drop_add_and_fill_axes(void **state) {
  (void)state;
  case_t c;
  int32_t data[24];
  for (int32_t i = 0; i < 24; i++) data[i] = i;
  /* x[..., None, 1] of {2, 3, 4} */
  case_begin(&c, &berth_kernel_strided_slice);
  case_option_int(&c, BERTH_STRIDED_SLICE_ELLIPSIS_MASK, 1);
  case_option_int(&c, BERTH_STRIDED_SLICE_NEW_AXIS_MASK, 2);
  case_option_int(&c, BERTH_STRIDED_SLICE_SHRINK_AXIS_MASK, 4);
  case_input(&c, BERTH_TYPE_INT32, 3, (int32_t[]){2, 3, 4}, data, 0, 0);
  case_ints(&c, 3, (int32_t[]){0, 0, 1});
  case_ints(&c, 3, (int32_t[]){0, 0, 2});
  case_ints(&c, 3, (int32_t[]){1, 1, 1});
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 3, (int32_t[]){2, 3, 1});
  assert_memory_equal(case_result(&c, 0).data, ((int32_t[]){1, 5, 9, 13, 17, 21}), 24);
  case_end(&c);
  /* x[-1] of {2, 3, 4}: fewer entries than dimensions */
  case_begin(&c, &berth_kernel_strided_slice);
  case_option_int(&c, BERTH_STRIDED_SLICE_SHRINK_AXIS_MASK, 1);
  case_input(&c, BERTH_TYPE_INT32, 3, (int32_t[]){2, 3, 4}, data, 0, 0);
  case_ints(&c, 1, (int32_t[]){-1});
  case_ints(&c, 1, (int32_t[]){0});
  case_ints(&c, 1, (int32_t[]){1});
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){3, 4});
  assert_memory_equal(case_result(&c, 0).data, data + 12, 48);
  case_end(&c);
}

static void slice_takes_a_box(void **state) {
  (void)state;
  case_t c;
  float data[60];
  case_random_floats(data, 60, 1, 8);
  for (int computed = 0; computed < 2; computed++) {
    case_begin(&c, &berth_kernel_slice);
    case_input(&c, BERTH_TYPE_FLOAT32, 3, (int32_t[]){1, 5, 12}, data, 0, 0);
    if (computed)
      case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){3}, (int32_t[]){0, 1, 2}, 0, 0);
    else
      case_ints(&c, 3, (int32_t[]){0, 1, 2});
    case_ints(&c, 3, (int32_t[]){1, 3, -1});
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    case_expect_shape(&c, 3, (int32_t[]){1, 3, 10});
    for (uint32_t y = 0; y < 3; y++)
      assert_memory_equal(case_result(&c, 0).data + y * 40, data + (y + 1) * 12 + 2, 40);
    case_end(&c);
  }
}

static void slice_refused(const int32_t *begin, const int32_t *size) {
  case_t c;
  int8_t data[4] = {0};
  case_begin(&c, &berth_kernel_slice);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 2}, data, 0, 0);
  case_ints(&c, 2, begin);
  case_ints(&c, 2, size);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

static void strided_refused(uint32_t count, int32_t begin, int32_t step, int32_t shrink) {
  case_t c;
  int8_t data[4] = {0};
  int32_t begins[16], ends[16], steps[16];
  for (uint32_t i = 0; i < 16; i++) {
    begins[i] = begin;
    ends[i] = 2;
    steps[i] = step;
  }
  case_begin(&c, &berth_kernel_strided_slice);
  case_option_int(&c, BERTH_STRIDED_SLICE_SHRINK_AXIS_MASK, shrink);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 2}, data, 0, 0);
  case_ints(&c, count, begins);
  case_ints(&c, count, ends);
  case_ints(&c, count, steps);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

static void bad_boxes_are_refused(void **state) {
  (void)state;
  slice_refused((int32_t[]){0, -1}, (int32_t[]){1, 1});
  slice_refused((int32_t[]){0, 1}, (int32_t[]){1, 2});
  slice_refused((int32_t[]){0, 3}, (int32_t[]){1, -1});
  slice_refused((int32_t[]){0, 1}, (int32_t[]){1, INT32_MAX});
  slice_refused((int32_t[]){0, 1}, (int32_t[]){1, -2});
  strided_refused(2, 0, 0, 0);
  strided_refused(2, 0, INT32_MIN, 0);
  strided_refused(3, 0, 1, 0);
  strided_refused(2, 2, 1, 3);
  strided_refused(2, -3, 1, 3);
  strided_refused(9, 0, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strided_slice_takes_what_python_takes),
      cmocka_unit_test(masks_drop_add_and_fill_axes),
      cmocka_unit_test(slice_takes_a_box),
      cmocka_unit_test(bad_boxes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
