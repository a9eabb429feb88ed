/* What a run needed, how long it took and what came out: for people, and as JSON. */
#include "host/execute.h"
#include "host/fill.h"
#include "host/json.h"
#include "host/running.h"
#include "host/streaming_print.h"
#include "host/table.h"
#include "host/terminal.h"
#include "host/text.h"
#include "host/usage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOP 5u /* best classes to show */

/* Element `i` as a number, in real units where the tensor is quantized. */
static double real_at(const berth_value_t *value, uint32_t i) {
  const uint8_t *at = value->data + (size_t)i * (berth_tensor_type_bits(value->type) / 8);
  double stored;
  switch (value->type) {
  case BERTH_TYPE_FLOAT32: {
    float x;
    memcpy(&x, at, sizeof x);
    return (double)x;
  }
  case BERTH_TYPE_INT8:
    stored = (int8_t)*at;
    break;
  case BERTH_TYPE_UINT8:
  case BERTH_TYPE_BOOL:
    stored = *at;
    break;
  case BERTH_TYPE_INT16: {
    int16_t x;
    memcpy(&x, at, sizeof x);
    stored = x;
    break;
  }
  case BERTH_TYPE_INT32: {
    int32_t x;
    memcpy(&x, at, sizeof x);
    stored = x;
    break;
  }
  case BERTH_TYPE_UINT32: {
    uint32_t x;
    memcpy(&x, at, sizeof x);
    stored = x;
    break;
  }
  case BERTH_TYPE_INT64: {
    int64_t x;
    memcpy(&x, at, sizeof x);
    stored = (double)x;
    break;
  }
  default:
    return NAN;
  }
  return value->scale > 0 ? (stored - value->zero_point) * (double)value->scale : stored;
}

static void shape_text(const berth_value_t *value, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "[");
  for (uint32_t i = 0; i < value->rank && used < size; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%d", i > 0 ? "," : "", value->dims[i]);
  }
  if (used < size) snprintf(text + used, size - used, "]");
}

/* A score for each class: one batch, one dimension that is more than 1. */
static bool is_classes(const berth_value_t *value) {
  return value->rank >= 1 && value->rank <= 2 && value->elements >= 3 &&
         (uint32_t)value->dims[value->rank - 1] == value->elements;
}

static void print_best(const berth_value_t *value, FILE *stream) {
  uint32_t shown[TOP], count = value->elements < TOP ? value->elements : TOP;
  fputs("    best:", stream);
  for (uint32_t n = 0; n < count; n++) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < value->elements; i++) {
      bool taken = false;
      for (uint32_t k = 0; k < n; k++) taken = taken || shown[k] == i;
      if (!taken && (best == UINT32_MAX || real_at(value, i) > real_at(value, best))) best = i;
    }
    shown[n] = best;
    fprintf(stream, " %u (%.4g)", best, real_at(value, best));
  }
  fputc('\n', stream);
}

static void print_output(const berth_execution_t *execution, uint32_t number, FILE *stream) {
  berth_value_t value = berth_runner_output(&execution->runner, number);
  char name[160], shape[96];
  berth_text_t text = berth_model_tensor(&execution->runner.model, 0, value.index).name;
  berth_printable(text.data, text.length, 48, name, sizeof name);
  shape_text(&value, shape, sizeof shape);
  fprintf(stream, "  %u %s %s %s", number, name, berth_tensor_type_name(value.type), shape);
  if (value.data == NULL || value.elements == 0 || isnan(real_at(&value, 0))) {
    fputc('\n', stream);
    return;
  }
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (uint32_t i = 0; i < value.elements; i++) {
    double x = real_at(&value, i);
    if (x < low) low = x;
    if (x > high) high = x;
  }
  if (value.elements == 1) {
    fprintf(stream, ": %.6g\n", low);
  } else {
    fprintf(stream, ": %.6g to %.6g\n", low, high);
  }
  if (is_classes(&value)) print_best(&value, stream);
}

static bool print_profile(const berth_execution_t *execution, FILE *stream) {
  static const char *const headings[] = {"step", "operator", "ms", "share", "output", "live", NULL};
  berth_text_table_t table = berth_text_table(headings, "rlrrrr");
  double all = 0;
  for (uint32_t i = 0; i < execution->operator_count; i++) all += execution->operators[i].ms;
  for (uint32_t i = 0; i < execution->operator_count; i++) {
    const berth_operator_profile_t *profile = &execution->operators[i];
    char name[96];
    berth_operator_t op = berth_model_operator(&execution->runner.model, 0, i);
    berth_text_t text = berth_operator_name(&op);
    berth_text_table_cell(&table, "%u", i);
    berth_text_table_cell(&table, "%s",
                          berth_printable(text.data, text.length, 40, name, sizeof name));
    berth_text_table_cell(&table, "%.4f", profile->ms);
    berth_text_table_cell(&table, "%.1f %%", all > 0 ? 100 * profile->ms / all : 0.0);
    berth_text_table_cell(&table, "%s", berth_grouped(profile->output_bytes).text);
    berth_text_table_cell(&table, "%s", berth_grouped(profile->live_bytes).text);
  }
  fputs("\nOperators (ms: the shortest of all invokes; bytes of what it writes, and of all tensors "
        "live then):\n",
        stream);
  return berth_text_table_print(&table, 2, stream);
}

