/* Guard: finds out whether an operator keeps its memory contract, while the model runs.
 *
 * Memory reuse hides bugs: an operator that leaves part of its output unwritten shows the last
 * tenant's bytes, one that writes too far destroys a neighbour. With a guard attached, every
 * operator of every invoke is evaluated twice, with different patterns in all memory that nobody
 * owns in that step, in its outputs and in its scratch:
 *   - what it leaves as the pattern was not written;
 *   - what differs otherwise depends on bytes that it should not have read;
 *   - a byte that changed and is neither its output, its scratch nor its state was clobbered.
 * An operator that runs row by row is watched piece by piece: rows that its windows don't name
 * count as memory that it should not read, rows that are done as memory that is not its own.
 * Nothing is checked by sampling, and a finding names the first operator that broke the contract,
 * since every operator is judged with intact inputs.
 *
 *   berth_guard_t guard;
 *   uint64_t bytes;
 *   berth_guard_bytes(&interpreter, 0, 0, &bytes);
 *   berth_guard_attach(&guard, &interpreter, 0, 0, malloc(bytes), bytes, on_finding, NULL);
 *   berth_interpreter_invoke(&interpreter);
 *
 * That costs several evaluations of each operator, and all of the arena filled and compared around
 * each. For many invokes there is a fast way (`fast`): operators are evaluated once, with checksums
 * of what they write, a pattern in their outputs and fences around them; it finds what one
 * evaluation can show (bytes never written, and those of live tensors, constants, state and nearby
 * memory that are changed; results that differ from the last invoke's for the same inputs). Its
 * doubts are settled by repeating that invoke, unseen by observers, from the same inputs, variables
 * and state with all checks, so that findings are the same. One that does not show again is
 * reported as `unconfirmed`. What it does not see: stale reads, claims, free memory beyond 64 bytes
 * from what an operator may write, and of elements wider than a byte those of which the highest
 * byte was written, except at a tensor's ends.
 *
 * Built with AddressSanitizer, or run under valgrind (if its header was there when this was built),
 * memory that nobody owns is poisoned as well, so that the tool's report shows the very
 * instruction.
 */
#ifndef BERTH_GUARD_H
#define BERTH_GUARD_H

#include "berth/interpreter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong. */
typedef enum berth_guard_fault {
  BERTH_GUARD_PARTIAL_WRITE, /* bytes of its output that it never writes */
  BERTH_GUARD_STALE_READ,    /* its result depends on bytes that it should not read */
  BERTH_GUARD_CLOBBER,       /* it changes bytes that are not its own */
  BERTH_GUARD_UNSTABLE,      /* the same inputs give different results */
  BERTH_GUARD_ROW_WINDOW,    /* made in parts, from the rows that its windows name, the result is
                                another */
  BERTH_GUARD_IN_PLACE,      /* with its output in the memory of an input, as the contract allows
                                (in its place, in step with it, or over rows that are done),
                                the result is another */
  BERTH_GUARD_VIEW           /* it says that its output is a view of an input, and it isn't */
} berth_guard_fault_t;

/* Whose bytes they are. */
typedef enum berth_guard_owner {
  BERTH_GUARD_TENSOR,    /* a live tensor or variable */
  BERTH_GUARD_CONSTANT,  /* in the model */
  BERTH_GUARD_SCRATCH,   /* the operator's own scratch */
  BERTH_GUARD_WORKSPACE, /* an operator's workspace or state: `victim_op` */
  BERTH_GUARD_NOBODY,    /* free memory in the arena */
  BERTH_GUARD_OUTSIDE    /* beyond the arena's (or the persistent block's) start or end */
} berth_guard_owner_t;

typedef struct berth_guard_finding {
  berth_guard_fault_t fault;
  uint32_t subgraph;
  uint32_t op;     /* the operator at fault */
  uint32_t tensor; /* its output (or input, IN_PLACE and VIEW) concerned; BERTH_NOBODY: none */
  uint32_t first;  /* first byte concerned, within that output */
  uint32_t count;  /* bytes concerned */
  berth_guard_owner_t owner; /* STALE_READ and CLOBBER: whose bytes were read or changed */
  uint32_t victim;           /*   TENSOR, CONSTANT: which tensor of `subgraph` */
  uint32_t victim_op;        /*   WORKSPACE: whose, as an operator of `subgraph`, or BERTH_NOBODY */
  uint32_t victim_first;     /*   first byte within it; NOBODY: offset in the arena; OUTSIDE:
                                  distance from the start or end */
  uint32_t victim_count;     /*   bytes */
  uint32_t tenant;  /* PARTIAL_WRITE and STALE_READ: tensor that was there before, BERTH_NOBODY */
  bool unconfirmed; /* the fast way saw it, and not when the invoke was repeated: it was done by
                       `op` or an operator before it, and the bytes are those in which it shows */
  uint32_t since; /* then: an operator of `subgraph` after which all was right; BERTH_NOBODY: none,
                     since the invoke's start */
} berth_guard_finding_t;

