/* Greedy placement: see greedy.h.
 *
 * For each placed buffer that is live together with a member of the unit, the offsets at which the
 * two would collide are an open interval (a span). Visiting the spans from the lowest up finds the
 * gaps between them. Cost for one unit: O(k log n) for k buffers in the way.
 */
#include "plan/greedy.h"
#include "plan/round.h"
#include "plan/share.h"
#include <string.h>

enum { UNITS_PER_BUFFER = 8 }; /* of work: to find a placed buffer and to sort its span */

void berth_greedy_lay_out(berth_greedy_t *greedy, const berth_problem_t *problem,
                          berth_workspace_t *memory) {
  size_t count = problem->buffer_count, pairs = problem->pair_count;
  greedy->problem = problem;
  greedy->unit_count = 0;
  greedy->work = 0;
  if (pairs > SIZE_MAX / 2) memory->overflow = true;
  greedy->units = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->unit = berth_workspace_take(memory, count, sizeof(berth_unit_t));
  greedy->unit_of = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->next = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->adjacent = berth_workspace_take(memory, count + 1, sizeof(uint32_t));
  greedy->pairs = berth_workspace_take(memory, 2 * pairs, sizeof(uint32_t));
  greedy->found = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->place_of = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->reach = berth_workspace_take(memory, count, sizeof(berth_span_t));
  greedy->over = berth_workspace_take(memory, count, sizeof(bool));
  greedy->hosts = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->span_of = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->owner = berth_workspace_take(memory, count, sizeof(uint32_t));
  greedy->spans = berth_workspace_take(memory, count, sizeof(berth_span_t));
  berth_live_lay_out(&greedy->live, problem, memory);
}

/* ---- Units ----------------------------------------------------------------------------------- */

static berth_status_t join(berth_unit_t *unit, const berth_buffer_t *buffer) {
  uint64_t align = buffer->align > 1 ? buffer->align : 1;
  if (buffer->size > unit->size) unit->size = buffer->size;
  if (buffer->first < unit->first) unit->first = buffer->first;
  if (buffer->last > unit->last) unit->last = buffer->last;
  unit->align = berth_common_multiple(unit->align, align);
  if (unit->align == 0) return BERTH_ERROR_OVERFLOW;
  if (buffer->fixed != BERTH_ANYWHERE) {
    if (unit->fixed != BERTH_ANYWHERE && unit->fixed != buffer->fixed) unit->impossible = true;
    unit->fixed = buffer->fixed;
  }
  return BERTH_OK;
}

static berth_status_t join_units(berth_greedy_t *greedy) {
  const berth_problem_t *problem = greedy->problem;
  berth_status_t infeasible = BERTH_OK;
  berth_plan_share_groups(problem, greedy->unit_of);
  for (uint32_t i = problem->buffer_count; i-- > 0;) greedy->next[i] = BERTH_GREEDY_NONE;
  for (uint32_t i = problem->buffer_count; i-- > 0;) {
    uint32_t unit = greedy->unit_of[i];
    if (unit == i) continue;
    greedy->next[i] = greedy->next[unit];
    greedy->next[unit] = i;
  }
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    berth_unit_t *unit = &greedy->unit[greedy->unit_of[i]];
    if (greedy->unit_of[i] == i) {
      berth_unit_t empty = {0, 1, BERTH_ANYWHERE, 0, 0, false, UINT32_MAX, 0};
      *unit = empty;
    }
    berth_status_t status = join(unit, &problem->buffers[i]);
    if (status != BERTH_OK) return status;
  }
  greedy->unit_count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    berth_unit_t *unit = &greedy->unit[i];
    if (greedy->unit_of[i] != i) continue;
    if (unit->fixed == BERTH_ANYWHERE) {
      greedy->units[greedy->unit_count++] = i;
    } else if (unit->fixed % unit->align != 0) {
      unit->impossible = true;
    }
    if (unit->impossible) infeasible = BERTH_INFEASIBLE;
  }
  return infeasible;
}

