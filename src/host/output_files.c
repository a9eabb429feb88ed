/* Files of graph outputs, whole or row by row. */
#include "host/output_files.h"
#include <stdlib.h>
#include <string.h>

berth_status_t berth_output_files_init(berth_output_files_t *files, const char *folder,
                                       uint32_t invokes, uint32_t count) {
  *files = (berth_output_files_t){.folder = folder, .invokes = invokes};
  files->rows = calloc((size_t)count + 1, sizeof *files->rows);
  if (files->rows == NULL) return BERTH_ERROR_MEMORY;
  files->count = count;
  return BERTH_OK;
}

/* The path of an output's file, on the heap; NULL: out of memory. */
static char *path_of(const berth_output_files_t *files, uint32_t invoke, uint32_t output) {
  size_t room = strlen(files->folder) + 48;
  char *path = malloc(room);
  if (path == NULL) return NULL;
  if (files->invokes == 1) {
    snprintf(path, room, "%s/out%u.bin", files->folder, output);
  } else {
    snprintf(path, room, "%s/run%u.out%u.bin", files->folder, invoke + 1, output);
  }
  return path;
}

static berth_status_t open_file(const berth_output_files_t *files, uint32_t invoke, uint32_t output,
                                berth_rows_file_t *file, berth_complaint_t *complaint) {
  char *path = path_of(files, invoke, output);
  if (path == NULL) {
    berth_complain(complaint, "%s: out of memory", files->folder);
    return BERTH_ERROR_MEMORY;
  }
  berth_status_t status = berth_output_open(path, &file->output, complaint);
  if (status != BERTH_OK) {
    free(path);
    return status;
  }
  file->path = path;
  file->open = true;
  return BERTH_OK;
}

static berth_status_t close_file(berth_rows_file_t *file, berth_complaint_t *complaint) {
  berth_status_t status = berth_output_commit(&file->output, complaint);
  file->open = false;
  free(file->path);
  return status;
}

static void discard_all(berth_output_files_t *files) {
  for (uint32_t i = 0; i < files->count; i++) {
    if (!files->rows[i].open) continue;
    berth_output_discard(&files->rows[i].output);
    files->rows[i].open = false;
    free(files->rows[i].path);
  }
}

void berth_output_files_rows(berth_output_files_t *files, uint32_t invoke, uint32_t output,
                             const berth_value_t *value, uint32_t first_row, uint32_t last_row) {
  berth_rows_file_t *file = &files->rows[output];
  if (files->status == BERTH_OK && !file->open) {
    files->status = open_file(files, invoke, output, file, &files->complaint);
  }
  if (files->status != BERTH_OK) return;
  for (uint32_t row = first_row; row < last_row; row++) {
    fwrite(berth_row(value, row), 1, value->row_bytes, file->output.stream);
  }
}

static berth_status_t write_whole(const berth_output_files_t *files, const berth_runner_t *runner,
                                  uint32_t invoke, uint32_t output, berth_complaint_t *complaint) {
  berth_rows_file_t file;
  berth_value_t value = berth_runner_output(runner, output);
  berth_status_t status = open_file(files, invoke, output, &file, complaint);
  if (status != BERTH_OK) return status;
  if (value.data != NULL) fwrite(value.data, 1, value.bytes, file.output.stream);
  return close_file(&file, complaint);
}

berth_status_t berth_output_files_finish(berth_output_files_t *files, const berth_runner_t *runner,
                                         uint32_t invoke, berth_complaint_t *complaint) {
  berth_status_t status = files->status;
  if (status != BERTH_OK) *complaint = files->complaint;
  for (uint32_t i = 0; i < files->count && status == BERTH_OK; i++) {
    status = files->rows[i].open ? close_file(&files->rows[i], complaint)
                                 : write_whole(files, runner, invoke, i, complaint);
  }
  if (status != BERTH_OK) discard_all(files);
  return status;
}

void berth_output_files_free(berth_output_files_t *files) {
  discard_all(files);
  free(files->rows);
  *files = (berth_output_files_t){.rows = NULL};
}
