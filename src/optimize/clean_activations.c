/* Fusing a standalone RELU, RELU6 or RELU_N1_TO_1 into the operator whose output it reads.
 *
 * Why the bits are the same: both clamp. In floats, the fused form clamps the very sum that would
 * have been stored. Quantized, the fused form clamps the rescaled sum to [zero point + 0 / scale,
 * ...] of its output and to the type's range; the standalone one clamps what was already clamped to
 * the type's range, to the same limits, provided that both its tensors have the same scale and zero
 * point (else it rescales, and rounds once more: then it stays).
 */
#include "optimize/cleanup.h"
#include "optimize/uses.h"

/* The field of the options that holds the fused activation, for operators of which every stock
 * kernel supports one; false for others. */
static bool activation_field(berth_builtin_t code, uint32_t *field) {
  switch (code) {
  case BERTH_BUILTIN_CONV_2D:
    *field = BERTH_CONV_2D_ACTIVATION;
    return true;
  case BERTH_BUILTIN_DEPTHWISE_CONV_2D:
    *field = BERTH_DEPTHWISE_CONV_2D_ACTIVATION;
    return true;
  case BERTH_BUILTIN_FULLY_CONNECTED:
    *field = BERTH_FULLY_CONNECTED_ACTIVATION;
    return true;
  case BERTH_BUILTIN_ADD:
    *field = BERTH_ADD_ACTIVATION;
    return true;
  case BERTH_BUILTIN_SUB:
    *field = BERTH_SUB_ACTIVATION;
    return true;
  case BERTH_BUILTIN_MUL:
    *field = BERTH_MUL_ACTIVATION;
    return true;
  case BERTH_BUILTIN_AVERAGE_POOL_2D:
  case BERTH_BUILTIN_MAX_POOL_2D:
    *field = BERTH_POOL_2D_ACTIVATION;
    return true;
  default:
    return false;
  }
}

static uint8_t activation_of(berth_builtin_t code) {
  switch (code) {
  case BERTH_BUILTIN_RELU:
    return BERTH_ACTIVATION_RELU;
  case BERTH_BUILTIN_RELU6:
    return BERTH_ACTIVATION_RELU6;
  case BERTH_BUILTIN_RELU_N1_TO_1:
    return BERTH_ACTIVATION_RELU_N1_TO_1;
  default:
    return BERTH_ACTIVATION_NONE;
  }
}

static bool fuse(berth_edit_t *edit, uint32_t s, uint32_t op, const berth_use_t *uses) {
  berth_edit_subgraph_t *subgraph = &edit->subgraphs[s];
  const berth_edit_operator_t *relu = &subgraph->operators[op];
  uint8_t activation = activation_of(berth_edit_operator(edit, s, op).code);
  if (activation == BERTH_ACTIVATION_NONE) return false;
  if (relu->inputs.count != 1 || relu->outputs.count != 1) return false;
  int32_t input = relu->inputs.values[0], output = relu->outputs.values[0];
  if (input < 0 || output < 0 || !berth_use_is_private(&uses[input])) return false;
  berth_tensor_t from = berth_edit_tensor(edit, s, (uint32_t)input);
  berth_tensor_t to = berth_edit_tensor(edit, s, (uint32_t)output);
  bool known = from.type == BERTH_TYPE_FLOAT32 || from.type == BERTH_TYPE_INT8 ||
               from.type == BERTH_TYPE_UINT8;
  if (!known || !berth_same_numbers(&from, &to)) return false;
  uint32_t field, before = uses[input].producer;
  berth_edit_operator_t *producer = &subgraph->operators[before];
  berth_builtin_t code = berth_edit_operator(edit, s, before).code;
  if (producer->outputs.count != 1 || !activation_field(code, &field)) return false;
  if (berth_edit_option(edit, s, before, field, 0) != BERTH_ACTIVATION_NONE) return false;
  if (!berth_edit_set_option(edit, s, before, field, activation)) return false;
  producer->outputs.values[0] = output;
  berth_edit_drop_operator(edit, s, op);
  return true;
}

berth_status_t berth_clean_activations(berth_edit_t *edit, uint32_t *count) {
  return berth_clean_operators(edit, fuse, count);
}
