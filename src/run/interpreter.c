/* Setting an interpreter up: its tables, its kernels, its inputs' shapes. */
#include "run.h"
#include <string.h>

static bool is_aligned(const berth_memory_t *memory, uint32_t align) {
  return (uintptr_t)memory->data % align == 0;
}

static const berth_kernel_t *find_in(const berth_kernel_t *const *table,
                                     const berth_operator_t *op) {
  if (table == NULL) return NULL;
  for (; *table != NULL; table++) {
    const berth_kernel_t *kernel = *table;
    if (kernel->code != op->code) continue;
    if (kernel->code != BERTH_BUILTIN_CUSTOM) return kernel;
    if (berth_run_is_text(op->custom_name, kernel->custom_name)) return kernel;
  }
  return NULL;
}

static const berth_kernel_t *find_kernel(const berth_interpreter_t *interpreter,
                                         const berth_operator_t *op) {
  const berth_interpreter_options_t *options = &interpreter->options;
  const berth_kernel_t *kernel = find_in(options->customs, op);
  if (kernel == NULL) kernel = find_in(berth_run_kernels, op);
  if (kernel == NULL) kernel = find_in(options->kernels, op);
  return kernel;
}

static berth_status_t count_all(berth_interpreter_t *interpreter) {
  uint64_t tensors = 0, operators = 0;
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    berth_subgraph_t subgraph = berth_model_subgraph(interpreter->model, s);
    tensors += subgraph.tensor_count;
    operators += subgraph.operator_count;
  }
  if (tensors > OPERATOR_SCRATCH_INDEX || operators > OPERATOR_SCRATCH_INDEX / BERTH_SCRATCH_MAX) {
    return BERTH_ERROR_OVERFLOW;
  }
  interpreter->tensor_count = (uint32_t)tensors;
  interpreter->operator_count = (uint32_t)operators;
  return BERTH_OK;
}

static void *take_table(berth_interpreter_t *interpreter, uint64_t count, size_t size) {
  if (count * size > ACTIVATIONS_MAX) return NULL;
  return berth_run_take_metadata(interpreter, (uint32_t)(count * size),
                                 (uint32_t)(size < 8        ? 4
                                            : size % 8 == 0 ? 8
                                                            : 4));
}

berth_status_t berth_interpreter_init(berth_interpreter_t *interpreter, const berth_model_t *model,
                                      const berth_interpreter_options_t *options,
                                      const berth_memories_t *memories) {
  if (interpreter == NULL || model == NULL || options == NULL || memories == NULL) {
    return BERTH_ERROR_ARGUMENT;
  }
  if (memories->activations.data == NULL && memories->activations.bytes > 0) {
    return BERTH_ERROR_ARGUMENT;
  }
  berth_interpreter_t new;
  memset(&new, 0, sizeof new);
  new.model = model;
  new.memories = *memories;
  if (new.memories.activations.bytes > ACTIVATIONS_MAX) {
    new.memories.activations.bytes = ACTIVATIONS_MAX;
  }
  new.options = *options;
  if (new.options.alignment == 0) new.options.alignment = 16;
  if (new.options.alignment &(new.options.alignment - 1)) return BERTH_ERROR_ARGUMENT;
  if (new.options.alignment > BERTH_ARENA_ALIGN_MAX) return BERTH_ERROR_ARGUMENT;
  new.cpu = new.options.portable ? 0 : (uint8_t)berth_cpu_detect();

  uint32_t align = new.options.alignment > 16 ? new.options.alignment : 16;
  if (!is_aligned(&memories->activations, align) || !is_aligned(&memories->persistent, 16) ||
      !is_aligned(&memories->metadata, 16) || !is_aligned(&memories->planning, 16)) {
    return BERTH_ERROR_ARGUMENT;
  }
  berth_status_t status = count_all(&new);
  if (status != BERTH_OK) return status;

  new.kernels = take_table(&new, model->opcode_count, sizeof *new.kernels);
  new.bases = take_table(&new, 2 * (uint64_t)model->subgraph_count, sizeof *new.bases);
  new.operators = take_table(&new, new.operator_count, sizeof *new.operators);
  new.places = take_table(&new, new.tensor_count, sizeof *new.places);
  if (!new.kernels || !new.bases || !new.operators || !new.places) {
    uint64_t needed =
        model->opcode_count * sizeof *new.kernels + model->subgraph_count * 2 * sizeof *new.bases +
        new.operator_count * sizeof *new.operators + new.tensor_count * sizeof *new.places;
    berth_run_log(&new, BERTH_EVENT_MEMORY, 0, BERTH_NOBODY, BERTH_NOBODY, needed,
                  "metadata do not fit");
    return BERTH_ERROR_MEMORY;
  }
  new.metadata_fixed = new.metadata_used;
  new.shapes = (berth_shape_t *)(void *)new.places;

  memset(new.kernels, 0, model->opcode_count * sizeof *new.kernels);
  memset(new.places, 0xff, new.tensor_count * sizeof *new.places);
  memset(new.operators, 0, new.operator_count * sizeof *new.operators);
  uint32_t tensors = 0, operators = 0;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    berth_subgraph_t subgraph = berth_model_subgraph(model, s);
    new.bases[2 * (size_t)s] = tensors;
    new.bases[2 * (size_t)s + 1] = operators;
    tensors += subgraph.tensor_count;
    operators += subgraph.operator_count;
    for (uint32_t o = 0; o < subgraph.operator_count; o++) {
      berth_operator_t op = berth_model_operator(model, s, o);
      if (new.kernels[op.opcode] == NULL) new.kernels[op.opcode] = find_kernel(&new, &op);
    }
  }
  *interpreter = new;
  return BERTH_OK;
}

