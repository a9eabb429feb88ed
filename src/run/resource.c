/* VAR_HANDLE, ASSIGN_VARIABLE and READ_VARIABLE: variables that have a name instead of a tensor.
 *
 * A variable lives in the persistent state of the first VAR_HANDLE that names it (container and
 * shared name); a resource tensor holds that operator's number, so handles may be passed on to
 * other subgraphs. Its size is that of the largest value that any operator of the model assigns to
 * it or reads from it under one of its handles.
 */
#include "run.h"
#include <string.h>

/* In front of the bytes of a variable. */
typedef struct variable {
  uint32_t bytes; /* of its value */
  uint32_t type;  /* of its value, and 1; 0: it has none yet */
} variable_t;

/* ---- Which variable is it? ------------------------------------------------------------------- */

static bool same_text(berth_text_t a, berth_text_t b) {
  return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* Is it a VAR_HANDLE of the same variable? */
static bool is_handle_of(const berth_operator_t *op, const berth_operator_t *handle) {
  if (op->code != BERTH_BUILTIN_VAR_HANDLE) return false;
  return same_text(berth_option_text(op->options, BERTH_VAR_HANDLE_SHARED_NAME),
                   berth_option_text(handle->options, BERTH_VAR_HANDLE_SHARED_NAME)) &&
         same_text(berth_option_text(op->options, BERTH_VAR_HANDLE_CONTAINER),
                   berth_option_text(handle->options, BERTH_VAR_HANDLE_CONTAINER));
}

/* Number of the operator, over all subgraphs that are run, that owns this handle's variable. */
static uint32_t owner_of(const berth_call_t *call) {
  const berth_interpreter_t *interpreter = call->interpreter;
  for (uint32_t s = 0; s <= call->subgraph; s++) {
    uint32_t count = berth_model_subgraph(call->model, s).operator_count;
    for (uint32_t i = 0; i < count && !(s == call->subgraph && i == call->index); i++) {
      berth_operator_t op = berth_model_operator(call->model, s, i);
      uint32_t number = berth_run_operator_index(interpreter, s, i);
      /* One in a subgraph that nobody calls has no state. */
      if (interpreter->operators[number].state != 0 && is_handle_of(&op, &call->op)) return number;
    }
  }
  return berth_run_operator_index(interpreter, call->subgraph, call->index);
}

/* ---- How large is it? ------------------------------------------------------------------------ */

static bool is_first(berth_vector_t list, int32_t tensor) {
  return list.count > 0 && berth_vector_int(list, 0) == tensor;
}

static uint32_t bytes_of(const berth_call_t *call, uint32_t subgraph, berth_vector_t list,
                         uint32_t index) {
  if (index >= list.count || berth_vector_int(list, index) == BERTH_NO_TENSOR) return 0;
  berth_value_t value = berth_interpreter_tensor(call->interpreter, subgraph,
                                                 (uint32_t)berth_vector_int(list, index));
  return value.known ? value.bytes : 0;
}

/* The largest value that passes through a handle with that tensor in a subgraph. */
static uint32_t room_in(const berth_call_t *call, uint32_t subgraph, int32_t handle) {
  uint32_t room = 0, count = berth_model_subgraph(call->model, subgraph).operator_count;
  for (uint32_t i = 0; i < count; i++) {
    berth_operator_t op = berth_model_operator(call->model, subgraph, i);
    uint32_t bytes = 0;
    if (!is_first(op.inputs, handle)) continue;
    if (op.code == BERTH_BUILTIN_ASSIGN_VARIABLE) bytes = bytes_of(call, subgraph, op.inputs, 1);
    if (op.code == BERTH_BUILTIN_READ_VARIABLE) bytes = bytes_of(call, subgraph, op.outputs, 0);
    if (bytes > room) room = bytes;
  }
  return room;
}

static uint32_t room_of(const berth_call_t *call) {
  uint32_t room = 0;
  for (uint32_t s = 0; s < call->model->subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(call->model, s).operator_count;
    for (uint32_t i = 0; i < count; i++) {
      berth_operator_t op = berth_model_operator(call->model, s, i);
      if (!is_handle_of(&op, &call->op) || op.outputs.count != 1) continue;
      uint32_t bytes = room_in(call, s, berth_vector_int(op.outputs, 0));
      if (bytes > room) room = bytes;
    }
  }
  return room;
}

/* ---- VAR_HANDLE ------------------------------------------------------------------------------ */

static berth_status_t handle_prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t output = berth_output(call, 0);
  if (!output.present || output.type != BERTH_TYPE_RESOURCE) {
    return berth_refuse(call, "does not give a resource");
  }
  if (owner_of(call) == berth_run_operator_index(call->interpreter, call->subgraph, call->index)) {
    uint32_t room = room_of(call);
    if (room > ACTIVATIONS_MAX - sizeof(variable_t)) return BERTH_ERROR_OVERFLOW;
    contract->state = (uint32_t)sizeof(variable_t) + room;
  }
  return berth_set_shape(call, 0, 0, NULL);
}

