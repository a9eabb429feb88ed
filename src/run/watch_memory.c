/* The guard, what is where: which bytes are live in a step, which ones the operator (or the piece
 * of it that is being made) writes, and whose a byte is.
 */
#include "watch.h"
#include <string.h>

/* ---- Blocks ---------------------------------------------------------------------------------- */

uint8_t *berth_watch_arena(const berth_guard_t *guard) {
  return (uint8_t *)guard->interpreter->memories.activations.data - guard->before;
}

/* Margins and everything up to where dynamic tensors begin. */
uint32_t berth_watch_arena_bytes(const berth_guard_t *guard) {
  return guard->before + guard->interpreter->needs.extent + guard->after;
}

bool berth_watch_is_in_arena(const berth_guard_t *guard, const uint8_t *data) {
  const uint8_t *start = berth_watch_arena(guard);
  return data >= start && data < start + berth_watch_arena_bytes(guard);
}

uint8_t *berth_watch_persistent(const berth_guard_t *guard) {
  return berth_run_persistent(guard->interpreter, guard->interpreter->persistent_used);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Where rows [first, last) of a value are: part 0 up to the ring's end, part 1 from its start. */
static berth_range_t rows_part(const berth_value_t *value, uint32_t first, uint32_t last,
                               uint32_t part) {
  berth_range_t range = {NULL, 0, 0};
  if (value->data == NULL || first >= last) return range;
  uint32_t count = last - first, before_end = value->ring - first % value->ring;
  if (count < before_end) before_end = count;
  uint32_t row = part == 0 ? first : first + before_end;
  range.data = berth_row(value, row);
  range.bytes = (part == 0 ? before_end : count - before_end) * value->row_bytes;
  range.first = row * value->row_bytes;
  return range;
}

void berth_watch_rows_made(const berth_watch_t *watch, const berth_value_t *value, uint32_t *first,
                           uint32_t *last) {
  const berth_stream_piece_t *piece = &watch->guard->interpreter->progress.piece;
  *first = watch->kind == BERTH_ROW_LOCAL ? piece->first_row : 0;
  *last = watch->kind == BERTH_ROW_LOCAL ? piece->last_row : value->rows;
  if (watch->kind == BERTH_ACCUMULATING && !berth_run_is_last_piece(watch->guard->interpreter)) {
    *last = 0;
  }
}

static berth_range_t output_part(const berth_watch_t *watch, uint32_t output, uint32_t part) {
  berth_value_t value = berth_output(&watch->call, output);
  berth_range_t range = {value.data, value.data != NULL ? value.bytes : 0, 0};
  if (watch->in_piece && watch->kind != BERTH_WHOLE) {
    uint32_t first, last;
    berth_watch_rows_made(watch, &value, &first, &last);
    return rows_part(&value, first, last, part);
  }
  if (part > 0) range = (berth_range_t){NULL, 0, 0};
  return range;
}

/* ---- What is kept ---------------------------------------------------------------------------- */

static bool is_live(const berth_watch_t *watch, uint32_t i) {
  const berth_graph_tensor_t *tensor = &watch->guard->graph.tensors[i];
  const berth_interpreter_t *interpreter = watch->guard->interpreter;
  return watch->step >= tensor->first && watch->step <= tensor->last &&
         interpreter->places[i] < interpreter->needs.extent; /* else none, persistent or dynamic */
}

static bool is_output(const berth_watch_t *watch, const berth_graph_tensor_t *tensor) {
  return tensor->subgraph == watch->call.subgraph &&
         berth_vector_holds(watch->call.op.outputs, tensor->tensor);
}

static void keep(berth_guard_t *guard, berth_kept_t kept) {
  if (kept.bytes == 0) return;
  uint32_t at = guard->kept_count++;
  while (at > 0 && guard->kept[at - 1].data > kept.data) {
    guard->kept[at] = guard->kept[at - 1];
    at--;
  }
  guard->kept[at] = kept;
}

/* Bytes [first, last) of a tensor's memory. */
static void keep_some(berth_guard_t *guard, uint32_t tensor, const berth_value_t *value,
                      uint32_t first, uint32_t last) {
  if (first >= last) return;
  keep(guard, (berth_kept_t){value->data + first, last - first, first, tensor, BERTH_NOBODY});
}

/* Rows that a node of the run had made before the current piece. */
static berth_stream_rows_t rows_before(const berth_watch_t *watch,
                                       const berth_stream_node_t *node) {
  const berth_invoke_t *progress = &watch->guard->interpreter->progress;
  const berth_stream_piece_t *piece = &progress->piece;
  bool current = node->step == piece->step;
  if (progress->run->run.reverse) return (berth_stream_rows_t){piece->last_row, node->output};
  if (node->kind == BERTH_ROW_LOCAL) {
    return (berth_stream_rows_t){0, current ? piece->first_row : node->made};
  }
  return (berth_stream_rows_t){0, node->made == node->rows && !current ? node->output : 0};
}

/* One after the other, the tensors that nodes of the run make and keep whole, with what is made of
 * them by now, from output number `*number` of node `*node` on; both then say which is next. False:
 * there is no more. */
static bool next_whole(const berth_watch_t *watch, uint32_t *node, uint32_t *number,
                       berth_value_t *value, berth_stream_rows_t *made) {
  const berth_interpreter_t *interpreter = watch->guard->interpreter;
  const berth_stream_t *run = interpreter->progress.run;
  for (; *node < run->node_count; (*node)++, *number = 0) {
    const berth_stream_node_t *maker = &run->nodes[*node];
    if (maker->step == BERTH_NOBODY) continue;
    uint32_t op = berth_run_operator_of(interpreter, maker->step);
    berth_vector_t outputs = berth_model_operator(interpreter->model, 0, op).outputs;
    while (*number < outputs.count) {
      int32_t tensor = berth_vector_int(outputs, (*number)++);
      uint32_t source;
      if (tensor < 0) continue;
      if (berth_run_is_folded(interpreter, 0, (uint32_t)tensor, &source)) continue; /* not made */
      *value = berth_interpreter_tensor(interpreter, 0, (uint32_t)tensor);
      if (value->data == NULL || value->constant || value->ring < value->rows) continue;
      *made = rows_before(watch, maker);
      return true;
    }
  }
  return false;
}

/* Bytes [first, last) of a tensor that a run reads: without those over which the plan has laid rows
 * that nodes of the run, from output `number` of node `node` on, have made by now. */
static void keep_unreplaced(const berth_watch_t *watch, uint32_t tensor, const berth_value_t *value,
                            uint32_t node, uint32_t number, uint32_t first, uint32_t last) {
  berth_value_t made;
  berth_stream_rows_t rows;
  while (first < last && next_whole(watch, &node, &number, &made, &rows)) {
    if (watch->guard->graph.bases[0] + made.index == tensor) continue;
    const uint8_t *start = made.data + (size_t)rows.first * made.row_bytes;
    const uint8_t *end = made.data + (size_t)rows.last * made.row_bytes;
    if (start >= value->data + last || end <= value->data + first || start >= end) continue;
    uint32_t low = start > value->data + first ? (uint32_t)(start - value->data) : first;
    uint32_t high = end < value->data + last ? (uint32_t)(end - value->data) : last;
    keep_unreplaced(watch, tensor, value, node, number, first, low);
    first = high;
  }
  keep_some(watch->guard, tensor, value, first, last);
}

/* An output of which some rows are made: all but these. */
static void keep_rest(const berth_watch_t *watch, uint32_t tensor, const berth_value_t *value) {
  uint32_t first, last, held = berth_run_held_bytes(value);
  berth_watch_rows_made(watch, value, &first, &last);
  berth_range_t before = rows_part(value, first, last, 0), after = rows_part(value, first, last, 1);
  if (before.bytes == 0) {
    keep_some(watch->guard, tensor, value, 0, held);
    return;
  }
  uint32_t start = (uint32_t)(before.data - value->data);
  keep_some(watch->guard, tensor, value, after.bytes, start);
  keep_some(watch->guard, tensor, value, start + before.bytes, held);
}

bool berth_watch_rows_read(const berth_watch_t *watch, const berth_graph_tensor_t *tensor,
                           berth_stream_rows_t *rows) {
  const berth_invoke_t *progress = &watch->guard->interpreter->progress;
  const berth_stream_t *run = progress->run;
  if (tensor->subgraph != 0) return false;
  const berth_stream_node_t *node =
      &run->nodes[run->input_count + progress->piece.step - run->first_step];
  bool found = false;
  for (uint32_t e = node->edges; e < node[1].edges; e++) {
    const berth_stream_edge_t *edge = &run->edges[e];
    if (berth_stream_seen(run, progress->piece.step, edge->tensor) != tensor->tensor) continue;
    if (found) return false; /* read twice: too rare to be worth the sums */
    found = true;
    *rows = (berth_stream_rows_t){progress->piece.first_row, progress->piece.last_row};
    if (watch->kind == BERTH_ACCUMULATING && edge->input == 0) continue;
    if (watch->kind != BERTH_ROW_LOCAL) return false;
    berth_stream_tensor_t to = {node->output, node->batch_rows, 0};
    *rows = berth_stream_needed(&edge->window, edge->shape, to, rows->first, rows->last);
  }
  return found;
}

/* What other operators of the run carry from piece to piece. */
static void keep_sums(const berth_watch_t *watch) {
  berth_interpreter_t *interpreter = watch->guard->interpreter;
  const berth_stream_t *run = interpreter->progress.run;
  for (uint32_t i = run->input_count; i < run->node_count; i++) {
    const berth_stream_node_t *node = &run->nodes[i];
    if (node->kind != BERTH_ACCUMULATING || node->step == interpreter->progress.piece.step)
      continue;
    berth_call_t call;
    berth_contract_t contract;
    memset(&contract, 0, sizeof contract);
    berth_run_call(interpreter, 0, berth_run_operator_of(interpreter, node->step), &call);
    berth_run_call_memory(interpreter, &call);
    call.tensor = berth_run_unseen; /* the current piece is another operator's */
    if (call.kernel->prepare(&call, &contract) != BERTH_OK || call.scratch[0] == NULL) continue;
    keep(watch->guard, (berth_kept_t){.data = call.scratch[0],
                                      .bytes = berth_run_sum_bytes(&contract),
                                      .tensor = BERTH_NOBODY,
                                      .op = call.index});
  }
}

/* The first node of the run that can have replaced bytes of this tensor: one after its maker. What
 * was made before may have had the same memory, but was dead when this came. */
static uint32_t first_replacer(const berth_watch_t *watch, const berth_graph_tensor_t *tensor) {
  const berth_interpreter_t *interpreter = watch->guard->interpreter;
  const berth_stream_t *run = interpreter->progress.run;
  if (tensor->subgraph != 0 || tensor->producer == BERTH_NOBODY) return 0;
  uint32_t step = berth_run_step_of(interpreter, tensor->producer);
  return step < run->first_step ? 0 : run->input_count + step - run->first_step + 1;
}

void berth_watch_list(const berth_watch_t *watch, bool narrow) {
  berth_guard_t *guard = watch->guard;
  guard->kept_count = 0;
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    if (!is_live(watch, i)) continue;
    berth_value_t value =
        berth_interpreter_tensor(guard->interpreter, tensor->subgraph, tensor->tensor);
    value.data =
        (uint8_t *)guard->interpreter->memories.activations.data + guard->interpreter->places[i];
    berth_stream_rows_t rows;
    if (is_output(watch, tensor)) {
      if (watch->in_piece && watch->kind == BERTH_ROW_LOCAL) keep_rest(watch, i, &value);
    } else if (narrow && watch->in_piece && berth_watch_rows_read(watch, tensor, &rows)) {
      uint32_t replacer = first_replacer(watch, tensor);
      for (uint32_t part = 0; part < 2; part++) {
        berth_range_t range = rows_part(&value, rows.first, rows.last, part);
        uint32_t first = range.bytes > 0 ? (uint32_t)(range.data - value.data) : 0;
        keep_unreplaced(watch, i, &value, replacer, 0, first, first + range.bytes);
      }
    } else if (watch->in_piece && value.ring >= value.rows) {
      keep_unreplaced(watch, i, &value, first_replacer(watch, tensor), 0, 0, value.bytes);
    } else {
      keep_some(guard, i, &value, 0, berth_run_held_bytes(&value));
    }
  }
  if (watch->in_piece) keep_sums(watch);
}

