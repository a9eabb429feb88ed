/* Rehearsals: a right plan is played without a fault, and wherever a plan is broken, the first
 * operator that reads lost bytes is named. */
#include "test.h"

#include "graph/network.h"
#include "host/map.h"
#include "stock/diagonal.h"
#include "stock/rehearsal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool plays(const berth_model_t *model, const berth_tflm_buffer_t *buffers, uint32_t count,
                  berth_rehearsal_t *seen) {
  berth_rehearsal_t rehearsal;
  assert_int_equal(berth_rehearsal_open(model, buffers, count, &rehearsal), BERTH_OK);
  assert_int_equal(berth_rehearsal_play(&rehearsal), BERTH_OK);
  bool good = !rehearsal.faulty;
  if (seen != NULL) *seen = rehearsal; /* its counts, and the fault */
  berth_rehearsal_close(&rehearsal);
  return good;
}

static void stock_plans_of_shipped_models_are_right(void **state) {
  (void)state;
  static const char *const names[] = {
      "mobilenet_v1_0.25_96_int8", "ds_cnn_kws_int8",          "resnet8_int8",
      "svdf_keyword_int8",         "lstm_sequence_int8",       "control_flow",
      "resource_variables",        "detector_two_outputs_int8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[512], message[BERTH_HOST_MESSAGE];
    berth_host_map_t map;
    berth_model_t model;
    berth_tflm_forecast_t stock;
    berth_rehearsal_t seen;
    snprintf(path, sizeof path, "%s/models/%s.tflite", BERTH_SOURCE_DIR, names[i]);
    assert_int_equal(berth_host_open_model(path, &map, &model, message), BERTH_OK);
    assert_int_equal(berth_tflm_forecast(&model, NULL, &stock, NULL), BERTH_OK);
    if (!plays(&model, stock.buffers, stock.buffer_count, &seen)) {
      fail_msg("%s: operator %u, tensor %u", names[i], (unsigned)seen.fault.op,
               (unsigned)seen.fault.tensor);
    }
    assert_true(seen.operators >= berth_model_subgraph(&model, 0).operator_count);
    assert_true(seen.bytes_read > 0 && seen.in_order == 0);
    berth_tflm_forecast_free(&stock);
    berth_host_unmap(&map);
  }
}

/* Any two buffers that are live at once are put onto each other, by their last and first bytes. */
static void every_overlap_of_live_buffers_is_found(void **state) {
  (void)state;
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  berth_tflm_forecast_t stock;
  assert_int_equal(
      berth_host_open_model(BERTH_SOURCE_DIR "/models/resnet8_int8.tflite", &map, &model, message),
      BERTH_OK);
  assert_int_equal(berth_tflm_forecast(&model, NULL, &stock, NULL), BERTH_OK);
  /* Nothing else is to meet: each buffer far from the others. */
  uint64_t end = 0;
  for (uint32_t i = 0; i < stock.buffer_count; i++) {
    stock.buffers[i].offset = end;
    end += stock.buffers[i].bytes;
  }
  assert_true(plays(&model, stock.buffers, stock.buffer_count, NULL));
  uint32_t live = 0, in_order = 0;
  for (uint32_t a = 0; a < stock.buffer_count; a++) {
    for (uint32_t b = 0; b < stock.buffer_count; b++) {
      const berth_tflm_buffer_t *x = &stock.buffers[a], *y = &stock.buffers[b];
      if (a == b || x->first > y->last || y->first > x->last) continue;
      berth_tflm_buffer_t *moved = malloc(stock.buffer_count * sizeof *moved);
      memcpy(moved, stock.buffers, stock.buffer_count * sizeof *moved);
      moved[b].offset = x->offset + x->bytes - 1; /* the last byte of a, the first of b */
      for (uint32_t i = 0; i < stock.buffer_count; i++) {
        if (i != a && i != b) moved[i].offset += end; /* out of their way */
      }
      berth_rehearsal_t seen;
      bool good = plays(&model, moved, stock.buffer_count, &seen);
      /* A kernel that works in order may have read the one byte before it writes it. */
      if (good) {
        assert_true(seen.in_order > 0 && (x->last == y->first || y->last == x->first));
        in_order++;
      }
      live++;
      free(moved);
    }
  }
  print_message("%u pairs, %u of them right in the kernels' order\n", live, in_order);
  assert_true(live > 20 && in_order < live / 2);
  berth_tflm_forecast_free(&stock);
  berth_host_unmap(&map);
}

