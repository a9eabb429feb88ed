/* Contracts: asks the operators how they touch memory, without giving them any.
 *
 * prepare does so to plan. Whoever only wants to know what could be planned, in which order, or
 * row by row, asks for all contracts of a model as a table. Linear in the model's operators.
 */
#include "run.h"
#include <string.h>

/* An operator that can only be prepared when its inputs are there: so are its outputs. */
static berth_status_t postpone(berth_call_t *call) {
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    if (berth_vector_int(call->op.outputs, i) == BERTH_NO_TENSOR) continue;
    berth_status_t status = berth_set_unknown(call, i);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static void log_unknown_outputs(const berth_call_t *call) {
  const berth_interpreter_t *interpreter = call->interpreter;
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    int32_t tensor = berth_vector_int(call->op.outputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    uint32_t flat = berth_run_tensor_index(interpreter, call->subgraph, (uint32_t)tensor);
    const berth_shape_t *shape = berth_run_shape(interpreter, flat);
    if (shape != NULL && shape->unknown) {
      berth_run_log(interpreter, BERTH_EVENT_DYNAMIC, call->subgraph, call->index, (uint32_t)tensor,
                    0, NULL);
    }
  }
}

berth_status_t berth_run_ask(berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                             berth_contract_t *contract) {
  berth_call_t call;
  berth_run_call(interpreter, subgraph, op, &call);
  memset(contract, 0, sizeof *contract);
  if (berth_run_is_skipped(&call)) {
    contract->known = true;
    return BERTH_OK;
  }
  if (call.kernel == NULL) {
    berth_run_log(interpreter, BERTH_EVENT_MISSING, subgraph, op, BERTH_NOBODY, 0, NULL);
    interpreter->failed = true;
    return postpone(&call); /* go on: all that is missing is reported at once */
  }
  if (berth_run_input_unknown(&call)) {
    berth_status_t status = postpone(&call);
    if (status == BERTH_OK) log_unknown_outputs(&call);
    return status;
  }
  berth_status_t status = call.kernel->prepare(&call, contract);
  if (status == BERTH_ERROR_MEMORY) return status;
  if (status != BERTH_OK) {
    berth_run_log(interpreter, BERTH_EVENT_REFUSED, subgraph, op, BERTH_NOBODY, 0,
                  call.why ? call.why : berth_status_text(status));
    interpreter->failed = true;
    memset(contract, 0, sizeof *contract);
    return BERTH_OK;
  }
  if (contract->workspace > ACTIVATIONS_MAX || contract->state > ACTIVATIONS_MAX) {
    return BERTH_ERROR_OVERFLOW;
  }
  log_unknown_outputs(&call);
  contract->known = true;
  return BERTH_OK;
}

berth_status_t berth_interpreter_contracts(berth_interpreter_t *interpreter,
                                           berth_contract_t *contracts, uint32_t count) {
  if (interpreter == NULL || interpreter->model == NULL || count != interpreter->operator_count) {
    return BERTH_ERROR_ARGUMENT;
  }
  interpreter->prepared = false;
  interpreter->failed = false;
  berth_run_forget(interpreter);
  berth_run_fold(interpreter);
  uint32_t filled = 0;
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    uint32_t operators = berth_model_subgraph(interpreter->model, s).operator_count;
    for (uint32_t op = 0; op < operators; op++) {
      berth_status_t status = berth_run_ask(interpreter, s, op, &contracts[filled++]);
      if (status != BERTH_OK) return status;
    }
  }
  return BERTH_OK;
}
