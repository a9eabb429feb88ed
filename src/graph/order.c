/* The search for the order that needs the least memory. See berth/order.h.
 *
 * Dynamic programming over sets of operators that are done (downsets): what is live after a set
 * does not depend on the order within it, so of all orders of a set only the one with the smallest
 * peak matters (Liberis & Lane, 2019; Ahn et al., "Serenity", 2020). Sets are expanded level by
 * level, by the number of operators in them. What keeps the number small:
 *   - an operator that needs no more than the peak so far (or than any order needs), and after
 * which no more is live than before, may as well run at once: running it early makes nothing worse
 *     (proof: at any later set, what it has freed by then is only more). Chains and everything
 *     between two narrow places of the graph become one path this way;
 *   - sets whose peak is not below the best order's so far are dropped; a first pass that keeps few
 *     sets of each level finds a good one;
 *   - where a level has more sets than there is room for, those with the largest peaks are dropped,
 *     and the smallest of these peaks is what remains proven (beam search).
 * Cost: sets kept x operators that are ready x words of a set.
 */
#include "graph/order_network.h"
#include "plan/sort.h"
#include <string.h>

#define NARROW        64u /* sets kept of a level in the first pass */
#define DEFAULT_WIDTH 2048u
#define DEFAULT_WORK  UINT64_C(20000000)
#define ROOM_BYTES    (UINT64_C(64) << 20) /* what the default width may take */
#define NO_STATE      UINT32_MAX

/* How a state came to be. */
typedef struct step {
  uint32_t parent; /* state of the level before */
  uint32_t op;
} step_t;

/* A set of operators that are done, but for its bits. */
typedef struct state {
  uint64_t peak;
  uint64_t live; /* bytes, between steps */
  step_t step;
} state_t;

/* The states of a level, and their sets. */
typedef struct level {
  state_t *states;
  berth_bits_t *done;
  berth_bits_t *ready; /* operators that could come next */
  uint32_t count;
} level_t;

typedef struct order_search {
  berth_order_network_t network;
  const berth_order_options_t *options;
  berth_order_result_t result;
  uint32_t *order; /* the caller's */
  uint32_t width;  /* states kept of a level */
  uint32_t room;   /* states of a level while it is made: twice that */
  level_t level, next;
  step_t *history; /* of each level, `width` entries */
  uint32_t *table; /* hash table: states of `next` by set */
  uint32_t table_size;
  uint32_t *sorted, *spare;
  uint64_t dropped; /* the smallest peak of a state that was dropped for want of room */
  uint64_t work_limit;
  bool stopped;
} order_search_t;

/* ---- Memory --------------------------------------------------------------------------------- */

static uint32_t width_of(const order_search_t *s) {
  if (s->options->width > 0) return s->options->width;
  uint64_t state = sizeof(state_t) + 16 * (uint64_t)s->network.words;
  uint64_t each = 3 * state + 8 * (uint64_t)s->network.operators + 64;
  uint64_t fits = ROOM_BYTES / each;
  if (fits > DEFAULT_WIDTH) return DEFAULT_WIDTH;
  return fits < NARROW ? NARROW : (uint32_t)fits;
}

static void take_level(order_search_t *s, berth_workspace_t *workspace, level_t *level,
                       uint32_t count) {
  size_t words = (size_t)count * s->network.words;
  level->states = berth_workspace_take(workspace, count, sizeof *level->states);
  level->done = berth_workspace_take(workspace, words, 8);
  level->ready = berth_workspace_take(workspace, words, 8);
}

static void lay_out(order_search_t *s, const berth_graph_t *graph, berth_workspace_t *workspace) {
  berth_order_network_lay_out(&s->network, graph, workspace);
  s->width = width_of(s);
  if (s->width > UINT32_MAX / 16) {
    workspace->overflow = true;
    return;
  }
  s->room = 2 * s->width;
  s->table_size = 16;
  while (s->table_size < 2 * s->room) s->table_size *= 2;
  if (s->network.operators > SIZE_MAX / sizeof(step_t) / s->width ||
      s->network.words > SIZE_MAX / 8 / s->room) {
    workspace->overflow = true;
    return;
  }
  take_level(s, workspace, &s->level, s->width);
  take_level(s, workspace, &s->next, s->room);
  s->history =
      berth_workspace_take(workspace, (size_t)s->network.operators * s->width, sizeof *s->history);
  s->table = berth_workspace_take(workspace, s->table_size, sizeof *s->table);
  s->sorted = berth_workspace_take(workspace, s->room, sizeof *s->sorted);
  s->spare = berth_workspace_take(workspace, s->room, sizeof *s->spare);
}

