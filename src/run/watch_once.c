/* The guard's fast way, one operator that runs whole: outputs that hold a pattern before, and
 * another one if some of it seems to be left; what the operator keeps; inputs and outputs of the
 * invoke before, which show what is unstable.
 */
#include "watch_fast.h"
#include <string.h>

/* ---- Persistent data ------------------------------------------------------------------------- */

/* Variables and state that the operator may change: `from` the copy to where they are, or back. */
void berth_watch_copy_own(const berth_watch_t *watch, bool back) {
  const berth_guard_t *guard = watch->guard;
  uint8_t *start = berth_watch_persistent(guard);
  berth_range_t range;
  uint32_t output, i = 2 * watch->call.op.outputs.count;
  for (; berth_watch_result(watch, i, &range, &output); i++) {
    if (range.bytes == 0 || range.data < start ||
        range.data >= start + guard->interpreter->persistent_used) {
      continue;
    }
    uint8_t *copy = guard->persistent + (range.data - start);
    memcpy(back ? range.data : copy, back ? copy : range.data, range.bytes);
  }
}

bool berth_watch_has_own(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output, i = 2 * watch->call.op.outputs.count;
  for (; berth_watch_result(watch, i, &range, &output); i++) {
    if (range.bytes > 0) return true;
  }
  return false;
}

bool berth_watch_check_lasting(const berth_watch_t *watch) {
  berth_guard_finding_t finding;
  if (!berth_watch_is_persistent_changed(watch, &finding)) return true;
  berth_watch_suspect(watch->guard, finding, BERTH_NOBODY);
  return false;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

uint32_t berth_watch_flat_output(const berth_watch_t *watch, uint32_t output) {
  return berth_run_tensor_index(watch->guard->interpreter, watch->call.subgraph,
                                berth_output(&watch->call, output).index);
}

static uint32_t element_bytes(const berth_watch_t *watch, uint32_t output) {
  uint32_t bits = berth_tensor_type_bits(berth_output(&watch->call, output).type);
  return bits >= 8 ? bits / 8 : 1;
}

/* Part `index` of an output that can hold the pattern before the evaluation: in the arena, and over
 * nothing that is live. False past the last one; no bytes where it can't. */
static bool output_range(const berth_watch_t *watch, uint32_t index, berth_range_t *range,
                         uint32_t *output) {
  if (index >= 2 * watch->call.op.outputs.count) return false;
  berth_watch_result(watch, index, range, output);
  if (range->data == NULL || !berth_watch_is_in_arena(watch->guard, range->data) ||
      berth_watch_is_over_live(watch->guard, range)) {
    range->bytes = 0;
  }
  return true;
}

void berth_watch_fill_outputs(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  if (watch->flags & OPERATOR_PARTIAL) {
    berth_run_zero_outputs(&watch->call);
    return;
  }
  for (uint32_t i = 0; output_range(watch, i, &range, &output); i++) {
    if (range.bytes == 0) continue;
    memset(range.data, watch->guard->summed[berth_watch_flat_output(watch, output)].pattern,
           range.bytes);
  }
}

/* Do bytes of an output look as if nobody had written them? Such an output gets another pattern. */
bool berth_watch_is_any_left(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  bool any = false;
  if (watch->flags & OPERATOR_PARTIAL) return false;
  for (uint32_t i = 0; output_range(watch, i, &range, &output); i++) {
    if (range.bytes == 0) continue;
    uint32_t element = element_bytes(watch, output);
    berth_summed_t *summed = &watch->guard->summed[berth_watch_flat_output(watch, output)];
    if (!berth_watch_is_left(range.data, range.bytes, element, summed->pattern)) continue;
    summed->pattern = berth_watch_rare(range.data, range.bytes, element, summed->pattern);
    any = true;
  }
  return any;
}

/* Can an evaluation be repeated? Not where an output takes the place of what is read. */
bool berth_watch_is_repeatable(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  if (berth_watch_sums(watch).bytes > 0) return false;
  for (uint32_t i = 0; i < 2 * watch->call.op.outputs.count; i++) {
    berth_watch_result(watch, i, &range, &output);
    if (berth_watch_is_over_live(watch->guard, &range)) return false;
  }
  return true;
}

/* ---- An operator, whole ---------------------------------------------------------------------- */

/* Is output 0 the memory of input 0, and says the operator that it leaves it as it is? */
static bool is_same_view(const berth_watch_t *watch, uint32_t *from, uint32_t *to) {
  if (watch->contract.view != BERTH_VIEW_SAME) return false;
  berth_value_t input = berth_input(&watch->call, 0), output = berth_output(&watch->call, 0);
  if (input.data == NULL || input.data != output.data || input.constant) return false;
  const berth_guard_t *guard = watch->guard;
  *from = berth_run_tensor_index(guard->interpreter, watch->call.subgraph, input.index);
  *to = berth_run_tensor_index(guard->interpreter, watch->call.subgraph, output.index);
  const berth_summed_t *a = &guard->summed[*from], *b = &guard->summed[*to];
  return a->bytes > 0 && a->bytes == b->bytes && a->row_bytes == b->row_bytes;
}

/* What is about to be written over must still be right. */
static bool check_replaced(const berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  uint32_t from = BERTH_NOBODY, to, output;
  if (!is_same_view(watch, &from, &to)) from = BERTH_NOBODY;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    uint32_t tensor = guard->kept[i].tensor;
    berth_range_t range;
    bool any = false;
    for (uint32_t k = 0; k < 2 * watch->call.op.outputs.count && !any; k++) {
      berth_watch_result(watch, k, &range, &output);
      any = berth_watch_meets(&guard->kept[i], &range);
    }
    if (!any || tensor == from) continue;
    if (!berth_watch_check_tensor(watch, tensor)) return false;
    if (guard->graph.tensors[tensor].last == watch->step) berth_watch_forget_tensor(guard, tensor);
  }
  return true;
}

