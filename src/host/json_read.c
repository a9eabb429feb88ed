/* The JSON reader: one pass, no memory, every byte checked. */
#include "host/json_read.h"
#include <string.h>

berth_json_reader_t berth_json_read(const void *data, size_t size) {
  berth_json_reader_t reader;
  memset(&reader, 0, sizeof reader);
  reader.start = data;
  reader.at = data;
  reader.end = reader.at + size;
  return reader;
}

static bool fail(berth_json_reader_t *reader, const char *fault) {
  reader->fault = fault;
  reader->done = true;
  return false;
}

static void skip_space(berth_json_reader_t *reader) {
  while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' ||
                                      *reader->at == '\n' || *reader->at == '\r')) {
    reader->at++;
  }
}

/* From a quote to the one that ends the string. */
static bool read_string(berth_json_reader_t *reader, const char **text, size_t *length) {
  const char *from = ++reader->at;
  while (reader->at < reader->end && *reader->at != '"') {
    if ((unsigned char)*reader->at < 0x20) return fail(reader, "a control character in a string");
    reader->at += *reader->at == '\\' ? 2 : 1;
  }
  if (reader->at >= reader->end) return fail(reader, "a string that does not end");
  *text = from;
  *length = (size_t)(reader->at - from);
  reader->at++;
  return true;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool read_number(berth_json_reader_t *reader) {
  const char *from = reader->at;
  bool negative = *reader->at == '-';
  if (negative) reader->at++;
  if (reader->at == reader->end || !is_digit(*reader->at)) return fail(reader, "a bad number");
  uint64_t value = 0;
  reader->is_whole = true;
  while (reader->at < reader->end && is_digit(*reader->at)) {
    if (value > (INT64_MAX - 9) / 10) reader->is_whole = false;
    value = value * 10 + (uint64_t)(*reader->at++ - '0');
  }
  while (reader->at < reader->end && (is_digit(*reader->at) || strchr(".eE+-", *reader->at))) {
    reader->is_whole = false;
    reader->at++;
  }
  reader->number = !reader->is_whole ? 0 : negative ? -(int64_t)value : (int64_t)value;
  reader->text = from;
  reader->length = (size_t)(reader->at - from);
  reader->token = BERTH_JSON_NUMBER;
  return true;
}

static bool read_word(berth_json_reader_t *reader) {
  static const char *const words[] = {"true", "false", "null"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t length = strlen(words[i]);
    if ((size_t)(reader->end - reader->at) >= length && memcmp(reader->at, words[i], length) == 0) {
      reader->text = reader->at;
      reader->length = length;
      reader->at += length;
      reader->token = BERTH_JSON_WORD;
      return true;
    }
  }
  return fail(reader, "something that is no value");
}

static bool read_value(berth_json_reader_t *reader) {
  char c = *reader->at;
  if (c == '{' || c == '[') {
    if (reader->depth == BERTH_JSON_DEPTH) return fail(reader, "nested too deeply");
    reader->open[reader->depth++] = c;
    reader->at++;
    reader->token = BERTH_JSON_OPEN;
    reader->wants_comma = false;
    return true;
  }
  reader->wants_comma = true;
  if (c == '"') {
    reader->token = BERTH_JSON_STRING;
    return read_string(reader, &reader->text, &reader->length);
  }
  return c == '-' || is_digit(c) ? read_number(reader) : read_word(reader);
}

bool berth_json_next(berth_json_reader_t *reader) {
  if (reader->done) return false;
  if (reader->token == BERTH_JSON_CLOSE && reader->depth > 0 && reader->wants_comma) {
    reader->depth--; /* the level that the last token closed */
    if (reader->depth == 0) reader->done = true;
  }
  skip_space(reader);
  if (reader->done) {
    if (reader->at < reader->end) reader->fault = "something behind the end";
    return false;
  }
  if (reader->at == reader->end) return fail(reader, "it ends too early");
  if (reader->depth == 0) {
    if (*reader->at != '{' && *reader->at != '[') return fail(reader, "no object and no array");
    return read_value(reader);
  }
  char open = reader->open[reader->depth - 1];
  if (*reader->at == (open == '{' ? '}' : ']')) {
    reader->at++;
    reader->key = NULL;
    reader->token = BERTH_JSON_CLOSE;
    reader->wants_comma = true;
    return true;
  }
  if (reader->wants_comma) {
    if (*reader->at != ',') return fail(reader, "a comma is missing");
    reader->at++;
    skip_space(reader);
  }
  reader->key = NULL;
  if (open == '{') {
    if (reader->at == reader->end || *reader->at != '"') return fail(reader, "a key is missing");
    if (!read_string(reader, &reader->key, &reader->key_length)) return false;
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != ':') return fail(reader, "a colon is missing");
    reader->at++;
    skip_space(reader);
  }
  if (reader->at == reader->end) return fail(reader, "it ends too early");
  return read_value(reader);
}

bool berth_json_key_is(const berth_json_reader_t *reader, const char *name) {
  return reader->key != NULL && strlen(name) == reader->key_length &&
         memcmp(name, reader->key, reader->key_length) == 0;
}

uint64_t berth_json_line(const berth_json_reader_t *reader) {
  uint64_t line = 1;
  for (const char *c = reader->start; c < reader->at && c < reader->end; c++) line += *c == '\n';
  return line;
}
