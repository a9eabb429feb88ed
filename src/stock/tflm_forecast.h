/* What stock TFLM will report and need for a model, predicted from the file.
 *
 * TFLM keeps everything in one arena: planned tensors and scratch at its start (the head), what the
 * interpreter and the kernels keep for good at its end (the tail). It reports the sum of the two as
 * arena_used_bytes(), but AllocateTensors also borrows memory between the two, for the kernels'
 * Prepare and for planning, and may need a larger arena than it reports.
 *
 *   berth_tflm_settings_t settings = {.abi = BERTH_ABI_ARM};
 *   berth_tflm_forecast_t forecast;
 *   if (berth_tflm_forecast(&model, &settings, &forecast, NULL) == BERTH_OK) {
 *     use(forecast.head_bytes, forecast.min_arena_bytes);
 *     berth_tflm_forecast_free(&forecast);
 *   }
 *
 * It is the MicroInterpreter of tflite-micro at commit 90b983c2 with its own MicroAllocator and
 * GreedyMemoryPlanner, without resource variables, over an arena aligned to 16.
 * docs/tflm-forecast.md states the rules and how they are checked. Uses the heap. Cost: that of
 * TFLM's planner, and linear in the model otherwise.
 */
#ifndef BERTH_SRC_STOCK_TFLM_FORECAST_H
#define BERTH_SRC_STOCK_TFLM_FORECAST_H

#include "berth/model.h"
#include "berth/status.h"
#include "stock/tflm_layout.h"
#include <stdbool.h>

/* Which kernels the firmware is built with. */
typedef enum berth_tflm_kernel_set {
  BERTH_TFLM_REFERENCE, /* TFLM's portable kernels */
  BERTH_TFLM_CMSIS_NN   /* Arm's, on Cortex-M with the DSP extension: see docs/tflm-forecast.md */
} berth_tflm_kernel_set_t;

/* "reference" or "CMSIS-NN"; static. */
const char *berth_tflm_kernel_set_name(berth_tflm_kernel_set_t kernels);

/* Zero-initialise for the defaults. */
typedef struct berth_tflm_settings {
  berth_abi_t abi;
  berth_tflm_kernel_set_t kernels;
  const int32_t *offsets; /* an offline plan to assume instead of the model's own: a byte offset for
                             each tensor of all subgraphs, -1: TFLM's choice. NULL: the model's */
  uint32_t offset_count;  /* as many as there are tensors in all subgraphs */
} berth_tflm_settings_t;

/* What the tail consists of, in the order in which it is allocated. */
typedef enum berth_tflm_part {
  BERTH_TFLM_ALLOCATOR,    /* the allocators' and the planner's own objects */
  BERTH_TFLM_EVAL_TENSORS, /* a TfLiteEvalTensor for every tensor, constants included */
  BERTH_TFLM_NODES,        /* a NodeAndRegistration for every operator */
  BERTH_TFLM_OPTIONS,      /* the operators' parsed options */
  BERTH_TFLM_OP_DATA,      /* what the kernels' Init allocates */
  BERTH_TFLM_PREPARED,     /* what their Prepare allocates: multipliers of every channel, tables */
  BERTH_TFLM_HANDLES,      /* a pointer for every scratch buffer */
  BERTH_TFLM_VARIABLES,    /* variable tensors that no offline plan places */
  BERTH_TFLM_IO_TENSORS,   /* a TfLiteTensor for every input and output, and pointers to them */
  BERTH_TFLM_IO_QUANT,     /* their quantization: scales stay in the file, zero points do not */
  BERTH_TFLM_PART_COUNT
} berth_tflm_part_t;

/* "tensor structs" and the like; static. */
const char *berth_tflm_part_name(berth_tflm_part_t part);

typedef struct berth_tflm_share {
  uint64_t bytes;     /* with the padding that alignment costs; all shares make up the tail */
  uint64_t requested; /* without it */
  uint32_t count;     /* allocations */
} berth_tflm_share_t;

