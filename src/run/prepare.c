/* Prepare: asks every operator for its shapes and its memory contract, plans, and places.
 *
 * Everything temporary (lifetimes, buffers, the planner's workspace) is borrowed from the start of
 * the activations' block, or from the planning block, and gone when prepare returns.
 */
#include "berth/alias.h"
#include "plan/compact.h"
#include "run.h"
#include <string.h>

/* Memory borrowed during prepare: a bump pointer that remembers how far it got. */
typedef struct loan {
  berth_interpreter_t *interpreter;
  uint8_t *base;
  uint32_t used;
  bool separate; /* a block of its own: its room does not shrink while metadata grow */
} loan_t;

/* What one prepare works on. */
typedef struct job {
  berth_interpreter_t *interpreter;
  loan_t loan;
  berth_graph_t graph;
  uint32_t *scratch_bytes; /* as interpreter->scratches, but sizes; grows at the loan's end */
  uint32_t scratch_count;
  berth_compact_t *buffers;
  uint32_t *owners; /* for each buffer: its tensor, or tensor_count + number of the scratch */
  uint32_t buffer_count;
  uint32_t fixed_count;     /* buffers whose offset is given: the first ones */
  berth_sharing_t *sharing; /* of the main subgraph's operators; NULL: nothing is shared */
  berth_alias_t *aliases;   /* of every tensor; NULL: likewise */
} job_t;

static uint32_t loan_room(const loan_t *loan) {
  const berth_memories_t *memories = &loan->interpreter->memories;
  return loan->separate ? memories->planning.bytes & ~15u : berth_run_head_room(loan->interpreter);
}

static void *borrow(loan_t *loan, uint64_t bytes, uint32_t align) {
  uint32_t start = (loan->used + align - 1) & ~(align - 1);
  berth_needs_t *needs = &loan->interpreter->needs;
  uint32_t room = loan_room(loan);
  if (bytes > ACTIVATIONS_MAX - start) return NULL;
  uint32_t end = start + (uint32_t)bytes;
  if (end > needs->planning) needs->planning = end;
  if (end > room) return NULL;
  loan->used = end;
  return loan->base + start;
}

static berth_status_t too_small(const job_t *job, uint64_t needed, const char *why) {
  berth_run_log(job->interpreter, BERTH_EVENT_MEMORY, 0, BERTH_NOBODY, BERTH_NOBODY, needed, why);
  return BERTH_ERROR_MEMORY;
}

static berth_status_t loan_too_small(const job_t *job) {
  return too_small(job, job->interpreter->needs.planning,
                   "planning needs more memory than there is");
}

/* ---- First pass: the operators -------------------------------------------------------------- */

