/* The sums of an int8 depthwise convolution with Arm's DSP instructions or Helium: a few channels
 * at a time stay in registers over the taps of a filter's row. */
#include "operators/arm.h"
#include "operators/depthwise_int8.h"

#if BERTH_HAS_ARM

#if BERTH_HAS_HELIUM
#define TOGETHER 8u

/* Even and odd channels have a register each: products of 16 bits come out so. */
static inline void add(uint32_t *sums, int32_t input_zero, const int8_t *in, size_t in_step,
                       const int8_t *filter, size_t filter_step, uint32_t taps) {
  uint32x4x2_t both = vld2q_u32(sums);
  int32x4_t even = vreinterpretq_s32_u32(both.val[0]), odd = vreinterpretq_s32_u32(both.val[1]);
  for (; taps > 0; taps--, in += in_step, filter += filter_step) {
    int16x8_t x = vsubq_n_s16(vldrbq_s16(in), (int16_t)input_zero), y = vldrbq_s16(filter);
    even = vaddq_s32(even, vmullbq_int_s16(x, y));
    odd = vaddq_s32(odd, vmulltq_int_s16(x, y));
  }
  both.val[0] = vreinterpretq_u32_s32(even);
  both.val[1] = vreinterpretq_u32_s32(odd);
  vst2q_u32(sums, both);
}

#else
#define TOGETHER 4u

static inline void add(uint32_t *sums, int32_t input_zero, const int8_t *in, size_t in_step,
                       const int8_t *filter, size_t filter_step, uint32_t taps) {
  int32_t a = (int32_t)sums[0], b = (int32_t)sums[1], c = (int32_t)sums[2], d = (int32_t)sums[3];
  int16x2_t zeros = berth_pair(input_zero);
  for (; taps > 0; taps--, in += in_step, filter += filter_step) {
    uint32_t x = berth_word(in), y = berth_word(filter);
    int16x2_t x_even = __ssub16(berth_even_bytes(x), zeros),
              x_odd = __ssub16(berth_odd_bytes(x), zeros);
    int16x2_t y_even = berth_even_bytes(y), y_odd = berth_odd_bytes(y);
    a = __smlabb(x_even, y_even, a);
    b = __smlabb(x_odd, y_odd, b);
    c = __smlatt(x_even, y_even, c);
    d = __smlatt(x_odd, y_odd, d);
  }
  sums[0] = (uint32_t)a, sums[1] = (uint32_t)b, sums[2] = (uint32_t)c, sums[3] = (uint32_t)d;
}

#endif

void berth_depthwise_taps_arm(uint32_t *sums, uint32_t count, int32_t input_zero, const int8_t *in,
                              size_t in_step, const int8_t *filter, size_t filter_step,
                              uint32_t taps) {
  uint32_t i = 0;
  for (; i + TOGETHER <= count; i += TOGETHER) {
    add(sums + i, input_zero, in + i, in_step, filter + i, filter_step, taps);
  }
  for (; i < count; i++) {
    for (uint32_t tap = 0; tap < taps; tap++) {
      sums[i] += (uint32_t)((in[tap * in_step + i] - input_zero) * filter[tap * filter_step + i]);
    }
  }
}

#endif
