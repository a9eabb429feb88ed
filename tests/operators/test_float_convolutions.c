/* The float convolutions and FULLY_CONNECTED: near a definition in double precision, and the same
 * to the bit whatever scratch they get and however rows are cut, with float32 and float16 weights.
 */
#include "test.h"

#include "operators/fake_call.h"
#include "operators/kernels.h"
#include <math.h>

/* ---- Drawing numbers ------------------------------------------------------------------------ */

static float draw(uint64_t *seed) {
  return (float)fake_between(seed, -2000, 2000) / 1000.0f;
}

/* A binary16 number: sign, exponent of moderate size or 0, any fraction. */
static uint16_t draw_half(uint64_t *seed) {
  uint32_t random = fake_random(seed), exponent = random >> 16 & 31u;
  if (exponent != 0) exponent = 8 + exponent % 8;
  return (uint16_t)((random & 0x8000u) | exponent << 10 | (random & 0x3ffu));
}

static double half_value(uint16_t half) {
  double sign = half & 0x8000u ? -1.0 : 1.0, fraction = half & 0x3ffu;
  int exponent = half >> 10 & 31;
  if (exponent == 0) return sign * ldexp(fraction, -24);
  return sign * ldexp(1024.0 + fraction, exponent - 25);
}

/* Random contents for a float32 or float16 value; numbers as doubles in `reals`. */
static void *fill(uint64_t *seed, const berth_value_t *value, double **reals) {
  uint8_t *data = malloc(value->bytes > 0 ? value->bytes : 1);
  *reals = malloc((value->elements + 1) * sizeof **reals);
  assert_non_null(data);
  assert_non_null(*reals);
  for (uint32_t i = 0; i < value->elements; i++) {
    if (value->type == BERTH_TYPE_FLOAT16) {
      uint16_t half = draw_half(seed);
      memcpy(data + 2 * (size_t)i, &half, sizeof half);
      (*reals)[i] = half_value(half);
    } else {
      float number = draw(seed);
      memcpy(data + 4 * (size_t)i, &number, sizeof number);
      (*reals)[i] = (double)number;
    }
  }
  return data;
}

/* ---- The definition ------------------------------------------------------------------------- */

typedef struct layer {
  const berth_kernel_t *kernel;
  bool depthwise, dense; /* else CONV_2D */
  berth_value_t input, filter, bias;
  void *input_data, *filter_data, *bias_data;
  double *inputs, *filters, *biases;
  int32_t same, stride_h, stride_w, dilation_h, dilation_w, activation;
  int32_t output[4]; /* dims */
  int32_t pad_h, pad_w;
} layer_t;

static double clamp(double x, int32_t activation) {
  double low = activation == BERTH_ACTIVATION_NONE           ? -INFINITY
               : activation == BERTH_ACTIVATION_RELU_N1_TO_1 ? -1.0
                                                             : 0.0;
  double high = activation == BERTH_ACTIVATION_RELU6          ? 6.0
                : activation == BERTH_ACTIVATION_RELU_N1_TO_1 ? 1.0
                                                              : INFINITY;
  return x < low ? low : x > high ? high : x;
}

/* One output; `*size` becomes the sum of the magnitudes of all terms. */
static double define(const layer_t *l, const int32_t at[4], double *size) {
  const int32_t *in = l->input.dims, *w = l->filter.dims;
  int32_t channels = l->output[3], depth = l->depthwise ? 1 : w[3];
  int32_t groups = in[3] / depth, group = at[3] / (channels / groups);
  double sum = l->bias.present ? l->biases[at[3]] : 0.0;
  *size = fabs(sum);
  for (int32_t i = 0; i < w[1]; i++) {
    for (int32_t j = 0; j < w[2]; j++) {
      int32_t y = at[1] * l->stride_h - l->pad_h + i * l->dilation_h;
      int32_t x = at[2] * l->stride_w - l->pad_w + j * l->dilation_w;
      if (y < 0 || y >= in[1] || x < 0 || x >= in[2]) continue;
      for (int32_t k = 0; k < depth; k++) {
        int32_t from = ((at[0] * in[1] + y) * in[2] + x) * in[3] + group * depth + k;
        int32_t weight = l->depthwise ? (i * w[2] + j) * channels + at[3]
                                      : ((at[3] * w[1] + i) * w[2] + j) * depth + k;
        double term = l->inputs[from] * l->filters[weight];
        sum += term;
        *size += fabs(term);
      }
    }
  }
  return clamp(sum, l->activation);
}

