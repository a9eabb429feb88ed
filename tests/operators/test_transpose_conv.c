/* TRANSPOSE_CONV and Convolution2DTransposeBias against the definition, which scatters each input
 * element to the outputs it contributes to: exact for integers, near for floats, and the same
 * however rows are cut. */
#include "test.h"

#include "operators/fake_call.h"
#include "operators/kernels.h"
#include <math.h>

typedef struct layer {
  bool custom;      /* Convolution2DTransposeBias */
  bool shape_known; /* the output's shape is a constant; else only the output's own */
  berth_value_t input, filter, bias, output;
  int32_t same, stride_h, stride_w, activation;
  int32_t pad_h, pad_w;
  float *scales;
  void *data[3]; /* of input, filter, bias */
} layer_t;

/* ---- Numbers --------------------------------------------------------------------------------- */

static double get(const berth_value_t *value, const void *data, size_t i) {
  switch (value->type) {
  case BERTH_TYPE_INT8:
    return ((const int8_t *)data)[i];
  case BERTH_TYPE_UINT8:
    return ((const uint8_t *)data)[i];
  case BERTH_TYPE_INT16:
    return ((const int16_t *)data)[i];
  case BERTH_TYPE_INT32:
    return ((const int32_t *)data)[i];
  case BERTH_TYPE_INT64:
    return (double)((const int64_t *)data)[i];
  case BERTH_TYPE_FLOAT16: { /* of the numbers that `fill` draws */
    uint16_t half = ((const uint16_t *)data)[i];
    return ldexp((half & 0x8000u ? -1.0 : 1.0) * (1024 + (half & 0x3ff)), (half >> 10 & 31) - 25);
  }
  default:
    return (double)((const float *)data)[i];
  }
}

static void *fill(uint64_t *seed, const berth_value_t *value, int32_t low, int32_t high) {
  uint8_t *data = malloc(value->bytes + 1);
  assert_non_null(data);
  for (uint32_t i = 0; i < value->elements; i++) {
    int64_t drawn = fake_between(seed, low, high);
    uint16_t half = (uint16_t)((fake_random(seed) & 0x83ffu) | (12u + fake_random(seed) % 5) << 10);
    float real = (float)drawn / 1000.0f;
    size_t size = berth_tensor_type_bits(value->type) / 8;
    const void *from = value->type == BERTH_TYPE_FLOAT32   ? (const void *)&real
                       : value->type == BERTH_TYPE_FLOAT16 ? (const void *)&half
                                                           : (const void *)&drawn;
    memcpy(data + i * size, from, size); /* integers: little-endian */
  }
  return data;
}

/* ---- The definition -------------------------------------------------------------------------- */

/* Rounds half away from zero after dividing by 2^shift. */
static int64_t divide(int64_t x, int shift) {
  int64_t half = shift > 0 ? INT64_C(1) << (shift - 1) : 0;
  return x < 0 ? -((-x + half) >> shift) : (x + half) >> shift;
}

/* A sum in the output's units, by the two roundings (8 bits, or `is_short`) or the one (int16) that
 * the reference kernels do. */
static double rescale(const layer_t *l, int64_t sum, int32_t channel, bool is_short) {
  bool is_unsigned = l->input.type == BERTH_TYPE_UINT8, is_long = l->input.type == BERTH_TYPE_INT16;
  float scale = l->filter.scales.count > 1 ? l->scales[channel] : l->filter.scale;
  double product =
      is_unsigned ? (double)(l->input.scale * scale) : (double)l->input.scale * (double)scale;
  int exponent;
  double fraction = frexp(product / (double)l->output.scale, &exponent);
  int64_t multiplier = (int64_t)round(fraction * 2147483648.0);
  if (multiplier == INT64_C(1) << 31) {
    multiplier /= 2;
    exponent++;
  }
  assert_true(exponent <= 0);
  int64_t result;
  if (is_long && !is_short) {
    int64_t reduced = multiplier < 0x7fff0000 ? (multiplier + 0x8000) >> 16 : 0x7fff;
    result = (sum * reduced + (INT64_C(1) << (14 - exponent))) >> (15 - exponent);
  } else {
    int64_t high = (sum * multiplier + (INT64_C(1) << 30)) >> 31;
    result = divide(high, -exponent);
  }
  result += l->output.zero_point;
  int64_t low = is_long ? -32768 : is_unsigned ? 0 : -128;
  int64_t top = is_long ? 32767 : is_unsigned ? 255 : 127;
  return (double)(result < low ? low : result > top ? top : result);
}

