/* Invoke: evaluates the operators in order, and allocates what has no size before.
 *
 * An invoke of the main subgraph remembers how far it is, since it may have to wait for rows that
 * the caller pushes. Which piece of a streamed run comes next is the row schedule's matter
 * (runs.c).
 *
 * In a model without dynamic tensors nothing is allocated here. Where an operator's inputs have an
 * unknown shape, the operator is prepared just before it runs, its outputs and scratch come from
 * the dynamic arena, and every dynamic tensor is freed after its last reader.
 */
#include "berth/guard.h"
#include "run.h"
#include <string.h>

/* Without a guard this test of a pointer is all that it costs; bench/guard.py compares with a build
 * that doesn't have it. */
static inline bool is_guarded(const berth_interpreter_t *interpreter) {
#ifdef BERTH_NO_GUARD
  (void)interpreter;
  return false;
#else
  return interpreter->guard != NULL;
#endif
}

static berth_status_t refused(const berth_call_t *call, berth_status_t status) {
  berth_run_log(call->interpreter, BERTH_EVENT_REFUSED, call->subgraph, call->index, BERTH_NOBODY,
                0, call->why ? call->why : berth_status_text(status));
  return status == BERTH_ERROR_CANCELLED || status == BERTH_ERROR_MEMORY ? status
                                                                         : BERTH_ERROR_OPERATOR;
}

void berth_run_zero_outputs(const berth_call_t *call) {
  const berth_interpreter_t *interpreter = call->interpreter;
  const berth_invoke_t *progress = &interpreter->progress;
  bool rows = call->subgraph == 0 && progress->run != NULL &&
              berth_run_piece_kind(interpreter) == BERTH_ROW_LOCAL;
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t value = berth_output(call, i);
    if (value.data == NULL) continue;
    if (!rows) {
      memset(value.data, 0, value.bytes);
      continue;
    }
    for (uint32_t row = progress->piece.first_row; row < progress->piece.last_row; row++) {
      memset(berth_row(&value, row), 0, value.row_bytes);
    }
  }
}

berth_status_t berth_run_evaluate(berth_call_t *call) {
  const berth_kernel_t *kernel = call->kernel;
  const berth_interpreter_t *interpreter = call->interpreter;
  if (interpreter->progress.run != NULL && call->subgraph == 0) {
    return berth_run_evaluate_piece(call);
  }
  call->first_row = 0;
  if (kernel->eval != NULL) {
    berth_value_t output = berth_output(call, 0);
    call->last_row = output.rows;
    return kernel->eval(call);
  }
  berth_status_t status = kernel->begin(call);
  if (status != BERTH_OK) return status;
  call->last_row = berth_input(call, 0).rows;
  status = kernel->accumulate(call);
  if (status != BERTH_OK) return status;
  return kernel->finish(call);
}

/* ---- Operators whose inputs had no shape before --------------------------------------------- */

/* What a lazily prepared operator was given from the dynamic arena for its call. */
typedef struct lease {
  uint32_t offsets[BERTH_SCRATCH_MAX + 1];
  uint32_t bytes[BERTH_SCRATCH_MAX + 1];
  uint32_t count;
} lease_t;

static berth_status_t rent(berth_interpreter_t *interpreter, lease_t *lease, uint32_t bytes,
                           void **address) {
  if (bytes == 0) return BERTH_OK;
  uint32_t offset;
  berth_status_t status = berth_arena_allocate(interpreter->dynamic, bytes, 16, &offset);
  if (status != BERTH_OK) return status;
  lease->offsets[lease->count] = offset;
  lease->bytes[lease->count++] = bytes;
  *address = interpreter->dynamic->base + offset;
  return BERTH_OK;
}

static void give_back(berth_interpreter_t *interpreter, const lease_t *lease) {
  for (uint32_t i = lease->count; i-- > 0;) {
    berth_arena_free(interpreter->dynamic, lease->offsets[i], lease->bytes[i]);
  }
}

