/* Questions about shapes that many kernels ask; see shape.h. */
#include "operators/shape.h"
#include <string.h>

bool berth_shape_equal(const berth_value_t *a, const berth_value_t *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}

uint32_t berth_shape_product(const int32_t *dims, uint32_t first, uint32_t last) {
  uint64_t product = 1;
  for (uint32_t i = first; i < last; i++)
    if (dims[i] == 0) return 0;
  for (uint32_t i = first; i < last; i++) {
    product *= (uint32_t)dims[i];
    if (product >= UINT32_MAX) return UINT32_MAX;
  }
  return (uint32_t)product;
}

bool berth_shape_axis(int64_t axis, uint32_t rank, uint32_t *result) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= (int64_t)rank) return false;
  *result = (uint32_t)axis;
  return true;
}

int64_t berth_shape_int(const berth_value_t *value, uint32_t index) {
  switch (value->type) {
  case BERTH_TYPE_INT64: {
    int64_t number;
    memcpy(&number, value->data + (size_t)index * sizeof number, sizeof number);
    return number;
  }
  case BERTH_TYPE_INT32: {
    int32_t number;
    memcpy(&number, value->data + (size_t)index * sizeof number, sizeof number);
    return number;
  }
  case BERTH_TYPE_INT16: {
    int16_t number;
    memcpy(&number, value->data + (size_t)index * sizeof number, sizeof number);
    return number;
  }
  case BERTH_TYPE_INT8:
    return (int8_t)value->data[index];
  default:
    return value->data[index];
  }
}

bool berth_shape_rows_match(const int32_t *a, uint32_t a_rank, const int32_t *b, uint32_t b_rank) {
  int32_t a_batches = a_rank < 3 ? 1 : a[0],
          a_rows = a_rank < 3 ? 1 : a[berth_row_dimension(a_rank, a)];
  int32_t b_batches = b_rank < 3 ? 1 : b[0],
          b_rows = b_rank < 3 ? 1 : b[berth_row_dimension(b_rank, b)];
  return a_batches == b_batches && a_rows == b_rows;
}

bool berth_shape_rows_are_high(const int32_t *a, const int32_t *b) {
  return berth_row_dimension(4, a) == 1 && berth_row_dimension(4, b) == 1;
}
