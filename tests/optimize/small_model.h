/* Small models that run, for tests of transforms: tensors with quantization and data, operators
 * with options; and running two models on the same inputs.
 *
 *   small_begin(&small);
 *   small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.5f, 3);       // number 0
 *   small_constant(&small, BERTH_TYPE_INT8, "2,3,3,2", 0.25f, 0);    // 1, made-up values
 *   small_tensor(&small, BERTH_TYPE_INT8, "1,4,4,2", 0.5f, 3);       // 2
 *   small_op(&small, BERTH_BUILTIN_CONV_2D, 1, "0 1", "2", "0:1:0 1:4:1 2:4:1");
 *   small_end(&small, "0", "2", &model);                             // graph input, output
 */
#ifndef BERTH_TESTS_OPTIMIZE_SMALL_MODEL_H
#define BERTH_TESTS_OPTIMIZE_SMALL_MODEL_H

#include "test.h"

#include "../model/builder.h"
#include "berth/interpreter.h"
#include "host/fill.h"
#include "model/fields.h"

#include <stdlib.h>

#define SMALL_TENSORS 24
#define SMALL_OPS     12

typedef struct small_tensor {
  berth_tensor_type_t type;
  int64_t dims[6];
  uint32_t rank;
  float scale;
  int zero;
  bool constant, variable;
  int64_t values[64]; /* of a constant, the first of them, if `given` */
  uint32_t given;
} small_tensor_t;

typedef struct small_op {
  int code, options_type;
  const char *inputs, *outputs, *options;
} small_op_t;

typedef struct small {
  builder_t file;
  small_tensor_t tensors[SMALL_TENSORS];
  int tensor_count;
  small_op_t ops[SMALL_OPS];
  uint32_t op_count;
} small_t;

static inline uint32_t small_numbers(const char *text, int64_t *values) {
  uint32_t count = 0;
  while (*text != '\0') {
    char *end;
    values[count] = strtoll(text, &end, 10);
    if (end != text) count++;
    text = end != text ? end : text + 1;
  }
  return count;
}

static inline void small_begin(small_t *small) {
  memset(small, 0, sizeof *small);
}

/* Number of a new tensor; scale 0: not quantized. */
static inline int small_tensor(small_t *small, berth_tensor_type_t type, const char *dims,
                               float scale, int zero) {
  assert_true(small->tensor_count < SMALL_TENSORS);
  small_tensor_t *tensor = &small->tensors[small->tensor_count];
  tensor->type = type;
  tensor->rank = small_numbers(dims, tensor->dims);
  tensor->scale = scale;
  tensor->zero = zero;
  return small->tensor_count++;
}

/* The same, constant, with made-up values. */
static inline int small_constant(small_t *small, berth_tensor_type_t type, const char *dims,
                                 float scale, int zero) {
  int tensor = small_tensor(small, type, dims, scale, zero);
  small->tensors[tensor].constant = true;
  return tensor;
}

/* The same, with these integers. */
static inline int small_given(small_t *small, berth_tensor_type_t type, const char *dims,
                              const char *values) {
  int tensor = small_constant(small, type, dims, 0, 0);
  small->tensors[tensor].given = small_numbers(values, small->tensors[tensor].values);
  return tensor;
}

/* An operator; texts are lists of tensors, and of options as field:width:value. */
static inline void small_op(small_t *small, int code, int options_type, const char *inputs,
                            const char *outputs, const char *options) {
  assert_true(small->op_count < SMALL_OPS);
  small->ops[small->op_count++] = (small_op_t){code, options_type, inputs, outputs, options};
}

static inline void small_list(builder_t *f, uint32_t table, uint32_t field, const char *text) {
  int64_t values[32];
  uint32_t count = small_numbers(text, values);
  put_vector(f, table, field, 4, count, values);
}

static inline void small_data(small_t *small, uint32_t buffer, const small_tensor_t *tensor,
                              uint64_t *random) {
  static int64_t values[4096];
  uint32_t width = berth_tensor_type_bits(tensor->type) / 8, count = 1;
  for (uint32_t i = 0; i < tensor->rank; i++) count *= (uint32_t)tensor->dims[i];
  assert_true(count <= 4096);
  for (uint32_t i = 0; i < count; i++) {
    float x = (float)(berth_fill_next(random) % 2001) / 1000.0f - 1.0f;
    uint32_t bits;
    memcpy(&bits, &x, 4);
    values[i] = tensor->given > 0 ? tensor->values[i]
                : tensor->type == BERTH_TYPE_FLOAT32
                    ? (int64_t)bits
                    : (int64_t)(berth_fill_next(random) % 200) - 100;
  }
  link_to_end(&small->file, put_field(&small->file, buffer, BUFFER_DATA, 4, 0));
  put(&small->file, 4, (uint64_t)count * width); /* a vector of bytes */
  for (uint32_t i = 0; i < count; i++) put(&small->file, width, (uint64_t)values[i]);
}

static inline void small_put_tensor(builder_t *f, uint32_t table, const small_tensor_t *tensor,
                                    uint32_t buffer) {
  put_field(f, table, TENSOR_TYPE, 1, tensor->type);
  put_field(f, table, TENSOR_BUFFER, 4, buffer);
  put_field(f, table, TENSOR_HAS_RANK, 1, 1);
  if (tensor->variable) put_field(f, table, TENSOR_IS_VARIABLE, 1, 1);
  if (tensor->rank > 0) put_vector(f, table, TENSOR_SHAPE, 4, tensor->rank, tensor->dims);
  if (tensor->scale == 0) return;
  uint32_t bits;
  memcpy(&bits, &tensor->scale, 4);
  uint32_t quantization = put_child(f, table, TENSOR_QUANTIZATION, 7);
  put_vector(f, quantization, QUANTIZATION_SCALE, 4, 1, (const int64_t[]){bits});
  put_vector(f, quantization, QUANTIZATION_ZERO_POINT, 8, 1, (const int64_t[]){tensor->zero});
}

