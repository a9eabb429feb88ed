/* The steps of `berth optimize`, from the file to the file. */
#include "host/optimize.h"
#include "host/output.h"
#include "optimize/offline.h"
#include "optimize/set_shape.h"
#include "optimize/write.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDS   2u
#define INVOKES 2u

typedef struct job {
  const char *path;
  const berth_optimization_options_t *options;
  berth_optimization_t *result;
  berth_complaint_t *complaint;
  berth_host_map_t map;
  berth_model_t model; /* as it is */
  berth_edit_t edit;
  uint8_t *shaped; /* with --set-shape: the model that is edited further */
  berth_model_t shaped_model;
  uint8_t *bytes; /* the edited model, without a plan */
  uint64_t size;
  berth_model_t edited;
  berth_input_shape_t shapes[BERTH_OPTIMIZE_SHAPES_MAX];
} job_t;

static berth_status_t failed(job_t *job, const char *what, berth_status_t status) {
  berth_complain(job->complaint, "%s: %s: %s", job->path, what, berth_status_text(status));
  return status;
}

/* ---- Progress ---------------------------------------------------------------------------------
 */

/* What a person at a terminal waits for: a line that the next one overwrites. NULL: nothing more.
 */
static void tell(const job_t *job, const char *what) {
  if (isatty(STDERR_FILENO) == 0) return;
  if (what == NULL) {
    fputs("\r\033[K", stderr);
  } else {
    fprintf(stderr, "\r%.60s: %s\033[K", job->path, what);
  }
  fflush(stderr);
}

static void tell_run(void *user, uint32_t run, uint32_t runs) {
  char text[64];
  snprintf(text, sizeof text, "proof, run %u of %u", run + 1, runs);
  tell(user, text);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static berth_status_t find_shapes(job_t *job) {
  for (uint32_t i = 0; i < job->options->shape_count; i++) {
    const berth_named_shape_t *named = &job->options->shapes[i];
    uint32_t input = berth_input_named(&job->model, named->name);
    if (input == BERTH_NOBODY) {
      berth_complain(job->complaint, "%s: has no input named %s", job->path, named->name);
      return BERTH_ERROR_ARGUMENT;
    }
    job->shapes[i] = (berth_input_shape_t){.input = input, .rank = named->rank};
    memcpy(job->shapes[i].dims, named->dims, sizeof named->dims);
  }
  return BERTH_OK;
}

static berth_status_t set_shapes(job_t *job) {
  if (job->options->shape_count == 0) return BERTH_OK;
  berth_status_t status = find_shapes(job);
  if (status != BERTH_OK) return status;
  berth_set_shape_report_t report;
  status = berth_set_shapes(&job->edit, job->shapes, job->options->shape_count, &report);
  if (status == BERTH_ERROR_OPERATOR) {
    char name[128];
    berth_complain(
        job->complaint, "%s: shapes cannot be followed through %s: %s", job->path,
        berth_runner_operator_text(&job->model, report.subgraph, report.op, name, sizeof name),
        report.why != NULL ? report.why : "it refuses them");
  } else if (status != BERTH_OK) {
    return failed(job, "shapes cannot be set", status);
  }
  job->result->shapes_fixed = report.changed;
  job->result->still_dynamic = report.unknown;
  return status;
}

/* The original's inputs get the same shapes for the proof. */
static berth_status_t reshape(void *user, berth_interpreter_t *interpreter) {
  const job_t *job = user;
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < job->options->shape_count && status == BERTH_OK; i++) {
    const berth_input_shape_t *shape = &job->shapes[i];
    status = berth_interpreter_resize_input(interpreter, shape->input, shape->rank, shape->dims);
  }
  return status;
}

/* Goes on with a model in which the shapes are what they are, so that the clean-ups see them. */
static berth_status_t take_shapes(job_t *job) {
  berth_edit_t next;
  if (job->options->shape_count == 0) return BERTH_OK;
  job->shaped = job->bytes;
  job->shaped_model = job->edited;
  job->bytes = NULL;
  berth_status_t status = berth_edit_open(&job->shaped_model, &next);
  if (status != BERTH_OK) return failed(job, "cannot be edited", status);
  berth_edit_close(&job->edit);
  job->edit = next;
  return BERTH_OK;
}

