/* Networks for tests, described in strings and turned into a .tflite in memory.
 *
 *   network_t net = {0};
 *   tensor(&net, 0, BERTH_TYPE_INT8, "1x8x8x4", 0);   // tensor 0 of subgraph 0
 *   tensor(&net, 0, BERTH_TYPE_INT8, "1?x16", 0);     // 1 in the shape, -1 in the signature
 *   op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");        // operator 0: reads 0, writes 1
 *   net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
 *   berth_model_t model = build(&net);
 */
#ifndef BERTH_TESTS_GRAPH_NETWORK_H
#define BERTH_TESTS_GRAPH_NETWORK_H

#include "test.h"

#include "berth/model.h"
#include "model/builder.h"
#include "model/fields.h"
#include <stdlib.h>

enum { CONSTANT = 1, VARIABLE = 2, HAS_RANK = 4, EXTERNAL = 8 };

#define NETWORK_TENSORS 48
#define NETWORK_OPS     24

typedef struct network_op {
  int code;
  const char *inputs, *outputs;
  const int *callees; /* the fields of its options, from the first on */
  uint32_t callee_count;
} network_op_t;

typedef struct network_subgraph {
  const char *inputs, *outputs;
  struct {
    berth_tensor_type_t type;
    const char *shape;
    int flags;
    uint32_t scales; /* quantized with so many scales, zero points 0; 0: not quantized */
  } tensors[NETWORK_TENSORS];
  uint32_t tensor_count;
  network_op_t ops[NETWORK_OPS];
  uint32_t op_count;
} network_subgraph_t;

typedef struct network {
  network_subgraph_t subgraphs[5];
  uint32_t subgraph_count; /* 0 counts as 1 */
  uint32_t constant_bytes; /* of the data that all constants share, at most 1024; 0: 4 */
  builder_t file;
} network_t;

static inline void tensor(network_t *net, uint32_t subgraph, berth_tensor_type_t type,
                          const char *shape, int flags) {
  network_subgraph_t *s = &net->subgraphs[subgraph];
  assert_true(s->tensor_count < NETWORK_TENSORS);
  s->tensors[s->tensor_count].type = type;
  s->tensors[s->tensor_count].shape = shape;
  s->tensors[s->tensor_count++].flags = flags;
  if (net->subgraph_count <= subgraph) net->subgraph_count = subgraph + 1;
}

static inline void call(network_t *net, uint32_t subgraph, int code, const char *inputs,
                        const char *outputs, const int *callees, uint32_t callee_count) {
  network_subgraph_t *s = &net->subgraphs[subgraph];
  assert_true(s->op_count < NETWORK_OPS);
  s->ops[s->op_count++] = (network_op_t){code, inputs, outputs, callees, callee_count};
  if (net->subgraph_count <= subgraph) net->subgraph_count = subgraph + 1;
}

static inline void op(network_t *net, uint32_t subgraph, int code, const char *inputs,
                      const char *outputs) {
  call(net, subgraph, code, inputs, outputs, NULL, 0);
}

/* The numbers in a text, whatever stands between them. */
static inline uint32_t numbers(const char *text, int64_t *values) {
  uint32_t count = 0;
  while (text != NULL && *text != '\0') {
    char *end;
    values[count] = strtoll(text, &end, 10);
    if (end != text) count++;
    text = end != text ? end : text + 1;
  }
  return count;
}

static inline void put_numbers(builder_t *f, uint32_t table, uint32_t field, const char *text) {
  int64_t values[32];
  uint32_t count = numbers(text, values);
  put_vector(f, table, field, 4, count, values);
}

static inline void put_tensor(builder_t *f, uint32_t table, berth_tensor_type_t type,
                              const char *shape, int flags) {
  int64_t dims[8], signature[8];
  uint32_t rank = numbers(shape, dims), at = 0;
  bool open = false;
  for (uint32_t i = 0; i < rank; i++) signature[i] = dims[i];
  for (const char *c = shape; *c != '\0'; c++) {
    if (*c == 'x') at++;
    if (*c == '?') signature[at] = -1, open = true;
  }
  put_field(f, table, TENSOR_TYPE, 1, type);
  put_field(f, table, TENSOR_BUFFER, 4, (flags & CONSTANT) != 0);
  put_field(f, table, TENSOR_IS_VARIABLE, 1, (flags & VARIABLE) != 0);
  put_field(f, table, TENSOR_HAS_RANK, 1, (flags & HAS_RANK) != 0);
  if (flags & EXTERNAL) put_field(f, table, TENSOR_EXTERNAL_BUFFER, 4, 7);
  if (rank > 0) put_vector(f, table, TENSOR_SHAPE, 4, rank, dims);
  if (open) put_vector(f, table, TENSOR_SHAPE_SIGNATURE, 4, rank, signature);
}

