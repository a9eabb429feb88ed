/* What the files of the guard's fast way share; see watch_fast.c. */
#ifndef BERTH_RUN_WATCH_FAST_H
#define BERTH_RUN_WATCH_FAST_H

#include "watch.h"

#define BERTH_WATCH_FENCE 64u /* bytes on either side of what an operator may write */

/* What an operator writes gets checksums, by tensor or by rows. */
typedef struct berth_summed {
  uint32_t bytes;     /* of the tensor that are in memory; 0: neither in the arena nor a constant */
  uint32_t row_bytes; /* of which each has a checksum: a row where there are runs, else all */
  uint32_t first;     /* index of the first one in guard->sums */
  uint8_t pattern;    /* what the bytes hold before they are written */
} berth_summed_t;

/* ---- An invoke: watch_fast.c ------------------------------------------------------------------
 */

/* Evaluates an operator, or the current piece of it, once; or one that calls subgraphs. */
berth_status_t berth_watch_once(berth_watch_t *watch);
berth_status_t berth_watch_calling(berth_watch_t *watch);

/* After the last operator (the watch's step is behind all): is everything that must last intact? */
bool berth_watch_check_rest(const berth_watch_t *watch);

/* An operator ran that nobody watched: what it has changed is right, its variables too. */
void berth_watch_pass_over(berth_guard_t *guard);

/* Rows [first, last) of a graph input were pushed: keeps them, too. */
void berth_watch_take(berth_guard_t *guard, uint32_t input, uint32_t first, uint32_t last);

/* Graph inputs into their copy, or back to where they are; and where the copy of one is. */
void berth_watch_copy_inputs(const berth_guard_t *guard, bool back);
uint8_t *berth_watch_frame(const berth_guard_t *guard, uint32_t input);

/* ---- Once more: watch_again.c -----------------------------------------------------------------
 */

/* An invoke begins: keeps what it begins with. */
void berth_watch_start_invoke(berth_guard_t *guard);

/* The invoke is over: true if it is to be repeated, for which everything is as it was before. Then
 * to be asked again. */
bool berth_watch_over(berth_guard_t *guard);

/* ---- Checksums: watch_checksum.c --------------------------------------------------------------
 */

#define BERTH_SUM_NONE 0u /* no checksum is that */

uint64_t berth_watch_sum(const uint8_t *data, uint32_t bytes);

/* One checksum of two, or of many, one after the other. */
uint64_t berth_watch_chain(uint64_t sum, uint64_t next);

/* Does any element's highest byte, or any byte of the first or last eight, hold the pattern? */
bool berth_watch_is_left(const uint8_t *data, uint32_t bytes, uint32_t element, uint8_t pattern);

/* The pattern to begin with for a type: one that its elements' highest bytes hold seldom. */
uint8_t berth_watch_first_pattern(berth_tensor_type_t type);

/* Another pattern than `now` that is probably no element's highest byte. */
uint8_t berth_watch_rare(const uint8_t *data, uint32_t bytes, uint32_t element, uint8_t now);

/* ---- What is live: watch_live.c ---------------------------------------------------------------
 */

/* Notes what looks wrong; what it shows in is in the finding, which names the latest operator whose
 * doing it may be. After operator `since` all was right. */
void berth_watch_suspect(berth_guard_t *guard, berth_guard_finding_t finding, uint32_t since);
void berth_watch_suspect_tensor(const berth_watch_t *watch, uint32_t i);
void berth_watch_suspect_output(const berth_watch_t *watch, berth_guard_fault_t fault);

/* Tensors are numbers in guard->graph.tensors. Where one is in the arena; the number of its
 * checksums; does it have any that change with what is written? */
uint8_t *berth_watch_data(const berth_guard_t *guard, uint32_t i);
uint32_t berth_watch_summed_rows(const berth_summed_t *summed);
bool berth_watch_has_sums(const berth_guard_t *guard, uint32_t i);

/* Takes the checksums of a tensor, or of its rows [first, last); drops them. */
void berth_watch_sum_tensor(berth_guard_t *guard, uint32_t i);
void berth_watch_sum_rows(berth_guard_t *guard, uint32_t i, uint32_t first, uint32_t last);
void berth_watch_forget_tensor(berth_guard_t *guard, uint32_t i);

/* Has it the bytes that were summed? True also where that is not known. */
bool berth_watch_is_intact(const berth_guard_t *guard, uint32_t i, uint32_t first, uint32_t last);

/* The same; false: it is suspected. */
bool berth_watch_check_rows(const berth_watch_t *watch, uint32_t i, uint32_t first, uint32_t last);
bool berth_watch_check_tensor(const berth_watch_t *watch, uint32_t i);

/* Constants: those of the operator; all of the model. */
bool berth_watch_check_weights(const berth_watch_t *watch);
bool berth_watch_check_all_constants(const berth_watch_t *watch);

/* Lists in guard->kept the tensors that are live in this step but for the operator's outputs, and
 * checks those that have died since an operator was watched; checks all that are listed. */
bool berth_watch_list_live(const berth_watch_t *watch);
bool berth_watch_check_live(const berth_watch_t *watch);

/* Do they have bytes in common? */
bool berth_watch_meets(const berth_kept_t *kept, const berth_range_t *range);
bool berth_watch_is_over_live(const berth_guard_t *guard, const berth_range_t *range);

/* ---- Fences: watch_fence.c --------------------------------------------------------------------
 */

/* Puts up fences around what the operator may write; its scratch gets memory of the guard's. */
void berth_watch_put_fences(berth_watch_t *watch);
bool berth_watch_check_fences(const berth_watch_t *watch);

/* The caller's bytes on either side of the arena. */
bool berth_watch_check_margins(const berth_watch_t *watch);

/* ---- One operator: watch_once.c ---------------------------------------------------------------
 */

/* Variables and state that the operator may change: copies them, or puts them back; has it any? */
void berth_watch_copy_own(const berth_watch_t *watch, bool back);
bool berth_watch_has_own(const berth_watch_t *watch);

/* Is the persistent block as its copy? */
bool berth_watch_check_lasting(const berth_watch_t *watch);

/* The number of output `output` in guard->graph.tensors. */
uint32_t berth_watch_flat_output(const berth_watch_t *watch, uint32_t output);

/* Puts patterns into the outputs, but over what is live, and zeroes those that want it. Do any
 * bytes look as if nobody had written them? Such an output gets another pattern. */
void berth_watch_fill_outputs(const berth_watch_t *watch);
bool berth_watch_is_any_left(const berth_watch_t *watch);

/* Can an evaluation be repeated? Not where an output takes the place of what is read. */
bool berth_watch_is_repeatable(const berth_watch_t *watch);

void berth_watch_sum_outputs(const berth_watch_t *watch);

/* Evaluates with checks: an operator, one of a called subgraph, the current piece of one (of
 * watch_piece.c); or without any, since something is suspected already. */
berth_status_t berth_watch_evaluate_whole(berth_watch_t *watch);
berth_status_t berth_watch_evaluate_called(berth_watch_t *watch);
berth_status_t berth_watch_evaluate_piece(berth_watch_t *watch);
berth_status_t berth_watch_evaluate_unseen(berth_watch_t *watch);

#endif
