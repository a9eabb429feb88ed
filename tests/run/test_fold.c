/* Float16 weights behind DEQUANTIZE operators: shown to kernels as they are, for the same result in
 * less memory. */
#include "test.h"

#include "berth/interpreter.h"
#include "host/map.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (8u << 20)
#define MOST  256u /* kernels */

typedef struct fixture {
  berth_host_map_t map;
  berth_model_t model;
  void *memory;
} fixture_t;

static int set_up(void **state) {
  static fixture_t fixture;
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/models/segmentation_float16.tflite", BERTH_SOURCE_DIR);
  if (berth_host_open_model(path, &fixture.map, &fixture.model, message) != BERTH_OK) return 1;
  fixture.memory = aligned_alloc(4096, BLOCK);
  *state = &fixture;
  return fixture.memory == NULL;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  free(fixture->memory);
  berth_host_unmap(&fixture->map);
  return 0;
}

static void start(fixture_t *fixture, const berth_interpreter_options_t *options,
                  berth_interpreter_t *interpreter) {
  berth_memories_t memories = {.activations = {fixture->memory, BLOCK}};
  memset(fixture->memory, 0x5a, BLOCK);
  assert_int_equal(berth_interpreter_init(interpreter, &fixture->model, options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(interpreter), BERTH_OK);
}

/* The bytes of output 0, to be freed. */
static void *run(fixture_t *fixture, const berth_interpreter_options_t *options,
                 berth_needs_t *needs) {
  berth_interpreter_t interpreter;
  start(fixture, options, &interpreter);
  *needs = berth_interpreter_needs(&interpreter);
  berth_value_t input = berth_interpreter_input(&interpreter, 0);
  assert_int_equal(input.type, BERTH_TYPE_FLOAT32);
  for (uint32_t i = 0; i < input.elements; i++) {
    float number = (float)(i * 7919u % 1000u) / 500.0f - 1.0f;
    memcpy(input.data + 4 * (size_t)i, &number, sizeof number);
  }
  assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
  berth_value_t output = berth_interpreter_output(&interpreter, 0);
  uint8_t *bytes = malloc(output.bytes);
  assert_non_null(bytes);
  memcpy(bytes, output.data, output.bytes);
  return bytes;
}

static uint32_t output_bytes(fixture_t *fixture) {
  berth_interpreter_t interpreter;
  berth_interpreter_options_t options = {.kernels = berth_kernels};
  start(fixture, &options, &interpreter);
  return berth_interpreter_output(&interpreter, 0).bytes;
}

/* All of Berth's kernels, but none of them takes float16. */
static void without_float16(berth_kernel_t *kernels, const berth_kernel_t **table) {
  uint32_t count = 0;
  for (; berth_kernels[count] != NULL; count++) {
    assert_true(count < MOST);
    kernels[count] = *berth_kernels[count];
    kernels[count].float16_inputs = 0;
    table[count] = &kernels[count];
  }
  table[count] = NULL;
}

static void the_result_is_that_of_float32_weights_in_less_memory(void **state) {
  fixture_t *fixture = *state;
  static berth_kernel_t kernels[MOST];
  static const berth_kernel_t *table[MOST + 1];
  without_float16(kernels, table);
  for (int portable = 0; portable < 2; portable++) {
    berth_needs_t folded, converted, apart;
    berth_interpreter_options_t options = {.kernels = berth_kernels, .portable = portable};
    void *expected = run(fixture, &options, &folded);
    options.kernels = table;
    void *result = run(fixture, &options, &converted);
    assert_memory_equal(result, expected, output_bytes(fixture));
    assert_true(folded.peak < converted.peak);
    free(result);
    options.kernels = berth_kernels;
    options.no_reuse = true;
    result = run(fixture, &options, &apart);
    assert_memory_equal(result, expected, output_bytes(fixture));
    free(result);
    free(expected);
  }
}

/* Every result of a DEQUANTIZE of float16, as an interpreter with these options shows it. */
static void check_shown(fixture_t *fixture, bool no_reuse) {
  berth_interpreter_options_t options = {.kernels = berth_kernels, .no_reuse = no_reuse};
  berth_interpreter_t interpreter;
  uint32_t count = 0;
  start(fixture, &options, &interpreter);
  assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
  uint32_t operators = berth_model_subgraph(&fixture->model, 0).operator_count;
  for (uint32_t i = 0; i < operators; i++) {
    berth_operator_t op = berth_model_operator(&fixture->model, 0, i);
    if (op.code != BERTH_BUILTIN_DEQUANTIZE) continue;
    uint32_t from = (uint32_t)berth_vector_int(op.inputs, 0);
    uint32_t to = (uint32_t)berth_vector_int(op.outputs, 0);
    berth_value_t source = berth_interpreter_tensor(&interpreter, 0, from);
    berth_value_t shown = berth_interpreter_tensor(&interpreter, 0, to);
    assert_int_equal(shown.index, to);
    assert_int_equal(shown.elements, source.elements);
    if (no_reuse) {
      assert_int_equal(shown.type, BERTH_TYPE_FLOAT32);
      assert_false(shown.constant);
      assert_true(berth_interpreter_offset(&interpreter, 0, to) != BERTH_NO_OFFSET);
    } else {
      assert_int_equal(shown.type, BERTH_TYPE_FLOAT16);
      assert_ptr_equal(shown.data, source.data);
      assert_int_equal(berth_interpreter_offset(&interpreter, 0, to), BERTH_NO_OFFSET);
    }
    count++;
  }
  assert_true(count > 10);
}

static void folded_tensors_are_shown_as_their_float16_constants(void **state) {
  check_shown(*state, false);
}

static void without_reuse_every_tensor_is_float32(void **state) {
  check_shown(*state, true);
}

/* What nothing writes has no value, also where it is shown behind a DEQUANTIZE, and in a streamed
 * plan, in which views have none either. */
static void a_constant_without_data_is_refused(void **state) {
  fixture_t *fixture = *state;
  uint8_t *file = malloc((size_t)fixture->map.size);
  assert_non_null(file);
  uint32_t steps = berth_model_subgraph(&fixture->model, 0).operator_count, tried = 0;
  const berth_stream_run_t whole = {.first = 0, .last = steps - 1, .block = 1};
  const berth_stream_plan_t plans[] = {{.step_count = steps},
                                       {.step_count = steps, .runs = &whole, .run_count = 1}};
  for (uint32_t step = 0; step < steps; step++) {
    berth_operator_t op = berth_model_operator(&fixture->model, 0, step);
    if (op.code != BERTH_BUILTIN_DEQUANTIZE) continue;
    berth_tensor_t tensor =
        berth_model_tensor(&fixture->model, 0, (uint32_t)berth_vector_int(op.inputs, 0));
    berth_bytes_t data = berth_model_tensor_data(&fixture->model, &tensor);
    memcpy(file, fixture->map.data, (size_t)fixture->map.size);
    memset(file + (data.data - fixture->map.data) - 4, 0, 4); /* its length comes before it */
    berth_model_t model;
    assert_int_equal(berth_model_open(file, fixture->map.size, &model, NULL), BERTH_OK);
    for (uint32_t way = 0; way < 3; way++) {
      berth_interpreter_options_t options = {.kernels = berth_kernels};
      if (way > 0) options.stream = &plans[way - 1];
      berth_memories_t memories = {.activations = {fixture->memory, BLOCK}};
      berth_interpreter_t interpreter;
      assert_int_equal(berth_interpreter_init(&interpreter, &model, &options, &memories), BERTH_OK);
      assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_ERROR_OPERATOR);
      tried++;
    }
  }
  assert_true(tried > 30);
  free(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_result_is_that_of_float32_weights_in_less_memory),
      cmocka_unit_test(folded_tensors_are_shown_as_their_float16_constants),
      cmocka_unit_test(without_reuse_every_tensor_is_float32),
      cmocka_unit_test(a_constant_without_data_is_refused),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
