/* Run-time arena: variable-size allocations inside one block of memory that the caller owns.
 *
 * The interpreter uses it for tensors whose size is known only at run time. Allocations are
 * offsets, not pointers, so the block may move, be shared memory or a linker section. There is no
 * header per allocation: whoever frees says how much. Free space is kept in an address-ordered list
 * inside the free space itself; neighbours coalesce, and space next to the top returns to it.
 *
 *   berth_arena_t arena;
 *   berth_arena_init(&arena, memory, sizeof memory);
 *   uint32_t offset;
 *   if (berth_arena_allocate(&arena, 1000, 16, &offset) == BERTH_OK) use(memory + offset);
 *   berth_arena_free(&arena, offset, 1000);
 */
#ifndef BERTH_ARENA_H
#define BERTH_ARENA_H

#include "berth/status.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_ARENA_GRANULE   8u         /* sizes and offsets are multiples of this many bytes */
#define BERTH_ARENA_ALIGN_MAX 4096u      /* largest alignment */
#define BERTH_NO_OFFSET       UINT32_MAX /* "no allocation" */

struct berth_arena;

/* Asked when the block is full: make it at least `bytes` large (a multiple of the granule), at the
 * same or another address with the old contents kept, and set `base` and `capacity`; or return an
 * error, which is then the allocation's. */
typedef berth_status_t (*berth_arena_grow_t)(void *user, struct berth_arena *arena, uint32_t bytes);

/* Fields are for reading, except that `base` may be set when the block has moved. */
typedef struct berth_arena {
  uint8_t *base;           /* start of the block; offsets count from here */
  uint32_t capacity;       /* bytes of the block that may be used */
  uint32_t top;            /* everything from here on is free */
  uint32_t free;           /* offset of the lowest free piece below the top, or BERTH_NO_OFFSET */
  uint32_t used;           /* bytes in allocations, rounded up to the granule */
  uint32_t high_water;     /* highest `top` since init or reset */
  berth_arena_grow_t grow; /* NULL: the block is as large as it is */
  void *grow_user;
} berth_arena_t;

/* An empty arena over `capacity` bytes (rounded down to the granule) at `base`, which is aligned to
 * the largest alignment that will be asked for. Growth is off; set `grow` to allow it. */
void berth_arena_init(berth_arena_t *arena, void *base, uint32_t capacity);

/* Frees everything and forgets the high-water mark. */
void berth_arena_reset(berth_arena_t *arena);

/* Allocates `bytes` (0 counts as 1) at a multiple of `align`, a power of two. The lowest place
 * where it fits is taken. Errors: ARGUMENT (align), MEMORY (it doesn't fit), OVERFLOW. */
berth_status_t berth_arena_allocate(berth_arena_t *arena, uint32_t bytes, uint32_t align,
                                    uint32_t *offset);

/* Frees what was allocated at `offset` with that many `bytes`. ARGUMENT if it overlaps free space
 * or lies outside; nothing is changed then. */
berth_status_t berth_arena_free(berth_arena_t *arena, uint32_t offset, uint32_t bytes);

#ifdef __cplusplus
}
#endif
#endif
