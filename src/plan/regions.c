/* Several memories: the frame in which regions are chosen (see regions.h).
 *
 * First a good choice (regions_assign.c), then, where the problem is small enough, the best one
 * (regions_exact.c). Whatever is found is kept as the best plan as soon as every region's offsets
 * are known, so that there is always a plan at hand once the first choice fits.
 */
#include "plan/regions.h"
#include "plan/load.h"
#include "plan/offsets.h"
#include "plan/wide.h"
#include <string.h>

/* Default budget in units of work. */
#define DEFAULT_WORK ((uint64_t)1 << 28)

static berth_status_t lay_out(berth_regions_t *regions, const berth_problem_t *problem,
                              const berth_plan_options_t *options, berth_workspace_t *memory) {
  size_t count = problem->buffer_count, load;
  /* No region's problem is larger than the whole one. */
  berth_status_t status = berth_plan_offsets_workspace(problem, options, &regions->area_bytes);
  if (status == BERTH_OK) status = berth_plan_load_bound_workspace(problem, &load);
  if (status != BERTH_OK) return status;
  if (load > regions->area_bytes) regions->area_bytes = load;
  berth_greedy_lay_out(&regions->greedy, problem, memory);
  regions->units = berth_workspace_take(memory, count, sizeof(uint32_t));
  regions->candidate = berth_workspace_take(memory, count, sizeof(berth_candidate_t));
  regions->buffers = berth_workspace_take(memory, count, sizeof(berth_buffer_t));
  regions->pairs = berth_workspace_take(memory, problem->pair_count, sizeof(berth_pair_t));
  regions->index = berth_workspace_take(memory, count, sizeof(uint32_t));
  regions->placements = berth_workspace_take(memory, count, sizeof(berth_placement_t));
  regions->trial = berth_workspace_take(memory, count, sizeof(berth_placement_t));
  regions->load = berth_workspace_take(memory, count, sizeof(uint64_t));
  regions->starts = berth_workspace_take(memory, count, sizeof(uint32_t));
  regions->queue = berth_workspace_take(memory, count, sizeof(uint32_t));
  regions->exact_size = berth_regions_search_size(problem);
  regions->exact = berth_workspace_take(memory, regions->exact_size, sizeof(uint64_t));
  regions->area = berth_workspace_take(memory, regions->area_bytes, 1);
  return BERTH_OK;
}

