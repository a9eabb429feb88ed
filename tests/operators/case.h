/* One operator on tensors of a test's own, run in every way that its contract allows.
 *
 * case_run prepares the kernel and evaluates it whole; then again with AVX2, row by row from rings
 * that hold only the rows its windows ask for (everything else poisoned), over rows that only
 * earlier ones need if it is ordered, over its own inputs and in step with them where it says so,
 * and as a view. All must give the same bytes. So a test states inputs and expected output once,
 * and the contract is checked along with the arithmetic. Constants lie at odd addresses, as they
 * may in a file.
 *
 *   case_t c;
 *   case_begin(&c, &berth_kernel_add);
 *   case_input(&c, BERTH_TYPE_INT8, 2, (int32_t[]){2, 3}, data, 0.5f, 0);
 *   case_constant(&c, BERTH_TYPE_INT8, 0, NULL, &one, 0.25f, 1);
 *   case_output(&c, BERTH_TYPE_INT8, 0.5f, 0);
 *   assert_int_equal(case_run(&c), BERTH_OK);
 *   berth_value_t result = case_result(&c, 0);
 *   case_end(&c);
 */
#ifndef BERTH_TESTS_OPERATORS_CASE_H
#define BERTH_TESTS_OPERATORS_CASE_H

#include "test.h"

#include "operators/kernels.h"
#include "operators/over_rows.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASE_TENSORS 28
#define CASE_FIELDS  8
#define CASE_POISON  0xA5

typedef struct case_tensor {
  berth_value_t value; /* data: the whole tensor */
  uint8_t *memory;     /* to free */
  uint8_t scales[4];
} case_tensor_t;

typedef struct case_t {
  berth_call_t call;
  case_tensor_t tensors[CASE_TENSORS];
  berth_value_t shown[CASE_TENSORS]; /* what the kernel is shown now */
  uint32_t count;
  int32_t inputs[CASE_TENSORS];
  int32_t outputs[CASE_TENSORS];
  uint8_t options[256]; /* a FlatBuffer: vtable, table, and vectors behind it */
  uint32_t options_end;
  berth_contract_t contract;
  bool evaluating;
  bool has_variables;
} case_t;

/* ---- Tensors and options -------------------------------------------------------------------- */

static inline void case_size(berth_value_t *v) {
  uint32_t element = berth_tensor_type_bits(v->type) / 8;
  v->elements = 1;
  for (uint32_t i = 0; i < v->rank; i++) v->elements *= (uint32_t)v->dims[i];
  v->bytes = v->elements * element;
  v->rows = 1;
  if (v->rank >= 3)
    v->rows = (uint32_t)(v->dims[0] * v->dims[berth_row_dimension(v->rank, v->dims)]);
  v->row_bytes = v->rows > 0 ? v->bytes / v->rows : 0;
  v->ring = v->rows > 0 ? v->rows : 1;
}

static inline void *case_allocate(uint32_t bytes) {
  uint8_t *memory = malloc(bytes > 0 ? bytes : 1u);
  assert_non_null(memory);
  memset(memory, CASE_POISON, bytes > 0 ? bytes : 1u);
  return memory;
}

static inline berth_value_t case_tensor(const berth_call_t *call, uint32_t tensor) {
  const case_t *c = call->interpreter;
  return c->shown[tensor];
}

static inline berth_status_t case_shape(berth_call_t *call, uint32_t tensor, uint32_t rank,
                                        const int32_t *dims) {
  case_t *c = call->interpreter;
  berth_value_t *value = &c->tensors[tensor].value;
  value->known = rank != BERTH_RANK_UNKNOWN;
  if (value->known) {
    value->rank = rank;
    for (uint32_t i = 0; i < rank; i++) value->dims[i] = dims[i];
    case_size(value);
    if (c->evaluating) {
      free(c->tensors[tensor].memory);
      c->tensors[tensor].memory = case_allocate(value->bytes);
      value->data = c->tensors[tensor].memory;
    }
  }
  c->shown[tensor] = *value;
  return BERTH_OK;
}

