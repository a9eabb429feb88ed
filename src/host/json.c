/* The JSON writer (RFC 8259). Everything that berth prints with --json goes through it, so that no
 * name, however odd, makes a document that others cannot read. */
#include "host/json.h"
#include "host/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

berth_json_t berth_json_to(FILE *stream) {
  berth_json_t json = {stream, 0, 0, true};
  return json;
}

static void quote(FILE *stream, const char *text, size_t length) {
  fputc('"', stream);
  for (size_t i = 0; i < length;) {
    size_t bytes = berth_utf8_length(text + i, length - i);
    unsigned char c = (unsigned char)text[i];
    if (bytes == 0) {
      fputs("\\ufffd", stream);
      bytes = 1;
    } else if (c == '"' || c == '\\') {
      fprintf(stream, "\\%c", c);
    } else if (c < 0x20 || c == 0x7f) {
      fprintf(stream, "\\u%04x", c);
    } else {
      fwrite(text + i, 1, bytes, stream);
    }
    i += bytes;
  }
  fputc('"', stream);
}

/* What stands before a value: comma, line end, indentation, key. */
static void begin(berth_json_t *json, const char *key) {
  if (json->depth > 0) {
    if (!json->empty) fputc(',', json->stream);
    if (json->flat_from == 0) {
      fprintf(json->stream, "\n%*s", 2 * json->depth, "");
    } else if (!json->empty) {
      fputc(' ', json->stream);
    }
  }
  json->empty = false;
  if (key != NULL) {
    quote(json->stream, key, strlen(key));
    fputs(": ", json->stream);
  }
}

void berth_json_open(berth_json_t *json, const char *key, char bracket) {
  begin(json, key);
  fputc(bracket, json->stream);
  json->depth++;
  json->empty = true;
}

void berth_json_open_line(berth_json_t *json, const char *key, char bracket) {
  berth_json_open(json, key, bracket);
  if (json->flat_from == 0) json->flat_from = json->depth;
}

void berth_json_close(berth_json_t *json, char bracket) {
  bool flat = json->flat_from > 0;
  if (json->flat_from == json->depth) json->flat_from = 0;
  json->depth--;
  if (!json->empty && !flat) fprintf(json->stream, "\n%*s", 2 * json->depth, "");
  fputc(bracket, json->stream);
  json->empty = false;
  if (json->depth == 0) fputc('\n', json->stream);
}

void berth_json_number(berth_json_t *json, const char *key, uint64_t value) {
  begin(json, key);
  fprintf(json->stream, "%" PRIu64, value);
}

void berth_json_signed(berth_json_t *json, const char *key, int64_t value) {
  begin(json, key);
  fprintf(json->stream, "%" PRId64, value);
}

void berth_json_thousandths(berth_json_t *json, const char *key, uint64_t value) {
  begin(json, key);
  fprintf(json->stream, "%" PRIu64 ".%03u", value / 1000, (unsigned)(value % 1000));
}

void berth_json_real(berth_json_t *json, const char *key, double value) {
  begin(json, key);
  if (isfinite(value)) {
    fprintf(json->stream, "%.9g", value);
  } else {
    fputs("null", json->stream);
  }
}

void berth_json_bool(berth_json_t *json, const char *key, bool value) {
  begin(json, key);
  fputs(value ? "true" : "false", json->stream);
}

void berth_json_null(berth_json_t *json, const char *key) {
  begin(json, key);
  fputs("null", json->stream);
}

void berth_json_text(berth_json_t *json, const char *key, const char *text, size_t length) {
  begin(json, key);
  quote(json->stream, text, length);
}

void berth_json_string(berth_json_t *json, const char *key, const char *text) {
  berth_json_text(json, key, text, strlen(text));
}
