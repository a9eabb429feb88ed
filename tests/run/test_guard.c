/* The guard: silent about honest kernels, and right about who did what where in faulty ones.
 * One operator of a shipped model is replaced by a faulty kernel, the others are hashes. */
#include "run/guarded.h"

#define MARGIN 4096u
#define USUAL  5u  /* an operator with scratch */
#define BARE   30u /* one without: its output's neighbour is not its own */

typedef berth_status_t (*eval_t)(berth_call_t *call);

static eval_t faulty_eval;
static uint32_t victim = USUAL; /* the operator that misbehaves */
static uint32_t evaluations;

static berth_status_t dispatch(berth_call_t *call) {
  if (call->index != victim || faulty_eval == NULL) return hash_eval(call);
  evaluations++;
  return faulty_eval(call);
}

typedef struct run {
  berth_guard_finding_t first;
  uint32_t findings;
  uint32_t bytes_of_output;
} run_t;

/* Two guarded invokes with `eval` in the victim's place. */
static run_t guarded(eval_t eval) {
  static guarded_t g;
  faulty_eval = eval;
  evaluations = 0;
  guarded_open(&g, "mobilenet_v1_0.25_96_int8", hash_prepare, dispatch, MARGIN, MARGIN);
  g.guard.deep = true;
  g.guard.no_poison = getenv("BERTH_TEST_POISON") == NULL; /* valgrind is to see the faults */
  for (int invoke = 0; invoke < 2; invoke++) {
    berth_value_t input = berth_interpreter_input(&g.interpreter, 0);
    memset(input.data, invoke + 1, input.bytes);
    assert_int_equal(berth_interpreter_invoke(&g.interpreter), BERTH_OK);
  }
  berth_vector_t outputs = berth_model_operator(&g.model, 0, victim).outputs;
  run_t run = {.first = g.first, .findings = g.findings};
  run.bytes_of_output =
      berth_interpreter_tensor(&g.interpreter, 0, (uint32_t)berth_vector_int(outputs, 0)).bytes;
  guarded_close(&g);
  if (run.findings > 0) {
    assert_int_equal(run.first.op, victim);
    assert_int_equal(run.first.subgraph, 0);
  }
  return run;
}

static void honest_kernels_raise_no_alarm(void **state) {
  (void)state;
  assert_int_equal(guarded(NULL).findings, 0);
}

static berth_status_t leaves_the_last_three_bytes(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  memset(output.data, 7, output.bytes - 3);
  return BERTH_OK;
}

static void bytes_that_are_never_written_are_named(void **state) {
  (void)state;
  run_t run = guarded(leaves_the_last_three_bytes);
  assert_int_equal(run.findings, 2); /* once an invoke */
  assert_int_equal(run.first.fault, BERTH_GUARD_PARTIAL_WRITE);
  assert_int_equal(run.first.first, run.bytes_of_output - 3);
  assert_int_equal(run.first.count, 3);
}

static berth_status_t writes_one_byte_too_far(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  memset(output.data, 7, output.bytes);
  output.data[output.bytes] ^= 1;
  return BERTH_OK;
}

static void a_byte_behind_the_output_is_a_clobber(void **state) {
  (void)state;
  victim = BARE;
  run_t run = guarded(writes_one_byte_too_far);
  victim = USUAL;
  assert_int_equal(run.findings, 2);
  assert_int_equal(run.first.fault, BERTH_GUARD_CLOBBER);
  assert_int_equal(run.first.victim_count, 1);
}

static berth_status_t adds_to_what_it_finds(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  memset(output.data, 7, output.bytes);
  output.data[0] = (uint8_t)(output.data[0] + *(uint8_t *)call->scratch[0]);
  return BERTH_OK;
}

static void a_result_that_depends_on_scratch_is_a_stale_read(void **state) {
  (void)state;
  run_t run = guarded(adds_to_what_it_finds);
  assert_int_equal(run.first.fault, BERTH_GUARD_STALE_READ);
  assert_int_equal(run.first.first, 0);
  assert_int_equal(run.first.count, 1);
  assert_int_equal(run.first.owner, BERTH_GUARD_SCRATCH);
  assert_int_equal(run.first.victim_first, 0);
  assert_int_equal(run.first.victim_count, 1);
}

