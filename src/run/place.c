/* Prepare, placement: from lifetimes and contracts to offsets.
 *
 * Collects everything that needs room in the activations' block, plans it (with offsets that are
 * given, a planner of the caller's, or the small greedy one of src/plan/compact.c), and grants
 * operators the scratch that they wish for where the plan has room.
 */
#include "plan/round.h"
#include "prepare.h"
#include <string.h>

/* ---- Buffers -------------------------------------------------------------------------------- */

static bool is_planned(const berth_job_t *job, uint32_t tensor) {
  uint32_t source;
  const berth_graph_tensor_t *info = &job->graph.tensors[tensor];
  if (berth_run_is_folded(job->interpreter, info->subgraph, info->tensor, &source)) return false;
  if (berth_job_is_unseen(job, tensor)) return false;
  const berth_shape_t *shape = berth_run_shape(job->interpreter, tensor);
  if (shape != NULL && shape->unknown) return false;
  berth_allocation_t allocation = info->allocation;
  return allocation == BERTH_ALLOCATION_ARENA_RW || allocation == BERTH_ALLOCATION_DYNAMIC;
}

/* The lifetimes as the interpreter knows them: with the sizes that operators have stated, without
 * what is not planned. */
static berth_status_t settle_lifetimes(berth_job_t *job) {
  for (uint32_t i = 0; i < job->graph.tensor_count; i++) {
    berth_graph_tensor_t *tensor = &job->graph.tensors[i];
    if (is_planned(job, i)) {
      berth_value_t value =
          berth_interpreter_tensor(job->interpreter, tensor->subgraph, tensor->tensor);
      if (!value.known) return BERTH_ERROR_OVERFLOW;
      tensor->allocation = BERTH_ALLOCATION_ARENA_RW;
      tensor->bytes = berth_run_held_bytes(&value);
      tensor->last = berth_run_last_step(job->interpreter, tensor);
      berth_run_widen(job->interpreter, tensor);
    } else if (tensor->allocation != BERTH_ALLOCATION_PERSISTENT) {
      tensor->allocation = BERTH_ALLOCATION_NONE;
    }
  }
  return BERTH_OK;
}

static berth_alias_options_t alias_options(const berth_job_t *job) {
  const berth_interpreter_options_t *settings = &job->interpreter->options;
  berth_alias_options_t options = {.overlap = settings->overlap,
                                   .align = settings->alignment,
                                   .keep_inputs = settings->keep_inputs};
  if (settings->stream != NULL) options.order = settings->stream->order;
  return options;
}

/* Bytes that variables and operators' data will take. */
static uint64_t persistent_bytes(const berth_job_t *job) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < interpreter->operator_count; i++) {
    const berth_operator_place_t *place = &interpreter->operators[i];
    sum += berth_round_up(place->workspace, 16);
    if (place->state > 0) sum += berth_round_up(place->state, 16) + 16;
  }
  for (uint32_t i = 0; i < interpreter->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &job->graph.tensors[i];
    if (tensor->allocation == BERTH_ALLOCATION_PERSISTENT) sum += berth_round_up(tensor->bytes, 16);
  }
  return sum;
}

/* Are the tensors that are live in one step never more than `most` bytes together? The sum is
 * largest where one begins. */
static bool is_load_within(const berth_job_t *job, uint64_t most) {
  const berth_graph_t *graph = &job->graph;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    if (graph->tensors[i].allocation != BERTH_ALLOCATION_ARENA_RW) continue;
    uint32_t step = graph->tensors[i].first;
    uint64_t load = 0;
    for (uint32_t k = 0; k < graph->tensor_count && load <= most; k++) {
      const berth_graph_tensor_t *tensor = &graph->tensors[k];
      bool live = tensor->first <= step && step <= tensor->last;
      if (!live || tensor->allocation != BERTH_ALLOCATION_ARENA_RW) continue;
      load += berth_round_up(tensor->bytes, job->interpreter->options.alignment);
    }
    if (load > most) return false;
  }
  return true;
}

/* Finding out what may share memory borrows some, too. It is in vain where all fits into what
 * lifetimes and aliases would borrow. Their entries count with the sizes that they have on 32 bits,
 * so that the answer, and the plan, is the same everywhere. */
static bool is_sharing_in_vain(const berth_job_t *job) {
  enum { EACH = 44 + 24 };
  _Static_assert(sizeof(berth_graph_tensor_t) + sizeof(berth_alias_t) >= EACH, "borrowed at least");
  if (job->loan.separate) return false;
  uint64_t borrowed = EACH * (uint64_t)job->graph.tensor_count, persistent = persistent_bytes(job);
  return persistent <= borrowed && is_load_within(job, borrowed - persistent);
}

