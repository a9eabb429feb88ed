/* Lifetimes: when each tensor of a model must have its memory, by the rules of graph.h.
 *
 * Used by everything that plans a model. What matters is that no rule ever makes a lifetime too
 * short: a byte that is reused one step too early is a wrong result on someone's device.
 *
 * The work goes subgraph by subgraph. Callers come before callees where steps are handed down, and
 * callees before callers where the fact that a shape is unknown is handed up. All passes are
 * linear.
 */
#include "graph/calls.h"
#include "plan/workspace.h"

/* What is known of a tensor while the passes run, a bit each. */
enum {
  IS_DATA = 1,     /* a constant of the file */
  IS_OPEN = 2,     /* -1 in its shape signature */
  IS_INPUT = 4,    /* of its subgraph */
  IS_OUTPUT = 8,   /* of its subgraph */
  IS_VARIABLE = 16 /* keeps its value between invokes */
};

/* Most calls in one model: operators of a file may share one long list of callees, so that a small
 * file could ask for any amount of work. */
#define CALLS_MAX 1048576u

typedef struct analysis {
  const berth_model_t *model;
  const berth_graph_options_t *options;
  berth_graph_t graph;
  uint8_t *flags;     /* of each tensor */
  uint32_t *position; /* of each operator of subgraph 0 in the order of execution */
  uint32_t *order;    /* the same, inverse */
  uint32_t *callers;  /* of each subgraph: calls that are not yet accounted for */
  uint32_t *sorted;   /* subgraphs, callers before callees */
  uint32_t *unsized;  /* of each subgraph: origin of its first dynamic output, or BERTH_NOBODY */
  berth_graph_error_t error;
} analysis_t;

static berth_status_t fail(analysis_t *a, berth_status_t status, const char *what,
                           uint32_t subgraph, uint32_t op, uint32_t tensor) {
  a->error = (berth_graph_error_t){what, subgraph, op, tensor};
  return status;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void lay_out(analysis_t *a, berth_workspace_t *workspace) {
  const berth_model_t *model = a->model;
  uint64_t tensors = 0;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    tensors += berth_model_subgraph(model, s).tensor_count;
  }
  if (tensors >= UINT32_MAX) {
    workspace->overflow = true;
    return;
  }
  uint32_t operators = berth_model_subgraph(model, 0).operator_count;
  a->graph.model = model;
  a->graph.tensor_count = (uint32_t)tensors;
  a->graph.step_count = operators > 0 ? operators : 1;
  a->graph.tensors = berth_workspace_take(workspace, (size_t)tensors, sizeof(berth_graph_tensor_t));
  a->graph.bases = berth_workspace_take(workspace, model->subgraph_count, sizeof(uint32_t));
  a->graph.called_first = berth_workspace_take(workspace, model->subgraph_count, sizeof(uint32_t));
  a->graph.called_last = berth_workspace_take(workspace, model->subgraph_count, sizeof(uint32_t));
  a->callers = berth_workspace_take(workspace, model->subgraph_count, sizeof(uint32_t));
  a->sorted = berth_workspace_take(workspace, model->subgraph_count, sizeof(uint32_t));
  a->unsized = berth_workspace_take(workspace, model->subgraph_count, sizeof(uint32_t));
  a->position = berth_workspace_take(workspace, operators, sizeof(uint32_t));
  a->order = berth_workspace_take(workspace, operators, sizeof(uint32_t));
  a->flags = berth_workspace_take(workspace, (size_t)tensors, 1);
}

berth_status_t berth_graph_workspace(const berth_model_t *model, size_t *bytes) {
  analysis_t a = {.model = model};
  berth_workspace_t workspace = berth_workspace_measure();
  lay_out(&a, &workspace);
  return berth_workspace_needed(&workspace, bytes);
}

/* ---- Small helpers -------------------------------------------------------------------------- */

