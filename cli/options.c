/* Parsing of the command line: `--name VALUE` and `--name=VALUE` are the same; `--` ends the
 * options. Which options there are is in option_table.c. */
#include "options.h"
#include "host/output.h"
#include "option_table.h"

#include <stdlib.h>
#include <string.h>

/* Commands that take two files. */
#define FOR_TWO (FOR_CHECK_PLAN | FOR_REPORT | FOR_DIFF)

/* ---- Complaints about usage ------------------------------------------------------------------ */

static bool wrong(const char *command, const char *what, const char *argument) {
  berth_complaint_t complaint;
  berth_complain(&complaint, "%s%s%s", what, argument != NULL ? " " : "",
                 argument != NULL ? argument : "");
  fprintf(stderr, "berth %s: %s (see berth %s --help)\n", command, complaint.text, command);
  return false;
}

/* ---- Parsing -------------------------------------------------------------------------------- */

/* Takes argv[*at] and, if it is one that needs it, the argument behind it. */
static bool take_option(int argc, char **argv, int *at, unsigned command, options_t *options) {
  const char *argument = argv[*at];
  const char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;
  size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
  const option_t *option = option_find(argument, length, command);
  if (option == NULL && strcmp(argument, "-h") == 0) return options->help = true;
  if (option == NULL) return wrong(argv[0], "there is no option", argument);
  const char *value = equals != NULL ? equals + 1 : NULL;
  if (option->argument == NULL) {
    if (value != NULL) return wrong(argv[0], "no value belongs to", option->name);
    return option_apply(option, NULL, options);
  }
  if (value == NULL && option->argument[0] != '[') {
    if (*at + 1 == argc) return wrong(argv[0], "a value is missing after", option->name);
    value = argv[++*at];
  }
  if (option_apply(option, value, options)) return true;
  const char *range = option_range(option);
  char what[192];
  snprintf(what, sizeof what, "%s takes %s%s%s%s, not", option->name, option->argument,
           range != NULL ? " (" : "", range != NULL ? range : "", range != NULL ? ")" : "");
  return wrong(argv[0], what, value);
}

/* `--stream-input` or `--stream-output` alone asks for streaming, too. Streamed plans are of the
 * model as it is. */
