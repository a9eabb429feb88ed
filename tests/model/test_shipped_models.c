/* The shipped models (models/) open, and hold what models/README.md says they show. */
#include "test.h"

#include "berth/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the main subgraph holds, counted. */
typedef struct contents {
  uint32_t subgraphs, inputs, outputs, operators;
  uint32_t variables;    /* tensors that keep their value */
  uint32_t open_batches; /* tensors whose signature begins with -1 */
  uint32_t unknown;      /* tensors of unknown rank */
  uint32_t floats16;     /* constants of half precision */
} contents_t;

typedef struct shipped {
  const char *name;
  contents_t contents;
  const char *operators; /* kinds, in the order in which they first appear in the main subgraph */
} shipped_t;

static const shipped_t shipped[] = {
    {"mobilenet_v1_0.25_96_int8",
     {1, 1, 1, 31, 0, 32, 0, 0},
     "CONV_2D DEPTHWISE_CONV_2D MEAN RESHAPE SOFTMAX"},
    {"ds_cnn_kws_int8",
     {1, 1, 1, 13, 0, 14, 0, 0},
     "CONV_2D DEPTHWISE_CONV_2D AVERAGE_POOL_2D RESHAPE FULLY_CONNECTED SOFTMAX"},
    {"resnet8_int8",
     {1, 1, 1, 16, 0, 17, 0, 0},
     "CONV_2D ADD AVERAGE_POOL_2D RESHAPE FULLY_CONNECTED SOFTMAX"},
    {"svdf_keyword_int8",
     {1, 1, 1, 9, 3, 0, 0, 0},
     "QUANTIZE SVDF FULLY_CONNECTED SOFTMAX DEQUANTIZE"},
    {"lstm_sequence_int8",
     {1, 1, 1, 6, 2, 0, 0, 0},
     "QUANTIZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE FULLY_CONNECTED SOFTMAX DEQUANTIZE"},
    {"detector_two_outputs_int8",
     {1, 1, 2, 28, 0, 0, 0, 0},
     "QUANTIZE PAD CONV_2D DEPTHWISE_CONV_2D RESHAPE CONCATENATION DEQUANTIZE LOGISTIC"},
    {"segmentation_float16",
     {1, 1, 1, 35, 0, 0, 0, 19},
     "PAD DEQUANTIZE CONV_2D DEPTHWISE_CONV_2D RESIZE_BILINEAR ADD TRANSPOSE_CONV LOGISTIC"},
    {"control_flow", {5, 2, 1, 5, 0, 0, 0, 0}, "WHILE MEAN GREATER IF SOFTMAX"},
    {"custom_op",
     {1, 1, 2, 8, 0, 0, 1, 0},
     "CONV_2D RESHAPE LOGISTIC KeepConfident MEAN FULLY_CONNECTED SOFTMAX"},
    {"dynamic_shape",
     {1, 1, 1, 11, 0, 9, 0, 0},
     "CONV_2D MAX_POOL_2D SHAPE STRIDED_SLICE PACK RESHAPE MEAN FULLY_CONNECTED SOFTMAX"},
};
#define SHIPPED (sizeof shipped / sizeof shipped[0])

/* Reads a whole file; the caller frees it. */
static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("%s cannot be opened", path);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long length = ftell(file);
  assert_true(length >= 0);
  rewind(file);
  *size = (size_t)length;
  void *data = malloc(*size + 1);
  assert_non_null(data);
  assert_int_equal(fread(data, 1, *size, file), *size);
  fclose(file);
  return data;
}

static void *open_model(const char *name, berth_model_t *model) {
  char path[1024];
  size_t size;
  berth_model_error_t error = {0};
  snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, name);
  void *data = read_file(path, &size);
  if (berth_model_open(data, size, model, &error) != BERTH_OK)
    fail_msg("%s: %s %s", name, error.subject, error.fault);
  return data;
}

static contents_t count(const berth_model_t *model) {
  berth_subgraph_t main = berth_model_subgraph(model, 0);
  contents_t counts = {.subgraphs = model->subgraph_count,
                       .inputs = main.inputs.count,
                       .outputs = main.outputs.count,
                       .operators = main.operator_count};
  for (uint32_t i = 0; i < main.tensor_count; i++) {
    berth_tensor_t tensor = berth_model_tensor(model, 0, i);
    bool constant = berth_model_tensor_data(model, &tensor).size > 0;
    counts.variables += tensor.is_variable;
    counts.open_batches +=
        tensor.signature.count > 0 && berth_vector_int(tensor.signature, 0) == -1;
    counts.unknown += !constant && tensor.shape.count == 0 && !tensor.has_rank;
    counts.floats16 += constant && tensor.type == BERTH_TYPE_FLOAT16;
  }
  return counts;
}

static bool is_listed(const char *kinds, berth_text_t kind) {
  for (const char *at = kinds; (at = strstr(at, kind.data)) != NULL; at += kind.length) {
    bool begins = at == kinds || at[-1] == ' ';
    if (begins && (at[kind.length] == ' ' || at[kind.length] == 0)) return true;
  }
  return false;
}

/* Appends the kinds of operators in order of first appearance to an empty `kinds`. */
static void list_operators(const berth_model_t *model, char *kinds, size_t capacity) {
  uint32_t operators = berth_model_subgraph(model, 0).operator_count;
  kinds[0] = 0;
  for (uint32_t i = 0; i < operators; i++) {
    berth_operator_t op = berth_model_operator(model, 0, i);
    berth_text_t kind = berth_operator_name(&op);
    if (is_listed(kinds, kind)) continue;
    size_t used = strlen(kinds);
    snprintf(kinds + used, capacity - used, "%s%s", used > 0 ? " " : "", kind.data);
  }
}

