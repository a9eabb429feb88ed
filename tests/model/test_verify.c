/* Each kind of fault in a file is refused with the right words and the right place, and an honest
 * file never is. The files are the sample of sample.h with something broken. */
#include "test.h"

#include "sample.h"
#include "walk.h"

#include <stdlib.h>

static sample_t s;

static int build(void **state) {
  (void)state;
  sample_build(&s);
  return 0;
}

/* Opens the first `size` bytes of the file from a block of exactly that size. */
static berth_status_t open_copy(uint32_t size, berth_model_error_t *error) {
  berth_model_t model;
  uint8_t *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, s.file.bytes, size);
  berth_status_t status = berth_model_open(copy, size, &model, error);
  if (status == BERTH_OK) walk_model(&model);
  free(copy);
  return status;
}

static void assert_refused(const char *subject, const char *fault) {
  berth_model_error_t error = {0};
  assert_int_equal(open_copy(s.file.size, &error), BERTH_ERROR_FORMAT);
  assert_string_equal(error.subject, subject);
  assert_string_equal(error.fault, fault);
  assert_true(error.position <= s.file.size);
}

static void assert_place(uint32_t subgraph, uint32_t tensor, uint32_t op) {
  berth_model_error_t error = {0};
  assert_int_equal(open_copy(s.file.size, &error), BERTH_ERROR_FORMAT);
  assert_int_equal(error.subgraph, subgraph);
  assert_int_equal(error.tensor, tensor);
  assert_int_equal(error.op, op);
}

static void assert_accepted(void) {
  berth_model_error_t error = {"", "", 0, 0, 0, 0};
  berth_status_t status = open_copy(s.file.size, &error);
  if (status != BERTH_OK) print_error("%s %s\n", error.subject, error.fault);
  assert_int_equal(status, BERTH_OK);
}

/* Gives a field another number. */
static void set_number(uint32_t table, uint32_t field, uint32_t width, uint64_t value) {
  poke(&s.file, field_at(&s, table, field), width, value);
}

/* Lets a field's reference point `beyond` bytes behind the file's end. */
static void refer_beyond(uint32_t table, uint32_t field, uint32_t beyond) {
  uint32_t at = field_at(&s, table, field);
  poke(&s.file, at, 4, s.file.size - at + beyond);
}

/* The position of what a field refers to. */
static uint32_t target_of(uint32_t table, uint32_t field) {
  uint32_t at = field_at(&s, table, field);
  return at + peek(&s.file, at, 4);
}

/* Takes a table's fields from `field` on away. */
static void drop_fields(uint32_t table, uint32_t field) {
  poke(&s.file, slot_of(&s.file, table, 0) - 4, 2, 4 + 2 * field);
}

static const char beyond[] = "reaches beyond the end of the file";

/* ---- The file as a whole -------------------------------------------------------------------- */

static void the_sample_itself_is_accepted(void **state) {
  (void)state;
  assert_accepted();
}

static void arguments_are_checked(void **state) {
  (void)state;
  berth_model_t model;
  assert_int_equal(berth_model_open(NULL, 100, &model, NULL), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_model_open(s.file.bytes, 100, NULL, NULL), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_model_open(s.file.bytes, 100, &model, NULL), BERTH_ERROR_FORMAT);
}

static void outputs_stay_untouched_when_a_file_is_refused(void **state) {
  (void)state;
  berth_model_t model;
  berth_model_t before;
  memset(&model, 0x55, sizeof model);
  memcpy(&before, &model, sizeof model);
  assert_int_equal(berth_model_open(s.file.bytes, 100, &model, NULL), BERTH_ERROR_FORMAT);
  assert_memory_equal(&model, &before, sizeof model);
}

static void no_truncated_file_is_read_beyond_its_end(void **state) {
  (void)state;
  berth_model_error_t error;
  /* The outside data is the last part: whatever is cut off, something is missing. */
  for (uint32_t size = 0; size < s.file.size; size++)
    assert_int_equal(open_copy(size, &error), BERTH_ERROR_FORMAT);
}

static void other_files_are_told_from_models(void **state) {
  (void)state;
  poke(&s.file, 4, 4, 0x20202020);
  assert_refused("file", "is not a TensorFlow Lite model: it lacks the mark TFL3");
  assert_place(UINT32_MAX, UINT32_MAX, UINT32_MAX);
  s.file.size = 7;
  assert_refused("file", "is too short for a model");
  sample_build(&s);
  s.file.size = 8;
  assert_refused("model", beyond);
}

