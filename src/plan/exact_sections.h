/* From a planning problem to what the skyline search takes. */
#ifndef BERTH_SRC_PLAN_EXACT_SECTIONS_H
#define BERTH_SRC_PLAN_EXACT_SECTIONS_H

#include "plan/exact_skyline.h"

/* Buffers of a problem without pairs, or some of them, made ready to be searched. */
typedef struct berth_sections {
  const berth_problem_t *problem;
  uint32_t count;     /* buffers that take room */
  uint32_t *buffer;   /* which they are */
  uint32_t *length;   /* steps in which they are live */
  uint64_t unit;      /* bytes in a unit: all sizes, alignments and fixed offsets are multiples */
  uint32_t *elite[2]; /* for whoever asks: ranks that proved good */
  uint32_t *order, *spare; /* scratch */
  uint32_t *by_last;       /* scratch */
  berth_skyline_t skyline;
} berth_sections_t;

/* Takes the arrays from `memory`, for the `count` buffers of `subset` or, if that is NULL, for all.
 * UNSUPPORTED: too many for the search. */
berth_status_t berth_sections_lay_out(berth_sections_t *sections, const berth_problem_t *problem,
                                      const uint32_t *subset, uint32_t count,
                                      berth_workspace_t *memory);

/* Fills them. UNSUPPORTED: the numbers are too large for the search. */
berth_status_t berth_sections_prepare(berth_sections_t *sections, const uint32_t *subset,
                                      uint32_t count);

#endif
