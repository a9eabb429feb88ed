/* Histories. The file is CSV so that a spreadsheet opens it and a version control system merges it:
 * a line is only ever added at its end. */
#include "host/history.h"
#include "host/csv.h"
#include "host/json.h"
#include "host/map.h"
#include "host/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DATE, LABEL, MODEL, PEAK, ARENA, LATENCY, ACCURACY, COLUMNS };
static const char *const columns[COLUMNS] = {"date",        "label",      "model",   "peak_bytes",
                                             "arena_bytes", "latency_ns", "accuracy"};

static void free_line(berth_history_line_t *line) {
  free(line->date);
  free(line->label);
  free(line->model);
  free(line->accuracy);
}

void berth_history_free(berth_history_t *history) {
  for (uint32_t i = 0; i < history->count; i++) free_line(&history->lines[i]);
  free(history->lines);
  *history = (berth_history_t){NULL, 0};
}

/* Takes over the texts of the line, or frees them. */
static berth_status_t take(berth_history_t *history, berth_history_line_t line) {
  berth_history_line_t *lines = NULL;
  if (line.date != NULL && line.label != NULL && line.model != NULL && line.accuracy != NULL) {
    lines = realloc(history->lines, ((size_t)history->count + 1) * sizeof *lines);
  }
  if (lines == NULL) {
    free_line(&line);
    return BERTH_ERROR_MEMORY;
  }
  history->lines = lines;
  lines[history->count++] = line;
  return BERTH_OK;
}

berth_status_t berth_history_append(berth_history_t *history, const berth_history_line_t *line) {
  berth_history_line_t copy = *line;
  copy.date = strdup(line->date);
  copy.label = strdup(line->label);
  copy.model = strdup(line->model);
  copy.accuracy = strdup(line->accuracy);
  return take(history, copy);
}

/* ---- The file -------------------------------------------------------------------------------- */

static char *text_of(berth_csv_field_t field) {
  char *text = malloc(field.length + 1);
  if (text != NULL) berth_csv_copy(field, text);
  return text;
}

static berth_status_t read_lines(const berth_host_map_t *map, const char *path,
                                 berth_history_t *history, berth_complaint_t *complaint) {
  berth_csv_field_t fields[COLUMNS];
  size_t count;
  berth_csv_t csv = berth_csv_over(map->data, (size_t)map->size);
  berth_csv_result_t result = berth_csv_row(&csv, fields, COLUMNS, &count);
  bool right = result == BERTH_CSV_ROW && count == COLUMNS;
  for (int c = 0; c < COLUMNS && right; c++) right = berth_csv_is(fields[c], columns[c]);
  if (!right) {
    berth_complain(complaint, "%s: is no history: its first line must be %s,%s,%s,%s,%s,%s,%s",
                   path, columns[0], columns[1], columns[2], columns[3], columns[4], columns[5],
                   columns[6]);
    return BERTH_ERROR_FORMAT;
  }
  while ((result = berth_csv_row(&csv, fields, COLUMNS, &count)) == BERTH_CSV_ROW) {
    berth_history_line_t line = {NULL, NULL, NULL, 0, 0, 0, NULL};
    bool good = count == COLUMNS && berth_csv_number(fields[PEAK], &line.peak) &&
                berth_csv_number(fields[ARENA], &line.arena) &&
                berth_csv_number(fields[LATENCY], &line.latency_ns);
    if (!good) {
      berth_complain(complaint, "%s:%" PRIu64 ": is no line of a history", path, csv.line);
      return BERTH_ERROR_FORMAT;
    }
    line.date = text_of(fields[DATE]);
    line.label = text_of(fields[LABEL]);
    line.model = text_of(fields[MODEL]);
    line.accuracy = text_of(fields[ACCURACY]);
    if (take(history, line) != BERTH_OK) {
      berth_complain(complaint, "%s: out of memory", path);
      return BERTH_ERROR_MEMORY;
    }
  }
  if (result == BERTH_CSV_END) return BERTH_OK;
  berth_complain(complaint, "%s:%" PRIu64 ": %s", path, csv.line, csv.fault);
  return BERTH_ERROR_FORMAT;
}

berth_status_t berth_history_read(const char *path, bool must_exist, berth_history_t *history,
                                  berth_complaint_t *complaint) {
  struct stat info;
  berth_history_t read = {NULL, 0};
  *history = read;
  if (!must_exist && stat(path, &info) != 0 && errno == ENOENT) return BERTH_OK;
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_status_t status = berth_host_map(path, &map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  status = read_lines(&map, path, &read, complaint);
  berth_host_unmap(&map);
  if (status == BERTH_OK) {
    *history = read;
  } else {
    berth_history_free(&read);
  }
  return status;
}

static void write_text(FILE *stream, const char *text) {
  berth_csv_write(stream, text, strlen(text));
}

berth_status_t berth_history_write(const char *path, const berth_history_t *history,
                                   berth_complaint_t *complaint) {
  berth_output_t output;
  berth_status_t status = berth_output_open(path, &output, complaint);
  if (status != BERTH_OK) return status;
  for (int c = 0; c < COLUMNS; c++) {
    fprintf(output.stream, "%s%s", columns[c], c + 1 < COLUMNS ? "," : "\n");
  }
  for (uint32_t i = 0; i < history->count; i++) {
    const berth_history_line_t *line = &history->lines[i];
    write_text(output.stream, line->date);
    fputc(',', output.stream);
    write_text(output.stream, line->label);
    fputc(',', output.stream);
    write_text(output.stream, line->model);
    fprintf(output.stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", line->peak, line->arena,
            line->latency_ns);
    write_text(output.stream, line->accuracy);
    fputc('\n', output.stream);
  }
  return berth_output_commit(&output, complaint);
}

void berth_history_json(const berth_history_t *history, const char *model, FILE *stream) {
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", model);
  berth_json_open(&json, "history", '[');
  for (uint32_t i = 0; i < history->count; i++) {
    const berth_history_line_t *line = &history->lines[i];
    if (strcmp(line->model, model) != 0) continue;
    berth_json_open_line(&json, NULL, '{');
    berth_json_string(&json, "date", line->date);
    berth_json_string(&json, "label", line->label);
    berth_json_number(&json, "peak_bytes", line->peak);
    berth_json_number(&json, "arena_bytes", line->arena);
    berth_json_number(&json, "latency_ns", line->latency_ns);
    berth_json_string(&json, "accuracy", line->accuracy);
    berth_json_close(&json, '}');
  }
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
}
