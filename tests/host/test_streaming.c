/* Streamed plans of a shipped model: small, right by the verifier, and wrong once a buffer is moved
 * into another one that is alive. */
#include "test.h"

#include "host/streaming_verify.h"
#include <stdlib.h>

#define MODEL BERTH_SOURCE_DIR "/models/mobilenet_v1_0.25_96_int8.tflite"

typedef struct planned {
  berth_subject_t subject;
  berth_streaming_t streaming;
  berth_outcome_t outcome;
  uint64_t load; /* of whole tensors */
} planned_t;

static void make_of(planned_t *it, const char *path, berth_streaming_mode_t mode, bool push) {
  berth_complaint_t complaint;
  const berth_subject_options_t options = {0};
  const berth_streaming_options_t wanted = {.mode = mode, .push_inputs = push};
  const berth_planning_t planning = {.work_limit = BERTH_STREAMING_WORK};
  uint32_t step;
  assert_int_equal(berth_subject_open(path, &options, &it->subject, &complaint), BERTH_OK);
  assert_int_equal(berth_subject_load(&it->subject.problem, &it->load, &step, &complaint),
                   BERTH_OK);
  assert_int_equal(berth_streaming_make(&it->subject, &wanted, &it->streaming, &complaint),
                   BERTH_OK);
  assert_int_equal(berth_planning_run(&berth_planner_best, &it->subject.problem, &planning,
                                      &it->outcome, &complaint),
                   BERTH_OK);
  assert_true(it->outcome.has_plan);
}

static void make(planned_t *it, bool push) {
  make_of(it, MODEL, BERTH_STREAMING_MAX, push);
}

static void release(planned_t *it) {
  berth_outcome_free(&it->outcome);
  berth_subject_close(&it->subject);
  berth_streaming_free(&it->streaming);
}

static berth_status_t verify(planned_t *it) {
  berth_complaint_t complaint;
  return berth_streaming_settle(&it->streaming, it->outcome.plan.placements, &complaint);
}

static void a_streamed_plan_is_right_and_needs_less_than_the_load(void **state) {
  (void)state;
  uint64_t whole = 0;
  for (int push = 0; push < 2; push++) {
    planned_t it = {0};
    make(&it, push == 1);
    assert_true(it.streaming.plan.run_count > 0);
    assert_int_equal(verify(&it), BERTH_OK);
    assert_true(it.outcome.plan.peak * 10 < it.load * 6);
    /* Making more rows at a time has cost nothing. */
    assert_true(it.outcome.plan.peak <= it.streaming.trials[it.streaming.chosen].peak);
    if (push == 1) assert_true(it.outcome.plan.peak < whole);
    whole = it.outcome.plan.peak;
    release(&it);
  }
}

/* Moves each buffer that something else is live with to that one's place. */
static void a_buffer_in_another_ones_place_is_found(void **state) {
  (void)state;
  planned_t it = {0};
  make(&it, false);
  const berth_problem_t *problem = &it.subject.problem;
  berth_placement_t *placements = it.outcome.plan.placements;
  uint32_t tried = 0, found = 0;
  for (uint32_t a = 0; a < problem->buffer_count; a++) {
    for (uint32_t b = 0; b < problem->buffer_count; b++) {
      const berth_buffer_t *one = &problem->buffers[a], *other = &problem->buffers[b];
      bool together = one->first <= other->last && other->first <= one->last;
      bool paired = false;
      for (uint32_t k = 0; k < problem->pair_count; k++) {
        const berth_pair_t *pair = &problem->pairs[k];
        paired = paired || (pair->a == a && pair->b == b) || (pair->a == b && pair->b == a);
      }
      if (a == b || !together || paired || one->size == 0 || other->size == 0) continue;
      uint64_t offset = placements[a].offset;
      placements[a].offset = placements[b].offset;
      tried++;
      found += verify(&it) == BERTH_ERROR_INTERNAL;
      placements[a].offset = offset;
    }
  }
  assert_true(tried > 20);
  assert_int_equal(found, tried);
  assert_int_equal(verify(&it), BERTH_OK);
  release(&it);
}

/* Also where the larger rings of fewer calls don't fit, so that they come to one row at a time. */
static void more_memory_than_the_least_is_only_taken_for_fewer_calls(void **state) {
  (void)state;
  static const char *const models[] = {BERTH_SOURCE_DIR "/models/ds_cnn_kws_int8.tflite",
                                       BERTH_SOURCE_DIR "/models/detector_two_outputs_int8.tflite",
                                       MODEL};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    planned_t least = {0}, chosen = {0};
    make_of(&least, models[i], BERTH_STREAMING_MAX, false);
    make_of(&chosen, models[i], BERTH_STREAMING_AUTO, false);
    uint64_t peak = least.outcome.plan.peak, more = chosen.outcome.plan.peak;
    assert_true(more <= peak + peak / 16);
    if (more > peak) {
      assert_true(berth_streaming_calls(&chosen.streaming) <
                  berth_streaming_calls(&least.streaming));
    }
    release(&least);
    release(&chosen);
  }
}

/* The verifier's map grows with the plan: there is an end, and it is no want of memory. */
static void a_plan_that_is_too_large_to_be_followed_is_refused(void **state) {
  (void)state;
  planned_t it = {0};
  make(&it, false);
  it.outcome.plan.placements[0].offset += UINT64_C(1) << 44;
  assert_int_equal(verify(&it), BERTH_ERROR_UNSUPPORTED);
  release(&it);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_streamed_plan_is_right_and_needs_less_than_the_load),
      cmocka_unit_test(a_buffer_in_another_ones_place_is_found),
      cmocka_unit_test(more_memory_than_the_least_is_only_taken_for_fewer_calls),
      cmocka_unit_test(a_plan_that_is_too_large_to_be_followed_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
