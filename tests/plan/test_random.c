/* Random small problems with every constraint: whatever a planner returns is right, planners don't
 * contradict each other, and the same problem gives the same plan again. BERTH_TEST_CASES sets the
 * number of problems. */
#include "plan/support.h"

static unsigned char workspace[1 << 22];

static berth_status_t plan_once(const berth_planner_t *planner, const berth_problem_t *problem,
                                const berth_plan_options_t *options, berth_plan_t *plan) {
  size_t bytes;
  berth_status_t status = berth_plan_workspace(planner, problem, options, &bytes);
  if (status != BERTH_OK) return status;
  assert_true(bytes <= sizeof workspace);
  return berth_plan_make(planner, problem, options, workspace, bytes, plan);
}

static void every_plan_of_every_planner_is_right(void **state) {
  (void)state;
  uint64_t seed = 42;
  uint32_t cases = random_cases(20000), plans = 0, infeasible = 0, optimal = 0;
  berth_plan_options_t options = {.work_limit = 20000};
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    random_problem(&seed, RANDOM_BUFFERS, &random);
    const berth_problem_t *problem = &random.problem;
    uint64_t best = UINT64_MAX, bound = 0;
    bool impossible = false;
    for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
      berth_placement_t placements[RANDOM_BUFFERS];
      berth_plan_t plan = {.placements = placements};
      berth_status_t status = plan_once(berth_planner_at(p), problem, &options, &plan);
      if (status == BERTH_ERROR_UNSUPPORTED) continue;
      if (status == BERTH_INFEASIBLE) {
        impossible = true;
        infeasible++;
        continue;
      }
      if (status != BERTH_OK) {
        fail_msg("case %u, %s: %s", n, berth_planner_at(p)->name, berth_status_text(status));
      }
      berth_finding_t finding;
      if (verify(problem, &plan, &finding) != BERTH_OK) {
        fail_msg("case %u, %s: %s", n, berth_planner_at(p)->name, berth_fault_text(finding.fault));
      }
      if (plan.peak < best) best = plan.peak;
      if (plan.lower_bound > bound) bound = plan.lower_bound;
      if (plan.optimal) optimal++;
      plans++;
      assert_true(plan.optimal == (plan.peak == plan.lower_bound));
    }
    assert_true(impossible ? best == UINT64_MAX : bound <= best);
  }
  print_message("%u problems: %u plans, %u of them proven optimal; %u times infeasible\n", cases,
                plans, optimal, infeasible);
  if (cases >= 1000) assert_true(plans > cases && optimal > cases / 10 && infeasible > cases / 100);
}

static void a_capacity_is_kept_or_honestly_missed(void **state) {
  (void)state;
  uint64_t seed = 43;
  uint32_t cases = random_cases(20000) / 4;
  for (uint32_t n = 0; n < cases; n++) {
    random_problem_t random;
    random_problem(&seed, 8, &random);
    berth_region_t region = {1 + random_below(&seed, 60), 0};
    bool by_region = n % 2 == 0;
    if (by_region) {
      random.problem.regions = &region;
      random.problem.region_count = 1;
    }
    berth_plan_options_t options = {.work_limit = 20000,
                                    .capacity = by_region ? 0 : region.capacity};
    bool fits = false, impossible = false;
    for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
      berth_placement_t placements[RANDOM_BUFFERS];
      berth_plan_t plan = {.placements = placements};
      berth_status_t status = plan_once(berth_planner_at(p), &random.problem, &options, &plan);
      if (status == BERTH_ERROR_UNSUPPORTED) continue;
      assert_true(status >= BERTH_OK);
      if (status == BERTH_OK) {
        assert_true(plan.peak <= region.capacity);
        assert_int_equal(verify(&random.problem, &plan, NULL), BERTH_OK);
        fits = true;
      }
      if (status == BERTH_UNDECIDED && plan.peak != UINT64_MAX) {
        assert_true(plan.peak > region.capacity);
        assert_true(plan.lower_bound <= region.capacity);
      }
      if (status == BERTH_INFEASIBLE) impossible = true;
    }
    assert_false(fits && impossible);
  }
}

static void the_same_problem_gives_the_same_plan(void **state) {
  (void)state;
  uint64_t seed = 44;
  for (uint32_t n = 0; n < 1000; n++) {
    random_problem_t random;
    random_problem(&seed, RANDOM_BUFFERS, &random);
    berth_plan_options_t options = {.work_limit = 20000};
    for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
      berth_placement_t one[RANDOM_BUFFERS], two[RANDOM_BUFFERS];
      memset(one, 0, sizeof one);
      memset(two, 0, sizeof two);
      berth_plan_t first = {.placements = one}, second = {.placements = two};
      memset(workspace, 0x00, sizeof workspace / 64);
      berth_status_t status = plan_once(berth_planner_at(p), &random.problem, &options, &first);
      memset(workspace, 0xff, sizeof workspace / 64);
      assert_int_equal(plan_once(berth_planner_at(p), &random.problem, &options, &second), status);
      if (status != BERTH_OK) continue;
      for (uint32_t i = 0; i < random.problem.buffer_count; i++) {
        assert_int_equal(one[i].offset, two[i].offset);
      }
      assert_int_equal(first.work, second.work);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_plan_of_every_planner_is_right),
      cmocka_unit_test(a_capacity_is_kept_or_honestly_missed),
      cmocka_unit_test(the_same_problem_gives_the_same_plan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
