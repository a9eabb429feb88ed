/* Runs of the skyline search: see exact_runs.h.
 *
 * First a few orders of the portfolio (exact_order.h) get a middling run each. Then come rounds:
 * short runs of new orders; short runs of variations of the one that got furthest, as long as that
 * helps; and one run as long as all before it, so that at least a third of the work goes into a
 * single search that can also prove that there is no plan. A run that ends by itself has answered
 * the question for good.
 */
#include "plan/exact_runs.h"
#include "plan/exact_order.h"
#include "plan/sort.h"
#include <string.h>

enum {
  FIRST_ORDERS = 4,    /* orders that get a middling run */
  MIDDLING_RUN = 4096, /* choices in it */
  DRAWN = 20,          /* new orders in a round */
  STALLS = 60,         /* variations without progress that end a round */
  POLL = 1024          /* choices between two looks at the budget */
};

static bool may_go_on(berth_runs_t *runs) {
  uint64_t work = runs->work + runs->sections.skyline.work;
  const berth_plan_options_t *options = runs->options;
  if (work >= runs->work_limit ||
      (options->progress != NULL &&
       !options->progress(options->progress_user, work, runs->best, runs->lower_bound))) {
    runs->stopped = true;
  }
  return !runs->stopped;
}

static bool lies_below(const void *context, uint32_t a, uint32_t b) {
  const berth_skyline_t *skyline = context;
  return skyline->offset[a] < skyline->offset[b];
}

/* Lets every buffer sink as far as the ones below it allow. O(n^2). */
static void push_down(berth_runs_t *runs) {
  berth_skyline_t *skyline = &runs->sections.skyline;
  uint32_t *order = runs->sections.order;
  for (uint32_t i = 0; i < skyline->count; i++) order[i] = i;
  berth_plan_sort(order, skyline->count, runs->sections.spare, lies_below, skyline);
  for (uint32_t i = 0; i < skyline->count; i++) {
    int32_t floor = 0;
    for (uint32_t j = 0; j < i; j++) {
      int32_t top = skyline->offset[order[j]] + skyline->size[order[j]];
      if (top > floor && berth_skyline_meet(skyline, order[i], order[j])) floor = top;
    }
    skyline->offset[order[i]] = berth_skyline_align(skyline, order[i], floor);
  }
}

void berth_question_ask(berth_question_t *question, int32_t capacity) {
  if (question->capacity == capacity) return;
  question->capacity = capacity;
  question->depth = question->stalls = question->round = 0;
  question->nodes = 0;
  question->orders = 0;
}

/* How many choices the run may make; 0: a long run. */
static uint64_t run_length(const berth_question_t *question, uint32_t count) {
  if (question->orders <= FIRST_ORDERS) return MIDDLING_RUN;
  return 2 * (uint64_t)count + 64;
}

/* Searches on for `limit` choices. */
static berth_status_t search(berth_runs_t *runs, uint64_t limit) {
  berth_skyline_t *skyline = &runs->sections.skyline;
  uint64_t last = skyline->nodes > UINT64_MAX - limit ? UINT64_MAX : skyline->nodes + limit;
  while (may_go_on(runs) && skyline->nodes < last) {
    uint64_t rest = last - skyline->nodes;
    berth_status_t status = berth_skyline_search(skyline, rest < POLL ? rest : POLL);
    if (status == BERTH_OK) push_down(runs);
    if (status != BERTH_UNDECIDED) return status;
  }
  return BERTH_UNDECIDED;
}

/* Keeps the order of the run that has just ended if it is as good as the best. */
static void learn(berth_question_t *question, const berth_skyline_t *skyline) {
  question->stalls++;
  if (skyline->deepest < question->depth) return;
  if (skyline->deepest > question->depth) question->stalls = 0;
  question->depth = skyline->deepest;
  memcpy(question->elite, skyline->rank, skyline->count * sizeof *question->elite);
}

