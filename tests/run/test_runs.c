/* Models that run row by row give the very bytes that they give whole, from rings as small as can
 * be: the shipped models, in runs as long as can be, and random networks, in random runs. Rows are
 * pushed and delivered one or a few at a time.
 */
#include "run/random_network.h"
#include "run/streamed.h"

#include "berth/guard.h"
#include "host/fill.h"
#include "host/map.h"
#include <stdio.h>

static const char *const models[] = {
    "mobilenet_v1_0.25_96_int8.tflite", "ds_cnn_kws_int8.tflite",      "resnet8_int8.tflite",
    "detector_two_outputs_int8.tflite", "segmentation_float16.tflite", "lstm_sequence_int8.tflite",
    "svdf_keyword_int8.tflite",         "control_flow.tflite",         "dynamic_shape.tflite",
    "resource_variables.tflite",
};
#define MODEL_COUNT (sizeof models / sizeof *models)
#define ROOM        (4u << 20)
#define INVOKES     3
#define NETWORKS    10000u
#define TENSORS     64 /* most graph inputs, and outputs */

/* ---- One way of running ---------------------------------------------------------------------- */

/* What a model gave, and where its inputs are kept. */
typedef struct trial {
  uint8_t *bytes; /* all outputs of all invokes */
  size_t used, room;
  size_t at[TENSORS]; /* where each output of this invoke begins */
  uint8_t *frames[TENSORS];
  uint32_t next_row[TENSORS]; /* of outputs that are delivered by rows */
  uint64_t chance;
  berth_needs_t needs;
} trial_t;

static uint8_t *memory, *planning, *others; /* for whatever is run; ROOM bytes each */

static uint32_t draw(void *user) {
  uint64_t *state = user;
  return (uint32_t)((*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407) >> 33);
}

/* Random bytes for every input, the same for every way of running. */
static void fill(trial_t *trial, const berth_interpreter_t *interpreter, uint64_t *seed) {
  for (uint32_t i = 0;; i++) {
    berth_value_t input = berth_interpreter_input(interpreter, i);
    if (!input.present) return;
    assert_true(i < TENSORS);
    trial->frames[i] = realloc(trial->frames[i], input.bytes + 1);
    assert_non_null(trial->frames[i]);
    berth_value_t frame = input;
    frame.data = trial->frames[i];
    berth_fill_random(&frame, seed);
    if (input.data != NULL && !berth_interpreter_is_pushed(interpreter, i))
      memcpy(input.data, trial->frames[i], input.bytes);
  }
}

/* Makes room for one output. */
static void expect_output(trial_t *trial, uint32_t i, uint32_t bytes) {
  assert_true(i < TENSORS);
  if (trial->used + bytes > trial->room) {
    trial->room = 2 * (trial->used + bytes);
    trial->bytes = realloc(trial->bytes, trial->room);
    assert_non_null(trial->bytes);
  }
  trial->at[i] = trial->used;
  trial->next_row[i] = 0;
  trial->used += bytes;
}

/* Those that may come by rows; the others when they are there. */
static void expect_outputs(trial_t *trial, const berth_interpreter_t *interpreter) {
  for (int i = 0; i < TENSORS; i++) trial->at[i] = SIZE_MAX;
  for (uint32_t i = 0;; i++) {
    berth_value_t output = berth_interpreter_output(interpreter, i);
    if (!output.present) return;
    if (output.known) expect_output(trial, i, output.bytes);
  }
}

static void deliver_rows(void *user, uint32_t output, const berth_value_t *value,
                         uint32_t first_row, uint32_t last_row) {
  trial_t *trial = user;
  assert_int_equal(first_row, trial->next_row[output]);
  for (uint32_t row = first_row; row < last_row; row++)
    memcpy(trial->bytes + trial->at[output] + (size_t)row * value->row_bytes, berth_row(value, row),
           value->row_bytes);
  trial->next_row[output] = last_row;
}

static void keep_outputs(trial_t *trial, const berth_interpreter_t *interpreter) {
  for (uint32_t i = 0;; i++) {
    berth_value_t output = berth_interpreter_output(interpreter, i);
    if (!output.present) return;
    if (trial->at[i] == SIZE_MAX) expect_output(trial, i, output.bytes);
    if (output.ring < output.rows || trial->next_row[i] > 0)
      assert_int_equal(trial->next_row[i], output.rows);
    else if (output.bytes > 0)
      memcpy(trial->bytes + trial->at[i], output.data, output.bytes);
  }
}

