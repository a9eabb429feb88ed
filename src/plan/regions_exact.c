/* The best choice of regions: branch and bound over the regions of the units, for small problems.
 *
 * Units are decided in the order of their gain (regions.h), each first where it is cheapest. A
 * branch ends when a region's load exceeds its capacity in some step; when even the cheapest
 * continuation costs more than the best plan (where a step's load would overflow a region, the
 * bytes that have to leave it are bought at the least price per byte: the linear relaxation of a
 * knapsack, Dantzig 1957, added up over steps that have no unit in common); when the region's units
 * are known not to fit; or when it can only repeat the best cost without a smaller peak. At a leaf
 * the offsets of each region are planned. Exponential in the worst case, hence the budget.
 */
#include "plan/regions.h"
#include "plan/wide.h"
#include <string.h>

enum { MEMORY = 64 }; /* sets of units that are remembered as not fitting into a region */

typedef struct search {
  berth_regions_t *regions;
  uint32_t unit_count, step_count, region_count;
  uint32_t unit[BERTH_REGIONS_EXACT_UNITS];           /* in the order of decision */
  uint64_t least_left[BERTH_REGIONS_EXACT_UNITS + 1]; /* least cost of units from here on */
  uint32_t home[BERTH_REGIONS_EXACT_UNITS]; /* the one region where it is cheapest, or none */
  uint64_t
      extra[BERTH_REGIONS_EXACT_UNITS];    /* what it costs more elsewhere; UINT64_MAX: no choice */
  uint64_t *need;                          /* [unit][step]: bytes of it that are live */
  uint64_t *discount;                      /* [step]: what HEAD and TAIL pairs may save at most */
  uint64_t *load;                          /* [region][step]: bytes decided */
  uint64_t *overflow;                      /* [region][step]: scratch of the bound */
  uint64_t members[BERTH_REGIONS_MAX + 1]; /* of each region (and outside): set of decided units */
  struct {
    uint64_t sets[MEMORY];
    uint32_t count; /* ever; the oldest are overwritten */
  } fails[BERTH_REGIONS_MAX];
  bool proven; /* nothing was given up undecided */
} search_t;

