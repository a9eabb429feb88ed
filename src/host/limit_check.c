/* The arena that a runtime needs, held against a limit. Causes are what takes its place at the
 * peak: buffers, and what the runtime keeps for itself. */
#include "host/limit_check.h"
#include "host/anatomy.h"
#include "host/forecast.h"
#include "host/keeper.h"
#include "host/plan_text.h"
#include "host/runner.h"
#include "host/running.h"
#include "host/streaming_order.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *berth_check_runtime_name(berth_check_runtime_t runtime) {
  static const char *const names[] = {"plan", "berth", "tflm", "tflite"};
  return names[runtime];
}

/* Notes a cause if it is one of the largest; where it goes, or NULL. */
static char *note(berth_limit_check_t *check, uint64_t bytes) {
  uint32_t at = check->cause_count;
  while (at > 0 && check->causes[at - 1].bytes < bytes) at--;
  if (at == BERTH_CAUSES_MAX || bytes == 0) return NULL;
  if (check->cause_count < BERTH_CAUSES_MAX) check->cause_count++;
  for (uint32_t i = check->cause_count - 1; i > at; i--) check->causes[i] = check->causes[i - 1];
  check->causes[at].bytes = bytes;
  return check->causes[at].what;
}

#define WHAT sizeof((berth_limit_cause_t *)NULL)->what

/* ---- A plan ---------------------------------------------------------------------------------- */

static berth_status_t note_live(const berth_subject_t *subject, const berth_plan_t *plan,
                                bool variables, berth_limit_check_t *check) {
  berth_anatomy_t anatomy;
  if (plan->peak == 0) return BERTH_OK;
  berth_status_t status = berth_anatomy_of(subject, plan->placements, 0, plan->peak, &anatomy);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < anatomy.live_count; i++) {
    uint32_t index = anatomy.live[i];
    if (!variables && subject->labels[index].kind == BERTH_KIND_VARIABLE) continue;
    char *what = note(check, subject->problem.buffers[index].size);
    if (what == NULL) continue;
    char name[BERTH_NAME_ROOM], why[512];
    berth_keeper_t keeper = berth_keeper_of(subject, index, anatomy.step);
    snprintf(what, WHAT, "%.120s: %.380s", berth_buffer_text(&subject->labels[index], 60, name),
             berth_keeper_text(subject, &keeper, anatomy.step, why, sizeof why));
  }
  free(anatomy.live);
  return BERTH_OK;
}

/* Sums don't know what is dynamic. */
static void note_dynamic(uint32_t count, berth_limit_check_t *check) {
  if (count == 0) return;
  check->undecided = true;
  snprintf(check->why, sizeof check->why,
           "the size of %" PRIu32 " tensor%s is known only at run time", count,
           count == 1 ? "" : "s");
}

static uint32_t count_dynamic(const berth_subject_t *subject) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < subject->graph.tensor_count; i++) {
    count += subject->graph.tensors[i].allocation == BERTH_ALLOCATION_DYNAMIC;
  }
  return count;
}

/* `streaming`: NULL, or what the subject is the problem of. `whole`: all that running it needs. */
static berth_status_t check_plan(berth_subject_t *subject, const berth_settings_t *settings,
                                 berth_streaming_t *streaming, bool whole,
                                 berth_limit_check_t *check, berth_complaint_t *complaint) {
  berth_outcome_t outcome;
  berth_status_t status = berth_streaming_plan(streaming, subject, settings->planner,
                                               &settings->planning, &outcome, complaint);
  if (status == BERTH_OK && whole) {
    berth_running_t running =
        berth_running_of(subject, &settings->subject, &settings->streaming, settings->planner);
    check->arena_bytes = running.needs.total + BERTH_RUNNING_STRUCTS;
    if (!running.possible) {
      berth_complain(complaint, "%s: Berth cannot run it: %s", subject->path, running.why);
      status = BERTH_ERROR_OPERATOR;
    } else {
      char *what = note(check, running.needs.metadata + BERTH_RUNNING_STRUCTS);
      if (what != NULL) snprintf(what, WHAT, "metadata and the interpreter");
    }
  } else if (status == BERTH_OK) {
    check->arena_bytes = outcome.plan.peak;
  }
  if (status == BERTH_OK) {
    note_dynamic(count_dynamic(subject), check);
    status = note_live(subject, &outcome.plan, true, check);
    if (status != BERTH_OK) berth_complain(complaint, "%s: out of memory", subject->path);
  }
  berth_outcome_free(&outcome);
  return status;
}

