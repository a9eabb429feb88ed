/* SOFTMAX and LOG_SOFTMAX, along the last dimension.
 *
 * int8 inputs are TFLM's fixed-point softmax, to int8 or int16; uint8 ones TFLite's, which
 * exponentiates floats (it alone runs uint8 models); int16 ones interpolate in two tables, which
 * lie in workspace. Quantized results need the output scale that stock runtimes demand: 1/256, or
 * 2^-16, or 2^-15.
 */
#include "operators/elementwise.h"
#include "operators/fixed_functions.h"
#include "operators/float_functions.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

#define INTEGER_BITS 5   /* of the exponent in fixed point */
#define SUM_BITS     12  /* integer bits of the sum of exponentials */
#define TABLE        513 /* entries of an int16 table: 512 and one to interpolate towards */

typedef struct softmax {
  float beta;
  float scale;                /* of the input */
  berth_multiplier_t factor;  /* of differences to the largest: to Q5.26, or to the int16 table */
  int32_t least_difference;   /* below it, the exponential counts as 0 */
  const int16_t *exponential; /* int16 tables */
  const int16_t *reciprocal;
} softmax_t;

static bool is_log(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_LOG_SOFTMAX;
}

static softmax_t parameters(const berth_call_t *call, const berth_value_t *input) {
  softmax_t s = {.beta = is_log(call) ? 1.0f
                                      : berth_option_float(call->op.options, BERTH_SOFTMAX_BETA, 0),
                 .scale = input->scale};
  if (input->type == BERTH_TYPE_INT16) {
    s.factor = berth_quantize_multiplier((double)input->scale * (double)s.beta / (10.0 / 65535.0));
    s.exponential = call->workspace;
    s.reciprocal = s.exponential == NULL ? NULL : s.exponential + TABLE;
  } else if (input->type == BERTH_TYPE_INT8) {
    double real = (double)s.beta * (double)input->scale * (double)(1 << (31 - INTEGER_BITS));
    s.factor = berth_quantize_multiplier(real < 2147483647.0 ? real : 2147483647.0);
    s.least_difference = -berth_input_radius(INTEGER_BITS, s.factor.shift);
  }
  return s;
}

static bool is_near(float scale, float wanted) {
  return fabsf(scale / wanted - 1.0f) <= 1e-3f;
}

/* Do the types and scales suit? NULL, or what is wrong. */
static const char *check(const berth_call_t *call, const berth_value_t *input,
                         const berth_value_t *output) {
  if (input->type == BERTH_TYPE_FLOAT32 && output->type == BERTH_TYPE_FLOAT32) return NULL;
  if (is_log(call) && input->type != BERTH_TYPE_INT8) return "cannot take this type";
  if (!berth_is_quantized_type(input->type)) return "cannot take this type";
  bool widens = input->type == BERTH_TYPE_INT8 && output->type == BERTH_TYPE_INT16 && !is_log(call);
  if (input->type != output->type && !widens) return "cannot give this type";
  if (!berth_has_scale(input) || !berth_has_scale(output)) return "needs scales and zero points";
  int32_t least = berth_type_min(output->type);
  if (is_log(call))
    return is_near(output->scale, 1.0f / 16) && output->zero_point == INT8_MAX
               ? NULL
               : "the output's scale must be 1/16, its zero point 127";
  if (output->zero_point != (input->type == BERTH_TYPE_INT16 ? 0 : least))
    return "the output's zero point is not what the function has";
  float wanted = input->type == BERTH_TYPE_INT16 ? 1.0f / 32768
                 : widens                        ? 1.0f / 65536
                                                 : 1.0f / 256;
  if (!is_near(output->scale, wanted)) return "the output's scale is not what the function has";
  softmax_t s = parameters(call, input);
  if (!(s.beta > 0.0f)) return "beta is not positive";
  if (s.factor.shift > BERTH_SHIFT_MAX + 1 ||
      (input->type == BERTH_TYPE_INT8 && s.factor.shift < 1))
    return "the input's scale is out of range";
  return NULL;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.rank == 0) return berth_refuse(call, "takes no scalar");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  const char *wrong = check(call, &input, &output);
  if (wrong != NULL) return berth_refuse(call, wrong);
  berth_contract_elementwise(contract);
  /* A line's largest element is read before the line is written, and each element once more right
   * before it is. */
  contract->in_place = input.type == output.type ? 1 : 0;
  if (input.type == BERTH_TYPE_INT16) {
    contract->workspace = 2 * TABLE * (uint32_t)sizeof(int16_t);
    contract->scratch[0] = (uint32_t)input.dims[input.rank - 1] * (uint32_t)sizeof(int16_t);
  }
  return berth_set_shape(call, 0, input.rank, input.dims);
}

