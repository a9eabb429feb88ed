/* The guard watches operators that run row by row piece by piece: each way of breaking the contract
 * between two rows is found, and named. The network is RELU, RELU6 and a MEAN over all rows. */
#include "run/random_network.h"
#include "run/streamed.h"

#include "berth/guard.h"
#include "operators/kernels.h"

#define ROOM 65536u

/* ---- Operators that break their contract ----------------------------------------------------- */

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0);
  berth_contract_elementwise(contract);
  return berth_set_shape(call, 0, input.rank, input.dims);
}

static berth_status_t copy_rows(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  for (uint32_t row = call->first_row; row < call->last_row; row++)
    memcpy(berth_row(&output, row), berth_row(&input, row), output.row_bytes);
  return BERTH_OK;
}

/* Leaves the last byte of row 3. */
static berth_status_t leave_a_byte(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  for (uint32_t row = call->first_row; row < call->last_row; row++)
    memcpy(berth_row(&output, row), berth_row(&input, row), output.row_bytes - (row == 3));
  return BERTH_OK;
}

/* Also reads the row before, which its window does not name. */
static berth_status_t read_another_row(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  copy_rows(call);
  for (uint32_t row = call->first_row; row < call->last_row; row++)
    if (row > 0)
      *(uint8_t *)berth_row(&output, row) ^= *(const uint8_t *)berth_row(&input, row - 1);
  return BERTH_OK;
}

/* Also writes the row before, which is done. */
static berth_status_t write_another_row(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  copy_rows(call);
  if (call->first_row > 0) *(uint8_t *)berth_row(&output, call->first_row - 1) ^= 1;
  return BERTH_OK;
}

/* Changes what it reads. */
static berth_status_t write_the_input(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0);
  copy_rows(call);
  *(uint8_t *)berth_row(&input, call->first_row) ^= 1;
  return BERTH_OK;
}

/* Leaves a byte of row 3, which is suspicious; when it is to begin anew, it fails. */
static bool has_left;
static berth_status_t leave_and_fail(berth_call_t *call) {
  if (has_left && call->first_row == 0) return berth_refuse(call, "fails the second time");
  has_left = has_left || call->first_row == 3;
  return leave_a_byte(call);
}

/* A MEAN that forgets to begin: it counts on what is in its scratch. */
static berth_status_t begin_nothing(berth_call_t *call) {
  (void)call;
  return BERTH_OK;
}

/* ---- The network ----------------------------------------------------------------------------- */

typedef struct found {
  berth_status_t status; /* of the invoke */
  uint32_t count;
  berth_guard_finding_t first;
} found_t;

static void on_finding(void *user, const berth_guard_finding_t *finding) {
  found_t *found = user;
  if (found->count++ == 0) found->first = *finding;
}

static berth_model_t make_network(random_network_t *net) {
  memset(net, 0, sizeof *net);
  net->type = BERTH_TYPE_INT8;
  int32_t input = random_activation(net, 8, 3, 4);
  static const berth_builtin_t codes[] = {BERTH_BUILTIN_RELU, BERTH_BUILTIN_RELU6};
  for (int i = 0; i < 2; i++) {
    random_op_t *op = random_op(net, codes[i]);
    random_reads(net, op, input);
    input = random_writes(op, random_activation(net, 8, 3, 4));
  }
  int32_t axes = random_ints(net, 2, (const int32_t[]){1, 2});
  random_op_t *op = random_op(net, BERTH_BUILTIN_MEAN);
  random_reads(net, op, input);
  random_reads(net, op, axes);
  random_option(op, BERTH_REDUCER_KEEP_DIMS, 1, 1);
  random_writes(op, random_activation(net, 1, 1, 4));
  return random_emit(net, 1);
}

/* What the guard finds in one invoke, row by row, if `custom` (or nothing) takes an operator's
 * place.
 */
