/* Runs models in every way that must not matter, each in one process: planners x alignments x what
 * is shared and reused, whole and row by row.
 *
 *   ways [--quick] MODEL...
 *
 * What every way must give, bit for bit, are the outputs of three invokes in a row with every
 * tensor in memory of its own. All ways are watched by the guard; those that come to the same plan,
 * every offset, scratch buffer, row and ring alike, run once. With the
 * interpreter's own planner and alignment the first two invokes (--quick: one) are watched with all
 * checks, all others the fast way. Of every plan one block of the reported size must do for
 * prepare, and one byte less must be refused. --quick leaves most ways out. One line for each way
 * at fault and one for each model; exit status 3 if any is at fault.
 */
#include "host/fill.h"
#include "host/runner.h"
#include "host/verdict.h"
#include "run/run.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVOKES     3
#define OUTPUTS_MAX 64 /* of a model, that are compared */
#define PLANS_MAX   4096

/* ---- What came out --------------------------------------------------------------------------- */

typedef struct outputs {
  uint32_t count;
  berth_value_t values[OUTPUTS_MAX]; /* their data are gone */
  uint8_t *bytes[INVOKES][OUTPUTS_MAX];
} outputs_t;

static void forget(outputs_t *outputs) {
  for (uint32_t n = 0; n < INVOKES; n++) {
    for (uint32_t i = 0; i < OUTPUTS_MAX; i++) free(outputs->bytes[n][i]);
  }
  memset(outputs, 0, sizeof *outputs);
}

static void *copy_of(const void *data, size_t bytes) {
  void *copy = malloc(bytes > 0 ? bytes : 1);
  if (copy == NULL) abort();
  if (bytes > 0) memcpy(copy, data, bytes);
  return copy;
}

/* ---- One model at work ----------------------------------------------------------------------- */

typedef struct trial {
  const char *path;
  bool quick;
  uint32_t thorough; /* invokes of this way that are watched with all checks */
  outputs_t expected;
  uint64_t plans[PLANS_MAX]; /* hashes of those that ran */
  uint32_t plan_count;
  uint32_t ways, refused, faults;
  berth_verdicts_t verdicts;
} trial_t;

static void fault(trial_t *trial, const char *way, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("%s: %s: ", trial->path, way);
  vprintf(format, arguments);
  putchar('\n');
  va_end(arguments);
  trial->faults++;
}

static berth_status_t invoke(berth_runner_t *runner, uint64_t seed) {
  uint32_t count = berth_model_subgraph(&runner->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t input = berth_runner_input(runner, i);
    if (input.data != NULL && !input.constant) berth_fill_random(&input, &seed);
  }
  return berth_runner_invoke(runner);
}

static void expect(trial_t *trial, berth_runner_t *runner) {
  for (uint32_t n = 0; n < INVOKES; n++) {
    berth_status_t status = invoke(runner, n + 1);
    if (status != BERTH_OK) fault(trial, "without reuse", "%s", berth_status_text(status));
    uint32_t count = berth_model_subgraph(&runner->model, 0).outputs.count;
    trial->expected.count = count < OUTPUTS_MAX ? count : OUTPUTS_MAX;
    for (uint32_t i = 0; i < trial->expected.count; i++) {
      berth_value_t output = berth_interpreter_output(&runner->interpreter, i);
      trial->expected.values[i] = output;
      trial->expected.bytes[n][i] = copy_of(output.data, output.bytes);
    }
  }
}

