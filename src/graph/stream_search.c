/* Which intervals of an order to stream, so that the load is smallest.
 *
 * A plan is a path through the cuts between steps: from one cut to the next goes a step that runs
 * whole, or a run. What must exist whole at a cut depends on the cut alone, so the load of a run
 * depends on its two ends alone, and the smallest peak is a bottleneck path, found by dynamic
 * programming (msf-CNN, Huang & Baccelli, 2025, poses fusion with recomputation as a shortest path
 * in the same graph). It is exact for runs that are intervals of the given order; branches that are
 * streamed apart from each other need another order.
 *
 * The load of a run comes from walking its row schedule, which is what costs. Two things keep that
 * rare: a lower bound (what lives through the run, the larger of what it reads and makes whole, and
 * the rows that single windows need), and the fact that a run matters only if it betters the best
 * way known to its end. Loads are remembered.
 *
 * With the smallest load known, the fewest calls for this load follow from a shortest path over the
 * runs within it, and so does the whole trade-off, by asking again for less and less memory.
 *
 * Cost: O(steps^2) bounds for each of at most 24 passes, and the walks, which `work_limit` counts.
 */
#include "graph/stream.h"
#include "plan/workspace.h"

#define WORK_DEFAULT UINT64_C(3000000)
#define LENGTH_MAX   256u /* most steps in one run */
#define UNKNOWN      0u
#define IMPOSSIBLE   UINT64_MAX

/* What the search knows of a tensor of subgraph 0. */
typedef struct search_tensor {
  uint64_t bytes; /* rounded up; 0: it takes no memory of its own here */
  uint64_t least; /* bytes of the fewest rows that any ring of it has */
  uint32_t made;  /* step, or BERTH_NOBODY: there before step 0 */
  uint32_t last;  /* step */
  bool pushed;    /* a graph input that may come row by row */
  bool goes;      /* a graph output that may go row by row */
} search_tensor_t;

typedef struct search_step {
  uint64_t live;    /* bytes made before it and read in it or later */
  uint64_t scratch; /* for one call */
  uint64_t sums;    /* what it accumulates in, if streamed */
  uint64_t rows;    /* calls, if streamed */
  uint64_t whole;   /* load, if run whole */
  uint64_t extra;   /* bytes of called subgraphs' tensors */
  bool can_run;
} search_step_t;

/* Of a cut: the best way to it. */
typedef struct search_cut {
  uint64_t value; /* load or calls, whichever is minimised */
  uint64_t load;
  uint32_t from; /* cut */
  bool streamed; /* by a run, else a whole step */
} search_cut_t;

typedef struct searching {
  const berth_stream_network_t *network;
  const berth_graph_t *graph;
  const berth_stream_search_options_t *options;
  berth_stream_result_t *result;
  berth_stream_t stream;
  berth_stream_measure_t measure;
  search_tensor_t *tensors;
  search_step_t *steps;
  search_cut_t *cuts;
  uint64_t *loads; /* of the run of length n + 1 from step i: loads[i * width + n] */
  berth_stream_run_t *runs;
  uint32_t run_count, run_room;
  void *stream_memory, *measure_memory;
  size_t stream_bytes, measure_bytes;
  uint32_t step_count, tensor_count, width;
  uint64_t align, limit;
  uint64_t total; /* bytes of everything: a budget for any plan */
  bool stopped;
} searching_t;

/* ---- Memory --------------------------------------------------------------------------------- */

static berth_status_t lay_out(searching_t *s, berth_workspace_t *memory) {
  berth_subgraph_t subgraph = berth_model_subgraph(s->network->model, 0);
  s->step_count = subgraph.operator_count;
  s->tensor_count = subgraph.tensor_count;
  s->width = s->step_count < LENGTH_MAX ? s->step_count : LENGTH_MAX;
  s->run_room = s->step_count * BERTH_STREAM_CHOICES_MAX;
  s->tensors = berth_workspace_take(memory, s->tensor_count, sizeof *s->tensors);
  s->measure.rings = berth_workspace_take(memory, s->tensor_count, sizeof *s->measure.rings);
  s->steps = berth_workspace_take(memory, s->step_count, sizeof *s->steps);
  s->cuts = berth_workspace_take(memory, (size_t)s->step_count + 1, sizeof *s->cuts);
  s->loads = berth_workspace_take(memory, (size_t)s->step_count * s->width, sizeof *s->loads);
  s->runs = berth_workspace_take(memory, s->run_room, sizeof *s->runs);
  if (s->step_count == 0) return BERTH_OK;
  berth_status_t status =
      berth_stream_workspace(s->network, 0, s->step_count - 1, &s->stream_bytes);
  if (status != BERTH_OK) return status;
  s->stream_memory = berth_workspace_take(memory, s->stream_bytes, 1);
  /* Readers and rings: an index for each operand, and two for each node. */
  s->measure_bytes = s->stream_bytes;
  s->measure_memory = berth_workspace_take(memory, s->measure_bytes, 1);
  return BERTH_OK;
}