berth_status_t berth_order_workspace(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                     const berth_order_options_t *options, size_t *bytes) {
  (void)sharing;
  order_search_t s = {.options = options};
  berth_workspace_t workspace = berth_workspace_measure();
  lay_out(&s, graph, &workspace);
  return berth_workspace_needed(&workspace, bytes);
}

/* ---- One step ------------------------------------------------------------------------------- */

/* Is operator `op` the only reader of the value that is not done? */
static bool is_last_reader(const berth_order_network_t *n, const berth_bits_t *done, uint32_t value,
                           uint32_t op) {
  const berth_bits_t *readers = berth_order_readers(n, value);
  for (uint32_t w = 0; w < n->words; w++) {
    berth_bits_t left = readers[w] & ~done[w];
    if (w == op / 64) left &= ~(UINT64_C(1) << op % 64);
    if (left != 0) return false;
  }
  return true;
}

/* What the operator needs after `done`, and what is live when it is done, too. */
static uint64_t cost_of(const berth_order_network_t *n, const berth_bits_t *done, uint64_t live,
                        uint32_t op, uint64_t *live_after) {
  const berth_order_operator_t *it = &n->ops[op];
  uint64_t cost = live + it->extra, after = live;
  for (uint32_t i = it->outputs; i < it->replaced; i++) {
    const berth_order_value_t *value = &n->values[n->lists[i]];
    cost += value->bytes;
    if (value->kept || value->read) after += value->bytes;
  }
  for (uint32_t i = it->replaced; i < it->end; i++) {
    if (!is_last_reader(n, done, n->lists[i], op)) continue;
    cost -= it->in_place;
    break;
  }
  for (uint32_t i = it->inputs; i < it->outputs; i++) {
    const berth_order_value_t *value = &n->values[n->lists[i]];
    if (!value->kept && is_last_reader(n, done, n->lists[i], op)) after -= value->bytes;
  }
  *live_after = after;
  return cost;
}

/* What every order needs: the hungriest operator alone. */
static uint64_t lower_bound(const berth_order_network_t *n) {
  uint64_t bound = n->start, always = 0;
  for (uint32_t t = 0; t < n->value_count; t++) {
    if (n->value_of[t] != t || n->values[t].producer != BERTH_NOBODY) continue;
    if (n->values[t].read || n->values[t].kept) always += n->values[t].bytes;
  }
  always = n->start - always; /* variables */
  for (uint32_t op = 0; op < n->operators; op++) {
    const berth_order_operator_t *it = &n->ops[op];
    uint64_t sum = always + it->extra - (it->end > it->replaced ? it->in_place : 0);
    for (uint32_t i = it->inputs; i < it->replaced; i++) sum += n->values[n->lists[i]].bytes;
    if (sum > bound) bound = sum;
  }
  return bound;
}

static uint64_t file_peak(const order_search_t *s, berth_bits_t *done) {
  const berth_order_network_t *n = &s->network;
  uint64_t live = n->start, peak = live;
  memset(done, 0, n->words * sizeof *done);
  for (uint32_t op = 0; op < n->operators; op++) {
    uint64_t cost = cost_of(n, done, live, op, &live) + (op == 0 ? n->first_step : 0);
    if (cost > peak) peak = cost;
    berth_bit_set(done, op);
  }
  return peak;
}

/* ---- Levels --------------------------------------------------------------------------------- */

static berth_bits_t *set_of(const order_search_t *s, berth_bits_t *sets, uint32_t state) {
  return sets + (size_t)state * s->network.words;
}

