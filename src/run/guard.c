/* The guard: evaluates an operator twice in memory that is known to the byte. See berth/guard.h.
 *
 * Between operators, `expected` holds what every live tensor must hold. Before each evaluation the
 * live tensors that the operator does not write are as expected, and every other byte (free memory,
 * the operator's outputs and scratch, the caller's margins) is the pattern; so after it, whatever
 * differs from that and is not the operator's own was clobbered.
 */
#include "watch_fast.h"
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#if !defined(ADDRESS_SANITIZER) && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif

/* Memory that nobody may touch, to the tool that watches this program, if there is one. */
#if defined(ADDRESS_SANITIZER)
void __asan_poison_memory_region(const volatile void *data, size_t bytes); /* of the sanitizer */
void __asan_unpoison_memory_region(const volatile void *data, size_t bytes);
#define poison(data, bytes)   __asan_poison_memory_region(data, bytes)
#define unpoison(data, bytes) __asan_unpoison_memory_region(data, bytes)
#define is_watched()          true
#elif defined(VALGRIND_MAKE_MEM_NOACCESS)
#define poison(data, bytes)   ((void)VALGRIND_MAKE_MEM_NOACCESS(data, bytes))
#define unpoison(data, bytes) ((void)VALGRIND_MAKE_MEM_DEFINED(data, bytes))
#define is_watched()          (RUNNING_ON_VALGRIND != 0)
#else
#define poison(data, bytes)   ((void)(data), (void)(bytes))
#define unpoison(data, bytes) ((void)(data), (void)(bytes))
#define is_watched()          false
#endif

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
  finding.since = BERTH_NOBODY;
  return finding;
}

/* Who hunts for the one that changes a constant has reported all else before. */
void berth_watch_report(const berth_watch_t *watch, berth_guard_finding_t finding) {
  const berth_guard_t *guard = watch->guard;
  if (guard->repeating && !guard->fast && finding.owner != BERTH_GUARD_CONSTANT) return;
  watch->guard->findings++;
  if (watch->guard->report != NULL) watch->guard->report(watch->guard->user, &finding);
}

/* ---- Setting up ----------------------------------------------------------------------------- */

static void fill_outputs(const berth_watch_t *watch, uint8_t pattern) {
  berth_range_t range;
  uint32_t output;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (output == BERTH_NOBODY || !berth_watch_is_in_arena(watch->guard, range.data)) continue;
    memset(range.data, pattern, range.bytes);
  }
}

/* After the outputs, since one that shares memory with an input must find it there. What an
 * operator has begun to accumulate is its result, and what it starts from. */
static void put_kept(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    const berth_kept_t *kept = &guard->kept[i];
    memcpy(kept->data, guard->expected + (kept->data - berth_watch_arena(guard)), kept->bytes);
  }
  berth_range_t sums = berth_watch_sums(watch);
  if (sums.bytes > 0 && guard->interpreter->progress.piece.first_row > 0) {
    memcpy(sums.data, guard->expected + (sums.data - berth_watch_arena(guard)), sums.bytes);
  }
}

void berth_watch_set_up(const berth_watch_t *watch, bool second) {
  const berth_guard_t *guard = watch->guard;
  uint8_t pattern = second ? PATTERN_B : PATTERN_A;
  uint8_t *start = berth_watch_arena(guard);
  unpoison(start, berth_watch_arena_bytes(guard));
  berth_range_t range;
  uint8_t *at = start;
  while (berth_watch_gap(watch, &at, &range)) memset(range.data, pattern, range.bytes);
  fill_outputs(watch, second ? OUTPUT_B : OUTPUT_A);
  if (watch->flags & OPERATOR_PARTIAL) berth_run_zero_outputs(&watch->call);
  put_kept(watch);
  memset(guard->scratch, pattern, guard->scratch_room);
  memcpy(berth_watch_persistent(guard), guard->persistent, guard->interpreter->persistent_used);
}

