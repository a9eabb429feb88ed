/* TILE and BROADCAST_TO: a tensor repeated along its dimensions.
 *
 * One strided copy in which every repeated dimension is two: the repetitions, with a source stride
 * of 0, and the dimension itself.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include "operators/strided.h"

typedef struct repeat {
  uint32_t rank;                 /* of the output; the input's shape is led by 1s */
  int32_t times[BERTH_RANK_MAX]; /* each dimension is there this often */
  int32_t dims[BERTH_RANK_MAX];  /* of the output */
} repeat_t;

static int32_t input_dim(const berth_value_t *input, uint32_t rank, uint32_t i) {
  return i < rank - input->rank ? 1 : input->dims[i - (rank - input->rank)];
}

static berth_status_t read_repeat(berth_call_t *call, repeat_t *repeat) {
  berth_value_t input = berth_input(call, 0), list = berth_input(call, 1);
  bool tile = call->op.code == BERTH_BUILTIN_TILE;
  if (!berth_shape_is_int(&list) || list.rank > 1 || list.elements > BERTH_RANK_MAX ||
      (tile ? list.elements != input.rank : list.elements < input.rank))
    return berth_refuse(call, "needs one integer for each dimension");
  repeat->rank = list.elements;
  for (uint32_t i = 0; i < repeat->rank; i++) {
    int64_t number = berth_shape_int(&list, i), dim = input_dim(&input, repeat->rank, i);
    if (number < 0 || number > INT32_MAX) return berth_refuse(call, "a number is out of range");
    if (!tile && dim != 1 && number != dim)
      return berth_refuse(call, "the shapes cannot be broadcast");
    int64_t times = tile ? number : dim == 1 ? number : 1;
    if (times * dim > INT32_MAX) return berth_refuse(call, "the output is too large");
    repeat->times[i] = (int32_t)times;
    repeat->dims[i] = (int32_t)(times * dim);
  }
  return BERTH_OK;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), list = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (!input.present || !list.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  if (!list.constant) return berth_set_unknown(call, 0);
  repeat_t repeat;
  berth_status_t status = read_repeat(call, &repeat);
  return status == BERTH_OK ? berth_set_shape(call, 0, repeat.rank, repeat.dims) : status;
}

static berth_status_t eval(berth_call_t *call) {
  repeat_t repeat;
  berth_status_t status = read_repeat(call, &repeat);
  if (status == BERTH_OK && !berth_input(call, 1).constant)
    status = berth_set_shape(call, 0, repeat.rank, repeat.dims);
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;

  uint32_t element = berth_element_bytes(input.type);
  berth_strided_t copy = {.rank = 2 * repeat.rank};
  ptrdiff_t stride = (ptrdiff_t)element;
  for (uint32_t i = repeat.rank; i-- > 0;) {
    copy.dims[2 * i] = (uint32_t)repeat.times[i];
    copy.dims[2 * i + 1] = (uint32_t)input_dim(&input, repeat.rank, i);
    copy.from[2 * i] = 0;
    copy.from[2 * i + 1] = stride;
    stride *= (ptrdiff_t)copy.dims[2 * i + 1];
  }
  berth_strided_contiguous(copy.dims, copy.rank, element, copy.to);
  berth_strided_copy(output.data, input.data, &copy, element);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_broadcast_to = {
    .code = BERTH_BUILTIN_BROADCAST_TO, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_tile = {
    .code = BERTH_BUILTIN_TILE, .prepare = prepare, .eval = eval};