static void the_root_must_lie_in_the_file(void **state) {
  (void)state;
  poke(&s.file, 0, 4, s.file.size - 3);
  assert_refused("model", beyond);
  poke(&s.file, 0, 4, 0xffffffff);
  assert_refused("model", beyond);
  poke(&s.file, 0, 4, 4);
  assert_refused("model", "lies over the file's mark");
}

static void only_version_3_of_the_schema_is_read(void **state) {
  (void)state;
  set_number(s.model, MODEL_VERSION, 4, 2);
  assert_refused("schema version", "is not 3");
}

static void a_model_needs_a_subgraph(void **state) {
  (void)state;
  poke(&s.file, s.subgraphs - 4, 4, 0);
  assert_refused("model", "has no subgraph");
  drop_fields(s.model, MODEL_SUBGRAPHS);
  assert_refused("model", "has no subgraph");
}

static void there_may_be_no_buffers_metadata_or_signatures(void **state) {
  (void)state;
  poke(&s.file, slot_of(&s.file, s.model, MODEL_METADATA), 2, 0);
  poke(&s.file, slot_of(&s.file, s.model, MODEL_SIGNATURES), 2, 0);
  assert_accepted();
  poke(&s.file, slot_of(&s.file, s.model, MODEL_BUFFERS), 2, 0);
  assert_refused("tensor", "names a buffer that does not exist"); /* buffer 0 needs not exist */
  assert_place(0, 1, UINT32_MAX);
}

/* ---- Tables, vectors, strings --------------------------------------------------------------- */

static void vtables_must_lie_in_the_file(void **state) {
  (void)state;
  poke(&s.file, s.main, 4, s.main + 1);
  assert_refused("subgraph", "has its vtable outside the file");
  poke(&s.file, s.main, 4, (uint32_t) - (int32_t)(s.file.size - s.main));
  assert_refused("subgraph", "has its vtable outside the file");
  poke(&s.file, s.main, 4, 0x80000000);
  assert_refused("subgraph", "has its vtable outside the file");
  assert_place(0, UINT32_MAX, UINT32_MAX);
}

static void vtables_must_have_a_possible_size(void **state) {
  (void)state;
  uint32_t vtable = slot_of(&s.file, s.tensor[3], 0) - 4;
  poke(&s.file, vtable, 2, 2);
  assert_refused("tensor", "has a vtable of impossible size");
  poke(&s.file, vtable, 2, 0xffff);
  assert_refused("tensor", "has a vtable of impossible size");
  assert_place(0, 3, UINT32_MAX);
}

static void fields_must_lie_in_the_file(void **state) {
  (void)state;
  poke(&s.file, slot_of(&s.file, s.tensor[7], TENSOR_BUFFER), 2, s.file.size - s.tensor[7] - 3);
  assert_refused("number of a buffer", beyond);
  assert_place(0, 7, UINT32_MAX);
  poke(&s.file, slot_of(&s.file, s.tensor[7], TENSOR_BUFFER), 2, s.file.size - s.tensor[7] - 4);
  poke(&s.file, s.file.size - 4, 4, 0); /* the last four bytes are in the file */
  assert_accepted();
}

/* A table of the sample and a field of it. */
typedef struct place {
  const uint32_t *table;
  uint32_t field;
  uint32_t width;
  const char *subject;
} place_t;

