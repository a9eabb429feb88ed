/* Reads a TensorFlow Lite model (.tflite, schema version 3) in place.
 *
 * Nothing is copied and nothing is allocated: a berth_model_t is a small value that points into the
 * file, in flash, mmap'ed or read; the bytes must outlive it. berth_model_open checks every offset,
 * vector, string and table that the functions below follow, so that they need no further checks and
 * cannot fail on an index in range. The contents of weights are never touched.
 *
 *   berth_model_t model;
 *   berth_model_error_t error;
 *   if (berth_model_open(data, size, &model, &error) != BERTH_OK)
 *     printf("%s %s\n", error.subject, error.fault);
 *   for (uint32_t i = 0; i < berth_model_subgraph(&model, 0).tensor_count; i++) {
 *     berth_tensor_t tensor = berth_model_tensor(&model, 0, i);
 *     ...
 *   }
 *
 * Source of the format: tensorflow/compiler/mlir/lite/schema/schema.fbs, version 3 ("TFL3"; changes
 * up to 3d), and the FlatBuffers binary format. All numbers in the file are little-endian and may
 * lie at any address.
 */
#ifndef BERTH_MODEL_H
#define BERTH_MODEL_H

#include "berth/schema.h"
#include "berth/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Views into the file -------------------------------------------------------------------- */

/* A string of the file: `length` bytes of UTF-8, followed by a NUL. Absent: "" with length 0. */
typedef struct berth_text {
  const char *data;
  uint32_t length;
} berth_text_t;

/* Raw bytes of the file. Absent: NULL with size 0. */
typedef struct berth_bytes {
  const uint8_t *data;
  uint64_t size;
} berth_bytes_t;

/* A vector of numbers of the file, unaligned: read it with the functions below, index < count.
 * Absent: count 0. */
typedef struct berth_vector {
  const uint8_t *data;
  uint32_t count;
} berth_vector_t;

int32_t berth_vector_int(berth_vector_t vector, uint32_t index);  /* of int32 */
int64_t berth_vector_long(berth_vector_t vector, uint32_t index); /* of int64 */
float berth_vector_float(berth_vector_t vector, uint32_t index);  /* of float32 */
/* of numbers without sign, `width` bytes each: 1, 2 or 4 */
uint32_t berth_vector_unsigned(berth_vector_t vector, uint32_t width, uint32_t index);

/* Does a vector of int32, such as a list of tensors, hold `value`? */
bool berth_vector_holds(berth_vector_t vector, uint32_t value);

/* A table of the file, for the options of an operator; position 0 means that it is absent. */
typedef struct berth_table {
  const uint8_t *file; /* start of the file */
  uint32_t position;   /* of the table in it */
  uint32_t file_size;  /* bytes of the FlatBuffer part, at most 2^31 - 1 */
} berth_table_t;

/* ---- The model ------------------------------------------------------------------------------ */

/* Most things of a kind that a model may have; more is refused as malformed. Moreover, however
 * often the lists of a file share their elements, all subgraphs, tensors, operators, ... together
 * are at most half as many as the file has bytes, and all dimensions, operands, scales, letters,
 * ... at most four times as many: whoever walks through an open model needs time and memory in
 * proportion. */
#define BERTH_SUBGRAPHS_MAX 65536u
#define BERTH_TENSORS_MAX   1048576u /* in one subgraph; operators likewise */
#define BERTH_RANK_MAX      8u /* most dimensions that operators handle; files may have more */

typedef struct berth_model {
  const uint8_t *data;      /* the file */
  uint64_t size;            /* bytes of the file */
  uint32_t version;         /* of the schema: 3 */
  uint32_t root;            /* position of the root table; the rest is found from there */
  uint32_t subgraph_count;  /* at least 1; subgraph 0 is the main one */
  uint32_t opcode_count;    /* entries in the table of operator codes */
  uint32_t buffer_count;    /* constants */
  uint32_t metadata_count;  /* named buffers that no tensor owns */
  uint32_t signature_count; /* named entry points */
  berth_text_t description;
} berth_model_t;

/* Why a file was refused: `subject` and `fault` make a phrase such as "tensor name" "reaches beyond
 * the end of the file"; both are static. */