static berth_status_t counts_its_evaluations(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  memset(output.data, (int)evaluations, output.bytes);
  return BERTH_OK;
}

static void a_result_that_changes_by_itself_is_unstable(void **state) {
  (void)state;
  assert_int_equal(guarded(counts_its_evaluations).first.fault, BERTH_GUARD_UNSTABLE);
}

static berth_status_t changes_its_input(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  memset(output.data, 7, output.bytes);
  input.data[11] ^= 0x40;
  return BERTH_OK;
}

static void a_changed_input_is_a_clobber_of_that_tensor(void **state) {
  (void)state;
  run_t run = guarded(changes_its_input);
  assert_int_equal(run.first.fault, BERTH_GUARD_CLOBBER);
  assert_int_equal(run.first.owner, BERTH_GUARD_TENSOR);
  assert_int_equal(run.first.victim_first, 11);
  assert_int_equal(run.first.victim_count, 1);
}

static berth_status_t changes_its_table(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  memset(output.data, 7, output.bytes);
  ((uint8_t *)call->workspace)[3] ^= 1;
  return BERTH_OK;
}

static void a_changed_workspace_is_a_clobber(void **state) {
  (void)state;
  run_t run = guarded(changes_its_table);
  assert_int_equal(run.first.fault, BERTH_GUARD_CLOBBER);
  assert_int_equal(run.first.owner, BERTH_GUARD_WORKSPACE);
  assert_int_equal(run.first.victim_first, 3);
}

/* ---- Shapes that only running tells ---------------------------------------------------------- */

/* In the SVDF network, operator 0's output has no known shape: it is as large as in the file when
 * the operator runs or, if `huge`, larger than all others. The operators behind it are prepared
 * only then, and those with a variable change it. */
static bool huge;

static berth_status_t prepare_late(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t output = berth_output(call, 0);
  (void)contract;
  if (call->index == 0) return berth_set_unknown(call, 0);
  return berth_set_shape(call, 0, output.rank, output.dims);
}

static berth_status_t eval_late(berth_call_t *call) {
  if (call->index == 0) {
    int32_t dims[2] = {1, huge ? 100000 : 48};
    berth_status_t status = berth_set_shape(call, 0, 2, dims);
    if (status != BERTH_OK) return status;
  }
  berth_value_t output = berth_output(call, 0);
  memset(output.data, 7, output.bytes);
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    berth_value_t input = berth_input(call, i);
    if (input.present && input.variable) input.data[3]++;
  }
  return BERTH_OK;
}

static uint32_t findings_late(bool fast) {
  static guarded_t g;
  guarded_open(&g, "svdf_keyword_int8", prepare_late, eval_late, MARGIN, 0);
  g.guard.deep = !fast;
  g.guard.fast = fast;
  for (int invoke = 0; invoke < 3; invoke++) {
    berth_value_t input = berth_interpreter_input(&g.interpreter, 0);
    memset(input.data, invoke, input.bytes);
    assert_int_equal(berth_interpreter_invoke(&g.interpreter), BERTH_OK);
  }
  guarded_close(&g);
  return g.findings;
}

static void operators_prepared_while_running_raise_no_alarm(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    huge = i % 2 != 0;
    assert_int_equal(findings_late(i / 2 != 0), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(honest_kernels_raise_no_alarm),
      cmocka_unit_test(bytes_that_are_never_written_are_named),
      cmocka_unit_test(a_byte_behind_the_output_is_a_clobber),
      cmocka_unit_test(a_result_that_depends_on_scratch_is_a_stale_read),
      cmocka_unit_test(a_result_that_changes_by_itself_is_unstable),
      cmocka_unit_test(a_changed_input_is_a_clobber_of_that_tensor),
      cmocka_unit_test(a_changed_workspace_is_a_clobber),
      cmocka_unit_test(operators_prepared_while_running_raise_no_alarm),
  };
  return cmocka_run_group_tests_name("guard", tests, NULL, NULL);
}