static void compare(trial_t *trial, berth_runner_t *runner, const char *way) {
  for (uint32_t n = 0; n < INVOKES; n++) {
    runner->guard.fast = n >= trial->thorough;
    berth_status_t status = invoke(runner, n + 1);
    if (status != BERTH_OK) {
      fault(trial, way, "invoke %u: %s", n + 1, berth_status_text(status));
      return;
    }
    runner->guard.deep = false; /* what it asks depends on no input */
    for (uint32_t i = 0; i < trial->expected.count; i++) {
      berth_value_t output = berth_interpreter_output(&runner->interpreter, i);
      uint32_t bytes = trial->expected.values[i].bytes;
      if (output.bytes == bytes && (bytes == 0 || output.data != NULL) &&
          memcmp(output.data, trial->expected.bytes[n][i], bytes) == 0) {
        continue;
      }
      fault(trial, way, "invoke %u: output %u differs", n + 1, i);
      return;
    }
  }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static uint64_t add(uint64_t hash, const void *data, size_t bytes) {
  const uint8_t *p = data;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
  return hash;
}

static uint64_t add_number(uint64_t hash, uint64_t number) {
  return add(hash, &number, sizeof number);
}

/* Of all that makes a difference to what runs where. */
static uint64_t hash_plan(const berth_interpreter_t *interpreter) {
  const berth_interpreter_options_t *options = &interpreter->options;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  hash = add_number(hash, options->store_multipliers);
  hash = add_number(hash, options->portable);
  hash = add_number(hash, options->keep_inputs);
  hash = add(hash, interpreter->places, interpreter->tensor_count * sizeof *interpreter->places);
  hash = add(hash, interpreter->operators,
             interpreter->operator_count * sizeof *interpreter->operators);
  for (uint32_t i = 0; i < interpreter->operator_count; i++) {
    uint32_t scratch = interpreter->operators[i].scratch;
    uint32_t count = (scratch >> OPERATOR_SCRATCH_SHIFT & 7u) + (scratch & OPERATOR_WISH ? 1 : 0);
    if (count == 0) continue;
    const uint32_t *first = &interpreter->scratches[scratch & OPERATOR_SCRATCH_INDEX];
    hash = add(hash, first, count * sizeof *first);
  }
  const berth_stream_plan_t *plan = options->stream;
  if (plan == NULL) return hash;
  for (uint32_t i = 0; i < plan->step_count; i++) {
    hash = add_number(hash, plan->order != NULL ? plan->order[i] : i);
  }
  for (uint32_t i = 0; i < plan->run_count; i++) {
    const berth_stream_run_t *run = &plan->runs[i];
    hash = add_number(hash, run->first);
    hash = add_number(hash, run->last);
    hash = add_number(hash, run->block);
    hash = add_number(hash, run->push_inputs);
  }
  uint32_t tensors = berth_model_subgraph(interpreter->model, 0).tensor_count;
  return add(hash, plan->rings, tensors * sizeof *plan->rings);
}

static bool is_new(trial_t *trial, uint64_t hash) {
  for (uint32_t i = 0; i < trial->plan_count; i++) {
    if (trial->plans[i] == hash) return false;
  }
  if (trial->plan_count == PLANS_MAX) abort();
  trial->plans[trial->plan_count++] = hash;
  return true;
}

/* Prepares once more, in one block of so many bytes. */
static berth_status_t prepare_in(const berth_runner_t *runner, uint32_t bytes) {
  uint32_t align = runner->interpreter.options.alignment;
  if (align < 16) align = 16;
  berth_interpreter_options_t options = runner->interpreter.options;
  options.log = NULL;
  berth_memories_t memories = {.planning = runner->interpreter.memories.planning};
  memories.activations.data = aligned_alloc(align, ((size_t)bytes + align) & ~(size_t)(align - 1));
  memories.activations.bytes = bytes;
  if (memories.activations.data == NULL) abort();
  berth_interpreter_t interpreter;
  berth_status_t status = berth_interpreter_init(&interpreter, &runner->model, &options, &memories);
  if (status == BERTH_OK) status = berth_interpreter_prepare(&interpreter);
  free(memories.activations.data);
  return status;
}

static void check_size(trial_t *trial, const berth_runner_t *runner, const char *way) {
  uint32_t total = berth_interpreter_needs(&runner->interpreter).total;
  berth_status_t enough = prepare_in(runner, total), less = prepare_in(runner, total - 1);
  if (enough != BERTH_OK) {
    fault(trial, way, "%u bytes, as reported: %s", total, berth_status_text(enough));
  }
  if (less != BERTH_ERROR_MEMORY) {
    fault(trial, way, "%u bytes, one less than reported: %s", total - 1, berth_status_text(less));
  }
}

/* ---- Ways ------------------------------------------------------------------------------------ */

static bool is_streamed(const berth_runner_options_t *options) {
  return options->streaming.mode != BERTH_STREAMING_OFF;
}

/* A planner that doesn't know pairs can't place rows over rows. */
static bool may_refuse(const berth_runner_options_t *options) {
  return is_streamed(options) && options->planner != NULL &&
         !(options->planner->handles & BERTH_HANDLES_PAIRS);
}

static void go(trial_t *trial, const berth_runner_options_t *wanted, const char *way) {
  berth_runner_options_t options = *wanted;
  options.guard = true;
  bool usual = options.planner == NULL && options.interpreter.alignment == 16;
  trial->thorough = !usual ? 0 : trial->quick ? 1 : INVOKES - 1;
  options.guard_deep = usual && (trial->plan_count == 0 || is_streamed(&options));
  options.guard_report = berth_verdict_note;
  options.guard_user = &trial->verdicts;
  memset(&trial->verdicts, 0, sizeof trial->verdicts);
  berth_runner_t runner;
  berth_complaint_t complaint = {""};
  trial->ways++;
  berth_status_t status = berth_runner_open(trial->path, &options, &runner, &complaint);
  if (status == BERTH_ERROR_UNSUPPORTED && may_refuse(&options)) {
    trial->refused++;
    return;
  }
  if (status != BERTH_OK) {
    fault(trial, way, "%s", complaint.text);
    return;
  }
  if (is_new(trial, hash_plan(&runner.interpreter))) {
    compare(trial, &runner, way);
    check_size(trial, &runner, way);
  }
  if (trial->verdicts.count > 0) {
    char text[512];
    berth_verdict_text(&runner.model, &trial->verdicts.findings[0], text, sizeof text);
    fault(trial, way, "%s", text);
  }
  berth_runner_close(&runner);
}

static const char *planner_name(const berth_planner_t *planner) {
  return planner != NULL ? planner->name : "compact";
}

/* All planners and the interpreter's own, which stands at the end. */
static const berth_planner_t *planner_at(uint32_t index, bool *end) {
  const berth_planner_t *planner = berth_planner_at(index);
  *end = planner == NULL && index > 0 && berth_planner_at(index - 1) == NULL;
  return planner;
}

static bool is_quick(const berth_planner_t *planner) {
  return planner == NULL || planner == &berth_planner_best || planner == &berth_planner_tflm;
}

static void go_whole(trial_t *trial, bool quick) {
  static const struct {
    const char *name;
    berth_interpreter_options_t options;
  } variants[] = {
      {"", {0}},
      {"no reuse", {.no_reuse = true}},
      {"keep inputs", {.keep_inputs = true}},
      {"views only", {.overlap = BERTH_OVERLAP_VIEWS}},
      {"nothing shared", {.overlap = BERTH_OVERLAP_NONE}},
      {"stored multipliers", {.store_multipliers = true}},
  };
  bool end = false;
  for (uint32_t p = 0; !end; p++) {
    berth_runner_options_t options = {.planner = planner_at(p, &end)};
    if (end || (quick && !is_quick(options.planner))) continue;
    for (uint32_t align = 1; align <= 64; align *= 2) {
      if (quick && align != 16 && (align != 64 || options.planner != NULL)) continue;
      for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        if (quick && v > 0 && (options.planner != NULL || align != 16)) continue;
        char way[80];
        options.interpreter = variants[v].options;
        options.interpreter.alignment = align;
        snprintf(way, sizeof way, "planner %s, alignment %u %s", planner_name(options.planner),
                 align, variants[v].name);
        go(trial, &options, way);
      }
    }
  }
}

