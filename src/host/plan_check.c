/* Checking a plan from the definition: pair by pair, without any planner's code. */
#include "host/plan_check.h"
#include <stdlib.h>

static bool add(berth_plan_check_t *check, size_t *room, berth_plan_finding_t finding) {
  if (check->count == *room) {
    *room = *room > 0 ? *room * 2 : 16;
    berth_plan_finding_t *grown = realloc(check->findings, *room * sizeof *grown);
    if (grown == NULL) return false;
    check->findings = grown;
  }
  check->findings[check->count++] = finding;
  return true;
}

static int32_t offset_of(const berth_subject_t *subject, const berth_offsets_t *offsets,
                         uint32_t buffer) {
  const berth_label_t *label = &subject->labels[buffer];
  if (label->subgraph == BERTH_NOBODY) return -1;
  return offsets->offsets[subject->graph.bases[label->subgraph] + label->tensor];
}

/* What the plan was made for, where it says so, must do for the tensor as it is. */
static bool check_stated(const berth_stated_t *stated, uint64_t bytes, berth_plan_finding_t finding,
                         berth_plan_check_t *check, size_t *room) {
  if (stated->size >= 0 && (uint64_t)stated->size < bytes) {
    finding.fault = BERTH_PLAN_FAULT_SIZE;
    finding.bytes = bytes - (uint64_t)stated->size;
    if (!add(check, room, finding)) return false;
  }
  bool late = stated->first >= 0 && stated->first > (int64_t)finding.first;
  bool early = stated->last >= 0 && stated->last < (int64_t)finding.last;
  if (!late && !early) return true;
  finding.fault = BERTH_PLAN_FAULT_LIFETIME;
  finding.bytes = bytes;
  finding.stated_first = stated->first;
  finding.stated_last = stated->last;
  return add(check, room, finding);
}

/* What is wrong with one buffer alone. */
static bool check_one(const berth_subject_t *subject, const berth_offsets_t *offsets, uint32_t i,
                      uint32_t align, uint64_t capacity, bool allow_missing,
                      berth_plan_check_t *check, size_t *room) {
  const berth_label_t *label = &subject->labels[i];
  const berth_buffer_t *buffer = &subject->problem.buffers[i];
  if (label->subgraph == BERTH_NOBODY) return true;
  berth_plan_finding_t finding = {.subgraph = label->subgraph,
                                  .a = label->tensor,
                                  .b = BERTH_NOBODY,
                                  .b_subgraph = BERTH_NOBODY,
                                  .first = buffer->first,
                                  .last = buffer->last};
  int32_t offset = offset_of(subject, offsets, i);
  if (offset < 0) {
    finding.fault = BERTH_PLAN_FAULT_MISSING;
    finding.bytes = label->bytes;
    return allow_missing || label->kind == BERTH_KIND_VARIABLE || add(check, room, finding);
  }
  uint64_t end = (uint64_t)offset + label->bytes;
  if (end > check->peak) check->peak = end;
  uint32_t tensor = subject->graph.bases[label->subgraph] + label->tensor;
  if (offsets->stated != NULL &&
      !check_stated(&offsets->stated[tensor], label->bytes, finding, check, room)) {
    return false;
  }
  if ((uint32_t)offset % align != 0) {
    finding.fault = BERTH_PLAN_FAULT_ALIGNMENT;
    finding.bytes = (uint32_t)offset % align;
    if (!add(check, room, finding)) return false;
  }
  if (capacity > 0 && end > capacity) {
    finding.fault = BERTH_PLAN_FAULT_OUTSIDE;
    finding.bytes = end - capacity;
    if (!add(check, room, finding)) return false;
  }
  return true;
}

/* Do two buffers share bytes in some step? */
static bool check_two(const berth_subject_t *subject, const berth_offsets_t *offsets, uint32_t i,
                      uint32_t k, berth_plan_check_t *check, size_t *room) {
  const berth_buffer_t *x = &subject->problem.buffers[i], *y = &subject->problem.buffers[k];
  int32_t at = offset_of(subject, offsets, i), bt = offset_of(subject, offsets, k);
  if (at < 0 || bt < 0 || x->first > y->last || y->first > x->last) return true;
  uint64_t a_end = (uint64_t)at + subject->labels[i].bytes;
  uint64_t b_end = (uint64_t)bt + subject->labels[k].bytes;
  uint64_t start = (uint64_t)(at > bt ? at : bt), end = a_end < b_end ? a_end : b_end;
  if (start >= end) return true;
  /* `a` is the one that was there first: it is overwritten. */
  bool swap = y->first <= x->first; /* k comes before i */
  uint32_t a = swap ? k : i, b = swap ? i : k;
  bool is_output = subject->labels[a].kind == BERTH_KIND_OUTPUT;
  berth_plan_finding_t finding = {.fault = is_output ? BERTH_PLAN_FAULT_OUTPUT
                                                     : BERTH_PLAN_FAULT_OVERLAP,
                                  .subgraph = subject->labels[a].subgraph,
                                  .a = subject->labels[a].tensor,
                                  .b = subject->labels[b].tensor,
                                  .b_subgraph = subject->labels[b].subgraph,
                                  .first = x->first > y->first ? x->first : y->first,
                                  .last = x->last < y->last ? x->last : y->last,
                                  .bytes = end - start};
  return add(check, room, finding);
}

