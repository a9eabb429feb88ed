/* What `berth inspect` says to people: totals, operators with the bytes that are live while they
 * run, tensors with their lifetimes. */
#include "host/advice.h"
#include "host/anatomy.h"
#include "host/model_print.h"
#include "host/peak_print.h"
#include "host/plan_text.h"
#include "host/running.h"
#include "host/table.h"
#include "host/text.h"
#include "host/usage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *printable(berth_text_t text, uint32_t columns, char *out) {
  return berth_printable(text.data, text.length, columns, out, BERTH_NAME_ROOM);
}

/* "12 13 -": tensor indices, the first few of them; an absent one is "-". */
static void list_tensors(berth_vector_t tensors, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (uint32_t i = 0; i < tensors.count; i++) {
    if (used + 16 > size) {
      memcpy(out + used, " ...", 5);
      return;
    }
    int32_t tensor = berth_vector_int(tensors, i);
    const char *gap = i > 0 ? " " : "";
    int length = tensor == BERTH_NO_TENSOR
                     ? snprintf(out + used, size - used, "%s-", gap)
                     : snprintf(out + used, size - used, "%s%" PRId32, gap, tensor);
    used += (size_t)length;
  }
}

/* "1x96x96x3", with the signature's unknowns as "?"; "scalar", or "unknown" without a rank. */
static void describe_shape(const berth_tensor_t *tensor, char *out, size_t size) {
  if (tensor->shape.count == 0) {
    snprintf(out, size, "%s", tensor->has_rank ? "scalar" : "-");
    return;
  }
  size_t used = 0;
  for (uint32_t i = 0; i < tensor->shape.count && used + 20 < size; i++) {
    int32_t extent = berth_vector_int(tensor->shape, i);
    bool open = i < tensor->signature.count && berth_vector_int(tensor->signature, i) < 0;
    int length = snprintf(out + used, size - used, "%s%" PRId32 "%s", i > 0 ? "x" : "", extent,
                          open ? "?" : "");
    used += (size_t)length;
  }
}

/* ---- Sections ------------------------------------------------------------------------------- */

static void print_head(const berth_subject_t *subject, FILE *stream) {
  char name[BERTH_NAME_ROOM];
  uint32_t operators = 0;
  for (uint32_t s = 0; s < subject->model.subgraph_count; s++) {
    operators += berth_model_subgraph(&subject->model, s).operator_count;
  }
  berth_printable(subject->path, strlen(subject->path), 400, name, sizeof name);
  fprintf(stream, "%s: ", name);
  if (subject->model.subgraph_count > 1) {
    fprintf(stream, "%" PRIu32 " subgraphs, ", subject->model.subgraph_count);
  }
  fprintf(stream, "%" PRIu32 " operators, %" PRIu32 " tensors", operators,
          subject->graph.tensor_count);
  if (subject->model.description.length > 0) {
    fprintf(stream, ", \"%s\"", printable(subject->model.description, 60, name));
  }
  fputc('\n', stream);
}

static bool print_operators(const berth_subject_t *subject, uint32_t subgraph, const uint64_t *live,
                            berth_terminal_t terminal, FILE *stream) {
  static const char *const headings[] = {"step",    "live bytes", "operator",
                                         "outputs", "inputs",     NULL};
  static const char *const called[] = {"op", "", "operator", "outputs", "inputs", NULL};
  berth_text_table_t table = berth_text_table(subgraph == 0 ? headings : called, "rrlll");
  uint32_t count = berth_model_subgraph(&subject->model, subgraph).operator_count;
  for (uint32_t i = 0; i < count; i++) {
    berth_operator_t op = berth_model_operator(&subject->model, subgraph, i);
    char name[BERTH_NAME_ROOM], inputs[64], outputs[64];
    list_tensors(op.outputs, outputs, sizeof outputs);
    list_tensors(op.inputs, inputs, terminal.columns > 100 ? sizeof inputs : 32);
    bool foldable = false;
    if (op.outputs.count > 0 && berth_vector_int(op.outputs, 0) != BERTH_NO_TENSOR) {
      foldable =
          subject->graph
              .tensors[subject->graph.bases[subgraph] + (uint32_t)berth_vector_int(op.outputs, 0)]
              .foldable;
    }
    berth_text_table_cell(&table, "%" PRIu32, i);
    berth_text_table_cell(&table, "%s", subgraph == 0 ? berth_grouped(live[i]).text : "");
    berth_text_table_cell(&table, "%s%s", printable(berth_operator_name(&op), 40, name),
                          foldable ? " (foldable)" : "");
    berth_text_table_cell(&table, "%s", outputs);
    berth_text_table_cell(&table, "%s", inputs);
  }
  fputs("\nOperators\n", stream);
  return berth_text_table_print(&table, 2, stream);
}

static void add_tensor(const berth_subject_t *subject, const berth_graph_tensor_t *tensor,
                       uint32_t names, berth_text_table_t *table) {
  berth_tensor_t info = berth_model_tensor(&subject->model, tensor->subgraph, tensor->tensor);
  char shape[96], name[BERTH_NAME_ROOM], steps[32] = "";
  describe_shape(&info, shape, sizeof shape);
  bool lives =
      tensor->allocation != BERTH_ALLOCATION_NONE && tensor->allocation != BERTH_ALLOCATION_MMAP_RO;
  if (lives) snprintf(steps, sizeof steps, "%" PRIu32 "..%" PRIu32, tensor->first, tensor->last);
  berth_text_table_cell(table, "%" PRIu32, tensor->tensor);
  berth_text_table_cell(table, "%s", berth_tensor_type_name(info.type));
  berth_text_table_cell(table, "%s", shape);
  berth_text_table_cell(
      table, "%s",
      tensor->allocation == BERTH_ALLOCATION_DYNAMIC ? "?" : berth_grouped(tensor->bytes).text);
  berth_text_table_cell(table, "%s", steps);
  berth_text_table_cell(table, "%s", berth_allocation_name(tensor->allocation));
  berth_text_table_cell(table, "%s", printable(info.name, names, name));
}

