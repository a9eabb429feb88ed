/* What the arguments of options mean: one reader for each kind, named by the table of options. */
#include "option_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A whole number, with K, M or G behind it if `units`; `*end` is what follows. */
static bool read_number(const char *text, bool units, uint64_t *value, const char **end) {
  if (*text < '0' || *text > '9') return false;
  char *stop;
  errno = 0;
  unsigned long long number = strtoull(text, &stop, 10);
  if (errno != 0) return false;
  int shift = 0;
  if (units && (*stop == 'K' || *stop == 'k')) shift = 10;
  if (units && (*stop == 'M' || *stop == 'm')) shift = 20;
  if (units && (*stop == 'G' || *stop == 'g')) shift = 30;
  if (shift > 0) stop++;
  if (number > UINT64_MAX >> shift) return false;
  *value = (uint64_t)number << shift;
  *end = stop;
  return true;
}

static bool whole_number(const char *text, bool units, uint64_t *value) {
  const char *end;
  return read_number(text, units, value, &end) && *end == '\0';
}

/* Copies what stands before `separator` into options->names; where the rest begins, or NULL. */
static const char *take_name(options_t *options, const char *argument, char separator,
                             const char **name) {
  const char *cut = strchr(argument, separator);
  if (cut == NULL || cut == argument) return NULL;
  size_t length = (size_t)(cut - argument);
  char *copy = options->names + options->names_used;
  memcpy(copy, argument, length);
  copy[length] = '\0';
  options->names_used += length + 1;
  *name = copy;
  return cut + 1;
}

bool option_set_planner(options_t *options, const char *argument) {
  options->planner_given = true;
  options->all_planners = strcmp(argument, "all") == 0;
  options->planner = options->all_planners ? NULL : berth_planner_named(argument);
  return options->all_planners || options->planner != NULL;
}

bool option_set_like(options_t *options, const char *argument) {
  options->like = argument;
  return strcmp(argument, "tflm") == 0 || strcmp(argument, "tflite") == 0;
}

bool option_set_stock_runtime(options_t *options, const char *argument) {
  bool tflm = strcmp(argument, "tflm") == 0;
  options->stock_runtime = tflm ? BERTH_RUNTIME_TFLM : BERTH_RUNTIME_TFLITE;
  return tflm || strcmp(argument, "tflite") == 0;
}

bool option_set_kernel_set(options_t *options, const char *argument) {
  options->stock_given = true;
  bool cmsis = strcmp(argument, "cmsis-nn") == 0;
  options->stock.kernels = cmsis ? BERTH_TFLM_CMSIS_NN : BERTH_TFLM_REFERENCE;
  return cmsis || strcmp(argument, "reference") == 0;
}

bool option_set_abi(options_t *options, const char *argument) {
  options->stock_given = true;
  bool arm = strcmp(argument, "arm") == 0;
  options->stock.abi = arm ? BERTH_ABI_ARM : BERTH_ABI_I386;
  return arm || strcmp(argument, "i386") == 0;
}

bool option_set_align(options_t *options, const char *argument) {
  uint64_t value;
  if (!whole_number(argument, true, &value) || value == 0 || value > (1u << 30) ||
      (value & (value - 1)) != 0) {
    return false;
  }
  options->subject.align = (uint32_t)value;
  return true;
}

/* NAME:BYTES[:FIRST-LAST] */
bool option_add_reserve(options_t *options, const char *argument) {
  if (options->subject.reserve_count == RESERVES_MAX) return false;
  berth_reserve_t reserve = {.every_step = true};
  const char *at = take_name(options, argument, ':', &reserve.name);
  if (at == NULL || !read_number(at, true, &reserve.bytes, &at)) return false;
  if (*at == ':') {
    uint64_t first, last;
    if (!read_number(at + 1, false, &first, &at) || *at != '-') return false;
    if (!read_number(at + 1, false, &last, &at)) return false;
    if (last < first || last >= UINT32_MAX) return false;
    reserve.every_step = false;
    reserve.first = (uint32_t)first;
    reserve.last = (uint32_t)last;
  }
  if (*at != '\0') return false;
  options->reserves[options->subject.reserve_count++] = reserve;
  return true;
}

