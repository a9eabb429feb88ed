/* The advisers: what is worth trying on a model, topic by topic. Each one proposes changes; the
 * engine (advice.c) plans them and keeps those that save something.
 *
 * To add one: a function here or elsewhere, and a line in the table at the end.
 */
#include "host/advice.h"
#include "host/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TENSORS_TRIED 3u              /* float tensors of the peak that are tried alone */
#define OUTPUTS_TRIED 16u             /* outputs that are tried alone */
#define SEARCH_WORK   UINT64_C(50000) /* for runs to stream: a tenth of a second */

static bool is_float(berth_tensor_type_t type) {
  return type == BERTH_TYPE_FLOAT32 || type == BERTH_TYPE_FLOAT16;
}

/* ---- Alignment ------------------------------------------------------------------------------- */

static berth_status_t advise_alignment(berth_advising_t *advising) {
  static const uint32_t alignments[] = {4, 8, 16, 64};
  uint32_t now = advising->settings->subject.align != 0 ? advising->settings->subject.align : 16;
  berth_status_t status = BERTH_OK;
  for (size_t i = 0; i < sizeof alignments / sizeof alignments[0] && status == BERTH_OK; i++) {
    if (alignments[i] == now) continue;
    char what[BERTH_ADVICE_TEXT], how[64];
    berth_settings_t changed = *advising->settings;
    changed.subject.align = alignments[i];
    snprintf(what, sizeof what, "align tensors to %" PRIu32 " bytes instead of %" PRIu32,
             alignments[i], now);
    snprintf(how, sizeof how, "--align %" PRIu32, alignments[i]);
    status = berth_advise_replan(advising, &changed, what, how);
  }
  return status;
}

/* ---- Types ----------------------------------------------------------------------------------- */

/* The largest float tensors that are live at the peak, alone: which one would be worth a mixed
 * precision? */
