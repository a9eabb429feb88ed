/* Other shapes: of graph inputs, which the kernels' own prepare follows through the model, and of
 * dynamic tensors. */
#include "host/runner.h"
#include "host/what_if_change.h"

#include <string.h>

static void on_event(void *user, const berth_event_t *event) {
  berth_change_t *change = user;
  bool missing = event->kind == BERTH_EVENT_MISSING;
  if (change->refused || (!missing && event->kind != BERTH_EVENT_REFUSED)) return;
  change->refused = true;
  char name[160];
  berth_runner_operator_text(change->graph->model, event->subgraph, event->op, name, sizeof name);
  berth_complain(change->complaint, "%s: with this shape, %s: %s", change->path, name,
                 missing ? "there is no kernel for it" : event->why);
}

static berth_status_t reshape(void *user, berth_interpreter_t *interpreter) {
  berth_change_t *change = user;
  for (uint32_t i = 0; i < change->what_if->shape_count; i++) {
    const berth_named_shape_t *shape = &change->what_if->shapes[i];
    uint32_t input = berth_input_named(change->graph->model, shape->name);
    if (input == BERTH_NOBODY) continue;
    berth_status_t status =
        berth_interpreter_resize_input(interpreter, input, shape->rank, shape->dims);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* A tensor's bytes as the kernels' shapes have them. What is foldable keeps its own. */
static void take_bytes(berth_graph_tensor_t *tensor, const berth_interpreter_t *interpreter) {
  if (!berth_change_is_placed(tensor) || tensor->foldable) return;
  berth_value_t value = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor);
  if (value.known) {
    tensor->bytes = value.bytes;
  } else {
    tensor->allocation = BERTH_ALLOCATION_DYNAMIC;
    tensor->cause = BERTH_CAUSE_DATA;
    tensor->bytes = 0;
  }
}

berth_status_t berth_what_if_contracts(const berth_what_if_t *what_if, const char *path,
                                       berth_graph_t *graph, bool strict,
                                       berth_contracts_t *contracts, berth_complaint_t *complaint) {
  berth_change_t change = {what_if, path, graph, complaint, false};
  berth_contracts_options_t options = {.log = on_event, .reshape = reshape, .user = &change};
  berth_status_t status = berth_contracts_make(graph->model, &options, contracts);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, berth_status_text(status));
    return status;
  }
  if (!strict || !change.refused) return BERTH_OK;
  berth_contracts_free(contracts);
  return BERTH_ERROR_ARGUMENT;
}

static berth_status_t infer(berth_change_t *change) {
  berth_contracts_t contracts;
  berth_status_t status = berth_what_if_contracts(change->what_if, change->path, change->graph,
                                                  true, &contracts, change->complaint);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < change->graph->tensor_count; i++) {
    take_bytes(&change->graph->tensors[i], &contracts.interpreter);
  }
  berth_contracts_free(&contracts);
  return BERTH_OK;
}

/* A dynamic tensor gets the shape that is given for it. */
static berth_status_t fix_shape(berth_change_t *change, const berth_named_shape_t *shape) {
  const berth_model_t *model = change->graph->model;
  bool prefixed = strncmp(shape->name, "tensor:", 7) == 0; /* no input's number is meant */
  uint32_t index = berth_change_named(model, prefixed ? shape->name + 7 : shape->name);
  berth_graph_tensor_t *tensor =
      index != BERTH_NOBODY ? berth_change_tensor(change, (int32_t)index) : NULL;
  if (tensor == NULL || tensor->allocation != BERTH_ALLOCATION_DYNAMIC) {
    berth_complain(change->complaint, "%s: has no input and no dynamic tensor named %s",
                   change->path, shape->name);
    return BERTH_ERROR_ARGUMENT;
  }
  uint64_t bits = berth_tensor_type_bits(berth_model_tensor(model, 0, index).type);
  uint64_t elements = 1;
  for (uint32_t i = 0; i < shape->rank; i++) {
    uint64_t extent = (uint64_t)shape->dims[i];
    if (extent > 0 && elements > (uint64_t)INT64_MAX / 64 / extent) {
      berth_complain(change->complaint, "%s: --set-shape %s: too large", change->path, shape->name);
      return BERTH_ERROR_OVERFLOW;
    }
    elements *= extent;
  }
  if (bits == 0) {
    berth_complain(change->complaint, "%s: the elements of tensor %s have no fixed size",
                   change->path, shape->name);
    return BERTH_ERROR_ARGUMENT;
  }
  tensor->bytes = (elements * bits + 7) / 8;
  tensor->allocation = BERTH_ALLOCATION_ARENA_RW;
  tensor->cause = BERTH_CAUSE_NONE;
  return BERTH_OK;
}

berth_status_t berth_change_shapes(berth_change_t *change) {
  bool inputs = false;
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < change->what_if->shape_count && status == BERTH_OK; i++) {
    const berth_named_shape_t *shape = &change->what_if->shapes[i];
    bool input = berth_input_named(change->graph->model, shape->name) != BERTH_NOBODY;
    inputs |= input;
    if (!input) status = fix_shape(change, shape);
  }
  return status == BERTH_OK && inputs ? infer(change) : status;
}
