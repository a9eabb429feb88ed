/* The command that repeats a plan, written from the settings that made it, so that what a line of
 * advice shows cannot differ from what was planned for it. */
#include "host/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text inside a quoted word. */
static void quoted(FILE *stream, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '\'') {
      fputs("'\\''", stream);
    } else {
      fputc(*text, stream);
    }
  }
}

/* A word as a shell takes it: its parts one after the other, in quotes if they need any. */
static void word(FILE *stream, const char *first, const char *second) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-+=.,:/@%";
  bool bare = first[strspn(first, plain)] == '\0' && second[strspn(second, plain)] == '\0' &&
              first[0] + second[0] != '\0';
  fputs(bare ? " " : " '", stream);
  quoted(stream, first);
  quoted(stream, second);
  if (!bare) fputc('\'', stream);
}

static void option(FILE *stream, const char *name, const char *first, const char *second) {
  fprintf(stream, " %s", name);
  word(stream, first, second);
}

static void number(FILE *stream, const char *name, uint64_t value) {
  if (value > 0) fprintf(stream, " %s %" PRIu64, name, value);
}

static void flag(FILE *stream, const char *name, bool set) {
  if (set) fprintf(stream, " %s", name);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void write_rules(FILE *stream, const berth_settings_t *settings) {
  const berth_subject_options_t *subject = &settings->subject;
  bool tflite = subject->exact_sizes; /* nothing else asks for them */
  const berth_planner_t *usual = tflite ? &berth_planner_tflite : &berth_planner_best;
  flag(stream, "--like tflite", tflite);
  if (settings->planner != usual) option(stream, "--planner", settings->planner->name, "");
  if (!tflite || subject->align != 64) number(stream, "--align", subject->align);
  flag(stream, "--keep-inputs", subject->keep_inputs && !tflite);
  flag(stream, "--no-fold", subject->keep_foldable);
  flag(stream, "--kernels", subject->kernels);
  if (subject->share) {
    option(stream, "--overlap",
           subject->diagonal ? "diagonal" : berth_overlap_name(subject->overlap), "");
  }
  flag(stream, "--clean", subject->clean);
  flag(stream, "--order best", subject->best_order);
  if (settings->streaming.mode != BERTH_STREAMING_OFF) {
    option(stream, "--stream", settings->streaming.mode == BERTH_STREAMING_AUTO ? "auto" : "max",
           "");
  }
  flag(stream, "--stream-input", settings->streaming.push_inputs);
  flag(stream, "--stream-output", settings->streaming.pull_outputs);
}

static void write_surroundings(FILE *stream, const berth_subject_options_t *subject) {
  char text[96];
  for (uint32_t i = 0; i < subject->reserve_count; i++) {
    const berth_reserve_t *reserve = &subject->reserves[i];
    size_t used = (size_t)snprintf(text, sizeof text, ":%" PRIu64, reserve->bytes);
    if (!reserve->every_step) {
      snprintf(text + used, sizeof text - used, ":%" PRIu32 "-%" PRIu32, reserve->first,
               reserve->last);
    }
    option(stream, "--reserve", reserve->name, text);
  }
  for (uint32_t i = 0; i < subject->region_count; i++) {
    const berth_region_t *region = &subject->regions[i].region;
    snprintf(text, sizeof text, "=%" PRIu64 "@%" PRIu64, region->capacity, region->cost);
    option(stream, "--region", subject->regions[i].name, text);
  }
  if (subject->pairs_path != NULL) option(stream, "--pairs", subject->pairs_path, "");
}

static void write_what_if(FILE *stream, const berth_what_if_t *what_if) {
  for (uint32_t i = 0; i < what_if->shape_count; i++) {
    const berth_named_shape_t *shape = &what_if->shapes[i];
    char dims[BERTH_RANK_MAX * 12 + 2] = "=";
    size_t used = 1;
    for (uint32_t d = 0; d < shape->rank; d++) {
      used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%" PRId32, d > 0 ? "," : "",
                               shape->dims[d]);
    }
    option(stream, "--set-shape", shape->name, dims);
  }
  flag(stream, "--assume int8", what_if->int8);
  for (uint32_t i = 0; i < what_if->int8_count; i++) {
    option(stream, "--assume", "int8:", what_if->int8_tensors[i]);
  }
  flag(stream, "--assume quantized-inputs", what_if->quantized_inputs);
  flag(stream, "--assume quantized-outputs", what_if->quantized_outputs);
  for (uint32_t i = 0; i < what_if->dropped_count; i++) {
    option(stream, "--drop-output", what_if->dropped[i], "");
  }
  flag(stream, "--drop-unused", what_if->drop_unused);
}

static void write_budget(FILE *stream, const berth_planning_t *planning) {
  number(stream, "--capacity", planning->capacity);
  number(stream, "--work-limit", planning->work_limit);
  if (planning->seconds > 0) fprintf(stream, " --time-limit %.9g", planning->seconds);
  for (uint32_t i = 0; i < 32 && berth_technique_name(i) != NULL; i++) {
    if ((planning->without >> i & 1) != 0) option(stream, "--without", berth_technique_name(i), "");
  }
}

char *berth_plan_command(const char *path, const berth_settings_t *settings) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (stream == NULL) return NULL;
  fputs("berth plan", stream);
  word(stream, path[0] == '-' ? "./" : "", path);
  write_rules(stream, settings);
  write_surroundings(stream, &settings->subject);
  write_what_if(stream, &settings->subject.what_if);
  write_budget(stream, &settings->planning);
  bool good = ferror(stream) == 0;
  if (fclose(stream) == 0 && good) return text;
  free(text);
  return NULL;
}
