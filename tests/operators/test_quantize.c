/* QUANTIZE, DEQUANTIZE and CAST, for every pair of types. */
#include "operators/case.h"
#include <math.h>

#define COUNT 77

static size_t size_of(berth_tensor_type_t type) {
  return berth_tensor_type_bits(type) / 8;
}

static double load(const void *data, berth_tensor_type_t type, uint32_t i) {
  const uint8_t *at = (const uint8_t *)data + i * size_of(type);
#define LOAD(code, type_t)                                                                         \
  case code: {                                                                                     \
    type_t x;                                                                                      \
    memcpy(&x, at, sizeof x);                                                                      \
    return (double)x;                                                                              \
  }
  switch (type) {
    LOAD(BERTH_TYPE_INT8, int8_t)
    LOAD(BERTH_TYPE_INT16, int16_t)
    LOAD(BERTH_TYPE_INT32, int32_t)
    LOAD(BERTH_TYPE_INT64, int64_t)
    LOAD(BERTH_TYPE_UINT16, uint16_t)
    LOAD(BERTH_TYPE_UINT32, uint32_t)
    LOAD(BERTH_TYPE_UINT64, uint64_t)
    LOAD(BERTH_TYPE_FLOAT32, float)
    LOAD(BERTH_TYPE_FLOAT64, double)
  default:
    return *at;
  }
#undef LOAD
}

static int32_t low_of(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8    ? INT8_MIN
         : type == BERTH_TYPE_INT16 ? INT16_MIN
         : type == BERTH_TYPE_INT32 ? INT32_MIN
                                    : 0;
}

static int32_t high_of(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8    ? INT8_MAX
         : type == BERTH_TYPE_UINT8 ? UINT8_MAX
         : type == BERTH_TYPE_INT16 ? INT16_MAX
                                    : INT32_MAX;
}

static const berth_tensor_type_t numbers[] = {BERTH_TYPE_INT8, BERTH_TYPE_UINT8, BERTH_TYPE_INT16,
                                              BERTH_TYPE_INT32};

static void floats_are_rounded_away_from_zero(void **state) {
  (void)state;
  for (uint32_t t = 0; t < 4; t++) {
    case_t c;
    float data[COUNT];
    int32_t zero = t == 1 ? 100 : t == 3 ? 0 : -20;
    case_random_floats(data, COUNT, 20, 3);
    for (uint32_t i = 0; i < 20; i++) data[i] = ((float)i - 10) * 0.0625f; /* ties */
    data[20] = INFINITY;
    data[21] = -INFINITY;
    data[22] = 1e30f;
    data[23] = 0.49999997f * 0.125f;
    case_begin(&c, &berth_kernel_quantize);
    case_input(&c, BERTH_TYPE_FLOAT32, 1, (int32_t[]){COUNT}, data, 0, 0);
    case_output(&c, numbers[t], 0.125f, zero);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
      double expected = round((double)data[i] / 0.125) + zero;
      expected = fmin(fmax(expected, low_of(numbers[t])), high_of(numbers[t]));
      double result = load(case_result(&c, 0).data, numbers[t], i);
      if (numbers[t] == BERTH_TYPE_INT32) /* near its ends, what floats can say */
        assert_true(fabs(result - expected) <= 128);
      else
        assert_true(result >= expected && result <= expected);
    }
    case_end(&c);
  }
}

static void integers_are_rescaled_with_two_roundings(void **state) {
  (void)state;
  static const float scales[][2] = {{0.1f, 0.1f}, {0.1f, 0.037f}, {0.02f, 0.31f}};
  for (uint32_t from = 0; from < 4; from++)
    for (uint32_t to = 0; to < 4; to++)
      for (uint32_t s = 0; s < 3; s++) {
        case_t c;
        uint8_t data[4 * COUNT];
        int32_t in_zero = from == 1 ? 128 : from == 3 ? 0 : -3, out_zero = to == 1 ? 128 : 0;
        case_random_bytes(data, sizeof data, 5);
        if (from == 3) /* small enough for every output */
          for (uint32_t i = 0; i < COUNT; i++)
            memcpy(data + 4 * i, &(int32_t){(int32_t)data[4 * i] * 7 - 900}, 4);
        case_begin(&c, &berth_kernel_quantize);
        case_input(&c, numbers[from], 1, (int32_t[]){COUNT}, data, scales[s][0], in_zero);
        case_output(&c, numbers[to], scales[s][1], out_zero);
        assert_int_equal(case_run(&c), BERTH_OK);
        for (uint32_t i = 0; i < COUNT; i++) {
          double real = (load(data, numbers[from], i) - in_zero) * (double)scales[s][0];
          double expected = real / (double)scales[s][1] + out_zero;
          expected = fmin(fmax(expected, low_of(numbers[to])), high_of(numbers[to]));
          double result = load(case_result(&c, 0).data, numbers[to], i);
          if (!(fabs(result - expected) <= (s == 0 ? 0.001 : 0.76)))
            fail_msg("%g becomes %g, not %g", load(data, numbers[from], i), result, expected);
        }
        case_end(&c);
      }
}

