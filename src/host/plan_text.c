/* What `berth plan` says to people. First what they came for, the peak; then how good that is, what
 * makes it, what is lost, and the picture. */
#include "host/plan_text.h"
#include "host/anatomy.h"
#include "host/draw.h"
#include "host/peak_print.h"
#include "host/streaming_print.h"
#include "host/table.h"
#include "host/text.h"
#include "host/usage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *berth_label_print(const berth_label_t *label, uint32_t columns, char *out) {
  return berth_printable(label->name.data, label->name.length, columns, out, BERTH_NAME_ROOM);
}

const char *berth_buffer_text(const berth_label_t *label, uint32_t columns, char *out) {
  char name[BERTH_NAME_ROOM];
  berth_label_print(label, columns, name);
  if (label->tensor == BERTH_NOBODY) {
    const char *kind = label->has_kind ? berth_buffer_kind_name(label->kind) : "";
    snprintf(out, BERTH_NAME_ROOM, "%s%s%.400s", kind, label->has_kind ? " " : "", name);
  } else if (label->subgraph > 0) {
    snprintf(out, BERTH_NAME_ROOM, "tensor %" PRIu32 " of subgraph %" PRIu32 " %.400s",
             label->tensor, label->subgraph, name);
  } else {
    const char *kind =
        label->kind == BERTH_KIND_ACTIVATION ? "tensor" : berth_buffer_kind_name(label->kind);
    snprintf(out, BERTH_NAME_ROOM, "%s %" PRIu32 " %.400s", kind, label->tensor, name);
  }
  return out;
}

/* ---- Totals --------------------------------------------------------------------------------- */

static void line(FILE *stream, const char *label, uint64_t bytes, const char *remark) {
  berth_short_t human = berth_human_bytes(bytes);
  fprintf(stream, "%-14s %15s bytes  %10s%s%s\n", label, berth_grouped(bytes).text, human.text,
          remark[0] != '\0' ? "  " : "", remark);
}

/* With several regions the plan's cost is what counts; else its peak. */
static void print_cost(const berth_subject_t *subject, const berth_plan_t *plan, FILE *stream) {
  fprintf(stream, "%-14s %15s%s\n", "Cost", berth_grouped(plan->cost).text,
          plan->optimal ? "  proven optimal" : "");
  uint64_t outside = 0;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    if (plan->placements[i].region == BERTH_OUTSIDE) outside += subject->problem.buffers[i].size;
  }
  for (uint32_t r = 0; r < subject->problem.region_count; r++) {
    char label[64];
    berth_printable(subject->regions[r].name, strlen(subject->regions[r].name), 14, label,
                    sizeof label);
    line(stream, label, berth_region_peak(&subject->problem, plan->placements, r), "used");
  }
  if (outside > 0) line(stream, "Outside", outside, "constants that stay where they are");
}

static void print_peak(const berth_subject_t *subject, const berth_plan_t *plan, FILE *stream) {
  char remark[96] = "";
  if (plan->optimal) {
    snprintf(remark, sizeof remark, "proven optimal");
  } else if (plan->lower_bound > 0) {
    snprintf(remark, sizeof remark, "%s above the lower bound",
             berth_percent(plan->peak - plan->lower_bound, plan->lower_bound).text);
  }
  line(stream, "Peak", plan->peak, remark);
  line(stream, "Lower bound", plan->lower_bound, "");
  remark[0] = '\0';
  if (subject->sum_bytes >= plan->peak) {
    snprintf(remark, sizeof remark, "reuse saves %s",
             berth_percent(subject->sum_bytes - plan->peak, subject->sum_bytes).text);
  }
  line(stream, "Without reuse", subject->sum_bytes, remark);
}

