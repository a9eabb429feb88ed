/* TRANSPOSE and REVERSE_V2 against index arithmetic on every element. */
#include "operators/case.h"

static void check_transpose(berth_tensor_type_t type, uint32_t size, const int32_t *dims,
                            const int32_t *order, berth_kind_t kind) {
  case_t c;
  uint8_t data[1024];
  case_random_bytes(data, sizeof data, 11);
  case_begin(&c, &berth_kernel_transpose);
  case_input(&c, type, 4, dims, data, 0, 0);
  case_ints(&c, 4, order);
  case_output(&c, type, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, kind);
  berth_value_t result = case_result(&c, 0);
  int32_t at[4] = {0};
  for (at[0] = 0; at[0] < dims[0]; at[0]++)
    for (at[1] = 0; at[1] < dims[1]; at[1]++)
      for (at[2] = 0; at[2] < dims[2]; at[2]++)
        for (at[3] = 0; at[3] < dims[3]; at[3]++) {
          int32_t from = 0, to = 0;
          for (uint32_t d = 0; d < 4; d++) {
            from = from * dims[d] + at[d];
            to = to * result.dims[d] + at[order[d]];
          }
          assert_memory_equal(result.data + (uint32_t)to * size, data + (uint32_t)from * size,
                              size);
        }
  for (uint32_t d = 0; d < 4; d++) assert_int_equal(result.dims[d], dims[order[d]]);
  case_end(&c);
}

static void transpose_moves_every_element_to_its_place(void **state) {
  (void)state;
  int32_t dims[4] = {2, 3, 4, 5};
  check_transpose(BERTH_TYPE_INT8, 1, dims, (int32_t[]){0, 3, 1, 2}, BERTH_WHOLE);
  check_transpose(BERTH_TYPE_INT8, 1, dims, (int32_t[]){3, 2, 1, 0}, BERTH_WHOLE);
  check_transpose(BERTH_TYPE_INT16, 2, dims, (int32_t[]){1, 0, 3, 2}, BERTH_WHOLE);
  check_transpose(BERTH_TYPE_FLOAT32, 4, dims, (int32_t[]){0, 1, 3, 2}, BERTH_ROW_LOCAL);
  check_transpose(BERTH_TYPE_FLOAT32, 4, dims, (int32_t[]){2, 3, 0, 1}, BERTH_WHOLE);
  check_transpose(BERTH_TYPE_INT64, 8, dims, (int32_t[]){0, 1, 2, 3}, BERTH_ROW_LOCAL);
  int32_t flat[4] = {2, 1, 4, 5}, pixel[4] = {1, 1, 1, 5};
  check_transpose(BERTH_TYPE_INT16, 2, flat, (int32_t[]){0, 1, 2, 3}, BERTH_ROW_LOCAL);
  check_transpose(BERTH_TYPE_INT16, 2, flat, (int32_t[]){0, 1, 3, 2}, BERTH_WHOLE);
  check_transpose(BERTH_TYPE_INT16, 2, flat, (int32_t[]){0, 2, 1, 3}, BERTH_WHOLE);
  check_transpose(BERTH_TYPE_INT16, 2, pixel, (int32_t[]){0, 1, 3, 2}, BERTH_WHOLE);
}

static void transpose_in_a_computed_order_is_dynamic(void **state) {
  (void)state;
  case_t c;
  case_begin(&c, &berth_kernel_transpose);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 3}, (int8_t[]){1, 2, 3, 4, 5, 6}, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){2}, (int32_t[]){1, 0}, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){3, 2});
  assert_memory_equal(case_result(&c, 0).data, ((int8_t[]){1, 4, 2, 5, 3, 6}), 6);
  case_end(&c);
}

static void reverse_turns_the_named_axes_round(void **state) {
  (void)state;
  int16_t data[60];
  for (int16_t i = 0; i < 60; i++) data[i] = i;
  for (uint32_t mask = 1; mask < 8; mask++) {
    case_t c;
    int32_t axes[3];
    uint32_t count = 0;
    for (int32_t d = 0; d < 3; d++)
      if (mask >> d & 1) axes[count++] = d == 1 ? -2 : d;
    case_begin(&c, &berth_kernel_reverse_v2);
    case_input(&c, BERTH_TYPE_INT16, 3, (int32_t[]){3, 4, 5}, data, 0, 0);
    case_ints(&c, count, axes);
    case_output(&c, BERTH_TYPE_INT16, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    assert_int_equal(c.contract.kind == BERTH_ROW_LOCAL, (mask & 3) == 0);
    int16_t result[60];
    memcpy(result, case_result(&c, 0).data, sizeof result);
    for (uint32_t i = 0; i < 60; i++) {
      uint32_t a = i / 20, b = i / 5 % 4, k = i % 5;
      if (mask & 1) a = 2 - a;
      if (mask & 2) b = 3 - b;
      if (mask & 4) k = 4 - k;
      assert_int_equal(result[i], (a * 4 + b) * 5 + k);
    }
    case_end(&c);
  }
}

static void bad_orders_are_refused(void **state) {
  (void)state;
  static const int32_t wrong[][2] = {{0, 0}, {0, 2}, {-3, 1}, {INT32_MIN, 1}};
  for (size_t i = 0; i < 8; i++) {
    case_t c;
    case_begin(&c, i % 2 ? &berth_kernel_transpose : &berth_kernel_reverse_v2);
    case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 1}, (int8_t[]){1, 2}, 0, 0);
    case_ints(&c, 2, wrong[i / 2]);
    case_output(&c, BERTH_TYPE_INT8, 0, 0);
    case_refused(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transpose_moves_every_element_to_its_place),
      cmocka_unit_test(transpose_in_a_computed_order_is_dynamic),
      cmocka_unit_test(reverse_turns_the_named_axes_round),
      cmocka_unit_test(bad_orders_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
