/* Prints all that the reader says about a model as JSON, for compare_flatc.py.
 *
 *   dump_model FILE
 *
 * Numbers are printed in full: floats as their bits.
 */
#include "host/map.h"
#include "option_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Whether an element follows another one, so that a comma belongs between them. */
static bool follows;

static void separate(void) {
  if (follows) putchar(',');
  follows = true;
}

static void begin(char bracket) {
  separate();
  putchar(bracket);
  follows = false;
}

static void end(char bracket) {
  putchar(bracket);
  follows = true;
}

static void print_text(berth_text_t text) {
  separate();
  putchar('"');
  for (uint32_t i = 0; i < text.length; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c < 0x20 || c == '"' || c == '\\')
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

static void print_word(const char *word) {
  print_text((berth_text_t){word, (uint32_t)strlen(word)});
}

static void key(const char *name) {
  print_word(name);
  putchar(':');
  follows = false;
}

static void print_long(int64_t value) {
  separate();
  printf("%" PRId64, value);
}

static void number(const char *name, int64_t value) {
  key(name);
  print_long(value);
}

static void text(const char *name, berth_text_t value) {
  key(name);
  print_text(value);
}

static void word(const char *name, const char *value) {
  key(name);
  print_word(value);
}

static void ints(const char *name, berth_vector_t vector) {
  key(name);
  begin('[');
  for (uint32_t i = 0; i < vector.count; i++) print_long(berth_vector_int(vector, i));
  end(']');
}

static void longs(const char *name, berth_vector_t vector) {
  key(name);
  begin('[');
  for (uint32_t i = 0; i < vector.count; i++) print_long(berth_vector_long(vector, i));
  end(']');
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void floats(const char *name, berth_vector_t vector) {
  key(name);
  begin('[');
  for (uint32_t i = 0; i < vector.count; i++) print_long(bits_of(berth_vector_float(vector, i)));
  end(']');
}

static void unsigneds(const char *name, berth_vector_t vector, uint32_t width) {
  key(name);
  begin('[');
  for (uint32_t i = 0; i < vector.count; i++)
    print_long((int64_t)berth_vector_unsigned(vector, width, i));
  end(']');
}

/* Size and a checksum of bytes (Adler-32 of RFC 1950, which Python has as well). */
static void bytes(const char *name, berth_bytes_t value) {
  uint32_t a = 1;
  uint32_t b = 0;
  for (uint64_t i = 0; i < value.size; i++) {
    a = (a + value.data[i]) % 65521;
    b = (b + a) % 65521;
  }
  key(name);
  begin('[');
  print_long((int64_t)value.size);
  print_long((int64_t)(b << 16 | a));
  end(']');
}

/* ---- The model ------------------------------------------------------------------------------ */

static void dump_sparsity(const berth_model_t *model, uint32_t subgraph, uint32_t tensor) {
  berth_sparsity_t sparsity = berth_model_sparsity(model, subgraph, tensor);
  key("sparsity");
  begin('{');
  ints("traversal_order", sparsity.traversal_order);
  ints("block_map", sparsity.block_map);
  key("dimensions");
  begin('[');
  for (uint32_t i = 0; i < sparsity.dimension_count; i++) {
    berth_sparse_dimension_t dimension = berth_model_sparse_dimension(model, subgraph, tensor, i);
    begin('{');
    number("sparse", dimension.is_sparse);
    number("dense_size", dimension.dense_size);
    unsigneds("segments", dimension.segments, dimension.segments_width);
    unsigneds("indices", dimension.indices, dimension.indices_width);
    end('}');
  }
  end(']');
  end('}');
}

static void dump_tensor(const berth_model_t *model, uint32_t subgraph, uint32_t index) {
  berth_tensor_t tensor = berth_model_tensor(model, subgraph, index);
  begin('{');
  text("name", tensor.name);
  word("type", berth_tensor_type_name(tensor.type));
  number("variable", tensor.is_variable);
  number("has_rank", tensor.has_rank);
  number("buffer", tensor.buffer);
  bytes("data", berth_model_tensor_data(model, &tensor));
  ints("shape", tensor.shape);
  ints("signature", tensor.signature);
  floats("scales", tensor.scales);
  longs("zero_points", tensor.zero_points);
  number("quantized_dimension", tensor.quantized_dimension);
  number("quantization_details", tensor.quantization_details);
  number("external_buffer", tensor.external_buffer);
  if (tensor.is_sparse) dump_sparsity(model, subgraph, index);
  end('}');
}

static void dump_option(const option_field_t *it, berth_table_t options) {
  switch (it->kind) {
  case INT:
    number(it->name, berth_option_int(options, it->field, it->fallback));
    break;
  case BYTE:
    number(it->name, berth_option_byte(options, it->field, it->fallback));
    break;
  case BITS:
    number(it->name, bits_of(berth_option_float(options, it->field, (float)it->fallback)));
    break;
  case LONG:
    number(it->name, berth_option_long(options, it->field, it->fallback));
    break;
  case INTS:
    ints(it->name, berth_option_ints(options, it->field));
    break;
  case LONGS:
    longs(it->name, berth_option_longs(options, it->field));
    break;
  default:
    text(it->name, berth_option_text(options, it->field));
    break;
  }
}

static void dump_operator(const berth_model_t *model, uint32_t subgraph, uint32_t index) {
  berth_operator_t op = berth_model_operator(model, subgraph, index);
  begin('{');
  number("code", op.code);
  text("name", berth_operator_name(&op));
  number("version", op.version);
  ints("inputs", op.inputs);
  ints("outputs", op.outputs);
  ints("intermediates", op.intermediates);
  bytes("custom_options", op.custom_options);
  number("options_type", op.options_type);
  key("options");
  begin('{');
  for (size_t i = 0; i < sizeof option_fields / sizeof option_fields[0]; i++)
    if (option_fields[i].options_type == op.options_type)
      dump_option(&option_fields[i], op.options);
  end('}');
  end('}');
}

static void dump_subgraph(const berth_model_t *model, uint32_t index) {
  berth_subgraph_t subgraph = berth_model_subgraph(model, index);
  begin('{');
  text("name", subgraph.name);
  ints("inputs", subgraph.inputs);
  ints("outputs", subgraph.outputs);
  key("tensors");
  begin('[');
  for (uint32_t i = 0; i < subgraph.tensor_count; i++) dump_tensor(model, index, i);
  end(']');
  key("operators");
  begin('[');
  for (uint32_t i = 0; i < subgraph.operator_count; i++) dump_operator(model, index, i);
  end(']');
  end('}');
}

static void dump_signature(const berth_model_t *model, uint32_t index) {
  berth_signature_t signature = berth_model_signature(model, index);
  uint32_t tensor;
  begin('{');
  text("key", signature.key);
  number("subgraph", signature.subgraph);
  key("inputs");
  begin('[');
  for (uint32_t i = 0; i < signature.input_count; i++) {
    print_text(berth_model_signature_input(model, index, i, &tensor));
    print_long(tensor);
  }
  end(']');
  key("outputs");
  begin('[');
  for (uint32_t i = 0; i < signature.output_count; i++) {
    print_text(berth_model_signature_output(model, index, i, &tensor));
    print_long(tensor);
  }
  end(']');
  end('}');
}

static void dump_model(const berth_model_t *model) {
  begin('{');
  number("version", model->version);
  text("description", model->description);
  number("operator_codes", model->opcode_count);
  key("buffers");
  begin('[');
  for (uint32_t i = 0; i < model->buffer_count; i++)
    print_long((int64_t)berth_model_buffer(model, i).size);
  end(']');
  key("subgraphs");
  begin('[');
  for (uint32_t i = 0; i < model->subgraph_count; i++) dump_subgraph(model, i);
  end(']');
  key("metadata");
  begin('[');
  for (uint32_t i = 0; i < model->metadata_count; i++) {
    berth_metadata_t entry = berth_model_metadata(model, i);
    begin('{');
    text("name", entry.name);
    number("buffer", entry.buffer);
    bytes("data", berth_model_buffer(model, entry.buffer));
    end('}');
  }
  end(']');
  key("signatures");
  begin('[');
  for (uint32_t i = 0; i < model->signature_count; i++) dump_signature(model, i);
  end(']');
  end('}');
  putchar('\n');
}

int main(int argc, char **argv) {
  berth_host_map_t map;
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE];
  if (argc != 2) {
    fprintf(stderr, "usage: dump_model FILE\n");
    return 2;
  }
  if (berth_host_open_model(argv[1], &map, &model, message) != BERTH_OK) {
    fprintf(stderr, "%s: %s\n", argv[1], message);
    return 1;
  }
  dump_model(&model);
  berth_host_unmap(&map);
  return 0;
}
