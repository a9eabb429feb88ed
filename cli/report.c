/* berth report: one HTML page that shows a plan, or two plans before and after. */
#include "commands.h"
#include "host/advice.h"
#include "host/json.h"
#include "host/output.h"
#include "host/page.h"
#include "options.h"
#include "pictures.h"
#include "planned.h"

#include <string.h>

/* What the runtimes need for the model: Berth's, and stock TFLM on a device, if that runs it. */
static void foretell(const options_t *options, planned_t *side) {
  const berth_forecast_options_t wanted = {.runtime = BERTH_RUNTIME_TFLM,
                                           .tflm = {.abi = BERTH_ABI_ARM}};
  berth_complaint_t ignored;
  berth_settings_t settings = settings_of(options);
  side->running =
      berth_running_of(&side->subject, &options->subject, &settings.streaming, options->planner);
  side->report.running = &side->running;
  if (options->streaming.mode != BERTH_STREAMING_OFF ||
      berth_what_if_any(&options->subject.what_if)) {
    return; /* stock TFLM has the file as it is */
  }
  if (berth_forecast_make(&side->subject.model, side->subject.path, &wanted, &side->forecast,
                          &ignored) == BERTH_OK) {
    side->report.forecast = &side->forecast;
  }
}

/* Adds what would lower the peak and what runtimes need, if that is for the page; the exit status.
 */
static int advise(const options_t *options, planned_t *side) {
  berth_complaint_t complaint;
  if (options->output == NULL || !side->subject.is_model) return EXIT_DONE;
  berth_settings_t settings = settings_of(options);
  if (berth_advise(&side->subject, &settings, &side->outcome.plan, &side->advices, &complaint) !=
      BERTH_OK) {
    return failed(&complaint);
  }
  side->report.advices = &side->advices;
  foretell(options, side);
  return EXIT_DONE;
}

static berth_status_t write_page(const char *path, const berth_plan_report_t *const *reports,
                                 uint32_t count, berth_complaint_t *complaint) {
  berth_output_t output;
  berth_status_t status = berth_output_open(path, &output, complaint);
  if (status != BERTH_OK) return status;
  status = berth_page_write(reports, count, output.stream);
  if (status == BERTH_OK) return berth_output_commit(&output, complaint);
  berth_output_discard(&output);
  berth_complain(complaint, "out of memory");
  return status;
}

/* ---- What has been written ------------------------------------------------------------------- */

/* The parts of the page that was written, in their order. */
static uint32_t list_sections(const planned_t *sides, uint32_t count, const char **sections) {
  uint32_t used = 0;
  bool model = sides[0].subject.is_model || (count > 1 && sides[1].subject.is_model);
  sections[used++] = "summary";
  sections[used++] = "map";
  if (berth_page_is_interactive()) sections[used++] = "usage";
  sections[used++] = "peak";
  if (berth_page_is_interactive() && count > 1) sections[used++] = "changes";
  if (berth_page_is_interactive() && model) sections[used++] = "operators";
  return used;
}

static void json_file(berth_json_t *json, const char *path, const char *format) {
  if (path == NULL) return;
  berth_json_open_line(json, NULL, '{');
  berth_json_string(json, "path", path);
  berth_json_string(json, "format", format);
  berth_json_close(json, '}');
}

static void print_json(const options_t *options, const planned_t *sides, uint32_t count) {
  const char *sections[8];
  berth_json_t json = berth_json_to(stdout);
  berth_json_open(&json, NULL, '{');
  berth_plan_json_summary(&sides[0].report, &json);
  if (count > 1) {
    berth_json_open(&json, "after", '{');
    berth_plan_json_summary(&sides[1].report, &json);
    berth_json_close(&json, '}');
  }
  berth_json_open(&json, "written", '[');
  json_file(&json, options->output, "html");
  json_file(&json, options->svg, "svg");
  json_file(&json, options->png, "png");
  berth_json_close(&json, ']');
  if (options->output != NULL) {
    berth_json_bool(&json, "interactive", berth_page_is_interactive());
    uint32_t used = list_sections(sides, count, sections);
    berth_json_open_line(&json, "sections", '[');
    for (uint32_t i = 0; i < used; i++) berth_json_string(&json, NULL, sections[i]);
    berth_json_close(&json, ']');
  }
  berth_json_close(&json, '}');
}

static void print(const options_t *options, const planned_t *sides, uint32_t count) {
  const char *sections[8];
  if (options->output != NULL) {
    uint32_t used = list_sections(sides, count, sections);
    printf("%s: ", options->output);
    for (uint32_t i = 0; i < used; i++) printf("%s%s", i > 0 ? ", " : "", sections[i]);
    puts(berth_page_is_interactive()
             ? ""
             : "\nThis page is static: berth was built without npm. Built with it (cmake "
               "-DBERTH_REPORT=ON),\nberth writes an interactive page.");
  }
  if (options->svg != NULL) printf("%s: map\n", options->svg);
  if (options->png != NULL) printf("%s: map\n", options->png);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int report(const options_t *options, planned_t *sides) {
  uint32_t count = options->second != NULL ? 2 : 1;
  const berth_plan_report_t *reports[2];
  for (uint32_t i = 0; i < count; i++) {
    int status = planned_open(options, i == 0 ? options->path : options->second, "draw", &sides[i]);
    if (status == EXIT_DONE) status = advise(options, &sides[i]);
    if (status != EXIT_DONE) return status;
    reports[i] = &sides[i].report;
  }
  berth_complaint_t complaint;
  if (try_outputs(options, &complaint) != BERTH_OK) return failed(&complaint);
  if (options->output != NULL &&
      write_page(options->output, reports, count, &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (write_pictures(options, reports[count - 1], &complaint) != BERTH_OK) {
    return failed(&complaint);
  }
  if (options->json) {
    print_json(options, sides, count);
  } else {
    print(options, sides, count);
  }
  return EXIT_DONE;
}

static void print_help(void) {
  puts("usage: berth report [OPTION]... FILE [FILE] -o PAGE.html\n\n"
       "FILE is a model (.tflite), a problem (.csv), or a plan that berth plan wrote (.json).\n"
       "Plans it, and writes one HTML page that opens in any browser, offline: an interactive map\n"
       "of the memory over time, what makes the peak, who makes and who reads each tensor. With\n"
       "two files, the page shows both, before and after. --svg and --png write the map alone\n"
       "(with two files, the second one's).\n");
  options_print(FOR_REPORT, stdout);
}

int command_report(int argc, char **argv) {
  options_t options;
  int status = EXIT_USAGE;
  if (options_parse(argc, argv, FOR_REPORT, &options)) {
    if (options.help) {
      print_help();
      status = EXIT_DONE;
    } else {
      planned_t sides[2];
      memset(sides, 0, sizeof sides);
      status = report(&options, sides);
      planned_close(&sides[0]);
      planned_close(&sides[1]);
    }
  }
  options_free(&options);
  return status;
}
