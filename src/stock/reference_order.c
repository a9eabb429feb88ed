/* The loops of TFLM's reference kernels, without what they compute. */
#include "stock/reference_order.h"
#include "berth/graph.h"

#define RANK_MAX     8u
#define ELEMENTS_MAX (UINT32_C(1) << 30) /* of a tensor */

/* A tensor of an operator, all dimensions known. */
typedef struct operand {
  uint32_t rank;
  uint32_t dims[RANK_MAX];
  uint64_t elements;
  uint32_t width; /* bytes of an element */
} operand_t;

static bool look_at(const berth_model_t *model, uint32_t subgraph, berth_vector_t list,
                    uint32_t index, operand_t *operand) {
  int32_t number = index < list.count ? berth_vector_int(list, index) : BERTH_NO_TENSOR;
  if (number == BERTH_NO_TENSOR) return false;
  berth_tensor_t tensor = berth_model_tensor(model, subgraph, (uint32_t)number);
  *operand = (operand_t){
      .rank = tensor.shape.count, .elements = 1, .width = berth_tensor_type_bits(tensor.type) / 8};
  if (operand->rank > RANK_MAX || operand->width == 0) return false;
  for (uint32_t i = 0; i < operand->rank; i++) {
    int32_t dim = berth_vector_int(tensor.shape, i);
    if (dim < 1 || (uint64_t)dim > ELEMENTS_MAX / operand->elements) return false;
    operand->dims[i] = (uint32_t)dim;
    operand->elements *= (uint32_t)dim;
  }
  return true;
}

static bool stopped(const berth_accesses_t *accesses) {
  return accesses->stop != NULL && *accesses->stop;
}

/* ---- Which loop an operator has -------------------------------------------------------------- */

typedef enum loop {
  LOOP_NONE,
  LOOP_CONV,      /* batch, row, column, output channel; each reads its window, all channels (fewer,
                     if there are groups) */
  LOOP_DEPTHWISE, /* the same, each of one channel */
  LOOP_POOL,      /* the same; the filter is an option */
  LOOP_MATRIX,    /* batch, output channel; each reads the batch's row */
  LOOP_PAD,       /* every output element: a copy of an input element, or nothing read */
  LOOP_ELEMENTS,  /* every element: read, written */
  LOOP_ROWS       /* every row: read as a whole, then element by element */
} loop_t;

static loop_t loop_of(berth_builtin_t code) {
  switch (code) {
  case BERTH_BUILTIN_CONV_2D:
    return LOOP_CONV;
  case BERTH_BUILTIN_DEPTHWISE_CONV_2D:
    return LOOP_DEPTHWISE;
  case BERTH_BUILTIN_AVERAGE_POOL_2D:
  case BERTH_BUILTIN_MAX_POOL_2D:
    return LOOP_POOL;
  case BERTH_BUILTIN_FULLY_CONNECTED:
    return LOOP_MATRIX;
  case BERTH_BUILTIN_PAD:
  case BERTH_BUILTIN_PADV2:
    return LOOP_PAD;
  case BERTH_BUILTIN_SOFTMAX:
  case BERTH_BUILTIN_LOG_SOFTMAX:
  case BERTH_BUILTIN_L2_NORMALIZATION:
    return LOOP_ROWS;
  case BERTH_BUILTIN_ADD:
  case BERTH_BUILTIN_SUB:
  case BERTH_BUILTIN_MUL:
  case BERTH_BUILTIN_DIV:
  case BERTH_BUILTIN_MAXIMUM:
  case BERTH_BUILTIN_MINIMUM:
  case BERTH_BUILTIN_SQUARED_DIFFERENCE:
  case BERTH_BUILTIN_FLOOR_DIV:
  case BERTH_BUILTIN_FLOOR_MOD:
  case BERTH_BUILTIN_LOGICAL_AND:
  case BERTH_BUILTIN_LOGICAL_OR:
  case BERTH_BUILTIN_LOGICAL_NOT:
  case BERTH_BUILTIN_RELU:
  case BERTH_BUILTIN_RELU6:
  case BERTH_BUILTIN_LEAKY_RELU:
  case BERTH_BUILTIN_PRELU:
  case BERTH_BUILTIN_HARD_SWISH:
  case BERTH_BUILTIN_LOGISTIC:
  case BERTH_BUILTIN_TANH:
  case BERTH_BUILTIN_ELU:
  case BERTH_BUILTIN_ABS:
  case BERTH_BUILTIN_NEG:
  case BERTH_BUILTIN_SQRT:
  case BERTH_BUILTIN_RSQRT:
  case BERTH_BUILTIN_SQUARE:
  case BERTH_BUILTIN_EXP:
  case BERTH_BUILTIN_LOG:
  case BERTH_BUILTIN_SIN:
  case BERTH_BUILTIN_COS:
  case BERTH_BUILTIN_FLOOR:
  case BERTH_BUILTIN_CEIL:
  case BERTH_BUILTIN_ROUND:
  case BERTH_BUILTIN_QUANTIZE:
  case BERTH_BUILTIN_DEQUANTIZE:
  case BERTH_BUILTIN_CAST:
  case BERTH_BUILTIN_EXPAND_DIMS:
    return LOOP_ELEMENTS;
  default:
    return LOOP_NONE;
  }
}

