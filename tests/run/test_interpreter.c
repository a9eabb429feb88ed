/* What an application does with an interpreter beyond prepare and invoke, on models with Berth's
 * own kernels: gives inputs other shapes, looks at tensors while it runs, takes outputs as soon as
 * they are there, reads watermarks. */
#include "test.h"

#include "berth/interpreter.h"
#include "host/map.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (8u << 20)

typedef struct fixture {
  berth_host_map_t map;
  berth_model_t model;
  berth_interpreter_t interpreter;
  void *memory;
} fixture_t;

static void start(fixture_t *f, const char *name, berth_interpreter_options_t options) {
  char path[512], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, name);
  if (berth_host_open_model(path, &f->map, &f->model, message) != BERTH_OK) {
    fail_msg("%s: %s", path, message);
  }
  f->memory = aligned_alloc(64, BLOCK);
  assert_non_null(f->memory);
  options.kernels = berth_kernels;
  berth_memories_t memories = {.activations = {f->memory, BLOCK}};
  assert_int_equal(berth_interpreter_init(&f->interpreter, &f->model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&f->interpreter), BERTH_OK);
}

static void stop(fixture_t *f) {
  free(f->memory);
  berth_host_unmap(&f->map);
}

static void fill_inputs(const berth_interpreter_t *interpreter) {
  for (uint32_t i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(interpreter, i);
    if (!input.present) return;
    for (uint32_t k = 0; k < input.elements; k++) {
      float x = (float)(k * 37 % 101) / 101.0f;
      if (input.type == BERTH_TYPE_FLOAT32) {
        memcpy(input.data + k * sizeof x, &x, sizeof x);
      } else {
        input.data[k] = (uint8_t)(k * 37);
      }
    }
  }
}

static void *copy_of(const berth_value_t *value) {
  void *copy = malloc(value->bytes + 1);
  assert_non_null(copy);
  assert_non_null(value->data);
  memcpy(copy, value->data, value->bytes);
  return copy;
}

/* Output 0 of one invoke, in memory of its own. */
static void *run(berth_interpreter_t *interpreter, berth_value_t *output) {
  fill_inputs(interpreter);
  assert_int_equal(berth_interpreter_invoke(interpreter), BERTH_OK);
  *output = berth_interpreter_output(interpreter, 0);
  return copy_of(output);
}

/* ---- Other shapes ---------------------------------------------------------------------------- */

static void an_input_can_be_resized_and_back_as_often_as_one_likes(void **state) {
  (void)state;
  fixture_t f, fresh;
  start(&f, "resnet8_int8", (berth_interpreter_options_t){0});
  berth_needs_t needs = berth_interpreter_needs(&f.interpreter);
  berth_value_t small = berth_interpreter_input(&f.interpreter, 0), output, large_output;
  int32_t large[4] = {1, small.dims[1] * 2, small.dims[2] * 2, small.dims[3]};
  void *expected = run(&f.interpreter, &output);

  start(&fresh, "resnet8_int8", (berth_interpreter_options_t){0});
  assert_int_equal(berth_interpreter_resize_input(&fresh.interpreter, 0, 4, large), BERTH_OK);
  assert_int_equal(berth_interpreter_invoke(&fresh.interpreter), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_prepare(&fresh.interpreter), BERTH_OK);
  void *expected_large = run(&fresh.interpreter, &large_output);
  berth_needs_t large_needs = berth_interpreter_needs(&fresh.interpreter);
  assert_true(large_needs.peak > needs.peak);

  for (int round = 0; round < 20; round++) {
    assert_int_equal(berth_interpreter_resize_input(&f.interpreter, 0, 4, large), BERTH_OK);
    assert_int_equal(berth_interpreter_prepare(&f.interpreter), BERTH_OK);
    berth_needs_t now = berth_interpreter_needs(&f.interpreter);
    assert_memory_equal(&now, &large_needs, sizeof now);
    berth_value_t value;
    void *given = run(&f.interpreter, &value);
    assert_int_equal(value.bytes, large_output.bytes);
    assert_memory_equal(given, expected_large, value.bytes);
    free(given);

    assert_int_equal(berth_interpreter_resize_input(&f.interpreter, 0, 4, small.dims), BERTH_OK);
    assert_int_equal(berth_interpreter_prepare(&f.interpreter), BERTH_OK);
    assert_int_equal(berth_interpreter_needs(&f.interpreter).extent, needs.extent);
    given = run(&f.interpreter, &value);
    assert_memory_equal(given, expected, output.bytes);
    free(given);
  }
  free(expected);
  free(expected_large);
  stop(&fresh);
  stop(&f);
}

