/* BATCH_MATMUL: products of the matrices in the last two dimensions, each perhaps transposed; the
 * other dimensions broadcast. float32, and int8 with TFLM's rounding.
 *
 * Sums run along the inner dimension in order. The columns of a block are summed up side by side on
 * the stack, so that the innermost loop runs along rows of the right matrix where it isn't
 * transposed.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

#define BLOCK 64u /* columns at a time */

typedef struct product {
  uint32_t rank, rows, inner, columns;
  int32_t dims[BERTH_RANK_MAX];
  size_t left_row, left_inner; /* elements from one to the next */
  size_t right_inner, right_column;
} product_t;

static berth_status_t read_product(berth_call_t *call, const berth_value_t *left,
                                   const berth_value_t *right, product_t *p) {
  if (left->rank < 2 || right->rank < 2) return berth_refuse(call, "takes matrices only");
  bool turn_left = berth_option_byte(call->op.options, BERTH_BATCH_MATMUL_ADJ_X, 0) != 0;
  bool turn_right = berth_option_byte(call->op.options, BERTH_BATCH_MATMUL_ADJ_Y, 0) != 0;
  const int32_t *l = left->dims + left->rank - 2, *r = right->dims + right->rank - 2;
  *p = (product_t){.rows = (uint32_t)l[turn_left ? 1 : 0],
                   .inner = (uint32_t)l[turn_left ? 0 : 1],
                   .columns = (uint32_t)r[turn_right ? 0 : 1],
                   .left_row = turn_left ? 1 : (size_t)l[1],
                   .left_inner = turn_left ? (size_t)l[1] : 1,
                   .right_inner = turn_right ? 1 : (size_t)r[1],
                   .right_column = turn_right ? (size_t)r[1] : 1};
  if ((uint32_t)r[turn_right ? 1 : 0] != p->inner)
    return berth_refuse(call, "the inner dimensions differ");
  berth_value_t outer[2] = {*left, *right};
  outer[0].rank -= 2;
  outer[1].rank -= 2;
  if (!berth_broadcast(outer, 2, &p->rank, p->dims))
    return berth_refuse(call, "the shapes cannot be broadcast");
  p->dims[p->rank++] = (int32_t)p->rows;
  p->dims[p->rank++] = (int32_t)p->columns;
  return BERTH_OK;
}

static berth_multiplier_t factor_of(const berth_value_t *left, const berth_value_t *right,
                                    const berth_value_t *output) {
  return berth_quantize_multiplier((double)(left->scale * right->scale) / (double)output->scale);
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t left = berth_input(call, 0), right = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (!left.present || !right.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (left.type != output.type || right.type != output.type ||
      (output.type != BERTH_TYPE_FLOAT32 && output.type != BERTH_TYPE_INT8))
    return berth_refuse(call, "takes float32 or int8 throughout only");
  if (output.type == BERTH_TYPE_INT8) {
    if (!berth_has_scale(&left) || !berth_has_scale(&right) || !berth_has_scale(&output))
      return berth_refuse(call, "needs scales and zero points");
    if (!berth_is_usable(factor_of(&left, &right, &output)))
      return berth_refuse(call, "the output's scale is too small");
  }
  product_t p;
  berth_status_t status = read_product(call, &left, &right, &p);
  if (status != BERTH_OK) return status;
  if (output.type == BERTH_TYPE_INT8 && p.inner > 1 << 15)
    return berth_refuse(call, "the inner dimension is too long");
  return berth_set_shape(call, 0, p.rank, p.dims);
}

/* Which matrix of a value belongs to matrix `index` of the output. */
static size_t matrix_of(const berth_value_t *value, const product_t *p, uint32_t index) {
  size_t at = 0, stride = 1;
  uint32_t outer = p->rank - 2, own = value->rank - 2;
  for (uint32_t d = outer; d-- > 0;) {
    uint32_t position = index % (uint32_t)p->dims[d];
    index /= (uint32_t)p->dims[d];
    if (d + own < outer) continue;
    uint32_t size = (uint32_t)value->dims[d + own - outer];
    at += (size == 1 ? 0 : position) * stride;
    stride *= size;
  }
  return at;
}

static void multiply_float(const product_t *p, const uint8_t *left, const uint8_t *right,
                           float *to) {
  for (uint32_t row = 0; row < p->rows; row++, to += p->columns)
    for (uint32_t first = 0; first < p->columns; first += BLOCK) {
      uint32_t count = p->columns - first < BLOCK ? p->columns - first : BLOCK;
      float sums[BLOCK] = {0};
      for (uint32_t k = 0; k < p->inner; k++) {
        float a = berth_load_float(left, row * p->left_row + k * p->left_inner);
        size_t at = k * p->right_inner + first * p->right_column;
        for (uint32_t i = 0; i < count; i++)
          sums[i] += a * berth_load_float(right, at + i * p->right_column);
      }
      memcpy(to + first, sums, count * sizeof *sums);
    }
}

static void multiply_int8(const product_t *p, const berth_value_t *values, const int8_t *left,
                          const int8_t *right, int8_t *to) {
  berth_multiplier_t factor = factor_of(&values[0], &values[1], &values[2]);
  int32_t left_zero = values[0].zero_point, right_zero = values[1].zero_point;
  for (uint32_t row = 0; row < p->rows; row++, to += p->columns)
    for (uint32_t first = 0; first < p->columns; first += BLOCK) {
      uint32_t count = p->columns - first < BLOCK ? p->columns - first : BLOCK;
      int32_t sums[BLOCK] = {0};
      for (uint32_t k = 0; k < p->inner; k++) {
        int32_t a = left[row * p->left_row + k * p->left_inner] - left_zero;
        const int8_t *line = right + k * p->right_inner + first * p->right_column;
        for (uint32_t i = 0; i < count; i++)
          sums[i] += a * (line[i * p->right_column] - right_zero);
      }
      for (uint32_t i = 0; i < count; i++) {
        int64_t moved = (int64_t)berth_multiply(sums[i], factor) + values[2].zero_point;
        to[first + i] = (int8_t)(moved < INT8_MIN ? INT8_MIN : moved > INT8_MAX ? INT8_MAX : moved);
      }
    }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t values[3] = {berth_input(call, 0), berth_input(call, 1), berth_output(call, 0)};
  product_t p;
  berth_status_t status = read_product(call, &values[0], &values[1], &p);
  if (status != BERTH_OK || values[2].bytes == 0) return status;
  size_t element = berth_element_bytes(values[2].type);
  size_t left_size = (size_t)p.rows * p.inner * element;
  size_t right_size = (size_t)p.inner * p.columns * element;
  size_t size = (size_t)p.rows * p.columns * element;
  for (uint32_t i = 0; i < values[2].bytes / size; i++) {
    const uint8_t *left = values[0].data + matrix_of(&values[0], &p, i) * left_size;
    const uint8_t *right = values[1].data + matrix_of(&values[1], &p, i) * right_size;
    uint8_t *to = values[2].data + i * size;
    if (values[2].type == BERTH_TYPE_FLOAT32)
      multiply_float(&p, left, right, (float *)(void *)to);
    else
      multiply_int8(&p, values, (const int8_t *)left, (const int8_t *)right, (int8_t *)to);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_batch_matmul = {
    .code = BERTH_BUILTIN_BATCH_MATMUL, .prepare = prepare, .eval = eval};
