/* The search planner: its index and kernel against brute force, its plans against the verifier and
 * the greedy planner. */
#include "plan/search.h"
#include "plan/support.h"

/* A network-like problem: most buffers live for a few steps, some for long. */
static berth_problem_t network(uint32_t count, uint64_t seed, berth_buffer_t **buffers) {
  *buffers = calloc(count, sizeof **buffers);
  if (*buffers == NULL) abort();
  uint32_t steps = count * 2 / 3 + 1;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t first = i * 2 / 3, kind = random_below(&seed, 100), length = 1;
    if (kind < 85) length += random_below(&seed, 4);
    if (kind >= 85) length += random_below(&seed, 60);
    if (kind == 99) length += random_below(&seed, steps / 2);
    uint64_t size = (uint64_t)64 << random_below(&seed, 12);
    uint32_t last = first + length < steps ? first + length : steps;
    (*buffers)[i] = berth_buffer(size + 64 * random_below(&seed, 64), first, last);
  }
  berth_problem_t problem = {0};
  problem.buffers = *buffers;
  problem.buffer_count = count;
  return problem;
}

static uint32_t compare_parts(const berth_search_part_t *a, const berth_search_part_t *b) {
  return a->first != b->first ? a->first < b->first : a->last > b->last;
}

static void neighbours_are_all_parts_that_share_a_step(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (uint32_t round = 0; round < 60; round++) {
    uint32_t count = 1 + random_below(&seed, 200), steps = 1 + random_below(&seed, 300);
    uint32_t longest = round % 3 == 0 ? steps : 1 + random_below(&seed, 9);
    berth_workspace_t measure = berth_workspace_measure();
    berth_search_set_t set = {0};
    berth_search_set_lay_out(&set, count, 0, &measure);
    void *memory = malloc(measure.used);
    berth_workspace_t workspace = berth_workspace_over(memory, measure.used);
    berth_search_set_lay_out(&set, count, 0, &workspace);
    assert_int_equal(berth_workspace_status(&workspace), BERTH_OK);
    set.part_count = count;
    for (uint32_t i = 0; i < count; i++) {
      berth_search_part_t part = {1, BERTH_SEARCH_UNPLACED, random_below(&seed, steps), 0, 0, 0};
      part.last = part.first + random_below(&seed, longest);
      uint32_t j = i;
      for (; j > 0 && compare_parts(&part, &set.parts[j - 1]); j--) set.parts[j] = set.parts[j - 1];
      set.parts[j] = part;
    }
    uint32_t found[202];
    berth_search_set_index(&set, found);
    uint64_t encounters = 0;
    for (uint32_t i = 0; i < count; i++) {
      bool expected[200] = {false};
      uint32_t expected_count = 0;
      for (uint32_t j = 0; j < count; j++) {
        expected[j] = j != i && set.parts[j].first <= set.parts[i].last &&
                      set.parts[i].first <= set.parts[j].last;
        expected_count += expected[j];
      }
      uint32_t found_count = berth_search_neighbours(&set, i, found);
      assert_int_equal(found_count, expected_count);
      for (uint32_t k = 0; k < found_count; k++) {
        assert_true(expected[found[k]]);
        expected[found[k]] = false; /* none twice */
      }
      encounters += expected_count;
    }
    assert_true(set.encounters >= encounters);
    free(memory);
  }
}

static void keys_are_sorted_the_largest_first_and_equal_ones_keep_their_order(void **state) {
  (void)state;
  enum { COUNT = 3000 };
  static uint32_t items[COUNT], spare[COUNT];
  static uint64_t key[COUNT];
  uint64_t seed = 2;
  for (uint32_t i = 0; i < COUNT; i++) {
    items[i] = i;
    key[i] = random_next(&seed) >> (i % 2 == 0 ? 0 : 58);
  }
  berth_search_sort_by_key(items, COUNT, key, spare);
  for (uint32_t i = 1; i < COUNT; i++) {
    uint64_t a = key[items[i - 1]], b = key[items[i]];
    assert_true(a > b || (a == b && items[i - 1] < items[i]));
  }
}