static void every_number_must_lie_in_the_file(void **state) {
  (void)state;
  static const place_t numbers[] = {
      {&s.model, MODEL_VERSION, 4, "schema version"},
      {&s.code[0], CODE_OLD, 1, "deprecated operator code"},
      {&s.code[0], CODE_NEW, 4, "operator code"},
      {&s.code[0], CODE_VERSION, 4, "operator version"},
      {&s.buffer[2], BUFFER_OFFSET, 8, "buffer outside the FlatBuffer"},
      {&s.buffer[2], BUFFER_SIZE, 8, "buffer outside the FlatBuffer"},
      {&s.metadata_entry[0], METADATA_BUFFER, 4, "metadata buffer"},
      {&s.tensor[0], TENSOR_TYPE, 1, "tensor type"},
      {&s.tensor[0], TENSOR_BUFFER, 4, "number of a buffer"},
      {&s.tensor[0], TENSOR_EXTERNAL_BUFFER, 4, "number of an external buffer"},
      {&s.tensor[0], TENSOR_IS_VARIABLE, 1, "variable mark"},
      {&s.tensor[0], TENSOR_HAS_RANK, 1, "rank mark"},
      {&s.quantization, QUANTIZATION_DETAILS_TYPE, 1, "type of quantization"},
      {&s.quantization, QUANTIZATION_DIMENSION, 4, "quantized dimension"},
      {&s.dimension[1], DIMENSION_FORMAT, 1, "format of a sparse dimension"},
      {&s.dimension[1], DIMENSION_DENSE_SIZE, 4, "extent of a dimension"},
      {&s.dimension[1], DIMENSION_SEGMENTS_TYPE, 1, "sparse segments"},
      {&s.dimension[1], DIMENSION_INDICES_TYPE, 1, "sparse indices"},
      {&s.op[0], OPERATOR_CODE_INDEX, 4, "number of an operator code"},
      {&s.op[0], OPERATOR_OPTIONS_TYPE, 1, "type of the options"},
      {&s.op[0], OPERATOR_OPTIONS_2_TYPE, 1, "type of the options"},
      {&s.op[3], OPERATOR_LARGE_OPTIONS_OFFSET, 8, "custom options outside the FlatBuffer"},
      {&s.op[3], OPERATOR_LARGE_OPTIONS_SIZE, 8, "custom options outside the FlatBuffer"},
      {&s.signature, SIGNATURE_SUBGRAPH, 4, "subgraph of a signature"},
      {&s.signature_input, MAP_TENSOR, 4, "signature inputs"},
      {&s.signature_output, MAP_TENSOR, 4, "signature outputs"},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    const place_t *it = &numbers[i];
    sample_build(&s);
    poke(&s.file, slot_of(&s.file, *it->table, it->field), 2,
         s.file.size - *it->table - it->width + 1);
    assert_refused(it->subject, beyond);
  }
}

static void every_reference_must_lie_in_the_file(void **state) {
  (void)state;
  static const place_t references[] = {
      {&s.model, MODEL_DESCRIPTION, 4, "description"},
      {&s.model, MODEL_OPERATOR_CODES, 4, "operator codes"},
      {&s.model, MODEL_SUBGRAPHS, 4, "subgraphs"},
      {&s.model, MODEL_BUFFERS, 4, "buffers"},
      {&s.model, MODEL_METADATA, 4, "metadata"},
      {&s.model, MODEL_SIGNATURES, 4, "signatures"},
      {&s.code[1], CODE_CUSTOM_NAME, 4, "name of a custom operator"},
      {&s.buffer[1], BUFFER_DATA, 4, "buffer data"},
      {&s.metadata_entry[0], METADATA_NAME, 4, "metadata name"},
      {&s.main, SUBGRAPH_NAME, 4, "subgraph name"},
      {&s.main, SUBGRAPH_TENSORS, 4, "tensors"},
      {&s.main, SUBGRAPH_OPERATORS, 4, "operators"},
      {&s.main, SUBGRAPH_INPUTS, 4, "subgraph inputs"},
      {&s.main, SUBGRAPH_OUTPUTS, 4, "subgraph outputs"},
      {&s.tensor[1], TENSOR_SHAPE, 4, "shape"},
      {&s.tensor[0], TENSOR_SHAPE_SIGNATURE, 4, "shape signature"},
      {&s.tensor[1], TENSOR_QUANTIZATION, 4, "quantization"},
      {&s.quantization, QUANTIZATION_SCALE, 4, "scales"},
      {&s.quantization, QUANTIZATION_ZERO_POINT, 4, "zero points"},
      {&s.tensor[5], TENSOR_SPARSITY, 4, "sparsity"},
      {&s.sparsity, SPARSITY_TRAVERSAL_ORDER, 4, "traversal order"},
      {&s.sparsity, SPARSITY_BLOCK_MAP, 4, "block map"},
      {&s.sparsity, SPARSITY_DIMENSIONS, 4, "sparse dimensions"},
      {&s.dimension[1], DIMENSION_SEGMENTS, 4, "sparse segments"},
      {&s.dimension[1], DIMENSION_INDICES, 4, "sparse indices"},
      {&s.op[0], OPERATOR_INPUTS, 4, "operator inputs"},
      {&s.op[0], OPERATOR_OUTPUTS, 4, "operator outputs"},
      {&s.op[1], OPERATOR_INTERMEDIATES, 4, "operator intermediates"},
      {&s.op[0], OPERATOR_OPTIONS, 4, "options"},
      {&s.op[2], OPERATOR_OPTIONS_2, 4, "options"},
      {&s.op[1], OPERATOR_CUSTOM_OPTIONS, 4, "custom options"},
      {&s.signature, SIGNATURE_KEY, 4, "signature key"},
      {&s.signature, SIGNATURE_INPUTS, 4, "signature inputs"},
      {&s.signature, SIGNATURE_OUTPUTS, 4, "signature outputs"},
      {&s.signature_input, MAP_NAME, 4, "signature inputs"},
  };
  for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
    const place_t *it = &references[i];
    sample_build(&s);
    refer_beyond(*it->table, it->field, (uint32_t)-3); /* one byte of the length is missing */
    assert_refused(it->subject, beyond);
    poke(&s.file, field_at(&s, *it->table, it->field), 4, 0xffffffff); /* wraps in 32 bits */
    assert_refused(it->subject, beyond);
    sample_build(&s);
    poke(&s.file, slot_of(&s.file, *it->table, it->field), 2, s.file.size - *it->table - 3);
    assert_refused(it->subject, beyond);
  }
}

