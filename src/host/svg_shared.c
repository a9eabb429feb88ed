/* What is special about streamed plans and plans whose buffers overlap: runs, rings, shared bytes.
 */
#include "host/streaming.h"
#include "host/svg_map.h"

#define LINES_APART 3 /* rows closer together than this are not drawn */

void berth_svg_patterns(const berth_plan_report_t *report, FILE *stream) {
  if (report->subject->problem.pair_count == 0) return;
  fputs("<defs><pattern id=\"shared\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path d=\"M1 0V6\" stroke=\"#fff\" stroke-width=\"2\"/>"
        "</pattern></defs>\n",
        stream);
}

static void rectangle(const berth_svg_map_t *map, uint32_t first, uint32_t last, uint64_t low,
                      uint64_t high, const char *paint) {
  double left = berth_svg_x(map, first), top = berth_svg_y(map, high);
  fprintf(
      map->stream,
      "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s pointer-events=\"none\"/>\n",
      left, top, berth_svg_x(map, last + 1) - left, berth_svg_y(map, low) - top, paint);
}

void berth_svg_runs(const berth_svg_map_t *map) {
  const berth_streaming_t *streaming = map->report->streaming;
  if (streaming == NULL) return;
  for (uint32_t i = 0; i < streaming->plan.run_count; i++) {
    const berth_stream_run_t *run = &streaming->plan.runs[i];
    rectangle(map, run->first, run->last, 0, map->peak,
              "class=\"run\" fill=\"#0b63a5\" fill-opacity=\"0.12\"");
  }
}

void berth_svg_rings(const berth_svg_map_t *map) {
  const berth_streaming_t *streaming = map->report->streaming;
  const berth_subject_t *subject = map->report->subject;
  if (streaming == NULL) return;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    const berth_placement_t *place = &map->report->outcome->plan.placements[i];
    if (label->subgraph != 0 || place->region != map->region) continue;
    uint32_t rows = streaming->plan.rings[label->tensor];
    if (rows == 0 || rows >= streaming->tensors[label->tensor].rows) continue;
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    double left = berth_svg_x(map, buffer->first), right = berth_svg_x(map, buffer->last + 1);
    double bottom = berth_svg_y(map, place->offset);
    double each = (bottom - berth_svg_y(map, place->offset + buffer->size)) / rows;
    if (each < LINES_APART) continue;
    fputs(
        "<path class=\"ring\" stroke=\"#111\" stroke-opacity=\"0.35\" pointer-events=\"none\" d=\"",
        map->stream);
    for (uint32_t row = 1; row < rows; row++) {
      fprintf(map->stream, "M%.2f %.2fH%.2f", left, bottom - each * row, right);
    }
    fputs("\"/>\n", map->stream);
  }
}

/* Buffers that are live in the same step only overlap where a pair permits it. */
void berth_svg_shared(const berth_svg_map_t *map) {
  const berth_problem_t *problem = &map->report->subject->problem;
  const berth_placement_t *placements = map->report->outcome->plan.placements;
  for (uint32_t i = 0; i < problem->pair_count; i++) {
    uint32_t a = problem->pairs[i].a, b = problem->pairs[i].b;
    const berth_buffer_t *one = &problem->buffers[a], *other = &problem->buffers[b];
    if (placements[a].region != map->region || placements[b].region != map->region) continue;
    uint32_t first = one->first > other->first ? one->first : other->first;
    uint32_t last = one->last < other->last ? one->last : other->last;
    uint64_t low = placements[a].offset, high = low + one->size;
    if (placements[b].offset > low) low = placements[b].offset;
    if (placements[b].offset + other->size < high) high = placements[b].offset + other->size;
    if (first > last || low >= high) continue;
    rectangle(map, first, last, low, high, "class=\"shared\" fill=\"url(#shared)\"");
  }
}
