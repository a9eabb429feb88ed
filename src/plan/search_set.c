/* Which parts are live together: an index over parts in order of their first step.
 *
 * Those that begin while a part is live stand next to each other. Those that began earlier are
 * found from checkpoints: lists of all that are live at some point, taken whenever as many parts
 * have begun or ended since the last one as it holds. So all lists together hold at most three
 * times as many entries as there are parts, and finding k neighbours takes O(k + changes since the
 * checkpoint), which is O(k) unless most of what was live has just ended.
 */
#include "plan/search.h"
#include <string.h>

enum { SPACING = 16 }; /* changes between two checkpoints at least */

void berth_search_set_lay_out(berth_search_set_t *set, size_t parts, size_t pairs,
                              berth_workspace_t *memory) {
  if (pairs > SIZE_MAX / 2 || parts > SIZE_MAX / 4 - 4) memory->overflow = true;
  set->parts = berth_workspace_take(memory, parts, sizeof *set->parts);
  set->items = berth_workspace_take(memory, parts, sizeof *set->items);
  set->members = berth_workspace_take(memory, parts, sizeof *set->members);
  set->company = berth_workspace_take(memory, parts, sizeof *set->company);
  set->checkpoints =
      berth_workspace_take(memory, 2 * parts / SPACING + 4, sizeof *set->checkpoints);
  set->live = berth_workspace_take(memory, 3 * parts + 1, sizeof *set->live);
  set->relief_begin = NULL;
  set->reliefs = NULL;
  if (pairs == 0) return;
  set->relief_begin = berth_workspace_take(memory, parts + 1, sizeof *set->relief_begin);
  set->reliefs = berth_workspace_take(memory, 2 * pairs, sizeof *set->reliefs);
}

/* The first part that begins after step `last`. */
static uint32_t first_after(const berth_search_set_t *set, uint32_t from, uint32_t last) {
  uint32_t step = 1, low = from, high = set->part_count;
  while (low + step < high && set->parts[low + step].first <= last) { /* most are near */
    low += step;
    step *= 2;
  }
  if (step < high - low) high = low + step;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (set->parts[middle].first <= last) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void berth_search_set_index(berth_search_set_t *set, uint32_t *deaths) {
  memset(deaths, 0, ((size_t)set->part_count + 1) * sizeof *deaths);
  for (uint32_t i = 0; i < set->part_count; i++) {
    bool same = i > 0 && set->parts[i - 1].first == set->parts[i].first;
    set->company[i].begin = same ? set->company[i - 1].begin : i;
    set->company[i].end = first_after(set, i, set->parts[i].last);
    deaths[set->company[i].end]++;
  }
  uint32_t count = 0, changes = 0, live = 0, used = 0;
  set->encounters = 0;
  for (uint32_t i = 0; i < set->part_count; i++) {
    if (i == set->company[i].begin) {
      uint32_t held = count == 0 ? 0 : used - set->checkpoints[count - 1].begin;
      if (count == 0 || changes >= held + SPACING) {
        uint32_t from = count == 0 ? 0 : set->checkpoints[count - 1].begin, to = used;
        uint32_t since = count == 0 ? 0 : set->checkpoints[count - 1].part;
        for (uint32_t k = from; k < to; k++) {
          if (set->company[set->live[k]].end > i) set->live[used++] = set->live[k];
        }
        for (uint32_t k = since; k < i; k++) {
          if (set->company[k].end > i) set->live[used++] = k;
        }
        set->checkpoints[count].part = i;
        set->checkpoints[count++].begin = to;
        live = used - to;
        changes = 0;
      }
    }
    set->company[i].checkpoint = count - 1;
    set->encounters += live + (set->company[i].end - set->company[i].begin);
    live++;
    changes += 1 + deaths[i + 1];
  }
  set->checkpoints[count].part = set->part_count;
  set->checkpoints[count].begin = used;
}

uint32_t berth_search_neighbours(const berth_search_set_t *set, uint32_t part, uint32_t *found) {
  const berth_search_company_t *company = &set->company[part];
  const berth_search_checkpoint_t *checkpoint = &set->checkpoints[company->checkpoint];
  uint32_t count = 0;
  for (uint32_t k = checkpoint[0].begin; k < checkpoint[1].begin; k++) {
    found[count] = set->live[k];
    count += set->company[set->live[k]].end > company->begin;
  }
  for (uint32_t i = checkpoint->part; i < company->begin; i++) {
    found[count] = i;
    count += set->company[i].end > company->begin;
  }
  for (uint32_t i = company->begin; i < company->end; i++) {
    found[count] = i;
    count += i != part;
  }
  return count;
}