/* ---- int16 tables --------------------------------------------------------------------------- */

static float exponential(float x) {
  return expf(x);
}
static float reciprocal(float x) {
  return 1.0f / (1.0f + x);
}

/* A function on [min, max] sampled at 513 points in Q0.15, each nudged by half the error that
 * linear interpolation makes in the middle of its interval (TFLite's gen_lut). */
static void fill_table(int16_t *table, float (*function)(float), float min, float max) {
  float step = (max - min) / (float)(TABLE - 1), half_step = step / 2.0f;
  for (uint32_t i = 0; i < TABLE - 1; i++) {
    float here = roundf(function(min + (float)i * step) * 32768.0f);
    float middle = function(min + (float)i * step + half_step) * 32768.0f;
    float next = function(min + (float)(i + 1) * step) * 32768.0f;
    float error = roundf((next + here) / 2.0f) - roundf(middle);
    float value = roundf(here - roundf(error / 2.0f));
    table[i] = (int16_t)fminf(fmaxf(value, -32768.0f), 32767.0f);
  }
  table[TABLE - 1] = (int16_t)fminf(fmaxf(roundf(function(max) * 32768.0f), -32768.0f), 32767.0f);
}

static berth_status_t init(berth_call_t *call) {
  if (call->workspace == NULL) return BERTH_OK;
  fill_table(call->workspace, exponential, -10.0f, 0.0f);
  fill_table((int16_t *)call->workspace + TABLE, reciprocal, 0.0f, 1.0f);
  return BERTH_OK;
}

static int16_t look_up(const int16_t *table, int32_t x) {
  uint32_t entry = (uint32_t)(256 + (x >> 7));
  int32_t slope = table[entry + 1] - table[entry];
  return (int16_t)(table[entry] + ((slope * (x & 0x7f) + 64) >> 7));
}

/* ---- One line ------------------------------------------------------------------------------- */

static void line_float(const softmax_t *s, const float *from, float *to, uint32_t depth) {
  float max = from[0], sum = 0;
  for (uint32_t i = 1; i < depth; i++) max = from[i] > max ? from[i] : max;
  BERTH_INDEPENDENT
  for (uint32_t i = 0; i < depth; i++) to[i] = berth_exp((from[i] - max) * s->beta);
  for (uint32_t i = 0; i < depth; i++) sum += to[i];
  BERTH_INDEPENDENT
  for (uint32_t i = 0; i < depth; i++) to[i] /= sum;
}

static void line_log(const float *from, float *to, uint32_t depth) {
  float max = from[0], sum = 0;
  for (uint32_t i = 1; i < depth; i++) max = from[i] > max ? from[i] : max;
  for (uint32_t i = 0; i < depth; i++) sum += berth_exp(from[i] - max);
  float log_sum = logf(sum);
  BERTH_INDEPENDENT
  for (uint32_t i = 0; i < depth; i++) to[i] = from[i] - max - log_sum;
}

/* int8: from floats, as stock TFLite's kernel does with a table of exponentials. */
static void line_log_int8(const softmax_t *s, const int8_t *from, int8_t *to, uint32_t depth) {
  int32_t max = INT8_MIN;
  float sum = 0;
  for (uint32_t i = 0; i < depth; i++) max = from[i] > max ? from[i] : max;
  for (uint32_t i = 0; i < depth; i++) sum += expf(s->scale * (float)(from[i] - max));
  float log_sum = logf(sum);
  for (uint32_t i = 0; i < depth; i++) {
    float real = s->scale * (float)(from[i] - max) - log_sum;
    to[i] = (int8_t)fmaxf(rintf(real * 16.0f) + 127.0f, -128.0f);
  }
}

static void line_uint8(const softmax_t *s, const uint8_t *from, uint8_t *to, uint32_t depth) {
  int32_t max = 0;
  float sum = 0, scale = -s->scale * s->beta;
  for (uint32_t i = 0; i < depth; i++) max = from[i] > max ? from[i] : max;
  for (uint32_t i = 0; i < depth; i++) sum += expf(scale * (float)(max - from[i]));
  float unit = 1.0f / (sum * (1.0f / 256.0f));
  for (uint32_t i = 0; i < depth; i++) {
    int32_t result = (int32_t)(expf(scale * (float)(max - from[i])) * unit + 0.5f);
    to[i] = (uint8_t)(result > 255 ? 255 : result);
  }
}

