/* Tensors at run time: shape from the file unless noted otherwise, bytes from the plan. */
#include "run.h"
#include <string.h>

uint32_t berth_run_tensor_index(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                uint32_t tensor) {
  return interpreter->bases[2 * (size_t)subgraph] + tensor;
}

uint32_t berth_run_operator_index(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                  uint32_t op) {
  return interpreter->bases[2 * (size_t)subgraph + 1] + op;
}

/* Index of the first noted shape whose tensor is at least `tensor`. */
static uint32_t shape_position(const berth_interpreter_t *interpreter, uint32_t tensor) {
  uint32_t low = 0, high = interpreter->shape_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (interpreter->shapes[middle].tensor < tensor) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

berth_shape_t *berth_run_shape(const berth_interpreter_t *interpreter, uint32_t tensor) {
  if (interpreter->shape_count == 0) return NULL;
  uint32_t position = shape_position(interpreter, tensor);
  if (position == interpreter->shape_count) return NULL;
  berth_shape_t *shape = &interpreter->shapes[position];
  return shape->tensor == tensor ? shape : NULL;
}

berth_status_t berth_run_put_shape(berth_interpreter_t *interpreter, uint32_t tensor, uint32_t rank,
                                   const int32_t *dims, berth_shape_t **out) {
  berth_shape_t *shape = berth_run_shape(interpreter, tensor);
  if (shape == NULL) {
    /* The list grows downwards: move the smaller ones down, and put it where they ended. */
    berth_shape_t *grown =
        berth_run_take_metadata(interpreter, (uint32_t)sizeof(berth_shape_t), sizeof(uint32_t));
    if (grown == NULL) return BERTH_ERROR_MEMORY;
    uint32_t position = shape_position(interpreter, tensor);
    if (position > 0) memmove(grown, interpreter->shapes, position * sizeof *grown);
    interpreter->shapes = grown;
    interpreter->shape_count++;
    shape = &grown[position];
    memset(shape, 0, sizeof *shape);
    shape->tensor = tensor;
  }
  shape->rank = (uint16_t)rank;
  for (uint32_t i = 0; i < rank; i++) shape->dims[i] = dims[i];
  if (out != NULL) *out = shape;
  return BERTH_OK;
}

/* Takes over the shape; `known` only if every dimension is, and the size fits. */
static void set_shape(berth_value_t *value, const berth_tensor_t *tensor,
                      const berth_shape_t *noted) {
  uint64_t elements = 1;
  bool known = true;
  uint32_t rank = noted != NULL ? noted->rank : tensor->shape.count;
  if (rank > BERTH_RANK_MAX || (noted != NULL && noted->unknown && noted->rank == 0xffffu)) {
    known = false;
    rank = 0;
  }
  for (uint32_t i = 0; i < rank; i++) {
    int32_t dim = noted != NULL ? noted->dims[i] : berth_vector_int(tensor->shape, i);
    value->dims[i] = dim;
    if (dim < 0) known = false;
    if (known) elements *= (uint32_t)dim;
    if (elements > ACTIVATIONS_MAX) known = false;
  }
  uint32_t bits = berth_tensor_type_bits(tensor->type);
  uint64_t bytes = known ? (elements * bits + 7) / 8 : 0;
  if (tensor->type == BERTH_TYPE_RESOURCE) bytes = sizeof(uint32_t);
  if (bytes > ACTIVATIONS_MAX) known = false;

  value->rank = rank;
  value->known = known;
  if (!known) return;
  value->elements = (uint32_t)elements;
  value->bytes = (uint32_t)bytes;
  value->rows = 1;
  if (rank >= 3) {
    uint32_t dim = berth_row_dimension(rank, value->dims);
    value->rows = (uint32_t)value->dims[0] * (uint32_t)value->dims[dim];
  }
  value->row_bytes = value->rows > 0 ? value->bytes / value->rows : 0;
  value->ring = value->rows > 0 ? value->rows : 1;
}

berth_value_t berth_interpreter_tensor(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                       uint32_t index) {
  berth_value_t value;
  memset(&value, 0, sizeof value);
  if (subgraph >= interpreter->model->subgraph_count ||
      index >= berth_model_subgraph(interpreter->model, subgraph).tensor_count) {
    return value;
  }
  uint32_t flat = berth_run_tensor_index(interpreter, subgraph, index);
  berth_tensor_t tensor = berth_model_tensor(interpreter->model, subgraph, index);
  value.present = true;
  value.index = index;
  value.type = tensor.type;
  value.variable = tensor.is_variable;
  value.scales = tensor.scales;
  value.quantized_dimension = tensor.quantized_dimension;
  if (tensor.scales.count > 0) value.scale = berth_vector_float(tensor.scales, 0);
  if (tensor.zero_points.count > 0) {
    value.zero_point = (int32_t)berth_vector_long(tensor.zero_points, 0);
  }
  set_shape(&value, &tensor, berth_run_shape(interpreter, flat));

  /* A variable begins as zero, whatever data the file has for it, and is written to. */
  berth_bytes_t data = berth_model_tensor_data(interpreter->model, &tensor);
  if (data.data != NULL && !tensor.is_variable) {
    /* One with fewer bytes than its shape says has no value at all, unless it is sparse. */
    if (value.bytes <= data.size ||
        berth_model_sparsity(interpreter->model, subgraph, index).dimension_count > 0) {
      value.constant = true;
      value.data = (uint8_t *)(uintptr_t)data.data; /* kernels never write to constants */
    }
    return value;
  }
  if (subgraph == 0 && interpreter->runs != NULL && berth_run_ring(interpreter, index) > 0) {
    value.ring = berth_run_ring(interpreter, index);
  }
  uint32_t place = interpreter->places[flat], source;
  if (berth_run_is_folded(interpreter, subgraph, index, &source)) {
    value = berth_interpreter_tensor(interpreter, subgraph, source);
    value.index = index;
    return value;
  }
  if (place == PLACE_NONE || place == PLACE_UNKNOWN) return value;
  if (berth_run_is_persistent(place)) {
    value.data = berth_run_persistent(interpreter, place & ~PLACE_PERSISTENT);
  } else {
    value.data = (uint8_t *)interpreter->memories.activations.data + place;
  }
  return value;
}

static berth_value_t nth(const berth_interpreter_t *interpreter, berth_vector_t list,
                         uint32_t index) {
  if (index >= list.count) {
    berth_value_t none;
    memset(&none, 0, sizeof none);
    return none;
  }
  return berth_interpreter_tensor(interpreter, 0, (uint32_t)berth_vector_int(list, index));
}

berth_value_t berth_interpreter_input(const berth_interpreter_t *interpreter, uint32_t index) {
  return nth(interpreter, berth_model_subgraph(interpreter->model, 0).inputs, index);
}

berth_value_t berth_interpreter_output(const berth_interpreter_t *interpreter, uint32_t index) {
  return nth(interpreter, berth_model_subgraph(interpreter->model, 0).outputs, index);
}

bool berth_run_is_text(berth_text_t text, const char *name) {
  uint32_t i = 0;
  while (i < text.length && name[i] != '\0' && name[i] == text.data[i]) i++;
  return i == text.length && name[i] == '\0';
}

uint32_t berth_interpreter_find(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                const char *name) {
  if (subgraph >= interpreter->model->subgraph_count) return BERTH_NOBODY;
  uint32_t count = berth_model_subgraph(interpreter->model, subgraph).tensor_count;
  for (uint32_t i = 0; i < count; i++) {
    if (berth_run_is_text(berth_model_tensor(interpreter->model, subgraph, i).name, name)) return i;
  }
  return BERTH_NOBODY;
}

uint32_t berth_interpreter_offset(const berth_interpreter_t *interpreter, uint32_t subgraph,
                                  uint32_t tensor) {
  if (subgraph >= interpreter->model->subgraph_count ||
      tensor >= berth_model_subgraph(interpreter->model, subgraph).tensor_count) {
    return BERTH_NO_OFFSET;
  }
  uint32_t place = interpreter->places[berth_run_tensor_index(interpreter, subgraph, tensor)];
  return place & PLACE_PERSISTENT ? BERTH_NO_OFFSET : place;
}
