/* A file, opened and planned: what report, trace, graph and diff start from. */
#ifndef BERTH_CLI_PLANNED_H
#define BERTH_CLI_PLANNED_H

#include "host/advice.h"
#include "host/forecast.h"
#include "host/plan_file.h"
#include "host/running.h"
#include "options.h"

typedef struct planned {
  berth_subject_t subject;
  berth_outcome_t outcome;
  berth_plan_report_t report;  /* of the two, with a plan */
  berth_streaming_t streaming; /* with --stream: what the subject and its report are of */
  berth_advices_t advices;     /* empty, until somebody asks for them; likewise what follows */
  berth_running_t running;
  berth_forecast_t forecast;
  bool is_open;
} planned_t;

/* Opens and plans `path` as the options say; a plan that was saved (.json) is taken as it is, and
 * is no model. EXIT_DONE; or the exit status to end with, after the
 * reason has been told (no plan within the budget is one: `purpose` says what there is then
 * nothing of, such as "draw"). `*planned` comes zeroed and must be closed in any case. */
int planned_open(const options_t *options, const char *path, const char *purpose,
                 planned_t *planned);
void planned_close(planned_t *planned);

/* For commands about operators: EXIT_DONE if it is a model, or the exit status after saying that it
 * is none. */
int planned_expect_model(const planned_t *planned);

#endif
