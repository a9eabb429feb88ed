/* The memory map as SVG. `berth plan --svg`, `berth report --svg` and the page that is written
 * where there is no interactive one draw with it. Colours are those of Okabe & Ito (2008), which
 * the colour-blind tell apart; the background is part of the picture, so that it reads the same on
 * dark pages. Text is measured by a rule of thumb, since nobody here knows the font: a character is
 * taken for CHARACTER units wide, more than sans-serif fonts need on average. O(buffers + steps).
 */
#include "host/svg.h"
#include "host/svg_map.h"
#include "host/text.h"
#include "host/xml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH     1000
#define HEAD      58 /* title and subtitle */
#define AXIS      40 /* steps below the map */
#define GAP       26 /* above each map: its peak's label */
#define LEGEND    34
#define CHARACTER 6.7
#define LETTERS   12 /* buffers of the peak that get one, as many as `berth plan` lists */

typedef struct tint {
  const char *strong; /* live at the peak */
  const char *pale;
  const char *ink; /* on `strong` */
} tint_t;

/* By berth_buffer_kind_t. */
static const tint_t tints[] = {
    [BERTH_KIND_INPUT] = {"#56b4e9", "#cbe7f8", "#111"},
    [BERTH_KIND_ACTIVATION] = {"#0072b2", "#b3d3e7", "#fff"},
    [BERTH_KIND_SCRATCH] = {"#e69f00", "#f7deab", "#111"},
    [BERTH_KIND_WORKSPACE] = {"#d55e00", "#f2c9ab", "#111"},
    [BERTH_KIND_VARIABLE] = {"#cc79a7", "#eed3e2", "#111"},
    [BERTH_KIND_OUTPUT] = {"#009e73", "#b0dfd2", "#111"},
    [BERTH_KIND_RESERVED] = {"#f0e442", "#faf6c0", "#111"},
};
#define KINDS (sizeof tints / sizeof tints[0])

static berth_buffer_kind_t kind_of(const berth_label_t *label) {
  return label->has_kind ? label->kind : BERTH_KIND_ACTIVATION;
}

