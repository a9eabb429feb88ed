/* Float16 weights: DEQUANTIZE operators that need not run.
 *
 * Converters store float16 constants with a DEQUANTIZE behind each. Where every reader of the
 * result takes float16 at that place (berth_kernel_t.float16_inputs), it is shown the float16
 * tensor instead: the operator is skipped, and its result needs neither memory nor time. Linear in
 * the model's operators.
 */
#include "run.h"

bool berth_run_is_folded(const berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t tensor,
                         uint32_t *source) {
  uint32_t place = interpreter->places[berth_run_tensor_index(interpreter, subgraph, tensor)];
  if (place == PLACE_NONE || (place & PLACE_FOLDED) != PLACE_FOLDED) return false;
  *source = (place & ~PLACE_PERSISTENT) >> 1;
  return true;
}

bool berth_run_is_skipped(const berth_call_t *call) {
  uint32_t source;
  return call->op.code == BERTH_BUILTIN_DEQUANTIZE && call->op.outputs.count == 1 &&
         berth_vector_int(call->op.outputs, 0) != BERTH_NO_TENSOR &&
         berth_run_is_folded(call->interpreter, call->subgraph,
                             (uint32_t)berth_vector_int(call->op.outputs, 0), &source);
}

static bool has_same_shape(const berth_value_t *a, const berth_value_t *b) {
  if (!a->known || !b->known || a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++) {
    if (a->dims[i] != b->dims[i]) return false;
  }
  return true;
}

/* Marks the result of a DEQUANTIZE of a float16 tensor. */
static void propose(berth_interpreter_t *interpreter, uint32_t subgraph,
                    const berth_operator_t *op) {
  if (op->code != BERTH_BUILTIN_DEQUANTIZE || op->inputs.count != 1 || op->outputs.count != 1) {
    return;
  }
  int32_t from = berth_vector_int(op->inputs, 0), to = berth_vector_int(op->outputs, 0);
  if (from == BERTH_NO_TENSOR || to == BERTH_NO_TENSOR) return;
  berth_value_t source = berth_interpreter_tensor(interpreter, subgraph, (uint32_t)from);
  berth_value_t result = berth_interpreter_tensor(interpreter, subgraph, (uint32_t)to);
  if (source.type != BERTH_TYPE_FLOAT16 || result.type != BERTH_TYPE_FLOAT32 || result.constant ||
      source.variable || result.variable || !has_same_shape(&source, &result)) {
    return;
  }
  interpreter->places[berth_run_tensor_index(interpreter, subgraph, (uint32_t)to)] =
      PLACE_FOLDED | (uint32_t)from << 1;
}

static void withdraw(berth_interpreter_t *interpreter, uint32_t subgraph, int32_t tensor) {
  uint32_t source;
  if (tensor == BERTH_NO_TENSOR ||
      !berth_run_is_folded(interpreter, subgraph, (uint32_t)tensor, &source)) {
    return;
  }
  interpreter->places[berth_run_tensor_index(interpreter, subgraph, (uint32_t)tensor)] = PLACE_NONE;
}

/* Takes the marks back from what this operator wants as float32. */
static void object(berth_interpreter_t *interpreter, uint32_t subgraph,
                   const berth_operator_t *op) {
  const berth_kernel_t *kernel = interpreter->kernels[op->opcode];
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    if (kernel != NULL && i < 32 && (kernel->float16_inputs >> i & 1u)) continue;
    withdraw(interpreter, subgraph, berth_vector_int(op->inputs, i));
  }
}

void berth_run_fold(berth_interpreter_t *interpreter) {
  if (interpreter->options.no_reuse) return; /* every tensor can be read afterwards */
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    berth_subgraph_t graph = berth_model_subgraph(interpreter->model, s);
    for (uint32_t o = 0; o < graph.operator_count; o++) {
      berth_operator_t op = berth_model_operator(interpreter->model, s, o);
      propose(interpreter, s, &op);
    }
    for (uint32_t o = 0; o < graph.operator_count; o++) {
      berth_operator_t op = berth_model_operator(interpreter->model, s, o);
      object(interpreter, s, &op);
    }
    for (uint32_t i = 0; i < graph.outputs.count; i++) {
      withdraw(interpreter, s, berth_vector_int(graph.outputs, i));
    }
    for (uint32_t i = 0; i < graph.inputs.count; i++) {
      withdraw(interpreter, s, berth_vector_int(graph.inputs, i));
    }
  }
}

void berth_run_fold_lifetimes(const berth_interpreter_t *interpreter, berth_graph_t *graph) {
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[i];
    uint32_t source;
    if (!berth_run_is_folded(interpreter, tensor->subgraph, tensor->tensor, &source)) continue;
    berth_graph_tensor_t *shown = &graph->tensors[graph->bases[tensor->subgraph] + source];
    if (shown->last < tensor->last) shown->last = tensor->last;
  }
}
