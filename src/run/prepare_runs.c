/* Prepare, streamed runs: makes the row schedules of a streamed plan, and says what they mean for
 * lifetimes and scratch.
 *
 * All that a run touches is live in all its steps: rings, whole tensors that it makes or reads, and
 * the sums of accumulating operators. Scratch that an operator needs during one call only is shared
 * by all operators of the run. Schedules stay in the metadata; contracts are borrowed.
 */
#include "prepare.h"
#include <string.h>

static berth_status_t wrong(const berth_job_t *job, const char *why) {
  berth_run_log(job->interpreter, BERTH_EVENT_PLAN, 0, BERTH_NOBODY, BERTH_NOBODY, 0, why);
  return BERTH_ERROR_ARGUMENT;
}

berth_status_t berth_job_check_runs(const berth_job_t *job) {
  const berth_stream_plan_t *plan = job->interpreter->options.stream;
  if (plan == NULL) return BERTH_OK;
  uint32_t count = berth_model_subgraph(job->interpreter->model, 0).operator_count;
  if (plan->step_count != count) {
    return wrong(job, "the streamed plan has not one step for each operator");
  }
  for (uint32_t i = 0; i < plan->run_count; i++) {
    const berth_stream_run_t *run = &plan->runs[i];
    if (run->first > run->last || run->last >= count || run->block == 0 ||
        (i > 0 && run->first <= run[-1].last)) {
      return wrong(job, "the streamed plan has a run that is none, or is out of order");
    }
  }
  return BERTH_OK;
}

berth_status_t berth_job_begin_runs(berth_job_t *job) {
  const berth_stream_plan_t *plan = job->interpreter->options.stream;
  if (plan == NULL || plan->run_count == 0) return BERTH_OK;
  uint32_t count = berth_model_subgraph(job->interpreter->model, 0).operator_count;
  job->contracts = berth_job_borrow(job, count * (uint64_t)sizeof *job->contracts, 8);
  if (job->contracts == NULL) return berth_job_loan_too_small(job);
  memset(job->contracts, 0, count * sizeof *job->contracts);
  return BERTH_OK;
}

static const berth_stream_run_t *run_of_operator(const berth_job_t *job, uint32_t op) {
  uint32_t number;
  if (job->contracts == NULL) return NULL;
  return berth_run_of_step(job->interpreter, berth_run_step_of(job->interpreter, op), &number);
}

bool berth_job_is_streamed(const berth_job_t *job, uint32_t op) {
  return run_of_operator(job, op) != NULL;
}

void berth_job_note_contract(berth_job_t *job, uint32_t op, berth_contract_t *contract) {
  if (contract->kind == BERTH_ACCUMULATING && run_of_operator(job, op) != NULL) {
    if (contract->scratch[0] < contract->accumulator) contract->scratch[0] = contract->accumulator;
    contract->wish = 0;
  }
  job->contracts[op] = *contract;
}

/* ---- Schedules ------------------------------------------------------------------------------- */

static berth_status_t check_operators(const berth_job_t *job, const berth_stream_run_t *run) {
  for (uint32_t step = run->first; step <= run->last; step++) {
    berth_call_t call;
    berth_run_call(job->interpreter, 0, berth_run_operator_of(job->interpreter, step), &call);
    if (!job->contracts[call.index].known) {
      return wrong(job, "the streamed plan has a run with an operator of unknown shape");
    }
    for (uint32_t i = 0; berth_run_kernels[i] != NULL; i++) {
      if (call.kernel != berth_run_kernels[i]) continue;
      return wrong(job, "the streamed plan has a run with an operator that runs a subgraph or uses "
                        "a resource");
    }
  }
  return BERTH_OK;
}

static berth_status_t make_run(berth_job_t *job, const berth_stream_network_t *network,
                               uint32_t number) {
  berth_interpreter_t *interpreter = job->interpreter;
  const berth_stream_run_t *run = &interpreter->options.stream->runs[number];
  berth_status_t status = check_operators(job, run);
  size_t bytes = 0;
  if (status == BERTH_OK) status = berth_stream_workspace(network, run->first, run->last, &bytes);
  if (status != BERTH_OK) return status;
  if (bytes > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  void *memory = berth_run_take_metadata(interpreter, (uint32_t)bytes, 8);
  if (memory == NULL) return berth_job_too_small(job, 0, "metadata do not fit");
  berth_stream_t *stream = &interpreter->runs[number];
  status = berth_stream_init(network, run->first, run->last, memory, bytes, stream);
  return status == BERTH_OK ? berth_stream_begin(stream, run) : status;
}

/* Do the rows of a graph input come from the caller while a run is on? */
static bool has_pushed_input(const berth_interpreter_t *interpreter) {
  uint32_t count = berth_model_subgraph(interpreter->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    if (berth_interpreter_is_pushed(interpreter, i)) return true;
  }
  return false;
}

berth_status_t berth_job_make_runs(berth_job_t *job) {
  berth_interpreter_t *interpreter = job->interpreter;
  const berth_stream_plan_t *plan = interpreter->options.stream;
  if (job->contracts == NULL) return BERTH_OK;
  uint32_t count = berth_model_subgraph(interpreter->model, 0).tensor_count;
  berth_stream_tensor_t *tensors =
      berth_job_borrow(job, count * (uint64_t)sizeof *tensors, sizeof(uint32_t));
  if (tensors == NULL) return berth_job_loan_too_small(job);
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_interpreter_tensor(interpreter, 0, i);
    tensors[i] = (berth_stream_tensor_t){0, 1, 0};
    if (value.known && !value.constant) {
      tensors[i] = berth_stream_tensor(value.rank, value.dims, value.bytes);
    }
  }
  interpreter->runs = berth_run_take_metadata(
      interpreter, plan->run_count * (uint32_t)sizeof *interpreter->runs, 8);
  if (interpreter->runs == NULL) return berth_job_too_small(job, 0, "metadata do not fit");
  berth_stream_network_t network = {.model = interpreter->model,
                                    .contracts = job->contracts,
                                    .tensors = tensors,
                                    .order = plan->order};
  for (uint32_t i = 0; i < plan->run_count; i++) {
    berth_status_t status = make_run(job, &network, i);
    if (status != BERTH_OK) return status;
  }
  interpreter->pushed = has_pushed_input(interpreter);
  return BERTH_OK;
}

