/* The second view of a model that --print-memory-usage needs: with the kernels' scratch and
 * workspace among its buffers. */
#ifndef BERTH_CLI_USAGE_SUBJECT_H
#define BERTH_CLI_USAGE_SUBJECT_H

#include "host/plan_file.h"
#include "options.h"

/* Puts what the options ask for into the report; `usage` is opened where it is needed, and closed
 * by usage_close. False: `complaint` says why. */
bool usage_open(const options_t *options, berth_plan_report_t *report, berth_subject_t *usage,
                berth_complaint_t *complaint);
void usage_close(const berth_plan_report_t *report, berth_subject_t *usage);

#endif