static berth_status_t run_lazily(berth_interpreter_t *interpreter, berth_call_t *call) {
  berth_contract_t contract;
  lease_t lease = {.count = 0};
  memset(&contract, 0, sizeof contract);
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    berth_value_t input = berth_input(call, i);
    if (!input.present || (input.known && (input.data != NULL || input.bytes == 0))) continue;
    return berth_refuse(call, "reads a tensor that has no value");
  }
  berth_status_t status = call->kernel->prepare(call, &contract);
  if (status != BERTH_OK) return status;
  if (contract.state > 0) return berth_refuse(call, "state with an input of unknown shape");
  status = rent(interpreter, &lease, contract.workspace, &call->workspace);
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX && status == BERTH_OK; i++) {
    status = rent(interpreter, &lease, contract.scratch[i], &call->scratch[i]);
  }
  if (status == BERTH_OK && contract.workspace > 0 && call->kernel->init != NULL) {
    status = call->kernel->init(call);
  }
  if (status == BERTH_OK) {
    if (contract.partial) berth_run_zero_outputs(call);
    status = berth_run_evaluate(call);
  }
  give_back(interpreter, &lease);
  return status;
}

static bool is_needed_after(const berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                            int32_t tensor) {
  berth_subgraph_t graph = berth_model_subgraph(interpreter->model, subgraph);
  if (berth_vector_holds(graph.outputs, (uint32_t)tensor)) return true;
  uint32_t step = subgraph == 0 ? interpreter->progress.step : op;
  while (++step < graph.operator_count) {
    uint32_t later = subgraph == 0 ? berth_run_operator_of(interpreter, step) : step;
    if (berth_vector_holds(berth_model_operator(interpreter->model, subgraph, later).inputs,
                           (uint32_t)tensor)) {
      return true;
    }
  }
  return false;
}

/* Frees the dynamic tensor unless somebody reads it later. */
static void release(berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                    int32_t tensor) {
  if (tensor == BERTH_NO_TENSOR) return;
  uint32_t flat = berth_run_tensor_index(interpreter, subgraph, (uint32_t)tensor);
  berth_shape_t *shape = berth_run_shape(interpreter, flat);
  if (shape == NULL || !shape->unknown || interpreter->places[flat] == PLACE_UNKNOWN) return;
  if (is_needed_after(interpreter, subgraph, op, tensor)) return;
  berth_value_t value = berth_interpreter_tensor(interpreter, subgraph, (uint32_t)tensor);
  berth_arena_free(interpreter->dynamic, (uint32_t)(value.data - interpreter->dynamic->base),
                   value.bytes);
  interpreter->places[flat] = PLACE_UNKNOWN;
}

static void release_dead(berth_interpreter_t *interpreter, const berth_call_t *call) {
  if (interpreter->options.no_reuse) return;
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    release(interpreter, call->subgraph, call->index, berth_vector_int(call->op.inputs, i));
  }
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    release(interpreter, call->subgraph, call->index, berth_vector_int(call->op.outputs, i));
  }
}

/* ---- Everything ----------------------------------------------------------------------------- */

/* Hands over the graph outputs that this operator has completed (nobody writes them later), or the
 * rows of those that are never whole. */
static void deliver(const berth_interpreter_t *interpreter, const berth_call_t *call,
                    bool complete) {
  const berth_interpreter_options_t *options = &interpreter->options;
  berth_vector_t outputs = berth_model_subgraph(interpreter->model, 0).outputs;
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t tensor = berth_vector_int(outputs, i);
    if (!berth_vector_holds(call->op.outputs, (uint32_t)tensor)) continue;
    berth_value_t value = berth_interpreter_output(interpreter, i);
    if (value.ring < value.rows) {
      const berth_stream_piece_t *piece = &interpreter->progress.piece;
      if (options->deliver_rows != NULL) {
        options->deliver_rows(options->user, i, &value, piece->first_row, piece->last_row);
      }
    } else if (complete && options->deliver != NULL) {
      options->deliver(options->user, i, &value);
    }
  }
}

