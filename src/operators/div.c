/* DIV, FLOOR_DIV, FLOOR_MOD and POW on float32 and int32.
 *
 * An integer division by zero, or an integer power below zero, makes eval refuse, as stock TFLite
 * does; the smallest integer divided by -1 wraps. 8-bit DIV isn't made by any converter of today.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

typedef struct quotient {
  float float_min, float_max;
  int32_t min, max;
  bool *undefined; /* set by a run that met what has no result */
} quotient_t;

static int32_t activation_of(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_DIV
             ? berth_option_byte(call->op.options, BERTH_DIV_ACTIVATION, 0)
             : BERTH_ACTIVATION_NONE;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[2];
  berth_status_t status = berth_elementwise_same_type(call, contract, inputs, 2);
  if (status != BERTH_OK) return status;
  berth_tensor_type_t type = berth_output(call, 0).type;
  if (type != BERTH_TYPE_FLOAT32 && type != BERTH_TYPE_INT32)
    return berth_refuse(call, "takes float32 and int32 only");
  if (activation_of(call) < BERTH_ACTIVATION_NONE || activation_of(call) > BERTH_ACTIVATION_RELU6)
    return berth_refuse(call, "cannot apply this activation");
  return BERTH_OK;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static inline float clamp_float(float x, float min, float max) {
  return x < min ? min : x > max ? max : x;
}

/* The quotient towards zero; 0 and a note where there is none. */
static inline int32_t divide(int32_t a, int32_t b, bool *undefined) {
  if (b == 0) {
    *undefined = true;
    return 0;
  }
  return b == -1 ? (int32_t)(0 - (uint32_t)a) : a / b;
}

static inline int32_t floor_divide(int32_t a, int32_t b, bool *undefined) {
  int32_t quotient = divide(a, b, undefined);
  bool inexact = b != 0 && b != -1 && a % b != 0;
  return inexact && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/* The remainder with the divisor's sign. */
static inline int32_t floor_modulo(int32_t a, int32_t b, bool *undefined) {
  if (b == 0) *undefined = true;
  if (b == 0 || b == -1) return 0;
  int32_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static inline float floor_modulo_float(float a, float b) {
  float rest = fmodf(a, b);
  return fabsf(rest) > 0.0f && (rest < 0.0f) != (b < 0.0f) ? rest + b : rest;
}

static inline int32_t power(int32_t a, int32_t b, bool *undefined) {
  if (b < 0) *undefined = true;
  uint32_t result = 1, base = (uint32_t)a;
  for (int32_t rest = b; rest > 0; rest >>= 1, base *= base)
    if (rest & 1) result *= base;
  return (int32_t)result;
}

#define DIV_FLOAT                                                                                  \
  const quotient_t *div = params;                                                                  \
  const float min = div->float_min, max = div->float_max;                                          \
  BERTH_BINARY_RUN(float, float, clamp_float(a / b, min, max))

#define INT32(function)                                                                            \
  const quotient_t div = *(const quotient_t *)params;                                              \
  bool undefined = false;                                                                          \
  BERTH_BINARY_RUN(int32_t, int32_t, berth_clamp(function(a, b, &undefined), div.min, div.max))    \
  if (undefined) *div.undefined = true;

BERTH_RUN(div_float, DIV_FLOAT)
BERTH_RUN(floor_div_float, BERTH_BINARY_RUN(float, float, floorf(a / b)))
BERTH_RUN(floor_mod_float, BERTH_BINARY_RUN(float, float, floor_modulo_float(a, b)))
BERTH_RUN(pow_float, BERTH_BINARY_RUN(float, float, powf(a, b)))
BERTH_RUN(div_int32, INT32(divide))
BERTH_RUN(floor_div_int32, INT32(floor_divide))
BERTH_RUN(floor_mod_int32, INT32(floor_modulo))
BERTH_RUN(pow_int32, INT32(power))

static berth_status_t eval(berth_call_t *call) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  bool undefined = false, real = berth_output(call, 0).type == BERTH_TYPE_FLOAT32;
  quotient_t div = {.undefined = &undefined};
  berth_activation_range_float(activation_of(call), &div.float_min, &div.float_max);
  div.min = div.float_min < -1.0f ? INT32_MIN : (int32_t)div.float_min;
  div.max = div.float_max > 6.0f ? INT32_MAX : (int32_t)div.float_max;
  berth_run_t run;
  switch (call->op.code) {
  case BERTH_BUILTIN_DIV:
    run = real ? BERTH_RUN_FOR(call, div_float) : BERTH_RUN_FOR(call, div_int32);
    break;
  case BERTH_BUILTIN_FLOOR_DIV:
    run = real ? BERTH_RUN_FOR(call, floor_div_float) : BERTH_RUN_FOR(call, floor_div_int32);
    break;
  case BERTH_BUILTIN_FLOOR_MOD:
    run = real ? BERTH_RUN_FOR(call, floor_mod_float) : BERTH_RUN_FOR(call, floor_mod_int32);
    break;
  default:
    run = real ? BERTH_RUN_FOR(call, pow_float) : BERTH_RUN_FOR(call, pow_int32);
    break;
  }
  berth_elementwise_eval(call, inputs, 2, run, &div);
  if (!undefined) return BERTH_OK;
  return berth_refuse(call, call->op.code == BERTH_BUILTIN_POW ? "an integer power is negative"
                                                               : "an integer is divided by zero");
}

const berth_kernel_t berth_kernel_div = {
    .code = BERTH_BUILTIN_DIV, .float16_inputs = 3, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_floor_div = {
    .code = BERTH_BUILTIN_FLOOR_DIV, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_floor_mod = {
    .code = BERTH_BUILTIN_FLOOR_MOD, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_pow = {
    .code = BERTH_BUILTIN_POW, .prepare = prepare, .eval = eval};
