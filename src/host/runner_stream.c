/* Running a model with a streamed plan: searches, places, verifies, and hands the interpreter the
 * runs, the rings and the offsets. Inputs that come row by row are filled in a frame of the
 * runner's own, whose rows are then pushed one after the other, as a camera would.
 */
#include "host/runner.h"
#include "host/streaming_order.h"
#include "host/streaming_read.h"
#include <stdlib.h>
#include <string.h>

/* ---- The plan -------------------------------------------------------------------------------- */

/* The offsets of all tensors, as they were placed. */
static berth_status_t take_offsets(berth_runner_t *runner, const berth_subject_t *subject,
                                   const berth_placement_t *placements) {
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
    if (placements[i].offset > INT32_MAX) {
      free(offsets);
      return BERTH_ERROR_OVERFLOW;
    }
    offsets[subject->graph.bases[label->subgraph] + label->tensor] = (int32_t)placements[i].offset;
  }
  berth_offsets_free(&runner->offsets);
  runner->offsets = (berth_offsets_t){.offsets = offsets, .count = count};
  return BERTH_OK;
}

/* Places the streamed plan, and follows it once before anything runs. */
static berth_status_t place(berth_runner_t *runner, berth_subject_t *subject,
                            berth_complaint_t *complaint) {
  const berth_planner_t *planner = runner->options.planner;
  if (planner == NULL) planner = &berth_planner_best;
  const berth_planning_t planning = {.work_limit = runner->options.streaming.work_limit};
  berth_outcome_t outcome;
  berth_status_t status =
      berth_streaming_plan(runner->streaming, subject, planner, &planning, &outcome, complaint);
  if (status == BERTH_OK && !outcome.has_plan) {
    berth_complain(complaint, "%s: planner %s found no plan for it row by row", runner->path,
                   planner->name);
    status = BERTH_ERROR_UNSUPPORTED;
  }
  if (status == BERTH_OK) {
    berth_complain(complaint, "%s: out of memory", runner->path);
    status = take_offsets(runner, subject, outcome.plan.placements);
  }
  berth_outcome_free(&outcome);
  return status;
}

/* Room for frames of inputs and outputs that come row by row; each is made when it is used. */
static berth_status_t make_frames(berth_runner_t *runner) {
  berth_subgraph_t graph = berth_model_subgraph(&runner->model, 0);
  runner->frames = calloc((size_t)graph.inputs.count + 1, sizeof *runner->frames);
  runner->results = calloc((size_t)graph.outputs.count + 1, sizeof *runner->results);
  return runner->frames != NULL && runner->results != NULL ? BERTH_OK : BERTH_ERROR_MEMORY;
}

/* From now on the interpreter has the streamed plan. Its offsets have been verified, overlaps and
 * all. */
static berth_status_t use_plan(berth_runner_t *runner) {
  runner->options.interpreter.stream = &runner->streaming->plan;
  runner->options.interpreter.trust_offsets = true;
  return make_frames(runner);
}

/* The plan's order: the subject is the model in it, the interpreter has the model as it is. */
static berth_status_t take_order(berth_runner_t *runner, const uint32_t *from, uint32_t count,
                                 berth_complaint_t *complaint) {
  runner->streaming->plan.order = NULL;
  if (from == NULL) return BERTH_OK;
  uint32_t *order = berth_streaming_take(runner->streaming, count, sizeof *order);
  berth_complain(complaint, "%s: out of memory", runner->path);
  if (order == NULL) return BERTH_ERROR_MEMORY;
  memcpy(order, from, count * sizeof *order);
  runner->streaming->plan.order = order;
  return BERTH_OK;
}

static berth_status_t search_and_place(berth_runner_t *runner, berth_subject_t *subject,
                                       berth_complaint_t *complaint) {
  berth_streaming_options_t wanted = runner->options.streaming;
  wanted.align = runner->options.interpreter.alignment;
  berth_status_t status = berth_streaming_make(subject, &wanted, runner->streaming, complaint);
  if (status != BERTH_OK || runner->streaming->plan.run_count == 0) return status;
  status = place(runner, subject, complaint);
  if (status == BERTH_OK) {
    uint32_t steps = runner->streaming->plan.step_count;
    status = take_order(runner, subject->order, steps, complaint);
  }
  return status == BERTH_OK ? use_plan(runner) : status;
}

/* A saved plan was verified for the model as it is, and may write over inputs. */
static berth_status_t check_options(const berth_runner_t *runner, berth_complaint_t *complaint) {
  bool keeps = runner->options.interpreter.keep_inputs;
  if (!keeps && runner->options.reshape == NULL) return BERTH_OK;
  berth_complain(complaint, "%s: a streamed plan cannot be run with %s", runner->options.plan_path,
                 keeps ? "inputs kept" : "other shapes");
  return BERTH_ERROR_UNSUPPORTED;
}

/* Nothing is streamed, but the order is the plan's. The interpreter checks the offsets in it. */
static void use_order(berth_runner_t *runner, berth_saved_streaming_t *saved) {
  runner->ordered = (berth_stream_plan_t){.order = saved->order, .step_count = saved->order_count};
  runner->options.interpreter.stream = &runner->ordered;
  saved->order = NULL;
}

/* Executes a plan that was saved. */
static berth_status_t adopt(berth_runner_t *runner, const berth_saved_streaming_t *saved,
                            berth_subject_t *subject, berth_complaint_t *complaint) {
  uint32_t align = runner->options.interpreter.alignment;
  berth_placement_t *placements;
  berth_status_t status = berth_saved_streaming_adopt(
      saved, runner->options.plan_path, &runner->offsets, subject, align > 0 ? align : 16,
      runner->streaming, &placements, complaint);
  if (status != BERTH_OK) return status;
  berth_complain(complaint, "%s: out of memory", runner->path);
  status = take_offsets(runner, subject, placements);
  free(placements);
  if (status == BERTH_OK) {
    status = take_order(runner, saved->order, saved->order_count, complaint);
  }
  return status == BERTH_OK ? use_plan(runner) : status;
}

