/* The order in which TFLM's reference kernels touch memory, element by element.
 *
 * Written from the kernels' loops, as a program that only reads and writes: what the rehearsal of a
 * plan (rehearsal.h) plays, and what safe distances (diagonal.h), which are derived by other means,
 * are tested against. It shares nothing with them.
 *
 * Source: tensorflow/lite/kernels/internal/reference of tflite-micro at commit 90b983c2, by
 * reading: conv.h, depthwiseconv_float.h and _uint8.h, integer_ops/conv.h and depthwise_conv.h,
 * fully_connected.h, pooling.h, pad.h, softmax.h, log_softmax.h, l2normalization.h, and one loop
 * over all elements for the rest.
 */
#ifndef BERTH_SRC_STOCK_REFERENCE_ORDER_H
#define BERTH_SRC_STOCK_REFERENCE_ORDER_H

#include "berth/model.h"

/* What is done with each access. Positions and sizes are bytes of the tensor. */
typedef struct berth_accesses {
  /* Operand number `operand` is read. */
  void (*read)(void *user, uint32_t operand, uint64_t at, uint64_t bytes);
  /* Output 0 is written. */
  void (*write)(void *user, uint64_t at, uint64_t bytes);
  /* Have these bytes of the operand and of output 0 a byte of memory in common? Where they have
   * not, accesses in between are made at once that the kernel makes one by one. NULL: always. */
  bool (*meet)(void *user, uint32_t operand, uint64_t at, uint64_t bytes, uint64_t output_at,
               uint64_t output_bytes);
  void *user;
  const bool *stop; /* the walk ends soon after it becomes true; may be NULL */
} berth_accesses_t;

/* Is the order known in which the operator's kernel reads `operand` (a position in its list of
 * inputs) and writes output 0? All other operands (weights, what is broadcast) may be read at any
 * time. */
bool berth_reference_order_known(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                                 uint32_t operand);

/* Makes all accesses to those operands, in the kernel's order. Nothing, if the order of none is
 * known. Costs as many calls as the operator has output elements, times its window where an operand
 * and the output meet. */
void berth_reference_order(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                           const berth_accesses_t *accesses);

#endif
