/* Copies between strided arrays; see strided.h. Cost: linear in the elements, with one memcpy for
 * each run that is contiguous in both arrays.
 */
#include "operators/strided.h"
#include <stdbool.h>
#include <string.h>

void berth_strided_contiguous(const uint32_t *dims, uint32_t rank, uint32_t element,
                              ptrdiff_t *strides) {
  ptrdiff_t stride = (ptrdiff_t)element;
  for (uint32_t i = rank; i-- > 0;) {
    strides[i] = stride;
    stride *= (ptrdiff_t)dims[i];
  }
}

/* Leaves out dimensions of 1 and joins neighbours that make one longer dimension in both arrays.
 * Returns false if there is nothing to copy. */
static bool simplify(const berth_strided_t *shape, berth_strided_t *result) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] == 0) return false;
    if (shape->dims[i] == 1) continue;
    ptrdiff_t size = (ptrdiff_t)shape->dims[i];
    if (rank > 0 && result->from[rank - 1] == shape->from[i] * size &&
        result->to[rank - 1] == shape->to[i] * size) {
      result->dims[rank - 1] *= shape->dims[i];
      result->from[rank - 1] = shape->from[i];
      result->to[rank - 1] = shape->to[i];
    } else {
      result->dims[rank] = shape->dims[i];
      result->from[rank] = shape->from[i];
      result->to[rank] = shape->to[i];
      rank++;
    }
  }
  result->rank = rank;
  return true;
}

/* The fixed size lets the compiler make each memcpy a load and a store. */
#define COPY_LINE(bytes)                                                                           \
  for (uint32_t i = 0; i < count; i++) {                                                           \
    memcpy(to, from, bytes);                                                                       \
    to += to_stride;                                                                               \
    from += from_stride;                                                                           \
  }

static void copy_line(uint8_t *to, const uint8_t *from, uint32_t count, ptrdiff_t to_stride,
                      ptrdiff_t from_stride, size_t element) {
  switch (element) {
  case 1:
    COPY_LINE(1)
    break;
  case 2:
    COPY_LINE(2)
    break;
  case 4:
    COPY_LINE(4)
    break;
  case 8:
    COPY_LINE(8)
    break;
  default:
    COPY_LINE(element)
    break;
  }
}

void berth_strided_copy(void *to, const void *from, const berth_strided_t *shape,
                        uint32_t element) {
  berth_strided_t s;
  if (!simplify(shape, &s)) return;
  size_t bytes = element;
  if (s.rank > 0 && s.from[s.rank - 1] == (ptrdiff_t)element &&
      s.to[s.rank - 1] == (ptrdiff_t)element)
    bytes *= s.dims[--s.rank];
  if (s.rank == 0) {
    memcpy(to, from, bytes);
    return;
  }

  uint32_t line = s.rank - 1, index[BERTH_STRIDED_MAX] = {0};
  uint8_t *target = to;
  const uint8_t *source = from;
  for (;;) {
    copy_line(target, source, s.dims[line], s.to[line], s.from[line], bytes);
    uint32_t i = line;
    while (i > 0) {
      i--;
      target += s.to[i];
      source += s.from[i];
      if (++index[i] < s.dims[i]) break;
      target -= s.to[i] * (ptrdiff_t)s.dims[i];
      source -= s.from[i] * (ptrdiff_t)s.dims[i];
      index[i] = 0;
      if (i == 0) return;
    }
    if (line == 0) return;
  }
}
