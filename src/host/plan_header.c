/* A plan as a C header, for firmware that wires the offsets into its own runtime. */
#include "host/anatomy.h"
#include "host/plan_file.h"
#include "host/streaming.h"
#include "host/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void berth_header_identifier(const char *path, bool upper, char *out, size_t size) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name), used = 0;
  if (length == 0 || (name[0] >= '0' && name[0] <= '9')) out[used++] = upper ? 'P' : 'p';
  for (size_t i = 0; i < length && used + 1 < size; i++) {
    unsigned char c = (unsigned char)name[i];
    bool word = c < 0x80 && isalnum(c);
    out[used++] = !word ? '_' : upper ? (char)toupper(c) : (char)tolower(c);
  }
  out[used] = '\0';
}

static void write_region_sizes(const berth_plan_report_t *report, const char *upper, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  for (uint32_t r = 0; r < subject->problem.region_count; r++) {
    char region[64];
    berth_header_identifier(subject->regions[r].name, true, region, sizeof region);
    fprintf(stream, "#define %s_%s_BYTES %" PRIu64 "u /* of region %" PRIu32 " */\n", upper, region,
            berth_region_peak(&subject->problem, report->outcome->plan.placements, r), r);
  }
}

static void write_offsets(const berth_plan_report_t *report, const char *lower, const char *type,
                          FILE *stream) {
  const berth_subject_t *subject = report->subject;
  fprintf(stream, "static const %s %s_offsets[] = {\n", type, lower);
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_placement_t *place = &report->outcome->plan.placements[i];
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    const berth_label_t *label = &subject->labels[i];
    char name[256];
    berth_printable(label->name.data, label->name.length, 48, name, sizeof name);
    /* A name may not end the comment. */
    for (char *end = strstr(name, "*/"); end != NULL; end = strstr(end, "*/")) end[1] = '?';
    fprintf(
        stream, "    %" PRIu64 "%s, /* %" PRIu32 ": %" PRIu64 " bytes, steps %" PRIu32 "..%" PRIu32,
        place->region == BERTH_OUTSIDE ? 0 : place->offset,
        strcmp(type, "uint32_t") == 0 ? "u" : "ull", i, buffer->size, buffer->first, buffer->last);
    if (label->tensor != BERTH_NOBODY) {
      fprintf(stream, ", subgraph %" PRIu32 " tensor %" PRIu32, label->subgraph, label->tensor);
    }
    fprintf(stream, ", %s */\n", name);
  }
  if (subject->problem.buffer_count == 0) fputs("    0 /* nothing to plan */\n", stream);
  fputs("};\n", stream);
}

/* ---- Streamed plans -------------------------------------------------------------------------- */

/* A table of numbers, sixteen to a line. */
static void write_numbers(FILE *stream, const char *type, const char *lower, const char *what,
                          const int64_t *numbers, uint32_t count) {
  fprintf(stream, "\nstatic const %s %s_%s[] = {\n   ", type, lower, what);
  for (uint32_t i = 0; i < count; i++) {
    fprintf(stream, " %" PRId64 ",", numbers[i]);
    if (i % 16 == 15 && i + 1 < count) fputs("\n   ", stream);
  }
  fputs(count == 0 ? " 0\n};\n" : "\n};\n", stream);
}

/* Of each tensor of all subgraphs: where it is, as berth_interpreter_options_t.offsets wants it. */
static bool write_tensor_offsets(const berth_plan_report_t *report, const char *lower,
                                 FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint32_t count = subject->graph.tensor_count;
  int64_t *offsets = malloc(((size_t)count + 1) * sizeof *offsets);
  if (offsets == NULL) return false;
  for (uint32_t i = 0; i < count; i++) offsets[i] = -1;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    const berth_label_t *label = &subject->labels[i];
    if (label->subgraph == BERTH_NOBODY || label->kind == BERTH_KIND_VARIABLE) continue;
    offsets[subject->graph.bases[label->subgraph] + label->tensor] =
        (int64_t)report->outcome->plan.placements[i].offset;
  }
  write_numbers(stream, "int32_t", lower, "tensor_offsets", offsets, count);
  free(offsets);
  return true;
}