/* NAME=SIZE[@COST] */
bool option_add_region(options_t *options, const char *argument) {
  uint32_t index = options->subject.region_count;
  if (index == BERTH_REGIONS_MAX) return false;
  berth_named_region_t region = {NULL, {0, index + 1}};
  const char *at = take_name(options, argument, '=', &region.name);
  if (at == NULL || strchr(region.name, '|') != NULL) return false;
  if (!read_number(at, true, &region.region.capacity, &at)) return false;
  if (*at == '@' && !read_number(at + 1, false, &region.region.cost, &at)) return false;
  if (*at != '\0') return false;
  for (uint32_t r = 0; r < index; r++) {
    if (strcmp(options->regions[r].name, region.name) == 0) return false;
  }
  options->regions[options->subject.region_count++] = region;
  return true;
}

bool option_add_without(options_t *options, const char *argument) {
  const char *name;
  for (uint32_t i = 0; i < 32 && (name = berth_technique_name(i)) != NULL; i++) {
    if (strcmp(name, argument) == 0) {
      options->planning.without |= (berth_techniques_t)1 << i;
      return true;
    }
  }
  return false;
}

bool option_set_capacity(options_t *options, const char *argument) {
  return whole_number(argument, true, &options->planning.capacity) &&
         options->planning.capacity > 0;
}

bool option_set_work_limit(options_t *options, const char *argument) {
  return whole_number(argument, true, &options->planning.work_limit) &&
         options->planning.work_limit > 0;
}

bool option_set_time_limit(options_t *options, const char *argument) {
  char *end;
  if (*argument < '0' || *argument > '9') return false;
  options->planning.seconds = strtod(argument, &end);
  return *end == '\0' && options->planning.seconds > 0 && options->planning.seconds < 1e9;
}

static bool ends_with(const char *argument, const char *ending) {
  size_t length = strlen(argument), wanted = strlen(ending);
  return length > wanted && strcmp(argument + length - wanted, ending) == 0;
}

bool option_set_output(options_t *options, const char *argument) {
  options->output = argument;
  return ends_with(argument, ".json") || ends_with(argument, ".csv") || ends_with(argument, ".h");
}

bool option_set_page(options_t *options, const char *argument) {
  options->output = argument;
  return ends_with(argument, ".html") || ends_with(argument, ".htm");
}

bool option_set_svg(options_t *options, const char *argument) {
  options->svg = argument;
  return ends_with(argument, ".svg");
}

bool option_set_png(options_t *options, const char *argument) {
  options->png = argument;
  return ends_with(argument, ".png");
}

bool option_set_result(options_t *options, const char *argument) {
  options->optimization.output = argument;
  return *argument != '\0';
}

/* file | best */
bool option_set_order(options_t *options, const char *argument) {
  options->optimization.keep_order = strcmp(argument, "file") == 0;
  options->subject.best_order = strcmp(argument, "best") == 0;
  return options->optimization.keep_order || options->subject.best_order;
}

bool option_set_stock_kernels(options_t *options, const char *argument) {
  bool reference = strcmp(argument, "reference") == 0;
  options->optimization.kernels = reference ? BERTH_TFLM_REFERENCE : BERTH_TFLM_CMSIS_NN;
  return reference || strcmp(argument, "cmsis-nn") == 0;
}

bool option_set_header(options_t *options, const char *argument) {
  options->optimization.header = argument;
  return *argument != '\0';
}

bool option_add_keep(options_t *options, const char *argument) {
  bool all = strcmp(argument, "all") == 0, found = all;
  for (uint32_t i = 0; berth_cleanup_at(i) != NULL; i++) {
    if (!all && strcmp(berth_cleanup_at(i)->name, argument) != 0) continue;
    options->optimization.keep |= 1u << i;
    found = true;
  }
  return found;
}

bool option_set_pairs(options_t *options, const char *argument) {
  options->subject.pairs_path = argument;
  return *argument != '\0';
}

