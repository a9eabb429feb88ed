/* Writing the head: a growing block of bytes, references that are filled in at the end, and tables
 * that are copied field by field. Vtables are shared, as the FlatBuffers library does. */
#include "optimize/head.h"

#include <stdlib.h>

#define FIELDS_MAX 64u /* of a table that is copied; the schema's have up to 14 */

void berth_head_free(berth_head_t *head) {
  free(head->bytes);
  free(head->references);
  free(head->labels);
  free(head->pieces);
  free(head->vtables);
  memset(head, 0, sizeof *head);
}

/* The block with room for `more` elements of `size` bytes behind its `count`; NULL: the head has
 * failed, and the block stays. */
static void *reserved(berth_head_t *head, void *block, uint32_t *room, uint32_t count,
                      uint32_t more, size_t size) {
  if (head->status != BERTH_OK) return NULL;
  if (more > INT32_MAX - count) {
    head->status = BERTH_ERROR_OVERFLOW;
    return NULL;
  }
  if (block != NULL && count + more <= *room) return block;
  uint64_t wanted = 2 * (uint64_t)(count + more) + 16;
  void *larger = wanted > SIZE_MAX / size ? NULL : realloc(block, (size_t)wanted * size);
  if (larger == NULL) {
    head->status = BERTH_ERROR_MEMORY;
    return NULL;
  }
  *room = (uint32_t)wanted;
  return larger;
}

static bool reserve_label(berth_head_t *head) {
  uint32_t *labels =
      reserved(head, head->labels, &head->label_room, head->label_count, 1, sizeof *head->labels);
  if (labels != NULL) head->labels = labels;
  return labels != NULL;
}

static bool reserve_reference(berth_head_t *head) {
  berth_head_reference_t *references = reserved(head, head->references, &head->reference_room,
                                                head->reference_count, 1, sizeof *head->references);
  if (references != NULL) head->references = references;
  return references != NULL;
}

static bool reserve_piece(berth_head_t *head) {
  berth_head_piece_t *pieces =
      reserved(head, head->pieces, &head->piece_room, head->piece_count, 1, sizeof *head->pieces);
  if (pieces != NULL) head->pieces = pieces;
  return pieces != NULL;
}

static bool reserve_vtable(berth_head_t *head) {
  uint32_t *vtables = reserved(head, head->vtables, &head->vtable_room, head->vtable_count, 1,
                               sizeof *head->vtables);
  if (vtables != NULL) head->vtables = vtables;
  return vtables != NULL;
}

uint32_t berth_head_label(berth_head_t *head) {
  if (!reserve_label(head)) return 0;
  head->labels[head->label_count] = 0;
  return head->label_count++;
}

void berth_head_here(berth_head_t *head, uint32_t label) {
  if (head->status == BERTH_OK) head->labels[label] = head->size;
}

void berth_head_append(berth_head_t *head, const void *data, uint32_t size) {
  uint8_t *bytes = reserved(head, head->bytes, &head->room, head->size, size, 1);
  if (bytes == NULL) return;
  head->bytes = bytes;
  if (size == 0) return;
  if (data != NULL) {
    memcpy(head->bytes + head->size, data, size);
  } else {
    memset(head->bytes + head->size, 0, size);
  }
  head->size += size;
}

void berth_head_align(berth_head_t *head, uint32_t align, uint32_t before) {
  if (head->piece_count == 0 && reserve_piece(head)) { /* what is there already: the file's start */
    head->pieces[head->piece_count++] = (berth_head_piece_t){.start = 0, .align = 16};
  }
  if (head->status != BERTH_OK) return;
  head->pieces[head->piece_count - 1].end = head->size;
  berth_head_append(head, NULL, (0u - (head->size + before)) & (align - 1));
  if (!reserve_piece(head)) return;
  head->pieces[head->piece_count++] = (berth_head_piece_t){
      .start = head->size, .align = align, .before = before, .references = head->reference_count};
}

static void store(uint8_t *at, uint64_t value, uint32_t width) {
  for (uint32_t i = 0; i < width; i++) at[i] = (uint8_t)(value >> 8 * i);
}

