/* A model file made ready to run: mapped, measured, given exactly the memory that it needs.
 *
 * Used by every command that executes a model, and by the tests that replay recorded runs.
 */
#ifndef BERTH_SRC_HOST_RUNNER_H
#define BERTH_SRC_HOST_RUNNER_H

#include "berth/guard.h"
#include "berth/interpreter.h"
#include "host/complaint.h"
#include "host/map.h"
#include "host/plan_read.h"
#include "host/streaming.h"
#include <stdio.h>

typedef struct berth_runner_options {
  berth_interpreter_options_t interpreter; /* log, observe and user are the runner's own; `planner`
                                              gets planning memory of its own */
  const berth_planner_t *planner;          /* NULL: the interpreter's own choice, on the device */
  berth_observe_t observe;                 /* may be NULL; called with `user` */
  void *user;
  uint32_t dynamic_bytes; /* extra room for tensors of unknown size; 0: 64 MiB if there are any */
  berth_status_t (*reshape)(void *user, berth_interpreter_t *interpreter); /* before prepare: gives
                             inputs other shapes; may be NULL; called with `user` */
  berth_streaming_options_t streaming; /* which operators run row by row; alignment is the
                                          interpreter's. Not along with `plan_path` or `reshape` */
  berth_observe_rows_t observe_rows;   /* may be NULL; called with `user` */
  void (*on_rows)(void *user, uint32_t output, const berth_value_t *value, uint32_t first_row,
                  uint32_t last_row); /* rows of a graph output that is never whole have been made;
                                         may be NULL; called with `user` */
  const char *plan_path;              /* a plan to use as it is: Berth's JSON or CSV; NULL: none */
  bool guard;                         /* watch every operator; see berth/guard.h */
  bool guard_deep;                    /* the contract's other claims, too */
  bool guard_fast;                    /* only what one evaluation shows */
  berth_guard_report_t guard_report;  /* called with `guard_user` */
  void *guard_user;
  FILE *messages; /* with `verbose`, what prepare has to say: dynamic tensors, shared tables */
  bool verbose;
} berth_runner_options_t;

typedef struct berth_runner {
  const char *path;
  berth_host_map_t map;
  berth_model_t model;
  berth_interpreter_t interpreter;
  berth_runner_options_t options;
  berth_offsets_t offsets;      /* from `plan_path`, or the streamed plan's */
  berth_streaming_t *streaming; /* NULL: everything runs whole */
  berth_stream_plan_t ordered; /* then: the order that `plan_path` asks for, if it isn't the file's;
                                  its array is on the heap */
  uint8_t **frames;            /* of each graph input that is pushed row by row; NULL: likewise */
  uint8_t **results;           /* of each graph output that comes row by row; NULL: likewise */
  bool rows_lost;              /* in this invoke: there was no memory for one of them */
  berth_guard_t guard;
  void *memory; /* the one block that the interpreter lives in; guarded: activations and margins */
  void *persistent; /* only when guarded; likewise below */
  void *metadata;
  void *guard_memory;
  void *writable; /* a copy of the file, so that a write to a constant is seen and not fatal */
  void *planning; /* NULL unless a planner was named */
  uint32_t memory_bytes;
  uint32_t guard_bytes;    /* of `guard_memory` */
  uint32_t dynamic_count;  /* tensors whose size is known only at run time */
  char dynamic_cause[160]; /* then: the first operator that makes one, "operator 4 WHERE" */
  uint32_t why_count;      /* operators that cannot be prepared or evaluated, or faults of a plan */
  char why[400];           /* then: the first one, and why */
} berth_runner_t;

/* Opens, measures and prepares. Everything is released on failure, and `complaint` says why. */
berth_status_t berth_runner_open(const char *path, const berth_runner_options_t *options,
                                 berth_runner_t *runner, berth_complaint_t *complaint);

void berth_runner_close(berth_runner_t *runner);

/* "PATH: WHAT: why", for an invoke that failed. */
void berth_runner_complain(const berth_runner_t *runner, const char *what, berth_status_t status,
                           berth_complaint_t *complaint);

/* Where the values of a graph input are to be put before an invoke. */
berth_value_t berth_runner_input(berth_runner_t *runner, uint32_t input);

/* The values of a graph output after an invoke: where it came row by row, as it was put together.
 */
berth_value_t berth_runner_output(const berth_runner_t *runner, uint32_t output);

/* Takes rows of a graph output that no memory holds whole; runner_stream.c. */
void berth_runner_take_rows(berth_runner_t *runner, uint32_t output, const berth_value_t *value,
                            uint32_t first_row, uint32_t last_row);

/* Runs the model once; pushes the rows of inputs that come row by row. MEMORY also if an output
 * that comes row by row cannot be put together. */
berth_status_t berth_runner_invoke(berth_runner_t *runner);

/* Makes the streamed plan, if one is wanted; runner_stream.c. */
berth_status_t berth_runner_stream(berth_runner_t *runner, berth_complaint_t *complaint);
void berth_runner_stream_free(berth_runner_t *runner);

/* "operator 17 FULLY_CONNECTED" into `text`; returns it. */
char *berth_runner_operator_text(const berth_model_t *model, uint32_t subgraph, uint32_t op,
                                 char *text, size_t size);

#endif
