/* Which instruction sets the processor and the operating system offer. */
#include "berth/operator.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>

uint32_t berth_cpu_detect(void) {
  const unsigned fma = 1u << 12, osxsave = 1u << 27, f16c = 1u << 29, avx2 = 1u << 5;
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  if ((c & (fma | osxsave | f16c)) != (fma | osxsave | f16c)) return 0;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0)); /* does the system save the AVX registers? */
  if ((low & 6u) != 6u) return 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  return b & avx2 ? BERTH_CPU_AVX2 : 0;
}
#else
uint32_t berth_cpu_detect(void) {
  return 0;
}
#endif
