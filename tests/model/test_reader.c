/* What the accessors of model.h say about a model that has one of everything (sample.h), wherever
 * in memory the file lies. */
#include "test.h"

#include "sample.h"
#include "walk.h"

#define assert_text(text, expected)                                                                \
  do {                                                                                             \
    berth_text_t text_ = (text);                                                                   \
    assert_int_equal(text_.length, strlen(expected));                                              \
    assert_string_equal(text_.data, expected);                                                     \
  } while (0)

/* The vector has exactly these int32 elements. */
#define assert_ints(vector, ...)                                                                   \
  check_ints(vector, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), (int32_t[]){__VA_ARGS__})

static void check_ints(berth_vector_t vector, size_t count, const int32_t *expected) {
  assert_int_equal(vector.count, count);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(berth_vector_int(vector, i), expected[i]);
}

static sample_t sample;
static berth_model_t model;

static int open_sample(void **state) {
  (void)state;
  sample_build(&sample);
  return berth_model_open(sample.file.bytes, sample.file.size, &model, NULL) == BERTH_OK ? 0 : -1;
}

static void the_model_counts_its_parts(void **state) {
  (void)state;
  assert_int_equal(model.version, 3);
  assert_int_equal(model.subgraph_count, 2);
  assert_int_equal(model.opcode_count, 4);
  assert_int_equal(model.buffer_count, 6);
  assert_int_equal(model.metadata_count, 2);
  assert_int_equal(model.signature_count, 1);
  assert_text(model.description, "one of everything");
}

static void subgraphs_name_their_inputs_and_outputs(void **state) {
  (void)state;
  berth_subgraph_t main = berth_model_subgraph(&model, 0);
  assert_text(main.name, "main");
  assert_ints(main.inputs, 0);
  assert_ints(main.outputs, 3, 6);
  assert_int_equal(main.tensor_count, SAMPLE_TENSORS);
  assert_int_equal(main.operator_count, SAMPLE_OPERATORS);
  berth_subgraph_t second = berth_model_subgraph(&model, 1);
  assert_text(second.name, "");
  assert_int_equal(second.inputs.count, 0);
  assert_int_equal(second.outputs.count, 0);
  assert_int_equal(second.tensor_count, 1);
  assert_int_equal(second.operator_count, 0);
}

static void a_tensor_has_its_shape_and_its_signature(void **state) {
  (void)state;
  berth_tensor_t in = berth_model_tensor(&model, 0, 0);
  assert_text(in.name, "in");
  assert_int_equal(in.type, BERTH_TYPE_FLOAT32);
  assert_ints(in.shape, 1, 4);
  assert_ints(in.signature, -1, 4);
  assert_false(in.is_variable);
  assert_false(in.is_sparse);
  assert_int_equal(berth_model_tensor_data(&model, &in).size, 0);
  assert_null(berth_model_tensor_data(&model, &in).data);
}

static void absent_fields_of_a_tensor_have_the_defaults_of_the_schema(void **state) {
  (void)state;
  berth_tensor_t bare = berth_model_tensor(&model, 0, 7);
  assert_text(bare.name, "");
  assert_int_equal(bare.type, BERTH_TYPE_FLOAT32);
  assert_int_equal(bare.buffer, 0);
  assert_int_equal(bare.shape.count, 0);
  assert_int_equal(bare.signature.count, 0);
  assert_int_equal(bare.scales.count, 0);
  assert_int_equal(bare.zero_points.count, 0);
  assert_int_equal(bare.quantized_dimension, 0);
  assert_false(bare.has_rank);
  assert_false(bare.is_variable);
  assert_false(bare.is_sparse);
  assert_int_equal(berth_model_sparsity(&model, 0, 7).dimension_count, 0);
}

static void per_channel_quantization_has_a_scale_for_each_slice(void **state) {
  (void)state;
  berth_tensor_t weights = berth_model_tensor(&model, 0, 1);
  assert_int_equal(weights.scales.count, 3);
  assert_true(berth_vector_float(weights.scales, 0) == 0.5f);
  assert_true(berth_vector_float(weights.scales, 2) == 0.125f);
  assert_int_equal(weights.zero_points.count, 3);
  assert_int_equal(berth_vector_long(weights.zero_points, 1), -128);
  assert_int_equal(weights.quantized_dimension, 0);
}

static void a_vector_is_quantized_along_its_only_dimension(void **state) {
  (void)state;
  berth_tensor_t bias = berth_model_tensor(&model, 0, 2);
  assert_int_equal(bias.scales.count, 3);
  assert_int_equal(bias.quantized_dimension, 0); /* the file says 3 */
}

static void constants_are_read_where_they_lie_inside_and_outside_the_flatbuffer(void **state) {
  (void)state;
  berth_tensor_t weights = berth_model_tensor(&model, 0, 1);
  berth_bytes_t data = berth_model_tensor_data(&model, &weights);
  assert_int_equal(data.size, 12);
  assert_int_equal((int8_t)data.data[3], -4);
  berth_tensor_t bias = berth_model_tensor(&model, 0, 2);
  data = berth_model_tensor_data(&model, &bias);
  assert_int_equal(data.size, 12);
  assert_ptr_equal(data.data, sample.file.bytes + sample.bias_data);
}

