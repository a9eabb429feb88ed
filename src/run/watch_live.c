/* The guard's fast way: checksums of tensors, which tensors are live, and whether they still have
 * the bytes that were written.
 */
#include "watch_fast.h"
#include <string.h>

/* ---- Suspicions ------------------------------------------------------------------------------ */

void berth_watch_suspect(berth_guard_t *guard, berth_guard_finding_t finding, uint32_t since) {
  finding.unconfirmed = true;
  finding.since = since;
  guard->suspected = true;
  guard->suspicion = finding;
}

void berth_watch_suspect_tensor(const berth_watch_t *watch, uint32_t i) {
  const berth_graph_tensor_t *tensor = &watch->guard->graph.tensors[i];
  berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
  bool constant = tensor->allocation == BERTH_ALLOCATION_MMAP_RO;
  finding.owner = constant ? BERTH_GUARD_CONSTANT : BERTH_GUARD_TENSOR;
  finding.victim = tensor->tensor;
  finding.victim_count = watch->guard->summed[i].bytes;
  if (constant) watch->guard->hunted = i;
  berth_watch_suspect(watch->guard, finding, tensor->producer);
}

void berth_watch_suspect_output(const berth_watch_t *watch, berth_guard_fault_t fault) {
  berth_guard_finding_t finding = berth_watch_finding(watch, fault);
  berth_value_t output = berth_output(&watch->call, 0);
  finding.tensor = output.index;
  finding.count = output.bytes;
  berth_watch_suspect(watch->guard, finding, watch->call.index);
}

/* ---- Checksums of tensors -------------------------------------------------------------------- */

uint8_t *berth_watch_data(const berth_guard_t *guard, uint32_t i) {
  return (uint8_t *)guard->interpreter->memories.activations.data + guard->interpreter->places[i];
}

uint32_t berth_watch_summed_rows(const berth_summed_t *summed) {
  return summed->bytes / summed->row_bytes;
}

bool berth_watch_has_sums(const berth_guard_t *guard, uint32_t i) {
  return guard->summed[i].bytes > 0 &&
         guard->graph.tensors[i].allocation != BERTH_ALLOCATION_MMAP_RO;
}

void berth_watch_sum_rows(berth_guard_t *guard, uint32_t i, uint32_t first, uint32_t last) {
  const berth_summed_t *summed = &guard->summed[i];
  for (uint32_t row = first; row < last; row++) {
    uint32_t slot = row % berth_watch_summed_rows(summed);
    guard->sums[summed->first + slot] = berth_watch_sum(
        berth_watch_data(guard, i) + (size_t)slot * summed->row_bytes, summed->row_bytes);
  }
}

void berth_watch_sum_tensor(berth_guard_t *guard, uint32_t i) {
  berth_watch_sum_rows(guard, i, 0, berth_watch_summed_rows(&guard->summed[i]));
}

void berth_watch_forget_tensor(berth_guard_t *guard, uint32_t i) {
  const berth_summed_t *summed = &guard->summed[i];
  memset(&guard->sums[summed->first], 0, berth_watch_summed_rows(summed) * sizeof *guard->sums);
}

bool berth_watch_is_intact(const berth_guard_t *guard, uint32_t i, uint32_t first, uint32_t last) {
  const berth_summed_t *summed = &guard->summed[i];
  for (uint32_t row = first; row < last; row++) {
    uint32_t slot = row % berth_watch_summed_rows(summed);
    uint64_t sum = guard->sums[summed->first + slot];
    if (sum == BERTH_SUM_NONE) continue;
    const uint8_t *data = berth_watch_data(guard, i) + (size_t)slot * summed->row_bytes;
    if (berth_watch_sum(data, summed->row_bytes) != sum) return false;
  }
  return true;
}

bool berth_watch_check_rows(const berth_watch_t *watch, uint32_t i, uint32_t first, uint32_t last) {
  if (berth_watch_is_intact(watch->guard, i, first, last)) return true;
  berth_watch_suspect_tensor(watch, i);
  return false;
}

bool berth_watch_check_tensor(const berth_watch_t *watch, uint32_t i) {
  return berth_watch_check_rows(watch, i, 0, berth_watch_summed_rows(&watch->guard->summed[i]));
}

static bool is_constant_intact(const berth_guard_t *guard, uint32_t i) {
  const berth_summed_t *summed = &guard->summed[i];
  const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
  if (summed->bytes == 0 || berth_watch_has_sums(guard, i)) return true;
  berth_value_t value =
      berth_interpreter_tensor(guard->interpreter, tensor->subgraph, tensor->tensor);
  return berth_watch_sum(value.data, value.bytes) == guard->sums[summed->first];
}

bool berth_watch_check_all_constants(const berth_watch_t *watch) {
  for (uint32_t i = 0; i < watch->guard->graph.tensor_count; i++) {
    if (is_constant_intact(watch->guard, i)) continue;
    berth_watch_suspect_tensor(watch, i);
    return false;
  }
  return true;
}

bool berth_watch_check_weights(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < watch->call.op.inputs.count; i++) {
    berth_value_t value = berth_input(&watch->call, i);
    if (!value.present || !value.constant) continue;
    uint32_t tensor = value.index, subgraph = watch->call.subgraph;
    (void)berth_run_is_folded(guard->interpreter, subgraph, value.index, &tensor);
    uint32_t flat = berth_run_tensor_index(guard->interpreter, subgraph, tensor);
    if (is_constant_intact(guard, flat)) continue;
    berth_watch_suspect_tensor(watch, flat);
    return false;
  }
  return true;
}

/* ---- What is live ---------------------------------------------------------------------------- */

/* Was it read, or laid over by others, row by row? Then it was checked whenever it was read. */
static bool dies_in_run(const berth_guard_t *guard, const berth_graph_tensor_t *tensor) {
  uint32_t number;
  bool whole =
      tensor->kind == BERTH_KIND_OUTPUT && berth_run_ring(guard->interpreter, tensor->tensor) == 0;
  return !whole && berth_run_of_step(guard->interpreter, tensor->last, &number) != NULL;
}

/* Lists the tensors that are live in this step but for the operator's outputs, and looks at those
 * that have died since an operator was watched. */
bool berth_watch_list_live(const berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  guard->kept_count = 0;
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    if (!berth_watch_has_sums(guard, i) || watch->step < tensor->first) continue;
    if (watch->step > tensor->last) {
      if (guard->sums[guard->summed[i].first] == BERTH_SUM_NONE) continue;
      if (!dies_in_run(guard, tensor) && !berth_watch_check_tensor(watch, i)) return false;
      berth_watch_forget_tensor(guard, i);
    } else if (tensor->subgraph != watch->call.subgraph ||
               !berth_vector_holds(watch->call.op.outputs, tensor->tensor)) {
      guard->kept[guard->kept_count++] =
          (berth_kept_t){berth_watch_data(guard, i), guard->summed[i].bytes, 0, i, BERTH_NOBODY};
    }
  }
  return true;
}

bool berth_watch_check_live(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    if (!berth_watch_check_tensor(watch, guard->kept[i].tensor)) return false;
  }
  return true;
}

bool berth_watch_meets(const berth_kept_t *kept, const berth_range_t *range) {
  return range->bytes > 0 && kept->data < range->data + range->bytes &&
         range->data < kept->data + kept->bytes;
}

bool berth_watch_is_over_live(const berth_guard_t *guard, const berth_range_t *range) {
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    if (berth_watch_meets(&guard->kept[i], range)) return true;
  }
  return false;
}