static void write_operator(const berth_subject_t *subject, uint32_t step, FILE *stream) {
  if (!subject->is_model) return;
  if (step >= berth_model_subgraph(&subject->model, 0).operator_count) return;
  berth_operator_t op = berth_model_operator(&subject->model, 0, step);
  berth_text_t name = berth_operator_name(&op);
  fputc(' ', stream);
  berth_xml_text(name.data, name.length, 40, stream);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static void write_title(const berth_svg_map_t *map, uint32_t index) {
  const berth_subject_t *subject = map->report->subject;
  const berth_label_t *label = &subject->labels[index];
  const berth_buffer_t *buffer = &subject->problem.buffers[index];
  uint64_t offset = map->report->outcome->plan.placements[index].offset;
  FILE *stream = map->stream;
  fputs("<title>", stream);
  berth_xml_text(label->name.data, label->name.length, 200, stream);
  fprintf(stream, "\n%s bytes, steps %" PRIu32 " to %" PRIu32 ", address %s",
          berth_grouped(buffer->size).text, buffer->first, buffer->last,
          berth_grouped(offset).text);
  if (label->has_kind) fprintf(stream, ", %s", berth_buffer_kind_name(label->kind));
  if (label->tensor != BERTH_NOBODY) {
    fprintf(stream, "\ntensor %" PRIu32, label->tensor);
    if (label->subgraph > 0) fprintf(stream, " of subgraph %" PRIu32, label->subgraph);
    const berth_graph_tensor_t *tensor =
        &subject->graph.tensors[subject->graph.bases[label->subgraph] + label->tensor];
    if (tensor->producer != BERTH_NOBODY && label->subgraph == 0) {
      fprintf(stream, ", made by operator %" PRIu32, tensor->producer);
      write_operator(subject, tensor->producer, stream);
    }
  }
  fputs("</title>", stream);
}

/* What of a name fits into `columns`: all of it, else what follows the last slash, else its ends.
 * Many names end alike, so a tensor's number follows what is left of one. */
static void write_name(const berth_svg_map_t *map, const berth_label_t *label, double columns) {
  berth_text_t name = label->name;
  char number[16] = "";
  if (columns < 3) return;
  size_t start = name.length;
  while (start > 0 && name.data[start - 1] != '/') start--;
  if ((double)name.length <= columns || start == name.length) start = 0;
  if ((double)name.length > columns && label->tensor != BERTH_NOBODY) {
    snprintf(number, sizeof number, " #%" PRIu32, label->tensor);
    columns -= (double)strlen(number);
    if (columns < 3) return;
  }
  if ((double)(name.length - start) > columns && columns < 8) return;
  berth_xml_text(name.data + start, name.length - start, (size_t)columns, map->stream);
  fputs(number, map->stream);
}

typedef struct berth_svg_box {
  double x, y, width, height; /* around its middle */
} berth_svg_box_t;

/* Takes the room of a label, unless another has some of it. */
static bool claim(berth_svg_map_t *map, berth_svg_box_t box) {
  for (uint32_t i = 0; i < map->label_count; i++) {
    const berth_svg_box_t *other = &map->labels[i];
    double across = box.x > other->x ? box.x - other->x : other->x - box.x;
    double along = box.y > other->y ? box.y - other->y : other->y - box.y;
    if (2 * across < box.width + other->width && 2 * along < box.height + other->height) {
      return false;
    }
  }
  map->labels[map->label_count++] = box;
  return true;
}

/* The letter and the name, along the side that has more room; around them a seam of the
 * rectangle's colour, so that the lines they cross leave them readable. */
static void draw_label(berth_svg_map_t *map, uint32_t index) {
  const berth_label_t *label = &map->report->subject->labels[index];
  const berth_buffer_t *buffer = &map->report->subject->problem.buffers[index];
  const tint_t *tint = &tints[kind_of(label)];
  uint64_t offset = map->report->outcome->plan.placements[index].offset;
  double left = berth_svg_x(map, buffer->first), width = berth_svg_x(map, buffer->last + 1) - left;
  double bottom = berth_svg_y(map, offset),
         height = bottom - berth_svg_y(map, offset + buffer->size);
  if ((width < height ? width : height) < 13) return;
  uint8_t mark = map->marks[index];
  bool upright = height > width && (double)label->name.length * CHARACTER + 24 > width;
  bool lettered = mark != 0 && mark <= LETTERS;
  double columns = ((upright ? height : width) - 8) / CHARACTER - (lettered ? 2 : 0);
  double length = (double)label->name.length < columns ? (double)label->name.length : columns;
  length = (length + (lettered ? 2 : 0)) * CHARACTER;
  const berth_svg_box_t box = {left + width / 2, bottom - height / 2, upright ? 12 : length,
                               upright ? length : 12};
  if (!claim(map, box)) return;
  fprintf(map->stream,
          "<text text-anchor=\"middle\" fill=\"%s\" stroke=\"%s\" stroke-width=\"3\" "
          "paint-order=\"stroke\" transform=\"translate(%.1f %.1f)%s\" y=\"4\">",
          mark != 0 ? tint->ink : "#30363f", mark != 0 ? tint->strong : tint->pale,
          left + width / 2, bottom - height / 2, upright ? " rotate(-90)" : "");
  if (lettered) {
    fprintf(map->stream, "<tspan font-weight=\"bold\">%c</tspan> ", 'A' + mark - 1);
  }
  write_name(map, label, columns);
  fputs("</text>\n", map->stream);
}

static void draw_buffer(berth_svg_map_t *map, uint32_t index) {
  const berth_buffer_t *buffer = &map->report->subject->problem.buffers[index];
  const tint_t *tint = &tints[kind_of(&map->report->subject->labels[index])];
  uint64_t offset = map->report->outcome->plan.placements[index].offset;
  double left = berth_svg_x(map, buffer->first), right = berth_svg_x(map, buffer->last + 1);
  double bottom = berth_svg_y(map, offset), top = berth_svg_y(map, offset + buffer->size);
  bool strong = map->marks[index] != 0;
  fprintf(map->stream,
          "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
          "stroke=\"%s\" stroke-width=\"%s\">",
          left, top, right - left, bottom - top, strong ? tint->strong : tint->pale,
          strong ? "#111" : "#fff", right - left < 3 || bottom - top < 3 ? "0.3" : "1");
  write_title(map, index);
  fputs("</rect>\n", map->stream);
}

/* Pale ones first or last: first, so that the outlines of the peak's buffers stay whole; last, so
 * that their labels have the room. */
static void draw_buffers(berth_svg_map_t *map, bool pale_first,
                         void (*draw)(berth_svg_map_t *map, uint32_t index)) {
  const berth_problem_t *problem = &map->report->subject->problem;
  const berth_placement_t *placements = map->report->outcome->plan.placements;
  for (int round = 0; round < 2; round++) {
    bool strong = (round == 1) == pale_first;
    for (uint32_t i = 0; i < problem->buffer_count; i++) {
      if (problem->buffers[i].size == 0 || placements[i].region != map->region) continue;
      if ((map->marks[i] != 0) == strong) draw(map, i);
    }
  }
}

/* ---- The peak and the load ------------------------------------------------------------------- */

static void draw_peak(const berth_svg_map_t *map) {
  double left = berth_svg_x(map, map->anatomy.step),
         right = berth_svg_x(map, map->anatomy.step + 1);
  double middle = (left + right) / 2;
  const char *anchor = middle < BERTH_SVG_LEFT + 250    ? "start"
                       : middle > BERTH_SVG_RIGHT - 250 ? "end"
                                                        : "middle";
  double at = middle < BERTH_SVG_LEFT + 250    ? left
              : middle > BERTH_SVG_RIGHT - 250 ? right
                                               : middle;
  fprintf(map->stream,
          "<path d=\"M%.1f %.1fl-5 -8h10z\" fill=\"#111\"/>\n"
          "<path d=\"M%.2f %.1fV%.1fM%.2f %.1fV%.1f\" stroke=\"#111\" stroke-dasharray=\"2 3\"/>\n"
          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-weight=\"bold\">peak: step %" PRIu32,
          middle, map->top - 1, left, map->top, map->top + BERTH_SVG_HEIGHT, right, map->top,
          map->top + BERTH_SVG_HEIGHT, at, map->top - 13, anchor, map->anatomy.step);
  write_operator(map->report->subject, map->anatomy.step, map->stream);
  fputs("</text>\n", map->stream);
}

/* The sum of what is live in each step: where it is below the highest buffer, there are gaps. */
static bool draw_load(const berth_svg_map_t *map) {
  const berth_subject_t *subject = map->report->subject;
  const berth_placement_t *placements = map->report->outcome->plan.placements;
  uint64_t *load = berth_load_by_step(subject, placements, map->region);
  if (load == NULL) return false;
  fputs("<path fill=\"none\" stroke=\"#111\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\" d=\"",
        map->stream);
  for (uint32_t step = 0; step < subject->step_count; step++) {
    if (step > 0 && load[step] == load[step - 1]) continue;
    /* Pairs may let buffers overlap: then more is live than the map is high. */
    double y = berth_svg_y(map, load[step] < map->peak ? load[step] : map->peak);
    fprintf(map->stream, step == 0 ? "M%.2f %.2f" : "H%.2fV%.2f", berth_svg_x(map, step), y);
  }
  fprintf(map->stream, "H%d\"><title>load: bytes live in each step</title></path>\n",
          BERTH_SVG_RIGHT);
  free(load);
  return true;
}

/* ---- The picture ----------------------------------------------------------------------------- */

static void write_head(const berth_plan_report_t *report, double height, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_plan_t *plan = &report->outcome->plan;
  fprintf(stream,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
          "height=\"%.0f\" font-family=\"system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', "
          "sans-serif\" font-size=\"12\" fill=\"#111\">\n<title>Memory map of ",
          WIDTH, height, WIDTH, height);
  berth_xml_text(subject->path, strlen(subject->path), 200, stream);
  fprintf(stream,
          "</title>\n<rect width=\"%d\" height=\"%.0f\" rx=\"6\" fill=\"#fff\"/>\n"
          "<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">",
          WIDTH, height);
  const char *slash = strrchr(subject->path, '/');
  const char *file = slash != NULL && slash[1] != '\0' ? slash + 1 : subject->path;
  berth_xml_text(file, strlen(file), 80, stream);
  fputs("</text>\n", stream);
  berth_svg_patterns(report, stream);
  fputs("<text x=\"16\" y=\"45\" fill=\"#4a5260\">", stream);
  if (subject->problem.region_count > 1) {
    fprintf(stream, "cost %s%s", berth_grouped(plan->cost).text,
            plan->optimal ? ", proven optimal" : "");
  } else {
    fprintf(stream, "peak %s (%s bytes), %s", berth_human_bytes(plan->peak).text,
            berth_grouped(plan->peak).text, plan->optimal ? "proven optimal" : "lower bound ");
    if (!plan->optimal) fputs(berth_human_bytes(plan->lower_bound).text, stream);
  }
  fprintf(stream, "; without reuse %s; planner %s</text>\n",
          berth_human_bytes(subject->sum_bytes).text, report->outcome->planner->name);
}

static void write_legend(const berth_plan_report_t *report, double y, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  bool seen[KINDS] = {false};
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    if (subject->labels[i].has_kind) seen[subject->labels[i].kind] = true;
  }
  double x = BERTH_SVG_LEFT;
  for (uint32_t k = 0; k < KINDS; k++) {
    if (!seen[k]) continue;
    const char *name = berth_buffer_kind_name((berth_buffer_kind_t)k);
    fprintf(stream,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>"
            "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            x, y, tints[k].strong, x + 17, y + 10, name);
    x += 17 + (double)strlen(name) * CHARACTER + 18;
  }
  fprintf(stream,
          "<path d=\"M%.1f %.1fh22\" stroke=\"#111\" stroke-width=\"1.5\" "
          "stroke-dasharray=\"5 3\"/><text x=\"%.1f\" y=\"%.1f\">load</text>\n"
          "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#4a5260\">%s%sstrong colours: live "
          "at the peak</text>\n",
          x, y + 6, x + 27, y + 10, BERTH_SVG_RIGHT, y + 10,
          report->streaming != NULL ? "shaded: row by row, lined: a ring of rows; " : "",
          subject->problem.pair_count > 0 ? "striped: shared bytes; " : "");
}

static bool draw_region(const berth_plan_report_t *report, uint32_t region, uint64_t peak,
                        double top, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_placement_t *placements = report->outcome->plan.placements;
  uint8_t *marks = calloc((size_t)subject->problem.buffer_count + 1, sizeof *marks);
  berth_svg_map_t map = {
      .report = report, .stream = stream, .region = region, .peak = peak, .top = top};
  map.labels = calloc((size_t)subject->problem.buffer_count + 1, sizeof *map.labels);
  bool good = marks != NULL && map.labels != NULL &&
              berth_anatomy_of(subject, placements, region, peak, &map.anatomy) == BERTH_OK;
  if (good) {
    for (uint32_t i = 0; i < map.anatomy.live_count; i++) {
      marks[map.anatomy.live[i]] = (uint8_t)(i < LETTERS ? i + 1 : LETTERS + 1);
    }
    map.marks = marks;
    berth_svg_axes(&map);
    berth_svg_runs(&map);
    draw_buffers(&map, true, draw_buffer);
    berth_svg_rings(&map);
    berth_svg_shared(&map);
    good = draw_load(&map);
    draw_peak(&map);
    draw_buffers(&map, false, draw_label);
    if (subject->problem.region_count > 0) {
      fprintf(stream, "<text x=\"16\" y=\"%.1f\" font-weight=\"bold\">", top - 13);
      const char *name = berth_region_name(subject, region);
      berth_xml_text(name, strlen(name), 24, stream);
      fputs("</text>\n", stream);
    }
  }
  free(map.anatomy.live);
  free(map.labels);
  free(marks);
  return good;
}

berth_status_t berth_svg_write(const berth_plan_report_t *report, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint32_t regions = subject->problem.region_count > 0 ? subject->problem.region_count : 1;
  uint64_t peaks[BERTH_REGIONS_MAX];
  uint32_t used = 0;
  for (uint32_t r = 0; r < regions; r++) {
    peaks[r] = berth_region_peak(&subject->problem, report->outcome->plan.placements, r);
    used += peaks[r] > 0;
  }
  double block = GAP + BERTH_SVG_HEIGHT + AXIS;
  write_head(report, HEAD + used * block + LEGEND, stream);
  double top = HEAD + GAP;
  bool good = true;
  for (uint32_t r = 0; r < regions; r++) {
    if (peaks[r] == 0) continue;
    good &= draw_region(report, r, peaks[r], top, stream);
    top += block;
  }
  write_legend(report, HEAD + used * block, stream);
  fputs("</svg>\n", stream);
  return good ? BERTH_OK : BERTH_ERROR_MEMORY;
}
