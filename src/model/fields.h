/* Field numbers of the schema's tables, in the order in which the schema lists them, and what
 * follows from several fields at once. Only what the reader follows is here: verify.c checks
 * exactly these.
 */
#ifndef BERTH_MODEL_FIELDS_H
#define BERTH_MODEL_FIELDS_H

#include "flatbuffer.h"

enum model_field {
  MODEL_VERSION = 0,
  MODEL_OPERATOR_CODES = 1,
  MODEL_SUBGRAPHS = 2,
  MODEL_DESCRIPTION = 3,
  MODEL_BUFFERS = 4,
  MODEL_METADATA = 6, /* 5 is an older form of it */
  MODEL_SIGNATURES = 7
};

enum operator_code_field {
  CODE_OLD = 0, /* a byte: 127 or the code, whichever is smaller */
  CODE_CUSTOM_NAME = 1,
  CODE_VERSION = 2,
  CODE_NEW = 3 /* absent in older files; the code is the larger of the two */
};

enum subgraph_field {
  SUBGRAPH_TENSORS = 0,
  SUBGRAPH_INPUTS = 1,
  SUBGRAPH_OUTPUTS = 2,
  SUBGRAPH_OPERATORS = 3,
  SUBGRAPH_NAME = 4
};

enum tensor_field {
  TENSOR_SHAPE = 0,
  TENSOR_TYPE = 1,
  TENSOR_BUFFER = 2,
  TENSOR_NAME = 3,
  TENSOR_QUANTIZATION = 4,
  TENSOR_IS_VARIABLE = 5,
  TENSOR_SPARSITY = 6,
  TENSOR_SHAPE_SIGNATURE = 7,
  TENSOR_HAS_RANK = 8,
  TENSOR_EXTERNAL_BUFFER = 10 /* 9: the types inside a variant */
};

enum quantization_field {
  QUANTIZATION_SCALE = 2, /* 0 and 1: the range seen in training */
  QUANTIZATION_ZERO_POINT = 3,
  QUANTIZATION_DETAILS_TYPE = 4,
  QUANTIZATION_DIMENSION = 6 /* 5: the details themselves */
};

enum sparsity_field {
  SPARSITY_TRAVERSAL_ORDER = 0,
  SPARSITY_BLOCK_MAP = 1,
  SPARSITY_DIMENSIONS = 2
};

enum sparse_dimension_field {
  DIMENSION_FORMAT = 0, /* 1: SPARSE_CSR */
  DIMENSION_DENSE_SIZE = 1,
  DIMENSION_SEGMENTS_TYPE = 2, /* 1, 2, 3: a table with a vector of 4, 2, 1 bytes */
  DIMENSION_SEGMENTS = 3,
  DIMENSION_INDICES_TYPE = 4,
  DIMENSION_INDICES = 5
};
enum index_vector_field { INDEX_VALUES = 0 };

enum operator_field {
  OPERATOR_CODE_INDEX = 0,
  OPERATOR_INPUTS = 1,
  OPERATOR_OUTPUTS = 2,
  OPERATOR_OPTIONS_TYPE = 3,
  OPERATOR_OPTIONS = 4,
  OPERATOR_CUSTOM_OPTIONS = 5,
  OPERATOR_INTERMEDIATES = 8,
  OPERATOR_LARGE_OPTIONS_OFFSET = 9, /* custom options behind the FlatBuffer; valid if > 1 */
  OPERATOR_LARGE_OPTIONS_SIZE = 10,
  OPERATOR_OPTIONS_2_TYPE = 11,
  OPERATOR_OPTIONS_2 = 12
};

enum buffer_field {
  BUFFER_DATA = 0,
  BUFFER_OFFSET = 1, /* of data behind the FlatBuffer, from the start of the file; valid if > 1 */
  BUFFER_SIZE = 2
};

enum metadata_field { METADATA_NAME = 0, METADATA_BUFFER = 1 };

enum signature_field {
  SIGNATURE_INPUTS = 0,
  SIGNATURE_OUTPUTS = 1,
  SIGNATURE_KEY = 2,
  SIGNATURE_SUBGRAPH = 4 /* 3 is obsolete */
};
enum tensor_map_field { MAP_NAME = 0, MAP_TENSOR = 1 };

/* ---- What follows from several fields -------------------------------------------------------- */

/* An operator code was a byte once, and newer codes don't fit it: the larger field counts. */
static inline int32_t builtin_code(berth_table_t entry) {
  int32_t old_code = flat_byte(entry, CODE_OLD, 0);
  int32_t new_code = flat_int(entry, CODE_NEW, 0);
  return old_code > new_code ? old_code : new_code;
}

/* The dimension that per-channel scales belong to. A vector has only one, whatever the file says:
 * converters gave biases the number that suits the weights. */
static inline int32_t quantized_dimension(berth_table_t quantization, berth_vector_t shape) {
  return shape.count == 1 ? 0 : flat_int(quantization, QUANTIZATION_DIMENSION, 0);
}

/* Bytes of an element in a sparse dimension's index vector of this type, 1 to 3. */
static inline uint32_t index_width(int32_t type) {
  return type == 1 ? 4 : type == 2 ? 2 : 1;
}

/* Data outside the FlatBuffer, given by its offset in the file and its size. */
static inline berth_bytes_t outside_bytes(berth_table_t table, uint32_t offset_field,
                                          uint32_t size_field) {
  uint64_t offset = flat_u64(table, offset_field, 0);
  uint64_t size = flat_u64(table, size_field, 0);
  if (offset <= 1 || size == 0) return (berth_bytes_t){NULL, 0};
  return (berth_bytes_t){table.file + offset, size};
}

/* A constant's bytes. Number 0 is that of tensors without any, whether or not it exists. */
static inline berth_bytes_t buffer_bytes(berth_table_t model, uint32_t buffer) {
  if (buffer == 0) return (berth_bytes_t){NULL, 0};
  berth_table_t table = flat_element(model, MODEL_BUFFERS, buffer);
  berth_bytes_t inside = flat_bytes(table, BUFFER_DATA);
  return inside.size != 0 ? inside : outside_bytes(table, BUFFER_OFFSET, BUFFER_SIZE);
}

#endif
