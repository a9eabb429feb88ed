/* Promotes what ends too high: places all items greedily in some order, and whenever one would end
 * above the target, it goes to the front of the order, and the plan becomes the one of that order.
 *
 * This is squeaky wheel optimisation (Joslin & Clements 1999), but incremental: a change of one
 * item's offset concerns only later items that it hits, or that lie above where it was, so that
 * only these are placed again, in their order. What is far away in time is never touched, and one
 * promotion costs about as much as its neighbourhood. Whenever all ends below the target, a plan is
 * found, and the target becomes a byte less than its peak.
 *
 * Invariant: an item that isn't in the queue is where the greedy order would place it, given all
 * that come before it. The queue is a heap by turn.
 */
#include "plan/search.h"

static void settle(berth_search_t *search, uint32_t at, uint32_t item) {
  search->queue[at] = item;
  search->place[item] = at + 1;
}

static void enqueue(berth_search_t *search, uint32_t item, uint32_t *count) {
  if (search->place[item] != 0) return;
  uint32_t i = (*count)++;
  while (i > 0 && search->turn[search->queue[(i - 1) / 2]] > search->turn[item]) {
    settle(search, i, search->queue[(i - 1) / 2]);
    i = (i - 1) / 2;
  }
  settle(search, i, item);
}

static uint32_t dequeue(berth_search_t *search, uint32_t *count) {
  uint32_t first = search->queue[0], item = search->queue[--*count], i = 0;
  for (uint32_t child; (child = 2 * i + 1) < *count; i = child) {
    if (child + 1 < *count &&
        search->turn[search->queue[child + 1]] < search->turn[search->queue[child]]) {
      child++;
    }
    if (search->turn[search->queue[child]] >= search->turn[item]) break;
    settle(search, i, search->queue[child]);
  }
  if (*count > 0) settle(search, i, item);
  search->place[first] = 0;
  return first;
}

/* Splits what was gathered for `item`: what comes before it stays in search->intervals; parts of
 * what comes after it go to search->neighbours, and their number is returned. */
static uint32_t split_by_turn(berth_search_t *search, uint32_t item) {
  const berth_search_set_t *set = &search->kernel;
  uint32_t kept = 0, later = 0;
  for (uint32_t k = 0; k < search->interval_count; k++) {
    uint32_t part = search->intervals[k].part;
    if (search->turn[set->parts[part].item] < search->turn[item]) {
      search->intervals[kept++] = search->intervals[k];
    } else {
      search->neighbours[later++] = part;
    }
  }
  search->interval_count = kept;
  return later;
}

/* `item` has its place: those of the `later` parts that this may concern have to be placed again.
 */
static void disturb(berth_search_t *search, uint32_t item, uint64_t before, uint32_t later,
                    uint32_t *queued) {
  const berth_search_set_t *set = &search->kernel;
  uint64_t now = berth_search_offset(set, item), size = set->items[item].size;
  for (uint32_t k = 0; k < later; k++) {
    const berth_search_part_t *part = &set->parts[search->neighbours[k]];
    uint64_t end = part->offset + set->items[part->item].size;
    bool hit = part->offset < now + size && now < end;
    bool above = now != before && before < end;
    if (hit || above) enqueue(search, part->item, queued);
  }
}

/* Everything that ends above the target has to be placed again. Returns how much that is. */
static uint32_t enqueue_above(berth_search_t *search, uint64_t target) {
  const berth_search_set_t *set = &search->kernel;
  uint32_t queued = 0;
  for (uint32_t j = 0; j < set->item_count; j++) {
    uint64_t end = berth_search_offset(set, j) + set->items[j].size;
    if (!set->items[j].fixed && end > target) enqueue(search, j, &queued);
  }
  return queued;
}

/* Places what is queued, and what that concerns; false if the budget ended before. */
static bool work_off(berth_search_t *search, uint64_t target, uint64_t limit, uint32_t queued,
                     int64_t *front) {
  berth_search_set_t *set = &search->kernel;
  while (queued > 0) {
    if (!berth_search_go_on(search, limit)) return false;
    uint32_t item = dequeue(search, &queued);
    uint64_t before = berth_search_offset(set, item);
    berth_search_gather(search, set, item);
    uint32_t later = split_by_turn(search, item);
    berth_search_sort_intervals(search->intervals, search->interval_count);
    search->work += search->interval_count;
    uint64_t offset = berth_search_first_fit(search, set->items[item].align);
    if (offset + set->items[item].size > target) {
      search->turn[item] = --*front;
      enqueue(search, item, &queued);
    } else {
      berth_search_place(set, item, offset);
      disturb(search, item, before, later, &queued);
    }
  }
  return true;
}

void berth_search_promote(berth_search_t *search, uint64_t target, uint64_t limit) {
  berth_search_set_t *set = &search->kernel;
  uint32_t queued = 0;
  int64_t front = 0;
  berth_search_clear(set);
  berth_search_order(search, BERTH_SEARCH_HOTTEST_FIRST);
  for (uint32_t i = 0; i < set->item_count; i++) {
    uint32_t item = search->order[i];
    search->turn[item] = set->items[item].fixed ? INT64_MIN : (int64_t)i;
    search->place[item] = 0;
  }
  for (uint32_t i = 0; i < set->item_count; i++) {
    if (!set->items[search->order[i]].fixed) enqueue(search, search->order[i], &queued);
  }
  while (work_off(search, target, limit, queued, &front)) {
    uint64_t peak = berth_search_peak(set);
    berth_search_keep(search, peak);
    if (peak <= search->goal) return;
    target = (peak < search->best ? peak : search->best) - 1;
    queued = enqueue_above(search, target);
    if (queued == 0) return; /* what is fixed ends there */
  }
}
