/* The load of a problem: how many bytes are live in each step, by one sweep over time.
 *
 * Used for the bound that every plan is compared with. With pairs, the bytes that a step occupies
 * are at least the sum over its SHARE groups of the largest live member, less what HEAD, TAIL and
 * OVER pairs permit to overlap: of the groups taken one after the other, each adds its size less
 * what it may have in common with earlier ones, or nothing. Cost: O(n log n) for n buffers and
 * pairs.
 */
#include "plan/load.h"
#include "plan/share.h"
#include "plan/sort.h"
#include "plan/workspace.h"

/* Items 0..buffer_count-1 are the buffers; behind them come the pairs, live while both are. */
typedef struct sweep {
  const berth_problem_t *problem;
  uint32_t item_count;
  uint32_t *first, *last; /* of each item */
  uint32_t *by_first, *by_last;
  uint32_t *spare;
  uint32_t *group; /* SHARE group of each buffer: its smallest index */
  uint32_t *begin; /* of group g: where its heap begins in `heap` */
  uint32_t *live;  /* of group g: how many buffers are in its heap, dead ones included */
  uint32_t *heap;  /* the live members of every group, largest on top */
  uint64_t *saved; /* of group g: what live pairs permit it to have in common with earlier ones */
  uint64_t load;   /* what all groups add */
} sweep_t;

static void lay_out(const berth_problem_t *problem, bool pairs, berth_workspace_t *workspace,
                    sweep_t *sweep) {
  size_t buffers = problem->buffer_count;
  size_t items = buffers + (pairs ? problem->pair_count : 0);
  sweep->problem = problem;
  sweep->item_count = (uint32_t)items;
  sweep->first = berth_workspace_take(workspace, items, sizeof(uint32_t));
  sweep->last = berth_workspace_take(workspace, items, sizeof(uint32_t));
  sweep->by_first = berth_workspace_take(workspace, items, sizeof(uint32_t));
  sweep->by_last = berth_workspace_take(workspace, items, sizeof(uint32_t));
  sweep->spare = berth_workspace_take(workspace, items, sizeof(uint32_t));
  sweep->group = berth_workspace_take(workspace, buffers, sizeof(uint32_t));
  sweep->begin = berth_workspace_take(workspace, buffers, sizeof(uint32_t));
  sweep->live = berth_workspace_take(workspace, buffers, sizeof(uint32_t));
  sweep->heap = berth_workspace_take(workspace, buffers, sizeof(uint32_t));
  sweep->saved = berth_workspace_take(workspace, buffers, sizeof(uint64_t));
}

static bool starts_before(const void *context, uint32_t a, uint32_t b) {
  const sweep_t *sweep = context;
  return sweep->first[a] < sweep->first[b];
}

static bool ends_before(const void *context, uint32_t a, uint32_t b) {
  const sweep_t *sweep = context;
  return sweep->last[a] < sweep->last[b];
}

/* ---- The live members of a SHARE group: a heap, from which the dead leave when on top -------- */

static uint64_t size_at(const sweep_t *sweep, const uint32_t *heap, uint32_t i) {
  return sweep->problem->buffers[heap[i]].size;
}

static void push(sweep_t *sweep, uint32_t buffer) {
  uint32_t group = sweep->group[buffer];
  uint32_t *heap = sweep->heap + sweep->begin[group];
  uint32_t i = sweep->live[group]++;
  heap[i] = buffer;
  while (i > 0 && size_at(sweep, heap, (i - 1) / 2) < size_at(sweep, heap, i)) {
    uint32_t up = (i - 1) / 2, swap = heap[up];
    heap[up] = heap[i];
    heap[i] = swap;
    i = up;
  }
}

static void pop_dead(sweep_t *sweep, uint32_t group, uint32_t step) {
  uint32_t *heap = sweep->heap + sweep->begin[group];
  while (sweep->live[group] > 0 && sweep->last[heap[0]] < step) {
    uint32_t count = --sweep->live[group];
    heap[0] = heap[count];
    for (uint32_t i = 0, child; (child = 2 * i + 1) < count; i = child) {
      if (child + 1 < count && size_at(sweep, heap, child) < size_at(sweep, heap, child + 1)) {
        child++;
      }
      if (size_at(sweep, heap, child) <= size_at(sweep, heap, i)) break;
      uint32_t swap = heap[child];
      heap[child] = heap[i];
      heap[i] = swap;
    }
  }
}