/* ---- Pieces in one call ---------------------------------------------------------------------- */

/* Do the two have any memory in common? */
static bool overlap(const berth_value_t *a, const berth_value_t *b) {
  if (a->data == NULL || b->data == NULL) return false;
  return a->data < b->data + berth_run_held_bytes(b) && b->data < a->data + berth_run_held_bytes(a);
}

/* How many rows an operator may make at once, if nobody else makes any in between: what its rings
 * hold. Where its outputs lie over rows that it reads, it must make them one after the other. */
static uint32_t most_rows(berth_job_t *job, uint32_t op) {
  berth_call_t call;
  berth_run_call(job->interpreter, 0, op, &call);
  const berth_contract_t *contract = &job->contracts[op];
  uint32_t most = UINT32_MAX;
  if (contract->kind == BERTH_ACCUMULATING) return most; /* writes when it has read everything */
  for (uint32_t i = 0; i < call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&call, i);
    if (output.present && output.ring < most) most = output.ring;
    for (uint32_t k = 0; k < call.op.inputs.count && !contract->ordered; k++) {
      berth_value_t input = berth_input(&call, k);
      if (overlap(&input, &output)) return 0;
    }
  }
  return most;
}

void berth_job_join_pieces(berth_job_t *job) {
  const berth_interpreter_t *interpreter = job->interpreter;
  const berth_stream_plan_t *plan = interpreter->options.stream;
  for (uint32_t i = 0; interpreter->runs != NULL && i < plan->run_count; i++) {
    for (uint32_t step = plan->runs[i].first; step <= plan->runs[i].last; step++) {
      uint32_t rows = most_rows(job, berth_run_operator_of(interpreter, step));
      berth_stream_set_join(&interpreter->runs[i], step, rows);
    }
  }
}

/* ---- Lifetimes and scratch ------------------------------------------------------------------- */

bool berth_job_is_unseen(const berth_job_t *job, uint32_t tensor) {
  const berth_graph_tensor_t *info = &job->graph.tensors[tensor];
  if (job->contracts == NULL || info->subgraph != 0 || info->producer == BERTH_NOBODY) return false;
  uint32_t number, step = berth_run_step_of(job->interpreter, info->producer);
  if (berth_run_of_step(job->interpreter, step, &number) == NULL) return false;
  return berth_stream_is_view(&job->interpreter->runs[number], step);
}

/* Does the operator have scratch number `i` that it may share with others of its run? */
static bool shares(const berth_job_t *job, uint32_t op, uint32_t i) {
  const berth_interpreter_t *interpreter = job->interpreter;
  uint32_t scratch = interpreter->operators[berth_run_operator_index(interpreter, 0, op)].scratch;
  if ((scratch >> OPERATOR_SCRATCH_SHIFT & 7u) <= i) return false;
  return i > 0 || job->contracts[op].kind != BERTH_ACCUMULATING;
}

uint32_t berth_job_shared_scratch(const berth_job_t *job, uint32_t op, uint32_t i, uint32_t *bytes,
                                  uint32_t *wish) {
  const berth_stream_run_t *run = run_of_operator(job, op);
  *bytes = *wish = 0;
  if (run == NULL || !shares(job, op, i)) return op;
  uint32_t first = BERTH_NOBODY;
  for (uint32_t step = run->first; step <= run->last; step++) {
    uint32_t other = berth_run_operator_of(job->interpreter, step);
    if (!shares(job, other, i)) continue;
    const berth_contract_t *contract = &job->contracts[other];
    if (first == BERTH_NOBODY) first = other;
    if (contract->scratch[i] > *bytes) *bytes = contract->scratch[i];
    if (i == 0 && contract->wish > *wish) *wish = contract->wish;
  }
  return first;
}
