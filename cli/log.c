/* berth log: keeps a model's peak, arena, latency and accuracy in a file, and shows the trend. */
#include "commands.h"
#include "host/execute.h"
#include "host/history.h"
#include "host/running.h"
#include "planned.h"

#include <string.h>
#include <time.h>

#define INVOKES 5u /* of which the shortest counts */

/* Latency of a model that runs, in nanoseconds; 0: it doesn't. */
static uint64_t latency(const options_t *options) {
  berth_execution_options_t execution_options = {.runner = {.planner = options->planner},
                                                 .shapes = options->shapes,
                                                 .shape_count = options->shape_count,
                                                 .random = true,
                                                 .invokes = INVOKES};
  execution_options.runner.interpreter.alignment =
      options->subject.align <= 4096 ? options->subject.align : 0;
  execution_options.runner.interpreter.keep_inputs = options->subject.keep_inputs;
  berth_execution_t execution;
  berth_complaint_t ignored;
  if (berth_execute(options->path, &execution_options, &execution, &ignored) != BERTH_OK) return 0;
  uint64_t ns = (uint64_t)(execution.ms_min * 1e6 + 0.5);
  berth_execution_close(&execution);
  return ns > 0 ? ns : 1;
}

/* What there is to note about the model now. */
static berth_history_line_t measure(const options_t *options, const planned_t *planned, char *date,
                                    size_t size) {
  time_t now = time(NULL);
  struct tm utc;
  if (gmtime_r(&now, &utc) == NULL || strftime(date, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
    date[0] = '\0';
  }
  berth_running_t running =
      berth_running_of(&planned->subject, &options->subject, &options->streaming, options->planner);
  return (berth_history_line_t){
      .date = date,
      .label = (char *)(options->label != NULL ? options->label : ""),
      .model = (char *)options->path,
      .peak = planned->outcome.plan.peak,
      .arena = running.possible ? running.needs.total + BERTH_RUNNING_STRUCTS : 0,
      .latency_ns = running.possible ? latency(options) : 0,
      .accuracy = (char *)(options->accuracy != NULL ? options->accuracy : "")};
}

static int append(const options_t *options, berth_history_t *history) {
  berth_complaint_t complaint;
  planned_t planned = {.is_open = false};
  int status = planned_open(options, options->path, "note", &planned);
  if (status == EXIT_DONE) status = planned_expect_model(&planned);
  if (status == EXIT_DONE) {
    char date[32];
    berth_history_line_t line = measure(options, &planned, date, sizeof date);
    berth_complain(&complaint, "out of memory");
    if (berth_history_append(history, &line) != BERTH_OK ||
        berth_history_write(options->history, history, &complaint) != BERTH_OK) {
      status = failed(&complaint);
    }
  }
  planned_close(&planned);
  return status;
}

/* A history without the model is likely to be the wrong one, or to know it by another path. */
static int expect_lines(const options_t *options, const berth_history_t *history) {
  berth_complaint_t complaint;
  if (berth_history_count(history, options->path) > 0) return EXIT_DONE;
  if (history->count == 0) {
    berth_complain(&complaint, "%s: has no lines yet", options->history);
  } else {
    berth_complain(&complaint, "%s: has no line of %s; its last one is of %s", options->history,
                   options->path, history->lines[history->count - 1].model);
  }
  return failed(&complaint);
}

static int keep_log(const options_t *options) {
  berth_complaint_t complaint;
  berth_history_t history;
  if (berth_history_read(options->history, options->show_only, &history, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  int status = options->show_only ? expect_lines(options, &history) : append(options, &history);
  bool good = true;
  if (status == EXIT_DONE && options->json) {
    berth_history_json(&history, options->path, stdout);
  } else if (status == EXIT_DONE) {
    good = berth_history_print(&history, options->path, berth_terminal_of_stdout(), stdout);
  }
  berth_history_free(&history);
  if (good) return status;
  berth_complain(&complaint, "out of memory");
  return failed(&complaint);
}

int command_log(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_LOG, &options)) {
    if (options.help) {
      puts("usage: berth log --history FILE.csv [OPTION]... MODEL.tflite\n\n"
           "Appends the model's peak, the arena that Berth needs, its latency and, if given, its\n"
           "accuracy to a file, and shows the lines of this model and the trend of each figure.\n"
           "--show fails if there is no such file, or nothing of this model in it.\n");
      options_print(FOR_LOG, stdout);
      status = EXIT_DONE;
    } else if (options.history == NULL) {
      fputs("berth log: --history says which file to keep (see berth log --help)\n", stderr);
    } else if (options.show_only && (options.label != NULL || options.accuracy != NULL)) {
      fputs("berth log: --show appends nothing, so it goes with neither --label nor --accuracy\n",
            stderr);
    } else {
      status = keep_log(&options);
    }
  }
  options_free(&options);
  return status;
}
