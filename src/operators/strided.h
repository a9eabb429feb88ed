/* A copy between two arrays of the same shape whose elements lie at strides of their own.
 *
 * Most operators that only move data are one such copy: a transpose permutes the source's strides,
 * a slice keeps them and starts elsewhere, a reversal negates one, a broadcast has strides of 0,
 * and a concatenation strides through its target. Dimensions that lie contiguously in both arrays
 * are merged first, so that the innermost loop is a memcpy wherever that is possible.
 */
#ifndef BERTH_OPERATORS_STRIDED_H
#define BERTH_OPERATORS_STRIDED_H

#include <stddef.h>
#include <stdint.h>

#define BERTH_STRIDED_MAX                                                                          \
  16u /* dimensions of a copy: a tile or a space-to-depth splits each in 2 */

typedef struct berth_strided {
  uint32_t rank;
  uint32_t dims[BERTH_STRIDED_MAX];  /* outermost first */
  ptrdiff_t from[BERTH_STRIDED_MAX]; /* bytes from one element of the source to the next */
  ptrdiff_t to[BERTH_STRIDED_MAX];   /* the same in the target */
} berth_strided_t;

/* Copies. `element` is the size of one element in bytes; the arrays don't overlap. */
void berth_strided_copy(void *to, const void *from, const berth_strided_t *shape, uint32_t element);

/* Sets strides[0 .. rank) to those of a contiguous array of these dimensions. */
void berth_strided_contiguous(const uint32_t *dims, uint32_t rank, uint32_t element,
                              ptrdiff_t *strides);

#endif
