/* A streamed plan for people and as JSON. */
#ifndef BERTH_SRC_HOST_STREAMING_PRINT_H
#define BERTH_SRC_HOST_STREAMING_PRINT_H

#include "host/json.h"
#include "host/streaming.h"

/* The runs, their rings and overlaps, and what else could have been chosen. False: out of memory.
 */
bool berth_streaming_print(const berth_streaming_t *streaming, FILE *stream);

/* The key "streaming" and its value. `order`: of the subject. */
void berth_streaming_json(const berth_streaming_t *streaming, const uint32_t *order,
                          berth_json_t *json);

#endif
