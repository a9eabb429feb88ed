/* What the two planners that imitate stock runtimes have in common: placed buffers by offset.
 *
 * They share nothing with greedy.h, whose rules may improve; these must stay what the runtimes do.
 */
#ifndef BERTH_SRC_PLAN_STOCK_H
#define BERTH_SRC_PLAN_STOCK_H

#include "plan/live.h"

typedef struct berth_stock {
  const berth_problem_t *problem;
  uint32_t *order;   /* buffers in the order in which they are to be placed */
  uint32_t *found;   /* placed buffers that are live together with the next one, by offset */
  uint32_t *spare;   /* scratch for sorting */
  uint64_t *offsets; /* of placed buffers */
  berth_live_t live;
} berth_stock_t;

/* The `workspace` function of a planner that needs nothing but a berth_stock_t. */
berth_status_t berth_stock_workspace(const berth_problem_t *problem,
                                     const berth_plan_options_t *options, size_t *bytes);

/* Lays out and prepares; `order` is that of the problem. */
berth_status_t berth_stock_begin(berth_stock_t *stock, const berth_problem_t *problem,
                                 void *workspace, size_t workspace_bytes);

/* Fills `found` with the placed buffers that are live together with buffer `i`, lowest offset
 * first, and returns how many there are. */
uint32_t berth_stock_find(berth_stock_t *stock, uint32_t i);

/* Buffer `i` lies at `offset` from now on. `obstacle`: the others must see it. */
void berth_stock_place(berth_stock_t *stock, uint32_t i, uint64_t offset, bool obstacle);

/* Writes all offsets and the peak into `plan`. */
void berth_stock_finish(const berth_stock_t *stock, berth_plan_t *plan);

/* `offset` rounded up to a multiple of buffer `i`'s alignment. */
uint64_t berth_stock_align(const berth_stock_t *stock, uint32_t i, uint64_t offset);

#endif
