/* What the files of prepare share: one prepare at work. See prepare.c for the whole. */
#ifndef BERTH_RUN_PREPARE_H
#define BERTH_RUN_PREPARE_H

#include "berth/alias.h"
#include "plan/compact.h"
#include "run.h"

/* Memory borrowed during prepare: a bump pointer that remembers how far it got. */
typedef struct berth_loan {
  uint8_t *base;
  uint32_t used;
  bool separate; /* a block of its own: its room does not shrink while metadata grow */
} berth_loan_t;

/* What one prepare works on. */
typedef struct berth_job {
  berth_interpreter_t *interpreter;
  berth_loan_t loan;
  berth_graph_t graph;
  berth_contract_t *contracts; /* of subgraph 0's operators, if some run row by row; else NULL */
  uint32_t *scratch_bytes;     /* as interpreter->scratches, but sizes; grows at the loan's end */
  uint32_t scratch_count;
  berth_compact_t *buffers;
  uint32_t *owners; /* for each buffer: its tensor, or tensor_count + number of the scratch */
  uint32_t buffer_count;
  uint32_t fixed_count;     /* buffers whose offset is given: the first ones */
  berth_sharing_t *sharing; /* of the main subgraph's operators; NULL: nothing is shared */
  berth_alias_t *aliases;   /* of every tensor; NULL: likewise */
} berth_job_t;

/* ---- Memory: prepare.c ----------------------------------------------------------------------- */

/* NULL, and the need is noted, if there is too little. */
void *berth_job_borrow(berth_job_t *job, uint64_t bytes, uint32_t align);

/* Logs, and returns MEMORY. */
berth_status_t berth_job_too_small(const berth_job_t *job, uint64_t needed, const char *why);
berth_status_t berth_job_loan_too_small(const berth_job_t *job);

/* ---- What runs row by row: prepare_runs.c ---------------------------------------------------- */

/* Looks at the streamed plan, if there is one: ARGUMENT (logged) if it isn't one of this model. */
berth_status_t berth_job_check_runs(const berth_job_t *job);

/* Room for the contracts of subgraph 0, if anything is streamed. MEMORY (logged). */
berth_status_t berth_job_begin_runs(berth_job_t *job);

/* Keeps the contract of an operator of subgraph 0, and adds to its scratch what it must have if it
 * accumulates. */
void berth_job_note_contract(berth_job_t *job, uint32_t op, berth_contract_t *contract);

/* With all contracts and shapes known: makes the row schedules. */
berth_status_t berth_job_make_runs(berth_job_t *job);

/* After placement: says of which operators several pieces may be made in one call. */
void berth_job_join_pieces(berth_job_t *job);

/* Does an operator of subgraph 0 belong to a run? Its output cannot take the memory of an input:
 * both have rows that are live. */
bool berth_job_is_streamed(const berth_job_t *job, uint32_t op);

/* Is it a tensor that never exists, since its readers see another one's rows? */
bool berth_job_is_unseen(const berth_job_t *job, uint32_t tensor);

/* Operators of a run have their scratch in the same place, if it needs not last from one piece to
 * the next. The operator whose scratch number `i` stands for that of `op` (maybe itself), and the
 * most bytes that one of them must have, and wishes for; `op` itself where it shares none. */
uint32_t berth_job_shared_scratch(const berth_job_t *job, uint32_t op, uint32_t i, uint32_t *bytes,
                                  uint32_t *wish);

/* ---- Placement: place.c ---------------------------------------------------------------------- */

/* Finds an offset for every tensor and scratch buffer that has none in `offsets` (a number for each
 * tensor, -1: none; or no numbers at all), and notes them and the needs in the interpreter. */
berth_status_t berth_job_place(berth_job_t *job, const berth_vector_t *offsets);

#endif