static berth_graph_tensor_t *tensor_at(analysis_t *a, uint32_t subgraph, int32_t tensor) {
  return &a->graph.tensors[a->graph.bases[subgraph] + (uint32_t)tensor];
}

static uint8_t *flags_at(analysis_t *a, uint32_t subgraph, int32_t tensor) {
  return &a->flags[a->graph.bases[subgraph] + (uint32_t)tensor];
}

static bool is_constant(analysis_t *a, uint32_t subgraph, int32_t tensor) {
  return (*flags_at(a, subgraph, tensor) & IS_DATA) != 0 ||
         tensor_at(a, subgraph, tensor)->foldable;
}

/* Operator number `index` in the order in which the subgraph's operators run. */
static uint32_t operator_at(const analysis_t *a, uint32_t subgraph, uint32_t index) {
  return subgraph == 0 ? a->order[index] : index;
}

/* The place of operator `op` in that order. */
static uint32_t place_of(const analysis_t *a, uint32_t subgraph, uint32_t op) {
  return subgraph == 0 ? a->position[op] : op;
}

/* ---- Pass 1: the order of execution --------------------------------------------------------- */

static berth_status_t take_order(analysis_t *a) {
  uint32_t count = berth_model_subgraph(a->model, 0).operator_count;
  for (uint32_t i = 0; i < count; i++) a->position[i] = BERTH_NOBODY;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t op = a->options->order != NULL ? a->options->order[i] : i;
    if (op >= count || a->position[op] != BERTH_NOBODY) {
      return fail(a, BERTH_ERROR_ARGUMENT, "the order is not a permutation of the operators", 0, op,
                  UINT32_MAX);
    }
    a->position[op] = i;
    a->order[i] = op;
  }
  return BERTH_OK;
}

/* ---- Pass 2: who writes and reads each tensor ------------------------------------------------ */

static uint32_t count_open(berth_vector_t dimensions) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < dimensions.count; i++) count += berth_vector_int(dimensions, i) < 0;
  return count;
}

static void start_tensors(analysis_t *a, uint32_t subgraph, const berth_subgraph_t *info) {
  for (uint32_t i = 0; i < info->tensor_count; i++) {
    berth_tensor_t tensor = berth_model_tensor(a->model, subgraph, i);
    uint32_t index = a->graph.bases[subgraph] + i;
    a->graph.tensors[index] = (berth_graph_tensor_t){
        .subgraph = subgraph,
        .tensor = i,
        .producer = BERTH_NOBODY,
        .last_reader = BERTH_NOBODY,
        .origin = index,
        .allocation = BERTH_ALLOCATION_NONE,
        .kind = tensor.is_variable ? BERTH_KIND_VARIABLE : BERTH_KIND_ACTIVATION,
    };
    uint8_t flags = 0;
    if (tensor.is_variable) {
      flags |= IS_VARIABLE;
    } else if (tensor.external_buffer != 0 || berth_model_tensor_data(a->model, &tensor).size > 0) {
      flags |= IS_DATA;
    }
    if (count_open(tensor.signature) > 0) flags |= IS_OPEN;
    a->flags[index] = flags;
  }
  for (uint32_t i = 0; i < info->outputs.count; i++) {
    int32_t tensor = berth_vector_int(info->outputs, i);
    *flags_at(a, subgraph, tensor) |= IS_OUTPUT;
    if (subgraph == 0 && tensor_at(a, 0, tensor)->kind == BERTH_KIND_ACTIVATION) {
      tensor_at(a, 0, tensor)->kind = BERTH_KIND_OUTPUT;
    }
  }
  for (uint32_t i = 0; i < info->inputs.count; i++) {
    int32_t tensor = berth_vector_int(info->inputs, i);
    *flags_at(a, subgraph, tensor) |= IS_INPUT;
    if (subgraph == 0 && tensor_at(a, 0, tensor)->kind == BERTH_KIND_ACTIVATION) {
      tensor_at(a, 0, tensor)->kind = BERTH_KIND_INPUT;
    }
  }
}

