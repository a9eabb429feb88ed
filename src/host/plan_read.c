/* Plans from files: every entry must name a tensor of the model (subgraph and index) and give it
 * one offset. The size and the steps that it was planned for may stand there, too. */
#include "host/plan_read.h"
#include "host/csv.h"
#include "host/json_read.h"
#include "host/map.h"
#include <stdlib.h>
#include <string.h>

#define FIELDS 32u

/* One entry, as it is put together. */
typedef struct entry {
  int64_t subgraph, tensor, offset;
  berth_stated_t stated;
  bool has_tensor, has_offset;
} entry_t;

static const entry_t empty = {.stated = {-1, -1, -1}};

static berth_status_t start(const berth_model_t *model, berth_offsets_t *offsets) {
  uint64_t count = 0;
  for (uint32_t s = 0; s < model->subgraph_count; s++) {
    count += berth_model_subgraph(model, s).tensor_count;
  }
  if (count > INT32_MAX) return BERTH_ERROR_OVERFLOW;
  offsets->count = (uint32_t)count;
  offsets->offsets = malloc((size_t)(count > 0 ? count : 1) * sizeof *offsets->offsets);
  offsets->stated = malloc((size_t)(count > 0 ? count : 1) * sizeof *offsets->stated);
  if (offsets->offsets == NULL || offsets->stated == NULL) {
    berth_offsets_free(offsets);
    return BERTH_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < offsets->count; i++) {
    offsets->offsets[i] = -1;
    offsets->stated[i] = empty.stated;
  }
  return BERTH_OK;
}

static berth_status_t put(const berth_model_t *model, const entry_t *entry, const char *path,
                          uint64_t line, berth_offsets_t *offsets, berth_complaint_t *complaint) {
  if (!entry->has_tensor || !entry->has_offset) return BERTH_OK; /* not a tensor, or not placed */
  if (entry->subgraph < 0 || entry->subgraph >= model->subgraph_count || entry->tensor < 0 ||
      entry->tensor >= berth_model_subgraph(model, (uint32_t)entry->subgraph).tensor_count) {
    berth_complain(complaint, "%s: line %llu: the model has no tensor %lld in subgraph %lld", path,
                   (unsigned long long)line, (long long)entry->tensor, (long long)entry->subgraph);
    return BERTH_ERROR_ARGUMENT;
  }
  if (entry->offset < 0 || entry->offset > INT32_MAX) {
    berth_complain(complaint, "%s: line %llu: the offset is out of range", path,
                   (unsigned long long)line);
    return BERTH_ERROR_ARGUMENT;
  }
  uint32_t base = 0;
  for (uint32_t s = 0; s < (uint32_t)entry->subgraph; s++) {
    base += berth_model_subgraph(model, s).tensor_count;
  }
  int32_t *slot = &offsets->offsets[base + (uint32_t)entry->tensor];
  if (*slot != -1) {
    berth_complain(complaint, "%s: line %llu: tensor %lld has an offset already", path,
                   (unsigned long long)line, (long long)entry->tensor);
    return BERTH_ERROR_FORMAT;
  }
  *slot = (int32_t)entry->offset;
  offsets->stated[base + (uint32_t)entry->tensor] = entry->stated;
  return BERTH_OK;
}

/* Takes over a value of a buffer, if it is one of those that matter. False: it is no number. */
static bool take_number(const berth_json_reader_t *reader, const char *path, entry_t *entry,
                        berth_complaint_t *complaint) {
  const struct {
    const char *name;
    int64_t *to;
    bool *has;
    int64_t least; /* of the others is told which tensor there isn't */
  } fields[] = {{"tensor", &entry->tensor, &entry->has_tensor, INT64_MIN},
                {"offset", &entry->offset, &entry->has_offset, INT64_MIN},
                {"subgraph", &entry->subgraph, NULL, INT64_MIN},
                {"size", &entry->stated.size, NULL, 0},
                {"first", &entry->stated.first, NULL, 0},
                {"last", &entry->stated.last, NULL, 0}};
  enum { COUNT = sizeof fields / sizeof *fields };
  int field = 0;
  while (field < COUNT && !berth_json_key_is(reader, fields[field].name)) field++;
  if (field == COUNT || reader->token == BERTH_JSON_WORD) return true; /* null: none */
  if (reader->token != BERTH_JSON_NUMBER || !reader->is_whole ||
      reader->number < fields[field].least) {
    berth_complain(complaint, "%s: line %llu: %.*s is no whole number in range", path,
                   (unsigned long long)berth_json_line(reader), (int)reader->key_length,
                   reader->key);
    return false;
  }
  *fields[field].to = reader->number;
  if (fields[field].has != NULL) *fields[field].has = true;
  return true;
}

static berth_status_t read_json(const berth_model_t *model, const berth_host_map_t *map,
                                const char *path, berth_offsets_t *offsets,
                                berth_complaint_t *complaint) {
  berth_json_reader_t reader = berth_json_read(map->data, (size_t)map->size);
  bool inside = false, found = false; /* of the array "buffers" of the outermost object */
  entry_t entry = empty;
  while (berth_json_next(&reader)) {
    if (reader.depth == 2 && berth_json_key_is(&reader, "buffers")) {
      inside = found = reader.token == BERTH_JSON_OPEN;
    }
    if (!inside) continue;
    if (reader.token == BERTH_JSON_CLOSE && reader.depth == 2) inside = false;
    if (reader.token == BERTH_JSON_OPEN && reader.depth == 3) entry = empty;
    bool is_value = reader.depth == 3 || (reader.depth == 4 && reader.token == BERTH_JSON_OPEN);
    if (is_value && !take_number(&reader, path, &entry, complaint)) {
      return BERTH_ERROR_FORMAT;
    }
    if (reader.token == BERTH_JSON_CLOSE && reader.depth == 3) {
      berth_status_t status =
          put(model, &entry, path, berth_json_line(&reader), offsets, complaint);
      if (status != BERTH_OK) return status;
    }
  }
  if (reader.fault != NULL || !found) {
    berth_complain(complaint, "%s: line %llu: %s", path,
                   (unsigned long long)berth_json_line(&reader),
                   reader.fault != NULL ? reader.fault : "there is no array \"buffers\"");
    return BERTH_ERROR_FORMAT;
  }
  return BERTH_OK;
}

