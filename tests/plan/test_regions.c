/* Several memories: against brute force on small problems, and the rules one by one. */
#include "plan/support.h"

enum { BUFFERS = 6, PAIRS = 3, REGIONS = 3 };

typedef struct region_problem {
  berth_problem_t problem;
  berth_buffer_t buffers[BUFFERS];
  berth_pair_t pairs[PAIRS];
  berth_region_t regions[REGIONS];
} region_problem_t;

static void random_regions(uint64_t *state, region_problem_t *random) {
  memset(random, 0, sizeof *random);
  berth_problem_t *problem = &random->problem;
  problem->buffers = random->buffers;
  problem->pairs = random->pairs;
  problem->regions = random->regions;
  problem->buffer_count = 1 + random_below(state, BUFFERS);
  problem->region_count = 1 + random_below(state, REGIONS);
  problem->outside_cost = random_below(state, 4);
  for (uint32_t r = 0; r < problem->region_count; r++) {
    random->regions[r].capacity = 2 + random_below(state, 8);
    random->regions[r].cost = r + random_below(state, 3);
  }
  if (random_below(state, 3) == 0) {
    random->regions[problem->region_count - 1].capacity = BERTH_UNLIMITED;
  }
  bool odd = random_below(state, 2) == 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    berth_buffer_t *buffer = &random->buffers[i];
    uint32_t first = random_below(state, 4), last = first + random_below(state, 4 - first);
    *buffer = berth_buffer(random_below(state, 5), first, last);
    buffer->traffic = random_below(state, 6);
    buffer->constant = odd && random_below(state, 4) == 0;
    if (odd && random_below(state, 4) == 0) {
      buffer->regions = random_below(state, (uint32_t)1 << problem->region_count);
    }
    if (odd && random_below(state, 4) == 0) buffer->align = 1 + random_below(state, 3);
    if (odd && random_below(state, 8) == 0) buffer->fixed = buffer->align * random_below(state, 3);
  }
  uint32_t pair_count = problem->buffer_count > 1 ? random_below(state, PAIRS + 1) : 0;
  for (uint32_t k = 0; k < pair_count; k++) {
    static const berth_relation_t relations[] = {BERTH_SHARE, BERTH_APART, BERTH_APART,
                                                 BERTH_HEAD,  BERTH_TAIL,  BERTH_OVER};
    berth_pair_t *pair = &random->pairs[problem->pair_count];
    pair->a = random_below(state, problem->buffer_count);
    pair->b = random_below(state, problem->buffer_count);
    pair->relation = relations[random_below(state, 6)];
    uint64_t size = random->buffers[pair->a].size;
    bool overlap = pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL;
    pair->bytes = overlap && size > 0 ? 1 + random_below(state, (uint32_t)size) : 0;
    if (pair->a != pair->b && (!overlap || size > 0)) problem->pair_count++;
  }
}

/* For a failure's message. */
static void show(const berth_problem_t *problem) {
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *b = &problem->buffers[i];
    print_message(
        "buffer %u: %d bytes [%u, %u] align %d fixed %d regions %x constant %d traffic %d\n", i,
        (int)b->size, b->first, b->last, (int)b->align, (int)b->fixed, b->regions, b->constant,
        (int)b->traffic);
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    print_message("pair: %u %u relation %d bytes %d\n", pair->a, pair->b, (int)pair->relation,
                  (int)pair->bytes);
  }
  for (uint32_t r = 0; r < problem->region_count; r++) {
    print_message("region: %d bytes, cost %d\n", (int)problem->regions[r].capacity,
                  (int)problem->regions[r].cost);
  }
  print_message("outside: cost %d\n", (int)problem->outside_cost);
}

/* ---- Brute force: every region for every buffer, every offset -------------------------------- */

/* May a at `at_a` and b at `at_b` be in the same region? From the definition. */
static bool get_along(const berth_problem_t *problem, uint32_t a, uint64_t at_a, uint32_t b,
                      uint64_t at_b, const uint32_t *group) {
  const berth_buffer_t *one = &problem->buffers[a], *two = &problem->buffers[b];
  if (group[a] == group[b]) return at_a == at_b;
  if (one->last < two->first || two->last < one->first) return true;
  if (one->size == 0 || two->size == 0) return true;
  bool shared = false;
  for (uint64_t byte = at_a; byte < at_a + one->size; byte++) {
    shared = shared || (byte >= at_b && byte < at_b + two->size);
  }
  if (!shared) return true;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    bool same = (pair->a == a && pair->b == b) || (pair->a == b && pair->b == a);
    if (!same || pair->relation == BERTH_SHARE || pair->relation == BERTH_APART) continue;
    if (pair->relation == BERTH_OVER) {
      if (at_a == at_b) return true;
      continue;
    }
    uint64_t start = pair->a == a ? at_a : at_b;
    uint64_t end = start + problem->buffers[pair->a].size;
    bool fine = true;
    for (uint64_t byte = at_a; byte < at_a + one->size; byte++) {
      if (byte < at_b || byte >= at_b + two->size) continue;
      fine = fine && (pair->relation == BERTH_HEAD ? byte < start + pair->bytes
                                                   : byte >= end - pair->bytes);
    }
    if (fine) return true;
  }
  return false;
}

