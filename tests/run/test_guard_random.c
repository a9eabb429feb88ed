/* The guard's fast way against an operator that flips bytes anywhere, once or whenever it is
 * evaluated. What it has hit follows from the lifetimes and offsets alone: a live byte or one of
 * the caller's must be found, and named; one of its own output must not. */
#include "test.h"

#include "berth/guard.h"
#include "host/map.h"
#include "run/hash_kernels.h"
#include <stdio.h>
#include <stdlib.h>

#define BLOCK  (4u << 20)
#define MARGIN 64u
#define TRIALS 400u

static struct {
  uint32_t op; /* flips `count` bytes from `at` on: of the arena, with margins */
  uint32_t at, count;
  uint8_t flip;
  bool once; /* not when it is evaluated again */
  uint32_t evaluations;
  uint8_t *start;
} wild;

static berth_status_t eval(berth_call_t *call) {
  berth_status_t status = hash_eval(call);
  if (call->index != wild.op || (wild.evaluations++ > 0 && wild.once)) return status;
  for (uint32_t i = 0; i < wild.count; i++) wild.start[wild.at + i] ^= wild.flip;
  return status;
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

typedef struct run {
  berth_guard_finding_t first;
  uint32_t findings;
} run_t;

static void on_finding(void *user, const berth_guard_finding_t *finding) {
  run_t *run = user;
  if (run->findings++ == 0) run->first = *finding;
}

static void *block(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  assert_non_null(memory);
  memset(memory, 0, (bytes + 4095) & ~(size_t)4095);
  return memory;
}

typedef enum hit { FREE, OWN, LIVE } hit_t;

/* Whose is the byte at `at` of the arena while the operator runs? */
static hit_t hit(const berth_interpreter_t *interpreter, const berth_graph_t *graph, uint32_t at) {
  uint32_t extent = berth_interpreter_needs(interpreter).extent;
  if (at < MARGIN || at >= MARGIN + extent) return LIVE;
  berth_vector_t outputs = berth_model_operator(graph->model, 0, wild.op).outputs;
  hit_t found = FREE;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[i];
    uint32_t offset = berth_interpreter_offset(interpreter, 0, tensor->tensor);
    if (offset == BERTH_NO_OFFSET || wild.op < tensor->first || wild.op > tensor->last) continue;
    if (at - MARGIN < offset || at - MARGIN >= offset + tensor->bytes) continue;
    if (berth_vector_holds(outputs, tensor->tensor)) return OWN; /* maybe over a dying input */
    found = LIVE;
  }
  return found;
}

static void what_is_hit_is_found(void **state) {
  bool once = *(const bool *)*state;
  static berth_kernel_t kernels[HASH_KERNELS_MAX];
  static const berth_kernel_t *table[HASH_KERNELS_MAX + 1];
  const berth_kernel_t *const *honest = hash_kernels("none");
  for (int i = 0; i < HASH_KERNELS_MAX; i++) {
    kernels[i] = *honest[i];
    kernels[i].eval = eval;
    table[i] = &kernels[i];
  }
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  assert_int_equal(
      berth_host_open_model(BERTH_SOURCE_DIR "/models/resnet8_int8.tflite", &map, &model, message),
      BERTH_OK);
  uint8_t *blocks[4];
  for (int i = 0; i < 4; i++) blocks[i] = block(BLOCK);
  berth_interpreter_options_t options = {.kernels = table};
  berth_memories_t memories = {.activations = {blocks[0] + MARGIN, BLOCK - 2 * MARGIN},
                               .persistent = {blocks[1], BLOCK},
                               .metadata = {blocks[2], BLOCK},
                               .planning = {blocks[3], BLOCK}};
  berth_interpreter_t interpreter;
  assert_int_equal(berth_interpreter_init(&interpreter, &model, &options, &memories), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  size_t room;
  assert_int_equal(berth_graph_workspace(&model, &room), BERTH_OK);
  void *workspace = block(room);
  berth_graph_t graph;
  assert_int_equal(berth_graph_analyse(&model, NULL, workspace, room, &graph, NULL), BERTH_OK);
  uint64_t bytes;
  assert_int_equal(berth_guard_bytes(&interpreter, MARGIN, MARGIN, &bytes), BERTH_OK);
  void *memory = block(bytes);
  run_t run;
  berth_guard_t guard;
  assert_int_equal(
      berth_guard_attach(&guard, &interpreter, MARGIN, MARGIN, memory, bytes, on_finding, &run),
      BERTH_OK);
  guard.fast = true;
  guard.no_poison = true;

  uint32_t random = 7, hits = 0, own = 0;
  wild.start = blocks[0];
  wild.once = once;
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    uint32_t all = berth_interpreter_needs(&interpreter).extent + 2 * MARGIN;
    wild.op = next_random(&random) % berth_model_subgraph(&model, 0).operator_count;
    wild.count = 1 + next_random(&random) % (trial % 2 > 0 ? 40 : 1);
    wild.at = next_random(&random) % (all - wild.count);
    wild.flip = (uint8_t)(1 + next_random(&random) % 255);
    if (trial % 5 == 0) wild.at = MARGIN - wild.count + next_random(&random) % (2 * wild.count);
    wild.evaluations = 0;
    run.findings = 0;
    uint32_t live = 0, owned = 0;
    for (uint32_t i = 0; i < wild.count; i++) {
      hit_t whose = hit(&interpreter, &graph, wild.at + i);
      live += whose == LIVE;
      owned += whose == OWN;
    }
    berth_value_t input = berth_interpreter_input(&interpreter, 0);
    for (uint32_t i = 0; i < input.bytes; i++) input.data[i] = (uint8_t)(i * 7 + trial);
    assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
    hits += live > 0;
    own += owned == wild.count;
    if (owned == wild.count && !once) assert_int_equal(run.findings, 0);
    if (live == 0) continue;
    if (run.findings == 0) {
      fail_msg("trial %u: operator %u flips %u bytes at %u", trial, wild.op, wild.count, wild.at);
    }
    assert_int_equal(run.first.fault, BERTH_GUARD_CLOBBER);
    if (run.first.unconfirmed) {
      assert_true(once);
      assert_true(run.first.op >= wild.op);
      assert_true(run.first.since == BERTH_NOBODY || run.first.since <= wild.op);
    } else {
      assert_int_equal(run.first.op, wild.op);
      assert_true(run.first.victim_count <= wild.count);
    }
  }
  assert_true(hits > TRIALS / 4);
  assert_true(own > TRIALS / 20);
  free(memory);
  free(workspace);
  for (int i = 0; i < 4; i++) free(blocks[i]);
  berth_host_unmap(&map);
}

int main(void) {
  static const bool always = false, once = true;
  const struct CMUnitTest tests[] = {
      {.name = "bytes flipped in every evaluation are found, and named",
       .test_func = what_is_hit_is_found,
       .initial_state = (void *)(uintptr_t)&always},
      {.name = "bytes flipped in one evaluation are found, and narrowed down",
       .test_func = what_is_hit_is_found,
       .initial_state = (void *)(uintptr_t)&once},
  };
  return cmocka_run_group_tests_name("the fast guard", tests, NULL, NULL);
}
