/* Sums and lower bounds of real models against an independent study of them, the reference data's
 * corpus/figures.csv and corpus/manifest.json. That study counts a tensor of unknown shape as one
 * element, so the same is done here. */
#include "test.h"

#include "berth/graph.h"
#include "host/csv.h"
#include "host/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shared(void) {
  const char *named = getenv("BERTH_SHARED");
  return named != NULL ? named : BERTH_SOURCE_DIR "/../shared";
}

typedef struct figures {
  uint64_t sum, load;
} figures_t;

/* One buffer for each dynamic tensor, one element large. */
static uint32_t add_dynamic(const berth_graph_t *graph, uint32_t align, berth_buffer_t *buffers,
                            uint32_t count) {
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_DYNAMIC) continue;
    berth_tensor_t info = berth_model_tensor(graph->model, tensor->subgraph, tensor->tensor);
    uint64_t element = berth_tensor_align(info.type);
    buffers[count++] =
        berth_buffer((element + align - 1) / align * align, tensor->first, tensor->last);
  }
  return count;
}

static figures_t figures_of(const berth_model_t *model, bool fold, bool keep, uint32_t align) {
  size_t bytes;
  assert_int_equal(berth_graph_workspace(model, &bytes), BERTH_OK);
  void *workspace = malloc(bytes);
  berth_graph_options_t options = {NULL, keep, fold};
  berth_graph_t graph;
  assert_int_equal(berth_graph_analyse(model, &options, workspace, bytes, &graph, NULL), BERTH_OK);

  berth_buffer_t *buffers = malloc(graph.tensor_count * sizeof *buffers);
  uint32_t *tensors = malloc(graph.tensor_count * sizeof *tensors);
  uint32_t count;
  assert_int_equal(berth_graph_buffers(&graph, align, buffers, tensors, &count), BERTH_OK);
  berth_problem_t problem = {.buffers = buffers,
                             .buffer_count = add_dynamic(&graph, align, buffers, count)};
  figures_t figures = {0, 0};
  for (uint32_t i = 0; i < problem.buffer_count; i++) figures.sum += buffers[i].size;
  size_t load_bytes;
  assert_int_equal(berth_problem_load_workspace(&problem, &load_bytes), BERTH_OK);
  void *load_workspace = malloc(load_bytes + 1);
  assert_int_equal(berth_problem_load(&problem, load_workspace, load_bytes, &figures.load, NULL),
                   BERTH_OK);
  free(load_workspace);
  free(tensors);
  free(buffers);
  free(workspace);
  return figures;
}

/* The number behind "key": in the manifest's entry of this model. */
static uint64_t manifest_number(const char *manifest, const char *model, const char *key) {
  char pattern[160];
  snprintf(pattern, sizeof pattern, "\"name\": \"%s\"", model);
  const char *entry = strstr(manifest, pattern);
  assert_non_null(entry);
  snprintf(pattern, sizeof pattern, "\"%s\": ", key);
  const char *value = strstr(entry, pattern);
  assert_non_null(value);
  return strtoull(value + strlen(pattern), NULL, 10);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(size + 1);
  assert_int_equal(fread(text, 1, size, file), size);
  text[size] = '\0';
  fclose(file);
  return text;
}

static bool equal(const char *model, const char *what, uint64_t ours, uint64_t reference) {
  if (ours == reference) return true;
  print_error("%s: %s is %" PRIu64 ", the reference says %" PRIu64 "\n", model, what, ours,
              reference);
  return false;
}

static void sums_and_lower_bounds_equal_the_reference(void **state) {
  (void)state;
  char path[1024];
  snprintf(path, sizeof path, "%s/corpus/manifest.json", shared());
  char *manifest = read_text(path);
  snprintf(path, sizeof path, "%s/corpus/figures.csv", shared());
  char *table = read_text(path);
  if (manifest == NULL || table == NULL) {
    free(manifest);
    free(table);
    print_message("left out: the reference data (%s) is not there\n", shared());
    skip();
  }

  enum { MODEL, SUM, LB0, LB0_WHOLE };
  berth_csv_t csv = berth_csv_over(table, strlen(table));
  berth_csv_field_t row[32];
  size_t count;
  assert_int_equal(berth_csv_row(&csv, row, 32, &count), BERTH_CSV_ROW);
  assert_true(berth_csv_is(row[SUM], "sum") && berth_csv_is(row[LB0], "lb0") &&
              berth_csv_is(row[LB0_WHOLE], "lb0_inputs_whole"));

  bool good = true;
  unsigned models = 0;
  while (berth_csv_row(&csv, row, 32, &count) == BERTH_CSV_ROW) {
    char model_name[128];
    uint64_t sum = 0, lb0 = 0, lb0_whole = 0;
    assert_true(row[MODEL].length < sizeof model_name);
    berth_csv_copy(row[MODEL], model_name);
    assert_true(berth_csv_number(row[SUM], &sum) && berth_csv_number(row[LB0], &lb0) &&
                berth_csv_number(row[LB0_WHOLE], &lb0_whole));

    snprintf(path, sizeof path, "%s/corpus/%s/model.tflite", shared(), model_name);
    berth_host_map_t map;
    berth_model_t model;
    char message[BERTH_HOST_MESSAGE];
    if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) {
      fail_msg("%s: %s", path, message);
    }
    figures_t folded = figures_of(&model, true, false, 16);
    good &= equal(model_name, "sum", folded.sum, sum);
    good &= equal(model_name, "lb0", folded.load, lb0);
    good &=
        equal(model_name, "lb0_inputs_whole", figures_of(&model, true, true, 16).load, lb0_whole);
    good &= equal(model_name, "lb0_raw", figures_of(&model, false, false, 16).load,
                  manifest_number(manifest, model_name, "lb0_raw"));
    good &= equal(model_name, "sum_raw", figures_of(&model, false, false, 1).sum,
                  manifest_number(manifest, model_name, "sum_raw"));
    berth_host_unmap(&map);
    models++;
  }
  free(manifest);
  free(table);
  assert_true(models > 100);
  assert_true(good);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_and_lower_bounds_equal_the_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
