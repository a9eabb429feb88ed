/* From a model to what the search for an order works on. Linear in the model's operands, besides
 * the sets, which are quadratic bits. */
#include "graph/order_network.h"
#include "graph/calls.h"
#include "plan/round.h"
#include <string.h>

static uint64_t operand_count(const berth_graph_t *graph) {
  uint64_t sum = 0;
  uint32_t operators = berth_model_subgraph(graph->model, 0).operator_count;
  for (uint32_t i = 0; i < operators; i++) {
    berth_operator_t op = berth_model_operator(graph->model, 0, i);
    sum += 2 * (uint64_t)op.inputs.count + op.outputs.count;
  }
  return sum;
}

void berth_order_network_lay_out(berth_order_network_t *n, const berth_graph_t *graph,
                                 berth_workspace_t *workspace) {
  berth_subgraph_t subgraph = berth_model_subgraph(graph->model, 0);
  uint64_t operands = operand_count(graph);
  n->operators = subgraph.operator_count;
  n->words = (n->operators + 63) / 64;
  n->value_count = subgraph.tensor_count;
  if (operands > UINT32_MAX - 1) workspace->overflow = true;
  n->list_room = (uint32_t)operands;
  if (n->words > 0 && n->value_count > SIZE_MAX / 8 / n->words) workspace->overflow = true;
  n->values = berth_workspace_take(workspace, n->value_count, sizeof *n->values);
  n->value_of = berth_workspace_take(workspace, n->value_count, sizeof *n->value_of);
  n->readers = berth_workspace_take(workspace, (size_t)n->value_count * n->words, 8);
  n->ops = berth_workspace_take(workspace, n->operators, sizeof *n->ops);
  n->lists = berth_workspace_take(workspace, n->list_room, sizeof *n->lists);
  n->before = berth_workspace_take(workspace, (size_t)n->operators * n->words, 8);
  n->after = berth_workspace_take(workspace, (size_t)n->operators * n->words, 8);
}

/* ---- Values --------------------------------------------------------------------------------- */

static uint32_t tensor_at(berth_vector_t list, uint32_t index) {
  int32_t tensor = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  return tensor == BERTH_NO_TENSOR ? BERTH_NOBODY : (uint32_t)tensor;
}

static uint32_t value_at(const berth_order_network_t *n, berth_vector_t list, uint32_t index) {
  uint32_t tensor = tensor_at(list, index);
  return tensor == BERTH_NOBODY ? BERTH_NOBODY : n->value_of[tensor];
}

static void find_values(berth_order_network_t *n, const berth_graph_t *graph,
                        const berth_sharing_t *sharing, const berth_order_options_t *options) {
  for (uint32_t t = 0; t < n->value_count; t++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[t];
    bool planned = tensor->allocation == BERTH_ALLOCATION_ARENA_RW;
    n->value_of[t] = planned ? t : BERTH_NOBODY;
    n->values[t] = (berth_order_value_t){
        .bytes =
            planned ? (tensor->bytes + options->align - 1) / options->align * options->align : 0,
        .producer = tensor->producer,
        .kept = tensor->kind == BERTH_KIND_OUTPUT ||
                (tensor->kind == BERTH_KIND_INPUT && options->keep_inputs)};
  }
  /* Views, in the file's order, so that what is viewed stands for something already. */
  for (uint32_t i = 0; options->overlap != BERTH_OVERLAP_NONE && i < n->operators; i++) {
    if (sharing[i].view != BERTH_VIEW_SAME) continue;
    berth_operator_t op = berth_model_operator(graph->model, 0, i);
    uint32_t from = tensor_at(op.inputs, 0), to = tensor_at(op.outputs, 0);
    if (from == BERTH_NOBODY || to == BERTH_NOBODY || n->value_of[from] == BERTH_NOBODY ||
        n->value_of[to] == BERTH_NOBODY || graph->tensors[from].bytes != graph->tensors[to].bytes) {
      continue;
    }
    n->value_of[to] = n->value_of[from];
    if (n->values[to].kept) n->values[n->value_of[from]].kept = true;
  }
}

static bool contains(const uint32_t *list, uint32_t count, uint32_t value) {
  for (uint32_t i = 0; i < count; i++) {
    if (list[i] == value) return true;
  }
  return false;
}

/* May output 0 of the operator replace this value? Wherever it reads it, that must be permitted. */
static bool is_replaceable(const berth_order_network_t *n, const berth_graph_t *graph,
                           const berth_operator_t *op, berth_sharing_t sharing, uint32_t value) {
  uint32_t output = tensor_at(op->outputs, 0);
  if (n->values[value].kept || output == BERTH_NOBODY) return false;
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    if (value_at(n, op->inputs, i) != value) continue;
    if (i >= 32 || !(sharing.in_place >> i & 1u)) return false;
    if (graph->tensors[tensor_at(op->inputs, i)].bytes != graph->tensors[output].bytes) {
      return false;
    }
  }
  return true;
}

