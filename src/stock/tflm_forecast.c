/* Plays TFLM's allocation of a model, step by step, in the order of MicroInterpreter's constructor
 * and AllocateTensors (micro_interpreter.cc, micro_allocator.cc). The arena is the one of
 * tflm_arena.h, which only counts. */
#include "stock/tflm_job.h"
#include <stdlib.h>

/* ---- TFLM's own structs ---------------------------------------------------------------------- */

#define ALLOCATOR       "2p5pzi" /* SingleArenaBufferAllocator: two bases, five ends, the check */
#define PLANNER         "p2i4p2ipb" /* GreedyMemoryPlanner */
#define MICRO_ALLOCATOR "5pbzpz"    /* MicroAllocator */
#define OPTIONS_SOURCE  "2p"        /* MicroBuiltinDataAllocator */
#define SUBGRAPH        "2p"        /* SubgraphAllocations */
#define EVAL_TENSOR     "2pi"       /* TfLiteEvalTensor */
#define NODE            "(6pi)p"    /* NodeAndRegistration: a TfLiteNode and a pointer */
#define REQUEST         "z2i"       /* ScratchBufferRequest */
#define SPARE_REQUESTS  12u         /* there is always room for one operator's */

/* ---- Bookkeeping ----------------------------------------------------------------------------- */

berth_status_t berth_tflm_fail(berth_tflm_job_t *job, berth_status_t status, const char *what,
                               uint32_t subgraph, uint32_t op, uint32_t tensor) {
  *job->error = (berth_tflm_error_t){what, subgraph, op, tensor};
  return status;
}

/* A persistent allocation, booked under `part`. */
void berth_tflm_keep(berth_tflm_job_t *job, berth_tflm_part_t part, uint64_t size, uint64_t align) {
  berth_tflm_share_t *share = &job->forecast->tail[part];
  share->bytes += berth_tflm_arena_keep(&job->arena, size, align);
  share->requested += size;
  share->count++;
}

void berth_tflm_keep_structs(berth_tflm_job_t *job, berth_tflm_part_t part, const char *members,
                             uint64_t count) {
  berth_layout_t layout = berth_layout(members, job->settings.abi);
  berth_tflm_keep(job, part, count * layout.size, layout.align);
}

/* What kernels and the interpreter allocate is aligned to 16. */
void berth_tflm_keep_buffer(berth_tflm_job_t *job, berth_tflm_part_t part, uint64_t size) {
  berth_tflm_keep(job, part, size, BERTH_TFLM_ALIGN);
}

/* ---- Construction: the allocators ------------------------------------------------------------ */

static void construct(berth_tflm_job_t *job) {
  berth_tflm_keep_structs(job, BERTH_TFLM_ALLOCATOR, ALLOCATOR, 1);
  berth_tflm_keep_structs(job, BERTH_TFLM_ALLOCATOR, PLANNER, 1);
  berth_tflm_keep_structs(job, BERTH_TFLM_ALLOCATOR, MICRO_ALLOCATOR, 1);
}

/* ---- StartModelAllocation: room for tensors and operators ------------------------------------ */

void berth_tflm_resize_requests(berth_tflm_job_t *job) {
  uint64_t each = berth_layout(REQUEST, job->settings.abi).size;
  berth_tflm_arena_resize(&job->arena, each * (job->request_count + SPARE_REQUESTS));
}

static void start_model(berth_tflm_job_t *job) {
  const berth_model_t *model = job->model;
  berth_tflm_keep_structs(job, BERTH_TFLM_ALLOCATOR, OPTIONS_SOURCE, 1);
  berth_tflm_resize_requests(job);
  berth_tflm_keep_structs(job, BERTH_TFLM_ALLOCATOR, SUBGRAPH, model->subgraph_count);
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    berth_tflm_keep_structs(job, BERTH_TFLM_EVAL_TENSORS, EVAL_TENSOR,
                            berth_model_subgraph(model, s).tensor_count);
  }
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    berth_tflm_keep_structs(job, BERTH_TFLM_NODES, NODE,
                            berth_model_subgraph(model, s).operator_count);
  }
}

/* ---- The end of AllocateTensors: inputs and outputs ------------------------------------------ */

static void keep_io(berth_tflm_job_t *job, berth_vector_t list) {
  berth_tflm_keep_buffer(job, BERTH_TFLM_IO_TENSORS,
                         (uint64_t)list.count * berth_abi_pointer(job->settings.abi));
  for (uint32_t i = 0; i < list.count; i++) {
    berth_tensor_t tensor = berth_model_tensor(job->model, 0, (uint32_t)berth_vector_int(list, i));
    berth_tflm_keep_structs(job, BERTH_TFLM_IO_TENSORS, BERTH_TFLM_TENSOR, 1);
    if (!berth_tflm_is_quantized(&tensor)) continue;
    berth_tflm_keep_structs(job, BERTH_TFLM_IO_QUANT, BERTH_TFLM_QUANTIZATION, 1);
    berth_tflm_keep(job, BERTH_TFLM_IO_QUANT, berth_tflm_zero_point_bytes(&tensor), 4);
  }
}

