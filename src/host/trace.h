/* A run as a trace for chrome://tracing and Perfetto: one track for each operator, a counter of the
 * bytes that are live by class, and every tensor's life. Behind `berth trace`. */
#ifndef BERTH_SRC_HOST_TRACE_H
#define BERTH_SRC_HOST_TRACE_H

#include "host/plan_file.h"
#include <stdio.h>

/* Writes the trace of a planned model. `ms`: how long each operator of the main subgraph took, or
 * NULL: a microsecond each. Format: the Trace Event Format's JSON object, times in microseconds.
 * False: out of memory. */
bool berth_trace_write(const berth_plan_report_t *report, const double *ms, FILE *stream);

#endif
