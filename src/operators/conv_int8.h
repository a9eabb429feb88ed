/* The inner loops of CONV_2D for int8 and uint8: one block of output channels over a run of pixels.
 *
 * The inputs of a pixel are a few runs of bytes, one for each row of the filter ("spans"), which
 * are read where they are in the image; only pixels at the border are gathered first.
 */
#ifndef BERTH_OPERATORS_CONV_INT8_H
#define BERTH_OPERATORS_CONV_INT8_H

#include "operators/matmul_int8.h"

#define BERTH_CONV_SPANS 16u /* most spans of a pixel */
#define BERTH_CONV_BLOCK 8u  /* channels of a block */
#define BERTH_CONV_STEP  16u /* bytes of a span that are read at a time */

/* A block of channels, ready for any number of runs. */
typedef struct berth_conv_block {
  const berth_matmul_int8_t *matmul;
  uint32_t first, count; /* channels of the filter */
  uint32_t spans, span;  /* how many, bytes of each */
  int16_t *packed;       /* scratch for the weights, 16-byte aligned */
  int32_t multipliers[BERTH_CONV_BLOCK], shifts[BERTH_CONV_BLOCK];
  int32_t bias[BERTH_CONV_BLOCK]; /* as the kernel wants it */
  uint64_t bound;                 /* of a sum; for AVX2 */
} berth_conv_block_t;

/* Pixels side by side. Span s of pixel p starts at from[s] + p x step[s], with at least
 * BERTH_CONV_STEP bytes that may be read. */
typedef struct berth_conv_pixels {
  const uint8_t *from[BERTH_CONV_SPANS];
  size_t step[BERTH_CONV_SPANS];
  uint32_t count;
  uint8_t *out; /* of the block's first channel */
  size_t out_step;
} berth_conv_pixels_t;

/* Bytes of `packed`. */
static inline uint32_t berth_conv_packed_bytes(uint32_t spans, uint32_t span) {
  uint32_t steps = (span + BERTH_CONV_STEP - 1) / BERTH_CONV_STEP;
  return spans * steps * BERTH_CONV_STEP * BERTH_CONV_BLOCK * (uint32_t)sizeof(int16_t);
}

/* Portable: takes factors and bias as they are, and packs nothing. */
void berth_conv_pixels_portable(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels);

/* AVX2, which must be there. Open first: fills `packed` and the factors and changes `bias`; false,
 * with `bias` as it was: a factor is out of range, use the portable code. */
bool berth_conv_open_avx2(berth_conv_block_t *block);
void berth_conv_pixels_avx2(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels);

/* One block after the other over the same pixels, of one group; moves `pixels->out` along. */
void berth_conv_blocks_avx2(const berth_conv_block_t *blocks, uint32_t count,
                            berth_conv_pixels_t *pixels);

/* Arm (BERTH_HAS_ARM), where berth_matmul_int8_suits_arm. Open first: fills the factors and changes
 * `bias`. */
void berth_conv_open_arm(berth_conv_block_t *block);
void berth_conv_pixels_arm(const berth_conv_block_t *block, const berth_conv_pixels_t *pixels);

#endif
