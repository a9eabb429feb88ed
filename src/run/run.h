/* What the files of the interpreter share. See include/berth/interpreter.h for the whole.
 *
 * Memory of an interpreter: planned tensors grow from the start of `activations`; metadata and
 * persistent data are taken from the end of their blocks, which may be the same block. Whatever
 * prepare borrows lies between, from the start.
 */
#ifndef BERTH_RUN_H
#define BERTH_RUN_H

#include "berth/interpreter.h"

/* Where a tensor's bytes are: one uint32_t for each tensor, in interpreter->places. An offset into
 * activations is the value itself; a persistent one is its distance from the block's end, with the
 * top bit set. */
#define PLACE_NONE       UINT32_MAX        /* a constant, or not used at all */
#define PLACE_UNKNOWN    (UINT32_MAX - 1u) /* dynamic, and not computed yet */
#define PLACE_PERSISTENT 0x80000000u
#define PLACE_FOLDED     0x80000001u /* + 2 x the float16 tensor that is shown instead; fold.c */
#define ACTIVATIONS_MAX  0x7fffffffu

/* Is it a distance in the persistent block? Those are multiples of 16. */
static inline bool berth_run_is_persistent(uint32_t place) {
  return (place & PLACE_FOLDED) == PLACE_PERSISTENT && place != PLACE_UNKNOWN;
}

/* Where an operator's memory is. Between the first pass of prepare and the placement of persistent
 * data, `workspace` and `state` hold sizes; then distances from the block's end, 0 for none. */
typedef struct berth_operator_place {
  uint32_t workspace;
  uint32_t state;
  uint32_t scratch; /* OPERATOR_* flags, and the index of the first one in interpreter->scratches */
} berth_operator_place_t;

#define OPERATOR_LAZY          0x80000000u /* prepared only when its inputs' shapes are known */
#define OPERATOR_PARTIAL       0x40000000u /* wants its outputs zeroed */
#define OPERATOR_WISH          0x20000000u /* the size of its first scratch stands before them */
#define OPERATOR_SCRATCH_SHIFT 26          /* number of scratch buffers, 0..4 */
#define OPERATOR_SCRATCH_INDEX 0x03ffffffu

/* A tensor's shape where it isn't the file's. Sorted by tensor. */
typedef struct berth_shape {
  uint32_t tensor; /* over all subgraphs */
  uint16_t rank;
  uint8_t given;   /* by berth_interpreter_resize_input: survives prepare */
  uint8_t unknown; /* dynamic: computed anew in every invoke */
  int32_t dims[BERTH_RANK_MAX];
} berth_shape_t;

/* ---- Blocks: memory.c ----------------------------------------------------------------------- */

/* Takes `bytes` from the end of the metadata (persistent) block; NULL if they don't fit. */
void *berth_run_take_metadata(berth_interpreter_t *interpreter, uint32_t bytes, uint32_t align);
void *berth_run_take_persistent(berth_interpreter_t *interpreter, uint32_t bytes,
                                uint32_t *distance);

/* The address of something that is `distance` bytes from the end of the persistent block. */
void *berth_run_persistent(const berth_interpreter_t *interpreter, uint32_t distance);

/* How many bytes an operator's state has: prepare keeps the size in front of it. */
uint32_t berth_run_state_bytes(const void *state);

/* Bytes of `activations` that are not taken from its end. */
uint32_t berth_run_head_room(const berth_interpreter_t *interpreter);

/* Drops all that prepare made, but for the shapes that the caller gave; interpreter.c. */
void berth_run_forget(berth_interpreter_t *interpreter);

/* ---- Tensors: tensor.c ---------------------------------------------------------------------- */

uint32_t berth_run_tensor_index(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                uint32_t tensor);
uint32_t berth_run_operator_index(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                  uint32_t op);

/* The shape of a tensor where it differs from the file's, or NULL. */
berth_shape_t *berth_run_shape(const berth_interpreter_t *interpreter, uint32_t tensor);

/* Notes that a tensor has another shape than the file says; MEMORY. */
berth_status_t berth_run_put_shape(berth_interpreter_t *interpreter, uint32_t tensor, uint32_t rank,
                                   const int32_t *dims, berth_shape_t **shape);

