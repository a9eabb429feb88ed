/* Random convolutions, made up and run in every way that must give the same bytes: shared by the
 * tests of CONV_2D and DEPTHWISE_CONV_2D. */
#ifndef BERTH_TESTS_CONV_CASES_H
#define BERTH_TESTS_CONV_CASES_H

#include "operators/naive_conv.h"
#include "operators/over_rows.h"

/* What a case is drawn from. */
typedef struct conv_family {
  const berth_kernel_t *kernel;
  bool depthwise;
  berth_tensor_type_t type; /* of input and output */
  bool wide;                /* more channels, as in real models */
} conv_family_t;

typedef struct conv_case {
  berth_value_t input, filter, bias, output;
  int32_t padding, stride_h, stride_w, dilation_h, dilation_w, activation;
  void *input_data, *filter_data, *bias_data;
  float *scales;
} conv_case_t;

static inline void *conv_fill(uint64_t *seed, const berth_value_t *value, int32_t low,
                              int32_t high) {
  void *data = malloc(value->bytes > 0 ? value->bytes : 1);
  assert_non_null(data);
  int extreme = fake_random(seed) % 8 == 0;
  for (uint32_t i = 0; i < value->elements; i++) {
    int32_t drawn = extreme ? (fake_random(seed) % 2 ? low : high) : fake_between(seed, low, high);
    naive_put(value->type, data, i, drawn);
  }
  return data;
}

static inline conv_case_t conv_draw(const conv_family_t *family, uint64_t *seed) {
  conv_case_t c = {.padding = fake_between(seed, 0, 1),
                   .stride_h = fake_between(seed, 1, 3),
                   .stride_w = fake_between(seed, 1, 3),
                   .dilation_h = fake_random(seed) % 4 == 0 ? fake_between(seed, 1, 3) : 1,
                   .dilation_w = fake_random(seed) % 4 == 0 ? fake_between(seed, 1, 3) : 1,
                   .activation = fake_between(seed, 0, 3)};
  int pointwise = !family->depthwise && fake_random(seed) % 3 == 0;
  int32_t fh = pointwise ? 1 : fake_between(seed, 1, 4);
  int32_t fw = pointwise ? 1 : fake_between(seed, 1, 4);
  if (pointwise && fake_random(seed) % 2) c.stride_h = c.stride_w = 1;
  if (fake_random(seed) % 4 == 0) fh = 1;
  int32_t h = (fh - 1) * c.dilation_h + fake_between(seed, 1, 7);
  if (fake_random(seed) % 4 == 0) h = (fh - 1) * c.dilation_h + 1; /* one output row, or few */
  int32_t w = (fw - 1) * c.dilation_w + fake_between(seed, 1, 9);
  int32_t groups = fake_random(seed) % 4 == 0 ? fake_between(seed, 2, 3) : 1;
  int32_t multiplier = fake_random(seed) % 4 == 0 ? fake_between(seed, 2, 8) : 1;
  int32_t depth = fake_between(seed, 1, family->wide ? 70 : 9);
  int32_t per_group = fake_between(seed, 1, family->wide ? 40 : 9);
  int32_t channels = family->depthwise ? depth : depth * groups;
  int32_t outputs = family->depthwise ? depth * multiplier : per_group * groups;
  int32_t input_dims[4] = {fake_between(seed, 1, 2), h, w, channels};
  int32_t conv_dims[4] = {outputs, fh, fw, depth}, depthwise_dims[4] = {1, fh, fw, outputs};

  bool is_unsigned = family->type == BERTH_TYPE_UINT8, is_long = family->type == BERTH_TYPE_INT16;
  int32_t low = is_long ? -32768 : is_unsigned ? 0 : -128;
  int32_t high = is_long ? 32767 : is_unsigned ? 255 : 127;
  int32_t zero = is_long ? 0 : fake_between(seed, low, high);
  c.input = fake_tensor(family->type, 4, input_dims, 0.02f, zero);
  berth_tensor_type_t weights = is_unsigned ? BERTH_TYPE_UINT8 : BERTH_TYPE_INT8;
  c.filter = fake_tensor(weights, 4, family->depthwise ? depthwise_dims : conv_dims, 0.013f,
                         is_unsigned ? fake_between(seed, 0, 255) : 0);
  /* Scales such that outputs spread over their range, a few of them far above 1. */
  float spread = sqrtf((float)(fh * fw * (family->depthwise ? 1 : depth)));
  float base = (float)fake_between(seed, 50, 150) / 100.0f / (is_long ? 120.0f : 90.0f) / spread;
  c.scales = malloc(sizeof *c.scales * (size_t)outputs);
  assert_non_null(c.scales);
  for (int32_t i = 0; i < outputs; i++) {
    c.scales[i] = base * (float)fake_between(seed, 20, 200) / 100.0f;
    if (fake_random(seed) % 16 == 0) c.scales[i] *= 400.0f;
    if (fake_random(seed) % 32 == 0) c.scales[i] = 1e-12f;
  }
  if (!is_unsigned && fake_random(seed) % 3 != 0 && outputs > 1) {
    fake_scales(&c.filter, c.scales, (uint32_t)outputs, family->depthwise ? 3 : 0);
  } else {
    c.filter.scale = c.scales[0] > 1e-6f ? c.scales[0] : base;
  }
  c.output =
      fake_tensor(family->type, 0, NULL, 0.025f, is_long ? 0 : fake_between(seed, low, high));
  bool short_bias = is_long && !family->depthwise && fake_random(seed) % 3 == 0;
  c.bias = fake_tensor(is_long && !short_bias ? BERTH_TYPE_INT64 : BERTH_TYPE_INT32, 1, &outputs,
                       0.0f, 0);
  c.bias.present = fake_random(seed) % 4 != 0;
  c.input_data = conv_fill(seed, &c.input, low, high);
  c.filter_data = conv_fill(seed, &c.filter, is_unsigned ? 0 : -128, is_unsigned ? 255 : 127);
  c.bias_data = conv_fill(seed, &c.bias, -20000, 20000);
  return c;
}

