/* Anytime search for the lowest peak, made for problems of up to a million buffers.
 *
 * 1. Whatever is sure to find a place in the end is set aside (search_kernel.c).
 * 2. The rest is placed greedily in a few orders (search_start.c).
 * 3. What ends too high is promoted in the order (search_promote.c).
 * 4. What is still too high is moved into places of others (search_eject.c), again and again with
 *    a target between the lower bound and the best peak, until the budget ends.
 *
 * From the beginning of step 2 on there is a plan at hand; the search ends as soon as its peak
 * meets the lower bound or the wanted capacity. Memory: about 300 bytes for each buffer. Cost of
 * the steps 1 and 2: O(n log n + pairs of buffers that are live together); if these alone are more
 * than the budget, a plan made in O(n log n) is all there is.
 */
#include "plan/search.h"
#include "plan/greedy.h"
#include "plan/share.h"
#include <string.h>

#define REPORT_EVERY  ((uint64_t)1 << 20) /* units of work between two calls of `progress` */
#define FIRST_ATTEMPT ((uint64_t)1 << 22) /* units of work for one target in the beginning */
#define PROMOTIONS    ((uint64_t)1 << 23) /* units of work, and a few passes, to promote in */
enum { LEVELS = 7 }; /* targets tried one after the other with the same budget */

bool berth_search_go_on(berth_search_t *search, uint64_t limit) {
  if (search->work >= search->next_report && search->options->progress != NULL) {
    search->next_report = search->work + REPORT_EVERY;
    uint64_t best = search->best < search->lower_bound ? search->lower_bound : search->best;
    if (!search->options->progress(search->options->progress_user, search->work, best,
                                   search->lower_bound)) {
      search->stopped = true;
    }
  }
  return !search->stopped && search->work < limit;
}

void berth_search_keep(berth_search_t *search, uint64_t peak) {
  if (peak >= search->best) return;
  search->best = peak;
  for (uint32_t i = 0; i < search->kernel.part_count; i++) {
    search->best_offset[i] = search->kernel.parts[i].offset;
  }
}

/* ---- Memory -----------------------------------------------------------------------------------
 */

static void lay_out_scratch(berth_search_t *search, size_t buffers, size_t pairs,
                            berth_workspace_t *memory) {
  search->neighbours = berth_workspace_take(memory, buffers + 1, sizeof *search->neighbours);
  search->intervals = berth_workspace_take(memory, buffers, sizeof *search->intervals);
  search->ends = berth_workspace_take(memory, buffers, sizeof *search->ends);
  search->queue = berth_workspace_take(memory, buffers, sizeof *search->queue);
  search->order = berth_workspace_take(memory, buffers, sizeof *search->order);
  search->place = berth_workspace_take(memory, buffers, sizeof *search->place);
  search->turn = berth_workspace_take(memory, buffers, sizeof *search->turn);
  if (pairs == 0) return;
  search->interval_of = berth_workspace_take(memory, buffers, sizeof *search->interval_of);
  search->relief_of = berth_workspace_take(memory, buffers, sizeof *search->relief_of);
  search->relief_low = berth_workspace_take(memory, 2 * pairs, sizeof *search->relief_low);
  search->relief_high = berth_workspace_take(memory, 2 * pairs, sizeof *search->relief_high);
}

/* The scratch arrays lie where first the units of greedy.h were. */
static berth_status_t lay_out(berth_search_t *search, const berth_problem_t *problem,
                              berth_workspace_t *memory, void **area, size_t *area_bytes) {
  size_t buffers = problem->buffer_count, pairs = problem->pair_count;
  berth_workspace_t scratch = berth_workspace_measure();
  lay_out_scratch(search, buffers, pairs, &scratch);
  berth_status_t status = berth_greedy_workspace(problem, NULL, area_bytes);
  if (status != BERTH_OK) return status;
  if (scratch.overflow) return BERTH_ERROR_OVERFLOW;
  if (scratch.used > *area_bytes) *area_bytes = scratch.used;
  berth_search_set_lay_out(&search->whole, buffers, pairs, memory);
  berth_search_set_lay_out(&search->kernel, buffers, pairs, memory);
  search->aside = berth_workspace_take(memory, buffers, sizeof *search->aside);
  search->best_offset = berth_workspace_take(memory, buffers, sizeof *search->best_offset);
  search->hotness = berth_workspace_take(memory, buffers, sizeof *search->hotness);
  search->pairs = berth_workspace_take(memory, pairs, sizeof *search->pairs);
  *area = berth_workspace_take(memory, *area_bytes, 1);
  return BERTH_OK;
}

