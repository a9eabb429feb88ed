/* Options: the table, and the parsers of their arguments. `--name VALUE` and `--name=VALUE` are the
 * same; `--` ends the options. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Complaints about usage ------------------------------------------------------------------ */

static bool wrong(const char *command, const char *what, const char *argument) {
  berth_complaint_t complaint;
  berth_complain(&complaint, "%s%s%s", what, argument != NULL ? " " : "",
                 argument != NULL ? argument : "");
  fprintf(stderr, "berth %s: %s (see berth %s --help)\n", command, complaint.text, command);
  return false;
}

/* ---- Arguments ------------------------------------------------------------------------------ */

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

static bool set_planner(options_t *options, const char *argument) {
  options->planner_given = true;
  options->all_planners = strcmp(argument, "all") == 0;
  options->planner = options->all_planners ? NULL : berth_planner_named(argument);
  return options->all_planners || options->planner != NULL;
}

static bool set_like(options_t *options, const char *argument) {
  options->like = argument;
  return strcmp(argument, "tflm") == 0 || strcmp(argument, "tflite") == 0;
}

static bool set_align(options_t *options, const char *argument) {
  uint64_t value;
  if (!whole_number(argument, true, &value) || value == 0 || value > (1u << 30) ||
      (value & (value - 1)) != 0) {
    return false;
  }
  options->subject.align = (uint32_t)value;
  return true;
}

