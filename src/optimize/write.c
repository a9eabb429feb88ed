/* The writer: walks from the root to what was edited, makes those tables anew in a head (head.h),
 * then lets the old file follow. */
#include "model/model.h"
#include "optimize/orphans.h"
#include "optimize/writer.h"

#include <stdlib.h>

/* ---- Signatures, whose names belong to numbers of tensors -------------------------------------
 */

/* The tensor's number in the edit; one that was dropped keeps its old number, which no transform
 * lets happen. */
static uint32_t moved_to(const berth_writer_t *w, uint32_t index, uint32_t tensor) {
  const berth_edit_subgraph_t *subgraph = &w->edit->subgraphs[index];
  for (uint32_t i = 0; i < subgraph->tensor_count; i++) {
    if (subgraph->tensors[i].origin == tensor) return i;
  }
  return tensor;
}

static void write_names(berth_writer_t *w, uint32_t label, berth_table_t signature, uint32_t field,
                        uint32_t index) {
  uint32_t count = flat_vector(signature, field).count;
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, count);
  for (uint32_t i = 0; i < count; i++) berth_writer_new(w);
  for (uint32_t i = 0; i < count && w->head.status == BERTH_OK; i++) {
    berth_table_t entry = flat_element(signature, field, i);
    berth_head_field_t tensor =
        number(MAP_TENSOR, 4, moved_to(w, index, flat_u32(entry, MAP_TENSOR, 0)));
    berth_head_table(&w->head, first_label + i, entry, LAYOUT_MAP, &tensor, 1);
  }
}

static bool signature_changed(const berth_writer_t *w, uint32_t signature) {
  return w->all ||
         berth_writer_tensors_moved(w, berth_model_signature(w->edit->model, signature).subgraph);
}

static bool signatures_changed(const berth_writer_t *w) {
  for (uint32_t i = 0; i < w->edit->model->signature_count; i++) {
    if (signature_changed(w, i)) return true;
  }
  return false;
}

static void write_signatures(berth_writer_t *w, uint32_t label) {
  uint32_t count = w->edit->model->signature_count;
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, count);
  for (uint32_t i = 0; i < count; i++) {
    if (signature_changed(w, i)) {
      berth_writer_new(w);
    } else {
      berth_writer_old(w, flat_element(w->root, MODEL_SIGNATURES, i));
    }
  }
  for (uint32_t i = 0; i < count && w->head.status == BERTH_OK; i++) {
    if (!signature_changed(w, i)) continue;
    berth_table_t source = flat_element(w->root, MODEL_SIGNATURES, i);
    uint32_t index = berth_model_signature(w->edit->model, i).subgraph;
    berth_head_field_t fields[] = {reference(SIGNATURE_INPUTS, berth_head_label(&w->head)),
                                   reference(SIGNATURE_OUTPUTS, berth_head_label(&w->head))};
    berth_head_table(&w->head, first_label++, source, LAYOUT_SIGNATURE, fields, 2);
    write_names(w, (uint32_t)fields[0].value, source, SIGNATURE_INPUTS, index);
    write_names(w, (uint32_t)fields[1].value, source, SIGNATURE_OUTPUTS, index);
  }
}

/* ---- Metadata and constants -------------------------------------------------------------------
 */

/* The edit's entry for a name, or NULL. */
static const berth_edit_metadata_t *edited_metadata(const berth_writer_t *w, berth_text_t name) {
  for (uint32_t i = 0; i < w->edit->metadata_count; i++) {
    const berth_edit_metadata_t *entry = &w->edit->metadata[i];
    if (strlen(entry->name) == name.length && memcmp(entry->name, name.data, name.length) == 0) {
      return entry;
    }
  }
  return NULL;
}

static bool in_file(const berth_writer_t *w, const berth_edit_metadata_t *entry) {
  for (uint32_t i = 0; i < w->edit->model->metadata_count; i++) {
    if (edited_metadata(w, berth_model_metadata(w->edit->model, i).name) == entry) return true;
  }
  return false;
}

static void write_text(berth_writer_t *w, uint32_t label, const char *text) {
  uint32_t length = (uint32_t)strlen(text);
  berth_head_align(&w->head, 4, 0);
  berth_head_here(&w->head, label);
  berth_head_append32(&w->head, length);
  berth_head_append(&w->head, text, length + 1);
}

