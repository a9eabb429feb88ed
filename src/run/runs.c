/* Streamed runs: operators that run row by row, as the row schedule says (berth/stream.h).
 *
 * The schedule names a piece: some rows of one operator. It is evaluated by the same kernel as a
 * whole tensor would be; tensors with a ring show it. Nothing is kept from one piece to the next
 * but the schedule's place and what accumulating operators have in their scratch.
 */
#include "run.h"
#include <string.h>

uint32_t berth_run_operator_of(const berth_interpreter_t *interpreter, uint32_t step) {
  const berth_stream_plan_t *plan = interpreter->options.stream;
  return plan != NULL && plan->order != NULL ? plan->order[step] : step;
}

const berth_stream_run_t *berth_run_of_step(const berth_interpreter_t *interpreter, uint32_t step,
                                            uint32_t *number) {
  const berth_stream_plan_t *plan = interpreter->options.stream;
  if (plan == NULL) return NULL;
  for (uint32_t i = 0; i < plan->run_count; i++) {
    if (step < plan->runs[i].first || step > plan->runs[i].last) continue;
    *number = i;
    return &plan->runs[i];
  }
  return NULL;
}

uint32_t berth_run_ring(const berth_interpreter_t *interpreter, uint32_t tensor) {
  const berth_stream_plan_t *plan = interpreter->options.stream;
  if (plan == NULL || plan->rings == NULL) return 0;
  uint32_t ring = plan->rings[tensor];
  return ring == UINT32_MAX ? 0 : ring;
}

bool berth_interpreter_is_pushed(const berth_interpreter_t *interpreter, uint32_t input) {
  const berth_stream_plan_t *plan = interpreter->options.stream;
  if (interpreter->runs == NULL) return false;
  for (uint32_t i = 0; i < plan->run_count; i++) {
    const berth_stream_t *run = &interpreter->runs[i];
    if (input < run->input_count && run->nodes[input].active) return true;
  }
  return false;
}

uint32_t berth_run_step_of(const berth_interpreter_t *interpreter, uint32_t op) {
  const berth_stream_plan_t *plan = interpreter->options.stream;
  if (plan == NULL || plan->order == NULL) return op;
  uint32_t step = 0;
  while (step + 1 < plan->step_count && plan->order[step] != op) step++;
  return step;
}

uint32_t berth_run_last_step(const berth_interpreter_t *interpreter,
                             const berth_graph_tensor_t *tensor) {
  if (tensor->kind != BERTH_KIND_OUTPUT || interpreter->options.deliver == NULL ||
      tensor->subgraph != 0) {
    return tensor->last;
  }
  uint32_t last = tensor->first;
  if (tensor->last_reader != BERTH_NOBODY) {
    uint32_t reader = berth_run_step_of(interpreter, tensor->last_reader);
    if (reader > last) last = reader;
  }
  return last;
}

void berth_run_widen(const berth_interpreter_t *interpreter, berth_graph_tensor_t *tensor) {
  uint32_t number;
  if (interpreter->runs == NULL) return;
  if (tensor->subgraph == 0 && berth_run_ring(interpreter, tensor->tensor) > 0) {
    if (tensor->producer == BERTH_NOBODY && tensor->last_reader != BERTH_NOBODY) {
      tensor->first = berth_run_step_of(interpreter, tensor->last_reader);
    }
    tensor->last = tensor->first;
  }
  const berth_stream_run_t *run = berth_run_of_step(interpreter, tensor->first, &number);
  if (run != NULL) tensor->first = run->first;
  run = berth_run_of_step(interpreter, tensor->last, &number);
  if (run != NULL) tensor->last = run->last;
}

/* ---- The current piece ----------------------------------------------------------------------- */

static const berth_stream_node_t *current_node(const berth_interpreter_t *interpreter) {
  const berth_invoke_t *progress = &interpreter->progress;
  const berth_stream_t *run = progress->run;
  return &run->nodes[run->input_count + progress->piece.step - run->first_step];
}

/* The next piece of the current run; false: there is none. The guard watches the pieces of the
 * plan, one by one. */
