/* Lifetimes, allocation types and dynamic tensors, rule by rule, on networks made by hand. */
#include "network.h"

#include "berth/graph.h"
#include <string.h>

#define F32 BERTH_TYPE_FLOAT32
#define I8  BERTH_TYPE_INT8

static uint64_t memory[8192];
static berth_graph_t graph;
static berth_graph_error_t error;

static berth_status_t analyse(network_t *net, const berth_graph_options_t *options) {
  static berth_model_t model;
  model = build(net);
  size_t bytes;
  assert_int_equal(berth_graph_workspace(&model, &bytes), BERTH_OK);
  assert_true(bytes <= sizeof memory);
  memset(&graph, 0, sizeof graph);
  memset(&error, 0, sizeof error);
  return berth_graph_analyse(&model, options, memory, bytes, &graph, &error);
}

static const berth_graph_tensor_t *at(uint32_t subgraph, uint32_t tensor_index) {
  return &graph.tensors[graph.bases[subgraph] + tensor_index];
}

static void assert_lives(const berth_graph_tensor_t *it, berth_allocation_t allocation,
                         uint32_t first, uint32_t last) {
  assert_string_equal(berth_allocation_name(it->allocation), berth_allocation_name(allocation));
  assert_int_equal(it->first, first);
  assert_int_equal(it->last, last);
}

/* in 0 -> relu -> 1 -> relu -> 2 -> add(2, 0) -> 3 -> relu -> 4 out; 5 is nobody's; the second
 * operator's second output 6 has no reader. */
static void make_chain(network_t *net) {
  for (int i = 0; i < 7; i++) tensor(net, 0, I8, i == 6 ? "1x3" : "1x10", 0);
  op(net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(net, 0, BERTH_BUILTIN_SPLIT, "1", "2 6");
  op(net, 0, BERTH_BUILTIN_ADD, "2 0", "3");
  op(net, 0, BERTH_BUILTIN_RELU, "3", "4");
  op(net, 0, BERTH_BUILTIN_RELU, "1", "");
  net->subgraphs[0].inputs = "0";
  net->subgraphs[0].outputs = "4 2";
}

static void a_tensor_lives_from_its_writer_to_its_last_reader(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(graph.step_count, 5);
  assert_lives(at(0, 1), BERTH_ALLOCATION_ARENA_RW, 0, 4);
  assert_lives(at(0, 3), BERTH_ALLOCATION_ARENA_RW, 2, 3);
  assert_int_equal(at(0, 1)->producer, 0);
  assert_int_equal(at(0, 1)->last_reader, 4);
  assert_int_equal(at(0, 1)->reader_count, 2);
  assert_int_equal(at(0, 3)->bytes, 10);
  assert_int_equal(at(0, 3)->kind, BERTH_KIND_ACTIVATION);
}

static void a_graph_input_lives_from_step_0_to_its_last_reader_or_to_the_end(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 0), BERTH_ALLOCATION_ARENA_RW, 0, 2);
  assert_int_equal(at(0, 0)->kind, BERTH_KIND_INPUT);
  assert_int_equal(analyse(&net, &(berth_graph_options_t){.keep_inputs = true}), BERTH_OK);
  assert_lives(at(0, 0), BERTH_ALLOCATION_ARENA_RW, 0, 4);
}

static void a_graph_output_lives_to_the_end(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 4), BERTH_ALLOCATION_ARENA_RW, 3, 4);
  assert_lives(at(0, 2), BERTH_ALLOCATION_ARENA_RW, 1, 4);
  assert_int_equal(at(0, 2)->kind, BERTH_KIND_OUTPUT);
}

static void an_unused_output_lives_in_its_own_step_and_an_unused_tensor_never(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 6), BERTH_ALLOCATION_ARENA_RW, 1, 1);
  assert_lives(at(0, 5), BERTH_ALLOCATION_NONE, 0, 0);
}

static void an_input_that_nobody_reads_lives_in_step_0(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  net.subgraphs[0].inputs = "0 5";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 5), BERTH_ALLOCATION_ARENA_RW, 0, 0);
}

static void a_model_without_operators_has_one_step(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, I8, "4", 0);
  net.subgraphs[0].inputs = net.subgraphs[0].outputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(graph.step_count, 1);
  assert_lives(at(0, 0), BERTH_ALLOCATION_ARENA_RW, 0, 0);
}