static void intervals_are_sorted_whatever_their_order_was(void **state) {
  (void)state;
  enum { COUNT = 4000 };
  static berth_search_interval_t intervals[COUNT];
  static bool seen[COUNT];
  uint64_t seed = 3;
  for (uint32_t shape = 0; shape < 5; shape++) {
    for (uint32_t i = 0; i < COUNT; i++) {
      uint64_t lows[] = {i, COUNT - i, 7, i < COUNT / 2 ? i : COUNT - i, random_next(&seed)};
      berth_search_interval_t interval = {lows[shape], 0, i};
      intervals[i] = interval;
      seen[i] = false;
    }
    berth_search_sort_intervals(intervals, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
      assert_true(i == 0 || intervals[i - 1].low <= intervals[i].low);
      assert_false(seen[intervals[i].part]);
      seen[intervals[i].part] = true;
    }
  }
}

static void it_meets_the_lower_bound_on_networks_where_greedy_does_not(void **state) {
  (void)state;
  uint32_t met = 0, missed_by_greedy = 0;
  for (uint64_t seed = 10; seed < 18; seed++) {
    berth_buffer_t *buffers;
    berth_problem_t problem = network(3000, seed, &buffers);
    berth_plan_t greedy = {0}, plan = {0};
    berth_plan_options_t options = {.work_limit = 1 << 24};
    assert_int_equal(plan_with(&berth_planner_size, &problem, NULL, &greedy), BERTH_OK);
    assert_int_equal(plan_with(&berth_planner_search, &problem, &options, &plan), BERTH_OK);
    assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
    assert_true(plan.peak <= greedy.peak);
    met += plan.optimal;
    missed_by_greedy += !greedy.optimal;
    free(plan.placements);
    free(greedy.placements);
    free(buffers);
  }
  assert_true(missed_by_greedy >= 3);
  assert_true(met >= 6);
}

static void it_respects_every_constraint_on_networks(void **state) {
  (void)state;
  uint64_t seed = 20;
  for (uint32_t round = 0; round < 12; round++) {
    berth_buffer_t *buffers;
    berth_problem_t problem = network(400, 30 + round, &buffers);
    berth_pair_t pairs[120];
    uint64_t base = 0;
    for (uint32_t i = 0; i < problem.buffer_count; i++) {
      if (round % 2 == 0) buffers[i].align = 1 + random_below(&seed, 100);
      if (round % 3 == 0 && i % 50 == 0) { /* fixed ones, above one another */
        buffers[i].fixed = (base + buffers[i].align - 1) / buffers[i].align * buffers[i].align;
        base = buffers[i].fixed + buffers[i].size;
      }
    }
    for (uint32_t k = 0; k < 120; k++) {
      uint32_t a = 3 * k + 1, b = a + 1 + random_below(&seed, 8);
      berth_pair_t pair = {a, b, BERTH_SHARE, 0};
      pair.relation = k % 3 == 0 ? BERTH_SHARE : k % 3 == 1 ? BERTH_HEAD : BERTH_TAIL;
      if (k % 3 != 0 && k % 2 == 0) pair.relation = BERTH_OVER;
      if (pair.relation == BERTH_SHARE && (buffers[a].fixed != BERTH_ANYWHERE || b >= a + 3)) {
        pair.b = b = a + 1 + (a + 1) % 50 / 49; /* not two fixed ones */
      }
      if (pair.relation != BERTH_SHARE) {
        pair.bytes = 1 + random_below(&seed, (uint32_t)buffers[a].size);
      } else {
        buffers[a].align = buffers[b].align = 4;
        buffers[a].fixed = buffers[b].fixed = BERTH_ANYWHERE;
      }
      pairs[k] = pair;
    }
    if (round >= 4) {
      problem.pairs = pairs;
      problem.pair_count = 120;
    }
    berth_plan_t plan = {0};
    berth_plan_options_t options = {.work_limit = 1 << 21};
    assert_int_equal(plan_with(&berth_planner_search, &problem, &options, &plan), BERTH_OK);
    assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
    free(plan.placements);
    free(buffers);
  }
}

static void a_plan_at_hand_is_never_made_worse(void **state) {
  (void)state;
  berth_buffer_t *buffers;
  berth_problem_t problem = network(500, 77, &buffers);
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_size, &problem, NULL, &plan), BERTH_OK);
  size_t bytes;
  berth_plan_options_t options = {0};
  assert_int_equal(berth_planner_search.workspace(&problem, &options, &bytes), BERTH_OK);
  void *workspace = malloc(bytes);
  for (uint64_t limit = 1; limit < (uint64_t)1 << 24; limit *= 8) {
    uint64_t before = plan.peak;
    options.work_limit = limit;
    assert_int_equal(berth_planner_search.make(&problem, &options, workspace, bytes, &plan),
                     BERTH_OK);
    assert_true(plan.peak <= before);
    assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
  }
  free(workspace);
  free(plan.placements);
  free(buffers);
}

