/* Somebody's plan: right ones are accepted, every kind of fault is named, and a wrong plan's effect
 * is traced to the tensors that share memory. The reader of plans, too. */
#include "test.h"

#include "host/compare.h"
#include "host/json_read.h"
#include "host/plan_check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODEL BERTH_SOURCE_DIR "/models/ds_cnn_kws_int8.tflite"

/* Tensors of the model, see berth inspect: the input, the first two activations, the output. */
enum { INPUT = 0, WEIGHT = 1, CONV = 3, DEPTHWISE = 6, LAST_ACTIVATION = 33, OUTPUT = 34 };

typedef struct fixture {
  berth_subject_t subject;
  berth_offsets_t offsets; /* a right plan */
} fixture_t;

static int set_up(void **state) {
  fixture_t *fixture = calloc(1, sizeof *fixture);
  berth_complaint_t complaint;
  static const berth_subject_options_t options;
  assert_int_equal(berth_subject_open(MODEL, &options, &fixture->subject, &complaint), BERTH_OK);
  uint32_t count = fixture->subject.graph.tensor_count;
  fixture->offsets.count = count;
  fixture->offsets.offsets = malloc(count * sizeof(int32_t));
  for (uint32_t i = 0; i < count; i++) fixture->offsets.offsets[i] = -1;
  for (uint32_t i = 0; i < fixture->subject.problem.buffer_count; i++) { /* ping, pong */
    uint32_t tensor = fixture->subject.labels[i].tensor;
    fixture->offsets.offsets[tensor] = i % 2 ? 0 : 8000;
  }
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  berth_offsets_free(&fixture->offsets);
  berth_subject_close(&fixture->subject);
  free(fixture);
  return 0;
}

/* Checks; the only finding (count 1), or none. */
static berth_plan_finding_t only_finding(const fixture_t *fixture, uint64_t capacity,
                                         size_t count) {
  berth_plan_check_t check;
  berth_plan_finding_t first = {.fault = BERTH_PLAN_FAULT_MISSING};
  assert_int_equal(berth_plan_check(&fixture->subject, &fixture->offsets,
                                    &(berth_plan_rules_t){.align = 16, .capacity = capacity},
                                    &check),
                   BERTH_OK);
  assert_int_equal(check.count, count);
  if (count > 0) first = check.findings[0];
  berth_plan_check_free(&check);
  return first;
}

static void a_right_plan_is_accepted(void **state) {
  only_finding(*state, 0, 0);
  only_finding(*state, 16000, 0);
}

static void a_tensor_without_a_place_is_missing(void **state) {
  fixture_t *fixture = *state;
  fixture->offsets.offsets[CONV] = -1;
  berth_plan_finding_t finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_MISSING);
  assert_int_equal(finding.a, CONV);
  assert_int_equal(finding.bytes, 8000);
}

static void a_place_for_a_constant_is_needless(void **state) {
  fixture_t *fixture = *state;
  fixture->offsets.offsets[WEIGHT] = 0;
  berth_plan_finding_t finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_NEEDLESS);
  assert_int_equal(finding.a, WEIGHT);
}

static void a_misaligned_offset_is_named(void **state) {
  fixture_t *fixture = *state;
  fixture->offsets.offsets[INPUT] = 8004;
  berth_plan_finding_t finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_ALIGNMENT);
  assert_int_equal(finding.a, INPUT);
  assert_int_equal(finding.bytes, 4);
}

static void a_tensor_beyond_the_arena_is_named(void **state) {
  fixture_t *fixture = *state;
  fixture->offsets.offsets[INPUT] = 16000;
  berth_plan_finding_t finding = only_finding(fixture, 16000, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_OUTSIDE);
  assert_int_equal(finding.bytes, 490);
}

static void an_overlap_names_both_and_how_much(void **state) {
  fixture_t *fixture = *state;
  fixture->offsets.offsets[INPUT] = 7984; /* 16 bytes into the first convolution's output */
  berth_plan_finding_t finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_OVERLAP);
  assert_int_equal(finding.a, INPUT);
  assert_int_equal(finding.b, CONV);
  assert_int_equal(finding.bytes, 16);
  assert_int_equal(finding.first, 0);
  assert_int_equal(finding.last, 0);
}

