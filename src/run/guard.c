/* The guard: evaluates an operator twice in memory that is known to the byte. See berth/guard.h.
 *
 * Between operators, `expected` holds what every live tensor must hold. Before each evaluation the
 * live tensors that the operator does not write are as expected, and every other byte (free memory,
 * the operator's outputs and scratch, the caller's margins) is the pattern; so after it, whatever
 * differs from that and is not the operator's own was clobbered.
 */
#include "watch.h"
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON 1
#endif
#endif
#ifdef POISON
void __asan_poison_memory_region(const volatile void *data, size_t bytes); /* of the sanitizer */
void __asan_unpoison_memory_region(const volatile void *data, size_t bytes);
#define poison(data, bytes)   __asan_poison_memory_region(data, bytes)
#define unpoison(data, bytes) __asan_unpoison_memory_region(data, bytes)
#else
#define poison(data, bytes)   ((void)(data), (void)(bytes))
#define unpoison(data, bytes) ((void)(data), (void)(bytes))
#endif

/* ---- What is where -------------------------------------------------------------------------- */

static uint8_t *arena_start(const berth_guard_t *guard) {
  return (uint8_t *)guard->interpreter->memories.activations.data - guard->before;
}

/* Bytes under watch: margins and everything up to where dynamic tensors begin. */
static uint32_t arena_bytes(const berth_guard_t *guard) {
  return guard->before + guard->interpreter->needs.extent + guard->after;
}

static bool is_in_arena(const berth_guard_t *guard, const uint8_t *data) {
  const uint8_t *start = arena_start(guard);
  return data >= start && data < start + arena_bytes(guard);
}

static uint8_t *persistent_start(const berth_guard_t *guard) {
  return berth_run_persistent(guard->interpreter, guard->interpreter->persistent_used);
}

static bool is_output(const berth_watch_t *watch, uint32_t subgraph, uint32_t tensor) {
  if (subgraph != watch->call.subgraph) return false;
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    if (berth_vector_int(watch->call.op.outputs, i) == (int32_t)tensor) return true;
  }
  return false;
}

/* Lists the tensors that are in the arena, live in the step, and not written by the operator. */
static void list_kept(const berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  const berth_interpreter_t *interpreter = guard->interpreter;
  guard->kept_count = 0;
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    uint32_t place = interpreter->places[i];
    if (watch->step < tensor->first || watch->step > tensor->last) continue;
    if (place >= interpreter->needs.extent) continue; /* none, persistent or dynamic */
    if (is_output(watch, tensor->subgraph, tensor->tensor)) continue;
    berth_kept_t kept = {
        .data = (uint8_t *)interpreter->memories.activations.data + place,
        .bytes = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor).bytes,
        .tensor = i};
    if (kept.bytes == 0) continue;
    uint32_t at = guard->kept_count++;
    while (at > 0 && guard->kept[at - 1].data > kept.data) {
      guard->kept[at] = guard->kept[at - 1];
      at--;
    }
    guard->kept[at] = kept;
  }
}

/* The next piece of memory under watch that no kept tensor covers, from `*at` on; false past the
 * last one. */
static bool next_gap(const berth_watch_t *watch, uint8_t **at, berth_range_t *gap) {
  const berth_guard_t *guard = watch->guard;
  uint8_t *end = arena_start(guard) + arena_bytes(guard), *stop = end;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    const berth_kept_t *kept = &guard->kept[i];
    if (kept->data > *at) {
      stop = kept->data;
      break;
    }
    if (kept->data + kept->bytes > *at) *at = kept->data + kept->bytes;
  }
  if (*at >= end) return false;
  gap->data = *at;
  gap->bytes = (uint32_t)(stop - *at);
  *at = stop;
  return true;
}

static bool next_scratch(const berth_watch_t *watch, uint32_t index, berth_range_t *range) {
  if (index >= BERTH_SCRATCH_MAX) return false;
  range->data = watch->call.scratch[index];
  range->bytes = 0;
  if (range->data == NULL) return true;
  if (index == 0 && watch->flags & OPERATOR_WISH) {
    range->bytes = watch->call.scratch_bytes;
    return true;
  }
  range->bytes = watch->contract.scratch[index];
  return true;
}

