/* Questions that many kernels ask about shapes, axes and small constant tensors.
 *
 * Everything here works on values of untrusted files: products saturate instead of overflowing, and
 * what is out of range is answered with false.
 */
#ifndef BERTH_OPERATORS_SHAPE_H
#define BERTH_OPERATORS_SHAPE_H

#include "berth/operator.h"

/* Bytes of one element; 0 for types that are packed or have no fixed size. */
static inline uint32_t berth_element_bytes(berth_tensor_type_t type) {
  uint32_t bits = berth_tensor_type_bits(type);
  return bits % 8 == 0 ? bits / 8 : 0;
}

/* Are the shapes the same, dimension for dimension? */
bool berth_shape_equal(const berth_value_t *a, const berth_value_t *b);

/* The product of dims[first], ..., dims[last - 1], none of them negative; UINT32_MAX if it does
 * not fit. */
uint32_t berth_shape_product(const int32_t *dims, uint32_t first, uint32_t last);

/* Counts a negative axis from the end; false: it isn't in [-rank, rank). */
bool berth_shape_axis(int64_t axis, uint32_t rank, uint32_t *result);

/* Element `index` of a tensor of int64, int32, int16, int8, uint8 or bool at any address. */
int64_t berth_shape_int(const berth_value_t *value, uint32_t index);

/* Is it one of the types that berth_shape_int reads, with 32 bits or 64? */
static inline bool berth_shape_is_int(const berth_value_t *value) {
  return value->type == BERTH_TYPE_INT32 || value->type == BERTH_TYPE_INT64;
}

/* Have tensors of these shapes as many batches, and as many rows in each? */
bool berth_shape_rows_match(const int32_t *a, uint32_t a_rank, const int32_t *b, uint32_t b_rank);

/* Do the rows of both, of rank 4, lie along the height? A single row lies along any dimension. */
bool berth_shape_rows_are_high(const int32_t *a, const int32_t *b);

/* The same tensor, all of whose rows are there, cut into so many rows; for kernels that go along
 * another dimension than berth_row_dimension. */
static inline berth_value_t berth_with_rows(berth_value_t value, uint32_t rows) {
  value.rows = rows;
  value.row_bytes = rows > 0 ? value.bytes / rows : 0;
  value.ring = rows > 0 ? rows : 1;
  return value;
}

/* The window of an input of which row r is needed for output row r; of one needed whole. */
static inline berth_window_t berth_window_same(void) {
  return (berth_window_t){1, 1, 0, 1};
}
static inline berth_window_t berth_window_all(void) {
  return (berth_window_t){1, 1, 0, 0};
}

/* Can elements be read where they lie? Constants of a file may be at any address. */
static inline bool berth_is_aligned(const berth_value_t *value) {
  uint32_t element = berth_element_bytes(value->type);
  return !value->constant || element < 2 || (uintptr_t)value->data % element == 0;
}

/* Are all rows of the tensor there, one after the other? Then row 0's address reaches them all. */
static inline bool berth_is_contiguous(const berth_value_t *value) {
  return value->ring >= value->rows;
}

#endif