/* NAME=FILE */
bool option_add_input(options_t *options, const char *argument) {
  berth_execution_options_t *execution = &options->execution;
  if (execution->input_count == INPUTS_MAX) return false;
  berth_input_file_t *input = &options->inputs[execution->input_count];
  input->path = take_name(options, argument, '=', &input->name);
  if (input->path == NULL || *input->path == '\0') return false;
  execution->input_count++;
  return true;
}

/* NAME=1,96,96,3 */
bool option_add_shape(options_t *options, const char *argument) {
  if (options->shape_count == INPUTS_MAX) return false;
  berth_named_shape_t *shape = &options->shapes[options->shape_count];
  const char *at = take_name(options, argument, '=', &shape->name);
  if (at == NULL) return false;
  for (shape->rank = 0;; at++) {
    uint64_t dim;
    if (shape->rank == BERTH_RANK_MAX || !read_number(at, false, &dim, &at)) return false;
    if (dim > INT32_MAX) return false;
    shape->dims[shape->rank++] = (int32_t)dim;
    if (*at != ',') break;
  }
  options->shape_count++;
  return *at == '\0';
}

/* int8 | int8:TENSOR | quantized-inputs | quantized-outputs */
bool option_add_assumption(options_t *options, const char *argument) {
  berth_what_if_t *what_if = &options->subject.what_if;
  if (strcmp(argument, "int8") == 0) return what_if->int8 = true;
  if (strcmp(argument, "quantized-inputs") == 0) return what_if->quantized_inputs = true;
  if (strcmp(argument, "quantized-outputs") == 0) return what_if->quantized_outputs = true;
  if (strncmp(argument, "int8:", 5) != 0 || argument[5] == '\0') return false;
  if (what_if->int8_count == INPUTS_MAX) return false;
  options->int8[what_if->int8_count++] = argument + 5;
  return true;
}

/* KIND or KIND=FROM:TO[:STEP] */
bool option_set_sweep(options_t *options, const char *argument) {
  size_t length = strcspn(argument, "=");
  berth_sweep_t sweep = {BERTH_SWEEP_NONE, 0, 0, 0};
  for (int kind = BERTH_SWEEP_RESOLUTION; kind <= BERTH_SWEEP_REGIONS; kind++) {
    const char *name = berth_sweep_name((berth_sweep_kind_t)kind);
    if (strlen(name) == length && memcmp(name, argument, length) == 0) {
      sweep.kind = (berth_sweep_kind_t)kind;
    }
  }
  const char *at = argument + length;
  if (sweep.kind == BERTH_SWEEP_NONE) return false;
  if (*at == '=') {
    if (!read_number(at + 1, true, &sweep.from, &at) || *at != ':') return false;
    if (!read_number(at + 1, true, &sweep.to, &at)) return false;
    if (*at == ':' && (!read_number(at + 1, true, &sweep.step, &at) || sweep.step == 0))
      return false;
    uint64_t most = sweep.kind == BERTH_SWEEP_REGIONS ? (uint64_t)1 << 40 : 1u << 16;
    if (sweep.from == 0 || sweep.to < sweep.from || sweep.to > most) return false;
    bool doubles = sweep.kind == BERTH_SWEEP_ALIGN;
    if (doubles && (sweep.step != 0 || (sweep.from & (sweep.from - 1)) != 0)) return false;
  }
  options->sweep = sweep;
  return *at == '\0';
}

bool option_set_file(options_t *options, const char *argument) {
  options->output = argument;
  return *argument != '\0';
}

bool option_set_history(options_t *options, const char *argument) {
  options->history = argument;
  return *argument != '\0';
}

bool option_set_label(options_t *options, const char *argument) {
  options->label = argument;
  return *argument != '\0';
}

/* A decimal number, kept as it was written. */
bool option_set_accuracy(options_t *options, const char *argument) {
  options->accuracy = argument;
  const char *digits = "0123456789";
  size_t length = strspn(argument, digits);
  if (length == 0) return false;
  argument += length;
  if (*argument == '.') argument += 1 + strspn(argument + 1, digits);
  return *argument == '\0';
}

bool option_set_runtime(options_t *options, const char *argument) {
  for (int runtime = BERTH_CHECK_PLAN; runtime <= BERTH_CHECK_TFLITE; runtime++) {
    options->runtime = (berth_check_runtime_t)runtime;
    if (strcmp(argument, berth_check_runtime_name(options->runtime)) == 0) return true;
  }
  return false;
}