bool berth_watch_result(const berth_watch_t *watch, uint32_t index, berth_range_t *range,
                        uint32_t *output) {
  const berth_call_t *call = &watch->call;
  uint32_t outputs = call->op.outputs.count, inputs = call->op.inputs.count;
  *output = BERTH_NOBODY;
  range->data = NULL;
  range->bytes = 0;
  if (index < outputs) {
    berth_value_t value = berth_output(call, index);
    *output = index;
    range->data = value.data;
    range->bytes = value.data != NULL ? value.bytes : 0;
    return true;
  }
  if (index < outputs + inputs) { /* variables that it may write */
    int32_t tensor = berth_vector_int(call->op.inputs, index - outputs);
    if (tensor == BERTH_NO_TENSOR) return true;
    uint32_t flat =
        berth_run_tensor_index(watch->guard->interpreter, call->subgraph, (uint32_t)tensor);
    if (watch->guard->graph.tensors[flat].allocation != BERTH_ALLOCATION_PERSISTENT) return true;
    berth_value_t value = berth_input(call, index - outputs);
    range->data = value.data;
    range->bytes = value.bytes;
    return true;
  }
  if (index == outputs + inputs) {
    if (call->state == NULL) return true;
    memcpy(&range->bytes, (uint8_t *)call->state - 16, sizeof range->bytes);
    range->data = call->state;
    return true;
  }
  return false;
}

/* ---- Findings ------------------------------------------------------------------------------- */

berth_guard_finding_t berth_watch_finding(const berth_watch_t *watch, berth_guard_fault_t fault) {
  berth_guard_finding_t finding;
  memset(&finding, 0, sizeof finding);
  finding.fault = fault;
  finding.subgraph = watch->call.subgraph;
  finding.op = watch->call.index;
  finding.tensor = BERTH_NOBODY;
  finding.owner = BERTH_GUARD_NOBODY;
  finding.victim = BERTH_NOBODY;
  finding.victim_op = BERTH_NOBODY;
  finding.tenant = BERTH_NOBODY;
  return finding;
}

void berth_watch_report(const berth_watch_t *watch, berth_guard_finding_t finding) {
  watch->guard->findings++;
  if (watch->guard->report != NULL) watch->guard->report(watch->guard->user, &finding);
}

/* The tensor that lay at an address of the arena last before this step. */
static uint32_t tenant_of(const berth_watch_t *watch, const uint8_t *address) {
  const berth_guard_t *guard = watch->guard;
  uint32_t best = BERTH_NOBODY, latest = 0;
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    uint32_t place = guard->interpreter->places[i];
    if (place == PLACE_NONE || place == PLACE_UNKNOWN || place & PLACE_PERSISTENT) continue;
    if (tensor->subgraph != watch->call.subgraph || tensor->last >= watch->step) continue;
    const uint8_t *data = (uint8_t *)guard->interpreter->memories.activations.data + place;
    uint32_t bytes =
        berth_interpreter_tensor(guard->interpreter, tensor->subgraph, tensor->tensor).bytes;
    if (address < data || address >= data + bytes) continue;
    if (best == BERTH_NOBODY || tensor->last >= latest) {
      best = tensor->tensor;
      latest = tensor->last;
    }
  }
  return best;
}

/* Fills in whose byte an address of the arena is, for one that no kept tensor covers. */
static void name_gap(const berth_watch_t *watch, const uint8_t *address,
                     berth_guard_finding_t *finding) {
  const berth_guard_t *guard = watch->guard;
  const uint8_t *base = guard->interpreter->memories.activations.data;
  uint32_t extent = guard->interpreter->needs.extent;
  berth_range_t range;
  if (address < base || address >= base + extent) {
    finding->owner = BERTH_GUARD_OUTSIDE;
    finding->victim_first =
        address < base ? (uint32_t)(base - address) : (uint32_t)(address - base) - extent;
    return;
  }
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    if (output.data == NULL || address < output.data || address >= output.data + output.bytes) {
      continue;
    }
    finding->owner = BERTH_GUARD_TENSOR;
    finding->victim = output.index;
    finding->victim_first = (uint32_t)(address - output.data);
    finding->tenant = tenant_of(watch, address);
    return;
  }
  for (uint32_t i = 0; next_scratch(watch, i, &range); i++) {
    if (range.data == NULL || address < range.data || address >= range.data + range.bytes) continue;
    finding->owner = BERTH_GUARD_SCRATCH;
    finding->victim_first = (uint32_t)(address - range.data);
    finding->tenant = tenant_of(watch, address);
    return;
  }
  finding->owner = BERTH_GUARD_NOBODY;
  finding->victim_first = (uint32_t)(address - base);
  finding->tenant = tenant_of(watch, address);
}

