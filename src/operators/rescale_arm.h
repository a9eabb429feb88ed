/* Rescaling a few sums at a time on Arm (BERTH_HAS_ARM): the same bits as berth_rescale_apply, for
 * int8 operators, whose roundings are not ties_up.
 *
 * Multipliers are not negative, so the one product that overflows cannot occur.
 */
#ifndef BERTH_OPERATORS_RESCALE_ARM_H
#define BERTH_OPERATORS_RESCALE_ARM_H

#include "operators/arm.h"
#include "operators/rescale.h"

#if BERTH_HAS_HELIUM

/* Four at a time; the last ones with what lies beyond `count` left out. A negative number whose
 * shift to the right rounds is made one less, since the instruction rounds ties upwards. */
static inline void berth_rescale_arm(const berth_rescale_t *by, const int32_t *sums, uint32_t count,
                                     const int32_t *multipliers, const int32_t *shifts,
                                     uint8_t *out) {
  int32x4_t none = vdupq_n_s32(0), max = vdupq_n_s32(by->max), min = vdupq_n_s32(by->min);
  for (uint32_t i = 0; i < count; i += 4) {
    mve_pred16_t some = vctp32q(count - i);
    int32x4_t x = vldrwq_z_s32(sums + i, some), shift = vldrwq_z_s32(shifts + i, some);
    x = vqshlq_s32(x, vmaxq_s32(shift, none));
    x = vqrdmulhq_s32(x, vldrwq_z_s32(multipliers + i, some));
    int32x4_t right = vminq_s32(shift, none); /* as the instructions want it: negative */
    x = vqaddq_s32(x, vshrq_n_s32(vandq_s32(x, right), 31));
    x = vqaddq_n_s32(vrshlq_s32(x, right), by->zero_point);
    vstrbq_p_s32((int8_t *)out + i, vmaxq_s32(vminq_s32(x, max), min), some);
  }
}

#elif BERTH_HAS_DSP

static inline void berth_rescale_arm(const berth_rescale_t *by, const int32_t *sums, uint32_t count,
                                     const int32_t *multipliers, const int32_t *shifts,
                                     uint8_t *out) {
  int32_t zero_point = by->zero_point, min = by->min, max = by->max;
  for (uint32_t i = 0; i < count; i++) {
    int32_t x = sums[i], shift = shifts[i];
    if (shift > 0) {
      x = berth_shift_left(x, shift);
      shift = 0;
    }
    x = (int32_t)(((int64_t)x * multipliers[i] + (INT64_C(1) << 30)) >> 31);
    x = __qadd(berth_divide_by_power(x, -shift), zero_point);
    out[i] = (uint8_t)berth_clamp(x, min, max);
  }
}

#endif
#endif
