/* What the search for runs knows of tensors and steps before it looks at any run: bytes, lifetimes,
 * what windows need at least, and what a step needs that runs whole.
 *
 * Cost: linear in the model's operands, besides the rows of each and lifetimes times steps.
 */
#include "graph/stream_search.h"

#define SAMPLES   64u    /* rows of a reader that are looked at, where looking costs */
#define ROWS_MOST 16384u /* and where it doesn't */

static berth_operator_t operator_at(const berth_searching_t *s, uint32_t step) {
  uint32_t op = s->network->order != NULL ? s->network->order[step] : step;
  return berth_model_operator(s->network->model, 0, op);
}

static const berth_contract_t *contract_at(const berth_searching_t *s, uint32_t step) {
  return &s->network->contracts[s->network->order != NULL ? s->network->order[step] : step];
}

bool berth_stream_can_run(const berth_model_t *model, const berth_operator_t *op,
                          const berth_contract_t *contract) {
  if (!contract->known || berth_graph_callee_count(op) > 0) return false;
  if (op->code == BERTH_BUILTIN_VAR_HANDLE || op->code == BERTH_BUILTIN_READ_VARIABLE ||
      op->code == BERTH_BUILTIN_ASSIGN_VARIABLE) {
    return false;
  }
  if (berth_stream_has_variable(model, op->outputs)) return false;
  return contract->kind != BERTH_WHOLE || !berth_stream_has_variable(model, op->inputs);
}

/* Is it a graph input whose rows may come from the caller? */
static bool is_wanted(const berth_searching_t *s, uint32_t tensor) {
  berth_vector_t inputs = berth_model_subgraph(s->network->model, 0).inputs;
  for (uint32_t i = 0; i < inputs.count && i < 32; i++) {
    if ((uint32_t)berth_vector_int(inputs, i) == tensor) return s->options->push_inputs >> i & 1u;
  }
  return false;
}

static void read_tensor(berth_searching_t *s, uint32_t index) {
  const berth_graph_tensor_t *info = &s->graph->tensors[s->graph->bases[0] + index];
  search_tensor_t *tensor = &s->tensors[index];
  *tensor = (search_tensor_t){.made = BERTH_NOBODY};
  if (info->allocation != BERTH_ALLOCATION_ARENA_RW) return;
  berth_subgraph_t subgraph = berth_model_subgraph(s->network->model, 0);
  berth_stream_tensor_t shape = s->network->tensors[index];
  bool is_output = berth_vector_holds(subgraph.outputs, index);
  tensor->bytes = berth_searching_rounded(s, info->bytes);
  tensor->last = info->last;
  tensor->kept = is_output;
  if (info->producer != BERTH_NOBODY) tensor->made = info->first;
  bool cut = shape.rows > 1;
  tensor->pushed = is_wanted(s, index) && info->producer == BERTH_NOBODY && cut &&
                   info->reader_count > 0 && !is_output;
  tensor->goes = s->options->pull_outputs && is_output && info->reader_count == 0 && cut;
  tensor->least = berth_searching_rounded(s, shape.row_bytes);
}

/* What windows alone need: the rows between the first and the last that one output row reads. Where
 * windows of two rows in succession meet, rows are held over, and that their tensor lives in all
 * steps of a run is true but for runs of so few rows that its reader is done before others begin.
 * Short networks, where the search costs little, do without this. */
static void read_windows(berth_searching_t *s) {
  bool strict = s->result->exact;
  for (uint32_t i = 0; i < s->stream.node_count; i++) {
    const berth_stream_node_t *node = &s->stream.nodes[i];
    for (uint32_t e = node->edges; e < node[1].edges && node->step != BERTH_NOBODY; e++) {
      const berth_stream_edge_t *edge = &s->stream.edges[e];
      search_tensor_t *tensor = &s->tensors[edge->tensor];
      uint32_t most = 0, held = 0; /* the end of the last row's window */
      if (node->kind == BERTH_WHOLE || edge->window.extent == 0) {
        bool through = node->can_view || (node->kind == BERTH_ACCUMULATING && edge->input == 0);
        if (!through) most = edge->shape.rows;
        tensor->stays = tensor->stays || (most > 1 && !strict);
      } else {
        uint32_t stride = node->output / ROWS_MOST + 1; /* fewer rows: a lower bound all the same */
        for (uint32_t row = 0; row < node->output; row += stride) {
          berth_stream_rows_t rows = berth_stream_read(node, edge, row, row + 1);
          tensor->stays = tensor->stays || (rows.first < held && stride == 1 && !strict);
          held = rows.last;
          if (rows.last > rows.first && rows.last - rows.first > most)
            most = rows.last - rows.first;
        }
      }
      uint64_t bytes = berth_searching_rounded(s, (uint64_t)most * edge->shape.row_bytes);
      if (bytes > tensor->least) tensor->least = bytes;
    }
  }
}

