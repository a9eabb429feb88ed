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
#include "model/mutants.h"

#include "berth/interpreter.h"

#define LARGEST_FILE   131072u /* bytes; larger ones are mostly weights */
#define MEMORY         131072u /* bytes that the interpreter gets: what needs more is refused */
#define MOST_OPERATORS 500u    /* evaluated in one invoke */

static uint64_t opened, prepared, invoked;

/* As an interpreter wants it. */
static void *take_aligned(size_t bytes) {
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
  void *memory = take_aligned(MEMORY);
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

/* Also none: for the other shapes. */
static size_t times(void) {
  return below(3);
}

int main(int argc, char **argv) {
  mutants_t mutants = {.largest = LARGEST_FILE, .seconds = 60, .times = times, .use = use};
  int status = mutants_use(&mutants, argc, argv);
  if (status != 0) return status;
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " prepared, %" PRIu64 " invokes\n",
         mutants.count, mutants.base_count, mutants_seed, opened, prepared, invoked);
  if (mutants.count >= 1000 && (prepared < mutants.count / 10 || invoked < mutants.count / 10)) {
    fprintf(stderr, "the mutants hardly run: nothing was tested\n");
    return 1;
  }
  return 0;
}
