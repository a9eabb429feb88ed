/* Comparing plans: checksums of every operator's outputs, in the order of execution. */
#include "host/compare.h"
#include "host/fill.h"
#include <stdlib.h>
#include <string.h>

/* The checksum of one tensor after one operator. */
typedef struct mark {
  uint32_t subgraph, op, tensor, crc;
} mark_t;

typedef struct trace {
  mark_t *marks;
  size_t count, room;
  bool failed; /* out of memory */
} trace_t;

/* Only runs with reuse skip DEQUANTIZE operators of float16 weights; who reads them is compared. */
static bool may_be_skipped(const berth_model_t *model, uint32_t subgraph,
                           const berth_operator_t *op) {
  if (op->code != BERTH_BUILTIN_DEQUANTIZE || op->inputs.count != 1) return false;
  int32_t from = berth_vector_int(op->inputs, 0);
  return from != BERTH_NO_TENSOR &&
         berth_model_tensor(model, subgraph, (uint32_t)from).type == BERTH_TYPE_FLOAT16;
}

static bool observe(void *user, const berth_interpreter_t *interpreter, uint32_t subgraph,
                    uint32_t op) {
  trace_t *trace = user;
  berth_operator_t what = berth_model_operator(interpreter->model, subgraph, op);
  berth_vector_t outputs = what.outputs;
  if (may_be_skipped(interpreter->model, subgraph, &what)) return true;
  for (uint32_t i = 0; i < outputs.count; i++) {
    int32_t tensor = berth_vector_int(outputs, i);
    if (tensor == BERTH_NO_TENSOR) continue;
    berth_value_t value = berth_interpreter_tensor(interpreter, subgraph, (uint32_t)tensor);
    if (value.data == NULL) continue;
    if (trace->count == trace->room) {
      trace->room = trace->room > 0 ? trace->room * 2 : 256;
      mark_t *grown = realloc(trace->marks, trace->room * sizeof *grown);
      if (grown == NULL) {
        trace->failed = true;
        return false;
      }
      trace->marks = grown;
    }
    trace->marks[trace->count++] =
        (mark_t){subgraph, op, (uint32_t)tensor, berth_crc32(value.data, value.bytes)};
  }
  return true;
}

/* Rows of a streamed plan's tensors are gone before anybody could compare them; with another order,
 * the two runs have not the same tensors at the same time. */
static berth_status_t refuse_streamed(const berth_runner_t *runner, berth_complaint_t *complaint) {
  bool streamed = runner->streaming != NULL, ordered = runner->ordered.order != NULL;
  if (runner->options.plan_path == NULL || !(streamed || ordered)) return BERTH_OK;
  berth_complain(complaint, "%s: %s", runner->options.plan_path,
                 streamed
                     ? "is a streamed plan, whose tensors are never whole"
                     : "has another order of operators than the file, so that operators cannot "
                       "be compared one by one; berth run --plan --guard checks it");
  return BERTH_ERROR_UNSUPPORTED;
}

/* One run; the offsets that it used, if `offsets` is not NULL (of the main subgraph). */
static berth_status_t run(const char *path, const berth_runner_options_t *options, uint64_t seed,
                          trace_t *trace, int32_t *offsets, uint32_t offset_count,
                          berth_complaint_t *complaint) {
  berth_runner_options_t own = *options;
  berth_runner_t runner;
  trace->count = 0;
  own.observe = observe;
  own.user = trace;
  berth_status_t status = berth_runner_open(path, &own, &runner, complaint);
  if (status != BERTH_OK) return status;
  status = refuse_streamed(&runner, complaint);
  if (status != BERTH_OK) {
    berth_runner_close(&runner);
    return status;
  }
  uint32_t inputs = berth_model_subgraph(&runner.model, 0).inputs.count;
  for (uint32_t i = 0; i < inputs; i++) {
    berth_value_t value = berth_interpreter_input(&runner.interpreter, i);
    if (value.data != NULL && !value.constant) berth_fill_random(&value, &seed);
  }
  for (uint32_t i = 0; i < offset_count; i++) {
    uint32_t offset = berth_interpreter_offset(&runner.interpreter, 0, i);
    offsets[i] = offset >= INT32_MAX ? -1 : (int32_t)offset;
  }
  status = berth_interpreter_invoke(&runner.interpreter);
  if (trace->failed) status = BERTH_ERROR_MEMORY;
  if (status != BERTH_OK) berth_complain(complaint, "%s: %s", path, berth_status_text(status));
  berth_runner_close(&runner);
  return status;
}

static bool first_difference(const trace_t *a, const trace_t *b, berth_comparison_t *comparison) {
  size_t count = a->count < b->count ? a->count : b->count;
  comparison->tensors = count;
  for (size_t i = 0; i < count; i++) {
    if (memcmp(&a->marks[i], &b->marks[i], sizeof a->marks[i]) == 0) continue;
    comparison->subgraph = b->marks[i].subgraph;
    comparison->op = b->marks[i].op;
    comparison->tensor = b->marks[i].tensor;
    return true;
  }
  return a->count != b->count;
}