/* Tells the caller what an operator, or a piece of it, has done. */
static berth_status_t tell(const berth_interpreter_t *interpreter, const berth_call_t *call) {
  const berth_interpreter_options_t *options = &interpreter->options;
  const berth_invoke_t *progress = &interpreter->progress;
  bool in_run = call->subgraph == 0 && progress->run != NULL;
  bool complete = !in_run || berth_run_is_last_piece(interpreter);
  if (call->subgraph == 0 && (options->deliver != NULL || options->deliver_rows != NULL) &&
      (!in_run || berth_run_is_kept(interpreter))) {
    deliver(interpreter, call, complete);
  }
  if (in_run && options->observe_rows != NULL &&
      !options->observe_rows(options->user, interpreter, call->index, progress->piece.first_row,
                             progress->piece.last_row)) {
    return BERTH_ERROR_CANCELLED;
  }
  if (complete && options->observe != NULL &&
      !options->observe(options->user, interpreter, call->subgraph, call->index)) {
    return BERTH_ERROR_CANCELLED;
  }
  return BERTH_OK;
}

/* Evaluates an operator, or a piece of it, under the guard if there is one. */
static inline berth_status_t evaluate(const berth_interpreter_t *interpreter, berth_call_t *call,
                                      uint32_t flags) {
  if (is_guarded(interpreter)) return interpreter->guard->run(interpreter->guard, call, flags);
  if (flags & OPERATOR_PARTIAL) berth_run_zero_outputs(call);
  return berth_run_evaluate(call);
}

/* A piece of an operator that runs row by row. Its shapes are known, and it is not skipped. */
static berth_status_t run_piece(berth_interpreter_t *interpreter, uint32_t op) {
  berth_call_t call;
  berth_run_piece_call(interpreter, op, &call);
  if (berth_run_is_skipped(&call)) return tell(interpreter, &call);
  uint32_t flags = interpreter->operators[berth_run_operator_index(interpreter, 0, op)].scratch;
  berth_status_t status = evaluate(interpreter, &call, flags);
  if (status != BERTH_OK) return refused(&call, status);
  return tell(interpreter, &call);
}

static berth_status_t run_operator(berth_interpreter_t *interpreter, uint32_t subgraph,
                                   uint32_t op) {
  berth_call_t call;
  berth_run_call(interpreter, subgraph, op, &call);
  uint32_t flags =
      interpreter->operators[berth_run_operator_index(interpreter, subgraph, op)].scratch;
  berth_status_t status = BERTH_OK;
  if (berth_run_is_skipped(&call)) {
    /* nothing to do */
  } else if (flags & OPERATOR_LAZY) {
    status = run_lazily(interpreter, &call);
    if (is_guarded(interpreter)) interpreter->guard->unseen(interpreter->guard);
  } else {
    berth_run_call_memory(interpreter, &call);
    status = evaluate(interpreter, &call, flags);
  }
  if (status != BERTH_OK) return refused(&call, status);
  status = tell(interpreter, &call);
  if (status != BERTH_OK) return status;
  if (interpreter->shape_count > 0) release_dead(interpreter, &call);
  return BERTH_OK;
}