static void poison_gaps(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  uint8_t *at = berth_watch_arena(watch->guard);
  while (berth_watch_gap(watch, &at, &range)) poison(range.data, range.bytes);
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    unpoison(range.data, range.bytes);
  }
  for (uint32_t i = 0; berth_watch_scratch(watch, i, &range); i++)
    unpoison(range.data, range.bytes);
  /* A vector may reach from the last pixel of a row that is read into one that isn't, of the same
   * tensor; the pattern there shows whether anything depends on it. */
  for (uint32_t i = 0; watch->in_piece && i < watch->call.op.inputs.count; i++) {
    berth_value_t input = berth_input(&watch->call, i);
    if (!input.present || input.constant || input.data == NULL) continue;
    unpoison(input.data, berth_run_held_bytes(&input));
  }
}

/* Evaluates once; under AddressSanitizer or valgrind, what is nobody's is poisoned meanwhile. */
static berth_status_t evaluate(berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  bool poisoned = is_watched() && !guard->no_poison;
  if (poisoned) poison_gaps(watch);
  berth_status_t status = berth_run_evaluate(&watch->call);
  if (poisoned) unpoison(berth_watch_arena(guard), berth_watch_arena_bytes(guard));
  return status;
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
    const uint8_t *start = berth_watch_persistent(guard);
    if (range.data >= start && range.data < start + guard->interpreter->persistent_used) {
      memcpy(range.data, guard->persistent + (range.data - start), range.bytes);
    } else {
      memset(range.data, pattern, range.bytes);
    }
  }
  for (uint32_t i = 0; berth_watch_scratch(watch, i, &range); i++) {
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
  const uint8_t *persistent = berth_watch_persistent(guard), *arena = berth_watch_arena(guard);
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (range.bytes == 0) continue;
    memcpy(range.data, from, range.bytes);
    if (range.data >= persistent && range.data < persistent + guard->interpreter->persistent_used) {
      memcpy(guard->persistent + (range.data - persistent), from, range.bytes);
    } else if (range.data >= arena && range.data < arena + berth_watch_arena_bytes(guard)) {
      memcpy(guard->expected + (range.data - arena), from, range.bytes);
    }
    from += range.bytes;
  }
}

static uint32_t scratch_bytes(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t sum = 0;
  for (uint32_t i = 0; berth_watch_scratch(watch, i, &range); i++)
    sum += (range.bytes + 15u) & ~15u;
  return sum;
}

static uint64_t results_bytes(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  uint64_t sum = 0;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) sum += range.bytes;
  return sum;
}

/* Can the results be kept? Those of unknown size have none before the operator has run. */
static bool has_room(const berth_watch_t *watch) {
  return results_bytes(watch) <= watch->guard->results_room;
}

/* Are sums the same, but for bytes that nobody wrote? */
static bool same_sums(const uint8_t *first, const uint8_t *second, uint32_t bytes, uint32_t *at,
                      uint32_t *count) {
  for (uint32_t i = 0; i < bytes; i++) {
    if (first[i] == second[i] || (first[i] == PATTERN_A && second[i] == PATTERN_B)) continue;
    *at = i;
    *count = 1;
    return false;
  }
  return true;
}

bool berth_watch_same_results(const berth_watch_t *watch, uint32_t *output, uint32_t *first,
                              uint32_t *count) {
  berth_range_t range;
  const uint8_t *saved = watch->guard->results;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, output); i++) {
    if (range.bytes == 0) continue;
    if (range.data == berth_watch_sums(watch).data) {
      if (!same_sums(saved, range.data, range.bytes, first, count)) return false;
    } else if (berth_watch_differ(range.data, saved, range.bytes, first, count)) {
      *first += range.first;
      return false;
    }
    saved += range.bytes;
  }
  return true;
}

/* ---- What the second evaluation tells -------------------------------------------------------- */

