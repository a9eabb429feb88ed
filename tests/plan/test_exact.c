/* The exact planner against brute force, and on the reference data. */
#include "plan/brute.h"

static void the_peak_is_that_of_brute_force(void **state) {
  (void)state;
  uint64_t seed = 1;
  uint32_t cases = random_cases(3000), proven = 0, above_load = 0;
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    brute_problem(&seed, &random);
    berth_problem_t *problem = &random.problem;
    berth_placement_t placements[RANDOM_BUFFERS];
    berth_plan_t plan = {.placements = placements};
    berth_status_t status = plan_with(&berth_planner_exact, problem, NULL, &plan);
    if (status == BERTH_INFEASIBLE) {
      assert_int_equal(brute_peak(problem, 48, 49), 49);
      continue;
    }
    assert_int_equal(status, BERTH_OK);
    assert_true(plan.optimal);
    uint64_t load = load_of(problem, NULL);
    uint64_t from = problem->pair_count > 0 ? 0 : load;
    if (brute_peak(problem, from, plan.peak) != plan.peak) fail_msg("case %u is wrong", n);
    proven++;
    above_load += plan.peak > load;
  }
  print_message("%u plans, %u of them above the load\n", proven, above_load);
  if (cases >= 1000) assert_true(proven > cases / 2 && above_load > cases / 200);
}

/* ---- Techniques ------------------------------------------------------------------------------ */

static void no_technique_changes_the_peak(void **state) {
  (void)state;
  uint64_t seed = 2;
  uint32_t cases = random_cases(3000) / 4;
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    random_problem(&seed, RANDOM_BUFFERS, &random);
    random.problem.pair_count = 0;
    berth_placement_t placements[RANDOM_BUFFERS];
    berth_plan_t plan = {.placements = placements};
    if (plan_with(&berth_planner_exact, &random.problem, NULL, &plan) != BERTH_OK) continue;
    for (uint32_t technique = 0; berth_technique_name(technique) != NULL; technique++) {
      berth_plan_options_t options = {.without = (berth_techniques_t)1 << technique};
      berth_placement_t others[RANDOM_BUFFERS];
      berth_plan_t other = {.placements = others};
      assert_int_equal(plan_with(&berth_planner_exact, &random.problem, &options, &other),
                       BERTH_OK);
      if (plan.peak != other.peak || plan.optimal != other.optimal) {
        fail_msg("case %u without %s", n, berth_technique_name(technique));
      }
    }
  }
}

/* A failure below a choice that passed a buffer over relies on all choices since. */
static void going_back_does_not_skip_what_a_passed_buffer_needs(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(5, 7, 7), berth_buffer(6, 5, 6), berth_buffer(2, 5, 6),
                              berth_buffer(6, 1, 5), berth_buffer(3, 2, 7), berth_buffer(5, 0, 7),
                              berth_buffer(2, 6, 7), berth_buffer(6, 7, 7), berth_buffer(4, 0, 1)};
  buffers[2].align = buffers[3].align = buffers[5].align = 4;
  buffers[4].align = 8;
  buffers[6].fixed = 2;
  buffers[8].fixed = 4;
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 9};
  berth_placement_t placements[9];
  berth_plan_t plan = {.placements = placements};
  assert_int_equal(plan_with(&berth_planner_exact, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.peak, 29);
  assert_true(plan.optimal);
}

static void every_technique_has_a_name_and_a_sentence(void **state) {
  (void)state;
  uint32_t count = 0;
  for (; berth_technique_name(count) != NULL; count++) {
    const char *summary = berth_technique_summary(count);
    assert_true(summary[strlen(summary) - 1] == '.');
  }
  assert_in_range(count, 5, 32);
  assert_null(berth_technique_summary(count));
}

/* ---- Capacities ------------------------------------------------------------------------------ */

static void a_capacity_is_met_or_proven_too_small(void **state) {
  (void)state;
  uint64_t seed = 3;
  uint32_t cases = random_cases(3000) / 4;
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    random_problem(&seed, 10, &random);
    berth_placement_t placements[RANDOM_BUFFERS];
    berth_plan_t plan = {.placements = placements};
    if (plan_with(&berth_planner_exact, &random.problem, NULL, &plan) != BERTH_OK) continue;
    uint64_t peak = plan.peak;
    if (peak < 2) continue;
    berth_plan_options_t options = {.capacity = peak};
    assert_int_equal(plan_with(&berth_planner_exact, &random.problem, &options, &plan), BERTH_OK);
    assert_int_equal(plan.peak, peak);
    options.capacity = peak - 1;
    assert_int_equal(plan_with(&berth_planner_exact, &random.problem, &options, &plan),
                     BERTH_INFEASIBLE);
    assert_true(plan.lower_bound >= peak);
  }
}

static bool stop_at_once(void *user, uint64_t work, uint64_t best, uint64_t lower_bound) {
  (void)work;
  (void)best;
  (void)lower_bound;
  ++*(uint32_t *)user;
  return false;
}

/* Nine that the greedy orders place badly: two ladders of lifetimes. */
static void when_told_to_stop_the_best_plan_so_far_is_the_result(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(3, 0, 1), berth_buffer(2, 1, 2), berth_buffer(4, 2, 3),
                              berth_buffer(5, 3, 4), berth_buffer(3, 0, 2), berth_buffer(4, 2, 4),
                              berth_buffer(2, 1, 3), berth_buffer(6, 4, 5), berth_buffer(1, 0, 5)};
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 9};
  uint32_t calls = 0;
  berth_plan_options_t options = {.progress = stop_at_once, .progress_user = &calls};
  berth_placement_t placements[9];
  berth_plan_t plan = {.placements = placements};
  assert_int_equal(plan_with(&berth_planner_exact, &problem, &options, &plan), BERTH_OK);
  assert_true(calls > 0);
  assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
}

/* ---- The reference data ---------------------------------------------------------------------- */

/* MiniMalloc's challenging instances that take little time here. */
static void challenging_instances_fit_into_a_mebibyte(void **state) {
  (void)state;
  const char *data = reference_data();
  for (const char *name = "BCDFGHJK"; *name != '\0'; name++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/problems/%c.1048576.csv", data, *name);
    berth_buffer_t *buffers;
    berth_problem_t problem = problem_read(path, 1, &buffers);
    berth_plan_options_t options = {.capacity = 1048576};
    berth_plan_t plan = {.placements = NULL};
    berth_status_t status = plan_with(&berth_planner_exact, &problem, &options, &plan);
    if (status != BERTH_OK) fail_msg("%c: %s", *name, berth_status_text(status));
    assert_true(plan.peak <= 1048576);
    free(plan.placements);
    free(buffers);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_peak_is_that_of_brute_force),
      cmocka_unit_test(no_technique_changes_the_peak),
      cmocka_unit_test(going_back_does_not_skip_what_a_passed_buffer_needs),
      cmocka_unit_test(every_technique_has_a_name_and_a_sentence),
      cmocka_unit_test(a_capacity_is_met_or_proven_too_small),
      cmocka_unit_test(when_told_to_stop_the_best_plan_so_far_is_the_result),
      cmocka_unit_test(challenging_instances_fit_into_a_mebibyte),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
