/* Choosing regions at any size: greedy passes with real offsets, then promotion.
 *
 * A pass takes the units in the order of their gain (what the second-best region costs more than
 * the best, per byte and step: the greedy rule for a knapsack, applied to time) and places each in
 * the cheapest region in which it finds an offset. Units that find none anywhere go first in the
 * next pass. Climbing gives a unit that ended in a dearer place an earlier turn, and keeps the new
 * order if that pays. Promotion asks, region by region, whether units that ended in a dearer place
 * fit after all when the whole region is planned anew: as many as its load allows at once, half of
 * them if not, and so on. Cost: each pass O(n k log n) as greedy.h; the rest is bounded by the
 * budget.
 */
#include "plan/regions.h"

enum {
  PASSES = 16,         /* until every unit has a place */
  CLIMBS_PER_UNIT = 16 /* passes with another order */
};

/* ---- The greedy pass ------------------------------------------------------------------------- */

static bool place(berth_regions_t *regions, uint32_t unit) {
  uint32_t order[BERTH_REGIONS_MAX + 1];
  uint32_t count = berth_regions_order(regions, unit, order);
  berth_greedy_t *greedy = &regions->greedy;
  berth_unit_t *moved = &greedy->unit[unit];
  for (uint32_t k = 0; k < count; k++) {
    if (!berth_regions_allows(regions, unit, order[k])) continue;
    if (order[k] == regions->region_count) {
      regions->candidate[unit].choice = order[k];
      return true;
    }
    uint64_t capacity = regions->region[order[k]].capacity, offset = moved->fixed;
    moved->region = order[k];
    if (offset == BERTH_ANYWHERE) {
      offset = berth_greedy_find(greedy, unit, 0, BERTH_FIRST_FIT);
      if (offset == INT64_MAX) continue;
    } else if (berth_greedy_obstacle(greedy, unit, offset) != BERTH_GREEDY_NONE) {
      continue;
    }
    if (moved->size > 0 && offset + moved->size > capacity) continue;
    regions->candidate[unit].choice = order[k];
    berth_greedy_settle(greedy, unit, offset);
    return true;
  }
  return false;
}

/* Places all units in their order; those that found no place are queued. Returns how many. */
static uint32_t pass(berth_regions_t *regions) {
  uint64_t before = regions->greedy.work;
  uint32_t failed = 0;
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    regions->candidate[regions->units[k]].choice = BERTH_UNPLACED;
  }
  berth_live_clear(&regions->greedy.live);
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    if (!place(regions, regions->units[k])) regions->queue[failed++] = regions->units[k];
  }
  regions->work += regions->greedy.work - before + regions->unit_count;
  return failed;
}

/* Moves the queued units to the front. */
static void failed_first(berth_regions_t *regions, uint32_t failed) {
  for (uint32_t k = regions->unit_count, to = k; k-- > 0;) {
    uint32_t unit = regions->units[k];
    if (regions->candidate[unit].choice != BERTH_UNPLACED) regions->units[--to] = unit;
  }
  for (uint32_t k = 0; k < failed; k++) regions->units[k] = regions->queue[k];
}

static uint64_t total_cost(const berth_regions_t *regions) {
  uint64_t cost = 0;
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    uint32_t unit = regions->units[k];
    cost += berth_regions_cost(regions, unit, regions->candidate[unit].choice);
  }
  return cost;
}

/* Keeps the choices with the offsets of the pass if they are better than what there is. */
static bool keep_pass(berth_regions_t *regions) {
  const berth_problem_t *problem = regions->problem;
  uint64_t peak = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    uint32_t unit = regions->greedy.unit_of[i];
    uint64_t offset = regions->greedy.unit[unit].offset, size = problem->buffers[i].size;
    regions->trial[i].offset = offset;
    if (regions->candidate[unit].choice == 0 && size > 0 && offset + size > peak) {
      peak = offset + size;
    }
  }
  return berth_regions_keep(regions, total_cost(regions), peak);
}

/* ---- Climbing -------------------------------------------------------------------------------- */

/* The unit's choice in the best plan. */
static uint32_t kept_choice(const berth_regions_t *regions, uint32_t unit) {
  uint32_t region = regions->plan->placements[unit].region;
  return region == BERTH_OUTSIDE ? regions->region_count : region;
}

static bool is_cheapest(const berth_regions_t *regions, uint32_t unit) {
  uint32_t order[BERTH_REGIONS_MAX + 1];
  (void)berth_regions_order(regions, unit, order);
  return berth_regions_cost(regions, unit, order[0]) ==
         berth_regions_cost(regions, unit, kept_choice(regions, unit));
}

/* Moves units[from] to units[to] and those between aside. */
static void move(uint32_t *units, uint32_t from, uint32_t to) {
  uint32_t unit = units[from];
  for (; from > to; from--) units[from] = units[from - 1];
  for (; from < to; from++) units[from] = units[from + 1];
  units[to] = unit;
}

static void climb(berth_regions_t *regions, uint64_t work_limit) {
  uint64_t tries = (uint64_t)regions->unit_count * CLIMBS_PER_UNIT, random = 1;
  uint32_t from = 0;
  for (; tries > 0 && regions->work < work_limit && berth_regions_go_on(regions); tries--) {
    uint32_t looked = 0;
    do { /* the next unit that could be cheaper */
      from = from + 1 < regions->unit_count ? from + 1 : 0;
      if (looked++ == regions->unit_count) return;
    } while (is_cheapest(regions, regions->units[from]));
    random = random * 6364136223846793005u + 1442695040888963407u; /* Knuth's, modulo 2^64 */
    uint32_t to = (uint32_t)((random >> 32) * (from + (uint64_t)1) >> 32);
    move(regions->units, from, to);
    if (pass(regions) > 0 || !keep_pass(regions)) move(regions->units, to, from);
  }
}

