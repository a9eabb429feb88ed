/* The search for a plan within a capacity, for buffers with alignments and fixed offsets.
 *
 * Used by the exact planner, which hands over the problem in a form of its own: sizes in units (of
 * the greatest common divisor), and time as sections, of which a buffer occupies [lower, upper).
 * exact_skyline.c says how the search works, exact_reason.h what it learns from a failure.
 */
#ifndef BERTH_SRC_PLAN_EXACT_SKYLINE_H
#define BERTH_SRC_PLAN_EXACT_SKYLINE_H

#include "plan/exact_technique.h"
#include "plan/workspace.h"

#define BERTH_SKYLINE_NONE     UINT32_MAX
#define BERTH_SKYLINE_CAPACITY ((int32_t)1 << 30) /* capacities and loads are below this */
#define BERTH_SKYLINE_BUFFERS  2048u              /* most buffers in one search */

/* Buffers that no cut in time separates, with the room they have. */
typedef struct berth_skyline_component {
  uint32_t first, count; /* its buffers, in `members` */
  uint32_t begin, end;   /* the sections it reaches over */
  int32_t capacity;
  uint32_t span;   /* the last of the buffers set aside above it, in `spans` */
  uint32_t next;   /* the component to be planned after it */
  uint32_t origin; /* the last choice that it comes from, in `choices` */
} berth_skyline_component_t;

/* A choice: which buffer of a component comes next. */
typedef struct berth_skyline_choice {
  uint32_t component;
  uint32_t chosen;                 /* the buffer placed now */
  uint32_t candidates, count, now; /* in `candidates`; the chosen one is the now-th */
  int32_t lowest_top;              /* the lowest end that a buffer of the component can have */
  uint32_t lowest;                 /* and that buffer */
  uint32_t members, components, spans, placed, trail; /* how much there was before */
} berth_skyline_choice_t;

/* What a buffer's state was before it changed. */
typedef struct berth_skyline_change {
  uint32_t buffer;
  int32_t floor;
  uint32_t support, passed;
} berth_skyline_change_t;

typedef struct berth_skyline_span {
  uint32_t buffer;
  uint32_t below; /* the span before it */
} berth_skyline_span_t;

typedef struct berth_skyline {
  /* The problem: to be filled in. */
  uint32_t count;         /* buffers */
  uint32_t section_count; /* sections */
  int32_t *size;          /* of a buffer, at least 1 */
  int32_t *align;         /* at least 1 */
  int32_t *fixed;         /* offset, or -1 */
  uint32_t *lower, *upper;
  int32_t *load;  /* of a section */
  uint32_t *rank; /* of a buffer in the order to search in: a permutation */
  uint32_t *twin; /* the buffer just before it in rank that is its equal, or NONE */
  bool plain;     /* all alignments 1, nothing fixed */
  berth_techniques_t without;

  /* The result. */
  int32_t *offset;  /* of a buffer, or -1 while it is not placed */
  uint64_t work;    /* units of work, over all runs */
  uint64_t nodes;   /* choices made, over all runs */
  uint32_t deepest; /* most buffers that were placed at once since the start */

  /* The state of the search. */
  int32_t *floor;    /* lowest offset that the placed buffers leave to a buffer */
  uint32_t *support; /* the placed buffer that makes it so */
  uint32_t *passed;  /* the placed buffer that was preferred to it although it lies higher */
  int32_t *left;     /* size of a section's unplaced buffers */
  int32_t *raised;   /* of the buffers of the component at hand: no lower offset is possible */
  int32_t *low, *second, *above; /* of a section: see exact_skyline.c */
  uint32_t *cut;                 /* scratch, by section */
  uint64_t *keys, *spare;        /* scratch, by buffer */
  uint64_t *reasons, *reason;    /* see exact_reason.h */
  uint32_t words;                /* in a reason */

  uint32_t *members, *candidates, *placed;
  berth_skyline_component_t *components;
  berth_skyline_choice_t *choices;
  berth_skyline_span_t *spans;
  berth_skyline_change_t *trail;
  uint32_t member_count, candidate_count, placed_count, component_count, choice_count, span_count,
      trail_count;
  uint32_t agenda; /* the component to be planned next */
  bool failed;     /* what was chosen last leads nowhere */
} berth_skyline_t;

/* Takes the arrays from `memory`: `count` buffers, of which `conflicts` pairs share a section. */
void berth_skyline_lay_out(berth_skyline_t *skyline, uint32_t count, uint32_t section_count,
                           uint64_t conflicts, berth_workspace_t *memory);

/* Nothing is placed yet, and nothing may end above `capacity`, which is at least every section's
 * load. */
void berth_skyline_start(berth_skyline_t *skyline, int32_t capacity);

/* Searches on, until about `limit` more choices are made. OK: `offset` is a plan. INFEASIBLE: there
 * is none. UNDECIDED: to be called again to go on. */
berth_status_t berth_skyline_search(berth_skyline_t *skyline, uint64_t limit);

static inline bool berth_skyline_uses(const berth_skyline_t *skyline, berth_technique_t technique) {
  return berth_technique_used(skyline->without, technique);
}

static inline bool berth_skyline_meet(const berth_skyline_t *skyline, uint32_t a, uint32_t b) {
  return skyline->lower[a] < skyline->upper[b] && skyline->lower[b] < skyline->upper[a];
}

static inline bool berth_skyline_reaches(const berth_skyline_t *skyline, uint32_t a,
                                         uint32_t section) {
  return skyline->lower[a] <= section && section < skyline->upper[a];
}

/* The lowest offset of buffer `a` at `offset` or above. */
static inline int32_t berth_skyline_align(const berth_skyline_t *skyline, uint32_t a,
                                          int32_t offset) {
  if (skyline->fixed[a] >= 0) {
    return offset <= skyline->fixed[a] ? skyline->fixed[a] : BERTH_SKYLINE_CAPACITY;
  }
  int32_t align = skyline->align[a];
  if (align == 1 || offset % align == 0) return offset;
  int32_t step = align - offset % align;
  return step > BERTH_SKYLINE_CAPACITY - offset ? BERTH_SKYLINE_CAPACITY : offset + step;
}

#endif
