/* AVERAGE_POOL_2D, MAX_POOL_2D and (float only) L2_POOL_2D, with a fused activation; row-local, or
 * accumulating where there is only one output row, as in a global pool. An image of height 1 is
 * taken on its side, so that its columns are rows.
 *
 * The channels of one output position are summed up, or compared, in blocks on the stack, so that
 * the innermost loop runs over channels and vectorises. An integer average is rounded to nearest,
 * ties away from zero, over the positions inside the image, as the reference kernels do.
 */
#include "operators/elementwise.h"
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"
#include <string.h>

#define BLOCK 64u /* channels at a time */

typedef struct pool {
  int32_t stride_h, stride_w, filter_h, filter_w;
  int32_t top, left; /* padding */
  int32_t height, width, depth;
  int32_t output_height, output_width;
  int32_t min, max;
  float float_min, float_max;
  bool turned; /* on its side */
} pool_t;

static bool is_max(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_MAX_POOL_2D;
}

static bool is_l2(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_L2_POOL_2D;
}

/* Output length and padding before, for one dimension. */
static int32_t measure(int32_t length, int32_t filter, int32_t stride, bool same, int32_t *before) {
  *before = 0;
  if (!same) return length < filter ? 0 : (length - filter) / stride + 1;
  int32_t output = (int32_t)(((int64_t)length + stride - 1) / stride);
  int64_t padding = (int64_t)(output - 1) * stride + filter - length;
  *before = padding > 0 ? (int32_t)(padding / 2) : 0;
  return output;
}

/* Makes columns of an image of height 1 its rows. */
static void turn(pool_t *pool) {
  *pool = (pool_t){.stride_h = pool->stride_w,
                   .stride_w = 1,
                   .filter_h = pool->filter_w,
                   .filter_w = 1,
                   .top = pool->left,
                   .height = pool->width,
                   .width = 1,
                   .depth = pool->depth,
                   .output_height = pool->output_width,
                   .output_width = 1,
                   .min = pool->min,
                   .max = pool->max,
                   .float_min = pool->float_min,
                   .float_max = pool->float_max,
                   .turned = true};
}

static berth_status_t read_pool(berth_call_t *call, const berth_value_t *input,
                                const berth_value_t *output, pool_t *pool) {
  berth_table_t options = call->op.options;
  int32_t padding = berth_option_byte(options, BERTH_POOL_2D_PADDING, 0);
  int32_t activation = berth_option_byte(options, BERTH_POOL_2D_ACTIVATION, 0);
  *pool = (pool_t){.stride_h = berth_option_int(options, BERTH_POOL_2D_STRIDE_H, 0),
                   .stride_w = berth_option_int(options, BERTH_POOL_2D_STRIDE_W, 0),
                   .filter_h = berth_option_int(options, BERTH_POOL_2D_FILTER_H, 0),
                   .filter_w = berth_option_int(options, BERTH_POOL_2D_FILTER_W, 0),
                   .height = input->dims[1],
                   .width = input->dims[2],
                   .depth = input->dims[3]};
  if (pool->stride_h < 1 || pool->stride_w < 1 || pool->filter_h < 1 || pool->filter_w < 1)
    return berth_refuse(call, "a stride or a filter size is not positive");
  if (pool->filter_h > 32768 || pool->filter_w > 32768)
    return berth_refuse(call, "a filter size is too large");
  bool same = padding == BERTH_PADDING_SAME;
  pool->output_height = measure(pool->height, pool->filter_h, pool->stride_h, same, &pool->top);
  pool->output_width = measure(pool->width, pool->filter_w, pool->stride_w, same, &pool->left);
  if (activation < BERTH_ACTIVATION_NONE || activation > BERTH_ACTIVATION_RELU6)
    return berth_refuse(call, "cannot apply this activation");
  berth_activation_range_float(activation, &pool->float_min, &pool->float_max);
  if (activation != BERTH_ACTIVATION_NONE && berth_is_quantized_type(output->type) &&
      !berth_has_scale(output))
    return berth_refuse(call, "needs a scale for the activation");
  if (berth_is_quantized_type(output->type))
    berth_activation_range(output, activation, &pool->min, &pool->max);
  if (pool->height == 1 && pool->output_height == 1) turn(pool);
  return BERTH_OK;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (input.type != BERTH_TYPE_FLOAT32 && !berth_is_quantized_type(input.type))
    return berth_refuse(call, "cannot take this type");
  if (is_l2(call) && input.type != BERTH_TYPE_FLOAT32)
    return berth_refuse(call, "takes float32 only");
  if (input.rank != 4) return berth_refuse(call, "takes four dimensions only");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  pool_t pool;
  berth_status_t status = read_pool(call, &input, &output, &pool);
  if (status != BERTH_OK) return status;
  /* A sum, and half a count more, must fit 32 bits. */
  int64_t rows = pool.filter_h < pool.height ? pool.filter_h : pool.height;
  int64_t columns = pool.filter_w < pool.width ? pool.filter_w : pool.width;
  if (rows * columns > (input.type == BERTH_TYPE_INT16 ? 1 << 15 : 1 << 22))
    return berth_refuse(call, "the filter is too large");
  if (input.dims[0] == 1) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->ordered = true;
    contract->windows[0] = (berth_window_t){pool.stride_h, 1, -pool.top, pool.filter_h};
  }
  if (input.dims[0] == 1 && pool.output_height == 1 && pool.height > 1) {
    uint64_t bytes = (uint64_t)pool.output_width * (uint32_t)pool.depth * sizeof(int32_t);
    if (bytes > UINT32_MAX) return BERTH_ERROR_OVERFLOW;
    contract->kind = BERTH_ACCUMULATING;
    contract->accumulator = (uint32_t)bytes;
  }
  int32_t dims[] = {input.dims[0], pool.turned ? pool.output_width : pool.output_height,
                    pool.turned ? pool.output_height : pool.output_width, pool.depth};
  return berth_set_shape(call, 0, 4, dims);
}

