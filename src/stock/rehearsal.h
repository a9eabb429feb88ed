/* Plays one run of a model in stock TFLM's arena, byte by byte: what each operator reads must be
 * what was written for it.
 *
 * Of each byte of the arena it is known whose it is at present: of which tensor, or nobody's. Where
 * the order is known in which a kernel reads and writes (reference_order.h), its accesses are
 * played in that order; of any other kernel everything is assumed, that its outputs and scratch are
 * written before its inputs are read, and that inputs are read to the end. Whatever an operator
 * computes from its inputs, it then computes the same as with each tensor in memory of its own, for
 * all inputs. With values (see below) the bytes themselves are moved and compared as well.
 *
 * Takes the plan as addresses alone, and shares nothing with what made it. Used by the proof of
 * `berth optimize`.
 *
 *   berth_rehearsal_open(&model, buffers, count, &rehearsal);
 *   status = berth_rehearsal_play(&rehearsal);
 *   if (status == BERTH_OK && rehearsal.faulty) report(rehearsal.fault);
 *   berth_rehearsal_close(&rehearsal);
 */
#ifndef BERTH_SRC_STOCK_REHEARSAL_H
#define BERTH_SRC_STOCK_REHEARSAL_H

#include "stock/tflm_forecast.h"

#define BERTH_REHEARSAL_NOBODY  UINT32_MAX
#define BERTH_REHEARSAL_SCRATCH (UINT32_MAX - 1) /* as `by` of a fault: scratch */

/* Bytes that were not there any more when they were read. */
typedef struct berth_rehearsal_fault {
  uint32_t subgraph;
  uint32_t op;     /* that reads; NOBODY: whoever reads the graph outputs */
  uint32_t tensor; /* of `subgraph` */
  uint64_t byte;   /* of the tensor, the first one */
  uint32_t by_subgraph;
  uint32_t by;  /* the tensor whose byte is there now, SCRATCH, or NOBODY: it was never written */
  bool differs; /* instead: the byte is the tensor's, but has another value */
} berth_rehearsal_fault_t;

/* A tensor's bytes, where it was computed in memory of its own; NULL: not known. */
typedef const uint8_t *(*berth_rehearsal_value_t)(void *user, uint32_t subgraph, uint32_t tensor,
                                                  uint64_t *bytes);

typedef struct berth_rehearsal {
  bool faulty;
  berth_rehearsal_fault_t fault; /* the first one */
  uint64_t bytes_read;           /* that were checked */
  uint32_t operators;            /* played */
  uint32_t in_order; /* of them, those whose order is known and mattered: output 0 and an
                        operand have memory in common */
  berth_rehearsal_value_t value; /* set it before playing; may be NULL */
  void *user;

  /* The rest is private. */
  const berth_model_t *model;
  const berth_tflm_buffer_t *buffers;
  uint32_t buffer_count;
  uint32_t tensor_count;
  uint32_t *bases;    /* first tensor of each subgraph in a list of all */
  uint32_t *place;    /* of each tensor of all subgraphs: its buffer, or NOBODY */
  uint32_t *identity; /* of each tensor: itself, or the tensor that it is a view of; NOBODY: nothing
                         has written it */
  uint32_t *scratch;  /* buffers that are scratch */
  uint32_t scratch_count;
  uint32_t *owner; /* of each byte of the arena: identity of the tensor, or one of two marks */
  uint8_t *bytes;  /* the arena */
  uint64_t arena_bytes;
  uint64_t work;
  uint32_t depth;
  bool tired;
} berth_rehearsal_t;

/* `buffers`: everything that lies in the arena, as in a forecast; they and the model must outlive
 * it. Errors: MEMORY; UNSUPPORTED: the arena has more than 2^28 bytes. */
berth_status_t berth_rehearsal_open(const berth_model_t *model, const berth_tflm_buffer_t *buffers,
                                    uint32_t buffer_count, berth_rehearsal_t *rehearsal);
void berth_rehearsal_close(berth_rehearsal_t *rehearsal);

/* A whole run, calls of other subgraphs included (loops go round twice); ends at the first fault.
 * Errors: UNDECIDED: it takes too long. */
berth_status_t berth_rehearsal_play(berth_rehearsal_t *rehearsal);

/* The same step by step, along with a run that knows values: inputs are set, an operator of the
 * main subgraph runs, outputs are read. */
void berth_rehearsal_begin(berth_rehearsal_t *rehearsal);
berth_status_t berth_rehearsal_operator(berth_rehearsal_t *rehearsal, uint32_t op);
void berth_rehearsal_end(berth_rehearsal_t *rehearsal);

#endif
