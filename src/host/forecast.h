/* The memory that a stock runtime needs for a model, for every command that shows or checks it. */
#ifndef BERTH_SRC_HOST_FORECAST_H
#define BERTH_SRC_HOST_FORECAST_H

#include "host/complaint.h"
#include "host/json.h"
#include "host/subject.h"
#include "stock/tflite_forecast.h"
#include "stock/tflm_forecast.h"
#include <stdio.h>

typedef enum berth_runtime {
  BERTH_RUNTIME_NONE, /* no forecast is wanted */
  BERTH_RUNTIME_TFLM,
  BERTH_RUNTIME_TFLITE
} berth_runtime_t;

/* Zero-initialise for none. */
typedef struct berth_forecast_options {
  berth_runtime_t runtime;
  berth_tflm_settings_t tflm;
} berth_forecast_options_t;

typedef struct berth_forecast {
  berth_forecast_options_t options;
  berth_tflm_forecast_t tflm;     /* runtime TFLM */
  berth_tflite_forecast_t tflite; /* runtime TFLITE */
} berth_forecast_t;

/* Makes the forecast that is wanted for a model at `path` (for messages only). */
berth_status_t berth_forecast_make(const berth_model_t *model, const char *path,
                                   const berth_forecast_options_t *options,
                                   berth_forecast_t *forecast, berth_complaint_t *complaint);
void berth_forecast_free(berth_forecast_t *forecast);

/* For people. False: out of memory. */
bool berth_forecast_print(const berth_forecast_t *forecast, const berth_model_t *model,
                          FILE *stream);

/* The member "forecast" of the document that is open. */
void berth_forecast_write_json(const berth_forecast_t *forecast, const berth_model_t *model,
                               berth_json_t *json);

#endif
