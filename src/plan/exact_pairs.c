/* Branch and bound over the order of conflicting buffers, for problems with pairs.
 *
 * Two buffers that are live together give a disjunction: the one lies above the other, or the other
 * way round. With HEAD and TAIL pairs the distance may be less than a size, with OVER pairs it may
 * be none at all, a third way, and with SHARE pairs it holds between groups. This is the disjunctive graph of shop scheduling (Roy & Sussmann 1964):
 * once every disjunction is decided, the lowest offsets are the longest paths. Bounds on all
 * offsets are propagated; a disjunction of which one way is left decides itself; what the
 * lowest offsets violate is branched on, the tightest first, and a node where they violate nothing
 * is a plan. Going back, bounds are propagated anew, so no trail is needed. Cost of a node:
 * O(conflicts) per round of propagation.
 */
#include "plan/exact_pairs.h"
#include "plan/share.h"
#include <string.h>

enum { FREE, UP, DOWN, SAME };

/* Offsets of b relative to a at which the two collide: strictly between low and high. */
typedef struct reach {
  int64_t low, high;
} reach_t;

static bool live_together(const berth_buffer_t *a, const berth_buffer_t *b) {
  return a->size > 0 && b->size > 0 && a->first <= b->last && b->first <= a->last;
}

static uint64_t count_conflicts(const berth_problem_t *problem) {
  uint64_t conflicts = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      conflicts += live_together(&problem->buffers[i], &problem->buffers[j]);
    }
    if (conflicts > BERTH_PAIRS_MOST) break;
  }
  return conflicts;
}

berth_status_t berth_pairs_lay_out(berth_pairs_t *pairs, const berth_problem_t *problem,
                                   berth_workspace_t *memory) {
  uint64_t conflicts = count_conflicts(problem);
  if (conflicts > BERTH_PAIRS_MOST) return BERTH_ERROR_UNSUPPORTED;
  size_t buffers = problem->buffer_count, most = (size_t)conflicts;
  pairs->problem = problem;
  int64_t **numbers[] = {&pairs->size, &pairs->align, &pairs->fixed, &pairs->lowest,
                         &pairs->highest};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    *numbers[i] = berth_workspace_take(memory, buffers, sizeof(int64_t));
  }
  pairs->group = berth_workspace_take(memory, buffers, sizeof(uint32_t));
  pairs->conflicts = berth_workspace_take(memory, most, sizeof(berth_conflict_t));
  pairs->order = berth_workspace_take(memory, most, sizeof(uint8_t));
  pairs->choices = berth_workspace_take(memory, most, sizeof(uint32_t));
  pairs->left = berth_workspace_take(memory, most, sizeof(uint8_t));
  return BERTH_OK;
}

/* ---- Groups and conflicts -------------------------------------------------------------------- */

static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y != 0) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return b / x > INT64_MAX / a ? 0 : a * (b / x);
}

static berth_status_t form_groups(berth_pairs_t *pairs) {
  const berth_problem_t *problem = pairs->problem;
  berth_plan_share_groups(problem, pairs->group);
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    uint32_t group = pairs->group[i];
    if (group == i) {
      pairs->size[i] = 0;
      pairs->align[i] = 1;
      pairs->fixed[i] = -1;
    }
    if ((int64_t)buffer->size > pairs->size[group]) pairs->size[group] = (int64_t)buffer->size;
    if (buffer->align > 1) {
      pairs->align[group] = common_multiple(pairs->align[group], (int64_t)buffer->align);
      if (pairs->align[group] == 0) return BERTH_ERROR_OVERFLOW;
    }
    if (buffer->fixed == BERTH_ANYWHERE) continue;
    int64_t fixed = (int64_t)buffer->fixed;
    if (pairs->fixed[group] >= 0 && pairs->fixed[group] != fixed) return BERTH_INFEASIBLE;
    pairs->fixed[group] = fixed;
  }
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (pairs->group[i] == i && pairs->fixed[i] >= 0 && pairs->fixed[i] % pairs->align[i] != 0) {
      return BERTH_INFEASIBLE;
    }
  }
  return BERTH_OK;
}

