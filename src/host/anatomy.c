/* The peak, taken apart. The step is found by a sweep over births and deaths, O(n log n). */
#include "host/anatomy.h"

#include <stdlib.h>

typedef struct event {
  uint32_t step;
  uint32_t buffer;
  bool birth; /* else the buffer was live up to the step before */
} event_t;

static int compare_events(const void *x, const void *y) {
  const event_t *a = x, *b = y;
  if (a->step != b->step) return a->step < b->step ? -1 : 1;
  if (a->birth != b->birth) return a->birth ? 1 : -1;
  return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

typedef struct sized {
  uint64_t size;
  uint32_t buffer;
} sized_t;

static int compare_sizes(const void *x, const void *y) {
  const sized_t *a = x, *b = y;
  if (a->size != b->size) return a->size > b->size ? -1 : 1;
  return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

uint64_t berth_region_peak(const berth_problem_t *problem, const berth_placement_t *placements,
                           uint32_t region) {
  uint64_t peak = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    uint64_t end = placements[i].offset + problem->buffers[i].size;
    if (placements[i].region == region && problem->buffers[i].size > 0 && end > peak) peak = end;
  }
  return peak;
}

berth_status_t berth_live_in(const berth_subject_t *subject, const berth_placement_t *placements,
                             uint32_t region, uint32_t step, uint32_t **live, uint32_t *count) {
  uint32_t buffers = subject->problem.buffer_count, found = 0;
  sized_t *sized = malloc(((size_t)buffers + 1) * sizeof *sized);
  uint32_t *indices = malloc(((size_t)buffers + 1) * sizeof *indices);
  if (sized == NULL || indices == NULL) {
    free(sized);
    free(indices);
    return BERTH_ERROR_MEMORY;
  }
  for (uint32_t i = 0; i < buffers; i++) {
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    if (buffer->size == 0 || step < buffer->first || step > buffer->last) continue;
    if (placements != NULL && placements[i].region != region) continue;
    sized[found++] = (sized_t){buffer->size, i};
  }
  qsort(sized, found, sizeof *sized, compare_sizes);
  for (uint32_t i = 0; i < found; i++) indices[i] = sized[i].buffer;
  free(sized);
  *live = indices;
  *count = found;
  return BERTH_OK;
}

static void add_class(const berth_subject_t *subject, uint32_t index, berth_classes_t *classes) {
  const berth_label_t *label = &subject->labels[index];
  classes->bytes[label->has_kind ? label->kind : BERTH_KIND_ACTIVATION] += label->bytes;
  classes->alignment_bytes += subject->problem.buffers[index].size - label->bytes;
}

berth_classes_t berth_classes_of(const berth_subject_t *subject,
                                 const berth_placement_t *placements, uint32_t region) {
  berth_classes_t classes = {{0}, 0};
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    if (placements == NULL || placements[i].region == region) add_class(subject, i, &classes);
  }
  return classes;
}

uint64_t *berth_load_by_step(const berth_subject_t *subject, const berth_placement_t *placements,
                             uint32_t region) {
  uint64_t *load = calloc((size_t)subject->step_count + 1, sizeof *load);
  if (load == NULL) return NULL;
  for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
    if (placements != NULL && placements[i].region != region) continue;
    const berth_buffer_t *buffer = &subject->problem.buffers[i];
    load[buffer->first] += buffer->size;
    load[buffer->last + 1] -= buffer->size; /* wraps, and back again in the sum below */
  }
  for (uint32_t step = 1; step < subject->step_count; step++) load[step] += load[step - 1];
  return load;
}

berth_status_t berth_near_steps(const berth_subject_t *subject, const berth_placement_t *placements,
                                uint32_t region, berth_near_step_t near[BERTH_NEAR_MAX],
                                uint32_t *count) {
  uint64_t *load = berth_load_by_step(subject, placements, region);
  if (load == NULL) return BERTH_ERROR_MEMORY;
  *count = 0;
  for (uint32_t step = 0; step < subject->step_count; step++) {
    uint32_t at = *count < BERTH_NEAR_MAX ? (*count)++ : BERTH_NEAR_MAX - 1;
    if (at == BERTH_NEAR_MAX - 1 && step >= BERTH_NEAR_MAX && load[step] <= near[at].load) continue;
    for (; at > 0 && near[at - 1].load < load[step]; at--) near[at] = near[at - 1];
    near[at] = (berth_near_step_t){step, load[step]};
  }
  free(load);
  return BERTH_OK;
}

