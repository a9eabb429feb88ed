/* A model's history: one line of a CSV file for each version, kept beside the code. Behind `berth
 * log`. */
#ifndef BERTH_SRC_HOST_HISTORY_H
#define BERTH_SRC_HOST_HISTORY_H

#include "berth/status.h"
#include "host/complaint.h"
#include "host/terminal.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One line. Texts are on the heap, or the caller's in a line to append. */
typedef struct berth_history_line {
  char *date;          /* "2026-01-31T12:00:00Z" */
  char *label;         /* a version, a commit: what the user says; or "" */
  char *model;         /* path */
  uint64_t peak;       /* bytes of the plan */
  uint64_t arena;      /* bytes that Berth needs to run it; 0: it cannot be run */
  uint64_t latency_ns; /* shortest invoke; 0: it was not run */
  char *accuracy;      /* as the user says; or "" */
} berth_history_line_t;

typedef struct berth_history {
  berth_history_line_t *lines; /* heap, oldest first */
  uint32_t count;
} berth_history_t;

/* Reads a history; a file that isn't there is an empty one, unless it must exist. FORMAT, ARGUMENT,
 * MEMORY. */
berth_status_t berth_history_read(const char *path, bool must_exist, berth_history_t *history,
                                  berth_complaint_t *complaint);

/* Appends a copy of the line in memory. MEMORY. */
berth_status_t berth_history_append(berth_history_t *history, const berth_history_line_t *line);

/* Writes all lines, whole or not at all. */
berth_status_t berth_history_write(const char *path, const berth_history_t *history,
                                   berth_complaint_t *complaint);
void berth_history_free(berth_history_t *history);

/* How many lines there are of one model. */
uint32_t berth_history_count(const berth_history_t *history, const char *model);

/* The lines of one model as a table, with the change of the peak from line to line, and the trends
 * of peak, arena, latency and accuracy; history_print.c. False: out of memory. */
bool berth_history_print(const berth_history_t *history, const char *model,
                         berth_terminal_t terminal, FILE *stream);

/* The same as JSON. */
void berth_history_json(const berth_history_t *history, const char *model, FILE *stream);

#endif
