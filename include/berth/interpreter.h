/* The interpreter: runs a model with every byte where the plan says.
 *
 * It allocates nothing: the caller gives memory, and can ask first how much. Weights are used in
 * place in the model's bytes, which several interpreters may share.
 *
 *   berth_interpreter_t interpreter;
 *   static _Alignas(16) uint8_t memory[60000];
 *   berth_memories_t memories = {.activations = {memory, sizeof memory}};   // all in one block
 *   berth_interpreter_options_t options = {.kernels = berth_kernels};
 *   berth_interpreter_init(&interpreter, &model, &options, &memories);
 *   berth_interpreter_prepare(&interpreter);
 *   berth_value_t input = berth_interpreter_input(&interpreter, 0);
 *   memcpy(input.data, image, input.bytes);
 *   berth_interpreter_invoke(&interpreter);
 *   berth_value_t output = berth_interpreter_output(&interpreter, 0);
 *
 * An interpreter belongs to one thread at a time; different interpreters are independent. Two
 * models that run in turn may be given the same block for activations.
 */
#ifndef BERTH_INTERPRETER_H
#define BERTH_INTERPRETER_H

#include "berth/alias.h"
#include "berth/arena.h"
#include "berth/graph.h"
#include "berth/model.h"
#include "berth/operator.h"
#include "berth/plan.h"
#include "berth/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct berth_interpreter;
struct berth_guard; /* berth/guard.h */

/* ---- Memory --------------------------------------------------------------------------------- */

/* A block of memory of the caller's, aligned to 16 bytes and to the plan's alignment. */
typedef struct berth_memory {
  void *data;
  uint32_t bytes;
} berth_memory_t;

/* Where the interpreter may keep what. `persistent` and `metadata` with data NULL come out of the
 * end of `activations`; `planning` with data NULL is borrowed from it during prepare. */
typedef struct berth_memories {
  berth_memory_t activations; /* tensors and scratch, as planned */
  berth_memory_t persistent;  /* variables, operators' workspace and state */
  berth_memory_t metadata;    /* where everything is; kernels; shapes that differ from the file's */
  berth_memory_t planning;    /* used during prepare only */
} berth_memories_t;

/* Bytes that each block must have (a multiple of 16 each) for prepare to succeed. One block for
 * all: `total`. */
typedef struct berth_needs {
  uint32_t activations; /* the larger of `extent` and what planning borrows */
  uint32_t persistent;
  uint32_t metadata;
  uint32_t planning;    /* what planning used */
  uint32_t total;       /* of one block in which everything lives */
  uint32_t peak;        /* of the plan: tensors, and scratch that operators must have */
  uint32_t extent;      /* of activations while running: the peak, and scratch that is granted */
  uint32_t lower_bound; /* of the plan's peak */
} berth_needs_t;

/* ---- What the interpreter tells ------------------------------------------------------------- */

typedef enum berth_event_kind {
  BERTH_EVENT_MISSING,  /* no kernel for this operator */
  BERTH_EVENT_REFUSED,  /* the operator cannot be prepared or evaluated; see `why` */
  BERTH_EVENT_DYNAMIC,  /* the operator's output `tensor` gets its size only at run time */
  BERTH_EVENT_PLAN,     /* something is wrong with the plan that was given; see `why` */
  BERTH_EVENT_MEMORY,   /* a block is too small: `needed` bytes would do so far; see `why` */
  BERTH_EVENT_PREPARED, /* `needed` bytes in all; the details are in berth_interpreter_needs */
  BERTH_EVENT_SHARED    /* the operator's workspace equals an earlier one's and was stored once */
} berth_event_kind_t;

typedef struct berth_event {
  berth_event_kind_t kind;
  uint32_t subgraph;
  uint32_t op;     /* BERTH_NOBODY: none */
  uint32_t tensor; /* BERTH_NOBODY: none */
  uint64_t needed; /* bytes */
  const char *why; /* a static phrase, or NULL */
} berth_event_t;

typedef void (*berth_log_t)(void *user, const berth_event_t *event);

/* Called after each operator of every subgraph; every tensor that is live then can be read. One
 * that runs row by row is done with its last rows: of a tensor with ring < rows, only so many are
 * there. Return false to stop the invoke, which then gives CANCELLED. */
typedef bool (*berth_observe_t)(void *user, const struct berth_interpreter *interpreter,
                                uint32_t subgraph, uint32_t op);

/* Called with a graph output as soon as it is complete. */
typedef void (*berth_deliver_t)(void *user, uint32_t output, const berth_value_t *value);

/* Called after every piece of an operator that runs row by row: rows [first_row, last_row) of its
 * outputs (an accumulating one: of its input 0) are done. As above, false stops the invoke. */
typedef bool (*berth_observe_rows_t)(void *user, const struct berth_interpreter *interpreter,
                                     uint32_t op, uint32_t first_row, uint32_t last_row);

/* Called with rows [first_row, last_row) of a graph output that no memory holds whole, as soon as
 * they are made: read them with berth_row, at once. */
