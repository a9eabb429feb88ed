/* Editable models: loading the lists of a file, and the changes that transforms have in common. */
#include "optimize/edit.h"

#include <stdlib.h>
#include <string.h>

/* A heap block for `count` elements, zeroed; never NULL for want of elements. */
static void *array(uint64_t count, size_t size) {
  return count > SIZE_MAX / size ? NULL : calloc(count > 0 ? (size_t)count : 1, size);
}

static bool load_list(berth_vector_t vector, berth_edit_list_t *list) {
  if (vector.count == 0) return true;
  list->values = array(vector.count, sizeof *list->values);
  if (list->values == NULL) return false;
  list->count = vector.count;
  for (uint32_t i = 0; i < vector.count; i++) list->values[i] = berth_vector_int(vector, i);
  return true;
}

static void free_list(berth_edit_list_t *list) {
  free(list->values);
  *list = (berth_edit_list_t){NULL, 0};
}

static void free_operator(berth_edit_operator_t *op) {
  free_list(&op->inputs);
  free_list(&op->outputs);
  free_list(&op->intermediates);
}

static bool load_subgraph(const berth_model_t *model, uint32_t index,
                          berth_edit_subgraph_t *subgraph) {
  berth_subgraph_t file = berth_model_subgraph(model, index);
  subgraph->operators = array(file.operator_count, sizeof *subgraph->operators);
  subgraph->tensors = array(file.tensor_count, sizeof *subgraph->tensors);
  if (subgraph->operators == NULL || subgraph->tensors == NULL) return false;
  subgraph->operator_count = file.operator_count;
  subgraph->tensor_count = file.tensor_count;
  for (uint32_t i = 0; i < file.operator_count; i++) {
    berth_operator_t op = berth_model_operator(model, index, i);
    berth_edit_operator_t *edited = &subgraph->operators[i];
    edited->origin = i;
    if (!load_list(op.inputs, &edited->inputs) || !load_list(op.outputs, &edited->outputs) ||
        !load_list(op.intermediates, &edited->intermediates)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < file.tensor_count; i++) {
    subgraph->tensors[i] = (berth_edit_tensor_t){.origin = i, .buffer = BERTH_EDIT_SAME};
  }
  return load_list(file.inputs, &subgraph->inputs) && load_list(file.outputs, &subgraph->outputs);
}

berth_status_t berth_edit_open(const berth_model_t *model, berth_edit_t *edit) {
  berth_edit_t fresh = {.model = model};
  fresh.subgraphs = array(model->subgraph_count, sizeof *fresh.subgraphs);
  bool good = fresh.subgraphs != NULL;
  for (uint32_t i = 0; i < model->subgraph_count && good; i++) {
    good = load_subgraph(model, i, &fresh.subgraphs[i]);
  }
  if (!good) {
    berth_edit_close(&fresh);
    return BERTH_ERROR_MEMORY;
  }
  *edit = fresh;
  return BERTH_OK;
}

void berth_edit_close(berth_edit_t *edit) {
  for (uint32_t s = 0; edit->subgraphs != NULL && s < edit->model->subgraph_count; s++) {
    berth_edit_subgraph_t *subgraph = &edit->subgraphs[s];
    for (uint32_t i = 0; i < subgraph->operator_count; i++) free_operator(&subgraph->operators[i]);
    for (uint32_t i = 0; i < subgraph->tensor_count; i++) free_list(&subgraph->tensors[i].shape);
    free(subgraph->operators);
    free(subgraph->tensors);
    free_list(&subgraph->inputs);
    free_list(&subgraph->outputs);
  }
  free(edit->subgraphs);
  for (uint32_t i = 0; i < edit->buffer_count; i++) free(edit->buffers[i].data);
  free(edit->buffers);
  memset(edit, 0, sizeof *edit);
}

berth_status_t berth_edit_reorder(berth_edit_t *edit, uint32_t subgraph, const uint32_t *order) {
  berth_edit_subgraph_t *edited = &edit->subgraphs[subgraph];
  berth_edit_operator_t *moved = array(edited->operator_count, sizeof *moved);
  bool *taken = array(edited->operator_count, sizeof *taken);
  berth_status_t status = moved == NULL || taken == NULL ? BERTH_ERROR_MEMORY : BERTH_OK;
  for (uint32_t k = 0; k < edited->operator_count && status == BERTH_OK; k++) {
    if (order[k] >= edited->operator_count || taken[order[k]]) {
      status = BERTH_ERROR_ARGUMENT;
    } else {
      taken[order[k]] = true;
      moved[k] = edited->operators[order[k]];
    }
  }
  free(taken);
  free(status == BERTH_OK ? edited->operators : moved);
  if (status == BERTH_OK) edited->operators = moved;
  return status;
}

void berth_edit_drop_operator(berth_edit_t *edit, uint32_t subgraph, uint32_t op) {
  berth_edit_subgraph_t *edited = &edit->subgraphs[subgraph];
  free_operator(&edited->operators[op]);
  edited->operator_count--;
  memmove(&edited->operators[op], &edited->operators[op + 1],
          (edited->operator_count - op) * sizeof *edited->operators);
}

berth_status_t berth_edit_add_buffer(berth_edit_t *edit, const void *data, uint64_t size,
                                     uint32_t *buffer) {
  uint32_t count = edit->buffer_count;
  if (size > INT32_MAX || count >= UINT32_MAX - edit->model->buffer_count) {
    return BERTH_ERROR_OVERFLOW;
  }
  berth_edit_buffer_t *more = realloc(edit->buffers, ((size_t)count + 1) * sizeof *edit->buffers);
  if (more == NULL) return BERTH_ERROR_MEMORY;
  edit->buffers = more;
  uint8_t *copy = array(size, 1);
  if (copy == NULL) return BERTH_ERROR_MEMORY;
  if (size > 0) memcpy(copy, data, (size_t)size);
  more[count] = (berth_edit_buffer_t){copy, (uint32_t)size};
  edit->buffer_count = count + 1;
  *buffer = edit->model->buffer_count + count;
  return BERTH_OK;
}

berth_status_t berth_edit_set_metadata(berth_edit_t *edit, const char *name, const void *data,
                                       uint64_t size) {
  berth_bytes_t now = berth_model_metadata_named(edit->model, name);
  if (size > 0 && now.size == size && memcmp(now.data, data, (size_t)size) == 0) return BERTH_OK;
  if (edit->metadata_count == BERTH_EDIT_METADATA_MAX) return BERTH_ERROR_UNSUPPORTED;
  berth_edit_metadata_t entry = {name, 0};
  berth_status_t status = berth_edit_add_buffer(edit, data, size, &entry.buffer);
  if (status == BERTH_OK) edit->metadata[edit->metadata_count++] = entry;
  return status;
}

berth_status_t berth_edit_set_shape(berth_edit_t *edit, uint32_t subgraph, uint32_t tensor,
                                    const int32_t *dims, uint32_t rank) {
  berth_edit_tensor_t *edited = &edit->subgraphs[subgraph].tensors[tensor];
  int32_t *values = array(rank, sizeof *values);
  if (values == NULL) return BERTH_ERROR_MEMORY;
  if (rank > 0) memcpy(values, dims, rank * sizeof *values);
  free(edited->shape.values);
  edited->shape = (berth_edit_list_t){values, rank};
  edited->reshaped = true;
  return BERTH_OK;
}

bool berth_edit_list_is(const berth_edit_list_t *list, berth_vector_t vector) {
  if (list->count != vector.count) return false;
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->values[i] != berth_vector_int(vector, i)) return false;
  }
  return true;
}
