/* Mutates model files and plans and runs each mutant that opens in ways that must not matter:
 * streamed at random, with plans that were saved and mutated themselves, and planned with memory
 * that tensors share, also diagonally. What runs gives the outputs of a whole run, to the bit.
 * Meant to run under AddressSanitizer and UndefinedBehaviorSanitizer.
 *
 *   fuzz COUNT SEED FIRST FILE...
 *
 * Mutant number i depends on the seed, i and the files only, so that one which a failure names can
 * be run alone (COUNT 1, FIRST i).
 */
#include "model/mutants.h"

#include "host/fill.h"
#include "host/plan_file.h"
#include "host/runner.h"
#include "host/streaming_print.h"

#define LARGEST_FILE   131072u /* bytes; larger ones are mostly weights */
#define LARGEST_SUM    262144u /* of all tensors: what needs more is left out */
#define MOST_OPERATORS 2000u   /* and pieces evaluated in one invoke, for loops may be endless */
#define WORK           3000u   /* budget of planners */
#define OUTPUTS        65536u  /* bytes that are compared */

static uint64_t opened, whole_runs, streamed_runs, saved_runs, plans;
static char model_path[64], plan_path[64];

typedef struct result {
  uint8_t bytes[OUTPUTS];
  size_t used;
} result_t;

/* ---- Running --------------------------------------------------------------------------------- */

static bool spend(void *user) {
  uint32_t *budget = user;
  return *budget > 0 && --*budget > 0;
}

static bool observe(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                    uint32_t op) {
  (void)interpreter;
  (void)subgraph;
  (void)op;
  return spend(user);
}

static bool observe_rows(void *user, const berth_interpreter_t *interpreter, uint32_t op,
                         uint32_t first_row, uint32_t last_row) {
  (void)interpreter;
  (void)op;
  (void)first_row;
  (void)last_row;
  return spend(user);
}

/* Appends the outputs. A float that is no number counts as any other that is none: which one it is
 * depends on the order of operands. */
static void keep(const berth_runner_t *runner, result_t *result) {
  uint32_t count = berth_model_subgraph(&runner->model, 0).outputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_runner_output(runner, i);
    if (value.data == NULL || value.bytes > OUTPUTS - result->used) continue;
    uint8_t *to = result->bytes + result->used;
    memcpy(to, value.data, value.bytes);
    result->used += value.bytes;
    for (uint32_t k = 0; value.type == BERTH_TYPE_FLOAT32 && k < value.elements; k++) {
      float x;
      memcpy(&x, to + (size_t)k * sizeof x, sizeof x);
      if (x != x) memset(to + (size_t)k * sizeof x, 0xff, sizeof x);
    }
  }
}

/* Two invokes; false: it cannot be run so. */
static bool run(const berth_runner_options_t *wanted, result_t *result) {
  berth_runner_options_t options = *wanted;
  uint32_t budget = 0;
  berth_runner_t runner;
  berth_complaint_t complaint;
  options.observe = observe;
  options.observe_rows = observe_rows;
  options.user = &budget;
  options.dynamic_bytes = LARGEST_SUM;
  result->used = 0;
  if (berth_runner_open(model_path, &options, &runner, &complaint) != BERTH_OK) return false;
  bool good = true;
  uint64_t random = 1;
  for (int n = 0; n < 2 && good; n++) {
    uint32_t count = berth_model_subgraph(&runner.model, 0).inputs.count;
    for (uint32_t i = 0; i < count; i++) {
      berth_value_t value = berth_runner_input(&runner, i);
      if (value.data != NULL && !value.constant) berth_fill_random(&value, &random);
    }
    budget = MOST_OPERATORS;
    good = berth_runner_invoke(&runner) == BERTH_OK;
    if (good) keep(&runner, result);
  }
  berth_runner_close(&runner);
  return good;
}

static void compare(const result_t *whole, const result_t *other, const char *what) {
  if (whole->used != other->used || memcmp(whole->bytes, other->bytes, whole->used) != 0) {
    give_up(what);
  }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void write_to(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    give_up("a file cannot be written");
  }
}

/* Tensors that share memory; what a planner makes is verified by berth_plan_make. */
static void plan_shared(void) {
  berth_subject_options_t options = {.share = true, .diagonal = below(2) == 0};
  options.overlap = below(2) == 0 ? BERTH_OVERLAP_VIEWS : BERTH_OVERLAP_INPLACE;
  options.best_order = below(4) == 0;
  berth_subject_t subject;
  berth_complaint_t complaint;
  berth_outcome_t outcome;
  if (berth_subject_open(model_path, &options, &subject, &complaint) != BERTH_OK) return;
  const berth_planning_t planning = {.work_limit = WORK};
  berth_status_t status =
      berth_planning_run(&berth_planner_best, &subject.problem, &planning, &outcome, &complaint);
  if (status == BERTH_ERROR_INTERNAL) give_up("a plan with shared memory is wrong");
  plans += status == BERTH_OK && outcome.has_plan;
  berth_outcome_free(&outcome);
  berth_subject_close(&subject);
}