typedef void (*berth_deliver_rows_t)(void *user, uint32_t output, const berth_value_t *value,
                                     uint32_t first_row, uint32_t last_row);

/* ---- Options -------------------------------------------------------------------------------- */

/* Zero-initialise for the defaults, and name the kernels. It is copied; what it points to must
 * outlive the interpreter.
 */
typedef struct berth_interpreter_options {
  const berth_kernel_t *const *kernels; /* NULL-terminated: berth_kernels for all that come with
                                           Berth, or a shorter table of your own */
  const berth_kernel_t *const *customs; /* more, asked first; may be NULL */
  const berth_planner_t *planner;       /* NULL: a small greedy one */
  const int32_t *offsets; /* a ready plan: byte offset in `activations` of every tensor of all
                             subgraphs one after the other, -1: still to be planned */
  const berth_stream_plan_t *stream; /* the order of execution, and what runs row by row; NULL: the
                                        file's, all of it whole. A tensor with a ring takes ring x
                                        row_bytes from its offset on */
  uint32_t offset_count;             /* of `offsets` */
  berth_overlap_t overlap; /* which tensors may share memory; in a given plan, too. Results are the
                              same with any. None do where finding out borrows more than it saves:
                              in tiny models, unless `planning` is a block of its own. */
  uint32_t alignment;      /* of tensors, a power of two; 0: 16; never less than the element */
  uint32_t spare;          /* bytes beyond the plan's peak that scratch may take which operators
                              wish for, to be faster; 0: a 64th of the peak */
  bool trust_offsets;      /* don't verify them: for streamed plans, where rows may lie over rows
                              (`berth plan` has verified it); or to find out what is wrong */
  bool ignore_model_plan;  /* don't use the OfflineMemoryAllocation in the model */
  bool no_reuse;           /* every tensor its own memory: all can be read after an invoke */
  bool keep_inputs;        /* graph inputs keep their values during the whole invoke */
  bool store_multipliers;  /* spend memory on per-channel multipliers instead of time */
  bool portable;           /* only portable C kernels, whatever the processor offers */
  berth_log_t log;         /* may be NULL */
  berth_observe_t observe; /* may be NULL */
  berth_deliver_t deliver; /* may be NULL. Outputs then live only until they are delivered. */
  berth_observe_rows_t observe_rows; /* may be NULL */
  berth_deliver_rows_t deliver_rows; /* may be NULL */
  void *user;                        /* handed to the callbacks */
} berth_interpreter_options_t;

/* ---- The interpreter ------------------------------------------------------------------------ */

/* How far an invoke of the main subgraph is. */
typedef struct berth_invoke {
  berth_stream_t *run;        /* the run that the step belongs to; NULL: it runs whole */
  berth_stream_piece_t piece; /* of the run */
  uint32_t step;              /* that runs next, or is running */
  bool waiting;               /* for rows of a graph input, which `piece` names */
} berth_invoke_t;

/* One for each model in use; the caller's memory. The fields are private. */
typedef struct berth_interpreter {
  const berth_model_t *model;
  berth_interpreter_options_t options;
  berth_memories_t memories;
  uint32_t *bases; /* for each subgraph: index of its first tensor, and of its first operator */
  const berth_kernel_t **kernels;         /* for each operator code; NULL: missing */
  uint32_t *places;                       /* for each tensor of all subgraphs */
  struct berth_operator_place *operators; /* for each operator of all subgraphs */
  uint32_t *scratches;        /* offsets of the operators' scratch buffers, one after the other */
  struct berth_shape *shapes; /* those that differ from the file's, by tensor */
  uint32_t shape_count;
  uint32_t tensor_count;
  uint32_t operator_count;
  uint32_t metadata_used;  /* from the end of its block; likewise below */
  uint32_t metadata_fixed; /* what init took of it */
  uint32_t persistent_used;
  berth_needs_t needs;
  uint8_t cpu; /* BERTH_CPU_* bits */
  bool prepared;
  bool pushed;            /* rows of a graph input come from the caller */
  bool failed;            /* something was missing or refused during prepare */
  berth_arena_t *dynamic; /* tensors of unknown size, between the plan's peak and the tail; NULL:
                             there are none */
  berth_stream_t *runs;   /* row schedules of options.stream's runs */
  berth_invoke_t progress;
  struct berth_guard *guard; /* NULL: none is attached */
} berth_interpreter_t;

/* Takes the model, options and memory, and finds the kernels.
 * Errors: ARGUMENT (a NULL, a misaligned block), MEMORY (metadata don't fit), OVERFLOW. */
berth_status_t berth_interpreter_init(berth_interpreter_t *interpreter, const berth_model_t *model,
                                      const berth_interpreter_options_t *options,
                                      const berth_memories_t *memories);

/* Gives a graph input another shape; prepare must follow. Errors: ARGUMENT, OVERFLOW, MEMORY. */
berth_status_t berth_interpreter_resize_input(berth_interpreter_t *interpreter, uint32_t input,
                                              uint32_t rank, const int32_t *dims);

