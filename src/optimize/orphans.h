/* Which bytes of the old file nothing refers to any more, once its changed tables are made anew.
 *
 * Every object of the file that the schema names (tables, vtables, lists, strings, data) is found
 * by walking the old model. Then the new one is walked, from the references of the head into the
 * old file: what it reaches stays. Where a table has fields that the schema doesn't name, and in
 * the operators' options, any four bytes that could be a reference are taken for one, and whatever
 * they could refer to stays as well, as a table and as a list of the widest elements. So nothing is
 * given up that any reader could find, understood or not. This is what a conservative garbage
 * collector does (Boehm & Weiser, "Garbage Collection in an Uncooperative Environment", 1988).
 */
#ifndef BERTH_OPTIMIZE_ORPHANS_H
#define BERTH_OPTIMIZE_ORPHANS_H

#include "optimize/writer.h"

/* The holes in ascending order, apart from each other; `*holes` on the heap. None, where finding
 * them takes too long, or where one place is several things at once. Errors: MEMORY. */
berth_status_t berth_orphans_find(const berth_writer_t *w, berth_hole_t **holes, uint32_t *count);

#endif
