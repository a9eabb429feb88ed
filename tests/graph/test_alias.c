/* Aliases: small cases by hand, and thousands of random graphs that are run on memory in which
 * every byte knows what it is, so that nothing can be overwritten too early without being seen. */
#include "test.h"

#include "berth/alias.h"
#include "graph/random_network.h"
#include <stdio.h>
#include <stdlib.h>

#define ALIGN 16u

typedef struct case_ {
  network_t net;
  berth_model_t model;
  berth_graph_t graph;
  berth_sharing_t sharing[RANDOM_OPS];
  berth_alias_options_t options;
  berth_alias_t *aliases;
  void *memory[2];
} case_t;

static void find(case_t *c, berth_overlap_t overlap, bool keep_inputs) {
  for (int i = 0; i < 2; i++) free(c->memory[i]);
  c->model = build(&c->net);
  berth_graph_options_t rules = {.keep_inputs = keep_inputs};
  size_t bytes;
  assert_int_equal(berth_graph_workspace(&c->model, &bytes), BERTH_OK);
  c->memory[0] = malloc(bytes);
  assert_int_equal(berth_graph_analyse(&c->model, &rules, c->memory[0], bytes, &c->graph, NULL),
                   BERTH_OK);
  for (uint32_t op = 0; op < c->net.subgraphs[0].op_count; op++) {
    c->sharing[op] = sharing_of(c->net.subgraphs[0].ops[op].code);
  }
  c->options =
      (berth_alias_options_t){.overlap = overlap, .align = ALIGN, .keep_inputs = keep_inputs};
  assert_int_equal(berth_alias_workspace(&c->graph, c->sharing, &c->options, &bytes), BERTH_OK);
  c->memory[1] = malloc(bytes + 1);
  assert_int_equal(
      berth_alias_find(&c->graph, c->sharing, &c->options, c->memory[1], bytes, &c->aliases),
      BERTH_OK);
}

static void release(case_t *c) {
  for (int i = 0; i < 2; i++) free(c->memory[i]);
}

static uint64_t load_of(const case_t *c, const berth_alias_t *aliases) {
  uint64_t peak = 0;
  for (uint32_t step = 0; step < c->graph.step_count; step++) {
    uint64_t sum = 0;
    for (uint32_t t = 0; t < c->graph.tensor_count; t++) {
      const berth_graph_tensor_t *tensor = &c->graph.tensors[t];
      if (tensor->allocation != BERTH_ALLOCATION_ARENA_RW) continue;
      if (aliases != NULL && aliases[t].root != t) continue;
      uint32_t first = aliases != NULL ? aliases[t].first : tensor->first;
      uint32_t last = aliases != NULL ? aliases[t].last : tensor->last;
      if (first <= step && step <= last) sum += (tensor->bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
    if (sum > peak) peak = sum;
  }
  return peak;
}

static bool shares(const case_t *c, uint32_t a, uint32_t b) {
  return c->aliases[a].root == c->aliases[b].root;
}

static void a_chain(case_t *c, const char *sizes[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) tensor(&c->net, 0, BERTH_TYPE_INT8, sizes[i], 0);
}

static void elementwise_chains_take_one_place(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"64", "64", "64", "64"}, 4);
  op(&c.net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_RELU, "1", "2");
  op(&c.net, 0, BERTH_BUILTIN_SQUEEZE, "2", "3");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "3";
  find(&c, BERTH_OVERLAP_INPLACE, false);
  assert_true(shares(&c, 0, 1) && shares(&c, 1, 2) && shares(&c, 2, 3));
  assert_int_equal(load_of(&c, c.aliases), 64);
  find(&c, BERTH_OVERLAP_INPLACE, true); /* the input must be kept */
  assert_true(!shares(&c, 0, 1) && shares(&c, 1, 2) && shares(&c, 2, 3));
  find(&c, BERTH_OVERLAP_VIEWS, false);
  assert_true(!shares(&c, 0, 1) && !shares(&c, 1, 2) && shares(&c, 2, 3));
  find(&c, BERTH_OVERLAP_NONE, false);
  assert_true(!shares(&c, 2, 3));
  release(&c);
}

