/* ADD, SUB, MUL, DIV, MINIMUM and their kind: each element against one computed on its own, for all
 * ways in which two shapes broadcast. Quantized results are computed with the roundings written as
 * divisions, floats in double precision.
 */
#include "operators/case.h"
#include <math.h>

typedef struct shapes {
  uint32_t left_rank, right_rank;
  int32_t left[4], right[4];
} shapes_t;

static const shapes_t all_shapes[] = {
    {4, 4, {1, 4, 3, 5}, {1, 4, 3, 5}},
    {4, 1, {1, 4, 3, 5}, {5}},
    {4, 0, {2, 4, 3, 5}, {0}},
    {0, 3, {0}, {2, 3, 5}},
    {4, 4, {1, 4, 3, 5}, {1, 1, 1, 5}},
    {4, 4, {1, 4, 3, 5}, {1, 4, 3, 1}},
    {4, 4, {2, 1, 3, 1}, {1, 4, 1, 5}},
    {3, 4, {4, 3, 5}, {2, 1, 3, 1}},
    {2, 2, {40, 3}, {1, 3}},
    {1, 1, {130}, {130}},
    {4, 3, {2, 4, 3, 5}, {4, 1, 5}},
    {4, 4, {2, 3, 1, 1}, {2, 3, 4, 2}},
    {4, 4, {1, 1, 7, 3}, {1, 1, 7, 3}}, /* rows along the width */
    {4, 4, {2, 1, 7, 3}, {2, 1, 7, 1}},
    {4, 3, {1, 1, 7, 3}, {1, 7, 3}},
    {4, 4, {2, 1, 7, 3}, {1, 1, 1, 3}},
    {4, 4, {1, 1, 7, 3}, {1, 2, 1, 3}},
    {4, 3, {1, 1, 4, 3}, {4, 4, 3}},
    {3, 4, {7, 7, 3}, {1, 7, 1, 1}}, /* 7 rows each, but not the same */
};
#define SHAPES (sizeof all_shapes / sizeof *all_shapes)

/* Which element of an operand broadcast to `dims` is at position `i`. */
static uint32_t operand(uint32_t i, uint32_t rank, const int32_t *dims, uint32_t own_rank,
                        const int32_t *own) {
  uint32_t at = 0, stride = 1;
  for (uint32_t d = rank; d-- > 0;) {
    uint32_t position = i % (uint32_t)dims[d];
    i /= (uint32_t)dims[d];
    if (d + own_rank < rank) continue;
    int32_t size = own[d + own_rank - rank];
    at += (size == 1 ? 0 : position) * stride;
    stride *= (uint32_t)size;
  }
  return at;
}

/* Runs `kernel` on two tensors; `left_constant` and `right_constant` are at odd addresses. */
static void run(case_t *c, const shapes_t *shapes, berth_tensor_type_t type, const void *left,
                const void *right, const float *scales, const int32_t *zeros, bool constant,
                berth_tensor_type_t result) {
  case_input(c, type, shapes->left_rank, shapes->left, left, scales[0], zeros[0]);
  if (constant)
    case_constant(c, type, shapes->right_rank, shapes->right, right, scales[1], zeros[1]);
  else
    case_input(c, type, shapes->right_rank, shapes->right, right, scales[1], zeros[1]);
  case_output(c, result, scales[2], zeros[2]);
  assert_int_equal(case_run(c), BERTH_OK);
  assert_int_equal(c->contract.kind, BERTH_ROW_LOCAL);
}

static const float no_scales[3] = {0};
static const int32_t no_zeros[3] = {0};

/* ---- Float ---------------------------------------------------------------------------------- */

typedef double (*real_t)(double a, double b);

static double real_add(double a, double b) {
  return a + b;
}
static double real_sub(double a, double b) {
  return a - b;
}
static double real_mul(double a, double b) {
  return a * b;
}
static double real_div(double a, double b) {
  return a / b;
}
static double real_min(double a, double b) {
  return a < b ? a : b;
}
static double real_max(double a, double b) {
  return a > b ? a : b;
}
static double real_difference(double a, double b) {
  return (a - b) * (a - b);
}
static double real_floor_div(double a, double b) {
  return floor(a / b);
}
static double real_floor_mod(double a, double b) {
  return a - b * floor(a / b);
}
static double real_pow(double a, double b) {
  return pow(a, b);
}

