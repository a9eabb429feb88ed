/* A stable sort of indices: the same order on every machine, which qsort doesn't promise. */
#ifndef BERTH_SRC_PLAN_SORT_H
#define BERTH_SRC_PLAN_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Must `a` stand before `b`? A strict weak order; items that are equal in it keep their order. */
typedef bool (*berth_before_t)(const void *context, uint32_t a, uint32_t b);

/* Sorts `items` with the help of `spare`, which has as many elements. O(n log n), no recursion. */
void berth_plan_sort(uint32_t *items, uint32_t count, uint32_t *spare, berth_before_t before,
                     const void *context);

#endif
