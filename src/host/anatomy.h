/* What makes a plan's peak: the step, the buffers that are live in it, and the bytes that are lost.
 */
#ifndef BERTH_SRC_HOST_ANATOMY_H
#define BERTH_SRC_HOST_ANATOMY_H

#include "host/subject.h"

/* peak = live_bytes + alignment_bytes + fragmentation_bytes - overlap_bytes. */
typedef struct berth_anatomy {
  uint32_t step;  /* of those in which the highest byte is used, the fullest */
  uint32_t *live; /* the region's buffers that are live in it, largest first */
  uint32_t live_count;
  uint64_t live_bytes;          /* theirs, before rounding */
  uint64_t alignment_bytes;     /* what rounding their sizes up adds */
  uint64_t fragmentation_bytes; /* the gaps between them */
  uint64_t overlap_bytes;       /* what they share (pairs), less the gaps */
} berth_anatomy_t;

/* Looks into region `region` of a plan, whose highest end there is `peak`. MEMORY. `live` is on the
 * heap; free it. */
berth_status_t berth_anatomy_of(const berth_subject_t *subject, const berth_placement_t *placements,
                                uint32_t region, uint64_t peak, berth_anatomy_t *anatomy);

/* The buffers live in `step`, largest first, then in order; in `region`, or all if `placements` is
 * NULL. On the heap. */
berth_status_t berth_live_in(const berth_subject_t *subject, const berth_placement_t *placements,
                             uint32_t region, uint32_t step, uint32_t **live, uint32_t *count);

/* Highest end of what a plan puts in `region`. */
uint64_t berth_region_peak(const berth_problem_t *problem, const berth_placement_t *placements,
                           uint32_t region);

#endif
