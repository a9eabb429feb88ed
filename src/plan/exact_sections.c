/* Compresses a planning problem for the skyline search.
 *
 * Two buffers meet if they share a maximal clique of the interval graph (Helly's property), and
 * what fits in the maximal cliques fits everywhere, so these are all the time steps that matter: at
 * most as many as there are buffers. Sizes become multiples of a unit, their greatest common
 * divisor, which leaves every canonical plan as it is: its offsets are sums of sizes, rounded up to
 * alignments. Cost: O(n log n), and O(n^2) to measure.
 */
#include "plan/exact_sections.h"
#include "plan/sort.h"
#include <string.h>

static bool takes_room(const berth_sections_t *sections, uint32_t buffer) {
  return sections->problem->buffers[buffer].size > 0;
}

static uint32_t nth(const uint32_t *subset, uint32_t i) {
  return subset != NULL ? subset[i] : i;
}

/* Pairs of buffers that are live in the same step. */
static uint64_t count_conflicts(const berth_sections_t *sections, const uint32_t *subset,
                                uint32_t count) {
  const berth_buffer_t *buffers = sections->problem->buffers;
  uint64_t conflicts = 0;
  for (uint32_t i = 0; i < count; i++) {
    const berth_buffer_t *a = &buffers[nth(subset, i)];
    for (uint32_t j = 0; j < i; j++) {
      const berth_buffer_t *b = &buffers[nth(subset, j)];
      conflicts += a->first <= b->last && b->first <= a->last;
    }
  }
  return conflicts;
}

berth_status_t berth_sections_lay_out(berth_sections_t *sections, const berth_problem_t *problem,
                                      const uint32_t *subset, uint32_t count,
                                      berth_workspace_t *memory) {
  sections->problem = problem;
  sections->count = 0;
  for (uint32_t i = 0; i < count; i++) sections->count += takes_room(sections, nth(subset, i));
  if (sections->count > BERTH_SKYLINE_BUFFERS) return BERTH_ERROR_UNSUPPORTED;
  uint32_t **indices[] = {&sections->buffer,  &sections->length,  &sections->order,
                          &sections->spare,   &sections->by_last, &sections->elite[0],
                          &sections->elite[1]};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    *indices[i] = berth_workspace_take(memory, sections->count, sizeof(uint32_t));
  }
  berth_skyline_lay_out(&sections->skyline, sections->count, sections->count,
                        count_conflicts(sections, subset, count), memory);
  return BERTH_OK;
}

/* ---- Units ----------------------------------------------------------------------------------- */

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static bool in_units(uint64_t bytes, uint64_t unit, int32_t *units) {
  if (bytes / unit >= (uint64_t)BERTH_SKYLINE_CAPACITY) return false;
  *units = (int32_t)(bytes / unit);
  return true;
}

static bool measure(berth_sections_t *sections) {
  berth_skyline_t *skyline = &sections->skyline;
  uint64_t unit = 0;
  for (uint32_t i = 0; i < sections->count; i++) {
    const berth_buffer_t *buffer = &sections->problem->buffers[sections->buffer[i]];
    unit = common_divisor(unit, buffer->size);
    if (buffer->align > 1) unit = common_divisor(unit, buffer->align);
    if (buffer->fixed != BERTH_ANYWHERE) unit = common_divisor(unit, buffer->fixed);
  }
  sections->unit = unit > 0 ? unit : 1;
  skyline->plain = true;
  for (uint32_t i = 0; i < sections->count; i++) {
    const berth_buffer_t *buffer = &sections->problem->buffers[sections->buffer[i]];
    uint64_t align = buffer->align > sections->unit ? buffer->align : sections->unit;
    skyline->fixed[i] = -1;
    if (!in_units(buffer->size, sections->unit, &skyline->size[i]) ||
        !in_units(align, sections->unit, &skyline->align[i])) {
      return false;
    }
    if (buffer->fixed != BERTH_ANYWHERE &&
        !in_units(buffer->fixed, sections->unit, &skyline->fixed[i])) {
      return false;
    }
    if (skyline->align[i] != 1 || skyline->fixed[i] >= 0) skyline->plain = false;
  }
  return true;
}

/* ---- Sections -------------------------------------------------------------------------------- */

static const berth_buffer_t *at(const berth_sections_t *sections, uint32_t i) {
  return &sections->problem->buffers[sections->buffer[i]];
}

static bool starts_before(const void *context, uint32_t a, uint32_t b) {
  return at(context, a)->first < at(context, b)->first;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b) {
  return at(context, a)->last < at(context, b)->last;
}

/* A section ends where a buffer ends after others have begun since the last section's end. */
static void find_sections(berth_sections_t *sections) {
  berth_skyline_t *skyline = &sections->skyline;
  uint32_t *by_first = sections->order, *by_last = sections->by_last, begun = 0, found = 0;
  bool open = false;
  for (uint32_t i = 0; i < sections->count; i++) by_first[i] = by_last[i] = i;
  berth_plan_sort(by_first, sections->count, sections->spare, starts_before, sections);
  berth_plan_sort(by_last, sections->count, sections->spare, ends_before, sections);
  for (uint32_t i = 0; i < sections->count; i++) {
    uint32_t ending = by_last[i];
    while (begun < sections->count &&
           at(sections, by_first[begun])->first <= at(sections, ending)->last) {
      skyline->lower[by_first[begun++]] = found;
      open = true;
    }
    if (open) found++;
    open = false;
    skyline->upper[ending] = found;
  }
  skyline->section_count = found;
}

berth_status_t berth_sections_prepare(berth_sections_t *sections, const uint32_t *subset,
                                      uint32_t count) {
  berth_skyline_t *skyline = &sections->skyline;
  for (uint32_t i = 0, k = 0; i < count; i++) {
    if (takes_room(sections, nth(subset, i))) sections->buffer[k++] = nth(subset, i);
  }
  for (uint32_t i = 0; i < sections->count; i++) {
    uint32_t steps = at(sections, i)->last - at(sections, i)->first;
    sections->length[i] = steps < UINT32_MAX ? steps + 1 : UINT32_MAX;
  }
  if (!measure(sections)) return BERTH_ERROR_UNSUPPORTED;
  find_sections(sections);
  for (uint32_t s = 0; s < skyline->section_count; s++) skyline->load[s] = 0;
  for (uint32_t i = 0; i < sections->count; i++) {
    for (uint32_t s = skyline->lower[i]; s < skyline->upper[i]; s++) {
      if (skyline->size[i] >= BERTH_SKYLINE_CAPACITY - skyline->load[s]) {
        return BERTH_ERROR_UNSUPPORTED;
      }
      skyline->load[s] += skyline->size[i];
    }
  }
  skyline->work = skyline->nodes = 0;
  return BERTH_OK;
}
