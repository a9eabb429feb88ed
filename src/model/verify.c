/* The verifier: walks once through everything in a .tflite file that the reader can follow, before
 * anyone reads it.
 *
 * The invariant: after BERTH_OK no accessor of model.h can leave the file, and every index it
 * returns is in range. The schema's tables contain each other to a fixed depth (subgraph, tensor,
 * sparsity, dimension, index vector), so the walk needs neither recursion nor a stack. Because
 * lists may share their elements, it is bounded by a budget in proportion to the file's size, which
 * also bounds the work of everyone who later walks through an open model. Weights are not visited:
 * of a buffer only the length is read.
 *
 * Beyond the FlatBuffer rules, this checks what TensorFlow Lite checks as well when it loads a
 * model: that constants are as large as their shape says, and that per-channel scales belong to a
 * dimension of their tensor.
 */
#include "verify.h"

#include "checker.h"
#include "fields.h"

/* ---- Buffers, operator codes, metadata ------------------------------------------------------ */

static bool verify_buffers(berth_checker_t *c, berth_table_t model, uint32_t *count) {
  if (!berth_check_list(c, model, MODEL_BUFFERS, UINT32_MAX, "buffers", count)) return false;
  for (uint32_t i = 0; i < *count; i++) {
    berth_table_t buffer;
    berth_vector_t data;
    if (!berth_check_element(c, model, MODEL_BUFFERS, i, "buffer", &buffer) ||
        !berth_check_data(c, buffer, BUFFER_DATA, 1, "buffer data", &data) ||
        !berth_check_outside(c, buffer, BUFFER_OFFSET, BUFFER_SIZE,
                             "buffer outside the FlatBuffer"))
      return false;
  }
  return true;
}

static bool verify_operator_codes(berth_checker_t *c, berth_table_t model, uint32_t *count) {
  if (!berth_check_list(c, model, MODEL_OPERATOR_CODES, UINT32_MAX, "operator codes", count))
    return false;
  for (uint32_t i = 0; i < *count; i++) {
    berth_table_t entry;
    if (!berth_check_element(c, model, MODEL_OPERATOR_CODES, i, "operator code", &entry) ||
        !berth_check_number(c, entry, CODE_OLD, 1, "deprecated operator code") ||
        !berth_check_number(c, entry, CODE_NEW, 4, "operator code") ||
        !berth_check_number(c, entry, CODE_VERSION, 4, "operator version") ||
        !berth_check_text(c, entry, CODE_CUSTOM_NAME, "name of a custom operator"))
      return false;
    int32_t code = builtin_code(entry);
    if (code < 0) return berth_check_refuse(c, "operator code", "is negative", entry.position);
    if (code == BERTH_BUILTIN_PLACEHOLDER_FOR_GREATER_OP_CODES)
      return berth_check_refuse(c, "operator code", "is a placeholder for one that is missing",
                                entry.position);
    if (code == BERTH_BUILTIN_CUSTOM && flat_text(entry, CODE_CUSTOM_NAME).length == 0)
      return berth_check_refuse(c, "custom operator", "has no name", entry.position);
  }
  return true;
}

