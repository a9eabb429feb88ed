/* Writes an edited model as a .tflite file: the tables that changed in front, or in the holes that
 * they leave, and the old file behind.
 *
 * Only what was edited, and the tables on the way to it from the root, are made anew. Everything
 * else is the old file, byte for byte, moved back by a multiple of 16 bytes (often none); changed
 * in it are only those bytes that state positions from the file's start: of constants and custom
 * options outside the FlatBuffer, and in the directory of a ZIP archive behind it; and those that
 * nothing refers to any more, where new tables or zeros are (orphans.h). Nothing has to be
 * understood to be kept. Constants stay as aligned as they were, and new ones are aligned to 16.
 * Without any edit the result is the old file.
 *
 * Deterministic: the same edit gives the same bytes.
 */
#ifndef BERTH_OPTIMIZE_WRITE_H
#define BERTH_OPTIMIZE_WRITE_H

#include "optimize/edit.h"

/* Takes the file's next bytes; false: they cannot be written. */
typedef bool (*berth_edit_sink_t)(void *user, const void *data, size_t size);

typedef struct berth_edit_write_options {
  bool all; /* make every table of operators, tensors and subgraphs anew, changed or not: for tests
             */
} berth_edit_write_options_t;

/* Writes the file piece by piece, without holding it in memory; `options` may be NULL. `*error`
 * (may be NULL) is a static phrase on FORMAT and UNSUPPORTED. Errors: MEMORY, OVERFLOW (the
 * FlatBuffer would exceed 2^31 - 1 bytes), UNSUPPORTED (a table that has to be made anew has fields
 * of a later schema that may be references), FORMAT (a field of such a table lies outside the
 * file), CANCELLED (the sink refused). */
berth_status_t berth_edit_write(const berth_edit_t *edit, const berth_edit_write_options_t *options,
                                berth_edit_sink_t sink, void *user, const char **error);

/* The same into a block on the heap, which the caller frees. */
berth_status_t berth_edit_bytes(const berth_edit_t *edit, const berth_edit_write_options_t *options,
                                uint8_t **data, uint64_t *size, const char **error);

#endif
