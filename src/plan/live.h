/* The buffers that have been placed so far, found by when they are live.
 *
 * Used by every planner that places one buffer after the other and has to know which placed ones it
 * could collide with. A tree over the buffers in order of their first step, whose nodes know the
 * latest last step of the placed buffers below them (an interval tree, Cormen et al. 1990, laid out
 * like a heap): placing is O(log n), collecting k buffers is O(k log n) at most and O(k) mostly.
 */
#ifndef BERTH_SRC_PLAN_LIVE_H
#define BERTH_SRC_PLAN_LIVE_H

#include "berth/plan.h"
#include "plan/workspace.h"

typedef struct berth_live {
  const berth_buffer_t *buffers;
  uint32_t count;
  uint32_t leaves;  /* a power of two, at least `count` */
  uint32_t *order;  /* buffers by first step: leaf -> buffer */
  uint32_t *leaf;   /* buffer -> leaf */
  uint32_t *latest; /* of each node: 1 + the latest last step of the placed below it, or 0 */
} berth_live_t;

/* Takes the arrays from `memory`; they may be used once its status is OK. */
void berth_live_lay_out(berth_live_t *live, const berth_problem_t *problem,
                        berth_workspace_t *memory);

/* Sorts the buffers; none is placed. `spare` holds as many elements as there are buffers. */
void berth_live_prepare(berth_live_t *live, uint32_t *spare);

/* None is placed any more. */
void berth_live_clear(berth_live_t *live);

/* Buffer `i` is placed now. */
void berth_live_place(berth_live_t *live, uint32_t i);

/* Buffer `i` is not placed any more. */
void berth_live_remove(berth_live_t *live, uint32_t i);

/* Writes the placed buffers that are live in one of the steps first..last to `found`, in order of
 * their first step, and returns how many there are. */
uint32_t berth_live_collect(const berth_live_t *live, uint32_t first, uint32_t last,
                            uint32_t *found);

#endif