/* A convolution at its safe distance, and one byte nearer. */
static void a_diagonal_overlap_is_right_down_to_the_byte(void **state) {
  (void)state;
  static network_t net = {.constant_bytes = 144};
  static const int fields[6] = {BERTH_PADDING_SAME, 1, 1, 0, 1, 1};
  tensor(&net, 0, BERTH_TYPE_INT8, "1x6x6x4", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x6x6x4", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "4x3x3x4", CONSTANT);
  call(&net, 0, BERTH_BUILTIN_CONV_2D, "0 2 -1", "1", fields, 6);
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  berth_model_t model = build(&net);
  uint64_t distance;
  assert_true(berth_stock_diagonal(&model, 0, 0, 0, &distance));
  assert_int_equal(distance, (6 + 1) * 4 + 3); /* a row, a pixel, and the pixel's own channels */
  berth_tflm_buffer_t buffers[2] = {
      {.bytes = 144, .offset = distance, .tensor = 0, .op = UINT32_MAX, .first = 0, .last = 1},
      {.bytes = 144, .offset = 0, .tensor = 1, .op = UINT32_MAX, .first = 1, .last = 1}};
  berth_rehearsal_t seen;
  assert_true(plays(&model, buffers, 2, &seen));
  assert_int_equal(seen.in_order, 1);
  buffers[0].offset--;
  assert_false(plays(&model, buffers, 2, &seen));
  assert_int_equal(seen.fault.op, 0);
  assert_int_equal(seen.fault.tensor, 0);
  assert_int_equal(seen.fault.by, 1);
  assert_false(seen.fault.differs);
}

/* Values: a byte that is the tensor's own, but not what it should be, is a fault as well. */
static uint8_t lie[4];
static const uint8_t *lying_value(void *user, uint32_t subgraph, uint32_t number, uint64_t *bytes) {
  (void)user, (void)subgraph, (void)number;
  *bytes = sizeof lie;
  lie[2]++; /* another one each time */
  return lie;
}

static void another_value_is_a_fault(void **state) {
  (void)state;
  static network_t net;
  tensor(&net, 0, BERTH_TYPE_INT8, "4", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "4", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  berth_model_t model = build(&net);
  berth_tflm_buffer_t buffers[2] = {{.bytes = 4, .offset = 0, .tensor = 0, .op = UINT32_MAX},
                                    {.bytes = 4, .offset = 16, .tensor = 1, .op = UINT32_MAX}};
  berth_rehearsal_t rehearsal;
  assert_int_equal(berth_rehearsal_open(&model, buffers, 2, &rehearsal), BERTH_OK);
  rehearsal.value = lying_value;
  berth_rehearsal_begin(&rehearsal);
  assert_int_equal(berth_rehearsal_operator(&rehearsal, 0), BERTH_OK);
  assert_true(rehearsal.faulty && rehearsal.fault.differs);
  assert_int_equal(rehearsal.fault.byte, 2);
  berth_rehearsal_close(&rehearsal);
}

static void scratch_over_an_operand_is_found(void **state) {
  (void)state;
  static network_t net;
  tensor(&net, 0, BERTH_TYPE_INT8, "4", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "4", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  berth_model_t model = build(&net);
  berth_tflm_buffer_t buffers[3] = {
      {.bytes = 4, .offset = 0, .tensor = 0, .op = UINT32_MAX},
      {.bytes = 4, .offset = 16, .tensor = 1, .op = UINT32_MAX},
      {.bytes = 8, .offset = 32, .tensor = UINT32_MAX, .op = 0},
  };
  assert_true(plays(&model, buffers, 3, NULL));
  for (uint32_t over = 0; over < 2; over++) {
    berth_rehearsal_t seen;
    buffers[2].offset = buffers[over].offset + 3;
    assert_false(plays(&model, buffers, 3, &seen));
    assert_int_equal(seen.fault.by, BERTH_REHEARSAL_SCRATCH);
    assert_int_equal(seen.fault.tensor, over);
    assert_int_equal(seen.fault.byte, 3);
  }
}

static void an_arena_that_is_too_large_is_refused(void **state) {
  (void)state;
  static network_t net;
  tensor(&net, 0, BERTH_TYPE_INT8, "4", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "4", 0);
  op(&net, 0, BERTH_BUILTIN_RELU, "0", "1");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "1";
  berth_model_t model = build(&net);
  berth_tflm_buffer_t buffer = {
      .bytes = 4, .offset = UINT64_C(1) << 40, .tensor = 0, .op = UINT32_MAX};
  berth_rehearsal_t rehearsal;
  assert_int_equal(berth_rehearsal_open(&model, &buffer, 1, &rehearsal), BERTH_ERROR_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stock_plans_of_shipped_models_are_right),
      cmocka_unit_test(every_overlap_of_live_buffers_is_found),
      cmocka_unit_test(a_diagonal_overlap_is_right_down_to_the_byte),
      cmocka_unit_test(another_value_is_a_fault),
      cmocka_unit_test(scratch_over_an_operand_is_found),
      cmocka_unit_test(an_arena_that_is_too_large_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
