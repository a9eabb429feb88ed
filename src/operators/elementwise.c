/* Shapes, contracts and the outer loops of elementwise operators; see elementwise.h.
 *
 * Broadcasting is walked as a strided loop: dimensions in which every input advances (or every one
 * that stays, stays) are merged, so that for equal shapes one run is left, and for a bias or a
 * scale along the last dimension one run for each position.
 */
#include "operators/elementwise.h"
#include "operators/float_weights.h"
#include "operators/shape.h"
#include <string.h>

/* Is the input a constant of float16 that the kernel's runs take as float32? (DEQUANTIZE and CAST
 * have runs for float16 itself.) */
static bool is_half(const berth_call_t *call, const berth_value_t *input, uint32_t i) {
  return input->type == BERTH_TYPE_FLOAT16 && call->kernel->float16_inputs >> i & 1;
}

/* ---- Shape and contract --------------------------------------------------------------------- */

/* Dimension `i` of a value in a shape of `rank` dimensions, to which 1s are added in front. */
static int32_t dim_at(const berth_value_t *value, uint32_t rank, uint32_t i) {
  uint32_t added = rank - value->rank;
  return i < added ? 1 : value->dims[i - added];
}

/* Does row r of the output need row r of this input, and nothing else of it? */
static bool same_rows(const berth_value_t *input, uint32_t rank, const int32_t *dims) {
  if (!berth_shape_rows_match(input->dims, input->rank, dims, rank)) return false;
  for (uint32_t d = 0; rank >= 3 && d <= berth_row_dimension(rank, dims); d++)
    if (dim_at(input, rank, d) != dims[d]) return false;
  return true;
}

bool berth_broadcast(const berth_value_t *inputs, uint32_t count, uint32_t *rank, int32_t *dims) {
  *rank = 0;
  for (uint32_t i = 0; i < count; i++)
    if (inputs[i].rank > *rank) *rank = inputs[i].rank;
  for (uint32_t d = 0; d < *rank; d++) {
    dims[d] = 1;
    for (uint32_t i = 0; i < count; i++) {
      int32_t dim = dim_at(&inputs[i], *rank, d);
      if (dim == 1 || dim == dims[d]) continue;
      if (dims[d] != 1) return false;
      dims[d] = dim;
    }
  }
  return true;
}

berth_status_t berth_elementwise_prepare(berth_call_t *call, berth_contract_t *contract,
                                         const berth_value_t *inputs, uint32_t count) {
  uint32_t rank;
  int32_t dims[BERTH_RANK_MAX];
  if (!berth_broadcast(inputs, count, &rank, dims))
    return berth_refuse(call, "the shapes cannot be broadcast");
  berth_value_t output = berth_output(call, 0);
  contract->kind = BERTH_ROW_LOCAL;
  contract->ordered = true;
  for (uint32_t i = 0; i < BERTH_WINDOWS_MAX; i++) {
    const berth_value_t *input = &inputs[i < count ? i : count - 1];
    contract->windows[i] = same_rows(input, rank, dims) ? berth_window_same() : berth_window_all();
  }
  for (uint32_t i = 0; i < count; i++) {
    bool same = true; /* the very elements, if perhaps under fewer dimensions */
    for (uint32_t d = 0; d < rank; d++) same = same && dim_at(&inputs[i], rank, d) == dims[d];
    if (!same || is_half(call, &inputs[i], i)) continue;
    bool as_large = berth_element_bytes(inputs[i].type) == berth_element_bytes(output.type);
    *(as_large ? &contract->in_place : &contract->in_step) |= UINT32_C(1) << i;
  }
  return berth_set_shape(call, 0, rank, dims);
}

berth_status_t berth_elementwise_same_type(berth_call_t *call, berth_contract_t *contract,
                                           berth_value_t *inputs, uint32_t count) {
  berth_value_t output = berth_output(call, 0);
  if (!output.present) return berth_refuse(call, "needs an output");
  for (uint32_t i = 0; i < count; i++) {
    inputs[i] = berth_input(call, i);
    if (!inputs[i].present) return berth_refuse(call, "an input is missing");
    bool half = is_half(call, &inputs[i], i) && output.type == BERTH_TYPE_FLOAT32;
    if (inputs[i].type != output.type && !half)
      return berth_refuse(call, "all types must be the same");
  }
  return berth_elementwise_prepare(call, contract, inputs, count);
}

/* ---- Evaluation ----------------------------------------------------------------------------- */

/* How one row, or the whole tensor, is walked: dimensions outermost first, merged. */
typedef struct walk {
  uint32_t count; /* of inputs */
  uint32_t rank;
  uint32_t dims[BERTH_RANK_MAX];
  size_t steps[BERTH_ELEMENTWISE_MAX][BERTH_RANK_MAX]; /* bytes; 0: the input stays */
  uint32_t element[BERTH_ELEMENTWISE_MAX];             /* bytes of an input's element */
  bool half[BERTH_ELEMENTWISE_MAX];                    /* float16, which runs take as float32 */
  uint32_t output_element;
} walk_t;

