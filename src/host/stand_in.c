/* Kernels for what has none. */
#include "host/stand_in.h"
#include "host/fill.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Custom operators may leave no shape in the file; something like their first input's is most
 * likely to please whoever reads it. */
static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract; /* whole tensors, no scratch, nothing in place: the default */
  berth_status_t status = BERTH_OK;
  berth_value_t input = berth_input(call, 0);
  for (uint32_t i = 0; i < call->op.outputs.count && status == BERTH_OK; i++) {
    berth_value_t output = berth_output(call, i);
    if (!output.present) continue;
    berth_tensor_t tensor = berth_model_tensor(call->model, call->subgraph, output.index);
    int32_t dims[BERTH_RANK_MAX];
    uint32_t rank = tensor.shape.count;
    if (rank > BERTH_RANK_MAX) return berth_refuse(call, "has too many dimensions");
    for (uint32_t k = 0; k < rank; k++) dims[k] = berth_vector_int(tensor.shape, k);
    bool stated = rank > 0 || tensor.has_rank || !input.present || !input.known;
    if (!stated) {
      rank = input.rank;
      memcpy(dims, input.dims, sizeof dims);
    }
    status = berth_set_shape(call, i, rank, dims);
  }
  return status;
}

/* FNV-1a: what comes out changes with any byte that goes in. */
static uint64_t hash(uint64_t state, const uint8_t *data, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i++) state = (state ^ data[i]) * UINT64_C(0x100000001b3);
  return state;
}

static berth_status_t eval(berth_call_t *call) {
  uint64_t state = UINT64_C(0xcbf29ce484222325);
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    berth_value_t input = berth_input(call, i);
    if (input.data != NULL) state = hash(state, input.data, input.bytes);
  }
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    if (output.data != NULL) berth_fill_random(&output, &state);
  }
  return BERTH_OK;
}

/* ---- Which are needed ------------------------------------------------------------------------ */

static bool has_kernel(const berth_kernel_t *const *table, const berth_operator_t *op) {
  for (; table != NULL && *table != NULL; table++) {
    if ((*table)->code != op->code) continue;
    if (op->code != BERTH_BUILTIN_CUSTOM) return true;
    const char *name = (*table)->custom_name;
    if (strlen(name) == op->custom_name.length &&
        memcmp(name, op->custom_name.data, op->custom_name.length) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_built_in(const berth_operator_t *op) {
  return has_kernel(berth_run_kernels, op) || has_kernel(berth_kernels, op);
}

static berth_status_t add(berth_stand_ins_t *s, const berth_operator_t *op) {
  uint32_t count = s->count;
  const berth_kernel_t **customs = realloc(s->customs, ((size_t)count + 2) * sizeof *customs);
  if (customs != NULL) s->customs = customs;
  berth_kernel_t *kernels = realloc(s->kernels, ((size_t)count + 1) * sizeof *kernels);
  if (kernels != NULL) s->kernels = kernels;
  char **names = realloc(s->names, ((size_t)count + 1) * sizeof *names);
  if (names != NULL) s->names = names;
  char *name = calloc((size_t)op->custom_name.length + 1, 1);
  if (customs == NULL || kernels == NULL || names == NULL || name == NULL) {
    free(name);
    return BERTH_ERROR_MEMORY;
  }
  if (op->custom_name.length > 0) memcpy(name, op->custom_name.data, op->custom_name.length);
  names[count] = name;
  kernels[count] =
      (berth_kernel_t){.code = op->code, .custom_name = name, .prepare = prepare, .eval = eval};
  s->count = count + 1;
  /* The block may have moved. */
  for (uint32_t i = 0; i < s->count; i++) customs[i] = &kernels[i];
  customs[s->count] = NULL;
  return BERTH_OK;
}

static berth_status_t make(const berth_model_t *model, berth_stand_ins_t *s) {
  for (uint32_t g = 0; g < model->subgraph_count; g++) {
    uint32_t operators = berth_model_subgraph(model, g).operator_count;
    for (uint32_t i = 0; i < operators; i++) {
      berth_operator_t op = berth_model_operator(model, g, i);
      if (is_built_in(&op)) continue;
      s->operators++;
      if (has_kernel(s->customs, &op)) continue;
      berth_status_t status = add(s, &op);
      if (status != BERTH_OK) return status;
    }
  }
  return BERTH_OK;
}

berth_status_t berth_stand_ins_make(const berth_model_t *model, berth_stand_ins_t *stand_ins) {
  berth_stand_ins_t fresh = {.count = 0};
  berth_status_t status = make(model, &fresh);
  if (status == BERTH_OK) {
    *stand_ins = fresh;
  } else {
    berth_stand_ins_free(&fresh);
  }
  return status;
}

void berth_stand_ins_free(berth_stand_ins_t *stand_ins) {
  for (uint32_t i = 0; i < stand_ins->count; i++) free(stand_ins->names[i]);
  free(stand_ins->names);
  free(stand_ins->kernels);
  free(stand_ins->customs);
  memset(stand_ins, 0, sizeof *stand_ins);
}