static inline void case_begin(case_t *c, const berth_kernel_t *kernel) {
  memset(c, 0, sizeof *c);
  c->call.kernel = kernel;
  c->call.interpreter = c;
  c->call.tensor = case_tensor;
  c->call.shape = case_shape;
  c->call.op.code = kernel->code;
  c->call.op.version = 1;
  /* The vtable is at 8, the table at 64 with four bytes for each field. */
  uint16_t header[2] = {4 + 2 * CASE_FIELDS, 4 + 4 * CASE_FIELDS};
  memcpy(c->options + 8, header, sizeof header);
  int32_t back = 64 - 8;
  memcpy(c->options + 64, &back, sizeof back);
  c->options_end = 64 + 4 + 4 * CASE_FIELDS;
}

static inline uint32_t case_field(case_t *c, uint32_t field) {
  assert_true(field < CASE_FIELDS);
  uint16_t at = (uint16_t)(4 + 4 * field);
  memcpy(c->options + 8 + 4 + 2 * field, &at, sizeof at);
  return 64u + at;
}

static inline void case_option_int(case_t *c, uint32_t field, int32_t number) {
  memcpy(c->options + case_field(c, field), &number, sizeof number);
}

static inline void case_option_byte(case_t *c, uint32_t field, int32_t number) {
  c->options[case_field(c, field)] = (uint8_t)number;
}

static inline void case_option_float(case_t *c, uint32_t field, float number) {
  memcpy(c->options + case_field(c, field), &number, sizeof number);
}

static inline void case_option_ints(case_t *c, uint32_t field, uint32_t count,
                                    const int32_t *numbers) {
  uint32_t at = case_field(c, field), offset = c->options_end - at;
  memcpy(c->options + at, &offset, sizeof offset);
  memcpy(c->options + c->options_end, &count, sizeof count);
  memcpy(c->options + c->options_end + 4, numbers, count * sizeof *numbers);
  c->options_end += 4 + 4 * count;
  assert_true(c->options_end <= sizeof c->options);
}

static inline int32_t case_add(case_t *c, berth_tensor_type_t type, uint32_t rank,
                               const int32_t *dims, const void *data, float scale,
                               int32_t zero_point, bool constant) {
  uint32_t index = c->count++;
  assert_true(index < CASE_TENSORS);
  case_tensor_t *tensor = &c->tensors[index];
  berth_value_t *v = &tensor->value;
  *v = (berth_value_t){.type = type,
                       .present = true,
                       .constant = constant,
                       .known = true,
                       .rank = rank,
                       .scale = scale,
                       .zero_point = zero_point,
                       .index = index,
                       .ring = 1};
  for (uint32_t i = 0; i < rank; i++) v->dims[i] = dims[i];
  case_size(v);
  if (scale > 0) {
    memcpy(tensor->scales, &scale, sizeof scale);
    v->scales = (berth_vector_t){tensor->scales, 1};
  }
  if (data != NULL || constant) {
    tensor->memory = case_allocate(v->bytes + constant);
    v->data = tensor->memory + constant;
    if (v->bytes > 0) memcpy(v->data, data, v->bytes);
  }
  return (int32_t)index;
}

/* An input that is computed at run time, or a constant of the model. */
static inline void case_input(case_t *c, berth_tensor_type_t type, uint32_t rank,
                              const int32_t *dims, const void *data, float scale,
                              int32_t zero_point) {
  c->inputs[c->call.op.inputs.count++] =
      case_add(c, type, rank, dims, data, scale, zero_point, false);
}

static inline void case_constant(case_t *c, berth_tensor_type_t type, uint32_t rank,
                                 const int32_t *dims, const void *data, float scale,
                                 int32_t zero_point) {
  c->inputs[c->call.op.inputs.count++] =
      case_add(c, type, rank, dims, data, scale, zero_point, true);
}

/* A variable tensor, filled with `fill`: it keeps what case_again leaves in it. */
static inline void case_variable(case_t *c, berth_tensor_type_t type, uint32_t rank,
                                 const int32_t *dims, float scale, int32_t zero_point,
                                 int32_t fill) {
  int32_t index = case_add(c, type, rank, dims, NULL, scale, zero_point, false);
  berth_value_t *v = &c->tensors[index].value;
  v->variable = true;
  v->data = c->tensors[index].memory = case_allocate(v->bytes);
  if (v->bytes > 0) memset(v->data, fill, v->bytes);
  c->inputs[c->call.op.inputs.count++] = index;
  c->has_variables = true;
}

/* A constant list of int32. */
static inline void case_ints(case_t *c, uint32_t count, const int32_t *numbers) {
  int32_t dims = (int32_t)count;
  case_constant(c, BERTH_TYPE_INT32, 1, &dims, numbers, 0, 0);
}

