/* Inner loops for 8-bit products on Arm Cortex-M: what the *_arm.c files have in common.
 *
 * A firmware is built for one core, so the compiler says which instructions there are: Helium (the
 * vectors of Cortex-M52, M55 and M85), the DSP extension (Cortex-M4, M7, M33), or neither. Sums
 * wrap modulo 2^32 in every implementation, so all give the same bytes. Sources: Arm C Language
 * Extensions, chapters 11 and 14; Armv8-M Architecture Reference Manual.
 */
#ifndef BERTH_OPERATORS_ARM_H
#define BERTH_OPERATORS_ARM_H

/* BERTH_PORTABLE leaves them out, to compare. Little-endian cores only. */
#if !defined(BERTH_PORTABLE) && defined(__ARMEL__) && defined(__ARM_FEATURE_UNALIGNED)
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define BERTH_HAS_ARM    1
#define BERTH_HAS_HELIUM 1
#elif defined(__ARM_FEATURE_DSP) && defined(__ARM_FEATURE_SIMD32)
#define BERTH_HAS_ARM 1
#define BERTH_HAS_DSP 1
#endif
#endif

#if BERTH_HAS_HELIUM
#include <arm_mve.h>
#elif BERTH_HAS_DSP
#include <arm_acle.h>
#include <stdint.h>
#include <string.h>

/* Four bytes from any address. */
static inline uint32_t berth_word(const int8_t *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

/* Bytes 0 and 2 of a word, widened to 16 bits. */
static inline int16x2_t berth_even_bytes(uint32_t word) {
  return __sxtb16((int8x4_t)word);
}

/* The same 16 bits twice. */
static inline int16x2_t berth_pair(int32_t number) {
  uint32_t half = (uint32_t)number & 0xffffu;
  return (int16x2_t)(half << 16 | half);
}

/* Bytes 1 and 3. Rotating costs nothing, which compilers don't see. */
static inline int16x2_t berth_odd_bytes(uint32_t word) {
  int16x2_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
#endif

#endif
