/* LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT. */
#include "operators/elementwise.h"
#include "operators/kernels.h"

static berth_status_t prepare_logical(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[2];
  uint32_t count = call->op.code == BERTH_BUILTIN_LOGICAL_NOT ? 1 : 2;
  berth_status_t status = berth_elementwise_same_type(call, contract, inputs, count);
  if (status == BERTH_OK && inputs[0].type != BERTH_TYPE_BOOL)
    return berth_refuse(call, "takes bool only");
  return status;
}

BERTH_RUN(logical_and, BERTH_BINARY_RUN(uint8_t, uint8_t, (a != 0) & (b != 0)))
BERTH_RUN(logical_or, BERTH_BINARY_RUN(uint8_t, uint8_t, (a | b) != 0))
BERTH_RUN(logical_not, BERTH_UNARY_RUN(uint8_t, uint8_t, x == 0))

static berth_status_t eval_logical(berth_call_t *call) {
  bool unary = call->op.code == BERTH_BUILTIN_LOGICAL_NOT;
  berth_value_t inputs[2] = {berth_input(call, 0), berth_input(call, 1)};
  berth_run_t run = unary                                        ? BERTH_RUN_FOR(call, logical_not)
                    : call->op.code == BERTH_BUILTIN_LOGICAL_AND ? BERTH_RUN_FOR(call, logical_and)
                                                                 : BERTH_RUN_FOR(call, logical_or);
  berth_elementwise_eval(call, inputs, unary ? 1 : 2, run, NULL);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_logical_and = {
    .code = BERTH_BUILTIN_LOGICAL_AND, .prepare = prepare_logical, .eval = eval_logical};
const berth_kernel_t berth_kernel_logical_not = {
    .code = BERTH_BUILTIN_LOGICAL_NOT, .prepare = prepare_logical, .eval = eval_logical};
const berth_kernel_t berth_kernel_logical_or = {
    .code = BERTH_BUILTIN_LOGICAL_OR, .prepare = prepare_logical, .eval = eval_logical};