/* ---- Setting up ----------------------------------------------------------------------------- */

static void fill_outputs(const berth_watch_t *watch, uint8_t pattern) {
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    if (is_in_arena(watch->guard, output.data)) memset(output.data, pattern, output.bytes);
  }
}

/* After the outputs, since one that shares memory with an input must find it there. */
static void put_kept(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    const berth_kept_t *kept = &guard->kept[i];
    memcpy(kept->data, guard->expected + (kept->data - arena_start(guard)), kept->bytes);
  }
}

void berth_watch_set_up(const berth_watch_t *watch, bool second) {
  const berth_guard_t *guard = watch->guard;
  uint8_t pattern = second ? PATTERN_B : PATTERN_A;
  uint8_t *start = arena_start(guard);
  unpoison(start, arena_bytes(guard));
  berth_range_t range;
  uint8_t *at = start;
  while (next_gap(watch, &at, &range)) memset(range.data, pattern, range.bytes);
  fill_outputs(watch, second ? OUTPUT_B : OUTPUT_A);
  if (watch->flags & OPERATOR_PARTIAL) berth_run_zero_outputs(&watch->call);
  put_kept(watch);
  memset(guard->scratch, pattern, guard->scratch_room);
  memcpy(persistent_start(guard), guard->persistent, guard->interpreter->persistent_used);
}

/* Evaluates once; under AddressSanitizer, what is nobody's is poisoned meanwhile. */
static berth_status_t evaluate(berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
#ifdef POISON
  berth_range_t range;
  uint32_t output;
  uint8_t *at = arena_start(guard);
  while (!guard->no_poison && next_gap(watch, &at, &range)) poison(range.data, range.bytes);
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    unpoison(range.data, range.bytes);
  }
  for (uint32_t i = 0; next_scratch(watch, i, &range); i++) unpoison(range.data, range.bytes);
#endif
  berth_status_t status = berth_run_evaluate(&watch->call);
  unpoison(arena_start(guard), arena_bytes(guard));
  return status;
}

/* ---- Clobbering ----------------------------------------------------------------------------- */

/* First byte that differs and the number of bytes from it to the last one that does. */
static bool differ(const uint8_t *a, const uint8_t *b, uint32_t bytes, uint32_t *first,
                   uint32_t *count) {
  if (bytes == 0 || memcmp(a, b, bytes) == 0) return false;
  uint32_t i = 0, k = bytes;
  while (a[i] == b[i]) i++;
  while (a[k - 1] == b[k - 1]) k--;
  *first = i;
  *count = k - i;
  return true;
}