static void an_output_in_another_tensor_s_place_is_an_overlap(void **state) {
  fixture_t *fixture = *state;
  fixture->offsets.offsets[OUTPUT] = fixture->offsets.offsets[LAST_ACTIVATION];
  berth_plan_finding_t finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.b, OUTPUT);
  assert_int_equal(finding.a, LAST_ACTIVATION);
}

static void a_size_or_steps_that_do_not_do_are_named(void **state) {
  fixture_t *fixture = *state;
  uint32_t count = fixture->offsets.count;
  fixture->offsets.stated = malloc(count * sizeof *fixture->offsets.stated);
  berth_stated_t *stated = fixture->offsets.stated;
  assert_non_null(stated);
  for (uint32_t i = 0; i < count; i++) stated[i] = (berth_stated_t){-1, -1, -1};
  const berth_graph_tensor_t *tensor = &fixture->subject.graph.tensors[CONV];
  int64_t bytes = (int64_t)tensor->bytes;

  stated[CONV] = (berth_stated_t){bytes, tensor->first, tensor->last};
  only_finding(fixture, 0, 0);
  stated[CONV] = (berth_stated_t){bytes + 15, 0, 30}; /* more does no harm */
  only_finding(fixture, 0, 0);
  stated[CONV].size = bytes - 4;
  berth_plan_finding_t finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_SIZE);
  assert_int_equal(finding.a, CONV);
  assert_int_equal(finding.bytes, 4);
  stated[CONV] = (berth_stated_t){-1, -1, (int64_t)tensor->last - 1}; /* one step early */
  finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_LIFETIME);
  assert_int_equal(finding.a, CONV);
  assert_int_equal(finding.last, tensor->last);
  assert_int_equal(finding.stated_last, tensor->last - 1);
  stated[CONV] = (berth_stated_t){-1, (int64_t)tensor->first + 1, -1}; /* one step late */
  finding = only_finding(fixture, 0, 1);
  assert_int_equal(finding.fault, BERTH_PLAN_FAULT_LIFETIME);
  assert_int_equal(finding.stated_first, tensor->first + 1);
}

/* ---- Reading plans --------------------------------------------------------------------------- */

static berth_status_t read_text(const fixture_t *fixture, const char *ending, const char *text,
                                berth_offsets_t *offsets) {
  char path[64];
  berth_complaint_t complaint = {""};
  snprintf(path, sizeof path, "/tmp/berth-plan-%d%s", (int)getpid(), ending);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  berth_status_t status = berth_offsets_read(&fixture->subject.model, path, offsets, &complaint);
  if (status != BERTH_OK) assert_non_null(strstr(complaint.text, path));
  unlink(path);
  return status;
}

static void json_and_csv_say_the_same(void **state) {
  berth_offsets_t a, b;
  assert_int_equal(
      read_text(
          *state, ".json",
          "{\"x\": [1, {\"tensor\": 9, \"offset\": 1}], \"buffers\": [\n"
          " {\"name\": \"a\\\"]\", \"subgraph\": 0, \"tensor\": 3, \"offset\": 64, \"size\": 20,\n"
          "  \"first\": 2, \"last\": 5},\n"
          " {\"tensor\": null, \"offset\": 0}, {\"tensor\": 6, \"offset\": null}]}",
          &a),
      BERTH_OK);
  assert_int_equal(read_text(*state, ".csv",
                             "offset,name,tensor,upper,lower,size\n64,\"a,b\",3,6,2,20\n,c,6,,,\n",
                             &b),
                   BERTH_OK);
  assert_int_equal(a.count, b.count);
  for (uint32_t i = 0; i < a.count; i++) {
    assert_int_equal(a.offsets[i], i == 3 ? 64 : -1);
    assert_int_equal(b.offsets[i], a.offsets[i]);
    assert_int_equal(a.stated[i].size, i == 3 ? 20 : -1);
    assert_int_equal(a.stated[i].first, i == 3 ? 2 : -1);
    assert_int_equal(a.stated[i].last, i == 3 ? 5 : -1);
    assert_memory_equal(&a.stated[i], &b.stated[i], sizeof a.stated[i]);
  }
  berth_offsets_free(&a);
  berth_offsets_free(&b);
}

