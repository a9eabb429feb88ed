/* Reads all that the accessors of an open model give out: every number, and of texts and raw bytes
 * the first and the last byte (and the NUL). The checksum is there so that the reads happen.
 *
 * Indices that the reader promises to be in range are asserted to be.
 */
#ifndef BERTH_TESTS_MODEL_WALK_H
#define BERTH_TESTS_MODEL_WALK_H

#include "berth/model.h"

#include <stdio.h>
#include <stdlib.h>

static inline void walk_require(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "the reader broke its promise: %s\n", what);
  abort();
}

static inline uint64_t walk_text(berth_text_t text) {
  walk_require(text.data != NULL && text.data[text.length] == 0, "a text ends with a NUL");
  return text.length == 0 ? 0 : (uint64_t)(text.data[0] + text.data[text.length - 1]);
}

static inline uint64_t walk_bytes(berth_bytes_t bytes) {
  walk_require((bytes.data == NULL) == (bytes.size == 0), "absent bytes are NULL");
  return bytes.size == 0 ? 0 : (uint64_t)bytes.data[0] + bytes.data[bytes.size - 1];
}

static inline uint64_t walk_unsigned(berth_vector_t vector, uint32_t width) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < vector.count; i++) sum += berth_vector_unsigned(vector, width, i);
  return sum;
}

static inline uint64_t walk_longs(berth_vector_t vector) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < vector.count; i++) sum += (uint64_t)berth_vector_long(vector, i);
  return sum;
}

/* Numbers in [least, limit). */
static inline uint64_t walk_range(berth_vector_t vector, int64_t least, int64_t limit,
                                  const char *what) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < vector.count; i++) {
    int32_t value = berth_vector_int(vector, i);
    walk_require(value >= least && value < limit, what);
    sum += (uint64_t)(int64_t)value;
  }
  return sum;
}

static inline uint64_t walk_options(berth_table_t options) {
  uint64_t sum = 0;
  for (uint32_t field = 0; field < 10; field++) {
    sum += (uint64_t)berth_option_int(options, field, 0);
    sum += (uint64_t)berth_option_byte(options, field, 0);
    sum += (uint64_t)berth_option_long(options, field, 0);
    sum += berth_option_float(options, field, 0) > 0;
    berth_vector_t ints = berth_option_ints(options, field);
    berth_vector_t longs = berth_option_longs(options, field);
    berth_vector_t floats = berth_option_floats(options, field);
    if (ints.count != 0) sum += (uint64_t)berth_vector_int(ints, ints.count - 1);
    if (longs.count != 0) sum += (uint64_t)berth_vector_long(longs, longs.count - 1);
    if (floats.count != 0) sum += berth_vector_float(floats, floats.count - 1) > 0;
    sum += walk_text(berth_option_text(options, field));
  }
  return sum;
}

static inline uint64_t walk_sparsity(const berth_model_t *model, uint32_t subgraph, uint32_t index,
                                     uint32_t rank) {
  berth_sparsity_t sparsity = berth_model_sparsity(model, subgraph, index);
  uint64_t sum = walk_range(sparsity.traversal_order, 0, sparsity.dimension_count, "order");
  sum += walk_range(sparsity.block_map, 0, rank, "block map");
  for (uint32_t i = 0; i < sparsity.dimension_count; i++) {
    berth_sparse_dimension_t dimension = berth_model_sparse_dimension(model, subgraph, index, i);
    walk_require(dimension.dense_size >= 0, "an extent isn't negative");
    sum += walk_unsigned(dimension.segments, dimension.segments_width);
    sum += walk_unsigned(dimension.indices, dimension.indices_width);
  }
  return sum;
}

