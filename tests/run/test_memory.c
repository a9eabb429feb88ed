/* The interpreter's memory: results don't depend on the plan, the sizes it reports are exact, and
 * nothing outside of the blocks is touched. Kernels are hashes (hash_kernels.h). */
#include "test.h"

#include "host/map.h"
#include "run/hash_kernels.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const models[] = {
    "mobilenet_v1_0.25_96_int8.tflite",
    "ds_cnn_kws_int8.tflite",
    "resnet8_int8.tflite",
};
#define MODEL_COUNT (sizeof models / sizeof *models)
#define BLOCK       (4u << 20)

typedef struct fixture {
  berth_host_map_t map;
  berth_model_t model;
} fixture_t;

static void open_model(fixture_t *fixture, const char *name) {
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/models/%s", BERTH_SOURCE_DIR, name);
  if (berth_host_open_model(path, &fixture->map, &fixture->model, message) != BERTH_OK) {
    fail_msg("%s: %s", path, message);
  }
}

static void *block(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  assert_non_null(memory);
  memset(memory, 0x5A, (bytes + 4095) & ~(size_t)4095);
  return memory;
}

static void fill_inputs(const berth_interpreter_t *interpreter, uint32_t seed) {
  for (uint32_t i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(interpreter, i);
    if (!input.present) return;
    for (uint32_t k = 0; k < input.bytes; k++) input.data[k] = (uint8_t)(k * 7 + seed * 13 + i);
  }
}

static uint32_t hash_outputs(const berth_interpreter_t *interpreter) {
  uint32_t hash = 1;
  for (uint32_t i = 0;; i++) {
    berth_value_t output = berth_interpreter_output(interpreter, i);
    if (!output.present) return hash;
    assert_non_null(output.data);
    hash = hash_bytes(hash, output.data, output.bytes);
  }
}

