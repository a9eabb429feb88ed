/* How much of a file opening a model touches: pages of the file in memory before, after opening,
 * and after finding lifetimes; and the time that takes.
 *
 *   bench_open [MODEL]
 *
 * The file's pages are dropped from the system's cache first, so that those resident afterwards are
 * the ones that were read (mincore says which). Without an argument the largest shipped model is
 * used.
 */
#include "berth/graph.h"
#include "host/map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Linux and the BSDs have it; POSIX doesn't. */
int mincore(void *address, size_t length, unsigned char *resident);

#define REPEATS 100

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Asks the system to forget the file's pages. */
static void drop_pages(const char *path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  fdatasync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
}

static size_t resident_pages(const char *path, size_t page) {
  berth_host_map_t map;
  if (berth_host_map(path, &map, NULL) != BERTH_OK) return 0;
  size_t pages = ((size_t)map.size + page - 1) / page;
  unsigned char *flags = malloc(pages);
  size_t count = 0;
  if (flags != NULL && mincore((void *)map.data, (size_t)map.size, flags) == 0)
    for (size_t i = 0; i < pages; i++) count += flags[i] & 1;
  free(flags);
  berth_host_unmap(&map);
  return count;
}

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_majflt + usage.ru_minflt;
}

static bool analyse(const berth_model_t *model) {
  size_t bytes;
  berth_graph_t graph;
  if (berth_graph_workspace(model, &bytes) != BERTH_OK) return false;
  void *workspace = malloc(bytes);
  bool done = workspace != NULL &&
              berth_graph_analyse(model, NULL, workspace, bytes, &graph, NULL) == BERTH_OK;
  free(workspace);
  return done;
}

/* Least CPU time of opening the model, with its pages in memory. */
static double fastest_open(const char *path) {
  double best = 1e9;
  for (int i = 0; i < REPEATS; i++) {
    berth_host_map_t map;
    berth_model_t model;
    double start = milliseconds();
    if (berth_host_open_model(path, &map, &model, NULL) != BERTH_OK) return -1;
    double time = milliseconds() - start;
    if (time < best) best = time;
    berth_host_unmap(&map);
  }
  return best;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "models/mobilenet_v1_0.25_96_int8.tflite";
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  berth_host_map_t map;
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE];
  drop_pages(path);
  size_t before = resident_pages(path, page);
  long faults_before = faults();
  if (berth_host_open_model(path, &map, &model, message) != BERTH_OK) {
    fprintf(stderr, "%s: %s\n", path, message);
    return 1;
  }
  long faults_open = faults() - faults_before;
  size_t opened = resident_pages(path, page);
  bool analysed = analyse(&model);
  size_t used = resident_pages(path, page);
  size_t pages = ((size_t)map.size + page - 1) / page;
  berth_host_unmap(&map);

  printf("%s: %zu pages of %zu bytes, %u buffers\n", path, pages, page, model.buffer_count);
  printf("in memory before opening    %6zu pages\n", before);
  printf("read by opening             %6zu pages, %.1f %% of the file, %ld page faults\n",
         opened - before, 100.0 * (double)(opened - before) / (double)pages, faults_open);
  printf("read by finding lifetimes   %6zu pages more%s\n", used - opened,
         analysed ? "" : " (refused)");
  printf("CPU time to open            %6.3f ms, least of %d\n", fastest_open(path), REPEATS);
  return 0;
}