/* Which tensors share memory. */
static berth_status_t find_aliases(berth_job_t *job) {
  if (job->sharing == NULL || is_sharing_in_vain(job)) return BERTH_OK;
  berth_alias_options_t options = alias_options(job);
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&job->graph, job->sharing, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = berth_job_borrow(job, bytes, 8);
  if (workspace == NULL) return berth_job_loan_too_small(job);
  return berth_alias_find(&job->graph, job->sharing, &options, workspace, bytes, &job->aliases);
}

/* Does the tensor have a buffer of its own? */
static bool has_buffer(const berth_job_t *job, uint32_t tensor) {
  return is_planned(job, tensor) && (job->aliases == NULL || job->aliases[tensor].root == tensor);
}

/* Index of an operator's first scratch buffer, behind the size of one that wishes. */
static uint32_t first_scratch(uint32_t scratch) {
  return (scratch & OPERATOR_SCRATCH_INDEX) + (scratch & OPERATOR_WISH ? 1 : 0);
}

/* Appends a buffer. */
static void add_buffer(berth_job_t *job, uint32_t owner, uint32_t bytes, uint32_t align,
                       uint32_t first, uint32_t last) {
  berth_compact_t *buffer = &job->buffers[job->buffer_count];
  buffer->size = (bytes + align - 1) & ~(align - 1);
  buffer->align = align;
  bool always = job->interpreter->options.no_reuse; /* so that no scratch is granted in its place */
  buffer->first = always ? 0 : first;
  buffer->last = always ? UINT32_MAX - 1 : last;
  buffer->offset = BERTH_COMPACT_UNPLACED;
  job->owners[job->buffer_count++] = owner;
}

static berth_status_t add_tensor(berth_job_t *job, uint32_t flat) {
  const berth_interpreter_t *interpreter = job->interpreter;
  const berth_graph_tensor_t *tensor = &job->graph.tensors[flat];
  berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
  if (!value.known) return BERTH_ERROR_OVERFLOW;
  uint32_t align = interpreter->options.alignment;
  uint32_t element = (berth_tensor_type_bits(value.type) + 7) / 8;
  if (align < element) align = element;
  const berth_alias_t *alias = job->aliases != NULL ? &job->aliases[flat] : NULL;
  add_buffer(job, flat, berth_run_held_bytes(&value), align,
             alias != NULL ? alias->first : tensor->first,
             alias != NULL ? alias->last : tensor->last);
  return BERTH_OK;
}

/* Scratch lives during its operator's step, or as long as the operator's subgraph or run may. */
static void add_scratch(berth_job_t *job, uint32_t subgraph, uint32_t op) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint32_t scratch =
      interpreter->operators[berth_run_operator_index(interpreter, subgraph, op)].scratch;
  uint32_t count = scratch >> OPERATOR_SCRATCH_SHIFT & 7u;
  uint32_t number = first_scratch(scratch);
  uint32_t first = job->graph.called_first[subgraph], last = job->graph.called_last[subgraph];
  if (subgraph == 0) {
    uint32_t run;
    first = last = berth_run_step_of(interpreter, op);
    const berth_stream_run_t *streamed = berth_run_of_step(interpreter, first, &run);
    if (streamed != NULL) {
      first = streamed->first;
      last = streamed->last;
    }
  }
  uint32_t align = interpreter->options.alignment > 16 ? interpreter->options.alignment : 16;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t bytes = 0, wish;
    if (subgraph == 0 && berth_job_shared_scratch(job, op, i, &bytes, &wish) != op) continue;
    if (bytes < job->scratch_bytes[number + i]) bytes = job->scratch_bytes[number + i];
    add_buffer(job, interpreter->tensor_count + number + i, bytes, align, first, last);
  }
}

