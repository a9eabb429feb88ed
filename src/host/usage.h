/* Memory, operator by operator and buffer by buffer: the tables behind --print-memory-usage and
 * --print-allocations, which inspect, plan and run share. */
#ifndef BERTH_SRC_HOST_USAGE_H
#define BERTH_SRC_HOST_USAGE_H

#include "host/plan_file.h"
#include "host/runner.h"
#include <stdio.h>

/* One step. */
typedef struct berth_usage {
  uint64_t activations; /* of tensors and reserved buffers that are live in it */
  uint64_t scratch;     /* of its operator */
  uint64_t workspace;   /* of its operator: tables and state, kept for good */
  uint64_t persistent;  /* of all operators, and variables */
  uint64_t live;        /* all that is live in it: activations + scratch + persistent */
} berth_usage_t;

/* Of each step of a subject that was opened with `kernels`; sizes are rounded as planned. On the
 * heap; NULL: out of memory. */
berth_usage_t *berth_usage_of(const berth_subject_t *subject);

/* The table of it. False: out of memory. */
bool berth_usage_print(const berth_subject_t *subject, FILE *stream);

/* An array "memory_usage". False: out of memory. */
struct berth_json;
bool berth_usage_json(const berth_subject_t *subject, struct berth_json *json);

/* Every buffer: tensor, class, bytes, offset, first and last step, region. False: out of memory. */
bool berth_allocations_print(const berth_plan_report_t *report, FILE *stream);

/* Where a prepared interpreter has put the buffers of `subject` (opened with `kernels` and
 * `keep_foldable`): offsets from the start of the block that holds them, with regions as
 * berth_runner_regions names them. What it doesn't keep becomes BERTH_OUTSIDE, of size 0.
 * `placements` has room for all. */
void berth_usage_of_runner(berth_runner_t *runner, berth_subject_t *subject,
                           berth_placement_t *placements);

/* The blocks of a runner: activations, and persistent where that is a block of its own. */
#define BERTH_RUNNER_REGIONS 2u
extern const berth_named_region_t berth_runner_regions[BERTH_RUNNER_REGIONS];

#endif