static berth_status_t handle_eval(berth_call_t *call) {
  uint32_t owner = owner_of(call);
  memcpy(berth_output(call, 0).data, &owner, sizeof owner);
  return BERTH_OK;
}

/* The variable of a resource tensor, and how many bytes it may have; NULL: it holds no handle. */
static variable_t *variable_of(const berth_call_t *call, const berth_value_t *resource,
                               uint32_t *room) {
  const berth_interpreter_t *interpreter = call->interpreter;
  uint32_t owner;
  if (resource->type != BERTH_TYPE_RESOURCE || resource->data == NULL) return NULL;
  memcpy(&owner, resource->data, sizeof owner);
  if (owner >= interpreter->operator_count || interpreter->operators[owner].state == 0) return NULL;
  uint32_t subgraph = call->model->subgraph_count - 1;
  while (berth_run_operator_index(interpreter, subgraph, 0) > owner) subgraph--;
  uint32_t index = owner - berth_run_operator_index(interpreter, subgraph, 0);
  if (berth_model_operator(call->model, subgraph, index).code != BERTH_BUILTIN_VAR_HANDLE) {
    return NULL;
  }
  variable_t *variable = berth_run_persistent(interpreter, interpreter->operators[owner].state);
  *room = berth_run_state_bytes(variable) - (uint32_t)sizeof *variable;
  return variable;
}

/* ---- ASSIGN_VARIABLE and READ_VARIABLE ------------------------------------------------------- */

static berth_status_t assign_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t resource = berth_input(call, 0), value = berth_input(call, 1);
  if (!resource.present || resource.type != BERTH_TYPE_RESOURCE || !value.present) {
    return berth_refuse(call, "needs a resource and a value");
  }
  return BERTH_OK;
}

static berth_status_t assign_eval(berth_call_t *call) {
  berth_value_t resource = berth_input(call, 0), value = berth_input(call, 1);
  uint32_t room;
  variable_t *variable = variable_of(call, &resource, &room);
  if (variable == NULL) return berth_refuse(call, "has a resource that is no variable");
  if (value.bytes > room) return berth_refuse(call, "has a value larger than its variable");
  variable->bytes = value.bytes;
  variable->type = (uint32_t)value.type + 1;
  if (value.bytes > 0) memmove(variable + 1, value.data, value.bytes);
  return BERTH_OK;
}

static berth_status_t read_prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t resource = berth_input(call, 0), output = berth_output(call, 0);
  if (!resource.present || resource.type != BERTH_TYPE_RESOURCE || !output.present) {
    return berth_refuse(call, "needs a resource and an output");
  }
  if (!output.known) return berth_refuse(call, "an output of unknown shape");
  return berth_set_shape(call, 0, output.rank, output.dims);
}

static berth_status_t read_eval(berth_call_t *call) {
  berth_value_t resource = berth_input(call, 0), output = berth_output(call, 0);
  uint32_t room;
  variable_t *variable = variable_of(call, &resource, &room);
  if (variable == NULL) return berth_refuse(call, "has a resource that is no variable");
  if (variable->type == 0) return berth_refuse(call, "reads a variable that has no value yet");
  if (variable->bytes != output.bytes || variable->type != (uint32_t)output.type + 1) {
    return berth_refuse(call, "reads a variable of another size or type");
  }
  if (output.bytes > 0) memcpy(output.data, variable + 1, output.bytes);
  return BERTH_OK;
}

const berth_kernel_t berth_run_var_handle = {
    .code = BERTH_BUILTIN_VAR_HANDLE, .prepare = handle_prepare, .eval = handle_eval};
const berth_kernel_t berth_run_assign_variable = {
    .code = BERTH_BUILTIN_ASSIGN_VARIABLE, .prepare = assign_prepare, .eval = assign_eval};
const berth_kernel_t berth_run_read_variable = {
    .code = BERTH_BUILTIN_READ_VARIABLE, .prepare = read_prepare, .eval = read_eval};
