/* Which intervals of an order to stream, so that the load is smallest.
 *
 * A plan is a path through the cuts between steps: from one cut to the next goes a step that runs
 * whole, or a run. What must exist whole at a cut depends on the cut alone, so the load of a run
 * depends on its two ends alone, and the smallest peak is a bottleneck path, found by dynamic
 * programming (msf-CNN, Huang & Baccelli, 2025, poses fusion with recomputation as a shortest path
 * in the same graph). It is exact for runs that are intervals of the given order; branches that are
 * streamed apart from each other need another order.
 *
 * The load of a run comes from walking its row schedule, which is what costs (stream_load.c). So
 * the best path is sketched with lower bounds, and only the runs on it are walked, no farther than
 * until they are known to be worse than the sketch; then it is sketched anew. Loads are remembered.
 *
 * With the smallest load known, the fewest calls for this load follow from a shortest path over the
 * runs within it, and so does the whole trade-off, by asking again for less and less memory.
 *
 * Cost: O(steps x longest run) for each sketch, and the walks, which `work_limit` counts.
 */
#include "graph/stream_search.h"

#define LENGTH_MAX  256u /* most steps in one run */
#define BLOCK_MAX   64u  /* most rows that are made at a time */
#define STRICT_MOST 48u  /* most steps for which all bounds are strict; see read_windows */
#define SLACK       32u  /* walks end where the load is 1/32 larger than anybody wants */

/* ---- Memory --------------------------------------------------------------------------------- */

static berth_status_t lay_out(berth_searching_t *s, berth_workspace_t *memory) {
  berth_subgraph_t subgraph = berth_model_subgraph(s->network->model, 0);
  s->step_count = subgraph.operator_count;
  s->tensor_count = subgraph.tensor_count;
  s->width = s->step_count < LENGTH_MAX ? s->step_count : LENGTH_MAX;
  s->run_room = s->step_count * BERTH_STREAM_CHOICES_MAX;
  s->tensors = berth_workspace_take(memory, s->tensor_count, sizeof *s->tensors);
  s->measure.rings = berth_workspace_take(memory, s->tensor_count, sizeof *s->measure.rings);
  s->measure.firsts = berth_workspace_take(memory, s->tensor_count, sizeof *s->measure.firsts);
  s->measure.lasts = berth_workspace_take(memory, s->tensor_count, sizeof *s->measure.lasts);
  s->steps = berth_workspace_take(memory, s->step_count, sizeof *s->steps);
  s->cuts = berth_workspace_take(memory, (size_t)s->step_count + 1, sizeof *s->cuts);
  s->loads = berth_workspace_take(memory, (size_t)s->step_count * s->width, sizeof *s->loads);
  size_t strips = (s->width + BERTH_STREAM_STRIP - 1) / BERTH_STREAM_STRIP;
  s->mins = berth_workspace_take(memory, s->step_count * strips, sizeof *s->mins);
  s->walked = berth_workspace_take(memory, (size_t)s->step_count * s->width, sizeof *s->walked);
  s->operands =
      berth_workspace_take(memory, berth_searching_operands(s->network), sizeof(uint32_t));
  s->runs = berth_workspace_take(memory, s->run_room, sizeof *s->runs);
  size_t nodes = (size_t)subgraph.inputs.count + s->step_count;
  s->need = berth_workspace_take(memory, nodes, sizeof *s->need);
  s->sums = berth_workspace_take(memory, (size_t)s->step_count + 1, sizeof *s->sums);
  if (s->step_count == 0) return BERTH_OK;
  berth_status_t status =
      berth_stream_workspace(s->network, 0, s->step_count - 1, &s->stream_bytes);
  if (status != BERTH_OK) return status;
  s->stream_memory = berth_workspace_take(memory, s->stream_bytes, 1);
  /* Indices for each operand and each node, fewer than an edge and a node have. */
  s->measure_bytes = s->stream_bytes;
  s->measure_memory = berth_workspace_take(memory, s->measure_bytes, 1);
  return BERTH_OK;
}