static void vectors_must_end_in_the_file(void **state) {
  (void)state;
  uint32_t room = (s.file.size - s.inputs - 4) / 4;
  poke(&s.file, s.inputs, 4, room + 1);
  assert_refused("subgraph inputs", beyond);
  poke(&s.file, s.inputs, 4, 0xffffffff);
  assert_refused("subgraph inputs", beyond);
  poke(&s.file, s.inputs, 4, 0x40000001); /* 4 bytes each: wraps to 4 in 32 bits */
  assert_refused("subgraph inputs", beyond);
  refer_beyond(s.main, SUBGRAPH_INPUTS, 0);
  assert_refused("subgraph inputs", beyond);
}

static void strings_must_end_in_the_file_with_a_nul(void **state) {
  (void)state;
  uint32_t name = target_of(s.tensor[0], TENSOR_NAME);
  poke(&s.file, name, 4, 1);
  assert_refused("tensor name", "does not end with a NUL");
  poke(&s.file, name, 4, s.file.size - name - 4);
  assert_refused("tensor name", beyond);
  poke(&s.file, name, 4, s.file.size - name - 3);
  assert_refused("tensor name", beyond);
  refer_beyond(s.tensor[0], TENSOR_NAME, (uint32_t)-3);
  assert_refused("tensor name", beyond);
  assert_place(0, 0, UINT32_MAX);
}

/* ---- Buffers and operator codes ------------------------------------------------------------- */

static void constants_must_end_in_the_file(void **state) {
  (void)state;
  uint32_t data = target_of(s.buffer[1], BUFFER_DATA);
  poke(&s.file, data, 4, s.file.size - data - 3);
  assert_refused("buffer data", beyond);
}

static void data_outside_the_flatbuffer_must_be_in_the_file(void **state) {
  (void)state;
  uint32_t offset = field_at(&s, s.buffer[2], BUFFER_OFFSET);
  uint32_t size = field_at(&s, s.buffer[2], BUFFER_SIZE);
  poke(&s.file, offset, 8, s.file.size - 11);
  assert_refused("buffer outside the FlatBuffer", beyond);
  poke(&s.file, offset, 8, UINT64_MAX - 5); /* the sum wraps to 6 */
  assert_refused("buffer outside the FlatBuffer", beyond);
  poke(&s.file, offset, 8, 2);
  poke(&s.file, size, 8, UINT64_MAX);
  assert_refused("buffer outside the FlatBuffer", beyond);
  poke(&s.file, offset, 8, 1); /* not valid, so not in use */
  assert_accepted();
}

static void operator_codes_must_make_sense(void **state) {
  (void)state;
  set_number(s.code[0], CODE_OLD, 1, BERTH_BUILTIN_ADD); /* 0, the smallest */
  assert_accepted();
  set_number(s.code[0], CODE_OLD, 1, 127);
  assert_refused("operator code", "is a placeholder for one that is missing");
  poke(&s.file, slot_of(&s.file, s.code[1], CODE_CUSTOM_NAME), 2, 0);
  set_number(s.code[0], CODE_OLD, 1, 9);
  assert_refused("custom operator", "has no name");
}

static void a_negative_operator_code_is_refused(void **state) {
  (void)state;
  set_number(s.code[1], CODE_OLD, 1, 0xff);
  set_number(s.code[1], CODE_NEW, 4, 0xfffffff0);
  assert_refused("operator code", "is negative");
}

/* ---- Tensors -------------------------------------------------------------------------------- */

static void dimensions_must_not_be_negative(void **state) {
  (void)state;
  poke(&s.file, s.shape[0] + 4, 4, 0xffffffff);
  assert_refused("shape", "is negative");
  assert_place(0, 0, UINT32_MAX);
}

static void the_signature_must_have_the_rank_of_the_shape(void **state) {
  (void)state;
  poke(&s.file, target_of(s.tensor[0], TENSOR_SHAPE_SIGNATURE), 4, 1);
  assert_refused("shape signature", "has another rank than the shape");
}