/* Bytes of an output that hold the pattern both times: [*first, *first + *count) of it spans them,
 * and begins at `*place`. */
static bool find_unwritten(const berth_watch_t *watch, uint32_t *output, uint32_t *first,
                           uint32_t *count, const uint8_t **place) {
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
      *first = range.first + low;
      *count = high - low + 1;
      *place = range.data + low;
      return true;
    }
    saved += range.bytes;
  }
  return false;
}

/* Does the result change if only [from, to) of the watched memory holds the other pattern? */
static bool matters(berth_watch_t *watch, uint32_t from, uint32_t to) {
  uint8_t *start = berth_watch_arena(watch->guard), *at = start;
  berth_range_t gap;
  uint32_t output, first, count;
  berth_watch_set_up(watch, false);
  while (berth_watch_gap(watch, &at, &gap)) {
    uint32_t low = (uint32_t)(gap.data - start), high = low + gap.bytes;
    if (low < from) low = from;
    if (high > to) high = to;
    if (low < high) memset(start + low, PATTERN_B, high - low);
  }
  /* The outputs are among the gaps: theirs again, but for what was asked. */
  berth_range_t range;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    if (output == BERTH_NOBODY || !berth_watch_is_in_arena(watch->guard, range.data)) continue;
    for (uint32_t k = 0; k < range.bytes; k++) {
      uint32_t place = (uint32_t)(range.data - start) + k;
      range.data[k] = place >= from && place < to ? OUTPUT_B : OUTPUT_A;
    }
  }
  if (watch->flags & OPERATOR_PARTIAL) berth_run_zero_outputs(&watch->call);
  put_kept(watch);
  if (berth_run_evaluate(&watch->call) != BERTH_OK) return true;
  return !berth_watch_same_results(watch, &output, &first, &count);
}

/* Finds the lowest and the highest byte that the result depends on, by halving. */
static void locate(berth_watch_t *watch, berth_guard_finding_t *finding) {
  uint32_t bytes = berth_watch_arena_bytes(watch->guard), low = 0, high = bytes;
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
  berth_watch_name(watch, berth_watch_arena(watch->guard) + lowest, finding);
  finding->victim_count = low - lowest + 1;
}