static bool next_piece(berth_interpreter_t *interpreter) {
  berth_invoke_t *progress = &interpreter->progress;
  if (interpreter->guard != NULL) return berth_stream_next(progress->run, &progress->piece);
  return berth_stream_join(progress->run, &progress->piece);
}

bool berth_run_is_last_piece(const berth_interpreter_t *interpreter) {
  const berth_stream_node_t *node = current_node(interpreter);
  const berth_stream_piece_t *piece = &interpreter->progress.piece;
  if (interpreter->progress.run->run.reverse) return piece->first_row == 0;
  return node->kind == BERTH_WHOLE || piece->last_row == node->rows;
}

bool berth_run_is_kept(const berth_interpreter_t *interpreter) {
  return current_node(interpreter)->kept;
}

berth_kind_t berth_run_piece_kind(const berth_interpreter_t *interpreter) {
  return (berth_kind_t)current_node(interpreter)->kind;
}

uint32_t berth_run_first_pushed(berth_interpreter_t *interpreter) {
  const berth_stream_plan_t *plan = interpreter->options.stream;
  for (uint32_t i = 0; i < plan->run_count; i++) {
    berth_stream_t *run = &interpreter->runs[i];
    berth_stream_piece_t piece;
    if (berth_stream_begin(run, &plan->runs[i]) != BERTH_OK) continue;
    while (berth_stream_next(run, &piece)) {
      if (piece.step == BERTH_NOBODY) return piece.input;
    }
  }
  return BERTH_NOBODY;
}

/* ---- What is recalled ------------------------------------------------------------------------ */

#if BERTH_RECALL
/* A value within the current run; the same in all of it. */
static berth_value_t value_of(const berth_interpreter_t *interpreter, uint32_t tensor) {
  berth_recall_t *recall = interpreter->progress.run->recall;
  if (recall == NULL) return berth_interpreter_tensor(interpreter, 0, tensor);
  uint32_t place = tensor % RECALL_VALUES;
  if (recall->tensors[place] != tensor) {
    recall->values[place] = berth_interpreter_tensor(interpreter, 0, tensor);
    recall->tensors[place] = tensor;
  }
  return recall->values[place];
}

/* Memory that the operator of the current piece keeps; see berth_keep. */
static void *keep(const berth_call_t *call, uint32_t slot, uint32_t bytes, bool *kept) {
  const berth_interpreter_t *interpreter = call->interpreter;
  const berth_invoke_t *progress = &interpreter->progress;
  berth_recall_t *recall = progress->run->recall;
  uint32_t number = progress->piece.step - progress->run->run.first;
  if (number >= RECALL_STEPS || slot >= BERTH_KEEP_SLOTS) return NULL;
  void **place = &recall->kept[number][slot];
  *kept = *place != NULL;
  if (*kept) return *place;
  if (bytes == 0 || bytes > BERTH_KEEP_BYTES - recall->used) return NULL;
  *place = recall->memory + recall->used;
  uint32_t end = recall->used + bytes, left = BERTH_KEEP_BYTES - end, gap = (32u - end % 32u) % 32u;
  recall->used = end + (gap < left ? gap : left);
  return *place;
}

void berth_run_piece_call(berth_interpreter_t *interpreter, uint32_t op, berth_call_t *call) {
  berth_recall_t *recall = interpreter->progress.run->recall;
  uint32_t place = op % RECALL_CALLS;
  if (recall != NULL && recall->operators[place] == op) {
    *call = recall->calls[place];
    return;
  }
  berth_run_call(interpreter, 0, op, call);
  berth_run_call_memory(interpreter, call);
  if (recall == NULL) return;
  call->keep = keep;
  recall->calls[place] = *call;
  recall->operators[place] = op;
}
#else
static berth_value_t value_of(const berth_interpreter_t *interpreter, uint32_t tensor) {
  return berth_interpreter_tensor(interpreter, 0, tensor);
}

void berth_run_piece_call(berth_interpreter_t *interpreter, uint32_t op, berth_call_t *call) {
  berth_run_call(interpreter, 0, op, call);
  berth_run_call_memory(interpreter, call);
}
#endif

