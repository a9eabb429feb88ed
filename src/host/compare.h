/* Does the plan change the results? Runs a model under two plans and compares every tensor.
 *
 * If it does, the guilty sharing is found by trying: tensors are moved out to memory of their own
 * for as long as the difference stays, until only those are left that cannot be moved.
 */
#ifndef BERTH_SRC_HOST_COMPARE_H
#define BERTH_SRC_HOST_COMPARE_H

#include "host/runner.h"

typedef struct berth_comparison {
  uint64_t tensors; /* compared */
  bool differ;
  uint32_t subgraph; /* the first difference: after this operator, in this tensor */
  uint32_t op;
  uint32_t tensor;
  uint32_t *culprits;     /* main subgraph's tensors whose sharing causes it; heap */
  uint32_t culprit_count; /* 0 without a difference, or if nothing was asked for */
  uint32_t runs;          /* of the model, in all */
} berth_comparison_t;

/* Runs `path` as `options` say (planner, offsets, ...) and with every tensor in its own memory,
 * with the same pseudo-random inputs. `minimise`: also find the culprits. */
berth_status_t berth_compare(const char *path, const berth_runner_options_t *options, uint64_t seed,
                             bool minimise, berth_comparison_t *comparison,
                             berth_complaint_t *complaint);
void berth_comparison_free(berth_comparison_t *comparison);

#endif
