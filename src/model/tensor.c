/* Tensors of an open model: their description, constant data and sparse encoding. */
#include "fields.h"
#include "model.h"

static berth_table_t tensor_table(const berth_model_t *model, uint32_t subgraph, uint32_t tensor) {
  return flat_element(berth_model_subgraph_table(model, subgraph), SUBGRAPH_TENSORS, tensor);
}

berth_tensor_t berth_model_tensor(const berth_model_t *model, uint32_t subgraph, uint32_t tensor) {
  berth_table_t table = tensor_table(model, subgraph, tensor);
  berth_table_t quantization = flat_child(table, TENSOR_QUANTIZATION);
  return (berth_tensor_t){
      .name = flat_text(table, TENSOR_NAME),
      .type = (berth_tensor_type_t)flat_byte(table, TENSOR_TYPE, 0),
      .is_variable = flat_byte(table, TENSOR_IS_VARIABLE, 0) != 0,
      .has_rank = flat_byte(table, TENSOR_HAS_RANK, 0) != 0,
      .buffer = flat_u32(table, TENSOR_BUFFER, 0),
      .shape = flat_vector(table, TENSOR_SHAPE),
      .signature = flat_vector(table, TENSOR_SHAPE_SIGNATURE),
      .scales = flat_vector(quantization, QUANTIZATION_SCALE),
      .zero_points = flat_vector(quantization, QUANTIZATION_ZERO_POINT),
      .quantized_dimension = quantized_dimension(quantization, flat_vector(table, TENSOR_SHAPE)),
      .quantization_details = (uint8_t)flat_byte(quantization, QUANTIZATION_DETAILS_TYPE, 0),
      .external_buffer = flat_u32(table, TENSOR_EXTERNAL_BUFFER, 0),
      .is_sparse = flat_target(table, TENSOR_SPARSITY) != 0,
  };
}

berth_bytes_t berth_model_tensor_data(const berth_model_t *model, const berth_tensor_t *tensor) {
  return berth_model_buffer(model, tensor->buffer);
}

/* ---- Sparse constants ----------------------------------------------------------------------- */

berth_sparsity_t berth_model_sparsity(const berth_model_t *model, uint32_t subgraph,
                                      uint32_t tensor) {
  berth_table_t sparsity = flat_child(tensor_table(model, subgraph, tensor), TENSOR_SPARSITY);
  return (berth_sparsity_t){
      .traversal_order = flat_vector(sparsity, SPARSITY_TRAVERSAL_ORDER),
      .block_map = flat_vector(sparsity, SPARSITY_BLOCK_MAP),
      .dimension_count = flat_vector(sparsity, SPARSITY_DIMENSIONS).count,
  };
}

/* The index vector in the union at `type_field` and `field`; `*width` is 0 if there is none. */
static berth_vector_t index_vector(berth_table_t dimension, uint32_t type_field, uint32_t field,
                                   uint32_t *width) {
  int32_t type = flat_byte(dimension, type_field, 0);
  *width = type == 0 ? 0 : index_width(type);
  if (type == 0) return (berth_vector_t){NULL, 0};
  return flat_vector(flat_child(dimension, field), INDEX_VALUES);
}

berth_sparse_dimension_t berth_model_sparse_dimension(const berth_model_t *model, uint32_t subgraph,
                                                      uint32_t tensor, uint32_t dimension) {
  berth_table_t sparsity = flat_child(tensor_table(model, subgraph, tensor), TENSOR_SPARSITY);
  berth_table_t table = flat_element(sparsity, SPARSITY_DIMENSIONS, dimension);
  berth_sparse_dimension_t result = {
      .is_sparse = flat_byte(table, DIMENSION_FORMAT, 0) == 1,
      .dense_size = flat_int(table, DIMENSION_DENSE_SIZE, 0),
  };
  result.segments =
      index_vector(table, DIMENSION_SEGMENTS_TYPE, DIMENSION_SEGMENTS, &result.segments_width);
  result.indices =
      index_vector(table, DIMENSION_INDICES_TYPE, DIMENSION_INDICES, &result.indices_width);
  return result;
}
