/* Mutates model files and does with each mutant what a command does with a file: opens it, walks
 * through everything the accessors give out, finds lifetimes, plans. Meant to run under
 * AddressSanitizer and UndefinedBehaviorSanitizer, with each mutant at the end of a block of its
 * exact size, so that reading one byte too many is noticed.
 *
 *   fuzz COUNT SEED FIRST FILE...
 *
 * Mutant number i depends on the seed, i and the files only; FIRST is the number of the first one,
 * so that the mutant which a failure names can be run alone. Besides the files given, the sample of
 * the unit tests is mutated, since it has one of everything. Ends with a failure if a promise of
 * the headers is broken, or if one mutant takes longer than 20 seconds.
 */
#include "sample.h"
#include "walk.h"

#include "berth/graph.h"
#include "berth/plan.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define LARGEST_FILE 262144u /* bytes; larger ones are mostly weights, which nobody looks at */
#define MOST_BUFFERS 2048u   /* plans of more buffers would take most of the time */
#define MOST_FAULTS  256u

/* ---- What is being done, for messages ------------------------------------------------------- */

static uint64_t seed;
static uint64_t current; /* number of the mutant */

static void name_mutant(void) {
  fprintf(stderr, "mutant %" PRIu64 " of seed %" PRIu64 "\n", current, seed);
}

static void give_up(const char *what) {
  fprintf(stderr, "%s\n", what);
  name_mutant();
  abort();
}

static void too_slow(int signal) {
  static const char text[] = "a mutant takes more than 20 seconds\n";
  (void)signal;
  if (write(2, text, sizeof text - 1) < 0) _exit(3);
  abort();
}

/* ---- Random numbers (splitmix64; Steele, Lea & Flood, 2014) --------------------------------- */

static uint64_t state;

static uint64_t next_random(void) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Two calls must not stand where C leaves their order open: mutants are the same everywhere. */
static size_t below(size_t limit) {
  return (size_t)(next_random() % limit);
}

/* ---- Mutations ------------------------------------------------------------------------------ */

typedef struct file {
  uint8_t *data;
  size_t size;
} file_t;

/* A place to change. Tables gather at the two ends of most files; weights lie between. */
static size_t place(const file_t *file) {
  size_t near_end = file->size < 4096 ? file->size : 4096;
  switch (below(4)) {
  case 0:
    return below(near_end);
  case 1:
    return file->size - 1 - below(near_end);
  default:
    return below(file->size);
  }
}

