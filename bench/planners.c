/* Compares all planners on all problems: the reference data's and generated ones.
 *
 *   bench_planners [--problems A,B,...] [--planners a,b,...] [--time SECONDS] [--work UNITS]
 *                  [--json FILE] [--large]
 *
 * One line for each problem and planner: the height it reached, that divided by the load lower
 * bound, whether it proved that nothing lower exists, CPU time, and the workspace it asked for;
 * below, what other planners reached by the reference data's records. Without --large, problems of
 * more than 200,000 buffers are left out, and planners that take minutes on so many are never run
 * on them unless --planners names them.
 */
#include "problems.h"
#include <ctype.h>
#include <time.h>

#ifndef BERTH_SOURCE_DIR
#define BERTH_SOURCE_DIR "."
#endif

enum { LARGE = 200000, PROBLEMS_MAX = 64 };

typedef struct settings {
  const char *problems, *planners; /* comma-separated names, or NULL: all */
  const char *json;
  double seconds;
  uint64_t work;
  bool large;
  char folder[4096]; /* of the reference problems */
} settings_t;

/* Figures that the reference data records for a problem: name and column. */
static const struct {
  const char *name, *column, *seconds;
} records[] = {
    {"MiniMalloc", "minimalloc_height", "minimalloc_cpu_s"},
    {"TFLite", "tflite", NULL},
    {"TFLM", "tflm", NULL},
    {"TVM hill climb", "tvm_hillclimb", NULL},
};

typedef struct clock_state {
  double start, seconds;
} clock_state_t;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool within_time(void *user, uint64_t work, uint64_t best, uint64_t lower_bound) {
  (void)work;
  (void)best;
  (void)lower_bound;
  const clock_state_t *clock = user;
  return cpu_seconds() - clock->start < clock->seconds;
}

/* Is `name` one of the comma-separated `list`? */
static bool listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; at != NULL; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

/* ---- Reference figures ------------------------------------------------------------------------
 */

/* The line of figures.csv for a problem and its heading; false if there is none. */
static bool find_figures(const settings_t *settings, const char *problem, char *heading, char *line,
                         int size) {
  char path[4200];
  snprintf(path, sizeof path, "%s/figures.csv", settings->folder);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  size_t length = strlen(problem);
  bool found = false;
  if (fgets(heading, size, file) != NULL) {
    while (!found && fgets(line, size, file) != NULL) {
      found = strncmp(line, problem, length) == 0 && line[length] == ',';
    }
  }
  fclose(file);
  return found;
}

/* The figure in a column, or a negative one if there is none. */
static double figure(const char *heading, const char *line, const char *column) {
  int index = column != NULL ? bench_column(heading, column) : -1;
  const char *cell = index >= 0 ? bench_cell(line, index) : NULL;
  return cell != NULL && isdigit((unsigned char)*cell) ? strtod(cell, NULL) : -1;
}

static void begin_entry(FILE *json, const char *problem, const char *planner, bool recorded) {
  fprintf(json, "%s\n  {\"problem\": \"%s\", \"planner\": \"%s\", \"recorded\": %s, ",
          ftell(json) > 2 ? "," : "", problem, planner, recorded ? "true" : "false");
}

static void print_records(const settings_t *settings, const bench_problem_t *problem, uint64_t load,
                          FILE *json) {
  char heading[1024], line[1024];
  if (!find_figures(settings, problem->name, heading, line, sizeof line)) return;
  for (size_t k = 0; k < sizeof records / sizeof records[0]; k++) {
    double height = figure(heading, line, records[k].column);
    double seconds = figure(heading, line, records[k].seconds);
    if (height < 0) continue;
    printf("%-16s %8s  %-15s %12.0f %9.6f %7s ", "", "", records[k].name, height,
           height / (double)load, "");
    if (seconds >= 0) {
      printf("%8.2f  recorded\n", seconds);
    } else {
      printf("%8s  recorded\n", "");
    }
    if (json == NULL) continue;
    begin_entry(json, problem->name, records[k].name, true);
    fprintf(json, "\"peak_bytes\": %.0f, \"ratio\": %.6f", height, height / (double)load);
    if (seconds >= 0) fprintf(json, ", \"cpu_seconds\": %.2f", seconds);
    fputs("}", json);
  }
}

/* ---- One planner on one problem ----------------------------------------------------------------
 */

