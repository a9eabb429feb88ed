/* The guard, attaching: its memory, and the lifetimes by which it judges. See berth/guard.h. */
#include "plan/round.h"
#include "watch_fast.h"
#include <string.h>

/* The most entries of a list of what is kept: tensors, each in two parts or, where others lie over
 * it, one more for each; sums; what one operator may write besides. */
static uint64_t kept_room(const berth_interpreter_t *interpreter) {
  return 3 * (uint64_t)interpreter->tensor_count + 2 * (uint64_t)interpreter->operator_count + 16;
}

/* The most that one operator writes and keeps. */
static uint64_t largest_results(const berth_interpreter_t *interpreter) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      berth_operator_t view = berth_model_operator(interpreter->model, s, op);
      uint64_t sum = interpreter->persistent_used;
      if (interpreter->runs != NULL)
        sum += interpreter->needs.extent; /* sums are somewhere in it */
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

/* ---- The block ------------------------------------------------------------------------------- */

/* How a tensor's bytes get checksums; `row` of them where it can be made or read by rows. */
static berth_summed_t summed(const berth_interpreter_t *interpreter,
                             const berth_graph_tensor_t *tensor) {
  berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
  uint32_t flat = berth_run_tensor_index(interpreter, tensor->subgraph, tensor->tensor);
  berth_summed_t of = {.row_bytes = 1, .pattern = berth_watch_first_pattern(value.type)};
  bool placed = interpreter->places[flat] < interpreter->needs.extent;
  if (!value.constant && !placed) return of;
  if (tensor->allocation == BERTH_ALLOCATION_NONE) return of;
  if (value.constant != (tensor->allocation == BERTH_ALLOCATION_MMAP_RO)) return of;
  of.bytes = value.constant ? value.bytes : berth_run_held_bytes(&value);
  bool by_rows = interpreter->runs != NULL && tensor->subgraph == 0 && !value.constant;
  if (of.bytes > 0) of.row_bytes = by_rows ? value.row_bytes : of.bytes;
  return of;
}

/* The most checksums that all tensors need. */
static uint64_t sums_room(const berth_interpreter_t *interpreter) {
  uint64_t count = interpreter->tensor_count;
  if (interpreter->runs == NULL) return count;
  uint32_t tensors = berth_model_subgraph(interpreter->model, 0).tensor_count;
  for (uint32_t i = 0; i < tensors; i++) {
    berth_value_t value = berth_interpreter_tensor(interpreter, 0, i);
    if (!value.constant) count += value.ring;
  }
  return count;
}

static uint64_t input_bytes(const berth_interpreter_t *interpreter) {
  uint64_t sum = 0;
  uint32_t count = berth_model_subgraph(interpreter->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) sum += berth_interpreter_input(interpreter, i).bytes;
  return sum;
}

/* The parts of the guard's block, in this order. */
enum {
  PART_GRAPH,
  PART_KEPT,
  PART_EXPECTED,
  PART_PERSISTENT,
  PART_RESULTS,
  PART_SECOND_RESULTS,
  PART_SCRATCH,
  PART_SUMMED,
  PART_SUMS,
  PART_DIGESTS,
  PART_INPUTS,
  PART_BEGUN,
  PARTS
};

static berth_status_t parts(const berth_interpreter_t *interpreter, uint64_t arena,
                            uint64_t bytes[PARTS]) {
  size_t graph;
  berth_status_t status = berth_graph_workspace(interpreter->model, &graph);
  if (status != BERTH_OK) return status;
  bytes[PART_GRAPH] = graph;
  bytes[PART_KEPT] = kept_room(interpreter) * sizeof(berth_kept_t);
  bytes[PART_EXPECTED] = arena;
  bytes[PART_PERSISTENT] = interpreter->persistent_used;
  bytes[PART_RESULTS] = largest_results(interpreter);
  bytes[PART_SECOND_RESULTS] = bytes[PART_RESULTS];
  /* An operator's scratch is somewhere in the arena: no more than that, and fences between. */
  bytes[PART_SCRATCH] =
      (uint64_t)interpreter->needs.extent + (BERTH_SCRATCH_MAX + 1) * (BERTH_WATCH_FENCE + 32u);
  bytes[PART_SUMMED] = interpreter->tensor_count * sizeof(berth_summed_t);
  bytes[PART_SUMS] = sums_room(interpreter) * sizeof(uint64_t);
  bytes[PART_DIGESTS] = (uint64_t)interpreter->operator_count * 2 * sizeof(uint64_t);
  bytes[PART_INPUTS] = input_bytes(interpreter);
  bytes[PART_BEGUN] = interpreter->persistent_used;
  for (int i = 0; i < PARTS; i++) bytes[i] = berth_round_up(bytes[i], 16);
  return BERTH_OK;
}

