/* Malformed problems are named, and every entry point refuses them. */
#include "plan/support.h"

static berth_buffer_t buffers[3];
static berth_pair_t pairs[2];
static berth_region_t regions[2];
static berth_problem_t problem;

static int set_up(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; i++) buffers[i] = berth_buffer(16, i, i + 1);
  memset(pairs, 0, sizeof pairs);
  pairs[0].b = 1;
  pairs[1].b = 2;
  regions[0].capacity = regions[1].capacity = 64;
  regions[0].cost = regions[1].cost = 1;
  memset(&problem, 0, sizeof problem);
  problem.buffers = buffers;
  problem.buffer_count = 3;
  return 0;
}

/* The status and the culprit of `problem`; everything else must refuse it alike. */
static void expect(berth_status_t status, uint32_t culprit) {
  uint32_t found = 12345;
  assert_int_equal(berth_problem_check(&problem, &found), status);
  assert_int_equal(berth_problem_check(&problem, NULL), status);
  assert_int_equal(found, culprit);
  size_t bytes = 777;
  berth_placement_t placements[3];
  berth_plan_t plan = {.placements = placements, .peak = 5};
  uint64_t workspace[512], load;
  assert_int_equal(berth_plan_workspace(&berth_planner_size, &problem, NULL, &bytes), status);
  assert_int_equal(
      berth_plan_make(&berth_planner_size, &problem, NULL, workspace, sizeof workspace, &plan),
      status);
  assert_int_equal(berth_problem_load_workspace(&problem, &bytes), status);
  assert_int_equal(berth_problem_load(&problem, workspace, sizeof workspace, &load, NULL), status);
  assert_int_equal(berth_plan_verify_workspace(&problem, &bytes), status);
  assert_int_equal(berth_plan_verify(&problem, &plan, workspace, sizeof workspace, NULL), status);
  assert_int_equal(bytes, 777);
  assert_int_equal(plan.peak, 5);
}

static void a_plain_problem_is_well_formed(void **state) {
  (void)state;
  uint32_t culprit;
  assert_int_equal(berth_problem_check(&problem, &culprit), BERTH_OK);
  problem.pairs = pairs;
  problem.pair_count = 2;
  problem.regions = regions;
  problem.region_count = 2;
  assert_int_equal(berth_problem_check(&problem, &culprit), BERTH_OK);
  assert_int_equal(culprit, UINT32_MAX);
}

static void an_empty_problem_has_an_empty_plan(void **state) {
  (void)state;
  memset(&problem, 0, sizeof problem);
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    berth_plan_t plan = {.peak = 5};
    assert_int_equal(plan_with(berth_planner_at(p), &problem, NULL, &plan), BERTH_OK);
    assert_int_equal(plan.peak, 0);
    assert_true(plan.optimal);
    free(plan.placements);
  }
}

static void a_lifetime_that_ends_before_it_begins_is_refused(void **state) {
  (void)state;
  buffers[1].last = 0;
  expect(BERTH_ERROR_ARGUMENT, 1);
}

static void a_lifetime_without_an_end_is_refused(void **state) {
  (void)state;
  buffers[2].last = UINT32_MAX;
  expect(BERTH_ERROR_ARGUMENT, 2);
}

static void a_fixed_offset_against_the_alignment_is_refused(void **state) {
  (void)state;
  buffers[0].align = 16;
  buffers[0].fixed = 24;
  expect(BERTH_ERROR_ARGUMENT, 0);
}

static void a_region_that_does_not_exist_is_refused(void **state) {
  (void)state;
  buffers[1].regions = 2;
  expect(BERTH_ERROR_ARGUMENT, 1);
}

static void a_pair_with_itself_is_refused(void **state) {
  (void)state;
  problem.pairs = pairs;
  problem.pair_count = 2;
  pairs[1].b = 0;
  expect(BERTH_ERROR_ARGUMENT, 4);
}

static void a_pair_with_an_unknown_buffer_is_refused(void **state) {
  (void)state;
  problem.pairs = pairs;
  problem.pair_count = 1;
  pairs[0].b = 3;
  expect(BERTH_ERROR_ARGUMENT, 3);
}

static void an_overlap_larger_than_the_buffer_is_refused(void **state) {
  (void)state;
  problem.pairs = pairs;
  problem.pair_count = 1;
  pairs[0].relation = BERTH_HEAD;
  pairs[0].bytes = 17;
  expect(BERTH_ERROR_ARGUMENT, 3);
  pairs[0].bytes = 0;
  expect(BERTH_ERROR_ARGUMENT, 3);
}

static void sizes_that_do_not_add_up_are_refused(void **state) {
  (void)state;
  buffers[0].size = buffers[1].size = (uint64_t)1 << 62;
  expect(BERTH_ERROR_OVERFLOW, 1);
}

static void an_enormous_alignment_is_refused(void **state) {
  (void)state;
  buffers[2].align = (uint64_t)1 << 63;
  expect(BERTH_ERROR_OVERFLOW, 2);
}

