/* Control flow: the subgraphs that IF, WHILE, CALL_ONCE and their like call.
 *
 * The lifetimes need them (a callee lives while its caller runs), and so does whoever executes.
 * Each operator has its callees in other fields of its options; this file is the only place that
 * knows which. Source: the option tables of the .tflite schema, version 3.
 */
#include "graph/calls.h"

/* Where an operator's options name its callees. */
typedef struct callees {
  uint32_t count;  /* fields, one subgraph each, from `field` on; 0: no field at all */
  uint32_t field;  /* first one, or the vector's */
  bool list;       /* `field` is a vector of subgraphs */
  uint32_t inputs; /* as berth_graph_first_operand says */
} callees_t;

static callees_t callees_of(berth_builtin_t code) {
  switch (code) {
  case BERTH_BUILTIN_IF:
    return (callees_t){2, BERTH_IF_THEN, false, 1};
  case BERTH_BUILTIN_WHILE:
    return (callees_t){2, BERTH_WHILE_CONDITION, false, 0};
  case BERTH_BUILTIN_CALL_ONCE:
    return (callees_t){1, BERTH_CALL_ONCE_SUBGRAPH, false, BERTH_NO_OPERANDS};
  case BERTH_BUILTIN_CALL:
    return (callees_t){1, BERTH_CALL_SUBGRAPH, false, 0};
  case BERTH_BUILTIN_STABLEHLO_COMPOSITE:
    return (callees_t){1, BERTH_STABLEHLO_COMPOSITE_DECOMPOSITION, false, 0};
  case BERTH_BUILTIN_STABLEHLO_WHILE:
    return (callees_t){2, BERTH_STABLEHLO_WHILE_CONDITION, false, 0};
  case BERTH_BUILTIN_STABLEHLO_REDUCE:
    return (callees_t){1, BERTH_STABLEHLO_REDUCE_BODY, false, BERTH_NO_OPERANDS};
  case BERTH_BUILTIN_STABLEHLO_REDUCE_WINDOW:
    return (callees_t){1, BERTH_STABLEHLO_REDUCE_WINDOW_BODY, false, BERTH_NO_OPERANDS};
  case BERTH_BUILTIN_STABLEHLO_SCATTER:
    return (callees_t){1, BERTH_STABLEHLO_SCATTER_UPDATE, false, BERTH_NO_OPERANDS};
  case BERTH_BUILTIN_STABLEHLO_SORT:
    return (callees_t){1, BERTH_STABLEHLO_SORT_COMPARATOR, false, BERTH_NO_OPERANDS};
  case BERTH_BUILTIN_STABLEHLO_CASE:
    return (callees_t){1, BERTH_STABLEHLO_CASE_BRANCHES, true, BERTH_NO_OPERANDS};
  case BERTH_BUILTIN_STABLEHLO_CUSTOM_CALL:
    return (callees_t){1, BERTH_STABLEHLO_CUSTOM_CALL_CALLED, true, BERTH_NO_OPERANDS};
  default:
    return (callees_t){0, 0, false, BERTH_NO_OPERANDS};
  }
}

uint32_t berth_graph_first_operand(const berth_operator_t *op) {
  return callees_of(op->code).inputs;
}

uint32_t berth_graph_callee_count(const berth_operator_t *op) {
  callees_t callees = callees_of(op->code);
  if (callees.count == 0 || op->options.position == 0) return 0;
  return callees.list ? berth_option_ints(op->options, callees.field).count : callees.count;
}

uint32_t berth_graph_callee(const berth_model_t *model, const berth_operator_t *op,
                            uint32_t index) {
  callees_t callees = callees_of(op->code);
  int32_t subgraph = callees.list
                         ? berth_vector_int(berth_option_ints(op->options, callees.field), index)
                         : berth_option_int(op->options, callees.field + index, 0);
  if (subgraph < 0 || (uint32_t)subgraph >= model->subgraph_count) return BERTH_NOBODY;
  return (uint32_t)subgraph;
}

bool berth_graph_has_effects(const berth_operator_t *op) {
  if (berth_graph_callee_count(op) > 0) return true;
  switch (op->code) {
  case BERTH_BUILTIN_CUSTOM:
  case BERTH_BUILTIN_IF: /* also one without options, which names no subgraph */
  case BERTH_BUILTIN_WHILE:
  case BERTH_BUILTIN_CALL:
  case BERTH_BUILTIN_CALL_ONCE:
  case BERTH_BUILTIN_VAR_HANDLE:
  case BERTH_BUILTIN_READ_VARIABLE:
  case BERTH_BUILTIN_ASSIGN_VARIABLE:
  case BERTH_BUILTIN_HASHTABLE:
  case BERTH_BUILTIN_HASHTABLE_FIND:
  case BERTH_BUILTIN_HASHTABLE_IMPORT:
  case BERTH_BUILTIN_HASHTABLE_SIZE:
  case BERTH_BUILTIN_RANDOM_UNIFORM:
  case BERTH_BUILTIN_RANDOM_STANDARD_NORMAL:
  case BERTH_BUILTIN_MULTINOMIAL:
    return true;
  default:
    return false;
  }
}