static void dequantize_gives_the_real_numbers(void **state) {
  (void)state;
  for (uint32_t t = 0; t < 4; t++) {
    case_t c;
    uint8_t data[4 * COUNT];
    int32_t zero = t == 1 ? 77 : -5;
    case_random_bytes(data, sizeof data, 8);
    case_begin(&c, &berth_kernel_dequantize);
    case_input(&c, numbers[t], 1, (int32_t[]){COUNT}, data, 0.037f, zero);
    case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&c), BERTH_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
      float expected = (float)((load(data, numbers[t], i) - zero) * (double)0.037f);
      assert_memory_equal(case_result(&c, 0).data + 4 * i, &expected, 4);
    }
    case_end(&c);
  }
}

static void every_float16_is_widened_exactly(void **state) {
  (void)state;
  static uint16_t data[65536];
  static case_t c;
  for (uint32_t i = 0; i < 65536; i++) data[i] = (uint16_t)i;
  case_begin(&c, &berth_kernel_dequantize);
  case_constant(&c, BERTH_TYPE_FLOAT16, 1, (int32_t[]){65536}, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  for (uint32_t i = 0; i < 65536; i++) {
    uint32_t exponent = i >> 10 & 31, fraction = i & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, (int)exponent - 25);
    float result;
    memcpy(&result, case_result(&c, 0).data + 4 * i, 4);
    if (exponent == 31 && fraction > 0)
      assert_true(isnan(result));
    else if (exponent == 31)
      assert_true(isinf(result));
    else
      assert_true(fabs((double)result) >= size && fabs((double)result) <= size);
    assert_int_equal(signbit(result) != 0, i >> 15);
  }
  case_end(&c);
}

static void casts_keep_what_both_types_hold(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {
      BERTH_TYPE_INT8,    BERTH_TYPE_UINT8,  BERTH_TYPE_INT16, BERTH_TYPE_UINT16,
      BERTH_TYPE_INT32,   BERTH_TYPE_UINT32, BERTH_TYPE_INT64, BERTH_TYPE_UINT64,
      BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT64};
  enum { TYPES = sizeof types / sizeof *types };
  /* 0 ... 76 as bytes are cast to the first type, and from there to the second. */
  uint8_t bytes[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) bytes[i] = (uint8_t)i;
  for (uint32_t a = 0; a < TYPES; a++)
    for (uint32_t b = 0; b < TYPES; b++) {
      case_t first, second;
      case_begin(&first, &berth_kernel_cast);
      case_input(&first, BERTH_TYPE_UINT8, 1, (int32_t[]){COUNT}, bytes, 0, 0);
      case_output(&first, types[a], 0, 0);
      assert_int_equal(case_run(&first), BERTH_OK);
      case_begin(&second, &berth_kernel_cast);
      case_input(&second, types[a], 1, (int32_t[]){COUNT}, case_result(&first, 0).data, 0, 0);
      case_output(&second, types[b], 0, 0);
      assert_int_equal(case_run(&second), BERTH_OK);
      for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(load(case_result(&second, 0).data, types[b], i), i);
      case_end(&second);
      case_end(&first);
    }
}

/* case_run lays the output over the input wherever the contract permits it; here with every number
 * of elements, whatever vectors they are computed in. */
