/* The trace: metadata first, then each step's slice and counter, then the tensors' lives as
 * asynchronous slices. Source of the format: "Trace Event Format" (Google, 2016). */
#include "host/trace.h"
#include "host/anatomy.h"
#include "host/json.h"
#include "host/plan_text.h"

#include <inttypes.h>
#include <stdlib.h>

#define OPERATORS 1u /* process numbers: operators and the counter, */
#define TENSORS   2u /* and tensors */

/* When each step begins, in nanoseconds from the first one; one more for the end. */
static uint64_t *begin_of_steps(uint32_t steps, const double *ms) {
  uint64_t *begins = malloc(((size_t)steps + 1) * sizeof *begins);
  if (begins == NULL) return NULL;
  begins[0] = 0;
  for (uint32_t i = 0; i < steps; i++) {
    uint64_t ns = ms == NULL ? 1000 : ms[i] > 0 ? (uint64_t)(ms[i] * 1e6 + 0.5) : 0;
    begins[i + 1] = begins[i] + (ns > 0 ? ns : 1);
  }
  return begins;
}

static void begin_event(const char *phase, uint32_t process, uint64_t track, uint64_t ns,
                        berth_json_t *json) {
  berth_json_open_line(json, NULL, '{');
  berth_json_string(json, "ph", phase);
  berth_json_number(json, "pid", process);
  berth_json_number(json, "tid", track);
  berth_json_thousandths(json, "ts", ns);
}

static void name_it(const char *what, uint32_t process, uint64_t track, const char *name,
                    berth_json_t *json) {
  begin_event("M", process, track, 0, json);
  berth_json_string(json, "name", what);
  berth_json_open(json, "args", '{');
  berth_json_string(json, "name", name);
  berth_json_close(json, '}');
  berth_json_close(json, '}');
}

static berth_text_t operator_at(const berth_subject_t *subject, uint32_t step) {
  berth_operator_t op = berth_model_operator(&subject->model, 0, step);
  return berth_operator_name(&op);
}

static void write_names(const berth_subject_t *subject, uint32_t steps, berth_json_t *json) {
  name_it("process_name", OPERATORS, 0, "operators", json);
  name_it("process_name", TENSORS, 0, "tensors", json);
  for (uint32_t step = 0; step < steps; step++) {
    char name[96];
    berth_text_t text = operator_at(subject, step);
    snprintf(name, sizeof name, "%" PRIu32 " %.*s", step,
             (int)(text.length < 60 ? text.length : 60), text.data);
    name_it("thread_name", OPERATORS, (uint64_t)step + 1, name, json);
  }
}

static void write_slices(const berth_subject_t *subject, uint32_t steps, const uint64_t *begins,
                         const uint64_t *load, berth_json_t *json) {
  for (uint32_t step = 0; step < steps; step++) {
    berth_text_t text = operator_at(subject, step);
    begin_event("X", OPERATORS, (uint64_t)step + 1, begins[step], json);
    berth_json_thousandths(json, "dur", begins[step + 1] - begins[step]);
    berth_json_text(json, "name", text.data, text.length);
    berth_json_open(json, "args", '{');
    berth_json_number(json, "step", step);
    berth_json_number(json, "live_bytes", load[step]);
    berth_json_close(json, '}');
    berth_json_close(json, '}');
  }
}

/* The counter: bytes of each class in each step, and nothing at the end. */
static bool write_counters(const berth_subject_t *subject, uint32_t steps, const uint64_t *begins,
                           berth_json_t *json) {
  uint64_t *classes = calloc((size_t)(steps + 2) * BERTH_CLASSES, sizeof *classes);
  if (classes == NULL) return false;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    uint32_t kind = subject->labels[i].kind;
    classes[(size_t)buffer->first * BERTH_CLASSES + kind] += buffer->size;
    classes[((size_t)buffer->last + 1) * BERTH_CLASSES + kind] -= buffer->size;
  }
  uint64_t now[BERTH_CLASSES] = {0};
  for (uint32_t step = 0; step <= steps; step++) {
    begin_event("C", OPERATORS, 0, begins[step], json);
    berth_json_string(json, "name", "live bytes");
    berth_json_open(json, "args", '{');
    for (uint32_t kind = 0; kind < BERTH_CLASSES; kind++) {
      now[kind] += classes[(size_t)step * BERTH_CLASSES + kind];
      berth_json_number(json, berth_buffer_kind_name((berth_buffer_kind_t)kind),
                        step < steps ? now[kind] : 0);
    }
    berth_json_close(json, '}');
    berth_json_close(json, '}');
  }
  free(classes);
  return true;
}

static void write_lives(const berth_plan_report_t *report, uint32_t steps, const uint64_t *begins,
                        berth_json_t *json) {
  const berth_subject_t *subject = report->subject;
  for (uint32_t i = 0; i < subject->problem.buffer_count && steps > 0; i++) {
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    char name[BERTH_NAME_ROOM];
    berth_buffer_text(&subject->labels[i], 60, name);
    for (int end = 0; end < 2; end++) {
      begin_event(end ? "e" : "b", TENSORS, 0, begins[end ? buffer->last + 1 : buffer->first],
                  json);
      berth_json_string(json, "cat", berth_buffer_kind_name(subject->labels[i].kind));
      berth_json_number(json, "id", i);
      berth_json_string(json, "name", name);
      if (!end) {
        berth_json_open(json, "args", '{');
        berth_json_number(json, "bytes", buffer->size);
        berth_json_number(json, "offset", report->outcome->plan.placements[i].offset);
        berth_json_close(json, '}');
      }
      berth_json_close(json, '}');
    }
  }
}

bool berth_trace_write(const berth_plan_report_t *report, const double *ms, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint32_t steps = berth_model_subgraph(&subject->model, 0).operator_count;
  uint64_t *begins = begin_of_steps(subject->step_count, steps > 0 ? ms : NULL);
  uint64_t *load = berth_load_by_step(subject, NULL, 0);
  bool good = begins != NULL && load != NULL;
  if (good) {
    berth_json_t json = berth_json_to(stream);
    berth_json_open(&json, NULL, '{');
    berth_json_string(&json, "displayTimeUnit", "ns");
    berth_json_open(&json, "otherData", '{');
    berth_json_string(&json, "model", subject->path);
    berth_json_string(&json, "planner", report->outcome->planner->name);
    berth_json_number(&json, "peak_bytes", report->outcome->plan.peak);
    berth_json_string(&json, "clock", ms != NULL ? "measured" : "one microsecond for each step");
    berth_json_close(&json, '}');
    berth_json_open(&json, "traceEvents", '[');
    write_names(subject, steps, &json);
    write_slices(subject, steps, begins, load, &json);
    good = write_counters(subject, subject->step_count, begins, &json);
    write_lives(report, steps, begins, &json);
    berth_json_close(&json, ']');
    berth_json_close(&json, '}');
  }
  free(begins);
  free(load);
  return good;
}
