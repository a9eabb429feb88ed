/* Checks and steps that quantized kernels other than the products share. */
#ifndef BERTH_OPERATORS_QUANTIZED_H
#define BERTH_OPERATORS_QUANTIZED_H

#include "operators/fixed_point.h"

/* Is the type one whose elements stand for real numbers through a scale and a zero point? */
static inline bool berth_is_quantized_type(berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8 || type == BERTH_TYPE_UINT8 || type == BERTH_TYPE_INT16;
}

/* Does the value have a usable scale, and a zero point that its type can hold? */
static inline bool berth_has_scale(const berth_value_t *value) {
  return value->scale > 0.0f && isfinite(value->scale) &&
         value->zero_point >= berth_type_min(value->type) &&
         value->zero_point <= berth_type_max(value->type);
}

/* Can the factor be applied: is it neither negative nor too large? */
static inline bool berth_is_usable(berth_multiplier_t factor) {
  return factor.multiplier >= 0 && factor.shift <= BERTH_SHIFT_MAX;
}

/* berth_multiply for factors below 1, without branches: loops over it vectorise. */
static inline int32_t berth_multiply_small(int32_t x, berth_multiplier_t by) {
  uint64_t product = (uint64_t)((int64_t)x * by.multiplier + (INT64_C(1) << 30));
  return berth_divide_by_power((int32_t)(uint32_t)(product >> 31), -by.shift);
}

/* berth_multiply without branches for factors of any size, whose shift to the left
 * is split off beforehand. */
typedef struct berth_split_multiplier {
  int32_t left;
  berth_multiplier_t small;
} berth_split_multiplier_t;

static inline berth_split_multiplier_t berth_split(berth_multiplier_t by) {
  int32_t left = by.shift > 0 ? by.shift : 0;
  return (berth_split_multiplier_t){left, {by.multiplier, by.shift - left}};
}

static inline int32_t berth_multiply_split(int32_t x, berth_split_multiplier_t by) {
  return berth_multiply_small((int32_t)((uint32_t)x << by.left), by.small);
}

#endif
