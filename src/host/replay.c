/* Replay: recorded inputs in, recorded outputs and checksums against what Berth computes. */
#include "host/replay.h"
#include "host/fill.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A line of layers.csv. */
typedef struct layer {
  uint32_t run;
  uint32_t tensor;
  uint32_t bytes;
  uint32_t crc;
} layer_t;

typedef struct session {
  const char *folder;
  const berth_runner_options_t *options;
  berth_runner_t runner;
  berth_replay_t *replay;
  berth_complaint_t *complaint;
  layer_t *layers;
  size_t layer_count;
  uint32_t run; /* the current one, from 1 */
  double tolerance;
  uint32_t units;
} session_t;

/* ---- Files ---------------------------------------------------------------------------------- */

static bool exists(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "rb");
  if (file != NULL) fclose(file);
  return file != NULL;
}

/* Reads a file of exactly `bytes` bytes. */
static berth_status_t read_exactly(const session_t *session, const char *name, void *data,
                                   size_t bytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", session->folder, name);
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    berth_complain(session->complaint, "%s: cannot be opened", path);
    return BERTH_ERROR_ARGUMENT;
  }
  size_t read = bytes > 0 ? fread(data, 1, bytes, file) : 0;
  bool right = read == bytes && fgetc(file) == EOF;
  fclose(file);
  if (!right) {
    berth_complain(session->complaint, "%s: does not have the tensor's %zu bytes", path, bytes);
    return BERTH_ERROR_ARGUMENT;
  }
  return BERTH_OK;
}

/* "run2.out0.bin", or "out0.bin" for a recording of one run. */
static void file_name(const session_t *session, const char *what, uint32_t number, char *name,
                      size_t size) {
  if (session->run == 0) {
    snprintf(name, size, "%s%u.bin", what, number);
  } else {
    snprintf(name, size, "run%u.%s%u.bin", session->run, what, number);
  }
}

static berth_status_t read_layers(session_t *session) {
  if (!exists(session->folder, "layers.csv")) return BERTH_OK;
  char path[4096], line[512];
  snprintf(path, sizeof path, "%s/layers.csv", session->folder);
  FILE *file = fopen(path, "r");
  if (file == NULL) return BERTH_OK;
  size_t room = 0;
  berth_status_t status = BERTH_OK;
  bool heading = true;
  while (status == BERTH_OK && fgets(line, sizeof line, file) != NULL) {
    layer_t layer;
    char type[32];
    if (heading) {
      heading = false;
      continue;
    }
    if (sscanf(line, "%u,%u,%31[^,],%u,%x", &layer.run, &layer.tensor, type, &layer.bytes,
               &layer.crc) != 5) {
      berth_complain(session->complaint, "%s: a line is malformed: %.60s", path, line);
      status = BERTH_ERROR_FORMAT;
      break;
    }
    if (strncmp(type, "FLOAT", 5) == 0) continue; /* sums round differently elsewhere */
    if (session->layer_count == room) {
      room = room > 0 ? room * 2 : 256;
      layer_t *grown = realloc(session->layers, room * sizeof *grown);
      if (grown == NULL) {
        status = BERTH_ERROR_MEMORY;
        break;
      }
      session->layers = grown;
    }
    session->layers[session->layer_count++] = layer;
  }
  fclose(file);
  return status;
}

/* ---- Comparing ------------------------------------------------------------------------------ */

static void note_first(session_t *session, uint32_t op, uint32_t tensor, uint32_t element) {
  berth_replay_t *replay = session->replay;
  if (replay->different_outputs + replay->different_layers > 0) return;
  replay->first_run = session->run > 0 ? session->run : 1;
  replay->first_op = op;
  replay->first_tensor = tensor;
  replay->first_element = element;
}

static void compare_layer(session_t *session, uint32_t op, const berth_value_t *value) {
  for (size_t i = 0; i < session->layer_count; i++) {
    const layer_t *layer = &session->layers[i];
    if (layer->run != session->run || layer->tensor != value->index) continue;
    if (layer->bytes != value->bytes) continue;
    session->replay->layers++;
    if (berth_crc32(value->data, value->bytes) == layer->crc) continue;
    note_first(session, op, value->index, 0);
    session->replay->different_layers++;
  }
}

/* After each operator: its outputs are what was recorded at the end of the run, unless somebody
 * writes them again (variables do not pass here). */
static bool observe(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                    uint32_t op) {
  session_t *session = user;
  if (subgraph == 0 && session->layer_count > 0) {
    berth_operator_t what = berth_model_operator(interpreter->model, 0, op);
    for (uint32_t i = 0; i < what.outputs.count; i++) {
      int32_t tensor = berth_vector_int(what.outputs, i);
      if (tensor == BERTH_NO_TENSOR) continue;
      berth_value_t value = berth_interpreter_tensor(interpreter, 0, (uint32_t)tensor);
      bool whole = value.ring >= value.rows; /* rows of a ring are gone by now */
      if (value.data != NULL && whole) compare_layer(session, op, &value);
    }
  }
  return session->options->observe == NULL ||
         session->options->observe(session->options->user, interpreter, subgraph, op);
}

static int64_t integer_at(const berth_value_t *value, const uint8_t *data, uint32_t i) {
  switch (berth_tensor_type_bits(value->type)) {
  case 8:
    return value->type == BERTH_TYPE_INT8 ? (int8_t)data[i] : data[i];
  case 16: {
    int16_t x;
    memcpy(&x, data + (size_t)i * 2, 2);
    return x;
  }
  case 32: {
    int32_t x;
    memcpy(&x, data + (size_t)i * 4, 4);
    return x;
  }
  default: {
    int64_t x;
    memcpy(&x, data + (size_t)i * 8, 8);
    return x;
  }
  }
}

