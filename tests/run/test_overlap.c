/* Views and outputs over inputs: results are bit-identical to those with every tensor in memory of
 * its own, the peak is never larger, and given offsets that share are accepted where they may. */
#include "test.h"

#include "host/runner.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const models[] = {
    "ds_cnn_kws_int8.tflite",      "resnet8_int8.tflite",       "mobilenet_v1_0.25_96_int8.tflite",
    "segmentation_float16.tflite", "svdf_keyword_int8.tflite",  "detector_two_outputs_int8.tflite",
    "lstm_sequence_int8.tflite",   "resource_variables.tflite",
};
#define MODEL_COUNT (sizeof models / sizeof *models)

typedef struct outcome {
  uint8_t bytes[1 << 16]; /* outputs of three invokes */
  uint32_t count;
  uint32_t operators;
  berth_needs_t needs;
  uint32_t findings;
} outcome_t;

static void on_finding(void *user, const berth_guard_finding_t *finding) {
  (void)finding;
  ((outcome_t *)user)->findings++;
}

static void run(const char *name, const berth_runner_options_t *options, outcome_t *outcome) {
  char path[512];
  berth_complaint_t complaint = {{0}};
  berth_runner_t runner;
  snprintf(path, sizeof path, "%s/models/%s", BERTH_SOURCE_DIR, name);
  if (berth_runner_open(path, options, &runner, &complaint) != BERTH_OK) {
    fail_msg("%s", complaint.text);
  }
  outcome->count = 0;
  outcome->operators = runner.interpreter.operator_count;
  outcome->needs = berth_interpreter_needs(&runner.interpreter);
  for (uint32_t invoke = 0; invoke < 3; invoke++) {
    for (uint32_t i = 0;; i++) {
      berth_value_t input = berth_interpreter_input(&runner.interpreter, i);
      if (!input.present) break;
      for (uint32_t k = 0; k < input.bytes; k++) input.data[k] = (uint8_t)(k * 7 + invoke * 13);
    }
    assert_int_equal(berth_interpreter_invoke(&runner.interpreter), BERTH_OK);
    for (uint32_t i = 0;; i++) {
      berth_value_t output = berth_interpreter_output(&runner.interpreter, i);
      if (!output.present) break;
      assert_true(outcome->count + output.bytes <= sizeof outcome->bytes);
      memcpy(outcome->bytes + outcome->count, output.data, output.bytes);
      outcome->count += output.bytes;
    }
  }
  berth_runner_close(&runner);
}

static void results_are_the_same_whatever_shares_memory(void **state) {
  (void)state;
  static outcome_t alone, outcome;
  uint32_t smaller = 0;
  for (size_t m = 0; m < MODEL_COUNT; m++) {
    berth_runner_options_t options = {.interpreter = {.no_reuse = true}};
    run(models[m], &options, &alone);
    uint32_t peaks[3];
    for (int overlap = BERTH_OVERLAP_INPLACE; overlap <= BERTH_OVERLAP_NONE; overlap++) {
      options = (berth_runner_options_t){.interpreter = {.overlap = (berth_overlap_t)overlap},
                                         .planner = &berth_planner_best};
      run(models[m], &options, &outcome);
      assert_int_equal(outcome.count, alone.count);
      assert_memory_equal(outcome.bytes, alone.bytes, alone.count);
      peaks[overlap] = outcome.needs.peak;
    }
    assert_true(peaks[BERTH_OVERLAP_INPLACE] <= peaks[BERTH_OVERLAP_VIEWS]);
    assert_true(peaks[BERTH_OVERLAP_VIEWS] <= peaks[BERTH_OVERLAP_NONE]);
    smaller += peaks[BERTH_OVERLAP_INPLACE] < peaks[BERTH_OVERLAP_NONE];
  }
  assert_true(smaller > 0);
}

/* What operators permit is noted in any case, 8 bytes for each. */
static void finding_out_what_may_be_shared_never_costs_more_than_it_saves(void **state) {
  (void)state;
  static outcome_t shared, alone;
  uint32_t in_vain = 0;
  for (size_t m = 0; m < MODEL_COUNT; m++) {
    berth_runner_options_t options = {.messages = NULL};
    run(models[m], &options, &shared);
    options.interpreter.overlap = BERTH_OVERLAP_NONE;
    run(models[m], &options, &alone);
    assert_true(shared.needs.total <= alone.needs.total + 8 * shared.operators);
    /* With memory of its own, planning costs the activations nothing. */
    options = (berth_runner_options_t){.planner = &berth_planner_best};
    run(models[m], &options, &alone);
    assert_true(alone.needs.peak <= shared.needs.peak);
    in_vain += alone.needs.peak < shared.needs.peak;
  }
  assert_true(in_vain > 0);
}

static void the_guard_finds_nothing_wrong_with_shared_memory(void **state) {
  (void)state;
  static outcome_t alone, outcome;
  for (size_t m = 0; m < MODEL_COUNT; m++) {
    berth_runner_options_t options = {.interpreter = {.no_reuse = true}};
    run(models[m], &options, &alone);
    options = (berth_runner_options_t){
        .guard = true, .guard_deep = true, .guard_report = on_finding, .guard_user = &outcome};
    outcome.findings = 0;
    run(models[m], &options, &outcome);
    assert_int_equal(outcome.findings, 0);
    assert_memory_equal(outcome.bytes, alone.bytes, alone.count);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_the_same_whatever_shares_memory),
      cmocka_unit_test(finding_out_what_may_be_shared_never_costs_more_than_it_saves),
      cmocka_unit_test(the_guard_finds_nothing_wrong_with_shared_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
