/* The forecast against what stock TFLM reported: every model of the reference data that it ran, in
 * 64 bits and in 32, and every buffer that it planned. */
#include "test.h"

#include "host/csv.h"
#include "host/json_read.h"
#include "host/map.h"
#include "stock/tflm_forecast.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODELS_MAX 128
#define PARTS      6

/* What the manifest says of a model and a width. */
typedef struct recorded {
  int64_t head, tail, used, min_arena;
  int64_t requested[PARTS], count[PARTS]; /* by category */
} recorded_t;

typedef struct entry {
  char name[96];
  bool ran;
  recorded_t wide, narrow;
} entry_t;

static const char *const categories[PARTS] = {
    "eval_tensor_data",     "persistent_tflite_tensor_data", "persistent_tflite_tensor_quant_data",
    "variable_tensor_data", "node_and_registration",         "persistent_buffer_data"};

static const char *shared(void) {
  const char *named = getenv("BERTH_SHARED");
  return named != NULL ? named : BERTH_SOURCE_DIR "/../shared";
}

/* ---- Reading the manifest -------------------------------------------------------------------- */

static void take_total(const berth_json_reader_t *json, recorded_t *recorded) {
  if (json->token != BERTH_JSON_NUMBER) return;
  if (berth_json_key_is(json, "head_nonpersistent_bytes")) recorded->head = json->number;
  if (berth_json_key_is(json, "tail_persistent_bytes")) recorded->tail = json->number;
  if (berth_json_key_is(json, "arena_used_bytes")) recorded->used = json->number;
  if (berth_json_key_is(json, "min_arena_bytes")) recorded->min_arena = json->number;
}

static uint32_t read_manifest(const berth_host_map_t *map, entry_t *entries) {
  berth_json_reader_t json = berth_json_read(map->data, (size_t)map->size);
  uint32_t count = 0;
  recorded_t *within = NULL; /* the object "tflm" or "tflm_32bit" that the reader is in */
  int category = -1;
  while (berth_json_next(&json)) {
    if (json.depth == 2 && json.token == BERTH_JSON_OPEN) {
      assert_true(count < MODELS_MAX);
      memset(&entries[count++], 0, sizeof *entries);
    }
    if (count == 0) continue;
    entry_t *entry = &entries[count - 1];
    if (json.depth == 2 && json.token == BERTH_JSON_STRING && berth_json_key_is(&json, "name")) {
      snprintf(entry->name, sizeof entry->name, "%.*s", (int)json.length, json.text);
    }
    if (json.depth == 3 && json.token == BERTH_JSON_OPEN) {
      within = berth_json_key_is(&json, "tflm")         ? &entry->wide
               : berth_json_key_is(&json, "tflm_32bit") ? &entry->narrow
                                                        : NULL;
    }
    if (json.depth == 3 && json.token == BERTH_JSON_CLOSE) within = NULL;
    if (within == NULL) continue;
    if (json.depth == 3) take_total(&json, within);
    if (json.depth == 5 && json.token == BERTH_JSON_OPEN) {
      category = -1;
      for (int i = 0; i < PARTS; i++) {
        if (berth_json_key_is(&json, categories[i])) category = i;
      }
    }
    if (json.depth == 5 && json.token == BERTH_JSON_NUMBER && category >= 0) {
      if (berth_json_key_is(&json, "requested")) within->requested[category] = json.number;
      if (berth_json_key_is(&json, "count")) within->count[category] = json.number;
    }
    entry->ran |= entry->wide.used > 0;
  }
  assert_null(json.fault);
  return count;
}