berth_status_t berth_stream_search_workspace(const berth_stream_network_t *network, size_t *bytes) {
  searching_t s = {.network = network};
  berth_workspace_t memory = berth_workspace_measure();
  berth_status_t status = lay_out(&s, &memory);
  return status == BERTH_OK ? berth_workspace_needed(&memory, bytes) : status;
}

/* ---- What is known of tensors and steps ------------------------------------------------------ */

static uint64_t rounded(const searching_t *s, uint64_t bytes) {
  return (bytes + s->align - 1) / s->align * s->align;
}

static berth_operator_t operator_at(const searching_t *s, uint32_t step) {
  uint32_t op = s->network->order != NULL ? s->network->order[step] : step;
  return berth_model_operator(s->network->model, 0, op);
}

static const berth_contract_t *contract_at(const searching_t *s, uint32_t step) {
  return &s->network->contracts[s->network->order != NULL ? s->network->order[step] : step];
}

bool berth_stream_can_run(const berth_model_t *model, const berth_operator_t *op,
                          const berth_contract_t *contract) {
  if (!contract->known || berth_graph_callee_count(op) > 0) return false;
  if (op->code == BERTH_BUILTIN_VAR_HANDLE || op->code == BERTH_BUILTIN_READ_VARIABLE ||
      op->code == BERTH_BUILTIN_ASSIGN_VARIABLE) {
    return false;
  }
  for (uint32_t i = 0; i < op->inputs.count; i++) {
    int32_t tensor = berth_vector_int(op->inputs, i);
    if (tensor >= 0 && contract->kind == BERTH_WHOLE &&
        berth_model_tensor(model, 0, (uint32_t)tensor).is_variable) {
      return false;
    }
  }
  return true;
}

/* Is it a graph input whose rows may come from the caller? */
static bool is_wanted(const searching_t *s, uint32_t tensor) {
  berth_vector_t inputs = berth_model_subgraph(s->network->model, 0).inputs;
  for (uint32_t i = 0; i < inputs.count && i < 32; i++) {
    if ((uint32_t)berth_vector_int(inputs, i) == tensor) return s->options->push_inputs >> i & 1u;
  }
  return false;
}

static void read_tensor(searching_t *s, uint32_t index) {
  const berth_graph_tensor_t *info = &s->graph->tensors[s->graph->bases[0] + index];
  search_tensor_t *tensor = &s->tensors[index];
  *tensor = (search_tensor_t){.made = BERTH_NOBODY};
  if (info->allocation != BERTH_ALLOCATION_ARENA_RW) return;
  berth_subgraph_t subgraph = berth_model_subgraph(s->network->model, 0);
  berth_stream_tensor_t shape = s->network->tensors[index];
  bool is_output = berth_vector_holds(subgraph.outputs, index);
  tensor->bytes = rounded(s, info->bytes);
  tensor->last = info->last;
  if (info->producer != BERTH_NOBODY) tensor->made = info->first;
  bool cut = shape.rows > 1;
  tensor->pushed = is_wanted(s, index) && info->producer == BERTH_NOBODY && cut &&
                   info->reader_count > 0 && !is_output;
  tensor->goes = s->options->pull_outputs && is_output && info->reader_count == 0;
  tensor->least = rounded(s, shape.row_bytes);
}

