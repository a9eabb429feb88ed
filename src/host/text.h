/* Numbers and names as people read them. */
#ifndef BERTH_SRC_HOST_TEXT_H
#define BERTH_SRC_HOST_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A short string by value, so that several can stand in one printf. */
typedef struct berth_short {
  char text[32];
} berth_short_t;

berth_short_t berth_grouped(uint64_t number);               /* "1,404,928" */
berth_short_t berth_human_bytes(uint64_t bytes);            /* "54.0 KiB"; below 1024: "17 B" */
berth_short_t berth_percent(uint64_t part, uint64_t whole); /* "66.7 %"; "0.0 %" of nothing */

/* Columns that UTF-8 text takes on a terminal, one for each code point. */
size_t berth_text_columns(const char *text);

/* Copies `length` bytes of a name into `out` (of `size` bytes) for printing: what is not valid
 * UTF-8, and control characters, become '?'. If it takes more than `columns` columns, its middle is
 * left out, marked by "...". Returns `out`. */
char *berth_printable(const char *name, size_t length, size_t columns, char *out, size_t size);

/* Bytes of the UTF-8 sequence at `text` (of `length` bytes left): 1 to 4, or 0 if it isn't valid.
 */
size_t berth_utf8_length(const char *text, size_t length);

#endif
