/* Why there is no plan: a buffer that fits nowhere, two that contradict each other, or a step whose
 * buffers need more than the regions hold that these are bound to.
 *
 * The last is Hall's condition (1935) for the sets of regions that occur: what may live nowhere but
 * in a set of regions has to fit into all of them together. Only the first of these reasons is
 * given. Cost: O(n log n) for each different set of regions, of which 64 are looked at.
 */
#include "berth/plan.h"
#include "plan/greedy.h"
#include "plan/load.h"
#include <string.h>

enum { SETS = 64 }; /* different sets of regions that are looked at */

typedef struct explainer {
  const berth_problem_t *problem;
  uint32_t region_count;
  uint64_t capacity[BERTH_REGIONS_MAX];
  berth_greedy_t greedy;
  berth_buffer_t *buffers; /* those that count for a set of regions; the others have size 0 */
  berth_pair_t *pairs;
  void *area;
  size_t area_bytes;
} explainer_t;

static berth_status_t lay_out(explainer_t *explainer, const berth_problem_t *problem,
                              berth_workspace_t *memory) {
  berth_status_t status = berth_plan_load_bound_workspace(problem, &explainer->area_bytes);
  if (status != BERTH_OK) return status;
  explainer->problem = problem;
  berth_greedy_lay_out(&explainer->greedy, problem, memory);
  explainer->buffers = berth_workspace_take(memory, problem->buffer_count, sizeof(berth_buffer_t));
  explainer->pairs = berth_workspace_take(memory, problem->pair_count, sizeof(berth_pair_t));
  explainer->area = berth_workspace_take(memory, explainer->area_bytes, 1);
  return BERTH_OK;
}

berth_status_t berth_plan_explain_workspace(const berth_problem_t *problem, size_t *bytes) {
  explainer_t explainer;
  berth_workspace_t memory = berth_workspace_measure();
  berth_status_t status = lay_out(&explainer, problem, &memory);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

static uint32_t region_count_of(const berth_problem_t *problem) {
  return problem->region_count > 0 ? problem->region_count : 1;
}

static uint32_t all_regions(const berth_problem_t *problem) {
  return ((uint32_t)1 << region_count_of(problem)) - 1;
}

/* The regions that the buffer may be in, whatever their capacity. */
static uint32_t may_be_in(const berth_problem_t *problem, uint32_t i) {
  uint32_t regions = problem->buffers[i].regions;
  return regions != BERTH_ANY_REGION ? regions : all_regions(problem);
}

/* Does it have to be in some region? */
static bool is_bound(const berth_problem_t *problem, uint32_t i) {
  return problem->buffers[i].size > 0 &&
         (problem->region_count == 0 || !problem->buffers[i].constant);
}

/* ---- The reasons ----------------------------------------------------------------------------- */

static bool find_large_buffer(const explainer_t *explainer, berth_explanation_t *explanation) {
  const berth_problem_t *problem = explainer->problem;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    if (!is_bound(problem, i)) continue;
    uint64_t end = buffer->size + (buffer->fixed != BERTH_ANYWHERE ? buffer->fixed : 0), room = 0;
    for (uint32_t r = 0; r < explainer->region_count; r++) {
      bool allowed = (may_be_in(problem, i) >> r & 1) != 0;
      if (allowed && explainer->capacity[r] > room) room = explainer->capacity[r];
    }
    if (end <= room) continue;
    explanation->obstacle = BERTH_OBSTACLE_BUFFER;
    explanation->a = i;
    explanation->needed = end;
    explanation->available = room;
    return true;
  }
  return false;
}

static bool report_conflict(berth_explanation_t *explanation, uint32_t a, uint32_t b) {
  explanation->obstacle = BERTH_OBSTACLE_CONFLICT;
  explanation->a = a;
  explanation->b = b;
  return true;
}