/* A constant scalar int32. */
static inline void case_int(case_t *c, int32_t number) {
  case_constant(c, BERTH_TYPE_INT32, 0, NULL, &number, 0, 0);
}

static inline void case_absent(case_t *c) {
  c->inputs[c->call.op.inputs.count++] = BERTH_NO_TENSOR;
}

static inline void case_output(case_t *c, berth_tensor_type_t type, float scale,
                               int32_t zero_point) {
  c->outputs[c->call.op.outputs.count++] =
      case_add(c, type, 0, NULL, NULL, scale, zero_point, false);
}

static inline berth_value_t case_result(const case_t *c, uint32_t output) {
  return c->tensors[c->outputs[output]].value;
}

/* ---- Evaluation ----------------------------------------------------------------------------- */

/* Shows every tensor whole. */
static inline void case_show(case_t *c) {
  for (uint32_t i = 0; i < c->count; i++) c->shown[i] = c->tensors[i].value;
}

static inline berth_status_t case_whole(case_t *c) {
  berth_call_t *call = &c->call;
  call->first_row = 0;
  if (c->contract.kind != BERTH_ACCUMULATING) {
    call->last_row = call->op.outputs.count > 0 ? case_result(c, 0).rows : 0;
    return call->kernel->eval(call);
  }
  berth_status_t status = call->kernel->begin(call);
  call->last_row = c->shown[c->inputs[0]].rows;
  if (status == BERTH_OK) status = call->kernel->accumulate(call);
  return status == BERTH_OK ? call->kernel->finish(call) : status;
}

