/* The exact planner against brute force, and on the reference data. */
#include "plan/support.h"

/* ---- Brute force: every offset of every buffer ----------------------------------------------- */

typedef struct brute {
  const berth_problem_t *problem;
  uint32_t order[RANDOM_BUFFERS];
  uint64_t offset[RANDOM_BUFFERS];
} brute_t;

static bool share(const berth_problem_t *problem, uint32_t a, uint32_t b) {
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
static bool collide(const brute_t *brute, uint32_t a, uint32_t b) {
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
    bool within = pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL;
    for (uint64_t byte = from_a; byte < to_a && within; byte++) {
      if (byte < from_b || byte >= to_b) continue;
      within = pair->relation == BERTH_HEAD ? byte - from < pair->bytes : to - byte <= pair->bytes;
    }
    if (within) return false;
  }
  return true;
}

static bool brute_fits(brute_t *brute, uint32_t placed, uint64_t capacity) {
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

/* Fixed ones first, then large ones, to see early what is impossible. */
static bool tried_before(const berth_buffer_t *a, const berth_buffer_t *b) {
  bool fixed_a = a->fixed != BERTH_ANYWHERE, fixed_b = b->fixed != BERTH_ANYWHERE;
  return fixed_a != fixed_b ? fixed_a : a->size > b->size;
}

/* The smallest peak, by trying all that are at least `from` and below `below`; or `below`. */
static uint64_t brute_peak(const berth_problem_t *problem, uint64_t from, uint64_t below) {
  brute_t brute = {.problem = problem};
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    uint32_t j = i;
    for (; j > 0 && tried_before(&problem->buffers[i], &problem->buffers[brute.order[j - 1]]);
         j--) {
      brute.order[j] = brute.order[j - 1];
    }
    brute.order[j] = i;
  }
  for (uint64_t peak = from; peak < below; peak++) {
    if (brute_fits(&brute, 0, peak)) return peak;
  }
  return below;
}

static bool has_relations(const berth_problem_t *problem) {
  return problem->pair_count > 0;
}

static void the_peak_is_that_of_brute_force(void **state) {
  (void)state;
  uint64_t seed = 1;
  uint32_t cases = random_cases(20000), proven = 0, above_load = 0;
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    random_problem(&seed, 8, &random);
    berth_problem_t *problem = &random.problem;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
      berth_buffer_t *buffer = &random.buffers[i];
      buffer->size %= 6; /* few enough offsets to try them all */
    }
    if (has_relations(problem)) problem->pair_count = 0;
    berth_placement_t placements[RANDOM_BUFFERS];
    berth_plan_t plan = {.placements = placements};
    berth_status_t status = plan_with(&berth_planner_exact, problem, NULL, &plan);
    if (status == BERTH_INFEASIBLE) {
      assert_int_equal(brute_peak(problem, 0, 64), 64);
      continue;
    }
    assert_int_equal(status, BERTH_OK);
    assert_true(plan.optimal);
    uint64_t load = load_of(problem, NULL);
    if (brute_peak(problem, load, plan.peak) != plan.peak)
      fail_msg("case %u: %u", n, (unsigned)plan.peak);
    proven++;
    above_load += plan.peak > load;
  }
  print_message("%u plans, %u of them above the load\n", proven, above_load);
  if (cases >= 1000) assert_true(proven > cases / 2 && above_load > cases / 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_peak_is_that_of_brute_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
