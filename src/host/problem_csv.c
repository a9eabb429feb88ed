/* Problem files and pair files. A header line names the columns, in any order; columns that Berth
 * doesn't know are ignored. Every complaint names file, line and column. */
#include "host/problem_csv.h"
#include "host/csv.h"
#include "plan/round.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX 64

enum { ID, LOWER, UPPER, SIZE, ALIGN, FIXED, REGION, TRAFFIC, CONST, PROBLEM_COLUMNS };
static const char *const problem_columns[PROBLEM_COLUMNS] = {
    "id", "lower", "upper", "size", "align", "fixed", "region", "traffic", "const"};

enum { A, B, RELATION, BYTES, PAIR_COLUMNS };
static const char *const pair_columns[PAIR_COLUMNS] = {"a", "b", "relation", "bytes"};

/* A CSV file being read, with the place of each column that matters. */
typedef struct sheet {
  const char *path;
  berth_csv_t csv;
  berth_csv_field_t fields[FIELDS_MAX];
  size_t count; /* fields in the header, and so in each row */
  const char *const *names;
  size_t places[PROBLEM_COLUMNS]; /* FIELDS_MAX: the file doesn't have the column */
  berth_complaint_t *complaint;
} sheet_t;

static berth_status_t refuse(sheet_t *sheet, const char *what) {
  berth_complain(sheet->complaint, "%s:%" PRIu64 ": %s", sheet->path, sheet->csv.line, what);
  return BERTH_ERROR_FORMAT;
}

static berth_status_t refuse_field(sheet_t *sheet, size_t column, const char *what) {
  berth_csv_field_t field = sheet->fields[sheet->places[column]];
  berth_complain(sheet->complaint, "%s:%" PRIu64 ": column %s: \"%.*s\" %s", sheet->path,
                 sheet->csv.line, sheet->names[column],
                 (int)(field.length < 40 ? field.length : 40), field.data, what);
  return BERTH_ERROR_FORMAT;
}

static bool has(const sheet_t *sheet, size_t column) {
  size_t place = sheet->places[column];
  return place < FIELDS_MAX && sheet->fields[place].length > 0;
}

/* Reads the header; the first `required` columns must be there. */
static berth_status_t read_header(sheet_t *sheet, const char *const *names, size_t columns,
                                  size_t required) {
  sheet->names = names;
  berth_csv_result_t result = berth_csv_row(&sheet->csv, sheet->fields, FIELDS_MAX, &sheet->count);
  if (result == BERTH_CSV_FAULT) return refuse(sheet, sheet->csv.fault);
  if (result == BERTH_CSV_END) return refuse(sheet, "the header line is missing");
  if (sheet->count > FIELDS_MAX) return refuse(sheet, "there are more than 64 columns");
  for (size_t c = 0; c < columns; c++) {
    sheet->places[c] = FIELDS_MAX;
    for (size_t i = 0; i < sheet->count; i++) {
      if (!berth_csv_is(sheet->fields[i], names[c])) continue;
      if (sheet->places[c] != FIELDS_MAX) return refuse(sheet, "a column appears twice");
      sheet->places[c] = i;
    }
    if (sheet->places[c] == FIELDS_MAX && c < required) {
      berth_complain(sheet->complaint, "%s:%" PRIu64 ": there is no column \"%s\"", sheet->path,
                     sheet->csv.line, names[c]);
      return BERTH_ERROR_FORMAT;
    }
  }
  return BERTH_OK;
}

static berth_status_t read_row(sheet_t *sheet, bool *more) {
  size_t count;
  berth_csv_result_t result = berth_csv_row(&sheet->csv, sheet->fields, FIELDS_MAX, &count);
  *more = result == BERTH_CSV_ROW;
  if (result == BERTH_CSV_FAULT) return refuse(sheet, sheet->csv.fault);
  if (result == BERTH_CSV_ROW && count != sheet->count) {
    berth_complain(sheet->complaint, "%s:%" PRIu64 ": %zu fields where the header has %zu",
                   sheet->path, sheet->csv.line, count, sheet->count);
    return BERTH_ERROR_FORMAT;
  }
  return BERTH_OK;
}