static void plans_that_make_no_sense_are_refused(void **state) {
  static const struct {
    const char *ending, *text;
  } bad[] = {
      {".json", ""},
      {".json", "{"},
      {".json", "[]"},
      {".json", "{\"buffers\": 1}"},
      {".json", "{\"buffers\": [}"},
      {".json", "{\"buffers\": [] \"x\": 1}"},
      {".json", "{\"buffers\": []} x"},
      {".json", "{\"buffers\": [{\"tensor\": 3, \"offset\": -5}]}"},
      {".json", "{\"buffers\": [{\"tensor\": 3333, \"offset\": 0}]}"},
      {".json", "{\"buffers\": [{\"tensor\": 3, \"offset\": 0, \"size\": -5}]}"},
      {".json", "{\"buffers\": [{\"tensor\": 3, \"offset\": 0, \"first\": -7}]}"},
      {".json", "{\"buffers\": [{\"tensor\": 3, \"offset\": 0, \"last\": -1}]}"},
      {".json",
       "{\"buffers\": [{\"tensor\": 3, \"offset\": 99999999999999999999}, {\"tensor\": 3]}"},
      {".json", "{\"buffers\": [{\"tensor\": 3, \"offset\": 0}, {\"tensor\": 3, \"offset\": 0}]}"},
      {".json", "{\"buffers\": [{\"subgraph\": 1, \"tensor\": 3, \"offset\": 0}]}"},
      {".json", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["},
      {".json", "{\"a"},
      {".json", "{\"a\\"},
      {".csv", "a,b\n1,2\n"},
      {".csv", "tensor,offset\n3,x\n"},
      {".csv", "tensor,offset\n3,99999999999\n"},
      {".csv", "tensor,offset\n\"3,0\n"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    berth_offsets_t offsets = {NULL, 0, NULL};
    berth_status_t status = read_text(*state, bad[i].ending, bad[i].text, &offsets);
    if (status == BERTH_OK) fail_msg("accepted: %s", bad[i].text);
    assert_null(offsets.offsets);
  }
}

/* ---- Comparing and bisecting ----------------------------------------------------------------- */

static void a_plan_of_berth_s_own_changes_nothing(void **state) {
  (void)state;
  berth_runner_options_t options;
  berth_comparison_t comparison;
  berth_complaint_t complaint;
  memset(&options, 0, sizeof options);
  assert_int_equal(berth_compare(MODEL, &options, 3, true, &comparison, &complaint), BERTH_OK);
  assert_false(comparison.differ);
  assert_int_equal(comparison.tensors, 13);
  berth_comparison_free(&comparison);
}

static void a_wrong_plan_is_traced_to_the_tensors_that_share(void **state) {
  fixture_t *fixture = *state;
  berth_runner_options_t options;
  berth_comparison_t comparison;
  berth_complaint_t complaint;
  memset(&options, 0, sizeof options);
  /* The depthwise output lies 4000 bytes into its own input; all else is right. */
  fixture->offsets.offsets[DEPTHWISE] = 4000;
  options.interpreter.offsets = fixture->offsets.offsets;
  options.interpreter.offset_count = fixture->offsets.count;
  assert_int_not_equal(berth_compare(MODEL, &options, 3, true, &comparison, &complaint), BERTH_OK);
  options.interpreter.trust_offsets = true;
  assert_int_equal(berth_compare(MODEL, &options, 3, true, &comparison, &complaint), BERTH_OK);
  assert_true(comparison.differ);
  assert_int_equal(comparison.op, 1);
  assert_int_equal(comparison.tensor, DEPTHWISE);
  assert_int_equal(comparison.culprit_count, 2);
  bool depthwise = comparison.culprits[0] == DEPTHWISE || comparison.culprits[1] == DEPTHWISE;
  assert_true(depthwise);
  berth_comparison_free(&comparison);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_right_plan_is_accepted, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_tensor_without_a_place_is_missing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_place_for_a_constant_is_needless, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_misaligned_offset_is_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_tensor_beyond_the_arena_is_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_overlap_names_both_and_how_much, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_size_or_steps_that_do_not_do_are_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_output_in_another_tensor_s_place_is_an_overlap, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(json_and_csv_say_the_same, set_up, tear_down),
      cmocka_unit_test_setup_teardown(plans_that_make_no_sense_are_refused, set_up, tear_down),
      cmocka_unit_test(a_plan_of_berth_s_own_changes_nothing),
      cmocka_unit_test_setup_teardown(a_wrong_plan_is_traced_to_the_tensors_that_share, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests_name("plan check", tests, NULL, NULL);
}
