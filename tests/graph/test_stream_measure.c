/* Rings and overlaps against a record of who writes and reads which row when, on random networks.
 *
 * Brute force: a ring is large enough if no row that will still be read is in a slot that is
 * written, and no larger than from the first row that will be read to the last one written (of
 * operators with several outputs, the largest of theirs). An overlap's distance is the largest at
 * which no byte that will still be read is written, found by trying every one. Where an operator
 * goes through an input and its output in step, that is tried for every number of bytes written. A
 * tensor's lifetime is that of the pieces from one that writes a row of it to the last one that
 * reads this row.
 */
#include "graph/row_network.h"

#define EVENTS_MAX 32768

/* A row of a tensor was written, or read, by piece number `piece`, which is one of step `step`. */
typedef struct event {
  uint32_t piece, step, tensor, row;
  bool written;
} event_t;

typedef struct record {
  const row_network_t *it;
  berth_stream_run_t run;
  berth_stream_t stream;
  event_t events[EVENTS_MAX];
  uint32_t steps[EVENTS_MAX]; /* of each piece */
  uint32_t count, pieces, step;
  uint32_t reversed; /* runs that went in reverse as well */
} record_t;

static void note(record_t *r, uint32_t tensor, int64_t first, int64_t last, bool written) {
  for (int64_t row = first; row < last; row++) {
    assert_true(r->count < EVENTS_MAX);
    r->events[r->count++] = (event_t){r->pieces, r->step, tensor, (uint32_t)row, written};
  }
}

/* What it reads; `by_rows`: what its windows say, though it may be whole. */
static void note_reads(record_t *r, const berth_stream_piece_t *piece, bool by_rows) {
  berth_operator_t op = berth_model_operator(&r->it->model, 0, piece->step);
  const berth_contract_t *contract = &r->it->contracts[piece->step];
  uint32_t output = (uint32_t)berth_vector_int(op.outputs, 0);
  int64_t height = r->it->tensors[output].batch_rows;
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    uint32_t input =
        berth_stream_seen(&r->stream, piece->step, (uint32_t)berth_vector_int(op.inputs, i));
    const berth_window_t *w = &contract->windows[i];
    int64_t rows = r->it->tensors[input].rows, batch = r->it->tensors[input].batch_rows;
    if (contract->kind == BERTH_ACCUMULATING) {
      note(r, input, piece->first_row, piece->last_row, false);
    } else if ((contract->kind == BERTH_WHOLE && !by_rows) || w->extent == 0) {
      note(r, input, 0, rows, false);
    } else {
      for (int64_t row = piece->first_row; row < piece->last_row; row++) {
        int64_t low = row % height * w->numerator / w->denominator + w->offset;
        int64_t high = low + w->extent, base = row / height * batch;
        note(r, input, base + (low < 0 ? 0 : low), base + (high > batch ? batch : high), false);
      }
    }
  }
}

static void note_writes(record_t *r, const berth_stream_piece_t *piece) {
  if (piece->step == BERTH_NOBODY) {
    note(r, piece->input, piece->first_row, piece->last_row, true);
    return;
  }
  berth_operator_t op = berth_model_operator(&r->it->model, 0, piece->step);
  berth_kind_t kind = r->it->contracts[piece->step].kind;
  uint32_t seen =
      berth_stream_seen(&r->stream, piece->step, (uint32_t)berth_vector_int(op.inputs, 0));
  if (kind == BERTH_ACCUMULATING && piece->last_row < r->it->tensors[seen].rows) return;
  for (uint32_t i = 0; i < op.outputs.count; i++) {
    uint32_t output = (uint32_t)berth_vector_int(op.outputs, i);
    bool cut = kind == BERTH_ROW_LOCAL;
    note(r, output, cut ? piece->first_row : 0, cut ? piece->last_row : r->it->tensors[output].rows,
         true);
  }
}

/* A whole operator that makes its rows in order: it looks at everything, and then at what each row
 * needs. */
static void note_ordered(record_t *r, const berth_stream_piece_t *whole) {
  note_reads(r, whole, false);
  for (uint32_t row = whole->first_row; row < whole->last_row; row++) {
    berth_stream_piece_t piece = *whole;
    piece.first_row = row;
    piece.last_row = row + 1;
    note_reads(r, &piece, true);
    berth_operator_t op = berth_model_operator(&r->it->model, 0, piece.step);
    note(r, (uint32_t)berth_vector_int(op.outputs, 0), row, row + 1, true);
    note_reads(r, &piece, true);
  }
}