/* ---- Windows --------------------------------------------------------------------------------- */

typedef struct window {
  operand_t in, out;
  int64_t filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
  uint32_t multiplier; /* output channels of each input channel; 0: all of all */
} window_t;

/* Padding in front (ComputePaddingWithOffset): half of what the windows reach beyond the input. */
static int64_t padding(const berth_operator_t *op, uint32_t in, uint32_t out, int64_t filter,
                       int64_t stride, int64_t dilation) {
  /* The field has one number in all three kinds of options. */
  if (berth_option_byte(op->options, BERTH_CONV_2D_PADDING, 0) != BERTH_PADDING_SAME) return 0;
  int64_t total = ((int64_t)out - 1) * stride + (filter - 1) * dilation + 1 - (int64_t)in;
  return total > 0 ? total / 2 : 0;
}

static bool look_at_window(const berth_model_t *model, uint32_t subgraph,
                           const berth_operator_t *op, loop_t loop, window_t *w) {
  *w = (window_t){.dilation_h = 1, .dilation_w = 1};
  if (!look_at(model, subgraph, op->inputs, 0, &w->in) ||
      !look_at(model, subgraph, op->outputs, 0, &w->out) || w->in.rank != 4 || w->out.rank != 4 ||
      w->in.dims[0] != w->out.dims[0]) {
    return false;
  }
  berth_table_t options = op->options;
  if (loop == LOOP_POOL) {
    w->stride_w = berth_option_int(options, BERTH_POOL_2D_STRIDE_W, 0);
    w->stride_h = berth_option_int(options, BERTH_POOL_2D_STRIDE_H, 0);
    w->filter_w = berth_option_int(options, BERTH_POOL_2D_FILTER_W, 0);
    w->filter_h = berth_option_int(options, BERTH_POOL_2D_FILTER_H, 0);
    w->multiplier = 1;
    if (w->in.dims[3] != w->out.dims[3]) return false;
  } else {
    operand_t filter;
    if (!look_at(model, subgraph, op->inputs, 1, &filter) || filter.rank != 4) return false;
    bool depthwise = loop == LOOP_DEPTHWISE;
    w->filter_h = filter.dims[1];
    w->filter_w = filter.dims[2];
    w->stride_w = berth_option_int(
        options, depthwise ? BERTH_DEPTHWISE_CONV_2D_STRIDE_W : BERTH_CONV_2D_STRIDE_W, 0);
    w->stride_h = berth_option_int(
        options, depthwise ? BERTH_DEPTHWISE_CONV_2D_STRIDE_H : BERTH_CONV_2D_STRIDE_H, 0);
    w->dilation_w = berth_option_int(
        options, depthwise ? BERTH_DEPTHWISE_CONV_2D_DILATION_W : BERTH_CONV_2D_DILATION_W, 1);
    w->dilation_h = berth_option_int(
        options, depthwise ? BERTH_DEPTHWISE_CONV_2D_DILATION_H : BERTH_CONV_2D_DILATION_H, 1);
    if (depthwise && w->out.dims[3] % w->in.dims[3] != 0) return false;
    w->multiplier = depthwise ? w->out.dims[3] / w->in.dims[3] : 0;
  }
  if (w->stride_h < 1 || w->stride_w < 1 || w->filter_h < 1 || w->filter_w < 1 ||
      w->dilation_h < 1 || w->dilation_w < 1) {
    return false;
  }
  w->pad_h = padding(op, w->in.dims[1], w->out.dims[1], w->filter_h, w->stride_h, w->dilation_h);
  w->pad_w = padding(op, w->in.dims[2], w->out.dims[2], w->filter_w, w->stride_w, w->dilation_w);
  return true;
}

