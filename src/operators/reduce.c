/* MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, REDUCE_ANY and REDUCE_ALL.
 *
 * A reduction over the rows (a global pool) is accumulating: they are consumed one after the other
 * into one accumulator for each output element, in scratch. One that leaves batch and rows alone
 * is row-local; others are whole. In all cases numbers are added in the order in which they lie in
 * the tensor, so that float sums are the same however rows come. Quantized sums are rescaled as
 * TFLM does: the division by the count goes into the multiplier.
 */
#include "operators/kernels.h"
#include "operators/quantized.h"
#include "operators/shape.h"

/* ---- What is reduced ------------------------------------------------------------------------ */

typedef struct reduction {
  bool reduced[BERTH_RANK_MAX];
  uint32_t rank; /* of the output */
  int32_t dims[BERTH_RANK_MAX];
  uint32_t count; /* elements that become one */
  uint32_t row;   /* the dimension along which the input's rows lie */
  berth_kind_t kind;
} reduction_t;

static berth_status_t read_reduction(berth_call_t *call, const berth_value_t *input,
                                     reduction_t *r) {
  berth_value_t axes = berth_input(call, 1);
  bool keep = berth_option_byte(call->op.options, BERTH_REDUCER_KEEP_DIMS, 0) != 0;
  if (!berth_shape_is_int(&axes) || axes.rank > 1)
    return berth_refuse(call, "the axes must be integers");
  *r = (reduction_t){.count = 1, .kind = BERTH_WHOLE};
  r->row = berth_row_dimension(input->rank, input->dims);
  for (uint32_t i = 0; i < axes.elements; i++) {
    uint32_t axis;
    if (!berth_shape_axis(berth_shape_int(&axes, i), input->rank, &axis))
      return berth_refuse(call, "an axis does not exist");
    r->reduced[axis] = true;
  }
  for (uint32_t d = 0; d < input->rank; d++) {
    if (r->reduced[d]) r->count *= (uint32_t)input->dims[d];
    if (keep || !r->reduced[d]) r->dims[r->rank++] = r->reduced[d] ? 1 : input->dims[d];
  }
  if (input->rank < 3) return BERTH_OK;
  if (r->reduced[r->row])
    r->kind = BERTH_ACCUMULATING;
  else if (!r->reduced[0] && r->rank >= 3 &&
           berth_shape_rows_match(input->dims, input->rank, r->dims, r->rank))
    r->kind = BERTH_ROW_LOCAL;
  return BERTH_OK;
}

static bool is_computed(const berth_call_t *call) {
  return !berth_input(call, 1).constant;
}

static bool takes(berth_builtin_t code, berth_tensor_type_t type) {
  switch (code) {
  case BERTH_BUILTIN_REDUCE_ANY:
  case BERTH_BUILTIN_REDUCE_ALL:
    return type == BERTH_TYPE_BOOL;
  case BERTH_BUILTIN_REDUCE_PROD:
    return type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_INT32;
  default:
    return type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_INT32 || berth_is_quantized_type(type);
  }
}

static bool is_sum(berth_builtin_t code) {
  return code == BERTH_BUILTIN_MEAN || code == BERTH_BUILTIN_SUM;
}

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  if (!input.present || !berth_input(call, 1).present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (input.type != output.type) return berth_refuse(call, "cannot change the type");
  if (!takes(call->op.code, input.type)) return berth_refuse(call, "cannot take this type");
  if (!berth_is_aligned(&input)) return berth_refuse(call, "takes no unaligned constant");
  if (is_sum(call->op.code) && berth_is_quantized_type(input.type)) {
    if (!berth_has_scale(&input) || !berth_has_scale(&output))
      return berth_refuse(call, "needs scales and zero points");
    if (!berth_is_usable(berth_quantize_multiplier((double)input.scale / (double)output.scale)))
      return berth_refuse(call, "the output's scale is too small");
  }
  if (is_computed(call)) {
    /* One accumulator for each element is enough for any axes. */
    if (input.elements > UINT32_MAX / 4) return BERTH_ERROR_OVERFLOW;
    contract->scratch[0] = input.elements * 4;
    return berth_set_unknown(call, 0);
  }
  reduction_t r;
  berth_status_t status = read_reduction(call, &input, &r);
  if (status != BERTH_OK) return status;
  uint32_t outer = berth_row_dimension(r.rank, r.dims) + 1; /* dimensions of the output */
  uint32_t outputs = berth_shape_product(r.dims, r.kind == BERTH_ROW_LOCAL ? outer : 0, r.rank);
  if (outputs > UINT32_MAX / 4) return BERTH_ERROR_OVERFLOW;
  contract->scratch[0] = outputs * 4;
  contract->kind = r.kind;
  contract->windows[0] = berth_window_same();
  contract->windows[1] = berth_window_all();
  return berth_set_shape(call, 0, r.rank, r.dims);
}

