/* Safe distances of reference kernels, against the kernels' loops walked byte by byte: at the safe
 * distance no byte is read after it was overwritten, and with one byte less one is. */
#include "test.h"

#include "berth/graph.h"
#include "graph/network.h"
#include "host/map.h"
#include "stock/diagonal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t random_state;
static uint32_t below(uint32_t limit) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % limit;
}

#define BYTES_MAX 65536

/* Memory as a walk sees it: the output begins at 0, the input `distance` bytes behind. */
typedef struct memory {
  bool overwritten[BYTES_MAX];
  uint64_t distance;
  bool clobbered; /* something was read too late */
} memory_t;

static void read_element(memory_t *memory, uint64_t element, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) {
    uint64_t at = memory->distance + element * bytes + i;
    assert_true(at < BYTES_MAX);
    if (memory->overwritten[at]) memory->clobbered = true;
  }
}

static void write_element(memory_t *memory, uint64_t element, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) memory->overwritten[element * bytes + i] = true;
}

/* The loops of the reference kernels: batch, row, column, output channel; then the filter. */
static bool walk(const berth_stencil_t *s, uint64_t distance) {
  static memory_t memory;
  memset(&memory, 0, sizeof memory);
  memory.distance = distance;
  uint64_t made = 0;
  for (uint32_t b = 0; b < s->batches; b++) {
    for (uint32_t y = 0; y < s->output_h; y++) {
      for (uint32_t x = 0; x < s->output_w; x++) {
        for (uint32_t c = 0; c < s->output_c; c++) {
          for (uint32_t i = 0; i < s->filter_h; i++) {
            for (uint32_t k = 0; k < s->filter_w; k++) {
              int64_t row = (int64_t)y * s->stride_h - s->pad_top + (int64_t)i * s->dilation_h;
              int64_t column = (int64_t)x * s->stride_w - s->pad_left + (int64_t)k * s->dilation_w;
              if (row < 0 || column < 0 || row >= s->input_h || column >= s->input_w) continue;
              for (uint32_t ic = 0; ic < s->input_c; ic++) {
                if (s->multiplier > 0 && ic != c / s->multiplier) continue;
                uint64_t pixel = ((uint64_t)b * s->input_h + (uint64_t)row) * s->input_w;
                read_element(&memory, (pixel + (uint64_t)column) * s->input_c + ic,
                             s->input_element);
              }
            }
          }
          write_element(&memory, made++, s->output_element);
        }
      }
    }
  }
  return !memory.clobbered;
}

static void make_side(uint32_t *input, uint32_t *output, uint32_t *filter, uint32_t *stride,
                      uint32_t *dilation, uint32_t *pad) {
  *input = 1 + below(9);
  *filter = 1 + below(4);
  *stride = 1 + below(3);
  *dilation = *stride > 1 ? 1 : 1 + below(3);
  uint32_t span = (*filter - 1) * *dilation + 1;
  if (below(2) == 0 || span > *input) { /* SAME */
    *output = (*input + *stride - 1) / *stride;
    uint32_t needed = (*output - 1) * *stride + span;
    *pad = needed > *input ? (needed - *input) / 2 : 0;
  } else {
    *output = (*input - span) / *stride + 1;
    *pad = 0;
  }
}

static void the_distance_of_a_stencil_is_safe_and_the_smallest(void **state) {
  (void)state;
  uint32_t overlapping = 0, tight = 0;
  random_state = 7;
  for (int n = 0; n < 4000; n++) {
    berth_stencil_t s = {.batches = 1 + below(2), .input_c = 1 + below(5)};
    make_side(&s.input_h, &s.output_h, &s.filter_h, &s.stride_h, &s.dilation_h, &s.pad_top);
    make_side(&s.input_w, &s.output_w, &s.filter_w, &s.stride_w, &s.dilation_w, &s.pad_left);
    static const uint32_t elements[3] = {1, 2, 4};
    s.input_element = elements[below(3)];
    s.output_element = elements[below(3)];
    s.multiplier = below(3);
    s.output_c = s.multiplier > 0 ? s.input_c * s.multiplier : 1 + below(5);
    uint64_t distance = berth_stencil_distance(&s);
    uint64_t output = (uint64_t)s.batches * s.output_h * s.output_w * s.output_c * s.output_element;
    assert_true(walk(&s, distance));
    overlapping += distance < output;
    if (distance == 0) continue;
    if (walk(&s, distance - 1))
      fail_msg("number %d: %u is not the smallest", n, (unsigned)distance);
    tight++;
  }
  assert_true(overlapping > 2000 && tight > 1000);
}