static berth_status_t workspace_bytes_for(const berth_problem_t *problem,
                                          const berth_plan_options_t *options, size_t *bytes) {
  (void)options;
  berth_search_t search;
  berth_workspace_t memory = berth_workspace_measure();
  void *area;
  size_t area_bytes;
  berth_status_t status = lay_out(&search, problem, &memory, &area, &area_bytes);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

/* ---- The whole problem, and back ---------------------------------------------------------------
 */

/* Forms parts and items from the units of `greedy`, with the kernel's arrays for scratch. */
static void form_parts(berth_search_t *search, const berth_greedy_t *greedy) {
  const berth_problem_t *problem = search->problem;
  berth_search_set_t *set = &search->whole;
  uint32_t *order = search->kernel.members, *item_of = search->kernel.live;
  uint64_t *key = search->best_offset;
  set->part_count = set->item_count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    key[i] = ~((uint64_t)buffer->first << 32 | (UINT32_MAX - buffer->last));
    if (buffer->size > 0) order[set->part_count++] = i;
  }
  berth_search_sort_by_key(order, set->part_count, key, search->kernel.live);
  for (uint32_t i = 0; i < problem->buffer_count; i++) item_of[i] = UINT32_MAX;
  for (uint32_t i = 0; i < set->part_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[order[i]];
    uint32_t name = greedy->unit_of[order[i]];
    const berth_unit_t *unit = &greedy->unit[name];
    bool fixed = unit->fixed != BERTH_ANYWHERE;
    if (item_of[name] == UINT32_MAX) {
      berth_search_item_t item = {unit->align, unit->size, 0, 0, 0, 0, fixed};
      item_of[name] = set->item_count;
      set->items[set->item_count++] = item;
    }
    berth_search_part_t part = {buffer->size,  fixed ? unit->fixed : BERTH_SEARCH_UNPLACED,
                                buffer->first, buffer->last,
                                item_of[name], order[i]};
    set->parts[i] = part;
    set->items[part.item].count++;
  }
  uint32_t used = 0;
  for (uint32_t j = 0; j < set->item_count; j++) {
    set->items[j].begin = used;
    used += set->items[j].count;
    set->items[j].count = 0;
  }
  for (uint32_t i = 0; i < set->part_count; i++) {
    berth_search_item_t *item = &set->items[set->parts[i].item];
    set->members[item->begin + item->count++] = i;
  }
}

/* What `pair` permits the buffer that is its b (`mine`), or its a. */
static berth_search_relief_t relief_of(const berth_problem_t *problem, const berth_pair_t *pair,
                                       bool mine) {
  berth_search_relief_t relief = {0, 0, 0};
  if (pair->bytes == problem->buffers[pair->a].size) {
    relief.low = relief.high = UINT64_MAX; /* all of a may be overlapped */
  } else if ((pair->relation == BERTH_HEAD) == mine) {
    relief.low = pair->bytes;
  } else {
    relief.high = pair->bytes;
  }
  return relief;
}

/* HEAD and TAIL pairs by part. `part_of` (buffer -> part) is scratch. */
static void form_reliefs(berth_search_t *search, uint32_t *part_of) {
  const berth_problem_t *problem = search->problem;
  berth_search_set_t *set = &search->whole;
  set->relieved = false;
  if (problem->pair_count == 0) return;
  for (uint32_t i = 0; i < problem->buffer_count; i++) part_of[i] = UINT32_MAX;
  for (uint32_t i = 0; i < set->part_count; i++) part_of[set->parts[i].origin] = i;
  memset(set->relief_begin, 0, ((size_t)set->part_count + 1) * sizeof *set->relief_begin);
  for (int pass = 0; pass < 2; pass++) { /* count, then fill from the end of each part's */
    for (uint32_t k = 0; k < problem->pair_count; k++) {
      const berth_pair_t *pair = &problem->pairs[k];
      uint32_t a = part_of[pair->a], b = part_of[pair->b];
      bool permits = pair->relation == BERTH_HEAD || pair->relation == BERTH_TAIL;
      if (!permits || a == UINT32_MAX || b == UINT32_MAX) continue;
      set->relieved = true;
      if (pass == 0) {
        set->relief_begin[a]++;
        set->relief_begin[b]++;
        continue;
      }
      berth_search_relief_t of_a = relief_of(problem, pair, false);
      berth_search_relief_t of_b = relief_of(problem, pair, true);
      of_a.other = b;
      of_b.other = a;
      set->reliefs[--set->relief_begin[a]] = of_a;
      set->reliefs[--set->relief_begin[b]] = of_b;
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; pass == 0 && i <= set->part_count; i++) {
      sum += set->relief_begin[i];
      set->relief_begin[i] = sum;
    }
  }
}