/* Of the steps in which a buffer reaches up to `peak`, the one with the largest load; the first of
 * equal ones. */
static berth_status_t find_step(const berth_problem_t *problem, const berth_placement_t *placements,
                                uint32_t region, uint64_t peak, uint32_t *step) {
  event_t *events = malloc(((size_t)problem->buffer_count * 2 + 1) * sizeof *events);
  if (events == NULL) return BERTH_ERROR_MEMORY;
  size_t count = 0;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    if (placements[i].region != region || buffer->size == 0) continue;
    events[count++] = (event_t){buffer->first, i, true};
    events[count++] = (event_t){buffer->last + 1, i, false};
  }
  qsort(events, count, sizeof *events, compare_events);

  uint64_t load = 0, most = 0;
  uint32_t at_top = 0;
  *step = 0;
  for (size_t e = 0; e < count; e++) {
    uint32_t i = events[e].buffer;
    bool top = placements[i].offset + problem->buffers[i].size == peak;
    if (events[e].birth) {
      load += problem->buffers[i].size;
      at_top += top;
    } else {
      load -= problem->buffers[i].size;
      at_top -= top;
    }
    bool settled = e + 1 == count || events[e + 1].step != events[e].step;
    if (settled && at_top > 0 && load > most) {
      most = load;
      *step = events[e].step;
    }
  }
  free(events);
  return BERTH_OK;
}

static bool is_folded(const berth_subject_t *subject, uint32_t step) {
  berth_operator_t op = berth_model_operator(&subject->model, 0, step);
  int32_t output = op.outputs.count > 0 ? berth_vector_int(op.outputs, 0) : BERTH_NO_TENSOR;
  if (output == BERTH_NO_TENSOR) return false;
  return subject->graph.tensors[subject->graph.bases[0] + (uint32_t)output].foldable;
}

/* An operator on constants makes no peak: goes on to the next other one, as long as the same
 * buffers live. */
static uint32_t skip_folded(const berth_subject_t *subject, uint32_t step) {
  uint32_t operators = subject->is_model && subject->model.subgraph_count > 0
                           ? berth_model_subgraph(&subject->model, 0).operator_count
                           : 0;
  uint32_t at = step;
  while (at + 1 < operators && is_folded(subject, at)) {
    for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
      const berth_buffer_t *buffer = &subject->problem.buffers[i];
      if (buffer->size > 0 && (buffer->last == at || buffer->first == at + 1)) return step;
    }
    at++;
  }
  return at;
}

berth_status_t berth_anatomy_of(const berth_subject_t *subject, const berth_placement_t *placements,
                                uint32_t region, uint64_t peak, berth_anatomy_t *anatomy) {
  *anatomy = (berth_anatomy_t){0};
  berth_status_t status = find_step(&subject->problem, placements, region, peak, &anatomy->step);
  if (status == BERTH_OK) {
    anatomy->step = skip_folded(subject, anatomy->step);
    status = berth_live_in(subject, placements, region, anatomy->step, &anatomy->live,
                           &anatomy->live_count);
  }
  if (status != BERTH_OK) return status;
  uint64_t rounded = 0;
  for (uint32_t i = 0; i < anatomy->live_count; i++) {
    anatomy->live_bytes += subject->labels[anatomy->live[i]].bytes;
    rounded += subject->problem.buffers[anatomy->live[i]].size;
    add_class(subject, anatomy->live[i], &anatomy->classes);
  }
  anatomy->alignment_bytes = rounded - anatomy->live_bytes;
  if (peak >= rounded) anatomy->fragmentation_bytes = peak - rounded;
  if (peak < rounded) anatomy->overlap_bytes = rounded - peak;
  return BERTH_OK;
}
