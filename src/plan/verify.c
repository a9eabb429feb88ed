/* The verifier: is a plan right? Written from the definition of the problem in plan.h alone; it
 * shares no code with any planner, so that the two can only agree by both being right.
 *
 * A sweep over time keeps the list of live buffers and compares each buffer with those that are
 * live when it begins. Cost: O(n log n + p log p) to sort, and one comparison for each two buffers
 * that overlap in time; a relation is looked up only where two of them share bytes.
 */
#include "berth/plan.h"

typedef struct verifier {
  const berth_problem_t *problem;
  const berth_plan_t *plan;
  uint32_t *order; /* buffers by first step */
  uint32_t *live;  /* those that are live now */
  uint32_t *share; /* of each buffer: another one it shares with, or itself at the end */
  uint32_t *pairs; /* HEAD and TAIL pairs by the buffers they speak of */
} verifier_t;

/* ---- Sorting: heap sort by a 64-bit key ------------------------------------------------------ */

typedef uint64_t (*sort_key_t)(const berth_problem_t *problem, uint32_t item);

static uint64_t buffer_key(const berth_problem_t *problem, uint32_t item) {
  return (uint64_t)problem->buffers[item].first << 32 | item;
}

static uint64_t both(uint32_t a, uint32_t b) {
  return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static uint64_t pair_key(const berth_problem_t *problem, uint32_t item) {
  return both(problem->pairs[item].a, problem->pairs[item].b);
}

static void sift(const berth_problem_t *problem, uint32_t *items, uint32_t from, uint32_t count,
                 sort_key_t key) {
  uint32_t item = items[from];
  while (from < count / 2) {
    uint32_t child = 2 * from + 1;
    if (child + 1 < count && key(problem, items[child]) < key(problem, items[child + 1])) child++;
    if (key(problem, items[child]) <= key(problem, item)) break;
    items[from] = items[child];
    from = child;
  }
  items[from] = item;
}

static void sort(const berth_problem_t *problem, uint32_t *items, uint32_t count, sort_key_t key) {
  for (uint32_t i = count / 2; i > 0; i--) sift(problem, items, i - 1, count, key);
  for (uint32_t end = count; end > 1; end--) {
    uint32_t largest = items[0];
    items[0] = items[end - 1];
    items[end - 1] = largest;
    sift(problem, items, 0, end - 1, key);
  }
}

/* ---- One buffer, one pair -------------------------------------------------------------------- */

static bool report(berth_finding_t *finding, berth_fault_t fault, uint32_t a, uint32_t b,
                   uint64_t bytes) {
  finding->fault = fault;
  finding->a = a;
  finding->b = b;
  finding->bytes = bytes;
  return false;
}

static uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

static bool check_buffer(const verifier_t *verifier, uint32_t i, berth_finding_t *finding) {
  const berth_problem_t *problem = verifier->problem;
  const berth_buffer_t *buffer = &problem->buffers[i];
  const berth_placement_t *placement = &verifier->plan->placements[i];
  if (placement->region == BERTH_OUTSIDE && buffer->constant && problem->region_count > 0) {
    return true;
  }
  if (placement->region >= (problem->region_count > 0 ? problem->region_count : 1) ||
      (buffer->regions != BERTH_ANY_REGION && (buffer->regions >> placement->region & 1) == 0)) {
    return report(finding, BERTH_FAULT_REGION, i, UINT32_MAX, 0);
  }
  if (buffer->align > 1 && placement->offset % buffer->align != 0) {
    return report(finding, BERTH_FAULT_ALIGNMENT, i, UINT32_MAX, placement->offset % buffer->align);
  }
  if (buffer->fixed != BERTH_ANYWHERE && placement->offset != buffer->fixed) {
    return report(finding, BERTH_FAULT_FIXED, i, UINT32_MAX,
                  distance(placement->offset, buffer->fixed));
  }
  if (buffer->size == 0) return true;
  uint64_t capacity = UINT64_MAX;
  if (problem->region_count > 0) capacity = problem->regions[placement->region].capacity;
  if (buffer->size > capacity || placement->offset > capacity - buffer->size) {
    uint64_t end = placement->offset > UINT64_MAX - buffer->size ? UINT64_MAX
                                                                 : placement->offset + buffer->size;
    return report(finding, BERTH_FAULT_CAPACITY, i, UINT32_MAX, end - capacity);
  }
  return true;
}

static bool check_pair(const verifier_t *verifier, const berth_pair_t *pair,
                       berth_finding_t *finding) {
  const berth_placement_t *a = &verifier->plan->placements[pair->a];
  const berth_placement_t *b = &verifier->plan->placements[pair->b];
  bool same_region = a->region == b->region, outside = a->region == BERTH_OUTSIDE;
  if (pair->relation == BERTH_SHARE && (!same_region || (!outside && a->offset != b->offset))) {
    return report(finding, BERTH_FAULT_SHARE, pair->a, pair->b,
                  same_region ? distance(a->offset, b->offset) : 0);
  }
  if (pair->relation == BERTH_APART && same_region && !outside) {
    return report(finding, BERTH_FAULT_APART, pair->a, pair->b, 0);
  }
  return true;
}

static bool check_figures(const verifier_t *verifier, berth_finding_t *finding) {
  const berth_problem_t *problem = verifier->problem;
  uint64_t peak = 0, cost = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    const berth_placement_t *placement = &verifier->plan->placements[i];
    if (placement->region == BERTH_OUTSIDE) {
      cost += buffer->traffic * problem->outside_cost;
      continue;
    }
    if (problem->region_count > 0)
      cost += buffer->traffic * problem->regions[placement->region].cost;
    if (placement->region == 0 && buffer->size > 0 && placement->offset + buffer->size > peak) {
      peak = placement->offset + buffer->size;
    }
  }
  if (peak != verifier->plan->peak) {
    return report(finding, BERTH_FAULT_PEAK, UINT32_MAX, UINT32_MAX, peak);
  }
  if (cost != verifier->plan->cost) {
    return report(finding, BERTH_FAULT_COST, UINT32_MAX, UINT32_MAX, cost);
  }
  return true;
}