static void check_near(const layer_t *l, const float *result) {
  int32_t at[4];
  size_t index = 0;
  for (at[0] = 0; at[0] < l->output[0]; at[0]++) {
    for (at[1] = 0; at[1] < l->output[1]; at[1]++) {
      for (at[2] = 0; at[2] < l->output[2]; at[2]++) {
        for (at[3] = 0; at[3] < l->output[3]; at[3]++, index++) {
          double size, expected = define(l, at, &size);
          double difference = fabs(expected - (double)result[index]);
          if (!(difference <= 1e-6 * size + 1e-30)) {
            fail_msg("output %d %d %d %d: %.9g instead of %.9g", at[0], at[1], at[2], at[3],
                     (double)result[index], expected);
          }
        }
      }
    }
  }
}

/* ---- Cases ---------------------------------------------------------------------------------- */

static int32_t extent(int32_t same, int32_t input, int32_t filter, int32_t stride, int32_t dilation,
                      int32_t *pad) {
  int32_t span = (filter - 1) * dilation + 1;
  int32_t output = same ? (input + stride - 1) / stride : (input - span) / stride + 1;
  int32_t missing = (output - 1) * stride + span - input;
  *pad = missing > 0 ? missing / 2 : 0;
  return output;
}

static void draw_data(layer_t *l, uint64_t *seed) {
  l->bias.present = fake_random(seed) % 4 != 0;
  l->activation = fake_between(seed, 0, 3);
  l->input_data = fill(seed, &l->input, &l->inputs);
  l->filter_data = fill(seed, &l->filter, &l->filters);
  l->bias_data = fill(seed, &l->bias, &l->biases);
}

static berth_tensor_type_t draw_type(uint64_t *seed) {
  return fake_random(seed) % 2 ? BERTH_TYPE_FLOAT16 : BERTH_TYPE_FLOAT32;
}

static layer_t draw_conv(bool depthwise, uint64_t *seed) {
  layer_t l = {.kernel = depthwise ? &berth_kernel_depthwise_conv_2d : &berth_kernel_conv_2d,
               .depthwise = depthwise,
               .same = fake_between(seed, 0, 1),
               .stride_h = fake_between(seed, 1, 2),
               .stride_w = fake_between(seed, 1, 3),
               .dilation_h = fake_random(seed) % 4 == 0 ? fake_between(seed, 1, 3) : 1,
               .dilation_w = fake_random(seed) % 4 == 0 ? fake_between(seed, 1, 3) : 1};
  bool pointwise = !depthwise && fake_random(seed) % 3 == 0;
  bool usual = fake_random(seed) % 2 == 0; /* 3x3 */
  int32_t fh = pointwise ? 1 : usual ? 3 : fake_between(seed, 1, 5);
  int32_t fw = pointwise ? 1 : usual ? 3 : fake_between(seed, 1, 5);
  if (pointwise && fake_random(seed) % 2) l.stride_h = l.stride_w = 1;
  if (fake_random(seed) % 4 == 0) fh = 1;
  int32_t h = (fh - 1) * l.dilation_h + fake_between(seed, 1, 7);
  if (fake_random(seed) % 4 == 0) h = (fh - 1) * l.dilation_h + 1; /* one output row, or few */
  int32_t w = (fw - 1) * l.dilation_w + fake_between(seed, 1, 24);
  int32_t groups = fake_random(seed) % 5 == 0 ? fake_between(seed, 2, 3) : 1;
  int32_t multiplier = fake_random(seed) % 5 == 0 ? fake_between(seed, 2, 4) : 1;
  int32_t depth = fake_random(seed) % 2 ? fake_between(seed, 1, 90) : fake_between(seed, 1, 8);
  int32_t outputs = depthwise ? depth * multiplier : fake_between(seed, 1, 50) * groups;
  int32_t input[4] = {fake_random(seed) % 8 == 0 ? 2 : 1, h, w, depthwise ? depth : depth * groups};
  int32_t conv[4] = {outputs, fh, fw, depth}, taps[4] = {1, fh, fw, outputs};
  l.input = fake_tensor(BERTH_TYPE_FLOAT32, 4, input, 0.0f, 0);
  l.filter = fake_tensor(draw_type(seed), 4, depthwise ? taps : conv, 0.0f, 0);
  l.bias = fake_tensor(draw_type(seed), 1, &outputs, 0.0f, 0);
  l.output[0] = input[0];
  l.output[1] = extent(l.same, h, fh, l.stride_h, l.dilation_h, &l.pad_h);
  l.output[2] = extent(l.same, w, fw, l.stride_w, l.dilation_w, &l.pad_w);
  l.output[3] = outputs;
  draw_data(&l, seed);
  return l;
}

