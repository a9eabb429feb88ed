/* What would lower a model's peak, and by how much: each line of advice is a change that was
 * planned, never a guess.
 *
 * Advisers propose; they are listed in the table of advisers.c, one for each topic. Each proposes
 * other settings, and berth_advise_replan plans them. What a line promises is what a run of its
 * command gives, which is made from the very settings (settings.c).
 */
#ifndef BERTH_SRC_HOST_ADVICE_H
#define BERTH_SRC_HOST_ADVICE_H

#include "host/settings.h"
#include <stdio.h>
#include <time.h>

#define BERTH_ADVICE_TEXT 256u

/* What a change asks of whoever makes it; lines that ask for less come first. */
typedef enum berth_advice_kind {
  BERTH_ADVICE_FREE,      /* nothing: the same model, with the same results */
  BERTH_ADVICE_INTERFACE, /* the application deals with other inputs or outputs */
  BERTH_ADVICE_NETWORK    /* another network, to be trained or at least to be tested anew */
} berth_advice_kind_t;

/* "free", "interface", "network"; static. */
const char *berth_advice_kind_name(berth_advice_kind_t kind);

typedef struct berth_advice {
  const char *topic; /* the adviser's name, static */
  berth_advice_kind_t kind;
  char what[BERTH_ADVICE_TEXT];    /* "align tensors to 4 bytes instead of 16" */
  char options[BERTH_ADVICE_TEXT]; /* what the change adds for `berth plan`: "--align 4"; or "" */
  char *command;  /* all of it, for a shell: "berth plan m.tflite --align 4"; heap */
  uint64_t peak;  /* with the change */
  int64_t saved;  /* the peak without it less the peak with it */
  bool optimal;   /* the peak with the change is proven minimal */
  bool has_limit; /* the next two say what limits the changed model */
  uint32_t limit_step;
  char limit[BERTH_ADVICE_TEXT]; /* the operator of that step, or "" */
} berth_advice_t;

typedef struct berth_advices { /* named in plan_file.h */
  berth_advice_t *lines;       /* heap; best first once berth_advise is done */
  uint32_t count;
  const char *left_out; /* what was not tried, and why; static; NULL: nothing to speak of */
} berth_advices_t;

/* What an adviser works with. */
typedef struct berth_advising {
  const berth_subject_t *subject; /* the model as it is */
  const berth_settings_t *settings;
  uint64_t peak; /* of its plan */
  uint32_t step; /* where that is */
  const char *topic;
  berth_advice_kind_t kind;
  uint64_t searched; /* work of the last search for runs to stream */
  time_t start;
  berth_advices_t *advices;
} berth_advising_t;

/* Plans the model with other settings and adds the line if that saves anything. `what` and
 * `how` (options of `berth plan` that amount to it) are copied. A change that cannot be made (an
 * operator refuses the shape) adds nothing and is no error. Errors: MEMORY. */
berth_status_t berth_advise_replan(berth_advising_t *advising, const berth_settings_t *changed,
                                   const char *what, const char *how);

/* The same, but the line is added whatever it saves: for what is worth knowing anyhow. */
berth_status_t berth_advise_always(berth_advising_t *advising, const berth_settings_t *changed,
                                   const char *what, const char *how);

/* Asks all advisers about the subject, of which `plan` was made with the settings. After an
 * interrupt (host/output.h), also one before, nothing more is tried. On OK, free with
 * berth_advices_free. Errors: MEMORY; `complaint` says why. */
berth_status_t berth_advise(const berth_subject_t *subject, const berth_settings_t *settings,
                            const berth_plan_t *plan, berth_advices_t *advices,
                            berth_complaint_t *complaint);
void berth_advices_free(berth_advices_t *advices);

/* The table of the advisers, NULL-terminated by name. */
typedef struct berth_adviser {
  const char *topic;
  berth_advice_kind_t kind;
  berth_status_t (*advise)(berth_advising_t *advising);
} berth_adviser_t;
extern const berth_adviser_t berth_advisers[];

/* The ranked list. False: out of memory. */
bool berth_advices_print(const berth_advices_t *advices, uint64_t peak, FILE *stream);

/* An array "advice", best first. */
struct berth_json;
void berth_advices_json(const berth_advices_t *advices, struct berth_json *json);

#endif
