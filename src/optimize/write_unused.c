/* Constants that nobody needs any more: those of dropped tensors, and of metadata that were
 * replaced. Their numbers stay, since the others' would change; the list of constants then refers
 * to an empty one, and their bytes are given up. */
#include "optimize/writer.h"

#include <stdlib.h>

/* Fields beyond the schema, which might use constants in ways of their own? */
static bool has_later_fields(berth_table_t table, berth_head_layout_t layout) {
  uint32_t known = 0, count = (flat_load16(table.file + flat_vtable(table)) - 4) / 2;
  while (layout[known] != '\0') known++;
  for (uint32_t i = known; i < count; i++) {
    if (flat_field(table, i) != 0) return true;
  }
  return false;
}

static bool is_of_later_schema(const berth_writer_t *w) {
  if (has_later_fields(w->root, LAYOUT_MODEL)) return true;
  for (uint32_t s = 0; s < w->edit->model->subgraph_count; s++) {
    berth_table_t subgraph = flat_element(w->root, MODEL_SUBGRAPHS, s);
    berth_subgraph_t file = berth_model_subgraph(w->edit->model, s);
    bool later = has_later_fields(subgraph, LAYOUT_SUBGRAPH);
    for (uint32_t i = 0; i < file.tensor_count && !later; i++) {
      later = has_later_fields(flat_element(subgraph, SUBGRAPH_TENSORS, i), LAYOUT_TENSOR);
    }
    for (uint32_t i = 0; i < file.operator_count && !later; i++) {
      later = has_later_fields(flat_element(subgraph, SUBGRAPH_OPERATORS, i), LAYOUT_OPERATOR);
    }
    if (later) return true;
  }
  return false;
}

static uint32_t file_buffer(const berth_writer_t *w, uint32_t subgraph, uint32_t tensor) {
  berth_table_t table = flat_element(w->root, MODEL_SUBGRAPHS, subgraph);
  return flat_u32(flat_element(table, SUBGRAPH_TENSORS, tensor), TENSOR_BUFFER, 0);
}

static bool is_replaced(const berth_writer_t *w, uint32_t metadata) {
  berth_text_t name = berth_model_metadata(w->edit->model, metadata).name;
  for (uint32_t i = 0; i < w->edit->metadata_count; i++) {
    const char *edited = w->edit->metadata[i].name;
    if (strlen(edited) == name.length && memcmp(edited, name.data, name.length) == 0) return true;
  }
  return false;
}

/* Marks what the file uses, then clears what the edit uses. */
static void mark(const berth_writer_t *w, bool *unused) {
  const berth_model_t *model = w->edit->model;
  uint32_t count = model->buffer_count;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    uint32_t tensors = berth_model_subgraph(model, s).tensor_count;
    for (uint32_t i = 0; i < tensors; i++) {
      uint32_t buffer = file_buffer(w, s, i);
      if (buffer < count) unused[buffer] = true;
    }
  }
  for (uint32_t i = 0; i < model->metadata_count; i++) {
    uint32_t buffer = flat_u32(flat_element(w->root, MODEL_METADATA, i), METADATA_BUFFER, 0);
    if (buffer < count) unused[buffer] = is_replaced(w, i);
  }
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[s];
    for (uint32_t i = 0; i < subgraph->tensor_count; i++) {
      const berth_edit_tensor_t *tensor = &subgraph->tensors[i];
      uint32_t buffer =
          tensor->buffer == BERTH_EDIT_SAME ? file_buffer(w, s, tensor->origin) : tensor->buffer;
      if (buffer < count) unused[buffer] = false;
    }
  }
}

static bool is_empty(const berth_writer_t *w, uint32_t buffer) {
  berth_table_t table = flat_element(w->root, MODEL_BUFFERS, buffer);
  return flat_vector(table, BUFFER_DATA).count == 0 && flat_u64(table, BUFFER_OFFSET, 0) == 0;
}

berth_status_t berth_writer_find_unused(berth_writer_t *w) {
  uint32_t count = w->edit->model->buffer_count;
  bool any = false;
  if (count == 0 || !is_empty(w, 0) || is_of_later_schema(w)) return BERTH_OK;
  bool *unused = calloc(count, sizeof *unused);
  if (unused == NULL) return BERTH_ERROR_MEMORY;
  mark(w, unused);
  unused[0] = false;
  for (uint32_t i = 0; i < count; i++) {
    /* Data behind the FlatBuffer stay where they are, and so does their table. */
    unused[i] =
        unused[i] && flat_vector(flat_element(w->root, MODEL_BUFFERS, i), BUFFER_DATA).count;
    any = any || unused[i];
  }
  if (any) {
    w->unused = unused;
  } else {
    free(unused);
  }
  return BERTH_OK;
}