static void a_tensor_must_name_a_buffer(void **state) {
  (void)state;
  set_number(s.tensor[0], TENSOR_BUFFER, 4, 6);
  assert_refused("tensor", "names a buffer that does not exist");
  set_number(s.tensor[0], TENSOR_BUFFER, 4, 3); /* an empty one */
  assert_accepted();
}

static void types_must_be_in_the_schema(void **state) {
  (void)state;
  set_number(s.tensor[0], TENSOR_TYPE, 1, BERTH_TYPE_COUNT);
  assert_refused("tensor type", "is not in the schema");
  set_number(s.tensor[0], TENSOR_TYPE, 1, 0xff);
  assert_refused("tensor type", "is not in the schema");
}

static void a_constant_must_have_all_of_its_data(void **state) {
  (void)state;
  poke(&s.file, target_of(s.buffer[1], BUFFER_DATA), 4, 11);
  assert_refused("constant", "has less data than its shape says");
  assert_place(0, 1, UINT32_MAX);
}

static void the_size_of_a_constant_is_found_without_overflow(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 2; i++) poke(&s.file, s.shape[3] + 4 + 4 * i, 4, 0x7fffffff);
  set_number(s.tensor[3], TENSOR_BUFFER, 4, 1);
  assert_refused("constant", "has less data than its shape says");
  poke(&s.file, s.shape[3] + 8, 4, 0); /* a tensor without elements fits anywhere */
  assert_accepted();
}

static void four_bit_constants_are_packed(void **state) {
  (void)state;
  poke(&s.file, target_of(s.buffer[1], BUFFER_DATA), 4, 6);
  set_number(s.tensor[1], TENSOR_TYPE, 1, BERTH_TYPE_INT4);
  assert_accepted();
  poke(&s.file, target_of(s.buffer[1], BUFFER_DATA), 4, 5);
  assert_refused("constant", "has less data than its shape says");
}

static void sparse_constants_may_have_less_data(void **state) {
  (void)state;
  assert_int_equal(peek(&s.file, target_of(s.buffer[4], BUFFER_DATA), 4), 16); /* of 32 bytes */
  poke(&s.file, slot_of(&s.file, s.tensor[5], TENSOR_SPARSITY), 2, 0);
  assert_refused("constant", "has less data than its shape says");
}

static void zero_points_must_be_as_many_as_scales(void **state) {
  (void)state;
  poke(&s.file, target_of(s.quantization, QUANTIZATION_ZERO_POINT), 4, 2);
  assert_refused("zero points", "are not as many as the scales");
  poke(&s.file, target_of(s.quantization, QUANTIZATION_ZERO_POINT), 4, 0);
  assert_accepted();
}

static void scales_must_match_the_quantized_dimension(void **state) {
  (void)state;
  poke(&s.file, target_of(s.quantization, QUANTIZATION_ZERO_POINT), 4, 0);
  poke(&s.file, target_of(s.quantization, QUANTIZATION_SCALE), 4, 2);
  assert_refused("scales", "are not as many as the quantized dimension is long");
  poke(&s.file, target_of(s.quantization, QUANTIZATION_SCALE), 4, 1); /* one for the tensor */
  assert_accepted();
}

static void the_quantized_dimension_must_exist(void **state) {
  (void)state;
  set_number(s.bias_quantization, QUANTIZATION_DIMENSION, 4, 77); /* a vector: no matter */
  assert_accepted();
  poke(&s.file, s.shape[2], 4, 0); /* no longer a vector of 3, but a scalar */
  assert_refused("scales", "are not as many as the quantized dimension is long");
  set_number(s.bias_quantization, QUANTIZATION_DIMENSION, 4, 0);
  assert_refused("scales", "are not as many as the quantized dimension is long");
  assert_place(0, 2, UINT32_MAX);
}

/* ---- Sparsity ------------------------------------------------------------------------------- */

static void sparse_dimensions_must_match_the_shape(void **state) {
  (void)state;
  poke(&s.file, s.block_map, 4, 0);
  assert_refused("sparse dimensions", "do not match the shape");
  sample_build(&s);
  poke(&s.file, s.order, 4, 2);
  assert_refused("sparse dimensions", "do not match the shape");
  sample_build(&s);
  poke(&s.file, s.order + 4, 4, 3);
  assert_refused("traversal order", "names a dimension that does not exist");
  sample_build(&s);
  poke(&s.file, s.block_map + 4, 4, 2);
  assert_refused("block map", "names a dimension that does not exist");
  assert_place(0, 5, UINT32_MAX);
}