/* Lays out dimensions [first, rank) of the output. */
static void make_walk(walk_t *walk, const berth_call_t *call, const berth_value_t *inputs,
                      uint32_t count, const berth_value_t *output, uint32_t first) {
  size_t strides[BERTH_ELEMENTWISE_MAX][BERTH_RANK_MAX];
  walk->count = count;
  walk->rank = 0;
  walk->output_element = berth_element_bytes(output->type);
  for (uint32_t i = 0; i < count; i++) {
    size_t stride = walk->element[i] = berth_element_bytes(inputs[i].type);
    walk->half[i] = is_half(call, &inputs[i], i);
    for (uint32_t d = output->rank; d-- > 0;) {
      uint32_t dim = (uint32_t)dim_at(&inputs[i], output->rank, d);
      strides[i][d] = dim == 1 ? 0 : stride;
      stride *= dim;
    }
  }
  for (uint32_t d = first; d < output->rank; d++) {
    uint32_t dim = (uint32_t)output->dims[d], last = walk->rank;
    if (dim == 1) continue;
    bool merge = last > 0;
    for (uint32_t i = 0; i < count && merge; i++)
      merge = walk->steps[i][last - 1] == strides[i][d] * dim;
    if (merge)
      walk->dims[--last] *= dim;
    else
      walk->dims[last] = dim;
    for (uint32_t i = 0; i < count; i++) walk->steps[i][last] = strides[i][d];
    walk->rank = last + 1;
  }
  if (walk->rank > 0) return;
  walk->rank = walk->dims[0] = 1;
  for (uint32_t i = 0; i < count; i++) walk->steps[i][0] = 0;
}

/* A run with inputs at any address, since constants of a model need not be aligned, or of float16.
 */
static void run_copied(const walk_t *walk, const uint8_t *const *from, const uint32_t *steps,
                       uint8_t *to, uint32_t count, berth_run_t run, const void *params) {
  enum { CHUNK = 32 };
  uint64_t copies[BERTH_ELEMENTWISE_MAX][CHUNK];
  for (uint32_t done = 0; done < count; done += CHUNK) {
    uint32_t now = count - done < CHUNK ? count - done : CHUNK;
    const void *aligned[BERTH_ELEMENTWISE_MAX];
    for (uint32_t i = 0; i < walk->count; i++) {
      size_t element = walk->element[i], elements = steps[i] ? now : 1;
      const uint8_t *first = from[i] + (steps[i] ? done * element : 0);
      aligned[i] = copies[i];
      if (!walk->half[i]) memcpy(copies[i], first, elements * element);
      for (size_t k = 0; walk->half[i] && k < elements; k++) {
        ((float *)(void *)copies[i])[k] = berth_weight_load(first, true, k);
      }
    }
    run(aligned, steps, to + (size_t)done * walk->output_element, now, params);
  }
}

/* Walks from the given addresses and advances `to`. */
static void walk_runs(const walk_t *walk, const uint8_t *const *from, uint8_t *to, berth_run_t run,
                      const void *params) {
  uint32_t line = walk->rank - 1, index[BERTH_RANK_MAX] = {0}, steps[BERTH_ELEMENTWISE_MAX];
  const uint8_t *at[BERTH_ELEMENTWISE_MAX];
  bool aligned = true;
  for (uint32_t i = 0; i < walk->count; i++) {
    at[i] = from[i];
    steps[i] = walk->steps[i][line] > 0 ? 1 : 0;
    aligned = aligned && !walk->half[i] && (uintptr_t)from[i] % walk->element[i] == 0;
  }
  for (;;) {
    if (aligned) {
      const void *pointers[BERTH_ELEMENTWISE_MAX];
      for (uint32_t i = 0; i < walk->count; i++) pointers[i] = at[i];
      run(pointers, steps, to, walk->dims[line], params);
    } else {
      run_copied(walk, at, steps, to, walk->dims[line], run, params);
    }
    to += (size_t)walk->dims[line] * walk->output_element;
    uint32_t d = line;
    for (;;) {
      if (d == 0) return;
      d--;
      for (uint32_t i = 0; i < walk->count; i++) at[i] += walk->steps[i][d];
      if (++index[d] < walk->dims[d]) break;
      for (uint32_t i = 0; i < walk->count; i++) at[i] -= walk->steps[i][d] * walk->dims[d];
      index[d] = 0;
    }
  }
}

void berth_elementwise_eval(berth_call_t *call, const berth_value_t *inputs, uint32_t count,
                            berth_run_t run, const void *params) {
  berth_value_t output = berth_output(call, 0);
  if (output.bytes == 0) return;
  bool by_rows =
      call->first_row > 0 || call->last_row < output.rows || !berth_is_contiguous(&output);
  for (uint32_t i = 0; i < count; i++) by_rows = by_rows || !berth_is_contiguous(&inputs[i]);

  walk_t walk;
  const uint8_t *from[BERTH_ELEMENTWISE_MAX] = {NULL};
  if (!by_rows) {
    make_walk(&walk, call, inputs, count, &output, 0);
    for (uint32_t i = 0; i < count; i++) from[i] = inputs[i].data;
    walk_runs(&walk, from, output.data, run, params);
    return;
  }
  uint32_t dim = berth_row_dimension(output.rank, output.dims), height = (uint32_t)output.dims[dim];
  make_walk(&walk, call, inputs, count, &output, dim + 1);
  for (uint32_t row = call->first_row; row < call->last_row; row++) {
    for (uint32_t i = 0; i < count; i++) {
      if (same_rows(&inputs[i], output.rank, output.dims)) {
        from[i] = berth_row(&inputs[i], row);
        continue;
      }
      /* All of the input is there: find the row's start in it. */
      uint32_t batches = (uint32_t)dim_at(&inputs[i], output.rank, 0);
      uint32_t rows = (uint32_t)dim_at(&inputs[i], output.rank, dim);
      size_t at = (size_t)(batches > 1 ? row / height : 0) * rows + (rows > 1 ? row % height : 0);
      from[i] = inputs[i].data + at * (inputs[i].bytes / (batches * rows));
    }
    walk_runs(&walk, from, berth_row(&output, row), run, params);
  }
}