static void too_many_neighbours_for_the_budget_are_stacked(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  static berth_buffer_t buffers[COUNT];
  uint64_t sum = 0;
  for (uint32_t i = 0; i < COUNT; i++) {
    buffers[i] = berth_buffer(1 + i % 97, i, COUNT);
    sum += buffers[i].size;
  }
  berth_problem_t problem = {.buffers = buffers, .buffer_count = COUNT};
  berth_plan_options_t options = {.work_limit = 1000};
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_search, &problem, &options, &plan), BERTH_OK);
  assert_true(plan.optimal);
  assert_int_equal(plan.peak, sum);
  assert_true(plan.work < COUNT * 200);
  free(plan.placements);
}

static bool stop_at_once(void *user, uint64_t work, uint64_t best, uint64_t lower_bound) {
  (void)work;
  (void)best;
  (void)lower_bound;
  ++*(uint32_t *)user;
  return false;
}

static void a_cancelled_search_returns_the_plan_at_hand(void **state) {
  (void)state;
  berth_buffer_t *buffers;
  berth_problem_t problem = network(3000, 5, &buffers);
  for (uint32_t i = 0; i < problem.buffer_count; i++) buffers[i].size += i % 64; /* hard to meet */
  uint32_t calls = 0;
  berth_plan_options_t options = {.progress = stop_at_once, .progress_user = &calls};
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_search, &problem, &options, &plan), BERTH_OK);
  assert_int_equal(calls, 1);
  assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
  free(plan.placements);
  free(buffers);
}

static void the_plan_depends_on_the_problem_and_the_budget_only(void **state) {
  (void)state;
  berth_buffer_t *buffers;
  berth_problem_t problem = network(800, 6, &buffers);
  for (uint32_t i = 0; i < problem.buffer_count; i++) buffers[i].last += 40; /* dense */
  berth_plan_options_t options = {.work_limit = 1 << 22};
  size_t bytes;
  assert_int_equal(berth_plan_workspace(&berth_planner_search, &problem, &options, &bytes),
                   BERTH_OK);
  unsigned char *workspace = malloc(2 * bytes);
  berth_placement_t placements[2][800];
  uint64_t peak[2];
  for (int run = 0; run < 2; run++) {
    memset(workspace, run == 0 ? 0 : 0xa5, 2 * bytes);
    berth_plan_t plan = {.placements = placements[run]};
    assert_int_equal(berth_plan_make(&berth_planner_search, &problem, &options, workspace,
                                     bytes * (run == 0 ? 1 : 2), &plan),
                     BERTH_OK);
    peak[run] = plan.peak;
  }
  assert_int_equal(peak[0], peak[1]);
  for (uint32_t i = 0; i < 800; i++) {
    assert_int_equal(placements[0][i].offset, placements[1][i].offset);
  }
  free(workspace);
  free(buffers);
}

static void it_beats_the_best_height_known_for_J(void **state) {
  (void)state;
  char path[4200];
  snprintf(path, sizeof path, "%s/problems/J.1048576.csv", reference_data());
  berth_buffer_t *buffers;
  berth_problem_t problem = problem_read(path, 1, &buffers);
  berth_plan_options_t options = {.work_limit = (uint64_t)1 << 27, .capacity = 1036287};
  berth_plan_t plan = {0};
  assert_int_equal(plan_with(&berth_planner_search, &problem, &options, &plan), BERTH_OK);
  assert_true(plan.peak < 1036288);
  free(plan.placements);
  free(buffers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(neighbours_are_all_parts_that_share_a_step),
      cmocka_unit_test(keys_are_sorted_the_largest_first_and_equal_ones_keep_their_order),
      cmocka_unit_test(intervals_are_sorted_whatever_their_order_was),
      cmocka_unit_test(it_meets_the_lower_bound_on_networks_where_greedy_does_not),
      cmocka_unit_test(it_respects_every_constraint_on_networks),
      cmocka_unit_test(a_plan_at_hand_is_never_made_worse),
      cmocka_unit_test(too_many_neighbours_for_the_budget_are_stacked),
      cmocka_unit_test(a_cancelled_search_returns_the_plan_at_hand),
      cmocka_unit_test(the_plan_depends_on_the_problem_and_the_budget_only),
      cmocka_unit_test(it_beats_the_best_height_known_for_J),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
