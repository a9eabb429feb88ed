/* The network as streaming sees it: which rows need which, as nodes and edges in the caller's
 * workspace. Made once for an interval of steps; src/graph/stream_schedule.c walks it.
 *
 * Only what both ends of are in the interval becomes an edge: anything else is there from the
 * start. A window that cannot be trusted (it runs backwards, or its batches don't match) becomes
 * "all rows", which is right for every operator.
 *
 * Cost: (operands of the model) x (operators of the interval), without any table by tensor, since
 * a device keeps this in its arena.
 */
#include "berth/stream.h"
#include "graph/stream.h"
#include "plan/workspace.h"

/* ---- Rows ----------------------------------------------------------------------------------- */

berth_stream_tensor_t berth_stream_tensor(uint32_t rank, const int32_t *dims, uint32_t bytes) {
  berth_stream_tensor_t tensor = {1, 1, bytes};
  if (rank < 3) return tensor;
  tensor.batch_rows = (uint32_t)dims[berth_row_dimension(rank, dims)];
  tensor.rows = (uint32_t)dims[0] * tensor.batch_rows;
  tensor.row_bytes = tensor.rows > 0 ? bytes / tensor.rows : 0;
  return tensor;
}

/* floor(row x numerator / denominator), of numbers that aren't negative. */
static int64_t scaled(uint32_t row, const berth_window_t *window) {
  int64_t product = (int64_t)row * window->numerator;
  return window->denominator == 1 ? product : product / window->denominator;
}

static uint32_t clipped(int64_t row, uint32_t rows) {
  return row < 0 ? 0 : row > (int64_t)rows ? rows : (uint32_t)row;
}

berth_stream_rows_t berth_stream_needed(const berth_window_t *window, berth_stream_tensor_t from,
                                        berth_stream_tensor_t to, uint32_t first, uint32_t last) {
  if (first >= last) return (berth_stream_rows_t){0, 0};
  if (window->extent == 0) return (berth_stream_rows_t){0, from.rows};
  uint32_t end = last - 1, first_batch = 0, last_batch = 0;
  if (to.batch_rows < to.rows) {
    first_batch = first / to.batch_rows;
    last_batch = end / to.batch_rows;
  }
  int64_t low = scaled(first - first_batch * to.batch_rows, window) + window->offset;
  int64_t high = scaled(end - last_batch * to.batch_rows, window) + window->offset + window->extent;
  return (berth_stream_rows_t){
      first_batch * from.batch_rows + clipped(low, from.batch_rows),
      last_batch * from.batch_rows + clipped(high, from.batch_rows),
  };
}

/* ---- Layout --------------------------------------------------------------------------------- */

typedef struct build {
  const berth_stream_network_t *network;
  berth_subgraph_t subgraph;
  berth_stream_t stream;
  uint32_t last; /* step */
  uint32_t edge_count;
} build_t;

static berth_operator_t operator_at(const build_t *b, uint32_t step) {
  uint32_t op = b->network->order != NULL ? b->network->order[step] : step;
  return berth_model_operator(b->network->model, 0, op);
}

static const berth_contract_t *contract_at(const build_t *b, uint32_t step) {
  uint32_t op = b->network->order != NULL ? b->network->order[step] : step;
  return &b->network->contracts[op];
}

/* The steps must be there, and their operators in the model. */
static berth_status_t check(const build_t *b, uint32_t first, uint32_t last) {
  uint32_t count = b->subgraph.operator_count;
  if (first > last || last >= count) return BERTH_ERROR_ARGUMENT;
  for (uint32_t step = 0; b->network->order != NULL && step < count; step++) {
    if (b->network->order[step] >= count) return BERTH_ERROR_ARGUMENT;
  }
  return BERTH_OK;
}

/* Constants, and whatever has no rows, need no edge. */
static bool has_rows(const build_t *b, int32_t tensor) {
  return tensor >= 0 && b->network->tensors[tensor].rows > 0;
}

