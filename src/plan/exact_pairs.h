/* Branch and bound for problems with SHARE, HEAD, TAIL and OVER pairs. */
#ifndef BERTH_SRC_PLAN_EXACT_PAIRS_H
#define BERTH_SRC_PLAN_EXACT_PAIRS_H

#include "berth/plan.h"
#include "plan/workspace.h"

#define BERTH_PAIRS_MOST ((uint64_t)1 << 18) /* most conflicts in one search */

/* Two groups that must not collide: above - below >= `up`, or below - above >= `down`, for their
 * offsets, or both are the same, if `over`. A distance may be negative: part of the one may then
 * lie under part of the other. */
typedef struct berth_conflict {
  uint32_t below, above;
  int64_t up, down;
  bool over;
} berth_conflict_t;

/* Offsets of one buffer less those of another at which the two collide: strictly between low and
 * high, but not at 0 if `over`. */
typedef struct berth_reach {
  int64_t low, high;
  bool over;
} berth_reach_t;

/* A conflict that was decided by trying. */
typedef struct berth_pairs_choice {
  uint32_t conflict;
  uint32_t trail; /* length of the trail before */
  uint32_t left;  /* ways that are not tried yet */
} berth_pairs_choice_t;

/* The bounds of a group as they were. */
typedef struct berth_pairs_change {
  int64_t lowest, highest;
  uint32_t group;
} berth_pairs_change_t;

/* A group is what SHARE pairs hold together; it is named by its smallest buffer. */
typedef struct berth_pairs {
  const berth_problem_t *problem;
  uint32_t conflict_count, choice_count;
  uint32_t *group;           /* of a buffer */
  int64_t *size, *align;     /* of a group: its largest member, its common alignment */
  int64_t *fixed;            /* of a group, or -1 */
  int64_t *lowest, *highest; /* of a group: its offset is between the two */
  berth_conflict_t *conflicts;
  uint32_t *begin, *incident; /* of group g: incident[begin[g]..begin[g + 1]), its conflicts */
  uint8_t *order; /* of a conflict: free, or which of the two comes first, or that they coincide */
  berth_pairs_choice_t *choices; /* one after the other */
  berth_pairs_change_t *trail;   /* what changed since choice number `forgotten` */
  uint32_t trail_count, trail_room, forgotten;
  uint64_t *noted; /* of a group: the turn in which it was last put on the trail */
  uint64_t turn;
  uint32_t *queue; /* groups whose bounds have changed */
  bool *queued;    /* of a group */
  uint32_t queue_count;
  berth_reach_t *reach; /* scratch: of one buffer and each other one */
  uint64_t work;
} berth_pairs_t;

/* Takes the arrays from `memory`. UNSUPPORTED: too many conflicts. */
berth_status_t berth_pairs_lay_out(berth_pairs_t *pairs, const berth_problem_t *problem,
                                   berth_workspace_t *memory);

/* Fills them. INFEASIBLE: a group contradicts itself. OVERFLOW: its alignment is too large. */
berth_status_t berth_pairs_prepare(berth_pairs_t *pairs);

/* Is there a plan with a peak of at most `capacity`? OK: the offsets are in `lowest`. UNDECIDED:
 * not within `limit` more units of work. */
berth_status_t berth_pairs_fit(berth_pairs_t *pairs, int64_t capacity, uint64_t limit);

/* Writes the offsets and the peak. */
void berth_pairs_write(const berth_pairs_t *pairs, berth_plan_t *plan);

#endif