/* What the interpreter wants to know of a streamed plan besides offsets. */
static bool write_stream(const berth_plan_report_t *report, const char *lower, FILE *stream) {
  const berth_streaming_t *s = report->streaming;
  const uint32_t *order = report->subject->order;
  uint32_t tensors = berth_model_subgraph(&report->subject->model, 0).tensor_count;
  uint32_t count = tensors > s->plan.step_count ? tensors : s->plan.step_count;
  int64_t *numbers = malloc(((size_t)count + 1) * sizeof *numbers);
  if (numbers == NULL) return false;
  for (uint32_t i = 0; i < tensors; i++) numbers[i] = s->rings[i];
  write_numbers(stream, "uint32_t", lower, "rings", numbers, tensors);
  for (uint32_t i = 0; order != NULL && i < s->plan.step_count; i++) numbers[i] = order[i];
  if (order != NULL) {
    write_numbers(stream, "uint32_t", lower, "order", numbers, s->plan.step_count);
  }
  free(numbers);
  fprintf(stream, "\nstatic const berth_stream_run_t %s_runs[] = {\n", lower);
  for (uint32_t i = 0; i < s->plan.run_count; i++) {
    const berth_stream_run_t *run = &s->plan.runs[i];
    fprintf(stream, "    {%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", 0x%" PRIx32 "u, %s, %s},\n",
            run->first, run->last, run->block, run->push_inputs,
            run->pull_outputs ? "true" : "false", run->reverse ? "true" : "false");
  }
  fprintf(stream,
          "};\n\n/* For berth_interpreter_options_t: .stream = &%s_stream, .offsets = "
          "%s_tensor_offsets,\n * .offset_count = %" PRIu32
          ", .trust_offsets = true, since rows may "
          "lie over rows; berth has\n * verified that none is overwritten too early. */\n"
          "static const berth_stream_plan_t %s_stream = {%s%s, %" PRIu32 ", %s_runs, %" PRIu32
          ", %s_rings};\n",
          lower, lower, report->subject->graph.tensor_count, lower, order != NULL ? lower : "NULL",
          order != NULL ? "_order" : "", s->plan.step_count, lower, s->plan.run_count, lower);
  return true;
}

/* The steps that the offsets are for, where they aren't those of the file. */
static void write_order(const berth_subject_t *subject, const char *lower, FILE *stream) {
  uint32_t steps = berth_model_subgraph(&subject->model, 0).operator_count;
  fprintf(stream,
          "\n/* The offsets are right only if operators run in this order: the file's operator of "
          "each\n * step. */\n");
  fprintf(stream, "static const uint32_t %s_order[] = {\n   ", lower);
  for (uint32_t i = 0; i < steps; i++) {
    fprintf(stream, " %" PRIu32 ",", subject->order[i]);
    if (i % 16 == 15 && i + 1 < steps) fputs("\n   ", stream);
  }
  fputs("\n};\n", stream);
}

bool berth_plan_write_header(const berth_plan_report_t *report, const char *path, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  const berth_plan_t *plan = &report->outcome->plan;
  char lower[64], upper[64];
  berth_header_identifier(path, false, lower, sizeof lower);
  berth_header_identifier(path, true, upper, sizeof upper);
  uint64_t align = 1, highest = 0;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    if (subject->problem.buffers[i].align > align) align = subject->problem.buffers[i].align;
    if (plan->placements[i].region != BERTH_OUTSIDE && plan->placements[i].offset > highest) {
      highest = plan->placements[i].offset;
    }
  }
  char source[256];
  const char *slash = strrchr(subject->path, '/');
  const char *base = slash != NULL ? slash + 1 : subject->path;
  berth_printable(base, strlen(base), 60, source, sizeof source);
  for (char *end = strstr(source, "*/"); end != NULL; end = strstr(end, "*/")) end[1] = '?';

  fprintf(stream,
          "/* Memory plan of %s, by berth's planner %s. Each offset is in bytes from the\n"
          " * start of the arena, which must be aligned to %s_ARENA_ALIGN. */\n",
          source, report->outcome->planner->name, upper);
  bool streamed = report->streaming != NULL && report->streaming->plan.run_count > 0;
  fprintf(stream, "#ifndef %s_PLAN_H\n#define %s_PLAN_H\n\n#include <stdint.h>\n%s\n", upper, upper,
          streamed ? "#include \"berth/stream.h\"\n" : "");
  fprintf(stream, "#define %s_ARENA_BYTES %" PRIu64 "u\n", upper, plan->peak);
  fprintf(stream, "#define %s_ARENA_ALIGN %" PRIu64 "u\n", upper, align);
  fprintf(stream, "#define %s_BUFFER_COUNT %" PRIu32 "u\n", upper, subject->problem.buffer_count);
  write_region_sizes(report, upper, stream);
  fputc('\n', stream);
  write_offsets(report, lower, highest <= UINT32_MAX ? "uint32_t" : "uint64_t", stream);
  if (subject->problem.region_count > 0) {
    fprintf(stream, "\nstatic const uint8_t %s_regions[] = { /* 255: outside of all */\n   ",
            lower);
    for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
      fprintf(stream, " %u,", (unsigned)(uint8_t)plan->placements[i].region);
      if (i % 16 == 15 && i + 1 < subject->problem.buffer_count) fputs("\n   ", stream);
    }
    fputs(subject->problem.buffer_count == 0 ? " 0\n};\n" : "\n};\n", stream);
  }
  if (!streamed && subject->order != NULL) write_order(subject, lower, stream);
  bool written = !streamed || (write_tensor_offsets(report, lower, stream) &&
                               write_stream(report, lower, stream));
  fputs("\n#endif\n", stream);
  return written;
}
