/* The model as a whole: opening it, its buffers, metadata, signatures and subgraphs. Tensors and
 * operators have files of their own.
 *
 * Nothing is remembered but the position of the root table: each call walks there from the root, a
 * handful of loads, so that a berth_model_t costs a device no memory that grows with the model.
 */
#include "fields.h"
#include "model.h"
#include "verify.h"

berth_table_t berth_model_root(const berth_model_t *model) {
  uint32_t size = model->size < INT32_MAX ? (uint32_t)model->size : INT32_MAX;
  return (berth_table_t){model->data, model->root, size};
}

berth_table_t berth_model_subgraph_table(const berth_model_t *model, uint32_t subgraph) {
  return flat_element(berth_model_root(model), MODEL_SUBGRAPHS, subgraph);
}

berth_status_t berth_model_open(const void *data, uint64_t size, berth_model_t *model,
                                berth_model_error_t *error) {
  if (data == NULL || model == NULL || size > SIZE_MAX) return BERTH_ERROR_ARGUMENT;
  berth_table_t root;
  berth_model_error_t ignored;
  berth_status_t status = berth_model_verify(data, size, &root, error != NULL ? error : &ignored);
  if (status != BERTH_OK) return status;
  *model = (berth_model_t){
      .data = data,
      .size = size,
      .version = flat_u32(root, MODEL_VERSION, 0),
      .root = root.position,
      .subgraph_count = flat_vector(root, MODEL_SUBGRAPHS).count,
      .opcode_count = flat_vector(root, MODEL_OPERATOR_CODES).count,
      .buffer_count = flat_vector(root, MODEL_BUFFERS).count,
      .metadata_count = flat_vector(root, MODEL_METADATA).count,
      .signature_count = flat_vector(root, MODEL_SIGNATURES).count,
      .description = flat_text(root, MODEL_DESCRIPTION),
  };
  return BERTH_OK;
}

berth_bytes_t berth_model_buffer(const berth_model_t *model, uint32_t buffer) {
  return buffer_bytes(berth_model_root(model), buffer);
}

/* ---- Metadata ------------------------------------------------------------------------------- */

berth_metadata_t berth_model_metadata(const berth_model_t *model, uint32_t index) {
  berth_table_t entry = flat_element(berth_model_root(model), MODEL_METADATA, index);
  return (berth_metadata_t){flat_text(entry, METADATA_NAME), flat_u32(entry, METADATA_BUFFER, 0)};
}

/* Whether the text is exactly the NUL-terminated `name`. */
static bool is_named(berth_text_t text, const char *name) {
  for (uint32_t i = 0; i < text.length; i++)
    if (name[i] == 0 || name[i] != text.data[i]) return false;
  return name[text.length] == 0;
}

berth_bytes_t berth_model_metadata_named(const berth_model_t *model, const char *name) {
  for (uint32_t i = 0; i < model->metadata_count; i++) {
    berth_metadata_t entry = berth_model_metadata(model, i);
    if (is_named(entry.name, name)) return berth_model_buffer(model, entry.buffer);
  }
  return (berth_bytes_t){NULL, 0};
}

/* ---- Signatures ----------------------------------------------------------------------------- */

static berth_table_t signature_table(const berth_model_t *model, uint32_t index) {
  return flat_element(berth_model_root(model), MODEL_SIGNATURES, index);
}

berth_signature_t berth_model_signature(const berth_model_t *model, uint32_t index) {
  berth_table_t table = signature_table(model, index);
  return (berth_signature_t){
      .key = flat_text(table, SIGNATURE_KEY),
      .subgraph = flat_u32(table, SIGNATURE_SUBGRAPH, 0),
      .input_count = flat_vector(table, SIGNATURE_INPUTS).count,
      .output_count = flat_vector(table, SIGNATURE_OUTPUTS).count,
  };
}

static berth_text_t signature_entry(berth_table_t signature, uint32_t field, uint32_t index,
                                    uint32_t *tensor) {
  berth_table_t entry = flat_element(signature, field, index);
  *tensor = flat_u32(entry, MAP_TENSOR, 0);
  return flat_text(entry, MAP_NAME);
}

berth_text_t berth_model_signature_input(const berth_model_t *model, uint32_t signature,
                                         uint32_t index, uint32_t *tensor) {
  return signature_entry(signature_table(model, signature), SIGNATURE_INPUTS, index, tensor);
}

berth_text_t berth_model_signature_output(const berth_model_t *model, uint32_t signature,
                                          uint32_t index, uint32_t *tensor) {
  return signature_entry(signature_table(model, signature), SIGNATURE_OUTPUTS, index, tensor);
}

/* ---- Subgraphs ------------------------------------------------------------------------------ */

berth_subgraph_t berth_model_subgraph(const berth_model_t *model, uint32_t subgraph) {
  berth_table_t table = berth_model_subgraph_table(model, subgraph);
  return (berth_subgraph_t){
      .name = flat_text(table, SUBGRAPH_NAME),
      .inputs = flat_vector(table, SUBGRAPH_INPUTS),
      .outputs = flat_vector(table, SUBGRAPH_OUTPUTS),
      .tensor_count = flat_vector(table, SUBGRAPH_TENSORS).count,
      .operator_count = flat_vector(table, SUBGRAPH_OPERATORS).count,
  };
}