static void write_metadata_entry(berth_writer_t *w, uint32_t label, berth_table_t source,
                                 const berth_edit_metadata_t *entry) {
  berth_head_field_t fields[2] = {number(METADATA_BUFFER, 4, entry->buffer)};
  uint32_t name = 0, count = 1;
  if (source.position == 0) {
    name = berth_head_label(&w->head);
    fields[count++] = reference(METADATA_NAME, name);
  }
  berth_head_table(&w->head, label, source, LAYOUT_METADATA, fields, count);
  if (source.position == 0) write_text(w, name, entry->name);
}

static void write_metadata(berth_writer_t *w, uint32_t label) {
  const berth_edit_t *edit = w->edit;
  uint32_t old_count = edit->model->metadata_count, added = 0;
  for (uint32_t i = 0; i < edit->metadata_count; i++) added += !in_file(w, &edit->metadata[i]);
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, old_count + added);
  for (uint32_t i = 0; i < old_count; i++) {
    if (edited_metadata(w, berth_model_metadata(edit->model, i).name) != NULL) {
      berth_writer_new(w);
    } else {
      berth_writer_old(w, flat_element(w->root, MODEL_METADATA, i));
    }
  }
  for (uint32_t i = 0; i < added; i++) berth_writer_new(w);
  for (uint32_t i = 0; i < old_count; i++) {
    const berth_edit_metadata_t *entry =
        edited_metadata(w, berth_model_metadata(edit->model, i).name);
    if (entry == NULL) continue;
    write_metadata_entry(w, first_label++, flat_element(w->root, MODEL_METADATA, i), entry);
  }
  for (uint32_t i = 0; i < edit->metadata_count; i++) {
    if (in_file(w, &edit->metadata[i])) continue;
    write_metadata_entry(w, first_label++, flat_table_at(w->root, 0), &edit->metadata[i]);
  }
}

static void write_buffers(berth_writer_t *w, uint32_t label) {
  const berth_edit_t *edit = w->edit;
  uint32_t first_label = w->head.label_count;
  berth_writer_start_list(w, label, edit->model->buffer_count + edit->buffer_count);
  for (uint32_t i = 0; i < edit->model->buffer_count; i++) {
    bool unused = w->unused != NULL && w->unused[i];
    berth_writer_old(w, flat_element(w->root, MODEL_BUFFERS, unused ? 0 : i)); /* 0 is empty */
  }
  for (uint32_t i = 0; i < edit->buffer_count; i++) berth_writer_new(w);
  for (uint32_t i = 0; i < edit->buffer_count; i++) {
    const berth_edit_buffer_t *buffer = &edit->buffers[i];
    uint32_t data = berth_head_label(&w->head);
    berth_head_field_t field = reference(BUFFER_DATA, data);
    berth_head_table(&w->head, first_label + i, flat_table_at(w->root, 0), LAYOUT_BUFFER, &field,
                     1);
    berth_head_align(&w->head, 16, 4); /* the data; its length comes before */
    berth_head_here(&w->head, data);
    berth_head_append32(&w->head, buffer->size);
    berth_head_append(&w->head, buffer->data, buffer->size);
  }
}

/* ---- The model ------------------------------------------------------------------------------- */

/* Fills the head; it stays empty if nothing was edited. */
static void write_model(berth_writer_t *w) {
  const struct {
    uint32_t field;
    bool made;
    void (*write)(berth_writer_t *w, uint32_t label);
  } lists[] = {{MODEL_SUBGRAPHS, berth_writer_subgraphs_changed(w), berth_writer_subgraphs},
               {MODEL_METADATA, w->edit->metadata_count > 0, write_metadata},
               {MODEL_SIGNATURES, signatures_changed(w), write_signatures},
               {MODEL_BUFFERS, w->edit->buffer_count > 0 || w->unused != NULL, write_buffers}};
  enum { LISTS = sizeof lists / sizeof *lists };
  berth_head_field_t fields[LISTS];
  uint32_t count = 0, labels[LISTS] = {0};
  for (uint32_t i = 0; i < LISTS; i++) {
    if (!lists[i].made) continue;
    labels[i] = berth_head_label(&w->head);
    fields[count++] = reference(lists[i].field, labels[i]);
  }
  if (count == 0) return;
  uint32_t root = berth_head_label(&w->head);
  berth_head_refer(&w->head, BERTH_HEAD_LABEL, root);
  berth_head_append(&w->head, w->root.file + 4, 4); /* the file's mark */
  berth_head_table(&w->head, root, w->root, LAYOUT_MODEL, fields, count);
  for (uint32_t i = 0; i < LISTS; i++) {
    if (lists[i].made) lists[i].write(w, labels[i]);
  }
}