berth_status_t berth_plan_regions_workspace(const berth_problem_t *problem,
                                            const berth_plan_options_t *options, size_t *bytes) {
  berth_regions_t regions;
  berth_workspace_t memory = berth_workspace_measure();
  berth_status_t status = lay_out(&regions, problem, options, &memory);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

/* ---- What a unit may choose ------------------------------------------------------------------ */

bool berth_regions_allows(const berth_regions_t *regions, uint32_t unit, uint32_t region) {
  const berth_greedy_t *greedy = &regions->greedy;
  if ((regions->candidate[unit].allowed >> region & 1) == 0) return false;
  if (region == regions->region_count) return true;
  for (uint32_t i = unit; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
    for (uint32_t k = greedy->adjacent[i]; k < greedy->adjacent[i + 1]; k++) {
      const berth_pair_t *pair = &regions->problem->pairs[greedy->pairs[k]];
      if (pair->relation != BERTH_APART) continue;
      uint32_t other = greedy->unit_of[pair->a == i ? pair->b : pair->a];
      if (regions->candidate[other].choice == region) return false;
    }
  }
  return true;
}

uint32_t berth_regions_order(const berth_regions_t *regions, uint32_t unit, uint32_t *order) {
  uint32_t count = 0;
  for (uint32_t region = regions->region_count + 1; region-- > 0;) {
    if ((regions->candidate[unit].allowed >> region & 1) == 0) continue;
    uint64_t cost = berth_regions_cost(regions, unit, region);
    uint32_t at = count++;
    for (; at > 0 && berth_regions_cost(regions, unit, order[at - 1]) > cost; at--) {
      order[at] = order[at - 1];
    }
    order[at] = region;
  }
  return count;
}

/* What it costs more to have the unit's second choice than its first; 0 if it has but one. */
static uint64_t gain(const berth_regions_t *regions, uint32_t unit) {
  uint32_t order[BERTH_REGIONS_MAX + 1];
  if (berth_regions_order(regions, unit, order) < 2) return 0;
  return berth_regions_cost(regions, unit, order[1]) - berth_regions_cost(regions, unit, order[0]);
}

static bool has_choice(uint32_t allowed) {
  return (allowed & (allowed - 1)) != 0;
}

/* Units without a choice first, then those with the most gain per byte and step. */
static bool gains_more(const void *context, uint32_t a, uint32_t b) {
  const berth_regions_t *regions = context;
  bool free_a = has_choice(regions->candidate[a].allowed);
  bool free_b = has_choice(regions->candidate[b].allowed);
  if (free_a != free_b) return !free_a;
  const berth_unit_t *unit_a = &regions->greedy.unit[a], *unit_b = &regions->greedy.unit[b];
  uint64_t area_a = berth_wide_clamped(unit_a->size, (uint64_t)unit_a->last - unit_a->first + 1);
  uint64_t area_b = berth_wide_clamped(unit_b->size, (uint64_t)unit_b->last - unit_b->first + 1);
  uint64_t gain_a = gain(regions, a), gain_b = gain(regions, b);
  if (berth_wide_ratio_less(gain_b, area_b, gain_a, area_a)) return true;
  if (berth_wide_ratio_less(gain_a, area_a, gain_b, area_b)) return false;
  return unit_a->size > unit_b->size;
}

/* Fills the candidates. INFEASIBLE: a unit has no region that could hold it. */
static berth_status_t form_candidates(berth_regions_t *regions) {
  const berth_problem_t *problem = regions->problem;
  const berth_greedy_t *greedy = &regions->greedy;
  uint32_t all = ((uint32_t)1 << regions->region_count) - 1, outside = all + 1;
  berth_status_t status = BERTH_OK;
  regions->unit_count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    berth_candidate_t *candidate = &regions->candidate[greedy->unit_of[i]];
    if (greedy->unit_of[i] == i) {
      berth_candidate_t fresh = {0, all | outside, BERTH_UNPLACED};
      *candidate = fresh;
      regions->units[regions->unit_count++] = i;
    }
    candidate->traffic += buffer->traffic;
    if (!buffer->constant || problem->region_count == 0) candidate->allowed &= all;
    if (buffer->regions != BERTH_ANY_REGION) candidate->allowed &= buffer->regions | outside;
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    const berth_pair_t *pair = &problem->pairs[k];
    uint32_t unit = greedy->unit_of[pair->a];
    if (pair->relation == BERTH_APART && unit == greedy->unit_of[pair->b]) {
      regions->candidate[unit].allowed &= outside; /* nowhere but there are they apart */
    }
  }
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    const berth_unit_t *unit = &greedy->unit[regions->units[k]];
    berth_candidate_t *candidate = &regions->candidate[regions->units[k]];
    uint64_t end = unit->fixed != BERTH_ANYWHERE ? unit->fixed + unit->size : unit->size;
    for (uint32_t r = 0; r < regions->region_count; r++) {
      if (unit->impossible || (unit->size > 0 && end > regions->region[r].capacity)) {
        candidate->allowed &= ~((uint32_t)1 << r);
      }
    }
    if (candidate->allowed == 0) status = BERTH_INFEASIBLE;
  }
  berth_plan_sort(regions->units, regions->unit_count, regions->queue, gains_more, regions);
  return status;
}

/* ---- One region's offsets -------------------------------------------------------------------- */

berth_status_t berth_regions_solve(berth_regions_t *regions, uint32_t region, uint64_t capacity,
                                   bool minimise, uint64_t work_limit, uint64_t *peak,
                                   bool *optimal) {
  const berth_problem_t *problem = regions->problem;
  const berth_greedy_t *greedy = &regions->greedy;
  berth_problem_t part = {0};
  part.buffers = regions->buffers;
  part.pairs = regions->pairs;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    regions->index[i] = BERTH_UNPLACED;
    if (regions->candidate[greedy->unit_of[i]].choice != region) continue;
    berth_buffer_t *buffer = &regions->buffers[part.buffer_count];
    *buffer = problem->buffers[i];
    buffer->regions = BERTH_ANY_REGION;
    buffer->constant = false;
    regions->index[i] = part.buffer_count++;
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    berth_pair_t pair = problem->pairs[k];
    pair.a = regions->index[pair.a];
    pair.b = regions->index[pair.b];
    if (pair.a == BERTH_UNPLACED || pair.b == BERTH_UNPLACED) continue;
    if (pair.relation == BERTH_APART) return BERTH_INFEASIBLE;
    regions->pairs[part.pair_count++] = pair;
  }
  *peak = 0;
  *optimal = true;
  if (part.buffer_count == 0) return BERTH_OK;

  berth_plan_options_t options = *regions->options;
  options.capacity = minimise ? 0 : capacity;
  options.work_limit = work_limit;
  options.progress = NULL;
  memset(regions->placements, 0, part.buffer_count * sizeof *regions->placements);
  berth_plan_t plan = {regions->placements, UINT64_MAX, 0, 0, 0, false};
  berth_status_t status =
      berth_plan_offsets(&part, &options, regions->area, regions->area_bytes, &plan);
  regions->work += plan.work + part.buffer_count;
  if (status < 0 || status == BERTH_INFEASIBLE) return status;
  if (plan.peak > capacity) {
    return plan.optimal || plan.lower_bound > capacity ? BERTH_INFEASIBLE : BERTH_UNDECIDED;
  }
  *peak = plan.peak;
  *optimal = plan.optimal || plan.peak == plan.lower_bound;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (regions->index[i] == BERTH_UNPLACED) continue;
    regions->trial[i].offset = regions->placements[regions->index[i]].offset;
    regions->trial[i].region = region;
  }
  return BERTH_OK;
}