static bool print_tensors(const berth_subject_t *subject, uint32_t subgraph,
                          berth_terminal_t terminal, FILE *stream) {
  static const char *const headings[] = {"tensor", "type",       "shape", "bytes",
                                         "steps",  "allocation", "name",  NULL};
  berth_text_table_t table = berth_text_table(headings, "rllrlll");
  uint32_t base = subject->graph.bases[subgraph];
  uint32_t names = terminal.columns > 90 ? terminal.columns - 66 : 24;
  for (uint32_t i = 0; i < berth_model_subgraph(&subject->model, subgraph).tensor_count; i++) {
    add_tensor(subject, &subject->graph.tensors[base + i], names, &table);
  }
  fputs("\nTensors\n", stream);
  return berth_text_table_print(&table, 2, stream);
}

static void print_total(const char *label, berth_totals_t totals, FILE *stream) {
  fprintf(stream, "  %-26s %14s %14s\n", label, berth_grouped(totals.lower_bound_bytes).text,
          berth_grouped(totals.sum_bytes).text);
}

static void print_totals(const berth_plan_report_t *report, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint64_t constants = 0, largest = 0;
  for (uint32_t i = 0; i < subject->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &subject->graph.tensors[i];
    if (tensor->allocation == BERTH_ALLOCATION_MMAP_RO && !tensor->foldable) {
      constants += tensor->bytes;
    }
  }
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    if (subject->problem.buffers[i].size > largest) largest = subject->problem.buffers[i].size;
  }
  fprintf(stream, "\n  %-26s %14s %14s\n", "Bytes", "lower bound", "without reuse");
  if (subject->graph.foldable_count == 0) {
    print_total("all tensors", report->folded, stream);
  } else {
    print_total("constant operators folded", report->folded, stream);
    print_total("and unfolded", report->unfolded, stream);
  }
  fprintf(stream, "  The largest load is at step %" PRIu32 "; the largest tensor has %s bytes.\n",
          report->load_step, berth_grouped(largest).text);
  fprintf(stream, "  Constants, read in place: %s bytes.", berth_grouped(constants).text);
  if (subject->variable_bytes > 0) {
    fprintf(stream, " Variables, live in every step: %s bytes.",
            berth_grouped(subject->variable_bytes).text);
  }
  fputc('\n', stream);
}

/* What makes the peak of the plan. */
static bool print_peak(const berth_plan_report_t *report, berth_terminal_t terminal, FILE *stream) {
  const berth_outcome_t *outcome = report->outcome;
  if (outcome == NULL || !outcome->has_plan || outcome->plan.peak == 0) return true;
  fprintf(stream, "  Planned (%s): a peak of %s bytes%s.\n", outcome->planner->name,
          berth_grouped(outcome->plan.peak).text, outcome->plan.optimal ? ", proven optimal" : "");
  berth_anatomy_t anatomy;
  if (berth_anatomy_of(report->subject, outcome->plan.placements, 0, outcome->plan.peak,
                       &anatomy) != BERTH_OK) {
    return false;
  }
  bool good = berth_peak_print(report, 0, &anatomy, NULL, terminal, stream) &&
              berth_near_print(report, 0, stream);
  free(anatomy.live);
  return good;
}

bool berth_model_print(const berth_plan_report_t *report, berth_terminal_t terminal, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint64_t *live = berth_load_by_step(subject, NULL, 0);
  if (live == NULL) return false;
  print_head(subject, stream);
  print_totals(report, stream);
  bool good = print_peak(report, terminal, stream);
  if (report->running != NULL) berth_running_print(report->running, report->instances, stream);
  if (report->advices != NULL) {
    good &= berth_advices_print(report->advices, report->outcome->plan.peak, stream);
  }
  for (uint32_t s = 0; s < subject->model.subgraph_count; s++) {
    if (subject->model.subgraph_count > 1) {
      char name[BERTH_NAME_ROOM];
      fprintf(stream, "\nSubgraph %" PRIu32 " %s", s,
              printable(berth_model_subgraph(&subject->model, s).name, 60, name));
      if (subject->graph.called_first[s] == BERTH_NOBODY) {
        fputs(": the main subgraph never calls it, so it is left out of all sums", stream);
      } else if (s > 0) {
        fprintf(stream, ": runs in steps %" PRIu32 "..%" PRIu32, subject->graph.called_first[s],
                subject->graph.called_last[s]);
      }
      fputc('\n', stream);
    }
    good &= print_operators(subject, s, live, terminal, stream);
    good &= print_tensors(subject, s, terminal, stream);
  }
  free(live);
  if (report->usage != NULL) good &= berth_usage_print(report->usage, stream);
  if (report->allocations && report->outcome->has_plan) {
    good &= berth_allocations_print(report, stream);
  }
  berth_dynamic_print(subject, stream);
  if (report->conflicts) berth_conflicts_print(subject, terminal, stream);
  return good;
}
