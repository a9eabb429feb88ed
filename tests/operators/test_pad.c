/* PAD, PADV2 and MIRROR_PAD against a reading of one position at a time. */
#include "operators/case.h"

/* Where position `at` of a dimension padded by `before` comes from: -1 is padding. `mirror` 0:
 * none, 1: reflect, 2: symmetric. */
static int32_t source(int32_t at, int32_t before, int32_t size, int mirror) {
  int32_t i = at - before;
  if (i >= 0 && i < size) return i;
  if (mirror == 0) return -1;
  if (i < 0) return mirror == 1 ? -i : -i - 1;
  return mirror == 1 ? 2 * size - 2 - i : 2 * size - 1 - i;
}

/* Pads a float tensor of up to 4 dimensions and compares. */
static void check(const berth_kernel_t *kernel, uint32_t rank, const int32_t *dims,
                  const int32_t *paddings, const float *value, int mirror, berth_kind_t kind) {
  float data[512];
  case_t c;
  case_random_floats(data, 512, 4, 7);
  case_begin(&c, kernel);
  case_input(&c, BERTH_TYPE_FLOAT32, rank, dims, data, 0, 0);
  case_constant(&c, BERTH_TYPE_INT32, 2, (int32_t[]){(int32_t)rank, 2}, paddings, 0, 0);
  if (value != NULL) case_constant(&c, BERTH_TYPE_FLOAT32, 0, NULL, value, 0, 0);
  if (mirror > 0) case_option_byte(&c, BERTH_MIRROR_PAD_MODE, mirror - 1);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, kind);
  berth_value_t result = case_result(&c, 0);
  for (uint32_t i = 0; i < result.elements; i++) {
    int32_t rest = (int32_t)i, at = 0, stride = 1;
    bool inside = true;
    for (uint32_t d = rank; d-- > 0;) {
      int32_t from = source(rest % result.dims[d], paddings[2 * d], dims[d], mirror);
      inside = inside && from >= 0;
      at += from * stride;
      stride *= dims[d];
      rest /= result.dims[d];
    }
    float expected = inside ? data[at] : value != NULL ? *value : 0;
    assert_memory_equal(result.data + 4 * i, &expected, 4);
  }
  case_end(&c);
}

static void pad_surrounds_an_image_with_zeros_row_by_row(void **state) {
  (void)state;
  check(&berth_kernel_pad, 4, (int32_t[]){1, 4, 3, 5}, (int32_t[]){0, 0, 1, 2, 2, 1, 0, 0}, NULL, 0,
        BERTH_ROW_LOCAL);
  check(&berth_kernel_pad, 4, (int32_t[]){1, 3, 2, 3}, (int32_t[]){0, 0, 0, 5, 0, 0, 3, 1}, NULL, 0,
        BERTH_ROW_LOCAL);
  check(&berth_kernel_pad, 4, (int32_t[]){2, 3, 2, 3}, (int32_t[]){0, 0, 0, 0, 1, 2, 0, 1}, NULL, 0,
        BERTH_ROW_LOCAL);
}

static void pad_goes_along_the_width_where_the_height_is_1(void **state) {
  (void)state;
  check(&berth_kernel_pad, 4, (int32_t[]){1, 1, 6, 5}, (int32_t[]){0, 0, 0, 0, 2, 1, 0, 0}, NULL, 0,
        BERTH_ROW_LOCAL);
  check(&berth_kernel_pad, 4, (int32_t[]){2, 1, 6, 5}, (int32_t[]){0, 0, 0, 0, 0, 0, 1, 2}, NULL, 0,
        BERTH_ROW_LOCAL);
  check(&berth_kernel_pad, 4, (int32_t[]){1, 1, 1, 5}, (int32_t[]){0, 0, 0, 0, 2, 1, 0, 1}, NULL, 0,
        BERTH_ROW_LOCAL);
  check(&berth_kernel_pad, 4, (int32_t[]){1, 1, 6, 5}, (int32_t[]){0, 0, 1, 0, 2, 1, 0, 1}, NULL, 0,
        BERTH_WHOLE);
  check(&berth_kernel_mirror_pad, 4, (int32_t[]){1, 1, 6, 5}, (int32_t[]){0, 0, 0, 0, 0, 0, 1, 2},
        NULL, 1, BERTH_ROW_LOCAL);
  check(&berth_kernel_mirror_pad, 4, (int32_t[]){1, 1, 6, 5}, (int32_t[]){0, 0, 0, 0, 1, 2, 0, 0},
        NULL, 2, BERTH_WHOLE);
}

static void pad_of_the_batch_is_whole(void **state) {
  (void)state;
  check(&berth_kernel_pad, 4, (int32_t[]){2, 3, 2, 3}, (int32_t[]){1, 1, 1, 0, 1, 2, 0, 1}, NULL, 0,
        BERTH_WHOLE);
  check(&berth_kernel_pad, 4, (int32_t[]){2, 3, 2, 3}, (int32_t[]){0, 0, 1, 0, 1, 2, 0, 1}, NULL, 0,
        BERTH_WHOLE);
}

