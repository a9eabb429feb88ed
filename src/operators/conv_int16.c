/* CONV_2D for int16 activations and int8 weights: a matrix product of int16 rows. With an int64
 * bias sums have 64 bits; without a bias or with an int32 one the reference sums in 32 bits and
 * rescales as for int8. */
#include "operators/conv.h"
#include "operators/matmul_int16.h"

berth_status_t berth_conv_int16_prepare(berth_call_t *call, const berth_conv_t *conv,
                                        berth_contract_t *contract) {
  berth_status_t status =
      berth_rescale_check(call, &conv->input, &conv->filter, &conv->output, conv->output_c, 0);
  if (status != BERTH_OK) return status;
  status = berth_int16_check(call, &conv->input, &conv->filter, &conv->bias, &conv->output, true);
  if (status != BERTH_OK) return status;
  berth_rescale_place(call, conv->filter.scales.count, &contract->workspace);
  berth_conv_wish(conv, sizeof(int16_t), berth_rescale_bytes(call, conv->filter.scales.count),
                  contract);
  return BERTH_OK;
}

static berth_rescale_t rescale_of(const berth_conv_t *conv) {
  return berth_rescale_read(&conv->input, &conv->filter, &conv->output, conv->activation, false);
}

berth_status_t berth_conv_int16_init(berth_call_t *call, const berth_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_init(call, &rescale, conv->output_c);
  return BERTH_OK;
}

static void product(const void *context, uint32_t group, const uint8_t *in, size_t in_step,
                    uint8_t *out, size_t out_step, uint32_t count) {
  berth_matmul_int16(context, group, in, in_step, out, out_step, count);
}

/* Where there is no room even for one pixel's inputs: tap by tap. */
typedef struct sum {
  const berth_matmul_int16_t *matmul;
  int64_t sum;
} sum_t;

static void add_tap(void *context, const uint8_t *in, const uint8_t *filter, uint32_t count) {
  sum_t *s = context;
  for (uint32_t i = 0; i < count; i++) {
    int16_t a;
    memcpy(&a, in + (size_t)i * sizeof a, sizeof a);
    s->sum += (int64_t)a * (int8_t)filter[i];
  }
}

static void finish_sum(void *context, uint32_t channel, uint8_t *out) {
  sum_t *s = context;
  const berth_matmul_int16_t *m = s->matmul;
  if (m->bias != NULL) {
    s->sum +=
        m->is_short ? berth_load_int32(m->bias, channel) : berth_load_bias64(m->bias, channel);
  }
  berth_multiplier_t factor;
  berth_rescale_factors(&m->rescale, channel, 1, &factor.multiplier, &factor.shift);
  int16_t value = berth_int16_rescale(&m->rescale, s->sum, m->is_short, factor);
  memcpy(out, &value, sizeof value);
  s->sum = 0;
}

berth_status_t berth_conv_int16_eval(berth_call_t *call, const berth_conv_t *conv) {
  berth_matmul_int16_t matmul = {.filter = conv->filter.data,
                                 .bias = conv->bias.data,
                                 .depth = conv->filter_h * conv->filter_w * conv->filter_c,
                                 .channels = conv->output_c / conv->groups,
                                 .is_short =
                                     !conv->bias.present || conv->bias.type == BERTH_TYPE_INT32,
                                 .rescale = rescale_of(conv)};
  berth_conv_room_t room;
  uint32_t factors = berth_rescale_bytes(call, conv->filter.scales.count);
  if (!berth_conv_find_room(call, conv, sizeof(int16_t), factors, &room)) {
    sum_t sum = {.matmul = &matmul};
    berth_rescale_use(call, &matmul.rescale, conv->output_c, room.factors);
    berth_conv_each(call, conv, sizeof(int16_t), sizeof(int16_t),
                    &(berth_conv_each_t){add_tap, finish_sum, &sum});
    return BERTH_OK;
  }
  berth_rescale_use(call, &matmul.rescale, conv->output_c, room.factors);
  berth_conv_run(call, conv, sizeof(int16_t), sizeof(int16_t), 0, &room, product, &matmul);
  return BERTH_OK;
}
