/* The guard's fast way against an operator that flips bytes anywhere, once or whenever it is
 * evaluated. What it has hit follows from the lifetimes and offsets alone: a live byte or one of
 * the caller's must be found, and named; one of its own output must not. */
#include "run/guarded.h"

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
  static guarded_t g;
  guarded_open(&g, "resnet8_int8", hash_prepare, eval, MARGIN, MARGIN);
  g.guard.fast = true;
  size_t room;
  assert_int_equal(berth_graph_workspace(&g.model, &room), BERTH_OK);
  void *workspace = guarded_block(room);
  berth_graph_t graph;
  assert_int_equal(berth_graph_analyse(&g.model, NULL, workspace, room, &graph, NULL), BERTH_OK);

  uint32_t random = 7, hits = 0, own = 0;
  wild.start = g.blocks[0];
  wild.once = once;
  for (uint32_t trial = 0; trial < TRIALS; trial++) {
    uint32_t all = berth_interpreter_needs(&g.interpreter).extent + 2 * MARGIN;
    wild.op = next_random(&random) % berth_model_subgraph(&g.model, 0).operator_count;
    wild.count = 1 + next_random(&random) % (trial % 2 > 0 ? 40 : 1);
    wild.at = next_random(&random) % (all - wild.count);
    wild.flip = (uint8_t)(1 + next_random(&random) % 255);
    if (trial % 5 == 0) wild.at = MARGIN - wild.count + next_random(&random) % (2 * wild.count);
    wild.evaluations = 0;
    g.findings = 0;
    uint32_t live = 0, owned = 0;
    for (uint32_t i = 0; i < wild.count; i++) {
      hit_t whose = hit(&g.interpreter, &graph, wild.at + i);
      live += whose == LIVE;
      owned += whose == OWN;
    }
    berth_value_t input = berth_interpreter_input(&g.interpreter, 0);
    for (uint32_t i = 0; i < input.bytes; i++) input.data[i] = (uint8_t)(i * 7 + trial);
    assert_int_equal(berth_interpreter_invoke(&g.interpreter), BERTH_OK);
    hits += live > 0;
    own += owned == wild.count;
    if (owned == wild.count && !once) assert_int_equal(g.findings, 0);
    if (live == 0) continue;
    if (g.findings == 0) {
      fail_msg("trial %u: operator %u flips %u bytes at %u", trial, wild.op, wild.count, wild.at);
    }
    assert_int_equal(g.first.fault, BERTH_GUARD_CLOBBER);
    if (g.first.unconfirmed) {
      assert_true(once);
      assert_true(g.first.op >= wild.op);
      assert_true(g.first.since == BERTH_NOBODY || g.first.since <= wild.op);
    } else {
      assert_int_equal(g.first.op, wild.op);
      assert_true(g.first.victim_count <= wild.count);
    }
  }
  assert_true(hits > TRIALS / 4);
  assert_true(own > TRIALS / 20);
  free(workspace);
  guarded_close(&g);
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