/* Scatters; `sizes` gets the sum of the magnitudes. */
static double *scatter(const layer_t *l, double *sizes) {
  double *sums = calloc(l->output.elements, sizeof *sums);
  assert_non_null(sums);
  const int32_t *in = l->input.dims, *w = l->filter.dims, *out = l->output.dims;
  double input_zero = l->input.zero_point, filter_zero = l->filter.zero_point;
  for (int32_t b = 0; b < in[0]; b++) {
    for (int32_t yx = 0; yx < in[1] * in[2]; yx++) {
      for (int32_t tap = 0; tap < w[1] * w[2]; tap++) {
        int32_t y = yx / in[2] * l->stride_h - l->pad_h + tap / w[2];
        int32_t x = yx % in[2] * l->stride_w - l->pad_w + tap % w[2];
        if (y < 0 || y >= out[1] || x < 0 || x >= out[2]) continue;
        for (int32_t c = 0; c < w[0] * w[3]; c++) {
          size_t to = (size_t)(((b * out[1] + y) * out[2] + x) * out[3] + c / w[3]);
          size_t from = (size_t)((b * in[1] * in[2] + yx) * in[3] + c % w[3]);
          size_t weight = (size_t)((c / w[3] * w[1] * w[2] + tap) * w[3] + c % w[3]);
          double term = (get(&l->input, l->data[0], from) - input_zero) *
                        (get(&l->filter, l->data[1], weight) - filter_zero);
          sums[to] += term;
          sizes[to] += fabs(term);
        }
      }
    }
  }
  return sums;
}

