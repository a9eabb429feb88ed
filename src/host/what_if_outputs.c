/* What nobody needs: outputs that are dropped, and operators whose results nobody uses any more.
 * Two walks over the operators of the main subgraph. */
#include "host/what_if_change.h"

#include <stdlib.h>
#include <string.h>

/* Is an operator needed whatever becomes of its results? A variable that other operators see is. */
static bool has_effects(const berth_change_t *change, const berth_operator_t *op) {
  if (op->outputs.count == 0 || berth_graph_has_effects(op)) return true;
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    int32_t tensor = berth_vector_int(op->inputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    const berth_graph_tensor_t *input = berth_change_tensor(change, tensor);
    if (input->allocation == BERTH_ALLOCATION_PERSISTENT && input->reader_count > 1) return true;
  }
  return false;
}

/* Walks back over the operators of the main subgraph: which are needed. `needed`, of each tensor,
 * says which outputs are; it becomes the last step that reads the tensor + 1, 0 for none. */
static void find_needed(const berth_change_t *change, uint32_t *needed) {
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

static void shorten(const berth_change_t *change, uint32_t tensor, uint32_t last, bool keep_input) {
  berth_graph_tensor_t *it = berth_change_tensor(change, (int32_t)tensor);
  bool is_input = berth_vector_holds(berth_model_subgraph(change->graph->model, 0).inputs, tensor);
  if (!berth_change_is_placed(it)) return;
  if (last == 0 && !is_input) it->allocation = BERTH_ALLOCATION_NONE;
  if (it->allocation != BERTH_ALLOCATION_ARENA_RW || keep_input) return;
  it->last = last > 0 ? last - 1 : 0;
}

/* All outputs that the model itself reads on: a conversion that kept every tensor has many. */
static void drop_inner(const berth_change_t *change, bool *dropped) {
  berth_vector_t outputs = berth_model_subgraph(change->graph->model, 0).outputs;
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t tensor = berth_vector_int(outputs, i);
    if (tensor != BERTH_NO_TENSOR && berth_change_tensor(change, tensor)->reader_count > 0) {
      dropped[i] = true;
    }
  }
}

berth_status_t berth_change_outputs(berth_change_t *change) {
  const berth_what_if_t *what_if = change->what_if;
  berth_subgraph_t main = berth_model_subgraph(change->graph->model, 0);
  uint32_t end = change->graph->step_count;
  uint32_t *needed = calloc((size_t)main.tensor_count + 1, sizeof *needed);
  bool *dropped = calloc((size_t)main.outputs.count + 1, sizeof *dropped);
  berth_status_t status = BERTH_OK;
  if (needed == NULL || dropped == NULL) {
    berth_complain(change->complaint, "%s: out of memory", change->path);
    status = BERTH_ERROR_MEMORY;
  }
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
      const berth_graph_tensor_t *it = berth_change_tensor(change, (int32_t)t);
      bool kept = it->kind == BERTH_KIND_INPUT && it->last == end - 1 && it->last_reader != end - 1;
      shorten(change, t, needed[t], kept);
    }
    for (uint32_t i = 0; i < main.outputs.count; i++) {
      int32_t tensor = berth_vector_int(main.outputs, i);
      if (tensor == BERTH_NO_TENSOR || !dropped[i] || needed[tensor] == end) continue;
      berth_graph_tensor_t *it = berth_change_tensor(change, tensor);
      if (it->kind == BERTH_KIND_OUTPUT) it->kind = BERTH_KIND_ACTIVATION;
    }
  }
  free(needed);
  free(dropped);
  return status;
}