berth_status_t berth_runner_stream(berth_runner_t *runner, berth_complaint_t *complaint) {
  const berth_interpreter_options_t *interpreter = &runner->options.interpreter;
  berth_saved_streaming_t saved = {.run_count = 0};
  berth_status_t status = BERTH_OK;
  if (runner->options.plan_path != NULL) {
    status = berth_saved_streaming_read(runner->options.plan_path, &saved, complaint);
    if (status == BERTH_OK && saved.run_count > 0) status = check_options(runner, complaint);
    if (status == BERTH_OK) {
      status =
          berth_saved_order_check(&saved, runner->options.plan_path, &runner->model, complaint);
    }
  }
  if (status == BERTH_OK && saved.run_count == 0 && saved.order != NULL) use_order(runner, &saved);
  if (status != BERTH_OK ||
      (saved.run_count == 0 && runner->options.streaming.mode == BERTH_STREAMING_OFF)) {
    berth_saved_streaming_free(&saved);
    return status;
  }
  berth_subject_options_t options = {.align =
                                         interpreter->alignment > 0 ? interpreter->alignment : 16,
                                     .keep_inputs = interpreter->keep_inputs,
                                     .order = saved.order};
  berth_streaming_options_t wanted = runner->options.streaming;
  wanted.align = options.align;
  berth_subject_t subject;
  status = berth_streaming_subject_open(runner->path, &options, &wanted, &subject, complaint);
  if (status == BERTH_OK) {
    berth_complain(complaint, "%s: out of memory", runner->path);
    runner->streaming = calloc(1, sizeof *runner->streaming);
    if (runner->streaming == NULL) {
      status = BERTH_ERROR_MEMORY;
    } else if (saved.run_count > 0) {
      status = adopt(runner, &saved, &subject, complaint);
    } else {
      status = search_and_place(runner, &subject, complaint);
    }
    berth_subject_close(&subject);
  }
  berth_saved_streaming_free(&saved);
  if (runner->streaming != NULL) runner->streaming->network.model = &runner->model;
  return status;
}

static void free_frames(uint8_t ***frames, uint32_t count) {
  for (uint32_t i = 0; i < count && *frames != NULL; i++) free((*frames)[i]);
  free(*frames);
  *frames = NULL;
}

void berth_runner_stream_free(berth_runner_t *runner) {
  if (runner->streaming != NULL) {
    berth_subgraph_t graph = berth_model_subgraph(&runner->model, 0);
    free_frames(&runner->frames, graph.inputs.count);
    free_frames(&runner->results, graph.outputs.count);
  }
  if (runner->streaming != NULL) berth_streaming_free(runner->streaming);
  free(runner->streaming);
  runner->streaming = NULL;
  free((void *)runner->ordered.order);
  runner->ordered.order = NULL;
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

void berth_runner_take_rows(berth_runner_t *runner, uint32_t output, const berth_value_t *value,
                            uint32_t first_row, uint32_t last_row) {
  if (runner->results == NULL) return;
  if (runner->results[output] == NULL) runner->results[output] = calloc(value->bytes + 1u, 1);
  if (runner->results[output] == NULL) {
    runner->rows_lost = true;
    return;
  }
  for (uint32_t row = first_row; row < last_row; row++) {
    memcpy(runner->results[output] + (size_t)row * value->row_bytes, berth_row(value, row),
           value->row_bytes);
  }
}

berth_value_t berth_runner_output(const berth_runner_t *runner, uint32_t output) {
  berth_value_t value = berth_interpreter_output(&runner->interpreter, output);
  if (runner->results == NULL || !value.present || value.ring >= value.rows) return value;
  value.data = runner->results[output];
  value.ring = value.rows;
  return value;
}

/* The rows of `input` from `row` on, if it is its turn: as many as are wanted one after the other.
 */
static berth_status_t push_rows(berth_runner_t *runner, uint32_t input, uint32_t row) {
  berth_value_t frame = berth_runner_input(runner, input);
  uint32_t taken;
  if (frame.data == NULL) return BERTH_ERROR_MEMORY;
  return berth_interpreter_push_rows(&runner->interpreter, input, berth_row(&frame, row),
                                     frame.rows - row, &taken);
}

/* All at once, or the rows of inputs as they are asked for. */
static berth_status_t invoke(berth_runner_t *runner) {
  berth_interpreter_t *interpreter = &runner->interpreter;
  uint32_t count = berth_model_subgraph(&runner->model, 0).inputs.count, input, row = 0;
  bool pushed = false;
  berth_status_t status = BERTH_ERROR_ARGUMENT;
  /* The input whose turn it is takes its first rows, others refuse theirs. */
  for (input = 0; input < count && status == BERTH_ERROR_ARGUMENT; input++) {
    if (!berth_interpreter_is_pushed(interpreter, input)) continue;
    pushed = true;
    status = push_rows(runner, input, 0);
  }
  if (!pushed) return berth_interpreter_invoke(interpreter);
  while (status == BERTH_OK &&
         (input = berth_interpreter_wanted(interpreter, &row)) != BERTH_NOBODY) {
    status = push_rows(runner, input, row);
  }
  return status;
}

berth_status_t berth_runner_invoke(berth_runner_t *runner) {
  runner->rows_lost = false;
  berth_status_t status = invoke(runner);
  return status == BERTH_OK && runner->rows_lost ? BERTH_ERROR_MEMORY : status;
}
