/* A model for people and as JSON: its operators, its tensors, and what they need together. */
#ifndef BERTH_SRC_HOST_MODEL_PRINT_H
#define BERTH_SRC_HOST_MODEL_PRINT_H

#include "host/plan_file.h"
#include "host/terminal.h"

/* Both take a report with a plan or without. False: out of memory. */
bool berth_model_print(const berth_plan_report_t *report, berth_terminal_t terminal, FILE *stream);
bool berth_model_write_json(const berth_plan_report_t *report, FILE *stream);

#endif
