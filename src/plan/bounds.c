/* Lower bounds on the peak that are better than the load and as cheap.
 *
 * Used before every planner. Three sweeps over time, of which the largest result counts:
 * - the load of a step, with pairs (load.h);
 * - the aligned load: buffers whose offsets are all multiples of G, and which are live together,
 * are at least their sizes rounded up to G apart, all but the topmost;
 * - lost gaps: between fixed buffers, and below the lowest, a gap that is smaller than every buffer
 *   that could go there is lost to the step.
 * The latter two only for problems without SHARE, HEAD and TAIL, which let buffers overlap. That
 * windows of time say no more than the load on hard problems is measured in docs/exact-planner.md.
 * Cost: O(n log n) for each different alignment, and the number of fixed buffers for each step.
 */
#include "plan/bounds.h"
#include "plan/load.h"
#include "plan/sort.h"
#include "plan/workspace.h"

enum { ALIGNMENTS = 8 };             /* different ones that are looked at */
#define GAP_WORK ((uint64_t)1 << 22) /* fixed buffers x steps that are looked at */

typedef struct sweep {
  const berth_problem_t *problem;
  uint32_t count;               /* buffers that take room */
  uint32_t *by_first, *by_last; /* they, by first and by last step */
  uint32_t *spare;
  uint32_t *fixed; /* the fixed ones of them, by offset */
  uint32_t fixed_count;
  uint32_t *heap; /* live buffers, the least key on top; the dead leave when there */
  uint64_t *key;  /* of each buffer */
  uint32_t heap_count;
} sweep_t;

static void lay_out(const berth_problem_t *problem, berth_workspace_t *memory, sweep_t *sweep) {
  size_t buffers = problem->buffer_count;
  *sweep = (sweep_t){.problem = problem};
  uint32_t **indices[] = {&sweep->by_first, &sweep->by_last, &sweep->spare, &sweep->fixed,
                          &sweep->heap};
  for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) {
    *indices[i] = berth_workspace_take(memory, buffers, sizeof(uint32_t));
  }
  sweep->key = berth_workspace_take(memory, buffers, sizeof *sweep->key);
}

static const berth_buffer_t *at(const sweep_t *sweep, uint32_t buffer) {
  return &sweep->problem->buffers[buffer];
}

static bool starts_before(const void *context, uint32_t a, uint32_t b) {
  return at(context, a)->first < at(context, b)->first;
}

static bool ends_before(const void *context, uint32_t a, uint32_t b) {
  return at(context, a)->last < at(context, b)->last;
}

static bool lies_below(const void *context, uint32_t a, uint32_t b) {
  return at(context, a)->fixed < at(context, b)->fixed;
}

static void prepare(sweep_t *sweep) {
  for (uint32_t i = 0; i < sweep->problem->buffer_count; i++) {
    if (at(sweep, i)->size == 0) continue;
    sweep->by_first[sweep->count] = sweep->by_last[sweep->count] = i;
    sweep->count++;
    if (at(sweep, i)->fixed != BERTH_ANYWHERE) sweep->fixed[sweep->fixed_count++] = i;
  }
  berth_plan_sort(sweep->by_first, sweep->count, sweep->spare, starts_before, sweep);
  berth_plan_sort(sweep->by_last, sweep->count, sweep->spare, ends_before, sweep);
  berth_plan_sort(sweep->fixed, sweep->fixed_count, sweep->spare, lies_below, sweep);
}

/* ---- The live buffers ------------------------------------------------------------------------ */

static void push(sweep_t *sweep, uint32_t buffer) {
  uint32_t i = sweep->heap_count++;
  for (; i > 0 && sweep->key[sweep->heap[(i - 1) / 2]] > sweep->key[buffer]; i = (i - 1) / 2) {
    sweep->heap[i] = sweep->heap[(i - 1) / 2];
  }
  sweep->heap[i] = buffer;
}

/* The least key of the buffers live in step `now`, or `none` if there is no such buffer. */
static uint64_t least(sweep_t *sweep, uint32_t now, uint64_t none) {
  uint32_t *heap = sweep->heap;
  while (sweep->heap_count > 0 && at(sweep, heap[0])->last < now) {
    uint32_t moved = heap[--sweep->heap_count], i = 0;
    for (uint32_t child; (child = 2 * i + 1) < sweep->heap_count; i = child) {
      if (child + 1 < sweep->heap_count && sweep->key[heap[child + 1]] < sweep->key[heap[child]]) {
        child++;
      }
      if (sweep->key[heap[child]] >= sweep->key[moved]) break;
      heap[i] = heap[child];
    }
    heap[i] = moved;
  }
  return sweep->heap_count > 0 ? sweep->key[heap[0]] : none;
}

/* ---- The aligned load ------------------------------------------------------------------------ */

/* Is the offset of the buffer always a multiple of `grid`? */
static bool on_grid(const berth_buffer_t *buffer, uint64_t grid) {
  if (buffer->fixed != BERTH_ANYWHERE) return buffer->fixed % grid == 0;
  return buffer->align > 0 && buffer->align % grid == 0;
}

/* What is missing from the buffer's size to a multiple of `grid`. */
static uint64_t slack(const berth_buffer_t *buffer, uint64_t grid) {
  uint64_t over = buffer->size % grid;
  return over > 0 ? grid - over : 0;
}