/* What windows alone need: the rows between the first and the last that one output row reads. */
static void read_windows(searching_t *s) {
  for (uint32_t i = 0; i < s->stream.node_count; i++) {
    const berth_stream_node_t *node = &s->stream.nodes[i];
    for (uint32_t e = node->edges; e < node[1].edges && node->step != BERTH_NOBODY; e++) {
      const berth_stream_edge_t *edge = &s->stream.edges[e];
      search_tensor_t *tensor = &s->tensors[edge->tensor];
      uint32_t most = 0;
      if (node->kind == BERTH_WHOLE || edge->window.extent == 0) {
        bool through = node->can_view || (node->kind == BERTH_ACCUMULATING && edge->input == 0);
        if (!through) most = edge->shape.rows;
      } else {
        for (uint32_t row = 0; row < node->output; row++) {
          berth_stream_rows_t rows = berth_stream_read(node, edge, row, row + 1);
          if (rows.last > rows.first && rows.last - rows.first > most)
            most = rows.last - rows.first;
        }
      }
      uint64_t bytes = rounded(s, (uint64_t)most * edge->shape.row_bytes);
      if (bytes > tensor->least) tensor->least = bytes;
    }
  }
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    if (s->tensors[i].least > s->tensors[i].bytes) s->tensors[i].least = s->tensors[i].bytes;
  }
}

/* Does `tensor` die in step `step`, before which it was there? */
static bool dies(const search_tensor_t *tensor, uint32_t step) {
  return tensor->bytes > 0 && tensor->last == step &&
         (tensor->made == BERTH_NOBODY || tensor->made < step);
}

/* Bytes that a whole step saves by writing over an input in place, or by being a view of it. */
static uint64_t saved_in_place(const searching_t *s, const berth_operator_t *op, uint32_t step) {
  const berth_contract_t *contract = contract_at(s, step);
  if (!contract->known || op->outputs.count == 0) return 0;
  int32_t output = berth_vector_int(op->outputs, 0);
  if (output < 0) return 0;
  for (uint32_t i = 0; i < op->inputs.count && i < 32; i++) {
    int32_t input = berth_vector_int(op->inputs, i);
    if (input < 0 || !(contract->in_place >> i & 1u)) continue;
    const search_tensor_t *from = &s->tensors[input], *to = &s->tensors[output];
    if (dies(from, step) && from->bytes == to->bytes && !from->pushed) return to->bytes;
  }
  return 0;
}

static void read_step(searching_t *s, uint32_t step) {
  berth_operator_t op = operator_at(s, step);
  const berth_contract_t *contract = contract_at(s, step);
  const berth_stream_node_t *node = &s->stream.nodes[s->stream.input_count + step];
  search_step_t *it = &s->steps[step];
  it->can_run = berth_stream_can_run(s->network->model, &op, contract);
  it->rows = node->given;
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) {
    uint64_t bytes = contract->scratch[i];
    if (i == 0 && node->kind == BERTH_ACCUMULATING) {
      it->sums = rounded(s, bytes > contract->accumulator ? bytes : contract->accumulator);
    }
    it->scratch += rounded(s, bytes);
  }
  it->whole = it->live + it->extra + it->scratch;
  for (uint32_t i = 0; i < op.outputs.count; i++) {
    int32_t tensor = berth_vector_int(op.outputs, i);
    if (tensor >= 0) it->whole += s->tensors[tensor].bytes;
  }
  it->whole -= saved_in_place(s, &op, step);
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    int32_t tensor = berth_vector_int(op.inputs, i);
    if (tensor >= 0 && s->tensors[tensor].pushed) it->whole = IMPOSSIBLE;
  }
}

static void read_network(searching_t *s) {
  for (uint32_t i = 0; i < s->tensor_count; i++) read_tensor(s, i);
  read_windows(s);
  for (uint32_t i = 0; i < s->step_count; i++) s->steps[i] = (search_step_t){0};
  for (uint32_t i = 0; i < s->tensor_count; i++) {
    const search_tensor_t *tensor = &s->tensors[i];
    if (tensor->bytes == 0 || tensor->pushed) continue;
    uint32_t from = tensor->made == BERTH_NOBODY ? 0 : tensor->made + 1;
    for (uint32_t step = from; step <= tensor->last && step < s->step_count; step++) {
      s->steps[step].live += tensor->bytes;
    }
  }
  for (uint32_t i = 0; i < s->graph->tensor_count; i++) { /* tensors of called subgraphs */
    const berth_graph_tensor_t *info = &s->graph->tensors[i];
    if (info->subgraph == 0 || info->allocation != BERTH_ALLOCATION_ARENA_RW) continue;
    for (uint32_t step = info->first; step <= info->last && step < s->step_count; step++) {
      s->steps[step].extra += rounded(s, info->bytes);
    }
  }
  for (uint32_t step = 0; step < s->step_count; step++) read_step(s, step);
  for (uint32_t i = 0; i < s->tensor_count; i++) s->total += s->tensors[i].bytes;
  for (uint32_t step = 0; step < s->step_count; step++) {
    s->total += s->steps[step].scratch + s->steps[step].sums + s->steps[step].extra;
  }
}

