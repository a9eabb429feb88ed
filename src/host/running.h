/* What Berth's own interpreter needs to run a model, and what several of them share: the part of
 * memory that no plan of tensors shows. Used by `berth inspect`. */
#ifndef BERTH_SRC_HOST_RUNNING_H
#define BERTH_SRC_HOST_RUNNING_H

#include "berth/interpreter.h"
#include "host/subject.h"
#include <stdio.h>

typedef struct berth_running {
  bool possible;        /* else `why` says what is missing */
  berth_needs_t needs;  /* of one interpreter */
  uint64_t model_bytes; /* the file: in flash, or mapped once for all */
  uint32_t dynamic;     /* tensors whose memory comes on top, at run time */
  char why[256];
} berth_running_t;

/* Prepares the model of the subject as `berth run` would. Never fails: a model that cannot be run
 * is not `possible`. */
berth_running_t berth_running_of(const berth_subject_t *subject,
                                 const berth_subject_options_t *options,
                                 const berth_planner_t *planner);

/* One paragraph; with `instances` > 1 also what so many threads cost. */
void berth_running_print(const berth_running_t *running, uint32_t instances, FILE *stream);

/* An object "running", and "instances" if there are several. */
struct berth_json;
void berth_running_json(const berth_running_t *running, uint32_t instances,
                        struct berth_json *json);

#endif
