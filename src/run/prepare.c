/* Prepare: asks every operator for its shapes and its memory contract, plans, and places.
 *
 * Placement is in place.c, what runs row by row in prepare_runs.c. Everything temporary (lifetimes,
 * buffers, the planner's workspace) is borrowed from the start of the activations' block, or from
 * the planning block, and gone when prepare returns.
 */
#include "prepare.h"
#include <string.h>

static uint32_t loan_room(const berth_job_t *job) {
  const berth_memories_t *memories = &job->interpreter->memories;
  return job->loan.separate ? memories->planning.bytes & ~15u
                            : berth_run_head_room(job->interpreter);
}

void *berth_job_borrow(berth_job_t *job, uint64_t bytes, uint32_t align) {
  uint32_t start = (job->loan.used + align - 1) & ~(align - 1);
  berth_needs_t *needs = &job->interpreter->needs;
  uint32_t room = loan_room(job);
  if (bytes > ACTIVATIONS_MAX - start) return NULL;
  uint32_t end = start + (uint32_t)bytes;
  if (end > needs->planning) needs->planning = end;
  if (end > room) return NULL;
  job->loan.used = end;
  return job->loan.base + start;
}

berth_status_t berth_job_too_small(const berth_job_t *job, uint64_t needed, const char *why) {
  berth_run_log(job->interpreter, BERTH_EVENT_MEMORY, 0, BERTH_NOBODY, BERTH_NOBODY, needed, why);
  return BERTH_ERROR_MEMORY;
}

berth_status_t berth_job_loan_too_small(const berth_job_t *job) {
  return berth_job_too_small(job, job->interpreter->needs.planning,
                             "planning needs more memory than there is");
}

/* ---- First pass: the operators -------------------------------------------------------------- */

static berth_status_t note(berth_job_t *job, uint32_t bytes) {
  uint32_t *slot = berth_job_borrow(job, sizeof *slot, sizeof *slot);
  if (slot == NULL) return berth_job_loan_too_small(job);
  if (bytes > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  if (job->scratch_count++ == 0) job->scratch_bytes = slot;
  *slot = bytes;
  return BERTH_OK;
}

static berth_status_t note_scratch(berth_job_t *job, const berth_contract_t *contract,
                                   berth_operator_place_t *place) {
  uint32_t count = BERTH_SCRATCH_MAX;
  bool wishes = contract->wish > 0;
  while (count > wishes && contract->scratch[count - 1] == 0) count--;
  place->scratch |= count << OPERATOR_SCRATCH_SHIFT | job->scratch_count;
  berth_status_t status = BERTH_OK;
  if (wishes) {
    place->scratch |= OPERATOR_WISH;
    uint32_t wish = contract->wish < contract->scratch[0] ? contract->scratch[0] : contract->wish;
    status = note(job, wish);
  }
  for (uint32_t i = 0; i < count && status == BERTH_OK; i++) {
    status = note(job, contract->scratch[i]);
  }
  return status;
}

static berth_status_t prepare_operator(berth_job_t *job, uint32_t subgraph, uint32_t index) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_operator_place_t *place =
      &interpreter->operators[berth_run_operator_index(interpreter, subgraph, index)];
  berth_contract_t contract;
  berth_status_t status = berth_run_ask(interpreter, subgraph, index, &contract);
  if (status == BERTH_ERROR_MEMORY) return berth_job_too_small(job, 0, "metadata do not fit");
  if (status != BERTH_OK) return status;
  if (!contract.known) {
    place->scratch |= OPERATOR_LAZY; /* once its inputs are there, if nothing is missing */
    return BERTH_OK;
  }
  if (job->contracts != NULL && subgraph == 0) berth_job_note_contract(job, index, &contract);
  place->workspace = contract.workspace;
  place->state = contract.state;
  if (contract.partial) place->scratch |= OPERATOR_PARTIAL;
  if (job->sharing != NULL && subgraph == 0 && !berth_job_is_streamed(job, index)) {
    job->sharing[index] = berth_sharing_of(&contract);
  }
  return note_scratch(job, &contract, place);
}

