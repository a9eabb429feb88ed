/* The peak in JSON; docs/json.md describes the keys. */
#include "host/json.h"
#include "host/keeper.h"
#include "host/peak_print.h"

#include <stdlib.h>

static void write_classes(const char *key, const berth_classes_t *classes, berth_json_t *json) {
  berth_json_open_line(json, key, '{');
  for (uint32_t kind = 0; kind < BERTH_CLASSES; kind++) {
    berth_json_number(json, berth_buffer_kind_name((berth_buffer_kind_t)kind),
                      classes->bytes[kind]);
  }
  berth_json_number(json, "alignment", classes->alignment_bytes);
  berth_json_close(json, '}');
}

static void write_operator(const berth_subject_t *subject, uint32_t step, berth_json_t *json) {
  if (!subject->is_model || step >= berth_model_subgraph(&subject->model, 0).operator_count) {
    berth_json_null(json, "operator");
    return;
  }
  berth_operator_t op = berth_model_operator(&subject->model, 0, step);
  berth_text_t name = berth_operator_name(&op);
  berth_json_text(json, "operator", name.data, name.length);
}

static void write_index(const char *key, uint32_t index, berth_json_t *json) {
  if (index == BERTH_NOBODY) {
    berth_json_null(json, key);
  } else {
    berth_json_number(json, key, index);
  }
}

/* `index`: position in "buffers". */
static void write_live(const berth_subject_t *subject, uint32_t index, uint32_t step,
                       berth_json_t *json) {
  char text[512];
  berth_keeper_t keeper = berth_keeper_of(subject, index, step);
  berth_json_open_line(json, NULL, '{');
  berth_json_number(json, "buffer", index);
  write_index("maker", keeper.maker, json);
  write_index("last_reader", keeper.reader, json);
  berth_json_string(json, "kept_by", berth_keep_word(keeper.why));
  berth_json_number(json, "kept_steps", keeper.waits);
  berth_json_string(json, "why", berth_keeper_text(subject, &keeper, step, text, sizeof text));
  berth_json_close(json, '}');
}

static bool write_peak(const berth_plan_report_t *report, uint32_t region, uint64_t peak,
                       berth_json_t *json) {
  const berth_subject_t *subject = report->subject;
  const berth_placement_t *placements = report->outcome->plan.placements;
  berth_anatomy_t anatomy;
  berth_near_step_t near[BERTH_NEAR_MAX];
  uint32_t count;
  if (berth_anatomy_of(subject, placements, region, peak, &anatomy) != BERTH_OK) return false;
  if (berth_near_steps(subject, placements, region, near, &count) != BERTH_OK) {
    free(anatomy.live);
    return false;
  }
  berth_classes_t all = berth_classes_of(subject, placements, region);
  berth_json_open(json, NULL, '{');
  berth_json_string(json, "region", berth_region_name(subject, region));
  berth_json_number(json, "peak_bytes", peak);
  berth_json_number(json, "step", anatomy.step);
  write_operator(subject, anatomy.step, json);
  berth_json_number(json, "live_bytes", anatomy.live_bytes);
  berth_json_number(json, "alignment_bytes", anatomy.alignment_bytes);
  berth_json_number(json, "fragmentation_bytes", anatomy.fragmentation_bytes);
  berth_json_number(json, "overlap_bytes", anatomy.overlap_bytes);
  write_classes("classes", &anatomy.classes, json);
  write_classes("classes_in_all", &all, json);
  berth_json_open(json, "live", '[');
  for (uint32_t i = 0; i < anatomy.live_count; i++) {
    write_live(subject, anatomy.live[i], anatomy.step, json);
  }
  berth_json_close(json, ']');
  berth_json_open(json, "nearest_steps", '[');
  for (uint32_t i = 0; i < count; i++) {
    berth_json_open_line(json, NULL, '{');
    berth_json_number(json, "step", near[i].step);
    berth_json_number(json, "load_bytes", near[i].load);
    write_operator(subject, near[i].step, json);
    berth_json_close(json, '}');
  }
  berth_json_close(json, ']');
  berth_json_close(json, '}');
  free(anatomy.live);
  return true;
}

bool berth_peaks_json(const berth_plan_report_t *report, berth_json_t *json) {
  if (report->outcome == NULL || !report->outcome->has_plan) return true;
  const berth_subject_t *subject = report->subject;
  uint32_t regions = subject->problem.region_count > 0 ? subject->problem.region_count : 1;
  bool good = true;
  berth_json_open(json, "peaks", '[');
  for (uint32_t r = 0; r < regions && good; r++) {
    uint64_t peak = berth_region_peak(&subject->problem, report->outcome->plan.placements, r);
    if (peak > 0) good = write_peak(report, r, peak, json);
  }
  berth_json_close(json, ']');
  return good;
}