void berth_watch_sum_outputs(const berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  uint32_t from, to = BERTH_NOBODY;
  if (is_same_view(watch, &from, &to)) {
    uint32_t rows = berth_watch_summed_rows(&guard->summed[to]);
    const uint64_t *sums = &guard->sums[guard->summed[from].first];
    memcpy(&guard->sums[guard->summed[to].first], sums, rows * sizeof *sums);
    if (guard->graph.tensors[from].last == watch->step) berth_watch_forget_tensor(guard, from);
  }
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    if (!berth_output(&watch->call, i).present) continue;
    uint32_t flat = berth_watch_flat_output(watch, i);
    if (flat != to && berth_watch_has_sums(guard, flat)) berth_watch_sum_tensor(guard, flat);
  }
}

static bool check_outputs(const berth_watch_t *watch) {
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    if (!berth_output(&watch->call, i).present) continue;
    uint32_t flat = berth_watch_flat_output(watch, i);
    if (!berth_watch_has_sums(watch->guard, flat)) continue;
    uint32_t rows = berth_watch_summed_rows(&watch->guard->summed[flat]);
    if (!berth_watch_is_intact(watch->guard, flat, 0, rows)) return false;
  }
  return true;
}

/* One checksum of all checksums of the inputs (outputs), or none. */
static uint64_t digest(const berth_watch_t *watch, bool outputs) {
  const berth_guard_t *guard = watch->guard;
  berth_vector_t list = outputs ? watch->call.op.outputs : watch->call.op.inputs;
  uint64_t sum = 1;
  for (uint32_t i = 0; i < list.count; i++) {
    berth_value_t value = outputs ? berth_output(&watch->call, i) : berth_input(&watch->call, i);
    if (!value.present || value.constant) continue;
    uint32_t flat = berth_run_tensor_index(guard->interpreter, 0, value.index);
    if (!berth_watch_has_sums(guard, flat)) return BERTH_SUM_NONE;
    for (uint32_t row = 0; row < berth_watch_summed_rows(&guard->summed[flat]); row++) {
      uint64_t next = guard->sums[guard->summed[flat].first + row];
      if (next == BERTH_SUM_NONE) return BERTH_SUM_NONE;
      sum = berth_watch_chain(sum, next);
    }
  }
  return sum;
}