/* ---- The best plan --------------------------------------------------------------------------- */

bool berth_regions_keep(berth_regions_t *regions, uint64_t cost, uint64_t peak) {
  berth_plan_t *plan = regions->plan;
  bool first = plan->peak == UINT64_MAX;
  if (!first && (cost > plan->cost || (cost == plan->cost && peak >= plan->peak))) return false;
  plan->cost = cost;
  plan->peak = peak;
  for (uint32_t i = 0; i < regions->problem->buffer_count; i++) {
    uint32_t choice = regions->candidate[regions->greedy.unit_of[i]].choice;
    plan->placements[i].offset = choice < regions->region_count ? regions->trial[i].offset : 0;
    plan->placements[i].region = choice < regions->region_count ? choice : BERTH_OUTSIDE;
  }
  return true;
}

bool berth_regions_go_on(berth_regions_t *regions) {
  const berth_plan_options_t *options = regions->options;
  if (!regions->stopped && options->progress != NULL &&
      !options->progress(options->progress_user, regions->work, regions->plan->peak,
                         regions->plan->lower_bound)) {
    regions->stopped = true;
  }
  return !regions->stopped && regions->work < regions->work_limit;
}

/* Is nothing better than this plan: every unit where it is cheapest, and region 0 no fuller than
 * what can only be there without costing more? */
static berth_status_t prove_by_bounds(berth_regions_t *regions) {
  berth_plan_t *plan = regions->plan;
  uint64_t least = 0;
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    uint32_t unit = regions->units[k], order[BERTH_REGIONS_MAX + 1];
    berth_candidate_t *candidate = &regions->candidate[unit];
    uint32_t count = berth_regions_order(regions, unit, order);
    candidate->choice = BERTH_UNPLACED;
    if (count == 0) return BERTH_OK;
    uint64_t cost = berth_regions_cost(regions, unit, order[0]);
    least += cost;
    bool only = count == 1 || berth_regions_cost(regions, unit, order[1]) > cost;
    if (only && order[0] == 0) candidate->choice = 0;
  }
  if (plan->peak == UINT64_MAX || plan->cost != least) return BERTH_OK;
  uint64_t peak, bound = 0;
  bool optimal;
  berth_status_t status = berth_regions_solve(regions, 0, BERTH_UNLIMITED, true,
                                              berth_regions_share(regions), &peak, &optimal);
  if (status < 0) return status;
  if (status == BERTH_OK && optimal) bound = peak;
  plan->lower_bound = bound;
  plan->optimal = bound == plan->peak;
  return BERTH_OK;
}

static void set_up(berth_regions_t *regions, const berth_problem_t *problem,
                   const berth_plan_options_t *options, berth_plan_t *plan) {
  static const berth_region_t boundless = {BERTH_UNLIMITED, 0};
  regions->problem = problem;
  regions->options = options;
  regions->plan = plan;
  regions->work = 0;
  regions->work_limit = options->work_limit != 0 ? options->work_limit : DEFAULT_WORK;
  regions->stopped = false;
  regions->region_count = problem->region_count != 0 ? problem->region_count : 1;
  for (uint32_t r = 0; r < regions->region_count; r++) {
    regions->region[r] = problem->region_count != 0 ? problem->regions[r] : boundless;
  }
  if (options->capacity != 0 && options->capacity < regions->region[0].capacity) {
    regions->region[0].capacity = options->capacity;
  }
  regions->region[regions->region_count].capacity = BERTH_UNLIMITED;
  regions->region[regions->region_count].cost = problem->outside_cost;
}

berth_status_t berth_plan_regions(const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *workspace,
                                  size_t workspace_bytes, berth_plan_t *plan) {
  berth_regions_t regions;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_status_t status = lay_out(&regions, problem, options, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  set_up(&regions, problem, options, plan);
  status = berth_greedy_form_units(&regions.greedy);
  if (status < 0) return status;
  status = form_candidates(&regions); /* a unit that cannot have an offset may stay outside */
  if (status != BERTH_OK) return status;

  status = berth_regions_assign(&regions);
  if (status == BERTH_OK) status = prove_by_bounds(&regions);
  if (status == BERTH_OK && !plan->optimal && regions.exact_size > 0) {
    status = berth_regions_search(&regions);
  }
  plan->work = regions.work;
  if (status < 0 || status == BERTH_INFEASIBLE) return status;
  return plan->peak != UINT64_MAX ? BERTH_OK : BERTH_UNDECIDED;
}
