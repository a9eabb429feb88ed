/* Random small networks as .tflite files in memory: convolutions with odd strides, dilations,
 * paddings and groups, transposed ones, pools, resizes, paddings, concatenations, sums that join
 * branches, conversions of type, reductions and fully connected ends, in int8, uint8 or float32, or
 * float32 with some weights of int8; of images, or of sequences (one row). The same seed gives the
 * same file everywhere.
 *
 *   random_network_t *net = malloc(sizeof *net);
 *   berth_model_t model = random_network(net, seed);
 */
#ifndef BERTH_TESTS_RUN_RANDOM_NETWORK_H
#define BERTH_TESTS_RUN_RANDOM_NETWORK_H

#include "test.h"

#define BUILDER_ROOM 262144
#include "berth/model.h"
#include "model/builder.h"
#include "model/fields.h"
#include <stdlib.h>
#include <string.h>

#define RANDOM_TENSORS 160
#define RANDOM_OPS     24
#define RANDOM_FIELDS  8

typedef struct random_tensor {
  berth_tensor_type_t type;
  int32_t rank, dims[4];
  float scale; /* 0: none */
  int32_t zero_point;
  int32_t scale_count, scale_dimension; /* of a filter: a scale for each of so many channels */
  bool constant;
  uint32_t data, bytes; /* of a constant, in `constants` */
  bool used;            /* somebody reads it */
} random_tensor_t;

typedef struct random_op {
  berth_builtin_t code;
  int32_t inputs[4], outputs[4];
  uint32_t input_count, output_count;
  struct {
    uint32_t field, width;
    uint64_t value;
  } options[RANDOM_FIELDS];
  uint32_t option_count;
} random_op_t;