static void sparse_dimensions_must_have_known_forms(void **state) {
  (void)state;
  set_number(s.dimension[1], DIMENSION_FORMAT, 1, 2);
  assert_refused("sparse dimension", "has an unknown format");
  set_number(s.dimension[1], DIMENSION_FORMAT, 1, 1);
  set_number(s.dimension[1], DIMENSION_INDICES_TYPE, 1, 4);
  assert_refused("sparse indices", "have an unknown type");
  set_number(s.dimension[1], DIMENSION_INDICES_TYPE, 1, 3);
  set_number(s.dimension[0], DIMENSION_DENSE_SIZE, 4, 0x80000000);
  assert_refused("sparse dimension", "has a negative extent");
}

static void sparse_indices_must_end_in_the_file(void **state) {
  (void)state;
  uint32_t room = (s.file.size - s.segments - 4) / 2;
  poke(&s.file, s.segments, 4, room + 1);
  assert_refused("sparse segments", beyond);
}

/* ---- Operators ------------------------------------------------------------------------------ */

static void operands_must_be_tensors_or_none(void **state) {
  (void)state;
  poke(&s.file, s.op_inputs + 4, 4, SAMPLE_TENSORS);
  assert_refused("operator inputs", "name a tensor that does not exist");
  poke(&s.file, s.op_inputs + 4, 4, 0xfffffffe);
  assert_refused("operator inputs", "name a tensor that does not exist");
  assert_place(0, UINT32_MAX, 0);
  poke(&s.file, s.op_inputs + 4, 4, SAMPLE_TENSORS - 1);
  poke(&s.file, s.op_outputs + 4, 4, SAMPLE_TENSORS);
  assert_refused("operator outputs", "name a tensor that does not exist");
  poke(&s.file, s.op_outputs + 4, 4, 3);
  poke(&s.file, s.intermediates + 4, 4, SAMPLE_TENSORS);
  assert_refused("operator intermediates", "name a tensor that does not exist");
  assert_place(0, UINT32_MAX, 1);
}

static void an_operator_needs_a_code(void **state) {
  (void)state;
  set_number(s.op[2], OPERATOR_CODE_INDEX, 4, 4);
  assert_refused("operator", "names an operator code that does not exist");
  assert_place(0, UINT32_MAX, 2);
}

static void options_must_be_tables_and_bytes_of_the_file(void **state) {
  (void)state;
  refer_beyond(s.op[0], OPERATOR_OPTIONS, (uint32_t)-3);
  assert_refused("options", beyond);
  sample_build(&s);
  refer_beyond(s.op[2], OPERATOR_OPTIONS_2, 0);
  assert_refused("options", beyond);
  sample_build(&s);
  poke(&s.file, target_of(s.op[1], OPERATOR_CUSTOM_OPTIONS), 4, s.file.size);
  assert_refused("custom options", beyond);
  sample_build(&s);
  set_number(s.op[3], OPERATOR_LARGE_OPTIONS_SIZE, 8, 9);
  assert_refused("custom options outside the FlatBuffer", beyond);
}

static void a_field_of_options_that_leaves_the_file_counts_as_absent(void **state) {
  (void)state;
  berth_model_t model;
  uint32_t options = target_of(s.op[0], OPERATOR_OPTIONS);
  uint32_t branches = target_of(s.op[2], OPERATOR_OPTIONS_2);
  poke(&s.file, slot_of(&s.file, options, 1), 2, s.file.size - options);
  poke(&s.file, slot_of(&s.file, options, 3), 2, s.file.size - 3 - options);
  poke(&s.file, target_of(branches, BERTH_STABLEHLO_CASE_BRANCHES), 4, 0x40000001);
  assert_accepted();
  assert_int_equal(berth_model_open(s.file.bytes, s.file.size, &model, NULL), BERTH_OK);
  berth_table_t table = berth_model_operator(&model, 0, 0).options;
  assert_int_equal(berth_option_byte(table, 1, -9), -9);
  assert_int_equal(berth_option_int(table, 3, -9), -9);
  assert_int_equal(berth_option_byte(table, 3, -9), (int8_t)s.file.bytes[s.file.size - 3]);
  assert_int_equal(berth_option_ints(table, 3).count, 0);
  assert_int_equal(berth_option_text(table, 3).length, 0);
  table = berth_model_operator(&model, 0, 2).options;
  assert_int_equal(berth_option_ints(table, BERTH_STABLEHLO_CASE_BRANCHES).count, 0);
}

