/* CONV_2D: the kernel, which picks a variant by the types of its tensors. */
#include "operators/conv.h"
#include "operators/kernels.h"

static const berth_conv_variant_t variants[] = {
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32, berth_conv_float_prepare, NULL,
     berth_conv_float_eval},
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT16, BERTH_TYPE_FLOAT32, berth_conv_float_prepare, NULL,
     berth_conv_float_eval},
    {BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8, BERTH_TYPE_FLOAT32, berth_conv_hybrid_prepare, NULL,
     berth_conv_hybrid_eval},
    {BERTH_TYPE_INT8, BERTH_TYPE_INT8, BERTH_TYPE_INT8, berth_conv_int8_prepare,
     berth_conv_int8_init, berth_conv_int8_eval},
    {BERTH_TYPE_UINT8, BERTH_TYPE_UINT8, BERTH_TYPE_UINT8, berth_conv_int8_prepare,
     berth_conv_int8_init, berth_conv_int8_eval},
    {BERTH_TYPE_INT16, BERTH_TYPE_INT8, BERTH_TYPE_INT16, berth_conv_int16_prepare,
     berth_conv_int16_init, berth_conv_int16_eval},
    {.prepare = NULL},
};

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  return berth_conv_prepare(call, contract, false, variants);
}

static berth_status_t init(berth_call_t *call) {
  return berth_conv_init(call, false, variants);
}

static berth_status_t eval(berth_call_t *call) {
  return berth_conv_eval(call, false, variants);
}

const berth_kernel_t berth_kernel_conv_2d = {.code = BERTH_BUILTIN_CONV_2D,
                                             .float16_inputs = 0x6,
                                             .prepare = prepare,
                                             .init = init,
                                             .eval = eval};