static void every_shipped_model_holds_what_its_readme_says(void **state) {
  (void)state;
  for (size_t i = 0; i < SHIPPED; i++) {
    berth_model_t model;
    char kinds[512];
    void *data = open_model(shipped[i].name, &model);
    contents_t counts = count(&model);
    const contents_t *expected = &shipped[i].contents;
    print_message("%s\n", shipped[i].name);
    list_operators(&model, kinds, sizeof kinds);
    assert_string_equal(kinds, shipped[i].operators);
    assert_int_equal(counts.subgraphs, expected->subgraphs);
    assert_int_equal(counts.inputs, expected->inputs);
    assert_int_equal(counts.outputs, expected->outputs);
    assert_int_equal(counts.operators, expected->operators);
    assert_int_equal(counts.variables, expected->variables);
    assert_int_equal(counts.open_batches, expected->open_batches);
    assert_int_equal(counts.unknown, expected->unknown);
    assert_int_equal(counts.floats16, expected->floats16);
    free(data);
  }
}

static void constants_are_aligned_to_16_bytes_and_buffer_0_is_empty(void **state) {
  (void)state;
  for (size_t i = 0; i < SHIPPED; i++) {
    berth_model_t model;
    uint8_t *data = open_model(shipped[i].name, &model);
    assert_int_equal(berth_model_buffer(&model, 0).size, 0);
    for (uint32_t buffer = 0; buffer < model.buffer_count; buffer++) {
      berth_bytes_t bytes = berth_model_buffer(&model, buffer);
      if (bytes.size > 0) assert_int_equal((bytes.data - data) % 16, 0);
    }
    free(data);
  }
}

/* A bias is in units of input scale times weight scale: kernels refuse or misread any other. */
static void a_bias_has_the_scale_of_what_it_is_added_to(void **state) {
  (void)state;
  uint32_t checked = 0;
  for (size_t i = 0; i < SHIPPED; i++) {
    berth_model_t model;
    void *data = open_model(shipped[i].name, &model);
    uint32_t operators = berth_model_subgraph(&model, 0).operator_count;
    for (uint32_t k = 0; k < operators; k++) {
      berth_operator_t op = berth_model_operator(&model, 0, k);
      if (op.code != BERTH_BUILTIN_CONV_2D && op.code != BERTH_BUILTIN_DEPTHWISE_CONV_2D &&
          op.code != BERTH_BUILTIN_FULLY_CONNECTED)
        continue;
      berth_tensor_t operand[3];
      for (uint32_t j = 0; j < 3; j++)
        operand[j] = berth_model_tensor(&model, 0, (uint32_t)berth_vector_int(op.inputs, j));
      if (operand[1].type != BERTH_TYPE_INT8) continue;
      assert_int_equal(operand[2].type, BERTH_TYPE_INT32);
      assert_int_equal(operand[2].scales.count, operand[1].scales.count);
      for (uint32_t channel = 0; channel < operand[1].scales.count; channel++) {
        float product = berth_vector_float(operand[0].scales, 0) *
                        berth_vector_float(operand[1].scales, channel);
        assert_true(berth_vector_float(operand[2].scales, channel) == product);
        assert_true(berth_vector_long(operand[1].zero_points, channel) == 0);
      }
      checked += operand[1].scales.count;
    }
    free(data);
  }
  assert_true(checked > 2000);
}

static size_t size_of(const char *format, const char *name, unsigned run, unsigned index) {
  char path[1024], file[64];
  snprintf(file, sizeof file, format, run, index);
  snprintf(path, sizeof path, "%s/models/reference/%s/%s", BERTH_SOURCE_DIR, name, file);
  size_t size;
  free(read_file(path, &size));
  return size;
}

static uint64_t bytes_of(const berth_model_t *model, berth_vector_t tensors, uint32_t index) {
  berth_tensor_t tensor = berth_model_tensor(model, 0, (uint32_t)berth_vector_int(tensors, index));
  uint64_t bytes = berth_tensor_type_bits(tensor.type) / 8;
  for (uint32_t i = 0; i < tensor.shape.count; i++)
    bytes *= (uint64_t)berth_vector_int(tensor.shape, i);
  return bytes;
}

static void every_shipped_model_has_a_recorded_run_of_its_size(void **state) {
  (void)state;
  for (size_t i = 0; i < SHIPPED; i++) {
    berth_model_t model;
    void *data = open_model(shipped[i].name, &model);
    berth_subgraph_t main = berth_model_subgraph(&model, 0);
    for (uint32_t k = 0; k < main.inputs.count; k++)
      assert_int_equal(size_of("run%u.in%u.bin", shipped[i].name, 1, k),
                       bytes_of(&model, main.inputs, k));
    for (uint32_t k = 0; k < main.outputs.count; k++) {
      size_t size = size_of("run%u.out%u.bin", shipped[i].name, 1, k);
      bool unknown = strcmp(shipped[i].name, "custom_op") == 0 && k == 1;
      if (unknown) /* Rows of 4 floats, as many as the operator kept. */
        assert_true(size > 0 && size % 16 == 0);
      else
        assert_int_equal(size, bytes_of(&model, main.outputs, k));
    }
    free(data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shipped_model_holds_what_its_readme_says),
      cmocka_unit_test(constants_are_aligned_to_16_bytes_and_buffer_0_is_empty),
      cmocka_unit_test(a_bias_has_the_scale_of_what_it_is_added_to),
      cmocka_unit_test(every_shipped_model_has_a_recorded_run_of_its_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
