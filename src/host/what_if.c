/* Changes to a model's lifetimes and sizes. Each works on the result of the analysis, where step k
 * is operator k; the model's file stays as it is. All are linear in the model's tables. */
#include "host/what_if_change.h"

#include <stdlib.h>
#include <string.h>

bool berth_what_if_any(const berth_what_if_t *what_if) {
  return what_if->shape_count > 0 || what_if->int8 || what_if->int8_count > 0 ||
         what_if->quantized_inputs || what_if->quantized_outputs || what_if->dropped_count > 0 ||
         what_if->drop_unused;
}

uint32_t berth_change_named(const berth_model_t *model, const char *name) {
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

/* ---- Types ---------------------------------------------------------------------------------- */

static void narrow(const berth_change_t *change, berth_graph_tensor_t *tensor) {
  berth_tensor_type_t type =
      berth_model_tensor(change->graph->model, tensor->subgraph, tensor->tensor).type;
  bool is_float = type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_FLOAT16;
  if (berth_change_is_placed(tensor) && is_float) tensor->bytes /= berth_tensor_type_bits(type) / 8;
}

berth_status_t berth_change_types(berth_change_t *change) {
  const berth_what_if_t *what_if = change->what_if;
  for (uint32_t i = 0; i < change->graph->tensor_count && what_if->int8; i++) {
    narrow(change, &change->graph->tensors[i]);
  }
  for (uint32_t i = 0; i < what_if->int8_count && !what_if->int8; i++) {
    uint32_t tensor = berth_change_named(change->graph->model, what_if->int8_tensors[i]);
    if (tensor == BERTH_NOBODY) {
      berth_complain(change->complaint, "%s: has no tensor named %s", change->path,
                     what_if->int8_tensors[i]);
      return BERTH_ERROR_ARGUMENT;
    }
    bool again = false; /* named twice, maybe by name and by index */
    for (uint32_t k = 0; k < i; k++) {
      again |= berth_change_named(change->graph->model, what_if->int8_tensors[k]) == tensor;
    }
    if (!again) narrow(change, berth_change_tensor(change, (int32_t)tensor));
  }
  return BERTH_OK;
}

/* ---- All of it ------------------------------------------------------------------------------ */

berth_status_t berth_what_if_apply(const berth_what_if_t *what_if, const char *path,
                                   berth_graph_t *graph, berth_complaint_t *complaint) {
  berth_change_t change = {what_if, path, graph, complaint, false};
  berth_status_t status = berth_change_shapes(&change);
  if (status == BERTH_OK) status = berth_change_types(&change);
  if (status == BERTH_OK && (what_if->dropped_count > 0 || what_if->drop_unused)) {
    status = berth_change_outputs(&change);
  }
  if (status == BERTH_OK) berth_change_boundary(&change);
  return status;
}