berth_status_t berth_stream_search_workspace(const berth_stream_network_t *network, size_t *bytes) {
  berth_searching_t s = {.network = network};
  berth_workspace_t memory = berth_workspace_measure();
  berth_status_t status = lay_out(&s, &memory);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

/* ---- Paths ---------------------------------------------------------------------------------- */

static void step_to(search_cut_t *cuts, uint32_t from, uint32_t to, uint64_t value, uint64_t load,
                    bool streamed) {
  if (value >= cuts[to].value) return;
  cuts[to] = (search_cut_t){value, load, from, streamed};
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* Tells the caller how far the search is; he may end it. */
static void report(berth_searching_t *s) {
  if (s->stopped || s->options->progress == NULL) return;
  if (s->options->progress(s->options->progress_user, s->result->work, UINT64_MAX,
                           s->cuts[s->step_count].load)) {
    return;
  }
  s->stopped = true;
  s->result->exact = false;
}

/* What a path is to have least of: the largest load, calls of operators, or the sum of all loads,
 * each as often as the run has steps. The last leaves most room besides. */
typedef enum aim { LEAST_LOAD, LEAST_CALLS, LEAST_SUM } aim_t;

static uint64_t added(const berth_searching_t *s, aim_t aim, uint64_t value, uint32_t first,
                      uint32_t last, uint64_t load) {
  if (aim == LEAST_LOAD) return larger(value, load);
  if (aim == LEAST_SUM) return value + load * (last - first + 1);
  return value + s->steps[last].calls - (first > 0 ? s->steps[first - 1].calls : 0) + 1;
}

/* The best path of those whose load is at most `budget`, by what is known of the loads so far; of
 * LEAST_LOAD, none with runs beyond the guess. True: there is one. */
static bool sketch_within(berth_searching_t *s, aim_t aim, uint64_t budget) {
  for (uint32_t i = 0; i <= s->step_count; i++) {
    s->cuts[i] = (search_cut_t){BERTH_STREAM_IMPOSSIBLE, 0, 0, false};
  }
  s->cuts[0].value = 0;
  if (aim == LEAST_LOAD) { /* the best without any run is where to begin */
    for (uint32_t i = 0; i < s->step_count && s->cuts[i].value != BERTH_STREAM_IMPOSSIBLE; i++) {
      uint64_t load = larger(s->cuts[i].load, s->steps[i].whole);
      step_to(s->cuts, i, i + 1, load, load, false);
    }
  }
  const search_cut_t *end = &s->cuts[s->step_count];
  for (uint32_t i = 0; i < s->step_count; i++) {
    const search_cut_t at = s->cuts[i];
    if (at.value == BERTH_STREAM_IMPOSSIBLE || at.value >= end->value) continue;
    uint64_t whole = s->steps[i].whole;
    if (whole <= budget && whole != BERTH_STREAM_IMPOSSIBLE) {
      uint64_t value = aim == LEAST_CALLS ? at.value + 1 : added(s, aim, at.value, i, i, whole);
      step_to(s->cuts, i, i + 1, value, larger(at.load, whole), false);
    }
    size_t index = berth_searching_index(s, i, i);
    uint64_t most = budget == BERTH_STREAM_IMPOSSIBLE ? budget : budget + 1;
    if (aim == LEAST_LOAD && end->value < most) most = end->value;
    if (aim == LEAST_LOAD && s->guess < most) most = s->guess + 1;
    uint32_t reach = s->steps[i].reach; /* 0: no run begins here */
    for (uint32_t j = i; j < reach; j++) {
      s->sketched++;
      if ((j - i) % BERTH_STREAM_STRIP == 0 && s->mins[berth_searching_strip(s, i, j)] >= most) {
        j += BERTH_STREAM_STRIP - 1;
        continue;
      }
      uint64_t load = s->loads[index + (j - i)];
      if (load >= most) continue;
      if (s->stopped && !s->walked[index + (j - i)]) continue;
      uint64_t value = added(s, aim, at.value, i, j, load);
      if (value < end->value) step_to(s->cuts, i, j + 1, value, larger(load, at.load), true);
    }
  }
  return end->value != BERTH_STREAM_IMPOSSIBLE;
}

/* The smallest load hardly ever grows by much when a few runs have been walked. */
static bool sketch_path(berth_searching_t *s, aim_t aim, uint64_t budget) {
  for (;;) {
    bool found = sketch_within(s, aim, budget);
    if (aim != LEAST_LOAD) return found;
    uint64_t load = s->cuts[s->step_count].load;
    if (found && load <= s->guess) {
      s->guess = load + load / 16;
      return true;
    }
    if (s->guess == BERTH_STREAM_IMPOSSIBLE) return false;
    s->guess += s->guess / 4 + s->align;
    if (s->guess > s->total) s->guess = BERTH_STREAM_IMPOSSIBLE;
  }
}

/* The path, with all its runs walked. Each walk goes no farther than until the run is known to be
 * worse than the path that it is on, so what is walked to its end is on some best path. */
static bool find_path(berth_searching_t *s, aim_t aim, uint64_t budget) {
  for (;;) {
    if (!sketch_path(s, aim, budget)) return false;
    uint64_t enough = budget;
    if (budget == BERTH_STREAM_IMPOSSIBLE) enough = s->cuts[s->step_count].load;
    if (s->options->below != 0 && s->cuts[s->step_count].load >= s->options->below) return false;
    bool known = true;
    for (uint32_t at = s->step_count; at > 0; at = s->cuts[at].from) {
      uint32_t from = s->cuts[at].from;
      if (!s->cuts[at].streamed || s->walked[berth_searching_index(s, from, at - 1)]) continue;
      known = false;
      berth_searching_walk(s, from, at - 1, enough + enough / SLACK);
    }
    if (known) return true;
    report(s);
  }
}

/* Takes down the path that was found, with up to `most` rows at a time where there is room for it.
 */
static void note_choice(berth_searching_t *s, uint64_t budget, uint32_t most) {
  berth_stream_result_t *result = s->result;
  berth_stream_choice_t *choice = &result->choices[result->choice_count++];
  *choice = (berth_stream_choice_t){.first_run = s->run_count};
  for (uint32_t at = s->step_count; at > 0; at = s->cuts[at].from) {
    uint32_t from = s->cuts[at].from;
    choice->load = larger(choice->load, s->cuts[at].load);
    if (!s->cuts[at].streamed) {
      choice->calls++;
      continue;
    }
    berth_stream_run_t run = berth_searching_run(s, from, at - 1, 1);
    choice->calls += berth_searching_coarsen(s, &run, budget, most);
    s->runs[s->run_count++] = run;
    choice->run_count++;
  }
  for (uint32_t i = 0; i < choice->run_count / 2; i++) { /* first run first */
    berth_stream_run_t *a = &s->runs[choice->first_run + i];
    berth_stream_run_t *b = &s->runs[choice->first_run + choice->run_count - 1 - i];
    berth_stream_run_t c = *a;
    *a = *b, *b = c;
  }
}

static bool same_runs(const berth_searching_t *s, const berth_stream_choice_t *a,
                      const berth_stream_choice_t *b) {
  if (a->run_count != b->run_count) return false;
  for (uint32_t i = 0; i < a->run_count; i++) {
    const berth_stream_run_t *one = &s->runs[a->first_run + i], *two = &s->runs[b->first_run + i];
    if (one->first != two->first || one->last != two->last) return false;
  }
  return true;
}

static void drop_choice(berth_searching_t *s) {
  s->run_count = s->result->choices[--s->result->choice_count].first_run;
}

/* From the smallest load to nothing streamed. One that another one betters in both is dropped. */
static void find_choices(berth_searching_t *s) {
  if (!find_path(s, LEAST_LOAD, BERTH_STREAM_IMPOSSIBLE)) return;
  berth_stream_result_t *result = s->result;
  uint64_t budget = s->cuts[s->step_count].load, fewest = UINT64_MAX;
  while (find_path(s, LEAST_CALLS, budget)) {
    note_choice(s, budget, BLOCK_MAX);
    const berth_stream_choice_t *last = &result->choices[result->choice_count - 1];
    bool nothing = last->run_count == 0;
    if (last->calls >= fewest) {
      drop_choice(s);
    } else {
      fewest = last->calls;
    }
    if (result->choice_count == 1 && !nothing && !s->options->one &&
        find_path(s, LEAST_SUM, budget)) {
      note_choice(s, budget, 1);
      if (same_runs(s, last, last + 1)) drop_choice(s);
    }
    if (s->options->one) return;
    if (nothing || result->choice_count == BERTH_STREAM_CHOICES_MAX || budget >= s->total) return;
    budget += larger(budget / 8, s->align);
    if (result->choice_count == BERTH_STREAM_CHOICES_MAX - 1) budget = s->total;
  }
}

berth_status_t berth_searching_open(berth_searching_t *s, void *workspace, size_t workspace_bytes,
                                    berth_stream_result_t *result) {
  static const berth_stream_search_options_t defaults = {0};
  if (s->options == NULL) s->options = &defaults;
  s->align = s->options->align != 0 ? s->options->align : 16;
  s->limit = s->options->work_limit != 0 ? s->options->work_limit : BERTH_STREAM_SEARCH_WORK;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_status_t status = lay_out(s, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status == BERTH_OK && s->step_count > 0) {
    status = berth_stream_init(s->network, 0, s->step_count - 1, s->stream_memory, s->stream_bytes,
                               &s->stream);
  }
  if (status != BERTH_OK) return status;
  *result = (berth_stream_result_t){.runs = s->runs, .exact = s->step_count <= STRICT_MOST};
  s->result = result;
  for (uint32_t i = 0; i < s->tensor_count; i++) s->measure.rings[i] = 0;
  if (s->step_count > 0) berth_searching_read(s);
  return BERTH_OK;
}

berth_status_t berth_stream_search(const berth_stream_network_t *network,
                                   const berth_graph_t *graph,
                                   const berth_stream_search_options_t *options, void *workspace,
                                   size_t workspace_bytes, berth_stream_result_t *result) {
  berth_searching_t s = {.network = network, .graph = graph, .options = options};
  berth_status_t status = berth_searching_open(&s, workspace, workspace_bytes, result);
  if (status != BERTH_OK || s.step_count == 0) return status;
  berth_searching_bound(&s);
  s.guess = BERTH_STREAM_IMPOSSIBLE;
  find_choices(&s);
  return BERTH_OK;
}
