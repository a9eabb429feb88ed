/* The page that is written where berth was built without the interactive one: for each plan the
 * answer in a sentence, what to try first, the map as SVG, and the buffers of the peak with who
 * makes and who keeps them. No scripts. */
#include "host/advice.h"
#include "host/anatomy.h"
#include "host/forecast.h"
#include "host/keeper.h"
#include "host/page.h"
#include "host/running.h"
#include "host/svg.h"
#include "host/text.h"
#include "host/xml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS   100 /* of the table of the peak */
#define ADVICE 5   /* lines */

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:1.5rem auto;padding:0 1rem;"
    "color:#1b1f24;background:#fff}"
    "svg{max-width:100%;height:auto}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8884;"
    "overflow-wrap:anywhere}.n{text-align:right;white-space:nowrap}.note{color:#5a6472}"
    "@media(prefers-color-scheme:dark){body{color:#e6e9ee;background:#14171b}.note{color:#9aa4b2}}";

static void write_text(const char *text, FILE *stream) {
  berth_xml_text(text, strlen(text), 400, stream);
}

static void write_operator(const berth_subject_t *subject, uint32_t subgraph, uint32_t index,
                           FILE *stream) {
  if (!subject->is_model || index == BERTH_NOBODY ||
      index >= berth_model_subgraph(&subject->model, subgraph).operator_count) {
    fputs("&ndash;", stream);
    return;
  }
  berth_operator_t op = berth_model_operator(&subject->model, subgraph, index);
  berth_text_t name = berth_operator_name(&op);
  fprintf(stream, "operator %" PRIu32 " ", index);
  berth_xml_text(name.data, name.length, 60, stream);
}

static void write_row(const berth_plan_report_t *report, uint32_t index, uint32_t step,
                      uint64_t peak, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_buffer_t *buffer = &subject->problem.buffers[index];
  const berth_label_t *label = &subject->labels[index];
  char why[512] = "";
  berth_keeper_t keeper = berth_keeper_of(subject, index, step);
  if (subject->is_model) berth_keeper_text(subject, &keeper, step, why, sizeof why);
  fputs("<tr><td>", stream);
  berth_xml_text(label->name.data, label->name.length, 120, stream);
  fprintf(stream,
          "</td><td class=n>%s</td><td class=n>%s</td><td class=n>%" PRIu32 " to %" PRIu32
          "</td><td>",
          berth_grouped(buffer->size).text, berth_percent(buffer->size, peak).text, buffer->first,
          buffer->last);
  write_text(why, stream);
  fputs("</td></tr>\n", stream);
}

/* The first lines of the advice that save anything. */
static void write_advice(const berth_advices_t *advices, FILE *stream) {
  if (advices == NULL || advices->count == 0 || advices->lines[0].saved <= 0) return;
  fputs("<h3>What to try first</h3>\n<ol>\n", stream);
  for (uint32_t i = 0; i < advices->count && i < ADVICE && advices->lines[i].saved > 0; i++) {
    const berth_advice_t *line = &advices->lines[i];
    fprintf(stream, "<li><b>%s less:</b> ", berth_human_bytes((uint64_t)line->saved).text);
    write_text(line->what, stream);
    fprintf(stream, ", which leaves %s", berth_human_bytes(line->peak).text);
    fputs(":<br><code>", stream);
    berth_xml_text(line->command, strlen(line->command), 4096, stream);
    fputs("</code></li>\n", stream);
  }
  fputs("</ol>\n", stream);
}

