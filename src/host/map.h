/* Files in memory: mapped read-only, so that the system reads a page when it is first touched.
 * Opening a model this way costs the pages of its tables, not of its weights.
 */
#ifndef BERTH_HOST_MAP_H
#define BERTH_HOST_MAP_H

#include "berth/model.h"

#define BERTH_HOST_MESSAGE 256 /* bytes of a message, with its NUL; longer ones are cut */

typedef struct berth_host_map {
  const uint8_t *data; /* never written; NULL if nothing is mapped */
  uint64_t size;
} berth_host_map_t;

/* Maps a regular file until berth_host_unmap. Errors: ARGUMENT (it cannot be opened, is empty or no
 * regular file), OVERFLOW (too large for the address space); `message` (may be NULL) then says why,
 * without the path. */
berth_status_t berth_host_map(const char *path, berth_host_map_t *map,
                              char message[BERTH_HOST_MESSAGE]);

/* Ends the mapping. Nothing happens if nothing is mapped. */
void berth_host_unmap(berth_host_map_t *map);

/* Maps a file and opens the model in it; both stay until berth_host_unmap. Errors: as above, and
 * FORMAT. */
berth_status_t berth_host_open_model(const char *path, berth_host_map_t *map, berth_model_t *model,
                                     char message[BERTH_HOST_MESSAGE]);

/* "tensor name reaches beyond the end of the file (byte 1234, subgraph 0, tensor 5)". */
void berth_host_model_message(const berth_model_error_t *error, char message[BERTH_HOST_MESSAGE]);

#endif
