/* A curve as bars, and as JSON. */
#include "host/json.h"
#include "host/sweep.h"
#include "host/text.h"

#include <inttypes.h>
#include <string.h>

/* A bar that takes `part` of `room` columns. */
static void bar(double part, uint32_t room, bool utf8, FILE *stream) {
  uint32_t length = (uint32_t)(part * room + 0.5);
  for (uint32_t i = 0; i < length; i++) fputs(utf8 ? "\u2588" : "#", stream);
}

void berth_curve_print(const berth_curve_t *curve, const char *path, berth_terminal_t terminal,
                       FILE *stream) {
  bool regions = curve->kind == BERTH_SWEEP_REGIONS;
  uint64_t most = 1;
  for (uint32_t i = 0; i < curve->count; i++) {
    uint64_t height = regions ? curve->points[i].cost : curve->points[i].peak;
    if (height > most) most = height;
  }
  char name[512];
  uint32_t used = curve->timed ? 52 : 42;
  uint32_t room = terminal.columns > used + 10 ? terminal.columns - used : 10;
  fprintf(stream, "%s: %s over %s\n\n", berth_printable(path, strlen(path), 400, name, sizeof name),
          regions ? "cost of traffic" : "peak", berth_sweep_name(curve->kind));
  fprintf(stream, "  %14s %14s", berth_sweep_name(curve->kind), regions ? "cost" : "peak bytes");
  fprintf(stream, curve->timed ? " %11s\n" : "\n", "ms");
  for (uint32_t i = 0; i < curve->count; i++) {
    const berth_sweep_point_t *point = &curve->points[i];
    fprintf(stream, "  %14s ", berth_grouped(point->value).text);
    if (!point->planned) {
      fprintf(stream, "%14s  %s\n", "-", point->why);
      continue;
    }
    uint64_t height = regions ? point->cost : point->peak;
    fprintf(stream, "%14s ", berth_grouped(height).text);
    if (curve->timed && point->ms >= 0) fprintf(stream, "%11.3f ", point->ms);
    if (curve->timed && point->ms < 0) fprintf(stream, "%11s ", "-");
    fputc(' ', stream);
    bar((double)height / (double)most, room, terminal.utf8, stream);
    fputc('\n', stream);
  }
}

void berth_curve_json(const berth_curve_t *curve, const char *path, const char *planner,
                      FILE *stream) {
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", path);
  berth_json_string(&json, "planner", planner);
  berth_json_string(&json, "sweep", berth_sweep_name(curve->kind));
  berth_json_open(&json, "points", '[');
  for (uint32_t i = 0; i < curve->count; i++) {
    const berth_sweep_point_t *point = &curve->points[i];
    berth_json_open_line(&json, NULL, '{');
    berth_json_number(&json, "value", point->value);
    if (point->planned) {
      berth_json_number(&json, "peak_bytes", point->peak);
      berth_json_bool(&json, "optimal", point->optimal);
      if (curve->kind == BERTH_SWEEP_REGIONS) berth_json_number(&json, "cost", point->cost);
    } else {
      berth_json_null(&json, "peak_bytes");
      berth_json_string(&json, "why", point->why);
    }
    if (curve->timed && point->ms >= 0) {
      berth_json_number(&json, "min_ns", (uint64_t)(point->ms * 1e6 + 0.5));
    }
    berth_json_close(&json, '}');
  }
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
}
