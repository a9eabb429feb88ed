/* Placed buffers by time: see live.h. */
#include "plan/live.h"
#include "plan/sort.h"
#include <string.h>

void berth_live_lay_out(berth_live_t *live, const berth_problem_t *problem,
                        berth_workspace_t *memory) {
  live->buffers = problem->buffers;
  live->count = problem->buffer_count;
  uint64_t leaves = 1;
  while (leaves < live->count) leaves *= 2;
  if (leaves > UINT32_MAX / 2) memory->overflow = true;
  live->leaves = (uint32_t)leaves;
  live->order = berth_workspace_take(memory, live->count, sizeof(uint32_t));
  live->leaf = berth_workspace_take(memory, live->count, sizeof(uint32_t));
  live->latest = berth_workspace_take(memory, (size_t)leaves, 2 * sizeof(uint32_t));
}

static bool starts_before(const void *context, uint32_t a, uint32_t b) {
  const berth_live_t *live = context;
  return live->buffers[a].first < live->buffers[b].first;
}

void berth_live_prepare(berth_live_t *live, uint32_t *spare) {
  for (uint32_t i = 0; i < live->count; i++) live->order[i] = i;
  berth_plan_sort(live->order, live->count, spare, starts_before, live);
  for (uint32_t i = 0; i < live->count; i++) live->leaf[live->order[i]] = i;
  berth_live_clear(live);
}

void berth_live_clear(berth_live_t *live) {
  memset(live->latest, 0, (size_t)live->leaves * 2 * sizeof *live->latest);
}

void berth_live_place(berth_live_t *live, uint32_t i) {
  uint32_t end = live->buffers[i].last + 1;
  for (uint32_t node = live->leaves + live->leaf[i]; node >= 1; node /= 2) {
    if (live->latest[node] < end) live->latest[node] = end;
  }
}

void berth_live_remove(berth_live_t *live, uint32_t i) {
  uint32_t node = live->leaves + live->leaf[i];
  live->latest[node] = 0;
  while ((node /= 2) >= 1) {
    const uint32_t *below = live->latest + 2 * (size_t)node;
    live->latest[node] = below[0] > below[1] ? below[0] : below[1];
  }
}

/* How many buffers begin in step `last` or before: only their leaves need be looked at. */
static uint32_t begun(const berth_live_t *live, uint32_t last) {
  uint32_t low = 0, high = live->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (live->buffers[live->order[middle]].first <= last) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t berth_live_collect(const berth_live_t *live, uint32_t first, uint32_t last,
                            uint32_t *found) {
  uint32_t limit = begun(live, last), count = 0;
  struct {
    uint32_t node, begin, leaves; /* the node and the leaves below it */
  } stack[33];
  uint32_t depth = 0;
  stack[depth].node = 1;
  stack[depth].begin = 0;
  stack[depth++].leaves = live->leaves;
  while (depth > 0) {
    depth--;
    uint32_t node = stack[depth].node, begin = stack[depth].begin, leaves = stack[depth].leaves;
    if (begin >= limit || live->latest[node] <= first) continue;
    if (leaves == 1) {
      found[count++] = live->order[begin];
      continue;
    }
    stack[depth].node = 2 * node + 1;
    stack[depth].begin = begin + leaves / 2;
    stack[depth++].leaves = leaves / 2;
    stack[depth].node = 2 * node;
    stack[depth].begin = begin;
    stack[depth++].leaves = leaves / 2;
  }
  return count;
}