/* Room for what the operators permit; before any scratch is noted, which grows behind it. */
static berth_status_t start_sharing(berth_job_t *job) {
  const berth_interpreter_options_t *options = &job->interpreter->options;
  if (options->overlap == BERTH_OVERLAP_NONE || options->no_reuse) return BERTH_OK;
  uint32_t operators = berth_model_subgraph(job->interpreter->model, 0).operator_count;
  uint64_t bytes = (uint64_t)operators * sizeof *job->sharing;
  job->sharing = berth_job_borrow(job, bytes, sizeof(uint32_t));
  if (job->sharing == NULL) return berth_job_loan_too_small(job);
  memset(job->sharing, 0, (size_t)bytes);
  return BERTH_OK;
}

static berth_status_t prepare_operators(berth_job_t *job) {
  const berth_interpreter_t *interpreter = job->interpreter;
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    if (job->graph.called_first[s] == BERTH_NOBODY) continue;
    uint32_t count = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      berth_status_t status = prepare_operator(job, s, op);
      if (status != BERTH_OK) return status;
    }
  }
  return interpreter->failed ? BERTH_ERROR_OPERATOR : BERTH_OK;
}

/* ---- Persistent data ------------------------------------------------------------------------ */

/* An earlier operator with the same kernel whose workspace holds the same bytes, or NULL. */
static const berth_operator_place_t *find_equal(const berth_interpreter_t *interpreter,
                                                const berth_call_t *call, uint32_t bytes) {
  for (uint32_t s = 0; s <= call->subgraph; s++) {
    uint32_t count = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      if (s == call->subgraph && op == call->index) return NULL;
      const berth_operator_place_t *place =
          &interpreter->operators[berth_run_operator_index(interpreter, s, op)];
      berth_operator_t other = berth_model_operator(interpreter->model, s, op);
      if (place->workspace == 0 || interpreter->kernels[other.opcode] != call->kernel) continue;
      const uint8_t *workspace = berth_run_persistent(interpreter, place->workspace);
      if (place->workspace < ((bytes + 15u) & ~15u) || workspace == call->workspace) continue;
      if (memcmp(workspace, call->workspace, bytes) == 0) return place;
    }
  }
  return NULL;
}

static berth_status_t place_workspace(berth_job_t *job, berth_call_t *call, uint32_t bytes,
                                      berth_operator_place_t *place) {
  berth_interpreter_t *interpreter = job->interpreter;
  uint32_t before = interpreter->persistent_used;
  call->workspace = berth_run_take_persistent(interpreter, bytes, &place->workspace);
  if (call->workspace == NULL) {
    place->workspace = 0;
    return berth_job_too_small(job, (uint64_t)before + bytes, "persistent data do not fit");
  }
  if (call->kernel->init != NULL) {
    berth_status_t status = call->kernel->init(call);
    if (status != BERTH_OK) {
      berth_run_log(interpreter, BERTH_EVENT_REFUSED, call->subgraph, call->index, BERTH_NOBODY, 0,
                    call->why ? call->why : berth_status_text(status));
      return BERTH_ERROR_OPERATOR;
    }
    const berth_operator_place_t *equal = find_equal(interpreter, call, bytes);
    if (equal != NULL) {
      place->workspace = equal->workspace;
      interpreter->persistent_used = before;
      berth_run_log(interpreter, BERTH_EVENT_SHARED, call->subgraph, call->index, BERTH_NOBODY,
                    bytes, NULL);
    }
  }
  return BERTH_OK;
}

/* State is preceded by its size, so that berth_interpreter_reset can zero it. */
static berth_status_t place_state(berth_job_t *job, uint32_t bytes, berth_operator_place_t *place) {
  uint32_t distance;
  uint8_t *start = berth_run_take_persistent(job->interpreter, bytes + 16, &distance);
  if (start == NULL) {
    uint64_t needed = (uint64_t)job->interpreter->persistent_used + bytes + 16;
    return berth_job_too_small(job, needed, "persistent data do not fit");
  }
  memcpy(start, &bytes, sizeof bytes);
  place->state = distance - 16;
  return BERTH_OK;
}