/* ---- One block of channels ------------------------------------------------------------------ */

/* The part of the input under one output position: rows [y0, y1) of an image whose row 0 is row
 * `image` of the tensor, positions [x0, x1), channels from `channel` on. */
typedef struct patch {
  const berth_value_t *input;
  uint32_t image;
  int32_t y0, y1, x0, x1;
  uint32_t depth, channel, channels;
} patch_t;

#define FOR_EACH_POSITION(type, body)                                                              \
  for (int32_t y = p->y0; y < p->y1; y++) {                                                        \
    const type *line = (const type *)berth_row(p->input, p->image + (uint32_t)y) +                 \
                       (size_t)p->x0 * p->depth + p->channel;                                      \
    for (int32_t x = p->x0; x < p->x1; x++, line += p->depth)                                      \
      for (uint32_t c = 0; c < channels; c++) body                                                 \
  }

/* acc / count, ties away from zero. */
static inline int32_t average(int32_t sum, int32_t count) {
  return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

static inline int32_t positions(const patch_t *p) {
  return (p->y1 - p->y0) * (p->x1 - p->x0);
}

/* Accumulators of some channels are begun, patches added to them, and results made of them: sums
 * of 32 bits for an average, elements for a maximum. */
#define DEFINE_MAX(name, type, target)                                                             \
  target static inline void add_max_##name(const patch_t *p, void *to) {                           \
    type *most = to;                                                                               \
    const uint32_t channels = p->channels;                                                         \
    FOR_EACH_POSITION(type, most[c] = line[c] > most[c] ? line[c] : most[c];)                      \
  }

#define DEFINE_BLOCKS(name, type, sum_type, target)                                                \
  target static void average_##name(const patch_t *p, const pool_t *pool, void *to) {              \
    sum_type sums[BLOCK];                                                                          \
    begin_average_##name(pool, sums, BLOCK);                                                       \
    add_average_##name(p, sums);                                                                   \
    end_average_##name(pool, sums, p->channels, positions(p), to);                                 \
  }                                                                                                \
  target static void max_##name(const patch_t *p, const pool_t *pool, void *to) {                  \
    type most[BLOCK];                                                                              \
    begin_max_##name(pool, most, p->channels);                                                     \
    add_max_##name(p, most);                                                                       \
    end_max_##name(pool, most, p->channels, 0, to);                                                \
  }

