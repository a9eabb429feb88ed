/* The ZIP archive that metadata writers append to a model for its label files and the like.
 *
 * Its directory names positions counted from the start of the file, so it has to be told when the
 * file in front of it grows. Used by the writer.
 */
#ifndef BERTH_OPTIMIZE_ZIP_H
#define BERTH_OPTIMIZE_ZIP_H

#include "berth/status.h"
#include <stdint.h>

/* Called for each 32-bit position in the archive: where it stands, and what it says. */
typedef void (*berth_zip_position_t)(void *user, uint64_t at, uint32_t value);

/* Calls `position` for each position that the archive at the end of a file states. None, if there
 * is no archive, if it is damaged or of the 64-bit kind, or if it counts from its own start
 * already: such a one means the same after a move. Reads the end of the file only. */
void berth_zip_positions(const uint8_t *file, uint64_t size, berth_zip_position_t position,
                         void *user);

#endif
