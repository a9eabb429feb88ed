/* What the files search*.c share: the problem as the search planner sees it.
 *
 * A part is a buffer of at least one byte; parts are numbered in order of their first step. An item
 * is what moves as one: a part, or all parts of a SHARE group. Parts that are not fixed come in two
 * sets: the whole problem, and its kernel, which is what remains when everything has been set aside
 * that is sure to find a place in the end (see search_kernel.c). The search works on the kernel.
 *
 * Invariant between any two steps: no two placed parts of a set conflict.
 */
#ifndef BERTH_SRC_PLAN_SEARCH_H
#define BERTH_SRC_PLAN_SEARCH_H

#include "berth/plan.h"
#include "plan/workspace.h"

#define BERTH_SEARCH_UNPLACED UINT64_MAX

typedef struct berth_search_part {
  uint64_t size;
  uint64_t offset; /* or UNPLACED */
  uint32_t first, last;
  uint32_t item;
  uint32_t origin; /* whole problem: its buffer; kernel: its part in the whole problem */
} berth_search_part_t;

typedef struct berth_search_item {
  uint64_t align;
  uint64_t size;     /* of its largest part */
  uint32_t begin;    /* its parts are members[begin .. begin + count) */
  uint32_t count;    /* at least 1 */
  uint32_t penalty;  /* how often it found no place (search_eject.c) */
  uint32_t standing; /* what the penalty counts for (search_eject.c) */
  bool fixed;        /* placed for good */
} berth_search_item_t;

/* Where in the order of first steps a part's company is: parts [begin, end) begin while it is live
 * (itself included), and those that begin earlier are found from checkpoint number `checkpoint`. */
typedef struct berth_search_company {
  uint32_t begin, end;
  uint32_t checkpoint;
} berth_search_company_t;

/* All parts before `part` that may still be live when it begins: live[begin ..), up to where the
 * next checkpoint's begin. */
typedef struct berth_search_checkpoint {
  uint32_t part;
  uint32_t begin;
} berth_search_checkpoint_t;

/* What HEAD and TAIL pairs permit a part: its offset minus the other's may be up to `low` bytes
 * higher or `high` bytes lower than without, UINT64_MAX: the two never conflict. */
typedef struct berth_search_relief {
  uint32_t other;
  uint64_t low, high;
} berth_search_relief_t;

typedef struct berth_search_set {
  uint32_t part_count, item_count;
  berth_search_part_t *parts;
  berth_search_item_t *items;
  uint32_t *members; /* parts by item */

  berth_search_company_t *company; /* of each part */
  berth_search_checkpoint_t *checkpoints;
  uint32_t *live;
  uint64_t encounters; /* upper bound of the sum of all parts' neighbours, both sides counted */

  bool relieved;                  /* are there HEAD or TAIL pairs? */
  uint32_t *relief_begin;         /* of each part, and one more */
  berth_search_relief_t *reliefs; /* by part */
} berth_search_set_t;

/* Offsets low..high-1 are taken by `part`. */
typedef struct berth_search_interval {
  uint64_t low, high;
  uint32_t part;
} berth_search_interval_t;

/* Where a taken interval ends, and what it costs to clear it. */
typedef struct berth_search_end {
  uint64_t high, cost;
} berth_search_end_t;

typedef struct berth_search {
  const berth_problem_t *problem;
  const berth_plan_options_t *options;
  uint64_t lower_bound; /* proven */
  uint64_t goal;        /* a peak that is good enough */
  uint64_t work, work_limit, next_report;
  bool stopped;    /* by the caller's progress callback */
  uint64_t random; /* state of the generator */

  berth_search_set_t whole, kernel;
  uint32_t *aside; /* parts of `whole` that are not in the kernel, in the order of leaving it */
  uint32_t aside_count;

  uint64_t best;         /* peak of the best plan of the kernel, UINT64_MAX if there is none */
  uint64_t *best_offset; /* of each kernel part */
  uint64_t *hotness;     /* of each kernel item: the largest load while it is live */
  berth_pair_t *pairs;   /* of a problem with OVER pairs: what stands for them */

  /* Scratch, each array named by what it mostly holds. */
  uint32_t *neighbours;
  berth_search_interval_t *intervals;
  uint32_t interval_count;
  uint32_t *interval_of; /* part -> its interval, where several parts move as one */
  uint32_t *relief_of;   /* part -> 1 + its slot below; 0 between uses */
  uint64_t *relief_low, *relief_high;
  berth_search_end_t *ends;
  uint32_t *queue; /* items that wait for a place */
  uint32_t *order; /* items in an order to place them in */
  uint32_t *place; /* item -> 1 + its place in the queue, 0: it isn't there */
  int64_t *turn;   /* item -> its turn (search_promote.c) */
} berth_search_t;