static berth_status_t clean(job_t *job) {
  const berth_optimization_options_t *options = job->options;
  berth_status_t status = BERTH_OK;
  if (options->allow_rounding) {
    status = berth_fold_scales(&job->edit, &job->result->scales_folded);
  }
  if (status == BERTH_OK) {
    status = berth_clean(&job->edit, options->keep, options->grow, job->result->cleaned);
  }
  bool changed = job->result->scales_folded > 0;
  for (uint32_t i = 0; i < BERTH_CLEANUPS_MAX; i++) changed |= job->result->cleaned[i] > 0;
  if (status == BERTH_OK && changed) {
    status = berth_drop_tensors(&job->edit, &job->result->tensors_dropped);
  }
  return status == BERTH_OK ? BERTH_OK : failed(job, "cannot be cleaned up", status);
}

/* ---- The model so far ------------------------------------------------------------------------ */

/* The model as edited so far, to plan it. */
static berth_status_t build(job_t *job) {
  const char *why = NULL;
  free(job->bytes);
  job->bytes = NULL;
  berth_status_t status = berth_edit_bytes(&job->edit, NULL, &job->bytes, &job->size, &why);
  if (status != BERTH_OK) {
    return failed(job, why != NULL ? why : "cannot be written", status);
  }
  if (berth_model_open(job->bytes, job->size, &job->edited, NULL) != BERTH_OK) {
    return failed(job, "what was written cannot be read", BERTH_ERROR_INTERNAL);
  }
  return BERTH_OK;
}

/* ---- Order and plan -------------------------------------------------------------------------- */

static berth_stock_plan_options_t stock_options(const job_t *job) {
  return (berth_stock_plan_options_t){.overlap = job->options->overlap,
                                      .diagonal = job->options->diagonal,
                                      .kernels = job->options->kernels,
                                      .abi = BERTH_ABI_ARM};
}

static berth_status_t order(job_t *job) {
  uint32_t count = job->edit.subgraphs[0].operator_count;
  if (job->options->keep_order || berth_numbers_operators(&job->model)) return BERTH_OK;
  uint32_t *best = malloc(((size_t)count + 1) * sizeof *best);
  if (best == NULL) return failed(job, "no order is found", BERTH_ERROR_MEMORY);
  berth_stock_plan_options_t options = stock_options(job);
  berth_status_t status = berth_stock_order(&job->edited, &options, best, &job->result->order);
  if (status == BERTH_OK && job->result->order.changed) {
    status = berth_edit_reorder(&job->edit, 0, best);
    if (status == BERTH_OK) status = build(job);
  } else if (status != BERTH_OK) {
    failed(job, "no order is found", status);
  }
  free(best);
  return status;
}

/* Offsets that leave everything to TFLM, instead of a plan that was there and no longer fits. */
static berth_status_t forget_plan(job_t *job) {
  uint32_t count = 0;
  if (berth_model_metadata_named(&job->model, BERTH_OFFLINE_PLAN).size == 0) return BERTH_OK;
  for (uint32_t s = 0; s < job->edited.subgraph_count; s++) {
    count += berth_model_subgraph(&job->edited, s).tensor_count;
  }
  int32_t *offsets = malloc(((size_t)count + 1) * sizeof *offsets);
  if (offsets == NULL) return failed(job, "the plan cannot be stored", BERTH_ERROR_MEMORY);
  for (uint32_t i = 0; i < count; i++) offsets[i] = -1;
  berth_status_t status = berth_offline_put(&job->edit, offsets, count);
  free(offsets);
  return status == BERTH_OK ? BERTH_OK : failed(job, "the plan cannot be stored", status);
}

static berth_status_t make_plan(job_t *job) {
  berth_stock_plan_t *plan = &job->result->plan;
  bool same =
      job->size == job->model.size && memcmp(job->bytes, job->model.data, (size_t)job->size) == 0;
  if (job->options->no_plan) return same ? BERTH_OK : forget_plan(job);
  berth_stock_plan_options_t options = stock_options(job);
  berth_status_t status = berth_stock_plan_make(&job->edited, &options, plan);
  if (status != BERTH_OK) return failed(job, "no plan is found", status);
  if (plan->offsets == NULL) return forget_plan(job);
  status = berth_offline_put(&job->edit, plan->offsets, plan->count);
  return status == BERTH_OK ? BERTH_OK : failed(job, "the plan cannot be stored", status);
}

