/* The guard, clobbered bytes: what changed and is not the operator's own. */
#include "watch.h"
#include <string.h>

bool berth_watch_differ(const uint8_t *a, const uint8_t *b, uint32_t bytes, uint32_t *first,
                        uint32_t *count) {
  if (bytes == 0 || memcmp(a, b, bytes) == 0) return false;
  uint32_t i = 0, k = bytes;
  while (a[i] == b[i]) i++;
  while (a[k - 1] == b[k - 1]) k--;
  *first = i;
  *count = k - i;
  return true;
}

bool berth_watch_is_filled(const uint8_t *data, uint32_t bytes, uint8_t pattern, uint32_t *first,
                           uint32_t *count) {
  if (bytes == 0 || (data[0] == pattern && memcmp(data, data + 1, bytes - 1) == 0)) return true;
  uint32_t i = 0, k = bytes;
  while (data[i] == pattern) i++;
  while (data[k - 1] == pattern) k--;
  *first = i;
  *count = k - i;
  return false;
}

/* Is it an input whose last step this is, in a place that the plan gives to an output, too? Then
 * the operator may write over it; row by row, over the rows that it reads. */
static bool is_replaced(const berth_watch_t *watch, const berth_kept_t *kept) {
  if (kept->tensor == BERTH_NOBODY) return false;
  const berth_graph_tensor_t *tensor = &watch->guard->graph.tensors[kept->tensor];
  if (!watch->in_piece && tensor->last != watch->step) return false;
  berth_range_t range;
  uint32_t output;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (output == BERTH_NOBODY || berth_output(&watch->call, output).index == tensor->tensor) {
      continue;
    }
    if (range.bytes == 0 || kept->data >= range.data + range.bytes) continue;
    if (range.data < kept->data + kept->bytes) return true;
  }
  return false;
}

bool berth_watch_is_shared(const berth_watch_t *watch) {
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    for (uint32_t k = 0; k < watch->guard->kept_count && output.data != NULL; k++) {
      const berth_kept_t *kept = &watch->guard->kept[k];
      if (kept->data < output.data + output.bytes && output.data < kept->data + kept->bytes) {
        return true;
      }
    }
  }
  return false;
}

/* Live tensors that were changed. */
bool berth_watch_check_kept(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    const berth_kept_t *kept = &guard->kept[i];
    uint32_t first, count;
    if (is_replaced(watch, kept)) continue;
    const uint8_t *expected = guard->expected + (kept->data - berth_watch_arena(guard));
    if (!berth_watch_differ(kept->data, expected, kept->bytes, &first, &count)) continue;
    berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
    finding.owner = kept->tensor != BERTH_NOBODY ? BERTH_GUARD_TENSOR : BERTH_GUARD_WORKSPACE;
    if (kept->tensor != BERTH_NOBODY) finding.victim = guard->graph.tensors[kept->tensor].tensor;
    if (kept->tensor == BERTH_NOBODY) finding.victim_op = kept->op;
    finding.victim_first = kept->first + first;
    finding.victim_count = count;
    berth_watch_report(watch, finding);
    return false;
  }
  return true;
}

/* Free memory and margins that were written. The operator's own bytes hold the pattern again. */
bool berth_watch_check_gaps(const berth_watch_t *watch, uint8_t pattern) {
  berth_range_t gap;
  uint8_t *at = berth_watch_arena(watch->guard);
  while (berth_watch_gap(watch, &at, &gap)) {
    uint32_t first, count;
    if (berth_watch_is_filled(gap.data, gap.bytes, pattern, &first, &count)) continue;
    berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
    berth_watch_name(watch, gap.data + first, &finding);
    finding.victim_count = count;
    berth_watch_report(watch, finding);
    return false;
  }
  return true;
}

/* The operator whose workspace or state lies `distance` bytes from the persistent block's end, or
 * the variable. */
