/* From Berth's contracts to pairs of the planning problem, and to an order. */
#include "host/sharing.h"
#include "berth/order.h"
#include "optimize/contracts.h"
#include "optimize/write.h"
#include "stock/diagonal.h"
#include "stock/overlap.h"
#include <stdlib.h>
#include <string.h>

static berth_status_t failed(const berth_subject_t *subject, berth_status_t status,
                             berth_complaint_t *complaint) {
  berth_complain(complaint, "%s: %s", subject->path, berth_status_text(status));
  return status;
}

berth_status_t berth_sharing_permissions(berth_subject_t *subject,
                                         const berth_subject_options_t *options, bool slices,
                                         berth_sharing_t **sharing, berth_complaint_t *complaint) {
  berth_contracts_t contracts;
  uint32_t operators = berth_model_subgraph(&subject->model, 0).operator_count;
  berth_status_t status = berth_what_if_contracts(&options->what_if, subject->path, &subject->graph,
                                                  false, &contracts, complaint);
  if (status != BERTH_OK) return status;
  *sharing = calloc((size_t)operators + 1, sizeof **sharing);
  for (uint32_t i = 0; i < operators && *sharing != NULL; i++) {
    (*sharing)[i] = options->diagonal ? berth_stock_sharing(&subject->model, 0, i)
                                      : berth_sharing_of(&contracts.table[i]);
    bool whole = (*sharing)[i].view == BERTH_VIEW_SAME;
    if (!whole && !slices) (*sharing)[i].view = BERTH_VIEW_NONE;
  }
  berth_contracts_free(&contracts);
  return *sharing != NULL ? BERTH_OK : failed(subject, BERTH_ERROR_MEMORY, complaint);
}

static berth_overlap_t overlap_of(const berth_subject_options_t *options) {
  return options->share ? options->overlap : BERTH_OVERLAP_NONE;
}

