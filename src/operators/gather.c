/* GATHER, GATHER_ND and EMBEDDING_LOOKUP: slices of a tensor, picked by indices.
 *
 * The indices are data: one that is out of range makes eval refuse, as stock TFLite does.
 */
#include "operators/kernels.h"
#include "operators/shape.h"
#include <string.h>

/* ---- GATHER, EMBEDDING_LOOKUP --------------------------------------------------------------- */

typedef struct pick {
  uint32_t table;   /* which input has the slices and which the indices */
  uint32_t indices; /* EMBEDDING_LOOKUP has them the other way round */
  uint32_t axis;
  uint32_t batches; /* leading dimensions that table and indices share */
} pick_t;

static berth_status_t read_pick(berth_call_t *call, pick_t *pick) {
  *pick = (pick_t){.table = 0, .indices = 1};
  if (call->op.code == BERTH_BUILTIN_EMBEDDING_LOOKUP) {
    *pick = (pick_t){.table = 1, .indices = 0};
    return BERTH_OK;
  }
  berth_value_t table = berth_input(call, 0), indices = berth_input(call, 1);
  int32_t batches = berth_option_int(call->op.options, BERTH_GATHER_BATCH_DIMS, 0);
  if (!berth_shape_axis(berth_option_int(call->op.options, BERTH_GATHER_AXIS, 0), table.rank,
                        &pick->axis))
    return berth_refuse(call, "the axis does not exist");
  if (batches < 0) batches += (int32_t)indices.rank;
  if (batches < 0 || batches > (int32_t)indices.rank || batches > (int32_t)pick->axis)
    return berth_refuse(call, "the batch dimensions are out of range");
  for (int32_t i = 0; i < batches; i++)
    if (table.dims[i] != indices.dims[i]) return berth_refuse(call, "the batch dimensions differ");
  pick->batches = (uint32_t)batches;
  return BERTH_OK;
}

static berth_status_t prepare_gather(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  pick_t pick = {0};
  berth_value_t output = berth_output(call, 0);
  if (!berth_input(call, 0).present || !berth_input(call, 1).present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  berth_status_t status = read_pick(call, &pick);
  if (status != BERTH_OK) return status;
  berth_value_t table = berth_input(call, pick.table), indices = berth_input(call, pick.indices);
  if (table.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(table.type) == 0) return berth_refuse(call, "cannot take this type");
  if (!berth_shape_is_int(&indices) && indices.type != BERTH_TYPE_INT16)
    return berth_refuse(call, "the indices must be integers");
  if (table.rank == 0) return berth_refuse(call, "the table is a scalar");
  if (table.rank - 1 + indices.rank - pick.batches > BERTH_RANK_MAX)
    return berth_refuse(call, "too many dimensions");

  int32_t dims[BERTH_RANK_MAX];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < pick.axis; i++) dims[rank++] = table.dims[i];
  for (uint32_t i = pick.batches; i < indices.rank; i++) dims[rank++] = indices.dims[i];
  for (uint32_t i = pick.axis + 1; i < table.rank; i++) dims[rank++] = table.dims[i];
  return berth_set_shape(call, 0, rank, dims);
}

static berth_status_t eval_gather(berth_call_t *call) {
  pick_t pick;
  berth_status_t status = read_pick(call, &pick);
  berth_value_t table = berth_input(call, pick.table), indices = berth_input(call, pick.indices);
  berth_value_t output = berth_output(call, 0);
  if (status != BERTH_OK || output.bytes == 0) return status;
  uint32_t batch = berth_shape_product(table.dims, 0, pick.batches);
  uint32_t outer = berth_shape_product(table.dims, pick.batches, pick.axis);
  uint32_t count = berth_shape_product(indices.dims, pick.batches, indices.rank);
  int64_t length = table.dims[pick.axis];
  size_t slice = (size_t)berth_shape_product(table.dims, pick.axis + 1, table.rank) *
                 berth_element_bytes(table.type);
  uint8_t *to = output.data;
  for (uint32_t b = 0; b < batch; b++)
    for (uint32_t o = 0; o < outer; o++)
      for (uint32_t i = 0; i < count; i++) {
        int64_t index = berth_shape_int(&indices, b * count + i);
        if (index < 0 || index >= length) return berth_refuse(call, "an index is out of range");
        size_t at = ((size_t)b * outer + o) * (size_t)length + (size_t)index;
        memcpy(to, table.data + at * slice, slice);
        to += slice;
      }
  return BERTH_OK;
}

/* ---- GATHER_ND ------------------------------------------------------------------------------ */

static berth_status_t prepare_gather_nd(berth_call_t *call, berth_contract_t *contract) {
  (void)contract;
  berth_value_t table = berth_input(call, 0), indices = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (!table.present || !indices.present || !output.present)
    return berth_refuse(call, "needs two inputs and an output");
  if (table.type != output.type) return berth_refuse(call, "cannot change the type");
  if (berth_element_bytes(table.type) == 0) return berth_refuse(call, "cannot take this type");
  if (!berth_shape_is_int(&indices) && indices.type != BERTH_TYPE_INT16)
    return berth_refuse(call, "the indices must be integers");
  if (indices.rank == 0) return berth_refuse(call, "the indices are a scalar");
  int32_t depth = indices.dims[indices.rank - 1]; /* coordinates in each index */
  if (depth > (int32_t)table.rank)
    return berth_refuse(call, "the indices have more coordinates than there are dimensions");
  if (indices.rank - 1 + table.rank - (uint32_t)depth > BERTH_RANK_MAX)
    return berth_refuse(call, "too many dimensions");

  int32_t dims[BERTH_RANK_MAX];
  uint32_t rank = 0;
  for (uint32_t i = 0; i + 1 < indices.rank; i++) dims[rank++] = indices.dims[i];
  for (uint32_t i = (uint32_t)depth; i < table.rank; i++) dims[rank++] = table.dims[i];
  return berth_set_shape(call, 0, rank, dims);
}

static berth_status_t eval_gather_nd(berth_call_t *call) {
  berth_value_t table = berth_input(call, 0), indices = berth_input(call, 1);
  berth_value_t output = berth_output(call, 0);
  if (output.bytes == 0) return BERTH_OK;
  uint32_t depth = (uint32_t)indices.dims[indices.rank - 1];
  uint32_t count = berth_shape_product(indices.dims, 0, indices.rank - 1);
  size_t slice =
      (size_t)berth_shape_product(table.dims, depth, table.rank) * berth_element_bytes(table.type);
  for (uint32_t i = 0; i < count; i++) {
    size_t at = 0;
    for (uint32_t d = 0; d < depth; d++) {
      int64_t index = berth_shape_int(&indices, i * depth + d);
      if (index < 0 || index >= table.dims[d])
        return berth_refuse(call, "an index is out of range");
      at = at * (size_t)table.dims[d] + (size_t)index;
    }
    memcpy(output.data + i * slice, table.data + at * slice, slice);
  }
  return BERTH_OK;
}

const berth_kernel_t berth_kernel_embedding_lookup = {
    .code = BERTH_BUILTIN_EMBEDDING_LOOKUP, .prepare = prepare_gather, .eval = eval_gather};
const berth_kernel_t berth_kernel_gather = {
    .code = BERTH_BUILTIN_GATHER, .prepare = prepare_gather, .eval = eval_gather};
const berth_kernel_t berth_kernel_gather_nd = {
    .code = BERTH_BUILTIN_GATHER_ND, .prepare = prepare_gather_nd, .eval = eval_gather_nd};
