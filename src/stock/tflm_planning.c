/* The planning part of the forecast (MicroAllocator::FinishModelAllocation and
 * CommitStaticMemoryPlan): variables, lifetimes, the head, and what planning itself borrows. */
#include "berth/graph.h"
#include "plan/tflm.h"
#include "stock/tflm_job.h"
#include <stdlib.h>

#define INFO           "zp3ib"   /* AllocationInfo */
#define PLANNER_BUFFER "4i3i2ii" /* what the planner keeps of a buffer: 40 bytes everywhere */

/* Bytes of a tensor in TFLM's eyes: 4-bit types are not packed, and not all types are known. */
static berth_status_t tensor_bytes(berth_tflm_job_t *job, uint32_t subgraph, uint32_t index,
                                   const berth_tensor_t *tensor, uint64_t *bytes) {
  berth_tensor_type_t type = tensor->type;
  if (type == BERTH_TYPE_INT4) type = BERTH_TYPE_INT8;
  bool known = type <= BERTH_TYPE_UINT16 && type != BERTH_TYPE_STRING && type != BERTH_TYPE_VARIANT;
  if (!known) {
    return berth_tflm_fail(job, BERTH_ERROR_FORMAT, "TFLM knows no size for a tensor of its type",
                           subgraph, BERTH_TFLM_NONE, index);
  }
  berth_status_t status = berth_tensor_bytes(type, tensor->shape, bytes);
  if (status == BERTH_OK && *bytes > INT32_MAX) status = BERTH_ERROR_OVERFLOW;
  if (status == BERTH_OK) return status;
  return berth_tflm_fail(job, status, "a tensor is larger than TFLM can count", subgraph,
                         BERTH_TFLM_NONE, index);
}

static int32_t offset_of(const berth_tflm_job_t *job, uint32_t tensor) {
  return tensor < job->offsets.count ? berth_vector_int(job->offsets, tensor) : -1;
}

static berth_status_t describe_tensors(berth_tflm_job_t *job) {
  size_t count = (size_t)job->tensor_count + job->request_count;
  job->infos = calloc(count > 0 ? count : 1, sizeof *job->infos);
  if (job->infos == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t s = 0; s < job->model->subgraph_count; s++) {
    uint32_t in_subgraph = berth_model_subgraph(job->model, s).tensor_count;
    for (uint32_t t = 0; t < in_subgraph; t++) {
      berth_tensor_t tensor = berth_model_tensor(job->model, s, t);
      berth_tflm_info_t *info = &job->infos[job->bases[s] + t];
      berth_status_t status = tensor_bytes(job, s, t, &tensor, &info->bytes);
      if (status != BERTH_OK) return status;
      info->offset = offset_of(job, job->bases[s] + t);
      bool constant = berth_model_tensor_data(job->model, &tensor).size > 0;
      info->planned = tensor.is_variable ? info->offset != -1 : !constant && info->bytes > 0;
      /* Whether a variable is persistent instead, TFLM decides by the offset of the tensor with
       * this number in subgraph 0. */
      if (tensor.is_variable && offset_of(job, t) == -1) {
        berth_tflm_keep_buffer(job, BERTH_TFLM_VARIABLES, info->bytes);
      }
    }
  }
  for (uint32_t i = 0; i < job->request_count; i++) {
    job->infos[job->tensor_count + i] =
        (berth_tflm_info_t){.bytes = job->requests[i].bytes, .offset = -1, .planned = true};
  }
  return BERTH_OK;
}

