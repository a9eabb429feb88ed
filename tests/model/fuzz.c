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
#include "mutants.h"
#include "sample.h"
#include "walk.h"

#include "berth/graph.h"
#include "berth/plan.h"

#define LARGEST_FILE 262144u /* bytes; larger ones are mostly weights, which nobody looks at */
#define MOST_BUFFERS 2048u   /* plans of more buffers would take most of the time */
#define MOST_FAULTS  256u

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

/* ---- The program ---------------------------------------------------------------------------- */

static size_t times(void) {
  return 1 + below(below(4) == 0 ? 24 : 3);
}

int main(int argc, char **argv) {
  static sample_t sample;
  sample_build(&sample);
  mutants_t mutants = {.largest = LARGEST_FILE,
                       .seconds = 20,
                       .sample = {sample.file.bytes, sample.file.size},
                       .times = times,
                       .use = use};
  int status = mutants_use(&mutants, argc, argv);
  if (status != 0) return status;
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " opened, %" PRIu64
         " with lifetimes, %" PRIu64 " planned; %" PRIu32 " kinds of faults; checksum %016" PRIx64
         "\n",
         mutants.count, mutants.base_count, mutants_seed, counts.opened, counts.analysed,
         counts.planned, counts.fault_count, checksum);
  bool meaningful = counts.opened > 0 && counts.planned > 0 && counts.fault_count > 1;
  if (mutants.count >= 1000 && !meaningful) {
    fprintf(stderr, "the mutants are all alike: nothing was tested\n");
    return 1;
  }
  return 0;
}