static berth_status_t note(job_t *job, uint32_t bytes) {
  uint32_t *slot = borrow(&job->loan, sizeof *slot, sizeof *slot);
  if (slot == NULL) return loan_too_small(job);
  if (bytes > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  if (job->scratch_count++ == 0) job->scratch_bytes = slot;
  *slot = bytes;
  return BERTH_OK;
}

static berth_status_t note_scratch(job_t *job, const berth_contract_t *contract,
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

static berth_status_t prepare_operator(job_t *job, uint32_t subgraph, uint32_t index) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_operator_place_t *place =
      &interpreter->operators[berth_run_operator_index(interpreter, subgraph, index)];
  berth_contract_t contract;
  berth_status_t status = berth_run_ask(interpreter, subgraph, index, &contract);
  if (status == BERTH_ERROR_MEMORY) return too_small(job, 0, "metadata do not fit");
  if (status != BERTH_OK) return status;
  if (!contract.known) {
    place->scratch |= OPERATOR_LAZY; /* once its inputs are there, if nothing is missing */
    return BERTH_OK;
  }
  place->workspace = contract.workspace;
  place->state = contract.state;
  if (contract.partial) place->scratch |= OPERATOR_PARTIAL;
  if (job->sharing != NULL && subgraph == 0) job->sharing[index] = berth_sharing_of(&contract);
  return note_scratch(job, &contract, place);
}

/* Room for what the operators permit; before any scratch is noted, which grows behind it. */
static berth_status_t start_sharing(job_t *job) {
  const berth_interpreter_options_t *options = &job->interpreter->options;
  if (options->overlap == BERTH_OVERLAP_NONE || options->no_reuse) return BERTH_OK;
  uint32_t operators = berth_model_subgraph(job->interpreter->model, 0).operator_count;
  uint64_t bytes = (uint64_t)operators * sizeof *job->sharing;
  job->sharing = borrow(&job->loan, bytes, sizeof(uint32_t));
  if (job->sharing == NULL) return loan_too_small(job);
  memset(job->sharing, 0, (size_t)bytes);
  return BERTH_OK;
}

static berth_status_t prepare_operators(job_t *job) {
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

/* ---- Buffers -------------------------------------------------------------------------------- */

static bool is_planned(const job_t *job, uint32_t tensor) {
  uint32_t source;
  const berth_graph_tensor_t *info = &job->graph.tensors[tensor];
  if (berth_run_is_folded(job->interpreter, info->subgraph, info->tensor, &source)) return false;
  const berth_shape_t *shape = berth_run_shape(job->interpreter, tensor);
  if (shape != NULL && shape->unknown) return false;
  berth_allocation_t allocation = info->allocation;
  return allocation == BERTH_ALLOCATION_ARENA_RW || allocation == BERTH_ALLOCATION_DYNAMIC;
}

static uint64_t round_up(uint64_t bytes, uint32_t align) {
  return (bytes + align - 1) / align * align;
}

/* With a callback that takes outputs as soon as they are complete, they end there. */
static uint32_t last_step(const job_t *job, const berth_graph_tensor_t *tensor) {
  if (tensor->kind != BERTH_KIND_OUTPUT || job->interpreter->options.deliver == NULL ||
      tensor->subgraph != 0) {
    return tensor->last;
  }
  uint32_t last = tensor->first;
  if (tensor->last_reader != BERTH_NOBODY && tensor->last_reader > last) {
    last = tensor->last_reader;
  }
  return last;
}

/* The lifetimes as the interpreter knows them: with the sizes that operators have stated, without
 * what is not planned. */
static berth_status_t settle_lifetimes(job_t *job) {
  for (uint32_t i = 0; i < job->graph.tensor_count; i++) {
    berth_graph_tensor_t *tensor = &job->graph.tensors[i];
    if (is_planned(job, i)) {
      berth_value_t value =
          berth_interpreter_tensor(job->interpreter, tensor->subgraph, tensor->tensor);
      if (!value.known) return BERTH_ERROR_OVERFLOW;
      tensor->allocation = BERTH_ALLOCATION_ARENA_RW;
      tensor->bytes = value.bytes;
      tensor->last = last_step(job, tensor);
    } else if (tensor->allocation != BERTH_ALLOCATION_PERSISTENT) {
      tensor->allocation = BERTH_ALLOCATION_NONE;
    }
  }
  return BERTH_OK;
}

static berth_alias_options_t alias_options(const job_t *job) {
  berth_alias_options_t options = {.overlap = job->interpreter->options.overlap,
                                   .align = job->interpreter->options.alignment,
                                   .keep_inputs = job->interpreter->options.keep_inputs};
  return options;
}

/* Which tensors share memory. */
static berth_status_t find_aliases(job_t *job) {
  if (job->sharing == NULL) return BERTH_OK;
  berth_alias_options_t options = alias_options(job);
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&job->graph, job->sharing, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = borrow(&job->loan, bytes, 8);
  if (workspace == NULL) return loan_too_small(job);
  return berth_alias_find(&job->graph, job->sharing, &options, workspace, bytes, &job->aliases);
}

/* Does the tensor have a buffer of its own? */
static bool has_buffer(const job_t *job, uint32_t tensor) {
  return is_planned(job, tensor) && (job->aliases == NULL || job->aliases[tensor].root == tensor);
}

/* Appends a buffer. */
static void add_buffer(job_t *job, uint32_t owner, uint32_t bytes, uint32_t align, uint32_t first,
                       uint32_t last) {
  berth_compact_t *buffer = &job->buffers[job->buffer_count];
  buffer->size = (bytes + align - 1) & ~(align - 1);
  buffer->align = align;
  buffer->first = first;
  buffer->last = last;
  buffer->offset = BERTH_COMPACT_UNPLACED;
  job->owners[job->buffer_count++] = owner;
}

static berth_status_t add_tensor(job_t *job, uint32_t flat) {
  const berth_interpreter_t *interpreter = job->interpreter;
  const berth_graph_tensor_t *tensor = &job->graph.tensors[flat];
  berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
  if (!value.known) return BERTH_ERROR_OVERFLOW;
  uint32_t align = interpreter->options.alignment;
  uint32_t element = (berth_tensor_type_bits(value.type) + 7) / 8;
  if (align < element) align = element;
  const berth_alias_t *alias = job->aliases != NULL ? &job->aliases[flat] : NULL;
  add_buffer(job, flat, value.bytes, align, alias != NULL ? alias->first : tensor->first,
             alias != NULL ? alias->last : tensor->last);
  return BERTH_OK;
}

/* Scratch lives during its operator's step, or as long as the operator's subgraph may run. */
static void add_scratch(job_t *job, uint32_t subgraph, uint32_t op) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint32_t scratch =
      interpreter->operators[berth_run_operator_index(interpreter, subgraph, op)].scratch;
  uint32_t count = scratch >> OPERATOR_SCRATCH_SHIFT & 7u;
  uint32_t number = scratch & OPERATOR_SCRATCH_INDEX;
  if (scratch & OPERATOR_WISH) number++;
  uint32_t first = subgraph == 0 ? op : job->graph.called_first[subgraph];
  uint32_t last = subgraph == 0 ? op : job->graph.called_last[subgraph];
  uint32_t align = interpreter->options.alignment > 16 ? interpreter->options.alignment : 16;
  for (uint32_t i = 0; i < count; i++) {
    add_buffer(job, interpreter->tensor_count + number + i, job->scratch_bytes[number + i], align,
               first, last);
  }
}

/* Collects all buffers to place, those with a given offset first. */
static berth_status_t collect_buffers(job_t *job, const berth_vector_t *offsets) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint32_t count = job->scratch_count;
  for (uint32_t i = 0; i < interpreter->tensor_count; i++) count += has_buffer(job, i);
  job->owners = borrow(&job->loan, (uint64_t)count * sizeof *job->owners, 4);
  job->buffers = borrow(&job->loan, (uint64_t)count * sizeof *job->buffers, 4);
  if (job->owners == NULL || job->buffers == NULL) return loan_too_small(job);
  for (int given = 1; given >= 0; given--) {
    for (uint32_t i = 0; i < interpreter->tensor_count; i++) {
      int32_t offset = i < offsets->count ? berth_vector_int(*offsets, i) : -1;
      if ((offset >= 0) != given || !has_buffer(job, i)) continue;
      berth_status_t status = add_tensor(job, i);
      if (status != BERTH_OK) return status;
      if (given) job->buffers[job->buffer_count - 1].offset = (uint32_t)offset;
    }
    if (given) job->fixed_count = job->buffer_count;
  }
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    if (job->graph.called_first[s] == BERTH_NOBODY) continue;
    uint32_t operators = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < operators; op++) add_scratch(job, s, op);
  }
  return BERTH_OK;
}