size_t berth_regions_search_size(const berth_problem_t *problem) {
  size_t count = problem->buffer_count, regions = problem->region_count + (size_t)1;
  if (count > BERTH_REGIONS_EXACT_BUFFERS) return 0;
  size_t units = count < BERTH_REGIONS_EXACT_UNITS ? count : BERTH_REGIONS_EXACT_UNITS;
  return count * (units + 1 + 2 * regions) + (sizeof(search_t) + 7) / 8;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static bool any_subset(const uint64_t *sets, uint32_t count, uint64_t of) {
  for (uint32_t i = 0; i < count && i < MEMORY; i++) {
    if ((sets[i] & ~of) == 0) return true;
  }
  return false;
}

static uint64_t *row(const search_t *search, uint64_t *matrix, uint32_t index) {
  return matrix + (size_t)index * search->step_count;
}

/* The least that `bytes` cost which have to leave `region` in `step`, bought from the undecided
 * units from `depth` on that are cheapest there and not in `*used`; they are then. UINT64_MAX:
 * impossible. */
static uint64_t price(const search_t *search, uint32_t depth, uint32_t region, uint32_t step,
                      uint64_t bytes, uint64_t *used) {
  uint64_t total = 0, bought = 0;
  while (bytes > 0) {
    uint32_t pick = UINT32_MAX;
    uint64_t pick_extra = 0, pick_need = 1;
    for (uint32_t k = depth; k < search->unit_count; k++) {
      uint64_t need = row(search, search->need, k)[step], extra = search->extra[k];
      if (need == 0 || ((*used | bought) >> k & 1) != 0) continue;
      if (search->home[k] != region || search->extra[k] == UINT64_MAX) continue;
      if (pick == UINT32_MAX || berth_wide_ratio_less(extra, need, pick_extra, pick_need)) {
        pick = k;
        pick_extra = extra;
        pick_need = need;
      }
    }
    if (pick == UINT32_MAX) return UINT64_MAX;
    bought |= (uint64_t)1 << pick;
    if (pick_need > bytes) {
      /* The fraction bytes / need of the extra cost, rounded up: costs are whole. */
      berth_wide_t product = berth_wide_product(pick_extra, bytes);
      uint64_t part = product.high == 0 ? (product.low + pick_need - 1) / pick_need : 0;
      total += part;
      break;
    }
    total += pick_extra;
    bytes -= pick_need;
  }
  /* All units that are live in the step and could be bought belong to this purchase now. */
  for (uint32_t k = depth; k < search->unit_count; k++) {
    if (row(search, search->need, k)[step] > 0) *used |= (uint64_t)1 << k;
  }
  return total;
}

/* What the undecided units must cost at least beyond being where each is cheapest. */
static uint64_t overflow_cost(search_t *search, uint32_t depth) {
  uint64_t total = 0, used = 0;
  for (uint32_t r = 0; r < search->region_count; r++) {
    memcpy(row(search, search->overflow, r), row(search, search->load, r),
           search->step_count * sizeof *search->load);
  }
  for (uint32_t k = depth; k < search->unit_count; k++) {
    uint32_t region = search->home[k];
    if (region >= search->region_count) continue;
    uint64_t *need = row(search, search->need, k);
    uint64_t *load = row(search, search->overflow, region);
    for (uint32_t t = 0; t < search->step_count; t++) load[t] += need[t];
  }
  search->regions->work += (uint64_t)search->unit_count * search->step_count / 4;
  for (;;) { /* the fullest step first */
    uint64_t most = 0;
    uint32_t region = 0, step = 0;
    for (uint32_t r = 0; r < search->region_count; r++) {
      uint64_t capacity = search->regions->region[r].capacity;
      uint64_t *load = row(search, search->overflow, r);
      for (uint32_t t = 0; t < search->step_count; t++) {
        uint64_t over = load[t] > search->discount[t] ? load[t] - search->discount[t] : 0;
        if (over <= capacity || over - capacity <= most) continue;
        most = over - capacity;
        region = r;
        step = t;
      }
    }
    if (most == 0) return total;
    bool fresh = true;
    for (uint32_t k = depth; k < search->unit_count; k++) {
      if (row(search, search->need, k)[step] > 0 && (used >> k & 1) != 0) fresh = false;
    }
    if (fresh) {
      uint64_t part = price(search, depth, region, step, most, &used);
      if (part == UINT64_MAX) return UINT64_MAX;
      total += part;
    }
    row(search, search->overflow, region)[step] = 0; /* done with it */
  }
}

static uint64_t peak_bound(const search_t *search) {
  uint64_t most = 0;
  for (uint32_t t = 0; t < search->step_count; t++) {
    uint64_t load = search->load[t];
    if (load > search->discount[t] && load - search->discount[t] > most) {
      most = load - search->discount[t];
    }
  }
  return most;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static berth_status_t solve(search_t *search, uint32_t region, uint64_t capacity, bool minimise,
                            uint64_t *peak, bool *optimal) {
  return berth_regions_solve(search->regions, region, capacity, minimise,
                             berth_regions_share(search->regions), peak, optimal);
}

/* Plans the offsets of a full choice; a better plan is kept. */
static berth_status_t finish(search_t *search, uint64_t cost) {
  uint64_t peak_0 = 0;
  for (uint32_t n = search->region_count; n-- > 0;) {
    uint64_t set = search->members[n], capacity = search->regions->region[n].capacity, peak;
    bool optimal;
    /* Slow regions first: what counts is whether they fit; then the smallest peak of region 0. */
    berth_status_t status = solve(search, n, capacity, n == 0, &peak, &optimal);
    if (status < 0) return status;
    if (status != BERTH_OK) {
      if (status == BERTH_UNDECIDED) search->proven = false;
      search->fails[n].sets[search->fails[n].count++ % MEMORY] = set;
      return BERTH_OK;
    }
    if (n == 0) {
      if (!optimal) search->proven = false;
      peak_0 = peak;
    }
  }
  (void)berth_regions_keep(search->regions, cost, peak_0);
  return BERTH_OK;
}

/* ---- The search ------------------------------------------------------------------------------ */

static void account(search_t *search, uint32_t k, uint32_t region, bool enter) {
  uint64_t bit = (uint64_t)1 << k;
  search->regions->candidate[search->unit[k]].choice = enter ? region : BERTH_UNPLACED;
  search->members[region] ^= bit;
  if (region >= search->region_count) return;
  uint64_t *need = row(search, search->need, k), *load = row(search, search->load, region);
  for (uint32_t t = 0; t < search->step_count; t++) {
    load[t] = enter ? load[t] + need[t] : load[t] - need[t];
  }
}

/* May unit `k` still go to `region`? */
static bool fits(const search_t *search, uint32_t k, uint32_t region) {
  if (!berth_regions_allows(search->regions, search->unit[k], region)) return false;
  if (region == search->region_count) return true;
  uint64_t capacity = search->regions->region[region].capacity;
  const uint64_t *need = row(search, search->need, k), *load = row(search, search->load, region);
  for (uint32_t t = 0; t < search->step_count; t++) {
    uint64_t sum = load[t] + need[t];
    if (need[t] > 0 && sum > search->discount[t] && sum - search->discount[t] > capacity) {
      return false;
    }
  }
  uint64_t set = search->members[region] | (uint64_t)1 << k;
  return !any_subset(search->fails[region].sets, search->fails[region].count, set);
}

/* Is there nothing to win below a node that has come to `cost`? */
static bool hopeless(search_t *search, uint32_t depth, uint64_t cost) {
  const berth_plan_t *plan = search->regions->plan;
  uint64_t bound = cost + search->least_left[depth];
  if (plan->peak == UINT64_MAX || bound <= plan->cost) {
    uint64_t extra = overflow_cost(search, depth);
    if (extra == UINT64_MAX) return true;
    bound += extra;
  }
  if (plan->peak == UINT64_MAX) return false;
  return bound > plan->cost || (bound == plan->cost && peak_bound(search) >= plan->peak);
}

static berth_status_t descend(search_t *search, uint32_t depth, uint64_t cost) {
  berth_regions_t *regions = search->regions;
  if (!berth_regions_go_on(regions)) {
    search->proven = false;
    return BERTH_OK;
  }
  regions->work += search->step_count;
  if (hopeless(search, depth, cost)) return BERTH_OK;
  if (depth == search->unit_count) return finish(search, cost);
  uint32_t order[BERTH_REGIONS_MAX + 1];
  uint32_t count = berth_regions_order(regions, search->unit[depth], order);
  for (uint32_t c = 0; c < count; c++) {
    if (!fits(search, depth, order[c])) continue;
    account(search, depth, order[c], true);
    berth_status_t status = descend(
        search, depth + 1, cost + berth_regions_cost(regions, search->unit[depth], order[c]));
    account(search, depth, order[c], false);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static bool is_live(const berth_buffer_t *buffer, uint32_t step) {
  return buffer->size > 0 && buffer->first <= step && step <= buffer->last;
}

static void measure(search_t *search) {
  const berth_regions_t *regions = search->regions;
  const berth_problem_t *problem = regions->problem;
  const berth_greedy_t *greedy = &regions->greedy;
  for (uint32_t t = 0; t < search->step_count; t++) {
    uint32_t step = regions->starts[t];
    for (uint32_t k = 0; k < search->unit_count; k++) {
      uint64_t *need = &row(search, search->need, k)[t];
      *need = 0;
      for (uint32_t i = search->unit[k]; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
        const berth_buffer_t *buffer = &problem->buffers[i];
        if (is_live(buffer, step) && buffer->size > *need) *need = buffer->size;
      }
    }
    search->discount[t] = 0;
    for (uint32_t p = 0; p < problem->pair_count; p++) {
      const berth_pair_t *pair = &problem->pairs[p];
      const berth_buffer_t *a = &problem->buffers[pair->a], *b = &problem->buffers[pair->b];
      if (pair->relation == BERTH_SHARE || pair->relation == BERTH_APART) continue;
      if (!is_live(a, step) || !is_live(b, step)) continue;
      uint64_t bytes = pair->relation == BERTH_OVER ? a->size : pair->bytes;
      search->discount[t] += bytes < b->size ? bytes : b->size;
    }
  }
  memset(search->load, 0, (size_t)search->region_count * search->step_count * sizeof(uint64_t));
}

/* The one region in which unit `k` is cheapest, and what the next one costs more. */
static void find_home(search_t *search, uint32_t k) {
  uint32_t order[BERTH_REGIONS_MAX + 1];
  uint32_t count = berth_regions_order(search->regions, search->unit[k], order);
  uint64_t least = berth_regions_cost(search->regions, search->unit[k], order[0]);
  search->home[k] = order[0];
  search->extra[k] = UINT64_MAX;
  if (count > 1) {
    search->extra[k] = berth_regions_cost(search->regions, search->unit[k], order[1]) - least;
    if (search->extra[k] == 0) search->home[k] = search->region_count; /* not one region */
  }
  search->least_left[k] = search->least_left[k + 1] + least;
}

berth_status_t berth_regions_search(berth_regions_t *regions) {
  if (regions->unit_count > BERTH_REGIONS_EXACT_UNITS) return BERTH_UNDECIDED;
  size_t count = regions->problem->buffer_count;
  search_t *search = (search_t *)(void *)regions->exact;
  memset(search, 0, sizeof *search);
  search->regions = regions;
  search->region_count = regions->region_count;
  search->unit_count = regions->unit_count;
  uint64_t *arrays = regions->exact + (sizeof *search + 7) / 8;
  for (uint32_t i = 0; i < count; i++) { /* the steps in which something begins */
    uint32_t first = regions->problem->buffers[regions->greedy.live.order[i]].first;
    if (search->step_count == 0 || regions->starts[search->step_count - 1] != first) {
      regions->starts[search->step_count++] = first;
    }
  }
  search->need = arrays;
  search->discount = search->need + (size_t)search->unit_count * search->step_count;
  search->load = search->discount + search->step_count;
  search->overflow = search->load + (size_t)search->region_count * search->step_count;
  for (uint32_t k = 0; k < search->unit_count; k++) {
    search->unit[k] = regions->units[k];
    regions->candidate[regions->units[k]].choice = BERTH_UNPLACED;
  }
  for (uint32_t k = search->unit_count; k-- > 0;) find_home(search, k);
  search->proven = true;
  measure(search);
  berth_status_t status = descend(search, 0, 0);
  if (status < 0 || !search->proven) return status < 0 ? status : BERTH_UNDECIDED;
  if (regions->plan->peak == UINT64_MAX) return BERTH_INFEASIBLE;
  regions->plan->optimal = true;
  regions->plan->lower_bound = regions->plan->peak;
  return BERTH_OK;
}
