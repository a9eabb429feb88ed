/* L2_NORMALIZATION: each line along the last dimension divided by its Euclidean length.
 *
 * Quantized lines use TFLM's fixed-point inverse square root (Newton-Raphson, five steps); their
 * output scale is 1/128 by definition.
 */
#include "operators/elementwise.h"
#include "operators/fixed_functions.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (input.rank == 0) return berth_refuse(call, "takes no scalar");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  if (berth_option_byte(call->op.options, BERTH_L2_NORMALIZATION_ACTIVATION, 0) != 0)
    return berth_refuse(call, "cannot apply an activation");
  bool eight = input.type == BERTH_TYPE_INT8 || input.type == BERTH_TYPE_UINT8;
  if (input.type != BERTH_TYPE_FLOAT32 && !eight)
    return berth_refuse(call, "cannot take this type");
  if (eight) {
    if (!berth_has_scale(&input) || !berth_has_scale(&output))
      return berth_refuse(call, "needs scales and zero points");
    if (fabsf(output.scale * 128.0f - 1.0f) > 1e-3f ||
        output.zero_point != (input.type == BERTH_TYPE_INT8 ? 0 : 128))
      return berth_refuse(call, "the output's scale or zero point is not what the function has");
    if (input.dims[input.rank - 1] > 1 << 15) return berth_refuse(call, "the lines are too long");
  }
  berth_contract_elementwise(contract);
  return berth_set_shape(call, 0, input.rank, input.dims);
}

/* 1 / sqrt(x) as a factor, for x >= 0. */
static berth_multiplier_t inverse_root(int32_t x) {
  if (x <= 1) return (berth_multiplier_t){INT32_MAX, 0};
  int32_t shift = 11, pairs = 0;
  while (x >= 1 << 29) {
    x /= 4;
    shift++;
  }
  while (x < 1 << (29 - 2 * (pairs + 1))) pairs++; /* x x 4^pairs is in [2^27, 2^29) */
  shift -= pairs;
  int32_t input = (int32_t)((uint32_t)x << 2 * pairs) >> 1; /* in Q3.28 */
  int32_t half = berth_divide_by_power(input, 1), y = 1 << 28;
  for (int i = 0; i < 5; i++) {
    int32_t cube = berth_multiply_high(berth_multiply_high(y, y), y); /* Q9.22 */
    cube = berth_shift_saturated(cube, 6);
    int32_t next = berth_multiply_high((1 << 28) + (1 << 27), y) - berth_multiply_high(half, cube);
    y = berth_shift_saturated(next, 3);
  }
  y = berth_multiply_high(y, 1518500250); /* sqrt(1/2) */
  if (shift < 0) return (berth_multiplier_t){(int32_t)((uint32_t)y << -shift), 0};
  return (berth_multiplier_t){y, -shift};
}

static void line_float(const float *from, float *to, uint32_t depth) {
  float sum = 0;
  for (uint32_t i = 0; i < depth; i++) sum += from[i] * from[i];
  float length = sqrtf(sum);
  length = length < 1e-6f ? 1e-6f : length;
  BERTH_INDEPENDENT
  for (uint32_t i = 0; i < depth; i++) to[i] = from[i] / length;
}

static void line_quantized(const berth_value_t *input, const uint8_t *from, uint8_t *to,
                           uint32_t depth) {
  bool is_signed = input->type == BERTH_TYPE_INT8;
  int32_t sum = 0, zero = input->zero_point, middle = is_signed ? 0 : 128;
  for (uint32_t i = 0; i < depth; i++) {
    int32_t x = (is_signed ? (int8_t)from[i] : (int32_t)from[i]) - zero;
    sum += x * x;
  }
  berth_multiplier_t factor = inverse_root(sum);
  factor.shift += 7;
  for (uint32_t i = 0; i < depth; i++) {
    int32_t x = (is_signed ? (int8_t)from[i] : (int32_t)from[i]) - zero;
    int32_t result = berth_multiply(x, factor) + middle;
    to[i] = (uint8_t)berth_clamp(result, berth_type_min(input->type), berth_type_max(input->type));
  }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;
  uint32_t depth = (uint32_t)input.dims[input.rank - 1];
  size_t step = (size_t)depth * berth_element_bytes(input.type);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    const uint8_t *from = berth_row(&input, row);
    uint8_t *to = berth_row(&output, row);
    for (uint32_t n = input.row_bytes / (uint32_t)step; n > 0; n--, from += step, to += step) {
      if (input.type == BERTH_TYPE_FLOAT32)
        line_float((const float *)(const void *)from, (float *)(void *)to, depth);
      else
        line_quantized(&input, from, to, depth);
    }
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_l2_normalization = {
    .code = BERTH_BUILTIN_L2_NORMALIZATION, .prepare = prepare, .eval = eval};