/* ---- The plan ------------------------------------------------------------------------------- */

/* Every buffer above the one before it. */
static berth_status_t stack(job_t *job) {
  uint64_t end = 0, all = 0;
  for (uint32_t i = 0; i < job->buffer_count; i++) {
    berth_compact_t *buffer = &job->buffers[i];
    end = (end + buffer->align - 1) & ~(uint64_t)(buffer->align - 1);
    if (end + buffer->size > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
    buffer->offset = (uint32_t)end;
    end += buffer->size;
    all += buffer->size;
  }
  job->interpreter->needs.peak = (uint32_t)end;
  job->interpreter->needs.lower_bound = (uint32_t)all;
  return BERTH_OK;
}

/* With a planner of the caller's choice. It is called through its own pointers, so that who names
 * no planner links none. */
static berth_status_t plan_with(job_t *job, const berth_planner_t *planner) {
  uint32_t count = job->buffer_count;
  berth_plan_t plan;
  memset(&plan, 0, sizeof plan);
  berth_buffer_t *buffers = borrow(&job->loan, (uint64_t)count * sizeof *buffers, 8);
  plan.placements = borrow(&job->loan, (uint64_t)count * sizeof *plan.placements, 8);
  if (buffers == NULL || plan.placements == NULL) return loan_too_small(job);
  for (uint32_t i = 0; i < count; i++) {
    const berth_compact_t *from = &job->buffers[i];
    buffers[i] = berth_buffer(from->size, from->first, from->last);
    buffers[i].align = from->align;
    if (i < job->fixed_count) buffers[i].fixed = from->offset;
  }
  berth_problem_t problem = {.buffers = buffers, .buffer_count = count};
  berth_plan_options_t options = {.capacity = 0};
  plan.peak = UINT64_MAX; /* none yet */
  if (count > 0) memset(plan.placements, 0, count * sizeof *plan.placements);
  size_t bytes;
  berth_status_t status = planner->workspace(&problem, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = borrow(&job->loan, bytes, 16);
  if (workspace == NULL) return loan_too_small(job);
  status = planner->make(&problem, &options, workspace, bytes, &plan);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < count; i++) {
    if (plan.placements[i].offset > ACTIVATIONS_MAX - buffers[i].size) return BERTH_ERROR_OVERFLOW;
  }
  for (uint32_t i = 0; i < count; i++) job->buffers[i].offset = (uint32_t)plan.placements[i].offset;
  if (!berth_plan_compact_agrees(job->buffers, count)) return BERTH_ERROR_UNSUPPORTED;
  berth_plan_compact_measure(job->buffers, count, &job->interpreter->needs.peak,
                             &job->interpreter->needs.lower_bound);
  return BERTH_OK;
}

/* Bytes that variables and operators' data will take. */
static uint64_t persistent_bytes(const job_t *job) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < interpreter->operator_count; i++) {
    const berth_operator_place_t *place = &interpreter->operators[i];
    sum += round_up(place->workspace, 16);
    if (place->state > 0) sum += round_up(place->state, 16) + 16;
  }
  for (uint32_t i = 0; i < interpreter->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &job->graph.tensors[i];
    if (tensor->allocation == BERTH_ALLOCATION_PERSISTENT) sum += round_up(tensor->bytes, 16);
  }
  return sum;
}