static berth_status_t number(sheet_t *sheet, size_t column, uint64_t most, uint64_t *value) {
  if (!berth_csv_number(sheet->fields[sheet->places[column]], value)) {
    return refuse_field(sheet, column, "is not a whole number from 0 to 2^64 - 1");
  }
  if (*value > most) return refuse_field(sheet, column, "is too large");
  return BERTH_OK;
}

/* Names of regions joined by |, as a bit mask. */
static berth_status_t region_mask(sheet_t *sheet, const berth_subject_options_t *options,
                                  uint32_t *mask) {
  berth_csv_field_t field = sheet->fields[sheet->places[REGION]];
  const char *at = field.data, *end = field.data + field.length;
  *mask = 0;
  while (at <= end) {
    const char *bar = memchr(at, '|', (size_t)(end - at));
    berth_csv_field_t name = {at, (size_t)((bar != NULL ? bar : end) - at), false};
    uint32_t r = 0;
    while (r < options->region_count && !berth_csv_is(name, options->regions[r].name)) r++;
    if (r == options->region_count) {
      return refuse_field(sheet, REGION, "names a region that no --region describes");
    }
    *mask |= 1u << r;
    at += name.length + 1;
  }
  return BERTH_OK;
}

static berth_status_t read_buffer(sheet_t *sheet, const berth_subject_options_t *options,
                                  berth_buffer_t *buffer) {
  uint64_t lower, upper, size;
  berth_status_t status = number(sheet, LOWER, UINT32_MAX - 1, &lower);
  if (status == BERTH_OK) status = number(sheet, UPPER, UINT32_MAX - 1, &upper);
  if (status == BERTH_OK) status = number(sheet, SIZE, UINT64_MAX, &size);
  if (status != BERTH_OK) return status;
  if (upper <= lower) return refuse(sheet, "upper is not greater than lower");

  *buffer = berth_buffer(size, (uint32_t)lower, (uint32_t)(upper - 1));
  if (has(sheet, ALIGN)) status = number(sheet, ALIGN, UINT64_MAX, &buffer->align);
  if (status == BERTH_OK && buffer->align == 0) {
    return refuse_field(sheet, ALIGN, "is not an alignment");
  }
  if (status == BERTH_OK && has(sheet, FIXED)) {
    status = number(sheet, FIXED, UINT64_MAX - 1, &buffer->fixed);
  }
  if (status == BERTH_OK && has(sheet, TRAFFIC)) {
    status = number(sheet, TRAFFIC, UINT64_MAX, &buffer->traffic);
  }
  if (status == BERTH_OK && has(sheet, CONST)) {
    uint64_t constant;
    status = number(sheet, CONST, 1, &constant);
    buffer->constant = status == BERTH_OK && constant == 1;
  }
  if (status == BERTH_OK && has(sheet, REGION)) {
    status = region_mask(sheet, options, &buffer->regions);
  }
  if (status != BERTH_OK) return status;

  uint64_t align = options->align;
  if (align > 1) {
    /* Both alignments must hold; in practice both are powers of two. */
    uint64_t larger = buffer->align > align ? buffer->align : align;
    uint64_t smaller = buffer->align > align ? align : buffer->align;
    if (larger % smaller != 0) return refuse(sheet, "align and --align do not go together");
    buffer->align = larger;
    if (size > UINT64_MAX - align) return refuse_field(sheet, SIZE, "is too large");
    buffer->size = berth_round_up(size, align);
  }
  return BERTH_OK;
}

/* An upper limit of the number of rows. */
static size_t count_lines(const berth_host_map_t *map) {
  size_t lines = 1;
  const uint8_t *at = map->data, *end = map->data + map->size;
  while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
    lines++;
    at++;
  }
  return lines;
}

/* Two buffers of one name could not be told apart in pairs and plans. */
typedef struct named {
  berth_text_t name;
  uint32_t index;
} named_t;

