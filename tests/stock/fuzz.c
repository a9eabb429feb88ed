/* Mutates model files and forecasts the memory of each mutant that opens, for a random target and
 * kernel set, with and without an offline plan of random offsets. Meant to run under
 * AddressSanitizer and UndefinedBehaviorSanitizer.
 *
 *   fuzz COUNT SEED FIRST FILE...
 *
 * Mutant number i depends on the seed, i and the files only. Ends with a failure if a promise of
 * the headers is broken, or if one mutant takes longer than a minute.
 */
#include "model/mutate.h"

#include "stock/tflite_forecast.h"
#include "stock/tflm_forecast.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LARGEST_FILE 131072u /* bytes; larger ones are mostly weights */

static uint64_t seed, current;
static uint64_t opened, forecast_count, placed_count;

static void too_slow(int signal) {
  static const char text[] = "a mutant takes more than a minute\n";
  (void)signal;
  if (write(2, text, sizeof text - 1) < 0) _exit(3);
  abort();
}

static void promise(bool kept, const char *what) {
  if (kept) return;
  fprintf(stderr, "mutant %" PRIu64 " of seed %" PRIu64 ": not so: %s\n", current, seed, what);
  abort();
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

static void run_mutant(const file_t *bases, size_t base_count) {
  mutate_state = seed * 0x9e3779b97f4a7c15u + current;
  const file_t *base = &bases[below(base_count)];
  file_t mutant = {malloc(base->size), base->size};
  if (mutant.data == NULL) abort();
  memcpy(mutant.data, base->data, base->size);
  for (size_t i = 1 + below(3); i > 0; i--) mutate(&mutant);
  uint8_t *exact = malloc(mutant.size > 0 ? mutant.size : 1);
  if (exact == NULL) abort();
  memcpy(exact, mutant.data, mutant.size);
  free(mutant.data);
  use(exact, mutant.size);
  free(exact);
}

static bool read_file(const char *path, file_t *file) {
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) return false;
  file->data = malloc(LARGEST_FILE + 1);
  if (file->data == NULL) abort();
  file->size = fread(file->data, 1, LARGEST_FILE + 1, stream);
  fclose(stream);
  if (file->size > 0 && file->size <= LARGEST_FILE) return true;
  free(file->data);
  return false;
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: fuzz COUNT SEED FIRST FILE...\n");
    return 2;
  }
  uint64_t count = strtoull(argv[1], NULL, 10);
  seed = strtoull(argv[2], NULL, 10);
  uint64_t first = strtoull(argv[3], NULL, 10);
  signal(SIGALRM, too_slow);
  file_t *bases = calloc((size_t)argc, sizeof *bases);
  if (bases == NULL) abort();
  size_t base_count = 0;
  for (int i = 4; i < argc; i++) base_count += read_file(argv[i], &bases[base_count]);
  if (base_count == 0) return 1;
  for (current = first; current - first < count; current++) {
    alarm(60);
    run_mutant(bases, base_count);
  }
  alarm(0);
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " forecast, %" PRIu64 " with an offline plan\n",
         count, base_count, seed, opened, forecast_count, placed_count);
  for (size_t i = 0; i < base_count; i++) free(bases[i].data);
  free(bases);
  if (count >= 1000 && (forecast_count < count / 10 || placed_count < count / 10)) {
    fprintf(stderr, "the mutants are hardly forecast: nothing was tested\n");
    return 1;
  }
  return 0;
}
