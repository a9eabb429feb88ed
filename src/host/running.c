/* Preparing a model to see what it needs; and the account of several instances: weights are read in
 * place and shared, everything else is private, but for activations of instances that never run at
 * the same time. */
#include "host/running.h"
#include "host/json.h"
#include "host/runner.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct asking {
  const berth_subject_options_t *options;
  const berth_model_t *model;
} asking_t;

static berth_status_t reshape(void *user, berth_interpreter_t *interpreter) {
  const asking_t *asking = user;
  const berth_what_if_t *what_if = &asking->options->what_if;
  for (uint32_t i = 0; i < what_if->shape_count; i++) {
    uint32_t input = berth_input_named(asking->model, what_if->shapes[i].name);
    if (input == BERTH_NOBODY) continue;
    berth_status_t status = berth_interpreter_resize_input(
        interpreter, input, what_if->shapes[i].rank, what_if->shapes[i].dims);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* The first line that was said, without its beginning "berth: PATH: ". */
static void first_line(const char *said, const char *path, char *why, size_t size) {
  const char *at = strstr(said, path);
  at = at != NULL ? at + strlen(path) : said;
  while (*at == ':' || *at == ' ') at++;
  snprintf(why, size, "%.*s", (int)strcspn(at, "\n"), at);
}

berth_running_t berth_running_of(const berth_subject_t *subject,
                                 const berth_subject_options_t *options,
                                 const berth_planner_t *planner) {
  berth_running_t running = {.model_bytes = subject->map.size};
  asking_t asking = {options, &subject->model};
  char *said = NULL;
  size_t length = 0;
  berth_runner_options_t runner_options = {.planner = planner,
                                           .reshape = reshape,
                                           .user = &asking,
                                           .messages = open_memstream(&said, &length)};
  runner_options.interpreter.alignment = options->align;
  runner_options.interpreter.keep_inputs = options->keep_inputs;
  berth_runner_t runner;
  berth_complaint_t complaint;
  berth_status_t status = berth_runner_open(subject->path, &runner_options, &runner, &complaint);
  if (status == BERTH_OK) {
    running.possible = true;
    running.needs = berth_interpreter_needs(&runner.interpreter);
    running.dynamic = runner.dynamic_count;
    berth_runner_close(&runner);
  }
  if (runner_options.messages != NULL) fclose(runner_options.messages);
  if (!running.possible) {
    bool told = said != NULL && length > 0;
    first_line(told ? said : complaint.text, subject->path, running.why, sizeof running.why);
  }
  free(said);
  return running;
}

static uint64_t private_bytes(const berth_needs_t *needs) {
  return (uint64_t)needs->total + sizeof(berth_interpreter_t);
}

/* So many instances that may all run at once, or only one at a time in the same activations. */
static uint64_t at_once(const berth_needs_t *needs, uint32_t instances) {
  return private_bytes(needs) * instances;
}

static uint64_t in_turn(const berth_needs_t *needs, uint32_t instances) {
  return at_once(needs, instances) - (uint64_t)needs->activations * (instances - 1);
}

void berth_running_print(const berth_running_t *running, uint32_t instances, FILE *stream) {
  const berth_needs_t *needs = &running->needs;
  if (!running->possible) {
    fprintf(stream, "\nBerth itself cannot run it: %s\n", running->why);
    return;
  }
  fprintf(stream,
          "\nTo run it, Berth needs %s bytes: %s of activations and scratch, %s of variables and\n"
          "operators' tables, %s of metadata, and %zu of the interpreter.\n",
          berth_grouped(private_bytes(needs)).text, berth_grouped(needs->activations).text,
          berth_grouped(needs->persistent).text, berth_grouped(needs->metadata).text,
          sizeof(berth_interpreter_t));
  if (running->dynamic > 0) {
    fprintf(stream, "What %" PRIu32 " dynamic tensors take comes on top, at run time.\n",
            running->dynamic);
  }
  if (instances < 2) return;
  fprintf(stream, "\n%" PRIu32 " instances, one for each thread:\n", instances);
  fprintf(stream, "  %-44s %14s\n", "shared: the model, read in place",
          berth_grouped(running->model_bytes).text);
  fprintf(stream, "  %-44s %14s\n", "private, each: activations and scratch",
          berth_grouped(needs->activations).text);
  fprintf(stream, "  %-44s %14s\n", "private, each: variables and operators' tables",
          berth_grouped(needs->persistent).text);
  fprintf(stream, "  %-44s %14s\n", "private, each: metadata and the interpreter",
          berth_grouped(needs->metadata + sizeof(berth_interpreter_t)).text);
  fprintf(stream, "  %-44s %14s\n", "all, running at the same time",
          berth_grouped(at_once(needs, instances)).text);
  fprintf(stream, "  %-44s %14s\n", "all, running in turn in the same activations",
          berth_grouped(in_turn(needs, instances)).text);
}

void berth_running_json(const berth_running_t *running, uint32_t instances, berth_json_t *json) {
  const berth_needs_t *needs = &running->needs;
  berth_json_open(json, "running", '{');
  berth_json_bool(json, "possible", running->possible);
  if (running->possible) {
    berth_json_number(json, "total_bytes", private_bytes(needs));
    berth_json_number(json, "activation_bytes", needs->activations);
    berth_json_number(json, "persistent_bytes", needs->persistent);
    berth_json_number(json, "metadata_bytes", needs->metadata);
    berth_json_number(json, "interpreter_bytes", sizeof(berth_interpreter_t));
    berth_json_number(json, "planning_bytes", needs->planning);
    berth_json_number(json, "dynamic_tensors", running->dynamic);
  } else {
    berth_json_string(json, "why", running->why);
  }
  if (running->possible && instances > 1) {
    berth_json_open_line(json, "instances", '{');
    berth_json_number(json, "count", instances);
    berth_json_number(json, "shared_bytes", running->model_bytes);
    berth_json_number(json, "private_bytes", private_bytes(needs));
    berth_json_number(json, "at_once_bytes", at_once(needs, instances));
    berth_json_number(json, "in_turn_bytes", in_turn(needs, instances));
    berth_json_close(json, '}');
  }
  berth_json_close(json, '}');
}
