/* A model that is ordered or planned for stock TFLM: what the steps of stock_plan.h share. They are
 * what is known of it (stock_task.c), its order (stock_order.c), what has to be placed
 * (stock_buffers.c) and where (stock_plan.c).
 */
#ifndef BERTH_OPTIMIZE_STOCK_TASK_H
#define BERTH_OPTIMIZE_STOCK_TASK_H

#include "optimize/stock_plan.h"

#define BERTH_STOCK_ALIGN 16u /* TFLM's, of offsets and sizes */

typedef struct berth_stock_task {
  const berth_model_t *model;
  const berth_stock_plan_options_t *options;
  uint32_t tensor_count; /* of all subgraphs */
  uint32_t operators;    /* of the main subgraph */
  void *graph_memory;
  berth_graph_t graph;
  berth_sharing_t *sharing;
  uint64_t *extra; /* scratch of each operator of the main subgraph */
  void *alias_memory;
  berth_alias_t *aliases;
  berth_tflm_forecast_t stock; /* with TFLM's own plan */
  bool has_stock;              /* else TFLM doesn't take the model */
  bool timed;                  /* lifetimes are TFLM's; else the graph's */
  berth_problem_t problem;
  berth_buffer_t *buffers;
  berth_pair_t *pairs;
  uint32_t *tensors; /* of each buffer: the root, or BERTH_NOBODY: scratch */
  int32_t *offsets;  /* of all tensors: -1, or what was chosen */
} berth_stock_task_t;

/* Zero `*task` but for model and options first; release it whatever this returns. Errors: MEMORY,
 * OVERFLOW, FORMAT. */
berth_status_t berth_stock_task_start(berth_stock_task_t *task);
void berth_stock_task_release(berth_stock_task_t *task);

/* What TFLM does with these offsets, one for each tensor of all subgraphs. */
berth_status_t berth_stock_task_forecast(const berth_stock_task_t *task, const int32_t *offsets,
                                         berth_tflm_forecast_t *result);

/* Finds which tensors share memory, and lists the buffers and pairs to plan. */
berth_status_t berth_stock_task_buffers(berth_stock_task_t *task);

static inline uint64_t berth_stock_rounded(uint64_t bytes) {
  return (bytes + BERTH_STOCK_ALIGN - 1) & ~(uint64_t)(BERTH_STOCK_ALIGN - 1);
}

#endif
