/* RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, row-local.
 *
 * Which input rows an output row reads follows from the same arithmetic that eval uses (float, or
 * 10 bits of fraction for int8 bilinear), so the window is found by asking it for every output row.
 * int8 and int16 bilinear is TFLM's integer interpolation; uint8 TFLite's, which rounds floats.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

typedef struct resize {
  bool nearest, align_corners, half_pixel;
  bool integer; /* positions in units of 2^-10 */
  bool bytes;   /* uint8 */
  int32_t height, width, depth;
  int32_t output_height, output_width;
  bool turned; /* images of height 1 are taken on their side: their columns are rows */
} resize_t;

/* One output position: the input positions on both sides, and how far it is from the first. */
typedef struct position {
  int32_t low, high;
  float fraction;
  int32_t fraction_10; /* in 2^-10 */
} position_t;

static position_t nearest_position(int32_t at, int32_t input, int32_t output,
                                   const resize_t *resize) {
  float scale = resize->align_corners && output > 1 ? (float)(input - 1) / (float)(output - 1)
                                                    : (float)input / (float)output;
  float scaled = ((float)at + (resize->half_pixel ? 0.5f : 0.0f)) * scale;
  int32_t position = (int32_t)(resize->align_corners ? roundf(scaled) : floorf(scaled));
  position = berth_clamp(position, 0, input - 1);
  return (position_t){position, position, 0.0f, 0};
}

static position_t integer_position(int32_t at, int32_t input, int32_t output,
                                   const resize_t *resize) {
  int64_t scale = ((int64_t)1024 * input + output / 2) / output;
  if (resize->align_corners && output > 1)
    scale = ((int64_t)1024 * (input - 1) + (output - 1) / 2) / (output - 1);
  int64_t scaled = at * scale;
  if (resize->half_pixel) scaled += scale / 2 - 512;
  int64_t low = scaled / 1024, high = (scaled + 1023) / 1024;
  if (low < 0) low = 0;
  if (low > input - 1) low = input - 1;
  if (high > input - 1) high = input - 1;
  return (position_t){(int32_t)low, (int32_t)high, 0.0f, (int32_t)(scaled - 1024 * low)};
}

static position_t float_position(int32_t at, int32_t input, int32_t output,
                                 const resize_t *resize) {
  float scale = (float)input / (float)output;
  if (resize->align_corners && output > 1) scale = (float)(input - 1) / (float)(output - 1);
  float scaled = resize->half_pixel ? ((float)at + 0.5f) * scale - 0.5f : (float)at * scale;
  int32_t low = (int32_t)scaled; /* floorf and ceilf, which are slow calls on some machines */
  if ((float)low > scaled) low--;
  int32_t high = (float)low < scaled ? low + 1 : low;
  low = berth_clamp(low, 0, input - 1);
  return (position_t){low, berth_clamp(high, 0, input - 1), scaled - (float)low, 0};
}

static position_t position_of(int32_t at, int32_t input, int32_t output, const resize_t *resize) {
  return resize->nearest   ? nearest_position(at, input, output, resize)
         : resize->integer ? integer_position(at, input, output, resize)
                           : float_position(at, input, output, resize);
}

