/* Folding a MUL or ADD with a constant per channel (what is left of a batch normalization) into the
 * float convolution before it: its weights and bias take the constant in.
 *
 *   (sum w x + b) m  =  sum (w m) x + b m          (sum w x + b) + a  =  sum w x + (b + a)
 *
 * holds for real numbers; floats round at other places. So this is no clean-up: it is done only on
 * request, and the proof then says how large the difference is. Integers are left alone: their
 * scales would have to change, too.
 */
#include "model/flatbuffer.h"
#include "optimize/cleanup.h"
#include "optimize/uses.h"

#include <stdlib.h>

/* A convolution and the operator behind it. */
typedef struct match {
  uint32_t conv, next; /* operators */
  uint32_t factor;     /* the constant tensor */
  uint32_t channels;
  uint32_t activation_field; /* of the convolution */
  bool multiplies;           /* else it adds */
  bool depthwise;
} match_t;

static bool is_float_constant(const berth_edit_t *edit, uint32_t s, int32_t tensor,
                              const berth_use_t *uses) {
  if (tensor < 0 || !uses[tensor].constant || uses[tensor].variable) return false;
  berth_tensor_t info = berth_edit_tensor(edit, s, (uint32_t)tensor);
  return info.type == BERTH_TYPE_FLOAT32 && !info.is_sparse &&
         berth_edit_data(edit, s, (uint32_t)tensor).size > 0;
}

static uint64_t elements(berth_vector_t shape) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < shape.count; i++) count *= (uint32_t)berth_vector_int(shape, i);
  return count;
}

/* One number for each channel, and nothing else: only the last dimension is not 1. */
static bool is_per_channel(const berth_edit_t *edit, uint32_t s, uint32_t tensor,
                           uint32_t channels) {
  berth_vector_t shape = berth_edit_tensor(edit, s, tensor).shape;
  return shape.count >= 1 && (uint32_t)berth_vector_int(shape, shape.count - 1) == channels &&
         elements(shape) == channels &&
         berth_edit_data(edit, s, tensor).size == 4 * (uint64_t)channels;
}

/* Is weight or bias `tensor` a constant of this operator alone? */
static bool is_own(const berth_edit_t *edit, uint32_t s, int32_t tensor, const berth_use_t *uses) {
  return is_float_constant(edit, s, tensor, uses) && uses[tensor].readings == 1 &&
         !uses[tensor].output && !uses[tensor].input;
}

static bool find(const berth_edit_t *edit, uint32_t s, uint32_t op, const berth_use_t *uses,
                 match_t *match) {
  const berth_edit_operator_t *next = &edit->subgraphs[s].operators[op];
  berth_builtin_t code = berth_edit_operator(edit, s, op).code;
  if (code != BERTH_BUILTIN_MUL && code != BERTH_BUILTIN_ADD) return false;
  if (next->inputs.count != 2 || next->outputs.count != 1 || next->outputs.values[0] < 0) {
    return false;
  }
  uint32_t side = is_float_constant(edit, s, next->inputs.values[1], uses) ? 1 : 0;
  int32_t factor = next->inputs.values[side], value = next->inputs.values[1 - side];
  if (!is_float_constant(edit, s, factor, uses) || value < 0) return false;
  if (!berth_use_is_private(&uses[value])) return false;
  uint32_t before = uses[value].producer;
  const berth_edit_operator_t *conv = &edit->subgraphs[s].operators[before];
  berth_builtin_t kind = berth_edit_operator(edit, s, before).code;
  bool depthwise = kind == BERTH_BUILTIN_DEPTHWISE_CONV_2D;
  if (!depthwise && kind != BERTH_BUILTIN_CONV_2D) return false;
  if (conv->inputs.count != 3 || conv->outputs.count != 1) return false;
  if (!is_own(edit, s, conv->inputs.values[1], uses) ||
      !is_own(edit, s, conv->inputs.values[2], uses)) {
    return false;
  }
  berth_vector_t filter = berth_edit_tensor(edit, s, (uint32_t)conv->inputs.values[1]).shape;
  if (filter.count != 4) return false;
  *match = (match_t){.conv = before,
                     .next = op,
                     .factor = (uint32_t)factor,
                     .channels = (uint32_t)berth_vector_int(filter, depthwise ? 3 : 0),
                     .activation_field = depthwise ? (uint32_t)BERTH_DEPTHWISE_CONV_2D_ACTIVATION
                                                   : (uint32_t)BERTH_CONV_2D_ACTIVATION,
                     .multiplies = code == BERTH_BUILTIN_MUL,
                     .depthwise = depthwise};
  berth_tensor_t from = berth_edit_tensor(edit, s, (uint32_t)value);
  berth_tensor_t to = berth_edit_tensor(edit, s, (uint32_t)next->outputs.values[0]);
  return match->channels > 0 && elements(filter) % match->channels == 0 &&
         is_per_channel(edit, s, match->factor, match->channels) &&
         is_per_channel(edit, s, (uint32_t)conv->inputs.values[2], match->channels) &&
         elements(from.shape) == elements(to.shape) && from.shape.count == to.shape.count &&
         berth_edit_data(edit, s, (uint32_t)conv->inputs.values[1]).size == 4 * elements(filter) &&
         berth_edit_option(edit, s, before, match->activation_field, 0) == BERTH_ACTIVATION_NONE;
}