typedef void (*berth_guard_report_t)(void *user, const berth_guard_finding_t *finding);

/* Fields are private, but for the options. */
typedef struct berth_guard {
  /* Evaluates an operator; a pointer, so that who uses no guard doesn't link it. */
  berth_status_t (*run)(struct berth_guard *guard, berth_call_t *call, uint32_t flags);
  /* An invoke begins. An operator ran that cannot be watched: its inputs' shapes had been unknown.
   * Rows of a graph input were pushed. The invoke is over: is it to be repeated? */
  void (*begin)(struct berth_guard *guard);
  void (*unseen)(struct berth_guard *guard);
  void (*take)(struct berth_guard *guard, uint32_t input, uint32_t first, uint32_t last);
  bool (*over)(struct berth_guard *guard);
  uint8_t *(*frame)(const struct berth_guard *guard, uint32_t input); /* rows that were pushed */
  berth_interpreter_t *interpreter;
  berth_guard_report_t report;
  void *user;
  const uint8_t *pristine; /* option: another copy of the model's file, to compare constants with */
  bool no_poison;          /* option: don't, so that faults become findings */
  bool deep;               /* option: also check row windows, in place and view claims */
  bool fast;               /* option: evaluate once, and repeat only invokes that are suspicious */
  uint32_t before, after;  /* bytes of the caller's around `activations`, to watch */
  berth_graph_t graph;
  struct berth_kept
      *kept; /* the live tensors that the current operator doesn't write, by address */
  uint32_t kept_count;
  uint32_t own_count;  /* behind them: what the current operator may write */
  uint8_t *expected;   /* what activations (and the bytes around them) must hold */
  uint8_t *persistent; /* what the persistent block must hold */
  uint8_t *results;    /* outputs and state of the first evaluation */
  uint8_t *second_results;
  uint8_t *scratch; /* the second evaluation's scratch */
  uint32_t scratch_room;
  uint32_t results_room;
  uint32_t findings;
  uint32_t step;     /* of the main subgraph, that is being run */
  bool clobbered;    /* the current operator's first evaluation clobbered something */
  bool synchronised; /* the expectations are those of this invoke */
  /* The fast way, and repeating an invoke: */
  struct berth_summed *summed; /* what has checksums, for each tensor */
  uint64_t *sums;
  uint64_t *digests;               /* of each operator's inputs and outputs in the invoke before */
  uint8_t *inputs;                 /* graph inputs, as the invoke found them */
  uint8_t *begun;                  /* the persistent block, likewise */
  berth_guard_finding_t suspicion; /* the first one in this invoke */
  uint32_t hunted;                 /* a constant that somebody changes, or BERTH_NOBODY */
  uint32_t findings_before;        /* of `findings`, when the invoke began to be repeated */
  uint8_t fence;                   /* what fences and margins hold */
  bool suspected;
  bool repeating; /* with two evaluations */
  bool constants_summed;
} berth_guard_t;

/* Bytes of memory that a guard for this prepared interpreter needs; `before` and `after` are the
 * bytes around its activations that belong to the caller and are to be watched, too; 0 after them
 * where there are tensors of unknown size, which lie there.
 * Errors: ARGUMENT (not prepared), UNSUPPORTED (its blocks are not separate: the guard needs
 * persistent and metadata blocks of their own), OVERFLOW. */
berth_status_t berth_guard_bytes(const berth_interpreter_t *interpreter, uint32_t before,
                                 uint32_t after, uint64_t *bytes);

/* Attaches a guard until the next prepare, in place of another one. `memory` is the caller's, as
 * large as berth_guard_bytes says and aligned to 16, and must last as long; the options are set
 * afterwards. `report` (may be NULL) is called for every finding, at most once for each operator
 * and fault in an invoke. Errors: as above, MEMORY; ARGUMENT also within an invoke that waits for
 * rows. */
berth_status_t berth_guard_attach(berth_guard_t *guard, berth_interpreter_t *interpreter,
                                  uint32_t before, uint32_t after, void *memory, uint64_t bytes,
                                  berth_guard_report_t report, void *user);

#ifdef __cplusplus
}
#endif
#endif