/* ---- The file -------------------------------------------------------------------------------- */

/* What stock TFLM needs for a model. That it doesn't run it is an answer, too. */
static berth_status_t foresee(job_t *job, const berth_model_t *model, berth_stock_need_t *need,
                              berth_tflm_forecast_t *kept) {
  berth_tflm_settings_t settings = {.abi = BERTH_ABI_ARM, .kernels = job->options->kernels};
  berth_tflm_forecast_t forecast;
  berth_tflm_error_t error = {0};
  berth_status_t status = berth_tflm_forecast(model, &settings, &forecast, &error);
  *need = (berth_stock_need_t){.known = false, .why_not = error.what};
  if (status == BERTH_ERROR_MEMORY) return failed(job, "the forecast", status);
  if (status != BERTH_OK) return BERTH_OK;
  need->known = forecast.unknown_count == 0 && forecast.refused_count == 0;
  need->why_not = forecast.refused_count > 0   ? "it refuses an operator"
                  : forecast.unknown_count > 0 ? "an operator's kernel is not known"
                                               : NULL;
  need->head_bytes = forecast.head_bytes;
  need->arena_used_bytes = forecast.arena_used_bytes;
  need->min_arena_bytes = forecast.min_arena_bytes;
  if (kept != NULL) {
    *kept = forecast;
  } else {
    berth_tflm_forecast_free(&forecast);
  }
  return BERTH_OK;
}

static bool to_stream(void *user, const void *data, size_t size) {
  return fwrite(data, 1, size, user) == size;
}

/* Runs what was written, under its temporary name, against the original. */
static berth_status_t prove(job_t *job, const char *written) {
  berth_proof_options_t options = {
      .seeds = SEEDS,
      .invokes = INVOKES,
      .allow_rounding = job->result->scales_folded > 0,
      .reshape = job->options->shape_count > 0 ? reshape : NULL,
      .user = job,
      .progress = tell_run,
      .foreign = job->result->plan.foreign && job->result->plan.offsets != NULL,
      .stock = {.abi = BERTH_ABI_ARM, .kernels = job->options->kernels}};
  berth_status_t status =
      berth_prove(job->path, written, &options, &job->result->proof, job->complaint);
  tell(job, NULL);
  job->result->proven = status == BERTH_OK;
  if (status == BERTH_ERROR_OPERATOR) {
    berth_complaint_t why = *job->complaint;
    berth_complain(
        job->complaint,
        "%s; nothing is proven, so nothing is written (--no-verify leaves the proof out)",
        why.text);
  }
  return status;
}

/* Writes to a file of its own, where temporary files belong, if the output is none that can be run
 * (a pipe, a device) or if there is none. */
static berth_status_t prove_elsewhere(job_t *job) {
  const char *folder = getenv("TMPDIR");
  char path[1024];
  berth_output_t output;
  if (folder == NULL || folder[0] == '\0') folder = "/tmp";
  int length = snprintf(path, sizeof path, "%s/berth-proof", folder);
  if (length < 0 || (size_t)length >= sizeof path) {
    berth_complain(job->complaint, "TMPDIR is too long");
    return BERTH_ERROR_ARGUMENT;
  }
  berth_status_t status = berth_output_open(path, &output, job->complaint);
  if (status != BERTH_OK) return status;
  status = berth_edit_write(&job->edit, NULL, to_stream, output.stream, NULL);
  if (output.temporary == NULL || fflush(output.stream) != 0) status = BERTH_ERROR_CANCELLED;
  if (status == BERTH_OK) {
    status = prove(job, output.temporary);
  } else {
    failed(job, "the temporary file for the proof (see TMPDIR) cannot be written", status);
  }
  berth_output_discard(&output);
  return status;
}