/* Moves tensors out one by one, each beyond everything else, for as long as a difference stays. */
static berth_status_t minimise(const char *path, const berth_runner_options_t *options,
                               uint64_t seed, const trace_t *expected, int32_t *offsets,
                               uint32_t count, berth_comparison_t *comparison,
                               berth_complaint_t *complaint) {
  berth_host_map_t map;
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE];
  berth_status_t status = berth_host_open_model(path, &map, &model, message);
  if (status != BERTH_OK) return status;
  uint64_t end = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t bytes = 0;
    berth_tensor_t tensor = berth_model_tensor(&model, 0, i);
    if (berth_tensor_bytes(tensor.type, tensor.shape, &bytes) != BERTH_OK) bytes = 0;
    if (offsets[i] >= 0 && (uint64_t)offsets[i] + bytes > end) end = (uint64_t)offsets[i] + bytes;
  }
  berth_runner_options_t moved = *options;
  trace_t trace = {NULL, 0, 0, false};
  moved.interpreter.offsets = offsets;
  moved.interpreter.offset_count = count;
  moved.interpreter.trust_offsets = true;
  moved.planner = NULL;
  moved.plan_path = NULL;
  for (uint32_t i = 0; i < count && status == BERTH_OK; i++) {
    uint64_t bytes = 0;
    berth_tensor_t tensor = berth_model_tensor(&model, 0, i);
    if (offsets[i] < 0) continue;
    if (berth_tensor_bytes(tensor.type, tensor.shape, &bytes) != BERTH_OK) continue;
    uint64_t place = (end + 4095) & ~(uint64_t)4095;
    if (place + bytes > INT32_MAX) continue;
    int32_t before = offsets[i];
    berth_comparison_t again;
    offsets[i] = (int32_t)place;
    status = run(path, &moved, seed, &trace, NULL, 0, complaint);
    comparison->runs++;
    if (status != BERTH_OK) break;
    if (first_difference(expected, &trace, &again)) {
      end = place + bytes; /* it is not needed for the difference */
    } else {
      offsets[i] = before;
      comparison->culprits[comparison->culprit_count++] = i;
    }
  }
  free(trace.marks);
  berth_host_unmap(&map);
  return status;
}

static berth_status_t count_tensors(const char *path, uint32_t *count, uint32_t *subgraphs,
                                    berth_complaint_t *complaint) {
  berth_host_map_t map;
  berth_model_t model;
  char message[BERTH_HOST_MESSAGE];
  berth_status_t status = berth_host_open_model(path, &map, &model, message);
  if (status != BERTH_OK) {
    berth_complain(complaint, "%s: %s", path, message);
    return status;
  }
  *count = berth_model_subgraph(&model, 0).tensor_count;
  *subgraphs = model.subgraph_count;
  berth_host_unmap(&map);
  return BERTH_OK;
}

berth_status_t berth_compare(const char *path, const berth_runner_options_t *options, uint64_t seed,
                             bool find_culprits, berth_comparison_t *comparison,
                             berth_complaint_t *complaint) {
  memset(comparison, 0, sizeof *comparison);
  trace_t apart = {NULL, 0, 0, false}, planned = {NULL, 0, 0, false};
  uint32_t count, subgraphs;
  berth_status_t status = count_tensors(path, &count, &subgraphs, complaint);
  if (status != BERTH_OK) return status;
  int32_t *offsets = malloc((count > 0 ? count : 1) * sizeof *offsets);
  comparison->culprits = malloc((count > 0 ? count : 1) * sizeof *comparison->culprits);
  if (offsets == NULL || comparison->culprits == NULL) {
    berth_complain(complaint, "out of memory");
    status = BERTH_ERROR_MEMORY;
  }
  berth_runner_options_t none = *options;
  none.planner = NULL;
  none.interpreter.no_reuse = true;
  none.interpreter.offsets = NULL;
  none.plan_path = NULL;
  if (status == BERTH_OK) status = run(path, &none, seed, &apart, NULL, 0, complaint);
  if (status == BERTH_OK) status = run(path, options, seed, &planned, offsets, count, complaint);
  if (status == BERTH_OK) {
    comparison->runs = 2;
    comparison->differ = first_difference(&apart, &planned, comparison);
    if (comparison->differ && find_culprits && subgraphs == 1) {
      status = minimise(path, options, seed, &apart, offsets, count, comparison, complaint);
    }
  }
  free(offsets);
  free(apart.marks);
  free(planned.marks);
  if (status != BERTH_OK) berth_comparison_free(comparison);
  return status;
}

void berth_comparison_free(berth_comparison_t *comparison) {
  free(comparison->culprits);
  comparison->culprits = NULL;
}