/* The taps of a window that lie in the input: [*first, *end) of `count` ones, the first of them at
 * `origin` and the next ones `dilation` further. */
static void clip(int64_t origin, int64_t count, int64_t dilation, int64_t size, int64_t *first,
                 int64_t *end) {
  *first = origin >= 0 ? 0 : (-origin + dilation - 1) / dilation;
  *end = origin >= size ? 0 : (size - origin + dilation - 1) / dilation;
  if (*end > count) *end = count;
}

/* Reads what output pixel (b, y, x) needs: of all input channels, or of one. */
static void read_window(const window_t *w, uint32_t b, uint32_t y, uint32_t x, bool all,
                        uint32_t channel, const berth_accesses_t *accesses) {
  int64_t origin_y = (int64_t)y * w->stride_h - w->pad_h, first_i, end_i;
  int64_t origin_x = (int64_t)x * w->stride_w - w->pad_w, first_k, end_k;
  clip(origin_y, w->filter_h, w->dilation_h, w->in.dims[1], &first_i, &end_i);
  clip(origin_x, w->filter_w, w->dilation_w, w->in.dims[2], &first_k, &end_k);
  uint64_t pixel = (uint64_t)w->in.dims[3] * w->in.width;
  for (int64_t i = first_i; i < end_i; i++) {
    uint64_t row =
        ((uint64_t)b * w->in.dims[1] + (uint64_t)(origin_y + i * w->dilation_h)) * w->in.dims[2];
    if (all && w->dilation_w == 1 && first_k < end_k) { /* the pixels are neighbours */
      accesses->read(accesses->user, 0, (row + (uint64_t)(origin_x + first_k)) * pixel,
                     (uint64_t)(end_k - first_k) * pixel);
      continue;
    }
    for (int64_t k = first_k; k < end_k; k++) {
      uint64_t at = (row + (uint64_t)(origin_x + k * w->dilation_w)) * pixel;
      if (all) {
        accesses->read(accesses->user, 0, at, pixel);
      } else {
        accesses->read(accesses->user, 0, at + (uint64_t)channel * w->in.width, w->in.width);
      }
    }
  }
}

/* Could an output pixel be written onto what it reads? If not, nothing that the kernel reads while
 * it makes the pixel's channels changes in between. Row by row of the window, whole spans. */
static bool meets(const window_t *w, uint32_t b, uint32_t y, uint32_t x, uint64_t output_at,
                  uint64_t output_bytes, const berth_accesses_t *accesses) {
  int64_t origin_y = (int64_t)y * w->stride_h - w->pad_h, first_i, end_i;
  int64_t origin_x = (int64_t)x * w->stride_w - w->pad_w, first_k, end_k;
  if (accesses->meet == NULL) return true;
  clip(origin_y, w->filter_h, w->dilation_h, w->in.dims[1], &first_i, &end_i);
  clip(origin_x, w->filter_w, w->dilation_w, w->in.dims[2], &first_k, &end_k);
  uint64_t pixel = (uint64_t)w->in.dims[3] * w->in.width;
  for (int64_t i = first_i; i < end_i && first_k < end_k; i++) {
    uint64_t row =
        ((uint64_t)b * w->in.dims[1] + (uint64_t)(origin_y + i * w->dilation_h)) * w->in.dims[2];
    uint64_t at = (row + (uint64_t)(origin_x + first_k * w->dilation_w)) * pixel;
    uint64_t span = (uint64_t)((end_k - 1 - first_k) * w->dilation_w + 1) * pixel;
    if (accesses->meet(accesses->user, 0, at, span, output_at, output_bytes)) return true;
  }
  return false;
}

