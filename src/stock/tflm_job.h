/* The forecast at work: what its phases share. They are, in TFLM's order: construction and the
 * start (tflm_forecast.c), the operators (tflm_operators.c), planning (tflm_planning.c), and inputs
 * and outputs at the end (tflm_forecast.c).
 */
#ifndef BERTH_SRC_STOCK_TFLM_JOB_H
#define BERTH_SRC_STOCK_TFLM_JOB_H

#include "stock/tflm_arena.h"
#include "stock/tflm_forecast.h"
#include "stock/tflm_lifetimes.h"

#define BERTH_TFLM_NONE UINT32_MAX

/* Structs of TFLM that more than one phase needs. */
#define BERTH_TFLM_TENSOR       "(ip)2i2pz2ib" /* TfLiteTensor, quantization first */
#define BERTH_TFLM_QUANTIZATION "2pi"          /* TfLiteAffineQuantization */

typedef struct berth_tflm_job {
  const berth_model_t *model;
  berth_tflm_settings_t settings;
  berth_tflm_error_t *error;
  berth_tflm_forecast_t *forecast;
  berth_tflm_arena_t arena;
  uint32_t *bases; /* first tensor of each subgraph in a list of all */
  uint32_t tensor_count;
  berth_tflm_request_t *requests;
  uint32_t request_count, request_capacity;
  berth_tflm_info_t *infos; /* tensors, then requests */
  berth_vector_t offsets;   /* the offline plan; empty: none */
} berth_tflm_job_t;

/* Sets the error; returns `status`. */
berth_status_t berth_tflm_fail(berth_tflm_job_t *job, berth_status_t status, const char *what,
                               uint32_t subgraph, uint32_t op, uint32_t tensor);

/* A persistent allocation, booked under `part`: of a size, of `count` structs in a row, or of a
 * buffer for whoever asks, which TFLM aligns to 16. */
void berth_tflm_keep(berth_tflm_job_t *job, berth_tflm_part_t part, uint64_t size, uint64_t align);
void berth_tflm_keep_structs(berth_tflm_job_t *job, berth_tflm_part_t part, const char *members,
                             uint64_t count);
void berth_tflm_keep_buffer(berth_tflm_job_t *job, berth_tflm_part_t part, uint64_t size);

/* Makes room in the head for the scratch requests so far and one more operator's. */
void berth_tflm_resize_requests(berth_tflm_job_t *job);

/* Has TFLM quantization parameters for this tensor? */
static inline bool berth_tflm_is_quantized(const berth_tensor_t *tensor) {
  return tensor->scales.count > 0 && tensor->zero_points.count > 0;
}

/* Bytes of their zero points: copied, since the file has them in 64 bits. */
static inline uint64_t berth_tflm_zero_point_bytes(const berth_tensor_t *tensor) {
  return 4 * (1 + (uint64_t)tensor->scales.count);
}

/* Options, Init and Prepare of all operators: tflm_operators.c. */
berth_status_t berth_tflm_run_operators(berth_tflm_job_t *job);

/* FinishModelAllocation: tflm_planning.c. */
berth_status_t berth_tflm_finish_model(berth_tflm_job_t *job);

#endif