/* Pushes the rows that are wanted, one or a few at a time. */
static void push(trial_t *trial, berth_interpreter_t *interpreter) {
  uint32_t row = 0, input;
  while ((input = berth_interpreter_wanted(interpreter, &row)) != BERTH_NOBODY) {
    berth_value_t value = berth_interpreter_input(interpreter, input);
    uint32_t left = value.rows - row, count = 1 + draw(&trial->chance) % 5, taken = 0;
    if (count > left) count = left;
    assert_int_equal(berth_interpreter_push_rows(
                         interpreter, input, trial->frames[input] + (size_t)row * value.row_bytes,
                         count, &taken),
                     BERTH_OK);
    assert_true(taken > 0 && taken <= count);
  }
}

/* Pushes the first row of the input whose turn it is: the others refuse theirs. */
static void push_first(trial_t *trial, berth_interpreter_t *interpreter) {
  for (uint32_t i = 0; berth_interpreter_input(interpreter, i).present; i++) {
    if (!berth_interpreter_is_pushed(interpreter, i)) continue;
    berth_status_t status = berth_interpreter_push_rows(interpreter, i, trial->frames[i], 1, NULL);
    if (status == BERTH_OK) return;
    assert_int_equal(status, BERTH_ERROR_ARGUMENT);
    assert_int_equal(berth_interpreter_wanted(interpreter, NULL), BERTH_NOBODY);
  }
  fail_msg("rows are to be pushed, but of no input");
}

static void on_finding(void *user, const berth_guard_finding_t *finding) {
  (void)user;
  fail_msg("the guard found fault %d of operator %u, tensor %u from %u on, owner %d, victim %u",
           (int)finding->fault, finding->op, finding->tensor, finding->first, (int)finding->owner,
           finding->victim);
}

static void *attach(berth_guard_t *guard, berth_interpreter_t *interpreter) {
  uint64_t bytes;
  assert_int_equal(berth_guard_bytes(interpreter, 0, 0, &bytes), BERTH_OK);
  void *room = malloc(bytes);
  assert_non_null(room);
  assert_int_equal(berth_guard_attach(guard, interpreter, 0, 0, room, bytes, on_finding, NULL),
                   BERTH_OK);
  guard->deep = true;
  return room;
}

static void run(trial_t *trial, const berth_model_t *model, berth_interpreter_options_t options,
                bool guarded) {
  memset(trial, 0, sizeof *trial);
  berth_memories_t memories = {.activations = {memory, ROOM},
                               .persistent = {others, ROOM / 2},
                               .metadata = {others + ROOM / 2, ROOM / 2},
                               .planning = {planning, ROOM}};
  berth_guard_t guard;
  berth_interpreter_t interpreter;
  uint64_t seed = 7;
  trial->chance = 9;
  options.kernels = berth_kernels;
  options.deliver_rows = deliver_rows;
  options.user = trial;
  assert_int_equal(berth_interpreter_init(&interpreter, model, &options, &memories), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  trial->needs = berth_interpreter_needs(&interpreter);
  memset(memory, 0x5A, trial->needs.extent);
  void *room = guarded ? attach(&guard, &interpreter) : NULL;
  for (int invoke = 0; invoke < INVOKES; invoke++) {
    fill(trial, &interpreter, &seed);
    expect_outputs(trial, &interpreter);
    if (!interpreter.pushed) {
      assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
    } else {
      assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_ERROR_ARGUMENT);
      push_first(trial, &interpreter);
      push(trial, &interpreter);
    }
    keep_outputs(trial, &interpreter);
  }
  free(room);
}

static void end(trial_t *trial) {
  for (int i = 0; i < TENSORS; i++) free(trial->frames[i]);
  free(trial->bytes);
}