/* The smallest peak of the buffers in `set`, if it is below `best`; else `best`. */
static uint64_t smallest_peak(const berth_problem_t *problem, uint32_t set, uint32_t i,
                              uint64_t *at, const uint32_t *group, uint64_t peak, uint64_t best) {
  while (i < problem->buffer_count && (set >> i & 1) == 0) i++;
  if (i == problem->buffer_count) return peak < best ? peak : best;
  const berth_buffer_t *buffer = &problem->buffers[i];
  for (uint64_t offset = 0; offset < 32; offset++) {
    if (buffer->fixed != BERTH_ANYWHERE ? offset != buffer->fixed : offset % buffer->align != 0) {
      continue;
    }
    uint64_t top = buffer->size > 0 ? offset + buffer->size : 0;
    if ((top > peak ? top : peak) >= best) {
      if (buffer->size > 0) break;
      continue;
    }
    bool fine = true;
    for (uint32_t j = 0; j < i; j++) {
      if ((set >> j & 1) != 0) fine = fine && get_along(problem, j, at[j], i, offset, group);
    }
    if (!fine) continue;
    at[i] = offset;
    best = smallest_peak(problem, set, i + 1, at, group, top > peak ? top : peak, best);
    if (best == 0) break;
  }
  return best;
}

static bool brute_force(const berth_problem_t *problem, uint64_t *cost, uint64_t *peak) {
  uint64_t peaks[1 << BUFFERS];
  uint32_t group[BUFFERS], count = problem->buffer_count, options = problem->region_count + 1;
  for (uint32_t i = 0; i < count; i++) group[i] = i;
  for (uint32_t round = 0; round < count; round++) {
    for (uint32_t k = 0; k < problem->pair_count; k++) {
      const berth_pair_t *pair = &problem->pairs[k];
      if (pair->relation != BERTH_SHARE) continue;
      uint32_t least = group[pair->a] < group[pair->b] ? group[pair->a] : group[pair->b];
      group[pair->a] = group[pair->b] = least;
    }
  }
  for (uint32_t set = 0; set < (uint32_t)1 << count; set++) {
    uint64_t at[BUFFERS];
    peaks[set] = smallest_peak(problem, set, 0, at, group, 0, 32);
  }
  bool found = false;
  uint32_t all = 1;
  for (uint32_t i = 0; i < count; i++) all *= options;
  for (uint32_t number = 0; number < all; number++) {
    uint32_t choice[BUFFERS], sets[REGIONS + 1] = {0};
    uint64_t this_cost = 0;
    bool fine = true;
    for (uint32_t i = 0, rest = number; i < count; i++, rest /= options) {
      const berth_buffer_t *buffer = &problem->buffers[i];
      choice[i] = rest % options;
      bool outside = choice[i] == problem->region_count;
      sets[choice[i]] |= (uint32_t)1 << i;
      this_cost +=
          buffer->traffic * (outside ? problem->outside_cost : problem->regions[choice[i]].cost);
      fine = fine && (outside ? buffer->constant
                              : buffer->regions == 0 || (buffer->regions >> choice[i] & 1) != 0);
    }
    for (uint32_t k = 0; k < problem->pair_count; k++) {
      const berth_pair_t *pair = &problem->pairs[k];
      bool same = choice[pair->a] == choice[pair->b];
      if (pair->relation == BERTH_SHARE) fine = fine && same;
      if (pair->relation == BERTH_APART) {
        fine = fine && (!same || choice[pair->a] == problem->region_count);
      }
    }
    for (uint32_t r = 0; r < problem->region_count; r++) {
      uint64_t height = peaks[sets[r]]; /* 32: no way */
      fine = fine && height < 32 && height <= problem->regions[r].capacity;
    }
    if (!fine) continue;
    if (!found || this_cost < *cost || (this_cost == *cost && peaks[sets[0]] < *peak)) {
      *cost = this_cost;
      *peak = peaks[sets[0]];
      found = true;
    }
  }
  return found;
}

