/* Lifetimes: from a model and an execution order to the buffers that a planner places.
 *
 * Step k is the k-th operator of the main subgraph (subgraph 0) in the order of execution. The
 * rules, for each tensor that is not a constant:
 *   - a graph input lives from step 0 to its last reader (to the last step with `keep_inputs`,
 *     TFLite's rule); one that nobody reads lives in step 0;
 *   - an operator's output lives from its step to its last reader; with no reader, in its own step;
 *   - a graph output lives to the last step;
 *   - a variable lives in every step;
 *   - the tensors of a subgraph that IF, WHILE, CALL_ONCE or another operator calls live in every
 *     step from the first to the last call;
 *   - a tensor that nobody writes doesn't live at all, nor does one of a subgraph that the main one
 *     never reaches.
 * An operator whose inputs are all constant (the fp16 DEQUANTIZE and DENSIFY of weights) is
 * foldable: its result could be computed once. With `fold` it counts as a constant.
 *
 *   size_t bytes;
 *   berth_graph_workspace(&model, &bytes);
 *   berth_graph_t graph;
 *   berth_graph_analyse(&model, NULL, malloc(bytes), bytes, &graph, NULL);
 *   for (uint32_t i = 0; i < graph.tensor_count; i++) use(graph.tensors[i]);
 */
#ifndef BERTH_GRAPH_H
#define BERTH_GRAPH_H

#include "berth/contract.h"
#include "berth/model.h"
#include "berth/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a tensor's bytes are, in TFLite's terms. */
typedef enum berth_allocation {
  BERTH_ALLOCATION_NONE,       /* nobody uses it */
  BERTH_ALLOCATION_MMAP_RO,    /* a constant, read in place from the model */
  BERTH_ALLOCATION_ARENA_RW,   /* shares the arena with others */
  BERTH_ALLOCATION_PERSISTENT, /* a variable: the arena's for good */
  BERTH_ALLOCATION_DYNAMIC     /* its shape, and so its size, is known only at run time */
} berth_allocation_t;

/* What a buffer is for. */
typedef enum berth_buffer_kind {
  BERTH_KIND_INPUT,
  BERTH_KIND_ACTIVATION,
  BERTH_KIND_SCRATCH,   /* an operator's, during its step */
  BERTH_KIND_WORKSPACE, /* an operator's, always */
  BERTH_KIND_VARIABLE,
  BERTH_KIND_OUTPUT,
  BERTH_KIND_RESERVED /* the application's own */
} berth_buffer_kind_t;

/* "arena_rw" and the like; static. */
const char *berth_allocation_name(berth_allocation_t allocation);
const char *berth_buffer_kind_name(berth_buffer_kind_t kind);

/* Why a tensor's size is known only at run time. */
typedef enum berth_cause {
  BERTH_CAUSE_NONE, /* it is known */
  BERTH_CAUSE_TYPE, /* elements of this type (string, variant) have no fixed size */
  BERTH_CAUSE_RANK, /* its producer, a custom operator, left it without a shape */
  BERTH_CAUSE_DATA, /* its producer makes a shape that depends on data: the signature has more -1
                       than any input's, which are known once the graph inputs' shapes are */
  BERTH_CAUSE_INPUT /* it follows from another dynamic tensor */
} berth_cause_t;

/* "its shape depends on data" and the like; static. */
const char *berth_cause_text(berth_cause_t cause);

#define BERTH_NOBODY UINT32_MAX /* no operator: the caller of the model, or none at all */

typedef struct berth_graph_tensor {
  uint64_t bytes; /* unrounded; of constants, as stored in the file; 0 for DYNAMIC and NONE */
  uint32_t subgraph;
  uint32_t tensor;      /* index within the subgraph */
  uint32_t first;       /* first step in which it is live (ARENA_RW, PERSISTENT and DYNAMIC only) */
  uint32_t last;        /* last one */
  uint32_t producer;    /* operator of its subgraph that writes it, or BERTH_NOBODY */
  uint32_t last_reader; /* operator of its subgraph that reads it last, or BERTH_NOBODY */
  uint32_t reader_count; /* operators that read it */
  uint32_t origin;       /* DYNAMIC: the tensor (index in `tensors`) it began with, maybe itself */
  uint8_t allocation;    /* a berth_allocation_t; in a byte, since devices borrow this table */
  uint8_t kind;  /* a berth_buffer_kind_t: INPUT, ACTIVATION, VARIABLE or OUTPUT, as the main
                    subgraph sees it */
  uint8_t cause; /* a berth_cause_t; DYNAMIC: why */
  bool foldable; /* the result of an operator on constants */
} berth_graph_tensor_t;

