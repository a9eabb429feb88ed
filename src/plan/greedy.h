/* Greedy placement: one unit after the other, each at an offset where it hits nothing placed.
 *
 * Used by the planners none, linear, size and breadth and by the portfolio of best, which differ in
 * the order and in the place they choose. A unit is what moves as one: a buffer, or all buffers of
 * a SHARE group. Alignment, fixed offsets, SHARE, HEAD, TAIL and OVER are respected here, once.
 */
#ifndef BERTH_SRC_PLAN_GREEDY_H
#define BERTH_SRC_PLAN_GREEDY_H

#include "plan/live.h"
#include "plan/sort.h"

#define BERTH_GREEDY_NONE UINT32_MAX /* no such buffer */

/* What moves as one. A unit is named by its smallest buffer. */
typedef struct berth_unit {
  uint64_t size;        /* of its largest member */
  uint64_t align;       /* least common multiple of its members' */
  uint64_t fixed;       /* offset, or BERTH_ANYWHERE */
  uint64_t offset;      /* once placed */
  uint32_t region;      /* where it is or is to be placed; 0 unless there are several */
  bool impossible;      /* its members contradict each other: it has no offset */
  uint32_t first, last; /* from its first member's begin to its last member's end */
} berth_unit_t;

/* Offsets strictly between `low` and `high` are taken. */
typedef struct berth_span {
  int64_t low, high;
} berth_span_t;

typedef struct berth_greedy {
  const berth_problem_t *problem;
  uint32_t unit_count;
  uint32_t *units;     /* the movable (not fixed) units, in an order that the planner may change */
  berth_unit_t *unit;  /* of buffer i, if i names a unit */
  uint32_t *unit_of;   /* buffer -> unit */
  uint32_t *next;      /* buffer -> next member of its unit, or BERTH_GREEDY_NONE */
  uint32_t *adjacent;  /* buffer -> where its pairs but SHARE begin in `pairs`; one more */
  uint32_t *pairs;     /* pair indices by buffer; each pair stands at both of its buffers */
  uint32_t *found;     /* scratch: placed buffers live together with one that is to be placed */
  uint32_t *place_of;  /* scratch: buffer -> its place in `found` */
  berth_span_t *reach; /* scratch: for each found one, where the two would collide */
  bool *over;          /* scratch: for each found one, may the two have the same offset anyway? */
  uint32_t *hosts;     /* scratch: buffers whose very offset a unit may take */
  uint32_t host_count;
  uint32_t *span_of;   /* scratch: buffer -> its span */
  uint32_t *owner;     /* scratch: span -> its buffer */
  berth_span_t *spans; /* scratch: all offsets that are taken for a unit */
  berth_live_t live;   /* the placed buffers */
  uint64_t work;       /* units of work so far */
} berth_greedy_t;

/* Which free offset a unit takes: the lowest, or the one that leaves the smallest rest of a gap
 * (and the lowest one above all others if it fits into no gap); to lie over another buffer, which
 * takes no gap at all, is better still. */
typedef enum berth_fit { BERTH_FIRST_FIT, BERTH_BEST_FIT } berth_fit_t;

/* Takes the arrays from `memory`; they may be used once its status is OK. */
void berth_greedy_lay_out(berth_greedy_t *greedy, const berth_problem_t *problem,
                          berth_workspace_t *memory);

/* Forms the units, places none. INFEASIBLE: members of one contradict each other. OVERFLOW: a SHARE
 * group's common alignment is beyond 64 bits. */
berth_status_t berth_greedy_form_units(berth_greedy_t *greedy);

/* Forms the units and places the fixed ones. INFEASIBLE: the fixed offsets contradict each other.
 * OVERFLOW: a SHARE group's common alignment is beyond 64 bits. */
berth_status_t berth_greedy_prepare(berth_greedy_t *greedy);

/* Takes all movable units away again. */
void berth_greedy_clear(berth_greedy_t *greedy);

/* The first placed buffer in its region that `unit` would hit at `offset`; BERTH_GREEDY_NONE if it
 * fits there. */
uint32_t berth_greedy_obstacle(berth_greedy_t *greedy, uint32_t unit, uint64_t offset);

/* The offset for `unit` in its region at `from` or above; INT64_MAX if there is none below that. */
uint64_t berth_greedy_find(berth_greedy_t *greedy, uint32_t unit, uint64_t from, berth_fit_t fit);

/* Places `unit` at `offset`, or takes it away again. */
void berth_greedy_settle(berth_greedy_t *greedy, uint32_t unit, uint64_t offset);
void berth_greedy_remove(berth_greedy_t *greedy, uint32_t unit);

/* Finds and settles. OVERFLOW: there is no such offset below 2^63. */
berth_status_t berth_greedy_place(berth_greedy_t *greedy, uint32_t unit, uint64_t from,
                                  berth_fit_t fit);

/* Writes all offsets, the peak and the work into `plan`. */
void berth_greedy_finish(const berth_greedy_t *greedy, berth_plan_t *plan);

/* Sorts the movable units by `before`, then places them in that order. */
berth_status_t berth_greedy_place_all(berth_greedy_t *greedy, berth_before_t before,
                                      const void *context, berth_fit_t fit);

/* The `workspace` function of a planner that needs nothing but a berth_greedy_t. */
berth_status_t berth_greedy_workspace(const berth_problem_t *problem,
                                      const berth_plan_options_t *options, size_t *bytes);

/* Its beginning: lays out and prepares. */
berth_status_t berth_greedy_begin(berth_greedy_t *greedy, const berth_problem_t *problem,
                                  void *workspace, size_t workspace_bytes);

#endif