/* Writes the offsets of all buffers. Those without a byte go where their group is, if any. */
static void finish(berth_search_t *search, berth_plan_t *plan) {
  const berth_problem_t *problem = search->problem;
  const berth_search_set_t *set = &search->whole;
  uint32_t *group = search->order;
  uint64_t *offset = search->best_offset;
  berth_plan_share_groups(problem, group);
  for (uint32_t i = 0; i < problem->buffer_count; i++) offset[i] = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    if (problem->buffers[i].fixed != BERTH_ANYWHERE) offset[group[i]] = problem->buffers[i].fixed;
  }
  for (uint32_t i = 0; i < set->part_count; i++) {
    offset[group[set->parts[i].origin]] = set->parts[i].offset;
  }
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    plan->placements[i].offset = offset[group[i]];
    plan->placements[i].region = 0;
  }
  plan->peak = berth_search_peak(set);
}

/* ---- The search --------------------------------------------------------------------------------
 */

/* Starts from the plan that is at hand already. */
static void adopt(berth_search_t *search, const berth_plan_t *plan) {
  search->best = plan->peak;
  for (uint32_t i = 0; i < search->kernel.part_count; i++) {
    uint32_t buffer = search->whole.parts[search->kernel.parts[i].origin].origin;
    search->best_offset[i] = plan->placements[buffer].offset;
  }
}

static uint64_t at_most(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* The largest number that all sizes, alignments and fixed offsets are multiples of. */
static uint64_t grain_of(const berth_search_set_t *set) {
  uint64_t grain = 0;
  for (uint32_t i = 0; i < set->part_count; i++) {
    const berth_search_item_t *item = &set->items[set->parts[i].item];
    uint64_t numbers[] = {set->parts[i].size, item->align, item->fixed ? set->parts[i].offset : 0};
    for (int k = 0; k < 3; k++) {
      if (k == 1 && item->align == 1) continue; /* any offset will do, so a multiple will */
      while (numbers[k] != 0) {
        uint64_t rest = grain % numbers[k];
        grain = numbers[k];
        numbers[k] = rest;
      }
    }
  }
  return grain > 0 ? grain : 1; /* 0 if there are no parts */
}

/* Targets between goal and best, the goal first, then nearer and nearer to the best. They are
 * multiples of the grain, lest what is placed just below them leave useless gaps. */
static void improve(berth_search_t *search) {
  uint64_t left = search->work_limit - at_most(search->work, search->work_limit);
  uint64_t share = at_most(FIRST_ATTEMPT, left / 16);
  berth_search_eject_prepare(search);
  uint64_t trial = PROMOTIONS + 4 * search->kernel.encounters;
  trial = at_most(trial, left / 8);
  berth_search_promote(search, INT64_MAX, search->work + trial);
  if (search->best > search->goal) {
    berth_search_promote(search, search->goal, search->work + trial);
  }
  uint64_t grain = grain_of(&search->kernel);
  uint32_t level = 0;
  while (search->best > search->goal && berth_search_go_on(search, search->work_limit)) {
    uint64_t before = search->best, gap = before - search->goal;
    uint64_t target = before - 1 - ((gap - 1) >> level);
    target -= target % grain;
    if (target < search->goal) target = search->goal;
    uint64_t limit = at_most(search->work + share, search->work_limit);
    if (berth_search_eject(search, target, limit)) {
      if (level > 0) level--;
    } else if (search->best == before && (++level == LEVELS || gap >> level == 0)) {
      level = 0;
      share = at_most(2 * share, search->work_limit);
    }
  }
}

/* The search moves what shares an offset together or not at all, so OVER pairs are settled first:
 * those that the plan at hand makes use of become SHARE pairs, the others are dropped. Without a
 * plan, a greedy one is made. */
static berth_status_t settle_over(berth_search_t *search, const berth_problem_t *problem,
                                  const berth_plan_options_t *options, void *area,
                                  size_t area_bytes, berth_plan_t *plan, berth_problem_t *settled) {
  *settled = *problem;
  uint32_t count = 0, over = 0;
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    over += problem->pairs[k].relation == BERTH_OVER;
  }
  if (over == 0) return BERTH_OK;
  if (plan->peak == UINT64_MAX) {
    berth_status_t status = berth_planner_size.make(problem, options, area, area_bytes, plan);
    if (status != BERTH_OK) return status;
  }
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    berth_pair_t pair = problem->pairs[k];
    const berth_buffer_t *a = &problem->buffers[pair.a], *b = &problem->buffers[pair.b];
    if (pair.relation == BERTH_OVER) {
      bool together = a->size > 0 && b->size > 0 && a->first <= b->last && b->first <= a->last;
      if (!together || plan->placements[pair.a].offset != plan->placements[pair.b].offset) continue;
      pair.relation = BERTH_SHARE;
      pair.bytes = 0;
    }
    search->pairs[count++] = pair;
  }
  settled->pairs = count > 0 ? search->pairs : NULL;
  settled->pair_count = count;
  return BERTH_OK;
}

