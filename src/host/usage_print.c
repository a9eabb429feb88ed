/* The tables of --print-memory-usage and --print-allocations. */
#include "host/json.h"
#include "host/plan_text.h"
#include "host/table.h"
#include "host/text.h"
#include "host/usage.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *operator_at(const berth_subject_t *subject, uint32_t step, char *name,
                               size_t size) {
  name[0] = '\0';
  if (step >= berth_model_subgraph(&subject->model, 0).operator_count) return name;
  berth_operator_t op = berth_model_operator(&subject->model, 0, step);
  berth_text_t text = berth_operator_name(&op);
  return berth_printable(text.data, text.length, 40, name, size);
}

bool berth_usage_print(const berth_subject_t *subject, FILE *stream) {
  static const char *const headings[] = {"step",       "activations", "scratch", "workspace",
                                         "live total", "operator",    NULL};
  berth_usage_t *usage = berth_usage_of(subject);
  if (usage == NULL) return false;
  berth_text_table_t table = berth_text_table(headings, "rrrrrl");
  for (uint32_t step = 0; step < subject->step_count; step++) {
    char name[160];
    berth_text_table_cell(&table, "%" PRIu32, step);
    berth_text_table_cell(&table, "%s", berth_grouped(usage[step].activations).text);
    berth_text_table_cell(&table, "%s", berth_grouped(usage[step].scratch).text);
    berth_text_table_cell(&table, "%s", berth_grouped(usage[step].workspace).text);
    berth_text_table_cell(&table, "%s", berth_grouped(usage[step].live).text);
    berth_text_table_cell(&table, "%s", operator_at(subject, step, name, sizeof name));
  }
  fputs("\nMemory by operator (scratch and workspace are those of Berth's kernels):\n", stream);
  bool good = berth_text_table_print(&table, 2, stream);
  fprintf(stream,
          "  The live total holds what is always there: operators' workspace and state, and "
          "variables, %s bytes.\n",
          berth_grouped(subject->step_count > 0 ? usage[0].persistent : 0).text);
  if (subject->unknown_operators > 0) {
    fprintf(stream,
            "  Of %" PRIu32 " operators nobody knows what they need besides tensors: Berth has no "
            "kernel for them.\n",
            subject->unknown_operators);
  }
  free(usage);
  return good;
}

bool berth_usage_json(const berth_subject_t *subject, berth_json_t *json) {
  berth_usage_t *usage = berth_usage_of(subject);
  if (usage == NULL) return false;
  berth_json_open(json, "memory_usage", '[');
  for (uint32_t step = 0; step < subject->step_count; step++) {
    berth_json_open_line(json, NULL, '{');
    berth_json_number(json, "step", step);
    berth_json_number(json, "activation_bytes", usage[step].activations);
    berth_json_number(json, "scratch_bytes", usage[step].scratch);
    berth_json_number(json, "workspace_bytes", usage[step].workspace);
    berth_json_number(json, "persistent_bytes", usage[step].persistent);
    berth_json_number(json, "live_bytes", usage[step].live);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
  berth_json_number(json, "unknown_operators", subject->unknown_operators);
  free(usage);
  return true;
}

/* The first other buffer that has bytes of this one while both are live (a view, or written in
 * place), or BERTH_NOBODY. */
static uint32_t sharer(const berth_subject_t *subject, const berth_placement_t *placements,
                       uint32_t index) {
  const berth_buffer_t *a = &subject->problem.buffers[index];
  uint64_t start = placements[index].offset;
  if (placements[index].region == BERTH_OUTSIDE) return BERTH_NOBODY;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_buffer_t *b = &subject->problem.buffers[i];
    if (i == index || placements[i].region != placements[index].region) continue;
    if (berth_buffers_conflict(a, b) && placements[i].offset < start + a->size &&
        start < placements[i].offset + b->size) {
      return i;
    }
  }
  return BERTH_NOBODY;
}

static void tensor_cell(const berth_label_t *label, berth_text_table_t *table) {
  if (label == NULL) {
    berth_text_table_cell(table, "%s", "");
  } else if (label->tensor == BERTH_NOBODY) {
    berth_text_table_cell(table, "-");
  } else if (label->subgraph == 0) {
    berth_text_table_cell(table, "%" PRIu32, label->tensor);
  } else {
    berth_text_table_cell(table, "%" PRIu32 ":%" PRIu32, label->subgraph, label->tensor);
  }
}

bool berth_allocations_print(const berth_plan_report_t *report, FILE *stream) {
  static const char *const headings[] = {"tensor", "class",  "bytes",       "offset", "first",
                                         "last",   "region", "shared with", "name",   NULL};
  const berth_subject_t *subject = report->subject;
  const berth_placement_t *placements = report->outcome->plan.placements;
  berth_text_table_t table = berth_text_table(headings, "llrrrrlll");
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    char name[BERTH_NAME_ROOM];
    bool outside = placements[i].region == BERTH_OUTSIDE;
    if (outside && buffer->size == 0) continue; /* it needs no memory at all */
    tensor_cell(label, &table);
    berth_text_table_cell(&table, "%s",
                          label->has_kind ? berth_buffer_kind_name(label->kind) : "-");
    berth_text_table_cell(&table, "%s", berth_grouped(buffer->size).text);
    berth_text_table_cell(&table, "%s", outside ? "-" : berth_grouped(placements[i].offset).text);
    berth_text_table_cell(&table, "%" PRIu32, buffer->first);
    berth_text_table_cell(&table, "%" PRIu32, buffer->last);
    berth_text_table_cell(&table, "%s", berth_region_name(subject, placements[i].region));
    uint32_t other = sharer(subject, placements, i);
    tensor_cell(other != BERTH_NOBODY ? &subject->labels[other] : NULL, &table);
    berth_text_table_cell(&table, "%s", berth_label_print(label, 40, name));
  }
  fputs("\nAllocations (steps are inclusive; a tensor of subgraph s is s:tensor):\n", stream);
  return berth_text_table_print(&table, 2, stream);
}
