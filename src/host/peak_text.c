/* What `berth plan` and `berth inspect` say about a peak. */
#include "host/keeper.h"
#include "host/peak_print.h"
#include "host/plan_text.h"
#include "host/running.h"
#include "host/table.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>

#define PEAK_ROWS 12 /* buffers of the peak that are listed by name */

char *berth_peak_marks(const berth_subject_t *subject, const berth_anatomy_t *anatomy) {
  char *marks = calloc((size_t)subject->problem.buffer_count + 1, 1);
  if (marks == NULL) return NULL;
  for (uint32_t i = 0; i < anatomy->live_count && i < PEAK_ROWS; i++) {
    marks[anatomy->live[i]] = (char)('A' + i);
  }
  return marks;
}

void berth_step_operator_print(const berth_subject_t *subject, uint32_t step, FILE *stream) {
  if (!subject->is_model) return;
  if (step >= berth_model_subgraph(&subject->model, 0).operator_count) return;
  berth_operator_t op = berth_model_operator(&subject->model, 0, step);
  berth_text_t name = berth_operator_name(&op);
  char printable[BERTH_NAME_ROOM];
  fprintf(stream, ", operator %s",
          berth_printable(name.data, name.length, 60, printable, sizeof printable));
}

/* ---- What is live --------------------------------------------------------------------------- */

bool berth_live_print(const berth_subject_t *subject, const berth_anatomy_t *anatomy,
                      uint64_t whole, const char *marks, berth_terminal_t terminal, FILE *stream) {
  static const char *const headings[] = {"", "bytes", "share", "steps", "buffer", NULL};
  berth_text_table_t table = berth_text_table(headings, "lrrll");
  uint32_t names = terminal.columns > 72 ? terminal.columns - 60 : 16;
  for (uint32_t i = 0; i < anatomy->live_count && i < PEAK_ROWS; i++) {
    uint32_t index = anatomy->live[i];
    const berth_buffer_t *buffer = &subject->problem.buffers[index];
    char name[BERTH_NAME_ROOM], mark[2] = {marks[index], '\0'};
    berth_text_table_cell(&table, "%s", mark);
    berth_text_table_cell(&table, "%s", berth_grouped(buffer->size).text);
    berth_text_table_cell(&table, "%s", berth_percent(buffer->size, whole).text);
    berth_text_table_cell(&table, "%" PRIu32 "..%" PRIu32, buffer->first, buffer->last);
    berth_text_table_cell(&table, "%s", berth_buffer_text(&subject->labels[index], names, name));
  }
  bool good = berth_text_table_print(&table, 2, stream);
  if (anatomy->live_count > PEAK_ROWS) {
    uint64_t rest = 0;
    for (uint32_t i = PEAK_ROWS; i < anatomy->live_count; i++) {
      rest += subject->problem.buffers[anatomy->live[i]].size;
    }
    fprintf(stream, "  and %" PRIu32 " smaller ones, %s bytes together\n",
            anatomy->live_count - PEAK_ROWS, berth_grouped(rest).text);
  }
  return good;
}

static void print_keepers(const berth_subject_t *subject, const berth_anatomy_t *anatomy,
                          const char *marks, FILE *stream) {
  if (!subject->is_model) return;
  for (uint32_t i = 0; i < anatomy->live_count && i < PEAK_ROWS; i++) {
    char text[512];
    berth_keeper_t keeper = berth_keeper_of(subject, anatomy->live[i], anatomy->step);
    fprintf(stream, "  %c: %s\n", marks[anatomy->live[i]],
            berth_keeper_text(subject, &keeper, anatomy->step, text, sizeof text));
  }
}

/* ---- What it is made of --------------------------------------------------------------------- */

/* A line of the account; "" where a number says nothing. */
static void account(berth_text_table_t *table, const char *what, bool minus, uint64_t at_peak,
                    bool minus_all, uint64_t in_all) {
  const char *empty = "";
  berth_text_table_cell(table, "%s", what);
  berth_text_table_cell(table, "%s%s", minus && at_peak > 0 ? "-" : "",
                        at_peak == UINT64_MAX ? empty : berth_grouped(at_peak).text);
  berth_text_table_cell(table, "%s%s", minus_all && in_all > 0 ? "-" : "",
                        in_all == UINT64_MAX ? empty : berth_grouped(in_all).text);
}

