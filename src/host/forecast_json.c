/* A forecast as JSON. */
#include "host/forecast.h"

static void write_operator(const berth_tflm_operator_t *record, const berth_model_t *model,
                           berth_json_t *json) {
  berth_operator_t op = berth_model_operator(model, record->subgraph, record->op);
  berth_text_t name = berth_operator_name(&op);
  berth_json_open_line(json, NULL, '{');
  berth_json_number(json, "subgraph", record->subgraph);
  berth_json_number(json, "operator", record->op);
  berth_json_text(json, "name", name.data, name.length);
  berth_json_bool(json, "known", record->known);
  if (record->refusal != NULL) berth_json_string(json, "refusal", record->refusal);
  berth_json_number(json, "options_bytes", record->options_bytes);
  berth_json_number(json, "data_bytes", record->data_bytes);
  berth_json_number(json, "prepared_bytes", record->prepared_bytes);
  berth_json_number(json, "scratch_bytes", record->scratch_bytes);
  berth_json_number(json, "temporary_bytes", record->temporary_bytes);
  berth_json_close(json, '}');
}

static void write_tflm(const berth_tflm_forecast_t *forecast, const berth_model_t *model,
                       berth_json_t *json) {
  static const char *const moments[] = {"prepare", "planning", "end"};
  berth_json_string(json, "abi", berth_abi_name(forecast->abi));
  berth_json_string(json, "kernels", berth_tflm_kernel_set_name(forecast->kernels));
  berth_json_number(json, "head_bytes", forecast->head_bytes);
  berth_json_number(json, "tail_bytes", forecast->tail_bytes);
  berth_json_number(json, "arena_used_bytes", forecast->arena_used_bytes);
  berth_json_number(json, "min_arena_bytes", forecast->min_arena_bytes);
  berth_json_string(json, "largest_need_at", moments[forecast->moment]);
  berth_json_number(json, "prepare_bytes", forecast->prepare_bytes);
  berth_json_number(json, "planning_bytes", forecast->planning_bytes);
  berth_json_bool(json, "offline_plan", forecast->offline);
  berth_json_number(json, "unknown_operators", forecast->unknown_count);
  berth_json_number(json, "refused_operators", forecast->refused_count);
  berth_json_open(json, "tail", '{');
  for (uint32_t i = 0; i < BERTH_TFLM_PART_COUNT; i++) {
    berth_json_number(json, berth_tflm_part_name((berth_tflm_part_t)i), forecast->tail[i].bytes);
  }
  berth_json_close(json, '}');
  berth_json_open(json, "operators", '[');
  for (uint32_t i = 0; i < forecast->operator_count; i++) {
    write_operator(&forecast->operators[i], model, json);
  }
  berth_json_close(json, ']');
}

static void write_tflite(const berth_tflite_forecast_t *forecast, berth_json_t *json) {
  berth_json_number(json, "head_bytes", forecast->head_bytes);
  berth_json_number(json, "tail_bytes", forecast->tail_bytes);
  berth_json_number(json, "arena_used_bytes", forecast->arena_used_bytes);
  berth_json_number(json, "min_arena_bytes", forecast->arena_used_bytes);
  berth_json_number(json, "dynamic_tensors", forecast->dynamic_count);
}

void berth_forecast_write_json(const berth_forecast_t *forecast, const berth_model_t *model,
                               berth_json_t *json) {
  bool tflm = forecast->options.runtime == BERTH_RUNTIME_TFLM;
  berth_json_open(json, "forecast", '{');
  berth_json_string(json, "runtime", tflm ? "tflm" : "tflite");
  if (tflm) {
    write_tflm(&forecast->tflm, model, json);
  } else {
    write_tflite(&forecast->tflite, json);
  }
  berth_json_close(json, '}');
}
