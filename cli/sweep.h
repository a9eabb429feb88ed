/* --sweep, which inspect, plan and run share. */
#ifndef BERTH_CLI_SWEEP_H
#define BERTH_CLI_SWEEP_H

#include "options.h"

/* Makes and shows the curve that the options ask for; `timed`: with latency. The exit status. */
int sweep_show(const options_t *options, bool timed);

#endif