static void lifetimes_follow_the_order_that_is_asked_for(void **state) {
  (void)state;
  network_t net = {0};
  for (int i = 0; i < 5; i++) tensor(&net, 0, I8, "1x10", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(&net, 0, BERTH_BUILTIN_TANH, "0", "2");
  op(&net, 0, BERTH_BUILTIN_RELU, "2", "3");
  op(&net, 0, BERTH_BUILTIN_ADD, "1 3", "4");
  net.subgraphs[0].inputs = "0";
  net.subgraphs[0].outputs = "4";
  const uint32_t order[] = {1, 2, 0, 3};
  assert_int_equal(analyse(&net, &(berth_graph_options_t){.order = order}), BERTH_OK);
  assert_lives(at(0, 0), BERTH_ALLOCATION_ARENA_RW, 0, 2);
  assert_lives(at(0, 1), BERTH_ALLOCATION_ARENA_RW, 2, 3);
  assert_lives(at(0, 2), BERTH_ALLOCATION_ARENA_RW, 0, 1);
  assert_lives(at(0, 3), BERTH_ALLOCATION_ARENA_RW, 1, 3);

  const uint32_t reader_first[] = {2, 1, 0, 3}, twice[] = {0, 0, 1, 2}, beyond[] = {0, 1, 2, 4};
  assert_int_equal(analyse(&net, &(berth_graph_options_t){.order = reader_first}),
                   BERTH_ERROR_ARGUMENT);
  assert_string_equal(error.what, "a tensor is read before it is written");
  assert_int_equal(error.op, 2);
  assert_int_equal(error.tensor, 2);
  assert_int_equal(analyse(&net, &(berth_graph_options_t){.order = twice}), BERTH_ERROR_ARGUMENT);
  assert_int_equal(analyse(&net, &(berth_graph_options_t){.order = beyond}), BERTH_ERROR_ARGUMENT);
}

static void variables_live_in_every_step_and_constants_are_never_planned(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  tensor(&net, 0, I8, "4", CONSTANT);
  tensor(&net, 0, F32, "2x3", VARIABLE);
  net.subgraphs[0].ops[2].inputs = "2 0 7 8 -1";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 7), BERTH_ALLOCATION_MMAP_RO, 0, 0);
  assert_int_equal(at(0, 7)->bytes, 4);
  assert_lives(at(0, 8), BERTH_ALLOCATION_PERSISTENT, 0, 4);
  assert_int_equal(at(0, 8)->kind, BERTH_KIND_VARIABLE);
  assert_int_equal(at(0, 8)->bytes, 24);

  berth_buffer_t buffers[9];
  uint32_t tensors[9], count;
  assert_int_equal(berth_graph_buffers(&graph, 16, buffers, tensors, &count), BERTH_OK);
  assert_int_equal(count, 7); /* all but the one that nobody uses and the constant */
  assert_int_equal(tensors[6], 8);
  assert_int_equal(buffers[6].size, 32);
  assert_int_equal(buffers[6].align, 16);
  assert_int_equal(berth_graph_buffers(&graph, 1, buffers, tensors, &count), BERTH_OK);
  assert_int_equal(buffers[6].size, 24);
  assert_int_equal(buffers[6].align, 4); /* never less than the element */
  assert_int_equal(buffers[0].size, 10);
  assert_int_equal(berth_graph_buffers(&graph, 0, buffers, tensors, &count), BERTH_ERROR_ARGUMENT);
  assert_int_equal(berth_graph_buffers(&graph, 24, buffers, tensors, &count), BERTH_ERROR_ARGUMENT);
}

static void a_constant_in_another_file_is_a_constant(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "1x10", 0);
  tensor(&net, 0, F32, "20x10", EXTERNAL);
  tensor(&net, 0, F32, "1x20", 0);
  op(&net, 0, BERTH_BUILTIN_FULLY_CONNECTED, "0 1", "2");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "2";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 1), BERTH_ALLOCATION_MMAP_RO, 0, 0);
  assert_int_equal(at(0, 1)->bytes, 20 * 10 * 4);
  berth_buffer_t buffers[3];
  uint32_t tensors[3], count;
  assert_int_equal(berth_graph_buffers(&graph, 16, buffers, tensors, &count), BERTH_OK);
  assert_int_equal(count, 2);
}