static void judge_results(berth_watch_t *watch) {
  uint32_t output, first, count;
  if (berth_watch_same_results(watch, &output, &first, &count)) return;
  uint32_t unwritten, unwritten_first, unwritten_count;
  const uint8_t *place;
  berth_guard_finding_t finding;
  if (find_unwritten(watch, &unwritten, &unwritten_first, &unwritten_count, &place)) {
    finding = berth_watch_finding(watch, BERTH_GUARD_PARTIAL_WRITE);
    finding.tensor = berth_output(&watch->call, unwritten).index;
    finding.first = unwritten_first;
    finding.count = unwritten_count;
    finding.tenant = berth_watch_tenant(watch, place);
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
  if (watch->in_piece && finding.owner == BERTH_GUARD_TENSOR && finding.victim != finding.tensor) {
    finding.fault =
        BERTH_GUARD_ROW_WINDOW; /* a live tensor, but rows that are not its own to read */
  }
  berth_watch_report(watch, finding);
}

/* ---- One operator --------------------------------------------------------------------------- */

/* Everything as it is now becomes what is expected. */
static void synchronise(berth_guard_t *guard) {
  memcpy(guard->expected, berth_watch_arena(guard), berth_watch_arena_bytes(guard));
  memcpy(guard->persistent, berth_watch_persistent(guard), guard->interpreter->persistent_used);
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
  berth_value_t value = berth_run_seen(call, tensor);
  if (tensor == watch->redirect_tensor) value.data = watch->redirect;
  if (tensor == watch->redirect_input) value.data = watch->input_redirect;
  return value;
}

/* Evaluates in one of the two ways and looks for clobbered bytes. */
static berth_status_t evaluate_and_check(berth_watch_t *watch, bool second) {
  uint8_t pattern = second ? PATTERN_B : PATTERN_A;
  berth_watch_set_up(watch, second);
  berth_status_t status = evaluate(watch);
  if (status != BERTH_OK || !has_room(watch)) return status;
  bool clean = berth_watch_check_constants(watch) &&
               (watch->guard->clobbered || berth_watch_check_kept(watch));
  uint8_t *to = second ? watch->guard->second_results : watch->guard->results;
  save_results(watch, pattern, to);
  if (clean && !watch->guard->clobbered && berth_watch_check_gaps(watch, pattern))
    berth_watch_check_persistent(watch);
  return BERTH_OK;
}

/* The second evaluation has its scratch elsewhere, so that what was written behind an output cannot
 * have been the operator's own by chance. */
static void move_scratch(berth_watch_t *watch, void *places[BERTH_SCRATCH_MAX]) {
  uint8_t *to = watch->guard->scratch;
  berth_range_t range;
  memcpy(places, watch->call.scratch, sizeof watch->call.scratch);
  for (uint32_t i = 0; berth_watch_scratch(watch, i, &range); i++) {
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
  berth_watch_hunt(watch);
  berth_status_t status = evaluate_and_check(watch, false);
  if (status != BERTH_OK) return status;
  if (!has_room(watch)) { /* its size shows only now */
    berth_watch_pass_over(guard);
    return BERTH_OK;
  }
  guard->clobbered = guard->findings != findings; /* said once is enough */
  move_scratch(watch, places);
  status = evaluate_and_check(watch, true);
  memcpy(watch->call.scratch, places, sizeof places);
  if (status != BERTH_OK) return status;
  put_results(watch, guard->second_results);
  judge_results(watch);
  if (guard->findings == findings && !watch->in_piece) {
    status = berth_watch_shared(watch);
    if (status != BERTH_OK) return status;
  }
  if ((guard->deep || guard->repeating) && guard->findings == findings && !watch->in_piece) {
    status = berth_watch_claims(watch);
    if (status != BERTH_OK) return status;
  }
  if (watch->in_piece) berth_watch_list(watch, false);
  berth_watch_set_up(watch, false);
  settle_results(watch);
  return BERTH_OK;
}

static berth_status_t run_calling(berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  if (guard->fast && !guard->repeating) return berth_watch_calling(watch);
  berth_status_t status = berth_run_evaluate(&watch->call);
  synchronise(guard);
  return status;
}

static berth_status_t run_twice(berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  if (!guard->synchronised || watch->call.subgraph != 0) synchronise(guard);
  berth_watch_list(watch, true);
  guard->scratch_room = scratch_bytes(watch);
  if (has_room(watch)) return evaluate_twice(watch);
  berth_watch_pass_over(guard);
  return berth_run_evaluate(&watch->call);
}

berth_status_t berth_watch_run(berth_guard_t *guard, berth_call_t *call, uint32_t flags) {
  const berth_invoke_t *progress = &guard->interpreter->progress;
  bool in_piece = call->subgraph == 0 && progress->run != NULL;
  if (call->subgraph == 0) guard->step = in_piece ? progress->piece.step : progress->step;
  berth_watch_t watch = {.call = *call,
                         .guard = guard,
                         .flags = flags,
                         .step = guard->step,
                         .in_piece = in_piece,
                         .redirect_tensor = BERTH_NOBODY,
                         .redirect_input = BERTH_NOBODY};
  watch.call.tensor = redirected;
  if (in_piece) watch.kind = berth_run_piece_kind(guard->interpreter);
  berth_status_t status;
  if (runs_subgraphs(call)) {
    status = run_calling(&watch);
  } else {
    status = call->kernel->prepare(&watch.call, &watch.contract);
    if (status != BERTH_OK) return status;
    status = guard->fast && !guard->repeating ? berth_watch_once(&watch) : run_twice(&watch);
  }
  call->why = watch.call.why;
  return status;
}
