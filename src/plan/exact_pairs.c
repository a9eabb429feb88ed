/* Branch and bound over the order of conflicting buffers, for problems with pairs.
 *
 * Two buffers that are live together give a disjunction: the one lies above the other, or the other
 * way round. With HEAD and TAIL pairs the distance may be less than a size, with OVER pairs it may
 * be none at all, a third way, and with SHARE pairs it holds between groups. This is the
 * disjunctive graph of shop scheduling (Roy & Sussmann 1964): once every disjunction is decided,
 * the lowest offsets are the longest paths. Bounds on all offsets are propagated; a disjunction of
 * which one way is left decides itself; what the lowest offsets violate is branched on, the
 * tightest first, and a node where they violate nothing is a plan. Only conflicts of groups whose
 * bounds have changed are looked at; a trail of limited length leads back. Cost of a node:
 * O(conflicts), and those of each group that changes.
 */
#include "plan/exact_pairs.h"
#include <string.h>

enum { FREE, UP, DOWN, SAME };

/* ---- Bounds --------------------------------------------------------------------------------- */

/* Before a group's bounds change: notes them for the way back, once for each choice. If there is no
 * room, what was noted is forgotten, and whoever goes back that far begins anew. */
static void note(berth_pairs_t *pairs, uint32_t group) {
  if (!pairs->queued[group]) {
    pairs->queued[group] = true;
    pairs->queue[pairs->queue_count++] = group;
  }
  if (pairs->noted[group] == pairs->turn) return;
  pairs->noted[group] = pairs->turn;
  if (pairs->trail_count == pairs->trail_room) {
    pairs->trail_count = 0;
    pairs->forgotten = pairs->choice_count;
  }
  pairs->trail[pairs->trail_count++] =
      (berth_pairs_change_t){pairs->lowest[group], pairs->highest[group], group};
}

/* Raises the lowest offset of `group`, which may be negative or beyond. */
static bool raise(berth_pairs_t *pairs, uint32_t group, int64_t offset) {
  if (offset <= pairs->lowest[group]) return true;
  if (offset > pairs->highest[group]) return false;
  int64_t align = pairs->align[group], over = offset % align;
  if (over != 0) {
    if (align - over > pairs->highest[group] - offset) return false;
    offset += align - over;
  }
  note(pairs, group);
  pairs->lowest[group] = offset;
  return true;
}

static bool lower(berth_pairs_t *pairs, uint32_t group, int64_t offset) {
  if (offset >= pairs->highest[group]) return true;
  if (offset < pairs->lowest[group]) return false;
  note(pairs, group);
  pairs->highest[group] = offset - offset % pairs->align[group];
  return pairs->highest[group] >= pairs->lowest[group];
}

/* Keeps `high` at least `distance` above `low`. */
static bool keep_apart(berth_pairs_t *pairs, uint32_t low, uint32_t high, int64_t distance) {
  return raise(pairs, high, pairs->lowest[low] + distance) &&
         lower(pairs, low, pairs->highest[high] - distance);
}

/* Gives both the same offset. */
static bool unite(berth_pairs_t *pairs, uint32_t a, uint32_t b) {
  return keep_apart(pairs, a, b, 0) && keep_apart(pairs, b, a, 0);
}

static bool may_unite(const berth_pairs_t *pairs, const berth_conflict_t *c) {
  return c->over && pairs->lowest[c->below] <= pairs->highest[c->above] &&
         pairs->lowest[c->above] <= pairs->highest[c->below];
}

/* ---- Propagation ----------------------------------------------------------------------------- */

static bool propagate_one(berth_pairs_t *pairs, uint32_t k) {
  const berth_conflict_t *c = &pairs->conflicts[k];
  uint8_t order = pairs->order[k];
  bool up =
      (order == FREE || order == UP) && pairs->lowest[c->below] + c->up <= pairs->highest[c->above];
  bool down = (order == FREE || order == DOWN) &&
              pairs->lowest[c->above] + c->down <= pairs->highest[c->below];
  bool same = (order == FREE || order == SAME) && may_unite(pairs, c);
  if (up + down + same > 1) return true;
  if (up) return keep_apart(pairs, c->below, c->above, c->up);
  if (down) return keep_apart(pairs, c->above, c->below, c->down);
  if (same) return unite(pairs, c->below, c->above);
  return false;
}

/* Looks at the conflicts of every group whose bounds have changed. False: there is no plan. */
static bool propagate(berth_pairs_t *pairs) {
  bool fits = true;
  while (fits && pairs->queue_count > 0) {
    uint32_t group = pairs->queue[--pairs->queue_count];
    pairs->queued[group] = false;
    uint32_t end = pairs->begin[group + 1];
    pairs->work += end - pairs->begin[group];
    for (uint32_t i = pairs->begin[group]; i < end && fits; i++) {
      fits = propagate_one(pairs, pairs->incident[i]);
    }
  }
  while (pairs->queue_count > 0) pairs->queued[pairs->queue[--pairs->queue_count]] = false;
  return fits;
}

