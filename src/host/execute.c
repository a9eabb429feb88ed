/* Running a model: fills its inputs, invokes it, keeps the times, writes its outputs. */
#include "host/execute.h"
#include "host/fill.h"
#include "host/output_files.h"
#include "host/usage.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* ---- Inputs --------------------------------------------------------------------------------- */

static berth_status_t read_file(const berth_input_file_t *file, const berth_value_t *value,
                                berth_complaint_t *complaint) {
  FILE *stream = fopen(file->path, "rb");
  if (stream == NULL) {
    berth_complain(complaint, "%s: cannot be opened", file->path);
    return BERTH_ERROR_ARGUMENT;
  }
  size_t read = fread(value->data, 1, value->bytes, stream);
  bool right = read == value->bytes && fgetc(stream) == EOF;
  fclose(stream);
  if (!right) {
    berth_complain(complaint, "%s: input %s has %u bytes, the file has not", file->path, file->name,
                   value->bytes);
    return BERTH_ERROR_ARGUMENT;
  }
  return BERTH_OK;
}

static berth_status_t check_name(const berth_runner_t *runner, const char *name,
                                 berth_complaint_t *complaint) {
  if (berth_input_named(&runner->model, name) != BERTH_NOBODY) return BERTH_OK;
  berth_complain(complaint, "%s: has no input named %s", runner->path, name);
  return BERTH_ERROR_ARGUMENT;
}

static berth_status_t check_names(const berth_execution_options_t *options,
                                  const berth_runner_t *runner, berth_complaint_t *complaint) {
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < options->input_count && status == BERTH_OK; i++) {
    status = check_name(runner, options->inputs[i].name, complaint);
  }
  for (uint32_t i = 0; i < options->shape_count && status == BERTH_OK; i++) {
    status = check_name(runner, options->shapes[i].name, complaint);
  }
  return status;
}

static berth_status_t fill_inputs(const berth_execution_options_t *options, berth_runner_t *runner,
                                  uint64_t *state, berth_complaint_t *complaint) {
  uint32_t count = berth_model_subgraph(&runner->model, 0).inputs.count;
  for (uint32_t i = 0; i < count; i++) {
    berth_value_t value = berth_runner_input(runner, i);
    if (value.data == NULL || value.constant) continue;
    const berth_input_file_t *file = NULL;
    for (uint32_t k = 0; k < options->input_count; k++) {
      if (berth_input_named(&runner->model, options->inputs[k].name) == i)
        file = &options->inputs[k];
    }
    if (file != NULL) {
      berth_status_t status = read_file(file, &value, complaint);
      if (status != BERTH_OK) return status;
    } else if (options->random) {
      berth_fill_random(&value, state);
    } else {
      memset(value.data, 0, value.bytes);
    }
  }
  return BERTH_OK;
}

/* ---- Outputs -------------------------------------------------------------------------------- */

typedef struct watch {
  const berth_execution_options_t *options;
  berth_execution_t *execution;
  double last;                /* when the operator before ended */
  berth_output_files_t files; /* with `output_dir` */
} watch_t;

static void on_rows(void *user, uint32_t output, const berth_value_t *value, uint32_t first_row,
                    uint32_t last_row) {
  watch_t *watch = user;
  watch->execution->row_pieces++;
  if (watch->files.rows == NULL) return;
  berth_output_files_rows(&watch->files, watch->execution->invokes, output, value, first_row,
                          last_row);
}

static berth_status_t open_files(watch_t *watch, berth_complaint_t *complaint) {
  const berth_runner_t *runner = &watch->execution->runner;
  uint32_t count = berth_model_subgraph(&runner->model, 0).outputs.count;
  berth_status_t status = berth_output_files_init(&watch->files, watch->options->output_dir,
                                                  watch->options->invokes, count);
  if (status != BERTH_OK) berth_complain(complaint, "out of memory");
  return status;
}

/* ---- Profile -------------------------------------------------------------------------------- */

static bool observe(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                    uint32_t op) {
  (void)interpreter;
  watch_t *watch = user;
  if (subgraph == 0 && watch->execution->operators != NULL) {
    berth_operator_profile_t *profile = &watch->execution->operators[op];
    double ms = profile->rows_ms + now_ms() - watch->last;
    if (profile->ms < 0 || ms < profile->ms) profile->ms = ms;
    profile->rows_ms = 0;
    watch->last = now_ms();
  }
  return !berth_interrupted();
}

