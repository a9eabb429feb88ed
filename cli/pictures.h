/* The pictures that --svg and --png ask for, which `plan` and `report` share. */
#ifndef BERTH_CLI_PICTURES_H
#define BERTH_CLI_PICTURES_H

#include "host/plan_file.h"
#include "options.h"

/* Can they and the command's own output be written? Asked before the first of them is, so that none
 * is left behind alone. */
berth_status_t try_outputs(const options_t *options, berth_complaint_t *complaint);

/* Writes them; the report must have a plan. Errors are told in `complaint`. */
berth_status_t write_pictures(const options_t *options, const berth_plan_report_t *report,
                              berth_complaint_t *complaint);

#endif
