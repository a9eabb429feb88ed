/* The guard, attaching: its memory, and the lifetimes by which it judges. See berth/guard.h. */
#include "watch.h"
#include <string.h>

static uint64_t round_up(uint64_t bytes) {
  return (bytes + 15) & ~(uint64_t)15;
}

/* The most entries of a list of what is kept: tensors, each in two parts or, where others lie over
 * it, one more for each; and sums. */
static uint64_t kept_room(const berth_interpreter_t *interpreter) {
  uint64_t count = interpreter->tensor_count;
  return interpreter->runs != NULL ? 3 * count + 2 * interpreter->operator_count : count;
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

berth_status_t berth_guard_bytes(const berth_interpreter_t *interpreter, uint32_t before,
                                 uint32_t after, uint64_t *bytes) {
  if (interpreter == NULL || !interpreter->prepared) return BERTH_ERROR_ARGUMENT;
  const berth_memories_t *memories = &interpreter->memories;
  if (memories->persistent.data == NULL || memories->metadata.data == NULL) {
    return BERTH_ERROR_UNSUPPORTED;
  }
  size_t graph;
  berth_status_t status = berth_graph_workspace(interpreter->model, &graph);
  if (status != BERTH_OK) return status;
  uint64_t arena = (uint64_t)before + interpreter->needs.extent + after;
  *bytes = round_up(kept_room(interpreter) * sizeof(berth_kept_t)) + round_up(graph) +
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
  new.run = berth_watch_run;
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
  for (uint32_t i = 0; i < new.graph.tensor_count; i++) {
    berth_run_widen(interpreter, &new.graph.tensors[i]);
  }
  uint8_t *at = (uint8_t *)memory + round_up(graph);
  new.kept = (berth_kept_t *)(void *)at;
  at += round_up(kept_room(interpreter) * sizeof(berth_kept_t));
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