static void check_outputs(const layer_t *l, const void *result) {
  double *sizes = calloc(l->output.elements, sizeof *sizes);
  assert_non_null(sizes);
  double *sums = scatter(l, sizes);
  for (uint32_t i = 0; i < l->output.elements; i++) {
    int32_t channel = (int32_t)i % l->output.dims[3];
    double bias = l->bias.present ? get(&l->bias, l->data[2], (size_t)channel) : 0.0;
    double sum = sums[i] + bias, actual = get(&l->output, result, i);
    if (l->output.type == BERTH_TYPE_FLOAT32) {
      if (l->activation == BERTH_ACTIVATION_RELU && sum < 0.0) sum = 0.0;
      assert_true(fabs(sum - actual) <= 1e-6 * (sizes[i] + fabs(bias)) + 1e-30);
    } else {
      bool is_short = l->bias.present && l->bias.type == BERTH_TYPE_INT32;
      double expected = rescale(l, (int64_t)sum, channel, is_short);
      if (actual != expected) fail_msg("output %u: %g instead of %g", i, actual, expected);
    }
  }
  free(sums);
  free(sizes);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void set_extents(layer_t *l, uint64_t *seed) {
  int32_t out[4] = {l->input.dims[0], 0, 0, l->filter.dims[0]}, pad[2];
  for (int i = 0; i < 2; i++) {
    int32_t input = l->input.dims[1 + i], filter = l->filter.dims[1 + i];
    int32_t stride = i == 0 ? l->stride_h : l->stride_w, missing = 0;
    if (l->custom) {
      if (l->same) missing = filter - (input - 1) % stride - 1;
      if (missing < 0) missing = 0;
      out[1 + i] = stride * (input - 1) + filter - missing;
    } else if (l->same) {
      out[1 + i] = input * stride - fake_between(seed, 0, stride - 1);
      missing = (input - 1) * stride + filter - out[1 + i];
    } else {
      out[1 + i] = (input - 1) * stride + filter + fake_between(seed, 0, stride - 1);
    }
    pad[i] = missing > 0 ? missing / 2 : 0;
  }
  l->pad_h = pad[0];
  l->pad_w = pad[1];
  memcpy(l->output.dims, out, sizeof out);
  l->output.rank = 4;
  fake_measure(&l->output);
}

static layer_t draw(berth_tensor_type_t type, bool custom, uint64_t *seed) {
  bool is_float = type == BERTH_TYPE_FLOAT32, is_long = type == BERTH_TYPE_INT16;
  bool is_unsigned = type == BERTH_TYPE_UINT8;
  int32_t low = is_float ? -2000 : is_long ? -32768 : is_unsigned ? 0 : -128;
  int32_t high = is_float ? 2000 : is_long ? 32767 : is_unsigned ? 255 : 127;
  layer_t l = {.custom = custom,
               .shape_known = fake_random(seed) % 2,
               .same = fake_random(seed) % 2,
               .stride_h = fake_between(seed, 1, 3),
               .stride_w = fake_between(seed, 1, 3)};
  int32_t depth = fake_between(seed, 1, fake_random(seed) % 2 ? 6 : 150);
  int32_t channels = fake_between(seed, 1, 20);
  int32_t input[4] = {fake_random(seed) % 6 == 0 ? 2 : 1, fake_between(seed, 1, 5),
                      fake_between(seed, 1, 6), depth};
  int32_t filter[4] = {channels, fake_between(seed, 1, 5), fake_between(seed, 1, 5), depth};
  if (fake_random(seed) % 3 == 0) input[1] = filter[1] = l.stride_h = 1; /* along the width */
  berth_tensor_type_t weights = is_float  ? (fake_random(seed) % 2 ? type : BERTH_TYPE_FLOAT16)
                                : is_long ? BERTH_TYPE_INT8
                                          : type;
  berth_tensor_type_t biases[] = {BERTH_TYPE_INT64, BERTH_TYPE_INT16, BERTH_TYPE_INT32};
  l.input = fake_tensor(type, 4, input, is_float ? 0.0f : 0.02f,
                        is_float || is_long ? 0 : fake_between(seed, low, high));
  l.filter = fake_tensor(weights, 4, filter, 0.0f, is_unsigned ? fake_between(seed, 0, 255) : 0);
  l.bias = fake_tensor(is_float  ? (fake_random(seed) % 2 ? type : BERTH_TYPE_FLOAT16)
                       : is_long ? biases[fake_random(seed) % 3]
                                 : BERTH_TYPE_INT32,
                       1, &channels, 0.0f, 0);
  l.output = fake_tensor(type, 0, NULL, is_float ? 0.0f : 0.025f,
                         is_float || is_long ? 0 : fake_between(seed, low, high));
  l.bias.present = fake_random(seed) % 4 != 0;
  if (is_float && !custom && fake_random(seed) % 2) l.activation = BERTH_ACTIVATION_RELU;
  l.scales = malloc(sizeof *l.scales * (size_t)channels);
  assert_non_null(l.scales);
  for (int32_t i = 0; i < channels; i++) {
    l.scales[i] = (float)fake_between(seed, 20, 200) / 20000.0f / sqrtf((float)depth);
  }
  if (!is_float) l.filter.scale = l.scales[0];
  if (!is_float && !is_unsigned && channels > 1 && fake_random(seed) % 2) {
    fake_scales(&l.filter, l.scales, (uint32_t)channels, 0);
  }
  set_extents(&l, seed);
  l.data[0] = fill(seed, &l.input, low, high);
  l.data[1] = fill(seed, &l.filter, is_long ? -128 : low, is_long ? 127 : high);
  l.data[2] = fill(seed, &l.bias, -2000, 2000);
  return l;
}

static void discard(layer_t *l) {
  for (int i = 0; i < 3; i++) free(l->data[i]);
  free(l->scales);
}

/* Options of the custom operator must outlive the call. */
static void open(fake_t *fake, const layer_t *l, int32_t options[3]) {
  berth_value_t output = l->output;
  if (l->custom) {
    fake_open(fake, &berth_kernel_convolution_2d_transpose_bias);
    fake_input(fake, l->input, l->data[0]);
    fake_input(fake, l->filter, l->data[1]);
    options[0] = l->same ? 1 : 2;
    options[1] = l->stride_w;
    options[2] = l->stride_h;
    fake->call.op.custom_options = (berth_bytes_t){(const uint8_t *)options, 12};
  } else {
    fake_open(fake, &berth_kernel_transpose_conv);
    int32_t four = 4;
    berth_value_t shape = fake_tensor(BERTH_TYPE_INT32, 1, &four, 0.0f, 0);
    shape.constant = l->shape_known;
    fake_input(fake, shape, l->output.dims);
    fake_input(fake, l->filter, l->data[1]);
    fake_input(fake, l->input, l->data[0]);
    fake_option(fake, BERTH_TRANSPOSE_CONV_PADDING,
                l->same ? BERTH_PADDING_SAME : BERTH_PADDING_VALID);
    fake_option(fake, BERTH_TRANSPOSE_CONV_STRIDE_H, l->stride_h);
    fake_option(fake, BERTH_TRANSPOSE_CONV_STRIDE_W, l->stride_w);
    fake_option(fake, BERTH_TRANSPOSE_CONV_ACTIVATION, l->activation);
  }
  if (l->bias.present) fake_input(fake, l->bias, l->data[2]);
  if (l->custom || l->shape_known) {
    output.rank = 0;
    fake_measure(&output);
  }
  fake_output(fake, output);
}

/* Row after row from a ring that holds no more input rows than the contract's window says. */
static void check_rows(fake_t *fake, uint32_t input_index, const void *expected) {
  if (fake->contract.kind != BERTH_ROW_LOCAL) return;
  berth_value_t *input = &fake->value[fake->input[input_index]];
  berth_value_t *output = &fake->value[fake->output[0]];
  berth_window_t window = fake->contract.windows[input_index];
  uint8_t *whole = input->data;
  uint32_t ring = (uint32_t)window.extent < input->rows ? (uint32_t)window.extent : input->rows;
  uint32_t kept = 0;
  input->ring = ring;
  input->data = fake_memory(ring * input->row_bytes);
  for (uint32_t row = 0; row < output->rows; row++) {
    int64_t end =
        (int64_t)row * window.numerator / window.denominator + window.offset + window.extent;
    for (; kept < input->rows && (int64_t)kept < end; kept++) {
      memcpy(berth_row(input, kept), whole + (size_t)kept * input->row_bytes, input->row_bytes);
    }
    memset(berth_row(output, row), 0x5a, output->row_bytes);
    assert_int_equal(fake_eval_rows(fake, row, row + 1), BERTH_OK);
  }
  assert_memory_equal(output->data, expected, output->bytes);
  free(input->data);
  input->data = whole;
  input->ring = input->rows;
}

static void check(const layer_t *l) {
  for (int stored = 0; stored < 2; stored++) {
    fake_t fake;
    int32_t options[3];
    open(&fake, l, options);
    fake.call.store_multipliers = stored;
    fake.call.cpu = stored ? berth_cpu_detect() : 0;
    assert_int_equal(fake_prepare(&fake), BERTH_OK);
    for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) assert_int_equal(fake.contract.scratch[i], 0);
    const berth_value_t *output = &fake.value[fake.output[0]];
    assert_int_equal(output->rank, 4);
    assert_memory_equal(output->dims, l->output.dims, 4 * sizeof *output->dims);
    assert_int_equal(fake_eval(&fake), BERTH_OK);
    check_outputs(l, output->data);
    void *expected = malloc(output->bytes);
    assert_non_null(expected);
    memcpy(expected, output->data, output->bytes);
    check_rows(&fake, l->custom ? 0 : 2, expected);
    free(expected);
    fake_close(&fake);
  }
}

