/* What the search with pairs works on: groups of buffers, and which of them must not collide.
 *
 * Cost: O(n^2 + n x pairs) for n buffers.
 */
#include "plan/exact_pairs.h"
#include "plan/round.h"
#include "plan/share.h"

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
  pairs->trail_room = (uint32_t)(16 * buffers + 1024);
  int64_t **numbers[] = {&pairs->size, &pairs->align, &pairs->fixed, &pairs->lowest,
                         &pairs->highest};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    *numbers[i] = berth_workspace_take(memory, buffers, sizeof(int64_t));
  }
  pairs->group = berth_workspace_take(memory, buffers, sizeof(uint32_t));
  pairs->reach = berth_workspace_take(memory, buffers, sizeof(berth_reach_t));
  pairs->conflicts = berth_workspace_take(memory, most, sizeof(berth_conflict_t));
  pairs->order = berth_workspace_take(memory, most, sizeof(uint8_t));
  pairs->choices = berth_workspace_take(memory, most, sizeof(berth_pairs_choice_t));
  pairs->begin = berth_workspace_take(memory, buffers + 1, sizeof(uint32_t));
  pairs->incident = berth_workspace_take(memory, 2 * most, sizeof(uint32_t));
  pairs->queue = berth_workspace_take(memory, buffers, sizeof(uint32_t));
  pairs->queued = berth_workspace_take(memory, buffers, sizeof(bool));
  pairs->noted = berth_workspace_take(memory, buffers, sizeof(uint64_t));
  pairs->trail = berth_workspace_take(memory, pairs->trail_room, sizeof(berth_pairs_change_t));
  return BERTH_OK;
}

/* ---- Groups and conflicts -------------------------------------------------------------------- */

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
      pairs->align[group] =
          (int64_t)berth_common_multiple((uint64_t)pairs->align[group], buffer->align);
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
static void permit(berth_reach_t *reach, const berth_problem_t *problem, const berth_pair_t *pair,
                   bool forward) {
  int64_t bytes = (int64_t)pair->bytes;
  int64_t size_a = (int64_t)problem->buffers[pair->a].size;
  int64_t size_b = (int64_t)problem->buffers[pair->b].size;
  berth_reach_t permitted = {-size_b, size_a, false}; /* of pair->b's offset less pair->a's */
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

/* How buffer `i` and each earlier one may not lie, in pairs->reach. */
static void find_reaches(berth_pairs_t *pairs, uint32_t i) {
  const berth_problem_t *problem = pairs->problem;
  int64_t size = (int64_t)problem->buffers[i].size;
  for (uint32_t j = 0; j < i; j++) {
    pairs->reach[j] = (berth_reach_t){-size, (int64_t)problem->buffers[j].size, false};
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    bool forward = pair->b == i;
    uint32_t other = forward ? pair->a : pair->b;
    if ((!forward && pair->a != i) || other >= i) continue;
    if (pair->relation == BERTH_OVER) pairs->reach[other].over = true;
    if (pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL) {
      permit(&pairs->reach[other], problem, pair, forward);
    }
  }
}

static void find_conflicts(berth_pairs_t *pairs) {
  const berth_problem_t *problem = pairs->problem;
  pairs->conflict_count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (problem->buffers[i].size == 0) continue;
    find_reaches(pairs, i);
    for (uint32_t j = 0; j < i; j++) {
      const berth_reach_t *reach = &pairs->reach[j];
      if (pairs->group[i] == pairs->group[j] || reach->high - reach->low <= 1 ||
          !live_together(&problem->buffers[i], &problem->buffers[j])) {
        continue;
      }
      pairs->conflicts[pairs->conflict_count++] = (berth_conflict_t){.below = pairs->group[j],
                                                                     .above = pairs->group[i],
                                                                     .up = reach->high,
                                                                     .down = -reach->low,
                                                                     .over = reach->over};
    }
  }
}

/* The conflicts of each group, by counting. */
static void index_conflicts(berth_pairs_t *pairs) {
  uint32_t buffers = pairs->problem->buffer_count;
  for (uint32_t i = 0; i <= buffers; i++) pairs->begin[i] = 0;
  for (uint32_t k = 0; k < pairs->conflict_count; k++) {
    pairs->begin[pairs->conflicts[k].below]++;
    pairs->begin[pairs->conflicts[k].above]++;
  }
  for (uint32_t i = 0, sum = 0; i <= buffers; i++) {
    sum += pairs->begin[i];
    pairs->begin[i] = sum;
  }
  for (uint32_t k = pairs->conflict_count; k-- > 0;) {
    pairs->incident[--pairs->begin[pairs->conflicts[k].below]] = k;
    pairs->incident[--pairs->begin[pairs->conflicts[k].above]] = k;
  }
}

berth_status_t berth_pairs_prepare(berth_pairs_t *pairs) {
  berth_status_t status = form_groups(pairs);
  if (status != BERTH_OK) return status;
  pairs->work = 0;
  find_conflicts(pairs);
  index_conflicts(pairs);
  return BERTH_OK;
}
