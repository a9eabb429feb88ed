/* Gathers what there is to say about a subject before anything is planned. */
#include "host/plan_file.h"

bool berth_buffers_conflict(const berth_buffer_t *a, const berth_buffer_t *b) {
  return a->size > 0 && b->size > 0 && a->first <= b->last && b->first <= a->last;
}

const char *berth_region_name(const berth_subject_t *subject, uint32_t region) {
  if (region == BERTH_OUTSIDE) return "outside";
  return subject->problem.region_count > 0 ? subject->regions[region].name : "arena";
}

berth_status_t berth_plan_report_start(const berth_subject_t *subject,
                                       const berth_subject_options_t *options,
                                       berth_plan_report_t *report, berth_complaint_t *complaint) {
  berth_plan_report_t start = {.subject = subject, .folds = !options->keep_foldable};
  berth_status_t status =
      berth_subject_load(&subject->problem, &start.load, &start.load_step, complaint);
  if (status == BERTH_OK && subject->is_model) {
    status = berth_subject_totals(subject, options, true, &start.folded, complaint);
  }
  if (status == BERTH_OK && subject->is_model) {
    status = berth_subject_totals(subject, options, false, &start.unfolded, complaint);
  }
  if (status == BERTH_OK) *report = start;
  return status;
}
