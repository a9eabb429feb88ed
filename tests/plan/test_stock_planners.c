/* The planners that imitate others give what those gave: recorded offsets and heights. */
#include "plan/support.h"
#include <glob.h>

static void tflm_gives_the_recorded_offsets_of_stock_tflm(void **state) {
  (void)state;
  char pattern[4096];
  snprintf(pattern, sizeof pattern, "%s/corpus/*/*/tflm/plan.csv", reference_data());
  glob_t files;
  assert_int_equal(glob(pattern, 0, NULL, &files), 0);
  uint32_t offsets = 0;
  for (size_t f = 0; f < files.gl_pathc; f++) {
    table_t table = table_read(files.gl_pathv[f]);
    berth_buffer_t *buffers = calloc((size_t)table.rows + 1, sizeof *buffers);
    assert_non_null(buffers);
    for (uint32_t i = 0; i < table.rows; i++) {
      buffers[i] =
          berth_buffer(table_number(&table, i, "size"), (uint32_t)table_number(&table, i, "first"),
                       (uint32_t)table_number(&table, i, "last"));
      const char *offline = table_cell(&table, i, "offline_offset");
      if (strcmp(offline, "-1") != 0) buffers[i].fixed = strtoull(offline, NULL, 10);
    }
    berth_problem_t problem = {.buffers = buffers, .buffer_count = table.rows};
    berth_plan_t plan = {0};
    assert_int_equal(plan_with(&berth_planner_tflm, &problem, NULL, &plan), BERTH_OK);
    for (uint32_t i = 0; i < table.rows; i++, offsets++) {
      if (plan.placements[i].offset != table_number(&table, i, "offset")) {
        fail_msg("%s: buffer %u is at %llu", files.gl_pathv[f], i,
                 (unsigned long long)plan.placements[i].offset);
      }
    }
    free(plan.placements);
    free(buffers);
    table_free(&table);
  }
  assert_true(files.gl_pathc >= 80 && offsets >= 500);
  globfree(&files);
}

/* Plans every problem that figures.csv has a height for and compares. */
static void compare_heights(const berth_planner_t *planner, const char *column, uint64_t align,
                            uint32_t least_problems) {
  const char *data = reference_data();
  char path[4096];
  snprintf(path, sizeof path, "%s/problems/figures.csv", data);
  table_t figures = table_read(path);
  uint32_t compared = 0;
  for (uint32_t row = 0; row < figures.rows; row++) {
    const char *name = table_cell(&figures, row, "problem");
    uint64_t height = table_number(&figures, row, column);
    snprintf(path, sizeof path, "%s/problems/%s.csv", data, name);
    FILE *file = fopen(path, "r");
    if (file != NULL) fclose(file);
    if (height == 0 || file == NULL) continue;
    berth_buffer_t *buffers;
    berth_problem_t problem = problem_read(path, align, &buffers);
    assert_int_equal(load_of(&problem, NULL), table_number(&figures, row, "lb"));
    berth_plan_t plan = {0};
    assert_int_equal(plan_with(planner, &problem, NULL, &plan), BERTH_OK);
    if (plan.peak != height) {
      fail_msg("%s %s: %llu instead of %llu", name, planner->name, (unsigned long long)plan.peak,
               (unsigned long long)height);
    }
    compared++;
    free(plan.placements);
    free(buffers);
  }
  table_free(&figures);
  assert_true(compared >= least_problems);
}

static void tflite_gives_the_recorded_heights_of_stock_tflite(void **state) {
  (void)state;
  compare_heights(&berth_planner_tflite, "tflite", 1, 14);
}

static void tflite_gives_the_recorded_heights_with_alignment_64(void **state) {
  (void)state;
  compare_heights(&berth_planner_tflite, "tflite64", 64, 11);
}

static void tflm_gives_the_recorded_heights_of_stock_tflm(void **state) {
  (void)state;
  compare_heights(&berth_planner_tflm, "tflm", 1, 11);
}

static void size_is_first_fit_by_size_as_others_have_it(void **state) {
  (void)state;
  compare_heights(&berth_planner_size, "size_first_fit", 1, 14);
}

static void breadth_is_greedy_by_breadth_as_others_have_it(void **state) {
  (void)state;
  compare_heights(&berth_planner_breadth, "breadth", 1, 14);
}

static void tflm_places_equal_sizes_in_reverse_order(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(16, 0, 1), berth_buffer(16, 0, 1),
                              berth_buffer(16, 1, 2)};
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 3};
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_tflm, &problem, NULL, &plan), BERTH_OK);
  assert_int_equal(plan.placements[2].offset, 0);
  assert_int_equal(plan.placements[1].offset, 16);
  assert_int_equal(plan.placements[0].offset, 32);
  free(plan.placements);
}

static void stock_planners_refuse_constraints_they_do_not_know(void **state) {
  (void)state;
  berth_buffer_t buffers[] = {berth_buffer(16, 0, 1), berth_buffer(16, 0, 1)};
  berth_pair_t pair = {0, 1, BERTH_SHARE, 0};
  berth_problem_t problem = {.buffers = buffers, .buffer_count = 2};
  berth_plan_t plan = {0};
  buffers[0].fixed = 64;
  assert_int_equal(plan_with(&berth_planner_tflite, &problem, NULL, &plan),
                   BERTH_ERROR_UNSUPPORTED);
  assert_int_equal(plan_with(&berth_planner_tflm, &problem, NULL, &plan), BERTH_OK);
  buffers[1].fixed = 72;
  assert_int_equal(plan_with(&berth_planner_tflm, &problem, NULL, &plan), BERTH_INFEASIBLE);
  buffers[1].fixed = BERTH_ANYWHERE;
  problem.pairs = &pair;
  problem.pair_count = 1;
  assert_int_equal(plan_with(&berth_planner_tflm, &problem, NULL, &plan), BERTH_ERROR_UNSUPPORTED);
  free(plan.placements);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tflm_gives_the_recorded_offsets_of_stock_tflm),
      cmocka_unit_test(tflite_gives_the_recorded_heights_of_stock_tflite),
      cmocka_unit_test(tflite_gives_the_recorded_heights_with_alignment_64),
      cmocka_unit_test(tflm_gives_the_recorded_heights_of_stock_tflm),
      cmocka_unit_test(size_is_first_fit_by_size_as_others_have_it),
      cmocka_unit_test(breadth_is_greedy_by_breadth_as_others_have_it),
      cmocka_unit_test(tflm_places_equal_sizes_in_reverse_order),
      cmocka_unit_test(stock_planners_refuse_constraints_they_do_not_know),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