/* ---- The load of a run ----------------------------------------------------------------------- */

/* What the overlaps save, each tensor taking part in one of them. */
static uint64_t saved_by_overlaps(const searching_t *s) {
  bool used[BERTH_STREAM_OVERLAPS_MAX] = {false};
  uint64_t saved = 0;
  for (;;) {
    uint64_t most = 0;
    uint32_t best = 0;
    for (uint32_t i = 0; i < s->measure.overlap_count; i++) {
      const berth_stream_overlap_t *overlap = &s->measure.overlaps[i];
      uint64_t made = s->tensors[overlap->made].bytes, read = s->tensors[overlap->read].bytes;
      bool costs = !overlap->in_place && overlap->distance < 0;
      uint64_t lost = costs ? rounded(s, (uint64_t)-overlap->distance) : 0;
      uint64_t gain = made > lost ? made - lost : 0;
      if (gain > read) gain = read;
      if (s->tensors[overlap->read].last > s->stream.run.last) continue; /* kept for the caller */
      if (!used[i] && gain > most) most = gain, best = i;
    }
    if (most == 0) return saved;
    saved += most;
    for (uint32_t i = 0; i < s->measure.overlap_count; i++) {
      if (s->measure.overlaps[i].made == s->measure.overlaps[best].made ||
          s->measure.overlaps[i].read == s->measure.overlaps[best].read) {
        used[i] = true;
      }
    }
  }
}

static uint64_t ring_bytes(const searching_t *s, uint32_t tensor) {
  uint32_t ring = s->measure.rings[tensor];
  if (ring == BERTH_STREAM_NOTHING) return 0;
  if (ring == 0) return s->tensors[tensor].bytes;
  return rounded(s, (uint64_t)ring * s->network->tensors[tensor].row_bytes);
}

static berth_stream_run_t run_of(const searching_t *s, uint32_t first, uint32_t last,
                                 uint32_t block) {
  return (berth_stream_run_t){first, last, block, s->options->push_inputs,
                              s->options->pull_outputs};
}

/* Walks the run's schedule; IMPOSSIBLE if it cannot be. */
static uint64_t walk(searching_t *s, const berth_stream_run_t *run) {
  for (uint32_t i = 0; i < s->tensor_count; i++) s->measure.rings[i] = 0;
  if (berth_stream_measure(&s->stream, s->network, run, s->measure_memory, s->measure_bytes,
                           &s->measure) != BERTH_OK) {
    return IMPOSSIBLE;
  }
  s->result->work += s->measure.pieces + 1u;
  uint64_t load = s->steps[run->first].live, scratch = 0;
  for (uint32_t i = 0; i < s->stream.input_count; i++) {
    const berth_stream_node_t *node = &s->stream.nodes[i];
    if (node->active) load += ring_bytes(s, node->tensor);
  }
  for (uint32_t step = run->first; step <= run->last; step++) {
    const search_step_t *it = &s->steps[step];
    berth_vector_t outputs = operator_at(s, step).outputs;
    for (uint32_t i = 0; i < outputs.count; i++) {
      int32_t tensor = berth_vector_int(outputs, i);
      if (tensor >= 0 && s->tensors[tensor].bytes > 0) load += ring_bytes(s, (uint32_t)tensor);
    }
    load += it->sums;
    uint64_t call = it->sums > 0 ? 0 : it->scratch;
    if (call > scratch) scratch = call;
  }
  return load + scratch - saved_by_overlaps(s);
}

static uint64_t *remembered(const searching_t *s, uint32_t first, uint32_t last) {
  return &s->loads[(size_t)first * s->width + (last - first)];
}

static uint64_t load_of(searching_t *s, uint32_t first, uint32_t last) {
  uint64_t *load = remembered(s, first, last);
  if (*load != UNKNOWN) return *load;
  if (s->stopped) return IMPOSSIBLE;
  if (s->result->work >= s->limit) {
    s->stopped = true;
    s->result->exact = false;
    return IMPOSSIBLE;
  }
  berth_stream_run_t run = run_of(s, first, last, 1);
  *load = walk(s, &run);
  return *load;
}

