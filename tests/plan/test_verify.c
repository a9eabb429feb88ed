/* Plans that are broken on purpose are rejected, each with the right fault, culprits and bytes. */
#include "plan/support.h"

static berth_buffer_t buffers[4];
static berth_pair_t pair;
static berth_region_t regions[2];
static berth_problem_t problem;
static berth_placement_t placements[4];
static berth_plan_t plan;

/* Three buffers of 16 bytes live together, stacked, in the first of two regions; the fourth is a
 * constant in the second. */
static int set_up(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    buffers[i] = berth_buffer(16, i, 3);
    buffers[i].traffic = 10;
    placements[i].offset = (uint64_t)16 * i;
    placements[i].region = 0;
  }
  buffers[3].constant = true;
  placements[3].region = 1;
  placements[3].offset = 0;
  regions[0].capacity = 48;
  regions[0].cost = 1;
  regions[1].capacity = BERTH_UNLIMITED;
  regions[1].cost = 5;
  memset(&problem, 0, sizeof problem);
  problem.buffers = buffers;
  problem.buffer_count = 4;
  problem.pairs = &pair;
  problem.regions = regions;
  problem.region_count = 2;
  problem.outside_cost = 7;
  memset(&pair, 0, sizeof pair);
  memset(&plan, 0, sizeof plan);
  plan.placements = placements;
  plan.peak = 48;
  plan.cost = 80;
  return 0;
}

static void expect(berth_fault_t fault, uint32_t a, uint32_t b, uint64_t bytes) {
  berth_finding_t finding;
  memset(&finding, 0x55, sizeof finding);
  assert_int_equal(verify(&problem, &plan, &finding), BERTH_INFEASIBLE);
  assert_string_equal(berth_fault_text(finding.fault), berth_fault_text(fault));
  assert_int_equal(finding.a, a);
  assert_int_equal(finding.b, b);
  assert_int_equal(finding.bytes, bytes);
  assert_int_equal(verify(&problem, &plan, NULL), BERTH_INFEASIBLE);
}

static void accept(void) {
  assert_int_equal(verify(&problem, &plan, NULL), BERTH_OK);
}

static void relate(uint32_t a, uint32_t b, berth_relation_t relation, uint64_t bytes) {
  pair.a = a;
  pair.b = b;
  pair.relation = relation;
  pair.bytes = bytes;
  problem.pair_count = 1;
}

static void a_right_plan_is_accepted(void **state) {
  (void)state;
  berth_finding_t finding = {.bytes = 99};
  assert_int_equal(verify(&problem, &plan, &finding), BERTH_OK);
  assert_int_equal(finding.bytes, 99);
}

static void an_overlap_of_one_byte_is_found(void **state) {
  (void)state;
  placements[1].offset = 15;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 1);
  placements[1].offset = 17;
  expect(BERTH_FAULT_OVERLAP, 1, 2, 1);
}

static void buffers_that_only_meet_in_one_step_must_not_overlap(void **state) {
  (void)state;
  placements[0].offset = 16;
  placements[1].offset = 16;
  buffers[0].last = 0;
  accept();
  buffers[0].last = 1;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 16);
}

static void a_buffer_inside_another_is_found(void **state) {
  (void)state;
  buffers[0].size = 4;
  placements[0].offset = 22;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 4);
}

static void an_empty_buffer_may_lie_anywhere(void **state) {
  (void)state;
  buffers[0].size = 0;
  placements[0].offset = 22;
  accept();
  placements[0].offset = 1000;
  accept();
}

static void the_same_offset_in_different_regions_is_no_overlap(void **state) {
  (void)state;
  placements[3].offset = placements[0].offset;
  accept();
  placements[0].region = 1;
  plan.cost = 120;
  expect(BERTH_FAULT_OVERLAP, 0, 3, 16);
}

static void an_unaligned_offset_is_found(void **state) {
  (void)state;
  buffers[1].align = 12;
  expect(BERTH_FAULT_ALIGNMENT, 1, UINT32_MAX, 4);
}

static void a_buffer_not_at_its_fixed_offset_is_found(void **state) {
  (void)state;
  buffers[2].fixed = 40;
  expect(BERTH_FAULT_FIXED, 2, UINT32_MAX, 8);
}

