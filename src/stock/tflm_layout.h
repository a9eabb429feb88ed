/* How large TFLM's structs are on a target.
 *
 * A struct is described by its members, in order, one letter each:
 *   b 1 byte (bool, int8)    h 2 bytes (int16)    i 4 bytes (int, float, enum)
 *   l 8 bytes (int64)        d 8 bytes (double)   p a pointer    z a size_t
 * A number before a letter or a parenthesis repeats it, parentheses nest a struct: "b(4h)2i" is
 * struct { bool; struct { int16 x 4 }; int x 2 }. Size and alignment then follow from the target's
 * rules, so one table serves all targets and can be read beside the declaration it describes.
 */
#ifndef BERTH_SRC_STOCK_TFLM_LAYOUT_H
#define BERTH_SRC_STOCK_TFLM_LAYOUT_H

#include <stdint.h>

/* The target's data layout. */
typedef enum berth_abi {
  BERTH_ABI_64,  /* 64-bit: pointers of 8 bytes, everything aligned to its size (x86-64, AArch64) */
  BERTH_ABI_ARM, /* 32-bit, 8-byte types aligned to 8 (AAPCS: every Cortex-M; also RISC-V) */
  BERTH_ABI_I386, /* 32-bit, 8-byte types aligned to 4 (Linux on x86 with -m32) */
} berth_abi_t;

/* "64-bit", "32-bit Arm" and the like; static. */
const char *berth_abi_name(berth_abi_t abi);

/* Bytes of a pointer, and of a size_t. */
uint32_t berth_abi_pointer(berth_abi_t abi);

typedef struct berth_layout {
  uint32_t size;  /* bytes, a multiple of `align` */
  uint32_t align; /* at least 1 */
} berth_layout_t;

/* Lays out the struct; `members` is well-formed. An empty text has size 0. */
berth_layout_t berth_layout(const char *members, berth_abi_t abi);

#endif
