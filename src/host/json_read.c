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

/* The value of the four hexadecimal digits of \uXXXX at `text`, or 0xfffd if they aren't. */
static uint32_t read_unit(const char *text, size_t left) {
  uint32_t unit = 0;
  for (size_t i = 0; i < 4; i++) {
    char c = i < left ? text[i] : ' ';
    uint32_t digit = is_digit(c)            ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                            : 16;
    if (digit > 15) return 0xfffd;
    unit = unit << 4 | digit;
  }
  return unit;
}

static size_t put_utf8(uint32_t code, char *out) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
  out[0] = (char)((0xf00 >> length & 0xf0) | code);
  return length;
}

/* The character of a \u escape, `*at` being behind the "u"; a pair of surrogates is one. */
static uint32_t read_escaped(const char *text, size_t length, size_t *at) {
  uint32_t code = read_unit(text + *at, length - *at);
  *at = *at + 4 < length ? *at + 4 : length;
  if (code < 0xd800 || code > 0xdfff) return code;
  if (code > 0xdbff || length - *at < 6 || text[*at] != '\\' || text[*at + 1] != 'u') return 0xfffd;
  uint32_t low = read_unit(text + *at + 2, 4);
  if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
  *at += 6;
  return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

size_t berth_json_unescape(const char *text, size_t length, char *out) {
  static const char escapes[] = "b\bf\fn\nr\rt\t";
  size_t used = 0;
  for (size_t at = 0; at < length;) {
    char c = text[at++];
    if (c != '\\' || at == length) {
      out[used++] = c;
      continue;
    }
    c = text[at++];
    if (c == 'u') {
      used += put_utf8(read_escaped(text, length, &at), out + used);
      continue;
    }
    for (size_t i = 0; escapes[i] != '\0'; i += 2) {
      if (escapes[i] == c) {
        c = escapes[i + 1];
        break;
      }
    }
    out[used++] = c;
  }
  return used;
}

uint64_t berth_json_line(const berth_json_reader_t *reader) {
  uint64_t line = 1;
  for (const char *c = reader->start; c < reader->at && c < reader->end; c++) line += *c == '\n';
  return line;
}
