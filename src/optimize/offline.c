/* Encoding a plan as metadata. */
#include "optimize/offline.h"

#include <stdlib.h>

#define HEADER 3u /* numbers before the offsets */
#define FORMAT 1u /* version of the format; TFLM ignores it */

static void store(uint8_t *at, uint32_t value) {
  for (uint32_t i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

berth_status_t berth_offline_put(berth_edit_t *edit, const int32_t *offsets, uint32_t count) {
  uint64_t size = 4 * ((uint64_t)HEADER + count);
  if (size > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  uint8_t *bytes = malloc((size_t)size);
  if (bytes == NULL) return BERTH_ERROR_MEMORY;
  store(bytes, FORMAT);
  store(bytes + 4, edit->model->subgraph_count);
  store(bytes + 8, count);
  for (uint32_t i = 0; i < count; i++) store(bytes + 4 * (HEADER + i), (uint32_t)offsets[i]);
  berth_status_t status = berth_edit_set_metadata(edit, BERTH_OFFLINE_PLAN, bytes, size);
  free(bytes);
  return status;
}