/* Collects all buffers to place, those with a given offset first. */
static berth_status_t collect_buffers(berth_job_t *job, const berth_vector_t *offsets) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint32_t count = job->scratch_count;
  for (uint32_t i = 0; i < interpreter->tensor_count; i++) count += has_buffer(job, i);
  job->owners = berth_job_borrow(job, (uint64_t)count * sizeof *job->owners, 4);
  job->buffers = berth_job_borrow(job, (uint64_t)count * sizeof *job->buffers, 4);
  if (job->owners == NULL || job->buffers == NULL) return berth_job_loan_too_small(job);
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
static berth_status_t stack(berth_job_t *job) {
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
static berth_status_t plan_with(berth_job_t *job, const berth_planner_t *planner) {
  uint32_t count = job->buffer_count;
  berth_plan_t plan;
  memset(&plan, 0, sizeof plan);
  berth_buffer_t *buffers = berth_job_borrow(job, (uint64_t)count * sizeof *buffers, 8);
  plan.placements = berth_job_borrow(job, (uint64_t)count * sizeof *plan.placements, 8);
  if (buffers == NULL || plan.placements == NULL) return berth_job_loan_too_small(job);
  for (uint32_t i = 0; i < count; i++) {
    const berth_compact_t *from = &job->buffers[i];
    buffers[i] = berth_buffer(from->size, from->first, from->last);
    buffers[i].align = from->align;
    if (i < job->fixed_count) buffers[i].fixed = from->offset;
  }
  berth_problem_t problem = {.buffers = buffers, .buffer_count = count};
  berth_plan_options_t options = {.capacity = 0};
  plan.peak = UINT64_MAX;                                          /* none yet */
  plan.lower_bound = berth_plan_compact_load(job->buffers, count); /* where a search may stop */
  if (count > 0) memset(plan.placements, 0, count * sizeof *plan.placements);
  size_t bytes;
  berth_status_t status = planner->workspace(&problem, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = berth_job_borrow(job, bytes, 16);
  if (workspace == NULL) return berth_job_loan_too_small(job);
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

/* Bytes up to which wishes may go: what planning has borrowed anyway, and what the caller spares.
 */
static uint32_t wish_limit(const berth_job_t *job) {
  const berth_needs_t *needs = &job->interpreter->needs;
  uint32_t spare = job->interpreter->options.spare;
  if (spare == 0) spare = needs->peak / 64;
  uint64_t limit = (uint64_t)needs->peak + spare, persistent = persistent_bytes(job);
  if (!job->loan.separate && needs->planning > persistent + limit) {
    limit = needs->planning - persistent;
  }
  limit &= ~(uint64_t)15;
  if (limit > ACTIVATIONS_MAX) limit = ACTIVATIONS_MAX & ~15u;
  return limit < needs->peak ? needs->peak : (uint32_t)limit;
}

/* Gives a scratch buffer as much of the bytes that its operators wish for as there is room. */
static void grant_wish(berth_job_t *job, berth_compact_t *buffer, uint32_t wish, uint32_t limit) {
  uint32_t offset = 0;
  uint32_t bytes =
      berth_plan_compact_hole(job->buffers, job->buffer_count, (uint32_t)(buffer - job->buffers),
                              buffer->first, buffer->last, buffer->align, limit, wish, &offset);
  bytes &= ~15u;
  if (bytes >= buffer->size) {
    buffer->size = bytes;
    buffer->offset = offset;
  }
  if (buffer->size == 0) buffer->offset = BERTH_NO_OFFSET;
}

static berth_compact_t *scratch_buffer(const berth_job_t *job, uint32_t number) {
  uint32_t owner = job->interpreter->tensor_count + number, i = 0;
  while (i < job->buffer_count && job->owners[i] != owner) i++;
  return i < job->buffer_count ? &job->buffers[i] : NULL;
}

/* Operators of subgraph `subgraph`: wishes of those that stand for themselves, or their run. */
static void grant_wishes(berth_job_t *job, uint32_t subgraph, uint32_t limit) {
  berth_interpreter_t *interpreter = job->interpreter;
  uint32_t operators = berth_model_subgraph(interpreter->model, subgraph).operator_count;
  for (uint32_t op = 0; op < operators; op++) {
    uint32_t scratch =
        interpreter->operators[berth_run_operator_index(interpreter, subgraph, op)].scratch;
    uint32_t bytes, wish = 0;
    if (subgraph == 0) berth_job_shared_scratch(job, op, 0, &bytes, &wish);
    if (scratch & OPERATOR_WISH && wish == 0) {
      wish = job->scratch_bytes[scratch & OPERATOR_SCRATCH_INDEX];
    }
    berth_compact_t *buffer = scratch_buffer(job, first_scratch(scratch));
    bool has_any = scratch >> OPERATOR_SCRATCH_SHIFT & 7u;
    if (has_any && wish > 0 && buffer != NULL) grant_wish(job, buffer, wish, limit);
  }
}

/* Tells the operators where their scratch is, and how much those get that wish for more. */
static void note_scratch(berth_job_t *job, uint32_t subgraph) {
  berth_interpreter_t *interpreter = job->interpreter;
  uint32_t operators = berth_model_subgraph(interpreter->model, subgraph).operator_count;
  for (uint32_t op = 0; op < operators; op++) {
    uint32_t scratch =
        interpreter->operators[berth_run_operator_index(interpreter, subgraph, op)].scratch;
    uint32_t count = scratch >> OPERATOR_SCRATCH_SHIFT & 7u;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t bytes, wish, stands = op;
      if (subgraph == 0) stands = berth_job_shared_scratch(job, op, i, &bytes, &wish);
      uint32_t other =
          interpreter->operators[berth_run_operator_index(interpreter, subgraph, stands)].scratch;
      const berth_compact_t *buffer = scratch_buffer(job, first_scratch(other) + i);
      uint32_t number = first_scratch(scratch);
      interpreter->scratches[number + i] = buffer != NULL ? buffer->offset : BERTH_NO_OFFSET;
      if (i > 0 || !(scratch & OPERATOR_WISH) || buffer == NULL) continue;
      uint32_t most = (job->scratch_bytes[number - 1] + 15u) & ~15u;
      interpreter->scratches[number - 1] = buffer->size < most ? buffer->size : most;
    }
  }
}

/* Offsets that are given overlap, or are misaligned: is the former as the contracts permit? Then
 * everything else is placed around them. */
static berth_status_t plan_around_shared(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  if (job->sharing == NULL) return BERTH_INFEASIBLE;
  uint32_t tensors = interpreter->tensor_count;
  uint64_t *offsets = berth_job_borrow(job, (uint64_t)tensors * sizeof *offsets, 8);
  if (offsets == NULL) return berth_job_loan_too_small(job);
  for (uint32_t i = 0; i < tensors; i++) offsets[i] = UINT64_MAX;
  for (uint32_t i = 0; i < job->fixed_count; i++) {
    if (job->buffers[i].offset % job->buffers[i].align != 0) return BERTH_INFEASIBLE;
    offsets[job->owners[i]] = job->buffers[i].offset;
  }
  berth_alias_options_t options = alias_options(job);
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&job->graph, job->sharing, &options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = berth_job_borrow(job, bytes, 8);
  if (workspace == NULL) return berth_job_loan_too_small(job);
  status =
      berth_alias_check(&job->graph, job->sharing, &options, offsets, workspace, bytes, NULL, NULL);
  if (status != BERTH_OK) return status;
  berth_needs_t *needs = &interpreter->needs;
  status = berth_plan_compact(job->buffers, job->buffer_count, job->fixed_count, false,
                              &needs->peak, &needs->lower_bound);
  if (needs->lower_bound > needs->peak) needs->lower_bound = needs->peak; /* it counts both */
  return status;
}

static berth_status_t make_plan(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  const berth_interpreter_options_t *options = &interpreter->options;
  berth_needs_t *needs = &interpreter->needs;
  berth_status_t status;
  if (options->no_reuse) {
    status = stack(job);
  } else if (options->planner != NULL && job->fixed_count == 0) {
    status = plan_with(job, options->planner);
  } else {
    status = berth_plan_compact(job->buffers, job->buffer_count, job->fixed_count,
                                !options->trust_offsets, &needs->peak, &needs->lower_bound);
  }
  bool given = job->fixed_count > 0;
  if (status == BERTH_INFEASIBLE && given) status = plan_around_shared(job);
  if (status == BERTH_INFEASIBLE && given) {
    berth_run_log(interpreter, BERTH_EVENT_PLAN, 0, BERTH_NOBODY, BERTH_NOBODY, 0,
                  "offsets that are given overlap while both tensors are live, or are misaligned");
    return options->offsets != NULL ? BERTH_ERROR_ARGUMENT : BERTH_ERROR_FORMAT;
  }
  if (status != BERTH_OK) return status < 0 ? status : BERTH_ERROR_UNSUPPORTED;
  if (needs->lower_bound > needs->peak) needs->lower_bound = needs->peak; /* trusted ones overlap */
  uint32_t limit = wish_limit(job);
  for (uint32_t i = 0; i < interpreter->model->subgraph_count; i++) {
    if (job->graph.called_first[i] == BERTH_NOBODY) continue;
    grant_wishes(job, i, limit);
    note_scratch(job, i);
  }
  needs->extent = needs->peak;
  for (uint32_t i = 0; i < job->buffer_count; i++) {
    uint32_t owner = job->owners[i], offset = job->buffers[i].offset;
    if (job->buffers[i].size > 0 && offset + job->buffers[i].size > needs->extent) {
      needs->extent = offset + job->buffers[i].size;
    }
    if (owner < interpreter->tensor_count) interpreter->places[owner] = offset;
  }
  for (uint32_t i = 0; job->aliases != NULL && i < interpreter->tensor_count; i++) {
    const berth_alias_t *alias = &job->aliases[i];
    if (alias->root == i) continue;
    interpreter->places[i] = interpreter->places[alias->root] + (uint32_t)alias->offset;
  }
  return BERTH_OK;
}

berth_status_t berth_job_place(berth_job_t *job, const berth_vector_t *offsets) {
  berth_status_t status = settle_lifetimes(job);
  if (status == BERTH_OK && offsets->count == 0) status = find_aliases(job);
  if (status == BERTH_OK) status = collect_buffers(job, offsets);
  return status == BERTH_OK ? make_plan(job) : status;
}
