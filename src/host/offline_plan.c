/* Planning for stock TFLM: its buffers and lifetimes, from the forecast where TFLM runs the model,
 * else from the graph; Berth's default planner; then the forecast judges. */
#include "host/offline_plan.h"
#include "berth/graph.h"
#include "host/planning.h"
#include "stock/tflm_forecast.h"
#include <stdlib.h>
#include <string.h>

#define ALIGN 16u /* TFLM's, of offsets and sizes */

/* What is to be planned. */
typedef struct task {
  const berth_model_t *model;
  berth_complaint_t *complaint;
  berth_buffer_t *buffers;
  uint32_t
      *tensors; /* of each buffer: number among all subgraphs' tensors; BERTH_NOBODY: scratch */
  uint32_t count;
  uint32_t tensor_count; /* of all subgraphs */
  int32_t *offsets;      /* of each tensor */
} task_t;

static berth_status_t fail(task_t *task, const char *what, berth_status_t status) {
  berth_complain(task->complaint, "%s: %s", what, berth_status_text(status));
  return status;
}

static uint64_t rounded(uint64_t bytes) {
  return (bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

static bool make_room(task_t *task, uint32_t count) {
  task->buffers = calloc((size_t)count + 1, sizeof *task->buffers);
  task->tensors = calloc((size_t)count + 1, sizeof *task->tensors);
  return task->buffers != NULL && task->tensors != NULL;
}

/* ---- What TFLM plans ---------------------------------------------------------------------------
 */

static uint32_t first_tensor(const berth_model_t *model, uint32_t subgraph) {
  uint32_t first = 0;
  for (uint32_t s = 0; s < subgraph; s++) first += berth_model_subgraph(model, s).tensor_count;
  return first;
}

/* The forecast for the model without the plan that it carries. */
static berth_status_t forecast(const berth_model_t *model, const int32_t *offsets, uint32_t count,
                               berth_tflm_forecast_t *result) {
  berth_tflm_settings_t settings = {
      .abi = BERTH_ABI_ARM, .offsets = offsets, .offset_count = count};
  return berth_tflm_forecast(model, &settings, result, NULL);
}

/* Tensors and scratch as the forecast lists them; a tensor that is never used lives before step 0,
 * where TFLM plans it as well. */
static berth_status_t take_stock(task_t *task, const berth_tflm_forecast_t *stock) {
  if (!make_room(task, stock->buffer_count)) return fail(task, "planning", BERTH_ERROR_MEMORY);
  task->count = stock->buffer_count;
  for (uint32_t i = 0; i < task->count; i++) {
    const berth_tflm_buffer_t *buffer = &stock->buffers[i];
    task->buffers[i] = berth_buffer(rounded(buffer->bytes), (uint32_t)(buffer->first + 1),
                                    (uint32_t)(buffer->last + 1));
    task->buffers[i].align = ALIGN;
    task->tensors[i] = buffer->tensor == UINT32_MAX
                           ? BERTH_NOBODY
                           : first_tensor(task->model, buffer->subgraph) + buffer->tensor;
  }
  return BERTH_OK;
}

/* The tensors in the arena by the graph's lifetimes, for a model that TFLM doesn't run. Variables
 * stay out: TFLM keeps them at the other end. */
static berth_status_t take_graph(task_t *task) {
  size_t bytes;
  berth_graph_t graph;
  berth_graph_error_t error = {0};
  berth_status_t status = berth_graph_workspace(task->model, &bytes);
  void *memory = status == BERTH_OK ? malloc(bytes) : NULL;
  if (memory == NULL) return fail(task, "lifetimes", BERTH_ERROR_MEMORY);
  status = berth_graph_analyse(task->model, NULL, memory, bytes, &graph, &error);
  if (status == BERTH_OK && !make_room(task, graph.tensor_count)) status = BERTH_ERROR_MEMORY;
  if (status == BERTH_OK) {
    status = berth_graph_buffers(&graph, ALIGN, task->buffers, task->tensors, &task->count);
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < task->count && status == BERTH_OK; i++) {
    uint32_t tensor = task->tensors[i];
    if (graph.tensors[tensor].allocation != BERTH_ALLOCATION_ARENA_RW) continue;
    task->buffers[kept] = task->buffers[i];
    task->tensors[kept++] = tensor;
  }
  task->count = kept;
  free(memory);
  return status == BERTH_OK ? BERTH_OK
                            : fail(task, error.what != NULL ? error.what : "lifetimes", status);
}

/* ---- Planning ----------------------------------------------------------------------------------
 */

static berth_status_t plan(task_t *task, berth_offline_plan_t *result) {
  berth_problem_t problem = {.buffers = task->buffers, .buffer_count = task->count};
  berth_planning_t planning = {0};
  berth_outcome_t outcome = {0};
  berth_status_t status =
      berth_planning_run(&berth_planner_best, &problem, &planning, &outcome, task->complaint);
  if (status == BERTH_OK && outcome.plan.peak > INT32_MAX) {
    status = fail(task, "the plan is too large for TFLM", BERTH_ERROR_OVERFLOW);
  }
  for (uint32_t i = 0; i < task->count && status == BERTH_OK; i++) {
    if (task->tensors[i] == BERTH_NOBODY) continue;
    task->offsets[task->tensors[i]] = (int32_t)outcome.plan.placements[i].offset;
  }
  result->peak = outcome.plan.peak;
  result->lower_bound = outcome.plan.lower_bound;
  berth_outcome_free(&outcome);
  return status;
}

bool berth_offline_plan_head(const berth_model_t *model, const int32_t *offsets, uint32_t count,
                             uint64_t *head) {
  berth_tflm_forecast_t stock;
  if (forecast(model, offsets, count, &stock) != BERTH_OK) return false;
  bool known = stock.unknown_count == 0 && stock.refused_count == 0;
  *head = stock.head_bytes;
  berth_tflm_forecast_free(&stock);
  return known;
}

static berth_status_t make(task_t *task, berth_offline_plan_t *result) {
  berth_tflm_forecast_t stock;
  berth_status_t status;
  uint64_t own = 0, planned;
  for (uint32_t i = 0; i < task->tensor_count; i++) task->offsets[i] = -1;
  bool known = forecast(task->model, task->offsets, task->tensor_count, &stock) == BERTH_OK;
  /* Where subgraphs call each other, TFLM counts time within a call; Berth's runtime, which must
   * accept the plan, too, does not. */
  bool flat = task->model->subgraph_count == 1;
  if (known) own = stock.head_bytes;
  result->with_scratch = known && flat && stock.unknown_count == 0 && stock.refused_count == 0;
  status = known && flat ? take_stock(task, &stock) : take_graph(task);
  if (known) berth_tflm_forecast_free(&stock);
  if (status == BERTH_OK) status = plan(task, result);
  if (status != BERTH_OK) return status;
  result->worse =
      known && berth_offline_plan_head(task->model, task->offsets, task->tensor_count, &planned) &&
      planned > own;
  return BERTH_OK;
}

berth_status_t berth_offline_plan_make(const berth_model_t *model, berth_offline_plan_t *result,
                                       berth_complaint_t *complaint) {
  task_t task = {.model = model,
                 .complaint = complaint,
                 .tensor_count = first_tensor(model, model->subgraph_count)};
  berth_offline_plan_t made = {.count = task.tensor_count};
  task.offsets = calloc((size_t)task.tensor_count + 1, sizeof *task.offsets);
  berth_status_t status =
      task.offsets == NULL ? fail(&task, "planning", BERTH_ERROR_MEMORY) : make(&task, &made);
  if (status == BERTH_OK && !made.worse) {
    made.offsets = task.offsets;
  } else {
    free(task.offsets);
  }
  free(task.buffers);
  free(task.tensors);
  if (status == BERTH_OK) *result = made;
  return status;
}

void berth_offline_plan_free(berth_offline_plan_t *result) {
  free(result->offsets);
  result->offsets = NULL;
}
