/* Smooth and elementary functions of one input: LOGISTIC, TANH, HARD_SWISH, ELU, GELU, EXP, LOG,
 * SQRT, RSQRT, SQUARE, ABS, NEG, SIGN, FLOOR, CEIL, ROUND, SIN and COS.
 *
 * An 8-bit function has 256 results. Where the tensor is larger than that they are kept as a table
 * in workspace, which init fills and which is stored once for equal operators; smaller tensors are
 * computed directly. int8 LOGISTIC and TANH are TFLM's fixed-point ones, uint8 ones are rounded
 * from floats, as TFLite's tables are (it alone runs uint8 models).
 */
#include "operators/elementwise.h"
#include "operators/fixed_functions.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/sigmoid_table.h"

/* ---- Quantized functions -------------------------------------------------------------------- */

typedef struct function {
  berth_builtin_t code;
  berth_tensor_type_t type;
  int32_t input_zero, output_zero;
  float input_scale, output_scale;
  berth_multiplier_t input;    /* LOGISTIC, TANH: to Q4.27; HARD_SWISH: to the reluish scale */
  berth_multiplier_t output;   /* HARD_SWISH, ABS */
  int32_t radius;              /* LOGISTIC, TANH: beyond it the result is saturated */
  berth_sigmoid_scale_t scale; /* int16 LOGISTIC, TANH */
  const uint8_t *table;        /* 8-bit results by the input's bits */
  bool approximate;            /* GELU: with tanh */
} function_t;

static function_t parameters(const berth_call_t *call, const berth_value_t *input,
                             const berth_value_t *output) {
  function_t f = {.code = call->op.code,
                  .type = input->type,
                  .input_zero = input->zero_point,
                  .output_zero = output->zero_point,
                  .input_scale = input->scale,
                  .output_scale = output->scale,
                  .approximate = call->op.code == BERTH_BUILTIN_GELU &&
                                 berth_option_byte(call->op.options, BERTH_GELU_APPROXIMATE, 0)};
  if (!berth_is_quantized_type(input->type)) return f;
  if (f.code == BERTH_BUILTIN_HARD_SWISH) {
    float fine_scale = (1.0f / 128.0f) * input->scale;
    f.output = berth_quantize_multiplier((double)(fine_scale / output->scale));
    f.input = berth_quantize_multiplier((double)(fine_scale / (3.0f / 32768.0f)));
  } else if (f.code == BERTH_BUILTIN_ABS) {
    f.output = berth_quantize_multiplier((double)input->scale / (double)output->scale);
  } else if (f.type == BERTH_TYPE_INT16) {
    f.scale = berth_sigmoid_scale(input->scale, f.code == BERTH_BUILTIN_TANH ? 1 : 0);
  } else {
    f.input = berth_quantize_multiplier((double)input->scale * (double)(1 << 27));
    f.radius = berth_input_radius(4, f.input.shift);
  }
  return f;
}

/* int8 LOGISTIC and TANH. */
static int32_t saturating(const function_t *f, int32_t x) {
  int32_t centred = x - f->input_zero;
  if (centred <= -f->radius) return INT8_MIN;
  if (centred >= f->radius) return INT8_MAX;
  int32_t q4 = berth_multiply(centred, f->input);
  int32_t result = f->code == BERTH_BUILTIN_LOGISTIC
                       ? berth_divide_by_power(berth_logistic_fixed(q4), 23) - 128
                       : berth_divide_by_power(berth_tanh_fixed(q4), 24);
  return berth_clamp(result, INT8_MIN, INT8_MAX);
}

/* The 16 high bits of a 32-bit multiplier, rounded. */
static int32_t halve(int32_t multiplier) {
  return multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX : (multiplier + (1 << 15)) >> 16;
}

static int32_t saturate16(int32_t x) {
  return berth_clamp(x, INT16_MIN, INT16_MAX);
}

/* round(a x b / 2^15), as gemmlowp's 16-bit high multiplication rounds: ties away from zero. */
static int32_t multiply_high16(int32_t a, int32_t b) {
  if (a == INT16_MIN && b == INT16_MIN) return INT16_MAX;
  int32_t product = a * b;
  return (product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15);
}

