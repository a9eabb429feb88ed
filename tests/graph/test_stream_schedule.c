/* The row schedule against the definition of the windows, on random networks: each row is made once
 * and in order, after everything that it reads. */
#include "graph/row_network.h"

/* What has happened in a run, seen from outside. */
typedef struct trace {
  const row_network_t *it;
  berth_stream_run_t run;
  uint32_t most;                                /* rows of a piece */
  bool made[NETWORK_TENSORS][ROW_NETWORK_ROWS]; /* rows that exist */
  uint32_t done[NETWORK_OPS];                   /* rows of work of each operator */
} trace_t;

static bool is_made_in_run(const trace_t *t, uint32_t tensor) {
  for (uint32_t step = t->run.first; step <= t->run.last; step++) {
    berth_vector_t outputs = berth_model_operator(&t->it->model, 0, step).outputs;
    for (uint32_t i = 0; i < outputs.count; i++) {
      if ((uint32_t)berth_vector_int(outputs, i) == tensor) return true;
    }
  }
  return false;
}

/* Rows [first, last) of an input exist? */
static void assert_there(const trace_t *t, uint32_t tensor, int64_t first, int64_t last) {
  for (int64_t row = first; row < last; row++) assert_true(t->made[tensor][row]);
}

/* All that output row `row` of a row-local operator reads, from the words in contract.h. */
static void assert_window(const trace_t *t, uint32_t step, uint32_t row) {
  berth_operator_t op = berth_model_operator(&t->it->model, 0, step);
  uint32_t output = (uint32_t)berth_vector_int(op.outputs, 0);
  uint32_t height = t->it->tensors[output].batch_rows;
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    uint32_t input = (uint32_t)berth_vector_int(op.inputs, i);
    const berth_window_t *w = &t->it->contracts[step].windows[i];
    int64_t rows = t->it->tensors[input].batch_rows, low = 0, high = rows;
    int64_t base = (int64_t)(row / height) * rows, r = row % height;
    if (w->extent == 0) {
      assert_there(t, input, 0, t->it->tensors[input].rows);
      continue;
    }
    low = r * w->numerator / w->denominator + w->offset;
    high = low + w->extent;
    assert_there(t, input, base + (low < 0 ? 0 : low), base + (high > rows ? rows : high));
  }
}

static void follow(trace_t *t, berth_stream_t *stream, const berth_stream_piece_t *piece) {
  if (piece->step == BERTH_NOBODY) {
    for (uint32_t row = piece->first_row; row < piece->last_row; row++) {
      assert_false(t->made[piece->input][row]);
      assert_true(row == 0 || t->made[piece->input][row - 1]);
      t->made[piece->input][row] = true;
    }
    return;
  }
  berth_operator_t op = berth_model_operator(&t->it->model, 0, piece->step);
  const berth_contract_t *contract = &t->it->contracts[piece->step];
  assert_false(berth_stream_is_view(stream, piece->step));
  assert_true(piece->first_row <= piece->last_row);
  if (contract->kind != BERTH_WHOLE) {
    assert_true(piece->first_row < piece->last_row);
    assert_true(piece->last_row - piece->first_row <= t->most);
    assert_int_equal(piece->first_row, t->done[piece->step]);
  }
  t->done[piece->step] = contract->kind == BERTH_WHOLE ? 1 : piece->last_row;

  uint32_t input = (uint32_t)berth_vector_int(op.inputs, 0);
  bool ready = contract->kind != BERTH_ACCUMULATING;
  if (contract->kind == BERTH_ROW_LOCAL) {
    for (uint32_t row = piece->first_row; row < piece->last_row; row++)
      assert_window(t, piece->step, row);
  } else if (contract->kind == BERTH_ACCUMULATING) {
    input = berth_stream_seen(stream, piece->step, input);
    assert_there(t, input, piece->first_row, piece->last_row);
    ready = piece->last_row == t->it->tensors[input].rows;
  } else {
    assert_there(t, input, 0, t->it->tensors[input].rows);
  }
  for (uint32_t i = 0; i < op.outputs.count && ready; i++) {
    uint32_t output = (uint32_t)berth_vector_int(op.outputs, i);
    bool all = contract->kind == BERTH_ACCUMULATING;
    uint32_t first = all ? 0 : piece->first_row;
    uint32_t last = all ? t->it->tensors[output].rows : piece->last_row;
    for (uint32_t row = first; row < last; row++) {
      assert_false(t->made[output][row]);
      t->made[output][row] = true;
    }
  }
}