berth_status_t berth_runs_next(berth_runs_t *runs, berth_question_t *question) {
  berth_sections_t *sections = &runs->sections;
  berth_skyline_t *skyline = &sections->skyline;
  bool breed = berth_skyline_uses(skyline, BERTH_TECHNIQUE_BREED);
  bool first = question->orders < FIRST_ORDERS;
  bool vary = !first && question->round >= DRAWN && breed;
  bool long_run = !first && (vary ? question->stalls >= STALLS : question->round >= DRAWN + STALLS);
  if (vary && !long_run) {
    berth_exact_vary(skyline, question->elite, &question->random, sections->order, sections->spare);
  } else {
    uint32_t number = long_run ? question->rounds : question->orders++;
    berth_exact_order(skyline, sections->length, number, sections->order, sections->spare);
  }
  uint64_t limit = run_length(question, skyline->count);
  if (long_run) limit = question->nodes;
  if (!berth_skyline_uses(skyline, BERTH_TECHNIQUE_RESTART)) limit = UINT64_MAX;

  uint64_t before = skyline->nodes;
  berth_skyline_start(skyline, question->capacity);
  berth_status_t status = search(runs, limit);
  question->nodes += skyline->nodes - before;
  if (status == BERTH_OK)
    memcpy(question->elite, skyline->rank, skyline->count * sizeof *question->elite);
  if (long_run) {
    question->rounds++;
    question->round = question->depth = question->stalls = 0;
  } else {
    learn(question, skyline);
    if (!first) question->round++;
  }
  return status;
}

int32_t berth_runs_peak(const berth_runs_t *runs) {
  const berth_skyline_t *skyline = &runs->sections.skyline;
  int32_t peak = 0;
  for (uint32_t i = 0; i < skyline->count; i++) {
    if (skyline->offset[i] + skyline->size[i] > peak) peak = skyline->offset[i] + skyline->size[i];
  }
  return peak;
}

void berth_runs_write(const berth_runs_t *runs, berth_plan_t *plan) {
  const berth_sections_t *sections = &runs->sections;
  for (uint32_t i = 0; i < sections->count; i++) {
    plan->placements[sections->buffer[i]].offset =
        (uint64_t)sections->skyline.offset[i] * sections->unit;
  }
}

berth_status_t berth_exact_fits_workspace(const berth_problem_t *problem, const uint32_t *subset,
                                          uint32_t count, size_t *bytes) {
  berth_workspace_t memory = berth_workspace_measure();
  berth_sections_t sections;
  berth_status_t status = berth_sections_lay_out(&sections, problem, subset, count, &memory);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

berth_status_t berth_exact_fits(const berth_problem_t *problem, const uint32_t *subset,
                                uint32_t count, uint64_t capacity,
                                const berth_plan_options_t *options, void *workspace,
                                size_t workspace_bytes, berth_plan_t *plan) {
  berth_runs_t runs = {.options = options,
                       .work_limit = options->work_limit != 0 ? options->work_limit : UINT64_MAX,
                       .best = UINT64_MAX};
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_status_t status = berth_sections_lay_out(&runs.sections, problem, subset, count, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status == BERTH_OK) status = berth_sections_prepare(&runs.sections, subset, count);
  if (status != BERTH_OK) return status;

  berth_skyline_t *skyline = &runs.sections.skyline;
  skyline->without = options->without;
  uint64_t units = capacity / runs.sections.unit;
  int32_t most = BERTH_SKYLINE_CAPACITY - 1;
  berth_question_t question = {.capacity = units < (uint64_t)most ? (int32_t)units : most,
                               .elite = runs.sections.elite[0]};
  for (uint32_t s = 0; s < skyline->section_count; s++) {
    if (skyline->load[s] > question.capacity) return BERTH_INFEASIBLE;
  }
  do {
    status = berth_runs_next(&runs, &question);
  } while (status == BERTH_UNDECIDED && !runs.stopped);
  plan->work += skyline->work;
  if (status == BERTH_OK) {
    for (uint32_t i = 0; i < count; i++) {
      uint32_t buffer = subset != NULL ? subset[i] : i;
      uint64_t fixed = problem->buffers[buffer].fixed;
      plan->placements[buffer].offset = fixed != BERTH_ANYWHERE ? fixed : 0;
    }
    berth_runs_write(&runs, plan);
  }
  return status;
}
