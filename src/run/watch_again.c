/* The guard, the invoke once more: what the fast way suspects is repeated from the same inputs,
 * variables, state and constants, and judged by every byte; and if an operator finds a constant
 * changed before it has run, whoever does that is hunted in a repetition. See berth/guard.h.
 */
#include "watch_fast.h"
#include <string.h>

/* Makes constants what they are in the other copy of the model's file, if there is one. The first
 * one that wasn't is suspected, unless something else is. */
static void restore_constants(const berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  const berth_interpreter_t *interpreter = guard->interpreter;
  for (uint32_t i = 0; i < guard->graph.tensor_count && guard->pristine != NULL; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
    if (!value.constant || value.bytes == 0) continue;
    const uint8_t *original = guard->pristine + (value.data - interpreter->model->data);
    if (memcmp(value.data, original, value.bytes) == 0) continue;
    memcpy(value.data, original, value.bytes);
    if (!guard->suspected) berth_watch_suspect_tensor(watch, i);
  }
}

/* Everything as the invoke found it. */
static void restore(const berth_guard_t *guard) {
  berth_watch_copy_inputs(guard, true);
  memcpy(berth_watch_persistent(guard), guard->begun, guard->interpreter->persistent_used);
}

void berth_watch_start_invoke(berth_guard_t *guard) {
  guard->synchronised = false;
  if (guard->repeating) return;
  guard->suspected = false;
  guard->hunted = BERTH_NOBODY;
  berth_watch_copy_inputs(guard, false);
  memcpy(guard->begun, berth_watch_persistent(guard), guard->interpreter->persistent_used);
}

/* A watch of nothing, after the last operator. */
static berth_watch_t after_all(berth_guard_t *guard) {
  berth_watch_t watch = {.guard = guard,
                         .step = BERTH_NOBODY,
                         .redirect_tensor = BERTH_NOBODY,
                         .redirect_input = BERTH_NOBODY};
  uint32_t count = berth_model_subgraph(guard->interpreter->model, 0).operator_count;
  berth_run_call(guard->interpreter, 0, berth_run_operator_of(guard->interpreter, count - 1),
                 &watch.call);
  return watch;
}

bool berth_watch_over(berth_guard_t *guard) {
  if (berth_model_subgraph(guard->interpreter->model, 0).operator_count == 0) return false;
  berth_watch_t watch = after_all(guard);
  if (guard->repeating) {
    guard->repeating = false;
    guard->synchronised = false;
    if (guard->findings > guard->findings_before) return false;
    guard->constants_summed = false; /* said once */
    berth_watch_report(&watch, guard->suspicion);
    return false;
  }
  if (guard->fast && guard->synchronised && !guard->suspected) berth_watch_check_rest(&watch);
  if (!guard->fast || guard->suspected) restore_constants(&watch);
  if (!guard->suspected) return false;
  restore(guard);
  guard->repeating = true;
  guard->findings_before = guard->findings;
  return true;
}
