/* Mutates model files and forecasts the memory of each mutant that opens, for a random target and
 * kernel set, with and without an offline plan of random offsets. Meant to run under
 * AddressSanitizer and UndefinedBehaviorSanitizer.
 *
 *   fuzz COUNT SEED FIRST FILE...
 *
 * Mutant number i depends on the seed, i and the files only. Ends with a failure if a promise of
 * the headers is broken, or if one mutant takes longer than a minute.
 */
#include "model/mutants.h"

#include "stock/tflite_forecast.h"
#include "stock/tflm_forecast.h"

#define LARGEST_FILE 131072u /* bytes; larger ones are mostly weights */

static uint64_t opened, forecast_count, placed_count;

static void promise(bool kept, const char *what) {
  if (!kept) give_up(what);
}

static void check(const berth_tflm_forecast_t *forecast) {
  uint64_t tail = 0, head = 0;
  for (int i = 0; i < BERTH_TFLM_PART_COUNT; i++) {
    tail += forecast->tail[i].bytes;
    promise(forecast->tail[i].bytes >= forecast->tail[i].requested, "padding only adds");
  }
  for (uint32_t i = 0; i < forecast->buffer_count; i++) {
    uint64_t end = forecast->buffers[i].offset + forecast->buffers[i].bytes;
    if (end > head) head = end;
  }
  promise(tail == forecast->tail_bytes, "the shares make up the tail");
  promise(head <= forecast->head_bytes, "all buffers lie in the head");
  promise(forecast->arena_used_bytes == forecast->head_bytes + forecast->tail_bytes,
          "head and tail are what is used");
  promise(forecast->min_arena_bytes >= forecast->arena_used_bytes, "what is used fits");
  promise(forecast->min_arena_bytes % 16 == 0, "the smallest arena is a multiple of 16");
}

static berth_status_t use_with(const berth_model_t *model, const berth_tflm_settings_t *settings) {
  berth_tflm_forecast_t forecast;
  berth_tflm_error_t error;
  berth_status_t status = berth_tflm_forecast(model, settings, &forecast, &error);
  if (status == BERTH_OK) {
    check(&forecast);
    berth_tflm_forecast_free(&forecast);
  } else if (status == BERTH_ERROR_FORMAT || status == BERTH_ERROR_OVERFLOW) {
    promise(error.what != NULL && error.what[0] != '\0', "a refusal has a reason");
  }
  return status;
}

static void use(const uint8_t *data, size_t size) {
  berth_model_t model;
  berth_model_error_t error;
  if (berth_model_open(data, size, &model, &error) != BERTH_OK) return;
  opened++;
  berth_tflm_settings_t settings = {.abi = (berth_abi_t)below(3),
                                    .kernels = (berth_tflm_kernel_set_t)below(2)};
  forecast_count += use_with(&model, &settings) == BERTH_OK;
  uint32_t count = 0;
  for (uint32_t s = 0; s < model.subgraph_count; s++) {
    count += berth_model_subgraph(&model, s).tensor_count;
  }
  int32_t *offsets = malloc((count > 0 ? count : 1) * sizeof *offsets);
  if (offsets == NULL) abort();
  for (uint32_t i = 0; i < count; i++) {
    offsets[i] = below(3) == 0 ? -1 : (int32_t)below(below(20) == 0 ? INT32_MAX : 4096);
  }
  settings.offsets = offsets;
  settings.offset_count = count;
  placed_count += use_with(&model, &settings) == BERTH_OK;
  free(offsets);
  berth_tflite_forecast_t tflite;
  berth_graph_error_t graph_error;
  if (berth_tflite_forecast(&model, &tflite, &graph_error) == BERTH_OK) {
    promise(tflite.arena_used_bytes == tflite.head_bytes + tflite.tail_bytes,
            "both arenas are what is used");
  }
}

static size_t times(void) {
  return 1 + below(3);
}

int main(int argc, char **argv) {
  mutants_t mutants = {.largest = LARGEST_FILE, .seconds = 60, .times = times, .use = use};
  int status = mutants_use(&mutants, argc, argv);
  if (status != 0) return status;
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " forecast, %" PRIu64 " with an offline plan\n",
         mutants.count, mutants.base_count, mutants_seed, opened, forecast_count, placed_count);
  if (mutants.count >= 1000 &&
      (forecast_count < mutants.count / 10 || placed_count < mutants.count / 10)) {
    fprintf(stderr, "the mutants are hardly forecast: nothing was tested\n");
    return 1;
  }
  return 0;
}