static void check_many(berth_tensor_type_t type, bool custom, int cases) {
  uint64_t seed = (uint64_t)type * 2 + custom;
  for (int i = 0; i < cases; i++) {
    layer_t l = draw(type, custom, &seed);
    check(&l);
    discard(&l);
  }
}

static void integers_equal_the_definition(void **state) {
  (void)state;
  check_many(BERTH_TYPE_INT8, false, 200);
  check_many(BERTH_TYPE_UINT8, false, 200);
  check_many(BERTH_TYPE_INT16, false, 200);
}

static void floats_are_near_the_definition(void **state) {
  (void)state;
  check_many(BERTH_TYPE_FLOAT32, false, 200);
}

static void the_custom_operator_is_near_the_definition(void **state) {
  (void)state;
  check_many(BERTH_TYPE_FLOAT32, true, 200);
}

static void shapes_that_do_not_fit_are_refused(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int i = 0; i < 2; i++) {
    layer_t l = draw(BERTH_TYPE_FLOAT32, false, &seed);
    l.shape_known = true;
    if (i == 0) l.output.dims[3]++; /* another number of channels than the filter has */
    if (i == 1) l.output.dims[1] = 0;
    fake_t fake;
    int32_t options[3];
    open(&fake, &l, options);
    assert_int_equal(fake_prepare(&fake), BERTH_ERROR_OPERATOR);
    fake_close(&fake);
    discard(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_equal_the_definition),
      cmocka_unit_test(floats_are_near_the_definition),
      cmocka_unit_test(the_custom_operator_is_near_the_definition),
      cmocka_unit_test(shapes_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
