/* Walks through the model as TFLM executes it, control flow included: each called subgraph once, in
 * place of the call. */
#include "stock/tflm_lifetimes.h"
#include "berth/graph.h"

#define DEPTH_MAX  32u                 /* calls within calls; deeper ones are a circle, or no use */
#define VISITS_MAX (UINT32_C(1) << 24) /* operators, each counted as often as it is called */

typedef struct walk {
  berth_tflm_lifetimes_t *lifetimes;
  berth_tflm_error_t *error;
  uint32_t visits;
  uint32_t depth;
  int32_t time;
} walk_t;

static void created(berth_tflm_info_t *info, int32_t time) {
  if (info->first == -1) info->first = time;
}

static berth_tflm_info_t *info_of(const walk_t *walk, uint32_t subgraph, int32_t tensor) {
  return &walk->lifetimes->infos[walk->lifetimes->bases[subgraph] + (uint32_t)tensor];
}

static void mark(const walk_t *walk, uint32_t subgraph, berth_vector_t tensors, bool create,
                 bool use) {
  for (uint32_t i = 0; i < tensors.count; i++) {
    int32_t tensor = berth_vector_int(tensors, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    berth_tflm_info_t *info = info_of(walk, subgraph, tensor);
    if (create) created(info, walk->time);
    if (use) info->last = walk->time;
  }
}

/* Scratch lives from before the calls of its operator to behind them. Requests are sorted by
 * subgraph and operator. */
static void mark_scratch(const walk_t *walk, uint32_t subgraph, uint32_t op, int32_t start) {
  const berth_tflm_lifetimes_t *lifetimes = walk->lifetimes;
  uint32_t low = 0, high = lifetimes->request_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const berth_tflm_request_t *request = &lifetimes->requests[middle];
    bool before =
        request->subgraph < subgraph || (request->subgraph == subgraph && request->op < op);
    if (before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < lifetimes->request_count; low++) {
    const berth_tflm_request_t *request = &lifetimes->requests[low];
    if (request->subgraph != subgraph || request->op != op) break;
    berth_tflm_info_t *info = &lifetimes->infos[lifetimes->tensor_count + low];
    created(info, start);
    info->last = walk->time;
  }
}

static berth_status_t refuse(const walk_t *walk, const char *what, uint32_t subgraph, uint32_t op) {
  *walk->error = (berth_tflm_error_t){what, subgraph, op, UINT32_MAX};
  return BERTH_ERROR_FORMAT;
}

static berth_status_t enter(walk_t *walk, uint32_t subgraph);

/* The subgraphs that the operator calls, as far as TFLM knows such operators. */
static berth_status_t call(walk_t *walk, const berth_operator_t *op, uint32_t subgraph,
                           uint32_t index) {
  bool calls = op->code == BERTH_BUILTIN_IF || op->code == BERTH_BUILTIN_WHILE ||
               op->code == BERTH_BUILTIN_CALL_ONCE;
  uint32_t count = calls ? berth_graph_callee_count(op) : 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t callee = berth_graph_callee(walk->lifetimes->model, op, i);
    if (callee == BERTH_NOBODY) {
      return refuse(walk, "it calls a subgraph that the model has not", subgraph, index);
    }
    if (walk->depth == DEPTH_MAX) {
      return refuse(walk, "calls nest too deeply, or in a circle", subgraph, index);
    }
    walk->time++;
    walk->depth++;
    berth_status_t status = enter(walk, callee);
    if (status != BERTH_OK) return status;
    walk->depth--;
  }
  return BERTH_OK;
}

static berth_status_t enter(walk_t *walk, uint32_t subgraph) {
  berth_subgraph_t info = berth_model_subgraph(walk->lifetimes->model, subgraph);
  mark(walk, subgraph, info.inputs, true, true);
  for (uint32_t i = 0; i < info.operator_count; i++) {
    if (++walk->visits > VISITS_MAX) return refuse(walk, "calls are too many", subgraph, i);
    walk->time++;
    berth_operator_t op = berth_model_operator(walk->lifetimes->model, subgraph, i);
    mark(walk, subgraph, op.outputs, true, false);
    int32_t start = walk->time;
    berth_status_t status = call(walk, &op, subgraph, i);
    if (status != BERTH_OK) return status;
    mark(walk, subgraph, op.inputs, false, true);
    mark(walk, subgraph, op.outputs, false, true);
    mark_scratch(walk, subgraph, i, start);
  }
  mark(walk, subgraph, info.outputs, true, true);
  return BERTH_OK;
}

berth_status_t berth_tflm_find_lifetimes(berth_tflm_lifetimes_t *lifetimes,
                                         berth_tflm_error_t *error) {
  uint32_t count = lifetimes->tensor_count + lifetimes->request_count;
  for (uint32_t i = 0; i < count; i++) lifetimes->infos[i].first = lifetimes->infos[i].last = -1;
  walk_t walk = {.lifetimes = lifetimes, .error = error};
  return enter(&walk, 0);
}
