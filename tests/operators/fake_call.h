/* One operator without a model or an interpreter around it: lets a test prepare and evaluate a
 * kernel on tensors that it makes up. Fails the running cmocka test on misuse.
 *
 *   fake_t fake;
 *   fake_open(&fake, &berth_kernel_conv_2d);
 *   fake_input(&fake, fake_tensor(BERTH_TYPE_INT8, 4, dims, 0.5f, 3), bytes);   // constant data
 *   fake_output(&fake, fake_tensor(BERTH_TYPE_INT8, 0, NULL, 0.1f, -7));
 *   fake_option(&fake, BERTH_CONV_2D_STRIDE_W, 2);
 *   assert_int_equal(fake_prepare(&fake), BERTH_OK);
 *   assert_int_equal(fake_eval(&fake), BERTH_OK);
 *   ... fake.value[fake.output[0]].data ...
 *   fake_close(&fake);
 *
 * Every block of memory has exactly the size that was asked for, so that the sanitizers see a step
 * beyond it; outputs and scratch start filled with a pattern.
 */
#ifndef BERTH_TESTS_FAKE_CALL_H
#define BERTH_TESTS_FAKE_CALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "berth/operator.h"
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_TENSORS 16u
#define FAKE_OPTIONS 16u

typedef struct fake {
  berth_call_t call;
  berth_contract_t contract; /* from fake_prepare */
  bool grudging;             /* no more scratch than the contract demands */
  berth_value_t value[FAKE_TENSORS];
  uint32_t tensors;
  int32_t input[FAKE_TENSORS], output[FAKE_TENSORS]; /* tensors, or BERTH_NO_TENSOR */
  void *owned[FAKE_TENSORS];                         /* memory of values, or NULL */
  struct {
    uint16_t vtable[2 + FAKE_OPTIONS];
    int32_t to_vtable;
    int32_t fields[FAKE_OPTIONS];
  } table; /* a FlatBuffer table of 4-byte fields */
} fake_t;

static inline berth_value_t fake_get(const berth_call_t *call, uint32_t tensor) {
  const fake_t *fake = call->interpreter;
  assert_true(tensor < fake->tensors);
  return fake->value[tensor];
}

/* Fills in what follows from type and dims. */
static inline void fake_measure(berth_value_t *value) {
  value->elements = 1;
  for (uint32_t i = 0; i < value->rank; i++) value->elements *= (uint32_t)value->dims[i];
  value->bytes = (uint32_t)((uint64_t)value->elements * berth_tensor_type_bits(value->type) / 8);
  value->rows = 1;
  if (value->rank >= 3) {
    uint32_t dim = berth_row_dimension(value->rank, value->dims);
    value->rows = (uint32_t)(value->dims[0] * value->dims[dim]);
  }
  value->ring = value->rows > 0 ? value->rows : 1;
  value->row_bytes = value->rows > 0 ? value->bytes / value->rows : 0;
  value->known = true;
}

static inline berth_status_t fake_shape(berth_call_t *call, uint32_t tensor, uint32_t rank,
                                        const int32_t *dims) {
  fake_t *fake = call->interpreter;
  berth_value_t *value = &fake->value[tensor];
  if (rank == BERTH_RANK_UNKNOWN) {
    value->known = false;
    return BERTH_OK;
  }
  value->rank = rank;
  for (uint32_t i = 0; i < rank; i++) value->dims[i] = dims[i];
  fake_measure(value);
  return BERTH_OK;
}

static inline void fake_open(fake_t *fake, const berth_kernel_t *kernel) {
  memset(fake, 0, sizeof *fake);
  fake->call.kernel = kernel;
  fake->call.interpreter = fake;
  fake->call.tensor = fake_get;
  fake->call.shape = fake_shape;
  fake->call.op.code = kernel->code;
}

/* A tensor that is not part of a call yet; scale 0: not quantized. */
static inline berth_value_t fake_tensor(berth_tensor_type_t type, uint32_t rank,
                                        const int32_t *dims, float scale, int32_t zero_point) {
  berth_value_t value = {.type = type,
                         .present = true,
                         .rank = rank,
                         .scale = scale,
                         .zero_point = zero_point,
                         .known = true};
  for (uint32_t i = 0; i < rank; i++) value.dims[i] = dims[i];
  fake_measure(&value);
  return value;
}

/* Gives a tensor one scale for each slice of `dimension`; `scales` must outlive it. */
static inline void fake_scales(berth_value_t *value, const float *scales, uint32_t count,
                               int32_t dimension) {
  value->scales = (berth_vector_t){(const uint8_t *)scales, count};
  value->quantized_dimension = dimension;
  value->scale = scales[0];
}

static inline uint32_t fake_add(fake_t *fake, berth_value_t value, const void *data) {
  assert_true(fake->tensors < FAKE_TENSORS);
  uint32_t tensor = fake->tensors++;
  value.index = tensor;
  if (data != NULL) {
    value.data = malloc(value.bytes > 0 ? value.bytes : 1);
    assert_non_null(value.data);
    memcpy(value.data, data, value.bytes);
    fake->owned[tensor] = value.data;
  }
  fake->value[tensor] = value;
  /* Values keep the address of their only scale, so it must be the stored value's. */
  if (value.scales.count == 0 && value.scale != 0.0f) {
    fake->value[tensor].scales = (berth_vector_t){(uint8_t *)&fake->value[tensor].scale, 1};
  }
  return tensor;
}

