/* The search for runs against trying all of them, on random networks.
 *
 * Brute force: the load of every interval of steps, added up from what lives in it by the rings and
 * overlaps of berth_stream_measure (which has a test of its own), then every way to cut the order
 * into whole steps and runs. BERTH_TEST_CASES sets the number of networks.
 */
#include "graph/row_network.h"

#define ALIGN    16u
#define NETWORKS 2000u
#define MOST_OPS 16

typedef struct search {
  row_network_t it;
  berth_graph_t graph;
  void *graph_memory, *stream_memory, *measure_memory;
  size_t measure_bytes;
  berth_stream_t stream;
  uint32_t rings[NETWORK_TENSORS], firsts[NETWORK_TENSORS], lasts[NETWORK_TENSORS];
  berth_stream_measure_t measure;
  uint64_t runs[MOST_OPS][MOST_OPS]; /* load of each interval; UINT64_MAX: it can be no run */
  uint64_t whole[MOST_OPS];
} search_t;

/* ---- What is live --------------------------------------------------------------------------- */

static uint64_t rounded(uint64_t bytes) {
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static const berth_graph_tensor_t *tensor_of(const search_t *s, uint32_t tensor) {
  return &s->graph.tensors[tensor];
}

static bool has_memory(const search_t *s, uint32_t tensor) {
  return tensor_of(s, tensor)->allocation == BERTH_ALLOCATION_ARENA_RW;
}

/* A graph input that may come row by row, if it is asked for. */
static bool may_be_pushed(const search_t *s, uint32_t tensor) {
  const berth_graph_tensor_t *info = tensor_of(s, tensor);
  return info->producer == BERTH_NOBODY && info->reader_count > 0 && has_memory(s, tensor) &&
         s->it.tensors[tensor].rows > 1 &&
         !berth_vector_holds(berth_model_subgraph(&s->it.model, 0).outputs, tensor);
}

/* Bytes of what was there before `step` and is read in it or later, pushed inputs aside. */
static uint64_t live_before(const search_t *s, uint32_t step, bool push) {
  uint64_t sum = 0;
  for (uint32_t t = 0; t < s->it.tensor_count; t++) {
    const berth_graph_tensor_t *info = tensor_of(s, t);
    bool before = info->producer == BERTH_NOBODY || info->producer < step;
    if (!has_memory(s, t) || !before || info->last < step) continue;
    if (!(push && may_be_pushed(s, t))) sum += rounded(info->bytes);
  }
  return sum;
}

static bool reads(const search_t *s, uint32_t step, uint32_t tensor) {
  return berth_vector_holds(berth_model_operator(&s->it.model, 0, step).inputs, tensor);
}

/* ---- Loads ---------------------------------------------------------------------------------- */

static uint64_t load_of_whole(const search_t *s, uint32_t step, bool push) {
  for (uint32_t t = 0; t < s->it.tensor_count; t++) {
    if (push && may_be_pushed(s, t) && reads(s, step, t)) return UINT64_MAX;
  }
  uint64_t load = live_before(s, step, push), scratch = 0, saved = 0;
  const berth_contract_t *contract = &s->it.contracts[step];
  for (uint32_t i = 0; i < BERTH_SCRATCH_MAX; i++) scratch += rounded(contract->scratch[i]);
  for (uint32_t t = 0; t < s->it.tensor_count; t++) {
    if (tensor_of(s, t)->producer == step) load += rounded(tensor_of(s, t)->bytes);
  }
  berth_operator_t op = berth_model_operator(&s->it.model, 0, step);
  uint64_t made = rounded(tensor_of(s, (uint32_t)berth_vector_int(op.outputs, 0))->bytes);
  for (uint32_t i = 0; i < op.inputs.count; i++) {
    uint32_t input = (uint32_t)berth_vector_int(op.inputs, i);
    bool may = contract->known && (contract->in_place >> i & 1u) && has_memory(s, input);
    if (may && tensor_of(s, input)->last == step && rounded(tensor_of(s, input)->bytes) == made) {
      saved = made;
    }
  }
  return load + scratch - saved;
}

/* What one overlap saves. */
static uint64_t gain_of(const search_t *s, const berth_stream_overlap_t *overlap, uint32_t last) {
  uint64_t made = rounded(tensor_of(s, overlap->made)->bytes);
  uint64_t read = rounded(tensor_of(s, overlap->read)->bytes);
  if (tensor_of(s, overlap->read)->last > last) return 0; /* somebody still wants it */
  uint64_t lost = 0;
  if (!overlap->in_place && overlap->distance < 0) lost = rounded((uint64_t)-overlap->distance);
  uint64_t gain = made > lost ? made - lost : 0;
  return gain < read ? gain : read;
}

/* The most that the overlaps from number `from` on save, each tensor in one of them at most. */
static uint64_t saved_from(const search_t *s, uint32_t from, uint32_t last, bool *taken) {
  if (from == s->measure.overlap_count) return 0;
  const berth_stream_overlap_t *overlap = &s->measure.overlaps[from];
  uint64_t most = saved_from(s, from + 1, last, taken);
  if (taken[overlap->made] || taken[overlap->read]) return most;
  taken[overlap->made] = taken[overlap->read] = true;
  uint64_t with = gain_of(s, overlap, last) + saved_from(s, from + 1, last, taken);
  taken[overlap->made] = taken[overlap->read] = false;
  return with > most ? with : most;
}

static uint64_t ring_bytes(const search_t *s, uint32_t tensor) {
  if (s->rings[tensor] == BERTH_STREAM_NOTHING) return 0;
  if (s->rings[tensor] == 0) return rounded(tensor_of(s, tensor)->bytes);
  return rounded((uint64_t)s->rings[tensor] * s->it.tensors[tensor].row_bytes);
}

/* Adds what a run keeps of a tensor to the steps in which it lives. */
static void live_in(const search_t *s, const berth_stream_run_t *run, uint32_t t, uint64_t *sums) {
  bool known = s->firsts[t] != UINT32_MAX;
  uint32_t last = known ? s->lasts[t] : run->last;
  for (uint32_t step = known ? s->firsts[t] : run->first; step <= last; step++) {
    sums[step] += ring_bytes(s, t);
  }
}

static uint64_t load_of_blocks(search_t *s, uint32_t first, uint32_t last, uint32_t block,
                               bool push) {
  for (uint32_t step = first; step <= last; step++) {
    berth_operator_t op = berth_model_operator(&s->it.model, 0, step);
    if (!berth_stream_can_run(&s->it.model, &op, &s->it.contracts[step])) return UINT64_MAX;
  }
  uint64_t load = live_before(s, first, push), scratch = 0, sums[MOST_OPS] = {0};
  for (uint32_t t = 0; t < s->it.tensor_count; t++) s->firsts[t] = UINT32_MAX;
  berth_stream_run_t run = {first, last, block, push ? UINT32_MAX : 0, false, false};
  assert_int_equal(berth_stream_measure(&s->stream, &s->it.network, &run, s->measure_memory,
                                        s->measure_bytes, &s->measure),
                   BERTH_OK);
  for (uint32_t t = 0; t < s->it.tensor_count; t++) {
    const berth_graph_tensor_t *info = tensor_of(s, t);
    if (!has_memory(s, t)) continue;
    bool made = info->producer != BERTH_NOBODY && info->producer >= first && info->producer <= last;
    if (made) live_in(s, &run, t, sums);
    if (!push || !may_be_pushed(s, t)) continue;
    uint32_t within = 0, outside = 0;
    for (uint32_t step = 0; step < s->it.op_count; step++) {
      if (!reads(s, step, t)) continue;
      within += step >= first && step <= last;
      outside += step < first || step > last;
    }
    if (within > 0 && outside > 0) return UINT64_MAX;
    if (within > 0) live_in(s, &run, t, sums);
  }
  uint64_t most = 0;
  for (uint32_t step = first; step <= last; step++) most = sums[step] > most ? sums[step] : most;
  load += most;
  for (uint32_t step = first; step <= last; step++) {
    const berth_contract_t *contract = &s->it.contracts[step];
    uint64_t once = contract->scratch[0];
    if (contract->kind == BERTH_ACCUMULATING) {
      load += rounded(contract->accumulator > once ? contract->accumulator : once);
    } else if (rounded(once) > scratch) {
      scratch = rounded(once);
    }
  }
  bool taken[NETWORK_TENSORS] = {false};
  return load + scratch - saved_from(s, 0, last, taken);
}

static uint64_t load_of_run(search_t *s, uint32_t first, uint32_t last, bool push) {
  return load_of_blocks(s, first, last, 1, push);
}

/* The smallest load of the steps from `first` on, by every way to go on from there. */
static uint64_t try_all(const search_t *s, uint32_t first) {
  if (first == s->it.op_count) return 0;
  uint64_t best = UINT64_MAX;
  for (uint32_t last = first; last < s->it.op_count; last++) {
    uint64_t load = s->runs[first][last];
    if (last == first && s->whole[first] < load) load = s->whole[first];
    uint64_t rest = try_all(s, last + 1);
    if (rest > load) load = rest;
    if (load < best) best = load;
  }
  return best;
}

/* ---- The test ------------------------------------------------------------------------------- */

/* Lets operators that only look at the row itself write over it, where sizes agree. */
static void permit_in_place(row_network_t *it) {
  for (uint32_t i = 0; i < it->op_count; i++) {
    berth_operator_t op = berth_model_operator(&it->model, 0, i);
    const berth_stream_tensor_t *to = &it->tensors[berth_vector_int(op.outputs, 0)];
    it->contracts[i].known = true;
    if (it->contracts[i].kind != BERTH_ROW_LOCAL || op.outputs.count > 1) continue;
    for (uint32_t k = 0; k < op.inputs.count; k++) {
      const berth_stream_tensor_t *from = &it->tensors[berth_vector_int(op.inputs, k)];
      const berth_window_t *w = &it->contracts[i].windows[k];
      bool alike = w->numerator == 1 && w->denominator == 1 && w->offset == 0 && w->extent == 1;
      if (alike && from->rows == to->rows && from->row_bytes == to->row_bytes) {
        it->contracts[i].in_place |= 1u << k;
      }
    }
  }
}

static void open_search(search_t *s, uint64_t seed) {
  row_network_random(&s->it, seed);
  permit_in_place(&s->it);
  assert_true(s->it.op_count <= MOST_OPS);
  size_t bytes;
  assert_int_equal(berth_graph_workspace(&s->it.model, &bytes), BERTH_OK);
  s->graph_memory = malloc(bytes + 1);
  assert_int_equal(berth_graph_analyse(&s->it.model, NULL, s->graph_memory, bytes, &s->graph, NULL),
                   BERTH_OK);
  uint32_t last = s->it.op_count - 1;
  assert_int_equal(berth_stream_workspace(&s->it.network, 0, last, &bytes), BERTH_OK);
  s->stream_memory = malloc(bytes + 1);
  assert_int_equal(berth_stream_init(&s->it.network, 0, last, s->stream_memory, bytes, &s->stream),
                   BERTH_OK);
  assert_int_equal(berth_stream_measure_workspace(&s->stream, &s->measure_bytes), BERTH_OK);
  s->measure_memory = malloc(s->measure_bytes + 1);
  s->measure = (berth_stream_measure_t){.rings = s->rings, .firsts = s->firsts, .lasts = s->lasts};
}

static void close_search(search_t *s) {
  free(s->graph_memory);
  free(s->stream_memory);
  free(s->measure_memory);
}

/* Are the runs of a choice in order, apart, and of intervals whose loads add up to no more? */
static void check_choice(const search_t *s, const berth_stream_result_t *result, uint32_t index) {
  const berth_stream_choice_t *choice = &result->choices[index];
  uint32_t next = 0;
  for (uint32_t i = 0; i < choice->run_count; i++) {
    const berth_stream_run_t *run = &result->runs[choice->first_run + i];
    assert_true(run->first >= next && run->last >= run->first && run->last < s->it.op_count);
    for (; next < run->first; next++) assert_true(s->whole[next] <= choice->load);
    assert_true(s->runs[run->first][run->last] <= choice->load);
    next = run->last + 1;
  }
  for (; next < s->it.op_count; next++) assert_true(s->whole[next] <= choice->load);
}

/* True: some run was better than none. */
static bool compare(search_t *s, uint64_t seed, bool push) {
  uint32_t count = s->it.op_count;
  uint64_t without = 0;
  for (uint32_t first = 0; first < count; first++) {
    s->whole[first] = load_of_whole(s, first, push);
    if (s->whole[first] > without) without = s->whole[first];
    for (uint32_t last = first; last < count; last++) {
      s->runs[first][last] = load_of_run(s, first, last, push);
    }
  }
  size_t bytes;
  assert_int_equal(berth_stream_search_workspace(&s->it.network, &bytes), BERTH_OK);
  void *memory = malloc(bytes + 1);
  const berth_stream_search_options_t options = {.push_inputs = push ? UINT32_MAX : 0};
  berth_stream_result_t result;
  assert_int_equal(berth_stream_search(&s->it.network, &s->graph, &options, memory, bytes, &result),
                   BERTH_OK);
  uint64_t best = try_all(s, 0);
  assert_true(result.exact);
  assert_int_equal(result.choice_count > 0, best != UINT64_MAX);
  for (uint32_t i = 0; i < result.choice_count; i++) check_choice(s, &result, i);
  if (result.choice_count > 0 && result.choices[0].load != best) {
    fail_msg("network %d, push %d: load %d, but %d is possible", (int)seed, push,
             (int)result.choices[0].load, (int)best);
  }
  free(memory);
  return best < without;
}

static void the_smallest_load_is_that_of_trying_every_choice_of_intervals(void **state) {
  (void)state;
  search_t *s = calloc(1, sizeof *s);
  assert_non_null(s);
  const char *cases = getenv("BERTH_TEST_CASES");
  uint32_t better = 0, networks = cases != NULL ? (uint32_t)strtoul(cases, NULL, 10) : NETWORKS;
  for (uint64_t seed = 1; seed <= networks; seed++) {
    open_search(s, seed);
    if (compare(s, seed, false)) better++;
    compare(s, seed, true);
    close_search(s);
  }
  free(s);
  assert_true(better > networks / 10);
}

/* Calls of operators in a run whose rows are made one by one. */
static uint64_t calls_of(const search_t *s, const berth_stream_run_t *run) {
  uint64_t calls = 0;
  for (uint32_t step = run->first; step <= run->last; step++) {
    calls += s->stream.nodes[s->stream.input_count + step].given;
  }
  return calls;
}

/* A file may have tensors of a billion rows. */
static void a_run_that_takes_more_than_the_work_limit_is_not_walked(void **state) {
  (void)state;
  search_t *s = calloc(1, sizeof *s);
  assert_non_null(s);
  uint32_t runs = 0, limited = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    open_search(s, seed);
    size_t bytes;
    assert_int_equal(berth_stream_search_workspace(&s->it.network, &bytes), BERTH_OK);
    void *memory = malloc(bytes + 1);
    const berth_stream_search_options_t options = {.work_limit = 40};
    berth_stream_result_t result;
    assert_int_equal(
        berth_stream_search(&s->it.network, &s->graph, &options, memory, bytes, &result), BERTH_OK);
    for (uint32_t i = 0; i < result.choice_count; i++) {
      for (uint32_t k = 0; k < result.choices[i].run_count; k++, runs++) {
        assert_true(calls_of(s, &result.runs[result.choices[i].first_run + k]) <= 40);
      }
    }
    limited += !result.exact;
    free(memory);
    close_search(s);
  }
  free(s);
  assert_true(runs > 0 && limited > 0);
}