static void walk_windows(const window_t *w, const berth_accesses_t *accesses) {
  uint64_t at = 0, pixel = (uint64_t)w->out.dims[3] * w->out.width;
  for (uint32_t b = 0; b < w->out.dims[0]; b++) {
    for (uint32_t y = 0; y < w->out.dims[1]; y++) {
      for (uint32_t x = 0; x < w->out.dims[2]; x++, at += pixel) {
        if (stopped(accesses)) return;
        if (!meets(w, b, y, x, at, pixel, accesses)) {
          read_window(w, b, y, x, true, 0, accesses);
          accesses->write(accesses->user, at, pixel);
          continue;
        }
        for (uint32_t c = 0; c < w->out.dims[3]; c++) {
          bool all = w->multiplier == 0;
          read_window(w, b, y, x, all, all ? 0 : c / w->multiplier, accesses);
          accesses->write(accesses->user, at + (uint64_t)c * w->out.width, w->out.width);
        }
      }
    }
  }
}

/* ---- Matrices -------------------------------------------------------------------------------- */

typedef struct matrix {
  uint64_t batches, depth, outputs;
  uint32_t in_width, out_width;
} matrix_t;

static bool look_at_matrix(const berth_model_t *model, uint32_t subgraph,
                           const berth_operator_t *op, matrix_t *m) {
  operand_t in, out, weights;
  if (!look_at(model, subgraph, op->inputs, 0, &in) ||
      !look_at(model, subgraph, op->inputs, 1, &weights) ||
      !look_at(model, subgraph, op->outputs, 0, &out) || weights.rank != 2) {
    return false;
  }
  *m = (matrix_t){.batches = out.elements / weights.dims[0],
                  .depth = weights.dims[1],
                  .outputs = weights.dims[0],
                  .in_width = in.width,
                  .out_width = out.width};
  return m->batches * m->outputs == out.elements && m->batches * m->depth == in.elements;
}

static void walk_matrix(const matrix_t *m, const berth_accesses_t *accesses) {
  uint64_t row = m->depth * m->in_width, results = m->outputs * m->out_width;
  for (uint64_t b = 0; b < m->batches && !stopped(accesses); b++) {
    bool meet = accesses->meet == NULL ||
                accesses->meet(accesses->user, 0, b * row, row, b * results, results);
    uint64_t each = meet ? m->out_width : results;
    for (uint64_t at = 0; at < results; at += each) {
      accesses->read(accesses->user, 0, b * row, row);
      accesses->write(accesses->user, b * results + at, each);
    }
  }
}

/* ---- Padding --------------------------------------------------------------------------------- */

typedef struct pads {
  operand_t in, out;
  uint32_t before[RANK_MAX];
} pads_t;

static bool look_at_pads(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                         pads_t *p) {
  operand_t amounts;
  if (!look_at(model, subgraph, op->inputs, 0, &p->in) ||
      !look_at(model, subgraph, op->outputs, 0, &p->out) ||
      !look_at(model, subgraph, op->inputs, 1, &amounts) || p->in.rank != p->out.rank ||
      p->in.width != p->out.width || amounts.elements != 2 * (uint64_t)p->in.rank) {
    return false;
  }
  berth_tensor_t tensor =
      berth_model_tensor(model, subgraph, (uint32_t)berth_vector_int(op->inputs, 1));
  berth_bytes_t data = berth_model_tensor_data(model, &tensor);
  if (tensor.type != BERTH_TYPE_INT32 || data.size < 4 * amounts.elements) return false;
  berth_vector_t values = {data.data, (uint32_t)amounts.elements};
  for (uint32_t i = 0; i < p->in.rank; i++) {
    int32_t before = berth_vector_int(values, 2 * i);
    if (before < 0 || (uint64_t)before + p->in.dims[i] > p->out.dims[i]) return false;
    p->before[i] = (uint32_t)before;
  }
  return true;
}