static void print_verdicts(const berth_execution_t *execution, FILE *stream) {
  const berth_verdicts_t *verdicts = &execution->verdicts;
  const char *kept = execution->runner.options.guard_fast
                         ? "one evaluation of each operator shows nothing wrong"
                         : "every operator kept its memory contract";
  fprintf(stream, "\nGuard: %s\n", verdicts->count == 0 ? kept : "found");
  for (uint32_t i = 0; i < verdicts->count; i++) {
    char text[1024];
    fprintf(
        stream, "  %s\n",
        berth_verdict_text(&execution->runner.model, &verdicts->findings[i], text, sizeof text));
  }
}

/* A row of columns, as high as the values of the samples. */
static void print_curve(const berth_execution_t *execution, const char *name, bool resident,
                        FILE *stream) {
  static const char *const utf8[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                     "\u2585", "\u2586", "\u2587", "\u2588"};
  static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  const char *const *bars = berth_terminal_of_stdout().utf8 ? utf8 : ascii;
  uint64_t most = 1, first = 0, last = 0;
  for (uint32_t i = 0; i < execution->sample_count; i++) {
    const berth_sample_t *sample = &execution->samples[i];
    last = resident ? sample->resident_bytes : sample->high_water_bytes;
    if (i == execution->sample_count / 4) first = last; /* by then, it has settled */
    if (last > most) most = last;
  }
  fprintf(stream, "  %-14s ", name);
  for (uint32_t i = 0; i < execution->sample_count; i++) {
    const berth_sample_t *sample = &execution->samples[i];
    uint64_t value = resident ? sample->resident_bytes : sample->high_water_bytes;
    fputs(bars[value * 7 / most], stream);
  }
  uint32_t from = execution->samples[execution->sample_count / 4].invoke;
  uint32_t to = execution->samples[execution->sample_count - 1].invoke;
  if (last <= first || to == from) {
    fprintf(stream, "  flat at %s\n", berth_human_bytes(last).text);
  } else {
    fprintf(stream, "  up to %s: %.1f bytes more with every invoke\n", berth_human_bytes(last).text,
            (double)(last - first) / (double)(to - from));
  }
}

bool berth_execution_print(const berth_execution_t *execution, FILE *stream) {
  const berth_runner_t *runner = &execution->runner;
  berth_needs_t needs = berth_interpreter_needs(&runner->interpreter);
  fprintf(stream, "%s\n", runner->path);
  fprintf(
      stream, "  memory         %12s bytes in all\n",
      berth_grouped((uint64_t)needs.total + BERTH_RUNNING_STRUCTS + execution->dynamic_bytes).text);
  fprintf(stream, "  activations    %12s  (plan %s, lower bound %s)\n",
          berth_grouped(needs.extent).text, berth_grouped(needs.peak).text,
          berth_grouped(needs.lower_bound).text);
  fprintf(stream, "  persistent     %12s  (variables, operators' tables and state)\n",
          berth_grouped(needs.persistent).text);
  fprintf(stream, "  metadata       %12s  (and %zu of the structs, interpreter and model)\n",
          berth_grouped(needs.metadata).text, BERTH_RUNNING_STRUCTS);
  fprintf(stream, "  planning       %12s  (during prepare only%s)\n",
          berth_grouped(needs.planning).text,
          runner->planning == NULL ? ", borrowed from activations" : "");
  if (runner->options.guard) {
    fprintf(stream, "  guard          %12s  (borrowed for its checks)\n",
            berth_grouped(runner->guard_bytes).text);
  }
  if (runner->dynamic_count > 0) {
    fprintf(stream,
            "  dynamic        %12s  (%u tensor%s of a size that only running tells, from %s on)\n",
            berth_grouped(execution->dynamic_bytes).text, runner->dynamic_count,
            runner->dynamic_count == 1 ? "" : "s", runner->dynamic_cause);
  }
  fprintf(stream, "  latency        %12.3f ms median, %.3f ms min, of %u invoke%s\n",
          execution->ms_median, execution->ms_min, execution->invokes,
          execution->invokes == 1 ? "" : "s");
  if (runner->streaming != NULL && !berth_streaming_print(runner->streaming, stream)) return false;
  if (execution->row_pieces > 0) {
    fprintf(stream, "  output rows were delivered in %u pieces, as they were made\n",
            execution->row_pieces);
  }
  if (execution->sample_count > 0) {
    print_curve(execution, "resident", true, stream);
    print_curve(execution, "arena", false, stream);
  }
  fputs("\nOutputs (real values where the tensor is quantized):\n", stream);
  uint32_t outputs = berth_model_subgraph(&runner->model, 0).outputs.count;
  for (uint32_t i = 0; i < outputs; i++) print_output(execution, i, stream);
  if (runner->options.guard) print_verdicts(execution, stream);
  return execution->operators == NULL || print_profile(execution, stream);
}

