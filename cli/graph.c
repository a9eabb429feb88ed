/* berth graph: a model for GraphViz, coloured by live bytes. */
#include "commands.h"
#include "host/dot.h"
#include "host/output.h"
#include "planned.h"

static int write_file(const planned_t *planned, const char *path) {
  berth_complaint_t complaint;
  berth_output_t output;
  if (berth_output_open(path, &output, &complaint) != BERTH_OK) return failed(&complaint);
  if (!berth_dot_write(&planned->report, output.stream)) {
    berth_output_discard(&output);
    berth_complain(&complaint, "out of memory");
    return failed(&complaint);
  }
  return berth_output_commit(&output, &complaint) == BERTH_OK ? EXIT_DONE : failed(&complaint);
}

static int graph(const options_t *options, planned_t *planned) {
  int status = planned_open(options, options->path, "draw", planned);
  if (status == EXIT_DONE) status = planned_expect_model(planned);
  if (status == EXIT_DONE && options->output != NULL) status = write_file(planned, options->output);
  if (status != EXIT_DONE || (options->output != NULL && !options->json)) return status;
  bool good = options->json ? berth_dot_json(&planned->report, stdout)
                            : berth_dot_write(&planned->report, stdout);
  if (good) return EXIT_DONE;
  berth_complaint_t complaint;
  berth_complain(&complaint, "out of memory");
  return failed(&complaint);
}

int command_graph(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_GRAPH, &options)) {
    planned_t planned = {.is_open = false};
    if (options.help) {
      puts("usage: berth graph [OPTION]... MODEL.tflite\n\n"
           "Writes the model as a graph in GraphViz's DOT language, to standard output or a file\n"
           "(dot -Tsvg FILE.dot -o FILE.svg draws it). Operators are coloured by the bytes that\n"
           "are live while they run, the fullest ones have a thick border, and edges are as wide\n"
           "as their tensors are large.\n");
      options_print(FOR_GRAPH, stdout);
      status = EXIT_DONE;
    } else {
      status = graph(&options, &planned);
    }
    planned_close(&planned);
  }
  options_free(&options);
  return status;
}