static inline void put_scales(builder_t *f, uint32_t table, uint32_t scales) {
  if (scales == 0) return;
  static const int64_t zeros[1024];
  assert_true(scales <= 1024);
  uint32_t quantization = put_child(f, table, TENSOR_QUANTIZATION, 7);
  put_vector(f, quantization, QUANTIZATION_SCALE, 4, scales, zeros);
  put_vector(f, quantization, QUANTIZATION_ZERO_POINT, 8, scales, zeros);
}

static inline void put_op(builder_t *f, uint32_t table, uint32_t code_index,
                          const network_op_t *it) {
  put_field(f, table, OPERATOR_CODE_INDEX, 4, code_index);
  put_numbers(f, table, OPERATOR_INPUTS, it->inputs);
  put_numbers(f, table, OPERATOR_OUTPUTS, it->outputs);
  if (it->callee_count == 0) return;
  bool second = it->code >= BERTH_BUILTIN_STABLEHLO_REDUCE;
  put_field(f, table, second ? OPERATOR_OPTIONS_2_TYPE : OPERATOR_OPTIONS_TYPE, 1, 1);
  uint32_t options = put_child(f, table, second ? OPERATOR_OPTIONS_2 : OPERATOR_OPTIONS,
                               it->callee_count > 4 ? it->callee_count : 4);
  if (it->code == BERTH_BUILTIN_STABLEHLO_CASE) {
    int64_t list[8];
    for (uint32_t i = 0; i < it->callee_count; i++) list[i] = it->callees[i];
    put_vector(f, options, BERTH_STABLEHLO_CASE_BRANCHES, 4, it->callee_count, list);
    return;
  }
  uint32_t from =
      it->code == BERTH_BUILTIN_STABLEHLO_COMPOSITE || it->code == BERTH_BUILTIN_STABLEHLO_REDUCE;
  for (uint32_t i = 0; i < it->callee_count; i++) {
    put_field(f, options, from + i, 4, (uint64_t)(int64_t)it->callees[i]);
  }
}

/* The model, which points into `net`. One operator code for each operator, for simplicity. */
static inline berth_model_t build(network_t *net) {
  builder_t *f = &net->file;
  uint32_t ops = 0, code = 0;
  for (uint32_t s = 0; s < net->subgraph_count; s++) ops += net->subgraphs[s].op_count;

  f->size = 0;
  uint32_t root = put(f, 4, 0);
  put(f, 4, 0x334c4654); /* TFL3 */
  uint32_t model = put_table(f, 8);
  poke(f, root, 4, model - root);
  put_field(f, model, MODEL_VERSION, 4, 3);
  uint32_t buffers = put_list(f, model, MODEL_BUFFERS, 2);
  put_element(f, buffers, 0, 1);
  uint32_t data = put_element(f, buffers, 1, 1);
  static const int64_t values[1024] = {1, 2, 3, 4};
  put_vector(f, data, BUFFER_DATA, 1, net->constant_bytes > 0 ? net->constant_bytes : 4, values);
  uint32_t codes = put_list(f, model, MODEL_OPERATOR_CODES, ops);
  for (uint32_t s = 0; s < net->subgraph_count; s++) {
    for (uint32_t i = 0; i < net->subgraphs[s].op_count; i++) {
      uint32_t entry = put_element(f, codes, code++, 4);
      put_field(f, entry, CODE_NEW, 4, (uint64_t)net->subgraphs[s].ops[i].code);
      if (net->subgraphs[s].ops[i].code == BERTH_BUILTIN_CUSTOM) {
        put_text(f, entry, CODE_CUSTOM_NAME, "Custom");
      }
    }
  }
  code = 0;
  uint32_t subgraphs = put_list(f, model, MODEL_SUBGRAPHS, net->subgraph_count);
  for (uint32_t s = 0; s < net->subgraph_count; s++) {
    const network_subgraph_t *it = &net->subgraphs[s];
    uint32_t table = put_element(f, subgraphs, s, 5);
    put_numbers(f, table, SUBGRAPH_INPUTS, it->inputs);
    put_numbers(f, table, SUBGRAPH_OUTPUTS, it->outputs);
    uint32_t tensors = put_list(f, table, SUBGRAPH_TENSORS, it->tensor_count);
    uint32_t list = put_list(f, table, SUBGRAPH_OPERATORS, it->op_count);
    for (uint32_t i = 0; i < it->tensor_count; i++) {
      uint32_t at = put_element(f, tensors, i, 11);
      put_tensor(f, at, it->tensors[i].type, it->tensors[i].shape, it->tensors[i].flags);
      put_scales(f, at, it->tensors[i].scales);
    }
    for (uint32_t i = 0; i < it->op_count; i++) {
      put_op(f, put_element(f, list, i, 13), code++, &it->ops[i]);
    }
  }
  berth_model_t opened;
  berth_model_error_t error;
  if (berth_model_open(f->bytes, f->size, &opened, &error) != BERTH_OK) {
    fail_msg("the test's own model: %s %s", error.subject, error.fault);
  }
  return opened;
}

#endif