static void a_buffer_in_a_forbidden_region_is_found(void **state) {
  (void)state;
  buffers[2].regions = 2;
  expect(BERTH_FAULT_REGION, 2, UINT32_MAX, 0);
}

static void a_region_that_does_not_exist_is_found(void **state) {
  (void)state;
  placements[1].region = 2;
  expect(BERTH_FAULT_REGION, 1, UINT32_MAX, 0);
}

static void only_constants_may_be_left_outside(void **state) {
  (void)state;
  placements[3].region = BERTH_OUTSIDE;
  plan.cost = 100;
  accept();
  placements[1].region = BERTH_OUTSIDE;
  expect(BERTH_FAULT_REGION, 1, UINT32_MAX, 0);
}

static void without_regions_nothing_is_outside(void **state) {
  (void)state;
  problem.regions = NULL;
  problem.region_count = 0;
  placements[3].region = BERTH_OUTSIDE;
  expect(BERTH_FAULT_REGION, 3, UINT32_MAX, 0);
}

static void a_buffer_beyond_the_end_of_its_region_is_found(void **state) {
  (void)state;
  regions[0].capacity = 45;
  expect(BERTH_FAULT_CAPACITY, 2, UINT32_MAX, 3);
  regions[0].capacity = 10;
  expect(BERTH_FAULT_CAPACITY, 0, UINT32_MAX, 6);
}

static void an_offset_near_the_end_of_all_numbers_is_found(void **state) {
  (void)state;
  placements[3].offset = UINT64_MAX - 8;
  expect(BERTH_FAULT_CAPACITY, 3, UINT32_MAX, 0);
  regions[1].capacity = 100;
  expect(BERTH_FAULT_CAPACITY, 3, UINT32_MAX, UINT64_MAX - 100);
}

static void buffers_that_must_share_and_do_not_are_found(void **state) {
  (void)state;
  relate(1, 2, BERTH_SHARE, 0);
  expect(BERTH_FAULT_SHARE, 1, 2, 16);
  placements[2].offset = 16;
  plan.peak = 32;
  accept();
  placements[2].region = 1;
  expect(BERTH_FAULT_SHARE, 1, 2, 0);
}

static void buffers_that_share_with_the_same_one_share(void **state) {
  (void)state;
  const berth_pair_t chain[] = {{0, 1, BERTH_SHARE, 0}, {2, 1, BERTH_SHARE, 0}};
  problem.pairs = chain;
  problem.pair_count = 2;
  for (uint32_t i = 0; i < 3; i++) placements[i].offset = 0;
  plan.peak = 16;
  accept();
}

static void buffers_that_must_be_apart_and_are_not_are_found(void **state) {
  (void)state;
  relate(0, 1, BERTH_APART, 0);
  expect(BERTH_FAULT_APART, 0, 1, 0);
  pair.b = 3;
  accept();
}

static void the_head_may_be_overlapped_and_nothing_more(void **state) {
  (void)state;
  relate(1, 0, BERTH_HEAD, 5);
  placements[0].offset = 5;
  accept();
  placements[0].offset = 6;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 6);
  relate(0, 1, BERTH_HEAD, 5); /* now it is the head of the other one */
  placements[0].offset = 5;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 5);
}

static void over_permits_the_very_offset_and_no_other(void **state) {
  (void)state;
  relate(0, 1, BERTH_OVER, 0);
  placements[1].offset = placements[0].offset;
  accept();
  placements[1].offset++;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 15);
  relate(1, 0, BERTH_OVER, 0);
  placements[1].offset--;
  accept();
}

static void the_tail_may_be_overlapped_and_nothing_more(void **state) {
  (void)state;
  relate(0, 1, BERTH_TAIL, 5);
  placements[1].offset = 11;
  accept();
  placements[1].offset = 10;
  expect(BERTH_FAULT_OVERLAP, 0, 1, 6);
  pair.bytes = 16; /* all of it: wherever */
  placements[1].offset = 3;
  accept();
}