/* ---- What isn't, and what is written --------------------------------------------------------- */

bool berth_watch_gap(const berth_watch_t *watch, uint8_t **at, berth_range_t *gap) {
  const berth_guard_t *guard = watch->guard;
  uint8_t *end = berth_watch_arena(guard) + berth_watch_arena_bytes(guard), *stop = end;
  for (uint32_t i = 0; i < guard->kept_count; i++) {
    const berth_kept_t *kept = &guard->kept[i];
    if (kept->data > *at) {
      stop = kept->data;
      break;
    }
    if (kept->data + kept->bytes > *at) *at = kept->data + kept->bytes;
  }
  if (*at >= end) return false;
  gap->data = *at;
  gap->bytes = (uint32_t)(stop - *at);
  *at = stop;
  return true;
}

bool berth_watch_scratch(const berth_watch_t *watch, uint32_t index, berth_range_t *range) {
  if (index >= BERTH_SCRATCH_MAX) return false;
  range->data = watch->call.scratch[index];
  range->bytes = 0;
  range->first = 0;
  if (range->data == NULL) return true;
  if (index == 0 && watch->in_piece && watch->kind == BERTH_ACCUMULATING) {
    range->data = NULL; /* it lasts: berth_watch_sums */
    return true;
  }
  if (index == 0 && watch->flags & OPERATOR_WISH) {
    range->bytes = watch->call.scratch_bytes;
    return true;
  }
  range->bytes = watch->contract.scratch[index];
  return true;
}