static void empty_and_missing_buffers_are_no_data(void **state) {
  (void)state;
  assert_null(berth_model_buffer(&model, 0).data); /* a table without fields */
  assert_null(berth_model_buffer(&model, 3).data); /* a vector without elements */
  berth_tensor_t variable = berth_model_tensor(&model, 0, 4);
  assert_true(variable.is_variable);
  assert_int_equal(berth_model_tensor_data(&model, &variable).size, 0);
}

static void a_scalar_of_known_rank_says_so(void **state) {
  (void)state;
  berth_tensor_t scalar = berth_model_tensor(&model, 0, 6);
  assert_true(scalar.has_rank);
  assert_int_equal(scalar.shape.count, 0);
}

static void a_sparse_constant_has_its_dimensions(void **state) {
  (void)state;
  assert_true(berth_model_tensor(&model, 0, 5).is_sparse);
  berth_sparsity_t sparsity = berth_model_sparsity(&model, 0, 5);
  assert_int_equal(sparsity.dimension_count, 3);
  assert_ints(sparsity.traversal_order, 0, 1, 2);
  assert_ints(sparsity.block_map, 1);
  berth_sparse_dimension_t rows = berth_model_sparse_dimension(&model, 0, 5, 0);
  assert_false(rows.is_sparse);
  assert_int_equal(rows.dense_size, 2);
  assert_int_equal(rows.segments.count, 0);
  berth_sparse_dimension_t columns = berth_model_sparse_dimension(&model, 0, 5, 1);
  assert_true(columns.is_sparse);
  assert_int_equal(columns.segments_width, 2);
  assert_int_equal(columns.segments.count, 3);
  assert_int_equal(berth_vector_unsigned(columns.segments, 2, 2), 2);
  assert_int_equal(columns.indices_width, 1);
  assert_int_equal(berth_vector_unsigned(columns.indices, 1, 1), 200);
}

static void an_old_operator_code_and_its_options_are_read(void **state) {
  (void)state;
  berth_operator_t op = berth_model_operator(&model, 0, 0);
  assert_int_equal(op.code, BERTH_BUILTIN_FULLY_CONNECTED);
  assert_int_equal(op.version, 5);
  assert_text(berth_operator_name(&op), "FULLY_CONNECTED");
  assert_ints(op.inputs, 0, 1, BERTH_NO_TENSOR);
  assert_ints(op.outputs, 3);
  assert_int_equal(op.intermediates.count, 0);
  assert_int_equal(op.options_type, 8);
  assert_int_equal(berth_option_byte(op.options, BERTH_FULLY_CONNECTED_ACTIVATION, 0),
                   BERTH_ACTIVATION_RELU);
  assert_int_equal(berth_option_byte(op.options, BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS, 0), 1);
  assert_int_equal(berth_option_byte(op.options, BERTH_FULLY_CONNECTED_WEIGHTS_FORMAT, 7), 7);
  assert_int_equal(berth_option_int(op.options, 100, -3), -3);
  assert_int_equal(berth_option_int(op.options, UINT32_MAX, -3), -3);
  assert_null(op.custom_options.data);
}

static void a_custom_operator_has_a_name_and_options_of_its_own(void **state) {
  (void)state;
  berth_operator_t op = berth_model_operator(&model, 0, 1);
  assert_int_equal(op.code, BERTH_BUILTIN_CUSTOM);
  assert_int_equal(op.version, 1);
  assert_text(berth_operator_name(&op), "Foo");
  assert_ints(op.intermediates, 7);
  assert_int_equal(op.custom_options.size, 3);
  assert_memory_equal(op.custom_options.data, "abc", 3);
  assert_int_equal(berth_option_int(op.options, 0, 42), 42); /* it has no builtin options */
}

static void a_new_operator_code_goes_beyond_the_old_byte(void **state) {
  (void)state;
  berth_operator_t op = berth_model_operator(&model, 0, 2);
  assert_int_equal(op.code, BERTH_BUILTIN_STABLEHLO_CASE);
  assert_text(berth_operator_name(&op), "STABLEHLO_CASE");
  assert_int_equal(op.outputs.count, 0);
  assert_int_equal(op.options_type, BERTH_OPTIONS_2 + 23);
  assert_ints(berth_option_ints(op.options, BERTH_STABLEHLO_CASE_BRANCHES), 1, 1);
}

static void large_custom_options_lie_outside_the_flatbuffer(void **state) {
  (void)state;
  berth_operator_t op = berth_model_operator(&model, 0, 3);
  assert_int_equal(op.inputs.count, 0);
  assert_int_equal(op.custom_options.size, 8);
  assert_memory_equal(op.custom_options.data, "outside!", 8);
}

