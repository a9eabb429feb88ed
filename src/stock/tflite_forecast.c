/* Plans each subgraph as TFLite's ArenaPlanner does. A tensor of size 0 counts, but takes nothing.
 */
#include "stock/tflite_forecast.h"
#include <stdlib.h>

#define ALIGN 64u /* kDefaultTensorAlignment */

typedef struct job {
  const berth_graph_t *graph;
  berth_tflite_forecast_t *forecast;
  berth_buffer_t *buffers; /* of one subgraph */
  uint32_t *number;        /* tensor of the subgraph -> buffer, or BERTH_NOBODY */
} job_t;

static uint64_t rounded(uint64_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static bool is_decompressed_weight(const job_t *job, const berth_graph_tensor_t *tensor) {
  if (!tensor->foldable || tensor->producer == BERTH_NOBODY) return false;
  berth_operator_t op = berth_model_operator(job->graph->model, tensor->subgraph, tensor->producer);
  return op.code == BERTH_BUILTIN_DEQUANTIZE || op.code == BERTH_BUILTIN_DENSIFY;
}

/* Sorts the tensors of a subgraph: into the shared arena (as buffers without a life yet), into the
 * persistent one, or into none. */
static berth_status_t sort_tensors(job_t *job, uint32_t subgraph, uint32_t tensors,
                                   uint32_t *count) {
  berth_tflite_forecast_t *forecast = job->forecast;
  uint64_t persistent = 0;
  *count = 0;
  for (uint32_t t = 0; t < tensors; t++) {
    const berth_graph_tensor_t *tensor = &job->graph->tensors[job->graph->bases[subgraph] + t];
    job->number[t] = BERTH_NOBODY;
    bool shared = tensor->allocation == BERTH_ALLOCATION_ARENA_RW;
    forecast->dynamic_count += tensor->allocation == BERTH_ALLOCATION_DYNAMIC;
    if (!shared && tensor->allocation != BERTH_ALLOCATION_PERSISTENT) continue;
    if (tensor->bytes > INT64_MAX - persistent - ALIGN) return BERTH_ERROR_OVERFLOW;
    forecast->tensor_count++;
    if (!shared || is_decompressed_weight(job, tensor)) {
      persistent = rounded(persistent) + tensor->bytes;
      continue;
    }
    job->number[t] = *count;
    berth_buffer_t *buffer = &job->buffers[(*count)++];
    *buffer = berth_buffer(tensor->bytes, BERTH_NOBODY, BERTH_NOBODY);
    buffer->align = ALIGN;
  }
  forecast->tail_bytes += rounded(persistent);
  return BERTH_OK;
}

static berth_buffer_t *buffer_of(const job_t *job, berth_vector_t list, uint32_t i) {
  int32_t tensor = berth_vector_int(list, i);
  if (tensor == BERTH_NO_TENSOR || job->number[tensor] == BERTH_NOBODY) return NULL;
  return &job->buffers[job->number[tensor]];
}

/* A tensor lives from the node that makes it to its last reader; without readers, to the end. */
static void find_lives(const job_t *job, const berth_subgraph_t *info, uint32_t subgraph,
                       uint32_t count) {
  uint32_t end = info->operator_count > 0 ? info->operator_count - 1 : 0;
  for (uint32_t i = 0; i < info->operator_count; i++) {
    berth_operator_t op = berth_model_operator(job->graph->model, subgraph, i);
    for (uint32_t k = 0; k < op.outputs.count; k++) {
      berth_buffer_t *buffer = buffer_of(job, op.outputs, k);
      if (buffer != NULL && buffer->first == BERTH_NOBODY) buffer->first = i;
    }
    for (uint32_t k = 0; k < op.inputs.count; k++) {
      berth_buffer_t *buffer = buffer_of(job, op.inputs, k);
      if (buffer != NULL) buffer->last = i;
    }
  }
  for (uint32_t i = 0; i < info->inputs.count; i++) {
    berth_buffer_t *buffer = buffer_of(job, info->inputs, i);
    if (buffer != NULL) buffer->first = 0, buffer->last = end;
  }
  for (uint32_t i = 0; i < info->outputs.count; i++) {
    berth_buffer_t *buffer = buffer_of(job, info->outputs, i);
    if (buffer != NULL) buffer->last = end;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (job->buffers[i].first == BERTH_NOBODY) job->buffers[i].first = 0;
    if (job->buffers[i].last == BERTH_NOBODY) job->buffers[i].last = end;
  }
}

static berth_status_t plan(job_t *job, uint32_t count) {
  berth_problem_t problem = {.buffers = job->buffers, .buffer_count = count};
  size_t bytes;
  berth_status_t status = berth_plan_workspace(&berth_planner_tflite, &problem, NULL, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes + 1);
  berth_plan_t made = {.placements = calloc((size_t)count + 1, sizeof *made.placements)};
  status = workspace == NULL || made.placements == NULL ? BERTH_ERROR_MEMORY : BERTH_OK;
  if (status == BERTH_OK) {
    status = berth_plan_make(&berth_planner_tflite, &problem, NULL, workspace, bytes, &made);
  }
  if (status == BERTH_OK) job->forecast->head_bytes += rounded(made.peak);
  free(workspace);
  free(made.placements);
  return status;
}

static berth_status_t plan_subgraph(job_t *job, uint32_t subgraph) {
  berth_subgraph_t info = berth_model_subgraph(job->graph->model, subgraph);
  size_t room = (size_t)info.tensor_count + 1;
  job->buffers = calloc(room, sizeof *job->buffers);
  job->number = calloc(room, sizeof *job->number);
  uint32_t count = 0;
  berth_status_t status =
      job->buffers == NULL || job->number == NULL ? BERTH_ERROR_MEMORY : BERTH_OK;
  if (status == BERTH_OK) status = sort_tensors(job, subgraph, info.tensor_count, &count);
  if (status == BERTH_OK) {
    find_lives(job, &info, subgraph, count);
    status = plan(job, count);
  }
  free(job->buffers);
  free(job->number);
  return status;
}

berth_status_t berth_tflite_forecast(const berth_model_t *model, berth_tflite_forecast_t *forecast,
                                     berth_graph_error_t *error) {
  size_t bytes;
  berth_graph_t graph;
  berth_tflite_forecast_t result = {0};
  berth_status_t status = berth_graph_workspace(model, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes + 1);
  if (workspace == NULL) return BERTH_ERROR_MEMORY;
  status = berth_graph_analyse(model, NULL, workspace, bytes, &graph, error);
  job_t job = {.graph = &graph, .forecast = &result};
  for (uint32_t s = 0; s < model->subgraph_count && status == BERTH_OK; s++) {
    status = plan_subgraph(&job, s);
  }
  free(workspace);
  if (status != BERTH_OK) return status;
  result.arena_used_bytes = result.head_bytes + result.tail_bytes;
  *forecast = result;
  return BERTH_OK;
}
