/* What `berth inspect --json` prints: the keys of every document, then operators and tensors. */
#include "host/advice.h"
#include "host/anatomy.h"
#include "host/forecast.h"
#include "host/json.h"
#include "host/model_print.h"
#include "host/running.h"

#include <stdlib.h>

static void write_ints(const char *key, berth_vector_t vector, berth_json_t *json) {
  berth_json_open_line(json, key, '[');
  for (uint32_t i = 0; i < vector.count; i++) {
    berth_json_signed(json, NULL, berth_vector_int(vector, i));
  }
  berth_json_close(json, ']');
}

static void write_operator(const berth_subject_t *subject, uint32_t subgraph, uint32_t index,
                           const uint64_t *live, berth_json_t *json) {
  berth_operator_t op = berth_model_operator(&subject->model, subgraph, index);
  berth_text_t name = berth_operator_name(&op);
  bool foldable = false;
  if (op.outputs.count > 0 && berth_vector_int(op.outputs, 0) != BERTH_NO_TENSOR) {
    uint32_t output = (uint32_t)berth_vector_int(op.outputs, 0);
    foldable = subject->graph.tensors[subject->graph.bases[subgraph] + output].foldable;
  }
  berth_json_open_line(json, NULL, '{');
  berth_json_number(json, "subgraph", subgraph);
  berth_json_number(json, "operator", index);
  berth_json_text(json, "name", name.data, name.length);
  if (subgraph == 0) {
    berth_json_number(json, "live_bytes", live[index]);
  } else {
    berth_json_null(json, "live_bytes");
  }
  berth_json_bool(json, "foldable", foldable);
  write_ints("inputs", op.inputs, json);
  write_ints("outputs", op.outputs, json);
  berth_json_close(json, '}');
}

static void index_or_null(const char *key, uint32_t index, berth_json_t *json) {
  if (index == BERTH_NOBODY) {
    berth_json_null(json, key);
  } else {
    berth_json_number(json, key, index);
  }
}

static void write_tensor(const berth_subject_t *subject, const berth_graph_tensor_t *tensor,
                         berth_json_t *json) {
  berth_tensor_t info = berth_model_tensor(&subject->model, tensor->subgraph, tensor->tensor);
  bool lives =
      tensor->allocation != BERTH_ALLOCATION_NONE && tensor->allocation != BERTH_ALLOCATION_MMAP_RO;
  berth_json_open_line(json, NULL, '{');
  berth_json_number(json, "subgraph", tensor->subgraph);
  berth_json_number(json, "tensor", tensor->tensor);
  berth_json_text(json, "name", info.name.data, info.name.length);
  berth_json_string(json, "type", berth_tensor_type_name(info.type));
  write_ints("shape", info.shape, json);
  write_ints("shape_signature", info.signature, json);
  berth_json_string(json, "allocation", berth_allocation_name(tensor->allocation));
  if (tensor->allocation == BERTH_ALLOCATION_DYNAMIC) {
    berth_json_null(json, "bytes");
  } else {
    berth_json_number(json, "bytes", tensor->bytes);
  }
  index_or_null("first", lives ? tensor->first : BERTH_NOBODY, json);
  index_or_null("last", lives ? tensor->last : BERTH_NOBODY, json);
  index_or_null("producer", tensor->producer, json);
  index_or_null("last_reader", tensor->last_reader, json);
  berth_json_bool(json, "foldable", tensor->foldable);
  berth_json_close(json, '}');
}

bool berth_model_write_json(const berth_plan_report_t *report, FILE *stream) {
  const berth_subject_t *subject = report->subject;
  uint64_t *live = berth_load_by_step(subject, NULL, 0);
  if (live == NULL) return false;
  berth_json_t json = berth_json_to(stream);
  berth_json_open(&json, NULL, '{');
  berth_plan_json_summary(report, &json);
  if (report->forecast != NULL) {
    berth_forecast_write_json(report->forecast, &subject->model, &json);
  }
  berth_json_open(&json, "operators", '[');
  for (uint32_t s = 0; s < subject->model.subgraph_count; s++) {
    uint32_t count = berth_model_subgraph(&subject->model, s).operator_count;
    for (uint32_t i = 0; i < count; i++) write_operator(subject, s, i, live, &json);
  }
  berth_json_close(&json, ']');
  berth_json_open(&json, "tensors", '[');
  for (uint32_t i = 0; i < subject->graph.tensor_count; i++) {
    write_tensor(subject, &subject->graph.tensors[i], &json);
  }
  berth_json_close(&json, ']');
  berth_plan_json_buffers(report, &json);
  if (report->running != NULL) {
    berth_running_json(report->running, subject, report->outcome->plan.peak, report->instances,
                       &json);
  }
  if (report->advices != NULL) berth_advices_json(report->advices, &json);
  berth_json_close(&json, '}');
  free(live);
  return true;
}
