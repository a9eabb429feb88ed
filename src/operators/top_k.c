/* TOPK_V2: the k largest elements of each line along the last dimension, and where they were.
 *
 * Equal elements keep their order. By insertion into the result: O(n k) in the worst case, O(n)
 * once the result holds large elements.
 */
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

static berth_status_t read_k(berth_call_t *call, const berth_value_t *input, int32_t *dims) {
  berth_value_t k = berth_input(call, 1);
  if (!berth_shape_is_int(&k) || k.elements != 1)
    return berth_refuse(call, "k must be one integer");
  int64_t number = berth_shape_int(&k, 0);
  if (number < 0 || number > input->dims[input->rank - 1])
    return berth_refuse(call, "k is out of range");
  memcpy(dims, input->dims, input->rank * sizeof *dims);
  dims[input->rank - 1] = (int32_t)number;
  return BERTH_OK;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), k = berth_input(call, 1);
  berth_value_t values = berth_output(call, 0), indices = berth_output(call, 1);
  if (!input.present || !k.present || !values.present || !indices.present)
    return berth_refuse(call, "needs two inputs and two outputs");
  if (input.type != values.type || indices.type != BERTH_TYPE_INT32)
    return berth_refuse(call, "gives the input's type, and int32 only");
  if (input.type != BERTH_TYPE_FLOAT32 && input.type != BERTH_TYPE_INT32 &&
      !berth_is_quantized_type(input.type))
    return berth_refuse(call, "cannot take this type");
  if (input.rank == 0) return berth_refuse(call, "takes no scalar");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  if (!k.constant) {
    berth_status_t status = berth_set_unknown(call, 0);
    return status == BERTH_OK ? berth_set_unknown(call, 1) : status;
  }
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_k(call, &input, dims);
  if (status == BERTH_OK) status = berth_set_shape(call, 0, input.rank, dims);
  return status == BERTH_OK ? berth_set_shape(call, 1, input.rank, dims) : status;
}

#define DEFINE_LINE(name, type)                                                                    \
  static void line_##name(const void *from, void *to, int32_t *where, uint32_t length,             \
                          uint32_t k) {                                                            \
    const type *x = from;                                                                          \
    type *best = to;                                                                               \
    uint32_t count = 0;                                                                            \
    for (uint32_t i = 0; i < length; i++) {                                                        \
      if (count == k && !(x[i] > best[k - 1])) continue;                                           \
      uint32_t at = count < k ? count++ : k - 1;                                                   \
      for (; at > 0 && x[i] > best[at - 1]; at--) {                                                \
        best[at] = best[at - 1];                                                                   \
        where[at] = where[at - 1];                                                                 \
      }                                                                                            \
      best[at] = x[i];                                                                             \
      where[at] = (int32_t)i;                                                                      \
    }                                                                                              \
  }

DEFINE_LINE(float, float)
DEFINE_LINE(int8, int8_t)
DEFINE_LINE(uint8, uint8_t)
DEFINE_LINE(int16, int16_t)
DEFINE_LINE(int32, int32_t)

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0);
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_k(call, &input, dims);
  if (status == BERTH_OK && !berth_input(call, 1).constant) {
    status = berth_set_shape(call, 0, input.rank, dims);
    if (status == BERTH_OK) status = berth_set_shape(call, 1, input.rank, dims);
  }
  berth_value_t values = berth_output(call, 0), indices = berth_output(call, 1);
  if (status != BERTH_OK || values.bytes == 0) return status;
  void (*line)(const void *, void *, int32_t *, uint32_t, uint32_t) =
      input.type == BERTH_TYPE_INT8    ? line_int8
      : input.type == BERTH_TYPE_UINT8 ? line_uint8
      : input.type == BERTH_TYPE_INT16 ? line_int16
      : input.type == BERTH_TYPE_INT32 ? line_int32
                                       : line_float;
  uint32_t length = (uint32_t)input.dims[input.rank - 1], k = (uint32_t)dims[input.rank - 1];
  size_t element = berth_element_bytes(input.type);
  int32_t *where = (int32_t *)(void *)indices.data;
  for (uint32_t n = 0; n < input.elements / length; n++)
    line(input.data + n * length * element, values.data + n * k * element, where + (size_t)n * k,
         length, k);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_topk_v2 = {
    .code = BERTH_BUILTIN_TOPK_V2, .prepare = prepare, .eval = eval};
