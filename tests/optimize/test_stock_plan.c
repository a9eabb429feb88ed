/* Plans for stock TFLM: on every recorded model that it runs, the forecast's head with the plan is
 * the lower bound of what was planned, and Berth, which follows the same offsets, gives what stock
 * TFLM recorded. Without the reference data: the same for the shipped models. */
#include "test.h"

#include "host/csv.h"
#include "host/map.h"
#include "host/replay.h"
#include "optimize/stock_plan.h"
#include "stock/overlap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL, HEAD = 13, USED = 15 };

static const char *shared(void) {
  const char *named = getenv("BERTH_SHARED");
  return named != NULL ? named : BERTH_SOURCE_DIR "/../shared";
}

typedef struct figures {
  uint64_t head, own, used, bound;
  uint32_t shares;
  bool known, planned;
} figures_t;

/* Plans the model; replays the recording in `folder` (NULL: none) with the plan. */
static figures_t plan_of(const char *path, const char *folder, berth_overlap_t overlap) {
  berth_host_map_t map;
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE];
  if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) {
    fail_msg("%s: %s", path, message);
  }
  berth_stock_plan_options_t options = {.overlap = overlap, .abi = BERTH_ABI_64};
  berth_stock_plan_t plan;
  assert_int_equal(berth_stock_plan_make(&model, &options, &plan), BERTH_OK);
  figures_t figures = {.head = plan.head_bytes,
                       .own = plan.own_head_bytes,
                       .bound = plan.lower_bound,
                       .shares = plan.share_count,
                       .known = plan.known,
                       .planned = plan.offsets != NULL};
  berth_tflm_settings_t settings = {
      .abi = BERTH_ABI_64, .offsets = plan.offsets, .offset_count = plan.count};
  berth_tflm_forecast_t forecast;
  if (plan.known) {
    assert_int_equal(berth_tflm_forecast(&model, &settings, &forecast, NULL), BERTH_OK);
    assert_int_equal(forecast.head_bytes, plan.head_bytes);
    figures.used = forecast.arena_used_bytes;
    berth_tflm_forecast_free(&forecast);
  }
  if (folder != NULL && plan.offsets != NULL) {
    berth_runner_options_t run = {
        .interpreter = {.offsets = plan.offsets, .offset_count = plan.count}, .messages = stderr};
    berth_replay_t result;
    berth_complaint_t complaint = {""};
    if (berth_replay_run(path, &run, folder, 1e-4, 0, &result, &complaint) != BERTH_OK) {
      fail_msg("%s", complaint.text);
    }
    assert_true(result.invokes > 0);
    if (result.different_outputs + result.different_layers > 0) {
      fail_msg("%s: differs in run %u after operator %u", path, result.first_run, result.first_op);
    }
  }
  berth_stock_plan_free(&plan);
  berth_host_unmap(&map);
  return figures;
}

static void the_head_is_the_lower_bound_on_every_recorded_model(void **state) {
  (void)state;
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/corpus/figures.csv", shared());
  berth_host_map_t table;
  if (berth_host_map(path, &table, message) != BERTH_OK) {
    print_message("no reference data: skipped\n");
    skip();
  }
  berth_csv_t csv = berth_csv_over((const char *)table.data, table.size);
  berth_csv_field_t row[32];
  size_t count;
  assert_int_equal(berth_csv_row(&csv, row, 32, &count), BERTH_CSV_ROW);
  assert_true(berth_csv_is(row[HEAD], "tflm_head") && berth_csv_is(row[USED], "tflm_arena_used"));
  uint32_t models = 0, smaller = 0;
  while (berth_csv_row(&csv, row, 32, &count) == BERTH_CSV_ROW) {
    char name[128], folder[512];
    uint64_t head, used;
    if (!berth_csv_number(row[HEAD], &head) || !berth_csv_number(row[USED], &used)) continue;
    berth_csv_copy(row[MODEL], name);
    snprintf(path, sizeof path, "%s/corpus/%s/model.tflite", shared(), name);
    snprintf(folder, sizeof folder, "%s/corpus/%s/tflm", shared(), name);
    figures_t figures = plan_of(path, folder, BERTH_OVERLAP_INPLACE);
    if (!figures.known || figures.own != head || figures.head != figures.bound ||
        figures.head > head || (figures.planned && figures.used != used - head + figures.head)) {
      fail_msg("%s: head %u, bound %u, own %u (recorded %u), arena %u", name,
               (unsigned)figures.head, (unsigned)figures.bound, (unsigned)figures.own,
               (unsigned)head, (unsigned)figures.used);
    }
    if (strcmp(name, "mlperf_tiny/vww_96_int8") == 0) {
      assert_int_equal(figures.head, 55296);
      assert_int_equal(figures.used, 84960);
    }
    models++;
    smaller += figures.head < head;
  }
  berth_host_unmap(&table);
  print_message("%u models, %u of them smaller\n", models, smaller);
  assert_true(models > 50 && smaller > 20);
}

