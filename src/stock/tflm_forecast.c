/* Plays TFLM's allocation of a model, step by step, in the order of MicroInterpreter's constructor
 * and AllocateTensors (micro_interpreter.cc, micro_allocator.cc): each section below is one of its
 * phases. The arena is the one of tflm_arena.h, which only counts. */
#include "stock/tflm_forecast.h"
#include "berth/graph.h"
#include "plan/tflm.h"
#include "stock/tflm_arena.h"
#include "stock/tflm_kernels.h"
#include "stock/tflm_lifetimes.h"
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* ---- TFLM's own structs ---------------------------------------------------------------------- */

#define ALLOCATOR       "2p5pzi" /* SingleArenaBufferAllocator: two bases, five ends, the check */
#define PLANNER         "p2i4p2ipb"    /* GreedyMemoryPlanner */
#define MICRO_ALLOCATOR "5pbzpz"       /* MicroAllocator */
#define OPTIONS_SOURCE  "2p"           /* MicroBuiltinDataAllocator */
#define SUBGRAPH        "2p"           /* SubgraphAllocations */
#define EVAL_TENSOR     "2pi"          /* TfLiteEvalTensor */
#define TENSOR          "(ip)2i2pz2ib" /* TfLiteTensor, quantization first */
#define NODE            "(6pi)p"       /* NodeAndRegistration: a TfLiteNode and a pointer */
#define QUANTIZATION    "2pi"          /* TfLiteAffineQuantization */
#define REQUEST         "z2i"          /* ScratchBufferRequest */
#define INFO            "zp3ib"        /* AllocationInfo */
#define PLANNER_BUFFER  "4i3i2ii"      /* what the planner keeps of a buffer: 40 bytes everywhere */
#define SPARE_REQUESTS  12u            /* there is always room for one operator's */

/* ---- The work -------------------------------------------------------------------------------- */

typedef struct job {
  const berth_model_t *model;
  berth_tflm_settings_t settings;
  berth_tflm_error_t *error;
  berth_tflm_forecast_t *forecast;
  berth_tflm_arena_t arena;
  uint32_t *bases; /* first tensor of each subgraph in a list of all */
  uint32_t tensor_count;
  berth_tflm_request_t *requests;
  uint32_t request_count, request_capacity;
  berth_tflm_info_t *infos; /* tensors, then requests */
  berth_vector_t offsets;   /* the offline plan; empty: none */
} job_t;

static berth_status_t fail(job_t *job, berth_status_t status, const char *what, uint32_t subgraph,
                           uint32_t op, uint32_t tensor) {
  *job->error = (berth_tflm_error_t){what, subgraph, op, tensor};
  return status;
}

/* A persistent allocation, booked under `part`. */
static void keep(job_t *job, berth_tflm_part_t part, uint64_t size, uint64_t align) {
  berth_tflm_share_t *share = &job->forecast->tail[part];
  share->bytes += berth_tflm_arena_keep(&job->arena, size, align);
  share->requested += size;
  share->count++;
}

static void keep_structs(job_t *job, berth_tflm_part_t part, const char *members, uint64_t count) {
  berth_layout_t layout = berth_layout(members, job->settings.abi);
  keep(job, part, count * layout.size, layout.align);
}