typedef struct random_network {
  builder_t file;
  random_tensor_t tensors[RANDOM_TENSORS];
  random_op_t ops[RANDOM_OPS];
  uint32_t tensor_count, op_count;
  uint8_t constants[131072];
  uint32_t constant_bytes;
  berth_tensor_type_t type;
  uint64_t state;
} random_network_t;

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Steele, Lea & Flood, Fast Splittable Pseudorandom Number Generators, 2014. */
static inline uint32_t random_next(random_network_t *net) {
  uint64_t z = net->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

static inline int32_t random_between(random_network_t *net, int32_t low, int32_t high) {
  return low + (int32_t)(random_next(net) % (uint32_t)(high - low + 1));
}

static inline bool random_once_in(random_network_t *net, int32_t times) {
  return random_between(net, 1, times) == 1;
}

/* ---- Tensors and operators ------------------------------------------------------------------- */

static inline int32_t random_put(random_network_t *net, random_tensor_t tensor) {
  assert_true(net->tensor_count < RANDOM_TENSORS);
  net->tensors[net->tensor_count] = tensor;
  return (int32_t)net->tensor_count++;
}

/* An activation of the network's type. */
static inline int32_t random_activation(random_network_t *net, int32_t h, int32_t w, int32_t c) {
  bool real = net->type == BERTH_TYPE_FLOAT32;
  return random_put(net, (random_tensor_t){.type = net->type,
                                           .rank = 4,
                                           .dims = {1, h, w, c},
                                           .scale = real ? 0.0f : 0.05f,
                                           .zero_point = real ? 0 : 3});
}

static inline int32_t random_constant(random_network_t *net, random_tensor_t tensor,
                                      const void *data, uint32_t bytes) {
  assert_true(net->constant_bytes + bytes <= sizeof net->constants);
  tensor.constant = true;
  tensor.data = net->constant_bytes;
  tensor.bytes = bytes;
  memcpy(net->constants + tensor.data, data, bytes);
  net->constant_bytes += bytes;
  return random_put(net, tensor);
}

static inline int32_t random_ints(random_network_t *net, int32_t count, const int32_t *numbers) {
  return random_constant(net,
                         (random_tensor_t){.type = BERTH_TYPE_INT32, .rank = 1, .dims = {count}},
                         numbers, 4 * (uint32_t)count);
}

static inline int32_t random_weights_of(random_network_t *net, berth_tensor_type_t type,
                                        int32_t rank, const int32_t *dims,
                                        int32_t channel_dimension) {
  bool real = type == BERTH_TYPE_FLOAT32;
  random_tensor_t tensor = {.type = type, .rank = rank, .scale = real ? 0.0f : 0.01f};
  uint32_t count = 1;
  for (int32_t i = 0; i < rank; i++) count *= (uint32_t)(tensor.dims[i] = dims[i]);
  if (type == BERTH_TYPE_INT8 && random_once_in(net, 2)) {
    tensor.scale_count = dims[channel_dimension];
    tensor.scale_dimension = channel_dimension;
  }
  uint8_t *data = malloc(count * 4);
  assert_non_null(data);
  for (uint32_t i = 0; i < count; i++) {
    float number = (float)random_between(net, -1000, 1000) / 900.0f;
    if (real)
      memcpy(data + 4 * (size_t)i, &number, 4);
    else
      data[i] = (uint8_t)random_next(net);
  }
  int32_t index = random_constant(net, tensor, data, real ? count * 4 : count);
  free(data);
  return index;
}

/* Weights of the network's type. */
static inline int32_t random_weights(random_network_t *net, int32_t rank, const int32_t *dims,
                                     int32_t channel_dimension) {
  return random_weights_of(net, net->type, rank, dims, channel_dimension);
}

/* The same of a filter's type, which may be int8 beside floats. */
static inline int32_t random_filter(random_network_t *net, int32_t rank, const int32_t *dims) {
  bool hybrid = net->type == BERTH_TYPE_FLOAT32 && random_once_in(net, 3);
  return random_weights_of(net, hybrid ? BERTH_TYPE_INT8 : net->type, rank, dims, 0);
}

/* Biases to go with them. */
static inline int32_t random_bias(random_network_t *net, int32_t count) {
  bool real = net->type == BERTH_TYPE_FLOAT32;
  int32_t data[64];
  assert_true(count <= 64);
  for (int32_t i = 0; i < count; i++) {
    float number = (float)random_between(net, -1000, 1000) / 900.0f;
    data[i] = random_between(net, -900, 900);
    if (real) memcpy(&data[i], &number, 4);
  }
  random_tensor_t tensor = {
      .type = real ? BERTH_TYPE_FLOAT32 : BERTH_TYPE_INT32, .rank = 1, .dims = {count}};
  return random_constant(net, tensor, data, 4 * (uint32_t)count);
}

static inline random_op_t *random_op(random_network_t *net, berth_builtin_t code) {
  assert_true(net->op_count < RANDOM_OPS);
  random_op_t *op = &net->ops[net->op_count++];
  memset(op, 0, sizeof *op);
  op->code = code;
  return op;
}

static inline void random_reads(random_network_t *net, random_op_t *op, int32_t tensor) {
  op->inputs[op->input_count++] = tensor;
  net->tensors[tensor].used = true;
}

static inline int32_t random_writes(random_op_t *op, int32_t tensor) {
  op->outputs[op->output_count++] = tensor;
  return tensor;
}

static inline void random_option(random_op_t *op, uint32_t field, uint32_t width, int32_t value) {
  op->options[op->option_count].field = field;
  op->options[op->option_count].width = width;
  op->options[op->option_count++].value = (uint64_t)(uint32_t)value;
}

/* ---- Kinds of operators ---------------------------------------------------------------------- */

/* Output length of a window, or 0 if it doesn't fit. */
static inline int32_t random_length(int32_t length, int32_t filter, int32_t stride,
                                    int32_t dilation, bool same) {
  int32_t extent = (filter - 1) * dilation + 1;
  if (same) return (length + stride - 1) / stride;
  return length < extent ? 0 : (length - extent) / stride + 1;
}

/* A window over height and width. Where there is one row only, it is the width that has odd ones.
 */
typedef struct random_window {
  int32_t filter[2], stride[2], dilation[2]; /* of height, of width */
  bool same;
  int32_t size[2]; /* of the output; 0: it doesn't fit */
} random_window_t;

static inline void random_swap(int32_t *two) {
  int32_t first = two[0];
  two[0] = two[1];
  two[1] = first;
}

static inline random_window_t random_window(const int32_t *in, random_window_t window) {
  if (in[1] == 1) {
    random_swap(window.filter);
    random_swap(window.stride);
    random_swap(window.dilation);
  }
  for (int i = 0; i < 2; i++)
    window.size[i] = random_length(in[i + 1], window.filter[i], window.stride[i],
                                   window.dilation[i], window.same);
  return window;
}

static inline random_window_t random_conv_window(random_network_t *net, const int32_t *in) {
  random_window_t window = {.dilation = {1, 1}};
  bool pointwise = random_once_in(net, 4);
  window.same = random_once_in(net, 2);
  window.filter[0] = pointwise ? 1 : random_between(net, 1, 5);
  window.filter[1] = random_between(net, 1, 3);
  window.stride[0] = random_between(net, 1, random_once_in(net, 3) ? 4 : 2);
  window.stride[1] = random_between(net, 1, 2);
  if (random_once_in(net, 3)) window.dilation[0] = random_between(net, 1, 3);
  return random_window(in, window);
}

/* CONV_2D, maybe in groups, and DEPTHWISE_CONV_2D, maybe with several outputs of each channel. */
static inline int32_t random_conv(random_network_t *net, int32_t from, bool depthwise) {
  const int32_t *in = net->tensors[from].dims;
  random_window_t window = random_conv_window(net, in);
  int32_t fh = window.filter[0], fw = window.filter[1], groups = random_between(net, 1, 3);
  if (in[3] % groups != 0) groups = 1;
  if (window.size[0] == 0 || window.size[1] == 0) return -1;
  int32_t c =
      depthwise ? in[3] * random_between(net, 1, 3) : groups * random_between(net, 1, 9 / groups);
  if (c > 24) return -1;
  int32_t conv[4] = {c, fh, fw, in[3] / groups}, taps[4] = {1, fh, fw, c};
  int32_t weights = depthwise ? random_weights(net, 4, taps, 3) : random_filter(net, 4, conv),
          bias = random_bias(net, c);
  random_op_t *op =
      random_op(net, depthwise ? BERTH_BUILTIN_DEPTHWISE_CONV_2D : BERTH_BUILTIN_CONV_2D);
  random_reads(net, op, from);
  random_reads(net, op, weights);
  random_reads(net, op, bias);
  bool d = depthwise;
  random_option(op, d ? BERTH_DEPTHWISE_CONV_2D_PADDING : BERTH_CONV_2D_PADDING, 1,
                window.same ? BERTH_PADDING_SAME : BERTH_PADDING_VALID);
  random_option(op, d ? BERTH_DEPTHWISE_CONV_2D_STRIDE_H : BERTH_CONV_2D_STRIDE_H, 4,
                window.stride[0]);
  random_option(op, d ? BERTH_DEPTHWISE_CONV_2D_STRIDE_W : BERTH_CONV_2D_STRIDE_W, 4,
                window.stride[1]);
  random_option(op, d ? BERTH_DEPTHWISE_CONV_2D_DILATION_H : BERTH_CONV_2D_DILATION_H, 4,
                window.dilation[0]);
  random_option(op, d ? BERTH_DEPTHWISE_CONV_2D_DILATION_W : BERTH_CONV_2D_DILATION_W, 4,
                window.dilation[1]);
  random_option(op, d ? BERTH_DEPTHWISE_CONV_2D_ACTIVATION : BERTH_CONV_2D_ACTIVATION, 1,
                random_between(net, 0, 3));
  return random_writes(op, random_activation(net, window.size[0], window.size[1], c));
}

static inline int32_t random_transpose_conv(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  if (in[1] > 8 || in[2] > 12 || net->type == BERTH_TYPE_UINT8) return -1;
  int32_t sh = random_between(net, 1, 3), sw = random_between(net, 1, 2);
  int32_t fh = random_between(net, 1, 4), fw = random_between(net, 1, 3);
  if (in[1] == 1 && random_once_in(net, 2)) sh = fh = 1; /* it stays a sequence */
  bool same = random_once_in(net, 2);
  int32_t c = random_between(net, 1, 5);
  int32_t h = same ? in[1] * sh : (in[1] - 1) * sh + fh,
          w = same ? in[2] * sw : (in[2] - 1) * sw + fw;
  random_op_t *op = random_op(net, BERTH_BUILTIN_TRANSPOSE_CONV);
  random_reads(net, op, random_ints(net, 4, (int32_t[]){1, h, w, c}));
  random_reads(net, op, random_weights(net, 4, (int32_t[]){c, fh, fw, in[3]}, 0));
  random_reads(net, op, from);
  random_option(op, BERTH_TRANSPOSE_CONV_PADDING, 1,
                same ? BERTH_PADDING_SAME : BERTH_PADDING_VALID);
  random_option(op, BERTH_TRANSPOSE_CONV_STRIDE_H, 4, sh);
  random_option(op, BERTH_TRANSPOSE_CONV_STRIDE_W, 4, sw);
  return random_writes(op, random_activation(net, h, w, c));
}

/* Also a global pool, now and then. */
static inline int32_t random_pool(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  random_window_t window = {.dilation = {1, 1}};
  bool global = random_once_in(net, 4);
  window.same = !global && random_once_in(net, 2);
  window.filter[0] = global ? in[in[1] == 1 ? 2 : 1] : random_between(net, 1, 4);
  window.filter[1] = random_between(net, 1, 3);
  window.stride[0] = random_between(net, 1, 3);
  window.stride[1] = random_between(net, 1, 3);
  window = random_window(in, window);
  if (window.size[0] == 0 || window.size[1] == 0) return -1;
  random_op_t *op = random_op(net, random_once_in(net, 2) ? BERTH_BUILTIN_AVERAGE_POOL_2D
                                                          : BERTH_BUILTIN_MAX_POOL_2D);
  random_reads(net, op, from);
  random_option(op, BERTH_POOL_2D_PADDING, 1,
                window.same ? BERTH_PADDING_SAME : BERTH_PADDING_VALID);
  random_option(op, BERTH_POOL_2D_STRIDE_H, 4, window.stride[0]);
  random_option(op, BERTH_POOL_2D_STRIDE_W, 4, window.stride[1]);
  random_option(op, BERTH_POOL_2D_FILTER_H, 4, window.filter[0]);
  random_option(op, BERTH_POOL_2D_FILTER_W, 4, window.filter[1]);
  return random_writes(op, random_activation(net, window.size[0], window.size[1], in[3]));
}

/* A sum, product, difference or maximum with another tensor, of the same shape or one that is
 * broadcast. */
static inline int32_t random_binary(random_network_t *net, int32_t from, const int32_t *live,
                                    uint32_t count) {
  const int32_t *in = net->tensors[from].dims;
  int32_t other = -1;
  for (uint32_t i = 0; i < count; i++) {
    const int32_t *dims = net->tensors[live[i]].dims;
    if (live[i] != from && memcmp(dims, in, 4 * sizeof *dims) == 0) other = live[i];
  }
  static const berth_builtin_t codes[] = {BERTH_BUILTIN_ADD, BERTH_BUILTIN_MUL, BERTH_BUILTIN_SUB};
  if (other < 0) {
    bool channels = random_once_in(net, 2);
    other = random_weights(net, 4,
                           (int32_t[]){1, channels ? 1 : in[1], channels ? 1 : in[2], in[3]}, 3);
    net->tensors[other].scale_count = 0;
  }
  random_op_t *op = random_op(net, codes[random_between(net, 0, 2)]);
  bool swap = random_once_in(net, 2);
  random_reads(net, op, swap ? other : from);
  random_reads(net, op, swap ? from : other);
  return random_writes(op, random_activation(net, in[1], in[2], in[3]));
}

static inline int32_t random_concatenation(random_network_t *net, int32_t from, const int32_t *live,
                                           uint32_t count) {
  random_op_t *op = NULL;
  const int32_t *in = net->tensors[from].dims;
  int32_t axis = random_between(net, 1, 3), length = in[axis];
  int32_t chosen[3] = {from};
  uint32_t parts = 1;
  for (uint32_t i = 0; i < count && parts < 3; i++) {
    const int32_t *dims = net->tensors[live[i]].dims;
    bool fits = true;
    for (int32_t d = 1; d < 4; d++) fits = fits && (d == axis || dims[d] == in[d]);
    if (!fits || length + dims[axis] > 24) continue;
    chosen[parts++] = live[i];
    length += dims[axis];
  }
  if (parts < 2) return -1;
  op = random_op(net, BERTH_BUILTIN_CONCATENATION);
  for (uint32_t i = 0; i < parts; i++) random_reads(net, op, chosen[i]);
  random_option(op, BERTH_CONCATENATION_AXIS, 4, random_once_in(net, 2) ? axis : axis - 4);
  int32_t dims[4];
  memcpy(dims, in, sizeof dims);
  dims[axis] = length;
  return random_writes(op, random_activation(net, dims[1], dims[2], dims[3]));
}

static inline int32_t random_resize(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  bool nearest = random_once_in(net, 2);
  int32_t size[2] = {random_between(net, 1, 20), random_between(net, 1, 8)};
  if (in[1] == 1 && random_once_in(net, 2)) random_swap(size);
  int32_t channels = in[3];
  int32_t mode = random_between(net, 0, 2); /* neither, aligned corners, pixels' centres */
  int32_t sizes = random_ints(net, 2, size);
  random_op_t *op = random_op(net, nearest ? BERTH_BUILTIN_RESIZE_NEAREST_NEIGHBOR
                                           : BERTH_BUILTIN_RESIZE_BILINEAR);
  random_reads(net, op, from);
  random_reads(net, op, sizes);
  random_option(op,
                nearest ? BERTH_RESIZE_NEAREST_ALIGN_CORNERS : BERTH_RESIZE_BILINEAR_ALIGN_CORNERS,
                1, mode == 1);
  random_option(op,
                nearest ? BERTH_RESIZE_NEAREST_HALF_PIXEL_CENTERS
                        : BERTH_RESIZE_BILINEAR_HALF_PIXEL_CENTERS,
                1, mode == 2);
  return random_writes(op, random_activation(net, size[0], size[1], channels));
}

/* PAD, PADV2 with a number of its own, or MIRROR_PAD, whose borders are no larger than what they
 * mirror. */
static inline int32_t random_pad(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  bool mirror = random_once_in(net, 4), number = !mirror && random_once_in(net, 3);
  bool flat = in[1] == 1 || (mirror && random_once_in(net, 2)); /* no rows are added */
  int32_t pads[8] = {0}, dims[4] = {1};
  for (int32_t d = flat ? 2 : 1; d < 4; d++) {
    int32_t most = !mirror || in[d] > 2 ? 2 : in[d] - 1;
    pads[2 * d] = random_between(net, 0, most);
    pads[2 * d + 1] = random_between(net, 0, most);
  }
  for (int32_t d = 1; d < 4; d++) dims[d] = in[d] + pads[2 * d] + pads[2 * d + 1];
  int32_t paddings =
      random_constant(net, (random_tensor_t){.type = BERTH_TYPE_INT32, .rank = 2, .dims = {4, 2}},
                      pads, sizeof pads);
  int32_t value = number ? random_weights(net, 1, (int32_t[]){1}, 0) : -1;
  if (number) net->tensors[value].scale_count = 0;
  random_op_t *op = random_op(net, mirror   ? BERTH_BUILTIN_MIRROR_PAD
                                   : number ? BERTH_BUILTIN_PADV2
                                            : BERTH_BUILTIN_PAD);
  random_reads(net, op, from);
  random_reads(net, op, paddings);
  if (number) random_reads(net, op, value);
  if (mirror) random_option(op, BERTH_MIRROR_PAD_MODE, 1, random_between(net, 0, 1));
  return random_writes(op, random_activation(net, dims[1], dims[2], dims[3]));
}

/* To another type and back: with scales, or as integers. */
static inline int32_t random_there_and_back(random_network_t *net, int32_t from) {
  berth_tensor_type_t type = net->type;
  random_tensor_t other = net->tensors[from];
  bool cast = random_once_in(net, 2), real = type == BERTH_TYPE_FLOAT32;
  other.used = false;
  other.type = cast ? BERTH_TYPE_INT32 : real ? BERTH_TYPE_INT8 : BERTH_TYPE_FLOAT32;
  other.scale = !cast && real ? 0.05f : 0.0f;
  other.zero_point = !cast && real ? 3 : 0;
  berth_builtin_t there = real ? BERTH_BUILTIN_QUANTIZE : BERTH_BUILTIN_DEQUANTIZE,
                  back = real ? BERTH_BUILTIN_DEQUANTIZE : BERTH_BUILTIN_QUANTIZE;
  int32_t between = random_put(net, other);
  random_op_t *op = random_op(net, cast ? BERTH_BUILTIN_CAST : there);
  random_reads(net, op, from);
  random_writes(op, between);
  const int32_t *in = net->tensors[from].dims;
  op = random_op(net, cast ? BERTH_BUILTIN_CAST : back);
  random_reads(net, op, between);
  return random_writes(op, random_activation(net, in[1], in[2], in[3]));
}

static inline int32_t random_slice(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  bool strided = random_once_in(net, 2);
  int32_t begin[4] = {0}, last[4] = {1}, step[4] = {1}, dims[4] = {1};
  for (int32_t d = 1; d < 4; d++) {
    begin[d] = random_between(net, 0, in[d] - 1);
    step[d] = strided ? random_between(net, 1, 3) : 1;
    last[d] = random_between(net, begin[d] + 1, in[d]);
    dims[d] = (last[d] - begin[d] + step[d] - 1) / step[d];
  }
  int32_t a = random_ints(net, 4, begin), b = random_ints(net, 4, strided ? last : dims);
  int32_t c = strided ? random_ints(net, 4, step) : -1;
  random_op_t *op = random_op(net, strided ? BERTH_BUILTIN_STRIDED_SLICE : BERTH_BUILTIN_SLICE);
  random_reads(net, op, from);
  random_reads(net, op, a);
  random_reads(net, op, b);
  if (strided) random_reads(net, op, c);
  return random_writes(op, random_activation(net, dims[1], dims[2], dims[3]));
}

/* Two halves of the channels; one of them may end here. */
static inline int32_t random_split(random_network_t *net, int32_t from, int32_t *second) {
  int32_t h = net->tensors[from].dims[1], w = net->tensors[from].dims[2],
          c = net->tensors[from].dims[3];
  if (c % 2 != 0) return -1;
  int32_t axis = 3;
  int32_t where = random_constant(net, (random_tensor_t){.type = BERTH_TYPE_INT32}, &axis, 4);
  random_op_t *op = random_op(net, BERTH_BUILTIN_SPLIT);
  random_reads(net, op, where);
  random_reads(net, op, from);
  random_option(op, BERTH_SPLIT_COUNT, 4, 2);
  *second = random_writes(op, random_activation(net, h, w, c / 2));
  return random_writes(op, random_activation(net, h, w, c / 2));
}

static inline int32_t random_space(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  bool to_space = in[3] % 4 == 0;
  if (!to_space && (in[1] % 2 != 0 || in[2] % 2 != 0 || in[3] > 6)) return -1;
  int32_t h = to_space ? in[1] * 2 : in[1] / 2, w = to_space ? in[2] * 2 : in[2] / 2;
  int32_t c = to_space ? in[3] / 4 : in[3] * 4;
  random_op_t *op =
      random_op(net, to_space ? BERTH_BUILTIN_DEPTH_TO_SPACE : BERTH_BUILTIN_SPACE_TO_DEPTH);
  random_reads(net, op, from);
  random_option(op, to_space ? BERTH_DEPTH_TO_SPACE_BLOCK : BERTH_SPACE_TO_DEPTH_BLOCK, 4, 2);
  return random_writes(op, random_activation(net, h, w, c));
}

/* Swaps height and width: an operator that is whole. */
static inline int32_t random_transpose(random_network_t *net, int32_t from) {
  const int32_t in[4] = {1, net->tensors[from].dims[1], net->tensors[from].dims[2],
                         net->tensors[from].dims[3]};
  int32_t order = random_ints(net, 4, (int32_t[]){0, 2, 1, 3});
  random_op_t *op = random_op(net, BERTH_BUILTIN_TRANSPOSE);
  random_reads(net, op, from);
  random_reads(net, op, order);
  return random_writes(op, random_activation(net, in[2], in[1], in[3]));
}

static inline int32_t random_unary(random_network_t *net, int32_t from) {
  const int32_t *in = net->tensors[from].dims;
  random_op_t *op =
      random_op(net, random_once_in(net, 2) ? BERTH_BUILTIN_RELU : BERTH_BUILTIN_RELU6);
  random_reads(net, op, from);
  return random_writes(op, random_activation(net, in[1], in[2], in[3]));
}

/* MEAN over height and width, or one of them. */
static inline int32_t random_mean(random_network_t *net, int32_t from) {
  const int32_t in[4] = {1, net->tensors[from].dims[1], net->tensors[from].dims[2],
                         net->tensors[from].dims[3]};
  int32_t which = random_between(net, 1, 3);
  int32_t both[2] = {1, 2}, one = which == 2 ? 2 : 1;
  int32_t axes = which == 3 ? random_ints(net, 2, both) : random_ints(net, 1, &one);
  random_op_t *op = random_op(net, BERTH_BUILTIN_MEAN);
  random_reads(net, op, from);
  random_reads(net, op, axes);
  random_option(op, BERTH_REDUCER_KEEP_DIMS, 1, 1);
  return random_writes(op,
                       random_activation(net, which & 1 ? 1 : in[1], which & 2 ? 1 : in[2], in[3]));
}

/* FULLY_CONNECTED of everything, maybe behind a RESHAPE. A graph output. */
static inline void random_dense(random_network_t *net, int32_t from) {
  random_tensor_t tensor = net->tensors[from];
  int32_t depth = tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
  int32_t units = random_between(net, 1, 12);
  if (depth > 1500) return;
  if (random_once_in(net, 2)) {
    tensor.rank = 2;
    tensor.dims[1] = depth;
    tensor.used = false;
    int32_t flat = random_put(net, tensor), shape = random_ints(net, 2, (int32_t[]){1, depth});
    random_op_t *op = random_op(net, BERTH_BUILTIN_RESHAPE);
    random_reads(net, op, from);
    random_reads(net, op, shape);
    from = random_writes(op, flat);
  }
  int32_t weights = random_filter(net, 2, (int32_t[]){units, depth}),
          bias = random_bias(net, units);
  random_op_t *op = random_op(net, BERTH_BUILTIN_FULLY_CONNECTED);
  random_reads(net, op, from);
  random_reads(net, op, weights);
  random_reads(net, op, bias);
  int32_t output = random_activation(net, 1, 1, units);
  net->tensors[output].rank = 2;
  net->tensors[output].dims[1] = units;
  random_writes(op, output);
}

/* ---- The file -------------------------------------------------------------------------------- */

static inline void random_emit_tensor(random_network_t *net, uint32_t table, uint32_t index,
                                      uint32_t buffer) {
  builder_t *f = &net->file;
  const random_tensor_t *t = &net->tensors[index];
  int64_t dims[4], scales[64], zeros[64];
  uint32_t count = t->scale_count > 0 ? (uint32_t)t->scale_count : 1;
  for (int32_t i = 0; i < t->rank; i++) dims[i] = t->dims[i];
  put_field(f, table, TENSOR_TYPE, 1, t->type);
  put_field(f, table, TENSOR_BUFFER, 4, buffer);
  put_vector(f, table, TENSOR_SHAPE, 4, (uint32_t)t->rank, dims);
  if (t->scale <= 0.0f) return;
  for (uint32_t i = 0; i < count; i++) {
    float scale = t->scale * (1.0f + (float)i / 8.0f);
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    scales[i] = bits;
    zeros[i] = t->zero_point;
  }
  uint32_t quantization = put_child(f, table, TENSOR_QUANTIZATION, 7);
  put_field(f, quantization, QUANTIZATION_DIMENSION, 4, (uint64_t)t->scale_dimension);
  put_vector(f, quantization, QUANTIZATION_SCALE, 4, count, scales);
  put_vector(f, quantization, QUANTIZATION_ZERO_POINT, 8, count, zeros);
}

static inline void random_emit_op(random_network_t *net, uint32_t table, uint32_t index) {
  builder_t *f = &net->file;
  const random_op_t *op = &net->ops[index];
  int64_t inputs[4], outputs[4];
  for (uint32_t i = 0; i < op->input_count; i++) inputs[i] = op->inputs[i];
  for (uint32_t i = 0; i < op->output_count; i++) outputs[i] = op->outputs[i];
  put_field(f, table, OPERATOR_CODE_INDEX, 4, index);
  put_field(f, table, OPERATOR_OPTIONS_TYPE, 1, 1);
  put_vector(f, table, OPERATOR_INPUTS, 4, op->input_count, inputs);
  put_vector(f, table, OPERATOR_OUTPUTS, 4, op->output_count, outputs);
  uint32_t options = put_child(f, table, OPERATOR_OPTIONS, 8);
  for (uint32_t i = 0; i < op->option_count; i++)
    put_field(f, options, op->options[i].field, op->options[i].width, op->options[i].value);
}

static inline berth_model_t random_emit(random_network_t *net, uint32_t input_count) {
  builder_t *f = &net->file;
  f->size = 0;
  uint32_t root = put(f, 4, 0);
  put(f, 4, 0x334c4654); /* TFL3 */
  uint32_t model = put_table(f, 8);
  poke(f, root, 4, model - root);
  put_field(f, model, MODEL_VERSION, 4, 3);
  uint32_t constants = 0;
  for (uint32_t i = 0; i < net->tensor_count; i++) constants += net->tensors[i].constant;
  uint32_t codes = put_list(f, model, MODEL_OPERATOR_CODES, net->op_count);
  uint32_t subgraphs = put_list(f, model, MODEL_SUBGRAPHS, 1);
  uint32_t buffers = put_list(f, model, MODEL_BUFFERS, constants + 1);
  for (uint32_t i = 0; i < net->op_count; i++)
    put_field(f, put_element(f, codes, i, 4), CODE_NEW, 4, (uint64_t)net->ops[i].code);

  int64_t inputs[4], outputs[RANDOM_TENSORS];
  uint32_t output_count = 0;
  for (uint32_t i = 0; i < input_count; i++) inputs[i] = i;
  for (uint32_t i = input_count; i < net->tensor_count; i++)
    if (!net->tensors[i].constant && !net->tensors[i].used) outputs[output_count++] = i;
  uint32_t table = put_element(f, subgraphs, 0, 5);
  put_vector(f, table, SUBGRAPH_INPUTS, 4, input_count, inputs);
  put_vector(f, table, SUBGRAPH_OUTPUTS, 4, output_count, outputs);
  uint32_t tensors = put_list(f, table, SUBGRAPH_TENSORS, net->tensor_count);
  uint32_t list = put_list(f, table, SUBGRAPH_OPERATORS, net->op_count);
  uint32_t buffer = 0;
  for (uint32_t i = 0; i < net->tensor_count; i++)
    random_emit_tensor(net, put_element(f, tensors, i, 9), i,
                       net->tensors[i].constant ? ++buffer : 0);
  for (uint32_t i = 0; i < net->op_count; i++) random_emit_op(net, put_element(f, list, i, 13), i);

  put_element(f, buffers, 0, 1);
  buffer = 0;
  for (uint32_t i = 0; i < net->tensor_count; i++) {
    const random_tensor_t *t = &net->tensors[i];
    if (!t->constant) continue;
    uint32_t entry = put_element(f, buffers, ++buffer, 1);
    link_to_end(f, put_field(f, entry, BUFFER_DATA, 4, 0));
    put(f, 4, t->bytes);
    assert_true(f->size + t->bytes <= sizeof f->bytes);
    memcpy(f->bytes + f->size, net->constants + t->data, t->bytes);
    f->size += t->bytes;
  }
  berth_model_t opened;
  berth_model_error_t error;
  if (berth_model_open(f->bytes, f->size, &opened, &error) != BERTH_OK)
    fail_msg("the test's own model: %s %s", error.subject, error.fault);
  return opened;
}

static inline int32_t random_grow(random_network_t *net, int32_t from, const int32_t *live,
                                  uint32_t count, int32_t *second) {
  switch (random_between(net, 0, 20)) {
  case 0:
  case 1:
  case 2:
    return random_conv(net, from, false);
  case 3:
  case 4:
    return random_conv(net, from, true);
  case 5:
  case 6:
    return random_pool(net, from);
  case 7:
  case 8:
  case 9:
    return random_binary(net, from, live, count);
  case 10:
  case 11:
    return random_concatenation(net, from, live, count);
  case 12:
    return random_resize(net, from);
  case 13:
    return random_pad(net, from);
  case 14:
    return random_slice(net, from);
  case 15:
    return random_split(net, from, second);
  case 16:
    return random_space(net, from);
  case 17:
    return random_once_in(net, 3) ? random_transpose(net, from) : random_mean(net, from);
  case 18:
    return random_there_and_back(net, from);
  case 19:
    return random_transpose_conv(net, from);
  default:
    return random_unary(net, from);
  }
}

/* Makes the network of this seed; the model points into `net`. */
static inline berth_model_t random_network(random_network_t *net, uint64_t seed) {
  static const berth_tensor_type_t types[] = {BERTH_TYPE_INT8, BERTH_TYPE_UINT8,
                                              BERTH_TYPE_FLOAT32};
  net->tensor_count = net->op_count = net->constant_bytes = 0;
  net->state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
  net->type = types[random_between(net, 0, 2)];
  int32_t live[32];
  uint32_t count = 0, inputs = random_once_in(net, 4) ? 2 : 1;
  int32_t h = random_between(net, 1, 20), w = random_between(net, 1, 7);
  if (random_once_in(net, 5)) h = 1, w = random_between(net, 1, 22);
  for (uint32_t i = 0; i < inputs; i++)
    live[count++] = random_activation(net, h, w, random_between(net, 1, 6));
  int32_t wanted = random_between(net, 1, 12);
  for (int tries = 0; tries < 60 && (int32_t)net->op_count < wanted; tries++) {
    /* Mostly the last tensor, so that it becomes deep, at times an older one, so that it branches.
     */
    int32_t from =
        live[random_once_in(net, 3) ? (uint32_t)random_between(net, 0, (int32_t)count - 1)
                                    : count - 1];
    int32_t second = -1, made = random_grow(net, from, live, count, &second);
    const int32_t *dims = made >= 0 ? net->tensors[made].dims : NULL;
    if (made < 0) continue;
    if (count < 30 && dims[1] <= 48 && dims[2] <= 24) live[count++] = made;
    if (second >= 0 && count < 30) live[count++] = second;
  }
  if (random_once_in(net, 2)) random_dense(net, live[count - 1]);
  if (net->op_count == 0) random_unary(net, live[0]);
  return random_emit(net, inputs);
}

#endif