static found_t find(const berth_kernel_t *custom, bool push, bool fast) {
  random_network_t *net = malloc(sizeof *net);
  uint8_t *memory = aligned_alloc(4096, 4 * ROOM);
  assert_non_null(net);
  assert_non_null(memory);
  memset(memory, 0, 4 * ROOM);
  berth_model_t model = make_network(net);
  streamed_t s;
  streamed_open(&s, &model, berth_kernels);
  streamed_all(&s, 1, push, false);
  streamed_finish(&s);
  /* One row more than they need, so that the row before the one that is made is still there. */
  for (uint32_t t = 0; t < berth_model_subgraph(&model, 0).tensor_count; t++)
    if (s.rings[t] > 0) s.rings[t] += 2;
  const berth_kernel_t *customs[] = {custom, NULL};
  berth_interpreter_options_t options = {
      .kernels = berth_kernels, .customs = customs, .stream = &s.plan};
  berth_memories_t memories = streamed_quarters(memory, ROOM);
  berth_interpreter_t interpreter;
  berth_guard_t guard;
  found_t found = {0};
  uint64_t bytes;
  assert_int_equal(berth_interpreter_init(&interpreter, &model, &options, &memories), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  assert_int_equal(berth_guard_bytes(&interpreter, 0, 0, &bytes), BERTH_OK);
  void *room = malloc(bytes);
  assert_non_null(room);
  assert_int_equal(berth_guard_attach(&guard, &interpreter, 0, 0, room, bytes, on_finding, &found),
                   BERTH_OK);
  guard.no_poison = true;
  guard.fast = fast;
  uint8_t frame[8 * 3 * 4];
  for (uint32_t i = 0; i < sizeof frame; i++) frame[i] = (uint8_t)(i * 37);
  if (push) {
    for (uint32_t row = 0; row < 8; row++) {
      found.status = berth_interpreter_push_rows(&interpreter, 0, frame + row * 12u, 1, NULL);
      if (row == 7) break;
      assert_int_equal(found.status, BERTH_OK);
      berth_guard_t late;
      assert_int_equal(berth_guard_attach(&late, &interpreter, 0, 0, room, bytes, NULL, NULL),
                       BERTH_ERROR_ARGUMENT);
    }
  } else {
    memcpy(berth_interpreter_input(&interpreter, 0).data, frame, sizeof frame);
    found.status = berth_interpreter_invoke(&interpreter);
  }
  streamed_close(&s);
  free(room);
  free(memory);
  free(net);
  return found;
}

static found_t find_both(const berth_kernel_t *custom) {
  found_t pushed = find(custom, true, false), found = find(custom, false, false);
  assert_int_equal(pushed.status, BERTH_OK);
  assert_int_equal(found.status, BERTH_OK);
  assert_int_equal(pushed.count > 0, found.count > 0);
  assert_int_equal(pushed.first.fault, found.first.fault);
  return found;
}

/* Field by field: there is padding behind a bool. */
static void expect_same(const berth_guard_finding_t *a, const berth_guard_finding_t *b) {
  assert_memory_equal(a, b, offsetof(berth_guard_finding_t, unconfirmed));
  assert_int_equal(a->unconfirmed, b->unconfirmed);
  assert_int_equal(a->since, b->since);
}

/* The fast way has found the same; pushed rows too, which it then pushes once more. */
static void find_fast(const berth_kernel_t *custom, const found_t *found) {
  for (int push = 0; push < 2; push++) {
    found_t fast = find(custom, push, true);
    assert_int_equal(fast.status, BERTH_OK);
    assert_int_equal(fast.count, found->count);
    expect_same(&fast.first, &found->first);
  }
}

static berth_kernel_t relu6(berth_status_t (*eval)(berth_call_t *call)) {
  return (berth_kernel_t){.code = BERTH_BUILTIN_RELU6, .prepare = prepare, .eval = eval};
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void operators_that_keep_their_contract_are_not_blamed(void **state) {
  (void)state;
  berth_kernel_t good = relu6(copy_rows);
  assert_int_equal(find_both(NULL).count, 0);
  assert_int_equal(find_both(&good).count, 0);
  for (int push = 0; push < 2; push++) {
    assert_int_equal(find(NULL, push, true).count, 0);
    assert_int_equal(find(&good, push, true).count, 0);
  }
}

static void a_row_that_is_not_written_to_its_end_is_a_partial_write(void **state) {
  (void)state;
  berth_kernel_t bad = relu6(leave_a_byte);
  found_t found = find_both(&bad);
  assert_int_equal(found.count, 1);
  assert_int_equal(found.first.fault, BERTH_GUARD_PARTIAL_WRITE);
  assert_int_equal(found.first.op, 1);
  assert_int_equal(found.first.first, 3 * 12 + 11);
  assert_int_equal(found.first.count, 1);
  find_fast(&bad, &found);
}

static void a_row_outside_of_the_window_must_not_be_read(void **state) {
  (void)state;
  berth_kernel_t bad = relu6(read_another_row);
  found_t found = find_both(&bad);
  assert_true(found.count > 0);
  assert_int_equal(found.first.fault, BERTH_GUARD_ROW_WINDOW);
  assert_int_equal(found.first.op, 1);
  assert_int_equal(found.first.owner, BERTH_GUARD_TENSOR);
}

static void a_row_that_is_done_must_not_be_written(void **state) {
  (void)state;
  berth_kernel_t bad = relu6(write_another_row);
  found_t found = find_both(&bad);
  assert_true(found.count > 0);
  assert_int_equal(found.first.fault, BERTH_GUARD_CLOBBER);
  assert_int_equal(found.first.op, 1);
  assert_int_equal(found.first.owner, BERTH_GUARD_TENSOR);
  assert_int_equal(found.first.victim_count, 1);
  find_fast(&bad, &found);
}

static void an_input_row_must_not_be_written(void **state) {
  (void)state;
  berth_kernel_t bad = relu6(write_the_input);
  found_t found = find_both(&bad);
  assert_true(found.count > 0);
  assert_int_equal(found.first.fault, BERTH_GUARD_CLOBBER);
  assert_int_equal(found.first.victim_first % 12, 0);
  find_fast(&bad, &found);
}

static void sums_must_not_begin_with_what_is_in_the_scratch(void **state) {
  (void)state;
  berth_kernel_t bad = berth_kernel_mean;
  bad.begin = begin_nothing;
  found_t found = find_both(&bad);
  assert_true(found.count > 0);
  assert_int_equal(found.first.op, 2);
  assert_int_equal(found.first.fault, BERTH_GUARD_STALE_READ);
}

static void a_repetition_that_fails_is_a_failure(void **state) {
  (void)state;
  berth_kernel_t bad = relu6(leave_and_fail);
  for (int push = 0; push < 2; push++) {
    has_left = false;
    assert_int_equal(find(&bad, push, true).status, BERTH_ERROR_OPERATOR);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_that_keep_their_contract_are_not_blamed),
      cmocka_unit_test(a_row_that_is_not_written_to_its_end_is_a_partial_write),
      cmocka_unit_test(a_row_outside_of_the_window_must_not_be_read),
      cmocka_unit_test(a_row_that_is_done_must_not_be_written),
      cmocka_unit_test(an_input_row_must_not_be_written),
      cmocka_unit_test(sums_must_not_begin_with_what_is_in_the_scratch),
      cmocka_unit_test(a_repetition_that_fails_is_a_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
