/* berth check: does a model keep to its budget? For CI. */
#include "commands.h"
#include "host/json.h"
#include "host/limit_check.h"
#include "host/text.h"
#include "options.h"

static void print(const options_t *options, const berth_limit_check_t *check) {
  static const char *const whose[] = {"its plan takes", "Berth needs", "stock TFLM needs",
                                      "stock TFLite's arenas take"};
  char on[32] = "";
  if (options->runtime == BERTH_CHECK_TFLM) {
    snprintf(on, sizeof on, " (%s)", berth_abi_name(options->stock.abi));
  } else if (options->runtime == BERTH_CHECK_BERTH) {
    snprintf(on, sizeof on, " (%u-bit)", (unsigned)(8 * sizeof(void *))); /* prepared here */
  }
  printf("%s: %s %s bytes%s; the limit is %s: ", options->path, whose[options->runtime],
         berth_grouped(check->arena_bytes).text, on, berth_grouped(check->limit_bytes).text);
  if (check->undecided) {
    printf("undecided, since %s\n", check->why);
  } else if (check->over) {
    printf("%s bytes over\n", berth_grouped(check->arena_bytes - check->limit_bytes).text);
  } else {
    printf("%s bytes are left\n", berth_grouped(check->limit_bytes - check->arena_bytes).text);
  }
  if (!check->over) return;
  puts("The largest causes:");
  for (uint32_t i = 0; i < check->cause_count; i++) {
    printf("  %14s  %s\n", berth_grouped(check->causes[i].bytes).text, check->causes[i].what);
  }
}

static void print_json(const options_t *options, const berth_limit_check_t *check) {
  berth_json_t json = berth_json_to(stdout);
  berth_json_open(&json, NULL, '{');
  berth_json_number(&json, "schema_version", 1);
  berth_json_string(&json, "model", options->path);
  berth_json_string(&json, "runtime", berth_check_runtime_name(options->runtime));
  berth_json_string(&json, "verdict",
                    check->over        ? "over"
                    : check->undecided ? "undecided"
                                       : "fits");
  berth_json_number(&json, "arena_bytes", check->arena_bytes);
  berth_json_number(&json, "limit_bytes", check->limit_bytes);
  if (check->undecided) berth_json_string(&json, "why", check->why);
  berth_json_open(&json, "causes", '[');
  for (uint32_t i = 0; i < check->cause_count; i++) {
    berth_json_open_line(&json, NULL, '{');
    berth_json_number(&json, "bytes", check->causes[i].bytes);
    berth_json_string(&json, "what", check->causes[i].what);
    berth_json_close(&json, '}');
  }
  berth_json_close(&json, ']');
  berth_json_close(&json, '}');
}

/* What runs a file has it as it is; Berth itself can give its inputs other shapes, and stream it.
 */
static bool is_possible(const options_t *options) {
  const berth_subject_options_t *subject = &options->subject;
  bool berth = options->runtime == BERTH_CHECK_BERTH;
  berth_what_if_t what_if = subject->what_if;
  if (options->runtime == BERTH_CHECK_PLAN) return true;
  if (berth) what_if.shape_count = 0;
  bool other = subject->best_order || subject->share || subject->clean ||
               (!berth && options->streaming.mode != BERTH_STREAMING_OFF);
  if (!berth_what_if_any(&what_if) && !other) return true;
  fprintf(stderr,
          "berth check: --runtime %s goes with neither %s--assume, --drop-output, --clean, --order "
          "nor --overlap\n",
          berth_check_runtime_name(options->runtime), berth ? "" : "--stream, --set-shape, ");
  return false;
}

static int check(const options_t *options) {
  berth_complaint_t complaint;
  berth_limit_check_t result;
  if (options->planner == NULL) {
    berth_complain(&complaint, "%s: one planner at a time", options->path);
    return failed(&complaint);
  }
  berth_settings_t settings = settings_of(options);
  if (berth_limit_check(options->path, &settings, options->runtime, &options->stock,
                        options->max_arena, &result, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->json) {
    print_json(options, &result);
  } else {
    print(options, &result);
  }
  return result.over ? EXIT_FINDING : result.undecided ? EXIT_UNDECIDED : EXIT_DONE;
}

int command_check(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_CHECK, &options)) {
    if (options.help) {
      puts(
          "usage: berth check --max-arena N [OPTION]... MODEL.tflite\n\n"
          "Holds a model's arena against a limit: exit status 0 if it fits; 3 if not, with the\n"
          "three largest causes; 4 if something is unknown that could make the difference.\n"
          "Without --runtime the arena is that of the plan (berth plan); with berth it is all\n"
          "that its runtime needs with that plan (berth run --planner best, which plans in memory\n"
          "of its own), with tflm the smallest with which stock TFLM's AllocateTensors\n"
          "succeeds, with tflite that of all tensors, to which kernels and delegates may add.\n");
      options_print(FOR_CHECK, stdout);
      status = EXIT_DONE;
    } else if (options.max_arena == 0) {
      fputs("berth check: --max-arena says how much there may be (see berth check --help)\n",
            stderr);
    } else if (is_possible(&options)) {
      status = check(&options);
    }
  }
  options_free(&options);
  return status;
}
