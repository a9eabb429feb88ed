/* A curve: the peak (and, where it is asked for, the latency) of a model over its resolution,
 * batch, alignment, or the size of its fast memory. Every point is planned, and run, on its own. */
#ifndef BERTH_SRC_HOST_SWEEP_H
#define BERTH_SRC_HOST_SWEEP_H

#include "host/planning.h"
#include "host/subject.h"
#include "host/terminal.h"
#include <stdio.h>

typedef enum berth_sweep_kind {
  BERTH_SWEEP_NONE,
  BERTH_SWEEP_RESOLUTION, /* height of the first image input; its width in proportion */
  BERTH_SWEEP_BATCH,      /* first dimension of every input */
  BERTH_SWEEP_ALIGN,      /* doubles from `from` to `to` */
  BERTH_SWEEP_REGIONS     /* bytes of the first region, the others as they are; without any, of a
                             fast memory before a ten times dearer one */
} berth_sweep_kind_t;

typedef struct berth_sweep {
  berth_sweep_kind_t kind;
  uint64_t from, to, step; /* 0: the kind's own range */
} berth_sweep_t;

#define BERTH_SWEEP_POINTS 64u /* most points of a sweep; more are refused */

typedef struct berth_sweep_point {
  uint64_t value;
  bool planned; /* else `why` says why not */
  bool optimal;
  uint64_t peak; /* REGIONS: of the first region */
  uint64_t cost; /* REGIONS only */
  double ms;     /* shortest of the invokes; below 0: it was not run */
  char why[160];
} berth_sweep_point_t;

typedef struct berth_curve {
  berth_sweep_kind_t kind;
  berth_sweep_point_t points[BERTH_SWEEP_POINTS];
  uint32_t count;
  bool timed;
} berth_curve_t;

/* "resolution" and the like; static. */
const char *berth_sweep_name(berth_sweep_kind_t kind);

/* Plans every point of the sweep of the file `path`; `timed`: runs each one, too, up to
 * `invokes` times. Errors: ARGUMENT (no input can be swept so, or too many points), and those of
 * opening the file. */
berth_status_t berth_sweep_make(const char *path, const berth_subject_options_t *options,
                                const berth_planner_t *planner, const berth_planning_t *planning,
                                const berth_sweep_t *sweep, bool timed, uint32_t invokes,
                                berth_curve_t *curve, berth_complaint_t *complaint);

/* Bars for people. */
void berth_curve_print(const berth_curve_t *curve, const char *path, berth_terminal_t terminal,
                       FILE *stream);
void berth_curve_json(const berth_curve_t *curve, const char *path, const char *planner,
                      FILE *stream);

#endif