static void check(const char *name, const berth_model_t *model, const streamed_t *s,
                  const trial_t *expected, bool portable, bool guarded) {
  berth_interpreter_options_t options = {.stream = &s->plan, .portable = portable};
  trial_t trial;
  run(&trial, model, options, guarded);
  assert_int_equal(trial.used, expected->used);
  for (size_t i = 0; i < trial.used; i++)
    if (trial.bytes[i] != expected->bytes[i]) fail_msg("%s: byte %zu differs", name, i);
  end(&trial);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static int make_room(void **state) {
  (void)state;
  memory = aligned_alloc(4096, ROOM);
  planning = aligned_alloc(4096, ROOM);
  others = aligned_alloc(4096, ROOM);
  return memory == NULL || planning == NULL || others == NULL;
}

static int free_room(void **state) {
  (void)state;
  free(memory);
  free(planning);
  free(others);
  return 0;
}

static void shipped_models_give_the_same_bytes_row_by_row(void **state) {
  (void)state;
  for (size_t i = 0; i < MODEL_COUNT; i++) {
    char path[512], message[BERTH_HOST_MESSAGE];
    berth_host_map_t map;
    berth_model_t model;
    snprintf(path, sizeof path, "%s/models/%s", BERTH_SOURCE_DIR, models[i]);
    if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) fail_msg("%s", message);
    for (int portable = 0; portable < 2; portable++) {
      berth_interpreter_options_t options = {.portable = portable};
      trial_t whole;
      run(&whole, &model, options, false);
      for (uint32_t way = 0; way < 4; way++) {
        streamed_t s;
        streamed_open(&s, &model, berth_kernels);
        streamed_all(&s, way & 1 ? 3 : 1, way & 2, way & 2);
        streamed_finish(&s);
        check(models[i], &model, &s, &whole, portable, portable);
        streamed_close(&s);
      }
      end(&whole);
    }
    berth_host_unmap(&map);
  }
}

/* The rings that the tests use are the smallest: they would see one that is too small. */
static void a_ring_with_a_row_less_shows_in_the_result(void **state) {
  (void)state;
  char path[512], message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  snprintf(path, sizeof path, "%s/models/%s", BERTH_SOURCE_DIR, models[2]);
  if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) fail_msg("%s", message);
  trial_t whole;
  run(&whole, &model, (berth_interpreter_options_t){.no_reuse = true}, false);
  streamed_t s;
  streamed_open(&s, &model, berth_kernels);
  streamed_all(&s, 1, false, false);
  streamed_finish(&s);
  uint32_t shrunk = 0;
  for (uint32_t t = 0; t < berth_model_subgraph(&model, 0).tensor_count; t++) {
    if (s.rings[t] < 2) continue;
    trial_t trial;
    s.rings[t]--;
    run(&trial, &model, (berth_interpreter_options_t){.stream = &s.plan}, false);
    assert_int_equal(trial.used, whole.used);
    assert_memory_not_equal(trial.bytes, whole.bytes, whole.used);
    s.rings[t]++;
    shrunk++;
    end(&trial);
  }
  assert_true(shrunk > 5);
  streamed_close(&s);
  end(&whole);
  berth_host_unmap(&map);
}

static void random_networks_give_the_same_bytes_in_random_runs(void **state) {
  (void)state;
  random_network_t *net = malloc(sizeof *net);
  assert_non_null(net);
  uint64_t chance = 1;
  for (uint32_t seed = 0; seed < NETWORKS; seed++) {
    char name[32];
    snprintf(name, sizeof name, "network %u", (unsigned)seed);
    if (getenv("BERTH_TEST_VERBOSE")) print_message("%s\n", name);
    berth_model_t model = random_network(net, seed);
    bool portable = draw(&chance) % 2;
    trial_t whole;
    run(&whole, &model, (berth_interpreter_options_t){.no_reuse = true, .portable = portable},
        false);
    streamed_t s;
    streamed_open(&s, &model, berth_kernels);
    if (seed % 2) streamed_shuffle(&s, draw, &chance);
    if (seed % 3 == 0)
      streamed_all(&s, 1, seed % 2, seed % 2);
    else
      streamed_some(&s, draw, &chance);
    streamed_finish(&s);
    check(name, &model, &s, &whole, portable, seed % 8 == 5);
    streamed_close(&s);
    end(&whole);
  }
  free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shipped_models_give_the_same_bytes_row_by_row),
      cmocka_unit_test(a_ring_with_a_row_less_shows_in_the_result),
      cmocka_unit_test(random_networks_give_the_same_bytes_in_random_runs),
  };
  return cmocka_run_group_tests(tests, make_room, free_room);
}