/* Is the text of a model this NUL-terminated one? */
bool berth_run_is_text(berth_text_t text, const char *name);

/* ---- Float16 weights: fold.c ---------------------------------------------------------------- */

/* prepare: finds the DEQUANTIZE operators that need not run, and marks their results. */
void berth_run_fold(berth_interpreter_t *interpreter);

/* Lets what is shown instead of another tensor live as long. */
void berth_run_fold_lifetimes(const berth_interpreter_t *interpreter, berth_graph_t *graph);

/* Is a tensor shown as the float16 tensor `*source` of its subgraph? */
bool berth_run_is_folded(const berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t tensor,
                         uint32_t *source);

/* Is it an operator that need not run? */
bool berth_run_is_skipped(const berth_call_t *call);

/* ---- Calls: call.c -------------------------------------------------------------------------- */

/* Fills everything of a call but its memory. */
void berth_run_call(berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                    berth_call_t *call);

/* Points the call at its workspace, state and scratch; after prepare. */
void berth_run_call_memory(berth_interpreter_t *interpreter, berth_call_t *call);

void berth_run_log(const berth_interpreter_t *interpreter, berth_event_kind_t kind,
                   uint32_t subgraph, uint32_t op, uint32_t tensor, uint64_t needed,
                   const char *why);

/* Does any data input of the operator have an unknown shape? */
bool berth_run_input_unknown(const berth_call_t *call);

/* ---- Contracts: contracts.c ----------------------------------------------------------------- */

/* Lets an operator state its contract and its outputs' shapes. One that can't be asked yet, that
 * nobody knows (both have outputs of unknown shape then) or that refuses has a contract that is
 * not `known`; the latter two are logged, and the interpreter has `failed`. One that need not run
 * has an empty contract. MEMORY: metadata do not fit; OVERFLOW. */
berth_status_t berth_run_ask(berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                             berth_contract_t *contract);

/* ---- Streamed plans: runs.c ------------------------------------------------------------------ */

/* The operator that runs in a step of the main subgraph. */
uint32_t berth_run_operator_of(const berth_interpreter_t *interpreter, uint32_t step);

/* The run to which a step belongs, and its number; NULL: it runs whole. */
const berth_stream_run_t *berth_run_of_step(const berth_interpreter_t *interpreter, uint32_t step,
                                            uint32_t *number);

/* Rows that a streamed plan keeps of a tensor of the main subgraph; 0: all of them, or it is never
 * made. */
uint32_t berth_run_ring(const berth_interpreter_t *interpreter, uint32_t tensor);

/* The step in which an operator of the main subgraph runs. */
uint32_t berth_run_step_of(const berth_interpreter_t *interpreter, uint32_t op);

/* The last step of a tensor's life: with a callback that takes outputs as soon as they are
 * complete, they end there. */
uint32_t berth_run_last_step(const berth_interpreter_t *interpreter,
                             const berth_graph_tensor_t *tensor);

/* Makes the lifetime of a tensor that of the streamed plan: what is live in a step of a run is live
 * in all of them, and what has a ring in no others. */
void berth_run_widen(const berth_interpreter_t *interpreter, berth_graph_tensor_t *tensor);

/* A tensor as the operator of the piece that is being made sees it, or as it is. */
berth_value_t berth_run_seen(const berth_call_t *call, uint32_t tensor);

/* A tensor as it is. */
berth_value_t berth_run_unseen(const berth_call_t *call, uint32_t tensor);

/* Does the current piece's operator run row by row, accumulate or run whole? */
berth_kind_t berth_run_piece_kind(const berth_interpreter_t *interpreter);

/* The graph input whose rows an invoke wants first; BERTH_NOBODY: none. Only between two invokes.
 */
uint32_t berth_run_first_pushed(berth_interpreter_t *interpreter);

/* Evaluates the current piece. */
berth_status_t berth_run_evaluate_piece(berth_call_t *call);

/* Does the operator of the current piece make graph outputs? Maybe, if nobody reads what it makes.
 */