/* x times relu6(x + 3) / 6 in 16-bit steps; see TFLite's reference kernel for why each is so. */
static int32_t hard_swish(const function_t *f, int32_t x) {
  int32_t fine = (x - f->input_zero) * (1 << 7);
  int32_t value = multiply_high16(fine, halve(f->output.multiplier));
  int32_t reluish = fine, exponent = f->input.shift; /* [-3, 3] as [-2^15, 2^15) */
  if (exponent > 0) {
    int64_t shifted = (int64_t)reluish * (INT64_C(1) << (exponent - 1));
    reluish = shifted > INT16_MAX ? INT16_MAX : shifted < INT16_MIN ? INT16_MIN : (int32_t)shifted;
  }
  reluish = multiply_high16(reluish, halve(f->input.multiplier));
  if (exponent > 0) reluish = saturate16(reluish * 2);
  if (exponent < 0) reluish = berth_divide_by_power(reluish, -exponent);
  reluish = (reluish + (1 << 15)) >> 1; /* [0, 1] */
  int32_t product = reluish * value / (1 << 15);
  int32_t result = berth_divide_by_power(product, -f->output.shift) + f->output_zero;
  return berth_clamp(result, berth_type_min(f->type), berth_type_max(f->type));
}

/* x times the normal distribution function (Hendrycks & Gimpel, 2016), and an approximation of it.
 */
static inline float gelu(float x) {
  return 0.5f * x * erfcf(x * -0.70710678f);
}
static inline float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + berth_tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

/* Rounded from the real function. */
static int32_t from_real(const function_t *f, int32_t x) {
  float real = f->input_scale * (float)(x - f->input_zero);
  float result = f->code == BERTH_BUILTIN_LOGISTIC ? berth_logistic(real)
                 : f->code == BERTH_BUILTIN_TANH   ? berth_tanh(real)
                 : f->code == BERTH_BUILTIN_ELU    ? (real < 0.0f ? expm1f(real) : real)
                                                   : sqrtf(real);
  if (f->code == BERTH_BUILTIN_RSQRT) result = 1.0f / result;
  if (f->code == BERTH_BUILTIN_EXP) result = berth_exp(real);
  if (f->code == BERTH_BUILTIN_LOG) result = logf(real);
  if (f->code == BERTH_BUILTIN_GELU) result = f->approximate ? gelu_tanh(real) : gelu(real);
  float rounded = roundf(result * (1.0f / f->output_scale)) + (float)f->output_zero;
  float min = (float)berth_type_min(f->type), max = (float)berth_type_max(f->type);
  return (int32_t)(rounded > min ? rounded < max ? rounded : max : min);
}

static int32_t apply(const function_t *f, int32_t x) {
  if (f->code == BERTH_BUILTIN_HARD_SWISH) return hard_swish(f, x);
  if (f->code == BERTH_BUILTIN_ABS) {
    int32_t size = x < f->input_zero ? f->input_zero - x : x - f->input_zero;
    int64_t moved = (int64_t)berth_multiply(size, f->output) + f->output_zero;
    int32_t max = berth_type_max(f->type);
    return moved > max ? max : (int32_t)moved;
  }
  bool fixed = f->code == BERTH_BUILTIN_LOGISTIC || f->code == BERTH_BUILTIN_TANH;
  return fixed && f->type == BERTH_TYPE_INT8 ? saturating(f, x) : from_real(f, x);
}

/* ---- Preparation ---------------------------------------------------------------------------- */

#define TABLE_BYTES 256u

static bool has_fixed_output(berth_builtin_t code) {
  return code == BERTH_BUILTIN_LOGISTIC || code == BERTH_BUILTIN_TANH;
}

/* Do the scales suit the function? NULL, or what is wrong. */
static const char *check(const berth_call_t *call, const berth_value_t *input,
                         const berth_value_t *output) {
  if (!berth_has_scale(input) || !berth_has_scale(output)) return "needs scales and zero points";
  function_t f = parameters(call, input, output);
  if (f.code == BERTH_BUILTIN_HARD_SWISH &&
      (f.output.shift > 0 || f.input.shift > BERTH_SHIFT_MAX || f.input.shift < -15))
    return "a scale is out of range";
  if (f.code == BERTH_BUILTIN_ABS && f.output.shift > 8) return "the output's scale is too small";
  if (!has_fixed_output(f.code)) return NULL;
  bool tanh = f.code == BERTH_BUILTIN_TANH;
  if (input->type == BERTH_TYPE_INT16) {
    if (input->zero_point != 0 || output->zero_point != 0) return "the zero points must be 0";
    if (fabsf(output->scale * 32768.0f - 1.0f) > 1e-3f) return "the output's scale must be 2^-15";
  } else if (input->type == BERTH_TYPE_INT8) {
    if (fabsf(output->scale * (tanh ? 128.0f : 256.0f) - 1.0f) > 1e-3f ||
        output->zero_point != (tanh ? 0 : -128))
      return "the output's scale or zero point is not what the function has";
    if (f.input.shift > BERTH_SHIFT_MAX) return "the input's scale is too large";
  }
  return NULL;
}

