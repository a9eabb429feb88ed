/* Planning problems for benchmarks: read from CSV, or generated.
 *
 * The generators use a random number generator of their own, so that a name and a seed mean the
 * same problem everywhere. All arrays are the caller's to free.
 */
#ifndef BERTH_BENCH_PROBLEMS_H
#define BERTH_BENCH_PROBLEMS_H

#include "berth/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench_problem {
  char name[64];
  berth_buffer_t *buffers;
  uint32_t count;
} bench_problem_t;

static inline void bench_add(bench_problem_t *problem, uint32_t *room, berth_buffer_t buffer) {
  if (problem->count == *room) {
    *room = *room == 0 ? 1024 : 2 * *room;
    problem->buffers = realloc(problem->buffers, *room * sizeof *problem->buffers);
    if (problem->buffers == NULL) abort();
  }
  problem->buffers[problem->count++] = buffer;
}

/* ---- CSV --------------------------------------------------------------------------------------
 */

/* Cell number `index` of a line (no quotes), or NULL. */
static inline const char *bench_cell(const char *line, int index) {
  for (; index > 0 && line != NULL; index--) {
    line = strchr(line, ',');
    if (line != NULL) line++;
  }
  return line;
}

/* The column of that name in a heading, or -1. */
static inline int bench_column(const char *heading, const char *name) {
  size_t length = strlen(name);
  for (int i = 0;; i++) {
    const char *cell = bench_cell(heading, i);
    if (cell == NULL) return -1;
    if (strncmp(cell, name, length) == 0 && strchr(",\r\n", cell[length]) != NULL) return i;
  }
}

/* Reads columns lower, upper (exclusive) and size. False: no such file, or not of that form. */
static inline bool bench_read(const char *path, bench_problem_t *problem) {
  char line[1024];
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  problem->buffers = NULL;
  problem->count = 0;
  bool right = fgets(line, sizeof line, file) != NULL;
  int lower = bench_column(line, "lower"), upper = bench_column(line, "upper");
  int size = bench_column(line, "size");
  right = right && lower >= 0 && upper >= 0 && size >= 0;
  for (uint32_t room = 0; right && fgets(line, sizeof line, file) != NULL;) {
    const char *first = bench_cell(line, lower), *last = bench_cell(line, upper);
    const char *bytes = bench_cell(line, size);
    right = first != NULL && last != NULL && bytes != NULL;
    if (!right) break;
    bench_add(problem, &room,
              berth_buffer(strtoull(bytes, NULL, 10), (uint32_t)strtoul(first, NULL, 10),
                           (uint32_t)strtoul(last, NULL, 10) - 1));
  }
  fclose(file);
  return right && problem->count > 0;
}

/* ---- Random numbers (splitmix64, Steele et al. 2014) ------------------------------------------
 */

static inline uint64_t bench_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* In [0, 1). */
static inline double bench_uniform(uint64_t *state) {
  return (double)(bench_random(state) >> 11) * 0x1p-53;
}

static inline double bench_log_uniform(uint64_t *state, double low, double high) {
  return exp(log(low) + bench_uniform(state) * (log(high) - log(low)));
}

/* ---- Generators -------------------------------------------------------------------------------
 */

/* How long a tensor of a network lives: 85% for 2 steps and a few more, 14% are skips over 4 to 64
 * steps, 0.99% over 64 to 4096, the rest over up to a quarter of the network (0 stands for these).
 */
static inline uint32_t bench_network_life(uint64_t *state) {
  double kind = bench_uniform(state);
  if (kind < 0.85) {
    uint32_t life = 2;
    while (bench_uniform(state) < 0.5) life++;
    return life;
  }
  if (kind < 0.99) return (uint32_t)bench_log_uniform(state, 4, 64);
  if (kind < 0.9999) return (uint32_t)bench_log_uniform(state, 64, 4096);
  return 0;
}

/* Like a network: one operator for each step makes one to three buffers, some of them scratch that
 * lives for one step; sizes are log-uniform from 64 to 1,000,000 bytes in multiples of 64. The
 * distribution is that of the reference data's generate.py. */
static inline void bench_network(uint32_t count, uint64_t seed, bench_problem_t *problem) {
  uint64_t state = seed;
  uint32_t step = 0, room = 0, *life = malloc(count * sizeof *life);
  if (life == NULL) abort();
  problem->buffers = NULL;
  problem->count = 0;
  for (; problem->count < count; step++) {
    double outputs = bench_uniform(&state);
    uint32_t here = outputs < 0.6 ? 1 : outputs < 0.9 ? 2 : 3;
    for (uint32_t k = 0; k < here && problem->count < count; k++) {
      bool scratch = k > 0 && bench_uniform(&state) < 0.5;
      life[problem->count] = scratch ? 1 : bench_network_life(&state);
      uint64_t size = (uint64_t)bench_log_uniform(&state, 64, 1e6) / 64 * 64;
      bench_add(problem, &room, berth_buffer(size < 64 ? 64 : size, step, step));
    }
  }
  for (int k = 0; k < 4; k++) life[bench_random(&state) % count] = 0; /* there are some long ones */
  for (uint32_t i = 0; i < count; i++) {
    if (life[i] == 0) {
      life[i] = 1 + (uint32_t)(bench_random(&state) % (step / 4 > 0 ? step / 4 : 1));
    }
    uint32_t last = problem->buffers[i].first + life[i] - 1;
    problem->buffers[i].last = last < step ? last : step;
  }
  free(life);
}

/* Nothing like a network: lifetimes begin anywhere, are of any length up to `longest`, sizes are
 * uniform up to 4096 bytes. */
static inline void bench_uniform_mix(uint32_t count, uint32_t longest, uint64_t seed,
                                     bench_problem_t *problem) {
  uint64_t state = seed;
  uint32_t room = 0;
  problem->buffers = NULL;
  problem->count = 0;
  while (problem->count < count) {
    uint32_t first = (uint32_t)(bench_random(&state) % count);
    uint32_t last = first + (uint32_t)(bench_random(&state) % longest);
    bench_add(problem, &room, berth_buffer(1 + bench_random(&state) % 4096, first, last));
  }
}

#endif