/* ---- While it runs --------------------------------------------------------------------------- */

typedef struct watched {
  const berth_interpreter_t *apart; /* has run, with every tensor in memory of its own */
  uint32_t seen;
} watched_t;

static bool compare_outputs(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                            uint32_t op) {
  watched_t *watched = user;
  berth_operator_t view = berth_model_operator(interpreter->model, subgraph, op);
  for (uint32_t i = 0; i < view.outputs.count; i++) {
    uint32_t tensor = (uint32_t)berth_vector_int(view.outputs, i);
    char name[256];
    berth_text_t text = berth_model_tensor(interpreter->model, subgraph, tensor).name;
    snprintf(name, sizeof name, "%.*s", (int)text.length, text.data);
    assert_int_equal(berth_interpreter_find(interpreter, subgraph, name), tensor);
    berth_value_t value = berth_interpreter_tensor(interpreter, subgraph, tensor);
    berth_value_t expected = berth_interpreter_tensor(watched->apart, subgraph, tensor);
    if (value.data == NULL || expected.type != value.type) continue; /* float16, not converted */
    assert_int_equal(value.bytes, expected.bytes);
    assert_memory_equal(value.data, expected.data, value.bytes);
    watched->seen++;
  }
  return true;
}

static void every_tensor_can_be_read_by_name_after_its_operator(void **state) {
  (void)state;
  static const char *const names[] = {"ds_cnn_kws_int8", "resnet8_int8", "segmentation_float16"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    fixture_t apart, f;
    start(&apart, names[i], (berth_interpreter_options_t){.no_reuse = true});
    fill_inputs(&apart.interpreter);
    assert_int_equal(berth_interpreter_invoke(&apart.interpreter), BERTH_OK);
    watched_t watched = {.apart = &apart.interpreter};
    start(&f, names[i],
          (berth_interpreter_options_t){.observe = compare_outputs, .user = &watched});
    fill_inputs(&f.interpreter);
    assert_int_equal(berth_interpreter_invoke(&f.interpreter), BERTH_OK);
    assert_true(watched.seen >=
                berth_model_subgraph(&f.model, 0).operator_count / 3); /* not DEQUANTIZE */
    stop(&f);
    stop(&apart);
  }
}

/* ---- Outputs --------------------------------------------------------------------------------- */

typedef struct delivered {
  void *outputs[4];
  uint32_t bytes[4];
  uint32_t calls;
} delivered_t;

static void take(void *user, uint32_t output, const berth_value_t *value) {
  delivered_t *delivered = user;
  assert_true(output < 4 && delivered->outputs[output] == NULL);
  delivered->outputs[output] = copy_of(value);
  delivered->bytes[output] = value->bytes;
  delivered->calls++;
}

static void outputs_that_are_delivered_are_right_and_need_not_live_to_the_end(void **state) {
  (void)state;
  fixture_t f, kept;
  delivered_t delivered = {{0}, {0}, 0};
  start(&kept, "detector_two_outputs_int8", (berth_interpreter_options_t){0});
  fill_inputs(&kept.interpreter);
  assert_int_equal(berth_interpreter_invoke(&kept.interpreter), BERTH_OK);
  start(&f, "detector_two_outputs_int8",
        (berth_interpreter_options_t){.deliver = take, .user = &delivered});
  fill_inputs(&f.interpreter);
  assert_int_equal(berth_interpreter_invoke(&f.interpreter), BERTH_OK);
  uint32_t count = berth_model_subgraph(&f.model, 0).outputs.count;
  assert_int_equal(count, 2);
  assert_int_equal(delivered.calls, count);
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t output = berth_interpreter_output(&kept.interpreter, i);
    assert_int_equal(delivered.bytes[i], output.bytes);
    assert_memory_equal(delivered.outputs[i], output.data, output.bytes);
    free(delivered.outputs[i]);
  }
  assert_true(berth_interpreter_needs(&f.interpreter).peak <=
              berth_interpreter_needs(&kept.interpreter).peak);
  stop(&f);
  stop(&kept);
}

