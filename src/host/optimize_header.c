/* The plan of an optimised model as a C header: offsets by tensor, for a runtime of one's own, and
 * by buffer in the order in which TFLM asks for them, which is what its
 * NonPersistentMemoryPlannerShim takes (that one needs an entry for each scratch buffer as well,
 * and a model without a plan in its metadata). */
#include "host/optimize.h"
#include "host/plan_file.h"
#include "host/text.h"
#include <inttypes.h>
#include <string.h>

#define PER_LINE 8u

static void write_number(FILE *stream, uint32_t index, int64_t number) {
  fprintf(stream, "%s%" PRId64 ",", index % PER_LINE == 0 ? "\n    " : " ", number);
}

static void write_offsets(const berth_optimization_t *o, const char *lower, const char *upper,
                          FILE *stream) {
  fprintf(stream, "\n/* Byte offset of each tensor of all subgraphs, one after the other; -1: not "
                  "planned. */\n");
  fprintf(stream, "#define %s_TENSOR_COUNT %" PRIu32 "u\n", upper, o->plan.count);
  fprintf(stream, "static const int32_t %s_offsets[%s_TENSOR_COUNT + 1] = {", lower, upper);
  for (uint32_t i = 0; i < o->plan.count; i++) write_number(stream, i, o->plan.offsets[i]);
  fputs("\n};\n", stream);
}

static void write_buffers(const berth_optimization_t *o, const char *lower, const char *upper,
                          FILE *stream) {
  const berth_tflm_forecast_t *stock = &o->stock;
  fprintf(
      stream,
      "\n/* Byte offset of each buffer in the order in which TFLM asks for them, scratch (with\n"
      " * %s kernels) included. For a model without the plan in its metadata:\n"
      " *   tflite::NonPersistentMemoryPlannerShim planner(\n"
      " *       reinterpret_cast<const tflite::BufferPlan*>(&%s_buffer_plan)); */\n",
      berth_tflm_kernel_set_name(stock->kernels), lower);
  fprintf(stream, "#define %s_BUFFER_COUNT %" PRIu32 "\n", upper, stock->buffer_count);
  fprintf(
      stream,
      "static const struct {\n  int32_t buffer_count;\n  int32_t offsets[%s_BUFFER_COUNT + 1];\n"
      "} %s_buffer_plan = {%s_BUFFER_COUNT, {",
      upper, lower, upper);
  for (uint32_t i = 0; i < stock->buffer_count; i++) {
    write_number(stream, i, (int64_t)stock->buffers[i].offset);
  }
  fputs("\n}};\n", stream);
}

void berth_optimization_header(const berth_optimization_t *optimization, const char *path,
                               FILE *stream) {
  const berth_optimization_t *o = optimization;
  char lower[64], upper[64], source[256];
  berth_header_identifier(path, false, lower, sizeof lower);
  berth_header_identifier(path, true, upper, sizeof upper);
  const char *slash = strrchr(o->path, '/');
  const char *base = slash != NULL ? slash + 1 : o->path;
  berth_printable(base, strlen(base), 60, source, sizeof source);
  for (char *end = strstr(source, "*/"); end != NULL; end = strstr(end, "*/")) end[1] = '?';
  fprintf(
      stream,
      "/* Memory plan of %s, as optimised by berth for TFLM. Offsets are in bytes from the start\n"
      " * of the arena, which must be aligned to 16. One region. */\n"
      "#ifndef %s_PLAN_H\n#define %s_PLAN_H\n\n#include <stdint.h>\n\n",
      source, upper, upper);
  uint64_t head = o->after.known ? o->after.head_bytes : o->plan.head_bytes;
  fprintf(stream, "#define %s_HEAD_BYTES %" PRIu64 "u /* tensors%s */\n", upper, head,
          o->after.known ? " and scratch" : ", without any scratch");
  if (o->after.known) {
    fprintf(stream,
            "#define %s_ARENA_BYTES %" PRIu64
            "u /* smallest TFLM arena: 32-bit Arm, %s kernels */\n",
            upper, o->after.min_arena_bytes, berth_tflm_kernel_set_name(o->stock.kernels));
  }
  if (o->plan.offsets != NULL) write_offsets(o, lower, upper, stream);
  if (o->after.known) write_buffers(o, lower, upper, stream);
  fputs("\n#endif\n", stream);
}
