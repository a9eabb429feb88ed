/* What the *_avx2.c files have in common. They are compiled for every x86-64, and called only where
 * the processor has AVX2, FMA and F16C (BERTH_CPU_AVX2). */
#ifndef BERTH_OPERATORS_AVX2_H
#define BERTH_OPERATORS_AVX2_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define BERTH_HAS_AVX2 1

#include <immintrin.h>

#define BERTH_AVX2        __attribute__((target("avx2,fma,f16c")))
#define BERTH_AVX2_INLINE static inline __attribute__((always_inline, target("avx2,fma,f16c")))

/* Loops over registers must be unrolled, or the registers become memory. */
#if defined(__clang__)
#define BERTH_UNROLL _Pragma("unroll")
#else
#define BERTH_UNROLL _Pragma("GCC unroll 16")
#endif

#endif
#endif
