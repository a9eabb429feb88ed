/* Dropping what no result depends on: operators without effects whose outputs nobody reads, and
 * tensors that nothing refers to. */
#include "optimize/cleanup.h"
#include "optimize/uses.h"

#include <stdlib.h>

static bool is_dead(const berth_edit_t *edit, uint32_t subgraph, uint32_t op,
                    const berth_use_t *uses) {
  const berth_edit_list_t *outputs = &edit->subgraphs[subgraph].operators[op].outputs;
  for (uint32_t i = 0; i < outputs->count; i++) {
    if (outputs->values[i] == BERTH_NO_TENSOR) continue;
    const berth_use_t *use = &uses[outputs->values[i]];
    if (use->readings > 0 || use->output || use->variable || use->mentioned) return false;
  }
  return !berth_has_effects(edit, subgraph, op, uses);
}

berth_status_t berth_clean_dead(berth_edit_t *edit, uint32_t *count) {
  for (uint32_t s = 0; s < edit->model->subgraph_count; s++) {
    berth_edit_subgraph_t *subgraph = &edit->subgraphs[s];
    berth_use_t *uses;
    berth_status_t status = berth_uses_find(edit, s, &uses);
    if (status != BERTH_OK) return status;
    for (uint32_t op = subgraph->operator_count; op-- > 0;) {
      if (!is_dead(edit, s, op, uses)) continue;
      const berth_edit_list_t *inputs = &subgraph->operators[op].inputs;
      for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->values[i] != BERTH_NO_TENSOR) uses[inputs->values[i]].readings--;
      }
      berth_edit_drop_operator(edit, s, op);
      (*count)++;
    }
    free(uses);
  }
  return BERTH_OK;
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static void rename_in(berth_edit_list_t *list, int32_t from, int32_t to) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->values[i] == from) list->values[i] = to;
  }
}

static void rename_tensor(berth_edit_subgraph_t *subgraph, uint32_t from, uint32_t to) {
  rename_in(&subgraph->inputs, (int32_t)from, (int32_t)to);
  rename_in(&subgraph->outputs, (int32_t)from, (int32_t)to);
  for (uint32_t i = 0; i < subgraph->operator_count; i++) {
    rename_in(&subgraph->operators[i].inputs, (int32_t)from, (int32_t)to);
    rename_in(&subgraph->operators[i].outputs, (int32_t)from, (int32_t)to);
    rename_in(&subgraph->operators[i].intermediates, (int32_t)from, (int32_t)to);
  }
}

static bool is_unused(const berth_use_t *use) {
  return use->producer == BERTH_NOBODY && use->readings == 0 && !use->input && !use->output &&
         !use->mentioned;
}

static uint32_t drop_from(berth_edit_subgraph_t *subgraph, berth_use_t *uses) {
  uint32_t dropped = 0;
  for (uint32_t i = 0; i < subgraph->tensor_count;) {
    if (!is_unused(&uses[i])) {
      i++;
      continue;
    }
    uint32_t last = --subgraph->tensor_count;
    free(subgraph->tensors[i].shape.values);
    dropped++;
    if (i == last) break;
    subgraph->tensors[i] = subgraph->tensors[last];
    uses[i] = uses[last];
    rename_tensor(subgraph, last, i);
  }
  return dropped;
}

berth_status_t berth_drop_tensors(berth_edit_t *edit, uint32_t *count) {
  for (uint32_t s = 0; s < edit->model->subgraph_count; s++) {
    berth_use_t *uses;
    berth_status_t status = berth_uses_find(edit, s, &uses);
    if (status != BERTH_OK) return status;
    *count += drop_from(&edit->subgraphs[s], uses);
    free(uses);
  }
  return BERTH_OK;
}