static void pad_takes_few_dimensions(void **state) {
  (void)state;
  check(&berth_kernel_pad, 1, (int32_t[]){7}, (int32_t[]){2, 3}, NULL, 0, BERTH_WHOLE);
  check(&berth_kernel_pad, 2, (int32_t[]){3, 4}, (int32_t[]){1, 0, 2, 3}, NULL, 0, BERTH_WHOLE);
}

static void padv2_fills_with_its_value(void **state) {
  (void)state;
  float value = -2.75f;
  check(&berth_kernel_padv2, 4, (int32_t[]){1, 4, 3, 2}, (int32_t[]){0, 0, 1, 2, 2, 1, 1, 3},
        &value, 0, BERTH_ROW_LOCAL);
}

static void mirror_pad_repeats_with_and_without_the_edge(void **state) {
  (void)state;
  for (int mode = 1; mode <= 2; mode++) {
    check(&berth_kernel_mirror_pad, 4, (int32_t[]){1, 4, 3, 2}, (int32_t[]){0, 0, 3, 2, 2, 1, 0, 1},
          NULL, mode, BERTH_WHOLE);
    check(&berth_kernel_mirror_pad, 4, (int32_t[]){1, 4, 3, 2}, (int32_t[]){0, 0, 0, 0, 2, 2, 1, 1},
          NULL, mode, BERTH_ROW_LOCAL);
    check(&berth_kernel_mirror_pad, 2, (int32_t[]){4, 3}, (int32_t[]){3, 3, 2, 2}, NULL, mode,
          BERTH_WHOLE);
  }
}

static void pad_of_int8_fills_with_the_zero_point(void **state) {
  (void)state;
  case_t c;
  int8_t data[2] = {5, 6};
  case_begin(&c, &berth_kernel_pad);
  case_input(&c, BERTH_TYPE_INT8, 3, (int32_t[]){1, 2, 1}, data, 0.5f, -9);
  case_constant(&c, BERTH_TYPE_INT32, 2, (int32_t[]){3, 2}, (int32_t[]){0, 0, 1, 0, 0, 2}, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0.5f, -9);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 3, (int32_t[]){1, 3, 3});
  assert_memory_equal(case_result(&c, 0).data, ((int8_t[]){-9, -9, -9, 5, -9, -9, 6, -9, -9}), 9);
  case_end(&c);
}

static void pad_by_computed_paddings_is_dynamic(void **state) {
  (void)state;
  case_t c;
  int16_t data[2] = {5, 6};
  int32_t paddings[6] = {0, 0, 1, 0, 0, 1};
  case_begin(&c, &berth_kernel_pad);
  case_input(&c, BERTH_TYPE_INT16, 3, (int32_t[]){1, 2, 1}, data, 0.5f, 0);
  case_input(&c, BERTH_TYPE_INT32, 2, (int32_t[]){3, 2}, paddings, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0.5f, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 3, (int32_t[]){1, 3, 2});
  assert_memory_equal(case_result(&c, 0).data, ((int16_t[]){0, 0, 5, 0, 6, 0}), 12);
  case_end(&c);
}

static void refused(const berth_kernel_t *kernel, int32_t count, const int32_t *paddings) {
  case_t c;
  int8_t data[4] = {0};
  case_begin(&c, kernel);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 2}, data, 0, 0);
  case_constant(&c, BERTH_TYPE_INT32, 2, (int32_t[]){count, 2}, paddings, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

static void bad_paddings_are_refused(void **state) {
  (void)state;
  refused(&berth_kernel_pad, 2, (int32_t[]){-1, 0, 0, 0});
  refused(&berth_kernel_pad, 2, (int32_t[]){INT32_MAX, 0, 0, 0});
  refused(&berth_kernel_pad, 2, (int32_t[]){INT32_MAX, INT32_MAX, 0, 0});
  refused(&berth_kernel_pad, 1, (int32_t[]){1, 1});
  refused(&berth_kernel_mirror_pad, 2, (int32_t[]){2, 0, 0, 0});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pad_surrounds_an_image_with_zeros_row_by_row),
      cmocka_unit_test(pad_goes_along_the_width_where_the_height_is_1),
      cmocka_unit_test(pad_of_the_batch_is_whole),
      cmocka_unit_test(pad_takes_few_dimensions),
      cmocka_unit_test(padv2_fills_with_its_value),
      cmocka_unit_test(mirror_pad_repeats_with_and_without_the_edge),
      cmocka_unit_test(pad_of_int8_fills_with_the_zero_point),
      cmocka_unit_test(pad_by_computed_paddings_is_dynamic),
      cmocka_unit_test(bad_paddings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
