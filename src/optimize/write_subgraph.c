/* The writer's part for subgraphs: their tensors and operators, where they were edited. A table
 * comes before what it refers to, so each function writes its table (or list) first and then what
 * it announced under labels; labels that are made in a row are numbered in a row. */
#include "optimize/writer.h"

static void write_list(berth_writer_t *w, uint32_t label, const berth_edit_list_t *list) {
  berth_head_align(&w->head, 4, 0);
  berth_head_here(&w->head, label);
  berth_head_append32(&w->head, list->count);
  for (uint32_t i = 0; i < list->count; i++) {
    berth_head_append32(&w->head, (uint32_t)list->values[i]);
  }
}

/* ---- Operators ------------------------------------------------------------------------------- */

static bool operator_changed(const berth_writer_t *w, uint32_t subgraph,
                             const berth_edit_operator_t *edited) {
  berth_operator_t op = berth_model_operator(w->edit->model, subgraph, edited->origin);
  return w->all || edited->option_count > 0 || !berth_edit_list_is(&edited->inputs, op.inputs) ||
         !berth_edit_list_is(&edited->outputs, op.outputs) ||
         !berth_edit_list_is(&edited->intermediates, op.intermediates);
}

static void write_options(berth_writer_t *w, uint32_t label, berth_table_t source,
                          const berth_edit_operator_t *edited, berth_builtin_t code) {
  berth_head_field_t fields[BERTH_EDIT_OPTIONS_MAX];
  for (uint32_t i = 0; i < edited->option_count; i++) {
    fields[i] = number(edited->options[i].field, 1, edited->options[i].value);
  }
  berth_head_layout_t layout = options_layout(code);
  if (layout == NULL) {
    w->head.status = BERTH_ERROR_UNSUPPORTED;
  } else {
    berth_head_table(&w->head, label, source, layout, fields, edited->option_count);
  }
}

static void write_operator(berth_writer_t *w, uint32_t label, uint32_t subgraph,
                           berth_table_t source, const berth_edit_operator_t *edited) {
  const struct {
    uint32_t field;
    const berth_edit_list_t *list;
  } lists[] = {{OPERATOR_INPUTS, &edited->inputs},
               {OPERATOR_OUTPUTS, &edited->outputs},
               {OPERATOR_INTERMEDIATES, &edited->intermediates}};
  berth_operator_t op = berth_model_operator(w->edit->model, subgraph, edited->origin);
  const berth_vector_t old[] = {op.inputs, op.outputs, op.intermediates};
  berth_head_field_t fields[4];
  uint32_t count = 0, labels[3] = {0}, options = 0;
  bool made[3] = {false};
  for (uint32_t i = 0; i < 3; i++) {
    made[i] = !berth_edit_list_is(lists[i].list, old[i]) || (w->all && old[i].count > 0);
    if (!made[i]) continue;
    labels[i] = berth_head_label(&w->head);
    fields[count++] = reference(lists[i].field, labels[i]);
  }
  if (edited->option_count > 0) {
    options = berth_head_label(&w->head);
    fields[count++] = reference(OPERATOR_OPTIONS, options);
  }
  berth_head_table(&w->head, label, source, LAYOUT_OPERATOR, fields, count);
  for (uint32_t i = 0; i < 3; i++) {
    if (made[i]) write_list(w, labels[i], lists[i].list);
  }
  if (edited->option_count > 0) {
    write_options(w, options, flat_child(source, OPERATOR_OPTIONS), edited, op.code);
  }
}

static void write_operators(berth_writer_t *w, uint32_t label, uint32_t index,
                            berth_table_t source) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, subgraph->operator_count);
  for (uint32_t i = 0; i < subgraph->operator_count; i++) {
    const berth_edit_operator_t *edited = &subgraph->operators[i];
    if (operator_changed(w, index, edited)) {
      berth_writer_new(w);
    } else {
      berth_writer_old(w, flat_element(source, SUBGRAPH_OPERATORS, edited->origin));
    }
  }
  for (uint32_t i = 0; i < subgraph->operator_count && w->head.status == BERTH_OK; i++) {
    const berth_edit_operator_t *edited = &subgraph->operators[i];
    if (!operator_changed(w, index, edited)) continue;
    write_operator(w, first_label++, index,
                   flat_element(source, SUBGRAPH_OPERATORS, edited->origin), edited);
  }
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static bool tensor_changed(const berth_writer_t *w, const berth_edit_tensor_t *edited) {
  return w->all || edited->reshaped || edited->buffer != BERTH_EDIT_SAME;
}

static void write_tensor(berth_writer_t *w, uint32_t label, berth_table_t source,
                         const berth_edit_tensor_t *edited) {
  berth_head_field_t fields[3];
  uint32_t count = 0, shape = 0;
  if (edited->reshaped) {
    shape = berth_head_label(&w->head);
    fields[count++] = reference(TENSOR_SHAPE, shape);
    fields[count++] = absent(TENSOR_SHAPE_SIGNATURE);
  }
  if (edited->buffer != BERTH_EDIT_SAME) {
    fields[count++] = number(TENSOR_BUFFER, 4, edited->buffer);
  }
  berth_head_table(&w->head, label, source, LAYOUT_TENSOR, fields, count);
  if (edited->reshaped) write_list(w, shape, &edited->shape);
}