void berth_head_append32(berth_head_t *head, uint32_t value) {
  uint8_t bytes[4];
  store(bytes, value, 4);
  berth_head_append(head, bytes, 4);
}

static void note(berth_head_t *head, uint32_t slot, berth_head_kind_t kind, uint64_t target) {
  if (!reserve_reference(head)) return;
  head->references[head->reference_count++] = (berth_head_reference_t){slot, kind, target};
}

void berth_head_refer(berth_head_t *head, berth_head_kind_t kind, uint64_t target) {
  note(head, head->size, kind, target);
  berth_head_append(head, NULL, 4);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A field of the table that is being made. */
typedef struct plan {
  uint32_t width; /* 0: absent */
  berth_head_kind_t kind;
  bool refers;
  uint64_t value;
} plan_t;

/* Bytes between this field and whatever comes next in the table: the most that it can have. */
static uint32_t room_of(berth_table_t table, uint32_t distance) {
  uint32_t vtable = flat_vtable(table);
  uint32_t end = flat_load16(table.file + vtable + 2);
  uint32_t count = (flat_load16(table.file + vtable) - 4) / 2;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t other = flat_load16(table.file + vtable + 4 + 2 * i);
    if (other > distance && other < end) end = other;
  }
  return end > distance ? end - distance : 0;
}

/* A field that the layout doesn't know: a number, if it has no room for a reference or what it
 * holds cannot be one (of something that has at least 4 bytes, at a multiple of 4). */
static berth_status_t plan_unknown(berth_table_t source, uint32_t at, plan_t *plan) {
  uint32_t room = room_of(source, at - source.position);
  plan->width = room >= 8 ? 8 : room >= 4 ? 4 : room >= 2 ? 2 : room;
  if (plan->width == 0 || at > source.file_size - plan->width) return BERTH_ERROR_FORMAT;
  for (uint32_t i = 0; i < plan->width; i++) {
    plan->value |= (uint64_t)source.file[at + i] << 8 * i;
  }
  if (room < 4 || at % 4 != 0) return BERTH_OK;
  uint64_t target = (uint64_t)at + flat_load32(source.file + at);
  bool reference = target >= (uint64_t)at + 4 && target + 4 <= source.file_size && target % 4 == 0;
  return reference ? BERTH_ERROR_UNSUPPORTED : BERTH_OK;
}

/* What becomes of field number `field` of the source. */
static berth_status_t plan_field(berth_table_t source, berth_head_layout_t layout, uint32_t known,
                                 uint32_t field, plan_t *plan) {
  *plan = (plan_t){.width = 0};
  uint32_t at = flat_field(source, field);
  if (at == 0) return BERTH_OK;
  if (field >= known) return plan_unknown(source, at, plan);
  char kind = layout[field];
  plan->refers = kind == 'r' || kind == 'a';
  plan->kind = kind == 'a' ? BERTH_HEAD_ABSOLUTE : BERTH_HEAD_OLD;
  plan->width = kind == 'r' ? 4 : kind == 'a' ? 8 : (uint32_t)(kind - '0');
  if (source.file_size < plan->width || at > source.file_size - plan->width) {
    return BERTH_ERROR_FORMAT;
  }
  for (uint32_t i = 0; i < plan->width; i++) {
    plan->value |= (uint64_t)source.file[at + i] << 8 * i;
  }
  if (kind == 'r') plan->value += at;
  if (kind == 'a' && plan->value <= 1) plan->refers = false; /* 0 and 1 say: not in use */
  return BERTH_OK;
}

/* Where a vtable of these bytes is already, or where it now is. */
static uint32_t share_vtable(berth_head_t *head, const uint8_t *bytes, uint32_t size) {
  for (uint32_t i = 0; i < head->vtable_count; i++) {
    uint32_t at = head->vtables[i];
    if (flat_load16(head->bytes + at) == size && memcmp(head->bytes + at, bytes, size) == 0) {
      return at;
    }
  }
  berth_head_align(head, 2, 0);
  uint32_t at = head->size;
  berth_head_append(head, bytes, size);
  if (reserve_vtable(head)) head->vtables[head->vtable_count++] = at;
  return at;
}

