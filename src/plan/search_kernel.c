/* Sets aside what is sure to find a place in the end, and brings it back.
 *
 * A part collides with each neighbour at no more than (both sizes - 1) offsets. If all neighbours
 * together leave one offset free below the goal whatever theirs are, the part can be placed last,
 * and its neighbours need not mind it, so that more of them may follow: the same argument by which
 * a register allocator simplifies its graph (Chaitin et al., "Register allocation via coloring",
 * 1981). What remains is the kernel. A plan of the kernel becomes one of the whole problem by
 * placing the others in reverse order, and its peak is then no higher than before or the goal.
 *
 * Cost: O(neighbours of all parts).
 */
#include "plan/search.h"
#include <string.h>

/* The state while setting aside, in scratch arrays. */
typedef struct aside {
  uint64_t *taken;  /* of a part: sizes of its neighbours in the kernel */
  uint32_t *count;  /* and their number */
  uint32_t *number; /* 0: set aside; later the new number of a part */
} aside_t;

/* Is there an offset left for the part wherever its neighbours are? With an alignment, a neighbour
 * takes at most (sizes - 1) / align + 1 of the (goal - size) / align + 1 multiples. */
static bool has_room(const berth_search_t *search, const aside_t *state, uint32_t part) {
  const berth_search_set_t *whole = &search->whole;
  const berth_search_item_t *item = &whole->items[whole->parts[part].item];
  uint64_t size = whole->parts[part].size, align = item->align;
  if (item->fixed || item->count > 1 || size > search->goal) return false;
  uint64_t room = search->goal - size, each = size + align - 2;
  uint64_t count = state->count[part];
  if (count > 0 && each > (UINT64_MAX - state->taken[part]) / count) return false;
  return state->taken[part] + count * each < (room / align + 1) * align;
}

static void set_aside(berth_search_t *search, aside_t *state) {
  berth_search_set_t *whole = &search->whole;
  for (uint32_t i = 0; i < whole->part_count; i++) {
    uint32_t count = berth_search_neighbours(whole, i, search->neighbours);
    state->taken[i] = 0;
    state->count[i] = count;
    state->number[i] = 1;
    for (uint32_t k = 0; k < count; k++) {
      state->taken[i] += whole->parts[search->neighbours[k]].size;
    }
  }
  for (uint32_t i = 0; i < whole->part_count; i++) {
    if (!has_room(search, state, i)) continue;
    state->number[i] = 0;
    search->aside[search->aside_count++] = i;
  }
  for (uint32_t next = 0; next < search->aside_count; next++) {
    uint32_t gone = search->aside[next];
    uint32_t count = berth_search_neighbours(whole, gone, search->neighbours);
    for (uint32_t k = 0; k < count; k++) {
      uint32_t other = search->neighbours[k];
      state->taken[other] -= whole->parts[gone].size;
      state->count[other]--;
      if (state->number[other] == 0 || !has_room(search, state, other)) continue;
      state->number[other] = 0;
      search->aside[search->aside_count++] = other;
    }
  }
  search->work += whole->encounters / 2;
}

static void copy_parts(berth_search_t *search, aside_t *state) {
  const berth_search_set_t *whole = &search->whole;
  berth_search_set_t *kernel = &search->kernel;
  for (uint32_t i = 0; i < whole->part_count; i++) {
    if (state->number[i] == 0) continue;
    uint32_t item = whole->parts[i].item;
    berth_search_part_t *part = &kernel->parts[kernel->part_count];
    *part = whole->parts[i];
    part->origin = i;
    state->number[i] = 1 + kernel->part_count++;
    if (whole->members[whole->items[item].begin] == i) { /* an item's first part comes first */
      search->place[item] = kernel->item_count;
      kernel->items[kernel->item_count++] = whole->items[item];
    }
    part->item = search->place[item];
  }
  uint32_t used = 0;
  for (uint32_t j = 0; j < kernel->item_count; j++) {
    berth_search_item_t *item = &kernel->items[j];
    uint32_t from = item->begin;
    item->begin = used;
    for (uint32_t k = 0; k < item->count; k++) {
      kernel->members[used++] = state->number[whole->members[from + k]] - 1;
    }
  }
}

static void copy_reliefs(const berth_search_t *search, berth_search_set_t *kernel,
                         const aside_t *state) {
  const berth_search_set_t *whole = &search->whole;
  kernel->relieved = whole->relieved;
  if (!whole->relieved) return;
  uint32_t used = 0;
  for (uint32_t i = 0; i < kernel->part_count; i++) {
    uint32_t origin = kernel->parts[i].origin;
    kernel->relief_begin[i] = used;
    for (uint32_t k = whole->relief_begin[origin]; k < whole->relief_begin[origin + 1]; k++) {
      berth_search_relief_t relief = whole->reliefs[k];
      if (state->number[relief.other] == 0) continue;
      relief.other = state->number[relief.other] - 1;
      kernel->reliefs[used++] = relief;
    }
  }
  kernel->relief_begin[kernel->part_count] = used;
}

void berth_search_make_kernel(berth_search_t *search, bool all) {
  aside_t state = {(uint64_t *)search->turn, search->order, search->queue};
  search->aside_count = 0;
  search->kernel.part_count = search->kernel.item_count = 0;
  if (all) {
    for (uint32_t i = 0; i < search->whole.part_count; i++) state.number[i] = 1;
  } else {
    set_aside(search, &state);
  }
  copy_parts(search, &state);
  copy_reliefs(search, &search->kernel, &state);
  berth_search_set_index(&search->kernel, search->neighbours);
}

void berth_search_restore(berth_search_t *search) {
  berth_search_set_t *whole = &search->whole;
  berth_search_clear(whole);
  for (uint32_t i = 0; i < search->kernel.part_count; i++) {
    whole->parts[search->kernel.parts[i].origin].offset = search->best_offset[i];
  }
  for (uint32_t k = search->aside_count; k-- > 0;) {
    uint32_t item = whole->parts[search->aside[k]].item;
    berth_search_collect(search, whole, item);
    berth_search_place(whole, item, berth_search_first_fit(search, whole->items[item].align));
  }
}