static void shipped_models_run_with_their_plans(void **state) {
  (void)state;
  static const char *const names[] = {"ds_cnn_kws_int8", "mobilenet_v1_0.25_96_int8",
                                      "detector_two_outputs_int8", "resource_variables"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[512], folder[512];
    snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, names[i]);
    snprintf(folder, sizeof folder, "%s/models/reference/%s", BERTH_SOURCE_DIR, names[i]);
    bool recorded = i < 3;
    figures_t alone = plan_of(path, recorded ? folder : NULL, BERTH_OVERLAP_NONE);
    figures_t shared_plan = plan_of(path, recorded ? folder : NULL, BERTH_OVERLAP_INPLACE);
    assert_true(shared_plan.head <= alone.head);
    assert_true(alone.shares == 0);
    if (shared_plan.known) assert_true(shared_plan.head <= shared_plan.own);
  }
}

/* Diagonal overlaps come on top, never at the cost of the head. */
static void diagonal_heads_are_never_larger(void **state) {
  (void)state;
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/corpus/figures.csv", shared());
  berth_host_map_t table;
  if (berth_host_map(path, &table, message) != BERTH_OK) {
    print_message("no reference data: skipped\n");
    skip();
  }
  berth_csv_t csv = berth_csv_over((const char *)table.data, table.size);
  berth_csv_field_t row[32];
  size_t count;
  uint32_t models = 0, smaller = 0;
  while (berth_csv_row(&csv, row, 32, &count) == BERTH_CSV_ROW) {
    uint64_t head;
    char name[128];
    if (!berth_csv_number(row[HEAD], &head)) continue;
    berth_csv_copy(row[MODEL], name);
    snprintf(path, sizeof path, "%s/corpus/%s/model.tflite", shared(), name);
    berth_host_map_t map;
    berth_model_t model;
    assert_int_equal(berth_host_open_model(path, &map, &model, message), BERTH_OK);
    berth_stock_plan_options_t options = {.abi = BERTH_ABI_64};
    berth_stock_plan_t in_place, diagonal;
    assert_int_equal(berth_stock_plan_make(&model, &options, &in_place), BERTH_OK);
    options.diagonal = true;
    if (berth_stock_plan_make(&model, &options, &diagonal) != BERTH_OK) fail_msg("%s", name);
    if (diagonal.head_bytes > in_place.head_bytes) {
      fail_msg("%s: %u instead of %u", name, (unsigned)diagonal.head_bytes,
               (unsigned)in_place.head_bytes);
    }
    smaller += diagonal.head_bytes < in_place.head_bytes;
    for (uint32_t i = 0; i < diagonal.share_count; i++) {
      const berth_stock_share_t *share = &diagonal.shares[i];
      assert_true(share->bytes > 0 && strlen(share->reason) > 10);
      if (share->diagonal) assert_true(diagonal.foreign && share->gap >= share->distance);
    }
    models++;
    berth_stock_plan_free(&in_place);
    berth_stock_plan_free(&diagonal);
    berth_host_unmap(&map);
  }
  berth_host_unmap(&table);
  print_message("%u models, %u of them smaller\n", models, smaller);
  assert_true(models > 50 && smaller > 30);
}

