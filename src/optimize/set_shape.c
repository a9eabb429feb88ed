/* Setting shapes: the interpreter resizes the inputs, its kernels state the shapes of all outputs,
 * and those that are not the file's go into the edit. */
#include "optimize/set_shape.h"
#include "optimize/contracts.h"

typedef struct job {
  const berth_input_shape_t *shapes;
  uint32_t count;
  berth_set_shape_report_t report;
} job_t;

static berth_status_t resize(void *user, berth_interpreter_t *interpreter) {
  const job_t *job = (const job_t *)user;
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < job->count && status == BERTH_OK; i++) {
    const berth_input_shape_t *shape = &job->shapes[i];
    status = berth_interpreter_resize_input(interpreter, shape->input, shape->rank, shape->dims);
  }
  return status;
}

static void note(void *user, const berth_event_t *event) {
  job_t *job = (job_t *)user;
  bool fatal = event->kind == BERTH_EVENT_MISSING || event->kind == BERTH_EVENT_REFUSED;
  if (!fatal || job->report.op != BERTH_NOBODY) return;
  job->report.subgraph = event->subgraph;
  job->report.op = event->op;
  job->report.why = event->kind == BERTH_EVENT_MISSING ? "there is no kernel for it" : event->why;
}

static bool is_shape(const berth_value_t *value, berth_vector_t shape) {
  if (value->rank != shape.count) return false;
  for (uint32_t i = 0; i < value->rank; i++) {
    if (value->dims[i] != berth_vector_int(shape, i)) return false;
  }
  return true;
}

static berth_status_t take_shape(berth_edit_t *edit, const berth_interpreter_t *interpreter,
                                 uint32_t subgraph, uint32_t index, job_t *job) {
  berth_tensor_t tensor = berth_model_tensor(edit->model, subgraph, index);
  if (berth_model_tensor_data(edit->model, &tensor).size > 0) return BERTH_OK;
  berth_value_t value = berth_interpreter_tensor(interpreter, subgraph, index);
  if (!value.known) {
    job->report.unknown++;
    return BERTH_OK;
  }
  if (is_shape(&value, tensor.shape) && tensor.signature.count == 0) return BERTH_OK;
  job->report.changed++;
  return berth_edit_set_shape(edit, subgraph, index, value.dims, value.rank);
}

berth_status_t berth_set_shapes(berth_edit_t *edit, const berth_input_shape_t *shapes,
                                uint32_t count, berth_set_shape_report_t *report) {
  job_t job = {shapes, count, {.op = BERTH_NOBODY}};
  berth_contracts_options_t options = {.log = note, .reshape = resize, .user = &job};
  berth_contracts_t contracts;
  berth_status_t status = berth_contracts_make(edit->model, &options, &contracts);
  if (status == BERTH_OK) {
    if (job.report.op != BERTH_NOBODY) status = BERTH_ERROR_OPERATOR;
    for (uint32_t s = 0; s < edit->model->subgraph_count; s++) {
      uint32_t tensors = edit->subgraphs[s].tensor_count;
      for (uint32_t i = 0; i < tensors && status == BERTH_OK; i++) {
        status = take_shape(edit, &contracts.interpreter, s, i, &job);
      }
    }
    berth_contracts_free(&contracts);
  }
  *report = job.report;
  return status;
}
