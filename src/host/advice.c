/* The engine of advice: plans what advisers propose, finds the next limit, ranks. */
#include "host/advice.h"
#include "host/anatomy.h"
#include "host/runner.h"

#include <stdlib.h>
#include <string.h>

berth_status_t berth_advise_add(berth_advising_t *advising, const berth_advice_t *advice) {
  berth_advices_t *advices = advising->advices;
  berth_advice_t *lines =
      realloc(advices->lines, ((size_t)advices->count + 1) * sizeof *advices->lines);
  if (lines == NULL) return BERTH_ERROR_MEMORY;
  advices->lines = lines;
  berth_advice_t *line = &lines[advices->count++];
  *line = *advice;
  line->topic = advising->topic;
  line->saved = (int64_t)(advising->peak - advice->peak); /* both are below 2^63 */
  return BERTH_OK;
}

/* What limits the changed model: the step of its peak. */
static berth_status_t find_limit(const berth_subject_t *changed, const berth_plan_t *plan,
                                 berth_advice_t *advice) {
  berth_anatomy_t anatomy;
  if (plan->peak == 0) return BERTH_OK;
  berth_status_t status = berth_anatomy_of(changed, plan->placements, 0, plan->peak, &anatomy);
  if (status != BERTH_OK) return status;
  advice->has_limit = true;
  advice->limit_step = anatomy.step;
  if (changed->is_model && anatomy.step < berth_model_subgraph(&changed->model, 0).operator_count) {
    berth_runner_operator_text(&changed->model, 0, anatomy.step, advice->limit,
                               sizeof advice->limit);
  }
  free(anatomy.live);
  return BERTH_OK;
}

static berth_status_t replan(berth_advising_t *advising, const berth_subject_options_t *options,
                             const char *what, const char *how, bool always) {
  berth_complaint_t ignored;
  berth_subject_t changed;
  berth_outcome_t outcome;
  berth_status_t status = berth_subject_open(advising->subject->path, options, &changed, &ignored);
  if (status != BERTH_OK) return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
  status = berth_planning_run(advising->planner, &changed.problem, advising->planning, &outcome,
                              &ignored);
  if (status == BERTH_OK && outcome.has_plan && (always || outcome.plan.peak < advising->peak)) {
    berth_advice_t advice = {.peak = outcome.plan.peak, .optimal = outcome.plan.optimal};
    snprintf(advice.what, sizeof advice.what, "%s", what);
    snprintf(advice.options, sizeof advice.options, "%s", how);
    status = find_limit(&changed, &outcome.plan, &advice);
    if (status == BERTH_OK) status = berth_advise_add(advising, &advice);
  }
  berth_outcome_free(&outcome);
  berth_subject_close(&changed);
  return status == BERTH_ERROR_MEMORY ? status : BERTH_OK;
}

berth_status_t berth_advise_replan(berth_advising_t *advising,
                                   const berth_subject_options_t *changed, const char *what,
                                   const char *how) {
  return replan(advising, changed, what, how, false);
}

berth_status_t berth_advise_always(berth_advising_t *advising,
                                   const berth_subject_options_t *changed, const char *what,
                                   const char *how) {
  return replan(advising, changed, what, how, true);
}

/* The largest saving first; equal ones in the order of the advisers, which lines keep. */
static void rank(berth_advices_t *advices) {
  for (uint32_t i = 1; i < advices->count; i++) {
    berth_advice_t line = advices->lines[i];
    uint32_t at = i;
    for (; at > 0 && advices->lines[at - 1].saved < line.saved; at--) {
      advices->lines[at] = advices->lines[at - 1];
    }
    advices->lines[at] = line;
  }
}

berth_status_t berth_advise(const berth_subject_t *subject, const berth_subject_options_t *options,
                            const berth_planner_t *planner, const berth_planning_t *planning,
                            const berth_plan_t *plan, berth_advices_t *advices,
                            berth_complaint_t *complaint) {
  berth_advices_t made = {NULL, 0};
  berth_anatomy_t anatomy = {0};
  if (plan->peak > 0 &&
      berth_anatomy_of(subject, plan->placements, 0, plan->peak, &anatomy) != BERTH_OK) {
    berth_complain(complaint, "%s: out of memory", subject->path);
    return BERTH_ERROR_MEMORY;
  }
  free(anatomy.live);
  berth_advising_t advising = {.subject = subject,
                               .options = options,
                               .planner = planner,
                               .planning = planning,
                               .peak = plan->peak,
                               .step = anatomy.step,
                               .advices = &made};
  berth_status_t status = BERTH_OK;
  for (size_t i = 0; berth_advisers[i].topic != NULL && status == BERTH_OK; i++) {
    advising.topic = berth_advisers[i].topic;
    status = berth_advisers[i].advise(&advising);
  }
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", subject->path, berth_status_text(status));
    berth_advices_free(&made);
    return status;
  }
  rank(&made);
  *advices = made;
  return BERTH_OK;
}

void berth_advices_free(berth_advices_t *advices) {
  free(advices->lines);
  *advices = (berth_advices_t){NULL, 0};
}