static void operators_on_constants_are_foldable_through_and_through(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "1x4", 0);
  tensor(&net, 0, BERTH_TYPE_FLOAT16, "2", CONSTANT);
  for (int i = 2; i < 6; i++) tensor(&net, 0, F32, "1x4", 0);
  op(&net, 0, BERTH_BUILTIN_DENSIFY, "1", "2");
  op(&net, 0, BERTH_BUILTIN_DEQUANTIZE, "2", "3");
  op(&net, 0, BERTH_BUILTIN_ADD, "0 3", "4");
  op(&net, 0, BERTH_BUILTIN_CUSTOM, "1", "5"); /* may have a state */
  net.subgraphs[0].inputs = "0";
  net.subgraphs[0].outputs = "4 5";

  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(graph.foldable_count, 2);
  assert_true(at(0, 2)->foldable && at(0, 3)->foldable);
  assert_false(at(0, 4)->foldable || at(0, 5)->foldable || at(0, 0)->foldable);
  assert_lives(at(0, 2), BERTH_ALLOCATION_ARENA_RW, 0, 1);
  assert_lives(at(0, 3), BERTH_ALLOCATION_ARENA_RW, 1, 2);

  assert_int_equal(analyse(&net, &(berth_graph_options_t){.fold = true}), BERTH_OK);
  assert_int_equal(graph.foldable_count, 2);
  assert_lives(at(0, 2), BERTH_ALLOCATION_MMAP_RO, 0, 0);
  assert_lives(at(0, 3), BERTH_ALLOCATION_MMAP_RO, 0, 0);
  assert_int_equal(at(0, 3)->bytes, 16);
  assert_lives(at(0, 5), BERTH_ALLOCATION_ARENA_RW, 3, 3);
}

/* main: relu; IF (then 1, else 2); relu; CALL_ONCE (3); relu. Subgraph 1 calls 4 by WHILE. */
static void make_calls(network_t *net) {
  static const int branches[] = {1, 2}, once[] = {3}, loop[] = {4, 4};
  tensor(net, 0, BERTH_TYPE_BOOL, "1", 0);
  for (int i = 1; i < 5; i++) tensor(net, 0, F32, "1x4", 0);
  op(net, 0, BERTH_BUILTIN_RELU, "1", "2");
  call(net, 0, BERTH_BUILTIN_IF, "0 2", "3", branches, 2);
  call(net, 0, BERTH_BUILTIN_CALL_ONCE, "", "", once, 1);
  op(net, 0, BERTH_BUILTIN_RELU, "3", "4");
  call(net, 0, BERTH_BUILTIN_IF, "0 4", "", branches, 2);
  net->subgraphs[0].inputs = "0 1";
  net->subgraphs[0].outputs = "4";
  for (uint32_t s = 1; s < 5; s++) {
    tensor(net, s, F32, "1x4", 0);
    tensor(net, s, F32, "1x4", 0);
    tensor(net, s, F32, s == 3 ? "1x4" : "1", s == 3 ? VARIABLE : CONSTANT);
    if (s == 1) {
      call(net, s, BERTH_BUILTIN_WHILE, "0", "1", loop, 2);
    } else {
      op(net, s, BERTH_BUILTIN_ADD, "0 2", "1");
    }
    net->subgraphs[s].inputs = "0";
    net->subgraphs[s].outputs = "1";
  }
}

static void callees_live_from_the_first_call_to_the_last(void **state) {
  (void)state;
  network_t net = {0};
  make_calls(&net);
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(1, 0), BERTH_ALLOCATION_ARENA_RW, 1, 4);
  assert_lives(at(2, 1), BERTH_ALLOCATION_ARENA_RW, 1, 4);
  assert_lives(at(3, 1), BERTH_ALLOCATION_ARENA_RW, 2, 2);
  assert_lives(at(3, 2), BERTH_ALLOCATION_PERSISTENT, 0, 4);
  assert_lives(at(4, 0), BERTH_ALLOCATION_ARENA_RW, 1, 4); /* called by a callee */
  assert_lives(at(1, 2), BERTH_ALLOCATION_MMAP_RO, 0, 0);
  assert_int_equal(graph.called_first[3], 2);
  assert_int_equal(graph.called_last[4], 4);
}

static void a_subgraph_that_is_never_called_needs_nothing(void **state) {
  (void)state;
  network_t net = {0};
  make_calls(&net);
  net.subgraphs[1].ops[0] = (network_op_t){BERTH_BUILTIN_RELU, "0", "1", NULL, 0};
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(graph.called_first[4], BERTH_NOBODY);
  assert_lives(at(4, 0), BERTH_ALLOCATION_NONE, 0, 0);
  assert_lives(at(4, 2), BERTH_ALLOCATION_MMAP_RO, 0, 0);
}

