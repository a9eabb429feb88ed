/* Which subgraphs an operator calls, and how its operands become theirs. */
#ifndef BERTH_SRC_GRAPH_CALLS_H
#define BERTH_SRC_GRAPH_CALLS_H

#include "berth/graph.h"

#define BERTH_NO_OPERANDS UINT32_MAX

/* The operand of `op` that becomes input 0 of the subgraphs it calls, the next ones following:
 * 0 for most, 1 for IF (operand 0 is the condition), BERTH_NO_OPERANDS where the subgraph gets
 * something else (CALL_ONCE; the scalars that a reduction or a sort hands to its body). */
uint32_t berth_graph_first_operand(const berth_operator_t *op);

#endif
