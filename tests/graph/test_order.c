/* The execution order: against all topological orders of thousands of small graphs, each measured
 * by its lifetimes and aliases, which the search knows nothing of; and what must keep its order. */
#include "test.h"

#include "berth/order.h"
#include "graph/random_network.h"

#define ALIGN 16u

typedef struct subject {
  network_t net;
  berth_model_t model;
  berth_sharing_t sharing[RANDOM_OPS];
  uint32_t operators;
  berth_overlap_t overlap;
  bool keep_inputs;
  bool fold;
  uint64_t extra[RANDOM_OPS];
} subject_t;

static void start(subject_t *s) {
  s->model = build(&s->net);
  s->operators = s->net.subgraphs[0].op_count;
  for (uint32_t i = 0; i < s->operators; i++) {
    s->sharing[i] = sharing_of(s->net.subgraphs[0].ops[i].code);
    if (s->sharing[i].view != BERTH_VIEW_SAME) s->sharing[i].view = BERTH_VIEW_NONE;
  }
}

/* The peak of an order, by lifetimes and aliases; UINT64_MAX if the order is not one. */
static uint64_t peak_of(const subject_t *s, const uint32_t *order) {
  static uint8_t memory[2][1 << 16];
  size_t bytes;
  berth_graph_t graph;
  berth_graph_options_t rules = {.order = order, .keep_inputs = s->keep_inputs};
  assert_int_equal(berth_graph_workspace(&s->model, &bytes), BERTH_OK);
  assert_true(bytes <= sizeof memory[0]);
  if (berth_graph_analyse(&s->model, &rules, memory[0], bytes, &graph, NULL) != BERTH_OK) {
    return UINT64_MAX;
  }
  berth_alias_options_t options = {
      .overlap = s->overlap, .align = ALIGN, .order = order, .keep_inputs = s->keep_inputs};
  berth_alias_t *aliases;
  assert_int_equal(
      berth_alias_find(&graph, s->sharing, &options, memory[1], sizeof memory[1], &aliases),
      BERTH_OK);
  uint64_t peak = 0;
  for (uint32_t step = 0; step < graph.step_count; step++) {
    uint64_t sum = s->extra[order[step]];
    for (uint32_t t = 0; t < graph.tensor_count; t++) {
      if (graph.tensors[t].allocation == BERTH_ALLOCATION_PERSISTENT) {
        sum += (graph.tensors[t].bytes + ALIGN - 1) / ALIGN * ALIGN;
      }
      if (graph.tensors[t].allocation != BERTH_ALLOCATION_ARENA_RW) continue;
      if (aliases[t].root != t || aliases[t].first > step || aliases[t].last < step) continue;
      sum += (graph.tensors[t].bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
    if (sum > peak) peak = sum;
  }
  return peak;
}

static berth_order_result_t find(const subject_t *s, uint32_t width, uint32_t *order) {
  static uint8_t graph_memory[1 << 16];
  size_t bytes;
  berth_graph_t graph;
  berth_graph_options_t rules = {.keep_inputs = s->keep_inputs, .fold = s->fold};
  assert_int_equal(
      berth_graph_analyse(&s->model, &rules, graph_memory, sizeof graph_memory, &graph, NULL),
      BERTH_OK);
  berth_order_options_t options = {.overlap = s->overlap,
                                   .align = ALIGN,
                                   .keep_inputs = s->keep_inputs,
                                   .extra = s->extra,
                                   .width = width};
  assert_int_equal(berth_order_workspace(&graph, s->sharing, &options, &bytes), BERTH_OK);
  void *workspace = malloc(bytes);
  berth_order_result_t result;
  assert_int_equal(berth_order_find(&graph, s->sharing, &options, workspace, bytes, order, &result),
                   BERTH_OK);
  free(workspace);
  return result;
}

/* The smallest peak of all orders; `used` and `order` are filled from `depth` on. */
static uint64_t best_of_all(const subject_t *s, uint32_t *order, uint32_t depth, uint32_t used,
                            uint32_t *count) {
  if (depth == s->operators) {
    ++*count;
    return peak_of(s, order);
  }
  uint64_t best = UINT64_MAX;
  for (uint32_t op = 0; op < s->operators; op++) {
    if (used >> op & 1u) continue;
    int64_t reads[RANDOM_TENSORS];
    uint32_t read_count = numbers(s->net.subgraphs[0].ops[op].inputs, reads);
    bool ready = true;
    for (uint32_t other = 0; other < s->operators && ready; other++) {
      int64_t writes[RANDOM_TENSORS];
      uint32_t write_count = numbers(s->net.subgraphs[0].ops[other].outputs, writes);
      for (uint32_t w = 0; w < write_count && !(used >> other & 1u); w++) {
        for (uint32_t r = 0; r < read_count; r++) ready = ready && reads[r] != writes[w];
      }
    }
    if (!ready) continue;
    order[depth] = op;
    uint64_t peak = best_of_all(s, order, depth + 1, used | 1u << op, count);
    if (peak < best) best = peak;
  }
  return best;
}

static void no_order_of_a_small_graph_is_better(void **state) {
  (void)state;
  static subject_t s;
  uint32_t improved = 0, orders = 0;
  for (uint32_t seed = 1; seed <= 6000; seed++) {
    memset(&s, 0, sizeof s);
    random_network(&s.net, seed, 3 + seed % 5);
    s.overlap = (berth_overlap_t)(seed % 3);
    s.keep_inputs = seed % 4 == 0;
    uint32_t random = seed * 77;
    for (uint32_t i = 0; i < RANDOM_OPS; i++) {
      if (seed % 2 == 0) s.extra[i] = next_random(&random) % 4 * 16;
    }
    start(&s);
    uint32_t order[RANDOM_OPS], file[RANDOM_OPS], all[RANDOM_OPS];
    for (uint32_t i = 0; i < s.operators; i++) file[i] = i;
    berth_order_result_t result = find(&s, 0, order);
    uint32_t count = 0;
    uint64_t best = best_of_all(&s, all, 0, 0, &count);
    if (result.peak != best || peak_of(&s, order) != best || result.lower_bound != best ||
        result.file_peak != peak_of(&s, file)) {
      fail_msg("seed %u: best %u, found %u, which is really %u, bound %u, file %u really %u", seed,
               (unsigned)best, (unsigned)result.peak, (unsigned)peak_of(&s, order),
               (unsigned)result.lower_bound, (unsigned)result.file_peak,
               (unsigned)peak_of(&s, file));
    }
    assert_true(result.optimal);
    assert_int_equal(result.changed, best < result.file_peak);
    improved += result.changed;
    orders += count;
  }
  assert_true(improved > 300);
  assert_true(orders > 50000);
}

static void a_narrow_search_states_only_what_it_has_proven(void **state) {
  (void)state;
  static subject_t s;
  uint32_t undecided = 0;
  for (uint32_t seed = 1; seed <= 3000; seed++) {
    memset(&s, 0, sizeof s);
    random_network(&s.net, seed, RANDOM_OPS);
    start(&s);
    uint32_t order[RANDOM_OPS];
    berth_order_result_t exact = find(&s, 0, order), narrow = find(&s, 1, order);
    assert_true(exact.optimal);
    assert_true(narrow.peak >= exact.peak && narrow.lower_bound <= exact.peak);
    assert_int_equal(peak_of(&s, order), narrow.peak);
    undecided += !narrow.optimal;
  }
  assert_true(undecided > 10);
}

static void a_wide_start_is_put_off(void **state) {
  (void)state;
  static subject_t s;
  memset(&s, 0, sizeof s);
  const char *const sizes[] = {"16", "512", "16", "512", "16", "16"};
  for (int i = 0; i < 6; i++) tensor(&s.net, 0, BERTH_TYPE_INT8, sizes[i], 0);
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1"); /* both large ones at once, as in the file */
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "0", "3");
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "1", "2");
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "3", "4");
  op(&s.net, 0, BERTH_BUILTIN_ADD, "2 4", "5");
  s.net.subgraphs[0].inputs = "0", s.net.subgraphs[0].outputs = "5";
  start(&s);
  uint32_t order[RANDOM_OPS];
  berth_order_result_t result = find(&s, 0, order);
  assert_int_equal(result.file_peak, 1040);
  assert_int_equal(result.peak, 544);
  assert_true(result.optimal && result.changed);
  assert_true((order[1] == 2) != (order[1] == 3));
}