static void go_streamed(trial_t *trial, bool quick) {
  bool end = false;
  for (uint32_t p = 0; !end; p++) {
    berth_runner_options_t options = {.planner = planner_at(p, &end)};
    if (end || (quick && options.planner != NULL)) continue;
    for (uint32_t align = 1; align <= 64; align *= 4) {
      if (align != 16 && (quick || options.planner != NULL)) continue;
      for (int mode = BERTH_STREAMING_AUTO; mode <= BERTH_STREAMING_MAX; mode++) {
        for (int pushed = 0; pushed <= 1; pushed++) {
          if (quick && mode == BERTH_STREAMING_AUTO && pushed) continue;
          char way[80];
          options.interpreter.alignment = align;
          options.streaming = (berth_streaming_options_t){.mode = (berth_streaming_mode_t)mode,
                                                          .push_inputs = pushed};
          snprintf(way, sizeof way, "planner %s, alignment %u, stream %s%s",
                   options.planner != NULL ? options.planner->name : "best", align,
                   mode == BERTH_STREAMING_MAX ? "max" : "auto",
                   pushed ? " with pushed input" : "");
          go(trial, &options, way);
        }
      }
    }
  }
}

static bool run(const char *path, bool quick) {
  static trial_t trial;
  memset(&trial, 0, sizeof trial);
  trial.path = path;
  trial.quick = quick;
  berth_runner_options_t options = {.interpreter = {.no_reuse = true}};
  berth_runner_t runner;
  berth_complaint_t complaint = {""};
  if (berth_runner_open(path, &options, &runner, &complaint) != BERTH_OK) {
    fault(&trial, "without reuse", "%s", complaint.text);
    return false;
  }
  expect(&trial, &runner);
  berth_runner_close(&runner);
  go_whole(&trial, quick);
  uint32_t whole = trial.ways, plans = trial.plan_count;
  go_streamed(&trial, quick);
  printf("%s: %u ways whole (%u plans), %u streamed (%u more plans, %u refused by planners without "
         "pairs), %u at fault\n",
         path, whole, plans, trial.ways - whole, trial.plan_count - plans, trial.refused,
         trial.faults);
  forget(&trial.expected);
  return trial.faults == 0;
}

int main(int argc, char **argv) {
  bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0, right = true;
  for (int i = quick ? 2 : 1; i < argc; i++) right = run(argv[i], quick) && right;
  return right ? 0 : 3;
}
