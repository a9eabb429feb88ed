/* GATHER, GATHER_ND, EMBEDDING_LOOKUP, ONE_HOT and DYNAMIC_UPDATE_SLICE. */
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

static void check_one_hot(int32_t axis, bool computed, const int32_t *dims) {
  const int32_t indices[6] = {0, 3, -1, 4, 2, 1}, depth = 4;
  const int16_t on = 300, off = -2;
  case_t c;
  case_begin(&c, &berth_kernel_one_hot);
  case_option_int(&c, BERTH_ONE_HOT_AXIS, axis);
  case_input(&c, BERTH_TYPE_INT32, 2, (int32_t[]){2, 3}, indices, 0, 0);
  if (computed) case_input(&c, BERTH_TYPE_INT32, 0, NULL, &depth, 0, 0);
  if (!computed) case_int(&c, depth);
  case_constant(&c, BERTH_TYPE_INT16, 0, NULL, &on, 0, 0);
  case_constant(&c, BERTH_TYPE_INT16, 0, NULL, &off, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 3, dims);
  int32_t place = axis < 0 ? 2 : axis;
  for (int32_t i = 0; i < 24; i++) {
    int32_t at[3] = {i / dims[2] / dims[1], i / dims[2] % dims[1], i % dims[2]};
    int32_t row = at[place == 0 ? 1 : 0], column = at[place == 2 ? 1 : 2];
    int16_t got, want = indices[row * 3 + column] == at[place] ? on : off;
    memcpy(&got, case_result(&c, 0).data + 2 * i, sizeof got);
    assert_int_equal(got, want);
  }
  case_end(&c);
}

static void one_hot_marks_the_index_along_any_axis(void **state) {
  (void)state;
  for (int computed = 0; computed < 2; computed++) {
    check_one_hot(-1, computed, (int32_t[]){2, 3, 4});
    check_one_hot(0, computed, (int32_t[]){4, 2, 3});
    check_one_hot(1, computed, (int32_t[]){2, 4, 3});
  }
}

static void check_update(const int32_t *start, const int32_t *place) {
  case_t c;
  int16_t data[40], update[6] = {100, 101, 102, 103, 104, 105};
  for (int16_t i = 0; i < 40; i++) data[i] = i;
  case_begin(&c, &berth_kernel_dynamic_update_slice);
  case_input(&c, BERTH_TYPE_INT16, 3, (int32_t[]){2, 4, 5}, data, 0, 0);
  case_input(&c, BERTH_TYPE_INT16, 3, (int32_t[]){1, 2, 3}, update, 0, 0);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){3}, start, 0, 0);
  case_output(&c, BERTH_TYPE_INT16, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.in_place, 1);
  case_expect_shape(&c, 3, (int32_t[]){2, 4, 5});
  for (int32_t y = 0; y < 2; y++)
    for (int32_t x = 0; x < 3; x++)
      data[(place[0] * 4 + place[1] + y) * 5 + place[2] + x] = update[y * 3 + x];
  assert_memory_equal(case_result(&c, 0).data, data, sizeof data);
  case_end(&c);
}

static void an_updated_slice_is_moved_to_where_it_fits(void **state) {
  (void)state;
  check_update((int32_t[]){0, 1, 2}, (int32_t[]){0, 1, 2});
  check_update((int32_t[]){1, 0, 0}, (int32_t[]){1, 0, 0});
  check_update((int32_t[]){-3, 9, 1}, (int32_t[]){0, 2, 1});
  check_update((int32_t[]){5, -1, 3}, (int32_t[]){1, 0, 2});
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
      cmocka_unit_test(one_hot_marks_the_index_along_any_axis),
      cmocka_unit_test(an_updated_slice_is_moved_to_where_it_fits),
      cmocka_unit_test(indices_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
