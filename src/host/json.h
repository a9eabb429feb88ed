/* Writes JSON to a stream: two spaces of indentation, keys in the order in which they are written.
 *
 *   berth_json_t json = berth_json_to(stdout);
 *   berth_json_open(&json, NULL, '{');
 *   berth_json_number(&json, "peak_bytes", 55296);
 *   berth_json_close(&json, '}');
 *
 * `key` is NULL for the document itself and inside arrays. Nothing fails here: the stream remembers
 * its errors. */
#ifndef BERTH_SRC_HOST_JSON_H
#define BERTH_SRC_HOST_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct berth_json {
  FILE *stream;
  int depth;     /* of brackets that are open */
  int flat_from; /* depth from which everything goes on one line; 0: nothing does */
  bool empty;    /* nothing yet inside the innermost bracket */
} berth_json_t;

berth_json_t berth_json_to(FILE *stream);

void berth_json_open(berth_json_t *json, const char *key, char bracket);      /* '{' or '[' */
void berth_json_open_line(berth_json_t *json, const char *key, char bracket); /* all on one line */
void berth_json_close(berth_json_t *json, char bracket);                      /* '}' or ']' */

void berth_json_number(berth_json_t *json, const char *key, uint64_t value);
void berth_json_signed(berth_json_t *json, const char *key, int64_t value);
void berth_json_thousandths(berth_json_t *json, const char *key, uint64_t value); /* 1234: 1.234 */
void berth_json_real(berth_json_t *json, const char *key, double value); /* null if not finite */
void berth_json_bool(berth_json_t *json, const char *key, bool value);
void berth_json_null(berth_json_t *json, const char *key);
void berth_json_string(berth_json_t *json, const char *key, const char *text);

/* Text of a given length in any encoding: what is not valid UTF-8 becomes U+FFFD. */
void berth_json_text(berth_json_t *json, const char *key, const char *text, size_t length);

#endif
