/* DEPTH_TO_SPACE, SPACE_TO_DEPTH and the batch pair against index arithmetic, and as opposites. */
#include "operators/case.h"

/* {batches, height, 4, 3} and back: batches x height is 12. */
static void check_depth(int32_t batches, int32_t height, berth_kind_t kind) {
  case_t c;
  float fine[2 * 6 * 4 * 3], coarse[2 * 6 * 4 * 3];
  case_random_floats(fine, 144, 1, 2);
  /* Element (y, x, k) of the fine tensor is (y / 2, x / 2, (y % 2 x 2 + x % 2) x 3 + k). */
  for (uint32_t i = 0; i < 144; i++) {
    uint32_t h = (uint32_t)height, k = i % 3, x = i / 3 % 4, y = i / 12 % h, n = i / (12 * h);
    coarse[((n * h / 2 + y / 2) * 2 + x / 2) * 12 + (y % 2 * 2 + x % 2) * 3 + k] = fine[i];
  }
  case_begin(&c, &berth_kernel_space_to_depth);
  case_option_int(&c, BERTH_SPACE_TO_DEPTH_BLOCK, 2);
  case_input(&c, BERTH_TYPE_FLOAT32, 4, (int32_t[]){batches, height, 4, 3}, fine, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, kind);
  case_expect_shape(&c, 4, (int32_t[]){batches, height / 2, 2, 12});
  assert_memory_equal(case_result(&c, 0).data, coarse, sizeof coarse);
  case_end(&c);
  case_begin(&c, &berth_kernel_depth_to_space);
  case_option_int(&c, BERTH_DEPTH_TO_SPACE_BLOCK, 2);
  case_input(&c, BERTH_TYPE_FLOAT32, 4, (int32_t[]){batches, height / 2, 2, 12}, coarse, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(c.contract.kind, kind);
  case_expect_shape(&c, 4, (int32_t[]){batches, height, 4, 3});
  assert_memory_equal(case_result(&c, 0).data, fine, sizeof fine);
  case_end(&c);
}

static void depth_and_space_are_opposites(void **state) {
  (void)state;
  check_depth(2, 6, BERTH_ROW_LOCAL);
  check_depth(6, 2, BERTH_WHOLE); /* one row of which lies along the width */
}

/* Space to batch of {2, h, w, 2} int8 with a border; then back with the border cropped. */
static void check_batch(uint32_t rank, int32_t h, int32_t w, const int32_t *block,
                        const int32_t *border) {
  case_t c;
  int8_t data[512], result[2048];
  int32_t dims[4] = {2, h, w, 2};
  if (rank == 3) dims[2] = 2;
  uint32_t spatial = rank - 2, width = rank == 3 ? 1 : (uint32_t)w;
  int32_t block_w = rank == 3 ? 1 : block[1], left = rank == 3 ? 0 : border[2];
  int32_t padded_w = rank == 3 ? 1 : w + border[2] + border[3];
  int32_t coarse_h = (h + border[0] + border[1]) / block[0], coarse_w = padded_w / block_w;
  int32_t batches = 2 * block[0] * block_w;
  case_random_bytes(data, sizeof data, 3);
  case_begin(&c, &berth_kernel_space_to_batch_nd);
  case_input(&c, BERTH_TYPE_INT8, rank, dims, data, 0.5f, -7);
  case_ints(&c, spatial, block);
  case_constant(&c, BERTH_TYPE_INT32, 2, (int32_t[]){(int32_t)spatial, 2}, border, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0.5f, -7);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_int_equal(case_result(&c, 0).elements, (uint32_t)(batches * coarse_h * coarse_w * 2));
  memcpy(result, case_result(&c, 0).data, case_result(&c, 0).elements);
  for (int32_t b = 0, i = 0; b < batches; b++)
    for (int32_t y = 0; y < coarse_h; y++)
      for (int32_t x = 0; x < coarse_w; x++)
        for (int32_t k = 0; k < 2; k++, i++) {
          int32_t from_y = y * block[0] + b / 2 / block_w - border[0];
          int32_t from_x = x * block_w + b / 2 % block_w - left;
          bool inside = from_y >= 0 && from_y < h && from_x >= 0 && from_x < (int32_t)width;
          int32_t at = ((b % 2 * h + from_y) * (int32_t)width + from_x) * 2 + k;
          assert_int_equal(result[i], inside ? data[at] : -7);
        }
  int32_t coarse[4];
  memcpy(coarse, case_result(&c, 0).dims, sizeof coarse);
  case_end(&c);

  case_begin(&c, &berth_kernel_batch_to_space_nd);
  case_input(&c, BERTH_TYPE_INT8, rank, coarse, result, 0.5f, -7);
  case_ints(&c, spatial, block);
  case_constant(&c, BERTH_TYPE_INT32, 2, (int32_t[]){(int32_t)spatial, 2}, border, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0.5f, -7);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, rank, dims);
  assert_memory_equal(case_result(&c, 0).data, data, case_result(&c, 0).bytes);
  case_end(&c);
}