/* Buffers of one SHARE group without a common offset or region. */
static bool find_conflict_in_group(const explainer_t *explainer, berth_explanation_t *explanation) {
  const berth_problem_t *problem = explainer->problem;
  const berth_greedy_t *greedy = &explainer->greedy;
  for (uint32_t unit = 0; unit < problem->buffer_count; unit++) {
    if (greedy->unit_of[unit] != unit) continue;
    uint32_t fixed = BERTH_GREEDY_NONE, regions = all_regions(problem);
    bool constant = problem->region_count > 0;
    for (uint32_t i = unit; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
      constant = constant && problem->buffers[i].constant;
    }
    for (uint32_t i = unit; i != BERTH_GREEDY_NONE && !constant; i = greedy->next[i]) {
      regions &= may_be_in(problem, i);
      if (regions == 0) return report_conflict(explanation, unit, i);
      if (problem->buffers[i].fixed == BERTH_ANYWHERE) continue;
      if (fixed != BERTH_GREEDY_NONE &&
          problem->buffers[fixed].fixed != problem->buffers[i].fixed) {
        return report_conflict(explanation, fixed, i);
      }
      fixed = i;
    }
    for (uint32_t i = unit; i != BERTH_GREEDY_NONE && fixed != BERTH_GREEDY_NONE && !constant;
         i = greedy->next[i]) {
      uint64_t align = problem->buffers[i].align;
      if (align > 1 && problem->buffers[fixed].fixed % align != 0) {
        return report_conflict(explanation, fixed, i);
      }
    }
  }
  return false;
}

/* Buffers that must be apart, and can only be in the same region. */
static bool find_conflict_of_banks(const explainer_t *explainer, berth_explanation_t *explanation) {
  const berth_problem_t *problem = explainer->problem;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    if (pair->relation != BERTH_APART) continue;
    if (problem->region_count > 0 &&
        (problem->buffers[pair->a].constant || problem->buffers[pair->b].constant)) {
      continue;
    }
    uint32_t a = may_be_in(problem, pair->a), b = may_be_in(problem, pair->b);
    bool together = explainer->greedy.unit_of[pair->a] == explainer->greedy.unit_of[pair->b];
    if (together || (a == b && (a & (a - 1)) == 0)) {
      return report_conflict(explanation, pair->a, pair->b);
    }
  }
  return false;
}

/* Fixed buffers that hit each other in the only region there is for them. */
static bool find_conflict_of_fixed(explainer_t *explainer, berth_explanation_t *explanation) {
  const berth_problem_t *problem = explainer->problem;
  berth_greedy_t *greedy = &explainer->greedy;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    berth_unit_t *unit = &greedy->unit[i];
    if (greedy->unit_of[i] != i || unit->fixed == BERTH_ANYWHERE) continue;
    uint32_t regions = may_be_in(problem, i);
    if ((regions & (regions - 1)) != 0) continue;
    if (problem->region_count > 0 && problem->buffers[i].constant) continue;
    for (unit->region = 0; (regions >> unit->region & 1) == 0;) unit->region++;
    uint32_t obstacle = berth_greedy_obstacle(greedy, i, unit->fixed);
    if (obstacle != BERTH_GREEDY_NONE) return report_conflict(explanation, obstacle, i);
    berth_greedy_settle(greedy, i, unit->fixed);
  }
  return false;
}

/* What the buffers bound to `regions` need at least, and in which step. */
static berth_status_t need_of(explainer_t *explainer, uint32_t regions, uint64_t *need,
                              uint32_t *step) {
  berth_problem_t bound = *explainer->problem;
  for (uint32_t i = 0; i < bound.buffer_count; i++) {
    explainer->buffers[i] = bound.buffers[i];
    if (!is_bound(explainer->problem, i) || (may_be_in(explainer->problem, i) & ~regions) != 0) {
      explainer->buffers[i].size = 0;
    }
  }
  bound.pair_count = 0;
  for (uint32_t k = 0; k < explainer->problem->pair_count; k++) {
    const berth_pair_t *pair = &explainer->problem->pairs[k];
    bool overlap = pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL;
    if (overlap && explainer->buffers[pair->a].size == 0) continue;
    explainer->pairs[bound.pair_count++] = *pair;
  }
  bound.buffers = explainer->buffers;
  bound.pairs = bound.pair_count > 0 ? explainer->pairs : NULL;
  return berth_plan_load(&bound, true, explainer->area, explainer->area_bytes, need, step);
}

