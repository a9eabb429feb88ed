/* Paddings and conversions of type never exist whole in a streamed network: PAD, PADV2, MIRROR_PAD
 * of the width, QUANTIZE, DEQUANTIZE and CAST, at the beginning, in the middle and at the end of
 * it. What such an operator reads is one row, pushed or made, and what it makes are the rows of the
 * window that reads it, or one that is delivered: counted here from the windows' definition. The
 * smallest peak is below either of its tensors. And in the reference data, where such a tensor is
 * whole in the plan with the smallest peak, the peak would be no smaller without it.
 */
#include "run/random_network.h"

#include "host/streaming_verify.h"
#include <stdio.h>
#include <unistd.h>

#define HEIGHT 160

/* ---- Networks -------------------------------------------------------------------------------- */

typedef enum place { BEGINNING, MIDDLE, END, PLACES } place_t;

/* Who reads what the operator makes. */
static const struct reader {
  int32_t filter, stride, dilation; /* filter 0: a product, element by element */
  bool pool;
  uint32_t rows; /* that one output row needs */
} readers[] = {
    {3, 1, 1, false, 3}, {5, 1, 2, false, 9}, {3, 2, 1, true, 3}, {2, 2, 1, false, 2},
    {0, 1, 1, false, 1},
};
#define READERS (sizeof readers / sizeof *readers)