static void walk_pads(const pads_t *p, const berth_accesses_t *accesses) {
  uint32_t index[RANK_MAX] = {0}, width = p->out.width;
  for (uint64_t t = 0; t < p->out.elements && !stopped(accesses); t++) {
    uint64_t from = 0;
    bool inside = true;
    for (uint32_t i = 0; i < p->out.rank; i++) {
      inside = inside && index[i] >= p->before[i] && index[i] - p->before[i] < p->in.dims[i];
      if (inside) from = from * p->in.dims[i] + index[i] - p->before[i];
    }
    if (inside) accesses->read(accesses->user, 0, from * width, width);
    accesses->write(accesses->user, t * width, width);
    for (uint32_t i = p->out.rank; i > 0 && ++index[i - 1] == p->out.dims[i - 1]; i--) {
      index[i - 1] = 0;
    }
  }
}

/* ---- Element by element ---------------------------------------------------------------------- */

/* An operand that has as many elements as the output; only the first few operands are values. */
static bool look_at_equal(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                          uint32_t operand, operand_t *in, operand_t *out) {
  return operand < 2 && look_at(model, subgraph, op->inputs, operand, in) &&
         look_at(model, subgraph, op->outputs, 0, out) && in->elements == out->elements;
}

static void walk_elements(const berth_model_t *model, uint32_t subgraph, const berth_operator_t *op,
                          bool rows, const berth_accesses_t *accesses) {
  operand_t in[2], out;
  bool there[2];
  for (uint32_t i = 0; i < 2; i++) {
    there[i] = look_at_equal(model, subgraph, op, i, &in[i], &out) && !(rows && i > 0);
  }
  if (!there[0] && !there[1]) return;
  uint64_t row = rows && out.rank > 0 ? out.dims[out.rank - 1] : 0;
  for (uint64_t t = 0; t < out.elements && !stopped(accesses); t++) {
    if (row > 0 && t % row == 0) {
      accesses->read(accesses->user, 0, t * in[0].width, row * in[0].width);
    }
    for (uint32_t i = 0; i < 2; i++) {
      if (there[i]) accesses->read(accesses->user, i, t * in[i].width, in[i].width);
    }
    accesses->write(accesses->user, t * out.width, out.width);
  }
}

/* ---- All of them ----------------------------------------------------------------------------- */

bool berth_reference_order_known(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                                 uint32_t operand) {
  berth_operator_t what = berth_model_operator(model, subgraph, op);
  loop_t loop = loop_of(what.code);
  window_t window;
  matrix_t matrix;
  pads_t pads;
  operand_t in, out;
  switch (loop) {
  case LOOP_CONV:
  case LOOP_DEPTHWISE:
  case LOOP_POOL:
    return operand == 0 && look_at_window(model, subgraph, &what, loop, &window);
  case LOOP_MATRIX:
    return operand == 0 && look_at_matrix(model, subgraph, &what, &matrix);
  case LOOP_PAD:
    return operand == 0 && look_at_pads(model, subgraph, &what, &pads);
  case LOOP_ELEMENTS:
    return look_at_equal(model, subgraph, &what, operand, &in, &out);
  case LOOP_ROWS:
    return operand == 0 && look_at_equal(model, subgraph, &what, operand, &in, &out);
  case LOOP_NONE:
    break;
  }
  return false;
}

void berth_reference_order(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                           const berth_accesses_t *accesses) {
  berth_operator_t what = berth_model_operator(model, subgraph, op);
  loop_t loop = loop_of(what.code);
  window_t window;
  matrix_t matrix;
  pads_t pads;
  switch (loop) {
  case LOOP_CONV:
  case LOOP_DEPTHWISE:
  case LOOP_POOL:
    if (look_at_window(model, subgraph, &what, loop, &window)) walk_windows(&window, accesses);
    break;
  case LOOP_MATRIX:
    if (look_at_matrix(model, subgraph, &what, &matrix)) walk_matrix(&matrix, accesses);
    break;
  case LOOP_PAD:
    if (look_at_pads(model, subgraph, &what, &pads)) walk_pads(&pads, accesses);
    break;
  case LOOP_ELEMENTS:
  case LOOP_ROWS:
    walk_elements(model, subgraph, &what, loop == LOOP_ROWS, accesses);
    break;
  case LOOP_NONE:
    break;
  }
}