/* 32 bits are x86's unless --abi says other, before or after it. */
bool option_set_bits(options_t *options, const char *argument) {
  options->stock_given = true;
  if (strcmp(argument, "32") == 0) {
    if (options->stock.abi == BERTH_ABI_64) options->stock.abi = BERTH_ABI_I386;
    return true;
  }
  bool arm = strcmp(argument, "arm") == 0;
  options->stock.abi = arm ? BERTH_ABI_ARM : BERTH_ABI_64;
  return arm || strcmp(argument, "64") == 0;
}

bool option_set_max_arena(options_t *options, const char *argument) {
  return whole_number(argument, true, &options->max_arena) && options->max_arena > 0;
}

bool option_set_instances(options_t *options, const char *argument) {
  uint64_t value;
  if (!whole_number(argument, false, &value) || value == 0 || value > 65536) return false;
  options->instances = (uint32_t)value;
  return true;
}

bool option_add_dropped(options_t *options, const char *argument) {
  berth_what_if_t *what_if = &options->subject.what_if;
  if (what_if->dropped_count == INPUTS_MAX) return false;
  options->dropped[what_if->dropped_count++] = argument;
  return *argument != '\0';
}

/* zero | random:SEED */
bool option_set_plan_overlap(options_t *options, const char *argument) {
  options->subject.diagonal = strcmp(argument, "diagonal") == 0;
  return option_set_overlap(options, options->subject.diagonal ? "inplace" : argument);
}

bool option_set_stream(options_t *options, const char *argument) {
  static const char *const names[] = {"off", "auto", "max"};
  for (int i = BERTH_STREAMING_OFF; i <= BERTH_STREAMING_MAX; i++) {
    if (strcmp(argument, names[i]) != 0) continue;
    options->streaming.mode = (berth_streaming_mode_t)i;
    return true;
  }
  return false;
}

bool option_set_overlap(options_t *options, const char *argument) {
  for (int i = BERTH_OVERLAP_INPLACE; i <= BERTH_OVERLAP_NONE; i++) {
    if (strcmp(argument, berth_overlap_name((berth_overlap_t)i)) != 0) continue;
    options->execution.runner.interpreter.overlap = (berth_overlap_t)i;
    options->subject.overlap = (berth_overlap_t)i;
    options->subject.share = i != BERTH_OVERLAP_NONE;
    options->overlap_given = true;
    return true;
  }
  return false;
}

bool option_set_fill(options_t *options, const char *argument) {
  options->execution.random = strncmp(argument, "random:", 7) == 0;
  if (!options->execution.random) return strcmp(argument, "zero") == 0;
  return whole_number(argument + 7, false, &options->execution.seed);
}

bool option_set_invokes(options_t *options, const char *argument) {
  uint64_t value;
  if (!whole_number(argument, false, &value) || value == 0 || value > 100000000) return false;
  options->execution.invokes = (uint32_t)value;
  return true;
}

bool option_set_output_dir(options_t *options, const char *argument) {
  options->execution.output_dir = argument;
  return *argument != '\0';
}

bool option_set_replay(options_t *options, const char *argument) {
  options->replay = argument;
  return *argument != '\0';
}

bool option_set_tolerance(options_t *options, const char *argument) {
  char *end;
  if ((*argument < '0' || *argument > '9') && *argument != '.') return false;
  options->tolerance = strtod(argument, &end);
  return *end == '\0' && options->tolerance >= 0 && options->tolerance <= 1;
}

bool option_set_plan_file(options_t *options, const char *argument) {
  options->execution.runner.plan_path = argument;
  return *argument != '\0';
}

bool option_set_compare(options_t *options, const char *argument) {
  options->compare = true;
  return strcmp(argument, "none") == 0;
}

bool option_set_guard(options_t *options, const char *argument) {
  berth_runner_options_t *runner = &options->execution.runner;
  runner->guard = true;
  runner->guard_fast = argument != NULL && strcmp(argument, "fast") == 0;
  return argument == NULL || runner->guard_fast || strcmp(argument, "full") == 0;
}