/* ---- Promotion ------------------------------------------------------------------------------- */

/* The steps in which something begins, and how many. */
static uint32_t find_starts(berth_regions_t *regions) {
  const berth_live_t *live = &regions->greedy.live;
  uint32_t count = 0;
  for (uint32_t i = 0; i < live->count; i++) {
    uint32_t first = live->buffers[live->order[i]].first;
    if (count == 0 || regions->starts[count - 1] != first) regions->starts[count++] = first;
  }
  return count;
}

static uint32_t begin_of(const berth_regions_t *regions, uint32_t start_count, uint32_t step) {
  uint32_t low = 0, high = start_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (regions->starts[middle] < step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Adds the unit to the region's load if that stays within the capacity. (A SHARE group counts with
 * its largest member all the time, and HEAD and TAIL are not credited: a rule of thumb.) */
static bool add_load(berth_regions_t *regions, uint32_t start_count, uint32_t unit,
                     uint64_t capacity) {
  const berth_unit_t *added = &regions->greedy.unit[unit];
  uint32_t begin = begin_of(regions, start_count, added->first);
  uint32_t end = begin_of(regions, start_count, added->last + 1);
  regions->work += end - begin + 1;
  for (uint32_t i = begin; i < end; i++) {
    if (added->size > capacity || regions->load[i] > capacity - added->size) return false;
  }
  for (uint32_t i = begin; i < end; i++) regions->load[i] += added->size;
  return true;
}

/* Of the units [*next, unit_count), queues up to `most` that would be cheaper in `region` and that
 * its load has room for. */
static uint32_t queue_promotions(berth_regions_t *regions, uint32_t region, uint32_t start_count,
                                 uint32_t *next, uint32_t most) {
  uint64_t capacity = regions->region[region].capacity;
  uint32_t count = 0;
  for (uint32_t i = 0; i < start_count; i++) regions->load[i] = 0;
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    uint32_t unit = regions->units[k];
    if (regions->candidate[unit].choice == region) {
      (void)add_load(regions, start_count, unit, BERTH_UNLIMITED);
    }
  }
  for (; *next < regions->unit_count && count < most; (*next)++) {
    uint32_t unit = regions->units[*next];
    uint32_t choice = regions->candidate[unit].choice;
    if (choice == region || !berth_regions_allows(regions, unit, region) ||
        berth_regions_cost(regions, unit, region) >= berth_regions_cost(regions, unit, choice) ||
        !add_load(regions, start_count, unit, capacity)) {
      continue;
    }
    regions->queue[count++] = unit;
  }
  return count;
}

/* Plans every region's offsets with the choices as they are; keeps the plan if it is better. */
static berth_status_t settle(berth_regions_t *regions) {
  uint64_t peak_0 = 0, peak;
  bool optimal;
  for (uint32_t r = 0; r < regions->region_count; r++) {
    berth_status_t status = berth_regions_solve(regions, r, regions->region[r].capacity, r == 0,
                                                berth_regions_share(regions), &peak, &optimal);
    if (status != BERTH_OK) return status;
    if (r == 0) peak_0 = peak;
  }
  (void)berth_regions_keep(regions, total_cost(regions), peak_0);
  return BERTH_OK;
}

/* Tries to move queued units into `region`; on failure they are where they were. */
static berth_status_t promote(berth_regions_t *regions, uint32_t region, uint32_t count) {
  uint64_t peak;
  bool optimal;
  uint32_t *old = regions->queue + count; /* the second half of the queue: see promote_all */
  for (uint32_t k = 0; k < count; k++) {
    berth_candidate_t *candidate = &regions->candidate[regions->queue[k]];
    old[k] = candidate->choice;
    candidate->choice = region;
  }
  berth_status_t status = berth_regions_solve(regions, region, regions->region[region].capacity,
                                              false, berth_regions_share(regions), &peak, &optimal);
  if (status == BERTH_OK) return status;
  for (uint32_t k = 0; k < count; k++) regions->candidate[regions->queue[k]].choice = old[k];
  return status;
}

static berth_status_t promote_all(berth_regions_t *regions, uint32_t region, uint32_t start_count) {
  uint32_t next = 0, most = regions->unit_count / 2;
  while (next < regions->unit_count && most > 0 && berth_regions_go_on(regions)) {
    uint32_t before = next;
    uint32_t count = queue_promotions(regions, region, start_count, &next, most);
    if (count == 0) break;
    berth_status_t status = promote(regions, region, count);
    if (status < 0) return status;
    if (status == BERTH_OK) continue;
    if (count > 1) {
      most = count / 2; /* again from there, with half as many */
      next = before;
    } else {
      most = most * 2 < regions->unit_count / 2 ? most * 2 : most;
    }
  }
  return BERTH_OK;
}

berth_status_t berth_regions_assign(berth_regions_t *regions) {
  uint32_t failed = pass(regions);
  for (uint32_t k = 1; k < PASSES && failed > 0 && berth_regions_go_on(regions); k++) {
    failed_first(regions, failed);
    failed = pass(regions);
  }
  if (failed > 0) return BERTH_OK; /* no plan yet */
  (void)keep_pass(regions);
  climb(regions, regions->work_limit / 4);
  for (uint32_t k = 0; k < regions->unit_count; k++) {
    uint32_t unit = regions->units[k];
    regions->candidate[unit].choice = kept_choice(regions, unit);
  }
  uint32_t start_count = find_starts(regions);
  for (uint32_t r = 0; r < regions->region_count && berth_regions_go_on(regions); r++) {
    berth_status_t status = promote_all(regions, r, start_count);
    if (status < 0) return status;
  }
  berth_status_t status = settle(regions);
  return status < 0 ? status : BERTH_OK;
}