static uint32_t edges_at(const build_t *b, uint32_t step) {
  berth_vector_t inputs = operator_at(b, step).inputs;
  uint32_t count = 0;
  for (uint32_t i = 0; i < inputs.count; i++) count += has_rows(b, berth_vector_int(inputs, i));
  return count;
}

static void lay_out(build_t *b, uint32_t first, uint32_t last, berth_workspace_t *workspace) {
  size_t edges = 0, steps = (size_t)last - first + 1;
  for (uint32_t step = first; step <= last; step++) edges += edges_at(b, step);
  b->last = last;
  b->stream.first_step = first;
  b->stream.input_count = b->subgraph.inputs.count;
  b->stream.node_count = b->stream.input_count + (uint32_t)steps;
  b->stream.nodes = berth_workspace_take(workspace, (size_t)b->stream.input_count + steps + 1,
                                         sizeof(berth_stream_node_t));
  b->stream.edges = berth_workspace_take(workspace, edges, sizeof(berth_stream_edge_t));
}

berth_status_t berth_stream_workspace(const berth_stream_network_t *network, uint32_t first,
                                      uint32_t last, size_t *bytes) {
  build_t b = {.network = network, .subgraph = berth_model_subgraph(network->model, 0)};
  berth_status_t status = check(&b, first, last);
  if (status != BERTH_OK) return status;
  berth_workspace_t workspace = berth_workspace_measure();
  lay_out(&b, first, last, &workspace);
  return berth_workspace_needed(&workspace, bytes);
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

/* Rows of the tensor at `index` of a list; none where the tensor is left out. */
static berth_stream_tensor_t shape_at(const build_t *b, berth_vector_t list, uint32_t index) {
  int32_t tensor = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (tensor < 0) return (berth_stream_tensor_t){0, 1, 0};
  return b->network->tensors[tensor];
}

/* Row-local, with outputs that can be cut alike? */
static bool outputs_agree(const build_t *b, const berth_operator_t *op) {
  berth_stream_tensor_t first = shape_at(b, op->outputs, 0);
  for (uint32_t i = 1; i < op->outputs.count; i++) {
    berth_stream_tensor_t other = shape_at(b, op->outputs, i);
    if (other.rows != first.rows || other.batch_rows != first.batch_rows) return false;
  }
  return first.rows > 0;
}

bool berth_stream_has_variable(const berth_model_t *model, berth_vector_t tensors) {
  for (uint32_t i = 0; i < tensors.count; i++) {
    int32_t tensor = berth_vector_int(tensors, i);
    if (tensor >= 0 && berth_model_tensor(model, 0, (uint32_t)tensor).is_variable) return true;
  }
  return false;
}

static void add_step(build_t *b, uint32_t step) {
  berth_operator_t op = operator_at(b, step);
  const berth_contract_t *contract = contract_at(b, step);
  berth_stream_node_t *node = &b->stream.nodes[b->stream.input_count + step - b->stream.first_step];
  berth_stream_tensor_t output = shape_at(b, op.outputs, 0), input = shape_at(b, op.inputs, 0);
  *node = (berth_stream_node_t){.step = step,
                                .tensor = BERTH_NOBODY,
                                .output = output.rows,
                                .batch_rows = output.batch_rows,
                                .first_use = BERTH_NOBODY,
                                .last_use = BERTH_NOBODY,
                                .kind = (uint8_t)contract->kind};
  if (op.outputs.count > 0) node->tensor = (uint32_t)berth_vector_int(op.outputs, 0);
  node->single = op.outputs.count == 1;
  if (node->kind == BERTH_ROW_LOCAL && !outputs_agree(b, &op)) node->kind = BERTH_WHOLE;
  if (node->kind == BERTH_ACCUMULATING && input.rows == 0) node->kind = BERTH_WHOLE;
  node->ordered = contract->kind == BERTH_WHOLE && contract->ordered && node->single;
  node->given = node->kind == BERTH_ROW_LOCAL      ? output.rows
                : node->kind == BERTH_ACCUMULATING ? input.rows
                                                   : 1;
  node->can_view = contract->view == BERTH_VIEW_SAME && node->kind == BERTH_WHOLE;
  node->has_past = contract->state > 0 || berth_graph_has_effects(&op) ||
                   berth_stream_has_variable(b->network->model, op.inputs);
}

static void add_input(build_t *b, uint32_t index) {
  berth_stream_tensor_t shape = shape_at(b, b->subgraph.inputs, index);
  b->stream.nodes[index] =
      (berth_stream_node_t){.step = BERTH_NOBODY,
                            .tensor = (uint32_t)berth_vector_int(b->subgraph.inputs, index),
                            .output = shape.rows,
                            .batch_rows = shape.batch_rows,
                            .given = shape.rows,
                            .first_use = BERTH_NOBODY,
                            .last_use = BERTH_NOBODY,
                            .single = true,
                            .kind = BERTH_ROW_LOCAL};
}

/* ---- Edges ---------------------------------------------------------------------------------- */

/* The node that makes a tensor, or BERTH_NOBODY: a constant, or made before or after. */
static uint32_t maker_of(const build_t *b, uint32_t tensor) {
  for (uint32_t i = 0; i < b->stream.node_count; i++) {
    const berth_stream_node_t *node = &b->stream.nodes[i];
    if (node->tensor == tensor) return i;
    if (node->step == BERTH_NOBODY || node->single) continue;
    if (berth_vector_holds(operator_at(b, node->step).outputs, tensor)) return i;
  }
  return BERTH_NOBODY;
}

/* The window of input `index`, as far as it can be trusted. */
static berth_window_t window_of(const build_t *b, const berth_stream_node_t *node, uint32_t index,
                                berth_stream_tensor_t from) {
  const berth_contract_t *contract = contract_at(b, node->step);
  const berth_window_t all = {1, 1, 0, 0};
  if (node->kind != BERTH_ROW_LOCAL && !node->ordered) return all;
  berth_window_t window =
      contract->windows[index < BERTH_WINDOWS_MAX ? index : BERTH_WINDOWS_MAX - 1];
  bool batches_match = node->batch_rows > 0 && from.batch_rows > 0 &&
                       node->output / node->batch_rows == from.rows / from.batch_rows;
  if (window.numerator < 0 || window.denominator < 1 || window.extent < 1 || !batches_match)
    return all;
  return window;
}

/* Does output row r need row r of this input, and no other? */
static bool goes_row_by_row(const build_t *b, const berth_stream_node_t *node, uint32_t index,
                            berth_stream_tensor_t from) {
  berth_window_t window = window_of(b, node, index, from);
  return from.rows == node->output && window.numerator == 1 && window.denominator == 1 &&
         window.offset == 0 && window.extent == 1;
}

/* May an output row be written over the row of the same number of this input? */
static bool may_be_over(const build_t *b, const berth_stream_node_t *node, uint32_t index,
                        berth_stream_tensor_t from) {
  const berth_contract_t *contract = contract_at(b, node->step);
  if (!contract->known || !node->single || index >= 32) return false;
  return contract->in_place >> index & 1u && goes_row_by_row(b, node, index, from) &&
         from.row_bytes == b->network->tensors[node->tensor].row_bytes;
}

/* Does the output keep step with this input, however it is cut? */
static bool is_in_step(const build_t *b, const berth_stream_node_t *node, uint32_t index,
                       berth_stream_tensor_t from) {
  const berth_contract_t *contract = contract_at(b, node->step);
  if (!contract->known || !node->single || index >= 32) return false;
  if (!(contract->in_step >> index & 1u) || node->kind == BERTH_ACCUMULATING) return false;
  return node->kind == BERTH_WHOLE || goes_row_by_row(b, node, index, from);
}

/* Notes that `step` reads what `node` makes; as an edge, if the step is in the interval. */
static void add_use(build_t *b, uint32_t step, uint32_t input, uint32_t tensor) {
  uint32_t source = maker_of(b, tensor);
  if (source == BERTH_NOBODY) return;
  berth_stream_node_t *maker = &b->stream.nodes[source];
  maker->shared = maker->first_use != BERTH_NOBODY;
  if (maker->first_use == BERTH_NOBODY || step < maker->first_use) maker->first_use = step;
  if (maker->last_use == BERTH_NOBODY || step > maker->last_use) maker->last_use = step;
  const berth_contract_t *contract = contract_at(b, step);
  bool any_rows = contract->kind == BERTH_ACCUMULATING && contract->any_rows && input == 0;
  if (!any_rows && contract->view != BERTH_VIEW_SAME) maker->can_view = false;
  if (step < b->stream.first_step || step > b->last || !has_rows(b, (int32_t)tensor)) return;
  const berth_stream_node_t *reader =
      &b->stream.nodes[b->stream.input_count + step - b->stream.first_step];
  berth_stream_tensor_t shape = b->network->tensors[tensor];
  b->stream.edges[b->edge_count++] = (berth_stream_edge_t){
      .source = source,
      .reader = b->stream.input_count + step - b->stream.first_step,
      .tensor = tensor,
      .input = input,
      .shape = shape,
      .window = window_of(b, reader, input, shape),
      .in_place = may_be_over(b, reader, input, shape),
      .in_step = is_in_step(b, reader, input, shape),
  };
}

static void add_edges(build_t *b) {
  for (uint32_t i = 0; i < b->stream.input_count; i++) b->stream.nodes[i].edges = 0;
  for (uint32_t step = 0; step < b->subgraph.operator_count; step++) {
    if (step >= b->stream.first_step && step <= b->last) {
      b->stream.nodes[b->stream.input_count + step - b->stream.first_step].edges = b->edge_count;
    }
    berth_vector_t inputs = operator_at(b, step).inputs;
    for (uint32_t i = 0; i < inputs.count; i++) {
      int32_t tensor = berth_vector_int(inputs, i);
      if (tensor >= 0) add_use(b, step, i, (uint32_t)tensor);
    }
  }
  b->stream.nodes[b->stream.node_count] = (berth_stream_node_t){.edges = b->edge_count};
}

/* Whatever nobody reads, or the caller of the model, must be made for good; likewise variables,
 * whoever makes them: the next invoke wants them. */
static void find_kept(build_t *b) {
  for (uint32_t i = 0; i < b->stream.node_count; i++) {
    berth_stream_node_t *node = &b->stream.nodes[i];
    bool any = berth_vector_holds(b->subgraph.outputs, node->tensor);
    bool is_variable = node->step == BERTH_NOBODY &&
                       berth_model_tensor(b->network->model, 0, node->tensor).is_variable;
    node->delivered = any;
    if (node->step != BERTH_NOBODY) {
      berth_vector_t outputs = operator_at(b, node->step).outputs;
      is_variable = berth_stream_has_variable(b->network->model, outputs);
      for (uint32_t k = 1; k < outputs.count; k++) {
        int32_t tensor = berth_vector_int(outputs, k);
        bool is_output = tensor >= 0 && berth_vector_holds(b->subgraph.outputs, (uint32_t)tensor);
        any = any || is_output;
        node->delivered = node->delivered && is_output;
      }
    }
    node->kept = any || is_variable || node->first_use == BERTH_NOBODY;
    if (node->kept) node->can_view = false;
  }
}

berth_status_t berth_stream_init(const berth_stream_network_t *network, uint32_t first,
                                 uint32_t last, void *memory, size_t workspace_bytes,
                                 berth_stream_t *stream) {
  build_t b = {.network = network, .subgraph = berth_model_subgraph(network->model, 0)};
  berth_status_t status = check(&b, first, last);
  if (status != BERTH_OK) return status;
  berth_workspace_t workspace = berth_workspace_over(memory, workspace_bytes);
  lay_out(&b, first, last, &workspace);
  status = berth_workspace_status(&workspace);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < b.stream.input_count; i++) add_input(&b, i);
  for (uint32_t step = first; step <= last; step++) add_step(&b, step);
  add_edges(&b);
  find_kept(&b);
  b.stream.at = b.stream.top = BERTH_NOBODY;
  *stream = b.stream;
  return BERTH_OK;
}
