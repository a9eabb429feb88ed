/* The CSV reader and writer. Problems of a million buffers go through it, so fields are slices of
 * the file and nothing is copied that isn't asked for. */
#include "host/csv.h"

#include <string.h>

berth_csv_t berth_csv_over(const void *data, size_t size) {
  berth_csv_t csv = {data, (const char *)data + size, 0, 1, NULL};
  if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) csv.next += 3;
  return csv;
}

static bool at_line_end(const berth_csv_t *csv, const char *at) {
  return at == csv->end || *at == '\n' || (*at == '\r' && at + 1 < csv->end && at[1] == '\n');
}

static bool is_space(char c) {
  return c == ' ' || c == '\t';
}

/* Reads a quoted field from just behind its opening quote; NULL if there is no closing one. */
static const char *read_quoted(berth_csv_t *csv, const char *at, berth_csv_field_t *field) {
  field->data = at;
  field->quoted = true;
  while (at < csv->end) {
    if (*at == '\n') csv->next_line++;
    if (*at != '"') {
      at++;
    } else if (at + 1 < csv->end && at[1] == '"') {
      at += 2;
    } else {
      field->length = (size_t)(at - field->data);
      at++;
      while (at < csv->end && is_space(*at)) at++;
      return at;
    }
  }
  return NULL;
}

static const char *read_plain(const berth_csv_t *csv, const char *at, berth_csv_field_t *field) {
  const char *start = at;
  while (!at_line_end(csv, at) && *at != ',') at++;
  const char *stop = at;
  while (stop > start && is_space(stop[-1])) stop--;
  *field = (berth_csv_field_t){start, (size_t)(stop - start), false};
  return at;
}

static const char *skip_line_end(const berth_csv_t *csv, const char *at) {
  if (at < csv->end && *at == '\r') at++;
  if (at < csv->end && *at == '\n') at++;
  return at;
}

berth_csv_result_t berth_csv_row(berth_csv_t *csv, berth_csv_field_t *fields, size_t room,
                                 size_t *count) {
  while (csv->next < csv->end && at_line_end(csv, csv->next)) {
    csv->next = skip_line_end(csv, csv->next);
    csv->next_line++;
  }
  csv->line = csv->next_line;
  if (csv->next == csv->end) return BERTH_CSV_END;

  const char *at = csv->next;
  *count = 0;
  for (;;) {
    berth_csv_field_t field;
    while (at < csv->end && is_space(*at)) at++;
    if (at < csv->end && *at == '"') {
      at = read_quoted(csv, at + 1, &field);
      if (at == NULL) {
        csv->fault = "a quote is not closed";
        return BERTH_CSV_FAULT;
      }
      if (!at_line_end(csv, at) && *at != ',') {
        csv->fault = "a comma is missing after a closing quote";
        return BERTH_CSV_FAULT;
      }
    } else {
      at = read_plain(csv, at, &field);
    }
    if (*count < room) fields[*count] = field;
    (*count)++;
    if (at_line_end(csv, at)) break;
    at++;
  }
  csv->next = skip_line_end(csv, at);
  csv->next_line++;
  return BERTH_CSV_ROW;
}

bool berth_csv_number(berth_csv_field_t field, uint64_t *value) {
  uint64_t number = 0;
  if (field.length == 0) return false;
  for (size_t i = 0; i < field.length; i++) {
    if (field.data[i] < '0' || field.data[i] > '9') return false;
    uint64_t digit = (uint64_t)(field.data[i] - '0');
    if (number > (UINT64_MAX - digit) / 10) return false;
    number = number * 10 + digit;
  }
  *value = number;
  return true;
}

bool berth_csv_is(berth_csv_field_t field, const char *text) {
  return field.length == strlen(text) && memcmp(field.data, text, field.length) == 0;
}

size_t berth_csv_copy(berth_csv_field_t field, char *out) {
  size_t used = 0;
  for (size_t i = 0; i < field.length; i++) {
    out[used++] = field.data[i];
    if (field.quoted && field.data[i] == '"') i++; /* the second one of the pair */
  }
  out[used] = '\0';
  return used;
}

void berth_csv_write(FILE *stream, const char *text, size_t length) {
  bool plain = length > 0 && !is_space(text[0]) && !is_space(text[length - 1]);
  for (size_t i = 0; i < length && plain; i++) plain = strchr(",\"\r\n", text[i]) == NULL;
  if (length == 0 || plain) {
    fwrite(text, 1, length, stream);
    return;
  }
  fputc('"', stream);
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"') fputc('"', stream);
    fputc(text[i], stream);
  }
  fputc('"', stream);
}
