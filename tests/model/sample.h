/* A model for tests that has at least one of everything a .tflite file can hold, and the positions
 * of its parts. It makes no sense as a network.
 *
 * Subgraph 0, "main":
 *   tensor 0 "in"      float32 [1, 4], signature [-1, 4]
 *          1 "weights" int8 [3, 4], buffer 1, a scale for each of 3 rows, zero points 0
 *          2 "bias"    int32 [3], buffer 2 (behind the FlatBuffer), quantized dimension 3 (wrong)
 *          3 "out"     float32 [1, 3]
 *          4 "state"   int16 [2], variable, buffer 3 (empty)
 *          5 "sparse"  float32 [2, 4], buffer 4, sparse, blocks of 2 columns
 *          6 "scalar"  bool, rank known
 *          7 (no name, no field at all)
 *   operator 0 FULLY_CONNECTED (only the old code) 0, 1, none -> 3, options: RELU, keep dims
 *            1 custom "Foo", 3, 4 -> 6, intermediate 7; options "abc" in the FlatBuffer
 *            2 STABLEHLO_CASE, 5 -> none; second options: branches 1, 1
 *            3 custom "Foo", options "outside!" behind the FlatBuffer
 * Subgraph 1: no name, tensor 0 without fields, no operators.
 * Metadata: "OfflineMemoryAllocation" in buffer 5, "nothing" in buffer 0. One signature "serve".
 */
#ifndef BERTH_TESTS_MODEL_SAMPLE_H
#define BERTH_TESTS_MODEL_SAMPLE_H

#include "builder.h"
#include "model/fields.h"

#define SAMPLE_TENSORS   8
#define SAMPLE_OPERATORS 4

typedef struct sample {
  builder_t file;
  uint32_t model, codes, code[4], buffers, buffer[6], subgraphs, main, second;
  uint32_t inputs, outputs; /* of subgraph 0, as of all vectors: where the length is */
  uint32_t tensors, tensor[SAMPLE_TENSORS], shape[SAMPLE_TENSORS], quantization, bias_quantization;
  uint32_t sparsity, dimensions, dimension[3], order, block_map, segments;
  uint32_t operators, op[SAMPLE_OPERATORS], op_inputs, op_outputs, intermediates;
  uint32_t metadata, metadata_entry[2], signatures, signature, signature_input, signature_output;
  uint32_t flatbuffer_size, bias_data, outside_options;
} sample_t;

static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline void sample_buffers(sample_t *s) {
  static const int64_t weights[12] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12};
  static const int64_t plan[20] = {[0] = 1, [8] = 2, [16] = 16}; /* int32: 1 0 2 0 16 */
  int64_t sparse[16] = {0}; /* two floats of one block each for two rows */
  s->buffers = put_list(&s->file, s->model, MODEL_BUFFERS, 6);
  for (uint32_t i = 0; i < 6; i++) s->buffer[i] = put_element(&s->file, s->buffers, i, 3);
  put_vector(&s->file, s->buffer[1], BUFFER_DATA, 1, 12, weights);
  put_field(&s->file, s->buffer[2], BUFFER_OFFSET, 8, 0);
  put_field(&s->file, s->buffer[2], BUFFER_SIZE, 8, 12);
  put_vector(&s->file, s->buffer[3], BUFFER_DATA, 1, 0, weights);
  put_vector(&s->file, s->buffer[4], BUFFER_DATA, 1, 16, sparse);
  put_vector(&s->file, s->buffer[5], BUFFER_DATA, 1, 20, plan);
}

static inline void sample_codes(sample_t *s) {
  s->codes = put_list(&s->file, s->model, MODEL_OPERATOR_CODES, 4);
  for (uint32_t i = 0; i < 4; i++) s->code[i] = put_element(&s->file, s->codes, i, 4);
  put_field(&s->file, s->code[0], CODE_OLD, 1, BERTH_BUILTIN_FULLY_CONNECTED);
  put_field(&s->file, s->code[0], CODE_VERSION, 4, 5);
  put_field(&s->file, s->code[1], CODE_OLD, 1, BERTH_BUILTIN_CUSTOM);
  put_field(&s->file, s->code[1], CODE_NEW, 4, BERTH_BUILTIN_CUSTOM);
  put_text(&s->file, s->code[1], CODE_CUSTOM_NAME, "Foo");
  put_field(&s->file, s->code[2], CODE_OLD, 1, 127);
  put_field(&s->file, s->code[2], CODE_NEW, 4, BERTH_BUILTIN_STABLEHLO_CASE);
  put_field(&s->file, s->code[3], CODE_NEW, 4, 100000); /* from the future, and unused */
}

