/* Makes forecasts, and turns their errors into messages. */
#include "host/forecast.h"

static berth_status_t fail(berth_status_t status, const char *path, const char *what,
                           const uint32_t where[3], berth_complaint_t *complaint) {
  static const char *const names[3] = {"subgraph", "operator", "tensor"};
  char place[96] = "";
  size_t used = 0;
  for (int i = 0; i < 3; i++) {
    if (where[i] == UINT32_MAX) continue;
    used += (size_t)snprintf(place + used, sizeof place - used, "%s%s %u", used > 0 ? ", " : " (",
                             names[i], (unsigned)where[i]);
  }
  berth_complain(complaint, "%s: %s%s%s", path, what, place, used > 0 ? ")" : "");
  return status;
}

static berth_status_t forecast_tflm(const berth_model_t *model, const char *path,
                                    const berth_forecast_options_t *options,
                                    berth_tflm_forecast_t *forecast, berth_complaint_t *complaint) {
  berth_tflm_error_t error;
  berth_status_t status = berth_tflm_forecast(model, &options->tflm, forecast, &error);
  if (status == BERTH_OK) return status;
  const uint32_t where[3] = {error.subgraph, error.op, error.tensor};
  bool told = status == BERTH_ERROR_FORMAT || status == BERTH_ERROR_OVERFLOW;
  return fail(status, path, told ? error.what : berth_status_text(status), where, complaint);
}

static berth_status_t forecast_tflite(const berth_model_t *model, const char *path,
                                      berth_tflite_forecast_t *forecast,
                                      berth_complaint_t *complaint) {
  berth_graph_error_t error = {"", UINT32_MAX, UINT32_MAX, UINT32_MAX};
  berth_status_t status = berth_tflite_forecast(model, forecast, &error);
  if (status == BERTH_OK) return status;
  const uint32_t where[3] = {error.subgraph, error.op, error.tensor};
  bool told = error.what[0] != '\0';
  return fail(status, path, told ? error.what : berth_status_text(status), where, complaint);
}

berth_status_t berth_forecast_make(const berth_model_t *model, const char *path,
                                   const berth_forecast_options_t *options,
                                   berth_forecast_t *forecast, berth_complaint_t *complaint) {
  *forecast = (berth_forecast_t){.options = *options};
  switch (options->runtime) {
  case BERTH_RUNTIME_TFLM:
    return forecast_tflm(model, path, options, &forecast->tflm, complaint);
  case BERTH_RUNTIME_TFLITE:
    return forecast_tflite(model, path, &forecast->tflite, complaint);
  default:
    return BERTH_OK;
  }
}

void berth_forecast_free(berth_forecast_t *forecast) {
  berth_tflm_forecast_free(&forecast->tflm);
}
