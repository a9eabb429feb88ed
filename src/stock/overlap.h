/* Which kernels of stock TFLM may write their output over an input.
 *
 * Taken from what the kernels do, not from what would be sensible: a kernel is listed only if its
 * reference implementation reads each byte of the input for the last time before it writes that
 * byte of the output, output and input starting at the same address. Kernels that copy by memcpy
 * without looking whether they copy onto themselves are not listed, since C leaves that undefined.
 * Optimized kernels (CMSIS-NN and the like) keep to it for these operators too, which work element
 * by element.
 *
 * Source: tensorflow/lite/micro/kernels and tensorflow/lite/kernels/internal/reference of
 * tflite-micro, by reading. Used by the plans that Berth writes for stock TFLM.
 */
#ifndef BERTH_SRC_STOCK_OVERLAP_H
#define BERTH_SRC_STOCK_OVERLAP_H

#include "berth/alias.h"

typedef struct berth_stock_overlap {
  berth_builtin_t code;
  uint32_t inputs;    /* bit i: output 0 may start where input i does, if both have one size */
  berth_view_t view;  /* SAME: the kernel then does nothing at all */
  const char *reason; /* why it is safe, for people; static */
} berth_stock_overlap_t;

/* What is known of the operator's kernel, or NULL: it must not overlap. */
const berth_stock_overlap_t *berth_stock_overlap(berth_builtin_t code);

/* The same for one operator: only inputs that have output 0's type size and number of elements are
 * left. */
berth_sharing_t berth_stock_sharing(const berth_model_t *model, uint32_t subgraph, uint32_t op);

#endif
