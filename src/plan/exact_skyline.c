/* Branch and bound over the skyline of what is placed so far.
 *
 * Any plan can be pushed down until every buffer lies on another one or on the ground, and then
 * built from the bottom up, by offset. So it is enough to choose which buffer comes next, and it
 * lies at its floor: on the highest placed buffer that it meets in time. This canonical form, the
 * order of the choices (lowest floor first, then a fixed rank), the cuts and the rule against gaps
 * are those of MiniMalloc (Moffitt, "MiniMalloc", ASPLOS 2023). New here: buffers set aside as
 * spans, raised floors, the one-machine bound on a section, what passing over a buffer implies, and
 * backjumping (exact_reason.h).
 *
 * With time compressed to the maximal cliques of the interval graph, a section is a machine with
 * release times (the floors) and processing times (the sizes); the bound on it is that of
 * 1|r_j|C_max. Cost of a choice: O(members of the component x sections they reach over), memory
 * O(n^2).
 */
#include "plan/exact_skyline.h"
#include "plan/exact_reason.h"
#include <string.h>

void berth_skyline_lay_out(berth_skyline_t *skyline, uint32_t count, uint32_t section_count,
                           uint64_t conflicts, berth_workspace_t *memory) {
  size_t n = count, sections = section_count, scratch = n > sections ? n : sections;
  skyline->count = count;
  skyline->section_count = section_count;
  skyline->words = count / 64 + 1;
  int32_t **numbers[] = {&skyline->size,   &skyline->align, &skyline->fixed,
                         &skyline->offset, &skyline->floor, &skyline->raised};
  uint32_t **indices[] = {&skyline->lower, &skyline->upper,   &skyline->rank,
                          &skyline->twin,  &skyline->support, &skyline->passed};
  int32_t **profiles[] = {&skyline->load, &skyline->left, &skyline->low, &skyline->second,
                          &skyline->above};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    *numbers[i] = berth_workspace_take(memory, n, sizeof(int32_t));
  }
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    *indices[i] = berth_workspace_take(memory, n, sizeof(uint32_t));
  }
  for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
    *profiles[i] = berth_workspace_take(memory, sections + 1, sizeof(int32_t));
  }
  skyline->cut = berth_workspace_take(memory, scratch + 1, sizeof(uint32_t));
  skyline->keys = berth_workspace_take(memory, n, sizeof(uint64_t));
  skyline->spare = berth_workspace_take(memory, n, sizeof(uint64_t));
  skyline->reasons = berth_workspace_take(memory, (n + 1) * skyline->words, sizeof(uint64_t));
  skyline->reason = berth_workspace_take(memory, skyline->words, sizeof(uint64_t));
  /* A choice, a span and a cut each take at least one buffer out of what is left. */
  skyline->members = berth_workspace_take(memory, (n + 1) * (n + 1), sizeof(uint32_t));
  skyline->candidates = berth_workspace_take(memory, n * (n + 1) / 2 + 1, sizeof(uint32_t));
  skyline->placed = berth_workspace_take(memory, n, sizeof(uint32_t));
  skyline->components = berth_workspace_take(memory, 3 * n + 1, sizeof(berth_skyline_component_t));
  skyline->choices = berth_workspace_take(memory, n, sizeof(berth_skyline_choice_t));
  skyline->spans = berth_workspace_take(memory, n, sizeof(berth_skyline_span_t));
  if (conflicts > SIZE_MAX / 4) memory->overflow = true;
  skyline->trail =
      berth_workspace_take(memory, (size_t)conflicts * 2 + 2 * n, sizeof(berth_skyline_change_t));
}

/* ---- Components ------------------------------------------------------------------------------ */

/* A component of `count` members, which are to be written to its place; it comes before `next`. */
static berth_skyline_component_t *push_component(berth_skyline_t *skyline,
                                                 const berth_skyline_component_t *like,
                                                 uint32_t count, uint32_t next) {
  berth_skyline_component_t *component = &skyline->components[skyline->component_count];
  component->first = skyline->member_count;
  component->count = count;
  component->begin = like->begin;
  component->end = like->end;
  component->capacity = like->capacity;
  component->span = like->span;
  component->next = next;
  component->origin = like->origin;
  skyline->agenda = skyline->component_count++;
  skyline->member_count += count;
  return component;
}