berth_status_t berth_guard_bytes(const berth_interpreter_t *interpreter, uint32_t before,
                                 uint32_t after, uint64_t *bytes) {
  if (interpreter == NULL || !interpreter->prepared) return BERTH_ERROR_ARGUMENT;
  const berth_memories_t *memories = &interpreter->memories;
  if (memories->persistent.data == NULL || memories->metadata.data == NULL) {
    return BERTH_ERROR_UNSUPPORTED;
  }
  uint64_t each[PARTS], sum = 0;
  uint64_t arena = (uint64_t)before + interpreter->needs.extent + after;
  berth_status_t status = parts(interpreter, arena, each);
  if (status != BERTH_OK) return status;
  for (int i = 0; i < PARTS; i++) sum += each[i];
  *bytes = sum;
  return BERTH_OK;
}

/* Every tensor's checksums, one after the other; none is known yet. */
static void lay_out_sums(berth_guard_t *guard, uint64_t room) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    guard->summed[i] = summed(guard->interpreter, &guard->graph.tensors[i]);
    guard->summed[i].first = at;
    at += guard->summed[i].bytes / guard->summed[i].row_bytes;
  }
  memset(guard->sums, 0, (size_t)room);
}

berth_status_t berth_guard_attach(berth_guard_t *guard, berth_interpreter_t *interpreter,
                                  uint32_t before, uint32_t after, void *memory, uint64_t bytes,
                                  berth_guard_report_t report, void *user) {
  uint64_t needed, each[PARTS];
  berth_status_t status = berth_guard_bytes(interpreter, before, after, &needed);
  if (status != BERTH_OK) return status;
  if (interpreter->progress.waiting) return BERTH_ERROR_ARGUMENT; /* it has not seen the start */
  if (bytes < needed) return BERTH_ERROR_MEMORY;
  berth_guard_t new;
  memset(&new, 0, sizeof new);
  new.run = berth_watch_run;
  new.begin = berth_watch_start_invoke;
  new.unseen = berth_watch_pass_over;
  new.take = berth_watch_take;
  new.over = berth_watch_over;
  new.frame = berth_watch_frame;
  new.interpreter = interpreter;
  new.report = report;
  new.user = user;
  new.before = before;
  new.after = after;
  parts(interpreter, (uint64_t)before + interpreter->needs.extent + after, each);
  uint8_t *at[PARTS], *next = memory;
  for (int i = 0; i < PARTS; i++) {
    at[i] = next;
    next += each[i];
  }
  berth_graph_options_t options = berth_run_graph_options(interpreter);
  status = berth_graph_analyse(interpreter->model, &options, at[PART_GRAPH],
                               (size_t)each[PART_GRAPH], &new.graph, NULL);
  if (status != BERTH_OK) return status;
  berth_run_fold_lifetimes(interpreter, &new.graph);
  for (uint32_t i = 0; i < new.graph.tensor_count; i++) {
    berth_graph_tensor_t *tensor = &new.graph.tensors[i];
    tensor->last = berth_run_last_step(interpreter, tensor);
    berth_run_widen(interpreter, tensor);
  }
  new.kept = (berth_kept_t *)(void *)at[PART_KEPT];
  new.expected = at[PART_EXPECTED];
  new.persistent = at[PART_PERSISTENT];
  new.results = at[PART_RESULTS];
  new.results_room = (uint32_t)each[PART_RESULTS];
  new.second_results = at[PART_SECOND_RESULTS];
  new.scratch = at[PART_SCRATCH];
  new.summed = (berth_summed_t *)(void *)at[PART_SUMMED];
  new.sums = (uint64_t *)(void *)at[PART_SUMS];
  new.digests = (uint64_t *)(void *)at[PART_DIGESTS];
  memset(new.digests, 0, (size_t)each[PART_DIGESTS]);
  new.inputs = at[PART_INPUTS];
  new.begun = at[PART_BEGUN];
  lay_out_sums(&new, each[PART_SUMS]);
  *guard = new;
  interpreter->guard = guard;
  return BERTH_OK;
}
