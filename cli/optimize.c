/* berth optimize: writes a model that needs less memory in a stock runtime and computes the same.
 */
#include "commands.h"
#include "options.h"

#include <string.h>

static int optimize(options_t *options) {
  berth_complaint_t complaint;
  berth_optimization_t result;
  berth_optimization_options_t *wanted = &options->optimization;
  wanted->shapes = options->shapes;
  wanted->shape_count = options->shape_count;
  wanted->overlap = options->execution.runner.interpreter.overlap;
  wanted->diagonal = options->subject.diagonal;
  if (berth_optimize(options->path, wanted, &result, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->json) {
    berth_optimization_json(&result, wanted, stdout);
  } else {
    berth_optimization_print(&result, wanted, stdout);
  }
  bool held = !result.proven || berth_proof_holds(&result.proof);
  berth_optimization_free(&result);
  return held ? EXIT_DONE : EXIT_FINDING;
}

int command_optimize(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_OPTIMIZE, &options)) {
    if (options.help) {
      puts("usage: berth optimize [OPTION]... MODEL.tflite -o OUT.tflite\n\n"
           "Writes the same network with the same results, that needs less memory in an\n"
           "unmodified TFLM or TFLite: a plan in its metadata, which TFLM's loader follows.\n"
           "Original and result are run and compared first; if they differ, nothing is written\n"
           "and the exit status is 3.\n");
      options_print(FOR_OPTIMIZE, stdout);
      puts("\nClean-ups, which change no bit of any result, for --keep:");
      for (uint32_t i = 0; berth_cleanup_at(i) != NULL; i++) {
        printf("  %-12s %s\n", berth_cleanup_at(i)->name, berth_cleanup_at(i)->summary);
      }
      status = EXIT_DONE;
    } else {
      status = optimize(&options);
    }
  }
  options_free(&options);
  return status;
}
