/* berth run: executes a model, every byte where the plan says. */
#include "commands.h"
#include "compare.h"
#include "host/execute.h"
#include "host/json.h"
#include "host/replay.h"
#include "host/usage.h"
#include "options.h"
#include "sweep.h"

static int execute(const options_t *options) {
  berth_complaint_t complaint;
  berth_execution_t execution;
  if (berth_execute(options->path, &options->execution, &execution, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  bool found = execution.verdicts.count > 0;
  bool good = options->json ? berth_execution_json(&execution, stdout)
                            : berth_execution_print(&execution, stdout);
  if (good && !options->json && options->print_usage) {
    good = berth_usage_print(&execution.subject, stdout);
  }
  if (good && !options->json && options->print_allocations) {
    berth_plan_report_t report = berth_execution_report(&execution);
    good = berth_allocations_print(&report, stdout);
  }
  berth_execution_close(&execution);
  if (good) return found ? EXIT_FINDING : EXIT_DONE;
  berth_complain(&complaint, "out of memory");
  return failed(&complaint);
}

static void print_replay(const options_t *options, const berth_replay_t *replay) {
  uint64_t different = replay->different_outputs + replay->different_layers;
  printf("%s: %u invoke%s, %llu output%s and %llu checksums compared: ", options->path,
         replay->invokes, replay->invokes == 1 ? "" : "s", (unsigned long long)replay->outputs,
         replay->outputs == 1 ? "" : "s", (unsigned long long)replay->layers);
  if (different == 0) {
    puts("equal");
  } else {
    printf("%llu differ, first in invoke %u, ", (unsigned long long)different, replay->first_run);
    if (replay->first_op != BERTH_NOBODY) {
      printf("tensor %u after operator %u\n", replay->first_tensor, replay->first_op);
    } else {
      printf("output tensor %u at element %u\n", replay->first_tensor, replay->first_element);
    }
  }
  if (replay->verdicts.count > 0) {
    printf("guard: %u finding%s, first: %s\n", replay->verdicts.count,
           replay->verdicts.count == 1 ? "" : "s", replay->first_verdict);
  }
  if (replay->largest > 0) {
    printf("largest difference of a float output: %.3g of its largest magnitude\n",
           replay->largest);
  }
}

static void print_replay_json(const options_t *options, const berth_replay_t *replay) {
  berth_json_t json = berth_json_to(stdout);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", options->path);
  berth_json_number(&json, "invokes", replay->invokes);
  berth_json_number(&json, "outputs_compared", replay->outputs);
  berth_json_number(&json, "checksums_compared", replay->layers);
  berth_json_number(&json, "outputs_different", replay->different_outputs);
  berth_json_number(&json, "checksums_different", replay->different_layers);
  berth_json_number(&json, "findings", replay->verdicts.count);
  if (replay->verdicts.count > 0) berth_json_string(&json, "finding", replay->first_verdict);
  if (replay->different_outputs + replay->different_layers > 0) {
    berth_json_open_line(&json, "first", '{');
    berth_json_number(&json, "invoke", replay->first_run);
    if (replay->first_op != BERTH_NOBODY) berth_json_number(&json, "operator", replay->first_op);
    berth_json_number(&json, "tensor", replay->first_tensor);
    berth_json_number(&json, "element", replay->first_element);
    berth_json_close(&json, '}');
  }
  berth_json_close(&json, '}');
}

static int replay(const options_t *options) {
  berth_complaint_t complaint;
  berth_replay_t result;
  if (berth_replay_run(options->path, &options->execution.runner, options->replay,
                       options->tolerance, 0, &result, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->json) {
    print_replay_json(options, &result);
  } else {
    print_replay(options, &result);
  }
  bool found = result.different_outputs + result.different_layers > 0 || result.verdicts.count > 0;
  return found ? EXIT_FINDING : EXIT_DONE;
}

int command_run(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_RUN, &options)) {
    if (options.help) {
      puts("usage: berth run [OPTION]... MODEL.tflite\n\n"
           "Executes a model in exactly the memory that it needs and says how much that is, how\n"
           "long it takes, and what comes out. With --replay, compares with a recording: DIR has\n"
           "run<n>.in<k>.bin and run<n>.out<k>.bin (invokes n = 1, 2, ... in a row) or in<k>.bin\n"
           "and out<k>.bin, and maybe layers.csv with a CRC-32 of each tensor; exit status 3 if\n"
           "anything differs.\n");
      options_print(FOR_RUN, stdout);
      status = EXIT_DONE;
    } else if (options.sweep.kind != BERTH_SWEEP_NONE) {
      status = sweep_show(&options, true);
    } else if (options.compare) {
      status = compare_plans(&options, false);
    } else if (options.replay != NULL) {
      status = replay(&options);
    } else {
      status = execute(&options);
    }
  }
  options_free(&options);
  return status;
}