static int32_t exp_of_difference(const softmax_t *s, int32_t difference) {
  uint32_t shifted = (uint32_t)difference << s->factor.shift;
  return berth_exp_negative(berth_multiply_high((int32_t)shifted, s->factor.multiplier),
                            INTEGER_BITS);
}

static void line_int8(const softmax_t *s, const int8_t *from, void *to, uint32_t depth, bool wide) {
  int32_t max = INT8_MIN, sum = 0, exponent, least = wide ? INT16_MIN : INT8_MIN;
  for (uint32_t i = 0; i < depth; i++) max = from[i] > max ? from[i] : max;
  for (uint32_t i = 0; i < depth; i++)
    if (from[i] - max >= s->least_difference)
      sum = (int32_t)((uint32_t)sum + (uint32_t)berth_divide_by_power(
                                          exp_of_difference(s, from[i] - max), SUM_BITS));
  int32_t scale = berth_reciprocal_shifted(sum, SUM_BITS, &exponent);
  exponent += 31 - (wide ? 16 : 8);
  for (uint32_t i = 0; i < depth; i++) {
    int32_t result = least;
    if (from[i] - max >= s->least_difference) {
      int32_t product = berth_multiply_high(scale, exp_of_difference(s, from[i] - max));
      result = berth_clamp(berth_divide_by_power(product, exponent) + least, least, -least - 1);
    }
    if (wide)
      ((int16_t *)to)[i] = (int16_t)result;
    else
      ((int8_t *)to)[i] = (int8_t)result;
  }
}

/* `exponentials` has room for the line. */
static void line_int16(const softmax_t *s, const int16_t *from, int16_t *to, uint32_t depth,
                       int16_t *exponentials) {
  int32_t max = INT16_MIN, sum = 0, headroom = 0;
  for (uint32_t i = 0; i < depth; i++) max = from[i] > max ? from[i] : max;
  for (uint32_t i = 0; i < depth; i++) {
    int32_t scaled = berth_multiply(from[i] - max, s->factor);
    exponentials[i] = look_up(s->exponential, berth_clamp(scaled, -65535, 0) + 32767);
    sum = (int32_t)((uint32_t)sum + (uint32_t)exponentials[i]);
  }
  while (headroom < 30 && !((uint32_t)sum << headroom & 0x80000000u)) headroom++;
  if (headroom == 0) headroom = 1;
  int64_t normal = (((int64_t)sum * (INT64_C(1) << (headroom - 1))) + (1 << 13)) >> 14;
  int32_t x = (int32_t)normal - ((1 << 15) + (1 << 16));
  int32_t unit = look_up(s->reciprocal, berth_clamp(x, INT16_MIN, INT16_MAX));
  int32_t shift = 31 - headroom;
  for (uint32_t i = 0; i < depth; i++) {
    int64_t product = (int64_t)exponentials[i] * unit + (INT64_C(1) << (shift - 1));
    to[i] = (int16_t)berth_clamp((int32_t)(product >> shift), 0, INT16_MAX);
  }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;
  softmax_t s = parameters(call, &input);
  uint32_t depth = (uint32_t)input.dims[input.rank - 1];
  size_t from_step = (size_t)depth * berth_element_bytes(input.type);
  size_t to_step = (size_t)depth * berth_element_bytes(output.type);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    const uint8_t *from = berth_row(&input, row);
    uint8_t *to = berth_row(&output, row);
    for (uint32_t n = input.row_bytes / (uint32_t)from_step; n > 0; n--) {
      if (is_log(call) && input.type == BERTH_TYPE_FLOAT32)
        line_log((const float *)(const void *)from, (float *)(void *)to, depth);
      else if (is_log(call))
        line_log_int8(&s, (const int8_t *)from, (int8_t *)to, depth);
      else if (input.type == BERTH_TYPE_FLOAT32)
        line_float(&s, (const float *)(const void *)from, (float *)(void *)to, depth);
      else if (input.type == BERTH_TYPE_UINT8)
        line_uint8(&s, from, to, depth);
      else if (input.type == BERTH_TYPE_INT8)
        line_int8(&s, (const int8_t *)from, to, depth, output.type == BERTH_TYPE_INT16);
      else
        line_int16(&s, (const int16_t *)(const void *)from, (int16_t *)(void *)to, depth,
                   call->scratch[0]);
      from += from_step;
      to += to_step;
    }
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_log_softmax = {
    .code = BERTH_BUILTIN_LOG_SOFTMAX, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_softmax = {
    .code = BERTH_BUILTIN_SOFTMAX, .prepare = prepare, .init = init, .eval = eval};