#define DEFINE_INTEGER(name, type, target)                                                         \
  target static inline void begin_average_##name(const pool_t *pool, void *to, uint32_t count) {   \
    (void)pool;                                                                                    \
    memset(to, 0, count * sizeof(int32_t));                                                        \
  }                                                                                                \
  target static inline void add_average_##name(const patch_t *p, void *to) {                       \
    int32_t *sums = to;                                                                            \
    const uint32_t channels = p->channels;                                                         \
    FOR_EACH_POSITION(type, sums[c] += line[c];)                                                   \
  }                                                                                                \
  target static inline void end_average_##name(const pool_t *pool, const void *from,               \
                                               uint32_t channels, int32_t count, void *to) {       \
    const int32_t *sums = from;                                                                    \
    type *result = to;                                                                             \
    for (uint32_t c = 0; c < channels; c++)                                                        \
      result[c] = (type)berth_clamp(average(sums[c], count), pool->min, pool->max);                \
  }                                                                                                \
  target static inline void begin_max_##name(const pool_t *pool, void *to, uint32_t count) {       \
    for (uint32_t c = 0; c < count; c++) ((type *)to)[c] = (type)pool->min;                        \
  }                                                                                                \
  DEFINE_MAX(name, type, target)                                                                   \
  target static inline void end_max_##name(const pool_t *pool, const void *from,                   \
                                           uint32_t channels, int32_t count, void *to) {           \
    const type *most = from;                                                                       \
    type *result = to;                                                                             \
    (void)count;                                                                                   \
    for (uint32_t c = 0; c < channels; c++)                                                        \
      result[c] = most[c] > pool->max ? (type)pool->max : most[c];                                 \
  }                                                                                                \
  DEFINE_BLOCKS(name, type, int32_t, target)

#define DEFINE_FLOAT(name, target)                                                                 \
  target static inline void begin_average_##name(const pool_t *pool, void *to, uint32_t count) {   \
    (void)pool;                                                                                    \
    memset(to, 0, count * sizeof(float));                                                          \
  }                                                                                                \
  target static inline void add_average_##name(const patch_t *p, void *to) {                       \
    float *sums = to;                                                                              \
    const uint32_t channels = p->channels;                                                         \
    FOR_EACH_POSITION(float, sums[c] += line[c];)                                                  \
  }                                                                                                \
  target static inline void end_average_##name(const pool_t *pool, const void *from,               \
                                               uint32_t channels, int32_t count, void *to) {       \
    const float *sums = from;                                                                      \
    float *result = to;                                                                            \
    for (uint32_t c = 0; c < channels; c++) {                                                      \
      float mean = sums[c] / (float)count;                                                         \
      mean = mean < pool->float_min ? pool->float_min : mean;                                      \
      result[c] = mean > pool->float_max ? pool->float_max : mean;                                 \
    }                                                                                              \
  }                                                                                                \
  target static inline void begin_l2_##name(const pool_t *pool, void *to, uint32_t count) {        \
    begin_average_##name(pool, to, count);                                                         \
  }                                                                                                \
  target static inline void add_l2_##name(const patch_t *p, void *to) {                            \
    float *sums = to;                                                                              \
    const uint32_t channels = p->channels;                                                         \
    FOR_EACH_POSITION(float, sums[c] += line[c] * line[c];)                                        \
  }                                                                                                \
  target static inline void end_l2_##name(const pool_t *pool, const void *from, uint32_t channels, \
                                          int32_t count, void *to) {                               \
    const float *sums = from;                                                                      \
    float *result = to;                                                                            \
    for (uint32_t c = 0; c < channels; c++) {                                                      \
      float root = sqrtf(sums[c] / (float)count);                                                  \
      root = root < pool->float_min ? pool->float_min : root;                                      \
      result[c] = root > pool->float_max ? pool->float_max : root;                                 \
    }                                                                                              \
  }                                                                                                \
  target static void l2_##name(const patch_t *p, const pool_t *pool, void *to) {                   \
    float sums[BLOCK];                                                                             \
    begin_l2_##name(pool, sums, BLOCK);                                                            \
    add_l2_##name(p, sums);                                                                        \
    end_l2_##name(pool, sums, p->channels, positions(p), to);                                      \
  }                                                                                                \
  target static inline void begin_max_##name(const pool_t *pool, void *to, uint32_t count) {       \
    for (uint32_t c = 0; c < count; c++)                                                           \
      ((float *)to)[c] = pool->float_min > -3.402823466e38f ? pool->float_min : -3.402823466e38f;  \
  }                                                                                                \
  DEFINE_MAX(name, float, target)                                                                  \
  target static inline void end_max_##name(const pool_t *pool, const void *from,                   \
                                           uint32_t channels, int32_t count, void *to) {           \
    const float *most = from;                                                                      \
    float *result = to;                                                                            \
    (void)count;                                                                                   \
    for (uint32_t c = 0; c < channels; c++)                                                        \
      result[c] = most[c] > pool->float_max ? pool->float_max : most[c];                           \
  }                                                                                                \
  DEFINE_BLOCKS(name, float, float, target)