static void json_output(berth_json_t *json, const berth_execution_t *execution, uint32_t number) {
  berth_value_t value = berth_runner_output(&execution->runner, number);
  berth_text_t text = berth_model_tensor(&execution->runner.model, 0, value.index).name;
  berth_json_open_line(json, NULL, '{');
  berth_json_text(json, "name", text.data, text.length);
  berth_json_number(json, "tensor", value.index);
  berth_json_string(json, "type", berth_tensor_type_name(value.type));
  berth_json_open_line(json, "shape", '[');
  for (uint32_t i = 0; i < value.rank; i++) berth_json_signed(json, NULL, value.dims[i]);
  berth_json_close(json, ']');
  berth_json_number(json, "bytes", value.bytes);
  berth_json_number(json, "crc32", value.data != NULL ? berth_crc32(value.data, value.bytes) : 0);
  berth_json_close(json, '}');
}

/* Milliseconds as whole nanoseconds: JSON numbers here are integers. */
static uint64_t nanoseconds(double ms) {
  return (uint64_t)(ms * 1e6 + 0.5);
}

bool berth_execution_json(const berth_execution_t *execution, FILE *stream) {
  const berth_runner_t *runner = &execution->runner;
  berth_needs_t needs = berth_interpreter_needs(&runner->interpreter);
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", runner->path);
  berth_json_string(&json, "planner",
                    runner->options.planner != NULL ? runner->options.planner->name : "compact");
  berth_json_number(&json, "peak_bytes", needs.peak);
  berth_json_number(&json, "lower_bound_bytes", needs.lower_bound);
  berth_json_number(&json, "total_bytes",
                    (uint64_t)needs.total + BERTH_RUNNING_STRUCTS + execution->dynamic_bytes);
  berth_json_number(&json, "activation_bytes", needs.extent);
  berth_json_number(&json, "persistent_bytes", needs.persistent);
  berth_json_number(&json, "metadata_bytes", needs.metadata);
  berth_json_number(&json, "interpreter_bytes", BERTH_RUNNING_STRUCTS);
  berth_json_number(&json, "planning_bytes", needs.planning);
  berth_json_number(&json, "dynamic_bytes", execution->dynamic_bytes);
  if (runner->dynamic_count > 0) {
    berth_json_string(&json, "dynamic_cause", runner->dynamic_cause);
  }
  berth_json_number(&json, "invokes", execution->invokes);
  if (execution->row_pieces > 0) {
    berth_json_number(&json, "output_row_pieces", execution->row_pieces);
  }
  berth_json_number(&json, "median_ns", nanoseconds(execution->ms_median));
  berth_json_number(&json, "min_ns", nanoseconds(execution->ms_min));
  if (runner->streaming != NULL)
    berth_streaming_json(runner->streaming, runner->streaming->plan.order, &json);
  if (execution->sample_count > 0) {
    berth_json_open(&json, "samples", '[');
    for (uint32_t i = 0; i < execution->sample_count; i++) {
      const berth_sample_t *sample = &execution->samples[i];
      berth_json_open_line(&json, NULL, '{');
      berth_json_number(&json, "invoke", sample->invoke);
      berth_json_number(&json, "resident_bytes", sample->resident_bytes);
      berth_json_number(&json, "high_water_bytes", sample->high_water_bytes);
      berth_json_close(&json, '}');
    }
    berth_json_close(&json, ']');
  }
  berth_json_open(&json, "outputs", '[');
  uint32_t outputs = berth_model_subgraph(&runner->model, 0).outputs.count;
  for (uint32_t i = 0; i < outputs; i++) json_output(&json, execution, i);
  berth_json_close(&json, ']');
  if (runner->options.guard) {
    berth_json_string(&json, "guard", runner->options.guard_fast ? "fast" : "full");
    berth_json_number(&json, "guard_bytes", runner->guard_bytes);
    berth_verdicts_json(&json, &runner->model, &execution->verdicts);
  }
  if (execution->operators != NULL) {
    berth_json_open(&json, "operators", '[');
    for (uint32_t i = 0; i < execution->operator_count; i++) {
      const berth_operator_profile_t *profile = &execution->operators[i];
      berth_operator_t op = berth_model_operator(&runner->model, 0, i);
      berth_text_t text = berth_operator_name(&op);
      berth_json_open_line(&json, NULL, '{');
      berth_json_number(&json, "operator", i);
      berth_json_text(&json, "name", text.data, text.length);
      berth_json_number(&json, "min_ns", nanoseconds(profile->ms));
      berth_json_number(&json, "output_bytes", profile->output_bytes);
      berth_json_number(&json, "live_bytes", profile->live_bytes);
      berth_json_close(&json, '}');
    }
    berth_json_close(&json, ']');
  }
  bool good = true;
  if (execution->has_usage) {
    berth_plan_report_t report = berth_execution_report(execution);
    berth_plan_json_buffers(&report, &json);
    good = berth_usage_json(&execution->subject, &json);
  }
  berth_json_close(&json, '}');
  return good;
}
