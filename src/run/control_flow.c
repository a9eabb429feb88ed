/* IF, WHILE and CALL_ONCE: operators that run other subgraphs of the model.
 *
 * The tensors of a called subgraph are planned with everything else, live in the steps that call
 * it; values go in and out by copying.
 */
#include "run.h"
#include <string.h>

/* Does a subgraph take (give) exactly this many tensors? */
static bool has_signature(const berth_call_t *call, int32_t subgraph, uint32_t inputs,
                          uint32_t outputs) {
  if (subgraph <= 0 || (uint32_t)subgraph >= call->model->subgraph_count) return false;
  berth_subgraph_t graph = berth_model_subgraph(call->model, (uint32_t)subgraph);
  return graph.inputs.count == inputs && graph.outputs.count == outputs;
}

static berth_value_t value_of(const berth_call_t *call, uint32_t subgraph, berth_vector_t list,
                              uint32_t index) {
  return berth_interpreter_tensor(call->interpreter, subgraph,
                                  (uint32_t)berth_vector_int(list, index));
}

static berth_status_t copy(berth_call_t *call, berth_value_t from, berth_value_t to) {
  if (from.data == NULL || to.data == NULL || from.bytes != to.bytes || from.type != to.type) {
    return berth_refuse(call, "a tensor and the one it becomes in a subgraph differ in size");
  }
  if (to.constant) return berth_refuse(call, "a subgraph's input is a constant");
  memmove(to.data, from.data, from.bytes);
  return BERTH_OK;
}