/* Gives operators scratch that they wish for beyond what they must have: holes of the plan in their
 * step, memory that planning has borrowed anyway, and a 64th of the peak. */
static void grant_wishes(job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_needs_t *needs = &interpreter->needs;
  uint64_t limit = (uint64_t)needs->peak + needs->peak / 64, persistent = persistent_bytes(job);
  if (!job->loan.separate && needs->planning > persistent + limit) {
    limit = needs->planning - persistent;
  }
  limit &= ~(uint64_t)15;
  if (limit < needs->peak) limit = needs->peak;
  for (uint32_t op = 0; op < interpreter->operator_count; op++) {
    uint32_t scratch = interpreter->operators[op].scratch;
    if (!(scratch & OPERATOR_WISH)) continue;
    uint32_t number = scratch & OPERATOR_SCRATCH_INDEX;
    uint32_t owner = interpreter->tensor_count + number + 1, i = 0;
    while (i < job->buffer_count && job->owners[i] != owner) i++;
    if (i == job->buffer_count) continue;
    berth_compact_t *buffer = &job->buffers[i];
    uint32_t offset = 0;
    uint32_t bytes = berth_plan_compact_hole(job->buffers, job->buffer_count, i, buffer->first,
                                             buffer->last, buffer->align, (uint32_t)limit,
                                             job->scratch_bytes[number], &offset);
    bytes &= ~15u;
    if (bytes >= buffer->size) {
      buffer->size = bytes;
      buffer->offset = offset;
    }
    interpreter->scratches[number] = buffer->size;
    if (buffer->size == 0) buffer->offset = BERTH_NO_OFFSET;
  }
}

/* Offsets that are given overlap, or are misaligned: is the former as the contracts permit? Then
 * everything else is placed around them. */
