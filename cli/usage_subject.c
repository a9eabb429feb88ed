/* Opens the model once more where each operator's needs are asked for. */
#include "usage_subject.h"

bool usage_open(const options_t *options, berth_plan_report_t *report, berth_subject_t *usage,
                berth_complaint_t *complaint) {
  report->allocations = options->print_allocations;
  if (!options->print_usage) return true;
  berth_subject_options_t with = options->subject;
  with.kernels = true;
  if (berth_subject_open(report->subject->path, &with, usage, complaint) != BERTH_OK) return false;
  report->usage = usage;
  return true;
}

void usage_close(const berth_plan_report_t *report, berth_subject_t *usage) {
  if (report->usage != NULL) berth_subject_close(usage);
}
