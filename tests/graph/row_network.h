/* Random networks with contracts, for everything that streams: what each operator needs is known
 * from its contract alone, so that it need not be able to run.
 *
 *   row_network_t it;
 *   row_network_random(&it, seed);
 *   use(&it.network);      // berth_stream_network_t
 *
 * There are convolutions with strides, dilations and paddings, resizing by odd ratios, slices,
 * padding, joins of branches, broadcasts, several outputs, batches, global pools, fully connected
 * layers behind a RESHAPE, and operators that can't be cut.
 */
#ifndef BERTH_TESTS_GRAPH_ROW_NETWORK_H
#define BERTH_TESTS_GRAPH_ROW_NETWORK_H

#include "berth/stream.h"
#include "graph/network.h"
#include <stdio.h>
#include <string.h>

#define ROW_NETWORK_ROWS 64 /* no tensor has more */

typedef struct row_shape {
  int32_t batch, height, width, depth; /* height 0: of rank 2 */
} row_shape_t;

typedef struct row_network {
  network_t file;
  berth_model_t model;
  berth_contract_t contracts[NETWORK_OPS];
  berth_stream_tensor_t tensors[NETWORK_TENSORS];
  berth_stream_network_t network;
  row_shape_t shapes[NETWORK_TENSORS];
  uint32_t readers[NETWORK_TENSORS];
  uint32_t tensor_count, op_count;
  uint64_t random;
  char text[16384]; /* the strings that describe the network */
  uint32_t text_used;
} row_network_t;

/* ---- Making --------------------------------------------------------------------------------- */

/* A number in 0..below-1. */
static inline uint32_t row_random(row_network_t *it, uint32_t below) {
  it->random ^= it->random << 13;
  it->random ^= it->random >> 7;
  it->random ^= it->random << 17;
  return (uint32_t)((it->random >> 11) % below);
}

static inline const char *row_text(row_network_t *it, const char *text) {
  size_t length = strlen(text) + 1;
  assert_true(it->text_used + length <= sizeof it->text);
  char *copy = it->text + it->text_used;
  memcpy(copy, text, length);
  it->text_used += (uint32_t)length;
  return copy;
}

static inline uint32_t row_tensor(row_network_t *it, row_shape_t shape) {
  char text[64];
  if (shape.height == 1) { /* rows would lie along the width */
    shape.depth *= shape.width;
    shape.width = 1;
  }
  int32_t dims[4] = {shape.batch, shape.height, shape.width, shape.depth};
  uint32_t rank = 4;
  if (shape.height == 0) dims[1] = shape.depth, rank = 2;
  if (rank == 4)
    snprintf(text, sizeof text, "%dx%dx%dx%d", (int)dims[0], (int)dims[1], (int)dims[2],
             (int)dims[3]);
  else
    snprintf(text, sizeof text, "%dx%d", (int)dims[0], (int)dims[1]);
  tensor(&it->file, 0, BERTH_TYPE_INT8, row_text(it, text), 0);
  uint32_t index = it->tensor_count++;
  it->shapes[index] = shape;
  uint32_t elements = 1;
  for (uint32_t i = 0; i < rank; i++) elements *= (uint32_t)dims[i];
  it->tensors[index] = berth_stream_tensor(rank, dims, elements);
  return index;
}

/* An operator on up to two inputs (UINT32_MAX: none); its contract, to be filled. */
static inline berth_contract_t *row_op(row_network_t *it, uint32_t a, uint32_t b, uint32_t output,
                                       uint32_t second) {
  char inputs[32], outputs[32];
  if (b == UINT32_MAX)
    snprintf(inputs, sizeof inputs, "%u", a);
  else
    snprintf(inputs, sizeof inputs, "%u %u", a, b);
  if (second == UINT32_MAX)
    snprintf(outputs, sizeof outputs, "%u", output);
  else
    snprintf(outputs, sizeof outputs, "%u %u", output, second);
  op(&it->file, 0, BERTH_BUILTIN_RELU, row_text(it, inputs), row_text(it, outputs));
  it->readers[a]++;
  if (b != UINT32_MAX) it->readers[b]++;
  berth_contract_t *contract = &it->contracts[it->op_count++];
  memset(contract, 0, sizeof *contract);
  contract->kind = BERTH_ROW_LOCAL;
  for (int i = 0; i < (int)BERTH_WINDOWS_MAX; i++)
    contract->windows[i] = (berth_window_t){1, 1, 0, 1};
  return contract;
}

static inline void row_conv(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  int32_t kernel = 1 + (int32_t)row_random(it, 5), stride = 1 + (int32_t)row_random(it, 3);
  int32_t dilation = 1 + (int32_t)row_random(it, 2), extent = (kernel - 1) * dilation + 1;
  int32_t pad = 0, height = shape.height;
  if (row_random(it, 2) || extent > height) {
    shape.height = (height + stride - 1) / stride;
    pad = ((shape.height - 1) * stride + extent - height) / 2;
    if (pad < 0) pad = 0;
  } else {
    shape.height = (height - extent) / stride + 1;
  }
  shape.width = (shape.width + stride - 1) / stride;
  shape.depth = 1 + (int32_t)row_random(it, 8);
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, row_tensor(it, shape), UINT32_MAX);
  contract->windows[0] = (berth_window_t){stride, 1, -pad, extent};
}

static inline void row_resize(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  int32_t height = shape.height;
  shape.height = 1 + (int32_t)row_random(it, (uint32_t)(height < 16 ? height * 2 : 32));
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, row_tensor(it, shape), UINT32_MAX);
  contract->windows[0] = (berth_window_t){height, shape.height, 0, 2};
}