/* NAME:BYTES[:FIRST-LAST] */
static bool add_reserve(options_t *options, const char *argument) {
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
static bool add_region(options_t *options, const char *argument) {
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

static bool add_without(options_t *options, const char *argument) {
  const char *name;
  for (uint32_t i = 0; i < 32 && (name = berth_technique_name(i)) != NULL; i++) {
    if (strcmp(name, argument) == 0) {
      options->planning.without |= (berth_techniques_t)1 << i;
      return true;
    }
  }
  return false;
}

static bool set_capacity(options_t *options, const char *argument) {
  return whole_number(argument, true, &options->planning.capacity) &&
         options->planning.capacity > 0;
}

static bool set_work_limit(options_t *options, const char *argument) {
  return whole_number(argument, true, &options->planning.work_limit) &&
         options->planning.work_limit > 0;
}

static bool set_time_limit(options_t *options, const char *argument) {
  char *end;
  if (*argument < '0' || *argument > '9') return false;
  options->planning.seconds = strtod(argument, &end);
  return *end == '\0' && options->planning.seconds > 0 && options->planning.seconds < 1e9;
}

static bool set_output(options_t *options, const char *argument) {
  static const char *const endings[] = {".json", ".csv", ".h"};
  size_t length = strlen(argument);
  options->output = argument;
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    size_t ending = strlen(endings[i]);
    if (length > ending && strcmp(argument + length - ending, endings[i]) == 0) return true;
  }
  return false;
}

static bool set_pairs(options_t *options, const char *argument) {
  options->subject.pairs_path = argument;
  return *argument != '\0';
}

/* NAME=FILE */
static bool add_input(options_t *options, const char *argument) {
  berth_execution_options_t *execution = &options->execution;
  if (execution->input_count == INPUTS_MAX) return false;
  berth_input_file_t *input = &options->inputs[execution->input_count];
  input->path = take_name(options, argument, '=', &input->name);
  if (input->path == NULL || *input->path == '\0') return false;
  execution->input_count++;
  return true;
}

/* NAME=1,96,96,3 */
static bool add_shape(options_t *options, const char *argument) {
  berth_execution_options_t *execution = &options->execution;
  if (execution->shape_count == INPUTS_MAX) return false;
  berth_named_shape_t *shape = &options->shapes[execution->shape_count];
  const char *at = take_name(options, argument, '=', &shape->name);
  if (at == NULL) return false;
  for (shape->rank = 0;; at++) {
    uint64_t dim;
    if (shape->rank == BERTH_RANK_MAX || !read_number(at, false, &dim, &at)) return false;
    if (dim > INT32_MAX) return false;
    shape->dims[shape->rank++] = (int32_t)dim;
    if (*at != ',') break;
  }
  execution->shape_count++;
  return *at == '\0';
}

/* zero | random:SEED */
static bool set_fill(options_t *options, const char *argument) {
  options->execution.random = strncmp(argument, "random:", 7) == 0;
  if (!options->execution.random) return strcmp(argument, "zero") == 0;
  return whole_number(argument + 7, false, &options->execution.seed);
}

static bool set_invokes(options_t *options, const char *argument) {
  uint64_t value;
  if (!whole_number(argument, false, &value) || value == 0 || value > 100000000) return false;
  options->execution.invokes = (uint32_t)value;
  return true;
}

static bool set_output_dir(options_t *options, const char *argument) {
  options->execution.output_dir = argument;
  return *argument != '\0';
}

static bool set_replay(options_t *options, const char *argument) {
  options->replay = argument;
  return *argument != '\0';
}

static bool set_tolerance(options_t *options, const char *argument) {
  char *end;
  if ((*argument < '0' || *argument > '9') && *argument != '.') return false;
  options->tolerance = strtod(argument, &end);
  return *end == '\0' && options->tolerance >= 0 && options->tolerance <= 1;
}

static bool set_plan_file(options_t *options, const char *argument) {
  options->execution.runner.plan_path = argument;
  return *argument != '\0';
}

static bool set_compare(options_t *options, const char *argument) {
  options->compare = true;
  return strcmp(argument, "none") == 0;
}

static bool set_watch(options_t *options, const char *argument) {
  (void)argument;
  return options->execution.watch = true;
}

static bool set_profile(options_t *options, const char *argument) {
  (void)argument;
  return options->execution.profile = true;
}

static bool set_guard(options_t *options, const char *argument) {
  (void)argument;
  options->execution.runner.guard_deep = true;
  return options->execution.runner.guard = true;
}

static bool set_portable(options_t *options, const char *argument) {
  (void)argument;
  return options->execution.runner.interpreter.portable = true;
}

static bool set_store_multipliers(options_t *options, const char *argument) {
  (void)argument;
  return options->execution.runner.interpreter.store_multipliers = true;
}

static bool set_ignore_model_plan(options_t *options, const char *argument) {
  (void)argument;
  return options->execution.runner.interpreter.ignore_model_plan = true;
}

static bool set_verbose(options_t *options, const char *argument) {
  (void)argument;
  return options->execution.runner.verbose = true;
}

static bool set_keep_inputs(options_t *options, const char *argument) {
  (void)argument;
  return options->subject.keep_inputs = true;
}

static bool set_no_fold(options_t *options, const char *argument) {
  (void)argument;
  return options->subject.keep_foldable = true;
}

static bool set_no_reuse(options_t *options, const char *argument) {
  (void)argument;
  return options->no_reuse = true;
}

static bool set_conflicts(options_t *options, const char *argument) {
  (void)argument;
  return options->conflicts = true;
}

static bool set_json(options_t *options, const char *argument) {
  (void)argument;
  return options->json = true;
}

static bool set_minimize(options_t *options, const char *argument) {
  (void)argument;
  return options->minimize = true;
}

static bool set_help(options_t *options, const char *argument) {
  (void)argument;
  return options->help = true;
}

/* ---- The table ------------------------------------------------------------------------------ */

typedef struct option {
  const char *name;
  const char *argument; /* what it takes, for people; NULL: nothing */
  unsigned commands;
  bool (*take)(options_t *options, const char *argument); /* false: not a valid argument */
  const char *help;
} option_t;

static const option_t table[] = {
    {"--planner", "NAME|all", FOR_PLAN | FOR_RUN | FOR_BISECT, set_planner,
     "how to plan (default: best)"},
    {"--like", "tflm|tflite", FOR_PLAN | FOR_INSPECT, set_like,
     "planner, alignment and input rule of that runtime"},
    {"--align", "N", FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_CHECK_PLAN | FOR_BISECT, set_align,
     "align, and round sizes up, to N bytes (default: 16; problems: 1)"},
    {"--keep-inputs", NULL, FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_CHECK_PLAN, set_keep_inputs,
     "inputs live to the end, not only to their last use"},
    {"--no-fold", NULL, FOR_PLAN | FOR_INSPECT, set_no_fold,
     "plan the results of operators on constants, too"},
    {"--no-reuse", NULL, FOR_PLAN | FOR_RUN, set_no_reuse,
     "every buffer its own space: --planner none"},
    {"--reserve", "NAME:BYTES[:FIRST-LAST]", FOR_PLAN | FOR_INSPECT, add_reserve,
     "plan a buffer of your own along (default: all steps)"},
    {"--conflicts", NULL, FOR_PLAN | FOR_INSPECT, set_conflicts,
     "show which buffers are live in the same step"},
    {"--json", NULL, FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_CHECK_PLAN | FOR_BISECT, set_json,
     "print JSON"},
    {"-o", "FILE.json|.csv|.h", FOR_PLAN, set_output, "write the plan to a file"},
    {"--capacity", "N[K|M]", FOR_PLAN | FOR_CHECK_PLAN, set_capacity,
     "stop at the first plan that fits into N bytes"},
    {"--minimize", NULL, FOR_PLAN, set_minimize, "find the smallest peak (default)"},
    {"--pairs", "FILE", FOR_PLAN, set_pairs, "CSV of relations between buffers"},
    {"--region", "NAME=SIZE[@COST]", FOR_PLAN, add_region,
     "a memory, fastest first; COST per byte moved (1, 2, ...)"},
    {"--without", "TECHNIQUE", FOR_PLAN, add_without,
     "leave a technique of planner exact out (repeatable)"},
    {"--work-limit", "N", FOR_PLAN, set_work_limit,
     "budget in units of work, alike on any machine"},
    {"--time-limit", "SECONDS", FOR_PLAN, set_time_limit, "stop then, with the best plan so far"},
    {"--input", "NAME=FILE", FOR_RUN, add_input, "raw little-endian values of a graph input"},
    {"--fill", "zero|random:SEED", FOR_RUN | FOR_BISECT, set_fill,
     "inputs without a file (default: zero)"},
    {"--set-shape", "NAME=1,96,96,3", FOR_RUN, add_shape, "give a graph input another shape"},
    {"--invokes", "N", FOR_RUN, set_invokes, "run so many times (default: 1)"},
    {"--output-dir", "DIR", FOR_RUN, set_output_dir,
     "write outputs there: out<k>.bin, or run<n>.out<k>.bin"},
    {"--profile", NULL, FOR_RUN, set_profile, "time and memory of each operator"},
    {"--replay", "DIR", FOR_RUN, set_replay,
     "run recorded inputs and compare with recorded outputs"},
    {"--tolerance", "REL", FOR_RUN, set_tolerance,
     "for float outputs of --replay, relative to the largest (default: 0)"},
    {"--guard", NULL, FOR_RUN, set_guard, "check that every operator keeps its memory contract"},
    {"--plan", "FILE.json|.csv", FOR_RUN | FOR_BISECT, set_plan_file,
     "use this plan of the model as it is"},
    {"--compare", "none", FOR_RUN, set_compare,
     "run without reuse as well, and compare every tensor"},
    {"--watch", NULL, FOR_RUN, set_watch, "plot the memory over the invokes"},
    {"--portable", NULL, FOR_RUN, set_portable, "use portable C kernels only"},
    {"--store-multipliers", NULL, FOR_RUN, set_store_multipliers,
     "keep per-channel multipliers: more memory, less time"},
    {"--ignore-model-plan", NULL, FOR_RUN, set_ignore_model_plan,
     "don't use the OfflineMemoryAllocation in the model"},
    {"--verbose", NULL, FOR_RUN, set_verbose, "tell what prepare decided"},
    {"--help", NULL, FOR_PLAN | FOR_INSPECT | FOR_RUN | FOR_CHECK_PLAN | FOR_BISECT, set_help,
     "this"},
};
#define TABLE_SIZE (sizeof table / sizeof table[0])

void options_print(unsigned command, FILE *stream) {
  fputs("Options:\n", stream);
  for (size_t i = 0; i < TABLE_SIZE; i++) {
    if ((table[i].commands & command) == 0) continue;
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", table[i].name, table[i].argument != NULL ? " " : "",
             table[i].argument != NULL ? table[i].argument : "");
    fprintf(stream, "  %-34s %s\n", left, table[i].help);
  }
}

