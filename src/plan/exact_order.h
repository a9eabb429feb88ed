/* Orders to search in. */
#ifndef BERTH_SRC_PLAN_EXACT_ORDER_H
#define BERTH_SRC_PLAN_EXACT_ORDER_H

#include "plan/exact_skyline.h"

/* Ranks the buffers by order number `number` and finds their twins. length[i]: steps in which
 * buffer i is live. `order` and `spare` have room for all buffers. O(n log n + n x sections). */
void berth_exact_order(berth_skyline_t *skyline, const uint32_t *length, uint32_t number,
                       uint32_t *order, uint32_t *spare);

/* Ranks them as `elite` does, but for some that are moved by a few ranks at random. */
void berth_exact_vary(berth_skyline_t *skyline, const uint32_t *elite, uint64_t *random,
                      uint32_t *order, uint32_t *spare);

#endif