/* ---- Stock TFLM ------------------------------------------------------------------------------ */

/* The step of TFLM's count in which most bytes of the head are live. */
static int32_t fullest(const berth_tflm_forecast_t *forecast) {
  uint64_t most = 0;
  int32_t step = 0;
  for (uint32_t i = 0; i < forecast->buffer_count; i++) {
    int32_t at = forecast->buffers[i].first;
    uint64_t load = 0;
    for (uint32_t k = 0; k < forecast->buffer_count; k++) {
      const berth_tflm_buffer_t *buffer = &forecast->buffers[k];
      if (buffer->first <= at && at <= buffer->last) load += buffer->bytes;
    }
    if (load > most) {
      most = load;
      step = at;
    }
  }
  return step;
}

static void note_tflm(const berth_subject_t *subject, const berth_tflm_forecast_t *forecast,
                      berth_limit_check_t *check) {
  int32_t step = fullest(forecast);
  for (uint32_t i = 0; i < forecast->buffer_count; i++) {
    const berth_tflm_buffer_t *buffer = &forecast->buffers[i];
    if (buffer->first > step || step > buffer->last) continue;
    char *what = note(check, (buffer->bytes + 15) / 16 * 16);
    char name[160];
    if (what == NULL) continue;
    if (buffer->tensor == UINT32_MAX) {
      snprintf(what, WHAT, "scratch of %s",
               berth_runner_operator_text(&subject->model, buffer->subgraph, buffer->op, name,
                                          sizeof name));
    } else {
      berth_text_t text =
          berth_model_tensor(&subject->model, buffer->subgraph, buffer->tensor).name;
      snprintf(what, WHAT, "tensor %" PRIu32 " %s in the head", buffer->tensor,
               berth_printable(text.data, text.length, 60, name, sizeof name));
    }
  }
  for (uint32_t part = 0; part < BERTH_TFLM_PART_COUNT; part++) {
    char *what = note(check, forecast->tail[part].bytes);
    if (what != NULL) {
      snprintf(what, WHAT, "%s, %" PRIu32 " allocations of the tail",
               berth_tflm_part_name((berth_tflm_part_t)part), forecast->tail[part].count);
    }
  }
  uint64_t borrowed = forecast->min_arena_bytes - forecast->arena_used_bytes;
  char *what = note(check, borrowed);
  if (what != NULL) snprintf(what, WHAT, "borrowed while AllocateTensors runs");
}

static berth_status_t check_tflm(const berth_subject_t *subject, const berth_tflm_settings_t *stock,
                                 berth_limit_check_t *check, berth_complaint_t *complaint) {
  berth_tflm_forecast_t forecast;
  berth_tflm_error_t error = {"it cannot be forecast", UINT32_MAX, UINT32_MAX, UINT32_MAX};
  berth_status_t status = berth_tflm_forecast(&subject->model, stock, &forecast, &error);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: stock TFLM: %s", subject->path, error.what);
    return status;
  }
  for (uint32_t i = 0; i < forecast.operator_count && forecast.refused_count > 0; i++) {
    const berth_tflm_operator_t *op = &forecast.operators[i];
    char name[160];
    if (op->refusal == NULL) continue;
    berth_complain(
        complaint, "%s: stock TFLM refuses %s: %s", subject->path,
        berth_runner_operator_text(&subject->model, op->subgraph, op->op, name, sizeof name),
        op->refusal);
    berth_tflm_forecast_free(&forecast);
    return BERTH_ERROR_OPERATOR;
  }
  check->arena_bytes = forecast.min_arena_bytes;
  if (forecast.unknown_count > 0) {
    check->undecided = true;
    snprintf(check->why, sizeof check->why,
             "for %" PRIu32 " operator%s it is unknown what they need besides tensors",
             forecast.unknown_count, forecast.unknown_count == 1 ? "" : "s");
  }
  note_tflm(subject, &forecast, check);
  berth_tflm_forecast_free(&forecast);
  return BERTH_OK;
}