static inline int64_t case_floor(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

/* A ring of its own with rows [low, high) of a whole tensor; its data is to be freed. */
static inline berth_value_t case_ring(const berth_value_t *whole, uint32_t low, uint32_t high) {
  berth_value_t ring = *whole;
  ring.ring = high > low ? high - low : 1;
  ring.data = case_allocate(ring.ring * ring.row_bytes);
  for (uint32_t row = low; row < high; row++)
    memcpy(berth_row(&ring, row), whole->data + (size_t)row * whole->row_bytes, ring.row_bytes);
  return ring;
}

/* Shows of each input what its window says for output rows [a, b), and of each output a ring. */
static inline void case_show_rows(case_t *c, uint32_t a, uint32_t b) {
  case_show(c);
  for (uint32_t i = 0; i < c->call.op.inputs.count; i++) {
    if (c->inputs[i] < 0) continue;
    const berth_value_t *whole = &c->tensors[c->inputs[i]].value;
    berth_window_t w = c->contract.windows[i < BERTH_WINDOWS_MAX ? i : BERTH_WINDOWS_MAX - 1];
    if (whole->constant || w.extent == 0) continue;
    int64_t low = case_floor((int64_t)a * w.numerator, w.denominator) + w.offset;
    int64_t high = case_floor((int64_t)(b - 1) * w.numerator, w.denominator) + w.offset + w.extent;
    if (low < 0) low = 0;
    if (high > whole->rows) high = whole->rows;
    if (high < low) high = low = 0;
    c->shown[c->inputs[i]] = case_ring(whole, (uint32_t)low, (uint32_t)high);
  }
  for (uint32_t o = 0; o < c->call.op.outputs.count; o++) {
    berth_value_t *ring = &c->shown[c->outputs[o]];
    ring->ring = b - a;
    ring->data = case_allocate(ring->ring * ring->row_bytes);
  }
}

static inline berth_status_t case_by_rows(case_t *c, uint32_t step) {
  berth_call_t *call = &c->call;
  uint32_t rows = case_result(c, 0).rows;
  for (uint32_t a = 0; a < rows; a += step) {
    uint32_t b = a + step < rows ? a + step : rows;
    case_show_rows(c, a, b);
    call->first_row = a;
    call->last_row = b;
    berth_status_t status = call->kernel->eval(call);
    for (uint32_t o = 0; o < call->op.outputs.count; o++) {
      berth_value_t *whole = &c->tensors[c->outputs[o]].value;
      for (uint32_t row = a; row < b && whole->row_bytes > 0; row++)
        memcpy(whole->data + (size_t)row * whole->row_bytes,
               berth_row(&c->shown[c->outputs[o]], row), whole->row_bytes);
    }
    for (uint32_t i = 0; i < c->count; i++)
      if (c->shown[i].data != c->tensors[i].value.data) free(c->shown[i].data);
    if (status != BERTH_OK) return status;
  }
  case_show(c);
  return BERTH_OK;
}

static inline berth_status_t case_accumulate_by_rows(case_t *c) {
  berth_call_t *call = &c->call;
  const berth_value_t whole = c->tensors[c->inputs[0]].value;
  berth_status_t status = call->kernel->begin(call);
  for (uint32_t row = 0; row < whole.rows && status == BERTH_OK; row++) {
    c->shown[c->inputs[0]] = case_ring(&whole, row, row + 1);
    call->first_row = row;
    call->last_row = row + 1;
    status = call->kernel->accumulate(call);
    free(c->shown[c->inputs[0]].data);
  }
  case_show(c);
  return status == BERTH_OK ? call->kernel->finish(call) : status;
}

/* Compares every output, as it is shown, with what the first evaluation gave. */
static inline void case_same(const case_t *c, uint8_t *const *first, const char *how) {
  for (uint32_t o = 0; o < c->call.op.outputs.count; o++) {
    const berth_value_t *output = &c->shown[c->outputs[o]];
    if (output->bytes > 0 && memcmp(output->data, first[o], output->bytes) != 0)
      fail_msg("output %u differs when evaluated %s", (unsigned)o, how);
  }
}

/* Evaluates whole, with the output over rows of input 0 that are done by then. */
static inline void case_over_rows(case_t *c, uint8_t *const *first) {
  berth_value_t from = c->tensors[c->inputs[0]].value, to = case_result(c, 0);
  if (from.constant || c->contract.windows[0].extent == 0 || c->call.op.outputs.count > 1) return;
  for (uint32_t i = 1; i < c->call.op.inputs.count; i++)
    if (c->inputs[i] >= 0 && c->inputs[i] == c->inputs[0]) return;
  uint32_t distance = over_rows_distance(&from, &to, c->contract.windows[0]);
  uint32_t end = distance + from.bytes;
  uint8_t *memory = case_allocate(end > to.bytes ? end : to.bytes);
  if (from.bytes > 0) memcpy(memory + distance, from.data, from.bytes);
  c->shown[c->inputs[0]].data = memory + distance;
  c->shown[c->outputs[0]].data = memory;
  assert_int_equal(case_whole(c), BERTH_OK);
  case_same(c, first, "over rows that are done");
  case_show(c);
  free(memory);
}

static inline void case_clear(case_t *c) {
  for (uint32_t o = 0; o < c->call.op.outputs.count; o++) {
    berth_value_t output = case_result(c, o);
    if (output.data != NULL && output.bytes > 0)
      memset(output.data, c->contract.partial ? 0 : CASE_POISON, output.bytes);
  }
}

/* Lays the tensors of a view over each other and evaluates: nothing may change. */
static inline void case_as_view(case_t *c, uint8_t *const *first) {
  bool split = c->contract.view == BERTH_VIEW_SPLIT;
  uint32_t parts = split ? c->call.op.outputs.count : c->call.op.inputs.count;
  if (c->contract.view == BERTH_VIEW_SAME) parts = 1;
  uint32_t data = c->call.op.code == BERTH_BUILTIN_SPLIT ? 1 : 0;
  int32_t whole = split ? c->inputs[data] : c->outputs[0];
  uint8_t *start = c->tensors[whole].value.data;
  uint32_t at = 0;
  for (uint32_t i = 0; i < parts; i++) {
    int32_t tensor = split ? c->outputs[i] : c->inputs[i];
    const berth_value_t *part = &c->tensors[tensor].value;
    if (!split && part->bytes > 0) memcpy(start + at, part->data, part->bytes);
    c->shown[tensor].data = start + at;
    at += part->bytes;
  }
  assert_int_equal(at, c->tensors[whole].value.bytes);
  assert_int_equal(case_whole(c), BERTH_OK);
  case_same(c, first, "as a view");
  case_show(c);
}

static inline void case_in_place(case_t *c, uint8_t *const *first) {
  berth_value_t output = case_result(c, 0);
  for (uint32_t i = 0; i < c->call.op.inputs.count && i < 32; i++) {
    if (!(c->contract.in_place >> i & 1) || c->inputs[i] < 0) continue;
    const berth_value_t *input = &c->tensors[c->inputs[i]].value;
    if (input->constant || input->bytes != output.bytes || input->bytes == 0) continue;
    memcpy(output.data, input->data, input->bytes);
    c->shown[c->inputs[i]].data = output.data;
    assert_int_equal(case_whole(c), BERTH_OK);
    case_same(c, first, "in place");
    case_show(c);
  }
}

/* Evaluates whole with the output over an input, `before` bytes before where in step permits it at
 * the most. */
static inline void case_at(case_t *c, uint32_t i, uint32_t before, uint8_t *const *first) {
  berth_value_t from = c->tensors[c->inputs[i]].value, to = case_result(c, 0);
  uint32_t at = before + in_step_distance(&from, &to);
  uint8_t *memory = case_allocate(at + from.bytes);
  memcpy(memory + at, from.data, from.bytes);
  c->shown[c->inputs[i]].data = memory + at;
  c->shown[c->outputs[0]].data = memory;
  assert_int_equal(case_whole(c), BERTH_OK);
  case_same(c, first, "in step");
  case_show(c);
  free(memory);
}

static inline void case_in_step(case_t *c, uint8_t *const *first) {
  for (uint32_t i = 0; i < c->call.op.inputs.count && i < 32; i++) {
    if (!(c->contract.in_step >> i & 1) || c->inputs[i] < 0) continue;
    const berth_value_t *input = &c->tensors[c->inputs[i]].value;
    if (input->constant || input->bytes == 0) continue;
    bool again = false;
    for (uint32_t k = 0; k < c->call.op.inputs.count; k++)
      again = again || (k != i && c->inputs[k] == c->inputs[i]);
    if (again) continue;
    uint32_t cpu = c->call.cpu, align = berth_tensor_type_bits(input->type) / 8;
    uint32_t to_align = berth_tensor_type_bits(case_result(c, 0).type) / 8;
    if (to_align > align) align = to_align;
    for (int way = 0; way < 2; way++) {
      c->call.cpu = way & 1 ? cpu : 0;
      for (uint32_t before = 0; before <= 80; before += align) case_at(c, i, before, first);
    }
    c->call.cpu = cpu;
  }
}

/* Evaluates in every other way and compares with the outputs that are there. */
static inline void case_vary(case_t *c) {
  uint8_t *first[CASE_TENSORS];
  uint32_t outputs = c->call.op.outputs.count;
  for (uint32_t o = 0; o < outputs; o++) {
    berth_value_t output = case_result(c, o);
    first[o] = case_allocate(output.bytes);
    if (output.bytes > 0) memcpy(first[o], output.data, output.bytes);
  }
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    c->call.cpu = BERTH_CPU_AVX2;
    case_clear(c);
    assert_int_equal(case_whole(c), BERTH_OK);
    case_same(c, first, "with AVX2");
  }
#endif
  if (c->contract.kind == BERTH_ROW_LOCAL) {
    for (uint32_t step = 1; step <= 3; step += 2) {
      case_clear(c);
      assert_int_equal(case_by_rows(c, step), BERTH_OK);
      case_same(c, first, "row by row");
    }
  }
  if (c->contract.kind != BERTH_ACCUMULATING && c->contract.ordered) {
    uint32_t cpu = c->call.cpu, bytes = c->call.scratch_bytes;
    for (int way = 0; way < 4; way++) {
      c->call.cpu = way & 1 ? cpu : 0;
      c->call.scratch_bytes = way & 2 ? bytes : c->contract.scratch[0];
      case_over_rows(c, first);
    }
    c->call.cpu = cpu;
    c->call.scratch_bytes = bytes;
  }
  if (c->contract.kind == BERTH_ACCUMULATING) {
    case_clear(c);
    assert_int_equal(case_accumulate_by_rows(c), BERTH_OK);
    case_same(c, first, "row by row");
    if (c->call.kernel->eval != NULL) {
      case_clear(c);
      assert_int_equal(c->call.kernel->eval(&c->call), BERTH_OK);
      case_same(c, first, "at once");
    }
  }
  if (c->contract.view != BERTH_VIEW_NONE) case_as_view(c, first);
  case_in_place(c, first);
  case_in_step(c, first);
  for (uint32_t o = 0; o < outputs; o++) {
    berth_value_t output = case_result(c, o);
    if (output.bytes > 0) memcpy(output.data, first[o], output.bytes);
    free(first[o]);
  }
}