static void a_fixed_offset_out_of_this_world_is_refused(void **state) {
  (void)state;
  buffers[2].fixed = UINT64_MAX - 4;
  expect(BERTH_ERROR_OVERFLOW, 2);
}

static void a_cost_beyond_all_numbers_is_refused(void **state) {
  (void)state;
  problem.regions = regions;
  problem.region_count = 2;
  regions[1].cost = (uint64_t)1 << 40;
  buffers[1].traffic = (uint64_t)1 << 40;
  expect(BERTH_ERROR_OVERFLOW, 1);
}

static void missing_arrays_are_refused(void **state) {
  (void)state;
  problem.pair_count = 1;
  expect(BERTH_ERROR_ARGUMENT, UINT32_MAX);
  problem.pair_count = 0;
  problem.region_count = 1;
  expect(BERTH_ERROR_ARGUMENT, UINT32_MAX);
}

static void a_workspace_that_is_too_small_is_refused_and_nothing_written(void **state) {
  (void)state;
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    size_t bytes;
    berth_placement_t placements[3] = {{99, 0}, {99, 0}, {99, 0}};
    berth_plan_t plan = {.placements = placements, .peak = 5};
    assert_int_equal(berth_plan_workspace(berth_planner_at(p), &problem, NULL, &bytes), BERTH_OK);
    unsigned char *workspace = malloc(bytes + 8);
    assert_non_null(workspace);
    const berth_planner_t *planner = berth_planner_at(p);
    assert_int_equal(berth_plan_make(planner, &problem, NULL, workspace, bytes - 1, &plan),
                     BERTH_ERROR_MEMORY);
    assert_int_equal(berth_plan_make(planner, &problem, NULL, workspace + 1, bytes, &plan),
                     BERTH_ERROR_MEMORY);
    assert_int_equal(berth_plan_make(planner, &problem, NULL, NULL, bytes, &plan),
                     BERTH_ERROR_MEMORY);
    assert_int_equal(plan.peak, 5);
    assert_int_equal(placements[0].offset, 99);
    assert_int_equal(berth_plan_make(planner, &problem, NULL, workspace, bytes, &plan), BERTH_OK);
    free(workspace);
  }
}

static void the_load_counts_what_is_live_in_one_step(void **state) {
  (void)state;
  uint32_t step;
  assert_int_equal(load_of(&problem, &step), 32);
  assert_int_equal(step, 1);
  buffers[0].last = 2;
  assert_int_equal(load_of(&problem, &step), 48);
  assert_int_equal(step, 2);
}

/* Shared bytes count once in the bound that plans are held against, and overlaps are credited. */
static void the_bound_of_a_plan_knows_the_pairs(void **state) {
  (void)state;
  problem.pairs = pairs;
  problem.pair_count = 1;
  buffers[0] = berth_buffer(16, 0, 0);
  buffers[1] = berth_buffer(24, 0, 0);
  problem.buffer_count = 2;
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_size, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.peak, 24);
  assert_true(plan.optimal);
  pairs[0].relation = BERTH_HEAD;
  pairs[0].bytes = 10;
  assert_int_equal(plan_with(&berth_planner_size, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.lower_bound, 30);
  free(plan.placements);
}

static void planners_are_found_by_name_and_number(void **state) {
  (void)state;
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    assert_ptr_equal(berth_planner_named(berth_planner_at(p)->name), berth_planner_at(p));
    assert_non_null(berth_planner_at(p)->summary);
  }
  assert_ptr_equal(berth_planner_named("none"), &berth_planner_none);
  assert_null(berth_planner_named("siz"));
  assert_null(berth_planner_named("sizes"));
  assert_null(berth_planner_named(""));
  assert_null(berth_planner_named(NULL));
}

#define CASE(function) cmocka_unit_test_setup(function, set_up)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_plain_problem_is_well_formed),
      CASE(an_empty_problem_has_an_empty_plan),
      CASE(a_lifetime_that_ends_before_it_begins_is_refused),
      CASE(a_lifetime_without_an_end_is_refused),
      CASE(a_fixed_offset_against_the_alignment_is_refused),
      CASE(a_region_that_does_not_exist_is_refused),
      CASE(a_pair_with_itself_is_refused),
      CASE(a_pair_with_an_unknown_buffer_is_refused),
      CASE(an_overlap_larger_than_the_buffer_is_refused),
      CASE(sizes_that_do_not_add_up_are_refused),
      CASE(an_enormous_alignment_is_refused),
      CASE(a_fixed_offset_out_of_this_world_is_refused),
      CASE(a_cost_beyond_all_numbers_is_refused),
      CASE(missing_arrays_are_refused),
      CASE(a_workspace_that_is_too_small_is_refused_and_nothing_written),
      CASE(the_load_counts_what_is_live_in_one_step),
      CASE(the_bound_of_a_plan_knows_the_pairs),
      CASE(planners_are_found_by_name_and_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