/* What one operator takes. */
typedef struct berth_tflm_operator {
  uint32_t subgraph;
  uint32_t op;
  uint64_t options_bytes;   /* unrounded, as are all here */
  uint64_t data_bytes;      /* by Init */
  uint64_t prepared_bytes;  /* by Prepare, persistent */
  uint64_t scratch_bytes;   /* all scratch buffers together, during its invocation */
  uint64_t temporary_bytes; /* TfLiteTensors that Prepare borrows */
  uint32_t scratch_count;
  bool known;          /* false: the kernel's needs are unknown, and counted as none (or, with
                          CMSIS-NN, as far as they are known) */
  const char *refusal; /* why TFLM does not run it; static; NULL: it does, or it's unknown */
} berth_tflm_operator_t;

/* A buffer of the head. */
typedef struct berth_tflm_buffer {
  uint64_t bytes;  /* unrounded; TFLM plans multiples of 16 */
  uint64_t offset; /* from the arena's start */
  uint32_t subgraph;
  uint32_t tensor; /* UINT32_MAX: scratch */
  uint32_t op;     /* scratch: whose; UINT32_MAX: a tensor */
  int32_t first;   /* TFLM's count: 0 while inputs are set, then one up for each operator; -1: TFLM
                      never uses it, but plans it */
  int32_t last;
  bool offline; /* its offset is the offline plan's */
} berth_tflm_buffer_t;

/* Which moment needs the largest arena. */
typedef enum berth_tflm_moment {
  BERTH_TFLM_AT_PREPARE, /* a kernel's Prepare: see `moment_operator` */
  BERTH_TFLM_AT_PLANNING,
  BERTH_TFLM_AT_END /* all in place: nothing that is borrowed matters */
} berth_tflm_moment_t;

typedef struct berth_tflm_forecast {
  berth_abi_t abi;
  berth_tflm_kernel_set_t kernels;
  uint64_t head_bytes;       /* planned tensors and scratch */
  uint64_t tail_bytes;       /* persistent */
  uint64_t arena_used_bytes; /* what arena_used_bytes() returns: head + tail */
  uint64_t min_arena_bytes;  /* smallest multiple of 16 with which AllocateTensors succeeds */

  berth_tflm_moment_t moment; /* which of the three needs min_arena_bytes; the last if several do */
  uint32_t moment_operator;   /* AT_PREPARE: index in `operators` */
  uint64_t prepare_bytes;     /* arena that the hungriest Prepare needs */
  uint64_t planning_bytes;    /* arena that planning needs, which is made up of: */
  uint64_t planning_tail_bytes;    /*   the tail at that time, */
  uint64_t planning_request_bytes; /*   scratch requests, room for 12 more included, */
  uint64_t planning_info_bytes;    /*   an AllocationInfo for every tensor and scratch buffer, */
  uint64_t planning_planner_bytes; /*   and 40 bytes for every buffer of the head */

  berth_tflm_share_t tail[BERTH_TFLM_PART_COUNT];
  uint32_t operator_count;
  uint32_t buffer_count;
  uint32_t unknown_count;           /* operators that are not known: the forecast is then too low */
  uint32_t refused_count;           /* operators that TFLM refuses: it would not run this model */
  bool offline;                     /* an offline plan was followed */
  berth_tflm_operator_t *operators; /* of all subgraphs; heap */
  berth_tflm_buffer_t *buffers;     /* of the head, in the order in which TFLM adds them; heap */
} berth_tflm_forecast_t;

/* Where and why a forecast failed. */
typedef struct berth_tflm_error {
  const char *what;  /* a phrase such as "a tensor's size is unknown to TFLM"; static */
  uint32_t subgraph; /* UINT32_MAX: none, likewise below */
  uint32_t op;
  uint32_t tensor;
} berth_tflm_error_t;

/* Fills `*forecast`; `settings` NULL: the defaults. Operators that are unknown or refused are no
 * failure: they are counted and marked. Errors: FORMAT (TFLM would refuse the model for other
 * reasons: a malformed offline plan, a type without a size, subgraphs calling each other in a
 * circle), ARGUMENT (settings), OVERFLOW, MEMORY. `*error` (may be NULL) is set on FORMAT and
 * OVERFLOW. */
berth_status_t berth_tflm_forecast(const berth_model_t *model,
                                   const berth_tflm_settings_t *settings,
                                   berth_tflm_forecast_t *forecast, berth_tflm_error_t *error);

void berth_tflm_forecast_free(berth_tflm_forecast_t *forecast);

#endif
