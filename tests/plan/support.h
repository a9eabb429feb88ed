/* What the planner's tests share: planning with malloc'ed memory, CSV files of the reference data,
 * and a random number generator that is the same everywhere. */
#ifndef BERTH_TESTS_PLAN_SUPPORT_H
#define BERTH_TESTS_PLAN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "berth/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Planning -------------------------------------------------------------------------------- */

/* Plans into `plan`, whose placements are allocated here if they are NULL. */
static inline berth_status_t plan_with(const berth_planner_t *planner,
                                       const berth_problem_t *problem,
                                       const berth_plan_options_t *options, berth_plan_t *plan) {
  size_t bytes;
  berth_status_t status = berth_plan_workspace(planner, problem, options, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes + 1);
  if (plan->placements == NULL) {
    plan->placements = calloc((size_t)problem->buffer_count + 1, sizeof *plan->placements);
  }
  if (workspace == NULL || plan->placements == NULL) abort();
  status = berth_plan_make(planner, problem, options, workspace, bytes, plan);
  free(workspace);
  return status;
}

static inline berth_status_t verify(const berth_problem_t *problem, const berth_plan_t *plan,
                                    berth_finding_t *finding) {
  size_t bytes;
  berth_status_t status = berth_plan_verify_workspace(problem, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes + 1);
  if (workspace == NULL) abort();
  status = berth_plan_verify(problem, plan, workspace, bytes, finding);
  free(workspace);
  return status;
}

/* The load lower bound; the test fails if it cannot be had. */
static inline uint64_t load_of(const berth_problem_t *problem, uint32_t *step) {
  size_t bytes;
  uint64_t load = 0;
  assert_int_equal(berth_problem_load_workspace(problem, &bytes), BERTH_OK);
  void *workspace = malloc(bytes + 1);
  if (workspace == NULL) abort();
  assert_int_equal(berth_problem_load(problem, workspace, bytes, &load, step), BERTH_OK);
  free(workspace);
  return load;
}

/* ---- Random numbers (splitmix64, Steele et al. 2014) ----------------------------------------- */

static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* 0..limit-1 */
static inline uint32_t random_below(uint64_t *state, uint32_t limit) {
  return (uint32_t)(random_next(state) % limit);
}

/* How many random cases a test runs: BERTH_TEST_CASES, or `usual`. */
static inline uint32_t random_cases(uint32_t usual) {
  const char *text = getenv("BERTH_TEST_CASES");
  return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : usual;
}

/* ---- Random problems ------------------------------------------------------------------------- */

enum { RANDOM_BUFFERS = 12, RANDOM_PAIRS = 4 };

/* A problem of at most 12 small buffers and the arrays it points to. */
typedef struct random_problem {
  berth_problem_t problem;
  berth_buffer_t buffers[RANDOM_BUFFERS];
  berth_pair_t pairs[RANDOM_PAIRS];
} random_problem_t;

/* Makes a well-formed problem of 1..most buffers; a third of them plain, the others with
 * alignments, fixed offsets, or SHARE, HEAD and TAIL pairs. */
static inline void random_problem(uint64_t *state, uint32_t most, random_problem_t *random) {
  static const uint64_t aligns[] = {1, 1, 2, 3, 4, 8};
  memset(random, 0, sizeof *random);
  uint32_t count = 1 + random_below(state, most), steps = 1 + random_below(state, 8);
  bool aligned = random_below(state, 3) == 0, fixed = random_below(state, 4) == 0;
  uint32_t largest = 1 + random_below(state, 16);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t first = random_below(state, steps);
    uint32_t last = first + random_below(state, steps - first);
    berth_buffer_t *buffer = &random->buffers[i];
    *buffer = berth_buffer(random_below(state, largest + 1), first, last);
    if (aligned) buffer->align = aligns[random_below(state, 6)];
    if (fixed && random_below(state, 4) == 0) {
      buffer->fixed = buffer->align * random_below(state, 8);
    }
  }
  random->problem.buffers = random->buffers;
  random->problem.buffer_count = count;
  uint32_t pair_count = count > 1 && random_below(state, 2) == 0 ? random_below(state, 5) : 0;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < pair_count; k++) {
    static const berth_relation_t relations[] = {BERTH_SHARE, BERTH_HEAD, BERTH_HEAD, BERTH_TAIL,
                                                 BERTH_TAIL,  BERTH_OVER, BERTH_OVER};
    berth_pair_t *pair = &random->pairs[kept];
    pair->a = random_below(state, count);
    pair->b = random_below(state, count);
    pair->relation = relations[random_below(state, 7)];
    uint64_t size = random->buffers[pair->a].size;
    bool part = pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL;
    if (part && size > 0) {
      pair->bytes = 1 + random_below(state, (uint32_t)size);
    }
    if (pair->a != pair->b && (!part || size > 0)) kept++;
  }
  random->problem.pairs = kept > 0 ? random->pairs : NULL;
  random->problem.pair_count = kept;
}

