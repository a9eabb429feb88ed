/* The files with a run's graph outputs: rows of an output that no memory holds whole are written as
 * they come, everything else after the invoke. Used by `berth run --output-dir`.
 */
#ifndef BERTH_SRC_HOST_OUTPUT_FILES_H
#define BERTH_SRC_HOST_OUTPUT_FILES_H

#include "host/output.h"
#include "host/runner.h"

/* The file of one output, while its rows come. */
typedef struct berth_rows_file {
  berth_output_t output;
  char *path;
  bool open;
} berth_rows_file_t;

typedef struct berth_output_files {
  const char *folder;
  uint32_t invokes; /* of the run; 1: out<k>.bin, more: run<n>.out<k>.bin */
  berth_rows_file_t *rows;
  uint32_t count;              /* of `rows`: graph outputs */
  berth_status_t status;       /* of what came by rows; */
  berth_complaint_t complaint; /* then this says what was wrong */
} berth_output_files_t;

/* Files for `count` graph outputs in `folder`, which must outlive them. MEMORY. */
berth_status_t berth_output_files_init(berth_output_files_t *files, const char *folder,
                                       uint32_t invokes, uint32_t count);

/* Rows [first_row, last_row) of an output, in order, in invoke number `invoke`, from 0. What fails
 * is told by berth_output_files_finish. */
void berth_output_files_rows(berth_output_files_t *files, uint32_t invoke, uint32_t output,
                             const berth_value_t *value, uint32_t first_row, uint32_t last_row);

/* Writes the outputs that are whole, and puts all files in their place. On failure, none that isn't
 * complete stays. */
berth_status_t berth_output_files_finish(berth_output_files_t *files, const berth_runner_t *runner,
                                         uint32_t invoke, berth_complaint_t *complaint);

/* Removes the files that aren't in their place, and releases everything. */
void berth_output_files_free(berth_output_files_t *files);

#endif
