/* What stock TFLM is told: an order of execution, and offsets for its tensors.
 *
 * TFLM runs operators in the file's order and honours offsets in the metadata (optimize/offline.h);
 * scratch it places itself, around the tensors that have offsets. So tensors and scratch are
 * planned together, by TFLM's own lifetimes, and the forecast, which places scratch as TFLM does,
 * says what becomes of it. Outputs take an input's place where both TFLM's kernel (stock/overlap.h)
 * and Berth's permit it, so that Berth can run, and prove, what it plans; diagonal overlaps are for
 * TFLM's reference kernels alone. Every plan is rehearsed (stock/rehearsal.h) before it is
 * returned.
 *
 * Order first, then plan the model that has it:
 *
 *   berth_stock_order(&model, &options, order, &result);
 *   ... write the operators in that order, open it as `ordered` ...
 *   berth_stock_plan_make(&ordered, &options, &plan);
 *   ... write plan.offsets into the metadata ...
 *   berth_stock_plan_free(&plan);
 */
#ifndef BERTH_SRC_OPTIMIZE_STOCK_PLAN_H
#define BERTH_SRC_OPTIMIZE_STOCK_PLAN_H

#include "berth/order.h"
#include "stock/tflm_forecast.h"

/* Zero-initialise for the defaults. */
typedef struct berth_stock_plan_options {
  berth_overlap_t overlap;
  bool diagonal; /* with overlap INPLACE: what TFLM's reference kernels permit, and an output may
                    also reach into a dying input (stock/diagonal.h). Berth can't run in such a
                    plan. */
  berth_tflm_kernel_set_t kernels; /* for scratch */
  berth_abi_t abi;
  uint64_t work_limit;       /* of the search for an order; 0: its default */
  berth_progress_t progress; /* of planning and ordering; may be NULL */
  void *progress_user;
} berth_stock_plan_options_t;

/* An output that takes an input's place, or reaches into it. */
typedef struct berth_stock_share {
  uint32_t op; /* of the main subgraph */
  berth_builtin_t code;
  uint32_t input; /* tensors of it */
  uint32_t output;
  uint64_t bytes; /* that both have */
  bool view;      /* the operator then has nothing to do */
  bool diagonal;  /* the output begins before the input: by `gap` bytes, of which `distance` are
                     needed */
  uint64_t gap;
  uint64_t distance;
  const char *reason; /* why the kernel survives it; static */
} berth_stock_share_t;

typedef struct berth_stock_plan {
  int32_t *offsets; /* of the tensors of all subgraphs, -1: TFLM's choice; heap. NULL: TFLM's own
                       plan is as good as any */
  uint32_t count;
  uint64_t own_head_bytes; /* the head with TFLM's own plan; 0 unless `known` */
  uint64_t head_bytes;     /* the head with this one, scratch included; if not `known`, the peak of
                              what was planned */
  uint64_t lower_bound;    /* no plan of this order, and of these shares, has a smaller head */
  bool known;              /* the forecast knows all kernels; else scratch may come on top */
  uint32_t left_out;       /* tensors left to TFLM, being live beside scratch of unknown size */
  bool foreign; /* Berth's own runtime cannot run in it, only TFLM can: diagonal overlaps,
                   or lifetimes within a step */
  berth_stock_share_t *shares; /* heap */
  uint32_t share_count;
} berth_stock_plan_t;

/* The order with the smallest peak of tensors and scratch; `order` has room for all operators of
 * the main subgraph. Errors: MEMORY, OVERFLOW, FORMAT (no lifetimes). */
berth_status_t berth_stock_order(const berth_model_t *model,
                                 const berth_stock_plan_options_t *options, uint32_t *order,
                                 berth_order_result_t *result);

/* Plans a model in its file's order, whatever plan it carries. Errors: MEMORY, OVERFLOW (beyond
 * what TFLM's offsets can say), FORMAT (no lifetimes), UNSUPPORTED (too large to be rehearsed,
 * which a foreign plan must be), INTERNAL. */
berth_status_t berth_stock_plan_make(const berth_model_t *model,
                                     const berth_stock_plan_options_t *options,
                                     berth_stock_plan_t *plan);
void berth_stock_plan_free(berth_stock_plan_t *plan);

#endif
