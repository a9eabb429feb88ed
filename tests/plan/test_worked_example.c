/* The example that every text on this subject uses: the four tensors of a small network's start. */
#include "plan/support.h"

static const berth_buffer_t tensors[] = {
    {602112, 1, BERTH_ANYWHERE, 0, 0, 0, 0, false},
    {802816, 1, BERTH_ANYWHERE, 0, 0, 1, 0, false},
    {401408, 1, BERTH_ANYWHERE, 0, 1, 2, 0, false},
    {200704, 1, BERTH_ANYWHERE, 0, 2, 2, 0, false},
};
static const berth_problem_t problem = {.buffers = tensors, .buffer_count = 4};

static void without_reuse_it_needs_the_sum(void **state) {
  (void)state;
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_none, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.peak, 2007040);
  free(plan.placements);
}

static void the_load_is_that_of_the_first_step(void **state) {
  (void)state;
  uint32_t step = 99;
  assert_int_equal(load_of(&problem, &step), 1404928);
  assert_int_equal(step, 0);
}

/* The first two are live together, so the 1204224 that was once published for it cannot be. */
static void t2_takes_the_place_of_t0_and_t3_that_of_t1(void **state) {
  (void)state;
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    const berth_planner_t *planner = berth_planner_at(p);
    if (planner == &berth_planner_none || planner == &berth_planner_linear) continue;
    berth_plan_t plan = {0};
    assert_int_equal(plan_with(planner, &problem, NULL, &plan), BERTH_OK);
    assert_int_equal(plan.peak, 1404928);
    assert_int_equal(plan.lower_bound, 1404928);
    assert_true(plan.optimal);
    free(plan.placements);
  }
  berth_placement_t placements[] = {{802816, 0}, {0, 0}, {802816, 0}, {0, 0}};
  berth_plan_t plan = {.placements = placements, .peak = 1404928};
  assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
}

static void less_than_the_load_is_proven_infeasible(void **state) {
  (void)state;
  berth_plan_options_t options = {.capacity = 1404927};
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    berth_plan_t plan = {0};
    assert_int_equal(plan_with(berth_planner_at(p), &problem, &options, &plan), BERTH_INFEASIBLE);
    assert_int_equal(plan.lower_bound, 1404928);
    free(plan.placements);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_reuse_it_needs_the_sum),
      cmocka_unit_test(the_load_is_that_of_the_first_step),
      cmocka_unit_test(t2_takes_the_place_of_t0_and_t3_that_of_t1),
      cmocka_unit_test(less_than_the_load_is_proven_infeasible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
