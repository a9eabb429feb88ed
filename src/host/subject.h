/* What a command plans: a model or a problem file, as buffers with names.
 *
 * Every command that plans opens its file through here, so that `plan`, `inspect` and whatever
 * comes later agree on which buffers there are and what they are called.
 */
#ifndef BERTH_SRC_HOST_SUBJECT_H
#define BERTH_SRC_HOST_SUBJECT_H

#include "berth/alias.h"
#include "berth/graph.h"
#include "berth/model.h"
#include "berth/plan.h"
#include "host/complaint.h"
#include "host/map.h"
#include "host/what_if.h"

/* An application's own buffer, planned along with the tensors. */
typedef struct berth_reserve {
  const char *name;
  uint64_t bytes;
  bool every_step; /* else from `first` to `last` */
  uint32_t first;
  uint32_t last;
} berth_reserve_t;

/* A memory, by name. */
typedef struct berth_named_region {
  const char *name;
  berth_region_t region;
} berth_named_region_t;

/* How a file becomes buffers. */
typedef struct berth_subject_options {
  uint32_t align;     /* 0: 16 for models, 1 for problems */
  bool exact_sizes;   /* sizes of tensors are not rounded up to the alignment */
  bool keep_inputs;   /* graph inputs live to the last step */
  bool keep_foldable; /* the results of operators on constants are planned, too */
  const berth_reserve_t *reserves;
  uint32_t reserve_count;
  const berth_named_region_t *regions;
  uint32_t region_count;
  const char *pairs_path;  /* NULL: none */
  berth_what_if_t what_if; /* models only: changes to plan with */
  bool share;              /* models only: tensors may share memory, as Berth's contracts permit */
  berth_overlap_t overlap; /* with `share`: which */
  bool diagonal;           /* with `share`: by what TFLM's reference kernels permit instead, and an
                              output may also reach into a dying input (stock/diagonal.h) */
  bool clean;      /* models only: cleaned up first as berth optimize does (optimize/cleanup.h);
                      operators are then those that are left, tensors keep their numbers */
  bool best_order; /* models only: operators in the order with the smallest peak */
  const uint32_t *order; /* or in this one: the operator of each step; NULL: the file's order */
  bool kernels; /* models only: plan the scratch and workspace of Berth's own kernels along */
} berth_subject_options_t;

/* Who a buffer is. */
typedef struct berth_label {
  berth_text_t name; /* UTF-8 at best; not NUL-terminated */
  uint64_t bytes;    /* before rounding */
  uint32_t subgraph; /* BERTH_NOBODY unless it is a tensor */
  uint32_t tensor;
  berth_buffer_kind_t kind;
  bool has_kind;        /* false in a problem, where nobody says */
  uint32_t op_subgraph; /* of scratch and workspace: whose it is; likewise below */
  uint32_t op;
  uint32_t part; /* scratch: its number; workspace: 0 for what has no meaning, 1 for state */
} berth_label_t;

/* The blocks that a subject owns, NULL where there is none. */
enum {
  BERTH_SUBJECT_GROUND, /* of a model: its analysis; else the texts that labels point to */
  BERTH_SUBJECT_BUFFERS,
  BERTH_SUBJECT_ORIGINS, /* of a model: the tensors of the buffers; of a plan: its regions' names */
  BERTH_SUBJECT_PAIRS,   /* from a file */
  BERTH_SUBJECT_LABELS,
  BERTH_SUBJECT_REGIONS,
  BERTH_SUBJECT_KERNELS, /* what plans scratch and workspace along */
  BERTH_SUBJECT_CLEANED, /* bytes of the model, cleaned up */
  BERTH_SUBJECT_ORDERED, /* bytes of the model with its operators in another order */
  BERTH_SUBJECT_ORDER,   /* that order */
  BERTH_SUBJECT_SHARING, /* pairs of buffers that share memory */
  BERTH_SUBJECT_BLOCKS
};

typedef struct berth_subject {
  const char *path;
  bool is_model;
  berth_host_map_t map;
  berth_model_t model;   /* if is_model */
  const uint32_t *order; /* the file's operator for each operator of `model`; NULL: the same */
  berth_graph_t graph;   /* if is_model */
  berth_problem_t problem;
  berth_buffer_t *buffers; /* those of `problem` */
  berth_label_t *labels;   /* of each buffer */
  const berth_named_region_t *regions;
  uint32_t step_count;        /* steps are 0 .. step_count - 1 */
  uint64_t sum_bytes;         /* of all buffers */
  uint64_t variable_bytes;    /* of the variables among them */
  uint32_t unknown_operators; /* with `kernels`: those that Berth has no kernel for */
  uint32_t way; /* how inputs and outputs go when it is streamed (host/streaming.h), as was found
                   out along with its order; 0: not known */
  void *memory[BERTH_SUBJECT_BLOCKS]; /* what berth_subject_close frees */
} berth_subject_t;

/* Opens a file: a .tflite (known by the mark in it) or a problem in CSV (known by its name). On
 * failure, nothing stays open. `path` and what `options` points to must outlive the subject. */
berth_status_t berth_subject_open(const char *path, const berth_subject_options_t *options,
                                  berth_subject_t *subject, berth_complaint_t *complaint);
void berth_subject_close(berth_subject_t *subject);

/* Sum and load lower bound of a model, folded or not, other options alike. */
typedef struct berth_totals {
  uint64_t sum_bytes;
  uint64_t lower_bound_bytes;
} berth_totals_t;
berth_status_t berth_subject_totals(const berth_subject_t *subject,
                                    const berth_subject_options_t *options, bool folded,
                                    berth_totals_t *totals, berth_complaint_t *complaint);

/* The load lower bound of the subject's problem and the first step that reaches it. */
berth_status_t berth_subject_load(const berth_problem_t *problem, uint64_t *load, uint32_t *step,
                                  berth_complaint_t *complaint);

#endif