static void operators_on_constants_run_right_before_their_readers(void **state) {
  (void)state;
  static subject_t s;
  memset(&s, 0, sizeof s);
  const char *const sizes[] = {"16", "512", "16", "512", "16", "16", "4", "4"};
  for (int i = 0; i < 8; i++) {
    tensor(&s.net, 0, BERTH_TYPE_INT8, sizes[i], i == 6 ? CONSTANT : 0);
  }
  op(&s.net, 0, BERTH_BUILTIN_DEQUANTIZE, "6", "7"); /* weights of operator 4 */
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "0", "3");
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "1", "2");
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "3 7", "4");
  op(&s.net, 0, BERTH_BUILTIN_ADD, "2 4", "5");
  s.net.subgraphs[0].inputs = "0", s.net.subgraphs[0].outputs = "5";
  s.fold = true;
  start(&s);
  uint32_t order[RANDOM_OPS], at = 0;
  berth_order_result_t result = find(&s, 0, order);
  assert_true(result.changed && result.optimal);
  while (order[at] != 0) at++;
  assert_int_equal(order[at + 1], 4);
}

static uint32_t place_of(const uint32_t *order, uint32_t op) {
  uint32_t at = 0;
  while (order[at] != op) at++;
  return at;
}

static void effects_and_variables_keep_their_order(void **state) {
  (void)state;
  static subject_t s;
  memset(&s, 0, sizeof s);
  /* Running operator 2 before operator 0 would be better: 0 makes much that only 3 reads. */
  const char *const sizes[] = {"16", "512", "512", "16", "16", "16"};
  for (int i = 0; i < 6; i++) tensor(&s.net, 0, BERTH_TYPE_INT8, sizes[i], i == 5 ? VARIABLE : 0);
  op(&s.net, 0, BERTH_BUILTIN_SVDF, "0 5", "1");
  op(&s.net, 0, BERTH_BUILTIN_CONV_2D, "0", "2");
  op(&s.net, 0, BERTH_BUILTIN_SVDF, "2 5", "3");
  op(&s.net, 0, BERTH_BUILTIN_ADD, "1 3", "4");
  s.net.subgraphs[0].inputs = "0", s.net.subgraphs[0].outputs = "4";
  uint32_t order[RANDOM_OPS];
  start(&s);
  berth_order_result_t bound = find(&s, 0, order);
  assert_true(place_of(order, 0) < place_of(order, 2));
  assert_true(bound.optimal);
  s.net.subgraphs[0].ops[0].inputs = s.net.subgraphs[0].ops[2].inputs = "0";
  s.net.subgraphs[0].ops[2].inputs = "2";
  start(&s);
  berth_order_result_t loose = find(&s, 0, order);
  assert_true(place_of(order, 0) > place_of(order, 2));
  assert_true(loose.peak < bound.peak);
  s.net.subgraphs[0].ops[0].code = s.net.subgraphs[0].ops[2].code = BERTH_BUILTIN_CUSTOM;
  start(&s);
  berth_order_result_t custom = find(&s, 0, order);
  assert_true(place_of(order, 0) < place_of(order, 2));
  assert_true(custom.optimal);
}

