/* A guarded interpreter for tests: a shipped model, kernels of the test's own in the place of the
 * hashes (hash_kernels.h), blocks of their own for everything, margins around the activations, and
 * the first finding kept. */
#ifndef BERTH_TESTS_RUN_GUARDED_H
#define BERTH_TESTS_RUN_GUARDED_H

#include "test.h"

#include "berth/guard.h"
#include "host/map.h"
#include "run/hash_kernels.h"
#include <stdio.h>
#include <stdlib.h>

#define GUARDED_BLOCK (4u << 20)

typedef struct guarded {
  berth_host_map_t map;
  uint8_t *copy; /* of the model's file, writable, so that a changed constant is a finding */
  berth_model_t model;
  berth_kernel_t kernels[HASH_KERNELS_MAX];
  const berth_kernel_t *table[HASH_KERNELS_MAX + 1];
  uint8_t *blocks[4]; /* activations with the margins, persistent, metadata, planning */
  berth_interpreter_t interpreter;
  berth_guard_t guard;
  void *memory; /* the guard's */
  berth_guard_finding_t first;
  uint32_t findings;
} guarded_t;

/* At a page's start, to be freed. */
static inline void *guarded_block(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  assert_non_null(memory);
  return memory;
}

static inline void guarded_found(void *user, const berth_guard_finding_t *finding) {
  guarded_t *g = user;
  if (g->findings++ == 0) g->first = *finding;
}

/* Each operator is prepared and evaluated by these. The guard's options are all off, but that it
 * doesn't poison: else AddressSanitizer ends the program at the fault. */
static inline void guarded_open(guarded_t *g, const char *model,
                                berth_status_t (*prepare)(berth_call_t *, berth_contract_t *),
                                berth_status_t (*eval)(berth_call_t *), uint32_t before,
                                uint32_t after) {
  memset(g, 0, sizeof *g);
  for (int i = 0; i < HASH_KERNELS_MAX; i++) {
    g->kernels[i] = *hash_kernels("none")[i];
    g->kernels[i].prepare = prepare;
    g->kernels[i].eval = eval;
    g->table[i] = &g->kernels[i];
  }
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, model);
  assert_int_equal(berth_host_open_model(path, &g->map, &g->model, message), BERTH_OK);
  g->copy = guarded_block(g->map.size);
  memcpy(g->copy, g->map.data, g->map.size);
  assert_int_equal(berth_model_open(g->copy, g->map.size, &g->model, NULL), BERTH_OK);
  for (int i = 0; i < 4; i++) g->blocks[i] = guarded_block(GUARDED_BLOCK);
  berth_interpreter_options_t options = {.kernels = g->table};
  berth_memories_t memories = {
      .activations = {g->blocks[0] + before, GUARDED_BLOCK - before - after},
      .persistent = {g->blocks[1], GUARDED_BLOCK},
      .metadata = {g->blocks[2], GUARDED_BLOCK},
      .planning = {g->blocks[3], GUARDED_BLOCK}};
  assert_int_equal(berth_interpreter_init(&g->interpreter, &g->model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&g->interpreter), BERTH_OK);
  uint64_t bytes;
  assert_int_equal(berth_guard_bytes(&g->interpreter, before, after, &bytes), BERTH_OK);
  g->memory = guarded_block(bytes);
  assert_int_equal(berth_guard_attach(&g->guard, &g->interpreter, before, after, g->memory, bytes,
                                      guarded_found, g),
                   BERTH_OK);
  g->guard.no_poison = true;
}

static inline void guarded_close(guarded_t *g) {
  free(g->memory);
  free(g->copy);
  for (int i = 0; i < 4; i++) free(g->blocks[i]);
  berth_host_unmap(&g->map);
}

#endif
