/* The operators' part of the forecast: their options, Init and Prepare, as the table of kernels
 * says (tflm_kernels.h). TFLM visits all operators of all subgraphs three times, once for each. */
#include "stock/tflm_job.h"
#include "stock/tflm_kernels.h"
#include <stdlib.h>

/* A TfLiteTensor that a kernel borrows during Prepare. */
static void borrow_tensor(berth_tflm_job_t *job, uint32_t subgraph, berth_vector_t list,
                          uint32_t index) {
  int32_t number = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (number == BERTH_NO_TENSOR) return;
  berth_tensor_t tensor = berth_model_tensor(job->model, subgraph, (uint32_t)number);
  berth_layout_t layout = berth_layout(BERTH_TFLM_TENSOR, job->settings.abi);
  berth_tflm_arena_borrow(&job->arena, layout.size, layout.align);
  if (!berth_tflm_is_quantized(&tensor)) return;
  layout = berth_layout(BERTH_TFLM_QUANTIZATION, job->settings.abi);
  berth_tflm_arena_borrow(&job->arena, layout.size, layout.align);
  berth_tflm_arena_borrow(&job->arena, berth_tflm_zero_point_bytes(&tensor), 4);
}

static berth_status_t ask_kernel(berth_tflm_job_t *job, const berth_tflm_kernel_t *kernel,
                                 const berth_operator_t *op, berth_tflm_operator_t *record,
                                 berth_tflm_call_t *call) {
  *call = (berth_tflm_call_t){
      .model = job->model, .op = op, .subgraph = record->subgraph, .abi = job->settings.abi};
  if (kernel->prepare != NULL) kernel->prepare(call);
  if (!call->overflow) return BERTH_OK;
  return berth_tflm_fail(job, BERTH_ERROR_OVERFLOW,
                         "an operator needs more memory than TFLM can count", record->subgraph,
                         record->op, BERTH_TFLM_NONE);
}

/* A shape that the converter left open. */
static const char *open_output(const berth_tflm_job_t *job, uint32_t subgraph,
                               const berth_operator_t *op) {
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

static void keep_arrays(berth_tflm_job_t *job, const berth_tflm_call_t *call) {
  for (uint32_t i = 0; i < call->array_count; i++) {
    berth_tflm_keep_buffer(job, BERTH_TFLM_PREPARED, call->arrays[i]);
  }
}

static void parse_options(berth_tflm_job_t *job, const berth_tflm_kernel_t *kernel,
                          berth_tflm_operator_t *record) {
  berth_layout_t layout = berth_layout(kernel->options, job->settings.abi);
  if (layout.size == 0) return;
  record->options_bytes = layout.size;
  berth_tflm_keep(job, BERTH_TFLM_OPTIONS, layout.size, layout.align);
}

static void init(berth_tflm_job_t *job, const berth_tflm_kernel_t *kernel,
                 berth_tflm_operator_t *record, const berth_tflm_call_t *call) {
  record->data_bytes = berth_layout(kernel->data, job->settings.abi).size;
  if (record->data_bytes > 0) berth_tflm_keep_buffer(job, BERTH_TFLM_OP_DATA, record->data_bytes);
  if (kernel->early) keep_arrays(job, call);
}

static berth_status_t request(berth_tflm_job_t *job, const berth_tflm_operator_t *record,
                              uint64_t bytes) {
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

static berth_status_t prepare(berth_tflm_job_t *job, const berth_tflm_kernel_t *kernel,
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

static berth_status_t visit(berth_tflm_job_t *job, phase_t phase, berth_tflm_operator_t *record) {
  berth_operator_t op = berth_model_operator(job->model, record->subgraph, record->op);
  bool cmsis = job->settings.kernels == BERTH_TFLM_CMSIS_NN;
  const berth_tflm_kernel_t *kernel = cmsis ? berth_tflm_cmsis_kernel(&op) : berth_tflm_kernel(&op);
  record->known = kernel != NULL;
  if (kernel == NULL) return BERTH_OK;
  berth_tflm_call_t call;
  berth_status_t status = ask_kernel(job, kernel, &op, record, &call);
  if (status != BERTH_OK) return status;
  record->known = !call.unsure;
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

static berth_status_t visit_all(berth_tflm_job_t *job, phase_t phase) {
  berth_tflm_forecast_t *forecast = job->forecast;
  for (uint32_t i = 0; i < forecast->operator_count; i++) {
    uint64_t needed = job->arena.needed;
    berth_status_t status = visit(job, phase, &forecast->operators[i]);
    if (status != BERTH_OK) return status;
    if (job->arena.needed > needed) forecast->moment_operator = i;
    if (phase == PREPARE) berth_tflm_resize_requests(job);
  }
  return BERTH_OK;
}

static berth_status_t list_operators(berth_tflm_job_t *job) {
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

berth_status_t berth_tflm_run_operators(berth_tflm_job_t *job) {
  berth_tflm_forecast_t *forecast = job->forecast;
  berth_status_t status = list_operators(job);
  if (status == BERTH_OK) status = visit_all(job, PARSE);
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