/* ---- Accumulation --------------------------------------------------------------------------- */

/* How a piece of the input meets the accumulators: dimensions outermost first, neighbours that are
 * both kept or both reduced merged into one. */
typedef struct walk {
  uint32_t rank;
  uint32_t dims[BERTH_RANK_MAX];
  bool reduced[BERTH_RANK_MAX];
} walk_t;

static walk_t make_walk(const berth_value_t *input, const reduction_t *r, uint32_t first) {
  walk_t walk = {0};
  for (uint32_t d = first; d < input->rank; d++) {
    if (walk.rank > 0 && walk.reduced[walk.rank - 1] == r->reduced[d]) {
      walk.dims[walk.rank - 1] *= (uint32_t)input->dims[d];
      continue;
    }
    walk.dims[walk.rank] = (uint32_t)input->dims[d];
    walk.reduced[walk.rank++] = r->reduced[d];
  }
  if (walk.rank == 0) walk = (walk_t){1, {1}, {false}};
  return walk;
}

typedef union accumulator {
  int32_t integer;
  float real;
} accumulator_t;

static int32_t add_wrapping(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}
static int32_t multiply_wrapping(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a * (uint32_t)b);
}

/* Accumulates a line of `count` elements, all into one accumulator or each into its own. */
#define DEFINE_LINE(name, in_t, field, field_t, expression)                                        \
  static void name(const void *from, accumulator_t *to, uint32_t count, bool reduced) {            \
    const in_t *x = from;                                                                          \
    if (reduced) {                                                                                 \
      field_t a = to->field;                                                                       \
      for (uint32_t i = 0; i < count; i++) {                                                       \
        const field_t b = (field_t)x[i];                                                           \
        a = (expression);                                                                          \
      }                                                                                            \
      to->field = a;                                                                               \
    } else {                                                                                       \
      for (uint32_t i = 0; i < count; i++) {                                                       \
        const field_t a = to[i].field, b = (field_t)x[i];                                          \
        to[i].field = (expression);                                                                \
      }                                                                                            \
    }                                                                                              \
  }