/* What the relation permits is taken out of the reach at one of its ends. */
static void permit(reach_t *reach, const berth_problem_t *problem, const berth_pair_t *pair,
                   bool forward) {
  int64_t bytes = (int64_t)pair->bytes;
  int64_t size_a = (int64_t)problem->buffers[pair->a].size;
  int64_t size_b = (int64_t)problem->buffers[pair->b].size;
  reach_t permitted = {-size_b, size_a}; /* offsets of pair->b relative to pair->a */
  if (pair->relation == BERTH_HEAD) permitted.low = bytes - size_b;
  if (pair->relation == BERTH_TAIL) permitted.high = size_a - bytes;
  if (bytes == size_a) permitted.high = permitted.low;
  if (!forward) { /* seen from the other one */
    int64_t low = permitted.low;
    permitted.low = -permitted.high;
    permitted.high = -low;
  }
  if (permitted.low > reach->low) reach->low = permitted.low;
  if (permitted.high < reach->high) reach->high = permitted.high;
}

static reach_t find_reach(const berth_problem_t *problem, uint32_t a, uint32_t b) {
  reach_t reach = {-(int64_t)problem->buffers[b].size, (int64_t)problem->buffers[a].size};
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    if (pair->relation != BERTH_HEAD && pair->relation != BERTH_TAIL) continue;
    if (pair->a == a && pair->b == b) permit(&reach, problem, pair, true);
    if (pair->a == b && pair->b == a) permit(&reach, problem, pair, false);
  }
  return reach;
}

static bool may_coincide(const berth_problem_t *problem, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    if (pair->relation != BERTH_OVER) continue;
    if ((pair->a == a && pair->b == b) || (pair->a == b && pair->b == a)) return true;
  }
  return false;
}

berth_status_t berth_pairs_prepare(berth_pairs_t *pairs) {
  const berth_problem_t *problem = pairs->problem;
  berth_status_t status = form_groups(pairs);
  if (status != BERTH_OK) return status;
  pairs->conflict_count = 0;
  pairs->work = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      if (pairs->group[i] == pairs->group[j] ||
          !live_together(&problem->buffers[i], &problem->buffers[j])) {
        continue;
      }
      reach_t reach = find_reach(problem, j, i);
      if (reach.high - reach.low <= 1) continue;
      berth_conflict_t *conflict = &pairs->conflicts[pairs->conflict_count++];
      conflict->below = pairs->group[j];
      conflict->above = pairs->group[i];
      conflict->up = reach.high;
      conflict->down = -reach.low;
      conflict->over = may_coincide(problem, j, i);
    }
  }
  return BERTH_OK;
}

/* ---- Propagation ----------------------------------------------------------------------------- */

/* Raises the lowest offset of `group`, which may be negative or beyond. */
static bool raise(berth_pairs_t *pairs, uint32_t group, int64_t offset, bool *changed) {
  if (offset <= pairs->lowest[group]) return true;
  if (offset > pairs->highest[group]) return false;
  int64_t align = pairs->align[group], over = offset % align;
  if (over != 0) {
    if (align - over > pairs->highest[group] - offset) return false;
    offset += align - over;
  }
  pairs->lowest[group] = offset;
  *changed = true;
  return true;
}

static bool lower(berth_pairs_t *pairs, uint32_t group, int64_t offset, bool *changed) {
  if (offset >= pairs->highest[group]) return true;
  if (offset < pairs->lowest[group]) return false;
  pairs->highest[group] = offset - offset % pairs->align[group];
  *changed = true;
  return pairs->highest[group] >= pairs->lowest[group];
}

/* Keeps `high` at least `distance` above `low`. */
static bool keep_apart(berth_pairs_t *pairs, uint32_t low, uint32_t high, int64_t distance,
                       bool *changed) {
  return raise(pairs, high, pairs->lowest[low] + distance, changed) &&
         lower(pairs, low, pairs->highest[high] - distance, changed);
}

