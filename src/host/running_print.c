/* The account of what one or several interpreters need: weights are read in place and shared,
 * everything else is private, but for activations of instances that never run at the same time. */
#include "host/json.h"
#include "host/running.h"
#include "host/text.h"

#include <inttypes.h>

static uint64_t private_bytes(const berth_needs_t *needs) {
  return (uint64_t)needs->total + BERTH_RUNNING_STRUCTS;
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
  if (running->dynamic > 0) {
    fprintf(stream, "\nWhat %" PRIu32 " dynamic tensors take comes on top, at run time.\n",
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
          berth_grouped(needs->metadata + BERTH_RUNNING_STRUCTS).text);
  fprintf(stream, "  %-44s %14s\n", "all, running at the same time",
          berth_grouped(at_once(needs, instances)).text);
  fprintf(stream, "  %-44s %14s\n", "all, running in turn in the same activations",
          berth_grouped(in_turn(needs, instances)).text);
}

void berth_running_json(const berth_running_t *running, const berth_subject_t *subject,
                        uint64_t peak, uint32_t instances, berth_json_t *json) {
  const berth_needs_t *needs = &running->needs;
  berth_json_open(json, "running", '{');
  berth_json_bool(json, "possible", running->possible);
  if (running->possible) {
    berth_json_number(json, "total_bytes", private_bytes(needs));
    berth_json_number(json, "activation_bytes", needs->activations);
    berth_json_number(json, "persistent_bytes", needs->persistent);
    berth_json_number(json, "metadata_bytes", needs->metadata);
    berth_json_number(json, "interpreter_bytes", BERTH_RUNNING_STRUCTS);
    berth_json_number(json, "planning_bytes", needs->planning);
    berth_json_number(json, "dynamic_tensors", running->dynamic);
    berth_running_account_t account = berth_running_account(running, subject, peak);
    berth_json_signed(json, "beside_peak_bytes", account.difference);
    berth_json_number(json, "table_bytes", account.tables);
    berth_json_number(json, "pointer_bits", 8 * sizeof(void *));
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
