/* What is known of a model before it is ordered or planned for stock TFLM: its lifetimes, what its
 * kernels permit, and the scratch that TFLM's ask for. */
#include "optimize/stock_task.h"
#include "optimize/contracts.h"
#include "stock/overlap.h"
#include <stdlib.h>

berth_status_t berth_stock_task_forecast(const berth_stock_task_t *task, const int32_t *offsets,
                                         berth_tflm_forecast_t *result) {
  berth_tflm_settings_t settings = {.abi = task->options->abi,
                                    .kernels = task->options->kernels,
                                    .offsets = offsets,
                                    .offset_count = task->tensor_count};
  return berth_tflm_forecast(task->model, &settings, result, NULL);
}

/* With no offsets at all. That TFLM does not take the model is no failure. */
static berth_status_t take_stock(berth_stock_task_t *task) {
  task->offsets = malloc(((size_t)task->tensor_count + 1) * sizeof *task->offsets);
  task->extra = calloc((size_t)task->operators + 1, sizeof *task->extra);
  if (task->offsets == NULL || task->extra == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < task->tensor_count; i++) task->offsets[i] = -1;
  berth_status_t status = berth_stock_task_forecast(task, task->offsets, &task->stock);
  if (status == BERTH_ERROR_MEMORY) return status;
  task->has_stock = status == BERTH_OK;
  for (uint32_t i = 0; task->has_stock && i < task->stock.buffer_count; i++) {
    const berth_tflm_buffer_t *buffer = &task->stock.buffers[i];
    if (buffer->op == UINT32_MAX || buffer->subgraph != 0) continue;
    task->extra[buffer->op] += berth_stock_rounded(buffer->bytes);
  }
  return BERTH_OK;
}

static berth_status_t analyse(berth_stock_task_t *task) {
  size_t bytes;
  berth_status_t status = berth_graph_workspace(task->model, &bytes);
  if (status != BERTH_OK) return status;
  task->graph_memory = malloc(bytes + 1);
  if (task->graph_memory == NULL) return BERTH_ERROR_MEMORY;
  return berth_graph_analyse(task->model, NULL, task->graph_memory, bytes, &task->graph, NULL);
}

static berth_status_t share_by_stock(berth_stock_task_t *task) {
  task->sharing = calloc((size_t)task->operators + 1, sizeof *task->sharing);
  if (task->sharing == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t op = 0; op < task->operators; op++) {
    task->sharing[op] = berth_stock_sharing(task->model, 0, op);
  }
  return BERTH_OK;
}

/* What TFLM's kernels permit, and Berth's as well, unless the plan is not for Berth anyway. */
static berth_status_t share(berth_stock_task_t *task) {
  berth_contracts_t contracts;
  berth_status_t status = share_by_stock(task);
  if (status != BERTH_OK || task->options->diagonal) return status;
  status = berth_contracts_make(task->model, NULL, &contracts);
  if (status != BERTH_OK) return status;
  for (uint32_t op = 0; op < task->operators; op++) {
    if (!contracts.table[op].known) continue; /* Berth does not run it anyway */
    berth_sharing_t own = berth_sharing_of(&contracts.table[op]);
    task->sharing[op].in_place &= own.in_place;
    if (own.view != task->sharing[op].view) task->sharing[op].view = BERTH_VIEW_NONE;
  }
  berth_contracts_free(&contracts);
  return BERTH_OK;
}

berth_status_t berth_stock_task_start(berth_stock_task_t *task) {
  uint64_t tensors = 0;
  for (uint32_t s = 0; s < task->model->subgraph_count; s++) {
    tensors += berth_model_subgraph(task->model, s).tensor_count;
  }
  if (tensors > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  task->tensor_count = (uint32_t)tensors;
  task->operators = berth_model_subgraph(task->model, 0).operator_count;
  berth_status_t status = take_stock(task);
  if (status == BERTH_OK) status = analyse(task);
  if (status == BERTH_OK) status = share(task);
  task->timed =
      task->has_stock && (task->model->subgraph_count == 1 || task->stock.unknown_count == 0);
  return status;
}

void berth_stock_task_release(berth_stock_task_t *task) {
  free(task->graph_memory);
  free(task->alias_memory);
  free(task->sharing);
  free(task->extra);
  free(task->buffers);
  free(task->pairs);
  free(task->tensors);
  free(task->offsets);
  if (task->has_stock) berth_tflm_forecast_free(&task->stock);
}
