/* The old file, moved back: its bytes as they are, but for positions that count from its start, and
 * for its holes, where new pieces or zeros are. */
#include "optimize/writer.h"
#include "optimize/zip.h"

#include <stdlib.h>

/* Bytes of the old file that others take the place of. */
typedef struct patch {
  uint64_t at;
  uint64_t size;
  const uint8_t *data; /* NULL: a number, or zeros */
  uint64_t value;      /* of a number of up to 8 bytes: a position in the file */
} patch_t;

typedef struct patches {
  patch_t *items;
  uint64_t count;
  uint64_t room;
  const berth_writer_t *w;
  uint64_t distance; /* by which the file moves */
  bool failed;
} patches_t;

static void add_patch(patches_t *patches, patch_t patch) {
  if (patches->count == patches->room) {
    uint64_t room = patches->room > 0 ? 2 * patches->room : 64;
    patch_t *items = realloc(patches->items, (size_t)room * sizeof *items);
    if (items == NULL) {
      patches->failed = true;
      return;
    }
    patches->items = items;
    patches->room = room;
  }
  patches->items[patches->count++] = patch;
}

/* A number that states a position; none where nothing of the old file is left. */
static void add_position_at(patches_t *patches, uint64_t at, uint64_t value, uint32_t width) {
  const berth_writer_t *w = patches->w;
  uint32_t low = 0, high = w->orphan_count;
  while (low < high) { /* the first hole that ends behind it */
    uint32_t middle = low + (high - low) / 2;
    if (w->orphans[middle].end <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < w->orphan_count && w->orphans[low].start < at + width) return;
  add_patch(patches, (patch_t){.at = at, .size = width, .value = value + patches->distance});
}

static void on_zip_position(void *user, uint64_t at, uint32_t value) {
  patches_t *patches = (patches_t *)user;
  if (value <= UINT32_MAX - patches->distance) add_position_at(patches, at, value, 4);
}

/* A field that counts from the file's start and is in use. */
static void add_position(patches_t *patches, berth_table_t table, uint32_t field) {
  uint64_t value = flat_u64(table, field, 0);
  if (value > 1) add_position_at(patches, flat_field(table, field), value, 8);
}

static int compare_patches(const void *a, const void *b) {
  uint64_t x = ((const patch_t *)a)->at, y = ((const patch_t *)b)->at;
  return x < y ? -1 : x > y;
}

static void find_positions(const berth_writer_t *w, patches_t *patches) {
  const berth_model_t *model = w->edit->model;
  for (uint32_t i = 0; i < model->buffer_count; i++) {
    add_position(patches, flat_element(w->root, MODEL_BUFFERS, i), BUFFER_OFFSET);
  }
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    berth_table_t subgraph = flat_element(w->root, MODEL_SUBGRAPHS, s);
    uint32_t count = berth_model_subgraph(model, s).operator_count;
    for (uint32_t i = 0; i < count; i++) {
      add_position(patches, flat_element(subgraph, SUBGRAPH_OPERATORS, i),
                   OPERATOR_LARGE_OPTIONS_OFFSET);
    }
  }
  berth_zip_positions(model->data, model->size, on_zip_position, patches);
}

/* What stands in the holes. */
static void find_pieces(const berth_writer_t *w, patches_t *patches) {
  const berth_head_t *head = &w->head;
  for (uint32_t i = 0; i < head->piece_count; i++) {
    const berth_head_piece_t *piece = &head->pieces[i];
    if (!piece->in_hole || piece->start == piece->end) continue;
    add_patch(patches, (patch_t){.at = piece->place,
                                 .size = piece->end - piece->start,
                                 .data = head->bytes + piece->start});
  }
  for (uint32_t i = 0; i < w->left_count; i++) {
    if (w->left[i].start == w->left[i].end) continue;
    add_patch(patches,
              (patch_t){.at = w->left[i].start, .size = w->left[i].end - w->left[i].start});
  }
  /* The start of the old file, where it is no start any more. */
  if (head->size > 0 && head->start_is_free) add_patch(patches, (patch_t){.at = 0, .size = 8});
}

static bool send_patch(const patch_t *patch, berth_edit_sink_t sink, void *user) {
  uint8_t bytes[512] = {0};
  if (patch->data != NULL) return sink(user, patch->data, (size_t)patch->size);
  for (uint32_t k = 0; k < 8; k++) bytes[k] = (uint8_t)(patch->value >> 8 * k);
  for (uint64_t left = patch->size; left > 0;) {
    size_t part = left < sizeof bytes ? (size_t)left : sizeof bytes;
    if (!sink(user, bytes, part)) return false;
    left -= part;
  }
  return true;
}

/* The old file to the sink, with the patches in it. Tables that are shared give the same patch
 * several times. */
static bool send_file(const berth_writer_t *w, const patches_t *patches, berth_edit_sink_t sink,
                      void *user) {
  const uint8_t *file = w->edit->model->data;
  uint64_t sent = 0;
  for (uint64_t i = 0; i < patches->count; i++) {
    const patch_t *patch = &patches->items[i];
    if (patch->at < sent) continue;
    if (!sink(user, file + sent, (size_t)(patch->at - sent))) return false;
    if (!send_patch(patch, sink, user)) return false;
    sent = patch->at + patch->size;
  }
  return sink(user, file + sent, (size_t)(w->edit->model->size - sent));
}

berth_status_t berth_writer_send_old(const berth_writer_t *w, berth_edit_sink_t sink, void *user) {
  patches_t patches = {.w = w, .distance = w->head.size};
  if (w->head.size > 0) find_positions(w, &patches);
  find_pieces(w, &patches);
  if (patches.count > 0) {
    qsort(patches.items, (size_t)patches.count, sizeof *patches.items, compare_patches);
  }
  berth_status_t status = patches.failed ? BERTH_ERROR_MEMORY : BERTH_OK;
  if (status == BERTH_OK && !send_file(w, &patches, sink, user)) status = BERTH_ERROR_CANCELLED;
  free(patches.items);
  return status;
}
