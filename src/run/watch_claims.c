/* What an operator's contract claims besides memory, put to the test: that rows can be made from
 * the rows that its windows name, that its output may take an input's place or lie over what is
 * done of it, that it only views.
 */
#include "plan/round.h"
#include "watch.h"
#include <string.h>

/* ---- Row windows ---------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Overwrites the rows of an input that output rows [first, last) must not need. */
static void spoil_rows(const berth_window_t *window, const berth_value_t *input, uint32_t first,
                       uint32_t last) {
  if (window->extent == 0 || window->denominator < 1) return;
  int64_t low = floor_div((int64_t)first * window->numerator, window->denominator) + window->offset;
  int64_t high = floor_div(((int64_t)last - 1) * window->numerator, window->denominator) +
                 window->offset + window->extent;
  for (uint32_t row = 0; row < input->rows; row++) {
    if (row < low || row >= high) memset(berth_row(input, row), PATTERN_B, input->row_bytes);
  }
}

/* Puts inputs right again without touching what is already made. */
static void restore(const berth_watch_t *watch, const berth_value_t *input) {
  const berth_guard_t *guard = watch->guard;
  const uint8_t *start = (uint8_t *)guard->interpreter->memories.activations.data - guard->before;
  memcpy(input->data, guard->expected + (input->data - start), input->bytes);
}

/* Is it a tensor in the arena whose bytes the watch may change for a while? */
static bool is_ours(const berth_watch_t *watch, const berth_value_t *input) {
  const berth_guard_t *guard = watch->guard;
  const uint8_t *start = guard->interpreter->memories.activations.data;
  return input->present && !input->constant && input->data >= start &&
         input->data + input->bytes <= start + guard->interpreter->needs.extent;
}

static void for_inputs(const berth_watch_t *watch, const berth_contract_t *contract, uint32_t first,
                       uint32_t last, bool spoil) {
  for (uint32_t i = 0; i < watch->call.op.inputs.count; i++) {
    berth_value_t input = berth_input(&watch->call, i);
    if (!is_ours(watch, &input)) continue;
    uint32_t window = i < BERTH_WINDOWS_MAX ? i : BERTH_WINDOWS_MAX - 1;
    if (spoil) {
      spoil_rows(&contract->windows[window], &input, first, last);
    } else {
      restore(watch, &input);
    }
  }
}

/* An input that stands in the list twice has two windows; too rare to be worth the sums. */
static bool inputs_are_distinct(const berth_call_t *call) {
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    int32_t tensor = berth_vector_int(call->op.inputs, i);
    for (uint32_t k = 0; k < i; k++) {
      if (tensor != BERTH_NO_TENSOR && berth_vector_int(call->op.inputs, k) == tensor) return false;
    }
  }
  return true;
}

static void report_results(const berth_watch_t *watch, berth_guard_fault_t fault) {
  uint32_t output, first, count;
  if (berth_watch_same_results(watch, &output, &first, &count)) return;
  berth_guard_finding_t finding = berth_watch_finding(watch, fault);
  if (output != BERTH_NOBODY) finding.tensor = berth_output(&watch->call, output).index;
  finding.first = first;
  finding.count = count;
  berth_watch_report(watch, finding);
}

/* Makes the output in three parts: the first row, half of the rest, and the other half. */
static berth_status_t check_rows(berth_watch_t *watch, const berth_contract_t *contract) {
  berth_call_t *call = &watch->call;
  bool accumulates = contract->kind == BERTH_ACCUMULATING;
  berth_value_t counted = accumulates ? berth_input(call, 0) : berth_output(call, 0);
  uint32_t rows = counted.rows;
  if (rows < 2 || counted.dims[0] != 1 || !inputs_are_distinct(call)) return BERTH_OK;
  void *scratch = call->scratch[0];
  if (accumulates && contract->accumulator > contract->scratch[0]) {
    if (contract->accumulator > watch->guard->interpreter->needs.extent) return BERTH_OK;
    call->scratch[0] = watch->guard->scratch; /* as large as the extent */
  }
  const uint32_t cuts[4] = {0, 1, 1 + (rows - 1) / 2, rows};
  berth_watch_set_up(watch, false);
  berth_status_t status = accumulates ? call->kernel->begin(call) : BERTH_OK;
  for (int i = 0; i < 3 && status == BERTH_OK; i++) {
    if (cuts[i] == cuts[i + 1]) continue;
    call->first_row = cuts[i];
    call->last_row = cuts[i + 1];
    if (!accumulates) for_inputs(watch, contract, cuts[i], cuts[i + 1], true);
    status = accumulates ? call->kernel->accumulate(call) : call->kernel->eval(call);
    if (!accumulates) for_inputs(watch, contract, cuts[i], cuts[i + 1], false);
  }
  if (accumulates && status == BERTH_OK) status = call->kernel->finish(call);
  call->scratch[0] = scratch;
  if (status == BERTH_OK) report_results(watch, BERTH_GUARD_ROW_WINDOW);
  return status;
}