/* ---- Stock TFLite ---------------------------------------------------------------------------- */

/* The subject is opened by TFLite's rules: its plan is the arena in which tensors share memory, but
 * for the variables, which are with the decompressed weights in the other one. */
static berth_status_t check_tflite(const berth_subject_t *subject, berth_limit_check_t *check,
                                   berth_complaint_t *complaint) {
  const berth_forecast_options_t wanted = {.runtime = BERTH_RUNTIME_TFLITE};
  const berth_planning_t planning = {0};
  berth_forecast_t forecast;
  berth_outcome_t outcome;
  berth_status_t status =
      berth_forecast_make(&subject->model, subject->path, &wanted, &forecast, complaint);
  if (status != BERTH_OK) return status;
  check->arena_bytes = forecast.tflite.arena_used_bytes;
  note_dynamic(forecast.tflite.dynamic_count, check);
  char *what = note(check, forecast.tflite.tail_bytes);
  if (what != NULL) {
    snprintf(what, WHAT, "the persistent arena: variables, and weights that are decompressed once");
  }
  berth_forecast_free(&forecast);
  status =
      berth_planning_run(&berth_planner_tflite, &subject->problem, &planning, &outcome, complaint);
  if (status == BERTH_OK) {
    status = note_live(subject, &outcome.plan, false, check);
    if (status != BERTH_OK) berth_complain(complaint, "%s: out of memory", subject->path);
  }
  berth_outcome_free(&outcome);
  return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Lets the subject be a streamed plan's before it is planned, if it is to be streamed. */
static berth_status_t stream_and_check(berth_subject_t *subject, const berth_settings_t *settings,
                                       bool whole, berth_limit_check_t *check,
                                       berth_complaint_t *complaint) {
  if (settings->streaming.mode == BERTH_STREAMING_OFF) {
    return check_plan(subject, settings, NULL, whole, check, complaint);
  }
  berth_streaming_t streaming;
  berth_status_t status =
      berth_streaming_make(subject, &settings->streaming, &streaming, complaint);
  if (status != BERTH_OK) return status;
  status = check_plan(subject, settings, &streaming, whole, check, complaint);
  berth_streaming_free(&streaming);
  return status;
}

berth_status_t berth_limit_check(const char *path, const berth_settings_t *settings,
                                 berth_check_runtime_t runtime, const berth_tflm_settings_t *stock,
                                 uint64_t limit, berth_limit_check_t *check,
                                 berth_complaint_t *complaint) {
  berth_limit_check_t made = {.limit_bytes = limit};
  berth_subject_options_t opened = settings->subject;
  bool streamed = settings->streaming.mode != BERTH_STREAMING_OFF; /* it has scratch of its own */
  if (runtime == BERTH_CHECK_BERTH && !streamed) opened.kernels = true;
  if (runtime == BERTH_CHECK_TFLITE) {
    opened = (berth_subject_options_t){.align = 64, .exact_sizes = true, .keep_inputs = true};
  }
  berth_subject_t subject;
  berth_status_t status =
      berth_streaming_subject_open(path, &opened, &settings->streaming, &subject, complaint);
  if (status != BERTH_OK) return status;
  if (!subject.is_model && runtime != BERTH_CHECK_PLAN) {
    berth_complain(complaint, "%s: not a model", path);
    status = BERTH_ERROR_ARGUMENT;
  } else if (runtime == BERTH_CHECK_TFLM) {
    status = check_tflm(&subject, stock, &made, complaint);
  } else if (runtime == BERTH_CHECK_TFLITE) {
    status = check_tflite(&subject, &made, complaint);
  } else {
    status = stream_and_check(&subject, settings, runtime == BERTH_CHECK_BERTH, &made, complaint);
  }
  berth_subject_close(&subject);
  if (status != BERTH_OK) return status;
  made.over = made.arena_bytes > limit;
  if (made.over) made.undecided = false;
  *check = made;
  return BERTH_OK;
}
