/* Mutates model files and runs each mutant that opens: prepare, two invokes, another input shape,
 * prepare and invoke again. Meant to run under AddressSanitizer and UndefinedBehaviorSanitizer,
 * with the model and the interpreter's memory in blocks of their exact sizes.
 *
 *   fuzz COUNT SEED FIRST FILE...
 *
 * Mutant number i depends on the seed, i and the files only, so that one which a failure names can
 * be run alone (COUNT 1, FIRST i). An invoke ends after so many operators, for loops may be endless
 * in a mutant. Ends with a failure if one takes longer than a minute.
 */
#include "model/mutate.h"

#include "berth/interpreter.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define LARGEST_FILE   131072u /* bytes; larger ones are mostly weights */
#define MEMORY         131072u /* bytes that the interpreter gets: what needs more is refused */
#define MOST_OPERATORS 500u    /* evaluated in one invoke */

static uint64_t seed, current;
static uint64_t opened, prepared, invoked;

#if defined(__SANITIZE_ADDRESS__)
static void name_mutant(void) {
  fprintf(stderr, "mutant %" PRIu64 " of seed %" PRIu64 "\n", current, seed);
}
#endif

static void too_slow(int signal) {
  static const char text[] = "a mutant takes more than a minute\n";
  (void)signal;
  if (write(2, text, sizeof text - 1) < 0) _exit(3);
  abort();
}

static void *take(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
  if (memory == NULL) abort();
  return memory;
}

static bool count_operators(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                            uint32_t op) {
  (void)interpreter;
  (void)subgraph;
  (void)op;
  return --*(uint32_t *)user > 0;
}

static void run(berth_interpreter_t *interpreter, uint32_t *budget) {
  if (berth_interpreter_prepare(interpreter) != BERTH_OK) return;
  prepared++;
  for (int n = 0; n < 2; n++) {
    for (uint32_t i = 0;; i++) {
      berth_value_t input = berth_interpreter_input(interpreter, i);
      if (!input.present) break;
      if (input.data != NULL) memset(input.data, n == 0 ? 0 : 0x7e, input.bytes);
    }
    *budget = MOST_OPERATORS;
    invoked += berth_interpreter_invoke(interpreter) == BERTH_OK;
  }
}

static void use(const uint8_t *data, size_t size) {
  berth_model_t model;
  berth_model_error_t error;
  if (berth_model_open(data, size, &model, &error) != BERTH_OK) return;
  opened++;
  uint32_t budget;
  void *memory = take(MEMORY);
  berth_interpreter_t interpreter;
  berth_memories_t memories = {.activations = {memory, MEMORY}};
  berth_interpreter_options_t options = {.kernels = berth_kernels,
                                         .observe = count_operators,
                                         .user = &budget,
                                         .no_reuse = below(4) == 0,
                                         .portable = below(2) == 0,
                                         .store_multipliers = below(4) == 0};
  if (berth_interpreter_init(&interpreter, &model, &options, &memories) == BERTH_OK) {
    run(&interpreter, &budget);
    uint32_t rank = (uint32_t)below(6);
    int32_t dims[6];
    for (uint32_t i = 0; i < rank; i++) dims[i] = 1 + (int32_t)below(below(4) == 0 ? 100 : 8);
    if (berth_interpreter_resize_input(&interpreter, 0, rank, dims) == BERTH_OK) {
      run(&interpreter, &budget);
    }
  }
  free(memory);
}

static void run_mutant(const file_t *bases, size_t base_count) {
  mutate_state = seed * 0x9e3779b97f4a7c15u + current;
  const file_t *base = &bases[below(base_count)];
  file_t mutant = {take(base->size), base->size};
  memcpy(mutant.data, base->data, base->size);
  for (size_t i = below(3); i > 0; i--) mutate(&mutant); /* also none: for the other shapes */
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
  file->data = take(LARGEST_FILE + 1);
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
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(name_mutant);
#endif
  file_t *bases = take((size_t)argc * sizeof *bases);
  size_t base_count = 0;
  for (int i = 4; i < argc; i++) base_count += read_file(argv[i], &bases[base_count]);
  if (base_count == 0) return 1;
  for (current = first; current - first < count; current++) {
    alarm(60);
    run_mutant(bases, base_count);
  }
  alarm(0);
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " prepared, %" PRIu64 " invokes\n",
         count, base_count, seed, opened, prepared, invoked);
  for (size_t i = 0; i < base_count; i++) free(bases[i].data);
  free(bases);
  if (count >= 1000 && (prepared < count / 10 || invoked < count / 10)) {
    fprintf(stderr, "the mutants hardly run: nothing was tested\n");
    return 1;
  }
  return 0;
}
