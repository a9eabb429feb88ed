/* Streamed plans for tests, made from the definition: runs of the test's choice, and for each
 * tensor in a run the fewest rows that a ring can have, found by walking the row schedule and
 * noting how far back every reader reaches. Shares nothing with the search (src/graph) but the
 * schedule.
 */
#ifndef BERTH_TESTS_RUN_STREAMED_H
#define BERTH_TESTS_RUN_STREAMED_H

#include "test.h"

#include "berth/interpreter.h"
#include <stdlib.h>
#include <string.h>

typedef struct streamed {
  const berth_model_t *model;
  berth_interpreter_t asked; /* knows the shapes */
  void *metadata;
  berth_contract_t *contracts;
  berth_stream_tensor_t *tensors;
  berth_stream_run_t *runs;
  uint32_t run_count;
  uint32_t *rings;
  uint32_t *order; /* NULL: the file's */
  berth_stream_plan_t plan;
} streamed_t;

static inline void *streamed_allocate(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  assert_non_null(memory);
  return memory;
}

static inline void streamed_open(streamed_t *s, const berth_model_t *model,
                                 const berth_kernel_t *const *kernels) {
  enum { ROOM = 4 << 20 };
  memset(s, 0, sizeof *s);
  s->model = model;
  s->metadata = aligned_alloc(16, ROOM);
  assert_non_null(s->metadata);
  berth_interpreter_options_t options = {.kernels = kernels};
  berth_memories_t memories = {.metadata = {s->metadata, ROOM}};
  assert_int_equal(berth_interpreter_init(&s->asked, model, &options, &memories), BERTH_OK);
  uint32_t all = 0;
  for (uint32_t i = 0; i < model->subgraph_count; i++)
    all += berth_model_subgraph(model, i).operator_count;
  berth_subgraph_t graph = berth_model_subgraph(model, 0);
  s->contracts = streamed_allocate(all, sizeof *s->contracts);
  s->tensors = streamed_allocate(graph.tensor_count, sizeof *s->tensors);
  s->runs = streamed_allocate(graph.operator_count, sizeof *s->runs);
  s->rings = streamed_allocate(graph.tensor_count, sizeof *s->rings);
  assert_int_equal(berth_interpreter_contracts(&s->asked, s->contracts, all), BERTH_OK);
  for (uint32_t t = 0; t < graph.tensor_count; t++) {
    berth_value_t value = berth_interpreter_tensor(&s->asked, 0, t);
    s->tensors[t] = (berth_stream_tensor_t){0, 1, 0};
    if (value.known && !value.constant)
      s->tensors[t] = berth_stream_tensor(value.rank, value.dims, value.bytes);
  }
  s->plan =
      (berth_stream_plan_t){.step_count = graph.operator_count, .runs = s->runs, .rings = s->rings};
}

/* A random order in which every operator runs after those that it reads from. */
static inline void streamed_shuffle(streamed_t *s, uint32_t (*draw)(void *user), void *user) {
  uint32_t count = s->plan.step_count, tensors = berth_model_subgraph(s->model, 0).tensor_count;
  bool *ready = streamed_allocate(tensors, sizeof *ready),
       *done = streamed_allocate(count, sizeof *done);
  s->order = streamed_allocate(count, sizeof *s->order);
  for (uint32_t t = 0; t < tensors; t++) ready[t] = true;
  for (uint32_t op = 0; op < count; op++) {
    berth_vector_t outputs = berth_model_operator(s->model, 0, op).outputs;
    for (uint32_t i = 0; i < outputs.count; i++) ready[berth_vector_int(outputs, i)] = false;
  }
  for (uint32_t step = 0; step < count; step++) {
    uint32_t op = draw(user) % count;
    for (;; op = (op + 1) % count) {
      berth_vector_t inputs = berth_model_operator(s->model, 0, op).inputs;
      bool can = !done[op];
      for (uint32_t i = 0; i < inputs.count && can; i++)
        can = berth_vector_int(inputs, i) < 0 || ready[berth_vector_int(inputs, i)];
      if (can) break;
    }
    s->order[step] = op;
    done[op] = true;
    berth_vector_t outputs = berth_model_operator(s->model, 0, op).outputs;
    for (uint32_t i = 0; i < outputs.count; i++) ready[berth_vector_int(outputs, i)] = true;
  }
  free(ready);
  free(done);
}