/* How many rows of node `from` must have been made before node `to` makes row `row`, by way of
 * whatever lies between the two. */
static uint32_t rows_before(const berth_searching_t *s, uint32_t from, uint32_t to, uint32_t row) {
  const berth_stream_t *stream = &s->stream;
  uint32_t inner = from < stream->input_count ? stream->input_count : from + 1; /* first one */
  for (uint32_t i = inner; i <= to; i++) s->need[i] = 0;
  s->need[from] = 0;
  s->need[to] = row + 1;
  for (uint32_t i = to; i >= inner; i--) {
    const berth_stream_node_t *node = &stream->nodes[i];
    if (s->need[i] == 0) continue;
    for (uint32_t e = node->edges; e < node[1].edges; e++) {
      const berth_stream_edge_t *edge = &stream->edges[e];
      if (edge->source != from && edge->source < inner) continue;
      uint32_t rows = stream->nodes[edge->source].output;
      if (node->kind == BERTH_ROW_LOCAL) rows = berth_stream_read(node, edge, 0, s->need[i]).last;
      if (rows > s->need[edge->source]) s->need[edge->source] = rows;
    }
  }
  return s->need[from];
}

/* What a tensor needs that is read again when others have been made of it, as a residual block's
 * skip is: from the first row that its last reader reads to the last one that was needed for what
 * else that reader reads. It holds in every run that has the tensor inside. */
static void read_skips(berth_searching_t *s) {
  const berth_stream_t *stream = &s->stream;
  for (uint32_t i = stream->input_count; i < stream->node_count; i++) {
    const berth_stream_node_t *node = &stream->nodes[i];
    if (node->kind != BERTH_ROW_LOCAL) continue;
    for (uint32_t e = node->edges; e < node[1].edges; e++) {
      const berth_stream_edge_t *edge = &stream->edges[e];
      const berth_stream_node_t *source = &stream->nodes[edge->source];
      search_tensor_t *tensor = &s->tensors[edge->tensor];
      if (!source->shared || tensor->bytes == 0 || edge->window.extent == 0) continue;
      uint32_t stride = node->output / SAMPLES + 1, most = 0;
      for (uint32_t row = 0; row < node->output; row += stride) {
        uint32_t first = berth_stream_read(node, edge, row, row + 1).first;
        uint32_t last = rows_before(s, edge->source, i, row);
        if (last > first && last - first > most) most = last - first;
      }
      uint64_t bytes = berth_searching_rounded(s, (uint64_t)most * edge->shape.row_bytes);
      if (bytes <= tensor->least) continue;
      tensor->least = bytes;
      tensor->stays = !s->result->exact;
    }
  }
}

/* Does `tensor` die in step `step`, before which it was there? */
static bool dies(const search_tensor_t *tensor, uint32_t step) {
  return tensor->bytes > 0 && tensor->last == step &&
         (tensor->made == BERTH_NOBODY || tensor->made < step);
}

/* Bytes that a whole step saves by writing over an input in place, or by being a view of it. */
static uint64_t saved_in_place(const berth_searching_t *s, const berth_operator_t *op,
                               uint32_t step) {
  const berth_contract_t *contract = contract_at(s, step);
  if (!contract->known || op->outputs.count == 0) return 0;
  int32_t output = berth_vector_int(op->outputs, 0);
  if (output < 0) return 0;
  for (uint32_t i = 0; i < op->inputs.count && i < 32; i++) {
    int32_t input = berth_vector_int(op->inputs, i);
    if (input < 0 || !(contract->in_place >> i & 1u)) continue;
    const search_tensor_t *from = &s->tensors[input], *to = &s->tensors[output];
    if (dies(from, step) && from->bytes == to->bytes && !from->pushed) return to->bytes;
  }
  return 0;
}

