/* What `run --compare` and `bisect` share. */
#ifndef BERTH_CLI_COMPARE_H
#define BERTH_CLI_COMPARE_H

#include "options.h"

/* Compares the plan with no reuse at all and prints what differs; the exit status. `bisect`: also
 * finds the tensors whose sharing causes it. */
int compare_plans(const options_t *options, bool bisect);

#endif