static void *allocate(size_t bytes) {
  void *memory = malloc(bytes + 1);
  if (memory == NULL) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return memory;
}

static uint64_t load_of(const berth_problem_t *problem) {
  size_t bytes = 0;
  uint64_t load = 0;
  if (berth_problem_load_workspace(problem, &bytes) != BERTH_OK) return 0;
  void *workspace = allocate(bytes);
  if (berth_problem_load(problem, workspace, bytes, &load, NULL) != BERTH_OK) load = 0;
  free(workspace);
  return load;
}

static void run(const settings_t *settings, const berth_planner_t *planner,
                const bench_problem_t *named, uint64_t load, FILE *json, bool first) {
  berth_problem_t problem = {.buffers = named->buffers, .buffer_count = named->count};
  clock_state_t clock = {0, settings->seconds};
  berth_plan_options_t options = {
      .work_limit = settings->work, .progress = within_time, .progress_user = &clock};
  size_t bytes = 0;
  berth_status_t status = berth_plan_workspace(planner, &problem, &options, &bytes);
  berth_plan_t plan = {.placements = allocate(named->count * sizeof *plan.placements)};
  void *workspace = allocate(bytes);
  clock.start = cpu_seconds();
  if (status == BERTH_OK) {
    status = berth_plan_make(planner, &problem, &options, workspace, bytes, &plan);
  }
  double seconds = cpu_seconds() - clock.start;
  free(workspace);
  free(plan.placements);

  printf("%-16s ", first ? named->name : "");
  if (first) {
    printf("%8u  ", (unsigned)named->count);
  } else {
    printf("%8s  ", "");
  }
  if (status != BERTH_OK) {
    printf("%-15s %s\n", planner->name, berth_status_text(status));
    fflush(stdout);
    return;
  }
  double ratio = (double)plan.peak / (double)load;
  printf("%-15s %12llu %9.6f %7s %8.3f %8.1f\n", planner->name, (unsigned long long)plan.peak,
         ratio, plan.optimal ? "proven" : "-", seconds, (double)bytes / 1e6);
  fflush(stdout);
  if (json == NULL) return;
  begin_entry(json, named->name, planner->name, false);
  fprintf(json, "\"buffers\": %u, \"load_bytes\": %llu, \"lower_bound_bytes\": %llu, ",
          (unsigned)named->count, (unsigned long long)load, (unsigned long long)plan.lower_bound);
  fprintf(json, "\"peak_bytes\": %llu, \"ratio\": %.6f, \"optimal\": %s, ",
          (unsigned long long)plan.peak, ratio, plan.optimal ? "true" : "false");
  fprintf(json, "\"cpu_seconds\": %.4f, \"workspace_bytes\": %llu, \"work\": %llu}", seconds,
          (unsigned long long)bytes, (unsigned long long)plan.work);
}

/* Does the planner answer within a minute or so for any number of buffers? */
static bool suits_large(const berth_planner_t *planner) {
  return listed("none,size,search,best", planner->name);
}

static void run_all(const settings_t *settings, bench_problem_t *problem, FILE *json) {
  berth_problem_t plain = {.buffers = problem->buffers, .buffer_count = problem->count};
  uint64_t load = load_of(&plain);
  bool first = true;
  for (uint32_t p = 0; berth_planner_at(p) != NULL; p++) {
    const berth_planner_t *planner = berth_planner_at(p);
    if (settings->planners != NULL && !listed(settings->planners, planner->name)) continue;
    if (settings->planners == NULL && problem->count > LARGE && !suits_large(planner)) continue;
    run(settings, planner, problem, load, json, first);
    first = false;
  }
  print_records(settings, problem, load, json);
  free(problem->buffers);
}

/* ---- The problems ------------------------------------------------------------------------------
 */

static bool wanted(const settings_t *settings, const char *name, uint32_t count) {
  if (settings->problems != NULL) return listed(settings->problems, name);
  return count <= LARGE || settings->large;
}