static void index_pairs(berth_greedy_t *greedy) {
  const berth_problem_t *problem = greedy->problem;
  uint32_t count = problem->buffer_count;
  memset(greedy->adjacent, 0, ((size_t)count + 1) * sizeof *greedy->adjacent);
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    if (problem->pairs[k].relation == BERTH_SHARE) continue;
    greedy->adjacent[problem->pairs[k].a]++;
    greedy->adjacent[problem->pairs[k].b]++;
  }
  for (uint32_t i = 0, sum = 0; i <= count; i++) {
    sum += greedy->adjacent[i];
    greedy->adjacent[i] = sum;
  }
  for (uint32_t k = problem->pair_count; k-- > 0;) {
    if (problem->pairs[k].relation == BERTH_SHARE) continue;
    greedy->pairs[--greedy->adjacent[problem->pairs[k].a]] = k;
    greedy->pairs[--greedy->adjacent[problem->pairs[k].b]] = k;
  }
}

/* ---- What is taken --------------------------------------------------------------------------- */

/* Keeps of the found buffers those in the region of `unit`. */
static uint32_t keep_region(berth_greedy_t *greedy, uint32_t unit, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t other = greedy->unit_of[greedy->found[k]];
    if (greedy->unit[other].region == greedy->unit[unit].region) {
      greedy->found[kept++] = greedy->found[k];
    }
  }
  return kept;
}

/* Finds the placed buffers that are live together with buffer `mine` (greedy->found; returned is
 * how many) and at which of its offsets relative to theirs the two would collide: strictly between
 * low and high of greedy->reach[k], for the k-th found one; not at 0 if greedy->over[k]. */
static uint32_t find_collisions(berth_greedy_t *greedy, uint32_t mine) {
  const berth_problem_t *problem = greedy->problem;
  const berth_buffer_t *buffer = &problem->buffers[mine];
  if (buffer->size == 0) return 0;
  int64_t size = (int64_t)buffer->size;
  uint32_t count = berth_live_collect(&greedy->live, buffer->first, buffer->last, greedy->found);
  greedy->work += UNITS_PER_BUFFER * (uint64_t)count;
  if (problem->region_count > 1) count = keep_region(greedy, greedy->unit_of[mine], count);
  for (uint32_t k = 0; k < count; k++) {
    greedy->reach[k].low = -size;
    greedy->reach[k].high = (int64_t)problem->buffers[greedy->found[k]].size;
    greedy->over[k] = false;
  }
  uint32_t begin = greedy->adjacent[mine], end = greedy->adjacent[mine + 1];
  if (begin == end) return count;

  for (uint32_t k = 0; k < count; k++) greedy->place_of[greedy->found[k]] = k;
  for (uint32_t j = begin; j < end; j++) {
    const berth_pair_t *pair = &problem->pairs[greedy->pairs[j]];
    uint32_t other = pair->a == mine ? pair->b : pair->a;
    uint32_t k = greedy->place_of[other];
    if (k >= count || greedy->found[k] != other || pair->relation == BERTH_APART) continue;
    berth_span_t *reach = &greedy->reach[k];
    int64_t bytes = (int64_t)pair->bytes;
    if (pair->relation == BERTH_OVER) {
      greedy->over[k] = true;
    } else if (pair->bytes == problem->buffers[pair->a].size) {
      reach->high = reach->low; /* all of a may be overlapped */
    } else if ((pair->relation == BERTH_HEAD) == (pair->b == mine)) {
      if (reach->low < bytes - size) reach->low = bytes - size;
    } else {
      int64_t high = (int64_t)problem->buffers[other].size - bytes;
      if (reach->high > high) reach->high = high;
    }
  }
  return count;
}

static int64_t offset_of(const berth_greedy_t *greedy, uint32_t buffer) {
  return (int64_t)greedy->unit[greedy->unit_of[buffer]].offset;
}

/* Collects in greedy->spans what is taken for a unit and returns the number of spans. */
static uint32_t collect_spans(berth_greedy_t *greedy, uint32_t unit) {
  uint32_t span_count = 0;
  greedy->host_count = 0;
  for (uint32_t i = unit; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
    uint32_t count = find_collisions(greedy, i);
    for (uint32_t k = 0; k < count; k++) {
      berth_span_t span = greedy->reach[k];
      if (span.high - span.low <= 1) continue;
      if (greedy->over[k] && greedy->host_count < greedy->problem->buffer_count) {
        greedy->hosts[greedy->host_count++] = greedy->found[k];
      }
      span.low += offset_of(greedy, greedy->found[k]);
      span.high += offset_of(greedy, greedy->found[k]);
      uint32_t known = greedy->span_of[greedy->found[k]];
      if (known < span_count && greedy->owner[known] == greedy->found[k]) {
        /* Met by several members: from the lowest to the highest, which may be a little much. */
        berth_span_t *all = &greedy->spans[known];
        if (span.low < all->low) all->low = span.low;
        if (span.high > all->high) all->high = span.high;
      } else {
        greedy->span_of[greedy->found[k]] = span_count;
        greedy->owner[span_count] = greedy->found[k];
        greedy->spans[span_count++] = span;
      }
    }
  }
  return span_count;
}