berth_status_t berth_run_subgraph(berth_interpreter_t *interpreter, uint32_t subgraph) {
  uint32_t count = berth_model_subgraph(interpreter->model, subgraph).operator_count;
  for (uint32_t op = 0; op < count; op++) {
    berth_status_t status = run_operator(interpreter, subgraph, op);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* ---- The main subgraph ----------------------------------------------------------------------- */

/* Dynamic tensors of the last invoke are gone. */
static void forget_dynamic(berth_interpreter_t *interpreter) {
  if (interpreter->dynamic == NULL) return;
  for (uint32_t i = 0; i < interpreter->shape_count; i++) {
    berth_shape_t *shape = &interpreter->shapes[i];
    if (!shape->unknown) continue;
    shape->rank = 0xffffu;
    interpreter->places[shape->tensor] = PLACE_UNKNOWN;
  }
  uint32_t high_water = interpreter->dynamic->high_water;
  berth_arena_reset(interpreter->dynamic);
  interpreter->dynamic->high_water = high_water;
}

static void begin(berth_interpreter_t *interpreter) {
  forget_dynamic(interpreter);
  memset(&interpreter->progress, 0, sizeof interpreter->progress);
  if (is_guarded(interpreter)) interpreter->guard->begin(interpreter->guard);
}

/* Goes on from where the invoke is, to its end or to where it waits for rows. */
static berth_status_t advance(berth_interpreter_t *interpreter) {
  berth_invoke_t *progress = &interpreter->progress;
  uint32_t count = berth_model_subgraph(interpreter->model, 0).operator_count, number;
  progress->waiting = false;
  while (progress->step < count) {
    const berth_stream_run_t *run = berth_run_of_step(interpreter, progress->step, &number);
    berth_status_t status = BERTH_OK;
    if (run != NULL) {
      if (progress->run == NULL) {
        progress->run = &interpreter->runs[number];
        status = berth_stream_begin(progress->run, run);
      }
      if (status == BERTH_OK) status = berth_run_make_pieces(interpreter, run_piece);
      if (status != BERTH_OK || progress->waiting) return status;
      progress->run = NULL;
      progress->step = run->last + 1;
    } else {
      status = run_operator(interpreter, 0, berth_run_operator_of(interpreter, progress->step));
      if (status != BERTH_OK) return status;
      progress->step++;
    }
  }
  return BERTH_OK;
}

/* Takes the rows that the current piece wants, as many as there are. */
static uint32_t take(berth_interpreter_t *interpreter, const uint8_t *rows, uint32_t count) {
  berth_stream_piece_t *piece = &interpreter->progress.piece;
  berth_value_t value = berth_interpreter_input(interpreter, piece->input);
  uint32_t wanted = piece->last_row - piece->first_row;
  if (count > wanted) count = wanted;
  for (uint32_t i = 0; i < count; i++) {
    memcpy(berth_row(&value, piece->first_row + i), rows + (size_t)i * value.row_bytes,
           value.row_bytes);
  }
  piece->first_row += count;
  if (is_guarded(interpreter)) {
    interpreter->guard->take(interpreter->guard, piece->input, piece->first_row - count,
                             piece->first_row);
  }
  return count;
}

/* Runs it all again for the guard, which has seen something in passing. Rows that were pushed come
 * from the guard; the caller has been told everything. */
static berth_status_t repeat(berth_interpreter_t *interpreter) {
  berth_interpreter_options_t told = interpreter->options;
  interpreter->options.observe = NULL;
  interpreter->options.observe_rows = NULL;
  interpreter->options.deliver = NULL;
  interpreter->options.deliver_rows = NULL;
  interpreter->options.log = NULL;
  begin(interpreter);
  berth_status_t status = advance(interpreter);
  while (status == BERTH_OK && interpreter->progress.waiting) {
    const berth_stream_piece_t *piece = &interpreter->progress.piece;
    berth_value_t value = berth_interpreter_input(interpreter, piece->input);
    const uint8_t *frame = interpreter->guard->frame(interpreter->guard, piece->input);
    take(interpreter, frame + (size_t)piece->first_row * value.row_bytes,
         piece->last_row - piece->first_row);
    status = advance(interpreter);
  }
  interpreter->options = told;
  return status;
}

/* What is to be done when an invoke is over, or waits for rows. */
static berth_status_t settle(berth_interpreter_t *interpreter, berth_status_t status) {
  bool over = status != BERTH_OK || !interpreter->progress.waiting;
  if (is_guarded(interpreter) && over && status != BERTH_ERROR_CANCELLED) {
    while (interpreter->guard->over(interpreter->guard)) {
      berth_status_t again = repeat(interpreter); /* the outputs are those of this one */
      if (status == BERTH_OK) status = again;
    }
  }
  if (status != BERTH_OK) memset(&interpreter->progress, 0, sizeof interpreter->progress);
  return status;
}

berth_status_t berth_interpreter_invoke(berth_interpreter_t *interpreter) {
  if (interpreter == NULL || !interpreter->prepared || interpreter->pushed) {
    return BERTH_ERROR_ARGUMENT;
  }
  begin(interpreter);
  return settle(interpreter, advance(interpreter));
}

/* ---- Rows from the caller -------------------------------------------------------------------- */

uint32_t berth_interpreter_wanted(const berth_interpreter_t *interpreter, uint32_t *row) {
  const berth_invoke_t *progress = &interpreter->progress;
  if (!progress->waiting) return BERTH_NOBODY;
  if (row != NULL) *row = progress->piece.first_row;
  return progress->piece.input;
}

/* Goes on with `count` rows, or as many as are wanted of this input one after the other. */
static berth_status_t go_on(berth_interpreter_t *interpreter, uint32_t input, const uint8_t *rows,
                            uint32_t count, uint32_t row_bytes, uint32_t *done) {
  const berth_invoke_t *progress = &interpreter->progress;
  while (*done < count && progress->waiting && progress->piece.input == input) {
    *done += take(interpreter, rows + (size_t)*done * row_bytes, count - *done);
    if (progress->piece.first_row < progress->piece.last_row) break;
    berth_status_t status = settle(interpreter, advance(interpreter));
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* The same; what is read from the model is recalled for all of these rows. */
static berth_status_t push(berth_interpreter_t *interpreter, uint32_t input, const uint8_t *rows,
                           uint32_t count, uint32_t row_bytes, uint32_t *done) {
#if BERTH_RECALL
  berth_stream_t *run = interpreter->progress.run;
  berth_recall_t recall;
  if (!is_guarded(interpreter)) berth_run_recall_begin(interpreter, &recall);
  berth_status_t status = go_on(interpreter, input, rows, count, row_bytes, done);
  run->recall = NULL;
  return status;
#else
  return go_on(interpreter, input, rows, count, row_bytes, done);
#endif
}

berth_status_t berth_interpreter_push_rows(berth_interpreter_t *interpreter, uint32_t input,
                                           const void *rows, uint32_t count, uint32_t *taken) {
  if (interpreter == NULL || !interpreter->prepared || rows == NULL || count == 0 ||
      !berth_interpreter_is_pushed(interpreter, input)) {
    return BERTH_ERROR_ARGUMENT;
  }
  berth_invoke_t *progress = &interpreter->progress;
  berth_status_t status = BERTH_OK;
  berth_value_t value = berth_interpreter_input(interpreter, input);
  uint32_t turn = progress->waiting ? progress->piece.input : berth_run_first_pushed(interpreter);
  uint32_t row = progress->waiting ? progress->piece.first_row : 0;
  if (turn != input || count > value.rows - row) return BERTH_ERROR_ARGUMENT;
  if (!progress->waiting) {
    begin(interpreter);
    status = settle(interpreter, advance(interpreter));
    if (status != BERTH_OK) return status;
  }
  uint32_t done = 0;
  if (!progress->waiting) return BERTH_ERROR_INTERNAL; /* nobody wants any rows */
  status = push(interpreter, input, rows, count, value.row_bytes, &done);
  if (status != BERTH_OK) return status;
  if (taken == NULL) return done == count ? BERTH_OK : BERTH_ERROR_ARGUMENT;
  *taken = done;
  return BERTH_OK;
}
