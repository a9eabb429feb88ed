/* Reads planning problems and pairs from CSV; see the README for the columns. */
#ifndef BERTH_SRC_HOST_PROBLEM_CSV_H
#define BERTH_SRC_HOST_PROBLEM_CSV_H

#include "host/subject.h"

/* Fills the buffers and labels of `subject`, whose file is mapped and whose regions are set. */
berth_status_t berth_problem_csv_read(berth_subject_t *subject,
                                      const berth_subject_options_t *options,
                                      berth_complaint_t *complaint);

/* Adds the pairs of `path` to the subject's problem; its buffers are called as in its own file, and
 * those of a model by their number. */
berth_status_t berth_pairs_csv_read(berth_subject_t *subject, const char *path,
                                    berth_complaint_t *complaint);

#endif