/* An operator that runs row by row takes the time of all its pieces. */
static bool observe_rows(void *user, const berth_interpreter_t *interpreter, uint32_t op,
                         uint32_t first_row, uint32_t last_row) {
  (void)interpreter;
  (void)first_row;
  (void)last_row;
  watch_t *watch = user;
  if (watch->execution->operators == NULL) return true;
  watch->execution->operators[op].rows_ms += now_ms() - watch->last;
  watch->last = now_ms();
  return true;
}

/* The memory side of the profile, from the lifetimes and the shapes at run time. */
static berth_status_t profile_memory(berth_execution_t *execution) {
  const berth_model_t *model = &execution->runner.model;
  const berth_interpreter_t *interpreter = &execution->runner.interpreter;
  size_t bytes;
  berth_status_t status = berth_graph_workspace(model, &bytes);
  if (status != BERTH_OK) return status;
  void *workspace = malloc(bytes);
  if (workspace == NULL) return BERTH_ERROR_MEMORY;
  berth_graph_options_t options = {.keep_inputs = interpreter->options.keep_inputs};
  berth_graph_t graph;
  status = berth_graph_analyse(model, &options, workspace, bytes, &graph, NULL);
  for (uint32_t i = 0; i < graph.tensor_count && status == BERTH_OK; i++) {
    const berth_graph_tensor_t *tensor = &graph.tensors[i];
    if (tensor->allocation != BERTH_ALLOCATION_ARENA_RW &&
        tensor->allocation != BERTH_ALLOCATION_DYNAMIC) {
      continue;
    }
    uint32_t size = berth_interpreter_tensor(interpreter, tensor->subgraph, tensor->tensor).bytes;
    for (uint32_t step = tensor->first; step <= tensor->last; step++) {
      if (step < execution->operator_count) execution->operators[step].live_bytes += size;
    }
    if (tensor->subgraph == 0 && tensor->producer != BERTH_NOBODY) {
      execution->operators[tensor->producer].output_bytes += size;
    }
  }
  free(workspace);
  return status;
}

static berth_status_t start_profile(berth_execution_t *execution, uint32_t operators) {
  execution->operator_count = operators;
  execution->operators = calloc(operators > 0 ? operators : 1, sizeof *execution->operators);
  if (execution->operators == NULL) return BERTH_ERROR_MEMORY;
  for (uint32_t i = 0; i < operators; i++) execution->operators[i].ms = -1;
  return BERTH_OK;
}

/* ---- Watch ---------------------------------------------------------------------------------- */