berth_range_t berth_watch_sums(const berth_watch_t *watch) {
  berth_range_t range = {NULL, 0, 0};
  if (!watch->in_piece || watch->kind != BERTH_ACCUMULATING) return range;
  range.data = watch->call.scratch[0];
  range.bytes = range.data != NULL ? berth_run_sum_bytes(&watch->contract) : 0;
  return range;
}

bool berth_watch_result(const berth_watch_t *watch, uint32_t index, berth_range_t *range,
                        uint32_t *output) {
  const berth_call_t *call = &watch->call;
  uint32_t outputs = call->op.outputs.count, inputs = call->op.inputs.count;
  *output = BERTH_NOBODY;
  *range = (berth_range_t){NULL, 0, 0};
  if (index < 2 * outputs) {
    *output = index / 2;
    *range = output_part(watch, index / 2, index % 2);
    return true;
  }
  index -= outputs;               /* each had two */
  if (index < outputs + inputs) { /* variables that it may write */
    int32_t tensor = berth_vector_int(call->op.inputs, index - outputs);
    if (tensor == BERTH_NO_TENSOR) return true;
    uint32_t flat =
        berth_run_tensor_index(watch->guard->interpreter, call->subgraph, (uint32_t)tensor);
    if (watch->guard->graph.tensors[flat].allocation != BERTH_ALLOCATION_PERSISTENT) return true;
    berth_value_t value = berth_input(call, index - outputs);
    range->data = value.data;
    range->bytes = value.bytes;
    return true;
  }
  if (index == outputs + inputs) {
    if (call->state == NULL) return true;
    memcpy(&range->bytes, (uint8_t *)call->state - 16, sizeof range->bytes);
    range->data = call->state;
    return true;
  }
  if (index == outputs + inputs + 1) {
    *range = berth_watch_sums(watch);
    return true;
  }
  return false;
}

