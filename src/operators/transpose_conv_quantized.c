/* Transposed convolution of int8, uint8 and int16 images.
 *
 * Sums are exact: 32 bits for 8-bit images, 64 bits for int16 ones (as the reference has them, also
 * for its int16 biases; with an int32 bias they have 32 bits). Block by block of channels, whose
 * factors are derived once.
 */
#include "operators/matmul_int16.h"
#include "operators/transpose_conv.h"

#define BLOCK 8u   /* channels */
#define CHUNK 128u /* terms, each within 2^23, that a 32-bit partial sum can hold */

static berth_rescale_t rescale_of(const berth_transpose_conv_t *conv) {
  return berth_rescale_read(&conv->input, &conv->filter, &conv->output, conv->activation,
                            conv->input.type == BERTH_TYPE_UINT8);
}

berth_status_t berth_transpose_conv_quantized_prepare(berth_call_t *call,
                                                      const berth_transpose_conv_t *conv,
                                                      berth_contract_t *contract) {
  berth_status_t status =
      berth_rescale_check(call, &conv->input, &conv->filter, &conv->output, conv->output_c, 0);
  if (status != BERTH_OK) return status;
  if (conv->input.type == BERTH_TYPE_INT16) {
    berth_value_t bias = conv->bias;
    if (bias.type == BERTH_TYPE_INT16) bias.type = BERTH_TYPE_INT64;
    status = berth_int16_check(call, &conv->input, &conv->filter, &bias, &conv->output, true);
    if (status != BERTH_OK) return status;
  } else if (conv->bias.present && conv->bias.type != BERTH_TYPE_INT32) {
    return berth_refuse(call, "needs an int32 bias");
  }
  if (conv->input.type == BERTH_TYPE_UINT8 && berth_rescale_is_per_channel(&conv->filter)) {
    return berth_refuse(call, "takes uint8 with one filter scale only");
  }
  berth_rescale_place(call, conv->filter.scales.count, &contract->workspace);
  return BERTH_OK;
}

berth_status_t berth_transpose_conv_quantized_init(berth_call_t *call,
                                                   const berth_transpose_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_init(call, &rescale, conv->output_c);
  return BERTH_OK;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int64_t dot_int8(const int8_t *a, const int8_t *b, uint32_t count, int32_t zero) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += (uint32_t)((int16_t)(a[i] - zero) * b[i]);
  return (int32_t)sum;
}

static int64_t dot_uint8(const uint8_t *a, const uint8_t *b, uint32_t count, int32_t zero_a,
                         int32_t zero_b) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += (uint32_t)((int16_t)(a[i] - zero_a) * (int16_t)(b[i] - zero_b));
  }
  return (int32_t)sum;
}

static int64_t dot_int16(const int16_t *a, const int8_t *b, uint32_t count) {
  int64_t sum = 0;
  for (uint32_t at = 0; at < count; at += CHUNK) {
    uint32_t end = count - at < CHUNK ? count : at + CHUNK;
    int32_t part = 0;
    for (uint32_t i = at; i < end; i++) part += a[i] * b[i];
    sum += part;
  }
  return sum;
}

static int64_t dot(const berth_transpose_conv_t *conv, const void *in, const uint8_t *filter) {
  switch (conv->input.type) {
  case BERTH_TYPE_INT8:
    return dot_int8(in, (const int8_t *)filter, conv->input_c, conv->input.zero_point);
  case BERTH_TYPE_UINT8:
    return dot_uint8(in, filter, conv->input_c, conv->input.zero_point, conv->filter.zero_point);
  default:
    return dot_int16(in, (const int8_t *)filter, conv->input_c);
  }
}

/* The sum of channel `channel` of the output pixel with these taps, without bias. */
static int64_t sum_of(const berth_transpose_conv_t *conv, uint32_t batch,
                      const berth_back_taps_t *v, const berth_back_taps_t *h, uint32_t channel) {
  size_t element = conv->input.type == BERTH_TYPE_INT16 ? 2 : 1;
  size_t tap = conv->input_c, line = conv->filter_w * tap, depth = conv->filter_h * line;
  const uint8_t *filter = conv->filter.data + channel * depth;
  int64_t sum = 0;
  for (uint32_t i = 0; i < v->count; i++) {
    const uint8_t *in = berth_row(&conv->input, batch * conv->input_h + v->at - i);
    const uint8_t *weights = filter + (v->first + i * conv->stride_h) * line;
    for (uint32_t j = 0; j < h->count; j++) {
      sum += dot(conv, in + (h->at - j) * tap * element,
                 weights + (h->first + j * conv->stride_w) * tap);
    }
  }
  return sum;
}

static int64_t bias_of(const berth_transpose_conv_t *conv, uint32_t channel) {
  if (!conv->bias.present) return 0;
  if (conv->bias.type == BERTH_TYPE_INT64) return berth_load_bias64(conv->bias.data, channel);
  if (conv->bias.type == BERTH_TYPE_INT32) return berth_load_int32(conv->bias.data, channel);
  int16_t bias;
  memcpy(&bias, conv->bias.data + 2 * (size_t)channel, sizeof bias);
  return bias;
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

static void put(const berth_transpose_conv_t *conv, const berth_rescale_t *rescale, int64_t sum,
                berth_multiplier_t factor, uint8_t *out, size_t index) {
  if (conv->input.type == BERTH_TYPE_INT16) {
    bool is_short = conv->bias.present && conv->bias.type == BERTH_TYPE_INT32;
    int16_t value = berth_int16_rescale(rescale, sum, is_short, factor);
    memcpy(out + 2 * index, &value, sizeof value);
  } else {
    out[index] = (uint8_t)berth_rescale_apply(rescale, (int32_t)(uint32_t)sum, factor);
  }
}

/* One output row, channels [first, first + count). */
static void row_block(const berth_transpose_conv_t *conv, const berth_rescale_t *rescale,
                      uint32_t row, uint32_t first, uint32_t count, const int32_t *multipliers,
                      const int32_t *shifts) {
  uint32_t batch = row / conv->output_h;
  berth_back_taps_t v = berth_back_taps(row % conv->output_h, conv->stride_h, conv->pad_h,
                                        conv->filter_h, conv->input_h);
  uint8_t *out = berth_row(&conv->output, row);
  for (uint32_t x = 0; x < conv->output_w; x++) {
    berth_back_taps_t h =
        berth_back_taps(x, conv->stride_w, conv->pad_w, conv->filter_w, conv->input_w);
    for (uint32_t i = 0; i < count; i++) {
      int64_t sum = sum_of(conv, batch, &v, &h, first + i) + bias_of(conv, first + i);
      berth_multiplier_t factor = {multipliers[i], shifts[i]};
      put(conv, rescale, sum, factor, out, (size_t)x * conv->output_c + first + i);
    }
  }
}

berth_status_t berth_transpose_conv_quantized_eval(berth_call_t *call,
                                                   const berth_transpose_conv_t *conv) {
  berth_rescale_t rescale = rescale_of(conv);
  berth_rescale_use(call, &rescale, conv->output_c, NULL);
  for (uint32_t first = 0; first < conv->output_c; first += BLOCK) {
    uint32_t count = conv->output_c - first < BLOCK ? conv->output_c - first : BLOCK;
    int32_t multipliers[BLOCK], shifts[BLOCK];
    berth_rescale_factors(&rescale, first, count, multipliers, shifts);
    for (uint32_t row = call->first_row; row < call->last_row; row++) {
      row_block(conv, &rescale, row, first, count, multipliers, shifts);
    }
  }
  return BERTH_OK;
}
