/* Plans with shared memory and in the best order, through the subject that every command opens. */
#include "test.h"

#include "graph/network.h"
#include "host/sharing.h"
#include "stock/diagonal.h"
#include <stdio.h>
#include <unistd.h>

static uint64_t peak_of(const berth_subject_t *subject) {
  size_t bytes;
  assert_int_equal(berth_plan_workspace(&berth_planner_best, &subject->problem, NULL, &bytes),
                   BERTH_OK);
  void *workspace = malloc(bytes + 1);
  berth_plan_t plan = {.placements =
                           calloc(subject->problem.buffer_count + 1, sizeof(berth_placement_t))};
  assert_int_equal(
      berth_plan_make(&berth_planner_best, &subject->problem, NULL, workspace, bytes, &plan),
      BERTH_OK);
  assert_true(plan.optimal);
  free(workspace);
  free(plan.placements);
  return plan.peak;
}

static uint64_t plan(const char *path, const berth_subject_options_t *options, uint32_t *pairs) {
  berth_subject_t subject;
  berth_complaint_t complaint = {""};
  if (berth_subject_open(path, options, &subject, &complaint) != BERTH_OK) {
    fail_msg("%s", complaint.text);
  }
  uint64_t peak = peak_of(&subject);
  if (pairs != NULL) *pairs = subject.problem.pair_count;
  berth_subject_close(&subject);
  return peak;
}

static void outputs_over_inputs_are_pairs_that_share(void **state) {
  (void)state;
  const char *path = BERTH_SOURCE_DIR "/models/resource_variables.tflite";
  berth_subject_options_t options = {0};
  uint32_t pairs;
  uint64_t alone = plan(path, &options, &pairs);
  assert_int_equal(pairs, 0);
  options.share = true;
  options.overlap = BERTH_OVERLAP_INPLACE;
  assert_true(plan(path, &options, &pairs) < alone);
  assert_true(pairs > 0);
  uint32_t fewer;
  options.overlap = BERTH_OVERLAP_VIEWS;
  plan(path, &options, &fewer);
  assert_true(fewer < pairs);
}

static void the_best_order_is_planned_as_if_it_were_the_files(void **state) {
  (void)state;
  network_t net = {0};
  const char *const sizes[] = {"16", "512", "16", "512", "16", "16"};
  for (int i = 0; i < 6; i++) tensor(&net, 0, BERTH_TYPE_INT8, sizes[i], 0);
  op(&net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&net, 0, BERTH_BUILTIN_CONV_2D, "0", "3");
  op(&net, 0, BERTH_BUILTIN_CONV_2D, "1", "2");
  op(&net, 0, BERTH_BUILTIN_CONV_2D, "3", "4");
  op(&net, 0, BERTH_BUILTIN_ADD, "2 4", "5");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "5";
  build(&net);
  char path[] = "/tmp/berth-order-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, net.file.bytes, net.file.size), net.file.size);
  close(file);
  berth_subject_options_t options = {0};
  assert_int_equal(plan(path, &options, NULL), 1040);
  options.best_order = true;
  assert_int_equal(plan(path, &options, NULL), 544);
  unlink(path);
}

/* Every operator's output and input where the plan has them: at least the safe distance apart, if
 * they meet at all. */
static void diagonal_plans_are_smaller_and_keep_every_safe_distance(void **state) {
  (void)state;
  const char *path = BERTH_SOURCE_DIR "/models/mobilenet_v1_0.25_96_int8.tflite";
  berth_subject_options_t options = {.share = true, .overlap = BERTH_OVERLAP_INPLACE};
  uint64_t in_place = plan(path, &options, NULL);
  options.diagonal = true;
  berth_subject_t subject;
  berth_complaint_t complaint = {""};
  assert_int_equal(berth_subject_open(path, &options, &subject, &complaint), BERTH_OK);
  size_t bytes;
  berth_plan_t result = {.placements =
                             calloc(subject.problem.buffer_count + 1, sizeof(berth_placement_t))};
  assert_int_equal(berth_plan_workspace(&berth_planner_best, &subject.problem, NULL, &bytes),
                   BERTH_OK);
  void *workspace = malloc(bytes + 1);
  assert_int_equal(
      berth_plan_make(&berth_planner_best, &subject.problem, NULL, workspace, bytes, &result),
      BERTH_OK);
  assert_true(result.peak * 10 < in_place * 7);

  int64_t place[512];
  for (int i = 0; i < 512; i++) place[i] = -1;
  for (uint32_t i = 0; i < subject.problem.buffer_count; i++) {
    place[subject.labels[i].tensor] = (int64_t)result.placements[i].offset;
  }
  uint32_t met = 0;
  for (uint32_t op = 0; op < berth_model_subgraph(&subject.model, 0).operator_count; op++) {
    berth_operator_t what = berth_model_operator(&subject.model, 0, op);
    int32_t from = berth_vector_int(what.inputs, 0), to = berth_vector_int(what.outputs, 0);
    if (place[from] < 0 || place[to] < 0 || place[from] == place[to]) continue;
    int64_t from_end = place[from] + (int64_t)subject.graph.tensors[from].bytes;
    int64_t to_end = place[to] + (int64_t)subject.graph.tensors[to].bytes;
    if (from_end <= place[to] || to_end <= place[from]) continue;
    uint64_t distance;
    assert_true(berth_stock_diagonal(&subject.model, 0, op, 0, &distance));
    assert_true(place[from] - place[to] >= (int64_t)distance);
    met++;
  }
  assert_true(met > 10);
  free(workspace);
  free(result.placements);
  berth_subject_close(&subject);
}

static void a_problem_has_neither(void **state) {
  (void)state;
  char folder[] = "/tmp/berth-order-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/problem.csv", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  static const char text[] = "id,lower,upper,size\na,0,1,8\n";
  assert_true(fputs(text, file) >= 0);
  fclose(file);
  berth_subject_t subject;
  berth_complaint_t complaint = {""};
  berth_subject_options_t options = {.best_order = true};
  assert_int_equal(berth_subject_open(path, &options, &subject, &complaint), BERTH_ERROR_ARGUMENT);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_over_inputs_are_pairs_that_share),
      cmocka_unit_test(the_best_order_is_planned_as_if_it_were_the_files),
      cmocka_unit_test(diagonal_plans_are_smaller_and_keep_every_safe_distance),
      cmocka_unit_test(a_problem_has_neither),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
