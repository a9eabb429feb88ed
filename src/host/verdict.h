/* What the guard found, in words and as JSON. */
#ifndef BERTH_SRC_HOST_VERDICT_H
#define BERTH_SRC_HOST_VERDICT_H

#include "berth/guard.h"
#include "host/json.h"

#define BERTH_VERDICTS 256u /* findings that are kept; more are only counted */

/* Findings of a run, each one once however often it occurs. */
typedef struct berth_verdicts {
  berth_guard_finding_t findings[BERTH_VERDICTS];
  uint32_t count;
  uint64_t all; /* with repetitions, and with those that didn't fit */
} berth_verdicts_t;

/* A berth_guard_report_t; `user` is a berth_verdicts_t. */
void berth_verdict_note(void *user, const berth_guard_finding_t *finding);

/* "operator 15 CONV_2D never writes the last 64 of 9216 bytes of tensor 40 ..." into `text`. */
char *berth_verdict_text(const berth_model_t *model, const berth_guard_finding_t *finding,
                         char *text, size_t size);

/* An array "findings". */
void berth_verdicts_json(berth_json_t *json, const berth_model_t *model,
                         const berth_verdicts_t *verdicts);

#endif