/* A tenth of a second for a hundred buffers, half a minute for a hundred thousand and more. */
static uint64_t default_work(const berth_problem_t *problem) {
  uint64_t work = ((uint64_t)1 << 22) + ((uint64_t)problem->buffer_count << 14);
  return at_most(work, (uint64_t)1 << 30);
}

static berth_status_t make(const berth_problem_t *stated, const berth_plan_options_t *options,
                           void *workspace, size_t workspace_bytes, berth_plan_t *plan) {
  uint64_t goal = options->capacity > plan->lower_bound ? options->capacity : plan->lower_bound;
  if (plan->peak <= goal) return BERTH_OK;
  berth_search_t search = {0};
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  void *area;
  size_t area_bytes;
  berth_status_t status = lay_out(&search, stated, &memory, &area, &area_bytes);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  berth_problem_t settled;
  const berth_problem_t *problem = &settled;
  status = settle_over(&search, stated, options, area, area_bytes, plan, &settled);
  if (status != BERTH_OK || plan->peak <= goal) return status;

  berth_greedy_t greedy;
  status = berth_greedy_begin(&greedy, problem, area, area_bytes);
  if (status != BERTH_OK) return status;
  search.problem = problem;
  search.options = options;
  search.lower_bound = plan->lower_bound;
  search.goal = goal;
  search.work_limit = options->work_limit != 0 ? options->work_limit : default_work(problem);
  search.random = 0x9e3779b97f4a7c15u;
  search.best = UINT64_MAX;
  form_parts(&search, &greedy);
  form_reliefs(&search, search.kernel.live);
  uint64_t fixed_peak = berth_search_peak(&search.whole); /* of whole SHARE groups, too */
  if (plan->lower_bound < fixed_peak && problem->pairs == stated->pairs) {
    plan->lower_bound = search.lower_bound = fixed_peak;
  }
  if (search.goal < fixed_peak) search.goal = fixed_peak;
  berth_workspace_t scratch = berth_workspace_over(area, area_bytes);
  lay_out_scratch(&search, problem->buffer_count, problem->pair_count, &scratch);
  if (problem->pair_count > 0) {
    memset(search.interval_of, 0, problem->buffer_count * sizeof *search.interval_of);
    memset(search.relief_of, 0, problem->buffer_count * sizeof *search.relief_of);
  }
  berth_search_set_index(&search.whole, search.neighbours);
  search.work += 32 * (uint64_t)search.whole.part_count;

  berth_search_make_kernel(&search, search.whole.encounters > search.work_limit / 4);
  if (plan->peak != UINT64_MAX) adopt(&search, plan);
  berth_search_start(&search);
  if (search.best > search.goal) improve(&search);
  plan->work += search.work;
  if (search.best >= plan->peak) return BERTH_OK;
  berth_search_restore(&search);
  finish(&search, plan);
  return BERTH_OK;
}

const berth_planner_t berth_planner_search = {
    .name = "search",
    .summary = "anytime search for problems of any size",
    .handles = BERTH_HANDLES_FIXED | BERTH_HANDLES_PAIRS,
    .workspace = workspace_bytes_for,
    .make = make,
};
