/* Random int8 and uint8 convolutions, depthwise convolutions and products: prints a CRC-32 of what
 * each dozen gives. tools/test-cortex-m runs it here, with the portable kernels, and on emulated
 * boards with Arm's DSP instructions and Helium; all must print the same. */
#include "host/fill.h"
#include "operators/conv_int8.h"
#include "operators/depthwise_int8.h"
#include <stdio.h>
#include <stdlib.h>

#define CASES 240
#define DOZEN 12

static uint8_t input[8192], filter[16384], output[8192], scratch[32768];
static float scales[64];
static int32_t bias[64];
static uint64_t seed = 1;

static uint32_t below(uint32_t limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % limit;
}

static void fill(void *to, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) ((uint8_t *)to)[i] = (uint8_t)below(256);
}

static berth_value_t value(uint8_t *data, bool is_unsigned, uint32_t rows, uint32_t row_bytes) {
  return (berth_value_t){.data = data,
                         .bytes = rows * row_bytes,
                         .row_bytes = row_bytes,
                         .rows = rows,
                         .ring = rows,
                         .type = is_unsigned ? BERTH_TYPE_UINT8 : BERTH_TYPE_INT8,
                         .present = true,
                         .scale = 0.02f,
                         .zero_point = (int32_t)below(256) - (is_unsigned ? 0 : 128)};
}

/* Scales from far too small to ones that shift to the left, for the filter, and a bias. */
static void random_scales(berth_value_t *of, uint32_t channels) {
  bool each = of->type == BERTH_TYPE_INT8 && below(3) > 0;
  for (uint32_t i = 0; i < channels; i++) {
    scales[i] = 0.0001f * (float)(1 + below(1000));
    if (below(20) == 0) scales[i] = below(2) ? 1e-9f : 70.0f;
    bias[i] = (int32_t)below(20000) - 10000;
  }
  of->scales = (berth_vector_t){(uint8_t *)scales, each ? channels : 1};
  of->scale = scales[0];
  if (of->type == BERTH_TYPE_INT8) of->zero_point = 0;
}

static uint32_t outputs(uint32_t size, uint32_t stride, uint32_t pad) {
  return (size + pad - 1) / stride + 1;
}

static berth_conv_t random_conv(bool depthwise) {
  berth_conv_t c = {.batches = 1 + below(2),
                    .input_h = 1 + below(8),
                    .input_w = 1 + below(9),
                    .groups = below(4) == 0 ? 2 : 1,
                    .filter_h = 1 + below(4),
                    .filter_w = 1 + below(4),
                    .stride_h = 1 + below(2),
                    .stride_w = 1 + below(2),
                    .dilation_h = 1 + below(2),
                    .dilation_w = below(3) == 0 ? 2 : 1,
                    .activation = below(2) ? BERTH_ACTIVATION_NONE : BERTH_ACTIVATION_RELU};
  if (below(3) == 0) c.filter_h = c.filter_w = 1;
  c.pad_h = below(c.filter_h);
  c.pad_w = below(c.filter_w);
  c.output_h = outputs(c.input_h, c.stride_h, c.pad_h);
  c.output_w = outputs(c.input_w, c.stride_w, c.pad_w);
  uint32_t most = (uint32_t)sizeof output / (c.batches * c.output_h * c.output_w), part;
  most = most < 40 ? most : 40;
  if (depthwise) {
    c.input_c = c.groups = 1 + below(most < 20 ? most : 20);
    part = below(3) == 0 && 2 * c.input_c <= most ? 2 : 1;
    c.filter_c = 1;
    c.output_c = c.input_c * part;
  } else {
    c.filter_c = 1 + below(20);
    c.input_c = c.filter_c * c.groups;
    c.output_c = c.groups * (1 + below(most / c.groups));
  }
  bool is_unsigned = below(4) == 0;
  c.input = value(input, is_unsigned, c.batches * c.input_h, c.input_w * c.input_c);
  c.output = value(output, is_unsigned, c.batches * c.output_h, c.output_w * c.output_c);
  c.filter = value(filter, is_unsigned, 1, c.filter_h * c.filter_w * c.filter_c * c.output_c);
  random_scales(&c.filter, c.output_c);
  c.bias =
      (berth_value_t){.present = below(4) > 0, .type = BERTH_TYPE_INT32, .data = (uint8_t *)bias};
  if (!c.bias.present) c.bias.data = NULL;
  return c;
}

static void run_conv(bool depthwise) {
  berth_conv_t conv = random_conv(depthwise);
  berth_call_t call = {.last_row = conv.output.rows, .scratch = {scratch}};
  call.scratch_bytes = below(3) == 0 ? below(2000) : (uint32_t)sizeof scratch;
  if (depthwise) {
    berth_depthwise_int8_eval(&call, &conv);
  } else {
    berth_conv_int8_eval(&call, &conv);
  }
}

static void run_product(void) {
  uint32_t depth = 1 + below(150), channels = 1 + below(40), rows = 1 + below(4);
  berth_value_t in = value(input, false, rows, depth), out = value(output, false, rows, channels);
  berth_value_t weights = value(filter, false, 1, depth * channels);
  random_scales(&weights, channels);
  berth_matmul_int8_t m = {.filter = filter,
                           .bias = (const uint8_t *)bias,
                           .depth = depth,
                           .channels = channels,
                           .input_zero = in.zero_point,
                           .filter_zero = below(4) == 0 ? 3 : 0,
                           .rescale = berth_rescale_read(&in, &weights, &out, 0, true)};
  berth_matmul_int8(&m, 0, 0, input, depth, output, channels, rows);
  uint32_t at = below(depth), count = channels < 8 ? channels : 8;
  int32_t sums[8] = {0};
  berth_matmul_int8_sums(&m, 0, 0, count, at, depth - at, input, sums);
  memcpy(output + sizeof output - sizeof sums, sums, sizeof sums);
}

int main(void) {
  static const char *const names[] = {"convolutions", "depthwise", "products"};
  for (uint32_t kind = 0; kind < 3; kind++) {
    for (uint32_t i = 0; i < CASES; i += DOZEN) {
      uint32_t crc = 0;
      for (uint32_t k = 0; k < DOZEN; k++) {
        fill(input, sizeof input);
        fill(filter, sizeof filter);
        memset(output, 0, sizeof output);
        if (kind < 2) run_conv(kind == 1);
        if (kind == 2) run_product();
        crc = crc * 31 + berth_crc32(output, sizeof output);
      }
      printf("output %s %lu %lu\n", names[kind], (unsigned long)i, (unsigned long)crc);
    }
  }
  fflush(stdout);
  exit(0);
}