static berth_status_t explain(const berth_problem_t *problem, const berth_plan_options_t *options,
                              berth_explanation_t *explanation) {
  size_t bytes;
  assert_int_equal(berth_plan_explain_workspace(problem, &bytes), BERTH_OK);
  void *workspace = malloc(bytes + 1);
  assert_non_null(workspace);
  berth_status_t status = berth_plan_explain(problem, options, workspace, bytes, explanation);
  free(workspace);
  return status;
}

static void small_problems_are_planned_as_brute_force_does(void **state) {
  (void)state;
  uint64_t seed = 11;
  uint32_t cases = random_cases(3000), optimal = 0, infeasible = 0, undecided = 0, worse = 0,
           explained = 0;
  for (uint32_t n = 0; n < cases; n++) {
    region_problem_t random;
    random_regions(&seed, &random);
    const berth_problem_t *problem = &random.problem;
    berth_placement_t placements[BUFFERS];
    berth_plan_t plan = {.placements = placements};
    berth_status_t status = plan_with(&berth_planner_best, problem, NULL, &plan);
    uint64_t cost = 0, peak = 0;
    bool possible = brute_force(problem, &cost, &peak);
    bool right = status == BERTH_INFEASIBLE
                     ? !possible
                     : status == BERTH_UNDECIDED ||
                           (status == BERTH_OK && possible &&
                            (!plan.optimal || (plan.cost == cost && plan.peak == peak)));
    if (!right) show(problem);
    berth_explanation_t why;
    berth_status_t reason = explain(problem, NULL, &why);
    if (reason == BERTH_INFEASIBLE && possible) {
      show(problem);
      fail_msg("case %u is possible, yet explained (%d)", n, (int)why.obstacle);
    }
    assert_true(reason == BERTH_OK || reason == BERTH_INFEASIBLE);
    explained += reason == BERTH_INFEASIBLE;
    if (status == BERTH_INFEASIBLE) {
      if (possible) fail_msg("case %u is possible", n);
      infeasible++;
    } else if (status == BERTH_UNDECIDED) {
      undecided++;
    } else {
      if (status != BERTH_OK) fail_msg("case %u: %s", n, berth_status_text(status));
      assert_int_equal(verify(problem, &plan, NULL), BERTH_OK);
      if (!possible) fail_msg("case %u is impossible", n);
      bool same = plan.cost == cost && plan.peak == peak;
      if (plan.cost < cost || (plan.cost == cost && plan.peak < peak)) {
        fail_msg("case %u: brute force is wrong", n);
      }
      if (plan.optimal && !same) {
        fail_msg("case %u: cost %llu, peak %llu instead of %llu, %llu", n,
                 (unsigned long long)plan.cost, (unsigned long long)plan.peak,
                 (unsigned long long)cost, (unsigned long long)peak);
      }
      assert_true(plan.cost > cost || plan.lower_bound <= peak);
      optimal += plan.optimal;
      worse += !same;
    }
  }
  print_message("%u problems: %u optimal, %u infeasible (%u explained), %u undecided, %u worse "
                "than possible\n",
                cases, optimal, infeasible, explained, undecided, worse);
}

/* ---- The rules, one by one ---------------------------------------------------------------------
 */

static berth_status_t plan_best(const berth_problem_t *problem, berth_plan_t *plan) {
  berth_status_t status = plan_with(&berth_planner_best, problem, NULL, plan);
  if (status == BERTH_OK) assert_int_equal(verify(problem, plan, NULL), BERTH_OK);
  return status;
}

static void what_pays_most_per_byte_goes_to_the_fast_memory(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(100, 0, 1), berth_buffer(60, 0, 1),
                              berth_buffer(40, 0, 1)};
  buffers[0].traffic = 1000;
  buffers[1].traffic = 900;
  buffers[2].traffic = 500;
  const berth_region_t regions[] = {{100, 1}, {BERTH_UNLIMITED, 10}};
  const berth_problem_t problem = {
      .buffers = buffers, .buffer_count = 3, .regions = regions, .region_count = 2};
  berth_plan_t plan = {0};
  assert_int_equal(plan_best(&problem, &plan), BERTH_OK);
  assert_int_equal(plan.placements[0].region, 1);
  assert_int_equal(plan.placements[1].region, 0);
  assert_int_equal(plan.placements[2].region, 0);
  assert_int_equal(plan.cost, 900 + 500 + 10000);
  assert_true(plan.optimal);
  free(plan.placements);
}