static void take_out(berth_skyline_t *skyline, uint32_t buffer, int32_t offset) {
  skyline->offset[buffer] = offset;
  skyline->placed[skyline->placed_count++] = buffer;
  int32_t size = skyline->size[buffer];
  for (uint32_t s = skyline->lower[buffer]; s < skyline->upper[buffer]; s++) {
    skyline->left[s] -= size;
  }
}

/* Spans: a buffer that meets all others of its component, and whose floor is at least theirs, may
 * as well lie on top of them all, under the ceiling: what lies above it can sink by its size
 * without falling below its own floor. The rest is smaller and may fall apart. False: there is no
 * room. */
static bool set_spans_aside(berth_skyline_t *skyline, uint32_t index, bool *changed) {
  berth_skyline_component_t *component = &skyline->components[index];
  const uint32_t *members = skyline->members + component->first;
  uint32_t first_end = UINT32_MAX, last_begin = 0;
  int32_t highest = 0;
  for (uint32_t i = 0; i < component->count; i++) {
    uint32_t lower = skyline->lower[members[i]], upper = skyline->upper[members[i]];
    if (upper < first_end) first_end = upper;
    if (lower > last_begin) last_begin = lower;
    if (skyline->floor[members[i]] > highest) highest = skyline->floor[members[i]];
  }
  uint32_t spans = 0, span = component->span;
  int32_t capacity = component->capacity;
  for (uint32_t i = 0; i < component->count; i++) {
    uint32_t member = members[i];
    if (skyline->lower[member] >= first_end || skyline->upper[member] <= last_begin ||
        skyline->floor[member] < highest) {
      continue;
    }
    capacity -= skyline->size[member];
    skyline->spans[skyline->span_count].buffer = member;
    skyline->spans[skyline->span_count].below = span;
    span = skyline->span_count++;
    take_out(skyline, member, capacity);
    spans++;
  }
  *changed = spans > 0;
  if (spans == 0) return true;

  berth_skyline_component_t *rest =
      push_component(skyline, component, component->count - spans, component->next);
  rest->capacity = capacity;
  rest->span = span;
  uint32_t *kept = skyline->members + rest->first;
  bool fits = true;
  for (uint32_t i = 0, k = 0; i < component->count; i++) {
    uint32_t member = members[i];
    if (skyline->offset[member] < 0) {
      kept[k++] = member;
    } else if (skyline->floor[member] > skyline->offset[member] && fits) {
      fits = false;
      rest->capacity = skyline->offset[member] + skyline->size[member];
      berth_reason_too_high(skyline, rest, member);
    }
  }
  if (rest->count == 0) skyline->agenda = rest->next;
  return fits;
}

