/* The table of stock kernels whose output may lie on an input, and why. */
#include "stock/overlap.h"

#define EACH "reads each element right before it writes the one in its place"
#define ROWS "reads a row for its maximum and sums, then each element right before writing it"

#define BOTH 3u /* inputs 0 and 1 */

static const berth_stock_overlap_t table[] = {
    {BERTH_BUILTIN_RESHAPE, 1, BERTH_VIEW_SAME, "does nothing if output and input are one address"},
    {BERTH_BUILTIN_EXPAND_DIMS, 1, BERTH_VIEW_SAME, "copies element by element, upwards"},
    {BERTH_BUILTIN_ADD, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_SUB, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_MUL, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_DIV, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_MAXIMUM, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_MINIMUM, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_SQUARED_DIFFERENCE, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_FLOOR_DIV, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_FLOOR_MOD, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_LOGICAL_AND, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_LOGICAL_OR, BOTH, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_LOGICAL_NOT, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_RELU, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_RELU6, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_LEAKY_RELU, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_PRELU, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_HARD_SWISH, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_LOGISTIC, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_TANH, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_ELU, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_ABS, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_NEG, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_SQRT, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_RSQRT, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_SQUARE, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_EXP, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_LOG, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_SIN, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_COS, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_FLOOR, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_CEIL, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_ROUND, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_QUANTIZE, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_CAST, 1, BERTH_VIEW_NONE, EACH},
    {BERTH_BUILTIN_SOFTMAX, 1, BERTH_VIEW_NONE, ROWS},
    {BERTH_BUILTIN_LOG_SOFTMAX, 1, BERTH_VIEW_NONE, ROWS},
    {BERTH_BUILTIN_L2_NORMALIZATION, 1, BERTH_VIEW_NONE, ROWS},
};

const berth_stock_overlap_t *berth_stock_overlap(berth_builtin_t code) {
  for (uint32_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].code == code) return &table[i];
  }
  return NULL;
}

/* Bytes and elements of both tensors alike. */
static bool is_same_size(const berth_tensor_t *a, const berth_tensor_t *b) {
  uint64_t a_bytes, b_bytes;
  return berth_tensor_type_bits(a->type) == berth_tensor_type_bits(b->type) &&
         berth_tensor_bytes(a->type, a->shape, &a_bytes) == BERTH_OK &&
         berth_tensor_bytes(b->type, b->shape, &b_bytes) == BERTH_OK && a_bytes == b_bytes;
}

berth_sharing_t berth_stock_sharing(const berth_model_t *model, uint32_t subgraph, uint32_t op) {
  berth_sharing_t none = {0, BERTH_VIEW_NONE};
  berth_operator_t what = berth_model_operator(model, subgraph, op);
  const berth_stock_overlap_t *entry = berth_stock_overlap(what.code);
  if (entry == NULL || what.outputs.count == 0) return none;
  int32_t to = berth_vector_int(what.outputs, 0);
  if (to == BERTH_NO_TENSOR) return none;
  berth_tensor_t output = berth_model_tensor(model, subgraph, (uint32_t)to);
  berth_sharing_t sharing = {0, entry->view};
  for (uint32_t i = 0; i < what.inputs.count && i < 32; i++) {
    int32_t from = berth_vector_int(what.inputs, i);
    if (!(entry->inputs >> i & 1u) || from == BERTH_NO_TENSOR) continue;
    berth_tensor_t input = berth_model_tensor(model, subgraph, (uint32_t)from);
    if (is_same_size(&input, &output)) sharing.in_place |= UINT32_C(1) << i;
  }
  if (!(sharing.in_place & 1u)) sharing.view = BERTH_VIEW_NONE;
  return sharing;
}