/* What kernels and the interpreter allocate is aligned to 16. */
static void keep_buffer(job_t *job, berth_tflm_part_t part, uint64_t size) {
  keep(job, part, size, BERTH_TFLM_ALIGN);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

/* Bytes of a tensor in TFLM's eyes: 4-bit types are not packed, and not all types are known. */
static berth_status_t tensor_bytes(job_t *job, uint32_t subgraph, uint32_t index,
                                   const berth_tensor_t *tensor, uint64_t *bytes) {
  berth_tensor_type_t type = tensor->type;
  if (type == BERTH_TYPE_INT4) type = BERTH_TYPE_INT8;
  bool known = type <= BERTH_TYPE_UINT16 && type != BERTH_TYPE_STRING && type != BERTH_TYPE_VARIANT;
  if (!known) {
    return fail(job, BERTH_ERROR_FORMAT, "TFLM knows no size for a tensor of its type", subgraph,
                NONE, index);
  }
  berth_status_t status = berth_tensor_bytes(type, tensor->shape, bytes);
  if (status == BERTH_OK && *bytes > INT32_MAX) status = BERTH_ERROR_OVERFLOW;
  if (status == BERTH_OK) return status;
  return fail(job, status, "a tensor is larger than TFLM can count", subgraph, NONE, index);
}

static bool is_quantized(const berth_tensor_t *tensor) {
  return tensor->scales.count > 0 && tensor->zero_points.count > 0;
}

/* Zero points are copied, since the file has them in 64 bits. */
static uint64_t zero_point_bytes(const berth_tensor_t *tensor) {
  return 4 * (1 + (uint64_t)tensor->scales.count);
}

/* A TfLiteTensor that a kernel borrows during Prepare. */
static void borrow_tensor(job_t *job, uint32_t subgraph, berth_vector_t list, uint32_t index) {
  int32_t number = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (number == BERTH_NO_TENSOR) return;
  berth_tensor_t tensor = berth_model_tensor(job->model, subgraph, (uint32_t)number);
  berth_layout_t layout = berth_layout(TENSOR, job->settings.abi);
  berth_tflm_arena_borrow(&job->arena, layout.size, layout.align);
  if (!is_quantized(&tensor)) return;
  layout = berth_layout(QUANTIZATION, job->settings.abi);
  berth_tflm_arena_borrow(&job->arena, layout.size, layout.align);
  berth_tflm_arena_borrow(&job->arena, zero_point_bytes(&tensor), 4);
}

/* ---- Construction: the allocators ------------------------------------------------------------ */

static void construct(job_t *job) {
  keep_structs(job, BERTH_TFLM_ALLOCATOR, ALLOCATOR, 1);
  keep_structs(job, BERTH_TFLM_ALLOCATOR, PLANNER, 1);
  keep_structs(job, BERTH_TFLM_ALLOCATOR, MICRO_ALLOCATOR, 1);
}

/* ---- StartModelAllocation: room for tensors and operators ------------------------------------ */

static void resize_requests(job_t *job) {
  uint64_t each = berth_layout(REQUEST, job->settings.abi).size;
  berth_tflm_arena_resize(&job->arena, each * (job->request_count + SPARE_REQUESTS));
}

static void start_model(job_t *job) {
  const berth_model_t *model = job->model;
  keep_structs(job, BERTH_TFLM_ALLOCATOR, OPTIONS_SOURCE, 1);
  resize_requests(job);
  keep_structs(job, BERTH_TFLM_ALLOCATOR, SUBGRAPH, model->subgraph_count);
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    keep_structs(job, BERTH_TFLM_EVAL_TENSORS, EVAL_TENSOR,
                 berth_model_subgraph(model, s).tensor_count);
  }
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    keep_structs(job, BERTH_TFLM_NODES, NODE, berth_model_subgraph(model, s).operator_count);
  }
}

/* ---- The operators: options, Init, Prepare --------------------------------------------------- */

static berth_status_t ask_kernel(job_t *job, const berth_tflm_kernel_t *kernel,
                                 const berth_operator_t *op, berth_tflm_operator_t *record,
                                 berth_tflm_call_t *call) {
  *call = (berth_tflm_call_t){
      .model = job->model, .op = op, .subgraph = record->subgraph, .abi = job->settings.abi};
  if (kernel->prepare != NULL) kernel->prepare(call);
  if (!call->overflow) return BERTH_OK;
  return fail(job, BERTH_ERROR_OVERFLOW, "an operator needs more memory than TFLM can count",
              record->subgraph, record->op, NONE);
}

/* A shape that the converter left open. */
static const char *open_output(const job_t *job, uint32_t subgraph, const berth_operator_t *op) {
  for (uint32_t i = 0; i < op->outputs.count; i++) {
    int32_t number = berth_vector_int(op->outputs, i);
    if (number == BERTH_NO_TENSOR) continue;
    berth_tensor_t tensor = berth_model_tensor(job->model, subgraph, (uint32_t)number);
    bool scalar = tensor.shape.count == 1 && berth_vector_int(tensor.shape, 0) == 0;
    for (uint32_t k = 0; k < tensor.shape.count && !scalar; k++) {
      if (berth_vector_int(tensor.shape, k) == 0) return "it makes a tensor without a fixed shape";
    }
  }
  return NULL;
}

static void keep_arrays(job_t *job, const berth_tflm_call_t *call) {
  for (uint32_t i = 0; i < call->array_count; i++) {
    keep_buffer(job, BERTH_TFLM_PREPARED, call->arrays[i]);
  }
}

static void parse_options(job_t *job, const berth_tflm_kernel_t *kernel,
                          berth_tflm_operator_t *record) {
  berth_layout_t layout = berth_layout(kernel->options, job->settings.abi);
  if (layout.size == 0) return;
  record->options_bytes = layout.size;
  keep(job, BERTH_TFLM_OPTIONS, layout.size, layout.align);
}

static void init(job_t *job, const berth_tflm_kernel_t *kernel, berth_tflm_operator_t *record,
                 const berth_tflm_call_t *call) {
  record->data_bytes = berth_layout(kernel->data, job->settings.abi).size;
  if (record->data_bytes > 0) keep_buffer(job, BERTH_TFLM_OP_DATA, record->data_bytes);
  if (kernel->early) keep_arrays(job, call);
}

