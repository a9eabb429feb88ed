/* What a plan is made with, in one piece. */
#ifndef BERTH_SRC_HOST_SETTINGS_H
#define BERTH_SRC_HOST_SETTINGS_H

#include "host/planning.h"
#include "host/streaming.h"
#include "host/subject.h"

/* Everything that a plan of a model depends on. The pointers are the caller's. */
typedef struct berth_settings {
  berth_subject_options_t subject;
  berth_streaming_options_t streaming; /* `align` is the subject's */
  const berth_planner_t *planner;
  berth_planning_t planning;
} berth_settings_t;

/* The command that plans `path` with the settings, quoted for a shell; heap, NULL without memory.
 */
char *berth_plan_command(const char *path, const berth_settings_t *settings);

#endif
