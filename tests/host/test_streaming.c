/* Streamed plans of a shipped model: small, right by the verifier, and wrong once a buffer is moved
 * into another one that is alive. Inputs that are pushed have no memory before. */
#include "run/random_network.h"

#include "host/fill.h"
#include "host/runner.h"
#include "host/streaming_verify.h"
#include <stdio.h>
#include <unistd.h>

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

/* ---- Inputs that are pushed and kept ----------------------------------------------------------
 */

#define ROWS 16

/* A convolution of floats with int8 weights: it needs all of its input. */
static int32_t put_hybrid(random_network_t *net, int32_t from, int32_t channels) {
  const int32_t *in = net->tensors[from].dims;
  int32_t h = in[1], w = in[2];
  int32_t filter =
      random_weights_of(net, BERTH_TYPE_INT8, 4, (int32_t[]){channels, 3, 3, in[3]}, 0);
  random_op_t *op = random_op(net, BERTH_BUILTIN_CONV_2D);
  random_reads(net, op, from);
  random_reads(net, op, filter);
  random_option(op, BERTH_CONV_2D_PADDING, 1, BERTH_PADDING_SAME);
  random_option(op, BERTH_CONV_2D_STRIDE_H, 4, 1);
  random_option(op, BERTH_CONV_2D_STRIDE_W, 4, 1);
  return random_writes(op, random_activation(net, h, w, channels));
}

/* Two inputs, one after the other, each needed as a whole. */
static void save_two_inputs(const char *path) {
  random_network_t *net = malloc(sizeof *net);
  assert_non_null(net);
  net->tensor_count = net->op_count = net->constant_bytes = 0;
  net->state = 1;
  net->type = BERTH_TYPE_FLOAT32;
  int32_t first = random_activation(net, ROWS, 2, 8), second = random_activation(net, ROWS, 2, 8);
  put_hybrid(net, put_hybrid(net, first, 8), 1);
  put_hybrid(net, second, 1);
  random_emit(net, 2);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(net->file.bytes, 1, net->file.size, stream), net->file.size);
  assert_int_equal(fclose(stream), 0);
  free(net);
}

static void on_finding(void *user, const berth_guard_finding_t *finding) {
  (void)user;
  fail_msg("the guard found fault %d of operator %u", (int)finding->fault, finding->op);
}

/* Both outputs; returns the arena's bytes. */
static uint32_t run_two_inputs(const char *path, bool streamed, float outputs[2][ROWS * 2]) {
  berth_runner_options_t options = {
      .interpreter = {.no_reuse = !streamed}, .guard = streamed, .guard_report = on_finding};
  if (streamed) options.streaming.mode = BERTH_STREAMING_MAX;
  options.streaming.push_inputs = streamed;
  berth_runner_t runner;
  berth_complaint_t complaint;
  if (berth_runner_open(path, &options, &runner, &complaint) != BERTH_OK)
    fail_msg("%s", complaint.text);
  uint64_t seed = 3;
  for (uint32_t i = 0; i < 2; i++) {
    berth_value_t input = berth_runner_input(&runner, i);
    berth_fill_random(&input, &seed);
    if (!streamed || i == 0) continue;
    assert_true(berth_interpreter_is_pushed(&runner.interpreter, i));
    assert_int_equal(runner.streaming->rings[input.index], 0);
  }
  assert_int_equal(berth_runner_invoke(&runner), BERTH_OK);
  for (uint32_t i = 0; i < 2; i++) {
    berth_value_t output = berth_runner_output(&runner, i);
    assert_int_equal(output.bytes, sizeof outputs[i]);
    memcpy(outputs[i], output.data, sizeof outputs[i]);
  }
  uint32_t extent = berth_interpreter_needs(&runner.interpreter).extent;
  berth_runner_close(&runner);
  return extent;
}

static void inputs_that_are_pushed_have_no_memory_before(void **state) {
  (void)state;
  char path[] = "/tmp/berth-inputs-XXXXXX";
  int handle = mkstemp(path);
  assert_true(handle >= 0);
  close(handle);
  save_two_inputs(path);
  static float expected[2][ROWS * 2], outputs[2][ROWS * 2];
  run_two_inputs(path, false, expected);
  uint32_t bytes = run_two_inputs(path, true, outputs);
  assert_memory_equal(outputs, expected, sizeof outputs);
  assert_true(bytes < 2 * ROWS * 2 * 8 * sizeof(float)); /* both inputs */
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_streamed_plan_is_right_and_needs_less_than_the_load),
      cmocka_unit_test(a_buffer_in_another_ones_place_is_found),
      cmocka_unit_test(more_memory_than_the_least_is_only_taken_for_fewer_calls),
      cmocka_unit_test(a_plan_that_is_too_large_to_be_followed_is_refused),
      cmocka_unit_test(inputs_that_are_pushed_have_no_memory_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