static berth_status_t try_tensors(berth_advising_t *advising) {
  const berth_subject_t *subject = advising->subject;
  uint64_t below = UINT64_MAX;
  uint32_t after = 0;
  for (uint32_t n = 0; n < TENSORS_TRIED; n++) {
    uint32_t best = BERTH_NOBODY;
    for (uint32_t i = 0; i < subject->problem.buffer_count; i++) {
      const berth_buffer_t *buffer = &subject->problem.buffers[i];
      const berth_label_t *label = &subject->labels[i];
      if (label->tensor == BERTH_NOBODY || label->subgraph != 0 || advising->step < buffer->first ||
          advising->step > buffer->last ||
          !is_float(berth_model_tensor(&subject->model, 0, label->tensor).type)) {
        continue;
      }
      bool left = buffer->size < below || (buffer->size == below && i > after);
      if (left && (best == BERTH_NOBODY || buffer->size > subject->problem.buffers[best].size)) {
        best = i;
      }
    }
    if (best == BERTH_NOBODY) return BERTH_OK;
    below = subject->problem.buffers[best].size;
    after = best;
    char index[16], what[BERTH_ADVICE_TEXT], how[64];
    snprintf(index, sizeof index, "%" PRIu32, subject->labels[best].tensor);
    const char *names[1] = {index};
    berth_settings_t changed = *advising->settings;
    changed.subject.what_if.int8_tensors = names;
    changed.subject.what_if.int8_count = 1;
    snprintf(what, sizeof what, "int8 instead of float for tensor %s alone", index);
    snprintf(how, sizeof how, "--assume int8:%s", index);
    berth_status_t status = berth_advise_replan(advising, &changed, what, how);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static berth_status_t advise_type(berth_advising_t *advising) {
  if (advising->settings->subject.what_if.int8 ||
      advising->settings->subject.what_if.int8_count > 0)
    return BERTH_OK;
  berth_settings_t changed = *advising->settings;
  changed.subject.what_if.int8 = true;
  berth_status_t status = berth_advise_replan(
      advising, &changed, "int8 instead of float for all tensors", "--assume int8");
  return status == BERTH_OK ? try_tensors(advising) : status;
}

/* ---- Resolution and batch -------------------------------------------------------------------- */

/* What --set-shape calls an input: its name, if that is a simple one and means no other. */
static void name_input(const berth_model_t *model, uint32_t input, berth_text_t name,
                       char out[64]) {
  bool simple = name.length > 0 && name.length < 64 && name.data[0] != '-';
  for (uint32_t i = 0; i < name.length && simple; i++) {
    simple = name.data[i] > ' ' && name.data[i] < 127 && strchr("='\"\\", name.data[i]) == NULL;
  }
  snprintf(out, 64, "%.*s", simple ? (int)name.length : 0, name.data);
  if (!simple || berth_input_named(model, out) != input) snprintf(out, 64, "%" PRIu32, input);
}

static berth_status_t try_shape(berth_advising_t *advising, uint32_t input,
                                const berth_tensor_t *tensor, const int32_t *dims,
                                const char *what) {
  char name[64], how[BERTH_ADVICE_TEXT];
  berth_named_shape_t shape = {.name = name, .rank = tensor->shape.count};
  name_input(&advising->subject->model, input, tensor->name, name);
  size_t used = (size_t)snprintf(how, sizeof how, "--set-shape %s=", name);
  for (uint32_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = dims[i];
    used +=
        (size_t)snprintf(how + used, sizeof how - used, "%s%" PRId32, i > 0 ? "," : "", dims[i]);
  }
  berth_settings_t changed = *advising->settings;
  changed.subject.what_if.shapes = &shape;
  changed.subject.what_if.shape_count = 1;
  return berth_advise_replan(advising, &changed, what, how);
}

/* An image input in three quarters and half of its size, in steps of 32 (16 for small ones), which
 * networks that halve it again and again can take. */
static berth_status_t try_resolutions(berth_advising_t *advising, uint32_t input,
                                      const berth_tensor_t *tensor) {
  int32_t dims[4];
  if (tensor->shape.count != 4) return BERTH_OK;
  for (uint32_t i = 0; i < 4; i++) dims[i] = berth_vector_int(tensor->shape, i);
  int32_t height = dims[1], width = dims[2], last = height;
  if (height < 32 || width < 32 || dims[3] > 4) return BERTH_OK;
  int32_t unit = height < 128 ? 16 : 32;
  for (int32_t quarters = 3; quarters >= 2; quarters--) {
    int32_t wanted = (int32_t)((int64_t)height * quarters / 4 / unit * unit);
    if (wanted <= 0 || wanted >= last) continue;
    last = wanted;
    dims[1] = wanted;
    dims[2] = height == width ? wanted : (int32_t)((int64_t)width * wanted / height / unit * unit);
    if (dims[2] <= 0) continue;
    char what[BERTH_ADVICE_TEXT];
    snprintf(what, sizeof what, "images of %" PRId32 "x%" PRId32 " instead of %" PRId32 "x%" PRId32,
             dims[1], dims[2], height, width);
    berth_status_t status = try_shape(advising, input, tensor, dims, what);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static berth_status_t try_batch(berth_advising_t *advising, uint32_t input,
                                const berth_tensor_t *tensor) {
  int32_t dims[BERTH_RANK_MAX];
  if (tensor->shape.count < 2 || tensor->shape.count > BERTH_RANK_MAX) return BERTH_OK;
  for (uint32_t i = 0; i < tensor->shape.count; i++) dims[i] = berth_vector_int(tensor->shape, i);
  if (dims[0] <= 1) return BERTH_OK;
  char what[BERTH_ADVICE_TEXT];
  snprintf(what, sizeof what, "a batch of 1 instead of %" PRId32, dims[0]);
  dims[0] = 1;
  return try_shape(advising, input, tensor, dims, what);
}

/* Asks about each input that is there. */
static berth_status_t each_input(berth_advising_t *advising,
                                 berth_status_t (*ask)(berth_advising_t *, uint32_t,
                                                       const berth_tensor_t *)) {
  const berth_model_t *model = &advising->subject->model;
  berth_vector_t inputs = berth_model_subgraph(model, 0).inputs;
  berth_status_t status = BERTH_OK;
  if (advising->settings->subject.what_if.shape_count > 0) return BERTH_OK;
  for (uint32_t i = 0; i < inputs.count && status == BERTH_OK; i++) {
    int32_t index = berth_vector_int(inputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    berth_tensor_t tensor = berth_model_tensor(model, 0, (uint32_t)index);
    status = ask(advising, i, &tensor);
  }
  return status;
}

static berth_status_t advise_shape(berth_advising_t *advising) {
  return each_input(advising, try_resolutions);
}

static berth_status_t advise_batch(berth_advising_t *advising) {
  return each_input(advising, try_batch);
}

/* ---- Inputs and the boundary between floats and integers ------------------------------------- */

static berth_status_t advise_inputs(berth_advising_t *advising) {
  const berth_subject_options_t *subject = &advising->settings->subject;
  if (!subject->keep_inputs || subject->exact_sizes) return BERTH_OK; /* TFLite always keeps them */
  berth_settings_t changed = *advising->settings;
  changed.subject.keep_inputs = false;
  return berth_advise_replan(advising, &changed,
                             "without --keep-inputs: let inputs go after their last reader", "");
}

static berth_status_t advise_boundary(berth_advising_t *advising) {
  berth_settings_t changed = *advising->settings;
  berth_status_t status = BERTH_OK;
  if (!changed.subject.what_if.quantized_inputs) {
    changed.subject.what_if.quantized_inputs = true;
    status = berth_advise_replan(advising, &changed,
                                 "let the application quantize the inputs, and drop their QUANTIZE",
                                 "--assume quantized-inputs");
  }
  changed = *advising->settings;
  if (status == BERTH_OK && !changed.subject.what_if.quantized_outputs) {
    changed.subject.what_if.quantized_outputs = true;
    status = berth_advise_replan(
        advising, &changed, "let the application dequantize the outputs, and drop their DEQUANTIZE",
        "--assume quantized-outputs");
  }
  return status;
}

/* ---- Dynamic tensors ------------------------------------------------------------------------- */

/* A tensor whose own producer leaves its size open: with the shape that the file has for it (1 for
 * what is open), it is planned. The peak that is known grows; what is allocated at run time goes.
 */
static berth_status_t try_fixed(berth_advising_t *advising, const berth_graph_tensor_t *tensor) {
  berth_tensor_t info = berth_model_tensor(&advising->subject->model, 0, tensor->tensor);
  if (info.shape.count == 0 || info.shape.count > BERTH_RANK_MAX) return BERTH_OK;
  char name[32], what[BERTH_ADVICE_TEXT], how[BERTH_ADVICE_TEXT];
  snprintf(name, sizeof name, "tensor:%" PRIu32, tensor->tensor);
  berth_named_shape_t shape = {.name = name, .rank = info.shape.count};
  size_t used = (size_t)snprintf(how, sizeof how, "--set-shape %s=", name);
  for (uint32_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = berth_vector_int(info.shape, i);
    used += (size_t)snprintf(how + used, sizeof how - used, "%s%" PRId32, i > 0 ? "," : "",
                             shape.dims[i]);
  }
  berth_settings_t changed = *advising->settings;
  changed.subject.what_if.shapes = &shape;
  changed.subject.what_if.shape_count = 1;
  snprintf(what, sizeof what,
           "a fixed shape for tensor %" PRIu32 ": planned, instead of allocated at run time",
           tensor->tensor);
  return berth_advise_always(advising, &changed, what, how);
}

static berth_status_t advise_dynamic(berth_advising_t *advising) {
  const berth_graph_t *graph = &advising->subject->graph;
  berth_status_t status = BERTH_OK;
  if (advising->settings->subject.what_if.shape_count > 0) return BERTH_OK;
  for (uint32_t i = 0; i < graph->tensor_count && status == BERTH_OK; i++) {
    const berth_graph_tensor_t *tensor = &graph->tensors[i];
    bool begins = tensor->cause == BERTH_CAUSE_DATA || tensor->cause == BERTH_CAUSE_RANK;
    if (tensor->allocation == BERTH_ALLOCATION_DYNAMIC && begins && tensor->subgraph == 0) {
      status = try_fixed(advising, tensor);
    }
  }
  return status;
}

/* ---- What nobody needs ----------------------------------------------------------------------- */

/* Outputs that the model itself reads on are suspicious: somebody wanted to look at them, or the
 * conversion kept every tensor. The others are tried one by one where there are several. */
static berth_status_t advise_outputs(berth_advising_t *advising) {
  const berth_subject_t *subject = advising->subject;
  berth_vector_t outputs = berth_model_subgraph(&subject->model, 0).outputs;
  static const char *const numbers[OUTPUTS_TRIED] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                                     "8", "9", "10", "11", "12", "13", "14", "15"};
  if (advising->settings->subject.what_if.dropped_count > 0 || outputs.count < 2) return BERTH_OK;
  uint32_t inner_count = 0;
  berth_status_t status = BERTH_OK;
  for (uint32_t i = 0; i < outputs.count && status == BERTH_OK; i++) {
    int32_t index = berth_vector_int(outputs, i);
    if (index == BERTH_NO_TENSOR) continue;
    bool inner = subject->graph.tensors[subject->graph.bases[0] + (uint32_t)index].reader_count > 0;
    inner_count += inner;
    if (i >= OUTPUTS_TRIED) continue;
    char what[BERTH_ADVICE_TEXT], one[64], name[96];
    berth_text_t text = berth_model_tensor(&subject->model, 0, (uint32_t)index).name;
    berth_settings_t changed = *advising->settings;
    changed.subject.what_if.dropped = &numbers[i];
    changed.subject.what_if.dropped_count = 1;
    snprintf(what, sizeof what, "do without output %s (%s)%s", numbers[i],
             berth_printable(text.data, text.length, 40, name, sizeof name),
             inner ? ", which the model itself reads on" : "");
    snprintf(one, sizeof one, "--drop-output %s", numbers[i]);
    status = berth_advise_replan(advising, &changed, what, one);
  }
  if (status != BERTH_OK || inner_count < 2) return status;
  static const char *const all_inner[] = {"inner"};
  berth_settings_t changed = *advising->settings;
  changed.subject.what_if.dropped = all_inner;
  changed.subject.what_if.dropped_count = 1;
  char what[BERTH_ADVICE_TEXT];
  snprintf(what, sizeof what, "do without the %" PRIu32 " outputs that the model itself reads on",
           inner_count);
  return berth_advise_replan(advising, &changed, what, "--drop-output inner");
}

static berth_status_t advise_unused(berth_advising_t *advising) {
  if (advising->settings->subject.what_if.drop_unused) return BERTH_OK;
  berth_settings_t changed = *advising->settings;
  changed.subject.what_if.drop_unused = true;
  return berth_advise_replan(advising, &changed,
                             "drop operators (and variables) whose results nobody uses",
                             "--drop-unused");
}

/* What `berth optimize` would change in the file. */
static berth_status_t advise_clean(berth_advising_t *advising) {
  if (advising->settings->subject.clean) return BERTH_OK;
  berth_settings_t changed = *advising->settings;
  changed.subject.clean = true;
  return berth_advise_replan(
      advising, &changed,
      "clean up the graph with berth optimize: activations into the operator "
      "before, constants folded, copies dropped",
      "--clean");
}

/* ---- Streaming ------------------------------------------------------------------------------- */

static void drop_line(berth_advices_t *advices, uint32_t index) {
  free(advices->lines[index].command);
  advices->count--;
  memmove(&advices->lines[index], &advices->lines[index + 1],
          (advices->count - index) * sizeof *advices->lines);
}

/* Takes the last line back if one of these topics, but for line `except`, has as small a peak: it
 * would be no news. */
static void drop_if_no_news(berth_advising_t *advising, const char *topic, const char *other,
                            uint32_t except) {
  berth_advices_t *advices = advising->advices;
  uint32_t last = advices->count - 1;
  for (uint32_t i = 0; i < last; i++) {
    const berth_advice_t *line = &advices->lines[i];
    bool meant = strcmp(line->topic, topic) == 0 || strcmp(line->topic, other) == 0;
    if (!meant || i == except || line->peak > advices->lines[last].peak) continue;
    drop_line(advices, last);
    return;
  }
}

/* Tries other orders as well, by itself (streaming_order.h). */
static berth_status_t advise_streaming(berth_advising_t *advising) {
  berth_settings_t changed = *advising->settings;
  advising->searched = 0;
  changed.subject.share = false; /* a streamed plan has its own */
  if (changed.subject.kernels) {
    advising->advices->left_out =
        "to run operators row by row, since such plans have scratch of their own (see it without "
        "--kernels)";
    return BERTH_OK;
  }
  switch (changed.streaming.mode) {
  case BERTH_STREAMING_OFF:
    changed.streaming.mode = BERTH_STREAMING_AUTO;
    return berth_advise_replan(advising, &changed,
                               "run operators row by row where it pays (in Berth's runtime)",
                               "--stream auto");
  case BERTH_STREAMING_AUTO:
    changed.streaming.mode = BERTH_STREAMING_MAX;
    return berth_advise_replan(advising, &changed,
                               "row by row for the smallest peak, in more and smaller pieces",
                               "--stream max");
  default:
    return BERTH_OK;
  }
}

/* Tries one way more to give inputs or to take outputs; no line if it is no better than those
 * before, but for line `except`. */
static berth_status_t try_ends(berth_advising_t *advising, berth_settings_t changed, bool push,
                               bool pull, uint32_t except) {
  uint32_t before = advising->advices->count;
  bool streamed = advising->settings->streaming.mode != BERTH_STREAMING_OFF;
  const char *what = push && pull ? "give inputs and take outputs row by row (in Berth's runtime)"
                     : push       ? "give inputs row by row, as a camera does (in Berth's runtime)"
                                  : "take outputs row by row (in Berth's runtime)";
  char options[64];
  snprintf(options, sizeof options, "%s%s%s%s", streamed ? "" : "--stream auto ",
           push ? "--stream-input" : "", push && pull ? " " : "", pull ? "--stream-output" : "");
  changed.streaming.push_inputs |= push;
  changed.streaming.pull_outputs |= pull;
  berth_status_t status = berth_advise_replan(advising, &changed, what, options);
  if (status == BERTH_OK && advising->advices->count > before) {
    drop_if_no_news(advising, "stream", "stream-ends", except);
  }
  return status;
}

/* Each takes a search more: none if the first one was long, and both ends together first, since one
 * alone saves nothing if they don't. */
static berth_status_t advise_ends(berth_advising_t *advising) {
  berth_settings_t changed = *advising->settings;
  berth_advices_t *advices = advising->advices;
  bool pushed = changed.streaming.push_inputs, pulled = changed.streaming.pull_outputs;
  if (advising->searched > SEARCH_WORK || changed.subject.keep_inputs) return BERTH_OK;
  changed.subject.share = false;
  if (changed.streaming.mode == BERTH_STREAMING_OFF) changed.streaming.mode = BERTH_STREAMING_AUTO;
  if (pushed && pulled) return BERTH_OK;
  if (pushed || pulled) return try_ends(advising, changed, !pushed, !pulled, BERTH_NOBODY);
  uint32_t both = advices->count;
  berth_status_t status = try_ends(advising, changed, true, true, BERTH_NOBODY);
  if (status != BERTH_OK || advices->count == both) return status;
  status = try_ends(advising, changed, true, false, both);
  if (status == BERTH_OK) status = try_ends(advising, changed, false, true, both);
  for (uint32_t i = both + 1; i < advices->count; i++) { /* what asks for less, and saves as much */
    if (advices->lines[i].peak > advices->lines[both].peak) continue;
    drop_line(advices, both);
    break;
  }
  return status;
}

/* ---- Order and shared memory ----------------------------------------------------------------- */

/* What Berth's runtime does by itself, and what `berth optimize` writes for stock TFLM. */
static berth_status_t advise_sharing(berth_advising_t *advising) {
  if (advising->settings->subject.share) return BERTH_OK;
  berth_settings_t changed = *advising->settings;
  changed.subject.share = true;
  changed.subject.overlap = BERTH_OVERLAP_INPLACE;
  return berth_advise_replan(advising, &changed,
                             "write outputs over inputs that nobody reads any more, and view "
                             "instead of copying, where kernels permit it",
                             "--overlap inplace");
}

/* No kernel is known to permit it but TFLM's reference kernels. */
static berth_status_t advise_diagonal(berth_advising_t *advising) {
  if (advising->settings->subject.diagonal) return BERTH_OK;
  berth_settings_t changed = *advising->settings;
  changed.subject.share = changed.subject.diagonal = true;
  changed.subject.overlap = BERTH_OVERLAP_INPLACE;
  return berth_advise_replan(advising, &changed,
                             "let outputs reach into inputs that die (in firmware with TFLM's "
                             "reference kernels only)",
                             "--overlap diagonal");
}

static berth_status_t advise_order(berth_advising_t *advising) {
  if (advising->settings->subject.best_order) return BERTH_OK;
  berth_settings_t changed = *advising->settings;
  changed.subject.best_order = true;
  berth_status_t status =
      berth_advise_replan(advising, &changed, "run the operators in another order", "--order best");
  bool streamed = changed.streaming.mode != BERTH_STREAMING_OFF;
  if (status != BERTH_OK || changed.subject.share || streamed) return status;
  changed.subject.share = true;
  changed.subject.overlap = BERTH_OVERLAP_INPLACE;
  uint32_t before = advising->advices->count;
  status = berth_advise_replan(advising, &changed,
                               "run the operators in another order, outputs over inputs",
                               "--order best --overlap inplace");
  if (status == BERTH_OK && advising->advices->count > before) {
    drop_if_no_news(advising, "order", "overlap", BERTH_NOBODY);
  }
  return status;
}

/* ---- The table ------------------------------------------------------------------------------- */

/* The order counts where savings are equal, and for networks. */
const berth_adviser_t berth_advisers[] = {
    {"overlap", BERTH_ADVICE_FREE, advise_sharing},
    {"order", BERTH_ADVICE_FREE, advise_order},
    {"alignment", BERTH_ADVICE_FREE, advise_alignment},
    {"inputs", BERTH_ADVICE_FREE, advise_inputs},
    {"unused", BERTH_ADVICE_FREE, advise_unused},
    {"clean", BERTH_ADVICE_FREE, advise_clean},
    {"diagonal", BERTH_ADVICE_FREE, advise_diagonal},
    {"stream", BERTH_ADVICE_FREE, advise_streaming},
    {"stream-ends", BERTH_ADVICE_INTERFACE, advise_ends}, /* after the first search */
    {"batch", BERTH_ADVICE_INTERFACE, advise_batch},
    {"boundary", BERTH_ADVICE_INTERFACE, advise_boundary},
    {"outputs", BERTH_ADVICE_INTERFACE, advise_outputs},
    {"dynamic", BERTH_ADVICE_INTERFACE, advise_dynamic},
    {"type", BERTH_ADVICE_NETWORK, advise_type},
    {"shape", BERTH_ADVICE_NETWORK, advise_shape},
    {NULL, BERTH_ADVICE_FREE, NULL}};