static void a_later_reader_of_a_view_keeps_its_root_from_being_overwritten(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"64", "64", "64", "64", "64"}, 5);
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_SQUEEZE, "1", "2"); /* a view of 1, read at the end */
  op(&c.net, 0, BERTH_BUILTIN_RELU, "1", "3");    /* 1 is read for the last time, but */
  op(&c.net, 0, BERTH_BUILTIN_ADD, "2 3", "4");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "4";
  find(&c, BERTH_OVERLAP_INPLACE, false);
  assert_true(shares(&c, 1, 2));
  assert_false(shares(&c, 1, 3));
  assert_true(shares(&c, 4, 2) || shares(&c, 4, 3));
  release(&c);
}

static void graph_outputs_are_never_overwritten(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"64", "64", "64"}, 3);
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_RELU, "1", "2"); /* the last step */
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "1 2";
  find(&c, BERTH_OVERLAP_INPLACE, false);
  assert_false(shares(&c, 1, 2));
  release(&c);
}

static void an_input_that_is_read_twice_must_be_permitted_twice(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"64", "64", "64"}, 3);
  op(&c.net, 0, BERTH_BUILTIN_MUL, "0 0", "1"); /* permits its second input only */
  op(&c.net, 0, BERTH_BUILTIN_ADD, "1 1", "2");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "2";
  find(&c, BERTH_OVERLAP_INPLACE, false);
  assert_false(shares(&c, 0, 1));
  assert_true(shares(&c, 1, 2));
  release(&c);
}

static void inputs_of_a_concatenation_are_written_where_they_belong(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"32", "64", "32", "96", "96"}, 5);
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "2");
  op(&c.net, 0, BERTH_BUILTIN_CONCATENATION, "1 2", "3");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "3", "4");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "4";
  find(&c, BERTH_OVERLAP_VIEWS, false);
  assert_int_equal(c.aliases[1].root, 3);
  assert_int_equal(c.aliases[2].root, 3);
  assert_int_equal(c.aliases[2].offset, 64);
  assert_int_equal(c.aliases[3].first, 0);
  release(&c);
}

static void a_concatenation_that_would_be_whole_too_early_is_copied(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"16", "16", "512", "64", "256", "272"}, 6);
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "2");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "2", "3"); /* the peak: 1 must not take 272 bytes by then */
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "3", "4");
  op(&c.net, 0, BERTH_BUILTIN_CONCATENATION, "1 4", "5");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "5";
  find(&c, BERTH_OVERLAP_VIEWS, false);
  assert_false(shares(&c, 1, 5));
  assert_true(shares(&c, 4, 5));
  assert_true(load_of(&c, c.aliases) <= load_of(&c, NULL));
  release(&c);
}

static void misaligned_slices_are_copied(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"32", "40", "24", "64", "64"}, 5);
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "0", "2");
  op(&c.net, 0, BERTH_BUILTIN_CONCATENATION, "1 2", "3");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "3", "4");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "4";
  find(&c, BERTH_OVERLAP_VIEWS, false);
  assert_int_equal(c.aliases[1].root, 3);
  assert_int_equal(c.aliases[2].root, 2);
  release(&c);
}

/* ---- Random graphs -------------------------------------------------------------------------- */

/* What byte `at` of a tensor must hold; views hold what they view. */
static uint32_t expected[RANDOM_TENSORS][ROOM / RANDOM_TENSORS];