/* Copies this operator's inputs from number `skip` on into a subgraph's inputs. */
static berth_status_t pass_in(berth_call_t *call, uint32_t subgraph, uint32_t skip) {
  berth_vector_t inputs = berth_model_subgraph(call->model, subgraph).inputs;
  for (uint32_t i = 0; i < inputs.count; i++) {
    berth_status_t status =
        copy(call, berth_input(call, i + skip), value_of(call, subgraph, inputs, i));
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* Copies a subgraph's outputs into this operator's. */
static berth_status_t pass_out(berth_call_t *call, uint32_t subgraph) {
  berth_vector_t outputs = berth_model_subgraph(call->model, subgraph).outputs;
  for (uint32_t i = 0; i < outputs.count; i++) {
    berth_status_t status = copy(call, value_of(call, subgraph, outputs, i), berth_output(call, i));
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* Copies tensors of one subgraph into those of another. */
static berth_status_t pass_on(berth_call_t *call, uint32_t from, berth_vector_t sources,
                              uint32_t to, berth_vector_t targets) {
  for (uint32_t i = 0; i < targets.count; i++) {
    berth_status_t status =
        copy(call, value_of(call, from, sources, i), value_of(call, to, targets, i));
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static bool is_condition(const berth_value_t *value) {
  return value->type == BERTH_TYPE_BOOL && value->elements == 1;
}

/* Outputs have the shapes that the file gives them. */
static berth_status_t keep_file_shapes(berth_call_t *call) {
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    if (!output.present) continue;
    if (!output.known) return berth_refuse(call, "an output of unknown shape");
    berth_status_t status = berth_set_shape(call, i, output.rank, output.dims);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* ---- IF ------------------------------------------------------------------------------------- */

static int32_t branch(const berth_call_t *call, uint32_t field) {
  return berth_option_int(call->op.options, field, 0);
}

static berth_status_t if_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t condition = berth_input(call, 0);
  if (!is_condition(&condition)) return berth_refuse(call, "the condition is not one bool");
  uint32_t inputs = call->op.inputs.count - 1, outputs = call->op.outputs.count;
  if (!has_signature(call, branch(call, BERTH_IF_THEN), inputs, outputs) ||
      !has_signature(call, branch(call, BERTH_IF_ELSE), inputs, outputs)) {
    return berth_refuse(call, "a branch takes or gives other tensors than the operator");
  }
  return keep_file_shapes(call);
}

static berth_status_t if_eval(berth_call_t *call) {
  bool condition = berth_input(call, 0).data[0] != 0;
  uint32_t subgraph = (uint32_t)branch(call, condition ? BERTH_IF_THEN : BERTH_IF_ELSE);
  berth_status_t status = pass_in(call, subgraph, 1);
  if (status == BERTH_OK) status = berth_run_subgraph(call->interpreter, subgraph);
  if (status == BERTH_OK) status = pass_out(call, subgraph);
  return status;
}

/* ---- WHILE ---------------------------------------------------------------------------------- */

static berth_status_t while_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  uint32_t count = call->op.inputs.count;
  int32_t condition = branch(call, BERTH_WHILE_CONDITION);
  int32_t body = branch(call, BERTH_WHILE_BODY);
  if (call->op.outputs.count != count || !has_signature(call, condition, count, 1) ||
      !has_signature(call, body, count, count)) {
    return berth_refuse(call, "the loop's subgraphs take or give other tensors than the operator");
  }
  berth_vector_t result = berth_model_subgraph(call->model, (uint32_t)condition).outputs;
  berth_value_t verdict = value_of(call, (uint32_t)condition, result, 0);
  if (!is_condition(&verdict)) return berth_refuse(call, "the loop's condition is not one bool");
  return keep_file_shapes(call);
}

/* The loop's values live in the condition's inputs, which no operator writes; the body gets a copy.
 */
static berth_status_t while_eval(berth_call_t *call) {
  uint32_t condition = (uint32_t)branch(call, BERTH_WHILE_CONDITION);
  uint32_t body = (uint32_t)branch(call, BERTH_WHILE_BODY);
  berth_subgraph_t test = berth_model_subgraph(call->model, condition);
  berth_subgraph_t work = berth_model_subgraph(call->model, body);
  berth_status_t status = pass_in(call, condition, 0);
  while (status == BERTH_OK) {
    status = berth_run_subgraph(call->interpreter, condition);
    if (status != BERTH_OK) return status;
    berth_value_t verdict = value_of(call, condition, test.outputs, 0);
    if (verdict.data == NULL || verdict.data[0] == 0) break;
    status = pass_on(call, condition, test.inputs, body, work.inputs);
    if (status == BERTH_OK) status = berth_run_subgraph(call->interpreter, body);
    if (status == BERTH_OK) status = pass_on(call, body, work.outputs, condition, test.inputs);
  }
  for (uint32_t i = 0; i < test.inputs.count && status == BERTH_OK; i++) {
    status = copy(call, value_of(call, condition, test.inputs, i), berth_output(call, i));
  }
  return status;
}

/* ---- CALL_ONCE ------------------------------------------------------------------------------ */

static berth_status_t once_prepare(berth_call_t *call, berth_contract_t *contract) {
  if (!has_signature(call, branch(call, BERTH_CALL_ONCE_SUBGRAPH), 0, 0)) {
    return berth_refuse(call, "the subgraph to call takes or gives tensors");
  }
  contract->state = 1; /* has it been called? */
  return BERTH_OK;
}

static berth_status_t once_eval(berth_call_t *call) {
  uint8_t *called = call->state;
  if (*called) return BERTH_OK;
  berth_status_t status =
      berth_run_subgraph(call->interpreter, (uint32_t)branch(call, BERTH_CALL_ONCE_SUBGRAPH));
  if (status == BERTH_OK) *called = 1;
  return status;
}

static const berth_kernel_t if_kernel = {
    .code = BERTH_BUILTIN_IF, .prepare = if_prepare, .eval = if_eval};
static const berth_kernel_t while_kernel = {
    .code = BERTH_BUILTIN_WHILE, .prepare = while_prepare, .eval = while_eval};
static const berth_kernel_t once_kernel = {
    .code = BERTH_BUILTIN_CALL_ONCE, .prepare = once_prepare, .eval = once_eval};

const berth_kernel_t *const berth_run_kernels[] = {
    &if_kernel,
    &while_kernel,
    &once_kernel,
    &berth_run_assign_variable,
    &berth_run_read_variable,
    &berth_run_var_handle,
    NULL,
};