/* ---- Parsing -------------------------------------------------------------------------------- */

static const option_t *find_option(const char *argument, size_t length, unsigned command) {
  for (size_t i = 0; i < TABLE_SIZE; i++) {
    if ((table[i].commands & command) != 0 && strlen(table[i].name) == length &&
        memcmp(table[i].name, argument, length) == 0) {
      return &table[i];
    }
  }
  return NULL;
}

/* Takes argv[*at] and, if it is one that needs it, the argument behind it. */
static bool take_option(int argc, char **argv, int *at, unsigned command, options_t *options) {
  const char *argument = argv[*at];
  const char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
  size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
  const option_t *option = find_option(argument, length, command);
  if (option == NULL && strcmp(argument, "-h") == 0) return set_help(options, NULL);
  if (option == NULL) return wrong(argv[0], "there is no option", argument);
  const char *value = equals != NULL ? equals + 1 : NULL;
  if (option->argument == NULL) {
    if (value != NULL) return wrong(argv[0], "no value belongs to", option->name);
    return option->take(options, NULL);
  }
  if (value == NULL) {
    if (*at + 1 == argc) return wrong(argv[0], "a value is missing after", option->name);
    value = argv[++*at];
  }
  if (option->take(options, value)) return true;
  char what[96];
  snprintf(what, sizeof what, "%s takes %s, not", option->name, option->argument);
  return wrong(argv[0], what, value);
}