static bool stop(void *user, uint64_t work, uint64_t best, uint64_t lower_bound) {
  (void)work;
  ++*(uint32_t *)user;
  assert_true(lower_bound <= best);
  return false;
}

static void a_search_that_is_stopped_gives_what_it_has(void **state) {
  (void)state;
  static subject_t s;
  memset(&s, 0, sizeof s);
  random_network(&s.net, 5, RANDOM_OPS);
  start(&s);
  static uint8_t memory[1 << 16];
  size_t bytes;
  berth_graph_t graph;
  assert_int_equal(berth_graph_analyse(&s.model, NULL, memory, sizeof memory, &graph, NULL),
                   BERTH_OK);
  uint32_t calls = 0, order[RANDOM_OPS];
  berth_order_options_t options = {
      .align = ALIGN, .work_limit = 1, .progress = stop, .progress_user = &calls};
  assert_int_equal(berth_order_workspace(&graph, s.sharing, &options, &bytes), BERTH_OK);
  void *workspace = malloc(bytes);
  berth_order_result_t result;
  assert_int_equal(berth_order_find(&graph, s.sharing, &options, workspace, bytes, order, &result),
                   BERTH_OK);
  assert_true(peak_of(&s, order) != UINT64_MAX);
  assert_true(result.lower_bound <= result.peak && result.peak <= result.file_peak);
  assert_int_equal(
      berth_order_find(&graph, s.sharing, &options, workspace, bytes - 8, order, &result),
      BERTH_ERROR_MEMORY);
  options.align = 3;
  assert_int_equal(berth_order_find(&graph, s.sharing, &options, workspace, bytes, order, &result),
                   BERTH_ERROR_ARGUMENT);
  free(workspace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wide_start_is_put_off),
      cmocka_unit_test(operators_on_constants_run_right_before_their_readers),
      cmocka_unit_test(effects_and_variables_keep_their_order),
      cmocka_unit_test(no_order_of_a_small_graph_is_better),
      cmocka_unit_test(a_narrow_search_states_only_what_it_has_proven),
      cmocka_unit_test(a_search_that_is_stopped_gives_what_it_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