static berth_status_t place_variables(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  for (uint32_t i = 0; i < interpreter->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &job->graph.tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_PERSISTENT) continue;
    berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
    if (!value.known) return BERTH_ERROR_UNSUPPORTED;
    uint32_t distance;
    if (berth_run_take_persistent(interpreter, value.bytes, &distance) == NULL) {
      uint64_t needed = (uint64_t)interpreter->persistent_used + value.bytes;
      return berth_job_too_small(job, needed, "persistent data do not fit");
    }
    interpreter->places[i] = distance | PLACE_PERSISTENT;
  }
  return BERTH_OK;
}

static berth_status_t place_operator_data(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  /* The sizes become places below; a place of 0 means that an operator has none yet. */
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      berth_operator_place_t *place =
          &interpreter->operators[berth_run_operator_index(interpreter, s, op)];
      uint32_t workspace = place->workspace, state = place->state;
      place->workspace = 0;
      place->state = 0;
      berth_call_t call;
      berth_run_call(interpreter, s, op, &call);
      if (workspace > 0) {
        berth_status_t status = place_workspace(job, &call, workspace, place);
        if (status != BERTH_OK) return status;
      }
      if (state > 0) {
        berth_status_t status = place_state(job, state, place);
        if (status != BERTH_OK) return status;
      }
    }
  }
  return BERTH_OK;
}

/* ---- Inputs --------------------------------------------------------------------------------- */

/* Has every operator's every input a value? One has none if nothing writes it, or if it is a
 * constant that is shorter than its shape says: the file is wrong then. */
static berth_status_t check_inputs(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    if (job->graph.called_first[s] == BERTH_NOBODY) continue;
    uint32_t count = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < count; op++) {
      berth_call_t call;
      berth_run_call(interpreter, s, op, &call);
      if (berth_run_is_skipped(&call)) continue;
      for (uint32_t i = 0; i < call.op.inputs.count; i++) {
        berth_value_t input = berth_input(&call, i);
        if (!input.present || !input.known || input.bytes == 0 || input.data != NULL) continue;
        /* Within a run that is streamed, a view has no memory: its readers see what it views. */
        if (berth_job_is_unseen(job, berth_run_tensor_index(interpreter, s, input.index))) continue;
        berth_run_log(interpreter, BERTH_EVENT_REFUSED, s, op, input.index, 0,
                      "reads a tensor that has no value");
        interpreter->failed = true;
        break;
      }
    }
  }
  return interpreter->failed ? BERTH_ERROR_OPERATOR : BERTH_OK;
}

/* ---- All together --------------------------------------------------------------------------- */