/* What several options say together. */
static bool settle(const char *command, options_t *options) {
  if (options->no_reuse) {
    if (options->like != NULL ||
        (options->planner_given && options->planner != &berth_planner_none)) {
      return wrong(command, "--no-reuse and another planner contradict each other", NULL);
    }
    options->planner = &berth_planner_none;
  }
  if (options->minimize && options->planning.capacity != 0) {
    return wrong(command, "--minimize and --capacity contradict each other", NULL);
  }
  if (options->like != NULL) {
    bool tflite = strcmp(options->like, "tflite") == 0;
    if (!options->planner_given) {
      options->planner = tflite ? &berth_planner_tflite : &berth_planner_tflm;
    }
    if (options->subject.align == 0) options->subject.align = tflite ? 64 : 16;
    if (tflite) options->subject.keep_inputs = true;
    options->subject.exact_sizes = tflite; /* ArenaPlanner aligns offsets, never sizes */
  }
  if (options->planner == NULL && !options->all_planners) options->planner = &berth_planner_best;
  options->subject.reserves = options->reserves;
  options->subject.regions = options->regions;
  return true;
}

/* The same for `run`. */
static bool settle_run(const char *command, options_t *options) {
  berth_execution_options_t *execution = &options->execution;
  berth_interpreter_options_t *interpreter = &execution->runner.interpreter;
  if (options->all_planners) return wrong(command, "one planner at a time", NULL);
  if (options->no_reuse && options->planner_given && options->planner != &berth_planner_none) {
    return wrong(command, "--no-reuse and another planner contradict each other", NULL);
  }
  if (options->replay != NULL &&
      (execution->input_count > 0 || execution->random || execution->invokes > 0 ||
       execution->output_dir != NULL || execution->profile)) {
    return wrong(command, "--replay says itself what goes in, how often, and what comes out", NULL);
  }
  if (options->subject.align > 4096) return wrong(command, "--align is at most 4096 here", NULL);
  if (execution->invokes == 0) execution->invokes = 1;
  execution->inputs = options->inputs;
  execution->shapes = options->shapes;
  execution->runner.planner = options->planner;
  execution->runner.messages = stderr;
  interpreter->alignment = options->subject.align;
  interpreter->keep_inputs = options->subject.keep_inputs;
  interpreter->no_reuse = options->no_reuse;
  return true;
}

bool options_parse(int argc, char **argv, unsigned command, options_t *options) {
  memset(options, 0, sizeof *options);
  size_t total = 1;
  for (int i = 0; i < argc; i++) total += strlen(argv[i]) + 1;
  options->names = malloc(total);
  if (options->names == NULL) return wrong(argv[0], "out of memory", NULL);

  bool only_files = false;
  for (int at = 1; at < argc; at++) {
    if (!only_files && strcmp(argv[at], "--") == 0) {
      only_files = true;
    } else if (!only_files && argv[at][0] == '-' && argv[at][1] != '\0') {
      if (!take_option(argc, argv, &at, command, options)) return false;
    } else if (options->path != NULL && options->second == NULL && command == FOR_CHECK_PLAN) {
      options->second = argv[at];
    } else if (options->path != NULL) {
      return wrong(argv[0], "one file at a time, not also", argv[at]);
    } else {
      options->path = argv[at];
    }
  }
  if (options->help) return true;
  if (options->path == NULL) return wrong(argv[0], "which file?", NULL);
  return command == FOR_RUN || command == FOR_BISECT ? settle_run(argv[0], options)
                                                     : settle(argv[0], options);
}

void options_free(options_t *options) {
  free(options->names);
  options->names = NULL;
}