/* Gives both the same offset. */
static bool unite(berth_pairs_t *pairs, uint32_t a, uint32_t b, bool *changed) {
  return keep_apart(pairs, a, b, 0, changed) && keep_apart(pairs, b, a, 0, changed);
}

static bool may_unite(const berth_pairs_t *pairs, const berth_conflict_t *c) {
  return c->over && pairs->lowest[c->below] <= pairs->highest[c->above] &&
         pairs->lowest[c->above] <= pairs->highest[c->below];
}

static bool propagate_one(berth_pairs_t *pairs, uint32_t k, bool *changed) {
  const berth_conflict_t *c = &pairs->conflicts[k];
  uint8_t order = pairs->order[k];
  bool up = (order == FREE || order == UP) &&
            pairs->lowest[c->below] + c->up <= pairs->highest[c->above];
  bool down = (order == FREE || order == DOWN) &&
              pairs->lowest[c->above] + c->down <= pairs->highest[c->below];
  bool same = (order == FREE || order == SAME) && may_unite(pairs, c);
  if (up + down + same > 1) return true;
  if (up) return keep_apart(pairs, c->below, c->above, c->up, changed);
  if (down) return keep_apart(pairs, c->above, c->below, c->down, changed);
  if (same) return unite(pairs, c->below, c->above, changed);
  return false;
}

/* All bounds anew, from the capacity and what is decided. False: there is no plan. */
static bool propagate(berth_pairs_t *pairs, int64_t capacity) {
  for (uint32_t i = 0; i < pairs->problem->buffer_count; i++) {
    if (pairs->group[i] != i) continue;
    int64_t room = capacity - pairs->size[i];
    if (pairs->size[i] == 0) room = INT64_MAX / 2;
    if (room < 0 || pairs->fixed[i] > room) return false;
    bool fixed = pairs->fixed[i] >= 0;
    pairs->lowest[i] = fixed ? pairs->fixed[i] : 0;
    pairs->highest[i] = fixed ? pairs->fixed[i] : room - room % pairs->align[i];
  }
  for (bool changed = true; changed;) {
    changed = false;
    pairs->work += pairs->conflict_count;
    for (uint32_t k = 0; k < pairs->conflict_count; k++) {
      if (!propagate_one(pairs, k, &changed)) return false;
    }
  }
  return true;
}

/* ---- The search ------------------------------------------------------------------------------ */

/* The tightest of the conflicts that the lowest offsets violate, or conflict_count. */
static uint32_t find_violated(const berth_pairs_t *pairs) {
  uint32_t tightest = pairs->conflict_count;
  int64_t least = INT64_MAX;
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

berth_status_t berth_pairs_fit(berth_pairs_t *pairs, int64_t capacity, uint64_t limit) {
  uint64_t last = pairs->work > UINT64_MAX - limit ? UINT64_MAX : pairs->work + limit;
  pairs->choice_count = 0;
  if (pairs->conflict_count > 0) memset(pairs->order, FREE, pairs->conflict_count);
  for (;;) {
    if (propagate(pairs, capacity)) {
      uint32_t k = find_violated(pairs);
      if (k == pairs->conflict_count) return BERTH_OK;
      pairs->order[k] = first_way(pairs, k);
      pairs->left[pairs->choice_count] = pairs->conflicts[k].over ? 2 : 1;
      pairs->choices[pairs->choice_count++] = k;
    } else {
      while (pairs->choice_count > 0 && pairs->left[pairs->choice_count - 1] == 0) {
        pairs->order[pairs->choices[--pairs->choice_count]] = FREE;
      }
      if (pairs->choice_count == 0) return BERTH_INFEASIBLE;
      uint32_t k = pairs->choices[pairs->choice_count - 1];
      pairs->order[k] = next_way(pairs->order[k]);
      pairs->left[pairs->choice_count - 1]--;
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
