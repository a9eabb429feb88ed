/* The table of contracts: it is what prepare would have been told, for every operator, and says so
 * where nobody knows an operator. */
#include "test.h"

#include "graph/network.h"
#include "host/map.h"
#include "optimize/contracts.h"
#include <stdio.h>

static void a_shipped_model_has_a_known_contract_for_every_operator(void **state) {
  (void)state;
  char path[512], message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  snprintf(path, sizeof path, "%s/models/%s", BERTH_SOURCE_DIR, "ds_cnn_kws_int8.tflite");
  assert_int_equal(berth_host_open_model(path, &map, &model, message), BERTH_OK);
  berth_contracts_t contracts;
  assert_int_equal(berth_contracts_make(&model, NULL, &contracts), BERTH_OK);
  assert_int_equal(contracts.count, berth_model_subgraph(&model, 0).operator_count);
  assert_int_equal(contracts.unknown, 0);
  uint32_t row_local = 0;
  for (uint32_t op = 0; op < contracts.count; op++) {
    const berth_contract_t *contract = &contracts.table[op];
    assert_true(contract->known);
    berth_operator_t what = berth_model_operator(&model, 0, op);
    if (what.code != BERTH_BUILTIN_CONV_2D && what.code != BERTH_BUILTIN_DEPTHWISE_CONV_2D)
      continue;
    assert_int_equal(contract->kind, BERTH_ROW_LOCAL);
    assert_int_equal(contract->windows[0].numerator,
                     berth_option_int(what.options,
                                      what.code == BERTH_BUILTIN_CONV_2D
                                          ? BERTH_CONV_2D_STRIDE_H
                                          : BERTH_DEPTHWISE_CONV_2D_STRIDE_H,
                                      0));
    row_local++;
  }
  assert_true(row_local > 4);
  berth_contracts_free(&contracts);
  berth_host_unmap(&map);
}

static void elementwise_operators_say_that_they_work_in_place(void **state) {
  (void)state;
  network_t net = {0};
  for (int i = 0; i < 4; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x8", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(&net, 0, BERTH_BUILTIN_ADD, "0 1", "2");
  op(&net, 0, BERTH_BUILTIN_SQUEEZE, "2", "3");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "3";
  berth_model_t model = build(&net);
  berth_contracts_t contracts;
  assert_int_equal(berth_contracts_make(&model, NULL, &contracts), BERTH_OK);
  assert_int_equal(contracts.table[0].in_place, 1);
  assert_int_equal(contracts.table[1].in_place, 3);
  assert_int_equal(contracts.table[2].view, BERTH_VIEW_SAME);
  berth_contracts_free(&contracts);
}

static uint32_t missing, refused;
static void count_event(void *user, const berth_event_t *event) {
  (void)user;
  missing += event->kind == BERTH_EVENT_MISSING;
  refused += event->kind == BERTH_EVENT_REFUSED;
}

static void an_operator_that_nobody_knows_and_all_behind_it_are_not_known(void **state) {
  (void)state;
  network_t net = {0};
  for (int i = 0; i < 4; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x8", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  op(&net, 0, BERTH_BUILTIN_BUCKETIZE, "1", "2");
  op(&net, 0, BERTH_BUILTIN_RELU, "2", "3");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "3";
  berth_model_t model = build(&net);
  berth_contracts_t contracts;
  missing = 0;
  berth_contracts_options_t options = {.log = count_event};
  assert_int_equal(berth_contracts_make(&model, &options, &contracts), BERTH_OK);
  assert_true(contracts.table[0].known);
  assert_false(contracts.table[1].known);
  assert_false(contracts.table[2].known);
  assert_int_equal(contracts.unknown, 2);
  assert_int_equal(missing, 1);
  berth_contracts_free(&contracts);
}

static void an_operator_that_refuses_is_not_known_and_empty(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x8", 0);
  tensor(&net, 0, BERTH_TYPE_STRING, "1x4x4x8", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  berth_model_t model = build(&net);
  berth_contracts_t contracts;
  refused = 0;
  berth_contracts_options_t options = {.log = count_event};
  assert_int_equal(berth_contracts_make(&model, &options, &contracts), BERTH_OK);
  assert_false(contracts.table[0].known);
  assert_int_equal(contracts.table[0].in_place, 0);
  assert_int_equal(refused, 1);
  berth_contracts_free(&contracts);
}

static berth_status_t enlarge(void *user, berth_interpreter_t *interpreter) {
  (void)user;
  const int32_t dims[4] = {1, 6, 4, 8};
  return berth_interpreter_resize_input(interpreter, 0, 4, dims);
}

static void shapes_follow_from_those_that_are_given(void **state) {
  (void)state;
  network_t net = {0};
  for (int i = 0; i < 2; i++) tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x8", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  berth_model_t model = build(&net);
  berth_contracts_t contracts;
  berth_contracts_options_t options = {.reshape = enlarge};
  assert_int_equal(berth_contracts_make(&model, &options, &contracts), BERTH_OK);
  assert_int_equal(berth_interpreter_tensor(&contracts.interpreter, 0, 1).dims[1], 6);
  berth_contracts_free(&contracts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_shipped_model_has_a_known_contract_for_every_operator),
      cmocka_unit_test(elementwise_operators_say_that_they_work_in_place),
      cmocka_unit_test(an_operator_that_nobody_knows_and_all_behind_it_are_not_known),
      cmocka_unit_test(an_operator_that_refuses_is_not_known_and_empty),
      cmocka_unit_test(shapes_follow_from_those_that_are_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