static void what_costs_the_same_anywhere_leaves_the_fast_memory_free(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(100, 0, 1), berth_buffer(60, 0, 1)};
  buffers[1].traffic = 9;
  const berth_region_t regions[] = {{1000, 1}, {BERTH_UNLIMITED, 10}};
  const berth_problem_t problem = {
      .buffers = buffers, .buffer_count = 2, .regions = regions, .region_count = 2};
  berth_plan_t plan = {0};
  assert_int_equal(plan_best(&problem, &plan), BERTH_OK);
  assert_int_equal(plan.placements[0].region, 1);
  assert_int_equal(plan.peak, 60);
  assert_true(plan.optimal);
  free(plan.placements);
}

static void an_arena_in_two_pieces_holds_what_one_piece_would_not(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(60 << 10, 0, 1), berth_buffer(50 << 10, 0, 2),
                              berth_buffer(46 << 10, 0, 3), berth_buffer(60 << 10, 2, 3)};
  const berth_region_t regions[] = {{96 << 10, 1}, {64 << 10, 1}};
  const berth_problem_t problem = {
      .buffers = buffers, .buffer_count = 4, .regions = regions, .region_count = 2};
  berth_plan_t plan = {0};
  assert_int_equal(plan_best(&problem, &plan), BERTH_OK);
  assert_int_equal(plan.placements[0].region, 1);
  assert_int_equal(plan.placements[3].region, 1);
  free(plan.placements);
}

static void the_banks_of_a_dsp_keep_operands_apart(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(64, 0, 1), berth_buffer(64, 0, 1),
                              berth_buffer(64, 1, 2)};
  const berth_pair_t pairs[] = {{0, 1, BERTH_APART, 0}, {1, 2, BERTH_APART, 0}};
  const berth_region_t regions[] = {{128, 1}, {128, 1}};
  berth_problem_t problem = {.buffers = buffers,
                             .buffer_count = 3,
                             .pairs = pairs,
                             .pair_count = 2,
                             .regions = regions,
                             .region_count = 2};
  berth_plan_t plan = {0};
  assert_int_equal(plan_best(&problem, &plan), BERTH_OK);
  assert_int_equal(plan.placements[0].region, plan.placements[2].region);
  assert_int_not_equal(plan.placements[0].region, plan.placements[1].region);
  problem.region_count = 1;
  assert_int_equal(plan_best(&problem, &plan), BERTH_INFEASIBLE);
  berth_explanation_t why;
  assert_int_equal(explain(&problem, NULL, &why), BERTH_INFEASIBLE);
  assert_int_equal(why.obstacle, BERTH_OBSTACLE_CONFLICT);
  assert_int_equal(why.a, 0);
  assert_int_equal(why.b, 1);
  free(plan.placements);
}

static void weights_are_copied_in_where_that_pays(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(64, 0, 3), berth_buffer(64, 0, 3),
                              berth_buffer(32, 0, 3)};
  for (uint32_t i = 0; i < 3; i++) buffers[i].traffic = 64;
  buffers[0].constant = buffers[1].constant = true;
  buffers[1].traffic = 640;
  const berth_region_t regions[] = {{100, 1}};
  const berth_problem_t problem = {.buffers = buffers,
                                   .buffer_count = 3,
                                   .regions = regions,
                                   .region_count = 1,
                                   .outside_cost = 4};
  berth_plan_t plan = {0};
  assert_int_equal(plan_best(&problem, &plan), BERTH_OK);
  assert_int_equal(plan.placements[0].region, BERTH_OUTSIDE);
  assert_int_equal(plan.placements[1].region, 0);
  assert_int_equal(plan.placements[2].region, 0);
  assert_int_equal(plan.cost, 4 * 64 + 640 + 64);
  free(plan.placements);
}

static void planners_of_one_region_refuse_several(void **state) {
  (void)state;
  berth_buffer_t buffer = berth_buffer(64, 0, 1);
  const berth_region_t regions[] = {{128, 1}, {128, 1}};
  const berth_problem_t problem = {
      .buffers = &buffer, .buffer_count = 1, .regions = regions, .region_count = 2};
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    if ((berth_planner_at(p)->handles & BERTH_HANDLES_REGIONS) != 0) continue;
    berth_plan_t plan = {0};
    assert_int_equal(plan_with(berth_planner_at(p), &problem, NULL, &plan),
                     BERTH_ERROR_UNSUPPORTED);
  }
}