static bool settle_stream(const char *command, options_t *options) {
  berth_streaming_options_t *streaming = &options->streaming;
  bool ends = streaming->push_inputs || streaming->pull_outputs;
  if (ends && streaming->mode == BERTH_STREAMING_OFF) {
    streaming->mode = BERTH_STREAMING_AUTO;
  }
  if (streaming->mode == BERTH_STREAMING_OFF) return true;
  if (streaming->push_inputs && options->subject.keep_inputs) {
    return wrong(command, "--stream-input and --keep-inputs contradict each other", NULL);
  }
  if (options->planner_given && !options->all_planners &&
      !(options->planner->handles & BERTH_HANDLES_PAIRS)) {
    return wrong(command, "--stream needs a planner that can write rows over rows, unlike",
                 options->planner->name);
  }
  if (options->overlap_given || options->subject.kernels) {
    return wrong(command,
                 "--stream goes with neither --overlap nor --kernels: a streamed plan has sharing "
                 "and scratch of its own",
                 NULL);
  }
  if (berth_what_if_any(&options->subject.what_if) || options->shape_count > 0 ||
      options->sweep.kind != BERTH_SWEEP_NONE) {
    return wrong(command,
                 "--stream goes with neither --set-shape, --assume, --drop-... nor --sweep", NULL);
  }
  const char *end = options->output != NULL ? strrchr(options->output, '.') : NULL;
  if (end != NULL && strcmp(end, ".csv") == 0) {
    return wrong(command,
                 "--stream goes with -o FILE.json or FILE.h: offsets without the runs and rings "
                 "that they are for mislead",
                 NULL);
  }
  return true;
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
  const char *end = options->output != NULL ? strrchr(options->output, '.') : NULL;
  if (options->subject.clean && end != NULL && strcmp(end, ".html") != 0) {
    return wrong(command,
                 "--clean goes with no -o: the plan would not be that of the file (first write one "
                 "that is clean with berth optimize, then plan that)",
                 NULL);
  }
  if (options->subject.best_order && end != NULL && strcmp(end, ".csv") == 0) {
    return wrong(command,
                 "--order best goes with -o FILE.json or FILE.h: offsets without the order that "
                 "they are for mislead",
                 NULL);
  }
  if (options->stock_given && options->runtime != BERTH_CHECK_TFLM &&
      options->stock_runtime != BERTH_RUNTIME_TFLM) {
    return wrong(command, "--bits, --abi and --kernel-set are stock TFLM's: --runtime tflm", NULL);
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
  options->subject.what_if.shapes = options->shapes;
  options->subject.what_if.shape_count = options->shape_count;
  options->subject.what_if.int8_tensors = options->int8;
  options->subject.what_if.dropped = options->dropped;
  return settle_stream(command, options);
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
  execution->shape_count = options->shape_count;
  execution->usage = options->print_usage || options->print_allocations;
  execution->runner.guard_deep = execution->runner.guard && !execution->runner.guard_fast;
  execution->runner.planner = options->planner;
  execution->runner.messages = stderr;
  interpreter->alignment = options->subject.align;
  if (!settle_stream(command, options)) return false;
  execution->runner.streaming = options->streaming;
  if (options->streaming.mode != BERTH_STREAMING_OFF &&
      (options->compare || execution->runner.plan_path != NULL || options->print_usage ||
       options->print_allocations)) {
    return wrong(command, "--stream goes with neither --compare, --plan nor --print-...", NULL);
  }
  interpreter->keep_inputs = options->subject.keep_inputs;
  interpreter->no_reuse = options->no_reuse;
  return true;
}

/* What `optimize` wants besides. */
static bool settle_optimize(const char *command, const options_t *options) {
  if (options->subject.diagonal && options->optimization.kernels != BERTH_TFLM_REFERENCE) {
    return wrong(command,
                 "--overlap diagonal is for reference kernels: --kernel-set contradicts it", NULL);
  }
  return true;
}

/* What `report` wants besides. */
static bool settle_report(const char *command, options_t *options) {
  if (options->all_planners) return wrong(command, "one planner at a time", NULL);
  if (options->output != NULL || options->svg != NULL || options->png != NULL) return true;
  return wrong(command, "where to? -o FILE.html is missing", NULL);
}

/* No output may go where something is read from, nor two to the same file. Only berth optimize may
 * write over its model, which its result replaces in one piece. */
static bool settle_files(const char *command, const options_t *options) {
  const char *const read[] = {options->path, options->second, options->subject.pairs_path,
                              options->execution.runner.plan_path};
  const char *const written[] = {options->output, options->svg, options->png,
                                 options->optimization.header, options->optimization.output};
  enum { READ = sizeof read / sizeof *read, WRITTEN = sizeof written / sizeof *written };
  for (int w = 0; w < WRITTEN; w++) {
    for (int r = 0; r < READ && written[w] != options->optimization.output; r++) {
      if (!berth_output_is_file(written[w], read[r])) continue;
      return wrong(command, "this would overwrite what is read:", written[w]);
    }
    for (int other = 0; other < w; other++) {
      if (!berth_output_is_file(written[w], written[other])) continue;
      return wrong(command, "two outputs would go to", written[w]);
    }
  }
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
    } else if (options->path != NULL && options->second == NULL && (command & FOR_TWO) != 0) {
      options->second = argv[at];
    } else if (options->path != NULL) {
      return wrong(argv[0], "one file at a time, not also", argv[at]);
    } else {
      options->path = argv[at];
    }
  }
  if (options->help) return true;
  if (options->path == NULL && command != FOR_DIFF) return wrong(argv[0], "which file?", NULL);
  if (!settle_files(argv[0], options)) return false;
  if (command == FOR_REPORT && !settle_report(argv[0], options)) return false;
  if (command == FOR_OPTIMIZE && !settle_optimize(argv[0], options)) return false;
  return command == FOR_RUN || command == FOR_BISECT ? settle_run(argv[0], options)
                                                     : settle(argv[0], options);
}

void options_free(options_t *options) {
  free(options->names);
  options->names = NULL;
}

berth_settings_t settings_of(const options_t *options) {
  berth_settings_t settings = {.subject = options->subject,
                               .streaming = options->streaming,
                               .planner = options->planner,
                               .planning = options->planning};
  settings.streaming.align = options->subject.align;
  settings.streaming.work_limit = options->planning.work_limit;
  settings.streaming.keep_order = options->optimization.keep_order;
  /* A streamed plan has scratch and sharing of its own. */
  if (options->streaming.mode != BERTH_STREAMING_OFF) {
    settings.subject.share = settings.subject.kernels = false;
  }
  return settings;
}
