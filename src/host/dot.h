/* A model as a graph for GraphViz: operators coloured by the bytes that are live while they run,
 * edges as wide as the tensors are large. Behind `berth graph`. */
#ifndef BERTH_SRC_HOST_DOT_H
#define BERTH_SRC_HOST_DOT_H

#include "host/plan_file.h"
#include <stdio.h>

/* Writes the graph of a planned model in the DOT language. False: out of memory. */
bool berth_dot_write(const berth_plan_report_t *report, FILE *stream);

/* The same nodes and edges as JSON. False: out of memory. */
bool berth_dot_json(const berth_plan_report_t *report, FILE *stream);

#endif