static uint32_t list_operator(berth_order_network_t *n, const berth_graph_t *graph, uint32_t index,
                              berth_sharing_t sharing, const berth_order_options_t *options,
                              uint32_t at) {
  berth_operator_t op = berth_model_operator(graph->model, 0, index);
  berth_order_operator_t *to = &n->ops[index];
  *to = (berth_order_operator_t){.extra = options->extra != NULL ? options->extra[index] : 0};
  to->inputs = at;
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    uint32_t value = value_at(n, op.inputs, i);
    if (value == BERTH_NOBODY || contains(n->lists + to->inputs, at - to->inputs, value)) continue;
    n->lists[at++] = value;
    n->values[value].read = true;
    berth_bit_set(n->readers + (size_t)value * n->words, index);
  }
  to->outputs = at;
  for (uint32_t i = 0; i < op.outputs.count; i++) {
    uint32_t value = value_at(n, op.outputs, i);
    if (value != BERTH_NOBODY && n->values[value].producer == index) n->lists[at++] = value;
  }
  to->replaced = at;
  uint32_t output = value_at(n, op.outputs, 0);
  bool own = output != BERTH_NOBODY && n->values[output].producer == index;
  if (options->overlap == BERTH_OVERLAP_INPLACE && own && output == tensor_at(op.outputs, 0)) {
    for (uint32_t i = to->inputs; i < to->outputs; i++) {
      if (is_replaceable(n, graph, &op, sharing, n->lists[i])) n->lists[at++] = n->lists[i];
    }
    if (at > to->replaced) to->in_place = n->values[output].bytes;
  }
  to->end = at;
  return at;
}

/* ---- What must come before what -------------------------------------------------------------- */

static void require(berth_order_network_t *n, uint32_t first, uint32_t then) {
  if (first == then || first == BERTH_NOBODY) return;
  berth_bit_set(n->before + (size_t)then * n->words, first);
  berth_bit_set(n->after + (size_t)first * n->words, then);
}

static bool touches(const berth_operator_t *op, uint32_t tensor) {
  return berth_vector_holds(op->inputs, tensor) || berth_vector_holds(op->outputs, tensor);
}

static void find_constraints(berth_order_network_t *n, const berth_graph_t *graph) {
  uint32_t effect = BERTH_NOBODY;
  for (uint32_t i = 0; i < n->operators; i++) {
    berth_operator_t op = berth_model_operator(graph->model, 0, i);
    for (uint32_t k = 0; k < op.inputs.count; k++) {
      uint32_t tensor = tensor_at(op.inputs, k);
      if (tensor == BERTH_NOBODY) continue;
      if (graph->tensors[tensor].kind == BERTH_KIND_VARIABLE) continue;
      require(n, graph->tensors[tensor].producer, i);
    }
    if (berth_graph_has_effects(&op)) {
      require(n, effect, i);
      effect = i;
    }
  }
  for (uint32_t t = 0; t < n->value_count; t++) {
    if (graph->tensors[t].kind != BERTH_KIND_VARIABLE) continue;
    uint32_t last = BERTH_NOBODY;
    for (uint32_t i = 0; i < n->operators; i++) {
      berth_operator_t op = berth_model_operator(graph->model, 0, i);
      if (!touches(&op, t)) continue;
      require(n, last, i);
      last = i;
    }
  }
}

/* Variables are live in every step, the tensors of subgraphs while they are called. */
static void count_elsewhere(berth_order_network_t *n, const berth_graph_t *graph, uint32_t align) {
  for (uint32_t t = 0; t < graph->tensor_count; t++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[t];
    uint64_t bytes = berth_round_up(tensor->bytes, align);
    if (tensor->allocation == BERTH_ALLOCATION_PERSISTENT) n->start += bytes;
    if (tensor->allocation != BERTH_ALLOCATION_ARENA_RW || tensor->subgraph == 0) continue;
    n->ops[tensor->first].extra += bytes; /* steps are operators of the file's order */
    if (tensor->last != tensor->first) n->ops[tensor->last].extra += bytes;
  }
}

void berth_order_network_fill(berth_order_network_t *n, const berth_graph_t *graph,
                              const berth_sharing_t *sharing,
                              const berth_order_options_t *options) {
  size_t set = (size_t)n->operators * n->words * 8;
  memset(n->readers, 0, (size_t)n->value_count * n->words * 8);
  memset(n->before, 0, set);
  memset(n->after, 0, set);
  find_values(n, graph, sharing, options);
  uint32_t at = 0;
  for (uint32_t i = 0; i < n->operators; i++) {
    at = list_operator(n, graph, i, sharing[i], options, at);
  }
  find_constraints(n, graph);
  n->start = n->first_step = 0;
  count_elsewhere(n, graph, options->align);
  for (uint32_t t = 0; t < n->value_count; t++) {
    if (n->value_of[t] != t || n->values[t].producer != BERTH_NOBODY) continue;
    bool stays = n->values[t].read || n->values[t].kept;
    *(stays ? &n->start : &n->first_step) += n->values[t].bytes;
  }
}