#define DEFINE_INTEGERS(name, expression)                                                          \
  DEFINE_LINE(name##_int8, int8_t, integer, int32_t, expression)                                   \
  DEFINE_LINE(name##_uint8, uint8_t, integer, int32_t, expression)                                 \
  DEFINE_LINE(name##_int16, int16_t, integer, int32_t, expression)                                 \
  DEFINE_LINE(name##_int32, int32_t, integer, int32_t, expression)

DEFINE_INTEGERS(sum, add_wrapping(a, b))
DEFINE_INTEGERS(max, a > b ? a : b)
DEFINE_INTEGERS(min, a < b ? a : b)
DEFINE_LINE(prod_int32, int32_t, integer, int32_t, multiply_wrapping(a, b))
DEFINE_LINE(sum_float, float, real, float, a + b)
DEFINE_LINE(max_float, float, real, float, a > b ? a : b)
DEFINE_LINE(min_float, float, real, float, a < b ? a : b)
DEFINE_LINE(prod_float, float, real, float, a *b)
DEFINE_LINE(any_bool, uint8_t, integer, int32_t, (a | b) != 0)
DEFINE_LINE(all_bool, uint8_t, integer, int32_t, a &(b != 0))

typedef void (*line_t)(const void *from, accumulator_t *to, uint32_t count, bool reduced);

#define PICK(name, type)                                                                           \
  (type == BERTH_TYPE_INT8    ? name##_int8                                                        \
   : type == BERTH_TYPE_UINT8 ? name##_uint8                                                       \
   : type == BERTH_TYPE_INT16 ? name##_int16                                                       \
   : type == BERTH_TYPE_INT32 ? name##_int32                                                       \
                              : name##_float)

static line_t pick(berth_builtin_t code, berth_tensor_type_t type) {
  switch (code) {
  case BERTH_BUILTIN_REDUCE_MAX:
    return PICK(max, type);
  case BERTH_BUILTIN_REDUCE_MIN:
    return PICK(min, type);
  case BERTH_BUILTIN_REDUCE_PROD:
    return type == BERTH_TYPE_INT32 ? prod_int32 : prod_float;
  case BERTH_BUILTIN_REDUCE_ANY:
    return any_bool;
  case BERTH_BUILTIN_REDUCE_ALL:
    return all_bool;
  default:
    return PICK(sum, type);
  }
}

static accumulator_t initial(berth_builtin_t code, berth_tensor_type_t type) {
  bool real = type == BERTH_TYPE_FLOAT32;
  switch (code) {
  case BERTH_BUILTIN_REDUCE_MAX:
    return real ? (accumulator_t){.real = -3.402823466e38f}
                : (accumulator_t){.integer = berth_type_min(type)};
  case BERTH_BUILTIN_REDUCE_MIN:
    return real ? (accumulator_t){.real = 3.402823466e38f}
                : (accumulator_t){.integer = berth_type_max(type)};
  case BERTH_BUILTIN_REDUCE_PROD:
    return real ? (accumulator_t){.real = 1.0f} : (accumulator_t){.integer = 1};
  case BERTH_BUILTIN_REDUCE_ALL:
    return (accumulator_t){.integer = 1};
  default:
    return real ? (accumulator_t){.real = 0.0f} : (accumulator_t){.integer = 0};
  }
}

/* Accumulates the piece of the input at `from` that `walk` describes. */
static void accumulate_piece(const walk_t *walk, const uint8_t *from, uint32_t element,
                             accumulator_t *to, line_t line) {
  uint32_t last = walk->rank - 1, index[BERTH_RANK_MAX] = {0}, strides[BERTH_RANK_MAX];
  uint32_t stride = 1;
  for (uint32_t d = walk->rank; d-- > 0;) {
    strides[d] = walk->reduced[d] ? 0 : stride;
    if (!walk->reduced[d]) stride *= walk->dims[d];
  }
  for (;;) {
    line(from, to, walk->dims[last], walk->reduced[last]);
    from += (size_t)walk->dims[last] * element;
    uint32_t d = last;
    for (;;) {
      if (d == 0) return;
      d--;
      to += strides[d];
      if (++index[d] < walk->dims[d]) break;
      to -= (size_t)strides[d] * walk->dims[d];
      index[d] = 0;
    }
  }
}

/* ---- Results -------------------------------------------------------------------------------- */

/* The factor of a quantized sum, with the division by the count in it for a mean. */
static berth_multiplier_t sum_factor(const berth_call_t *call, const berth_value_t *input,
                                     const berth_value_t *output, uint32_t count) {
  berth_multiplier_t factor =
      berth_quantize_multiplier((double)input->scale / (double)output->scale);
  if (call->op.code != BERTH_BUILTIN_MEAN || count == 0) return factor;
  int32_t shift = 0;
  while (shift < 31 && count >> (shift + 1) != 0) shift++;
  if (shift > 31 + factor.shift) shift = 31 + factor.shift;
  int64_t raised = (int64_t)factor.multiplier * (INT64_C(1) << shift);
  return (berth_multiplier_t){(int32_t)(raised / count), factor.shift - shift};
}

static void finish_elements(const berth_call_t *call, const berth_value_t *input,
                            const berth_value_t *output, uint32_t count, const accumulator_t *from,
                            uint8_t *to, uint32_t elements) {
  bool mean = call->op.code == BERTH_BUILTIN_MEAN, quantized = berth_is_quantized_type(input->type);
  bool rescale = is_sum(call->op.code) && quantized;
  berth_multiplier_t factor = {0, 0};
  if (rescale) factor = sum_factor(call, input, output, count);
  int32_t offset = (int32_t)((uint32_t)input->zero_point * count);
  for (uint32_t i = 0; i < elements; i++) {
    if (input->type == BERTH_TYPE_FLOAT32) {
      float real = mean ? from[i].real / (float)count : from[i].real;
      memcpy(to + i * sizeof real, &real, sizeof real);
      continue;
    }
    int32_t number = from[i].integer;
    if (rescale) {
      number = berth_multiply((int32_t)((uint32_t)number - (uint32_t)offset), factor);
      number = berth_clamp(add_wrapping(number, output->zero_point), berth_type_min(output->type),
                           berth_type_max(output->type));
    } else if (mean && count > 0) {
      number /= (int32_t)count;
    }
    int16_t narrow = (int16_t)number;
    if (output->type == BERTH_TYPE_INT32)
      memcpy(to + i * sizeof number, &number, sizeof number);
    else if (output->type == BERTH_TYPE_INT16)
      memcpy(to + i * sizeof narrow, &narrow, sizeof narrow);
    else
      to[i] = (uint8_t)number;
  }
}

static void reset(const berth_call_t *call, berth_tensor_type_t type, accumulator_t *accumulators,
                  uint32_t count) {
  accumulator_t value = initial(call->op.code, type);
  for (uint32_t i = 0; i < count; i++) accumulators[i] = value;
}

/* ---- The three kinds ------------------------------------------------------------------------ */

static berth_status_t begin(berth_call_t *call) {
  berth_value_t output = berth_output(call, 0);
  reset(call, output.type, call->scratch[0], output.elements);
  return BERTH_OK;
}

static berth_status_t accumulate(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  reduction_t r;
  berth_status_t status = read_reduction(call, &input, &r);
  if (status != BERTH_OK || input.bytes == 0 || output.elements == 0) return status;
  walk_t walk = make_walk(&input, &r, r.row + 1);
  line_t line = pick(call->op.code, input.type);
  uint32_t element = berth_element_bytes(input.type), height = (uint32_t)input.dims[r.row];
  uint32_t per_batch = r.reduced[0] ? 0 : output.elements / (uint32_t)input.dims[0];
  for (uint32_t row = call->first_row; row < call->last_row; row++)
    accumulate_piece(&walk, berth_row(&input, row), element,
                     (accumulator_t *)call->scratch[0] + (size_t)(row / height) * per_batch, line);
  return BERTH_OK;
}

static berth_status_t finish(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  reduction_t r;
  berth_status_t status = read_reduction(call, &input, &r);
  if (status != BERTH_OK || output.bytes == 0) return status;
  finish_elements(call, &input, &output, r.count, call->scratch[0], output.data, output.elements);
  return BERTH_OK;
}

/* Row-local and whole reductions; accumulating ones too, for a caller that has all rows. */
static berth_status_t eval(berth_call_t *call) {
  berth_value_t input = berth_input(call, 0);
  reduction_t r;
  berth_status_t status = read_reduction(call, &input, &r);
  if (status == BERTH_OK && r.kind == BERTH_ACCUMULATING && !is_computed(call)) {
    call->first_row = 0;
    call->last_row = input.rows;
    status = begin(call);
    if (status == BERTH_OK) status = accumulate(call);
    return status == BERTH_OK ? finish(call) : status;
  }
  if (status == BERTH_OK && is_computed(call)) status = berth_set_shape(call, 0, r.rank, r.dims);
  berth_value_t output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;
  line_t line = pick(call->op.code, input.type);
  uint32_t element = berth_element_bytes(input.type);
  accumulator_t *accumulators = call->scratch[0];
  if (is_computed(call) || r.kind == BERTH_WHOLE) {
    walk_t walk = make_walk(&input, &r, 0);
    reset(call, input.type, accumulators, output.elements);
    if (input.bytes > 0) accumulate_piece(&walk, input.data, element, accumulators, line);
    finish_elements(call, &input, &output, r.count, accumulators, output.data, output.elements);
    return BERTH_OK;
  }
  walk_t walk = make_walk(&input, &r, r.row + 1);
  uint32_t elements = output.row_bytes / berth_element_bytes(output.type);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    reset(call, input.type, accumulators, elements);
    if (input.bytes > 0)
      accumulate_piece(&walk, berth_row(&input, row), element, accumulators, line);
    finish_elements(call, &input, &output, r.count, accumulators, berth_row(&output, row),
                    elements);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_mean = {.code = BERTH_BUILTIN_MEAN,
                                          .prepare = prepare,
                                          .eval = eval,
                                          .begin = begin,
                                          .accumulate = accumulate,
                                          .finish = finish};
const berth_kernel_t berth_kernel_reduce_all = {.code = BERTH_BUILTIN_REDUCE_ALL,
                                                .prepare = prepare,
                                                .eval = eval,
                                                .begin = begin,
                                                .accumulate = accumulate,
                                                .finish = finish};
const berth_kernel_t berth_kernel_reduce_any = {.code = BERTH_BUILTIN_REDUCE_ANY,
                                                .prepare = prepare,
                                                .eval = eval,
                                                .begin = begin,
                                                .accumulate = accumulate,
                                                .finish = finish};
const berth_kernel_t berth_kernel_reduce_max = {.code = BERTH_BUILTIN_REDUCE_MAX,
                                                .prepare = prepare,
                                                .eval = eval,
                                                .begin = begin,
                                                .accumulate = accumulate,
                                                .finish = finish};
const berth_kernel_t berth_kernel_reduce_min = {.code = BERTH_BUILTIN_REDUCE_MIN,
                                                .prepare = prepare,
                                                .eval = eval,
                                                .begin = begin,
                                                .accumulate = accumulate,
                                                .finish = finish};
const berth_kernel_t berth_kernel_reduce_prod = {.code = BERTH_BUILTIN_REDUCE_PROD,
                                                 .prepare = prepare,
                                                 .eval = eval,
                                                 .begin = begin,
                                                 .accumulate = accumulate,
                                                 .finish = finish};
const berth_kernel_t berth_kernel_sum = {.code = BERTH_BUILTIN_SUM,
                                         .prepare = prepare,
                                         .eval = eval,
                                         .begin = begin,
                                         .accumulate = accumulate,
                                         .finish = finish};