/* Prepares all operators, plans, and zeroes variables and state; may be repeated.
 * Errors: OPERATOR (missing or refused operators: all of them were logged), MEMORY (logged with
 * the bytes needed), FORMAT (the model, or the plan in it), ARGUMENT (a given plan is wrong),
 * OVERFLOW, UNSUPPORTED. */
berth_status_t berth_interpreter_prepare(berth_interpreter_t *interpreter);

/* Instead of prepare: only asks every operator of all subgraphs for its contract, and so for the
 * shapes of its outputs, which berth_interpreter_tensor then tells. Operator o of subgraph s is
 * contracts[n + o], n being the number of operators of the subgraphs before s. Whatever has no
 * kernel or refuses is logged, and not `known` in the table. Needs metadata only.
 * Errors: ARGUMENT (`count` isn't the number of operators), MEMORY (metadata don't fit), OVERFLOW.
 */
berth_status_t berth_interpreter_contracts(berth_interpreter_t *interpreter,
                                           berth_contract_t *contracts, uint32_t count);

/* After prepare: what it needed. Blocks of exactly these sizes are enough. */
berth_needs_t berth_interpreter_needs(const berth_interpreter_t *interpreter);

/* How full the blocks are, and have been since prepare. */
typedef struct berth_watermarks {
  uint32_t activations;        /* most bytes that were in use from the block's start on, as planned
                                  and for tensors of unknown size */
  uint32_t dynamic;            /* bytes that tensors of unknown size take now */
  uint32_t dynamic_high_water; /* the most that they took, with the gaps between them */
  uint32_t persistent;         /* bytes taken; does not change between two prepares, nor does: */
  uint32_t metadata;
} berth_watermarks_t;

/* After prepare; also in the observer, after each operator. All zero before. */
berth_watermarks_t berth_interpreter_watermarks(const berth_interpreter_t *interpreter);

/* Runs the model once. Errors: ARGUMENT (not prepared, or rows of an input are to be pushed),
 * OPERATOR (logged), MEMORY (a tensor of unknown size didn't fit), CANCELLED. Stack: with a
 * streamed plan, on 64-bit machines only, about 90 KB more (BERTH_KEEP_BYTES in run.h is 64 KB of
 * it). */
berth_status_t berth_interpreter_invoke(berth_interpreter_t *interpreter);

/* Instead of invoke, with a streamed plan that has push_inputs: takes the next `count` rows of
 * graph input `input` (row_bytes each, one after the other), as a camera or a microphone delivers
 * them, and goes as far as they allow. The first row begins an invoke, and with the last one all
 * outputs are complete; then the next frame may begin. Inputs that aren't pushed are written before
 * the first row, as ever. `*taken` is how many rows were taken: fewer than `count` where another
 * input's rows are wanted first; NULL: that is an error, and the rows before it were taken. Errors:
 * ARGUMENT (not prepared, no such input, not its turn, more rows than it has left): the call has
 * had no effect, and with several inputs whoever comes first may be found by trying. OPERATOR,
 * MEMORY, CANCELLED: the invoke is over, the next row is again the first. Stack: as invoke, and as
 * much again where it goes on to another run. */
berth_status_t berth_interpreter_push_rows(berth_interpreter_t *interpreter, uint32_t input,
                                           const void *rows, uint32_t count, uint32_t *taken);

/* Do the rows of this graph input come from the caller? Then it may have no memory for all of them,
 * and has none before they are wanted. */
bool berth_interpreter_is_pushed(const berth_interpreter_t *interpreter, uint32_t input);

/* The graph input whose rows are wanted next in an invoke that has begun, and the number of the
 * first one; BERTH_NOBODY between two invokes. */
uint32_t berth_interpreter_wanted(const berth_interpreter_t *interpreter, uint32_t *row);

/* Sets variables and state back to zero, and gives up an invoke that waits for rows. */
berth_status_t berth_interpreter_reset(berth_interpreter_t *interpreter);

/* ---- Tensors -------------------------------------------------------------------------------- */

/* Graph input (output) number `index`: write (read) at its `data`. `present` is false if there is
 * no such one. The addresses hold until the next prepare; inputs keep their bytes only until the
 * first invoke overwrites them, unless `keep_inputs`. */
berth_value_t berth_interpreter_input(const berth_interpreter_t *interpreter, uint32_t index);
berth_value_t berth_interpreter_output(const berth_interpreter_t *interpreter, uint32_t index);

/* Any tensor; its bytes mean something while it is live (see the observer), or with `no_reuse`. A
 * float32 tensor that only kernels read which take float16 is shown as the float16 tensor it would
 * have been made from (berth_kernel_t.float16_inputs), unless `no_reuse`. */
berth_value_t berth_interpreter_tensor(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                       uint32_t tensor);

/* Index of the tensor of that (NUL-terminated) name in a subgraph, or BERTH_NOBODY. */
uint32_t berth_interpreter_find(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                const char *name);

/* Where a tensor lies: its offset in `activations`, or BERTH_NO_OFFSET (a constant, persistent,
 * dynamic or unused). */
uint32_t berth_interpreter_offset(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                  uint32_t tensor);

#ifdef __cplusplus
}
#endif
#endif