static void every_kind_of_call_names_its_callees(void **state) {
  (void)state;
  static const int one[] = {2}, two[] = {1, 2}, three[] = {2, 1, 2};
  static const struct {
    int code;
    const int *callees;
    uint32_t count;
  } calls[] = {
      {BERTH_BUILTIN_IF, two, 2},
      {BERTH_BUILTIN_WHILE, two, 2},
      {BERTH_BUILTIN_CALL_ONCE, one, 1},
      {BERTH_BUILTIN_CALL, one, 1},
      {BERTH_BUILTIN_STABLEHLO_WHILE, two, 2},
      {BERTH_BUILTIN_STABLEHLO_COMPOSITE, one, 1},
      {BERTH_BUILTIN_STABLEHLO_REDUCE, one, 1},
      {BERTH_BUILTIN_STABLEHLO_CASE, three, 3},
  };
  for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
    network_t net = {0};
    for (uint32_t s = 0; s < 3; s++) tensor(&net, s, F32, "4", 0);
    call(&net, 0, calls[k].code, "", "", calls[k].callees, calls[k].count);
    berth_model_t model = build(&net);
    berth_operator_t it = berth_model_operator(&model, 0, 0);
    assert_int_equal(berth_graph_callee_count(&it), calls[k].count);
    for (uint32_t i = 0; i < calls[k].count; i++) {
      assert_int_equal(berth_graph_callee(&model, &it, i), calls[k].callees[i]);
    }
  }
}

static void circles_of_calls_and_calls_to_nowhere_are_refused(void **state) {
  (void)state;
  network_t net = {0};
  make_calls(&net);
  static const int back[] = {1, 1}, nowhere[] = {7, 1};
  net.subgraphs[4].ops[0] = (network_op_t){BERTH_BUILTIN_WHILE, "0", "1", back, 2};
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  assert_string_equal(error.what, "a subgraph calls itself, directly or through others");
  net.subgraphs[4].ops[0] = (network_op_t){BERTH_BUILTIN_WHILE, "0", "1", nowhere, 2};
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  assert_int_equal(error.subgraph, 4);
  assert_int_equal(error.op, 0);
}

/* ---- Dynamic tensors ------------------------------------------------------------------------- */

static void assert_dynamic(uint32_t index, berth_cause_t cause, uint32_t origin) {
  assert_int_equal(at(0, index)->allocation, BERTH_ALLOCATION_DYNAMIC);
  assert_string_equal(berth_cause_text(at(0, index)->cause), berth_cause_text(cause));
  assert_int_equal(at(0, index)->origin, origin);
  assert_int_equal(at(0, index)->bytes, 0);
}

static void an_open_batch_uses_the_stored_shape(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "1?x4", 0);
  tensor(&net, 0, F32, "1?x8", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  net.subgraphs[0].inputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_lives(at(0, 0), BERTH_ALLOCATION_ARENA_RW, 0, 0);
  assert_int_equal(at(0, 1)->bytes, 32);
}

static void an_unknown_that_no_input_has_is_dynamic_and_so_is_what_keeps_it(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "1?x4", 0);
  tensor(&net, 0, F32, "1?x1?x4", 0); /* gains one */
  tensor(&net, 0, F32, "1?x1?x4", 0); /* keeps it */
  tensor(&net, 0, F32, "8", 0);       /* loses both */
  tensor(&net, 0, F32, "8", 0);
  tensor(&net, 0, F32, "1?", 0); /* out of nowhere */
  op(&net, 0, BERTH_BUILTIN_RESHAPE, "0", "1");
  op(&net, 0, BERTH_BUILTIN_RELU, "1", "2");
  op(&net, 0, BERTH_BUILTIN_SUM, "2", "3");
  op(&net, 0, BERTH_BUILTIN_RELU, "3", "4");
  op(&net, 0, BERTH_BUILTIN_UNIQUE, "4", "5");
  net.subgraphs[0].inputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_dynamic(1, BERTH_CAUSE_DATA, 1);
  assert_dynamic(2, BERTH_CAUSE_INPUT, 1);
  assert_lives(at(0, 3), BERTH_ALLOCATION_ARENA_RW, 2, 3);
  assert_lives(at(0, 4), BERTH_ALLOCATION_ARENA_RW, 3, 4);
  assert_dynamic(5, BERTH_CAUSE_DATA, 5);
  assert_int_equal(at(0, 1)->first, 0);
  assert_int_equal(at(0, 1)->last, 1);

  berth_buffer_t buffers[6];
  uint32_t tensors[6], count;
  assert_int_equal(berth_graph_buffers(&graph, 16, buffers, tensors, &count), BERTH_OK);
  assert_int_equal(count, 3);
}

