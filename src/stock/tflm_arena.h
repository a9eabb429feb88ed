/* TFLM's arena, without any memory behind it: how much would have been needed by now?
 *
 * SingleArenaBufferAllocator fills the arena from both ends: persistent data from the end, and from
 * the start first one resizable buffer (the head), behind it temporary memory, which never shrinks
 * but is all dropped at once. The arena's size does not matter for where things go as long as it is
 * a multiple of 16, no alignment being larger; so both ends are counted from their own side, and an
 * arena is large enough if the two sides never met: `needed` is the largest sum of both there was.
 */
#ifndef BERTH_SRC_STOCK_TFLM_ARENA_H
#define BERTH_SRC_STOCK_TFLM_ARENA_H

#include "plan/round.h"

#define BERTH_TFLM_ALIGN 16u /* of buffers in the head, and of what kernels allocate */

typedef struct berth_tflm_arena {
  uint64_t head;   /* bytes of the resizable buffer */
  uint64_t temp;   /* bytes from the start to the end of the temporary memory; at least `head` */
  uint64_t tail;   /* persistent bytes, from the end */
  uint64_t needed; /* least bytes with which all went well so far */
} berth_tflm_arena_t;

static inline void berth_tflm_arena_meet(berth_tflm_arena_t *arena) {
  uint64_t low = arena->temp > arena->head ? arena->temp : arena->head;
  if (low + arena->tail > arena->needed) arena->needed = low + arena->tail;
}

/* Takes persistent memory; how many bytes with the padding. */
static inline uint64_t berth_tflm_arena_keep(berth_tflm_arena_t *arena, uint64_t size,
                                             uint64_t align) {
  uint64_t before = arena->tail;
  arena->tail = berth_round_up(before + size, align);
  berth_tflm_arena_meet(arena);
  return arena->tail - before;
}

/* Takes temporary memory. */
static inline void berth_tflm_arena_borrow(berth_tflm_arena_t *arena, uint64_t size,
                                           uint64_t align) {
  arena->temp = berth_round_up(arena->temp, align) + size;
  berth_tflm_arena_meet(arena);
}

/* Drops all temporary memory and makes the head `size` bytes large. */
static inline void berth_tflm_arena_resize(berth_tflm_arena_t *arena, uint64_t size) {
  arena->head = arena->temp = size;
  berth_tflm_arena_meet(arena);
}

#endif