/* ---- The reference data ---------------------------------------------------------------------- */

/* Where it is; the test is skipped if there is none. */
static inline const char *reference_data(void) {
  const char *path = getenv("BERTH_SHARED");
  if (path == NULL) path = BERTH_SOURCE_DIR "/../shared";
  char name[4096];
  snprintf(name, sizeof name, "%s/problems/figures.csv", path);
  FILE *file = fopen(name, "r");
  if (file == NULL) {
    print_message("the reference data (%s) is not there\n", path);
    skip();
  } else {
    fclose(file);
  }
  return path;
}

/* A CSV file in memory: `rows` counts the lines below the heading. */
typedef struct table {
  char *text;
  char **cells; /* columns x (1 + rows), by row; row 0 is the heading */
  uint32_t columns, rows;
} table_t;

static inline table_t table_read(const char *path) {
  table_t table = {NULL, NULL, 1, 0};
  FILE *file = fopen(path, "r");
  if (file == NULL) fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  table.text = calloc(size + 1, 1);
  if (table.text == NULL || fread(table.text, 1, size, file) != size) abort();
  fclose(file);
  size_t lines = 0;
  for (size_t i = 0; i < size; i++) lines += table.text[i] == '\n';
  for (size_t i = 0; table.text[i] != '\n' && table.text[i] != '\0'; i++) {
    table.columns += table.text[i] == ',';
  }
  table.cells = calloc((lines + 1) * table.columns, sizeof *table.cells);
  if (table.cells == NULL) abort();
  char *at = table.text;
  for (size_t i = 0; i < lines * table.columns; i++) {
    table.cells[i] = at;
    while (*at != ',' && *at != '\n' && *at != '\0') at++;
    if (*at != '\0') *at++ = '\0';
  }
  table.rows = lines > 0 ? (uint32_t)lines - 1 : 0;
  return table;
}

static inline void table_free(table_t *table) {
  free(table->text);
  free(table->cells);
}

/* The cell of a data row (from 0) in the column of that name. */
static inline const char *table_cell(const table_t *table, uint32_t row, const char *column) {
  for (uint32_t i = 0; i < table->columns; i++) {
    if (strcmp(table->cells[i], column) == 0) {
      return table->cells[((size_t)row + 1) * table->columns + i];
    }
  }
  fail_msg("no column %s", column);
  return NULL;
}

static inline uint64_t table_number(const table_t *table, uint32_t row, const char *column) {
  return strtoull(table_cell(table, row, column), NULL, 10);
}

/* A problem of the reference data (columns lower, upper, size), every buffer with that alignment;
 * *buffers is to be freed. */
static inline berth_problem_t problem_read(const char *path, uint64_t align,
                                           berth_buffer_t **buffers) {
  table_t table = table_read(path);
  *buffers = calloc((size_t)table.rows + 1, sizeof **buffers);
  if (*buffers == NULL) abort();
  for (uint32_t i = 0; i < table.rows; i++) {
    (*buffers)[i] =
        berth_buffer(table_number(&table, i, "size"), (uint32_t)table_number(&table, i, "lower"),
                     (uint32_t)table_number(&table, i, "upper") - 1);
    (*buffers)[i].align = align;
  }
  berth_problem_t problem = {0};
  problem.buffers = *buffers;
  problem.buffer_count = table.rows;
  table_free(&table);
  return problem;
}

#endif