static uint32_t first_reader(const record_t *r, uint32_t tensor) {
  uint32_t step = 0;
  while (!berth_vector_holds(berth_model_operator(&r->it->model, 0, step).inputs, tensor)) step++;
  return step;
}

/* Walks the run and writes down what happens. What a piece reads is noted before and after what it
 * writes, since it may write while it reads. */
static void walk(record_t *r) {
  r->count = r->pieces = 0;
  assert_int_equal(berth_stream_begin(&r->stream, &r->run), BERTH_OK);
  berth_stream_piece_t piece;
  while (berth_stream_next(&r->stream, &piece)) {
    const berth_contract_t *contract =
        piece.step != BERTH_NOBODY ? &r->it->contracts[piece.step] : NULL;
    r->step = piece.step;
    if (contract != NULL && contract->kind == BERTH_WHOLE && contract->ordered) {
      note_ordered(r, &piece);
    } else {
      if (contract != NULL) note_reads(r, &piece, false);
      note_writes(r, &piece);
      if (contract != NULL) note_reads(r, &piece, false);
    }
    assert_true(r->pieces < EVENTS_MAX);
    r->steps[r->pieces++] = piece.step != BERTH_NOBODY ? piece.step : first_reader(r, piece.input);
  }
}

/* Would a ring of so many rows lose one that is read later? */
static bool ring_works(const record_t *r, uint32_t tensor, uint32_t ring) {
  uint32_t slots[ROW_NETWORK_ROWS];
  for (uint32_t i = 0; i < ROW_NETWORK_ROWS; i++) slots[i] = UINT32_MAX;
  for (uint32_t i = 0; i < r->count; i++) {
    const event_t *event = &r->events[i];
    if (event->tensor != tensor) continue;
    if (event->written) {
      slots[event->row % ring] = event->row;
    } else if (slots[event->row % ring] != event->row) {
      return false;
    }
  }
  return true;
}

/* The most rows, from the first one that is read later to the last one written, and what one piece
 * writes at once. */
static uint32_t span_of(const record_t *r, uint32_t tensor) {
  uint32_t most = 0, at_once = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const event_t *event = &r->events[i];
    if (event->tensor != tensor || !event->written) continue;
    at_once =
        i > 0 && event[-1].written && event[-1].tensor == tensor && event[-1].piece == event->piece
            ? at_once + 1
            : 1;
    uint32_t first = event->row + 1 - at_once;
    for (uint32_t k = i + 1; k < r->count; k++) {
      const event_t *later = &r->events[k];
      if (later->tensor == tensor && !later->written && later->row < first) first = later->row;
    }
    if (event->row + 1 - first > most) most = event->row + 1 - first;
  }
  return most;
}

/* The step that makes `made` in step with `read`, or UINT32_MAX. */
static uint32_t in_step_with(const record_t *r, uint32_t made, uint32_t read) {
  for (uint32_t step = r->run.first; step <= r->run.last; step++) {
    berth_operator_t op = berth_model_operator(&r->it->model, 0, step);
    if (op.outputs.count != 1 || (uint32_t)berth_vector_int(op.outputs, 0) != made) continue;
    uint32_t times = 0, permitted = 0;
    for (uint32_t i = 0; i < op.inputs.count; i++) {
      if ((uint32_t)berth_vector_int(op.inputs, i) != read) continue;
      times++;
      permitted += r->it->contracts[step].in_step >> i & 1u;
    }
    if (times == 1 && permitted == 1) return step;
  }
  return UINT32_MAX;
}

/* When the first n bytes are written, so many of the input in proportion have been read. */
static bool step_works(const record_t *r, uint32_t made, uint32_t read, int64_t distance) {
  const berth_stream_tensor_t *to = &r->it->tensors[made], *from = &r->it->tensors[read];
  int64_t out = (int64_t)to->rows * to->row_bytes, in = (int64_t)from->rows * from->row_bytes;
  for (int64_t n = 1; n <= out; n++) {
    int64_t unread = n * in / out; /* from there on */
    if (unread < in && distance < in && distance + n > unread) return false;
  }
  return true;
}