static void print_totals(const berth_plan_report_t *report, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_outcome_t *outcome = report->outcome;
  if (!outcome->has_plan) {
    line(stream, "Lower bound", outcome->plan.lower_bound, "");
    line(stream, "Without reuse", subject->sum_bytes, "");
  } else if (subject->problem.region_count > 1) {
    print_cost(subject, &outcome->plan, stream);
    line(stream, "Without reuse", subject->sum_bytes, "");
  } else {
    print_peak(subject, &outcome->plan, stream);
  }
  if (subject->variable_bytes > 0) {
    line(stream, "Variables", subject->variable_bytes, "of the peak, kept between invokes");
  }
  if (subject->is_model && subject->graph.foldable_count > 0) {
    bool folded = report->folds;
    berth_totals_t other = folded ? report->unfolded : report->folded;
    fprintf(stream,
            "%" PRIu32 " operators on constants %s; otherwise: lower bound %s, without reuse %s\n",
            subject->graph.foldable_count,
            folded ? "count as folded (--no-fold plans their results)" : "are planned, too",
            berth_grouped(other.lower_bound_bytes).text, berth_grouped(other.sum_bytes).text);
  }
}

/* ---- The peak ------------------------------------------------------------------------------- */

static bool print_region(const berth_plan_report_t *report, uint32_t region,
                         berth_terminal_t terminal, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_placement_t *placements = report->outcome->plan.placements;
  uint64_t peak = berth_region_peak(&subject->problem, placements, region);
  bool several = subject->problem.region_count > 0;
  if (several) {
    const berth_region_t *it = &subject->problem.regions[region];
    fprintf(stream, "\nRegion %s: %s of %s bytes used\n", berth_region_name(subject, region),
            berth_grouped(peak).text, berth_grouped(it->capacity).text);
  }
  if (peak == 0) return true;

  berth_anatomy_t anatomy;
  bool good = berth_anatomy_of(subject, placements, region, peak, &anatomy) == BERTH_OK;
  char *marks = good ? berth_peak_marks(subject, &anatomy) : NULL;
  good = marks != NULL && berth_peak_print(report, region, &anatomy, marks, terminal, stream);
  if (good) {
    fputc('\n', stream);
    berth_drawing_t drawing = {&subject->problem,   placements,  marks, region, peak,
                               subject->step_count, anatomy.step};
    good = berth_draw(&drawing, terminal, stream) == BERTH_OK;
  }
  good = good && berth_near_print(report, region, stream);
  free(marks);
  free(anatomy.live);
  return good;
}

/* ---- Several planners ------------------------------------------------------------------------ */

static bool print_outcomes(const berth_plan_report_t *report, FILE *stream) {
  static const char *const headings[] = {"planner", "peak",       "above bound", "proven",
                                         "CPU ms",  "what it is", NULL};
  berth_text_table_t table = berth_text_table(headings, "lrrlrl");
  for (uint32_t i = 0; i < report->outcome_count; i++) {
    const berth_outcome_t *outcome = &report->outcomes[i];
    const berth_plan_t *plan = &outcome->plan;
    berth_text_table_cell(&table, "%s", outcome->planner->name);
    if (outcome->has_plan) {
      berth_text_table_cell(&table, "%s", berth_grouped(plan->peak).text);
      berth_text_table_cell(&table, "%s",
                            berth_percent(plan->peak - plan->lower_bound, plan->lower_bound).text);
    } else {
      berth_text_table_cell(&table, "-");
      berth_text_table_cell(&table, "%s",
                            outcome->status == BERTH_ERROR_UNSUPPORTED ? "unsupported"
                            : outcome->status == BERTH_INFEASIBLE      ? "infeasible"
                                                                       : "undecided");
    }
    berth_text_table_cell(&table, "%s", outcome->has_plan && plan->optimal ? "optimal" : "");
    berth_text_table_cell(&table, "%.2f", 1e3 * outcome->cpu_seconds);
    berth_text_table_cell(&table, "%s", outcome->planner->summary);
  }
  fputc('\n', stream);
  return berth_text_table_print(&table, 2, stream);
}

/* ---- Why there is no plan ---------------------------------------------------------------------
 */