/* Vtable and table, the widest fields first, so that each is aligned without padding. */
static void write_table(berth_head_t *head, uint32_t label, const plan_t *plans, uint32_t count) {
  static const uint32_t widths[] = {8, 4, 2, 1};
  uint8_t vtable[4 + 2 * FIELDS_MAX] = {0};
  uint32_t distance = 4;
  bool wide = false;
  while (count > 0 && plans[count - 1].width == 0) count--;
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    for (uint32_t i = 0; i < count; i++) {
      if (plans[i].width != widths[w]) continue;
      store(vtable + 4 + 2 * i, distance, 2);
      distance += widths[w];
      if (widths[w] == 8) wide = true;
    }
  }
  store(vtable, 4 + 2 * count, 2);
  store(vtable + 2, distance, 2);
  uint32_t shared = share_vtable(head, vtable, 4 + 2 * count);
  berth_head_align(head, wide ? 8 : 4, wide ? 4 : 0);
  berth_head_here(head, label);
  uint32_t table = head->size;
  berth_head_append(head, NULL, distance);
  if (head->status != BERTH_OK) return;
  note(head, table, BERTH_HEAD_VTABLE, shared);
  for (uint32_t i = 0; i < count; i++) {
    if (plans[i].width == 0) continue;
    uint32_t slot = table + flat_load16(vtable + 4 + 2 * i);
    if (plans[i].refers) {
      note(head, slot, plans[i].kind, plans[i].value);
    } else {
      store(head->bytes + slot, plans[i].value, plans[i].width);
    }
  }
}

void berth_head_table(berth_head_t *head, uint32_t label, berth_table_t source,
                      berth_head_layout_t layout, const berth_head_field_t *fields,
                      uint32_t field_count) {
  plan_t plans[FIELDS_MAX] = {{0}};
  if (head->status != BERTH_OK) return;
  uint32_t count =
      source.position == 0 ? 0 : (flat_load16(source.file + flat_vtable(source)) - 4) / 2;
  if (count > FIELDS_MAX) {
    head->status = BERTH_ERROR_UNSUPPORTED;
    return;
  }
  uint32_t known = 0;
  while (layout[known] != '\0') known++;
  for (uint32_t i = 0; i < field_count; i++) {
    if (fields[i].field >= count) count = fields[i].field + 1;
  }
  for (uint32_t i = 0; i < count; i++) {
    const berth_head_field_t *given = NULL;
    for (uint32_t k = 0; k < field_count; k++) {
      if (fields[k].field == i) given = &fields[k];
    }
    if (given != NULL) {
      plans[i] = (plan_t){given->width, BERTH_HEAD_LABEL, given->refers, given->value};
    } else {
      head->status = plan_field(source, layout, known, i, &plans[i]);
      if (head->status != BERTH_OK) return;
    }
  }
  write_table(head, label, plans, count);
}

/* ---- References ------------------------------------------------------------------------------ */

const berth_head_piece_t *berth_head_piece(const berth_head_t *head, uint32_t position) {
  uint32_t low = 0, high = head->piece_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (head->pieces[middle].start <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &head->pieces[low];
}

/* Where a byte of the head is in the new file. */
static uint64_t place_of(const berth_head_t *head, uint32_t position) {
  const berth_head_piece_t *piece = berth_head_piece(head, position);
  uint64_t at = (uint64_t)piece->place + (position - piece->start);
  return piece->in_hole ? at + head->size : at;
}

void berth_head_resolve(berth_head_t *head) {
  for (uint32_t i = 0; i < head->reference_count; i++) {
    const berth_head_reference_t *reference = &head->references[i];
    uint8_t *slot = head->bytes + reference->slot;
    uint64_t at = place_of(head, reference->slot);
    switch (reference->kind) {
    case BERTH_HEAD_OLD:
      store(slot, reference->target + head->size - at, 4);
      break;
    case BERTH_HEAD_LABEL:
      store(slot, place_of(head, head->labels[reference->target]) - at, 4);
      break;
    case BERTH_HEAD_VTABLE:
      store(slot, at - place_of(head, (uint32_t)reference->target), 4);
      break;
    case BERTH_HEAD_ABSOLUTE:
      store(slot, reference->target + head->size, 8);
      break;
    }
  }
}