/* ---- Spans from the lowest up: a heap -------------------------------------------------------- */

static void sift_down(berth_span_t *spans, uint32_t from, uint32_t count) {
  berth_span_t span = spans[from];
  for (uint32_t child; (child = 2 * from + 1) < count; from = child) {
    if (child + 1 < count && spans[child + 1].low < spans[child].low) child++;
    if (spans[child].low >= span.low) break;
    spans[from] = spans[child];
  }
  spans[from] = span;
}

static berth_span_t pop(berth_span_t *spans, uint32_t *count) {
  berth_span_t lowest = spans[0];
  spans[0] = spans[--*count];
  if (*count > 1) sift_down(spans, 0, *count);
  return lowest;
}

/* ---- Placing --------------------------------------------------------------------------------- */

/* The next multiple of `align`, or INT64_MAX if it is not below that. */
static int64_t align_up(int64_t offset, uint64_t align) {
  uint64_t rest = (uint64_t)offset % align;
  if (rest == 0) return offset;
  uint64_t step = align - rest;
  return step > (uint64_t)(INT64_MAX - offset) ? INT64_MAX : offset + (int64_t)step;
}

static int64_t find_offset(berth_span_t *spans, uint32_t count, int64_t from, uint64_t align,
                           berth_fit_t fit) {
  for (uint32_t i = count / 2; i > 0; i--) sift_down(spans, i - 1, count);
  int64_t offset = align_up(from, align);
  int64_t best = -1, best_rest = INT64_MAX;
  while (count > 0) {
    berth_span_t span = pop(spans, &count);
    if (span.low >= offset) {
      if (fit == BERTH_FIRST_FIT) return offset;
      if (span.low - offset < best_rest) {
        best = offset;
        best_rest = span.low - offset;
      }
    }
    if (span.high > offset) offset = align_up(span.high, align);
  }
  return best >= 0 ? best : offset;
}

void berth_greedy_settle(berth_greedy_t *greedy, uint32_t unit, uint64_t offset) {
  greedy->unit[unit].offset = offset;
  for (uint32_t i = unit; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
    if (greedy->problem->buffers[i].size > 0) berth_live_place(&greedy->live, i);
  }
}

void berth_greedy_remove(berth_greedy_t *greedy, uint32_t unit) {
  for (uint32_t i = unit; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
    if (greedy->problem->buffers[i].size > 0) berth_live_remove(&greedy->live, i);
  }
}

uint32_t berth_greedy_obstacle(berth_greedy_t *greedy, uint32_t unit, uint64_t offset) {
  for (uint32_t i = unit; i != BERTH_GREEDY_NONE; i = greedy->next[i]) {
    uint32_t count = find_collisions(greedy, i);
    for (uint32_t k = 0; k < count; k++) {
      int64_t distance = (int64_t)offset - offset_of(greedy, greedy->found[k]);
      if (distance == 0 && greedy->over[k]) continue;
      if (distance > greedy->reach[k].low && distance < greedy->reach[k].high) {
        return greedy->found[k];
      }
    }
  }
  return BERTH_GREEDY_NONE;
}

/* The offset of a buffer that `unit` may lie over, if that is better than `offset`; or `offset`. */
static int64_t find_host(berth_greedy_t *greedy, uint32_t unit, int64_t from, berth_fit_t fit,
                         int64_t offset) {
  bool found = false;
  for (uint32_t k = 0; k < greedy->host_count; k++) {
    int64_t at = offset_of(greedy, greedy->hosts[k]);
    if (at < from || (uint64_t)at % greedy->unit[unit].align != 0) continue;
    if (at >= offset && (found || fit == BERTH_FIRST_FIT)) continue;
    if (berth_greedy_obstacle(greedy, unit, (uint64_t)at) != BERTH_GREEDY_NONE) continue;
    offset = at;
    found = true;
  }
  return offset;
}

