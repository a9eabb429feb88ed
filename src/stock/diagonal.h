/* Diagonal overlap: how far into a dying input an output may reach (Blacker, Bartels, Hollis,
 * "Diagonal Memory Optimisation for Machine Learning on Micro-controllers", 2020).
 *
 * TFLM's reference kernels make their output element by element, from its first to its last, and
 * read of the input only what that element needs. So an output that begins before the input begins
 * may end inside of it, as long as each byte is overwritten only after it was read for the last
 * time. The least number of bytes from the output's start to the input's start that guarantees it
 * is the operator's safe distance; it follows from shapes, strides, dilations and padding alone.
 *
 * This holds of reference kernels only: optimized ones (CMSIS-NN, ESP-NN, Berth's own) read in
 * other orders. Used by plans for firmware that is known to have reference kernels.
 */
#ifndef BERTH_SRC_STOCK_DIAGONAL_H
#define BERTH_SRC_STOCK_DIAGONAL_H

#include "berth/model.h"

/* An operator that moves a window over an image, or that can be seen so: per batch, output element
 * (y, x, c) reads the input elements (y * stride_h - pad_top + i * dilation_h, likewise x, of some
 * channels) for 0 <= i < filter_h. Everything counts from 1 but the padding. */
typedef struct berth_stencil {
  uint32_t batches;
  uint32_t input_h, input_w, input_c;
  uint32_t output_h, output_w, output_c;
  uint32_t filter_h, filter_w;
  uint32_t stride_h, stride_w;
  uint32_t dilation_h, dilation_w;
  uint32_t pad_top, pad_left;
  uint32_t multiplier; /* output channels c * multiplier .. + multiplier - 1 read input channel c;
                          0: every one reads every one */
  uint32_t input_element, output_element; /* bytes */
} berth_stencil_t;

/* The safe distance of a stencil in bytes: exact, that is, with one byte less something would be
 * overwritten too early (unless it is 0, or the two do not meet at all). O((height + width) x
 * stride). */
uint64_t berth_stencil_distance(const berth_stencil_t *stencil);

/* The safe distance between output 0 and input `input` of an operator, for TFLM's reference
 * kernels. False: the kernel is not known to work so, or the shapes are not known. */
bool berth_stock_diagonal(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                          uint32_t input, uint64_t *distance);

/* Why that distance is safe, for people; static. */
const char *berth_stock_diagonal_reason(berth_builtin_t code);

#endif
