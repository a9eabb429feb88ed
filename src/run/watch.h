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

/* A live tensor that the operator does not write. */
typedef struct berth_kept {
  uint8_t *data;
  uint32_t bytes;
  uint32_t tensor; /* index in guard->graph.tensors */
} berth_kept_t;

/* One operator under watch. `call` comes first: kernels get a pointer to it. */
typedef struct berth_watch {
  berth_call_t call;
  berth_guard_t *guard;
  berth_contract_t contract;
  uint32_t flags;           /* OPERATOR_* */
  uint32_t step;            /* of the main subgraph */
  uint32_t redirect_tensor; /* its value lies at `redirect` instead; BERTH_NOBODY: none does */
  uint8_t *redirect;
} berth_watch_t;

/* A place in memory that the operator may write. */
typedef struct berth_range {
  uint8_t *data;
  uint32_t bytes;
} berth_range_t;

/* Number `index` of what the operator writes and keeps: outputs, then variables, then state;
 * false past the last one. `*output` is the output's number, or BERTH_NOBODY. */
bool berth_watch_result(const berth_watch_t *watch, uint32_t index, berth_range_t *range,
                        uint32_t *output);

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

/* Checks what the contract claims besides memory: row windows, in place, views. watch_claims.c. */
berth_status_t berth_watch_claims(berth_watch_t *watch);

#endif