static void an_operator_that_counts_its_results_makes_them_dynamic(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, BERTH_TYPE_BOOL, "1?x4", 0);
  tensor(&net, 0, BERTH_TYPE_INT64, "1?x2", 0);
  op(&net, 0, BERTH_BUILTIN_WHERE, "0", "1");
  net.subgraphs[0].inputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_dynamic(1, BERTH_CAUSE_DATA, 1);
}

static void a_missing_shape_is_dynamic_from_a_custom_operator_and_a_scalar_otherwise(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "4", 0);
  tensor(&net, 0, F32, "", 0);
  tensor(&net, 0, F32, "", 0);
  tensor(&net, 0, F32, "", HAS_RANK);
  tensor(&net, 0, F32, "", 0);
  tensor(&net, 0, F32, "", HAS_RANK);
  op(&net, 0, BERTH_BUILTIN_SUM, "0", "1");
  op(&net, 0, BERTH_BUILTIN_CUSTOM, "0", "2 3");
  op(&net, 0, BERTH_BUILTIN_RELU, "2", "4");
  op(&net, 0, BERTH_BUILTIN_SUM, "2", "5");
  net.subgraphs[0].inputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(at(0, 1)->allocation, BERTH_ALLOCATION_ARENA_RW);
  assert_int_equal(at(0, 1)->bytes, 4);
  assert_dynamic(2, BERTH_CAUSE_RANK, 2);
  assert_int_equal(at(0, 3)->allocation, BERTH_ALLOCATION_ARENA_RW);
  assert_dynamic(4, BERTH_CAUSE_INPUT, 2);
  assert_int_equal(at(0, 5)->allocation, BERTH_ALLOCATION_ARENA_RW);
}

static void a_type_without_a_size_is_dynamic_and_a_resource_is_a_handle(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "1x4", 0);
  tensor(&net, 0, BERTH_TYPE_STRING, "3", 0);
  tensor(&net, 0, BERTH_TYPE_RESOURCE, "1", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0 1", "2");
  net.subgraphs[0].inputs = "0 1";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_dynamic(1, BERTH_CAUSE_TYPE, 1);
  assert_int_equal(at(0, 2)->bytes, 4);
}

static void dynamic_shapes_pass_into_callees_and_out_of_them(void **state) {
  (void)state;
  static const int branches[] = {1, 2};
  network_t net = {0};
  tensor(&net, 0, BERTH_TYPE_BOOL, "1", 0);
  tensor(&net, 0, F32, "1?x4", 0);
  tensor(&net, 0, F32, "1?x4", 0); /* of the first IF, whose else branch makes it dynamic */
  tensor(&net, 0, F32, "1?x4", 0);
  tensor(&net, 0, F32, "1x4", 0);
  call(&net, 0, BERTH_BUILTIN_IF, "0 1", "2", branches, 2);
  call(&net, 0, BERTH_BUILTIN_IF, "0 2", "3", branches, 2);
  op(&net, 0, BERTH_BUILTIN_RELU, "3", "4");
  net.subgraphs[0].inputs = "0 1";
  for (uint32_t s = 1; s < 3; s++) {
    tensor(&net, s, F32, "1?x4", 0);
    tensor(&net, s, F32, s == 2 ? "1?x4?" : "1?x4", 0);
    op(&net, s, BERTH_BUILTIN_RELU, "0", "1");
    net.subgraphs[s].inputs = "0";
    net.subgraphs[s].outputs = "1";
  }
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  uint32_t origin = graph.bases[2] + 1;
  assert_dynamic(2, BERTH_CAUSE_INPUT, origin);
  assert_dynamic(3, BERTH_CAUSE_INPUT, origin);
  assert_int_equal(at(0, 4)->allocation, BERTH_ALLOCATION_ARENA_RW);
  assert_int_equal(at(1, 0)->allocation, BERTH_ALLOCATION_DYNAMIC); /* by the second call */
  assert_int_equal(at(1, 1)->allocation, BERTH_ALLOCATION_DYNAMIC);
  assert_int_equal(at(1, 1)->origin, origin);
}

/* ---- Bad models ------------------------------------------------------------------------------ */

