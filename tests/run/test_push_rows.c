/* Rows that the caller pushes: the frame never exists whole, bad use is refused and breaks nothing,
 * and every row of every operator is made exactly once. */
#include "run/random_network.h"
#include "run/streamed.h"

#include "host/map.h"
#include "operators/kernels.h"
#include <stdio.h>

#define ROOM   (1u << 20)
#define HEIGHT 12
#define WIDTH  5

/* ---- A network with two inputs --------------------------------------------------------------- */

/* Convolution of one input, sum with the other, and a mean over all rows. */
static berth_model_t make_network(random_network_t *net) {
  memset(net, 0, sizeof *net);
  net->type = BERTH_TYPE_INT8;
  int32_t first = random_activation(net, HEIGHT, WIDTH, 4);
  int32_t second = random_activation(net, HEIGHT, WIDTH, 4);
  int32_t weights = random_weights(net, 4, (const int32_t[]){4, 3, 1, 4}, 0);
  int32_t bias = random_bias(net, 4);
  random_op_t *op = random_op(net, BERTH_BUILTIN_CONV_2D);
  random_reads(net, op, first);
  random_reads(net, op, weights);
  random_reads(net, op, bias);
  random_option(op, BERTH_CONV_2D_PADDING, 1, BERTH_PADDING_SAME);
  random_option(op, BERTH_CONV_2D_STRIDE_H, 4, 1);
  random_option(op, BERTH_CONV_2D_STRIDE_W, 4, 1);
  int32_t filtered = random_writes(op, random_activation(net, HEIGHT, WIDTH, 4));
  op = random_op(net, BERTH_BUILTIN_ADD);
  random_reads(net, op, filtered);
  random_reads(net, op, second);
  int32_t sum = random_writes(op, random_activation(net, HEIGHT, WIDTH, 4));
  int32_t axes = random_ints(net, 2, (const int32_t[]){1, 2});
  op = random_op(net, BERTH_BUILTIN_MEAN);
  random_reads(net, op, sum);
  random_reads(net, op, axes);
  random_option(op, BERTH_REDUCER_KEEP_DIMS, 1, 1);
  random_writes(op, random_activation(net, 1, 1, 4));
  return random_emit(net, 2);
}

typedef struct bench {
  random_network_t *net;
  berth_model_t model;
  streamed_t s;
  berth_interpreter_t interpreter;
  void *memory;
  uint8_t frames[2][HEIGHT * WIDTH * 4];
  int8_t expected[4];
} bench_t;

static void prepare(bench_t *b, const berth_stream_plan_t *plan) {
  berth_interpreter_options_t options = {.kernels = berth_kernels, .stream = plan};
  berth_memories_t memories = {.activations = {b->memory, ROOM}};
  assert_int_equal(berth_interpreter_init(&b->interpreter, &b->model, &options, &memories),
                   BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&b->interpreter), BERTH_OK);
}

/* What the model gives for these frames, whole, and a streamed interpreter for it. */
static int open_bench(void **state) {
  bench_t *b = calloc(1, sizeof *b);
  assert_non_null(b);
  b->net = malloc(sizeof *b->net);
  b->memory = aligned_alloc(16, ROOM);
  assert_non_null(b->net);
  assert_non_null(b->memory);
  b->model = make_network(b->net);
  for (uint32_t i = 0; i < sizeof b->frames; i++)
    b->frames[i / sizeof b->frames[0]][i % sizeof b->frames[0]] = (uint8_t)(i * 29 + i / 7);
  prepare(b, NULL);
  for (uint32_t i = 0; i < 2; i++)
    memcpy(berth_interpreter_input(&b->interpreter, i).data, b->frames[i], sizeof b->frames[i]);
  assert_int_equal(berth_interpreter_invoke(&b->interpreter), BERTH_OK);
  memcpy(b->expected, berth_interpreter_output(&b->interpreter, 0).data, sizeof b->expected);
  streamed_open(&b->s, &b->model, berth_kernels);
  streamed_all(&b->s, 1, true, false);
  streamed_finish(&b->s);
  prepare(b, &b->s.plan);
  *state = b;
  return 0;
}

static int close_bench(void **state) {
  bench_t *b = *state;
  streamed_close(&b->s);
  free(b->memory);
  free(b->net);
  free(b);
  return 0;
}

