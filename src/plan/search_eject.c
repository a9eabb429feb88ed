/* Ejection search: brings a plan below a target by taking away what ends above it and finding new
 * places for that, at the cost of others.
 *
 * An item from the queue goes to the lowest free offset if there is one below the target. If not,
 * its penalty grows, and it takes the place whose present users have the smallest penalties in
 * sum; they go to the queue. So what is hard to place wins over time (guided ejection search,
 * Nagata & Bräysy, "A powerful route minimization heuristic ...", 2009). A penalty counts for more
 * where an item has many neighbours, since moving it costs more work and disturbs more.
 *
 * Gaps come and go everywhere; now and then all sinks, so that many small ones become few large
 * ones.
 *
 * Every move concerns one neighbourhood in time, so that a large plan with few tight spots is
 * improved as fast as a small one. When few items are in the queue, they are placed above all
 * others for a moment, in case that makes a plan better than the best.
 */
#include "plan/search.h"

enum { SETTLE_EVERY = 32 };       /* times the work of letting all sink */
enum { FEW = 32 };                /* items in the queue that are worth completing a plan for */
#define NEVER ((uint64_t)1 << 40) /* cost of moving a fixed item; penalties stay far below */

static uint32_t square_root(uint64_t value) {
  uint32_t root = 0;
  for (uint32_t bit = (uint32_t)1 << 31; bit != 0; bit >>= 1) {
    uint64_t next = root | bit;
    if (next * next <= value) root = (uint32_t)next;
  }
  return root;
}

void berth_search_eject_prepare(berth_search_t *search) {
  berth_search_set_t *set = &search->kernel;
  for (uint32_t j = 0; j < set->item_count; j++) {
    berth_search_item_t *item = &set->items[j];
    uint64_t neighbours = 0;
    for (uint32_t k = 0; k < item->count; k++) {
      const berth_search_company_t *company = &set->company[set->members[item->begin + k]];
      const berth_search_checkpoint_t *earlier = &set->checkpoints[company->checkpoint];
      neighbours += company->end - company->begin + earlier[1].begin - earlier[0].begin;
    }
    item->standing = 1 + square_root(neighbours);
    item->penalty = 1;
  }
}

static uint64_t cost_of(const berth_search_set_t *set, uint32_t part) {
  const berth_search_item_t *item = &set->items[set->parts[part].item];
  return item->fixed ? NEVER : (uint64_t)item->penalty * item->standing;
}

/* ---- The queue: a bag, from which a random item is taken ---------------------------------------
 */

static void put(berth_search_t *search, uint32_t item, uint32_t *count) {
  berth_search_take_away(&search->kernel, item);
  search->queue[(*count)++] = item;
}

static uint32_t draw(berth_search_t *search, uint32_t *count) {
  uint32_t i = (uint32_t)(berth_search_random(search) % *count), item = search->queue[i];
  search->queue[i] = search->queue[--*count];
  return item;
}

/* ---- The cheapest place ------------------------------------------------------------------------
 */

typedef struct choice {
  uint64_t offset, cost;
  uint32_t equals; /* candidates of that cost so far */
} choice_t;

static void consider(berth_search_t *search, choice_t *choice, uint64_t offset, uint64_t cost) {
  if (cost > choice->cost) return;
  if (cost < choice->cost) {
    choice->cost = cost;
    choice->equals = 0;
  }
  choice->equals++;
  if (choice->equals == 1 || berth_search_random(search) % choice->equals == 0) {
    choice->offset = offset;
  }
}

/* Costs of offsets asked for in ascending order. */
typedef struct cover {
  uint32_t begun, ended;
  uint64_t cost;
} cover_t;

static uint64_t cost_at(const berth_search_t *search, cover_t *cover, uint64_t offset) {
  const berth_search_set_t *set = &search->kernel;
  for (; cover->begun < search->interval_count && search->intervals[cover->begun].low <= offset;
       cover->begun++) {
    cover->cost += cost_of(set, search->intervals[cover->begun].part);
  }
  for (; cover->ended < search->interval_count && search->ends[cover->ended].high <= offset;
       cover->ended++) {
    cover->cost -= search->ends[cover->ended].cost;
  }
  return cover->cost;
}

/* After berth_search_collect: where an item with `room` (the highest offset it may have) costs the
 * least, of all places next to what is taken. NEVER or more: nowhere. */