typedef struct berth_graph_options {
  const uint32_t *order; /* execution order of subgraph 0's operators; NULL: the file's */
  bool keep_inputs;      /* graph inputs live to the last step */
  bool fold;             /* operators on constants are gone: their outputs are constants */
} berth_graph_options_t;

typedef struct berth_graph {
  const berth_model_t *model;
  berth_graph_tensor_t *tensors; /* of all subgraphs, one after the other; in the workspace */
  uint32_t tensor_count;
  uint32_t *bases;        /* index in `tensors` of the first tensor of each subgraph */
  uint32_t *called_first; /* of each subgraph: first step that runs (part of) it, or BERTH_NOBODY */
  uint32_t *called_last;
  uint32_t step_count;     /* operators of subgraph 0, at least 1 for the sake of lifetimes */
  uint32_t foldable_count; /* operators, of all subgraphs, on constants only */
} berth_graph_t;

/* Why a model has no lifetimes. */
typedef struct berth_graph_error {
  const char *what; /* a phrase such as "a tensor is written twice"; static */
  uint32_t subgraph;
  uint32_t op;     /* index in its subgraph, or UINT32_MAX */
  uint32_t tensor; /* index in its subgraph, or UINT32_MAX */
} berth_graph_error_t;

/* Bytes of workspace for berth_graph_analyse; it must be aligned for any type. OVERFLOW. */
berth_status_t berth_graph_workspace(const berth_model_t *model, size_t *bytes);

/* Finds every tensor's lifetime; `options` NULL: all defaults. `*graph` points into the workspace
 * and to `model`; both must outlive it. Errors: MEMORY, OVERFLOW (a tensor's size), FORMAT (a
 * tensor is read before it is written, or written twice; subgraphs that call each other in a
 * circle), ARGUMENT (`order` is not a permutation, or runs a reader before the writer). `*error`
 * (may be NULL) is set on OVERFLOW, FORMAT and ARGUMENT. Linear in the model's tables. */
berth_status_t berth_graph_analyse(const berth_model_t *model, const berth_graph_options_t *options,
                                   void *workspace, size_t workspace_bytes, berth_graph_t *graph,
                                   berth_graph_error_t *error);

/* Bytes of a tensor of this type and shape: OVERFLOW beyond 2^63 - 1, FORMAT if the type has no
 * fixed size (strings, variants) or a dimension is negative. 4-bit types are packed; a resource is
 * a handle of 4 bytes. */
berth_status_t berth_tensor_bytes(berth_tensor_type_t type, berth_vector_t shape, uint64_t *bytes);

/* Bytes to which a tensor of this type must be aligned at least: its element's size, at least 1. */
uint32_t berth_tensor_align(berth_tensor_type_t type);

/* The buffers to plan: the ARENA_RW and PERSISTENT tensors in order, aligned and with sizes rounded
 * up to `align` (at least the element's size; 1: not rounded); traffic is one write and one read
 * for each reader. `buffers` and `tensors` have room for graph->tensor_count entries; `tensors[i]`
 * becomes the index in graph->tensors of buffer i. Errors: OVERFLOW, ARGUMENT (align 0 or not a
 * power of two). */
berth_status_t berth_graph_buffers(const berth_graph_t *graph, uint32_t align,
                                   berth_buffer_t *buffers, uint32_t *tensors, uint32_t *count);

/* The subgraphs that an operator calls (IF, WHILE, CALL_ONCE, ...): how many, and number `index` of
 * them, or BERTH_NOBODY if the model has no such subgraph. */
uint32_t berth_graph_callee_count(const berth_operator_t *op);
uint32_t berth_graph_callee(const berth_model_t *model, const berth_operator_t *op, uint32_t index);

/* Does an operator do anything besides writing its outputs, or might it: call subgraphs, keep or
 * change a resource, draw random numbers, be a custom one? Writing to a variable among its inputs
 * is not asked for here: the tensor tells that. */
bool berth_graph_has_effects(const berth_operator_t *op);

#ifdef __cplusplus
}
#endif
#endif