static berth_status_t make_pieces(berth_interpreter_t *interpreter,
                                  berth_status_t (*make)(berth_interpreter_t *, uint32_t op)) {
  berth_invoke_t *progress = &interpreter->progress;
  while (next_piece(interpreter)) {
    progress->waiting = progress->piece.step == BERTH_NOBODY;
    if (progress->waiting) return BERTH_OK;
    berth_status_t status =
        make(interpreter, berth_run_operator_of(interpreter, progress->piece.step));
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

#if BERTH_RECALL
void berth_run_recall_begin(berth_interpreter_t *interpreter, berth_recall_t *recall) {
  for (uint32_t i = 0; i < RECALL_VALUES; i++) recall->tensors[i] = BERTH_NOBODY;
  for (uint32_t i = 0; i < RECALL_CALLS; i++) recall->operators[i] = BERTH_NOBODY;
  memset(recall->kept, 0, sizeof recall->kept);
  recall->used = 0;
  interpreter->progress.run->recall = recall;
}
#endif

#if BERTH_RECALL
#if defined(__GNUC__)
#define NOINLINE __attribute__((noinline)) /* no stack where it isn't called */
#else
#define NOINLINE
#endif

/* The same, and recalls what it reads. */
NOINLINE static berth_status_t make_recalling(berth_interpreter_t *interpreter,
                                              berth_status_t (*make)(berth_interpreter_t *,
                                                                     uint32_t op)) {
  berth_stream_t *run = interpreter->progress.run;
  berth_recall_t recall;
  berth_run_recall_begin(interpreter, &recall);
  berth_status_t status = make_pieces(interpreter, make);
  run->recall = NULL;
  return status;
}
#endif

berth_status_t berth_run_make_pieces(berth_interpreter_t *interpreter,
                                     berth_status_t (*make)(berth_interpreter_t *, uint32_t op)) {
#if BERTH_RECALL
  bool recalls = interpreter->progress.run->recall != NULL || interpreter->guard != NULL;
  if (!recalls) return make_recalling(interpreter, make);
#endif
  return make_pieces(interpreter, make);
}

/* ---- What is seen ---------------------------------------------------------------------------- */

berth_value_t berth_run_unseen(const berth_call_t *call, uint32_t tensor) {
  return berth_interpreter_tensor(call->interpreter, call->subgraph, tensor);
}

/* An accumulating operator may see the rows of the tensor that a RESHAPE before it would have
 * taken. */
berth_value_t berth_run_seen(const berth_call_t *call, uint32_t tensor) {
  const berth_interpreter_t *interpreter = call->interpreter;
  const berth_invoke_t *progress = &interpreter->progress;
  if (progress->run == NULL || call->subgraph != 0) {
    return berth_interpreter_tensor(interpreter, call->subgraph, tensor);
  }
  berth_value_t value = value_of(interpreter, tensor);
  if (current_node(interpreter)->kind != BERTH_ACCUMULATING) return value;
  uint32_t seen = berth_stream_seen(progress->run, progress->piece.step, tensor);
  if (seen == tensor) return value;
  berth_value_t other = value_of(interpreter, seen);
  value.data = other.data;
  value.rows = other.rows;
  value.row_bytes = other.row_bytes;
  value.ring = other.ring;
  return value;
}

berth_status_t berth_run_evaluate_piece(berth_call_t *call) {
  const berth_interpreter_t *interpreter = call->interpreter;
  const berth_stream_piece_t *piece = &interpreter->progress.piece;
  const berth_kernel_t *kernel = call->kernel;
  call->first_row = piece->first_row;
  call->last_row = piece->last_row;
  if (current_node(interpreter)->kind != BERTH_ACCUMULATING) return kernel->eval(call);
  berth_status_t status = piece->first_row == 0 ? kernel->begin(call) : BERTH_OK;
  call->first_row = piece->first_row;
  call->last_row = piece->last_row;
  if (status == BERTH_OK) status = kernel->accumulate(call);
  if (status == BERTH_OK && berth_run_is_last_piece(interpreter)) status = kernel->finish(call);
  return status;
}
