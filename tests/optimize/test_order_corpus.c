/* Orders and outputs over inputs on the reference data's models, against an independent study of
 * them (corpus/figures.csv): lb1 is the best order's load, lb2 the file's order with outputs over
 * inputs, lb3 both. */
#include "test.h"

#include "berth/order.h"
#include "host/csv.h"
#include "host/map.h"
#include "optimize/contracts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL = 0, LB0 = 2, LB1 = 5, LB2 = 6, LB3 = 7 };
#define ALIGN 16u

static const char *shared(void) {
  const char *named = getenv("BERTH_SHARED");
  return named != NULL ? named : BERTH_SOURCE_DIR "/../shared";
}

typedef struct subject {
  berth_host_map_t map;
  berth_model_t model;
  berth_sharing_t *sharing;
  uint32_t operators;
} subject_t;

static void open_subject(const char *path, subject_t *s) {
  char message[BERTH_HOST_MESSAGE];
  berth_contracts_t contracts;
  if (berth_host_open_model(path, &s->map, &s->model, message) != BERTH_OK) {
    fail_msg("%s: %s", path, message);
  }
  assert_int_equal(berth_contracts_make(&s->model, NULL, &contracts), BERTH_OK);
  s->operators = berth_model_subgraph(&s->model, 0).operator_count;
  s->sharing = calloc(s->operators + 1, sizeof *s->sharing);
  for (uint32_t i = 0; i < s->operators; i++) {
    s->sharing[i] = berth_sharing_of(&contracts.table[i]);
  }
  berth_contracts_free(&contracts);
}

static void close_subject(subject_t *s) {
  free(s->sharing);
  berth_host_unmap(&s->map);
}

/* The load of an order with what may share memory. */
static uint64_t load_of(const subject_t *s, const uint32_t *order, berth_overlap_t overlap) {
  size_t bytes;
  berth_graph_t graph;
  berth_graph_options_t rules = {.order = order, .fold = true};
  assert_int_equal(berth_graph_workspace(&s->model, &bytes), BERTH_OK);
  void *memory = malloc(bytes + 1);
  assert_int_equal(berth_graph_analyse(&s->model, &rules, memory, bytes, &graph, NULL), BERTH_OK);
  berth_alias_options_t options = {.overlap = overlap, .align = ALIGN, .order = order};
  berth_alias_t *aliases;
  assert_int_equal(berth_alias_workspace(&graph, s->sharing, &options, &bytes), BERTH_OK);
  void *more = malloc(bytes + 1);
  assert_int_equal(berth_alias_find(&graph, s->sharing, &options, more, bytes, &aliases), BERTH_OK);
  berth_buffer_t *buffers = malloc((graph.tensor_count + 1) * sizeof *buffers);
  uint32_t *tensors = malloc((graph.tensor_count + 1) * sizeof *tensors), count;
  assert_int_equal(berth_alias_buffers(&graph, aliases, ALIGN, buffers, tensors, &count), BERTH_OK);
  berth_problem_t problem = {.buffers = buffers, .buffer_count = count};
  uint64_t load = 0;
  assert_int_equal(berth_problem_load_workspace(&problem, &bytes), BERTH_OK);
  void *workspace = malloc(bytes + 1);
  assert_int_equal(berth_problem_load(&problem, workspace, bytes, &load, NULL), BERTH_OK);
  free(workspace);
  free(tensors);
  free(buffers);
  free(more);
  free(memory);
  return load;
}

static berth_order_result_t order_of(const subject_t *s, berth_overlap_t overlap, uint32_t *order) {
  size_t bytes;
  berth_graph_t graph;
  berth_graph_options_t rules = {.fold = true};
  assert_int_equal(berth_graph_workspace(&s->model, &bytes), BERTH_OK);
  void *memory = malloc(bytes + 1);
  assert_int_equal(berth_graph_analyse(&s->model, &rules, memory, bytes, &graph, NULL), BERTH_OK);
  berth_order_options_t options = {.overlap = overlap, .align = ALIGN};
  berth_order_result_t result;
  assert_int_equal(berth_order_workspace(&graph, s->sharing, &options, &bytes), BERTH_OK);
  void *workspace = malloc(bytes + 1);
  assert_int_equal(berth_order_find(&graph, s->sharing, &options, workspace, bytes, order, &result),
                   BERTH_OK);
  free(workspace);
  free(memory);
  return result;
}

static bool hold(const char *model, const char *what, uint64_t ours, uint64_t theirs) {
  if (ours <= theirs) return true;
  print_message("%s: %s is %llu, should be at most %llu\n", model, what, (unsigned long long)ours,
                (unsigned long long)theirs);
  return false;
}

static void no_figure_of_the_study_is_better(void **state) {
  (void)state;
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/corpus/figures.csv", shared());
  berth_host_map_t table;
  if (berth_host_map(path, &table, message) != BERTH_OK) {
    print_message("no reference data: skipped\n");
    skip();
  }
  berth_csv_t csv = berth_csv_over(table.data, table.size);
  berth_csv_field_t row[32];
  size_t count;
  assert_int_equal(berth_csv_row(&csv, row, 32, &count), BERTH_CSV_ROW);
  assert_true(berth_csv_is(row[LB1], "lb1") && berth_csv_is(row[LB3], "lb3"));
  uint32_t models = 0, proven = 0, below = 0, reordered = 0;
  bool good = true;
  while (berth_csv_row(&csv, row, 32, &count) == BERTH_CSV_ROW) {
    char name[128];
    uint64_t lb1 = 0, lb2 = 0, lb3 = 0;
    berth_csv_copy(row[MODEL], name);
    assert_true(berth_csv_number(row[LB1], &lb1) && berth_csv_number(row[LB2], &lb2) &&
                berth_csv_number(row[LB3], &lb3));
    snprintf(path, sizeof path, "%s/corpus/%s/model.tflite", shared(), name);
    subject_t s;
    open_subject(path, &s);
    uint32_t *order = malloc((s.operators + 1) * sizeof *order);
    berth_order_result_t alone = order_of(&s, BERTH_OVERLAP_NONE, order);
    good &= hold(name, "the best order's load", load_of(&s, order, BERTH_OVERLAP_NONE), lb1);
    good &= hold(name, "the load in place", load_of(&s, NULL, BERTH_OVERLAP_INPLACE), lb2);
    berth_order_result_t both = order_of(&s, BERTH_OVERLAP_INPLACE, order);
    uint64_t load = load_of(&s, order, BERTH_OVERLAP_INPLACE);
    good &= hold(name, "the load of both", load, lb3);
    good &= hold(name, "the load of both", load, both.peak);
    models++;
    proven += alone.optimal && both.optimal;
    reordered += alone.changed || both.changed;
    if (load < lb3) {
      below++;
      print_message("%s: %llu, the study's lb3 is %llu\n", name, (unsigned long long)load,
                    (unsigned long long)lb3);
    }
    free(order);
    close_subject(&s);
  }
  berth_host_unmap(&table);
  print_message("%u models, %u proven, %u reordered, %u below\n", models, proven, reordered, below);
  assert_true(good);
  assert_int_equal(proven, models);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_figure_of_the_study_is_better)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
