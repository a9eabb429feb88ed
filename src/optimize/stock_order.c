/* The order of operators with the smallest peak in stock TFLM: tensors and scratch. */
#include "optimize/stock_task.h"
#include <stdlib.h>

berth_status_t berth_stock_order(const berth_model_t *model,
                                 const berth_stock_plan_options_t *options, uint32_t *order,
                                 berth_order_result_t *result) {
  berth_stock_task_t task = {.model = model, .options = options};
  void *workspace = NULL;
  size_t bytes = 0;
  berth_status_t status = berth_stock_task_start(&task);
  berth_order_options_t settings = {.overlap = options->overlap,
                                    .align = BERTH_STOCK_ALIGN,
                                    .extra = task.extra,
                                    .work_limit = options->work_limit,
                                    .progress = options->progress,
                                    .progress_user = options->progress_user};
  if (status == BERTH_OK) {
    status = berth_order_workspace(&task.graph, task.sharing, &settings, &bytes);
  }
  if (status == BERTH_OK) {
    workspace = malloc(bytes + 1);
    if (workspace == NULL) status = BERTH_ERROR_MEMORY;
  }
  if (status == BERTH_OK) {
    status =
        berth_order_find(&task.graph, task.sharing, &settings, workspace, bytes, order, result);
  }
  free(workspace);
  berth_stock_task_release(&task);
  return status;
}