/* All bounds anew, from the capacity and what is decided. */
static bool begin_anew(berth_pairs_t *pairs, int64_t capacity) {
  pairs->trail_count = 0;
  pairs->forgotten = pairs->choice_count;
  pairs->turn++;
  for (uint32_t i = 0; i < pairs->problem->buffer_count; i++) {
    pairs->queued[i] = false;
    if (pairs->group[i] != i) continue;
    int64_t room = capacity - pairs->size[i];
    if (pairs->size[i] == 0) room = INT64_MAX / 2;
    if (room < 0 || pairs->fixed[i] > room) return false;
    bool fixed = pairs->fixed[i] >= 0;
    pairs->lowest[i] = fixed ? pairs->fixed[i] : 0;
    pairs->highest[i] = fixed ? pairs->fixed[i] : room - room % pairs->align[i];
  }
  pairs->work += pairs->conflict_count;
  for (uint32_t k = 0; k < pairs->conflict_count; k++) {
    if (propagate_one(pairs, k)) continue;
    while (pairs->queue_count > 0) pairs->queued[pairs->queue[--pairs->queue_count]] = false;
    return false;
  }
  return propagate(pairs);
}

/* ---- The search ------------------------------------------------------------------------------ */

/* The tightest of the conflicts that the lowest offsets violate, or conflict_count. */
static uint32_t find_violated(berth_pairs_t *pairs) {
  uint32_t tightest = pairs->conflict_count;
  int64_t least = INT64_MAX;
  pairs->work += pairs->conflict_count / 8 + 1;
  for (uint32_t k = 0; k < pairs->conflict_count; k++) {
    const berth_conflict_t *c = &pairs->conflicts[k];
    int64_t distance = pairs->lowest[c->above] - pairs->lowest[c->below];
    if (distance >= c->up || -distance >= c->down || (distance == 0 && c->over)) continue;
    int64_t up = pairs->highest[c->above] - pairs->lowest[c->below] - c->up;
    int64_t down = pairs->highest[c->below] - pairs->lowest[c->above] - c->down;
    int64_t slack = up < down ? up : down;
    if (slack < least) {
      least = slack;
      tightest = k;
    }
  }
  return tightest;
}

/* To coincide, where that is permitted; else the way that leaves more room. */
static uint8_t first_way(const berth_pairs_t *pairs, uint32_t k) {
  const berth_conflict_t *c = &pairs->conflicts[k];
  if (c->over) return SAME;
  int64_t up = pairs->highest[c->above] - pairs->lowest[c->below] - c->up;
  int64_t down = pairs->highest[c->below] - pairs->lowest[c->above] - c->down;
  return up >= down ? UP : DOWN;
}

/* The way after `way`, each of two or three once, whichever was the first. */
static uint8_t next_way(uint8_t way) {
  return way == UP ? DOWN : UP;
}

/* Takes the way `order[k]` of a conflict. */
static bool follow(berth_pairs_t *pairs, uint32_t k) {
  pairs->turn++;
  pairs->work++;
  return propagate_one(pairs, k) && propagate(pairs);
}

/* Back to the last choice of which a way is left, and takes that. False: there is none. `*fits`:
 * nothing contradicts it. */
static bool go_back(berth_pairs_t *pairs, int64_t capacity, bool *fits) {
  while (pairs->choice_count > 0 && pairs->choices[pairs->choice_count - 1].left == 0) {
    pairs->order[pairs->choices[--pairs->choice_count].conflict] = FREE;
  }
  if (pairs->choice_count == 0) return false;
  berth_pairs_choice_t *choice = &pairs->choices[pairs->choice_count - 1];
  choice->left--;
  pairs->order[choice->conflict] = next_way(pairs->order[choice->conflict]);
  if (pairs->forgotten >= pairs->choice_count) {
    *fits = begin_anew(pairs, capacity);
    return true;
  }
  while (pairs->trail_count > choice->trail) {
    const berth_pairs_change_t *change = &pairs->trail[--pairs->trail_count];
    pairs->lowest[change->group] = change->lowest;
    pairs->highest[change->group] = change->highest;
  }
  *fits = follow(pairs, choice->conflict);
  return true;
}

berth_status_t berth_pairs_fit(berth_pairs_t *pairs, int64_t capacity, uint64_t limit) {
  uint64_t last = pairs->work > UINT64_MAX - limit ? UINT64_MAX : pairs->work + limit;
  pairs->choice_count = pairs->queue_count = 0;
  pairs->turn = 0;
  for (uint32_t i = 0; i < pairs->problem->buffer_count; i++) pairs->noted[i] = 0;
  if (pairs->conflict_count > 0) memset(pairs->order, FREE, pairs->conflict_count);
  bool fits = begin_anew(pairs, capacity);
  for (;;) {
    if (fits) {
      uint32_t k = find_violated(pairs);
      if (k == pairs->conflict_count) return BERTH_OK;
      pairs->order[k] = first_way(pairs, k);
      pairs->choices[pairs->choice_count++] =
          (berth_pairs_choice_t){k, pairs->trail_count, pairs->conflicts[k].over ? 2 : 1};
      fits = follow(pairs, k);
    } else if (!go_back(pairs, capacity, &fits)) {
      return BERTH_INFEASIBLE;
    }
    if (pairs->work >= last) return BERTH_UNDECIDED;
  }
}

void berth_pairs_write(const berth_pairs_t *pairs, berth_plan_t *plan) {
  plan->peak = 0;
  for (uint32_t i = 0; i < pairs->problem->buffer_count; i++) {
    uint64_t size = pairs->problem->buffers[i].size;
    uint64_t offset = (uint64_t)pairs->lowest[pairs->group[i]];
    plan->placements[i].offset = offset;
    if (size > 0 && offset + size > plan->peak) plan->peak = offset + size;
  }
}
