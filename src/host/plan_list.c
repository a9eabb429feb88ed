/* Plans as lists. Readers take what is there: a dump of another tool need not have all columns. */
#include "host/plan_list.h"
#include "host/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 32u

void berth_plan_list_free(berth_plan_list_t *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    free(list->entries[i].key);
    free(list->entries[i].name);
  }
  free(list->entries);
  *list = (berth_plan_list_t){NULL, 0, 0, 0};
}

static char *copy(const char *text, size_t length) {
  char *made = malloc(length + 1);
  if (made == NULL) return NULL;
  memcpy(made, text, length);
  made[length] = '\0';
  return made;
}

/* Appends an entry and takes over its key and name; MEMORY frees them. */
static berth_status_t append(berth_plan_list_t *list, berth_listed_t *entry) {
  berth_listed_t *entries = NULL;
  if (entry->key == NULL) entry->key = copy("", 0);
  if (entry->name == NULL) entry->name = copy("", 0);
  bool full = list->count == 0 || (list->count & (list->count - 1)) == 0; /* a power of two */
  if (entry->key != NULL && entry->name != NULL) {
    entries = full ? realloc(list->entries, 2 * ((size_t)list->count + 1) * sizeof *entries)
                   : list->entries;
  }
  if (entries == NULL) {
    free(entry->key);
    free(entry->name);
    return BERTH_ERROR_MEMORY;
  }
  list->entries = entries;
  entries[list->count++] = *entry;
  list->sum += entry->size;
  if (entry->has_offset && entry->size > 0 && entry->offset + entry->size > list->peak) {
    list->peak = entry->offset + entry->size;
  }
  *entry = (berth_listed_t){.raw = UINT64_MAX};
  return BERTH_OK;
}

/* ---- Planned files --------------------------------------------------------------------------- */

berth_status_t berth_plan_list_of(const berth_plan_report_t *report, berth_plan_list_t *list) {
  const berth_subject_t *subject = report->subject;
  berth_plan_list_t made = {NULL, 0, 0, 0};
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    const berth_placement_t *place = &report->outcome->plan.placements[i];
    char key[128];
    if (label->tensor != BERTH_NOBODY) {
      snprintf(key, sizeof key, "%" PRIu32 ":%" PRIu32, label->subgraph, label->tensor);
    } else {
      snprintf(key, sizeof key, "%s %.*s",
               label->has_kind ? berth_buffer_kind_name(label->kind) : "buffer",
               (int)(label->name.length < 80 ? label->name.length : 80), label->name.data);
    }
    berth_listed_t entry = {.key = copy(key, strlen(key)),
                            .name = copy(label->name.data, label->name.length),
                            .size = buffer->size,
                            .raw = subject->is_model ? label->bytes : UINT64_MAX,
                            .offset = place->offset,
                            .first = buffer->first,
                            .last = buffer->last,
                            .has_offset = place->region != BERTH_OUTSIDE,
                            .has_life = true};
    berth_status_t status = append(&made, &entry);
    if (status != BERTH_OK) {
      berth_plan_list_free(&made);
      return status;
    }
  }
  *list = made;
  return BERTH_OK;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void take_key(berth_listed_t *entry, int64_t subgraph, int64_t tensor) {
  char key[48];
  if (tensor < 0) return;
  free(entry->key);
  snprintf(key, sizeof key, "%" PRId64 ":%" PRId64, subgraph < 0 ? 0 : subgraph, tensor);
  entry->key = copy(key, strlen(key));
}

enum {
  ID,
  NAME,
  SUBGRAPH,
  TENSOR,
  INDEX,
  KIND,
  SIZE,
  RAW,
  OFFSET,
  FIRST,
  LAST,
  LOWER,
  UPPER,
  COLUMNS
};
static const char *const columns[COLUMNS] = {"id",   "name",  "subgraph",  "tensor", "index",
                                             "kind", "size",  "raw_bytes", "offset", "first",
                                             "last", "lower", "upper"};

static bool find_columns(const berth_csv_field_t *fields, size_t count, size_t *at) {
  for (int c = 0; c < COLUMNS; c++) at[c] = SIZE_MAX;
  for (size_t i = 0; i < count && i < FIELDS; i++) {
    for (int c = 0; c < COLUMNS; c++) {
      if (berth_csv_is(fields[i], columns[c])) at[c] = i;
    }
  }
  return at[SIZE] != SIZE_MAX && at[OFFSET] != SIZE_MAX;
}

static char *text_of(const berth_csv_field_t *fields, size_t count, size_t at) {
  if (at >= count || at >= FIELDS) return NULL;
  char *text = malloc(fields[at].length + 1);
  if (text != NULL) berth_csv_copy(fields[at], text);
  return text;
}

