/* berth trace: a run as a trace for chrome://tracing and Perfetto. */
#include "host/trace.h"
#include "commands.h"
#include "host/execute.h"
#include "host/json.h"
#include "host/output.h"
#include "planned.h"

#include <stdlib.h>

#define INVOKES 5u /* of which each operator's shortest time is taken */

/* How long each operator takes, on the heap; NULL: the model cannot be run, as `complaint` says. */
static double *measure(const options_t *options, berth_complaint_t *complaint) {
  berth_execution_options_t execution_options = {.runner = {.planner = options->planner},
                                                 .shapes = options->shapes,
                                                 .shape_count = options->shape_count,
                                                 .random = true,
                                                 .invokes = INVOKES,
                                                 .profile = true};
  execution_options.runner.interpreter.alignment =
      options->subject.align <= 4096 ? options->subject.align : 0;
  execution_options.runner.interpreter.keep_inputs = options->subject.keep_inputs;
  berth_execution_t execution;
  if (berth_execute(options->path, &execution_options, &execution, complaint) != BERTH_OK) {
    return NULL;
  }
  double *ms = malloc(((size_t)execution.operator_count + 1) * sizeof *ms);
  for (uint32_t i = 0; ms != NULL && i < execution.operator_count; i++) {
    ms[i] = execution.operators[i].ms;
  }
  if (ms != NULL) ms[execution.operator_count] = 0; /* a model without operators has one step */
  berth_execution_close(&execution);
  if (ms == NULL) berth_complain(complaint, "out of memory");
  return ms;
}

static void tell(const options_t *options, const planned_t *planned, bool timed) {
  if (!options->json) {
    printf("%s: %u steps, %s (open it in ui.perfetto.dev or chrome://tracing)\n", options->output,
           planned->subject.step_count, timed ? "timed" : "a microsecond each");
    return;
  }
  berth_json_t json = berth_json_to(stdout);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", options->path);
  berth_json_string(&json, "written", options->output);
  berth_json_number(&json, "steps", planned->subject.step_count);
  berth_json_number(&json, "peak_bytes", planned->outcome.plan.peak);
  berth_json_bool(&json, "timed", timed);
  berth_json_close(&json, '}');
}

static int trace(const options_t *options, planned_t *planned) {
  berth_complaint_t complaint;
  int status = planned_open(options, options->path, "trace", planned);
  if (status == EXIT_DONE) status = planned_expect_model(planned);
  if (status != EXIT_DONE) return status;
  double *ms = NULL;
  if (!options->untimed) {
    ms = measure(options, &complaint);
    if (ms == NULL) return failed(&complaint);
  }
  berth_output_t output;
  if (berth_output_open(options->output, &output, &complaint) != BERTH_OK) {
    status = failed(&complaint);
  } else if (!berth_trace_write(&planned->report, ms, output.stream)) {
    berth_output_discard(&output);
    berth_complain(&complaint, "out of memory");
    status = failed(&complaint);
  } else if (berth_output_commit(&output, &complaint) != BERTH_OK) {
    status = failed(&complaint);
  } else {
    tell(options, planned, ms != NULL);
  }
  free(ms);
  return status;
}

int command_trace(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_TRACE, &options)) {
    planned_t planned = {.is_open = false};
    if (options.help) {
      puts("usage: berth trace -o FILE.json [OPTION]... MODEL.tflite\n\n"
           "Runs the model and writes a trace for chrome://tracing and ui.perfetto.dev: a track\n"
           "for each operator, a counter of the live bytes by class, and every tensor's life.\n"
           "With --untimed nothing runs, and each step takes a microsecond.\n");
      options_print(FOR_TRACE, stdout);
      status = EXIT_DONE;
    } else if (options.output == NULL) {
      fputs("berth trace: -o says which file to write (see berth trace --help)\n", stderr);
    } else {
      status = trace(&options, &planned);
    }
    planned_close(&planned);
  }
  options_free(&options);
  return status;
}