static void check_float(const berth_kernel_t *kernel, real_t real, float low, uint32_t activation) {
  float left[256], right[256];
  double expected[256];
  for (size_t s = 0; s < SHAPES; s++) {
    const shapes_t *shapes = &all_shapes[s];
    case_t c;
    case_random_floats(left, 256, 4, 17 + (uint32_t)s);
    case_random_floats(right, 256, 4, 91 + (uint32_t)s);
    for (uint32_t i = 0; i < 256; i++) {
      if (left[i] < low) left[i] = low - left[i];
      if (fabsf(right[i]) < 0.25f) right[i] += 1;
    }
    case_begin(&c, kernel);
    case_option_byte(&c, 0, (int32_t)activation);
    run(&c, shapes, BERTH_TYPE_FLOAT32, left, right, no_scales, no_zeros, s % 2 == 0,
        BERTH_TYPE_FLOAT32);
    berth_value_t result = case_result(&c, 0);
    for (uint32_t i = 0; i < result.elements; i++) {
      double a =
          (double)left[operand(i, result.rank, result.dims, shapes->left_rank, shapes->left)];
      double b =
          (double)right[operand(i, result.rank, result.dims, shapes->right_rank, shapes->right)];
      expected[i] = real(a, b);
      if (activation == BERTH_ACTIVATION_RELU6) expected[i] = fmin(fmax(expected[i], 0), 6);
    }
    case_expect_floats(result.data, expected, result.elements);
    case_end(&c);
  }
}

static void float_arithmetic_broadcasts(void **state) {
  (void)state;
  check_float(&berth_kernel_add, real_add, -9, BERTH_ACTIVATION_NONE);
  check_float(&berth_kernel_add, real_add, -9, BERTH_ACTIVATION_RELU6);
  check_float(&berth_kernel_sub, real_sub, -9, BERTH_ACTIVATION_RELU6);
  check_float(&berth_kernel_mul, real_mul, -9, BERTH_ACTIVATION_RELU6);
  check_float(&berth_kernel_div, real_div, -9, BERTH_ACTIVATION_RELU6);
  check_float(&berth_kernel_minimum, real_min, -9, BERTH_ACTIVATION_NONE);
  check_float(&berth_kernel_maximum, real_max, -9, BERTH_ACTIVATION_NONE);
  check_float(&berth_kernel_squared_difference, real_difference, -9, BERTH_ACTIVATION_NONE);
  check_float(&berth_kernel_floor_div, real_floor_div, -9, BERTH_ACTIVATION_NONE);
  check_float(&berth_kernel_floor_mod, real_floor_mod, -9, BERTH_ACTIVATION_NONE);
  check_float(&berth_kernel_pow, real_pow, 0, BERTH_ACTIVATION_NONE);
}

/* A constant of float16 gives what the same numbers as float32 give. */
static void check_half(const berth_kernel_t *kernel) {
  float left[256], right[256];
  uint16_t halves[256];
  for (size_t s = 0; s < SHAPES; s++) {
    const shapes_t *shapes = &all_shapes[s];
    uint32_t seed = 5 + (uint32_t)s;
    case_random_floats(left, 256, 4, seed);
    for (uint32_t i = 0; i < 256;
         i++) { /* 1 to 4 in steps of 2^-9 and 2^-10, and less than 2^-14 */
      uint32_t random = case_random(&seed), fraction = random & 0x3ffu;
      uint32_t exponent = random % 9 == 0 ? 0 : 15 + (random >> 20 & 1);
      halves[i] = (uint16_t)((random >> 16 & 0x8000u) | exponent << 10 | fraction);
      right[i] = exponent == 0 ? ldexpf((float)fraction, -24)
                               : ldexpf(1024.0f + (float)fraction, (int)exponent - 25);
      if (halves[i] & 0x8000u) right[i] = -right[i];
    }
    case_t whole, half;
    case_begin(&whole, kernel);
    run(&whole, shapes, BERTH_TYPE_FLOAT32, left, right, no_scales, no_zeros, true,
        BERTH_TYPE_FLOAT32);
    case_begin(&half, kernel);
    case_input(&half, BERTH_TYPE_FLOAT32, shapes->left_rank, shapes->left, left, 0, 0);
    case_constant(&half, BERTH_TYPE_FLOAT16, shapes->right_rank, shapes->right, halves, 0, 0);
    case_output(&half, BERTH_TYPE_FLOAT32, 0, 0);
    assert_int_equal(case_run(&half), BERTH_OK);
    assert_memory_equal(case_result(&half, 0).data, case_result(&whole, 0).data,
                        case_result(&whole, 0).bytes);
    case_end(&whole);
    case_end(&half);
  }
}