static inline uint64_t walk_tensor(const berth_model_t *model, uint32_t subgraph, uint32_t index) {
  berth_tensor_t tensor = berth_model_tensor(model, subgraph, index);
  walk_require(tensor.type < BERTH_TYPE_COUNT, "a type is known");
  walk_require(tensor.buffer == 0 || tensor.buffer < model->buffer_count, "a buffer exists");
  walk_require(tensor.signature.count == 0 || tensor.signature.count == tensor.shape.count,
               "the signature has the rank of the shape");
  uint64_t sum = walk_text(tensor.name) + tensor.quantization_details + tensor.external_buffer;
  sum += walk_range(tensor.shape, 0, INT64_MAX, "a dimension isn't negative");
  sum += walk_range(tensor.signature, INT32_MIN, INT64_MAX, "any");
  for (uint32_t i = 0; i < tensor.scales.count; i++)
    sum += berth_vector_float(tensor.scales, i) > 0;
  sum += walk_longs(tensor.zero_points);
  if (tensor.scales.count > 1)
    walk_require((uint32_t)tensor.quantized_dimension < tensor.shape.count &&
                     (uint32_t)berth_vector_int(
                         tensor.shape, (uint32_t)tensor.quantized_dimension) == tensor.scales.count,
                 "there is a scale for each slice");
  sum += walk_bytes(berth_model_tensor_data(model, &tensor));
  if (tensor.is_sparse) sum += walk_sparsity(model, subgraph, index, tensor.shape.count);
  return sum;
}

static inline uint64_t walk_operator(const berth_model_t *model, uint32_t subgraph, uint32_t index,
                                     uint32_t tensor_count) {
  berth_operator_t op = berth_model_operator(model, subgraph, index);
  walk_require(op.code >= 0, "an operator code isn't negative");
  uint64_t sum = walk_text(berth_operator_name(&op)) + walk_text(op.custom_name);
  sum += walk_range(op.inputs, BERTH_NO_TENSOR, tensor_count, "an input exists");
  sum += walk_range(op.outputs, BERTH_NO_TENSOR, tensor_count, "an output exists");
  sum += walk_range(op.intermediates, BERTH_NO_TENSOR, tensor_count, "an intermediate exists");
  sum += walk_bytes(op.custom_options);
  return sum + walk_options(op.options) + op.options_type;
}

static inline uint64_t walk_subgraph(const berth_model_t *model, uint32_t index) {
  berth_subgraph_t subgraph = berth_model_subgraph(model, index);
  uint64_t sum = walk_text(subgraph.name);
  sum += walk_range(subgraph.inputs, 0, subgraph.tensor_count, "an input exists");
  sum += walk_range(subgraph.outputs, 0, subgraph.tensor_count, "an output exists");
  for (uint32_t i = 0; i < subgraph.tensor_count; i++) sum += walk_tensor(model, index, i);
  for (uint32_t i = 0; i < subgraph.operator_count; i++)
    sum += walk_operator(model, index, i, subgraph.tensor_count);
  return sum;
}

static inline uint64_t walk_signature(const berth_model_t *model, uint32_t index) {
  berth_signature_t signature = berth_model_signature(model, index);
  walk_require(signature.subgraph < model->subgraph_count, "the subgraph of a signature exists");
  uint32_t tensor_count = berth_model_subgraph(model, signature.subgraph).tensor_count;
  uint64_t sum = walk_text(signature.key);
  uint32_t tensor;
  for (uint32_t i = 0; i < signature.input_count; i++) {
    sum += walk_text(berth_model_signature_input(model, index, i, &tensor));
    walk_require(tensor < tensor_count, "the tensor of a signature exists");
  }
  for (uint32_t i = 0; i < signature.output_count; i++) {
    sum += walk_text(berth_model_signature_output(model, index, i, &tensor));
    walk_require(tensor < tensor_count, "the tensor of a signature exists");
  }
  return sum;
}

static inline uint64_t walk_model(const berth_model_t *model) {
  uint64_t sum = walk_text(model->description);
  for (uint32_t i = 0; i < model->buffer_count; i++)
    sum += walk_bytes(berth_model_buffer(model, i));
  for (uint32_t i = 0; i < model->metadata_count; i++) {
    berth_metadata_t entry = berth_model_metadata(model, i);
    sum += walk_text(entry.name) + walk_bytes(berth_model_buffer(model, entry.buffer));
  }
  sum += walk_bytes(berth_model_metadata_named(model, "OfflineMemoryAllocation"));
  for (uint32_t i = 0; i < model->signature_count; i++) sum += walk_signature(model, i);
  for (uint32_t i = 0; i < model->subgraph_count; i++) sum += walk_subgraph(model, i);
  return sum;
}

#endif