static uint32_t alignment(const berth_subject_options_t *options) {
  return options->align != 0 ? options->align : 16;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* The model with its operators in another order, as bytes on the heap. */
static berth_status_t reorder(const berth_model_t *model, const uint32_t *order, uint8_t **bytes,
                              uint64_t *size) {
  berth_edit_t edit;
  berth_status_t status = berth_edit_open(model, &edit);
  if (status != BERTH_OK) return status;
  status = berth_edit_reorder(&edit, 0, order);
  if (status == BERTH_OK) status = berth_edit_bytes(&edit, NULL, bytes, size, NULL);
  berth_edit_close(&edit);
  return status;
}

/* Lets the subject's model be the one in this order, and keeps the order. */
static berth_status_t take_order(berth_subject_t *subject, uint32_t *order, void **bytes) {
  uint8_t *reordered;
  uint64_t size;
  berth_status_t status = reorder(&subject->model, order, &reordered, &size);
  if (status != BERTH_OK) return status;
  *bytes = reordered;
  status = berth_model_open(reordered, size, &subject->model, NULL);
  if (status == BERTH_OK) subject->order = subject->memory[BERTH_SUBJECT_ORDER] = order;
  return status;
}

berth_status_t berth_sharing_order(berth_subject_t *subject, const berth_subject_options_t *options,
                                   void **bytes, berth_complaint_t *complaint) {
  berth_sharing_t *sharing = NULL;
  uint32_t operators = berth_model_subgraph(&subject->model, 0).operator_count;
  berth_order_options_t settings = {.overlap = overlap_of(options),
                                    .align = alignment(options),
                                    .keep_inputs = options->keep_inputs};
  berth_order_result_t result = {.changed = false};
  void *workspace = NULL;
  uint32_t *order = malloc(((size_t)operators + 1) * sizeof *order);
  size_t room = 0;
  *bytes = NULL;
  berth_status_t status = berth_sharing_permissions(subject, options, false, &sharing, complaint);
  if (status != BERTH_OK) {
    free(order);
    return status;
  }
  status = berth_order_workspace(&subject->graph, sharing, &settings, &room);
  if (status == BERTH_OK) {
    workspace = malloc(room + 1);
    if (workspace == NULL || order == NULL) status = BERTH_ERROR_MEMORY;
  }
  if (status == BERTH_OK) {
    status = berth_order_find(&subject->graph, sharing, &settings, workspace, room, order, &result);
  }
  if (status == BERTH_OK && result.changed) status = take_order(subject, order, bytes);
  free(workspace);
  if (subject->order == NULL) free(order);
  free(sharing);
  return status == BERTH_OK ? BERTH_OK : failed(subject, status, complaint);
}

berth_status_t berth_sharing_reorder(berth_subject_t *subject, const uint32_t *given, void **bytes,
                                     berth_complaint_t *complaint) {
  uint32_t operators = berth_model_subgraph(&subject->model, 0).operator_count;
  *bytes = NULL;
  uint32_t *order = malloc(((size_t)operators + 1) * sizeof *order);
  if (order == NULL) return failed(subject, BERTH_ERROR_MEMORY, complaint);
  memcpy(order, given, operators * sizeof *order);
  berth_status_t status = take_order(subject, order, bytes);
  if (subject->order == NULL) free(order);
  return status == BERTH_OK ? BERTH_OK : failed(subject, status, complaint);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static berth_status_t find_aliases(berth_subject_t *subject, const berth_subject_options_t *options,
                                   const berth_sharing_t *sharing, void **workspace,
                                   berth_alias_t **aliases) {
  berth_alias_options_t settings = {.overlap = overlap_of(options),
                                    .align = alignment(options),
                                    .keep_inputs = options->keep_inputs};
  size_t bytes;
  berth_status_t status = berth_alias_workspace(&subject->graph, sharing, &settings, &bytes);
  if (status != BERTH_OK) return status;
  *workspace = malloc(bytes + 1);
  if (*workspace == NULL) return BERTH_ERROR_MEMORY;
  return berth_alias_find(&subject->graph, sharing, &settings, *workspace, bytes, aliases);
}

/* The bytes that all reads of `input` by one operator leave safe: how much of the head of its
 * buffer the output's end may cover. 0: nothing. */
static uint64_t safe_head(const berth_subject_t *subject, uint32_t op, uint32_t input,
                          const berth_buffer_t *a, const berth_buffer_t *b) {
  berth_operator_t what = berth_model_operator(&subject->model, 0, op);
  uint64_t distance = 0;
  for (uint32_t i = 0; i < what.inputs.count; i++) {
    uint64_t one;
    if (berth_vector_int(what.inputs, i) != (int32_t)input) continue;
    if (!berth_stock_diagonal(&subject->model, 0, op, i, &one)) return 0;
    if (one > distance) distance = one;
  }
  if (a->size == 0 || distance >= b->size) return 0;
  /* Not the input's last byte: the output could then begin anywhere in it. */
  return b->size - distance < a->size ? b->size - distance : a->size - 1;
}

/* Outputs that may reach into an input which is read for the last time. */
static uint32_t list_heads(const berth_subject_t *subject, const berth_alias_t *aliases,
                           const uint32_t *buffer_of, berth_pair_t *list, uint32_t count) {
  uint32_t operators = berth_model_subgraph(&subject->model, 0).operator_count;
  for (uint32_t op = 0; op < operators; op++) {
    berth_operator_t what = berth_model_operator(&subject->model, 0, op);
    int32_t output = what.outputs.count == 1 ? berth_vector_int(what.outputs, 0) : BERTH_NO_TENSOR;
    if (output == BERTH_NO_TENSOR || buffer_of[output] == BERTH_NOBODY) continue;
    const berth_buffer_t *b = &subject->problem.buffers[buffer_of[output]];
    for (uint32_t i = 0; i < what.inputs.count; i++) {
      int32_t input = berth_vector_int(what.inputs, i);
      bool again = false; /* has it been an operand already? */
      for (uint32_t k = 0; k < i; k++) again |= berth_vector_int(what.inputs, k) == input;
      if (input == BERTH_NO_TENSOR || again || buffer_of[input] == BERTH_NOBODY) continue;
      if (aliases[input].root == aliases[output].root) continue; /* in its place already */
      const berth_buffer_t *a = &subject->problem.buffers[buffer_of[input]];
      const berth_label_t *label = &subject->labels[buffer_of[input]];
      bool dies = a->last == op && b->first == op && label->kind != BERTH_KIND_OUTPUT &&
                  label->kind != BERTH_KIND_VARIABLE;
      uint64_t bytes = dies ? safe_head(subject, op, (uint32_t)input, a, b) : 0;
      if (bytes == 0) continue;
      list[count++] = (berth_pair_t){
          .a = buffer_of[input], .b = buffer_of[output], .relation = BERTH_HEAD, .bytes = bytes};
    }
  }
  return count;
}

static size_t operand_count(const berth_model_t *model) {
  size_t count = 0;
  uint32_t operators = berth_model_subgraph(model, 0).operator_count;
  for (uint32_t op = 0; op < operators; op++) {
    count += berth_model_operator(model, 0, op).inputs.count;
  }
  return count;
}

static berth_status_t list_pairs(berth_subject_t *subject, const berth_alias_t *aliases,
                                 bool diagonal, void **pairs) {
  uint32_t count = subject->problem.pair_count, tensors = subject->graph.tensor_count;
  size_t room = (size_t)count + subject->problem.buffer_count + operand_count(&subject->model) + 1;
  berth_pair_t *list = malloc(room * sizeof *list);
  uint32_t *buffer_of = malloc(((size_t)tensors + 1) * sizeof *buffer_of);
  if (list == NULL || buffer_of == NULL) {
    free(list);
    free(buffer_of);
    return BERTH_ERROR_MEMORY;
  }
  if (count > 0) memcpy(list, subject->problem.pairs, count * sizeof *list);
  for (uint32_t i = 0; i < tensors; i++) buffer_of[i] = BERTH_NOBODY;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    if (label->tensor == BERTH_NOBODY) continue;
    buffer_of[subject->graph.bases[label->subgraph] + label->tensor] = i;
  }
  for (uint32_t i = 0; i < tensors; i++) {
    uint32_t root = aliases[i].root;
    if (root == i || buffer_of[i] == BERTH_NOBODY || buffer_of[root] == BERTH_NOBODY) continue;
    list[count++] =
        (berth_pair_t){.a = buffer_of[root], .b = buffer_of[i], .relation = BERTH_SHARE};
  }
  if (diagonal) count = list_heads(subject, aliases, buffer_of, list, count);
  free(buffer_of);
  *pairs = list;
  subject->problem.pairs = count > 0 ? list : NULL;
  subject->problem.pair_count = count;
  return BERTH_OK;
}

berth_status_t berth_sharing_pairs(berth_subject_t *subject, const berth_subject_options_t *options,
                                   void **pairs, berth_complaint_t *complaint) {
  berth_sharing_t *sharing = NULL;
  berth_alias_t *aliases = NULL;
  void *workspace = NULL;
  berth_status_t status = berth_sharing_permissions(subject, options, false, &sharing, complaint);
  if (status != BERTH_OK) return status;
  status = find_aliases(subject, options, sharing, &workspace, &aliases);
  if (status == BERTH_OK) status = list_pairs(subject, aliases, options->diagonal, pairs);
  free(workspace);
  free(sharing);
  return status == BERTH_OK ? BERTH_OK : failed(subject, status, complaint);
}
