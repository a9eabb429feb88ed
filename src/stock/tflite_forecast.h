/* The arenas that stock TensorFlow Lite allocates for a model's tensors, predicted from the file.
 *
 * Each subgraph has an ArenaPlanner of its own with two arenas, both aligned to 64: one in which
 * tensors share memory, one for what persists: variables, and weights that are decompressed once
 * (DEQUANTIZE and DENSIFY of constants). Inputs are kept to the end, and so is what nobody reads.
 *
 * What TFLite takes besides is not in the file: kernels' temporary tensors (im2col and others,
 * planned into the same arena), its own objects on the heap, delegates such as XNNPACK. The figures
 * are the arenas' share for tensors, a lower bound of the whole. Source: arena_planner.cc and
 * simple_memory_arena.cc of TensorFlow Lite, without the sharing in place of newer versions.
 */
#ifndef BERTH_SRC_STOCK_TFLITE_FORECAST_H
#define BERTH_SRC_STOCK_TFLITE_FORECAST_H

#include "berth/graph.h"

typedef struct berth_tflite_forecast {
  uint64_t head_bytes;       /* all arenas of tensors that share memory */
  uint64_t tail_bytes;       /* all persistent arenas */
  uint64_t arena_used_bytes; /* both */
  uint32_t tensor_count;     /* tensors in the arenas */
  uint32_t dynamic_count;    /* tensors whose size only shows when running: not counted */
} berth_tflite_forecast_t;

/* Fills `*forecast`; uses the heap. Errors: those of berth_graph_analyse, `*error` (may be NULL) as
 * there; MEMORY; OVERFLOW. */
berth_status_t berth_tflite_forecast(const berth_model_t *model, berth_tflite_forecast_t *forecast,
                                     berth_graph_error_t *error);

#endif
