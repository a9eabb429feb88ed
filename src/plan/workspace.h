/* Carves arrays out of the one block of memory that a caller gives.
 *
 * Used by every planner. One layout function both measures and carves, so the two cannot disagree:
 * over no memory at all, each take returns NULL and only adds up. Every array is aligned for 64-bit
 * numbers and takes a multiple of 8 bytes.
 */
#ifndef BERTH_SRC_PLAN_WORKSPACE_H
#define BERTH_SRC_PLAN_WORKSPACE_H

#include "berth/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct berth_workspace {
  unsigned char *base; /* NULL: only measure */
  size_t size;         /* bytes there are */
  size_t used;         /* bytes taken so far, a multiple of 8 */
  bool overflow;       /* more was asked for than a size_t can say */
} berth_workspace_t;

static inline berth_workspace_t berth_workspace_over(void *memory, size_t bytes) {
  berth_workspace_t workspace = {(unsigned char *)memory, memory != NULL ? bytes : 0, 0, false};
  return workspace;
}

static inline berth_workspace_t berth_workspace_measure(void) {
  return berth_workspace_over(NULL, 0);
}

/* `count` elements of `element` bytes, not initialised; NULL when measuring or when it is too
 * much, which berth_workspace_status tells apart. */
static inline void *berth_workspace_take(berth_workspace_t *workspace, size_t count,
                                         size_t element) {
  if (element != 0 && count > (SIZE_MAX - 7) / element) {
    workspace->overflow = true;
    return NULL;
  }
  size_t bytes = (count * element + 7) & ~(size_t)7;
  if (bytes > SIZE_MAX - workspace->used) {
    workspace->overflow = true;
    return NULL;
  }
  size_t start = workspace->used;
  workspace->used += bytes;
  return workspace->base != NULL && workspace->used <= workspace->size ? workspace->base + start
                                                                       : NULL;
}

/* After the last take: OVERFLOW, MEMORY (none, too small or misaligned) or OK. */
static inline berth_status_t berth_workspace_status(const berth_workspace_t *workspace) {
  if (workspace->overflow) return BERTH_ERROR_OVERFLOW;
  if (workspace->base == NULL) return workspace->used == 0 ? BERTH_OK : BERTH_ERROR_MEMORY;
  if ((uintptr_t)workspace->base % _Alignof(uint64_t) != 0) return BERTH_ERROR_MEMORY;
  return workspace->used <= workspace->size ? BERTH_OK : BERTH_ERROR_MEMORY;
}

/* The end of measuring: the bytes needed, or OVERFLOW and `*bytes` untouched. */
static inline berth_status_t berth_workspace_needed(const berth_workspace_t *workspace,
                                                    size_t *bytes) {
  if (workspace->overflow) return BERTH_ERROR_OVERFLOW;
  *bytes = workspace->used;
  return BERTH_OK;
}

#endif
