/* CONV_2D for int8 and uint8: a matrix product of 8-bit rows.
 *
 * The reference skips taps in the padding; here they are the input's zero point and add nothing.
 */
#include "operators/conv.h"
#include "operators/matmul_int8.h"

/* Scratch: factors (where patches are gathered, hence many small products), patches. */
enum { FACTORS, PATCHES };

berth_status_t berth_conv_int8_prepare(berth_call_t *call, const berth_conv_t *conv,
                                       berth_contract_t *contract) {
  if (conv->bias.present && conv->bias.type != BERTH_TYPE_INT32) {
    return berth_refuse(call, "needs an int32 bias");
  }
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  if (is_unsigned && berth_rescale_is_per_channel(&conv->filter)) {
    return berth_refuse(call, "takes uint8 with one filter scale only");
  }
  berth_status_t status =
      berth_rescale_check(call, &conv->input, &conv->filter, &conv->output, conv->output_c, 0);
  if (status != BERTH_OK) return status;
  contract->scratch[PATCHES] = berth_conv_patch_bytes(conv, 1);
  berth_rescale_place(call, conv->filter.scales.count, contract->scratch[PATCHES] != 0,
                      &contract->workspace, &contract->scratch[FACTORS]);
  return BERTH_OK;
}

static berth_rescale_t rescale_of(const berth_conv_t *conv) {
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  berth_rescale_t rescale =
      berth_rescale_read(&conv->input, &conv->filter, &conv->output, conv->activation, is_unsigned);
  rescale.once = is_unsigned;
  return rescale;
}

berth_status_t berth_conv_int8_init(berth_call_t *call, const berth_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_init(call, &rescale, conv->output_c);
  return BERTH_OK;
}

typedef struct context {
  berth_matmul_int8_t matmul;
  uint32_t cpu;
} context_t;

static void product(const void *context, uint32_t group, const uint8_t *in, size_t in_step,
                    uint8_t *out, size_t out_step, uint32_t count) {
  const context_t *c = context;
  berth_matmul_int8(&c->matmul, c->cpu, group, in, in_step, out, out_step, count);
}

berth_status_t berth_conv_int8_eval(berth_call_t *call, const berth_conv_t *conv) {
  bool is_unsigned = conv->input.type == BERTH_TYPE_UINT8;
  context_t context = {
      .matmul = {.filter = conv->filter.data,
                 .bias = conv->bias.data,
                 .depth = conv->filter_h * conv->filter_w * conv->filter_c,
                 .channels = conv->output_c / conv->groups,
                 .is_unsigned = is_unsigned,
                 .input_zero = conv->input.zero_point,
                 .filter_zero = is_unsigned ? conv->filter.zero_point : 0,
                 .rescale = rescale_of(conv)},
      .cpu = call->cpu,
  };
  berth_rescale_use(call, &context.matmul.rescale, conv->output_c,
                    berth_conv_patch_bytes(conv, 1) != 0 ? call->scratch[FACTORS] : NULL);
  berth_conv_run(call, conv, 1, 1, (uint8_t)conv->input.zero_point, call->scratch[PATCHES], product,
                 &context);
  return BERTH_OK;
}
