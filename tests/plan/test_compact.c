/* The planner for the device against the verifier, the load bound and a byte map of its holes. */
#include "test.h"

#include "berth/plan.h"
#include "plan/compact.h"
#include <stdlib.h>
#include <string.h>

#define MOST_BUFFERS 24u
#define STEPS        12u

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static uint32_t random_buffers(uint32_t *random, berth_compact_t *buffers) {
  uint32_t count = 1 + next_random(random) % MOST_BUFFERS;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t a = next_random(random) % STEPS, b = next_random(random) % STEPS;
    buffers[i].align = 1u << next_random(random) % 5;
    buffers[i].size = next_random(random) % 60;
    buffers[i].first = a < b ? a : b;
    buffers[i].last = a < b ? b : a;
    buffers[i].offset = BERTH_COMPACT_UNPLACED;
  }
  return count;
}

/* Hands the plan to the verifier; also the load that the library itself finds. */
static void verify(const berth_compact_t *compact, uint32_t count, uint32_t peak, uint32_t bound) {
  static uint64_t workspace[65536 / 8];
  berth_buffer_t buffers[MOST_BUFFERS];
  berth_placement_t placements[MOST_BUFFERS];
  for (uint32_t i = 0; i < count; i++) {
    buffers[i] = berth_buffer(compact[i].size, compact[i].first, compact[i].last);
    buffers[i].align = compact[i].align;
    placements[i] = (berth_placement_t){.offset = compact[i].offset};
  }
  berth_problem_t problem = {.buffers = buffers, .buffer_count = count};
  berth_plan_t plan = {.placements = placements, .peak = peak};
  berth_finding_t finding;
  assert_int_equal(berth_plan_verify(&problem, &plan, workspace, sizeof workspace, &finding),
                   BERTH_OK);
  uint64_t load;
  assert_int_equal(berth_problem_load(&problem, workspace, sizeof workspace, &load, NULL),
                   BERTH_OK);
  assert_int_equal(load, bound);
}

static void every_plan_passes_the_verifier(void **state) {
  (void)state;
  uint32_t random = 1;
  for (int round = 0; round < 20000; round++) {
    berth_compact_t buffers[MOST_BUFFERS];
    uint32_t count = random_buffers(&random, buffers), peak, bound;
    assert_int_equal(berth_plan_compact(buffers, count, 0, true, &peak, &bound), BERTH_OK);
    verify(buffers, count, peak, bound);
  }
}

static void fixed_buffers_stay_and_contradictions_are_refused(void **state) {
  (void)state;
  uint32_t random = 2, refused = 0;
  for (int round = 0; round < 20000; round++) {
    berth_compact_t buffers[MOST_BUFFERS], given[MOST_BUFFERS];
    uint32_t count = random_buffers(&random, buffers), peak, bound;
    uint32_t fixed = next_random(&random) % (count < 4 ? count : 4);
    for (uint32_t i = 0; i < fixed; i++) {
      buffers[i].offset = next_random(&random) % 100 / buffers[i].align * buffers[i].align;
    }
    memcpy(given, buffers, sizeof given);
    berth_status_t status = berth_plan_compact(buffers, count, fixed, true, &peak, &bound);
    if (status == BERTH_INFEASIBLE) {
      refused++;
      continue;
    }
    assert_int_equal(status, BERTH_OK);
    for (uint32_t i = 0; i < fixed; i++) assert_int_equal(buffers[i].offset, given[i].offset);
    verify(buffers, count, peak, bound);
  }
  assert_true(refused > 100);
}

static void the_hole_is_free_and_the_largest_there_is(void **state) {
  (void)state;
  uint32_t random = 3;
  for (int round = 0; round < 20000; round++) {
    berth_compact_t buffers[MOST_BUFFERS];
    uint32_t count = random_buffers(&random, buffers), peak, bound;
    assert_int_equal(berth_plan_compact(buffers, count, 0, true, &peak, &bound), BERTH_OK);
    uint32_t step = next_random(&random) % STEPS, except = next_random(&random) % (count + 1);
    uint32_t limit = peak + next_random(&random) % 20, most = 1 + next_random(&random) % 200;
    uint32_t align = 1u << next_random(&random) % 5, offset = 0;
    uint8_t taken[4096] = {0};
    assert_true(limit < sizeof taken);
    for (uint32_t i = 0; i < count; i++) {
      if (i == except || step < buffers[i].first || step > buffers[i].last) continue;
      memset(taken + buffers[i].offset, 1, buffers[i].size);
    }
    uint32_t largest = 0;
    for (uint32_t start = 0; start < limit; start += align) {
      uint32_t end = start;
      while (end < limit && !taken[end]) end++;
      if (end - start > largest) largest = end - start;
    }
    uint32_t size =
        berth_plan_compact_hole(buffers, count, except, step, step, align, limit, most, &offset);
    assert_int_equal(size, largest < most ? largest : most);
    if (size > 0) {
      assert_int_equal(offset % align, 0);
      for (uint32_t i = 0; i < size; i++) assert_int_equal(taken[offset + i], 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_plan_passes_the_verifier),
      cmocka_unit_test(fixed_buffers_stay_and_contradictions_are_refused),
      cmocka_unit_test(the_hole_is_free_and_the_largest_there_is),
  };
  return cmocka_run_group_tests_name("compact", tests, NULL, NULL);
}
