/* The memory contract: how one operator of a model touches memory, stated as data.
 *
 * Whoever knows the operators (src/operators for Berth's own kernels, src/stock for those of TFLM
 * and TFLite) fills a table of these, one for each operator of a subgraph. The planner, streaming
 * and the guard read it, and know nothing else about operators.
 */
#ifndef BERTH_CONTRACT_H
#define BERTH_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_SCRATCH_MAX 4u /* most scratch buffers of one operator */
#define BERTH_WINDOWS_MAX 4u /* inputs with a row window of their own; later ones: the last's */

/* The dimension along which the rows of a tensor of rank 3 or more lie: the first one after the
 * batch that is longer than 1, if it isn't the last. So rows are height for images, time for
 * sequences, and width where the height is 1, as in 1-D convolutions ([batch, 1, time, channels]).
 * If there is none, each batch is one row. */
static inline uint32_t berth_row_dimension(uint32_t rank, const int32_t *dims) {
  for (uint32_t i = 1; i + 1 < rank; i++)
    if (dims[i] != 1) return i;
  return 1;
}

/* How an operator can be cut into rows. */
typedef enum berth_kind {
  BERTH_WHOLE,       /* needs whole inputs and makes whole outputs */
  BERTH_ROW_LOCAL,   /* output rows [a, b) read only the input rows that its windows say */
  BERTH_ACCUMULATING /* consumes input rows one after the other; the result comes at the end */
} berth_kind_t;

/* Which rows of an input the output rows [a, b) of a row-local (or ordered) operator read:
 *   from floor(a x numerator / denominator) + offset
 *   to   floor((b - 1) x numerator / denominator) + offset + extent    (exclusive),
 * clipped to the rows that the input has. Convolution: stride / 1, offset -padding, extent =
 * dilated filter height. Elementwise: 1 / 1, 0, 1. Resize: input rows / output rows, 0, 2. */
typedef struct berth_window {
  int32_t numerator;   /* at least 0; 0: the same rows for all */
  int32_t denominator; /* at least 1 */
  int32_t offset;
  int32_t extent; /* at least 1; 0: every row of the input, whatever the output row */
} berth_window_t;

/* Which tensors of an operator are only another view of the same bytes. */
typedef enum berth_view {
  BERTH_VIEW_NONE,
  BERTH_VIEW_SAME,   /* output 0 has the bytes of input 0, unchanged (RESHAPE) */
  BERTH_VIEW_CONCAT, /* the inputs are, one after the other, the bytes of output 0 */
  BERTH_VIEW_SPLIT   /* the outputs are, one after the other, the bytes of the data input */
} berth_view_t;

typedef struct berth_contract {
  uint32_t
      scratch[BERTH_SCRATCH_MAX]; /* bytes it must have for the duration of one call; 0: none */
  uint32_t wish; /* bytes of scratch[0] that make it faster, beyond those it must have; it gets as
                    much of them as the plan has room for in this step (berth_call_t.scratch_bytes),
                    and gives the same result with any number */
  uint32_t workspace; /* bytes that persist, without meaning between invokes */
  uint32_t state;     /* bytes that persist and carry meaning between invokes */
  uint32_t in_place;  /* bit i: output 0 may take the memory of input i, which
                         must have its size and no later reader */
  uint32_t in_step;   /* bit i: goes through input i and output 0 side by side, as conversions to
                         other types do. Before it writes the first n bytes of the output, it has read
                         the first n x (bytes of the input) / (bytes of the output) of the input, and
                         reads them no more: the output may begin where the input does or before, if
                         it also ends where the input does or before */
  berth_view_t view;
  berth_kind_t kind;
  berth_window_t windows[BERTH_WINDOWS_MAX]; /* ROW_LOCAL, or ordered: of inputs 0, 1, ... */
  uint32_t accumulator; /* ACCUMULATING: bytes that scratch[0] must have (if that is more than it
                           says) from begin to finish; `eval`, all at once, does without */
  bool ordered;         /* ROW_LOCAL: makes its rows one after the other. When it writes a row, all
                           that the rows before it read has been read: rows that only those need may
                           be written over within one call. WHOLE, with one output: the same, once it
                           has looked at whole inputs before it writes anything; from then on it needs
                           what its windows say */
  bool any_rows;        /* ACCUMULATING: takes input 0 as one long vector, so that its rows may be
                           those of a tensor of which it is a RESHAPE */
  bool partial;         /* does not write every byte of its outputs and wants them zeroed first */
  bool known; /* in a table of contracts: an operator has stated this one. false: there is no
                 kernel for it, it refused, or its inputs' shapes are known only at run time; it
                 counts as whole, what it needs besides its tensors is unknown */
} berth_contract_t;

#ifdef __cplusplus
}
#endif
#endif