/* Would `made`, `distance` bytes after the start of `read`, spoil a byte that is read later? */
static bool distance_works(const record_t *r, uint32_t made, uint32_t read, int64_t distance) {
  uint32_t in_step = r->run.reverse ? UINT32_MAX : in_step_with(r, made, read);
  if (in_step != UINT32_MAX && !step_works(r, made, read, distance)) return false;
  int64_t made_bytes = r->it->tensors[made].row_bytes, read_bytes = r->it->tensors[read].row_bytes;
  int64_t dead[2] = {INT64_MAX, INT64_MIN}; /* bytes of `read` from there to there are gone */
  for (uint32_t i = 0; i < r->count; i++) {
    const event_t *event = &r->events[i];
    if (event->tensor == made && event->written) {
      int64_t at = distance + event->row * made_bytes;
      if (at < dead[0]) dead[0] = at;
      if (at + made_bytes > dead[1]) dead[1] = at + made_bytes;
    } else if (event->tensor == read && !event->written && event->step != in_step) {
      int64_t at = event->row * read_bytes;
      if (at < dead[1] && dead[0] < at + read_bytes) return false;
    }
  }
  return true;
}

/* The least and the largest step of the pieces while some row of the tensor is needed. */
static void check_lifetime(const record_t *r, uint32_t tensor, uint32_t first, uint32_t last,
                           bool exactly) {
  uint32_t least = UINT32_MAX, most = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const event_t *event = &r->events[i];
    if (event->tensor != tensor || !event->written) continue;
    uint32_t end = event->piece;
    for (uint32_t k = i + 1; k < r->count; k++) {
      const event_t *later = &r->events[k];
      bool same = later->tensor == tensor && later->row == event->row && !later->written;
      if (same && later->piece > end) end = later->piece;
    }
    for (uint32_t piece = event->piece; piece <= end; piece++) {
      if (r->steps[piece] < least) least = r->steps[piece];
      if (r->steps[piece] > most) most = r->steps[piece];
    }
  }
  assert_true(first <= least && last >= most && first >= r->run.first && last <= r->run.last);
  if (exactly) assert_true(first == least && last == most);
}

static bool makes_one(const record_t *r, uint32_t tensor) {
  for (uint32_t step = r->run.first; step <= r->run.last; step++) {
    berth_vector_t outputs = berth_model_operator(&r->it->model, 0, step).outputs;
    for (uint32_t k = 0; k < outputs.count; k++) {
      if ((uint32_t)berth_vector_int(outputs, k) == tensor) return outputs.count == 1;
    }
  }
  return true;
}

static void check_overlap(const record_t *r, const berth_stream_overlap_t *overlap) {
  int64_t made =
      (int64_t)r->it->tensors[overlap->made].rows * r->it->tensors[overlap->made].row_bytes;
  int64_t read =
      (int64_t)r->it->tensors[overlap->read].rows * r->it->tensors[overlap->read].row_bytes;
  int64_t most = overlap->distance < read ? overlap->distance : read;
  for (int64_t distance = -made - 1; distance <= most; distance++) {
    assert_true(distance_works(r, overlap->made, overlap->read, distance));
  }
  /* Rows come in order: one byte more spoils something, unless nothing is read any more, or what
   * goes in step is smaller than what it reads: a few bytes more are nothing to rely on. */
  bool in_step = in_step_with(r, overlap->made, overlap->read) != UINT32_MAX;
  if (overlap->distance != INT64_MAX && !(in_step && overlap->distance == 0))
    assert_false(distance_works(r, overlap->made, overlap->read, overlap->distance + 1));
}

/* From the last row to the first: all that is said, and no byte less. */
static void check_reversed(record_t *r, const berth_stream_overlap_t *overlap) {
  int64_t read =
      (int64_t)r->it->tensors[overlap->read].rows * r->it->tensors[overlap->read].row_bytes;
  r->run.reverse = true;
  walk(r);
  for (int64_t distance = overlap->reversed; distance <= read + 1; distance++) {
    assert_true(distance_works(r, overlap->made, overlap->read, distance));
  }
  assert_false(distance_works(r, overlap->made, overlap->read, overlap->reversed - 1));
  r->run.reverse = false;
  r->reversed++;
}

