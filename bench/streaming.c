/* What streaming costs: the time of an invoke row by row, divided by that of a whole one.
 *
 *   bench_streaming [--auto] [--input] [--rounds N] [MODEL...]
 *
 * For each model whose plan streams: the least time of an invoke of either kind, taken in turns so
 * that whatever else the machine does meets both; their ratio; and how many multiply-accumulates
 * each kind executes, counted in the calls of kernels. The last line has the geometric mean over
 * all models, and over those that take at least a tenth of a millisecond. --auto: plans of
 * `--stream auto` instead of max. --input: rows of inputs are pushed as well. Models are the
 * reference data's (BERTH_SHARED, or ../shared), or the shipped ones where those are not there.
 * Exit status 3: an invoke row by row has executed another number of multiply-accumulates than a
 * whole one.
 */
#include "berth/operator.h"
#include "host/runner.h"
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLE_US 50.0 /* invokes that are shorter are timed several at once */
#define SLOW_US   100.0
#define KERNELS   512u

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* what others run doesn't count */
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Every kernel once more, with functions that count before they call the original's. */
static berth_kernel_t counting[KERNELS];
static const berth_kernel_t *table[KERNELS + 1];
static uint64_t counted;

static const berth_kernel_t *original(const berth_call_t *call) {
  return berth_kernels[call->kernel - counting];
}

/* Elements of a filter for each of its `dimension`'s channels. */
static uint64_t depth(const berth_value_t *filter, uint32_t dimension) {
  return filter->dims[dimension] > 0 ? filter->elements / (uint32_t)filter->dims[dimension] : 0;
}

/* Multiply-accumulates for one row of work, of which there are `rows`; one for each element that
 * goes in or comes out where there is no filter. What only names a tensor anew does no work, and
 * need not run by rows. */
static uint64_t work_of_row(const berth_call_t *call, uint32_t rows) {
  berth_value_t input = berth_input(call, 0), output = berth_output(call, 0);
  berth_value_t filter = berth_input(call, 1);
  uint64_t all = output.elements > input.elements ? output.elements : input.elements;
  if (call->op.code == BERTH_BUILTIN_CONV_2D || call->op.code == BERTH_BUILTIN_FULLY_CONNECTED) {
    all = output.elements * depth(&filter, 0);
  } else if (call->op.code == BERTH_BUILTIN_DEPTHWISE_CONV_2D) {
    all = output.elements * depth(&filter, 3);
  } else if (call->op.code == BERTH_BUILTIN_TRANSPOSE_CONV) {
    all = berth_input(call, 2).elements * depth(&filter, 3);
  }
  bool is_view = call->op.code == BERTH_BUILTIN_RESHAPE || call->op.code == BERTH_BUILTIN_SQUEEZE ||
                 call->op.code == BERTH_BUILTIN_EXPAND_DIMS;
  return rows > 0 && !is_view ? all / rows : 0;
}

static berth_status_t count_eval(berth_call_t *call) {
  counted += work_of_row(call, berth_output(call, 0).rows) * (call->last_row - call->first_row);
  return original(call)->eval(call);
}

static berth_status_t count_accumulate(berth_call_t *call) {
  counted += work_of_row(call, berth_input(call, 0).rows) * (call->last_row - call->first_row);
  return original(call)->accumulate(call);
}

static void make_counting_kernels(void) {
  for (uint32_t i = 0; berth_kernels[i] != NULL && i < KERNELS; i++) {
    counting[i] = *berth_kernels[i];
    if (counting[i].accumulate != NULL) counting[i].accumulate = count_accumulate;
    if (counting[i].eval != NULL) counting[i].eval = count_eval;
    table[i] = &counting[i];
  }
}

/* ---- One model ------------------------------------------------------------------------------- */

static void fill(berth_runner_t *runner) {
  uint32_t count = berth_model_subgraph(&runner->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_runner_input(runner, i);
    if (value.data != NULL && !value.constant) memset(value.data, 0, value.bytes);
  }
}

static bool run(berth_runner_t *runner, uint32_t times, double *us) {
  fill(runner);
  double start = now_us();
  for (uint32_t i = 0; i < times; i++) {
    if (berth_runner_invoke(runner) != BERTH_OK) return false;
  }
  double each = (now_us() - start) / times;
  if (each < *us) *us = each;
  return true;
}

/* What an invoke of the model counts; UINT64_MAX: it does not run. */
static uint64_t count_work(const char *path, const berth_streaming_options_t *streaming) {
  berth_runner_options_t options = {.interpreter.kernels = table, .streaming = *streaming};
  berth_runner_t runner;
  berth_complaint_t complaint;
  if (berth_runner_open(path, &options, &runner, &complaint) != BERTH_OK) return UINT64_MAX;
  fill(&runner);
  counted = 0;
  uint64_t result = berth_runner_invoke(&runner) == BERTH_OK ? counted : UINT64_MAX;
  berth_runner_close(&runner);
  return result;
}

typedef struct totals {
  double sum, slow_sum; /* of logarithms of ratios */
  uint32_t count, slow_count, faster;
  bool differs;
} totals_t;

