/* A plan that was saved as JSON, for whoever shows or compares plans without their models. */
#ifndef BERTH_SRC_HOST_PLAN_OPEN_H
#define BERTH_SRC_HOST_PLAN_OPEN_H

#include "host/planning.h"
#include "host/subject.h"

/* Reads what `berth plan -o FILE.json` or --json wrote: the buffers become a subject that is no
 * model (names and classes are kept, operators aren't in the file), their offsets an outcome. The
 * plan is taken as it is, not verified; its lower bound is the file's. On OK, close the subject and
 * free the outcome. `path` must outlive the subject. Errors: FORMAT (no such JSON, or without a
 * plan), MEMORY; `complaint` names the line. */
berth_status_t berth_plan_open(const char *path, berth_subject_t *subject, berth_outcome_t *outcome,
                               berth_complaint_t *complaint);

#endif
