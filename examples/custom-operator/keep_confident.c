/* The custom operator KeepConfident, written against Berth's public headers as any application
 * would write its own.
 *
 * KeepConfident(rows [n, c], threshold []) -> [k, c], all float32: the rows whose first value is
 * above the threshold, in their order; if there is none, the first one with the largest first
 * value. How many rows are left depends on their values, so the output's shape is unknown until
 * the operator has run: the interpreter reports it, and takes memory for it at run time.
 */
#include "keep_confident.h"
#include <string.h>

static berth_status_t prepare(berth_call_t *call, berth_contract_t *contract) {
  (void)contract; /* whole tensors, no scratch, nothing in place: the default */
  berth_value_t rows = berth_input(call, 0), threshold = berth_input(call, 1);
  berth_value_t kept = berth_output(call, 0);
  if (!rows.present || !threshold.present || !kept.present || rows.type != BERTH_TYPE_FLOAT32 ||
      threshold.type != BERTH_TYPE_FLOAT32 || kept.type != BERTH_TYPE_FLOAT32) {
    return berth_refuse(call, "takes and gives float32 only");
  }
  if (rows.rank != 2 || rows.elements == 0 || threshold.elements != 1) {
    return berth_refuse(call, "takes rows of two dimensions and one threshold");
  }
  return berth_set_unknown(call, 0);
}

/* Element `index`, which in a constant may lie at any address. */
static float load(const berth_value_t *value, size_t index) {
  float number;
  memcpy(&number, value->data + index * sizeof number, sizeof number);
  return number;
}

static berth_status_t eval(berth_call_t *call) {
  berth_value_t rows = berth_input(call, 0), threshold = berth_input(call, 1);
  size_t width = (size_t)rows.dims[1], bytes = width * sizeof(float), best = 0;
  float least = load(&threshold, 0);
  int32_t count = 0;
  for (size_t row = 0; row < (size_t)rows.dims[0]; row++) {
    if (load(&rows, row * width) > least) count++;
    if (load(&rows, row * width) > load(&rows, best * width)) best = row;
  }
  /* From here on the output has a shape, and memory. */
  int32_t dims[2] = {count > 0 ? count : 1, rows.dims[1]};
  berth_status_t status = berth_set_shape(call, 0, 2, dims);
  if (status != BERTH_OK) return status;
  uint8_t *to = berth_output(call, 0).data;
  if (count == 0) {
    memcpy(to, rows.data + best * bytes, bytes);
    return BERTH_OK;
  }
  for (size_t row = 0; row < (size_t)rows.dims[0]; row++) {
    if (!(load(&rows, row * width) > least)) continue;
    memcpy(to, rows.data + row * bytes, bytes);
    to += bytes;
  }
  return BERTH_OK;
}

const berth_kernel_t keep_confident = {
    .code = BERTH_BUILTIN_CUSTOM, .custom_name = "KeepConfident", .prepare = prepare, .eval = eval};
