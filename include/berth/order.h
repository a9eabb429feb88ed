/* Order: the execution order of a model's operators that needs the least memory.
 *
 * What a step needs is the sum of what is live in it: sizes rounded up, views and outputs over
 * inputs counted once (as `overlap` permits and the contracts allow; CONCATENATION and SPLIT count
 * as copies), and the operator's scratch. The peak of an order is its hungriest step's.
 *
 * An order never runs a reader before the writer; operators that touch the same variable, and those
 * with effects beyond their outputs (control flow, resources, random numbers, custom operators),
 * keep the file's order among each other.
 *
 *   berth_order_options_t options = {.align = 16};
 *   berth_order_workspace(&graph, sharing, &options, &bytes);
 *   berth_order_find(&graph, sharing, &options, malloc(bytes), bytes, order, &result);
 */
#ifndef BERTH_ORDER_H
#define BERTH_ORDER_H

#include "berth/alias.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-initialise for the defaults, but for `align`. */
typedef struct berth_order_options {
  berth_overlap_t overlap; /* what counts once: as berth_alias_find will be asked for */
  uint32_t align;          /* sizes are rounded up to it; a power of two */
  bool keep_inputs;        /* as the graph was analysed with */
  const uint64_t *extra;   /* bytes of scratch of each operator, in the file's order; NULL: none */
  uint32_t width;          /* most states kept of each number of operators done, which decides what
                              can be proven, and the workspace; 0: 2048, less for large models */
  uint64_t work_limit;     /* operators tried on states; 0: 20 million. Deterministic. */
  berth_progress_t progress; /* may be NULL; work, smallest peak so far, lower bound. false: stop,
                                with the best order so far */
  void *progress_user;
} berth_order_options_t;

typedef struct berth_order_result {
  uint64_t file_peak;   /* of the file's order, bytes */
  uint64_t peak;        /* of the order that was found; never more than file_peak */
  uint64_t lower_bound; /* proven: no order has a smaller peak */
  uint64_t work;        /* operators tried on states */
  bool optimal;         /* peak == lower_bound */
  bool changed;         /* the order differs from the file's, and its peak is smaller */
} berth_order_result_t;

/* Bytes of workspace for berth_order_find, aligned for any type. OVERFLOW. */
berth_status_t berth_order_workspace(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                     const berth_order_options_t *options, size_t *bytes);

/* Finds an order of the main subgraph's operators: `order[k]` is the operator of step k, room for
 * all. `graph` as analysed in the file's order; `sharing` as in berth_alias_find. Where no order is
 * better, the file's is the result. Errors: MEMORY, OVERFLOW, ARGUMENT (align). */
berth_status_t berth_order_find(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                const berth_order_options_t *options, void *workspace,
                                size_t workspace_bytes, uint32_t *order,
                                berth_order_result_t *result);

#ifdef __cplusplus
}
#endif
#endif