static choice_t cheapest(berth_search_t *search, uint64_t room, uint64_t align) {
  uint32_t count = search->interval_count;
  for (uint32_t k = 0; k < count; k++) {
    search->ends[k].high = search->intervals[k].high;
    search->ends[k].cost = cost_of(&search->kernel, search->intervals[k].part);
  }
  berth_search_sort_ends(search->ends, count);
  search->work += 2 * (uint64_t)count;

  choice_t choice = {0, UINT64_MAX, 0};
  cover_t above = {0, 0, 0}, below = {0, 0, 0};
  consider(search, &choice, 0, cost_at(search, &above, 0));
  for (uint32_t k = 0; k < count; k++) { /* just above something */
    uint64_t offset = berth_search_align_up(search->ends[k].high, align);
    if (offset > room) break;
    if (k > 0 && search->ends[k].high == search->ends[k - 1].high) continue;
    consider(search, &choice, offset, cost_at(search, &above, offset));
  }
  for (uint32_t k = 0; k < count; k++) { /* just below something */
    uint64_t low = search->intervals[k].low;
    if (low == 0 || (k > 0 && search->intervals[k - 1].low == low)) continue;
    uint64_t offset = low - 1 - (low - 1) % align;
    if (offset > room) break;
    consider(search, &choice, offset, cost_at(search, &below, offset));
  }
  room -= room % align; /* just below the target */
  consider(search, &choice, room, cost_at(search, &below, room));
  return choice;
}

/* ---- Settling -----------------------------------------------------------------------------------
 */

/* Lets everything placed sink to the lowest free offset, the lowest first. */
static void settle(berth_search_t *search) {
  berth_search_set_t *set = &search->kernel;
  uint64_t *key = (uint64_t *)search->turn;
  uint32_t count = 0;
  for (uint32_t j = 0; j < set->item_count; j++) {
    uint64_t offset = berth_search_offset(set, j);
    key[j] = ~offset;
    if (offset != BERTH_SEARCH_UNPLACED && !set->items[j].fixed) search->order[count++] = j;
  }
  berth_search_sort_by_key(search->order, count, key, search->place);
  for (uint32_t i = 0; i < count; i++) {
    berth_search_collect(search, set, search->order[i]);
    uint64_t offset = berth_search_first_fit(search, set->items[search->order[i]].align);
    berth_search_place(set, search->order[i], offset);
  }
}

/* ---- The search --------------------------------------------------------------------------------
 */

/* Places what is in the queue above the target, to see whether that beats the best plan. */
static void complete(berth_search_t *search, uint64_t target, uint32_t queued) {
  berth_search_set_t *set = &search->kernel;
  uint64_t peak = target;
  uint32_t placed = 0;
  while (placed < queued && peak < search->best) {
    uint32_t item = search->queue[placed++];
    berth_search_collect(search, set, item);
    uint64_t offset = berth_search_first_fit(search, set->items[item].align);
    berth_search_place(set, item, offset);
    if (offset + set->items[item].size > peak) peak = offset + set->items[item].size;
  }
  if (peak < search->best) berth_search_keep(search, berth_search_peak(set));
  for (uint32_t k = 0; k < placed; k++) berth_search_take_away(set, search->queue[k]);
}

static uint32_t take_away_above(berth_search_t *search, uint64_t target) {
  berth_search_set_t *set = &search->kernel;
  uint32_t queued = 0;
  for (uint32_t i = 0; i < set->part_count; i++) set->parts[i].offset = search->best_offset[i];
  for (uint32_t j = 0; j < set->item_count; j++) {
    uint64_t offset = berth_search_offset(set, j);
    if (!set->items[j].fixed && offset + set->items[j].size > target) put(search, j, &queued);
  }
  search->work += 8 + set->part_count / 4;
  return queued;
}

bool berth_search_eject(berth_search_t *search, uint64_t target, uint64_t limit) {
  berth_search_set_t *set = &search->kernel;
  uint32_t queued = take_away_above(search, target), fewest = FEW + 1;
  uint64_t interval = SETTLE_EVERY * (1 + set->encounters), next_settling = search->work + interval;
  while (queued > 0) {
    if (!berth_search_go_on(search, limit)) return false;
    if (search->work >= next_settling) {
      settle(search);
      next_settling = search->work + interval;
    }
    uint32_t number = draw(search, &queued);
    berth_search_item_t *item = &set->items[number];
    if (item->size > target) return false;
    berth_search_collect(search, set, number);
    uint64_t offset = berth_search_first_fit(search, item->align);
    if (offset + item->size > target) {
      choice_t choice = cheapest(search, target - item->size, item->align);
      if (choice.cost >= NEVER) return false;
      offset = choice.offset;
      item->penalty++;
      for (uint32_t k = 0; k < search->interval_count; k++) {
        const berth_search_interval_t *taken = &search->intervals[k];
        uint32_t other = set->parts[taken->part].item;
        if (taken->low <= offset && offset < taken->high &&
            set->parts[taken->part].offset != BERTH_SEARCH_UNPLACED) {
          put(search, other, &queued);
        }
      }
    }
    berth_search_place(set, number, offset);
    if (queued > 0 && queued < fewest) {
      fewest = queued;
      complete(search, target, queued);
    }
  }
  berth_search_keep(search, berth_search_peak(set));
  return true;
}