/* Lets every operator read its inputs and write its outputs; where tensors lie is in `place`. */
static void run(const case_t *c, const uint64_t *place, uint32_t seed) {
  static uint32_t memory[ROOM * RANDOM_TENSORS];
  static uint32_t fresh;
  const network_subgraph_t *s = &c->net.subgraphs[0];
  int64_t list[RANDOM_TENSORS];
  memset(memory, 0, sizeof memory);
  uint32_t inputs = numbers(s->inputs, list);
  for (uint32_t i = 0; i < inputs; i++) {
    for (uint32_t k = 0; k < c->graph.tensors[list[i]].bytes; k++) {
      memory[place[list[i]] + k] = expected[list[i]][k] = ++fresh;
    }
  }
  for (uint32_t o = 0; o < s->op_count; o++) {
    int64_t reads[2], writes[2];
    uint32_t read_count = numbers(s->ops[o].inputs, reads);
    uint32_t write_count = numbers(s->ops[o].outputs, writes);
    for (uint32_t i = 0; i < read_count; i++) {
      for (uint32_t k = 0; k < c->graph.tensors[reads[i]].bytes; k++) {
        if (memory[place[reads[i]] + k] != expected[reads[i]][k]) {
          fail_msg("seed %u: operator %u finds byte %u of tensor %d overwritten", seed, o, k,
                   (int)reads[i]);
        }
      }
    }
    uint64_t slice = 0; /* where an output of SPLIT, an input of CONCATENATION begins */
    for (uint32_t i = 0; i < write_count; i++) {
      uint64_t bytes = c->graph.tensors[writes[i]].bytes;
      for (uint32_t k = 0; k < read_count; k++) { /* it must not write what it has yet to read */
        uint64_t other = c->graph.tensors[reads[k]].bytes;
        if (place[reads[k]] + other <= place[writes[i]] ||
            place[writes[i]] + bytes <= place[reads[k]]) {
          continue;
        }
        berth_sharing_t may = c->sharing[o];
        bool in_place = (may.in_place >> k & 1u) && i == 0 && other == bytes &&
                        place[reads[k]] == place[writes[i]];
        if (!in_place && may.view == BERTH_VIEW_NONE) fail_msg("seed %u: operator %u", seed, o);
      }
      for (uint32_t k = 0; k < bytes; k++) {
        uint32_t value = ++fresh;
        if (c->sharing[o].view == BERTH_VIEW_SAME) value = expected[reads[0]][k];
        if (c->sharing[o].view == BERTH_VIEW_SPLIT) value = expected[reads[0]][slice + k];
        if (c->sharing[o].view == BERTH_VIEW_CONCAT) {
          uint64_t middle = c->graph.tensors[reads[0]].bytes;
          value = k < middle ? expected[reads[0]][k] : expected[reads[1]][k - middle];
        }
        memory[place[writes[i]] + k] = expected[writes[i]][k] = value;
      }
      slice += bytes;
    }
  }
  uint32_t outputs = numbers(s->outputs, list);
  for (uint32_t i = 0; i < outputs; i++) {
    for (uint32_t k = 0; k < c->graph.tensors[list[i]].bytes; k++) {
      if (memory[place[list[i]] + k] != expected[list[i]][k]) {
        fail_msg("seed %u: output %d is overwritten", seed, (int)list[i]);
      }
    }
  }
}

typedef struct conflict {
  uint32_t a, b, count;
} conflict_t;

static bool on_conflict(void *user, uint32_t a, uint32_t b) {
  conflict_t *first = user;
  if (first->count++ == 0) {
    first->a = a;
    first->b = b;
  }
  return true;
}

static void random_graphs_read_what_was_written_and_never_need_more(void **state) {
  (void)state;
  uint32_t smaller = 0, shared = 0, slices = 0;
  static case_t c;
  for (uint32_t seed = 1; seed <= 20000; seed++) {
    release(&c);
    memset(&c, 0, sizeof c);
    random_network(&c.net, seed, RANDOM_OPS);
    find(&c, seed % 7 == 0 ? BERTH_OVERLAP_VIEWS : BERTH_OVERLAP_INPLACE, seed % 5 == 0);
    uint64_t place[RANDOM_TENSORS], offsets[RANDOM_TENSORS], end = 0;
    uint32_t roots[RANDOM_TENSORS], count;
    berth_buffer_t buffers[RANDOM_TENSORS];
    assert_int_equal(berth_alias_buffers(&c.graph, c.aliases, ALIGN, buffers, roots, &count),
                     BERTH_OK);
    /* Greedy by size, so that memory is reused between groups as well. */
    for (uint32_t i = 0; i < count; i++) buffers[i].fixed = BERTH_ANYWHERE;
    for (uint32_t placed = 0; placed < count; placed++) {
      uint32_t next = count;
      for (uint32_t i = 0; i < count; i++) {
        if (buffers[i].fixed != BERTH_ANYWHERE) continue;
        if (next == count || buffers[i].size > buffers[next].size) next = i;
      }
      uint64_t at = 0;
      for (uint32_t i = 0; i < count; i++) {
        bool apart = buffers[i].fixed == BERTH_ANYWHERE || buffers[i].last < buffers[next].first ||
                     buffers[next].last < buffers[i].first ||
                     buffers[i].fixed >= at + buffers[next].size ||
                     buffers[i].fixed + buffers[i].size <= at;
        if (apart) continue;
        at = buffers[i].fixed + buffers[i].size;
        i = UINT32_MAX; /* from the start again */
      }
      buffers[next].fixed = at;
      if (at + buffers[next].size > end) end = at + buffers[next].size;
    }
    for (uint32_t i = 0; i < count; i++) offsets[roots[i]] = buffers[i].fixed;
    for (uint32_t t = 0; t < c.graph.tensor_count; t++) {
      const berth_alias_t *alias = &c.aliases[t];
      place[t] = offsets[alias->root] + alias->offset;
      if (alias->root == t) continue;
      shared++;
      slices += c.graph.tensors[t].bytes != c.graph.tensors[alias->root].bytes;
    }
    run(&c, place, seed);
    uint64_t before = load_of(&c, NULL), after = load_of(&c, c.aliases);
    assert_true(after <= before);
    smaller += after < before;

    size_t bytes;
    conflict_t first = {0};
    assert_int_equal(berth_alias_workspace(&c.graph, c.sharing, &c.options, &bytes), BERTH_OK);
    void *workspace = malloc(bytes + 1);
    berth_status_t status = berth_alias_check(&c.graph, c.sharing, &c.options, place, workspace,
                                              bytes, on_conflict, &first);
    if (status != BERTH_OK)
      fail_msg("seed %u: tensors %u and %u are refused", seed, first.a, first.b);
    free(workspace);
  }
  assert_true(smaller > 5000);
  assert_true(shared > 20000);
  assert_true(slices > 1000);
  release(&c);
}