static inline void sample_sparsity(sample_t *s) {
  builder_t *f = &s->file;
  s->sparsity = put_child(f, s->tensor[5], TENSOR_SPARSITY, 3);
  s->order = put_ints(f, s->sparsity, SPARSITY_TRAVERSAL_ORDER, 0, 1, 2);
  s->block_map = put_ints(f, s->sparsity, SPARSITY_BLOCK_MAP, 1);
  s->dimensions = put_list(f, s->sparsity, SPARSITY_DIMENSIONS, 3);
  for (uint32_t i = 0; i < 3; i++) s->dimension[i] = put_element(f, s->dimensions, i, 6);
  put_field(f, s->dimension[0], DIMENSION_DENSE_SIZE, 4, 2);
  put_field(f, s->dimension[1], DIMENSION_FORMAT, 1, 1);
  put_field(f, s->dimension[1], DIMENSION_SEGMENTS_TYPE, 1, 2);
  uint32_t values = put_child(f, s->dimension[1], DIMENSION_SEGMENTS, 1);
  s->segments = put_vector(f, values, INDEX_VALUES, 2, 3, (const int64_t[]){0, 1, 2});
  put_field(f, s->dimension[1], DIMENSION_INDICES_TYPE, 1, 3);
  values = put_child(f, s->dimension[1], DIMENSION_INDICES, 1);
  put_vector(f, values, INDEX_VALUES, 1, 2, (const int64_t[]){1, 200});
  put_field(f, s->dimension[2], DIMENSION_DENSE_SIZE, 4, 2);
}

static inline void sample_tensors(sample_t *s) {
  static const char *const names[] = {"in",    "weights", "bias",   "out",
                                      "state", "sparse",  "scalar", NULL};
  static const uint8_t types[] = {
      BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8,    BERTH_TYPE_INT32, BERTH_TYPE_FLOAT32,
      BERTH_TYPE_INT16,   BERTH_TYPE_FLOAT32, BERTH_TYPE_BOOL,  0};
  static const uint8_t buffers[] = {0, 1, 2, 0, 3, 4, 0, 0};
  static const uint8_t ranks[] = {2, 2, 1, 2, 1, 2, 0, 0};
  static const int64_t shapes[][2] = {{1, 4}, {3, 4}, {3, 0}, {1, 3}, {2, 0}, {2, 4}, {0}, {0}};
  builder_t *f = &s->file;
  s->tensors = put_list(f, s->main, SUBGRAPH_TENSORS, SAMPLE_TENSORS);
  for (uint32_t i = 0; i < SAMPLE_TENSORS; i++) {
    s->tensor[i] = put_element(f, s->tensors, i, 11);
    if (names[i] == NULL) continue;
    put_text(f, s->tensor[i], TENSOR_NAME, names[i]);
    put_field(f, s->tensor[i], TENSOR_TYPE, 1, types[i]);
    put_field(f, s->tensor[i], TENSOR_BUFFER, 4, buffers[i]);
    if (ranks[i] != 0)
      s->shape[i] = put_vector(f, s->tensor[i], TENSOR_SHAPE, 4, ranks[i], shapes[i]);
  }
  put_ints(f, s->tensor[0], TENSOR_SHAPE_SIGNATURE, -1, 4);
  s->quantization = put_child(f, s->tensor[1], TENSOR_QUANTIZATION, 7);
  put_ints(f, s->quantization, QUANTIZATION_SCALE, float_bits(0.5f), float_bits(0.25f),
           float_bits(0.125f));
  put_vector(f, s->quantization, QUANTIZATION_ZERO_POINT, 8, 3, (const int64_t[]){0, -128, 1});
  s->bias_quantization = put_child(f, s->tensor[2], TENSOR_QUANTIZATION, 7);
  put_ints(f, s->bias_quantization, QUANTIZATION_SCALE, float_bits(1), float_bits(2),
           float_bits(3));
  put_field(f, s->bias_quantization, QUANTIZATION_DIMENSION, 4, 3);
  put_field(f, s->tensor[4], TENSOR_IS_VARIABLE, 1, 1);
  put_field(f, s->tensor[6], TENSOR_HAS_RANK, 1, 1);
  sample_sparsity(s);
}