/* ---- Two buffers that are live in the same step ---------------------------------------------- */

static uint32_t last_in_share(const verifier_t *verifier, uint32_t i) {
  while (verifier->share[i] != i) i = verifier->share[i];
  return i;
}

/* May bytes [start, end), which a and b have in common, be shared by them? */
static bool permitted(const verifier_t *verifier, uint32_t a, uint32_t b, uint64_t start,
                      uint64_t end, uint32_t pair_count) {
  const berth_problem_t *problem = verifier->problem;
  if (last_in_share(verifier, a) == last_in_share(verifier, b)) return true;
  uint32_t low = 0, high = pair_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (pair_key(problem, verifier->pairs[middle]) < both(a, b)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < pair_count && pair_key(problem, verifier->pairs[low]) == both(a, b); low++) {
    const berth_pair_t *pair = &problem->pairs[verifier->pairs[low]];
    uint64_t from = verifier->plan->placements[pair->a].offset;
    uint64_t to = from + problem->buffers[pair->a].size;
    if (pair->relation == BERTH_HEAD && end <= from + pair->bytes) return true;
    if (pair->relation == BERTH_TAIL && start >= to - pair->bytes) return true;
    if (pair->relation == BERTH_OVER && from == verifier->plan->placements[pair->b].offset) {
      return true;
    }
  }
  return false;
}

static bool check_two(const verifier_t *verifier, uint32_t a, uint32_t b, uint32_t pair_count,
                      berth_finding_t *finding) {
  const berth_placement_t *at_a = &verifier->plan->placements[a];
  const berth_placement_t *at_b = &verifier->plan->placements[b];
  if (at_a->region != at_b->region || at_a->region == BERTH_OUTSIDE) return true;
  uint64_t size_a = verifier->problem->buffers[a].size;
  uint64_t size_b = verifier->problem->buffers[b].size;
  if (size_a == 0 || size_b == 0) return true;
  uint64_t end_a = at_a->offset + size_a, end_b = at_b->offset + size_b;
  uint64_t start = at_a->offset > at_b->offset ? at_a->offset : at_b->offset;
  uint64_t end = end_a < end_b ? end_a : end_b;
  if (start >= end || permitted(verifier, a, b, start, end, pair_count)) return true;
  return report(finding, BERTH_FAULT_OVERLAP, a < b ? a : b, a < b ? b : a, end - start);
}