static void options_may_end_where_the_file_does(void **state) {
  (void)state;
  berth_model_t model;
  uint32_t options = target_of(s.op[0], OPERATOR_OPTIONS);
  uint32_t branches = target_of(s.op[2], OPERATOR_OPTIONS_2);
  poke(&s.file, slot_of(&s.file, options, 1), 2, s.file.size - 4 - options);
  refer_beyond(branches, BERTH_STABLEHLO_CASE_BRANCHES, (uint32_t)-8);
  poke(&s.file, s.file.size - 8, 4, 1);
  poke(&s.file, s.file.size - 4, 4, 42);
  assert_int_equal(berth_model_open(s.file.bytes, s.file.size, &model, NULL), BERTH_OK);
  assert_int_equal(berth_option_int(berth_model_operator(&model, 0, 0).options, 1, -9), 42);
  berth_table_t table = berth_model_operator(&model, 0, 2).options;
  assert_int_equal(berth_option_ints(table, BERTH_STABLEHLO_CASE_BRANCHES).count, 1);
  assert_int_equal(berth_option_longs(table, BERTH_STABLEHLO_CASE_BRANCHES).count, 0);
  poke(&s.file, s.file.size - 8, 4, 3);
  poke(&s.file, s.file.size - 4, 4, 0x00636261);
  assert_int_equal(berth_option_text(table, BERTH_STABLEHLO_CASE_BRANCHES).length, 3);
  poke(&s.file, s.file.size - 4, 4, 0x64636261); /* without the NUL */
  assert_int_equal(berth_option_text(table, BERTH_STABLEHLO_CASE_BRANCHES).length, 0);
  poke(&s.file, s.file.size - 8, 4, 4);
  assert_int_equal(berth_option_text(table, BERTH_STABLEHLO_CASE_BRANCHES).length, 0);
}

/* ---- Indices between parts ------------------------------------------------------------------ */

static void inputs_and_outputs_of_a_subgraph_must_exist(void **state) {
  (void)state;
  poke(&s.file, s.inputs + 4, 4, 0xffffffff); /* none is not possible here */
  assert_refused("subgraph inputs", "name a tensor that does not exist");
  poke(&s.file, s.inputs + 4, 4, 0);
  poke(&s.file, s.outputs + 8, 4, SAMPLE_TENSORS);
  assert_refused("subgraph outputs", "name a tensor that does not exist");
  assert_place(0, UINT32_MAX, UINT32_MAX);
}

static void metadata_must_name_a_buffer(void **state) {
  (void)state;
  set_number(s.metadata_entry[0], METADATA_BUFFER, 4, 6);
  assert_refused("metadata", "names a buffer that does not exist");
}

static void signatures_must_name_subgraphs_and_tensors(void **state) {
  (void)state;
  set_number(s.signature_input, MAP_TENSOR, 4, SAMPLE_TENSORS);
  assert_refused("signature inputs", "name a tensor that does not exist");
  set_number(s.signature_input, MAP_TENSOR, 4, SAMPLE_TENSORS - 1);
  set_number(s.signature_output, MAP_TENSOR, 4, SAMPLE_TENSORS);
  assert_refused("signature outputs", "name a tensor that does not exist");
  assert_place(UINT32_MAX, UINT32_MAX, UINT32_MAX);
  set_number(s.signature_output, MAP_TENSOR, 4, SAMPLE_TENSORS - 1);
  assert_accepted();
  set_number(s.signature, SIGNATURE_SUBGRAPH, 4, 2);
  assert_refused("signature", "names a subgraph that does not exist");
}

/* ---- Bounded work --------------------------------------------------------------------------- */

/* A file whose tensors are all the same table, which has the file's largest vector as a shape. */
static void lists_that_share_their_elements_are_bounded(void **state) {
  (void)state;
  enum { TENSORS = 300, DIMENSIONS = 2000 };
  builder_t *f = &s.file;
  memset(f, 0, sizeof *f);
  put(f, 4, 0);
  for (uint32_t i = 0; i < 4; i++) put(f, 1, (uint8_t) "TFL3"[i]);
  uint32_t model = put_table(f, 8);
  poke(f, 0, 4, model);
  put_field(f, model, MODEL_VERSION, 4, 3);
  uint32_t subgraph = put_element(f, put_list(f, model, MODEL_SUBGRAPHS, 1), 0, 5);
  uint32_t list = put_list(f, subgraph, SUBGRAPH_TENSORS, TENSORS);
  uint32_t tensor = put_element(f, list, 0, 1);
  for (uint32_t i = 1; i < TENSORS; i++) poke(f, list + 4 * i, 4, tensor - (list + 4 * i));
  static const int64_t shape[DIMENSIONS] = {1};
  uint32_t length = put_vector(f, tensor, TENSOR_SHAPE, 4, DIMENSIONS, shape);
  assert_refused("shape", "shares its bytes with too many other parts");

  poke(f, length, 4, 4); /* one table for all is fine as long as the sum is in proportion */
  assert_accepted();
}

