/* RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR against the definition in double precision. */
#include "operators/case.h"
#include <math.h>

typedef struct sizes {
  int32_t from[2], to[2];
} sizes_t;

static const sizes_t all_sizes[] = {
    {{4, 5}, {8, 10}}, {{4, 5}, {7, 3}},   {{3, 3}, {3, 3}}, {{1, 1}, {4, 2}}, {{9, 8}, {4, 4}},
    {{2, 7}, {1, 1}},  {{33, 3}, {65, 5}}, {{1, 9}, {1, 5}}, {{1, 5}, {1, 9}}, {{1, 5}, {3, 9}},
    {{4, 6}, {1, 6}},  {{1, 1}, {1, 4}},   {{1, 6}, {1, 1}},
};
#define SIZES (sizeof all_sizes / sizeof *all_sizes)
#define DEPTH 3

/* mode 0: plain, 1: corners are aligned, 2: centres of pixels are */
static double position(int32_t at, int32_t from, int32_t to, int mode) {
  double scale = mode == 1 && to > 1 ? (double)(from - 1) / (to - 1) : (double)from / to;
  return mode == 2 ? (at + 0.5) * scale - 0.5 : at * scale;
}

static int32_t inside(double x, int32_t size) {
  return (int32_t)fmin(fmax(x, 0), size - 1);
}

static double pixel(const void *data, berth_tensor_type_t type, const sizes_t *s, int32_t n,
                    int32_t y, int32_t x, int32_t k) {
  int32_t at = ((n * s->from[0] + y) * s->from[1] + x) * DEPTH + k;
  float real;
  if (type == BERTH_TYPE_INT8) return ((const int8_t *)data)[at];
  if (type == BERTH_TYPE_UINT8) return ((const uint8_t *)data)[at];
  memcpy(&real, (const uint8_t *)data + 4 * at, 4);
  return (double)real;
}

static void check(const sizes_t *s, berth_tensor_type_t type, int mode, bool nearest,
                  bool computed) {
  uint8_t data[4 * 2 * 33 * 24];
  double expected[2 * 65 * 30];
  case_t c;
  if (type == BERTH_TYPE_FLOAT32)
    case_random_floats((float *)(void *)data, sizeof data / 4, 9, 5);
  else
    case_random_bytes(data, sizeof data, 6);
  case_begin(&c, nearest ? &berth_kernel_resize_nearest_neighbor : &berth_kernel_resize_bilinear);
  if (mode > 0 && nearest)
    case_option_byte(&c,
                     mode == 1 ? BERTH_RESIZE_NEAREST_ALIGN_CORNERS
                               : BERTH_RESIZE_NEAREST_HALF_PIXEL_CENTERS,
                     1);
  else if (mode > 0)
    case_option_byte(&c,
                     mode == 1 ? BERTH_RESIZE_BILINEAR_ALIGN_CORNERS
                               : BERTH_RESIZE_BILINEAR_HALF_PIXEL_CENTERS,
                     1);
  case_input(&c, type, 4, (int32_t[]){2, s->from[0], s->from[1], DEPTH}, data, 0, 0);
  if (computed)
    case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){2}, s->to, 0, 0);
  else
    case_ints(&c, 2, s->to);
  case_output(&c, type, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  case_expect_shape(&c, 4, (int32_t[]){2, s->to[0], s->to[1], DEPTH});
  uint32_t i = 0;
  for (int32_t n = 0; n < 2; n++)
    for (int32_t y = 0; y < s->to[0]; y++)
      for (int32_t x = 0; x < s->to[1]; x++)
        for (int32_t k = 0; k < DEPTH; k++, i++) {
          double at_y = position(y, s->from[0], s->to[0], mode);
          double at_x = position(x, s->from[1], s->to[1], mode);
          if (nearest) {
            /* The nearest pixel covers [x, x + 1), except when corners are aligned. */
            if (mode == 2) at_y += 0.5, at_x += 0.5;
            at_y = mode == 1 ? round(at_y) : floor(at_y + 1e-9);
            at_x = mode == 1 ? round(at_x) : floor(at_x + 1e-9);
            expected[i] =
                pixel(data, type, s, n, inside(at_y, s->from[0]), inside(at_x, s->from[1]), k);
            continue;
          }
          int32_t y0 = inside(floor(at_y), s->from[0]), y1 = inside(floor(at_y) + 1, s->from[0]);
          int32_t x0 = inside(floor(at_x), s->from[1]), x1 = inside(floor(at_x) + 1, s->from[1]);
          double dy = at_y - floor(at_y), dx = at_x - floor(at_x);
          expected[i] = (1 - dy) * ((1 - dx) * pixel(data, type, s, n, y0, x0, k) +
                                    dx * pixel(data, type, s, n, y0, x1, k)) +
                        dy * ((1 - dx) * pixel(data, type, s, n, y1, x0, k) +
                              dx * pixel(data, type, s, n, y1, x1, k));
        }
  berth_value_t result = case_result(&c, 0);
  if (type == BERTH_TYPE_FLOAT32) case_expect_floats(result.data, expected, i);
  for (uint32_t e = 0; e < i && type != BERTH_TYPE_FLOAT32; e++) {
    int32_t number = type == BERTH_TYPE_INT8 ? (int8_t)result.data[e] : result.data[e];
    /* 10 bits of fraction make up to half a unit beyond the rounding on these sizes. */
    double tolerance = nearest ? 0 : type == BERTH_TYPE_INT8 ? 4.0 : 0.501;
    if (!(fabs(number - expected[e]) <= tolerance))
      fail_msg("element %u is %d, not %g", e, number, expected[e]);
  }
  case_end(&c);
}

