/* The axes of a map. */
#include "host/svg_map.h"
#include "host/text.h"

#include <inttypes.h>

/* The distance of ticks: 1, 2 or 5 times a power of `base`; about `wanted` ticks up to `end`. */
static uint64_t tick_distance(uint64_t end, uint32_t wanted, bool binary) {
  uint64_t distance = 1;
  while (distance < end / wanted) {
    if (binary) {
      distance *= 2;
    } else if (distance * 2 >= end / wanted) {
      distance *= 2;
    } else if (distance * 5 >= end / wanted) {
      distance *= 5;
    } else {
      distance *= 10;
    }
  }
  return distance;
}

/* "1.125 MiB": in the largest unit in which ticks so far apart need three digits at most, with all
 * that they need, so that no two are alike. */
static void write_tick(uint64_t at, uint64_t distance, FILE *stream) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  uint32_t unit = 0;
  while (unit < 6 && at >> (10 * (unit + 1)) > 0 && distance >> (10 * unit + 7) > 0) unit++;
  uint64_t scale = (uint64_t)1 << (10 * unit);
  int digits = distance >= scale ? 0 : distance >= scale / 2 ? 1 : distance >= scale / 4 ? 2 : 3;
  if (digits == 0) {
    fprintf(stream, "%s %s", berth_grouped(at / scale).text, units[unit]);
  } else {
    fprintf(stream, "%.*f %s", digits, (double)at / (double)scale, units[unit]);
  }
}

void berth_svg_axes(const berth_svg_map_t *map) {
  FILE *stream = map->stream;
  uint32_t steps = map->report->subject->step_count;
  double bottom = map->top + BERTH_SVG_HEIGHT;
  fprintf(stream,
          "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"#f6f7f9\"/>\n"
          "<g stroke=\"#dfe3e8\" fill=\"none\">\n",
          BERTH_SVG_LEFT, map->top, BERTH_SVG_RIGHT - BERTH_SVG_LEFT, BERTH_SVG_HEIGHT);
  uint64_t distance = tick_distance(map->peak, 6, true);
  for (uint64_t at = 0; at < map->peak; at += distance) {
    fprintf(stream, "<path d=\"M%d %.1fH%d\"/>\n", BERTH_SVG_LEFT, berth_svg_y(map, at),
            BERTH_SVG_RIGHT);
    if (map->peak - at < distance) break;
  }
  fputs("</g>\n<g text-anchor=\"end\" fill=\"#4a5260\">\n", stream);
  for (uint64_t at = 0; at < map->peak; at += distance) {
    /* The topmost tick gives way to the peak's own figure. */
    if (berth_svg_y(map, at) - map->top > 14) {
      fprintf(stream, "<text x=\"%d\" y=\"%.1f\">", BERTH_SVG_LEFT - 6, berth_svg_y(map, at) + 4);
      write_tick(at, distance, stream);
      fputs("</text>\n", stream);
    }
    if (map->peak - at < distance) break;
  }
  fprintf(stream,
          "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\" fill=\"#111\">%s</text>\n"
          "</g>\n<g text-anchor=\"middle\" fill=\"#4a5260\">\n",
          BERTH_SVG_LEFT - 6, map->top + 4, berth_human_bytes(map->peak).text);
  distance = tick_distance(steps, 16, false);
  for (uint64_t step = 0; step < steps; step += distance) {
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\">%" PRIu64 "</text>\n",
            (berth_svg_x(map, (uint32_t)step) + berth_svg_x(map, (uint32_t)step + 1)) / 2,
            bottom + 15, step);
  }
  fprintf(stream, "<text x=\"%d\" y=\"%.1f\">step</text>\n</g>\n", BERTH_SVG_LEFT - 24,
          bottom + 15);
}