static inline berth_status_t case_run(case_t *c) {
  berth_call_t *call = &c->call;
  call->op.options = (berth_table_t){c->options, 64, sizeof c->options};
  call->op.inputs.data = (uint8_t *)c->inputs;
  call->op.outputs.data = (uint8_t *)c->outputs;
  case_show(c);
  for (uint32_t i = 0; i < c->count; i++) /* only constants can be read yet */
    if (!c->tensors[i].value.constant) c->shown[i].data = NULL;
  berth_status_t status = call->kernel->prepare(call, &c->contract);
  if (status != BERTH_OK) return status;

  for (uint32_t o = 0; o < call->op.outputs.count; o++) {
    case_tensor_t *tensor = &c->tensors[c->outputs[o]];
    if (!tensor->value.known) continue;
    tensor->memory = tensor->value.data = case_allocate(tensor->value.bytes);
  }
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    uint32_t bytes = c->contract.scratch[i];
    if (i == 0 && c->contract.wish > bytes) bytes = c->contract.wish;
    if (i == 0) call->scratch_bytes = bytes;
    if (i == 0 && c->contract.accumulator > bytes) bytes = c->contract.accumulator;
    if (bytes > 0) call->scratch[i] = case_allocate(bytes);
  }
  if (c->contract.workspace > 0) call->workspace = case_allocate(c->contract.workspace);
  if (c->contract.state > 0) {
    call->state = case_allocate(c->contract.state);
    memset(call->state, 0, c->contract.state);
  }
  c->evaluating = true;
  case_show(c);
  if (call->kernel->init != NULL) status = call->kernel->init(call);
  if (status == BERTH_OK) {
    case_clear(c);
    status = case_whole(c);
  }
  if (status == BERTH_OK && c->contract.state == 0 && !c->has_variables) case_vary(c);
  return status;
}

