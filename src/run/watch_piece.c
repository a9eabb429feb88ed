/* The guard's fast way, one piece of a streamed run: checksums are those of rows, checked whenever
 * a row is read.
 */
#include "watch_fast.h"
#include <string.h>

/* ---- A piece of a streamed run --------------------------------------------------------------- */

/* The rows that the piece reads. */
static bool check_read(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < watch->call.op.inputs.count && watch->kind == BERTH_WHOLE; i++) {
    berth_value_t value = berth_input(&watch->call, i);
    uint32_t flat = berth_run_tensor_index(guard->interpreter, 0, value.index);
    if (value.present && berth_watch_has_sums(guard, flat) &&
        !berth_watch_check_tensor(watch, flat))
      return false;
  }
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    berth_stream_rows_t rows;
    if (tensor->subgraph != 0 || !berth_watch_has_sums(guard, i)) continue;
    if (berth_watch_rows_read(watch, tensor, &rows) &&
        !berth_watch_check_rows(watch, i, rows.first, rows.last)) {
      return false;
    }
  }
  return true;
}

/* The rows of the outputs that the piece makes: sums them, or are they as they were? */
static bool for_made(const berth_watch_t *watch, bool check) {
  berth_guard_t *guard = watch->guard;
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    if (!output.present || !berth_watch_has_sums(guard, berth_watch_flat_output(watch, i)))
      continue;
    uint32_t first, last;
    berth_watch_rows_made(watch, &output, &first, &last);
    if (!check) {
      berth_watch_sum_rows(guard, berth_watch_flat_output(watch, i), first, last);
    } else if (!berth_watch_is_intact(guard, berth_watch_flat_output(watch, i), first, last)) {
      return false;
    }
  }
  return true;
}

/* What an accumulating operator carries from piece to piece must be as it left it. */
static bool check_sums(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  berth_range_t sums = berth_watch_sums(watch);
  if (sums.bytes == 0 || guard->interpreter->progress.piece.first_row == 0) return true;
  if (berth_watch_sum(sums.data, sums.bytes) == guard->digests[2 * watch->call.index]) return true;
  berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
  finding.owner = BERTH_GUARD_WORKSPACE;
  finding.victim_op = watch->call.index;
  finding.victim_count = sums.bytes;
  berth_watch_suspect(watch->guard, finding, watch->call.index);
  return false;
}

/* One checksum of the rows on either side of those that are made, which stay as they are. */
static uint64_t neighbours(const berth_watch_t *watch) {
  uint64_t sum = 1;
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    if (!output.present || !berth_watch_has_sums(watch->guard, berth_watch_flat_output(watch, i)))
      continue;
    uint32_t first, last;
    berth_watch_rows_made(watch, &output, &first, &last);
    if (first >= last) continue;
    bool before = first > 0 && last - first < output.ring;
    bool after = last < output.rows && last - first + before < output.ring;
    if (before) {
      sum =
          berth_watch_chain(sum, berth_watch_sum(berth_row(&output, first - 1), output.row_bytes));
    }
    if (after) {
      sum = berth_watch_chain(sum, berth_watch_sum(berth_row(&output, last), output.row_bytes));
    }
  }
  return sum;
}

/* What is wrong with a piece that has been made: false, and it is suspected. */
static bool check_piece(const berth_watch_t *watch, uint64_t around, bool intact) {
  if (!berth_watch_check_fences(watch)) return false;
  if (neighbours(watch) != around) {
    berth_watch_suspect_tensor(watch, berth_watch_flat_output(watch, 0));
    return false;
  }
  return !intact || check_read(watch);
}

berth_status_t berth_watch_evaluate_piece(berth_watch_t *watch) {
  berth_guard_t *guard = watch->guard;
  berth_watch_list(watch, false);
  if (!check_read(watch) || !check_sums(watch)) return berth_watch_evaluate_unseen(watch);
  bool intact = berth_watch_is_repeatable(watch);
  uint64_t around = neighbours(watch);
  berth_watch_put_fences(watch);
  berth_watch_fill_outputs(watch);
  berth_status_t status = berth_run_evaluate(&watch->call);
  if (status != BERTH_OK || !check_piece(watch, around, intact)) return status;
  berth_range_t sums = berth_watch_sums(watch);
  if (sums.bytes > 0) {
    guard->digests[2 * watch->call.index] = berth_watch_sum(sums.data, sums.bytes);
  }
  for_made(watch, false);
  if (berth_watch_is_any_left(watch) && intact) {
    berth_watch_copy_own(watch, true);
    berth_watch_fill_outputs(watch);
    status = berth_run_evaluate(&watch->call);
    if (status == BERTH_OK && !for_made(watch, true)) {
      berth_watch_suspect_output(watch, BERTH_GUARD_PARTIAL_WRITE);
    }
  }
  berth_watch_copy_own(watch, false);
  return status;
}