static const struct kind {
  const char *name;
  berth_builtin_t code;
  berth_tensor_type_t from, to;
} kinds[] = {
    {"PAD", BERTH_BUILTIN_PAD, BERTH_TYPE_INT8, BERTH_TYPE_INT8},
    {"PADV2", BERTH_BUILTIN_PADV2, BERTH_TYPE_FLOAT32, BERTH_TYPE_FLOAT32},
    {"MIRROR_PAD", BERTH_BUILTIN_MIRROR_PAD, BERTH_TYPE_INT8, BERTH_TYPE_INT8},
    {"QUANTIZE", BERTH_BUILTIN_QUANTIZE, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8},
    {"QUANTIZE anew", BERTH_BUILTIN_QUANTIZE, BERTH_TYPE_UINT8, BERTH_TYPE_INT8},
    {"DEQUANTIZE", BERTH_BUILTIN_DEQUANTIZE, BERTH_TYPE_INT8, BERTH_TYPE_FLOAT32},
    {"CAST", BERTH_BUILTIN_CAST, BERTH_TYPE_FLOAT32, BERTH_TYPE_INT8},
    {"CAST back", BERTH_BUILTIN_CAST, BERTH_TYPE_INT8, BERTH_TYPE_FLOAT32},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static int32_t put_conv(random_network_t *net, int32_t from, int32_t filter, int32_t stride,
                        int32_t dilation) {
  const int32_t *in = net->tensors[from].dims;
  int32_t h = random_length(in[1], filter, stride, dilation, true),
          w = random_length(in[2], 3, 1, 1, true), channels = in[3];
  int32_t weights = random_weights(net, 4, (int32_t[]){channels, filter, 3, channels}, 0),
          bias = random_bias(net, channels);
  random_op_t *op = random_op(net, BERTH_BUILTIN_CONV_2D);
  random_reads(net, op, from);
  random_reads(net, op, weights);
  random_reads(net, op, bias);
  random_option(op, BERTH_CONV_2D_PADDING, 1, BERTH_PADDING_SAME);
  random_option(op, BERTH_CONV_2D_STRIDE_H, 4, stride);
  random_option(op, BERTH_CONV_2D_STRIDE_W, 4, 1);
  random_option(op, BERTH_CONV_2D_DILATION_H, 4, dilation);
  return random_writes(op, random_activation(net, h, w, channels));
}

static int32_t put_pool(random_network_t *net, int32_t from, int32_t filter, int32_t stride) {
  const int32_t *in = net->tensors[from].dims;
  int32_t h = random_length(in[1], filter, stride, 1, false), w = in[2], channels = in[3];
  random_op_t *op = random_op(net, BERTH_BUILTIN_MAX_POOL_2D);
  random_reads(net, op, from);
  random_option(op, BERTH_POOL_2D_PADDING, 1, BERTH_PADDING_VALID);
  random_option(op, BERTH_POOL_2D_STRIDE_H, 4, stride);
  random_option(op, BERTH_POOL_2D_STRIDE_W, 4, 1);
  random_option(op, BERTH_POOL_2D_FILTER_H, 4, filter);
  random_option(op, BERTH_POOL_2D_FILTER_W, 4, 1);
  return random_writes(op, random_activation(net, h, w, channels));
}

static int32_t put_reader(random_network_t *net, int32_t from, const struct reader *reader) {
  if (reader->filter == 0) return random_binary(net, from, NULL, 0);
  return reader->pool ? put_pool(net, from, reader->filter, reader->stride)
                      : put_conv(net, from, reader->filter, reader->stride, reader->dilation);
}

static int32_t put_kind(random_network_t *net, int32_t from, const struct kind *kind) {
  const int32_t *in = net->tensors[from].dims;
  int32_t pads[8] = {0}, h = in[1], w = in[2], channels = in[3], paddings = -1, value = -1;
  bool pad = kind->code == BERTH_BUILTIN_PAD || kind->code == BERTH_BUILTIN_PADV2;
  if (pad) pads[2] = 1, pads[3] = 2;
  if (pad || kind->code == BERTH_BUILTIN_MIRROR_PAD) {
    pads[4] = pads[5] = 2;
    paddings =
        random_constant(net, (random_tensor_t){.type = BERTH_TYPE_INT32, .rank = 2, .dims = {4, 2}},
                        pads, sizeof pads);
  }
  if (kind->code == BERTH_BUILTIN_PADV2) {
    const float half = 0.5f;
    value = random_constant(net, (random_tensor_t){.type = BERTH_TYPE_FLOAT32}, &half, sizeof half);
  }
  random_op_t *op = random_op(net, kind->code);
  random_reads(net, op, from);
  if (paddings >= 0) random_reads(net, op, paddings);
  if (value >= 0) random_reads(net, op, value);
  net->type = kind->to;
  return random_writes(
      op, random_activation(net, h + pads[2] + pads[3], w + pads[4] + pads[5], channels));
}

/* The tensors that the operator reads and makes. */
typedef struct built {
  uint32_t read, made;
} built_t;

static built_t build(random_network_t *net, const struct kind *kind, place_t place,
                     const struct reader *reader, const char *path) {
  net->tensor_count = net->op_count = net->constant_bytes = 0;
  net->state = 1;
  net->type = kind->from;
  int32_t at = random_activation(net, HEIGHT, 9, 4);
  if (place != BEGINNING) at = put_pool(net, put_conv(net, at, 3, 1, 1), 2, 1);
  built_t built = {.read = (uint32_t)at};
  at = put_kind(net, at, kind);
  built.made = (uint32_t)at;
  if (place != END) put_conv(net, put_reader(net, at, reader), 3, 2, 1);
  random_emit(net, 1);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(net->file.bytes, 1, net->file.size, stream), net->file.size);
  assert_int_equal(fclose(stream), 0);
  return built;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static char path[] = "/tmp/berth-conversions-XXXXXX";

static const berth_streaming_options_t smallest = {
    .mode = BERTH_STREAMING_MAX, .push_inputs = true, .pull_outputs = true};

static uint64_t place_plan(berth_subject_t *subject, berth_streaming_t *streaming) {
  berth_complaint_t complaint;
  berth_outcome_t outcome;
  const berth_planning_t planning = {.work_limit = BERTH_STREAMING_WORK};
  if (berth_streaming_plan(streaming, subject, &berth_planner_best, &planning, &outcome,
                           &complaint) != BERTH_OK) {
    fail_msg("%s", complaint.text);
  }
  assert_true(outcome.has_plan);
  uint64_t peak = outcome.plan.peak;
  berth_outcome_free(&outcome);
  return peak;
}

static void open_subject(const char *file, berth_subject_t *subject) {
  berth_complaint_t complaint;
  const berth_subject_options_t options = {.keep_foldable = false};
  if (berth_subject_open(file, &options, subject, &complaint) != BERTH_OK)
    fail_msg("%s", complaint.text);
}

/* Everything as one run, a row at a time. */
static void check_rings(const char *name, const built_t *built, uint32_t expected) {
  berth_complaint_t complaint;
  berth_subject_t subject;
  berth_streaming_t streaming;
  open_subject(path, &subject);
  assert_int_equal(berth_streaming_open(&streaming, &subject, &complaint), BERTH_OK);
  uint32_t steps = berth_model_subgraph(&subject.model, 0).operator_count;
  const berth_stream_run_t run = {
      .last = steps - 1, .block = 1, .push_inputs = UINT32_MAX, .pull_outputs = true};
  assert_int_equal(berth_streaming_set(&streaming, &subject, &run, 1, 16), BERTH_OK);
  if (streaming.rings[built->read] != 1 || streaming.rings[built->made] != expected) {
    fail_msg("%s: keeps %u rows of what it reads and %u of what it makes, not 1 and %u", name,
             streaming.rings[built->read], streaming.rings[built->made], expected);
  }
  berth_subject_close(&subject);
  berth_streaming_free(&streaming);
}

static void check_smallest(const char *name, const built_t *built) {
  berth_complaint_t complaint;
  berth_subject_t subject;
  berth_streaming_t streaming;
  open_subject(path, &subject);
  assert_int_equal(berth_streaming_make(&subject, &smallest, &streaming, &complaint), BERTH_OK);
  uint64_t peak = place_plan(&subject, &streaming);
  const uint32_t both[] = {built->read, built->made};
  for (int i = 0; i < 2; i++) {
    const berth_stream_tensor_t *tensor = &streaming.tensors[both[i]];
    uint64_t bytes = (uint64_t)tensor->rows * tensor->row_bytes;
    uint32_t ring = streaming.rings[both[i]];
    if (ring == 0 || ring >= tensor->rows || peak >= bytes) {
      fail_msg("%s: the plan keeps %u rows of %u, and needs %u bytes where they are %u", name, ring,
               tensor->rows, (unsigned)peak, (unsigned)bytes);
    }
  }
  berth_subject_close(&subject);
  berth_streaming_free(&streaming);
}

static void each_keeps_the_rows_of_its_readers_window_wherever_it_stands(void **state) {
  (void)state;
  random_network_t *net = malloc(sizeof *net);
  assert_non_null(net);
  int handle = mkstemp(path);
  assert_true(handle >= 0);
  close(handle);
  for (size_t k = 0; k < KINDS; k++) {
    for (int place = 0; place < (int)PLACES; place++) {
      for (size_t r = 0; r < (place == END ? 1 : READERS); r++) {
        char name[64];
        snprintf(name, sizeof name, "%s, place %d, reader %u", kinds[k].name, place, (unsigned)r);
        built_t built = build(net, &kinds[k], (place_t)place, &readers[r], path);
        check_rings(name, &built, place == END ? 1 : readers[r].rows);
        check_smallest(name, &built);
      }
    }
  }
  unlink(path);
  free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_keeps_the_rows_of_its_readers_window_wherever_it_stands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
