/* Collects reasons: see exact_reason.h.
 *
 * Every rule of the search that rules something out names the buffers it needs for that. What a
 * rule needs of an unplaced buffer is a lower bound on its offset, and that comes from the one
 * placed buffer that supports it. The invariant: a reason is closed, that is, for each of its
 * unplaced buffers it also holds why that one cannot be placed next. Cost: O(component) for a rule,
 * O(component^2) at worst for an exhausted choice.
 */
#include "plan/exact_reason.h"
#include <string.h>

static void add(berth_skyline_t *skyline, uint32_t buffer) {
  skyline->reason[buffer / 64] |= (uint64_t)1 << buffer % 64;
}

static bool has(const uint64_t *reason, uint32_t buffer) {
  return (reason[buffer / 64] >> buffer % 64 & 1) != 0;
}

static void add_with_support(berth_skyline_t *skyline, uint32_t member) {
  add(skyline, member);
  if (skyline->support[member] != BERTH_SKYLINE_NONE) add(skyline, skyline->support[member]);
}

/* Starts a reason with what limits the capacity of the component. */
static void begin(berth_skyline_t *skyline, const berth_skyline_component_t *component) {
  memset(skyline->reason, 0, skyline->words * sizeof *skyline->reason);
  for (uint32_t i = component->span; i != BERTH_SKYLINE_NONE; i = skyline->spans[i].below) {
    add_with_support(skyline, skyline->spans[i].buffer);
  }
}

static void add_section(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                        uint32_t section, bool supports) {
  const uint32_t *members = skyline->members + component->first;
  for (uint32_t i = 0; i < component->count; i++) {
    if (!berth_skyline_reaches(skyline, members[i], section)) continue;
    add(skyline, members[i]);
    if (supports) add_with_support(skyline, members[i]);
  }
}

/* `member` has been passed over, so it is not at its floor: the search below the choice that passed
 * it relies on what came of that one's earlier candidates. So no choice since then is left out. */
static void add_passed(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                       uint32_t member) {
  add_with_support(skyline, member);
  uint32_t chosen;
  do {
    const berth_skyline_choice_t *choice = &skyline->choices[component->origin];
    chosen = choice->chosen;
    add(skyline, chosen);
    component = &skyline->components[choice->component];
  } while (chosen != skyline->passed[member]);
}

/* Could `member` not lie at its floor with all others of the section above it? */
static bool crowded(const berth_skyline_t *skyline, const berth_skyline_component_t *component,
                    uint32_t member, uint32_t section) {
  return skyline->floor[member] > component->capacity - skyline->left[section];
}

/* `member` cannot be below `height`, by what raised it: see raise() in exact_skyline.c. */
static void add_raise(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                      uint32_t member, int32_t height) {
  add(skyline, member);
  if (height <= 0) return;
  add_with_support(skyline, member);
  if (skyline->floor[member] >= height) return;
  int32_t top = skyline->floor[member] + skyline->size[member];
  for (uint32_t s = skyline->lower[member]; s < skyline->upper[member]; s++) {
    if (!crowded(skyline, component, member, s)) continue;
    int32_t above = skyline->low[s] == top ? skyline->second[s] : skyline->low[s];
    if (berth_skyline_align(skyline, member, above) < height) continue;
    add_section(skyline, component, s, true);
    return;
  }
  /* It was passed over, so it has to wait for one of those that it meets. */
  const uint32_t *members = skyline->members + component->first;
  add_passed(skyline, component, member);
  for (uint32_t i = 0; i < component->count; i++) {
    if (berth_skyline_meet(skyline, members[i], member)) add_with_support(skyline, members[i]);
  }
}

void berth_reason_too_high(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                           uint32_t member) {
  if (!berth_skyline_uses(skyline, BERTH_TECHNIQUE_JUMP)) return;
  begin(skyline, component);
  add_raise(skyline, component, member, component->capacity - skyline->size[member] + 1);
}

void berth_reason_overfull(berth_skyline_t *skyline, const berth_skyline_component_t *component,
                           uint32_t section, int32_t height) {
  if (!berth_skyline_uses(skyline, BERTH_TECHNIQUE_JUMP)) return;
  begin(skyline, component);
  const uint32_t *members = skyline->members + component->first;
  for (uint32_t i = 0; i < component->count; i++) {
    if (berth_skyline_reaches(skyline, members[i], section) &&
        skyline->raised[members[i]] >= height) {
      add_raise(skyline, component, members[i], height);
    }
  }
}

/* Why this member of the choice, which was not explored, cannot be the next one. */
static void add_exclusion(berth_skyline_t *skyline, const berth_skyline_choice_t *choice,
                          uint32_t member) {
  const berth_skyline_component_t *component = &skyline->components[choice->component];
  add_with_support(skyline, member);
  if (skyline->passed[member] != BERTH_SKYLINE_NONE) {
    add_passed(skyline, component, member);
    return;
  }
  for (uint32_t s = skyline->lower[member]; s < skyline->upper[member]; s++) {
    if (!crowded(skyline, component, member, s)) continue;
    add_section(skyline, component, s, false);
    return;
  }
  uint32_t twin = skyline->twin[member];
  bool later_twin = twin != BERTH_SKYLINE_NONE && skyline->offset[twin] < 0;
  add(skyline, later_twin ? twin : choice->lowest);
}

void berth_reason_exhausted(berth_skyline_t *skyline, const berth_skyline_choice_t *choice) {
  if (!berth_skyline_uses(skyline, BERTH_TECHNIQUE_JUMP)) return;
  const berth_skyline_component_t *component = &skyline->components[choice->component];
  const uint32_t *members = skyline->members + component->first;
  const uint32_t *candidates = skyline->candidates + choice->candidates;
  begin(skyline, component);
  const uint64_t *own = skyline->reasons + (size_t)(skyline->choice_count - 1) * skyline->words;
  for (uint32_t w = 0; w < skyline->words; w++) skyline->reason[w] |= own[w];
  if (choice->count == 0) add(skyline, members[0]);

  uint32_t *done = skyline->cut; /* by place in the component: is its exclusion in the reason? */
  for (uint32_t i = 0; i < component->count; i++) skyline->raised[members[i]] = 0;
  for (uint32_t i = 0; i < choice->count; i++) skyline->raised[candidates[i]] = 1;
  memset(done, 0, component->count * sizeof *done);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < component->count; i++) {
      if (done[i] || !has(skyline->reason, members[i])) continue;
      done[i] = 1;
      if (skyline->raised[members[i]] != 0) continue; /* explored */
      add_exclusion(skyline, choice, members[i]);
      changed = true;
    }
  }
}

bool berth_reason_involves(berth_skyline_t *skyline, const berth_skyline_choice_t *choice) {
  if (!berth_skyline_uses(skyline, BERTH_TECHNIQUE_JUMP)) return true;
  if (!has(skyline->reason, choice->chosen)) return false;
  add_with_support(skyline, choice->chosen);
  uint64_t *own = skyline->reasons + (size_t)(skyline->choice_count - 1) * skyline->words;
  for (uint32_t w = 0; w < skyline->words; w++) own[w] |= skyline->reason[w];
  return true;
}

void berth_reason_begin(berth_skyline_t *skyline) {
  memset(skyline->reasons + (size_t)(skyline->choice_count - 1) * skyline->words, 0,
         skyline->words * sizeof *skyline->reasons);
}
