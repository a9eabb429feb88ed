/* Mutates model files, edits the mutants that open, and writes them: what is written must open as
 * well, and say the same where nothing was to change. Meant to run under the sanitizers, with each
 * mutant at the end of a block of its exact size.
 *
 *   fuzz COUNT SEED FIRST FILE...
 *
 * Mutant number i depends on the seed, i and the files only. With the environment variable
 * BERTH_FUZZ_SAVE naming a folder, every mutant that opens is saved there, for
 * tools/check-optimize, which asks TensorFlow Lite.
 *
 * One thing is allowed: where a mutant's parts overlap, a position that counts from the file's
 * start may be a part of something else, which moving it then breaks. `berth optimize` opens what
 * it wrote before anyone sees it; here such results are counted, and there may be few.
 */
#include "../model/mutants.h"
#include "../model/sample.h"
#include "same.h"

#include "model/model.h"
#include "optimize/cleanup.h"
#include "optimize/offline.h"
#include "optimize/write.h"

#define LARGEST_FILE 262144u /* bytes */

static uint64_t opened, written, refused, broken, cleaned;

/* ---- Edits ----------------------------------------------------------------------------------- */

static void put_plan(berth_edit_t *edit) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < edit->model->subgraph_count; s++) {
    count += berth_model_subgraph(edit->model, s).tensor_count;
  }
  int32_t *offsets = take(count * sizeof *offsets);
  for (uint32_t i = 0; i < count; i++) offsets[i] = (int32_t)(16 * below(1000));
  if (berth_offline_put(edit, offsets, count) != BERTH_OK) give_up("a plan cannot be stored");
  free(offsets);
}

/* Two operators change places; the writer need not know what that means. */
static void swap_operators(berth_edit_t *edit) {
  uint32_t count = edit->subgraphs[0].operator_count;
  uint32_t *order = take(count * sizeof *order);
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  if (count > 1) {
    size_t a = below(count), b = below(count);
    uint32_t kept = order[a];
    order[a] = order[b];
    order[b] = kept;
  }
  if (berth_edit_reorder(edit, 0, order) != BERTH_OK) give_up("operators cannot be reordered");
  free(order);
}

/* Does nothing that changes the graph; true: something else was done. */
static bool change(berth_edit_t *edit) {
  bool same = true;
  if (below(2) == 0) put_plan(edit);
  if (below(4) == 0) {
    swap_operators(edit);
    same = false;
  }
  if (below(2) == 0) {
    uint32_t counts[BERTH_CLEANUPS_MAX], tensors = 0;
    /* Constants are folded by running the model, which other tests do. */
    if (berth_clean(edit, 1, false, counts) != BERTH_OK) give_up("cannot be cleaned up");
    if (berth_drop_tensors(edit, &tensors) != BERTH_OK) give_up("tensors cannot be dropped");
    for (uint32_t i = 0; i < BERTH_CLEANUPS_MAX; i++) cleaned += counts[i];
    same = false;
  }
  return !same;
}

/* Does the writer have to change positions in the old file? */
static bool has_positions(const berth_model_t *model) {
  berth_table_t root = berth_model_root(model);
  for (uint32_t i = 0; i < model->buffer_count; i++) {
    if (flat_u64(flat_element(root, MODEL_BUFFERS, i), BUFFER_OFFSET, 0) > 1) return true;
  }
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    berth_table_t subgraph = flat_element(root, MODEL_SUBGRAPHS, s);
    for (uint32_t i = 0; i < berth_model_subgraph(model, s).operator_count; i++) {
      berth_table_t op = flat_element(subgraph, SUBGRAPH_OPERATORS, i);
      if (flat_u64(op, OPERATOR_LARGE_OPTIONS_OFFSET, 0) > 1) return true;
    }
  }
  return false;
}

/* ---- A mutant -------------------------------------------------------------------------------- */

static void save(const uint8_t *data, size_t size) {
  const char *folder = getenv("BERTH_FUZZ_SAVE");
  char path[1024];
  if (folder == NULL) return;
  snprintf(path, sizeof path, "%s/mutant%" PRIu64 ".tflite", folder, mutants_current);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    give_up("a mutant cannot be saved");
  }
}

static void use(const uint8_t *data, size_t size) {
  berth_model_t model, result;
  berth_edit_t edit;
  uint8_t *bytes;
  uint64_t result_size;
  if (berth_model_open(data, size, &model, NULL) != BERTH_OK) return;
  opened++;
  save(data, size);
  if (berth_edit_open(&model, &edit) != BERTH_OK) give_up("an open model cannot be edited");
  bool changed = change(&edit);
  berth_edit_write_options_t options = {.all = below(3) == 0};
  berth_status_t status = berth_edit_bytes(&edit, &options, &bytes, &result_size, NULL);
  if (status == BERTH_OK) {
    written++;
    berth_model_error_t error = {0};
    if (berth_model_open(bytes, result_size, &result, &error) != BERTH_OK) {
      if (!has_positions(&model)) fprintf(stderr, "%s %s: ", error.subject, error.fault);
      if (!has_positions(&model)) give_up("what was written does not open");
      broken++;
    } else if (!changed && model_difference(&model, &result) != NULL) {
      if (!has_positions(&model)) give_up(model_difference(&model, &result));
      broken++;
    }
    free(bytes);
  } else if (status == BERTH_ERROR_UNSUPPORTED || status == BERTH_ERROR_FORMAT) {
    refused++;
  } else {
    give_up("cannot be written without reason");
  }
  berth_edit_close(&edit);
}

static size_t times(void) {
  return 1 + below(3);
}

int main(int argc, char **argv) {
  static sample_t sample;
  sample_build(&sample);
  mutants_t mutants = {.largest = LARGEST_FILE,
                       .seconds = 20,
                       .sample = {sample.file.bytes, sample.file.size},
                       .times = times,
                       .use = use};
  int status = mutants_use(&mutants, argc, argv);
  if (status != 0) return status;
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " written, %" PRIu64 " refused, %" PRIu64 " of them broken, %" PRIu64 " clean-ups\n",
         mutants.count, mutants.base_count, mutants_seed, opened, written, refused, broken,
         cleaned);
  if (mutants.count >= 1000 && (written == 0 || broken > written / 1000)) {
    fprintf(stderr, "too few were written, or too many are broken\n");
    return 1;
  }
  return 0;
}