/* Coarsens the run for a budget: its load is within it, or is what it was; and there is no more to
 * be had by the next larger number of rows. Returns how many calls are saved. */
static uint32_t coarsen(search_t *s, uint32_t first, uint32_t last, uint64_t budget, bool push,
                        void *memory, size_t bytes) {
  const berth_stream_search_options_t options = {.push_inputs = push ? UINT32_MAX : 0};
  berth_stream_run_t run = {first, last, 1, options.push_inputs, false, false};
  uint64_t before = load_of_blocks(s, first, last, 1, push);
  uint32_t calls = s->measure.pieces;
  assert_int_equal(
      berth_stream_coarsen(&s->it.network, &s->graph, &options, budget, memory, bytes, &run, 1),
      BERTH_OK);
  assert_true(run.first == first && run.last == last && run.block >= 1);
  uint64_t after = load_of_blocks(s, first, last, run.block, push);
  uint32_t fewer = s->measure.pieces;
  assert_true(fewer <= calls);
  if (run.block == 1) {
    assert_true(calls <= last - first + 1 || before > budget || fewer == calls);
  } else {
    assert_true(after <= budget && fewer < calls);
  }
  return calls - fewer;
}

static void coarser_runs_have_fewer_calls_within_their_budget(void **state) {
  (void)state;
  search_t *s = calloc(1, sizeof *s);
  assert_non_null(s);
  uint32_t saved[3] = {0};
  for (uint64_t seed = 1; seed <= 300; seed++) {
    open_search(s, seed);
    size_t bytes;
    assert_int_equal(berth_stream_search_workspace(&s->it.network, &bytes), BERTH_OK);
    void *memory = malloc(bytes + 1);
    for (uint32_t first = 0; first < s->it.op_count; first++) {
      for (uint32_t last = first; last < s->it.op_count; last++) {
        bool push = (seed + first) % 2;
        uint64_t load = load_of_run(s, first, last, push);
        if (load == UINT64_MAX) continue;
        const uint64_t budgets[3] = {load - 1, load + load / 2, UINT64_MAX / 2};
        for (uint32_t i = 0; i < 3; i++) {
          saved[i] += coarsen(s, first, last, budgets[i], push, memory, bytes);
        }
      }
    }
    berth_stream_run_t wrong = {0, s->it.op_count, 1, 0, false, false};
    assert_int_equal(
        berth_stream_coarsen(&s->it.network, &s->graph, NULL, 1, memory, bytes, &wrong, 1),
        BERTH_ERROR_ARGUMENT);
    free(memory);
    close_search(s);
  }
  free(s);
  assert_true(saved[0] < saved[1] && saved[1] < saved[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coarser_runs_have_fewer_calls_within_their_budget),
      cmocka_unit_test(the_smallest_load_is_that_of_trying_every_choice_of_intervals),
      cmocka_unit_test(a_run_that_takes_more_than_the_work_limit_is_not_walked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
