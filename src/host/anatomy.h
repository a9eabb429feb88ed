/* What makes a plan's peak: the step, the buffers that are live in it, what they are for, the bytes
 * that are lost, and the steps that come next. Used by whoever shows a plan. */
#ifndef BERTH_SRC_HOST_ANATOMY_H
#define BERTH_SRC_HOST_ANATOMY_H

#include "host/subject.h"

#define BERTH_CLASSES ((uint32_t)BERTH_KIND_RESERVED + 1)

/* Bytes by what they are for, before rounding: class_bytes[kind]. What has no kind counts as an
 * activation. */
typedef struct berth_classes {
  uint64_t bytes[BERTH_CLASSES];
  uint64_t alignment_bytes; /* what rounding the sizes up adds */
} berth_classes_t;

/* peak = live_bytes + alignment_bytes + fragmentation_bytes - overlap_bytes. */
typedef struct berth_anatomy {
  uint32_t step;  /* of those in which the highest byte is used, the fullest */
  uint32_t *live; /* the region's buffers that are live in it, largest first */
  uint32_t live_count;
  uint64_t live_bytes;          /* theirs, before rounding */
  uint64_t alignment_bytes;     /* what rounding their sizes up adds */
  uint64_t fragmentation_bytes; /* the gaps between them */
  uint64_t overlap_bytes;       /* what they share (pairs), less the gaps */
  berth_classes_t classes;      /* live_bytes and alignment_bytes, by class */
} berth_anatomy_t;

/* Looks into region `region` of a plan, whose highest end there is `peak`. MEMORY. `live` is on the
 * heap; free it. */
berth_status_t berth_anatomy_of(const berth_subject_t *subject, const berth_placement_t *placements,
                                uint32_t region, uint64_t peak, berth_anatomy_t *anatomy);

/* The buffers live in `step`, largest first, then in order; in `region`, or all if `placements` is
 * NULL. On the heap. */
berth_status_t berth_live_in(const berth_subject_t *subject, const berth_placement_t *placements,
                             uint32_t region, uint32_t step, uint32_t **live, uint32_t *count);

/* The classes of all buffers; in `region`, or everywhere if `placements` is NULL. */
berth_classes_t berth_classes_of(const berth_subject_t *subject,
                                 const berth_placement_t *placements, uint32_t region);

/* Bytes of buffers (rounded) that are live in each step, likewise; on the heap, NULL if memory is
 * short. */
uint64_t *berth_load_by_step(const berth_subject_t *subject, const berth_placement_t *placements,
                             uint32_t region);

#define BERTH_NEAR_MAX 10u

/* A step that is nearly as full as the fullest. */
typedef struct berth_near_step {
  uint32_t step;
  uint64_t load; /* bytes live in it, rounded */
} berth_near_step_t;

/* The fullest steps, at most BERTH_NEAR_MAX of them, fullest first, then in order. MEMORY. */
berth_status_t berth_near_steps(const berth_subject_t *subject, const berth_placement_t *placements,
                                uint32_t region, berth_near_step_t near[BERTH_NEAR_MAX],
                                uint32_t *count);

/* Highest end of what a plan puts in `region`. */
uint64_t berth_region_peak(const berth_problem_t *problem, const berth_placement_t *placements,
                           uint32_t region);

#endif