static berth_status_t note_writes(analysis_t *a, uint32_t subgraph, uint32_t op,
                                  berth_vector_t outputs) {
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t index = berth_vector_int(outputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    berth_graph_tensor_t *tensor = tensor_at(a, subgraph, index);
    uint8_t flags = *flags_at(a, subgraph, index);
    if ((flags & IS_DATA) != 0) {
      return fail(a, BERTH_ERROR_FORMAT, "a constant is written", subgraph, op, (uint32_t)index);
    }
    if ((flags & IS_VARIABLE) == 0 &&
        (tensor->producer != BERTH_NOBODY || (flags & IS_INPUT) != 0)) {
      return fail(a, BERTH_ERROR_FORMAT, "a tensor is written twice", subgraph, op,
                  (uint32_t)index);
    }
    tensor->producer = op;
  }
  return BERTH_OK;
}

/* Needs every writer of the subgraph to be known, and goes in the order of execution. */
static berth_status_t note_reads(analysis_t *a, uint32_t subgraph, uint32_t op,
                                 berth_vector_t inputs) {
  for (uint32_t i = 0; i < inputs.count; i++) {
    int32_t index = berth_vector_int(inputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    berth_graph_tensor_t *tensor = tensor_at(a, subgraph, index);
    if (tensor->producer != BERTH_NOBODY &&
        place_of(a, subgraph, tensor->producer) >= place_of(a, subgraph, op) &&
        (*flags_at(a, subgraph, index) & IS_VARIABLE) == 0) {
      bool own_order = subgraph == 0 && a->options->order != NULL;
      return fail(a, own_order ? BERTH_ERROR_ARGUMENT : BERTH_ERROR_FORMAT,
                  "a tensor is read before it is written", subgraph, op, (uint32_t)index);
    }
    if (tensor->last_reader == op) continue; /* it reads the tensor twice */
    tensor->last_reader = op;
    tensor->reader_count++;
  }
  return BERTH_OK;
}

/* Could the operator's result be computed once and for all? */
static bool depends_on_constants_only(analysis_t *a, uint32_t subgraph,
                                      const berth_operator_t *op) {
  switch (op->code) {
  case BERTH_BUILTIN_CUSTOM: /* may keep state, or have effects */
  case BERTH_BUILTIN_RANDOM_UNIFORM:
  case BERTH_BUILTIN_RANDOM_STANDARD_NORMAL:
  case BERTH_BUILTIN_MULTINOMIAL:
    return false;
  default:
    break;
  }
  if (berth_graph_callee_count(op) > 0) return false;

  bool any = false;
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    int32_t index = berth_vector_int(op->inputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    if (!is_constant(a, subgraph, index)) return false;
    any = true;
  }
  for (uint32_t i = 0; i < op->outputs.count; i++) {
    int32_t index = berth_vector_int(op->outputs, i);
    if (index != BERTH_NO_TENSOR && (*flags_at(a, subgraph, index) & IS_VARIABLE) != 0) {
      return false;
    }
  }
  return any && op->outputs.count > 0;
}

static berth_status_t note_uses(analysis_t *a, uint32_t subgraph) {
  berth_subgraph_t info = berth_model_subgraph(a->model, subgraph);
  start_tensors(a, subgraph, &info);
  for (uint32_t op = 0; op < info.operator_count; op++) {
    berth_operator_t it = berth_model_operator(a->model, subgraph, op);
    berth_status_t status = note_writes(a, subgraph, op, it.outputs);
    if (status != BERTH_OK) return status;
  }
  for (uint32_t i = 0; i < info.operator_count; i++) {
    uint32_t op = operator_at(a, subgraph, i);
    berth_operator_t it = berth_model_operator(a->model, subgraph, op);
    berth_status_t status = note_reads(a, subgraph, op, it.inputs);
    if (status != BERTH_OK) return status;
    if (!depends_on_constants_only(a, subgraph, &it)) continue;
    a->graph.foldable_count++;
    for (uint32_t k = 0; k < it.outputs.count; k++) {
      int32_t index = berth_vector_int(it.outputs, k);
      if (index != BERTH_NO_TENSOR) tensor_at(a, subgraph, index)->foldable = true;
    }
  }
  return BERTH_OK;
}

/* ---- Pass 3: callers before callees (Kahn, 1962) --------------------------------------------- */

static berth_status_t count_callers(analysis_t *a, uint32_t subgraph, uint32_t *calls) {
  uint32_t operators = berth_model_subgraph(a->model, subgraph).operator_count;
  for (uint32_t op = 0; op < operators; op++) {
    berth_operator_t it = berth_model_operator(a->model, subgraph, op);
    uint32_t callees = berth_graph_callee_count(&it);
    if (callees > CALLS_MAX - *calls) {
      return fail(a, BERTH_ERROR_FORMAT, "there are too many calls of subgraphs", subgraph, op,
                  UINT32_MAX);
    }
    *calls += callees;
    for (uint32_t k = 0; k < callees; k++) {
      uint32_t callee = berth_graph_callee(a->model, &it, k);
      if (callee == BERTH_NOBODY) {
        return fail(a, BERTH_ERROR_FORMAT, "an operator calls a subgraph that does not exist",
                    subgraph, op, UINT32_MAX);
      }
      a->callers[callee]++;
    }
  }
  return BERTH_OK;
}

/* Notes that `callee` runs in whatever steps `caller` does, or in the step of `op` if that is the
 * main subgraph. */
static void hand_down_steps(analysis_t *a, uint32_t caller, uint32_t op, uint32_t callee) {
  uint32_t first = a->graph.called_first[caller];
  uint32_t last = a->graph.called_last[caller];
  if (first == BERTH_NOBODY) return;
  if (caller == 0) first = last = a->position[op];
  if (a->graph.called_first[callee] == BERTH_NOBODY) {
    a->graph.called_first[callee] = first;
    a->graph.called_last[callee] = last;
    return;
  }
  if (first < a->graph.called_first[callee]) a->graph.called_first[callee] = first;
  if (last > a->graph.called_last[callee]) a->graph.called_last[callee] = last;
}

static berth_status_t sort_subgraphs(analysis_t *a) {
  uint32_t count = a->model->subgraph_count;
  for (uint32_t s = 0; s < count; s++) a->callers[s] = 0;
  uint32_t calls = 0;
  for (uint32_t s = 0; s < count; s++) {
    berth_status_t status = count_callers(a, s, &calls);
    if (status != BERTH_OK) return status;
    a->graph.called_first[s] = s == 0 ? 0 : BERTH_NOBODY;
    a->graph.called_last[s] = s == 0 ? a->graph.step_count - 1 : BERTH_NOBODY;
  }

  uint32_t sorted = 0;
  for (uint32_t s = 0; s < count; s++) {
    if (a->callers[s] == 0) a->sorted[sorted++] = s;
  }
  for (uint32_t next = 0; next < sorted; next++) {
    uint32_t caller = a->sorted[next];
    uint32_t operators = berth_model_subgraph(a->model, caller).operator_count;
    for (uint32_t op = 0; op < operators; op++) {
      berth_operator_t it = berth_model_operator(a->model, caller, op);
      uint32_t callees = berth_graph_callee_count(&it);
      for (uint32_t k = 0; k < callees; k++) {
        uint32_t callee = berth_graph_callee(a->model, &it, k);
        hand_down_steps(a, caller, op, callee);
        if (--a->callers[callee] == 0) a->sorted[sorted++] = callee;
      }
    }
  }
  if (sorted == count) return BERTH_OK;

  uint32_t culprit = 0;
  while (a->callers[culprit] == 0) culprit++;
  return fail(a, BERTH_ERROR_FORMAT, "a subgraph calls itself, directly or through others", culprit,
              UINT32_MAX, UINT32_MAX);
}

/* ---- Pass 4: tensors whose size is known only at run time ------------------------------------ */

static void mark_dynamic(berth_graph_tensor_t *tensor, berth_cause_t cause, uint32_t origin) {
  if (tensor->cause != BERTH_CAUSE_NONE) return;
  tensor->cause = (uint8_t)cause;
  tensor->origin = origin;
}

/* What the file itself says about a tensor, whoever makes it. */
static void mark_unsized(analysis_t *a, uint32_t index) {
  berth_graph_tensor_t *tensor = &a->graph.tensors[index];
  if ((a->flags[index] & IS_DATA) != 0) return;
  berth_tensor_t info = berth_model_tensor(a->model, tensor->subgraph, tensor->tensor);
  uint64_t bytes;
  berth_vector_t scalar = {NULL, 0};
  if (berth_tensor_bytes(info.type, scalar, &bytes) == BERTH_ERROR_FORMAT) {
    mark_dynamic(tensor, BERTH_CAUSE_TYPE, index);
  }
}

/* Operators that choose how many results there are; their signatures may not say so. */
static bool counts_results(berth_builtin_t code) {
  return code == BERTH_BUILTIN_WHERE || code == BERTH_BUILTIN_UNIQUE;
}

/* The dynamic tensor from which the outputs of an operator get their unknown shape: the first such
 * operand, else such an output of a subgraph that it calls; BERTH_NOBODY if there is none. `*open`
 * is the largest number of unknown dimensions that an operand's signature has. */
static uint32_t dynamic_source(analysis_t *a, uint32_t subgraph, const berth_operator_t *op,
                               uint32_t *open) {
  uint32_t source = BERTH_NOBODY;
  *open = 0;
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    int32_t index = berth_vector_int(op->inputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    const berth_graph_tensor_t *tensor = tensor_at(a, subgraph, index);
    if ((*flags_at(a, subgraph, index) & IS_OPEN) != 0) {
      uint32_t count =
          count_open(berth_model_tensor(a->model, subgraph, (uint32_t)index).signature);
      if (count > *open) *open = count;
    }
    if (tensor->cause != BERTH_CAUSE_NONE && source == BERTH_NOBODY) source = tensor->origin;
  }
  if (berth_graph_first_operand(op) == BERTH_NO_OPERANDS) return source;
  uint32_t callees = berth_graph_callee_count(op);
  for (uint32_t k = 0; k < callees && source == BERTH_NOBODY; k++) {
    source = a->unsized[berth_graph_callee(a->model, op, k)];
  }
  return source;
}

static void mark_outputs(analysis_t *a, uint32_t subgraph, const berth_operator_t *op) {
  uint32_t open;
  uint32_t source = dynamic_source(a, subgraph, op, &open);
  for (uint32_t i = 0; i < op->outputs.count; i++) {
    int32_t index = berth_vector_int(op->outputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    berth_graph_tensor_t *tensor = tensor_at(a, subgraph, index);
    uint32_t own = a->graph.bases[subgraph] + (uint32_t)index;
    berth_tensor_t info = berth_model_tensor(a->model, subgraph, (uint32_t)index);
    bool shapeless = info.shape.count == 0 && !info.has_rank;
    bool keeps_open = (*flags_at(a, subgraph, index) & IS_OPEN) != 0;

    if (source != BERTH_NOBODY && (keeps_open || shapeless)) {
      mark_dynamic(tensor, BERTH_CAUSE_INPUT, source);
    } else if (shapeless && op->code == BERTH_BUILTIN_CUSTOM) {
      mark_dynamic(tensor, BERTH_CAUSE_RANK, own);
    } else if (keeps_open && (count_open(info.signature) > open || counts_results(op->code))) {
      mark_dynamic(tensor, BERTH_CAUSE_DATA, own);
    }
  }
}

/* The operands of a call become the inputs of the callee. */
static void hand_down_operands(analysis_t *a, uint32_t subgraph, const berth_operator_t *op) {
  uint32_t first = berth_graph_first_operand(op);
  if (first == BERTH_NO_OPERANDS) return;
  uint32_t callees = berth_graph_callee_count(op);
  for (uint32_t k = 0; k < callees; k++) {
    uint32_t callee = berth_graph_callee(a->model, op, k);
    berth_subgraph_t info = berth_model_subgraph(a->model, callee);
    for (uint32_t i = 0; i < info.inputs.count && first + i < op->inputs.count; i++) {
      int32_t operand = berth_vector_int(op->inputs, first + i);
      if (operand == BERTH_NO_TENSOR) continue;
      const berth_graph_tensor_t *from = tensor_at(a, subgraph, operand);
      if (from->cause == BERTH_CAUSE_NONE) continue;
      int32_t input = berth_vector_int(info.inputs, i);
      berth_tensor_t to = berth_model_tensor(a->model, callee, (uint32_t)input);
      bool shapeless = to.shape.count == 0 && !to.has_rank;
      if (shapeless || (*flags_at(a, callee, input) & IS_OPEN) != 0) {
        mark_dynamic(tensor_at(a, callee, input), BERTH_CAUSE_INPUT, from->origin);
      }
    }
  }
}

static void mark_subgraph(analysis_t *a, uint32_t subgraph, bool hand_down) {
  berth_subgraph_t info = berth_model_subgraph(a->model, subgraph);
  for (uint32_t i = 0; i < info.operator_count; i++) {
    berth_operator_t op = berth_model_operator(a->model, subgraph, operator_at(a, subgraph, i));
    mark_outputs(a, subgraph, &op);
    if (hand_down) hand_down_operands(a, subgraph, &op);
  }
  a->unsized[subgraph] = BERTH_NOBODY;
  for (uint32_t i = 0; i < info.outputs.count && a->unsized[subgraph] == BERTH_NOBODY; i++) {
    const berth_graph_tensor_t *output = tensor_at(a, subgraph, berth_vector_int(info.outputs, i));
    if (output->cause != BERTH_CAUSE_NONE) a->unsized[subgraph] = output->origin;
  }
}

/* First callees before callers (so that `unsized` is known where it is asked for), then the other
 * way round. Two rounds are enough: what the second
 * adds to a callee's outputs comes from the call's operands, and those have already made the
 * call's own outputs dynamic. */
static void find_dynamic(analysis_t *a) {
  for (uint32_t i = 0; i < a->graph.tensor_count; i++) mark_unsized(a, i);
  uint32_t count = a->model->subgraph_count;
  for (uint32_t i = count; i-- > 0;) mark_subgraph(a, a->sorted[i], false);
  for (uint32_t i = 0; i < count; i++) mark_subgraph(a, a->sorted[i], true);
}

/* ---- Pass 5: allocation, lifetime and size --------------------------------------------------- */

static void set_main_lifetime(const analysis_t *a, berth_graph_tensor_t *tensor, uint8_t flags) {
  uint32_t end = a->graph.step_count - 1;
  bool written = tensor->producer != BERTH_NOBODY;
  bool read = tensor->last_reader != BERTH_NOBODY;
  tensor->first = written ? a->position[tensor->producer] : 0;
  tensor->last = read ? a->position[tensor->last_reader] : tensor->first;
  if ((flags & IS_OUTPUT) != 0) tensor->last = end;
  if ((flags & IS_INPUT) != 0 && a->options->keep_inputs) tensor->last = end;
}

static berth_status_t settle(analysis_t *a, uint32_t index) {
  berth_graph_tensor_t *tensor = &a->graph.tensors[index];
  uint8_t flags = a->flags[index];
  berth_tensor_t info = berth_model_tensor(a->model, tensor->subgraph, tensor->tensor);

  if ((flags & IS_DATA) != 0) {
    tensor->allocation = BERTH_ALLOCATION_MMAP_RO;
    tensor->bytes = berth_model_tensor_data(a->model, &info).size;
    if (info.external_buffer == 0) return BERTH_OK;
    /* Its data is in another file: as many bytes as the shape says, if it says. */
    berth_status_t status = berth_tensor_bytes(info.type, info.shape, &tensor->bytes);
    return status == BERTH_ERROR_FORMAT ? BERTH_OK : status;
  }
  bool reached = a->graph.called_first[tensor->subgraph] != BERTH_NOBODY;
  bool written = tensor->producer != BERTH_NOBODY || (flags & (IS_INPUT | IS_VARIABLE)) != 0;
  if (!reached || !written) {
    tensor->cause = BERTH_CAUSE_NONE;
    return BERTH_OK;
  }

  if (tensor->foldable && a->options->fold) {
    tensor->allocation = BERTH_ALLOCATION_MMAP_RO;
    tensor->cause = BERTH_CAUSE_NONE;
    berth_status_t status = berth_tensor_bytes(info.type, info.shape, &tensor->bytes);
    if (status == BERTH_ERROR_FORMAT) return BERTH_OK; /* folded, so its size is its own affair */
    if (status == BERTH_OK) return BERTH_OK;
    return fail(a, status, "a tensor is too large", tensor->subgraph, tensor->producer,
                tensor->tensor);
  }

  if ((flags & IS_VARIABLE) != 0) {
    tensor->first = 0;
    tensor->last = a->graph.step_count - 1;
  } else if (tensor->subgraph == 0) {
    set_main_lifetime(a, tensor, flags);
  } else {
    tensor->first = a->graph.called_first[tensor->subgraph];
    tensor->last = a->graph.called_last[tensor->subgraph];
  }
  if (tensor->cause != BERTH_CAUSE_NONE) {
    tensor->allocation = BERTH_ALLOCATION_DYNAMIC;
    return BERTH_OK;
  }
  tensor->allocation =
      (flags & IS_VARIABLE) != 0 ? BERTH_ALLOCATION_PERSISTENT : BERTH_ALLOCATION_ARENA_RW;
  berth_status_t status = berth_tensor_bytes(info.type, info.shape, &tensor->bytes);
  if (status == BERTH_OK) return BERTH_OK;
  return fail(a, status, "a tensor is too large", tensor->subgraph, tensor->producer,
              tensor->tensor);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static berth_status_t analyse(analysis_t *a) {
  uint32_t base = 0;
  for (uint32_t s = 0; s < a->model->subgraph_count; s++) {
    a->graph.bases[s] = base;
    base += berth_model_subgraph(a->model, s).tensor_count;
  }
  berth_status_t status = take_order(a);
  for (uint32_t s = 0; status == BERTH_OK && s < a->model->subgraph_count; s++) {
    status = note_uses(a, s);
  }
  if (status == BERTH_OK) status = sort_subgraphs(a);
  if (status != BERTH_OK) return status;
  find_dynamic(a);
  for (uint32_t i = 0; status == BERTH_OK && i < a->graph.tensor_count; i++) status = settle(a, i);
  return status;
}

berth_status_t berth_graph_analyse(const berth_model_t *model, const berth_graph_options_t *options,
                                   void *workspace, size_t workspace_bytes, berth_graph_t *graph,
                                   berth_graph_error_t *error) {
  static const berth_graph_options_t defaults = {NULL, false, false};
  analysis_t a = {.model = model, .options = options != NULL ? options : &defaults};
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  lay_out(&a, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  if (workspace == NULL) return BERTH_ERROR_MEMORY; /* a model has a subgraph at least */

  status = analyse(&a);
  if (status == BERTH_OK) {
    *graph = a.graph;
  } else if (error != NULL) {
    *error = a.error;
  }
  return status;
}