static berth_status_t request(job_t *job, const berth_tflm_operator_t *record, uint64_t bytes) {
  if (job->request_count == job->request_capacity) {
    uint32_t capacity = job->request_capacity * 2 + 16;
    void *grown = realloc(job->requests, capacity * sizeof *job->requests);
    if (grown == NULL) return BERTH_ERROR_MEMORY;
    job->requests = grown;
    job->request_capacity = capacity;
  }
  job->requests[job->request_count++] = (berth_tflm_request_t){bytes, record->subgraph, record->op};
  return BERTH_OK;
}

static berth_status_t prepare(job_t *job, const berth_tflm_kernel_t *kernel,
                              const berth_operator_t *op, berth_tflm_operator_t *record,
                              const berth_tflm_call_t *call) {
  uint64_t before = job->arena.head;
  for (const char *letter = kernel->temps; *letter != '\0'; letter++) {
    if (*letter == '*') {
      for (uint32_t i = 0; i < op->inputs.count; i++) {
        borrow_tensor(job, record->subgraph, op->inputs, i);
      }
    } else if (*letter >= 'A') {
      borrow_tensor(job, record->subgraph, op->outputs, (uint32_t)(*letter - 'A'));
    } else {
      borrow_tensor(job, record->subgraph, op->inputs, (uint32_t)(*letter - '0'));
    }
  }
  record->temporary_bytes = job->arena.temp - before;
  if (!kernel->early) keep_arrays(job, call);
  for (uint32_t i = 0; i < call->array_count; i++) record->prepared_bytes += call->arrays[i];
  for (uint32_t i = 0; i < call->scratch_count; i++) {
    record->scratch_bytes += call->scratch[i];
    berth_status_t status = request(job, record, call->scratch[i]);
    if (status != BERTH_OK) return status;
  }
  record->scratch_count = call->scratch_count;
  return BERTH_OK;
}

/* The three phases visit all operators of all subgraphs, one phase after the other. */
typedef enum phase { PARSE, INIT, PREPARE } phase_t;

static berth_status_t visit(job_t *job, phase_t phase, berth_tflm_operator_t *record) {
  berth_operator_t op = berth_model_operator(job->model, record->subgraph, record->op);
  const berth_tflm_kernel_t *kernel = berth_tflm_kernel(&op);
  record->known = kernel != NULL;
  if (kernel == NULL) return BERTH_OK;
  berth_tflm_call_t call;
  berth_status_t status = ask_kernel(job, kernel, &op, record, &call);
  if (status != BERTH_OK) return status;
  switch (phase) {
  case PARSE:
    record->refusal = call.refusal;
    if (record->refusal == NULL) record->refusal = open_output(job, record->subgraph, &op);
    parse_options(job, kernel, record);
    return BERTH_OK;
  case INIT:
    init(job, kernel, record, &call);
    return BERTH_OK;
  default:
    return prepare(job, kernel, &op, record, &call);
  }
}

static berth_status_t visit_all(job_t *job, phase_t phase) {
  berth_tflm_forecast_t *forecast = job->forecast;
  for (uint32_t i = 0; i < forecast->operator_count; i++) {
    uint64_t needed = job->arena.needed;
    berth_status_t status = visit(job, phase, &forecast->operators[i]);
    if (status != BERTH_OK) return status;
    if (job->arena.needed > needed) forecast->moment_operator = i;
    if (phase == PREPARE) resize_requests(job);
  }
  return BERTH_OK;
}

static berth_status_t list_operators(job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  uint64_t count = 0;
  for (uint32_t s = 0; s < job->model->subgraph_count; s++) {
    count += berth_model_subgraph(job->model, s).operator_count;
  }
  if (count > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  forecast->operators = calloc(count > 0 ? (size_t)count : 1, sizeof *forecast->operators);
  if (forecast->operators == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t s = 0; s < job->model->subgraph_count; s++) {
    berth_subgraph_t subgraph = berth_model_subgraph(job->model, s);
    for (uint32_t i = 0; i < subgraph.operator_count; i++) {
      berth_tflm_operator_t *record = &forecast->operators[forecast->operator_count++];
      record->subgraph = s;
      record->op = i;
    }
  }
  return BERTH_OK;
}

static berth_status_t run_operators(job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  berth_status_t status = visit_all(job, PARSE);
  if (status == BERTH_OK) status = visit_all(job, INIT);
  if (status == BERTH_OK) status = visit_all(job, PREPARE);
  if (status != BERTH_OK) return status;
  forecast->prepare_bytes = job->arena.needed;
  for (uint32_t i = 0; i < forecast->operator_count; i++) {
    forecast->unknown_count += !forecast->operators[i].known;
    forecast->refused_count += forecast->operators[i].refusal != NULL;
  }
  return BERTH_OK;
}

/* ---- FinishModelAllocation: planning --------------------------------------------------------- */

static int32_t offset_of(const job_t *job, uint32_t tensor) {
  return tensor < job->offsets.count ? berth_vector_int(job->offsets, tensor) : -1;
}

static berth_status_t describe_tensors(job_t *job) {
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
        keep_buffer(job, BERTH_TFLM_VARIABLES, info->bytes);
      }
    }
  }
  for (uint32_t i = 0; i < job->request_count; i++) {
    job->infos[job->tensor_count + i] =
        (berth_tflm_info_t){.bytes = job->requests[i].bytes, .offset = -1, .planned = true};
  }
  return BERTH_OK;
}