static void metadata_is_found_by_its_whole_name(void **state) {
  (void)state;
  assert_text(berth_model_metadata(&model, 0).name, "OfflineMemoryAllocation");
  assert_int_equal(berth_model_metadata(&model, 0).buffer, 5);
  berth_bytes_t plan = berth_model_metadata_named(&model, "OfflineMemoryAllocation");
  assert_int_equal(plan.size, 20);
  assert_int_equal(plan.data[16], 16);
  assert_null(berth_model_metadata_named(&model, "OfflineMemory").data);
  assert_null(berth_model_metadata_named(&model, "OfflineMemoryAllocations").data);
  assert_null(berth_model_metadata_named(&model, "nothing").data); /* buffer 0 */
}

static void a_signature_names_inputs_and_outputs(void **state) {
  (void)state;
  berth_signature_t signature = berth_model_signature(&model, 0);
  uint32_t tensor;
  assert_text(signature.key, "serve");
  assert_int_equal(signature.subgraph, 0);
  assert_int_equal(signature.input_count, 1);
  assert_int_equal(signature.output_count, 2);
  assert_text(berth_model_signature_input(&model, 0, 0, &tensor), "x");
  assert_int_equal(tensor, 0);
  assert_text(berth_model_signature_output(&model, 0, 1, &tensor), "flag");
  assert_int_equal(tensor, 6);
}

static void the_file_may_lie_at_any_address(void **state) {
  (void)state;
  static uint8_t room[sizeof sample.file.bytes + 16];
  uint64_t expected = walk_model(&model);
  for (uint32_t shift = 0; shift < 16; shift++) {
    berth_model_t moved;
    memcpy(room + shift, sample.file.bytes, sample.file.size);
    assert_int_equal(berth_model_open(room + shift, sample.file.size, &moved, NULL), BERTH_OK);
    assert_int_equal(walk_model(&moved), expected);
  }
}

static void operator_codes_from_the_future_have_a_name_too(void **state) {
  (void)state;
  poke(&sample.file, field_at(&sample, sample.op[0], OPERATOR_CODE_INDEX), 4, 3);
  berth_operator_t op = berth_model_operator(&model, 0, 0);
  poke(&sample.file, field_at(&sample, sample.op[0], OPERATOR_CODE_INDEX), 4, 0);
  assert_int_equal(op.code, 100000);
  assert_text(berth_operator_name(&op), "UNKNOWN");
}

static void names_and_sizes_of_types_are_those_of_the_schema(void **state) {
  (void)state;
  assert_string_equal(berth_tensor_type_name(BERTH_TYPE_FLOAT32), "float32");
  assert_string_equal(berth_tensor_type_name(BERTH_TYPE_INT4), "int4");
  assert_string_equal(berth_tensor_type_name(BERTH_TYPE_COUNT), "unknown");
  assert_int_equal(berth_tensor_type_bits(BERTH_TYPE_INT4), 4);
  assert_int_equal(berth_tensor_type_bits(BERTH_TYPE_COMPLEX128), 128);
  assert_int_equal(berth_tensor_type_bits(BERTH_TYPE_STRING), 0);
  assert_int_equal(berth_tensor_type_bits(BERTH_TYPE_COUNT), 0);
  assert_string_equal(berth_builtin_name(BERTH_BUILTIN_ADD), "ADD");
  assert_string_equal(berth_builtin_name(BERTH_BUILTIN_STABLEHLO_CASE), "STABLEHLO_CASE");
  assert_string_equal(berth_builtin_name(BERTH_BUILTIN_COUNT), "UNKNOWN");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_model_counts_its_parts),
      cmocka_unit_test(subgraphs_name_their_inputs_and_outputs),
      cmocka_unit_test(a_tensor_has_its_shape_and_its_signature),
      cmocka_unit_test(absent_fields_of_a_tensor_have_the_defaults_of_the_schema),
      cmocka_unit_test(per_channel_quantization_has_a_scale_for_each_slice),
      cmocka_unit_test(a_vector_is_quantized_along_its_only_dimension),
      cmocka_unit_test(constants_are_read_where_they_lie_inside_and_outside_the_flatbuffer),
      cmocka_unit_test(empty_and_missing_buffers_are_no_data),
      cmocka_unit_test(a_scalar_of_known_rank_says_so),
      cmocka_unit_test(a_sparse_constant_has_its_dimensions),
      cmocka_unit_test(an_old_operator_code_and_its_options_are_read),
      cmocka_unit_test(a_custom_operator_has_a_name_and_options_of_its_own),
      cmocka_unit_test(a_new_operator_code_goes_beyond_the_old_byte),
      cmocka_unit_test(large_custom_options_lie_outside_the_flatbuffer),
      cmocka_unit_test(metadata_is_found_by_its_whole_name),
      cmocka_unit_test(a_signature_names_inputs_and_outputs),
      cmocka_unit_test(the_file_may_lie_at_any_address),
      cmocka_unit_test(operator_codes_from_the_future_have_a_name_too),
      cmocka_unit_test(names_and_sizes_of_types_are_those_of_the_schema),
  };
  return cmocka_run_group_tests(tests, open_sample, NULL);
}