static void float16_constants_are_taken_as_they_are(void **state) {
  (void)state;
  check_half(&berth_kernel_add);
  check_half(&berth_kernel_sub);
  check_half(&berth_kernel_mul);
  check_half(&berth_kernel_div);
  check_half(&berth_kernel_minimum);
  check_half(&berth_kernel_maximum);
  check_half(&berth_kernel_squared_difference);
  check_half(&berth_kernel_prelu);
}

/* ---- Integers ------------------------------------------------------------------------------- */

static void check_int32(const berth_kernel_t *kernel, real_t real) {
  int32_t left[256], right[256];
  uint32_t seed = 77;
  for (size_t s = 0; s < SHAPES; s++) {
    const shapes_t *shapes = &all_shapes[s];
    case_t c;
    for (uint32_t i = 0; i < 256; i++) {
      left[i] = (int32_t)(case_random(&seed) % 20001) - 10000;
      right[i] = (int32_t)(case_random(&seed) % 201) - 100;
      if (right[i] == 0) right[i] = 1;
    }
    case_begin(&c, kernel);
    run(&c, shapes, BERTH_TYPE_INT32, left, right, no_scales, no_zeros, s % 2 == 1,
        BERTH_TYPE_INT32);
    berth_value_t result = case_result(&c, 0);
    for (uint32_t i = 0; i < result.elements; i++) {
      double a = left[operand(i, result.rank, result.dims, shapes->left_rank, shapes->left)];
      double b = right[operand(i, result.rank, result.dims, shapes->right_rank, shapes->right)];
      int32_t number;
      memcpy(&number, result.data + 4 * i, 4);
      assert_int_equal(number, (int32_t)real(a, b));
    }
    case_end(&c);
  }
}

static void int32_arithmetic_broadcasts(void **state) {
  (void)state;
  check_int32(&berth_kernel_add, real_add);
  check_int32(&berth_kernel_sub, real_sub);
  check_int32(&berth_kernel_mul, real_mul);
  check_int32(&berth_kernel_div, real_div);
  check_int32(&berth_kernel_minimum, real_min);
  check_int32(&berth_kernel_maximum, real_max);
  check_int32(&berth_kernel_squared_difference, real_difference);
  check_int32(&berth_kernel_floor_div, real_floor_div);
  check_int32(&berth_kernel_floor_mod, real_floor_mod);
}

static void two_int32(case_t *c, const berth_kernel_t *kernel, int32_t a, int32_t b) {
  case_begin(c, kernel);
  case_input(c, BERTH_TYPE_INT32, 0, NULL, &a, 0, 0);
  case_input(c, BERTH_TYPE_INT32, 0, NULL, &b, 0, 0);
  case_output(c, BERTH_TYPE_INT32, 0, 0);
}

static void what_integers_cannot_do_is_refused(void **state) {
  (void)state;
  case_t c;
  two_int32(&c, &berth_kernel_div, 3, 0);
  case_refused(&c);
  two_int32(&c, &berth_kernel_floor_div, 3, 0);
  case_refused(&c);
  two_int32(&c, &berth_kernel_floor_mod, 3, 0);
  case_refused(&c);
  two_int32(&c, &berth_kernel_pow, 3, -1);
  case_refused(&c);
}

static void the_least_integer_wraps(void **state) {
  (void)state;
  case_t c;
  const berth_kernel_t *kernels[] = {&berth_kernel_div, &berth_kernel_floor_div};
  for (uint32_t i = 0; i < 2; i++) {
    two_int32(&c, kernels[i], INT32_MIN, -1);
    assert_int_equal(case_run(&c), BERTH_OK);
    assert_memory_equal(case_result(&c, 0).data, &(int32_t){INT32_MIN}, 4);
    case_end(&c);
  }
  two_int32(&c, &berth_kernel_pow, -3, 5);
  assert_int_equal(case_run(&c), BERTH_OK);
  assert_memory_equal(case_result(&c, 0).data, &(int32_t){-243}, 4);
  case_end(&c);
}

/* ---- Quantized ------------------------------------------------------------------------------ */

