/* Counting uses, and facts about tensors and operators of an edit. */
#include "optimize/uses.h"
#include "optimize/layouts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Uses ------------------------------------------------------------------------------------ */

static void note_operator(berth_use_t *uses, const berth_edit_operator_t *op, uint32_t index) {
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    if (op->inputs.values[i] == BERTH_NO_TENSOR) continue;
    berth_use_t *use = &uses[op->inputs.values[i]];
    if (use->reader == BERTH_NOBODY) use->reader = index;
    use->readings++;
  }
  for (uint32_t i = 0; i < op->outputs.count; i++) {
    if (op->outputs.values[i] != BERTH_NO_TENSOR) uses[op->outputs.values[i]].producer = index;
  }
  for (uint32_t i = 0; i < op->intermediates.count; i++) {
    if (op->intermediates.values[i] != BERTH_NO_TENSOR) {
      uses[op->intermediates.values[i]].mentioned = true;
    }
  }
}

/* Signatures name tensors by the file's numbers. */
static void note_signature(const berth_edit_t *edit, uint32_t subgraph, uint32_t index,
                           berth_use_t *uses) {
  berth_signature_t signature = berth_model_signature(edit->model, index);
  const berth_edit_subgraph_t *edited = &edit->subgraphs[subgraph];
  if (signature.subgraph != subgraph) return;
  for (uint32_t i = 0; i < signature.input_count + signature.output_count; i++) {
    uint32_t origin;
    if (i < signature.input_count) {
      berth_model_signature_input(edit->model, index, i, &origin);
    } else {
      berth_model_signature_output(edit->model, index, i - signature.input_count, &origin);
    }
    for (uint32_t t = 0; t < edited->tensor_count; t++) {
      if (edited->tensors[t].origin == origin) uses[t].output = true;
    }
  }
}

berth_status_t berth_uses_find(const berth_edit_t *edit, uint32_t subgraph, berth_use_t **uses) {
  const berth_edit_subgraph_t *edited = &edit->subgraphs[subgraph];
  berth_use_t *found = calloc((size_t)edited->tensor_count + 1, sizeof *found);
  if (found == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < edited->tensor_count; i++) {
    found[i].producer = found[i].reader = BERTH_NOBODY;
    found[i].constant = berth_edit_data(edit, subgraph, i).size > 0 ||
                        berth_edit_tensor(edit, subgraph, i).external_buffer != 0;
    found[i].variable = berth_edit_tensor(edit, subgraph, i).is_variable;
  }
  for (uint32_t i = 0; i < edited->operator_count; i++) {
    note_operator(found, &edited->operators[i], i);
  }
  for (uint32_t i = 0; i < edited->inputs.count; i++) found[edited->inputs.values[i]].input = true;
  for (uint32_t i = 0; i < edited->outputs.count; i++) {
    found[edited->outputs.values[i]].output = true;
  }
  for (uint32_t i = 0; i < edit->model->signature_count; i++) {
    note_signature(edit, subgraph, i, found);
  }
  *uses = found;
  return BERTH_OK;
}

/* ---- Facts ----------------------------------------------------------------------------------- */

berth_tensor_t berth_edit_tensor(const berth_edit_t *edit, uint32_t subgraph, uint32_t tensor) {
  const berth_edit_tensor_t *edited = &edit->subgraphs[subgraph].tensors[tensor];
  berth_tensor_t file = berth_model_tensor(edit->model, subgraph, edited->origin);
  return file;
}

berth_operator_t berth_edit_operator(const berth_edit_t *edit, uint32_t subgraph, uint32_t op) {
  return berth_model_operator(edit->model, subgraph,
                              edit->subgraphs[subgraph].operators[op].origin);
}

berth_bytes_t berth_edit_data(const berth_edit_t *edit, uint32_t subgraph, uint32_t tensor) {
  uint32_t buffer = edit->subgraphs[subgraph].tensors[tensor].buffer;
  if (buffer != BERTH_EDIT_SAME && buffer >= edit->model->buffer_count) {
    const berth_edit_buffer_t *added = &edit->buffers[buffer - edit->model->buffer_count];
    return (berth_bytes_t){added->data, added->size};
  }
  berth_tensor_t file = berth_edit_tensor(edit, subgraph, tensor);
  return berth_model_tensor_data(edit->model, &file);
}