static berth_status_t find_lifetimes(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_graph_options_t options = berth_run_graph_options(interpreter);
  size_t bytes;
  berth_status_t status = berth_graph_workspace(interpreter->model, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = berth_job_borrow(job, bytes, 16);
  if (workspace == NULL) return berth_job_loan_too_small(job);
  berth_graph_error_t error = {.op = BERTH_NOBODY};
  status = berth_graph_analyse(interpreter->model, &options, workspace, bytes, &job->graph, &error);
  if (status == BERTH_ERROR_FORMAT && error.op != BERTH_NOBODY) {
    berth_run_log(interpreter, BERTH_EVENT_REFUSED, error.subgraph, error.op, error.tensor, 0,
                  error.what);
  }
  return status;
}

static berth_status_t given_plan(const berth_interpreter_t *interpreter, berth_vector_t *offsets) {
  const berth_interpreter_options_t *options = &interpreter->options;
  offsets->count = 0;
  offsets->data = NULL;
  if (options->offsets != NULL) {
    if (options->offset_count != interpreter->tensor_count) {
      berth_run_log(interpreter, BERTH_EVENT_PLAN, 0, BERTH_NOBODY, BERTH_NOBODY, 0,
                    "the plan has not one offset for each tensor");
      return BERTH_ERROR_ARGUMENT;
    }
    offsets->data = (const uint8_t *)options->offsets;
    offsets->count = options->offset_count;
  } else if (!options->ignore_model_plan && !options->no_reuse) {
    if (berth_model_offline_plan(interpreter->model, offsets, NULL) != BERTH_OK) {
      berth_run_log(interpreter, BERTH_EVENT_PLAN, 0, BERTH_NOBODY, BERTH_NOBODY, 0,
                    "the model's OfflineMemoryAllocation is malformed");
      return BERTH_ERROR_FORMAT;
    }
  }
  return BERTH_OK;
}

static bool has_unknown(const berth_interpreter_t *interpreter) {
  for (uint32_t i = 0; i < interpreter->shape_count; i++) {
    if (interpreter->shapes[i].unknown) return true;
  }
  return false;
}

static berth_status_t prepare(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_vector_t offsets;
  berth_status_t status = given_plan(interpreter, &offsets);
  if (status == BERTH_OK) status = berth_job_check_runs(job); /* lifetimes follow its order */
  if (status == BERTH_OK) status = find_lifetimes(job);
  if (status != BERTH_OK) return status;
  berth_run_fold(interpreter);
  berth_run_fold_lifetimes(interpreter, &job->graph);
  status = start_sharing(job);
  if (status == BERTH_OK) status = berth_job_begin_runs(job);
  if (status == BERTH_OK) status = prepare_operators(job);
  if (status == BERTH_OK) status = berth_job_make_runs(job);
  if (status != BERTH_OK) return status;

  if (has_unknown(interpreter)) {
    interpreter->dynamic =
        berth_run_take_metadata(interpreter, (uint32_t)sizeof *interpreter->dynamic, 8);
    if (interpreter->dynamic == NULL) return berth_job_too_small(job, 0, "metadata do not fit");
  }
  if (job->scratch_count > 0) {
    interpreter->scratches = berth_run_take_metadata(
        interpreter, job->scratch_count * (uint32_t)sizeof(uint32_t), sizeof(uint32_t));
    if (interpreter->scratches == NULL) return berth_job_too_small(job, 0, "metadata do not fit");
  }
  status = berth_job_place(job, &offsets);
  if (status == BERTH_OK) status = place_variables(job);
  if (status == BERTH_OK) status = check_inputs(job);
  if (status == BERTH_OK) status = place_operator_data(job);
  if (status != BERTH_OK) return status;
  berth_job_join_pieces(job);

  berth_needs_t *needs = &interpreter->needs;
  uint32_t metadata = (interpreter->metadata_used + 15u) & ~15u;
  uint32_t persistent = interpreter->persistent_used;
  uint32_t extent = (needs->extent + 15u) & ~15u, planning = (needs->planning + 15u) & ~15u;
  needs->metadata = metadata;
  needs->persistent = persistent;
  needs->planning = planning;
  needs->activations = job->loan.separate || extent > planning ? extent : planning;
  uint32_t running = extent + persistent, preparing = job->loan.separate ? 0 : planning;
  needs->total = metadata + (running > preparing ? running : preparing);
  if (needs->extent > berth_run_head_room(interpreter)) {
    return berth_job_too_small(job, needs->total, "the planned tensors do not fit");
  }
  return BERTH_OK;
}

/* Tensors of unknown size get what is left of the activations' block. */
static void start_dynamic(berth_interpreter_t *interpreter) {
  uint32_t align = interpreter->options.alignment, room = berth_run_head_room(interpreter);
  uint32_t start = (interpreter->needs.extent + align - 1) & ~(align - 1);
  if (start > room) start = room;
  berth_arena_init(interpreter->dynamic, (uint8_t *)interpreter->memories.activations.data + start,
                   room - start);
}

berth_status_t berth_interpreter_prepare(berth_interpreter_t *interpreter) {
  if (interpreter == NULL || interpreter->model == NULL) return BERTH_ERROR_ARGUMENT;
  interpreter->prepared = false;
  interpreter->failed = false;
  berth_run_forget(interpreter);
  memset(&interpreter->needs, 0, sizeof interpreter->needs);

  berth_job_t job;
  memset(&job, 0, sizeof job);
  job.interpreter = interpreter;
  job.loan.separate = interpreter->memories.planning.data != NULL;
  job.loan.base = job.loan.separate ? interpreter->memories.planning.data
                                    : interpreter->memories.activations.data;
  berth_status_t status = prepare(&job);
  if (status != BERTH_OK) return status;

  if (interpreter->dynamic != NULL) start_dynamic(interpreter);
  interpreter->prepared = true;
  berth_interpreter_reset(interpreter);
  berth_run_log(interpreter, BERTH_EVENT_PREPARED, 0, BERTH_NOBODY, BERTH_NOBODY,
                interpreter->needs.total, NULL);
  return BERTH_OK;
}
