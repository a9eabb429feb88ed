/* RESHAPE, SQUEEZE and EXPAND_DIMS: shapes, views, and shapes that are computed. */
#include "operators/case.h"

static const int32_t shape[] = {1, 4, 3, 2};

static void data_of(int16_t *data) {
  for (int16_t i = 0; i < 24; i++) data[i] = (int16_t)(i * 7);
}

static void begin(case_t *c, const berth_kernel_t *kernel) {
  int16_t data[24];
  data_of(data);
  case_begin(c, kernel);
  case_input(c, BERTH_TYPE_INT16, 4, shape, data, 0, 0);
}

static void expect(case_t *c, uint32_t rank, const int32_t *dims) {
  int16_t data[24];
  data_of(data);
  case_output(c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(c), BERTH_OK);
  case_expect_shape(c, rank, dims);
  assert_memory_equal(case_result(c, 0).data, data, sizeof data);
  case_end(c);
}

static void reshape_keeps_the_bytes_and_finds_the_missing_dimension(void **state) {
  (void)state;
  case_t c;
  begin(&c, &berth_kernel_reshape);
  case_ints(&c, 3, (int32_t[]){2, -1, 3});
  expect(&c, 3, (int32_t[]){2, 4, 3});
}

static void reshape_that_keeps_rows_is_row_local(void **state) {
  (void)state;
  case_t c;
  begin(&c, &berth_kernel_reshape);
  case_ints(&c, 3, (int32_t[]){1, 4, 6});
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, BERTH_ROW_LOCAL);
  assert_int_equal(c.contract.view, BERTH_VIEW_SAME);
  case_end(&c);
  begin(&c, &berth_kernel_reshape); /* a sequence, as convolutions want it */
  case_ints(&c, 4, (int32_t[]){1, 1, 4, 6});
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, BERTH_ROW_LOCAL);
  case_end(&c);
}

static void reshape_reads_the_shape_from_old_options(void **state) {
  (void)state;
  case_t c;
  begin(&c, &berth_kernel_reshape);
  case_option_ints(&c, BERTH_RESHAPE_SHAPE, 2, (int32_t[]){-1, 8});
  expect(&c, 2, (int32_t[]){3, 8});
}

static void reshape_to_a_computed_shape_is_dynamic(void **state) {
  (void)state;
  case_t c;
  int32_t to[] = {6, 4}, rank = 2;
  begin(&c, &berth_kernel_reshape);
  case_input(&c, BERTH_TYPE_INT32, 1, &rank, to, 0, 0);
  expect(&c, 2, to);
}

static void reshape_refuses_what_does_not_fit(void **state) {
  (void)state;
  static const int32_t wrong[][2] = {{5, 5}, {-1, -1}, {-2, -12}, {-1, 5}, {0, -1}, {24, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    case_t c;
    begin(&c, &berth_kernel_reshape);
    case_ints(&c, 2, wrong[i]);
    case_output(&c, BERTH_TYPE_INT16, 0, 0);
    case_refused(&c);
  }
  case_t c;
  begin(&c, &berth_kernel_reshape);
  case_ints(&c, 1, (int32_t[]){24});
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
  begin(&c, &berth_kernel_reshape);
  case_refused(&c);
}

static void squeeze_drops_all_or_the_named_ones(void **state) {
  (void)state;
  case_t c;
  begin(&c, &berth_kernel_squeeze);
  expect(&c, 3, (int32_t[]){4, 3, 2});
  begin(&c, &berth_kernel_squeeze);
  case_option_ints(&c, BERTH_SQUEEZE_DIMENSIONS, 1, (int32_t[]){-4});
  expect(&c, 3, (int32_t[]){4, 3, 2});
  begin(&c, &berth_kernel_squeeze);
  case_option_ints(&c, BERTH_SQUEEZE_DIMENSIONS, 1, (int32_t[]){1});
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_refused(&c);
  begin(&c, &berth_kernel_squeeze);
  case_option_ints(&c, BERTH_SQUEEZE_DIMENSIONS, 1, (int32_t[]){4});
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_refused(&c);
}

static void expand_dims_puts_a_one_anywhere(void **state) {
  (void)state;
  case_t c;
  begin(&c, &berth_kernel_expand_dims);
  case_int(&c, -1);
  expect(&c, 5, (int32_t[]){1, 4, 3, 2, 1});
  begin(&c, &berth_kernel_expand_dims);
  case_int(&c, 2);
  expect(&c, 5, (int32_t[]){1, 4, 1, 3, 2});
  begin(&c, &berth_kernel_expand_dims);
  case_int(&c, 5);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reshape_keeps_the_bytes_and_finds_the_missing_dimension),
      cmocka_unit_test(reshape_that_keeps_rows_is_row_local),
      cmocka_unit_test(reshape_reads_the_shape_from_old_options),
      cmocka_unit_test(reshape_to_a_computed_shape_is_dynamic),
      cmocka_unit_test(reshape_refuses_what_does_not_fit),
      cmocka_unit_test(squeeze_drops_all_or_the_named_ones),
      cmocka_unit_test(expand_dims_puts_a_one_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