static inline void small_put_op(builder_t *f, uint32_t table, uint32_t code, const small_op_t *op) {
  int64_t fields[24];
  put_field(f, table, OPERATOR_CODE_INDEX, 4, code);
  small_list(f, table, OPERATOR_INPUTS, op->inputs);
  small_list(f, table, OPERATOR_OUTPUTS, op->outputs);
  if (op->options_type == 0) return;
  put_field(f, table, OPERATOR_OPTIONS_TYPE, 1, (uint64_t)op->options_type);
  uint32_t options = put_child(f, table, OPERATOR_OPTIONS, 8);
  uint32_t count = small_numbers(op->options, fields);
  for (uint32_t i = 0; i + 2 < count; i += 3) {
    put_field(f, options, (uint32_t)fields[i], (uint32_t)fields[i + 1], (uint64_t)fields[i + 2]);
  }
}

static inline void small_end(small_t *small, const char *inputs, const char *outputs,
                             berth_model_t *model) {
  builder_t *f = &small->file;
  uint64_t random = 7;
  put(f, 4, 0);
  put(f, 4, 0x334c4654); /* TFL3 */
  uint32_t root = put_table(f, 8);
  poke(f, 0, 4, root);
  put_field(f, root, MODEL_VERSION, 4, 3);
  uint32_t tensor_count = (uint32_t)small->tensor_count;
  uint32_t buffers = put_list(f, root, MODEL_BUFFERS, tensor_count + 1);
  put_element(f, buffers, 0, 1);
  for (uint32_t i = 0; i < tensor_count; i++) {
    uint32_t buffer = put_element(f, buffers, i + 1, 1);
    if (small->tensors[i].constant) small_data(small, buffer, &small->tensors[i], &random);
  }
  uint32_t codes = put_list(f, root, MODEL_OPERATOR_CODES, small->op_count);
  for (uint32_t i = 0; i < small->op_count; i++) {
    put_field(f, put_element(f, codes, i, 4), CODE_NEW, 4, (uint64_t)small->ops[i].code);
  }
  uint32_t main = put_element(f, put_list(f, root, MODEL_SUBGRAPHS, 1), 0, 5);
  small_list(f, main, SUBGRAPH_INPUTS, inputs);
  small_list(f, main, SUBGRAPH_OUTPUTS, outputs);
  uint32_t tensors = put_list(f, main, SUBGRAPH_TENSORS, tensor_count);
  for (uint32_t i = 0; i < tensor_count; i++) {
    small_put_tensor(f, put_element(f, tensors, i, 9), &small->tensors[i], i + 1);
  }
  uint32_t ops = put_list(f, main, SUBGRAPH_OPERATORS, small->op_count);
  for (uint32_t i = 0; i < small->op_count; i++) {
    small_put_op(f, put_element(f, ops, i, 13), i, &small->ops[i]);
  }
  berth_model_error_t error = {0};
  if (berth_model_open(f->bytes, f->size, model, &error) != BERTH_OK) {
    fail_msg("the test's own model: %s %s", error.subject, error.fault);
  }
}

/* ---- Running --------------------------------------------------------------------------------- */

static inline void small_event(void *user, const berth_event_t *event) {
  (void)user;
  if (event->why != NULL && event->kind == BERTH_EVENT_REFUSED) print_message("%s\n", event->why);
}

/* Runs a model on made-up inputs; all outputs, one after the other, into `out`; their bytes. */
static inline uint32_t small_run(const berth_model_t *model, uint64_t seed, uint8_t *out,
                                 uint32_t room) {
  static _Alignas(16) uint8_t memory[1 << 20];
  berth_interpreter_t interpreter;
  berth_memories_t blocks = {.activations = {memory, sizeof memory}};
  berth_interpreter_options_t options = {
      .kernels = berth_kernels, .no_reuse = true, .log = small_event};
  assert_int_equal(berth_interpreter_init(&interpreter, model, &options, &blocks), BERTH_OK);
  assert_int_equal(berth_interpreter_prepare(&interpreter), BERTH_OK);
  berth_subgraph_t main = berth_model_subgraph(model, 0);
  for (uint32_t i = 0; i < main.inputs.count; i++) {
    berth_value_t value = berth_interpreter_input(&interpreter, i);
    if (!value.constant && value.data != NULL) berth_fill_random(&value, &seed);
  }
  assert_int_equal(berth_interpreter_invoke(&interpreter), BERTH_OK);
  uint32_t used = 0;
  for (uint32_t i = 0; i < main.outputs.count; i++) {
    berth_value_t value = berth_interpreter_output(&interpreter, i);
    assert_true(value.bytes <= room - used);
    memcpy(out + used, value.data, value.bytes);
    used += value.bytes;
  }
  return used;
}

/* Do both give the same bytes, for several inputs? */
static inline void assert_runs_alike(const berth_model_t *a, const berth_model_t *b) {
  static uint8_t x[65536], y[65536];
  for (uint64_t seed = 1; seed <= 5; seed++) {
    uint32_t bytes = small_run(a, seed, x, sizeof x);
    assert_int_equal(small_run(b, seed, y, sizeof y), bytes);
    assert_memory_equal(x, y, bytes);
  }
}

#endif