static inline void conv_discard(conv_case_t *c) {
  free(c->input_data);
  free(c->filter_data);
  free(c->bias_data);
  free(c->scales);
}

static inline void conv_open(fake_t *fake, const conv_family_t *family, const conv_case_t *c) {
  fake_open(fake, family->kernel);
  fake_input(fake, c->input, c->input_data);
  fake_input(fake, c->filter, c->filter_data);
  if (c->bias.present) fake_input(fake, c->bias, c->bias_data);
  fake_output(fake, c->output);
  bool d = family->depthwise;
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_PADDING : BERTH_CONV_2D_PADDING, c->padding);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_STRIDE_H : BERTH_CONV_2D_STRIDE_H, c->stride_h);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_STRIDE_W : BERTH_CONV_2D_STRIDE_W, c->stride_w);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_DILATION_H : BERTH_CONV_2D_DILATION_H,
              c->dilation_h);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_DILATION_W : BERTH_CONV_2D_DILATION_W,
              c->dilation_w);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_ACTIVATION : BERTH_CONV_2D_ACTIVATION,
              c->activation);
}

/* The definition of TensorFlow's padding along one axis. */
static inline int32_t conv_padding(int32_t same, int32_t input, int32_t filter, int32_t stride,
                                   int32_t dilation, int32_t *output) {
  int32_t span = (filter - 1) * dilation + 1;
  *output = same ? (input + stride - 1) / stride : (input - span) / stride + 1;
  int32_t missing = (*output - 1) * stride + span - input;
  return missing > 0 ? missing / 2 : 0;
}

/* The expected bytes, to be freed. */
static inline void *conv_expected(const conv_family_t *family, const conv_case_t *c,
                                  int32_t *dims) {
  naive_conv_t naive = {.input = c->input,
                        .filter = c->filter,
                        .bias = c->bias,
                        .output = c->output,
                        .stride_h = c->stride_h,
                        .stride_w = c->stride_w,
                        .dilation_h = c->dilation_h,
                        .dilation_w = c->dilation_w,
                        .activation = c->activation,
                        .depthwise = family->depthwise,
                        .float_product = family->type == BERTH_TYPE_UINT8,
                        .filter_zero = family->type == BERTH_TYPE_UINT8};
  if (family->type == BERTH_TYPE_UINT8 && !family->depthwise) naive.rounding = NAIVE_UP;
  if (family->type == BERTH_TYPE_INT16 &&
      (family->depthwise || (c->bias.present && c->bias.type == BERTH_TYPE_INT64))) {
    naive.rounding = NAIVE_LONG;
  }
  int32_t same = c->padding == BERTH_PADDING_SAME;
  dims[0] = c->input.dims[0];
  naive.pad_h =
      conv_padding(same, c->input.dims[1], c->filter.dims[1], c->stride_h, c->dilation_h, &dims[1]);
  naive.pad_w =
      conv_padding(same, c->input.dims[2], c->filter.dims[2], c->stride_w, c->dilation_w, &dims[2]);
  dims[3] = c->filter.dims[family->depthwise ? 3 : 0];
  memcpy(naive.output.dims, dims, 4 * sizeof *dims);
  naive.output.rank = 4;
  fake_measure(&naive.output);
  naive.input.data = c->input_data;
  naive.filter.data = c->filter_data;
  naive.bias.data = c->bias_data;
  naive.output.data = malloc(naive.output.bytes);
  assert_non_null(naive.output.data);
  naive_conv(&naive);
  return naive.output.data;
}