/* The manifest, once for all tests; NULL (and skipped) without the reference data. */
static entry_t *manifest(uint32_t *count) {
  static entry_t entries[MODELS_MAX];
  static uint32_t known;
  if (known == 0) {
    char path[1024], message[BERTH_HOST_MESSAGE];
    snprintf(path, sizeof path, "%s/corpus/manifest.json", shared());
    berth_host_map_t map;
    if (berth_host_map(path, &map, message) != BERTH_OK) {
      print_message("left out: the reference data (%s) is not there\n", shared());
      skip();
    }
    known = read_manifest(&map, entries);
    berth_host_unmap(&map);
  }
  *count = known;
  return entries;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

typedef struct opened {
  berth_host_map_t map;
  berth_model_t model;
  berth_tflm_forecast_t forecast;
} opened_t;

static void open_forecast(const char *name, berth_abi_t abi, opened_t *opened) {
  char path[1024], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/corpus/%s/model.tflite", shared(), name);
  if (berth_host_open_model(path, &opened->map, &opened->model, message) != BERTH_OK) {
    fail_msg("%s: %s", path, message);
  }
  berth_tflm_settings_t settings = {.abi = abi};
  berth_tflm_error_t error;
  if (berth_tflm_forecast(&opened->model, &settings, &opened->forecast, &error) != BERTH_OK) {
    fail_msg("%s: %s", name, error.what);
  }
}

static void close_forecast(opened_t *opened) {
  berth_tflm_forecast_free(&opened->forecast);
  berth_host_unmap(&opened->map);
}

static bool equal(const char *model, const char *what, uint64_t ours, int64_t theirs) {
  if (ours == (uint64_t)theirs) return true;
  print_error("%s: %s is %" PRIu64 ", TFLM said %" PRId64 "\n", model, what, ours, theirs);
  return false;
}

static bool matches(const char *name, berth_abi_t abi, const recorded_t *recorded) {
  opened_t opened;
  open_forecast(name, abi, &opened);
  const berth_tflm_forecast_t *forecast = &opened.forecast;
  bool good = equal(name, "unknown operators", forecast->unknown_count, 0);
  good &= equal(name, "refused operators", forecast->refused_count, 0);
  good &= equal(name, "head", forecast->head_bytes, recorded->head);
  good &= equal(name, "tail", forecast->tail_bytes, recorded->tail);
  good &= equal(name, "arena used", forecast->arena_used_bytes, recorded->used);
  good &= equal(name, "smallest arena", forecast->min_arena_bytes, recorded->min_arena);

  /* The recording allocator is larger than the plain one, so padding differs; requests do not. */
  const berth_tflm_share_t *tail = forecast->tail;
  uint32_t io = berth_model_subgraph(&opened.model, 0).inputs.count +
                berth_model_subgraph(&opened.model, 0).outputs.count;
  uint64_t pointers = io * berth_abi_pointer(abi);
  const uint64_t requested[PARTS] = {
      tail[BERTH_TFLM_EVAL_TENSORS].requested,
      tail[BERTH_TFLM_IO_TENSORS].requested - pointers,
      tail[BERTH_TFLM_IO_QUANT].requested,
      tail[BERTH_TFLM_VARIABLES].requested,
      tail[BERTH_TFLM_NODES].requested,
      tail[BERTH_TFLM_OP_DATA].requested + tail[BERTH_TFLM_PREPARED].requested + pointers,
  };
  for (int i = 0; i < PARTS; i++) {
    good &= equal(name, categories[i], requested[i], recorded->requested[i]);
  }
  good &= equal(name, "variables", tail[BERTH_TFLM_VARIABLES].count, recorded->count[3]);
  good &= equal(name, "kernels' allocations",
                tail[BERTH_TFLM_OP_DATA].count + tail[BERTH_TFLM_PREPARED].count + 2,
                recorded->count[5]);
  close_forecast(&opened);
  return good;
}

static void compare_all(berth_abi_t abi) {
  uint32_t count, ran = 0;
  const entry_t *entries = manifest(&count);
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    if (!entries[i].ran) continue;
    const recorded_t *recorded = abi == BERTH_ABI_64 ? &entries[i].wide : &entries[i].narrow;
    good &= matches(entries[i].name, abi, recorded);
    ran++;
  }
  assert_true(good);
  assert_int_equal(ran, 86);
}