/* Adds an input with a copy of `data` (NULL: none). Returns its tensor. */
static inline uint32_t fake_input(fake_t *fake, berth_value_t value, const void *data) {
  uint32_t tensor = fake_add(fake, value, data);
  fake->input[fake->call.op.inputs.count++] = (int32_t)tensor;
  fake->call.op.inputs.data = (const uint8_t *)fake->input;
  return tensor;
}

/* Leaves an optional input out. */
static inline void fake_no_input(fake_t *fake) {
  fake->input[fake->call.op.inputs.count++] = BERTH_NO_TENSOR;
  fake->call.op.inputs.data = (const uint8_t *)fake->input;
}

/* Adds an output; its shape is for the kernel to state. Returns its tensor. */
static inline uint32_t fake_output(fake_t *fake, berth_value_t value) {
  uint32_t tensor = fake_add(fake, value, NULL);
  fake->output[fake->call.op.outputs.count++] = (int32_t)tensor;
  fake->call.op.outputs.data = (const uint8_t *)fake->output;
  return tensor;
}

/* Sets a field of the operator's options: an int, or an enum or bool of one byte. */
static inline void fake_option(fake_t *fake, uint32_t field, int32_t value) {
  assert_true(field < FAKE_OPTIONS);
  size_t start = (size_t)((const uint8_t *)&fake->table.to_vtable - (const uint8_t *)&fake->table);
  size_t at = (size_t)((const uint8_t *)&fake->table.fields[field] -
                       (const uint8_t *)&fake->table.to_vtable);
  fake->table.vtable[0] = (uint16_t)sizeof fake->table.vtable;
  fake->table.vtable[1] = (uint16_t)(sizeof fake->table - start);
  fake->table.vtable[2 + field] = (uint16_t)at;
  fake->table.to_vtable = (int32_t)start;
  fake->table.fields[field] = value;
  fake->call.op.options = (berth_table_t){.file = (const uint8_t *)&fake->table,
                                          .position = (uint32_t)start,
                                          .file_size = (uint32_t)sizeof fake->table};
}

static inline void fake_option_float(fake_t *fake, uint32_t field, float value) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  fake_option(fake, field, bits);
}

static inline void *fake_memory(uint32_t bytes) {
  if (bytes == 0) return NULL;
  void *memory = malloc(bytes);
  assert_non_null(memory);
  memset(memory, 0xa5, bytes);
  return memory;
}

/* Prepares; on success there is memory for outputs, scratch, workspace (filled) and state. */
static inline berth_status_t fake_prepare(fake_t *fake) {
  memset(&fake->contract, 0, sizeof fake->contract);
  berth_status_t status = fake->call.kernel->prepare(&fake->call, &fake->contract);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < fake->call.op.outputs.count; i++) {
    berth_value_t *value = &fake->value[fake->output[i]];
    if (!value->known) continue;
    free(fake->owned[fake->output[i]]);
    fake->owned[fake->output[i]] = value->data = fake_memory(value->bytes > 0 ? value->bytes : 1);
  }
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    free(fake->call.scratch[i]);
    uint32_t bytes = fake->contract.scratch[i];
    if (i == 0 && !fake->grudging && fake->contract.wish > bytes) bytes = fake->contract.wish;
    if (i == 0) fake->call.scratch_bytes = bytes;
    fake->call.scratch[i] = bytes > 0 ? fake_memory(bytes) : NULL;
  }
  free(fake->call.workspace);
  free(fake->call.state);
  fake->call.workspace = fake_memory(fake->contract.workspace);
  fake->call.state = fake_memory(fake->contract.state);
  if (fake->call.state != NULL) memset(fake->call.state, 0, fake->contract.state);
  return fake->call.kernel->init != NULL ? fake->call.kernel->init(&fake->call) : BERTH_OK;
}

/* Evaluates output rows [first, last). */
static inline berth_status_t fake_eval_rows(fake_t *fake, uint32_t first, uint32_t last) {
  fake->call.first_row = first;
  fake->call.last_row = last;
  return fake->call.kernel->eval(&fake->call);
}

/* Evaluates all rows of output 0. */
static inline berth_status_t fake_eval(fake_t *fake) {
  return fake_eval_rows(fake, 0, fake->value[fake->output[0]].rows);
}

/* Evaluates whole with input 0 `distance` bytes behind the output's start, in memory that both
 * share: the output's bytes must be the expected ones. */
static inline void fake_check_behind(fake_t *fake, uint32_t distance, const void *expected) {
  berth_value_t *input = &fake->value[fake->input[0]], *output = &fake->value[fake->output[0]];
  uint8_t *from = input->data, *to = output->data;
  uint32_t end = distance + input->bytes;
  uint8_t *memory = malloc(end > output->bytes ? end : output->bytes);
  assert_non_null(memory);
  memcpy(memory + distance, from, input->bytes);
  input->data = memory + distance;
  output->data = memory;
  assert_int_equal(fake_eval(fake), BERTH_OK);
  assert_memory_equal(output->data, expected, output->bytes);
  input->data = from;
  output->data = to;
  free(memory);
}

static inline void fake_close(fake_t *fake) {
  for (uint32_t i = 0; i < FAKE_TENSORS; i++) free(fake->owned[i]);
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) free(fake->call.scratch[i]);
  free(fake->call.workspace);
  free(fake->call.state);
}

/* A generator of test data: the same numbers everywhere (Steele, Lea & Flood, Fast Splittable
 * Pseudorandom Number Generators, 2014). */
static inline uint32_t fake_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* A number in [low, high]. */
static inline int32_t fake_between(uint64_t *state, int32_t low, int32_t high) {
  return low + (int32_t)(fake_random(state) % (uint32_t)(high - low + 1));
}

#endif
