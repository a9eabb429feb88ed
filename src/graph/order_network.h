/* The main subgraph as the search for an order sees it: values, who makes and who reads them, and
 * which operators must come before which. Made by order_network.c for order.c. */
#ifndef BERTH_SRC_GRAPH_ORDER_NETWORK_H
#define BERTH_SRC_GRAPH_ORDER_NETWORK_H

#include "berth/order.h"
#include "plan/workspace.h"

/* Bits of operators, `words` words each. */
typedef uint64_t berth_bits_t;

static inline bool berth_bit(const berth_bits_t *bits, uint32_t i) {
  return (bits[i / 64] >> i % 64 & 1u) != 0;
}

static inline void berth_bit_set(berth_bits_t *bits, uint32_t i) {
  bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* Memory that is one whatever views there are of it: a tensor, or several. */
typedef struct berth_order_value {
  uint64_t bytes;    /* rounded up */
  uint32_t producer; /* operator, or BERTH_NOBODY: a graph input */
  bool kept;         /* to the end, once it is there */
  bool read;         /* by anybody */
} berth_order_value_t;

/* An operator's values, in the list of all of them. */
typedef struct berth_order_operator {
  uint64_t extra;    /* scratch */
  uint64_t in_place; /* bytes of output 0, which may take the place of a value; 0: of none */
  uint32_t inputs;   /* index of the first in `lists`: different values that it reads; */
  uint32_t outputs;  /*   that it makes, views aside; */
  uint32_t replaced; /*   that its output 0 may replace */
  uint32_t end;      /*   (end of those) */
} berth_order_operator_t;

typedef struct berth_order_network {
  uint32_t operators;
  uint32_t words; /* of a set of operators */
  uint32_t value_count;
  berth_order_value_t *values; /* by the tensor that stands for them */
  uint32_t *value_of;          /* of each tensor: that one, or BERTH_NOBODY */
  berth_bits_t *readers;       /* of each value */
  berth_order_operator_t *ops;
  uint32_t *lists;
  uint32_t list_room;
  berth_bits_t *before; /* of each operator: those that must come first */
  berth_bits_t *after;  /* and those for which it must */
  uint64_t start;       /* bytes that are live before the first step */
  uint64_t first_step;  /* bytes that are live in the first step only: inputs nobody reads */
} berth_order_network_t;

static inline const berth_bits_t *berth_order_readers(const berth_order_network_t *n,
                                                      uint32_t value) {
  return n->readers + (size_t)value * n->words;
}

/* Takes the arrays; `n->operators` and the like are set. */
void berth_order_network_lay_out(berth_order_network_t *n, const berth_graph_t *graph,
                                 berth_workspace_t *workspace);

void berth_order_network_fill(berth_order_network_t *n, const berth_graph_t *graph,
                              const berth_sharing_t *sharing, const berth_order_options_t *options);

#endif