static void every_pixel_is_where_the_definition_says(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_FLOAT32, BERTH_TYPE_UINT8,
                                              BERTH_TYPE_INT8};
  for (uint32_t s = 0; s < SIZES; s++)
    for (uint32_t t = 0; t < 3; t++)
      for (int mode = 0; mode < 3; mode++)
        for (int nearest = 0; nearest < 2; nearest++)
          check(&all_sizes[s], types[t], mode, nearest, s == 1);
}

/* The integer interpolation as TFLM's reference has it, one element at a time. */
static void int8_interpolates_in_integers(void **state) {
  (void)state;
  for (uint32_t s = 0; s < SIZES; s++) {
    const sizes_t *sizes = &all_sizes[s];
    int8_t data[2 * 33 * 24];
    case_t c;
    case_random_bytes(data, sizeof data, 16);
    case_begin(&c, &berth_kernel_resize_bilinear);
    case_option_byte(&c, BERTH_RESIZE_BILINEAR_HALF_PIXEL_CENTERS, 1);
    case_input(&c, BERTH_TYPE_INT8, 4, (int32_t[]){1, sizes->from[0], sizes->from[1], DEPTH}, data,
               0, 0);
    case_ints(&c, 2, sizes->to);
    case_output(&c, BERTH_TYPE_INT8, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    const int8_t *result = (int8_t *)case_result(&c, 0).data;
    for (int32_t y = 0; y < sizes->to[0]; y++)
      for (int32_t x = 0; x < sizes->to[1]; x++)
        for (int32_t k = 0; k < DEPTH; k++) {
          int32_t at[2] = {y, x}, low[2], high[2], rest[2];
          for (int d = 0; d < 2; d++) {
            int32_t scale = (1024 * sizes->from[d] + sizes->to[d] / 2) / sizes->to[d];
            int32_t scaled = at[d] * scale + scale / 2 - 512;
            low[d] = scaled > 0 ? scaled / 1024 : 0;
            high[d] = (scaled + 1023) / 1024;
            if (high[d] > sizes->from[d] - 1) high[d] = sizes->from[d] - 1;
            rest[d] = scaled - 1024 * low[d];
          }
          int64_t sum = 0;
          for (int corner = 0; corner < 4; corner++) {
            int32_t from_y = corner & 2 ? high[0] : low[0], from_x = corner & 1 ? high[1] : low[1];
            int64_t weight = (corner & 2 ? rest[0] : 1024 - rest[0]);
            weight *= (corner & 1 ? rest[1] : 1024 - rest[1]);
            sum += weight * (int64_t)pixel(data, BERTH_TYPE_INT8, sizes, 0, from_y, from_x, k);
          }
          assert_int_equal(*result++, (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
        }
    case_end(&c);
  }
}

static void refused(int32_t height, int32_t width, uint32_t rank, int32_t align, int32_t half) {
  case_t c;
  case_begin(&c, &berth_kernel_resize_bilinear);
  case_option_byte(&c, BERTH_RESIZE_BILINEAR_ALIGN_CORNERS, align);
  case_option_byte(&c, BERTH_RESIZE_BILINEAR_HALF_PIXEL_CENTERS, half);
  case_input(&c, BERTH_TYPE_INT8, rank, (int32_t[]){1, 1, 1, 1}, &(int8_t){0}, 0, 0);
  case_ints(&c, 2, (int32_t[]){height, width});
  case_output(&c, BERTH_TYPE_INT8, 0, 0);
  case_refused(&c);
}

static void bad_sizes_are_refused(void **state) {
  (void)state;
  refused(0, 1, 4, 0, 0);
  refused(1, -1, 4, 0, 0);
  refused(INT32_MAX, 1, 4, 0, 0);
  refused(1, 1, 3, 0, 0);
  refused(1, 1, 4, 1, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_pixel_is_where_the_definition_says),
      cmocka_unit_test(int8_interpolates_in_integers),
      cmocka_unit_test(bad_sizes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
