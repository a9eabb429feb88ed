/* Compares two models through everything that the accessors give out. For tests of the writer. */
#ifndef BERTH_TESTS_OPTIMIZE_SAME_H
#define BERTH_TESTS_OPTIMIZE_SAME_H

#include "../model/option_fields.h"
#include "berth/model.h"

#include <stdio.h>
#include <string.h>

static inline bool same_raw(const void *a, uint64_t a_size, const void *b, uint64_t b_size) {
  return a_size == b_size && (a_size == 0 || memcmp(a, b, (size_t)a_size) == 0);
}

static inline bool same_text(berth_text_t a, berth_text_t b) {
  return same_raw(a.data, a.length, b.data, b.length);
}

static inline bool same_bytes(berth_bytes_t a, berth_bytes_t b) {
  return same_raw(a.data, a.size, b.data, b.size);
}

/* A vector of elements of `width` bytes. */
static inline bool same_vector(berth_vector_t a, berth_vector_t b, uint32_t width) {
  return same_raw(a.data, (uint64_t)a.count * width, b.data, (uint64_t)b.count * width);
}

/* One field, as the schema has it. */
static inline bool same_field(const option_field_t *it, berth_table_t a, berth_table_t b) {
  uint32_t field = it->field;
  switch (it->kind) {
  case BYTE:
    return berth_option_byte(a, field, 77) == berth_option_byte(b, field, 77);
  case INT:
  case BITS:
    return berth_option_int(a, field, 77) == berth_option_int(b, field, 77);
  case LONG:
    return berth_option_long(a, field, 77) == berth_option_long(b, field, 77);
  case INTS:
    return same_vector(berth_option_ints(a, field), berth_option_ints(b, field), 4);
  case LONGS:
    return same_vector(berth_option_longs(a, field), berth_option_longs(b, field), 8);
  case TEXT:
    break;
  }
  return same_text(berth_option_text(a, field), berth_option_text(b, field));
}

static inline bool same_options(uint32_t type, berth_table_t a, berth_table_t b) {
  if ((a.position == 0) != (b.position == 0)) return false;
  for (uint32_t field = 0; field < 16; field++) { /* of tables that are unknown, too */
    if (berth_option_byte(a, field, 77) != berth_option_byte(b, field, 77)) return false;
  }
  for (size_t i = 0; i < sizeof option_fields / sizeof *option_fields; i++) {
    if (option_fields[i].options_type != type) continue;
    if (!same_field(&option_fields[i], a, b)) return false;
  }
  return true;
}

static inline const char *operator_difference(const berth_model_t *a, const berth_operator_t *x,
                                              const berth_model_t *b, const berth_operator_t *y) {
  (void)a;
  (void)b;
  if (x->code != y->code || x->version != y->version || x->opcode != y->opcode) return "code";
  if (!same_text(x->custom_name, y->custom_name)) return "custom name";
  if (!same_vector(x->inputs, y->inputs, 4)) return "inputs";
  if (!same_vector(x->outputs, y->outputs, 4)) return "outputs";
  if (!same_vector(x->intermediates, y->intermediates, 4)) return "intermediates";
  if (x->options_type != y->options_type) return "type of options";
  if (!same_options(x->options_type, x->options, y->options)) return "options";
  if (!same_bytes(x->custom_options, y->custom_options)) return "custom options";
  return NULL;
}

static inline const char *sparsity_difference(const berth_model_t *a, const berth_model_t *b,
                                              uint32_t subgraph, uint32_t tensor) {
  berth_sparsity_t x = berth_model_sparsity(a, subgraph, tensor);
  berth_sparsity_t y = berth_model_sparsity(b, subgraph, tensor);
  if (x.dimension_count != y.dimension_count) return "sparse dimensions";
  if (!same_vector(x.traversal_order, y.traversal_order, 4)) return "traversal order";
  if (!same_vector(x.block_map, y.block_map, 4)) return "block map";
  for (uint32_t i = 0; i < x.dimension_count; i++) {
    berth_sparse_dimension_t p = berth_model_sparse_dimension(a, subgraph, tensor, i);
    berth_sparse_dimension_t q = berth_model_sparse_dimension(b, subgraph, tensor, i);
    if (p.is_sparse != q.is_sparse || p.dense_size != q.dense_size) return "sparse dimension";
    if (p.segments_width != q.segments_width || p.indices_width != q.indices_width ||
        !same_vector(p.segments, q.segments, p.segments_width) ||
        !same_vector(p.indices, q.indices, p.indices_width)) {
      return "index vector";
    }
  }
  return NULL;
}