int32_t berth_edit_option(const berth_edit_t *edit, uint32_t subgraph, uint32_t op, uint32_t field,
                          int32_t fallback) {
  const berth_edit_operator_t *edited = &edit->subgraphs[subgraph].operators[op];
  for (uint32_t i = 0; i < edited->option_count; i++) {
    if (edited->options[i].field == field) return edited->options[i].value;
  }
  return berth_option_byte(berth_edit_operator(edit, subgraph, op).options, field, fallback);
}

bool berth_edit_set_option(berth_edit_t *edit, uint32_t subgraph, uint32_t op, uint32_t field,
                           uint8_t value) {
  berth_edit_operator_t *edited = &edit->subgraphs[subgraph].operators[op];
  berth_operator_t file = berth_edit_operator(edit, subgraph, op);
  if (file.options.position == 0 || options_layout(file.code) == NULL) return false;
  uint32_t i = 0;
  while (i < edited->option_count && edited->options[i].field != field) i++;
  if (i == BERTH_EDIT_OPTIONS_MAX) return false;
  edited->options[i] = (berth_edit_option_t){field, value};
  if (i == edited->option_count) edited->option_count++;
  return true;
}

static bool same_vector(berth_vector_t a, berth_vector_t b, uint32_t width) {
  size_t bytes = (size_t)a.count * width;
  return a.count == b.count && (bytes == 0 || memcmp(a.data, b.data, bytes) == 0);
}

static bool all_zero(berth_vector_t zeros) {
  for (uint32_t i = 0; i < zeros.count; i++) {
    if (berth_vector_long(zeros, i) != 0) return false;
  }
  return true;
}

bool berth_same_numbers(const berth_tensor_t *a, const berth_tensor_t *b) {
  if (a->type != b->type || !same_vector(a->scales, b->scales, 4)) return false;
  if (a->quantization_details != 0 || b->quantization_details != 0) return false;
  if (a->scales.count > 1 && a->quantized_dimension != b->quantized_dimension) return false;
  return same_vector(a->zero_points, b->zero_points, 8) ||
         (all_zero(a->zero_points) && all_zero(b->zero_points));
}

bool berth_same_shape(const berth_tensor_t *a, const berth_tensor_t *b) {
  for (uint32_t i = 0; i < a->signature.count; i++) {
    if (berth_vector_int(a->signature, i) < 0) return false;
  }
  for (uint32_t i = 0; i < b->signature.count; i++) {
    if (berth_vector_int(b->signature, i) < 0) return false;
  }
  return same_vector(a->shape, b->shape, 4) && (a->shape.count > 0 || (a->has_rank && b->has_rank));
}

bool berth_has_effects(const berth_edit_t *edit, uint32_t subgraph, uint32_t op,
                       const berth_use_t *uses) {
  const berth_edit_operator_t *edited = &edit->subgraphs[subgraph].operators[op];
  berth_operator_t file = berth_edit_operator(edit, subgraph, op);
  if (file.outputs.count == 0) return true;
  for (uint32_t i = 0; i < edited->inputs.count; i++) {
    int32_t tensor = edited->inputs.values[i];
    if (tensor == BERTH_NO_TENSOR) continue;
    berth_tensor_type_t type = berth_edit_tensor(edit, subgraph, (uint32_t)tensor).type;
    if (uses[tensor].variable || type == BERTH_TYPE_RESOURCE || type == BERTH_TYPE_VARIANT) {
      return true;
    }
  }
  return berth_graph_has_effects(&file) || file.code == BERTH_BUILTIN_DELEGATE ||
         file.code >= BERTH_BUILTIN_STABLEHLO_LOGISTIC;
}

berth_status_t berth_clean_operators(berth_edit_t *edit, berth_clean_operator_t change,
                                     uint32_t *count) {
  for (uint32_t s = 0; s < edit->model->subgraph_count; s++) {
    bool changed = true;
    while (changed) {
      berth_use_t *uses;
      berth_status_t status = berth_uses_find(edit, s, &uses);
      if (status != BERTH_OK) return status;
      changed = false;
      for (uint32_t op = 0; op < edit->subgraphs[s].operator_count && !changed; op++) {
        changed = change(edit, s, op, uses);
      }
      free(uses);
      if (changed) (*count)++;
    }
  }
  return BERTH_OK;
}