/* "tflm/conv0" of .../tflm/conv0/model.tflite, or the file's name. */
static const char *short_name(const char *path, char *name, size_t size) {
  snprintf(name, size, "%s", path);
  char *end = strstr(name, "/model.tflite"), *from = name;
  if (end != NULL) *end = '\0';
  for (uint32_t parts = end != NULL ? 2 : 1; parts > 0; parts--) {
    char *slash = strrchr(from, '/');
    if (slash == NULL) return from;
    if (parts == 1) return slash + 1;
    char *before = slash;
    while (before > from && before[-1] != '/') before--;
    return before;
  }
  return from;
}

static void measure(const char *path, const berth_streaming_options_t *streaming, uint32_t rounds,
                    totals_t *totals) {
  const berth_runner_options_t whole = {.streaming.mode = BERTH_STREAMING_OFF};
  const berth_runner_options_t rows = {.streaming = *streaming};
  berth_runner_t runners[2];
  berth_complaint_t complaint;
  if (berth_runner_open(path, &whole, &runners[0], &complaint) != BERTH_OK) return;
  if (berth_runner_open(path, &rows, &runners[1], &complaint) != BERTH_OK) {
    berth_runner_close(&runners[0]);
    return;
  }
  double us[2] = {1e30, 1e30};
  const berth_streaming_t *plan = runners[1].streaming;
  bool good = plan != NULL && plan->plan.run_count > 0 && run(&runners[0], 1, &us[0]) &&
              run(&runners[1], 1, &us[1]);
  uint32_t times = us[0] < SAMPLE_US ? 1 + (uint32_t)(SAMPLE_US / us[0]) : 1;
  for (uint32_t i = 0; i < rounds && good; i++) {
    good = run(&runners[i & 1], times, &us[i & 1]) && run(&runners[~i & 1], times, &us[~i & 1]);
  }
  if (good) {
    char name[4096];
    uint64_t calls = plan->result.choices[plan->chosen].calls;
    uint64_t work[2] = {count_work(path, &whole.streaming), count_work(path, streaming)};
    double ratio = us[1] / us[0];
    printf("%-46s %10.1f %10.1f %6.3f %8llu %12llu%s\n", short_name(path, name, sizeof name), us[0],
           us[1], ratio, (unsigned long long)calls, (unsigned long long)work[1],
           work[0] == work[1] ? "" : "  DIFFERS");
    fflush(stdout);
    totals->differs = totals->differs || work[0] != work[1];
    totals->sum += log(ratio);
    totals->count++;
    totals->faster += ratio < 1;
    if (us[0] >= SLOW_US) {
      totals->slow_sum += log(ratio);
      totals->slow_count++;
    }
  }
  berth_runner_close(&runners[0]);
  berth_runner_close(&runners[1]);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* The models to measure where none are named. */
static void find_models(glob_t *found) {
  char pattern[4096];
  const char *shared = getenv("BERTH_SHARED");
  if (shared != NULL) {
    snprintf(pattern, sizeof pattern, "%s/corpus/*/*/model.tflite", shared);
  } else {
    snprintf(pattern, sizeof pattern, "%s/../shared/corpus/*/*/model.tflite", BERTH_SOURCE_DIR);
  }
  if (glob(pattern, 0, NULL, found) == 0) return;
  snprintf(pattern, sizeof pattern, "%s/models/*.tflite", BERTH_SOURCE_DIR);
  glob(pattern, 0, NULL, found);
}

int main(int argc, char **argv) {
  berth_streaming_options_t streaming = {.mode = BERTH_STREAMING_MAX};
  uint32_t rounds = 60;
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; at++) {
    if (strcmp(argv[at], "--auto") == 0) {
      streaming.mode = BERTH_STREAMING_AUTO;
    } else if (strcmp(argv[at], "--input") == 0) {
      streaming.push_inputs = true;
    } else if (strcmp(argv[at], "--rounds") == 0 && at + 1 < argc) {
      rounds = (uint32_t)strtoul(argv[++at], NULL, 10);
    } else {
      fputs("usage: bench_streaming [--auto] [--input] [--rounds N] [MODEL...]\n", stderr);
      return 2;
    }
  }
  make_counting_kernels();
  totals_t totals = {0};
  printf("%-46s %10s %10s %6s %8s %12s\n", "model", "whole us", "rows us", "ratio", "calls",
         "MACs");
  if (at < argc) {
    for (; at < argc; at++) measure(argv[at], &streaming, rounds, &totals);
  } else {
    glob_t found = {0};
    find_models(&found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
      measure(found.gl_pathv[i], &streaming, rounds, &totals);
    }
    globfree(&found);
  }
  if (totals.count > 0) {
    printf("geometric mean of %u models %.3f", totals.count, exp(totals.sum / totals.count));
    if (totals.slow_count > 0) {
      printf(", of %u from 100 us on %.3f", totals.slow_count,
             exp(totals.slow_sum / totals.slow_count));
    }
    printf("; %u faster than whole\n", totals.faster);
  }
  return totals.differs ? 3 : 0;
}
