/* Brute force over every offset of every buffer: what small problems' peaks are compared with. */
#ifndef BERTH_TESTS_PLAN_BRUTE_H
#define BERTH_TESTS_PLAN_BRUTE_H

#include "plan/support.h"

typedef struct brute {
  const berth_problem_t *problem;
  uint32_t order[RANDOM_BUFFERS];
  uint64_t offset[RANDOM_BUFFERS];
} brute_t;

static inline bool share(const berth_problem_t *problem, uint32_t a, uint32_t b) {
  bool joined[RANDOM_BUFFERS] = {false};
  joined[a] = true;
  for (uint32_t round = 0; round < problem->pair_count; round++) {
    for (uint32_t k = 0; k < problem->pair_count; k++) {
      const berth_pair_t *pair = &problem->pairs[k];
      if (pair->relation != BERTH_SHARE) continue;
      if (joined[pair->a] || joined[pair->b]) joined[pair->a] = joined[pair->b] = true;
    }
  }
  return joined[b];
}

/* Do two placed buffers stand in each other's way? Byte by byte, from the definition. */
static inline bool collide(const brute_t *brute, uint32_t a, uint32_t b) {
  const berth_problem_t *problem = brute->problem;
  const berth_buffer_t *x = &problem->buffers[a], *y = &problem->buffers[b];
  if (share(problem, a, b)) return brute->offset[a] != brute->offset[b];
  if (x->first > y->last || y->first > x->last) return false;
  uint64_t from_a = brute->offset[a], to_a = from_a + x->size;
  uint64_t from_b = brute->offset[b], to_b = from_b + y->size;
  bool common = false;
  for (uint64_t byte = from_a; byte < to_a; byte++) common |= byte >= from_b && byte < to_b;
  if (!common) return false;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    if (!(pair->a == a && pair->b == b) && !(pair->a == b && pair->b == a)) continue;
    uint64_t from = brute->offset[pair->a], to = from + problem->buffers[pair->a].size;
    if (pair->relation == BERTH_OVER && from_a == from_b) return false;
    bool within = pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL;
    for (uint64_t byte = from_a; byte < to_a && within; byte++) {
      if (byte < from_b || byte >= to_b) continue;
      within = pair->relation == BERTH_HEAD ? byte - from < pair->bytes : to - byte <= pair->bytes;
    }
    if (within) return false;
  }
  return true;
}

static inline bool brute_fits(brute_t *brute, uint32_t placed, uint64_t capacity) {
  const berth_problem_t *problem = brute->problem;
  if (placed == problem->buffer_count) return true;
  uint32_t now = brute->order[placed];
  const berth_buffer_t *buffer = &problem->buffers[now];
  uint64_t align = buffer->align > 1 ? buffer->align : 1;
  uint64_t last = buffer->size <= capacity ? capacity - buffer->size : 0;
  uint64_t first = 0;
  if (buffer->fixed != BERTH_ANYWHERE) first = last = buffer->fixed;
  for (uint64_t offset = first; offset <= last; offset += align) {
    if (buffer->size > 0 && offset + buffer->size > capacity) return false;
    brute->offset[now] = offset;
    bool free = true;
    for (uint32_t k = 0; k < placed && free; k++) free = !collide(brute, now, brute->order[k]);
    if (free && brute_fits(brute, placed + 1, capacity)) return true;
  }
  return false;
}

/* What is fixed or related first, then what is large, to see early what is impossible. */
static inline bool tried_before(const berth_problem_t *problem, uint32_t a, uint32_t b) {
  uint32_t urgency[2] = {0, 0};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t buffer = i == 0 ? a : b;
    if (problem->buffers[buffer].fixed != BERTH_ANYWHERE) urgency[i] += 2;
    for (uint32_t k = 0; k < problem->pair_count; k++) {
      const berth_pair_t *pair = &problem->pairs[k];
      if (pair->a == buffer || pair->b == buffer) urgency[i] |= 1;
    }
  }
  if (urgency[0] != urgency[1]) return urgency[0] > urgency[1];
  return problem->buffers[a].size > problem->buffers[b].size;
}

/* The smallest peak, by trying all that are at least `from` and below `below`; or `below`. */
static inline uint64_t brute_peak(const berth_problem_t *problem, uint64_t from, uint64_t below) {
  brute_t brute = {.problem = problem};
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    uint32_t j = i;
    for (; j > 0 && tried_before(problem, i, brute.order[j - 1]); j--) {
      brute.order[j] = brute.order[j - 1];
    }
    brute.order[j] = i;
  }
  for (uint64_t peak = from; peak < below; peak++) {
    if (brute_fits(&brute, 0, peak)) return peak;
  }
  return below;
}

/* A random problem of at most 8 buffers, small enough to try every offset. */
static inline void brute_problem(uint64_t *seed, random_problem_t *random) {
  random_problem(seed, 8, random);
  berth_problem_t *problem = &random->problem;
  for (uint32_t i = 0; i < problem->buffer_count; i++) random->buffers[i].size %= 6;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    berth_pair_t *pair = &random->pairs[k];
    uint64_t size = random->buffers[pair->a].size;
    if (pair->relation == BERTH_SHARE || pair->relation == BERTH_OVER) continue;
    if (size == 0) pair->relation = BERTH_SHARE;
    if (pair->bytes > size) pair->bytes = size;
  }
}

#endif