static berth_status_t plan_around_shared(job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  if (job->sharing == NULL) return BERTH_INFEASIBLE;
  uint32_t tensors = interpreter->tensor_count;
  uint64_t *offsets = borrow(&job->loan, (uint64_t)tensors * sizeof *offsets, 8);
  if (offsets == NULL) return loan_too_small(job);
  for (uint32_t i = 0; i < tensors; i++) offsets[i] = UINT64_MAX;
  for (uint32_t i = 0; i < job->fixed_count; i++) {
    if (job->buffers[i].offset % job->buffers[i].align != 0) return BERTH_INFEASIBLE;
    offsets[job->owners[i]] = job->buffers[i].offset;
  }
  berth_alias_options_t options = alias_options(job);
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&job->graph, job->sharing, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = borrow(&job->loan, bytes, 8);
  if (workspace == NULL) return loan_too_small(job);
  uint32_t a, b;
  status =
      berth_alias_check(&job->graph, job->sharing, &options, offsets, workspace, bytes, &a, &b);
  if (status != BERTH_OK) return status;
  berth_needs_t *needs = &interpreter->needs;
  status = berth_plan_compact(job->buffers, job->buffer_count, job->fixed_count, false,
                              &needs->peak, &needs->lower_bound);
  if (needs->lower_bound > needs->peak) needs->lower_bound = needs->peak; /* it counts both */
  return status;
}