static bool check_overlaps(verifier_t *verifier, uint32_t pair_count, berth_finding_t *finding) {
  const berth_problem_t *problem = verifier->problem;
  uint32_t live_count = 0;
  for (uint32_t k = 0; k < problem->buffer_count; k++) {
    uint32_t now = verifier->order[k], kept = 0;
    for (uint32_t j = 0; j < live_count; j++) {
      uint32_t other = verifier->live[j];
      if (problem->buffers[other].last < problem->buffers[now].first) continue;
      verifier->live[kept++] = other;
      if (!check_two(verifier, now, other, pair_count, finding)) return false;
    }
    verifier->live[kept] = now;
    live_count = kept + 1;
  }
  return true;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool check(verifier_t *verifier, berth_finding_t *finding) {
  const berth_problem_t *problem = verifier->problem;
  uint32_t pair_count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (!check_buffer(verifier, i, finding)) return false;
    verifier->order[i] = i;
    verifier->share[i] = i;
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    if (!check_pair(verifier, pair, finding)) return false;
    if (pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL ||
        pair->relation == BERTH_OVER) {
      verifier->pairs[pair_count++] = k;
    } else if (pair->relation == BERTH_SHARE) {
      uint32_t a = last_in_share(verifier, pair->a), b = last_in_share(verifier, pair->b);
      verifier->share[a] = b;
      for (uint32_t i = pair->a, next; i != b; i = next) { /* shorten the way for later */
        next = verifier->share[i];
        verifier->share[i] = b;
      }
      for (uint32_t i = pair->b, next; i != b; i = next) {
        next = verifier->share[i];
        verifier->share[i] = b;
      }
    }
  }
  if (!check_figures(verifier, finding)) return false;
  sort(problem, verifier->order, problem->buffer_count, buffer_key);
  sort(problem, verifier->pairs, pair_count, pair_key);
  return check_overlaps(verifier, pair_count, finding);
}

berth_status_t berth_plan_verify_workspace(const berth_problem_t *problem, size_t *bytes) {
  berth_status_t status = berth_problem_check(problem, NULL);
  if (status != BERTH_OK) return status;
  uint64_t words = 3 * (uint64_t)problem->buffer_count + problem->pair_count;
  if (words > SIZE_MAX / sizeof(uint32_t)) return BERTH_ERROR_OVERFLOW;
  *bytes = (size_t)words * sizeof(uint32_t);
  return BERTH_OK;
}

berth_status_t berth_plan_verify(const berth_problem_t *problem, const berth_plan_t *plan,
                                 void *workspace, size_t workspace_bytes,
                                 berth_finding_t *finding) {
  size_t bytes;
  berth_status_t status = berth_plan_verify_workspace(problem, &bytes);
  if (status != BERTH_OK) return status;
  if (plan == NULL) return BERTH_ERROR_ARGUMENT;
  berth_finding_t found;
  if (problem->buffer_count == 0) {
    if (plan->peak == 0 && plan->cost == 0) return BERTH_OK;
    bool peak = plan->peak != 0;
    (void)report(&found, peak ? BERTH_FAULT_PEAK : BERTH_FAULT_COST, UINT32_MAX, UINT32_MAX, 0);
    if (finding != NULL) *finding = found;
    return BERTH_INFEASIBLE;
  }
  if (plan->placements == NULL) return BERTH_ERROR_ARGUMENT;
  if (workspace == NULL || workspace_bytes < bytes ||
      (uintptr_t)workspace % _Alignof(uint32_t) != 0) {
    return BERTH_ERROR_MEMORY;
  }
  uint32_t *words = workspace;
  size_t count = problem->buffer_count;
  verifier_t verifier = {problem, plan, words, words + count, words + 2 * count, words + 3 * count};
  if (check(&verifier, &found)) return BERTH_OK;
  if (finding != NULL) *finding = found;
  return BERTH_INFEASIBLE;
}

const char *berth_fault_text(berth_fault_t fault) {
  switch (fault) {
  case BERTH_FAULT_NONE:
    return "no fault";
  case BERTH_FAULT_OVERLAP:
    return "two buffers that are live in the same step overlap";
  case BERTH_FAULT_ALIGNMENT:
    return "an offset is not aligned";
  case BERTH_FAULT_FIXED:
    return "a buffer is not at its fixed offset";
  case BERTH_FAULT_REGION:
    return "a buffer is in a region where it may not be";
  case BERTH_FAULT_CAPACITY:
    return "a buffer reaches beyond the end of its region";
  case BERTH_FAULT_SHARE:
    return "two buffers that must share their place don't";
  case BERTH_FAULT_APART:
    return "two buffers that must be in different regions aren't";
  case BERTH_FAULT_PEAK:
    return "the stated peak is not the plan's";
  case BERTH_FAULT_COST:
    return "the stated cost is not the plan's";
  }
  return "unknown fault";
}