/* A lower bound for the runs that begin at one step, while the last one moves on. */
typedef struct bound {
  uint64_t inside; /* least bytes of what only the run sees */
  uint64_t made;   /* bytes of what it makes and somebody later reads */
  uint64_t dying;  /* bytes of what was there before and is read for the last time */
  uint64_t scratch, sums;
  uint64_t calls;
  uint32_t open; /* pushed inputs of which there are readers outside */
} bound_t;

/* Moves the end of the runs that begin at `first` to `step`. */
static void extend(const searching_t *s, bound_t *b, uint32_t first, uint32_t step) {
  const search_step_t *it = &s->steps[step];
  berth_operator_t op = operator_at(s, step);
  b->sums += it->sums;
  b->calls += it->rows;
  if (it->sums == 0 && it->scratch > b->scratch) b->scratch = it->scratch;
  for (uint32_t i = 0; i < op.outputs.count; i++) {
    int32_t tensor = berth_vector_int(op.outputs, i);
    if (tensor >= 0) {
      const search_tensor_t *t = &s->tensors[tensor];
      b->made += t->goes ? 0 : t->bytes;
      b->inside += t->goes ? t->least : 0;
    }
  }
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    int32_t index = berth_vector_int(op.inputs, i);
    bool again = false; /* the same tensor stands before it in the list */
    for (uint32_t k = 0; k < i; k++) again = again || berth_vector_int(op.inputs, k) == index;
    if (index < 0 || again) continue;
    const search_tensor_t *t = &s->tensors[index];
    if (t->bytes == 0) continue;
    bool before = t->made == BERTH_NOBODY || t->made < first;
    if (t->pushed) {
      const berth_graph_tensor_t *info = &s->graph->tensors[s->graph->bases[0] + (uint32_t)index];
      (void)info;
      if (t->last == step) b->inside += t->least;
    } else if (t->last == step && before) {
      b->dying += t->bytes;
    } else if (t->last == step) {
      b->made -= t->bytes;
      b->inside += t->least;
    }
  }
}

static uint64_t bound_of(const searching_t *s, const bound_t *b, uint32_t first) {
  uint64_t through = s->steps[first].live - b->dying;
  return through + (b->dying > b->made ? b->dying : b->made) + b->inside + b->scratch + b->sums;
}

