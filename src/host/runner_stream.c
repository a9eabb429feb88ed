/* Running a model with a streamed plan: searches, places, verifies, and hands the interpreter the
 * runs, the rings and the offsets. Inputs that come row by row are filled in a frame of the
 * runner's own, whose rows are then pushed one after the other, as a camera would.
 */
#include "host/runner.h"
#include "host/streaming_verify.h"
#include <stdlib.h>
#include <string.h>

/* ---- The plan -------------------------------------------------------------------------------- */

/* The offsets of all tensors, as they were placed. */
static berth_status_t take_offsets(berth_runner_t *runner, const berth_subject_t *subject,
                                   const berth_plan_t *plan) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < runner->model.subgraph_count; s++) {
    count += berth_model_subgraph(&runner->model, s).tensor_count;
  }
  int32_t *offsets = malloc((count > 0 ? count : 1) * sizeof *offsets);
  if (offsets == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < count; i++) offsets[i] = -1;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    if (label->subgraph == BERTH_NOBODY || label->kind == BERTH_KIND_VARIABLE) continue;
    if (plan->placements[i].offset > INT32_MAX) {
      free(offsets);
      return BERTH_ERROR_OVERFLOW;
    }
    offsets[subject->graph.bases[label->subgraph] + label->tensor] =
        (int32_t)plan->placements[i].offset;
  }
  runner->offsets = (berth_offsets_t){offsets, count};
  return BERTH_OK;
}

/* Places the streamed plan, and follows it once before anything runs. */
static berth_status_t place(berth_runner_t *runner, berth_subject_t *subject,
                            berth_complaint_t *complaint) {
  const berth_planner_t *planner = runner->options.planner;
  if (planner == NULL) planner = &berth_planner_best;
  const berth_planning_t planning = {.work_limit = BERTH_STREAMING_WORK};
  berth_outcome_t outcome;
  berth_status_t status =
      berth_planning_run(planner, &subject->problem, &planning, &outcome, complaint);
  if (status == BERTH_OK && !outcome.has_plan) {
    berth_complain(complaint, "%s: planner %s found no plan for it row by row", runner->path,
                   planner->name);
    status = BERTH_ERROR_UNSUPPORTED;
  }
  if (status == BERTH_OK) {
    status = berth_streaming_verify(runner->streaming, outcome.plan.placements, complaint);
  }
  if (status == BERTH_OK) {
    berth_complain(complaint, "%s: out of memory", runner->path);
    status = take_offsets(runner, subject, &outcome.plan);
  }
  berth_outcome_free(&outcome);
  return status;
}

static berth_status_t make_frames(berth_runner_t *runner) {
  uint32_t count = berth_model_subgraph(&runner->model, 0).inputs.count;
  runner->frames = calloc((size_t)count + 1, sizeof *runner->frames);
  return runner->frames != NULL ? BERTH_OK : BERTH_ERROR_MEMORY;
}

berth_status_t berth_runner_stream(berth_runner_t *runner, berth_complaint_t *complaint) {
  const berth_interpreter_options_t *interpreter = &runner->options.interpreter;
  if (runner->options.streaming.mode == BERTH_STREAMING_OFF) return BERTH_OK;
  berth_streaming_options_t wanted = runner->options.streaming;
  wanted.align = interpreter->alignment;
  berth_subject_options_t options = {.align =
                                         interpreter->alignment > 0 ? interpreter->alignment : 16,
                                     .keep_inputs = interpreter->keep_inputs};
  berth_subject_t subject;
  berth_status_t status = berth_subject_open(runner->path, &options, &subject, complaint);
  if (status != BERTH_OK) return status;
  runner->streaming = calloc(1, sizeof *runner->streaming);
  if (runner->streaming == NULL) {
    berth_complain(complaint, "%s: out of memory", runner->path);
    status = BERTH_ERROR_MEMORY;
  }
  if (status == BERTH_OK) {
    status = berth_streaming_make(&subject, &wanted, runner->streaming, complaint);
  }
  if (status == BERTH_OK && runner->streaming->plan.run_count > 0) {
    status = place(runner, &subject, complaint);
    if (status == BERTH_OK) status = make_frames(runner);
    runner->options.interpreter.stream = &runner->streaming->plan;
    runner->options.interpreter.trust_offsets =
        true; /* they have been verified, overlaps and all */
  }
  berth_subject_close(&subject);
  if (runner->streaming != NULL) runner->streaming->network.model = &runner->model;
  return status;
}

void berth_runner_stream_free(berth_runner_t *runner) {
  uint32_t count =
      runner->frames != NULL ? berth_model_subgraph(&runner->model, 0).inputs.count : 0;
  for (uint32_t i = 0; i < count; i++) free(runner->frames[i]);
  free(runner->frames);
  runner->frames = NULL;
  if (runner->streaming != NULL) berth_streaming_free(runner->streaming);
  free(runner->streaming);
  runner->streaming = NULL;
}

/* ---- Invokes --------------------------------------------------------------------------------- */

berth_value_t berth_runner_input(berth_runner_t *runner, uint32_t input) {
  berth_value_t value = berth_interpreter_input(&runner->interpreter, input);
  if (runner->frames == NULL || !berth_interpreter_is_pushed(&runner->interpreter, input)) {
    return value;
  }
  if (runner->frames[input] == NULL) {
    runner->frames[input] = malloc(value.bytes > 0 ? value.bytes : 1);
  }
  value.data = runner->frames[input];
  value.ring = value.rows > 0 ? value.rows : 1;
  return value;
}

/* The next row of `input`, if it is its turn. */
static berth_status_t push_row(berth_runner_t *runner, uint32_t input, uint32_t row) {
  berth_value_t frame = berth_runner_input(runner, input);
  if (frame.data == NULL) return BERTH_ERROR_MEMORY;
  return berth_interpreter_push_rows(&runner->interpreter, input, berth_row(&frame, row), 1, NULL);
}

berth_status_t berth_runner_invoke(berth_runner_t *runner) {
  berth_interpreter_t *interpreter = &runner->interpreter;
  uint32_t count = berth_model_subgraph(&runner->model, 0).inputs.count, input = 0, row = 0;
  while (input < count && !berth_interpreter_is_pushed(interpreter, input)) input++;
  if (input == count) return berth_interpreter_invoke(interpreter);
  berth_status_t status = push_row(runner, input, 0);
  if (status == BERTH_ERROR_ARGUMENT &&
      berth_interpreter_wanted(interpreter, &row) != BERTH_NOBODY) {
    status = BERTH_OK; /* it has begun, but wants another input's rows first */
  }
  while (status == BERTH_OK &&
         (input = berth_interpreter_wanted(interpreter, &row)) != BERTH_NOBODY) {
    status = push_row(runner, input, row);
  }
  return status;
}
