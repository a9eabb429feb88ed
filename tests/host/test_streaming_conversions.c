/* Paddings and conversions of type never exist whole in a streamed network: PAD, PADV2, MIRROR_PAD
 * of the width, QUANTIZE, DEQUANTIZE and CAST, at the beginning, in the middle and at the end of
 * it. What such an operator reads is one row, pushed or made, and what it makes are the rows of the
 * window that reads it, or one that is delivered: counted here from the windows' definition. The
 * smallest peak is below either of its tensors. And in the reference data, where such a tensor is
 * whole in the plan with the smallest peak, though nobody needs it so, it does not make the peak:
 * with a row in its place the peak would be smaller by less than an eighth of it.
 */
#include "run/random_network.h"

#include "host/csv.h"
#include "host/map.h"
#include "host/streaming_order.h"
#include "host/streaming_verify.h"
#include <stdio.h>
#include <unistd.h>

#define HEIGHT   160
#define CHANNELS 4

/* ---- Networks -------------------------------------------------------------------------------- */

typedef enum place { BEGINNING, MIDDLE, END, PLACES } place_t;

/* Who reads what the operator makes. */
static const struct reader {
  int32_t filter, stride, dilation; /* filter 0: a product, element by element */
  bool pool;
  uint32_t rows; /* that one output row needs */
} readers[] = {
    {3, 1, 1, false, 3}, {5, 1, 2, false, 9}, {3, 2, 1, true, 3},
    {2, 2, 1, false, 2}, {0, 1, 1, false, 1},
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

static int32_t put_conv(random_network_t *net, int32_t from, int32_t channels, int32_t filter,
                        int32_t stride, int32_t dilation) {
  const int32_t *in = net->tensors[from].dims;
  int32_t h = random_length(in[1], filter, stride, dilation, true),
          w = random_length(in[2], 3, 1, 1, true);
  int32_t weights = random_weights(net, 4, (int32_t[]){channels, filter, 3, in[3]}, 0),
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
  return reader->pool
             ? put_pool(net, from, reader->filter, reader->stride)
             : put_conv(net, from, CHANNELS, reader->filter, reader->stride, reader->dilation);
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

static void begin(random_network_t *net, berth_tensor_type_t type) {
  net->tensor_count = net->op_count = net->constant_bytes = 0;
  net->state = 1;
  net->type = type;
}

static void save(random_network_t *net, const char *path) {
  random_emit(net, 1);
  FILE *stream = fopen(path, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(net->file.bytes, 1, net->file.size, stream), net->file.size);
  assert_int_equal(fclose(stream), 0);
}

static built_t build(random_network_t *net, const struct kind *kind, place_t place,
                     const struct reader *reader, const char *path) {
  begin(net, kind->from);
  int32_t at = random_activation(net, HEIGHT, 9, CHANNELS);
  if (place != BEGINNING) at = put_pool(net, put_conv(net, at, CHANNELS, 3, 1, 1), 2, 1);
  built_t built = {.read = (uint32_t)at};
  at = put_kind(net, at, kind);
  built.made = (uint32_t)at;
  if (place != END) put_conv(net, put_reader(net, at, reader), CHANNELS, 3, 2, 1);
  save(net, path);
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
  free(net);
}

/* The smallest peak of the file at `path`, and in which order. */
static uint64_t peak_of(bool keep_order, bool *reordered) {
  berth_complaint_t complaint;
  berth_subject_t subject;
  berth_streaming_t streaming;
  const berth_subject_options_t options = {.keep_foldable = false};
  const berth_streaming_options_t wanted = {.mode = BERTH_STREAMING_MAX, .keep_order = keep_order};
  assert_int_equal(berth_streaming_subject_open(path, &options, &wanted, &subject, &complaint),
                   BERTH_OK);
  assert_int_equal(berth_streaming_make(&subject, &wanted, &streaming, &complaint), BERTH_OK);
  uint64_t peak = place_plan(&subject, &streaming);
  *reordered = subject.order != NULL;
  berth_subject_close(&subject);
  berth_streaming_free(&streaming);
  return peak;
}

/* A skip with a PAD to four times the channels, over two operators that are whole: what waits is
 * what the PAD reads. */
static void a_padding_on_a_skip_is_made_when_it_is_needed(void **state) {
  (void)state;
  random_network_t *net = malloc(sizeof *net);
  assert_non_null(net);
  begin(net, BERTH_TYPE_INT8);
  const int32_t pads[8] = {0, 0, 0, 0, 0, 0, 0, 3 * CHANNELS};
  int32_t at = put_conv(net, random_activation(net, HEIGHT, 9, CHANNELS), CHANNELS, 3, 1, 1);
  int32_t paddings =
      random_constant(net, (random_tensor_t){.type = BERTH_TYPE_INT32, .rank = 2, .dims = {4, 2}},
                      pads, sizeof pads);
  random_op_t *op = random_op(net, BERTH_BUILTIN_PAD);
  random_reads(net, op, at);
  random_reads(net, op, paddings);
  int32_t padded = random_writes(op, random_activation(net, HEIGHT, 9, 4 * CHANNELS));
  at = random_transpose(net, random_transpose(net, at));
  at = put_conv(net, at, 4 * CHANNELS, 3, 1, 1);
  at = random_binary(net, at, &padded, 1);
  put_pool(net, at, 4, 4);
  save(net, path);
  bool reordered, file_reordered;
  uint64_t files = peak_of(true, &file_reordered), best = peak_of(false, &reordered);
  uint64_t unit = HEIGHT * 9 * CHANNELS; /* what the PAD reads, and each of the two */
  assert_true(reordered && !file_reordered);
  assert_true(best == 3 * unit && best < files);
  free(net);
}

/* ---- The reference data ---------------------------------------------------------------------- */

static const char *shared(void) {
  const char *named = getenv("BERTH_SHARED");
  return named != NULL ? named : BERTH_SOURCE_DIR "/../shared";
}

static bool is_kind(berth_builtin_t code) {
  for (size_t k = 0; k < KINDS; k++) {
    if (kinds[k].code == code) return true;
  }
  return false;
}

/* Does the caller want the tensor whole, or somebody who reads it all of it at once? */
static bool is_wanted_whole(const berth_subject_t *subject, const berth_streaming_t *streaming,
                            bool pulled, uint32_t tensor) {
  if (!pulled && berth_vector_holds(berth_model_subgraph(&subject->model, 0).outputs, tensor)) {
    return true;
  }
  uint32_t count = berth_model_subgraph(&subject->model, 0).operator_count;
  for (uint32_t i = 0; i < count; i++) {
    if (!berth_vector_holds(berth_model_operator(&subject->model, 0, i).inputs, tensor)) continue;
    if (streaming->contracts.table[i].kind == BERTH_WHOLE) return true;
  }
  return false;
}

typedef struct counted {
  uint32_t cut, wanted, whole; /* tensors: by rows, whole since wanted so, whole otherwise */
} counted_t;

/* What one such operator makes. If it is whole, it is made as small as one row of it would be, and
 * placed again: that saves no more than a few rows of where it lies over what it is made from. */
static void check_operator(const char *name, uint32_t op, uint64_t peak, bool pulled,
                           berth_subject_t *subject, berth_streaming_t *streaming,
                           counted_t *counted) {
  uint32_t tensor =
      (uint32_t)berth_vector_int(berth_model_operator(&subject->model, 0, op).outputs, 0);
  uint32_t buffer = streaming->buffer_of[tensor], rows = streaming->tensors[tensor].rows;
  if (buffer == UINT32_MAX || rows < 2) return;
  bool cut = streaming->rings[tensor] > 0,
       wanted = is_wanted_whole(subject, streaming, pulled, tensor);
  counted->cut += cut;
  counted->wanted += !cut && wanted;
  counted->whole += !cut && !wanted;
  if (cut || wanted) return;
  uint64_t size = subject->buffers[buffer].size;
  uint64_t least = streaming->tensors[tensor].row_bytes;
  berth_pair_t *pairs = streaming->pairs,
               *kept = malloc((streaming->pair_count + 1) * sizeof *kept);
  assert_non_null(kept);
  memcpy(kept, pairs, streaming->pair_count * sizeof *kept);
  subject->buffers[buffer].size = least;
  for (uint32_t i = 0; i < streaming->pair_count; i++) {
    if (pairs[i].a == buffer && pairs[i].bytes > least) pairs[i].bytes = least;
  }
  berth_complaint_t complaint;
  berth_outcome_t outcome;
  const berth_planning_t planning = {.work_limit = BERTH_STREAMING_WORK};
  assert_int_equal(
      berth_planning_run(&berth_planner_best, &subject->problem, &planning, &outcome, &complaint),
      BERTH_OK);
  if (!outcome.has_plan || outcome.plan.peak + size / 8 < peak) {
    fail_msg("%s: operator %u makes %u bytes whole: the peak, %u, would be %u without", name, op,
             (unsigned)size, (unsigned)peak, (unsigned)outcome.plan.peak);
  }
  berth_outcome_free(&outcome);
  subject->buffers[buffer].size = size;
  memcpy(pairs, kept, streaming->pair_count * sizeof *kept);
  free(kept);
}

static void check_model(const char *name, const char *file, const berth_streaming_options_t *wanted,
                        counted_t *counted) {
  berth_complaint_t complaint;
  berth_subject_t subject;
  berth_streaming_t streaming;
  const berth_subject_options_t options = {.keep_foldable = false};
  if (berth_streaming_subject_open(file, &options, wanted, &subject, &complaint) != BERTH_OK ||
      berth_streaming_make(&subject, wanted, &streaming, &complaint) != BERTH_OK) {
    fail_msg("%s", complaint.text);
  }
  uint64_t peak = place_plan(&subject, &streaming);
  for (uint32_t i = 0; i < streaming.plan.step_count; i++) {
    if (!is_kind(berth_model_operator(&subject.model, 0, i).code)) continue;
    check_operator(name, i, peak, wanted->pull_outputs, &subject, &streaming, counted);
  }
  berth_subject_close(&subject);
  berth_streaming_free(&streaming);
}

/* Inputs and outputs are whole. */
static const berth_streaming_options_t whole_ends = {.mode = BERTH_STREAMING_MAX};

/* Without folding: does the model have such an operator at all? */
static bool has_kind(const char *file) {
  berth_subject_t subject;
  bool has = false;
  open_subject(file, &subject);
  for (uint32_t i = 0; i < subject.problem.buffer_count && !has; i++) {
    const berth_label_t *label = &subject.labels[i];
    if (label->subgraph != 0) continue;
    const berth_graph_tensor_t *tensor =
        &subject.graph.tensors[subject.graph.bases[0] + label->tensor];
    has = tensor->producer != BERTH_NOBODY &&
          is_kind(berth_model_operator(&subject.model, 0, tensor->producer).code);
  }
  berth_subject_close(&subject);
  return has;
}

static void none_makes_the_peak_of_a_real_model(void **state) {
  (void)state;
  char file[1024], name[256], message[BERTH_HOST_MESSAGE];
  snprintf(file, sizeof file, "%s/corpus/figures.csv", shared());
  berth_host_map_t table;
  if (berth_host_map(file, &table, message) != BERTH_OK) {
    print_message("%s\n", message);
    skip();
  }
  berth_csv_t csv = berth_csv_over(table.data, table.size);
  berth_csv_field_t row[32];
  size_t count;
  counted_t counted = {0, 0, 0};
  assert_int_equal(berth_csv_row(&csv, row, 32, &count), BERTH_CSV_ROW);
  while (berth_csv_row(&csv, row, 32, &count) == BERTH_CSV_ROW) {
    assert_true(row[0].length < sizeof name);
    berth_csv_copy(row[0], name);
    snprintf(file, sizeof file, "%s/corpus/%s/model.tflite", shared(), name);
    if (!has_kind(file)) continue;
    check_model(name, file, &whole_ends, &counted);
    check_model(name, file, &smallest, &counted);
  }
  berth_host_unmap(&table);
  print_message("%u tensors by rows, %u whole as they are wanted, %u whole beside the peak\n",
                counted.cut, counted.wanted, counted.whole);
  assert_true(counted.cut > 0);
}

static int make_path(void **state) {
  (void)state;
  int handle = mkstemp(path);
  return handle < 0 ? -1 : close(handle);
}

static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_keeps_the_rows_of_its_readers_window_wherever_it_stands),
      cmocka_unit_test(a_padding_on_a_skip_is_made_when_it_is_needed),
      cmocka_unit_test(none_makes_the_peak_of_a_real_model),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
