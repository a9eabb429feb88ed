/* What would lower a model's peak, and by how much: each line of advice is a change that was
 * planned, never a guess.
 *
 * Advisers propose; they are listed in the table of advisers.c, one for each topic. Most propose
 * other options for the subject (berth_advise_replan plans them); one that computes a peak by other
 * means adds its line with berth_advise_add. What a line promises is what a run of `berth plan`
 * with the line's options gives.
 */
#ifndef BERTH_SRC_HOST_ADVICE_H
#define BERTH_SRC_HOST_ADVICE_H

#include "host/planning.h"
#include "host/subject.h"
#include <stdio.h>

#define BERTH_ADVICE_TEXT 256u

typedef struct berth_advice {
  const char *topic;               /* the adviser's name, static */
  char what[BERTH_ADVICE_TEXT];    /* "align tensors to 4 bytes instead of 16" */
  char options[BERTH_ADVICE_TEXT]; /* of `berth plan`, to try it: "--align 4"; or "" */
  uint64_t peak;                   /* with the change */
  int64_t saved;                   /* the peak without it less the peak with it */
  bool optimal;                    /* the peak with the change is proven minimal */
  bool has_limit;                  /* the next two say what limits the changed model */
  uint32_t limit_step;
  char limit[BERTH_ADVICE_TEXT]; /* the operator of that step, or "" */
} berth_advice_t;

typedef struct berth_advices { /* named in plan_file.h */
  berth_advice_t *lines;       /* heap; best first once berth_advise is done */
  uint32_t count;
} berth_advices_t;

/* What an adviser works with. */
typedef struct berth_advising {
  const berth_subject_t *subject; /* the model as it is */
  const berth_subject_options_t *options;
  const berth_planner_t *planner;
  const berth_planning_t *planning;
  uint64_t peak; /* of its plan */
  uint32_t step; /* where that is */
  const char *topic;
  berth_advices_t *advices;
} berth_advising_t;

/* Plans the model with other options and adds the line if that saves anything. `what` and
 * `how` (options of `berth plan` that amount to it) are copied. A change that cannot be made (an
 * operator refuses the shape) adds nothing and is no error. Errors: MEMORY. */
berth_status_t berth_advise_replan(berth_advising_t *advising,
                                   const berth_subject_options_t *changed, const char *what,
                                   const char *how);

/* The same, but the line is added whatever it saves: for what is worth knowing anyhow. */
berth_status_t berth_advise_always(berth_advising_t *advising,
                                   const berth_subject_options_t *changed, const char *what,
                                   const char *how);

/* Adds a line that was computed otherwise; topic and saving are filled in. MEMORY. */
berth_status_t berth_advise_add(berth_advising_t *advising, const berth_advice_t *advice);

/* Asks all advisers about the subject, of which `plan` is the planner's. On OK, free with
 * berth_advices_free. Errors: MEMORY; `complaint` says why. */
berth_status_t berth_advise(const berth_subject_t *subject, const berth_subject_options_t *options,
                            const berth_planner_t *planner, const berth_planning_t *planning,
                            const berth_plan_t *plan, berth_advices_t *advices,
                            berth_complaint_t *complaint);
void berth_advices_free(berth_advices_t *advices);

/* The table of the advisers, NULL-terminated by name. */
typedef struct berth_adviser {
  const char *topic;
  berth_status_t (*advise)(berth_advising_t *advising);
} berth_adviser_t;
extern const berth_adviser_t berth_advisers[];

/* The ranked list. False: out of memory. */
bool berth_advices_print(const berth_advices_t *advices, uint64_t peak, FILE *stream);

/* An array "advice". */
struct berth_json;
void berth_advices_json(const berth_advices_t *advices, struct berth_json *json);

#endif
