/* What each technique of the exact planner is worth: challenging instances at a capacity of 1 MiB,
 * with all techniques and without one of them at a time.
 *
 * usage: bench_exact_techniques [PROBLEM.csv...]   (default: ../shared/problems/[BCDFGHJK])
 * Prints thousands of units of work until the plan, or "-" where LIMIT units were not enough.
 */
#include "berth/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 100000000, CAPACITY = 1048576, MOST = 4096 };

static uint32_t read_problem(const char *path, berth_buffer_t *buffers) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  char line[256];
  uint32_t count = 0;
  while (count < MOST && fgets(line, sizeof line, file) != NULL) {
    unsigned long lower, upper, size;
    if (sscanf(line, "%*[^,],%lu,%lu,%lu", &lower, &upper, &size) != 3) continue;
    buffers[count++] = berth_buffer(size, (uint32_t)lower, (uint32_t)upper - 1);
  }
  fclose(file);
  return count;
}

/* The work until there is a plan, or UINT64_MAX. */
static uint64_t measure(const char *path, berth_techniques_t without) {
  static berth_buffer_t buffers[MOST];
  static berth_placement_t placements[MOST];
  berth_problem_t problem = {.buffers = buffers, .buffer_count = read_problem(path, buffers)};
  berth_plan_options_t options = {.capacity = CAPACITY, .work_limit = LIMIT, .without = without};
  berth_plan_t plan = {.placements = placements};
  size_t bytes;
  if (berth_plan_workspace(&berth_planner_exact, &problem, &options, &bytes) != BERTH_OK) {
    return UINT64_MAX;
  }
  void *workspace = malloc(bytes + 1);
  if (workspace == NULL) return UINT64_MAX;
  berth_status_t status =
      berth_plan_make(&berth_planner_exact, &problem, &options, workspace, bytes, &plan);
  free(workspace);
  return status == BERTH_OK ? plan.work : UINT64_MAX;
}

static void print_row(const char *name, berth_techniques_t without, char **paths, int count) {
  printf("| %-9s |", name);
  for (int i = 0; i < count; i++) {
    uint64_t work = measure(paths[i], without);
    if (work == UINT64_MAX) {
      printf("      - |");
    } else {
      printf(" %6llu |", (unsigned long long)(work / 1000));
    }
    fflush(stdout);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  static char names[8][64];
  static char *usual[8];
  char **paths = argv + 1;
  int count = argc - 1;
  if (count == 0) {
    for (int i = 0; i < 8; i++) {
      snprintf(names[i], sizeof names[i], "../shared/problems/%c.1048576.csv", "BCDFGHJK"[i]);
      usual[i] = names[i];
    }
    FILE *file = fopen(usual[0], "r");
    if (file == NULL) {
      printf("the reference data (../shared) is not there\n");
      return 0;
    }
    fclose(file);
    paths = usual;
    count = 8;
  }
  printf("| without   |");
  for (int i = 0; i < count; i++) {
    const char *slash = strrchr(paths[i], '/');
    printf(" %6.1s |", slash != NULL ? slash + 1 : paths[i]);
  }
  printf("\n");
  print_row("(none)", 0, paths, count);
  for (uint32_t t = 0; berth_technique_name(t) != NULL; t++) {
    print_row(berth_technique_name(t), (berth_techniques_t)1 << t, paths, count);
  }
  return 0;
}
