/* Calls: what a kernel sees of one operator, and how it answers. */
#include "run.h"
#include <string.h>

void berth_run_log(const berth_interpreter_t *interpreter, berth_event_kind_t kind,
                   uint32_t subgraph, uint32_t op, uint32_t tensor, uint64_t needed,
                   const char *why) {
  if (interpreter->options.log == NULL) return;
  berth_event_t event = {
      .kind = kind, .subgraph = subgraph, .op = op, .tensor = tensor, .needed = needed, .why = why};
  interpreter->options.log(interpreter->options.user, &event);
}

/* Does the file say exactly this shape? */
static bool is_file_shape(const berth_tensor_t *tensor, uint32_t rank, const int32_t *dims) {
  if (tensor->shape.count != rank) return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (berth_vector_int(tensor->shape, i) != dims[i]) return false;
  }
  return true;
}

static bool is_noted_shape(const berth_shape_t *shape, uint32_t rank, const int32_t *dims) {
  return !shape->unknown && shape->rank == rank &&
         (rank == 0 || memcmp(shape->dims, dims, rank * sizeof *dims) == 0);
}

/* Bytes of a tensor of that shape; OVERFLOW beyond what an arena can hold. */
static berth_status_t shape_bytes(berth_tensor_type_t type, uint32_t rank, const int32_t *dims,
                                  uint32_t *bytes) {
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] < 0) return BERTH_ERROR_ARGUMENT;
    elements *= (uint32_t)dims[i];
    if (elements > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  }
  elements = (elements * berth_tensor_type_bits(type) + 7) / 8;
  if (elements > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  *bytes = (uint32_t)elements;
  return BERTH_OK;
}

/* Gives a tensor whose shape has just become known its memory. */
static berth_status_t place_dynamic(berth_interpreter_t *interpreter, uint32_t flat,
                                    uint32_t bytes) {
  uint32_t offset;
  uint32_t align = interpreter->options.alignment;
  berth_status_t status = berth_arena_allocate(interpreter->dynamic, bytes, align, &offset);
  if (status != BERTH_OK) return status;
  interpreter->places[flat] =
      (uint32_t)(interpreter->dynamic->base - (uint8_t *)interpreter->memories.activations.data) +
      offset;
  return BERTH_OK;
}

static berth_status_t call_shape(berth_call_t *call, uint32_t index, uint32_t rank,
                                 const int32_t *dims) {
  berth_interpreter_t *interpreter = call->interpreter;
  uint32_t flat = berth_run_tensor_index(interpreter, call->subgraph, index);
  berth_tensor_t tensor = berth_model_tensor(interpreter->model, call->subgraph, index);
  berth_shape_t *shape;

  if (rank == BERTH_RANK_UNKNOWN) {
    berth_status_t status = berth_run_put_shape(interpreter, flat, 0, NULL, &shape);
    if (status != BERTH_OK) return status;
    shape->rank = 0xffffu;
    shape->unknown = 1;
    interpreter->places[flat] = PLACE_UNKNOWN;
    return BERTH_OK;
  }
  uint32_t bytes = 0;
  if (rank > BERTH_RANK_MAX) return BERTH_ERROR_ARGUMENT;
  berth_status_t status = shape_bytes(tensor.type, rank, dims, &bytes);
  if (status != BERTH_OK) return status;

  shape = berth_run_shape(interpreter, flat);
  if (shape == NULL ? is_file_shape(&tensor, rank, dims) : is_noted_shape(shape, rank, dims)) {
    return BERTH_OK;
  }
  if (interpreter->prepared && (shape == NULL || !shape->unknown)) {
    return BERTH_ERROR_ARGUMENT; /* only a tensor that was said to be unknown may change now */
  }
  status = berth_run_put_shape(interpreter, flat, rank, dims, &shape);
  if (status != BERTH_OK) return status;
  if (interpreter->prepared && interpreter->places[flat] == PLACE_UNKNOWN) {
    return place_dynamic(interpreter, flat, bytes);
  }
  return BERTH_OK;
}

void berth_run_call(berth_interpreter_t *interpreter, uint32_t subgraph, uint32_t op,
                    berth_call_t *call) {
  memset(call, 0, sizeof *call);
  call->model = interpreter->model;
  call->op = berth_model_operator(interpreter->model, subgraph, op);
  call->kernel = interpreter->kernels[call->op.opcode];
  call->subgraph = subgraph;
  call->index = op;
  call->cpu = interpreter->cpu;
  call->store_multipliers = interpreter->options.store_multipliers;
  call->interpreter = interpreter;
  call->tensor = berth_run_seen;
  call->shape = call_shape;
}

void berth_run_call_memory(berth_interpreter_t *interpreter, berth_call_t *call) {
  const berth_operator_place_t *place =
      &interpreter->operators[berth_run_operator_index(interpreter, call->subgraph, call->index)];
  if (place->workspace) call->workspace = berth_run_persistent(interpreter, place->workspace);
  if (place->state) call->state = berth_run_persistent(interpreter, place->state);
  uint32_t count = place->scratch >> OPERATOR_SCRATCH_SHIFT & 7u;
  const uint32_t *entry = &interpreter->scratches[place->scratch & OPERATOR_SCRATCH_INDEX];
  if (place->scratch & OPERATOR_WISH) call->scratch_bytes = *entry++;
  for (uint32_t i = 0; i < count; i++) {
    if (entry[i] == BERTH_NO_OFFSET) continue;
    call->scratch[i] = (uint8_t *)interpreter->memories.activations.data + entry[i];
  }
}

bool berth_run_input_unknown(const berth_call_t *call) {
  const berth_interpreter_t *interpreter = call->interpreter;
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    int32_t tensor = berth_vector_int(call->op.inputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    uint32_t flat = berth_run_tensor_index(interpreter, call->subgraph, (uint32_t)tensor);
    const berth_shape_t *shape = berth_run_shape(interpreter, flat);
    if (shape != NULL && shape->unknown) return true;
  }
  return false;
}
