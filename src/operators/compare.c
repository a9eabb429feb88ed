/* EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER and GREATER_EQUAL: comparisons, giving bools.
 *
 * Quantized numbers are compared as the reals they stand for, to 8 bits below the point: each is
 * multiplied by its own scale (TFLM's reference scheme). With equal scales and zero points that is
 * the order of the numbers themselves only down to that resolution, which is kept.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

#define GUARD 8

typedef struct comparison {
  int32_t left_zero, right_zero;
  berth_multiplier_t left, right;
} comparison_t;

static comparison_t parameters(const berth_value_t *inputs) {
  return (comparison_t){inputs[0].zero_point, inputs[1].zero_point,
                        berth_quantize_multiplier((double)inputs[0].scale),
                        berth_quantize_multiplier((double)inputs[1].scale)};
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_value_t output = berth_output(call, 0);
  if (!inputs[0].present || !inputs[1].present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (inputs[0].type != inputs[1].type) return berth_refuse(call, "the inputs' types differ");
  if (output.type != BERTH_TYPE_BOOL) return berth_refuse(call, "gives bool only");
  berth_tensor_type_t type = inputs[0].type;
  bool equality = call->op.code == BERTH_BUILTIN_EQUAL || call->op.code == BERTH_BUILTIN_NOT_EQUAL;
  if (berth_is_quantized_type(type)) {
    if (!berth_has_scale(&inputs[0]) || !berth_has_scale(&inputs[1]))
      return berth_refuse(call, "needs scales and zero points");
    comparison_t comparison = parameters(inputs);
    if (comparison.left.shift > 0 || comparison.right.shift > 0)
      return berth_refuse(call, "a scale is 1 or more");
  } else if (type != BERTH_TYPE_FLOAT32 && type != BERTH_TYPE_INT32 && type != BERTH_TYPE_INT64 &&
             !(equality && type == BERTH_TYPE_BOOL)) {
    return berth_refuse(call, "cannot take this type");
  }
  return berth_elementwise_prepare(call, contract, inputs, 2);
}

static inline int32_t scaled(int32_t x, int32_t zero, berth_multiplier_t by) {
  return berth_multiply_small((x - zero) * (1 << GUARD), by);
}

#define QUANTIZED(type, operation)                                                                 \
  const comparison_t c = *(const comparison_t *)params;                                            \
  BERTH_BINARY_RUN(type, uint8_t,                                                                  \
                   scaled(a, c.left_zero, c.left) operation scaled(b, c.right_zero, c.right))

#define ALL(name, operation)                                                                       \
  BERTH_RUN(name##_int8, QUANTIZED(int8_t, operation))                                             \
  BERTH_RUN(name##_uint8, QUANTIZED(uint8_t, operation))                                           \
  BERTH_RUN(name##_int16, QUANTIZED(int16_t, operation))                                           \
  BERTH_RUN(name##_int32, BERTH_BINARY_RUN(int32_t, uint8_t, a operation b))                       \
  BERTH_RUN(name##_int64, BERTH_BINARY_RUN(int64_t, uint8_t, a operation b))                       \
  BERTH_RUN(name##_float, BERTH_BINARY_RUN(float, uint8_t, a operation b))                         \
  static berth_run_t pick_##name(const berth_call_t *call, berth_tensor_type_t type) {             \
    return type == BERTH_TYPE_INT8    ? BERTH_RUN_FOR(call, name##_int8)                           \
           : type == BERTH_TYPE_UINT8 ? BERTH_RUN_FOR(call, name##_uint8)                          \
           : type == BERTH_TYPE_INT16 ? BERTH_RUN_FOR(call, name##_int16)                          \
           : type == BERTH_TYPE_INT32 ? BERTH_RUN_FOR(call, name##_int32)                          \
           : type == BERTH_TYPE_INT64 ? BERTH_RUN_FOR(call, name##_int64)                          \
                                      : BERTH_RUN_FOR(call, name##_float);                         \
  }

ALL(equal, ==)
ALL(not_equal, !=)
ALL(less, <)
ALL(less_equal, <=)
ALL(greater, >)
ALL(greater_equal, >=)
BERTH_RUN(equal_bool, BERTH_BINARY_RUN(uint8_t, uint8_t, (a != 0) == (b != 0)))
BERTH_RUN(not_equal_bool, BERTH_BINARY_RUN(uint8_t, uint8_t, (a != 0) != (b != 0)))

static berth_status_t eval(berth_call_t *call) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_tensor_type_t type = inputs[0].type;
  comparison_t comparison = {0};
  if (berth_is_quantized_type(type)) comparison = parameters(inputs);
  berth_run_t run;
  switch (call->op.code) {
  case BERTH_BUILTIN_EQUAL:
    run = type == BERTH_TYPE_BOOL ? BERTH_RUN_FOR(call, equal_bool) : pick_equal(call, type);
    break;
  case BERTH_BUILTIN_NOT_EQUAL:
    run =
        type == BERTH_TYPE_BOOL ? BERTH_RUN_FOR(call, not_equal_bool) : pick_not_equal(call, type);
    break;
  case BERTH_BUILTIN_LESS:
    run = pick_less(call, type);
    break;
  case BERTH_BUILTIN_LESS_EQUAL:
    run = pick_less_equal(call, type);
    break;
  case BERTH_BUILTIN_GREATER:
    run = pick_greater(call, type);
    break;
  default:
    run = pick_greater_equal(call, type);
    break;
  }
  berth_elementwise_eval(call, inputs, 2, run, &comparison);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_equal = {
    .code = BERTH_BUILTIN_EQUAL, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_greater = {
    .code = BERTH_BUILTIN_GREATER, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_greater_equal = {
    .code = BERTH_BUILTIN_GREATER_EQUAL, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_less = {
    .code = BERTH_BUILTIN_LESS, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_less_equal = {
    .code = BERTH_BUILTIN_LESS_EQUAL, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_not_equal = {
    .code = BERTH_BUILTIN_NOT_EQUAL, .prepare = prepare, .eval = eval};