/* Bytes of memory that the process has; 0 where the system doesn't say. */
static uint64_t resident_bytes(void) {
  unsigned long long all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  int read = fscanf(file, "%llu %llu", &all, &resident);
  fclose(file);
  return read == 2 ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void sample(const berth_execution_options_t *options, berth_execution_t *execution,
                   uint32_t invoke) {
  uint32_t wanted = options->invokes < BERTH_SAMPLES ? options->invokes : BERTH_SAMPLES;
  uint64_t next = (uint64_t)(execution->sample_count + 1) * options->invokes / wanted;
  if (execution->sample_count == wanted || invoke + 1 < next) return;
  const berth_interpreter_t *interpreter = &execution->runner.interpreter;
  berth_sample_t *to = &execution->samples[execution->sample_count++];
  to->invoke = invoke + 1;
  to->resident_bytes = resident_bytes();
  to->high_water_bytes = berth_interpreter_watermarks(interpreter).activations;
}

/* ---- Where everything lies ------------------------------------------------------------------- */

static berth_status_t note_usage(const char *path, const berth_execution_options_t *options,
                                 berth_execution_t *execution, berth_complaint_t *complaint) {
  const berth_interpreter_options_t *interpreter = &execution->runner.interpreter.options;
  berth_subject_options_t subject = {
      .align = interpreter->alignment,
      .keep_inputs = interpreter->keep_inputs,
      .keep_foldable = true,
      .kernels = true,
      .regions = berth_runner_regions,
      .region_count = BERTH_RUNNER_REGIONS,
      .what_if = {.shapes = options->shapes, .shape_count = options->shape_count}};
  berth_status_t status = berth_subject_open(path, &subject, &execution->subject, complaint);
  if (status != BERTH_OK) return status;
  execution->has_usage = true;
  execution->placed =
      (berth_outcome_t){.planner = execution->runner.options.planner, .has_plan = true};
  execution->placed.plan.placements =
      calloc((size_t)execution->subject.problem.buffer_count + 1, sizeof(berth_placement_t));
  if (execution->placed.plan.placements == NULL) {
    berth_complain(complaint, "out of memory");
    return BERTH_ERROR_MEMORY;
  }
  berth_usage_of_runner(&execution->runner, &execution->subject, execution->placed.plan.placements);
  return BERTH_OK;
}

berth_plan_report_t berth_execution_report(const berth_execution_t *execution) {
  return (berth_plan_report_t){.subject = &execution->subject, .outcome = &execution->placed};
}

/* ---- Everything ----------------------------------------------------------------------------- */

static berth_status_t reshape(void *user, berth_interpreter_t *interpreter) {
  const watch_t *watch = user;
  for (uint32_t i = 0; i < watch->options->shape_count; i++) {
    const berth_named_shape_t *shape = &watch->options->shapes[i];
    uint32_t input = berth_input_named(interpreter->model, shape->name);
    if (input == BERTH_NOBODY) continue; /* complained about later */
    berth_status_t status =
        berth_interpreter_resize_input(interpreter, input, shape->rank, shape->dims);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static berth_status_t invoke_all(const berth_execution_options_t *options, watch_t *watch,
                                 double *times, berth_complaint_t *complaint) {
  berth_execution_t *execution = watch->execution;
  berth_runner_t *runner = &execution->runner;
  uint64_t state = options->seed;
  for (uint32_t i = 0; i < options->invokes; i++) {
    berth_status_t status = fill_inputs(options, runner, &state, complaint);
    if (status != BERTH_OK) return status;
    double start = now_ms();
    watch->last = start;
    execution->row_pieces = 0;
    status = berth_runner_invoke(runner);
    times[i] = now_ms() - start;
    if (status != BERTH_OK) {
      char what[40];
      snprintf(what, sizeof what, "invoke %u failed", i + 1);
      berth_runner_complain(runner, what, status, complaint);
      return status;
    }
    execution->invokes++;
    if (options->watch) sample(options, execution, i);
    runner->guard.deep = false; /* claims don't depend on the input: once is enough */
    if (options->output_dir != NULL) {
      status = berth_output_files_finish(&watch->files, runner, i, complaint);
      if (status != BERTH_OK) return status;
    }
  }
  qsort(times, options->invokes, sizeof *times, compare_times);
  execution->ms_min = times[0];
  execution->ms_median = times[options->invokes / 2];
  execution->dynamic_bytes = berth_interpreter_watermarks(&runner->interpreter).dynamic_high_water;
  return BERTH_OK;
}

berth_status_t berth_execute(const char *path, const berth_execution_options_t *options,
                             berth_execution_t *execution, berth_complaint_t *complaint) {
  memset(execution, 0, sizeof *execution);
  watch_t watch = {.options = options, .execution = execution};
  berth_runner_options_t runner_options = options->runner;
  runner_options.observe = observe;
  runner_options.observe_rows = observe_rows;
  runner_options.reshape = options->shape_count > 0 ? reshape : NULL;
  runner_options.guard_report = berth_verdict_note;
  runner_options.guard_user = &execution->verdicts;
  runner_options.on_rows = on_rows;
  runner_options.user = &watch;
  berth_status_t status = berth_runner_open(path, &runner_options, &execution->runner, complaint);
  if (status != BERTH_OK) return status;

  double *times = malloc(options->invokes * sizeof *times);
  if (times == NULL) {
    berth_complain(complaint, "out of memory");
    status = BERTH_ERROR_MEMORY;
  }
  if (status == BERTH_OK) status = check_names(options, &execution->runner, complaint);
  if (status == BERTH_OK && options->profile) {
    status =
        start_profile(execution, berth_model_subgraph(&execution->runner.model, 0).operator_count);
  }
  if (status == BERTH_OK && options->output_dir != NULL) status = open_files(&watch, complaint);
  if (status == BERTH_OK) status = invoke_all(options, &watch, times, complaint);
  berth_output_files_free(&watch.files);
  if (status == BERTH_OK && options->profile) {
    status = profile_memory(execution);
    if (status != BERTH_OK) berth_complain(complaint, "%s: %s", path, berth_status_text(status));
  }
  if (status == BERTH_OK && options->usage) {
    status = note_usage(path, options, execution, complaint);
  }
  free(times);
  if (status != BERTH_OK) berth_execution_close(execution);
  return status;
}

void berth_execution_close(berth_execution_t *execution) {
  free(execution->operators);
  execution->operators = NULL;
  if (execution->has_usage) {
    berth_outcome_free(&execution->placed);
    berth_subject_close(&execution->subject);
    execution->has_usage = false;
  }
  berth_runner_close(&execution->runner);
}