static bool is_filled(const uint8_t *data, uint32_t bytes, uint8_t pattern, uint32_t *first,
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
 * the operator may write over it. */
static bool is_replaced(const berth_watch_t *watch, const berth_kept_t *kept) {
  if (watch->guard->graph.tensors[kept->tensor].last != watch->step) return false;
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    if (output.data == NULL || kept->data >= output.data + output.bytes) continue;
    if (output.data < kept->data + kept->bytes) return true;
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
static bool check_kept(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    const berth_kept_t *kept = &guard->kept[i];
    uint32_t first, count;
    if (is_replaced(watch, kept)) continue;
    const uint8_t *expected = guard->expected + (kept->data - arena_start(guard));
    if (!differ(kept->data, expected, kept->bytes, &first, &count)) continue;
    berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
    finding.owner = BERTH_GUARD_TENSOR;
    finding.victim = guard->graph.tensors[kept->tensor].tensor;
    finding.victim_first = first;
    finding.victim_count = count;
    berth_watch_report(watch, finding);
    return false;
  }
  return true;
}

/* Free memory and margins that were written. The operator's own bytes hold the pattern again. */
static bool check_gaps(const berth_watch_t *watch, uint8_t pattern) {
  berth_range_t gap;
  uint8_t *at = arena_start(watch->guard);
  while (next_gap(watch, &at, &gap)) {
    uint32_t first, count;
    if (is_filled(gap.data, gap.bytes, pattern, &first, &count)) continue;
    berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
    name_gap(watch, gap.data + first, &finding);
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

static bool check_persistent(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  uint32_t first, count;
  if (!differ(persistent_start(guard), guard->persistent, guard->interpreter->persistent_used,
              &first, &count)) {
    return true;
  }
  berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
  name_persistent(watch, first, &finding);
  finding.victim_count = count;
  berth_watch_report(watch, finding);
  return false;
}

/* Constants against another copy of the model's file. */
static bool check_constants(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  if (guard->pristine == NULL) return true;
  for (uint32_t i = 0; i < watch->call.op.inputs.count; i++) {
    berth_value_t value = berth_input(&watch->call, i);
    if (!value.present || !value.constant) continue;
    const uint8_t *original = guard->pristine + (value.data - watch->call.model->data);
    uint32_t first, count;
    if (!differ(value.data, original, value.bytes, &first, &count)) continue;
    berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
    finding.owner = BERTH_GUARD_CONSTANT;
    finding.victim = value.index;
    finding.victim_first = first;
    finding.victim_count = count;
    berth_watch_report(watch, finding);
    memcpy(value.data, original, value.bytes); /* writable, or it could not have been changed */
    return false;
  }
  return true;
}

/* ---- Results -------------------------------------------------------------------------------- */

/* Copies the results away and puts what was there before in their place. */
static void save_results(const berth_watch_t *watch, uint8_t pattern, uint8_t *to) {
  const berth_guard_t *guard = watch->guard;
  berth_range_t range;
  uint32_t output;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (range.bytes == 0) continue;
    memcpy(to, range.data, range.bytes);
    to += range.bytes;
    const uint8_t *start = persistent_start(guard);
    if (range.data >= start && range.data < start + guard->interpreter->persistent_used) {
      memcpy(range.data, guard->persistent + (range.data - start), range.bytes);
    } else {
      memset(range.data, pattern, range.bytes);
    }
  }
  for (uint32_t i = 0; next_scratch(watch, i, &range); i++) {
    if (range.bytes > 0) memset(range.data, pattern, range.bytes);
  }
}

/* Puts saved results where they were computed. */
static void put_results(const berth_watch_t *watch, const uint8_t *from) {
  berth_range_t range;
  uint32_t output;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (range.bytes == 0) continue;
    memcpy(range.data, from, range.bytes);
    from += range.bytes;
  }
}

/* The saved results become the real ones, and what is expected from now on. */
static void settle_results(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  berth_range_t range;
  uint32_t output;
  const uint8_t *from = guard->results;
  const uint8_t *persistent = persistent_start(guard), *arena = arena_start(guard);
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (range.bytes == 0) continue;
    memcpy(range.data, from, range.bytes);
    if (range.data >= persistent && range.data < persistent + guard->interpreter->persistent_used) {
      memcpy(guard->persistent + (range.data - persistent), from, range.bytes);
    } else if (range.data >= arena && range.data < arena + arena_bytes(guard)) {
      memcpy(guard->expected + (range.data - arena), from, range.bytes);
    }
    from += range.bytes;
  }
}

static uint32_t scratch_bytes(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t sum = 0;
  for (uint32_t i = 0; next_scratch(watch, i, &range); i++) sum += (range.bytes + 15u) & ~15u;
  return sum;
}

static uint64_t results_bytes(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  uint64_t sum = 0;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) sum += range.bytes;
  return sum;
}

bool berth_watch_same_results(const berth_watch_t *watch, uint32_t *output, uint32_t *first,
                              uint32_t *count) {
  berth_range_t range;
  const uint8_t *saved = watch->guard->results;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, output); i++) {
    if (range.bytes == 0) continue;
    if (differ(range.data, saved, range.bytes, first, count)) return false;
    saved += range.bytes;
  }
  return true;
}