static void batch_and_space_are_opposites(void **state) {
  (void)state;
  check_batch(4, 4, 6, (int32_t[]){2, 3}, (int32_t[]){0, 0, 0, 0});
  check_batch(4, 5, 4, (int32_t[]){2, 2}, (int32_t[]){1, 0, 2, 2});
  check_batch(4, 3, 3, (int32_t[]){3, 2}, (int32_t[]){2, 1, 0, 1});
  check_batch(4, 1, 1, (int32_t[]){2, 4}, (int32_t[]){4, 3, 5, 2});
  check_batch(3, 5, 1, (int32_t[]){3}, (int32_t[]){2, 2});
}

static void refused(const berth_kernel_t *kernel, const int32_t *block, const int32_t *border) {
  case_t c;
  case_begin(&c, kernel);
  case_input(&c, BERTH_TYPE_INT8, 4, (int32_t[]){2, 2, 3, 1}, (int8_t[12]){0}, 0, 0);
  case_ints(&c, 2, block);
  case_constant(&c, BERTH_TYPE_INT32, 2, (int32_t[]){2, 2}, border, 0, 0);
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

static void bad_blocks_are_refused(void **state) {
  (void)state;
  refused(&berth_kernel_space_to_batch_nd, (int32_t[]){2, 2}, (int32_t[4]){0});
  refused(&berth_kernel_space_to_batch_nd, (int32_t[]){0, 3}, (int32_t[4]){0});
  refused(&berth_kernel_space_to_batch_nd, (int32_t[]){-1, 3}, (int32_t[4]){0});
  refused(&berth_kernel_space_to_batch_nd, (int32_t[]){1, 1}, (int32_t[]){-1, 0, 0, 0});
  refused(&berth_kernel_space_to_batch_nd, (int32_t[]){1, 1}, (int32_t[]){INT32_MAX, 0, 0, 0});
  refused(&berth_kernel_batch_to_space_nd, (int32_t[]){2, 2}, (int32_t[4]){0});
  refused(&berth_kernel_batch_to_space_nd, (int32_t[]){1, 1}, (int32_t[]){2, 1, 0, 0});
  for (int32_t block = -1; block <= 5; block++) {
    if (block == 1) continue;
    case_t c;
    case_begin(&c, &berth_kernel_depth_to_space);
    case_option_int(&c, BERTH_DEPTH_TO_SPACE_BLOCK, block);
    case_input(&c, BERTH_TYPE_INT8, 4, (int32_t[]){1, 1, 1, 3}, (int8_t[3]){0}, 0, 0);
    case_output(&c, BERTH_TYPE_INT8, 0, 0);
    case_refused(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(depth_and_space_are_opposites),
      cmocka_unit_test(batch_and_space_are_opposites),
      cmocka_unit_test(bad_blocks_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