static uint64_t aligned_load(sweep_t *sweep, uint64_t grid) {
  uint64_t sum = 0, largest = 0;
  sweep->heap_count = 0;
  for (uint32_t i = 0, dead = 0; i < sweep->count;) {
    uint32_t now = at(sweep, sweep->by_first[i])->first;
    for (; at(sweep, sweep->by_last[dead])->last < now; dead++) {
      const berth_buffer_t *buffer = at(sweep, sweep->by_last[dead]);
      if (on_grid(buffer, grid)) sum -= buffer->size + slack(buffer, grid);
    }
    for (; i < sweep->count && at(sweep, sweep->by_first[i])->first == now; i++) {
      const berth_buffer_t *buffer = at(sweep, sweep->by_first[i]);
      if (!on_grid(buffer, grid)) continue;
      sum += buffer->size + slack(buffer, grid);
      sweep->key[sweep->by_first[i]] = grid - slack(buffer, grid); /* the most slack on top */
      push(sweep, sweep->by_first[i]);
    }
    uint64_t height = sum > 0 ? sum - (grid - least(sweep, now, grid)) : 0;
    if (height > largest) largest = height;
  }
  return largest;
}

static uint64_t aligned_loads(sweep_t *sweep) {
  uint64_t seen[ALIGNMENTS], largest = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < sweep->count && count < ALIGNMENTS; i++) {
    const berth_buffer_t *buffer = at(sweep, sweep->by_first[i]);
    if (buffer->align <= 1 || slack(buffer, buffer->align) == 0) continue;
    uint32_t k = 0;
    while (k < count && seen[k] != buffer->align) k++;
    if (k < count) continue;
    seen[count++] = buffer->align;
    uint64_t load = aligned_load(sweep, buffer->align);
    if (load > largest) largest = load;
  }
  return largest;
}

/* ---- Lost gaps ------------------------------------------------------------------------------- */

/* Bytes of gaps below fixed buffers live in step `now` that are smaller than `smallest`. */
static uint64_t lost_bytes(const sweep_t *sweep, uint32_t now, uint64_t smallest) {
  uint64_t end = 0, lost = 0;
  for (uint32_t k = 0; k < sweep->fixed_count; k++) {
    const berth_buffer_t *buffer = at(sweep, sweep->fixed[k]);
    if (buffer->first > now || buffer->last < now) continue;
    if (buffer->fixed > end && buffer->fixed - end < smallest) lost += buffer->fixed - end;
    if (buffer->fixed + buffer->size > end) end = buffer->fixed + buffer->size;
  }
  return lost;
}

static uint64_t load_with_gaps(sweep_t *sweep) {
  if ((uint64_t)sweep->fixed_count * sweep->count > GAP_WORK || sweep->fixed_count == 0) return 0;
  uint64_t load = 0, largest = 0;
  sweep->heap_count = 0;
  for (uint32_t i = 0, dead = 0; i < sweep->count;) {
    uint32_t now = at(sweep, sweep->by_first[i])->first;
    for (; at(sweep, sweep->by_last[dead])->last < now; dead++) {
      load -= at(sweep, sweep->by_last[dead])->size;
    }
    for (; i < sweep->count && at(sweep, sweep->by_first[i])->first == now; i++) {
      uint32_t buffer = sweep->by_first[i];
      load += at(sweep, buffer)->size;
      if (at(sweep, buffer)->fixed != BERTH_ANYWHERE) continue;
      sweep->key[buffer] = at(sweep, buffer)->size;
      push(sweep, buffer);
    }
    uint64_t height = load + lost_bytes(sweep, now, least(sweep, now, UINT64_MAX));
    if (height > largest) largest = height;
  }
  return largest;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static bool overlaps_allowed(const berth_problem_t *problem) {
  for (uint32_t k = 0; k < problem->pair_count; k++) {
    if (problem->pairs[k].relation != BERTH_APART) return true;
  }
  return false;
}

berth_status_t berth_plan_bound_workspace(const berth_problem_t *problem, size_t *bytes) {
  size_t load;
  berth_status_t status = berth_plan_load_bound_workspace(problem, &load);
  if (status != BERTH_OK) return status;
  berth_workspace_t memory = berth_workspace_measure();
  sweep_t sweep;
  lay_out(problem, &memory, &sweep);
  status = berth_workspace_needed(&memory, bytes);
  if (status == BERTH_OK && load > *bytes) *bytes = load;
  return status;
}

berth_status_t berth_plan_bound(const berth_problem_t *problem, void *workspace,
                                size_t workspace_bytes, uint64_t *bound) {
  uint64_t most;
  berth_status_t status = berth_plan_load_bound(problem, workspace, workspace_bytes, &most);
  if (status != BERTH_OK) return status;
  bool constrained = false;
  for (uint32_t i = 0; i < problem->buffer_count && !constrained; i++) {
    constrained = problem->buffers[i].align > 1 || problem->buffers[i].fixed != BERTH_ANYWHERE;
  }
  if (constrained && !overlaps_allowed(problem)) {
    berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
    sweep_t sweep;
    lay_out(problem, &memory, &sweep);
    status = berth_workspace_status(&memory);
    if (status != BERTH_OK) return status;
    prepare(&sweep);
    uint64_t others[2] = {aligned_loads(&sweep), load_with_gaps(&sweep)};
    for (int k = 0; k < 2; k++) {
      if (others[k] > most) most = others[k];
    }
  }
  *bound = most;
  return BERTH_OK;
}