/* What a device needs besides, if it is known. */
static void account_running(berth_text_table_t *table, const berth_plan_report_t *report,
                            uint64_t peak) {
  if (report->running == NULL || !report->running->possible) return;
  if (report->subject->problem.region_count > 1) return;
  berth_running_account_t more = berth_running_account(report->running, report->subject, peak);
  bool less = more.difference < 0;
  uint64_t difference = less ? (uint64_t)-more.difference : (uint64_t)more.difference;
  account(table, "in Berth's runtime:", false, UINT64_MAX, false, UINT64_MAX);
  account(table,
          less ? "  shared in place, less scratch" : "  scratch, less what is shared in place",
          false, UINT64_MAX, less, difference);
  account(table, "  operators' tables and state", false, UINT64_MAX, false, more.tables);
  account(table, "  runtime metadata", false, UINT64_MAX, false, more.metadata);
  account(table, "  the interpreter", false, UINT64_MAX, false, more.interpreter);
  char total[64];
  snprintf(total, sizeof total, "RAM that a %zu-bit device needs", 8 * sizeof(void *));
  account(table, total, false, UINT64_MAX, false, more.total);
}

static bool print_account(const berth_plan_report_t *report, uint32_t region, uint64_t peak,
                          const berth_anatomy_t *anatomy, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_placement_t *placements = report->outcome->plan.placements;
  static const char *const headings[] = {"What it is made of", "at the peak", "in all", NULL};
  static const char *const names[BERTH_CLASSES] = {
      "inputs", "activations", "scratch", "operator workspace", "variables", "outputs", "reserved"};
  berth_text_table_t table = berth_text_table(headings, "lrr");
  berth_classes_t all = berth_classes_of(subject, placements, region);
  uint64_t sum = all.alignment_bytes;
  for (uint32_t kind = 0; kind < BERTH_CLASSES; kind++) {
    sum += all.bytes[kind];
    if (all.bytes[kind] == 0) continue;
    account(&table, subject->is_model ? names[kind] : "buffers", false,
            anatomy->classes.bytes[kind], false, all.bytes[kind]);
  }
  account(&table, "alignment padding", false, anatomy->alignment_bytes, false, all.alignment_bytes);
  account(&table, "fragmentation", false, anatomy->fragmentation_bytes, false, UINT64_MAX);
  if (anatomy->overlap_bytes > 0) {
    account(&table, "shared by overlaps", true, anatomy->overlap_bytes, false, UINT64_MAX);
  }
  if (sum >= peak) account(&table, "saved by reuse", false, UINT64_MAX, true, sum - peak);
  account(&table, "peak", false, peak, false, peak);
  account_running(&table, report, peak);
  return berth_text_table_print(&table, 2, stream);
}

bool berth_peak_print(const berth_plan_report_t *report, uint32_t region,
                      const berth_anatomy_t *anatomy, const char *marks, berth_terminal_t terminal,
                      FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint64_t peak = berth_region_peak(&subject->problem, report->outcome->plan.placements, region);
  char *own = marks == NULL ? berth_peak_marks(subject, anatomy) : NULL;
  if (marks == NULL) marks = own;
  if (marks == NULL) return false;
  fprintf(stream, "\nThe peak is at step %" PRIu32, anatomy->step);
  berth_step_operator_print(subject, anatomy->step, stream);
  fprintf(stream, ", where %s bytes are live:\n", berth_grouped(anatomy->live_bytes).text);
  bool good = berth_live_print(subject, anatomy, peak, marks, terminal, stream);
  print_keepers(subject, anatomy, marks, stream);
  free(own);
  fputc('\n', stream);
  return print_account(report, region, peak, anatomy, stream) && good;
}

/* ---- The steps that come next ---------------------------------------------------------------- */

bool berth_near_print(const berth_plan_report_t *report, uint32_t region, FILE *stream) {
  static const char *const headings[] = {"step", "live bytes", "share", "operator", NULL};
  const berth_subject_t *subject = report->subject;
  const berth_placement_t *placements = report->outcome->plan.placements;
  if (!subject->is_model || subject->step_count < 2) return true;
  berth_near_step_t near[BERTH_NEAR_MAX];
  uint32_t count;
  if (berth_near_steps(subject, placements, region, near, &count) != BERTH_OK) return false;
  uint64_t peak = berth_region_peak(&subject->problem, placements, region);
  berth_text_table_t table = berth_text_table(headings, "rrrl");
  for (uint32_t i = 0; i < count; i++) {
    char name[160];
    berth_text_table_cell(&table, "%" PRIu32, near[i].step);
    berth_text_table_cell(&table, "%s", berth_grouped(near[i].load).text);
    berth_text_table_cell(&table, "%s", berth_percent(near[i].load, peak).text);
    berth_operator_t op = berth_model_operator(&subject->model, 0, near[i].step);
    berth_text_t text = berth_operator_name(&op);
    berth_text_table_cell(&table, "%s",
                          berth_printable(text.data, text.length, 40, name, sizeof name));
  }
  fprintf(stream, "\nThe steps nearest to the peak:\n");
  return berth_text_table_print(&table, 2, stream);
}