static berth_status_t list_buffers(job_t *job, berth_buffer_t **planned) {
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
    *buffer = berth_buffer(berth_tflm_round(info->bytes, BERTH_TFLM_ALIGN),
                           (uint32_t)(info->first + 1), (uint32_t)(info->last + 1));
    if (info->offset != -1) buffer->fixed = (uint64_t)info->offset;
    berth_tflm_buffer_t *record = &forecast->buffers[forecast->buffer_count++];
    *record = (berth_tflm_buffer_t){.bytes = info->bytes,
                                    .subgraph = subgraph,
                                    .tensor = NONE,
                                    .op = NONE,
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

static berth_status_t plan_head(job_t *job) {
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
static void plan_in_arena(job_t *job) {
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
  forecast->planning_bytes = job->arena.temp + berth_tflm_round(job->arena.tail, BERTH_TFLM_ALIGN);
  if (forecast->planning_bytes > job->arena.needed) job->arena.needed = forecast->planning_bytes;
}

static berth_status_t finish_model(job_t *job) {
  if (job->request_count > 0) keep_structs(job, BERTH_TFLM_HANDLES, "p", job->request_count);
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

/* ---- The end of AllocateTensors: inputs and outputs ------------------------------------------ */

static void keep_io(job_t *job, berth_vector_t list) {
  keep_buffer(job, BERTH_TFLM_IO_TENSORS,
              (uint64_t)list.count * berth_abi_pointer(job->settings.abi));
  for (uint32_t i = 0; i < list.count; i++) {
    berth_tensor_t tensor = berth_model_tensor(job->model, 0, (uint32_t)berth_vector_int(list, i));
    keep_structs(job, BERTH_TFLM_IO_TENSORS, TENSOR, 1);
    if (!is_quantized(&tensor)) continue;
    keep_structs(job, BERTH_TFLM_IO_QUANT, QUANTIZATION, 1);
    keep(job, BERTH_TFLM_IO_QUANT, zero_point_bytes(&tensor), 4);
  }
}

static void finish(job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  berth_subgraph_t main = berth_model_subgraph(job->model, 0);
  keep_io(job, main.inputs);
  keep_io(job, main.outputs);
  forecast->tail_bytes = job->arena.tail;
  forecast->arena_used_bytes = forecast->head_bytes + forecast->tail_bytes;
  forecast->min_arena_bytes = berth_tflm_round(job->arena.needed, BERTH_TFLM_ALIGN);
  forecast->moment = BERTH_TFLM_AT_END;
  if (berth_tflm_round(forecast->arena_used_bytes, BERTH_TFLM_ALIGN) < forecast->min_arena_bytes) {
    bool planning = forecast->planning_bytes >= forecast->prepare_bytes;
    forecast->moment = planning ? BERTH_TFLM_AT_PLANNING : BERTH_TFLM_AT_PREPARE;
  }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static berth_status_t begin(job_t *job) {
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
      return fail(job, BERTH_ERROR_FORMAT, fault, NONE, NONE, NONE);
    }
  }
  job->forecast->offline = job->offsets.count > 0;
  return list_operators(job);
}

berth_status_t berth_tflm_forecast(const berth_model_t *model,
                                   const berth_tflm_settings_t *settings,
                                   berth_tflm_forecast_t *forecast, berth_tflm_error_t *error) {
  berth_tflm_error_t ignored;
  berth_tflm_forecast_t result = {.operators = NULL};
  job_t job = {.model = model, .error = error != NULL ? error : &ignored, .forecast = &result};
  if (settings != NULL) job.settings = *settings;
  *job.error = (berth_tflm_error_t){"", NONE, NONE, NONE};
  if (job.settings.kernels != BERTH_TFLM_REFERENCE) return BERTH_ERROR_UNSUPPORTED;
  result.abi = job.settings.abi;
  berth_status_t status = begin(&job);
  if (status == BERTH_OK) {
    construct(&job);
    start_model(&job);
    status = run_operators(&job);
  }
  if (status == BERTH_OK) status = finish_model(&job);
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