/* Compares with what the invoke before made of the same inputs. */
static void check_stable(const berth_watch_t *watch, uint64_t inputs) {
  uint64_t outputs = digest(watch, true), *before = &watch->guard->digests[2 * watch->call.index];
  if (inputs == BERTH_SUM_NONE || outputs == BERTH_SUM_NONE) return;
  if (before[0] == inputs && before[1] != outputs)
    berth_watch_suspect_output(watch, BERTH_GUARD_UNSTABLE);
  before[0] = inputs;
  before[1] = outputs;
}

/* Once more, with another pattern: what nobody wrote is different now. Everything else must be as
 * it was before, which is looked at first, since what is wrong twice may be right. */
static berth_status_t repeat(berth_watch_t *watch) {
  berth_watch_copy_own(watch, true);
  bool right = berth_watch_check_live(watch) && berth_watch_check_weights(watch) &&
               berth_watch_check_lasting(watch) && berth_watch_check_margins(watch);
  if (!right) return BERTH_OK;
  berth_watch_fill_outputs(watch);
  berth_status_t status = berth_run_evaluate(&watch->call);
  if (status == BERTH_OK && !check_outputs(watch)) {
    berth_watch_suspect_output(watch, BERTH_GUARD_PARTIAL_WRITE);
  }
  return status;
}

/* Once something is suspected, the rest of the invoke only has to come to its end. */
berth_status_t berth_watch_evaluate_unseen(berth_watch_t *watch) {
  if (watch->flags & OPERATOR_PARTIAL) berth_run_zero_outputs(&watch->call);
  return berth_run_evaluate(&watch->call);
}

berth_status_t berth_watch_evaluate_whole(berth_watch_t *watch) {
  bool own = berth_watch_has_own(watch);
  uint64_t inputs = watch->call.subgraph == 0 && !own ? digest(watch, false) : BERTH_SUM_NONE;
  if (!check_replaced(watch)) return berth_watch_evaluate_unseen(watch);
  berth_watch_put_fences(watch);
  berth_watch_fill_outputs(watch);
  berth_status_t status = berth_run_evaluate(&watch->call);
  if (status != BERTH_OK || !berth_watch_check_fences(watch)) return status;
  berth_watch_sum_outputs(watch);
  if (berth_watch_is_any_left(watch) && berth_watch_is_repeatable(watch)) status = repeat(watch);
  if (own) berth_watch_copy_own(watch, false);
  if (status == BERTH_OK && !watch->guard->suspected) check_stable(watch, inputs);
  return status;
}

/* ---- An operator of a called subgraph -------------------------------------------------------- */

/* What its subgraph has in memory also changes by copying from call to call, so its inputs have
 * checksums for the time of the evaluation only. */
static void for_inputs(const berth_watch_t *watch, void (*what)(berth_guard_t *, uint32_t)) {
  for (uint32_t i = 0; i < watch->guard->kept_count; i++) {
    uint32_t flat = watch->guard->kept[i].tensor;
    const berth_graph_tensor_t *tensor = &watch->guard->graph.tensors[flat];
    if (tensor->subgraph == watch->call.subgraph &&
        berth_vector_holds(watch->call.op.inputs, tensor->tensor)) {
      what(watch->guard, flat);
    }
  }
}

berth_status_t berth_watch_evaluate_called(berth_watch_t *watch) {
  for_inputs(watch, berth_watch_sum_tensor);
  berth_status_t status = berth_watch_evaluate_whole(watch);
  if (status == BERTH_OK && !watch->guard->suspected) berth_watch_check_live(watch);
  for_inputs(watch, berth_watch_forget_tensor);
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    if (!berth_output(&watch->call, i).present) continue;
    uint32_t flat = berth_watch_flat_output(watch, i);
    if (berth_watch_has_sums(watch->guard, flat)) berth_watch_forget_tensor(watch->guard, flat);
  }
  return status;
}
