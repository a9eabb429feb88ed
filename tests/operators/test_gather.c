/* GATHER, GATHER_ND and EMBEDDING_LOOKUP against index arithmetic. */
#include "operators/case.h"

static void check_gather(int32_t axis, int32_t batches) {
  case_t c;
  uint16_t data[2 * 3 * 4 * 2];
  int32_t dims[4] = {2, 3, 4, 2}, indices[2 * 5];
  for (uint16_t i = 0; i < 48; i++) data[i] = i;
  for (uint32_t i = 0; i < 10; i++) indices[i] = (int32_t)(i * 7 % (uint32_t)dims[axis]);
  case_begin(&c, &berth_kernel_gather);
  case_option_int(&c, BERTH_GATHER_AXIS, axis - 4);
  case_option_int(&c, BERTH_GATHER_BATCH_DIMS, batches);
  case_input(&c, BERTH_TYPE_INT16, 4, dims, data, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, 2, (int32_t[]){2, 5}, indices, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  uint16_t result[480];
  memcpy(result, case_result(&c, 0).data, case_result(&c, 0).bytes);
  uint32_t outer = 1, inner = 1, per = batches ? 5 : 10;
  for (int32_t d = 0; d < axis; d++) outer *= (uint32_t)dims[d];
  for (int32_t d = axis + 1; d < 4; d++) inner *= (uint32_t)dims[d];
  assert_int_equal(case_result(&c, 0).elements, outer * per * inner);
  for (uint32_t i = 0; i < outer * per * inner; i++) {
    uint32_t o = i / inner / per, batch = batches ? o / (outer / 2) : 0;
    int32_t index = indices[batch * 5 + i / inner % per];
    assert_int_equal(result[i], (o * (uint32_t)dims[axis] + (uint32_t)index) * inner + i % inner);
  }
  case_end(&c);
}

static void gather_picks_along_every_axis(void **state) {
  (void)state;
  for (int32_t axis = 0; axis < 4; axis++) check_gather(axis, 0);
}

static void gather_with_batches_has_indices_for_each(void **state) {
  (void)state;
  for (int32_t axis = 1; axis < 4; axis++) check_gather(axis, 1);
}

static void gather_nd_picks_slices_by_coordinates(void **state) {
  (void)state;
  case_t c;
  int8_t data[24];
  for (int8_t i = 0; i < 24; i++) data[i] = i;
  case_begin(&c, &berth_kernel_gather_nd);
  case_input(&c, BERTH_TYPE_INT8, 3, (int32_t[]){2, 3, 4}, data, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, 2, (int32_t[]){2, 2}, (int32_t[]){1, 2, 0, 1}, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){2, 4});
  assert_memory_equal(case_result(&c, 0).data, ((int8_t[]){20, 21, 22, 23, 4, 5, 6, 7}), 8);
  case_end(&c);
  case_begin(&c, &berth_kernel_gather_nd);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){2}, (int32_t[]){1, 1}, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 0, NULL);
  assert_int_equal(case_result(&c, 0).data[0], 4);
  case_end(&c);
}

static void embedding_lookup_takes_the_indices_first(void **state) {
  (void)state;
  case_t c;
  float table[6] = {0, 1, 2, 3, 4, 5};
  case_begin(&c, &berth_kernel_embedding_lookup);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){2}, (int32_t[]){2, 0}, 0, 0);
  case_constant(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){3, 2}, table, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 2, (int32_t[]){2, 2});
  assert_memory_equal(case_result(&c, 0).data, ((float[]){4, 5, 0, 1}), 16);
  case_end(&c);
}

static void refused(const berth_kernel_t *kernel, uint32_t rank, int32_t last, int32_t index,
                    int32_t axis, int32_t batches) {
  case_t c;
  int32_t indices[4] = {index, index, index, index};
  case_begin(&c, kernel);
  case_option_int(&c, BERTH_GATHER_AXIS, axis);
  case_option_int(&c, BERTH_GATHER_BATCH_DIMS, batches);
  case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 3}, (int8_t[6]){0}, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, rank, (int32_t[]){last, last}, indices, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

static void indices_out_of_range_are_refused(void **state) {
  (void)state;
  refused(&berth_kernel_gather, 1, 1, 2, 0, 0);
  refused(&berth_kernel_gather, 1, 1, -1, 0, 0);
  refused(&berth_kernel_gather, 1, 1, 0, 2, 0);
  refused(&berth_kernel_gather, 1, 2, 0, 1, 2);
  refused(&berth_kernel_gather, 1, 2, 0, 0, 1);
  refused(&berth_kernel_gather, 1, 3, 0, 1, 1);
  refused(&berth_kernel_gather_nd, 1, 1, 2, 0, 0);
  refused(&berth_kernel_gather_nd, 1, 2, -1, 0, 0);
  refused(&berth_kernel_gather_nd, 1, 3, 0, 0, 0);
  refused(&berth_kernel_gather_nd, 0, 0, 0, 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gather_picks_along_every_axis),
      cmocka_unit_test(gather_with_batches_has_indices_for_each),
      cmocka_unit_test(gather_nd_picks_slices_by_coordinates),
      cmocka_unit_test(embedding_lookup_takes_the_indices_first),
      cmocka_unit_test(indices_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