static const char *buffer_name(const berth_subject_t *subject, uint32_t index, char *out) {
  return berth_label_print(&subject->labels[index], 60, out);
}

/* The buffers of the step that is too full, largest first. */
static bool print_full_step(const berth_subject_t *subject, const berth_explanation_t *obstacle,
                            berth_terminal_t terminal, FILE *stream) {
  berth_anatomy_t anatomy = {.step = obstacle->step};
  uint32_t live;
  if (berth_live_in(subject, NULL, 0, obstacle->step, &anatomy.live, &live) != BERTH_OK) {
    return false;
  }
  for (uint32_t i = 0; i < live; i++) {
    if (berth_explanation_concerns(obstacle, &subject->problem, anatomy.live[i])) {
      anatomy.live[anatomy.live_count++] = anatomy.live[i];
    }
  }
  char *marks = calloc((size_t)subject->problem.buffer_count + 1, 1);
  bool good = marks != NULL;
  if (good) {
    good = berth_live_print(subject, &anatomy, obstacle->needed, marks, terminal, stream);
  }
  free(marks);
  free(anatomy.live);
  return good;
}

/* Why there is no plan, where there is a simple reason. */
static bool print_obstacle(const berth_plan_report_t *report, berth_terminal_t terminal,
                           FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_explanation_t *obstacle = &report->outcome->obstacle;
  char a[BERTH_NAME_ROOM], b[BERTH_NAME_ROOM];
  switch (obstacle->obstacle) {
  case BERTH_OBSTACLE_NONE:
    return true;
  case BERTH_OBSTACLE_BUFFER:
    fprintf(stream, "\nBuffer %s alone needs %s bytes, %s too many.\n",
            buffer_name(subject, obstacle->a, a), berth_grouped(obstacle->needed).text,
            berth_grouped(obstacle->needed - obstacle->available).text);
    return true;
  case BERTH_OBSTACLE_CONFLICT:
    fprintf(stream, "\nWhat is asked of %s", buffer_name(subject, obstacle->a, a));
    if (obstacle->b != UINT32_MAX) {
      fprintf(stream, " and of %s", buffer_name(subject, obstacle->b, b));
    }
    fputs(" contradicts itself.\n", stream);
    return true;
  case BERTH_OBSTACLE_STEP:
    break;
  }
  fprintf(stream, "\nStep %" PRIu32, obstacle->step);
  berth_step_operator_print(subject, obstacle->step, stream);
  fprintf(stream, " needs %s bytes", berth_grouped(obstacle->needed).text);
  for (uint32_t r = 0, shown = 0; r < subject->problem.region_count; r++) {
    if ((obstacle->regions >> r & 1) == 0) continue;
    fprintf(stream, "%s%s", shown++ == 0 ? " in " : " and ", berth_region_name(subject, r));
  }
  fprintf(stream, ", %s too many:\n", berth_grouped(obstacle->needed - obstacle->available).text);
  return print_full_step(subject, obstacle, terminal, stream);
}

static bool print_verdict(const berth_plan_report_t *report, berth_terminal_t terminal,
                          FILE *stream) {
  const berth_outcome_t *outcome = report->outcome;
  if (outcome->stopped) fputs("Stopped early: this is the best plan so far.\n", stream);
  if (outcome->status == BERTH_INFEASIBLE) {
    fputs("It does not fit: proven that no plan exists within the capacity.\n", stream);
    return print_obstacle(report, terminal, stream);
  }
  if (outcome->status == BERTH_UNDECIDED) {
    fputs("Undecided: no plan within the capacity was found, and none was proven not to exist.\n",
          stream);
    return true;
  }
  if (report->capacity != 0) {
    fprintf(stream, "It fits into %s bytes.\n", berth_grouped(report->capacity).text);
  }
  return true;
}

/* ---- All of it ------------------------------------------------------------------------------ */