static int compare_names(const void *x, const void *y) {
  const named_t *a = x, *b = y;
  uint32_t shared = a->name.length < b->name.length ? a->name.length : b->name.length;
  int order = shared > 0 ? memcmp(a->name.data, b->name.data, shared) : 0;
  if (order != 0) return order;
  if (a->name.length != b->name.length) return a->name.length < b->name.length ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}

static bool same_name(const named_t *a, const named_t *b) {
  return a->name.length == b->name.length &&
         (a->name.length == 0 || memcmp(a->name.data, b->name.data, a->name.length) == 0);
}

/* The labels, sorted by name; the caller frees it. NULL: out of memory. */
static named_t *sort_names(const berth_subject_t *subject) {
  uint32_t count = subject->problem.buffer_count;
  named_t *names = malloc(((size_t)count + 1) * sizeof *names);
  if (names == NULL) return NULL;
  for (uint32_t i = 0; i < count; i++) names[i] = (named_t){subject->labels[i].name, i};
  qsort(names, count, sizeof *names, compare_names);
  return names;
}

static berth_status_t out_of_memory(const char *path, berth_complaint_t *complaint) {
  berth_complain(complaint, "%s: out of memory", path);
  return BERTH_ERROR_MEMORY;
}

static berth_status_t check_names(const berth_subject_t *subject, berth_complaint_t *complaint) {
  named_t *names = sort_names(subject);
  if (names == NULL) return out_of_memory(subject->path, complaint);
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 1; i < subject->problem.buffer_count && status == BERTH_OK; i++) {
    if (!same_name(&names[i - 1], &names[i])) continue;
    berth_complain(complaint,
                   "%s: buffer %" PRIu32 ": the id \"%.*s\" is already that of buffer %" PRIu32,
                   subject->path, names[i].index, (int)names[i].name.length, names[i].name.data,
                   names[i - 1].index);
    status = BERTH_ERROR_FORMAT;
  }
  free(names);
  return status;
}

berth_status_t berth_problem_csv_read(berth_subject_t *subject,
                                      const berth_subject_options_t *options,
                                      berth_complaint_t *complaint) {
  sheet_t sheet = {.path = subject->path, .complaint = complaint};
  sheet.csv = berth_csv_over(subject->map.data, (size_t)subject->map.size);
  berth_status_t status = read_header(&sheet, problem_columns, PROBLEM_COLUMNS, SIZE + 1);
  if (status != BERTH_OK) return status;

  size_t rows = count_lines(&subject->map) + options->reserve_count;
  if (rows >= UINT32_MAX) return refuse(&sheet, "the file has too many lines");
  berth_buffer_t *buffers = malloc(rows * sizeof *buffers);
  berth_label_t *labels = malloc(rows * sizeof *labels);
  char *names = malloc((size_t)subject->map.size + rows);
  subject->memory[BERTH_SUBJECT_BUFFERS] = buffers;
  subject->memory[BERTH_SUBJECT_LABELS] = labels;
  subject->memory[BERTH_SUBJECT_GROUND] = names;
  if (buffers == NULL || labels == NULL || names == NULL) {
    return out_of_memory(subject->path, complaint);
  }

  uint32_t count = 0;
  uint64_t end = 0;
  for (bool more;;) {
    status = read_row(&sheet, &more);
    if (status != BERTH_OK) return status;
    if (!more) break;
    status = read_buffer(&sheet, options, &buffers[count]);
    if (status != BERTH_OK) return status;
    size_t length = berth_csv_copy(sheet.fields[sheet.places[ID]], names);
    labels[count] = (berth_label_t){.name = {names, (uint32_t)length},
                                    .bytes = buffers[count].size,
                                    .subgraph = BERTH_NOBODY,
                                    .tensor = BERTH_NOBODY,
                                    .kind = BERTH_KIND_ACTIVATION};
    uint64_t size;
    if (berth_csv_number(sheet.fields[sheet.places[SIZE]], &size)) labels[count].bytes = size;
    names += length + 1;
    if (buffers[count].last >= end) end = (uint64_t)buffers[count].last + 1;
    count++;
  }
  subject->buffers = buffers;
  subject->problem.buffers = buffers;
  subject->problem.buffer_count = count;
  subject->labels = labels;
  subject->step_count = (uint32_t)end;
  return check_names(subject, complaint);
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

static berth_status_t find_buffer(sheet_t *sheet, const berth_subject_t *subject,
                                  const named_t *names, size_t column, char *text,
                                  uint32_t *index) {
  berth_csv_field_t field = sheet->fields[sheet->places[column]];
  if (subject->is_model) {
    uint64_t value;
    if (berth_csv_number(field, &value) && value < subject->problem.buffer_count) {
      *index = (uint32_t)value;
      return BERTH_OK;
    }
    return refuse_field(sheet, column, "is not the id of a buffer");
  }
  named_t wanted = {{text, (uint32_t)berth_csv_copy(field, text)}, 0};
  size_t low = 0, high = subject->problem.buffer_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_names(&names[middle], &wanted) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == subject->problem.buffer_count || !same_name(&names[low], &wanted)) {
    return refuse_field(sheet, column, "is not the id of a buffer");
  }
  *index = names[low].index;
  return BERTH_OK;
}