static bool verify_metadata(berth_checker_t *c, berth_table_t model, uint32_t buffer_count) {
  uint32_t count;
  if (!berth_check_list(c, model, MODEL_METADATA, UINT32_MAX, "metadata", &count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    berth_table_t entry;
    if (!berth_check_element(c, model, MODEL_METADATA, i, "metadata", &entry) ||
        !berth_check_text(c, entry, METADATA_NAME, "metadata name") ||
        !berth_check_number(c, entry, METADATA_BUFFER, 4, "metadata buffer"))
      return false;
    uint32_t buffer = flat_u32(entry, METADATA_BUFFER, 0);
    if (buffer != 0 && buffer >= buffer_count)
      return berth_check_refuse(c, "metadata", "names a buffer that does not exist",
                                entry.position);
  }
  return true;
}

/* ---- Tensors -------------------------------------------------------------------------------- */

static bool verify_quantization(berth_checker_t *c, berth_table_t tensor, berth_vector_t shape) {
  berth_table_t quantization;
  berth_vector_t scales;
  berth_vector_t zeros;
  if (!berth_check_child(c, tensor, TENSOR_QUANTIZATION, "quantization", &quantization) ||
      !berth_check_vector(c, quantization, QUANTIZATION_SCALE, 4, "scales", &scales) ||
      !berth_check_vector(c, quantization, QUANTIZATION_ZERO_POINT, 8, "zero points", &zeros) ||
      !berth_check_number(c, quantization, QUANTIZATION_DETAILS_TYPE, 1, "type of quantization") ||
      !berth_check_number(c, quantization, QUANTIZATION_DIMENSION, 4, "quantized dimension"))
    return false;
  if (scales.count == 0) return true;
  if (zeros.count != 0 && zeros.count != scales.count)
    return berth_check_refuse(c, "zero points", "are not as many as the scales",
                              quantization.position);
  uint32_t dimension = (uint32_t)quantized_dimension(quantization, shape);
  if (scales.count > 1 &&
      (dimension >= shape.count || (uint32_t)berth_vector_int(shape, dimension) != scales.count))
    return berth_check_refuse(c, "scales", "are not as many as the quantized dimension is long",
                              quantization.position);
  return true;
}

/* One of the two index vectors of a sparse dimension: a union of three tables, alike but for the
 * width of their elements. */
static bool verify_index_vector(berth_checker_t *c, berth_table_t dimension, uint32_t type_field,
                                uint32_t field, const char *subject) {
  berth_table_t table;
  berth_vector_t values;
  if (!berth_check_number(c, dimension, type_field, 1, subject)) return false;
  int32_t type = flat_byte(dimension, type_field, 0);
  if (type < 0 || type > 3)
    return berth_check_refuse(c, subject, "have an unknown type", dimension.position);
  if (type == 0) return true;
  return berth_check_child(c, dimension, field, subject, &table) &&
         berth_check_vector(c, table, INDEX_VALUES, index_width(type), subject, &values);
}

static bool verify_sparsity(berth_checker_t *c, berth_table_t tensor, uint32_t rank) {
  berth_table_t sparsity;
  uint32_t count;
  berth_vector_t order;
  berth_vector_t blocks;
  if (!berth_check_child(c, tensor, TENSOR_SPARSITY, "sparsity", &sparsity)) return false;
  if (sparsity.position == 0) return true;
  if (!berth_check_list(c, sparsity, SPARSITY_DIMENSIONS, UINT32_MAX, "sparse dimensions",
                        &count) ||
      !berth_check_range(c, sparsity, SPARSITY_TRAVERSAL_ORDER, 0, count, "traversal order",
                         "names a dimension that does not exist", &order) ||
      !berth_check_range(c, sparsity, SPARSITY_BLOCK_MAP, 0, rank, "block map",
                         "names a dimension that does not exist", &blocks))
    return false;
  if (count != order.count || count != (uint64_t)rank + blocks.count)
    return berth_check_refuse(c, "sparse dimensions", "do not match the shape", sparsity.position);
  for (uint32_t i = 0; i < count; i++) {
    berth_table_t dimension;
    if (!berth_check_element(c, sparsity, SPARSITY_DIMENSIONS, i, "sparse dimension", &dimension) ||
        !berth_check_number(c, dimension, DIMENSION_FORMAT, 1, "format of a sparse dimension") ||
        !berth_check_number(c, dimension, DIMENSION_DENSE_SIZE, 4, "extent of a dimension") ||
        !verify_index_vector(c, dimension, DIMENSION_SEGMENTS_TYPE, DIMENSION_SEGMENTS,
                             "sparse segments") ||
        !verify_index_vector(c, dimension, DIMENSION_INDICES_TYPE, DIMENSION_INDICES,
                             "sparse indices"))
      return false;
    int32_t format = flat_byte(dimension, DIMENSION_FORMAT, 0);
    if (format < 0 || format > 1)
      return berth_check_refuse(c, "sparse dimension", "has an unknown format", dimension.position);
    if (flat_int(dimension, DIMENSION_DENSE_SIZE, 0) < 0)
      return berth_check_refuse(c, "sparse dimension", "has a negative extent", dimension.position);
  }
  return true;
}

/* Whether `bytes` hold a tensor of this type and shape. */
static bool holds(uint64_t bytes, berth_tensor_type_t type, berth_vector_t shape) {
  uint64_t room = bytes <= UINT64_MAX / 8 ? 8 * bytes : UINT64_MAX; /* in bits */
  uint64_t bits = berth_tensor_type_bits(type);
  for (uint32_t i = 0; i < shape.count; i++)
    if (berth_vector_int(shape, i) == 0) return true;
  for (uint32_t i = 0; i < shape.count; i++) {
    uint32_t extent = (uint32_t)berth_vector_int(shape, i);
    if (bits > room / extent) return false;
    bits *= extent;
  }
  return bits <= room;
}

static bool verify_tensor(berth_checker_t *c, berth_table_t subgraph, uint32_t index,
                          berth_table_t model, uint32_t buffer_count) {
  berth_table_t tensor;
  berth_vector_t shape;
  berth_vector_t signature;
  if (!berth_check_element(c, subgraph, SUBGRAPH_TENSORS, index, "tensor", &tensor) ||
      !berth_check_range(c, tensor, TENSOR_SHAPE, 0, INT64_MAX, "shape", "is negative", &shape) ||
      !berth_check_vector(c, tensor, TENSOR_SHAPE_SIGNATURE, 4, "shape signature", &signature) ||
      !berth_check_number(c, tensor, TENSOR_TYPE, 1, "tensor type") ||
      !berth_check_number(c, tensor, TENSOR_BUFFER, 4, "number of a buffer") ||
      !berth_check_number(c, tensor, TENSOR_EXTERNAL_BUFFER, 4, "number of an external buffer") ||
      !berth_check_number(c, tensor, TENSOR_IS_VARIABLE, 1, "variable mark") ||
      !berth_check_number(c, tensor, TENSOR_HAS_RANK, 1, "rank mark") ||
      !berth_check_text(c, tensor, TENSOR_NAME, "tensor name") ||
      !verify_quantization(c, tensor, shape) || !verify_sparsity(c, tensor, shape.count))
    return false;
  if (signature.count != 0 && signature.count != shape.count)
    return berth_check_refuse(c, "shape signature", "has another rank than the shape",
                              tensor.position);
  int32_t type = flat_byte(tensor, TENSOR_TYPE, 0);
  if (type < 0 || type >= BERTH_TYPE_COUNT)
    return berth_check_refuse(c, "tensor type", "is not in the schema", tensor.position);
  uint32_t buffer = flat_u32(tensor, TENSOR_BUFFER, 0);
  if (buffer == 0) return true;
  if (buffer >= buffer_count)
    return berth_check_refuse(c, "tensor", "names a buffer that does not exist", tensor.position);
  berth_bytes_t data = buffer_bytes(model, buffer);
  if (data.size != 0 && flat_target(tensor, TENSOR_SPARSITY) == 0 &&
      !holds(data.size, (berth_tensor_type_t)type, shape))
    return berth_check_refuse(c, "constant", "has less data than its shape says", tensor.position);
  return true;
}

/* ---- Operators ------------------------------------------------------------------------------ */

static bool verify_operator(berth_checker_t *c, berth_table_t subgraph, uint32_t index,
                            uint32_t code_count, uint32_t tensor_count) {
  static const char fault[] = "name a tensor that does not exist";
  berth_table_t op;
  berth_table_t options;
  berth_vector_t vector;
  if (!berth_check_element(c, subgraph, SUBGRAPH_OPERATORS, index, "operator", &op) ||
      !berth_check_number(c, op, OPERATOR_CODE_INDEX, 4, "number of an operator code") ||
      !berth_check_range(c, op, OPERATOR_INPUTS, BERTH_NO_TENSOR, tensor_count, "operator inputs",
                         fault, &vector) ||
      !berth_check_range(c, op, OPERATOR_OUTPUTS, BERTH_NO_TENSOR, tensor_count, "operator outputs",
                         fault, &vector) ||
      !berth_check_range(c, op, OPERATOR_INTERMEDIATES, BERTH_NO_TENSOR, tensor_count,
                         "operator intermediates", fault, &vector) ||
      !berth_check_number(c, op, OPERATOR_OPTIONS_TYPE, 1, "type of the options") ||
      !berth_check_child(c, op, OPERATOR_OPTIONS, "options", &options) ||
      !berth_check_number(c, op, OPERATOR_OPTIONS_2_TYPE, 1, "type of the options") ||
      !berth_check_child(c, op, OPERATOR_OPTIONS_2, "options", &options) ||
      !berth_check_vector(c, op, OPERATOR_CUSTOM_OPTIONS, 1, "custom options", &vector) ||
      !berth_check_outside(c, op, OPERATOR_LARGE_OPTIONS_OFFSET, OPERATOR_LARGE_OPTIONS_SIZE,
                           "custom options outside the FlatBuffer"))
    return false;
  if (flat_u32(op, OPERATOR_CODE_INDEX, 0) >= code_count)
    return berth_check_refuse(c, "operator", "names an operator code that does not exist",
                              op.position);
  return true;
}

/* ---- Subgraphs and signatures --------------------------------------------------------------- */

static bool verify_subgraph(berth_checker_t *c, berth_table_t model, uint32_t index,
                            uint32_t code_count, uint32_t buffer_count) {
  static const char fault[] = "name a tensor that does not exist";
  berth_table_t subgraph;
  uint32_t tensor_count;
  uint32_t operator_count;
  berth_vector_t vector;
  if (!berth_check_element(c, model, MODEL_SUBGRAPHS, index, "subgraph", &subgraph) ||
      !berth_check_text(c, subgraph, SUBGRAPH_NAME, "subgraph name") ||
      !berth_check_list(c, subgraph, SUBGRAPH_TENSORS, BERTH_TENSORS_MAX, "tensors",
                        &tensor_count) ||
      !berth_check_list(c, subgraph, SUBGRAPH_OPERATORS, BERTH_TENSORS_MAX, "operators",
                        &operator_count) ||
      !berth_check_range(c, subgraph, SUBGRAPH_INPUTS, 0, tensor_count, "subgraph inputs", fault,
                         &vector) ||
      !berth_check_range(c, subgraph, SUBGRAPH_OUTPUTS, 0, tensor_count, "subgraph outputs", fault,
                         &vector))
    return false;
  for (uint32_t i = 0; i < tensor_count; i++) {
    c->error.tensor = i;
    if (!verify_tensor(c, subgraph, i, model, buffer_count)) return false;
  }
  c->error.tensor = UINT32_MAX;
  for (uint32_t i = 0; i < operator_count; i++) {
    c->error.op = i;
    if (!verify_operator(c, subgraph, i, code_count, tensor_count)) return false;
  }
  c->error.op = UINT32_MAX;
  return true;
}

static bool verify_tensor_names(berth_checker_t *c, berth_table_t signature, uint32_t field,
                                uint32_t tensor_count, const char *subject) {
  uint32_t count;
  if (!berth_check_list(c, signature, field, BERTH_TENSORS_MAX, subject, &count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    berth_table_t entry;
    if (!berth_check_element(c, signature, field, i, subject, &entry) ||
        !berth_check_text(c, entry, MAP_NAME, subject) ||
        !berth_check_number(c, entry, MAP_TENSOR, 4, subject))
      return false;
    if (flat_u32(entry, MAP_TENSOR, 0) >= tensor_count)
      return berth_check_refuse(c, subject, "name a tensor that does not exist", entry.position);
  }
  return true;
}

static bool verify_signatures(berth_checker_t *c, berth_table_t model, uint32_t subgraph_count) {
  uint32_t count;
  if (!berth_check_list(c, model, MODEL_SIGNATURES, UINT32_MAX, "signatures", &count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    berth_table_t signature;
    if (!berth_check_element(c, model, MODEL_SIGNATURES, i, "signature", &signature) ||
        !berth_check_text(c, signature, SIGNATURE_KEY, "signature key") ||
        !berth_check_number(c, signature, SIGNATURE_SUBGRAPH, 4, "subgraph of a signature"))
      return false;
    uint32_t subgraph = flat_u32(signature, SIGNATURE_SUBGRAPH, 0);
    if (subgraph >= subgraph_count)
      return berth_check_refuse(c, "signature", "names a subgraph that does not exist",
                                signature.position);
    uint32_t tensor_count =
        flat_vector(flat_element(model, MODEL_SUBGRAPHS, subgraph), SUBGRAPH_TENSORS).count;
    if (!verify_tensor_names(c, signature, SIGNATURE_INPUTS, tensor_count, "signature inputs") ||
        !verify_tensor_names(c, signature, SIGNATURE_OUTPUTS, tensor_count, "signature outputs"))
      return false;
  }
  return true;
}

/* ---- The file ------------------------------------------------------------------------------- */

static bool verify_header(berth_checker_t *c, berth_table_t *model) {
  if (c->size < 8) return berth_check_refuse(c, "file", "is too short for a model", c->size);
  if (memcmp(c->file + 4, "TFL3", 4) != 0)
    return berth_check_refuse(c, "file", "is not a TensorFlow Lite model: it lacks the mark TFL3",
                              4);
  uint32_t root = flat_load32(c->file);
  if (root < 8) return berth_check_refuse(c, "model", "lies over the file's mark", 0);
  if (!berth_check_table(c, 0, root, "model", model) ||
      !berth_check_number(c, *model, MODEL_VERSION, 4, "schema version") ||
      !berth_check_text(c, *model, MODEL_DESCRIPTION, "description"))
    return false;
  if (flat_u32(*model, MODEL_VERSION, 0) != 3)
    return berth_check_refuse(c, "schema version", "is not 3", root);
  return true;
}

static bool verify_model(berth_checker_t *c, berth_table_t *model) {
  uint32_t code_count;
  uint32_t buffer_count;
  uint32_t subgraph_count;
  if (!verify_header(c, model) || !verify_buffers(c, *model, &buffer_count) ||
      !verify_operator_codes(c, *model, &code_count) ||
      !berth_check_list(c, *model, MODEL_SUBGRAPHS, BERTH_SUBGRAPHS_MAX, "subgraphs",
                        &subgraph_count))
    return false;
  if (subgraph_count == 0)
    return berth_check_refuse(c, "model", "has no subgraph", model->position);
  for (uint32_t i = 0; i < subgraph_count; i++) {
    c->error.subgraph = i;
    if (!verify_subgraph(c, *model, i, code_count, buffer_count)) return false;
  }
  c->error.subgraph = UINT32_MAX;
  return verify_metadata(c, *model, buffer_count) && verify_signatures(c, *model, subgraph_count);
}

berth_status_t berth_model_verify(const uint8_t *data, uint64_t size, berth_table_t *root,
                                  berth_model_error_t *error) {
  berth_checker_t checker = {
      .file = data,
      .size = size < INT32_MAX ? (uint32_t)size : INT32_MAX,
      .file_size = size,
      .error = {.subgraph = UINT32_MAX, .tensor = UINT32_MAX, .op = UINT32_MAX},
  };
  checker.budget = BERTH_CHECKER_SHARING * (uint64_t)checker.size;
  if (verify_model(&checker, root)) return BERTH_OK;
  *error = checker.error;
  return BERTH_ERROR_FORMAT;
}