berth_status_t berth_interpreter_resize_input(berth_interpreter_t *interpreter, uint32_t input,
                                              uint32_t rank, const int32_t *dims) {
  berth_vector_t inputs = berth_model_subgraph(interpreter->model, 0).inputs;
  if (input >= inputs.count || rank > BERTH_RANK_MAX) return BERTH_ERROR_ARGUMENT;
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] < 0) return BERTH_ERROR_ARGUMENT;
    elements *= (uint32_t)dims[i];
    if (elements > ACTIVATIONS_MAX) return BERTH_ERROR_OVERFLOW;
  }
  int32_t tensor = berth_vector_int(inputs, input);
  if (tensor == BERTH_NO_TENSOR) return BERTH_ERROR_ARGUMENT;
  interpreter->prepared = false;
  berth_run_forget(interpreter);
  berth_shape_t *shape;
  berth_status_t status = berth_run_put_shape(
      interpreter, berth_run_tensor_index(interpreter, 0, (uint32_t)tensor), rank, dims, &shape);
  if (status == BERTH_OK) shape->given = 1;
  return status;
}

/* Drops all that prepare made, but for the shapes that the caller gave. */
void berth_run_forget(berth_interpreter_t *interpreter) {
  interpreter->guard = NULL;
  interpreter->runs = NULL;
  interpreter->dynamic = NULL;
  interpreter->pushed = false;
  memset(&interpreter->progress, 0, sizeof interpreter->progress);
  uint32_t kept = 0;
  for (uint32_t i = interpreter->shape_count; i-- > 0;) {
    if (!interpreter->shapes[i].given) continue;
    kept++;
    interpreter->shapes[interpreter->shape_count - kept] = interpreter->shapes[i];
  }
  berth_shape_t *end = interpreter->shapes + interpreter->shape_count;
  interpreter->shapes = end - kept;
  interpreter->shape_count = kept;
  interpreter->metadata_used = interpreter->metadata_fixed + kept * (uint32_t)sizeof(berth_shape_t);
  interpreter->persistent_used = 0;
  memset(interpreter->places, 0xff, interpreter->tensor_count * sizeof *interpreter->places);
  memset(interpreter->operators, 0, interpreter->operator_count * sizeof *interpreter->operators);
}

berth_needs_t berth_interpreter_needs(const berth_interpreter_t *interpreter) {
  return interpreter->needs;
}

berth_watermarks_t berth_interpreter_watermarks(const berth_interpreter_t *interpreter) {
  berth_watermarks_t marks;
  memset(&marks, 0, sizeof marks);
  if (!interpreter->prepared) return marks;
  marks.activations = interpreter->needs.extent;
  marks.persistent = interpreter->persistent_used;
  marks.metadata = interpreter->metadata_used;
  const berth_arena_t *dynamic = interpreter->dynamic;
  if (dynamic == NULL) return marks;
  marks.dynamic = dynamic->used;
  marks.dynamic_high_water = dynamic->high_water;
  uint32_t start = (uint32_t)(dynamic->base - (uint8_t *)interpreter->memories.activations.data);
  if (dynamic->high_water > 0) marks.activations = start + dynamic->high_water;
  return marks;
}

berth_status_t berth_interpreter_reset(berth_interpreter_t *interpreter) {
  if (!interpreter->prepared) return BERTH_ERROR_ARGUMENT;
  memset(&interpreter->progress, 0, sizeof interpreter->progress);
  for (uint32_t s = 0; s < interpreter->model->subgraph_count; s++) {
    berth_subgraph_t subgraph = berth_model_subgraph(interpreter->model, s);
    for (uint32_t t = 0; t < subgraph.tensor_count; t++) {
      uint32_t place = interpreter->places[berth_run_tensor_index(interpreter, s, t)];
      if (!berth_run_is_persistent(place)) continue;
      berth_value_t value = berth_interpreter_tensor(interpreter, s, t);
      /* What stock runtimes take for zero: the real number in int8, the bytes in other types. */
      memset(value.data, value.type == BERTH_TYPE_INT8 ? value.zero_point : 0, value.bytes);
    }
  }
  for (uint32_t i = 0; i < interpreter->operator_count; i++) {
    const berth_operator_place_t *place = &interpreter->operators[i];
    if (place->state) {
      uint8_t *state = berth_run_persistent(interpreter, place->state);
      memset(state, 0, berth_run_state_bytes(state));
    }
  }
  return BERTH_OK;
}