static void given_offsets_that_overwrite_too_early_are_refused(void **state) {
  (void)state;
  case_t c = {0};
  a_chain(&c, (const char *[]){"64", "64", "64", "64"}, 4);
  op(&c.net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(&c.net, 0, BERTH_BUILTIN_CONV_2D, "1", "2");
  op(&c.net, 0, BERTH_BUILTIN_RELU, "2", "3");
  c.net.subgraphs[0].inputs = "0", c.net.subgraphs[0].outputs = "3";
  find(&c, BERTH_OVERLAP_INPLACE, false);
  static const struct {
    uint64_t offsets[4];
    berth_overlap_t overlap;
    berth_status_t status;
    uint32_t a, b;
  } cases[] = {
      {{0, 0, 64, 64}, BERTH_OVERLAP_INPLACE, BERTH_OK, 0, 0},
      {{0, 0, 64, 64}, BERTH_OVERLAP_VIEWS, BERTH_INFEASIBLE, 0, 1},
      {{0, 16, 80, 80}, BERTH_OVERLAP_INPLACE, BERTH_INFEASIBLE, 0, 1},
      {{0, 0, 0, 64}, BERTH_OVERLAP_INPLACE, BERTH_INFEASIBLE, 1, 2},
      {{0, UINT64_MAX, 0, 64}, BERTH_OVERLAP_INPLACE, BERTH_OK, 0, 0},
      {{0, 64, 0, 0}, BERTH_OVERLAP_INPLACE, BERTH_OK, 0, 0},
      {{UINT64_MAX - 63, 0, 64, 64}, BERTH_OVERLAP_INPLACE, BERTH_ERROR_OVERFLOW, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t bytes;
    conflict_t first = {0};
    c.options.overlap = cases[i].overlap;
    assert_int_equal(berth_alias_workspace(&c.graph, c.sharing, &c.options, &bytes), BERTH_OK);
    void *workspace = malloc(bytes + 1);
    assert_int_equal(berth_alias_check(&c.graph, c.sharing, &c.options, cases[i].offsets, workspace,
                                       bytes, on_conflict, &first),
                     cases[i].status);
    assert_int_equal(first.a, cases[i].a);
    assert_int_equal(first.b, cases[i].b);
    free(workspace);
  }
  release(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elementwise_chains_take_one_place),
      cmocka_unit_test(a_later_reader_of_a_view_keeps_its_root_from_being_overwritten),
      cmocka_unit_test(graph_outputs_are_never_overwritten),
      cmocka_unit_test(an_input_that_is_read_twice_must_be_permitted_twice),
      cmocka_unit_test(inputs_of_a_concatenation_are_written_where_they_belong),
      cmocka_unit_test(a_concatenation_that_would_be_whole_too_early_is_copied),
      cmocka_unit_test(misaligned_slices_are_copied),
      cmocka_unit_test(given_offsets_that_overwrite_too_early_are_refused),
      cmocka_unit_test(random_graphs_read_what_was_written_and_never_need_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
