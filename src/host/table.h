/* Tables for people: columns as wide as they must be, numbers to the right. */
#ifndef BERTH_SRC_HOST_TABLE_H
#define BERTH_SRC_HOST_TABLE_H

#include "host/complaint.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define BERTH_TEXT_TABLE_COLUMNS 12

typedef struct berth_text_table {
  const char *const *headings; /* NULL-terminated, at most BERTH_TEXT_TABLE_COLUMNS */
  const char *sides;           /* of each column: 'l' left or 'r' right */
  size_t columns;
  char **cells; /* all cells, row by row */
  size_t count;
  size_t room;
  bool failed; /* out of memory: the table is printed as far as it goes, and this stays set */
} berth_text_table_t;

berth_text_table_t berth_text_table(const char *const *headings, const char *sides);

/* Appends the next cell, left to right, row after row. */
void berth_text_table_cell(berth_text_table_t *table, const char *format, ...) BERTH_PRINTF(2, 3);

/* Prints it, each line after `indent` spaces, and frees it. False if memory ran out. */
bool berth_text_table_print(berth_text_table_t *table, int indent, FILE *stream);

#endif