static uint64_t top(const sweep_t *sweep, uint32_t group) {
  return sweep->live[group] > 0 ? size_at(sweep, sweep->heap + sweep->begin[group], 0) : 0;
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* What the pair of this item may save while both of its buffers are live. */
static uint64_t saving(const sweep_t *sweep, uint32_t item) {
  const berth_pair_t *pair = &sweep->problem->pairs[item - sweep->problem->buffer_count];
  if (pair->relation == BERTH_SHARE || pair->relation == BERTH_APART) return 0;
  if (sweep->group[pair->a] == sweep->group[pair->b]) return 0;
  uint64_t a = sweep->problem->buffers[pair->a].size, b = sweep->problem->buffers[pair->b].size;
  uint64_t bytes = pair->relation == BERTH_OVER ? a : pair->bytes;
  return bytes < b ? bytes : b;
}

/* The group whose load an item changes: of a pair, the later one. */
static uint32_t group_of(const sweep_t *sweep, uint32_t item) {
  uint32_t buffers = sweep->problem->buffer_count;
  if (item < buffers) return sweep->group[item];
  const berth_pair_t *pair = &sweep->problem->pairs[item - buffers];
  uint32_t a = sweep->group[pair->a], b = sweep->group[pair->b];
  return a > b ? a : b;
}

static uint64_t added_by(const sweep_t *sweep, uint32_t group) {
  uint64_t size = top(sweep, group);
  return size > sweep->saved[group] ? size - sweep->saved[group] : 0;
}

static void begin_item(sweep_t *sweep, uint32_t item) {
  uint32_t group = group_of(sweep, item);
  sweep->load -= added_by(sweep, group);
  if (item < sweep->problem->buffer_count) {
    push(sweep, item);
  } else {
    sweep->saved[group] += saving(sweep, item);
  }
  sweep->load += added_by(sweep, group);
}

/* Of a buffer or a pair whose last step is before `now`. */
static void end_item(sweep_t *sweep, uint32_t item, uint32_t now) {
  uint32_t group = group_of(sweep, item);
  sweep->load -= added_by(sweep, group);
  if (item < sweep->problem->buffer_count) {
    pop_dead(sweep, group, now);
  } else {
    sweep->saved[group] -= saving(sweep, item);
  }
  sweep->load += added_by(sweep, group);
}

static void prepare(sweep_t *sweep, bool pairs) {
  const berth_problem_t *problem = sweep->problem;
  uint32_t buffers = problem->buffer_count;
  for (uint32_t i = 0; i < buffers; i++) {
    sweep->first[i] = problem->buffers[i].first;
    sweep->last[i] = problem->buffers[i].last;
    sweep->group[i] = i;
    sweep->begin[i] = 0;
    sweep->live[i] = 0;
    sweep->saved[i] = 0;
  }
  if (pairs) berth_plan_share_groups(problem, sweep->group);
  for (uint32_t i = buffers; i < sweep->item_count; i++) {
    const berth_buffer_t *a = &problem->buffers[problem->pairs[i - buffers].a];
    const berth_buffer_t *b = &problem->buffers[problem->pairs[i - buffers].b];
    sweep->first[i] = a->first > b->first ? a->first : b->first;
    sweep->last[i] = a->last < b->last ? a->last : b->last;
  }
  for (uint32_t i = 0; i < buffers; i++) sweep->begin[sweep->group[i]]++;
  for (uint32_t i = 0, sum = 0; i < buffers; i++) {
    uint32_t members = sweep->begin[i];
    sweep->begin[i] = sum;
    sum += members;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < sweep->item_count; i++) {
    if (sweep->first[i] <= sweep->last[i]) sweep->by_first[count++] = i;
  }
  for (uint32_t i = 0; i < count; i++) sweep->by_last[i] = sweep->by_first[i];
  berth_plan_sort(sweep->by_first, count, sweep->spare, starts_before, sweep);
  berth_plan_sort(sweep->by_last, count, sweep->spare, ends_before, sweep);
  sweep->item_count = count;
}

/* The largest load and the first step that has it. The load only grows where something begins. */
static uint64_t run(sweep_t *sweep, uint32_t *step) {
  uint64_t largest = 0;
  *step = 0;
  sweep->load = 0;
  for (uint32_t i = 0, dead = 0; i < sweep->item_count;) {
    uint32_t now = sweep->first[sweep->by_first[i]];
    for (; sweep->last[sweep->by_last[dead]] < now; dead++) {
      end_item(sweep, sweep->by_last[dead], now);
    }
    for (; i < sweep->item_count && sweep->first[sweep->by_first[i]] == now; i++) {
      begin_item(sweep, sweep->by_first[i]);
    }
    if (sweep->load > largest) {
      largest = sweep->load;
      *step = now;
    }
  }
  return largest;
}

static berth_status_t needed(const berth_problem_t *problem, bool pairs, size_t *bytes) {
  berth_status_t status = berth_problem_check(problem, NULL);
  if (status != BERTH_OK) return status;
  berth_workspace_t memory = berth_workspace_measure();
  sweep_t sweep;
  lay_out(problem, pairs, &memory, &sweep);
  return berth_workspace_needed(&memory, bytes);
}

berth_status_t berth_plan_load(const berth_problem_t *problem, bool pairs, void *workspace,
                               size_t workspace_bytes, uint64_t *load, uint32_t *step) {
  berth_status_t status = berth_problem_check(problem, NULL);
  if (status != BERTH_OK) return status;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  sweep_t sweep;
  lay_out(problem, pairs, &memory, &sweep);
  status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  prepare(&sweep, pairs);
  *load = run(&sweep, step);
  return BERTH_OK;
}

berth_status_t berth_problem_load_workspace(const berth_problem_t *problem, size_t *bytes) {
  return needed(problem, false, bytes);
}

berth_status_t berth_problem_load(const berth_problem_t *problem, void *workspace,
                                  size_t workspace_bytes, uint64_t *load, uint32_t *step) {
  uint32_t ignored;
  return berth_plan_load(problem, false, workspace, workspace_bytes, load,
                         step != NULL ? step : &ignored);
}

berth_status_t berth_plan_load_bound_workspace(const berth_problem_t *problem, size_t *bytes) {
  return needed(problem, true, bytes);
}

berth_status_t berth_plan_load_bound(const berth_problem_t *problem, void *workspace,
                                     size_t workspace_bytes, uint64_t *bound) {
  uint32_t step;
  uint64_t load;
  berth_status_t status = berth_plan_load(problem, true, workspace, workspace_bytes, &load, &step);
  if (status != BERTH_OK) return status;
  for (uint32_t i = 0; i < problem->buffer_count; i++) {
    const berth_buffer_t *buffer = &problem->buffers[i];
    uint64_t end = buffer->size != 0 && buffer->fixed != BERTH_ANYWHERE
                       ? buffer->fixed + buffer->size
                       : buffer->size;
    if (end > load) load = end;
  }
  *bound = load;
  return BERTH_OK;
}