static berth_status_t list_buffers(berth_tflm_job_t *job, berth_buffer_t **planned) {
  berth_tflm_forecast_t *forecast = job->forecast;
  uint32_t count = 0, total = job->tensor_count + job->request_count;
  for (uint32_t i = 0; i < total; i++) count += job->infos[i].planned;
  forecast->buffers = calloc(count > 0 ? count : 1, sizeof *forecast->buffers);
  *planned = calloc(count > 0 ? count : 1, sizeof **planned);
  if (forecast->buffers == NULL || *planned == NULL) return BERTH_ERROR_MEMORY;
  uint32_t subgraph = 0;
  for (uint32_t i = 0; i < total; i++) {
    const berth_tflm_info_t *info = &job->infos[i];
    while (i < job->tensor_count && subgraph + 1 < job->model->subgraph_count &&
           job->bases[subgraph + 1] <= i) {
      subgraph++;
    }
    if (!info->planned) continue;
    berth_buffer_t *buffer = &(*planned)[forecast->buffer_count];
    *buffer = berth_buffer(berth_round_up(info->bytes, BERTH_TFLM_ALIGN),
                           (uint32_t)(info->first + 1), (uint32_t)(info->last + 1));
    if (info->offset != -1) buffer->fixed = (uint64_t)info->offset;
    berth_tflm_buffer_t *record = &forecast->buffers[forecast->buffer_count++];
    *record = (berth_tflm_buffer_t){.bytes = info->bytes,
                                    .subgraph = subgraph,
                                    .tensor = BERTH_TFLM_NONE,
                                    .op = BERTH_TFLM_NONE,
                                    .first = info->first,
                                    .last = info->last,
                                    .offline = info->offset != -1};
    if (i < job->tensor_count) {
      record->tensor = i - job->bases[subgraph];
    } else {
      record->subgraph = job->requests[i - job->tensor_count].subgraph;
      record->op = job->requests[i - job->tensor_count].op;
    }
  }
  return BERTH_OK;
}

static berth_status_t plan_head(berth_tflm_job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  berth_buffer_t *planned = NULL;
  void *workspace = NULL;
  berth_plan_t plan = {.placements = NULL};
  size_t bytes = 0;
  berth_status_t status = list_buffers(job, &planned);
  berth_problem_t problem = {.buffers = planned, .buffer_count = forecast->buffer_count};
  if (status == BERTH_OK)
    status = berth_plan_workspace(&berth_planner_tflm, &problem, NULL, &bytes);
  if (status == BERTH_OK) {
    workspace = malloc(bytes > 0 ? bytes : 1);
    plan.placements = calloc((size_t)forecast->buffer_count + 1, sizeof *plan.placements);
    if (workspace == NULL || plan.placements == NULL) status = BERTH_ERROR_MEMORY;
  }
  if (status == BERTH_OK) status = berth_plan_tflm_blindly(&problem, workspace, bytes, &plan);
  if (status == BERTH_OK) {
    for (uint32_t i = 0; i < forecast->buffer_count; i++) {
      forecast->buffers[i].offset = plan.placements[i].offset;
    }
    forecast->head_bytes = plan.peak;
  }
  free(planned);
  free(workspace);
  free(plan.placements);
  return status;
}

/* What is in the arena while the planner works. It takes all that is left for its buffers. */
static void plan_in_arena(berth_tflm_job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  berth_abi_t abi = job->settings.abi;
  uint32_t pointer = berth_abi_pointer(abi);
  forecast->planning_request_bytes = job->arena.head;
  berth_tflm_arena_borrow(&job->arena, (uint64_t)job->model->subgraph_count * pointer, pointer);
  berth_layout_t info = berth_layout(INFO, abi);
  uint64_t infos = (uint64_t)job->tensor_count + job->request_count;
  berth_tflm_arena_borrow(&job->arena, infos * info.size, info.align);
  forecast->planning_info_bytes = job->arena.temp - job->arena.head;
  forecast->planning_planner_bytes =
      (uint64_t)forecast->buffer_count * berth_layout(PLANNER_BUFFER, abi).size;
  berth_tflm_arena_borrow(&job->arena, forecast->planning_planner_bytes, BERTH_TFLM_ALIGN);
  forecast->planning_tail_bytes = job->arena.tail;
  forecast->planning_bytes = job->arena.temp + berth_round_up(job->arena.tail, BERTH_TFLM_ALIGN);
  if (forecast->planning_bytes > job->arena.needed) job->arena.needed = forecast->planning_bytes;
}

berth_status_t berth_tflm_finish_model(berth_tflm_job_t *job) {
  if (job->request_count > 0)
    berth_tflm_keep_structs(job, BERTH_TFLM_HANDLES, "p", job->request_count);
  berth_status_t status = describe_tensors(job);
  berth_tflm_lifetimes_t lifetimes = {
      .model = job->model,
      .bases = job->bases,
      .requests = job->requests,
      .request_count = job->request_count,
      .tensor_count = job->tensor_count,
      .infos = job->infos,
  };
  if (status == BERTH_OK) status = berth_tflm_find_lifetimes(&lifetimes, job->error);
  if (status == BERTH_OK) status = plan_head(job);
  if (status != BERTH_OK) return status;
  plan_in_arena(job);
  berth_tflm_arena_resize(&job->arena, job->forecast->head_bytes);
  return BERTH_OK;
}