/* ---- Watermarks ------------------------------------------------------------------------------ */

typedef struct marks {
  uint32_t largest, calls;
} marks_t;

static bool note_marks(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                       uint32_t op) {
  (void)subgraph;
  (void)op;
  marks_t *marks = user;
  berth_watermarks_t now = berth_interpreter_watermarks(interpreter);
  if (now.dynamic > marks->largest) marks->largest = now.dynamic;
  assert_true(now.dynamic_high_water >= marks->largest);
  assert_true(now.activations >= berth_interpreter_needs(interpreter).extent);
  marks->calls++;
  return true;
}

static void watermarks_can_be_read_after_prepare_and_after_each_operator(void **state) {
  (void)state;
  fixture_t f;
  marks_t marks = {0, 0};
  start(&f, "dynamic_shape", (berth_interpreter_options_t){.observe = note_marks, .user = &marks});
  berth_needs_t needs = berth_interpreter_needs(&f.interpreter);
  berth_watermarks_t before = berth_interpreter_watermarks(&f.interpreter);
  assert_int_equal(before.activations, needs.extent);
  assert_int_equal(before.dynamic_high_water, 0);
  assert_int_equal((before.metadata + 15) / 16 * 16, needs.metadata);
  assert_int_equal(before.persistent, needs.persistent);
  for (int n = 0; n < 3; n++) {
    fill_inputs(&f.interpreter);
    assert_int_equal(berth_interpreter_invoke(&f.interpreter), BERTH_OK);
    berth_watermarks_t after = berth_interpreter_watermarks(&f.interpreter);
    assert_true(marks.largest > 0);
    assert_true(after.dynamic_high_water >= marks.largest);
    assert_true(after.activations > needs.extent);
    assert_int_equal(after.metadata, before.metadata);
  }
  assert_true(marks.calls >= 3 * berth_model_subgraph(&f.model, 0).operator_count);
  stop(&f);
}

static void note_refusal(void *user, const berth_event_t *event) {
  if (event->kind == BERTH_EVENT_REFUSED) *(berth_event_t *)user = *event;
}

/* What the graph's lifetimes refuse is told with the operator, like what kernels refuse. */
static void an_operator_that_writes_what_another_has_written_is_named(void **state) {
  (void)state;
  static berth_event_t event;
  fixture_t f;
  start(&f, "resnet8_int8", (berth_interpreter_options_t){.log = note_refusal, .user = &event});
  uint8_t *file = malloc((size_t)f.map.size);
  assert_non_null(file);
  memcpy(file, f.map.data, (size_t)f.map.size);
  const uint8_t *first = berth_model_operator(&f.model, 0, 0).outputs.data;
  const uint8_t *third = berth_model_operator(&f.model, 0, 2).outputs.data;
  memcpy(file + (third - f.map.data), first, sizeof(int32_t));
  berth_model_t model;
  berth_memories_t memories = f.interpreter.memories;
  berth_interpreter_options_t options = f.interpreter.options;
  assert_int_equal(berth_model_open(file, f.map.size, &model, NULL), BERTH_OK);
  assert_null(event.why);
  assert_int_equal(berth_interpreter_init(&f.interpreter, &model, &options, &memories), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&f.interpreter), BERTH_ERROR_FORMAT);
  assert_int_equal(event.op, 2);
  assert_string_equal(event.why, "a tensor is written twice");
  free(file);
  stop(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_input_can_be_resized_and_back_as_often_as_one_likes),
      cmocka_unit_test(every_tensor_can_be_read_by_name_after_its_operator),
      cmocka_unit_test(outputs_that_are_delivered_are_right_and_need_not_live_to_the_end),
      cmocka_unit_test(watermarks_can_be_read_after_prepare_and_after_each_operator),
      cmocka_unit_test(an_operator_that_writes_what_another_has_written_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