static inline void sample_operators(sample_t *s) {
  static const int64_t abc[] = {'a', 'b', 'c'};
  static const uint8_t codes[] = {0, 1, 2, 1};
  builder_t *f = &s->file;
  s->operators = put_list(f, s->main, SUBGRAPH_OPERATORS, SAMPLE_OPERATORS);
  for (uint32_t i = 0; i < SAMPLE_OPERATORS; i++) {
    s->op[i] = put_element(f, s->operators, i, 13);
    put_field(f, s->op[i], OPERATOR_CODE_INDEX, 4, codes[i]);
  }
  s->op_inputs = put_ints(f, s->op[0], OPERATOR_INPUTS, 0, 1, -1);
  s->op_outputs = put_ints(f, s->op[0], OPERATOR_OUTPUTS, 3);
  put_field(f, s->op[0], OPERATOR_OPTIONS_TYPE, 1, 8);
  uint32_t options = put_child(f, s->op[0], OPERATOR_OPTIONS, 5);
  put_field(f, options, BERTH_FULLY_CONNECTED_ACTIVATION, 1, BERTH_ACTIVATION_RELU);
  put_field(f, options, BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS, 1, 1);

  put_ints(f, s->op[1], OPERATOR_INPUTS, 3, 4);
  put_ints(f, s->op[1], OPERATOR_OUTPUTS, 6);
  s->intermediates = put_ints(f, s->op[1], OPERATOR_INTERMEDIATES, 7);
  put_vector(f, s->op[1], OPERATOR_CUSTOM_OPTIONS, 1, 3, abc);

  put_ints(f, s->op[2], OPERATOR_INPUTS, 5);
  put_field(f, s->op[2], OPERATOR_OPTIONS_2_TYPE, 1, 23);
  options = put_child(f, s->op[2], OPERATOR_OPTIONS_2, 1);
  put_ints(f, options, BERTH_STABLEHLO_CASE_BRANCHES, 1, 1);

  put_field(f, s->op[3], OPERATOR_LARGE_OPTIONS_OFFSET, 8, 0);
  put_field(f, s->op[3], OPERATOR_LARGE_OPTIONS_SIZE, 8, 8);
}

static inline void sample_subgraphs(sample_t *s) {
  builder_t *f = &s->file;
  s->subgraphs = put_list(f, s->model, MODEL_SUBGRAPHS, 2);
  s->main = put_element(f, s->subgraphs, 0, 6);
  put_text(f, s->main, SUBGRAPH_NAME, "main");
  s->inputs = put_ints(f, s->main, SUBGRAPH_INPUTS, 0);
  s->outputs = put_ints(f, s->main, SUBGRAPH_OUTPUTS, 3, 6);
  sample_tensors(s);
  sample_operators(s);
  s->second = put_element(f, s->subgraphs, 1, 6);
  put_element(f, put_list(f, s->second, SUBGRAPH_TENSORS, 1), 0, 0);
}

static inline void sample_names(sample_t *s) {
  builder_t *f = &s->file;
  s->metadata = put_list(f, s->model, MODEL_METADATA, 2);
  for (uint32_t i = 0; i < 2; i++) s->metadata_entry[i] = put_element(f, s->metadata, i, 2);
  put_text(f, s->metadata_entry[0], METADATA_NAME, "OfflineMemoryAllocation");
  put_field(f, s->metadata_entry[0], METADATA_BUFFER, 4, 5);
  put_text(f, s->metadata_entry[1], METADATA_NAME, "nothing");

  s->signatures = put_list(f, s->model, MODEL_SIGNATURES, 1);
  s->signature = put_element(f, s->signatures, 0, 5);
  put_text(f, s->signature, SIGNATURE_KEY, "serve");
  put_field(f, s->signature, SIGNATURE_SUBGRAPH, 4, 0);
  uint32_t list = put_list(f, s->signature, SIGNATURE_INPUTS, 1);
  s->signature_input = put_element(f, list, 0, 2);
  put_text(f, s->signature_input, MAP_NAME, "x");
  put_field(f, s->signature_input, MAP_TENSOR, 4, 0);
  list = put_list(f, s->signature, SIGNATURE_OUTPUTS, 2);
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t entry = put_element(f, list, i, 2);
    put_text(f, entry, MAP_NAME, i == 0 ? "y" : "flag");
    put_field(f, entry, MAP_TENSOR, 4, i == 0 ? 3 : 6);
    s->signature_output = entry;
  }
}

/* Where the number in a table's field lies. */
static inline uint32_t field_at(const sample_t *s, uint32_t table, uint32_t field) {
  return table + peek(&s->file, slot_of(&s->file, table, field), 2);
}

/* Builds the sample. */
static inline void sample_build(sample_t *s) {
  builder_t *f = &s->file;
  memset(s, 0, sizeof *s);
  put(f, 4, 0);
  for (uint32_t i = 0; i < 4; i++) put(f, 1, (uint8_t) "TFL3"[i]);
  s->model = put_table(f, 12); /* two more than the schema has */
  poke(f, 0, 4, s->model);
  put_field(f, s->model, MODEL_VERSION, 4, 3);
  put_text(f, s->model, MODEL_DESCRIPTION, "one of everything");
  sample_codes(s);
  sample_buffers(s);
  sample_subgraphs(s);
  sample_names(s);
  s->flatbuffer_size = f->size;

  s->bias_data = f->size;
  poke(f, field_at(s, s->buffer[2], BUFFER_OFFSET), 8, f->size);
  for (uint32_t i = 0; i < 3; i++) put(f, 4, 100 * (i + 1));
  s->outside_options = f->size;
  poke(f, field_at(s, s->op[3], OPERATOR_LARGE_OPTIONS_OFFSET), 8, f->size);
  for (uint32_t i = 0; i < 8; i++) put(f, 1, (uint8_t) "outside!"[i]);
}

#endif