/* ---- search_sort.c ----------------------------------------------------------------------------
 */

/* Sorts `items` by key[item], the largest first; equal ones keep their order. O(n). */
void berth_search_sort_by_key(uint32_t *items, uint32_t count, const uint64_t *key,
                              uint32_t *spare);

/* Sort by low, by high. O(n log n). */
void berth_search_sort_intervals(berth_search_interval_t *intervals, uint32_t count);
void berth_search_sort_ends(berth_search_end_t *ends, uint32_t count);

/* ---- search_set.c -----------------------------------------------------------------------------
 */

/* Takes the arrays of a set of up to `parts` parts and `pairs` pairs. */
void berth_search_set_lay_out(berth_search_set_t *set, size_t parts, size_t pairs,
                              berth_workspace_t *memory);

/* Fills `company` and the checkpoints from the parts. `deaths`: scratch, part_count + 1 elements.
 */
void berth_search_set_index(berth_search_set_t *set, uint32_t *deaths);

/* Writes the parts that are live together with `part`, placed or not, and returns their number. */
uint32_t berth_search_neighbours(const berth_search_set_t *set, uint32_t part, uint32_t *found);

/* ---- search_place.c ---------------------------------------------------------------------------
 */

/* Collects what is taken for `item` by placed parts into search->intervals, sorted by low. */
void berth_search_collect(berth_search_t *search, const berth_search_set_t *set, uint32_t item);

/* Only that: not sorted. */
void berth_search_gather(berth_search_t *search, const berth_search_set_t *set, uint32_t item);

/* The lowest free offset, after berth_search_collect. */
uint64_t berth_search_first_fit(const berth_search_t *search, uint64_t align);

void berth_search_place(berth_search_set_t *set, uint32_t item, uint64_t offset);
void berth_search_take_away(berth_search_set_t *set, uint32_t item);
void berth_search_clear(berth_search_set_t *set);          /* takes all away but the fixed ones */
uint64_t berth_search_peak(const berth_search_set_t *set); /* of the placed ones */

static inline uint64_t berth_search_align_up(uint64_t offset, uint64_t align) {
  uint64_t rest = align == 1 ? 0 : offset % align;
  return rest == 0 ? offset : offset + (align - rest);
}

static inline uint64_t berth_search_offset(const berth_search_set_t *set, uint32_t item) {
  return set->parts[set->members[set->items[item].begin]].offset;
}

/* ---- search.c ---------------------------------------------------------------------------------
 */

/* Takes the kernel as it is, all placed with that peak, as the best plan if it is better. */
void berth_search_keep(berth_search_t *search, uint64_t peak);

/* Is there budget left until the work reaches `limit`? Asks the progress callback now and then. */
bool berth_search_go_on(berth_search_t *search, uint64_t limit);

/* A random number, the same sequence on every machine (xorshift64, Marsaglia 2003). */
static inline uint64_t berth_search_random(berth_search_t *search) {
  uint64_t x = search->random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return search->random = x;
}

/* ---- The steps, each a file -------------------------------------------------------------------
 */

/* search_kernel.c: fills the kernel and `aside`; everything is the kernel if `all`. And back. */
void berth_search_make_kernel(berth_search_t *search, bool all);
void berth_search_restore(berth_search_t *search);

/* search_start.c: plans of the kernel to start from. */
void berth_search_start(berth_search_t *search);

/* Fills search->order with all items of the kernel by log2(size) + weight x hotness. */
#define BERTH_SEARCH_HOTTEST_FIRST 65536u /* of equal hotness by size */
void berth_search_order(berth_search_t *search, uint32_t weight);

/* search_promote.c: tries to bring the kernel to `target` and then lower, until the work reaches
 * `limit`. */
void berth_search_promote(berth_search_t *search, uint64_t target, uint64_t limit);

/* search_eject.c: tries to bring the best plan to `target` until the work reaches `limit`. */
bool berth_search_eject(berth_search_t *search, uint64_t target, uint64_t limit);
void berth_search_eject_prepare(berth_search_t *search);

#endif