/* Must a convolution of one image be row-local? Where the rows of input and output lie along the
 * same dimension; along the width only with a filter of height 1. */
static inline bool conv_must_be_local(const conv_case_t *c, const int32_t output[4]) {
  const int32_t *input = c->input.dims;
  if (input[1] == 1 && output[1] == 1 && input[2] > 1) return c->filter.dims[1] == 1;
  return input[1] == 1 || output[1] > 1 || output[2] == 1;
}

/* Evaluates `step` rows at a time, from rings that hold no more input rows than the contract's
 * window says, and checks each output row. */
static inline void conv_check_streamed(fake_t *fake, const void *expected, uint32_t step) {
  berth_value_t *input = &fake->value[fake->input[0]], *output = &fake->value[fake->output[0]];
  berth_window_t window = fake->contract.windows[0];
  uint8_t *whole = input->data;
  uint32_t ring = (uint32_t)window.extent + (step - 1) * (uint32_t)window.numerator;
  if (ring > input->rows) ring = input->rows;
  input->ring = ring;
  input->data = malloc((size_t)ring * input->row_bytes);
  assert_non_null(input->data);
  output->ring = output->rows > step ? step + 1 : output->rows;
  uint32_t rows = output->rows, kept = 0, last;
  for (uint32_t first = 0; first < rows; first = last) {
    last = first + step < rows ? first + step : rows;
    int64_t end = (int64_t)(last - 1) * window.numerator + window.offset + window.extent;
    for (; kept < input->rows && (int64_t)kept < end; kept++) {
      memcpy(berth_row(input, kept), whole + (size_t)kept * input->row_bytes, input->row_bytes);
    }
    assert_int_equal(fake_eval_rows(fake, first, last), BERTH_OK);
    for (uint32_t row = first; row < last; row++) {
      assert_memory_equal(berth_row(output, row),
                          (const uint8_t *)expected + (size_t)row * output->row_bytes,
                          output->row_bytes);
    }
  }
  free(input->data);
  input->data = whole;
  input->ring = input->rows;
  output->ring = output->rows;
}

/* Evaluates whole, with the output over input rows that are done by then. */
static inline void conv_check_over_rows(fake_t *fake, const void *expected) {
  const berth_value_t *input = &fake->value[fake->input[0]];
  const berth_value_t *output = &fake->value[fake->output[0]];
  fake_check_behind(fake, over_rows_distance(input, output, fake->contract.windows[0]), expected);
}

/* Runs one case in every way. */
static inline void conv_check(const conv_family_t *family, const conv_case_t *c) {
  int32_t dims[4];
  void *expected = conv_expected(family, c, dims);
  for (int stored = 0; stored < 2; stored++) {
    for (int way = 0; way < 4;
         way++) { /* with and without vectors, with all scratch or the least */
      fake_t fake;
      conv_open(&fake, family, c);
      fake.call.cpu = way & 1 ? berth_cpu_detect() : 0;
      fake.grudging = way & 2;
      fake.call.store_multipliers = stored;
      assert_int_equal(fake_prepare(&fake), BERTH_OK);
      const berth_value_t *output = &fake.value[fake.output[0]];
      assert_int_equal(output->rank, 4);
      assert_memory_equal(output->dims, dims, sizeof dims);
      assert_int_equal(fake_eval(&fake), BERTH_OK);
      assert_memory_equal(output->data, expected, output->bytes);
      bool local = c->input.dims[0] == 1 && conv_must_be_local(c, dims);
      assert_int_equal(fake.contract.kind == BERTH_ROW_LOCAL, local);
      for (uint32_t step = 1; local && step <= 3; step += 2) {
        conv_check_streamed(&fake, expected, step);
      }
      assert_true(local || !fake.contract.ordered);
      if (fake.contract.ordered) conv_check_over_rows(&fake, expected);
      fake_close(&fake);
    }
  }
  free(expected);
}

static inline void conv_check_many(const conv_family_t *family, int cases) {
  uint64_t seed = (uint64_t)family->type * 2 + family->depthwise;
  for (int i = 0; i < cases; i++) {
    uint64_t before = seed;
    conv_case_t c = conv_draw(family, &seed);
    if (getenv("BERTH_TEST_VERBOSE"))
      print_message("case %d, seed %llu\n", i, (unsigned long long)before);
    conv_check(family, &c);
    conv_discard(&c);
  }
}

#endif
