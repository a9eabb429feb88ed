/* The lower bound: never above what brute force finds, and more than the load where alignments or
 * fixed offsets cost bytes in every plan. */
#include "plan/bounds.h"
#include "plan/brute.h"
#include "plan/load.h"

static uint64_t bound_of(const berth_problem_t *problem) {
  size_t bytes;
  uint64_t bound = 0;
  assert_int_equal(berth_plan_bound_workspace(problem, &bytes), BERTH_OK);
  void *workspace = malloc(bytes + 1);
  if (workspace == NULL) abort();
  assert_int_equal(berth_plan_bound(problem, workspace, bytes, &bound), BERTH_OK);
  free(workspace);
  return bound;
}

static uint64_t load_bound_of(const berth_problem_t *problem) {
  size_t bytes;
  uint64_t bound = 0;
  assert_int_equal(berth_plan_load_bound_workspace(problem, &bytes), BERTH_OK);
  void *workspace = malloc(bytes + 1);
  if (workspace == NULL) abort();
  assert_int_equal(berth_plan_load_bound(problem, workspace, bytes, &bound), BERTH_OK);
  free(workspace);
  return bound;
}

static void no_bound_is_above_the_smallest_peak(void **state) {
  (void)state;
  uint64_t seed = 7;
  uint32_t cases = random_cases(3000), above = 0, met[2] = {0, 0}, constrained = 0;
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    brute_problem(&seed, &random);
    const berth_problem_t *problem = &random.problem;
    uint64_t bound = bound_of(problem), load = load_bound_of(problem);
    assert_true(bound >= load);
    /* No plan in fewer bytes than the bound says; 48 are enough for any that has a plan at all. */
    if (bound > 0 && brute_peak(problem, bound - 1, bound) < bound) {
      fail_msg("case %u: a plan of %u bytes, the bound says %u", n, (unsigned)bound - 1,
               (unsigned)bound);
    }
    uint64_t peak = brute_peak(problem, load, 49);
    if (peak == 49 || peak == 0) continue;
    bool plain = true;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
      plain =
          plain && problem->buffers[i].align <= 1 && problem->buffers[i].fixed == BERTH_ANYWHERE;
    }
    if (plain) continue;
    constrained++;
    above += bound > load;
    met[0] += load == peak;
    met[1] += bound == peak;
  }
  print_message(
      "%u problems with alignments or fixed offsets: the load is the smallest peak of %u, "
      "the bound of %u; it is above the load in %u\n",
      constrained, met[0], met[1], above);
  if (cases >= 1000) assert_true(above > constrained / 50 && met[1] > met[0]);
}

static void alignment_costs_all_but_the_topmost_buffer(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(10, 0, 1), berth_buffer(20, 0, 1),
                              berth_buffer(5, 1, 2)};
  for (int i = 0; i < 3; i++) buffers[i].align = 16;
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 3};
  assert_int_equal(load_bound_of(&problem), 35);
  /* In step 1: 16 + 32 + 16, less the 12 of the topmost if it is the last. */
  assert_int_equal(bound_of(&problem), 16 + 32 + 16 - 12);
  buffers[2].align = 1; /* fits behind the first */
  assert_int_equal(bound_of(&problem), 16 + 32 - 12);
}

static void a_gap_too_small_for_any_buffer_is_lost(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(8, 0, 3), berth_buffer(10, 1, 1), berth_buffer(3, 2, 2)};
  buffers[0].fixed = 4;
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 3};
  assert_int_equal(bound_of(&problem), 4 + 8 + 10);
  buffers[1].size = 4; /* fits below */
  assert_int_equal(bound_of(&problem), 12);
}

static void a_greedy_plan_that_meets_it_is_known_to_be_optimal(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(10, 0, 1), berth_buffer(20, 1, 2)};
  buffers[0].align = buffers[1].align = 64;
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 2};
  berth_placement_t placements[2];
  berth_plan_t plan = {.placements = placements};
  assert_int_equal(plan_with(&berth_planner_size, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.lower_bound, 64 + 10);
  assert_true(plan.optimal == (plan.peak == 74));
  assert_int_equal(plan_with(&berth_planner_best, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.peak, 74);
  assert_true(plan.optimal);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_bound_is_above_the_smallest_peak),
      cmocka_unit_test(alignment_costs_all_but_the_topmost_buffer),
      cmocka_unit_test(a_gap_too_small_for_any_buffer_is_lost),
      cmocka_unit_test(a_greedy_plan_that_meets_it_is_known_to_be_optimal),
  };
  return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
