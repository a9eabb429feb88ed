/* What the files of the writer share: its state, and the steps for fields and lists of tables. */
#ifndef BERTH_OPTIMIZE_WRITER_H
#define BERTH_OPTIMIZE_WRITER_H

#include "model/fields.h"
#include "optimize/head.h"
#include "optimize/layouts.h"
#include "optimize/write.h"

typedef struct berth_writer {
  const berth_edit_t *edit;
  bool all;
  berth_table_t root;
  berth_head_t head;
  berth_hole_t *orphans; /* of the old file, before any piece went there */
  uint32_t orphan_count;
  berth_hole_t *left; /* what is left of them */
  uint32_t left_count;
  bool *unused; /* constants that only dropped tensors and replaced metadata used; NULL: none */
} berth_writer_t;

/* ---- Fields ---------------------------------------------------------------------------------- */

/* A field of a table that refers to a label. */
static inline berth_head_field_t reference(uint32_t field, uint32_t label) {
  return (berth_head_field_t){.field = field, .width = 4, .refers = true, .value = label};
}

static inline berth_head_field_t number(uint32_t field, uint32_t width, uint32_t value) {
  return (berth_head_field_t){.field = field, .width = width, .value = value};
}

static inline berth_head_field_t absent(uint32_t field) {
  return (berth_head_field_t){.field = field};
}

/* ---- Lists of tables ---------------------------------------------------------------------------
 */

static inline void berth_writer_start_list(berth_writer_t *w, uint32_t label, uint32_t count) {
  berth_head_align(&w->head, 4, 0);
  berth_head_here(&w->head, label);
  berth_head_append32(&w->head, count);
}

/* The next element of a list of tables: one of the old file's. */
static inline void berth_writer_old(berth_writer_t *w, berth_table_t table) {
  berth_head_refer(&w->head, BERTH_HEAD_OLD, table.position);
}

/* The same: one that is to be made; its label. */
static inline uint32_t berth_writer_new(berth_writer_t *w) {
  uint32_t label = berth_head_label(&w->head);
  berth_head_refer(&w->head, BERTH_HEAD_LABEL, label);
  return label;
}

/* ---- Parts -------------------------------------------------------------------------------------
 */

/* The model's list of subgraphs (write_subgraph.c), and whether it has to be made anew. */
bool berth_writer_subgraphs_changed(const berth_writer_t *w);
void berth_writer_subgraphs(berth_writer_t *w, uint32_t label);

/* Do tensors of this subgraph have other numbers than in the file? */
bool berth_writer_tensors_moved(const berth_writer_t *w, uint32_t subgraph);

/* Constants that were used and are no longer (write_unused.c). Errors: MEMORY. */
berth_status_t berth_writer_find_unused(berth_writer_t *w);

/* The old file to the sink, moved back by the head's size, with pieces of the head in its holes and
 * zeros in what is left of those (write_old.c). Errors: MEMORY, CANCELLED
 * (the sink refused). */
berth_status_t berth_writer_send_old(const berth_writer_t *w, berth_edit_sink_t sink, void *user);

#endif