/* Cuts: where no member is live on both sides, the two sides have nothing to do with each other. */
static bool split(berth_skyline_t *skyline, uint32_t index) {
  berth_skyline_component_t whole = skyline->components[index];
  const uint32_t *members = skyline->members + whole.first;
  uint32_t *cut = skyline->cut, begin = UINT32_MAX, end = 0;
  int32_t *begins = skyline->above; /* how many members begin in a section */
  memset(cut + whole.begin, 0, (whole.end - whole.begin + 1) * sizeof *cut);
  memset(begins + whole.begin, 0, (whole.end - whole.begin) * sizeof *begins);
  for (uint32_t i = 0; i < whole.count; i++) {
    uint32_t lower = skyline->lower[members[i]], upper = skyline->upper[members[i]];
    if (lower < begin) begin = lower;
    if (upper > end) end = upper;
    begins[lower]++;
    cut[lower + 1]++; /* between sections s - 1 and s: how many more reach over than before */
    cut[upper]--;
  }
  skyline->components[index].begin = begin;
  skyline->components[index].end = end;
  uint32_t parts = 0, reach = 0;
  for (uint32_t s = begin; s < end; s++) {
    reach += cut[s];
    if (begins[s] > 0 && (s == begin || reach == 0)) parts++;
    cut[s] = parts - 1;
  }
  if (parts == 1) return false;

  /* Sizes of the parts first, then their places, the leftmost to be planned first. */
  uint32_t first_component = skyline->component_count;
  for (uint32_t p = 0; p < parts; p++) push_component(skyline, &whole, 0, BERTH_SKYLINE_NONE);
  berth_skyline_component_t *part = skyline->components + first_component;
  for (uint32_t i = 0; i < whole.count; i++) part[cut[skyline->lower[members[i]]]].count++;
  skyline->agenda = whole.next;
  for (uint32_t p = parts; p-- > 0;) {
    part[p].first = skyline->member_count;
    part[p].next = skyline->agenda;
    skyline->member_count += part[p].count;
    skyline->agenda = first_component + p;
    part[p].count = 0;
  }
  for (uint32_t i = 0; i < whole.count; i++) {
    berth_skyline_component_t *home = &part[cut[skyline->lower[members[i]]]];
    skyline->members[home->first + home->count++] = members[i];
  }
  return true;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* For each section, the lowest two ends that its members can have. */
static void find_low_tops(berth_skyline_t *skyline, const berth_skyline_component_t *component) {
  const uint32_t *members = skyline->members + component->first;
  int32_t *low = skyline->low, *second = skyline->second;
  for (uint32_t s = component->begin; s < component->end; s++) {
    low[s] = second[s] = BERTH_SKYLINE_CAPACITY;
  }
  for (uint32_t i = 0; i < component->count; i++) {
    uint32_t member = members[i], upper = skyline->upper[member];
    int32_t top = skyline->floor[member] + skyline->size[member];
    for (uint32_t s = skyline->lower[member]; s < upper; s++) {
      int32_t higher = low[s] > top ? low[s] : top;
      second[s] = second[s] < higher ? second[s] : higher;
      low[s] = low[s] < top ? low[s] : top;
    }
  }
}

/* The lowest offset that `member` can still have. Raise: where all others of a section would not
 * fit above it, one of them has to be below it. Passed: it could have lain at its floor and was not
 * chosen, so it has to lie on one that is yet to come. */
static int32_t raise(const berth_skyline_t *skyline, const berth_skyline_component_t *component,
                     uint32_t member, bool by_section) {
  const int32_t *low = skyline->low, *second = skyline->second, *left = skyline->left;
  int32_t floor = skyline->floor[member], top = floor + skyline->size[member];
  int32_t room = component->capacity - floor, raised = floor, lowest = BERTH_SKYLINE_CAPACITY;
  uint32_t upper = skyline->upper[member];
  if (by_section) {
    for (uint32_t s = skyline->lower[member]; s < upper; s++) {
      int32_t other = low[s] == top ? second[s] : low[s];
      int32_t needed = left[s] > room ? other : 0;
      raised = raised > needed ? raised : needed;
    }
  }
  if (skyline->passed[member] != BERTH_SKYLINE_NONE &&
      berth_skyline_uses(skyline, BERTH_TECHNIQUE_PASSED)) {
    for (uint32_t s = skyline->lower[member]; s < upper; s++) {
      int32_t other = low[s] == top ? second[s] : low[s];
      lowest = lowest < other ? lowest : other;
    }
    if (lowest > raised) raised = lowest;
    if (skyline->fixed[member] >= 0) raised = BERTH_SKYLINE_CAPACITY;
  }
  return raised > floor ? berth_skyline_align(skyline, member, raised) : floor;
}

/* Raises all floors. False: one is too high. */
static bool raise_all(berth_skyline_t *skyline, const berth_skyline_component_t *component) {
  const uint32_t *members = skyline->members + component->first;
  bool by_section = berth_skyline_uses(skyline, BERTH_TECHNIQUE_RAISE);
  for (uint32_t i = 0; i < component->count; i++) {
    uint32_t member = members[i];
    int32_t raised = raise(skyline, component, member, by_section);
    if (raised > component->capacity - skyline->size[member]) {
      berth_reason_too_high(skyline, component, member);
      return false;
    }
    skyline->raised[member] = raised;
  }
  return true;
}

/* Sorts the members by raised floor and rank. They come nearly sorted. */
static void sort_members(berth_skyline_t *skyline, const berth_skyline_component_t *component) {
  uint32_t *members = skyline->members + component->first;
  uint64_t *keys = skyline->keys, *late = skyline->spare;
  uint32_t sorted = 0, late_count = 0;
  for (uint32_t i = 0; i < component->count; i++) {
    uint64_t rank = skyline->rank[members[i]];
    uint64_t key = (uint64_t)(uint32_t)skyline->raised[members[i]] << 32 | rank << 16 | members[i];
    if (sorted > 0 && keys[sorted - 1] > key) {
      /* Out of order: one of the two, and the one before is the more likely one. */
      uint64_t other = keys[sorted - 1];
      bool other_fits = sorted > 1 && keys[sorted - 2] > key;
      if (other_fits) {
        other = key;
      } else {
        keys[sorted - 1] = key;
      }
      uint32_t j = late_count++;
      for (; j > 0 && late[j - 1] > other; j--) late[j] = late[j - 1];
      late[j] = other;
    } else {
      keys[sorted++] = key;
    }
  }
  for (uint32_t i = component->count; i-- > 0;) { /* merge from the back */
    bool take_late = sorted == 0 || (late_count > 0 && late[late_count - 1] > keys[sorted - 1]);
    uint64_t key = take_late ? late[--late_count] : keys[--sorted];
    members[i] = (uint32_t)(key & 0xffff);
  }
}

/* The bound on every section: what cannot be below a height has to fit above it. */
static bool sections_fit(berth_skyline_t *skyline, const berth_skyline_component_t *component) {
  const uint32_t *members = skyline->members + component->first;
  int32_t *above = skyline->above;
  memset(above + component->begin, 0, (component->end - component->begin) * sizeof *above);
  for (uint32_t i = component->count; i-- > 0;) {
    uint32_t member = members[i], upper = skyline->upper[member];
    int32_t size = skyline->size[member], most = 0;
    for (uint32_t s = skyline->lower[member]; s < upper; s++) {
      above[s] += size;
      most = most > above[s] ? most : above[s];
    }
    int32_t height = skyline->raised[member];
    if (most <= component->capacity - height) continue;
    uint32_t section = skyline->lower[member];
    while (above[section] != most) section++;
    berth_reason_overfull(skyline, component, section, height);
    return false;
  }
  return true;
}

/* ---- Choices --------------------------------------------------------------------------------- */

/* Would all others of its sections fit above `member`, placed at its floor? */
static bool fits_below_all(const berth_skyline_t *skyline,
                           const berth_skyline_component_t *component, uint32_t member) {
  int32_t room = component->capacity - skyline->floor[member], most = 0;
  for (uint32_t s = skyline->lower[member]; s < skyline->upper[member]; s++) {
    most = most > skyline->left[s] ? most : skyline->left[s];
  }
  return most <= room;
}

static bool may_come_next(const berth_skyline_t *skyline, const berth_skyline_choice_t *choice,
                          uint32_t member) {
  const berth_skyline_component_t *component = &skyline->components[choice->component];
  int32_t floor = skyline->floor[member];
  if (skyline->raised[member] > floor) return false;
  if (skyline->passed[member] != BERTH_SKYLINE_NONE) return false;
  if (berth_skyline_uses(skyline, BERTH_TECHNIQUE_GAP) && floor >= choice->lowest_top) return false;
  uint32_t twin = skyline->twin[member];
  if (twin != BERTH_SKYLINE_NONE && skyline->offset[twin] < 0) return false;
  return fits_below_all(skyline, component, member);
}

/* Opens the choice of the next buffer of a component, whose members are sorted. */
static void push_choice(berth_skyline_t *skyline, uint32_t index) {
  const berth_skyline_component_t *component = &skyline->components[index];
  const uint32_t *members = skyline->members + component->first;
  berth_skyline_choice_t *choice = &skyline->choices[skyline->choice_count++];
  choice->component = index;
  choice->chosen = BERTH_SKYLINE_NONE;
  choice->candidates = skyline->candidate_count;
  choice->count = choice->now = 0;
  choice->lowest = members[0];
  choice->lowest_top = BERTH_SKYLINE_CAPACITY;
  choice->members = skyline->member_count;
  choice->components = skyline->component_count;
  choice->spans = skyline->span_count;
  choice->placed = skyline->placed_count;
  choice->trail = skyline->trail_count;
  for (uint32_t i = 0; i < component->count; i++) {
    int32_t top = skyline->floor[members[i]] + skyline->size[members[i]];
    if (top < choice->lowest_top) {
      choice->lowest_top = top;
      choice->lowest = members[i];
    }
  }
  uint32_t *candidates = skyline->candidates + choice->candidates;
  for (uint32_t i = 0; i < component->count; i++) {
    if (may_come_next(skyline, choice, members[i])) candidates[choice->count++] = members[i];
  }
  skyline->candidate_count += choice->count;
  berth_reason_begin(skyline);
}

static void change(berth_skyline_t *skyline, uint32_t buffer) {
  berth_skyline_change_t *old = &skyline->trail[skyline->trail_count++];
  old->buffer = buffer;
  old->floor = skyline->floor[buffer];
  old->support = skyline->support[buffer];
  old->passed = skyline->passed[buffer];
}

/* Places the candidate that is due and makes the rest of the component the next to be planned. */
static void place(berth_skyline_t *skyline, berth_skyline_choice_t *choice) {
  const berth_skyline_component_t *component = &skyline->components[choice->component];
  const uint32_t *members = skyline->members + component->first;
  uint32_t chosen = skyline->candidates[choice->candidates + choice->now];
  int32_t offset = skyline->floor[chosen], top = offset + skyline->size[chosen];
  choice->chosen = chosen;
  take_out(skyline, chosen, offset);
  berth_skyline_component_t *rest =
      push_component(skyline, component, component->count - 1, component->next);
  rest->origin = skyline->choice_count - 1;
  uint32_t *kept = skyline->members + rest->first;
  bool canonical = berth_skyline_uses(skyline, BERTH_TECHNIQUE_CANONICAL);
  for (uint32_t i = 0; i < component->count; i++) {
    uint32_t member = members[i];
    if (member == chosen) continue;
    *kept++ = member;
    if (berth_skyline_meet(skyline, member, chosen)) {
      int32_t floor = berth_skyline_align(skyline, member, top);
      if (floor <= skyline->floor[member]) continue;
      change(skyline, member);
      skyline->floor[member] = floor;
      skyline->support[member] = chosen;
      skyline->passed[member] = BERTH_SKYLINE_NONE;
    } else if (canonical && skyline->passed[member] == BERTH_SKYLINE_NONE &&
               (skyline->floor[member] < offset ||
                (skyline->floor[member] == offset &&
                 skyline->rank[member] < skyline->rank[chosen]))) {
      change(skyline, member);
      skyline->passed[member] = chosen;
    }
  }
  if (rest->count == 0) skyline->agenda = rest->next;
}

/* Takes back what was done since the choice was opened. */
static void take_back(berth_skyline_t *skyline, const berth_skyline_choice_t *choice) {
  while (skyline->trail_count > choice->trail) {
    const berth_skyline_change_t *old = &skyline->trail[--skyline->trail_count];
    skyline->floor[old->buffer] = old->floor;
    skyline->support[old->buffer] = old->support;
    skyline->passed[old->buffer] = old->passed;
  }
  while (skyline->placed_count > choice->placed) {
    uint32_t buffer = skyline->placed[--skyline->placed_count];
    int32_t size = skyline->size[buffer];
    skyline->offset[buffer] = -1;
    for (uint32_t s = skyline->lower[buffer]; s < skyline->upper[buffer]; s++) {
      skyline->left[s] += size;
    }
  }
  skyline->member_count = choice->members;
  skyline->component_count = choice->components;
  skyline->span_count = choice->spans;
}

/* Goes back to the last choice that the reason involves and that has another candidate. False:
 * there is none. */
static bool go_back(berth_skyline_t *skyline) {
  while (skyline->choice_count > 0) {
    berth_skyline_choice_t *choice = &skyline->choices[skyline->choice_count - 1];
    if (choice->now < choice->count) { /* its candidate has failed */
      bool involved = berth_reason_involves(skyline, choice);
      take_back(skyline, choice);
      if (involved && ++choice->now < choice->count) {
        place(skyline, choice);
        return true;
      }
      if (involved) berth_reason_exhausted(skyline, choice);
    } else {
      berth_reason_exhausted(skyline, choice);
    }
    skyline->candidate_count = choice->candidates;
    skyline->choice_count--;
  }
  return false;
}

/* ---- The search ------------------------------------------------------------------------------ */

/* Plans one more buffer of the component on the agenda, or finds that it cannot be planned. */
static bool advance(berth_skyline_t *skyline) {
  uint32_t index = skyline->agenda;
  berth_skyline_component_t *component = &skyline->components[index];
  skyline->work += component->count;
  if (berth_skyline_uses(skyline, BERTH_TECHNIQUE_CUT) && split(skyline, index)) return true;
  if (skyline->plain && berth_skyline_uses(skyline, BERTH_TECHNIQUE_SPAN)) {
    bool changed;
    if (!set_spans_aside(skyline, index, &changed)) return false;
    if (changed) return true;
  }
  skyline->nodes++;
  skyline->work += 4 * (uint64_t)component->count;
  find_low_tops(skyline, component);
  if (!raise_all(skyline, component)) return false;
  sort_members(skyline, component);
  if (berth_skyline_uses(skyline, BERTH_TECHNIQUE_SECTION) && !sections_fit(skyline, component)) {
    return false;
  }
  push_choice(skyline, index);
  berth_skyline_choice_t *choice = &skyline->choices[skyline->choice_count - 1];
  if (choice->count == 0) return false;
  place(skyline, choice);
  return true;
}

void berth_skyline_start(berth_skyline_t *skyline, int32_t capacity) {
  skyline->member_count = skyline->candidate_count = skyline->placed_count = 0;
  skyline->component_count = skyline->choice_count = 0;
  skyline->span_count = skyline->trail_count = 0;
  skyline->failed = false;
  skyline->deepest = 0;
  berth_skyline_component_t like = {.end = skyline->section_count,
                                    .capacity = capacity,
                                    .span = BERTH_SKYLINE_NONE,
                                    .next = BERTH_SKYLINE_NONE,
                                    .origin = BERTH_SKYLINE_NONE};
  push_component(skyline, &like, skyline->count, BERTH_SKYLINE_NONE);
  for (uint32_t i = 0; i < skyline->count; i++) {
    skyline->members[i] = i;
    skyline->floor[i] = skyline->fixed[i] >= 0 ? skyline->fixed[i] : 0;
    skyline->offset[i] = -1;
    skyline->support[i] = skyline->passed[i] = BERTH_SKYLINE_NONE;
  }
  memcpy(skyline->left, skyline->load, skyline->section_count * sizeof *skyline->left);
  if (skyline->count == 0) skyline->agenda = BERTH_SKYLINE_NONE;
}

berth_status_t berth_skyline_search(berth_skyline_t *skyline, uint64_t limit) {
  uint64_t last = skyline->nodes + limit;
  while (skyline->failed || skyline->agenda != BERTH_SKYLINE_NONE) {
    bool advanced = !skyline->failed && advance(skyline);
    if (skyline->placed_count > skyline->deepest) skyline->deepest = skyline->placed_count;
    if (advanced) continue;
    skyline->failed = true;
    if (skyline->nodes >= last) return BERTH_UNDECIDED;
    if (!go_back(skyline)) return BERTH_INFEASIBLE;
    skyline->failed = false;
  }
  return BERTH_OK;
}
