/* The run-time arena: an address-ordered free list that lives in the free space.
 *
 * Invariant: the pieces in the list are disjoint, not adjacent, in rising order, below `top`, and
 * none of them touches `top`; each holds its own size and the next one's offset. First fit by
 * address (Knuth, TAOCP vol. 1, 2.5). Cost of a call: linear in the number of free pieces.
 */
#include "berth/arena.h"
#include <stdbool.h>
#include <string.h>

typedef struct piece {
  uint32_t bytes;
  uint32_t next; /* offset of the next free piece, or BERTH_NO_OFFSET */
} piece_t;

static piece_t get(const berth_arena_t *arena, uint32_t offset) {
  piece_t piece;
  memcpy(&piece, arena->base + offset, sizeof piece);
  return piece;
}

static void put(const berth_arena_t *arena, uint32_t offset, uint32_t bytes, uint32_t next) {
  piece_t piece = {.bytes = bytes, .next = next};
  memcpy(arena->base + offset, &piece, sizeof piece);
}

/* Makes `next` follow the piece at `before`, or makes it the first one. */
static void link_after(berth_arena_t *arena, uint32_t before, uint32_t next) {
  if (before == BERTH_NO_OFFSET) {
    arena->free = next;
  } else {
    put(arena, before, get(arena, before).bytes, next);
  }
}

/* Rounds up to a power of two; false on overflow. */
static bool round_up(uint32_t value, uint32_t align, uint32_t *rounded) {
  if (value > UINT32_MAX - (align - 1)) return false;
  *rounded = (value + align - 1) & ~(align - 1);
  return true;
}

void berth_arena_init(berth_arena_t *arena, void *base, uint32_t capacity) {
  memset(arena, 0, sizeof *arena);
  arena->base = base;
  arena->capacity = capacity & ~(BERTH_ARENA_GRANULE - 1);
  arena->free = BERTH_NO_OFFSET;
}

void berth_arena_reset(berth_arena_t *arena) {
  arena->top = 0;
  arena->free = BERTH_NO_OFFSET;
  arena->used = 0;
  arena->high_water = 0;
}

/* Takes [at, at + bytes) out of the piece at `offset`, which follows the one at `before`. */
static void carve(berth_arena_t *arena, uint32_t before, uint32_t offset, uint32_t at,
                  uint32_t bytes) {
  piece_t piece = get(arena, offset);
  uint32_t next = piece.next, end = offset + piece.bytes;
  if (at + bytes < end) {
    put(arena, at + bytes, end - (at + bytes), next);
    next = at + bytes;
  }
  if (offset < at) {
    put(arena, offset, at - offset, next);
    next = offset;
  }
  link_after(arena, before, next);
}

berth_status_t berth_arena_allocate(berth_arena_t *arena, uint32_t bytes, uint32_t align,
                                    uint32_t *offset) {
  if (align == 0 || (align & (align - 1)) != 0 || align > BERTH_ARENA_ALIGN_MAX) {
    return BERTH_ERROR_ARGUMENT;
  }
  if (align < BERTH_ARENA_GRANULE) align = BERTH_ARENA_GRANULE;
  if (!round_up(bytes ? bytes : 1, BERTH_ARENA_GRANULE, &bytes)) return BERTH_ERROR_OVERFLOW;

  uint32_t before = BERTH_NO_OFFSET, at = 0;
  for (uint32_t i = arena->free; i != BERTH_NO_OFFSET; i = get(arena, i).next) {
    piece_t piece = get(arena, i);
    if (round_up(i, align, &at) && at - i <= piece.bytes && piece.bytes - (at - i) >= bytes) {
      carve(arena, before, i, at, bytes);
      arena->used += bytes;
      *offset = at;
      return BERTH_OK;
    }
    before = i;
  }

  /* Above everything: `before` is now the last free piece. */
  if (!round_up(arena->top, align, &at) || at > UINT32_MAX - bytes) return BERTH_ERROR_OVERFLOW;
  if (at + bytes > arena->capacity) {
    if (arena->grow == NULL) return BERTH_ERROR_MEMORY;
    berth_status_t status = arena->grow(arena->grow_user, arena, at + bytes);
    if (status != BERTH_OK) return status;
    if (at + bytes > arena->capacity) return BERTH_ERROR_MEMORY;
  }
  if (at > arena->top) {
    put(arena, arena->top, at - arena->top, BERTH_NO_OFFSET);
    link_after(arena, before, arena->top);
  }
  arena->top = at + bytes;
  if (arena->top > arena->high_water) arena->high_water = arena->top;
  arena->used += bytes;
  *offset = at;
  return BERTH_OK;
}

berth_status_t berth_arena_free(berth_arena_t *arena, uint32_t offset, uint32_t bytes) {
  if (!round_up(bytes ? bytes : 1, BERTH_ARENA_GRANULE, &bytes)) return BERTH_ERROR_ARGUMENT;
  if (offset % BERTH_ARENA_GRANULE != 0 || offset > arena->top || bytes > arena->top - offset) {
    return BERTH_ERROR_ARGUMENT;
  }

  /* The free pieces around it. */
  uint32_t before_before = BERTH_NO_OFFSET, before = BERTH_NO_OFFSET, after = arena->free;
  while (after != BERTH_NO_OFFSET && after <= offset) {
    before_before = before;
    before = after;
    after = get(arena, after).next;
  }
  if (after != BERTH_NO_OFFSET && after < offset + bytes) return BERTH_ERROR_ARGUMENT;
  if (before != BERTH_NO_OFFSET && before + get(arena, before).bytes > offset) {
    return BERTH_ERROR_ARGUMENT;
  }

  arena->used -= bytes;
  uint32_t start = offset, end = offset + bytes;
  if (after == end) {
    piece_t piece = get(arena, after);
    end += piece.bytes;
    after = piece.next;
  }
  if (before != BERTH_NO_OFFSET && before + get(arena, before).bytes == start) {
    start = before;
    before = before_before;
  }
  if (end == arena->top) {
    arena->top = start;
    link_after(arena, before, BERTH_NO_OFFSET);
  } else {
    put(arena, start, end - start, after);
    link_after(arena, before, start);
  }
  return BERTH_OK;
}