/* Evaluates once more, with new bytes for the first input and the state that is there. */
static inline berth_status_t case_again(case_t *c, const void *data) {
  berth_value_t input = c->tensors[c->inputs[0]].value;
  memcpy(input.data, data, input.bytes);
  case_clear(c);
  return case_whole(c);
}

static inline void case_end(case_t *c) {
  for (uint32_t i = 0; i < c->count; i++) free(c->tensors[i].memory);
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) free(c->call.scratch[i]);
  free(c->call.workspace);
  free(c->call.state);
}

/* Runs, expects a refusal with a reason, and cleans up. */
static inline void case_refused(case_t *c) {
  assert_int_equal(case_run(c), BERTH_ERROR_OPERATOR);
  assert_non_null(c->call.why);
  case_end(c);
}

/* Expects the shape of the first output. */
static inline void case_expect_shape(const case_t *c, uint32_t rank, const int32_t *dims) {
  berth_value_t result = case_result(c, 0);
  assert_int_equal(result.rank, rank);
  for (uint32_t i = 0; i < rank; i++) assert_int_equal(result.dims[i], dims[i]);
}

/* ---- Numbers for tests ---------------------------------------------------------------------- */

/* A small fixed generator (xorshift32), so that every run tests the same numbers. */
static inline uint32_t case_random(uint32_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return *seed;
}

static inline void case_random_bytes(void *to, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; i++) ((uint8_t *)to)[i] = (uint8_t)(case_random(&seed) >> 11);
}

/* Floats in [-range, range). */
static inline void case_random_floats(float *to, size_t count, float range, uint32_t seed) {
  for (size_t i = 0; i < count; i++)
    to[i] = ((float)(case_random(&seed) >> 8) / 8388608.0f - 1.0f) * range;
}

/* Floats must be within 1e-5 of the largest expected magnitude. */
static inline void case_expect_floats(const void *data, const double *expected, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++)
    if (expected[i] > largest || -expected[i] > largest)
      largest = expected[i] > 0 ? expected[i] : -expected[i];
  for (size_t i = 0; i < count; i++) {
    float actual;
    memcpy(&actual, (const uint8_t *)data + i * sizeof actual, sizeof actual);
    double error = (double)actual - expected[i];
    if (!((error > 0 ? error : -error) <= 1e-5 * largest + 1e-30))
      fail_msg("element %zu is %.9g, not %.9g", i, (double)actual, expected[i]);
  }
}

#endif