/* Those of the reference data, in the order of figures.csv. */
static void run_reference(const settings_t *settings, FILE *json) {
  char path[8300], names[PROBLEMS_MAX][64];
  int count = 0;
  snprintf(path, sizeof path, "%s/figures.csv", settings->folder);
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    printf("(no reference data in %s)\n", settings->folder);
    return;
  }
  char line[1024];
  while (count < PROBLEMS_MAX && fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, ",")] = '\0';
    snprintf(names[count++], sizeof names[0], "%.63s", line);
  }
  fclose(file);
  for (int i = 1; i < count; i++) { /* names[0] is the heading's */
    bench_problem_t problem;
    snprintf(path, sizeof path, "%s/%s.csv", settings->folder, names[i]);
    if (!wanted(settings, names[i], 0) || !bench_read(path, &problem)) continue;
    snprintf(problem.name, sizeof problem.name, "%s", names[i]);
    run_all(settings, &problem, json);
  }
}

static void run_generated(const settings_t *settings, FILE *json) {
  static const struct {
    const char *name;
    uint32_t count, longest; /* longest 0: a network */
    uint64_t seed;
  } generated[] = {
      {"network_1k", 1000, 0, 1},           {"network_10k", 10000, 0, 1},
      {"network_100k", 100000, 0, 1},       {"network_1M", 1000000, 0, 1},
      {"uniform_short_10k", 10000, 50, 1},  {"uniform_long_2k", 2000, 1000, 1},
      {"uniform_short_1M", 1000000, 50, 1},
  };
  for (size_t i = 0; i < sizeof generated / sizeof generated[0]; i++) {
    if (!wanted(settings, generated[i].name, generated[i].count)) continue;
    bench_problem_t problem;
    if (generated[i].longest == 0) {
      bench_network(generated[i].count, generated[i].seed, &problem);
    } else {
      bench_uniform_mix(generated[i].count, generated[i].longest, generated[i].seed, &problem);
    }
    snprintf(problem.name, sizeof problem.name, "%s", generated[i].name);
    run_all(settings, &problem, json);
  }
}

/* Problems in files of the caller's, named by their paths. */
static void run_files(const settings_t *settings, int count, char **paths, FILE *json) {
  for (int i = 0; i < count; i++) {
    bench_problem_t problem;
    if (!bench_read(paths[i], &problem)) {
      fprintf(stderr, "%s: not a problem (columns lower, upper and size)\n", paths[i]);
      exit(1);
    }
    const char *base = strrchr(paths[i], '/');
    snprintf(problem.name, sizeof problem.name, "%.63s", base != NULL ? base + 1 : paths[i]);
    char *end = strstr(problem.name, ".csv");
    if (end != NULL) *end = '\0';
    run_all(settings, &problem, json);
  }
}

static int usage(void) {
  fputs("usage: bench_planners [--problems A,B,...] [--planners a,b,...] [--time SECONDS]\n"
        "                      [--work UNITS] [--json FILE] [--large] [PROBLEM.csv...]\n",
        stderr);
  return 2;
}

int main(int count, char **arguments) {
  settings_t settings = {.seconds = 30};
  const char *shared = getenv("BERTH_SHARED");
  snprintf(settings.folder, sizeof settings.folder, "%s/problems",
           shared != NULL ? shared : BERTH_SOURCE_DIR "/../shared");
  int i = 1;
  for (; i < count && strncmp(arguments[i], "--", 2) == 0; i++) {
    const char *option = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
    if (strcmp(option, "--large") == 0) {
      settings.large = true;
      continue;
    }
    if (value == NULL) return usage();
    i++;
    if (strcmp(option, "--problems") == 0) {
      settings.problems = value;
    } else if (strcmp(option, "--planners") == 0) {
      settings.planners = value;
    } else if (strcmp(option, "--time") == 0) {
      settings.seconds = strtod(value, NULL);
    } else if (strcmp(option, "--work") == 0) {
      settings.work = strtoull(value, NULL, 10);
    } else if (strcmp(option, "--json") == 0) {
      settings.json = value;
    } else {
      return usage();
    }
  }
  FILE *json = NULL;
  if (settings.json != NULL) {
    json = fopen(settings.json, "w");
    if (json == NULL) {
      perror(settings.json);
      return 1;
    }
    fputs("[", json);
  }
  printf("%-16s %8s  %-15s %12s %9s %7s %8s %8s\n", "problem", "buffers", "planner", "height",
         "/ load", "", "CPU s", "MB");
  if (i < count) {
    run_files(&settings, count - i, arguments + i, json);
  } else {
    run_reference(&settings, json);
    run_generated(&settings, json);
  }
  if (json != NULL) {
    fputs("\n]\n", json);
    if (fclose(json) != 0) {
      perror(settings.json);
      return 1;
    }
  }
  return 0;
}
