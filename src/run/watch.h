/* What the files of the guard share; see include/berth/guard.h. */
#ifndef BERTH_RUN_WATCH_H
#define BERTH_RUN_WATCH_H

#include "berth/guard.h"
#include "run.h"

/* Two evaluations, A and B, with patterns that differ in every bit. Outputs have others than the
 * rest of the memory, so that a byte that was never written is not taken for one that was copied
 * from where it should not have been read. */
#define PATTERN_A 0x3Cu
#define PATTERN_B ((uint8_t)~PATTERN_A)
#define OUTPUT_A  0xA5u
#define OUTPUT_B  ((uint8_t)~OUTPUT_A)

/* Live bytes that the operator does not write: a tensor, or some rows of one; or what another
 * operator of the run has in its scratch. */
typedef struct berth_kept {
  uint8_t *data;
  uint32_t bytes;
  uint32_t first;  /* where they begin in the tensor's memory */
  uint32_t tensor; /* index in guard->graph.tensors, or BERTH_NOBODY */
  uint32_t op;     /* then: whose scratch it is */
} berth_kept_t;

/* One operator under watch. `call` comes first: kernels get a pointer to it. */
typedef struct berth_watch {
  berth_call_t call;
  berth_guard_t *guard;
  berth_contract_t contract;
  uint32_t flags;           /* OPERATOR_* */
  uint32_t step;            /* of the main subgraph */
  bool in_piece;            /* only some of its rows, those of the current piece, are made */
  berth_kind_t kind;        /* then: how it runs */
  uint32_t redirect_tensor; /* its value lies at `redirect` instead; BERTH_NOBODY: none does */
  uint8_t *redirect;
  uint32_t redirect_input; /* likewise of an input, beside an output that is */
  uint8_t *input_redirect;
} berth_watch_t;

/* A place in memory that the operator may write. */
typedef struct berth_range {
  uint8_t *data;
  uint32_t bytes;
  uint32_t first; /* of an output: where it begins in the tensor */
} berth_range_t;

/* ---- What is where: watch_memory.c ----------------------------------------------------------- */

/* The first byte under watch (a margin of the caller's), and their number. */
uint8_t *berth_watch_arena(const berth_guard_t *guard);
uint32_t berth_watch_arena_bytes(const berth_guard_t *guard);
bool berth_watch_is_in_arena(const berth_guard_t *guard, const uint8_t *data);
uint8_t *berth_watch_persistent(const berth_guard_t *guard);

/* Lists what is live in the step and not written by the operator. `narrow`: of its inputs, only the
 * rows that the current piece may read. */
void berth_watch_list(const berth_watch_t *watch, bool narrow);

/* The next piece of memory under watch that nothing kept covers, from `*at` on; false past the last
 * one. */
bool berth_watch_gap(const berth_watch_t *watch, uint8_t **at, berth_range_t *gap);

/* The operator's scratch buffer `index`, unless it lasts longer than this evaluation; false past
 * the last one. */
bool berth_watch_scratch(const berth_watch_t *watch, uint32_t index, berth_range_t *range);

/* What an accumulating operator carries from piece to piece; no bytes otherwise. */
berth_range_t berth_watch_sums(const berth_watch_t *watch);

/* The tensor that lay at an address of the arena last before this step. */
uint32_t berth_watch_tenant(const berth_watch_t *watch, const uint8_t *address);

/* Fills in whose byte an address of the arena is, for one that is not kept. */
void berth_watch_name(const berth_watch_t *watch, const uint8_t *address,
                      berth_guard_finding_t *finding);

/* Number `index` of what the operator writes and keeps: outputs (each in two parts, since rows may
 * go round a ring's end), then variables, then state, then sums; false past the last one. `*output`
 * is the output's number, or BERTH_NOBODY. */
bool berth_watch_result(const berth_watch_t *watch, uint32_t index, berth_range_t *range,
                        uint32_t *output);

/* The rows of an output that are made now; which rows of a tensor the current piece may read,
 * false: all, or it isn't its own business. */
void berth_watch_rows_made(const berth_watch_t *watch, const berth_value_t *value, uint32_t *first,
                           uint32_t *last);
bool berth_watch_rows_read(const berth_watch_t *watch, const berth_graph_tensor_t *tensor,
                           berth_stream_rows_t *rows);

/* ---- Evaluations: guard.c -------------------------------------------------------------------- */

/* Evaluates an operator, or the current piece of it, twice, and judges it. */
berth_status_t berth_watch_run(berth_guard_t *guard, berth_call_t *call, uint32_t flags);

/* Puts everything back as the operator must find it, and the patterns everywhere else: those of
 * evaluation B (`second`), or A. */
void berth_watch_set_up(const berth_watch_t *watch, bool second);

/* Compares the results with those saved from the first evaluation; false, and the first place, if
 * they differ. */
bool berth_watch_same_results(const berth_watch_t *watch, uint32_t *output, uint32_t *first,
                              uint32_t *count);

/* Tells the user. */
void berth_watch_report(const berth_watch_t *watch, berth_guard_finding_t finding);
berth_guard_finding_t berth_watch_finding(const berth_watch_t *watch, berth_guard_fault_t fault);

/* Does the plan give an output memory that an input still has? */
bool berth_watch_is_shared(const berth_watch_t *watch);

/* If so: evaluates with output 0 in memory of its own, which must give the same. watch_claims.c. */
berth_status_t berth_watch_shared(berth_watch_t *watch);

/* ---- Clobbered bytes: watch_clobber.c -------------------------------------------------------- */

/* First byte that differs and the number of bytes from it to the last one that does. */
bool berth_watch_differ(const uint8_t *a, const uint8_t *b, uint32_t bytes, uint32_t *first,
                        uint32_t *count);

/* Do all bytes hold the pattern? If not: the first one that doesn't, and their number up to the
 * last one. */
bool berth_watch_is_filled(const uint8_t *data, uint32_t bytes, uint8_t pattern, uint32_t *first,
                           uint32_t *count);

/* Is the persistent block no longer as its copy? Then whose bytes have changed. */
bool berth_watch_is_persistent_changed(const berth_watch_t *watch, berth_guard_finding_t *finding);

/* Each reports the first thing that is wrong, and returns false: constants against another copy of
 * the model's file; what is kept; memory that is nobody's, which must hold `pattern` (as must the
 * operator's own by now); persistent data. */
bool berth_watch_check_constants(const berth_watch_t *watch);
bool berth_watch_check_kept(const berth_watch_t *watch);
bool berth_watch_check_gaps(const berth_watch_t *watch, uint8_t pattern);
bool berth_watch_check_persistent(const berth_watch_t *watch);

/* Before an evaluation: if a constant of the operator's has been changed already, puts it right and
 * has the invoke repeated to find out by whom. */
void berth_watch_hunt(const berth_watch_t *watch);

/* ---- Claims: watch_claims.c ------------------------------------------------------------------ */

/* Checks what the contract claims besides memory: row windows, in place, views. watch_claims.c. */
berth_status_t berth_watch_claims(berth_watch_t *watch);

#endif
