/* berth bisect: which sharing of memory changes a model's results? */
#include "commands.h"
#include "compare.h"
#include "host/compare.h"
#include "host/json.h"
#include "host/text.h"

/* "tensor 40 (name)" */
static const char *tensor_text(const berth_model_t *model, uint32_t subgraph, uint32_t tensor,
                               char *text, size_t size) {
  char name[96];
  berth_text_t full = berth_model_tensor(model, subgraph, tensor).name;
  snprintf(text, size, "tensor %u (%s)", tensor,
           berth_printable(full.data, full.length, 48, name, sizeof name));
  return text;
}

static void print_json(const options_t *options, const berth_comparison_t *comparison) {
  berth_json_t json = berth_json_to(stdout);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", options->path);
  berth_json_number(&json, "tensors_compared", comparison->tensors);
  berth_json_number(&json, "runs", comparison->runs);
  berth_json_bool(&json, "equal", !comparison->differ);
  if (comparison->differ) {
    berth_json_open_line(&json, "first", '{');
    berth_json_number(&json, "subgraph", comparison->subgraph);
    berth_json_number(&json, "operator", comparison->op);
    berth_json_number(&json, "tensor", comparison->tensor);
    berth_json_close(&json, '}');
    berth_json_open_line(&json, "culprits", '[');
    for (uint32_t i = 0; i < comparison->culprit_count; i++) {
      berth_json_number(&json, NULL, comparison->culprits[i]);
    }
    berth_json_close(&json, ']');
  }
  berth_json_close(&json, '}');
}

static void print(const options_t *options, const berth_model_t *model,
                  const berth_comparison_t *comparison) {
  char name[192], tensor[192];
  printf("%s: %llu tensors compared with a run in which each has its own memory: ", options->path,
         (unsigned long long)comparison->tensors);
  if (!comparison->differ) {
    puts("equal");
    return;
  }
  printf(
      "different\n  first in %s, made by %s\n",
      tensor_text(model, comparison->subgraph, comparison->tensor, tensor, sizeof tensor),
      berth_runner_operator_text(model, comparison->subgraph, comparison->op, name, sizeof name));
  if (comparison->culprit_count == 0) return;
  printf("  it takes these to share memory (%u runs):\n", comparison->runs);
  for (uint32_t i = 0; i < comparison->culprit_count; i++) {
    printf("    %s\n", tensor_text(model, 0, comparison->culprits[i], tensor, sizeof tensor));
  }
}

int compare_plans(const options_t *options, bool bisect) {
  berth_complaint_t complaint;
  berth_comparison_t comparison;
  berth_runner_options_t runner = options->execution.runner;
  runner.interpreter.trust_offsets = bisect;
  if (berth_compare(options->path, &runner, options->execution.seed, bisect, &comparison,
                    &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  int status = comparison.differ ? EXIT_FINDING : EXIT_DONE;
  if (options->json) {
    print_json(options, &comparison);
  } else {
    berth_host_map_t map;
    berth_model_t model;
    char message[BERTH_HOST_MESSAGE];
    if (berth_host_open_model(options->path, &map, &model, message) == BERTH_OK) {
      print(options, &model, &comparison);
      berth_host_unmap(&map);
    } else {
      status = EXIT_FAILED;
    }
  }
  berth_comparison_free(&comparison);
  return status;
}

int command_bisect(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_BISECT, &options)) {
    if (options.help) {
      puts(
          "usage: berth bisect [OPTION]... MODEL.tflite\n\n"
          "Runs the model under its plan and with every tensor in its own memory, finds the first\n"
          "tensor that differs, and the smallest set of tensors whose sharing of memory causes "
          "it.\nA plan given with --plan is taken as it is, right or wrong. Exit status 3 if "
          "anything\ndiffers.\n");
      options_print(FOR_BISECT, stdout);
      status = EXIT_DONE;
    } else {
      status = compare_plans(&options, true);
    }
  }
  options_free(&options);
  return status;
}
