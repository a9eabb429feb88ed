/* Dropping operators that only copy: RESHAPE between equal shapes, a RESHAPE of a RESHAPE, QUANTIZE
 * between equal quantizations, and pairs that cancel out, such as int8 to uint8 and back.
 *
 * Why the bits are the same: a RESHAPE copies bytes. QUANTIZE with equal parameters rescales by
 * exactly 1. From 8 bits to float and back, q -> (q - z) s -> round(((q - z) s) / s) + z: two
 * roundings of a number below 256 in magnitude stay far below one half. Between int8 and uint8 with
 * equal scale and zero points 128 apart, nothing but 128 is added.
 */
#include "optimize/cleanup.h"
#include "optimize/uses.h"

#include <string.h>

typedef struct job {
  berth_edit_t *edit;
  uint32_t subgraph;
  const berth_use_t *uses;
} job_t;

static berth_edit_operator_t *operator_of(const job_t *job, uint32_t op) {
  return &job->edit->subgraphs[job->subgraph].operators[op];
}

/* The data input and the only output, if there are such. */
static bool ends_of(const job_t *job, uint32_t op, uint32_t *input, uint32_t *output) {
  const berth_edit_operator_t *edited = operator_of(job, op);
  if (edited->inputs.count == 0 || edited->outputs.count != 1) return false;
  if (edited->inputs.values[0] < 0 || edited->outputs.values[0] < 0) return false;
  *input = (uint32_t)edited->inputs.values[0];
  *output = (uint32_t)edited->outputs.values[0];
  return true;
}

static bool is_8_bit(const berth_tensor_t *tensor) {
  return (tensor->type == BERTH_TYPE_INT8 || tensor->type == BERTH_TYPE_UINT8) &&
         tensor->scales.count == 1 && berth_vector_float(tensor->scales, 0) > 0;
}

static int64_t zero_of(const berth_tensor_t *tensor) {
  return tensor->zero_points.count > 0 ? berth_vector_long(tensor->zero_points, 0) : 0;
}

/* int8 and uint8 that stand for the same numbers. */
static bool is_other_sign(const berth_tensor_t *a, const berth_tensor_t *b) {
  if (!is_8_bit(a) || !is_8_bit(b) || a->type == b->type) return false;
  const berth_tensor_t *with_sign = a->type == BERTH_TYPE_INT8 ? a : b;
  const berth_tensor_t *without = a->type == BERTH_TYPE_INT8 ? b : a;
  return memcmp(a->scales.data, b->scales.data, 4) == 0 &&
         zero_of(without) - zero_of(with_sign) == 128;
}

/* The tensor whose bytes the operator's output has, or BERTH_NOBODY. */
static uint32_t copied_from(const job_t *job, uint32_t op) {
  uint32_t input, output, first;
  if (!ends_of(job, op, &input, &output)) return BERTH_NOBODY;
  berth_operator_t file = berth_edit_operator(job->edit, job->subgraph, op);
  berth_tensor_t from = berth_edit_tensor(job->edit, job->subgraph, input);
  berth_tensor_t to = berth_edit_tensor(job->edit, job->subgraph, output);
  if (file.code == BERTH_BUILTIN_RESHAPE) {
    return berth_same_numbers(&from, &to) && berth_same_shape(&from, &to) ? input : BERTH_NOBODY;
  }
  if (file.code != BERTH_BUILTIN_QUANTIZE) return BERTH_NOBODY;
  if (is_8_bit(&from) && berth_same_numbers(&from, &to)) return input;
  uint32_t before = job->uses[input].producer;
  if (before == BERTH_NOBODY || !ends_of(job, before, &first, &input)) return BERTH_NOBODY;
  berth_builtin_t code = berth_edit_operator(job->edit, job->subgraph, before).code;
  berth_tensor_t start = berth_edit_tensor(job->edit, job->subgraph, first);
  if (!is_8_bit(&start) || !berth_same_numbers(&start, &to)) return BERTH_NOBODY;
  bool through_float = code == BERTH_BUILTIN_DEQUANTIZE && from.type == BERTH_TYPE_FLOAT32;
  bool through_sign = code == BERTH_BUILTIN_QUANTIZE && is_other_sign(&start, &from);
  return through_float || through_sign ? first : BERTH_NOBODY;
}

/* A value that stays what it is from when it was written: no variable can change it. */
static bool is_steady(const berth_use_t *use) {
  return !use->variable;
}

static void redirect(berth_edit_subgraph_t *subgraph, uint32_t from, uint32_t to) {
  for (uint32_t op = 0; op < subgraph->operator_count; op++) {
    berth_edit_list_t *inputs = &subgraph->operators[op].inputs;
    for (uint32_t i = 0; i < inputs->count; i++) {
      if (inputs->values[i] == (int32_t)from) inputs->values[i] = (int32_t)to;
    }
  }
}

/* Drops operator `op`, whose output has the bytes of `source`; false: it has to stay. */
static bool drop_copy(job_t *job, uint32_t op, uint32_t source) {
  berth_edit_subgraph_t *subgraph = &job->edit->subgraphs[job->subgraph];
  uint32_t input, output;
  if (!ends_of(job, op, &input, &output)) return false;
  const berth_use_t *from = &job->uses[source], *to = &job->uses[output];
  if (!is_steady(from) || !is_steady(to) || to->mentioned) return false;
  if (!to->output) {
    redirect(subgraph, output, source);
  } else {
    /* The output must be written: by whoever writes the source, if that is no output as well. */
    if (from->producer == BERTH_NOBODY || from->output || from->input || from->mentioned ||
        source != input) {
      return false;
    }
    berth_edit_list_t *outputs = &operator_of(job, from->producer)->outputs;
    for (uint32_t i = 0; i < outputs->count; i++) {
      if (outputs->values[i] == (int32_t)source) outputs->values[i] = (int32_t)output;
    }
    redirect(subgraph, source, output);
  }
  berth_edit_drop_operator(job->edit, job->subgraph, op);
  return true;
}

/* A RESHAPE of a RESHAPE's output may as well read what that one reads. */
static bool skip_reshape(job_t *job, uint32_t op) {
  uint32_t input, output, first, middle;
  if (berth_edit_operator(job->edit, job->subgraph, op).code != BERTH_BUILTIN_RESHAPE) return false;
  if (!ends_of(job, op, &input, &output)) return false;
  uint32_t before = job->uses[input].producer;
  if (before == BERTH_NOBODY || !ends_of(job, before, &first, &middle)) return false;
  if (berth_edit_operator(job->edit, job->subgraph, before).code != BERTH_BUILTIN_RESHAPE) {
    return false;
  }
  berth_tensor_t a = berth_edit_tensor(job->edit, job->subgraph, first);
  berth_tensor_t b = berth_edit_tensor(job->edit, job->subgraph, output);
  if (!berth_same_numbers(&a, &b) || job->uses[first].variable) return false;
  if (!berth_use_is_private(&job->uses[input])) return false; /* it would stay anyway */
  operator_of(job, op)->inputs.values[0] = (int32_t)first;
  return true;
}

/* One change at a time, since each makes the uses untrue. */
static bool change(berth_edit_t *edit, uint32_t subgraph, uint32_t op, const berth_use_t *uses) {
  job_t job = {edit, subgraph, uses};
  uint32_t source = copied_from(&job, op);
  if (source != BERTH_NOBODY && drop_copy(&job, op, source)) return true;
  return skip_reshape(&job, op);
}

berth_status_t berth_clean_copies(berth_edit_t *edit, uint32_t *count) {
  return berth_clean_operators(edit, change, count);
}