bool berth_run_is_kept(const berth_interpreter_t *interpreter);

/* Has the operator of the current piece nothing left to do? */
bool berth_run_is_last_piece(const berth_interpreter_t *interpreter);

/* What pieces of a run need of operators and tensors is read from the model only once where the
 * processor is so fast that reading would cost more than a row: on 64-bit machines some is kept on
 * the stack while an invoke works on a run, and what kernels keep (berth_keep) as well. Devices do
 * without, and need no memory for it. */
#ifndef BERTH_RECALL
#define BERTH_RECALL (UINTPTR_MAX > 0xffffffffu)
#endif
#if BERTH_RECALL
#define RECALL_VALUES 128u /* powers of two */
#define RECALL_CALLS  32u
#define RECALL_STEPS  64u /* of a run: later ones keep nothing */
#ifndef BERTH_KEEP_BYTES
#define BERTH_KEEP_BYTES 65536u
#endif
typedef struct berth_recall {
  uint32_t tensors[RECALL_VALUES]; /* whose value is in the same place below, or BERTH_NOBODY */
  uint32_t operators[RECALL_CALLS];
  berth_value_t values[RECALL_VALUES];
  berth_call_t calls[RECALL_CALLS];
  void *kept[RECALL_STEPS][BERTH_KEEP_SLOTS]; /* in `memory`, by step; NULL: not asked for yet */
  uint32_t used;                              /* bytes of `memory` */
  _Alignas(32) uint8_t memory[BERTH_KEEP_BYTES];
} berth_recall_t; /* 24 KB, and the memory to keep things in */

/* From now on the current run recalls what is in `recall`, which is emptied first. Whoever calls
 * this sets the run's `recall` to NULL before the memory ends. Not under the guard, which looks at
 * what is read. */
void berth_run_recall_begin(berth_interpreter_t *interpreter, berth_recall_t *recall);
#endif

/* berth_run_call and berth_run_call_memory for the operator of the current piece. */
void berth_run_piece_call(berth_interpreter_t *interpreter, uint32_t op, berth_call_t *call);

/* Makes pieces of the current run with `make` until there are no more, it fails, or rows are
 * wanted. */
berth_status_t berth_run_make_pieces(berth_interpreter_t *interpreter,
                                     berth_status_t (*make)(berth_interpreter_t *, uint32_t op));

/* Bytes of scratch[0] of an operator that accumulates in a run. */
static inline uint32_t berth_run_sum_bytes(const berth_contract_t *contract) {
  return contract->accumulator > contract->scratch[0] ? contract->accumulator
                                                      : contract->scratch[0];
}

/* Bytes in memory of a tensor, or of its ring. */
static inline uint32_t berth_run_held_bytes(const berth_value_t *value) {
  return value->ring < value->rows ? value->ring * value->row_bytes : value->bytes;
}

/* How the interpreter has lifetimes analysed. */
static inline berth_graph_options_t
berth_run_graph_options(const berth_interpreter_t *interpreter) {
  return (berth_graph_options_t){
      .order = interpreter->options.stream != NULL ? interpreter->options.stream->order : NULL,
      .keep_inputs = interpreter->options.keep_inputs};
}

/* ---- Running: invoke.c ---------------------------------------------------------------------- */

/* Evaluates an operator: whole, or the current piece of it. */
berth_status_t berth_run_evaluate(berth_call_t *call);

/* Zeroes the outputs of an operator that writes only part of them, or what the current piece makes
 * of them. */
void berth_run_zero_outputs(const berth_call_t *call);

/* Runs all operators of a subgraph. */
berth_status_t berth_run_subgraph(berth_interpreter_t *interpreter, uint32_t subgraph);

/* Kernels that need the interpreter itself (IF, WHILE, ...), NULL-terminated: control_flow.c. */
extern const berth_kernel_t *const berth_run_kernels[];

/* Of them, those in resource.c. */
extern const berth_kernel_t berth_run_assign_variable;
extern const berth_kernel_t berth_run_read_variable;
extern const berth_kernel_t berth_run_var_handle;

#endif