static inline void streamed_close(streamed_t *s) {
  free(s->order);
  free(s->metadata);
  free(s->contracts);
  free(s->tensors);
  free(s->runs);
  free(s->rings);
}

static inline uint32_t streamed_op(const streamed_t *s, uint32_t step) {
  return s->order != NULL ? s->order[step] : step;
}

static inline berth_operator_t streamed_operator(const streamed_t *s, uint32_t step) {
  return berth_model_operator(s->model, 0, streamed_op(s, step));
}

/* Can the operator of this step be part of a run? */
static inline bool streamed_can(const streamed_t *s, uint32_t step) {
  switch (streamed_operator(s, step).code) {
  case BERTH_BUILTIN_IF:
  case BERTH_BUILTIN_WHILE:
  case BERTH_BUILTIN_CALL_ONCE:
  case BERTH_BUILTIN_VAR_HANDLE:
  case BERTH_BUILTIN_READ_VARIABLE:
  case BERTH_BUILTIN_ASSIGN_VARIABLE:
    return false;
  default:
    return s->contracts[streamed_op(s, step)].known;
  }
}

/* Adds a run; drops nothing. */
static inline void streamed_run(streamed_t *s, uint32_t first, uint32_t last, uint32_t block,
                                bool push, bool pull) {
  s->runs[s->run_count++] = (berth_stream_run_t){.first = first,
                                                 .last = last,
                                                 .block = block,
                                                 .push_inputs = push ? UINT32_MAX : 0,
                                                 .pull_outputs = pull};
  s->plan.run_count = s->run_count;
}

/* Adds the longest runs that there can be. */
static inline void streamed_all(streamed_t *s, uint32_t block, bool push, bool pull) {
  for (uint32_t step = 0; step < s->plan.step_count; step++) {
    uint32_t first = step;
    while (step < s->plan.step_count && streamed_can(s, step)) step++;
    if (step > first) streamed_run(s, first, step - 1, block, push, pull);
  }
}

/* Adds runs at random places, of random lengths. */
static inline void streamed_some(streamed_t *s, uint32_t (*draw)(void *user), void *user) {
  for (uint32_t step = 0; step < s->plan.step_count; step++) {
    if (draw(user) % 4 == 0) continue;
    uint32_t first = step, length = 1 + draw(user) % 9;
    while (step < s->plan.step_count && step - first < length && streamed_can(s, step)) step++;
    if (step == first) continue;
    step--;
    streamed_run(s, first, step, 1 + draw(user) % 3, draw(user) % 2, draw(user) % 2);
    s->runs[s->run_count - 1].reverse = first == step; /* if it can */
  }
}

/* Does anybody after the run want the tensor whole? */
static inline bool streamed_is_wanted(const streamed_t *s, const berth_stream_run_t *run,
                                      uint32_t tensor) {
  for (uint32_t step = 0; step < s->plan.step_count; step++)
    if ((step < run->first || step > run->last) &&
        berth_vector_holds(streamed_operator(s, step).inputs, tensor))
      return true;
  return !run->pull_outputs &&
         berth_vector_holds(berth_model_subgraph(s->model, 0).outputs, tensor);
}

static inline void streamed_reach(streamed_t *s, const uint32_t *made, uint32_t tensor,
                                  uint32_t row) {
  if (made[tensor] > row && made[tensor] - row > s->rings[tensor])
    s->rings[tensor] = made[tensor] - row;
}

