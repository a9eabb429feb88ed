/* Preparing a model to see what it needs. */
#include "host/running.h"
#include "host/runner.h"

#include <stdio.h>
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

/* What a complaint says, without "PATH: " and "cannot be prepared: ". */
static const char *without_path(const char *text, const char *path) {
  const char *const beginnings[] = {path, ": ", "cannot be prepared: "};
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    size_t length = strlen(beginnings[i]);
    if (strncmp(text, beginnings[i], length) != 0) break;
    text += length;
  }
  return text;
}

berth_running_t berth_running_of(const berth_subject_t *subject,
                                 const berth_subject_options_t *options,
                                 const berth_streaming_options_t *streaming,
                                 const berth_planner_t *planner) {
  berth_running_t running = {.model_bytes = subject->map.size};
  asking_t asking = {options, &subject->model};
  berth_what_if_t changes = options->what_if;
  changes.shape_count = 0;
  const char *why = berth_what_if_any(&changes) ? "what is assumed or dropped is not so in the file"
                    : options->clean            ? "it is not cleaned up in the file"
                    : options->best_order       ? "its operators have another order in the file"
                    : options->diagonal         ? "its kernels are not TFLM's reference kernels"
                                                : NULL;
  if (why != NULL) {
    snprintf(running.why, sizeof running.why, "%s", why);
    return running;
  }
  berth_runner_options_t runner_options = {.planner = planner,
                                           .reshape =
                                               options->what_if.shape_count > 0 ? reshape : NULL,
                                           .streaming = *streaming,
                                           .user = &asking};
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
  if (!running.possible) {
    const char *reason = without_path(complaint.text, subject->path);
    snprintf(running.why, sizeof running.why, "%.*s", (int)sizeof running.why - 1, reason);
  }
  return running;
}

berth_running_account_t berth_running_account(const berth_running_t *running,
                                              const berth_subject_t *subject, uint64_t peak) {
  const berth_needs_t *needs = &running->needs;
  uint64_t variables = subject->variable_bytes;
  if (variables > needs->persistent) variables = needs->persistent;
  berth_running_account_t account = {.difference =
                                         (int64_t)(needs->activations + variables) - (int64_t)peak,
                                     .tables = needs->persistent - variables,
                                     .metadata = needs->metadata,
                                     .interpreter = BERTH_RUNNING_STRUCTS,
                                     .total = (uint64_t)needs->total + BERTH_RUNNING_STRUCTS};
  /* What aligning the parts in one block takes. */
  account.metadata += needs->total - needs->activations - needs->persistent - needs->metadata;
  return account;
}