static inline void row_pad(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  if (shape.batch > 1 || shape.height > 24) return;
  int32_t before = (int32_t)row_random(it, 4);
  shape.height += before + (int32_t)row_random(it, 4);
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, row_tensor(it, shape), UINT32_MAX);
  contract->windows[0].offset = -before;
}

static inline void row_slice(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  int32_t begin = (int32_t)row_random(it, (uint32_t)shape.height);
  int32_t step = 1 + (int32_t)row_random(it, 3);
  shape.height = (shape.height - begin + step - 1) / step;
  shape.height = 1 + (int32_t)row_random(it, (uint32_t)shape.height);
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, row_tensor(it, shape), UINT32_MAX);
  contract->windows[0] = (berth_window_t){step, 1, begin, 1};
}

/* With another tensor of as many rows, or of one pixel, or with itself. */
static inline void row_join(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  uint32_t other = from, start = row_random(it, it->tensor_count);
  bool single = false;
  for (uint32_t i = 0; i < it->tensor_count && other == from; i++) {
    uint32_t candidate = (start + i) % it->tensor_count;
    const row_shape_t *s = &it->shapes[candidate];
    single = s->height == 1;
    if (s->batch == shape.batch && (s->height == shape.height || single)) other = candidate;
  }
  shape.depth = 1 + (int32_t)row_random(it, 8);
  uint32_t output = row_tensor(it, shape);
  berth_contract_t *contract = row_op(it, from, other, output, UINT32_MAX);
  if (it->shapes[other].height != shape.height) contract->windows[1].extent = 0;
}

static inline void row_split(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  shape.depth = 1 + shape.depth / 2;
  uint32_t first = row_tensor(it, shape), second = row_tensor(it, shape);
  row_op(it, from, UINT32_MAX, first, second);
}

static inline void row_pool(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  shape.height = shape.width = 1;
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, row_tensor(it, shape), UINT32_MAX);
  contract->kind = BERTH_ACCUMULATING;
  contract->scratch[0] = 4u * (uint32_t)shape.depth;
}

static inline void row_connect(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  row_shape_t flat = {shape.batch, 0, 1, shape.height * shape.width * shape.depth};
  uint32_t vector = row_tensor(it, flat);
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, vector, UINT32_MAX);
  contract->kind = BERTH_WHOLE;
  contract->view = BERTH_VIEW_SAME;
  flat.depth = 1 + (int32_t)row_random(it, 8);
  contract = row_op(it, vector, UINT32_MAX, row_tensor(it, flat), UINT32_MAX);
  contract->kind = BERTH_ACCUMULATING;
  contract->any_rows = true;
  contract->accumulator = 4u * (uint32_t)flat.depth;
}

static inline void row_whole(row_network_t *it, uint32_t from) {
  row_shape_t shape = it->shapes[from];
  shape.height = 1 + (int32_t)row_random(it, 6);
  berth_contract_t *contract = row_op(it, from, UINT32_MAX, row_tensor(it, shape), UINT32_MAX);
  contract->kind = BERTH_WHOLE;
  contract->scratch[0] = row_random(it, 64);
}

/* The same network for the same seed, everywhere. */
static inline void row_network_random(row_network_t *it, uint64_t seed) {
  memset(it, 0, sizeof *it);
  it->random = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
  uint32_t inputs = 1 + (row_random(it, 5) == 0), ops = 1 + row_random(it, 12);
  int32_t batch = row_random(it, 6) == 0 ? 2 : 1;
  for (uint32_t i = 0; i < inputs; i++) {
    int32_t height = 1 + (int32_t)row_random(it, 24);
    row_tensor(it, (row_shape_t){batch, height, 1 + (int32_t)row_random(it, 6),
                                 1 + (int32_t)row_random(it, 4)});
  }
  while (it->op_count < ops) {
    uint32_t recent = it->tensor_count < 4 ? it->tensor_count : 4;
    uint32_t from = row_random(it, 3) ? it->tensor_count - 1 - row_random(it, recent)
                                      : row_random(it, it->tensor_count);
    if (it->shapes[from].height == 0) from = 0;
    switch (row_random(it, 14)) {
    case 0:
      row_resize(it, from);
      break;
    case 1:
      row_pad(it, from);
      break;
    case 2:
      row_slice(it, from);
      break;
    case 3:
      row_split(it, from);
      break;
    case 4:
      row_pool(it, from);
      break;
    case 5:
      row_connect(it, from);
      break;
    case 6:
      row_whole(it, from);
      break;
    case 7:
    case 8:
    case 9:
      row_join(it, from);
      break;
    default:
      row_conv(it, from);
      break;
    }
  }
  char outputs[256] = "";
  for (uint32_t i = 0; i < it->tensor_count; i++) {
    /* Now and then one that is read as well, or one that nobody wants. */
    uint32_t dice = row_random(it, 16);
    if (i < inputs || (it->readers[i] > 0 ? dice > 0 : dice == 0)) continue;
    size_t used = strlen(outputs);
    snprintf(outputs + used, sizeof outputs - used, "%u ", i);
  }
  it->file.subgraphs[0].inputs = inputs == 1 ? "0" : "0 1";
  it->file.subgraphs[0].outputs = row_text(it, outputs);
  it->model = build(&it->file);
  it->network = (berth_stream_network_t){
      .model = &it->model, .contracts = it->contracts, .tensors = it->tensors};
}

#endif
