/* A kernel for every operator there is: each output byte is a hash of all bytes of all inputs and
 * of the operator's place, so that one wrong byte anywhere changes everything after it. Shapes are
 * the file's. Lets the tests of the interpreter see memory without depending on real kernels.
 */
#ifndef BERTH_TESTS_HASH_KERNELS_H
#define BERTH_TESTS_HASH_KERNELS_H

#include "berth/interpreter.h"
#include <string.h>

static inline uint32_t hash_bytes(uint32_t hash, const uint8_t *data, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) hash = (hash ^ data[i]) * 16777619u;
  return hash;
}

static inline berth_status_t hash_prepare(berth_call_t *call, berth_contract_t *contract) {
  contract->scratch[0] = call->index % 3 * 40; /* some operators need more than others */
  contract->scratch[1] = call->index % 2 * 24;
  contract->wish = call->index % 5 * 700;
  contract->workspace = 24;
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    berth_status_t status =
        output.known && (output.rank > 0 || call->op.code != BERTH_BUILTIN_CUSTOM)
            ? berth_set_shape(call, i, output.rank, output.dims)
            : berth_set_unknown(call, i);
    if (status != BERTH_OK) return status;
  }
  return BERTH_OK;
}

static inline berth_status_t hash_init(berth_call_t *call) {
  memset(call->workspace, (int)(call->op.code % 2), 24); /* equal for many operators */
  return BERTH_OK;
}

static inline berth_status_t hash_eval(berth_call_t *call) {
  uint32_t hash = 2166136261u + call->index;
  uint32_t bytes = call->index % 3 * 40; /* what prepare asked for, or more */
  if (call->scratch_bytes > bytes) bytes = call->scratch_bytes;
  if (bytes > 0) memset(call->scratch[0], 0xEE, bytes);
  if (call->index % 2) memset(call->scratch[1], 0xDD, 24);
  for (uint32_t i = 0; i < call->op.inputs.count; i++) {
    berth_value_t input = berth_input(call, i);
    if (input.present && input.data != NULL) hash = hash_bytes(hash, input.data, input.bytes);
  }
  hash = hash_bytes(hash, call->workspace, 24);
  for (uint32_t i = 0; i < call->op.outputs.count; i++) {
    berth_value_t output = berth_output(call, i);
    if (!output.present) continue;
    if (!output.known) { /* a custom operator decides only now: as many bytes as its input */
      int32_t dims[2] = {1, (int32_t)(3 + hash % 5)};
      berth_status_t status = berth_set_shape(call, i, 2, dims);
      if (status != BERTH_OK) return status;
      output = berth_output(call, i);
    }
    for (uint32_t k = 0; k < output.bytes; k++) {
      hash = hash * 1664525u + 1013904223u;
      output.data[k] = (uint8_t)(hash >> 24);
    }
  }
  return BERTH_OK;
}

#define HASH_KERNELS_MAX 256

/* A table with a kernel for each code but those that the interpreter itself provides. */
static inline const berth_kernel_t *const *hash_kernels(const char *custom_name) {
  static berth_kernel_t kernels[HASH_KERNELS_MAX];
  static const berth_kernel_t *table[HASH_KERNELS_MAX + 1];
  for (int i = 0; i < HASH_KERNELS_MAX; i++) {
    kernels[i] = (berth_kernel_t){.code = (berth_builtin_t)i,
                                  .custom_name = i == BERTH_BUILTIN_CUSTOM ? custom_name : NULL,
                                  .prepare = hash_prepare,
                                  .init = hash_init,
                                  .eval = hash_eval};
    table[i] = &kernels[i];
  }
  return table;
}

#endif