/* Pushes whatever is wanted, up to row `end` of each input; the number of rows pushed. */
static uint32_t feed(bench_t *b, uint32_t end) {
  uint32_t input = berth_interpreter_wanted(&b->interpreter, NULL), row = 0, pushed = 0;
  if (input == BERTH_NOBODY) input = 0;
  do {
    assert_int_equal(berth_interpreter_push_rows(&b->interpreter, input,
                                                 b->frames[input] + row * WIDTH * 4u, 1, NULL),
                     BERTH_OK);
    pushed++;
    input = berth_interpreter_wanted(&b->interpreter, &row);
  } while (input != BERTH_NOBODY && row < end);
  return pushed;
}

static void expect_result(const bench_t *b) {
  assert_memory_equal(berth_interpreter_output(&b->interpreter, 0).data, b->expected,
                      sizeof b->expected);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void no_frame_is_ever_whole(void **state) {
  bench_t *b = *state;
  for (uint32_t i = 0; i < 2; i++) {
    berth_value_t input = berth_interpreter_input(&b->interpreter, i);
    assert_true(input.ring <= 3);
    assert_int_equal(input.rows, HEIGHT);
  }
  assert_true(berth_interpreter_needs(&b->interpreter).peak < sizeof b->frames[0]);
}

static void frames_follow_each_other(void **state) {
  bench_t *b = *state;
  for (int frame = 0; frame < 3; frame++) {
    assert_int_equal(berth_interpreter_wanted(&b->interpreter, NULL), BERTH_NOBODY);
    assert_int_equal(feed(b, HEIGHT), 2 * HEIGHT);
    expect_result(b);
  }
}

static void many_rows_at_once_are_taken_as_far_as_it_is_their_turn(void **state) {
  bench_t *b = *state;
  uint32_t taken[2] = {0, 0}, input = 0, row = 0;
  do {
    uint32_t now = 0;
    assert_int_equal(berth_interpreter_push_rows(&b->interpreter, input,
                                                 b->frames[input] + row * WIDTH * 4u, HEIGHT - row,
                                                 &now),
                     BERTH_OK);
    assert_in_range(now, 1, HEIGHT);
    taken[input] += now;
    input = berth_interpreter_wanted(&b->interpreter, &row);
  } while (input != BERTH_NOBODY);
  assert_int_equal(taken[0], HEIGHT);
  assert_int_equal(taken[1], HEIGHT);
  expect_result(b);
}

static void bad_use_is_refused_and_breaks_nothing(void **state) {
  bench_t *b = *state;
  berth_interpreter_t *it = &b->interpreter;
  const uint8_t *rows = b->frames[0];
  feed(b, 5);
  uint32_t row, input = berth_interpreter_wanted(it, &row), now = 77;
  assert_int_equal(row, 5);
  assert_int_equal(berth_interpreter_push_rows(it, input, rows, HEIGHT - row + 1, &now),
                   BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_push_rows(it, input, rows, UINT32_MAX, &now),
                   BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_push_rows(it, input, rows, 0, &now), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_push_rows(it, input, NULL, 1, &now), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_push_rows(it, 1 - input, rows, 1, &now), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_push_rows(it, 2, rows, 1, &now), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_invoke(it), BERTH_ERROR_ARGUMENT);
  assert_int_equal(now, 77);
  assert_int_equal(berth_interpreter_wanted(it, &row), input);
  assert_int_equal(row, 5);
  /* And it goes on where it was. */
  do {
    assert_int_equal(
        berth_interpreter_push_rows(it, input, b->frames[input] + row * WIDTH * 4u, 1, NULL),
        BERTH_OK);
    input = berth_interpreter_wanted(it, &row);
  } while (input != BERTH_NOBODY);
  expect_result(b);
}

/* Before the first row, too: whose turn it is can be found by trying. */
static void a_first_row_that_is_refused_begins_nothing(void **state) {
  bench_t *b = *state;
  berth_interpreter_t *it = &b->interpreter;
  uint32_t now = 77, refused = 0, first = BERTH_NOBODY;
  uint8_t *before = malloc(ROOM);
  assert_non_null(before);
  memcpy(before, b->memory, ROOM);
  for (uint32_t input = 0; input < 2; input++) {
    /* One row too many is refused even of the one whose turn it is. */
    assert_int_equal(berth_interpreter_push_rows(it, input, b->frames[0], HEIGHT + 1, &now),
                     BERTH_ERROR_ARGUMENT);
    assert_int_equal(berth_interpreter_wanted(it, NULL), BERTH_NOBODY);
  }
  for (uint32_t input = 2; input-- > 0 && first == BERTH_NOBODY;) {
    if (berth_interpreter_push_rows(it, input, b->frames[input], 1, &now) == BERTH_OK) {
      first = input;
      continue;
    }
    refused++;
    assert_int_equal(berth_interpreter_wanted(it, NULL), BERTH_NOBODY);
    assert_int_equal(now, 77);
    assert_memory_equal(b->memory, before, it->needs.extent); /* tensors; the schedule may differ */
  }
  assert_int_equal(refused, 1);
  assert_int_equal(now, 1);
  free(before);
  uint32_t row, input;
  while ((input = berth_interpreter_wanted(it, &row)) != BERTH_NOBODY) {
    assert_int_equal(
        berth_interpreter_push_rows(it, input, b->frames[input] + row * WIDTH * 4u, 1, NULL),
        BERTH_OK);
  }
  expect_result(b);
}

static void reset_gives_up_a_frame(void **state) {
  bench_t *b = *state;
  feed(b, 7);
  assert_int_not_equal(berth_interpreter_wanted(&b->interpreter, NULL), BERTH_NOBODY);
  assert_int_equal(berth_interpreter_reset(&b->interpreter), BERTH_OK);
  assert_int_equal(berth_interpreter_wanted(&b->interpreter, NULL), BERTH_NOBODY);
  assert_int_equal(feed(b, HEIGHT), 2 * HEIGHT);
  expect_result(b);
}

static void without_a_plan_that_pushes_there_is_nothing_to_push(void **state) {
  bench_t *b = *state;
  berth_interpreter_t *it = &b->interpreter;
  prepare(b, NULL);
  assert_int_equal(berth_interpreter_push_rows(it, 0, b->frames[0], 1, NULL), BERTH_ERROR_ARGUMENT);
  it->prepared = false;
  assert_int_equal(berth_interpreter_push_rows(it, 0, b->frames[0], 1, NULL), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_interpreter_push_rows(NULL, 0, b->frames[0], 1, NULL),
                   BERTH_ERROR_ARGUMENT);
}

static void a_plan_of_another_model_is_refused(void **state) {
  bench_t *b = *state;
  berth_stream_run_t runs[2] = {{.first = 0, .last = 1, .block = 1},
                                {.first = 1, .last = 2, .block = 1}};
  const uint32_t circle[3] = {2, 1, 0}, twice[3] = {0, 0, 1};
  const berth_stream_plan_t bad[] = {
      {.step_count = 4, .runs = runs, .run_count = 1, .rings = b->s.rings},
      {.step_count = 3, .runs = runs, .run_count = 2, .rings = b->s.rings},
      {.step_count = 3,
       .runs = &(berth_stream_run_t){2, 1, 1, false, false, false},
       .run_count = 1,
       .rings = b->s.rings},
      {.step_count = 3,
       .runs = &(berth_stream_run_t){0, 3, 1, false, false, false},
       .run_count = 1,
       .rings = b->s.rings},
      {.step_count = 3,
       .runs = &(berth_stream_run_t){0, 2, 0, false, false, false},
       .run_count = 1,
       .rings = b->s.rings},
      {.step_count = 3, .runs = runs, .run_count = 1, .rings = b->s.rings, .order = circle},
      {.step_count = 3, .runs = runs, .run_count = 1, .rings = b->s.rings, .order = twice},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    berth_interpreter_options_t options = {.kernels = berth_kernels, .stream = &bad[i]};
    berth_memories_t memories = {.activations = {b->memory, ROOM}};
    assert_int_equal(berth_interpreter_init(&b->interpreter, &b->model, &options, &memories),
                     BERTH_OK);
    if (berth_interpreter_prepare(&b->interpreter) != BERTH_ERROR_ARGUMENT) fail_msg("plan %zu", i);
  }
}

/* ---- Work ------------------------------------------------------------------------------------ */

typedef struct count {
  uint32_t next[256]; /* row of each operator */
  bool in_order;
} count_t;

static bool note_rows(void *user, const berth_interpreter_t *interpreter, uint32_t op,
                      uint32_t first_row, uint32_t last_row) {
  (void)interpreter;
  count_t *count = user;
  count->in_order = count->in_order && count->next[op] == first_row;
  count->next[op] = last_row;
  return true;
}

/* Multiply-accumulates of one row of an operator's work. */
static uint64_t macs_of(const streamed_t *s, uint32_t op) {
  berth_operator_t what = berth_model_operator(s->model, 0, op);
  berth_value_t out =
      berth_interpreter_tensor(&s->asked, 0, (uint32_t)berth_vector_int(what.outputs, 0));
  if (what.code != BERTH_BUILTIN_CONV_2D && what.code != BERTH_BUILTIN_DEPTHWISE_CONV_2D) return 1;
  berth_value_t filter =
      berth_interpreter_tensor(&s->asked, 0, (uint32_t)berth_vector_int(what.inputs, 1));
  uint64_t taps =
      filter.elements / (uint32_t)filter.dims[what.code == BERTH_BUILTIN_CONV_2D ? 0 : 3];
  return taps * (out.elements / out.rows);
}

/* Rows are made in order, each once, so that a streamed model does the very multiplications that it
 * does whole. */
static void every_row_is_made_once(void **state) {
  (void)state;
  static const char *const models[] = {"mobilenet_v1_0.25_96_int8", "resnet8_int8",
                                       "ds_cnn_kws_int8", "segmentation_float16"};
  void *memory = aligned_alloc(16, 4 * ROOM);
  assert_non_null(memory);
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    char path[512], message[BERTH_HOST_MESSAGE];
    berth_host_map_t map;
    berth_model_t model;
    snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, models[m]);
    if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) fail_msg("%s", message);
    streamed_t s;
    streamed_open(&s, &model, berth_kernels);
    streamed_all(&s, 2, false, false);
    streamed_finish(&s);
    count_t count = {.in_order = true};
    berth_interpreter_options_t options = {
        .kernels = berth_kernels, .stream = &s.plan, .observe_rows = note_rows, .user = &count};
    berth_memories_t memories = {.activations = {memory, 4 * ROOM}};
    berth_interpreter_t interpreter;
    assert_int_equal(berth_interpreter_init(&interpreter, &model, &options, &memories), BERTH_OK);
    assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
    assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
    assert_true(count.in_order);
    uint64_t macs = 0, whole = 0;
    for (uint32_t op = 0; op < s.plan.step_count; op++) {
      berth_operator_t what = berth_model_operator(&model, 0, op);
      berth_value_t out =
          berth_interpreter_tensor(&s.asked, 0, (uint32_t)berth_vector_int(what.outputs, 0));
      if (s.contracts[op].kind != BERTH_ROW_LOCAL || out.constant) continue;
      macs += macs_of(&s, op) * count.next[op];
      whole += macs_of(&s, op) * out.rows;
    }
    print_message("%s: %llu multiply-accumulates\n", models[m], (unsigned long long)macs);
    assert_true(macs > 100000);
    assert_true(macs == whole);
    streamed_close(&s);
    berth_host_unmap(&map);
  }
  free(memory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(no_frame_is_ever_whole, open_bench, close_bench),
      cmocka_unit_test_setup_teardown(frames_follow_each_other, open_bench, close_bench),
      cmocka_unit_test_setup_teardown(many_rows_at_once_are_taken_as_far_as_it_is_their_turn,
                                      open_bench, close_bench),
      cmocka_unit_test_setup_teardown(bad_use_is_refused_and_breaks_nothing, open_bench,
                                      close_bench),
      cmocka_unit_test_setup_teardown(a_first_row_that_is_refused_begins_nothing, open_bench,
                                      close_bench),
      cmocka_unit_test_setup_teardown(reset_gives_up_a_frame, open_bench, close_bench),
      cmocka_unit_test_setup_teardown(without_a_plan_that_pushes_there_is_nothing_to_push,
                                      open_bench, close_bench),
      cmocka_unit_test_setup_teardown(a_plan_of_another_model_is_refused, open_bench, close_bench),
      cmocka_unit_test(every_row_is_made_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