static layer_t draw_dense(uint64_t *seed) {
  layer_t l = {.kernel = &berth_kernel_fully_connected,
               .dense = true,
               .stride_h = 1,
               .stride_w = 1,
               .dilation_h = 1,
               .dilation_w = 1};
  int32_t depth = fake_between(seed, 1, 300), units = fake_between(seed, 1, 40);
  int32_t input[4] = {1, fake_between(seed, 1, 4), fake_between(seed, 1, 5), depth};
  int32_t filter[4] = {units, 1, 1, depth}, output[4] = {1, input[1], input[2], units};
  l.input = fake_tensor(BERTH_TYPE_FLOAT32, 4, input, 0.0f, 0);
  l.filter = fake_tensor(draw_type(seed), 4, filter, 0.0f, 0);
  l.bias = fake_tensor(draw_type(seed), 1, &units, 0.0f, 0);
  memcpy(l.output, output, sizeof output);
  draw_data(&l, seed);
  return l;
}

static void discard(layer_t *l) {
  void *all[] = {l->input_data, l->filter_data, l->bias_data, l->inputs, l->filters, l->biases};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void open(fake_t *fake, const layer_t *l, uint32_t cpu) {
  fake_open(fake, l->kernel);
  fake_input(fake, l->input, l->input_data);
  berth_value_t filter = l->filter;
  if (l->dense) {
    filter.rank = 2;
    filter.dims[1] = filter.dims[3];
    fake_measure(&filter);
  }
  fake_input(fake, filter, l->filter_data);
  if (l->bias.present) fake_input(fake, l->bias, l->bias_data);
  fake_output(fake, fake_tensor(BERTH_TYPE_FLOAT32, 0, NULL, 0.0f, 0));
  fake->call.cpu = cpu;
  if (l->dense) {
    fake_option(fake, BERTH_FULLY_CONNECTED_ACTIVATION, l->activation);
    fake_option(fake, BERTH_FULLY_CONNECTED_KEEP_NUM_DIMS, 1);
    return;
  }
  bool d = l->depthwise;
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_PADDING : BERTH_CONV_2D_PADDING,
              l->same ? BERTH_PADDING_SAME : BERTH_PADDING_VALID);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_STRIDE_H : BERTH_CONV_2D_STRIDE_H, l->stride_h);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_STRIDE_W : BERTH_CONV_2D_STRIDE_W, l->stride_w);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_DILATION_H : BERTH_CONV_2D_DILATION_H,
              l->dilation_h);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_DILATION_W : BERTH_CONV_2D_DILATION_W,
              l->dilation_w);
  fake_option(fake, d ? BERTH_DEPTHWISE_CONV_2D_ACTIVATION : BERTH_CONV_2D_ACTIVATION,
              l->activation);
}

/* Grants `bytes` of scratch instead of what there was. */
static void grant(fake_t *fake, uint32_t bytes) {
  free(fake->call.scratch[0]);
  fake->call.scratch[0] = fake_memory(bytes);
  fake->call.scratch_bytes = bytes;
}

/* ---- Checks --------------------------------------------------------------------------------- */

/* `step` rows at a time from a ring that holds no more input rows than the contract's window says,
 * or, where the image has several batches, from the whole image. */
