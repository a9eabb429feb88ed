/* Plans to start from: a stack of all items first, which takes O(n log n) whatever the problem,
 * then placing one item after the other at the lowest free offset, in a few orders.
 *
 * An item's hotness is the largest load while it is live. Where it is near the lower bound, there
 * is no room to lose; elsewhere there is, and large items suffer most from what lies around. So
 * the orders go by log2(size) + weight x hotness / largest hotness, with several weights: 0 is the
 * greedy order by size (Pisarchyk & Lee 2020), a large one starts with what is live at the peak.
 */
#include "plan/search.h"
#include <string.h>

/* In 256ths, so that the result is the same on every machine. */
static uint64_t log2_of(uint64_t value) {
  uint64_t whole = 0;
  for (uint64_t rest = value; rest > 1; rest /= 2) whole++;
  uint64_t rest = whole >= 8 ? value >> (whole - 8) : value << (8 - whole);
  return whole * 256 + (rest - 256);
}

/* ---- Hotness ----------------------------------------------------------------------------------
 */

/* Of a tree over the parts: node 1 is the root, i's children are 2i and 2i+1, leaves start at
 * `leaves`. */
static uint64_t largest_in(const uint64_t *tree, uint32_t leaves, uint32_t begin, uint32_t end) {
  uint64_t largest = 0;
  for (size_t i = (size_t)leaves + begin, j = (size_t)leaves + end; i < j; i /= 2, j /= 2) {
    if (i % 2 == 1 && tree[i++] > largest) largest = tree[i - 1];
    if (j % 2 == 1 && tree[--j] > largest) largest = tree[j];
  }
  return largest;
}

static void measure_hotness(berth_search_t *search) {
  const berth_search_set_t *set = &search->kernel;
  uint32_t count = set->part_count;
  uint64_t *tree = (uint64_t *)search->intervals, *load = tree + count; /* at each part's begin */
  memset(load, 0, (size_t)count * sizeof *load);
  for (uint32_t i = 0; i < count; i++) {
    load[set->company[i].begin] += set->parts[i].size;
    if (set->company[i].end < count) load[set->company[i].end] -= set->parts[i].size;
  }
  for (uint32_t i = 1; i < count; i++) load[i] += load[i - 1];
  for (uint32_t i = count; i-- > 1;) {
    tree[i] = tree[2 * (size_t)i] > tree[2 * (size_t)i + 1] ? tree[2 * (size_t)i]
                                                            : tree[2 * (size_t)i + 1];
  }
  for (uint32_t j = 0; j < set->item_count; j++) {
    search->hotness[j] = 0;
    for (uint32_t k = 0; k < set->items[j].count; k++) {
      const berth_search_company_t *company = &set->company[set->members[set->items[j].begin + k]];
      uint64_t here = largest_in(tree, count, company->begin, company->end);
      if (here > search->hotness[j]) search->hotness[j] = here;
    }
  }
}

/* ---- The stack --------------------------------------------------------------------------------
 */

/* For ranges of parts, in two trees of the same shape as above: how high everything is stacked at
 * most (`top`), and how high over the whole of a node's range (`flat`). */
typedef struct skyline {
  uint64_t *top, *flat;
  uint32_t leaves;
} skyline_t;

static uint64_t height_over(const skyline_t *skyline, uint32_t begin, uint32_t end) {
  uint64_t height = largest_in(skyline->top, skyline->leaves, begin, end);
  size_t ends[2] = {(size_t)skyline->leaves + begin, (size_t)skyline->leaves + end - 1};
  for (int side = 0; side < 2; side++) {
    for (size_t i = ends[side]; i > 0; i /= 2) {
      if (skyline->flat[i] > height) height = skyline->flat[i];
    }
  }
  return height;
}

static void raise_node(skyline_t *skyline, size_t i, uint64_t height) {
  if (skyline->top[i] < height) skyline->top[i] = height;
  if (skyline->flat[i] < height) skyline->flat[i] = height;
}

static void raise_to(skyline_t *skyline, uint32_t begin, uint32_t end, uint64_t height) {
  size_t i = (size_t)skyline->leaves + begin, j = (size_t)skyline->leaves + end;
  for (size_t k = i; k > 0; k /= 2) {
    if (skyline->top[k] < height) skyline->top[k] = height;
  }
  for (size_t k = j - 1; k > 0; k /= 2) {
    if (skyline->top[k] < height) skyline->top[k] = height;
  }
  for (; i < j; i /= 2, j /= 2) {
    if (i % 2 == 1) raise_node(skyline, i++, height);
    if (j % 2 == 1) raise_node(skyline, --j, height);
  }
}

