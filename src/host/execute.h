/* Runs a model for a person: inputs from files or made up, invokes, times, outputs to files.
 *
 * What it measured stays in a berth_execution_t for whoever prints it (execute_print.c).
 */
#ifndef BERTH_SRC_HOST_EXECUTE_H
#define BERTH_SRC_HOST_EXECUTE_H

#include "host/named_shape.h"
#include "host/plan_file.h"
#include "host/planning.h"
#include "host/replay.h"
#include "host/runner.h"
#include "host/subject.h"
#include "host/verdict.h"

/* A graph input's values. */
typedef struct berth_input_file {
  const char *name; /* the tensor's, the signature's for it, or its number */
  const char *path; /* raw little-endian values */
} berth_input_file_t;

typedef struct berth_execution_options {
  berth_runner_options_t runner; /* observe, user and shapes are the execution's own */
  const berth_input_file_t *inputs;
  uint32_t input_count;
  const berth_named_shape_t *shapes;
  uint32_t shape_count;
  bool random; /* inputs without a file: pseudo-random from `seed`, else zero */
  uint64_t seed;
  uint32_t invokes;       /* at least 1 */
  const char *output_dir; /* NULL: outputs are not written. out<k>.bin, or run<n>.out<k>.bin */
  bool profile;           /* time each operator */
  bool watch;             /* sample the process's memory over the invokes */
  bool usage;             /* keep where every buffer lies, and what each operator needs */
} berth_execution_options_t;

/* One operator of the main subgraph. */
typedef struct berth_operator_profile {
  double ms;             /* shortest of all invokes, with the subgraphs that it calls */
  double rows_ms;        /* of its rows in the current invoke, so far */
  uint64_t live_bytes;   /* of tensors in the arena in its step */
  uint64_t output_bytes; /* that it writes */
} berth_operator_profile_t;

#define BERTH_SAMPLES 60u

/* Memory after an invoke. */
typedef struct berth_sample {
  uint32_t invoke;
  uint64_t resident_bytes;   /* of the process */
  uint64_t high_water_bytes; /* of the interpreter's activations, dynamic tensors included */
} berth_sample_t;

typedef struct berth_execution {
  berth_runner_t runner;
  double ms_min; /* of an invoke */
  double ms_median;
  uint32_t invokes;
  uint32_t row_pieces; /* in which graph outputs came row by row, in the last invoke */
  berth_operator_profile_t *operators; /* NULL without profile */
  uint32_t operator_count;
  berth_verdicts_t verdicts;             /* of the guard */
  berth_sample_t samples[BERTH_SAMPLES]; /* with `watch`, evenly over the invokes */
  uint32_t sample_count;
  berth_subject_t subject; /* with `usage`: the buffers, as the interpreter has placed them */
  berth_outcome_t placed;  /* likewise */
  bool has_usage;
  uint32_t dynamic_bytes; /* high-water mark of tensors whose size was known only at run time */
} berth_execution_t;

/* Opens, runs, writes; on OK the execution stays open so that outputs can be looked at. */
berth_status_t berth_execute(const char *path, const berth_execution_options_t *options,
                             berth_execution_t *execution, berth_complaint_t *complaint);
void berth_execution_close(berth_execution_t *execution);

/* The buffers as they lie in the memory of a run with `usage`: a report with a plan. */
berth_plan_report_t berth_execution_report(const berth_execution_t *execution);

/* Prints it for people, or as JSON (design: "Fixed words"). False: out of memory. */
bool berth_execution_print(const berth_execution_t *execution, FILE *stream);
bool berth_execution_json(const berth_execution_t *execution, FILE *stream);

#endif
