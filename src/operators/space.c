/* DEPTH_TO_SPACE, SPACE_TO_DEPTH, BATCH_TO_SPACE_ND and SPACE_TO_BATCH_ND: positions moved between
 * the spatial dimensions and the depth or the batch.
 *
 * The first two are row-local where rows are height: `block` rows of the finer tensor are one row
 * of the coarser.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include "operators/strided.h"
#include <string.h>

/* ---- Depth ---------------------------------------------------------------------------------- */

static bool to_space(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_DEPTH_TO_SPACE;
}

static int32_t block_size(const berth_call_t *call) {
  return to_space(call) ? berth_option_int(call->op.options, BERTH_DEPTH_TO_SPACE_BLOCK, 0)
                        : berth_option_int(call->op.options, BERTH_SPACE_TO_DEPTH_BLOCK, 0);
}

static berth_status_t prepare_depth(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  int32_t block = block_size(call);
  if (!input.present || !output.present) return berth_refuse(call, "needs an input and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(input.type) == 0) return berth_refuse(call, "cannot take this type");
  if (input.rank != 4) return berth_refuse(call, "takes four dimensions only");
  if (block < 1 || block > 32768) return berth_refuse(call, "the block size is out of range");
  int32_t height = input.dims[1], width = input.dims[2], depth = input.dims[3];
  if (to_space(call)) {
    if (depth % (block * block) != 0)
      return berth_refuse(call, "the depth is no multiple of the block");
    if (height > INT32_MAX / block || width > INT32_MAX / block)
      return berth_refuse(call, "the output is too large");
    height *= block;
    width *= block;
    depth /= block * block;
  } else {
    if (height % block != 0 || width % block != 0)
      return berth_refuse(call, "height or width is no multiple of the block");
    if (depth > INT32_MAX / (block * block)) return berth_refuse(call, "the output is too large");
    height /= block;
    width /= block;
    depth *= block * block;
  }
  int32_t dims[] = {input.dims[0], height, width, depth};
  if (berth_shape_rows_are_high(input.dims, dims)) {
    contract->kind = BERTH_ROW_LOCAL;
    contract->windows[0] =
        to_space(call) ? (berth_window_t){1, block, 0, 1} : (berth_window_t){block, 1, 0, block};
  }
  return berth_set_shape(call, 0, 4, dims);
}

/* A fine row `dy` of a block of rows is width x block pieces of depth bytes; the coarse row holds
 * width x block x block of them, the block's rows outermost within a position. */
static berth_status_t eval_depth(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;
  uint32_t block = (uint32_t)block_size(call);
  const berth_value_t *fine = to_space(call) ? &output : &input;
  uint32_t width = (uint32_t)fine->dims[2] / block;
  size_t line = (size_t)fine->dims[3] * berth_element_bytes(input.type) * block;
  uint32_t first = call->first_row, last = call->last_row;
  if (!berth_shape_rows_are_high(input.dims, output.dims)) {
    input = berth_with_rows(input, (uint32_t)(input.dims[0] * input.dims[1]));
    output = berth_with_rows(output, (uint32_t)(output.dims[0] * output.dims[1]));
    first = 0;
    last = output.rows;
  }
  for (uint32_t row = first; row < last; row++) {
    if (to_space(call)) {
      const uint8_t *from = (uint8_t *)berth_row(&input, row / block) + row % block * line;
      uint8_t *to = berth_row(&output, row);
      for (uint32_t x = 0; x < width; x++, from += line * block, to += line) memcpy(to, from, line);
    } else {
      for (uint32_t dy = 0; dy < block; dy++) {
        const uint8_t *from = berth_row(&input, row * block + dy);
        uint8_t *to = (uint8_t *)berth_row(&output, row) + dy * line;
        for (uint32_t x = 0; x < width; x++, from += line, to += line * block)
          memcpy(to, from, line);
      }
    }
  }
  return BERTH_OK;
}

/* ---- Batch ---------------------------------------------------------------------------------- */

#define SPATIAL_MAX 2u /* spatial dimensions, after the batch: TFLite takes rank 3 and 4 */

typedef struct blocks {
  uint32_t count; /* of spatial dimensions */
  int32_t block[SPATIAL_MAX];
  int32_t before[SPATIAL_MAX]; /* padding of the finer tensor, or what is cropped off it */
  int32_t after[SPATIAL_MAX];
} blocks_t;

static bool to_batch(const berth_call_t *call) {
  return call->op.code == BERTH_BUILTIN_SPACE_TO_BATCH_ND;
}

static berth_status_t read_blocks(berth_call_t *call, blocks_t *blocks, int32_t *dims) {
  berth_value_t input = berth_input(call, 0), block = berth_input(call, 1);
  berth_value_t border = berth_input(call, 2);
  if (input.rank != 3 && input.rank != 4)
    return berth_refuse(call, "takes three or four dimensions only");
  blocks->count = input.rank - 2;
  if (!berth_shape_is_int(&block) || block.elements != blocks->count ||
      !berth_shape_is_int(&border) || border.elements != 2 * blocks->count)
    return berth_refuse(call, "the block or the border does not fit the dimensions");
  int64_t batch = input.dims[0];
  memcpy(dims, input.dims, input.rank * sizeof *dims);
  for (uint32_t i = 0; i < blocks->count; i++) {
    int64_t size = berth_shape_int(&block, i), before = berth_shape_int(&border, 2 * i);
    int64_t after = berth_shape_int(&border, 2 * i + 1), length = input.dims[1 + i];
    if (size < 1 || size > 32768 || before < 0 || before > 1 << 24 || after < 0 || after > 1 << 24)
      return berth_refuse(call, "the block or the border is out of range");
    if (to_batch(call)) {
      batch *= size;
      length += before + after;
      if (length % size != 0)
        return berth_refuse(call, "the block does not divide the padded size");
      length /= size;
    } else {
      if (batch % size != 0) return berth_refuse(call, "the block does not divide the batch");
      batch /= size;
      length = length * size - before - after;
    }
    if (batch > INT32_MAX || length > INT32_MAX)
      return berth_refuse(call, "the output is too large");
    if (length < 0) return berth_refuse(call, "more is cropped than there is");
    blocks->block[i] = (int32_t)size;
    blocks->before[i] = (int32_t)before;
    blocks->after[i] = (int32_t)after;
    dims[1 + i] = (int32_t)length;
  }
  dims[0] = (int32_t)batch;
  return BERTH_OK;
}

static bool is_computed(const berth_call_t *call) {
  return !berth_input(call, 1).constant || !berth_input(call, 2).constant;
}

static berth_status_t prepare_batch(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !berth_input(call, 1).present || !berth_input(call, 2).present ||
      !output.present)
    return berth_refuse(call, "needs three inputs and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  uint32_t element = berth_element_bytes(input.type);
  if (element == 0) return berth_refuse(call, "cannot take this type");
  if (element > 1 && input.zero_point != 0)
    return berth_refuse(call, "takes a zero point with 8-bit types only");
  if (is_computed(call)) return berth_set_unknown(call, 0);
  blocks_t blocks;
  int32_t dims[BERTH_RANK_MAX];
  berth_status_t status = read_blocks(call, &blocks, dims);
  return status == BERTH_OK ? berth_set_shape(call, 0, input.rank, dims) : status;
}

/* The coarse positions [*first, *last) along one dimension that, times the block plus `shift`, lie
 * inside the fine tensor of `length` whose border begins `before` ahead of it. */
static void inside(int32_t coarse, int32_t length, int32_t block, int32_t shift, int32_t before,
                   int32_t *first, int32_t *last) {
  int64_t low = ((int64_t)before - shift + block - 1) / block;
  int64_t high = ((int64_t)length + before - shift + block - 1) / block;
  if (before < shift) low = 0;
  if (length + (int64_t)before < shift) high = 0;
  *first = low > coarse ? coarse : (int32_t)low;
  *last = high > coarse ? coarse : (int32_t)high;
}

static berth_status_t eval_batch(berth_call_t *call) {
  blocks_t blocks;
  int32_t dims[BERTH_RANK_MAX];
  berth_value_t input = berth_input(call, 0);
  berth_status_t status = read_blocks(call, &blocks, dims);
  if (status == BERTH_OK && is_computed(call)) status = berth_set_shape(call, 0, input.rank, dims);
  berth_value_t output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;

  /* Rank 3 is height only, with a width and a block of 1. */
  const berth_value_t *fine = to_batch(call) ? &input : &output;
  const berth_value_t *coarse = to_batch(call) ? &output : &input;
  bool flat = blocks.count == 1;
  int32_t block_w = flat ? 1 : blocks.block[1], before_w = flat ? 0 : blocks.before[1];
  int32_t fine_w = flat ? 1 : fine->dims[2], coarse_w = flat ? 1 : coarse->dims[2];
  ptrdiff_t pixel =
      (ptrdiff_t)fine->dims[fine->rank - 1] * (ptrdiff_t)berth_element_bytes(input.type);
  ptrdiff_t fine_row = pixel * fine_w, coarse_row = pixel * coarse_w;
  if (to_batch(call)) /* what isn't copied to below is padding */
    memset(output.data, berth_element_bytes(input.type) == 1 ? input.zero_point : 0, output.bytes);

  for (int32_t b = 0; b < coarse->dims[0]; b++) {
    int32_t group = b / fine->dims[0], batch = b % fine->dims[0], y0, y1, x0, x1;
    int32_t shift_y = group / block_w, shift_x = group % block_w;
    inside(coarse->dims[1], fine->dims[1], blocks.block[0], shift_y, blocks.before[0], &y0, &y1);
    inside(coarse_w, fine_w, block_w, shift_x, before_w, &x0, &x1);
    if (y0 >= y1 || x0 >= x1) continue;
    size_t at_fine = (size_t)((ptrdiff_t)batch * fine->dims[1] + (ptrdiff_t)y0 * blocks.block[0] +
                              shift_y - blocks.before[0]) *
                         (size_t)fine_row +
                     (size_t)((ptrdiff_t)x0 * block_w + shift_x - before_w) * (size_t)pixel;
    size_t at_coarse = (size_t)((ptrdiff_t)b * coarse->dims[1] + y0) * (size_t)coarse_row +
                       (size_t)x0 * (size_t)pixel;
    ptrdiff_t step_fine[2] = {fine_row * blocks.block[0], pixel * block_w};
    ptrdiff_t step_coarse[2] = {coarse_row, pixel};
    berth_strided_t copy = {.rank = 2, .dims = {(uint32_t)(y1 - y0), (uint32_t)(x1 - x0)}};
    memcpy(copy.from, to_batch(call) ? step_fine : step_coarse, sizeof step_fine);
    memcpy(copy.to, to_batch(call) ? step_coarse : step_fine, sizeof step_fine);
    berth_strided_copy(output.data + (to_batch(call) ? at_coarse : at_fine),
                       input.data + (to_batch(call) ? at_fine : at_coarse), &copy, (uint32_t)pixel);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_batch_to_space_nd = {
    .code = BERTH_BUILTIN_BATCH_TO_SPACE_ND, .prepare = prepare_batch, .eval = eval_batch};
const berth_kernel_t berth_kernel_depth_to_space = {
    .code = BERTH_BUILTIN_DEPTH_TO_SPACE, .prepare = prepare_depth, .eval = eval_depth};
const berth_kernel_t berth_kernel_space_to_batch_nd = {
    .code = BERTH_BUILTIN_SPACE_TO_BATCH_ND, .prepare = prepare_batch, .eval = eval_batch};
const berth_kernel_t berth_kernel_space_to_depth = {
    .code = BERTH_BUILTIN_SPACE_TO_DEPTH, .prepare = prepare_depth, .eval = eval_depth};