static berth_status_t read_resize(berth_call_t *call, const berth_value_t *input,
                                  resize_t *resize) {
  berth_value_t size = berth_input(call, 1);
  berth_table_t options = call->op.options;
  if (!berth_shape_is_int(&size) || size.elements != 2)
    return berth_refuse(call, "the size must be two integers");
  int64_t height = berth_shape_int(&size, 0), width = berth_shape_int(&size, 1);
  *resize = (resize_t){.nearest = call->op.code == BERTH_BUILTIN_RESIZE_NEAREST_NEIGHBOR,
                       .integer = input->type == BERTH_TYPE_INT8 || input->type == BERTH_TYPE_INT16,
                       .bytes = input->type == BERTH_TYPE_UINT8,
                       .height = input->dims[1],
                       .width = input->dims[2],
                       .depth = input->dims[3]};
  resize->align_corners = berth_option_byte(options,
                                            resize->nearest ? BERTH_RESIZE_NEAREST_ALIGN_CORNERS
                                                            : BERTH_RESIZE_BILINEAR_ALIGN_CORNERS,
                                            0) != 0;
  resize->half_pixel = berth_option_byte(options,
                                         resize->nearest ? BERTH_RESIZE_NEAREST_HALF_PIXEL_CENTERS
                                                         : BERTH_RESIZE_BILINEAR_HALF_PIXEL_CENTERS,
                                         0) != 0;
  if (height < 1 || width < 1 || height > 1 << 20 || width > 1 << 20 || resize->height > 1 << 20 ||
      resize->width > 1 << 20)
    return berth_refuse(call, "a size is out of range");
  if (resize->height < 1 || resize->width < 1) return berth_refuse(call, "the input is empty");
  if (resize->align_corners && resize->half_pixel)
    return berth_refuse(call, "cannot align corners and take pixels' centres");
  resize->output_height = (int32_t)height;
  resize->output_width = (int32_t)width;
  if (height == 1 && resize->height == 1) {
    resize->turned = true;
    resize->height = resize->width;
    resize->output_height = resize->output_width;
    resize->width = resize->output_width = 1;
  }
  return BERTH_OK;
}

static void shape_of(const resize_t *resize, const berth_value_t *input, int32_t dims[4]) {
  dims[0] = input->dims[0];
  dims[1] = resize->turned ? resize->output_width : resize->output_height;
  dims[2] = resize->turned ? resize->output_height : resize->output_width;
  dims[3] = resize->depth;
}

/* The narrowest window around floor(row x height / output height) that holds what all rows read. */
static berth_window_t window_of(const resize_t *resize) {
  int32_t least = INT32_MAX, most = INT32_MIN;
  for (int32_t y = 0; y < resize->output_height; y++) {
    position_t position = position_of(y, resize->height, resize->output_height, resize);
    int32_t base = (int32_t)((int64_t)y * resize->height / resize->output_height);
    if (position.low - base < least) least = position.low - base;
    if (position.high - base > most) most = position.high - base;
  }
  return (berth_window_t){resize->height, resize->output_height, least, most - least + 1};
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t size = berth_input(call, 1);
  if (!input.present || !size.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (input.type != BERTH_TYPE_FLOAT32 && !berth_is_quantized_type(input.type))
    return berth_refuse(call, "cannot take this type");
  if (input.rank != 4) return berth_refuse(call, "takes four dimensions only");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  if (!size.constant) return berth_set_unknown(call, 0);
  resize_t resize;
  berth_status_t status = read_resize(call, &input, &resize);
  if (status != BERTH_OK) return status;
  int32_t dims[4];
  shape_of(&resize, &input, dims);
  if (resize.turned || berth_shape_rows_are_high(input.dims, dims)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] = window_of(&resize);
    contract->windows[1] = berth_window_all();
  }
  return berth_set_shape(call, 0, 4, dims);
}

/* ---- One output position -------------------------------------------------------------------- */

#define BLOCK 64u /* channels of uint8 that are kept as floats */
#define LANES 32u

/* The pixels around it: upper and lower row, left and right. */
typedef struct corners {
  const void *upper_left, *upper_right, *lower_left, *lower_right;
} corners_t;

#define CORNERS(type)                                                                              \
  const type *ul = c->upper_left, *ur = c->upper_right, *ll = c->lower_left, *lr = c->lower_right; \
  type *result = to

/* Weights in the order of the corners. */
static inline void weigh(const position_t *x, const position_t *y, float *w) {
  w[0] = (1.0f - y->fraction) * (1.0f - x->fraction);
  w[1] = (1.0f - y->fraction) * x->fraction;
  w[2] = y->fraction * (1.0f - x->fraction);
  w[3] = y->fraction * x->fraction;
}

