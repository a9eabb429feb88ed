/* MINIMUM and MAXIMUM. Quantized inputs and output have the same scale (as stock runtimes demand),
 * so that the numbers themselves are compared. */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[2];
  berth_status_t status = berth_elementwise_same_type(call, contract, inputs, 2);
  if (status != BERTH_OK) return status;
  berth_tensor_type_t type = berth_output(call, 0).type;
  if (!berth_is_quantized_type(type) && type != BERTH_TYPE_FLOAT32 && type != BERTH_TYPE_INT32 &&
      type != BERTH_TYPE_INT64)
    return berth_refuse(call, "cannot take this type");
  return BERTH_OK;
}

#define BOTH(type, name)                                                                           \
  BERTH_RUN(min_##name, BERTH_BINARY_RUN(type, type, a < b ? a : b))                               \
  BERTH_RUN(max_##name, BERTH_BINARY_RUN(type, type, a > b ? a : b))

BOTH(float, float)
BOTH(int8_t, int8)
BOTH(uint8_t, uint8)
BOTH(int16_t, int16)
BOTH(int32_t, int32)
BOTH(int64_t, int64)

#define PICK(call, type)                                                                           \
  (call->op.code == BERTH_BUILTIN_MINIMUM ? BERTH_RUN_FOR(call, min_##type)                        \
                                          : BERTH_RUN_FOR(call, max_##type))

static berth_status_t eval(berth_call_t *call) {
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_tensor_type_t type = berth_output(call, 0).type;
  berth_run_t run = type == BERTH_TYPE_INT8    ? PICK(call, int8)
                    : type == BERTH_TYPE_UINT8 ? PICK(call, uint8)
                    : type == BERTH_TYPE_INT16 ? PICK(call, int16)
                    : type == BERTH_TYPE_INT32 ? PICK(call, int32)
                    : type == BERTH_TYPE_INT64 ? PICK(call, int64)
                                               : PICK(call, float);
  berth_elementwise_eval(call, inputs, 2, run, NULL);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_maximum = {
    .code = BERTH_BUILTIN_MAXIMUM, .float16_inputs = 3, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_minimum = {
    .code = BERTH_BUILTIN_MINIMUM, .float16_inputs = 3, .prepare = prepare, .eval = eval};