/* ---- What the second evaluation tells -------------------------------------------------------- */

/* Bytes of an output that hold the pattern both times: [*first, *first + *count) spans them. */
static bool find_unwritten(const berth_watch_t *watch, uint32_t *output, uint32_t *first,
                           uint32_t *count) {
  berth_range_t range;
  const uint8_t *saved = watch->guard->results;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, output); i++) {
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t k = 0; k < range.bytes && *output != BERTH_NOBODY; k++) {
      if (saved[k] != OUTPUT_A || range.data[k] != OUTPUT_B) continue;
      if (low == UINT32_MAX) low = k;
      high = k;
    }
    if (low != UINT32_MAX) {
      *first = low;
      *count = high - low + 1;
      return true;
    }
    saved += range.bytes;
  }
  return false;
}

/* Does the result change if only [from, to) of the watched memory holds the other pattern? */
static bool matters(berth_watch_t *watch, uint32_t from, uint32_t to) {
  uint8_t *start = arena_start(watch->guard), *at = start;
  berth_range_t gap;
  uint32_t output, first, count;
  berth_watch_set_up(watch, false);
  while (next_gap(watch, &at, &gap)) {
    uint32_t low = (uint32_t)(gap.data - start), high = low + gap.bytes;
    if (low < from) low = from;
    if (high > to) high = to;
    if (low < high) memset(start + low, PATTERN_B, high - low);
  }
  /* The outputs are among the gaps: theirs again, but for what was asked. */
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t value = berth_output(&watch->call, i);
    if (!is_in_arena(watch->guard, value.data)) continue;
    for (uint32_t k = 0; k < value.bytes; k++) {
      uint32_t place = (uint32_t)(value.data - start) + k;
      value.data[k] = place >= from && place < to ? OUTPUT_B : OUTPUT_A;
    }
  }
  if (watch->flags & OPERATOR_PARTIAL) berth_run_zero_outputs(&watch->call);
  put_kept(watch);
  if (berth_run_evaluate(&watch->call) != BERTH_OK) return true;
  return !berth_watch_same_results(watch, &output, &first, &count);
}