/* x / 2^bits, rounded to nearest, ties away from zero or upwards. */
static int64_t divide_away(int64_t x, int bits) {
  int64_t half = INT64_C(1) << bits >> 1, unit = INT64_C(1) << bits;
  return x >= 0 ? (x + half) / unit : -((-x + half) / unit);
}

static int64_t divide_up(int64_t x, int bits) {
  int64_t unit = INT64_C(1) << bits, moved = x + unit / 2;
  return moved / unit - (moved % unit < 0 ? 1 : 0);
}

/* x times a real factor in the two roundings of a 31-bit multiplier. */
static int64_t apply(int64_t x, double factor) {
  int shift;
  int64_t multiplier = llround(ldexp(frexp(factor, &shift), 31));
  if (shift > 0) x *= INT64_C(1) << shift;
  return divide_away(divide_up(x * multiplier, 31), shift > 0 ? 0 : -shift);
}

typedef int64_t (*quantized_t)(int64_t a, int64_t b, const float *scales, int bits);

/* Only a sum's factors are divided in double precision (TFLM), a difference's are in float. */
static int64_t quantized_sum(int64_t a, int64_t b, const float *scales, int sign, int bits) {
  float larger = 2 * fmaxf(scales[0], scales[1]);
  if (sign < 0) {
    a = apply(a * (INT64_C(1) << bits), (double)(scales[0] / larger));
    b = apply(b * (INT64_C(1) << bits), (double)(scales[1] / larger));
    return apply(a - b, (double)(larger / (ldexpf(1, bits) * scales[2])));
  }
  double common = (double)larger;
  a = apply(a * (INT64_C(1) << bits), (double)scales[0] / common);
  b = apply(b * (INT64_C(1) << bits), (double)scales[1] / common);
  return apply(a + b, common / (ldexp(1, bits) * (double)scales[2]));
}

static int64_t quantized_add(int64_t a, int64_t b, const float *scales, int bits) {
  return quantized_sum(a, b, scales, 1, bits == 16 ? 15 : 20);
}

static int64_t quantized_sub(int64_t a, int64_t b, const float *scales, int bits) {
  return quantized_sum(a, b, scales, -1, bits == 16 ? 15 : 20);
}

static int64_t quantized_mul(int64_t a, int64_t b, const float *scales, int bits) {
  (void)bits;
  return apply(a * b, (double)scales[0] * (double)scales[1] / (double)scales[2]);
}

static int64_t quantized_difference(int64_t a, int64_t b, const float *scales, int bits) {
  double common = 2 * fmax((double)scales[0], (double)scales[1]);
  int guard = bits == 16 ? 0 : 7;
  int64_t d = apply(a * (1 << guard), (double)scales[0] / common) -
              apply(b * (1 << guard), (double)scales[1] / common);
  return apply(d * d, common * common / (ldexp(1, 2 * guard) * (double)scales[2]));
}

static int64_t load(const void *data, berth_tensor_type_t type, uint32_t i) {
  int16_t wide;
  if (type == BERTH_TYPE_INT8) return ((const int8_t *)data)[i];
  if (type == BERTH_TYPE_UINT8) return ((const uint8_t *)data)[i];
  memcpy(&wide, (const uint8_t *)data + 2 * i, 2);
  return wide;
}

