/* Sweeps: the points of a curve, one plan (and one run) after the other. */
#include "host/sweep.h"
#include "host/anatomy.h"
#include "host/execute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INPUTS_MAX 64u

/* What a sweep works on. */
typedef struct sweeping {
  const char *path;
  const berth_subject_options_t *options;
  const berth_planner_t *planner;
  const berth_planning_t *planning;
  berth_sweep_t range;
  berth_named_shape_t shapes[INPUTS_MAX]; /* of the inputs as the file has them */
  char names[INPUTS_MAX][12];
  uint32_t shape_count;
  berth_named_region_t regions[BERTH_REGIONS_MAX];
  uint32_t region_count;
  bool timed;
  uint32_t invokes;
} sweeping_t;

const char *berth_sweep_name(berth_sweep_kind_t kind) {
  static const char *const names[] = {"none", "resolution", "batch", "align", "regions"};
  return names[kind];
}

/* ---- The range ------------------------------------------------------------------------------- */

static void note_inputs(sweeping_t *sweeping, const berth_model_t *model) {
  berth_vector_t inputs = berth_model_subgraph(model, 0).inputs;
  bool images = sweeping->range.kind == BERTH_SWEEP_RESOLUTION;
  for (uint32_t i = 0; i < inputs.count && sweeping->shape_count < INPUTS_MAX; i++) {
    int32_t index = berth_vector_int(inputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    berth_vector_t shape = berth_model_tensor(model, 0, (uint32_t)index).shape;
    if (shape.count > BERTH_RANK_MAX || shape.count < (images ? 4u : 1u)) continue;
    berth_named_shape_t *it = &sweeping->shapes[sweeping->shape_count];
    char *name = sweeping->names[sweeping->shape_count++];
    snprintf(name, sizeof sweeping->names[0], "%" PRIu32, i);
    *it = (berth_named_shape_t){.name = name, .rank = shape.count};
    for (uint32_t d = 0; d < shape.count; d++) it->dims[d] = berth_vector_int(shape, d);
    if (images) return; /* the first one */
  }
}

static void fill_range(sweeping_t *sweeping, uint64_t peak) {
  berth_sweep_t *range = &sweeping->range;
  bool given = range->to > 0;
  switch (range->kind) {
  case BERTH_SWEEP_RESOLUTION: {
    uint64_t now = (uint64_t)sweeping->shapes[0].dims[1];
    uint64_t step = now / 4 / 16 * 16; /* what networks that halve it four times can take */
    if (step == 0) step = 16;
    uint64_t from = now - now / 2 / step * step;
    if (!given) *range = (berth_sweep_t){range->kind, from > 0 ? from : step, 2 * now, step};
    break;
  }
  case BERTH_SWEEP_BATCH:
    if (!given) *range = (berth_sweep_t){range->kind, 1, 8, 1};
    break;
  case BERTH_SWEEP_ALIGN:
    if (!given) *range = (berth_sweep_t){range->kind, 1, 256, 0};
    break;
  case BERTH_SWEEP_REGIONS:
    if (!given) *range = (berth_sweep_t){range->kind, peak / 8, peak, peak / 8 > 0 ? peak / 8 : 1};
    break;
  case BERTH_SWEEP_NONE:
    break;
  }
  if (range->step == 0 && range->kind != BERTH_SWEEP_ALIGN) range->step = 1;
}

/* ---- One point ------------------------------------------------------------------------------- */

/* The options of a point; shapes go to `shapes`. */
static void change(sweeping_t *sweeping, uint64_t value, berth_named_shape_t *shapes,
                   berth_subject_options_t *options) {
  *options = *sweeping->options;
  memcpy(shapes, sweeping->shapes, sizeof sweeping->shapes);
  bool shaped = false;
  if (sweeping->range.kind == BERTH_SWEEP_RESOLUTION) {
    int64_t height = shapes[0].dims[1], width = shapes[0].dims[2];
    shapes[0].dims[1] = (int32_t)value;
    shapes[0].dims[2] = (int32_t)(height > 0 ? (int64_t)value * width / height : (int64_t)value);
    shaped = true;
  }
  for (uint32_t i = 0; i < sweeping->shape_count && sweeping->range.kind == BERTH_SWEEP_BATCH;
       i++) {
    shapes[i].dims[0] = (int32_t)value;
    shaped = true;
  }
  if (shaped) {
    options->what_if.shapes = shapes;
    options->what_if.shape_count = sweeping->shape_count;
  }
  if (sweeping->range.kind == BERTH_SWEEP_ALIGN) options->align = (uint32_t)value;
  if (sweeping->range.kind == BERTH_SWEEP_REGIONS) {
    sweeping->regions[0].region.capacity = value;
    options->regions = sweeping->regions;
    options->region_count = sweeping->region_count;
  }
}

/* Why a point has no peak, without the file's name, which is known. */
static void say_why(const sweeping_t *sweeping, const char *text, berth_sweep_point_t *point) {
  size_t length = strlen(sweeping->path);
  if (strncmp(text, sweeping->path, length) == 0 && text[length] == ':') text += length + 2;
  snprintf(point->why, sizeof point->why, "%.*s", (int)sizeof point->why - 1, text);
}

static void plan_point(const sweeping_t *sweeping, const berth_subject_options_t *options,
                       berth_sweep_point_t *point) {
  berth_complaint_t complaint;
  berth_subject_t subject;
  berth_outcome_t outcome;
  if (berth_subject_open(sweeping->path, options, &subject, &complaint) != BERTH_OK) {
    say_why(sweeping, complaint.text, point);
    return;
  }
  if (berth_planning_run(sweeping->planner, &subject.problem, sweeping->planning, &outcome,
                         &complaint) != BERTH_OK) {
    say_why(sweeping, complaint.text, point);
  } else if (!outcome.has_plan) {
    say_why(sweeping, "no plan was found", point);
  } else {
    point->planned = true;
    point->optimal = outcome.plan.optimal;
    point->cost = outcome.plan.cost;
    point->peak = sweeping->range.kind == BERTH_SWEEP_REGIONS
                      ? berth_region_peak(&subject.problem, outcome.plan.placements, 0)
                      : outcome.plan.peak;
  }
  berth_outcome_free(&outcome);
  berth_subject_close(&subject);
}

static void run_point(const sweeping_t *sweeping, const berth_subject_options_t *options,
                      berth_sweep_point_t *point) {
  berth_execution_options_t execution_options = {.runner = {.planner = sweeping->planner},
                                                 .shapes = options->what_if.shapes,
                                                 .shape_count = options->what_if.shape_count,
                                                 .random = true,
                                                 .invokes = sweeping->invokes};
  execution_options.runner.interpreter.alignment = options->align;
  execution_options.runner.interpreter.keep_inputs = options->keep_inputs;
  berth_execution_t execution;
  berth_complaint_t complaint;
  if (berth_execute(sweeping->path, &execution_options, &execution, &complaint) != BERTH_OK) return;
  point->ms = execution.ms_min;
  berth_execution_close(&execution);
}

/* ---- The curve ------------------------------------------------------------------------------- */

/* Opens the file once to see what can be swept. */
static berth_status_t start(sweeping_t *sweeping, berth_complaint_t *complaint) {
  berth_subject_t subject;
  berth_outcome_t outcome;
  berth_status_t status =
      berth_subject_open(sweeping->path, sweeping->options, &subject, complaint);
  if (status != BERTH_OK) return status;
  bool shapes =
      sweeping->range.kind == BERTH_SWEEP_RESOLUTION || sweeping->range.kind == BERTH_SWEEP_BATCH;
  if (shapes && subject.is_model) note_inputs(sweeping, &subject.model);
  if (shapes && sweeping->shape_count == 0) {
    berth_complain(complaint, "%s: has no input whose %s could be swept", sweeping->path,
                   berth_sweep_name(sweeping->range.kind));
    status = BERTH_ERROR_ARGUMENT;
  }
  sweeping->region_count = sweeping->options->region_count;
  if (sweeping->region_count > 0) {
    memcpy(sweeping->regions, sweeping->options->regions,
           sweeping->region_count * sizeof sweeping->regions[0]);
  }
  if (sweeping->region_count < 2) {
    const char *name = sweeping->region_count == 1 ? sweeping->regions[0].name : "fast";
    sweeping->regions[0] = (berth_named_region_t){name, {0, 1}};
    sweeping->regions[1] = (berth_named_region_t){"slow", {BERTH_UNLIMITED, 10}};
    sweeping->region_count = 2;
  }
  if (status == BERTH_OK) {
    berth_problem_t alone = subject.problem;
    alone.regions = NULL;
    alone.region_count = 0;
    status = berth_planning_run(sweeping->planner, &alone, sweeping->planning, &outcome, complaint);
    if (status == BERTH_OK) fill_range(sweeping, outcome.plan.peak);
    berth_outcome_free(&outcome);
  }
  berth_subject_close(&subject);
  return status;
}

berth_status_t berth_sweep_make(const char *path, const berth_subject_options_t *options,
                                const berth_planner_t *planner, const berth_planning_t *planning,
                                const berth_sweep_t *sweep, bool timed, uint32_t invokes,
                                berth_curve_t *curve, berth_complaint_t *complaint) {
  sweeping_t sweeping = {.path = path,
                         .options = options,
                         .planner = planner,
                         .planning = planning,
                         .range = *sweep,
                         .timed = timed,
                         .invokes = invokes};
  *curve = (berth_curve_t){.kind = sweep->kind, .timed = timed};
  berth_status_t status = start(&sweeping, complaint);
  if (status != BERTH_OK) return status;
  for (uint64_t value = sweeping.range.from; value <= sweeping.range.to;) {
    if (curve->count == BERTH_SWEEP_POINTS) {
      berth_complain(complaint, "%s: a sweep has at most %u points", path, BERTH_SWEEP_POINTS);
      return BERTH_ERROR_ARGUMENT;
    }
    berth_sweep_point_t *point = &curve->points[curve->count++];
    *point = (berth_sweep_point_t){.value = value, .ms = -1};
    berth_named_shape_t shapes[INPUTS_MAX];
    berth_subject_options_t changed;
    change(&sweeping, value, shapes, &changed);
    plan_point(&sweeping, &changed, point);
    if (timed && point->planned) run_point(&sweeping, &changed, point);
    value = sweeping.range.kind == BERTH_SWEEP_ALIGN ? 2 * value : value + sweeping.range.step;
  }
  return BERTH_OK;
}
