/* Invoke: evaluates the operators in order, and allocates what has no size before.
 *
 * In a model without dynamic tensors nothing is allocated here. Where an operator's inputs have an
 * unknown shape, the operator is prepared just before it runs, its outputs and scratch come from
 * the dynamic arena, and every dynamic tensor is freed after its last reader.
 */
#include "berth/guard.h"
#include "run.h"
#include <string.h>

static berth_status_t refused(const berth_call_t *call, berth_status_t status) {
  berth_run_log(call->interpreter, BERTH_EVENT_REFUSED, call->subgraph, call->index, BERTH_NOBODY,
                0, call->why ? call->why : berth_status_text(status));
  return status == BERTH_ERROR_CANCELLED || status == BERTH_ERROR_MEMORY ? status
                                                                         : BERTH_ERROR_OPERATOR;
}

void berth_run_zero_outputs(const berth_call_t *call) {
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t value = berth_output(call, i);
    if (value.data != NULL) memset(value.data, 0, value.bytes);
  }
}

berth_status_t berth_run_evaluate(berth_call_t *call) {
  const berth_kernel_t *kernel = call->kernel;
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
  berth_status_t status = berth_arena_allocate(&interpreter->dynamic, bytes, 16, &offset);
  if (status != BERTH_OK) return status;
  lease->offsets[lease->count] = offset;
  lease->bytes[lease->count++] = bytes;
  *address = interpreter->dynamic.base + offset;
  return BERTH_OK;
}

static void give_back(berth_interpreter_t *interpreter, const lease_t *lease) {
  for (uint32_t i = lease->count; i-- > 0;) {
    berth_arena_free(&interpreter->dynamic, lease->offsets[i], lease->bytes[i]);
  }
}

static berth_status_t run_lazily(berth_interpreter_t *interpreter, berth_call_t *call) {
  berth_contract_t contract;
  lease_t lease = {.count = 0};
  memset(&contract, 0, sizeof contract);
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

static bool contains(berth_vector_t list, int32_t tensor) {
  for (uint32_t i = 0; i < list.count; i++) {
    if (berth_vector_int(list, i) == tensor) return true;
  }
  return false;
}

static bool is_needed_after(const berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                            int32_t tensor) {
  berth_subgraph_t graph = berth_model_subgraph(interpreter->model, subgraph);
  if (contains(graph.outputs, tensor)) return true;
  for (uint32_t later = op + 1; later < graph.operator_count; later++) {
    if (contains(berth_model_operator(interpreter->model, subgraph, later).inputs, tensor)) {
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
  berth_arena_free(&interpreter->dynamic, (uint32_t)(value.data - interpreter->dynamic.base),
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

/* Hands over the graph outputs that this operator has completed: nobody writes them later. */
static void deliver(const berth_interpreter_t *interpreter, const berth_call_t *call) {
  berth_vector_t outputs = berth_model_subgraph(interpreter->model, 0).outputs;
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t tensor = berth_vector_int(outputs, i);
    if (!contains(call->op.outputs, tensor)) continue;
    berth_value_t value = berth_interpreter_output(interpreter, i);
    interpreter->options.deliver(interpreter->options.user, i, &value);
  }
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
  } else {
    berth_run_call_memory(interpreter, &call);
    if (interpreter->guard != NULL) {
      status = interpreter->guard->run(interpreter->guard, &call, flags);
    } else {
      if (flags & OPERATOR_PARTIAL) berth_run_zero_outputs(&call);
      status = berth_run_evaluate(&call);
    }
  }
  if (status != BERTH_OK) return refused(&call, status);
  if (subgraph == 0 && interpreter->options.deliver != NULL) deliver(interpreter, &call);
  if (interpreter->options.observe != NULL &&
      !interpreter->options.observe(interpreter->options.user, interpreter, subgraph, op)) {
    return BERTH_ERROR_CANCELLED;
  }
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

/* Dynamic tensors of the last invoke are gone. */
static void forget_dynamic(berth_interpreter_t *interpreter) {
  bool any = false;
  for (uint32_t i = 0; i < interpreter->shape_count; i++) {
    berth_shape_t *shape = &interpreter->shapes[i];
    if (!shape->unknown) continue;
    any = true;
    shape->rank = 0xffffu;
    interpreter->places[shape->tensor] = PLACE_UNKNOWN;
  }
  if (any) {
    uint32_t high_water = interpreter->dynamic.high_water;
    berth_arena_reset(&interpreter->dynamic);
    interpreter->dynamic.high_water = high_water;
  }
}

berth_status_t berth_interpreter_invoke(berth_interpreter_t *interpreter) {
  if (interpreter == NULL || !interpreter->prepared) return BERTH_ERROR_ARGUMENT;
  forget_dynamic(interpreter);
  if (interpreter->guard != NULL) interpreter->guard->synchronised = false;
  return berth_run_subgraph(interpreter, 0);
}
