/* SELECT and SELECT_V2: elements of one tensor or another, as a third says. */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/shape.h"

/* SELECT may choose whole slices with a list of bools: it then counts as [n, 1, ..., 1]. */
static bool is_by_slices(const berth_call_t *call, const berth_value_t *inputs) {
  return call->op.code == BERTH_BUILTIN_SELECT && inputs[0].rank == 1 && inputs[1].rank > 1 &&
         inputs[0].dims[0] == inputs[1].dims[0];
}

static void read_inputs(const berth_call_t *call, berth_value_t *inputs) {
  for (uint32_t i = 0; i < 3; i++) inputs[i] = berth_input(call, i);
  if (!is_by_slices(call, inputs)) return;
  for (uint32_t d = 1; d < inputs[1].rank; d++) inputs[0].dims[d] = 1;
  inputs[0].rank = inputs[1].rank;
}

static berth_status_t prepare_select(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t inputs[3], output = berth_output(call, 0);
  read_inputs(call, inputs);
  if (!inputs[0].present || !inputs[1].present || !inputs[2].present || !output.present)
    return berth_refuse(call, "needs three inputs and an output");
  if (inputs[0].type != BERTH_TYPE_BOOL) return berth_refuse(call, "the condition must be bool");
  if (inputs[1].type != output.type || inputs[2].type != output.type)
    return berth_refuse(call, "the inputs' types differ");
  uint32_t element = berth_element_bytes(output.type);
  if (element != 1 && element != 2 && element != 4 && element != 8)
    return berth_refuse(call, "cannot take this type");
  if (call->op.code == BERTH_BUILTIN_SELECT && !berth_shape_equal(&inputs[1], &inputs[2]))
    return berth_refuse(call, "the inputs' shapes differ");
  berth_status_t status = berth_elementwise_prepare(call, contract, inputs, 3);
  if (is_by_slices(call, (berth_value_t[]){berth_input(call, 0), inputs[1]})) {
    contract->kind = BERTH_WHOLE;
    contract->ordered =
        false; /* the windows are those of a shape that the condition doesn't have */
  }
  return status;
}

#define SELECT_RUN(type)                                                                           \
  const uint8_t *condition = from[0];                                                              \
  const type *yes = from[1], *no = from[2];                                                        \
  type *result = to;                                                                               \
  (void)params;                                                                                    \
  BERTH_INDEPENDENT                                                                                \
  for (uint32_t i = 0; i < count; i++)                                                             \
    result[i] = condition[i * steps[0]] ? yes[i * steps[1]] : no[i * steps[2]];

BERTH_RUN(select_1, SELECT_RUN(uint8_t))
BERTH_RUN(select_2, SELECT_RUN(uint16_t))
BERTH_RUN(select_4, SELECT_RUN(uint32_t))
BERTH_RUN(select_8, SELECT_RUN(uint64_t))

static berth_status_t eval_select(berth_call_t *call) {
  berth_value_t inputs[3];
  read_inputs(call, inputs);
  uint32_t element = berth_element_bytes(inputs[1].type);
  berth_run_t run = element == 1   ? BERTH_RUN_FOR(call, select_1)
                    : element == 2 ? BERTH_RUN_FOR(call, select_2)
                    : element == 4 ? BERTH_RUN_FOR(call, select_4)
                                   : BERTH_RUN_FOR(call, select_8);
  berth_elementwise_eval(call, inputs, 3, run, NULL);
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_select = {
    .code = BERTH_BUILTIN_SELECT, .prepare = prepare_select, .eval = eval_select};
const berth_kernel_t berth_kernel_select_v2 = {
    .code = BERTH_BUILTIN_SELECT_V2, .prepare = prepare_select, .eval = eval_select};