static inline const char *tensor_difference(const berth_model_t *a, const berth_model_t *b,
                                            uint32_t subgraph, uint32_t tensor) {
  berth_tensor_t x = berth_model_tensor(a, subgraph, tensor);
  berth_tensor_t y = berth_model_tensor(b, subgraph, tensor);
  if (!same_text(x.name, y.name)) return "tensor name";
  if (x.type != y.type || x.is_variable != y.is_variable || x.has_rank != y.has_rank) return "type";
  if (x.buffer != y.buffer || x.external_buffer != y.external_buffer) return "number of a buffer";
  if (!same_vector(x.shape, y.shape, 4)) return "shape";
  if (!same_vector(x.signature, y.signature, 4)) return "shape signature";
  if (!same_vector(x.scales, y.scales, 4) || !same_vector(x.zero_points, y.zero_points, 8) ||
      x.quantized_dimension != y.quantized_dimension ||
      x.quantization_details != y.quantization_details) {
    return "quantization";
  }
  if (!same_bytes(berth_model_tensor_data(a, &x), berth_model_tensor_data(b, &y))) return "data";
  return sparsity_difference(a, b, subgraph, tensor);
}

static inline const char *subgraph_difference(const berth_model_t *a, const berth_model_t *b,
                                              uint32_t subgraph) {
  berth_subgraph_t x = berth_model_subgraph(a, subgraph), y = berth_model_subgraph(b, subgraph);
  if (!same_text(x.name, y.name)) return "subgraph name";
  if (!same_vector(x.inputs, y.inputs, 4)) return "subgraph inputs";
  if (!same_vector(x.outputs, y.outputs, 4)) return "subgraph outputs";
  if (x.tensor_count != y.tensor_count) return "number of tensors";
  if (x.operator_count != y.operator_count) return "number of operators";
  const char *difference = NULL;
  for (uint32_t i = 0; i < x.tensor_count && difference == NULL; i++) {
    difference = tensor_difference(a, b, subgraph, i);
  }
  for (uint32_t i = 0; i < x.operator_count && difference == NULL; i++) {
    berth_operator_t p = berth_model_operator(a, subgraph, i);
    berth_operator_t q = berth_model_operator(b, subgraph, i);
    difference = operator_difference(a, &p, b, &q);
  }
  return difference;
}

static inline const char *signature_difference(const berth_model_t *a, const berth_model_t *b,
                                               uint32_t index) {
  berth_signature_t x = berth_model_signature(a, index), y = berth_model_signature(b, index);
  if (!same_text(x.key, y.key) || x.subgraph != y.subgraph) return "signature";
  if (x.input_count != y.input_count || x.output_count != y.output_count) return "signature";
  for (uint32_t i = 0; i < x.input_count; i++) {
    uint32_t p, q;
    if (!same_text(berth_model_signature_input(a, index, i, &p),
                   berth_model_signature_input(b, index, i, &q)) ||
        p != q) {
      return "signature input";
    }
  }
  for (uint32_t i = 0; i < x.output_count; i++) {
    uint32_t p, q;
    if (!same_text(berth_model_signature_output(a, index, i, &p),
                   berth_model_signature_output(b, index, i, &q)) ||
        p != q) {
      return "signature output";
    }
  }
  return NULL;
}

/* Does a tensor or metadata use a constant? */
static inline bool is_used(const berth_model_t *model, uint32_t buffer) {
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    for (uint32_t i = 0; i < berth_model_subgraph(model, s).tensor_count; i++) {
      if (berth_model_tensor(model, s, i).buffer == buffer) return true;
    }
  }
  for (uint32_t i = 0; i < model->metadata_count; i++) {
    if (berth_model_metadata(model, i).buffer == buffer) return true;
  }
  return false;
}

/* What is different, or NULL. Metadata are compared where both models have them. */
static inline const char *model_difference(const berth_model_t *a, const berth_model_t *b) {
  if (a->version != b->version || !same_text(a->description, b->description)) return "model";
  if (a->subgraph_count != b->subgraph_count) return "number of subgraphs";
  if (a->opcode_count != b->opcode_count) return "number of operator codes";
  if (a->signature_count != b->signature_count) return "number of signatures";
  const char *difference = NULL;
  for (uint32_t i = 0; i < a->subgraph_count && difference == NULL; i++) {
    difference = subgraph_difference(a, b, i);
  }
  for (uint32_t i = 0; i < a->signature_count && difference == NULL; i++) {
    difference = signature_difference(a, b, i);
  }
  for (uint32_t i = 0; i < a->metadata_count && difference == NULL; i++) {
    berth_metadata_t x = berth_model_metadata(a, i), y = berth_model_metadata(b, i);
    if (!same_text(x.name, y.name)) difference = "metadata name";
  }
  for (uint32_t i = 0; i < a->buffer_count && difference == NULL; i++) {
    if (same_bytes(berth_model_buffer(a, i), berth_model_buffer(b, i))) continue;
    bool given_up = berth_model_buffer(b, i).size == 0 && !is_used(b, i);
    if (!given_up) difference = "buffer";
  }
  return difference;
}

#endif