uint64_t berth_greedy_find(berth_greedy_t *greedy, uint32_t unit, uint64_t from, berth_fit_t fit) {
  if (from > INT64_MAX) return INT64_MAX;
  uint32_t count = collect_spans(greedy, unit);
  int64_t offset = find_offset(greedy->spans, count, (int64_t)from, greedy->unit[unit].align, fit);
  offset = find_host(greedy, unit, (int64_t)from, fit, offset);
  return (uint64_t)offset > INT64_MAX - greedy->unit[unit].size ? INT64_MAX : (uint64_t)offset;
}

berth_status_t berth_greedy_place(berth_greedy_t *greedy, uint32_t unit, uint64_t from,
                                  berth_fit_t fit) {
  uint64_t offset = berth_greedy_find(greedy, unit, from, fit);
  if (offset == INT64_MAX) return BERTH_ERROR_OVERFLOW;
  berth_greedy_settle(greedy, unit, offset);
  return BERTH_OK;
}

static berth_status_t place_fixed(berth_greedy_t *greedy) {
  for (uint32_t i = 0; i < greedy->problem->buffer_count; i++) {
    if (greedy->unit_of[i] != i || greedy->unit[i].fixed == BERTH_ANYWHERE) continue;
    if (berth_greedy_obstacle(greedy, i, greedy->unit[i].fixed) != BERTH_GREEDY_NONE) {
      return BERTH_INFEASIBLE;
    }
    berth_greedy_settle(greedy, i, greedy->unit[i].fixed);
  }
  return BERTH_OK;
}

berth_status_t berth_greedy_form_units(berth_greedy_t *greedy) {
  greedy->work = 0;
  memset(greedy->place_of, 0, greedy->problem->buffer_count * sizeof *greedy->place_of);
  memset(greedy->span_of, 0, greedy->problem->buffer_count * sizeof *greedy->span_of);
  index_pairs(greedy);
  berth_live_prepare(&greedy->live, greedy->found);
  return join_units(greedy);
}

berth_status_t berth_greedy_prepare(berth_greedy_t *greedy) {
  berth_status_t status = berth_greedy_form_units(greedy);
  return status == BERTH_OK ? place_fixed(greedy) : status;
}

void berth_greedy_clear(berth_greedy_t *greedy) {
  berth_live_clear(&greedy->live);
  for (uint32_t i = 0; i < greedy->problem->buffer_count; i++) {
    if (greedy->unit_of[i] == i && greedy->unit[i].fixed != BERTH_ANYWHERE) {
      berth_greedy_settle(greedy, i, greedy->unit[i].fixed);
    }
  }
}

berth_status_t berth_greedy_place_all(berth_greedy_t *greedy, berth_before_t before,
                                      const void *context, berth_fit_t fit) {
  berth_plan_sort(greedy->units, greedy->unit_count, greedy->found, before, context);
  for (uint32_t k = 0; k < greedy->unit_count; k++) {
    berth_status_t status = berth_greedy_place(greedy, greedy->units[k], 0, fit);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

void berth_greedy_finish(const berth_greedy_t *greedy, berth_plan_t *plan) {
  plan->peak = 0;
  for (uint32_t i = 0; i < greedy->problem->buffer_count; i++) {
    uint64_t size = greedy->problem->buffers[i].size;
    uint64_t offset = greedy->unit[greedy->unit_of[i]].offset;
    plan->placements[i].offset = offset;
    if (size > 0 && offset + size > plan->peak) plan->peak = offset + size;
  }
  plan->work += greedy->work;
}

berth_status_t berth_greedy_workspace(const berth_problem_t *problem,
                                      const berth_plan_options_t *options, size_t *bytes) {
  (void)options;
  berth_workspace_t memory = berth_workspace_measure();
  berth_greedy_t greedy;
  berth_greedy_lay_out(&greedy, problem, &memory);
  return berth_workspace_needed(&memory, bytes);
}

berth_status_t berth_greedy_begin(berth_greedy_t *greedy, const berth_problem_t *problem,
                                  void *workspace, size_t workspace_bytes) {
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_greedy_lay_out(greedy, problem, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  return status == BERTH_OK ? berth_greedy_prepare(greedy) : status;
}
