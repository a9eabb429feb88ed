/* A plan in JSON: the keys of the README, in a fixed order, nothing that depends on the machine. */
#include "host/anatomy.h"
#include "host/json.h"
#include "host/peak_print.h"
#include "host/plan_file.h"
#include "host/streaming_print.h"
#include "host/usage.h"

#include <string.h>

#define SCHEMA_VERSION 1

static const char *status_word(const berth_outcome_t *outcome) {
  switch (outcome->status) {
  case BERTH_OK:
    return "planned";
  case BERTH_INFEASIBLE:
    return "infeasible";
  case BERTH_UNDECIDED:
    return "undecided";
  case BERTH_ERROR_UNSUPPORTED:
    return "unsupported";
  default:
    return "failed";
  }
}

static void number_or_null(berth_json_t *json, const char *key, bool known, uint64_t value) {
  if (known) {
    berth_json_number(json, key, value);
  } else {
    berth_json_null(json, key);
  }
}

static void write_dynamic(const berth_subject_t *subject, berth_json_t *json) {
  berth_json_open(json, "dynamic", '[');
  for (uint32_t i = 0; subject->is_model && i < subject->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &subject->graph.tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_DYNAMIC) continue;
    berth_text_t name = berth_model_tensor(&subject->model, tensor->subgraph, tensor->tensor).name;
    const berth_graph_tensor_t *origin = &subject->graph.tensors[tensor->origin];
    berth_json_open_line(json, NULL, '{');
    berth_json_text(json, "name", name.data, name.length);
    berth_json_number(json, "subgraph", tensor->subgraph);
    berth_json_number(json, "tensor", tensor->tensor);
    berth_json_number(json, "first", tensor->first);
    berth_json_number(json, "last", tensor->last);
    berth_json_string(json, "cause", berth_cause_text(tensor->cause));
    berth_json_number(json, "origin_subgraph", origin->subgraph);
    berth_json_number(json, "origin_tensor", origin->tensor);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
}

static void write_totals(const char *key, berth_totals_t totals, berth_json_t *json) {
  berth_json_open_line(json, key, '{');
  berth_json_number(json, "sum_bytes", totals.sum_bytes);
  berth_json_number(json, "lower_bound_bytes", totals.lower_bound_bytes);
  berth_json_close(json, '}');
}

