/* Recorded runs of whole models, replayed with every operator watched by the guard. */
#ifndef BERTH_TESTS_OPERATORS_RECORDED_H
#define BERTH_TESTS_OPERATORS_RECORDED_H

#include "test.h"

#include "host/replay.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static inline void recorded_finding(void *user, const berth_guard_finding_t *finding) {
  (void)user;
  fail_msg("operator %u broke its contract: fault %d, tensor %u, byte %u", (unsigned)finding->op,
           (int)finding->fault, (unsigned)finding->tensor, (unsigned)finding->first);
}

/* Replays `folder` on the model: all outputs and checksums must be equal, floats within
 * `tolerance`, integers up to `units`. */
static inline void recorded_replay(const char *model, const char *folder, double tolerance,
                                   uint32_t units) {
  berth_runner_options_t options;
  memset(&options, 0, sizeof options);
  options.interpreter.kernels = berth_kernels;
  options.messages = stderr;
  options.guard = true;
  options.guard_deep = true;
  options.guard_report = recorded_finding;
  berth_replay_t replay;
  berth_complaint_t complaint;
  berth_status_t status =
      berth_replay_run(model, &options, folder, tolerance, units, &replay, &complaint);
  if (status != BERTH_OK) fail_msg("%s: %s", model, complaint.text);
  if (replay.different_outputs + replay.different_layers > 0)
    fail_msg("%s: %u outputs and %u tensors differ, first in run %u, tensor %u; largest %g", model,
             (unsigned)replay.different_outputs, (unsigned)replay.different_layers,
             (unsigned)replay.first_run, (unsigned)replay.first_tensor, replay.largest);
  assert_true(replay.outputs > 0);
}

/* A shipped model, with what is recorded in models/reference. */
static inline void recorded_shipped(const char *name, double tolerance, uint32_t units) {
  char model[512], folder[512];
  snprintf(model, sizeof model, "%s/models/%s.tflite", BERTH_SOURCE_DIR, name);
  snprintf(folder, sizeof folder, "%s/models/reference/%s", BERTH_SOURCE_DIR, name);
  recorded_replay(model, folder, tolerance, units);
}

/* A model of the reference data, with one of its folders; skips the test where there is none. */
static inline void recorded_reference(const char *name, const char *runtime, double tolerance) {
  const char *shared = getenv("BERTH_SHARED");
  char model[512], folder[512];
  if (shared == NULL) shared = BERTH_SOURCE_DIR "/../shared";
  snprintf(model, sizeof model, "%s/corpus/%s/model.tflite", shared, name);
  snprintf(folder, sizeof folder, "%s/corpus/%s/%s", shared, name, runtime);
  struct stat found;
  if (stat(model, &found) != 0) {
    print_message("%s is not there\n", model);
    skip();
  }
  recorded_replay(model, folder, tolerance, 0);
}

#endif