static bool takes(berth_builtin_t code, berth_tensor_type_t type) {
  if (type == BERTH_TYPE_FLOAT32) return true;
  bool eight = type == BERTH_TYPE_INT8 || type == BERTH_TYPE_UINT8;
  switch (code) {
  case BERTH_BUILTIN_LOGISTIC:
  case BERTH_BUILTIN_TANH:
    return eight || type == BERTH_TYPE_INT16;
  case BERTH_BUILTIN_ABS:
    return eight || type == BERTH_TYPE_INT16 || type == BERTH_TYPE_INT32;
  case BERTH_BUILTIN_HARD_SWISH:
  case BERTH_BUILTIN_GELU:
    return eight;
  case BERTH_BUILTIN_ELU:
  case BERTH_BUILTIN_EXP:
  case BERTH_BUILTIN_LOG:
  case BERTH_BUILTIN_RSQRT:
  case BERTH_BUILTIN_SQRT:
    return type == BERTH_TYPE_INT8;
  case BERTH_BUILTIN_NEG:
    return type == BERTH_TYPE_INT32 || type == BERTH_TYPE_INT64;
  default:
    return false;
  }
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input, output = berth_output(call, 0);
  berth_status_t status = berth_elementwise_same_type(call, contract, &input, 1);
  if (status != BERTH_OK) return status;
  if (!takes(call->op.code, input.type)) return berth_refuse(call, "cannot take this type");
  if (!berth_is_quantized_type(input.type)) return BERTH_OK;
  const char *wrong = check(call, &input, &output);
  if (wrong != NULL) return berth_refuse(call, wrong);
  if (berth_tensor_type_bits(input.type) == 8 && input.elements > TABLE_BYTES)
    contract->workspace = TABLE_BYTES;
  return BERTH_OK;
}

static int32_t element_of_bits(const function_t *f, uint32_t bits) {
  return f->type == BERTH_TYPE_INT8 ? (int8_t)bits : (int32_t)bits;
}

