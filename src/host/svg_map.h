/* One region's map in a picture: where steps and addresses are. For the files that draw it. */
#ifndef BERTH_SRC_HOST_SVG_MAP_H
#define BERTH_SRC_HOST_SVG_MAP_H

#include "host/anatomy.h"
#include "host/plan_file.h"
#include <stdio.h>

#define BERTH_SVG_LEFT   78 /* of the map; what stands left of it are addresses */
#define BERTH_SVG_RIGHT  982
#define BERTH_SVG_HEIGHT 420

typedef struct berth_svg_map {
  const berth_plan_report_t *report;
  FILE *stream;
  uint32_t region;
  uint64_t peak; /* bytes from bottom to top */
  double top;
  berth_anatomy_t anatomy;
  const uint8_t *marks;         /* of each buffer: 1 + its place in the peak's list, or 0 */
  struct berth_svg_box *labels; /* where labels are: where buffers overlap, the first stays alone */
  uint32_t label_count;
} berth_svg_map_t;

static inline double berth_svg_x(const berth_svg_map_t *map, uint32_t step) {
  return BERTH_SVG_LEFT +
         (BERTH_SVG_RIGHT - BERTH_SVG_LEFT) * (double)step / map->report->subject->step_count;
}

static inline double berth_svg_y(const berth_svg_map_t *map, uint64_t address) {
  return map->top + BERTH_SVG_HEIGHT - BERTH_SVG_HEIGHT * (double)address / (double)map->peak;
}

/* Address axis, steps below it, and the lines between; svg_axes.c. */
void berth_svg_axes(const berth_svg_map_t *map);

/* What is executed row by row, behind the buffers; the rows of rings and the bytes that two buffers
 * share, over them; svg_shared.c. */
void berth_svg_runs(const berth_svg_map_t *map);
void berth_svg_rings(const berth_svg_map_t *map);
void berth_svg_shared(const berth_svg_map_t *map);

/* The pattern that berth_svg_shared fills with, once in each picture. */
void berth_svg_patterns(const berth_plan_report_t *report, FILE *stream);

#endif