typedef struct berth_model_error {
  const char *subject;
  const char *fault;
  uint64_t position; /* byte in the file where it was found */
  uint32_t subgraph; /* which subgraph, tensor or operator it concerns; UINT32_MAX: none */
  uint32_t tensor;
  uint32_t op;
} berth_model_error_t;

/* Verifies the file and fills `*model`. `*error` (may be NULL) is set on FORMAT.
 * Errors: ARGUMENT (NULL, or more bytes than the machine can address), FORMAT. Cost: linear in the
 * number of subgraphs, tensors, operators and their operands, not in the file's size: of the
 * weights, only the length of each is read. */
berth_status_t berth_model_open(const void *data, uint64_t size, berth_model_t *model,
                                berth_model_error_t *error);

/* A constant's bytes: those in the FlatBuffer or, for very large models, behind it. Empty (NULL,
 * 0) for buffer 0 and for tensors that have no constant data. */
berth_bytes_t berth_model_buffer(const berth_model_t *model, uint32_t buffer);

/* Named extra data, such as "OfflineMemoryAllocation". */
typedef struct berth_metadata {
  berth_text_t name;
  uint32_t buffer;
} berth_metadata_t;
berth_metadata_t berth_model_metadata(const berth_model_t *model, uint32_t index);

/* The bytes of the metadata entry of that (NUL-terminated) name; empty if there is none. */
berth_bytes_t berth_model_metadata_named(const berth_model_t *model, const char *name);

/* The plan that the model carries for TFLM ("offline plan"): `*offsets` becomes int32 byte offsets,
 * one for each tensor of all subgraphs one after the other, -1 where the runtime chooses; empty if
 * there is no plan. FORMAT if it is malformed; then `*fault` (`fault` may be NULL) says how, as in
 * "ends before its last offset"; static. */
#define BERTH_OFFLINE_PLAN "OfflineMemoryAllocation"
berth_status_t berth_model_offline_plan(const berth_model_t *model, berth_vector_t *offsets,
                                        const char **fault);

/* A named entry point: names for the inputs and outputs of a subgraph. */
typedef struct berth_signature {
  berth_text_t key;
  uint32_t subgraph;
  uint32_t input_count;
  uint32_t output_count;
} berth_signature_t;
berth_signature_t berth_model_signature(const berth_model_t *model, uint32_t index);

/* Name and tensor of one input (or output) of a signature. */
berth_text_t berth_model_signature_input(const berth_model_t *model, uint32_t signature,
                                         uint32_t index, uint32_t *tensor);
berth_text_t berth_model_signature_output(const berth_model_t *model, uint32_t signature,
                                          uint32_t index, uint32_t *tensor);

/* ---- Subgraphs ------------------------------------------------------------------------------ */

typedef struct berth_subgraph {
  berth_text_t name;
  berth_vector_t inputs;  /* tensor indices; all in range */
  berth_vector_t outputs; /* tensor indices; all in range */
  uint32_t tensor_count;
  uint32_t operator_count;
} berth_subgraph_t;
berth_subgraph_t berth_model_subgraph(const berth_model_t *model, uint32_t subgraph);

/* ---- Tensors -------------------------------------------------------------------------------- */

typedef struct berth_tensor {
  berth_text_t name;
  berth_tensor_type_t type;
  bool is_variable;         /* keeps its value between invokes */
  bool has_rank;            /* false with an empty shape: rank unknown (older files: a scalar) */
  uint32_t buffer;          /* of its constant data, or an empty one */
  berth_vector_t shape;     /* dimensions, outermost first, none negative; empty: scalar */
  berth_vector_t signature; /* shape with -1 for what is unknown; empty: all of `shape` is known */
  berth_vector_t scales;    /* float: one, or one per slice of `quantized_dimension`; or empty */
  berth_vector_t zero_points;    /* int64, as many as scales; or empty */
  int32_t quantized_dimension;   /* a dimension of `shape`, as long as there are scales, if there
                                    are several; 0 for vectors, even if the file says other */
  uint32_t quantization_details; /* 0; else scales and zero points are stored in another way: custom
                                    (1), blockwise (2) or on several axes (3) */
  uint32_t external_buffer;      /* not 0: a constant whose data is in another file, and not here */
  bool is_sparse; /* constant data is in the sparse encoding; see berth_model_sparsity */
} berth_tensor_t;
berth_tensor_t berth_model_tensor(const berth_model_t *model, uint32_t subgraph, uint32_t tensor);

