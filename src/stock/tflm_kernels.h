/* What TFLM's kernels take from the arena, as a table: one row a kernel.
 *
 * Used by the forecast alone, which plays the allocator. TFLM's kernels take memory in three ways,
 * and a row says all of them: options that the loader parses (builtin data) and what Init allocates
 * are fixed structs; Prepare takes temporary TfLiteTensors, persistent arrays whose lengths follow
 * from the tensors, and scratch buffers for the time of an invocation.
 *
 * Source: tensorflow/lite/micro/kernels and signal/micro/kernels of tflite-micro, by reading; the
 * sizes are checked against figures recorded with commit 90b983c2 where a recorded model has the
 * operator (docs/tflm-forecast.md lists those). A kernel that is not in the table is unknown: the
 * forecast says so by name.
 */
#ifndef BERTH_SRC_STOCK_TFLM_KERNELS_H
#define BERTH_SRC_STOCK_TFLM_KERNELS_H

#include "berth/model.h"
#include "stock/tflm_layout.h"
#include <stdbool.h>

/* Most scratch buffers that TFLM grants one operator (kMaxScratchBuffersPerOp), and the most
 * persistent arrays that Prepare of a kernel in the table takes. */
#define BERTH_TFLM_SCRATCH_MAX 12u
#define BERTH_TFLM_ARRAYS_MAX  10u

/* One operator's Prepare: what is known before, and what it asks for. */
typedef struct berth_tflm_call {
  const berth_model_t *model;
  const berth_operator_t *op;
  uint32_t subgraph;
  berth_abi_t abi;
  uint64_t scratch[BERTH_TFLM_SCRATCH_MAX]; /* bytes, unrounded, in order of the requests */
  uint32_t scratch_count;
  uint64_t arrays[BERTH_TFLM_ARRAYS_MAX]; /* bytes of persistent memory, in order */
  uint32_t array_count;
  const char *refusal; /* why the kernel refuses this operator; static; NULL: it doesn't */
  bool unsure;         /* what it asks for in this case is not known */
  bool overflow;       /* a size is beyond what can be meant */
} berth_tflm_call_t;

typedef struct berth_tflm_kernel {
  berth_builtin_t code; /* BERTH_BUILTIN_CUSTOM: see `custom` */
  const char *custom;   /* name of the custom operator, or NULL */
  const char *options;  /* layout of the parsed options (berth_layout) */
  const char *data;     /* layout of what Init allocates */
  const char *temps;    /* temporary TfLiteTensors of Prepare in order: digits are inputs, capital
                           letters outputs (A: 0), * all inputs; what is left out of the operator is
                           skipped */
  void (*prepare)(berth_tflm_call_t *call); /* scratch and persistent arrays; NULL: none */
  bool early;                               /* the arrays are allocated by Init already */
} berth_tflm_kernel_t;

/* The kernel of TFLM's own that runs this operator, or NULL. */
const berth_tflm_kernel_t *berth_tflm_kernel(const berth_operator_t *op);

/* The same with CMSIS-NN's kernels, which replace some (tflm_cmsis.c); NULL also where it is not
 * known what the replacement takes. */
const berth_tflm_kernel_t *berth_tflm_cmsis_kernel(const berth_operator_t *op);

/* ---- For the rules (tflm_rules.c) ------------------------------------------------------------ */

#define BERTH_TFLM_RULE(name) void berth_tflm_rule_##name(berth_tflm_call_t *call)
BERTH_TFLM_RULE(add_n);
BERTH_TFLM_RULE(batch_matmul);
BERTH_TFLM_RULE(concatenation);
BERTH_TFLM_RULE(conv);
BERTH_TFLM_RULE(cumsum);
BERTH_TFLM_RULE(depthwise_conv);
BERTH_TFLM_RULE(dequantize);
BERTH_TFLM_RULE(filter_bank);
BERTH_TFLM_RULE(fully_connected);
BERTH_TFLM_RULE(log_softmax);
BERTH_TFLM_RULE(lstm);
BERTH_TFLM_RULE(mean);
BERTH_TFLM_RULE(mirror_pad);
BERTH_TFLM_RULE(reduce_max);
BERTH_TFLM_RULE(rfft);
BERTH_TFLM_RULE(softmax);
BERTH_TFLM_RULE(spectral_subtraction);
BERTH_TFLM_RULE(svdf);
BERTH_TFLM_RULE(transpose_conv);
BERTH_TFLM_RULE(writable_shape);

#endif