static void write_tensors(berth_writer_t *w, uint32_t label, uint32_t index, berth_table_t source) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, subgraph->tensor_count);
  for (uint32_t i = 0; i < subgraph->tensor_count; i++) {
    const berth_edit_tensor_t *edited = &subgraph->tensors[i];
    if (tensor_changed(w, edited)) {
      berth_writer_new(w);
    } else {
      berth_writer_old(w, flat_element(source, SUBGRAPH_TENSORS, edited->origin));
    }
  }
  for (uint32_t i = 0; i < subgraph->tensor_count && w->head.status == BERTH_OK; i++) {
    const berth_edit_tensor_t *edited = &subgraph->tensors[i];
    if (!tensor_changed(w, edited)) continue;
    write_tensor(w, first_label++, flat_element(source, SUBGRAPH_TENSORS, edited->origin), edited);
  }
}

/* ---- Subgraphs ------------------------------------------------------------------------------- */

static bool operators_changed(const berth_writer_t *w, uint32_t index) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  uint32_t count = berth_model_subgraph(w->edit->model, index).operator_count;
  bool changed = count != subgraph->operator_count || (w->all && count > 0);
  for (uint32_t i = 0; i < subgraph->operator_count && !changed; i++) {
    changed =
        subgraph->operators[i].origin != i || operator_changed(w, index, &subgraph->operators[i]);
  }
  return changed;
}

bool berth_writer_tensors_moved(const berth_writer_t *w, uint32_t index) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  bool moved = berth_model_subgraph(w->edit->model, index).tensor_count != subgraph->tensor_count;
  for (uint32_t i = 0; i < subgraph->tensor_count && !moved; i++) {
    moved = subgraph->tensors[i].origin != i;
  }
  return moved;
}

static bool tensors_changed(const berth_writer_t *w, uint32_t index) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  bool changed = berth_writer_tensors_moved(w, index);
  for (uint32_t i = 0; i < subgraph->tensor_count && !changed; i++) {
    changed = tensor_changed(w, &subgraph->tensors[i]);
  }
  return changed;
}

/* Which parts of a subgraph are made anew. */
typedef struct parts {
  bool tensors, inputs, outputs, operators;
} parts_t;

static parts_t changed_parts(const berth_writer_t *w, uint32_t index) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  berth_subgraph_t file = berth_model_subgraph(w->edit->model, index);
  return (parts_t){.tensors = tensors_changed(w, index),
                   .inputs = !berth_edit_list_is(&subgraph->inputs, file.inputs),
                   .outputs = !berth_edit_list_is(&subgraph->outputs, file.outputs),
                   .operators = operators_changed(w, index)};
}

static bool subgraph_changed(const berth_writer_t *w, uint32_t index) {
  parts_t parts = changed_parts(w, index);
  return w->all || parts.tensors || parts.inputs || parts.outputs || parts.operators;
}

static void write_subgraph(berth_writer_t *w, uint32_t label, uint32_t index) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  berth_table_t source = flat_element(w->root, MODEL_SUBGRAPHS, index);
  parts_t parts = changed_parts(w, index);
  const struct {
    uint32_t field;
    bool made;
  } lists[] = {{SUBGRAPH_TENSORS, parts.tensors},
               {SUBGRAPH_INPUTS, parts.inputs},
               {SUBGRAPH_OUTPUTS, parts.outputs},
               {SUBGRAPH_OPERATORS, parts.operators}};
  berth_head_field_t fields[4];
  uint32_t count = 0, labels[4] = {0};
  for (uint32_t i = 0; i < 4; i++) {
    if (!lists[i].made) continue;
    labels[i] = berth_head_label(&w->head);
    fields[count++] = reference(lists[i].field, labels[i]);
  }
  berth_head_table(&w->head, label, source, LAYOUT_SUBGRAPH, fields, count);
  if (parts.tensors) write_tensors(w, labels[0], index, source);
  if (parts.inputs) write_list(w, labels[1], &subgraph->inputs);
  if (parts.outputs) write_list(w, labels[2], &subgraph->outputs);
  if (parts.operators) write_operators(w, labels[3], index, source);
}

void berth_writer_subgraphs(berth_writer_t *w, uint32_t label) {
  uint32_t count = w->edit->model->subgraph_count;
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, count);
  for (uint32_t i = 0; i < count; i++) {
    if (subgraph_changed(w, i)) {
      berth_writer_new(w);
    } else {
      berth_writer_old(w, flat_element(w->root, MODEL_SUBGRAPHS, i));
    }
  }
  for (uint32_t i = 0; i < count && w->head.status == BERTH_OK; i++) {
    if (subgraph_changed(w, i)) write_subgraph(w, first_label++, i);
  }
}

bool berth_writer_subgraphs_changed(const berth_writer_t *w) {
  for (uint32_t i = 0; i < w->edit->model->subgraph_count; i++) {
    if (subgraph_changed(w, i)) return true;
  }
  return false;
}