static void raise_item(const berth_search_set_t *set, skyline_t *skyline, uint32_t item,
                       uint64_t offset) {
  for (uint32_t k = 0; k < set->items[item].count; k++) {
    uint32_t part = set->members[set->items[item].begin + k];
    raise_to(skyline, set->company[part].begin, set->company[part].end,
             offset + set->parts[part].size);
  }
}

/* Places each item above all that is live together with it so far, fixed ones first. */
static void stack(berth_search_t *search) {
  berth_search_set_t *set = &search->kernel;
  skyline_t skyline = {(uint64_t *)search->intervals, (uint64_t *)search->ends, set->part_count};
  memset(skyline.top, 0, 2 * (size_t)set->part_count * sizeof *skyline.top);
  memset(skyline.flat, 0, 2 * (size_t)set->part_count * sizeof *skyline.flat);
  for (uint32_t j = 0; j < set->item_count; j++) {
    if (set->items[j].fixed) raise_item(set, &skyline, j, berth_search_offset(set, j));
  }
  for (uint32_t i = 0; i < set->item_count; i++) {
    const berth_search_item_t *item = &set->items[search->order[i]];
    if (item->fixed) continue;
    uint64_t offset = 0;
    for (uint32_t k = 0; k < item->count; k++) {
      const berth_search_company_t *company = &set->company[set->members[item->begin + k]];
      uint64_t height = height_over(&skyline, company->begin, company->end);
      if (height > offset) offset = height;
    }
    offset = berth_search_align_up(offset, item->align);
    berth_search_place(set, search->order[i], offset);
    raise_item(set, &skyline, search->order[i], offset);
  }
  search->work += 64 * (uint64_t)set->part_count;
  berth_search_keep(search, berth_search_peak(set));
}

/* ---- Orders -----------------------------------------------------------------------------------
 */

void berth_search_order(berth_search_t *search, uint32_t weight) {
  const berth_search_set_t *set = &search->kernel;
  uint64_t *key = (uint64_t *)search->turn, hottest = 1;
  for (uint32_t j = 0; j < set->item_count; j++) {
    search->order[j] = j;
    key[j] = set->items[j].size;
    if (search->hotness[j] > hottest) hottest = search->hotness[j];
  }
  berth_search_sort_by_key(search->order, set->item_count, key, search->queue);
  uint32_t shift = 0;
  while (hottest >> shift >= (uint64_t)1 << 40) shift++;
  for (uint32_t j = 0; j < set->item_count; j++) {
    uint64_t share = ((search->hotness[j] >> shift) << 16) / (hottest >> shift);
    key[j] = (log2_of(set->items[j].size) << 8) + weight * share;
  }
  berth_search_sort_by_key(search->order, set->item_count, key, search->queue);
  search->work += 16 * (uint64_t)set->item_count;
}

/* Places all in search->order, unless the best plan cannot be beaten any more. */
static void place_in_order(berth_search_t *search) {
  berth_search_set_t *set = &search->kernel;
  uint64_t peak = 0;
  berth_search_clear(set);
  for (uint32_t i = 0; i < set->item_count; i++) {
    const berth_search_item_t *item = &set->items[search->order[i]];
    uint64_t offset = berth_search_offset(set, search->order[i]);
    if (!item->fixed) {
      berth_search_collect(search, set, search->order[i]);
      offset = berth_search_first_fit(search, item->align);
      berth_search_place(set, search->order[i], offset);
    }
    if (offset + item->size > peak) peak = offset + item->size;
    if (peak >= search->best) return;
  }
  berth_search_keep(search, peak);
}

void berth_search_start(berth_search_t *search) {
  static const uint32_t weights[] = {6, 0, BERTH_SEARCH_HOTTEST_FIRST, 3, 12};
  berth_search_set_t *set = &search->kernel;
  if (set->part_count == 0) {
    search->best = 0;
    return;
  }
  measure_hotness(search);
  berth_search_order(search, 3);
  stack(search);
  for (size_t i = 0; i < sizeof weights / sizeof weights[0] && search->best > search->goal; i++) {
    /* One pass meets all neighbours about once, and sorts them. */
    uint64_t left = search->work_limit - search->work;
    if (search->work > search->work_limit || set->encounters > left / 2) break;
    berth_search_order(search, weights[i]);
    place_in_order(search);
    if (!berth_search_go_on(search, search->work_limit)) break;
  }
}