static void store(file_t *file, size_t at, size_t width, uint64_t value) {
  for (size_t i = 0; i < width && at + i < file->size; i++)
    file->data[at + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t interesting(const file_t *file) {
  static const uint64_t numbers[] = {
      0,      1,       2,          3,          4,          7,          8,
      16,     31,      32,         127,        128,        255,        256,
      0x7fff, 0x8000,  0xffff,     0x10000,    0x7fffffff, 0x80000000, 0xffffffff,
      99999,  1000000, 0xfffffffe, 0xfffffffc, 0x40000000, UINT64_MAX, (uint64_t)INT64_MAX};
  if (below(4) == 0) return (uint64_t)file->size - 4 + below(9);
  return numbers[below(sizeof numbers / sizeof numbers[0])];
}

static void mutate(file_t *file) {
  if (file->size == 0) return;
  size_t at = place(file);
  switch (below(10)) {
  case 0:
  case 1: /* a bit */
    file->data[at] ^= (uint8_t)(1u << below(8));
    break;
  case 2: /* a byte */
    file->data[at] = (uint8_t)next_random();
    break;
  case 3: /* the end is missing */
    file->size -= below(2) == 0 ? below(file->size) : below(file->size < 64 ? file->size : 64);
    break;
  case 4: { /* an interesting number */
    size_t width = (size_t)1 << below(4);
    store(file, at, width, interesting(file));
    break;
  }
  case 5: /* a reference to somewhere else */
    store(file, at & ~(size_t)3, 4, place(file) - (at & ~(size_t)3));
    break;
  case 6: { /* a number from somewhere else */
    size_t from = place(file);
    if (from + 4 <= file->size) store(file, at, 4, flat_load32(file->data + from));
    break;
  }
  case 7: { /* a block of the file over another one */
    size_t from = place(file);
    size_t room = file->size - (at > from ? at : from);
    memmove(file->data + at, file->data + from, below((room < 64 ? room : 64) + 1));
    break;
  }
  case 8: /* an element of a list refers to where its neighbour does */
    if (at + 8 <= file->size) {
      uint32_t neighbour = flat_load32(file->data + at);
      store(file, at + 4, 4, neighbour - 4);
    }
    break;
  default: /* a small change of a number */
    store(file, at, 1, (uint64_t)(file->data[at] + (below(2) == 0 ? 1 : -1)));
    break;
  }
}

/* ---- What is done with a mutant ------------------------------------------------------------- */

typedef struct counts {
  uint64_t opened;
  uint64_t analysed;
  uint64_t planned;
  uint32_t fault_count;
  berth_model_error_t faults[MOST_FAULTS]; /* one of each kind that was met */
} counts_t;

static counts_t counts;
static uint64_t checksum; /* of all that was read, and of peaks: the same on every machine */

static void note_fault(const berth_model_error_t *error) {
  if (error->subject == NULL || error->fault == NULL) give_up("a refusal gives no reason");
  for (uint32_t i = 0; i < counts.fault_count; i++)
    if (strcmp(counts.faults[i].subject, error->subject) == 0 &&
        strcmp(counts.faults[i].fault, error->fault) == 0)
      return;
  if (counts.fault_count < MOST_FAULTS) counts.faults[counts.fault_count++] = *error;
}

static void *take(size_t bytes) {
  void *memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) give_up("out of memory");
  return memory;
}

static void plan(const berth_buffer_t *buffers, uint32_t count) {
  const berth_problem_t problem = {.buffers = buffers, .buffer_count = count};
  size_t bytes;
  berth_status_t status = berth_plan_workspace(&berth_planner_size, &problem, NULL, &bytes);
  if (status == BERTH_ERROR_OVERFLOW) return;
  if (status != BERTH_OK) give_up("the planner does not take the buffers of a model");
  void *workspace = take(bytes);
  berth_plan_t result = {.placements = take(count * sizeof *result.placements)};
  status = berth_plan_make(&berth_planner_size, &problem, NULL, workspace, bytes, &result);
  if (status != BERTH_OK && status != BERTH_ERROR_OVERFLOW) give_up("the planner fails");
  if (status == BERTH_OK) {
    counts.planned++;
    checksum += result.peak;
  }
  free(result.placements);
  free(workspace);
}

static void plan_graph(const berth_graph_t *graph) {
  uint32_t count;
  berth_buffer_t *buffers = take(graph->tensor_count * sizeof *buffers);
  uint32_t *tensors = take(graph->tensor_count * sizeof *tensors);
  berth_status_t status = berth_graph_buffers(graph, 16, buffers, tensors, &count);
  if (status != BERTH_OK && status != BERTH_ERROR_OVERFLOW) give_up("no buffers from a graph");
  if (status == BERTH_OK && count <= MOST_BUFFERS) plan(buffers, count);
  free(tensors);
  free(buffers);
}

static void analyse(const berth_model_t *model) {
  bool fold = below(2) == 0;
  const berth_graph_options_t options = {.fold = fold, .keep_inputs = below(2) == 0};
  size_t bytes;
  berth_status_t status = berth_graph_workspace(model, &bytes);
  if (status == BERTH_ERROR_OVERFLOW) return;
  if (status != BERTH_OK) give_up("the size of a graph's workspace is unknown");
  void *workspace = take(bytes);
  berth_graph_t graph;
  berth_graph_error_t error;
  status = berth_graph_analyse(model, &options, workspace, bytes, &graph, &error);
  if (status == BERTH_OK) {
    counts.analysed++;
    plan_graph(&graph);
  } else if (status != BERTH_ERROR_FORMAT && status != BERTH_ERROR_OVERFLOW) {
    give_up("the graph of an open model is refused without reason");
  }
  free(workspace);
}

static void use(const uint8_t *data, size_t size) {
  berth_model_t model;
  berth_model_error_t error;
  berth_status_t status = berth_model_open(data, size, &model, &error);
  if (status == BERTH_ERROR_FORMAT) {
    note_fault(&error);
    return;
  }
  if (status != BERTH_OK) give_up("neither a model nor malformed");
  counts.opened++;
  checksum += walk_model(&model);
  analyse(&model);
}

static void run_mutant(const file_t *bases, size_t base_count) {
  state = seed * 0x9e3779b97f4a7c15u + current;
  const file_t *base = &bases[below(3) == 0 ? 0 : below(base_count)];
  file_t mutant = {take(base->size), base->size};
  memcpy(mutant.data, base->data, base->size);
  for (size_t i = 1 + below(below(4) == 0 ? 24 : 3); i > 0; i--) mutate(&mutant);
  uint8_t *exact = take(mutant.size);
  memcpy(exact, mutant.data, mutant.size);
  free(mutant.data);
  use(exact, mutant.size);
  free(exact);
}

/* ---- The program ---------------------------------------------------------------------------- */

static bool read_file(const char *path, file_t *file) {
  FILE *stream = fopen(path, "rb");
  if (stream == NULL) return false;
  file->data = take(LARGEST_FILE + 1);
  file->size = fread(file->data, 1, LARGEST_FILE + 1, stream);
  fclose(stream);
  if (file->size > 0 && file->size <= LARGEST_FILE) return true;
  free(file->data);
  return false;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: fuzz COUNT SEED FIRST FILE...\n");
    return 2;
  }
  uint64_t count = strtoull(argv[1], NULL, 10);
  seed = strtoull(argv[2], NULL, 10);
  uint64_t first = strtoull(argv[3], NULL, 10);
  signal(SIGALRM, too_slow);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(name_mutant);
#endif

  static sample_t sample;
  sample_build(&sample);
  file_t *bases = take((size_t)argc * sizeof *bases);
  size_t base_count = 1;
  bases[0] = (file_t){sample.file.bytes, sample.file.size};
  for (int i = 4; i < argc; i++)
    if (read_file(argv[i], &bases[base_count])) base_count++;

  for (current = first; current - first < count; current++) {
    alarm(20);
    run_mutant(bases, base_count);
  }
  alarm(0);
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " with lifetimes, %" PRIu64 " planned; %" PRIu32 " kinds of faults; checksum %016" PRIx64
         "\n",
         count, base_count, seed, counts.opened, counts.analysed, counts.planned,
         counts.fault_count, checksum);
  for (size_t i = 1; i < base_count; i++) free(bases[i].data);
  free(bases);
  bool meaningful = counts.opened > 0 && counts.planned > 0 && counts.fault_count > 1;
  if (count >= 1000 && !meaningful) {
    fprintf(stderr, "the mutants are all alike: nothing was tested\n");
    return 1;
  }
  return 0;
}