#define DEFINE_FLOATS(suffix, target)                                                              \
  target static void blend_float##suffix(const corners_t *c, const position_t *x,                  \
                                         const position_t *y, void *to, uint32_t depth) {          \
    CORNERS(float);                                                                                \
    float w[4];                                                                                    \
    weigh(x, y, w);                                                                                \
    BERTH_INDEPENDENT                                                                              \
    for (uint32_t i = 0; i < depth; i++)                                                           \
      result[i] = ul[i] * w[0] + ur[i] * w[1] + ll[i] * w[2] + lr[i] * w[3];                       \
  }                                                                                                \
  target static void blend_uint8##suffix(const corners_t *c, const position_t *x,                  \
                                         const position_t *y, void *to, uint32_t depth) {          \
    CORNERS(uint8_t);                                                                              \
    float w[4];                                                                                    \
    weigh(x, y, w);                                                                                \
    BERTH_INDEPENDENT                                                                              \
    for (uint32_t i = 0; i < depth; i++)                                                           \
      result[i] = (uint8_t)(int32_t)((float)ul[i] * w[0] + (float)ur[i] * w[1] +                   \
                                     (float)ll[i] * w[2] + (float)lr[i] * w[3] + 0.5f);            \
  }                                                                                                \
  /* The same for corners that were made floats before, in lines of a multiple of LANES. */        \
  target static void blend_cached##suffix(const float(*corner)[BLOCK], const position_t *x,        \
                                          const position_t *y, uint8_t *to, uint32_t depth) {      \
    uint8_t result[BLOCK];                                                                         \
    float w[4];                                                                                    \
    weigh(x, y, w);                                                                                \
    for (uint32_t i = 0; i < (depth + LANES - 1) / LANES * LANES; i++)                             \
      result[i] = (uint8_t)(int32_t)(corner[0][i] * w[0] + corner[1][i] * w[1] +                   \
                                     corner[2][i] * w[2] + corner[3][i] * w[3] + 0.5f);            \
    memcpy(to, result, depth);                                                                     \
  }

/* Products of 2^-10 weights; int8 sums fit 32 bits. Ties are rounded away from zero. */
static inline void weigh_integer(const position_t *x, const position_t *y, int32_t *w) {
  w[0] = (1024 - y->fraction_10) * (1024 - x->fraction_10);
  w[1] = (1024 - y->fraction_10) * x->fraction_10;
  w[2] = y->fraction_10 * (1024 - x->fraction_10);
  w[3] = y->fraction_10 * x->fraction_10;
}

#define DEFINE_INT8(suffix, target)                                                                \
  target static void blend_int8##suffix(const corners_t *c, const position_t *x,                   \
                                        const position_t *y, void *to, uint32_t depth) {           \
    CORNERS(int8_t);                                                                               \
    int32_t w[4];                                                                                  \
    weigh_integer(x, y, w);                                                                        \
    BERTH_INDEPENDENT                                                                              \
    for (uint32_t i = 0; i < depth; i++) {                                                         \
      int32_t sum = ul[i] * w[0] + ur[i] * w[1] + ll[i] * w[2] + lr[i] * w[3];                     \
      result[i] = (int8_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));                  \
    }                                                                                              \
  }

