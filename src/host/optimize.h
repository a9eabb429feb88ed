/* Makes a model smaller in the memory of stock runtimes, proves that it computes the same, and
 * writes it. What `berth optimize` does; it prints with optimize_print.c.
 *
 * The steps: shapes are fixed, what cannot change a bit is cleaned up, the operators are put in
 * order, a plan is made and stored in the metadata, the file is written under a temporary name, run
 * there against the original, and only then given its own name.
 */
#ifndef BERTH_SRC_HOST_OPTIMIZE_H
#define BERTH_SRC_HOST_OPTIMIZE_H

#include "host/complaint.h"
#include "host/execute.h"
#include "host/prove.h"
#include "optimize/cleanup.h"
#include "optimize/stock_plan.h"

#define BERTH_OPTIMIZE_SHAPES_MAX 64u /* most inputs that get another shape */

typedef struct berth_optimization_options {
  const char *output;      /* the .tflite to write; NULL: only tell what could be done */
  const char *header;      /* also the plan as a C header; NULL: no */
  uint32_t keep;           /* clean-ups to leave out: bit i is number i of optimize/cleanup.h */
  bool allow_rounding;     /* also fold what rounds differently: see berth_fold_scales */
  bool grow;               /* fold constants also where the file grows by it */
  bool keep_order;         /* the file's order of operators */
  bool no_plan;            /* no plan in the metadata */
  berth_overlap_t overlap; /* which tensors may share memory in the plan */
  bool diagonal;           /* with overlap INPLACE: also as far as reference loops allow */
  berth_tflm_kernel_set_t kernels; /* of the firmware: their scratch is planned for */
  bool no_verify;                  /* don't run original and result */
  const berth_named_shape_t *shapes;
  uint32_t shape_count;
} berth_optimization_options_t;

/* What stock TFLM will need for a model: 32-bit Arm, kernels as given (see tflm_forecast.h). */
typedef struct berth_stock_need {
  bool known; /* else the rest means nothing: TFLM would not run it, or an operator is unknown */
  const char *why_not;       /* not known: a static phrase */
  uint64_t head_bytes;       /* tensors and scratch */
  uint64_t arena_used_bytes; /* with what it keeps for good */
  uint64_t min_arena_bytes;  /* the smallest arena with which it starts */
} berth_stock_need_t;

typedef struct berth_optimization {
  const char *path;
  uint64_t file_bytes_before;
  uint64_t file_bytes;
  uint32_t operators_before;
  uint32_t operators;
  uint32_t moved;                       /* operators of the main subgraph whose place is another */
  berth_order_result_t order;           /* of the search; all zero without one */
  uint32_t cleaned[BERTH_CLEANUPS_MAX]; /* what each clean-up did */
  uint32_t scales_folded; /* MUL and ADD folded into convolutions, with `allow_rounding` */
  uint32_t tensors_dropped;
  uint32_t shapes_fixed;  /* tensors */
  uint32_t still_dynamic; /* tensors whose size is known only at run time */
  berth_stock_need_t before;
  berth_stock_need_t after;
  berth_tflm_forecast_t stock; /* the forecast behind `after`; all zero if there is none */
  berth_stock_plan_t plan;     /* offsets NULL: TFLM's own plan is as good, or none was asked for */
  bool proven;                 /* `proof` means something */
  berth_proof_t proof;
} berth_optimization_t;

/* Optimises `path`. OK also if the proof fails: no file is written then, and
 * berth_proof_holds(&optimization->proof) is false. */
berth_status_t berth_optimize(const char *path, const berth_optimization_options_t *options,
                              berth_optimization_t *optimization, berth_complaint_t *complaint);
void berth_optimization_free(berth_optimization_t *optimization);

/* The plan as a C header, for runtimes of one's own and TFLM's NonPersistentMemoryPlannerShim.
 * `path`: the header's own, from which its names are made. */
void berth_optimization_header(const berth_optimization_t *optimization, const char *path,
                               FILE *stream);

/* Prints it for people, or as JSON (docs/optimize-for-tflm.md describes the keys). */
void berth_optimization_print(const berth_optimization_t *optimization,
                              const berth_optimization_options_t *options, FILE *stream);
void berth_optimization_json(const berth_optimization_t *optimization,
                             const berth_optimization_options_t *options, FILE *stream);

#endif
