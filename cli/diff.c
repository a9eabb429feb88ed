/* berth diff: what grew, moved or appeared between two plans. */
#include "commands.h"
#include "host/plan_diff.h"
#include "planned.h"

#include <string.h>

/* Lists the buffers of a dump, or of a file that is planned; the exit status. */
static int list_file(const options_t *options, const char *path, berth_plan_list_t *list) {
  berth_complaint_t complaint;
  if (berth_plan_list_is_dump(path)) {
    if (berth_plan_list_read(path, list, &complaint) == BERTH_OK) return EXIT_DONE;
    return failed(&complaint);
  }
  planned_t planned = {.is_open = false};
  int status = planned_open(options, path, "compare", &planned);
  if (status == EXIT_DONE && berth_plan_list_of(&planned.report, list) != BERTH_OK) {
    berth_complain(&complaint, "%s: out of memory", path);
    status = failed(&complaint);
  }
  planned_close(&planned);
  return status;
}

static int compare(const options_t *options, const berth_plan_list_t *a, const berth_plan_list_t *b,
                   const char *const names[2]) {
  berth_plan_diff_t diff;
  berth_complaint_t complaint;
  bool good = berth_plan_diff_of(a, b, &diff) == BERTH_OK;
  int status = EXIT_DONE;
  if (good) {
    if (options->json) {
      berth_plan_diff_json(&diff, a, b, names, stdout);
    } else {
      good = berth_plan_diff_print(&diff, a, b, names, stdout);
    }
    status = diff.count > 0 ? EXIT_FINDING : EXIT_DONE;
    berth_plan_diff_free(&diff);
  }
  if (good) return status;
  berth_complain(&complaint, "out of memory");
  return failed(&complaint);
}

static int diff_files(const options_t *first, const options_t *second, const char *other) {
  const char *names[2] = {first->path, other};
  berth_plan_list_t a = {NULL, 0, 0, 0}, b = {NULL, 0, 0, 0};
  int status = list_file(first, names[0], &a);
  if (status == EXIT_DONE) status = list_file(second, names[1], &b);
  if (status == EXIT_DONE) status = compare(first, &a, &b, names);
  berth_plan_list_free(&a);
  berth_plan_list_free(&b);
  return status;
}

static void print_help(void) {
  puts(
      "usage: berth diff [OPTION]... A B\n"
      "       berth diff [OPTION]... A --versus [OPTION]... [B]\n\n"
      "Compares two plans buffer by buffer: what grew, moved, appeared or went. A and B are "
      "models\n"
      "or problems, which are planned with the options, or plans: Berth's JSON or CSV, or any CSV\n"
      "with columns size and offset (and raw_bytes, which tells padding from growth). What stands\n"
      "behind --versus is for B; without a file there, B is A under other options. Exit status 3\n"
      "if anything differs.\n");
  options_print(FOR_DIFF, stdout);
}

int command_diff(int argc, char **argv) {
  int cut = 1;
  while (cut < argc && strcmp(argv[cut], "--versus") != 0) cut++;
  bool versus = cut < argc;
  options_t first, second;
  int status = EXIT_USAGE;
  bool good = options_parse(cut, argv, FOR_DIFF, &first);
  memset(&second, 0, sizeof second);
  if (good && versus && !first.help) {
    argv[cut] = argv[0]; /* what stands there is the command's name again */
    good = options_parse(argc - cut, argv + cut, FOR_DIFF, &second);
  }
  const char *other = !versus ? first.second : second.path != NULL ? second.path : first.path;
  if (good && first.help) {
    print_help();
    status = EXIT_DONE;
  } else if (good && (first.path == NULL || other == NULL || (versus && first.second != NULL) ||
                      second.second != NULL)) {
    fputs("berth diff: it takes two files, or --versus (see berth diff --help)\n", stderr);
  } else if (good) {
    first.json |= second.json;
    status = diff_files(&first, versus ? &second : &first, other);
  }
  options_free(&first);
  options_free(&second);
  return status;
}
