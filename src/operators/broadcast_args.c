/* BROADCAST_ARGS: the shape that two shapes broadcast to, as numbers. */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t a = berth_input(call, 0), b = berth_input(call, 1), output = berth_output(call, 0);
  if (!a.present || !b.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (!berth_shape_is_int(&output) || a.type != output.type || b.type != output.type)
    return berth_refuse(call, "takes integers of one type only");
  if (a.rank != 1 || b.rank != 1) return berth_refuse(call, "needs two lists");
  int32_t count = (int32_t)(a.elements > b.elements ? a.elements : b.elements);
  return berth_set_shape(call, 0, 1, &count);
}

/* Number `i` of a list that is as long as `count` with 1s in front. */
static int64_t dim_at(const berth_value_t *list, uint32_t count, uint32_t i) {
  uint32_t added = count - list->elements;
  return i < added ? 1 : berth_shape_int(list, i - added);
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t a = berth_input(call, 0), b = berth_input(call, 1), output = berth_output(call, 0);
  for (uint32_t i = 0; i < output.elements; i++) {
    int64_t left = dim_at(&a, output.elements, i), right = dim_at(&b, output.elements, i);
    if (left != right && left != 1 && right != 1)
      return berth_refuse(call, "the shapes cannot be broadcast");
    int64_t dim = left == 1 ? right : left;
    int32_t narrow = (int32_t)dim;
    if (output.type == BERTH_TYPE_INT64)
      memcpy(output.data + i * sizeof dim, &dim, sizeof dim);
    else
      memcpy(output.data + i * sizeof narrow, &narrow, sizeof narrow);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_broadcast_args = {
    .code = BERTH_BUILTIN_BROADCAST_ARGS, .prepare = prepare, .eval = eval};