/* ---- Why nothing fits ------------------------------------------------------------------------ */

static void the_step_that_is_too_full_is_named(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(60, 0, 1), berth_buffer(50, 1, 2),
                              berth_buffer(30, 2, 3), berth_buffer(500, 1, 2)};
  buffers[3].constant = true;
  const berth_region_t regions[] = {{70, 1}, {30, 2}};
  const berth_problem_t problem = {
      .buffers = buffers, .buffer_count = 4, .regions = regions, .region_count = 2};
  berth_explanation_t why;
  assert_int_equal(explain(&problem, NULL, &why), BERTH_INFEASIBLE);
  assert_int_equal(why.obstacle, BERTH_OBSTACLE_STEP);
  assert_int_equal(why.step, 1);
  assert_int_equal(why.regions, 3);
  assert_int_equal(why.needed, 110);
  assert_int_equal(why.available, 100);
  assert_true(berth_explanation_concerns(&why, &problem, 0));
  assert_true(berth_explanation_concerns(&why, &problem, 1));
  assert_false(berth_explanation_concerns(&why, &problem, 2));
  assert_false(berth_explanation_concerns(&why, &problem, 3));
}

static void the_pinned_buffers_that_do_not_fit_are_named(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(60, 0, 1), berth_buffer(50, 1, 2),
                              berth_buffer(30, 1, 1)};
  buffers[0].regions = buffers[1].regions = 1;
  const berth_region_t regions[] = {{100, 1}, {1000, 2}};
  const berth_problem_t problem = {
      .buffers = buffers, .buffer_count = 3, .regions = regions, .region_count = 2};
  berth_explanation_t why;
  assert_int_equal(explain(&problem, NULL, &why), BERTH_INFEASIBLE);
  assert_int_equal(why.obstacle, BERTH_OBSTACLE_STEP);
  assert_int_equal(why.regions, 1);
  assert_int_equal(why.needed - why.available, 10);
  assert_false(berth_explanation_concerns(&why, &problem, 2));
}

static void a_buffer_larger_than_its_regions_is_named(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(60, 0, 1), berth_buffer(101, 1, 2)};
  const berth_problem_t problem = {.buffers = buffers, .buffer_count = 2};
  const berth_plan_options_t options = {.capacity = 100};
  berth_explanation_t why;
  assert_int_equal(explain(&problem, NULL, &why), BERTH_OK);
  assert_int_equal(why.obstacle, BERTH_OBSTACLE_NONE);
  assert_int_equal(explain(&problem, &options, &why), BERTH_INFEASIBLE);
  assert_int_equal(why.obstacle, BERTH_OBSTACLE_BUFFER);
  assert_int_equal(why.a, 1);
  assert_int_equal(why.needed, 101);
  assert_int_equal(why.available, 100);
}

static void fixed_buffers_that_hit_each_other_are_named(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(60, 0, 1), berth_buffer(8, 3, 4),
                              berth_buffer(20, 1, 2)};
  buffers[0].fixed = 0;
  buffers[2].fixed = 59;
  const berth_problem_t problem = {.buffers = buffers, .buffer_count = 3};
  berth_explanation_t why;
  assert_int_equal(explain(&problem, NULL, &why), BERTH_INFEASIBLE);
  assert_int_equal(why.obstacle, BERTH_OBSTACLE_CONFLICT);
  assert_int_equal(why.a, 0);
  assert_int_equal(why.b, 2);
  buffers[2].fixed = 60;
  assert_int_equal(explain(&problem, NULL, &why), BERTH_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_pays_most_per_byte_goes_to_the_fast_memory),
      cmocka_unit_test(what_costs_the_same_anywhere_leaves_the_fast_memory_free),
      cmocka_unit_test(an_arena_in_two_pieces_holds_what_one_piece_would_not),
      cmocka_unit_test(the_banks_of_a_dsp_keep_operands_apart),
      cmocka_unit_test(weights_are_copied_in_where_that_pays),
      cmocka_unit_test(planners_of_one_region_refuse_several),
      cmocka_unit_test(the_step_that_is_too_full_is_named),
      cmocka_unit_test(the_pinned_buffers_that_do_not_fit_are_named),
      cmocka_unit_test(a_buffer_larger_than_its_regions_is_named),
      cmocka_unit_test(fixed_buffers_that_hit_each_other_are_named),
      cmocka_unit_test(small_problems_are_planned_as_brute_force_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
