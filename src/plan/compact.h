/* A planner for the device: plain buffers, 32-bit, no memory besides the buffers themselves.
 *
 * The interpreter uses it where neither a ready plan nor a planner was given, so that planning
 * needs less memory than TFLM's does. Hosts have the planners of berth/plan.h.
 */
#ifndef BERTH_SRC_PLAN_COMPACT_H
#define BERTH_SRC_PLAN_COMPACT_H

#include "berth/status.h"
#include <stdbool.h>
#include <stdint.h>

#define BERTH_COMPACT_UNPLACED UINT32_MAX

typedef struct berth_compact {
  uint32_t size;   /* bytes, below 2^31 */
  uint32_t align;  /* of the offset, a power of two */
  uint32_t first;  /* first step in which it is live */
  uint32_t last;   /* last one */
  uint32_t offset; /* of a fixed one: given; else set by the planner */
} berth_compact_t;

/* Places the buffers from number `fixed` on around the first `fixed` ones, greedily, by the best of
 * a few orders. `*peak` is the highest end, `*lower_bound` the largest sum of sizes in one step.
 * OVERFLOW: the peak is beyond 2^31. INFEASIBLE, with `check`: two fixed ones overlap, or one is
 * misaligned. Cost: about n^2 steps for each order, n^3 at worst. */
berth_status_t berth_plan_compact(berth_compact_t *buffers, uint32_t count, uint32_t fixed,
                                  bool check, uint32_t *peak, uint32_t *lower_bound);

/* Are all offsets multiples of their alignment, and no two buffers in the same place at once? */
bool berth_plan_compact_agrees(const berth_compact_t *buffers, uint32_t count);

/* The largest sum of sizes that are live in one step. */
uint64_t berth_plan_compact_load(const berth_compact_t *buffers, uint32_t count);

/* Peak and load lower bound of a plan that agrees. */
void berth_plan_compact_measure(const berth_compact_t *buffers, uint32_t count, uint32_t *peak,
                                uint32_t *lower_bound);

/* The largest hole, at most `most` bytes below `limit`, at a multiple of `align`, that no buffer
 * but number `except` covers in the steps [first, last]. Returns its size; 0: none. */
uint32_t berth_plan_compact_hole(const berth_compact_t *buffers, uint32_t count, uint32_t except,
                                 uint32_t first, uint32_t last, uint32_t align, uint32_t limit,
                                 uint32_t most, uint32_t *offset);

#endif