static void check_rows(fake_t *fake, const void *expected, uint32_t step) {
  berth_value_t *input = &fake->value[fake->input[0]], *output = &fake->value[fake->output[0]];
  if (fake->contract.kind != BERTH_ROW_LOCAL) return;
  berth_window_t window = fake->contract.windows[0];
  uint8_t *whole = input->data;
  uint32_t ring = (uint32_t)window.extent + (step - 1) * (uint32_t)window.numerator;
  if (ring > input->rows) ring = input->rows;
  uint32_t kept = 0, rows = output->rows, last;
  input->ring = ring;
  input->data = fake_memory(ring * input->row_bytes);
  output->ring = rows > step ? step + 1 : rows;
  for (uint32_t first = 0; first < rows; first = last) {
    last = first + step < rows ? first + step : rows;
    int64_t end = (int64_t)(last - 1) * window.numerator / window.denominator + window.offset;
    for (; kept < input->rows && kept < end + window.extent; kept++) {
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
  output->ring = rows;
}

static void check(const layer_t *l) {
  for (int vector = 0; vector < 2; vector++) {
    fake_t fake;
    open(&fake, l, vector ? berth_cpu_detect() : 0);
    assert_int_equal(fake_prepare(&fake), BERTH_OK);
    const berth_value_t *output = &fake.value[fake.output[0]];
    assert_int_equal(output->rank, 4);
    assert_memory_equal(output->dims, l->output, sizeof l->output);
    grant(&fake, fake.contract.wish);
    assert_int_equal(fake_eval(&fake), BERTH_OK);
    check_near(l, (const float *)(const void *)output->data);
    void *expected = malloc(output->bytes);
    assert_non_null(expected);
    memcpy(expected, output->data, output->bytes);
    for (uint32_t part = 0; part < 4; part++) {
      grant(&fake, fake.contract.wish / 4 * part & ~15u);
      memset(output->data, 0xa5, output->bytes);
      assert_int_equal(fake_eval(&fake), BERTH_OK);
      assert_memory_equal(output->data, expected, output->bytes);
    }
    check_rows(&fake, expected, 1);
    grant(&fake, fake.contract.wish);
    check_rows(&fake, expected, 1);
    check_rows(&fake, expected, 3);
    free(expected);
    fake_close(&fake);
  }
}

static void check_many(int cases, layer_t (*draw_layer)(bool, uint64_t *), bool depthwise) {
  uint64_t seed = depthwise;
  for (int i = 0; i < cases; i++) {
    layer_t l = draw_layer(depthwise, &seed);
    check(&l);
    discard(&l);
  }
}

static void a_convolution_is_near_its_definition_however_it_runs(void **state) {
  (void)state;
  check_many(500, draw_conv, false);
}

static void a_depthwise_convolution_is_near_its_definition_however_it_runs(void **state) {
  (void)state;
  check_many(500, draw_conv, true);
}

static void a_fully_connected_layer_is_near_its_definition_however_it_runs(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int i = 0; i < 300; i++) {
    layer_t l = draw_dense(&seed);
    check(&l);
    discard(&l);
  }
}

static void weights_of_another_type_are_refused(void **state) {
  (void)state;
  uint64_t seed = 4;
  for (int i = 0; i < 3; i++) {
    layer_t l = i == 2 ? draw_dense(&seed) : draw_conv(i == 1, &seed);
    fake_t fake;
    l.bias.present = true;
    open(&fake, &l, 0);
    fake.value[fake.input[2]].type = BERTH_TYPE_INT32;
    assert_int_equal(fake_prepare(&fake), BERTH_ERROR_OPERATOR);
    assert_non_null(fake.call.why);
    fake_close(&fake);
    discard(&l);
  }
}

static void a_constant_input_that_is_not_aligned_is_refused(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (int i = 0; i < 3; i++) {
    layer_t l = i == 2 ? draw_dense(&seed) : draw_conv(i == 1, &seed);
    for (uint32_t shift = 0; shift < 2; shift++) {
      fake_t fake;
      open(&fake, &l, 0);
      fake.value[fake.input[0]].constant = true;
      fake.value[fake.input[0]].data += shift;
      assert_int_equal(fake_prepare(&fake), shift > 0 ? BERTH_ERROR_OPERATOR : BERTH_OK);
      fake_close(&fake);
    }
    discard(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convolution_is_near_its_definition_however_it_runs),
      cmocka_unit_test(a_depthwise_convolution_is_near_its_definition_however_it_runs),
      cmocka_unit_test(a_fully_connected_layer_is_near_its_definition_however_it_runs),
      cmocka_unit_test(weights_of_another_type_are_refused),
      cmocka_unit_test(a_constant_input_that_is_not_aligned_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