/* ---- In place ------------------------------------------------------------------------------- */

static berth_status_t check_in_place(berth_watch_t *watch, const berth_contract_t *contract) {
  berth_call_t *call = &watch->call;
  berth_value_t output = berth_output(call, 0);
  for (uint32_t i = 0; i < call->op.inputs.count && i < 32; i++) {
    berth_value_t input = berth_input(call, i);
    if (!(contract->in_place >> i & 1u) || !is_ours(watch, &input)) continue;
    if (input.bytes != output.bytes || !inputs_are_distinct(call)) continue;
    berth_watch_set_up(watch, false);
    watch->redirect_tensor = output.index;
    watch->redirect = input.data;
    berth_status_t status = berth_run_evaluate(call);
    if (status == BERTH_OK) report_results(watch, BERTH_GUARD_IN_PLACE);
    watch->redirect_tensor = BERTH_NOBODY;
    restore(watch, &input);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* ---- Over what is done ----------------------------------------------------------------------- */

/* Bytes that an input must begin behind the output, so that rows in order write over none that the
 * row being written, or a later one, needs. */
static uint64_t behind_rows(const berth_window_t *window, const berth_value_t *input,
                            const berth_value_t *output) {
  berth_stream_tensor_t from = {input->rows, input->rows, input->row_bytes};
  berth_stream_tensor_t to = {output->rows, output->rows, output->row_bytes};
  uint64_t most = 0;
  for (uint32_t row = 0; row < output->rows; row++) {
    uint32_t first = berth_stream_needed(window, from, to, row, row + 1).first;
    uint64_t needed = (uint64_t)first * input->row_bytes;
    uint64_t written = ((uint64_t)row + 1) * output->row_bytes;
    if (first < input->rows && written > needed + most) most = written - needed;
  }
  return most;
}

/* Evaluates with the output in memory that is nobody else's, and a copy of an input so far behind
 * its start. */
static berth_status_t check_behind(berth_watch_t *watch, const berth_value_t *input,
                                   uint64_t behind) {
  berth_call_t *call = &watch->call;
  berth_value_t output = berth_output(call, 0);
  uint32_t room = watch->guard->interpreter->needs.extent; /* of guard->scratch */
  behind = berth_round_up(behind, 16);                     /* as tensors are in any plan */
  if (output.bytes > room || behind + input->bytes > room) return BERTH_OK;
  berth_watch_set_up(watch, false);
  watch->redirect_tensor = output.index;
  watch->redirect = watch->guard->scratch;
  watch->redirect_input = input->index;
  watch->input_redirect = watch->guard->scratch + behind;
  memcpy(watch->input_redirect, input->data, input->bytes);
  berth_status_t status = berth_run_evaluate(call);
  if (status == BERTH_OK) report_results(watch, BERTH_GUARD_IN_PLACE);
  watch->redirect_tensor = watch->redirect_input = BERTH_NOBODY;
  return status;
}

static berth_status_t check_over(berth_watch_t *watch, const berth_contract_t *contract) {
  berth_call_t *call = &watch->call;
  berth_value_t output = berth_output(call, 0);
  bool ordered = contract->ordered && contract->kind != BERTH_ACCUMULATING && output.dims[0] == 1;
  if (call->op.outputs.count != 1 || watch->flags & OPERATOR_PARTIAL) return BERTH_OK;
  if (!inputs_are_distinct(call)) return BERTH_OK;
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < call->op.inputs.count && status == BERTH_OK; i++) {
    berth_value_t input = berth_input(call, i);
    if (!is_ours(watch, &input)) continue;
    const berth_window_t *window =
        &contract->windows[i < BERTH_WINDOWS_MAX ? i : BERTH_WINDOWS_MAX - 1];
    if (i < 32 && contract->in_step >> i & 1u) {
      uint32_t wider = output.bytes > input.bytes ? output.bytes - input.bytes : 0;
      status = check_behind(watch, &input, wider);
    } else if (ordered && window->extent > 0 && window->denominator > 0 && window->numerator >= 0) {
      status = check_behind(watch, &input, behind_rows(window, &input, &output));
    }
  }
  return status;
}

/* ---- Views ---------------------------------------------------------------------------------- */

/* Compares the bytes of a list of tensors, one after the other, with those of one tensor. */
static void check_view(const berth_watch_t *watch, const berth_value_t *whole,
                       bool parts_are_inputs, uint32_t parts) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < parts; i++) {
    berth_value_t part =
        parts_are_inputs ? berth_input(&watch->call, i) : berth_output(&watch->call, i);
    if (!part.present || part.data == NULL) continue;
    if (part.bytes > whole->bytes - at || memcmp(whole->data + at, part.data, part.bytes) != 0) {
      berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_VIEW);
      finding.tensor = part.index;
      finding.first = at;
      finding.count = part.bytes;
      berth_watch_report(watch, finding);
      return;
    }
    at += part.bytes;
  }
}

