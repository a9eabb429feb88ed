/* What is taken for an item, and placing it.
 *
 * For each placed part that is live together with a part of the item, the offsets at which the two
 * would collide are an interval. Cost for one item: O(k log k) for k such parts.
 */
#include "plan/search.h"
#include <string.h>

/* The most that HEAD and TAIL pairs permit `part` with each other part: in relief_low and -high,
 * by relief_of - 1. Returns how many others there are. */
static uint32_t note_reliefs(berth_search_t *search, const berth_search_set_t *set, uint32_t part) {
  uint32_t count = 0;
  for (uint32_t k = set->relief_begin[part]; k < set->relief_begin[part + 1]; k++) {
    const berth_search_relief_t *relief = &set->reliefs[k];
    uint32_t slot = search->relief_of[relief->other];
    if (slot == 0) {
      search->relief_low[count] = search->relief_high[count] = 0;
      search->relief_of[relief->other] = slot = ++count;
    }
    if (search->relief_low[slot - 1] < relief->low) search->relief_low[slot - 1] = relief->low;
    if (search->relief_high[slot - 1] < relief->high) search->relief_high[slot - 1] = relief->high;
  }
  return count;
}

static void forget_reliefs(berth_search_t *search, const berth_search_set_t *set, uint32_t part) {
  for (uint32_t k = set->relief_begin[part]; k < set->relief_begin[part + 1]; k++) {
    search->relief_of[set->reliefs[k].other] = 0;
  }
}

/* The offsets of a part of `size` bytes that collide with `other`, with `low` and `high` permitted.
 */
static berth_search_interval_t taken(const berth_search_part_t *other, uint32_t number,
                                     uint64_t size, uint64_t low, uint64_t high) {
  berth_search_interval_t none = {0, 0, number};
  if (low == UINT64_MAX || high >= other->size + size) return none;
  uint64_t end = other->offset + other->size;
  berth_search_interval_t interval = {other->offset + low + 1, high < end ? end - high : 0, number};
  interval.low = interval.low > size ? interval.low - size : 0;
  return interval;
}

/* Adds an interval; what several parts of one item meet counts from the lowest to the highest,
 * which may be a little much. */
static void add_merged(berth_search_t *search, berth_search_interval_t interval) {
  uint32_t known = search->interval_of[interval.part];
  if (known < search->interval_count && search->intervals[known].part == interval.part) {
    berth_search_interval_t *all = &search->intervals[known];
    if (interval.low < all->low) all->low = interval.low;
    if (interval.high > all->high) all->high = interval.high;
    return;
  }
  search->interval_of[interval.part] = search->interval_count;
  search->intervals[search->interval_count++] = interval;
}

static void gather_part(berth_search_t *search, const berth_search_set_t *set, uint32_t part,
                        bool several) {
  uint32_t item = set->parts[part].item, *found = search->neighbours;
  uint64_t size = set->parts[part].size;
  uint32_t count = berth_search_neighbours(set, part, found);
  search->work += 10 + count / 4;
  bool relieved = set->relieved && note_reliefs(search, set, part) > 0;
  for (uint32_t k = 0; k < count; k++) {
    const berth_search_part_t *other = &set->parts[found[k]];
    if (other->offset == BERTH_SEARCH_UNPLACED || other->item == item) continue;
    uint64_t low = 0, high = 0;
    if (relieved && search->relief_of[found[k]] != 0) {
      low = search->relief_low[search->relief_of[found[k]] - 1];
      high = search->relief_high[search->relief_of[found[k]] - 1];
    }
    berth_search_interval_t interval = taken(other, found[k], size, low, high);
    if (interval.low >= interval.high) continue;
    if (several) {
      add_merged(search, interval);
    } else {
      search->intervals[search->interval_count++] = interval;
    }
  }
  if (relieved) forget_reliefs(search, set, part);
}

void berth_search_gather(berth_search_t *search, const berth_search_set_t *set, uint32_t item) {
  const berth_search_item_t *moving = &set->items[item];
  search->interval_count = 0;
  for (uint32_t k = 0; k < moving->count; k++) {
    gather_part(search, set, set->members[moving->begin + k], moving->count > 1);
  }
}

void berth_search_collect(berth_search_t *search, const berth_search_set_t *set, uint32_t item) {
  berth_search_gather(search, set, item);
  berth_search_sort_intervals(search->intervals, search->interval_count);
  search->work += search->interval_count;
}

uint64_t berth_search_first_fit(const berth_search_t *search, uint64_t align) {
  uint64_t offset = 0;
  for (uint32_t k = 0; k < search->interval_count; k++) {
    if (offset < search->intervals[k].low) break;
    if (offset < search->intervals[k].high) {
      offset = berth_search_align_up(search->intervals[k].high, align);
    }
  }
  return offset;
}

void berth_search_place(berth_search_set_t *set, uint32_t item, uint64_t offset) {
  const berth_search_item_t *moving = &set->items[item];
  for (uint32_t k = 0; k < moving->count; k++) {
    set->parts[set->members[moving->begin + k]].offset = offset;
  }
}

void berth_search_take_away(berth_search_set_t *set, uint32_t item) {
  berth_search_place(set, item, BERTH_SEARCH_UNPLACED);
}

void berth_search_clear(berth_search_set_t *set) {
  for (uint32_t i = 0; i < set->part_count; i++) {
    if (!set->items[set->parts[i].item].fixed) set->parts[i].offset = BERTH_SEARCH_UNPLACED;
  }
}

uint64_t berth_search_peak(const berth_search_set_t *set) {
  uint64_t peak = 0;
  for (uint32_t i = 0; i < set->part_count; i++) {
    const berth_search_part_t *part = &set->parts[i];
    if (part->offset != BERTH_SEARCH_UNPLACED && part->offset + part->size > peak) {
      peak = part->offset + part->size;
    }
  }
  return peak;
}