static void in_64_bits_every_figure_is_what_tflm_reported(void **state) {
  (void)state;
  compare_all(BERTH_ABI_64);
}

static void in_32_bits_every_figure_is_what_tflm_reported(void **state) {
  (void)state;
  compare_all(BERTH_ABI_I386);
}

/* ---- The plan -------------------------------------------------------------------------------- */

static int64_t number_of(const berth_csv_field_t *row, const berth_csv_field_t *header,
                         size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (!berth_csv_is(header[i], name)) continue;
    char text[32];
    assert_true(row[i].length < sizeof text);
    berth_csv_copy(row[i], text);
    return strtoll(text, NULL, 10);
  }
  fail_msg("no column %s", name);
  return 0;
}

/* Each row of a recorded plan is a buffer of ours, in the same order. */
static bool plan_matches(const char *name) {
  char path[1024], message[BERTH_HOST_MESSAGE];
  snprintf(path, sizeof path, "%s/corpus/%s/tflm/plan.csv", shared(), name);
  berth_host_map_t map;
  if (berth_host_map(path, &map, message) != BERTH_OK) fail_msg("%s: %s", path, message);
  opened_t opened;
  open_forecast(name, BERTH_ABI_64, &opened);
  berth_csv_t csv = berth_csv_over(map.data, (size_t)map.size);
  berth_csv_field_t header[16], row[16];
  size_t columns, count;
  assert_int_equal(berth_csv_row(&csv, header, 16, &columns), BERTH_CSV_ROW);
  bool good = true;
  uint32_t i = 0;
  for (; berth_csv_row(&csv, row, 16, &count) == BERTH_CSV_ROW; i++) {
    if (i >= opened.forecast.buffer_count) break;
    const berth_tflm_buffer_t *buffer = &opened.forecast.buffers[i];
    uint32_t index = buffer->tensor != UINT32_MAX ? buffer->tensor : buffer->op;
    good &= equal(name, "index", index, number_of(row, header, columns, "index"));
    good &= equal(name, "first", (uint64_t)buffer->first, number_of(row, header, columns, "first"));
    good &= equal(name, "last", (uint64_t)buffer->last, number_of(row, header, columns, "last"));
    good &= equal(name, "bytes", buffer->bytes, number_of(row, header, columns, "raw_bytes"));
    good &= equal(name, "offset", buffer->offset, number_of(row, header, columns, "offset"));
  }
  good &= equal(name, "buffers", opened.forecast.buffer_count, i);
  close_forecast(&opened);
  berth_host_unmap(&map);
  return good;
}

static void every_planned_buffer_has_its_size_its_life_and_its_place(void **state) {
  (void)state;
  uint32_t count;
  const entry_t *entries = manifest(&count);
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    if (entries[i].ran) good &= plan_matches(entries[i].name);
  }
  assert_true(good);
}

/* ---- Models that TFLM refused ---------------------------------------------------------------- */

static void what_tflm_did_not_run_is_refused_or_has_an_unknown_operator(void **state) {
  (void)state;
  uint32_t count, refused = 0;
  const entry_t *entries = manifest(&count);
  for (uint32_t i = 0; i < count; i++) {
    if (entries[i].ran) continue;
    opened_t opened;
    open_forecast(entries[i].name, BERTH_ABI_64, &opened);
    if (opened.forecast.refused_count == 0 && opened.forecast.unknown_count == 0) {
      fail_msg("%s: TFLM refuses it, and the forecast doesn't say so", entries[i].name);
    }
    close_forecast(&opened);
    refused++;
  }
  assert_int_equal(refused, count - 86);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_64_bits_every_figure_is_what_tflm_reported),
      cmocka_unit_test(in_32_bits_every_figure_is_what_tflm_reported),
      cmocka_unit_test(every_planned_buffer_has_its_size_its_life_and_its_place),
      cmocka_unit_test(what_tflm_did_not_run_is_refused_or_has_an_unknown_operator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