static void store_float(uint8_t *at, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (uint32_t i = 0; i < 4; i++) at[i] = (uint8_t)(bits >> 8 * i);
}

/* Gives the tensor other bytes: each number times or plus its channel's. `inner`: how many numbers
 * in a row belong to one channel. */
static berth_status_t rescale(berth_edit_t *edit, uint32_t s, uint32_t tensor, const match_t *match,
                              uint64_t inner) {
  berth_bytes_t data = berth_edit_data(edit, s, tensor);
  berth_bytes_t factor = berth_edit_data(edit, s, match->factor);
  uint8_t *bytes = malloc((size_t)data.size);
  if (bytes == NULL) return BERTH_ERROR_MEMORY;
  for (uint64_t i = 0; i < data.size / 4; i++) {
    float x = flat_load_float(data.data + 4 * i);
    float y = flat_load_float(factor.data + 4 * (i / inner % match->channels));
    store_float(bytes + 4 * i, match->multiplies ? x * y : x + y);
  }
  berth_status_t status =
      berth_edit_add_buffer(edit, bytes, data.size, &edit->subgraphs[s].tensors[tensor].buffer);
  free(bytes);
  return status;
}

static berth_status_t fold(berth_edit_t *edit, uint32_t s, const match_t *match, bool *done) {
  berth_edit_operator_t *conv = &edit->subgraphs[s].operators[match->conv];
  const berth_edit_operator_t *next = &edit->subgraphs[s].operators[match->next];
  uint32_t weights = (uint32_t)conv->inputs.values[1], bias = (uint32_t)conv->inputs.values[2];
  uint32_t field =
      match->multiplies ? (uint32_t)BERTH_MUL_ACTIVATION : (uint32_t)BERTH_ADD_ACTIVATION;
  int32_t activation = berth_edit_option(edit, s, match->next, field, 0);
  *done = berth_edit_set_option(edit, s, match->conv, match->activation_field, (uint8_t)activation);
  if (!*done) return BERTH_OK;
  berth_status_t status = rescale(edit, s, bias, match, 1);
  if (status == BERTH_OK && match->multiplies) {
    uint64_t all = elements(berth_edit_tensor(edit, s, weights).shape);
    status = rescale(edit, s, weights, match, match->depthwise ? 1 : all / match->channels);
  }
  if (status != BERTH_OK) return status;
  conv->outputs.values[0] = next->outputs.values[0];
  berth_edit_drop_operator(edit, s, match->next);
  return BERTH_OK;
}

berth_status_t berth_fold_scales(berth_edit_t *edit, uint32_t *count) {
  if (berth_numbers_operators(edit->model)) return BERTH_OK;
  for (uint32_t s = 0; s < edit->model->subgraph_count; s++) {
    bool changed = true;
    while (changed) {
      berth_use_t *uses;
      match_t match;
      berth_status_t status = berth_uses_find(edit, s, &uses);
      if (status != BERTH_OK) return status;
      changed = false;
      bool found = false;
      for (uint32_t op = 0; op < edit->subgraphs[s].operator_count && !found; op++) {
        found = find(edit, s, op, uses, &match);
      }
      free(uses);
      if (found) status = fold(edit, s, &match, &changed);
      if (status != BERTH_OK) return status;
      if (changed) (*count)++;
    }
  }
  return BERTH_OK;
}