/* Writes a streamed plan of the model; false: it has none. */
static bool save_plan(const berth_streaming_options_t *wanted) {
  berth_subject_options_t options = {.align = 16};
  berth_subject_t subject;
  berth_streaming_t streaming;
  berth_complaint_t complaint;
  berth_outcome_t outcome = {.has_plan = false};
  berth_plan_report_t report;
  bool saved = false;
  if (berth_subject_open(model_path, &options, &subject, &complaint) != BERTH_OK) return false;
  if (berth_plan_report_start(&subject, &options, &report, &complaint) == BERTH_OK &&
      berth_streaming_make(&subject, wanted, &streaming, &complaint) == BERTH_OK) {
    const berth_planning_t planning = {.work_limit = WORK};
    berth_status_t status = berth_streaming_plan(&streaming, &subject, &berth_planner_best,
                                                 &planning, &outcome, &complaint);
    if (status == BERTH_ERROR_INTERNAL) give_up("a streamed plan is wrong");
    if (status == BERTH_OK && outcome.has_plan && streaming.plan.run_count > 0) {
      report.outcome = &outcome;
      report.streaming = &streaming;
      FILE *file = fopen(plan_path, "wb");
      if (file == NULL) give_up("a file cannot be written");
      berth_plan_write_json(&report, file);
      saved = fclose(file) == 0;
    }
    berth_outcome_free(&outcome);
    berth_subject_close(&subject);
    berth_streaming_free(&streaming);
  } else {
    berth_subject_close(&subject);
  }
  return saved;
}

/* Changes a few digits or characters of the saved plan. */
static void mutate_plan(void) {
  file_t plan;
  if (!mutants_read(plan_path, 1u << 20, &plan)) give_up("a plan cannot be read");
  static const char characters[] = "0123456789-.,:{}[]\"ntfe ";
  for (size_t i = below(4); i > 0; i--) {
    size_t at = below(plan.size);
    /* Mostly a digit for a digit, so that it stays a plan. */
    while (below(8) != 0 && (plan.data[at] < '0' || plan.data[at] > '9')) at = below(plan.size);
    bool digit = plan.data[at] >= '0' && plan.data[at] <= '9' && below(8) != 0;
    static const char digits[] = "0123456789";
    plan.data[at] = (uint8_t)(digit ? digits[below(10)] : characters[below(sizeof characters - 1)]);
  }
  if (below(16) == 0) plan.size = below(plan.size);
  write_to(plan_path, plan.data, plan.size);
  free(plan.data);
}

/* ---- A mutant -------------------------------------------------------------------------------- */

/* Is it small enough to be run often? */
static bool is_small(void) {
  berth_subject_options_t options = {.align = 16};
  berth_subject_t subject;
  berth_complaint_t complaint;
  if (berth_subject_open(model_path, &options, &subject, &complaint) != BERTH_OK) return false;
  bool small = subject.sum_bytes <= LARGEST_SUM;
  berth_subject_close(&subject);
  return small;
}

static void use(const uint8_t *data, size_t size) {
  static result_t whole, other;
  berth_streaming_options_t streaming = {.align = 16};
  streaming.mode = below(2) == 0 ? BERTH_STREAMING_AUTO : BERTH_STREAMING_MAX;
  streaming.push_inputs = below(2) == 0;
  streaming.pull_outputs = below(2) == 0;
  bool portable = below(2) == 0;
  write_to(model_path, data, size);
  if (!is_small()) return;
  opened++;
  plan_shared();
  berth_runner_options_t options = {.interpreter = {.portable = portable}};
  bool runs = run(&options, &whole);
  whole_runs += runs;
  options.streaming = streaming;
  if (run(&options, &other)) {
    streamed_runs++;
    if (runs) compare(&whole, &other, "a streamed run gives other outputs");
  }
  options.streaming.mode = BERTH_STREAMING_OFF;
  if (!save_plan(&streaming)) return;
  mutate_plan();
  options.plan_path = plan_path;
  if (run(&options, &other)) {
    saved_runs++;
    if (runs) compare(&whole, &other, "a saved plan gives other outputs");
  }
}

/* Also none: for the other plans. */
static size_t times(void) {
  return below(3);
}

int main(int argc, char **argv) {
  mutants_t mutants = {.largest = LARGEST_FILE, .seconds = 120, .times = times, .use = use};
  /* Names of one length, since a saved plan names its model. */
  snprintf(model_path, sizeof model_path, "/tmp/berth-fuzz-%010ld.tflite", (long)getpid());
  snprintf(plan_path, sizeof plan_path, "/tmp/berth-fuzz-%010ld.json", (long)getpid());
  int status = mutants_use(&mutants, argc, argv);
  remove(model_path);
  remove(plan_path);
  if (status != 0) return status;
  printf("%" PRIu64 " mutants of %zu models, seed %" PRIu64 ": %" PRIu64 " small, %" PRIu64
         " plans with shared memory, run: %" PRIu64 " whole, %" PRIu64 " by rows, %" PRIu64
         " with a mutated plan\n",
         mutants.count, mutants.base_count, mutants_seed, opened, plans, whole_runs, streamed_runs,
         saved_runs);
  if (mutants.count >= 100 &&
      (streamed_runs < mutants.count / 10 || saved_runs < mutants.count / 50)) {
    fprintf(stderr, "the mutants hardly run: nothing was tested\n");
    return 1;
  }
  return 0;
}