#define START_BYTES 8u /* the reference to the root, and the file's mark */

/* ---- The file -------------------------------------------------------------------------------- */

/* Finds out what is given up of the old file, and gives every piece of the head a place. */
static berth_status_t place(berth_writer_t *w) {
  if (w->head.status != BERTH_OK || w->head.size == 0) return w->head.status;
  berth_status_t status = berth_orphans_find(w, &w->orphans, &w->orphan_count);
  if (status != BERTH_OK) return status;
  w->left = malloc(((size_t)w->orphan_count + 1) * sizeof *w->left);
  if (w->left == NULL) return BERTH_ERROR_MEMORY;
  if (w->orphan_count > 0) memcpy(w->left, w->orphans, w->orphan_count * sizeof *w->left);
  w->left_count = w->orphan_count;
  w->head.start_is_free = w->left_count > 0 && w->left[0].start == 0;
  if (w->head.start_is_free) w->left[0].start = START_BYTES;
  status = berth_head_place(&w->head, &w->left, &w->left_count);
  /* A FlatBuffer that ends in reach must still do so. */
  if (status == BERTH_OK && w->edit->model->size <= INT32_MAX &&
      w->head.size > INT32_MAX - w->edit->model->size) {
    return BERTH_ERROR_OVERFLOW;
  }
  if (status == BERTH_OK) berth_head_resolve(&w->head);
  return status;
}

/* The pieces in front of the old file. */
static bool send_head(const berth_writer_t *w, berth_edit_sink_t sink, void *user) {
  static const uint8_t zeros[16];
  uint32_t at = 0;
  for (uint32_t i = 0; i < w->head.piece_count; i++) {
    const berth_head_piece_t *piece = &w->head.pieces[i];
    if (piece->in_hole) continue;
    if (piece->place > at && !sink(user, zeros, piece->place - at)) return false;
    if (!sink(user, w->head.bytes + piece->start, piece->end - piece->start)) return false;
    at = piece->place + (piece->end - piece->start);
  }
  return at == w->head.size || sink(user, zeros, w->head.size - at);
}

berth_status_t berth_edit_write(const berth_edit_t *edit, const berth_edit_write_options_t *options,
                                berth_edit_sink_t sink, void *user, const char **error) {
  berth_writer_t w = {
      .edit = edit, .all = options != NULL && options->all, .root = berth_model_root(edit->model)};
  berth_status_t status = berth_writer_find_unused(&w);
  if (status == BERTH_OK) {
    write_model(&w);
    status = place(&w);
  }
  if (error != NULL) {
    *error = status == BERTH_ERROR_UNSUPPORTED
                 ? "a table that has to change has fields of a later schema, which cannot be copied"
             : status == BERTH_ERROR_FORMAT
                 ? "a field of a table that has to change lies outside the file"
                 : NULL;
  }
  if (status == BERTH_OK && !send_head(&w, sink, user)) status = BERTH_ERROR_CANCELLED;
  if (status == BERTH_OK) status = berth_writer_send_old(&w, sink, user);
  berth_head_free(&w.head);
  free(w.orphans);
  free(w.left);
  free(w.unused);
  return status;
}

/* ---- Into memory ------------------------------------------------------------------------------
 */

typedef struct block {
  uint8_t *data;
  uint64_t size;
  uint64_t room;
} block_t;

static bool into_block(void *user, const void *data, size_t size) {
  block_t *block = (block_t *)user;
  if (size > block->room - block->size) {
    uint64_t room = block->size + size + block->room / 2;
    uint8_t *larger = room > SIZE_MAX ? NULL : realloc(block->data, (size_t)room);
    if (larger == NULL) return false;
    block->data = larger;
    block->room = room;
  }
  if (size > 0) memcpy(block->data + block->size, data, size);
  block->size += size;
  return true;
}

berth_status_t berth_edit_bytes(const berth_edit_t *edit, const berth_edit_write_options_t *options,
                                uint8_t **data, uint64_t *size, const char **error) {
  block_t block = {NULL, 0, 0};
  berth_status_t status = berth_edit_write(edit, options, into_block, &block, error);
  if (status == BERTH_ERROR_CANCELLED) status = BERTH_ERROR_MEMORY;
  if (status == BERTH_OK) {
    *data = block.data;
    *size = block.size;
  } else {
    free(block.data);
  }
  return status;
}
