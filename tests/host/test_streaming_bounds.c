/* A network of very many operators with skips: what a search for what to stream may cost is bounded
 * by the work limit, all that is tried together, and the plan is the same every time.
 */
#include "test.h"

#define BUILDER_ROOM (1u << 20)
#include "berth/schema.h"
#include "host/streaming_order.h"
#include "host/streaming_verify.h"
#include "model/builder.h"
#include "model/fields.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OPERATORS 1000u
#define ROWS      32
#define SPAN      50u /* operators that a skip leads over, at most */

static char path[] = "/tmp/berth-bounds-XXXXXX";

static void put_pool(builder_t *file, uint32_t op) {
  uint32_t options = put_child(file, op, OPERATOR_OPTIONS, 8);
  put_field(file, options, BERTH_POOL_2D_PADDING, 1, BERTH_PADDING_SAME);
  put_field(file, options, BERTH_POOL_2D_STRIDE_H, 4, 1);
  put_field(file, options, BERTH_POOL_2D_STRIDE_W, 4, 1);
  put_field(file, options, BERTH_POOL_2D_FILTER_H, 4, 3);
  put_field(file, options, BERTH_POOL_2D_FILTER_W, 4, 3);
}

/* Pools and sums by turns; a sum's other operand is some steps old. */
static void put_operator(builder_t *file, uint32_t list, uint32_t i, uint32_t *chance) {
  uint32_t op = put_element(file, list, i, 13);
  *chance = *chance * 1664525u + 1013904223u;
  uint32_t back = 1 + (*chance >> 16) % SPAN;
  put_field(file, op, OPERATOR_CODE_INDEX, 4, i % 2);
  put_field(file, op, OPERATOR_OPTIONS_TYPE, 1, 1);
  put_ints(file, op, OPERATOR_OUTPUTS, i + 1);
  if (i % 2 == 0) {
    put_ints(file, op, OPERATOR_INPUTS, i);
    put_pool(file, op);
  } else {
    put_ints(file, op, OPERATOR_INPUTS, i, i > back ? i - back : 0);
  }
}

static void make_network(builder_t *file) {
  uint32_t chance = 1, root = put(file, 4, 0);
  put(file, 4, 0x334c4654); /* TFL3 */
  uint32_t model = put_table(file, 8);
  poke(file, root, 4, model - root);
  put_field(file, model, MODEL_VERSION, 4, 3);
  uint32_t codes = put_list(file, model, MODEL_OPERATOR_CODES, 2);
  uint32_t subgraphs = put_list(file, model, MODEL_SUBGRAPHS, 1);
  uint32_t buffers = put_list(file, model, MODEL_BUFFERS, 1);
  put_field(file, put_element(file, codes, 0, 4), CODE_NEW, 4, BERTH_BUILTIN_MAX_POOL_2D);
  put_field(file, put_element(file, codes, 1, 4), CODE_NEW, 4, BERTH_BUILTIN_ADD);
  uint32_t table = put_element(file, subgraphs, 0, 5);
  put_ints(file, table, SUBGRAPH_INPUTS, 0);
  put_ints(file, table, SUBGRAPH_OUTPUTS, OPERATORS);
  uint32_t tensors = put_list(file, table, SUBGRAPH_TENSORS, OPERATORS + 1);
  uint32_t list = put_list(file, table, SUBGRAPH_OPERATORS, OPERATORS);
  for (uint32_t i = 0; i <= OPERATORS; i++) {
    uint32_t tensor = put_element(file, tensors, i, 9);
    put_field(file, tensor, TENSOR_TYPE, 1, BERTH_TYPE_FLOAT32);
    put_field(file, tensor, TENSOR_BUFFER, 4, 0);
    put_ints(file, tensor, TENSOR_SHAPE, 1, ROWS, 8, 4);
  }
  for (uint32_t i = 0; i < OPERATORS; i++) put_operator(file, list, i, &chance);
  put_element(file, buffers, 0, 1);
}

static int make_file(void **state) {
  (void)state;
  builder_t *file = calloc(1, sizeof *file);
  int handle = mkstemp(path);
  if (file == NULL || handle < 0) return -1;
  make_network(file);
  FILE *stream = fdopen(handle, "wb");
  bool good = fwrite(file->bytes, 1, file->size, stream) == file->size;
  free(file);
  return fclose(stream) == 0 && good ? 0 : -1;
}

static int remove_file(void **state) {
  (void)state;
  return unlink(path);
}

/* The chosen plan's peak; the work of the last model's searches, of all its ways. */
static uint64_t stream(uint64_t work_limit, uint64_t *work, bool *exact) {
  const berth_subject_options_t options = {.keep_foldable = false};
  const berth_streaming_options_t wanted = {.mode = BERTH_STREAMING_MAX,
                                            .push_inputs = true,
                                            .pull_outputs = true,
                                            .work_limit = work_limit};
  berth_subject_t subject;
  berth_streaming_t streaming;
  berth_complaint_t complaint;
  if (berth_streaming_subject_open(path, &options, &wanted, &subject, &complaint) != BERTH_OK ||
      berth_streaming_make(&subject, &wanted, &streaming, &complaint) != BERTH_OK) {
    fail_msg("%s", complaint.text);
  }
  *work = streaming.work;
  *exact = streaming.result.exact;
  uint64_t peak = streaming.trials[streaming.chosen].peak;
  berth_subject_close(&subject);
  berth_streaming_free(&streaming);
  return peak;
}

static void all_that_is_tried_stays_within_some_work(void **state) {
  (void)state;
  static const uint64_t limits[] = {1000, 20000, 100000};
  uint64_t calls = OPERATORS * ROWS; /* of one walk through everything */
  uint64_t last = UINT64_MAX;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    uint64_t work, again;
    bool exact;
    uint64_t peak = stream(limits[i], &work, &exact);
    assert_false(exact);
    /* One way may use it up, the next one begins before it is; what is found is walked again. */
    assert_true(work <= 3 * (limits[i] + BERTH_STREAM_CHOICES_MAX * calls));
    assert_int_equal(stream(limits[i], &again, &exact), peak);
    assert_int_equal(again, work);
    assert_true(peak <= last);
    last = peak;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_that_is_tried_stays_within_some_work),
  };
  return cmocka_run_group_tests(tests, make_file, remove_file);
}