static void name_persistent(const berth_watch_t *watch, uint32_t offset,
                            berth_guard_finding_t *finding) {
  const berth_guard_t *guard = watch->guard;
  const berth_interpreter_t *interpreter = guard->interpreter;
  uint32_t distance = interpreter->persistent_used - offset;
  berth_subgraph_t graph = berth_model_subgraph(interpreter->model, watch->call.subgraph);
  finding->owner = BERTH_GUARD_WORKSPACE;
  finding->victim_first = offset;
  uint32_t nearest = UINT32_MAX;
  for (uint32_t op = 0; op < graph.operator_count; op++) {
    const berth_operator_place_t *place =
        &interpreter->operators[berth_run_operator_index(interpreter, watch->call.subgraph, op)];
    const uint32_t starts[2] = {place->workspace, place->state};
    for (int i = 0; i < 2; i++) {
      if (starts[i] < distance || starts[i] >= nearest) continue;
      nearest = starts[i];
      finding->victim_op = op;
      finding->victim_first = starts[i] - distance;
    }
  }
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    uint32_t place = interpreter->places[i];
    if (!berth_run_is_persistent(place)) continue;
    uint32_t start = place & ~PLACE_PERSISTENT;
    if (start < distance || start >= nearest) continue;
    nearest = start;
    finding->owner = BERTH_GUARD_TENSOR;
    finding->victim = guard->graph.tensors[i].tensor;
    finding->victim_op = BERTH_NOBODY;
    finding->victim_first = start - distance;
  }
}

bool berth_watch_is_persistent_changed(const berth_watch_t *watch, berth_guard_finding_t *finding) {
  const berth_guard_t *guard = watch->guard;
  uint32_t first, count;
  if (!berth_watch_differ(berth_watch_persistent(guard), guard->persistent,
                          guard->interpreter->persistent_used, &first, &count)) {
    return false;
  }
  *finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
  name_persistent(watch, first, finding);
  finding->victim_count = count;
  return true;
}

bool berth_watch_check_persistent(const berth_watch_t *watch) {
  berth_guard_finding_t finding;
  if (!berth_watch_is_persistent_changed(watch, &finding)) return true;
  berth_watch_report(watch, finding);
  return false;
}

/* Puts a constant right that differs from the other copy of the model's file; false, and where. */
static bool restore(const berth_watch_t *watch, const berth_value_t *value, uint32_t *first,
                    uint32_t *count) {
  const uint8_t *original = watch->guard->pristine + (value->data - watch->call.model->data);
  if (!berth_watch_differ(value->data, original, value->bytes, first, count)) return true;
  memcpy(value->data, original, value->bytes); /* writable, or it could not have been changed */
  return false;
}

static berth_guard_finding_t constant_finding(const berth_watch_t *watch, uint32_t tensor,
                                              uint32_t first, uint32_t count) {
  berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
  finding.owner = BERTH_GUARD_CONSTANT;
  finding.victim = tensor;
  finding.victim_first = first;
  finding.victim_count = count;
  return finding;
}

/* The constant that is hunted, if it is of this operator's subgraph. */
static bool hunted(const berth_watch_t *watch, berth_value_t *value) {
  const berth_guard_t *guard = watch->guard;
  if (guard->hunted == BERTH_NOBODY) return false;
  const berth_graph_tensor_t *tensor = &guard->graph.tensors[guard->hunted];
  if (tensor->subgraph != watch->call.subgraph) return false;
  *value = berth_interpreter_tensor(guard->interpreter, tensor->subgraph, tensor->tensor);
  return value->constant;
}

bool berth_watch_check_constants(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  uint32_t first, count, inputs = watch->call.op.inputs.count;
  bool right = true;
  for (uint32_t i = 0; i <= inputs && guard->pristine != NULL; i++) {
    berth_value_t value;
    if (i < inputs) value = berth_input(&watch->call, i);
    if (i < inputs ? !value.present || !value.constant : !hunted(watch, &value)) continue;
    if (restore(watch, &value, &first, &count)) continue;
    if (right && !guard->clobbered) {
      berth_watch_report(watch, constant_finding(watch, value.index, first, count));
    }
    right = false;
  }
  return right || guard->clobbered;
}

void berth_watch_hunt(const berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  uint32_t first, count;
  for (uint32_t i = 0; i < watch->call.op.inputs.count && guard->pristine != NULL; i++) {
    berth_value_t value = berth_input(&watch->call, i);
    if (!value.present || !value.constant || restore(watch, &value, &first, &count)) continue;
    if (guard->suspected || guard->repeating) continue;
    guard->suspected = true;
    guard->suspicion = constant_finding(watch, value.index, first, count);
    guard->suspicion.unconfirmed = true;
    guard->hunted = berth_run_tensor_index(guard->interpreter, watch->call.subgraph, value.index);
  }
}
