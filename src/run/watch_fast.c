/* The guard's fast way: one evaluation of each operator, where it is, between checks that cost
 * little besides. See berth/guard.h.
 *
 * What is written gets a checksum at once, which must still be right when it was read for the last
 * time; constants have theirs from the start. An output holds a pattern before, of which nothing
 * may be left: should there be a byte like it, the operator is evaluated once more, with another
 * one. The nearest bytes of nobody's around what an operator may write are a fence. Inputs and
 * outputs of the invoke before, told apart by their checksums, show what is unstable.
 *
 * What is wrong is only suspected here: berth_watch_over has the invoke repeated, to judge it by
 * every byte (guard.c).
 */
#include "watch_fast.h"
#include <string.h>

/* ---- An invoke ------------------------------------------------------------------------------- */

/* Constants have checksums from the first invoke on. */
static void sum_constants(berth_guard_t *guard) {
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    if (guard->summed[i].bytes == 0 || berth_watch_has_sums(guard, i)) continue;
    berth_value_t value =
        berth_interpreter_tensor(guard->interpreter, tensor->subgraph, tensor->tensor);
    guard->sums[guard->summed[i].first] = berth_watch_sum(value.data, value.bytes);
  }
  guard->constants_summed = true;
}

uint8_t *berth_watch_frame(const berth_guard_t *guard, uint32_t input) {
  uint8_t *copy = guard->inputs;
  for (uint32_t i = 0; i < input; i++) {
    berth_value_t value = berth_interpreter_input(guard->interpreter, i);
    if (value.present && !value.constant && value.data != NULL) copy += value.bytes;
  }
  return copy;
}

void berth_watch_copy_inputs(const berth_guard_t *guard, bool back) {
  uint32_t count = berth_model_subgraph(guard->interpreter->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_interpreter_input(guard->interpreter, i);
    if (!value.present || value.constant || value.data == NULL) continue;
    if (berth_interpreter_is_pushed(guard->interpreter, i)) continue; /* row by row, as they come */
    uint8_t *copy = berth_watch_frame(guard, i);
    memcpy(back ? value.data : copy, back ? copy : value.data, value.bytes);
  }
}

static void start(berth_guard_t *guard) {
  uint8_t *arena = berth_watch_arena(guard);
  uint32_t bytes = berth_watch_arena_bytes(guard);
  uint32_t count = berth_model_subgraph(guard->interpreter->model, 0).inputs.count;
  if (!guard->constants_summed) sum_constants(guard);
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    if (berth_watch_has_sums(guard, i)) berth_watch_forget_tensor(guard, i);
  }
  guard->fence = (uint8_t)(guard->fence + 37u);
  memset(arena, guard->fence, guard->before);
  memset(arena + bytes - guard->after, guard->fence, guard->after);
  memcpy(guard->persistent, guard->begun, guard->interpreter->persistent_used);
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_interpreter_input(guard->interpreter, i);
    uint32_t flat = berth_run_tensor_index(guard->interpreter, 0, value.index);
    if (!value.present || berth_interpreter_is_pushed(guard->interpreter, i)) continue;
    if (berth_watch_has_sums(guard, flat)) berth_watch_sum_tensor(guard, flat);
  }
  guard->synchronised = true;
}

berth_status_t berth_watch_calling(berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  if (!guard->synchronised) start(guard);
  bool seen = !guard->suspected && berth_watch_list_live(watch);
  berth_status_t status = berth_run_evaluate(&watch->call);
  if (status != BERTH_OK || !seen || guard->suspected) return status;
  memcpy(guard->persistent, berth_watch_persistent(guard), guard->interpreter->persistent_used);
  berth_watch_sum_outputs(watch);
  return status;
}

void berth_watch_pass_over(berth_guard_t *guard) {
  if (!guard->fast || guard->repeating) {
    guard->synchronised = false; /* live bytes have changed */
    return;
  }
  if (!guard->synchronised) start(guard);
  memcpy(guard->persistent, berth_watch_persistent(guard), guard->interpreter->persistent_used);
}

berth_status_t berth_watch_once(berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  if (!guard->synchronised) start(guard);
  if (guard->suspected || !berth_watch_list_live(watch)) return berth_watch_evaluate_unseen(watch);
  if (watch->in_piece) return berth_watch_evaluate_piece(watch);
  return watch->call.subgraph != 0 ? berth_watch_evaluate_called(watch)
                                   : berth_watch_evaluate_whole(watch);
}

bool berth_watch_check_rest(const berth_watch_t *watch) {
  return berth_watch_list_live(watch) && berth_watch_check_margins(watch) &&
         berth_watch_check_lasting(watch) && berth_watch_check_all_constants(watch);
}

/* ---- Rows that the caller pushes ------------------------------------------------------------- */

void berth_watch_take(berth_guard_t *guard, uint32_t input, uint32_t first, uint32_t last) {
  berth_value_t value = berth_interpreter_input(guard->interpreter, input);
  for (uint32_t row = first; row < last && !guard->repeating; row++) {
    memcpy(berth_watch_frame(guard, input) + (size_t)row * value.row_bytes, berth_row(&value, row),
           value.row_bytes);
  }
  if (!guard->fast || guard->repeating) {
    guard->synchronised = false; /* live bytes have changed */
    return;
  }
  if (!guard->synchronised) start(guard);
  uint32_t flat = berth_run_tensor_index(guard->interpreter, 0, value.index);
  if (berth_watch_has_sums(guard, flat)) berth_watch_sum_rows(guard, flat, first, last);
}