/* Finds the lowest and the highest byte that the result depends on, by halving. */
static void locate(berth_watch_t *watch, berth_guard_finding_t *finding) {
  uint32_t bytes = arena_bytes(watch->guard), low = 0, high = bytes;
  while (high - low > 1) { /* [0, high) matters, [0, low) doesn't */
    uint32_t middle = low + (high - low) / 2;
    if (matters(watch, 0, middle)) {
      high = middle;
    } else {
      low = middle;
    }
  }
  uint32_t lowest = high - 1;
  low = lowest;
  high = bytes;
  while (high - low > 1) { /* [low, bytes) matters, [high, bytes) doesn't */
    uint32_t middle = low + (high - low) / 2;
    if (matters(watch, middle, bytes)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  name_gap(watch, arena_start(watch->guard) + lowest, finding);
  finding->victim_count = low - lowest + 1;
}

static void judge_results(berth_watch_t *watch) {
  uint32_t output, first, count;
  if (berth_watch_same_results(watch, &output, &first, &count)) return;
  uint32_t unwritten, unwritten_first, unwritten_count;
  berth_guard_finding_t finding;
  if (find_unwritten(watch, &unwritten, &unwritten_first, &unwritten_count)) {
    berth_value_t value = berth_output(&watch->call, unwritten);
    finding = berth_watch_finding(watch, BERTH_GUARD_PARTIAL_WRITE);
    finding.tensor = value.index;
    finding.first = unwritten_first;
    finding.count = unwritten_count;
    finding.tenant = tenant_of(watch, value.data + unwritten_first);
    berth_watch_report(watch, finding);
    return;
  }
  /* Is it the memory, or the operator itself? Once more as the first time. */
  berth_watch_set_up(watch, false);
  bool stable = berth_run_evaluate(&watch->call) == BERTH_OK;
  uint32_t again, again_first, again_count;
  stable = stable && berth_watch_same_results(watch, &again, &again_first, &again_count);
  finding = berth_watch_finding(watch, stable ? BERTH_GUARD_STALE_READ : BERTH_GUARD_UNSTABLE);
  if (output != BERTH_NOBODY) finding.tensor = berth_output(&watch->call, output).index;
  finding.first = first;
  finding.count = count;
  if (stable) locate(watch, &finding);
  berth_watch_report(watch, finding);
}

/* ---- One operator --------------------------------------------------------------------------- */

/* Everything as it is now becomes what is expected. */
static void synchronise(berth_guard_t *guard) {
  memcpy(guard->expected, arena_start(guard), arena_bytes(guard));
  memcpy(guard->persistent, persistent_start(guard), guard->interpreter->persistent_used);
  guard->synchronised = true;
}

static bool runs_subgraphs(const berth_call_t *call) {
  for (uint32_t i = 0; berth_run_kernels[i] != NULL; i++) {
    if (call->kernel == berth_run_kernels[i]) return true;
  }
  return false;
}

/* A kernel gets a value where the watch wants it. */
static berth_value_t redirected(const berth_call_t *call, uint32_t tensor) {
  const berth_watch_t *watch = (const berth_watch_t *)(const void *)call;
  berth_value_t value = berth_interpreter_tensor(call->interpreter, call->subgraph, tensor);
  if (tensor == watch->redirect_tensor) value.data = watch->redirect;
  return value;
}

/* Evaluates in one of the two ways and looks for clobbered bytes. */
static berth_status_t evaluate_and_check(berth_watch_t *watch, bool second) {
  uint8_t pattern = second ? PATTERN_B : PATTERN_A;
  berth_watch_set_up(watch, second);
  berth_status_t status = evaluate(watch);
  if (status != BERTH_OK) return status;
  bool clean = watch->guard->clobbered || (check_constants(watch) && check_kept(watch));
  uint8_t *to = second ? watch->guard->second_results : watch->guard->results;
  save_results(watch, pattern, to);
  if (clean && !watch->guard->clobbered && check_gaps(watch, pattern)) check_persistent(watch);
  return BERTH_OK;
}

/* The second evaluation has its scratch elsewhere, so that what was written behind an output cannot
 * have been the operator's own by chance. */
static void move_scratch(berth_watch_t *watch, void *places[BERTH_SCRATCH_MAX]) {
  uint8_t *to = watch->guard->scratch;
  berth_range_t range;
  for (uint32_t i = 0; next_scratch(watch, i, &range); i++) {
    places[i] = range.data;
    if (range.data == NULL) continue;
    watch->call.scratch[i] = to;
    to += (range.bytes + 15u) & ~15u;
  }
}

static berth_status_t evaluate_twice(berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  void *places[BERTH_SCRATCH_MAX];
  uint32_t findings = guard->findings;
  guard->clobbered = false;
  berth_status_t status = evaluate_and_check(watch, false);
  if (status != BERTH_OK) return status;
  guard->clobbered = guard->findings != findings; /* said once is enough */
  move_scratch(watch, places);
  status = evaluate_and_check(watch, true);
  memcpy(watch->call.scratch, places, sizeof places);
  if (status != BERTH_OK) return status;
  put_results(watch, guard->second_results);
  judge_results(watch);
  if (guard->findings == findings) {
    status = berth_watch_shared(watch);
    if (status != BERTH_OK) return status;
  }
  if (guard->deep && guard->findings == findings) {
    status = berth_watch_claims(watch);
    if (status != BERTH_OK) return status;
  }
  berth_watch_set_up(watch, false);
  settle_results(watch);
  return BERTH_OK;
}

static berth_status_t run_guarded(berth_guard_t *guard, berth_call_t *call, uint32_t flags) {
  if (call->subgraph == 0) guard->step = guard->interpreter->progress.step;
  if (runs_subgraphs(call)) {
    berth_status_t status = berth_run_evaluate(call);
    synchronise(guard);
    return status;
  }
  if (!guard->synchronised || call->subgraph != 0) synchronise(guard);
  berth_watch_t watch = {.call = *call,
                         .guard = guard,
                         .flags = flags,
                         .step = guard->step,
                         .redirect_tensor = BERTH_NOBODY};
  watch.call.tensor = redirected;
  berth_status_t status = call->kernel->prepare(&watch.call, &watch.contract);
  if (status != BERTH_OK) return status;
  list_kept(&watch);
  guard->scratch_room = scratch_bytes(&watch);
  if (results_bytes(&watch) > guard->results_room) return berth_run_evaluate(call);
  status = evaluate_twice(&watch);
  call->why = watch.call.why;
  return status;
}

/* ---- Attaching ------------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t bytes) {
  return (bytes + 15) & ~(uint64_t)15;
}

/* The most that one operator writes and keeps. */
static uint64_t largest_results(const berth_interpreter_t *interpreter) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      berth_operator_t view = berth_model_operator(interpreter->model, s, op);
      uint64_t sum = interpreter->persistent_used;
      for (uint32_t i = 0; i < view.outputs.count; i++) {
        int32_t tensor = berth_vector_int(view.outputs, i);
        if (tensor == BERTH_NO_TENSOR) continue;
        sum += berth_interpreter_tensor(interpreter, s, (uint32_t)tensor).bytes;
      }
      if (sum > most) most = sum;
    }
  }
  return most;
}