/* Are all readers of the pushed inputs that a run reads in it? */
static bool pushed_fit(const searching_t *s, uint32_t first, uint32_t last) {
  for (uint32_t i = 0; i < s->stream.input_count && s->options->push_inputs != 0; i++) {
    const berth_stream_node_t *node = &s->stream.nodes[i];
    if (!s->tensors[node->tensor].pushed) continue;
    bool outside = node->last_use < first || node->first_use > last;
    bool within = node->first_use >= first && node->last_use <= last;
    if (!outside && !within) return false;
  }
  return true;
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

/* The path with the smallest load (`budget` IMPOSSIBLE), or with the fewest calls among those whose
 * load is at most `budget`. True: there is one. */
static bool sketch_path(searching_t *s, uint64_t budget) {
  bool calls = budget != IMPOSSIBLE;
  for (uint32_t i = 0; i <= s->step_count; i++)
    s->cuts[i] = (search_cut_t){IMPOSSIBLE, 0, 0, false};
  s->cuts[0].value = 0;
  if (!calls) { /* the best without any run is where to begin */
    for (uint32_t i = 0; i < s->step_count && s->cuts[i].value != IMPOSSIBLE; i++) {
      uint64_t load = larger(s->cuts[i].load, s->steps[i].whole);
      step_to(s->cuts, i, i + 1, load, load, false);
    }
  }
  for (uint32_t i = 0; i < s->step_count; i++) {
    const search_cut_t at = s->cuts[i];
    if (at.value == IMPOSSIBLE) continue;
    uint64_t whole = s->steps[i].whole;
    if (whole <= budget && whole != IMPOSSIBLE) {
      uint64_t load = larger(at.load, whole);
      step_to(s->cuts, i, i + 1, calls ? at.value + 1 : load, load, false);
    }
    bound_t bound = {0};
    for (uint32_t j = i; j < s->step_count && j - i < s->width && s->steps[j].can_run; j++) {
      extend(s, &bound, i, j);
      uint64_t least = larger(at.load, bound_of(s, &bound, i));
      if (bound.inside > budget || (!calls && bound.inside >= s->cuts[s->step_count].value)) break;
      uint64_t value = calls ? at.value + bound.calls + 1 : least;
      if (value >= s->cuts[j + 1].value || least > budget || !pushed_fit(s, i, j)) continue;
      if (!calls && least >= s->cuts[s->step_count].value) continue;
      uint64_t load = *remembered(s, i, j);
      if (load == UNKNOWN) load = s->stopped ? IMPOSSIBLE : least; /* until the path takes it */
      if (load == IMPOSSIBLE || load > budget) continue;
      load = larger(load, at.load);
      step_to(s->cuts, i, j + 1, calls ? value : load, load, true);
    }
    if (s->options->progress != NULL &&
        !s->options->progress(s->options->progress_user, s->result->work,
                              s->cuts[s->step_count].load, 0)) {
      s->stopped = true;
      s->result->exact = false;
    }
  }
  return s->cuts[s->step_count].value != IMPOSSIBLE;
}

/* The path, with the loads of all its runs walked: where one turns out larger than its bound, the
 * best path is sketched anew, so that only runs that some best path takes are ever walked. */
static bool find_path(searching_t *s, uint64_t budget) {
  for (;;) {
    if (!sketch_path(s, budget)) return false;
    bool known = true;
    for (uint32_t at = s->step_count; at > 0; at = s->cuts[at].from) {
      uint32_t from = s->cuts[at].from;
      if (!s->cuts[at].streamed || *remembered(s, from, at - 1) != UNKNOWN) continue;
      known = false;
      load_of(s, from, at - 1);
    }
    if (known) return true;
  }
}

/* Takes down the path that was found. */
static void note_choice(searching_t *s, uint64_t budget) {
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
    /* More rows at a time where there is room for it. */
    berth_stream_run_t run = run_of(s, from, at - 1, 1);
    for (uint32_t block = 2; block <= 64 && !s->stopped; block *= 2) {
      berth_stream_run_t larger_run = run_of(s, from, at - 1, block);
      if (walk(s, &larger_run) > budget) break;
      run = larger_run;
    }
    walk(s, &run);
    choice->calls += s->measure.pieces;
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

/* From the smallest load to nothing streamed. One that another one betters in both is dropped. */
static void find_choices(searching_t *s) {
  if (!find_path(s, IMPOSSIBLE)) return;
  berth_stream_result_t *result = s->result;
  uint64_t budget = s->cuts[s->step_count].load;
  while (find_path(s, budget)) {
    note_choice(s, budget);
    const berth_stream_choice_t *last = &result->choices[result->choice_count - 1];
    bool nothing = last->run_count == 0;
    if (result->choice_count > 1 && last->calls >= last[-1].calls) {
      s->run_count = last->first_run;
      result->choice_count--;
    }
    if (nothing || result->choice_count == BERTH_STREAM_CHOICES_MAX || budget >= s->total) return;
    budget += larger(budget / 8, s->align);
    if (result->choice_count == BERTH_STREAM_CHOICES_MAX - 1) budget = s->total;
  }
}

berth_status_t berth_stream_search(const berth_stream_network_t *network,
                                   const berth_graph_t *graph,
                                   const berth_stream_search_options_t *options, void *workspace,
                                   size_t workspace_bytes, berth_stream_result_t *result) {
  const berth_stream_search_options_t defaults = {0};
  searching_t s = {.network = network,
                   .graph = graph,
                   .options = options != NULL ? options : &defaults,
                   .result = result};
  s.align = s.options->align != 0 ? s.options->align : 16;
  s.limit = s.options->work_limit != 0 ? s.options->work_limit : WORK_DEFAULT;
  berth_workspace_t memory = berth_workspace_over(workspace, workspace_bytes);
  berth_status_t status = lay_out(&s, &memory);
  if (status == BERTH_OK) status = berth_workspace_status(&memory);
  if (status != BERTH_OK) return status;
  *result = (berth_stream_result_t){.runs = s.runs, .exact = true};
  if (s.step_count == 0) return BERTH_OK;
  status =
      berth_stream_init(network, 0, s.step_count - 1, s.stream_memory, s.stream_bytes, &s.stream);
  if (status != BERTH_OK) return status;
  for (size_t i = 0; i < (size_t)s.step_count * s.width; i++) s.loads[i] = UNKNOWN;
  read_network(&s);
  find_choices(&s);
  return BERTH_OK;
}