void berth_dynamic_print(const berth_subject_t *subject, FILE *stream) {
  bool first = true;
  for (uint32_t i = 0; subject->is_model && i < subject->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &subject->graph.tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_DYNAMIC) continue;
    if (first) {
      fputs("\nDynamic tensors, whose size is known only at run time and counts nowhere above:\n",
            stream);
    }
    first = false;
    char name[BERTH_NAME_ROOM];
    berth_text_t text = berth_model_tensor(&subject->model, tensor->subgraph, tensor->tensor).name;
    berth_printable(text.data, text.length, 48, name, sizeof name);
    fprintf(stream, "  tensor %" PRIu32, tensor->tensor);
    if (tensor->subgraph > 0) fprintf(stream, " of subgraph %" PRIu32, tensor->subgraph);
    fprintf(stream, " %s (steps %" PRIu32 "..%" PRIu32 "): %s", name, tensor->first, tensor->last,
            berth_cause_text(tensor->cause));
    if (tensor->cause == BERTH_CAUSE_INPUT) {
      fprintf(stream, ", %" PRIu32, subject->graph.tensors[tensor->origin].tensor);
    } else if (tensor->producer != BERTH_NOBODY) {
      berth_operator_t op =
          berth_model_operator(&subject->model, tensor->subgraph, tensor->producer);
      berth_text_t maker = berth_operator_name(&op);
      berth_printable(maker.data, maker.length, 48, name, sizeof name);
      fprintf(stream, " (operator %" PRIu32 " %s)", tensor->producer, name);
    }
    fputc('\n', stream);
  }
}

void berth_conflicts_print(const berth_subject_t *subject, berth_terminal_t terminal,
                           FILE *stream) {
  const berth_problem_t *problem = &subject->problem;
  fputs("\nConflicts: which buffers are live in the same step (#)\n", stream);
  for (uint32_t a = 0; a < problem->buffer_count; a++) {
    char name[BERTH_NAME_ROOM];
    fprintf(stream, "%6" PRIu32 " ", a);
    for (uint32_t b = 0; b < problem->buffer_count; b++) {
      bool conflict = a != b && berth_buffers_conflict(&problem->buffers[a], &problem->buffers[b]);
      fputc(a == b ? '\\' : conflict ? '#' : '.', stream);
    }
    uint32_t used = 8 + problem->buffer_count;
    uint32_t columns = terminal.columns > used + 16 ? terminal.columns - used : 16;
    fprintf(stream, " %s\n", berth_label_print(&subject->labels[a], columns, name));
  }
}

bool berth_plan_print(const berth_plan_report_t *report, berth_terminal_t terminal, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_outcome_t *outcome = report->outcome;
  char path[BERTH_NAME_ROOM];
  berth_printable(subject->path, strlen(subject->path), 400, path, sizeof path);
  uint32_t buffers = subject->problem.buffer_count, steps = subject->step_count;
  fprintf(stream, "%s: %" PRIu32 " buffer%s in %" PRIu32 " step%s, planner %s\n\n", path, buffers,
          buffers == 1 ? "" : "s", steps, steps == 1 ? "" : "s", outcome->planner->name);
  bool good = print_verdict(report, terminal, stream);
  if (outcome->status == BERTH_INFEASIBLE) return good;
  print_totals(report, stream);
  if (report->streaming != NULL) good &= berth_streaming_print(report->streaming, stream);
  if (report->outcome_count > 1) good &= print_outcomes(report, stream);
  uint32_t regions = subject->problem.region_count > 0 ? subject->problem.region_count : 1;
  for (uint32_t r = 0; r < regions && outcome->has_plan; r++) {
    good &= print_region(report, r, terminal, stream);
  }
  if (report->usage != NULL) good &= berth_usage_print(report->usage, stream);
  if (report->allocations && report->outcome->has_plan) {
    good &= berth_allocations_print(report, stream);
  }
  berth_dynamic_print(subject, stream);
  if (report->conflicts) berth_conflicts_print(subject, terminal, stream);
  return good;
}
