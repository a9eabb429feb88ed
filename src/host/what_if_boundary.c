/* The boundary between floats and integers, moved: the application quantizes and dequantizes
 * itself, and the conversions at both ends of the model are gone. */
#include "host/what_if_change.h"

static bool converts(berth_builtin_t code) {
  return code == BERTH_BUILTIN_QUANTIZE || code == BERTH_BUILTIN_DEQUANTIZE;
}

/* An input that a conversion alone reads is replaced by the conversion's result. */
static void move_input(berth_change_t *change, berth_graph_tensor_t *input) {
  const berth_model_t *model = change->graph->model;
  if (input->reader_count != 1 || input->allocation != BERTH_ALLOCATION_ARENA_RW) return;
  berth_operator_t op = berth_model_operator(model, 0, input->last_reader);
  if (!converts(op.code) || op.outputs.count != 1 ||
      berth_vector_holds(berth_model_subgraph(model, 0).outputs, input->tensor)) {
    return;
  }
  berth_graph_tensor_t *result = berth_change_tensor(change, berth_vector_int(op.outputs, 0));
  if (result->allocation != BERTH_ALLOCATION_ARENA_RW || result->kind == BERTH_KIND_OUTPUT) return;
  bool keeps = input->last > input->last_reader; /* inputs keep their memory to the end */
  input->allocation = BERTH_ALLOCATION_NONE;
  result->first = 0;
  result->kind = BERTH_KIND_INPUT;
  if (keeps) result->last = input->last;
}

/* An output that a conversion makes is replaced by what the conversion reads. */
static void move_output(berth_change_t *change, berth_graph_tensor_t *output) {
  const berth_model_t *model = change->graph->model;
  if (output->reader_count != 0 || output->producer == BERTH_NOBODY ||
      output->allocation != BERTH_ALLOCATION_ARENA_RW) {
    return;
  }
  berth_operator_t op = berth_model_operator(model, 0, output->producer);
  if (!converts(op.code) || op.inputs.count < 1) return;
  int32_t index = berth_vector_int(op.inputs, 0);
  berth_graph_tensor_t *source =
      index != BERTH_NO_TENSOR ? berth_change_tensor(change, index) : NULL;
  if (source == NULL || source->allocation != BERTH_ALLOCATION_ARENA_RW ||
      source->producer == BERTH_NOBODY) {
    return;
  }
  output->allocation = BERTH_ALLOCATION_NONE;
  source->last = output->last;
  source->kind = BERTH_KIND_OUTPUT;
}

void berth_change_boundary(berth_change_t *change) {
  berth_subgraph_t main = berth_model_subgraph(change->graph->model, 0);
  for (uint32_t i = 0; i < main.inputs.count && change->what_if->quantized_inputs; i++) {
    int32_t tensor = berth_vector_int(main.inputs, i);
    if (tensor != BERTH_NO_TENSOR) move_input(change, berth_change_tensor(change, tensor));
  }
  for (uint32_t i = 0; i < main.outputs.count && change->what_if->quantized_outputs; i++) {
    int32_t tensor = berth_vector_int(main.outputs, i);
    if (tensor != BERTH_NO_TENSOR) move_output(change, berth_change_tensor(change, tensor));
  }
}
