/* Operators of an open model: what they are and which tensors they touch. */
#include "fields.h"
#include "model.h"
#include "names.h"

/* The builtin options in use: the second union exists because the first one is full. */
static berth_table_t options_table(berth_table_t op, uint32_t *type) {
  uint32_t second = (uint8_t)flat_byte(op, OPERATOR_OPTIONS_2_TYPE, 0);
  berth_table_t options = flat_child(op, OPERATOR_OPTIONS_2);
  if (second != 0 && options.position != 0) {
    *type = BERTH_OPTIONS_2 + second;
    return options;
  }
  *type = (uint8_t)flat_byte(op, OPERATOR_OPTIONS_TYPE, 0);
  return *type == 0 ? flat_table_at(op, 0) : flat_child(op, OPERATOR_OPTIONS);
}

berth_operator_t berth_model_operator(const berth_model_t *model, uint32_t subgraph, uint32_t op) {
  berth_table_t table =
      flat_element(berth_model_subgraph_table(model, subgraph), SUBGRAPH_OPERATORS, op);
  uint32_t opcode = flat_u32(table, OPERATOR_CODE_INDEX, 0);
  berth_table_t code = flat_element(berth_model_root(model), MODEL_OPERATOR_CODES, opcode);
  berth_operator_t result = {
      .opcode = opcode,
      .code = (berth_builtin_t)builtin_code(code),
      .version = flat_int(code, CODE_VERSION, 1),
      .custom_name = flat_text(code, CODE_CUSTOM_NAME),
      .inputs = flat_vector(table, OPERATOR_INPUTS),
      .outputs = flat_vector(table, OPERATOR_OUTPUTS),
      .intermediates = flat_vector(table, OPERATOR_INTERMEDIATES),
      .custom_options = flat_bytes(table, OPERATOR_CUSTOM_OPTIONS),
  };
  result.options = options_table(table, &result.options_type);
  if (result.custom_options.size == 0)
    result.custom_options =
        outside_bytes(table, OPERATOR_LARGE_OPTIONS_OFFSET, OPERATOR_LARGE_OPTIONS_SIZE);
  return result;
}

berth_text_t berth_operator_name(const berth_operator_t *op) {
  return op->code == BERTH_BUILTIN_CUSTOM ? op->custom_name : berth_model_builtin_text(op->code);
}