static berth_status_t read_pair(sheet_t *sheet, const berth_subject_t *subject,
                                const named_t *names, char *text, berth_pair_t *pair) {
  static const char *const relations[] = {"share", "apart", "head", "tail", "over"};
  static const berth_relation_t meanings[] = {BERTH_SHARE, BERTH_APART, BERTH_HEAD, BERTH_TAIL,
                                              BERTH_OVER};
  const size_t count = sizeof meanings / sizeof *meanings;
  *pair = (berth_pair_t){0};
  berth_status_t status = find_buffer(sheet, subject, names, A, text, &pair->a);
  if (status == BERTH_OK) status = find_buffer(sheet, subject, names, B, text, &pair->b);
  if (status != BERTH_OK) return status;
  if (pair->a == pair->b) return refuse(sheet, "a and b are the same buffer");

  size_t r = 0;
  while (r < count && !berth_csv_is(sheet->fields[sheet->places[RELATION]], relations[r])) r++;
  if (r == count) return refuse_field(sheet, RELATION, "is not share, apart, head, tail or over");
  pair->relation = meanings[r];
  if (pair->relation != BERTH_HEAD && pair->relation != BERTH_TAIL) return BERTH_OK;
  if (!has(sheet, BYTES)) return refuse(sheet, "head and tail need bytes");
  status = number(sheet, BYTES, subject->problem.buffers[pair->a].size, &pair->bytes);
  if (status == BERTH_OK && pair->bytes == 0) return refuse_field(sheet, BYTES, "is nothing");
  return status;
}

berth_status_t berth_pairs_csv_read(berth_subject_t *subject, const char *path,
                                    berth_complaint_t *complaint) {
  berth_host_map_t map;
  char message[BERTH_HOST_MESSAGE];
  berth_status_t status = berth_host_map(path, &map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  sheet_t sheet = {.path = path, .complaint = complaint};
  sheet.csv = berth_csv_over(map.data, (size_t)map.size);
  named_t *names = sort_names(subject);
  size_t rows = count_lines(&map);
  berth_pair_t *pairs = malloc(rows * sizeof *pairs);
  char *text = malloc((size_t)map.size + 1);
  subject->memory[BERTH_SUBJECT_PAIRS] = pairs;
  status = names == NULL || pairs == NULL || text == NULL
               ? out_of_memory(path, complaint)
               : read_header(&sheet, pair_columns, PAIR_COLUMNS, RELATION + 1);
  uint32_t count = 0;
  for (bool more = true; status == BERTH_OK;) {
    status = read_row(&sheet, &more);
    if (status != BERTH_OK || !more) break;
    status = read_pair(&sheet, subject, names, text, &pairs[count]);
    count++;
  }
  free(text);
  free(names);
  berth_host_unmap(&map);
  if (status == BERTH_OK && count > 0) {
    subject->problem.pairs = pairs;
    subject->problem.pair_count = count;
  }
  return status;
}