/* The tensors of called subgraphs by TFLM's own count: nothing is left to gain. */
static void called_subgraphs_are_planned_by_tflms_lifetimes(void **state) {
  (void)state;
  figures_t figures =
      plan_of(BERTH_SOURCE_DIR "/models/control_flow.tflite", NULL, BERTH_OVERLAP_INPLACE);
  assert_true(figures.known);
  assert_int_equal(figures.head, figures.bound);
  assert_int_equal(figures.head, 848);
}

static void what_is_live_beside_unknown_scratch_is_left_to_tflm(void **state) {
  (void)state;
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  assert_int_equal(
      berth_host_open_model(BERTH_SOURCE_DIR "/models/custom_op.tflite", &map, &model, message),
      BERTH_OK);
  berth_stock_plan_options_t options = {.overlap = BERTH_OVERLAP_NONE};
  berth_stock_plan_t plan;
  assert_int_equal(berth_stock_plan_make(&model, &options, &plan), BERTH_OK);
  assert_false(plan.known);
  uint32_t custom = 0; /* the operator that TFLM has no kernel for */
  while (berth_model_operator(&model, 0, custom).code != BERTH_BUILTIN_CUSTOM) custom++;
  size_t bytes;
  assert_int_equal(berth_graph_workspace(&model, &bytes), BERTH_OK);
  void *memory = malloc(bytes);
  berth_graph_t graph;
  assert_int_equal(berth_graph_analyse(&model, NULL, memory, bytes, &graph, NULL), BERTH_OK);
  uint32_t beside = 0;
  for (uint32_t t = 0; t < graph.tensor_count; t++) {
    const berth_graph_tensor_t *tensor = &graph.tensors[t];
    bool planned = tensor->allocation == BERTH_ALLOCATION_ARENA_RW ||
                   tensor->allocation == BERTH_ALLOCATION_DYNAMIC;
    beside += planned && tensor->first <= custom && custom <= tensor->last;
  }
  assert_true(beside > 0);
  assert_int_equal(plan.left_out, beside);
  free(memory);
  berth_stock_plan_free(&plan);
  berth_host_unmap(&map);
}

static void the_order_counts_scratch(void **state) {
  (void)state;
  char path[512], message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  snprintf(path, sizeof path, "%s/models/resnet8_int8.tflite", BERTH_SOURCE_DIR);
  assert_int_equal(berth_host_open_model(path, &map, &model, message), BERTH_OK);
  uint32_t order[256];
  assert_true(berth_model_subgraph(&model, 0).operator_count <= 256);
  berth_stock_plan_options_t options = {.overlap = BERTH_OVERLAP_INPLACE};
  berth_order_result_t result;
  assert_int_equal(berth_stock_order(&model, &options, order, &result), BERTH_OK);
  assert_true(result.optimal);
  berth_stock_plan_t plan;
  assert_int_equal(berth_stock_plan_make(&model, &options, &plan), BERTH_OK);
  if (!result.changed && plan.offsets != NULL) assert_true(plan.lower_bound <= result.peak);
  berth_stock_plan_free(&plan);
  berth_host_unmap(&map);
}

static void no_kernel_is_listed_twice_or_without_a_reason(void **state) {
  (void)state;
  uint32_t listed = 0;
  for (int code = 0; code < 256; code++) {
    const berth_stock_overlap_t *entry = berth_stock_overlap((berth_builtin_t)code);
    if (entry == NULL) continue;
    listed++;
    assert_int_equal(entry->code, code);
    assert_true(entry->inputs != 0 && strlen(entry->reason) > 10);
  }
  assert_true(listed > 30);
  assert_null(berth_stock_overlap(BERTH_BUILTIN_CONV_2D));
  assert_null(berth_stock_overlap(BERTH_BUILTIN_TRANSPOSE));
  assert_null(berth_stock_overlap(BERTH_BUILTIN_CONCATENATION));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_head_is_the_lower_bound_on_every_recorded_model),
      cmocka_unit_test(shipped_models_run_with_their_plans),
      cmocka_unit_test(diagonal_heads_are_never_larger),
      cmocka_unit_test(called_subgraphs_are_planned_by_tflms_lifetimes),
      cmocka_unit_test(what_is_live_beside_unknown_scratch_is_left_to_tflm),
      cmocka_unit_test(the_order_counts_scratch),
      cmocka_unit_test(no_kernel_is_listed_twice_or_without_a_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
