/* Aliases: which tensors of a model lie in the memory of which others.
 *
 * By the operators' contracts, some outputs are nothing but another view of an input (RESHAPE), or
 * the inputs one after the other (CONCATENATION along the outermost dimension; SPLIT likewise), and
 * some operators may write their output over an input that nobody reads any more (in place). All
 * tensors that share memory this way form a group: the root spans it, every other tensor lies at an
 * offset in it, and for the planner the group is one buffer that lives from its first tensor's
 * first step to its last one's last.
 *
 * What holds of every result: where two tensors of a group have a byte in common and are live in
 * the same step, either that byte is the same in both (they are views of each other), or the step
 * is the one that writes the one over the other, by an operator whose contract permits it.
 *
 * Only tensors of the main subgraph that share the arena take part; variables, constants, dynamic
 * tensors and those of called subgraphs have memory of their own. Nothing is written over a graph
 * output, nor over a graph input that must be kept.
 *
 *   berth_alias_options_t options = {.align = 16};
 *   berth_alias_workspace(&graph, sharing, &options, &bytes);
 *   berth_alias_find(&graph, sharing, &options, malloc(bytes), bytes, &aliases);
 *   for each tensor t: it is at (offset of aliases[t].root) + aliases[t].offset
 */
#ifndef BERTH_ALIAS_H
#define BERTH_ALIAS_H

#include "berth/contract.h"
#include "berth/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may share memory. */
typedef enum berth_overlap {
  BERTH_OVERLAP_INPLACE, /* views, and outputs over inputs that nobody reads any more */
  BERTH_OVERLAP_VIEWS,   /* views only */
  BERTH_OVERLAP_NONE     /* nothing: every tensor has memory of its own */
} berth_overlap_t;

/* "inplace" and the like; static. */
const char *berth_overlap_name(berth_overlap_t overlap);

/* What an operator permits: the part of its contract that matters here. */
typedef struct berth_sharing {
  uint32_t in_place; /* as in berth_contract_t */
  berth_view_t view; /* likewise */
} berth_sharing_t;

static inline berth_sharing_t berth_sharing_of(const berth_contract_t *contract) {
  berth_sharing_t sharing = {contract->known ? contract->in_place : 0,
                             contract->known ? contract->view : BERTH_VIEW_NONE};
  return sharing;
}

/* Where a tensor lies. */
typedef struct berth_alias {
  uint64_t offset; /* bytes from the start of its root */
  uint32_t root;   /* index in graph->tensors of the tensor that spans the group: maybe itself */
  uint32_t next;   /* the next tensor of the group, in a circle */
  uint32_t first;  /* of a root: first step in which the group is live */
  uint32_t last;   /* of a root: last one */
} berth_alias_t;

/* Zero-initialise for the defaults, but for `align`. */
typedef struct berth_alias_options {
  berth_overlap_t overlap;
  uint32_t align;        /* of tensors in bytes, a power of two; a view must lie at a multiple */
  const uint32_t *order; /* as the graph was analysed with; NULL: the file's */
  bool keep_inputs;      /* likewise */
  const uint64_t *extra; /* bytes that each step needs besides tensors (scratch), so that nothing is
                            shared at their cost; NULL: none */
} berth_alias_options_t;

/* Bytes of workspace for berth_alias_find; it must be aligned for any type. OVERFLOW. */
berth_status_t berth_alias_workspace(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                     const berth_alias_options_t *options, size_t *bytes);

/* Lets tensors share memory wherever that makes the largest sum of what is live in one step no
 * larger. `sharing` has an entry for each operator of the main subgraph, in the file's order.
 * `*aliases`, one entry for each of graph->tensors, lies in the workspace. Deterministic.
 * Errors: MEMORY, OVERFLOW, ARGUMENT (align 0 or not a power of two). Linear in the graph's size,
 * but for CONCATENATION and SPLIT, each of which costs one more pass for each input or output. */
berth_status_t berth_alias_find(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                const berth_alias_options_t *options, void *workspace,
                                size_t workspace_bytes, berth_alias_t **aliases);

/* Called for two tensors that are live in the same step and have a byte in common without being
 * permitted to. Return false to stop. */
typedef bool (*berth_alias_conflict_t)(void *user, uint32_t a, uint32_t b);

/* Are offsets that are given right? `offsets[t]` is where tensor t is (of graph->tensors), or
 * UINT64_MAX for one whose place isn't given. INFEASIBLE: there are conflicts, each of which
 * `conflict` (may be NULL) is told, a < b; OK: there are none. OVERFLOW: a tensor would end beyond
 * 2^64. Workspace as for berth_alias_find.
 * Quadratic in the number of given offsets. */
berth_status_t berth_alias_check(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                 const berth_alias_options_t *options, const uint64_t *offsets,
                                 void *workspace, size_t workspace_bytes,
                                 berth_alias_conflict_t conflict, void *user);

/* The buffers to plan, like berth_graph_buffers, but one for each group: `tensors[i]` is the root
 * of buffer i. */
berth_status_t berth_alias_buffers(const berth_graph_t *graph, const berth_alias_t *aliases,
                                   uint32_t align, berth_buffer_t *buffers, uint32_t *tensors,
                                   uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