/* Everything was made, but RESHAPEs whose readers saw through them. */
static void assert_complete(const trace_t *t, berth_stream_t *stream) {
  for (uint32_t step = t->run.first; step <= t->run.last; step++) {
    berth_operator_t op = berth_model_operator(&t->it->model, 0, step);
    uint32_t output = (uint32_t)berth_vector_int(op.outputs, 0);
    if (berth_stream_is_view(stream, step)) continue;
    assert_there(t, output, 0, t->it->tensors[output].rows);
  }
  if (t->run.push_inputs != 0) {
    berth_vector_t inputs = berth_model_subgraph(&t->it->model, 0).inputs;
    for (uint32_t i = 0; i < inputs.count; i++) {
      for (uint32_t row = 0; row < t->it->tensors[i].rows; row++) {
        assert_true(t->it->readers[i] == 0 || t->made[i][row]);
      }
    }
  }
}

#define JOINED 5u /* rows that pieces in one call may have */

/* Walks a run, in pieces of the schedule and in joined ones; before it, all that it doesn't make
 * itself is there. */
static void check_run(const row_network_t *it, berth_stream_run_t run, uint32_t first,
                      uint32_t last) {
  size_t bytes;
  assert_int_equal(berth_stream_workspace(&it->network, first, last, &bytes), BERTH_OK);
  void *memory = malloc(bytes);
  assert_non_null(memory);
  berth_stream_t stream;
  assert_int_equal(berth_stream_init(&it->network, first, last, memory, bytes, &stream), BERTH_OK);
  for (int round = 0; round < 2; round++) { /* a schedule can be started anew */
    trace_t *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->it = it;
    t->run = run;
    t->most = round == 0 || JOINED < run.block ? run.block : JOINED;
    assert_int_equal(berth_stream_begin(&stream, &run), BERTH_OK);
    for (uint32_t i = 0; i < it->tensor_count; i++) {
      bool pushed = false;
      for (uint32_t n = 0; n < stream.input_count; n++)
        pushed = pushed || (stream.nodes[n].tensor == i && stream.nodes[n].active);
      if (pushed || is_made_in_run(t, i)) continue;
      memset(t->made[i], true, sizeof t->made[i]);
    }
    berth_stream_piece_t piece;
    for (uint32_t step = run.first; step <= run.last; step++) {
      berth_stream_set_join(&stream, step, JOINED);
    }
    uint32_t before = BERTH_NOBODY, rows = 0; /* of the piece before */
    while (round == 0 ? berth_stream_next(&stream, &piece) : berth_stream_join(&stream, &piece)) {
      bool could_join = piece.step != BERTH_NOBODY && piece.step == before &&
                        it->contracts[before].kind == BERTH_ROW_LOCAL;
      if (round > 0 && could_join) {
        assert_true(rows + piece.last_row - piece.first_row > JOINED - run.block);
      }
      before = piece.step;
      rows = piece.last_row - piece.first_row;
      follow(t, &stream, &piece);
    }
    assert_complete(t, &stream);
    free(t);
  }
  free(memory);
}

static void every_row_is_made_once_and_after_all_that_it_reads(void **state) {
  (void)state;
  row_network_t *it = malloc(sizeof *it);
  assert_non_null(it);
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    row_network_random(it, seed);
    uint32_t last = it->op_count - 1;
    for (uint32_t block = 1; block <= 3; block++) {
      check_run(it,
                (berth_stream_run_t){0, last, block, seed % 2 == 0 ? UINT32_MAX : 0, seed % 3 == 0,
                                     false},
                0, last);
    }
    uint32_t a = row_random(it, it->op_count), b = row_random(it, it->op_count);
    if (a > b) {
      uint32_t c = a;
      a = b, b = c;
    }
    check_run(it, (berth_stream_run_t){a, b, 1, 0, false, false}, 0, last);
    check_run(it, (berth_stream_run_t){a, b, 2, 0, false, false}, a, b);
  }
  free(it);
}

/* Conv 3x3 on a picture of 6 rows, twice, with a skip around both. */
static void rows_are_made_no_sooner_than_they_are_read(void **state) {
  (void)state;
  row_network_t *it = calloc(1, sizeof *it);
  assert_non_null(it);
  row_shape_t shape = {1, 6, 4, 2};
  for (int i = 0; i < 4; i++) row_tensor(it, shape);
  row_op(it, 0, UINT32_MAX, 1, UINT32_MAX)->windows[0] = (berth_window_t){1, 1, -1, 3};
  row_op(it, 1, UINT32_MAX, 2, UINT32_MAX)->windows[0] = (berth_window_t){1, 1, -1, 3};
  row_op(it, 2, 0, 3, UINT32_MAX);
  it->file.subgraphs[0].inputs = "0";
  it->file.subgraphs[0].outputs = "3";
  it->model = build(&it->file);
  it->network = (berth_stream_network_t){
      .model = &it->model, .contracts = it->contracts, .tensors = it->tensors};
  size_t bytes;
  assert_int_equal(berth_stream_workspace(&it->network, 0, 2, &bytes), BERTH_OK);
  void *memory = malloc(bytes);
  berth_stream_t stream;
  assert_int_equal(berth_stream_init(&it->network, 0, 2, memory, bytes, &stream), BERTH_OK);
  const berth_stream_run_t run = {0, 2, 1, 1, false, false};
  assert_int_equal(berth_stream_begin(&stream, &run), BERTH_OK);
  const char *expected = "i0 i1 a0 i2 a1 b0 c0 i3 a2 b1 c1 i4 a3 b2 c2 i5 a4 b3 c3 a5 b4 c4 b5 c5 ";
  char text[256] = "";
  berth_stream_piece_t piece;
  while (berth_stream_next(&stream, &piece)) {
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%c%u ",
             piece.step == BERTH_NOBODY ? 'i' : (int)('a' + piece.step), piece.first_row);
  }
  assert_string_equal(text, expected);
  free(memory);
  free(it);
}