/* ---- Whose a byte is ------------------------------------------------------------------------- */

static bool covers(const berth_guard_t *guard, const berth_graph_tensor_t *tensor,
                   const uint8_t *address) {
  uint32_t flat = berth_run_tensor_index(guard->interpreter, tensor->subgraph, tensor->tensor);
  const uint8_t *data =
      (uint8_t *)guard->interpreter->memories.activations.data + guard->interpreter->places[flat];
  berth_value_t value =
      berth_interpreter_tensor(guard->interpreter, tensor->subgraph, tensor->tensor);
  return address >= data && address < data + berth_run_held_bytes(&value);
}

uint32_t berth_watch_tenant(const berth_watch_t *watch, const uint8_t *address) {
  const berth_guard_t *guard = watch->guard;
  uint32_t best = BERTH_NOBODY, latest = 0;
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    uint32_t place = guard->interpreter->places[i];
    if (place == PLACE_NONE || place == PLACE_UNKNOWN || place & PLACE_PERSISTENT) continue;
    if (tensor->subgraph != watch->call.subgraph || tensor->last >= watch->step) continue;
    if (!covers(guard, tensor, address)) continue;
    if (best == BERTH_NOBODY || tensor->last >= latest) {
      best = tensor->tensor;
      latest = tensor->last;
    }
  }
  return best;
}