/* Offsets for tensors that need none. */
static bool check_needless(const berth_subject_t *subject, const berth_offsets_t *offsets,
                           berth_plan_check_t *check, size_t *room) {
  for (uint32_t i = 0; i < subject->graph.tensor_count; i++) {
    const berth_graph_tensor_t *tensor = &subject->graph.tensors[i];
    if (offsets->offsets[i] < 0 || (tensor->allocation != BERTH_ALLOCATION_MMAP_RO &&
                                    tensor->allocation != BERTH_ALLOCATION_NONE)) {
      continue;
    }
    berth_plan_finding_t finding = {.fault = BERTH_PLAN_FAULT_NEEDLESS,
                                    .subgraph = tensor->subgraph,
                                    .a = tensor->tensor,
                                    .b = BERTH_NOBODY,
                                    .b_subgraph = BERTH_NOBODY};
    if (!add(check, room, finding)) return false;
  }
  return true;
}

/* ---- Memory that may be shared --------------------------------------------------------------- */

typedef struct conflicts {
  const berth_subject_t *subject;
  const berth_offsets_t *offsets;
  const uint32_t *buffer_of; /* of each tensor */
  berth_plan_check_t *check;
  size_t *room;
  bool good;
} conflicts_t;

static bool on_conflict(void *user, uint32_t a, uint32_t b) {
  conflicts_t *c = user;
  c->good = check_two(c->subject, c->offsets, c->buffer_of[b], c->buffer_of[a], c->check, c->room);
  return c->good;
}

/* Reports the pairs that overlap without an operator's permission. */
static bool check_shared(const berth_subject_t *subject, const berth_offsets_t *offsets,
                         const berth_plan_rules_t *rules, berth_plan_check_t *check, size_t *room) {
  uint32_t tensors = subject->graph.tensor_count;
  uint64_t *places = malloc(((size_t)tensors + 1) * sizeof *places);
  uint32_t *buffer_of = malloc(((size_t)tensors + 1) * sizeof *buffer_of);
  berth_alias_options_t options = {
      .overlap = rules->overlap, .align = 1, .keep_inputs = rules->keep_inputs};
  size_t bytes = 0;
  berth_status_t status = berth_alias_workspace(&subject->graph, rules->sharing, &options, &bytes);
  void *workspace = status == BERTH_OK ? malloc(bytes + 1) : NULL;
  conflicts_t conflicts = {subject, offsets, buffer_of, check, room, true};
  bool good = places != NULL && buffer_of != NULL && workspace != NULL;
  for (uint32_t i = 0; i < tensors && good; i++) places[i] = UINT64_MAX;
  for (uint32_t i = 0; i < subject->problem.buffer_count && good; i++) {
    const berth_label_t *label = &subject->labels[i];
    int32_t offset = offset_of(subject, offsets, i);
    if (offset < 0) continue;
    uint32_t tensor = subject->graph.bases[label->subgraph] + label->tensor;
    places[tensor] = (uint64_t)offset;
    buffer_of[tensor] = i;
  }
  if (good) {
    status = berth_alias_check(&subject->graph, rules->sharing, &options, places, workspace, bytes,
                               on_conflict, &conflicts);
    good = conflicts.good && (status == BERTH_OK || status == BERTH_INFEASIBLE);
  }
  free(workspace);
  free(buffer_of);
  free(places);
  return good;
}

/* ---- All of it ------------------------------------------------------------------------------- */

berth_status_t berth_plan_check(const berth_subject_t *subject, const berth_offsets_t *offsets,
                                const berth_plan_rules_t *rules, berth_plan_check_t *check) {
  size_t room = 0;
  uint32_t count = subject->problem.buffer_count;
  check->findings = NULL;
  check->count = 0;
  check->peak = 0;
  bool good = check_needless(subject, offsets, check, &room);
  for (uint32_t i = 0; i < count && good; i++) {
    good = check_one(subject, offsets, i, rules->align, rules->capacity, rules->allow_missing,
                     check, &room);
    for (uint32_t k = 0; k < i && good && rules->sharing == NULL; k++) {
      good = check_two(subject, offsets, i, k, check, &room);
    }
  }
  if (good && rules->sharing != NULL) good = check_shared(subject, offsets, rules, check, &room);
  if (good) return BERTH_OK;
  berth_plan_check_free(check);
  return BERTH_ERROR_MEMORY;
}

void berth_plan_check_free(berth_plan_check_t *check) {
  free(check->findings);
  check->findings = NULL;
}