static void finish(berth_tflm_job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  berth_subgraph_t main = berth_model_subgraph(job->model, 0);
  keep_io(job, main.inputs);
  keep_io(job, main.outputs);
  forecast->tail_bytes = job->arena.tail;
  forecast->arena_used_bytes = forecast->head_bytes + forecast->tail_bytes;
  forecast->min_arena_bytes = berth_round_up(job->arena.needed, BERTH_TFLM_ALIGN);
  forecast->moment = BERTH_TFLM_AT_END;
  if (berth_round_up(forecast->arena_used_bytes, BERTH_TFLM_ALIGN) < forecast->min_arena_bytes) {
    bool planning = forecast->planning_bytes >= forecast->prepare_bytes;
    forecast->moment = planning ? BERTH_TFLM_AT_PLANNING : BERTH_TFLM_AT_PREPARE;
  }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static berth_status_t begin(berth_tflm_job_t *job) {
  const berth_model_t *model = job->model;
  job->bases = calloc(model->subgraph_count, sizeof *job->bases);
  if (job->bases == NULL) return BERTH_ERROR_MEMORY;
  uint64_t tensors = 0;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    job->bases[s] = (uint32_t)tensors;
    tensors += berth_model_subgraph(model, s).tensor_count;
    if (tensors > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  }
  job->tensor_count = (uint32_t)tensors;
  if (job->settings.offsets != NULL) {
    if (job->settings.offset_count != job->tensor_count) return BERTH_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < job->tensor_count; i++) {
      if (job->settings.offsets[i] < -1) return BERTH_ERROR_ARGUMENT;
    }
    job->offsets = (berth_vector_t){(const uint8_t *)job->settings.offsets, job->tensor_count};
  } else {
    const char *fault;
    if (berth_model_offline_plan(model, &job->offsets, &fault) != BERTH_OK) {
      return berth_tflm_fail(job, BERTH_ERROR_FORMAT, fault, BERTH_TFLM_NONE, BERTH_TFLM_NONE,
                             BERTH_TFLM_NONE);
    }
  }
  job->forecast->offline = job->offsets.count > 0;
  return BERTH_OK;
}

berth_status_t berth_tflm_forecast(const berth_model_t *model,
                                   const berth_tflm_settings_t *settings,
                                   berth_tflm_forecast_t *forecast, berth_tflm_error_t *error) {
  berth_tflm_error_t ignored;
  berth_tflm_forecast_t result = {.operators = NULL};
  berth_tflm_job_t job = {
      .model = model, .error = error != NULL ? error : &ignored, .forecast = &result};
  if (settings != NULL) job.settings = *settings;
  *job.error = (berth_tflm_error_t){"", BERTH_TFLM_NONE, BERTH_TFLM_NONE, BERTH_TFLM_NONE};
  result.abi = job.settings.abi;
  result.kernels = job.settings.kernels;
  berth_status_t status = begin(&job);
  if (status == BERTH_OK) {
    construct(&job);
    start_model(&job);
    status = berth_tflm_run_operators(&job);
  }
  if (status == BERTH_OK) status = berth_tflm_finish_model(&job);
  if (status == BERTH_OK) finish(&job);
  free(job.bases);
  free(job.requests);
  free(job.infos);
  if (status != BERTH_OK) {
    berth_tflm_forecast_free(&result);
    return status;
  }
  *forecast = result;
  return BERTH_OK;
}

void berth_tflm_forecast_free(berth_tflm_forecast_t *forecast) {
  free(forecast->operators);
  free(forecast->buffers);
  forecast->operators = NULL;
  forecast->buffers = NULL;
}

const char *berth_tflm_kernel_set_name(berth_tflm_kernel_set_t kernels) {
  return kernels == BERTH_TFLM_CMSIS_NN ? "CMSIS-NN" : "reference";
}

const char *berth_tflm_part_name(berth_tflm_part_t part) {
  static const char *const names[BERTH_TFLM_PART_COUNT] = {
      [BERTH_TFLM_ALLOCATOR] = "allocator",
      [BERTH_TFLM_EVAL_TENSORS] = "tensors",
      [BERTH_TFLM_NODES] = "operators",
      [BERTH_TFLM_OPTIONS] = "operator options",
      [BERTH_TFLM_OP_DATA] = "kernel data",
      [BERTH_TFLM_PREPARED] = "kernel arrays",
      [BERTH_TFLM_HANDLES] = "scratch handles",
      [BERTH_TFLM_VARIABLES] = "variables",
      [BERTH_TFLM_IO_TENSORS] = "inputs and outputs",
      [BERTH_TFLM_IO_QUANT] = "their quantization",
  };
  return (unsigned)part < BERTH_TFLM_PART_COUNT ? names[part] : "unknown";
}
