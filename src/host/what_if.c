/* Changes to a model's lifetimes and sizes. Each works on the result of the analysis, where step k
 * is operator k; the model's file stays as it is. All are linear in the model's tables. */
#include "host/what_if.h"
#include "host/runner.h"

#include <stdlib.h>
#include <string.h>

bool berth_what_if_any(const berth_what_if_t *what_if) {
  return what_if->shape_count > 0 || what_if->int8 || what_if->int8_count > 0 ||
         what_if->quantized_inputs || what_if->quantized_outputs || what_if->dropped_count > 0 ||
         what_if->drop_unused;
}

typedef struct change {
  const berth_what_if_t *what_if;
  const char *path;
  berth_graph_t *graph;
  berth_complaint_t *complaint;
  bool refused; /* an operator refused, or has no kernel: the complaint is made */
} change_t;

static berth_graph_tensor_t *main_tensor(const change_t *change, int32_t tensor) {
  return &change->graph->tensors[change->graph->bases[0] + (uint32_t)tensor];
}

static bool is_placed(const berth_graph_tensor_t *tensor) {
  return tensor->allocation == BERTH_ALLOCATION_ARENA_RW ||
         tensor->allocation == BERTH_ALLOCATION_PERSISTENT;
}

static berth_status_t out_of_memory(const change_t *change) {
  berth_complain(change->complaint, "%s: out of memory", change->path);
  return BERTH_ERROR_MEMORY;
}

/* Tensor of the main subgraph by name or index, or BERTH_NOBODY. */
static uint32_t tensor_named(const berth_model_t *model, const char *name) {
  uint32_t count = berth_model_subgraph(model, 0).tensor_count;
  for (uint32_t i = 0; i < count; i++) {
    berth_text_t text = berth_model_tensor(model, 0, i).name;
    if (text.length == strlen(name) && memcmp(text.data, name, text.length) == 0) return i;
  }
  char *end;
  unsigned long number = strtoul(name, &end, 10);
  bool is_number = name[0] >= '0' && name[0] <= '9' && *end == '\0';
  return is_number && number < count ? (uint32_t)number : BERTH_NOBODY;
}

/* ---- Shapes --------------------------------------------------------------------------------- */

static void on_event(void *user, const berth_event_t *event) {
  change_t *change = user;
  bool missing = event->kind == BERTH_EVENT_MISSING;
  if (change->refused || (!missing && event->kind != BERTH_EVENT_REFUSED)) return;
  change->refused = true;
  char name[160];
  berth_runner_operator_text(change->graph->model, event->subgraph, event->op, name, sizeof name);
  berth_complain(change->complaint, "%s: with this shape, %s: %s", change->path, name,
                 missing ? "there is no kernel for it" : event->why);
}

