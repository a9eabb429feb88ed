/* A piece of FlatBuffer that goes in front of an existing one and refers into it.
 *
 * A FlatBuffer's references only point forward, from a table to what it contains. New tables can
 * therefore stand before an old file and refer to any part of it, wherever that is, while the old
 * file's own references, being relative, stay true when the whole file moves back. `write.c` makes
 * a model's changed tables that way.
 *
 * Where the old file has holes, which nothing refers to any more, pieces of the head go there
 * instead, if all that they refer to lies behind them (place.c). What is left stands in front.
 *
 * References are noted while the head grows and resolved when all places are known. Running out of
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
  BERTH_HEAD_VTABLE,  /* the byte `target` of the head, counted backwards: a table's vtable */
  BERTH_HEAD_ABSOLUTE /* 64 bits: the byte `target` of the old file, counted from the new's start */
} berth_head_kind_t;

typedef struct berth_head_reference {
  uint32_t slot; /* where in the head it stands */
  berth_head_kind_t kind;
  uint64_t target;
} berth_head_reference_t;

/* What must stay together: a table, a vtable, a list, ... */
typedef struct berth_head_piece {
  uint32_t start, end; /* in the head, as it was made */
  uint32_t align;      /* the byte `before` bytes behind its start lies at a multiple of it */
  uint32_t before;
  uint32_t references; /* number of its first reference; its last one is before the next piece's */
  bool in_hole;
  uint32_t place; /* of its first byte, in the old file or in the head as it will be */
} berth_head_piece_t;

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
  berth_head_piece_t *pieces; /* the first one is the file's start */
  uint32_t piece_count;
  uint32_t piece_room;
  bool start_is_free; /* the old file's first 8 bytes can be the first piece's */
  uint32_t *vtables;  /* positions of vtables, to be shared */
  uint32_t vtable_count;
  uint32_t vtable_room;
  berth_status_t status; /* MEMORY, OVERFLOW, FORMAT, or UNSUPPORTED: see berth_head_table */
} berth_head_t;

void berth_head_free(berth_head_t *head);

/* A name for a place that will be there later, with berth_head_here. */
uint32_t berth_head_label(berth_head_t *head);

/* The label is here, at the next byte that is written. */
void berth_head_here(berth_head_t *head, uint32_t label);

/* Begins a new piece. Appends zeros until the next byte but `before` is at a multiple of `align`.
 */
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

/* ---- The end --------------------------------------------------------------------------------- */

/* Bytes [start, end) of the old file that nothing refers to. */
typedef struct berth_hole {
  uint32_t start, end;
} berth_hole_t;

/* Finds a place for every piece (place.c): in the holes, which are in ascending order, or in front.
 * The holes shrink to what is left of them; `*holes` may be another block then. Sets `size` to the
 * bytes in front, a multiple of 16: none, if all pieces are in holes and `start_is_free`; the first
 * one then takes the old file's first 8 bytes, which no hole must hold. Returns `status`. */
berth_status_t berth_head_place(berth_head_t *head, berth_hole_t **holes, uint32_t *hole_count);

/* The piece that a byte of the head, as it was made, belongs to. */
const berth_head_piece_t *berth_head_piece(const berth_head_t *head, uint32_t position);

/* Fills the references in, once all pieces have their places. */
void berth_head_resolve(berth_head_t *head);

#endif