/* All that a device needs, where it is known. */
static void write_need(const berth_plan_report_t *report, FILE *stream) {
  const berth_running_t *running = report->running;
  const berth_tflm_forecast_t *tflm = report->forecast != NULL ? &report->forecast->tflm : NULL;
  bool known = tflm != NULL && tflm->refused_count == 0 && tflm->unknown_count == 0;
  bool runs = running != NULL && running->possible;
  if (!runs && !known) return;
  fputs("<p><b>RAM you need on the device:</b> ", stream);
  if (runs) {
    fprintf(stream, "<b>%s</b> with Berth's runtime (on %zu bits)",
            berth_human_bytes(running->needs.total + BERTH_RUNNING_STRUCTS).text,
            8 * sizeof(void *));
  }
  if (known) {
    fprintf(stream,
            "%s<b>%s</b> with stock TensorFlow Lite Micro (as smallest arena, on 32-bit Arm)",
            runs ? "; " : "", berth_human_bytes(tflm->min_arena_bytes).text);
  }
  fputs(".</p>\n", stream);
}

static void write_sentence(const berth_plan_report_t *report, uint64_t peak,
                           const berth_anatomy_t *anatomy, FILE *stream) {
  const berth_plan_t *plan = &report->outcome->plan;
  fprintf(stream, "<p><b>%s</b> of memory for tensors. The peak is at step %" PRIu32 ", ",
          berth_human_bytes(peak).text, anatomy->step);
  write_operator(report->subject, 0, anatomy->step, stream);
  fprintf(stream, ", where %s bytes are live. ", berth_grouped(anatomy->live_bytes).text);
  if (plan->optimal) {
    fputs("No placement of these buffers is better: this is proven.</p>\n", stream);
  } else {
    fprintf(stream, "No placement can go below %s.</p>\n",
            berth_human_bytes(plan->lower_bound).text);
  }
}

/* The table of the first region that is used. */
static bool write_peak(const berth_plan_report_t *report, FILE *stream) {
  const berth_placement_t *placements = report->outcome->plan.placements;
  uint32_t regions = report->subject->problem.region_count, region = 0;
  uint64_t peak = berth_region_peak(&report->subject->problem, placements, 0);
  while (peak == 0 && region + 1 < regions) {
    peak = berth_region_peak(&report->subject->problem, placements, ++region);
  }
  berth_anatomy_t anatomy;
  if (berth_anatomy_of(report->subject, placements, region, peak, &anatomy) != BERTH_OK) {
    free(anatomy.live);
    return false;
  }
  write_sentence(report, peak, &anatomy, stream);
  write_need(report, stream);
  write_advice(report->advices, stream);
  bool good = berth_svg_write(report, stream) == BERTH_OK;
  fputs("<h3>Live at the peak</h3>\n<table><tr><th>buffer</th><th class=n>bytes</th>"
        "<th class=n>share</th><th class=n>steps</th><th>why it is live</th></tr>\n",
        stream);
  for (uint32_t i = 0; i < anatomy.live_count && i < ROWS; i++) {
    write_row(report, anatomy.live[i], anatomy.step, peak, stream);
  }
  fputs("</table>\n", stream);
  if (anatomy.live_count > ROWS) {
    fprintf(stream, "<p>and %" PRIu32 " smaller ones</p>\n", anatomy.live_count - ROWS);
  }
  free(anatomy.live);
  return good;
}

berth_status_t berth_page_write_static(const berth_plan_report_t *const *reports, uint32_t count,
                                       FILE *stream) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<title>Memory of ",
        stream);
  write_text(reports[0]->subject->path, stream);
  fprintf(stream, "</title>\n<style>%s</style></head><body>\n", style);
  bool good = true;
  for (uint32_t i = 0; i < count; i++) {
    fputs(count < 2 ? "<h2>" : i == 0 ? "<h2>Before: " : "<h2>After: ", stream);
    write_text(reports[i]->subject->path, stream);
    fputs("</h2>\n", stream);
    good &= write_peak(reports[i], stream);
  }
  fputs("<p class=\"note\">This page is static because this berth was built without npm; built "
        "with it, berth writes an interactive one.</p>\n</body></html>\n",
        stream);
  return good ? BERTH_OK : BERTH_ERROR_MEMORY;
}