static void convert(const berth_kernel_t *kernel, berth_tensor_type_t from, berth_tensor_type_t to,
                    int32_t count) {
  case_t c;
  uint8_t data[8 * 100];
  bool scaled = kernel != &berth_kernel_cast;
  case_random_bytes(data, sizeof data, (uint32_t)count);
  for (int32_t i = 0; from == BERTH_TYPE_FLOAT32 && i < count; i++) {
    float x = (float)((int)data[i] - 100) / 7.0f;
    memcpy(data + 4 * i, &x, sizeof x);
  }
  case_begin(&c, kernel);
  case_input(&c, from, 1, &count, data, scaled && from != BERTH_TYPE_FLOAT32 ? 0.02f : 0, 0);
  case_output(&c, to, scaled && to != BERTH_TYPE_FLOAT32 ? 0.03f : 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  bool alike = size_of(from) == size_of(to);
  assert_int_equal(c.contract.in_place, alike ? 1 : 0);
  assert_int_equal(c.contract.in_step, alike ? 0 : 1);
  case_end(&c);
}

static void conversions_go_in_step_with_their_input(void **state) {
  (void)state;
  static const berth_tensor_type_t castable[] = {BERTH_TYPE_INT8,    BERTH_TYPE_INT16,
                                                 BERTH_TYPE_INT32,   BERTH_TYPE_INT64,
                                                 BERTH_TYPE_FLOAT32, BERTH_TYPE_BOOL};
  for (int32_t count = 1; count <= 100; count++) {
    for (uint32_t from = 0; from < 4; from++) {
      for (uint32_t to = 0; to < 4; to++)
        convert(&berth_kernel_quantize, numbers[from], numbers[to], count);
      convert(&berth_kernel_quantize, BERTH_TYPE_FLOAT32, numbers[from], count);
      convert(&berth_kernel_dequantize, numbers[from], BERTH_TYPE_FLOAT32, count);
    }
    for (uint32_t from = 0; from < 6; from++)
      for (uint32_t to = 0; to < 6; to++)
        convert(&berth_kernel_cast, castable[from], castable[to], count);
  }
}

static void casts_of_what_does_not_fit_wrap_or_saturate(void **state) {
  (void)state;
  case_t c;
  static const int32_t wide[4] = {-1, 300, INT32_MIN, 65536 + 7};
  case_begin(&c, &berth_kernel_cast);
  case_input(&c, BERTH_TYPE_INT32, 1, (int32_t[]){4}, wide, 0, 0);
  case_output(&c, BERTH_TYPE_UINT8, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((uint8_t[]){255, 44, 0, 7}), 4);
  case_end(&c);
  static const float real[6] = {-1.9f, 1.9f, 1e30f, -INFINITY, NAN, 3e9f};
  case_begin(&c, &berth_kernel_cast);
  case_input(&c, BERTH_TYPE_FLOAT32, 1, (int32_t[]){6}, real, 0, 0);
  case_output(&c, BERTH_TYPE_INT32, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data,
                      ((int32_t[]){-1, 1, INT32_MAX, INT32_MIN, 0, INT32_MAX}), 24);
  case_end(&c);
  case_begin(&c, &berth_kernel_cast);
  case_input(&c, BERTH_TYPE_FLOAT32, 1, (int32_t[]){6}, real, 0, 0);
  case_output(&c, BERTH_TYPE_BOOL, 0, 0);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, ((uint8_t[]){1, 1, 1, 1, 1, 1}), 6);
  case_end(&c);
}

static void refused(const berth_kernel_t *kernel, berth_tensor_type_t from, berth_tensor_type_t to,
                    float in, float out, int32_t zero) {
  case_t c;
  case_begin(&c, kernel);
  case_input(&c, from, 0, NULL, &(int64_t){0}, in, 0);
  case_output(&c, to, out, zero);
  case_refused(&c);
}

static void types_and_scales_that_make_no_sense_are_refused(void **state) {
  (void)state;
  refused(&berth_kernel_quantize, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8, 0, 0, 0);
  refused(&berth_kernel_quantize, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8, 0, NAN, 0);
  refused(&berth_kernel_quantize, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8, 0, 1, 128);
  refused(&berth_kernel_quantize, BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32, 0, 1, 0);
  refused(&berth_kernel_quantize, BERTH_TYPE_INT8, BERTH_TYPE_INT8, 0, 1, 0);
  refused(&berth_kernel_quantize, BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1e20f, 1e-20f, 0);
  refused(&berth_kernel_dequantize, BERTH_TYPE_INT8, BERTH_TYPE_FLOAT32, 0, 0, 0);
  refused(&berth_kernel_dequantize, BERTH_TYPE_INT8, BERTH_TYPE_INT8, 1, 1, 0);
  refused(&berth_kernel_cast, BERTH_TYPE_FLOAT16, BERTH_TYPE_INT8, 0, 0, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_are_rounded_away_from_zero),
      cmocka_unit_test(integers_are_rescaled_with_two_roundings),
      cmocka_unit_test(dequantize_gives_the_real_numbers),
      cmocka_unit_test(every_float16_is_widened_exactly),
      cmocka_unit_test(casts_keep_what_both_types_hold),
      cmocka_unit_test(conversions_go_in_step_with_their_input),
      cmocka_unit_test(casts_of_what_does_not_fit_wrap_or_saturate),
      cmocka_unit_test(types_and_scales_that_make_no_sense_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