static void check_run(record_t *r, const berth_stream_run_t *run) {
  r->run = *run;
  size_t bytes;
  assert_int_equal(berth_stream_measure_workspace(&r->stream, &bytes), BERTH_OK);
  void *memory = malloc(bytes + 1);
  uint32_t rings[NETWORK_TENSORS], firsts[NETWORK_TENSORS], lasts[NETWORK_TENSORS];
  for (int i = 0; i < NETWORK_TENSORS; i++) rings[i] = UINT32_MAX - 1, firsts[i] = UINT32_MAX;
  berth_stream_measure_t measure = {.rings = rings, .firsts = firsts, .lasts = lasts};
  assert_int_equal(berth_stream_measure(&r->stream, &r->it->network, run, memory, bytes, &measure),
                   BERTH_OK);
  free(memory);
  walk(r);
  berth_vector_t outputs = berth_model_subgraph(&r->it->model, 0).outputs;
  for (uint32_t i = 0; i < r->it->tensor_count; i++) {
    if (rings[i] == UINT32_MAX - 1 || rings[i] == BERTH_STREAM_NOTHING) continue;
    bool followed = firsts[i] != UINT32_MAX;
    if (followed) check_lifetime(r, i, firsts[i], lasts[i], makes_one(r, i));
    /* An output all rows of which are kept is read at the end, also one that might go by rows. */
    if (rings[i] == 0 && berth_vector_holds(outputs, i)) assert_false(followed);
    if (rings[i] == 0) continue;
    assert_true(followed);
    assert_true(rings[i] < r->it->tensors[i].rows);
    assert_true(ring_works(r, i, rings[i]));
    if (makes_one(r, i)) assert_int_equal(rings[i], span_of(r, i));
  }
  for (uint32_t i = 0; i < measure.overlap_count; i++) check_overlap(r, &measure.overlaps[i]);
  for (uint32_t i = 0; i < measure.overlap_count; i++) {
    if (measure.overlaps[i].reversed != INT64_MAX) check_reversed(r, &measure.overlaps[i]);
  }
}

/* Lets some operators go in step with an input, where rows agree or they are whole, and some whole
 * ones make their rows in order, from whatever rows. */
static void permit(row_network_t *it) {
  for (uint32_t i = 0; i < it->op_count; i++) {
    berth_operator_t op = berth_model_operator(&it->model, 0, i);
    berth_contract_t *contract = &it->contracts[i];
    contract->known = true;
    bool whole = contract->kind == BERTH_WHOLE;
    if (op.outputs.count > 1 || contract->kind == BERTH_ACCUMULATING) continue;
    const berth_stream_tensor_t *to = &it->tensors[berth_vector_int(op.outputs, 0)];
    for (uint32_t k = 0; k < op.inputs.count; k++) {
      const berth_stream_tensor_t *from = &it->tensors[berth_vector_int(op.inputs, k)];
      const berth_window_t *w = &contract->windows[k];
      bool alike = w->numerator == 1 && w->denominator == 1 && w->offset == 0 && w->extent == 1;
      bool can = whole || (alike && from->rows == to->rows);
      if (can && row_random(it, 3) == 0) contract->in_step |= 1u << k;
    }
    if (!whole || row_random(it, 3) == 0) continue;
    contract->ordered = true;
    const berth_stream_tensor_t *from = &it->tensors[berth_vector_int(op.inputs, 0)];
    contract->windows[0] = (berth_window_t){1, 1, 0, 0};
    if (from->rows / from->batch_rows != to->rows / to->batch_rows) continue;
    int32_t extent = (int32_t)row_random(it, 5);
    int32_t before = extent > 1 ? (int32_t)row_random(it, (uint32_t)extent) : 0;
    int32_t offset = before > 0 ? -before : (int32_t)row_random(it, 3);
    contract->windows[0] = (berth_window_t){(int32_t)row_random(it, 4),
                                            1 + (int32_t)row_random(it, 3), offset, extent};
  }
}

static void rings_and_overlaps_are_as_large_as_needed_and_no_larger(void **state) {
  (void)state;
  row_network_t *it = malloc(sizeof *it);
  record_t *r = malloc(sizeof *r);
  assert_true(it != NULL && r != NULL);
  r->reversed = 0;
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    row_network_random(it, seed);
    permit(it);
    r->it = it;
    uint32_t last = it->op_count - 1;
    size_t bytes;
    assert_int_equal(berth_stream_workspace(&it->network, 0, last, &bytes), BERTH_OK);
    void *memory = malloc(bytes);
    assert_int_equal(berth_stream_init(&it->network, 0, last, memory, bytes, &r->stream), BERTH_OK);
    for (uint32_t n = 0; n < 4; n++) {
      uint32_t a = row_random(it, it->op_count), b = row_random(it, it->op_count);
      if (n == 3) b = a;
      berth_stream_run_t run = {.first = a < b ? a : b,
                                .last = a < b ? b : a,
                                .block = 1 + row_random(it, 3),
                                .push_inputs = n == 1 ? 1u + row_random(it, 3) : 0,
                                .pull_outputs = n == 2};
      check_run(r, &run);
    }
    free(memory);
  }
  assert_true(r->reversed > 100);
  free(r);
  free(it);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rings_and_overlaps_are_as_large_as_needed_and_no_larger),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