static void large_windows_on_large_images_take_no_time(void **state) {
  (void)state;
  berth_stencil_t s = {.batches = 1,
                       .input_h = 32768,
                       .input_w = 32768,
                       .input_c = 1,
                       .output_h = 1,
                       .output_w = 1,
                       .output_c = 1,
                       .filter_h = 32768,
                       .filter_w = 32768,
                       .stride_h = 1,
                       .stride_w = 1,
                       .dilation_h = 1,
                       .dilation_w = 1,
                       .multiplier = 1,
                       .input_element = 1,
                       .output_element = 1};
  assert_int_equal(berth_stencil_distance(&s), 0); /* by rows and columns, 10^9 windows */
}

/* ---- Operators ------------------------------------------------------------------------------- */

static void elements_that_grow_need_room(void **state) {
  (void)state;
  network_t net = {0};
  tensor(&net, 0, BERTH_TYPE_INT8, "1x4x4x2", 0);
  tensor(&net, 0, BERTH_TYPE_FLOAT32, "1x4x4x2", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x4x4x2", 0);
  tensor(&net, 0, BERTH_TYPE_INT8, "1x4x4x2", 0);
  op(&net, 0, BERTH_BUILTIN_DEQUANTIZE, "0", "1");
  op(&net, 0, BERTH_BUILTIN_QUANTIZE, "1", "2");
  op(&net, 0, BERTH_BUILTIN_TRANSPOSE, "2", "3");
  net.subgraphs[0].inputs = "0", net.subgraphs[0].outputs = "3";
  berth_model_t model = build(&net);
  uint64_t distance = 99;
  assert_true(berth_stock_diagonal(&model, 0, 0, 0, &distance));
  assert_int_equal(distance, 3 * 31);
  assert_true(berth_stock_diagonal(&model, 0, 1, 0, &distance));
  assert_int_equal(distance, 0);
  assert_false(berth_stock_diagonal(&model, 0, 2, 0, &distance));
}

static void a_shipped_models_convolutions_are_the_stencils_that_they_say(void **state) {
  (void)state;
  char message[BERTH_HOST_MESSAGE];
  berth_host_map_t map;
  berth_model_t model;
  assert_int_equal(berth_host_open_model(BERTH_SOURCE_DIR
                                         "/models/mobilenet_v1_0.25_96_int8.tflite",
                                         &map, &model, message),
                   BERTH_OK);
  uint32_t known = 0, operators = berth_model_subgraph(&model, 0).operator_count;
  for (uint32_t i = 0; i < operators; i++) {
    berth_operator_t what = berth_model_operator(&model, 0, i);
    uint64_t distance;
    if (!berth_stock_diagonal(&model, 0, i, 0, &distance)) continue;
    known++;
    if (what.code != BERTH_BUILTIN_CONV_2D || i == 0) continue;
    /* 1x1: a pixel's last output is made of that pixel; the distance is that of its channels. */
    berth_tensor_t from = berth_model_tensor(&model, 0, (uint32_t)berth_vector_int(what.inputs, 0));
    berth_tensor_t to = berth_model_tensor(&model, 0, (uint32_t)berth_vector_int(what.outputs, 0));
    int64_t pixels = (int64_t)berth_vector_int(to.shape, 1) * berth_vector_int(to.shape, 2);
    int64_t in = berth_vector_int(from.shape, 3), out = berth_vector_int(to.shape, 3);
    int64_t last = (pixels - 1) * (out - in) + out - 1;
    assert_int_equal(distance, last > out - 1 ? last : out - 1);
  }
  assert_true(known > 25);
  berth_host_unmap(&map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_distance_of_a_stencil_is_safe_and_the_smallest),
      cmocka_unit_test(large_windows_on_large_images_take_no_time),
      cmocka_unit_test(elements_that_grow_need_room),
      cmocka_unit_test(a_shipped_models_convolutions_are_the_stencils_that_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