DEFINE_INTEGER(int8, int8_t, )
DEFINE_INTEGER(uint8, uint8_t, )
DEFINE_INTEGER(int16, int16_t, )
DEFINE_FLOAT(float, )
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define AVX2 __attribute__((target("avx2")))
DEFINE_INTEGER(int8_avx2, int8_t, AVX2)
DEFINE_INTEGER(uint8_avx2, uint8_t, AVX2)
DEFINE_INTEGER(int16_avx2, int16_t, AVX2)
DEFINE_FLOAT(float_avx2, AVX2)
#endif

/* The functions for one operator and type. */
typedef struct way {
  void (*block)(const patch_t *patch, const pool_t *pool, void *to);
  void (*begin)(const pool_t *pool, void *to, uint32_t count);
  void (*add)(const patch_t *patch, void *to);
  void (*end)(const pool_t *pool, const void *from, uint32_t channels, int32_t count, void *to);
} way_t;

#define WAY(call, name)                                                                            \
  (way_t) {                                                                                        \
    BERTH_RUN_FOR(call, name), BERTH_RUN_FOR(call, begin_##name), BERTH_RUN_FOR(call, add_##name), \
        BERTH_RUN_FOR(call, end_##name)                                                            \
  }
#define PICK(call, name) (is_max(call) ? WAY(call, max_##name) : WAY(call, average_##name))

static way_t pick(const berth_call_t *call, berth_tensor_type_t type) {
  if (is_l2(call)) return WAY(call, l2_float);
  return type == BERTH_TYPE_INT8    ? PICK(call, int8)
         : type == BERTH_TYPE_UINT8 ? PICK(call, uint8)
         : type == BERTH_TYPE_INT16 ? PICK(call, int16)
                                    : PICK(call, float);
}

static int32_t at_least_0(int32_t x) {
  return x > 0 ? x : 0;
}
static int32_t at_most(int32_t x, int32_t limit) {
  return x < limit ? x : limit;
}

/* Columns of the input under output position `x`. */
static void set_columns(patch_t *patch, const pool_t *pool, int32_t x) {
  int32_t first = x * pool->stride_w - pool->left;
  patch->x0 = at_least_0(first);
  patch->x1 = at_most(first + pool->filter_w, pool->width);
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  pool_t pool;
  berth_status_t status = read_pool(call, &input, &output, &pool);
  if (status != BERTH_OK || output.bytes == 0) return status;
  way_t way = pick(call, input.type);
  uint32_t element = berth_element_bytes(input.type), depth = (uint32_t)pool.depth;
  uint32_t first = call->first_row, last = call->last_row;
  uint32_t rows = (uint32_t)input.dims[0] * (uint32_t)pool.output_height;
  if (output.rows != rows) { /* of height 1 that was more: all of it, whose rows are columns */
    output = berth_with_rows(output, rows);
    first = 0;
    last = rows;
  }
  patch_t patch = {.input = &input, .depth = depth};
  for (uint32_t row = first; row < last; row++) {
    uint32_t image = row / (uint32_t)pool.output_height;
    int32_t y = (int32_t)(row % (uint32_t)pool.output_height) * pool.stride_h - pool.top;
    uint8_t *to = berth_row(&output, row);
    patch.image = image * (uint32_t)pool.height;
    patch.y0 = at_least_0(y);
    patch.y1 = at_most(y + pool.filter_h, pool.height);
    for (int32_t i = 0; i < pool.output_width; i++) {
      set_columns(&patch, &pool, i);
      for (patch.channel = 0; patch.channel < depth; patch.channel += BLOCK) {
        patch.channels = depth - patch.channel < BLOCK ? depth - patch.channel : BLOCK;
        way.block(&patch, &pool, to);
        to += (size_t)patch.channels * element;
      }
    }
  }
  return BERTH_OK;
}

/* ---- One output row, as the input's rows come ----------------------------------------------- */

static berth_status_t begin(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  pool_t pool;
  berth_status_t status = read_pool(call, &input, &output, &pool);
  if (status != BERTH_OK || output.elements == 0) return status; /* nothing needs no sums */
  pick(call, input.type).begin(&pool, call->scratch[0], output.elements);
  return BERTH_OK;
}

static berth_status_t accumulate(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  pool_t pool;
  berth_status_t status = read_pool(call, &input, &output, &pool);
  if (status != BERTH_OK) return status;
  way_t way = pick(call, input.type);
  uint32_t depth = (uint32_t)pool.depth,
           last = (uint32_t)at_most(pool.filter_h - pool.top, pool.height);
  uint32_t element = is_max(call) ? berth_element_bytes(input.type) : sizeof(int32_t);
  patch_t patch = {.input = &input, .depth = depth};
  for (uint32_t row = call->first_row; row < call->last_row && row < last; row++) {
    uint8_t *to = call->scratch[0];
    patch.y0 = (int32_t)row;
    patch.y1 = patch.y0 + 1;
    for (int32_t x = 0; x < pool.output_width; x++) {
      set_columns(&patch, &pool, x);
      for (patch.channel = 0; patch.channel < depth; patch.channel += BLOCK) {
        patch.channels = depth - patch.channel < BLOCK ? depth - patch.channel : BLOCK;
        way.add(&patch, to);
        to += (size_t)patch.channels * element;
      }
    }
  }
  return BERTH_OK;
}

static berth_status_t finish(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  pool_t pool;
  berth_status_t status = read_pool(call, &input, &output, &pool);
  if (status != BERTH_OK) return status;
  way_t way = pick(call, input.type);
  uint32_t depth = (uint32_t)pool.depth, element = berth_element_bytes(input.type);
  uint32_t step = is_max(call) ? element : sizeof(int32_t);
  patch_t patch = {.y1 = at_most(pool.filter_h - pool.top, pool.height)};
  for (int32_t x = 0; x < pool.output_width; x++) {
    set_columns(&patch, &pool, x);
    way.end(&pool, (uint8_t *)call->scratch[0] + (size_t)x * depth * step, depth, positions(&patch),
            output.data + (size_t)x * depth * element);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_average_pool_2d = {.code = BERTH_BUILTIN_AVERAGE_POOL_2D,
                                                     .prepare = prepare,
                                                     .eval = eval,
                                                     .begin = begin,
                                                     .accumulate = accumulate,
                                                     .finish = finish};
const berth_kernel_t berth_kernel_l2_pool_2d = {.code = BERTH_BUILTIN_L2_POOL_2D,
                                                .prepare = prepare,
                                                .eval = eval,
                                                .begin = begin,
                                                .accumulate = accumulate,
                                                .finish = finish};
const berth_kernel_t berth_kernel_max_pool_2d = {.code = BERTH_BUILTIN_MAX_POOL_2D,
                                                 .prepare = prepare,
                                                 .eval = eval,
                                                 .begin = begin,
                                                 .accumulate = accumulate,
                                                 .finish = finish};
