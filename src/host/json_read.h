/* Reads JSON from memory, token by token (RFC 8259), without building anything.
 *
 *   berth_json_reader_t reader = berth_json_read(data, size);
 *   while (berth_json_next(&reader)) { reader.token, reader.key, reader.depth, reader.number ... }
 *   if (reader.fault) ...
 */
#ifndef BERTH_SRC_HOST_JSON_READ_H
#define BERTH_SRC_HOST_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BERTH_JSON_DEPTH 32u /* of nesting; more is refused */

typedef enum berth_json_token {
  BERTH_JSON_OPEN,   /* { or [ */
  BERTH_JSON_CLOSE,  /* } or ] */
  BERTH_JSON_STRING, /* `text`, still escaped */
  BERTH_JSON_NUMBER, /* `number`, if `is_whole` */
  BERTH_JSON_WORD    /* true, false, null: `text` */
} berth_json_token_t;

typedef struct berth_json_reader {
  const char *at, *end, *start;
  berth_json_token_t token;
  const char *key; /* of the value inside an object, still escaped; NULL in arrays and outside */
  size_t key_length;
  const char *text;
  size_t length;
  int64_t number;
  bool is_whole;               /* the number is an integer that fits */
  uint32_t depth;              /* of the token; OPEN and its CLOSE have the same */
  char open[BERTH_JSON_DEPTH]; /* '{' or '[' for each level */
  bool wants_comma;
  bool done;
  const char *fault; /* what is wrong; static */
} berth_json_reader_t;

berth_json_reader_t berth_json_read(const void *data, size_t size);

/* The next token; false at the end, or if the text is malformed (`fault` is set then). */
bool berth_json_next(berth_json_reader_t *reader);

/* Is the current key this one? */
bool berth_json_key_is(const berth_json_reader_t *reader, const char *name);

/* Writes a string token without its escapes to `out`, which has room for `length` bytes; how many
 * there are. Half a surrogate pair becomes U+FFFD, a bad escape the character behind it. */
size_t berth_json_unescape(const char *text, size_t length, char *out);

/* Line in which the reader is, from 1. */
uint64_t berth_json_line(const berth_json_reader_t *reader);

#endif
