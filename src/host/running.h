/* What Berth's own interpreter needs to run a model, and what several of them share: the part of
 * memory that no plan of tensors shows. Used by `berth inspect` and `berth report`. */
#ifndef BERTH_SRC_HOST_RUNNING_H
#define BERTH_SRC_HOST_RUNNING_H

#include "berth/interpreter.h"
#include "host/streaming.h"
#include "host/subject.h"
#include <stdio.h>

/* The interpreter and the model that it reads from: structs of the application's, beside the blocks
 * that it gives. */
#define BERTH_RUNNING_STRUCTS (sizeof(berth_interpreter_t) + sizeof(berth_model_t))

typedef struct berth_running {
  bool possible;        /* else `why` says what is missing */
  berth_needs_t needs;  /* of one interpreter */
  uint64_t model_bytes; /* the file: in flash, or mapped once for all */
  uint32_t dynamic;     /* tensors whose memory comes on top, at run time */
  char why[256];
} berth_running_t;

/* Prepares the model of the subject as `berth run` would, streamed as asked for. Never fails: a
 * model that cannot be run, or has changes other than of shapes, is not `possible`. */
berth_running_t berth_running_of(const berth_subject_t *subject,
                                 const berth_subject_options_t *options,
                                 const berth_streaming_options_t *streaming,
                                 const berth_planner_t *planner);

/* From a plan's peak to all that a device needs: peak + difference + tables + metadata +
 * interpreter = total. */
typedef struct berth_running_account {
  int64_t difference; /* of what the interpreter places, variables included, to the plan: its
                         kernels' scratch, less what it lets tensors share */
  uint64_t tables;    /* of the operators, and their state */
  uint64_t metadata;
  uint64_t interpreter; /* and the model: BERTH_RUNNING_STRUCTS */
  uint64_t total;
} berth_running_account_t;

/* The account from a plan of the subject with this peak; the model can be run. */
berth_running_account_t berth_running_account(const berth_running_t *running,
                                              const berth_subject_t *subject, uint64_t peak);

/* Why it cannot be run, or what comes on top; with `instances` > 1 also what so many threads cost.
 */
void berth_running_print(const berth_running_t *running, uint32_t instances, FILE *stream);

/* An object "running", with the account from the subject's plan of this peak, and "instances" if
 * there are several. */
struct berth_json;
void berth_running_json(const berth_running_t *running, const berth_subject_t *subject,
                        uint64_t peak, uint32_t instances, struct berth_json *json);

#endif