/* Row-local, and somebody reads what it makes, but not the caller; nor does it remember rows. */
static bool may_reverse(const row_network_t *it, uint32_t step) {
  berth_subgraph_t graph = berth_model_subgraph(&it->model, 0);
  berth_vector_t outputs = berth_model_operator(&it->model, 0, step).outputs;
  uint32_t readers = 0;
  for (uint32_t i = 0; i < outputs.count; i++) {
    uint32_t tensor = (uint32_t)berth_vector_int(outputs, i);
    if (berth_vector_holds(graph.outputs, tensor)) return false;
    readers += it->readers[tensor];
  }
  return it->contracts[step].kind == BERTH_ROW_LOCAL && it->contracts[step].state == 0 &&
         outputs.count == 1 && readers > 0;
}

static void a_run_of_one_step_goes_in_reverse_too(void **state) {
  (void)state;
  row_network_t *it = malloc(sizeof *it);
  assert_non_null(it);
  uint32_t reversed = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    row_network_random(it, seed);
    uint32_t last = it->op_count - 1;
    it->contracts[seed % it->op_count].state = seed % 3 == 0 ? 4 : 0;
    size_t bytes;
    assert_int_equal(berth_stream_workspace(&it->network, 0, last, &bytes), BERTH_OK);
    void *memory = malloc(bytes);
    berth_stream_t stream;
    assert_int_equal(berth_stream_init(&it->network, 0, last, memory, bytes, &stream), BERTH_OK);
    for (uint32_t step = 0; step <= last; step++) {
      berth_stream_run_t run = {step, step, 1 + (uint32_t)(seed % 3), 0, false, true};
      bool may = may_reverse(it, step);
      assert_int_equal(berth_stream_begin(&stream, &run), may ? BERTH_OK : BERTH_ERROR_ARGUMENT);
      if (!may) continue;
      berth_stream_piece_t piece;
      uint32_t left =
          it->tensors[berth_vector_int(berth_model_operator(&it->model, 0, step).outputs, 0)].rows;
      berth_stream_set_join(&stream, step, seed % 2 ? 5 : 0);
      while (berth_stream_join(&stream, &piece)) {
        assert_int_equal(piece.step, step);
        assert_int_equal(piece.last_row, left);
        assert_int_equal(piece.first_row, left > run.block ? left - run.block : 0);
        left = piece.first_row;
      }
      assert_int_equal(left, 0);
      reversed++;
      run.last++;
      if (step < last) assert_int_equal(berth_stream_begin(&stream, &run), BERTH_ERROR_ARGUMENT);
    }
    free(memory);
  }
  assert_true(reversed > 300);
  free(it);
}

static void what_cannot_be_is_refused(void **state) {
  (void)state;
  row_network_t *it = malloc(sizeof *it);
  assert_non_null(it);
  row_network_random(it, 7);
  uint32_t last = it->op_count - 1;
  size_t bytes;
  assert_int_equal(berth_stream_workspace(&it->network, 0, last + 1, &bytes), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_stream_workspace(&it->network, 0, last, &bytes), BERTH_OK);
  uint64_t *memory = malloc(bytes);
  berth_stream_t stream;
  assert_int_equal(berth_stream_init(&it->network, 0, last, memory, bytes - 1, &stream),
                   BERTH_ERROR_MEMORY);
  assert_int_equal(berth_stream_init(&it->network, 0, last, memory, bytes, &stream), BERTH_OK);
  assert_int_equal(berth_stream_begin(&stream, &(berth_stream_run_t){0, last + 1, 1, 0, 0, 0}),
                   BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_stream_begin(&stream, &(berth_stream_run_t){0, last, 0, 0, 0, 0}),
                   BERTH_ERROR_ARGUMENT);
  free(memory);
  free(it);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_row_is_made_once_and_after_all_that_it_reads),
      cmocka_unit_test(rows_are_made_no_sooner_than_they_are_read),
      cmocka_unit_test(a_run_of_one_step_goes_in_reverse_too),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