static inline void streamed_note(streamed_t *s, const berth_stream_t *stream,
                                 const berth_stream_piece_t *piece, uint32_t *made) {
  const berth_stream_node_t *node =
      &stream->nodes[stream->input_count + piece->step - stream->first_step];
  berth_operator_t op = streamed_operator(s, piece->step);
  const berth_contract_t *contract = &s->contracts[streamed_op(s, piece->step)];
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    if (berth_vector_int(op.inputs, i) < 0) continue;
    uint32_t tensor = (uint32_t)berth_vector_int(op.inputs, i);
    uint32_t seen = berth_stream_seen(stream, piece->step, tensor);
    if (made[seen] == 0) continue; /* made before the run */
    berth_stream_rows_t rows = {0, s->tensors[seen].rows};
    if (node->kind == BERTH_ACCUMULATING && i == 0)
      rows = (berth_stream_rows_t){piece->first_row, piece->last_row};
    if (node->kind == BERTH_ROW_LOCAL)
      rows = berth_stream_needed(
          &contract->windows[i < BERTH_WINDOWS_MAX ? i : BERTH_WINDOWS_MAX - 1], s->tensors[tensor],
          s->tensors[berth_vector_int(op.outputs, 0)], piece->first_row, piece->last_row);
    if (rows.first >= rows.last) continue;
    assert_true(made[seen] >= rows.last);
    streamed_reach(s, made, seen, rows.first);
  }
  for (uint32_t i = 0; i < op.outputs.count; i++) {
    if (berth_vector_int(op.outputs, i) < 0) continue;
    uint32_t tensor = (uint32_t)berth_vector_int(op.outputs, i);
    uint32_t before = node->kind == BERTH_ROW_LOCAL ? piece->first_row : 0;
    made[tensor] = node->kind == BERTH_ROW_LOCAL ? piece->last_row : s->tensors[tensor].rows;
    streamed_reach(s, made, tensor, before);
  }
}

/* Finds the smallest rings of all runs. */
static inline void streamed_finish(streamed_t *s) {
  berth_subgraph_t graph = berth_model_subgraph(s->model, 0);
  s->plan.order = s->order;
  berth_stream_network_t network = {
      .model = s->model, .contracts = s->contracts, .tensors = s->tensors, .order = s->order};
  for (uint32_t r = 0; r < s->run_count; r++) {
    berth_stream_run_t *run = &s->runs[r];
    size_t bytes;
    assert_int_equal(berth_stream_workspace(&network, run->first, run->last, &bytes), BERTH_OK);
    void *memory = streamed_allocate(bytes, 1);
    uint32_t *made = streamed_allocate(graph.tensor_count, sizeof *made);
    berth_stream_t stream;
    berth_stream_piece_t piece;
    assert_int_equal(berth_stream_init(&network, run->first, run->last, memory, bytes, &stream),
                     BERTH_OK);
    if (run->reverse) run->reverse = berth_stream_begin(&stream, run) == BERTH_OK;
    assert_int_equal(berth_stream_begin(&stream, run), BERTH_OK);
    while (berth_stream_next(&stream, &piece)) {
      if (piece.step != BERTH_NOBODY) {
        streamed_note(s, &stream, &piece, made);
        continue;
      }
      uint32_t tensor = (uint32_t)berth_vector_int(graph.inputs, piece.input);
      made[tensor] = piece.last_row;
      streamed_reach(s, made, tensor, piece.first_row);
    }
    for (uint32_t t = 0; t < graph.tensor_count; t++) {
      bool input = berth_vector_holds(graph.inputs, t);
      if (made[t] == 0) continue;
      if (streamed_is_wanted(s, run, t) || (!input && s->rings[t] >= s->tensors[t].rows))
        s->rings[t] = 0;
    }
    free(memory);
    free(made);
  }
}

/* Four blocks of `room` bytes in one. */
static inline berth_memories_t streamed_quarters(uint8_t *memory, uint32_t room) {
  return (berth_memories_t){.activations = {memory, room},
                            .persistent = {memory + room, room},
                            .metadata = {memory + 2 * (size_t)room, room},
                            .planning = {memory + 3 * (size_t)room, room}};
}

#endif