static bool number_of(const berth_csv_field_t *fields, size_t count, size_t at, uint64_t *value) {
  return at < count && at < FIELDS && berth_csv_number(fields[at], value) &&
         *value <= (uint64_t)INT64_MAX / 4;
}

/* One row; false: a size is missing or no number. */
static bool take_row(const berth_csv_field_t *fields, size_t count, const size_t *at,
                     berth_listed_t *entry) {
  uint64_t subgraph = 0, tensor, upper;
  *entry = (berth_listed_t){.raw = UINT64_MAX};
  if (!number_of(fields, count, at[SIZE], &entry->size)) return false;
  entry->has_offset = number_of(fields, count, at[OFFSET], &entry->offset);
  if (!number_of(fields, count, at[RAW], &entry->raw)) entry->raw = UINT64_MAX;
  bool first = number_of(fields, count, at[FIRST], &entry->first) ||
               number_of(fields, count, at[LOWER], &entry->first);
  entry->has_life = first && number_of(fields, count, at[LAST], &entry->last);
  if (first && !entry->has_life && number_of(fields, count, at[UPPER], &upper) && upper > 0) {
    entry->last = upper - 1;
    entry->has_life = true;
  }
  entry->name = text_of(fields, count, at[NAME]);
  number_of(fields, count, at[SUBGRAPH], &subgraph);
  char *kind = text_of(fields, count, at[KIND]);
  bool other = kind != NULL && (strcmp(kind, "scratch") == 0 || strcmp(kind, "workspace") == 0);
  bool has_tensor = !other && (number_of(fields, count, at[TENSOR], &tensor) ||
                               number_of(fields, count, at[INDEX], &tensor));
  if (has_tensor) {
    take_key(entry, (int64_t)subgraph, (int64_t)tensor);
  } else if (other) {
    char key[96];
    char *index = text_of(fields, count, at[INDEX]);
    snprintf(key, sizeof key, "%s %.60s", kind, index != NULL ? index : "");
    entry->key = copy(key, strlen(key));
    free(index);
  } else {
    entry->key = text_of(fields, count, at[ID]);
  }
  free(kind);
  return true;
}

static berth_status_t read_csv(const berth_host_map_t *map, const char *path,
                               berth_plan_list_t *list, berth_complaint_t *complaint) {
  berth_csv_field_t fields[FIELDS];
  size_t count, at[COLUMNS];
  berth_csv_t csv = berth_csv_over(map->data, (size_t)map->size);
  berth_csv_result_t result = berth_csv_row(&csv, fields, FIELDS, &count);
  if (result != BERTH_CSV_ROW || !find_columns(fields, count, at)) {
    berth_complain(complaint, "%s: needs the columns size and offset", path);
    return BERTH_ERROR_FORMAT;
  }
  while ((result = berth_csv_row(&csv, fields, FIELDS, &count)) == BERTH_CSV_ROW) {
    berth_listed_t entry;
    if (!take_row(fields, count, at, &entry)) {
      berth_complain(complaint, "%s:%" PRIu64 ": column size: no number in range", path, csv.line);
      return BERTH_ERROR_FORMAT;
    }
    berth_status_t status = append(list, &entry);
    if (status != BERTH_OK) {
      berth_complain(complaint, "%s: out of memory", path);
      return status;
    }
  }
  if (result == BERTH_CSV_END) return BERTH_OK;
  berth_complain(complaint, "%s:%" PRIu64 ": %s", path, csv.line, csv.fault);
  return BERTH_ERROR_FORMAT;
}

/* ---- Dumps ----------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), wanted = strlen(end);
  return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

bool berth_plan_list_is_dump(const char *path) {
  if (!ends_with(path, ".csv")) return false;
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  if (berth_host_map(path, &map, message) != BERTH_OK) return false; /* told when it is opened */
  berth_csv_field_t fields[FIELDS];
  size_t count, at[COLUMNS];
  berth_csv_t csv = berth_csv_over(map.data, (size_t)map.size);
  bool dump = berth_csv_row(&csv, fields, FIELDS, &count) == BERTH_CSV_ROW &&
              find_columns(fields, count, at);
  berth_host_unmap(&map);
  return dump;
}

berth_status_t berth_plan_list_read(const char *path, berth_plan_list_t *list,
                                    berth_complaint_t *complaint) {
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_plan_list_t made = {NULL, 0, 0, 0};
  berth_status_t status = berth_host_map(path, &map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  status = read_csv(&map, path, &made, complaint);
  berth_host_unmap(&map);
  if (status == BERTH_OK) {
    *list = made;
  } else {
    berth_plan_list_free(&made);
  }
  return status;
}