static berth_status_t write_and_prove(job_t *job, berth_output_t *output) {
  const char *why = NULL;
  berth_status_t status = berth_edit_write(&job->edit, NULL, to_stream, output->stream, &why);
  if (status == BERTH_ERROR_CANCELLED) return BERTH_OK; /* the commit will say why */
  if (status != BERTH_OK) return failed(job, why != NULL ? why : "cannot be written", status);
  if (job->options->no_verify) return BERTH_OK;
  if (output->temporary == NULL) return prove_elsewhere(job);
  if (fflush(output->stream) != 0) return BERTH_OK; /* likewise */
  return prove(job, output->temporary);
}

static berth_status_t write_file(job_t *job) {
  if (job->options->output == NULL)
    return job->options->no_verify ? BERTH_OK : prove_elsewhere(job);
  berth_output_t output;
  berth_status_t status = berth_output_open(job->options->output, &output, job->complaint);
  if (status != BERTH_OK) return status;
  status = write_and_prove(job, &output);
  bool good = !job->result->proven || berth_proof_holds(&job->result->proof);
  if (status == BERTH_OK && good) return berth_output_commit(&output, job->complaint);
  berth_output_discard(&output);
  return status;
}

static berth_status_t write_header(job_t *job) {
  const char *path = job->options->header;
  bool failed_proof = job->result->proven && !berth_proof_holds(&job->result->proof);
  if (path == NULL || failed_proof) return BERTH_OK;
  berth_output_t output;
  berth_status_t status = berth_output_open(path, &output, job->complaint);
  if (status != BERTH_OK) return status;
  berth_optimization_header(job->result, path, output.stream);
  return berth_output_commit(&output, job->complaint);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void count_moved(job_t *job) {
  const berth_edit_subgraph_t *main = &job->edit.subgraphs[0];
  uint32_t before = berth_model_subgraph(&job->model, 0).operator_count;
  job->result->operators_before = before;
  job->result->operators = main->operator_count;
  uint32_t highest = 0;
  for (uint32_t i = 0; i < main->operator_count; i++) {
    uint32_t origin = main->operators[i].origin;
    if (origin < highest) job->result->moved++;
    if (origin > highest) highest = origin;
  }
}

static berth_status_t run(job_t *job) {
  /* No model is left behind without the header that was to come with it. */
  const char *header = job->options->header;
  berth_status_t status = header != NULL ? berth_output_try(header, job->complaint) : BERTH_OK;
  if (status == BERTH_OK) status = set_shapes(job);
  if (status == BERTH_OK) status = build(job);
  if (status == BERTH_OK) status = take_shapes(job);
  if (status == BERTH_OK) status = clean(job);
  if (status == BERTH_OK) status = build(job);
  if (status == BERTH_OK) {
    tell(job, "order and plan");
    status = order(job);
  }
  if (status == BERTH_OK) status = make_plan(job);
  if (status == BERTH_OK) status = build(job);
  tell(job, NULL);
  if (status != BERTH_OK) return status;
  status = foresee(job, &job->model, &job->result->before, NULL);
  if (status == BERTH_OK) {
    status = foresee(job, &job->edited, &job->result->after, &job->result->stock);
  }
  if (status != BERTH_OK) return status;
  count_moved(job);
  job->result->file_bytes_before = job->model.size;
  job->result->file_bytes = job->size;
  status = write_file(job);
  return status == BERTH_OK ? write_header(job) : status;
}

berth_status_t berth_optimize(const char *path, const berth_optimization_options_t *options,
                              berth_optimization_t *optimization, berth_complaint_t *complaint) {
  berth_optimization_t result = {.path = path};
  job_t job = {.path = path, .options = options, .result = &result, .complaint = complaint};
  char message[BERTH_HOST_MESSAGE];
  berth_status_t status = berth_host_open_model(path, &job.map, &job.model, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  status = berth_edit_open(&job.model, &job.edit);
  if (status == BERTH_OK) {
    status = run(&job);
    berth_edit_close(&job.edit);
  } else {
    failed(&job, "cannot be edited", status);
  }
  free(job.bytes);
  free(job.shaped);
  berth_host_unmap(&job.map);
  if (status == BERTH_OK) {
    *optimization = result;
  } else {
    berth_optimization_free(&result);
  }
  return status;
}

void berth_optimization_free(berth_optimization_t *optimization) {
  berth_stock_plan_free(&optimization->plan);
  berth_tflm_forecast_free(&optimization->stock);
}