static berth_status_t read_csv(const berth_model_t *model, const berth_host_map_t *map,
                               const char *path, berth_offsets_t *offsets,
                               berth_complaint_t *complaint) {
  static const char *const names[] = {"subgraph", "tensor", "offset", "size", "lower", "upper"};
  enum { SUBGRAPH, TENSOR, OFFSET, SIZE, LOWER, UPPER, COLUMNS };
  berth_csv_field_t fields[FIELDS];
  size_t count, columns[COLUMNS];
  for (int k = 0; k < COLUMNS; k++) columns[k] = SIZE_MAX;
  berth_csv_t csv = berth_csv_over(map->data, (size_t)map->size);
  berth_csv_result_t result = berth_csv_row(&csv, fields, FIELDS, &count);
  for (size_t i = 0; result == BERTH_CSV_ROW && i < count && i < FIELDS; i++) {
    for (int k = 0; k < COLUMNS; k++) {
      if (berth_csv_is(fields[i], names[k])) columns[k] = i;
    }
  }
  if (result == BERTH_CSV_ROW && (columns[TENSOR] == SIZE_MAX || columns[OFFSET] == SIZE_MAX)) {
    berth_complain(complaint, "%s: needs the columns tensor and offset", path);
    return BERTH_ERROR_FORMAT;
  }
  while (result == BERTH_CSV_ROW &&
         (result = berth_csv_row(&csv, fields, FIELDS, &count)) == BERTH_CSV_ROW) {
    entry_t entry = empty;
    uint64_t values[COLUMNS] = {0};
    bool has[COLUMNS] = {false};
    for (int k = 0; k < COLUMNS; k++) {
      if (columns[k] >= count || fields[columns[k]].length == 0) continue;
      has[k] = berth_csv_number(fields[columns[k]], &values[k]) && values[k] <= INT32_MAX;
      if (!has[k]) {
        berth_complain(complaint, "%s: line %llu: %s is no number in range", path,
                       (unsigned long long)csv.line, names[k]);
        return BERTH_ERROR_FORMAT;
      }
    }
    entry.subgraph = (int64_t)values[SUBGRAPH];
    entry.tensor = (int64_t)values[TENSOR];
    entry.offset = (int64_t)values[OFFSET];
    entry.has_tensor = has[TENSOR];
    entry.has_offset = has[OFFSET];
    if (has[SIZE]) entry.stated.size = (int64_t)values[SIZE];
    if (has[LOWER]) entry.stated.first = (int64_t)values[LOWER];
    if (has[UPPER]) entry.stated.last = (int64_t)values[UPPER] - 1; /* it is the first without */
    berth_status_t status = put(model, &entry, path, csv.line, offsets, complaint);
    if (status != BERTH_OK) return status;
  }
  if (result == BERTH_CSV_FAULT) {
    berth_complain(complaint, "%s: line %llu: %s", path, (unsigned long long)csv.line, csv.fault);
    return BERTH_ERROR_FORMAT;
  }
  return BERTH_OK;
}

berth_status_t berth_offsets_read(const berth_model_t *model, const char *path,
                                  berth_offsets_t *offsets, berth_complaint_t *complaint) {
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_status_t status = berth_host_map(path, &map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  size_t length = strlen(path);
  bool is_csv = length > 4 && strcmp(path + length - 4, ".csv") == 0;
  status = start(model, offsets);
  if (status != BERTH_OK) berth_complain(complaint, "%s: %s", path, berth_status_text(status));
  if (status == BERTH_OK) {
    status = is_csv ? read_csv(model, &map, path, offsets, complaint)
                    : read_json(model, &map, path, offsets, complaint);
    if (status != BERTH_OK) berth_offsets_free(offsets);
  }
  berth_host_unmap(&map);
  return status;
}

berth_status_t berth_offsets_of_model(const berth_model_t *model, const char *path,
                                      berth_offsets_t *offsets, berth_complaint_t *complaint) {
  berth_vector_t own;
  const char *fault;
  if (berth_model_offline_plan(model, &own, &fault) != BERTH_OK) {
    berth_complain(complaint, "%s: its %s %s", path, BERTH_OFFLINE_PLAN, fault);
    return BERTH_ERROR_FORMAT;
  }
  if (own.count == 0) {
    berth_complain(complaint, "%s: has no %s, and no plan was given", path, BERTH_OFFLINE_PLAN);
    return BERTH_ERROR_FORMAT;
  }
  berth_status_t status = start(model, offsets);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < offsets->count; i++) {
    offsets->offsets[i] = berth_vector_int(own, i);
  }
  return BERTH_OK;
}

void berth_offsets_free(berth_offsets_t *offsets) {
  free(offsets->offsets);
  free(offsets->stated);
  offsets->offsets = NULL;
  offsets->stated = NULL;
}