static uint32_t hash_of(const order_search_t *s, const berth_bits_t *done) {
  uint64_t hash = 0;
  for (uint32_t w = 0; w < s->network.words; w++) {
    hash = (hash ^ done[w]) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  return (uint32_t)(hash >> 16) & (s->table_size - 1);
}

/* The table's entry for a set: the one that holds it, or the free one where it belongs. */
static uint32_t *entry_of(const order_search_t *s, const berth_bits_t *done) {
  uint32_t at = hash_of(s, done);
  while (s->table[at] != NO_STATE && memcmp(set_of(s, s->next.done, s->table[at]), done,
                                            s->network.words * sizeof *done) != 0) {
    at = (at + 1) & (s->table_size - 1);
  }
  return &s->table[at];
}

static bool is_better(const void *context, uint32_t a, uint32_t b) {
  const state_t *states = context;
  if (states[a].peak != states[b].peak) return states[a].peak < states[b].peak;
  return states[a].live < states[b].live;
}

/* Brings the best `width` states of `next`, in order, to the front of `level`, and remembers what
 * is lost. */
static void select(order_search_t *s, uint32_t width) {
  size_t bytes = s->network.words * sizeof(berth_bits_t);
  for (uint32_t i = 0; i < s->next.count; i++) s->sorted[i] = i;
  berth_plan_sort(s->sorted, s->next.count, s->spare, is_better, s->next.states);
  if (s->next.count > width) {
    uint64_t lost = s->next.states[s->sorted[width]].peak;
    if (lost < s->dropped) s->dropped = lost;
  }
  s->level.count = s->next.count < width ? s->next.count : width;
  for (uint32_t i = 0; i < s->level.count; i++) {
    s->level.states[i] = s->next.states[s->sorted[i]];
    memcpy(set_of(s, s->level.done, i), set_of(s, s->next.done, s->sorted[i]), bytes);
    memcpy(set_of(s, s->level.ready, i), set_of(s, s->next.ready, s->sorted[i]), bytes);
  }
}

/* Makes room in `next`: its worse half is dropped. */
static void thin_out(order_search_t *s, uint32_t width) {
  for (uint32_t i = 0; i < s->next.count; i++) s->sorted[i] = i;
  berth_plan_sort(s->sorted, s->next.count, s->spare, is_better, s->next.states);
  uint64_t lost = s->next.states[s->sorted[width]].peak;
  if (lost < s->dropped) s->dropped = lost;
  /* Those to keep, in the order of their places, so that each moves to the front or stays. */
  memset(s->spare, 0, s->next.count * sizeof *s->spare);
  for (uint32_t i = 0; i < width; i++) s->spare[s->sorted[i]] = 1;
  size_t bytes = s->network.words * sizeof(berth_bits_t);
  uint32_t kept = 0;
  memset(s->table, 0xff, s->table_size * sizeof *s->table);
  for (uint32_t i = 0; i < s->next.count; i++) {
    if (!s->spare[i]) continue;
    if (kept != i) {
      s->next.states[kept] = s->next.states[i];
      memcpy(set_of(s, s->next.done, kept), set_of(s, s->next.done, i), bytes);
      memcpy(set_of(s, s->next.ready, kept), set_of(s, s->next.ready, i), bytes);
    }
    *entry_of(s, set_of(s, s->next.done, kept)) = kept;
    kept++;
  }
  s->next.count = kept;
}

static bool is_subset(const berth_bits_t *part, const berth_bits_t *whole, uint32_t words) {
  for (uint32_t w = 0; w < words; w++) {
    if ((part[w] & ~whole[w]) != 0) return false;
  }
  return true;
}

/* Adds what becomes of a state with one more operator to the next level. */
static void add_next(order_search_t *s, uint32_t parent, uint32_t op, uint64_t peak, uint64_t live,
                     uint32_t width) {
  const berth_order_network_t *n = &s->network;
  if (s->next.count == 2 * width) thin_out(s, width);
  uint32_t fresh = s->next.count;
  berth_bits_t *done = set_of(s, s->next.done, fresh);
  memcpy(done, set_of(s, s->level.done, parent), n->words * sizeof *done);
  berth_bit_set(done, op);
  uint32_t *entry = entry_of(s, done);
  if (*entry != NO_STATE) {
    state_t *known = &s->next.states[*entry];
    if (peak < known->peak) {
      known->peak = peak;
      known->step = (step_t){parent, op};
    }
    return;
  }
  *entry = fresh;
  s->next.count++;
  s->next.states[fresh] = (state_t){peak, live, {parent, op}};
  berth_bits_t *ready = set_of(s, s->next.ready, fresh);
  memcpy(ready, set_of(s, s->level.ready, parent), n->words * sizeof *ready);
  ready[op / 64] &= ~(UINT64_C(1) << op % 64);
  const berth_bits_t *after = n->after + (size_t)op * n->words;
  for (uint32_t i = 0; i < n->operators; i++) {
    if (after[i / 64] == 0) {
      i |= 63; /* none of these */
      continue;
    }
    if (!berth_bit(after, i)) continue;
    if (is_subset(n->before + (size_t)i * n->words, done, n->words)) berth_bit_set(ready, i);
  }
}

static void report(order_search_t *s) {
  if (s->result.work >= s->work_limit) s->stopped = true;
  if (s->options->progress == NULL || s->stopped) return;
  s->stopped = !s->options->progress(s->options->progress_user, s->result.work, s->result.peak,
                                     s->result.lower_bound);
}

static void expand(order_search_t *s, uint32_t parent, bool first, uint32_t width) {
  const berth_order_network_t *n = &s->network;
  const state_t state = s->level.states[parent];
  const berth_bits_t *done = set_of(s, s->level.done, parent);
  const berth_bits_t *ready = set_of(s, s->level.ready, parent);
  uint64_t free_of_cost = state.peak > s->result.lower_bound ? state.peak : s->result.lower_bound;
  for (int pass = 0; pass < 2; pass++) { /* is there one to run at once? else all of them */
    for (uint32_t op = 0; op < n->operators; op++) {
      if (ready[op / 64] == 0) {
        op |= 63;
        continue;
      }
      if (!berth_bit(ready, op)) continue;
      uint64_t live, cost = cost_of(n, done, state.live, op, &live);
      if (first) cost += n->first_step;
      if ((++s->result.work & 0xffff) == 0) report(s);
      if (pass == 0 && (cost > free_of_cost || live > state.live)) continue;
      uint64_t peak = cost > state.peak ? cost : state.peak;
      if (peak < s->result.peak) add_next(s, parent, op, peak, live, width);
      if (pass == 0) return;
    }
  }
}

/* One pass that keeps `width` states of each level. True: it went through. */
static bool search(order_search_t *s, uint32_t width) {
  const berth_order_network_t *n = &s->network;
  s->dropped = UINT64_MAX;
  s->level.count = 1;
  s->level.states[0] = (state_t){.peak = n->start, .live = n->start};
  memset(s->level.done, 0, n->words * sizeof *s->level.done);
  memset(s->level.ready, 0, n->words * sizeof *s->level.ready);
  for (uint32_t op = 0; op < n->operators; op++) {
    if (is_subset(n->before + (size_t)op * n->words, s->level.done, n->words)) {
      berth_bit_set(s->level.ready, op);
    }
  }
  for (uint32_t k = 0; k < n->operators; k++) {
    s->next.count = 0;
    memset(s->table, 0xff, s->table_size * sizeof *s->table);
    for (uint32_t i = 0; i < s->level.count && !s->stopped; i++) expand(s, i, k == 0, width);
    if (s->stopped) return false;
    select(s, width);
    for (uint32_t i = 0; i < s->level.count; i++) {
      s->history[(size_t)k * s->width + i] = s->level.states[i].step;
    }
  }
  if (s->level.count == 0) return true; /* nothing is better */
  s->result.peak = s->level.states[0].peak;
  uint32_t at = 0;
  for (uint32_t k = n->operators; k-- > 0;) {
    step_t step = s->history[(size_t)k * s->width + at];
    s->order[k] = step.op;
    at = step.parent;
  }
  return true;
}

/* ---- Operators that weigh nothing ------------------------------------------------------------ */

static bool is_weightless(const berth_order_network_t *n, uint32_t op) {
  return n->ops[op].inputs == n->ops[op].end && n->ops[op].extra == 0;
}

/* Appends the operators without weight that `op` needs (any, if BERTH_NOBODY), in the order in
 * which they stand. `needed` and `emitted` are sets. */
static uint32_t emit_needed(order_search_t *s, uint32_t op, berth_bits_t *needed,
                            berth_bits_t *emitted, uint32_t *to, uint32_t at) {
  const berth_order_network_t *n = &s->network;
  uint32_t count = n->operators;
  memset(needed, op == BERTH_NOBODY ? 0xff : 0, n->words * sizeof *needed);
  if (op != BERTH_NOBODY) {
    memcpy(needed, n->before + (size_t)op * n->words, n->words * sizeof *needed);
  }
  for (uint32_t k = count; k-- > 0;) { /* what they need stands before them */
    uint32_t other = s->order[k];
    if (!berth_bit(needed, other) || !is_weightless(n, other)) continue;
    const berth_bits_t *before = n->before + (size_t)other * n->words;
    for (uint32_t w = 0; w < n->words; w++) needed[w] |= before[w];
  }
  for (uint32_t k = 0; k < count; k++) {
    uint32_t other = s->order[k];
    if (!berth_bit(needed, other) || berth_bit(emitted, other) || !is_weightless(n, other))
      continue;
    berth_bit_set(emitted, other);
    to[at++] = other;
  }
  return at;
}

/* Operators on constants only count as nothing here; whoever runs them all the same is better off
 * if each runs right before its reader. */
static void put_off_weightless(order_search_t *s) {
  const berth_order_network_t *n = &s->network;
  berth_bits_t *needed = s->level.done, *emitted = s->level.ready;
  uint32_t *to = (uint32_t *)(void *)s->history, at = 0;
  memset(emitted, 0, n->words * sizeof *emitted);
  for (uint32_t k = 0; k < n->operators; k++) {
    if (is_weightless(n, s->order[k])) continue;
    at = emit_needed(s, s->order[k], needed, emitted, to, at);
    to[at++] = s->order[k];
  }
  at = emit_needed(s, BERTH_NOBODY, needed, emitted, to, at);
  memcpy(s->order, to, at * sizeof *to);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void run(order_search_t *s) {
  const berth_order_network_t *n = &s->network;
  berth_order_result_t *result = &s->result;
  result->lower_bound = lower_bound(n);
  result->file_peak = result->peak = file_peak(s, s->level.done);
  for (uint32_t i = 0; i < n->operators; i++) s->order[i] = i;
  const uint32_t widths[2] = {NARROW < s->width ? NARROW : s->width, s->width};
  for (int pass = 0; pass < 2 && result->peak > result->lower_bound; pass++) {
    if (!search(s, widths[pass])) break;
    uint64_t bound = s->dropped < result->peak ? s->dropped : result->peak;
    if (bound > result->lower_bound) result->lower_bound = bound;
  }
  result->optimal = result->peak == result->lower_bound;
  result->changed = result->peak < result->file_peak;
  if (result->changed) put_off_weightless(s);
}

berth_status_t berth_order_find(const berth_graph_t *graph, const berth_sharing_t *sharing,
                                const berth_order_options_t *options, void *workspace,
                                size_t workspace_bytes, uint32_t *order,
                                berth_order_result_t *result) {
  uint32_t align = options->align;
  if (align == 0 || (align & (align - 1)) != 0) return BERTH_ERROR_ARGUMENT;
  order_search_t s = {.options = options, .order = order};
  s.work_limit = options->work_limit > 0 ? options->work_limit : DEFAULT_WORK;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  lay_out(&s, graph, &memory);
  berth_status_t status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  uint64_t all = 0; /* no sum of sizes may overflow */
  for (uint32_t t = 0; t < graph->tensor_count; t++) {
    uint64_t bytes = graph->tensors[t].bytes;
    if (bytes > (uint64_t)INT64_MAX - align || all > (uint64_t)INT64_MAX - bytes - align) {
      return BERTH_ERROR_OVERFLOW;
    }
    all += bytes + align;
  }
  for (uint32_t i = 0; options->extra != NULL && i < s.network.operators; i++) {
    if (options->extra[i] > (uint64_t)INT64_MAX - all) return BERTH_ERROR_OVERFLOW;
    all += options->extra[i];
  }
  memset(&s.result, 0, sizeof s.result);
  if (s.network.operators > 0) {
    berth_order_network_fill(&s.network, graph, sharing, options);
    run(&s);
  } else {
    s.result.optimal = true;
  }
  *result = s.result;
  return BERTH_OK;
}