static void store32(uint8_t *at, uint32_t value) {
  for (uint32_t i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

/* A file of which every subgraph is the same empty table, behind the list. */
static void there_is_a_limit_to_subgraphs(void **state) {
  (void)state;
  enum { MOST = BERTH_SUBGRAPHS_MAX };
  builder_t *f = &s.file;
  memset(f, 0, sizeof *f);
  put(f, 4, 0);
  for (uint32_t i = 0; i < 4; i++) put(f, 1, (uint8_t) "TFL3"[i]);
  uint32_t model = put_table(f, 8);
  poke(f, 0, 4, model);
  put_field(f, model, MODEL_VERSION, 4, 3);
  uint32_t list = put_list(f, model, MODEL_SUBGRAPHS, 0);
  builder_t tail = {.size = 0};
  uint32_t table = put_table(&tail, 0);
  uint32_t size = list + 4 * (MOST + 1) + tail.size;
  uint8_t *file = malloc(size);
  assert_non_null(file);
  memcpy(file, f->bytes, list);
  for (uint32_t i = 0; i < MOST + 1; i++)
    store32(file + list + 4 * i, size - tail.size + table - (list + 4 * i));
  memcpy(file + size - tail.size, tail.bytes, tail.size);

  berth_model_t opened;
  berth_model_error_t error;
  store32(file + list - 4, MOST + 1);
  assert_int_equal(berth_model_open(file, size, &opened, &error), BERTH_ERROR_FORMAT);
  assert_string_equal(error.subject, "subgraphs");
  assert_string_equal(error.fault, "are more than Berth accepts");
  store32(file + list - 4, MOST);
  assert_int_equal(berth_model_open(file, size, &opened, &error), BERTH_OK);
  assert_int_equal(opened.subgraph_count, MOST);
  free(file);
}

#define on_sample(test) cmocka_unit_test_setup(test, build)

int main(void) {
  const struct CMUnitTest tests[] = {
      on_sample(the_sample_itself_is_accepted),
      on_sample(arguments_are_checked),
      on_sample(outputs_stay_untouched_when_a_file_is_refused),
      on_sample(no_truncated_file_is_read_beyond_its_end),
      on_sample(other_files_are_told_from_models),
      on_sample(the_root_must_lie_in_the_file),
      on_sample(only_version_3_of_the_schema_is_read),
      on_sample(a_model_needs_a_subgraph),
      on_sample(there_may_be_no_buffers_metadata_or_signatures),
      on_sample(vtables_must_lie_in_the_file),
      on_sample(vtables_must_have_a_possible_size),
      on_sample(fields_must_lie_in_the_file),
      on_sample(every_number_must_lie_in_the_file),
      on_sample(every_reference_must_lie_in_the_file),
      on_sample(vectors_must_end_in_the_file),
      on_sample(strings_must_end_in_the_file_with_a_nul),
      on_sample(constants_must_end_in_the_file),
      on_sample(data_outside_the_flatbuffer_must_be_in_the_file),
      on_sample(operator_codes_must_make_sense),
      on_sample(a_negative_operator_code_is_refused),
      on_sample(dimensions_must_not_be_negative),
      on_sample(the_signature_must_have_the_rank_of_the_shape),
      on_sample(a_tensor_must_name_a_buffer),
      on_sample(types_must_be_in_the_schema),
      on_sample(a_constant_must_have_all_of_its_data),
      on_sample(the_size_of_a_constant_is_found_without_overflow),
      on_sample(four_bit_constants_are_packed),
      on_sample(sparse_constants_may_have_less_data),
      on_sample(zero_points_must_be_as_many_as_scales),
      on_sample(scales_must_match_the_quantized_dimension),
      on_sample(the_quantized_dimension_must_exist),
      on_sample(sparse_dimensions_must_match_the_shape),
      on_sample(sparse_dimensions_must_have_known_forms),
      on_sample(sparse_indices_must_end_in_the_file),
      on_sample(operands_must_be_tensors_or_none),
      on_sample(an_operator_needs_a_code),
      on_sample(options_must_be_tables_and_bytes_of_the_file),
      on_sample(a_field_of_options_that_leaves_the_file_counts_as_absent),
      on_sample(options_may_end_where_the_file_does),
      on_sample(inputs_and_outputs_of_a_subgraph_must_exist),
      on_sample(metadata_must_name_a_buffer),
      on_sample(signatures_must_name_subgraphs_and_tensors),
      on_sample(lists_that_share_their_elements_are_bounded),
      on_sample(there_is_a_limit_to_subgraphs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
