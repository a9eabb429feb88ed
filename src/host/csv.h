/* Reads CSV (RFC 4180) from memory, row by row, without copying: commas, optional double quotes, a
 * doubled quote inside them, lines ended by LF or CRLF. Empty lines are skipped, and so is a byte
 * order mark. */
#ifndef BERTH_SRC_HOST_CSV_H
#define BERTH_SRC_HOST_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct berth_csv {
  const char *next;
  const char *end;
  uint64_t line;      /* on which the row that was read last begins, from 1 */
  uint64_t next_line; /* the line that comes next */
  const char *fault;  /* set by BERTH_CSV_FAULT: what is wrong; static */
} berth_csv_t;

/* A field as it stands in the file. Without quotes around it, spaces at its ends are left out. */
typedef struct berth_csv_field {
  const char *data;
  size_t length;
  bool quoted; /* it stood in quotes: "" in it means " */
} berth_csv_field_t;

typedef enum berth_csv_result { BERTH_CSV_ROW, BERTH_CSV_END, BERTH_CSV_FAULT } berth_csv_result_t;

berth_csv_t berth_csv_over(const void *data, size_t size);

/* Reads the next row into `fields`, which has room for `room`; `*count` says how many there are,
 * which may be more than fit. */
berth_csv_result_t berth_csv_row(berth_csv_t *csv, berth_csv_field_t *fields, size_t room,
                                 size_t *count);

/* The field as a decimal number; false if it is none or doesn't fit. */
bool berth_csv_number(berth_csv_field_t field, uint64_t *value);

/* Is the field exactly this text? */
bool berth_csv_is(berth_csv_field_t field, const char *text);

/* Copies the field's text, quotes resolved, with a NUL, to `out`, which has room for length + 1
 * bytes; returns its length. */
size_t berth_csv_copy(berth_csv_field_t field, char *out);

/* Writes one field, in quotes where they are needed. */
void berth_csv_write(FILE *stream, const char *text, size_t length);

#endif
