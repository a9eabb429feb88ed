/* Lifetimes as TFLM counts them, for every tensor and scratch buffer of a model.
 *
 * They differ from those of berth/graph.h, whose steps are the main subgraph's operators: TFLM
 * counts one further for every operator of every subgraph in the order of execution, and once more
 * whenever it enters a called one. Time 0 is before the first operator, when inputs are set.
 * Source: AllocationInfoBuilder (micro_allocation_info.cc).
 */
#ifndef BERTH_SRC_STOCK_TFLM_LIFETIMES_H
#define BERTH_SRC_STOCK_TFLM_LIFETIMES_H

#include "berth/model.h"
#include "stock/tflm_forecast.h"

/* A scratch buffer that an operator has asked for. */
typedef struct berth_tflm_request {
  uint64_t bytes;
  uint32_t subgraph;
  uint32_t op;
} berth_tflm_request_t;

/* What TFLM knows about a tensor or a scratch buffer before planning (its AllocationInfo). */
typedef struct berth_tflm_info {
  uint64_t bytes;
  int32_t first, last; /* -1: never used */
  int32_t offset;      /* of the offline plan; -1: none */
  bool planned;        /* it gets memory in the head */
} berth_tflm_info_t;

typedef struct berth_tflm_lifetimes {
  const berth_model_t *model;
  const uint32_t *bases; /* index in `infos` of the first tensor of each subgraph */
  const berth_tflm_request_t *requests;
  uint32_t request_count;
  uint32_t tensor_count; /* of all subgraphs */
  berth_tflm_info_t
      *infos; /* the tensors, then the requests; `bytes`, `offset` and `planned` given */
} berth_tflm_lifetimes_t;

/* Fills `first` and `last`. FORMAT: subgraphs call each other in a circle, or more often than can
 * be followed. */
berth_status_t berth_tflm_find_lifetimes(berth_tflm_lifetimes_t *lifetimes,
                                         berth_tflm_error_t *error);

#endif