static void check_quantized(const berth_kernel_t *kernel, quantized_t function,
                            berth_tensor_type_t type, int32_t activation) {
  static const float scales[][3] = {
      {0.1f, 0.1f, 0.1f}, {0.0235f, 0.0078f, 0.031f}, {0.003f, 0.9f, 1.3f}, {0.5f, 0.02f, 0.35f}};
  int32_t low = type == BERTH_TYPE_INT8 ? -128 : type == BERTH_TYPE_UINT8 ? 0 : -32768;
  int32_t high = type == BERTH_TYPE_INT8 ? 127 : type == BERTH_TYPE_UINT8 ? 255 : 32767;
  uint8_t left[512], right[512];
  for (size_t s = 0; s < SHAPES * 4; s++) {
    const shapes_t *shapes = &all_shapes[s / 4];
    const float *scale = scales[s % 4];
    int32_t middle = type == BERTH_TYPE_UINT8 ? 128 : 0;
    int32_t zeros[3] = {middle - 5, middle + 100, middle - 30};
    if (type == BERTH_TYPE_INT16) zeros[0] = zeros[1] = zeros[2] = 0;
    case_t c;
    case_random_bytes(left, sizeof left, 5 + (uint32_t)s);
    case_random_bytes(right, sizeof right, 50 + (uint32_t)s);
    case_begin(&c, kernel);
    case_option_byte(&c, 0, activation);
    run(&c, shapes, type, left, right, scale, zeros, s % 3 == 0, type);
    int32_t min = low, max = high;
    if (activation == BERTH_ACTIVATION_RELU6) {
      int64_t six = llround(6.0 / (double)scale[2]) + zeros[2];
      min = zeros[2];
      max = six < high ? (int32_t)six : high;
    }
    berth_value_t result = case_result(&c, 0);
    for (uint32_t i = 0; i < result.elements; i++) {
      uint32_t a = operand(i, result.rank, result.dims, shapes->left_rank, shapes->left);
      uint32_t b = operand(i, result.rank, result.dims, shapes->right_rank, shapes->right);
      int64_t expected = function(load(left, type, a) - zeros[0], load(right, type, b) - zeros[1],
                                  scale, type == BERTH_TYPE_INT16 ? 16 : 8) +
                         zeros[2];
      expected = expected < min ? min : expected > max ? max : expected;
      assert_int_equal(load(result.data, type, i), expected);
    }
    case_end(&c);
  }
}

static void quantized_arithmetic_rounds_as_the_reference(void **state) {
  (void)state;
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT8, BERTH_TYPE_UINT8, BERTH_TYPE_INT16};
  for (uint32_t t = 0; t < 3; t++) {
    for (int32_t activation = 0; activation <= 3; activation += 3) {
      check_quantized(&berth_kernel_add, quantized_add, types[t], activation);
      if (types[t] != BERTH_TYPE_UINT8) /* TFLite's alone, whose factors are doubles */
        check_quantized(&berth_kernel_sub, quantized_sub, types[t], activation);
      check_quantized(&berth_kernel_mul, quantized_mul, types[t], activation);
    }
    if (types[t] != BERTH_TYPE_INT16)
      check_quantized(&berth_kernel_squared_difference, quantized_difference, types[t], 0);
  }
}

static void scales_that_make_no_sense_are_refused(void **state) {
  (void)state;
  static const float wrong[][3] = {
      {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {INFINITY, 1, 1}, {1, 1, 1e-30f}};
  for (uint32_t i = 0; i < 10; i++) {
    case_t c;
    case_begin(&c, i < 5 ? &berth_kernel_add : &berth_kernel_mul);
    case_input(&c, BERTH_TYPE_INT8, 0, NULL, &(int8_t){1}, wrong[i % 5][0], 0);
    case_input(&c, BERTH_TYPE_INT8, 0, NULL, &(int8_t){1}, wrong[i % 5][1], 0);
    case_output(&c, BERTH_TYPE_INT8, wrong[i % 5][2], 0);
    case_refused(&c);
  }
  case_t c;
  case_begin(&c, &berth_kernel_add);
  case_input(&c, BERTH_TYPE_INT8, 0, NULL, &(int8_t){1}, 1, 1000);
  case_input(&c, BERTH_TYPE_INT8, 0, NULL, &(int8_t){1}, 1, 0);
  case_output(&c, BERTH_TYPE_INT8, 1, 0);
  case_refused(&c);
}

static void shapes_that_cannot_be_broadcast_are_refused(void **state) {
  (void)state;
  case_t c;
  float data[6] = {0};
  case_begin(&c, &berth_kernel_add);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){3, 2}, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  case_refused(&c);
  case_begin(&c, &berth_kernel_add);
  case_input(&c, BERTH_TYPE_FLOAT32, 2, (int32_t[]){2, 3}, data, 0, 0);
  case_output(&c, BERTH_TYPE_FLOAT32, 0, 0);
  case_refused(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(float_arithmetic_broadcasts),
      cmocka_unit_test(float16_constants_are_taken_as_they_are),
      cmocka_unit_test(int32_arithmetic_broadcasts),
      cmocka_unit_test(what_integers_cannot_do_is_refused),
      cmocka_unit_test(the_least_integer_wraps),
      cmocka_unit_test(quantized_arithmetic_rounds_as_the_reference),
      cmocka_unit_test(scales_that_make_no_sense_are_refused),
      cmocka_unit_test(shapes_that_cannot_be_broadcast_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
