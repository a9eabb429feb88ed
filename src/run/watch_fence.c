/* The guard's fast way, fences: the nearest bytes of nobody's around what an operator may write
 * hold a pattern, and must have it afterwards; so must the caller's margins, at the invoke's end.
 */
#include "watch_fast.h"
#include <string.h>

#define FENCE BERTH_WATCH_FENCE

static void suspect_bytes(const berth_watch_t *watch, const uint8_t *data, uint32_t bytes,
                          uint32_t since) {
  berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
  berth_watch_name(watch, data, &finding);
  finding.victim_count = bytes;
  berth_watch_suspect(watch->guard, finding, since);
}

/* ---- Fences ---------------------------------------------------------------------------------- */

static void list_own_range(const berth_watch_t *watch, const berth_range_t *range) {
  berth_guard_t *guard = watch->guard;
  if (range->data == NULL || range->bytes == 0) return;
  if (!berth_watch_is_in_arena(guard, range->data)) return;
  berth_kept_t own = {range->data, range->bytes, 0, BERTH_NOBODY, watch->call.index};
  guard->kept[guard->kept_count + guard->own_count++] = own;
}

/* Lists, behind what is kept, what the operator may write in the arena. Its scratch is elsewhere.
 */
static void list_own(const berth_watch_t *watch) {
  berth_range_t range;
  uint32_t output;
  watch->guard->own_count = 0;
  for (uint32_t i = 0; berth_watch_result(watch, i, &range, &output); i++) {
    list_own_range(watch, &range);
  }
}

/* Number `index` of the fences between scratch buffers. */
static bool scratch_fence(const berth_watch_t *watch, uint32_t index, berth_range_t *fence) {
  uint8_t *at = watch->guard->scratch;
  berth_range_t range;
  for (uint32_t i = 0; i < index; i++) {
    if (!berth_watch_scratch(watch, i, &range)) return false;
    if (range.bytes > 0) at = range.data + range.bytes;
  }
  *fence = (berth_range_t){at, FENCE + (uint32_t)(-(uintptr_t)(at + FENCE) & 15u), 0};
  return true;
}

/* Scratch gets memory of the guard's, so that what is written behind an output cannot be the
 * operator's own by chance. */
static void move_scratch(berth_watch_t *watch) {
  berth_range_t range, fence;
  for (uint32_t i = 0; scratch_fence(watch, i, &fence); i++) {
    memset(fence.data, watch->guard->fence, fence.bytes);
    if (!berth_watch_scratch(watch, i, &range) || range.data == NULL) continue;
    watch->call.scratch[i] = fence.data + fence.bytes;
  }
}

/* The bytes of the arena on either side of something that are nobody's. */
static void fences_of(const berth_guard_t *guard, const berth_kept_t *own,
                      berth_range_t fences[2]) {
  uint8_t *start = guard->interpreter->memories.activations.data;
  uint8_t *end = start + guard->interpreter->needs.extent;
  uint8_t *low = (size_t)(own->data - start) > FENCE ? own->data - FENCE : start;
  uint8_t *after = own->data + own->bytes,
          *high = (size_t)(end - after) > FENCE ? after + FENCE : end;
  for (uint32_t i = 0; i < guard->kept_count + guard->own_count; i++) {
    const berth_kept_t *other = &guard->kept[i];
    uint8_t *other_end = other->data + other->bytes;
    if (other->data < own->data && other_end > low) low = other_end;
    if (other_end > after && other->data < high) high = other->data;
  }
  fences[0].data = low < own->data ? low : own->data;
  fences[0].bytes = (uint32_t)(own->data - fences[0].data);
  fences[1].data = after;
  fences[1].bytes = high > after ? (uint32_t)(high - after) : 0;
}

void berth_watch_put_fences(berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  berth_range_t fences[2];
  move_scratch(watch);
  list_own(watch);
  for (uint32_t i = 0; i < guard->own_count; i++) {
    fences_of(guard, &guard->kept[guard->kept_count + i], fences);
    for (int k = 0; k < 2; k++) memset(fences[k].data, guard->fence, fences[k].bytes);
  }
}

static bool check_filled(const berth_watch_t *watch, const berth_range_t *range, uint32_t since) {
  uint32_t first, count;
  uint8_t fence = watch->guard->fence;
  if (berth_watch_is_filled(range->data, range->bytes, fence, &first, &count)) return true;
  suspect_bytes(watch, range->data + first, count, since);
  return false;
}

static bool check_scratch_fences(const berth_watch_t *watch) {
  berth_range_t fence, before = {NULL, 0, 0};
  for (uint32_t i = 0; scratch_fence(watch, i, &fence); i++) {
    uint32_t first, count;
    if (i > 0) berth_watch_scratch(watch, i - 1, &before);
    if (berth_watch_is_filled(fence.data, fence.bytes, watch->guard->fence, &first, &count)) {
      continue;
    }
    berth_guard_finding_t finding = berth_watch_finding(watch, BERTH_GUARD_CLOBBER);
    finding.owner = BERTH_GUARD_SCRATCH;
    finding.victim_first = before.bytes + first;
    finding.victim_count = count;
    berth_watch_suspect(watch->guard, finding, watch->call.index);
    return false;
  }
  return true;
}

bool berth_watch_check_fences(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  berth_range_t fences[2];
  for (uint32_t i = 0; i < guard->own_count; i++) {
    fences_of(guard, &guard->kept[guard->kept_count + i], fences);
    for (int k = 0; k < 2; k++) {
      if (!check_filled(watch, &fences[k], watch->call.index)) return false;
    }
  }
  return check_scratch_fences(watch);
}

/* The caller's bytes on either side of the arena. */
bool berth_watch_check_margins(const berth_watch_t *watch) {
  const berth_guard_t *guard = watch->guard;
  uint8_t *start = berth_watch_arena(guard);
  berth_range_t before = {start, guard->before, 0};
  berth_range_t after = {start + berth_watch_arena_bytes(guard) - guard->after, guard->after, 0};
  return check_filled(watch, &before, BERTH_NOBODY) && check_filled(watch, &after, BERTH_NOBODY);
}