static void a_wrong_peak_is_found(void **state) {
  (void)state;
  plan.peak = 47;
  expect(BERTH_FAULT_PEAK, UINT32_MAX, UINT32_MAX, 48);
  plan.peak = 49;
  expect(BERTH_FAULT_PEAK, UINT32_MAX, UINT32_MAX, 48);
}

static void a_wrong_cost_is_found(void **state) {
  (void)state;
  plan.cost = 79;
  expect(BERTH_FAULT_COST, UINT32_MAX, UINT32_MAX, 80);
}

/* Every change of one offset of a tight plan by one byte breaks it. */
static void no_buffer_of_a_tight_stack_can_be_moved(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; i++) {
    uint64_t offset = placements[i].offset;
    placements[i].offset = offset + 1;
    assert_int_equal(verify(&problem, &plan, NULL), BERTH_INFEASIBLE);
    placements[i].offset = offset - 1;
    assert_int_equal(verify(&problem, &plan, NULL), BERTH_INFEASIBLE);
    placements[i].offset = offset;
    accept();
  }
}

/* The verifier against the definition, byte by byte and step by step, on random plans that mostly
 * are wrong. */
static void it_agrees_with_a_map_of_all_bytes_and_steps(void **state) {
  (void)state;
  uint64_t seed = 7;
  uint32_t right = 0, wrong = 0;
  for (uint32_t n = 0; n < random_cases(50000); n++) {
    static uint8_t map[8][64];
    random_problem_t random;
    random_problem(&seed, 5, &random);
    random.problem.pair_count = 0;
    berth_placement_t at[RANDOM_BUFFERS];
    berth_plan_t made = {.placements = at};
    bool fine = true;
    memset(map, 0, sizeof map);
    for (uint32_t i = 0; i < random.problem.buffer_count; i++) {
      berth_buffer_t *buffer = &random.buffers[i];
      buffer->fixed = BERTH_ANYWHERE;
      at[i].region = 0;
      at[i].offset = random_below(&seed, 40);
      fine = fine && at[i].offset % buffer->align == 0;
      for (uint64_t byte = at[i].offset; byte < at[i].offset + buffer->size; byte++) {
        if (byte + 1 > made.peak) made.peak = byte + 1;
        for (uint32_t step = buffer->first; step <= buffer->last; step++) {
          fine = fine && map[step][byte] == 0;
          map[step][byte] = 1;
        }
      }
    }
    assert_int_equal(verify(&random.problem, &made, NULL), fine ? BERTH_OK : BERTH_INFEASIBLE);
    *(fine ? &right : &wrong) += 1;
  }
  assert_true(right > 100 && wrong > 100);
}

#define CASE(function) cmocka_unit_test_setup(function, set_up)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_right_plan_is_accepted),
      CASE(an_overlap_of_one_byte_is_found),
      CASE(buffers_that_only_meet_in_one_step_must_not_overlap),
      CASE(a_buffer_inside_another_is_found),
      CASE(an_empty_buffer_may_lie_anywhere),
      CASE(the_same_offset_in_different_regions_is_no_overlap),
      CASE(an_unaligned_offset_is_found),
      CASE(a_buffer_not_at_its_fixed_offset_is_found),
      CASE(a_buffer_in_a_forbidden_region_is_found),
      CASE(a_region_that_does_not_exist_is_found),
      CASE(only_constants_may_be_left_outside),
      CASE(without_regions_nothing_is_outside),
      CASE(a_buffer_beyond_the_end_of_its_region_is_found),
      CASE(an_offset_near_the_end_of_all_numbers_is_found),
      CASE(buffers_that_must_share_and_do_not_are_found),
      CASE(buffers_that_share_with_the_same_one_share),
      CASE(buffers_that_must_be_apart_and_are_not_are_found),
      CASE(the_head_may_be_overlapped_and_nothing_more),
      CASE(over_permits_the_very_offset_and_no_other),
      CASE(the_tail_may_be_overlapped_and_nothing_more),
      CASE(a_wrong_peak_is_found),
      CASE(a_wrong_cost_is_found),
      CASE(no_buffer_of_a_tight_stack_can_be_moved),
      CASE(it_agrees_with_a_map_of_all_bytes_and_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