static bool compare_floats(session_t *session, const berth_value_t *value, const uint8_t *recorded,
                           uint32_t *element) {
  double magnitude = 0, worst = 0;
  for (uint32_t i = 0; i < value->elements; i++) {
    float x;
    memcpy(&x, recorded + (size_t)i * 4, 4);
    if (isfinite(x) && fabs((double)x) > magnitude) magnitude = fabs((double)x);
  }
  bool equal = true;
  for (uint32_t i = 0; i < value->elements; i++) {
    float x, y;
    memcpy(&x, recorded + (size_t)i * 4, 4);
    memcpy(&y, value->data + (size_t)i * 4, 4);
    if ((x == y && signbit(x) == signbit(y)) || (isnan(x) && isnan(y))) continue;
    double difference = fabs((double)x - (double)y);
    double relative = magnitude > 0 ? difference / magnitude : difference;
    if (isnan(relative)) relative = HUGE_VAL;
    if (relative > worst) worst = relative;
    if (relative > session->tolerance && equal) {
      equal = false;
      *element = i;
    }
  }
  if (worst > session->replay->largest) session->replay->largest = worst;
  return equal;
}

static bool compare_integers(const session_t *session, const berth_value_t *value,
                             const uint8_t *recorded, uint32_t *element) {
  if (memcmp(value->data, recorded, value->bytes) == 0) return true;
  for (uint32_t i = 0; i < value->elements; i++) {
    int64_t x = integer_at(value, recorded, i), y = integer_at(value, value->data, i);
    uint64_t difference = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
    if (difference > session->units) {
      *element = i;
      return false;
    }
  }
  return true;
}

static berth_status_t compare_output(session_t *session, uint32_t number) {
  char name[64];
  berth_value_t value = berth_runner_output(&session->runner, number);
  if (value.data == NULL) {
    berth_complain(session->complaint, "%s: output %u has no data", session->runner.path, number);
    return BERTH_ERROR_OPERATOR;
  }
  uint8_t *recorded = malloc(value.bytes > 0 ? value.bytes : 1);
  if (recorded == NULL) return BERTH_ERROR_MEMORY;
  file_name(session, "out", number, name, sizeof name);
  berth_status_t status = read_exactly(session, name, recorded, value.bytes);
  if (status == BERTH_OK) {
    uint32_t element = 0;
    bool equal = value.type == BERTH_TYPE_FLOAT32
                     ? compare_floats(session, &value, recorded, &element)
                     : compare_integers(session, &value, recorded, &element);
    session->replay->outputs++;
    if (!equal) {
      note_first(session, BERTH_NOBODY, value.index, element);
      session->replay->different_outputs++;
    }
  }
  free(recorded);
  return status;
}

/* ---- Running -------------------------------------------------------------------------------- */

static berth_status_t run_once(session_t *session) {
  berth_subgraph_t graph = berth_model_subgraph(&session->runner.model, 0);
  char name[64];
  for (uint32_t i = 0; i < graph.inputs.count; i++) {
    berth_value_t value = berth_runner_input(&session->runner, i);
    if (value.data == NULL) continue;
    file_name(session, "in", i, name, sizeof name);
    berth_status_t status = read_exactly(session, name, value.data, value.bytes);
    if (status != BERTH_OK) return status;
  }
  berth_status_t status = berth_runner_invoke(&session->runner);
  if (status != BERTH_OK) {
    berth_runner_complain(&session->runner, "invoke failed", status, session->complaint);
    return status;
  }
  for (uint32_t i = 0; i < graph.outputs.count && status == BERTH_OK; i++) {
    status = compare_output(session, i);
  }
  session->replay->invokes++;
  return status;
}

static berth_status_t run_all(session_t *session) {
  if (exists(session->folder, "out0.bin")) {
    session->run = 0;
    return run_once(session);
  }
  if (!exists(session->folder, "run1.out0.bin")) {
    berth_complain(session->complaint, "%s: holds neither out0.bin nor run1.out0.bin",
                   session->folder);
    return BERTH_ERROR_ARGUMENT;
  }
  char name[64];
  for (session->run = 1;; session->run++) {
    file_name(session, "out", 0, name, sizeof name);
    if (!exists(session->folder, name)) return BERTH_OK;
    berth_status_t status = run_once(session);
    if (status != BERTH_OK) return status;
  }
}

berth_status_t berth_replay_run(const char *path, const berth_runner_options_t *options,
                                const char *folder, double tolerance, uint32_t units,
                                berth_replay_t *replay, berth_complaint_t *complaint) {
  static const berth_runner_options_t defaults;
  session_t session;
  memset(&session, 0, sizeof session);
  memset(replay, 0, sizeof *replay);
  session.folder = folder;
  session.options = options != NULL ? options : &defaults;
  session.replay = replay;
  session.complaint = complaint;
  session.tolerance = tolerance;
  session.units = units;

  berth_runner_options_t own = *session.options;
  own.observe = observe;
  own.user = &session;
  own.guard_report = berth_verdict_note;
  own.guard_user = &replay->verdicts;
  berth_status_t status = berth_runner_open(path, &own, &session.runner, complaint);
  if (status != BERTH_OK) return status;
  status = read_layers(&session);
  if (status == BERTH_OK) status = run_all(&session);
  if (replay->verdicts.count > 0) {
    berth_verdict_text(&session.runner.model, &replay->verdicts.findings[0], replay->first_verdict,
                       sizeof replay->first_verdict);
  }
  free(session.layers);
  berth_runner_close(&session.runner);
  return status;
}