/* Runs three invokes in the given memory; the hash of all their outputs. */
static uint32_t run(const fixture_t *fixture, const berth_interpreter_options_t *options,
                    const berth_memories_t *memories, berth_needs_t *needs) {
  berth_interpreter_t interpreter;
  assert_int_equal(berth_interpreter_init(&interpreter, &fixture->model, options, memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  if (needs != NULL) *needs = berth_interpreter_needs(&interpreter);
  uint32_t hash = 0;
  for (uint32_t invoke = 0; invoke < 3; invoke++) {
    fill_inputs(&interpreter, invoke);
    assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
    hash = hash * 31 + hash_outputs(&interpreter);
  }
  return hash;
}

static void results_are_the_same_for_every_planner_alignment_and_without_reuse(void **state) {
  (void)state;
  void *memory = block(BLOCK), *planning = block(BLOCK);
  berth_memories_t memories = {.activations = {memory, BLOCK}, .planning = {planning, BLOCK}};
  for (size_t m = 0; m < MODEL_COUNT; m++) {
    fixture_t fixture;
    open_model(&fixture, models[m]);
    berth_interpreter_options_t options = {.kernels = hash_kernels("none"), .no_reuse = true};
    uint32_t expected = run(&fixture, &options, &memories, NULL);
    options.no_reuse = false;
    assert_int_equal(run(&fixture, &options, &memories, NULL), expected);
    for (uint32_t align = 1; align <= 64; align *= 2) {
      options.alignment = align;
      const berth_planner_t *planner;
      for (uint32_t p = 0; (planner = berth_planner_at(p)) != NULL; p++) {
        options.planner = planner;
        memset(memory, (int)(align + p), BLOCK);
        assert_int_equal(run(&fixture, &options, &memories, NULL), expected);
      }
    }
    berth_host_unmap(&fixture.map);
  }
  free(memory);
  free(planning);
}

static void one_block_of_the_reported_size_is_enough_and_one_byte_less_is_not(void **state) {
  (void)state;
  void *memory = block(BLOCK);
  for (size_t m = 0; m < MODEL_COUNT; m++) {
    fixture_t fixture;
    open_model(&fixture, models[m]);
    berth_interpreter_options_t options = {.kernels = hash_kernels("none")};
    berth_memories_t memories = {.activations = {memory, BLOCK}};
    berth_needs_t needs, again;
    uint32_t expected = run(&fixture, &options, &memories, &needs);
    assert_true(needs.total >= needs.peak + needs.metadata + needs.persistent);

    uint8_t *exact = block(needs.total + 64);
    memories.activations = (berth_memory_t){exact, needs.total};
    assert_int_equal(run(&fixture, &options, &memories, &again), expected);
    assert_int_equal(again.total, needs.total);
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(exact[needs.total + i], 0x5A);

    berth_interpreter_t interpreter;
    memories.activations.bytes--;
    berth_status_t status =
        berth_interpreter_init(&interpreter, &fixture.model, &options, &memories);
    if (status == BERTH_OK) status = berth_interpreter_prepare(&interpreter);
    assert_int_equal(status, BERTH_ERROR_MEMORY);
    free(exact);
    berth_host_unmap(&fixture.map);
  }
  free(memory);
}

static void separate_blocks_of_the_reported_sizes_are_enough(void **state) {
  (void)state;
  void *memory = block(BLOCK);
  for (size_t m = 0; m < MODEL_COUNT; m++) {
    fixture_t fixture;
    open_model(&fixture, models[m]);
    berth_interpreter_options_t options = {.kernels = hash_kernels("none")};
    berth_memories_t memories = {.activations = {memory, BLOCK}};
    berth_needs_t needs;
    uint32_t expected = run(&fixture, &options, &memories, &needs);

    void *activations = block(needs.activations), *persistent = block(needs.persistent);
    void *metadata = block(needs.metadata);
    memories = (berth_memories_t){.activations = {activations, needs.activations},
                                  .persistent = {persistent, needs.persistent},
                                  .metadata = {metadata, needs.metadata}};
    assert_int_equal(run(&fixture, &options, &memories, NULL), expected);
    berth_memory_t *const each[] = {&memories.activations, &memories.persistent,
                                    &memories.metadata};
    for (int i = 0; i < 3; i++) {
      berth_interpreter_t interpreter;
      each[i]->bytes--;
      berth_status_t status =
          berth_interpreter_init(&interpreter, &fixture.model, &options, &memories);
      if (status == BERTH_OK) status = berth_interpreter_prepare(&interpreter);
      assert_int_equal(status, BERTH_ERROR_MEMORY);
      each[i]->bytes++;
    }
    free(activations);
    free(persistent);
    free(metadata);
    berth_host_unmap(&fixture.map);
  }
  free(memory);
}

static void two_interpreters_that_run_in_turn_can_share_activations(void **state) {
  (void)state;
  fixture_t fixture[2];
  berth_interpreter_t interpreters[2];
  void *shared = block(BLOCK), *own[4];
  berth_interpreter_options_t options = {.kernels = hash_kernels("none")};
  uint32_t expected[2];
  for (int i = 0; i < 2; i++) {
    open_model(&fixture[i], models[i]);
    own[2 * i] = block(65536);
    own[2 * i + 1] = block(65536);
    berth_memories_t alone = {.activations = {shared, BLOCK}};
    expected[i] = run(&fixture[i], &options, &alone, NULL);
    berth_memories_t memories = {.activations = {shared, BLOCK},
                                 .persistent = {own[2 * i], 65536},
                                 .metadata = {own[2 * i + 1], 65536}};
    assert_int_equal(
        berth_interpreter_init(&interpreters[i], &fixture[i].model, &options, &memories), BERTH_OK);
    assert_int_equal(berth_interpreter_prepare(&interpreters[i]), BERTH_OK);
  }
  uint32_t hashes[2] = {0, 0};
  for (uint32_t invoke = 0; invoke < 3; invoke++) {
    for (int i = 0; i < 2; i++) {
      fill_inputs(&interpreters[i], invoke);
      assert_int_equal(berth_interpreter_invoke(&interpreters[i]), BERTH_OK);
      hashes[i] = hashes[i] * 31 + hash_outputs(&interpreters[i]);
    }
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(hashes[i], expected[i]);
    free(own[2 * i]);
    free(own[2 * i + 1]);
    berth_host_unmap(&fixture[i].map);
  }
  free(shared);
}

static void a_prepare_can_be_repeated(void **state) {
  (void)state;
  fixture_t fixture;
  open_model(&fixture, models[0]);
  void *memory = block(BLOCK);
  berth_interpreter_options_t options = {.kernels = hash_kernels("none")};
  berth_memories_t memories = {.activations = {memory, BLOCK}};
  berth_interpreter_t interpreter;
  assert_int_equal(berth_interpreter_init(&interpreter, &fixture.model, &options, &memories),
                   BERTH_OK);
  uint32_t first = 0, total = 0;
  for (int i = 0; i < 10; i++) {
    assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
    fill_inputs(&interpreter, 1);
    assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
    uint32_t hash = hash_outputs(&interpreter);
    if (i == 0) {
      first = hash;
      total = berth_interpreter_needs(&interpreter).total;
    }
    assert_int_equal(hash, first);
    assert_int_equal(berth_interpreter_needs(&interpreter).total, total);
  }
  berth_host_unmap(&fixture.map);
  free(memory);
}

static uint32_t refused;

static void count_refusals(void *user, const berth_event_t *event) {
  (void)user;
  if (event->kind == BERTH_EVENT_MISSING) refused++;
}

static void all_missing_operators_are_reported_at_once(void **state) {
  (void)state;
  fixture_t fixture;
  open_model(&fixture, models[0]);
  void *memory = block(BLOCK);
  static const berth_kernel_t *const nothing[] = {NULL};
  berth_interpreter_options_t options = {.kernels = nothing, .log = count_refusals};
  berth_memories_t memories = {.activations = {memory, BLOCK}};
  berth_interpreter_t interpreter;
  refused = 0;
  assert_int_equal(berth_interpreter_init(&interpreter, &fixture.model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_ERROR_OPERATOR);
  assert_int_equal(refused, berth_model_subgraph(&fixture.model, 0).operator_count);
  assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_ERROR_ARGUMENT);
  berth_host_unmap(&fixture.map);
  free(memory);
}

static void a_ready_plan_is_used_as_given_and_a_wrong_one_is_refused(void **state) {
  (void)state;
  fixture_t fixture;
  open_model(&fixture, models[0]);
  void *memory = block(BLOCK);
  berth_interpreter_options_t options = {.kernels = hash_kernels("none")};
  berth_memories_t memories = {.activations = {memory, BLOCK}};
  uint32_t expected = run(&fixture, &options, &memories, NULL);

  berth_interpreter_t interpreter;
  options.planner = &berth_planner_none;
  assert_int_equal(berth_interpreter_init(&interpreter, &fixture.model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  uint32_t count = berth_model_subgraph(&fixture.model, 0).tensor_count;
  int32_t *offsets = malloc(count * sizeof *offsets);
  uint32_t planned = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t offset = berth_interpreter_offset(&interpreter, 0, i);
    offsets[i] = offset == BERTH_NO_OFFSET ? -1 : (int32_t)offset;
    if (offsets[i] >= 0) planned = i;
  }
  options.planner = NULL;
  options.offsets = offsets;
  options.offset_count = count;
  assert_int_equal(run(&fixture, &options, &memories, NULL), expected);
  assert_int_equal(berth_interpreter_init(&interpreter, &fixture.model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  for (uint32_t i = 0; i < count; i++) {
    if (offsets[i] >= 0) {
      assert_int_equal(berth_interpreter_offset(&interpreter, 0, i), offsets[i]);
    }
  }
  offsets[planned] += 1; /* misaligned */
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_ERROR_ARGUMENT);
  memset(offsets, 0, count * sizeof *offsets); /* everything at 0 */
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_ERROR_ARGUMENT);
  options.offset_count--;
  assert_int_equal(berth_interpreter_init(&interpreter, &fixture.model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_ERROR_ARGUMENT);
  free(offsets);
  berth_host_unmap(&fixture.map);
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_the_same_for_every_planner_alignment_and_without_reuse),
      cmocka_unit_test(one_block_of_the_reported_size_is_enough_and_one_byte_less_is_not),
      cmocka_unit_test(separate_blocks_of_the_reported_sizes_are_enough),
      cmocka_unit_test(two_interpreters_that_run_in_turn_can_share_activations),
      cmocka_unit_test(a_prepare_can_be_repeated),
      cmocka_unit_test(all_missing_operators_are_reported_at_once),
      cmocka_unit_test(a_ready_plan_is_used_as_given_and_a_wrong_one_is_refused),
  };
  return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