berth_status_t berth_guard_bytes(const berth_interpreter_t *interpreter, uint32_t before,
                                 uint32_t after, uint64_t *bytes) {
  if (interpreter == NULL || !interpreter->prepared) return BERTH_ERROR_ARGUMENT;
  const berth_memories_t *memories = &interpreter->memories;
  if (memories->persistent.data == NULL || memories->metadata.data == NULL ||
      interpreter->runs != NULL) {
    return BERTH_ERROR_UNSUPPORTED;
  }
  size_t graph;
  berth_status_t status = berth_graph_workspace(interpreter->model, &graph);
  if (status != BERTH_OK) return status;
  uint64_t arena = (uint64_t)before + interpreter->needs.extent + after;
  *bytes = round_up(interpreter->tensor_count * (uint64_t)sizeof(berth_kept_t)) + round_up(graph) +
           round_up(arena) + round_up(interpreter->persistent_used) +
           2 * round_up(largest_results(interpreter)) + round_up(interpreter->needs.extent);
  return BERTH_OK;
}

berth_status_t berth_guard_attach(berth_guard_t *guard, berth_interpreter_t *interpreter,
                                  uint32_t before, uint32_t after, void *memory, uint64_t bytes,
                                  berth_guard_report_t report, void *user) {
  uint64_t needed;
  berth_status_t status = berth_guard_bytes(interpreter, before, after, &needed);
  if (status != BERTH_OK) return status;
  if (bytes < needed) return BERTH_ERROR_MEMORY;
  berth_guard_t new;
  memset(&new, 0, sizeof new);
  new.run = run_guarded;
  new.interpreter = interpreter;
  new.report = report;
  new.user = user;
  new.before = before;
  new.after = after;
  size_t graph;
  berth_graph_workspace(interpreter->model, &graph);
  berth_graph_options_t options = berth_run_graph_options(interpreter);
  status = berth_graph_analyse(interpreter->model, &options, memory, graph, &new.graph, NULL);
  if (status != BERTH_OK) return status;
  berth_run_fold_lifetimes(interpreter, &new.graph);
  uint8_t *at = (uint8_t *)memory + round_up(graph);
  new.kept = (berth_kept_t *)(void *)at;
  at += round_up(interpreter->tensor_count * (uint64_t)sizeof(berth_kept_t));
  new.expected = at;
  at += round_up((uint64_t)before + interpreter->needs.extent + after);
  new.persistent = at;
  at += round_up(interpreter->persistent_used);
  new.results = at;
  new.results_room = (uint32_t)largest_results(interpreter);
  at += round_up(new.results_room);
  new.second_results = at;
  at += round_up(new.results_room);
  new.scratch = at; /* an operator's scratch is somewhere in the arena: no more than that */
  *guard = new;
  interpreter->guard = guard;
  return BERTH_OK;
}

void berth_guard_detach(berth_guard_t *guard) {
  guard->interpreter->guard = NULL;
}
