/* What the parts of what_if share: one file for each kind of change. */
#ifndef BERTH_SRC_HOST_WHAT_IF_CHANGE_H
#define BERTH_SRC_HOST_WHAT_IF_CHANGE_H

#include "host/what_if.h"

typedef struct berth_change {
  const berth_what_if_t *what_if;
  const char *path; /* for complaints */
  berth_graph_t *graph;
  berth_complaint_t *complaint;
  bool refused; /* an operator refused, or has no kernel: the complaint is made */
} berth_change_t;

/* A tensor of the main subgraph. */
static inline berth_graph_tensor_t *berth_change_tensor(const berth_change_t *change,
                                                        int32_t tensor) {
  return &change->graph->tensors[change->graph->bases[0] + (uint32_t)tensor];
}

static inline bool berth_change_is_placed(const berth_graph_tensor_t *tensor) {
  return tensor->allocation == BERTH_ALLOCATION_ARENA_RW ||
         tensor->allocation == BERTH_ALLOCATION_PERSISTENT;
}

/* Tensor of the main subgraph by name or index, or BERTH_NOBODY. */
uint32_t berth_change_named(const berth_model_t *model, const char *name);

/* The parts, in the order in which they are applied; errors as berth_what_if_apply. */
berth_status_t berth_change_shapes(berth_change_t *change);
berth_status_t berth_change_types(berth_change_t *change);
berth_status_t berth_change_outputs(berth_change_t *change); /* drops what nobody needs */
void berth_change_boundary(berth_change_t *change);

#endif