static void check_views(berth_watch_t *watch, const berth_contract_t *contract) {
  const berth_call_t *call = &watch->call;
  berth_value_t whole;
  switch (contract->view) {
  case BERTH_VIEW_SAME:
    whole = berth_output(call, 0);
    check_view(watch, &whole, true, 1);
    break;
  case BERTH_VIEW_CONCAT:
    whole = berth_output(call, 0);
    check_view(watch, &whole, true, call->op.inputs.count);
    break;
  case BERTH_VIEW_SPLIT: /* the data input is the one that is as large as all outputs together */
    for (uint32_t i = 0; i < call->op.inputs.count; i++) {
      uint64_t sum = 0;
      for (uint32_t k = 0; k < call->op.outputs.count; k++) sum += berth_output(call, k).bytes;
      whole = berth_input(call, i);
      if (!whole.present || whole.bytes != sum || whole.constant) continue;
      check_view(watch, &whole, false, call->op.outputs.count);
      break;
    }
    break;
  case BERTH_VIEW_NONE:
    break;
  }
}

/* ---- Memory that an output shares with an input ---------------------------------------------- */

/* From here on, output 0 lies in memory that is nobody else's; there is room for any tensor. */
static void move_output(berth_watch_t *watch) {
  watch->redirect_tensor = berth_output(&watch->call, 0).index;
  watch->redirect = watch->guard->scratch;
}

static void move_output_back(berth_watch_t *watch) {
  watch->redirect_tensor = BERTH_NOBODY;
}

berth_status_t berth_watch_shared(berth_watch_t *watch) {
  if (!berth_watch_is_shared(watch)) return BERTH_OK;
  move_output(watch);
  berth_watch_set_up(watch, false);
  berth_status_t status = berth_run_evaluate(&watch->call);
  bool view = watch->contract.view != BERTH_VIEW_NONE;
  if (status == BERTH_OK) report_results(watch, view ? BERTH_GUARD_VIEW : BERTH_GUARD_IN_PLACE);
  move_output_back(watch);
  return status;
}

/* ---- All claims ----------------------------------------------------------------------------- */

berth_status_t berth_watch_claims(berth_watch_t *watch) {
  const berth_contract_t *contract = &watch->contract;
  berth_status_t status = BERTH_OK;
  if (berth_watch_is_shared(watch)) { /* inputs are to be intact beside the results */
    move_output(watch);
    berth_watch_set_up(watch, false);
    status = berth_run_evaluate(&watch->call);
  }
  if (status == BERTH_OK) check_views(watch, contract);
  if (status == BERTH_OK && contract->state == 0 && contract->kind != BERTH_WHOLE) {
    status = check_rows(watch, contract);
  }
  move_output_back(watch);
  if (status == BERTH_OK && contract->state == 0 && contract->in_place != 0) {
    status = check_in_place(watch, contract);
  }
  if (status == BERTH_OK && contract->state == 0) status = check_over(watch, contract);
  return status;
}