static berth_status_t make_plan(job_t *job, bool given) {
  berth_interpreter_t *interpreter = job->interpreter;
  const berth_interpreter_options_t *options = &interpreter->options;
  berth_needs_t *needs = &interpreter->needs;
  berth_status_t status;
  if (options->no_reuse) {
    status = stack(job);
  } else if (options->planner != NULL && !given) {
    status = plan_with(job, options->planner);
  } else {
    status = berth_plan_compact(job->buffers, job->buffer_count, job->fixed_count,
                                !options->trust_offsets, &needs->peak, &needs->lower_bound);
  }
  if (status == BERTH_INFEASIBLE && given) status = plan_around_shared(job);
  if (status == BERTH_INFEASIBLE && given) {
    berth_run_log(interpreter, BERTH_EVENT_PLAN, 0, BERTH_NOBODY, BERTH_NOBODY, 0,
                  "offsets that are given overlap while both tensors are live, or are misaligned");
    return options->offsets != NULL ? BERTH_ERROR_ARGUMENT : BERTH_ERROR_FORMAT;
  }
  if (status != BERTH_OK) return status < 0 ? status : BERTH_ERROR_UNSUPPORTED;
  grant_wishes(job);
  needs->extent = needs->peak;
  for (uint32_t i = 0; i < job->buffer_count; i++) {
    uint32_t owner = job->owners[i], offset = job->buffers[i].offset;
    if (job->buffers[i].size > 0 && offset + job->buffers[i].size > needs->extent) {
      needs->extent = offset + job->buffers[i].size;
    }
    if (owner < interpreter->tensor_count) {
      interpreter->places[owner] = offset;
    } else {
      interpreter->scratches[owner - interpreter->tensor_count] = offset;
    }
  }
  for (uint32_t i = 0; job->aliases != NULL && i < interpreter->tensor_count; i++) {
    const berth_alias_t *alias = &job->aliases[i];
    if (alias->root == i) continue;
    interpreter->places[i] = interpreter->places[alias->root] + (uint32_t)alias->offset;
  }
  return BERTH_OK;
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

static berth_status_t place_workspace(job_t *job, berth_call_t *call, uint32_t bytes,
                                      berth_operator_place_t *place) {
  berth_interpreter_t *interpreter = job->interpreter;
  uint32_t before = interpreter->persistent_used;
  call->workspace = berth_run_take_persistent(interpreter, bytes, &place->workspace);
  if (call->workspace == NULL) {
    place->workspace = 0;
    return too_small(job, (uint64_t)before + bytes, "persistent data do not fit");
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
static berth_status_t place_state(job_t *job, uint32_t bytes, berth_operator_place_t *place) {
  uint32_t distance;
  uint8_t *start = berth_run_take_persistent(job->interpreter, bytes + 16, &distance);
  if (start == NULL) {
    uint64_t needed = (uint64_t)job->interpreter->persistent_used + bytes + 16;
    return too_small(job, needed, "persistent data do not fit");
  }
  memcpy(start, &bytes, sizeof bytes);
  place->state = distance - 16;
  return BERTH_OK;
}

static berth_status_t place_variables(job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  for (uint32_t i = 0; i < interpreter->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &job->graph.tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_PERSISTENT) continue;
    berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
    if (!value.known) return BERTH_ERROR_UNSUPPORTED;
    uint32_t distance;
    if (berth_run_take_persistent(interpreter, value.bytes, &distance) == NULL) {
      uint64_t needed = (uint64_t)interpreter->persistent_used + value.bytes;
      return too_small(job, needed, "persistent data do not fit");
    }
    interpreter->places[i] = distance | PLACE_PERSISTENT;
  }
  return BERTH_OK;
}

static berth_status_t place_operator_data(job_t *job) {
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

/* ---- All together --------------------------------------------------------------------------- */

static berth_status_t find_lifetimes(job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_graph_options_t options = {.keep_inputs = interpreter->options.keep_inputs};
  size_t bytes;
  berth_status_t status = berth_graph_workspace(interpreter->model, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = borrow(&job->loan, bytes, 16);
  if (workspace == NULL) return loan_too_small(job);
  return berth_graph_analyse(interpreter->model, &options, workspace, bytes, &job->graph, NULL);
}

static berth_status_t given_plan(const berth_interpreter_t *interpreter, berth_vector_t *offsets,
                                 bool *given) {
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
    if (berth_run_model_plan(interpreter->model, interpreter->tensor_count, offsets) != BERTH_OK) {
      berth_run_log(interpreter, BERTH_EVENT_PLAN, 0, BERTH_NOBODY, BERTH_NOBODY, 0,
                    "the model's OfflineMemoryAllocation is malformed");
      return BERTH_ERROR_FORMAT;
    }
  }
  *given = offsets->count > 0;
  return BERTH_OK;
}

static berth_status_t prepare(job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  berth_vector_t offsets;
  bool given;
  berth_status_t status = given_plan(interpreter, &offsets, &given);
  if (status == BERTH_OK) status = find_lifetimes(job);
  if (status != BERTH_OK) return status;
  berth_run_fold(interpreter);
  berth_run_fold_lifetimes(interpreter, &job->graph);
  status = start_sharing(job);
  if (status == BERTH_OK) status = prepare_operators(job);
  if (status == BERTH_OK) status = settle_lifetimes(job);
  if (status == BERTH_OK && !given) status = find_aliases(job);
  if (status != BERTH_OK) return status;

  if (job->scratch_count > 0) {
    interpreter->scratches = berth_run_take_metadata(
        interpreter, job->scratch_count * (uint32_t)sizeof(uint32_t), sizeof(uint32_t));
    if (interpreter->scratches == NULL) return too_small(job, 0, "metadata do not fit");
  }
  status = collect_buffers(job, &offsets);
  if (status == BERTH_OK) status = make_plan(job, given);
  if (status == BERTH_OK) status = place_variables(job);
  if (status == BERTH_OK) status = place_operator_data(job);
  if (status != BERTH_OK) return status;

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
    return too_small(job, needs->total, "the planned tensors do not fit");
  }
  return BERTH_OK;
}

berth_status_t berth_interpreter_prepare(berth_interpreter_t *interpreter) {
  if (interpreter == NULL || interpreter->model == NULL) return BERTH_ERROR_ARGUMENT;
  interpreter->prepared = false;
  interpreter->failed = false;
  berth_run_forget(interpreter);
  memset(&interpreter->needs, 0, sizeof interpreter->needs);

  job_t job;
  memset(&job, 0, sizeof job);
  job.interpreter = interpreter;
  job.loan.interpreter = interpreter;
  job.loan.separate = interpreter->memories.planning.data != NULL;
  job.loan.base = job.loan.separate ? interpreter->memories.planning.data
                                    : interpreter->memories.activations.data;
  berth_status_t status = prepare(&job);
  if (status != BERTH_OK) return status;

  uint32_t start = (interpreter->needs.extent + interpreter->options.alignment - 1) &
                   ~(interpreter->options.alignment - 1);
  uint32_t room = berth_run_head_room(interpreter);
  if (start > room) start = room;
  berth_arena_init(&interpreter->dynamic, (uint8_t *)interpreter->memories.activations.data + start,
                   room - start);
  interpreter->prepared = true;
  berth_interpreter_reset(interpreter);
  berth_run_log(interpreter, BERTH_EVENT_PREPARED, 0, BERTH_NOBODY, BERTH_NOBODY,
                interpreter->needs.total, NULL);
  return BERTH_OK;
}