/* The constant data of a tensor; empty if it has none and must live in an arena. */
berth_bytes_t berth_model_tensor_data(const berth_model_t *model, const berth_tensor_t *tensor);

/* How a sparse constant is stored: one entry for each dimension, in traversal order, block
 * dimensions last. See SparsityParameters in the schema. */
typedef struct berth_sparse_dimension {
  bool is_sparse;          /* format SPARSE_CSR; else DENSE */
  int32_t dense_size;      /* DENSE: extent */
  uint32_t segments_width; /* SPARSE_CSR: bytes of an entry of `segments`: 1, 2 or 4 */
  uint32_t indices_width;
  berth_vector_t segments; /* entries are `segments_width` wide */
  berth_vector_t indices;
} berth_sparse_dimension_t;
typedef struct berth_sparsity {
  berth_vector_t traversal_order; /* dimension_count entries below dimension_count */
  berth_vector_t block_map;       /* of each block dimension: a dimension of `shape` */
  uint32_t dimension_count;       /* rank of the tensor + block dimensions; 0: not sparse */
} berth_sparsity_t;
berth_sparsity_t berth_model_sparsity(const berth_model_t *model, uint32_t subgraph,
                                      uint32_t tensor);
berth_sparse_dimension_t berth_model_sparse_dimension(const berth_model_t *model, uint32_t subgraph,
                                                      uint32_t tensor, uint32_t dimension);

/* ---- Operators ------------------------------------------------------------------------------ */

#define BERTH_NO_TENSOR (-1) /* an optional input that is left out */

typedef struct berth_operator {
  uint32_t opcode;          /* index in the model's table of operator codes, below opcode_count */
  berth_builtin_t code;     /* BERTH_BUILTIN_CUSTOM: see `custom_name` */
  int32_t version;          /* of the operator's definition, from 1 */
  berth_text_t custom_name; /* of a custom operator */
  berth_vector_t inputs;    /* tensor indices in range, or BERTH_NO_TENSOR */
  berth_vector_t outputs;   /* tensor indices in range, or BERTH_NO_TENSOR */
  berth_vector_t intermediates; /* tensor indices in range, or BERTH_NO_TENSOR */
  uint32_t options_type;        /* which table `options` is: its number in the schema's union
                                   BuiltinOptions, or BERTH_OPTIONS_2 + that in BuiltinOptions2 */
  berth_table_t options;        /* builtin options, read with berth_option_* */
  berth_bytes_t custom_options; /* of a custom operator, usually a FlexBuffer */
} berth_operator_t;
#define BERTH_OPTIONS_2 256u
berth_operator_t berth_model_operator(const berth_model_t *model, uint32_t subgraph, uint32_t op);

/* The operator's name: the schema's ("CONV_2D") or the custom operator's own. */
berth_text_t berth_operator_name(const berth_operator_t *op);

/* Field number `field` of an options table (named in schema.h); `fallback` or empty where the table
 * or the field is absent or (checked here, since tables differ) malformed. Any table and any field
 * may be asked for. */
int32_t berth_option_int(berth_table_t options, uint32_t field, int32_t fallback);
int32_t berth_option_byte(berth_table_t options, uint32_t field, int32_t fallback); /* enum, bool */
int64_t berth_option_long(berth_table_t options, uint32_t field, int64_t fallback);
float berth_option_float(berth_table_t options, uint32_t field, float fallback);
berth_vector_t berth_option_ints(berth_table_t options, uint32_t field);
berth_vector_t berth_option_longs(berth_table_t options, uint32_t field);
berth_vector_t berth_option_floats(berth_table_t options, uint32_t field);
berth_text_t berth_option_text(berth_table_t options, uint32_t field);

#ifdef __cplusplus
}
#endif
#endif