static berth_status_t find_full_step(explainer_t *explainer, berth_explanation_t *explanation) {
  const berth_problem_t *problem = explainer->problem;
  uint32_t sets[SETS], set_count = 0;
  sets[set_count++] = all_regions(problem);
  for (uint32_t i = 0; i < problem->buffer_count && set_count < SETS; i++) {
    uint32_t regions = may_be_in(problem, i), k = 0;
    while (k < set_count && sets[k] != regions) k++;
    if (k == set_count) sets[set_count++] = regions;
  }
  uint64_t missing = 0;
  for (uint32_t k = 0; k < set_count; k++) {
    uint64_t available = 0, need;
    uint32_t step;
    for (uint32_t r = 0; r < explainer->region_count; r++) {
      if ((sets[k] >> r & 1) == 0) continue;
      uint64_t room = UINT64_MAX - available;
      available += explainer->capacity[r] < room ? explainer->capacity[r] : room;
    }
    if (available > INT64_MAX) continue; /* no sum of sizes is as large */
    berth_status_t status = need_of(explainer, sets[k], &need, &step);
    if (status != BERTH_OK) return status;
    if (need <= available || need - available <= missing) continue;
    missing = need - available;
    explanation->obstacle = BERTH_OBSTACLE_STEP;
    explanation->step = step;
    explanation->regions = sets[k];
    explanation->needed = need;
    explanation->available = available;
  }
  return missing > 0 ? BERTH_INFEASIBLE : BERTH_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

berth_status_t berth_plan_explain(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_explanation_t *explanation) {
  explainer_t explainer;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_status_t status = lay_out(&explainer, problem, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status == BERTH_OK) status = berth_greedy_form_units(&explainer.greedy);
  if (status < 0) return status;
  if (explanation == NULL) return BERTH_ERROR_ARGUMENT;
  explainer.region_count = region_count_of(problem);
  for (uint32_t r = 0; r < explainer.region_count; r++) {
    explainer.capacity[r] = problem->region_count > 0 ? problem->regions[r].capacity : UINT64_MAX;
  }
  if (options != NULL && options->capacity != 0 && options->capacity < explainer.capacity[0]) {
    explainer.capacity[0] = options->capacity;
  }

  berth_explanation_t found = {BERTH_OBSTACLE_NONE, UINT32_MAX, UINT32_MAX, 0, 0, 0, 0};
  if (find_large_buffer(&explainer, &found) || find_conflict_in_group(&explainer, &found) ||
      find_conflict_of_banks(&explainer, &found) || find_conflict_of_fixed(&explainer, &found)) {
    *explanation = found;
    return BERTH_INFEASIBLE;
  }
  status = find_full_step(&explainer, &found);
  if (status >= 0) *explanation = found;
  return status;
}

bool berth_explanation_concerns(const berth_explanation_t *explanation,
                                const berth_problem_t *problem, uint32_t buffer) {
  if (explanation->obstacle != BERTH_OBSTACLE_STEP) {
    return explanation->obstacle != BERTH_OBSTACLE_NONE &&
           (buffer == explanation->a || buffer == explanation->b);
  }
  const berth_buffer_t *asked = &problem->buffers[buffer];
  return asked->first <= explanation->step && explanation->step <= asked->last &&
         is_bound(problem, buffer) && (may_be_in(problem, buffer) & ~explanation->regions) == 0;
}
