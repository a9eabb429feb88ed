/* Greedy planning without memory of its own: the next buffer in an order is found by looking at all
 * of them, and its offset by moving up past whatever is in its way (first fit). Orders: by size and
 * by size times lifetime (Pisarchyk & Lee, 2020), and by the load of the buffers' busiest step; the
 * lowest peak wins, and the search stops at the lower bound.
 */
#include "plan/compact.h"
#include "plan/round.h"
#include <stddef.h>

#define MOST 0x7fffffffu

#define FEW 512u /* buffers up to which the costliest order is tried */

typedef enum order { BY_SIZE, BY_AREA, BY_LOAD, ORDERS } order_t;

/* Are both live in some step? What has no bytes meets nobody. */
static bool meet(const berth_compact_t *a, const berth_compact_t *b) {
  return a->first <= b->last && b->first <= a->last && a->size > 0 && b->size > 0;
}

/* Sum of the sizes that are live in a step. */
static uint64_t load_at(const berth_compact_t *buffers, uint32_t count, uint32_t step) {
  uint64_t load = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (buffers[i].first <= step && step <= buffers[i].last) load += buffers[i].size;
  }
  return load;
}

/* It is reached where some buffer begins. */
uint64_t berth_plan_compact_load(const berth_compact_t *buffers, uint32_t count) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t load = load_at(buffers, count, buffers[i].first);
    if (load > most) most = load;
  }
  return most;
}

static uint64_t weight(const berth_compact_t *buffers, uint32_t count, uint32_t i, order_t order) {
  const berth_compact_t *buffer = &buffers[i];
  switch (order) {
  case BY_AREA:
    return (uint64_t)buffer->size * (buffer->last - buffer->first + 1u);
  case BY_LOAD: {
    uint64_t a = load_at(buffers, count, buffer->first);
    uint64_t b = load_at(buffers, count, buffer->last);
    return a > b ? a : b;
  }
  default:
    return buffer->size;
  }
}

/* The unplaced buffer that comes next, or `count`. */
static uint32_t next_in(const berth_compact_t *buffers, uint32_t count, order_t order) {
  uint32_t best = count;
  uint64_t most = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (buffers[i].offset != BERTH_COMPACT_UNPLACED) continue;
    uint64_t w = weight(buffers, count, i, order);
    bool heavier = best == count || w > most || (w == most && buffers[i].size > buffers[best].size);
    if (!heavier) continue;
    best = i;
    most = w;
  }
  return best;
}

/* The lowest offset at which buffer `i` hits nothing that is placed. */
static uint64_t first_fit(const berth_compact_t *buffers, uint32_t count, uint32_t i) {
  const berth_compact_t *buffer = &buffers[i];
  uint64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (uint32_t k = 0; k < count; k++) {
      const berth_compact_t *other = &buffers[k];
      if (k == i || other->offset == BERTH_COMPACT_UNPLACED || !meet(buffer, other)) continue;
      uint64_t end = (uint64_t)other->offset + other->size;
      if (offset < end && other->offset < offset + buffer->size) {
        offset = berth_round_up(end, buffer->align);
        moved = true;
      }
    }
  }
  return offset;
}

/* Places all but the fixed ones; the peak, or UINT64_MAX if it is out of range. */
static uint64_t place_all(berth_compact_t *buffers, uint32_t count, uint32_t fixed, order_t order) {
  uint64_t peak = 0;
  for (uint32_t i = fixed; i < count; i++) buffers[i].offset = BERTH_COMPACT_UNPLACED;
  for (uint32_t i = 0; i < fixed; i++) {
    uint64_t end = (uint64_t)buffers[i].offset + buffers[i].size;
    if (buffers[i].size > 0 && end > peak) peak = end;
  }
  for (uint32_t n = fixed; n < count; n++) {
    uint32_t i = next_in(buffers, count, order);
    uint64_t offset = first_fit(buffers, count, i);
    uint64_t end = offset + buffers[i].size;
    if (end > MOST) return UINT64_MAX;
    buffers[i].offset = (uint32_t)offset;
    if (end > peak) peak = end;
  }
  return peak;
}

bool berth_plan_compact_agrees(const berth_compact_t *buffers, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const berth_compact_t *a = &buffers[i];
    if (a->offset % a->align != 0) return false;
    for (uint32_t k = 0; k < i; k++) {
      const berth_compact_t *b = &buffers[k];
      if (meet(a, b) && a->offset < (uint64_t)b->offset + b->size &&
          b->offset < (uint64_t)a->offset + a->size) {
        return false;
      }
    }
  }
  return true;
}

void berth_plan_compact_measure(const berth_compact_t *buffers, uint32_t count, uint32_t *peak,
                                uint32_t *lower_bound) {
  uint64_t bound = berth_plan_compact_load(buffers, count);
  *peak = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t end = buffers[i].offset + buffers[i].size;
    if (buffers[i].size > 0 && end > *peak) *peak = end;
  }
  *lower_bound = bound > MOST ? MOST : (uint32_t)bound;
}

berth_status_t berth_plan_compact(berth_compact_t *buffers, uint32_t count, uint32_t fixed,
                                  bool check, uint32_t *peak, uint32_t *lower_bound) {
  if (check && !berth_plan_compact_agrees(buffers, fixed)) return BERTH_INFEASIBLE;
  uint64_t bound = berth_plan_compact_load(buffers, count), best = UINT64_MAX;
  order_t winner = BY_SIZE, last = BY_SIZE;
  for (int order = 0; order < ORDERS && best > bound; order++) {
    if (order == BY_LOAD && count > FEW) break;
    uint64_t reached = place_all(buffers, count, fixed, (order_t)order);
    last = (order_t)order;
    if (reached >= best) continue;
    best = reached;
    winner = last;
  }
  if (best > MOST) return BERTH_ERROR_OVERFLOW;
  if (winner != last) place_all(buffers, count, fixed, winner);
  *peak = (uint32_t)best;
  *lower_bound = (uint32_t)bound;
  return BERTH_OK;
}

uint32_t berth_plan_compact_hole(const berth_compact_t *buffers, uint32_t count, uint32_t except,
                                 uint32_t first, uint32_t last, uint32_t align, uint32_t limit,
                                 uint32_t most, uint32_t *offset) {
  uint32_t best = 0;
  berth_compact_t all = {.size = 1, .first = first, .last = last};
  uint64_t start = 0;
  while (start < limit && best < most) {
    /* From `start`, which is free or covered: the next free place, and where it ends. */
    uint64_t end = limit;
    bool covered = false;
    for (uint32_t i = 0; i < count; i++) {
      const berth_compact_t *buffer = &buffers[i];
      uint64_t buffer_end = (uint64_t)buffer->offset + buffer->size;
      if (i == except || !meet(&all, buffer)) continue;
      if (buffer->offset <= start && start < buffer_end) {
        start = berth_round_up(buffer_end, align);
        covered = true;
        break;
      }
      if (buffer->offset > start && buffer->offset < end) end = buffer->offset;
    }
    if (covered) continue;
    if (end > start && end - start > best) {
      best = (uint32_t)(end - start);
      *offset = (uint32_t)start;
    }
    start = berth_round_up(end > start ? end : start + 1, align);
  }
  return best < most ? best : most;
}