static void read_step(berth_searching_t *s, uint32_t step) {
  berth_operator_t op = operator_at(s, step);
  const berth_contract_t *contract = contract_at(s, step);
  const berth_stream_node_t *node = &s->stream.nodes[s->stream.input_count + step];
  search_step_t *it = &s->steps[step];
  it->can_run = berth_stream_can_run(s->network->model, &op, contract);
  it->calls = node->given + (step > 0 ? s->steps[step - 1].calls : 0);
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    uint64_t bytes = contract->scratch[i];
    if (i == 0 && node->kind == BERTH_ACCUMULATING) {
      it->sums =
          berth_searching_rounded(s, bytes > contract->accumulator ? bytes : contract->accumulator);
    }
    it->scratch += berth_searching_rounded(s, bytes);
  }
  it->whole = it->live + it->extra + it->scratch;
  for (uint32_t k = it->outputs; k < it->end; k++) it->whole += s->tensors[s->operands[k]].bytes;
  it->whole -= saved_in_place(s, &op, step);
  for (uint32_t k = it->inputs; k < it->outputs; k++) {
    if (s->tensors[s->operands[k]].pushed) it->whole = BERTH_STREAM_IMPOSSIBLE;
  }
}

/* The tensors of a step that take memory: different inputs, then outputs. */
static void list_operands(berth_searching_t *s, uint32_t step, uint32_t *count) {
  berth_operator_t op = operator_at(s, step);
  search_step_t *it = &s->steps[step];
  it->inputs = *count;
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    int32_t tensor = berth_vector_int(op.inputs, i);
    if (tensor < 0 || s->tensors[tensor].bytes == 0) continue;
    bool again = false;
    for (uint32_t k = it->inputs; k < *count; k++) again |= s->operands[k] == (uint32_t)tensor;
    if (!again) s->operands[(*count)++] = (uint32_t)tensor;
  }
  it->outputs = *count;
  for (uint32_t i = 0; i < op.outputs.count; i++) {
    int32_t tensor = berth_vector_int(op.outputs, i);
    if (tensor >= 0 && s->tensors[tensor].bytes > 0) s->operands[(*count)++] = (uint32_t)tensor;
  }
  it->end = *count;
}

size_t berth_searching_operands(const berth_stream_network_t *network) {
  size_t count = 0;
  uint32_t steps = berth_model_subgraph(network->model, 0).operator_count;
  for (uint32_t i = 0; i < steps; i++) {
    berth_operator_t op = berth_model_operator(network->model, 0, i);
    count += (size_t)op.inputs.count + op.outputs.count;
  }
  return count;
}

void berth_searching_read(berth_searching_t *s) {
  for (uint32_t i = 0; i < s->tensor_count; i++) read_tensor(s, i);
  read_windows(s);
  read_skips(s);
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    if (s->tensors[i].least > s->tensors[i].bytes) s->tensors[i].least = s->tensors[i].bytes;
  }
  for (uint32_t i = s->stream.input_count; i < s->stream.node_count; i++) {
    if (s->stream.nodes[i].can_view) s->tensors[s->stream.nodes[i].tensor].least = 0;
  }
  for (uint32_t i = 0; i < s->step_count; i++) s->steps[i] = (search_step_t){0};
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    const search_tensor_t *tensor = &s->tensors[i];
    if (tensor->bytes == 0 || tensor->pushed) continue;
    uint32_t from = tensor->made == BERTH_NOBODY ? 0 : tensor->made + 1;
    for (uint32_t step = from; step <= tensor->last && step < s->step_count; step++) {
      s->steps[step].live += tensor->bytes;
    }
  }
  for (uint32_t i = 0; i < s->graph->tensor_count; i++) { /* tensors of called subgraphs */
    const berth_graph_tensor_t *info = &s->graph->tensors[i];
    if (info->subgraph == 0 || info->allocation != BERTH_ALLOCATION_ARENA_RW) continue;
    for (uint32_t step = info->first; step <= info->last && step < s->step_count; step++) {
      s->steps[step].extra += berth_searching_rounded(s, info->bytes);
    }
  }
  uint32_t count = 0;
  for (uint32_t step = 0; step < s->step_count; step++) {
    list_operands(s, step, &count);
    read_step(s, step);
  }
  for (uint32_t i = 0; i < s->tensor_count; i++) s->total += s->tensors[i].bytes;
  for (uint32_t step = 0; step < s->step_count; step++) {
    s->total += s->steps[step].scratch + s->steps[step].sums + s->steps[step].extra;
  }
}
