/* What would be, if: changes to a model that leave its file alone. Whoever plans a model can ask
 * for them: `berth plan --set-shape`, `--assume`, `--drop-output`; and each line of advice is such
 * a change, planned.
 */
#ifndef BERTH_SRC_HOST_WHAT_IF_H
#define BERTH_SRC_HOST_WHAT_IF_H

#include "berth/graph.h"
#include "host/complaint.h"
#include "host/named_shape.h"
#include "optimize/contracts.h"

/* Zero-initialise: nothing changes. The arrays are the caller's. */
typedef struct berth_what_if {
  const berth_named_shape_t *shapes; /* of graph inputs: what follows is inferred by the kernels'
                                        prepare; or of dynamic tensors, as "tensor:5" or by name */
  uint32_t shape_count;
  bool int8;                       /* every float tensor takes a byte for each element */
  const char *const *int8_tensors; /* only these (name, or index in the main subgraph) */
  uint32_t int8_count;
  bool quantized_inputs;      /* the application quantizes: an input that only a QUANTIZE reads is
                                 gone, the QUANTIZE's output takes its place */
  bool quantized_outputs;     /* likewise for outputs that a DEQUANTIZE or QUANTIZE makes */
  const char *const *dropped; /* graph outputs (name or number) that nobody needs; "inner": all that
                                 the model itself reads on */
  uint32_t dropped_count;
  bool drop_unused; /* operators whose results nobody uses are gone, with their tensors; implied by
                       `dropped` */
} berth_what_if_t;

/* Does it change anything? */
bool berth_what_if_any(const berth_what_if_t *what_if);

/* Applies the changes to the lifetimes and sizes of `graph`, as berth_graph_analyse made them in
 * the file's order. `path` is for complaints. Errors: ARGUMENT (no such input, output or tensor; a
 * shape that an operator refuses), OVERFLOW, MEMORY; `graph` may then be changed in part. */
berth_status_t berth_what_if_apply(const berth_what_if_t *what_if, const char *path,
                                   berth_graph_t *graph, berth_complaint_t *complaint);

/* The contracts and shapes of the model's operators with the shapes that `what_if` gives. `strict`:
 * an operator that refuses, or has no kernel, is an error (ARGUMENT); else its contract is not
 * known. Free them with berth_contracts_free. */
berth_status_t berth_what_if_contracts(const berth_what_if_t *what_if, const char *path,
                                       berth_graph_t *graph, bool strict,
                                       berth_contracts_t *contracts, berth_complaint_t *complaint);

#endif
