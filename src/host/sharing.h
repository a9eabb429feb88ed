/* Memory that tensors share, and the order of operators, for whoever plans a model: `berth plan
 * --overlap` and `--order`. */
#ifndef BERTH_SRC_HOST_SHARING_H
#define BERTH_SRC_HOST_SHARING_H

#include "host/subject.h"

/* Puts the operators of subject->model into the order with the smallest peak: the model then lies
 * in
 * `*bytes`, on the heap, and must not outlive it. NULL: the file's order is as good as any. */
berth_status_t berth_sharing_order(berth_subject_t *subject, const berth_subject_options_t *options,
                                   void **bytes, berth_complaint_t *complaint);

/* The same with an order of the caller's, one operator for each step and each after those that it
 * reads from. */
berth_status_t berth_sharing_reorder(berth_subject_t *subject, const uint32_t *order, void **bytes,
                                     berth_complaint_t *complaint);

/* Adds a pair to the subject's problem, of relation share, for each tensor that takes another one's
 * place by Berth's contracts; `*pairs`, on the heap, holds all pairs then. With `diagonal`, pairs
 * of relation head, too. Slices of CONCATENATION and SPLIT, which a pair cannot say, keep memory of
 * their own. */
berth_status_t berth_sharing_pairs(berth_subject_t *subject, const berth_subject_options_t *options,
                                   void **pairs, berth_complaint_t *complaint);

/* What the main subgraph's operators permit, one for each, on the heap (free it): Berth's kernels,
 * or TFLM's with `diagonal`; slices of CONCATENATION and SPLIT only with `slices`. */
berth_status_t berth_sharing_permissions(berth_subject_t *subject,
                                         const berth_subject_options_t *options, bool slices,
                                         berth_sharing_t **sharing, berth_complaint_t *complaint);

#endif