void berth_watch_name(const berth_watch_t *watch, const uint8_t *address,
                      berth_guard_finding_t *finding) {
  const berth_guard_t *guard = watch->guard;
  const uint8_t *base = guard->interpreter->memories.activations.data;
  uint32_t extent = guard->interpreter->needs.extent;
  berth_range_t range;
  if (address < base || address >= base + extent) {
    finding->owner = BERTH_GUARD_OUTSIDE;
    finding->victim_first =
        address < base ? (uint32_t)(base - address) : (uint32_t)(address - base) - extent;
    return;
  }
  for (uint32_t i = 0; i < watch->call.op.outputs.count; i++) {
    berth_value_t output = berth_output(&watch->call, i);
    if (output.data == NULL || address < output.data ||
        address >= output.data + berth_run_held_bytes(&output)) {
      continue;
    }
    finding->owner = BERTH_GUARD_TENSOR;
    finding->victim = output.index;
    finding->victim_first = (uint32_t)(address - output.data);
    finding->tenant = berth_watch_tenant(watch, address);
    return;
  }
  for (uint32_t i = 0; berth_watch_scratch(watch, i, &range); i++) {
    if (range.data == NULL || address < range.data || address >= range.data + range.bytes) continue;
    finding->owner = BERTH_GUARD_SCRATCH;
    finding->victim_first = (uint32_t)(address - range.data);
    finding->tenant = berth_watch_tenant(watch, address);
    return;
  }
  for (uint32_t i = 0; i < guard->graph.tensor_count; i++) { /* rows that it must not read */
    const berth_graph_tensor_t *tensor = &guard->graph.tensors[i];
    if (!is_live(watch, i) || !covers(guard, tensor, address)) continue;
    finding->owner = BERTH_GUARD_TENSOR;
    finding->victim = tensor->tensor;
    finding->victim_first = (uint32_t)(address - base) - guard->interpreter->places[i];
    return;
  }
  finding->owner = BERTH_GUARD_NOBODY;
  finding->victim_first = (uint32_t)(address - base);
  finding->tenant = berth_watch_tenant(watch, address);
}