static berth_status_t reshape(void *user, berth_interpreter_t *interpreter) {
  change_t *change = user;
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
  if (!is_placed(tensor) || tensor->foldable) return;
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
  change_t change = {what_if, path, graph, complaint, false};
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

static berth_status_t infer(change_t *change) {
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
static berth_status_t fix_shape(change_t *change, const berth_named_shape_t *shape) {
  const berth_model_t *model = change->graph->model;
  bool prefixed = strncmp(shape->name, "tensor:", 7) == 0; /* no input's number is meant */
  uint32_t index = tensor_named(model, prefixed ? shape->name + 7 : shape->name);
  berth_graph_tensor_t *tensor = index != BERTH_NOBODY ? main_tensor(change, (int32_t)index) : NULL;
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

static berth_status_t set_shapes(change_t *change) {
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

/* ---- Types ---------------------------------------------------------------------------------- */

static void narrow(const change_t *change, berth_graph_tensor_t *tensor) {
  berth_tensor_type_t type =
      berth_model_tensor(change->graph->model, tensor->subgraph, tensor->tensor).type;
  bool is_float = type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_FLOAT16;
  if (is_placed(tensor) && is_float) tensor->bytes /= berth_tensor_type_bits(type) / 8;
}

static berth_status_t set_types(change_t *change) {
  const berth_what_if_t *what_if = change->what_if;
  for (uint32_t i = 0; i < change->graph->tensor_count && what_if->int8; i++) {
    narrow(change, &change->graph->tensors[i]);
  }
  for (uint32_t i = 0; i < what_if->int8_count && !what_if->int8; i++) {
    uint32_t tensor = tensor_named(change->graph->model, what_if->int8_tensors[i]);
    if (tensor == BERTH_NOBODY) {
      berth_complain(change->complaint, "%s: has no tensor named %s", change->path,
                     what_if->int8_tensors[i]);
      return BERTH_ERROR_ARGUMENT;
    }
    bool again = false; /* named twice, maybe by name and by index */
    for (uint32_t k = 0; k < i; k++) {
      again |= tensor_named(change->graph->model, what_if->int8_tensors[k]) == tensor;
    }
    if (!again) narrow(change, main_tensor(change, (int32_t)tensor));
  }
  return BERTH_OK;
}

/* ---- The boundary between floats and integers ------------------------------------------------ */

static bool converts(berth_builtin_t code) {
  return code == BERTH_BUILTIN_QUANTIZE || code == BERTH_BUILTIN_DEQUANTIZE;
}

/* An input that a conversion alone reads is replaced by the conversion's result. */
static void move_input(change_t *change, berth_graph_tensor_t *input) {
  const berth_model_t *model = change->graph->model;
  if (input->reader_count != 1 || input->allocation != BERTH_ALLOCATION_ARENA_RW) return;
  berth_operator_t op = berth_model_operator(model, 0, input->last_reader);
  if (!converts(op.code) || op.outputs.count != 1 ||
      berth_vector_holds(berth_model_subgraph(model, 0).outputs, input->tensor)) {
    return;
  }
  berth_graph_tensor_t *result = main_tensor(change, berth_vector_int(op.outputs, 0));
  if (result->allocation != BERTH_ALLOCATION_ARENA_RW || result->kind == BERTH_KIND_OUTPUT) return;
  bool keeps = input->last > input->last_reader; /* inputs keep their memory to the end */
  input->allocation = BERTH_ALLOCATION_NONE;
  result->first = 0;
  result->kind = BERTH_KIND_INPUT;
  if (keeps) result->last = input->last;
}

/* An output that a conversion makes is replaced by what the conversion reads. */
static void move_output(change_t *change, berth_graph_tensor_t *output) {
  const berth_model_t *model = change->graph->model;
  if (output->reader_count != 0 || output->producer == BERTH_NOBODY ||
      output->allocation != BERTH_ALLOCATION_ARENA_RW) {
    return;
  }
  berth_operator_t op = berth_model_operator(model, 0, output->producer);
  if (!converts(op.code) || op.inputs.count < 1) return;
  int32_t index = berth_vector_int(op.inputs, 0);
  berth_graph_tensor_t *source = index != BERTH_NO_TENSOR ? main_tensor(change, index) : NULL;
  if (source == NULL || source->allocation != BERTH_ALLOCATION_ARENA_RW ||
      source->producer == BERTH_NOBODY) {
    return;
  }
  output->allocation = BERTH_ALLOCATION_NONE;
  source->last = output->last;
  source->kind = BERTH_KIND_OUTPUT;
}

static void move_boundary(change_t *change) {
  berth_subgraph_t main = berth_model_subgraph(change->graph->model, 0);
  for (uint32_t i = 0; i < main.inputs.count && change->what_if->quantized_inputs; i++) {
    int32_t tensor = berth_vector_int(main.inputs, i);
    if (tensor != BERTH_NO_TENSOR) move_input(change, main_tensor(change, tensor));
  }
  for (uint32_t i = 0; i < main.outputs.count && change->what_if->quantized_outputs; i++) {
    int32_t tensor = berth_vector_int(main.outputs, i);
    if (tensor != BERTH_NO_TENSOR) move_output(change, main_tensor(change, tensor));
  }
}

/* ---- What nobody needs ---------------------------------------------------------------------- */

/* A variable that other operators see is needed whatever becomes of the operator's results. */
static bool has_effects(const change_t *change, const berth_operator_t *op) {
  if (op->outputs.count == 0 || berth_graph_callee_count(op) > 0) return true;
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    int32_t tensor = berth_vector_int(op->inputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    const berth_graph_tensor_t *input = main_tensor(change, tensor);
    if (input->allocation == BERTH_ALLOCATION_PERSISTENT && input->reader_count > 1) return true;
  }
  return false;
}

/* Walks back over the operators of the main subgraph: which are needed. `needed`, of each tensor,
 * says which outputs are; it becomes the last step that reads the tensor + 1, 0 for none. */
static void find_needed(const change_t *change, uint32_t *needed) {
  const berth_model_t *model = change->graph->model;
  for (uint32_t op = berth_model_subgraph(model, 0).operator_count; op-- > 0;) {
    berth_operator_t it = berth_model_operator(model, 0, op);
    bool wanted = has_effects(change, &it);
    for (uint32_t i = 0; i < it.outputs.count; i++) {
      int32_t tensor = berth_vector_int(it.outputs, i);
      if (tensor != BERTH_NO_TENSOR && needed[tensor] > 0) wanted = true;
    }
    if (!wanted) continue;
    for (uint32_t i = 0; i < it.outputs.count; i++) { /* written, whether it is read or not */
      int32_t tensor = berth_vector_int(it.outputs, i);
      if (tensor != BERTH_NO_TENSOR && needed[tensor] == 0) needed[tensor] = op + 1;
    }
    for (uint32_t i = 0; i < it.inputs.count; i++) {
      int32_t tensor = berth_vector_int(it.inputs, i);
      if (tensor != BERTH_NO_TENSOR && needed[tensor] < op + 1) needed[tensor] = op + 1;
    }
  }
}

static void shorten(const change_t *change, uint32_t tensor, uint32_t last, bool keep_input) {
  berth_graph_tensor_t *it = main_tensor(change, (int32_t)tensor);
  bool is_input = berth_vector_holds(berth_model_subgraph(change->graph->model, 0).inputs, tensor);
  if (!is_placed(it)) return;
  if (last == 0 && !is_input) it->allocation = BERTH_ALLOCATION_NONE;
  if (it->allocation != BERTH_ALLOCATION_ARENA_RW || keep_input) return;
  it->last = last > 0 ? last - 1 : 0;
}

/* All outputs that the model itself reads on: a conversion that kept every tensor has many. */
static void drop_inner(const change_t *change, bool *dropped) {
  berth_vector_t outputs = berth_model_subgraph(change->graph->model, 0).outputs;
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t tensor = berth_vector_int(outputs, i);
    if (tensor != BERTH_NO_TENSOR && main_tensor(change, tensor)->reader_count > 0) {
      dropped[i] = true;
    }
  }
}

static berth_status_t drop(change_t *change) {
  const berth_what_if_t *what_if = change->what_if;
  berth_subgraph_t main = berth_model_subgraph(change->graph->model, 0);
  uint32_t end = change->graph->step_count;
  uint32_t *needed = calloc((size_t)main.tensor_count + 1, sizeof *needed);
  bool *dropped = calloc((size_t)main.outputs.count + 1, sizeof *dropped);
  berth_status_t status = BERTH_OK;
  if (needed == NULL || dropped == NULL) status = out_of_memory(change);
  for (uint32_t i = 0; i < what_if->dropped_count && status == BERTH_OK; i++) {
    uint32_t output = berth_output_named(change->graph->model, what_if->dropped[i]);
    if (output == BERTH_NOBODY && strcmp(what_if->dropped[i], "inner") == 0) {
      drop_inner(change, dropped);
    } else if (output == BERTH_NOBODY) {
      berth_complain(change->complaint, "%s: has no output named %s", change->path,
                     what_if->dropped[i]);
      status = BERTH_ERROR_ARGUMENT;
    } else {
      dropped[output] = true;
    }
  }
  if (status == BERTH_OK) {
    for (uint32_t i = 0; i < main.outputs.count; i++) {
      int32_t tensor = berth_vector_int(main.outputs, i);
      if (tensor != BERTH_NO_TENSOR && !dropped[i]) needed[tensor] = end;
    }
    find_needed(change, needed);
    for (uint32_t t = 0; t < main.tensor_count; t++) {
      const berth_graph_tensor_t *it = main_tensor(change, (int32_t)t);
      bool kept = it->kind == BERTH_KIND_INPUT && it->last == end - 1 && it->last_reader != end - 1;
      shorten(change, t, needed[t], kept);
    }
    for (uint32_t i = 0; i < main.outputs.count; i++) {
      int32_t tensor = berth_vector_int(main.outputs, i);
      if (tensor == BERTH_NO_TENSOR || !dropped[i] || needed[tensor] == end) continue;
      berth_graph_tensor_t *it = main_tensor(change, tensor);
      if (it->kind == BERTH_KIND_OUTPUT) it->kind = BERTH_KIND_ACTIVATION;
    }
  }
  free(needed);
  free(dropped);
  return status;
}

/* ---- All of it ------------------------------------------------------------------------------ */

berth_status_t berth_what_if_apply(const berth_what_if_t *what_if, const char *path,
                                   berth_graph_t *graph, berth_complaint_t *complaint) {
  change_t change = {what_if, path, graph, complaint, false};
  berth_status_t status = set_shapes(&change);
  if (status == BERTH_OK) status = set_types(&change);
  if (status == BERTH_OK && (what_if->dropped_count > 0 || what_if->drop_unused)) {
    status = drop(&change);
  }
  if (status == BERTH_OK) move_boundary(&change);
  return status;
}
