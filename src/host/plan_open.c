/* Saved plans. Two passes over the tokens: the first counts buffers and regions, the second fills
 * what was allocated for them. Values are checked as they come; what is missing keeps a value that
 * the checks at the end refuse. */
#include "host/plan_open.h"
#include "host/anatomy.h"
#include "host/json_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum section { NOWHERE, BUFFERS, REGIONS } section_t;

typedef struct loading {
  const char *path;
  berth_complaint_t *complaint;
  berth_json_reader_t reader;
  section_t section; /* the array of the document in which the reader is */
  berth_subject_t *subject;
  berth_outcome_t *outcome;
  berth_named_region_t *regions;
  char *texts; /* strings without their escapes: never longer than the file */
  uint32_t buffer_count, region_count;
  const char *planner;
  bool planned;
} loading_t;

static berth_status_t wrong(loading_t *loading, const char *what) {
  berth_complain(loading->complaint, "%s:%" PRIu64 ": %s", loading->path,
                 berth_json_line(&loading->reader), what);
  return BERTH_ERROR_FORMAT;
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

/* The next token, keeping track of the section; false at the end. */
static bool next(loading_t *loading) {
  berth_json_reader_t *reader = &loading->reader;
  if (!berth_json_next(reader)) return false;
  if (reader->depth == 2 && reader->token == BERTH_JSON_OPEN) {
    loading->section = berth_json_key_is(reader, "buffers")   ? BUFFERS
                       : berth_json_key_is(reader, "regions") ? REGIONS
                                                              : NOWHERE;
  }
  if (reader->depth == 2 && reader->token == BERTH_JSON_CLOSE) loading->section = NOWHERE;
  return true;
}

/* The string at hand without escapes; a lone surrogate becomes U+FFFD. */
static berth_text_t take_text(loading_t *loading) {
  const char *from = loading->reader.text;
  size_t length = berth_json_unescape(from, loading->reader.length, loading->texts);
  berth_text_t text = {loading->texts, (uint32_t)length};
  loading->texts += length;
  *loading->texts++ = '\0'; /* the quotes that are gone leave room for it */
  return text;
}

static bool take_number(const berth_json_reader_t *reader, uint64_t most, uint64_t *value) {
  if (reader->token != BERTH_JSON_NUMBER || !reader->is_whole || reader->number < 0) return false;
  if ((uint64_t)reader->number > most) return false;
  *value = (uint64_t)reader->number;
  return true;
}

static bool is_word(const berth_json_reader_t *reader, const char *word) {
  return reader->token == BERTH_JSON_WORD && reader->length == strlen(word) &&
         memcmp(reader->text, word, reader->length) == 0;
}

/* ---- Buffers and regions --------------------------------------------------------------------- */

static bool take_kind(const berth_json_reader_t *reader, berth_label_t *label) {
  for (int kind = BERTH_KIND_INPUT; kind <= BERTH_KIND_RESERVED; kind++) {
    const char *name = berth_buffer_kind_name((berth_buffer_kind_t)kind);
    if (strlen(name) != reader->length || memcmp(name, reader->text, reader->length) != 0) continue;
    label->kind = (berth_buffer_kind_t)kind;
    label->has_kind = true;
    return true;
  }
  return false;
}

static berth_status_t take_region(loading_t *loading, uint32_t *region) {
  berth_text_t name = take_text(loading);
  for (uint32_t r = 0; r < loading->region_count; r++) {
    if (strcmp(loading->regions[r].name, name.data) == 0) {
      *region = r;
      return BERTH_OK;
    }
  }
  *region = strcmp(name.data, "outside") == 0 ? BERTH_OUTSIDE : 0;
  if (*region == BERTH_OUTSIDE || loading->region_count == 0) return BERTH_OK;
  return wrong(loading, "a region that is not in the list of regions before it");
}

/* One value of buffer number `index`. */
static berth_status_t take_buffer_value(loading_t *loading, uint32_t index) {
  const berth_json_reader_t *reader = &loading->reader;
  berth_buffer_t *buffer = &loading->subject->buffers[index];
  berth_label_t *label = &loading->subject->labels[index];
  berth_placement_t *place = &loading->outcome->plan.placements[index];
  bool text = reader->token == BERTH_JSON_STRING;
  uint64_t value = 0;
  if (berth_json_key_is(reader, "name") && text) label->name = take_text(loading);
  if (berth_json_key_is(reader, "kind") && text && !take_kind(reader, label)) {
    return wrong(loading, "an unknown kind of buffer");
  }
  if (berth_json_key_is(reader, "region") && text) return take_region(loading, &place->region);
  if (berth_json_key_is(reader, "size")) {
    if (!take_number(reader, INT64_MAX, &buffer->size)) return wrong(loading, "a bad size");
    label->bytes = buffer->size;
  }
  if (berth_json_key_is(reader, "offset") && !is_word(reader, "null") &&
      !take_number(reader, INT64_MAX, &place->offset)) {
    return wrong(loading, "a bad offset");
  }
  if (berth_json_key_is(reader, "first") || berth_json_key_is(reader, "last")) {
    if (!take_number(reader, UINT32_MAX - 1, &value)) return wrong(loading, "a bad step");
    *(berth_json_key_is(reader, "first") ? &buffer->first : &buffer->last) = (uint32_t)value;
  }
  return BERTH_OK;
}

static berth_status_t take_region_value(loading_t *loading, berth_region_t *region,
                                        berth_named_region_t *named) {
  const berth_json_reader_t *reader = &loading->reader;
  if (berth_json_key_is(reader, "name") && reader->token == BERTH_JSON_STRING) {
    named->name = take_text(loading).data;
  }
  if (berth_json_key_is(reader, "capacity_bytes") && !is_word(reader, "null") &&
      !take_number(reader, INT64_MAX, &region->capacity)) {
    return wrong(loading, "a bad capacity");
  }
  if (berth_json_key_is(reader, "cost_per_byte") &&
      !take_number(reader, INT64_MAX, &region->cost)) {
    return wrong(loading, "a bad cost");
  }
  return BERTH_OK;
}

/* ---- The document ---------------------------------------------------------------------------- */

static berth_status_t take_document_value(loading_t *loading) {
  const berth_json_reader_t *reader = &loading->reader;
  berth_plan_t *plan = &loading->outcome->plan;
  uint64_t value;
  if (berth_json_key_is(reader, "planner") && reader->token == BERTH_JSON_STRING) {
    loading->planner = take_text(loading).data;
  } else if (berth_json_key_is(reader, "peak_bytes")) {
    loading->planned = take_number(reader, INT64_MAX, &value);
  } else if (berth_json_key_is(reader, "lower_bound_bytes")) {
    if (!take_number(reader, INT64_MAX, &plan->lower_bound)) return wrong(loading, "a bad bound");
  } else if (berth_json_key_is(reader, "cost") && !is_word(reader, "null")) {
    if (!take_number(reader, INT64_MAX, &plan->cost)) return wrong(loading, "a bad cost");
  } else if (berth_json_key_is(reader, "optimal")) {
    plan->optimal = is_word(reader, "true");
  } else if (berth_json_key_is(reader, "steps")) {
    if (!take_number(reader, UINT32_MAX - 1, &value)) return wrong(loading, "a bad step count");
    loading->subject->step_count = (uint32_t)value;
  }
  return BERTH_OK;
}

static berth_status_t fill(loading_t *loading, berth_region_t *regions) {
  uint32_t buffer = 0, region = 0;
  berth_status_t status = BERTH_OK;
  while (status == BERTH_OK && next(loading)) {
    const berth_json_reader_t *reader = &loading->reader;
    bool ends = reader->token == BERTH_JSON_CLOSE;
    if (reader->token == BERTH_JSON_OPEN) continue;
    if (reader->depth == 1 && !ends) {
      status = take_document_value(loading);
    } else if (reader->depth == 3 && loading->section == BUFFERS) {
      if (ends) {
        buffer++;
      } else {
        status = take_buffer_value(loading, buffer);
      }
    } else if (reader->depth == 3 && loading->section == REGIONS) {
      if (ends) {
        region++;
      } else {
        status = take_region_value(loading, &regions[region], &loading->regions[region]);
      }
    }
  }
  if (status != BERTH_OK) return status;
  return loading->reader.fault != NULL ? wrong(loading, loading->reader.fault) : BERTH_OK;
}

static berth_status_t count(loading_t *loading, const berth_host_map_t *map) {
  loading->reader = berth_json_read(map->data, (size_t)map->size);
  uint64_t buffers = 0, regions = 0;
  while (next(loading)) {
    if (loading->reader.depth != 3 || loading->reader.token != BERTH_JSON_OPEN) continue;
    buffers += loading->section == BUFFERS;
    regions += loading->section == REGIONS;
  }
  if (loading->reader.fault != NULL) return wrong(loading, loading->reader.fault);
  if (buffers > INT32_MAX) return wrong(loading, "too many buffers");
  if (regions > BERTH_REGIONS_MAX) return wrong(loading, "too many regions");
  loading->buffer_count = (uint32_t)buffers;
  loading->region_count = (uint32_t)regions;
  return BERTH_OK;
}

/* Memory for what was counted; berth_subject_close and berth_outcome_free give it back. */
static berth_status_t allocate(loading_t *loading, size_t text_bytes, berth_region_t **regions) {
  berth_subject_t *subject = loading->subject;
  size_t room = (size_t)loading->buffer_count + 1;
  subject->buffers = subject->memory[BERTH_SUBJECT_BUFFERS] =
      malloc(room * sizeof *subject->buffers);
  subject->labels = subject->memory[BERTH_SUBJECT_LABELS] = malloc(room * sizeof *subject->labels);
  loading->texts = subject->memory[BERTH_SUBJECT_GROUND] = malloc(text_bytes + 1);
  loading->regions = subject->memory[BERTH_SUBJECT_ORIGINS] =
      calloc((size_t)loading->region_count + 1, sizeof *loading->regions);
  *regions = subject->memory[BERTH_SUBJECT_REGIONS] =
      calloc((size_t)loading->region_count + 1, sizeof **regions);
  loading->outcome->plan.placements = calloc(room, sizeof(berth_placement_t));
  if (subject->buffers == NULL || subject->labels == NULL || loading->texts == NULL ||
      loading->regions == NULL || *regions == NULL || loading->outcome->plan.placements == NULL) {
    berth_complain(loading->complaint, "%s: out of memory", loading->path);
    return BERTH_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < loading->buffer_count; i++) {
    subject->buffers[i] = berth_buffer(0, 1, 0); /* no life yet, which is refused below */
    subject->labels[i] = (berth_label_t){.name = {"", 0},
                                         .subgraph = BERTH_NOBODY,
                                         .tensor = BERTH_NOBODY,
                                         .op_subgraph = BERTH_NOBODY,
                                         .op = BERTH_NOBODY};
  }
  for (uint32_t r = 0; r < loading->region_count; r++) {
    (*regions)[r].capacity = BERTH_UNLIMITED;
    loading->regions[r].name = "";
  }
  return BERTH_OK;
}

/* What only the whole can tell. */
static berth_status_t settle(loading_t *loading, const berth_region_t *regions) {
  berth_subject_t *subject = loading->subject;
  berth_outcome_t *outcome = loading->outcome;
  subject->problem.buffers = subject->buffers;
  subject->problem.buffer_count = loading->buffer_count;
  subject->problem.regions = loading->region_count > 0 ? regions : NULL;
  subject->problem.region_count = loading->region_count;
  subject->problem.outside_cost = UINT64_MAX;
  subject->regions = loading->regions;
  outcome->planner = loading->planner != NULL ? berth_planner_named(loading->planner) : NULL;
  if (!loading->planned || outcome->planner == NULL)
    return wrong(loading, "there is no plan in it");
  for (uint32_t i = 0; i < loading->buffer_count; i++) {
    const berth_buffer_t *buffer = &subject->buffers[i];
    if (buffer->first > buffer->last || buffer->last >= subject->step_count) {
      berth_complain(loading->complaint, "%s: buffer %" PRIu32 " lives in steps that are not there",
                     loading->path, i);
      return BERTH_ERROR_FORMAT;
    }
    uint64_t offset = outcome->plan.placements[i].offset;
    if (offset > INT64_MAX - buffer->size || subject->sum_bytes > INT64_MAX - buffer->size) {
      return wrong(loading, "sizes and offsets are too large");
    }
    subject->sum_bytes += buffer->size;
    if (subject->labels[i].has_kind && subject->labels[i].kind == BERTH_KIND_VARIABLE) {
      subject->variable_bytes += buffer->size;
    }
  }
  outcome->plan.peak = berth_region_peak(&subject->problem, outcome->plan.placements, 0);
  outcome->has_plan = true;
  return BERTH_OK;
}

berth_status_t berth_plan_open(const char *path, berth_subject_t *subject, berth_outcome_t *outcome,
                               berth_complaint_t *complaint) {
  *subject = (berth_subject_t){.path = path};
  *outcome = (berth_outcome_t){.status = BERTH_OK};
  loading_t loading = {
      .path = path, .complaint = complaint, .subject = subject, .outcome = outcome};
  char message[BERTH_HOST_MESSAGE];
  berth_status_t status = berth_host_map(path, &subject->map, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  berth_region_t *regions = NULL;
  status = count(&loading, &subject->map);
  if (status == BERTH_OK) status = allocate(&loading, (size_t)subject->map.size, &regions);
  if (status == BERTH_OK) {
    loading.reader = berth_json_read(subject->map.data, (size_t)subject->map.size);
    status = fill(&loading, regions);
  }
  if (status == BERTH_OK) status = settle(&loading, regions);
  if (status != BERTH_OK) {
    berth_outcome_free(outcome);
    berth_subject_close(subject);
  }
  return status;
}
