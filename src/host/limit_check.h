/* Does a model keep to a limit of memory, and what are the largest causes if it doesn't? Behind
 * `berth check`, which CI runs. */
#ifndef BERTH_SRC_HOST_LIMIT_CHECK_H
#define BERTH_SRC_HOST_LIMIT_CHECK_H

#include "host/settings.h"
#include "stock/tflm_forecast.h"
#include <stdio.h>

/* Whose arena is meant. */
typedef enum berth_check_runtime {
  BERTH_CHECK_PLAN,  /* the plan of the tensors, as `berth plan` makes it */
  BERTH_CHECK_BERTH, /* everything that Berth's interpreter needs */
  BERTH_CHECK_TFLM,  /* the smallest arena with which stock TFLM's AllocateTensors succeeds */
  BERTH_CHECK_TFLITE /* the arenas of stock TFLite's tensors; kernels may add temporary ones */
} berth_check_runtime_t;

/* "plan" and the like; static. */
const char *berth_check_runtime_name(berth_check_runtime_t runtime);

#define BERTH_CAUSES_MAX 3u

typedef struct berth_limit_cause {
  uint64_t bytes;
  char what[512]; /* "input 0 image: given by the caller; ..." */
} berth_limit_cause_t;

typedef struct berth_limit_check {
  uint64_t arena_bytes;
  uint64_t limit_bytes;
  bool over;
  bool undecided; /* not known to be over, but something is unknown: `why` says what */
  char why[256];
  berth_limit_cause_t causes[BERTH_CAUSES_MAX]; /* largest first */
  uint32_t cause_count;
} berth_limit_check_t;

/* Checks the model of `path`. Errors: those of opening and planning it, OPERATOR (the runtime
 * doesn't run it); `complaint` says why. `stock` counts with BERTH_CHECK_TFLM. */
berth_status_t berth_limit_check(const char *path, const berth_settings_t *settings,
                                 berth_check_runtime_t runtime, const berth_tflm_settings_t *stock,
                                 uint64_t limit, berth_limit_check_t *check,
                                 berth_complaint_t *complaint);

#endif
