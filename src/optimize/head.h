/* A piece of FlatBuffer that goes in front of an existing one and refers into it.
 *
 * A FlatBuffer's references only point forward, from a table to what it contains. New tables can
 * therefore stand before an old file and refer to any part of it, wherever that is, while the old
 * file's own references, being relative, stay true when the whole file moves back. `write.c` makes
 * a model's changed tables that way.
 *
 * References are noted while the head grows and resolved when its size is known. Running out of
 * memory, and a table that cannot be copied, are remembered in `status`, so that only the end needs
 * a check.
 */
#ifndef BERTH_OPTIMIZE_HEAD_H
#define BERTH_OPTIMIZE_HEAD_H

#include "model/flatbuffer.h"

/* What a reference points to. */
typedef enum berth_head_kind {
  BERTH_HEAD_OLD,     /* the byte `target` of the old file */
  BERTH_HEAD_LABEL,   /* the label `target` of the head */
  BERTH_HEAD_ABSOLUTE /* 64 bits: the byte `target` of the old file, counted from the new's start */
} berth_head_kind_t;

typedef struct berth_head_reference {
  uint32_t slot; /* where in the head it stands */
  berth_head_kind_t kind;
  uint64_t target;
} berth_head_reference_t;

typedef struct berth_head {
  uint8_t *bytes;
  uint32_t size;
  uint32_t room;
  berth_head_reference_t *references;
  uint32_t reference_count;
  uint32_t reference_room;
  uint32_t *labels; /* position of each label */
  uint32_t label_count;
  uint32_t label_room;
  uint32_t *vtables; /* positions of vtables, to be shared */
  uint32_t vtable_count;
  uint32_t vtable_room;
  berth_status_t status; /* MEMORY, OVERFLOW, FORMAT, or UNSUPPORTED: see berth_head_table */
} berth_head_t;

void berth_head_free(berth_head_t *head);

/* A name for a place that will be there later, with berth_head_here. */
uint32_t berth_head_label(berth_head_t *head);

/* The label is here, at the next byte that is written. */
void berth_head_here(berth_head_t *head, uint32_t label);

/* Appends zeros until the next byte but `before` is at a multiple of `align`. */
void berth_head_align(berth_head_t *head, uint32_t align, uint32_t before);

/* Appends bytes (zeros if `data` is NULL). */
void berth_head_append(berth_head_t *head, const void *data, uint32_t size);
void berth_head_append32(berth_head_t *head, uint32_t value);

/* Appends a reference of 32 bits. */
void berth_head_refer(berth_head_t *head, berth_head_kind_t kind, uint64_t target);

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A field of a new table. */
typedef struct berth_head_field {
  uint32_t field;
  uint32_t width; /* bytes of a number; 4 for a reference; 0: the field is left out */
  bool refers;    /* to the label `value` */
  uint64_t value;
} berth_head_field_t;

/* How the fields of a table are stored, a character each: '1', '2', '4', '8' a number of so many
 * bytes, 'r' a reference, 'a' a position in the file, counted from its start (8 bytes). */
typedef const char *berth_head_layout_t;

/* Appends a table under `label`: a copy of `source` (position 0: of an empty one), but with
 * `fields` instead of its own.
 *
 * What `source` has beyond its layout, from a later schema, is copied if it can only be a number;
 * if it could be a reference as well, a copy might point elsewhere, and the head's status becomes
 * UNSUPPORTED. A field that leaves the file makes it FORMAT. */
void berth_head_table(berth_head_t *head, uint32_t label, berth_table_t source,
                      berth_head_layout_t layout, const berth_head_field_t *fields,
                      uint32_t field_count);

/* Appends padding, so that the old file can follow at a multiple of 16, and fills the references
 * in. Returns `status`. */
berth_status_t berth_head_finish(berth_head_t *head);

#endif
