/* Options of the command line: one table (option_table.c) says which there are, what they mean and
 * which command takes them; parsing and --help both follow it. */
#ifndef BERTH_CLI_OPTIONS_H
#define BERTH_CLI_OPTIONS_H

#include "host/execute.h"
#include "host/forecast.h"
#include "host/limit_check.h"
#include "host/optimize.h"
#include "host/settings.h"
#include "host/sweep.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Which commands take an option, a bit each. */
enum {
  FOR_INSPECT = 1,
  FOR_PLAN = 2,
  FOR_RUN = 4,
  FOR_CHECK_PLAN = 8,
  FOR_BISECT = 16,
  FOR_REPORT = 32,
  FOR_CHECK = 64,
  FOR_OPTIMIZE = 128,
  FOR_GRAPH = 256,
  FOR_TRACE = 512,
  FOR_DIFF = 1024,
  FOR_LOG = 2048,
  FOR_ALL = 4095
};

#define RESERVES_MAX 256
#define INPUTS_MAX   64

typedef struct options {
  const char *path;               /* the one file that commands take */
  const char *second;             /* check-plan: the plan; report: the file after; or NULL */
  bool compare;                   /* run: with every tensor in its own memory */
  const berth_planner_t *planner; /* NULL with all_planners */
  bool all_planners;
  bool planner_given;
  bool overlap_given;
  bool no_reuse;
  bool conflicts;
  bool json;
  bool minimize;
  bool print_usage;
  bool print_allocations;
  berth_sweep_t sweep;
  uint32_t instances;            /* 0: not asked for */
  berth_check_runtime_t runtime; /* check: whose arena is meant */
  berth_tflm_settings_t stock;   /* the target of stock TFLM, and its kernels */
  bool stock_given;              /* not the default ones */
  uint64_t max_arena;            /* check: bytes; 0: not given */
  bool untimed;                  /* trace: nothing is run */
  const char *history;           /* log: the file */
  const char *label;             /* log: what to call this version, or NULL */
  const char *accuracy;          /* log: as given, or NULL */
  bool show_only;                /* log: append nothing */
  bool help;
  const char *like;              /* "tflm", "tflite" or NULL */
  berth_runtime_t stock_runtime; /* inspect: whose memory is forecast */
  const char *output;            /* NULL: none */
  const char *svg;               /* NULL: none */
  const char *png;               /* NULL: none */
  berth_subject_options_t subject;
  berth_planning_t planning;
  berth_streaming_options_t streaming;
  berth_reserve_t reserves[RESERVES_MAX];
  berth_named_region_t regions[BERTH_REGIONS_MAX];
  berth_execution_options_t execution;
  berth_optimization_options_t optimization; /* shapes are in `execution` */
  berth_input_file_t inputs[INPUTS_MAX];
  berth_named_shape_t shapes[INPUTS_MAX];
  uint32_t shape_count;
  const char *dropped[INPUTS_MAX]; /* names of outputs */
  const char *int8[INPUTS_MAX];    /* names of tensors */
  const char *replay;              /* a folder, or NULL */
  double tolerance;
  char *names; /* of reserves, regions, inputs and shapes, NUL after each, on the heap */
  size_t names_used;
} options_t;

/* Parses argv[1..]. False: wrong usage, which has been told on standard error. */
bool options_parse(int argc, char **argv, unsigned command, options_t *options);
void options_free(options_t *options);

/* What they say of a plan: of the model as it is, or as a streamed plan has it. */
berth_settings_t settings_of(const options_t *options);

/* The options of a command, for its --help. */
void options_print(unsigned command, FILE *stream);

#endif