static void blend_int16(const corners_t *c, const position_t *x, const position_t *y, void *to,
                        uint32_t depth) {
  CORNERS(int16_t);
  int32_t w[4];
  weigh_integer(x, y, w);
  for (uint32_t i = 0; i < depth; i++) {
    int64_t sum = (int64_t)ul[i] * w[0] + (int64_t)ur[i] * w[1] + (int64_t)ll[i] * w[2] +
                  (int64_t)lr[i] * w[3];
    result[i] = (int16_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
  }
}

DEFINE_FLOATS(, )
DEFINE_INT8(, )
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define AVX2 __attribute__((target("avx2")))
DEFINE_FLOATS(_avx2, AVX2)
DEFINE_INT8(_avx2, AVX2)
#endif

typedef void (*blend_t)(const corners_t *corners, const position_t *x, const position_t *y,
                        void *to, uint32_t depth);

static blend_t pick(const berth_call_t *call, berth_tensor_type_t type) {
  return type == BERTH_TYPE_INT8    ? BERTH_RUN_FOR(call, blend_int8)
         : type == BERTH_TYPE_INT16 ? blend_int16
         : type == BERTH_TYPE_UINT8 ? BERTH_RUN_FOR(call, blend_uint8)
                                    : BERTH_RUN_FOR(call, blend_float);
}

typedef void (*blend_cached_t)(const float (*corner)[BLOCK], const position_t *x,
                               const position_t *y, uint8_t *to, uint32_t depth);

/* A row of uint8. Many output positions have the same corners where an image is enlarged: they are
 * made floats once. */
static void resize_row_uint8(const resize_t *resize, blend_cached_t blend, const uint8_t *upper,
                             const uint8_t *lower, const position_t *y, uint8_t *to) {
  float corner[4][BLOCK] = {{0}};
  int32_t low = -1, high = -1;
  uint32_t depth = (uint32_t)resize->depth;
  for (int32_t i = 0; i < resize->output_width; i++, to += depth) {
    position_t x = position_of(i, resize->width, resize->output_width, resize);
    if (x.low != low || x.high != high) {
      low = x.low;
      high = x.high;
      for (uint32_t k = 0; k < depth; k++) {
        corner[0][k] = upper[(uint32_t)low * depth + k];
        corner[1][k] = upper[(uint32_t)high * depth + k];
        corner[2][k] = lower[(uint32_t)low * depth + k];
        corner[3][k] = lower[(uint32_t)high * depth + k];
      }
    }
    blend((const float(*)[BLOCK])corner, &x, y, to, depth);
  }
}

static void resize_row(const berth_call_t *call, const resize_t *resize, blend_t blend,
                       const uint8_t *upper, const uint8_t *lower, const position_t *y, uint8_t *to,
                       size_t pixel) {
  if (!resize->nearest && resize->bytes && pixel <= BLOCK) {
    resize_row_uint8(resize, BERTH_RUN_FOR(call, blend_cached), upper, lower, y, to);
    return;
  }
  for (int32_t i = 0; i < resize->output_width; i++, to += pixel) {
    position_t x = position_of(i, resize->width, resize->output_width, resize);
    size_t left = (size_t)x.low * pixel, right = (size_t)x.high * pixel;
    corners_t corners = {upper + left, upper + right, lower + left, lower + right};
    if (resize->nearest)
      memcpy(to, corners.upper_left, pixel);
    else
      blend(&corners, &x, y, to, (uint32_t)resize->depth);
  }
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0);
  bool computed = !berth_input(call, 1).constant;
  resize_t resize;
  berth_status_t status = read_resize(call, &input, &resize);
  if (status == BERTH_OK && computed) {
    int32_t dims[4];
    shape_of(&resize, &input, dims);
    status = berth_set_shape(call, 0, 4, dims);
  }
  berth_value_t output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;
  blend_t blend = pick(call, input.type);
  size_t pixel = (size_t)resize.depth * berth_element_bytes(input.type);
  uint32_t height = (uint32_t)resize.output_height;
  uint32_t first = computed ? 0 : call->first_row, last = computed ? output.rows : call->last_row;
  if (!resize.turned && !berth_shape_rows_are_high(input.dims, output.dims)) {
    input = berth_with_rows(input, (uint32_t)(input.dims[0] * input.dims[1]));
    output = berth_with_rows(output, (uint32_t)(output.dims[0] * output.dims[1]));
    first = 0;
    last = output.rows;
  }
  for (uint32_t row = first; row < last; row++) {
    uint32_t image = row / height * (uint32_t)resize.height;
    position_t y =
        position_of((int32_t)(row % height), resize.height, resize.output_height, &resize);
    resize_row(call, &resize, blend, berth_row(&input, image + (uint32_t)y.low),
               berth_row(&input, image + (uint32_t)y.high), &y, berth_row(&output, row), pixel);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_resize_bilinear = {
    .code = BERTH_BUILTIN_RESIZE_BILINEAR, .prepare = prepare, .eval = eval};
const berth_kernel_t berth_kernel_resize_nearest_neighbor = {
    .code = BERTH_BUILTIN_RESIZE_NEAREST_NEIGHBOR, .prepare = prepare, .eval = eval};
