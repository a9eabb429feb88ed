/* What the fuzzing programs have in common: they read model files, and give mutants of them to one
 * function, each at the end of a block of its own so that a sanitizer sees an over-read.
 *
 * Mutant number i depends on the seed, i and the files only. A mutant that takes too long, or for
 * which give_up is called, ends the program with a failure that names it. */
#ifndef BERTH_TESTS_MODEL_MUTANTS_H
#define BERTH_TESTS_MODEL_MUTANTS_H

#include "mutate.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

typedef struct mutants {
  size_t largest;        /* bytes; files that are larger are mostly weights, and left out */
  unsigned seconds;      /* that a mutant may take */
  file_t sample;         /* a file that has one of everything, mutated more often; size 0: none */
  size_t (*times)(void); /* how many mutations the next mutant gets */
  void (*use)(const uint8_t *data, size_t size);
  uint64_t count; /* set by mutants_use */
  size_t base_count;
} mutants_t;

static uint64_t mutants_seed;
static uint64_t mutants_current; /* number of the mutant */
static char mutants_slow[64];    /* the line about one that takes too long */

static void mutants_name(void) {
  fprintf(stderr, "mutant %" PRIu64 " of seed %" PRIu64 "\n", mutants_current, mutants_seed);
}

static void give_up(const char *what) {
  fprintf(stderr, "%s\n", what);
  mutants_name();
  abort();
}

static void mutants_too_slow(int signal) {
  (void)signal;
  if (write(2, mutants_slow, strlen(mutants_slow)) < 0) _exit(3);
  abort();
}

/* Memory, or the end. */
static void *take(size_t bytes) {
  void *memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) give_up("out of memory");
  return memory;
}

static bool mutants_read(const char *path, size_t largest, file_t *file) {
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) return false;
  file->data = take(largest + 1);
  file->size = fread(file->data, 1, largest + 1, stream);
  fclose(stream);
  if (file->size > 0 && file->size <= largest) return true;
  free(file->data);
  return false;
}

static void mutants_use_one(const mutants_t *mutants, const file_t *bases) {
  mutate_state = mutants_seed * 0x9e3779b97f4a7c15u + mutants_current;
  bool takes_sample = mutants->sample.size > 0 && below(3) == 0;
  const file_t *base = &bases[takes_sample ? 0 : below(mutants->base_count)];
  file_t mutant = {take(base->size), base->size};
  memcpy(mutant.data, base->data, base->size);
  for (size_t i = mutants->times(); i > 0; i--) mutate(&mutant);
  uint8_t *exact = take(mutant.size);
  memcpy(exact, mutant.data, mutant.size);
  free(mutant.data);
  mutants->use(exact, mutant.size);
  free(exact);
}

/* Makes the mutants that the program's arguments ask for: COUNT SEED FIRST FILE... Returns the exit
 * status if that is impossible, else 0. */
static int mutants_use(mutants_t *mutants, int argc, char **argv) {
  bool has_sample = mutants->sample.size > 0;
  if (argc < (has_sample ? 4 : 5)) {
    fprintf(stderr, "usage: fuzz COUNT SEED FIRST FILE...\n");
    return 2;
  }
  mutants->count = strtoull(argv[1], NULL, 10);
  mutants_seed = strtoull(argv[2], NULL, 10);
  uint64_t first = strtoull(argv[3], NULL, 10);
  snprintf(mutants_slow, sizeof mutants_slow, "a mutant takes more than %u seconds\n",
           mutants->seconds);
  signal(SIGALRM, mutants_too_slow);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(mutants_name);
#endif
  file_t *bases = take((size_t)argc * sizeof *bases);
  bases[0] = mutants->sample;
  mutants->base_count = has_sample;
  for (int i = 4; i < argc; i++)
    mutants->base_count += mutants_read(argv[i], mutants->largest, &bases[mutants->base_count]);
  for (mutants_current = first; mutants->base_count > 0 && mutants_current - first < mutants->count;
       mutants_current++) {
    alarm(mutants->seconds);
    mutants_use_one(mutants, bases);
  }
  alarm(0);
  for (size_t i = has_sample; i < mutants->base_count; i++) free(bases[i].data);
  free(bases);
  return mutants->base_count > 0 ? 0 : 1;
}

#endif