static void write_regions(const berth_plan_report_t *report, berth_json_t *json) {
  const berth_subject_t *subject = report->subject;
  if (subject->problem.region_count == 0) return;
  bool planned = report->outcome != NULL && report->outcome->has_plan;
  number_or_null(json, "cost", planned, planned ? report->outcome->plan.cost : 0);
  berth_json_open(json, "regions", '[');
  for (uint32_t r = 0; r < subject->problem.region_count; r++) {
    const berth_region_t *region = &subject->problem.regions[r];
    berth_json_open_line(json, NULL, '{');
    berth_json_string(json, "name", berth_region_name(subject, r));
    number_or_null(json, "capacity_bytes", region->capacity != BERTH_UNLIMITED, region->capacity);
    berth_json_number(json, "cost_per_byte", region->cost);
    number_or_null(
        json, "peak_bytes", planned,
        planned ? berth_region_peak(&subject->problem, report->outcome->plan.placements, r) : 0);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
}

/* Why there is no plan: the first reason that was found. */
static void write_obstacle(const berth_plan_report_t *report, berth_json_t *json) {
  static const char *const words[] = {"unknown", "buffer", "conflict", "step"};
  const berth_explanation_t *obstacle = &report->outcome->obstacle;
  bool names =
      obstacle->obstacle == BERTH_OBSTACLE_BUFFER || obstacle->obstacle == BERTH_OBSTACLE_CONFLICT;
  bool bytes =
      obstacle->obstacle == BERTH_OBSTACLE_BUFFER || obstacle->obstacle == BERTH_OBSTACLE_STEP;
  berth_json_open_line(json, "obstacle", '{');
  berth_json_string(json, "reason", words[obstacle->obstacle]);
  number_or_null(json, "step", obstacle->obstacle == BERTH_OBSTACLE_STEP, obstacle->step);
  number_or_null(json, "a", names && obstacle->a != UINT32_MAX, obstacle->a);
  number_or_null(json, "b", names && obstacle->b != UINT32_MAX, obstacle->b);
  number_or_null(json, "needed_bytes", bytes, obstacle->needed);
  number_or_null(json, "available_bytes", bytes, obstacle->available);
  berth_json_close(json, '}');
}

static void write_outcomes(const berth_plan_report_t *report, berth_json_t *json) {
  if (report->outcome_count < 2) return;
  berth_json_open(json, "planners", '[');
  for (uint32_t i = 0; i < report->outcome_count; i++) {
    const berth_outcome_t *outcome = &report->outcomes[i];
    berth_json_open_line(json, NULL, '{');
    berth_json_string(json, "planner", outcome->planner->name);
    berth_json_string(json, "status", status_word(outcome));
    number_or_null(json, "peak_bytes", outcome->has_plan, outcome->plan.peak);
    number_or_null(json, "lower_bound_bytes", outcome->status >= 0, outcome->plan.lower_bound);
    berth_json_bool(json, "optimal", outcome->has_plan && outcome->plan.optimal);
    number_or_null(json, "work", outcome->status >= 0, outcome->plan.work);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
}

/* The file's operator of each step. */
static void write_order(const berth_subject_t *subject, berth_json_t *json) {
  uint32_t steps = berth_model_subgraph(&subject->model, 0).operator_count;
  berth_json_open(json, "order", '[');
  for (uint32_t i = 0; i < steps; i++) berth_json_number(json, NULL, subject->order[i]);
  berth_json_close(json, ']');
}

void berth_plan_json_summary(const berth_plan_report_t *report, berth_json_t *json) {
  const berth_subject_t *subject = report->subject;
  const berth_outcome_t *outcome = report->outcome;
  bool planned = outcome != NULL && outcome->has_plan;
  berth_json_number(json, "schema_version", SCHEMA_VERSION);
  berth_json_string(json, subject->is_model ? "model" : "problem", subject->path);
  if (outcome != NULL) {
    berth_json_string(json, "planner", outcome->planner->name);
    berth_json_string(json, "status", status_word(outcome));
  } else {
    berth_json_null(json, "planner");
  }
  number_or_null(json, "peak_bytes", planned, planned ? outcome->plan.peak : 0);
  berth_json_number(json, "lower_bound_bytes",
                    outcome != NULL && outcome->status >= 0 ? outcome->plan.lower_bound
                                                            : report->load);
  berth_json_number(json, "sum_bytes", subject->sum_bytes);
  berth_json_bool(json, "optimal", planned && outcome->plan.optimal);
  berth_json_number(json, "variable_bytes", subject->variable_bytes);
  if (report->capacity != 0) berth_json_number(json, "capacity_bytes", report->capacity);
  if (outcome != NULL) {
    number_or_null(json, "work", outcome->status >= 0, outcome->plan.work);
    if (outcome->stopped) berth_json_bool(json, "stopped", true);
  }
  berth_json_number(json, "steps", subject->step_count);
  if (subject->is_model) {
    berth_json_number(json, "foldable_operators", subject->graph.foldable_count);
    write_totals("folded", report->folded, json);
    write_totals("unfolded", report->unfolded, json);
  }
  if (outcome != NULL && outcome->status == BERTH_INFEASIBLE) write_obstacle(report, json);
  write_regions(report, json);
  write_outcomes(report, json);
  if (report->streaming != NULL) {
    berth_streaming_json(report->streaming, subject->order, json);
  } else if (subject->order != NULL) {
    write_order(subject, json);
  }
  write_dynamic(subject, json);
  berth_peaks_json(report, json);
}

/* The number that a problem's id is, if it is one in plain decimal. */
static bool plain_number(berth_text_t text, uint64_t *value) {
  if (text.length == 0 || text.length > 15 || (text.length > 1 && text.data[0] == '0'))
    return false;
  *value = 0;
  for (uint32_t i = 0; i < text.length; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    *value = *value * 10 + (uint64_t)(text.data[i] - '0');
  }
  return true;
}

static void write_id(const berth_subject_t *subject, uint32_t index, berth_json_t *json) {
  const berth_label_t *label = &subject->labels[index];
  uint64_t number;
  if (subject->is_model || label->kind == BERTH_KIND_RESERVED) {
    berth_json_number(json, "id", index);
  } else if (plain_number(label->name, &number)) {
    berth_json_number(json, "id", number);
  } else {
    berth_json_text(json, "id", label->name.data, label->name.length);
  }
}

static void write_buffer(const berth_plan_report_t *report, uint32_t index, berth_json_t *json) {
  const berth_subject_t *subject = report->subject;
  const berth_buffer_t *buffer = &subject->problem.buffers[index];
  const berth_label_t *label = &subject->labels[index];
  bool planned = report->outcome != NULL && report->outcome->has_plan;
  berth_json_open_line(json, NULL, '{');
  write_id(subject, index, json);
  berth_json_text(json, "name", label->name.data, label->name.length);
  number_or_null(json, "subgraph", label->subgraph != BERTH_NOBODY, label->subgraph);
  number_or_null(json, "tensor", label->tensor != BERTH_NOBODY, label->tensor);
  if (label->has_kind) {
    berth_json_string(json, "kind", berth_buffer_kind_name(label->kind));
  } else {
    berth_json_null(json, "kind");
  }
  berth_json_number(json, "size", buffer->size);
  berth_json_number(json, "first", buffer->first);
  berth_json_number(json, "last", buffer->last);
  const berth_placement_t *place = planned ? &report->outcome->plan.placements[index] : NULL;
  number_or_null(json, "offset", planned && place->region != BERTH_OUTSIDE,
                 planned ? place->offset : 0);
  if (planned) {
    berth_json_string(json, "region", berth_region_name(subject, place->region));
  } else {
    berth_json_null(json, "region");
  }
  berth_json_close(json, '}');
}

static void write_conflicts(const berth_plan_report_t *report, berth_json_t *json) {
  const berth_problem_t *problem = &report->subject->problem;
  berth_json_open(json, "conflicts", '[');
  for (uint32_t a = 0; a < problem->buffer_count; a++) {
    for (uint32_t b = a + 1; b < problem->buffer_count; b++) {
      if (!berth_buffers_conflict(&problem->buffers[a], &problem->buffers[b])) continue;
      berth_json_open_line(json, NULL, '[');
      berth_json_number(json, NULL, a);
      berth_json_number(json, NULL, b);
      berth_json_close(json, ']');
    }
  }
  berth_json_close(json, ']');
}

void berth_plan_json_buffers(const berth_plan_report_t *report, berth_json_t *json) {
  berth_json_open(json, "buffers", '[');
  for (uint32_t i = 0; i < report->subject->problem.buffer_count; i++) {
    write_buffer(report, i, json);
  }
  berth_json_close(json, ']');
  if (report->conflicts) write_conflicts(report, json);
  if (report->usage != NULL) berth_usage_json(report->usage, json);
}

void berth_plan_write_json(const berth_plan_report_t *report, FILE *stream) {
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_plan_json_summary(report, &json);
  berth_plan_json_buffers(report, &json);
  berth_json_close(&json, '}');
}