static void a_tensor_written_twice_or_read_too_early_is_refused(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  net.subgraphs[0].ops[3].outputs = "1";
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  assert_string_equal(error.what, "a tensor is written twice");
  assert_int_equal(error.tensor, 1);
  net.subgraphs[0].ops[3].outputs = "0"; /* a graph input is written by the caller */
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  net.subgraphs[0].ops[3].outputs = "4";
  net.subgraphs[0].ops[0].inputs = "0 3";
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  assert_string_equal(error.what, "a tensor is read before it is written");
  net.subgraphs[0].ops[0].inputs = "0 1"; /* its own output */
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  net.subgraphs[0].ops[0].inputs = "0";
  net.subgraphs[0].tensors[4].shape = "4";
  net.subgraphs[0].tensors[4].flags = CONSTANT;
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_FORMAT);
  assert_string_equal(error.what, "a constant is written");
}

static void a_size_beyond_2_to_63_is_an_overflow(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, F32, "2147483647x2147483647x2147483647", 0);
  net.subgraphs[0].inputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_ERROR_OVERFLOW);
  assert_int_equal(error.tensor, 0);
  net.subgraphs[0].tensors[0].shape = "2147483647x2147483647x2147483647x0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(at(0, 0)->bytes, 0);
}

static void packed_types_are_counted_in_bits(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, BERTH_TYPE_INT4, "1x7", 0);
  net.subgraphs[0].inputs = "0";
  assert_int_equal(analyse(&net, NULL), BERTH_OK);
  assert_int_equal(at(0, 0)->bytes, 4);
  assert_int_equal(berth_tensor_align(BERTH_TYPE_INT4), 1);
  assert_int_equal(berth_tensor_align(BERTH_TYPE_COMPLEX128), 16);
}

static void too_little_memory_is_told_and_changes_nothing(void **state) {
  (void)state;
  network_t net = {0};
  make_chain(&net);
  berth_model_t model = build(&net);
  size_t bytes;
  assert_int_equal(berth_graph_workspace(&model, &bytes), BERTH_OK);
  berth_graph_t untouched = {.step_count = 77};
  assert_int_equal(berth_graph_analyse(&model, NULL, memory, bytes - 1, &untouched, NULL),
                   BERTH_ERROR_MEMORY);
  assert_int_equal(untouched.step_count, 77);
  assert_null(untouched.tensors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tensor_lives_from_its_writer_to_its_last_reader),
      cmocka_unit_test(a_graph_input_lives_from_step_0_to_its_last_reader_or_to_the_end),
      cmocka_unit_test(a_graph_output_lives_to_the_end),
      cmocka_unit_test(an_unused_output_lives_in_its_own_step_and_an_unused_tensor_never),
      cmocka_unit_test(an_input_that_nobody_reads_lives_in_step_0),
      cmocka_unit_test(a_model_without_operators_has_one_step),
      cmocka_unit_test(lifetimes_follow_the_order_that_is_asked_for),
      cmocka_unit_test(variables_live_in_every_step_and_constants_are_never_planned),
      cmocka_unit_test(a_constant_in_another_file_is_a_constant),
      cmocka_unit_test(operators_on_constants_are_foldable_through_and_through),
      cmocka_unit_test(callees_live_from_the_first_call_to_the_last),
      cmocka_unit_test(a_subgraph_that_is_never_called_needs_nothing),
      cmocka_unit_test(every_kind_of_call_names_its_callees),
      cmocka_unit_test(circles_of_calls_and_calls_to_nowhere_are_refused),
      cmocka_unit_test(an_open_batch_uses_the_stored_shape),
      cmocka_unit_test(an_unknown_that_no_input_has_is_dynamic_and_so_is_what_keeps_it),
      cmocka_unit_test(an_operator_that_counts_its_results_makes_them_dynamic),
      cmocka_unit_test(a_missing_shape_is_dynamic_from_a_custom_operator_and_a_scalar_otherwise),
      cmocka_unit_test(a_type_without_a_size_is_dynamic_and_a_resource_is_a_handle),
      cmocka_unit_test(dynamic_shapes_pass_into_callees_and_out_of_them),
      cmocka_unit_test(a_tensor_written_twice_or_read_too_early_is_refused),
      cmocka_unit_test(a_size_beyond_2_to_63_is_an_overflow),
      cmocka_unit_test(packed_types_are_counted_in_bits),
      cmocka_unit_test(too_little_memory_is_told_and_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