static berth_status_t init(berth_call_t *call) {
  if (call->workspace == NULL) return BERTH_OK;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  function_t f = parameters(call, &input, &output);
  uint8_t *table = call->workspace;
  for (uint32_t bits = 0; bits < TABLE_BYTES; bits++)
    table[bits] = (uint8_t)apply(&f, element_of_bits(&f, bits));
  return BERTH_OK;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static void run_table(BERTH_RUN_PARAMETERS) {
  const function_t *f = params;
  const uint8_t *table = f->table;
  BERTH_UNARY_RUN(uint8_t, uint8_t, table[x])
}

static void run_direct(BERTH_RUN_PARAMETERS) {
  const function_t *f = params;
  BERTH_UNARY_RUN(uint8_t, uint8_t, apply(f, element_of_bits(f, x)))
}

static void run_int16(BERTH_RUN_PARAMETERS) {
  const function_t *f = params;
  if (f->code == BERTH_BUILTIN_ABS) {
    BERTH_UNARY_RUN(int16_t, int16_t, apply(f, x))
  } else if (f->code == BERTH_BUILTIN_LOGISTIC) {
    BERTH_UNARY_RUN(int16_t, int16_t, berth_logistic_int16(x, f->scale))
  } else {
    BERTH_UNARY_RUN(int16_t, int16_t, berth_tanh_int16(x, f->scale))
  }
}

/* To the nearest integer, ties to the even one, as stock ROUND has it. */
static inline float round_even(float x) {
  float whole = floorf(x), rest = x - whole;
  float even = floorf(whole * 0.5f) * 2.0f;
  bool up = rest > 0.5f || (!(rest < 0.5f) && even < whole);
  return up ? whole + 1.0f : whole;
}

static inline float clamp_swish(float x) {
  float relu6 = x + 3.0f;
  relu6 = relu6 < 0.0f ? 0.0f : relu6;
  relu6 = relu6 > 6.0f ? 6.0f : relu6;
  return x * relu6 / 6.0f;
}

#define FLOAT(name, expression) BERTH_RUN(name, BERTH_UNARY_RUN(float, float, expression))
FLOAT(run_abs, fabsf(x))
FLOAT(run_ceil, ceilf(x))
FLOAT(run_cos, cosf(x))
FLOAT(run_elu, x < 0.0f ? expm1f(x) : x)
FLOAT(run_exp, berth_exp(x))
FLOAT(run_floor, floorf(x))
FLOAT(run_gelu, gelu(x))
FLOAT(run_gelu_tanh, gelu_tanh(x))
FLOAT(run_hard_swish, clamp_swish(x))
FLOAT(run_log, logf(x))
FLOAT(run_logistic, berth_logistic(x))
FLOAT(run_neg, -x)
FLOAT(run_round, round_even(x))
FLOAT(run_rsqrt, 1.0f / sqrtf(x))
FLOAT(run_sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x)
FLOAT(run_sin, sinf(x))
FLOAT(run_sqrt, sqrtf(x))
FLOAT(run_square, x *x)
FLOAT(run_tanh, berth_tanh(x))
BERTH_RUN(run_abs_int32, BERTH_UNARY_RUN(uint32_t, uint32_t, x >> 31 ? 0 - x : x))
BERTH_RUN(run_neg_int32, BERTH_UNARY_RUN(uint32_t, uint32_t, 0 - x))
BERTH_RUN(run_neg_int64, BERTH_UNARY_RUN(uint64_t, uint64_t, 0 - x))

static berth_run_t pick_float(const berth_call_t *call, const function_t *f) {
  switch (call->op.code) {
  case BERTH_BUILTIN_ABS:
    return BERTH_RUN_FOR(call, run_abs);
  case BERTH_BUILTIN_CEIL:
    return BERTH_RUN_FOR(call, run_ceil);
  case BERTH_BUILTIN_COS:
    return BERTH_RUN_FOR(call, run_cos);
  case BERTH_BUILTIN_ELU:
    return BERTH_RUN_FOR(call, run_elu);
  case BERTH_BUILTIN_EXP:
    return BERTH_RUN_FOR(call, run_exp);
  case BERTH_BUILTIN_FLOOR:
    return BERTH_RUN_FOR(call, run_floor);
  case BERTH_BUILTIN_GELU:
    return f->approximate ? BERTH_RUN_FOR(call, run_gelu_tanh) : BERTH_RUN_FOR(call, run_gelu);
  case BERTH_BUILTIN_HARD_SWISH:
    return BERTH_RUN_FOR(call, run_hard_swish);
  case BERTH_BUILTIN_LOG:
    return BERTH_RUN_FOR(call, run_log);
  case BERTH_BUILTIN_LOGISTIC:
    return BERTH_RUN_FOR(call, run_logistic);
  case BERTH_BUILTIN_NEG:
    return BERTH_RUN_FOR(call, run_neg);
  case BERTH_BUILTIN_ROUND:
    return BERTH_RUN_FOR(call, run_round);
  case BERTH_BUILTIN_RSQRT:
    return BERTH_RUN_FOR(call, run_rsqrt);
  case BERTH_BUILTIN_SIGN:
    return BERTH_RUN_FOR(call, run_sign);
  case BERTH_BUILTIN_SIN:
    return BERTH_RUN_FOR(call, run_sin);
  case BERTH_BUILTIN_SQRT:
    return BERTH_RUN_FOR(call, run_sqrt);
  case BERTH_BUILTIN_SQUARE:
    return BERTH_RUN_FOR(call, run_square);
  default:
    return BERTH_RUN_FOR(call, run_tanh);
  }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  function_t f = parameters(call, &input, &output);
  f.table = call->workspace;
  berth_run_t run = pick_float(call, &f);
  if (input.type == BERTH_TYPE_INT8 || input.type == BERTH_TYPE_UINT8)
    run = f.table != NULL ? run_table : run_direct;
  if (input.type == BERTH_TYPE_INT16) run = run_int16;
  if (input.type == BERTH_TYPE_INT32)
    run = f.code == BERTH_BUILTIN_ABS ? BERTH_RUN_FOR(call, run_abs_int32)
                                      : BERTH_RUN_FOR(call, run_neg_int32);
  if (input.type == BERTH_TYPE_INT64) run = BERTH_RUN_FOR(call, run_neg_int64);
  berth_elementwise_eval(call, &input, 1, run, &f);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_abs = {
    .code = BERTH_BUILTIN_ABS, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_ceil = {
    .code = BERTH_BUILTIN_CEIL, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_cos = {
    .code = BERTH_BUILTIN_COS, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_elu = {
    .code = BERTH_BUILTIN_ELU, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_exp = {
    .code = BERTH_BUILTIN_EXP, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_floor = {
    .code = BERTH_BUILTIN_FLOOR, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_gelu = {
    .code = BERTH_BUILTIN_GELU, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_hard_swish = {
    .code = BERTH_BUILTIN_HARD_SWISH, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_log = {
    .code = BERTH_BUILTIN_LOG, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_logistic = {
    .code = BERTH_BUILTIN_LOGISTIC, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_neg = {
    .code = BERTH_BUILTIN_NEG, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_round = {
    .code = BERTH_BUILTIN_ROUND, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_rsqrt = {
    .code = BERTH_BUILTIN_RSQRT, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_sign = {
    .code = BERTH_BUILTIN_SIGN, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_sin = {
    .code = BERTH_BUILTIN_SIN, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_sqrt = {
    .code = BERTH_BUILTIN_SQRT, .prepare = prepare, .init = init, .eval = eval};
const berth_kernel_t berth_kernel_square = {
    .code = BERTH_BUILTIN_SQUARE, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_tanh = {
    .code = BERTH_BUILTIN_TANH, .prepare = prepare, .init = init, .eval = eval};
